/* The same problem as a mixed-integer program, for GLPK: the reference for medium problems and a backend on request.
 *
 * Columns: x[i][s] in {0, 1}, one per choice; y[e][s][t] >= 0, one per allowed entry of an edge. Rows: the x of a node
 * add up to 1; the y of an edge in line s add up to x[i][s], in column t to x[j][t]; per step the uses stay within the
 * cap. Rows of steps are added only once a solution breaks them. GLPK computes in floating point, so its bound is
 * lowered by a margin, and is only exact where costs stay below about 10^5.
 *
 * Where there are copies, nothing is reduced before, and z[g][k][c] >= 0 says that copy k of group g is made from class
 * c of the maker's choices: no more than the maker chooses the class, and at least as much, over all classes, as any
 * reader wants the copy.
 *
 * GLPK is not thread-safe and talks on stdout: every call happens under one lock, with its terminal off.
 */
#include <glpk.h>
#include <math.h>
#include <string.h>

#include "select/presolve/presolve_model.h"
#include "select/run.h"

static pthread_mutex_t g_lock = PTHREAD_MUTEX_INITIALIZER; /* GLPK is not thread-safe: one call at a time */

enum { MOST_COLUMNS = 2000000 };

typedef struct program {
  sel_run *r;
  const sel_model *m; /* NULL: the core is the problem's */
  const sel_core *c;
  sw_arena *mem;
  glp_prob *lp;
  int *first_x;  /* column of choice 0 of a variable */
  bool *has_row; /* per step */
  int64_t *used;
  int32_t *x, *full;
  int *index; /* room for one row */
  double *value;
  double bound; /* proven so far, without the offset */
  sw_rc rc;
  sw_diag *d;
} program;

static int64_t count_columns(const sw_problem *p, const sel_core *c) {
  int64_t n = 0;
  for (int32_t k = 0; k < p->n_copies; k++) n += (int64_t)p->copies[k].table->n_classes * p->copies[k].table->n_layouts;
  for (int32_t i = 0; i < c->n; i++) n += c->dom[i];
  for (int32_t e = 0; e < c->n_pairs; e++) n += (int64_t)c->mats[c->pairs[e].mat].rows * c->mats[c->pairs[e].mat].cols;
  return n;
}

static void add_choice_columns(program *g) {
  const sel_core *c = g->c;
  for (int32_t i = 0; i < c->n; i++) {
    g->first_x[i] = glp_add_cols(g->lp, c->dom[i]);
    for (int32_t s = 0; s < c->dom[i]; s++) {
      glp_set_col_kind(g->lp, g->first_x[i] + s, GLP_BV);
      if (c->cost[i][s] >= SW_FORBIDDEN) glp_set_col_bnds(g->lp, g->first_x[i] + s, GLP_FX, 0, 0);
      if (c->cost[i][s] < SW_FORBIDDEN) glp_set_obj_coef(g->lp, g->first_x[i] + s, (double)c->cost[i][s]);
      g->index[s + 1] = g->first_x[i] + s;
      g->value[s + 1] = 1;
    }
    int row = glp_add_rows(g->lp, 1);
    glp_set_row_bnds(g->lp, row, GLP_FX, 1, 1);
    glp_set_mat_row(g->lp, row, c->dom[i], g->index, g->value);
  }
}

static void add_pair_columns(program *g, const sel_pair *e) {
  const sel_mat *m = &g->c->mats[e->mat];
  int rows = glp_add_rows(g->lp, m->rows + m->cols), cols = rows + m->rows;
  for (int32_t s = 0; s < m->rows + m->cols; s++) {
    int x = s < m->rows ? g->first_x[e->i] + s : g->first_x[e->j] + s - m->rows;
    int index[] = {0, x};
    double value[] = {0, -1};
    glp_set_row_bnds(g->lp, rows + s, GLP_FX, 0, 0);
    glp_set_mat_row(g->lp, rows + s, 1, index, value);
  }
  for (int32_t s = 0; s < m->rows; s++)
    for (int32_t t = 0; t < m->cols; t++) {
      int64_t cost = m->v[(int64_t)s * m->cols + t];
      if (cost >= SW_FORBIDDEN) continue;
      int y = glp_add_cols(g->lp, 1);
      glp_set_col_bnds(g->lp, y, GLP_LO, 0, 0);
      glp_set_obj_coef(g->lp, y, (double)cost);
      int index[] = {0, rows + s, cols + t};
      double value[] = {0, 1, 1};
      glp_set_mat_col(g->lp, y, 2, index, value);
    }
}

/* A row: the columns in the first n places, at least 0 together. */
static void add_lp_row(program *g, int n) {
  const int row = glp_add_rows(g->lp, 1);
  glp_set_row_bnds(g->lp, row, GLP_LO, 0, 0);
  glp_set_mat_row(g->lp, row, n, g->index, g->value);
}

/* Choices of a node whose class is, or wants, what is asked for, from place n of a row on; the new n. */
static int put_choices(program *g, int32_t node, const bool *class_in, const int32_t *class_of, double value, int n) {
  for (int32_t s = 0; s < g->c->dom[node]; s++) {
    if (!class_in[class_of[s]]) continue;
    g->index[++n] = g->first_x[node] + s;
    g->value[n] = value;
  }
  return n;
}

