/* What is made again, chosen with the shardings: against all choices, one by one, and executed. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen/gen.h"
#include "plan/choices.h"
#include "shardwright/schedule.h"
#include "support/dag.h"
#include "support/job.h"
#include "support/meshes.h"
#include "support/random_plan.h"
#include "support/same.h"

/* Training steps whose widths are so far apart that what is kept is most of what they hold. */
static const struct {
  const char *arch;
  sw_gen_arg args[12];
} kSteps[] = {
    {"mlp", {{"mode", "train"}, {"layers", "3"}, {"hidden", "8"}, {"batch", "512"}}},
    {"mlp",
     {{"mode", "train"}, {"layers", "2"}, {"hidden", "16"}, {"batch", "384"}, {"optimizer", "adam"}, {"bias", "yes"}}},
    {"gpt2",
     {{"mode", "train"},
      {"layers", "2"},
      {"hidden", "16"},
      {"heads", "2"},
      {"vocab", "32"},
      {"seq", "16"},
      {"batch", "8"}}},
    {"llama3",
     {{"mode", "train"},
      {"layers", "2"},
      {"hidden", "16"},
      {"heads", "4"},
      {"kv-heads", "2"},
      {"ffn", "24"},
      {"vocab", "32"},
      {"seq", "16"},
      {"batch", "8"},
      {"dtype", "f32"},
      {"attention", "fused"}}},
    {"gpt2",
     {{"mode", "train"},
      {"layers", "3"},
      {"hidden", "16"},
      {"heads", "4"},
      {"vocab", "32"},
      {"seq", "16"},
      {"batch", "32"}, /* the state of random numbers is small beside scores */
      {"dropout", "10"}}},
};
enum { N_STEPS = sizeof kSteps / sizeof kSteps[0], N_SMALL = 2, DROPS_OUT = N_STEPS - 1, FUSES = 3 };

static sw_graph *step_of(int k) {
  sw_graph *g;
  int n = 0;
  while (kSteps[k].args[n].name) n++;
  assert_ok(sw_gen_model(kSteps[k].arch, kSteps[k].args, n, &g, &diag));
  return g;
}

static void schedule_of(const sw_graph *g, sw_recompute how, sw_arena *arena, sw_schedule *out) {
  sw_schedule_spec spec;
  assert_ok(sw_recompute_spec(g, how, true, arena, &spec, &diag));
  bool *dear = sw_arena_alloc(arena, (size_t)g->n_ops + 1, sizeof *dear, &diag);
  assert_non_null(dear);
  for (sw_id i = 0; i < g->n_ops; i++) dear[i] = sw_op_class_of(g->ops[i].code) == SW_OPS_CONTRACTION;
  if (how == SW_RECOMPUTE_SEARCH) assert_ok(sw_schedule_offer_host(g, dear, arena, &spec, &diag));
  assert_ok(sw_schedule_make(g->written, &spec, arena, out, &diag));
}

static const sw_entry *entry_of(const sw_schedule *s, sw_id op) { return &s->spec.entries[s->stages[0].entry[op]]; }

/* What a source takes: what is offloaded as it is fetched. */
static int8_t source_takes(const sw_graph *g, sw_id op, const sw_entry *e, bool offloaded, const int8_t *takes) {
  const sw_op *o = &g->ops[op];
  if (!sw_entry_is_keep(e)) return offloaded ? 0 : -1;
  if (o->n_operands == 1) return 0;
  if (offloaded && e->or_fetched) return (int8_t)o->n_operands;
  return e->source == SW_SOURCE_EITHER && takes[g->values[o->operands[0]].def] < 0 ? 2 : 1;
}

/* What each op takes where the copies of these bits run, in order, the values of those bits are offloaded, and all else
 * is kept that one of them or the program reads. Returns how many copies there can be. */
