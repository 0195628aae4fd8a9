/* Required annotations on values, uses and ops of small random graphs: whether they exclude each other is decided by
 * trying all strategies of every op, and `plan`, `propagate` and the check that comes before a run must agree with
 * that; what is planned is run. Then rows by hand: which two places are named.
 */
#include "check.h"

#include "strategy/demands.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/propagate.h"
#include "shardwright/clock.h"
#include "shardwright/validate.h"
#include "support/job.h"

enum { MOST_FOUND = 4096 };

/* --- all strategies of an op ------------------------------------------------------------------------------------- */

typedef struct all {
  const sw_graph *g;
  const sw_op *op;
  const sw_mesh *mesh;
  int n;
  sw_strategy at[MOST_FOUND];
} all;

/* What loops and dimensions are cut by: the axes, or two parts of one of size 4. */
static int atoms_of(const sw_mesh *mesh, sw_axis_ref atoms[2]) {
  assert_in_range(mesh->n_axes, 1, 2);
  atoms[0] = sw_axis_whole(mesh, 0);
  if (mesh->n_axes == 2) atoms[1] = sw_axis_whole(mesh, 1);
  if (mesh->n_axes == 2 || atoms[0].size != 4) return mesh->n_axes;
  atoms[0] = (sw_axis_ref){0, 1, 2};
  atoms[1] = (sw_axis_ref){0, 2, 2};
  return 2;
}

/* Every atom on no loop, or behind those that a loop has, in every order of the atoms. */
static void place_rest(all *a, const int *order, int k, const sw_strategy *s) {
  sw_axis_ref atoms[2];
  if (k == atoms_of(a->mesh, atoms)) {
    sw_strategy joined = *s;
    sw_strategy_join(&joined);
    assert_true(a->n < MOST_FOUND);
    if (sw_strategy_legal(a->g, a->op, a->mesh, &joined)) a->at[a->n++] = joined;
    return;
  }
  for (int l = -1; l < a->op->nest->n_loops + a->op->nest->n_linear; l++) {
    sw_strategy next = *s;
    if (l >= 0 && a->op->nest->n_loops > l && a->op->nest->loops[l].kind == SW_LOOP_WHOLE) continue;
    if (l >= 0) assert_true(sw_strategy_push(&next, l, atoms[order[k]]));
    place_rest(a, order, k + 1, &next);
  }
}

static void find_all(all *a, const sw_graph *g, const sw_op *op, const sw_mesh *mesh) {
  *a = (all){.g = g, .op = op, .mesh = mesh};
  const sw_strategy none = {0};
  sw_axis_ref atoms[2];
  place_rest(a, (int[]){0, 1}, 0, &none);
  if (atoms_of(mesh, atoms) == 2) place_rest(a, (int[]){1, 0}, 0, &none);
}

static void at_port(const all *a, const sw_strategy *s, int port, sw_sharding *out) {
  if (port < a->op->n_operands)
    sw_strategy_operand(a->op, s, port, out);
  else
    sw_strategy_result(a->op, s, port - a->op->n_operands, out);
}

/* --- brute force ------------------------------------------------------------------------------------------------- */

static bool is_as_option(const sw_annotation *a, const sw_strategy *s, int n_loops) {
  sw_strategy want = {0};
  for (int i = 0; i < a->n_loop_refs; i++) assert_true(sw_strategy_push(&want, a->loop_of[i], a->loop_refs[i]));
  sw_strategy_join(&want);
  for (int order = 0; order < 2; order++) { /* what is partial is a set of axes */
    if (sw_strategy_equal(&want, s)) return true;
    const int last = want.n_refs - 1;
    if (last < 1 || want.loop_of[last] != want.loop_of[last - 1] || want.loop_of[last] < n_loops) break;
    const sw_axis_ref ref = want.refs[last];
    want.refs[last] = want.refs[last - 1];
    want.refs[last - 1] = ref;
    sw_strategy_join(&want);
  }
  return false;
}

