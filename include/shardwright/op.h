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

/* clang-format off */
/* X(id, text). Texts follow StableHLO where it has the op. The last group appears in SPMD programs only. */
#define SW_OPS_UNARY(X) \
  X(ABS, "abs") X(NEGATE, "negate") X(EXP, "exponential") X(EXPM1, "exponential_minus_one") X(LOG, "log") \
  X(LOG1P, "log_plus_one") X(SQRT, "sqrt") X(RSQRT, "rsqrt") X(CBRT, "cbrt") X(TANH, "tanh") \
  X(LOGISTIC, "logistic") X(SIN, "sine") X(COS, "cosine") X(TAN, "tan") X(ASIN, "asin") X(ACOS, "acos") X(ATAN, "atan") \
  X(SINH, "sinh") X(COSH, "cosh") X(ASINH, "asinh") X(ACOSH, "acosh") X(ATANH, "atanh") X(ERF, "erf") \
  X(ERFC, "erfc") X(ERF_INV, "erf_inv") X(LGAMMA, "lgamma") X(DIGAMMA, "digamma") X(BESSEL_I1E, "bessel_i1e") X(REAL, "real") X(IMAG, "imag") X(SIGN, "sign") \
  X(FLOOR, "floor") X(CEIL, "ceil") X(ROUND_EVEN, "round_nearest_even") X(ROUND_AFZ, "round_nearest_afz") \
  X(NOT, "not") X(IS_FINITE, "is_finite") X(POPCNT, "popcnt") X(CLZ, "count_leading_zeros")
#define SW_OPS_BINARY(X) \
  X(ADD, "add") X(SUBTRACT, "subtract") X(MULTIPLY, "multiply") X(DIVIDE, "divide") X(REMAINDER, "remainder") \
  X(MAXIMUM, "maximum") X(MINIMUM, "minimum") X(POWER, "power") X(ATAN2, "atan2") X(ZETA, "zeta") X(POLYGAMMA, "polygamma") X(AND, "and") X(OR, "or") \
  X(XOR, "xor") X(SHIFT_LEFT, "shift_left") X(SHIFT_RIGHT_ARITHMETIC, "shift_right_arithmetic") \
  X(SHIFT_RIGHT_LOGICAL, "shift_right_logical")
#define SW_OPS_OTHER(X) \
  X(COMPARE, "compare") X(SELECT, "select") X(CLAMP, "clamp") X(CONVERT, "convert") \
  X(COMPLEX, "complex") X(FFT, "fft") X(BITCAST, "bitcast_convert") X(REDUCE_PRECISION, "reduce_precision") \
  X(BROADCAST, "broadcast_in_dim") X(TRANSPOSE, "transpose") X(RESHAPE, "reshape") X(REVERSE, "reverse") \
  X(REDUCE, "reduce") X(ARGMAX, "argmax") X(ARGMIN, "argmin") X(DOT, "dot_general") X(IOTA, "iota") \
  X(CONSTANT, "constant") X(RNG, "rng") X(SLICE, "slice") X(DYNAMIC_SLICE, "dynamic_slice") \
  X(DYNAMIC_UPDATE_SLICE, "dynamic_update_slice") X(PAD, "pad") X(CONCATENATE, "concatenate") \
  X(CONVOLUTION, "convolution") X(REDUCE_WINDOW, "reduce_window") X(CUMULATIVE, "cumulative") X(TOP_K, "top_k") X(SORT, "sort") \
  X(RNG_BITS, "rng_bit_generator") X(SELECT_AND_SCATTER, "select_and_scatter") X(CHOLESKY, "cholesky") \
  X(TRIANGULAR_SOLVE, "triangular_solve") X(FACTOR, "factor") X(TRIDIAGONAL_SOLVE, "tridiagonal_solve") \
  X(GATHER, "gather") X(SCATTER, "scatter") X(SHUFFLE, "shuffle") X(GENERIC, "generic") X(OPAQUE, "opaque")
