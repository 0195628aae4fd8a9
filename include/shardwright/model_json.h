/* Models as JSON files (docs/model-format.md, docs/model.schema.json): values, ops, outputs and annotations of one
 * function, and back. parse(write(g)) is g again, but for spans. */
#ifndef SHARDWRIGHT_MODEL_JSON_H_
#define SHARDWRIGHT_MODEL_JSON_H_

#include "shardwright/graph.h"
#include "shardwright/sizes.h"

/* Read `path` ("-" is standard input; gzip is unpacked) into a sealed graph. Errors carry file, line and column. */
SW_API SW_CHECKED sw_rc sw_model_read(const char *path, sw_graph **out, sw_diag *d);
/* The same from memory; `file` (copied) is what messages call it. */
SW_API SW_CHECKED sw_rc sw_model_parse(const char *file, const char *bytes, size_t n, sw_graph **out, sw_diag *d);
/* The same on a mesh that is given in place of the model's own (NULL: none is), which `mesh` outlives; one that has
 * only sizes takes the names of the model's axes when they are as many. `sizes`: what the sizes are that the model
 * leaves open; NULL: they are not known. */
SW_API SW_CHECKED sw_rc sw_model_parse_on(const char *file, const char *bytes, size_t n, const sw_mesh *mesh,
                                          sw_sizes *sizes, sw_graph **out, sw_diag *d);
/* Append the text of a sealed graph with one function. */
SW_API SW_CHECKED sw_rc sw_model_write(const sw_graph *g, sw_text *out, sw_diag *d);

#endif
