/* Sharding propagation. The state is one optional sharding per definition, one per use, one optional strategy per op;
 * a sweep only ever fills what is empty. Ops with nothing around them when the two sweeps pass (constants, whose users
 * are cut by the second) are asked again, until no more of them is decided.
 */
#include "propagate/by_rule.h"

#include <string.h>

#include "strategy/demands.h"

/* A sharding that stands at a definition or a use; `by` is the annotation it comes from, NULL when propagated. */
typedef struct mark {
  bool set;
  sw_sharding sharding;
  const sw_annotation *by;
} mark;

typedef struct state {
  sw_job job;
  const bool *left; /* by annotation: it does not count; NULL: all do */
  sw_id failed;     /* op at which annotations exclude each other */
  const sw_mesh *mesh;
  sw_arena arena;               /* of one op */
  sw_arena *keep;               /* of the plan */
  sw_enumerate_options unequal; /* blocks that annotations ask for */
  mark *def;                    /* by value */
  mark **use;                   /* by op id, operand */
  mark *output;                 /* by output: uses of the function's return */
  sw_strategy *ops;             /* by op id */
  bool *decided;                /* by op id: `ops` is set */
  const sw_annotation **option; /* by op id: the annotation that decided, or NULL */
  bool settling;                /* propagation is over: barriers that it left undecided take what is on either side */
  bool tables_wait; /* an op with a table that nothing else is known about is asked again by the next sweep */
  sw_id *groups;    /* sw_value_groups */
} state;

static mark *use_mark(const state *s, sw_value_use u) {
  return u.op < 0 ? &s->output[u.index] : &s->use[u.op][u.index];
}

/* --- annotations of the model ------------------------------------------------------------------------------------ */

static sw_rc set_mark(state *s, mark *m, const sw_annotation *a, sw_diag *d) {
  if (m->set && !sw_sharding_equal(&m->sharding, &a->sharding)) {
    sw_rc rc = SW_FAIL(d, SW_E_INFEASIBLE, a->span, "'%s' is annotated twice with different shardings",
                       s->job.graph->values[a->value].name);
    if (m->by) sw_diag_note(d, "the other annotation is at %d:%d", m->by->span.line, m->by->span.col);
    return rc;
  }
  *m = (mark){true, a->sharding, a};
  return SW_OK;
}

static sw_rc read_annotation(state *s, const sw_annotation *a, sw_diag *d) {
  if (a->op >= 0) {
    sw_strategy *st = &s->ops[a->op];
    for (int i = 0; i < a->n_loop_refs; i++) (void)sw_strategy_push(st, a->loop_of[i], a->loop_refs[i]);
    s->decided[a->op] = true;
    s->option[a->op] = a;
    return SW_OK;
  }
  if (!a->for_users) return set_mark(s, &s->def[a->value], a, d);
  for (int32_t i = 0; i < sw_annotation_n_ports(s->job.graph, a); i++)
    SW_TRY(set_mark(s, use_mark(s, sw_annotation_use(s->job.graph, a, i)), a, d));
  return SW_OK;
}

/* --- getShardingOption ------------------------------------------------------------------------------------------- */

static bool is_blocked(const state *s, sw_id op, sw_direction way) {
  return op >= 0 && s->job.graph->ops[op].blocked & way && !s->settling;
}

/* What the definition of a value should give: its own mark, or what all marked uses agree on. */
static bool wanted_of_result(const state *s, sw_id value, sw_sharding *out, const sw_annotation **by) {
  if (s->def[value].set) {
    *out = s->def[value].sharding;
    *by = s->def[value].by;
    return true;
  }
  const sw_value *v = &s->job.graph->values[value];
  bool found = false;
  for (int32_t u = 0; u < v->n_uses && !is_blocked(s, v->def, SW_DIRECTION_BACKWARD); u++) {
    const mark *m = use_mark(s, v->uses[u]);
    if (!m->set) continue;
    if (found && !sw_sharding_equal(out, &m->sharding)) return false;
    *out = m->sharding;
    *by = m->by;
    found = true;
  }
  return found;
}

