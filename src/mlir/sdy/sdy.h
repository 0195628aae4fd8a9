/* What the files of Shardy's dialect share. */
#ifndef MLIR_SDY_H_
#define MLIR_SDY_H_

#include "mlir/import/annotate.h"
#include "mlir/shardy/shardy.h"

/* What is remembered while a text is read. */
typedef struct sw_sdy_state {
  sw_sdy_text *text;    /* whose shardings are read */
  bool says_priorities; /* the text gives a dim of a sharding one (open.c) */
  sw_dict groups;       /* sharding groups: number to first value; from here on nothing is inherited */
  bool owns_text;
} sw_sdy_state;
sw_sdy_state *sw_sdy_state_of(const sw_importer *m);

/* The program's own mesh: the first that it declares, or (when *known is false) that a sharding writes out. */
SW_CHECKED sw_rc sw_sdy_own_mesh(sw_importer *m, bool *known);

/* <@mesh, [{"x"}, {}], replicated={"y"}> */
typedef struct sw_sdy_sharding {
  sw_open_sharding own; /* over its mesh */
  sw_mesh mesh;
  bool foreign; /* it has axes that the graph's mesh has not */
} sw_sdy_sharding;
SW_CHECKED sw_rc sw_sdy_said(sw_importer *m, sw_ir_span sharding, sw_sdy_sharding *out);
/* Over another mesh, by the names of axes, for a tensor of that rank (one on one device has no dimensions of its own).
 * Then what it is replicated over: said->own.n_replicated. SW_E_INPUT with what that mesh has not, without a place. */
SW_CHECKED sw_rc sw_sdy_over(const sw_sdy_sharding *said, const sw_mesh *mesh, int rank, sw_sharding *out, sw_diag *d);
SW_CHECKED sw_rc sw_sdy_kept(const sw_sdy_sharding *said, const sw_mesh *mesh, sw_axis_ref *out, sw_diag *d);
/* Warns, once for each mesh, that what is foreign is left out. */
void sw_sdy_tell_foreign(sw_importer *m, const sw_sdy_sharding *s, uint32_t at);

bool sw_sdy_says_priorities(const sw_ir_tree *t);
/* In a program of priorities: `s`, which is `said` over the graph's mesh, as hints for what uses the value, or (of a
 * use) for what makes it (open.c). */
SW_CHECKED sw_rc sw_sdy_hint_by_priority(sw_importer *m, const sw_im_target *of, const sw_sharding *s,
                                         const sw_sdy_sharding *said, uint32_t at);

/* sdy.manual_computation (manual.c) */
SW_IR_IMPORTER(sw_sdy_manual);

/* sdy.named_computation (named.c) */
SW_IR_IMPORTER(sw_sdy_named);

#endif
