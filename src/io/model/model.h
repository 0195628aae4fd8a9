/* What the parts of the model reader and writer share. */
#ifndef IO_MODEL_MODEL_H_
#define IO_MODEL_MODEL_H_

#include "io/json_tree.h"
#include "io/json_write.h"
#include "base/array.h"
#include "shardwright/request.h"
#include "base/hash.h"
#include "shardwright/sizes.h"

/* The graph ops that one op of the file became: [first, end). */
typedef struct sw_model_op {
  sw_id first, end;
} sw_model_op;

typedef struct sw_model_reader {
  sw_graph *g;
  sw_arena *arena;                       /* of the JSON tree and everything that ends with the reading */
  const char *file;                      /* lives with the graph */
  const sw_json *values, *ops, *outputs; /* `values` and `outputs` may be NULL */
  sw_dict value_at;                      /* from a name to the index of its entry in `values` */
  sw_dict op_at;                         /* from a name to the index of the op in `ops` */
  sw_model_op *ranges;
  sw_dict output_at;    /* from a name to the index of the output */
  const sw_mesh *given; /* in place of the model's mesh; NULL: none is */
  sw_sizes *sizes;      /* what open sizes are; NULL: nothing is known of them */
  sw_diag *d;
} sw_model_reader;

/* The place of a node; it lives as long as the graph. */
static inline sw_span sw_model_span(const sw_model_reader *r, const sw_json *v) {
  return (sw_span){r->file, v->line, v->col};
}
#define SW_MODEL_FAIL(r, at, ...) SW_FAIL_INPUT((r)->d, sw_model_span(r, at), __VA_ARGS__)
/* A failure without a place gets that of `v`. */
sw_rc sw_model_place(const sw_model_reader *r, const sw_json *v, sw_rc rc);

/* attrs.c. An attribute list from an object; texts and lists stay in the tree or the arena. */
SW_CHECKED sw_rc sw_model_read_attrs(const sw_model_reader *r, const sw_json *object, sw_attr **out, int *n);
/* Elements of a constant: one for all, or a (nested) list. */
SW_CHECKED sw_rc sw_model_read_data(const sw_model_reader *r, const sw_json *v, const sw_type *type, sw_data *out);
SW_CHECKED sw_rc sw_model_read_shape(const sw_model_reader *r, const sw_json *v, int64_t dims[SW_MAX_RANK], int *rank);
SW_CHECKED sw_rc sw_model_read_dtype(const sw_model_reader *r, const sw_json *v, sw_dtype *out);
void sw_model_write_attr(const sw_graph *g, const sw_op *op, const sw_attr *a, sw_json_out *o);
void sw_model_write_shape(const sw_type *t, sw_json_out *o);

/* generic.c. Loops, maps and linearities of an op. */
SW_CHECKED sw_rc sw_model_read_nest(const sw_model_reader *r, const sw_json *op, const sw_loop_nest **out);
void sw_model_write_nest(const sw_op *op, sw_json_out *o);

/* annotations.c. After all ops and outputs: annotations of values, then of ops, in the order of the file. */
SW_CHECKED sw_rc sw_model_read_annotations(const sw_model_reader *r);
SW_CHECKED sw_rc sw_model_read_groups(const sw_model_reader *r, const sw_json *root);
void sw_model_write_groups(const sw_graph *g, sw_json_out *o);
SW_CHECKED sw_rc sw_model_named_value(const sw_model_reader *r, const sw_json *v, sw_id *out);
void sw_model_write_value_annotations(const sw_graph *g, const int32_t *indices, int n, sw_json_out *o);
void sw_model_write_op_annotation(const sw_graph *g, const sw_annotation *a, sw_json_out *o);

#endif
