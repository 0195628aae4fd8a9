/* Values by what a person types: a name, or a pattern of names (base/pattern.h). */
#ifndef GRAPH_FIND_H_
#define GRAPH_FIND_H_

#include "shardwright/graph.h"

typedef struct sw_found {
  int32_t n;
  const sw_id *values; /* ascending; in the arena */
} sw_found;

/* The value of just that name; -1: there is none. */
SW_API sw_id sw_find_named(const sw_graph *g, const char *text, size_t n);
/* The value of that name, or else all that the pattern matches; at least one. Where it matches none, and names no
 * parts, its "*" goes across parts: "params*" is then "params['h'][3]['wq']", too. SW_E_USAGE for a pattern that is
 * none, and for what no value is named, with the names that are nearest. */
SW_API SW_CHECKED sw_rc sw_find_values(const sw_graph *g, const char *text, size_t n, sw_arena *arena, sw_found *out,
                                       sw_diag *d);
/* The op's, or the output's. */
SW_API const char *sw_use_name(const sw_graph *g, sw_value_use use);
/* The operand slots of these values, in the order of values and uses, whose ops have a name that the text is or
 * matches; `op` NULL: all of them. In the arena; SW_E_USAGE when there are none. */
SW_API SW_CHECKED sw_rc sw_find_uses(const sw_graph *g, const sw_found *values, const char *op, size_t op_n,
                                     sw_arena *arena, int32_t *n, const sw_value_use **out, sw_diag *d);

#endif
