/* The text of the lines of a user's own files that ops come from, for those who read what they cost. */
#ifndef REPORT_SOURCE_LINES_H_
#define REPORT_SOURCE_LINES_H_

#include "shardwright/report.h"

/* By file, then line, each once: lines of Python files that the graph's program names and that can be read here. A file
 * that cannot be read is left out, for the program may be of another machine. In the arena. */
sw_rc sw_read_source_lines(const sw_graph *g, sw_arena *arena, int32_t *n, const sw_source_line **out, sw_diag *d);

#endif
