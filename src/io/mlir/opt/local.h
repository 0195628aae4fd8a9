/* What one device has of the values of a program (convert-global-to-local): their shardings, their types before and
 * after, and lines of ops that are written for it.
 */
#ifndef IO_MLIR_OPT_LOCAL_H_
#define IO_MLIR_OPT_LOCAL_H_

#include "io/mlir/import/types.h"
#include "io/mlir/opt/rewrite.h"

/* `tensor<4x8xf32, #e>` as sizes and the text behind them. */
typedef struct sw_tensor_text {
  int rank; /* -1: none, or sizes that are not known */
  int64_t dims[SW_MAX_RANK];
  const char *element; /* n_element bytes */
  int n_element;
} sw_tensor_text;

typedef struct sw_local {
  sw_opt_work *w;
  const sw_ir_tree *t;
  sw_program_flow flow;
  sw_open_sharding *sharding; /* by tensor of the flow */
  int32_t *tensor_of;         /* by value; -1: none */
  sw_ir_span *type;           /* by value, as written */
  const char **name_of;       /* by value: a new name that it is defined under; NULL: its own */
  const bool *has_rule;       /* by op: local_check.c has seen that its values fit together */
  const sw_mesh *mesh;        /* whose devices run the program */
  int64_t replicas, partitions;
  bool each_dim, scatter_at_once, names_axes; /* the options of collectives */
  int64_t n_channels;
  uint32_t whole; /* the op that is made whole on all devices: its types stay */
  sw_text lines;  /* of the op that is being written */
  const char *indent;
  sw_diag *d;
} sw_local;

#define SW_LOCAL_FAIL(l, op, ...) SW_FAIL_INPUT((l)->d, sw_ir_place((l)->t, (l)->t->ops.at[op].text.at), __VA_ARGS__)

/* Work of a pass on a program's parts. */
SW_CHECKED sw_rc sw_local_pass(sw_opt_work *w, sw_rc (*work)(sw_local *l));

/* --- values (local_values.c) -------------------------------------------------------------------------------------- */

/* Shardings and types of all values. */
SW_CHECKED sw_rc sw_local_read(sw_local *l);
/* NULL: it is the same on all devices. */
const sw_open_sharding *sw_local_sharding(const sw_local *l, uint32_t value);
const sw_mesh *sw_local_mesh(const sw_local *l, const sw_open_sharding *s);
bool sw_local_is_cut(const sw_local *l, uint32_t value);
sw_tensor_text sw_local_whole(const sw_local *l, uint32_t value);
/* What a device has of it. */
SW_CHECKED sw_rc sw_local_part(const sw_local *l, uint32_t value, sw_tensor_text *out);
/* The types that stand behind an op, with the values that they are of. */
typedef struct sw_local_types {
  sw_ir_types_cursor c;
  uint32_t i, n_operands; /* types of operands */
  bool arrow;
} sw_local_types;
sw_local_types sw_local_types_of(const sw_local *l, uint32_t op);
bool sw_local_next_type(const sw_local *l, uint32_t op, sw_local_types *at, sw_ir_span *type, uint32_t *value);
/* Is it known which values they are of? */
bool sw_local_types_known(const sw_local *l, uint32_t op);

/* --- checks (local_check.c) --------------------------------------------------------------------------------------- */

/* Every op can be done by each device with what it has: along a factor all tensors are cut alike, and none along what
 * an op needs whole. */
SW_CHECKED sw_rc sw_local_check(sw_local *l);

/* --- lines (local_lines.c) ---------------------------------------------------------------------------------------- */

void sw_local_put_type(sw_local *l, const sw_tensor_text *t);
/* Begins a line that defines a new name, which is returned (NULL: out of memory), or this one. */
const char *sw_local_begin(sw_local *l, const char *name);
void sw_local_end(sw_local *l);
/* `name = stablehlo.reshape %x : (...) -> ...` */
const char *sw_local_reshape(sw_local *l, const char *x, const sw_tensor_text *from, const sw_tensor_text *to,
                             const char *name);
const char *sw_local_transpose(sw_local *l, const char *x, const sw_tensor_text *from, const int *order,
                               sw_tensor_text *to);
