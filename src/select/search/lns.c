/* Large moves: free a neighbourhood, bound it by prices and messages, search it depth first under that bound.
 *
 * The free variables form a core of their own: costs count what they pay beside the fixed ones, caps what the fixed
 * ones leave. A few passes of the dual often prove at once that nothing better is there. Otherwise variables are chosen
 * in the dual's order, cheapest completion first; a branch ends where even the least completion costs no less than what
 * is known, or memory is broken with all later ones at their smallest.
 *
 * The size follows the work: moves that are ruled out or searched to the end let it grow, those cut short shrink it.
 */
#include "select/search/lns.h"
#include "base/lists.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_SIZE = 8, SETUP_PASSES = 6 };
enum { AROUND_ONE, AROUND_ONE_AT_RANDOM, PARTLY_OF_A_STEP, OF_A_STEP, N_KINDS };

sw_rc sel_lns_init(sel_lns *l, const sel_field *f, const sel_link *links, uint64_t seed, sw_arena *mem, sw_diag *d) {
  *l = (sel_lns){.f = f, .links = links};
  sw_rng_seed(&l->rng, seed ^ UINT64_C(0x9e3779b97f4a7c15));
  SW_ARENA_NEW_EACH(mem, f->c->n, d, l->place, l->free, l->rim);
  for (int32_t i = 0; i < f->c->n; i++) l->place[i] = -1;
  return SW_OK;
}

void sel_lns_deinit(sel_lns *l) { sw_arena_deinit(&l->mem); }

/* --- which variables --- */

static void set_free(sel_lns *l, int32_t v) {
  if (l->place[v] >= 0) return;
  l->place[v] = l->n_free;
  l->free[l->n_free++] = v;
}

static bool uses_step(const sel_core *c, int32_t v, int32_t t) {
  for (int32_t k = c->first_use[v]; k < c->first_use[v + 1]; k++)
    if (c->uses[k].begin <= t && t < c->uses[k].end) return true;
  return false;
}

/* A step that costs something, or any. */
static int32_t pick_step(sel_lns *l) {
  const sel_core *c = l->f->c;
  double all = l->prefix ? l->prefix[c->n_steps] : 0, at = sw_rng_unit(&l->rng) * all;
  if (all <= 0) return (int32_t)sw_rng_below(&l->rng, c->n_steps);
  int32_t lo = 0, hi = c->n_steps - 1;
  while (lo < hi) {
    int32_t mid = (lo + hi) / 2;
    if (l->prefix[mid + 1] <= at)
      lo = mid + 1;
    else
      hi = mid;
  }
  return lo;
}

/* Grow from what is free already, in the order met or at random; with `other`, where that choice differs from x. */
static void grow(sel_lns *l, int32_t size, bool at_random, const int32_t *x, const int32_t *other) {
  const sel_field *f = l->f;
  int32_t n_rim = 0, head = 0, seen = 0;
  while (l->n_free < size) {
    for (; seen < l->n_free; seen++)
      for (int32_t k = f->first_near[l->free[seen]]; k < f->first_near[l->free[seen] + 1] && n_rim < f->c->n; k++) {
        int32_t v = f->near[k].other;
        if (l->place[v] < 0 && (!other || x[v] != other[v])) l->rim[n_rim++] = v;
      }
    if (head == n_rim) return;
    if (at_random) {
      int32_t k = head + (int32_t)sw_rng_below(&l->rng, n_rim - head), v = l->rim[k];
      l->rim[k] = l->rim[head];
      l->rim[head] = v;
    }
    set_free(l, l->rim[head++]);
  }
}

/* Variables that the guide chooses otherwise, joined to one another; whether there are any. */
static bool choose_between(sel_lns *l, const int32_t *x, int32_t size) {
  enum { TRIES = 100 };
  for (int32_t tries = 0; tries < TRIES; tries++) {
    int32_t v = (int32_t)sw_rng_below(&l->rng, l->f->c->n);
    if (x[v] == l->guide[v]) continue;
    set_free(l, v);
    grow(l, size, true, x, l->guide);
    return true;
  }
  return false;
}

