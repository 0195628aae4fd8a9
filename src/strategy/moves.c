/* The communication inside an op, and what the op costs under a strategy.
 *
 * Windows come from the maps alone. A dimension constant + sum(coef * loop) whose loop l (coef c) is cut into blocks of
 * B iterations is touched by shard i at
 *   constant + c*(i*B .. i*B+B-1) + sum over other loops of coef*(0 .. size-1),
 * an interval that starts at base + i*step with step = c*B and base taken from the least corner, and has
 * |c|*(B-1) + sum |coef|*(size-1) + 1 positions.
 */
#include "shardwright/strategy.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shardwright/profile.h"
#include "shardwright/selection.h"

#include "base/checked.h"
#include "graph/attention.h"

/* True when the dimension's block is exactly what the loop's block touches. */
static bool touches_block_exactly(const sw_affine *e, const sw_loop_nest *nest, int64_t extent) {
  if (e->mixed_radix) return true;
  return e->constant == 0 && e->n_terms == 1 && e->terms[0].coef == 1 && nest->loops[e->terms[0].loop].size == extent;
}

static void window_of_dim(const sw_loop_nest *nest, const sw_strategy *s, const sw_affine *e, int cut,
                          sw_tile_dim *out) {
  int64_t base = e->constant, span = 0;
  for (int t = 0; t < e->n_terms; t++) {
    int64_t coef = e->terms[t].coef;
    int64_t n = t == cut ? sw_strategy_block(nest, s, e->terms[t].loop) : nest->loops[e->terms[t].loop].size;
    int64_t reach = coef * (n - 1); /* sizes of shapes: far from overflow */
    if (reach < 0) base += reach;
    span += llabs(reach);
    if (t == cut) out->step = coef * n;
  }
  out->base = base;
  out->len = span + 1;
}

bool sw_strategy_halo(const sw_graph *g, const sw_op *op, const sw_strategy *s, int i, sw_tiling *blocks,
                      sw_tiling *window) {
  const sw_type *type = sw_operand_type(g, op, i);
  const sw_map *map = &op->nest->maps[i];
  bool any = false, made = false;
  for (int k = 0; k < map->rank; k++) {
    const sw_affine *e = &map->dims[k];
    int cut = -1;
    for (int t = 0; t < e->n_terms; t++) {
      int n;
      (void)sw_strategy_loop(s, e->terms[t].loop, &n);
      if (n) cut = t;
    }
    if (cut < 0 || touches_block_exactly(e, op->nest, type->dims[k])) continue;
    if (!made) {
      sw_sharding plain;
      sw_strategy_operand(op, s, i, &plain);
      sw_tiling_of(&plain, type->rank, type->dims, blocks);
      *window = *blocks;
      made = true;
    }
    window_of_dim(op->nest, s, e, cut, &window->dim[k]);
    any = true;
  }
  return any && !sw_tiling_equal(blocks, window);
}

bool sw_strategy_halo_is_held(const sw_graph *g, const sw_op *op, const sw_strategy *s, int i,
                              const sw_sharding *held) {
  const sw_type *type = sw_operand_type(g, op, i);
  sw_tiling blocks, window, have;
  if (!held->halos || held->n_partial || !sw_strategy_halo(g, op, s, i, &blocks, &window)) return false;
  sw_tiling_of(held, type->rank, type->dims, &have);
  if (window.n_apart) return false;
  for (int k = 0; k < type->rank; k++) {
    const sw_tile_dim *w = &window.dim[k], *h = &have.dim[k];
    const bool same = sw_axis_refs_equal(window.refs + w->first_ref, w->n_refs, have.refs + h->first_ref, h->n_refs) &&
                      (w->n_refs == 0 || w->step == h->step);
    if (!same || w->base < h->base || w->base + w->len > h->base + h->len) return false;
    bool plain = w->base == blocks.dim[k].base && w->len == blocks.dim[k].len;
    if (plain && (h->base != w->base || h->len != w->len)) return false; /* rules expect the block there */
  }
  return true;
}

