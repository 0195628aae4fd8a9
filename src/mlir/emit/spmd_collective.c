/* Collectives of an SPMD program as ops of the shard dialect. MLIR wants every extent to divide; blocks here are padded
 * to ceil(K/N), so that what is cut is padded first and what is joined is trimmed afterwards:
 *
 *   10 rows over 4 devices: tensor<3xf32>, all_gather gives tensor<12xf32>, a slice keeps tensor<10xf32>
 *
 * An exchange is a shift or an update_halo where one of them does the same; otherwise a call of a private function of
 * sends and receives (spmd_rounds.c) whose attributes hold the two tilings.
 */
#include <string.h>

#include "mlir/emit/spmd_collective.h"

typedef struct call {
  sw_spmd_writer *s;
  const sw_collective *c;
  sw_ssa in, out;
  int64_t members;
} call;

static void put_grid_axes(const sw_mlir *w, const sw_axis_ref *refs, int n) {
  int axes[SW_GRID_AXES];
  n = sw_grid_axes(&w->grid, refs, n, axes);
  sw_text_puts(w->out, "[");
  for (int i = 0; i < n; i++) sw_text_printf(w->out, "%s%d", i ? ", " : "", axes[i]);
  sw_text_puts(w->out, "]");
}

/* `%out = shard.OP %in on @mesh grid_axes = [..]MORE : tensor -> tensor`; the result is named like c->out when it has
 * its shape, else it is a helper that is then trimmed. */
static void put_collective_line(const call *k, sw_ssa in, sw_ssa out, const char *more) {
  sw_mlir *w = &k->s->w;
  if (k->s->dialect == SW_SPMD_STABLEHLO) {
    sw_spmd_stablehlo_line(k->s, k->c, in, out);
    return;
  }
  sw_text_printf(w->out, "    %s = shard.%s %s on @mesh grid_axes = ", out.name, sw_coll_text(k->c->op), in.name);
  put_grid_axes(w, k->c->axes, k->c->n_axes);
  sw_text_puts(w->out, more);
  sw_text_puts(w->out, " : ");
  sw_mlir_type(&in.type, w->out);
  sw_text_puts(w->out, " -> ");
  sw_mlir_type(&out.type, w->out);
  sw_mlir_end_line(w);
}

static bool type_has_dims(const sw_type *a, const int64_t *dims) {
  return a->rank == 0 || memcmp(a->dims, dims, (size_t)a->rank * sizeof *dims) == 0;
}

/* The collective gives `dims`; what is wanted is cut out of them, or they are padded to it. */
static void put_fitted(const call *k, sw_ssa in, const int64_t *dims, const char *more) {
  sw_mlir *w = &k->s->w;
  if (type_has_dims(&k->out.type, dims)) {
    put_collective_line(k, in, k->out, more);
    return;
  }
  sw_ssa whole = sw_mlir_temp(w, sw_mlir_shaped(w, in.type.dtype, in.type.rank, dims));
  put_collective_line(k, in, whole, more);
  sw_mlir_alias(w, sw_mlir_fit(w, whole, k->out.type.dims), k->out);
}

static void copy_ssa_dims(const sw_ssa *x, int64_t *dims) {
  if (x->type.rank) memcpy(dims, x->type.dims, (size_t)x->type.rank * sizeof *dims);
}

/* ` reduction = max`, and nothing for a sum: it is the dialect's default. */
static void reduction_text(const sw_collective *c, char *out, size_t room) {
  snprintf(out, room, c->reduction == SW_REDUCE_SUM ? "" : " reduction = %s", sw_reduction_mlir(c->reduction));
}

static sw_rc write_all_gather(const call *k, sw_diag *d) {
  (void)d;
  char more[64];
  int64_t dims[SW_MAX_RANK];
  copy_ssa_dims(&k->in, dims);
  dims[k->c->dim] *= k->members;
  snprintf(more, sizeof more, " gather_axis = %d", k->c->dim);
  put_fitted(k, k->in, dims, more);
  return SW_OK;
}

