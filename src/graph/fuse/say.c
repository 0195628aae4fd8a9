/* Shardings that are said of scores and what follows from them, which are not there any more, as cuts of the loops that
 * they are along:
 *
 *   scores [batch, head, query, key] in [[x],[y],[],[]]      attention with loops batch: x, kv head: y, all others
 * whole
 *
 * An annotation of an op says all of its loops. So all that is said of its values has to agree and to say each loop.
 */
#include "graph/fuse/region.h"
#include "shardwright/request.h"

typedef struct saying {
  const sw_fuse_region *r;
  const sw_annotation *a;
  sw_fuse_said *to;
} saying;

static bool say_loop(saying *s, int loop, int n, const sw_axis_ref *refs) {
  if (s->to->known >> loop & 1) return sw_axis_refs_equal(s->to->refs[loop], s->to->n[loop], refs, n);
  s->to->known |= 1u << loop;
  s->to->n[loop] = n;
  for (int i = 0; i < n; i++) s->to->refs[loop][i] = refs[i];
  return true;
}

/* Query heads: axes cut the kv heads as long as these divide, the rest cuts the groups. */
static bool say_heads(saying *s, int n, const sw_axis_ref *refs) {
  const sw_fuse_region *r = s->r;
  const int64_t group = r->group >= 0 ? r->size[r->group] : r->shared;
  const int64_t kv_heads = r->group >= 0 ? r->size[r->kv_head] : r->heads / group;
  int64_t shards = 1, of_groups = 1;
  int of_kv = 0;
  if (group == 1) of_kv = n;
  for (; of_kv < n && kv_heads % (shards * refs[of_kv].size) == 0; of_kv++) shards *= refs[of_kv].size;
  const int rest = n - of_kv;
  for (int i = of_kv; i < n; i++) of_groups *= refs[i].size;
  /* else blocks of heads were not blocks of kv heads and groups */
  if (rest && (shards != kv_heads || group % of_groups)) return false;
  return say_loop(s, SW_ATTENTION_KV_HEAD, of_kv, refs) && say_loop(s, SW_ATTENTION_GROUP, rest, refs + of_kv);
}

static bool say_dim(saying *s, sw_fuse_dim at, int64_t extent, int n, const sw_axis_ref *refs) {
  const sw_fuse_region *r = s->r;
  if (at.dim < 0 || extent == 1) return n == 0;
  const bool whole = at.stride == 1 && at.dim < r->n_dims && extent == r->size[at.dim];
  if (at.dim == SW_FUSE_JOINED) return at.stride == 1 && say_heads(s, n, refs);
  if (at.dim == r->kv_head && r->group < 0) {
    if (at.stride == 1 && extent == r->heads) return say_heads(s, n, refs);
    if (at.stride == r->heads) return extent * at.stride == r->size[at.dim] && say_loop(s, SW_ATTENTION_BATCH, n, refs);
    return n == 0 && whole && say_heads(s, 0, NULL) && say_loop(s, SW_ATTENTION_BATCH, 0, NULL);
  }
  if (!whole) return false;
  if (at.dim == r->kv_head) return say_loop(s, SW_ATTENTION_KV_HEAD, n, refs);
  if (at.dim == r->group) return say_loop(s, SW_ATTENTION_GROUP, n, refs);
  if (at.dim == r->query) return say_loop(s, SW_ATTENTION_QUERY, n, refs);
  if (at.dim == r->key) return say_loop(s, SW_ATTENTION_KEY, n, refs);
  return r->n_batch - (r->kv_head > 0) == 1 && say_loop(s, SW_ATTENTION_BATCH, n, refs);
}

static bool is_gradient(const sw_fuse_value *v) {
  for (int i = 0; v->kind == SW_FUSE_SUM && i < v->n; i++) {
    if (v->term[i].g || v->term[i].r) return true;
  }
  return false;
}

static bool say_value(sw_fuse_region *r, const sw_annotation *a, const sw_fuse_value *v) {
  saying s = {r, a, &r->said[is_gradient(v) ? SW_FUSE_GRADIENT : SW_FUSE_FORWARD]};
  if (!s.to->first) s.to->first = a;
  if (s.to->first->required != a->required) return false;
  for (int k = 0; k < v->dims.rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(&a->sharding, k, &n);
    if (n == 0 && (a->open_dims >> k & 1)) continue;
    if ((a->open_dims >> k & 1) || !say_dim(&s, v->dims.at[k], r->g->values[v->id].type.dims[k], n, refs)) return false;
  }
  return true;
}

/* Loops of one position are not cut. */
static bool is_complete(const sw_fuse_region *r, const sw_fuse_said *s) {
  const bool one_batch = r->n_batch - (r->kv_head > 0) <= 0 || (r->kv_head == 0 && r->heads == r->size[0]);
  const bool single[SW_ATTENTION_LOOPS] = {one_batch,
                                           r->kv_head < 0,
                                           r->group < 0 && r->shared == 1,
                                           r->query < 0 || r->size[r->query] == 1,
                                           r->size[r->key] == 1,
                                           true,
                                           true};
  for (int l = 0; l < SW_ATTENTION_LOOPS; l++) {
    if (!single[l] && !(s->known >> l & 1)) return false;
  }
  return true;
}

bool sw_fuse_say(sw_fuse_region *r, const sw_fuse_space *space) {
  for (size_t i = 0; i < r->values.n; i++) {
    const sw_fuse_value *v = &r->values.at[i];
    if (space->said[v->id] > 0 && !say_value(r, &r->g->written->annotations[space->said[v->id] - 1], v)) return false;
  }
  for (int k = 0; k < SW_FUSE_OPS; k++) {
    if (r->said[k].first && !is_complete(r, &r->said[k])) return false;
  }
  return true;
}
