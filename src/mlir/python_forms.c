/* Plans as Python: a module that a script imports.
 *
 *   from jax.sharding import PartitionSpec as P
 *   MESH = {"x": 2, "y": 4}
 *   ARGUMENTS = {"w1": P(None, "y"), ...}
 *
 * VALUES holds what ops give (with_sharding_constraint), keyed by value; USES what an op wants where that differs.
 */
#include <string.h>

#include "graph/said.h"
#include "io/json_write.h"
#include "shardwright/emit.h"

/* How one sharding of a tensor is spelled; false when the form cannot say it, with a reason. */
typedef bool (*speller)(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, sw_text *out, const char **why);

static bool spell_jax(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, sw_text *out, const char **why) {
  (void)dims; /* XLA pads what does not divide, but for arguments and outputs */
  *why = s->n_partial ? "partial over some axes" : sw_sharding_has_subaxes(m, s) ? "cut along part of an axis" : NULL;
  if (*why) return false;
  sw_text_puts(out, "P(");
  for (int k = 0; k < s->rank; k++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    if (k) sw_text_puts(out, ", ");
    if (n == 0) sw_text_puts(out, "None");
    if (n > 1) sw_text_puts(out, "(");
    for (int i = 0; i < n; i++) {
      const char *name = m->axis[refs[i].axis].name;
      if (i) sw_text_puts(out, ", ");
      sw_json_quote(out, name, strlen(name));
    }
    if (n > 1) sw_text_puts(out, ")");
  }
  sw_text_puts(out, ")");
  return true;
}

/* In how many parts axes behind it in the mesh have cut a dimension before the axis of ref i does. */
static int64_t cut_before(const sw_mesh *m, const sw_sharding *s, int i) {
  int64_t n = 1;
  for (int j = 0; j < i; j++) {
    if (s->dim_of[j] == s->dim_of[i] && s->refs[j].axis > s->refs[i].axis) n *= m->axis[s->refs[j].axis].size;
  }
  return n;
}

/* DTensor has one placement per mesh axis; several axes on one dimension nest in the order of the mesh, the blocks of
 * one cut again by the next, but for an axis that cuts within so many parts: that is our cut only where it is even. */
static bool spell_dtensor(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, sw_text *out, const char **why) {
  *why = sw_sharding_has_subaxes(m, s) ? "cut along part of an axis" : NULL;
  for (int i = 1; i < s->n_refs; i++) {
    if (s->dim_of[i] == s->dim_of[i - 1] && dims[s->dim_of[i]] % sw_sharding_shards(s, s->dim_of[i]))
      *why = "cut unevenly by several axes";
  }
  if (s->offsets) *why = "cut into blocks of its own";
  if (*why) return false;
  sw_text_puts(out, "[");
  for (int a = 0; a < m->n_axes; a++) {
    const char *sep = a ? ", " : "";
    int at = -1;
    for (int i = 0; i < s->n_refs + s->n_partial; i++) at = s->refs[i].axis == a ? i : at;
    if (at < 0) sw_text_printf(out, "%sReplicate()", sep);
    if (at >= 0 && at < s->n_refs) {
      const long long parts = (long long)cut_before(m, s, at);
      if (parts == 1) sw_text_printf(out, "%sShard(%d)", sep, s->dim_of[at]);
      if (parts > 1) sw_text_printf(out, "%s_StridedShard(%d, split_factor=%lld)", sep, s->dim_of[at], parts);
    }
    if (at >= s->n_refs) {
      sw_text_printf(out, "%sPartial(\"%s\")", sep, sw_reduction_text((sw_reduction)s->partial_kind));
    }
  }
  sw_text_puts(out, "]");
  return true;
}

typedef struct module {
  const sw_plan *p;
  speller spell;
  sw_text *out;
} module;

/* As it is said, if the form can say that. */
static void print_sharding_entry(const module *mod, const char *name, const sw_type *type, const sw_sharding *s,
                                 sw_sharding said) {
  const char *why;
  sw_text t = {0};
  bool ok = mod->spell(sw_machine_mesh(mod->p->job.machine), &said, type->dims, &t, &why) ||
            mod->spell(sw_machine_mesh(mod->p->job.machine), s, type->dims, &t, &why);
  sw_text_puts(mod->out, ok ? "    " : "    # ");
  sw_json_quote(mod->out, name, strlen(name));
  if (ok) sw_text_printf(mod->out, ": %s,\n", sw_text_str(&t));
  if (!ok) sw_text_printf(mod->out, " is %s: this form cannot say it\n", why);
  if (t.rc) mod->out->rc = t.rc;
  sw_text_free(&t);
}