static double tiling_bytes(const sw_tiling *t, sw_dtype dtype) {
  double b = sw_dtype_bytes(dtype);
  for (int k = 0; k < t->rank; k++) b *= (double)t->dim[k].len;
  return b;
}

/* Elements of a device's block when its dimension `dim` holds `n`: the candidates of all devices, or the totals of a
 * scan. */
static double gathered_elements(const sw_type *type, const sw_sharding *s, int dim, int64_t n) {
  double e = 1;
  for (int k = 0; k < type->rank; k++) e *= (double)(k == dim ? n : sw_sharding_block(s, k, type->dims[k]));
  return e;
}

static void set_axes(sw_move *mv, const sw_axis_ref *axes, int n) {
  mv->n_axes = n;
  memcpy(mv->axes, axes, (size_t)n * sizeof *axes);
}

/* Dimension of the operand that a PICK loop walks. */
static int picked_dim(const sw_loop_nest *nest, int loop) {
  for (int k = 0; k < nest->maps[0].rank; k++) {
    const sw_affine *e = &nest->maps[0].dims[k];
    if (e->n_terms == 1 && e->terms[0].loop == loop) return k;
  }
  return -1;
}

/* argmax/argmin gather one (value, index) pair per device and line, top_k gathers min(k, block) of them. */
static void pick_moves(const sw_graph *g, const sw_op *op, const sw_strategy *s, int loop, sw_move_visit visit,
                       void *user) {
  int n;
  const sw_axis_ref *axes = sw_strategy_loop(s, loop, &n);
  int dim = picked_dim(op->nest, loop);
  int64_t each =
      sw_min_i64(op->code == SW_OP_TOP_K ? sw_op_int(op, SW_ATTR_K, 1) : 1, sw_strategy_block(op->nest, s, loop));
  const sw_type *value = sw_operand_type(g, op, 0);
  sw_sharding plain;
  sw_strategy_operand(op, s, 0, &plain);
  double candidates = gathered_elements(value, &plain, dim, each * sw_axis_refs_size(axes, n));
  sw_dtype index_type = op->code == SW_OP_TOP_K ? SW_I32 : sw_result_type(g, op, 0)->dtype;
  for (int part = 0; part < 2; part++) { /* values, then indices */
    sw_move mv = {.kind = SW_MOVE_TOP_K, .index = part, .dim = dim, .times = 1};
    mv.dtype = part ? index_type : value->dtype;
    set_axes(&mv, axes, n);
    mv.bytes = mv.temp_bytes = candidates * sw_dtype_bytes(mv.dtype);
    visit(user, &mv);
  }
}

/* Steps of a ring in which keys are seen. */
static int64_t count_ring_steps(const sw_graph *g, const sw_op *op, const sw_strategy *s) {
  int n_axes;
  const sw_axis_ref *axes = sw_strategy_loop(s, SW_ATTENTION_KEY, &n_axes);
  const int64_t members = sw_axis_refs_size(axes, n_axes);
  int64_t n = 0;
  for (int64_t t = 0; t < members; t = sw_strategy_ring_next(g, op, s, t)) n++;
  return n;
}

/* Bytes of a device's blocks of k and v, or of the sums that become their gradients. */
static double keys_bytes(const sw_graph *g, const sw_op *op, const sw_strategy *s, bool summed) {
  double bytes = 0;
  for (int i = SW_ATTENTION_K; i <= SW_ATTENTION_V; i++) {
    const sw_type *type = sw_operand_type(g, op, i);
    const sw_dtype held = summed ? sw_attention_sums(type->dtype) : type->dtype;
    sw_sharding block;
    sw_strategy_operand(op, s, i, &block);
    bytes += gathered_elements(type, &block, -1, 0) * sw_dtype_bytes(held);
  }
  return bytes;
}

