/* An SPMD program from text, compared with the whole program that it was made of: every device's block of every output
 * is looked up in one device's result.
 */
#include <string.h>

#include "exec/roundings.h"
#include "shardwright/validate.h"

enum { BLURRED_RUNS = 2 };

typedef struct validator {
  const sw_local_program *p;
  const sw_local_validate_options *o;
  sw_single sharp;
  sw_roundings roundings; /* with `rerun` */
  sw_tensor *blocks;      /* devices * n_outputs */
  sw_arena *arena;
  sw_validation *out;
} validator;

static const sw_function *main_of(const sw_graph *g) { return &g->functions[g->main]; }

/* --- do the two fit? ---------------------------------------------------------------------------------------------- */

static sw_rc check_type(const char *what, const char *name, const sw_local_border *b, const sw_type *whole,
                        sw_diag *d) {
  if (sw_type_equal(&b->whole, whole)) return SW_OK;
  sw_text here = {0};
  sw_type_print(&b->whole, &here);
  sw_text_puts(&here, ", in the whole program ");
  sw_type_print(whole, &here);
  sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE, "%s '%s' is %s%s", what, name, sw_text_str(&here),
                           b->said ? "" : ", and nothing says how it is cut");
  sw_text_free(&here);
  return rc;
}

static sw_rc check_fit(const sw_local_program *p, const sw_graph *g, sw_diag *d) {
  const sw_function *f = main_of(g), *own = main_of(p->graph);
  if (f->n_args != own->n_args || f->n_outputs != own->n_outputs) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the program has %d arguments and %d results, the whole one %d and %d",
                         own->n_args, own->n_outputs, f->n_args, f->n_outputs);
  }
  for (int32_t i = 0; i < f->n_args; i++) {
    const sw_value *x = &g->values[f->args[i]];
    SW_TRY(check_type("argument", x->name, &p->args[i], &x->type, d));
  }
  for (int32_t i = 0; i < f->n_outputs; i++) {
    SW_TRY(check_type("result", f->output_names[i], &p->outputs[i], &g->values[f->outputs[i]].type, d));
  }
  return SW_OK;
}

/* --- judgement ---------------------------------------------------------------------------------------------------- */

static sw_rc judge_output(validator *v, int32_t i, sw_validate_entry *e, sw_diag *d) {
  const sw_local_program *p = v->p;
  sw_cut c = {.mesh = &p->mesh,
              .sharding = &p->outputs[i].sharding,
              .whole = &v->sharp.want[i],
              .position = p->position,
              .end = p->devices,
              .stride = v->out->n_outputs};
  return sw_roundings_judge(&v->roundings, &v->sharp, i, &c, v->blocks + i, e, v->out, d);
}

static sw_rc judge(validator *v, sw_diag *d) {
  sw_validate_entry *entries;
  v->out->n_outputs = main_of(v->sharp.graph)->n_outputs;
  SW_ARENA_NEW(entries, v->arena, v->out->n_outputs, d);
  v->out->outputs = entries;
  v->out->matches = true;
  for (int32_t i = 0; i < v->out->n_outputs; i++) SW_TRY(judge_output(v, i, &entries[i], d));
  return v->o->outputs ? sw_local_join(v->p, v->blocks, v->o->outputs, NULL, d) : SW_OK;
}

static sw_rc run(validator *v, const sw_graph *whole, sw_diag *d) {
  const sw_local_validate_options *o = v->o;
  sw_single_options single = {o->inputs, o->seed, o->random_floats, o->rerun, o->run.cancel};
  sw_local_stats stats;
  SW_TRY(check_fit(v->p, whole, d));
  SW_ARENA_NEW(v->blocks, v->arena, v->p->devices * main_of(whole)->n_outputs, d);
  SW_TRY(sw_single_run(whole, &single, v->arena, &v->sharp, d));
  if (o->rerun) SW_TRY(sw_roundings_init(&v->roundings, &v->sharp, v->arena, d));
  if (o->rerun && !v->sharp.exact) {
    SW_TRY(sw_roundings_blur(&v->roundings, BLURRED_RUNS, o->run.cancel, v->arena, d));
  }
  SW_TRY(sw_local_run(v->p, v->sharp.args, &o->run, v->blocks, &stats, d));
  v->out->exact = v->sharp.exact;
  v->out->single_s = v->sharp.seconds;
  v->out->parallel_s = stats.seconds;
  v->out->comm = stats.comm;
  v->out->collectives = v->p->n_calls;
  return judge(v, d);
}

sw_rc sw_local_validate(const sw_local_program *p, const sw_graph *whole, const sw_local_validate_options *o,
                        sw_arena *arena, sw_validation *out, sw_diag *d) {
  validator v = {.p = p, .o = o, .out = out, .arena = arena};
  *out = (sw_validation){0};
  sw_rc rc = run(&v, whole, d);
  for (int64_t i = 0; v.blocks && i < p->devices * main_of(p->graph)->n_outputs; i++) sw_tensor_deinit(&v.blocks[i]);
  sw_roundings_deinit(&v.roundings);
  sw_single_deinit(&v.sharp);
  return rc;
}
