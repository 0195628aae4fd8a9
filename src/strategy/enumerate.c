/* All strategies of an op, and all shardings of a value.
 *
 * Axes, or the parts of them that annotations name (atoms), are placed one after another: on no loop, on a loop that
 * can be cut, or on a linearity. Several on one loop then appear in every order. Of strategies that want the same
 * operands and give the same results only the cheapest stays (an exact pruning).
 *
 * On meshes of many axes that would be thousands (rank 3 on 2x2x2x2x2x2: 40,000). There neighbours go together, in so
 * many runs at most as are asked for: these are all strategies of all meshes that have neighbouring axes merged into so
 * many.
 *
 *   two runs of x y z:  x|yz and xy|z, each like a mesh of two axes: [[x],[y,z]], [[y,z,x],[]], not [[x,z],[y]]
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/hash.h"
#include "graph/attention.h"
#include "strategy/unequal.h"

enum { MOST_CANDIDATES = 1 << 16, MANY_ATOMS = 4, RUNS_OF_MANY = 3 };

typedef struct search {
  const sw_atoms *atoms;
  int n_runs;
  int8_t first[SW_MAX_REFS + 1];                /* atoms of a run */
  int n_places;                                 /* loops + linearities, or dimensions */
  int n_ordered;                                /* places before this one care for the order of their axes */
  int64_t (*room)(const void *what, int place); /* most shards that the place takes; 0: none */
  const void *what;
  bool any_size;                /* a place that takes any takes all */
  int64_t n_visited, left_out;  /* ways to place the atoms */
  int8_t place_of[SW_MAX_REFS]; /* per run; -1: unused */
  sw_rc (*emit)(struct search *s, const sw_strategy *candidate, sw_diag *d);
  void *user;
} search;

static int64_t size_of_run(const search *s, int run) {
  int64_t size = 1;
  for (int a = s->first[run]; a < s->first[run + 1]; a++) size *= s->atoms->at[a].size;
  return size;
}

/* Turn place_of into a strategy whose axes within each place follow `order` (a permutation of the runs). False when two
 * runs could be one: fewer runs give the same. */
static bool arrange(const search *s, const int *order, sw_strategy *out) {
  int last[SW_MAX_REFS + 1] = {0}; /* run + 1, by place + 1 */
  *out = (sw_strategy){0};
  for (int i = 0; i < s->n_runs; i++) {
    const int run = order[i], place = s->place_of[run];
    if (s->n_runs < s->atoms->n && run > 0 && last[place + 1] == run) return false;
    last[place + 1] = run + 1;
    for (int a = s->first[run]; a < s->first[run + 1] && place >= 0; a++)
      (void)sw_strategy_push(out, place, s->atoms->at[a]);
  }
  sw_strategy_join(out);
  return true;
}

/* Visit every distinct order of the runs inside their places: permute positions `at`..n, skipping swaps of runs of
 * different places (they change nothing). */
static sw_rc permute(search *s, int *order, int at, sw_diag *d) {
  int n = s->n_runs;
  if (at == n) {
    sw_strategy candidate;
    if (!arrange(s, order, &candidate)) return SW_OK;
    s->n_visited++;
    return s->emit(s, &candidate, d);
  }
  bool ordered = s->place_of[order[at]] >= s->n_ordered; /* a set of axes: one order stands for all */
  for (int i = at; i < (ordered ? at + 1 : n); i++) {
    if (i != at && (s->place_of[order[i]] < 0 || s->place_of[order[i]] != s->place_of[order[at]])) continue;
    int t = order[i];
    order[i] = order[at];
    order[at] = t;
    SW_TRY(permute(s, order, at + 1, d));
    order[at] = order[i];
    order[i] = t;
  }
  return SW_OK;
}

static bool has_room_for_run(const search *s, int run, int place) {
  int64_t shards = size_of_run(s, run);
  for (int a = 0; a < run; a++) shards *= s->place_of[a] == place ? size_of_run(s, a) : 1;
  const int64_t room = s->room(s->what, place);
  return room > 0 && (shards <= room || s->atoms->beyond || s->any_size);
}

