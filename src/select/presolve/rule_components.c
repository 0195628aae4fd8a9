/* Parts: variables that neither a table nor a step of time joins to the others. Each but the largest is a problem of
 * its own and solved as one, small ones first, with a bounded amount of work; those solved to the end are done with.
 *
 * Example: of the tables a - b, b - c, d - e, with d and e in memory at steps nobody else uses, d and e are a part.
 *
 * The problem of a part has its variables in order, then one of a single choice that occupies what the others leave no
 * room for; its times are the steps that the part uses, counted from 0. A certificate of it stands inside the whole
 * one, in its own numbers: "part N TIME.. NODE..", the certificate, "done".
 */
#include <stdlib.h>
#include <string.h>

#include "select/run.h"
#include "base/disjoint.h"
#include "base/lists.h"

enum { DEPTH_MOST = 6 };

typedef struct parting {
  sel_model *m;
  sw_arena mem;
  int32_t *root;  /* per variable: of its tree, path halved as it is walked */
  int32_t *vars;  /* alive, grouped by part, in order */
  int32_t *first; /* n_parts + 1 */
  int32_t n_parts;
  int32_t *place; /* per step: among those of the part at hand */
  sw_diag *d;
} parting;

/* The smaller number stays the root. */
static void join_roots(int32_t *root, int32_t a, int32_t b) {
  a = sw_disjoint_find(root, a);
  b = sw_disjoint_find(root, b);
  if (a < b) root[b] = a;
  if (b < a) root[a] = b;
}

typedef struct stretch {
  int32_t begin, end, var;
} stretch;

static int by_begin(const void *a, const void *b) {
  const stretch *x = a, *y = b;
  if (x->begin != y->begin) return (x->begin > y->begin) - (x->begin < y->begin);
  return (x->var > y->var) - (x->var < y->var);
}

/* Spans that overlap join their variables. */
static sw_rc join_by_steps(parting *w) {
  const sel_model *m = w->m;
  int32_t n = 0, end = -1, var = -1;
  for (int32_t v = 0; v < m->n; v++) n += m->vars[v].gone ? 0 : m->vars[v].n_spans;
  stretch *all;
  SW_ARENA_NEW(all, &w->mem, n, w->d);
  n = 0;
  for (int32_t v = 0; v < m->n; v++) {
    const sel_var *x = &m->vars[v];
    for (int32_t k = 0; k < x->n_spans && !x->gone; k++) all[n++] = (stretch){x->spans[k].begin, x->spans[k].end, v};
  }
  qsort(all, (size_t)n, sizeof *all, by_begin);
  for (int32_t k = 0; k < n; k++) {
    if (all[k].begin < end) join_roots(w->root, var, all[k].var);
    if (all[k].end > end) {
      end = all[k].end;
      var = all[k].var;
    }
  }
  return SW_OK;
}

static sw_rc find_parts(parting *w) {
  const sel_model *m = w->m;
  int32_t *part, alive = 0;
  SW_ARENA_NEW(w->root, &w->mem, m->n, w->d);
  for (int32_t v = 0; v < m->n; v++) w->root[v] = v;
  for (int32_t e = 0; e < m->n_edges; e++)
    if (!m->edges[e].gone) join_roots(w->root, m->edges[e].i, m->edges[e].j);
  SW_TRY(join_by_steps(w));
  SW_ARENA_NEW(part, &w->mem, m->n, w->d);
  SW_ARENA_NEW(w->first, &w->mem, (size_t)m->n + 1, w->d);
  SW_ARENA_NEW(w->vars, &w->mem, m->n, w->d);
  for (int32_t v = 0; v < m->n; v++) {
    if (m->vars[v].gone) continue;
    alive++;
    if (sw_disjoint_find(w->root, v) == v) part[v] = w->n_parts++;
    w->first[part[sw_disjoint_find(w->root, v)] + 1]++;
  }
  for (int32_t k = 0; k < w->n_parts; k++) w->first[k + 1] += w->first[k];
  int32_t *next = sw_arena_copy(&w->mem, w->first, (size_t)w->n_parts + 1, sizeof *next, w->d);
  if (!next) return SW_E_RESOURCE;
  for (int32_t v = 0; v < m->n; v++)
    if (!m->vars[v].gone) w->vars[next[part[sw_disjoint_find(w->root, v)]]++] = v;
  return SW_OK;
}

/* --- the problem of a part --- */

typedef struct piece {
  const int32_t *var;
  int32_t n;
  int32_t *step, n_steps; /* that it uses */
  bool too_large;
  sw_problem p;
} piece;

