/* One plain attention among the ops of a graph: what was found of it, and what each value inside is.
 *
 *   s = dot(q, k)       score
 *   m = max(s)          largest
 *   e = exp(s - m)      p l          p: the softmax, l: the sum of exponentials of its row
 *   p = e / sum(e)      p
 *   o = dot(p, v)       leaves: the output
 *   g = dot(do, v)      g
 *   t = g / l           g / l        derivatives, however they are written, are such sums of products,
 *   ds = (t - r/l) * e  p g - p r    r: the sum over the keys of p g
 *   dq = dot(ds, k)     leaves
 *
 * With dropout there is d, 1 where the softmax is kept and 0 elsewhere: p d leaves, and r is the sum of p g d.
 * With a softcap scores go through t = tanh(s / cap), and ds has 1 - t t as another factor.
 */
#ifndef GRAPH_FUSE_REGION_H_
#define GRAPH_FUSE_REGION_H_

#include "base/array.h"
#include "graph/attention.h"
#include "shardwright/request.h"

/* A dim of a value: `extent` steps of `stride` elements along a dim of the scores; of a dim of one element no dim (-1).
 * Beside the scores' dims there are the width of q and k and that of v, and two of the scores' joined to one. */
enum { SW_FUSE_WIDTH = 100, SW_FUSE_VALUE_WIDTH = 101, SW_FUSE_JOINED = 102, SW_FUSE_TERMS = 8 };
typedef struct sw_fuse_dim {
  int dim;
  int64_t stride;
} sw_fuse_dim;
typedef struct sw_fuse_dims {
  int rank;
  sw_fuse_dim at[SW_MAX_RANK];
} sw_fuse_dims;

/* factor * p^.. * g^.. * l^.. * r^.. * t^.. * d^.. */
typedef struct sw_fuse_term {
  double factor;
  int p, g, l, r, t, d;
} sw_fuse_term;

typedef enum sw_fuse_kind {
  SW_FUSE_SCORE,
  SW_FUSE_LARGEST, /* of a row of scores */
  SW_FUSE_SHIFTED, /* scores less the largest of their row */
  SW_FUSE_SUM,     /* of terms */
  SW_FUSE_HIDDEN,  /* is the score -inf? bool */
  SW_FUSE_SEEN,    /* is it not? and of a row: is any not? */
} sw_fuse_kind;

typedef struct sw_fuse_value {
  sw_id id;
  sw_fuse_kind kind;
  sw_id scores; /* of scores: the value that they are, moved and converted */
  sw_fuse_dims dims;
  int n;
  sw_fuse_term term[SW_FUSE_TERMS];
} sw_fuse_value;

/* A value from outside, with what its dims are; id -1: none. */
typedef struct sw_fuse_operand {
  sw_id id;
  sw_fuse_dims dims;
} sw_fuse_operand;

/* An op whose result leaves: o, dq, dk or dv; op -1: none. */
typedef struct sw_fuse_exit {
  sw_id op;
  sw_fuse_dims dims;
} sw_fuse_exit;
enum { SW_FUSE_O, SW_FUSE_DQ, SW_FUSE_DK, SW_FUSE_DV, SW_FUSE_EXITS };

/* How the loops of an op are cut, as annotations of what is inside say it together. */
typedef struct sw_fuse_said {
  const sw_annotation *first; /* NULL: nothing is said */
  unsigned known;             /* loops, as bits */
  int n[SW_ATTENTION_LOOPS];
  sw_axis_ref refs[SW_ATTENTION_LOOPS][SW_MAX_REFS];
} sw_fuse_said;
enum { SW_FUSE_FORWARD, SW_FUSE_GRADIENT, SW_FUSE_OPS };

typedef struct sw_fuse_region {
  const sw_graph *g;
  sw_id scores; /* the op */
  int n_dims;   /* of the scores */
  int64_t size[SW_MAX_RANK];
  int n_batch; /* the first ones; the last of several is the kv head */
  int kv_head, group, query, key;
  int joined[2]; /* dims of the scores that are one somewhere, the major one first; -1: none are */
  int64_t heads; /* of dim `kv_head` so many are heads, of larger strides there are batches */
  sw_fuse_operand q, k, v, d_o, keep, bias, mask;
  bool mask_hides; /* where it is true, instead of where it is not */
  bool keep_drops; /* likewise */
  double kept_by;  /* what is kept is multiplied by it; 0: not known */
  bool causal;
  int64_t base, window[2];
  sw_id lengths, start;  /* -1: none */
  double scale, softcap; /* softcap 0: none */
  bool is_capped;        /* the tanh has been met */
  sw_id seen_of;         /* scores that are asked which are not seen; -1: none are */
  int seen_dim;          /* and along which dim that is put together; -1: along none */
  sw_id final;           /* scores of which the softmax is taken; -1: not met */
  sw_fuse_exit exit[SW_FUSE_EXITS];
  int64_t shared; /* query heads of a head of k and v, where these are no dim of the scores */
  sw_fuse_said said[SW_FUSE_OPS];
  SW_ARRAY(sw_fuse_value) values;
  SW_ARRAY(sw_id) todo;    /* ops that read such values, a heap */
  SW_ARRAY(sw_id) removed; /* ops inside, and those whose results leave */
} sw_fuse_region;

