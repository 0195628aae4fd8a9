#include "strategy/demands.h"

#include <stdlib.h>

/* What is partial is a set of axes: in order, so that parts of an axis join. */
static void order_partial_axes(const sw_op *op, sw_strategy *s) {
  for (int i = 1; i < s->n_refs; i++) {
    for (int k = i; k > 0 && s->loop_of[k] >= op->nest->n_loops && s->loop_of[k - 1] == s->loop_of[k]; k--) {
      const sw_axis_ref a = s->refs[k - 1], b = s->refs[k];
      if (a.axis < b.axis || (a.axis == b.axis && a.pre < b.pre)) break;
      s->refs[k - 1] = b;
      s->refs[k] = a;
    }
  }
  sw_strategy_join(s);
}

bool sw_annotation_admits_strategy(const sw_graph *g, const sw_annotation *a, const sw_strategy *s) {
  sw_strategy want = {0}, have = *s;
  for (int i = 0; i < a->n_loop_refs; i++) {
    if (!sw_strategy_push(&want, a->loop_of[i], a->loop_refs[i])) return false;
  }
  order_partial_axes(&g->ops[a->op], &want);
  order_partial_axes(&g->ops[a->op], &have);
  have.offsets = NULL; /* blocks of any size */
  return sw_strategy_equal(&want, &have);
}

sw_rc sw_demands_find(const sw_job *j, bool hints, sw_arena *arena, sw_demand_index *out, sw_diag *d) {
  const sw_request *r = j->request;
  const sw_units units = sw_units_of(j);
  int32_t *behind; /* by unit, one further on: where its next one stands, at last where all do */
  SW_ARENA_NEW(out->first, arena, units.n + 2, d);
  behind = out->first + 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t i = 0; i < r->n_annotations; i++) {
      const sw_annotation *a = &r->annotations[i];
      for (int32_t k = 0; (hints || a->required) && k < sw_annotation_n_ports(j->graph, a); k++) {
        const sw_port at = sw_annotation_port(&units, a, k);
        if (pass == 0) behind[at.unit + 1]++;
        if (pass == 1) out->at[behind[at.unit]++] = (sw_demand){a, at.port};
      }
    }
    for (int32_t u = 0; pass == 0 && u < units.n; u++) behind[u + 1] += behind[u];
    if (pass == 0) SW_ARENA_NEW(out->at, arena, behind[units.n], d);
  }
  return SW_OK;
}

sw_rc sw_demands_of(const sw_demand_index *x, int32_t unit, sw_demands *out, sw_diag *d) {
  const size_t n = (size_t)sw_demands_count(x, unit);
  out->n = 0;
  SW_TRY(sw_array_reserve(out, n, d));
  for (size_t i = 0; i < n; i++) out->at[out->n++] = x->at[x->first[unit] + (int32_t)i];
  return SW_OK;
}

bool sw_port_is_border(const sw_op *op, int port) {
  return op->code == SW_OP_YIELD ? port >= op->n_operands : op->code == SW_OP_JOIN && port < op->n_operands;
}

static bool is_plain_demand(const sw_sharding *s) { return !sw_sharding_is_special(s) && !s->n_partial; }

bool sw_demand_is_flexible(const sw_graph *g, sw_id op, const sw_demand *m) {
  return m->port >= 0 && !is_plain_demand(&m->a->sharding) && !sw_port_is_border(&g->ops[op], m->port);
}

void sw_demands_drop_flexible(const sw_graph *g, sw_id op, sw_demands *m) {
  size_t kept = 0;
  for (size_t i = 0; i < m->n; i++) {
    if (!sw_demand_is_flexible(g, op, &m->at[i])) m->at[kept++] = m->at[i];
  }
  m->n = kept;
}

/* --- what stands behind an op ------------------------------------------------------------------------------------- */

/* What is carried through a loop or a branch is in one sharding there. */
static bool is_carried(const sw_op *op) {
  return op->code == SW_OP_ENTER || op->code == SW_OP_YIELD || op->code == SW_OP_JOIN;
}

/* A reshape of nothing stands for a collective or an annotation of the program's: what is done for it is done before
 * it, but where it must take its operand in some sharding: it is a step from that to what it must give. */
static bool is_step(const sw_request *r, const sw_op *op) {
  const sw_graph *g = r->graph;
  if (!sw_changes_nothing(g, op)) return false;
  for (int32_t i = 0; i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    if (!a->required || !a->for_users || a->value != op->operands[0]) continue;
    for (int32_t k = 0; k < sw_annotation_n_ports(g, a); k++)
      if (sw_annotation_use(g, a, k).op == op - g->ops) return true;
  }
  return false;
}

