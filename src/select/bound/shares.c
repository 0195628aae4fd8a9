#include "select/bound/shares.h"

#include <math.h>
#include <string.h>

#include "base/hash.h"

static int64_t cells_of(const sel_shared_table *t) { return (int64_t)t->n[0] * t->n[1]; }

static int32_t n_shares_in(const sel_shared_table *t, int64_t cell) {
  return t->first ? t->first[cell + 1] - t->first[cell] : 0;
}

/* --- from the problem -------------------------------------------------------------------------------------------- */

static void set_cell(const sel_shares *s, int32_t table, int64_t cell) {
  const sel_shared_table *t = &s->p->tables[table];
  const int64_t row = cell / t->n[1], col = cell % t->n[1];
  double sum = sel_cell(t->cost[cell]);
  for (int32_t k = 0; k < n_shares_in(t, cell); k++) sum += s->now[t->share[t->first[cell] + k]];
  s->tables[table].rows[row * sel_padded(t->n[1]) + col] = sum;
  s->tables[table].cols[col * sel_padded(t->n[0]) + row] = sum;
}

/* Where each share is found. */
static sw_rc locate(sel_shares *s, sw_arena *mem, sw_diag *d) {
  const sel_shared_problem *p = s->p;
  int32_t *at;
  SW_ARENA_NEW(s->table_of, mem, p->n_shares, d);
  SW_ARENA_NEW(s->first_cell, mem, (size_t)p->n_shares + 2, d);
  at = s->first_cell + 1;
  for (int pass = 0; pass < 2; pass++) {
    for (int32_t k = 0; k < p->n_tables; k++) {
      const sel_shared_table *t = &p->tables[k];
      for (int64_t c = 0; t->first && c < cells_of(t); c++) {
        for (int32_t a = t->first[c]; a < t->first[c + 1]; a++) {
          if (pass) s->cell[at[t->share[a]]++] = (int32_t)c;
          if (!pass) at[t->share[a] + 1]++;
          s->table_of[t->share[a]] = k;
        }
      }
    }
    for (int32_t a = 0; a < p->n_shares && !pass; a++) at[a + 1] += at[a];
    if (!pass) SW_ARENA_NEW(s->cell, mem, at[p->n_shares], d);
  }
  return SW_OK;
}

/* What a table costs, and which shared costs its cells have shares of. */
static uint64_t hash_table_kind(const sel_shares *s, const sel_shared_table *t) {
  uint64_t h = sw_hash_quick(t->cost, (size_t)cells_of(t) * sizeof *t->cost);
  h = sw_hash_u64(h, (uint64_t)t->n[0]);
  for (int64_t c = 0; t->first && c < cells_of(t); c++) {
    for (int32_t a = t->first[c]; a < t->first[c + 1]; a++)
      h = sw_hash_u64(h, ((uint64_t)c << 32) | (uint64_t)s->cost_of[t->share[a]]);
  }
  return h;
}

static sw_rc fill_tables(sel_shares *s, sw_arena *mem, sw_diag *d) {
  SW_ARENA_NEW(s->tables, mem, s->p->n_tables, d);
  for (int32_t k = 0; k < s->p->n_tables; k++) {
    const sel_shared_table *t = &s->p->tables[k];
    sel_pool_table *to = &s->tables[k];
    double **const cells[2] = {&to->rows, &to->cols};
    for (int side = 0; side < 2; side++) {
      size_t n = (size_t)t->n[side] * (size_t)sel_padded(t->n[!side]);
      SW_ARENA_NEW(*cells[side], mem, n, d);
      for (size_t c = 0; c < n; c++) (*cells[side])[c] = sel_cell(SW_FORBIDDEN);
    }
    for (int64_t c = 0; c < cells_of(t); c++) set_cell(s, k, c);
    to->kind = hash_table_kind(s, t);
  }
  return SW_OK;
}

