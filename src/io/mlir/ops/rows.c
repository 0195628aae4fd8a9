/* The ops of StableHLO, one row each: what they become, and where their attributes stand; those that are an op of ours
 * of the same name come from ops.def. Rows without a dialect are spelled alike in stablehlo, mhlo and chlo. */
#include <string.h>

#include "io/mlir/import/import.h"

#define FOLLOWS NULL, NULL /* from the type of the result */

/* clang-format off */
static const sw_ir_row kRows[] = {
#define ROWS_none(id, text, most)
#define ROWS_ROWS(id, text, most)
#define ROWS_SAME(id, text, most) {text, sw_im_simple, SW_OP_##id, (most) < 0 ? 0 : (most), {{0}}},
#define ROWS_BROADCASTING(id, text, most) \
    ROWS_SAME(id, text, most) {"broadcast_" text, sw_im_broadcasting, SW_OP_##id, most, {{0}}},
#define SW_COLUMN_IN(id, text, most, in) ROWS_##in(id, text, most)
#include "shardwright/ops.def"
    {"broadcast_compare", sw_im_broadcasting, SW_OP_COMPARE, 2, {{0}}},
    {"conj", sw_im_conj, SW_OP_COUNT, 0, {{0}}},
    {"is_inf", sw_im_is_inf, SW_OP_ABS, 0, {{0}}},
    {"is_pos_inf", sw_im_is_inf, SW_OP_COMPARE, 0, {{0}}},
    {"is_neg_inf", sw_im_is_inf, SW_OP_NEGATE, 0, {{0}}},
    {"constant_like", sw_im_constant_like, SW_OP_CONSTANT, 0, {{0}}},
    {"real_dynamic_slice", sw_im_real_dynamic_slice, SW_OP_COUNT, 0, {{0}}},
    {"dynamic_gather", sw_im_gather, SW_OP_GATHER, 0, {{0}}},
    {"dynamic_pad", sw_im_dynamic_pad, SW_OP_COUNT, 0, {{0}}},
    {"set_dimension_size", sw_im_set_dimension_size, SW_OP_COUNT, 0, {{0}}},
    {"torch_index_select", sw_im_torch_index_select, SW_OP_COUNT, 0, {{0}}},
    {"compare", sw_im_compare, SW_OP_COMPARE, 2, {{0}}},
    {"fft", sw_im_fft, SW_OP_FFT, 1, {{0}}},
    {"next_after", sw_im_next_after, SW_OP_COUNT, 0, {{0}}},
    {"broadcast_next_after", sw_im_next_after, SW_OP_COUNT, 0, {{0}}},
    {"mulhi", sw_im_mulhi, SW_OP_COUNT, 0, {{0}}},
    {"bitcast", sw_im_mhlo_bitcast, SW_OP_RESHAPE, 0, {{0}}},
    {"fusion", sw_im_named_computation, SW_OP_COUNT, 0, {{0}}},
    {"batch_norm_inference", sw_im_batch_norm_inference, SW_OP_COUNT, 0, {{0}}},
    {"batch_norm_training", sw_im_batch_norm_training, SW_OP_COUNT, 0, {{0}}},
    {"batch_norm_grad", sw_im_batch_norm_grad, SW_OP_COUNT, 0, {{0}}},
    {"rng", sw_im_rng, SW_OP_COUNT, 0, {{0}}},
    {"convert", sw_im_simple, SW_OP_CONVERT, 1, {{SW_ATTR_DTYPE, FOLLOWS}}},
    {"bitcast_convert", sw_im_simple, SW_OP_BITCAST, 1, {{SW_ATTR_DTYPE, FOLLOWS}}},
    {"stochastic_convert", sw_im_stochastic_convert, SW_OP_COUNT, 0, {{0}}},
    {"reduce_precision", sw_im_reduce_precision, SW_OP_REDUCE_PRECISION, 1, {{0}}},
    {"sort", sw_im_sort, SW_OP_SORT, 0, {{0}}},
    {"while", sw_im_while, SW_OP_COUNT, 0, {{0}}},
    {"scan", sw_im_scan, SW_OP_COUNT, 0, {{0}}},
    {"case", sw_im_case, SW_OP_COUNT, 0, {{0}}},
    {"if", sw_im_case, SW_OP_COUNT, 0, {{0}}},
    {"broadcast_in_dim", sw_im_simple, SW_OP_BROADCAST, 1,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DIMS, "broadcast_dimensions", "dims"}}},
    {"dynamic_broadcast_in_dim", sw_im_simple, SW_OP_BROADCAST, 1,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DIMS, "broadcast_dimensions", "dims"}}},
    {"transpose", sw_im_simple, SW_OP_TRANSPOSE, 1, {{SW_ATTR_PERMUTATION, "permutation", "dims"}}},
    {"reshape", sw_im_simple, SW_OP_RESHAPE, 1, {{SW_ATTR_SHAPE, FOLLOWS}}},
    {"dynamic_reshape", sw_im_simple, SW_OP_RESHAPE, 1, {{SW_ATTR_SHAPE, FOLLOWS}}},
    {"reverse", sw_im_simple, SW_OP_REVERSE, 1, {{SW_ATTR_DIMS, "dimensions", "dims"}}},
    {"iota", sw_im_simple, SW_OP_IOTA, -1,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DTYPE, FOLLOWS}, {SW_ATTR_DIM, "iota_dimension", "dim"}}},
    {"dynamic_iota", sw_im_simple, SW_OP_IOTA, -1,
     {{SW_ATTR_SHAPE, FOLLOWS}, {SW_ATTR_DTYPE, FOLLOWS}, {SW_ATTR_DIM, "iota_dimension", "dim"}}},
    {"concatenate", sw_im_simple, SW_OP_CONCATENATE, 0, {{SW_ATTR_DIM, "dimension", "dim"}}},
    {"pad", sw_im_simple, SW_OP_PAD, 2,
     {{SW_ATTR_LOW, "edge_padding_low", "low"}, {SW_ATTR_HIGH, "edge_padding_high", "high"},
      {SW_ATTR_INTERIOR, "interior_padding", "interior"}}},
    {"slice", sw_im_slice, SW_OP_SLICE, 1, {{0}}},
    {"dynamic_slice", sw_im_simple, SW_OP_DYNAMIC_SLICE, 0, {{SW_ATTR_SIZES, "slice_sizes", "sizes"}}},
    {"constant", sw_im_constant, SW_OP_CONSTANT, 0, {{0}}},
    {"sdy.constant", sw_im_constant, SW_OP_CONSTANT, 0, {{0}}},
    {"arith.constant", sw_im_constant, SW_OP_CONSTANT, 0, {{0}}},
    {"dot_general", sw_im_dot, SW_OP_DOT, 2, {{0}}},
    {"dot", sw_im_dot, SW_OP_DOT, 2, {{0}}},
    {"convolution", sw_im_convolution, SW_OP_CONVOLUTION, 2, {{0}}},
    {"dynamic_conv", sw_im_convolution, SW_OP_CONVOLUTION, 3, {{0}}},
    {"reduce", sw_im_reduce, SW_OP_REDUCE, 0, {{0}}},
    {"reduce_window", sw_im_reduce_window, SW_OP_REDUCE_WINDOW, 0, {{0}}},
    {"map", sw_im_map, SW_OP_COUNT, 0, {{0}}},
    {"select_and_scatter", sw_im_select_and_scatter, SW_OP_SELECT_AND_SCATTER, 0, {{0}}},
    {"rng_bit_generator", sw_im_rng_bits, SW_OP_RNG_BITS, 0, {{0}}},
    {"cholesky", sw_im_cholesky, SW_OP_CHOLESKY, 0, {{0}}},
    {"triangular_solve", sw_im_triangular_solve, SW_OP_TRIANGULAR_SOLVE, 0, {{0}}},
    {"broadcast", sw_im_old_broadcast, SW_OP_BROADCAST, 0, {{0}}},
    {"einsum", sw_im_einsum, SW_OP_EINSUM, 0, {{0}}},
    {"unary_einsum", sw_im_einsum, SW_OP_EINSUM, 0, {{0}}},
    {"get_dimension_size", sw_im_dimension_size, SW_OP_CONSTANT, 0, {{0}}},
    {"gather", sw_im_gather, SW_OP_GATHER, 2, {{0}}},
    {"scatter", sw_im_scatter, SW_OP_SCATTER, 3, {{0}}},
    {"top_k", sw_im_top_k, SW_OP_TOP_K, 1, {{0}}},
    {"topk", sw_im_top_k, SW_OP_TOP_K, 1, {{0}}},
    {"ragged_dot", sw_im_ragged_dot, SW_OP_DOT, 0, {{0}}},
    {"square", sw_im_square, SW_OP_MULTIPLY, 1, {{0}}},
    {"optimization_barrier", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"copy", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"add_dependency", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"domain", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"async_start", sw_im_async_start, SW_OP_COUNT, 0, {{0}}},
    {"async_update", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"async_done", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"create_token", sw_im_token, SW_OP_COUNT, 0, {{0}}},
    {"after_all", sw_im_token, SW_OP_COUNT, 0, {{0}}},
    {"outfeed", sw_im_token, SW_OP_COUNT, 0, {{0}}},
    {"send", sw_im_token, SW_OP_COUNT, 0, {{0}}},
    {"trace", sw_im_token, SW_OP_COUNT, 0, {{0}}},
    {"infeed", sw_im_from_host, SW_OP_COUNT, 0, {{0}}},
    {"recv", sw_im_from_host, SW_OP_COUNT, 0, {{0}}},
    {"shape.shape_of", sw_im_shape_of, SW_OP_CONSTANT, 0, {{0}}},
    {"custom_call", sw_im_custom_call, SW_OP_COUNT, 0, {{0}}},
    {"composite", sw_im_composite, SW_OP_COUNT, 0, {{0}}},
    {"uniform_quantize", sw_im_uniform_quantize, SW_OP_COUNT, 0, {{0}}},
    {"uniform_dequantize", sw_im_uniform_dequantize, SW_OP_COUNT, 0, {{0}}},
    {"tuple", sw_im_tuple, SW_OP_COUNT, 0, {{0}}},
    {"get_tuple_element", sw_im_get_tuple_element, SW_OP_COUNT, 0, {{0}}},
    {"call", sw_im_call, SW_OP_COUNT, 0, {{0}}},
    {"func.call", sw_im_call, SW_OP_COUNT, 0, {{0}}},
    {"return", sw_im_return, SW_OP_COUNT, 0, {{0}}},
    {"func.return", sw_im_return, SW_OP_COUNT, 0, {{0}}},
    {"sdy.return", sw_im_return, SW_OP_COUNT, 0, {{0}}},
    {"sdy.sharding_constraint", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.sharding_group", sw_im_sharding_group, SW_OP_COUNT, 0, {{0}}},
    {"sdy.reshard", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.all_gather", sw_im_constraint, SW_OP_COUNT, 0, {{0}}}, {"sdy.all_slice", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.all_to_all", sw_im_constraint, SW_OP_COUNT, 0, {{0}}}, {"sdy.all_reduce", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.reduce_scatter", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.collective_permute", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.replicated_to_unreduced", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.sharded_to_unreduced", sw_im_constraint, SW_OP_COUNT, 0, {{0}}},
    {"sdy.manual_computation", sw_im_manual, SW_OP_OPAQUE, 0, {{0}}},
    {"sdy.named_computation", sw_im_named_computation, SW_OP_COUNT, 0, {{0}}},
    {"sdy.propagation_barrier", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"sdy.data_flow_edge", sw_im_identity, SW_OP_COUNT, 0, {{0}}},
    {"all_reduce", sw_im_local, SW_OP_COUNT, 0, {{0}}}, {"all_gather", sw_im_local, SW_OP_COUNT, 0, {{0}}},
    {"all_to_all", sw_im_local, SW_OP_COUNT, 0, {{0}}}, {"reduce_scatter", sw_im_local, SW_OP_COUNT, 0, {{0}}},
    {"collective_permute", sw_im_local, SW_OP_COUNT, 0, {{0}}},
    {"collective_broadcast", sw_im_local, SW_OP_COUNT, 0, {{0}}},
    {"cross-replica-sum", sw_im_local, SW_OP_COUNT, 0, {{0}}},
#define GRID(text) {"shard." text, sw_im_on_grid, SW_OP_COUNT, 0, {{0}}}
    GRID("all_gather"), GRID("all_reduce"), GRID("all_slice"), GRID("all_to_all"), GRID("reduce_scatter"),
    GRID("broadcast"), GRID("gather"), GRID("scatter"), GRID("reduce"), GRID("send"), GRID("recv"), GRID("shift"),
    GRID("update_halo"), GRID("process_linear_index"), GRID("process_multi_index"), GRID("grid_shape"),
    GRID("neighbors_linear_indices"), GRID("shard_shape"),
#undef GRID
    {"shard.sharding", sw_im_shard_sharding, SW_OP_COUNT, 0, {{0}}},
    {"shard.get_sharding", sw_im_get_sharding, SW_OP_COUNT, 0, {{0}}},
    {"shard.shard", sw_im_shard, SW_OP_COUNT, 0, {{0}}},
    {"mesh.annotate", sw_im_shard, SW_OP_COUNT, 0, {{0}}},
    {"mesh.local_split", sw_im_distributed, SW_OP_COUNT, 0, {{0}}},
    {"mesh.mesh_shape", sw_im_on_grid, SW_OP_COUNT, 0, {{0}}}, {"mesh.size", sw_im_on_grid, SW_OP_COUNT, 0, {{0}}},
    {"mesh.idx", sw_im_on_grid, SW_OP_COUNT, 0, {{0}}},
#define ARITH(text, op) {"arith." text, sw_im_simple, SW_OP_##op, 2, {{0}}}
    ARITH("addi", ADD), ARITH("subi", SUBTRACT), ARITH("muli", MULTIPLY), ARITH("divsi", DIVIDE),
    ARITH("remsi", REMAINDER), ARITH("minsi", MINIMUM), ARITH("maxsi", MAXIMUM),
#undef ARITH
    {"arith.index_cast", sw_im_scalar_cast, SW_OP_CONVERT, 0, {{0}}},
    {"tensor.from_elements", sw_im_from_elements, SW_OP_CONCATENATE, 0, {{0}}},
    {"tensor.extract", sw_im_extract, SW_OP_DYNAMIC_SLICE, 0, {{0}}},
    {"partition_id", sw_im_local, SW_OP_COUNT, 0, {{0}}}, {"replica_id", sw_im_local, SW_OP_COUNT, 0, {{0}}},
};
/* clang-format on */