static int takes_of(const sw_schedule *s, uint64_t copies, uint64_t offloaded, int8_t *takes) {
  const sw_graph *g = s->stages[0].graph;
  int n = 0;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_entry *e = entry_of(s, i);
    takes[i] = e->source ? source_takes(g, i, e, offloaded >> e->value % 64 & 1, takes) : 0;
    if (e->source || !e->optional) continue;
    takes[i] = copies >> n % 64 & 1 ? 0 : -1;
    n++;
  }
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_entry *e = entry_of(s, i);
    bool read = false;
    for (int k = 0; k < g->ops[i].n_results; k++) {
      const sw_value *v = &g->values[g->ops[i].results[k]];
      for (int32_t u = 0; u < v->n_uses; u++)
        read = read || takes[v->uses[u].op] == 0 || takes[v->uses[u].op] == v->uses[u].index + 1;
    }
    if (e->source && e->optional && !read) takes[i] = -1;
  }
  return n;
}

/* --- executed ----------------------------------------------------------------------------------------------------- */

/* The schedule under a random plan; false: it has none. */
static bool runs_as_the_program(const sw_graph *g, const sw_schedule *s, const char *mesh, sw_rng *r) {
  sw_arena arena = {0};
  sw_plan plan;
  const sw_machine *m = machine_of("dgx-h100", mesh, &arena);
  const bool any = random_plan(JOB(s->stages[0].graph, m), r, &arena, &plan, NULL) == SW_OK;
  if (any) gives_the_same(&plan, g, &arena);
  sw_arena_deinit(&arena);
  return any;
}

/* Of a step: plans run, with how much made again and offloaded in their schedules. */
typedef struct tally {
  int plans, copies, offloaded, with_offloads;
} tally;

/* Some copies, and some values offloaded as a rule. */
static void random_choice(const sw_schedule *choices, sw_rng *r, sw_arena *arena, tally *t, sw_schedule *out) {
  sw_schedule_spec spec;
  tally now = {0};
  int8_t *takes = sw_arena_alloc(arena, (size_t)choices->stages[0].graph->n_ops, 1, &diag);
  assert_non_null(takes);
  while (!now.copies) {
    const uint64_t bits = sw_rng_next(r), half = sw_rng_next(r);
    now = (tally){0};
    (void)takes_of(choices, bits, half & sw_rng_next(r), takes);
    assert_ok(sw_schedule_chosen(choices, takes, arena, &spec, &diag));
    for (int32_t i = 0; i < spec.n_entries; i++) now.copies += sw_entry_is_copy(&spec.entries[i]);
    for (int32_t i = 0; i < spec.n_entries; i++) now.offloaded += spec.entries[i].source == SW_SOURCE_OFFLOADED;
  }
  assert_ok(sw_schedule_make(choices->written, &spec, arena, out, &diag));
  t->copies += now.copies;
  t->offloaded += now.offloaded;
  t->with_offloads += now.offloaded > 0;
}