static sw_rc write_all_reduce(const call *k, sw_diag *d) {
  (void)d;
  char more[64];
  reduction_text(k->c, more, sizeof more);
  put_collective_line(k, k->in, k->out, more);
  return SW_OK;
}

/* Pad the dimension that is cut so that every member's piece is a whole block. */
static sw_ssa padded(const call *k, int dim, int64_t block) {
  int64_t dims[SW_MAX_RANK];
  copy_ssa_dims(&k->in, dims);
  dims[dim] = block * k->members;
  return sw_mlir_fit(&k->s->w, k->in, dims);
}

static sw_rc write_cut(const call *k, sw_diag *d) {
  (void)d;
  char more[128], reduction[64] = "";
  bool scatters = k->c->op == SW_COLL_REDUCE_SCATTER;
  if (scatters) reduction_text(k->c, reduction, sizeof reduction);
  snprintf(more, sizeof more, "%s %s = %d", reduction, scatters ? "scatter_axis" : "slice_axis", k->c->dim);
  put_collective_line(k, padded(k, k->c->dim, k->out.type.dims[k->c->dim]), k->out, more);
  return SW_OK;
}

static sw_rc write_all_to_all(const call *k, sw_diag *d) {
  char more[96];
  int64_t dims[SW_MAX_RANK], cut = k->c->dim, joined = k->c->concat_dim;
  if (cut == joined && k->in.type.dims[cut] % k->members != 0) {
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "an all_to_all cuts and joins dimension %lld, whose %lld elements %lld devices "
                         "do not share evenly: the shard dialect cannot say it",
                         (long long)cut, (long long)k->in.type.dims[cut], (long long)k->members);
  }
  int64_t block = cut == joined ? k->in.type.dims[cut] / k->members : k->out.type.dims[cut];
  sw_ssa in = padded(k, k->c->dim, block);
  copy_ssa_dims(&in, dims);
  dims[cut] = block;
  dims[joined] *= k->members;
  snprintf(more, sizeof more, " split_axis = %lld concat_axis = %lld", (long long)cut, (long long)joined);
  put_fitted(k, in, dims, more);
  return SW_OK;
}

static sw_rc write_all_to_all_dims(const call *k, sw_diag *d) {
  (void)d;
  sw_spmd_all_to_all_dims(k->s, k->c, k->in, k->out);
  return SW_OK;
}

/* Of axes that a tiling of another mesh speaks of: a table of places in their groups, by device, and this one's. */
static sw_ssa place_elsewhere(const call *k, const sw_other_mesh *there, const sw_axis_ref *refs, int n) {
  sw_mlir *w = &k->s->w;
  sw_type none = {SW_I64, 0, NULL};
  const int64_t devices = sw_mesh_devices(&there->mesh);
  sw_ssa table = sw_mlir_temp(w, none), me = sw_mlir_temp(w, none), at = sw_mlir_temp(w, none),
         out = sw_mlir_temp(w, none);
  sw_text_printf(w->out, "    %s = arith.constant dense<[", table.name);
  for (int64_t i = 0; i < devices; i++) {
    int64_t place = sw_mesh_group_index(&there->mesh, there->position[i], refs, n);
    sw_text_printf(w->out, i ? ", %lld" : "%lld", (long long)place);
  }
  sw_text_printf(w->out, "]> : tensor<%lldxi64>\n", (long long)devices);
  sw_text_printf(w->out, "    %s = shard.process_linear_index on @mesh : index\n", me.name);
  sw_text_printf(w->out, "    %s = tensor.extract %s[%s] : tensor<%lldxi64>\n", at.name, table.name, me.name,
                 (long long)devices);
  sw_text_printf(w->out, "    %s = tensor.from_elements %s : tensor<i64>\n", out.name, at.name);
  return out;
}