static sw_rc place_runs(search *s, int run, sw_diag *d) {
  if (run == s->n_runs) {
    int order[SW_MAX_REFS];
    for (int i = 0; i < s->n_runs; i++) order[i] = i;
    return permute(s, order, 0, d);
  }
  for (int p = -1; p < s->n_places; p++) {
    if (p >= 0 && !has_room_for_run(s, run, p)) continue;
    s->place_of[run] = (int8_t)p;
    SW_TRY(place_runs(s, run + 1, d));
  }
  s->place_of[run] = -1;
  return SW_OK;
}

/* Ways to place the atoms, places that have no room for them included: k of n on ordered lists, the others unused or on
 * places without an order. */
static int64_t count_ways(const search *s) {
  const int n = s->atoms->n;
  double ways = 0, some = 1, lists = 1; /* k of n; orders of k on the lists */
  for (int k = 0; k <= n; k++) {
    double others = 1;
    for (int i = k; i < n; i++) others *= 1 + s->n_places - s->n_ordered;
    ways += some * lists * others;
    some = some * (n - k) / (k + 1);
    lists *= s->n_ordered + k;
  }
  return ways < (double)INT64_MAX / 2 ? (int64_t)ways : INT64_MAX / 2;
}

/* All ways to place the atoms in at most so many runs: each cut of their row into that many, and into fewer. */
static sw_rc visit_runs(search *s, int runs, sw_diag *d) {
  const int n = s->atoms->n;
  if (runs >= n) {
    s->n_runs = n;
    for (int a = 0; a <= n; a++) s->first[a] = (int8_t)a;
    return place_runs(s, 0, d);
  }
  for (unsigned cuts = 0; cuts < 1U << (n - 1); cuts++) {
    if (__builtin_popcount(cuts) >= runs) continue;
    s->n_runs = 0;
    for (int a = 0; a < n; a++)
      if (a == 0 || cuts >> (a - 1) & 1U) s->first[s->n_runs++] = (int8_t)a;
    s->first[s->n_runs] = (int8_t)n;
    SW_TRY(place_runs(s, 0, d));
  }
  s->left_out += sw_max_i64(0, count_ways(s) - s->n_visited);
  return SW_OK;
}

/* Where the atoms are too many for every way to place them and the axes that they are parts of are not, those of whole
 * axes come first: the same may come twice. `runs` 0: every way where atoms are few. */
static sw_rc visit_all(search *s, const sw_mesh *m, int runs, sw_diag *d) {
  const sw_atoms *atoms = s->atoms;
  sw_atoms whole;
  sw_atoms_of(NULL, m, &whole);
  s->left_out += atoms->left_out;
  const int of_whole = runs > 0 ? runs : whole.n < MANY_ATOMS ? whole.n : RUNS_OF_MANY;
  if (runs <= 0) runs = atoms->n < MANY_ATOMS ? atoms->n : RUNS_OF_MANY;
  if (runs < atoms->n && whole.n < atoms->n) {
    s->atoms = &whole;
    sw_rc rc = visit_runs(s, of_whole, d);
    s->atoms = atoms;
    s->left_out = atoms->left_out;
    if (rc) return rc;
  }
  return visit_runs(s, runs, d);
}

static int compare_axis_ref(sw_axis_ref a, sw_axis_ref b) {
  if (a.axis != b.axis) return a.axis < b.axis ? -1 : 1;
  if (a.pre != b.pre) return a.pre < b.pre ? -1 : 1;
  return (a.size > b.size) - (a.size < b.size);
}

/* Of those with the same axes equal blocks come first, then those that begin earlier. */
static int compare_starts(const sw_strategy *a, const sw_strategy *b) {
  if (!a->offsets || !b->offsets) return !!a->offsets - !!b->offsets;
  const int64_t *x = a->offsets->loops, *y = b->offsets->loops;
  int64_t shards = 1;
  for (int i = 0; i < a->n_refs; i++) {
    shards *= a->refs[i].size;
    if (i + 1 < a->n_refs && a->loop_of[i + 1] == a->loop_of[i]) continue;
    for (int64_t k = 0; k <= shards; k++, x++, y++) {
      if (*x != *y) return *x < *y ? -1 : 1;
    }
    shards = 1;
  }
  return 0;
}