/* Written by people, expanded to the ops above while a graph is built (sw_graph_add_op). */
#define SW_OPS_SUGAR(X) \
  X(EINSUM, "einsum") X(SOFTMAX, "softmax") X(LAYER_NORM, "layer_norm") X(RMS_NORM, "rms_norm") X(GELU, "gelu") \
  X(SILU, "silu") X(TAKE, "take") X(SCATTER_ADD, "scatter_add") X(ONE_HOT, "one_hot") X(CUMSUM, "cumsum")
/* Control flow, written in line (see below): structure is in the order of ops, and every value that crosses a border
 * does so through an op of its own. */
#define SW_OPS_CONTROL(X) \
  X(WHILE, "while") X(CASE, "case") X(ENTER, "enter") X(TEST, "test") X(OTHERWISE, "otherwise") X(YIELD, "yield") \
  X(END, "end") X(JOIN, "join")
/* What a device's program has besides: a collective; the first global index of this device's block; keep some
 * positions of a block and replace the others. */
#define SW_OPS_SPMD(X) \
  X(COLLECTIVE, "collective") X(SHARD_START, "shard_start") X(MASK, "mask")
/* clang-format on */

#define SW_OPS(X) SW_OPS_UNARY(X) SW_OPS_BINARY(X) SW_OPS_OTHER(X) SW_OPS_SUGAR(X) SW_OPS_CONTROL(X) SW_OPS_SPMD(X)

typedef enum sw_opcode {
#define SW_X(id, text) SW_OP_##id,
  SW_OPS(SW_X)
#undef SW_X
      SW_OP_COUNT
} sw_opcode;

