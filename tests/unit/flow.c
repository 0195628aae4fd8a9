/* Propagation on random flows: what holds of every result, whichever layer made it, and small flows worked out by hand.
 */
#include "check.h"

#include "propagate/flow.h"
#include "propagate/flow/origins.h"
#include "shardwright/clock.h"

enum { TENSORS = 9, STEPS = 12, FACTORS = 5, RANK = 3 };

typedef struct random_flow {
  sw_mesh mesh;
  sw_type type[TENSORS];
  int64_t dims[TENSORS][RANK];
  const sw_type *types[TENSORS];
  sw_open_sharding sharding[TENSORS];
  sw_factor_rule rule[STEPS];
  sw_factor_dim dim[STEPS][3 * SW_MAX_RANK];
  int32_t tensors[STEPS][3];
  sw_flow_op step[STEPS];
  sw_flow flow;
} random_flow;

static sw_axis_ref random_axis(sw_rng *g, const sw_mesh *m) {
  sw_axis_ref a = sw_axis_whole(m, (int)sw_rng_below(g, m->n_axes));
  if (a.size == 8 && sw_rng_below(g, 3) == 0) {
    a.pre = 1 << (int)sw_rng_below(g, 3);
    a.size = 8 / a.pre > 2 && sw_rng_below(g, 2) ? 4 : 2;
  }
  return a;
}

static bool is_used(const sw_open_sharding *s, sw_axis_ref a) {
  for (int i = 0; i < s->cut.n_refs + s->cut.n_partial; i++) {
    if (s->cut.refs[i].axis == a.axis) return true;
  }
  for (int i = 0; i < s->n_replicated; i++) {
    if (s->replicated[i].axis == a.axis) return true;
  }
  return false;
}

static void random_sharding(sw_rng *g, const sw_mesh *m, sw_open_sharding *s, int priorities) {
  *s = (sw_open_sharding){.mesh = -1};
  s->cut = sw_sharding_replicated(RANK);
  if (sw_rng_below(g, 2)) return;
  s->mesh = 0;
  s->open = (uint32_t)sw_rng_below(g, 1 << RANK);
  for (int n = (int)sw_rng_below(g, 4); n > 0; n--) {
    sw_axis_ref a = random_axis(g, m);
    if (is_used(s, a)) continue;
    if (sw_rng_below(g, 6) == 0)
      s->replicated[s->n_replicated++] = a;
    else if (sw_rng_below(g, 6) == 0)
      assert_true(sw_sharding_push_partial(&s->cut, SW_REDUCE_SUM, a));
    else
      assert_true(sw_sharding_push(&s->cut, (int)sw_rng_below(g, RANK), a));
  }
  for (int k = 0; k < RANK && priorities; k++) s->priority[k] = (int32_t)sw_rng_below(g, priorities);
}

/* Every dimension has one or two factors of the step's; a factor may be in any of its tensors, once in each. */
static void random_step(sw_rng *g, random_flow *r, int i) {
  sw_factor_rule *rule = &r->rule[i];
  for (int k = 0; k < 3; k++) r->tensors[i][k] = (int32_t)sw_rng_below(g, TENSORS);
  *rule = (sw_factor_rule){.n = FACTORS, .dim = r->dim[i]};
  for (int f = 0; f < FACTORS; f++) {
    rule->size[f] = (int64_t[]){2, 4, 6, 8}[sw_rng_below(g, 4)];
    rule->kind[f] = (sw_factor_kind)sw_rng_below(g, 4);
    rule->blocked[f] = sw_rng_below(g, 8) == 0;
  }
  for (int k = 0; k < 3; k++) {
    int first = (int)sw_rng_below(g, FACTORS), next = 0;
    for (int d = 0; d < RANK; d++) {
      sw_factor_dim *dim = &r->dim[i][k * SW_MAX_RANK + d];
      dim->n = 0;
      for (int n = (int)sw_rng_below(g, 3); n > 0 && next < FACTORS; n--)
        dim->at[dim->n++] = (uint8_t)((first + next++) % FACTORS);
    }
  }
  r->step[i] = (sw_flow_op){.rule = rule,
                            .n_operands = 2,
                            .n_results = 1,
                            .tensors = r->tensors[i],
                            .allowed = sw_rng_below(g, 5) ? SW_DIRECTION_BOTH : (sw_direction)sw_rng_below(g, 4),
                            .kind = (sw_flow_op_class)sw_rng_below(g, 6),
                            .shared_operand = sw_rng_below(g, 2)};
  if (sw_rng_below(g, 4) == 0) r->step[i].rule = NULL;
}