/* Is the sum partial over all of `ref`? */
static bool is_summed(const sw_sharding *s, sw_axis_ref ref) {
  const sw_axis_ref *over = sw_sharding_partial(s);
  for (int i = 0; i < s->n_partial; i++) {
    const bool within = over[i].axis == ref.axis && ref.pre >= over[i].pre && ref.pre % over[i].pre == 0 &&
                        over[i].pre * over[i].size % (ref.pre * ref.size) == 0;
    if (within) return true;
  }
  return false;
}

/* Is `want` what was made, each dim perhaps cut further by axes over which that is partial? */
static bool scatters(const sw_sharding *made, const sw_sharding *want) {
  for (int k = 0; k < made->rank; k++) {
    int n, m;
    const sw_axis_ref *have = sw_sharding_dim(made, k, &n), *w = sw_sharding_dim(want, k, &m);
    if (n > m) return false;
    for (int i = 0; i < m; i++) {
      const bool there = i < n ? sw_axis_ref_equal(have[i], w[i]) : is_summed(made, w[i]);
      if (!there) return false;
    }
  }
  return true;
}

/* All partial axes, in place of which a dim is cut further; false where there is no room. */
static bool scatter(const sw_mesh *mesh, const sw_sharding *made, int dim, sw_sharding *out) {
  *out = *made;
  out->n_partial = 0;
  for (int i = 0; i < made->n_partial; i++)
    if (!sw_sharding_push(out, dim, sw_sharding_partial(made)[i])) return false;
  sw_sharding_normalise(mesh, out);
  return true;
}

int sw_demand_behind(const sw_request *r, const sw_op *op, const sw_demand *m, const sw_sharding *made,
                     sw_sharding out[SW_MAX_RANK + 1]) {
  const sw_graph *g = r->graph;
  const sw_annotation *a = m->a;
  int n = 0;
  out[0] = *made;
  if (sw_annotation_admits(a, made)) return 1;
  if (m->port < op->n_operands || is_carried(op) || !is_plain_demand(&a->sharding)) return 0;
  if (!g->values[op->results[m->port - op->n_operands]].n_uses) return 0; /* nobody to bring it to */
  out[0].n_partial = 0;
  const bool completes = made->n_partial && !sw_changes_nothing(g, op);
  if (completes && sw_annotation_admits(a, &out[0])) n = 1;
  for (int k = 0; k < made->rank && completes; k++)
    if (a->open_dims >> k & 1 && scatter(&r->mesh, made, k, &out[n]) && sw_annotation_admits(a, &out[n])) n++;
  if (n || !((completes && scatters(made, &a->sharding)) || is_step(r, op))) return n;
  out[0] = a->sharding;
  return 1;
}

bool sw_demand_is_met(const sw_request *r, const sw_op *op, const sw_demand *m, const sw_strategy *s) {
  const sw_graph *g = r->graph;
  sw_sharding at, behind[SW_MAX_RANK + 1];
  if (m->port < 0) return sw_annotation_admits_strategy(g, m->a, s);
  sw_strategy_port(op, s, m->port, &at);
  return sw_demand_behind(r, op, m, &at, behind) > 0;
}

void sw_demand_stated(const sw_request *r, const sw_op *op, const sw_demand *m, const sw_strategy *s,
                      sw_sharding *out) {
  sw_sharding at, behind[SW_MAX_RANK + 1];
  sw_strategy_port(op, s, m->port, &at);
  *out = sw_demand_behind(r, op, m, &at, behind) ? behind[0] : m->a->sharding;
}

bool sw_demands_are_met(const void *user, const sw_strategy *s) {
  const sw_demands_meet *m = user;
  for (size_t i = 0; i < m->n; i++) {
    if (!sw_demand_is_met(m->request, m->op, &m->at[i], s)) return false;
  }
  return true;
}