static bool axes_used(const sw_strategy *st, const sw_axis_ref *refs, int n) {
  for (int i = 0; i < st->n_refs; i++) {
    for (int j = 0; j < n; j++) {
      if (sw_axis_ref_overlaps(st->refs[i], refs[j])) return true;
    }
  }
  return false;
}

static bool loop_has(const sw_strategy *st, int loop, const sw_axis_ref *refs, int n) {
  int have;
  const sw_axis_ref *r = sw_strategy_loop(st, loop, &have);
  return sw_axis_refs_equal(r, have, refs, n);
}

/* The axes that cut a dim: one of size 1, which may have halos, does not. */
static const sw_axis_ref *cuts_of(const sw_sharding *s, int dim, int *n) {
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, n);
  if (*n && sw_axis_refs_size(refs, *n) == 1) *n = 0;
  return refs;
}

/* The loop that can take the axes of a dimension: the first of its terms that may be cut (windows: the parallel one).
 */
static int loop_for_dim(const sw_loop_nest *nest, const sw_affine *e) {
  for (int t = 0; t < e->n_terms; t++) {
    if (nest->loops[e->terms[t].loop].kind != SW_LOOP_WHOLE) return e->terms[t].loop;
  }
  return -1;
}

static bool can_be_partial(const sw_loop *l) { return l->kind == SW_LOOP_REDUCTION || l->kind == SW_LOOP_MASKED; }

static void push_all(sw_strategy *st, int loop, const sw_axis_ref *refs, int n) {
  for (int i = 0; i < n; i++) (void)sw_strategy_push(st, loop, refs[i]);
}

/* Step 1 of the RFC: results set loops. Inconsistent ones are an error. */
static sw_rc option_from_result(state *s, const sw_op *op, int i, sw_strategy *st, bool *touched, sw_diag *d) {
  const sw_loop_nest *nest = op->nest;
  const sw_map *map = &nest->maps[op->n_operands + i];
  sw_sharding want;
  const sw_annotation *by = NULL;
  if (!wanted_of_result(s, op->results[i], &want, &by)) return SW_OK;
  *touched = true;
  for (int k = 0; k < map->rank; k++) {
    int n, loop = loop_for_dim(nest, &map->dims[k]);
    const sw_axis_ref *refs = cuts_of(&want, k, &n);
    if (!n || (loop >= 0 && loop_has(st, loop, refs, n))) continue;
    if (loop >= 0 && !axes_used(st, refs, n)) {
      push_all(st, loop, refs, n);
      continue;
    }
    /* What only a user would like, or no strategy gives, is resharded. */
    if (!by || loop < 0 || sw_sharding_is_special(&want) || want.n_partial) continue;
    return SW_FAIL(d, SW_E_INFEASIBLE, by->span,
                   "the annotations on the results of '%s' cannot be met together (dimension %d of '%s')", op->name, k,
                   s->job.graph->values[op->results[i]].name);
  }
  for (int l = 0; want.n_partial && l < nest->n_loops; l++) {
    if (!can_be_partial(&nest->loops[l]) || nest->loops[l].combiner != (sw_reduction)want.partial_kind) continue;
    if (!axes_used(st, sw_sharding_partial(&want), want.n_partial))
      push_all(st, l, sw_sharding_partial(&want), want.n_partial);
    break;
  }
  return SW_OK;
}

/* What stands at an operand: what is said of its use, else the definition's. */
static const mark *operand_mark(const state *s, const sw_op *op, int i) {
  const mark *use = &s->use[op - s->job.graph->ops][i];
  return use->set ? use : &s->def[op->operands[i]];
}