/* A ball around one variable, or around several that share a dear step. */
static void choose_around(sel_lns *l, int32_t size) {
  const sel_core *c = l->f->c;
  int kind = (int)sw_rng_below(&l->rng, N_KINDS);
  if (kind >= PARTLY_OF_A_STEP && c->n_steps > 0) {
    int32_t t = pick_step(l), part = kind == PARTLY_OF_A_STEP ? size / 4 : size;
    for (int32_t tries = 0; tries < 40 * size && l->n_free <= part && l->n_free < size; tries++) {
      int32_t v = (int32_t)sw_rng_below(&l->rng, c->n);
      if (uses_step(c, v, t)) set_free(l, v);
    }
  }
  if (l->n_free == 0) set_free(l, (int32_t)sw_rng_below(&l->rng, c->n));
  grow(l, size, kind != AROUND_ONE, NULL, NULL);
}

static void choose_freed(sel_lns *l, const int32_t *x, int32_t size) {
  enum { ONE_IN = 4 }; /* moves go around something nevertheless */
  l->n_free = 0;
  if (!l->guide || sw_rng_below(&l->rng, ONE_IN) == 0 || !choose_between(l, x, size)) choose_around(l, size);
  qsort(l->free, (size_t)l->n_free, sizeof *l->free, sw_compare_i32);
  for (int32_t k = 0; k < l->n_free; k++) l->place[l->free[k]] = k;
}

static void release(sel_lns *l) {
  for (int32_t k = 0; k < l->n_free; k++) l->place[l->free[k]] = -1;
}

/* --- the core of the free variables --- */

typedef struct inner {
  sel_core c;
  int32_t *pair; /* of the whole core, by pair */
  double *lambda;
  int64_t **cost;
  int64_t now; /* what the state pays in it */
} inner;

static sw_rc build_costs(sel_lns *l, const sel_state *s, inner *w, sw_diag *d) {
  const sel_field *f = l->f;
  int32_t *dom;
  SW_ARENA_NEW_EACH(&l->mem, l->n_free, d, dom, w->cost);
  for (int32_t k = 0; k < l->n_free; k++) {
    int32_t v = l->free[k];
    dom[k] = f->c->dom[v];
    w->cost[k] = sw_arena_copy(&l->mem, s->local + f->offset[v], (size_t)dom[k], sizeof **w->cost, d);
    if (!w->cost[k]) return SW_E_RESOURCE;
    for (int32_t e = f->first_near[v]; e < f->first_near[v + 1]; e++) {
      const sel_near *g = &f->near[e];
      if (l->place[g->other] < 0) continue;
      const int64_t *line = g->turned + (int64_t)s->x[g->other] * dom[k];
      for (int32_t a = 0; a < dom[k]; a++) w->cost[k][a] -= line[a];
    }
    w->now += w->cost[k][s->x[v]];
  }
  w->c.n = l->n_free;
  w->c.dom = dom;
  w->c.cost = (const int64_t *const *)w->cost;
  return SW_OK;
}

static sw_rc build_pairs(sel_lns *l, const sel_state *s, inner *w, sw_diag *d) {
  const sel_field *f = l->f;
  int32_t n = 0;
  for (int32_t k = 0; k < l->n_free; k++)
    for (int32_t e = f->first_near[l->free[k]]; e < f->first_near[l->free[k] + 1]; e++)
      n += l->place[f->near[e].other] > k;
  sel_pair *pairs;
  sel_mat *mats;
  SW_ARENA_NEW_EACH(&l->mem, n, d, pairs, mats, w->pair);
  n = 0;
  for (int32_t k = 0; k < l->n_free; k++)
    for (int32_t e = f->first_near[l->free[k]]; e < f->first_near[l->free[k] + 1]; e++) {
      const sel_near *g = &f->near[e];
      int32_t o = l->place[g->other];
      if (o <= k) continue;
      pairs[n] = (sel_pair){k, o, n};
      w->pair[n] = g->pair;
      mats[n++] = (sel_mat){w->c.dom[k], g->n_other, g->v};
      w->now += g->v[(int64_t)s->x[l->free[k]] * g->n_other + s->x[g->other]];
    }
  w->c.n_pairs = w->c.n_mats = n;
  w->c.pairs = pairs;
  w->c.mats = mats;
  return SW_OK;
}

