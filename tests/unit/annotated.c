/* Random small models with annotations of every kind (halos, offsets, partial values, plain ones; required and hints)
 * at every place (arguments, values in between, uses, outputs): `propagate` and `plan` find a plan that keeps what is
 * required, and executed it computes what one device does. And the same models over meshes that have axes of size 1
 * too, which annotations name anywhere: nothing is dearer, cheaper, refused or wrong for them.
 *
 *   SW_TEST_SCALE=100 SW_TEST_SEED=7 ./unit_annotated     a hundred times as many
 */
#include "check.h"

#include "random_sharding.h"
#include "shardwright/emit.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/propagate.h"
#include "shardwright/validate.h"
#include "support/job.h"

enum { MOST_VALUES = 12, CASES = 120, TWINS = 60 };

static const char *const kMeshes[] = {"x=2", "x=3", "x=4", "x=2,y=2", "x=2,y=3", "x=4,y=2", "x=2,y=2,z=2", "x=1,y=3"};

typedef struct made {
  char name[8];
  int rank;
  int64_t dims[4];
  int op; /* that makes it; -1: an argument */
} made;

typedef struct writer {
  rng rng;
  sw_mesh mesh, said; /* annotations are in axes of `said`: those of `mesh` behind `first` of size 1, and more such */
  int first;
  bool ties; /* open dims and sharding groups, too */
  rng ones, more;
  sw_arena arena;
  const char *dtype;
  made value[MOST_VALUES];
  int n_values, n_ops, n_args;
  sw_text ops, notes[MOST_VALUES]; /* notes: the annotations of a value */
  struct {
    int op, operand, value;
  } use[3 * MOST_VALUES];
  int n_uses;
} writer;

static int64_t below(writer *w, int64_t n) { return rng_below(&w->rng, n); }

/* --- the model ---------------------------------------------------------------------------------------------------- */

static made *add_value(writer *w, const char *prefix, int rank, const int64_t *dims, int op) {
  made *v = &w->value[w->n_values];
  *v = (made){.rank = rank, .op = op};
  snprintf(v->name, sizeof v->name, "%s%d", prefix, w->n_values++);
  memcpy(v->dims, dims, (size_t)rank * sizeof *dims);
  return v;
}

static void put_ints(sw_text *t, const int64_t *at, int n) {
  sw_text_puts(t, "[");
  for (int i = 0; i < n; i++) sw_text_printf(t, "%s%lld", i ? "," : "", (long long)at[i]);
  sw_text_puts(t, "]");
}

/* "key": [..], behind what there is. */
static void put_attr(sw_text *attrs, const char *key, const int64_t *at, int n) {
  sw_text_printf(attrs, "%s\"%s\": ", attrs->n ? ", " : "", key);
  put_ints(attrs, at, n);
}

static void add_op(writer *w, const char *op, int n, const int *operands, int rank, const int64_t *dims,
                   const char *attrs) {
  const made *v = add_value(w, "v", rank, dims, w->n_ops);
  sw_text_printf(&w->ops, "%s{\"op\": \"%s\", \"name\": \"op%d\", \"inputs\": [", w->n_ops ? ",\n  " : "", op,
                 w->n_ops);
  for (int i = 0; i < n; i++) {
    sw_text_printf(&w->ops, "%s\"%s\"", i ? ", " : "", w->value[operands[i]].name);
    w->use[w->n_uses].op = w->n_ops;
    w->use[w->n_uses].operand = i;
    w->use[w->n_uses++].value = operands[i];
  }
  sw_text_printf(&w->ops, "], \"outputs\": [\"%s\"], \"attrs\": {%s}}", v->name, attrs);
  w->n_ops++;
}

static bool same_shape(const made *a, const made *b) {
  return a->rank == b->rank && memcmp(a->dims, b->dims, (size_t)a->rank * sizeof a->dims[0]) == 0;
}

static bool is_bool(const writer *w) { return strcmp(w->dtype, "bool") == 0; }
static bool is_float(const writer *w) { return w->dtype[0] == 'f' || strcmp(w->dtype, "bf16") == 0; }

