/* One decision for what has the same place in repeated layers: what is made again of one is made again of all, or of
 * the first so many, as a person would write it down. Of a plan of a schedule that leaves it open.
 */
#include <stdlib.h>

#include "base/hash.h"
#include "plan/choices.h"
#include "plan/search.h"

typedef enum decision { LEFT_OUT, RUNS, AGAIN, DECISIONS } decision;

/* Of one role are ops of one kind whose names differ by numbers of layers. */
typedef struct member {
  int32_t role;
  sw_id at; /* in the program */
  sw_id op;
  decision is;
} member;

static decision decision_of(const sw_plan *p, sw_id op) {
  const sw_entry *e = sw_job_entry(&p->job, op);
  const int8_t takes = p->ops[op].takes;
  if (takes < 0) return LEFT_OUT;
  const bool again = takes && sw_entry_is_keep(e) && takes == sw_plan_takes_of(&p->job, op, SW_WAY_AGAIN);
  return again || sw_entry_is_copy(e) ? AGAIN : RUNS;
}

static bool put_role_key(const sw_graph *g, const sw_op *op, const sw_entry *e, sw_text *key) {
  const sw_type *t = op->n_results ? sw_result_type(g, op, 0) : NULL;
  key->n = 0;
  if (!t || !sw_put_role(op->name, key)) return false;
  sw_text_printf(key, "|%d|%d|%d|%d", (int)op->code, (int)e->source, op->n_operands, (int)t->dtype);
  for (int k = 0; k < t->rank; k++) sw_text_printf(key, "|%lld", (long long)t->dims[k]);
  return !key->rc;
}

static int by_role_and_place(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->role != y->role) return x->role < y->role ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

static sw_rc list_of_roles(const sw_plan *p, sw_dict *seen, sw_text *key, member *all, int32_t *n, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_entry *e = sw_job_entry(&p->job, i);
    int64_t *role;
    if (!sw_entry_is_open(e) || !put_role_key(g, &g->ops[i], e, key)) continue;
    SW_TRY(sw_dict_put(seen, key->at, key->n, i, &role, NULL, d));
    all[(*n)++] = (member){(int32_t)*role, e->source ? e->value : e->op, i, decision_of(p, i)};
  }
  qsort(all, (size_t)*n, sizeof *all, by_role_and_place);
  return SW_OK;
}

/* Those of a role, in order of layers: each decision as the first one has it that took it. */
static bool unite_role(const sw_plan *p, sw_unite how, const member *m, int32_t n, sw_plan *out) {
  int32_t count[DECISIONS] = {0};
  sw_id as[DECISIONS] = {-1, -1, -1};
  decision one = LEFT_OUT;
  bool changed = false;
  for (int32_t i = n - 1; i >= 0; i--) {
    count[m[i].is]++;
    as[m[i].is] = m[i].op;
  }
  for (decision k = LEFT_OUT; k < DECISIONS; k++)
    if (count[k] && (how == SW_UNITE_ALL || count[k] >= count[one])) one = k;
  for (int32_t i = 0; i < n; i++) {
    const bool again = i < count[AGAIN], runs = i < count[AGAIN] + count[RUNS];
    const decision to = how != SW_UNITE_FIRST ? one : again ? AGAIN : runs ? RUNS : LEFT_OUT;
    if (to == m[i].is) continue;
    out->ops[m[i].op] = to == LEFT_OUT ? (sw_strategy){.takes = -1} : p->ops[as[to]];
    changed = true;
  }
  return changed;
}

sw_rc sw_plan_unite_layers(const sw_plan *p, sw_unite how, sw_arena *arena, sw_plan *out, bool *changed, sw_diag *d) {
  member *all;
  int32_t n = 0;
  sw_dict seen = {0};
  sw_text key = {0};
  *out = *p;
  *changed = false;
  SW_ARENA_NEW(all, arena, p->job.graph->n_ops + 1, d);
  if (!(out->ops = sw_arena_copy(arena, p->ops, (size_t)p->job.graph->n_ops, sizeof *out->ops, d)))
    return SW_E_RESOURCE;
  const sw_rc rc = list_of_roles(p, &seen, &key, all, &n, d);
  for (int32_t i = 0, end; !rc && i < n; i = end) {
    for (end = i + 1; end < n && all[end].role == all[i].role;) end++;
    *changed = unite_role(p, how, &all[i], end - i, out) || *changed;
  }
  sw_dict_deinit(&seen);
  sw_text_free(&key);
  return rc;
}