static int compare_strategy_refs(const sw_strategy *a, const sw_strategy *b) {
  if (a->n_refs != b->n_refs) return a->n_refs < b->n_refs ? -1 : 1;
  for (int i = 0; i < a->n_refs; i++) {
    if (a->loop_of[i] != b->loop_of[i]) return a->loop_of[i] < b->loop_of[i] ? -1 : 1;
    const int c = compare_axis_ref(a->refs[i], b->refs[i]);
    if (c) return c;
  }
  return compare_starts(a, b);
}

/* --- strategies of an op ----------------------------------------------------------------------------------------- */

typedef struct candidate {
  sw_strategy s;
  sw_op_cost cost;
} candidate;

typedef struct op_search {
  const sw_job *job;
  const sw_op *op;
  sw_atoms atoms;
  SW_ARRAY(candidate) found;
  sw_dict interfaces; /* operands' and results' shardings -> index in found */
  sw_text key;
  int64_t pruned_exact, pruned_inexact;
  const sw_enumerate_options *options; /* NULL allowed */
  sw_arena *arena;                     /* of lists of offsets */
} op_search;

static int64_t op_room(const void *what, int place) {
  const sw_loop_nest *nest = ((const sw_op *)what)->nest;
  if (place >= nest->n_loops) return nest->linear[place - nest->n_loops].operands ? INT64_MAX : 0;
  const sw_loop *l = &nest->loops[place];
  return l->kind == SW_LOOP_WHOLE ? 0 : l->size;
}

static sw_rc interface_key(op_search *o, const sw_strategy *s, sw_diag *d) {
  o->key.n = 0;
  for (int i = 0; i < o->op->n_operands + o->op->n_results; i++) {
    sw_sharding sh;
    if (i < o->op->n_operands) sw_strategy_operand(o->op, s, i, &sh);
    if (i >= o->op->n_operands) sw_strategy_result(o->op, s, i - o->op->n_operands, &sh);
    sw_sharding_key(&sh, &o->key);
  }
  return o->key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : SW_OK;
}

static sw_rc take_candidate(void *user, const sw_strategy *c, sw_diag *d) {
  op_search *o = user;
  if (o->options && o->options->admits && !o->options->admits(o->options->admits_user, c)) return SW_OK;
  if (o->options && o->options->even && !sw_strategy_is_even(o->options->even, o->job->graph, o->op, c)) return SW_OK;
  candidate cand = {.s = *c};
  sw_strategy_cost(o->job, o->op, c, &cand.cost);
  SW_TRY(interface_key(o, c, d));
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(&o->interfaces, o->key.at, o->key.n, (int64_t)o->found.n, &slot, &fresh, d));
  if (fresh && o->found.n >= MOST_CANDIDATES) {
    o->pruned_inexact++;
    *slot = -1;
    return SW_OK;
  }
  if (fresh) return sw_array_push(&o->found, cand, d);
  if (*slot < 0) return SW_OK;
  o->pruned_exact++;
  candidate *old = &o->found.at[*slot];
  if (cand.cost.local_s + cand.cost.move_s < old->cost.local_s + old->cost.move_s) *old = cand;
  return SW_OK;
}

/* Where queries are cut and keys are not, the keys may also go round by the same axes. */
static sw_rc take_ring(op_search *o, const sw_strategy *c, bool any_size, sw_diag *d) {
  int n, n_keys;
  if (!sw_is_attention(o->op->code)) return SW_OK;
  const sw_axis_ref *refs = sw_strategy_loop(c, SW_ATTENTION_QUERY, &n);
  sw_strategy ring = *c;
  (void)sw_strategy_loop(c, SW_ATTENTION_KEY, &n_keys);
  if (!n || n_keys) return SW_OK;
  if (!any_size && sw_axis_refs_size(refs, n) > o->op->nest->loops[SW_ATTENTION_KEY].size) return SW_OK;
  for (int i = 0; i < n; i++) {
    if (!sw_strategy_push(&ring, SW_ATTENTION_KEY, refs[i])) return SW_OK;
  }
  return take_candidate(o, &ring, d);
}

