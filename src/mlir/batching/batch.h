/* Manual computations, written out: the parts of all devices become one tensor with a dim for the devices in front.
 *
 *   sdy.manual_computation(%x) in [{"dp"}, {}] ... manual_axes={"dp", "tp"} (%l: tensor<4x8xf32>) { sine %l }
 *
 *   x f32[8,8] is reshaped to f32[2,4,8] and sine taken of that; dim 0 is pinned to {"dp"}
 *
 * A value has in front only what it differs over: a weight that every device has as a whole stays as it is. Collectives
 * become moves of that dim: an all_reduce is a sum over it, an all_gather puts it before the gathered dim, an
 * all_to_all trades it for a part of another. Under the pins each of them comes out as the one collective that the
 * program wrote, priced, partitioned and executed like all others; axes that are not manual cut what they like.
 */
#ifndef MLIR_BATCH_H_
#define MLIR_BATCH_H_

#include "mlir/import/import_emit.h"

/* One value on its way in or out. */
typedef struct sw_batch_port {
  sw_id value;         /* of the graph, coming in */
  uint32_t op, result; /* of the text: what goes out is this result */
  sw_ir_span
      sharding;  /* of the whole, in Shardy's form or (with quotes) in GSPMD's; empty: all devices have all of it */
  uint32_t open; /* dims that may be cut further, whatever the sharding says */
  sw_type type;  /* of the whole */
} sw_batch_port;

typedef struct sw_batch {
  sw_importer *m; /* into its graph */
  uint32_t op;    /* the manual computation in the text, or the first op that goes out of a part for one device */
  uint32_t n_in, n_out;
  sw_batch_port *in, *out;
  const sw_importer *reader;     /* of the body */
  const sw_graph *body;          /* on a device's shapes */
  const sw_mesh *mesh;           /* the program's own; sets of axes are bits of its axes */
  uint32_t manual;               /* manual axes of more than one device */
  bool pinned;                   /* the graph's mesh has them */
  uint32_t kept;                 /* the manual ones in the graph's mesh, as bits of its axes; 0: it has no others */
  sw_axis_ref refs[SW_MAX_AXES]; /* of the graph's mesh, by own axis */
  uint32_t *varies;              /* by value of the body: axes that it differs over */
  int32_t *said;                 /* by value of the body: its annotation there, or -1 */
  sw_id *of;                     /* by value of the body: the value of the graph; -1: none yet */
  const sw_op *now;              /* of the body; NULL: going in or out */
  const char *base;              /* names of helpers begin so */
} sw_batch;

/* One op for the graph. */
typedef struct sw_batch_op {
  sw_opcode code;
  int n;
  const sw_id *in;
  const sw_im_attrs *attrs;    /* NULL: none */
  const sw_sharding *sharding; /* of the results; NULL: not pinned */
  bool own;                    /* results have the names of the op at hand */
  const sw_loop_nest *nest;    /* generic and opaque ones */
  int n_types;
  const sw_type *types;
} sw_batch_op;
SW_CHECKED sw_rc sw_batch_put(sw_batch *s, const sw_batch_op *op, sw_id *results);

int64_t sw_batch_size(const sw_batch *s, uint32_t set); /* devices along a set of axes */
/* Of a batched value: dim 0 cut by the set. */
void sw_batch_sharding(const sw_batch *s, uint32_t set, int rank, sw_sharding *out);
/* Operand i of the op at hand, batched over the set. */
SW_CHECKED sw_rc sw_batch_operand(sw_batch *s, int i, uint32_t set, sw_id *out);
/* A value that is batched over `from`, over more axes. `rank` and `dims` are a device's. */
SW_CHECKED sw_rc sw_batch_spread(sw_batch *s, sw_id v, const sw_type *local, uint32_t from, uint32_t to, sw_id *out);

/* A part of a dim: the devices along an axis, or a piece of what a device has. `id` says which one it is, in all forms
 * of a value: an axis of the mesh, SW_BATCH_DIM + k (what a device has of dim k), SW_BATCH_PIECE + a (one of as many
 * pieces of a dim as there are devices along axis a). */
