/* Atoms: the digits that the refs of both ends name, the largest cut at their smallest prime factor while there are
 * few, so that a value can be spread over some devices of an axis, or equal parts of axes change places.
 */
#include "reshard/space.h"

#include <string.h>

enum { FEW_ATOMS = 4 };

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
  for (int i = 0; s && i < s->n_refs + s->n_partial; i++) {
    sw_axis_ref r = s->refs[i];
    if (!add_border(b, r.axis, r.pre) || !add_border(b, r.axis, (int64_t)r.pre * r.size)) return false;
  }
  return true;
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

static int32_t smallest_factor(int32_t n) {
  for (int32_t p = 2; p <= n / p; p++) {
    if (n % p == 0) return p;
  }
  return n;
}

static void cut_atom(rs_space *s, int at) {
  const sw_axis_ref whole = s->atom[at];
  const int32_t head = smallest_factor(whole.size);
  const unsigned before = (2u << at) - 1;
  memmove(&s->atom[at + 2], &s->atom[at + 1], (size_t)(s->n - at - 1) * sizeof s->atom[0]);
  s->atom[at] = (sw_axis_ref){whole.axis, whole.pre, head};
  s->atom[at + 1] = (sw_axis_ref){whole.axis, whole.pre * head, whole.size / head};
  s->joined = (s->joined & before) | 2u << at | (s->joined & ~before) << 1;
  s->n++;
}

static void cut_largest(rs_space *s) {
  while (s->n < FEW_ATOMS) {
    int at = -1;
    for (int i = 0; i < s->n; i++) {
      if (smallest_factor(s->atom[i].size) < s->atom[i].size && (at < 0 || s->atom[i].size > s->atom[at].size)) at = i;
    }
    if (at < 0) return;
    cut_atom(s, at);
  }
}

bool rs_space_init(rs_space *s, const sw_mesh *m, int rank, const int64_t *dims, const sw_sharding *a,
                   const sw_sharding *b) {
  *s = (rs_space){.mesh = m, .rank = rank, .dims = dims};
  borders named;
  for (int i = 0; i < m->n_axes; i++) {
    named.n[i] = 0;
    if (!add_border(&named, i, 1) || !add_border(&named, i, m->axis[i].size)) return false;
  }
  if (!add_sharding(&named, a) || !add_sharding(&named, b) || !atoms_of(s, &named)) {
    s->n = 0;
    return false;
  }
  cut_largest(s);
  return true;
}

/* The atoms of a ref. */
static uint32_t atoms_in(const rs_space *s, sw_axis_ref r) {
  uint32_t set = 0;
  for (int i = 0; i < s->n; i++) {
    const sw_axis_ref atom = s->atom[i];
    if (atom.axis == r.axis && atom.pre >= r.pre && (int64_t)atom.pre < (int64_t)r.pre * r.size) set |= 1u << i;
  }
  return set;
}

rs_state rs_state_of(const rs_space *s, const sw_sharding *sharding) {
  rs_state state = {0};
  for (int i = 0; i < sharding->n_refs; i++) {
    rs_list *list = &state.list[sharding->dim_of[i]];
    *list = rs_list_join(*list, rs_list_of_set(atoms_in(s, sharding->refs[i])));
  }
  for (int i = 0; i < sharding->n_partial; i++) state.partial |= atoms_in(s, sw_sharding_partial(sharding)[i]);
  return state;
}

sw_sharding rs_sharding_of(const rs_space *s, const rs_state *state, sw_reduction kind) {
  sw_sharding out = sw_sharding_replicated(s->rank);
  for (int d = 0; d < s->rank; d++) {
    for (rs_list rest = state->list[d]; rest; rest >>= 4) (void)sw_sharding_push(&out, d, s->atom[(rest & 15) - 1]);
  }
  for (int i = 0; i < s->n; i++) {
    if (state->partial >> i & 1u) (void)sw_sharding_push_partial(&out, kind, s->atom[i]);
  }
  sw_sharding_normalise(s->mesh, &out);
  return out;
}

int rs_refs_of_list(const rs_space *s, rs_list list, sw_axis_ref refs[RS_MAX_ATOMS]) {
  int k = 0;
  for (; list; list >>= 4) {
    const sw_axis_ref r = s->atom[(list & 15) - 1];
    if (k > 0 && refs[k - 1].axis == r.axis && refs[k - 1].pre * refs[k - 1].size == r.pre)
      refs[k - 1].size *= r.size;
    else
      refs[k++] = r;
  }
  return k;
}

int rs_refs_of_set(const rs_space *s, uint32_t set, sw_axis_ref refs[RS_MAX_ATOMS]) {
  return rs_refs_of_list(s, rs_list_of_set(set), refs);
}

rs_list rs_list_of_set(uint32_t set) {
  rs_list list = 0;
  for (int n = 0; set; set &= set - 1, n++) list |= (rs_list)(__builtin_ctz(set) + 1) << 4 * n;
  return list;
}

uint32_t rs_list_set(rs_list list) {
  uint32_t set = 0;
  for (; list; list >>= 4) set |= 1u << ((list & 15) - 1);
  return set;
}