static void add_elementwise(writer *w, int x) {
  static const char *const kFloat[] = {"negate", "abs", "tanh"}, *const kInt[] = {"negate", "abs", "not"};
  static const char *const kTwo[] = {"add", "multiply", "maximum", "subtract"}, *const kBits[] = {"and", "or", "xor"};
  const made v = w->value[x];
  int with[2] = {x, (int)below(w, w->n_values)};
  if (same_shape(&v, &w->value[with[1]]) && below(w, 2)) {
    add_op(w, is_bool(w) ? kBits[below(w, 3)] : kTwo[below(w, 4)], 2, with, v.rank, v.dims, "");
  } else if (is_bool(w)) {
    add_op(w, "not", 1, &x, v.rank, v.dims, "");
  } else {
    add_op(w, is_float(w) ? kFloat[below(w, 3)] : kInt[below(w, 3)], 1, &x, v.rank, v.dims, "");
  }
}

static void add_transpose(writer *w, int x) {
  const made v = w->value[x];
  int64_t perm[4], dims[4];
  sw_text attrs = {0};
  for (int k = 0; k < v.rank; k++) perm[k] = k;
  for (int k = v.rank - 1; k > 0; k--) {
    int64_t j = below(w, k + 1), t = perm[k];
    perm[k] = perm[j];
    perm[j] = t;
  }
  for (int k = 0; k < v.rank; k++) dims[k] = v.dims[perm[k]];
  put_attr(&attrs, "permutation", perm, v.rank);
  add_op(w, "transpose", 1, &x, v.rank, dims, sw_text_str(&attrs));
  sw_text_free(&attrs);
}

static void add_reduce(writer *w, int x) {
  static const char *const kKinds[] = {"sum", "max", "min"};
  const made v = w->value[x];
  const int dim = (int)below(w, v.rank);
  int64_t dims[4];
  char attrs[64];
  int n = 0;
  for (int k = 0; k < v.rank; k++)
    if (k != dim) dims[n++] = v.dims[k];
  snprintf(attrs, sizeof attrs, "\"kind\": \"%s\", \"dims\": [%d]", is_bool(w) ? "or" : kKinds[below(w, 3)], dim);
  add_op(w, "reduce", 1, &x, n, dims, attrs);
}

static void add_slice(writer *w, int x) {
  const made v = w->value[x];
  int64_t start[4], limit[4], dims[4];
  sw_text attrs = {0};
  for (int k = 0; k < v.rank; k++) {
    start[k] = below(w, 3) ? 0 : below(w, v.dims[k]);
    limit[k] = below(w, 2) ? v.dims[k] : start[k] + 1 + below(w, v.dims[k] - start[k]);
    dims[k] = limit[k] - start[k];
  }
  put_attr(&attrs, "start", start, v.rank);
  put_attr(&attrs, "limit", limit, v.rank);
  add_op(w, "slice", 1, &x, v.rank, dims, sw_text_str(&attrs));
  sw_text_free(&attrs);
}

static void add_window(writer *w, int x) {
  const made v = w->value[x];
  const int64_t ones[4] = {1, 1, 1, 1};
  const int dim = (int)below(w, v.rank);
  int64_t window[4] = {1, 1, 1, 1}, low[4] = {0}, high[4] = {0}, dims[4];
  sw_text attrs = {0};
  memcpy(dims, v.dims, sizeof dims);
  window[dim] = 1 + below(w, v.dims[dim] < 3 ? v.dims[dim] : 3);
  low[dim] = below(w, 2);
  high[dim] = below(w, 2);
  dims[dim] += low[dim] + high[dim] - window[dim] + 1;
  sw_text_puts(&attrs, below(w, 2) ? "\"kind\": \"max\"" : "\"kind\": \"sum\"");
  put_attr(&attrs, "window", window, v.rank);
  put_attr(&attrs, "strides", ones, v.rank);
  put_attr(&attrs, "pad_low", low, v.rank);
  put_attr(&attrs, "pad_high", high, v.rank);
  add_op(w, "reduce_window", 1, &x, v.rank, dims, sw_text_str(&attrs));
  sw_text_free(&attrs);
}

static void add_reshape(writer *w, int x) {
  const made v = w->value[x];
  int64_t all = 1;
  sw_text attrs = {0};
  for (int k = 0; k < v.rank; k++) all *= v.dims[k];
  put_attr(&attrs, "shape", &all, 1);
  add_op(w, "reshape", 1, &x, 1, &all, sw_text_str(&attrs));
  sw_text_free(&attrs);
}

static void add_concatenate(writer *w, int x) {
  const made v = w->value[x];
  const int dim = (int)below(w, v.rank), twice[2] = {x, x};
  int64_t dims[4];
  char attrs[32];
  memcpy(dims, v.dims, sizeof dims);
  dims[dim] *= 2;
  snprintf(attrs, sizeof attrs, "\"dim\": %d", dim);
  add_op(w, "concatenate", 2, twice, v.rank, dims, attrs);
}