/* Keys and values go on after each step but the last, beside the next step's work, and what is summed for their
 * gradients with them; this then goes home. A block comes in while another one goes out. */
static void ring_moves(const sw_graph *g, const sw_op *op, const sw_strategy *s, sw_move_visit visit, void *user) {
  int n;
  const sw_axis_ref *axes = sw_strategy_loop(s, SW_ATTENTION_KEY, &n);
  const int64_t steps = count_ring_steps(g, op, s);
  const double keys = keys_bytes(g, op, s, false);
  const double sums = op->code == SW_OP_ATTENTION_GRAD ? keys_bytes(g, op, s, true) : 0;
  sw_move mv = {.kind = SW_MOVE_RING, .index = SW_ATTENTION_K, .dim = -1, .times = steps - 1};
  if (steps < 2) return;
  mv.dtype = sw_operand_type(g, op, SW_ATTENTION_K)->dtype;
  mv.bytes = keys + sums;
  mv.temp_bytes = keys * (double)sw_min_i64(steps - 1, 2) + 2 * sums;
  mv.beside = 1 / (double)steps;
  set_axes(&mv, axes, n);
  visit(user, &mv);
  if (sums <= 0) return;
  mv.times = 1;
  mv.bytes = sums;
  mv.temp_bytes = mv.beside = 0;
  visit(user, &mv);
}

/* A number of each part for each head and query, gathered along a new dimension. */
static void merge_move(const sw_graph *g, const sw_op *op, const sw_strategy *s, sw_move_visit visit, void *user) {
  int n;
  const sw_axis_ref *axes = sw_strategy_loop(s, SW_ATTENTION_KEY, &n);
  const sw_type *lse = sw_result_type(g, op, 1);
  sw_sharding plain;
  sw_strategy_result(op, s, 1, &plain);
  sw_move mv = {.kind = SW_MOVE_MERGE, .index = 1, .dim = lse->rank, .times = 1, .dtype = lse->dtype};
  set_axes(&mv, axes, n);
  mv.bytes = mv.temp_bytes =
      gathered_elements(lse, &plain, -1, 0) * (double)sw_axis_refs_size(axes, n) * sw_dtype_bytes(lse->dtype);
  visit(user, &mv);
}

/* Over the axes of a loop: a scan's carries of all devices along `dim`, or blocks of one that change places. */
static void operand_move(const sw_graph *g, const sw_op *op, const sw_strategy *s, int loop, sw_move_kind kind, int dim,
                         sw_move_visit visit, void *user) {
  int n;
  const sw_axis_ref *axes = sw_strategy_loop(s, loop, &n);
  const sw_type *type = sw_operand_type(g, op, 0);
  sw_sharding plain;
  sw_strategy_operand(op, s, 0, &plain);
  sw_move mv = {.kind = kind, .dim = dim, .times = 1, .dtype = type->dtype};
  set_axes(&mv, axes, n);
  int64_t along = kind == SW_MOVE_SCAN ? sw_axis_refs_size(axes, n) : 1;
  mv.bytes = mv.temp_bytes = gathered_elements(type, &plain, dim, along) * sw_dtype_bytes(type->dtype);
  visit(user, &mv);
}

