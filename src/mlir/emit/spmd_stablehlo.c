/* Collectives of an SPMD program as ops of StableHLO, which compilers run as they are: groups are lists of partitions,
 * and partition i is the device at position i of the mesh (row-major).
 *
 *   %y = "stablehlo.all_gather"(%x) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 1], [2, 3]]>, ...}>
 *
 * An exchange from one tiling to another is sent in rounds: in each, every device sends at most one box and receives at
 * most one, all of one shape; tables say where boxes begin, and a device finds its row by its number.
 */
#include <string.h>

#include "mlir/emit/rounds.h"
#include "mlir/emit/spmd_collective.h"

/* --- where a device stands --------------------------------------------------------------------------------------- */

static const sw_type kScalar = {SW_I64, 0, NULL};

/* This device's number. */
static sw_ssa emit_partition_id(sw_spmd_writer *s) {
  sw_ssa id = sw_mlir_temp(&s->w, (sw_type){SW_U32, 0, NULL}), wide = sw_mlir_temp(&s->w, kScalar);
  sw_mlir_line(&s->w, &(sw_line){.op = "stablehlo.partition_id", .n_out = 1, .out = &id});
  sw_mlir_line(&s->w, &(sw_line){.op = "stablehlo.convert", .n_in = 1, .in = &id, .n_out = 1, .out = &wide});
  return wide;
}

static int64_t stride_of(const sw_grid *grid, int axis) {
  int64_t stride = 1;
  for (int i = axis + 1; i < grid->n; i++) stride *= grid->axis[i].size;
  return stride;
}

sw_ssa sw_spmd_index_by_partition(sw_spmd_writer *s, const sw_axis_ref *refs, int n) {
  sw_mlir *w = &s->w;
  int axes[SW_GRID_AXES];
  n = sw_grid_axes(&w->grid, refs, n, axes);
  sw_ssa sum = sw_mlir_int(w, kScalar, 0), id = n ? emit_partition_id(s) : sum;
  for (int i = 0; i < n; i++) {
    sw_ssa size = sw_mlir_int(w, kScalar, w->grid.axis[axes[i]].size);
    sw_ssa at = sw_mlir_binary(w, "stablehlo.divide", id, sw_mlir_int(w, kScalar, stride_of(&w->grid, axes[i])), NULL);
    at = sw_mlir_binary(w, "stablehlo.remainder", at, size, NULL);
    sum = sw_mlir_binary(w, "stablehlo.add", sw_mlir_binary(w, "stablehlo.multiply", sum, size, NULL), at, NULL);
  }
  return sum;
}

/* --- groups ------------------------------------------------------------------------------------------------------ */

/* The number of member `member` of group `group`: digits of the group over the other axes, of the member over
 * `axes`. */
static int64_t device_of_member(const sw_grid *grid, const int *axes, int n, int64_t group, int64_t member) {
  int64_t device = 0;
  for (int i = grid->n - 1; i >= 0; i--) {
    bool ours = false;
    for (int k = 0; k < n; k++) ours = ours || axes[k] == i;
    if (ours) continue;
    device += group % grid->axis[i].size * stride_of(grid, i);
    group /= grid->axis[i].size;
  }
  for (int k = n - 1; k >= 0; k--) {
    device += member % grid->axis[axes[k]].size * stride_of(grid, axes[k]);
    member /= grid->axis[axes[k]].size;
  }
  return device;
}

static void put_groups(sw_spmd_writer *s, const sw_collective *c, sw_text *props) {
  const sw_grid *grid = &s->w.grid;
  int axes[SW_GRID_AXES], n = sw_grid_axes(grid, c->axes, c->n_axes, axes);
  int64_t members = sw_axis_refs_size(c->axes, c->n_axes), groups = sw_mesh_devices(grid->mesh) / members;
  sw_prop(props, "channel_handle", "#stablehlo.channel_handle<handle = %lld, type = 1>", (long long)++s->n_channels);
  sw_prop(props, "replica_groups", "dense<[");
  for (int64_t g = 0; g < groups; g++) {
    sw_text_puts(props, g ? ", [" : "[");
    for (int64_t i = 0; i < members; i++) {
      sw_text_printf(props, "%s%lld", i ? ", " : "", (long long)device_of_member(grid, axes, n, g, i));
    }
    sw_text_puts(props, "]");
  }
  sw_text_printf(props, "]> : tensor<%lldx%lldxi64>", (long long)groups, (long long)members);
}