/* Operands and attributes (in braces; "=" gives a default, otherwise required):
 *
 *   unary, binary            same shape and dtype; not/and/or/xor/shifts/popcnt on integers (not/and/or/xor also bool);
 *                            is_finite gives bool
 *                            abs, real and imag of complex numbers are real
 *   complex(re, im)          f32 or f64
 *   fft(x)                   {fft_type: fft ifft rfft irfft, fft_length}: over the last dims, as many as lengths; rfft
 *                            takes real numbers and keeps n/2+1 of the last dim, irfft goes back to `fft_length`
 *   compare(a, b)            {direction}: eq ne lt le gt ge; gives bool
 *   select(pred, a, b)       pred bool, same shape or rank 0
 *   clamp(lo, x, hi)         lo, hi same shape as x or rank 0
 *   convert(x)               {dtype}
 *   bitcast_convert(x)       {dtype}: the same bits; a wider dtype takes in the last dim, a narrower one adds one
 *   reduce_precision(x)      {exponent_bits, mantissa_bits}: rounded as to that format; too small numbers become 0
 *   broadcast_in_dim(x)      {shape, dims}: x's dim i becomes result dim dims[i]; extent 1 or equal
 *   transpose(x)             {permutation}: result dim i is x's dim permutation[i]
 *   reshape(x)               {shape}
 *   reverse(x)               {dims}
 *   reduce(x)                {kind, dims, keep_dims=false}: kind sum product min max and or
 *   argmax(x), argmin(x)     {dim, keep_dims=false, dtype=i32}: lowest index among equals; NaN beats numbers
 *   dot_general(a, b)        {lhs_batch=[], rhs_batch=[], lhs_contract, rhs_contract, dtype=that of a}: result dims are
 *                            batch, then a's others, then b's others
 *   iota()                   {shape, dtype, dim}
 *   constant()               {value, shape, dtype}
 *   rng(starts...)           {shape, dtype, seed, distribution=uniform|normal, low_value=0, high_value=1 (mean and
 *                            deviation for normal), global=shape}: element at global index g is a function of seed and
 *                            g's row-major number in `global` alone; starts: none, or one i64 scalar per dim that is
 *                            added to local indices
 *   slice(x)                 {start, limit, strides=1...}
 *   dynamic_slice(x, i...)   {sizes}: one integer scalar per dim, clamped so that the window fits
 *   dynamic_update_slice(x, update, i...)
 *   pad(x, value)            {low, high, interior=0...}: value is a scalar; low/high may be negative
 *   concatenate(x...)        {dim}
 *   convolution(x, w)        {lhs_layout, rhs_layout, out_layout (letters b f / o i / b f and digits 0 1 2: "bf01",
 *                            "oi01", "b01f"), strides=1.., pad_low=0.., pad_high=0.., lhs_dilation=1..,
 *                            rhs_dilation=1.., feature_groups=1, batch_groups=1}
 *   reduce_window(x)         {kind, window, strides=1.., pad_low=0.., pad_high=0.., lhs_dilation=1..,
 *                            rhs_dilation=1..}: one number per dim of x; padding holds the kind's neutral element
 *   cumulative(x)            {kind, dim, reversed=false, exclusive=false}
 *   top_k(x)                 {k, dim=last}: values (descending, stable) and their i32 indices
 *   sort(x...)               {dim=last, keys=[0], descending=false, total_order=false}: all alike, by the operands
 *                            `keys`, the first one first; stable; NaN after all numbers and -0 equal to 0, or in
 *                            total order by sign: -NaN -inf ... -0 0 ... inf NaN; descending is exactly backwards
 *   rng_bit_generator(state, starts...)  {shape, dtype, algorithm=default|three_fry|philox, global=shape}: the next
 *                            state and bits; state: u64[2], or for philox [3]; bit for bit what XLA makes on CPUs and
 *                            GPUs, where default is philox; starts: none, or one i64 scalar per dim of the bits
 *   select_and_scatter(x, source, init)  {select=ge (or le gt lt), kind=sum, window, strides=1.., pad_low=0..,
 *                            pad_high=0..}: in each window of x the element chosen by `select` gets the source's
 *   cholesky(a)              {lower=true}: factors of the last two dims, 0 in the other triangle
 *   triangular_solve(a, b)   {left_side=true, lower=true, unit_diagonal=false, transpose=none|transpose|adjoint}
 *   tridiagonal_solve(dl, d, du, b)  {target=lapack}: diagonals below (the first unused), on and above (the last
 * unused); NaN where the matrix is singular factor(a)                {how, lower=true, target=lapack|cuda|rocm (whose
 * call it was)}: the last two dims m x n, k the smaller one, as LAPACK does: lu           l and u in one, i32[k] pivots
 * from 1, i32[] info qr           r over reflectors, [k] taus pivoted_qr   (a, i32[n]: columns that come first are not
 * 0): r over reflectors, i32[n] columns from 1, [k] taus householder  (a, taus): the product of such reflectors eigh
 * eigenvectors, ascending real eigenvalues, i32[] info; of one triangle svd          real [k] values, u [m,k], v
 * adjoint [k,n], i32[] info; full_svd: [m,m], [n,n] eig          complex [n] eigenvalues, left and right eigenvectors,
 * i32[] info schur        t, vectors, complex [n] eigenvalues, i32[] info hessenberg   h over reflectors, [n-1] taus,
 * i32[] info tridiagonal  of one triangle: reflectors, real [n] diagonal, real [n-1] beside it, [n-1] taus, i32[] info
 *                            info is not 0 where there is none; what is not finite has no eigenvalues: NaN
 *   gather(x, indices)       as StableHLO: {offset_dims, collapsed_dims, operand_batch=[], indices_batch=[],
 *                            start_index_map, index_vector_dim, sizes}; indices clamped
 *   scatter(x, indices, updates)  as StableHLO: {kind: sum product min max replace, update_window_dims, inserted_dims,
 *                            operand_batch=[], indices_batch=[], start_index_map, index_vector_dim}; windows that do
 *                            not fit are dropped
 *   shuffle(x)               {sources}: position i of dim 0 is x's position sources[i]; each position is taken once
 *   generic(x...)            explicit loops and maps; {body}: scalar expressions over x0, x1, ... and d0, d1, ... (loop
 *                            indices), one per result, separated by ';'; results are combined over reduction loops
 *   opaque(x...)             {target}: unknown op: planned replicated, not executed
 * sugar:
 *   einsum(x...)             {equation} "bij,bjk->bik", one or more operands
 *   softmax(x) {dim=last}, layer_norm(x, gamma, beta) {epsilon=1e-5}, rms_norm(x, gamma) {epsilon=1e-5} (over the last
 *   dim), gelu(x) {approximate=true}, silu(x), take(table, indices) {dim=0}, scatter_add(x, indices, updates) {dim=0}
 *   (the transpose of take), one_hot(indices) {k, dtype} (new last dim), cumsum(x) {dim, reversed, exclusive}
 * control flow: a loop is
 *   while() {trips=0}        how often the body runs, 0: not known (a counter against a constant is found by itself)
 *   enter(x)                 a value that the loop carries, or only reads; first of all
 *   ...  test(p)             ops that give p, a bool scalar: go on while it is true
 *   ...  yield(x)            the body; one yield per carried value
 *   end()
 *   join(entered, yielded)   per carried value: what it is in the end
 * and a choice is
 *   case(i)                  integer scalar: branch i, else the last one; bool: true is the first branch
 *   enter(x) ... yield(x)  otherwise()  enter(x) ... yield(x)  ...  end()
 *   join(yielded...)         one operand per branch
 * Ops inside use values of the inside only. Operands of join have the sharding of its result: nothing is moved there.
 * SPMD programs:
 *   collective(x, root...)   the op's sw_collective; coordinates of a root that are not in it
 *   shard_start()            {base=0, step, dtype=i64}: base + step * (this device's index over refs); a scalar
 *   mask(x, otherwise)       {dim, base=0, step, start, limit} (start, limit: one number): keeps positions r of dim
 * whose global index g = base + step * (index over refs) + r has start <= g < limit; others are taken from `otherwise`
 * (a scalar, or of x's shape)
 */
