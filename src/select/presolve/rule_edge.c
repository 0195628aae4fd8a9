/* Rules on one edge: arc consistency, separable parts, and functional merging.
 *
 * Before: costs [[3, 5], [4, 6]] between a and b. Row minima 3 and 4 go to a, then column minima 0 and 2 go to b; what
 * is left is all zero, so the edge goes. A row without an allowed entry takes its value with it. Where every value s of
 * a allows exactly one value f(s) of b, b is not a decision: its costs, uses and edges are a's, read through f.
 *
 * Cost: one walk over the table, and for a merge over the tables of the variable that goes.
 */
#include <string.h>

#include "select/proof.h"

/* Subtract the least entry of each line from it; returns whether a line has no allowed entry (then keep[line] is
 * false). `cross` is the distance between the entries of one line, `along` that between lines. */
static bool lower_lines(int64_t *v, int32_t lines, int64_t along, int32_t len, int64_t cross, int64_t *to, bool move,
                        bool *keep) {
  bool lost = false;
  for (int32_t s = 0; s < lines; s++) {
    int64_t *line = v + s * along, least = SW_FORBIDDEN;
    for (int32_t t = 0; t < len; t++) least = sw_min_i64(least, line[t * cross]);
    keep[s] = !sel_bad(least);
    if (!sel_bad(least) && move && least > 0) {
      for (int32_t t = 0; t < len; t++)
        if (!sel_bad(line[t * cross])) line[t * cross] -= least;
      to[s] = sw_cost_add(to[s], least);
      keep[s] = !sel_bad(to[s]);
    }
    lost |= !keep[s];
  }
  return lost;
}

static bool all_zero(const int64_t *v, int64_t n) {
  for (int64_t k = 0; k < n; k++)
    if (v[k]) return false;
  return true;
}

/* f[s] = the one allowed value of the other end, or false. */
static bool forces_other_end(const sel_model *m, const sel_edge *g, int32_t v, int32_t *f) {
  int32_t n = m->vars[v].n, other = m->vars[sel_other(g, v)].n;
  for (int32_t s = 0; s < n; s++) {
    f[s] = -1;
    for (int32_t t = 0; t < other; t++) {
      if (sel_bad(sel_edge_at(m, g, v, s, t))) continue;
      if (f[s] >= 0) return false;
      f[s] = t;
    }
    if (f[s] < 0) return false;
  }
  return true;
}

/* Move the edge (gone, k) to (into, k). */
static sw_rc move_edge(sel_model *m, int32_t e, int32_t gone, int32_t into, const int32_t *f, sw_diag *d) {
  sel_edge *g = &m->edges[e];
  int32_t k = sel_other(g, gone), n = m->vars[into].n, nk = m->vars[k].n;
  int64_t *v = sel_cells_take(m, (int64_t)n * nk, d);
  if (!v) return SW_E_RESOURCE;
  for (int32_t s = 0; s < n; s++)
    for (int32_t t = 0; t < nk; t++) v[(int64_t)s * nk + t] = sel_edge_at(m, g, gone, f[s], t);
  sel_end_edge(m, g);
  return sel_add_edge(m, into, k, v, d);
}

static sw_rc move_use_spans(sel_model *m, int32_t gone, int32_t into, const int32_t *f, sw_diag *d) {
  sel_var *y = &m->vars[gone];
  int32_t n = m->vars[into].n;
  for (int32_t k = 0; k < y->n_spans; k++) {
    sel_span s = {y->spans[k].begin, y->spans[k].end, sel_cells_take(m, n, d)};
    if (!s.amount) return SW_E_RESOURCE;
    for (int32_t a = 0; a < n; a++) s.amount[a] = y->spans[k].amount[f[a]];
    sel_cells_give(m, y->spans[k].amount);
    SW_TRY(sel_add_span(m, into, s, d));
  }
  y->n_spans = 0;
  sel_settle_spans(m, into);
  return SW_OK;
}

/* `gone` takes value f[s] where `into` has s: its costs, edges and spans become those of `into`. `e` joins the two, -1:
 * nothing does. */