/* all_slice: this device's part of what all have. */
static void put_slice(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out) {
  sw_mlir *w = &s->w;
  sw_ssa args[SW_MAX_RANK + 1] = {in}, zero = sw_mlir_int(w, kScalar, 0);
  sw_ssa step = sw_mlir_int(w, kScalar, out.type.dims[c->dim]);
  for (int i = 0; i < in.type.rank; i++) args[i + 1] = zero;
  args[c->dim + 1] =
      sw_mlir_binary(w, "stablehlo.multiply", sw_spmd_index_by_partition(s, c->axes, c->n_axes), step, NULL);
  sw_mlir_dynamic_slice(w, args, out);
}

/* An average has no region: the sum, of integers in 64 bits and of small floats in f32, divided. Of bools all are
 * asked. */
static void write_average(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out) {
  sw_mlir *w = &s->w;
  sw_collective sum = *c;
  const sw_dtype t = out.type.dtype;
  const sw_dtype_class class = sw_dtype_class_of(t);
  sw_type wide_in = in.type, wide_out = out.type;
  sum.reduction = class == SW_CLASS_BOOL ? SW_REDUCE_AND : SW_REDUCE_SUM;
  if (class == SW_CLASS_BOOL) {
    sw_spmd_stablehlo_line(s, &sum, in, out);
    return;
  }
  if (class == SW_CLASS_FLOAT && sw_dtype_bits(t) < 32) wide_in.dtype = wide_out.dtype = SW_F32;
  if (class == SW_CLASS_SIGNED) wide_in.dtype = wide_out.dtype = SW_I64;
  if (class == SW_CLASS_UNSIGNED) wide_in.dtype = wide_out.dtype = SW_U64;
  const bool widens = wide_out.dtype != t;
  const sw_ssa x = widens ? sw_mlir_unary(w, "stablehlo.convert", in, wide_in, NULL) : in;
  const sw_ssa total = sw_mlir_temp(w, wide_out);
  const sw_type scalar = {wide_out.dtype, 0, NULL};
  _Alignas(16) char n[16] = {0};
  sw_spmd_stablehlo_line(s, &sum, x, total);
  sw_element_store(scalar.dtype, (double)sw_axis_refs_size(c->axes, c->n_axes), n);
  sw_ssa args[2] = {total, sw_mlir_spread(w, sw_mlir_constant(w, scalar, n), wide_out)};
  const sw_ssa mean = widens ? sw_mlir_temp(w, wide_out) : out;
  sw_mlir_line(w, &(sw_line){.op = "stablehlo.divide", .n_in = 2, .in = args, .n_out = 1, .out = &mean});
  if (widens) sw_mlir_line(w, &(sw_line){.op = "stablehlo.convert", .n_in = 1, .in = &mean, .n_out = 1, .out = &out});
}

void sw_spmd_stablehlo_line(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out) {
  static const char *const kNames[SW_COLL_COUNT] = {[SW_COLL_ALL_GATHER] = "stablehlo.all_gather",
                                                    [SW_COLL_ALL_REDUCE] = "stablehlo.all_reduce",
                                                    [SW_COLL_REDUCE_SCATTER] = "stablehlo.reduce_scatter",
                                                    [SW_COLL_ALL_TO_ALL] = "stablehlo.all_to_all",
                                                    [SW_COLL_ALL_TO_ALL_DIMS] = "stablehlo.all_to_all"};
  bool reduces = c->op == SW_COLL_ALL_REDUCE || c->op == SW_COLL_REDUCE_SCATTER;
  bool dims = c->op == SW_COLL_ALL_TO_ALL_DIMS; /* what is cut and joined is in front */
  sw_text props = {0}, region = {0};
  if (reduces && c->reduction == SW_REDUCE_AVERAGE) {
    write_average(s, c, in, out);
    return;
  }
  if (c->op == SW_COLL_ALL_SLICE) {
    put_slice(s, c, in, out);
    return;
  }
  if (c->op == SW_COLL_ALL_GATHER) sw_prop_int(&props, "all_gather_dim", c->dim);
  if (c->op == SW_COLL_REDUCE_SCATTER) sw_prop_int(&props, "scatter_dimension", c->dim);
  if (dims || c->op == SW_COLL_ALL_TO_ALL) {
    sw_prop_int(&props, "concat_dimension", dims ? 0 : c->concat_dim);
    sw_prop_int(&props, "split_count", sw_axis_refs_size(c->axes, c->n_axes));
    sw_prop_int(&props, "split_dimension", dims ? 0 : c->dim);
  }
  put_groups(s, c, &props);
  if (c->op != SW_COLL_ALL_TO_ALL && !dims) sw_prop(&props, "use_global_device_ids", "unit");
  if (reduces) sw_hlo_region(sw_reduction_text(c->reduction), in.type.dtype, &region);
  const sw_line line = {kNames[c->op], 1, 1, &in, &out, NULL, NULL};
  sw_mlir_line_with(&s->w, line, &props, reduces ? &region : NULL);
}

