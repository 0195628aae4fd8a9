/* Loops and choices in line: frames, and how often a loop runs. */
#ifndef GRAPH_CONTROL_H_
#define GRAPH_CONTROL_H_

#include "graph/builder.h"

/* Fill frames, and the frame and repeats of every op. Use lists exist. */
SW_CHECKED sw_rc sw_graph_read_frames(sw_graph *g, sw_diag *d);
/* `trips` of the loop, or what its counter says; 0: not known. */
int64_t sw_loop_trips(const sw_graph *g, const sw_frame *f);

#endif