static sw_rc conflict(const state *s, const sw_op *op, int i, int dim, const mark *m, sw_diag *d) {
  const char *name = s->job.graph->values[op->operands[i]].name;
  sw_rc rc = SW_FAIL(d, SW_E_INFEASIBLE, m->by ? m->by->span : op->span,
                     "the annotation of '%s' for its use in '%s' disagrees in dimension %d with how '%s' is cut", name,
                     op->name, dim, op->name);
  if (s->option[op - s->job.graph->ops])
    sw_diag_note(d, "'%s' is cut by its own option at line %d", op->name, s->option[op - s->job.graph->ops]->span.line);
  for (int other = 0; other < op->n_operands; other++) {
    const mark *why = operand_mark(s, op, other);
    if (other == i || !why->set || !why->by) continue;
    sw_diag_note(d, "'%s' is annotated at %d:%d", s->job.graph->values[op->operands[other]].name, why->by->span.line,
                 why->by->span.col);
  }
  for (int r = 0; r < op->n_results; r++) {
    sw_sharding want;
    const sw_annotation *by = NULL;
    if (wanted_of_result(s, op->results[r], &want, &by) && by) {
      sw_diag_note(d, "result '%s' is annotated at %d:%d", s->job.graph->values[op->results[r]].name, by->span.line,
                   by->span.col);
    }
  }
  return rc;
}

/* Step 2: operands set reduction loops and loops not set yet. One dimension of one operand. */
static sw_rc option_from_dim(state *s, const sw_op *op, int i, int k, const mark *m, bool for_use, sw_strategy *st,
                             sw_diag *d) {
  int n, have, loop = loop_for_dim(op->nest, &op->nest->maps[i].dims[k]);
  const sw_axis_ref *refs = cuts_of(&m->sharding, k, &n);
  if (loop >= 0) (void)sw_strategy_loop(st, loop, &have);
  /* One on the definition gives way; what no strategy wants by itself is resharded to what it wants. */
  const bool binds = for_use && !sw_sharding_is_special(&m->sharding) && !m->sharding.n_partial;
  if (loop < 0 || loop_has(st, loop, refs, n) || n == 0) {
    bool cut_anyway = loop >= 0 && n == 0 && have > 0;
    return binds && cut_anyway ? conflict(s, op, i, k, m, d) : SW_OK;
  }
  if (have == 0 && !axes_used(st, refs, n)) {
    push_all(st, loop, refs, n);
    return SW_OK;
  }
  return binds ? conflict(s, op, i, k, m, d) : SW_OK;
}

static bool is_masked(const sw_op *op, int i, int k) {
  const int loop = loop_for_dim(op->nest, &op->nest->maps[i].dims[k]);
  return loop >= 0 && op->nest->loops[loop].kind == SW_LOOP_MASKED;
}

static bool is_table(const sw_op *op, int i) {
  for (int k = 0; k < op->nest->maps[i].rank; k++) {
    if (is_masked(op, i, k)) return true;
  }
  return false;
}

/* What of a table's axes no loop uses cuts its rows: the values looked up, which are many, keep theirs. */
static void cut_rows(const sw_op *op, int i, int k, const mark *m, sw_strategy *st) {
  int n, have, loop = loop_for_dim(op->nest, &op->nest->maps[i].dims[k]);
  const sw_axis_ref *refs = cuts_of(&m->sharding, k, &n);
  (void)sw_strategy_loop(st, loop, &have);
  for (int r = 0; have == 0 && r < n; r++) {
    if (!axes_used(st, &refs[r], 1)) push_all(st, loop, &refs[r], 1);
  }
}

/* Rows of a table that is not annotated for this use come after all else. */
static sw_rc option_from_operand(state *s, const sw_op *op, int i, bool rows, sw_strategy *st, bool *touched,
                                 sw_diag *d) {
  const mark *m = operand_mark(s, op, i);
  const bool for_use = m != &s->def[op->operands[i]];
  if (!m->set || (!for_use && is_blocked(s, (sw_id)(op - s->job.graph->ops), SW_DIRECTION_FORWARD))) return SW_OK;
  *touched = *touched || for_use || !s->tables_wait || !is_table(op, i);
  for (int k = 0; k < op->nest->maps[i].rank; k++) {
    const bool late = !for_use && is_masked(op, i, k);
    if (late && rows) cut_rows(op, i, k, m, st);
    if (!late && !rows) SW_TRY(option_from_dim(s, op, i, k, m, for_use, st, d));
  }
  return SW_OK;
}

