/* The ops of StableHLO, one row each: what they become, and where their attributes stand; those that are an op of ours
 * of the same name come from ops.def. Rows without a dialect are
 * spelled alike in stablehlo, mhlo and chlo. */
#include "mlir/import/dialect.h"
#include "mlir/stablehlo/stablehlo.h"

/* Of an op that is one of ours by name: it works element by element, or moves elements, or both. */
#define FLAGS(code)                                             \
  (((code) == SW_OP_DYNAMIC_UPDATE_SLICE ? 0 : SW_IR_SCALARS) | \
   ((code) == SW_OP_DYNAMIC_UPDATE_SLICE || (code) == SW_OP_SELECT ? SW_IR_STORAGE : 0))
#define FOLLOWS NULL, NULL /* from the type of the result */

/* clang-format off */
static const sw_ir_row kRows[] = {
#define ROWS_none(id, text, most)
#define ROWS_ROWS(id, text, most)
#define ROWS_SAME(id, text, most) {text, sw_im_simple, SW_OP_##id, (most) < 0 ? 0 : (most), FLAGS(SW_OP_##id)},
#define ROWS_BROADCASTING(id, text, most) ROWS_SAME(id, text, most)
#define SW_COLUMN_IN(id, text, most, in) ROWS_##in(id, text, most)
#include "shardwright/ops.def"
    {"real_dynamic_slice", sw_im_real_dynamic_slice, .flags = SW_IR_STORAGE},
    {"dynamic_gather", sw_im_gather, SW_OP_GATHER, 0, SW_IR_STORAGE},
    {"dynamic_pad", sw_im_dynamic_pad},
    {"set_dimension_size", sw_im_set_dimension_size},
    {"torch_index_select", sw_im_torch_index_select, .flags = SW_IR_STORAGE},
    {"compare", sw_im_compare, SW_OP_COMPARE, 2, SW_IR_SCALARS},
    {"fft", sw_im_simple, SW_OP_FFT, 0, 0,
     {{SW_ATTR_FFT_TYPE, "fft_type", "type", SW_IR_MAY_LACK},
      {SW_ATTR_FFT_LENGTH, "fft_length", "length", SW_IR_MAY_LACK}}},
    {"batch_norm_inference", sw_im_batch_norm_inference},
    {"batch_norm_training", sw_im_batch_norm_training},
    {"batch_norm_grad", sw_im_batch_norm_grad},
    {"rng", sw_im_rng},
    {"convert", sw_im_simple, SW_OP_CONVERT, 1, SW_IR_SCALARS, {{SW_ATTR_DTYPE, FOLLOWS}}},
    {"bitcast_convert", sw_im_simple, SW_OP_BITCAST, 1, SW_IR_STORAGE | SW_IR_SCALARS, {{SW_ATTR_DTYPE, FOLLOWS}}},
    {"reduce_precision", sw_im_reduce_precision, SW_OP_REDUCE_PRECISION, 1, SW_IR_SCALARS},
    {"sort", sw_im_sort, SW_OP_SORT, 0, SW_IR_STORAGE},
    {"while", sw_im_while, .flags = SW_IR_HANDS_ON},
    {"case", sw_im_case, .flags = SW_IR_STORAGE},
    {"if", sw_im_case, .flags = SW_IR_STORAGE},
    {"broadcast_in_dim", sw_im_simple, SW_OP_BROADCAST, 1, SW_IR_STORAGE | SW_IR_SPREADS,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DIMS, "broadcast_dimensions", "dims"}}},
    {"dynamic_broadcast_in_dim", sw_im_simple, SW_OP_BROADCAST, 1, SW_IR_STORAGE | SW_IR_SPREADS,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DIMS, "broadcast_dimensions", "dims"}}},
    {"transpose", sw_im_simple, SW_OP_TRANSPOSE, 1, SW_IR_STORAGE, {{SW_ATTR_PERMUTATION, "permutation", "dims"}}},
    {"reshape", sw_im_simple, SW_OP_RESHAPE, 1, SW_IR_STORAGE | SW_IR_SPREADS, {{SW_ATTR_SHAPE, FOLLOWS}}},
    {"dynamic_reshape", sw_im_simple, SW_OP_RESHAPE, 1, SW_IR_STORAGE | SW_IR_SPREADS, {{SW_ATTR_SHAPE, FOLLOWS}}},
    {"reverse", sw_im_simple, SW_OP_REVERSE, 1, SW_IR_STORAGE, {{SW_ATTR_DIMS, "dimensions", "dims"}}},
    {"iota", sw_im_simple, SW_OP_IOTA, -1, 0,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DTYPE, FOLLOWS}, {SW_ATTR_DIM, "iota_dimension", "dim"}}},
    {"dynamic_iota", sw_im_simple, SW_OP_IOTA, -1, 0,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DTYPE, FOLLOWS}, {SW_ATTR_DIM, "iota_dimension", "dim"}}},
    {"concatenate", sw_im_simple, SW_OP_CONCATENATE, 0, SW_IR_STORAGE, {{SW_ATTR_DIM, "dimension", "dim"}}},
    {"pad", sw_im_simple, SW_OP_PAD, 2, SW_IR_STORAGE,
     {{SW_ATTR_LOW, "edge_padding_low", "low"}, {SW_ATTR_HIGH, "edge_padding_high", "high"},
      {SW_ATTR_INTERIOR, "interior_padding", "interior"}}},
    {"slice", sw_im_slice, SW_OP_SLICE, 1, SW_IR_STORAGE},
    {"dynamic_slice", sw_im_simple, SW_OP_DYNAMIC_SLICE, 0, SW_IR_STORAGE, {{SW_ATTR_SIZES, "slice_sizes", "sizes"}}},
    {"dot_general", sw_im_dot, SW_OP_DOT, 2},
    {"dot", sw_im_dot, SW_OP_DOT, 2},
    {"convolution", sw_im_convolution, SW_OP_CONVOLUTION, 2},
    {"dynamic_conv", sw_im_convolution, SW_OP_CONVOLUTION, 3},
    {"reduce", sw_im_reduce, SW_OP_REDUCE},
    {"reduce_window", sw_im_reduce_window, SW_OP_REDUCE_WINDOW},
    {"map", sw_im_map},
    {"select_and_scatter", sw_im_select_and_scatter, SW_OP_SELECT_AND_SCATTER},
    {"rng_bit_generator", sw_im_rng_bits, SW_OP_RNG_BITS},
    {"cholesky", sw_im_simple, SW_OP_CHOLESKY, 0, 0, {{SW_ATTR_LOWER, "lower", "lower", SW_IR_ELSE_ZERO}}},
    {"triangular_solve", sw_im_triangular_solve, SW_OP_TRIANGULAR_SOLVE},
    {"broadcast", sw_im_old_broadcast, SW_OP_BROADCAST, 0, SW_IR_STORAGE},
    {"einsum", sw_im_einsum, SW_OP_EINSUM},
    {"unary_einsum", sw_im_einsum, SW_OP_EINSUM},
    {"get_dimension_size", sw_im_dimension_size, SW_OP_CONSTANT, 0, SW_IR_STORAGE},
    {"gather", sw_im_gather, SW_OP_GATHER, 2, SW_IR_STORAGE},
    {"scatter", sw_im_scatter, SW_OP_SCATTER, 3},
    {"optimization_barrier", sw_im_optimization_barrier, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"create_token", sw_im_token},
    {"after_all", sw_im_token},
    {"outfeed", sw_im_token},
    {"send", sw_im_token},
    {"trace", sw_im_token},
    {"infeed", sw_im_from_host},
    {"recv", sw_im_from_host},
};
/* clang-format on */

static const sw_ir_row kCalls[] = {
    {"shape_assertion", sw_im_token}, /* of sizes, which are given */
};

const sw_dialect sw_dialect_stablehlo = {"stablehlo", SW_IR_ROWS(kRows), SW_IR_ROWS(kCalls), NULL};