static void add_layout_columns(program *g, const sw_copies *c, int32_t layout, bool *in) {
  const sw_copy_table *t = c->table;
  const int z = glp_add_cols(g->lp, t->n_classes);
  for (int32_t from = 0; from < t->n_classes; from++) {
    const int64_t cost = t->cost[(int64_t)from * t->n_layouts + layout];
    glp_set_col_bnds(g->lp, z + from, cost < SW_FORBIDDEN ? GLP_LO : GLP_FX, 0, 0);
    if (cost < SW_FORBIDDEN) glp_set_obj_coef(g->lp, z + from, (double)cost);
    for (int32_t a = 0; a < t->n_classes; a++) in[a] = a == from;
    g->index[1] = z + from;
    g->value[1] = -1;
    add_lp_row(g, put_choices(g, c->maker, in, t->class_of, 1, 1));
  }
  for (int32_t i = 0; i < t->n_readers; i++) {
    const sw_wants *w = &t->wants[i];
    int n = 0;
    for (int32_t from = 0; from < t->n_classes; from++) {
      g->index[++n] = z + from;
      g->value[n] = 1;
    }
    memset(in, 0, (size_t)w->n_classes * sizeof *in);
    for (int32_t a = 0; a < w->n_classes; a++)
      for (int32_t k = w->first[a]; k < w->first[a + 1]; k++) in[a] |= w->layout[k] == layout;
    add_lp_row(g, put_choices(g, c->reader[i], in, w->class_of, -1, n));
  }
}

static sw_rc add_copy_columns(program *g) {
  const sw_problem *p = g->r->p;
  for (int32_t k = 0; k < p->n_copies; k++) {
    const sw_copy_table *t = p->copies[k].table;
    int32_t most = t->n_classes;
    bool *in;
    for (int32_t i = 0; i < t->n_readers; i++) most = t->wants[i].n_classes > most ? t->wants[i].n_classes : most;
    SW_ARENA_NEW(in, g->mem, most, g->d);
    for (int32_t a = 0; a < t->n_layouts; a++) add_layout_columns(g, &p->copies[k], a, in);
  }
  return SW_OK;
}

static void add_step_row(program *g, int32_t step) {
  const sel_core *c = g->c;
  int n = 0;
  double scale = c->cap[step] > 0 ? 1.0 / (double)c->cap[step] : 1.0;
  memset(g->value, 0, ((size_t)glp_get_num_cols(g->lp) + 1) * sizeof *g->value);
  for (int32_t k = 0; k < c->n_uses; k++) {
    const sel_usage *u = &c->uses[k];
    if (step < u->begin || step >= u->end) continue;
    for (int32_t s = 0; s < c->dom[u->var]; s++) {
      int x = g->first_x[u->var] + s;
      if (u->amount[s] == 0) continue;
      int at = n;
      while (at > 0 && g->index[at] != x && k > c->first_use[u->var]) at--;
      if (at == 0 || g->index[at] != x) g->index[at = ++n] = x, g->value[at] = 0;
      g->value[at] += (double)u->amount[s] * scale;
    }
  }
  int row = glp_add_rows(g->lp, 1);
  glp_set_row_bnds(g->lp, row, GLP_UP, 0, (double)c->cap[step] * scale);
  glp_set_mat_row(g->lp, row, n, g->index, g->value);
  g->has_row[step] = true;
}

/* The solution of the current node or of the whole run, as choices; offered to the run. */
static sw_rc take_solution(program *g) {
  for (int32_t i = 0; i < g->c->n; i++) {
    g->x[i] = 0;
    for (int32_t s = 1; s < g->c->dom[i]; s++)
      if (glp_mip_col_val(g->lp, g->first_x[i] + s) > glp_mip_col_val(g->lp, g->first_x[i] + g->x[i])) g->x[i] = s;
  }
  if (g->m) sel_model_expand(g->m, g->x, g->full);
  return sel_offer(g->r, g->m ? g->full : g->x, "glpk", NULL, g->d);
}

static void watch(glp_tree *tree, void *user) {
  program *g = user;
  int best = glp_ios_best_node(tree);
  if (best) g->bound = fmax(g->bound, glp_ios_node_bound(tree, best));
  if (g->rc || sel_stop(&g->r->budget)) glp_ios_terminate(tree);
}

static int millis_left(const sel_run *r) {
  double left = sel_left_on_clock(&r->budget) * 1e3;
  return left < 1 ? 1 : left > 1e9 ? 1000000000 : (int)left;
}

