/* Memory by class: all that is held, at every step, of models and plans at random. */
#include "check.h"

#include "report/memory.h"
#include "support/random_plan.h"
#include "support/meshes.h"
#include "support/job.h"

/* By its definition: what of the list is live then. */
static int64_t held_at(const sw_breakdown *a, int32_t step) {
  int64_t sum = 0;
  for (int32_t i = 0; i < a->n_live; i++) {
    if (a->live[i].steps.first <= step && step <= a->live[i].steps.last) sum += a->live[i].bytes;
  }
  return sum;
}

static void check_step(const sw_plan *p, const sw_breakdown *a, int32_t step) {
  sw_arena arena = {0};
  sw_memory m;
  int64_t sum = 0, of_class[SW_MEMORY_CLASSES] = {0};
  assert_ok(sw_memory_at(p, a, step, &arena, &m, &diag));
  for (int32_t i = 0; i < m.n; i++) {
    of_class[m.rows[i].class_of] += m.rows[i].bytes;
    assert_true(m.rows[i].bytes > 0 && m.rows[i].count > 0);
    if (i) assert_true(m.rows[i - 1].class_of <= m.rows[i].class_of);
  }
  for (int c = 0; c < SW_MEMORY_CLASSES; c++) {
    assert_int_equal(of_class[c], m.bytes[c]);
    sum += m.bytes[c];
  }
  assert_int_equal(sum, held_at(a, step));
  assert_int_equal(sum, a->bytes_at[step]);
  sw_arena_deinit(&arena);
}

static void classes_add_up_to_all_that_is_held(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(23));
  for (int i = 0; i < RANDOM_MODELS; i++) {
    sw_arena arena = {0};
    sw_graph *g = small_model(random_models[i]);
    sw_machine *machine = machine_of("uniform", "x=2,y=2", &arena);
    for (int round = check_scale(3); round > 0; round--) {
      sw_plan p;
      sw_breakdown a;
      assert_ok(random_plan(JOB(g, machine), &rng, &arena, &p, &diag));
      p.args_whole = round == 1;
      assert_ok(sw_plan_breakdown(&p, &arena, &a, &diag));
      check_step(&p, &a, a.peak_step);
      assert_int_equal(held_at(&a, a.peak_step), a.peak_bytes);
      for (int k = 0; k < 10; k++) check_step(&p, &a, (int32_t)sw_rng_below(&rng, a.n_steps));
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

static const struct {
  const char *model, *value;
  sw_memory_class is;
} kRows[] = {
    {"gpt2-train", "tokens", SW_MEMORY_INPUTS},
    {"gpt2-train", "wte", SW_MEMORY_PARAMETERS},
    {"gpt2-train", "h.1.attn.wq", SW_MEMORY_PARAMETERS},
    {"gpt2-train", "h.1.attn.wq.m", SW_MEMORY_OPTIMIZER},
    {"gpt2-train", "h.1.attn.wq.v", SW_MEMORY_OPTIMIZER},
    {"gpt2-train", "adam.step", SW_MEMORY_OPTIMIZER},
    {"gpt2-train", "h.1.attn.wq.new", SW_MEMORY_PARAMETERS},
    {"gpt2-train", "h.1.attn.weights", SW_MEMORY_KEPT},
    {"llama3-decode", "layers.0.attn.k_cache", SW_MEMORY_STATE},
    {"llama3-decode", "layers.0.attn.wq", SW_MEMORY_PARAMETERS},
    {"gpt2", "wte", SW_MEMORY_PARAMETERS},
    {"gpt2", "h.1.attn.weights", SW_MEMORY_TEMPORARIES},
    {"gpt2", "logits", SW_MEMORY_OUTPUTS},
};

static void values_are_of_the_class_that_people_would_say(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    sw_arena arena = {0};
    sw_graph *g = small_model(kRows[i].model);
    const uint8_t *of_value;
    assert_ok(sw_classify_values(g, &arena, &of_value, &diag));
    const sw_id v = sw_graph_value_named(g, kRows[i].value);
    if (v < 0) fail_msg("%s has no '%s'", kRows[i].model, kRows[i].value);
    if (of_value[v] != kRows[i].is)
      fail_msg("%s: '%s' is of the class %s, not %s", kRows[i].model, kRows[i].value,
               sw_memory_class_text((sw_memory_class)of_value[v]), sw_memory_class_text(kRows[i].is));
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* In a training step each parameter has a gradient of its size; elsewhere nothing has one. */
static void parameters_that_are_trained_have_gradients(void **state) {
  (void)state;
  static const struct {
    const char *model;
    bool trains;
  } kModels[] = {{"gpt2-train", true}, {"mlp-train", true},    {"conv-train", true},     {"bert-train", true},
                 {"gpt2", false},      {"gpt2-decode", false}, {"llama3-decode", false}, {"resnet", false}};
  for (size_t i = 0; i < sizeof kModels / sizeof *kModels; i++) {
    sw_arena arena = {0};
    sw_graph *g = small_model(kModels[i].model);
    const uint8_t *of_value;
    assert_ok(sw_classify_values(g, &arena, &of_value, &diag));
    for (int32_t k = 0; k < g->n_args; k++) {
      const sw_value *arg = &g->values[g->args[k]];
      if (of_value[g->args[k]] != SW_MEMORY_PARAMETERS) continue;
      bool any = false;
      for (sw_id v = 0; v < g->n_values; v++)
        any = any || (of_value[v] == SW_MEMORY_GRADIENTS &&
                      sw_type_elements(&g->values[v].type) == sw_type_elements(&arg->type));
      if (any != kModels[i].trains) fail_msg("%s: '%s' has %s gradient", kModels[i].model, arg->name, any ? "a" : "no");
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(classes_add_up_to_all_that_is_held),
      cmocka_unit_test(values_are_of_the_class_that_people_would_say),
      cmocka_unit_test(parameters_that_are_trained_have_gradients),
  };
  return cmocka_run_group_tests_name("memory", tests, NULL, NULL);
}
