/* Strategies with unequal blocks (sharded_dims_offsets).
 *
 *   10 rows, offsets [0, 7, 10] on x=2: exp does 7 rows on the first device and 3 on the second, like its operand
 *
 * An op can be cut so where each dimension that the loop reaches is the loop itself: blocks of the loop are blocks of
 * the dimension. Windows, digits and ops that compute where a block begins take equal blocks only.
 */
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "strategy/unequal.h"

/* Ops whose local program is the op itself, whatever the sizes of blocks. */
enum { EQUAL, ANY };
static const bool kOnAnyBlocks[SW_OP_COUNT] = {
#define SW_COLUMN_LOCAL(id, local, blocks) blocks,
#include "shardwright/ops.def"
};

static bool is_single_loop(const sw_affine *e) {
  return e->n_terms == 1 && e->terms[0].coef == 1 && e->constant == 0 && !e->mixed_radix;
}

/* Is every dimension that the loop reaches the loop itself? */
static bool takes_unequal(const sw_graph *g, const sw_op *op, int loop) {
  const sw_loop_nest *nest = op->nest;
  const sw_loop *l = &nest->loops[loop];
  if (!kOnAnyBlocks[op->code] || (l->kind != SW_LOOP_PARALLEL && l->kind != SW_LOOP_REDUCTION)) return false;
  for (int p = 0; p < nest->n_maps; p++) {
    for (int k = 0; k < nest->maps[p].rank; k++) {
      const sw_affine *e = &nest->maps[p].dims[k];
      for (int t = 0; t < e->n_terms; t++) {
        if (e->terms[t].loop != loop) continue;
        if (!is_single_loop(e) || sw_port_type(g, op, p)->dims[k] != l->size) return false;
      }
    }
  }
  return true;
}

const int64_t *sw_strategy_starts(const sw_loop_nest *nest, const sw_strategy *s, int loop) {
  if (!s->offsets) return NULL;
  const int64_t *at = s->offsets->loops;
  for (int i = 0; i < s->n_refs;) {
    int n, l = s->loop_of[i];
    const sw_axis_ref *refs = sw_strategy_loop(s, l, &n);
    if (l >= nest->n_loops) return NULL;
    if (l == loop) return at;
    at += sw_axis_refs_size(refs, n) + 1;
    i += n;
  }
  return NULL;
}

/* Do the starts say what no starts say? */
static bool are_equal_blocks(const int64_t *starts, int64_t size, int64_t n) {
  const int64_t block = sw_ceil_div(size, n);
  for (int64_t i = 0; i <= n; i++) {
    if (starts[i] != sw_min_i64(size, i * block)) return false;
  }
  return true;
}

/* The starts of a dimension of `size` cut into n: those given, or of equal blocks. */
static int64_t *put_starts(int64_t *out, const int64_t *given, int64_t size, int64_t n) {
  int64_t block = sw_ceil_div(size, n);
  for (int64_t i = 0; i <= n; i++) *out++ = given ? given[i] : sw_min_i64(size, i * block);
  return out;
}

/* The offsets of the sharding at a port; NULL where all its blocks are equal. */
static sw_rc offsets_of_port(const sw_graph *g, const sw_op *op, const sw_strategy *s, int port,
                             const int64_t *const *starts, sw_arena *arena, const int64_t **out, sw_diag *d) {
  const sw_map *map = &op->nest->maps[port];
  sw_sharding sh;
  bool any = false;
  sw_strategy_port(op, s, port, &sh);
  int64_t n = 0, *list;
  for (int k = 0; k < map->rank; k++) {
    n += sw_sharding_shards(&sh, k) + 1;
    any = any || (is_single_loop(&map->dims[k]) && starts[map->dims[k].terms[0].loop]);
  }
  *out = NULL;
  if (!any) return SW_OK;
  SW_ARENA_NEW(list, arena, n, d);
  *out = list;
  for (int k = 0; k < map->rank; k++) {
    int cut;
    (void)sw_sharding_dim(&sh, k, &cut);
    const int64_t *given = is_single_loop(&map->dims[k]) ? starts[map->dims[k].terms[0].loop] : NULL;
    if (cut) list = put_starts(list, given, sw_port_type(g, op, port)->dims[k], sw_sharding_shards(&sh, k));
  }
  return SW_OK;
}

