/* The state of a search: choice, local costs and profile, kept up to date change by change. */
#include "select/search/state.h"

#include <math.h>
#include <string.h>

static sw_rc clip_tables(sel_field *f, sw_arena *mem, const int64_t ***tables, sw_diag *d) {
  const sel_core *c = f->c;
  SW_ARENA_NEW(*tables, mem, 2 * (size_t)c->n_mats, d);
  for (int32_t k = 0; k < c->n_mats; k++) {
    const sel_mat *m = &c->mats[k];
    int64_t *v, *t;
    SW_ARENA_NEW_EACH(mem, (size_t)m->rows * (size_t)m->cols, d, v, t);
    for (int32_t a = 0; a < m->rows; a++)
      for (int32_t b = 0; b < m->cols; b++)
        v[(int64_t)a * m->cols + b] = t[(int64_t)b * m->rows + a] = sw_min_i64(f->bad, m->v[(int64_t)a * m->cols + b]);
    (*tables)[2 * (int64_t)k] = v;
    (*tables)[2 * (int64_t)k + 1] = t;
  }
  return SW_OK;
}

sw_rc sel_field_init(sel_field *f, const sel_core *c, int64_t bad, sw_arena *mem, sw_diag *d) {
  *f = (sel_field){.c = c};
  SW_ARENA_NEW(f->first_near, mem, (size_t)c->n + 1, d);
  SW_ARENA_NEW(f->near, mem, 2 * (size_t)c->n_pairs, d);
  SW_ARENA_NEW(f->offset, mem, (size_t)c->n + 1, d);
  SW_ARENA_NEW(f->cost, mem, c->n, d);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    f->first_near[c->pairs[e].i + 1]++;
    f->first_near[c->pairs[e].j + 1]++;
  }
  int32_t most = 0, *fill;
  SW_ARENA_NEW(fill, mem, c->n, d);
  for (int32_t i = 0; i < c->n; i++) {
    most = f->first_near[i + 1] > most ? f->first_near[i + 1] : most;
    f->first_near[i + 1] += f->first_near[i];
    f->offset[i + 1] = f->offset[i] + c->dom[i];
    fill[i] = f->first_near[i];
  }
  f->bad = bad ? bad : sw_min_i64(SW_FORBIDDEN, (INT64_C(1) << 61) / (most + 2));
  const int64_t **tables;
  SW_TRY(clip_tables(f, mem, &tables, d));
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_pair *g = &c->pairs[e];
    const int64_t *const *table = &tables[2 * (int64_t)g->mat];
    f->near[fill[g->i]++] = (sel_near){g->j, c->dom[g->j], e, table[0], table[1]};
    f->near[fill[g->j]++] = (sel_near){g->i, c->dom[g->i], e, table[1], table[0]};
  }
  for (int32_t i = 0; i < c->n; i++) {
    SW_ARENA_NEW(f->cost[i], mem, c->dom[i], d);
    for (int32_t s = 0; s < c->dom[i]; s++) f->cost[i][s] = sw_min_i64(f->bad, c->cost[i][s]);
  }
  return SW_OK;
}

sw_rc sel_state_init(sel_state *s, const sel_field *f, sw_arena *mem, sw_diag *d) {
  *s = (sel_state){.f = f};
  SW_ARENA_NEW(s->x, mem, f->c->n, d);
  SW_ARENA_NEW(s->local, mem, f->offset[f->c->n], d);
  return sel_profile_init(&s->profile, f->c, mem, d);
}

void sel_state_set(sel_state *s, const int32_t *x) {
  const sel_field *f = s->f;
  const sel_core *c = f->c;
  memcpy(s->x, x, (size_t)c->n * sizeof *x);
  sel_profile_reset(&s->profile, c);
  for (int32_t k = 0; k < c->n_uses; k++)
    sel_profile_add(&s->profile, c->uses[k].begin, c->uses[k].end, c->uses[k].amount[x[c->uses[k].var]]);
  sw_i128 twice = 0; /* edges are seen from both ends */
  for (int32_t i = 0; i < c->n; i++) {
    int64_t *q = s->local + f->offset[i];
    memcpy(q, f->cost[i], (size_t)c->dom[i] * sizeof *q);
    for (int32_t k = f->first_near[i]; k < f->first_near[i + 1]; k++) {
      const sel_near *g = &f->near[k];
      const int64_t *line = g->turned + (int64_t)x[g->other] * c->dom[i];
      for (int32_t v = 0; v < c->dom[i]; v++) q[v] += line[v];
    }
    twice += q[x[i]] + f->cost[i][x[i]];
  }
  s->cost = twice / 2;
}

