/* A text in, the same text with shardings propagated out. */
#include <string.h>

#include "mlir/flow/rule_steps.h"
#include "mlir/import/import_verify.h"
#include "shardwright/program.h"

bool sw_layer_parse(const char *text, sw_layer *out) {
  static const char *const kNames[] = {"sdy-basic", "sdy-aggressive", "sdy-op-priority", "sdy-user-priority", "sdy"};
  for (int i = 0; i < 5; i++) {
    if (strcmp(text, kNames[i])) continue;
    *out = (sw_layer)i;
    return true;
  }
  return false;
}

/* What is asked of a text: it is read as a flow, and `work` appends the answer. */
typedef struct question {
  const sw_propagation *how;
  sw_rc (*work)(const struct question *q, sw_program_flow *p, sw_text *out, sw_diag *d);
} question;

static sw_rc propagated(const question *q, sw_program_flow *p, sw_text *out, sw_diag *d) {
  sw_origins origins = {0};
  p->flow.conservative = q->how->conservative;
  p->same_ops = q->how->same_ops;
  if (q->how->origins || q->how->explain) p->flow.origins = &origins;
  sw_rc rc = sw_flow_propagate(&p->flow, q->how->layer, d);
  if (!rc && q->how->origins) rc = sw_program_flow_name_origins(p, d);
  if (!rc)
    rc = q->how->explain ? sw_program_flow_explain(p, q->how->explain, out, d) : sw_program_flow_write(p, out, d);
  sw_origins_free(&origins);
  return rc;
}

/* %0 = dot_general : ([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k} */
static sw_rc rules(const question *q, sw_program_flow *p, sw_text *out, sw_diag *d) {
  (void)q;
  (void)d;
  for (int32_t i = 0; i < p->flow.n_steps; i++) {
    const sw_flow_op *s = &p->flow.steps[i];
    if (!s->rule) continue;
    const sw_ir_op *o = &p->t->ops.at[s->source];
    sw_ir_span name = o->name;
    while (name.at < name.end && p->t->s[name.at] != '.') name.at++;
    if (name.at++ == name.end) name = o->name;
    if (o->n_results) sw_text_printf(out, "%%%.*s = ", SW_IR_TEXT(p->t, p->t->results.at[o->first_result].name));
    sw_text_printf(out, "%.*s : ", SW_IR_TEXT(p->t, name));
    sw_factor_rule_put(s->rule, out);
    sw_text_puts(out, "\n");
  }
  return out->rc;
}

static sw_rc answer_tree(sw_ir_tree *t, const question *q, sw_text *out, sw_diag *d) {
  sw_ir_names names;
  sw_program_flow p = {0};
  const int reading = q->work == rules ? SW_READ_SCALARS : q->how->layer == SW_LAYER_WHOLE ? SW_READ_WHOLE : 0;
  sw_rc rc = sw_ir_resolve(t, &names, d);
  if (!rc) rc = sw_ir_verify(t, &names, d);
  if (!rc) rc = sw_sdy_verify(t, &names, SW_SDY_ALIKE_IN_FUNCTION, d);
  if (!rc) rc = sw_program_flow_read(t, &names, reading, &p, d);
  if (!rc) rc = q->work(q, &p, out, d);
  sw_program_flow_free(&p);
  sw_ir_names_free(&names);
  return rc;
}

static sw_rc answer_on_text(const char *file, const char *bytes, size_t n, const question *q, sw_text *out,
                            sw_diag *d) {
  sw_ir_tree tree;
  char *text; /* with a NUL behind it */
  SW_MEM_NEW(text, n + 1, d);
  if (n) memcpy(text, bytes, n);
  sw_rc rc = sw_ir_parse(file, text, n, &tree, d);
  if (!rc) rc = answer_tree(&tree, q, out, d);
  sw_ir_free(&tree);
  sw_mem_free(text);
  return rc;
}

static bool text_contains(const char *bytes, size_t n, const char *word) {
  return memmem(bytes, n, word, strlen(word));
}

/* What changes the text before it is propagated: groups in any layer, constraints when all of Shardy's is wanted. */
static const char *passes_before(const char *bytes, size_t n, const sw_propagation *how) {
  const bool groups = text_contains(bytes, n, "sdy.sharding_group");
  const bool constraints = how->layer == SW_LAYER_WHOLE && text_contains(bytes, n, "sdy.sharding_constraint");
  if (how->same_ops || !(groups || constraints)) return NULL;
  if (!groups) return "apply-sharding-constraints";
  return constraints ? "apply-sharding-constraints,separate-sharding-groups" : "separate-sharding-groups";
}

sw_rc sw_program_propagate(const char *file, const char *bytes, size_t n, const sw_propagation *how, sw_text *out,
                           sw_diag *d) {
  const char *passes = passes_before(bytes, n, how);
  if (!passes) return answer_on_text(file, bytes, n, &(question){how, propagated}, out, d);
  sw_text text = {0};
  sw_rc rc = sw_program_run_passes(file, bytes, n, passes, NULL, &text, d);
  if (!rc) rc = answer_on_text(file, sw_text_str(&text), text.n, &(question){how, propagated}, out, d);
  sw_text_free(&text);
  return rc;
}

sw_rc sw_program_rules(const char *file, const char *bytes, size_t n, sw_text *out, sw_diag *d) {
  return answer_on_text(file, bytes, n, &(question){.work = rules}, out, d);
}
