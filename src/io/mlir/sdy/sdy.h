/* What the files of Shardy's dialect share. */
#ifndef IO_MLIR_SDY_H_
#define IO_MLIR_SDY_H_

#include "io/mlir/import/import.h"

typedef struct sw_sdy_mesh sw_sdy_mesh;

/* What is remembered while a text is read. */
typedef struct sw_sdy_state {
  sw_sdy_mesh *meshes; /* that the text declares (meshes.c) */
  uint32_t n_meshes;
  sw_dict groups; /* sharding groups: number to first value; not inherited */
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

/* sdy.manual_computation (manual.c) */
SW_IR_IMPORTER(sw_sdy_manual);

#endif
