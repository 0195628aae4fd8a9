/* First choices: one sweep in the order of the variables, in which each takes what is cheapest with those before it,
 * then sweeps back and forth, in which each takes what is cheapest with all its neighbours, while that helps. When the
 * result holds too much, sweeps again with a price on what is held, four times as high every time. A choice to start
 * from that holds too much is taken through the latter as well.
 *
 * Variables come in the order of the graph, so that the first sweep follows the data.
 */
#include "select/search/first.h"

#include <string.h>

enum { MOST_PRICES = 8, FEW = 200 };

typedef struct sweeper {
  sel_run *r;
  const sel_core *c;
  double price;        /* of a unit of use */
  bool crowded;        /* without a price the limit is passed by far */
  int32_t *x;          /* -1: not chosen yet */
  int32_t *first, *at; /* pairs of variable i: at[first[i] .. first[i + 1]] */
  double *score;       /* of the choices of one variable */
} sweeper;

static sw_rc index_pairs(sweeper *s, sw_arena *mem, sw_diag *d) {
  const sel_core *c = s->c;
  int32_t widest = 1;
  for (int32_t i = 0; i < c->n; i++) widest = c->dom[i] > widest ? c->dom[i] : widest;
  SW_ARENA_NEW(s->x, mem, (size_t)c->n + 1, d);
  SW_ARENA_NEW(s->first, mem, (size_t)c->n + 2, d);
  SW_ARENA_NEW(s->at, mem, 2 * (size_t)c->n_pairs + 1, d);
  SW_ARENA_NEW(s->score, mem, (size_t)widest, d);
  for (int32_t p = 0; p < c->n_pairs; p++) {
    s->first[c->pairs[p].i + 2]++;
    s->first[c->pairs[p].j + 2]++;
  }
  for (int32_t i = 2; i <= c->n; i++) s->first[i] += s->first[i - 1];
  for (int32_t p = 0; p < c->n_pairs; p++) {
    s->at[s->first[c->pairs[p].i + 1]++] = p;
    s->at[s->first[c->pairs[p].j + 1]++] = p;
  }
  return SW_OK;
}

static void add_pair_scores(sweeper *s, const sel_pair *p, int32_t i) {
  const sel_mat *m = &s->c->mats[p->mat];
  int32_t other = s->x[p->i == i ? p->j : p->i];
  if (other < 0) return;
  const int64_t *from = p->i == i ? m->v + other : m->v + (int64_t)other * m->cols, step = p->i == i ? m->cols : 1;
  for (int32_t k = 0; k < s->c->dom[i]; k++) s->score[k] += (double)from[k * step];
  sel_spend(&s->r->budget, s->c->dom[i]);
}

/* Take the cheapest for variable i; whether that is another than before. */
static bool choose(sweeper *s, int32_t i) {
  const sel_core *c = s->c;
  for (int32_t k = 0; k < c->dom[i]; k++) s->score[k] = (double)c->cost[i][k];
  for (int32_t u = c->first_use[i]; s->price > 0 && u < c->first_use[i + 1]; u++) {
    for (int32_t k = 0; k < c->dom[i]; k++) s->score[k] += s->price * (double)c->uses[u].amount[k];
  }
  for (int32_t p = s->first[i]; p < s->first[i + 1]; p++) add_pair_scores(s, &c->pairs[s->at[p]], i);
  int32_t best = s->x[i] >= 0 ? s->x[i] : 0;
  for (int32_t k = 0; k < c->dom[i]; k++) best = s->score[k] < s->score[best] ? k : best;
  bool changed = best != s->x[i];
  s->x[i] = best;
  return changed;
}

static void sweep_all(sweeper *s) {
  int32_t n = s->c->n;
  for (int sweep = 0; sweep <= sel_by(&s->r->budget)->first_sweeps; sweep++) {
    int32_t changed = 0;
    for (int32_t k = 0; k < n; k++) changed += choose(s, sweep % 2 ? n - 1 - k : k);
    if (changed <= n / FEW || sel_stop(&s->r->budget)) return;
  }
}

/* A small part of what the choices cost by themselves for each unit that they hold. */
static double first_price(const sweeper *s) {
  const sel_core *c = s->c;
  double cost = 0, held = 1;
  for (int32_t i = 0; i < c->n; i++) cost += (double)c->cost[i][s->x[i]];
  for (int32_t u = 0; u < c->n_uses; u++) held += (double)c->uses[u].amount[s->x[c->uses[u].var]];
  return cost / held / 16;
}

/* From the choices at hand, for more and more a unit, until what is held fits. */
static sw_rc sweep_until_it_fits(sweeper *s, int64_t *used, sw_diag *d) {
  sel_run *r = s->r;
  for (int k = 0; k < MOST_PRICES; k++) {
    sweep_all(s);
    SW_TRY(sel_offer(r, s->x, "native", NULL, d));
    bool fits = sel_core_usage(s->c, s->x, used);
    if (s->price == 0) s->crowded = !fits;
    if (fits || sel_stop(&r->budget)) break;
    s->price = s->price > 0 ? 4 * s->price : first_price(s);
  }
  return SW_OK;
}

sw_rc sel_first_choices(sel_run *r, const sel_core *whole, bool *crowded, sw_diag *d) {
  *crowded = false;
  if (r->has) return SW_OK; /* there is one: the caller's */
  sw_arena mem = {0};
  sweeper s = {.r = r, .c = whole};
  int64_t *used = sw_arena_alloc(&mem, (size_t)whole->n_steps + 1, sizeof *used, d);
  sw_rc rc = used ? index_pairs(&s, &mem, d) : SW_E_RESOURCE;
  if (!rc) memset(s.x, 0xff, (size_t)whole->n * sizeof *s.x);
  if (!rc) rc = sweep_until_it_fits(&s, used, d);
  if (!rc && r->warm && !sel_core_usage(whole, r->warm, used) && !sel_stop(&r->budget)) {
    memcpy(s.x, r->warm, (size_t)whole->n * sizeof *s.x);
    s.price = first_price(&s);
    rc = sweep_until_it_fits(&s, used, d);
  }
  *crowded = s.crowded;
  sw_arena_deinit(&mem);
  return rc;
}
