/* Loops and choices in line: frames, and how often a loop runs. */
#ifndef GRAPH_CONTROL_H_
#define GRAPH_CONTROL_H_

#include "graph/builder.h"

/* Fill frames, and the frame and repeats of every op. Use lists exist. */
SW_CHECKED sw_rc sw_graph_read_frames(sw_graph *g, sw_diag *d);
/* Find which values lie in memory of the host; SW_E_INPUT names an op that would have a stack half there. Frames are
 * known. host.c. */
SW_CHECKED sw_rc sw_graph_find_on_host(sw_graph *g, sw_diag *d);
/* `trips` of the loop, or what its counter says. */
void sw_frame_find_trips(const sw_graph *g, sw_frame *f);
/* Of every op, from the trips of its frames. A loop of which nothing is known counts as one trip, and so does one that
 * never goes round, unless somebody said so: it is there all the same. */
SW_CHECKED sw_rc sw_count_repeats(const sw_frame *frames, int32_t n_frames, sw_op *ops, int32_t n_ops, sw_diag *d);

#endif