static sw_rc number_kinds(const sel_shares *s, sw_arena *mem, int32_t **kind, sw_diag *d) {
  sw_dict seen = {0};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW(*kind, mem, s->p->n_tables, d);
  for (int32_t k = 0; k < s->p->n_tables && !rc; k++) {
    int64_t *first;
    rc = sw_dict_put(&seen, &s->tables[k].kind, sizeof s->tables[k].kind, k, &first, NULL, d);
    if (!rc) (*kind)[k] = (int32_t)*first;
  }
  sw_dict_deinit(&seen);
  return rc;
}

static sw_rc make_links(const sel_shares *s, sel_link *links, sel_pair *pairs, sw_arena *mem, sw_diag *d) {
  int32_t *kind;
  SW_TRY(number_kinds(s, mem, &kind, d));
  for (int32_t e = 0; e < s->p->n_edges; e++) {
    const sel_shared_edge *g = &s->p->edges[e];
    const sel_shared_table *t = &s->p->tables[g->table];
    const sel_pool_table *cells = &s->tables[g->table];
    const bool forward = g->i < g->j;
    pairs[e] = (sel_pair){forward ? g->i : g->j, forward ? g->j : g->i, 2 * kind[g->table] + forward};
    links[e] = (sel_link){.i = pairs[e].i,
                          .j = pairs[e].j,
                          .class_i = t->class_of[!forward],
                          .class_j = t->class_of[forward],
                          .n_i = t->n[!forward],
                          .n_j = t->n[forward],
                          .ld_i = sel_padded(t->n[!forward]),
                          .ld_j = sel_padded(t->n[forward]),
                          .up = forward ? cells->rows : cells->cols,
                          .down = forward ? cells->cols : cells->rows};
  }
  return SW_OK;
}

sw_rc sel_shares_init(sel_shares *s, const sel_shared_problem *p, sel_link *links, sel_pair *pairs, sw_arena *mem,
                      sw_diag *d) {
  *s = (sel_shares){.p = p};
  double **const arrays[] = {&s->now, &s->best, &s->toward, &s->mass};
  for (size_t k = 0; k < sizeof arrays / sizeof arrays[0]; k++) SW_ARENA_NEW(*arrays[k], mem, p->n_shares, d);
  SW_ARENA_NEW(s->cost_of, mem, p->n_shares, d);
  SW_ARENA_NEW_EACH(mem, p->n_costs, d, s->live, s->is_live);
  for (int32_t k = 0; k < p->n_costs; k++) {
    const sel_shared_cost *o = &p->costs[k];
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      s->now[a] = s->best[a] = (double)o->cost / o->n;
      s->cost_of[a] = k;
    }
  }
  SW_TRY(locate(s, mem, d));
  SW_TRY(fill_tables(s, mem, d));
  return make_links(s, links, pairs, mem, d);
}

sw_rc sel_shares_find_classes(sel_shares *s, const int32_t *rep_edge, sw_arena *mem, sw_diag *d) {
  const sel_shared_problem *p = s->p;
  int32_t *rep_table, *first, *last;
  SW_ARENA_NEW_EACH(mem, p->n_tables, d, rep_table, first, last);
  SW_ARENA_NEW_EACH(mem, p->n_shares, d, s->rep, s->n_same);
  for (int32_t e = 0; e < p->n_edges; e++) rep_table[p->edges[e].table] = p->edges[rep_edge[e]].table;
  for (int32_t a = 0; a < p->n_shares; a++) { /* those of one cost follow each other */
    int32_t t = rep_table[s->table_of[a]];
    if (last[t] != s->cost_of[a] + 1) first[t] = a;
    last[t] = s->cost_of[a] + 1;
    s->rep[a] = first[t];
    s->n_same[first[t]]++;
  }
  return SW_OK;
}

/* --- in a pass --------------------------------------------------------------------------------------------------- */

static const sel_shared_cost *live_cost(const sel_shares *s, int32_t k) { return &s->p->costs[s->live[k]]; }

void sel_shares_apply(const sel_shares *s) {
  for (int32_t k = 0; k < s->n_live; k++) {
    const sel_shared_cost *o = live_cost(s, k);
    for (int32_t a = o->first; a < o->first + o->n; a++)
      for (int32_t c = s->first_cell[a]; c < s->first_cell[a + 1]; c++) set_cell(s, s->table_of[a], s->cell[c]);
  }
}