void sw_strategy_moves(const sw_graph *g, const sw_op *op, const sw_strategy *s, sw_move_visit visit, void *user) {
  if (s->n_refs == 0 || !sw_strategy_runs(s)) return;
  const bool ring = sw_strategy_is_ring(op, s);
  if (ring) ring_moves(g, op, s, visit, user);
  for (int i = 0; i < op->n_operands; i++) {
    sw_move mv = {.kind = SW_MOVE_HALO, .index = i, .dim = -1, .times = 1, .dtype = sw_operand_type(g, op, i)->dtype};
    if (!sw_strategy_halo(g, op, s, i, &mv.blocks, &mv.window)) continue;
    mv.bytes = mv.temp_bytes = tiling_bytes(&mv.window, mv.dtype);
    visit(user, &mv);
  }
  for (int l = 0; l < op->nest->n_loops; l++) {
    int n;
    (void)sw_strategy_loop(s, l, &n);
    if (n && op->nest->loops[l].kind == SW_LOOP_PICK) pick_moves(g, op, s, l, visit, user);
    if (n && op->nest->loops[l].kind == SW_LOOP_SCAN)
      operand_move(g, op, s, l, SW_MOVE_SCAN, picked_dim(op->nest, l), visit, user);
    if (n && l == SW_ATTENTION_KEY && op->code == SW_OP_ATTENTION && !ring) merge_move(g, op, s, visit, user);
    if (n && l == 0 && op->code == SW_OP_SHUFFLE) operand_move(g, op, s, l, SW_MOVE_SHUFFLE, 0, visit, user);
  }
}

sw_coll_op sw_move_collective(const sw_move *mv) {
  return mv->kind == SW_MOVE_SHUFFLE || mv->kind == SW_MOVE_RING ? SW_COLL_PERMUTE : SW_COLL_ALL_GATHER;
}

double sw_move_bytes(const sw_machine *machine, const sw_move *mv) {
  return mv->bytes / sw_dtype_bytes(mv->dtype) * sw_machine_moved_bytes(machine, mv->dtype);
}

static double once_s(const sw_machine *machine, const sw_move *mv) {
  if (mv->kind == SW_MOVE_HALO)
    return sw_machine_exchange_s(machine, &mv->blocks, &mv->window, sw_machine_moved_bytes(machine, mv->dtype));
  return sw_machine_collective_s(machine, sw_move_collective(mv), mv->axes, mv->n_axes, sw_move_bytes(machine, mv));
}

double sw_move_s(const sw_machine *machine, const sw_move *mv) { return (double)mv->times * once_s(machine, mv); }

double sw_move_exposed_s(const sw_machine *machine, const sw_move *mv, double local_s) {
  return (double)mv->times * fmax(0, once_s(machine, mv) - mv->beside * local_s);
}

typedef struct cost_sum {
  const sw_machine *machine;
  sw_op_cost *out;
} cost_sum;

static void add_move_cost(void *user, const sw_move *mv) {
  cost_sum *sum = user;
  sum->out->temp_bytes += mv->temp_bytes;
  sum->out->move_s += sw_move_exposed_s(sum->machine, mv, sum->out->local_s);
}

/* Is what a device holds under `to` a part of what it holds under `from`? */
static bool is_part_of(const sw_sharding *from, const sw_sharding *to, int rank) {
  if (from->n_partial || to->n_partial || sw_sharding_is_special(from) || sw_sharding_is_special(to)) return false;
  for (int dim = 0; dim < rank; dim++) {
    int n_from, n_to;
    const sw_axis_ref *f = sw_sharding_dim(from, dim, &n_from), *t = sw_sharding_dim(to, dim, &n_to);
    if (n_from > n_to || !sw_axis_refs_equal(f, n_from, t, n_from)) return false;
  }
  return true;
}

/* Loops that both operands and the result follow are of a batch, those of one operand of rows or columns, those of no
 * result are summed over. */
static void shape_product(const sw_loop_nest *nest, const int64_t *extents, sw_work *w) {
  w->kind = SW_WORK_PRODUCT;
  w->batch = w->m = w->n = w->k = 1;
  for (int l = 0; l < nest->n_loops; l++) {
    const double extent = (double)(extents ? extents[l] : nest->loops[l].size);
    const bool a = sw_map_has_loop(&nest->maps[0], l), b = sw_map_has_loop(&nest->maps[1], l),
               out = sw_map_has_loop(&nest->maps[2], l);
    double *at = !out ? &w->k : a && b ? &w->batch : a ? &w->m : &w->n;
    *at *= extent;
  }
  w->k *= nest->flops_per_point / 2; /* of windows what is no padding */
}