/* x times an argument of its own, over the last dimension. */
static void add_dot(writer *w, int x) {
  const made v = w->value[x];
  const int64_t k = v.dims[v.rank - 1], shape[2] = {k, 1 + below(w, 6)};
  int64_t dims[4];
  char attrs[64];
  int in[2] = {x, w->n_values};
  add_value(w, "w", 2, shape, -1);
  w->n_args++;
  memcpy(dims, v.dims, sizeof dims);
  dims[v.rank - 1] = shape[1];
  snprintf(attrs, sizeof attrs, "\"lhs_contract\": [%d], \"rhs_contract\": [0]", v.rank - 1);
  add_op(w, "dot_general", 2, in, v.rank, dims, attrs);
}

static void add_random_op(writer *w) {
  static void (*const kAdd[])(writer *, int) = {add_transpose, add_reduce, add_slice,      add_window,
                                                add_reshape,   add_dot,    add_concatenate};
  const int x = below(w, 2) ? w->n_values - 1 : (int)below(w, w->n_values);
  const bool some = w->value[x].rank > 0 && below(w, 5) < 2;
  const int which = (int)below(w, 7);
  const bool numbers = which == 3 || which == 5;
  if (!some || (numbers && is_bool(w)))
    add_elementwise(w, x);
  else
    kAdd[which](w, x);
}

/* --- annotations -------------------------------------------------------------------------------------------------- */

typedef enum kind { PLAIN, HALOS, OFFSETS, PARTIAL, N_KINDS } kind;

static sw_reduction random_reduction(writer *w) {
  static const sw_reduction kFloat[] = {SW_REDUCE_SUM, SW_REDUCE_PRODUCT, SW_REDUCE_MIN, SW_REDUCE_MAX,
                                        SW_REDUCE_AVERAGE};
  static const sw_reduction kInt[] = {SW_REDUCE_SUM,     SW_REDUCE_MIN,    SW_REDUCE_MAX,
                                      SW_REDUCE_BIT_AND, SW_REDUCE_BIT_OR, SW_REDUCE_BIT_XOR};
  static const sw_reduction kBool[] = {SW_REDUCE_AND, SW_REDUCE_OR};
  return is_bool(w) ? kBool[below(w, 2)] : is_float(w) ? kFloat[below(w, 5)] : kInt[below(w, 6)];
}

static sw_sharding random_of_kind(writer *w, const made *v, kind k) {
  sw_sharding s = sw_sharding_replicated(v->rank);
  sw_axis_ref refs[SW_MAX_REFS * 2];
  const sw_reduction reduction = random_reduction(w);
  const int n = random_refs(&w->rng, &w->mesh, refs);
  for (int i = 0; i < n; i++) {
    const bool partial = k == PARTIAL && (i == 0 || below(w, 3) == 0);
    if (partial)
      (void)sw_sharding_push_partial(&s, reduction, refs[i]);
    else if (v->rank && below(w, 4))
      (void)sw_sharding_push(&s, (int)below(w, v->rank), refs[i]);
  }
  if (k == HALOS || k == OFFSETS) {
    do {
      s.halos = s.offsets = NULL;
      random_lists(&w->rng, &w->arena, v->dims, &s);
    } while (s.n_refs && (k == HALOS ? !s.halos : !s.offsets));
  }
  sw_sharding_normalise(&w->mesh, &s);
  return s;
}

static void name_some_ones(writer *w, const made *v, sw_sharding *s) {
  const bool lists = s->halos || s->offsets;
  for (int a = 0; a < w->said.n_axes; a++) {
    if (w->said.axis[a].size > 1 || (a >= w->first && a < w->first + w->mesh.n_axes)) continue;
    const sw_axis_ref one = sw_axis_whole(&w->said, a);
    const int64_t how = rng_below(&w->ones, 4);
    int n, dim = v->rank ? (int)rng_below(&w->ones, v->rank) : 0;
    (void)sw_sharding_dim(s, dim, &n);
    if (how == 0 && !lists)
      (void)sw_sharding_push_partial(s, s->n_partial ? (sw_reduction)s->partial_kind : SW_REDUCE_MAX, one);
    else if (how > 1 && v->rank && (n || !lists)) /* lists are of the dims that have axes */
      (void)sw_sharding_push(s, dim, one);
  }
}

