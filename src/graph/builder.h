/* What a graph has while it is being built, and the names it keeps afterwards. */
#ifndef GRAPH_BUILDER_H_
#define GRAPH_BUILDER_H_

#include "graph/ops/op_rule.h"
#include "shardwright/request.h"
#include "base/array.h"
#include "base/hash.h"

/* The value at a name is (id of the op + 1) << 32 | (id of the value + 1). */
struct sw_graph_names {
  sw_dict ids;
};

/* What equal ops share: everything that follows from opcode, operand types and attributes. */
typedef struct sw_shape {
  int n_attrs, n_results;
  const sw_attr *attrs; /* canonical; without the data of a constant */
  const sw_type *results;
  const sw_loop_nest *nest;
} sw_shape;

struct sw_graph_builder {
  sw_request *request; /* the graph's `written` */
  SW_ARRAY(sw_value) values;
  SW_ARRAY(sw_op) ops;
  SW_ARRAY(sw_id) args, outputs, alias;
  SW_ARRAY(const char *) output_names;
  sw_dict output_at; /* from a name to its index in output_names */
  SW_ARRAY(sw_span) output_spans;
  SW_ARRAY(sw_annotation) annotations;
  SW_ARRAY(sw_sharding_group) sharding_groups;
  SW_ARRAY(sw_shape) shapes;
  sw_dict shape_of; /* from the bytes of opcode, types and attributes to an index into shapes */
  sw_text key;      /* of the op being added */
  sw_arena scratch; /* likewise */
  int depth;        /* of expansions */
  int64_t counter;  /* of made-up names */
};

/* Is the attribute what stands for an absent one? */
bool sw_attr_is_default(const sw_rule_call *c, const sw_attr *a);
/* Everything about the op but its place in the graph: `c` has opcode, operands and given parts. */
SW_CHECKED sw_rc sw_shape_build(sw_rule_call *c, int n_attrs, const sw_attr *attrs, sw_shape *out);

/* `base`, or base_1, base_2, ... : a name that neither an op nor a value has; lives as long as the scratch. */
SW_CHECKED sw_rc sw_graph_free_name(sw_graph *g, const char *base, const char **out, sw_diag *d);
void sw_graph_builder_free(sw_graph *g);
/* The op or value at a name; -1: none. */
enum sw_name_use { SW_NAME_OF_VALUE, SW_NAME_OF_OP };
sw_id sw_graph_named(const sw_graph *g, const char *name, size_t n, enum sw_name_use use);
/* Fills r->said; in the arena. */
SW_CHECKED sw_rc sw_request_index_said(sw_request *r, sw_arena *arena, sw_diag *d);
/* Into the normal form; what was said is kept. */
SW_CHECKED sw_rc sw_annotation_settle(sw_graph *g, sw_annotation *a, sw_diag *d);

#endif
