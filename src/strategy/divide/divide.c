#include "strategy/divide/divide.h"

#include <math.h>
#include <string.h>

#include "shardwright/clock.h"
#include "strategy/divide/divider.h"

enum { PATIENCE = 8, LIFTED_PATIENCE = 16, ROUND = 25, SHORT_ROUND = 4 };
static const double kLeastFactor = 2e-3;
static const double kLeastGain = 0.02; /* of what is missing, in a round of passes */

/* --- passes ------------------------------------------------------------------------------------------------------ */

/* The parts of live slots: no others differ. */
static void copy_parts(const dv_divider *v, const double *from, double *to) {
  for (int32_t k = 0; k < v->n_live; k++) {
    const dv_slot *o = &v->slots.at[v->live[k]];
    memcpy(to + o->first, from + o->first, (size_t)o->n * sizeof *to);
  }
}

static void keep(dv_divider *v) {
  v->best_bound = v->bound;
  copy_parts(v, v->part, v->best_part);
  memcpy(v->best_price, v->price, (size_t)v->n_steps * sizeof *v->price);
  memcpy(v->best_messages, v->messages, (size_t)v->n_messages * sizeof *v->messages);
}

static void rewind_to_best(dv_divider *v) {
  copy_parts(v, v->best_part, v->part);
  memcpy(v->price, v->best_price, (size_t)v->n_steps * sizeof *v->price);
  memcpy(v->messages, v->best_messages, (size_t)v->n_messages * sizeof *v->messages);
}

static void pass(dv_divider *v, double target) {
  const double kProgress = 1e-6;
  double paid = 0;
  dv_set_tables(v, false);
  dv_set_unaries(v);
  for (int64_t t = 0; t < v->n_steps; t++) paid += v->price[t];
  dv_forward(v);
  v->bound = dv_backward(v) - paid;
  v->stale = v->bound > v->best_bound + kProgress * fabs(v->best_bound) ? 0 : v->stale + 1;
  if (v->bound > v->best_bound) keep(v);
  dv_spread(v);
  if (v->lifted) dv_share_mass(v);
  if (v->n_steps) dv_weigh_memory(v);
  if (v->stale > (v->lifted ? LIFTED_PATIENCE : PATIENCE)) {
    v->factor *= 0.8;
    v->stale = 0;
    rewind_to_best(v);
    return;
  }
  dv_step(v, target);
}

/* --- the result -------------------------------------------------------------------------------------------------- */

/* Whole units: each part rounded down, the rest with the largest. */
static void round_slot(const dv_divider *v, const dv_slot *o, int64_t *part) {
  int64_t left = o->units;
  int32_t most = 0;
  for (int32_t a = 0; a < o->n; a++) {
    double w = v->best_part[o->first + a];
    part[a] = sw_min_i64(left, (int64_t)fmax(0, fmin(w, dv_cell(o->units))));
    left -= part[a];
    if (w > v->best_part[o->first + most]) most = a;
  }
  part[most] += left;
}

static sw_rc room_for_parts(sw_selection *s, sw_pattern *p, sw_diag *d) {
  if (p->part) return SW_OK;
  SW_ARENA_NEW(p->part, s->arena, p->n_consumers, d);
  for (int32_t i = 0; i < p->n_consumers; i++) {
    SW_ARENA_NEW(p->part[i], s->arena, (size_t)p->n_from * (size_t)p->n_ids, d);
    for (int32_t from = 0; from < p->n_from; from++)
      for (int32_t id = 0; id < p->n_ids; id++) {
        if (p->wanting[id] != 1) continue; /* all of it, or of no cost */
        SW_TRY(sw_pattern_route(p, &s->prices, from, id, &p->part[i][(int64_t)from * p->n_ids + id], d));
      }
  }
  return SW_OK;
}