/* In axes of the mesh that is said; with `ties` some dims are open. */
static void put_sharding(writer *w, const made *v, const sw_sharding *of, sw_text *t) {
  sw_sharding s = *of;
  sw_annotation a = {.value = 0, .op = -1};
  const sw_request asked = {.has_mesh = true, .mesh = w->said};
  for (int i = 0; i < s.n_refs + s.n_partial; i++) s.refs[i].axis += w->first;
  if (w->ties && !s.halos && !s.offsets) a.open_dims = (uint32_t)rng_below(&w->more, 1 << v->rank);
  if (w->said.n_axes > w->mesh.n_axes) name_some_ones(w, v, &s);
  a.sharding = s;
  sw_annotation_print(&asked, &a, t);
}

typedef enum place { DEFINITION, USE, OUTPUT, N_PLACES } place;

static void annotate(writer *w, kind k, place p) {
  sw_text t = {0};
  int value = (int)below(w, w->n_values);
  const int use = (int)below(w, w->n_uses);
  if (p == USE) value = w->use[use].value;
  if (p == OUTPUT) value = w->n_values - 1;
  const made *v = &w->value[value];
  const sw_sharding s = random_of_kind(w, v, k);
  put_sharding(w, v, &s, &t);
  sw_text *out = &w->notes[value];
  if (p == DEFINITION && out->n) { /* it has one */
    sw_text_free(&t);
    return;
  }
  sw_text_printf(out, "%s{\"sharding\": \"%s\", \"required\": %s", out->n ? ", " : "", sw_text_str(&t),
                 below(w, 4) ? "true" : "false");
  if (p == USE)
    sw_text_printf(out, ", \"for_users\": [{\"op\": \"op%d\", \"operand\": %d}]", w->use[use].op, w->use[use].operand);
  if (p == OUTPUT) sw_text_printf(out, ", \"for_users\": [{\"output\": \"%s\"}]", v->name);
  sw_text_puts(out, "}");
  sw_text_free(&t);
}

/* A mesh of ours, and with `ones` some axes of size 1 around its own. */
static const char *choose_mesh(writer *w, bool ones) {
  const char *mesh = kMeshes[below(w, 8)];
  static const char *const kAround[][2] = {{"p=1,", ""}, {"", ",q=1"}, {"p=1,", ",q=1"}};
  const char *const *around = kAround[rng_below(&w->ones, 3)];
  sw_text t = {0};
  assert_ok(sw_mesh_parse(mesh, &w->arena, &w->mesh, &diag));
  w->first = ones && around[0][0];
  sw_text_printf(&t, "%s%s%s", ones ? around[0] : "", mesh, ones ? around[1] : "");
  mesh = sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, &diag);
  assert_ok(sw_mesh_parse(mesh, &w->arena, &w->said, &diag));
  sw_text_free(&t);
  return mesh;
}

static void write_model(writer *w, bool ones, sw_text *out) {
  static const char *const kTypes[] = {"f32", "f32", "f32", "i32", "bool", "f64"};
  int64_t dims[4];
  const int rank = 1 + (int)below(w, 3), n_ops = 1 + (int)below(w, 4), n_annotations = 1 + (int)below(w, 2);
  const char *mesh = choose_mesh(w, ones);
  w->dtype = kTypes[below(w, 6)];
  for (int k = 0; k < rank; k++) dims[k] = 1 + below(w, 9);
  add_value(w, "x", rank, dims, -1);
  if (below(w, 2)) add_value(w, "x", rank, dims, -1);
  w->n_args = w->n_values;
  for (int i = 0; i < n_ops; i++) add_random_op(w);
  for (int i = 0; i < n_annotations; i++) {
    const kind k = below(w, 3) ? (kind)(1 + below(w, 3)) : PLAIN;
    annotate(w, k, i == 0 ? DEFINITION : (place)below(w, N_PLACES)); /* definitions before uses */
  }
  sw_text_printf(out, "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"m\", \"mesh\": \"%s\",\n", mesh);
  sw_text_puts(out, " \"values\": [");
  for (int i = 0; i < w->n_values; i++) {
    if (w->value[i].op >= 0 && !w->notes[i].n) continue;
    sw_text_printf(out, "%s\n  {\"name\": \"%s\"", i ? "," : "", w->value[i].name);
    if (w->value[i].op < 0) {
      sw_text_printf(out, ", \"kind\": \"input\", \"dtype\": \"%s\", \"shape\": ", w->dtype);
      put_ints(out, w->value[i].dims, w->value[i].rank);
    }
    if (w->notes[i].n) sw_text_printf(out, ", \"annotations\": [%s]", w->notes[i].at);
    sw_text_puts(out, "}");
  }
  sw_text_puts(out, "],\n");
  const int a = (int)rng_below(&w->more, w->n_values), b = (int)rng_below(&w->more, w->n_values);
  if (w->ties && a != b && same_shape(&w->value[a], &w->value[b]))
    sw_text_printf(out, " \"sharding_groups\": [[\"%s\", \"%s\"]],\n", w->value[a].name, w->value[b].name);
  sw_text_printf(out, " \"ops\": [%s],\n \"outputs\": [\"%s\"]}\n", sw_text_str(&w->ops),
                 w->value[w->n_values - 1].name);
}