SW_API const char *sw_opcode_text(sw_opcode c);
SW_API bool sw_opcode_parse(const char *text, sw_opcode *out);

/* clang-format off */
/* X(id, text, kind). One name, one kind, everywhere. */
#define SW_ATTRS(X) \
  X(LHS_BATCH, "lhs_batch", INTS) X(RHS_BATCH, "rhs_batch", INTS) X(LHS_CONTRACT, "lhs_contract", INTS) \
  X(RHS_CONTRACT, "rhs_contract", INTS) X(EQUATION, "equation", TEXT) \
  X(DIRECTION, "direction", TEXT) /* eq ne lt le gt ge */ X(DTYPE, "dtype", DTYPE) X(DIMS, "dims", INTS) \
  X(DIM, "dim", INT) X(SHAPE, "shape", INTS) X(PERMUTATION, "permutation", INTS) \
  X(KIND, "kind", TEXT) /* a reduction kind */ X(KEEP_DIMS, "keep_dims", BOOL) X(START, "start", INTS) \
  X(LIMIT, "limit", INTS) X(STRIDES, "strides", INTS) X(SIZES, "sizes", INTS) X(LOW, "low", INTS) \
  X(HIGH, "high", INTS) X(INTERIOR, "interior", INTS) X(LHS_LAYOUT, "lhs_layout", TEXT) \
  X(RHS_LAYOUT, "rhs_layout", TEXT) X(OUT_LAYOUT, "out_layout", TEXT) X(PAD_LOW, "pad_low", INTS) \
  X(PAD_HIGH, "pad_high", INTS) X(LHS_DILATION, "lhs_dilation", INTS) X(RHS_DILATION, "rhs_dilation", INTS) \
  X(FEATURE_GROUPS, "feature_groups", INT) X( BATCH_GROUPS, "batch_groups", INT) X(WINDOW, "window", INTS) \
  X(REVERSED, "reversed", BOOL) X(EXCLUSIVE, "exclusive", BOOL) X(K, "k", INT) X(VALUE, "value", DATA) \
  X(SEED, "seed", INT) X(DISTRIBUTION, "distribution", TEXT) X(LOW_VALUE, "low_value", FLOAT) \
  X(HIGH_VALUE, "high_value", FLOAT) X(EPSILON, "epsilon", FLOAT) X(APPROXIMATE, "approximate", BOOL) \
  X(OFFSET_DIMS, "offset_dims", INTS) X(COLLAPSED_DIMS, "collapsed_dims", INTS) \
  X(OPERAND_BATCH, "operand_batch", INTS) X(INDICES_BATCH, "indices_batch", INTS) \
  X(START_INDEX_MAP, "start_index_map", INTS) X(INDEX_VECTOR_DIM, "index_vector_dim", INT) \
  X(UPDATE_WINDOW_DIMS, "update_window_dims", INTS) X(INSERTED_DIMS, "inserted_dims", INTS) \
  X(TARGET, "target", TEXT) X(BODY, "body", TEXT) X(BASE, "base", INT) X(STEP, "step", INT) \
  X(OFFSET, "offset", INTS) X(GLOBAL, "global", INTS) X(TRIPS, "trips", INT) \
  X(KEYS, "keys", INTS) X(DESCENDING, "descending", BOOL) X(TOTAL_ORDER, "total_order", BOOL) \
  X(FFT_TYPE, "fft_type", TEXT) X(FFT_LENGTH, "fft_length", INTS) X(ALGORITHM, "algorithm", TEXT) X(SELECT_BY, "select", TEXT) X(LOWER, "lower", BOOL) X(LEFT_SIDE, "left_side", BOOL) \
  X(UNIT_DIAGONAL, "unit_diagonal", BOOL) X(TRANSPOSE_A, "transpose", TEXT) \
  X(EXPONENT_BITS, "exponent_bits", INT) X(MANTISSA_BITS, "mantissa_bits", INT) X(SOURCES, "sources", INTS) X(HOW, "how", TEXT)
