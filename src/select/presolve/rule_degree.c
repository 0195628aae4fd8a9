/* Variables that need no search: one value left, or no memory and at most two neighbours.
 *
 *   before  a - v - b, v without uses     after  a - b, cost[a][b] += min over v of (a-v + v + v-b)
 *
 * Cost: values(v) x values(a) x values(b). Where that is too much the variable stays, for bounds and the search.
 */
#include <string.h>

#include "select/proof.h"
#include "base/hash.h"

static sw_rc fix_single_choice(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  int32_t *table;
  SW_TRY(sel_record_new(m, v, -1, -1, &table, d));
  table[0] = x->id[0];
  m->offset = sw_cost_add(m->offset, x->cost[0]);
  x->gone = true;
  for (int32_t k = 0; k < x->edges.n; k++) {
    sel_edge *g = &m->edges[x->edges.at[k]];
    int32_t o = sel_other(g, v);
    sel_var *y = &m->vars[o];
    bool lost = false, *keep;
    SW_ARENA_NEW(keep, &m->mem, y->n, d);
    for (int32_t t = 0; t < y->n; t++) {
      y->cost[t] = sw_cost_add(y->cost[t], sel_edge_at(m, g, v, 0, t));
      lost |= !(keep[t] = !sel_bad(y->cost[t]));
    }
    sel_end_edge(m, g);
    if (lost) sel_log_forbidden(m, o, keep);
    SW_TRY(lost ? sel_keep_values(m, o, keep, d) : sel_queue_var(m, o, d));
  }
  return SW_OK;
}

static sw_rc take_cheapest(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  int32_t best = 0, *table;
  for (int32_t s = 1; s < x->n; s++)
    if (x->cost[s] < x->cost[best]) best = s;
  SW_TRY(sel_record_new(m, v, -1, -1, &table, d));
  table[0] = x->id[best];
  m->offset = sw_cost_add(m->offset, x->cost[best]);
  x->gone = true;
  return SW_OK;
}

static sw_rc fold_leaf(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  sel_edge *g = &m->edges[x->edges.at[0]];
  int32_t a = sel_other(g, v), *table;
  sel_var *y = &m->vars[a];
  bool *keep, lost = false;
  SW_ARENA_NEW(keep, &m->mem, y->n, d);
  SW_TRY(sel_record_new(m, v, a, -1, &table, d));
  for (int32_t t = 0; t < y->n; t++) {
    int64_t best = SW_FORBIDDEN;
    for (int32_t s = 0; s < x->n; s++) {
      int64_t c = sw_cost_add(x->cost[s], sel_edge_at(m, g, v, s, t));
      if (c >= best) continue;
      best = c;
      table[y->id[t]] = x->id[s];
    }
    y->cost[t] = sw_cost_add(y->cost[t], best);
    lost |= !(keep[t] = !sel_bad(y->cost[t]));
  }
  x->gone = true;
  sel_end_edge(m, g);
  if (lost) sel_log_forbidden(m, a, keep);
  return lost ? sel_keep_values(m, a, keep, d) : sel_queue_var(m, a, d);
}

/* All that a fold depends on, one block of bytes: a-v, and the entries (t, v + v-b) that are not forbidden, those of
 * value k at [first[k], first[k + 1]). */
typedef struct question {
  int32_t n, n_a, n_b;
  size_t bytes;
  int64_t *in, *cost; /* in: values(v) x values(a); the block begins here */
  int32_t *t, *first;
} question;

/* Its answer: costs[a][b], and the value of v that each comes from. */
struct sel_fold {
  question q;
  const int64_t *costs;
  const int32_t *arg;
};

/* Deep models repeat their layers: a fold that was done before is looked up, as long as all folds that are kept need
 * less than this. */
enum { MOST_KEPT_BYTES = 64 << 20, LEAST_STEPS = 2048 };

static sw_rc ask(const sel_model *m, int32_t v, const sel_edge *ga, const sel_edge *gb, question *q, sw_diag *d) {
  const sel_var *x = &m->vars[v];
  *q = (question){.n = x->n, .n_a = m->vars[sel_other(ga, v)].n, .n_b = m->vars[sel_other(gb, v)].n};
  size_t rows = (size_t)x->n, most = rows * (size_t)q->n_b;
  q->bytes = (rows * (size_t)q->n_a + most) * sizeof *q->in + (most + rows + 1) * sizeof *q->t;
  char *block;
  SW_MEM_NEW(block, q->bytes, d);
  q->in = (int64_t *)(void *)block;
  q->cost = q->in + rows * (size_t)q->n_a;
  q->t = (int32_t *)(void *)(q->cost + most);
  q->first = q->t + most;
  int32_t n = 0;
  for (int32_t k = 0; k < x->n; k++) {
    for (int32_t s = 0; s < q->n_a; s++) q->in[(int64_t)k * q->n_a + s] = sel_edge_at(m, ga, v, k, s);
    for (int32_t t = 0; t < q->n_b; t++) {
      int64_t c = sel_edge_at(m, gb, v, k, t);
      if (sel_bad(c)) continue;
      q->t[n] = t;
      q->cost[n++] = x->cost[k] + c;
    }
    q->first[k + 1] = n;
  }
  return SW_OK;
}

/* costs[t] = the least sum over the values of v for value s of a, and arg[t] the first that gives it. */
static void answer_row(const question *q, int32_t s, int64_t *costs, int32_t *arg) {
  for (int32_t t = 0; t < q->n_b; t++) costs[t] = SW_FORBIDDEN;
  for (int32_t k = 0; k < q->n; k++) {
    int64_t in = q->in[(int64_t)k * q->n_a + s];
    if (sel_bad(in)) continue;
    for (int32_t e = q->first[k]; e < q->first[k + 1]; e++) {
      int64_t c = in + q->cost[e]; /* <= 3 x 10^18 */
      int32_t t = q->t[e];
      if (c >= costs[t]) continue;
      costs[t] = c;
      arg[t] = k;
    }
  }
}

