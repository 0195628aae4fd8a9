/* Schedules other than the plain one: an op made again, micro-batches, stages. Each is planned, priced, partitioned and
 * run as the graphs of its stages are, and gives what the program gives.
 */
#include <math.h>
#include <pthread.h>

#include "graph/copy_op.h"
#include "shardwright/schedule.h"
#include "shardwright/validate.h"
#include "support/building.h"
#include "support/job.h"
#include "support/meshes.h"
#include "support/program.h"
#include "support/random_plan.h"
#include "support/same.h"

static sw_graph *program(const char *args, const char *ops, const char *outputs) {
  sw_graph *g;
  assert_ok(program_of(args, NULL, ops, outputs, &g, &diag));
  return g;
}

/* The entries of the program, in order. */
static sw_entry *own_entries(const sw_graph *g, int32_t room, sw_arena *arena) {
  sw_entry *entries = sw_arena_alloc(arena, (size_t)g->n_ops + (size_t)room, sizeof *entries, &diag);
  assert_non_null(entries);
  for (sw_id i = 0; i < g->n_ops; i++) entries[i].op = i;
  return entries;
}

static sw_rc make(const sw_graph *g, int32_t n, const sw_entry *entries, sw_arena *arena, sw_schedule *out) {
  const sw_schedule_spec spec = {.n_entries = n, .entries = entries, .n_stages = 1, .micro_batches = 1};
  return sw_schedule_make(g->written, &spec, arena, out, &diag);
}

static sw_rc search(const sw_graph *g, const sw_machine *m, int64_t capacity, sw_arena *arena, sw_plan *plan) {
  const sw_plan_options o = {.solve = {.work_limit = 50000000, .threads = 1}, .selection.capacity_bytes = capacity};
  return sw_plan_search(JOB(g, m), &o, arena, plan, &diag);
}

static int64_t peak_of(const sw_plan *plan, sw_arena *arena) {
  sw_breakdown b;
  assert_ok(sw_plan_breakdown(plan, arena, &b, &diag));
  assert_true(fabs(sw_cost_seconds(plan->job.machine, plan->cost_units) - b.total_s) < 1e-9 + 1e-3 * b.total_s);
  return b.peak_bytes;
}

/* --- the plain one ------------------------------------------------------------------------------------------------ */

