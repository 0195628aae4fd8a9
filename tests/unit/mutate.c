/* The mutation loop: on models of several kinds, annotated or not, what it ends with is a plan that keeps what is
 * required and gives the numbers of one device, and is judged no worse than its start; one seed gives one sequence, of
 * which more iterations see more; and it ends when it is told to.
 */
#include "check.h"

#include <math.h>

#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/propagate.h"
#include "shardwright/validate.h"
#include "support/job.h"

typedef struct subject {
  sw_arena arena;
  sw_graph *g;
  sw_machine *machine;
} subject;

static void open_subject(subject *s, const char *path, const char *mesh) {
  const sw_profile *profile;
  sw_mesh m;
  *s = (subject){0};
  assert_ok(sw_profile_read("dgx-h100", &s->arena, &profile, &diag));
  assert_ok(sw_mesh_parse(mesh, &s->arena, &m, &diag));
  assert_ok(sw_model_read(path, &s->g, &diag));
  if (s->g->written->has_mesh) m = s->g->written->mesh;
  assert_ok(sw_machine_build(&s->arena, profile, &m, &s->machine, &diag));
}

static void close_subject(subject *s) {
  sw_graph_destroy(s->g);
  sw_arena_deinit(&s->arena);
}

static void mutate(subject *s, int64_t iterations, uint64_t seed, int64_t capacity, sw_cancel *cancel,
                   sw_mutated *out) {
  const sw_mutate_options o = {.iterations = iterations, .seed = seed, .capacity_bytes = capacity, .cancel = cancel};
  assert_ok(sw_propagate_mutated(JOB(s->g, s->machine), &o, &s->arena, out, &diag));
  assert_ok(sw_plan_verify(&out->plan, &diag));
}

/* Again from the plan, not from what the loop says. */
static void check_measures(subject *s, const sw_mutated *m) {
  sw_breakdown a;
  assert_ok(sw_plan_breakdown(&m->plan, &s->arena, &a, &diag));
  assert_true(a.moved_bytes == m->best.moved_bytes);
  assert_int_equal(a.peak_bytes, m->best.peak_bytes);
  assert_true(sw_breakdown_redundant_flops(&a, s->machine) == m->best.redundant_flops);
  assert_true(m->best.score_s <= m->start.score_s || !m->start.fits);
}

static void run_plan(subject *s, const sw_plan *plan) {
  sw_validation v;
  const sw_validate_options o = {.seed = 1, .timeout_s = 60, .intermediates = true};
  assert_ok(sw_validate(plan, &o, &s->arena, &v, &diag));
  assert_true(v.matches);
}

static const struct {
  const char *model, *mesh; /* its own, if it has one */
  bool better;              /* what is not annotated starts uncut, all of it computed everywhere */
} kModels[] = {{"models/small/gpt2.json", "x=2,y=2", true},
               {"models/small/mixtral.json", "x=2,y=2", true},
               {"tests/data/mlp-train-bf16.json", "x=2,y=2", false},
               {"models/rfc-mlp-1d-tensors-8.json", "x=8", false},
               {"docs/examples/mlp.json", "x=2", false},
               {"docs/examples/layers.json", "x=2,y=2", false}};
enum { N_MODELS = sizeof kModels / sizeof *kModels };

static void ends_no_worse_than_it_starts(void **state) {
  (void)state;
  for (int i = 0; i < N_MODELS; i++) {
    char path[512];
    subject s;
    sw_mutated m;
    snprintf(path, sizeof path, SW_SOURCE_DIR "/%s", kModels[i].model);
    open_subject(&s, path, kModels[i].mesh);
    mutate(&s, 60, 3, INT64_MAX, NULL, &m);
    assert_int_equal(m.tried, 60);
    check_measures(&s, &m);
    if (kModels[i].better) assert_true(m.better > 0 && m.best.score_s < m.start.score_s);
    run_plan(&s, &m.plan);
    close_subject(&s);
  }
}

static void one_seed_is_one_sequence(void **state) {
  (void)state;
  subject s;
  sw_mutated m, again, longer;
  open_subject(&s, SW_SOURCE_DIR "/models/small/gpt2.json", "x=2,y=2");
  double last = INFINITY;
  for (int64_t n = 5; n <= 80; n *= 4) {
    mutate(&s, n, 1, INT64_MAX, NULL, &longer);
    assert_true(longer.best.score_s <= last);
    last = longer.best.score_s;
  }
  mutate(&s, 40, 2, INT64_MAX, NULL, &m);
  mutate(&s, 40, 2, INT64_MAX, NULL, &again);
  assert_true(m.best.score_s == again.best.score_s);
  for (int32_t i = 0; i < s.g->n_ops; i++) assert_true(sw_strategy_equal(&m.plan.ops[i], &again.plan.ops[i]));
  for (int32_t i = 0; i < s.g->n_args; i++) assert_true(sw_sharding_equal(&m.plan.args[i], &again.plan.args[i]));
  close_subject(&s);
}

/* What fits is better than what does not, whatever else: here nothing is cut at first. */
static void looks_for_what_fits(void **state) {
  (void)state;
  subject s;
  sw_mutated m;
  open_subject(&s, SW_SOURCE_DIR "/models/small/gpt2.json", "x=2,y=2");
  mutate(&s, 1, 1, INT64_MAX, NULL, &m);
  const int64_t tight = m.start.peak_bytes - m.start.peak_bytes / 8;
  mutate(&s, 120, 1, tight, NULL, &m);
  assert_false(m.start.fits);
  assert_true(m.best.fits && m.best.peak_bytes <= tight);
  close_subject(&s);
}

static void an_interrupt_leaves_the_best(void **state) {
  (void)state;
  subject s;
  sw_mutated m;
  sw_cancel cancel = {0};
  sw_cancel_set(&cancel);
  open_subject(&s, SW_SOURCE_DIR "/docs/examples/mlp.json", "x=2");
  mutate(&s, 0, 1, INT64_MAX, &cancel, &m);
  assert_int_equal(m.tried, 0);
  assert_true(m.best.score_s == m.start.score_s);
  close_subject(&s);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_no_worse_than_it_starts),
      cmocka_unit_test(one_seed_is_one_sequence),
      cmocka_unit_test(looks_for_what_fits),
      cmocka_unit_test(an_interrupt_leaves_the_best),
  };
  return cmocka_run_group_tests_name("mutate", tests, NULL, NULL);
}