static bool spell_use(const module *mod, const sw_op *op, int operand, const sw_sharding *want, sw_text *out) {
  const char *why;
  const int64_t *dims = sw_operand_type(mod->p->job.graph, op, operand)->dims;
  return mod->spell(sw_machine_mesh(mod->p->job.machine), want, dims, out, &why);
}

static void print_uses(const module *mod) {
  const sw_plan *p = mod->p;
  const sw_graph *g = p->job.graph;
  sw_text_puts(
      mod->out,
      "\n# What an op wants of an operand, where it differs from how the value is made: (op, operand).\nUSES = {\n");
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_operands; k++) {
      sw_sharding have, want;
      sw_text t = {0};
      sw_plan_value_sharding(p, op->operands[k], &have);
      sw_plan_use_sharding(p, (sw_value_use){i, k}, &want);
      if (!sw_sharding_equal(&have, &want) && spell_use(mod, op, k, &want, &t)) {
        sw_text_puts(mod->out, "    (");
        sw_json_quote(mod->out, op->name, strlen(op->name));
        sw_text_printf(mod->out, ", %d): %s,\n", k, sw_text_str(&t));
      }
      sw_text_free(&t);
    }
  }
  sw_text_puts(mod->out, "}\n");
}

static sw_rc print_module(const module *mod, const char *imports, sw_diag *d) {
  const sw_plan *p = mod->p;
  const sw_graph *g = p->job.graph;
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  sw_sharding s;
  sw_text_printf(mod->out, "# Shardings of %s, planned by shardwright for %s.\n%s\nMESH = {", g->name,
                 sw_profile_name(sw_machine_profile(p->job.machine)), imports);
  for (int a = 0; a < m->n_axes; a++) {
    sw_text_printf(mod->out, "%s\"%s\": %lld", a ? ", " : "", m->axis[a].name, (long long)m->axis[a].size);
  }
  sw_text_puts(mod->out, "}\n\nARGUMENTS = {\n");
  for (int32_t i = 0; i < g->n_args; i++)
    print_sharding_entry(mod, g->values[g->args[i]].name, &g->values[g->args[i]].type, &p->args[i],
                         sw_value_said(p->job.request, g->args[i], &p->args[i]));
  sw_text_puts(mod->out, "}\n\nOUTPUTS = {\n");
  for (int32_t i = 0; i < g->n_outputs; i++)
    print_sharding_entry(mod, g->output_names[i], &g->values[g->outputs[i]].type, &p->outputs[i],
                         sw_output_said(p->job.request, i, &p->outputs[i]));
  sw_text_puts(mod->out, "}\n\nVALUES = {\n");
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int r = 0; r < op->n_results; r++) {
      sw_plan_value_sharding(p, op->results[r], &s);
      print_sharding_entry(mod, g->values[op->results[r]].name, &g->values[op->results[r]].type, &s,
                           sw_value_said(p->job.request, op->results[r], &s));
    }
  }
  sw_text_puts(mod->out, "}\n");
  print_uses(mod);
  return mod->out->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : SW_OK;
}

/* What arrives and what is returned must be said. */
static sw_rc check_end(const module *mod, const char *what, const char *name, const sw_value *v, const sw_sharding *s,
                       sw_diag *d) {
  const char *why;
  sw_text t = {0};
  const bool ok = mod->spell(sw_machine_mesh(mod->p->job.machine), s, v->type.dims, &t, &why);
  sw_text_free(&t);
  return ok ? SW_OK : SW_FAIL(d, SW_E_INPUT, v->span, "%s '%s' is %s: this form cannot say it", what, name, why);
}

static sw_rc check_ends(const module *mod, sw_diag *d) {
  const sw_graph *g = mod->p->job.graph;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    SW_TRY(check_end(mod, "argument", v->name, v, &mod->p->args[i], d));
  }
  for (int32_t i = 0; i < g->n_outputs; i++)
    SW_TRY(check_end(mod, "output", g->output_names[i], &g->values[g->outputs[i]], &mod->p->outputs[i], d));
  return SW_OK;
}

sw_rc sw_emit_jax(const sw_plan *plan, sw_text *out, sw_diag *d) {
  module mod = {plan, spell_jax, out};
  SW_TRY(sw_plan_check_even(plan, NULL, d));
  SW_TRY(check_ends(&mod, d));
  return print_module(&mod, "from jax.sharding import PartitionSpec as P\n", d);
}

sw_rc sw_emit_dtensor(const sw_plan *plan, sw_text *out, sw_diag *d) {
  module mod = {plan, spell_dtensor, out};
  SW_TRY(check_ends(&mod, d));
  return print_module(&mod,
                      "from torch.distributed.tensor import Partial, Replicate, Shard\n"
                      "from torch.distributed.tensor.placement_types import _StridedShard\n",
                      d);
}