static sw_ir_span without_dialect(const sw_ir_tree *t, sw_ir_span name) {
  static const char *const kDialects[] = {"stablehlo.", "mhlo.", "chlo."};
  for (size_t i = 0; i < sizeof kDialects / sizeof *kDialects; i++) {
    size_t n = strlen(kDialects[i]);
    if (sw_ir_len(name) > n && memcmp(t->s + name.at, kDialects[i], n) == 0) name.at += (uint32_t)n;
  }
  return name;
}

/* Ops of the mesh dialect without a row of their own are those of the shard dialect. */
static bool is_spelled(const sw_ir_tree *t, sw_ir_span name, const char *row) {
  static const char kOlder[] = "mesh.", kNewer[] = "shard.";
  if (sw_ir_is(t, name, row)) return true;
  size_t n = strlen(kOlder), of = strlen(kNewer);
  bool older = sw_ir_len(name) > n && memcmp(t->s + name.at, kOlder, n) == 0 && strncmp(row, kNewer, of) == 0;
  return older && sw_ir_is(t, (sw_ir_span){name.at + (uint32_t)n, name.end}, row + of);
}

const sw_ir_row *sw_ir_row_of(const sw_ir_tree *t, sw_ir_span name) {
  sw_ir_span bare = without_dialect(t, name);
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    if (is_spelled(t, bare, kRows[i].name)) return &kRows[i];
  }
  return NULL;
}
