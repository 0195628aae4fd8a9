/* Shardings as values: building, comparing, hashing, and the normal form.
 *
 * refs[0 .. n_refs) cut dimensions, grouped by dimension, major first; refs[n_refs .. n_refs+n_partial) follow.
 *   [[x],[y,z]] partial sum[w]:  refs = x y z w,  dim_of = 0 1 1,  n_refs = 3,  n_partial = 1
 */
#include <string.h>

#include "mesh/extent.h"
#include "base/checked.h"
#include "base/hash.h"

sw_sharding sw_sharding_replicated(int rank) { return (sw_sharding){.rank = (uint8_t)rank}; }

const sw_axis_ref *sw_sharding_dim(const sw_sharding *s, int dim, int *n) {
  int first = 0;
  while (first < s->n_refs && s->dim_of[first] < dim) first++;
  int end = first;
  while (end < s->n_refs && s->dim_of[end] == dim) end++;
  *n = end - first;
  return s->refs + first;
}

bool sw_sharding_push(sw_sharding *s, int dim, sw_axis_ref ref) {
  int total = s->n_refs + s->n_partial;
  if (total >= SW_MAX_REFS) return false;
  int at = 0;
  while (at < s->n_refs && s->dim_of[at] <= dim) at++;
  memmove(s->refs + at + 1, s->refs + at, (size_t)(total - at) * sizeof s->refs[0]);
  memmove(s->dim_of + at + 1, s->dim_of + at, (size_t)(s->n_refs - at));
  s->refs[at] = ref;
  s->dim_of[at] = (int8_t)dim;
  s->n_refs++;
  return true;
}

bool sw_sharding_push_partial(sw_sharding *s, sw_reduction kind, sw_axis_ref ref) {
  int total = s->n_refs + s->n_partial;
  if (total >= SW_MAX_REFS || (s->n_partial > 0 && s->partial_kind != kind)) return false;
  int at = total;
  for (; at > s->n_refs; at--) { /* a set: kept in order of axis and digit, so that equal sets are equal values */
    const sw_axis_ref *before = &s->refs[at - 1];
    if (before->axis < ref.axis || (before->axis == ref.axis && before->pre < ref.pre)) break;
    s->refs[at] = *before;
  }
  s->partial_kind = (uint8_t)kind;
  s->refs[at] = ref;
  s->n_partial++;
  return true;
}

int sw_sharding_cut_dims(const sw_sharding *s) {
  int n = 0;
  for (int i = 0; i < s->n_refs; i++) n += i == 0 || s->dim_of[i] != s->dim_of[i - 1];
  return n;
}

int64_t sw_sharding_offsets_count(const sw_sharding *s) {
  int64_t count = 0;
  for (int d = 0; d < s->rank; d++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, d, &n);
    if (n > 0) count += sw_axis_refs_size(refs, n) + 1;
  }
  return count;
}

static sw_rc keep_list(const int64_t **list, int64_t n, sw_arena *arena, sw_diag *d) {
  if (!*list) return SW_OK;
  *list = sw_arena_copy(arena, *list, (size_t)n, sizeof **list, d);
  return *list ? SW_OK : SW_E_RESOURCE;
}

bool sw_sharding_has_subaxes(const sw_mesh *m, const sw_sharding *s) {
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    if (!sw_axis_ref_equal(s->refs[i], sw_axis_whole(m, s->refs[i].axis))) return true;
  }
  return false;
}

sw_rc sw_sharding_keep(sw_sharding *s, sw_arena *arena, sw_diag *d) {
  SW_TRY(keep_list(&s->offsets, sw_sharding_offsets_count(s), arena, d));
  return keep_list(&s->halos, (int64_t)2 * sw_sharding_cut_dims(s), arena, d);
}

static int compare_i64s(const int64_t *a, const int64_t *b, int64_t n) {
  if (!a || !b) return (a != NULL) - (b != NULL);
  for (int64_t i = 0; i < n; i++) {
    if (a[i] != b[i]) return a[i] < b[i] ? -1 : 1;
  }
  return 0;
}