/* Behind the op a sum may be completed, or scattered: the axes over which it is partial then cut it further. */
static bool can_become(const sw_sharding *made, const sw_sharding *want) {
  for (int k = 0, i = 0, w = 0; k < made->rank; k++) {
    for (; i < made->n_refs && made->dim_of[i] == k; i++, w++)
      if (w == want->n_refs || want->dim_of[w] != k || !sw_axis_ref_equal(made->refs[i], want->refs[w])) return false;
    for (; w < want->n_refs && want->dim_of[w] == k; w++) {
      bool summed = false;
      for (int p = 0; p < made->n_partial; p++) {
        const sw_axis_ref over = sw_sharding_partial(made)[p], ref = want->refs[w];
        summed = summed || (over.axis == ref.axis && over.pre <= ref.pre && over.pre * over.size >= ref.pre * ref.size);
      }
      if (!summed) return false;
    }
  }
  return made->n_partial || sw_sharding_equal(made, want);
}

static bool is_met(const all *a, const sw_annotation *m, const sw_strategy *s) {
  if (!m->required) return true; /* a hint may be left */
  const sw_id id = (sw_id)(a->op - a->g->ops);
  sw_sharding at;
  if (m->op >= 0) return m->op != id || is_as_option(m, s, a->op->nest->n_loops);
  for (int r = 0; r < a->op->n_results && !m->for_users; r++) {
    at_port(a, s, a->op->n_operands + r, &at);
    const bool read = a->g->values[m->value].n_uses > 0; /* else there is nobody to bring it to */
    if (a->op->results[r] == m->value && !(read ? can_become(&at, &m->sharding) : sw_sharding_equal(&at, &m->sharding)))
      return false;
  }
  for (int i = 0; i < a->op->n_operands && m->for_users; i++) {
    bool named = m->n_users == 0;
    for (int u = 0; u < m->n_users; u++) named = named || (m->users[u].op == id && m->users[u].index == i);
    at_port(a, s, i, &at);
    if (named && a->op->operands[i] == m->value && !sw_sharding_equal(&at, &m->sharding)) return false;
  }
  return true;
}

/* The strategies that meet all annotations. */
static void keep_met(all *a) {
  int n = 0;
  for (int i = 0; i < a->n; i++) {
    bool met = true;
    for (int32_t k = 0; k < a->g->written->n_annotations && met; k++)
      met = is_met(a, &a->g->written->annotations[k], &a->at[i]);
    if (met) a->at[n++] = a->at[i];
  }
  a->n = n;
}

static bool op_can_give(all *a, const sw_graph *g, const sw_mesh *mesh, sw_id value, const sw_sharding *s) {
  const sw_value *v = &g->values[value];
  find_all(a, g, &g->ops[v->def], mesh);
  keep_met(a);
  for (int i = 0; i < a->n; i++) {
    sw_sharding at;
    sw_strategy_result(a->op, &a->at[i], v->def_index, &at);
    if (sw_sharding_equal(&at, s)) return true;
  }
  return false;
}

/* Is there a sharding that all operands and the result of a join can have? */
static bool join_is_possible(const sw_graph *g, const sw_op *join, const sw_mesh *mesh) {
  static all first, other;
  bool found = false;
  find_all(&first, g, &g->ops[g->values[join->operands[0]].def], mesh);
  keep_met(&first);
  for (int i = 0; i < first.n && !found; i++) {
    sw_sharding s;
    sw_strategy_result(first.op, &first.at[i], 0, &s);
    found = op_can_give(&other, g, mesh, join->results[0], &s);
    for (int k = 1; k < join->n_operands; k++) found = found && op_can_give(&other, g, mesh, join->operands[k], &s);
  }
  return found;
}

static bool state_is_possible(const sw_graph *g) {
  const sw_annotation *in = NULL, *out = NULL;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    for (int32_t k = 0; k < g->written->n_annotations && g->alias[i] >= 0; k++) {
      const sw_annotation *a = &g->written->annotations[k];
      if (!a->required) continue;
      if (a->value == g->alias[i] && !a->for_users) in = a;
      bool here = a->for_users && a->value == g->outputs[i] && a->n_users == 0;
      for (int u = 0; u < a->n_users; u++) here = here || (a->users[u].op < 0 && a->users[u].index == i);
      if (here) out = a;
    }
  }
  return !in || !out || sw_sharding_equal(&in->sharding, &out->sharding);
}

static bool is_possible(const sw_graph *g, const sw_mesh *mesh) {
  static all a;
  bool possible = state_is_possible(g);
  for (sw_id id = 0; id < g->n_ops && possible; id++) {
    find_all(&a, g, &g->ops[id], mesh);
    keep_met(&a);
    possible = a.n > 0;
    if (g->ops[id].code == SW_OP_JOIN) possible = possible && join_is_possible(g, &g->ops[id], mesh);
  }
  return possible;
}

