/* The parts of axes that annotations name, as a refinement of the mesh.
 *
 * A part x:(pre)size of an axis begins behind `pre` of its shards and ends behind pre*size: these are ends in the chain
 * of divisors 1 .. size of the axis. Two neighbours in the chain bound an atom.
 *
 *   x=8, x:(1)2 and x:(4)2 named:  chain 1 2 4 8, atoms x:(1)2 x:(2)2 x:(4)2
 */
#include <stdlib.h>

#include "shardwright/strategy.h"
#include "base/lists.h"

enum { MOST_ENDS = 32 }; /* of one axis; a chain of divisors has at most that many */

typedef struct ends {
  int n;
  int32_t at[MOST_ENDS];
} ends;

static void add_end(ends *e, int32_t end, int64_t *left_out) {
  for (int i = 0; i < e->n; i++) {
    if (e->at[i] == end) return;
  }
  if (e->n == MOST_ENDS) {
    ++*left_out;
    return;
  }
  e->at[e->n++] = end;
}

static void add_parts(const sw_axis_ref *refs, int n, const sw_mesh *m, ends *of_axis, int64_t *left_out) {
  for (int i = 0; i < n; i++) {
    if (refs[i].axis < 0 || refs[i].axis >= m->n_axes) continue;
    const int64_t size = m->axis[refs[i].axis].size, end = (int64_t)refs[i].pre * refs[i].size;
    if (refs[i].pre > 1) add_end(&of_axis[refs[i].axis], refs[i].pre, left_out);
    if (end > 1 && end < size) add_end(&of_axis[refs[i].axis], (int32_t)end, left_out);
  }
}

/* Does it leave shards empty? */
static bool goes_beyond(const sw_graph *g, const sw_annotation *a) {
  for (int k = 0; a->value >= 0 && k < a->sharding.rank; k++) {
    if (sw_sharding_shards(&a->sharding, k) > g->values[a->value].type.dims[k]) return true;
  }
  for (int i = 0; i < a->n_loop_refs; i++) {
    const sw_loop_nest *nest = g->ops[a->op].nest;
    int64_t shards = 1;
    for (int k = 0; k < a->n_loop_refs; k++) shards *= a->loop_of[k] == a->loop_of[i] ? a->loop_refs[k].size : 1;
    if (nest && a->loop_of[i] < nest->n_loops && shards > nest->loops[a->loop_of[i]].size) return true;
  }
  return false;
}

/* The chain of an axis as atoms. `room`: how many it may have. */
static void put_axis(const sw_mesh *m, int axis, ends *e, int room, sw_atoms *out) {
  const int64_t size = m->axis[axis].size;
  int32_t from = 1;
  qsort(e->at, (size_t)e->n, sizeof *e->at, sw_compare_i32);
  for (int i = 0; i < e->n; i++) {
    const bool fits = e->at[i] % from == 0 && size % e->at[i] == 0 && room > 1;
    if (!fits) {
      out->left_out++;
      continue;
    }
    out->at[out->n++] = (sw_axis_ref){axis, from, e->at[i] / from};
    from = e->at[i];
    room--;
  }
  out->at[out->n++] = (sw_axis_ref){axis, from, (int32_t)(size / from)};
}

void sw_atoms_of(const sw_request *r, const sw_mesh *m, sw_atoms *out) {
  ends of_axis[SW_MAX_AXES] = {0};
  *out = (sw_atoms){0};
  for (int32_t i = 0; r && i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (a->value >= 0)
      add_parts(a->sharding.refs, a->sharding.n_refs + a->sharding.n_partial, m, of_axis, &out->left_out);
    add_parts(a->loop_refs, a->n_loop_refs, m, of_axis, &out->left_out);
    add_parts(a->kept, a->n_kept, m, of_axis, &out->left_out);
    out->beyond = out->beyond || goes_beyond(r->graph, a);
  }
  for (int a = 0; a < m->n_axes; a++) {
    const int room = SW_MAX_REFS - out->n - (m->n_axes - 1 - a); /* one for each of the other axes */
    if (m->axis[a].size > 1) put_axis(m, a, &of_axis[a], room, out);
  }
}
