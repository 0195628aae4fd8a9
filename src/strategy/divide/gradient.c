/* The supergradient: marginals that follow the minima of a pass say which parts and prices should be higher. */
#include "strategy/divide/divider.h"

#include <math.h>
#include <string.h>

static const double kMix = 0.2; /* of a new direction in the average */

/* From now on the parts of a slot move. */
static void enliven(dv_divider *v, int32_t slot) {
  if (v->is_live[slot]) return;
  const dv_slot *o = &v->slots.at[slot];
  v->is_live[slot] = true;
  v->live[v->n_live++] = slot;
  dv_table *t = &v->tables.at[v->first_table[o->pattern]];
  for (int32_t i = 0; i < v->s->patterns.at[o->pattern].n_consumers; i++)
    if (t[i].moved) t[i].moved[o->from] = true;
}

/* Mass on a cell of a table counts for each part that is in it. */
static void weigh_cell(dv_divider *v, const dv_table *t, int32_t from, int32_t c, double mass) {
  for (int32_t a = t->wants->first[c]; t->divided && a < t->wants->first[c + 1]; a++) {
    int32_t part = dv_part_in(t, from, t->wants->id[a]);
    if (part < 0) continue;
    enliven(v, v->slot_of[part]);
    v->mass[part] += mass;
  }
}

static const dv_slot *live_slot(const dv_divider *v, int32_t k) { return &v->slots.at[v->live[k]]; }

/* The class of the later node that an earlier one's class c has its message from. */
static int32_t behind(const dv_link *l, const dv_table *t, int later, int32_t c) {
  const double *row = t->cost[!later] + (int64_t)c * t->wide[later];
  int32_t best = 0;
  for (int32_t o = 1; o < t->n[later]; o++)
    if (l->mine[o] + row[o] < l->mine[best] + row[best]) best = o;
  return best;
}

/* Marginals that follow the minima of the backward pass, from earlier nodes to later ones. */
void dv_spread(dv_divider *v) {
  memset(v->share, 0, (size_t)v->offset[v->n] * sizeof *v->share);
  for (int32_t k = 0; k < v->n_live; k++)
    memset(v->mass + live_slot(v, k)->first, 0, (size_t)live_slot(v, k)->n * sizeof *v->mass);
  for (int32_t i = 0; i < v->n; i++) {
    if (dv_stands_for(v, i) != i) continue;
    double *p = v->share + v->offset[i], share = dv_share_of(v, i), count = dv_count(v, i);
    for (int32_t k = v->first_arc[i]; k < v->mid_arc[i]; k++) {
      const dv_link *l = &v->links.at[v->arcs[k].link];
      const dv_table *t = &v->tables.at[l->table];
      int side = v->arcs[k].side;
      int32_t other = dv_stands_for(v, l->node[!side]);
      const double *q = v->share + v->offset[other];
      for (int32_t a = 0; a < dv_choices(v, other); a++) {
        if (q[a] <= 0) continue;
        int32_t c = t->class_of[!side][a], mine = behind(l, t, side, c);
        p[l->member[mine]] += share * q[a];
        weigh_cell(v, t, side ? c : mine, side ? mine : c, count * q[a]);
      }
    }
    p[v->least[i]] += fmax(0, 1.0 - (v->mid_arc[i] - v->first_arc[i]) * share);
  }
}

/* Takers that are alike have equal parts in what one of them has gathered for all. */
void dv_share_mass(dv_divider *v) {
  for (int32_t k = 0; k < v->n_live; k++) {
    const dv_slot *o = live_slot(v, k);
    for (int32_t a = o->first; a < o->first + o->n; a++)
      if (v->like_part[a] != a) v->mass[v->like_part[a]] += v->mass[a];
    for (int32_t a = o->first + o->n - 1; a >= o->first; a--)
      v->mass[a] = v->mass[v->like_part[a]] / v->n_like_part[v->like_part[a]];
  }
}

/* use[t] = what the marginals occupy beyond the limit, in units of it. */
void dv_weigh_memory(dv_divider *v) {
  memset(v->use, 0, ((size_t)v->n_steps + 1) * sizeof *v->use);
  for (int32_t i = 0; i < v->n; i++) {
    const double *p = v->share + v->offset[dv_stands_for(v, i)];
    for (int32_t k = 0; k < v->p->nodes[i].n_uses; k++) {
      const sw_use *u = &v->p->nodes[i].uses[k];
      double mean = 0;
      for (int32_t a = 0; a < dv_choices(v, i); a++) mean += p[a] * (double)u->amount[a];
      v->use[u->begin] += mean / v->room;
      v->use[u->end] -= mean / v->room;
    }
  }
  double run = 0;
  for (int64_t t = 0; t < v->n_steps; t++) {
    run += v->use[t];
    v->use[t] = run - 1.0;
  }
}

/* The direction within a slot: who pays more, others pay less. */
static double mean_toward(const dv_divider *v, const dv_slot *o) {
  double sum = 0;
  for (int32_t a = o->first; a < o->first + o->n; a++) sum += v->toward[a];
  return sum / o->n;
}

static void turn(dv_divider *v, const dv_slot *o) {
  for (int32_t a = o->first; a < o->first + o->n; a++) v->toward[a] += kMix * (v->mass[a] - v->toward[a]);
}

static double length_squared(const dv_divider *v) {
  double sum = 0;
  for (int32_t k = 0; k < v->n_live; k++) {
    const dv_slot *o = live_slot(v, k);
    double mean = mean_toward(v, o);
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      double g = v->toward[a] - mean;
      if (v->part[a] > 0 || g > 0) sum += g * g;
    }
  }
  for (int64_t t = 0; t < v->n_steps; t++)
    if (v->price[t] > 0 || v->ahead[t] > 0) sum += v->ahead[t] * v->ahead[t];
  return sum;
}

static void move_parts(dv_divider *v, double length) {
  for (int32_t k = 0; k < v->n_live; k++) {
    const dv_slot *o = live_slot(v, k);
    double mean = mean_toward(v, o), sum = 0;
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      v->part[a] = fmax(0, v->part[a] + length * (v->toward[a] - mean));
      sum += v->part[a];
    }
    for (int32_t a = o->first; a < o->first + o->n; a++)
      v->part[a] = sum > 0 ? v->part[a] * (double)o->units / sum : (double)o->units / o->n;
  }
}

void dv_step(dv_divider *v, double target) {
  const double kLevel = 0.3;
  for (int32_t k = 0; k < v->n_live; k++) turn(v, live_slot(v, k));
  for (int64_t t = 0; t < v->n_steps; t++) v->ahead[t] += kMix * (v->use[t] - v->ahead[t]);
  double squared = length_squared(v), level = v->best_bound + kLevel * (target - v->best_bound);
  double length = v->factor * (level - v->bound) / squared;
  if (!(squared > 0 && length > 0)) return;
  move_parts(v, length);
  for (int64_t t = 0; t < v->n_steps; t++) v->price[t] = fmax(0, v->price[t] + length * v->ahead[t]);
}