static int32_t place_of_cut(const int32_t *cut, int32_t n, int32_t t) {
  return (int32_t)((const int32_t *)bsearch(&t, cut, (size_t)n, sizeof t, sw_compare_i32) - cut);
}

/* Steps between the ends of the free variables' uses; each has the room of its tightest one. */
static sw_rc build_uses(sel_lns *l, sel_state *s, inner *w, sw_diag *d) {
  const sel_core *c = l->f->c;
  int32_t n_uses = 0, n = 0, *cut, *first;
  sel_usage *uses;
  int64_t *cap;
  for (int32_t k = 0; k < l->n_free; k++) n_uses += c->first_use[l->free[k] + 1] - c->first_use[l->free[k]];
  SW_ARENA_NEW(cut, &l->mem, 2 * (size_t)n_uses, d);
  SW_ARENA_NEW(uses, &l->mem, n_uses, d);
  SW_ARENA_NEW_EACH(&l->mem, 2 * (size_t)n_uses, d, cap, w->lambda);
  SW_ARENA_NEW(first, &l->mem, (size_t)l->n_free + 1, d);
  for (int32_t k = 0; k < l->n_free; k++, first[k] = w->c.n_uses)
    for (int32_t a = c->first_use[l->free[k]]; a < c->first_use[l->free[k] + 1]; a++) {
      const sel_usage *u = &c->uses[a];
      cut[2 * (size_t)w->c.n_uses] = u->begin;
      cut[2 * (size_t)w->c.n_uses + 1] = u->end;
      uses[w->c.n_uses++] = (sel_usage){k, u->begin, u->end, u->amount};
      sel_profile_add(&s->profile, u->begin, u->end, -u->amount[s->x[l->free[k]]]);
    }
  qsort(cut, 2 * (size_t)n_uses, sizeof *cut, sw_compare_i32);
  for (int32_t k = 0; k < 2 * n_uses; k++)
    if (k == 0 || cut[k] != cut[n - 1]) cut[n++] = cut[k];
  for (int32_t k = 0; k + 1 < n; k++) {
    cap[k] = -sel_profile_most(&s->profile, cut[k], cut[k + 1]);
    w->lambda[k] = l->prefix ? l->prefix[cut[k + 1]] - l->prefix[cut[k]] : 0;
  }
  for (int32_t a = 0; a < n_uses; a++) {
    const sel_usage *u = &uses[a];
    sel_profile_add(&s->profile, u->begin, u->end, u->amount[s->x[l->free[u->var]]]);
    uses[a].begin = place_of_cut(cut, n, u->begin);
    uses[a].end = place_of_cut(cut, n, u->end);
  }
  w->c.n_uses = n_uses;
  w->c.uses = uses;
  w->c.first_use = first;
  w->c.n_steps = n > 0 ? n - 1 : 0;
  w->c.cap = cap;
  return SW_OK;
}

/* --- the search --- */

typedef struct dive {
  const sel_dual *u;
  const sel_core *c;
  const sel_usage *uses; /* amounts beyond the smallest, at steps that may run out of room */
  int64_t *room;         /* of these, with everybody not yet chosen at his smallest */
  double *rest;          /* parts of the variables from k on, less what prices pay */
  double *guess;         /* per flat value */
  int32_t *x, *best;
  int64_t best_cost;
  int32_t nodes, most_nodes;
  int64_t looks; /* at room of a step */
} dive;

/* Steps with room for everybody's largest amount are left out: place[t] of the others lie before t. */
static sw_rc keep_tight_steps(dive *v, const int64_t *wanted, sel_usage *uses, sw_arena *mem, sw_diag *d) {
  const sel_core *c = v->c;
  int32_t *place;
  SW_ARENA_NEW(place, mem, (size_t)c->n_steps + 1, d);
  for (int32_t t = 0; t < c->n_steps; t++) {
    const bool tight = v->room[t] < wanted[t];
    if (tight) v->room[place[t]] = v->room[t];
    place[t + 1] = place[t] + tight;
  }
  for (int32_t k = 0; k < c->n_uses; k++) {
    uses[k].begin = place[uses[k].begin];
    uses[k].end = place[uses[k].end];
  }
  return SW_OK;
}