/* The first device of a group keeps the value, the others hold the neutral element. */
static sw_rc write_to_partial(const call *k, sw_diag *d) {
  (void)d;
  sw_mlir *w = &k->s->w;
  sw_type none = {SW_I64, 0, NULL};
  const sw_tiling *t = k->c->dst && k->c->dst->other ? k->c->dst : NULL;
  if (k->c->reduction == SW_REDUCE_AVERAGE) { /* each keeps its copy */
    sw_mlir_line(w, &(sw_line){"stablehlo.optimization_barrier", 1, 1, &k->in, &k->out, NULL, NULL});
    return SW_OK;
  }
  sw_ssa at = t ? place_elsewhere(k, t->other, t->refs + t->first_apart, t->n_apart)
                : sw_spmd_group_index(k->s, k->c->axes, k->c->n_axes);
  sw_ssa first = sw_mlir_compare(w, "EQ", at, sw_mlir_int(w, none, 0));
  sw_ssa neutral = sw_mlir_spread(w, sw_mlir_identity(w, k->c->reduction, k->in.type.dtype), k->in.type);
  sw_ssa args[3] = {first, k->in, neutral};
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, args, &k->out, NULL, NULL});
  return SW_OK;
}

/* The first position of this device's block along a dimension. */
static sw_ssa start_of(const call *k, const sw_tiling *t, int dim) {
  sw_mlir *w = &k->s->w;
  sw_type none = {SW_I64, 0, NULL};
  const sw_tile_dim *x = &t->dim[dim];
  if (x->n_refs == 0) return sw_mlir_int(w, none, 0);
  sw_ssa at = sw_spmd_group_index(k->s, t->refs + x->first_ref, x->n_refs);
  return sw_mlir_binary(w, "stablehlo.multiply", at, sw_mlir_int(w, none, x->step), NULL);
}

static bool same_cut(const sw_tiling *a, const sw_tiling *b, int dim) {
  const sw_tile_dim *x = &a->dim[dim], *y = &b->dim[dim];
  if (x->size != y->size || x->step != y->step || x->starts || y->starts) return false;
  return sw_axis_refs_equal(a->refs + x->first_ref, x->n_refs, b->refs + y->first_ref, y->n_refs);
}

/* A piece takes its place among neutral elements. */
static sw_rc write_shard_to_partial(const call *k, sw_diag *d) {
  (void)d;
  sw_mlir *w = &k->s->w;
  const sw_tiling *src = k->c->src, *dst = k->c->dst;
  int64_t dims[SW_MAX_RANK];
  sw_ssa args[SW_MAX_RANK + 2];
  for (int i = 0; i < src->rank; i++) {
    const sw_tile_dim *x = &src->dim[i], *y = &dst->dim[i];
    const bool stays = same_cut(src, dst, i);
    dims[i] = x->len * sw_axis_refs_size(src->refs + x->first_ref, x->n_refs) /
              sw_axis_refs_size(dst->refs + y->first_ref, y->n_refs);
    args[i + 2] = stays ? sw_mlir_int(w, (sw_type){SW_I64, 0, NULL}, 0) : start_of(k, src, i);
    if (!stays && y->n_refs)
      args[i + 2] = sw_mlir_binary(w, "stablehlo.subtract", args[i + 2], start_of(k, dst, i), NULL);
  }
  const sw_type whole = sw_mlir_shaped(w, k->in.type.dtype, src->rank, dims);
  args[0] = sw_mlir_spread(w, sw_mlir_identity(w, k->c->reduction, whole.dtype), whole);
  args[1] = k->in;
  const bool fits = type_has_dims(&k->out.type, dims);
  sw_ssa out = fits ? k->out : sw_mlir_temp(w, whole);
  sw_mlir_line(w, &(sw_line){"stablehlo.dynamic_update_slice", src->rank + 2, 1, args, &out, NULL, NULL});
  if (!fits) sw_mlir_alias(w, sw_mlir_fit(w, out, k->out.type.dims), k->out);
  return SW_OK;
}

/* --- exchanges --------------------------------------------------------------------------------------------------- */

static bool same_apart(const sw_tiling *a, const sw_tiling *b) {
  return sw_axis_refs_equal(a->refs + a->first_apart, a->n_apart, b->refs + b->first_apart, b->n_apart);
}

