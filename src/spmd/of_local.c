/* A program that came partitioned, as one that passes rewrite. Two things are found out of it:
 *
 *   groups {0, 2}, {1, 3} of mesh x=2,y=2      are those along [x]
 *   y = dot a b, a cut along its columns by x  may differ along x, so it is taken as partial over [x]
 *
 * A layout is a promise that devices hold the same along all axes that it does not name. Which dim an axis stands at
 * when it is named is free: any blocks make up some tensor. They follow the loops of ops, as a reader would say it.
 */
#include <string.h>

#include "base/checked.h"
#include "graph/derive.h"
#include "spmd/passes/spmd_rewrite.h"

typedef struct reading {
  const sw_local_program *p;
  const sw_mesh *mesh; /* that everything is said in */
  sw_graph *view;      /* the program, its groups said in axes of `mesh` where they are such */
  sw_graph *model;     /* the same values as the tensors that blocks make up */
  sw_op *ops;          /* of the view */
  sw_value *values;    /* of the model */
  sw_layout *layout;   /* by value */
  sw_arena *arena;
} reading;

/* --- groups ------------------------------------------------------------------------------------------------------- */

/* The part of an axis whose next coordinate is `stride` devices on, with no more than `most` coordinates. */
static bool ref_at(const sw_mesh *m, int64_t stride, int64_t most, sw_axis_ref *out) {
  int64_t minor = 1;
  for (int a = m->n_axes - 1; a >= 0; minor *= m->axis[a--].size) {
    const int64_t size = m->axis[a].size;
    if (stride < minor || stride >= minor * size || stride % minor || size % (stride / minor)) continue;
    const int64_t left = size / (stride / minor);
    int64_t n = sw_min_i64(most, left);
    while (n > 1 && (most % n || left % n)) n--;
    if (n <= 1) return false;
    *out = (sw_axis_ref){a, (int32_t)(left / n), (int32_t)n};
    return true;
  }
  return false;
}

/* Axes such that the group of device 0 is `members`; *n of them, major first. */
static bool axes_of_members(const sw_mesh *m, const int64_t *members, int64_t size, sw_axis_ref *refs, int *n) {
  sw_axis_ref found[SW_MAX_REFS];
  int64_t done = 1;
  *n = 0;
  while (done < size) {
    const int64_t stride = members[done] - members[0];
    int64_t run = 1;
    while (run < size / done && members[run * done] - members[0] == run * stride) run++;
    while (run > 1 && size / done % run) run--;
    if (*n == SW_MAX_REFS || !ref_at(m, stride, run, &found[*n])) return false;
    done *= found[(*n)++].size;
  }
  for (int i = 0; i < *n; i++) refs[i] = found[*n - 1 - i];
  return done == size;
}

static bool are_groups(const sw_mesh *m, const sw_device_list *lists, int64_t devices, const sw_axis_ref *refs, int n) {
  for (int64_t i = 0; i < devices; i++) {
    bool same = lists[i].n == sw_axis_refs_size(refs, n) && lists[i].place == sw_mesh_group_index(m, i, refs, n);
    for (int64_t k = 0; same && k < lists[i].n; k++) same = lists[i].members[k] == sw_mesh_group_peer(m, i, refs, n, k);
    if (!same) return false;
  }
  return true;
}

static bool axes_of_lists(const sw_mesh *m, const sw_device_list *lists, int64_t devices, sw_axis_ref *refs, int *n) {
  for (int64_t i = 0; i < devices; i++) {
    if (lists[i].n == 0) return false; /* a device in no group */
  }
  return lists[0].place == 0 && axes_of_members(m, lists[0].members, lists[0].n, refs, n) &&
         are_groups(m, lists, devices, refs, *n);
}

/* Axes of the grid as axes of the mesh: device 0's group says which. */
static sw_rc on_mesh(const reading *r, const sw_op *op, sw_axis_ref *refs, int *n, sw_diag *d) {
  const sw_mesh *grid = &r->p->grid;
  sw_axis_ref found[SW_MAX_REFS];
  int64_t *members, size = sw_axis_refs_size(refs, *n);
  int n_found;
  bool same;
  if (sw_mesh_same_sizes(grid, r->mesh)) return SW_OK;
  SW_MEM_NEW(members, size, d);
  for (int64_t k = 0; k < size; k++) members[k] = sw_mesh_group_peer(grid, 0, refs, *n, k);
  same = axes_of_members(r->mesh, members, size, found, &n_found);
  sw_mem_free(members);
  for (int64_t i = 0; same && i < r->p->devices; i++)
    same = sw_mesh_group_index(grid, i, refs, *n) == sw_mesh_group_index(r->mesh, i, found, n_found);
  if (!same) return SW_FAIL_INPUT(d, op->span, "the groups of '%s' are no axes of the mesh", op->name);
  memcpy(refs, found, (size_t)n_found * sizeof *refs);
  *n = n_found;
  return SW_OK;
}