static sw_rc free_uses(dive *v, sw_arena *mem, sw_diag *d) {
  const sel_core *c = v->c;
  int64_t *wanted;
  sel_usage *uses;
  SW_ARENA_NEW(uses, mem, c->n_uses, d);
  SW_ARENA_NEW(wanted, mem, c->n_steps, d);
  v->room = sw_arena_copy(mem, c->cap, (size_t)c->n_steps, sizeof *v->room, d);
  if (!v->room) return SW_E_RESOURCE;
  for (int32_t k = 0; k < c->n_uses; k++) {
    int32_t n = c->dom[c->uses[k].var];
    int64_t least = INT64_MAX, most = 0, *amount;
    SW_ARENA_NEW(amount, mem, n, d);
    for (int32_t a = 0; a < n; a++) least = sw_min_i64(least, c->uses[k].amount[a]);
    for (int32_t a = 0; a < n; a++) {
      amount[a] = c->uses[k].amount[a] - least;
      most = sw_max_i64(most, amount[a]);
    }
    for (int32_t t = c->uses[k].begin; t < c->uses[k].end; t++) {
      v->room[t] -= least;
      wanted[t] += most;
    }
    uses[k] = c->uses[k];
    uses[k].amount = amount;
  }
  v->uses = uses;
  v->looks = 2 * (int64_t)c->n_steps;
  return keep_tight_steps(v, wanted, uses, mem, d);
}

static bool take_room(dive *v, int32_t k, int32_t a) {
  bool fits = true;
  for (int32_t e = v->c->first_use[k]; e < v->c->first_use[k + 1]; e++) {
    const sel_usage *u = &v->uses[e];
    int64_t amount = u->amount[a];
    for (int32_t t = u->begin; amount && t < u->end; t++) fits &= (v->room[t] -= amount) >= 0;
    v->looks += amount ? 2 * (u->end - u->begin) : 0; /* and when it is given back */
  }
  return fits;
}

static void give_room(dive *v, int32_t k, int32_t a) {
  for (int32_t e = v->c->first_use[k]; e < v->c->first_use[k + 1]; e++) {
    const sel_usage *u = &v->uses[e];
    int64_t amount = u->amount[a];
    for (int32_t t = u->begin; amount && t < u->end; t++) v->room[t] += amount;
  }
}

/* guess[a] = least cost of a completion with value a of k; returns the exact cost of the tables to earlier ones in
 * `beside` (per value). */
static void judge_values(const dive *v, int32_t k, double so_far, double *guess, int64_t *beside) {
  const sel_dual *u = v->u;
  int32_t n = v->c->dom[k];
  const double *unary = u->pass.unary + u->offset[k];
  double known = so_far + v->rest[k + 1];
  for (int32_t e = u->first_arc[k]; e < u->mid_arc[k]; e++)
    known -= u->links[u->arcs[e].edge].to_i[v->x[u->arcs[e].other]];
  for (int32_t a = 0; a < n; a++) {
    guess[a] = unary[a] + known;
    beside[a] = v->c->cost[k][a];
  }
  for (int32_t e = u->first_arc[k]; e < u->mid_arc[k]; e++) {
    const sel_link *g = &u->links[u->arcs[e].edge];
    const int32_t s = v->x[g->i];
    const double *row = g->up + (int64_t)(g->class_i ? g->class_i[s] : s) * g->ld_j;
    const int64_t *exact = v->c->mats[u->arcs[e].edge].v + (int64_t)s * n;
    for (int32_t a = 0; a < n; a++) {
      guess[a] += row[g->class_j ? g->class_j[a] : a];
      beside[a] += exact[a];
    }
  }
  for (int32_t e = u->mid_arc[k]; e < u->first_arc[k + 1]; e++) {
    const double *m = u->links[u->arcs[e].edge].to_i;
    for (int32_t a = 0; a < n; a++) guess[a] += m[a];
  }
}

enum { MOST_DOM = 256 };