/* The starts of the blocks of a loop, where a dimension of the sharding that follows it has such blocks. */
static void take_starts(const sw_loop_nest *nest, int map, const sw_sharding *s, const sw_strategy *st,
                        const int64_t **starts) {
  const int64_t *at = s->offsets;
  for (int k = 0; at && k < s->rank; k++) {
    int n, loop = loop_for_dim(nest, &nest->maps[map].dims[k]);
    const sw_axis_ref *refs = sw_sharding_dim(s, k, &n);
    if (!n) continue;
    if (loop >= 0 && loop_has(st, loop, refs, n) && !starts[loop]) starts[loop] = at;
    at += sw_axis_refs_size(refs, n) + 1;
  }
}

/* Blocks as unequal as those of the results, or else of the operands, if the op can work on such. */
static sw_rc set_starts(state *s, const sw_op *op, sw_strategy *st, sw_diag *d) {
  const int64_t **starts;
  sw_strategy unequal = *st;
  bool any = false;
  SW_ARENA_NEW(starts, s->keep, op->nest->n_loops, d);
  for (int i = 0; i < op->n_results; i++) {
    sw_sharding want;
    const sw_annotation *by = NULL;
    if (wanted_of_result(s, op->results[i], &want, &by)) take_starts(op->nest, op->n_operands + i, &want, st, starts);
  }
  for (int i = 0; i < op->n_operands; i++) {
    const mark *m = operand_mark(s, op, i);
    if (m->set) take_starts(op->nest, i, &m->sharding, st, starts);
  }
  for (int l = 0; l < op->nest->n_loops; l++) any = any || starts[l];
  if (!any) return SW_OK;
  SW_TRY(sw_strategy_set_starts(s->job.graph, op, starts, s->keep, &unequal, d));
  if (sw_strategy_legal(s->job.graph, op, s->mesh, &unequal)) *st = unequal;
  return SW_OK;
}

/* The op's strategy from what is around it; *touched says whether anything was. */
static sw_rc get_option(state *s, const sw_op *op, sw_strategy *st, bool *touched, sw_diag *d) {
  *st = (sw_strategy){0};
  *touched = false;
  for (int i = 0; i < op->n_results; i++) SW_TRY(option_from_result(s, op, i, st, touched, d));
  for (int rows = 0; rows < 2; rows++) {
    for (int i = 0; i < op->n_operands; i++) SW_TRY(option_from_operand(s, op, i, rows, st, touched, d));
  }
  return s->unequal.n_unequal ? set_starts(s, op, st, d) : SW_OK;
}

/* --- required annotations ---------------------------------------------------------------------------------------- */

static bool meets_required(const state *s, const sw_op *op, const sw_strategy *st) {
  for (int i = 0; i < op->n_results; i++) {
    const mark *m = &s->def[op->results[i]];
    if (!m->set || !m->by || !m->by->required) continue;
    if (!sw_demand_is_met(s->job.graph->written, op, &(sw_demand){m->by, op->n_operands + i}, st)) return false;
  }
  return true;
}

/* How many operands a strategy takes as they come. */
static int operands_as_marked(const state *s, const sw_op *op, const sw_strategy *st) {
  int n = 0;
  for (int i = 0; i < op->n_operands; i++) {
    const mark *m = operand_mark(s, op, i);
    sw_sharding want;
    sw_strategy_operand(op, st, i, &want);
    n += m->set && sw_sharding_equal(&m->sharding, &want);
  }
  return n;
}

typedef struct asked {
  const state *s;
  const sw_op *op;
} asked;

static bool admits(const void *user, const sw_strategy *st) {
  const asked *a = user;
  return meets_required(a->s, a->op, st);
}

/* Dims that must not be cut, sums that must be complete or must not, digits of reshapes: where loops filled one by one
 * miss what is required of the results, all strategies are looked through, and the one that takes most operands as they
 * are is it. */
