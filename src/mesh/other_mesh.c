/* Two meshes over the same devices.
 *
 *   program x=2,y=3     devices 0 1 2 / 3 4 5
 *   other   r=3,c=2     devices 0 1 / 2 3 / 4 5: r, c start amid x and y; only tables can say who is where
 *   other   b=3,a=2     ids=0,3,1,4,2,5: device (b,a) is 3a + b, so that a is x and b is y
 *
 * A step along an axis of the other mesh adds to the program's device number. Where these strides are digits of that
 * number, an axis of the other mesh is a list of refs of the program's, and any sharding over it can be said there.
 */
#include <string.h>

#include "mesh/refs.h"
#include "mesh/tiling_dim.h"

static int32_t id_at(const sw_mesh *m, int64_t position) {
  return m->device_ids ? m->device_ids[position] : (int32_t)position;
}

sw_rc sw_other_mesh_make(const sw_mesh *program, const sw_mesh *other, sw_arena *arena, const sw_other_mesh **out,
                         sw_diag *d) {
  int64_t n = sw_mesh_devices(program), m = sw_mesh_devices(other);
  if (n != m) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the second mesh has %lld devices; expected the same %lld", (long long)m,
                         (long long)n);
  }
  sw_other_mesh *o;
  int32_t *position, *device, *of_id;
  SW_ARENA_NEW(o, arena, 1, d);
  SW_ARENA_NEW_EACH(arena, n, d, position, device, of_id);
  for (int64_t p = 0; p < n; p++) of_id[id_at(program, p)] = (int32_t)p;
  for (int64_t q = 0; q < n; q++) {
    device[q] = of_id[id_at(other, q)];
    position[device[q]] = (int32_t)q;
  }
  *o = (sw_other_mesh){.mesh = *other, .position = position, .device = device};
  *out = o;
  return SW_OK;
}

int64_t sw_tiling_shard(const sw_mesh *m, const sw_tiling *t, int dim, int64_t device) {
  const sw_tile_dim *td = &t->dim[dim];
  const sw_axis_ref *refs = t->refs + td->first_ref;
  if (!t->other) return sw_mesh_group_index(m, device, refs, td->n_refs);
  return sw_mesh_group_index(&t->other->mesh, t->other->position[device], refs, td->n_refs);
}

/* A digit of an axis of the other mesh, counted in steps of `weight`, and what one of them adds to the device. */
typedef struct digit {
  int64_t weight, size, stride;
} digit;

typedef struct digits {
  int n;
  digit at[32]; /* minor first */
} digits;

/* The digits of one axis whose coordinates are `unit` positions apart: runs of equal steps. */
static bool digits_of(const sw_other_mesh *o, int64_t size, int64_t unit, digits *out) {
  out->n = 0;
  for (int64_t weight = 1; weight < size;) {
    int64_t stride = o->device[weight * unit] - o->device[0], run = 1;
    while (weight * run < size && o->device[weight * run * unit] - o->device[0] == stride * run) run++;
    if (run < 2 || stride <= 0 || size % (weight * run) != 0 || out->n == 32) return false;
    out->at[out->n++] = (digit){weight, run, stride};
    weight *= run;
  }
  return true;
}

/* Device numbers that are multiples of lo below hi, as refs of the program's mesh; major first. */
static bool push_span(const sw_mesh *m, int64_t lo, int64_t hi, int dim, sw_sharding *out) {
  int64_t below = sw_mesh_devices(m);
  for (int a = 0; a < m->n_axes; a++) {
    int64_t above = below; /* the axis has the numbers from `below` to `above` */
    below /= m->axis[a].size;
    int64_t from = lo > below ? lo : below, to = hi < above ? hi : above;
    if (from >= to) continue;
    if (from % below != 0 || above % to != 0 || to % from != 0) return false;
    sw_axis_ref r = {a, (int32_t)(above / to), (int32_t)(to / from)};
    bool pushed =
        dim < 0 ? sw_sharding_push_partial(out, (sw_reduction)out->partial_kind, r) : sw_sharding_push(out, dim, r);
    if (!pushed) return false;
  }
  return true;
}

static bool push_ref(const sw_mesh *m, const sw_mesh *other, const digits *of_axis, sw_axis_ref r, int dim,
                     sw_sharding *out) {
  int64_t lo = other->axis[r.axis].size / ((int64_t)r.pre * r.size), hi = lo * r.size;
  for (int i = of_axis[r.axis].n - 1; i >= 0; i--) {
    digit g = of_axis[r.axis].at[i];
    int64_t from = lo > g.weight ? lo : g.weight, to = hi < g.weight * g.size ? hi : g.weight * g.size;
    if (from >= to) continue;
    if (from % g.weight != 0 || to % from != 0) return false;
    int64_t stride = g.stride * (from / g.weight);
    if (!push_span(m, stride, stride * (to / from), dim, out)) return false;
  }
  return true;
}

/* Are devices sums of their coordinates' strides? */
static bool adds_up(const sw_other_mesh *o, const digits *of_axis, int64_t devices) {
  for (int64_t q = 0; q < devices; q++) {
    int64_t at = o->device[0], rest = q;
    for (int a = o->mesh.n_axes - 1; a >= 0; a--) {
      int64_t c = rest % o->mesh.axis[a].size;
      rest /= o->mesh.axis[a].size;
      for (int i = 0; i < of_axis[a].n; i++) {
        const digit *g = &of_axis[a].at[i];
        at += c / g->weight % g->size * g->stride;
      }
    }
    if (at != o->device[q]) return false;
  }
  return o->device[0] == 0;
}

bool sw_sharding_from_other_mesh(const sw_mesh *m, const sw_other_mesh *o, const sw_sharding *s, sw_sharding *out) {
  digits of_axis[SW_MAX_AXES];
  int64_t unit = 1;
  for (int a = o->mesh.n_axes - 1; a >= 0; unit *= o->mesh.axis[a--].size) {
    if (!digits_of(o, o->mesh.axis[a].size, unit, &of_axis[a])) return false;
  }
  if (!adds_up(o, of_axis, unit)) return false;
  *out = sw_sharding_replicated(s->rank);
  out->partial_kind = s->partial_kind;
  out->offsets = s->offsets;
  out->halos = s->halos;
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    int dim = i < s->n_refs ? s->dim_of[i] : -1;
    if (s->refs[i].size == 1 && (s->offsets || s->halos)) return false; /* its lists would be lost */
    if (!push_ref(m, &o->mesh, of_axis, s->refs[i], dim, out)) return false;
  }
  return true;
}
