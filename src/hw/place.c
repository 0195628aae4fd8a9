/* Where mesh axes lie on the network.
 *
 * Device ids count through the network's dimensions, innermost fastest, so an axis is a list of digits (stride, size)
 * in id space, and each digit is cut where a dimension ends. Mesh x=2,y=32 on a 4x4x4 torus (z fastest):
 *
 *   y: ids 0..31, stride 1:  4 along z, 4 along y, 2 along x       x: stride 32:  2 along x at stride 2
 *
 * With a device order (device_ids) each axis' digits are read off the ids, where the order treats every prime digit of
 * the coordinates alike everywhere (id = first + f_1(digit 1) + f_2(digit 2) + ...): of the ids as they are, or
 * numbered anew as far as the network does not tell its members apart. Else groups of one axis do not look alike, and
 * each is looked at by itself (order.c).
 */
#include <inttypes.h>
#include <stdlib.h>

#include "hw/machine.h"
#include "base/lists.h"

static void flatten_network(sw_machine *m) {
  int64_t stride = 1;
  for (int l = 0; l < m->profile->n_levels; l++) {
    const sw_level *level = &m->profile->level[l];
    for (int i = level->n_dims - 1; i >= 0; i--) {
      m->dim[m->n_dims++] = (net_dim){.level = l, .wrap = level->wrap[i], .size = level->dims[i], .stride = stride};
      stride *= level->dims[i];
    }
  }
}

static sw_rc straddles(const sw_machine *m, int axis, const net_dim *dim, sw_diag *d) {
  return SW_FAIL_INPUT(d, SW_NOWHERE,
                       "mesh axis '%s' of size %" PRId64 " would lie across level '%s' (%" PRId64
                       " wide) of profile '%s' in unequal parts; expected sizes, from the last axis on, that divide "
                       "or fill these %" PRId64,
                       m->mesh.axis[axis].name, m->mesh.axis[axis].size, m->profile->level[dim->level].name, dim->size,
                       m->profile->name, dim->size);
}

static sw_rc push_digit(sw_machine *m, int axis, axis_digit digit, sw_diag *d) {
  axis_place *p = &m->axis[axis];
  axis_digit *last = p->n ? &p->digit[p->n - 1] : NULL;
  if (last && last->dim == digit.dim && last->way == digit.way && last->stride * last->size == digit.stride) {
    last->size *= digit.size;
    return SW_OK;
  }
  if (p->n == SW_MAX_DIGITS)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "mesh axis '%s' is scattered over too many parts of the network",
                         m->mesh.axis[axis].name);
  p->digit[p->n++] = digit;
  return SW_OK;
}

/* Cut the id-space digit (stride, size) at the dimensions' ends. */
static sw_rc place_digit(sw_machine *m, int axis, int64_t stride, int64_t size, int way, sw_diag *d) {
  for (int j = 0; j < m->n_dims && size > 1; j++) {
    const net_dim *dim = &m->dim[j];
    if (stride >= dim->stride * dim->size) continue;
    if (stride % dim->stride) return straddles(m, axis, dim, d);
    int64_t unit = stride / dim->stride;
    if (size <= dim->size / unit) return push_digit(m, axis, (axis_digit){j, unit, size, way}, d);
    int64_t room = dim->size / unit;
    if (dim->size % unit || size % room) return straddles(m, axis, dim, d);
    SW_TRY(push_digit(m, axis, (axis_digit){j, unit, room, way}, d));
    stride = dim->stride * dim->size;
    size /= room;
  }
  return SW_OK;
}

static int64_t axis_stride(const sw_mesh *mesh, int axis) {
  int64_t stride = 1;
  for (int i = mesh->n_axes - 1; i > axis; i--) stride *= mesh->axis[i].size;
  return stride;
}

/* Do the ids differ along a digit of the positions (stride, size) by the same amounts wherever the others stand? */
static bool alike_everywhere(const sw_machine *m, const int32_t *order, int64_t stride, int64_t size) {
  for (int64_t p = 0; p < sw_mesh_devices(&m->mesh); p++) {
    int64_t c = p / stride % size;
    if (order[p] - order[p - c * stride] != order[c * stride] - order[0]) return false;
  }
  return true;
}

/* Evenly spaced ids. Neighbouring digits are one where both ascend or both descend. */
static bool place_ids(sw_machine *m, int axis, int64_t *ids, int64_t n) {
  const int64_t step = ids[1] - ids[0];
  bool straight = true;
  for (int64_t c = 1; c < n; c++) straight = straight && ids[c] - ids[c - 1] == step;
  qsort(ids, (size_t)n, sizeof *ids, sw_compare_i64);
  for (int64_t c = 2; c < n; c++) {
    if (ids[c] - ids[c - 1] != ids[1] - ids[0]) return false;
  }
  const int way = !straight ? 2 + m->axis[axis].n : step > 0 ? 1 : -1;
  return place_digit(m, axis, ids[1] - ids[0], n, way, NULL) == SW_OK;
}

