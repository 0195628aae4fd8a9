/* What is made again on one device, of chains and random graphs, beside Checkmate's mixed-integer program (Jain et al.
 * 2020, arXiv 1910.02653), written here and solved by GLPK: the search is never faster than what that finds with one
 * copy of each value anywhere, nor slower than with copies where the search may have them.
 *
 * Stage t ends with op t of the program. R[t][i]: op i runs in stage t; S[t][i]: its value is held where stage t
 * begins; H[t][i][k]: while op k runs in stage t, or after it, for k >= i; before, it is held where S[t][i] is.
 */
#include <math.h>

#include "shardwright/schedule.h"
#include "support/dag.h"
#include "support/job.h"
#include "support/meshes.h"

#ifdef SW_WITH_GLPK
#include <glpk.h>

enum { MOST_OPS = 3 * DAG_MOST_VALUES + 2 };

/* A program as Checkmate has it: what ops read, take, and give. Arguments are held throughout. */
typedef struct dag {
  int n;
  bool reads[MOST_OPS][MOST_OPS];
  double us[MOST_OPS], bytes[MOST_OPS], arg_bytes;
  bool may[MOST_OPS][MOST_OPS]; /* by stage and op: it may run a second time there */
} dag;

typedef struct milp {
  const dag *g;
  glp_prob *lp;
  int r[MOST_OPS][MOST_OPS], s[MOST_OPS + 1][MOST_OPS], h[MOST_OPS][MOST_OPS]; /* columns; h: of the stage; 0: none */
  int n, index[4 * MOST_OPS];
  double value[4 * MOST_OPS];
} milp;

static int add_column(milp *m, bool binary, double cost) {
  const int c = glp_add_cols(m->lp, 1);
  if (binary) glp_set_col_kind(m->lp, c, GLP_BV);
  if (!binary) glp_set_col_bnds(m->lp, c, GLP_DB, 0, 1);
  glp_set_obj_coef(m->lp, c, cost);
  return c;
}

static void term(milp *m, int column, double value) {
  if (!column) return;
  m->index[++m->n] = column;
  m->value[m->n] = value;
}

/* The terms are at most `most`. */
static void end_row(milp *m, double most) {
  const int row = glp_add_rows(m->lp, 1);
  glp_set_row_bnds(m->lp, row, GLP_UP, 0, most);
  glp_set_mat_row(m->lp, row, m->n, m->index, m->value);
  m->n = 0;
}

/* a <= b + c */
static void at_most(milp *m, int a, int b, int c) {
  term(m, a, 1);
  term(m, b, -1);
  term(m, c, -1);
  end_row(m, 0);
}

static void add_choices(milp *m) {
  const dag *g = m->g;
  for (int t = 0; t < g->n; t++)
    for (int i = 0; i <= t; i++) {
      if (i == t || g->may[t][i]) m->r[t][i] = add_column(m, true, g->us[i]);
      if (i == t) glp_set_col_bnds(m->lp, m->r[t][i], GLP_FX, 1, 1);
      if (i < t) m->s[t][i] = add_column(m, true, 0);
    }
  for (int i = 0; i < g->n; i++) {
    for (int t = i + 1; t < g->n; t++) term(m, m->r[t][i], 1);
    if (m->n) end_row(m, 1);
  }
  for (int t = 0; t < g->n; t++)
    for (int i = 0; i <= t; i++) {
      if (t + 1 < g->n) at_most(m, m->s[t + 1][i], m->s[t][i], m->r[t][i]);
      for (int k = 0; k < i && m->r[t][i]; k++)
        if (g->reads[i][k]) at_most(m, m->r[t][i], m->s[t][k], m->r[t][k]);
    }
}

/* What is held in stage t, op by op from the last one. */
static void add_memory(milp *m, int t, double limit) {
  const double kUnit = 4.0 * 16 * DAG_ROWS; /* the bytes of all values are multiples of it */
  const dag *g = m->g;
  int after[MOST_OPS] = {0}; /* by op: its H behind the op */
  for (int i = 0; i <= t && t + 1 < g->n; i++) after[i] = m->s[t + 1][i];
  for (int k = t; k >= 0; k--) {
    if (!m->r[t][k]) continue;
    for (int i = 0; i <= k; i++) {
      const bool read = i == k || g->reads[k][i];
      const int behind = after[i];
      if (!read) continue;
      after[i] = add_column(m, false, 0);
      if (behind) at_most(m, behind, after[i], 0);
      at_most(m, m->r[t][k], after[i], 0);
    }
    for (int i = 0; i <= t; i++) term(m, i <= k ? after[i] : m->s[t][i], g->bytes[i] / kUnit);
    end_row(m, floor((limit - g->arg_bytes) / kUnit) + 0.5); /* whatever floating point does */
  }
}

/* The least time in which the program runs within the bytes; infinity: in none. */
static double checkmate_us(const dag *g, double limit) {
  milp *m = calloc(1, sizeof *m);
  glp_iocp how;
  double us = HUGE_VAL;
  assert_non_null(m);
  m->g = g;
  m->lp = glp_create_prob();
  glp_term_out(GLP_OFF);
  add_choices(m);
  for (int t = 0; t < g->n; t++) add_memory(m, t, limit);
  glp_init_iocp(&how);
  how.presolve = GLP_ON;
  const int rc = glp_intopt(m->lp, &how);
  const int status = glp_mip_status(m->lp);
  assert_true(rc == 0 || rc == GLP_ENOPFS);
  if (!rc && status == GLP_OPT) us = glp_mip_obj_val(m->lp);
  assert_true(isfinite(us) || rc == GLP_ENOPFS || status == GLP_NOFEAS);
  glp_delete_prob(m->lp);
  free(m);
  return us;
}