static void build(sw_rng *g, random_flow *r, int priorities) {
  static const int64_t kSizes[] = {2, 8, 3, 2};
  memset(r, 0, sizeof *r);
  r->mesh.n_axes = 4;
  for (int a = 0; a < 4; a++) {
    r->mesh.axis[a].name[0] = (char)('a' + a);
    r->mesh.axis[a].size = kSizes[a];
  }
  for (int t = 0; t < TENSORS; t++) {
    for (int k = 0; k < RANK; k++) r->dims[t][k] = 48;
    r->type[t] = (sw_type){.dtype = SW_F32, .rank = RANK, .dims = r->dims[t]};
    r->types[t] = &r->type[t];
    random_sharding(g, &r->mesh, &r->sharding[t], priorities);
  }
  for (int i = 0; i < STEPS; i++) random_step(g, r, i);
  r->flow = (sw_flow){.n_meshes = 1,
                      .n_tensors = TENSORS,
                      .n_steps = STEPS,
                      .meshes = &r->mesh,
                      .shardings = r->sharding,
                      .types = r->types,
                      .steps = r->step};
}

/* Does `is` begin with what `was` has, the last axis perhaps a part of that? */
static bool extends(const sw_axis_ref *was, int n, const sw_axis_ref *is, int m) {
  for (int i = 0; i < n; i++) {
    if (i >= m) return false;
    bool equal = sw_axis_ref_equal(was[i], is[i]);
    bool part = was[i].axis == is[i].axis && was[i].pre == is[i].pre && is[i].size % was[i].size == 0;
    if (!equal && !(i == n - 1 && part)) return false;
  }
  return true;
}

static void check_result(const random_flow *r, const sw_open_sharding *before) {
  for (int t = 0; t < TENSORS; t++) {
    const sw_open_sharding *a = &before[t], *b = &r->sharding[t];
    if (b->mesh < 0) continue;
    for (int i = 0; i < b->n_replicated; i++) assert_true(i >= a->n_replicated || a->n_replicated == b->n_replicated);
    assert_ok(sw_sharding_verify(&r->mesh, &b->cut, RANK, r->dims[t], &diag));
    for (int i = 0; i < b->n_replicated; i++) {
      for (int k = 0; k < b->cut.n_refs; k++) assert_false(sw_axis_ref_overlaps(b->replicated[i], b->cut.refs[k]));
    }
    for (int k = 0; k < RANK && a->mesh >= 0; k++) {
      int n, m;
      const sw_axis_ref *was = sw_sharding_dim(&a->cut, k, &n), *is = sw_sharding_dim(&b->cut, k, &m);
      assert_true(extends(was, n, is, m));
      if (!(a->open >> k & 1)) assert_true(n == m);
    }
    if (a->mesh >= 0) assert_int_equal(a->cut.n_partial, b->cut.n_partial);
  }
}

static int changes(const sw_open_sharding *was, const sw_open_sharding *is) {
  int n = 0;
  for (int t = 0; t < TENSORS; t++) n += !sw_sharding_equal(&was[t].cut, &is[t].cut);
  return n;
}

/* What was cut stays cut, closed dimensions stay as they are, no axis is used twice. No step is run again for what it
 * changed itself, so that another run may find more, but soon one finds nothing. */
static void results_are_refinements_and_final(void **state) {
  (void)state;
  sw_rng g;
  random_flow *r = test_malloc(sizeof *r);
  sw_open_sharding before[TENSORS];
  int changed = 0, again = 0, n = check_scale(400);
  sw_rng_seed(&g, check_seed(29));
  for (int i = 0; i < n; i++) {
    const int most = 8;
    sw_layer layer = (sw_layer)(i % 4);
    build(&g, r, layer == SW_LAYER_USER_PRIORITY ? 3 : 0);
    r->flow.conservative = i % 8 == 7;
    for (int run = 0, more = 1; more; run++) {
      memcpy(before, r->sharding, sizeof before);
      assert_ok(sw_flow_propagate(&r->flow, layer, &diag));
      check_result(r, before);
      more = changes(before, r->sharding);
      changed += run ? 0 : more;
      if (layer == SW_LAYER_USER_PRIORITY) break; /* its priorities are gone */
      again += run && more;
      assert_true(run < most);
    }
  }
  assert_true(changed > n / 4 && again < n / 4);
  test_free(r);
}

/* From what a dimension has back to a tensor that was annotated with it; how many records that took. */
static int follow(const sw_origins *o, int32_t tensor, sw_axis_ref axis) {
  int32_t i = (int32_t)o->came.n;
  for (int n = 0;; n++) {
    const int32_t earlier = sw_origin_of(o, tensor, axis, i);
    assert_true(earlier < i);
    assert_int_not_equal(earlier, SW_ORIGIN_NONE);
    if (earlier == SW_ORIGIN_SAID) {
      assert_non_null(o->initial[tensor]);
      return n;
    }
    const sw_axis_arrival *a = &o->came.at[earlier];
    assert_int_equal(a->tensor, tensor);
    assert_true(sw_axis_common(a->axis, axis).size > 1);
    assert_true(a->step >= 0);
    tensor = a->from;
    axis = a->axis;
    i = earlier;
  }
}