static int compare_int(int64_t a, int64_t b) { return (a > b) - (a < b); }

static int compare_ref(sw_axis_ref a, sw_axis_ref b) {
  int c = compare_int(a.axis, b.axis);
  if (!c) c = compare_int(a.pre, b.pre);
  return c ? c : compare_int(a.size, b.size);
}

int sw_sharding_compare(const sw_sharding *a, const sw_sharding *b) {
  int c = compare_int(a->rank, b->rank);
  if (!c) c = compare_int(a->n_partial, b->n_partial);
  if (!c) c = compare_int(a->n_refs, b->n_refs);
  if (!c && a->n_partial) c = compare_int(a->partial_kind, b->partial_kind);
  for (int i = 0; !c && i < a->n_refs; i++) c = compare_int(a->dim_of[i], b->dim_of[i]);
  for (int i = 0; !c && i < a->n_refs + a->n_partial; i++) c = compare_ref(a->refs[i], b->refs[i]);
  if (!c && (a->offsets || b->offsets)) c = compare_i64s(a->offsets, b->offsets, sw_sharding_offsets_count(a));
  if (!c && (a->halos || b->halos)) c = compare_i64s(a->halos, b->halos, (int64_t)2 * sw_sharding_cut_dims(a));
  return c;
}

bool sw_sharding_equal(const sw_sharding *a, const sw_sharding *b) { return sw_sharding_compare(a, b) == 0; }

uint64_t sw_sharding_hash(const sw_sharding *s) {
  uint64_t h = sw_hash_u64((uint64_t)s->rank | (uint64_t)s->n_refs << 8 | (uint64_t)s->n_partial << 16, 0);
  if (s->n_partial) h = sw_hash_u64(s->partial_kind, h);
  h = sw_hash_bytes(s->dim_of, s->n_refs, h);
  h = sw_hash_bytes(s->refs, (size_t)(s->n_refs + s->n_partial) * sizeof s->refs[0], h);
  if (s->offsets) h = sw_hash_bytes(s->offsets, (size_t)sw_sharding_offsets_count(s) * sizeof(int64_t), h + 1);
  if (s->halos) h = sw_hash_bytes(s->halos, (size_t)(2 * sw_sharding_cut_dims(s)) * sizeof(int64_t), h + 2);
  return h;
}

void sw_sharding_key(const sw_sharding *s, sw_text *key) {
  uint8_t head[] = {s->rank, s->n_refs, s->n_partial, s->n_partial ? s->partial_kind : 0, !s->offsets, !s->halos};
  sw_text_append(key, (const char *)head, sizeof head);
  sw_text_append(key, (const char *)s->dim_of, s->n_refs);
  sw_text_append(key, (const char *)s->refs, (size_t)(s->n_refs + s->n_partial) * sizeof s->refs[0]);
  if (s->offsets) sw_text_append(key, (const char *)s->offsets, (size_t)sw_sharding_offsets_count(s) * sizeof(int64_t));
  if (s->halos) sw_text_append(key, (const char *)s->halos, (size_t)(2 * sw_sharding_cut_dims(s)) * sizeof(int64_t));
}

/* Do the offsets say what no offsets say? */
static bool offsets_are_plain(const sw_sharding *s) {
  const int64_t *at = s->offsets;
  for (int d = 0; d < s->rank; d++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, d, &n);
    if (n == 0) continue;
    int64_t shards = sw_axis_refs_size(refs, n), k = at[shards], block = sw_ceil_div(k, shards);
    for (int64_t i = 0; i < shards; i++) {
      if (at[i] != sw_min_i64(k, i * block)) return false;
    }
    at += shards + 1;
  }
  return true;
}

static bool halos_are_zero(const sw_sharding *s) {
  for (int i = 0; i < 2 * sw_sharding_cut_dims(s); i++) {
    if (s->halos[i] != 0) return false;
  }
  return true;
}

