/* The forms that a plan can be written in, by name. */
#include "shardwright/emit.h"

#include <string.h>

static sw_rc emit_partitioned(const sw_plan *plan, sw_spmd_dialect dialect, sw_text *out, sw_diag *d) {
  sw_spmd spmd;
  SW_TRY((dialect >= SW_SPMD_SDY ? sw_partition_whole : sw_partition)(plan, &spmd, d));
  sw_rc rc = sw_emit_spmd(&spmd, dialect, out, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

static sw_rc emit_in_shard(const sw_plan *plan, sw_text *out, sw_diag *d) {
  return emit_partitioned(plan, SW_SPMD_SHARD, out, d);
}

static sw_rc emit_in_stablehlo(const sw_plan *plan, sw_text *out, sw_diag *d) {
  return emit_partitioned(plan, SW_SPMD_STABLEHLO, out, d);
}

static sw_rc emit_in_sdy(const sw_plan *plan, sw_text *out, sw_diag *d) {
  return emit_partitioned(plan, SW_SPMD_SDY, out, d);
}

/* Of a plan by a schedule of its own, which the text that was read has not. */
static sw_rc emit_constrained(const sw_plan *plan, sw_text *out, sw_diag *d) {
  return emit_partitioned(plan, SW_SPMD_CONSTRAINTS, out, d);
}

static const struct {
  sw_plan_form form;
  sw_rc (*write)(const sw_plan *plan, sw_text *out, sw_diag *d); /* NULL: into the program alone */
} kForms[] = {{{"shard", false, SW_EVEN_NEVER, false}, sw_emit_shard},
              {{"spmd", false, SW_EVEN_NEVER, false}, emit_in_shard},
              {{"spmd-stablehlo", false, SW_EVEN_NEVER, false}, emit_in_stablehlo},
              {{"spmd-sdy", false, SW_EVEN_NEVER, false}, emit_in_sdy},
              {{"jax", false, SW_EVEN_ALWAYS, true}, sw_emit_jax},
              {{"dtensor", false, SW_EVEN_ARGUMENTS, false}, sw_emit_dtensor},
              {{"sdy", true, SW_EVEN_ALWAYS, true}, emit_constrained},
              {{"sdy-ops", true, SW_EVEN_ALWAYS, true}, NULL},
              {{"hlo", true, SW_EVEN_ALWAYS, true}, NULL}};
enum { N_FORMS = sizeof kForms / sizeof kForms[0] };

const sw_plan_form *sw_plan_form_find(const char *kind) {
  for (int i = 0; i < N_FORMS; i++) {
    if (strcmp(kind, kForms[i].form.kind) == 0) return &kForms[i].form;
  }
  return NULL;
}

sw_rc sw_emit_plan(const sw_plan *plan, const char *kind, sw_text *out, sw_diag *d) {
  for (int i = 0; i < N_FORMS; i++) {
    if (kForms[i].write && strcmp(kind, kForms[i].form.kind) == 0) return kForms[i].write(plan, out, d);
  }
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "there is no form '%s'", kind);
}