/* --- a case ------------------------------------------------------------------------------------------------------- */

/* Does the plan compute what one device does? */
static bool computes(const sw_plan *p, uint64_t seed, sw_text *why) {
  diag = (sw_diag){0};
  sw_arena scratch = {0};
  sw_validation v = {0};
  const sw_validate_options o = {.seed = seed, .timeout_s = 60, .intermediates = true};
  sw_rc rc = sw_plan_verify(p, &diag);
  if (!rc) rc = sw_validate(p, &o, &scratch, &v, &diag);
  if (rc) sw_text_printf(why, "%s (%s)", diag.text, diag.n_notes ? diag.notes[0] : "");
  if (!rc && !v.matches) sw_text_printf(why, "differs, first at op %s", v.first_bad_op ? v.first_bad_op : "of outputs");
  sw_arena_deinit(&scratch);
  return !rc && v.matches;
}

typedef struct outcome {
  int64_t runs, again, refused, bad, unread, dearer;
  double worst; /* plan's cost beside propagate's */
} outcome;

static void say(bool planned, const char *what, const char *model) {
  if (getenv("SHOW_REFUSED")) print_message("%s: %s\n%s\n", planned ? "plan" : "propagate", what, model);
}

/* The program of one device in Shardy's dialect is read again, and runs. */
static void read_again(const sw_plan *p, uint64_t seed, sw_text *why, outcome *out) {
  sw_arena arena = {0};
  diag = (sw_diag){0};
  sw_text text = {0};
  sw_program *program = NULL;
  sw_plan plan;
  if (sw_emit_plan(p, "spmd-sdy", &text, &diag)) { /* what it has no spelling for */
    sw_text_free(&text);
    return;
  }
  sw_rc rc = sw_program_parse("again.mlir", text.at, text.n, &(sw_program_options){0}, &program, &diag);
  if (!rc)
    rc = sw_propagate(JOB(sw_program_graph(program), p->job.machine), SW_TRAVERSE_BACKWARD_FORWARD, &arena, &plan,
                      &diag);
  if (rc) sw_text_printf(why, "again: %s\n%s", diag.text, text.at);
  if (!rc) out->again += computes(&plan, seed, why);
  sw_program_destroy(program);
  sw_arena_deinit(&arena);
  sw_text_free(&text);
}

/* By the search, or by propagation: what the plan takes; 0: there is none, or a wrong one. */
static double plan_and_run(const sw_graph *g, const sw_machine *machine, bool search, uint64_t seed, const char *model,
                           outcome *out) {
  const sw_plan_options o = {.solve = {.work_limit = 20000000, .threads = 1}};
  sw_arena arena = {0};
  diag = (sw_diag){0};
  sw_text why = {0};
  sw_plan plan;
  sw_breakdown breakdown = {0};
  sw_rc rc = search ? sw_plan_search(JOB(g, machine), &o, &arena, &plan, &diag)
                    : sw_propagate(JOB(g, machine), SW_TRAVERSE_BACKWARD_FORWARD, &arena, &plan, &diag);
  plan.args_whole = seed & 1;
  if (rc == SW_E_INFEASIBLE) {
    out->refused++;
    say(search, diag.text, model);
  } else if (rc) {
    sw_text_printf(&why, "%s", diag.text);
  } else if (computes(&plan, seed, &why)) {
    assert_ok(sw_plan_breakdown(&plan, &arena, &breakdown, &diag));
    out->runs++;
    read_again(&plan, seed, &why, out);
  }
  if (why.n) {
    print_message("%s seed %llu: %s\n%s\n", search ? "plan" : "propagate", (unsigned long long)seed, why.at, model);
    out->bad++;
  }
  sw_text_free(&why);
  sw_arena_deinit(&arena);
  return breakdown.total_s;
}