/* --- exchanges --------------------------------------------------------------------------------------------------- */

typedef struct message {
  int64_t from, to, size[SW_MAX_RANK], source[SW_MAX_RANK], target[SW_MAX_RANK]; /* in the two buffers */
  bool sent;
} message;

typedef struct exchange {
  sw_spmd_writer *s;
  const sw_collective *c;
  int rank;
  int64_t devices;
  SW_ARRAY(message) all;
} exchange;

static sw_rc note_move(void *user, const sw_tile_move *move, sw_diag *d) {
  exchange *x = user;
  const sw_mesh *m = x->s->w.grid.mesh;
  message v = {.from = move->from, .to = move->to};
  int64_t start, lo, hi;
  for (int i = 0; i < x->rank; i++) {
    v.size[i] = move->hi[i] - move->lo[i];
    sw_tiling_window(m, x->c->src, i, move->from, &start, &lo, &hi);
    v.source[i] = move->lo[i] - start;
    sw_tiling_window(m, x->c->dst, i, move->to, &start, &lo, &hi);
    v.target[i] = move->lo[i] - start;
  }
  return sw_array_push(&x->all, v, d);
}

static bool is_alike(const exchange *x, const message *a, const message *b) {
  return (a->from == a->to) == (b->from == b->to) && /* copies are a round of their own */
         memcmp(a->size, b->size, (size_t)x->rank * sizeof *a->size) == 0;
}

/* Messages of the shape of the first that is left, shared out to rounds: *n of `out`, and which message each is. */
static sw_rc next_shape(exchange *x, sw_round_message *out, const message **of, int64_t *n, int32_t *n_rounds,
                        sw_diag *d) {
  const message *first = NULL;
  *n = 0;
  for (size_t i = 0; i < x->all.n; i++) {
    message *v = &x->all.at[i];
    if (v->sent || (first && !is_alike(x, first, v))) continue;
    if (!first) first = v;
    v->sent = true;
    of[*n] = v;
    out[(*n)++] = (sw_round_message){v->from, v->to, 0};
  }
  return sw_share_out(out, *n, x->devices, &x->s->w.arena, n_rounds, d);
}

/* Row of a table of numbers, one row per device: scalars. */
static void look_up_device_row(exchange *x, sw_ssa id, const int64_t *table, sw_ssa *out) {
  sw_mlir *w = &x->s->w;
  if (!x->rank) return;
  const int64_t shape[2] = {x->devices, x->rank}, row[2] = {1, x->rank}, ones[2] = {1, 1};
  const sw_ssa all = sw_mlir_table(w, sw_mlir_shaped(w, SW_I64, 2, shape), table);
  sw_ssa args[3] = {all, id, sw_mlir_int(w, kScalar, 0)}, mine = sw_mlir_temp(w, sw_mlir_shaped(w, SW_I64, 2, row));
  sw_mlir_dynamic_slice(w, args, mine);
  for (int i = 0; i < x->rank; i++) {
    const sw_ssa cell = sw_mlir_slice(w, mine, (const int64_t[]){0, i}, sw_mlir_shaped(w, SW_I64, 2, ones));
    out[i] = sw_mlir_unary(w, "stablehlo.reshape", cell, kScalar, NULL);
  }
}

/* Does this device receive in the round? A bool scalar. */
static sw_ssa receives(exchange *x, sw_ssa id, const message *const *by_receiver) {
  sw_mlir *w = &x->s->w;
  sw_ssa found = sw_mlir_int(w, (sw_type){SW_BOOL, 0, NULL}, 0);
  for (int64_t i = 0; i < x->devices; i++) {
    if (!by_receiver[i]) continue;
    found = sw_mlir_binary(w, "stablehlo.or", found, sw_mlir_compare(w, "EQ", id, sw_mlir_int(w, kScalar, i)), NULL);
  }
  return found;
}

static sw_ssa permuted(exchange *x, sw_ssa piece, const message *const *by_sender, int64_t n) {
  sw_text props = {0};
  bool first = true;
  sw_prop(&props, "channel_handle", "#stablehlo.channel_handle<handle = %lld, type = 1>",
          (long long)++x->s->n_channels);
  sw_prop(&props, "source_target_pairs", "dense<[");
  for (int64_t i = 0; i < x->devices; i++) {
    if (!by_sender[i]) continue;
    sw_text_printf(&props, "%s[%lld, %lld]", first ? "" : ", ", (long long)i, (long long)by_sender[i]->to);
    first = false;
  }
  sw_text_printf(&props, "]> : tensor<%lldx2xi64>", (long long)n);
  sw_ssa y = sw_mlir_unary(&x->s->w, "stablehlo.collective_permute", piece, piece.type, sw_text_str(&props));
  sw_text_free(&props);
  return y;
}

