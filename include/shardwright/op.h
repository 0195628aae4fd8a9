/* The ops: one list of names, one list of attributes, and how an op says which of its dimensions can be cut.
 *
 * Every op has loops (a size and a kind) and one affine map per operand and result, from loops to tensor indices. For
 * dot_general of [b,m,k] and [b,k,n]:
 *
 *   loops   d0 (b, parallel), d1 (m, parallel), d2 (n, parallel), d3 (k, reduction sum)
 *   maps    (d0,d1,d2,d3)->(d0,d1,d3)   (d0,d1,d2,d3)->(d0,d3,d2)   (d0,d1,d2,d3)->(d0,d1,d2)
 *
 * Which shardings an op has, what its operands must look like and how it runs on one device all follow from these.
 */
#ifndef SHARDWRIGHT_OP_H_
#define SHARDWRIGHT_OP_H_

#include "shardwright/dtype.h"
#include "shardwright/sharding.h"

/* What an op is, and all that the layers know of it, is its row in ops.def. */
typedef enum sw_opcode {
#define SW_COLUMN_NAME(id, text, class, doc) SW_OP_##id,
#include "shardwright/ops.def"
  SW_OP_COUNT
} sw_opcode;

typedef enum sw_op_class {
  SW_OPS_UNARY,       /* element by element, one operand, no attributes */
  SW_OPS_BINARY,      /* element by element, two operands alike, no attributes */
  SW_OPS_CONTRACTION, /* sums of products of its two operands */
  SW_OPS_OTHER,
  SW_OPS_GIVEN,   /* types of results, and loops and maps, are said with each op */
  SW_OPS_SUGAR,   /* written by people, expanded to other ops while a graph is built (sw_graph_add_op) */
  SW_OPS_CONTROL, /* markers of loops and choices, and what crosses their borders */
  SW_OPS_DEVICE,  /* in programs of one device only */
} sw_op_class;

/* Control flow is written in line: a loop is
 *
 *   while()                  {trips}
 *   enter(x)                 a value that the loop carries, or only reads; first of all
 *   ...  test(p)             ops that give p, a bool scalar: go on while it is true
 *   ...  yield(x)            the body; one yield per carried value
 *   end()
 *   join(entered, yielded)   per carried value: what it is in the end
 *
 * and a choice is
 *
 *   case(i)
 *   enter(x) ... yield(x)  otherwise()  enter(x) ... yield(x)  ...  end()
 *   join(yielded...)         one operand per branch
 *
 * Ops inside use values of the inside only. Operands of join have the sharding of its result: nothing is moved there.
 *
 * The name of an op, and back. `doc`: its operands and attributes, and what it is, in one line:
 * "(x) {permutation}: result dim i is x's dim permutation[i]". All are safe to call from any thread. */
SW_API const char *sw_opcode_text(sw_opcode c);
SW_API bool sw_opcode_parse(const char *text, sw_opcode *out);
SW_API const char *sw_opcode_doc(sw_opcode c);
SW_API sw_op_class sw_op_class_of(sw_opcode c);
/* What the elements of results are. */
typedef enum sw_content {
  SW_CONTENT_COMPUTED,
  SW_CONTENT_ROUNDED, /* those of operand 0 as near as may be: convert, floor */
  SW_CONTENT_EXACT,   /* computed, but never rounded: compare, negate, iota */
  SW_CONTENT_CHOSEN,  /* each is one of an operand's: select, gather, maximum */
  SW_CONTENT_MOVED,   /* operand 0's, or some of them, by position: reshape, slice, enter */
} sw_content;
SW_API sw_content sw_content_of(sw_opcode c);
/* Do results hold elements of this operand, as they are or rounded? Of several results each holds those of its own. */
SW_API bool sw_opcode_holds(sw_opcode c, int operand);
/* Element by element, without attributes. */
static inline bool sw_op_is_pointwise(sw_opcode c) {
  return sw_op_class_of(c) == SW_OPS_UNARY || sw_op_class_of(c) == SW_OPS_BINARY;
}