static sw_rc find_piece_steps(parting *w, piece *q) {
  const sel_model *m = w->m;
  SW_ARENA_NEW(q->step, &w->mem, m->steps.n, w->d);
  for (int32_t a = 0; a < q->n; a++) {
    const sel_var *x = &m->vars[q->var[a]];
    for (int32_t k = 0; k < x->n_spans; k++)
      for (int32_t t = x->spans[k].begin; t < x->spans[k].end; t++) {
        if (w->place[t] >= 0) continue;
        w->place[t] = 0;
        q->step[q->n_steps++] = t;
      }
  }
  qsort(q->step, (size_t)q->n_steps, sizeof *q->step, sw_compare_i32);
  for (int32_t k = 0; k < q->n_steps; k++) w->place[q->step[k]] = k;
  return SW_OK;
}

static void forget_steps(parting *w, const piece *q) {
  for (int32_t k = 0; k < q->n_steps; k++) w->place[q->step[k]] = -1;
}

/* What others occupy: one more than the room is short of the largest, so that a use begins at every step. */
static sw_rc fill_up(parting *w, piece *q, sw_node *to) {
  static const int64_t kNothing[1];
  sw_usage *uses;
  sw_i128 all = 0;
  int64_t *amount, *room, base = 0, most = 0;
  SW_ARENA_NEW(uses, &w->mem, q->n_steps, w->d);
  SW_ARENA_NEW(amount, &w->mem, q->n_steps, w->d);
  SW_ARENA_NEW(room, &w->mem, q->n_steps, w->d);
  for (int32_t t = 0, k = 0; k < q->n_steps; t++) {
    base += w->m->steps.base_diff[t];
    if (t == q->step[k]) most = sw_max_i64(most, room[k++] = w->m->steps.cap[t] - base);
  }
  q->p.limit = q->n_steps ? most + 1 : INT64_MAX;
  for (int32_t k = 0; k < q->n_steps; k++) {
    amount[k] = q->p.limit - room[k];
    all += amount[k];
    uses[k] = (sw_usage){k, k + 1, &amount[k]};
  }
  q->too_large = all > INT64_MAX / 8; /* uses must add up */
  *to = (sw_node){1, q->n_steps, kNothing, uses};
  return SW_OK;
}

static sw_rc fill_nodes(parting *w, piece *q) {
  const sel_model *m = w->m;
  sw_node *nodes;
  SW_ARENA_NEW(nodes, &w->mem, (size_t)q->n + 1, w->d);
  for (int32_t a = 0; a < q->n; a++) {
    const sel_var *x = &m->vars[q->var[a]];
    sw_usage *uses;
    SW_ARENA_NEW(uses, &w->mem, x->n_spans, w->d);
    for (int32_t k = 0; k < x->n_spans; k++) {
      const sel_span *u = &x->spans[k];
      uses[k] = (sw_usage){w->place[u->begin], w->place[u->end - 1] + 1, u->amount};
    }
    nodes[a] = (sw_node){x->n, x->n_spans, x->cost, uses};
  }
  q->p.nodes = nodes;
  q->p.n_nodes = q->n + 1;
  return fill_up(w, q, &nodes[q->n]);
}

/* Each edge where its earlier end meets it. */
static sw_rc fill_edges(parting *w, piece *q) {
  sel_model *m = w->m;
  sw_edge *edges;
  int32_t n = 0;
  for (int32_t a = 0; a < q->n; a++) {
    sel_tidy_edges(m, q->var[a]);
    n += m->vars[q->var[a]].edges.n;
    w->root[q->var[a]] = a; /* from here on: its number in the part */
  }
  SW_ARENA_NEW(edges, &w->mem, n, w->d);
  for (int32_t a = 0; a < q->n; a++) {
    const sel_ids *ids = &m->vars[q->var[a]].edges;
    for (int32_t k = 0; k < ids->n; k++) {
      const sel_edge *g = &m->edges[ids->at[k]];
      if (sel_other(g, q->var[a]) < q->var[a]) continue;
      edges[q->p.n_edges++] = (sw_edge){w->root[g->i], w->root[g->j], g->v};
    }
  }
  q->p.edges = edges;
  return SW_OK;
}

/* --- what its solution means --- */

static sw_rc settle_piece(parting *w, const piece *q, const sw_solution *s) {
  sel_model *m = w->m;
  for (int32_t a = 0; a < q->n; a++) {
    sel_var *x = &m->vars[q->var[a]];
    int32_t *table;
    SW_TRY(sel_record_new(m, q->var[a], -1, -1, &table, w->d));
    table[0] = x->id[s->choice[a]];
    for (int32_t k = 0; k < x->edges.n; k++) m->edges[x->edges.at[k]].gone = true;
    x->gone = true;
  }
  m->offset = sw_cost_add(m->offset, s->cost);
  sel_count(m, SW_RULE_COMPONENTS, q->n);
  return SW_OK;
}

