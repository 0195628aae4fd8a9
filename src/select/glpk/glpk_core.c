/* A small core as a mixed-integer program for GLPK, where the dual has done its part.
 *
 * Columns: x[i][s] in {0, 1} per value that the bound does not rule out; y[e][s][t] >= 0 per allowed entry of an edge
 * between such values. Their costs are what the dual's messages leave of the core's, which differ by a constant and
 * start GLPK near its optimum. Rows: the x of a variable add up to 1; the y of an edge in line s add up to x[i][s], in
 * column t to x[j][t]; per step the uses stay within the cap. The dearest steps have a row from the start, others once
 * a relaxation breaks them. What is known already is GLPK's first solution, so that it looks for nothing worse.
 *
 * Example: of 200 variables with 9 values each, a gap of 0.1 % leaves some 300 values open; the others are fixed.
 */
#include <glpk.h>
#include <math.h>
#include <string.h>

#include "select/glpk/glpk_lock.h"
#include "select/milp.h"

enum { MOST_X = 3000, MOST_Y = 40000, PRICED_ROWS = 64, ROWS_AT_ONCE = 8 };

typedef struct milp {
  const sel_base *k;
  const sel_core *c;
  sel_dual *u;
  sel_budget *b;
  const int32_t *known; /* NULL: one of its values is ruled out */
  sw_arena mem;
  glp_prob *lp;
  int **x_at;         /* column of a value; 0: ruled out */
  int32_t *left, *at; /* per variable: values that are not; one of them */
  int *known_y;       /* per edge: the column of its entry that `known` takes; 0: none */
  double unit;        /* of costs in the program: then the gap is of a size that GLPK's tolerances suit */
  double *used;
  int *index;
  double *value;
  int32_t *x;
  sw_rc rc;
  sw_diag *d;
} milp;

/* --- which values are open --- */

/* While a pass goes on the bound does not fall below that of the last one, and what a variable's value has gathered
 * beyond its least comes on top in every solution with that value. */
static int64_t rule_out(milp *h) {
  const sel_dual *u = h->u;
  const double most = (double)sel_base_target(h->k) + 0.5, bound = u->best_bound;
  int64_t n_open = 0;
  sel_dual_rewind(h->u);
  sel_dual_pass(h->u, bound); /* no step: the target is the bound */
  for (int32_t i = 0; i < h->c->n; i++) {
    const double *hat = u->hat + u->offset[i];
    double least = INFINITY;
    for (int32_t s = 0; s < h->c->dom[i]; s++) least = fmin(least, hat[s]);
    for (int32_t s = 0; s < h->c->dom[i]; s++) {
      if (bound + hat[s] - least > most) continue;
      h->x_at[i][s] = 1;
      h->left[i]++;
      h->at[i] = h->left[i] == 1 ? s : h->at[i];
    }
    n_open += h->left[i] > 1 ? h->left[i] : 0;
  }
  for (int32_t i = 0; h->known && i < h->c->n; i++)
    if (!h->x_at[i][h->known[i]]) h->known = NULL;
  return n_open;
}

static double reduced_entry(const milp *h, int32_t e, int32_t s, int32_t t) {
  const sel_pair *g = &h->c->pairs[e];
  const sel_mat *m = &h->c->mats[g->mat];
  int64_t v = m->v[(int64_t)s * m->cols + t];
  const sel_link *l = &h->u->links[e];
  const double *to_row = l->i == g->i ? l->to_i : l->to_j, *to_col = l->i == g->i ? l->to_j : l->to_i;
  return v >= SW_FORBIDDEN ? INFINITY : (double)v - to_row[s] - to_col[t];
}

/* The least cost of a variable's values goes to the constant, so that none is negative. */
static void lower_costs(milp *h) {
  for (int32_t i = 0; i < h->c->n; i++) {
    double least = INFINITY;
    for (int32_t s = 0; s < h->c->dom[i]; s++)
      if (h->x_at[i][s]) least = fmin(least, glp_get_obj_coef(h->lp, h->x_at[i][s]));
    for (int32_t s = 0; s < h->c->dom[i]; s++)
      if (h->x_at[i][s]) glp_set_obj_coef(h->lp, h->x_at[i][s], glp_get_obj_coef(h->lp, h->x_at[i][s]) - least);
    glp_set_obj_coef(h->lp, 0, glp_get_obj_coef(h->lp, 0) + least);
  }
}

