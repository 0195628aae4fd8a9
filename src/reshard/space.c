/* Atoms and states. Atoms start as the digits that the refs of both ends name. Then each dimension's two lists are laid
 * beside each other, as products of sizes from the major side, and an atom that a border of the other list falls into
 * is split there, so that equal slots can be swapped:
 *
 *   dim 0: [x] of 4 beside [y] of 2: the border after 2 falls into x, which becomes x:(1)2, x:(2)2
 */
#include "reshard/space.h"

#include <string.h>

#include "base/checked.h"

bool rs_cuts_nest(int64_t k, int64_t a, int64_t b) { return a == 1 || b == 1 || k <= 1 || sw_ceil_div(k, a) % b == 0; }

/* Borders of digits of each axis: products of leading sizes, ascending from 1 to the axis' size. */
typedef struct borders {
  int n[SW_MAX_AXES];
  int64_t at[SW_MAX_AXES][32];
} borders;

static bool add_border(borders *b, int axis, int64_t at) {
  int i = 0;
  while (i < b->n[axis] && b->at[axis][i] < at) i++;
  if (i < b->n[axis] && b->at[axis][i] == at) return true;
  if (b->n[axis] == 32) return false;
  if (i > 0 && at % b->at[axis][i - 1] != 0) return false;
  if (i < b->n[axis] && b->at[axis][i] % at != 0) return false;
  memmove(&b->at[axis][i + 1], &b->at[axis][i], (size_t)(b->n[axis] - i) * sizeof b->at[axis][0]);
  b->at[axis][i] = at;
  b->n[axis]++;
  return true;
}

static bool add_sharding(borders *b, const sw_sharding *s) {
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    sw_axis_ref r = s->refs[i];
    if (!add_border(b, r.axis, r.pre) || !add_border(b, r.axis, (int64_t)r.pre * r.size)) return false;
  }
  return true;
}

/* Split the ref of `list` that holds the border after `product` shards, if it splits evenly. */
static bool split_at(borders *b, const sw_axis_ref *list, int n, int64_t product) {
  int64_t before = 1;
  for (int i = 0; i < n && before < product; before *= list[i++].size) {
    if (product % before != 0) return false;
    int64_t head = product / before;
    if (head >= list[i].size) continue;
    return list[i].size % head == 0 && add_border(b, list[i].axis, list[i].pre * head);
  }
  return false;
}

static void split_dim(borders *b, const sw_axis_ref *list, int n, const sw_axis_ref *other, int n_other) {
  int64_t product = 1;
  for (int i = 0; i < n_other; i++) {
    product *= other[i].size;
    (void)split_at(b, list, n, product);
  }
}

static void split_slots(borders *b, const sw_sharding *x, const sw_sharding *y) {
  for (int d = 0; d < x->rank; d++) {
    int nx, ny;
    const sw_axis_ref *rx = sw_sharding_dim(x, d, &nx), *ry = sw_sharding_dim(y, d, &ny);
    split_dim(b, rx, nx, ry, ny);
    split_dim(b, ry, ny, rx, nx);
  }
}

static bool atoms_of(rs_space *s, const borders *b) {
  s->n = 0;
  for (int a = 0; a < s->mesh->n_axes; a++) {
    for (int i = 0; i + 1 < b->n[a]; i++) {
      if (s->n == RS_MAX_ATOMS) return false;
      int64_t pre = b->at[a][i], size = b->at[a][i + 1] / pre;
      s->atom[s->n++] = (sw_axis_ref){a, (int32_t)pre, (int32_t)size};
    }
  }
  return true;
}

bool rs_space_init(rs_space *s, const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *a,
                   const sw_sharding *b, int most_split) {
  *s = (rs_space){.mesh = m, .rank = rank, .dims = dims};
  borders plain = {0}, split;
  for (int i = 0; i < m->n_axes; i++) {
    (void)add_border(&plain, i, 1);
    if (!add_border(&plain, i, m->axis[i].size)) return false;
  }
  if (!add_sharding(&plain, a) || !add_sharding(&plain, b)) return false;
  split = plain;
  split_slots(&split, a, b);
  return (atoms_of(s, &split) && s->n <= most_split) || atoms_of(s, &plain);
}

