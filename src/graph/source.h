/* Where an op comes from, in words. */
#ifndef GRAPH_SOURCE_H_
#define GRAPH_SOURCE_H_

#include "shardwright/graph.h"

/* Is the file one of an installed package or of Python itself? */
SW_API bool sw_source_is_library(const char *file, size_t n);
/* The frames of a stack in the order in which they are shown: the user's own, then those of libraries, each from the
 * innermost; at most `room`. Returns how many. */
SW_API int sw_source_frames(const sw_call_frame *stack, int room, const sw_call_frame **out);
/* Notes for an error: where from, and what of the user's own files has called that. */
SW_API void sw_source_note(const sw_source *from, sw_diag *d);

#endif