static int64_t least_factor(int64_t n) {
  int64_t p = 2;
  while (p * p <= n && n % p) p++;
  return n % p ? n : p;
}

static bool place_ordered_axis(sw_machine *m, int axis, const int32_t *order, int64_t *ids) {
  int64_t stride = axis_stride(&m->mesh, axis);
  for (int64_t left = m->mesh.axis[axis].size; left > 1;) {
    const int64_t n = least_factor(left);
    if (!alike_everywhere(m, order, stride, n)) return false;
    for (int64_t c = 0; c < n; c++) ids[c] = order[c * stride];
    if (!place_ids(m, axis, ids, n)) return false;
    stride *= n;
    left /= n;
  }
  return true;
}

static bool place_regular(sw_machine *m, const int32_t *order, int64_t *ids) {
  bool ok = true;
  for (int a = 0; a < m->mesh.n_axes; a++) m->axis[a].n = 0;
  for (int a = 0; a < m->mesh.n_axes && ok; a++) ok = place_ordered_axis(m, a, order, ids);
  for (int a = 0; a < m->mesh.n_axes && !ok; a++) m->axis[a].n = 0;
  return ok;
}

/* Numbers the members of a level anew, in the order in which they first occur; the torus' have places of their own.
 * `label` and `next` have room for an entry per device of the profile and one. */
static void renumber_level(const sw_machine *m, int level, int64_t unit, int64_t above, int64_t *label, int64_t *next,
                           int32_t *out) {
  const int64_t devices = sw_mesh_devices(&m->mesh), members = above / unit;
  const bool torus = m->profile->level[level].kind == SW_TOPOLOGY_TORUS;
  for (int64_t i = 0; i <= sw_profile_devices(m->profile); i++) {
    label[i] = -1;
    next[i] = 0;
  }
  for (int64_t p = 0; p < devices; p++) {
    const int64_t at = m->mesh.device_ids[p] / unit;
    if (label[at] < 0) label[at] = torus ? at % members : next[at / members]++;
    out[p] += (int32_t)(label[at] * unit);
  }
}

static void renumber(const sw_machine *m, int64_t *label, int64_t *next, int32_t *out) {
  int64_t unit = 1;
  for (int l = 0; l < m->profile->n_levels; l++) {
    int64_t above = unit;
    for (int j = 0; j < m->n_dims; j++) {
      if (m->dim[j].level == l) above = m->dim[j].stride * m->dim[j].size;
    }
    renumber_level(m, l, unit, above, label, next, out);
    unit = above;
  }
}

static sw_rc place_ordered(sw_machine *m, sw_arena *arena, sw_diag *d) {
  const int64_t all = sw_profile_devices(m->profile) + 1;
  int64_t *ids;
  int32_t *order;
  SW_MEM_NEW(ids, 2 * all, d);
  order = sw_mem_alloc((size_t)sw_mesh_devices(&m->mesh), sizeof *order, d);
  bool regular = order && place_regular(m, m->mesh.device_ids, ids);
  if (order && !regular) {
    renumber(m, ids, ids + all, order);
    regular = place_regular(m, order, ids);
  }
  sw_rc rc = !order ? SW_E_RESOURCE : regular ? SW_OK : sw_order_make(m, arena, &m->order, d);
  sw_mem_free(order);
  sw_mem_free(ids);
  return rc;
}

sw_rc sw_machine_place(sw_machine *m, sw_arena *arena, sw_diag *d) {
  flatten_network(m);
  if (m->mesh.device_ids) return place_ordered(m, arena, d);
  for (int a = 0; a < m->mesh.n_axes; a++)
    SW_TRY(place_digit(m, a, axis_stride(&m->mesh, a), m->mesh.axis[a].size, 1, d));
  return SW_OK;
}

bool sw_machine_axes_symmetric(const sw_machine *m, int a, int b) {
  const axis_place *x = &m->axis[a], *y = &m->axis[b];
  if (a == b) return true;
  if (m->order || m->mesh.axis[a].size != m->mesh.axis[b].size || x->n != 1 || y->n != 1) return false;
  const axis_digit *p = &x->digit[0], *q = &y->digit[0];
  const net_dim *u = &m->dim[p->dim], *v = &m->dim[q->dim];
  if (u->level != v->level) return false;
  if (m->profile->level[u->level].kind != SW_TOPOLOGY_TORUS) return true;
  return p->size == u->size && q->size == v->size && u->wrap == v->wrap;
}
