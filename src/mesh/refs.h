/* Axis refs inside the mesh layer: their weight in a device number, and whether they are well formed. */
#ifndef SRC_MESH_REFS_H_
#define SRC_MESH_REFS_H_

#include "mesh/reader.h"

/* The weight of the ref's digit in a device number: coordinate = device / weight % size. */
int64_t sw_axis_ref_weight(const sw_mesh *m, sw_axis_ref ref);

/* Each ref is a digit of its axis; no two of them share one, and digits of one axis nest (x:(1)4 and x:(6)2 of an axis
 * of 12 do not: 4 does not divide 6). `at` is for messages. */
sw_rc sw_axis_refs_check(const sw_mesh *m, const sw_axis_ref *refs, int n, sw_span at, sw_diag *d);

/* Reads x, "x", 0 or x:(1)2 at the reader. */
sw_rc sw_axis_ref_read(const sw_mesh *m, sw_reader *r, sw_axis_ref *out, sw_diag *d);

#endif
