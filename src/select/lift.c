/* Finding what is alike in a core, and passes of the dual over one of each kind. */
#include "select/lift.h"

#include <math.h>
#include <string.h>

#include "shardwright/alike.h"
#include "shardwright/hash.h"

static uint64_t colour_of(const sel_core *c, int32_t i) {
  size_t n = (size_t)c->dom[i];
  uint64_t h = sw_hash_u64(sw_hash_quick(c->cost[i], n * sizeof **c->cost), (uint64_t)n);
  for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
    h = sw_hash_u64(h, sw_hash_quick(c->uses[k].amount, n * sizeof *c->uses[k].amount));
  return h;
}

/* A hash may err; what passes rely on is that those who are alike have as much of everything. */
static bool are_alike(const sel_core *c, int32_t i, int32_t j) {
  return c->dom[i] == c->dom[j] && c->first_use[i + 1] - c->first_use[i] == c->first_use[j + 1] - c->first_use[j];
}

static bool are_alike_links(const sel_dual *u, int32_t e, int32_t f) {
  return u->c->pairs[e].mat == u->c->pairs[f].mat && u->links[e].up == u->links[f].up;
}

/* *kinds: of variables. */
static sw_rc find_alike(sel_dual *u, int32_t *kinds, sw_diag *d) {
  enum { ROUNDS = 8 };
  const sel_core *c = u->c;
  uint64_t *colour;
  sw_alike_link *links;
  SW_ARENA_NEW(colour, &u->mem, c->n, d);
  SW_ARENA_NEW(links, &u->mem, c->n_pairs, d);
  SW_ARENA_NEW(u->like, &u->mem, c->n, d);
  SW_ARENA_NEW(u->alike, &u->mem, c->n, d);
  SW_ARENA_NEW(u->like_link, &u->mem, c->n_pairs, d);
  for (int32_t i = 0; i < c->n; i++) colour[i] = colour_of(c, i);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_link *l = &u->links[e];
    bool forward = l->i == c->pairs[e].i;
    links[e] = (sw_alike_link){{l->i, l->j}, 2 * (uint64_t)c->pairs[e].mat + forward};
  }
  SW_TRY(sw_alike(c->n, colour, c->n_pairs, links, ROUNDS, u->like, u->like_link, d));
  *kinds = 0;
  for (int32_t i = 0; i < c->n; i++) {
    if (!are_alike(c, i, u->like[i])) u->like[i] = i;
    *kinds += u->alike[u->like[i]]++ == 0;
  }
  for (int32_t e = 0; e < c->n_pairs; e++)
    if (!are_alike_links(u, e, u->like_link[e])) u->like_link[e] = e;
  return SW_OK;
}

/* Links that are alike have their messages in one place. */
static void lift(sel_dual *u) {
  u->lifted = true;
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    u->links[e].to_i = u->links[u->like_link[e]].to_i;
    u->links[e].to_j = u->links[u->like_link[e]].to_j;
  }
}

/* Each link has its own messages again: those of its kind. */
static void lower(sel_dual *u) {
  u->lifted = false;
  sel_dual_place_messages(u);
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    const sel_link *l = &u->links[e], *first = &u->links[u->like_link[e]];
    if (l == first) continue;
    memcpy(l->to_i, first->to_i, (size_t)u->c->dom[l->i] * sizeof *l->to_i);
    memcpy(l->to_j, first->to_j, (size_t)u->c->dom[l->j] * sizeof *l->to_j);
  }
}

sw_rc sel_dual_ascend_lifted(sel_dual *u, double target, sel_budget *b, int64_t *passes, sw_diag *d) {
  enum { FEWEST = 4, QUIET = 40 }; /* of one kind, on average; passes with no gain to speak of */
  const double kGain = 2e-4, kFactor = 0.3, first_factor = u->factor;
  int32_t kinds;
  *passes = 0;
  SW_TRY(find_alike(u, &kinds, d));
  if (kinds == 0 || kinds > u->c->n / FEWEST) return SW_OK;
  int64_t work = (2 * u->cells + u->n_flat) / (u->c->n / kinds) + u->c->n_uses;
  double before = 0;
  u->best_bound = -INFINITY;
  lift(u);
  for (int quiet = 0; quiet < QUIET && u->best_bound < target && !sel_stop(b); ++*passes) {
    sel_dual_pass(u, target);
    sel_spend(b, work);
    quiet = u->best_bound > before + kGain * fabs(before) ? 0 : quiet + 1;
    if (quiet == 0) before = u->best_bound;
  }
  sel_dual_rewind(u);
  lower(u);
  u->factor = kFactor * first_factor;
  u->stale = 0;
  u->best_bound = -INFINITY;
  return SW_OK;
}