static void descend_dive(dive *v, int32_t k, double so_far, int64_t cost) {
  if (k == v->c->n) {
    if (cost >= v->best_cost) return;
    v->best_cost = cost;
    memcpy(v->best, v->x, (size_t)k * sizeof *v->x);
    return;
  }
  double *guess = v->guess + v->u->offset[k];
  int64_t beside[MOST_DOM];
  int32_t n = v->c->dom[k];
  judge_values(v, k, so_far, guess, beside);
  for (int32_t tries = 0; tries < n && v->nodes < v->most_nodes; tries++) {
    int32_t a = 0;
    for (int32_t s = 1; s < n; s++)
      if (guess[s] < guess[a]) a = s;
    if (!(guess[a] < (double)v->best_cost - 0.5)) return;
    double known = guess[a];
    guess[a] = INFINITY;
    v->nodes++;
    v->x[k] = a;
    if (take_room(v, k, a)) descend_dive(v, k + 1, known - v->rest[k + 1], cost + beside[a]);
    give_room(v, k, a);
  }
}

static sw_rc search_dive(sel_lns *l, sel_dual *u, const inner *w, dive *v, sw_diag *d) {
  *v = (dive){.u = u, .c = &w->c, .best_cost = w->now, .most_nodes = (int32_t)u->by->lns_choices};
  double bound = sel_dual_freeze(u), paid = -bound;
  SW_ARENA_NEW(v->rest, &l->mem, (size_t)w->c.n + 1, d);
  SW_ARENA_NEW(v->guess, &l->mem, u->n_flat, d);
  SW_ARENA_NEW_EACH(&l->mem, w->c.n, d, v->x, v->best);
  SW_TRY(free_uses(v, &l->mem, d));
  for (int32_t k = w->c.n - 1; k >= 0; k--) v->rest[k] = v->rest[k + 1] + u->pass.part[k];
  paid += v->rest[0];
  for (int32_t k = 0; k <= w->c.n; k++) v->rest[k] -= paid;
  descend_dive(v, 0, 0, 0);
  return SW_OK;
}

static bool too_wide(const inner *w) {
  for (int32_t k = 0; k < w->c.n; k++)
    if (w->c.dom[k] > MOST_DOM) return true;
  return false;
}

/* Bound, then search; the best choice found is applied when it is better. */
static sw_rc solve_inner(sel_lns *l, sel_state *s, const inner *w, sel_budget *b, bool *better, sw_diag *d) {
  sel_dual u;
  dive v = {0};
  sw_rc rc = sel_dual_init_part(&u, &w->c, b->parameters, l->links, w->pair, d);
  if (!rc) sel_spend(b, SETUP_PASSES * (2 * u.cells + u.n_flat + w->c.n_uses) + INT64_C(64) * w->c.n);
  if (rc || too_wide(w)) goto end;
  for (int32_t t = 0; t < w->c.n_steps; t++) u.memory.lambda[t] = w->lambda[t] * u.unit;
  double goal = (double)w->now - 0.5;
  int passes = 0;
  while (passes++ < u.by->lns_passes && u.best.bound < goal) sel_dual_pass(&u, (double)w->now);
  sel_spend(b, passes * (2 * u.cells + u.n_flat + w->c.n_uses));
  double grow = 1.02;
  if (u.best.bound < goal) {
    SW_TRY_TO(end, search_dive(l, &u, w, &v, d));
    sel_spend(b, (int64_t)v.nodes * 200 + v.looks);
    if (v.nodes >= v.most_nodes) grow = 0.97;
    if (v.best_cost < w->now) {
      for (int32_t k = 0; k < l->n_free; k++) sel_state_change(s, l->free[k], v.best[k]);
      *better = true;
    }
  }
  l->size = fmin(u.by->lns_most, fmax(LEAST_SIZE, l->size * grow));
end:
  sel_dual_deinit(&u);
  return rc;
}

sw_rc sel_lns_move(sel_lns *l, sel_state *s, sel_budget *b, bool *better, sw_diag *d) {
  inner w = {0};
  *better = false;
  sw_arena_reset(&l->mem);
  if (l->size < 1) l->size = sel_by(b)->lns_first;
  choose_freed(l, s->x, (int32_t)sw_min_i64((int64_t)(l->size * (0.7 + 0.6 * sw_rng_unit(&l->rng))), l->f->c->n));
  sw_rc rc = build_costs(l, s, &w, d);
  if (!rc) rc = build_pairs(l, s, &w, d);
  if (!rc) rc = build_uses(l, s, &w, d);
  if (!rc) rc = solve_inner(l, s, &w, b, better, d);
  release(l);
  return rc;
}
