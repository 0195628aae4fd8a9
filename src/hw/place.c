/* Where mesh axes lie on the network.
 *
 * Device ids count through the network's dimensions, innermost fastest, so an axis is a list of digits (stride, size)
 * in id space, and each digit is cut where a dimension ends. Mesh x=2,y=32 on a 4x4x4 torus (z fastest):
 *
 *   y: ids 0..31, stride 1:  4 along z, 4 along y, 2 along x       x: stride 32:  2 along x at stride 2
 *
 * With a device order (device_ids) each axis' digits are read off the ids; the order must treat every axis alike
 * everywhere (id = first + f_x(cx) + f_y(cy) + ...), else groups of one axis would not look alike.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "hw/machine.h"

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
                       " wide) of profile '%s' in unequal parts",
                       m->mesh.axis[axis].name, m->mesh.axis[axis].size, m->profile->level[dim->level].name, dim->size,
                       m->profile->name);
}

static sw_rc push_digit(sw_machine *m, int axis, axis_digit digit, sw_diag *d) {
  axis_place *p = &m->axis[axis];
  if (p->n == SW_MAX_DIGITS)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "mesh axis '%s' is scattered over too many parts of the network",
                         m->mesh.axis[axis].name);
  p->digit[p->n++] = digit;
  return SW_OK;
}

/* Cut the id-space digit (stride, size) at the dimensions' ends. */
static sw_rc place_digit(sw_machine *m, int axis, int64_t stride, int64_t size, sw_diag *d) {
  for (int j = 0; j < m->n_dims && size > 1; j++) {
    const net_dim *dim = &m->dim[j];
    if (stride >= dim->stride * dim->size) continue;
    if (stride % dim->stride) return straddles(m, axis, dim, d);
    int64_t unit = stride / dim->stride;
    if (size <= dim->size / unit) return push_digit(m, axis, (axis_digit){j, unit, size}, d);
    int64_t room = dim->size / unit;
    if (dim->size % unit || size % room) return straddles(m, axis, dim, d);
    SW_TRY(push_digit(m, axis, (axis_digit){j, unit, room}, d));
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

static int compare_i64(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

static sw_rc irregular(const sw_machine *m, int axis, sw_diag *d) {
  return SW_FAIL_INPUT(d, SW_NOWHERE, "the device order along mesh axis '%s' has no regular pattern",
                       m->mesh.axis[axis].name);
}

/* Digits of a sorted list of `n` ids that starts at 0: the longest run 0, s, 2s, ... is the minor digit, and the starts
 * of the runs are a list of the same kind; between starts the runs repeat. */
static sw_rc place_sorted(sw_machine *m, int axis, const int64_t *ids, int64_t n, sw_diag *d) {
  for (int64_t below = 1; below < n;) {
    int64_t stride = ids[below], run = 1;
    while (run * below < n && ids[run * below] == run * stride) run++;
    if ((n / below) % run) return irregular(m, axis, d);
    for (int64_t i = 0; i < run * below; i++)
      if (ids[i] != ids[i % below] + i / below * stride) return irregular(m, axis, d);
    SW_TRY(place_digit(m, axis, stride, run, d));
    below *= run;
  }
  return SW_OK;
}

/* Along every axis the ids must differ by the same amounts wherever the other coordinates stand. */
static sw_rc check_order(const sw_mesh *mesh, sw_diag *d) {
  int64_t devices = sw_mesh_devices(mesh);
  for (int a = 0; a < mesh->n_axes; a++) {
    int64_t stride = axis_stride(mesh, a), size = mesh->axis[a].size;
    for (int64_t p = 0; p < devices; p++) {
      int64_t c = (p / stride) % size;
      int64_t here = mesh->device_ids[p] - mesh->device_ids[p - c * stride];
      if (here != mesh->device_ids[c * stride] - mesh->device_ids[0])
        return SW_FAIL_INPUT(d, SW_NOWHERE,
                             "the device order differs along axis '%s' from place to place (position %" PRId64
                             "); its groups would not cost alike",
                             mesh->axis[a].name, p);
    }
  }
  return SW_OK;
}

static sw_rc place_ordered_axis(sw_machine *m, int axis, int64_t *ids, sw_diag *d) {
  int64_t stride = axis_stride(&m->mesh, axis), n = m->mesh.axis[axis].size;
  for (int64_t c = 0; c < n; c++) ids[c] = m->mesh.device_ids[c * stride];
  qsort(ids, (size_t)n, sizeof *ids, compare_i64);
  int64_t first = ids[0];
  for (int64_t c = 0; c < n; c++) ids[c] -= first;
  return place_sorted(m, axis, ids, n, d);
}

static sw_rc place_ordered(sw_machine *m, sw_diag *d) {
  SW_TRY(check_order(&m->mesh, d));
  int64_t *ids;
  SW_MEM_NEW(ids, sw_mesh_devices(&m->mesh), d);
  sw_rc rc = SW_OK;
  for (int a = 0; a < m->mesh.n_axes && !rc; a++) rc = place_ordered_axis(m, a, ids, d);
  sw_mem_free(ids);
  return rc;
}

sw_rc sw_machine_place(sw_machine *m, sw_diag *d) {
  flatten_network(m);
  if (m->mesh.device_ids) return place_ordered(m, d);
  for (int a = 0; a < m->mesh.n_axes; a++) SW_TRY(place_digit(m, a, axis_stride(&m->mesh, a), m->mesh.axis[a].size, d));
  return SW_OK;
}

bool sw_machine_axes_alike(const sw_machine *m, int a, int b) {
  const axis_place *x = &m->axis[a], *y = &m->axis[b];
  if (a == b) return true;
  if (m->mesh.axis[a].size != m->mesh.axis[b].size || x->n != 1 || y->n != 1) return false;
  const axis_digit *p = &x->digit[0], *q = &y->digit[0];
  const net_dim *u = &m->dim[p->dim], *v = &m->dim[q->dim];
  if (u->level != v->level) return false;
  if (m->profile->level[u->level].kind != SW_TOPOLOGY_TORUS) return true;
  return p->size == u->size && q->size == v->size && u->wrap == v->wrap;
}