static sw_rc search_required(state *s, const sw_op *op, sw_strategy *st, sw_diag *d) {
  sw_enumerate_options o = s->unequal;
  o.admits = admits;
  o.admits_user = &(asked){s, op};
  sw_enumeration all;
  const sw_strategy *best = NULL;
  int most = -1;
  sw_arena_reset(&s->arena);
  SW_TRY(sw_strategies_enumerate(&s->job, op, &o, &s->arena, &all, d));
  for (int32_t i = 0; i < all.n; i++) {
    int n = operands_as_marked(s, op, &all.at[i]);
    if (n <= most) continue;
    most = n;
    best = &all.at[i];
  }
  return best ? sw_strategy_take_over(s->job.graph, op, best, op, s->keep, st, d) : SW_OK; /* lists outlive this op */
}

/* --- setShardingAnnotations -------------------------------------------------------------------------------------- */

static void set_annotations(state *s, const sw_op *op, const sw_strategy *st) {
  const sw_id id = (sw_id)(op - s->job.graph->ops);
  for (int i = 0; i < op->n_results; i++) {
    mark *m = &s->def[op->results[i]];
    if (m->set || is_blocked(s, id, SW_DIRECTION_FORWARD)) continue;
    m->set = true;
    sw_strategy_result(op, st, i, &m->sharding);
  }
  for (int i = 0; i < op->n_operands; i++) {
    mark *m = &s->use[id][i];
    if (m->set || is_blocked(s, id, SW_DIRECTION_BACKWARD)) continue;
    m->set = true;
    sw_strategy_operand(op, st, i, &m->sharding);
  }
}

/* Of ops that share a strategy, the first one that has one decides for all. */
static sw_id decided_tie(const state *s, sw_id id) {
  sw_id leader = sw_op_tied_to(s->job.graph, id);
  if (leader < 0) leader = id;
  if (s->decided[leader]) return leader;
  const sw_op *op = &s->job.graph->ops[leader];
  for (int r = 0; r < op->n_results; r++) {
    const sw_value *v = &s->job.graph->values[op->results[r]];
    for (int u = 0; u < v->n_uses; u++) {
      sw_id join = v->uses[u].op;
      if (join < 0 || s->job.graph->ops[join].code != SW_OP_JOIN) continue;
      if (s->decided[join]) return join;
      for (int i = 0; i < s->job.graph->ops[join].n_operands; i++) {
        sw_id yield = s->job.graph->values[s->job.graph->ops[join].operands[i]].def;
        if (s->decided[yield]) return yield;
      }
    }
  }
  return -1;
}

static sw_rc take_over(state *s, sw_id from, sw_id to, sw_diag *d) {
  return sw_strategy_take_over(s->job.graph, &s->job.graph->ops[from], &s->ops[from], &s->job.graph->ops[to], s->keep,
                               &s->ops[to], d);
}

static sw_rc visit_op(state *s, sw_id id, sw_diag *d) {
  const sw_op *op = &s->job.graph->ops[id];
  sw_id tied = s->decided[id] ? -1 : decided_tie(s, id);
  bool touched = true;
  if (tied >= 0) SW_TRY(take_over(s, tied, id, d));
  if (tied < 0 && !s->decided[id]) {
    SW_TRY(get_option(s, op, &s->ops[id], &touched, d));
    bool legal = sw_strategy_legal(s->job.graph, op, s->mesh, &s->ops[id]);
    if (!legal) s->ops[id] = (sw_strategy){0};
    if (!legal || !meets_required(s, op, &s->ops[id])) SW_TRY(search_required(s, op, &s->ops[id], d));
  }
  sw_rc rc = sw_strategy_check(s->job.graph, op, s->mesh, &s->ops[id], d);
  if (rc) {
    sw_diag_note(d, "op '%s' cannot be cut as the annotations around it say", op->name);
    if (d) d->rc = SW_E_INFEASIBLE;
    return SW_E_INFEASIBLE;
  }
  s->decided[id] = touched; /* an op with nothing around it is asked again by the next sweep */
  if (touched) set_annotations(s, op, &s->ops[id]);
  return SW_OK;
}

