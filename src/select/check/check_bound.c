/* The end of a certificate: prices and moved costs add up to a bound, or few combinations are tried one by one.
 *
 * Prices: a step's price times what is used there beyond the limit is never more than 0 in a solution, so it may be
 * added. Moves: what a table gives to its nodes it loses. Then nodes and tables each cost at least their least entry.
 */
#include <string.h>

#include "select/check/check.h"
#include "base/lists.h"

enum { BITS_MOST = 50, COMBINATIONS_MOST = 1 << 16, CELLS_MOST = 1 << 26, SCOPE_MOST = 40 };

static bool add_i128(sw_i128 *to, sw_i128 x) { return !__builtin_add_overflow(*to, x, to); }

chk_verdict chk_prices_init(const chk_state *s, chk_prices *p, int64_t move_bits, int64_t price_bits, sw_arena *mem,
                            sw_rc *rc) {
  if (move_bits < 0 || price_bits < move_bits || price_bits > BITS_MOST) return "expected 0 <= bits <= bits <= 50";
  *p = (chk_prices){.move_bits = (int)move_bits, .price_bits = (int)price_bits};
  p->price = sw_arena_alloc(mem, (size_t)s->n_steps + 1, sizeof *p->price, NULL);
  p->moved = sw_arena_alloc(mem, (size_t)s->n, sizeof *p->moved, NULL);
  p->done = sw_arena_alloc(mem, (size_t)s->n_edges, sizeof *p->done, NULL);
  *rc = p->price && p->moved && p->done ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; i < s->n && !*rc; i++)
    if (!s->nodes[i].gone && !(p->moved[i] = sw_arena_alloc(mem, (size_t)s->nodes[i].n, sizeof **p->moved, NULL)))
      *rc = SW_E_RESOURCE;
  return NULL;
}

chk_verdict chk_price(const chk_state *s, chk_prices *p, int64_t time, int64_t price) {
  int32_t t = chk_step(s, time);
  if (t < 0) return "no step that counts begins at this time";
  if (price < 0) return "the price is negative";
  p->price[t] = price;
  return NULL;
}

chk_verdict chk_move(const chk_state *s, chk_prices *p, int32_t i, int32_t j, const int64_t *from, size_t n) {
  int32_t e = chk_find(s, i, j);
  if (e < 0) return "there is no table between the two nodes";
  if (p->done[e]) return "costs of this table were moved before";
  const chk_node *x = &s->nodes[i], *y = &s->nodes[j];
  if (n != (size_t)chk_alive(x) + (size_t)chk_alive(y)) return "expected a number per choice left of both nodes";
  p->done[e] = true;
  const int64_t *next = from, *of_j = from + chk_alive(x);
  int up = p->price_bits - p->move_bits;
  sw_i128 least = (sw_i128)SW_FORBIDDEN << p->price_bits;
  for (int32_t a = 0; a < x->n; a++) {
    if (!x->alive[a]) continue;
    const int64_t *other = of_j;
    for (int32_t b = 0; b < y->n; b++) {
      if (!y->alive[b]) continue;
      int64_t c = *chk_cell(s, &s->edges[e], i, a, b);
      sw_i128 left = ((sw_i128)c << p->price_bits) - (((sw_i128)*next + *other++) * ((sw_i128)1 << up));
      if (!chk_forbidden(c) && left < least) least = left;
    }
    p->broken |= !add_i128(&p->moved[i][a], *next++);
  }
  for (int32_t b = 0; b < y->n; b++)
    if (y->alive[b]) p->broken |= !add_i128(&p->moved[j][b], *of_j++);
  p->broken |= !add_i128(&p->tables, least);
  return NULL;
}

/* Least of a node's costs with prices and moves; prefix[t] = sum of the prices before step t. */
static bool node_least(const chk_state *s, const chk_prices *p, const sw_i128 *prefix, int32_t i, sw_i128 *least) {
  const chk_node *x = &s->nodes[i];
  sw_i128 unit = (sw_i128)1 << (p->price_bits - p->move_bits);
  bool first = true;
  for (int32_t a = 0; a < x->n; a++) {
    if (!x->alive[a]) continue;
    sw_i128 sum = (sw_i128)x->cost[a] << p->price_bits, part;
    if (__builtin_mul_overflow(p->moved[i][a], unit, &part) || !add_i128(&sum, part)) return false;
    for (int32_t k = 0; k < x->n_spans; k++) {
      const chk_span *u = &x->spans[k];
      if (__builtin_mul_overflow(prefix[u->end] - prefix[u->begin], (sw_i128)u->amount[a], &part) ||
          !add_i128(&sum, part))
        return false;
    }
    if (first || sum < *least) *least = sum;
    first = false;
  }
  return true;
}