sw_rc sw_strategy_set_starts(const sw_graph *g, const sw_op *op, const int64_t *const *starts, sw_arena *arena,
                             sw_strategy *s, sw_diag *d) {
  const sw_loop_nest *nest = op->nest;
  sw_strategy_offsets *o;
  const int64_t **ports, **unequal;
  int64_t n = 0, *at;
  bool any = false;
  s->offsets = NULL;
  SW_ARENA_NEW(unequal, arena, nest->n_loops, d);
  for (int l = 0; l < nest->n_loops; l++) {
    int cut;
    const sw_axis_ref *refs = sw_strategy_loop(s, l, &cut);
    const int64_t shards = sw_axis_refs_size(refs, cut);
    if (!cut) continue;
    n += shards + 1;
    if (starts[l] && !are_equal_blocks(starts[l], nest->loops[l].size, shards)) unequal[l] = starts[l];
    any = any || unequal[l];
  }
  if (!any) return SW_OK;
  SW_ARENA_NEW(o, arena, 1, d);
  SW_ARENA_NEW(ports, arena, nest->n_maps, d);
  SW_ARENA_NEW(at, arena, n, d);
  *o = (sw_strategy_offsets){at, ports};
  for (int p = 0; p < nest->n_maps; p++) SW_TRY(offsets_of_port(g, op, s, p, unequal, arena, &ports[p], d));
  for (int l = 0; l < nest->n_loops; l++) {
    int cut;
    const sw_axis_ref *refs = sw_strategy_loop(s, l, &cut);
    if (cut) at = put_starts(at, unequal[l], nest->loops[l].size, sw_axis_refs_size(refs, cut));
  }
  s->offsets = o;
  return SW_OK;
}

sw_rc sw_strategy_take_over(const sw_graph *g, const sw_op *from, const sw_strategy *s, const sw_op *to,
                            sw_arena *arena, sw_strategy *out, sw_diag *d) {
  const int64_t **starts;
  *out = *s;
  if (!s->offsets) return SW_OK;
  SW_ARENA_NEW(starts, arena, to->nest->n_loops, d);
  for (int l = 0; l < to->nest->n_loops; l++) starts[l] = sw_strategy_starts(from->nest, s, l);
  return sw_strategy_set_starts(g, to, starts, arena, out, d);
}

sw_rc sw_strategy_check_offsets(const sw_graph *g, const sw_op *op, const sw_strategy *s, sw_diag *d) {
  for (int l = 0; s->offsets && l < op->nest->n_loops; l++) {
    int n;
    const sw_axis_ref *refs = sw_strategy_loop(s, l, &n);
    const int64_t *at = sw_strategy_starts(op->nest, s, l), shards = sw_axis_refs_size(refs, n);
    const int64_t size = op->nest->loops[l].size;
    if (!at) continue;
    for (int64_t i = 0; i < shards; i++) {
      if (at[i] > at[i + 1])
        return SW_FAIL_INPUT(d, SW_NOWHERE, "the offsets of loop d%d decrease from %lld to %lld", l, (long long)at[i],
                             (long long)at[i + 1]);
    }
    if (at[0] != 0 || at[shards] != size)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "the offsets of loop d%d go from %lld to %lld; expected 0 to %lld", l,
                           (long long)at[0], (long long)at[shards], (long long)size);
    if (!are_equal_blocks(at, size, shards) && !takes_unequal(g, op, l))
      return SW_FAIL_INPUT(d, SW_NOWHERE, "loop d%d of '%s' cannot be cut into unequal blocks", l,
                           sw_opcode_text(op->code));
  }
  return SW_OK;
}

/* --- what is asked for -------------------------------------------------------------------------------------------- */

typedef SW_ARRAY(sw_unequal) unequal_list;

static bool same_axes(const sw_unequal *u, int64_t size, const sw_axis_ref *refs, int n) {
  return u->size == size && sw_axis_refs_equal(u->refs, u->n_refs, refs, n);
}

static sw_rc add_unequal(unequal_list *list, const sw_unequal *u, sw_diag *d) {
  const int64_t shards = sw_axis_refs_size(u->refs, u->n_refs);
  bool known = are_equal_blocks(u->starts, u->size, shards);
  for (size_t i = 0; i < list->n && !known; i++) {
    known = same_axes(&list->at[i], u->size, u->refs, u->n_refs) &&
            memcmp(list->at[i].starts, u->starts, (size_t)(shards + 1) * sizeof *u->starts) == 0;
  }
  return known ? SW_OK : sw_array_push(list, *u, d);
}

static sw_rc add_of_sharding(unequal_list *list, const sw_sharding *s, const int64_t *dims, sw_diag *d) {
  const int64_t *at = s->offsets;
  for (int k = 0; at && k < s->rank; k++) {
    sw_unequal u = {.size = dims[k]};
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &u.n_refs);
    if (!u.n_refs) continue;
    memcpy(u.refs, refs, (size_t)u.n_refs * sizeof *refs);
    u.starts = at;
    at += sw_axis_refs_size(refs, u.n_refs) + 1;
    SW_TRY(add_unequal(list, &u, d));
  }
  return SW_OK;
}

