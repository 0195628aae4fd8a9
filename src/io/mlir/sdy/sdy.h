/* What the files of Shardy's dialect share. */
#ifndef IO_MLIR_SDY_H_
#define IO_MLIR_SDY_H_

#include "io/mlir/import/annotate.h"

typedef struct sw_sdy_mesh sw_sdy_mesh;

/* What is remembered while a text is read. */
typedef struct sw_sdy_state {
  sw_sdy_mesh *meshes; /* that the text declares (meshes.c) */
  uint32_t n_meshes;
  bool says_priorities; /* the text gives a dim of a sharding one (open.c) */
  sw_dict groups;       /* sharding groups: number to first value; not inherited */
} sw_sdy_state;
sw_sdy_state *sw_sdy_state_of(const sw_importer *m);

/* The program's own mesh: the first that it declares, or (when *known is false) that a sharding writes out. */
SW_CHECKED sw_rc sw_sdy_own_mesh(sw_importer *m, bool *known);

/* <@mesh, [{"x"}, {}], replicated={"y"}> */
typedef struct sw_sdy_sharding {
  sw_mesh mesh;    /* that it speaks of: declared, or written out in it, or else the program's first */
  sw_sdy_mesh *of; /* NULL: it is not a declared one */
  bool foreign;    /* it has axes that the graph's mesh has not */
  sw_ir_span dims; /* from the list of dims on; empty: there is none */
} sw_sdy_sharding;
SW_CHECKED sw_rc sw_sdy_said(sw_importer *m, sw_ir_span sharding, sw_sdy_sharding *out);
/* Its list of dims alone. */
sw_ir_span sw_sdy_dims(const sw_ir_tree *t, sw_ir_span sharding);
/* Warns, once for each mesh, that what is foreign is left out. */
void sw_sdy_tell_foreign(sw_importer *m, const sw_sdy_sharding *s, uint32_t at);

/* What a sharding leaves to the planner, and how much it counts (open.c). */
typedef struct sw_sdy_open {
  uint32_t dims;                 /* bit k: dim k may be cut further */
  int32_t priority[SW_MAX_RANK]; /* of dims that say none: 0 */
  int32_t n_kept;                /* axes that the value is said to be replicated over */
  sw_axis_ref kept[SW_MAX_REFS];
} sw_sdy_open;
/* `dims`: its text from the list of dims on; axes are those of the graph's mesh. */
SW_CHECKED sw_rc sw_sdy_read_open(sw_importer *m, sw_ir_span dims, sw_sdy_open *out);
bool sw_sdy_says_priorities(const sw_ir_tree *t);
/* In a program of priorities: hints for what uses the value, or (of a use) for what makes it. */
SW_CHECKED sw_rc sw_sdy_hint_by_priority(sw_importer *m, const sw_im_target *of, const sw_sharding *s,
                                         const sw_sdy_open *o, uint32_t at);

/* sdy.manual_computation (manual.c) */
SW_IR_IMPORTER(sw_sdy_manual);

/* sdy.named_computation (named.c) */
SW_IR_IMPORTER(sw_sdy_named);

#endif
