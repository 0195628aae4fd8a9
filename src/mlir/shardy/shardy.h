/* Shardy's language in a text. Meshes, lists of axes, shardings and rules are read here, for propagation, for planning
 * and for passes alike, and all that the text says in that language is checked once, wherever a program is read.
 *
 *   sdy.mesh @mesh = <["x"=2, "y"=4]>
 *   <@mesh, [{"x", ?}p1, {}], replicated={"y":(1)2}, unreduced={"y":(2)2}>
 *
 * What is wrong is SW_E_INPUT at its place, with what was expected.
 */
#ifndef MLIR_SHARDY_H_
#define MLIR_SHARDY_H_

#include "base/array.h"
#include "base/hash.h"
#include "mlir/text/attr.h"
#include "mlir/text/resolve.h"
#include "propagate/flow.h"

typedef struct sw_text_mesh {
  sw_ir_span name; /* as it is declared; of one that a sharding writes out, the text from its angle on */
  sw_mesh mesh;
  bool told; /* a warning about it was given */
} sw_text_mesh;

/* A text whose shardings are read. */
typedef struct sw_sdy_text {
  const sw_ir_tree *t;
  sw_arena *arena;                 /* ids of devices, rules */
  SW_ARRAY(sw_text_mesh) meshes;   /* that the text declares, then those that shardings write out */
  sw_dict mesh_of;                 /* name or text to index of `meshes` */
  SW_ARRAY(sw_open_sharding) read; /* shardings that were read: a text has few that differ, in many places */
  sw_dict read_of;                 /* text to index of `read` */
  sw_diag *d;
} sw_sdy_text;

/* With the meshes that the text declares. To be closed in any case. */
SW_CHECKED sw_rc sw_sdy_open(sw_sdy_text *x, const sw_ir_tree *t, sw_arena *arena, sw_diag *d);
void sw_sdy_close(sw_sdy_text *x);
/* @mesh, or mesh<["x"=2]>. */
SW_CHECKED sw_rc sw_sdy_mesh_read(sw_sdy_text *x, sw_ir_span text, int32_t *out);
/* One device, whose id it says; no axes and no device. */
static inline bool sw_sdy_is_maximal(const sw_mesh *m) { return !m->n_axes && m->device_ids; }
static inline bool sw_sdy_is_empty(const sw_mesh *m) { return !m->n_axes && !m->device_ids; }
bool sw_sdy_same_mesh(const sw_mesh *a, const sw_mesh *b);

/* A sharding, with or without what stands before its angle; the same as text. */
SW_CHECKED sw_rc sw_open_sharding_read(sw_sdy_text *x, sw_ir_span text, sw_open_sharding *out);
SW_CHECKED sw_rc sw_open_sharding_print(const sw_sdy_text *x, const sw_open_sharding *s, sw_text *out);

/* {"x", "y":(1)2} */
SW_CHECKED sw_rc sw_sdy_axes_read(sw_sdy_text *x, const sw_mesh *m, sw_ir_span list, sw_axes *out);
void sw_sdy_axes_print(const sw_mesh *m, const sw_axis_ref *a, int n, sw_text *out);
/* Is none of them used twice, also in part? `text`: where they stand. */
SW_CHECKED sw_rc sw_sdy_axes_are_distinct(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, const sw_axis_ref *a,
                                          int n);
/* Are they in the order of the mesh? `what` they are is for the message. */
SW_CHECKED sw_rc sw_sdy_axes_are_ordered(sw_sdy_text *x, sw_ir_span text, const char *what, const sw_axis_ref *a,
                                         int n);

/* #sdy.op_sharding_rule<([i, jk])->([i, *]) {i=8, j=2, k=4} reduction={j}, custom> */
SW_CHECKED sw_rc sw_sdy_rule_read(const sw_ir_tree *t, sw_ir_span text, sw_arena *arena, sw_factor_rule **out,
                                  sw_diag *d);

/* Where attributes of ops stand, in either form: a list of shardings as its items in brackets; the sharding of an op of
 * one operand, which `key` names or which stands alone; axes of a manual computation, in braces, and whether an axis is
 * among them. */
sw_ir_span sw_sdy_items(const sw_ir_tree *t, sw_ir_span list);
sw_ir_span sw_sdy_own_sharding(const sw_ir_tree *t, const sw_ir_op *o, const char *key);
sw_ir_span sw_sdy_manual_axes(const sw_ir_tree *t, const sw_ir_op *o);
bool sw_sdy_is_manual_axis(const sw_ir_tree *t, sw_ir_span axes, const char *name);
/* NONE, FORWARD, BACKWARD or their numbers: which way a barrier lets shardings pass; false: none of them. */
bool sw_sdy_direction(const sw_ir_tree *t, sw_ir_span text, sw_direction *out);

/* Checks every op and attribute of the language (verify.c), and that shardings are over as many devices: those of a
 * function, or all of the functions that a program is of; with a mesh that is given in their place, none. */
typedef enum sw_sdy_alike { SW_SDY_NONE_ALIKE, SW_SDY_ALIKE_IN_FUNCTION, SW_SDY_ALIKE_IN_PROGRAM } sw_sdy_alike;
SW_CHECKED sw_rc sw_sdy_verify(const sw_ir_tree *t, const sw_ir_names *names, sw_sdy_alike alike, sw_diag *d);

#define SW_SDY_FAIL(x, at, ...) SW_FAIL_INPUT((x)->d, sw_ir_place((x)->t, (at)), __VA_ARGS__)

#endif