/* Patterns of which no slot is live have equal parts, as they had without any. */
static sw_rc write_parts(dv_divider *v, sw_diag *d) {
  int64_t *part;
  bool *moved;
  int32_t most = 1;
  for (size_t k = 0; k < v->slots.n; k++) most = v->slots.at[k].n > most ? v->slots.at[k].n : most;
  SW_ARENA_NEW(part, &v->mem, most, d);
  SW_ARENA_NEW(moved, &v->mem, v->s->patterns.n, d);
  for (int32_t k = 0; k < v->n_live; k++) moved[v->slots.at[v->live[k]].pattern] = true;
  for (size_t k = 0; k < v->slots.n; k++) {
    const dv_slot *o = &v->slots.at[k];
    sw_pattern *p = &v->s->patterns.at[o->pattern];
    if (!p->part && !moved[o->pattern]) continue;
    SW_TRY(room_for_parts(v->s, p, d));
    round_slot(v, o, part);
    int32_t a = 0;
    for (int32_t i = 0; i < p->n_consumers; i++) {
      if (sw_pattern_can_want(p, i, o->id)) p->part[i][(int64_t)o->from * p->n_ids + o->id] = part[a++];
    }
    p->ready = false;
  }
  return SW_OK;
}

static bool over(const dv_divider *v, const sw_divide_options *o) {
  if (sw_cancelled(o->cancel) || (o->work_limit > 0 && v->work >= o->work_limit)) return true;
  return o->deadline_s > 0 && sw_now_s() >= o->deadline_s;
}

/* Steps of a pass: cells of tables, to and fro, and what is summed at the nodes. */
static int64_t cells_of_pass(const dv_divider *v) {
  int64_t cells = 0;
  for (size_t k = 0; k < v->links.n; k++) {
    const dv_link *l = &v->links.at[k];
    const dv_table *t = &v->tables.at[l->table];
    if (!v->lifted || v->like_link[k] == (int32_t)k) cells += 2 * (int64_t)t->n[0] * t->n[1];
  }
  for (int32_t i = 0; i < v->n; i++)
    if (dv_stands_for(v, i) == i) cells += 2 * (int64_t)dv_choices(v, i) * (1 + v->first_arc[i + 1] - v->first_arc[i]);
  return cells;
}

/* Passes until the bound is near the target, or a round of them closes less than a part of what is missing. */
static void ascend(dv_divider *v, const sw_divide_options *o, double target, int round, double gain) {
  double before = -INFINITY;
  const int64_t cells = cells_of_pass(v);
  for (int k = 0; k < o->passes && v->factor > kLeastFactor && (k == 0 || !over(v, o)); k++) {
    if (k % round == 0 && k > round && v->best_bound - before < gain * (target - v->best_bound)) break;
    if (k % round == 0) before = v->best_bound;
    pass(v, target);
    v->work += cells;
    if (v->best_bound >= target * (1 - o->gap)) break;
  }
  rewind_to_best(v);
}

/* Where layers repeat, passes over one node of each kind do nearly all. */
static sw_rc ascend_alike(dv_divider *v, const sw_divide_options *o, double target, bool *done, sw_diag *d) {
  const double kLeastLiftedGain = 0.02, kFactor = 0.5; /* of the steps that follow */
  SW_TRY(dv_find_alike(v, d));
  *done = v->like != NULL;
  if (!v->like) return SW_OK;
  SW_TRY(dv_find_like_parts(v, d));
  dv_lift(v);
  ascend(v, o, target, ROUND, kLeastLiftedGain);
  dv_lower(v);
  v->best_bound = -INFINITY;
  v->factor = kFactor;
  v->stale = 0;
  return SW_OK;
}

sw_rc sw_divide_parts(sw_selection *s, const sw_divide_options *o, bool *taken, int64_t *work, sw_diag *d) {
  dv_divider v = {.s = s, .p = &s->problem, .n = s->units.n, .factor = 1, .best_bound = -INFINITY};
  double target = dv_cell(o->target);
  bool near = false;
  sw_rc rc = dv_build(&v, d);
  if (!rc) dv_set_tables(&v, true);
  if (!rc && v.n_parts) rc = ascend_alike(&v, o, target, &near, d);
  if (!rc && v.n_parts) ascend(&v, o, target, near ? SHORT_ROUND : ROUND, kLeastGain);
  *taken = !rc && v.best_bound > fmax(0, (double)o->bound);
  if (*taken) rc = write_parts(&v, d);
  *work = v.work;
  sw_array_free(&v.tables);
  sw_array_free(&v.links);
  sw_array_free(&v.slots);
  sw_arena_deinit(&v.mem);
  return rc;
}