static sw_rc say_collective(reading *r, sw_op *op, sw_diag *d) {
  sw_collective *c;
  SW_ARENA_NEW(c, r->arena, 1, d);
  *c = *op->collective;
  op->collective = c;
  if (!c->lists) {
    const int n = c->n_axes;
    SW_TRY(on_mesh(r, op, c->axes, &c->n_axes, d));
    if (c->n_root && c->n_axes != n)
      return SW_FAIL_INPUT(d, op->span, "the root of '%s' is among other axes than the mesh has", op->name);
    return SW_OK;
  }
  if (axes_of_lists(r->mesh, c->lists, r->p->devices, c->axes, &c->n_axes))
    c->lists = NULL;
  else
    c->n_axes = 0;
  return SW_OK;
}

static sw_rc say_refs(reading *r, sw_op *op, sw_diag *d) {
  sw_axis_ref refs[SW_MAX_REFS], *kept;
  int n = op->n_refs;
  memcpy(refs, op->refs, (size_t)n * sizeof *refs);
  SW_TRY(on_mesh(r, op, refs, &n, d));
  kept = sw_arena_copy(r->arena, refs, (size_t)n, sizeof *refs, d);
  if (!kept) return SW_E_RESOURCE;
  op->refs = kept;
  op->n_refs = n;
  return SW_OK;
}

/* --- layouts ------------------------------------------------------------------------------------------------------ */

/* The dim whose index is that loop alone; -1: none. */
static int dim_of_loop(const sw_map *m, int loop) {
  for (int k = 0; k < m->rank; k++) {
    const sw_affine *a = &m->dims[k];
    if (a->n_terms == 1 && a->terms[0].loop == loop && a->terms[0].coef == 1 && !a->constant && !a->mixed_radix)
      return k;
  }
  return -1;
}

/* The axis at the end of the dim, or among those that the value is partial over (dim -1), but for digits of it that are
 * `taken`. False when there is no room, or a digit is split. */
static bool add_untaken_digits(const sw_axis_ref *taken, int n, sw_axis_ref ref, int dim, sw_reduction kind,
                               sw_sharding *out) {
  for (int i = 0; i < n; i++) {
    const int32_t from = taken[i].pre, to = from * taken[i].size, end = ref.pre * ref.size;
    if (!sw_axis_ref_overlaps(taken[i], ref)) continue;
    const bool major = from > ref.pre, minor = end > to;
    if ((major && from % ref.pre) || (minor && end % to)) return false;
    if (major && !add_untaken_digits(taken, n, (sw_axis_ref){ref.axis, ref.pre, from / ref.pre}, dim, kind, out))
      return false;
    return !minor || add_untaken_digits(taken, n, (sw_axis_ref){ref.axis, to, end / to}, dim, kind, out);
  }
  const sw_reduction as = out->n_partial ? (sw_reduction)out->partial_kind : kind;
  return dim >= 0 ? sw_sharding_push(out, dim, ref) : sw_sharding_push_partial(out, as, ref);
}

/* Those that are not there yet. */
static bool add_new(const sw_axis_ref *refs, int n, int dim, sw_reduction kind, sw_sharding *out) {
  for (int i = 0; i < n; i++) {
    const sw_sharding there = *out;
    if (!add_untaken_digits(there.refs, there.n_refs + there.n_partial, refs[i], dim, kind, out)) return false;
  }
  return true;
}

/* Axes of the operands' dims that one loop is, at the dim of the result that it is. */
static bool follow_loops(const reading *r, const sw_op *op, int result, sw_sharding *out) {
  const sw_map *of = &op->nest->maps[op->n_operands + result];
  for (int k = 0; k < of->rank; k++) {
    if (of->dims[k].n_terms != 1 || dim_of_loop(of, of->dims[k].terms[0].loop) != k) continue;
    for (int i = 0; i < op->n_operands; i++) {
      const int dim = dim_of_loop(&op->nest->maps[i], of->dims[k].terms[0].loop);
      int n = 0;
      const sw_axis_ref *refs = dim < 0 ? NULL : sw_sharding_dim(&r->layout[op->operands[i]].sharding, dim, &n);
      if (!add_new(refs, n, k, SW_REDUCE_SUM, out)) return false;
    }
  }
  return true;
}