static int64_t count_entries(const milp *h) {
  int64_t n = 0;
  for (int32_t e = 0; e < h->c->n_pairs; e++) {
    const sel_pair *g = &h->c->pairs[e];
    if (h->left[g->i] > 1 && h->left[g->j] > 1) n += (int64_t)h->left[g->i] * h->left[g->j];
  }
  return n;
}

/* --- the program --- */

static void add_variable(milp *h, int32_t i) {
  const sel_dual *u = h->u;
  int n = 0;
  for (int32_t s = 0; s < h->c->dom[i]; s++) {
    if (!h->x_at[i][s]) continue;
    double cost = (double)h->c->cost[i][s];
    for (int32_t a = u->first_arc[i]; a < u->first_arc[i + 1]; a++) {
      const sel_link *l = &u->links[u->arcs[a].edge];
      cost += l->i == i ? l->to_i[s] : l->to_j[s];
    }
    int column = h->x_at[i][s] = glp_add_cols(h->lp, 1);
    glp_set_col_kind(h->lp, column, GLP_BV);
    glp_set_obj_coef(h->lp, column, cost / h->unit);
    h->index[++n] = column;
    h->value[n] = 1;
  }
  int row = glp_add_rows(h->lp, 1);
  glp_set_row_bnds(h->lp, row, GLP_FX, 1, 1);
  glp_set_mat_row(h->lp, row, n, h->index, h->value);
}

/* Beside a variable with one value left, an edge is a cost of the other. */
static void add_edge_cost(milp *h, int32_t e) {
  const sel_pair *g = &h->c->pairs[e];
  bool row_set = h->left[g->i] == 1;
  int32_t other = row_set ? g->j : g->i, at = h->at[row_set ? g->i : g->j];
  for (int32_t s = 0; s < h->c->dom[other]; s++) {
    int column = h->x_at[other][s];
    if (!column) continue;
    double cost = row_set ? reduced_entry(h, e, at, s) : reduced_entry(h, e, s, at);
    if (isfinite(cost))
      glp_set_obj_coef(h->lp, column, glp_get_obj_coef(h->lp, column) + cost / h->unit);
    else
      glp_set_col_bnds(h->lp, column, GLP_FX, 0, 0);
  }
}

/* A row per open value of an end: the y of its line less its x is 0. Returns the row before the first. */
static int add_lines(milp *h, int32_t i) {
  int before = glp_get_num_rows(h->lp);
  for (int32_t s = 0; s < h->c->dom[i]; s++) {
    if (!h->x_at[i][s]) continue;
    int index[] = {0, h->x_at[i][s]};
    double value[] = {0, -1};
    int row = glp_add_rows(h->lp, 1);
    glp_set_row_bnds(h->lp, row, GLP_FX, 0, 0);
    glp_set_mat_row(h->lp, row, 1, index, value);
  }
  return before;
}

static double least_entry(const milp *h, int32_t e, int32_t s) {
  int32_t j = h->c->pairs[e].j;
  double least = INFINITY;
  for (int32_t t = 0; t < h->c->dom[j]; t++)
    if (h->x_at[j][t]) least = fmin(least, reduced_entry(h, e, s, t));
  return least;
}

static void raise_cost(const milp *h, int column, double by) {
  glp_set_obj_coef(h->lp, column, glp_get_obj_coef(h->lp, column) + by / h->unit);
}

static void add_edge_columns(milp *h, int32_t e) {
  const sel_pair *g = &h->c->pairs[e];
  int row = add_lines(h, g->i), first_column = add_lines(h, g->j);
  for (int32_t s = 0; s < h->c->dom[g->i]; s++) {
    if (!h->x_at[g->i][s]) continue;
    row++;
    int column = first_column;
    double least = least_entry(h, e, s);
    if (isfinite(least)) raise_cost(h, h->x_at[g->i][s], least);
    for (int32_t t = 0; t < h->c->dom[g->j]; t++) {
      if (!h->x_at[g->j][t]) continue;
      column++;
      double cost = reduced_entry(h, e, s, t);
      if (!isfinite(cost)) continue;
      int y = glp_add_cols(h->lp, 1), index[] = {0, row, column};
      double value[] = {0, 1, 1};
      glp_set_col_bnds(h->lp, y, GLP_LO, 0, 0);
      glp_set_obj_coef(h->lp, y, (cost - least) / h->unit);
      glp_set_mat_col(h->lp, y, 2, index, value);
      if (h->known && h->known[g->i] == s && h->known[g->j] == t) h->known_y[e] = y;
    }
  }
}