static void random_choices_run_as_the_program(void **state) {
  (void)state;
  sw_rng r;
  const int n = check_scale(12);
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < N_STEPS && k < n; k++) {
    sw_arena arena = {0};
    sw_schedule choices;
    tally t = {0};
    sw_graph *g = step_of(k);
    schedule_of(g, SW_RECOMPUTE_SEARCH, &arena, &choices);
    while (t.plans < (n - k + N_STEPS - 1) / N_STEPS) {
      sw_arena mem = {0};
      sw_schedule s;
      random_choice(&choices, &r, &mem, &t, &s);
      assert_true(runs_as_the_program(g, &s, t.plans % 2 ? "x=3" : "x=2,y=2", &r));
      t.plans++;
      sw_schedule_deinit(&s);
      sw_arena_deinit(&mem);
    }
    print_message("%-7s %d ops: %d plans run, %d copies of ops in their schedules; %d values offloaded, in %d plans\n",
                  kSteps[k].arch, g->n_ops, t.plans, t.copies, t.offloaded, t.with_offloads);
    assert_true(t.copies >= t.plans && (t.plans < 100 || t.offloaded > 0));
    sw_schedule_deinit(&choices);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

static void policies_run_as_the_program(void **state) {
  (void)state;
  sw_rng r;
  int run = 0;
  sw_rng_seed(&r, check_seed(2));
  for (int k = 0; k < check_scale(3 * N_STEPS); k++) {
    sw_arena arena = {0};
    sw_schedule s;
    sw_graph *g = step_of(k % N_STEPS);
    schedule_of(g, (sw_recompute)(SW_RECOMPUTE_FULL + k / N_STEPS % (SW_RECOMPUTE_COUNT - SW_RECOMPUTE_FULL)), &arena,
                &s);
    run += runs_as_the_program(g, &s, k & 1 ? "x=3" : "x=2,y=2", &r);
    sw_schedule_deinit(&s);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(run > 0);
}

/* --- what policies make again ------------------------------------------------------------------------------------- */

/* Of each layer how many ops of the kind are made again; the same number of all. `name`: of a layer of the model. */
static int again_in(const sw_schedule *s, const char *name, bool (*is)(const sw_op *)) {
  int n = 0;
  for (int32_t i = 0; i < s->spec.n_entries; i++) {
    const sw_entry *e = &s->spec.entries[i];
    if (e->source || !e->instance) continue;
    const sw_op *op = &s->program->ops[e->op];
    n += is(op) && strstr(op->name, name) == op->name;
  }
  return n;
}

static bool is_any(const sw_op *op) { return op->code < SW_OP_COUNT; }
static bool is_product(const sw_op *op) { return op->code == SW_OP_DOT; }
static bool is_fused(const sw_op *op) { return op->code == SW_OP_ATTENTION; }
static bool is_drawn(const sw_op *op) { return op->code == SW_OP_RNG_BITS; }
static bool is_of_core(const sw_op *op) {
  return strstr(op->name, ".scores") || strstr(op->name, ".masked") || strstr(op->name, ".weights");
}

/* By the names that generators give ops: what the papers and the frameworks say of a layer. */
static void policies_make_again_what_they_say(void **state) {
  (void)state;
  static const struct {
    int step;
    sw_recompute how;
    const char *layer;
    bool (*is)(const sw_op *);
    int n;
  } kSays[] = {
      {2, SW_RECOMPUTE_MEGATRON, "h.1.", is_product, 1},   /* the scores */
      {2, SW_RECOMPUTE_TORCHTITAN, "h.1.", is_product, 4}, /* k and o; scores, as it is no attention op */
      {2, SW_RECOMPUTE_FULL, "h.1.", is_product, 7},       /* all but what makes the next layer's input */
      {2, SW_RECOMPUTE_WHOLE, "h.1.", is_product, 8},
      {FUSES, SW_RECOMPUTE_MEGATRON, "layers.1.", is_any, 1},
      {FUSES, SW_RECOMPUTE_MEGATRON, "layers.1.", is_fused, 1},
      {FUSES, SW_RECOMPUTE_TORCHTITAN, "layers.1.", is_fused, 0},
      {FUSES, SW_RECOMPUTE_TORCHTITAN, "layers.1.", is_product, 3}, /* k, o, up */
      {FUSES, SW_RECOMPUTE_FULL, "layers.1.", is_fused, 1},
      {DROPS_OUT, SW_RECOMPUTE_MEGATRON, "h.1.", is_drawn, 1},
      {DROPS_OUT, SW_RECOMPUTE_MEGATRON, "embed", is_any, 0},
      {DROPS_OUT, SW_RECOMPUTE_FULL, "h.1.", is_drawn, 3},
      {DROPS_OUT, SW_RECOMPUTE_FULL, "loss", is_any, 0},
  };
  for (size_t k = 0; k < sizeof kSays / sizeof *kSays; k++) {
    sw_arena arena = {0};
    sw_schedule s;
    sw_graph *g = step_of(kSays[k].step);
    schedule_of(g, kSays[k].how, &arena, &s);
    const int n = again_in(&s, kSays[k].layer, kSays[k].is);
    if (n != kSays[k].n)
      fail_msg("%s, step %d: %d in %s, expected %d", sw_recompute_text(kSays[k].how), kSays[k].step, n, kSays[k].layer,
               kSays[k].n);
    if (kSays[k].how == SW_RECOMPUTE_MEGATRON && kSays[k].step != FUSES)
      assert_int_equal(again_in(&s, "", is_any), again_in(&s, "", is_of_core));
    sw_schedule_deinit(&s);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

static int count_heavy(const sw_graph *g) {
  int n = 0;
  for (sw_id i = 0; i < g->n_ops; i++) n += is_product(&g->ops[i]) || is_fused(&g->ops[i]);
  return n;
}

/* A weight is not small because much is done at a time. */
static void weights_are_gathered_again_whatever_the_batch(void **state) {
  (void)state;
  const char *const kBatches[] = {"1", "1000000"};
  int32_t n[2];
  for (int k = 0; k < 2; k++) {
    const sw_gen_arg args[] = {{"mode", "train"}, {"layers", "3"},        {"hidden", "64"},
                               {"heads", "2"},    {"seq", "16"},          {"vocab", "32"},
                               {"dtype", "bf16"}, {"param-dtype", "f32"}, {"batch", kBatches[k]}};
    sw_arena arena = {0};
    sw_schedule_spec spec;
    sw_graph *g;
    assert_ok(sw_gen_model("gpt2", args, sizeof args / sizeof *args, &g, &diag));
    assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_FULL, true, &arena, &spec, &diag));
    n[k] = 0;
    for (int32_t i = 0; i < spec.n_entries; i++) {
      const sw_entry *e = &spec.entries[i];
      n[k] += sw_entry_is_copy(e) && strstr(g->ops[e->op].name, ".attn.wq") != NULL;
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_int_equal(n[0], n[1]);
  assert_true(n[0] > 0);
}

/* A program that has copies of its own: those of a policy, written out. */
static void checkpoints_of_a_program_are_folded_back(void **state) {
  (void)state;
  sw_rng r;
  int run = 0;
  sw_rng_seed(&r, check_seed(3));
  for (int k = N_SMALL; k < N_STEPS; k++) {
    sw_arena arena = {0};
    sw_schedule has, none, full;
    sw_schedule_spec spec;
    sw_graph *g = step_of(k);
    assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_MEGATRON, false, &arena, &spec, &diag));
    assert_ok(sw_schedule_make(g->written, &spec, &arena, &has, &diag));
    const sw_graph *copied = has.stages[0].graph;
    assert_true(copied->n_ops > g->n_ops);
    schedule_of(copied, SW_RECOMPUTE_NONE, &arena, &none);
    assert_true(count_heavy(copied) > count_heavy(g) && count_heavy(none.stages[0].graph) == count_heavy(g));
    assert_true(none.stages[0].graph->n_ops <= g->n_ops);
    schedule_of(copied, SW_RECOMPUTE_FULL, &arena, &full);
    assert_true(again_in(&full, "", is_any) > copied->n_ops - g->n_ops);
    run += runs_as_the_program(copied, &none, "x=2", &r) + runs_as_the_program(copied, &full, "x=2,y=2", &r);
    sw_schedule_deinit(&full);
    sw_schedule_deinit(&none);
    sw_schedule_deinit(&has);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  assert_true(run > 0);
}

/* --- against what is published ------------------------------------------------------------------------------------ */

/* GPT steps in half precision with dropout, under tensor parallelism of 8 with sequence parallelism. */
typedef struct published {
  const char *name, *hidden, *heads, *batch;
  double as_written, megatron, full; /* percent of what tensor parallelism alone keeps of a layer */
} published;
/* arXiv 2205.05198, figure 7. Full recomputation is without sequence parallelism there, so an input of a layer is 8
 * times as large. */
static const published kPublished[] = {{"22B", "6144", "64", "4", 66.84, 16.18, 7.64},
                                       {"175B", "12288", "96", "1", 62.04, 18.49, 8.71}};

/* What ops have made of the program and a device holds where the loss begins; and the time of the step. */
static double held_for_backward(const published *m, const char *layers, sw_recompute how, double *seconds) {
  const sw_gen_arg args[] = {{"mode", "train"},   {"layers", layers}, {"hidden", m->hidden},
                             {"heads", m->heads}, {"seq", "2048"},    {"vocab", "51200"},
                             {"batch", m->batch}, {"dropout", "10"},  {"dtype", "f16"}};
  sw_arena arena = {0};
  sw_schedule s;
  sw_job job;
  sw_plan plan;
  sw_breakdown a;
  sw_graph *g;
  double bytes = 0;
  assert_ok(sw_gen_model("gpt2", args, sizeof args / sizeof *args, &g, &diag));
  const sw_machine *machine = machine_of("dgx-a100", "x=8", &arena);
  const sw_job written = job_under(g, machine, "eager", &arena);
  sw_schedule_spec spec;
  assert_ok(sw_recompute_spec(g, how, false, &arena, &spec, &diag));
  assert_ok(sw_schedule_make(g->written, &spec, &arena, &s, &diag));
  assert_ok(sw_job_of_stage(&written, &s, 0, &arena, &job, &diag));
  assert_ok(sw_baseline_build(&job, SW_BASELINE_MEGATRON, &arena, &plan, &diag));
  assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
  sw_id loss = 0;
  while (strncmp(job.graph->ops[loss].name, "loss.", 5) != 0) loss++;
  for (int32_t i = 0; i < a.n_live; i++) {
    const sw_live *l = &a.live[i];
    const bool made = l->kind == SW_LIVE_VALUE && l->value >= 0 && job.graph->values[l->value].def >= 0;
    if (made && l->steps.first <= loss && l->steps.last >= loss) bytes += (double)l->bytes;
  }
  *seconds = a.total_s;
  sw_schedule_deinit(&s);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
  return bytes;
}

static void a_layer_keeps_what_is_published(void **state) {
  (void)state;
  const double kPoints = 3, kTensor = 8;
  for (size_t k = 0; k < sizeof kPublished / sizeof *kPublished; k++) {
    const published *m = &kPublished[k];
    const double h = atof(m->hidden), heads = atof(m->heads), tokens = 2048 * atof(m->batch);
    const double whole = tokens * h * (10 + 24 / kTensor + 5 * heads * 2048 / (h * kTensor));
    const sw_recompute hows[] = {SW_RECOMPUTE_AS_WRITTEN, SW_RECOMPUTE_MEGATRON, SW_RECOMPUTE_WHOLE};
    const double says[] = {m->as_written, m->megatron, m->full};
    double layer_s[3], share[3];
    for (int i = 0; i < 3; i++) {
      double two_s, three_s;
      const double two = held_for_backward(m, "2", hows[i], &two_s),
                   three = held_for_backward(m, "3", hows[i], &three_s);
      share[i] = 100 * (three - two) / whole * (hows[i] == SW_RECOMPUTE_WHOLE ? kTensor : 1);
      layer_s[i] = three_s - two_s;
      assert_true(fabs(share[i] - says[i]) <= kPoints);
    }
    print_message(
        "%s: of activations %.1f, %.1f and %.1f %% are kept (published %.1f, %.1f, %.1f); selective takes %.3f, full "
        "%.3f times as long\n",
        m->name, share[0], share[1], share[2], says[0], says[1], says[2], layer_s[1] / layer_s[0],
        layer_s[2] / layer_s[0]);
  }
}

/* --- against all choices ------------------------------------------------------------------------------------------ */

static sw_plan_options options_of(int64_t capacity) {
  return (sw_plan_options){.solve = {.work_limit = 2000000, .threads = 1}, .selection.capacity_bytes = capacity};
}

/* The time of the best plan of a job; infinity: none fits. */
static double best_s(const sw_job *j, int64_t capacity, int64_t *peak, sw_arena *arena) {
  const sw_plan_options o = options_of(capacity);
  sw_plan plan;
  sw_breakdown a;
  if (sw_plan_search(j, &o, arena, &plan, NULL)) return HUGE_VAL;
  assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
  *peak = a.peak_bytes;
  return a.total_s;
}

/* Of all lists of copies, each planned by itself. */
static double best_of_all_s(const sw_job *j, int64_t capacity, int *n_copies) {
  sw_arena arena = {0};
  sw_schedule choices;
  int8_t *takes;
  double least = HUGE_VAL;
  schedule_of(j->graph, SW_RECOMPUTE_SEARCH, &arena, &choices);
  takes = sw_arena_alloc(&arena, (size_t)choices.stages[0].graph->n_ops, 1, &diag);
  assert_non_null(takes);
  *n_copies = takes_of(&choices, 0, 0, takes);
  assert_in_range(*n_copies, 1, 12);
  for (uint64_t bits = 0; bits < UINT64_C(1) << *n_copies; bits++) {
    sw_arena mem = {0};
    sw_schedule s;
    sw_schedule_spec spec;
    sw_job job;
    int64_t peak;
    (void)takes_of(&choices, bits, 0, takes);
    assert_ok(sw_schedule_chosen(&choices, takes, &mem, &spec, &diag));
    assert_ok(sw_schedule_make(j->request, &spec, &mem, &s, &diag));
    assert_ok(sw_job_of_stage(j, &s, 0, &mem, &job, &diag));
    least = fmin(least, best_s(&job, capacity, &peak, &mem));
    sw_schedule_deinit(&s);
    sw_arena_deinit(&mem);
  }
  sw_schedule_deinit(&choices);
  sw_arena_deinit(&arena);
  return least;
}

static void no_choice_is_better_than_what_is_proven(void **state) {
  (void)state;
  const int n_steps = check_factor() < 1 ? 1 : N_SMALL;
  for (int k = 0; k < n_steps; k++) {
    sw_arena arena = {0};
    sw_graph *g = step_of(k);
    const sw_machine *m = machine_of("dgx-h100", "x=2", &arena);
    const sw_job j = job_under(g, m, "inductor", &arena);
    int64_t most, peak;
    const double written = best_s(&j, INT64_MAX, &most, &arena);
    const int64_t kSpare = most / 4; /* kernels of a schedule by itself may store less than where choices are open */
    for (int part = 0; part < (check_factor() < 1 ? 1 : 2); part++) {
      const int64_t capacity = most - most * part / 8;
      const sw_plan_options o = options_of(capacity);
      sw_schedule s;
      sw_plan plan;
      sw_breakdown a;
      int n;
      const double all = best_of_all_s(&j, capacity - part * kSpare, &n), alone = best_s(&j, capacity, &peak, &arena);
      const double since_s = sw_now_s();
      const sw_rc rc = sw_plan_search_sources(&j, j.request, &o, &arena, &s, &plan, &diag);
      const double took_s = sw_now_s() - since_s;
      if (isinf(fmin(all, alone))) continue; /* perhaps there is one where sources are not carried out */
      assert_ok(rc);
      assert_ok(sw_plan_verify(&plan, &diag));
      assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
      print_message("%s, %d copies, %lld of %lld bytes: %.3g us, proven %.3g, each alone %.3g, as written %.3g\n",
                    kSteps[k].arch, n, (long long)a.peak_bytes, (long long)capacity, 1e6 * a.total_s,
                    1e6 * sw_plan_bound_s(&plan, &a), 1e6 * all, 1e6 * alone);
      assert_true(a.peak_bytes <= capacity);
      assert_true(plan.time_s <= took_s && plan.time_s > took_s / 2); /* of the searches together */
      assert_true(sw_plan_bound_s(&plan, &a) <= fmin(all, alone) * (1 + 1e-6));
      assert_true(a.total_s <= fmin(all, alone) * 1.05);
      gives_the_same(&plan, g, &arena);
      sw_schedule_deinit(&s);
    }
    assert_true(written < HUGE_VAL);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* --- on one device: against all choices, one by one --------------------------------------------------------------- */

/* The fastest of all lists of copies that fits; infinity: none. */
static double fastest_of_all_s(const sw_job *j, int64_t capacity, int *n) {
  sw_arena arena = {0};
  sw_schedule choices;
  sw_schedule_spec all;
  double least = HUGE_VAL;
  assert_ok(sw_recompute_spec(j->graph, SW_RECOMPUTE_SEARCH, true, &arena, &all, &diag));
  assert_ok(sw_schedule_make(j->request, &all, &arena, &choices, &diag));
  int8_t *takes = sw_arena_alloc(&arena, (size_t)choices.stages[0].graph->n_ops, 1, &diag);
  assert_non_null(takes);
  *n = takes_of(&choices, 0, 0, takes);
  for (uint64_t bits = 0; bits < UINT64_C(1) << *n; bits++) {
    sw_arena mem = {0};
    sw_schedule s;
    sw_schedule_spec spec;
    sw_job job;
    sw_plan plan;
    sw_breakdown a;
    (void)takes_of(&choices, bits, 0, takes);
    assert_ok(sw_schedule_chosen(&choices, takes, &mem, &spec, &diag));
    assert_ok(sw_schedule_make(j->request, &spec, &mem, &s, &diag));
    assert_ok(sw_job_of_stage(j, &s, 0, &mem, &job, &diag));
    assert_ok(sw_plan_build(&job, &mem, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &mem, &a, &diag));
    if (a.peak_bytes <= capacity) least = fmin(least, a.total_s);
    sw_schedule_deinit(&s);
    sw_arena_deinit(&mem);
  }
  sw_schedule_deinit(&choices);
  sw_arena_deinit(&arena);
  return least;
}

static void no_list_of_copies_is_better(void **state) {
  (void)state;
  sw_rng r;
  int compared = 0, saved = 0, equal = 0;
  sw_rng_seed(&r, check_seed(5));
  for (int k = 0; k < check_scale(4); k++) {
    sw_arena arena = {0};
    sw_program *p = random_dag(&r, k % 2, 4, check_factor() > 1 ? 12 : 8);
    const sw_graph *g = sw_program_graph(p);
    const sw_job j = job_under(g, machine_of("dgx-h100", "x=1", &arena), "none", &arena);
    sw_plan written, plan;
    sw_breakdown plain, a;
    assert_ok(sw_plan_build(&j, &arena, &written, &diag));
    assert_ok(sw_plan_breakdown(&written, &arena, &plain, &diag));
    for (int part = 1; part < 5; part++) {
      const int64_t capacity = plain.peak_bytes - plain.peak_bytes * part / 24;
      const sw_plan_options o = options_of(capacity);
      sw_schedule s;
      int n;
      const double all = fastest_of_all_s(&j, capacity, &n);
      const sw_rc rc = sw_plan_search_sources(&j, j.request, &o, &arena, &s, &plan, NULL);
      assert_true(rc == SW_OK || isinf(all));
      if (rc) continue;
      assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
      assert_true(a.peak_bytes <= capacity);
      assert_true(fmax(a.total_s, sw_plan_bound_s(&plan, &a)) <= all * (1 + 1e-9)); /* less: by rule, of others */
      compared++;
      equal += a.total_s >= all * (1 - 1e-9);
      saved += a.total_s > plain.total_s;
      sw_schedule_deinit(&s);
    }
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
  print_message("%d plans under a limit, %d of them as fast as the fastest of all lists, %d with copies\n", compared,
                equal, saved);
  assert_true(check_factor() < 1 || (saved > 0 && 2 * equal > compared));
}

/* --- the same of all layers --------------------------------------------------------------------------------------- */

static bool is_copied(const sw_schedule_spec *s, sw_id op) {
  bool any = false;
  for (int32_t i = 0; i < s->n_entries; i++) any = any || (sw_entry_is_copy(&s->entries[i]) && s->entries[i].op == op);
  return any;
}

/* Copies of ops of which the layer before could have one and has none; and copies in all. */
static int out_of_order(const sw_graph *g, const sw_schedule_spec *may, const sw_schedule_spec *s, int *copies) {
  int n = 0;
  for (int32_t i = 0; i < s->n_entries; i++) {
    int layer, end = 0;
    char before[64];
    if (!sw_entry_is_copy(&s->entries[i])) continue;
    ++*copies;
    const char *name = g->ops[s->entries[i].op].name;
    if (sscanf(name, "layers.%d%n", &layer, &end) != 1 || !layer) continue;
    (void)snprintf(before, sizeof before, "layers.%d%s", layer - 1, name + end);
    const sw_id op = sw_graph_op_named(g, before);
    n += op >= 0 && is_copied(may, op) && !is_copied(s, op);
  }
  return n;
}

/* What is made again of some layers at random is so of all, of none, or of as many of the first. */
static void layers_can_be_united(void **state) {
  (void)state;
  const sw_gen_arg args[] = {{"mode", "train"}, {"layers", "6"}, {"hidden", "8"}, {"batch", "512"}};
  enum { MOST = 100 };
  sw_rng r;
  int were = 0, copies[SW_UNITE_COUNT + 1] = {0}, run = 0;
  sw_rng_seed(&r, check_seed(4));
  /* until some are out of order, and copies come where there were none */
  for (int k = 0; k < MOST && (k < check_scale(6) || !were || copies[SW_UNITE_ALL] <= copies[SW_UNITE_COUNT]); k++) {
    sw_arena arena = {0};
    sw_graph *g;
    sw_schedule choices, s;
    sw_schedule_spec spec;
    sw_job job;
    sw_plan plan, united;
    assert_ok(sw_gen_model("mlp", args, sizeof args / sizeof *args, &g, &diag));
    const sw_job j = job_under(g, machine_of("dgx-h100", "x=2", &arena), "none", &arena);
    assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_SEARCH, false, &arena, &spec, &diag));
    assert_ok(sw_schedule_make(g->written, &spec, &arena, &choices, &diag));
    assert_ok(sw_job_of_stage(&j, &choices, 0, &arena, &job, &diag));
    assert_ok(sw_plan_build(&job, &arena, &plan, &diag));
    int8_t *takes = sw_arena_alloc(&arena, (size_t)job.graph->n_ops, 1, &diag);
    assert_non_null(takes);
    (void)takes_of(&choices, sw_rng_next(&r), 0, takes);
    for (sw_id i = 0; i < job.graph->n_ops; i++) plan.ops[i].takes = takes[i];
    for (sw_unite how = 0; how <= SW_UNITE_COUNT; how++) {
      bool changed;
      united = plan;
      if (how < SW_UNITE_COUNT) assert_ok(sw_plan_unite_layers(&plan, how, &arena, &united, &changed, &diag));
      for (sw_id i = 0; i < job.graph->n_ops; i++) takes[i] = united.ops[i].takes;
      assert_ok(sw_schedule_chosen(&choices, takes, &arena, &spec, &diag));
      const int n = out_of_order(g, &choices.spec, &spec, &copies[how]);
      if (how == SW_UNITE_COUNT) were += n;
      if (how < SW_UNITE_COUNT) assert_int_equal(n, 0);
      if (sw_schedule_make(g->written, &spec, &arena, &s, NULL)) continue; /* they do not go together */
      run += runs_as_the_program(g, &s, "x=2", &r);
      sw_schedule_deinit(&s);
    }
    sw_schedule_deinit(&choices);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("%d copies, %d without one before; in all %d, as most %d, in the first %d; %d plans run\n",
                copies[SW_UNITE_COUNT], were, copies[SW_UNITE_ALL], copies[SW_UNITE_MOST], copies[SW_UNITE_FIRST], run);
  assert_true(were > 0 && copies[SW_UNITE_ALL] > copies[SW_UNITE_COUNT]);
  assert_int_equal(copies[SW_UNITE_FIRST], copies[SW_UNITE_COUNT]);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_choices_run_as_the_program),
      cmocka_unit_test(policies_run_as_the_program),
      cmocka_unit_test(policies_make_again_what_they_say),
      cmocka_unit_test(weights_are_gathered_again_whatever_the_batch),
      cmocka_unit_test(checkpoints_of_a_program_are_folded_back),
      cmocka_unit_test(a_layer_keeps_what_is_published),
      cmocka_unit_test(no_choice_is_better_than_what_is_proven),
      cmocka_unit_test(no_list_of_copies_is_better),
      cmocka_unit_test(layers_can_be_united),
  };
  cmocka_set_test_filter(getenv("SW_TEST_ONLY"));
  return cmocka_run_group_tests(tests, NULL, NULL);
}
