/* A mesh: devices arranged along named axes; the last axis is the fastest.
 *
 * On mesh x=10,y=20,z=30 the device at coordinates (1,2,3) has position 3 + 30*2 + 30*20*1 = 663. `device_ids`, when
 * present, says which device sits at a position; without it device = position. Everything in this layer speaks of
 * positions ("device" below), and only text forms and machines speak of ids.
 */
#ifndef SHARDWRIGHT_MESH_H_
#define SHARDWRIGHT_MESH_H_

#include "shardwright/arena.h"
#include "shardwright/text.h"

enum { SW_MAX_AXES = 8, SW_AXIS_NAME_BYTES = 32, SW_MAX_RANK = 12, SW_MAX_DEVICES = 1 << 20 };

typedef struct sw_mesh {
  int n_axes; /* 0 .. SW_MAX_AXES; 0 axes = one device */
  struct {
    char name[SW_AXIS_NAME_BYTES];
    int64_t size; /* >= 1, or -1 when not known yet ("?") */
  } axis[SW_MAX_AXES];
  const int32_t *device_ids; /* NULL, or a permutation of 0 .. devices-1; borrowed */
} sw_mesh;

/* A whole axis, or the part of it written name:(pre)size. An axis of size 8 read as digits of sizes 2 x 2 x 2 has the
 * sub-axes x:(1)2 (major), x:(2)2 and x:(4)2 (minor): `pre` is the product of the sizes before it. A whole axis has
 * pre 1 and the axis' own size. Coordinate along it: (coordinate / (axis size / (pre*size))) % size. */
typedef struct sw_axis_ref {
  int32_t axis;
  int32_t pre;
  int32_t size;
} sw_axis_ref;

SW_API sw_axis_ref sw_axis_whole(const sw_mesh *m, int axis);
static inline bool sw_axis_ref_equal(sw_axis_ref a, sw_axis_ref b) {
  return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}
/* The same axes in the same order. */
static inline bool sw_axis_refs_equal(const sw_axis_ref *a, int n, const sw_axis_ref *b, int m) {
  bool same = n == m;
  for (int i = 0; same && i < n; i++) same = sw_axis_ref_equal(a[i], b[i]);
  return same;
}
/* As many axes, of the same sizes; whatever they are called. */
static inline bool sw_mesh_same_sizes(const sw_mesh *a, const sw_mesh *b) {
  bool same = a->n_axes == b->n_axes;
  for (int i = 0; same && i < a->n_axes; i++) same = a->axis[i].size == b->axis[i].size;
  return same;
}
/* Do the two share a digit, or cut into each other's, as x:(1)2 and x:(3)2 do of an axis of 6? Else their coordinates
 * are independent. Sizes are not 0. */
SW_API bool sw_axis_ref_overlaps(sw_axis_ref a, sw_axis_ref b);

/* "x=2,y=4", or "2x4" (axes a0, a1, ...; sizes may be "?"). A list of ids may follow: "x=2,y=2 ids=0,2,1,3" (copied
 * into the arena). */
SW_API SW_CHECKED sw_rc sw_mesh_parse(const char *text, sw_arena *arena, sw_mesh *out, sw_diag *d);
/* Are its axes a0, a1, ..., as of a mesh that is given by its sizes? */
SW_API bool sw_mesh_is_unnamed(const sw_mesh *m);
SW_API void sw_mesh_print(const sw_mesh *m, sw_text *out); /* the first form above; parses back */
/* Names distinct and not empty, sizes in range, all known when `bound`, ids a permutation. */
SW_API SW_CHECKED sw_rc sw_mesh_verify(const sw_mesh *m, bool bound, sw_diag *d);
SW_API int64_t sw_mesh_devices(const sw_mesh *m); /* product of sizes; the mesh is bound */
SW_API int sw_mesh_axis_named(const sw_mesh *m, const char *name,
                              size_t n); /* -1: none; digits name an axis by number */

/* Coordinate of a device along a whole axis or a sub-axis. */
SW_API int64_t sw_mesh_coord(const sw_mesh *m, int64_t device, sw_axis_ref ref);
/* Index of the device in its group over refs[0..n): coordinates read major to minor; in [0, product of sizes). */
SW_API int64_t sw_mesh_group_index(const sw_mesh *m, int64_t device, const sw_axis_ref *refs, int n);
/* The device of the same group whose index in the group is `index`. */
SW_API int64_t sw_mesh_group_peer(const sw_mesh *m, int64_t device, const sw_axis_ref *refs, int n, int64_t index);
SW_API int64_t sw_axis_refs_size(const sw_axis_ref *refs, int n); /* product of sizes */

/* One axis ref as text, x or x:(1)2; axes by name, or by number when the text is a number. */
SW_API void sw_axis_ref_print(const sw_mesh *m, sw_axis_ref ref, sw_text *out);
/* refs[0..n) as text, [x,y:(1)2]. */
SW_API void sw_axis_refs_print(const sw_mesh *m, const sw_axis_ref *refs, int n, sw_text *out);
SW_API SW_CHECKED sw_rc sw_axis_ref_parse(const sw_mesh *m, const char **cursor, const char *end, sw_axis_ref *out,
                                          sw_diag *d);

#endif