/* --- values of one sharding -------------------------------------------------------------------------------------- */

static void take_mark(mark *to, const mark *from) {
  if (!to->set && from->set) *to = *from;
}

/* What one has the others get, through the one that speaks for them. */
static void share_in_groups(state *s) {
  for (int speak = 1; speak >= 0; speak--) {
    for (int32_t i = 0; i < 2 * s->job.request->n_sharding_groups; i++) {
      sw_id v = i % 2 ? s->job.request->sharding_groups[i / 2].b : s->job.request->sharding_groups[i / 2].a,
            all = sw_value_group(s->groups, v);
      take_mark(&s->def[speak ? all : v], &s->def[speak ? v : all]);
    }
  }
}

/* --- sweeps ------------------------------------------------------------------------------------------------------ */

/* Ops without a strategy yet. */
static int32_t open_ops(const state *s) {
  int32_t n = 0;
  for (sw_id id = 0; id < s->job.graph->n_ops; id++) n += !s->decided[id];
  return n;
}

static sw_rc sweep_ops(state *s, bool backward, sw_diag *d) {
  const sw_graph *g = s->job.graph;
  share_in_groups(s);
  for (int32_t i = 0; i < g->n_ops; i++) {
    s->failed = backward ? g->n_ops - 1 - i : i;
    SW_TRY(visit_op(s, s->failed, d));
  }
  s->failed = -1;
  return SW_OK;
}

/* Barriers that nothing may reach. */
static sw_rc settle_barriers(state *s, sw_diag *d) {
  s->settling = true;
  for (sw_id id = 0; id < s->job.graph->n_ops; id++) {
    if (s->job.graph->ops[id].blocked && !s->decided[id]) SW_TRY(visit_op(s, id, d));
  }
  return SW_OK;
}

/* What one sweep has decided too late for an op that it had passed. */
static sw_rc settle_ties(state *s, sw_diag *d) {
  for (sw_id id = 0; id < s->job.graph->n_ops; id++) {
    if (s->decided[id]) continue;
    sw_id tied = decided_tie(s, id);
    if (tied >= 0) SW_TRY(take_over(s, tied, id, d));
  }
  return SW_OK;
}

/* --- shardings that no strategy gives by itself ------------------------------------------------------------------- */

static sw_rc state_port(state *s, sw_id id, int port, const sw_annotation *a, sw_stated_list *out, sw_diag *d) {
  const sw_op *op = &s->job.graph->ops[id];
  const sw_demand demand = {a, port};
  const bool met = sw_demand_is_met(s->job.graph->written, op, &demand, &s->ops[id]);
  sw_stated one = {.op = id, .port = port};
  sw_sharding made;
  bool resharded;
  if (sw_port_is_border(op, port)) return SW_OK;
  SW_TRY(sw_demand_is_resharded(&s->job, id, &demand, met, &(sw_enumerate_options){0}, &resharded, d));
  if (!resharded && !(met && a->required)) return SW_OK;
  sw_demand_stated(s->job.graph->written, op, &demand, &s->ops[id], &one.sharding);
  sw_strategy_port(op, &s->ops[id], port, &made);
  return sw_sharding_equal(&made, &one.sharding) ? SW_OK : sw_stated_put(out, &one, d);
}

static sw_rc state_annotations(state *s, sw_plan *out, sw_diag *d) {
  const sw_units units = sw_units_of(&s->job);
  sw_stated_list stated;
  SW_TRY(sw_stated_begin(&s->job, -1, s->keep, &stated, d));
  for (int32_t i = 0; i < s->job.request->n_annotations; i++) {
    const sw_annotation *a = &s->job.request->annotations[i];
    for (int32_t k = 0; a->value >= 0 && k < sw_annotation_n_ports(s->job.graph, a); k++) {
      const sw_port at = sw_annotation_port(&units, a, k);
      const sw_unit unit = sw_unit_at(&units, at.unit);
      if (unit.kind == SW_UNIT_OP) SW_TRY(state_port(s, unit.id, at.port, a, &stated, d));
    }
  }
  sw_stated_end(&stated);
  out->n_stated = stated.n;
  out->stated = stated.at;
  return SW_OK;
}