static void a_plain_schedule_is_the_program(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_schedule s;
  sw_graph *g = program("a f32 8,8", "x = tanh(a); y = exponential(x)", "y");
  assert_ok(make(g, g->n_ops, own_entries(g, 0, &arena), &arena, &s));
  assert_ptr_equal(s.stages[0].graph, g);
  sw_schedule_deinit(&s);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* --- an op made again --------------------------------------------------------------------------------------------- */

static void an_op_is_made_again_for_its_last_reader(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_schedule s;
  sw_plan kept, again;
  sw_machine *m = machine_of("dgx-h100", "x=2", &arena);
  sw_graph *g = program("a f32 256,2; b f32 2,256",
                        "x = dot_general(a, b) 'lhs_contract':[1],'rhs_contract':[0]; "
                        "y = reduce(x) 'dims':[1],'kind':'sum'; "
                        "z = dot_general(y, y) 'lhs_contract':[],'rhs_contract':[]; w = tanh(z); "
                        "v = reduce(w) 'dims':[1],'kind':'sum'; "
                        "r = dot_general(x, v) 'lhs_contract':[1],'rhs_contract':[0]",
                        "r");
  const sw_id x = 0, last = g->n_ops - 1;
  sw_entry *entries = own_entries(g, 1, &arena);
  entries[last] = (sw_entry){.op = x, .instance = 1};
  entries[last + 1] = (sw_entry){.op = last};
  assert_ok(make(g, g->n_ops + 1, entries, &arena, &s));
  const sw_graph *made = s.stages[0].graph;
  assert_int_equal(made->n_ops, g->n_ops + 1);
  assert_int_equal(s.stages[0].entry[last], last);
  assert_string_equal(made->values[made->ops[last + 1].operands[0]].name, "x.again");

  assert_ok(search(g, m, INT64_MAX, &arena, &kept));
  assert_ok(search(made, m, INT64_MAX, &arena, &again));
  const int64_t held = peak_of(&kept, &arena), less = peak_of(&again, &arena);
  assert_true(again.cost_units > kept.cost_units);
  gives_the_same(&again, g, &arena);

  /* Under a limit between the two the program has no plan as it is. */
  const int64_t limit = (held + less) / 4; /* of one of two devices, each with half of everything */
  print_message("x kept: %lld bytes; made again: %lld\n", (long long)held, (long long)less);
  assert_true(less < held);
  assert_int_equal(search(g, m, limit, &arena, &kept), SW_E_INFEASIBLE);
  assert_ok(search(made, m, limit, &arena, &again));
  assert_true(peak_of(&again, &arena) <= limit);
  gives_the_same(&again, g, &arena);
  sw_schedule_deinit(&s);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void wrong_lists_are_refused(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_schedule s;
  sw_graph *g = program("a f32 8,8", "x = tanh(a); y = exponential(x)", "y");
  sw_entry *e = own_entries(g, 1, &arena);
  assert_int_equal(make(g, 1, e, &arena, &s), SW_E_INPUT); /* one is missing */
  e[2] = (sw_entry){.op = 1};
  assert_int_equal(make(g, 3, e, &arena, &s), SW_E_INPUT); /* twice */
  e[0].op = 1;
  e[1].op = 0;
  assert_int_equal(make(g, 2, e, &arena, &s), SW_E_INPUT); /* before what it reads */
  assert_non_null(strstr(diag.text, "'op1' stands before 'x'"));
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* What is asked of uses goes where they read: of one that reads the copy, to the copy. */
static void requests_follow_sources(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_schedule s;
  sw_mesh mesh;
  sw_graph *plain = program("a f32 8,8", "x = tanh(a); y = exponential(x); z = add(x, y)", "x, z"), *g;
  assert_ok(sw_mesh_parse("x=2", &arena, &mesh, &diag));
  assert_ok(sw_graph_create("asked", &g, &diag));
  sw_graph_set_mesh(g, &mesh);
  sw_id *now = sw_arena_alloc(&arena, (size_t)plain->n_values, sizeof *now, &diag);
  assert_ok(sw_graph_copy_args(g, plain, now, &diag));
  for (sw_id i = 0; i < plain->n_ops; i++) assert_ok(sw_graph_copy_op(g, plain, &plain->ops[i], now, &arena, &diag));
  for (int i = 0; i < 2; i++) assert_ok(sw_graph_add_output(g, NULL, now[plain->outputs[i]], -1, SW_NOWHERE, &diag));
  sw_annotation uses = {.value = now[1], .op = -1, .required = true, .for_users = true};
  uses.sharding = sw_sharding_replicated(2);
  assert_true(sw_sharding_push(&uses.sharding, 0, sw_axis_whole(&mesh, 0)));
  assert_ok(sw_graph_add_annotation(g, &uses, &diag));
  assert_ok(sw_graph_seal(g, &diag));
  sw_entry *e = own_entries(g, 1, &arena);
  e[2] = (sw_entry){.op = 0, .instance = 1};
  e[3] = (sw_entry){.op = 2};
  assert_ok(make(g, 4, e, &arena, &s));
  const sw_request *r = s.stages[0].graph->written;
  assert_int_equal(r->n_annotations, 2); /* y reads x itself; z and the output read it as it is made again */
  assert_int_equal(r->annotations[0].n_users + r->annotations[1].n_users, 3);
  for (int i = 0; i < 2; i++) {
    const bool again = strcmp(s.stages[0].graph->values[r->annotations[i].value].name, "x.again") == 0;
    assert_int_equal(r->annotations[i].n_users, again ? 2 : 1);
  }
  sw_schedule_deinit(&s);
  sw_graph_destroy(g);
  sw_graph_destroy(plain);
  sw_arena_deinit(&arena);
}

/* --- micro-batches ------------------------------------------------------------------------------------------------ */

typedef struct batched {
  const char *args, *ops, *outputs;
  int64_t micro_batches;
} batched;

static void check_batched(const batched *b) {
  sw_arena arena = {0};
  sw_schedule s;
  sw_plan whole, parts;
  sw_machine *m = machine_of("dgx-h100", "x=2", &arena);
  sw_graph *g = program(b->args, b->ops, b->outputs);
  sw_entry *entries = own_entries(g, 0, &arena);
  for (sw_id i = 0; i < g->n_ops; i++) entries[i].slot = SW_SLOT_EACH;
  const sw_slot_cut cut = {g->args[0], 0};
  const sw_schedule_spec spec = {g->n_ops, entries, 1, b->micro_batches, 1, &cut};
  assert_ok(sw_schedule_make(g->written, &spec, &arena, &s, &diag));
  assert_ok(search(g, m, INT64_MAX, &arena, &whole));
  assert_ok(search(s.stages[0].graph, m, INT64_MAX, &arena, &parts));
  print_message("%s, %lld micro-batches: %lld -> %lld bytes\n", b->ops, (long long)b->micro_batches,
                (long long)peak_of(&whole, &arena), (long long)peak_of(&parts, &arena));
  gives_the_same(&parts, g, &arena);
  sw_schedule_deinit(&s);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

static void micro_batches_add_up(void **state) {
  (void)state;
  static const batched kAll[] = {
      {"x f32 8,4; w f32 4,6",
       "y = dot_general(x, w) 'lhs_contract':[1],'rhs_contract':[0]; h = tanh(y); q = multiply(h, h); l = reduce(q) "
       "'dims':[0,1],'kind':'sum'",
       "l", 2},
      {"x f32 7,4; w f32 4,6",
       "y = dot_general(x, w) 'lhs_contract':[1],'rhs_contract':[0]; h = tanh(y); q = multiply(h, h); l = reduce(q) "
       "'dims':[0,1],'kind':'sum'",
       "l", 2},
      /* a gradient is a sum, a prediction has its rows, and what is read with them is sliced */
      {"x f32 12,4; w f32 4,6; t f32 12,6",
       "y = dot_general(x, w) 'lhs_contract':[1],'rhs_contract':[0]; e = subtract(y, t); g = dot_general(x, e) "
       "'lhs_contract':[0],'rhs_contract':[0]; n = negate(g)",
       "n, y", 4},
      {"x f32 10,4; w f32 4,6; t f32 10,6",
       "y = dot_general(x, w) 'lhs_contract':[1],'rhs_contract':[0]; e = subtract(y, t); g = dot_general(x, e) "
       "'lhs_contract':[0],'rhs_contract':[0]; n = negate(g)",
       "n, y", 4},
  };
  for (size_t i = 0; i < sizeof kAll / sizeof *kAll; i++) check_batched(&kAll[i]);
}

static void what_needs_the_batch_is_refused(void **state) {
  (void)state;
  static const struct {
    const char *ops, *outputs, *why;
  } kAll[] = {
      {"y = tanh(x); m = reduce(y) 'dims':[0],'kind':'max'", "m", "needs all of the dim"},
      {"s = reduce(x) 'dims':[0],'kind':'sum'; t = exponential(s)", "t", "reads a sum"},
      {"y = tanh(x); z = exponential(w)", "y, z", "is the same in each"},
  };
  for (size_t i = 0; i < sizeof kAll / sizeof *kAll; i++) {
    sw_arena arena = {0};
    sw_schedule s;
    sw_graph *g = program("x f32 8,4; w f32 4", kAll[i].ops, kAll[i].outputs);
    sw_entry *entries = own_entries(g, 0, &arena);
    for (sw_id k = 0; k < g->n_ops; k++) entries[k].slot = SW_SLOT_EACH;
    const sw_slot_cut cut = {g->args[0], 0};
    const sw_schedule_spec spec = {g->n_ops, entries, 1, 2, 1, &cut};
    assert_int_equal(sw_schedule_make(g->written, &spec, &arena, &s, &diag), SW_E_INPUT);
    if (!strstr(diag.text, kAll[i].why)) fail_msg("'%s': %s", kAll[i].ops, diag.text);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* --- any schedule, of models that train ------------------------------------------------------------------------------
 */

/* Before some readers what they read is made again. */
static int32_t draw_copies(const sw_graph *g, sw_rng *r, sw_entry *out, int32_t most, sw_arena *arena) {
  int32_t n = 0, *instance = sw_arena_alloc(arena, (size_t)g->n_ops + 1, sizeof *instance, &diag);
  assert_non_null(instance);
  for (sw_id i = 0; i < g->n_ops; i++) {
    for (int k = 0; k < g->ops[i].n_operands && n + g->n_ops - i < most; k++) {
      const sw_id def = g->values[g->ops[i].operands[k]].def;
      if (def < 0 || sw_rng_below(r, 4) || sw_op_class_of(g->ops[def].code) == SW_OPS_CONTROL || g->ops[def].frame >= 0)
        continue;
      out[n++] = (sw_entry){.op = def, .instance = ++instance[def]};
    }
    out[n++] = (sw_entry){.op = i};
  }
  return n;
}

static void copies_change_no_number(void **state) {
  (void)state;
  static const char *const kModels[] = {"mlp-train", "gpt2", "conv-train", "moe-layers-train"};
  sw_rng r;
  int copies = 0;
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < check_scale(8); k++) {
    sw_arena arena = {0};
    sw_schedule s;
    sw_plan plan;
    sw_graph *g = small_model(kModels[k % 4]);
    const sw_machine *m = machine_of("dgx-h100", k % 2 ? "x=2" : "x=2,y=2", &arena);
    sw_entry *entries = own_entries(g, g->n_ops, &arena);
    const int32_t n = draw_copies(g, &r, entries, 2 * g->n_ops, &arena);
    assert_ok(make(g, n, entries, &arena, &s));
    assert_int_equal(s.stages[0].graph->n_ops, n);
    copies += n - g->n_ops;
    if (random_plan(JOB(s.stages[0].graph, m), &r, &arena, &plan, NULL) == SW_OK) gives_the_same(&plan, g, &arena);
    sw_schedule_deinit(&s);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(copies > 0);
}

/* --- stages ------------------------------------------------------------------------------------------------------- */

/* Runs a stage on its devices; its outputs are the caller's. */
static void run_stage(const sw_plan *plan, const sw_tensor *in, sw_tensor *out, sw_arena *arena) {
  sw_validation v;
  assert_ok(sw_validate(plan, &(sw_validate_options){.timeout_s = 60, .inputs = in, .outputs = out}, arena, &v, &diag));
  assert_true(v.matches);
}

static void two_stages_send_one_value(void **state) {
  (void)state;
  sw_arena arena = {0};
  sw_schedule s;
  sw_plan plans[2], plain;
  sw_breakdown b[2], alone;
  sw_tensor args[3], sent[1], result[1], expected[1];
  sw_machine *m[2] = {machine_of("dgx-h100", "x=2", &arena), machine_of("dgx-h100", "y=2,z=2", &arena)};
  sw_graph *g = program("x f32 8,4; w f32 4,6; v f32 6,4",
                        "y = dot_general(x, w) 'lhs_contract':[1],'rhs_contract':[0]; h = tanh(y); z = dot_general(h, "
                        "v) 'lhs_contract':[1],'rhs_contract':[0]; r = exponential(z)",
                        "r");
  sw_entry *entries = own_entries(g, 0, &arena);
  entries[2].stage = entries[3].stage = 1;
  const sw_schedule_spec spec = {.n_entries = g->n_ops, .entries = entries, .n_stages = 2, .micro_batches = 1};
  assert_ok(sw_schedule_make(g->written, &spec, &arena, &s, &diag));
  assert_int_equal(s.stages[0].graph->n_args, 2);
  assert_int_equal(s.stages[1].graph->n_args, 2);
  const bool first_is_sent = !strcmp(g->values[s.stages[1].args[0]].name, "h");
  assert_string_equal(g->values[s.stages[1].args[first_is_sent ? 0 : 1]].name, "h");
  for (int k = 0; k < 2; k++) {
    assert_ok(search(s.stages[k].graph, m[k], INT64_MAX, &arena, &plans[k]));
    assert_ok(sw_plan_breakdown(&plans[k], &arena, &b[k], &diag));
  }

  assert_ok(sw_make_arguments(g, 3, false, args, &diag));
  run_stage(&plans[0], args, sent, &arena);
  const sw_tensor second[2] = {first_is_sent ? sent[0] : args[2], first_is_sent ? args[2] : sent[0]};
  run_stage(&plans[1], second, result, &arena);
  assert_ok(search(g, m[0], INT64_MAX, &arena, &plain));
  assert_ok(sw_plan_breakdown(&plain, &arena, &alone, &diag));
  run_stage(&plain, args, expected, &arena);
  const float *is = result[0].data, *want = expected[0].data;
  for (int i = 0; i < 8 * 4; i++) assert_true(fabsf(is[i] - want[i]) <= 1e-5f * fabsf(want[i]));
  assert_true(b[0].param_bytes + b[1].param_bytes <= 2 * (alone.param_bytes + 1));
  for (int i = 0; i < 3; i++) sw_tensor_deinit(&args[i]);
  sw_tensor_deinit(sent);
  sw_tensor_deinit(result);
  sw_tensor_deinit(expected);
  sw_schedule_deinit(&s);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
}

/* --- requests ----------------------------------------------------------------------------------------------------- */

typedef struct asked {
  const sw_graph *g;
  sw_request request; /* with a pin of its own */
  sw_annotation pin;
  sw_machine *machine;
  sw_arena arena;
  int64_t cost;
  sw_rc rc;
} asked;

static void ask_for(asked *a, const sw_graph *g, int dim) {
  a->g = g;
  a->machine = machine_of("dgx-h100", "x=2", &a->arena);
  a->pin = (sw_annotation){.value = g->args[0], .op = -1, .required = true, .sharding = sw_sharding_replicated(2)};
  assert_true(sw_sharding_push(&a->pin.sharding, dim, sw_axis_whole(sw_machine_mesh(a->machine), 0)));
  a->request = *g->written;
  a->request.n_annotations = 1;
  a->request.annotations = &a->pin;
}

static void *plan_asked(void *user) {
  asked *a = user;
  const sw_job job = {a->g, &a->request, NULL, a->machine};
  const sw_plan_options o = {.solve = {.work_limit = 50000000, .threads = 1}};
  sw_plan plan;
  a->rc = sw_plan_search(&job, &o, &a->arena, &plan, NULL);
  if (!a->rc && !sw_sharding_equal(&plan.args[0], &a->pin.sharding)) a->rc = SW_E_MISMATCH;
  a->cost = a->rc ? -1 : plan.cost_units;
  return NULL;
}

static void two_requests_over_one_program_are_planned_at_once(void **state) {
  (void)state;
  sw_graph *g = small_model("mlp-train");
  asked alone[2] = {{0}}, both[2] = {{0}};
  pthread_t thread[2];
  for (int k = 0; k < 2; k++) {
    ask_for(&alone[k], g, k);
    ask_for(&both[k], g, k);
    plan_asked(&alone[k]);
    assert_ok(alone[k].rc);
  }
  for (int k = 0; k < 2; k++) assert_int_equal(pthread_create(&thread[k], NULL, plan_asked, &both[k]), 0);
  for (int k = 0; k < 2; k++) assert_int_equal(pthread_join(thread[k], NULL), 0);
  for (int k = 0; k < 2; k++) {
    assert_ok(both[k].rc);
    assert_int_equal(both[k].cost, alone[k].cost);
    sw_arena_deinit(&alone[k].arena);
    sw_arena_deinit(&both[k].arena);
  }
  sw_graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_plain_schedule_is_the_program),
      cmocka_unit_test(an_op_is_made_again_for_its_last_reader),
      cmocka_unit_test(wrong_lists_are_refused),
      cmocka_unit_test(requests_follow_sources),
      cmocka_unit_test(micro_batches_add_up),
      cmocka_unit_test(what_needs_the_batch_is_refused),
      cmocka_unit_test(copies_change_no_number),
      cmocka_unit_test(two_requests_over_one_program_are_planned_at_once),
      cmocka_unit_test(two_stages_send_one_value),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