/* Does some strategy meet this one, whatever else is demanded? `o`: what is enumerated, but for what it admits. */
static sw_rc can_be_met(const sw_job *j, const sw_op *op, const sw_demand *m, const sw_enumerate_options *o, bool *out,
                        sw_diag *d) {
  const sw_demands_meet one = {j->request, op, m, 1};
  sw_enumerate_options restricted = *o;
  sw_arena scratch = {0};
  sw_enumeration e = {0};
  restricted.admits = sw_demands_are_met;
  restricted.admits_user = &one;
  sw_rc rc = sw_strategies_enumerate(j, op, &restricted, &scratch, &e, d);
  *out = e.n > 0;
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_demands_drop_impossible(const sw_job *j, const sw_op *op, const sw_enumerate_options *o, sw_demands *m,
                                 sw_diag *d) {
  size_t kept = 0;
  for (size_t i = 0; i < m->n; i++) {
    bool can;
    SW_TRY(can_be_met(j, op, &m->at[i], o, &can, d));
    if (can) m->at[kept++] = m->at[i];
  }
  m->n = kept;
  return SW_OK;
}

sw_rc sw_demand_is_resharded(const sw_job *j, sw_id op, const sw_demand *m, bool met, const sw_enumerate_options *o,
                             bool *out, sw_diag *d) {
  const sw_graph *g = j->graph;
  bool can = true;
  *out = !met && sw_demand_is_flexible(g, op, m);
  if (met || *out || !m->a->required) return SW_OK;
  SW_TRY(can_be_met(j, &g->ops[op], m, o, &can, d));
  *out = !can;
  return SW_OK;
}

sw_rc sw_demands_can_be_met(const sw_job *j, const sw_op *op, const sw_demand *at, size_t n, bool *out, sw_diag *d) {
  const sw_demands_meet meet = {j->request, op, at, n};
  sw_enumerate_options o = {.admits = sw_demands_are_met, .admits_user = &meet};
  sw_arena scratch = {0};
  sw_enumeration e = {0};
  sw_rc rc = sw_strategies_enumerate(j, op, &o, &scratch, &e, d);
  o.any_size = true;
  if (!rc && !e.n) rc = sw_strategies_enumerate(j, op, &o, &scratch, &e, d);
  *out = e.n > 0;
  sw_arena_deinit(&scratch);
  return rc;
}

/* --- shardings that are stated of ports --------------------------------------------------------------------------- */

static int by_port(const void *x, const void *y) {
  const sw_stated *a = x, *b = y;
  return a->op != b->op ? (a->op > b->op) - (a->op < b->op) : (a->port > b->port) - (a->port < b->port);
}

const sw_sharding *sw_stated_at(const sw_stated *stated, int32_t n, sw_id op, int32_t port) {
  const sw_stated key = {.op = op, .port = port};
  const sw_stated *found = n ? bsearch(&key, stated, (size_t)n, sizeof key, by_port) : NULL;
  return found ? &found->sharding : NULL;
}

static int32_t most_stated(const sw_request *r) {
  const sw_graph *g = r->graph;
  int32_t n = 0;
  for (int32_t i = 0; i < r->n_annotations; i++) n += sw_annotation_n_ports(g, &r->annotations[i]);
  return n;
}

sw_rc sw_stated_begin(const sw_job *j, int32_t most, sw_arena *arena, sw_stated_list *out, sw_diag *d) {
  const sw_graph *g = j->graph;
  *out = (sw_stated_list){.g = g};
  if (most < 0) most = most_stated(j->request);
  SW_ARENA_NEW_EACH(arena, most, d, out->at, out->earlier);
  SW_ARENA_NEW(out->newest, arena, g->n_ops, d);
  for (int32_t i = 0; i < g->n_ops; i++) out->newest[i] = -1;
  return SW_OK;
}

const sw_sharding *sw_stated_find(const sw_stated_list *l, sw_id op, int32_t port) {
  for (int32_t i = l->newest[op]; i >= 0; i = l->earlier[i]) {
    if (l->at[i].port == port) return &l->at[i].sharding;
  }
  return NULL;
}

sw_rc sw_stated_put(sw_stated_list *l, const sw_stated *one, sw_diag *d) {
  const sw_sharding *other = sw_stated_find(l, one->op, one->port);
  if (other && sw_sharding_equal(other, &one->sharding)) return SW_OK;
  if (other)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "port %d of op '%s' is stated in two shardings", one->port,
                         l->g->ops[one->op].name);
  l->at[l->n] = *one;
  l->earlier[l->n] = l->newest[one->op];
  l->newest[one->op] = l->n++;
  return SW_OK;
}

void sw_stated_end(sw_stated_list *l) {
  if (l->n) qsort(l->at, (size_t)l->n, sizeof *l->at, by_port);
}

/* --- values of one sharding --------------------------------------------------------------------------------------- */

sw_rc sw_value_groups(const sw_request *r, sw_arena *arena, sw_id **out, sw_diag *d) {
  *out = NULL;
  if (!r->n_sharding_groups) return SW_OK;
  SW_ARENA_NEW(*out, arena, r->graph->n_values, d);
  for (sw_id v = 0; v < r->graph->n_values; v++) (*out)[v] = -1;
  for (int32_t i = 0; i < r->n_sharding_groups; i++) {
    const sw_sharding_group *of = &r->sharding_groups[i];
    if ((*out)[of->a] < 0) (*out)[of->a] = of->a;
    if ((*out)[of->b] < 0) (*out)[of->b] = of->b;
    sw_disjoint_join(*out, of->a, of->b);
  }
  return SW_OK;
}