static sw_rc emit_strategy(search *s, const sw_strategy *c, sw_diag *d) {
  op_search *o = s->user;
  if (!sw_strategy_legal(o->job->graph, o->op, sw_machine_mesh(o->job->machine), c)) return SW_OK;
  SW_TRY(take_candidate(o, c, d));
  SW_TRY(take_ring(o, c, s->any_size, d));
  return sw_strategy_each_unequal(o->job->graph, o->op, o->options, c, o->arena, take_candidate, o, d);
}

static int compare_candidates(const void *a, const void *b) {
  return compare_strategy_refs(&((const candidate *)a)->s, &((const candidate *)b)->s);
}

/* What the schedule leaves to the plan: from which operand a value comes, and whether the op runs. */
static sw_rc add_choices(op_search *o, sw_diag *d) {
  const sw_entry *e = sw_job_entry(o->job, (sw_id)(o->op - o->job->graph->ops));
  const size_t n = o->found.n;
  if (!e || !n) return SW_OK;
  for (size_t i = 0; i < n && o->op->n_operands > 1 && sw_entry_is_keep(e); i++) {
    candidate way = o->found.at[i];
    for (way.s.takes = 1; way.s.takes <= o->op->n_operands; way.s.takes++) {
      sw_strategy_cost(o->job, o->op, &way.s, &way.cost);
      if (way.s.takes == 1) o->found.at[i] = way;
      if (way.s.takes > 1) SW_TRY(sw_array_push(&o->found, way, d));
    }
  }
  if (!e->optional) return SW_OK;
  candidate out = o->found.at[0];
  out.s.takes = -1;
  sw_strategy_cost(o->job, o->op, &out.s, &out.cost);
  return sw_array_push(&o->found, out, d);
}

static sw_rc keep_found(op_search *o, sw_arena *arena, sw_enumeration *out, sw_diag *d) {
  if (o->found.n) qsort(o->found.at, o->found.n, sizeof *o->found.at, compare_candidates);
  SW_TRY(add_choices(o, d));
  sw_strategy *at;
  sw_op_cost *cost;
  SW_ARENA_NEW_EACH(arena, o->found.n, d, at, cost);
  for (size_t i = 0; i < o->found.n; i++) {
    at[i] = o->found.at[i].s;
    cost[i] = o->found.at[i].cost;
  }
  *out = (sw_enumeration){(int32_t)o->found.n, at, cost, o->pruned_exact, o->pruned_inexact};
  return SW_OK;
}

sw_rc sw_strategies_enumerate(const sw_job *j, const sw_op *op, const sw_enumerate_options *options, sw_arena *arena,
                              sw_enumeration *out, sw_diag *d) {
  const sw_machine *machine = j->machine;
  op_search o = {.job = j, .op = op, .options = options, .arena = arena};
  sw_atoms_of(j->request, sw_machine_mesh(machine), &o.atoms);
  search s = {.atoms = &o.atoms,
              .n_places = op->nest->n_loops + op->nest->n_linear,
              .n_ordered = op->nest->n_loops,
              .room = op_room,
              .what = op,
              .any_size = options && options->any_size,
              .emit = emit_strategy,
              .user = &o};
  sw_rc rc = visit_all(&s, sw_machine_mesh(machine),
                       options && options->admits ? SW_MAX_REFS
                       : options                  ? options->runs
                                                  : 0,
                       d);
  for (int32_t i = 0; !rc && options && i < options->n_further; i++) rc = take_candidate(&o, &options->further[i], d);
  o.pruned_inexact += s.left_out;
  if (!rc) rc = keep_found(&o, arena, out, d);
  sw_array_free(&o.found);
  sw_dict_deinit(&o.interfaces);
  sw_text_free(&o.key);
  return rc;
}