/* --- random models ------------------------------------------------------------------------------------------------ */

enum { MOST_VALUES = 40, MOST_OPS = 40 };

typedef struct model {
  const char *mesh;
  sw_text ops[MOST_OPS]; /* without their options */
  int n_ops;
  char names[MOST_VALUES][16]; /* of 8x12 values that may be read now */
  int n_names, next;
  char state_out[16], result[16];
} model;

static sw_text *new_op(model *m) {
  assert_true(m->n_ops < MOST_OPS);
  return &m->ops[m->n_ops++];
}

static const char *some_name(model *m, sw_rng *r) { return m->names[sw_rng_below(r, m->n_names)]; }

static void add_name(model *m, const char *name) {
  assert_true(m->n_names < MOST_VALUES);
  snprintf(m->names[m->n_names++], sizeof m->names[0], "%s", name);
}

static const char *const kBodies[] = {
    "\"op\": \"add\", \"inputs\": [\"%1$s\", \"%2$s\"], \"outputs\": [\"%3$s\"]",
    "\"op\": \"tanh\", \"inputs\": [\"%1$s\"], \"outputs\": [\"%3$s\"]",
    "\"op\": \"multiply\", \"inputs\": [\"%1$s\", \"%2$s\"], \"outputs\": [\"%3$s\"]",
    "\"op\": \"dot_general\", \"inputs\": [\"%1$s\", \"%4$s\"], \"outputs\": [\"%3$s\"], \"attrs\": {\"lhs_contract\": "
    "[1], \"rhs_contract\": [0]}",
    "\"op\": \"reverse\", \"inputs\": [\"%1$s\"], \"outputs\": [\"%3$s\"], \"attrs\": {\"dims\": [1]}",
    "\"op\": \"sort\", \"inputs\": [\"%1$s\"], \"outputs\": [\"%3$s\"], \"attrs\": {\"dim\": 1}",
    "\"op\": \"cumulative\", \"inputs\": [\"%1$s\"], \"outputs\": [\"%3$s\"], \"attrs\": {\"kind\": \"sum\", \"dim\": "
    "0}",
};

/* An op on values that may be read; `w`: the name of a 12x12 matrix. */
static void add_body(model *m, sw_rng *r, const char *w) {
  char out[16];
  snprintf(out, sizeof out, "v%d", m->next++);
  sw_text_printf(new_op(m), kBodies[sw_rng_below(r, (int64_t)(sizeof kBodies / sizeof *kBodies))], some_name(m, r),
                 some_name(m, r), out, w);
  add_name(m, out);
}

static void add_loop(model *m, sw_rng *r) {
  char before[16], last[16];
  const int outside = m->n_names;
  snprintf(before, sizeof before, "%s", some_name(m, r));
  sw_text_puts(new_op(m), "\"op\": \"while\", \"name\": \"loop\"");
  sw_text_puts(new_op(m), "\"op\": \"enter\", \"inputs\": [\"zero\"], \"outputs\": [\"at\"]");
  sw_text_puts(new_op(m), "\"op\": \"enter\", \"inputs\": [\"one\"], \"outputs\": [\"step\"]");
  sw_text_puts(new_op(m), "\"op\": \"enter\", \"inputs\": [\"two\"], \"outputs\": [\"end\"]");
  sw_text_puts(new_op(m), "\"op\": \"enter\", \"inputs\": [\"w\"], \"outputs\": [\"wl\"]");
  sw_text_printf(new_op(m), "\"op\": \"enter\", \"inputs\": [\"%s\"], \"outputs\": [\"h\"]", before);
  sw_text_puts(
      new_op(m),
      "\"op\": \"compare\", \"inputs\": [\"at\", \"end\"], \"outputs\": [\"more\"], \"attrs\": {\"direction\": "
      "\"lt\"}");
  sw_text_puts(new_op(m), "\"op\": \"test\", \"name\": \"loop.test\", \"inputs\": [\"more\"]");
  char kept[MOST_VALUES][16];
  memcpy(kept, m->names, sizeof kept);
  m->n_names = 0;
  add_name(m, "h");
  for (int64_t n = 1 + sw_rng_below(r, 2); n > 0; n--) add_body(m, r, "wl");
  snprintf(last, sizeof last, "%s", m->names[m->n_names - 1]);
  memcpy(m->names, kept, sizeof kept);
  m->n_names = outside;
  sw_text_puts(new_op(m), "\"op\": \"add\", \"inputs\": [\"at\", \"step\"], \"outputs\": [\"at.next\"]");
  sw_text_puts(new_op(m), "\"op\": \"yield\", \"inputs\": [\"at.next\"], \"outputs\": [\"at.out\"]");
  sw_text_printf(new_op(m), "\"op\": \"yield\", \"inputs\": [\"%s\"], \"outputs\": [\"h.out\"]", last);
  sw_text_puts(new_op(m), "\"op\": \"end\", \"name\": \"loop.end\"");
  sw_text_puts(new_op(m), "\"op\": \"join\", \"inputs\": [\"at\", \"at.out\"], \"outputs\": [\"at.after\"]");
  sw_text_puts(new_op(m), "\"op\": \"join\", \"inputs\": [\"h\", \"h.out\"], \"outputs\": [\"after\"]");
  add_name(m, "after");
}