bool rs_space_init_all(rs_space *s, const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *all, int n,
                       const sw_sharding *also) {
  *s = (rs_space){.mesh = m, .rank = rank, .dims = dims};
  borders b = {0};
  for (int i = 0; i < m->n_axes; i++) {
    (void)add_border(&b, i, 1);
    if (!add_border(&b, i, m->axis[i].size)) return false;
  }
  for (int i = 0; i < n; i++) {
    if (!add_sharding(&b, &all[i])) return false;
  }
  if (also && !add_sharding(&b, also)) return false;
  return atoms_of(s, &b);
}

bool rs_space_equal(const rs_space *a, const rs_space *b) {
  return a->n == b->n && a->joined == b->joined && memcmp(a->atom, b->atom, (size_t)a->n * sizeof a->atom[0]) == 0;
}

static void place_ref(const rs_space *s, rs_state *state, sw_axis_ref r, int dim, int *place) {
  for (int i = 0; i < s->n; i++) {
    if (s->atom[i].axis != r.axis || s->atom[i].pre < r.pre || (int64_t)s->atom[i].pre >= (int64_t)r.pre * r.size) {
      continue;
    }
    state->at[i] = (uint8_t)(dim < 0 ? RS_PARTIAL : dim << 4 | (*place)++);
  }
}

rs_state rs_state_of(const rs_space *s, const sw_sharding *sharding) {
  rs_state state;
  memset(state.at, RS_UNUSED, sizeof state.at);
  int place = 0;
  for (int i = 0; i < sharding->n_refs; i++) {
    if (i == 0 || sharding->dim_of[i] != sharding->dim_of[i - 1]) place = 0;
    place_ref(s, &state, sharding->refs[i], sharding->dim_of[i], &place);
  }
  for (int i = 0; i < sharding->n_partial; i++) place_ref(s, &state, sw_sharding_partial(sharding)[i], -1, &place);
  return state;
}

void rs_lists_of(const rs_space *s, const rs_state *state, rs_lists *out) {
  memset(out->len, 0, sizeof out->len);
  out->used = out->partial = 0;
  for (int d = 0; d < s->rank; d++) out->shards[d] = 1;
  for (int i = 0; i < s->n; i++) {
    uint8_t at = state->at[i];
    if (at == RS_UNUSED) continue;
    out->used |= 1u << i;
    if (at == RS_PARTIAL) {
      out->partial |= 1u << i;
      continue;
    }
    int d = at >> 4;
    out->atom[d][at & 15] = (uint8_t)i;
    out->len[d]++;
    out->shards[d] *= s->atom[i].size;
  }
}

rs_state rs_state_of_lists(const rs_space *s, const rs_lists *l) {
  rs_state state;
  memset(state.at, RS_UNUSED, sizeof state.at);
  for (int d = 0; d < s->rank; d++) {
    for (int i = 0; i < l->len[d]; i++) state.at[l->atom[d][i]] = (uint8_t)(d << 4 | i);
  }
  for (int i = 0; i < s->n; i++) {
    if (l->partial >> i & 1u) state.at[i] = RS_PARTIAL;
  }
  return state;
}

sw_sharding rs_sharding_of(const rs_space *s, const rs_state *state, sw_reduction kind) {
  sw_sharding out = sw_sharding_replicated(s->rank);
  rs_lists l;
  rs_lists_of(s, state, &l);
  for (int d = 0; d < s->rank; d++) {
    for (int i = 0; i < l.len[d]; i++) (void)sw_sharding_push(&out, d, s->atom[l.atom[d][i]]);
  }
  for (int i = 0; i < s->n; i++) {
    if (l.partial >> i & 1u) (void)sw_sharding_push_partial(&out, kind, s->atom[i]);
  }
  sw_sharding_normalise(s->mesh, &out);
  return out;
}