/* --- the plan ---------------------------------------------------------------------------------------------------- */

/* Arguments: their own mark, or the first use's; outputs: their use's mark, or the definition without its partial axes.
 */
static void finish_ends(const state *s, sw_plan *out) {
  const sw_graph *g = s->job.graph;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const mark *m = &s->def[g->args[i]];
    for (int32_t u = 0; !m->set && u < v->n_uses; u++) {
      m = v->uses[u].op < 0 ? &s->output[v->uses[u].index] : &s->use[v->uses[u].op][v->uses[u].index];
    }
    if (m->set) out->args[i] = m->sharding;
    if (!s->def[g->args[i]].set || !s->def[g->args[i]].by) out->args[i].n_partial = 0;
  }
  sw_plan_deliver(out, NULL);
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] < 0 && s->output[i].set) out->outputs[i] = s->output[i].sharding;
  }
}

static sw_rc state_init(state *s, sw_arena *scratch, sw_diag *d) {
  const sw_graph *g = s->job.graph;
  SW_ARENA_NEW(s->def, scratch, g->n_values, d);
  SW_ARENA_NEW(s->use, scratch, g->n_ops, d);
  SW_ARENA_NEW(s->output, scratch, g->n_outputs, d);
  SW_ARENA_NEW_EACH(scratch, g->n_ops, d, s->decided, s->option);
  SW_TRY(sw_value_groups(s->job.request, scratch, &s->groups, d));
  for (int32_t i = 0; i < g->n_ops; i++) SW_ARENA_NEW(s->use[i], scratch, g->ops[i].n_operands, d);
  for (int32_t i = 0; i < s->job.request->n_annotations; i++) {
    if (!s->left || !s->left[i]) SW_TRY(read_annotation(s, &s->job.request->annotations[i], d));
  }
  return sw_unequal_blocks(s->job.request, scratch, &s->unequal.n_unequal, &s->unequal.unequal, d);
}

bool sw_traversal_parse(const char *text, sw_traversal *out) {
  static const char *const kTexts[] = {"backward-forward", "forward-backward", "forward", "backward"};
  for (int i = 0; i < 4; i++) {
    if (strcmp(text, kTexts[i]) != 0) continue;
    *out = (sw_traversal)i;
    return true;
  }
  return false;
}

sw_rc sw_propagate_by_rule(const sw_job *j, sw_traversal t, const bool *left, sw_id *failed, sw_arena *arena,
                           sw_plan *out, sw_diag *d) {
  SW_TRY(sw_plan_build(j, arena, out, d));
  out->origin = "propagate";
  state s = {.job = *j, .left = left, .failed = -1, .mesh = sw_machine_mesh(j->machine), .ops = out->ops};
  s.keep = arena;
  sw_arena scratch = {0};
  sw_rc rc = state_init(&s, &scratch, d);
  bool backward_first = t == SW_TRAVERSE_BACKWARD_FORWARD || t == SW_TRAVERSE_BACKWARD;
  bool both = t <= SW_TRAVERSE_FORWARD_BACKWARD;
  s.tables_wait = both;
  if (!rc) rc = sweep_ops(&s, backward_first, d);
  if (!rc && both) rc = sweep_ops(&s, !backward_first, d);
  s.tables_wait = false;
  for (int32_t before = INT32_MAX, now; !rc && both && (now = open_ops(&s)) > 0 && now < before; before = now) {
    rc = sweep_ops(&s, backward_first, d);
    if (!rc) rc = sweep_ops(&s, !backward_first, d);
  }
  if (!rc) rc = settle_ties(&s, d);
  if (!rc) rc = settle_barriers(&s, d);
  if (!rc) rc = state_annotations(&s, out, d);
  *failed = s.failed;
  if (!rc) finish_ends(&s, out);
  sw_arena_deinit(&scratch);
  sw_arena_deinit(&s.arena);
  if (!rc) rc = sw_plan_verify(out, d);
  return rc;
}