static void add_branch(model *m, sw_rng *r, const char *from, const char *into, const char *w, const char *out) {
  sw_text_printf(new_op(m), "\"op\": \"enter\", \"inputs\": [\"w\"], \"outputs\": [\"%s\"]", w);
  sw_text_printf(new_op(m), "\"op\": \"enter\", \"inputs\": [\"%s\"], \"outputs\": [\"%s\"]", from, into);
  m->n_names = 0;
  add_name(m, into);
  for (int64_t n = sw_rng_below(r, 2); n > 0; n--) add_body(m, r, w);
  sw_text_printf(new_op(m), "\"op\": \"yield\", \"inputs\": [\"%s\"], \"outputs\": [\"%s\"]", m->names[m->n_names - 1],
                 out);
}

static void add_choice(model *m, sw_rng *r) {
  char kept[MOST_VALUES][16], before[16];
  const int outside = m->n_names;
  snprintf(before, sizeof before, "%s", some_name(m, r));
  memcpy(kept, m->names, sizeof kept);
  sw_text_puts(new_op(m), "\"op\": \"case\", \"name\": \"choice\", \"inputs\": [\"mode\"]");
  add_branch(m, r, before, "p", "wp", "p.out");
  sw_text_puts(new_op(m), "\"op\": \"otherwise\", \"name\": \"choice.1\"");
  add_branch(m, r, before, "q", "wq", "q.out");
  sw_text_puts(new_op(m), "\"op\": \"end\", \"name\": \"choice.end\"");
  sw_text_puts(new_op(m), "\"op\": \"join\", \"inputs\": [\"p.out\", \"q.out\"], \"outputs\": [\"chosen\"]");
  memcpy(m->names, kept, sizeof kept);
  m->n_names = outside;
  add_name(m, "chosen");
}

static void random_model(model *m, sw_rng *r) {
  static const char *const kMeshes[] = {"x=2", "x=2,y=2", "x=2,y=3", "x=4"};
  *m = (model){.mesh = kMeshes[sw_rng_below(r, 4)]};
  for (int i = 0; i < 3; i++) add_name(m, (const char *[]){"a", "b", "s"}[i]);
  for (int64_t n = 1 + sw_rng_below(r, 2); n > 0; n--) add_body(m, r, "w");
  const int64_t control = sw_rng_below(r, 6);
  if (control < 2) add_loop(m, r);
  if (control == 2) add_choice(m, r);
  for (int64_t n = sw_rng_below(r, 2); n > 0; n--) add_body(m, r, "w");
  snprintf(m->result, sizeof m->result, "%s", m->names[m->n_names - 1]);
  snprintf(m->state_out, sizeof m->state_out, "%s", m->names[3 + sw_rng_below(r, m->n_names - 3)]);
}

static void deinit_model(model *m) {
  for (int i = 0; i < m->n_ops; i++) sw_text_free(&m->ops[i]);
}

/* Annotations that were thought up, of a value and of an op, by number. */
typedef struct thoughts {
  sw_text value[MOST_VALUES * 2], op[MOST_OPS];
} thoughts;

static void deinit_thoughts(thoughts *t) {
  for (int i = 0; i < MOST_VALUES * 2; i++) sw_text_free(&t->value[i]);
  for (int i = 0; i < MOST_OPS; i++) sw_text_free(&t->op[i]);
}

static void put_value(sw_text *out, const char *what, const char *annotations) {
  sw_text_printf(out, "  {%s%s%s%s},\n", what, annotations ? ", \"annotations\": [" : "",
                 annotations ? annotations : "", annotations ? "]" : "");
}