sw_rc sw_unequal_blocks(const sw_request *r, sw_arena *arena, int32_t *n, const sw_unequal **out, sw_diag *d) {
  const sw_graph *g = r->graph;
  unequal_list list = {0};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < r->n_annotations && !rc; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (a->value >= 0) rc = add_of_sharding(&list, &a->sharding, g->values[a->value].type.dims, d);
  }
  *n = (int32_t)list.n;
  *out = rc ? NULL : sw_arena_copy(arena, list.at, list.n, sizeof *list.at, d);
  sw_array_free(&list);
  return rc || *out ? rc : SW_E_RESOURCE;
}

/* --- all ways to have some --------------------------------------------------------------------------------------- */

/* The next ways to cut `n` places, of which place i has ways[i] besides equal blocks; false after the last. */
static bool next_ways(int n, const int *ways, int *chosen) {
  for (int i = 0; i < n; i++) {
    if (++chosen[i] <= ways[i]) return true;
    chosen[i] = 0;
  }
  return false;
}

/* The starts of the k-th way, counted from 1, to cut `size` by the axes; NULL: there are fewer. *ways: how many. */
static const int64_t *nth_way(const sw_enumerate_options *o, int64_t size, const sw_axis_ref *refs, int n, int k,
                              int *ways) {
  const int64_t *found = NULL;
  *ways = 0;
  for (int32_t i = 0; n && i < o->n_unequal; i++) {
    if (same_axes(&o->unequal[i], size, refs, n) && ++*ways == k) found = o->unequal[i].starts;
  }
  return found;
}

sw_rc sw_strategy_each_unequal(const sw_graph *g, const sw_op *op, const sw_enumerate_options *o, const sw_strategy *s,
                               sw_arena *arena, sw_rc (*visit)(void *user, const sw_strategy *s, sw_diag *d),
                               void *user, sw_diag *d) {
  const int n = op->nest->n_loops;
  int *ways, *chosen;
  const int64_t **starts;
  if (!o || !o->n_unequal || !s->n_refs) return SW_OK;
  SW_ARENA_NEW_EACH(arena, n, d, ways, chosen, starts);
  for (int l = 0; l < n; l++) {
    int cut;
    const sw_axis_ref *refs = sw_strategy_loop(s, l, &cut);
    if (cut && takes_unequal(g, op, l)) (void)nth_way(o, op->nest->loops[l].size, refs, cut, 0, &ways[l]);
  }
  while (next_ways(n, ways, chosen)) {
    sw_strategy with = *s;
    for (int l = 0; l < n; l++) {
      int cut, all;
      const sw_axis_ref *refs = sw_strategy_loop(s, l, &cut);
      starts[l] = nth_way(o, op->nest->loops[l].size, refs, cut, chosen[l], &all);
    }
    SW_TRY(sw_strategy_set_starts(g, op, starts, arena, &with, d));
    SW_TRY(visit(user, &with, d));
  }
  return SW_OK;
}

typedef SW_ARRAY(sw_sharding) sharding_list;

/* One sharding with each of the ways to cut its dimensions. */
static sw_rc add_ways(const sw_enumerate_options *o, const int64_t *dims, const sw_sharding *s, sw_arena *arena,
                      sharding_list *out, sw_diag *d) {
  int ways[SW_MAX_RANK] = {0}, chosen[SW_MAX_RANK] = {0}, cut, all;
  int64_t room = 0;
  for (int k = 0; k < s->rank; k++) {
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &cut);
    (void)nth_way(o, dims[k], refs, cut, 0, &ways[k]);
    room += sw_sharding_shards(s, k) + 1;
  }
  while (next_ways(s->rank, ways, chosen)) {
    sw_sharding with = *s;
    int64_t *at;
    SW_ARENA_NEW(at, arena, room, d);
    with.offsets = at;
    for (int k = 0; k < s->rank; k++) {
      const sw_axis_ref *refs = sw_sharding_dim(s, k, &cut);
      if (!cut) continue;
      at = put_starts(at, nth_way(o, dims[k], refs, cut, chosen[k], &all), dims[k], sw_axis_refs_size(refs, cut));
    }
    SW_TRY(sw_array_push(out, with, d));
  }
  return SW_OK;
}

sw_rc sw_shardings_unequal(const sw_enumerate_options *o, const int64_t *dims, int32_t n, const sw_sharding *shardings,
                           sw_arena *arena, int32_t *n_out, const sw_sharding **out, sw_diag *d) {
  sharding_list list = {0};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < n && o->n_unequal && !rc; i++) rc = add_ways(o, dims, &shardings[i], arena, &list, d);
  *n_out = (int32_t)list.n;
  *out = rc ? NULL : sw_arena_copy(arena, list.at, list.n, sizeof *list.at, d);
  sw_array_free(&list);
  return rc || *out ? rc : SW_E_RESOURCE;
}
