/* Devices and their coordinates.
 *
 * A device is a number in mixed radix: on mesh x=10,y=20,z=30 device 693 is 1*600 + 2*30 + 3. A sub-axis is one digit
 * of an axis' coordinate: with x=8, x:(2)2 is bit 1 of the coordinate. So every axis ref is a digit of the device
 * number itself, at the weight that sw_axis_ref_weight() gives, and reading or replacing it is one division.
 */
#include "shardwright/mesh.h"

#include <string.h>

#include "mesh/refs.h"

sw_axis_ref sw_axis_whole(const sw_mesh *m, int axis) {
  return (sw_axis_ref){.axis = axis, .pre = 1, .size = (int32_t)m->axis[axis].size};
}

bool sw_axis_ref_overlaps(sw_axis_ref a, sw_axis_ref b) {
  if (a.axis != b.axis) return false;
  if (sw_axis_ref_equal(a, b)) return true; /* of size 1, too */
  const int64_t a_end = (int64_t)a.pre * a.size, b_end = (int64_t)b.pre * b.size;
  return b.pre % a_end != 0 && a.pre % b_end != 0;
}

int64_t sw_mesh_devices(const sw_mesh *m) {
  int64_t n = 1;
  for (int i = 0; i < m->n_axes; i++) n *= m->axis[i].size;
  return n;
}

int64_t sw_axis_ref_weight(const sw_mesh *m, sw_axis_ref ref) {
  int64_t w = m->axis[ref.axis].size / ((int64_t)ref.pre * ref.size);
  for (int i = ref.axis + 1; i < m->n_axes; i++) w *= m->axis[i].size;
  return w;
}

int64_t sw_mesh_coord(const sw_mesh *m, int64_t device, sw_axis_ref ref) {
  return device / sw_axis_ref_weight(m, ref) % ref.size;
}

int64_t sw_mesh_group_index(const sw_mesh *m, int64_t device, const sw_axis_ref *refs, int n) {
  int64_t index = 0;
  for (int i = 0; i < n; i++) index = index * refs[i].size + sw_mesh_coord(m, device, refs[i]);
  return index;
}

int64_t sw_mesh_group_peer(const sw_mesh *m, int64_t device, const sw_axis_ref *refs, int n, int64_t index) {
  for (int i = n - 1; i >= 0; i--) {
    int64_t w = sw_axis_ref_weight(m, refs[i]);
    device += (index % refs[i].size - device / w % refs[i].size) * w;
    index /= refs[i].size;
  }
  return device;
}

int64_t sw_axis_refs_size(const sw_axis_ref *refs, int n) {
  int64_t size = 1;
  for (int i = 0; i < n; i++) size *= refs[i].size;
  return size;
}

int sw_mesh_axis_named(const sw_mesh *m, const char *name, size_t n) {
  for (int i = 0; i < m->n_axes; i++) {
    if (strlen(m->axis[i].name) == n && memcmp(m->axis[i].name, name, n) == 0) return i;
  }
  int number = 0;
  for (size_t i = 0; i < n; i++) {
    if (name[i] < '0' || name[i] > '9' || number > SW_MAX_AXES) return -1;
    number = number * 10 + (name[i] - '0');
  }
  return n > 0 && number < m->n_axes ? number : -1;
}

static sw_rc verify_axis(const sw_mesh *m, int i, bool bound, sw_diag *d) {
  const char *name = m->axis[i].name;
  if (!name[0] || !memchr(name, '\0', SW_AXIS_NAME_BYTES)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "axis %d of the mesh has no name; expected 1 to %d characters", i,
                         SW_AXIS_NAME_BYTES - 1);
  }
  for (int j = 0; j < i; j++) {
    if (strcmp(m->axis[j].name, name) == 0) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "axis '%s' stands in the mesh twice; expected distinct names", name);
    }
  }
  int64_t size = m->axis[i].size;
  if (size == -1 && bound) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the size of axis '%s' is unknown; expected a number", name);
  }
  if (size != -1 && (size < 1 || size > SW_MAX_DEVICES)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "axis '%s' has size %lld; expected 1 to %d", name, (long long)size,
                         SW_MAX_DEVICES);
  }
  return SW_OK;
}

static sw_rc verify_ids(const sw_mesh *m, int64_t devices, sw_diag *d) {
  uint8_t *seen = sw_mem_alloc((size_t)devices, 1, d);
  if (!seen) return SW_E_RESOURCE;
  sw_rc rc = SW_OK;
  for (int64_t i = 0; i < devices && !rc; i++) {
    int32_t id = m->device_ids[i];
    if (id < 0 || id >= devices) {
      rc = SW_FAIL_INPUT(d, SW_NOWHERE, "device id %d is out of range; expected 0 to %lld", id, (long long)devices - 1);
    } else if (seen[id]++) {
      rc = SW_FAIL_INPUT(d, SW_NOWHERE, "device id %d stands twice; expected a permutation of 0 to %lld", id,
                         (long long)devices - 1);
    }
  }
  sw_mem_free(seen);
  return rc;
}

sw_rc sw_mesh_verify(const sw_mesh *m, bool bound, sw_diag *d) {
  if (m->n_axes < 0 || m->n_axes > SW_MAX_AXES) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the mesh has %d axes; expected at most %d", m->n_axes, SW_MAX_AXES);
  }
  int64_t devices = 1;
  for (int i = 0; i < m->n_axes; i++) {
    SW_TRY(verify_axis(m, i, bound, d));
    if (m->axis[i].size == -1) devices = -1;
    if (devices > 0) devices *= m->axis[i].size;
    if (devices > SW_MAX_DEVICES) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "the mesh has more than %d devices", SW_MAX_DEVICES);
    }
  }
  if (!m->device_ids) return SW_OK;
  if (devices < 0) return SW_FAIL_INPUT(d, SW_NOWHERE, "a mesh of unknown size has device ids; expected none");
  return verify_ids(m, devices, d);
}