/* `plain`: the graph of the same text without annotations, or NULL. */
static void write_model(const model *m, const sw_graph *plain, const thoughts *t, sw_text *out) {
  sw_text_printf(out, "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"m\", \"mesh\": \"%s\",\n",
                 m->mesh);
  sw_text_puts(out, " \"values\": [\n");
  static const char *const kArgs[] = {"a", "b", "s", "w"};
  static const char *const kKinds[] = {"input", "input", "state", "parameter"};
  for (int32_t v = 0; plain && v < plain->n_values; v++) {
    const sw_value *value = &plain->values[v];
    char what[64];
    if (value->def < 0 || !sw_text_str(&t->value[v])[0] || plain->ops[value->def].code == SW_OP_CONSTANT) continue;
    snprintf(what, sizeof what, "\"name\": \"%s\"", value->name);
    put_value(out, what, sw_text_str(&t->value[v]));
  }
  for (int i = 0; i < 4; i++) {
    char what[160];
    sw_id v = plain ? sw_graph_value_named(plain, kArgs[i]) : -1;
    snprintf(what, sizeof what, "\"name\": \"%s\", \"kind\": \"%s\", \"dtype\": \"f32\", \"shape\": [%d, 12]", kArgs[i],
             kKinds[i], i == 3 ? 12 : 8);
    put_value(out, what, v >= 0 && sw_text_str(&t->value[v])[0] ? sw_text_str(&t->value[v]) : NULL);
  }
  sw_text_puts(out,
               "  {\"name\": \"mode\", \"kind\": \"input\", \"dtype\": \"i32\", \"shape\": []},\n"
               "  {\"name\": \"zero\", \"kind\": \"constant\", \"dtype\": \"i32\", \"shape\": [], \"value\": 0},\n"
               "  {\"name\": \"one\", \"kind\": \"constant\", \"dtype\": \"i32\", \"shape\": [], \"value\": 1},\n"
               "  {\"name\": \"two\", \"kind\": \"constant\", \"dtype\": \"i32\", \"shape\": [], \"value\": 2}],\n"
               " \"ops\": [\n");
  for (int i = 0; i < m->n_ops; i++) {
    const char *option = plain ? sw_text_str(&t->op[i]) : "";
    sw_text_printf(out, "  {%s%s}%s\n", sw_text_str(&m->ops[i]), option, i + 1 < m->n_ops ? "," : "],");
  }
  sw_text_printf(out, " \"outputs\": [\"%s\", {\"value\": \"%s\", \"alias\": \"s\", \"name\": \"s.out\"}]}\n",
                 m->result, m->state_out);
}

static sw_graph *parse(const sw_text *t) {
  sw_graph *g;
  sw_rc rc = sw_model_parse("m.json", sw_text_str(t), t->n, &g, &diag);
  if (rc) print_message("%s\n", sw_text_str(t));
  assert_ok(rc);
  return g;
}

static const char *weight(sw_rng *r) { return sw_rng_below(r, 4) ? "true" : "false"; }

static void think(sw_rng *r, sw_text *of, const sw_mesh *mesh, const sw_sharding *s, const char *users) {
  sw_text_printf(of, "%s{\"sharding\": \"", sw_text_str(of)[0] ? ", " : "");
  sw_sharding_print(mesh, s, of);
  sw_text_printf(of, "\", \"required\": %s%s%s}", weight(r), users ? ", \"for_users\": " : "", users ? users : "");
}

static void think_of_option(sw_rng *r, sw_text *of, const sw_mesh *mesh, const sw_op *op, const sw_strategy *s) {
  sw_text_puts(of, ", \"sharding\": \"[");
  for (int l = 0; l < op->nest->n_loops + op->nest->n_linear; l++) {
    int n;
    const sw_axis_ref *refs = sw_strategy_loop(s, l, &n);
    if (l) sw_text_puts(of, ",");
    sw_axis_refs_print(mesh, refs, n, of);
  }
  sw_text_printf(of, "]\", \"required\": %s", weight(r));
}

static void some_sharding(sw_rng *r, const sw_mesh *mesh, sw_sharding *out) {
  sw_axis_ref atoms[2];
  const int n = atoms_of(mesh, atoms);
  *out = sw_sharding_replicated(2);
  for (int a = 0; a < n; a++) {
    const int dim = (int)sw_rng_below(r, 3);
    if (dim < 2) assert_true(sw_sharding_push(out, dim, atoms[a]));
  }
  sw_sharding_normalise(mesh, out);
}