chk_verdict chk_sum(const chk_state *s, chk_prices *p, sw_arena *mem, sw_i128 *bound, sw_rc *rc) {
  sw_i128 *prefix = sw_arena_alloc(mem, (size_t)s->n_steps + 1, sizeof *prefix, NULL), total = p->tables, used = 0;
  if (!prefix) return *rc = SW_E_RESOURCE, NULL;
  bool fine = !p->broken;
  for (int32_t t = 0; t < s->n_steps; t++) {
    sw_i128 paid;
    used += s->fixed[t];
    prefix[t + 1] = prefix[t] + p->price[t];
    fine = fine && !__builtin_mul_overflow(used - s->limit, (sw_i128)p->price[t], &paid) && add_i128(&total, paid);
  }
  for (int32_t i = 0; i < s->n && fine; i++) {
    sw_i128 least = 0;
    if (s->nodes[i].gone) continue;
    fine = node_least(s, p, prefix, i, &least) && add_i128(&total, least);
  }
  if (!fine) return "the numbers are too large to add up";
  *bound = s->offset - (-total >> p->price_bits); /* rounded up: costs are whole */
  return NULL;
}

/* Whether the choice breaks the limit at some step that counts. */
static bool breaks_limit(const chk_state *s, const int32_t *x, sw_i128 *use) {
  memcpy(use, s->fixed, ((size_t)s->n_steps + 1) * sizeof *use);
  for (int32_t i = 0; i < s->n; i++)
    for (int32_t k = 0; k < s->nodes[i].n_spans && !s->nodes[i].gone; k++) {
      const chk_span *u = &s->nodes[i].spans[k];
      use[u->begin] += u->amount[x[i]];
      use[u->end] -= u->amount[x[i]];
    }
  sw_i128 now = 0;
  for (int32_t t = 0; t < s->n_steps; t++) {
    now += use[t];
    if (s->kept[t] && now > s->limit) return true;
  }
  return false;
}

static sw_i128 cost_of(const chk_state *s, const int32_t *x) {
  sw_i128 sum = s->offset;
  for (int32_t i = 0; i < s->n; i++)
    if (!s->nodes[i].gone) sum += s->nodes[i].cost[x[i]];
  for (int32_t e = 0; e < s->n_edges; e++)
    if (!s->edges[e].gone) sum += *chk_cell(s, &s->edges[e], s->edges[e].i, x[s->edges[e].i], x[s->edges[e].j]);
  return sum;
}

/* The next combination of choices that are left; false after the last. */
static bool next_choices(const chk_state *s, int32_t *x) {
  for (int32_t i = 0; i < s->n; i++) {
    const chk_node *v = &s->nodes[i];
    if (v->gone) continue;
    for (x[i]++; x[i] < v->n && !v->alive[x[i]];) x[i]++;
    if (x[i] < v->n) return true;
    for (x[i] = 0; !v->alive[x[i]];) x[i]++;
  }
  return false;
}

chk_verdict chk_enumerate(chk_state *s, int64_t bound, sw_rc *rc) {
  int64_t all = 1;
  int32_t *x = sw_arena_alloc(&s->mem, (size_t)s->n, sizeof *x, NULL);
  sw_i128 *use = sw_arena_alloc(&s->mem, (size_t)s->n_steps + 1, sizeof *use, NULL);
  if (!x || !use) return *rc = SW_E_RESOURCE, NULL;
  for (int32_t i = 0; i < s->n; i++) {
    const chk_node *v = &s->nodes[i];
    if (v->gone) continue;
    int32_t alive = chk_alive(v);
    if (alive == 0) return NULL;
    if ((all *= alive) > COMBINATIONS_MOST) return "too many combinations are left";
    while (!v->alive[x[i]]) x[i]++;
  }
  do
    if (cost_of(s, x) < bound && !breaks_limit(s, x, use)) return "a combination costs less than the bound";
  while (next_choices(s, x));
  return NULL;
}

/* --- elimination, without memory --- */

typedef struct factor {
  struct factor *next;
  int32_t n;
  int32_t scope[SCOPE_MOST];
  int64_t *v; /* the last of the scope is the fastest */
} factor;

typedef struct eliminator {
  const chk_state *s;
  sw_arena mem;
  factor *open;
  int32_t *n_left; /* choices left, per node */
  int32_t *at;     /* the place of a node among those left, in the combination looked at */
  int64_t cells;
} eliminator;

static int64_t look_up(const eliminator *k, const factor *f) {
  int64_t at = 0;
  for (int32_t a = 0; a < f->n; a++) at = at * k->n_left[f->scope[a]] + k->at[f->scope[a]];
  return f->v[at];
}

static bool holds(const factor *f, int32_t v) { return sw_list_has_i32(f->scope, f->n, v); }