/* What fits into a step, in units of its cap. */
static void add_step(milp *h, int32_t step) {
  const sel_core *c = h->c;
  double unit = fmax(1, (double)c->cap[step]);
  int n = 0;
  for (int32_t i = 0; i < c->n; i++) {
    for (int32_t s = 0; s < c->dom[i]; s++) {
      double amount = 0;
      for (int32_t k = c->first_use[i]; k < c->first_use[i + 1] && h->x_at[i][s]; k++)
        if (c->uses[k].begin <= step && step < c->uses[k].end) amount += (double)c->uses[k].amount[s];
      if (!(amount > 0)) continue;
      h->index[++n] = h->x_at[i][s];
      h->value[n] = amount / unit;
    }
  }
  int row = glp_add_rows(h->lp, 1);
  glp_set_row_bnds(h->lp, row, GLP_UP, 0, (double)c->cap[step] / unit);
  glp_set_mat_row(h->lp, row, n, h->index, h->value);
}

static sw_rc make_milp_room(milp *h) {
  const sel_core *c = h->c;
  int64_t values = 0;
  SW_ARENA_NEW(h->x_at, &h->mem, c->n, h->d);
  for (int32_t i = 0; i < c->n; i++) {
    SW_ARENA_NEW(h->x_at[i], &h->mem, c->dom[i], h->d);
    values += c->dom[i];
  }
  int32_t **const variables[] = {&h->left, &h->at, &h->x};
  for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++) SW_ARENA_NEW(*variables[k], &h->mem, c->n, h->d);
  SW_ARENA_NEW(h->known_y, &h->mem, c->n_pairs, h->d);
  SW_ARENA_NEW(h->used, &h->mem, (size_t)c->n_steps + 1, h->d);
  SW_ARENA_NEW(h->index, &h->mem, (size_t)values + 1, h->d);
  SW_ARENA_NEW(h->value, &h->mem, (size_t)values + 1, h->d);
  for (int32_t i = 0; i < c->n; i++) h->at[i] = -1;
  return SW_OK;
}

static void build_milp(milp *h) {
  const sel_core *c = h->c;
  h->lp = glp_create_prob();
  glp_set_obj_dir(h->lp, GLP_MIN);
  for (int32_t i = 0; i < c->n; i++) add_variable(h, i);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    if (h->left[c->pairs[e].i] == 1 || h->left[c->pairs[e].j] == 1)
      add_edge_cost(h, e);
    else
      add_edge_columns(h, e);
  }
  lower_costs(h);
  int rows = 0;
  for (int32_t t = 0; t < c->n_steps && rows < PRICED_ROWS; t++) {
    if (!(h->u->best_lambda[t] > 0)) continue;
    add_step(h, t);
    rows++;
  }
}

/* --- solving --- */

/* used[t] = what the relaxation at hand occupies. */
static void weigh(milp *h) {
  const sel_core *c = h->c;
  memset(h->used, 0, ((size_t)c->n_steps + 1) * sizeof *h->used);
  for (int32_t k = 0; k < c->n_uses; k++) {
    const sel_usage *w = &c->uses[k];
    double mean = 0;
    for (int32_t s = 0; s < c->dom[w->var]; s++) {
      int column = h->x_at[w->var][s];
      if (column) mean += (double)w->amount[s] * glp_get_col_prim(h->lp, column);
    }
    h->used[w->begin] += mean;
    h->used[w->end] -= mean;
  }
  for (int32_t t = 1; t < c->n_steps; t++) h->used[t] += h->used[t - 1];
}

/* Rows for the steps that the relaxation breaks most. GLPK keeps them for the nodes below the present one, so none is
 * broken that has one. */
static void add_broken(milp *h) {
  const double kTolerance = 1e-6;
  const sel_core *c = h->c;
  weigh(h);
  for (int k = 0; k < ROWS_AT_ONCE; k++) {
    int32_t most = -1;
    double beyond = kTolerance;
    for (int32_t t = 0; t < c->n_steps; t++) {
      double over = (h->used[t] - (double)c->cap[t]) / fmax(1, (double)c->cap[t]);
      if (over <= beyond) continue;
      beyond = over;
      most = t;
    }
    if (most < 0) return;
    add_step(h, most);
    h->used[most] = 0;
  }
}

/* The choice known as a solution of the program. */
static sw_rc start_known(milp *h, glp_tree *tree) {
  double *x;
  SW_ARENA_NEW(x, &h->mem, (size_t)glp_get_num_cols(h->lp) + 1, h->d);
  for (int32_t i = 0; i < h->c->n; i++) x[h->x_at[i][h->known[i]]] = 1;
  for (int32_t e = 0; e < h->c->n_pairs; e++) x[h->known_y[e]] = 1;
  h->known = NULL; /* once */
  (void)glp_ios_heur_sol(tree, x);
  return SW_OK;
}