/* Work space of a graph: numbers by value and op. */
typedef struct sw_fuse_space {
  int32_t *value; /* 1 + its place in `values`; 0: not inside */
  bool *taken;    /* by op: inside some region already */
  bool *queued;   /* by op */
  bool *kept;     /* by value: something is said of it, it has to stay */
  int32_t *said;  /* by value: 1 + the annotation, if all that is said is how it is to be cut; else 0 or less */
} sw_fuse_space;

/* Less is a score that stands for a pair that is not seen: softmax makes it 0. */
#define SW_FUSE_HIDDEN_BELOW (-9999.0)

/* The first op through which a gradient leaves; -1: none does. */
sw_id sw_fuse_first_gradient(const sw_fuse_region *r);

/* What follows from the dot `op` as the scores of an attention; false: it is none, or some use of what is inside is not
 * understood. r->values, todo and removed are the caller's to free. */
SW_CHECKED sw_rc sw_fuse_find(const sw_graph *g, sw_id op, sw_fuse_space *s, sw_fuse_region *r, bool *found,
                              sw_diag *d);

/* dims.c. Dims of a result of which those of operand 0 are known; false: they are no such dims. */
bool sw_fuse_dims_after(const sw_fuse_region *r, const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out);
/* Dims of operand 0 of which those of the result are known. */
bool sw_fuse_dims_before(const sw_fuse_region *r, const sw_op *op, const sw_fuse_dims *of, sw_fuse_dims *out);
/* y of x */
bool sw_fuse_reshaped(const sw_fuse_region *r, sw_id x, sw_id y, const sw_fuse_dims *of, sw_fuse_dims *out);
/* Where y joins two dims of the scores that x has, and no others are joined yet, these are from now on. */
void sw_fuse_join(sw_fuse_region *r, sw_id x, sw_id y, const sw_fuse_dims *of);
bool sw_fuse_dims_equal(const sw_graph *g, sw_id x, const sw_fuse_dims *a, sw_id y, const sw_fuse_dims *b);
/* Dims of a dot's result, given those of its operands; contracted ones are told. */
typedef struct sw_fuse_dot {
  int n_batch, n_contract;
  const int64_t *batch[2], *contract[2];
} sw_fuse_dot;
void sw_fuse_dot_of(const sw_op *op, sw_fuse_dot *out);
/* Of operand `side`, in order: its free dims. */
int sw_fuse_free_dims(const sw_graph *g, const sw_op *op, int side, int *out);

/* masks.c. The number that all elements of a value are. */
bool sw_fuse_is_number(const sw_graph *g, sw_id value, double *out);
/* What a value was before floats were converted to more bits. */
sw_id sw_fuse_unwidened(const sw_graph *g, sw_id value);
/* Is the op x * c or x / c with a number? Which operand x is, and the factor; -1: it is not. */
int sw_fuse_scaled(const sw_graph *g, const sw_op *op, double *by);
/* What is spread over the dims: a value of fewer elements, and its dims. */
void sw_fuse_unspread(const sw_fuse_region *r, sw_fuse_operand *x);

/* group.c. Where k and v are heads repeated, those that are repeated are k and v, and where dk and dv are added up over
 * them they leave afterwards; batches and heads that are joined to one dim are told apart. */
SW_CHECKED sw_rc sw_fuse_members(sw_fuse_region *r, const sw_fuse_space *s, sw_diag *d);
/* seen.c. From what mask and bias say of positions: causal, base, window, lengths, start. What is left of them stays.
 */
void sw_fuse_see(sw_fuse_region *r);
/* say.c. What is said of values inside, as cuts of the loops of the ops; false: it is something else, or not one thing.
 */
bool sw_fuse_say(sw_fuse_region *r, const sw_fuse_space *s);

/* write.c. Are its dims as the op has those of q, k, v and its results? */
bool sw_fuse_is_native(const sw_fuse_region *r, const sw_fuse_operand *x);
/* Can the op take it as bias or mask? */
bool sw_fuse_fits_scores(const sw_fuse_region *r, const sw_fuse_operand *x);

#endif