/* Whole blocks that move along one grid axis: *dim, and *by blocks towards the first device. */
static bool is_block_shift(const call *k, int *dim, int64_t *by) {
  const sw_tiling *a = k->c->src, *b = k->c->dst;
  int axes[SW_GRID_AXES];
  if (k->c->fill_outside || a->rank != b->rank || !same_apart(a, b)) return false;
  *dim = -1;
  for (int i = 0; i < a->rank; i++) {
    if (!same_cut(a, b, i) || a->dim[i].len != b->dim[i].len) return false;
    if (a->dim[i].base == b->dim[i].base) continue;
    if (*dim >= 0) return false;
    *dim = i;
  }
  if (*dim < 0) return false;
  const sw_tile_dim *t = &a->dim[*dim];
  int64_t moved = b->dim[*dim].base - t->base;
  if (t->step <= 0 || t->len != t->step || moved % t->step != 0) return false;
  *by = moved / t->step;
  return sw_grid_axes(&k->s->w.grid, a->refs + t->first_ref, t->n_refs, axes) == 1;
}

static void put_shift(const call *k, int dim, int64_t by) {
  sw_mlir *w = &k->s->w;
  const sw_tile_dim *t = &k->c->src->dim[dim];
  sw_text_printf(w->out, "    %s = shard.shift %s on @mesh grid_axes = ", k->out.name, k->in.name);
  int axes[SW_GRID_AXES];
  (void)sw_grid_axes(&w->grid, k->c->src->refs + t->first_ref, t->n_refs, axes);
  sw_text_printf(w->out, "[%d] shift_axis = %d offset = %lld : ", axes[0], axes[0], (long long)-by);
  sw_mlir_type(&k->in.type, w->out);
  sw_text_puts(w->out, " -> ");
  sw_mlir_type(&k->out.type, w->out);
  sw_mlir_end_line(w);
}

/* Blocks that divide, and windows that reach at most one block to either side. */
static bool is_halo(const sw_tiling *src, const sw_tiling *dst) {
  sw_tiling core;
  bool cut = false;
  if (src->rank != dst->rank || !same_apart(src, dst)) return false;
  sw_tiling_core(dst, &core);
  for (int i = 0; i < dst->rank; i++) {
    const sw_tile_dim *t = &dst->dim[i], *c = &core.dim[i];
    int64_t low = -t->base, high = t->len - c->len - low;
    bool is_block = src->dim[i].base == 0 && src->dim[i].len == c->len;
    if (low < 0 || high < 0 || !same_cut(src, dst, i) || !is_block) return false;
    if (!t->n_refs) continue;
    cut = true;
    int64_t shards = sw_axis_refs_size(dst->refs + t->first_ref, t->n_refs);
    if (t->step * shards != t->size || low > t->step || high > t->step) return false;
  }
  return cut;
}

static void put_halo(const call *k) {
  sw_mlir *w = &k->s->w;
  const sw_tiling *t = k->c->dst;
  int64_t low[SW_MAX_RANK], high[SW_MAX_RANK];
  _Alignas(16) unsigned char fill[16] = {0};
  sw_tiling core;
  sw_tiling_core(t, &core);
  for (int i = 0; i < t->rank; i++) {
    low[i] = -t->dim[i].base;
    high[i] = t->dim[i].len - core.dim[i].len - low[i];
  }
  if (k->c->fill_outside) sw_element_store(k->in.type.dtype, k->c->fill, fill);
  const sw_ssa element = sw_mlir_constant(w, (sw_type){k->in.type.dtype, 0, NULL}, fill);
  const sw_ssa wide = sw_mlir_temp(w, k->out.type);
  sw_mlir_pad(w, k->in, element, low, high, wide);
  sw_text_printf(w->out, "    %s = shard.update_halo %s on @mesh split_axes = [", k->out.name, wide.name);
  for (int i = 0; i < t->rank; i++) {
    if (i) sw_text_puts(w->out, ", ");
    put_grid_axes(w, t->refs + t->dim[i].first_ref, t->dim[i].n_refs);
  }
  sw_text_puts(w->out, "] halo_sizes = [");
  for (int i = 0, first = 1; i < t->rank; i++) {
    if (!t->dim[i].n_refs) continue;
    sw_text_printf(w->out, "%s%lld, %lld", first ? "" : ", ", (long long)low[i], (long long)high[i]);
    first = 0;
  }
  sw_text_puts(w->out, "] : ");
  sw_mlir_type(&k->out.type, w->out);
  sw_mlir_end_line(w);
}