/* Of an op: what some of its strategies want and give, now and then. */
static void think_of_op(sw_rng *r, const sw_graph *g, sw_id id, sw_text *option, thoughts *t) {
  static all a;
  const sw_op *op = &g->ops[id];
  find_all(&a, g, op, &g->written->mesh);
  const bool plain = op->code == SW_OP_CONSTANT || op->nest->n_loops == 0;
  for (int port = -1; port < op->n_operands + op->n_results && !plain; port++) {
    const sw_strategy *s = &a.at[sw_rng_below(r, a.n)];
    char users[64];
    sw_sharding at;
    if (sw_rng_below(r, port < 0 ? 6 : 3)) continue;
    if (port >= 0) at_port(&a, s, port, &at);
    if (port >= 0 && (at.n_partial || at.rank == 0)) continue;
    snprintf(users, sizeof users, "[{\"op\": \"%s\", \"operand\": %d}]", op->name, port);
    if (port < 0)
      think_of_option(r, option, &g->written->mesh, op, s);
    else if (port < op->n_operands)
      think(r, &t->value[op->operands[port]], &g->written->mesh, &at, users);
    else
      think(r, &t->value[op->results[port - op->n_operands]], &g->written->mesh, &at, NULL);
  }
}

/* Definitions before uses: results first where the ops are walked backwards. */
static void think_of_all(sw_rng *r, const model *m, const sw_graph *g, thoughts *t) {
  sw_sharding at;
  for (int i = 0; i < 3; i++) {
    some_sharding(r, &g->written->mesh, &at);
    if (sw_rng_below(r, 3) == 0)
      think(r, &t->value[sw_graph_value_named(g, (const char *[]){"a", "b", "s"}[i])], &g->written->mesh, &at, NULL);
  }
  const int32_t n = g->n_ops;
  for (int32_t i = n - m->n_ops; i < n; i++) think_of_op(r, g, i, &t->op[i - (n - m->n_ops)], t);
  some_sharding(r, &g->written->mesh, &at);
  if (sw_rng_below(r, 3) == 0)
    think(r, &t->value[sw_graph_value_named(g, m->state_out)], &g->written->mesh, &at, "[{\"output\": \"s.out\"}]");
}

/* --- verdicts ----------------------------------------------------------------------------------------------------- */

/* print_message cuts off. */
static void put_text(const sw_text *text) { fputs(sw_text_str(text), stderr); }

static void check_verdict(const char *who, sw_rc rc, const sw_diag *d, bool possible, const sw_text *text) {
  if (rc == (possible ? SW_OK : SW_E_INFEASIBLE)) {
    if (rc && (d->line < 1 || d->n_notes < 1 || !strstr(d->notes[0], " at m.json:"))) {
      put_text(text);
      fail_msg("%s names one place: %d:%d: %s", who, d->line, d->col, d->text);
    }
    return;
  }
  put_text(text);
  fail_msg("%s says %d (%s); all strategies tried say that it is %s", who, rc, d->text,
           possible ? "possible" : "impossible");
}

static void check_plan(const char *who, const sw_plan *plan, const sw_text *text) {
  sw_arena scratch = {0};
  sw_validation v;
  const sw_validate_options o = {.seed = 1, .timeout_s = 60, .intermediates = true};
  assert_ok(sw_plan_verify(plan, &diag));
  assert_ok(sw_validate(plan, &o, &scratch, &v, &diag));
  if (!v.matches) put_text(text);
  if (!v.matches) fail_msg("the plan of %s differs from one device", who);
  sw_arena_deinit(&scratch);
}

