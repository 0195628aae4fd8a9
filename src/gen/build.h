/* Writing a model down: sw_graph_add_* with less noise.
 *
 *   swg_enter(b, "h.%d", i);
 *   sw_id w = swg_param(b, "wq", SWG_SHAPE(hidden, hidden));            value  h.3.wq
 *   sw_id q = swg_einsum(b, "q", "bsd,de->bse", SWG_IDS(x, w));         op     h.3.q
 *   swg_leave(b);
 *
 * The first failure is remembered in `rc`; later calls do nothing and give -1, so that a model checks once, at its end.
 */
#ifndef GEN_BUILD_H_
#define GEN_BUILD_H_

#include "gen/gen.h"

enum { SWG_SCOPES = 8 };

struct swg_products; /* linear.h */

typedef struct swg_builder {
  sw_graph *graph;
  sw_diag *diag;
  sw_rc rc;
  sw_dtype dtype;           /* of activations, and of parameters as ops use them */
  sw_dtype stored;          /* of parameters as they come in */
  sw_text scope;            /* "h.3.attn." */
  size_t outer[SWG_SCOPES]; /* length of `scope` outside each scope entered */
  int depth;
  sw_text name;                  /* the full name being built */
  double dropped;                /* share of elements that swg_dropout leaves out */
  sw_id random;                  /* state that random bits are made from, as far as they are made */
  const char *function;          /* what ops that are added are parts of (sw_op); NULL: of nothing */
  sw_text of_function;           /* its name, where swg_function made it */
  struct swg_products *products; /* linear layers in eight bits; NULL: as activations are */
} swg_builder;

typedef struct swg_shape {
  int n;
  int64_t at[SW_MAX_RANK];
} swg_shape;

/* What a count and a pointer argument get from a list. */
#define SWG_SHAPE(...) ((swg_shape){(int)(sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t)), {__VA_ARGS__}})
#define SWG_SCALAR ((swg_shape){0})
#define SWG_IDS(...) \
  (int)(sizeof((sw_id[]){__VA_ARGS__}) / sizeof(sw_id)), (const sw_id[]) { __VA_ARGS__ }
#define SWG_ATTRS(...) \
  (int)(sizeof((sw_attr[]){__VA_ARGS__}) / sizeof(sw_attr)), (const sw_attr[]) { __VA_ARGS__ }
#define SWG_NONE 0, NULL

/* One attribute; lists live as long as the enclosing block. */
#define SWG_INT(KEY, v) \
  { .key = SW_ATTR_##KEY, .u.i = (v) }
#define SWG_FLOAT(KEY, v) \
  { .key = SW_ATTR_##KEY, .u.f = (v) }
#define SWG_TEXT(KEY, v) \
  { .key = SW_ATTR_##KEY, .u.text = (v) }
#define SWG_INTS_N(KEY, p, n_)                            \
  {                                                       \
    .key = SW_ATTR_##KEY, .u.ints = {(p), (int32_t)(n_) } \
  }
#define SWG_INTS(KEY, ...) \
  SWG_INTS_N(KEY, ((const int64_t[]){__VA_ARGS__}), sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))

SW_CHECKED sw_rc swg_begin(swg_builder *b, const char *name, sw_dtype t, sw_diag *d);
/* Free the builder; seal the graph into *out, or destroy it and return what went wrong. */
SW_CHECKED sw_rc swg_finish(swg_builder *b, sw_graph **out);

void swg_enter(swg_builder *b, const char *fmt, ...) SW_PRINTF(2, 3);
void swg_leave(swg_builder *b);
/* Until swg_return, names are whole: for what is called by a value, not by where it is made. */
void swg_leave_all(swg_builder *b, sw_text *scope);
void swg_return(swg_builder *b, sw_text *scope);
/* The value's name and `behind` it. */
void swg_name_like(swg_builder *b, sw_id v, const char *behind, char *out, size_t size);
/* Ops from here on are parts of the function of a library whose result is op NAME of this scope; NULL: of none. */
void swg_function(swg_builder *b, const char *name);
/* Remember a failure of the model's own. */
void swg_fail(swg_builder *b, sw_rc rc);
/* Type of a value of the graph; when something failed before, one of rank 1, so that a last dim is always there. */
const sw_type *swg_type(const swg_builder *b, sw_id v);
swg_shape swg_shape_of(const swg_builder *b, sw_id v);

/* --- arguments and outputs --------------------------------------------------------------------------------------- */

sw_id swg_arg(swg_builder *b, const char *name, sw_value_kind kind, sw_dtype t, swg_shape shape);
/* A parameter as ops use it: where it is stored in another type, it is converted here, once for all its uses. */
sw_id swg_param(swg_builder *b, const char *name, swg_shape shape);
sw_id swg_tokens(swg_builder *b, const char *name, swg_shape shape); /* i32 input */
void swg_output(swg_builder *b, const char *name, sw_id v, sw_id alias);

/* --- ops --------------------------------------------------------------------------------------------------------- */

/* Any op; the id of its first result (the others follow it). */
sw_id swg_op(swg_builder *b, sw_opcode c, const char *name, int n, const sw_id *operands, int n_attrs,
             const sw_attr *attrs);
sw_id swg_unary(swg_builder *b, sw_opcode c, const char *name, sw_id x);
sw_id swg_binary(swg_builder *b, sw_opcode c, const char *name, sw_id x, sw_id y);
sw_id swg_compare(swg_builder *b, const char *direction, const char *name, sw_id x, sw_id y);
sw_id swg_select(swg_builder *b, const char *name, sw_id pred, sw_id x, sw_id y);
sw_id swg_convert(swg_builder *b, const char *name, sw_id x, sw_dtype t); /* x itself when it has the type */
sw_id swg_einsum(swg_builder *b, const char *name, const char *equation, int n, const sw_id *operands);
/* A constant of one number everywhere. */
sw_id swg_splat(swg_builder *b, const char *name, double v, sw_dtype t, swg_shape shape);
sw_id swg_splat_like(swg_builder *b, const char *name, double v, sw_id like);
sw_id swg_iota(swg_builder *b, const char *name, sw_dtype t, swg_shape shape, int dim);
/* x op a number. */
sw_id swg_scale(swg_builder *b, const char *name, sw_id x, double by);
sw_id swg_shift(swg_builder *b, const char *name, sw_id x, double by);
/* x with its dims at `dims` of the shape; x itself when it has that shape already. */
sw_id swg_broadcast(swg_builder *b, const char *name, sw_id x, swg_shape shape, swg_shape dims);
/* x broadcast over the leading dims of `like`. */
sw_id swg_trailing(swg_builder *b, const char *name, sw_id x, sw_id like);
sw_id swg_reduce(swg_builder *b, const char *name, const char *kind, sw_id x, swg_shape dims);
sw_id swg_reshape(swg_builder *b, const char *name, sw_id x, swg_shape shape);
sw_id swg_slice(swg_builder *b, const char *name, sw_id x, int dim, int64_t start, int64_t limit);
sw_id swg_concatenate(swg_builder *b, const char *name, int dim, int n, const sw_id *operands);

#endif