void sel_state_change(sel_state *s, int32_t i, int32_t value) {
  const sel_field *f = s->f;
  const sel_core *c = f->c;
  int32_t old = s->x[i];
  if (old == value) return;
  s->cost += sel_state_delta(s, i, value);
  s->x[i] = value;
  for (int32_t k = f->first_near[i]; k < f->first_near[i + 1]; k++) {
    const sel_near *g = &f->near[k];
    const int64_t *now = g->v + (int64_t)value * g->n_other, *was = g->v + (int64_t)old * g->n_other;
    int64_t *q = s->local + f->offset[g->other];
    for (int32_t t = 0; t < g->n_other; t++) q[t] += now[t] - was[t];
  }
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
    sel_profile_add(&s->profile, c->uses[k].begin, c->uses[k].end, c->uses[k].amount[value] - c->uses[k].amount[old]);
}

/* One use alone is judged at once; several may overlap and are put on trial. */
bool sel_state_fits(sel_state *s, int32_t i, int32_t value) {
  const sel_core *c = s->f->c;
  int32_t first = c->first_use[i], end = c->first_use[i + 1], old = s->x[i];
  if (end == first || value == old) return true;
  bool more = false;
  for (int32_t k = first; k < end; k++) more |= c->uses[k].amount[value] > c->uses[k].amount[old];
  if (!more) return true;
  if (end - first == 1) {
    const sel_usage *u = &c->uses[first];
    return sel_profile_most(&s->profile, u->begin, u->end) + u->amount[value] - u->amount[old] <= 0;
  }
  bool fits = true;
  int32_t k = first;
  for (; k < end; k++)
    sel_profile_add(&s->profile, c->uses[k].begin, c->uses[k].end, c->uses[k].amount[value] - c->uses[k].amount[old]);
  for (k = first; k < end && fits; k++)
    if (c->uses[k].amount[value] > c->uses[k].amount[old])
      fits = sel_profile_most(&s->profile, c->uses[k].begin, c->uses[k].end) <= 0;
  for (k = first; k < end; k++)
    sel_profile_add(&s->profile, c->uses[k].begin, c->uses[k].end, c->uses[k].amount[old] - c->uses[k].amount[value]);
  return fits;
}

bool sel_state_feasible(const sel_state *s) {
  int32_t t;
  if (sel_profile_worst(&s->profile, &t) > 0) return false;
  return s->cost < s->f->bad || sel_core_cost(s->f->c, s->x) < SW_FORBIDDEN;
}

static int64_t use_at(const sel_core *c, int32_t i, int32_t value, int32_t t) {
  int64_t sum = 0;
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
    if (c->uses[k].begin <= t && t < c->uses[k].end) sum += c->uses[k].amount[value];
  return sum;
}

/* The change that frees memory at step t for the least cost per byte; freeing more than is over counts no more. */
static bool best_relief(const sel_state *s, const double *price, int32_t t, int64_t over, int32_t *var,
                        int32_t *value) {
  const sel_core *c = s->f->c;
  double best = INFINITY;
  for (int32_t i = 0; i < c->n; i++) {
    int64_t now = c->first_use[i] < c->first_use[i + 1] ? use_at(c, i, s->x[i], t) : 0;
    if (now == 0) continue;
    const double *p = price ? price + s->f->offset[i] : NULL;
    for (int32_t v = 0; v < c->dom[i]; v++) {
      int64_t freed = now - use_at(c, i, v, t);
      if (freed <= 0) continue;
      double extra = (double)sel_state_delta(s, i, v) + (p ? p[v] - p[s->x[i]] : 0);
      double rate = extra > 0 ? extra / (double)sw_min_i64(freed, over) : extra;
      if (rate >= best) continue;
      best = rate;
      *var = i;
      *value = v;
    }
  }
  return best < INFINITY;
}

bool sel_repair(sel_state *s, const double *price, sel_budget *b) {
  int32_t t, i, v;
  int64_t over, tries = 4 * (int64_t)s->f->c->n + 100;
  while ((over = sel_profile_worst(&s->profile, &t)) > 0) {
    if (--tries < 0 || sel_stop(b) || !best_relief(s, price, t, over, &i, &v)) return false;
    sel_spend(b, s->f->c->n_uses);
    sel_state_change(s, i, v);
  }
  return sel_state_feasible(s);
}