void sel_shares_clear(sel_shares *s) {
  for (int32_t k = 0; k < s->n_live; k++)
    memset(s->mass + live_cost(s, k)->first, 0, (size_t)live_cost(s, k)->n * sizeof *s->mass);
}

void sel_shares_weigh(sel_shares *s, int32_t edge, int32_t earlier, int32_t later, double mass) {
  const sel_shared_edge *g = &s->p->edges[edge];
  const sel_shared_table *t = &s->p->tables[g->table];
  const int64_t cell = g->i < g->j ? (int64_t)earlier * t->n[1] + later : (int64_t)later * t->n[1] + earlier;
  for (int32_t k = 0; k < n_shares_in(t, cell); k++) {
    const int32_t a = t->share[t->first[cell] + k], cost = s->cost_of[a];
    s->mass[a] += mass;
    if (s->is_live[cost]) continue;
    s->is_live[cost] = true;
    s->live[s->n_live++] = cost;
  }
}

void sel_shares_average(sel_shares *s) {
  for (int32_t k = 0; k < s->n_live; k++) {
    const sel_shared_cost *o = live_cost(s, k);
    for (int32_t a = o->first; a < o->first + o->n; a++)
      if (s->rep[a] != a) s->mass[s->rep[a]] += s->mass[a];
    for (int32_t a = o->first + o->n - 1; a >= o->first; a--) s->mass[a] = s->mass[s->rep[a]] / s->n_same[s->rep[a]];
  }
}

/* The direction within a cost: who pays more, others pay less. */
static double mean_toward(const sel_shares *s, const sel_shared_cost *o) {
  double sum = 0;
  for (int32_t a = o->first; a < o->first + o->n; a++) sum += s->toward[a];
  return sum / o->n;
}

double sel_shares_turn(sel_shares *s, double mix) {
  double sum = 0;
  for (int32_t k = 0; k < s->n_live; k++) {
    const sel_shared_cost *o = live_cost(s, k);
    for (int32_t a = o->first; a < o->first + o->n; a++) s->toward[a] += mix * (s->mass[a] - s->toward[a]);
    const double mean = mean_toward(s, o);
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      double g = s->toward[a] - mean;
      if (s->now[a] > 0 || g > 0) sum += g * g;
    }
  }
  return sum;
}

void sel_shares_move(sel_shares *s, double length) {
  for (int32_t k = 0; k < s->n_live; k++) {
    const sel_shared_cost *o = live_cost(s, k);
    double mean = mean_toward(s, o), sum = 0;
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      s->now[a] = fmax(0, s->now[a] + length * (s->toward[a] - mean));
      sum += s->now[a];
    }
    for (int32_t a = o->first; a < o->first + o->n; a++)
      s->now[a] = sum > 0 ? s->now[a] * (double)o->cost / sum : (double)o->cost / o->n;
  }
}

/* The shares of live costs: no others differ. */
static void copy_live(const sel_shares *s, const double *from, double *to) {
  for (int32_t k = 0; k < s->n_live; k++)
    memcpy(to + live_cost(s, k)->first, from + live_cost(s, k)->first, (size_t)live_cost(s, k)->n * sizeof *to);
}

void sel_shares_keep(sel_shares *s) { copy_live(s, s->now, s->best); }

void sel_shares_rewind(sel_shares *s) { copy_live(s, s->best, s->now); }

/* Each share rounded down, the rest with the largest. */
void sel_shares_round(const sel_shares *s, int32_t cost, int64_t *share) {
  const sel_shared_cost *o = &s->p->costs[cost];
  int64_t left = o->cost;
  int32_t most = o->first;
  for (int32_t a = o->first; a < o->first + o->n; a++) {
    share[a] = sw_min_i64(left, (int64_t)fmax(0, fmin(s->best[a], (double)o->cost)));
    left -= share[a];
    if (s->best[a] > s->best[most]) most = a;
  }
  share[most] += left;
}