static sw_rc merge(sel_model *m, int32_t e, int32_t gone, int32_t into, const int32_t *f, sw_diag *d) {
  sel_var *x = &m->vars[into], *y = &m->vars[gone];
  int32_t *table;
  sel_log_merge(m, gone, into);
  sel_count(m, SW_RULE_FUNCTIONAL, 1);
  SW_TRY(sel_record_new(m, gone, into, -1, &table, d));
  for (int32_t s = 0; s < x->n; s++) {
    table[x->id[s]] = y->id[f[s]];
    int64_t more = e < 0 ? y->cost[f[s]] : sw_cost_add(y->cost[f[s]], sel_edge_at(m, &m->edges[e], into, s, f[s]));
    x->cost[s] = sw_cost_add(x->cost[s], more);
  }
  if (e >= 0) sel_end_edge(m, &m->edges[e]);
  y->gone = true;
  sel_tidy_edges(m, gone);
  sel_tidy_edges(m, into);
  for (int32_t k = 0; k < y->edges.n; k++) SW_TRY(move_edge(m, y->edges.at[k], gone, into, f, d));
  SW_TRY(move_use_spans(m, gone, into, f, d));
  bool lost = false, *keep;
  SW_ARENA_NEW(keep, &m->mem, x->n, d);
  for (int32_t s = 0; s < x->n; s++) lost |= !(keep[s] = !sel_bad(x->cost[s]));
  if (lost) sel_log_forbidden(m, into, keep);
  return lost ? sel_keep_values(m, into, keep, d) : sel_queue_var(m, into, d);
}

static sw_rc try_merge(sel_model *m, int32_t e, sw_diag *d) {
  int32_t i = m->edges[e].i, j = m->edges[e].j;
  int32_t *f, *b;
  SW_ARENA_NEW(f, &m->mem, m->vars[i].n, d);
  SW_ARENA_NEW(b, &m->mem, m->vars[j].n, d);
  bool j_of_i = forces_other_end(m, &m->edges[e], i, f), i_of_j = forces_other_end(m, &m->edges[e], j, b);
  if (j_of_i && i_of_j) { /* either may go: the one with fewer edges to move */
    j_of_i = m->vars[j].edges.n <= m->vars[i].edges.n;
    i_of_j = !j_of_i;
  }
  if (j_of_i) return merge(m, e, j, i, f, d);
  return i_of_j ? merge(m, e, i, j, b, d) : SW_OK;
}

/* Values of v that the edge to o leaves no partner, or that have become forbidden. */
static void log_lines(const sel_model *m, int32_t v, int32_t o, const bool *keep) {
  sel_log_forbidden(m, v, keep);
  for (int32_t s = 0; m->given.log && s < m->vars[v].n; s++)
    if (!keep[s] && !sel_bad(m->vars[v].cost[s])) sel_log_drop(m, v, s, "alone", sel_name_var(m, o));
}

/* Room for the flags of both ends, on the stack for ordinary sizes. */
enum { FLAGS = 512 };

/* What lowering a shared table comes to, wherever it stands. */
struct sel_lowered {
  const int64_t *after;     /* NULL: a line has no allowed entry, so that values go and the table is no longer shared */
  const int64_t *row, *col; /* what the values pay */
  bool zero, function;      /* nothing is left; one end is a function of the other */
};

static sw_rc lower_table(sel_model *m, const sel_edge *g, struct sel_lowered **out, sw_diag *d) {
  int32_t rows = m->vars[g->i].n, cols = m->vars[g->j].n, *f;
  int64_t *v, *row, *col, cells = (int64_t)rows * cols;
  bool *keep;
  SW_ARENA_NEW(*out, &m->mem, 1, d);
  SW_ARENA_NEW_EACH(&m->mem, sw_max_i64(rows, cols), d, keep, f);
  SW_ARENA_NEW(row, &m->mem, rows, d);
  SW_ARENA_NEW(col, &m->mem, cols, d);
  v = sw_arena_copy(&m->mem, g->v, (size_t)cells, sizeof *v, d);
  if (!v) return SW_E_RESOURCE;
  if (lower_lines(v, rows, cols, cols, 1, row, true, keep)) return SW_OK;
  if (lower_lines(v, cols, 1, rows, cols, col, true, keep)) return SW_OK;
  sel_edge after = {.i = g->i, .j = g->j, .v = v};
  bool function = forces_other_end(m, &after, g->i, f) || forces_other_end(m, &after, g->j, f);
  **out = (struct sel_lowered){v, row, col, all_zero(v, cells), function};
  return SW_OK;
}

