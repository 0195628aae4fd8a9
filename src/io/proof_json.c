/* Writer of what proves a plan's bound (plan_json.h). */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "io/json_write.h"
#include "shardwright/iopddl.h"
#include "shardwright/plan_json.h"

static void write_weights(const sw_plan_proof *p, sw_json_out *o) {
  const sw_bound_weights *w = &p->weights;
  int n_levels = 0;
  while (n_levels < SW_MAX_LEVELS && p->links >> n_levels & 1) n_levels++;
  sw_jw_object(o, "weights");
  sw_jw_i64(o, "of", w->of);
  sw_jw_i64(o, p->timed ? "kernels" : "sum", w->kernels);
  if (p->timed) {
    sw_jw_i64(o, "launches", w->launches);
    sw_jw_i64_list(o, "levels", w->link, n_levels);
    sw_jw_i64_list(o, "kernels_beside", w->beside, n_levels);
    if (p->links >> SW_LINK_TO_HOST & 1) sw_jw_i64(o, "to_host", w->link[SW_LINK_TO_HOST]);
    if (p->links >> SW_LINK_FROM_HOST & 1) sw_jw_i64(o, "from_host", w->link[SW_LINK_FROM_HOST]);
  }
  sw_jw_end(o);
}

static void write_choice(const sw_job *j, const sw_plan *of, int32_t node, sw_json_out *o) {
  const sw_graph *g = j->graph;
  const sw_mesh *m = sw_machine_mesh(j->machine);
  const sw_id op = node - g->n_args, output = op - g->n_ops;
  sw_text t = {0};
  if (op < 0)
    sw_sharding_print(m, &of->args[node], &t);
  else if (output >= 0)
    sw_sharding_print(m, &of->outputs[output], &t);
  else
    sw_strategy_print(m, g->ops[op].nest, &of->ops[op], &t);
  sw_jw_text(o, NULL, &t);
}

/* Of the nodes that are arguments, ops and outputs; further ones have no choices of a plan's. */
static void write_nodes(const sw_plan_proof *p, sw_json_out *o) {
  const sw_job *j = &p->choices[0].job;
  const sw_graph *g = j->graph;
  sw_jw_array(o, "nodes");
  for (int32_t i = 0; i < g->n_args + g->n_ops + g->n_outputs && i < p->problem.n_nodes; i++) {
    const sw_id op = i - g->n_args, output = op - g->n_ops;
    sw_jw_object_row(o, NULL);
    if (op < 0) sw_jw_string(o, "argument", g->values[g->args[i]].name);
    if (op >= 0 && output < 0) sw_jw_string(o, "op", g->ops[op].name);
    if (output >= 0) sw_jw_string(o, "output", g->output_names[output]);
    sw_jw_array(o, "choices");
    for (int32_t c = 0; c < p->problem.nodes[i].n_choices; c++) write_choice(j, &p->choices[c], i, o);
    sw_jw_end(o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void print_proof(const sw_plan_proof *p, sw_text *out) {
  const sw_machine *m = p->choices[0].job.machine;
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "bound", 1);
  sw_jw_f64(&o, "seconds", p->bound_s);
  sw_jw_i64(&o, "bound", p->bound_units);
  sw_jw_i64(&o, "beside_time", p->beside_units);
  sw_jw_f64(&o, "units_per_s", sw_cost_units_per_s(m));
  sw_jw_i64(&o, "unit_of_weights", SW_WEIGHT_UNIT);
  write_weights(p, &o);
  if (p->pruned_inexact) sw_jw_i64(&o, "strategies_left_out", p->pruned_inexact);
  write_nodes(p, &o);
  sw_jw_end(&o);
}

static sw_rc save_in(const char *dir, const char *name, const char *bytes, size_t n, sw_diag *d) {
  sw_text path = {0};
  sw_text_printf(&path, "%s/%s", dir, name);
  const sw_rc rc =
      path.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : sw_file_write(sw_text_str(&path), bytes, n, d);
  sw_text_free(&path);
  return rc;
}

sw_rc sw_proof_write(const sw_plan_proof *p, const char *dir, sw_diag *d) {
  sw_text problem = {0}, solution = {0}, bound = {0};
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return SW_FAIL(d, SW_E_RESOURCE, ((sw_span){dir, 0, 0}), "cannot make the folder: %s", strerror(errno));
  sw_iopddl_print_solution(p->choice, p->problem.n_nodes, &solution);
  print_proof(p, &bound);
  sw_rc rc = sw_iopddl_print(&p->problem, &problem, d);
  if (!rc && (solution.rc || bound.rc || problem.rc)) rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  if (!rc) rc = save_in(dir, "problem.json", sw_text_str(&problem), problem.n, d);
  if (!rc) rc = save_in(dir, "solution.txt", sw_text_str(&solution), solution.n, d);
  if (!rc) rc = save_in(dir, "bound.json", sw_text_str(&bound), bound.n, d);
  if (!rc) rc = save_in(dir, "certificate.txt", p->certificate, strlen(p->certificate), d);
  sw_text_free(&problem);
  sw_text_free(&solution);
  sw_text_free(&bound);
  return rc;
}