static void put_refs(const sw_grid *grid, const sw_axis_ref *refs, int n, sw_text *out) {
  int axes[SW_GRID_AXES];
  n = sw_grid_axes(grid, refs, n, axes);
  sw_text_puts(out, n ? "array<i64: " : "array<i64");
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%d", i ? ", " : "", axes[i]);
  sw_text_puts(out, ">");
}

static void put_tile_dim(const sw_grid *grid, const sw_tiling *t, int i, sw_text *out) {
  const sw_tile_dim *dim = &t->dim[i];
  sw_text_puts(out, "{axes = ");
  put_refs(grid, t->refs + dim->first_ref, dim->n_refs, out);
  sw_text_printf(out, ", base = %lld : i64, length = %lld : i64, size = %lld : i64", (long long)dim->base,
                 (long long)dim->len, (long long)dim->size);
  if (dim->starts) {
    sw_text_puts(out, ", starts = array<i64: ");
    sw_mlir_list(dim->starts, (int)sw_axis_refs_size(t->refs + dim->first_ref, dim->n_refs) + 1, out);
    sw_text_puts(out, ">");
  }
  sw_text_printf(out, ", step = %lld : i64}", (long long)dim->step);
}

/* The grid of a tiling that speaks of another mesh: its axes, cut as the module's are. */
static sw_rc grid_of(const sw_mlir *w, const sw_tiling *t, sw_grid *out, sw_diag *d) {
  *out = w->grid;
  if (!t->other) return SW_OK;
  sw_grid_init(&t->other->mesh, out);
  for (int i = 0; i < t->rank; i++) SW_TRY(sw_grid_use(out, t->refs + t->dim[i].first_ref, t->dim[i].n_refs, d));
  return SW_OK;
}

static sw_rc put_tiling(const sw_mlir *w, const char *key, const sw_tiling *t, sw_text *out, sw_diag *d) {
  sw_grid grid;
  SW_TRY(grid_of(w, t, &grid, d));
  sw_text_printf(out, ", shardwright.%s = {apart = ", key);
  put_refs(&grid, t->refs + t->first_apart, t->n_apart, out);
  sw_text_puts(out, ", dims = [");
  for (int i = 0; i < t->rank; i++) {
    if (i) sw_text_puts(out, ", ");
    put_tile_dim(&grid, t, i, out);
  }
  sw_text_puts(out, "]");
  for (int a = 0; t->other && a < grid.n; a++) {
    sw_text_printf(out, a ? ", %d" : ", grid = array<i64: %d", grid.axis[a].size);
  }
  if (t->other) {
    sw_text_puts(out, ">, place = array<i64: ");
    for (int64_t i = 0; i < sw_mesh_devices(&t->other->mesh); i++) {
      sw_text_printf(out, i ? ", %d" : "%d", t->other->position[i]);
    }
    sw_text_puts(out, ">");
  }
  sw_text_puts(out, "}");
  return SW_OK;
}

/* The number of the function with this signature and these attributes: one serves all that are alike. */
static sw_rc find_external(sw_spmd_writer *s, const char *declaration, size_t *out, sw_diag *d) {
  for (*out = 0; *out < s->externals.n; ++*out) {
    if (strcmp(s->externals.at[*out], declaration) == 0) return SW_OK;
  }
  char *kept = sw_arena_strndup(&s->w.arena, declaration, strlen(declaration), d);
  return kept ? sw_array_push(&s->externals, kept, d) : SW_E_RESOURCE;
}

