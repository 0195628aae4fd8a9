/* The run on one device that a validation compares with: arguments made up or given, every value kept when asked. */
#include "exec/validate/single.h"

#include "exec/validate/perturb.h"

enum { MOST_TRIP_BYTES = 1 << 29 };

/* Another trip of a loop. */
static sw_rc keep_trip(sw_single *s, sw_id id, const sw_buffer *result, sw_diag *d) {
  sw_tensor copy = {0};
  s->trip_bytes += sw_buffer_elements(result) * sw_dtype_bytes(result->dtype);
  if (s->trip_bytes > MOST_TRIP_BYTES) return SW_OK;
  SW_TRY(sw_tensor_copy(&copy, result, d));
  sw_rc rc = sw_array_push(&s->trips[id].at, copy, d);
  if (rc) sw_tensor_deinit(&copy);
  return rc;
}

static sw_rc observe_single(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  (void)device;
  sw_single *s = user;
  const bool in_loop = s->trips && sw_op_is_repeated(s->graph, op);
  for (int i = 0; i < op->n_results; i++) {
    s->exact = s->exact && sw_small_integers(results[i], s->held);
    if (in_loop) SW_TRY(keep_trip(s, op->results[i], results[i], d));
    if (s->values) sw_tensor_deinit(&s->values[op->results[i]]); /* of an earlier trip of the loop */
    if (s->values) SW_TRY(sw_tensor_copy(&s->values[op->results[i]], results[i], d));
  }
  return SW_OK;
}

static int64_t longest_reduction(const sw_graph *g) {
  int64_t longest = 1;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_loop_nest *s = g->ops[i].nest;
    double terms = 1;
    for (int l = 0; s && l < s->n_loops; l++) {
      if (s->loops[l].kind != SW_LOOP_PARALLEL) terms *= (double)s->loops[l].size;
    }
    if (terms > (double)longest && terms < 1e15) longest = (int64_t)terms;
  }
  return longest;
}

/* Sums of numbers of few digits are exact only where their parts are held in more, and what is complex never. */
static bool may_be_exact(const sw_graph *g, bool held) {
  for (int32_t i = 0; i < g->n_values; i++) {
    sw_dtype t = g->values[i].type.dtype;
    sw_dtype_class class = sw_dtype_class_of(t);
    if (class == SW_CLASS_COMPLEX || (class == SW_CLASS_FLOAT && !held && t != SW_F32 && t != SW_F64)) return false;
  }
  return true;
}

static sw_rc run_single_once(sw_single *s, sw_cancel *cancel, sw_diag *d) {
  const sw_graph *g = s->graph;
  const sw_buffer **args = sw_mem_alloc((size_t)g->n_args + 1, sizeof *args, d);
  if (!args) return SW_E_RESOURCE;
  s->exact = true;
  for (int32_t i = 0; i < g->n_args; i++) {
    args[i] = &s->args[i];
    s->exact = s->exact && sw_small_integers(args[i], s->held);
  }
  sw_exec_options o = {.observe = observe_single, .observe_user = s, .cancel = cancel};
  double start = sw_now_s();
  sw_rc rc = sw_exec_run(g, args, &o, s->want, d);
  s->seconds = sw_now_s() - start;
  sw_mem_free(args);
  return rc;
}

static void forget_single(sw_single *s) {
  const sw_graph *g = s->graph;
  for (int32_t i = 0; s->own_args && s->args && i < g->n_args; i++) sw_tensor_deinit(&s->args[i]);
  for (int32_t i = 0; s->want && i < g->n_outputs; i++) sw_tensor_deinit(&s->want[i]);
  for (int32_t i = 0; s->values && i < g->n_values; i++) sw_tensor_deinit(&s->values[i]);
  for (int32_t i = 0; s->trips && i < g->n_values; i++) {
    for (size_t k = 0; k < s->trips[i].at.n; k++) sw_tensor_deinit(&s->trips[i].at.at[k]);
    sw_array_free(&s->trips[i].at);
  }
  s->trip_bytes = 0;
}

/* What made-up arguments may be, the best first. */
typedef struct attempt {
  bool random_floats;
  double scale; /* of floats that may be anything */
  bool wide;
} attempt;
static const attempt kAttempts[] = {{false, 1, true}, {false, 1}, {true, 1}, {true, 0.25}, {true, 4}};
enum { N_ATTEMPTS = sizeof kAttempts / sizeof kAttempts[0], FIRST_RANDOM = 2 };