/* Every axis of every result comes from one that was annotated, and recording changes nothing. */
static void axes_come_from_annotations(void **state) {
  (void)state;
  sw_rng g;
  random_flow *r = test_malloc(sizeof *r);
  sw_open_sharding before[TENSORS], without[TENSORS];
  int64_t longest = 0, lost = 0;
  sw_rng_seed(&g, check_seed(31));
  for (int i = 0; i < check_scale(400); i++) {
    const sw_layer layer = (sw_layer)(i % 5);
    sw_origins o = {0};
    build(&g, r, layer >= SW_LAYER_USER_PRIORITY ? 3 : 0);
    memcpy(before, r->sharding, sizeof before);
    assert_ok(sw_flow_propagate(&r->flow, layer, &diag));
    memcpy(without, r->sharding, sizeof without);
    memcpy(r->sharding, before, sizeof before);
    r->flow.origins = &o;
    assert_ok(sw_flow_propagate(&r->flow, layer, &diag));
    for (int32_t t = 0; t < TENSORS; t++) {
      const sw_sharding *cut = &r->sharding[t].cut;
      assert_true(sw_sharding_equal(cut, &without[t].cut));
      for (int k = 0; k < cut->n_refs && r->sharding[t].mesh >= 0; k++) {
        const int n = follow(&o, t, cut->refs[k]);
        if (n > longest) longest = n;
      }
    }
    for (size_t k = 0; k < o.lost.n; k++) assert_true(o.lost.at[k].winner_weight >= o.lost.at[k].weight);
    lost += (int64_t)o.lost.n;
    sw_origins_free(&o);
  }
  assert_true(longest > 2);
  assert_true(lost > check_scale(400) / 20);
  test_free(r);
}

/* c = a + b, elementwise over one dimension of 8, on x=2, y=2. */
static sw_open_sharding add(sw_layer layer, sw_open_sharding a, sw_open_sharding b, sw_open_sharding c) {
  static int64_t dims[1] = {8};
  const sw_type type = {.dtype = SW_F32, .rank = 1, .dims = dims}, *types[3] = {&type, &type, &type};
  sw_mesh mesh = {.n_axes = 2, .axis = {{"x", 2}, {"y", 2}}};
  sw_open_sharding s[3] = {a, b, c};
  static const int32_t kTensors[] = {0, 1, 2};
  const sw_flow_op step = {
      .n_operands = 2, .n_results = 1, .tensors = kTensors, .allowed = SW_DIRECTION_BOTH, .kind = SW_STEP_ELEMENTWISE};
  sw_flow f = {
      .n_meshes = 1, .n_tensors = 3, .n_steps = 1, .meshes = &mesh, .shardings = s, .types = types, .steps = &step};
  assert_ok(sw_flow_propagate(&f, layer, &diag));
  return s[2];
}

static sw_open_sharding cut_by(int n, const int *axes, bool open) {
  sw_open_sharding s = {.mesh = 0, .open = open};
  s.cut = sw_sharding_replicated(1);
  for (int i = 0; i < n; i++) assert_true(sw_sharding_push(&s.cut, 0, (sw_axis_ref){axes[i], 1, 2}));
  return s;
}

static void closed_dims_hold_the_basic_layer_alone(void **state) {
  (void)state;
  const sw_open_sharding x = cut_by(1, (int[]){0}, false), xy = cut_by(2, (int[]){0, 1}, false);
  const sw_open_sharding open = cut_by(0, NULL, true), y = cut_by(1, (int[]){1}, true);
  assert_int_equal(add(SW_LAYER_BASIC, x, xy, open).cut.n_refs, 1);
  assert_int_equal(add(SW_LAYER_AGGRESSIVE, x, xy, open).cut.n_refs, 2);
  assert_int_equal(add(SW_LAYER_BASIC, x, y, open).cut.n_refs, 0);
  assert_int_equal(add(SW_LAYER_AGGRESSIVE, x, y, open).cut.n_refs, 0);
  assert_int_equal(add(SW_LAYER_BASIC, xy, open, cut_by(0, NULL, false)).cut.n_refs, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(results_are_refinements_and_final),
      cmocka_unit_test(axes_come_from_annotations),
      cmocka_unit_test(closed_dims_hold_the_basic_layer_alone),
  };
  return cmocka_run_group_tests_name("flow", tests, NULL, NULL);
}