static sw_precision precision_of(const sw_kernels *k, const sw_op *op) {
  const sw_precision said = sw_op_precision(op);
  const bool free = k && (op->code == SW_OP_DOT ? k->software.free_products : k->software.free_convolutions);
  return said == SW_PRECISION_DEFAULT && !free ? SW_PRECISION_HIGHEST : said;
}

static void shape_attention(const sw_op *op, const int64_t *extents, sw_work *w) {
  double size[SW_ATTENTION_LOOPS];
  for (int l = 0; l < SW_ATTENTION_LOOPS; l++) size[l] = (double)(extents ? extents[l] : op->nest->loops[l].size);
  w->kind = op->code == SW_OP_ATTENTION ? SW_WORK_ATTENTION : SW_WORK_ATTENTION_GRAD;
  w->batch = size[SW_ATTENTION_BATCH];
  w->kv_heads = size[SW_ATTENTION_KV_HEAD];
  w->heads = w->kv_heads * size[SW_ATTENTION_GROUP];
  w->m = size[SW_ATTENTION_QUERY];
  w->n = size[SW_ATTENTION_KEY];
  w->k = size[SW_ATTENTION_WIDTH];
}

void sw_op_shape(const sw_job *j, const sw_op *op, const int64_t *extents, sw_work *w) {
  const sw_graph *g = j->graph;
  *w = (sw_work){.dtype = SW_F32};
  if (op->n_operands || op->n_results)
    w->dtype = (op->n_operands ? sw_operand_type(g, op, 0) : sw_result_type(g, op, 0))->dtype;
  if (sw_op_is_on_host(g, op)) return;
  sw_op_work(g, op, extents, &w->flops, &w->bytes);
  if (j->kernels) w->bytes = sw_op_traffic(g, j->kernels, op, extents);
  if (!op->nest) return;
  if (sw_is_attention(op->code)) shape_attention(op, extents, w);
  if (sw_op_class_of(op->code) != SW_OPS_CONTRACTION || op->nest->n_maps != 3) return;
  w->precision = precision_of(j->kernels, op);
  shape_product(op->nest, extents, w);
}

/* The price of the op; the launch is its kernel's, which one of the kernel's ops bears: *launch_s, a part of it. What
 * is made again costs its readers what it reads. */
static double local_s(const sw_job *j, const sw_op *op, const sw_work *w, bool least, double *launch_s) {
  const sw_machine *machine = j->machine;
  *launch_s = 0;
  if (w->flops <= 0 && w->bytes <= 0) return 0;
  if (op->n_results && sw_value_keeping(j->kernels, op->results[0]) == SW_KEPT_AGAIN) return 0;
  const double alone_s = least ? sw_machine_work_least_s(machine, w) : sw_machine_work_s(machine, w);
  const double launched_s = fmin(alone_s, sw_machine_launch_s(machine)), weight = sw_machine_weights(machine)->launch;
  if (!sw_op_launches(j->kernels, (sw_id)(op - j->graph->ops))) return alone_s - launched_s;
  const double times = weight * sw_machine_host_times(machine);
  *launch_s = times * launched_s;
  return times == 1 ? alone_s : alone_s - launched_s + *launch_s;
}

const sw_machine *sw_value_machine(const sw_job *j, sw_id value) {
  const sw_machine *machine = j->machine;
  return sw_value_combines(j->kernels, value) ? sw_machine_combining(machine) : machine;
}

/* Is it a weight, or its elements as another type? */
static bool is_weight(const sw_graph *g, sw_id value) {
  const sw_op *op = sw_value_maker(g, value);
  while (op && (op->code == SW_OP_CONVERT || op->code == SW_OP_KEEP)) {
    value = op->operands[0];
    op = sw_value_maker(g, value);
  }
  return !op && g->values[value].kind != SW_VALUE_INPUT;
}