/* clang-format on */

typedef enum sw_attr_key {
#define SW_X(id, text, kind) SW_ATTR_##id,
  SW_ATTRS(SW_X)
#undef SW_X
      SW_ATTR_COUNT
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

/* What cutting a loop means. */
typedef enum sw_loop_kind {
  SW_LOOP_PARALLEL,  /* each device does its part */
  SW_LOOP_REDUCTION, /* each device reduces its part: the result is partial with `combiner` */
  SW_LOOP_MASKED,    /* a table is cut: each device contributes what falls into its part, neutral elsewhere; partial */
  SW_LOOP_SCAN,      /* each device scans its part; totals of the parts before are added */
  SW_LOOP_PICK,      /* argmax, top_k: each device picks from its part, then all pick from the picks; not partial */
  SW_LOOP_MANUAL, /* an opaque op's: devices work on their parts and put together by themselves what lacks the loop */
  SW_LOOP_WHOLE,  /* cannot be cut */
} sw_loop_kind;

typedef struct sw_loop {
  int64_t size;
  sw_loop_kind kind;
  sw_reduction combiner;     /* REDUCTION, MASKED, SCAN */
  uint32_t partial_operands; /* operands (bit i) that are taken as partial when this loop is cut: a scatter's target */
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
typedef struct sw_linear {
  uint32_t operands;
  sw_reduction kind;
} sw_linear;

/* Loops and maps of one op: maps[0 .. n_operands) then results. Immutable; equal ops may share one. */
typedef struct sw_space {
  int32_t n_loops, n_maps, n_linear;
  const sw_loop *loops;
  const sw_map *maps;
  const sw_linear *linear;
  double flops_per_point; /* of one iteration of all loops */
} sw_space;

/* Text of a map, "(d0,d1,d2)->(d0,2*d1+d2-1)", and back. */
SW_API void sw_map_print(const sw_map *m, int n_loops, sw_text *out);
SW_API SW_CHECKED sw_rc sw_map_parse(const char *text, int n_loops, sw_span at, sw_arena *arena, sw_map *out,
                                     sw_diag *d);

#endif