/* clang-format off */
/* X(id, text, kind). One name, one kind, everywhere. */
#define SW_ATTRS(X) \
  X(LHS_BATCH, "lhs_batch", INTS) X(RHS_BATCH, "rhs_batch", INTS) \
  X(LHS_CONTRACT, "lhs_contract", INTS) X(RHS_CONTRACT, "rhs_contract", INTS) \
  X(EQUATION, "equation", TEXT) X(DIRECTION, "direction", TEXT) /* eq ne lt le gt ge */ X(DTYPE, "dtype", DTYPE) \
  X(DIMS, "dims", INTS) X(DIM, "dim", INT) X(SHAPE, "shape", INTS) X(PERMUTATION, "permutation", INTS) \
  X(KIND, "kind", TEXT) /* a reduction kind */ X(KEEP_DIMS, "keep_dims", BOOL) \
  X(START, "start", INTS) X(LIMIT, "limit", INTS) X(STRIDES, "strides", INTS) X(SIZES, "sizes", INTS) \
  X(LOW, "low", INTS) X(HIGH, "high", INTS) X(INTERIOR, "interior", INTS) \
  X(LHS_LAYOUT, "lhs_layout", TEXT) X(RHS_LAYOUT, "rhs_layout", TEXT) X(OUT_LAYOUT, "out_layout", TEXT) \
  X(PAD_LOW, "pad_low", INTS) X(PAD_HIGH, "pad_high", INTS) \
  X(LHS_DILATION, "lhs_dilation", INTS) X(RHS_DILATION, "rhs_dilation", INTS) \
  X(FEATURE_GROUPS, "feature_groups", INT) X(BATCH_GROUPS, "batch_groups", INT) X(WINDOW, "window", INTS) \
  X(REVERSED, "reversed", BOOL) X(EXCLUSIVE, "exclusive", BOOL) X(K, "k", INT) \
  X(VALUE, "value", DATA) X(SEED, "seed", INT) X(DISTRIBUTION, "distribution", TEXT) \
  X(LOW_VALUE, "low_value", FLOAT) X(HIGH_VALUE, "high_value", FLOAT) \
  X(EPSILON, "epsilon", FLOAT) X(APPROXIMATE, "approximate", BOOL) \
  X(OFFSET_DIMS, "offset_dims", INTS) X(COLLAPSED_DIMS, "collapsed_dims", INTS) \
  X(OPERAND_BATCH, "operand_batch", INTS) X(INDICES_BATCH, "indices_batch", INTS) \
  X(START_INDEX_MAP, "start_index_map", INTS) X(INDEX_VECTOR_DIM, "index_vector_dim", INT) \
  X(UPDATE_WINDOW_DIMS, "update_window_dims", INTS) X(INSERTED_DIMS, "inserted_dims", INTS) \
  X(TARGET, "target", TEXT) X(BODY, "body", TEXT) \
  X(BASE, "base", INT) X(STEP, "step", INT) X(OFFSET, "offset", INTS) X(GLOBAL, "global", INTS) \
  X(TRIPS, "trips", INT) X(KEYS, "keys", INTS) X(DESCENDING, "descending", BOOL) X(TOTAL_ORDER, "total_order", BOOL) \
  X(FFT_TYPE, "fft_type", TEXT) X(FFT_LENGTH, "fft_length", INTS) X(ALGORITHM, "algorithm", TEXT) \
  X(SELECT_BY, "select", TEXT) \
  X(LOWER, "lower", BOOL) X(LEFT_SIDE, "left_side", BOOL) \
  X(UNIT_DIAGONAL, "unit_diagonal", BOOL) X(TRANSPOSE_A, "transpose", TEXT) \
  X(EXPONENT_BITS, "exponent_bits", INT) X(MANTISSA_BITS, "mantissa_bits", INT) \
  X(SOURCES, "sources", INTS) X(HOW, "how", TEXT) X(LAYOUT, "layout", TEXT) X(SCALE, "scale", FLOAT) \
  X(CAUSAL, "causal", BOOL) X(SOFTCAP, "softcap", FLOAT) X(DROPOUT, "dropout", FLOAT) X(BIAS_GRAD, "bias_grad", BOOL) \
  X(PRECISION, "precision", TEXT)
/* clang-format on */

typedef enum sw_attr_key {
#define SW_X(id, text, kind) SW_ATTR_##id,
  SW_ATTRS(SW_X) SW_ATTR_COUNT
#undef SW_X
} sw_attr_key;

typedef enum sw_attr_kind {
  SW_ATTR_KIND_INT,
  SW_ATTR_KIND_FLOAT,
  SW_ATTR_KIND_BOOL,
  SW_ATTR_KIND_TEXT,
  SW_ATTR_KIND_INTS,
  SW_ATTR_KIND_DTYPE,
  SW_ATTR_KIND_DATA, /* elements of a constant */
} sw_attr_kind;

/* Elements of a constant, in its dtype, row-major; `splat`: one element stands for all (in a graph always so where
 * there is but one). */
typedef struct sw_data {
  const void *bytes;
  bool splat;
} sw_data;