static bool same_question(const question *a, const question *b) {
  return a->n == b->n && a->n_a == b->n_a && a->n_b == b->n_b && memcmp(a->in, b->in, a->bytes) == 0;
}

/* Keep an answer for the next question of its kind. */
static sw_rc keep_fold(sel_model *m, const question *q, int64_t *slot, const int64_t *costs, const int32_t *arg,
                       sw_diag *d) {
  size_t cells = (size_t)q->n_a * (size_t)q->n_b;
  struct sel_fold *f;
  m->kept.fold_bytes += q->bytes + cells * (sizeof *costs + sizeof *arg);
  if (m->kept.fold_bytes > MOST_KEPT_BYTES) return SW_OK;
  SW_ARENA_NEW(f, &m->mem, 1, d);
  f->q = *q;
  f->q.in = sw_arena_copy(&m->mem, q->in, q->bytes, 1, d); /* the other parts are not looked at */
  f->costs = sw_arena_copy(&m->mem, costs, cells, sizeof *costs, d);
  f->arg = sw_arena_copy(&m->mem, arg, cells, sizeof *arg, d);
  if (!f->q.in || !f->costs || !f->arg) return SW_E_RESOURCE;
  *slot = (int64_t)(intptr_t)f;
  return SW_OK;
}

static sw_rc answer(sel_model *m, const question *q, int64_t *costs, int32_t *arg, sw_diag *d) {
  size_t cells = (size_t)q->n_a * (size_t)q->n_b;
  bool keeps = (size_t)q->n * cells >= LEAST_STEPS && m->kept.fold_bytes <= MOST_KEPT_BYTES;
  uint64_t key = keeps ? sw_hash_u64((uint64_t)q->n_a << 32 | (uint32_t)q->n_b, sw_hash_quick(q->in, q->bytes)) : 0;
  int64_t *slot = NULL;
  if (keeps) SW_TRY(sw_dict_put(&m->kept.folds, &key, sizeof key, 0, &slot, NULL, d));
  const struct sel_fold *known = slot ? (const struct sel_fold *)(intptr_t)*slot : NULL;
  if (known && same_question(&known->q, q)) {
    memcpy(costs, known->costs, cells * sizeof *costs);
    memcpy(arg, known->arg, cells * sizeof *arg);
    return SW_OK;
  }
  for (int32_t s = 0; s < q->n_a; s++) answer_row(q, s, costs + (int64_t)s * q->n_b, arg + (int64_t)s * q->n_b);
  return slot && !known ? keep_fold(m, q, slot, costs, arg, d) : SW_OK;
}

static sw_rc fold_middle(sel_model *m, int32_t v, sw_diag *d) {
  sel_log_fold(m, v);
  sel_var *x = &m->vars[v];
  sel_edge *ga = &m->edges[x->edges.at[0]], *gb = &m->edges[x->edges.at[1]];
  int32_t a = sel_other(ga, v), b = sel_other(gb, v), *table, *arg;
  const sel_var *ya = &m->vars[a], *yb = &m->vars[b];
  question q;
  int64_t *costs = sel_cells_take(m, (int64_t)ya->n * yb->n, d);
  if (!costs) return SW_E_RESOURCE;
  SW_TRY(sel_record_new(m, v, a, b, &table, d));
  SW_TRY(ask(m, v, ga, gb, &q, d));
  arg = sw_mem_alloc((size_t)ya->n * (size_t)yb->n, sizeof *arg, d);
  sw_rc rc = arg ? answer(m, &q, costs, arg, d) : SW_E_RESOURCE;
  for (int32_t s = 0; !rc && s < ya->n; s++) {
    for (int32_t t = 0; t < yb->n; t++) table[ya->id[s] * yb->n0 + yb->id[t]] = x->id[arg[(int64_t)s * yb->n + t]];
  }
  sw_mem_free(arg);
  sw_mem_free(q.in);
  if (rc) return rc;
  x->gone = true;
  sel_end_edge(m, ga);
  sel_end_edge(m, gb);
  sel_tidy_edges(m, a);
  sel_tidy_edges(m, b);
  return sel_add_edge(m, a, b, costs, d);
}

/* Steps of folding a variable between its two neighbours. */
static int64_t middle_steps(const sel_model *m, int32_t v) {
  const sel_var *x = &m->vars[v];
  int64_t steps = x->n;
  for (int32_t k = 0; k < x->edges.n; k++) steps *= m->vars[sel_other(&m->edges[x->edges.at[k]], v)].n;
  return steps;
}

sw_rc sel_rule_degree(sel_model *m, int32_t v, sel_budget *b, sw_diag *d) {
  const int64_t kMost = 1 << 24, kOfOneCount = 8; /* it runs along rows */
  sel_var *x = &m->vars[v];
  sel_tidy_edges(m, v);
  if (x->n == 1 && x->n_spans == 0) return fix_single_choice(m, v, d);
  if (x->n_spans > 0) return SW_OK;
  if (x->edges.n == 0) return take_cheapest(m, v, d);
  if (!(m->given.rules & SW_RULE_DEGREE) || x->edges.n > 2) return SW_OK;
  if (x->edges.n == 2 && middle_steps(m, v) > kMost) return SW_OK;
  sel_count(m, SW_RULE_DEGREE, 1);
  sel_spend(b, middle_steps(m, v) / kOfOneCount);
  if (x->edges.n == 1) return fold_leaf(m, v, d);
  return fold_middle(m, v, d);
}