double sw_value_unpack_s(const sw_job *j, sw_id value, const sw_sharding *from, const sw_sharding *to) {
  const sw_type *t = &j->graph->values[value].type;
  const int64_t wanted = sw_sharding_held_bytes(to, t->dims, t->dtype);
  if (wanted <= sw_sharding_held_bytes(from, t->dims, t->dtype) || !is_weight(j->graph, value)) return 0;
  return sw_machine_unpack_s(j->machine, t->dtype, (double)wanted);
}

double sw_value_break_s(const sw_job *j, sw_id value, const sw_sharding *from, const sw_sharding *to) {
  const sw_graph *g = j->graph;
  const sw_machine *machine = j->machine;
  const sw_keeping keeping = sw_value_keeping(j->kernels, value);
  const sw_type *t = &g->values[value].type;
  const double unpack_s = sw_value_unpack_s(j, value, from, to);
  const bool breaks = keeping == SW_KEPT_INSIDE || keeping == SW_KEPT_AGAIN,
             in_memory = sw_value_made_by(g, value, SW_OP_KEEP) != NULL,
             in_part = keeping == SW_KEPT_AGAIN && is_part_of(from, to, t->rank);
  if (!breaks || in_memory || in_part) return unpack_s;
  return unpack_s + sw_machine_local_s(machine, t->dtype, 0,
                                       (double)sw_sharding_held_bytes(from, t->dims, t->dtype) +
                                           (double)sw_sharding_held_bytes(to, t->dims, t->dtype));
}

double sw_op_least_s(const sw_job *j, const sw_op *op) {
  const sw_machine *machine = j->machine;
  const double kRounding = 1e-9, devices = (double)sw_mesh_devices(sw_machine_mesh(machine));
  sw_work w;
  double launch_s;
  if (op->code == SW_OP_TRANSPOSE) return 0; /* cut to one element, a dim has nothing to move */
  sw_op_shape(j, op, NULL, &w);
  w.flops /= devices;
  w.bytes /= devices;
  return (1 - kRounding) * local_s(j, op, &w, true, &launch_s);
}

/* A kernel for each step of a ring, on the block of keys that has come by: the work of all keys, evenly. What steps
 * that are left out would have read is not read, but sw_op_least_s counts all operands. */
static void cost_ring(const sw_job *j, const sw_op *op, const sw_strategy *s, int64_t *extents, sw_op_cost *out) {
  const sw_graph *g = j->graph;
  const sw_machine *machine = j->machine;
  const double steps = (double)count_ring_steps(g, op, s), devices = (double)sw_mesh_devices(sw_machine_mesh(machine));
  sw_work whole, all, one;
  sw_op_shape(j, op, NULL, &whole);
  sw_op_shape(j, op, extents, &one);
  extents[SW_ATTENTION_KEY] = op->nest->loops[SW_ATTENTION_KEY].size;
  sw_op_shape(j, op, extents, &all);
  one.flops = all.flops / steps;
  one.bytes = fmax(one.bytes, whole.bytes / devices / steps);
  out->flops = all.flops;
  out->bytes = one.bytes * steps;
  out->local_s = local_s(j, op, &one, false, &out->launch_s) * steps;
  out->launch_s *= steps;
}

/* Where parts of a sum are completed before an op takes them, one after the other. */
static double completing_s(const sw_job *j, const sw_op *op, const sw_strategy *s) {
  const sw_graph *g = j->graph;
  const sw_machine *machine = j->machine;
  double sum_s = 0;
  for (int f = 0; f < op->nest->n_linear; f++) {
    int n;
    const sw_axis_ref *axes = sw_strategy_loop(s, op->nest->n_loops + f, &n);
    for (int i = 0; n && i < op->n_operands; i++) {
      const sw_type *t = sw_operand_type(g, op, i);
      sw_sharding at;
      if (!(op->nest->linear[f].operands >> i & 1)) continue;
      sw_strategy_operand(op, s, i, &at);
      const double bytes = (double)sw_sharding_held_bytes(&at, t->dims, t->dtype);
      sum_s += sw_machine_collective_s(machine, SW_COLL_ALL_REDUCE, axes, n, bytes);
    }
  }
  return sum_s;
}