static void compare(double propagated, double planned, uint64_t seed, const char *model, outcome *out) {
  if (propagated <= 0) return;
  if (planned / propagated > out->worst) out->worst = planned / propagated;
  out->dearer += planned > 1.02 * propagated + 1e-9;
  if (planned > 1.02 * propagated + 1e-9 && getenv("SHOW_DEARER"))
    print_message("seed %llu: plan %g, propagate %g\n%s\n", (unsigned long long)seed, planned, propagated, model);
}

typedef struct costs {
  bool read;
  double of[2]; /* propagate's, plan's; 0: refused */
} costs;

static costs try_case(const sw_profile *profile, uint64_t seed, bool ties, bool ones, outcome *out) {
  writer w = {.rng = {seed}, .ties = ties, .ones = {seed + 1}, .more = {seed + 2}};
  sw_text model = {0};
  diag = (sw_diag){0};
  sw_graph *g;
  sw_machine *machine;
  costs c = {0};
  write_model(&w, ones, &model);
  c.read = sw_model_parse("m.json", model.at, model.n, &g, &diag) == SW_OK;
  if (c.read) {
    assert_ok(sw_machine_build(&w.arena, profile, &w.said, &machine, &diag));
    for (int k = 0; k < 2; k++) c.of[k] = plan_and_run(g, machine, k, seed, model.at, out);
    compare(c.of[0], c.of[1], seed, model.at, out);
    sw_graph_destroy(g);
  } else {
    out->unread++;
    say(false, diag.text, model.at);
  }
  sw_text_free(&model);
  sw_text_free(&w.ops);
  for (int i = 0; i < w.n_values; i++) sw_text_free(&w.notes[i]);
  sw_arena_deinit(&w.arena);
  return c;
}

static void annotated_models_compute_what_they_should(void **state) {
  (void)state;
  sw_arena arena = {0};
  const sw_profile *profile;
  outcome out = {0};
  const uint64_t seed = check_seed(7);
  assert_ok(sw_profile_read("dgx-h100", &arena, &profile, &diag));
  const int64_t n = check_scale(CASES);
  for (int64_t i = 0; i < n; i++) (void)try_case(profile, seed * 1000003 + (uint64_t)i, false, false, &out);
  print_message(
      "%lld models (%lld not read): %lld plans executed, %lld refused, %lld bad; %lld plans of the search cost "
      "more than 1.02 of propagate's, the worst %.3f\n",
      (long long)n, (long long)out.unread, (long long)out.runs, (long long)out.refused, (long long)out.bad,
      (long long)out.dearer, out.worst);
  assert_int_equal(out.bad, 0);
  assert_true(out.runs > n);
  sw_arena_deinit(&arena);
}

static void axes_of_size_1_change_nothing(void **state) {
  (void)state;
  sw_arena arena = {0};
  const sw_profile *profile;
  outcome out = {0};
  const uint64_t seed = check_seed(8);
  assert_ok(sw_profile_read("dgx-h100", &arena, &profile, &diag));
  const int64_t n = check_scale(TWINS);
  for (int64_t i = 0; i < n; i++) {
    const uint64_t of = seed * 1000033 + (uint64_t)i;
    const costs without = try_case(profile, of, i % 2, false, &out), with = try_case(profile, of, i % 2, true, &out);
    for (int k = 0; k < 2; k++) {
      const double most = k ? 1e-6 * without.of[k] : 1e-15; /* plans that tie in the units of the search */
      const double difference = with.of[k] - without.of[k];
      if (with.read == without.read && difference <= most && difference >= -most) continue;
      print_message("%s of seed %llu: %d %.17g with axes of size 1, %d %.17g without\n", k ? "plan" : "propagate",
                    (unsigned long long)of, with.read, with.of[k], without.read, without.of[k]);
      out.bad++;
    }
  }
  print_message("%lld pairs: %lld plans executed, %lld read again from Shardy's dialect, %lld refused, %lld bad\n",
                (long long)n, (long long)out.runs, (long long)out.again, (long long)out.refused, (long long)out.bad);
  assert_int_equal(out.bad, 0);
  assert_true(out.again > n / 2);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(annotated_models_compute_what_they_should),
                                     cmocka_unit_test(axes_of_size_1_change_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