void sw_op_class_key(const sw_job *j, const sw_op *op, sw_text *key) {
  const sw_graph *g = j->graph;
  sw_text_append(key, (const char *)&op->code, sizeof op->code);
  sw_text_append(key, (const char *)&op->nest, sizeof(void *));
  const sw_entry *e = sw_job_entry(j, (sw_id)(op - g->ops));
  const char left_open = (char)(sw_entry_is_open(e) + 2 * (e && e->optional) + 4 * sw_op_is_on_host(g, op));
  sw_text_append(key, &left_open, 1);
  for (int i = 0; i < op->n_operands + op->n_results; i++) {
    const sw_type *t = sw_port_type(g, op, i);
    sw_text_append(key, (const char *)&t->dtype, sizeof t->dtype);
    sw_text_append(key, (const char *)t->dims, (size_t)t->rank * sizeof *t->dims);
  }
  if (!j->kernels) return;
  const sw_id id = (sw_id)(op - g->ops);
  sw_text_append(key, (const char *)&j->kernels->launches[id], sizeof *j->kernels->launches);
  sw_text_append(key, (const char *)&j->kernels->width[j->kernels->port[id]],
                 (size_t)(op->n_operands + op->n_results) * sizeof *j->kernels->width);
  for (int i = 0; i < op->n_results; i++)
    sw_text_append(key, (const char *)&j->kernels->keeping[op->results[i]], sizeof *j->kernels->keeping);
  for (int i = 0; i < op->n_operands + op->n_results; i++)
    sw_text_append(key, (const char *)&j->kernels->combines[sw_port_value(op, i)], sizeof *j->kernels->combines);
}

/* --- shardings of a value ---------------------------------------------------------------------------------------- */

typedef struct value_search {
  const int64_t *dims;
  sw_atoms atoms;
  SW_ARRAY(sw_strategy) found; /* loop_of = dimension */
} value_search;

static int64_t value_room(const void *what, int place) { return ((const value_search *)what)->dims[place]; }

static sw_rc emit_sharding(search *s, const sw_strategy *c, sw_diag *d) {
  value_search *v = s->user;
  return sw_array_push(&v->found, *c, d);
}

static int compare_strategies(const void *a, const void *b) { return compare_strategy_refs(a, b); }

static void drop_repeated(value_search *v) {
  size_t n = 0;
  if (v->found.n) qsort(v->found.at, v->found.n, sizeof *v->found.at, compare_strategies);
  for (size_t i = 0; i < v->found.n; i++) {
    if (n && sw_strategy_equal(&v->found.at[n - 1], &v->found.at[i])) continue;
    v->found.at[n++] = v->found.at[i];
  }
  v->found.n = n;
}

static sw_rc keep_shardings(value_search *v, int rank, sw_arena *arena, sw_listed_shardings *out, sw_diag *d) {
  drop_repeated(v);
  sw_sharding *at;
  SW_ARENA_NEW(at, arena, v->found.n, d);
  for (size_t i = 0; i < v->found.n; i++) {
    at[i] = sw_sharding_replicated(rank);
    const sw_strategy *c = &v->found.at[i];
    for (int r = 0; r < c->n_refs; r++) (void)sw_sharding_push(&at[i], c->loop_of[r], c->refs[r]);
  }
  out->n = (int32_t)v->found.n;
  out->at = at;
  return SW_OK;
}

sw_rc sw_shardings_enumerate(const sw_request *r, const sw_mesh *m, int rank, const int64_t *dims, int runs,
                             sw_arena *arena, sw_listed_shardings *out, sw_diag *d) {
  value_search v = {.dims = dims};
  sw_atoms_of(r, m, &v.atoms);
  search s = {.atoms = &v.atoms,
              .n_places = rank,
              .n_ordered = rank,
              .room = value_room,
              .what = &v,
              .emit = emit_sharding,
              .user = &v};
  sw_rc rc = visit_all(&s, m, runs, d);
  *out = (sw_listed_shardings){.left_out = s.left_out};
  if (!rc) rc = keep_shardings(&v, rank, arena, out, d);
  sw_array_free(&v.found);
  return rc;
}