int64_t sw_strategy_host_bytes(const sw_graph *g, const sw_op *op, const sw_strategy *s) {
  sw_sharding held;
  if ((op->code != SW_OP_OFFLOAD && op->code != SW_OP_FETCH) || !sw_strategy_runs(s)) return 0;
  sw_strategy_operand(op, s, 0, &held);
  const sw_type *t = sw_operand_type(g, op, 0);
  return sw_sharding_held_bytes(&held, t->dims, t->dtype);
}

static bool is_put_into_stack(const sw_graph *g, sw_id value) {
  const sw_value *v = &g->values[value];
  const sw_op *op = v->n_uses == 1 && v->uses[0].op >= 0 ? &g->ops[v->uses[0].op] : NULL;
  if (!op) return false;
  return op->code == SW_OP_DYNAMIC_UPDATE_SLICE || (sw_op_is_on_host(g, op) && is_put_into_stack(g, op->results[0]));
}

/* A stack is there as a whole from where it begins; what is put into it has its place there. */
int64_t sw_strategy_host_held(const sw_graph *g, const sw_op *op, const sw_strategy *s) {
  sw_sharding held;
  bool begins = op->n_results == 1 && sw_value_is_on_host(g, op->results[0]);
  for (int i = 0; i < op->n_operands && begins; i++) begins = !sw_value_is_on_host(g, op->operands[i]);
  if (!begins || !sw_strategy_runs(s) || is_put_into_stack(g, op->results[0])) return 0;
  sw_strategy_result(op, s, 0, &held);
  const sw_type *t = sw_result_type(g, op, 0);
  return sw_sharding_held_bytes(&held, t->dims, t->dtype);
}

double sw_strategy_host_s(const sw_job *j, const sw_op *op, const sw_strategy *s) {
  const double rate = sw_machine_profile(j->machine)->host_bytes_per_s,
               bytes = (double)sw_strategy_host_bytes(j->graph, op, s);
  const int link = op->code == SW_OP_OFFLOAD ? SW_LINK_TO_HOST : SW_LINK_FROM_HOST;
  if (bytes <= 0 || rate <= 0) return 0;
  return sw_machine_weights(j->machine)->link[link] * (bytes / rate + sw_machine_launch_s(j->machine));
}

void sw_strategy_cost(const sw_job *j, const sw_op *op, const sw_strategy *s, sw_op_cost *out) {
  const sw_graph *g = j->graph;
  const sw_machine *machine = j->machine;
  enum { MOST_LOOPS = 64 }; /* an op with more is costed as if whole */
  int64_t extents[MOST_LOOPS];
  *out = (sw_op_cost){0};
  if (!sw_strategy_runs(s)) return;
  if (op->code == SW_OP_KEEP && s->takes && sw_keep_way_of(g, op, s->takes - 1) != SW_WAY_KEPT)
    return; /* what is made again, or fetched, costs by itself */
  bool fits = op->nest->n_loops <= MOST_LOOPS;
  for (int l = 0; fits && l < op->nest->n_loops; l++) extents[l] = sw_strategy_block(op->nest, s, l);
  if (sw_strategy_is_ring(op, s)) {
    cost_ring(j, op, s, extents, out);
  } else {
    sw_work w;
    sw_op_shape(j, op, fits ? extents : NULL, &w);
    out->flops = w.flops;
    out->bytes = w.bytes;
    out->local_s = local_s(j, op, &w, false, &out->launch_s);
  }
  out->local_s += sw_strategy_host_s(j, op, s);
  cost_sum sum = {machine, out};
  sw_strategy_moves(g, op, s, add_move_cost, &sum);
  if (sw_machine_lowering(machine).early_sums) out->move_s += completing_s(j, op, s);
}