static bool can_pay(const sel_var *x, const int64_t *more) {
  for (int32_t s = 0; s < x->n; s++)
    if (sel_bad(sw_cost_add(x->cost[s], more[s]))) return false;
  return true;
}

static void pay(sel_var *x, const int64_t *more) {
  for (int32_t s = 0; s < x->n; s++) x->cost[s] = sw_cost_add(x->cost[s], more[s]);
}

static sw_rc drop_empty(sel_model *m, int32_t e, sw_diag *d) {
  if (m->given.rules & SW_RULE_SEPARABLE) sel_count(m, SW_RULE_SEPARABLE, 1);
  return sel_drop_edge(m, e, d);
}

/* The whole rule for a shared table of which no value goes; else *done stays false and nothing has changed. */
static sw_rc lower_shared(sel_model *m, int32_t e, bool *done, sw_diag *d) {
  sel_edge *g = &m->edges[e];
  sel_var *x = &m->vars[g->i], *y = &m->vars[g->j];
  const uint64_t key[] = {(uintptr_t)g->v, (uint64_t)x->n << 32 | (uint32_t)y->n};
  int64_t *slot;
  bool fresh;
  struct sel_lowered *l;
  SW_TRY(sw_dict_put(&m->kept.lowered, key, sizeof key, 0, &slot, &fresh, d));
  if (fresh) {
    SW_TRY(lower_table(m, g, &l, d));
    *slot = (int64_t)(intptr_t)l;
  }
  l = (struct sel_lowered *)(intptr_t)*slot;
  *done = l && l->after && can_pay(x, l->row) && can_pay(y, l->col);
  if (!*done) return SW_OK;
  sel_log_lower(m, g->i, g->j);
  sel_log_lower(m, g->j, g->i);
  pay(x, l->row);
  pay(y, l->col);
  g->v = l->after;
  if (l->zero) return drop_empty(m, e, d);
  return l->function && m->given.rules & SW_RULE_FUNCTIONAL ? try_merge(m, e, d) : SW_OK;
}

static sw_rc settle_edge(sel_model *m, int32_t e, sw_diag *d) {
  sel_edge *g = &m->edges[e];
  bool done = false;
  if (g->shared && m->given.rules & SW_RULE_SEPARABLE) SW_TRY(lower_shared(m, e, &done, d));
  if (done) return SW_OK;
  if (!sel_own_table(m, g, d)) return SW_E_RESOURCE;
  sel_var *x = &m->vars[g->i], *y = &m->vars[g->j];
  int32_t i = g->i, j = g->j, rows = x->n, cols = y->n;
  bool flags[FLAGS], *keep = flags, move = m->given.rules & SW_RULE_SEPARABLE;
  if (rows > FLAGS || cols > FLAGS) SW_ARENA_NEW(keep, &m->mem, rows > cols ? rows : cols, d);
  if (move) sel_log_lower(m, i, j);
  if (lower_lines(sel_own_table(m, g, d), rows, cols, cols, 1, x->cost, move, keep)) {
    log_lines(m, i, j, keep);
    SW_TRY(sel_keep_values(m, i, keep, d));
  }
  if (m->infeasible) return SW_OK;
  rows = x->n;
  if (move) sel_log_lower(m, j, i);
  if (lower_lines(sel_own_table(m, g, d), cols, 1, rows, cols, y->cost, move, keep)) {
    log_lines(m, j, i, keep);
    SW_TRY(sel_keep_values(m, j, keep, d));
  }
  if (m->infeasible) return SW_OK;
  if (all_zero(g->v, (int64_t)rows * y->n)) return drop_empty(m, e, d);
  return m->given.rules & SW_RULE_FUNCTIONAL ? try_merge(m, e, d) : SW_OK;
}

sw_rc sel_rule_edge(sel_model *m, int32_t e, sw_diag *d) {
  SW_TRY(settle_edge(m, e, d));
  sel_edge *g = &m->edges[e];
  if (g->gone || g->shared || m->infeasible) return SW_OK;
  return sel_pool_table(m, g, (int64_t)m->vars[g->i].n * m->vars[g->j].n, d);
}