enum { SW_BATCH_DIM = SW_MAX_AXES, SW_BATCH_PIECE = SW_BATCH_DIM + SW_MAX_RANK };
typedef struct sw_batch_atom {
  int id, axis; /* the axis that cuts it; -1: none */
  int64_t size;
} sw_batch_atom;
/* The atoms of a value, in order, and its dims as numbers of atoms. */
typedef struct sw_batch_form {
  int n, n_dims;
  sw_batch_atom at[3 * SW_MAX_RANK];
  int count[3 * SW_MAX_RANK];
} sw_batch_form;
void sw_batch_add_dim(sw_batch_form *f);
void sw_batch_add_atom(sw_batch_form *f, int id, int axis, int64_t size); /* to the last dim */
/* The axes of a set as atoms of one dim; none: no dim. */
void sw_batch_add_set(const sw_batch *s, sw_batch_form *f, uint32_t set);
/* The dims that a device has, one atom each; of dim `part` (-1: of none) one of `n` equal parts. */
void sw_batch_add_local(sw_batch_form *f, const sw_type *local, int part, int64_t n);
/* A value that is batched over the set. */
sw_batch_form sw_batch_form_over(const sw_batch *s, uint32_t set, const sw_type *local);
/* The value, which has the form `from`, with the same atoms in the order and dims of `to`. */
SW_CHECKED sw_rc sw_batch_regroup(sw_batch *s, sw_id v, const sw_batch_form *from, const sw_batch_form *to, sw_id *out);
/* An op of one operand whose result is cut as the form says; `more`: attributes. */
SW_CHECKED sw_rc sw_batch_one(sw_batch *s, sw_opcode code, sw_id v, const sw_im_attrs *more, const sw_batch_form *to,
                              sw_id *out);
/* The value moved to the cuts of the form: the place where a collective happens. */
SW_CHECKED sw_rc sw_batch_moved(sw_batch *s, sw_id v, const sw_batch_form *to, sw_id *out);
void sw_batch_cut(const sw_batch *s, const sw_batch_form *f, sw_sharding *out);
/* A constant, all of whose elements are in `bytes`, or the one that stands for all; `cut`: NULL, not pinned. */
SW_CHECKED sw_rc sw_batch_constant(sw_batch *s, const sw_type *t, const void *bytes, bool splat, const sw_sharding *cut,
                                   sw_id *out);
SW_CHECKED sw_rc sw_batch_zeros(sw_batch *s, const sw_type *t, const sw_sharding *cut, sw_id *out);

/* Write out the op at hand of the body, whose results differ over `set`. */
SW_CHECKED sw_rc sw_batch_write(sw_batch *s, uint32_t set, sw_id *results);
/* Why not; NULL: it can be. */
const char *sw_batch_why_not(const sw_batch *s, const sw_op *op);

/* Is the op of the body a collective? */
bool sw_batch_is_collective(const sw_batch *s, const sw_op *op);
/* The same of a collective. */
SW_CHECKED sw_rc sw_batch_collective(sw_batch *s, sw_id *results);
/* Axes that its results differ over, or *why (it cannot be written out). */
SW_CHECKED sw_rc sw_batch_collective_set(sw_batch *s, const sw_op *op, uint32_t in, uint32_t *out, const char **why);

/* The steps of writing out: room for what is known of the body's values (once it is read); over which axes each
 * differs, once `varies` of its arguments is set (*why: it cannot be written out, in words); one op of the body, whose
 * operands have values of the graph. */
SW_CHECKED sw_rc sw_batch_prepare(sw_batch *s);
SW_CHECKED sw_rc sw_batch_analyse(sw_batch *s, const char **why);
SW_CHECKED sw_rc sw_batch_write_op(sw_batch *s, const sw_op *op);

/* What is inside, as ops of the graph, once everything before `varies` is set; *why: it cannot be, in words. Nothing is
 * added then. */
SW_CHECKED sw_rc sw_batch_write_all(sw_batch *s, const char **why);
/* Regions in which tensors are, or ops with regions of their own (region.c), of `n_args` arguments and `n_results`
 * results: *out is what is read of it, kept until the importer ends, or NULL where it cannot be written out. Then its
 * results for arguments of the shape. */
struct sw_im_inside;
SW_CHECKED sw_rc sw_batch_open_region(sw_importer *m, uint32_t op, uint32_t block, uint32_t n_args, uint32_t n_results,
                                      struct sw_im_inside **out);
SW_CHECKED sw_rc sw_batch_apply_region(sw_importer *m, struct sw_im_inside *inside, const sw_id *args,
                                       const sw_type *shape, sw_id *out);

#endif
