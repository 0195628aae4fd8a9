/* The registry: what each op takes and how its types, loops and maps follow. One row per opcode; an opcode without a
 * row does not compile. */
#include "graph/ops/rule.h"
#include "graph/ops/rules.h"

/* --- attributes -------------------------------------------------------------------------------------------------- */

#define NEEDED(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_WRONG }
#define STAYS(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_STAYS }
#define EMPTY(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_EMPTY }
#define INT(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_INT, .fill = (v) }
#define NUMBER(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_FLOAT, .fill_float = (v) }
#define WORD(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_TEXT, .fill_text = (v) }
#define EACH(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_RANK, .fill = (v) }
#define ZEROS(k, n) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_ZEROS, .fill = (n) }
#define SPATIAL(k, v) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_SPATIAL, .fill = (v) }
#define LAST(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_LAST }
#define ELEMENT(k) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_ELEMENT }
#define COPY(k, from) \
  { .key = SW_ATTR_##k, .absent = SW_ABSENT_COPY, .fill = SW_ATTR_##from }
#define ATTRS(name, ...) static const sw_attr_rule name##_attrs[] = {__VA_ARGS__}

ATTRS(bitcast, NEEDED(DTYPE));
ATTRS(reduce_precision, NEEDED(EXPONENT_BITS), NEEDED(MANTISSA_BITS));
ATTRS(fft, NEEDED(FFT_TYPE), NEEDED(FFT_LENGTH));
ATTRS(rng_bits, NEEDED(SHAPE), NEEDED(DTYPE), WORD(ALGORITHM, "default"), COPY(GLOBAL, SHAPE));
ATTRS(select_and_scatter, WORD(SELECT_BY, "ge"), WORD(KIND, "sum"), NEEDED(WINDOW), EACH(STRIDES, 1), EACH(PAD_LOW, 0),
      EACH(PAD_HIGH, 0));
ATTRS(cholesky, INT(LOWER, 1));
ATTRS(factor, NEEDED(HOW), INT(LOWER, 1), WORD(TARGET, "lapack"));
ATTRS(tridiagonal_solve, WORD(TARGET, "lapack"));
ATTRS(triangular_solve, INT(LEFT_SIDE, 1), INT(LOWER, 1), INT(UNIT_DIAGONAL, 0), WORD(TRANSPOSE_A, "none"));
ATTRS(sort, LAST(DIM), ZEROS(KEYS, 1), INT(DESCENDING, 0), INT(TOTAL_ORDER, 0));
ATTRS(compare, NEEDED(DIRECTION));
ATTRS(convert, NEEDED(DTYPE));
ATTRS(broadcast, NEEDED(DIMS), NEEDED(SHAPE));
ATTRS(transpose, NEEDED(PERMUTATION));
ATTRS(reshape, NEEDED(SHAPE));
ATTRS(reverse, NEEDED(DIMS));
ATTRS(shuffle, NEEDED(SOURCES));
ATTRS(slice, NEEDED(START), NEEDED(LIMIT), EACH(STRIDES, 1));
ATTRS(pad, NEEDED(LOW), NEEDED(HIGH), EACH(INTERIOR, 0));
ATTRS(concatenate, NEEDED(DIM));
ATTRS(dynamic_slice, NEEDED(SIZES));
ATTRS(iota, NEEDED(DTYPE), NEEDED(DIM), NEEDED(SHAPE));
ATTRS(constant, NEEDED(DTYPE), NEEDED(SHAPE), NEEDED(VALUE));
ATTRS(rng, NEEDED(DTYPE), NEEDED(SHAPE), NEEDED(SEED), WORD(DISTRIBUTION, "uniform"), NUMBER(LOW_VALUE, 0),
      NUMBER(HIGH_VALUE, 1), COPY(GLOBAL, SHAPE));
ATTRS(reduce, NEEDED(DIMS), NEEDED(KIND), INT(KEEP_DIMS, 0));
ATTRS(pick, INT(DTYPE, SW_I32), NEEDED(DIM), INT(KEEP_DIMS, 0));
ATTRS(cumulative, NEEDED(DIM), NEEDED(KIND), INT(REVERSED, 0), INT(EXCLUSIVE, 0));
ATTRS(top_k, LAST(DIM), NEEDED(K));
ATTRS(reduce_window, NEEDED(KIND), EACH(STRIDES, 1), EACH(PAD_LOW, 0), EACH(PAD_HIGH, 0), EACH(LHS_DILATION, 1),
      EACH(RHS_DILATION, 1), NEEDED(WINDOW));
ATTRS(dot, EMPTY(LHS_BATCH), EMPTY(RHS_BATCH), NEEDED(LHS_CONTRACT), NEEDED(RHS_CONTRACT), ELEMENT(DTYPE));
ATTRS(convolution, ELEMENT(DTYPE), SPATIAL(STRIDES, 1), NEEDED(LHS_LAYOUT), NEEDED(RHS_LAYOUT), NEEDED(OUT_LAYOUT),
      SPATIAL(PAD_LOW, 0), SPATIAL(PAD_HIGH, 0), SPATIAL(LHS_DILATION, 1), SPATIAL(RHS_DILATION, 1),
      INT(FEATURE_GROUPS, 1), INT(BATCH_GROUPS, 1));
ATTRS(gather, NEEDED(SIZES), NEEDED(OFFSET_DIMS), NEEDED(COLLAPSED_DIMS), EMPTY(OPERAND_BATCH), EMPTY(INDICES_BATCH),
      NEEDED(START_INDEX_MAP), NEEDED(INDEX_VECTOR_DIM));
ATTRS(scatter, NEEDED(KIND), EMPTY(OPERAND_BATCH), EMPTY(INDICES_BATCH), NEEDED(START_INDEX_MAP),
      NEEDED(INDEX_VECTOR_DIM), NEEDED(UPDATE_WINDOW_DIMS), NEEDED(INSERTED_DIMS));
ATTRS(generic, NEEDED(BODY));
ATTRS(opaque, NEEDED(TARGET));
ATTRS(einsum, NEEDED(EQUATION));
ATTRS(softmax, LAST(DIM));
ATTRS(norm, NUMBER(EPSILON, 1e-5));
ATTRS(gelu, INT(APPROXIMATE, 1));
ATTRS(take, INT(DIM, 0));
ATTRS(one_hot, NEEDED(DTYPE), NEEDED(K));
ATTRS(cumsum, NEEDED(DIM), INT(REVERSED, 0), INT(EXCLUSIVE, 0));
ATTRS(while, INT(TRIPS, 0));
ATTRS(shard_start, INT(DTYPE, SW_I64), INT(BASE, 0), NEEDED(STEP));
ATTRS(mask, NEEDED(DIM), NEEDED(START), NEEDED(LIMIT), INT(BASE, 0), NEEDED(STEP));

/* --- elementwise ops --------------------------------------------------------------------------------------------- */

static const sw_linear kBothSums[] = {{3, SW_REDUCE_SUM}};
static const sw_linear kOneSum[] = {{1, SW_REDUCE_SUM}};
static const sw_linear kEachSum[] = {{1, SW_REDUCE_SUM}, {2, SW_REDUCE_SUM}};
static const sw_linear kBothMax[] = {{3, SW_REDUCE_MAX}};
static const sw_linear kBothMin[] = {{3, SW_REDUCE_MIN}};
static const sw_linear kChosen[] = {{6, SW_REDUCE_SUM}, {6, SW_REDUCE_MIN}, {6, SW_REDUCE_MAX}};

#define LINEAR(table) .n_linear = (int)(sizeof(table) / sizeof *(table)), .linear = (table)
#define ROW(id) static const sw_op_rule rule_##id
#define ELEMENTWISE(id, n, how, kinds, ...)    \
  ROW(id) = {n,                                \
             n,                                \
             .infer = sw_infer_##how,          \
             .space = sw_space_of_elementwise, \
             .flops = 1,                       \
             .classes = (kinds),               \
             .flags = SW_RULE_DYNAMIC,         \
             ##__VA_ARGS__}

ELEMENTWISE(ABS, 1, magnitude, SW_NUMBERS);
ELEMENTWISE(NEGATE, 1, unary, SW_NUMBERS, LINEAR(kOneSum));
ELEMENTWISE(EXP, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(EXPM1, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(LOG, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(LOG1P, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(SQRT, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(RSQRT, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(CBRT, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(TANH, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(LOGISTIC, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(SIN, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(COS, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(TAN, 1, unary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(ASIN, 1, unary, SW_FLOATS);
ELEMENTWISE(ACOS, 1, unary, SW_FLOATS);
ELEMENTWISE(ATAN, 1, unary, SW_FLOATS);
ELEMENTWISE(SINH, 1, unary, SW_FLOATS);
ELEMENTWISE(COSH, 1, unary, SW_FLOATS);
ELEMENTWISE(ASINH, 1, unary, SW_FLOATS);
ELEMENTWISE(ACOSH, 1, unary, SW_FLOATS);
ELEMENTWISE(ATANH, 1, unary, SW_FLOATS);
ELEMENTWISE(ERF, 1, unary, SW_FLOATS);
ELEMENTWISE(ERFC, 1, unary, SW_FLOATS);
ELEMENTWISE(ERF_INV, 1, unary, SW_FLOATS);
ELEMENTWISE(LGAMMA, 1, unary, SW_FLOATS);
ELEMENTWISE(DIGAMMA, 1, unary, SW_FLOATS);
ELEMENTWISE(BESSEL_I1E, 1, unary, SW_FLOATS);
ELEMENTWISE(REAL, 1, magnitude, SW_FLOATS | SW_COMPLEX, LINEAR(kOneSum));
ELEMENTWISE(IMAG, 1, magnitude, SW_FLOATS | SW_COMPLEX, LINEAR(kOneSum));
ELEMENTWISE(COMPLEX, 2, complex, SW_FLOATS, LINEAR(kBothSums));
ELEMENTWISE(SIGN, 1, unary, SW_SIGNED | SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(FLOOR, 1, unary, SW_FLOATS);
ELEMENTWISE(CEIL, 1, unary, SW_FLOATS);
ELEMENTWISE(ROUND_EVEN, 1, unary, SW_FLOATS);
ELEMENTWISE(ROUND_AFZ, 1, unary, SW_FLOATS);
ELEMENTWISE(NOT, 1, unary, SW_INTS | SW_BOOLS);
ELEMENTWISE(IS_FINITE, 1, test, SW_FLOATS);
ELEMENTWISE(POPCNT, 1, unary, SW_INTS);
ELEMENTWISE(CLZ, 1, unary, SW_INTS);
ELEMENTWISE(ADD, 2, binary, SW_ELEMENTS, LINEAR(kBothSums));
ELEMENTWISE(SUBTRACT, 2, binary, SW_NUMBERS, LINEAR(kBothSums));
ELEMENTWISE(MULTIPLY, 2, binary, SW_ELEMENTS, LINEAR(kEachSum));
ELEMENTWISE(REMAINDER, 2, binary, SW_REALS);
ELEMENTWISE(MAXIMUM, 2, binary, SW_REALS | SW_BOOLS, LINEAR(kBothMax));
ELEMENTWISE(MINIMUM, 2, binary, SW_REALS | SW_BOOLS, LINEAR(kBothMin));
ELEMENTWISE(POWER, 2, binary, SW_NUMBERS);
ELEMENTWISE(ATAN2, 2, binary, SW_FLOATS | SW_COMPLEX);
ELEMENTWISE(ZETA, 2, binary, SW_FLOATS);
ELEMENTWISE(POLYGAMMA, 2, binary, SW_FLOATS);
ELEMENTWISE(AND, 2, binary, SW_INTS | SW_BOOLS);
ELEMENTWISE(OR, 2, binary, SW_INTS | SW_BOOLS);
ELEMENTWISE(XOR, 2, binary, SW_INTS | SW_BOOLS);
ELEMENTWISE(SHIFT_LEFT, 2, binary, SW_INTS);
ELEMENTWISE(SHIFT_RIGHT_ARITHMETIC, 2, binary, SW_INTS);
ELEMENTWISE(SHIFT_RIGHT_LOGICAL, 2, binary, SW_INTS);
ELEMENTWISE(COMPARE, 2, compare, SW_ELEMENTS, SW_RULE_ATTRS(compare_attrs));
ELEMENTWISE(SELECT, 3, select, SW_ELEMENTS, LINEAR(kChosen));
ELEMENTWISE(CLAMP, 3, clamp, SW_REALS | SW_BOOLS);
ROW(REDUCE_PRECISION) = {1,
                         1,
                         SW_RULE_ATTRS(reduce_precision_attrs),
                         .infer = sw_infer_reduce_precision,
                         .space = sw_space_of_elementwise,
                         .flops = 1,
                         .classes = SW_FLOATS,
                         .flags = SW_RULE_DYNAMIC};
ROW(DIVIDE) = {2,
               2,
               .infer = sw_infer_binary,
               .space = sw_space_of_divide,
               .flops = 1,
               .classes = SW_NUMBERS,
               .flags = SW_RULE_DYNAMIC};
ROW(CONVERT) = {1,
                1,
                SW_RULE_ATTRS(convert_attrs),
                .infer = sw_infer_convert,
                .space = sw_space_of_convert,
                .flops = 1,
                .classes = SW_ELEMENTS,
                .flags = SW_RULE_DYNAMIC};

/* --- the other ops ----------------------------------------------------------------------------------------------- */

#define OP(id, n, how, given, ...) \
  ROW(id) = {n, n, SW_RULE_ATTRS(given##_attrs), .infer = sw_infer_##how, .space = sw_space_of_##how, ##__VA_ARGS__}

OP(BROADCAST, 1, broadcast, broadcast, .flags = SW_RULE_FREE);
OP(TRANSPOSE, 1, transpose, transpose, .flags = SW_RULE_DYNAMIC);
OP(RESHAPE, 1, reshape, reshape, .flags = SW_RULE_FREE);
OP(REVERSE, 1, reverse, reverse);
OP(SHUFFLE, 1, shuffle, shuffle);
OP(BITCAST, 1, bitcast, bitcast, .flags = SW_RULE_FREE);
OP(REDUCE, 1, reduce, reduce, .flops = 1);
OP(ARGMAX, 1, pick, pick, .flops = 1);
OP(ARGMIN, 1, pick, pick, .flops = 1);
OP(DOT, 2, dot, dot, .flops = 2);
OP(SLICE, 1, slice, slice);
OP(PAD, 2, pad, pad);
OP(CONVOLUTION, 2, convolution, convolution, .flops = 2);
OP(REDUCE_WINDOW, 1, reduce_window, reduce_window, .flops = 1);
OP(CUMULATIVE, 1, cumulative, cumulative, .flops = 1);
OP(TOP_K, 1, top_k, top_k);
OP(GATHER, 2, gather, gather, .flags = SW_RULE_SPARSE);
OP(SCATTER, 3, scatter, scatter);
OP(SELECT_AND_SCATTER, 3, select_and_scatter, select_and_scatter, .flops = 1);
OP(FFT, 1, fft, fft);
OP(CHOLESKY, 1, cholesky, cholesky);
OP(TRIANGULAR_SOLVE, 2, triangular_solve, triangular_solve);
OP(TRIDIAGONAL_SOLVE, 4, tridiagonal_solve, tridiagonal_solve);
ROW(FACTOR) = {1, 2, SW_RULE_ATTRS(factor_attrs), .infer = sw_infer_factor, .space = sw_space_of_factor};
ROW(RNG_BITS) = {
    1, -1, SW_RULE_ATTRS(rng_bits_attrs), .infer = sw_infer_rng_bits, .space = sw_space_of_rng_bits, .flops = 1};
ROW(SORT) = {1, SW_MAX_RESULTS, SW_RULE_ATTRS(sort_attrs), .infer = sw_infer_sort, .space = sw_space_of_sort};
ROW(CONCATENATE) = {1, -1, SW_RULE_ATTRS(concatenate_attrs), .infer = sw_infer_concatenate,
                    .space = sw_space_of_concatenate};
ROW(DYNAMIC_SLICE) = {1,
                      -1,
                      SW_RULE_ATTRS(dynamic_slice_attrs),
                      .infer = sw_infer_dynamic_slice,
                      .space = sw_space_of_dynamic_slice,
                      .flags = SW_RULE_SPARSE};
ROW(DYNAMIC_UPDATE_SLICE) = {2, -1, .infer = sw_infer_dynamic_update_slice, .space = sw_space_of_dynamic_update_slice};
ROW(IOTA) = {
    0, 0, SW_RULE_ATTRS(iota_attrs), .infer = sw_infer_iota, .space = sw_space_of_source, .flags = SW_RULE_FREE};
ROW(CONSTANT) = {0,
                 0,
                 SW_RULE_ATTRS(constant_attrs),
                 .infer = sw_infer_constant,
                 .space = sw_space_of_source,
                 .flags = SW_RULE_FREE};
ROW(RNG) = {0, -1, SW_RULE_ATTRS(rng_attrs), .infer = sw_infer_rng, .space = sw_space_of_source, .flops = 1};
ROW(GENERIC) = {0, -1, SW_RULE_ATTRS(generic_attrs), .infer = sw_infer_generic, .flags = SW_RULE_UNSHARED};
ROW(OPAQUE) = {0,
               -1,
               SW_RULE_ATTRS(opaque_attrs),
               .infer = sw_infer_opaque,
               .space = sw_space_of_opaque,
               .flags = SW_RULE_UNSHARED | SW_RULE_DYNAMIC};

/* --- sugar and SPMD programs ------------------------------------------------------------------------------------- */

#define SUGAR(id, n, check, what, given, ...) \
  ROW(id) = {n, n, SW_RULE_ATTRS(given##_attrs), .infer = sw_infer_##check, .expand = sw_expand_##what, ##__VA_ARGS__}

ROW(EINSUM) = {1, -1, SW_RULE_ATTRS(einsum_attrs), .infer = sw_infer_einsum, .expand = sw_expand_einsum};
SUGAR(SOFTMAX, 1, along_dim, softmax, softmax, .classes = SW_FLOATS);
SUGAR(LAYER_NORM, 3, norm, layer_norm, norm);
SUGAR(RMS_NORM, 2, norm, rms_norm, norm);
SUGAR(GELU, 1, float, gelu, gelu);
SUGAR(TAKE, 2, take, take, take);
SUGAR(SCATTER_ADD, 3, scatter_add, scatter_add, take);
SUGAR(ONE_HOT, 1, one_hot, one_hot, one_hot);
SUGAR(CUMSUM, 1, along_dim, cumsum, cumsum, .classes = SW_NUMBERS);
ROW(SILU) = {1, 1, .infer = sw_infer_float, .expand = sw_expand_silu};

#define CONTROL (SW_RULE_FREE | SW_RULE_DYNAMIC)
#define MARKER(id, n, how) ROW(id) = {n, n, .infer = sw_infer_##how, .space = sw_space_of_opaque, .flags = CONTROL}
ROW(WHILE) = {
    0, 0, SW_RULE_ATTRS(while_attrs), .infer = sw_infer_marker, .space = sw_space_of_opaque, .flags = SW_RULE_FREE};
MARKER(CASE, 1, choice);
MARKER(TEST, 1, choice);
MARKER(OTHERWISE, 0, marker);
MARKER(END, 0, marker);
#define CARRY(id, most) \
  ROW(id) = {1, most, .infer = sw_infer_alike, .space = sw_space_of_elementwise, .classes = SW_ANY, .flags = CONTROL}
CARRY(ENTER, 1);
CARRY(YIELD, 1);
CARRY(JOIN, -1);

#define SPMD (SW_RULE_SPMD | SW_RULE_UNSHARED)
ROW(COLLECTIVE) = {0, -1, .infer = sw_infer_given, .flags = SPMD};
ROW(SHARD_START) = {0, 0, SW_RULE_ATTRS(shard_start_attrs), .infer = sw_infer_given, .flags = SPMD};
ROW(MASK) = {2, 2, SW_RULE_ATTRS(mask_attrs), .infer = sw_infer_given, .flags = SPMD};

static const sw_op_rule *const kRules[SW_OP_COUNT] = {
#define SW_X(id, text) [SW_OP_##id] = &rule_##id,
    SW_OPS(SW_X)
#undef SW_X
};

const sw_op_rule *sw_op_rule_of(sw_opcode c) { return kRules[c]; }