/* Returns whether the program was solved to the end; *none says that it has no solution. */
static bool solve_program(program *g, bool *none) {
  glp_smcp lp;
  glp_init_smcp(&lp);
  lp.msg_lev = GLP_MSG_OFF;
  lp.tm_lim = millis_left(g->r);
  int code = glp_simplex(g->lp, &lp);
  int status = glp_get_status(g->lp);
  *none = code == 0 && status == GLP_NOFEAS;
  if (code || status != GLP_OPT) return *none;
  g->bound = fmax(g->bound, glp_get_obj_val(g->lp));
  glp_iocp mip;
  glp_init_iocp(&mip);
  mip.msg_lev = GLP_MSG_OFF;
  mip.tm_lim = millis_left(g->r);
  mip.cb_func = watch;
  mip.cb_info = g;
  code = glp_intopt(g->lp, &mip);
  status = glp_mip_status(g->lp);
  *none = code == 0 && status == GLP_NOFEAS;
  if (status == GLP_OPT || status == GLP_FEAS) g->rc = take_solution(g);
  if (code == 0 && status == GLP_OPT) g->bound = glp_mip_obj_val(g->lp);
  return code == 0 && (*none || status == GLP_OPT);
}

/* Add the rows of the steps that the last solution breaks; returns whether there were any. */
static bool add_broken_rows(program *g) {
  if (sel_core_usage(g->c, g->x, g->used)) return false;
  bool added = false;
  for (int32_t t = 0; t < g->c->n_steps; t++) {
    if (g->used[t] <= g->c->cap[t] || g->has_row[t]) continue;
    add_step_row(g, t);
    added = true;
  }
  return added;
}

static void report_bound(program *g) {
  double margin = fmax(0.01, 1e-6 * fabs(g->bound)), bound = ceil(g->bound - margin) + (double)g->c->offset;
  if (bound > 0 && bound < (double)SW_FORBIDDEN) sel_raise(g->r, (int64_t)bound);
}

/* GLPK's word that nothing fits is a proof only while its tolerances are finer than the numbers. */
static void report_none(program *g) {
  for (int32_t t = 0; t < g->c->n_steps; t++)
    if (g->c->cap[t] > 1000000) return;
  g->r->infeasible = true;
}

static sw_rc program_init(program *g, sw_diag *d) {
  const sel_core *c = g->c;
  int64_t columns = count_columns(g->r->p, c);
  if (columns > MOST_COLUMNS)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "GLPK takes at most %d columns; this problem needs %lld", MOST_COLUMNS,
                   (long long)columns);
  SW_ARENA_NEW(g->first_x, g->mem, c->n, d);
  SW_ARENA_NEW_EACH(g->mem, c->n_steps, d, g->has_row, g->used);
  SW_ARENA_NEW(g->x, g->mem, c->n, d);
  SW_ARENA_NEW(g->full, g->mem, g->m ? g->m->n : 0, d);
  SW_ARENA_NEW_EACH(g->mem, (size_t)columns + 1, d, g->index, g->value);
  return SW_OK;
}

static sw_rc run_program(program *g) {
  glp_term_out(GLP_OFF);
  g->lp = glp_create_prob();
  glp_set_obj_dir(g->lp, GLP_MIN);
  add_choice_columns(g);
  for (int32_t e = 0; e < g->c->n_pairs; e++) add_pair_columns(g, &g->c->pairs[e]);
  bool none = false, solved;
  g->rc = add_copy_columns(g);
  do {
    solved = solve_program(g, &none);
    report_bound(g);
  } while (solved && !none && !g->rc && add_broken_rows(g));
  if (none) report_none(g);
  glp_delete_prob(g->lp);
  glp_free_env();
  return g->rc;
}

static sw_rc solve_core(sel_run *r, const sel_model *m, const sel_core *c, sw_arena *mem, sw_diag *d) {
  program g = {.r = r, .m = m, .c = c, .mem = mem, .d = d};
  SW_TRY(program_init(&g, d));
  pthread_mutex_lock(&g_lock);
  sw_rc rc = run_program(&g);
  pthread_mutex_unlock(&g_lock);
  return rc;
}

static sw_rc solve_rest(sel_run *r, sel_model *m, sw_arena *mem, sw_diag *d) {
  sel_core rest;
  SW_TRY(sel_model_freeze(m, &rest, d));
  if (rest.n > 0) return solve_core(r, m, &rest, mem, d);
  int32_t *full, none = 0;
  SW_ARENA_NEW(full, mem, m->n, d);
  sel_model_expand(m, &none, full);
  SW_TRY(sel_offer(r, full, "presolve", NULL, d));
  if (r->has) sel_raise(r, r->cost);
  return SW_OK;
}

sw_rc sel_solve_glpk(sel_run *r, sw_diag *d) {
  sw_arena mem = {0};
  sel_model m = {0};
  sel_core whole;
  sw_rc rc;
  SW_TRY_TO(done, sel_core_of_problem(r->p, &mem, &whole, d));
  if (r->p->n_copies) {
    rc = solve_core(r, NULL, &whole, &mem, d);
    goto done;
  }
  SW_TRY_TO(done, sel_model_init(&m, &whole, (sel_model_given){SW_RULES_ALL}, d));
  SW_TRY_TO(done, sel_model_reduce(&m, &r->budget, d));
  if (m.infeasible)
    r->infeasible = true;
  else
    rc = solve_rest(r, &m, &mem, d);
done:
  sel_model_deinit(&m);
  sw_arena_deinit(&mem);
  return rc;
}