/* This device, as tensor<i64>: partition p of replica r is device r * partitions + p. */
const char *sw_local_device(sw_local *l);
/* A number for each device, and this device's, as tensor<i64>. */
const char *sw_local_number(sw_local *l, const int64_t *by_device);
/* The part of %x that begins at these numbers (NULL: at 0), dim by dim. */
const char *sw_local_slice(sw_local *l, const char *x, const sw_tensor_text *from, const char *const *starts,
                           const sw_tensor_text *to, const char *name);
/* tensor<i64> as a tensor of all the same, or (along >= 0) tensor<Nxi64> as one that differs along this dimension. */
const char *sw_local_spread(sw_local *l, const char *x, const sw_tensor_text *to, int along);
/* `name = stablehlo.OP a, b : type` */
const char *sw_local_binary(sw_local *l, const char *op, const char *a, const char *b, const sw_tensor_text *type,
                            const char *name);
/* This device's index over axes of a mesh times `step`, as tensor<i64>. */
const char *sw_local_offset(sw_local *l, const sw_mesh *m, const sw_axis_ref *axes, int n, int64_t step);

/* Is this device the first along these axes, a tensor<i1>; and zeros of a type. */
const char *sw_local_is_first(sw_local *l, const sw_mesh *m, const sw_axis_ref *axes, int n, const sw_tensor_text *type,
                              const char **zeros);

/* --- collectives (local_collectives.c) ---------------------------------------------------------------------------- */

/* Is the op one of Shardy's collectives? Then its lines. */
bool sw_local_is_collective(const sw_local *l, uint32_t op);
SW_CHECKED sw_rc sw_local_collective(sw_local *l, uint32_t op);

/* --- ops (local_ops.c) -------------------------------------------------------------------------------------------- */

/* Ops that another pass has to take away before are refused. */
SW_CHECKED sw_rc sw_local_refuse(sw_local *l);
/* Ops that do not stay as they are: their lines, or edits of what they say of sizes. *kept false: they are replaced. Of
 * those that cannot be cut: refused. */
SW_CHECKED sw_rc sw_local_op(sw_local *l, uint32_t op, bool *kept);
SW_CHECKED sw_rc sw_local_gather(sw_local *l, uint32_t op, bool *kept);
SW_CHECKED sw_rc sw_local_scatter(sw_local *l, uint32_t op, bool *kept);
/* Sizes of a list that are those of operand 0 become those of its part. */
SW_CHECKED sw_rc sw_local_cut_sizes(sw_local *l, uint32_t op, const char *key, const char *custom);
/* The op of StableHLO by which parts of a value are combined: that of the reduction that made it, else "add"; NULL: by
 * a region of its own. */
const char *sw_local_combiner(const sw_local *l, uint32_t value);
/* dense<...> of a constant, and whether that is one element for all. */
sw_ir_span sw_local_literal(const sw_local *l, uint32_t op, bool *splat);
/* Axes that cut a dimension of a value. */
const sw_axis_ref *sw_local_axes(const sw_local *l, uint32_t value, int dim, int *n);
/* Are two values cut alike? */
bool sw_local_same_cut(const sw_local *l, uint32_t a, uint32_t b);

/* --- text (convert_global_to_local.c) ----------------------------------------------------------------------------- */

/* Begin the lines for an op; then they stand in place of it, before it, or behind it. */
SW_CHECKED sw_rc sw_local_begin_lines(sw_local *l, uint32_t op);
SW_CHECKED sw_rc sw_local_replace(sw_local *l, uint32_t op);
SW_CHECKED sw_rc sw_local_put_before(sw_local *l, uint32_t op);
SW_CHECKED sw_rc sw_local_put_behind(sw_local *l, uint32_t op);
/* The name under which the op's first result is defined; NULL: out of memory. */
const char *sw_local_name(sw_local *l, uint32_t op);
/* Another type in its place: this one, or that of the value's part. */
SW_CHECKED sw_rc sw_local_set_type(sw_local *l, sw_ir_span at, const sw_tensor_text *type);
SW_CHECKED sw_rc sw_local_retype(sw_local *l, sw_ir_span type, uint32_t value);

#endif