typedef struct sw_attr {
  sw_attr_key key;
  union {
    int64_t i; /* INT, BOOL (0 or 1), DTYPE */
    double f;
    const char *text;
    struct {
      const int64_t *at;
      int32_t n;
    } ints;
    sw_data data;
  } u;
} sw_attr;

SW_API const char *sw_attr_text(sw_attr_key k);
SW_API sw_attr_kind sw_attr_kind_of(sw_attr_key k);
SW_API bool sw_attr_parse_key(const char *text, sw_attr_key *out);

/* How near a product of f32 is to one computed in f32, as `precision` says: as near as one, some bits less, or as the
 * device likes. The more precise is the less. */
typedef enum sw_precision {
  SW_PRECISION_HIGHEST,
  SW_PRECISION_HIGH,
  SW_PRECISION_DEFAULT,
  SW_PRECISION_COUNT
} sw_precision;

SW_API const char *sw_precision_text(sw_precision p);
SW_API bool sw_precision_parse(const char *text, sw_precision *out);

/* What cutting a loop means. */
typedef enum sw_loop_kind {
  SW_LOOP_PARALLEL,  /* each device does its part */
  SW_LOOP_REDUCTION, /* each device reduces its part: the result is partial with `combiner` */
  SW_LOOP_MASKED,    /* a table is cut: each device contributes what falls into its part, neutral elsewhere; partial */
  SW_LOOP_SCAN,      /* each device scans its part; a carry brings in what the parts before reduce to */
  SW_LOOP_PICK,      /* argmax, top_k: each device takes the best of its part, then all merge these; not partial */
  SW_LOOP_MANUAL, /* an opaque op's: devices work on their parts and put together by themselves what lacks the loop */
  SW_LOOP_WHOLE,  /* cannot be cut */
} sw_loop_kind;

typedef struct sw_loop {
  int64_t size;
  sw_loop_kind kind;
  sw_reduction combiner;     /* REDUCTION, MASKED, SCAN */
  uint32_t partial_operands; /* operands (bit i) that are taken as partial when this loop is cut: a scatter's target */
  uint32_t whole_results; /* REDUCTION, MASKED: results (bit i) that are not partial: the op merges them itself, or they
                             follow the loop (a gradient that is a sum over what another one has a dim of) */
} sw_loop;

typedef struct sw_term {
  int32_t loop;
  int64_t coef; /* not 0 */
} sw_term;

/* constant + sum of coef * loop. */
typedef struct sw_affine {
  int64_t constant;
  int32_t n_terms;
  const sw_term *terms; /* for mixed-radix sums: major (largest coef) first */
  /* The terms are digits of the index: each coef is the product of the sizes of the terms after it, and indices run
   * over the dimension exactly once (reshape). Otherwise several terms mean a window. */
  bool mixed_radix;
} sw_affine;

/* One expression per dimension of the operand or result. A dimension without terms is not reached by any loop: of
 * extent 1 it is broadcast or trivial, of a larger extent every device needs all of it (an index vector, the update of
 * a dynamic_update_slice, an input with base dilation). Where shapes do not refine each other (reshape of [6,4] to
 * [4,6]) the digits may stop before 1: "3*d0" with mixed_radix reaches blocks of 3, and the rest of the iteration is a
 * WHOLE loop that is in no map. Loops of size 1 are left out of sums. */
typedef struct sw_map {
  int32_t rank;
  const sw_affine *dims;
} sw_map;

/* "If the operands of `operands` (bit i) are partial with `kind` over an axis that cuts nothing here and the other
 * operands are whole there, then so is every result": add {0,1}, multiply {0} and {1}, transpose {0}, maximum {0,1}.
 * No operands: not for this op, since another operand of it may be infinite (0 times that is no 0), or a divisor 0. */
typedef struct sw_linearity {
  uint32_t operands;
  sw_reduction kind;
} sw_linearity;

/* Loops and maps of one op: maps[0 .. n_operands) then results. Immutable; equal ops may share one. */
typedef struct sw_loop_nest {
  int32_t n_loops, n_maps, n_linear;
  const sw_loop *loops;
  const sw_map *maps;
  const sw_linearity *linear;
  double flops_per_point; /* of one iteration of all loops */
} sw_loop_nest;

/* Does an index of the map go with the loop? */
SW_API bool sw_map_has_loop(const sw_map *m, int loop);
/* Text of a map, "(d0,d1,d2)->(d0,2*d1+d2-1)", and back. */
SW_API void sw_map_print(const sw_map *m, int n_loops, sw_text *out);
SW_API SW_CHECKED sw_rc sw_map_parse(const char *text, int n_loops, sw_span at, sw_arena *arena, sw_map *out,
                                     sw_diag *d);

#endif
