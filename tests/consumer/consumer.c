/* A program that uses shardwright::plan alone, in C and (consumer.cc) in C++: makes a graph in memory, plans it, reads
#include "support/job.h"
 * the shardings, and explains one by what the plan would cost with others.
 *
 *   y = tanh(x w1) w2 on 8 devices
 */
#include <shardwright/shardwright.h>
#include <string.h>

static sw_rc add_arg(sw_graph *g, const char *name, int64_t rows, int64_t columns, sw_value_kind kind, sw_id *out,
                     sw_diag *d) {
  const int64_t dims[] = {rows, columns};
  return sw_graph_add_arg(g, name, SW_F32, 2, dims, kind, SW_NOWHERE, out, d);
}

static sw_rc add_op(sw_graph *g, sw_opcode code, const char *name, sw_id a, sw_id b, sw_id *out, sw_diag *d) {
  const int64_t last = 1, first = 0;
  const sw_id operands[] = {a, b};
  sw_attr attrs[2];
  sw_op_spec spec;
  sw_id results[SW_MAX_RESULTS];
  memset(attrs, 0, sizeof attrs);
  memset(&spec, 0, sizeof spec);
  spec.code = code;
  spec.name = name;
  spec.operands = operands;
  spec.n_operands = b < 0 ? 1 : 2;
  if (code == SW_OP_DOT) {
    attrs[0].key = SW_ATTR_LHS_CONTRACT;
    attrs[0].u.ints.at = &last;
    attrs[1].key = SW_ATTR_RHS_CONTRACT;
    attrs[1].u.ints.at = &first;
    attrs[0].u.ints.n = attrs[1].u.ints.n = 1;
    spec.attrs = attrs;
    spec.n_attrs = 2;
  }
  SW_TRY(sw_graph_add_op(g, &spec, results, d));
  *out = results[0];
  return SW_OK;
}

static sw_rc make_graph(sw_graph *g, sw_diag *d) {
  sw_id x, w1, w2, h, t, y;
  SW_TRY(add_arg(g, "x", 64, 4096, SW_VALUE_INPUT, &x, d));
  SW_TRY(add_arg(g, "w1", 4096, 16384, SW_VALUE_PARAMETER, &w1, d));
  SW_TRY(add_arg(g, "w2", 16384, 4096, SW_VALUE_PARAMETER, &w2, d));
  SW_TRY(add_op(g, SW_OP_DOT, "h", x, w1, &h, d));
  SW_TRY(add_op(g, SW_OP_TANH, "t", h, -1, &t, d));
  SW_TRY(add_op(g, SW_OP_DOT, "y", t, w2, &y, d));
  SW_TRY(sw_graph_add_output(g, "y", y, -1, SW_NOWHERE, d));
  return sw_graph_seal(g, d);
}

/* Eight devices on a switch. */
static sw_rc make_machine(sw_arena *arena, sw_profile *p, sw_machine **out, sw_diag *d) {
  bool stated[SW_DTYPE_COUNT] = {false};
  memset(p, 0, sizeof *p);
  p->name = p->description = p->device_name = "example";
  p->memory_bytes = INT64_C(16) << 30;
  p->memory_bytes_per_s = 1e12;
  p->flop_per_s[SW_F32] = 1e13;
  stated[SW_F32] = true;
  sw_profile_complete_flops(p, stated);
  p->flop_fraction = p->memory_fraction = p->flop_fraction_8bit = 0.7;
  p->launch_s = 5e-6;
  p->exchange_peer_s = 1e-6;
  p->n_levels = 1;
  p->level[0].name = "switch";
  p->level[0].kind = SW_TOPOLOGY_SWITCH;
  p->level[0].n_dims = 1;
  p->level[0].dims[0] = 8;
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    p->level[0].line[c].base_s = 5e-6;
    p->level[0].line[c].s_per_byte = 1e-11;
  }
  p->n_meshes = 1;
  SW_TRY(sw_mesh_parse("d=8", arena, &p->mesh[0], d));
  SW_TRY(sw_profile_verify(p, d));
  return sw_machine_build(arena, p, &p->mesh[0], out, d);
}

static sw_rc print_shardings(const sw_plan *plan, sw_diag *d) {
  sw_text text = {0};
  SW_TRY(sw_plan_verify(plan, d));
  for (sw_id v = 0; v < plan->job.graph->n_values; v++) {
    sw_sharding s;
    sw_plan_value_sharding(plan, v, &s);
    sw_text_printf(&text, "%s ", plan->job.graph->values[v].name);
    sw_sharding_print(sw_machine_mesh(plan->job.machine), &s, &text);
    sw_text_puts(&text, "\n");
  }
  fputs(sw_text_str(&text), stdout);
  sw_text_free(&text);
  return SW_OK;
}

/* Why is w1 cut as it is? The plan is asked again with each other way of cutting it. None may cost less. */
static sw_rc explain(sw_planner *planner, const sw_plan *plan, sw_arena *arena, sw_diag *d) {
  static const char *const kWays[] = {"[[],[d]]", "[[d],[]]", "[[],[]]"};
  const sw_mesh *mesh = sw_machine_mesh(plan->job.machine);
  for (int i = 0; i < 3; i++) {
    sw_plan other;
    sw_pin pin;
    memset(&pin, 0, sizeof pin);
    pin.value = sw_graph_value_named(plan->job.graph, "w1");
    SW_TRY(sw_sharding_parse(mesh, 2, kWays[i], strlen(kWays[i]), SW_NOWHERE, arena, &pin.sharding, d));
    SW_TRY(sw_planner_ask(planner, 1, &pin, arena, &other, d));
    printf("w1 %s: %+.1f us\n", kWays[i],
           sw_cost_seconds(plan->job.machine, other.cost_units - plan->cost_units) * 1e6);
    if (other.cost_units < plan->cost_units) return SW_BUG(d, "the plan was not the cheapest");
  }
  return SW_OK;
}

static sw_rc run(sw_graph *g, sw_arena *arena, sw_planner **planner, sw_diag *d) {
  static sw_profile profile;
  sw_machine *machine;
  sw_job job;
  sw_plan plan;
  sw_plan_options options;
  memset(&options, 0, sizeof options);
  options.solve.threads = 1;
  SW_TRY(make_graph(g, d));
  SW_TRY(make_machine(arena, &profile, &machine, d));
  SW_TRY(sw_job_make("none", g->written, machine, arena, &job, d));
  SW_TRY(sw_planner_open(&job, &options, arena, planner, &plan, d));
  SW_TRY(print_shardings(&plan, d));
  return explain(*planner, &plan, arena, d);
}

int main(void) {
  sw_arena arena = {0};
  sw_diag d = {SW_OK};
  sw_graph *g = NULL;
  sw_planner *planner = NULL;
  sw_rc rc = sw_graph_create("example", &g, &d);
  if (!rc) rc = run(g, &arena, &planner, &d);
  if (rc) sw_diag_print(&d, stderr, true);
  sw_planner_close(planner);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
  return rc ? 1 : 0;
}