static void log_part(const parting *w, const piece *q, const sw_text *proof) {
  const sel_model *m = w->m;
  if (!m->given.log) return;
  sw_text_printf(m->given.log, "part %d", q->n_steps);
  for (int32_t k = 0; k < q->n_steps; k++)
    sw_text_printf(m->given.log, " %lld", (long long)sel_name_time(m, q->step[k]));
  for (int32_t a = 0; a < q->n; a++) sw_text_printf(m->given.log, " %d", sel_name_var(m, q->var[a]));
  sw_text_puts(m->given.log, "\n");
  sw_text_append(m->given.log, sw_text_str(proof), proof->n);
  sw_text_puts(m->given.log, "done\n");
  if (proof->rc) m->given.log->rc = proof->rc;
}

static sw_rc solve_piece(parting *w, piece *q, sel_budget *b) {
  sel_model *m = w->m;
  const sel_run *r = m->given.run;
  sw_text proof = {0};
  sw_solution s;
  sw_solve_options o = {.deadline_s = b->deadline_s,
                        .parameters = b->parameters,
                        .work_limit = m->part_work / 2 + 1,
                        .threads = 1,
                        .seed = r->o->seed,
                        .rules_off = SW_RULES_ALL & ~m->given.rules,
                        .certificate = m->given.log ? &proof : NULL,
                        .cancel = b->cancel};
  if (b->work_limit) o.work_limit = sw_min_i64(o.work_limit, b->work_limit - b->work);
  if (sel_stop(b) || o.work_limit <= 0 || q->too_large) return SW_OK;
  sw_rc rc = sel_solve_part(&q->p, &o, r->depth + 1, &w->mem, &s, w->d);
  bool known = !rc && (s.status == SW_SOLVE_OPTIMAL || s.status == SW_SOLVE_INFEASIBLE);
  if (known) log_part(w, q, &proof);
  sw_text_free(&proof);
  if (rc) return rc;
  m->part_work -= s.work;
  sel_spend(b, s.work);
  if (s.status == SW_SOLVE_INFEASIBLE) m->infeasible = true;
  return s.status == SW_SOLVE_OPTIMAL ? settle_piece(w, q, &s) : SW_OK;
}

static sw_rc try_part(parting *w, int32_t part, sel_budget *b) {
  piece q = {.var = w->vars + w->first[part], .n = w->first[part + 1] - w->first[part], .p = {.name = "part"}};
  SW_TRY(find_piece_steps(w, &q));
  SW_TRY(fill_nodes(w, &q));
  SW_TRY(fill_edges(w, &q));
  forget_steps(w, &q);
  return solve_piece(w, &q, b);
}

typedef struct sized {
  int32_t size, part;
} sized;

static int by_size(const void *a, const void *b) {
  const sized *x = a, *y = b;
  return x->size != y->size ? (x->size > y->size) - (x->size < y->size) : (x->part > y->part) - (x->part < y->part);
}

static sw_rc try_parts(parting *w, sel_budget *b) {
  sized *order;
  SW_TRY(find_parts(w));
  if (w->n_parts < 2) return SW_OK;
  SW_ARENA_NEW(order, &w->mem, w->n_parts, w->d);
  for (int32_t k = 0; k < w->n_parts; k++) order[k] = (sized){w->first[k + 1] - w->first[k], k};
  qsort(order, (size_t)w->n_parts, sizeof *order, by_size);
  SW_ARENA_NEW(w->place, &w->mem, w->m->steps.n, w->d);
  for (int32_t t = 0; t < w->m->steps.n; t++) w->place[t] = -1;
  for (int32_t k = 0; k + 1 < w->n_parts && !w->m->infeasible && !sel_stop(b); k++)
    SW_TRY(try_part(w, order[k].part, b));
  return w->m->steps.n && !w->m->infeasible ? sel_rule_steps(w->m, w->d) : SW_OK;
}

sw_rc sel_rule_components(sel_model *m, sel_budget *b, sw_diag *d) {
  if (m->given.run->depth >= DEPTH_MOST || m->part_work <= 0) return SW_OK;
  parting w = {.m = m, .d = d};
  sw_rc rc = try_parts(&w, b);
  sw_arena_deinit(&w.mem);
  return rc;
}