static void remove_ref(sw_sharding *s, int i) {
  int total = s->n_refs + s->n_partial;
  memmove(s->refs + i, s->refs + i + 1, (size_t)(total - i - 1) * sizeof s->refs[0]);
  if (i >= s->n_refs) {
    s->n_partial--;
    return;
  }
  memmove(s->dim_of + i, s->dim_of + i + 1, (size_t)(s->n_refs - i - 1));
  s->n_refs--;
}

/* A ref of size 1 is the only one of its dimension, and offsets or halos count that dimension. */
static bool is_needed(const sw_sharding *s, int i) {
  if (i >= s->n_refs || (!s->offsets && !s->halos)) return false;
  int n;
  (void)sw_sharding_dim(s, s->dim_of[i], &n);
  return n == 1;
}

static void sort_partial(sw_sharding *s) {
  sw_axis_ref *refs = s->refs + s->n_refs;
  for (int i = 1; i < s->n_partial; i++) {
    for (int j = i; j > 0 && compare_ref(refs[j - 1], refs[j]) > 0; j--) {
      sw_axis_ref t = refs[j];
      refs[j] = refs[j - 1];
      refs[j - 1] = t;
    }
  }
}

void sw_sharding_join(sw_sharding *s) {
  for (int i = s->n_refs + s->n_partial - 1; i > 0; i--) {
    bool both_partial = i > s->n_refs, both_cut = i < s->n_refs && s->dim_of[i - 1] == s->dim_of[i];
    sw_axis_ref *major = &s->refs[i - 1], minor = s->refs[i];
    if (!(both_partial || both_cut) || major->axis != minor.axis || major->pre * major->size != minor.pre) continue;
    major->size *= minor.size;
    remove_ref(s, i);
  }
}

/* Is the dim whole, and all that lists say of it that it is? */
static bool says_nothing(const sw_sharding *s, int dim) {
  int n;
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
  const int64_t *halos = sw_sharding_dim_halos(s, dim);
  return n > 0 && sw_axis_refs_size(refs, n) == 1 && !(halos && (halos[0] || halos[1]));
}

/* What a list says of the dims that are cut, `width` numbers each (0: one more than shards). */
static sw_rc drop_from_list(const sw_sharding *s, int width, const int64_t **list, sw_arena *arena, sw_diag *d) {
  const int64_t *from = *list;
  int64_t *to;
  *list = to = sw_arena_copy(arena, from,
                             (size_t)(width ? (int64_t)width * sw_sharding_cut_dims(s) : sw_sharding_offsets_count(s)),
                             sizeof *to, d);
  if (!to) return SW_E_RESOURCE;
  for (int k = 0; k < s->rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    const int64_t of_dim = n == 0 ? 0 : width ? width : sw_axis_refs_size(refs, n) + 1;
    const bool drop = says_nothing(s, k);
    for (int64_t i = 0; !drop && i < of_dim; i++) *to++ = from[i];
    from += of_dim;
  }
  return SW_OK;
}

sw_rc sw_sharding_settle(const sw_mesh *m, sw_sharding *s, sw_arena *arena, sw_diag *d) {
  const sw_sharding was = *s;
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    if (s->refs[i].size < 1) return SW_OK; /* not known yet */
  }
  if (was.offsets) SW_TRY(drop_from_list(&was, 0, &s->offsets, arena, d));
  if (was.halos) SW_TRY(drop_from_list(&was, 2, &s->halos, arena, d));
  for (int i = s->n_refs - 1; i >= 0; i--) {
    if ((was.offsets || was.halos) && says_nothing(&was, s->dim_of[i])) remove_ref(s, i);
  }
  sw_sharding_normalise(m, s);
  return SW_OK;
}

void sw_sharding_normalise(const sw_mesh *m, sw_sharding *s) {
  (void)m;
  if (s->offsets && offsets_are_plain(s)) s->offsets = NULL;
  if (s->halos && halos_are_zero(s)) s->halos = NULL;
  for (int i = s->n_refs + s->n_partial - 1; i >= 0; i--) {
    if (s->refs[i].size == 1 && !is_needed(s, i)) remove_ref(s, i);
  }
  sort_partial(s);
  sw_sharding_join(s);
}
