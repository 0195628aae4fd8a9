#include "select/bound/warm_start.h"

#include <math.h>

#include "select/proof.h"
#include "base/hash.h"

static int32_t name_of(const sel_model *m, int32_t k) { return sel_name_var(m, m->alive.of[k]); }

/* Messages to one end of a link, by the names of its values. */
typedef struct side {
  int32_t n;
  const int64_t *choice;
  const double *message;
} side;

/* to[s] for the values that were known; `at` [every choice of the node] is scratch and stays -1. */
static void copy_known(const sel_model *m, int32_t k, const side *from, int32_t *at, double *to) {
  int32_t v = m->alive.of[k];
  for (int32_t a = 0; a < from->n; a++)
    if (from->choice[a] >= 0 && from->choice[a] < m->vars[v].n0) at[from->choice[a]] = a;
  for (int32_t s = 0; s < m->vars[v].n; s++) {
    int32_t a = at[m->vars[v].id[s]];
    if (a >= 0) to[s] = from->message[a];
  }
  for (int32_t a = 0; a < from->n; a++)
    if (from->choice[a] >= 0 && from->choice[a] < m->vars[v].n0) at[from->choice[a]] = -1;
}

static sw_rc index_links(const sw_solve_state *from, sw_dict *links, sw_diag *d) {
  for (int32_t e = 0; e < from->n_links; e++) {
    int64_t *slot;
    bool fresh;
    SW_TRY(sw_dict_put(links, from->links[e].node, sizeof from->links[e].node, e, &slot, &fresh, d));
  }
  return SW_OK;
}

static sw_rc take_messages(sel_dual *u, const sel_model *m, const sw_solve_state *from, const sw_dict *links, bool *any,
                           sw_diag *d) {
  int32_t *at, most = 1;
  for (int32_t k = 0; k < u->c->n; k++) most = m->vars[m->alive.of[k]].n0 > most ? m->vars[m->alive.of[k]].n0 : most;
  SW_ARENA_NEW(at, &u->mem, most, d);
  for (int32_t a = 0; a < most; a++) at[a] = -1;
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    sel_link *l = &u->links[e];
    bool turned = name_of(m, l->i) > name_of(m, l->j);
    int32_t end[2] = {turned ? l->j : l->i, turned ? l->i : l->j};
    double *to[2] = {turned ? l->to_j : l->to_i, turned ? l->to_i : l->to_j};
    int64_t key[2] = {name_of(m, end[0]), name_of(m, end[1])};
    int64_t *known = sw_dict_get(links, key, sizeof key);
    if (!known) continue;
    const sw_dual_link *o = &from->links[*known];
    for (int k = 0; k < 2; k++) copy_known(m, end[k], &(side){o->n[k], o->choice[k], o->message[k]}, at, to[k]);
    *any = true;
  }
  return SW_OK;
}

/* A price goes to the step that is nearest among those that count now. */
static void take_prices(sel_dual *u, const sel_model *m, const sw_solve_state *from) {
  int32_t t = 0;
  for (int32_t k = 0; k < from->n_prices && u->c->n_steps; k++) {
    while (t + 1 < u->c->n_steps && sel_name_time(m, t + 1) <= from->time[k]) t++;
    u->memory.lambda[t] += from->price[k] * u->unit;
  }
}

sw_rc sel_warm_start_take(sel_dual *u, const sel_model *m, const sw_solve_state *from, bool *any, sw_diag *d) {
  sw_dict links = {0};
  *any = false;
  sw_rc rc = index_links(from, &links, d);
  if (!rc) rc = take_messages(u, m, from, &links, any, d);
  if (!rc && *any) take_prices(u, m, from);
  sw_dict_deinit(&links);
  return rc;
}

/* `names`: by variable, those of its values, for all of its links. */
static sw_rc give_side(const sel_dual *u, const sel_model *m, int32_t k, const double *at, int64_t **names,
                       double **message, sw_arena *arena, sw_diag *d) {
  int32_t n = u->c->dom[k];
  *message = sw_arena_copy(arena, u->best.messages + (at - u->messages), (size_t)n, sizeof **message, d);
  if (!*message) return SW_E_RESOURCE;
  if (names[k]) return SW_OK;
  SW_ARENA_NEW(names[k], arena, n, d);
  for (int32_t s = 0; s < n; s++) names[k][s] = sel_name_value(m, m->alive.of[k], s);
  return SW_OK;
}

sw_rc sel_warm_start_give(const sel_dual *u, const sel_model *m, sw_arena *arena, sw_solve_state *to, sw_diag *d) {
  const sel_core *c = u->c;
  int64_t **names;
  to->n_links = to->n_prices = 0;
  if (!(u->best.bound > -INFINITY)) return SW_OK;
  SW_ARENA_NEW(to->links, arena, c->n_pairs, d);
  SW_ARENA_NEW_EACH(arena, c->n_steps, d, to->time, to->price);
  SW_ARENA_NEW(names, arena, c->n, d);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_link *l = &u->links[e];
    sw_dual_link *o = &to->links[to->n_links++];
    bool turned = name_of(m, l->i) > name_of(m, l->j);
    int32_t end[2] = {turned ? l->j : l->i, turned ? l->i : l->j};
    const double *at[2] = {turned ? l->to_j : l->to_i, turned ? l->to_i : l->to_j};
    *o = (sw_dual_link){.node = {name_of(m, end[0]), name_of(m, end[1])}, .n = {c->dom[end[0]], c->dom[end[1]]}};
    for (int k = 0; k < 2; k++) {
      SW_TRY(give_side(u, m, end[k], at[k], names, &o->message[k], arena, d));
      o->choice[k] = names[end[k]];
    }
  }
  for (int32_t t = 0; t < c->n_steps; t++) {
    if (u->best.lambda[t] <= 0) continue;
    to->time[to->n_prices] = sel_name_time(m, t);
    to->price[to->n_prices++] = u->best.lambda[t] / u->unit;
  }
  return SW_OK;
}