static sw_rc make_and_run(sw_single *s, const sw_single_options *o, const attempt *a, bool *far, sw_diag *d) {
  sw_argument_maker m = {.graph = s->graph,
                         .seed = o->seed,
                         .random_floats = a->random_floats,
                         .scale = a->scale,
                         .wide = a->wide,
                         .cuts = o->cuts,
                         .cuts_user = o->cuts_user};
  SW_TRY(sw_arguments_make(&m, s->args, far, d));
  return run_single_once(s, o->cancel, d);
}

/* Elements of outputs that say nothing. */
static int64_t not_finite(const sw_single *s) {
  int64_t sum = 0;
  for (int32_t i = 0; i < s->graph->n_outputs; i++) sum += sw_count_not_finite(&s->want[i]);
  return sum;
}

/* Small integers make chaotic numbers of some models (a softmax of large scores): unless everything stays exact with
 * them, random floats of moderate size are the better arguments; and where infinities and NaN come out, others, if
 * fewer come out then. */
static sw_rc make_arguments(sw_single *s, const sw_single_options *o, sw_diag *d) {
  int first = o->random_floats || !may_be_exact(s->graph, o->held) ? FIRST_RANDOM : 0, best = -1;
  int64_t fewest = 0;
  bool far;
  for (int i = first; i < N_ATTEMPTS; i++) {
    if (i > first) forget_single(s);
    SW_TRY(make_and_run(s, o, &kAttempts[i], &far, d));
    if (i < FIRST_RANDOM && s->exact) return SW_OK;
    if (i == 0 && !far) i++; /* the next would be the same */
    if (i < FIRST_RANDOM) continue;
    int64_t n = not_finite(s);
    if (n == 0) return SW_OK;
    if (best < 0 || n < fewest) best = i, fewest = n;
  }
  if (best == N_ATTEMPTS - 1) return SW_OK;
  forget_single(s);
  return make_and_run(s, o, &kAttempts[best], &far, d);
}

sw_rc sw_single_run(const sw_graph *g, const sw_single_options *o, sw_arena *arena, sw_single *out, sw_diag *d) {
  *out = (sw_single){.graph = g, .own_args = !o->inputs, .held = o->held, .terms = longest_reduction(g)};
  SW_TRY(sw_single_find_coarsest(g, arena, &out->coarsest, d));
  SW_TRY(sw_single_find_rounded(g, o->averaged, arena, &out->rounded, d));
  SW_ARENA_NEW(out->args, arena, g->n_args, d);
  SW_ARENA_NEW(out->want, arena, g->n_outputs, d);
  if (o->keep_values) {
    SW_ARENA_NEW_EACH(arena, g->n_values, d, out->values, out->trips);
  }
  if (!o->inputs) return make_arguments(out, o, d);
  for (int32_t i = 0; i < g->n_args; i++) out->args[i] = o->inputs[i];
  return run_single_once(out, o->cancel, d);
}

void sw_single_deinit(sw_single *s) {
  if (s->graph) forget_single(s);
}

const sw_buffer *sw_single_value(const sw_single *s, sw_id id) {
  const sw_value *value = &s->graph->values[id];
  if (value->def >= 0) return s->values && s->values[id].data ? &s->values[id] : NULL;
  return &s->args[value->def_index];
}

const sw_buffer *sw_single_trip(const sw_single *s, sw_id id, int32_t trip) {
  const sw_id def = s->graph->values[id].def;
  if (def < 0 || !sw_op_is_repeated(s->graph, &s->graph->ops[def])) return sw_single_value(s, id);
  return s->trips && (size_t)trip < s->trips[id].at.n ? &s->trips[id].at.at[trip] : NULL;
}

bool sw_single_may_turn(const sw_single *s, sw_id id) {
  const sw_graph *g = s->graph;
  const sw_op *op = sw_value_maker(g, id);
  if (s->exact || !op || sw_dtype_class_of(g->values[id].type.dtype) == SW_CLASS_FLOAT) return false;
  for (int i = 0; i < op->n_operands; i++) {
    if (sw_dtype_class_of(sw_operand_type(g, op, i)->dtype) == SW_CLASS_FLOAT) return true;
  }
  return false;
}
