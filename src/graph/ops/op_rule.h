/* What the registry says about an op, and the call through which its rules see one op.
 *
 * A rule row has the number of operands, the attributes with what stands for an absent one, and functions:
 *   infer   checks operands and attributes and gives the result types;
 *   nest    gives loops, maps and linearities (operands and attributes are right by then);
 *   expand  for sugar, instead of `nest`: adds primitive ops.
 * Rules see canonical attributes: sorted by key, absent ones filled in.
 */
#ifndef GRAPH_RULE_H_
#define GRAPH_RULE_H_

#include "graph/ops/nest.h"
#include "base/lists.h"

/* What stands for an absent attribute. */
typedef enum sw_absent {
  SW_ABSENT_WRONG,   /* it is required */
  SW_ABSENT_INT,     /* `fill`; also for BOOL and DTYPE */
  SW_ABSENT_FLOAT,   /* `fill_float` */
  SW_ABSENT_TEXT,    /* `fill_text` */
  SW_ABSENT_EMPTY,   /* an empty list */
  SW_ABSENT_ZEROS,   /* `fill` zeros */
  SW_ABSENT_RANK,    /* `fill`, as often as operand 0 has dims */
  SW_ABSENT_SPATIAL, /* `fill`, as often as operand 0 has dims, less two */
  SW_ABSENT_LAST,    /* the last dim of operand 0 */
  SW_ABSENT_ELEMENT, /* the dtype of operand 0 */
  SW_ABSENT_NOTHING, /* it stays absent */
  SW_ABSENT_COPY,    /* what the attribute of key `fill` says */
} sw_absent;

typedef struct sw_attr_rule {
  sw_attr_key key;
  sw_absent absent;
  int64_t fill;
  double fill_float;
  const char *fill_text;
} sw_attr_rule;

typedef struct sw_op_rule sw_op_rule;

/* One op under inference. */
typedef struct sw_rule_call {
  const sw_op_rule *rule;
  sw_opcode code;
  const char *name; /* of the op, for messages */
  sw_span span;
  sw_arena *arena; /* of result types and nests */
  int n_operands;
  const sw_type *operands;
  int n_attrs;
  const sw_attr *attrs; /* canonical */
  const sw_loop_nest *given_nest;
  int n_given_types;
  const sw_type *given_types;
  int n_results; /* filled by `infer` */
  sw_type results[SW_MAX_RESULTS];
  sw_diag *d;
} sw_rule_call;

enum {
  SW_RULE_FREE = 1,     /* a compiler makes it free: no flops, no bytes */
  SW_RULE_SPARSE = 2,   /* reads of operand 0 only as much as it writes */
  SW_RULE_UNSHARED = 4, /* nest or result types are given: not shared between equal ops */
  SW_RULE_DYNAMIC = 8,  /* sizes of operands may be unknown */
  SW_RULE_DEVICE = 16,  /* in programs of one device only: no nest */
};

/* Classes of dtypes, as bits. */
enum {
  SW_FLOATS = 1 << SW_CLASS_FLOAT,
  SW_SIGNED = 1 << SW_CLASS_SIGNED,
  SW_INTS = SW_SIGNED | 1 << SW_CLASS_UNSIGNED,
  SW_BOOLS = 1 << SW_CLASS_BOOL,
  SW_COMPLEX = 1 << SW_CLASS_COMPLEX,
  SW_REALS = SW_FLOATS | SW_INTS,
  SW_NUMBERS = SW_REALS | SW_COMPLEX,
  SW_ELEMENTS = SW_NUMBERS | SW_BOOLS,
  SW_ANY = SW_ELEMENTS | 1 << SW_CLASS_TOKEN,
};

struct sw_expansion;

struct sw_op_rule {
  int least_operands, most_operands; /* most -1: any number */
  int n_attrs;
  const sw_attr_rule *attrs;
  sw_rc (*infer)(sw_rule_call *c);
  void (*nest)(const sw_rule_call *c, sw_nest_builder *b);
  sw_rc (*expand)(struct sw_expansion *e);
  double flops; /* per point of all loops; `nest` may set another */
  unsigned flags;
  /* Elementwise ops: */
  unsigned classes; /* of the operands */
  int n_linear;
  const sw_linearity *linear;
};

const sw_op_rule *sw_op_rule_of(sw_opcode c);

/* "dot_general 'h0': ..." at the op's span. */
#define SW_RULE_FAIL(c, fmt, ...) \
  SW_FAIL_INPUT((c)->d, (c)->span, "%s '%s': " fmt, sw_opcode_text((c)->code), (c)->name, __VA_ARGS__)

/* --- what rules share (check.c) ---------------------------------------------------------------------------------- */

const sw_attr *sw_call_attr(const sw_rule_call *c, sw_attr_key k); /* NULL: absent */
int64_t sw_call_int(const sw_rule_call *c, sw_attr_key k);
const char *sw_call_text(const sw_rule_call *c, sw_attr_key k);
const int64_t *sw_call_ints(const sw_rule_call *c, sw_attr_key k, int *n);
sw_dtype sw_call_dtype(const sw_rule_call *c, sw_attr_key k);

/* The next result: *dims is room for its sizes. */
SW_CHECKED sw_rc sw_call_result(sw_rule_call *c, sw_dtype t, int rank, int64_t **dims);
SW_CHECKED sw_rc sw_call_result_like(sw_rule_call *c, sw_dtype t, const sw_type *shape);

SW_CHECKED sw_rc sw_check_class(const sw_rule_call *c, int operand, unsigned classes);
SW_CHECKED sw_rc sw_check_same_shape(const sw_rule_call *c, int a, int b);
SW_CHECKED sw_rc sw_check_same_dtype(const sw_rule_call *c, int a, int b);
SW_CHECKED sw_rc sw_check_scalar(const sw_rule_call *c, int operand);
/* Operands [first, n): integer scalars, `count` of them. */
SW_CHECKED sw_rc sw_check_starts(const sw_rule_call *c, int first, int count);
/* A list attribute of exactly `n` numbers, all >= least. */
SW_CHECKED sw_rc sw_check_list(const sw_rule_call *c, sw_attr_key k, int n, int64_t least);
/* A list of distinct dims of a tensor of `rank` dims; `of` says which ("operand 0"). */
SW_CHECKED sw_rc sw_check_dims(const sw_rule_call *c, sw_attr_key k, int rank, const char *of);
SW_CHECKED sw_rc sw_check_sorted_dims(const sw_rule_call *c, sw_attr_key k, int rank, const char *of);
/* One dim of operand 0. */
SW_CHECKED sw_rc sw_check_dim(const sw_rule_call *c, sw_attr_key k, int rank);
/* The attribute `kind` as a reduction kind that fits operand 0. */
SW_CHECKED sw_rc sw_check_kind(const sw_rule_call *c, sw_reduction *out);
sw_reduction sw_call_kind(const sw_rule_call *c); /* after sw_check_kind */
/* A shape attribute: rank at most SW_MAX_RANK, sizes >= 0. */
SW_CHECKED sw_rc sw_check_shape(const sw_rule_call *c, sw_attr_key k);

/* Least padding: its negative is a number, too. */
#define SW_LEAST_PADDING (-INT64_MAX)
/* Extent of the result of a (dilated) window over a (dilated, padded) extent; -1 when it does not fit 64 bits. */
int64_t sw_window_extent(int64_t extent, int64_t low, int64_t high, int64_t lhs_dilation, int64_t size,
                         int64_t rhs_dilation, int64_t stride);

#endif