/* What a graph of random_dag is: op 0 gives its only input, op i + 1 is its op i; what else enters is held throughout.
 */
static void take_program(const sw_graph *g, const sw_breakdown *a, dag *out) {
  *out = (dag){.n = g->n_ops + 1};
  assert_in_range(out->n, 2, MOST_OPS);
  for (int i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const double bytes = (double)sw_type_bytes(&v->type);
    assert_true((v->kind == SW_VALUE_INPUT) == (i == 0));
    *(i ? &out->arg_bytes : &out->bytes[0]) += bytes;
  }
  for (int i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    out->us[i + 1] = 1e6 * a->op[i].local_s;
    out->bytes[i + 1] = (double)sw_type_bytes(&g->values[op->results[0]].type);
    for (int k = 0; k < op->n_operands; k++) {
      const sw_value *v = &g->values[op->operands[k]];
      if (v->def >= 0 || v->kind == SW_VALUE_INPUT) out->reads[i + 1][v->def + 1] = true;
    }
  }
}

/* Where the search may run an op a second time: right before which of the program's. */
static void may_as_searched(const sw_graph *g, dag *out) {
  sw_arena arena = {0};
  sw_schedule_spec s;
  int before = g->n_ops;
  assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_SEARCH, true, &arena, &s, &diag));
  memset(out->may, 0, sizeof out->may);
  for (int i = s.n_entries - 1; i >= 0; i--) {
    const sw_entry *e = &s.entries[i];
    if (sw_entry_is_copy(e)) out->may[before + 1][e->op + 1] = true;
    if (e->instance || e->source) continue;
    assert_true(e->op < before); /* in the program's order */
    before = e->op;
  }
  sw_arena_deinit(&arena);
}

/* Gradients are read once each, so none would run again. */
static void may_anywhere(dag *out) {
  const int n_early = (out->n - 2) / 3;
  for (int i = n_early + 1; i < out->n; i++) {
    int n = 0;
    for (int t = i + 1; t < out->n; t++) n += out->reads[t][i];
    assert_true(n <= 1);
  }
  for (int t = 0; t < out->n; t++)
    for (int i = 1; i < t; i++) out->may[t][i] = i <= n_early;
}

typedef struct compared {
  int n, copied, as_searched, anywhere;
  double most; /* times as long as with copies anywhere */
} compared;

static void compare(const sw_job *j, int64_t capacity, dag *d, compared *c) {
  const double kEqual = 1 + 1e-6; /* simplex in floating point */
  const sw_plan_options o = {.solve = {.work_limit = 20000000, .threads = 1}, .selection.capacity_bytes = capacity};
  sw_arena arena = {0};
  sw_schedule s;
  sw_plan plan;
  sw_breakdown a;
  may_as_searched(j->graph, d);
  const double there = checkmate_us(d, (double)capacity);
  may_anywhere(d);
  const double least = checkmate_us(d, (double)capacity);
  const sw_rc rc = sw_plan_search_sources(j, j->request, &o, &arena, &s, &plan, NULL);
  if (rc) {
    assert_true(isinf(there));
  } else {
    assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
    const double us = 1e6 * a.total_s, bound = 1e6 * sw_plan_bound_s(&plan, &a);
    assert_true(a.peak_bytes <= capacity);
    assert_true(least <= us * kEqual && fmax(us, bound) <= there * kEqual);
    c->n++;
    c->copied += s.spec.n_entries > d->n;
    c->as_searched += us >= there / kEqual;
    c->anywhere += us <= least * kEqual;
    c->most = fmax(c->most, us / least);
    sw_schedule_deinit(&s);
  }
  sw_arena_deinit(&arena);
}

static void the_search_finds_what_checkmate_finds(void **state) {
  (void)state;
  sw_rng r;
  compared c = {0};
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < check_scale(4); k++) {
    sw_arena arena = {0};
    sw_program *p = random_dag(&r, k % 2, 4, check_factor() > 1 ? DAG_MOST_VALUES : 8);
    const sw_graph *g = sw_program_graph(p);
    const sw_job j = job_under(g, machine_of("dgx-h100", "x=1", &arena), "none", &arena);
    sw_plan written;
    sw_breakdown plain;
    dag d;
    assert_ok(sw_plan_build(&j, &arena, &written, &diag));
    assert_ok(sw_plan_breakdown(&written, &arena, &plain, &diag));
    take_program(g, &plain, &d);
    assert_true(fabs(checkmate_us(&d, (double)plain.peak_bytes) - 1e6 * plain.total_s) <= 1e-6);
    assert_true(isinf(checkmate_us(&d, (double)plain.peak_bytes - 1))); /* where nothing runs again */
    for (int part = 1; part < 5; part++) compare(&j, plain.peak_bytes - plain.peak_bytes * part / 24, &d, &c);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
  print_message(
      "%d plans, %d with copies; %d as fast as with copies where the search has them, %d as with copies anywhere, "
      "none more than %.3f times as long\n",
      c.n, c.copied, c.as_searched, c.anywhere, c.most);
  assert_true(check_factor() < 1 || c.copied > 0);
}
#endif

int main(void) {
#ifdef SW_WITH_GLPK
  const struct CMUnitTest tests[] = {cmocka_unit_test(the_search_finds_what_checkmate_finds)};
  return cmocka_run_group_tests_name("checkmate", tests, NULL, NULL);
#else
  print_message("SKIP: built without GLPK\n");
  return 77;
#endif
}