/* How parts of the result combine: as the op reduces, or as those of what it reads do. */
static sw_reduction reduces_by(const reading *r, const sw_op *op) {
  for (int i = 0; op->nest && i < op->nest->n_loops; i++) {
    const sw_loop *loop = &op->nest->loops[i];
    if (loop->kind == SW_LOOP_REDUCTION || loop->kind == SW_LOOP_MASKED) return loop->combiner;
  }
  for (int i = 0; i < op->n_operands; i++) {
    const sw_sharding *s = &r->layout[op->operands[i]].sharding;
    if (s->n_partial) return (sw_reduction)s->partial_kind;
  }
  return SW_REDUCE_SUM;
}

/* Axes that all devices go through, as what comes round a loop, or stands behind a choice, may differ along them. */
static bool differs_everywhere(const sw_graph *g, const sw_op *op) {
  const bool of_loop = op->frame >= 0 && g->frames[op->frame].kind == SW_OP_WHILE;
  return op->code == SW_OP_OPAQUE || op->code == SW_OP_JOIN || (op->code == SW_OP_ENTER && of_loop) ||
         (op->collective && (op->collective->lists || op->collective->sources || op->collective->n_root));
}

static bool lay_op(const reading *r, const sw_op *op, int result, sw_sharding *out) {
  const sw_reduction kind = reduces_by(r, op);
  if (op->nest && !follow_loops(r, op, result, out)) return false;
  if (!op->nest && op->n_operands > 0 && r->layout[op->operands[0]].sharding.rank == out->rank)
    *out = r->layout[op->operands[0]].sharding; /* what enters a loop, is masked or shifted */
  for (int i = 0; i < op->n_operands; i++) {
    const sw_sharding *s = &r->layout[op->operands[i]].sharding;
    if (!add_new(s->refs, s->n_refs + s->n_partial, -1, kind, out)) return false;
  }
  if (!add_new(op->refs, op->n_refs, -1, kind, out)) return false;
  for (int a = 0; differs_everywhere(r->view, op) && a < r->mesh->n_axes; a++) {
    const sw_axis_ref whole = sw_axis_whole(r->mesh, a);
    if (whole.size > 1 && !add_new(&whole, 1, -1, kind, out)) return false;
  }
  return true;
}

/* The axes of the group cut `dim` of the result, or, dim -1, nothing of it. */
static bool lay_collective(const reading *r, const sw_op *op, int dim, sw_sharding *out) {
  const sw_collective *c = op->collective;
  const sw_sharding *s = &r->layout[op->operands[0]].sharding;
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    const int at = i < s->n_refs ? s->dim_of[i] : -1;
    if (!add_untaken_digits(c->axes, c->n_axes, s->refs[i], at, (sw_reduction)s->partial_kind, out)) return false;
  }
  return dim < 0 || add_new(c->axes, c->n_axes, dim, SW_REDUCE_SUM, out);
}

static bool lay(const reading *r, const sw_op *op, int result, sw_sharding *out) {
  const uint32_t alike = 1u << SW_COLL_ALL_GATHER | 1u << SW_COLL_ALL_REDUCE | 1u << SW_COLL_BROADCAST;
  const uint32_t apart = 1u << SW_COLL_ALL_SLICE | 1u << SW_COLL_REDUCE_SCATTER | 1u << SW_COLL_ALL_TO_ALL;
  const uint32_t is = op->collective && !differs_everywhere(r->view, op) ? 1u << op->collective->op : 0;
  for (int i = 0; i < op->n_operands; i++) {
    const sw_layout *l = &r->layout[op->operands[i]];
    if (!l->is_block || l->sharding.offsets || l->sharding.halos) return false;
  }
  if (is & (alike | apart)) return lay_collective(r, op, is & apart ? op->collective->dim : -1, out);
  return lay_op(r, op, result, out) &&
         (!is || add_new(op->collective->axes, op->collective->n_axes, -1, SW_REDUCE_SUM, out));
}