static int time_left_ms(const sel_budget *b) { return (int)(1e3 * fmin(1e6, fmax(1e-3, sel_left_on_clock(b)))); }

static void watch_milp(glp_tree *tree, void *user) {
  enum { CELLS = 16 }; /* of work for an entry of the program, at every node */
  milp *h = user;
  if (glp_ios_reason(tree) == GLP_IROWGEN) {
    sel_spend(h->b, (int64_t)CELLS * glp_get_num_nz(h->lp));
    add_broken(h);
  }
  if (glp_ios_reason(tree) == GLP_IHEUR && h->known) h->rc = start_known(h, tree);
  if (h->rc || sel_stop(h->b)) glp_ios_terminate(tree);
}

/* Choices as GLPK has them, offered: what they cost and occupy is counted anew. */
static sw_rc take_milp_solution(milp *h) {
  for (int32_t i = 0; i < h->c->n; i++) {
    double most = -1;
    for (int32_t s = 0; s < h->c->dom[i]; s++) {
      double v = h->x_at[i][s] ? glp_mip_col_val(h->lp, h->x_at[i][s]) : -1;
      if (v <= most) continue;
      most = v;
      h->x[i] = s;
    }
  }
  return sel_base_offer(h->k, h->x, "glpk", NULL, h->d);
}

/* The linear relaxation, by the dual simplex: no cost is negative, so its first basis will do. GLPK cannot be asked to
 * end it, so it has little work. */
static bool relax(milp *h) {
  const int64_t kMost = 600000000;
  enum { CELLS = 4 }; /* of work for an entry of the program, in every iteration */
  int64_t nz = (int64_t)CELLS * glp_get_num_nz(h->lp) + 1;
  glp_smcp lp;
  glp_init_smcp(&lp);
  lp.msg_lev = GLP_MSG_OFF;
  lp.meth = GLP_DUALP;
  int64_t left = h->b->work_limit ? h->b->work_limit - h->b->work : kMost;
  lp.it_lim = (int)sw_min_i64(INT32_MAX, sw_min_i64(kMost, left) / nz);
  lp.tm_lim = time_left_ms(h->b);
  int before = glp_get_it_cnt(h->lp);
  bool done = glp_simplex(h->lp, &lp) == 0 && glp_get_status(h->lp) == GLP_OPT;
  sel_spend(h->b, nz * (glp_get_it_cnt(h->lp) - before));
  return done && !sel_stop(h->b);
}

static sw_rc solve_milp(milp *h) {
  if (!relax(h)) return SW_OK;
  glp_iocp mip;
  glp_init_iocp(&mip);
  mip.msg_lev = GLP_MSG_OFF;
  mip.tm_lim = time_left_ms(h->b);
  mip.sr_heur = GLP_OFF; /* it rounds to what rows still to come forbid */
  mip.cov_cuts = mip.mir_cuts = GLP_ON;
  mip.cb_func = watch_milp;
  mip.cb_info = h;
  (void)glp_intopt(h->lp, &mip);
  bool found = glp_mip_status(h->lp) == GLP_OPT || glp_mip_status(h->lp) == GLP_FEAS;
  return found && !h->rc ? take_milp_solution(h) : h->rc;
}

sw_rc sel_milp_improve(const sel_base *k, sel_dual *u, const int32_t *known, sel_budget *b, sw_diag *d) {
  const double kGap = 1e3; /* in the program, where GLPK's tolerances suit it */
  milp h = {.k = k, .c = k->core, .u = u, .b = b, .known = known, .d = d};
  sw_rc rc = make_milp_room(&h);
  if (!rc && rule_out(&h) <= MOST_X && count_entries(&h) <= MOST_Y) {
    int64_t target = sel_base_target(k);
    h.unit = fmax(1, (target < INT64_MAX ? (double)target - u->best_bound : fabs(u->best_bound)) / kGap);
    pthread_mutex_lock(&sel_glpk_lock);
    glp_term_out(GLP_OFF);
    build_milp(&h);
    rc = solve_milp(&h);
    glp_delete_prob(h.lp);
    glp_free_env();
    pthread_mutex_unlock(&sel_glpk_lock);
  }
  sel_dual_rewind(u);
  sw_arena_deinit(&h.mem);
  return rc;
}
