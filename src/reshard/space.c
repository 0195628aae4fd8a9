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

/* Where a sharding names the axis first, by dimension; behind all these by what is partial over it, a set. */
static uint64_t named_place(const sw_sharding *s, int axis) {
  uint64_t parts = 0;
  for (int i = 0; s && i < s->n_refs + s->n_partial; i++) {
    if (s->refs[i].axis != axis) continue;
    if (i < s->n_refs) return (uint64_t)i;
    parts = 31 * parts + ((uint64_t)s->refs[i].pre << 32) + (uint64_t)s->refs[i].size;
  }
  return parts ? parts : UINT64_MAX;
}

static bool is_named_before(const sw_sharding *a, const sw_sharding *b, int x, int y) {
  const uint64_t in_a = named_place(a, x), other = named_place(a, y);
  return in_a != other ? in_a < other : named_place(b, x) < named_place(b, y);
}

/* The axis of that place: among those that are symmetric the ends tell which comes first, not the names. So a search
 * that looks at some atoms, or at some orders of them, finds the same where such axes change places. */
static int axis_at(const sw_machine *m, const sw_sharding *a, const sw_sharding *b, int place, unsigned *left) {
  int first = -1;
  for (unsigned rest = *left; rest; rest &= rest - 1) {
    const int axis = __builtin_ctz(rest);
    if (sw_machine_axes_symmetric(m, place, axis) && (first < 0 || is_named_before(a, b, axis, first))) first = axis;
  }
  *left &= ~(1u << first);
  return first;
}

static bool atoms_of(rs_space *s, const sw_machine *m, const sw_sharding *x, const sw_sharding *y, const borders *b) {
  unsigned left = (1u << s->mesh->n_axes) - 1;
  s->n = 0;
  for (int place = 0; place < s->mesh->n_axes; place++) {
    const int a = axis_at(m, x, y, place, &left);
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

/* Of equal ones the last: what the target alone names is cut before what the source names. */
static void cut_largest(rs_space *s) {
  while (s->n < FEW_ATOMS) {
    int at = -1;
    for (int i = 0; i < s->n; i++) {
      if (smallest_factor(s->atom[i].size) < s->atom[i].size && (at < 0 || s->atom[i].size >= s->atom[at].size)) at = i;
    }
    if (at < 0) return;
    cut_atom(s, at);
  }
}

bool rs_space_init(rs_space *s, const sw_machine *machine, int rank, const int64_t *dims, const sw_sharding *a,
                   const sw_sharding *b) {
  const sw_mesh *m = sw_machine_mesh(machine);
  *s = (rs_space){.mesh = m, .rank = rank, .dims = dims};
  borders named;
  for (int i = 0; i < m->n_axes; i++) {
    named.n[i] = 0;
    if (!add_border(&named, i, 1) || !add_border(&named, i, m->axis[i].size)) return false;
  }
  if (!add_sharding(&named, a) || !add_sharding(&named, b) || !atoms_of(s, machine, a, b, &named)) {
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
  const int n = rs_refs_of_list(s, rs_list_of_set(set), refs);
  for (int i = 1; i < n; i++) {
    for (int k = i; k > 0 && refs[k - 1].axis > refs[k].axis; k--) {
      const sw_axis_ref r = refs[k];
      refs[k] = refs[k - 1];
      refs[k - 1] = r;
    }
  }
  return n;
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