/* A block of a tensor of that many blocks of its size; of `whole` where that is known. */
static sw_rc set_layout(reading *r, sw_id v, const sw_sharding *s, const sw_type *whole, sw_diag *d) {
  const sw_type *t = &r->view->values[v].type;
  int64_t *dims, local[SW_MAX_RANK];
  bool fits = true;
  SW_ARENA_NEW(dims, r->arena, t->rank, d);
  for (int k = 0; k < t->rank; k++) {
    const int64_t shards = sw_sharding_shards(s, k);
    fits = fits && t->dims[k] <= INT64_MAX / shards;
    dims[k] = whole ? whole->dims[k] : fits ? t->dims[k] * shards : 0;
  }
  fits = fits && sw_sharding_local_dims(s, dims, local) && sw_sharding_verify(r->mesh, s, t->rank, dims, NULL) == SW_OK;
  for (int k = 0; fits && k < t->rank; k++) fits = local[k] == t->dims[k];
  if (!fits) return SW_OK;
  r->layout[v] = (sw_layout){.source = v, .is_block = true, .sharding = *s};
  r->values[v].type.dims = dims;
  return SW_OK;
}

/* Results lie as the text says, and are of no tensor where it says nothing. */
static sw_rc lay_all(reading *r, sw_diag *d) {
  const sw_graph *g = r->view;
  SW_ARENA_NEW(r->layout, r->arena, g->n_values, d);
  for (sw_id v = 0; v < g->n_values; v++) r->layout[v] = (sw_layout){.source = -1};
  for (int32_t i = 0; i < g->n_args; i++)
    SW_TRY(set_layout(r, g->args[i], &r->p->args[i].sharding, &r->p->args[i].whole, d));
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_results; k++) {
      sw_sharding s = sw_sharding_replicated(sw_result_type(g, op, k)->rank);
      if (lay(r, op, k, &s)) SW_TRY(set_layout(r, op->results[k], &s, NULL, d));
    }
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_local_border *b = &r->p->outputs[i];
    const sw_id v = g->outputs[i];
    if (g->values[v].def < 0) continue;
    if (b->said) SW_TRY(set_layout(r, v, &b->sharding, &b->whole, d));
    if (!b->said && !sw_sharding_is_replicated(&r->layout[v].sharding)) r->layout[v] = (sw_layout){.source = -1};
  }
  return SW_OK;
}

/* --- the program -------------------------------------------------------------------------------------------------- */

static sw_rc prepare_reading(reading *r, sw_diag *d) {
  const sw_graph *g = r->p->graph;
  r->ops = sw_arena_copy(r->arena, g->ops, (size_t)g->n_ops, sizeof *g->ops, d);
  r->values = sw_arena_copy(r->arena, g->values, (size_t)g->n_values, sizeof *g->values, d);
  if (!r->ops || !r->values) return SW_E_RESOURCE;
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (r->ops[i].collective) SW_TRY(say_collective(r, &r->ops[i], d));
    if (r->ops[i].n_refs) SW_TRY(say_refs(r, &r->ops[i], d));
  }
  SW_TRY(sw_graph_derive(g, &(sw_graph_parts){.ops = r->ops}, r->arena, &r->view, d));
  SW_TRY(lay_all(r, d));
  return sw_graph_derive(g, &(sw_graph_parts){.values = r->values}, r->arena, &r->model, d);
}

static sw_rc keep_op_as_is(sw_rewrite *r, sw_id old, sw_id id, void *user, sw_diag *d) {
  (void)r, (void)old, (void)id, (void)user, (void)d;
  return SW_OK;
}

sw_rc sw_spmd_of_local(const sw_local_program *p, sw_arena *arena, sw_spmd *out, sw_diag *d) {
  reading r = {.p = p, .mesh = &p->mesh, .arena = arena};
  sw_origin *origin;
  if (p->position) return SW_FAIL_INPUT(d, SW_NOWHERE, "the program's mesh has an order of devices; expected none");
  SW_TRY(prepare_reading(&r, d));
  SW_ARENA_NEW(origin, arena, p->graph->n_ops, d);
  for (sw_id i = 0; i < p->graph->n_ops; i++) origin[i] = (sw_origin){-1, -1};
  const sw_spmd from = {.model = r.model, .program = r.view, .mesh = r.mesh, .layout = r.layout, .origin = origin};
  sw_rewrite copy = {.pass = p->graph->name};
  sw_rc rc = sw_rewrite_begin(&copy, &from, d);
  if (!rc) rc = sw_rewrite_walk(&copy, keep_op_as_is, NULL, d);
  if (!rc) rc = sw_rewrite_end(&copy, out, d);
  sw_rewrite_deinit(&copy);
  return rc;
}

void sw_local_of_spmd(const sw_local_program *p, const sw_spmd *s, sw_local_program *out) {
  *out = *p;
  out->graph = s->program;
  out->grid = *s->mesh;
  out->layout = NULL;
  out->origin = NULL;
}