static sw_rc put_exchange_call(const call *k, sw_diag *d) {
  sw_mlir *w = &k->s->w;
  sw_text t = {0}, body = {0};
  size_t number;
  sw_rc rc = sw_spmd_write_rounds(k->s, k->c, k->in.type, k->out.type, &body, d);
  sw_text_puts(&t, body.n ? "(%x: " : "(");
  sw_mlir_type(&k->in.type, &t);
  sw_text_puts(&t, ") -> ");
  sw_mlir_type(&k->out.type, &t);
  sw_text_printf(&t, " attributes {shardwright.collective = \"%s\"", sw_coll_text(k->c->op));
  if (k->c->fill_outside) {
    _Alignas(16) unsigned char fill[16] = {0};
    sw_type scalar = {k->in.type.dtype, 0, NULL};
    sw_element_store(scalar.dtype, k->c->fill, fill);
    sw_text_puts(&t, ", shardwright.fill = ");
    sw_mlir_dense(&scalar, fill, true, &t);
    sw_text_puts(&t, " : ");
    sw_mlir_type(&scalar, &t);
  }
  if (!rc) rc = put_tiling(w, "source", k->c->src, &t, d);
  if (!rc) rc = put_tiling(w, "target", k->c->dst, &t, d);
  sw_text_puts(&t, "}");
  if (body.n) sw_text_printf(&t, " {\n%s  }", sw_text_str(&body));
  if (!rc && (t.rc || body.rc)) rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  if (!rc) rc = find_external(k->s, sw_text_str(&t), &number, d);
  sw_text_free(&t);
  sw_text_free(&body);
  SW_TRY(rc);
  sw_text_printf(w->out, "    %s = call @shardwright.exchange_%zu(%s) : (", k->out.name, number, k->in.name);
  sw_mlir_type(&k->in.type, w->out);
  sw_text_puts(w->out, ") -> ");
  sw_mlir_type(&k->out.type, w->out);
  sw_mlir_end_line(w);
  return SW_OK;
}

static sw_rc write_exchange(const call *k, sw_diag *d) {
  int dim;
  int64_t by;
  if (k->s->dialect == SW_SPMD_STABLEHLO) return sw_spmd_stablehlo_exchange(k->s, k->c, k->in, k->out, d);
  if (k->c->dst->other) return put_exchange_call(k, d);
  if (is_block_shift(k, &dim, &by)) {
    put_shift(k, dim, by);
  } else if (is_halo(k->c->src, k->c->dst)) {
    put_halo(k);
  } else {
    return put_exchange_call(k, d);
  }
  return SW_OK;
}

/* --- the table --------------------------------------------------------------------------------------------------- */

/* Those that partition writes; the others of the dialect have roots or partners, which a plan never needs. */
static sw_rc (*const kWriters[SW_COLL_COUNT])(const call *k, sw_diag *d) = {
    [SW_COLL_ALL_GATHER] = write_all_gather,
    [SW_COLL_ALL_REDUCE] = write_all_reduce,
    [SW_COLL_ALL_SLICE] = write_cut,
    [SW_COLL_REDUCE_SCATTER] = write_cut,
    [SW_COLL_ALL_TO_ALL] = write_all_to_all,
    [SW_COLL_TO_PARTIAL] = write_to_partial,
    [SW_COLL_SHARD_TO_PARTIAL] = write_shard_to_partial,
    [SW_COLL_PERMUTE] = write_exchange,
    [SW_COLL_EXCHANGE] = write_exchange,
    [SW_COLL_ALL_TO_ALL_DIMS] = write_all_to_all_dims,
};

sw_rc sw_spmd_write_collective(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out, sw_diag *d) {
  call k = {s, c, in, out, sw_axis_refs_size(c->axes, c->n_axes)};
  bool at_value = false;
  for (int i = 0; i < c->n_root; i++) at_value = at_value || c->root[i] == SW_ROOT_IS_OPERAND;
  if (c->lists || c->sources) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s is among listed devices; expected groups that are axes of the mesh",
                         sw_coll_text(c->op));
  }
  if (at_value || !kWriters[c->op]) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s%s has no form here; expected collectives of plans", sw_coll_text(c->op),
                         at_value ? " with a root that is a value" : "");
  }
  return kWriters[c->op](&k, d);
}