static factor *new_factor(eliminator *k, const int32_t *scope, int32_t n) {
  factor *f = sw_arena_alloc(&k->mem, 1, sizeof *f, NULL);
  int64_t cells = 1;
  for (int32_t a = 0; a < n; a++)
    if ((cells *= k->n_left[scope[a]]) > CELLS_MOST) return NULL;
  if (!f || (k->cells += cells) > CELLS_MOST || !(f->v = sw_arena_alloc(&k->mem, (size_t)cells, sizeof *f->v, NULL)))
    return NULL;
  f->n = n;
  if (n) memcpy(f->scope, scope, (size_t)n * sizeof *scope);
  return f;
}

/* Factors of the nodes' and tables' costs, over the choices that are left. */
static bool open_factors(eliminator *k) {
  const chk_state *s = k->s;
  for (int32_t i = 0; i < s->n; i++) {
    if (s->nodes[i].gone) continue;
    factor *f = new_factor(k, &i, 1);
    if (!f) return false;
    for (int32_t a = 0, c = 0; a < s->nodes[i].n; a++)
      if (s->nodes[i].alive[a]) f->v[c++] = s->nodes[i].cost[a];
    f->next = k->open;
    k->open = f;
  }
  for (int32_t e = 0; e < s->n_edges; e++) {
    const chk_edge *g = &s->edges[e];
    if (g->gone) continue;
    factor *f = new_factor(k, (int32_t[]){g->i, g->j}, 2);
    if (!f) return false;
    int64_t c = 0;
    for (int32_t a = 0; a < s->nodes[g->i].n; a++)
      for (int32_t b = 0; b < s->nodes[g->j].n; b++)
        if (s->nodes[g->i].alive[a] && s->nodes[g->j].alive[b]) f->v[c++] = *chk_cell(s, g, g->i, a, b);
    f->next = k->open;
    k->open = f;
  }
  return true;
}

/* Replace the factors that hold v by one over the rest of their scopes. */
static bool eliminate_one(eliminator *k, int32_t v) {
  factor *mine = NULL, **link = &k->open;
  int32_t scope[SCOPE_MOST], n = 0;
  while (*link) {
    factor *f = *link;
    if (!holds(f, v)) {
      link = &f->next;
      continue;
    }
    *link = f->next;
    f->next = mine;
    mine = f;
    for (int32_t a = 0; a < f->n; a++) {
      int32_t b = 0;
      while (b < n && scope[b] != f->scope[a]) b++;
      if (b < n || f->scope[a] == v) continue;
      if (n == SCOPE_MOST) return false;
      scope[n++] = f->scope[a];
    }
  }
  factor *out = new_factor(k, scope, n);
  if (!out) return false;
  for (int32_t a = 0; a < n; a++) k->at[scope[a]] = 0;
  for (int64_t c = 0;; c++) {
    int64_t best = SW_FORBIDDEN;
    for (k->at[v] = 0; k->at[v] < k->n_left[v]; k->at[v]++) {
      int64_t sum = 0;
      for (const factor *f = mine; f && sum < SW_FORBIDDEN; f = f->next) sum = sw_cost_add(sum, look_up(k, f));
      best = sw_min_i64(best, sum);
    }
    out->v[c] = best;
    int32_t a = n - 1;
    for (; a >= 0 && ++k->at[scope[a]] == k->n_left[scope[a]]; a--) k->at[scope[a]] = 0;
    if (a < 0) break;
  }
  out->next = k->open;
  k->open = out;
  return true;
}

static chk_verdict run_elimination(eliminator *k, const int32_t *order, int32_t n, int64_t bound) {
  const chk_state *s = k->s;
  for (int32_t i = 0; i < s->n; i++)
    if (!s->nodes[i].gone && (k->n_left[i] = chk_alive(&s->nodes[i])) == 0) return NULL;
  if (!open_factors(k)) return "the tables are too large";
  for (int32_t a = 0; a < n; a++) {
    if (order[a] < 0 || order[a] >= s->n || s->nodes[order[a]].gone || k->n_left[order[a]] < 0)
      return "the order names a node that is not left";
    if (!eliminate_one(k, order[a])) return "the tables of this order are too large";
    k->n_left[order[a]] = -1;
  }
  sw_i128 sum = s->offset;
  for (const factor *f = k->open; f; f = f->next) {
    if (f->n) return "the order does not name every node that is left";
    sum += f->v[0];
  }
  return sum >= bound ? NULL : "the least cost is below the bound";
}

chk_verdict chk_eliminate(chk_state *s, const int32_t *order, int32_t n, int64_t bound, sw_rc *rc) {
  eliminator k = {.s = s};
  k.n_left = sw_arena_alloc(&k.mem, (size_t)s->n, sizeof *k.n_left, NULL);
  k.at = sw_arena_alloc(&k.mem, (size_t)s->n, sizeof *k.at, NULL);
  chk_verdict wrong = NULL;
  if (!k.n_left || !k.at)
    *rc = SW_E_RESOURCE;
  else
    wrong = run_elimination(&k, order, n, bound);
  sw_arena_deinit(&k.mem);
  return wrong;
}
