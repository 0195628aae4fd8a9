/* What is said of values made again: what it saves, against the plan of the schedule without copies; groups and sums.
 */
#include <math.h>
#include <string.h>

#include "check.h"

#include "gen/gen.h"
#include "report/made_again.h"
#include "support/job.h"
#include "support/meshes.h"

static const struct {
  const char *arch;
  sw_gen_arg args[10];
} kModels[] = {
    {"mlp", {{"mode", "train"}, {"layers", "4"}, {"hidden", "8"}, {"batch", "512"}}},
    {"gpt2",
     {{"mode", "train"},
      {"layers", "3"},
      {"hidden", "16"},
      {"heads", "2"},
      {"vocab", "32"},
      {"seq", "16"},
      {"batch", "8"}}},
};
enum { N_MODELS = sizeof kModels / sizeof kModels[0] };

static sw_graph *model_of(int k) {
  sw_graph *g;
  int n = 0;
  while (kModels[k].args[n].name) n++;
  assert_ok(sw_gen_model(kModels[k].arch, kModels[k].args, n, &g, &diag));
  return g;
}

static void plan_by_rule(const sw_job *j, const sw_schedule *s, sw_baseline b, sw_arena *arena, sw_plan *out,
                         sw_breakdown *a) {
  sw_job *job = sw_arena_alloc(arena, 1, sizeof *job, &diag);
  assert_non_null(job);
  assert_ok(sw_job_of_stage(j, s, 0, arena, job, &diag));
  assert_ok(sw_baseline_build(job, b, arena, out, &diag));
  assert_ok(sw_plan_breakdown(out, arena, a, &diag));
}

static bool reads(const sw_graph *g, const sw_entry *e, sw_id value) {
  bool any = false;
  for (int k = 0; !e->instance && !e->source && k < g->ops[e->op].n_operands; k++)
    any = any || g->ops[e->op].operands[k] == value;
  return any;
}

/* Without copies, without what was kept, and without arguments gathered again for copies alone. */
static void without_copies(const sw_graph *g, const sw_schedule_spec *all, sw_arena *arena, sw_schedule_spec *out) {
  sw_entry *entries = sw_arena_alloc(arena, (size_t)all->n_entries, sizeof *entries, &diag);
  assert_non_null(entries);
  *out = *all;
  out->entries = entries;
  out->n_entries = 0;
  for (int32_t i = 0; i < all->n_entries; i++) {
    const sw_entry *e = &all->entries[i];
    bool stays = !e->source;
    for (int32_t k = i + 1; k < all->n_entries && !stays && e->op < 0; k++)
      stays = reads(g, &all->entries[k], e->value);
    if (stays && !e->instance) entries[out->n_entries++] = *e;
  }
}

static void check_sums(const sw_made_again *r, const sw_schedule_spec *spec) {
  int32_t copies = 0, named = 0;
  double seconds = 0;
  for (int32_t i = 0; i < spec->n_entries; i++) copies += spec->entries[i].instance > 0;
  assert_true(copies > 0);
  assert_int_equal(r->n_ops, copies);
  for (int32_t i = 0; i < r->n_again; i++) {
    named += r->again[i].n;
    seconds += r->again[i].seconds;
    if (i) assert_true(r->again[i - 1].seconds >= r->again[i].seconds);
  }
  assert_int_equal(named, copies);
  assert_true(fabs(seconds - r->seconds) <= 1e-12 * seconds);
}

/* All copies and nothing else are the difference: of time, and of the peak. */
static void it_is_what_the_plan_without_copies_takes(void **state) {
  (void)state;
  for (int k = 0; k < N_MODELS * 3; k++) {
    const sw_baseline b = k / N_MODELS == 1 ? SW_BASELINE_DATA_PARALLEL : SW_BASELINE_REPLICATED;
    const bool compiled = k / N_MODELS == 2; /* kernels store less than each op by itself */
    sw_arena arena = {0};
    sw_graph *g = model_of(k % N_MODELS);
    const sw_job job = job_under(g, machine_of("dgx-h100", "x=2", &arena), compiled ? "inductor" : "none", &arena);
    const sw_job *j = &job;
    sw_schedule_spec spec, fewer;
    sw_schedule with, without;
    sw_plan p, q;
    sw_breakdown a, c;
    sw_made_again r;
    assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_FULL, true, &arena, &spec, &diag));
    without_copies(g, &spec, &arena, &fewer);
    assert_ok(sw_schedule_make(g->written, &spec, &arena, &with, &diag));
    assert_ok(sw_schedule_make(g->written, &fewer, &arena, &without, &diag));
    plan_by_rule(j, &with, b, &arena, &p, &a);
    plan_by_rule(j, &without, b, &arena, &q, &c);
    assert_ok(sw_made_again_find(&p, &a, &arena, &r, &diag));
    check_sums(&r, &spec);
    print_message("%s: %d ops again, %lld of %lld bytes\n", kModels[k % N_MODELS].arch, r.n_ops,
                  (long long)r.saved_bytes, (long long)c.peak_bytes);
    assert_true(compiled || r.saved_bytes > 0);
    assert_int_equal(a.peak_bytes + r.saved_bytes, c.peak_bytes);
    if (!compiled) assert_true(fabs(a.total_s - r.seconds - c.total_s) <= 1e-9 * a.total_s);
    assert_ok(sw_made_again_find(&q, &c, &arena, &r, &diag));
    assert_int_equal(r.n_ops, 0);
    sw_schedule_deinit(&with);
    sw_schedule_deinit(&without);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(it_is_what_the_plan_without_copies_takes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