/* One round: cut a box, send it, put it to its place where one has come. */
static sw_rc put_round(exchange *x, sw_ssa in, const message **by_sender, const message **by_receiver, int64_t n,
                       sw_ssa *result, sw_diag *d) {
  sw_mlir *w = &x->s->w;
  int64_t *source, *target;
  const message *any = NULL;
  SW_ARENA_NEW_EACH(&w->arena, x->devices * x->rank, d, source, target);
  for (int64_t i = 0; i < x->devices; i++) {
    if (by_sender[i]) any = by_sender[i];
    for (int k = 0; k < x->rank; k++) {
      if (by_sender[i]) source[i * x->rank + k] = by_sender[i]->source[k];
      if (by_receiver[i]) target[i * x->rank + k] = by_receiver[i]->target[k];
    }
  }
  if (!any) return SW_BUG(d, "%s", "a round of an exchange without a message");
  sw_ssa id = emit_partition_id(x->s), args[SW_MAX_RANK + 2] = {in};
  sw_ssa piece = sw_mlir_temp(w, sw_mlir_shaped(w, in.type.dtype, x->rank, any->size));
  look_up_device_row(x, id, source, args + 1);
  sw_mlir_dynamic_slice(w, args, piece);
  if (any->from != any->to) piece = permuted(x, piece, by_sender, n);
  args[0] = *result;
  args[1] = piece;
  look_up_device_row(x, id, target, args + 2);
  sw_ssa updated = sw_mlir_temp(w, result->type);
  sw_mlir_line(
      w,
      &(sw_line){.op = "stablehlo.dynamic_update_slice", .n_in = x->rank + 2, .in = args, .n_out = 1, .out = &updated});
  if (n == x->devices) {
    *result = updated;
    return SW_OK;
  }
  sw_ssa chosen[3] = {receives(x, id, by_receiver), updated, *result};
  *result = sw_mlir_temp(w, result->type);
  sw_mlir_line(w, &(sw_line){.op = "stablehlo.select", .n_in = 3, .in = chosen, .n_out = 1, .out = result});
  return SW_OK;
}

/* All rounds of messages of one shape. */
static sw_rc put_shape(exchange *x, sw_ssa in, const sw_round_message *shared, const message *const *of, int64_t n,
                       int32_t n_rounds, sw_ssa *result, sw_diag *d) {
  const message **by_sender, **by_receiver;
  SW_ARENA_NEW_EACH(&x->s->w.arena, x->devices, d, by_sender, by_receiver);
  for (int32_t round = 0; round < n_rounds; round++) {
    int64_t in_round = 0;
    memset(by_sender, 0, (size_t)x->devices * sizeof *by_sender);
    memset(by_receiver, 0, (size_t)x->devices * sizeof *by_receiver);
    for (int64_t i = 0; i < n; i++) {
      if (shared[i].round != round) continue;
      by_sender[shared[i].from] = by_receiver[shared[i].to] = of[i];
      in_round++;
    }
    SW_TRY(put_round(x, in, by_sender, by_receiver, in_round, result, d));
  }
  return SW_OK;
}

static sw_rc put_rounds(exchange *x, sw_ssa in, sw_ssa out, sw_diag *d) {
  sw_mlir *w = &x->s->w;
  _Alignas(16) unsigned char fill[16] = {0};
  sw_round_message *shared;
  const message **of;
  for (int64_t to = 0; to < x->devices; to++) {
    SW_TRY(sw_tiling_moves_to(w->grid.mesh, x->c->src, x->c->dst, to, note_move, x, d));
  }
  SW_ARENA_NEW_EACH(&w->arena, x->all.n, d, shared, of);
  if (x->c->fill_outside) sw_element_store(in.type.dtype, x->c->fill, fill);
  sw_ssa result = sw_mlir_spread(w, sw_mlir_constant(w, (sw_type){in.type.dtype, 0, NULL}, fill), out.type);
  for (int64_t done = 0, n; done < (int64_t)x->all.n; done += n) {
    int32_t n_rounds;
    SW_TRY(next_shape(x, shared, of, &n, &n_rounds, d));
    SW_TRY(put_shape(x, in, shared, of, n, n_rounds, &result, d));
  }
  sw_mlir_alias(w, result, out);
  return SW_OK;
}

sw_rc sw_spmd_stablehlo_exchange(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out, sw_diag *d) {
  exchange x = {.s = s, .c = c, .rank = in.type.rank, .devices = sw_mesh_devices(s->w.grid.mesh)};
  sw_rc rc = put_rounds(&x, in, out, d);
  sw_array_free(&x.all);
  return rc;
}