static bool one_model(sw_rng *r, const sw_profile *profile, bool runs) {
  model m;
  thoughts t = {0};
  sw_text plain_text = {0}, text = {0};
  sw_arena arena = {0};
  sw_diag planned = {0}, propagated = {0}, checked = {0};
  sw_machine *machine;
  sw_plan plan, by_rule;
  random_model(&m, r);
  write_model(&m, NULL, &t, &plain_text);
  sw_graph *plain = parse(&plain_text);
  think_of_all(r, &m, plain, &t);
  write_model(&m, plain, &t, &text);
  sw_graph *g = NULL;
  sw_rc rc = sw_model_parse("m.json", sw_text_str(&text), text.n, &g, &diag);
  if (rc) put_text(&text);
  assert_ok(rc);
  assert_ok(sw_machine_build(&arena, profile, &g->written->mesh, &machine, &diag));
  const bool possible = is_possible(g, &g->written->mesh);
  const sw_plan_options o = {.selection.capacity_bytes = INT64_MAX / 2,
                             .solve = {.work_limit = 100000000, .gap = 0.01, .threads = 1}};
  check_verdict("the check", sw_requirements_check(JOB(g, machine), &checked), &checked, possible, &text);
  rc = sw_plan_search(JOB(g, machine), &o, &arena, &plan, &planned);
  check_verdict("the search", rc, &planned, possible, &text);
  if (!rc && runs) check_plan("the search", &plan, &text);
  rc = sw_propagate(JOB(g, machine), SW_TRAVERSE_BACKWARD_FORWARD, &arena, &by_rule, &propagated);
  check_verdict("propagation", rc, &propagated, possible, &text);
  if (!rc && runs) check_plan("propagation", &by_rule, &text);
  sw_graph_destroy(g);
  sw_graph_destroy(plain);
  sw_text_free(&text);
  sw_text_free(&plain_text);
  deinit_thoughts(&t);
  deinit_model(&m);
  sw_arena_deinit(&arena);
  return possible;
}

static void verdicts_are_those_of_all_strategies(void **state) {
  (void)state;
  sw_rng r;
  sw_arena a = {0};
  const sw_profile *profile;
  const int n = check_scale(600);
  int possible = 0;
  sw_rng_seed(&r, check_seed(31));
  assert_ok(sw_profile_read("dgx-h100", &a, &profile, &diag));
  for (int i = 0; i < n; i++) possible += one_model(&r, profile, i % 8 == 0);
  print_message("%d of %d models can be as they are required to be\n", possible, n);
  sw_arena_deinit(&a);
}

/* Gathered from the last port to the first, twice each, they stand in order and are found; another one is refused. */
static void stated_ports_come_in_any_order(void **state) {
  (void)state;
  enum { N = 50000 };
  sw_arena a = {0};
  sw_mesh mesh;
  sw_graph *g;
  sw_id x;
  sw_stated_list list;
  assert_ok(sw_mesh_parse("x=2", &a, &mesh, &diag));
  assert_ok(sw_graph_create("chain", &g, &diag));
  assert_ok(sw_graph_add_arg(g, "x", SW_F32, 1, (const int64_t[]){4}, SW_VALUE_INPUT, SW_NOWHERE, &x, &diag));
  for (int i = 0; i < N; i++) {
    assert_ok(sw_graph_add_op(g, &(sw_op_spec){.code = SW_OP_NEGATE, .n_operands = 1, .operands = &x}, &x, &diag));
  }
  sw_sharding whole = sw_sharding_replicated(1), cut = whole;
  assert_true(sw_sharding_push(&cut, 0, sw_axis_whole(&mesh, 0)));
  assert_ok(sw_stated_begin(JOB(g, NULL), 2 * N, &a, &list, &diag));
  for (int k = 4 * N - 1; k >= 0; k--) {
    const int port = k / 2;
    const sw_stated one = {port / 2, port % 2, port % 3 ? cut : whole};
    assert_ok(sw_stated_put(&list, &one, &diag));
  }
  assert_int_equal(sw_stated_put(&list, &(sw_stated){7, 1, whole}, &diag), SW_OK);
  assert_int_equal(sw_stated_put(&list, &(sw_stated){7, 1, cut}, &diag), SW_E_INPUT);
  sw_stated_end(&list);
  assert_int_equal(list.n, 2 * N);
  for (int port = 0; port < 2 * N; port++) {
    assert_int_equal(2 * list.at[port].op + list.at[port].port, port);
    const sw_sharding *found = sw_stated_at(list.at, list.n, port / 2, port % 2);
    assert_true(found && sw_sharding_equal(found, port % 3 ? &cut : &whole));
  }
  assert_null(sw_stated_at(list.at, list.n, 0, 2));
  sw_graph_destroy(g);
  sw_arena_deinit(&a);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(stated_ports_come_in_any_order),
      cmocka_unit_test(verdicts_are_those_of_all_strategies),
  };
  return cmocka_run_group_tests_name("requirements", tests, NULL, NULL);
}
