/* What is known of a problem, from one refinement to the next.
 *
 * Nodes of arguments, ops and outputs keep their numbers, and so do their choices. A hub is named by its value and its
 * number there, its choices by what the producer gives and which copies are made; a copy that the hub gets later adds
 * choices and changes no name.
 */
#include "base/hash.h"

#include "strategy/selection_data.h"

enum { MOST_HUBS = 4096, FROM_SHIFT = 32 };

/* The hubs of the problem as it is. */
typedef struct hubs {
  const sw_selection *s;
  int32_t n_plain, n_nodes;
  int32_t *value_of, *place_of; /* of the nodes that are hubs: the value, and which of its hubs */
  sw_dict rows;                 /* pattern, hub, choice by name -> choice */
  bool *listed;                 /* patterns whose hubs are in `rows` */
} hubs;

typedef struct row_key {
  int64_t hub, choice;
} row_key;

static sw_rc find_hubs(hubs *k, const sw_selection *s, sw_arena *mem, sw_diag *d) {
  *k = (hubs){.s = s, .n_plain = s->units.n, .n_nodes = (int32_t)s->nodes.n};
  SW_ARENA_NEW(k->value_of, mem, k->n_nodes, d);
  SW_ARENA_NEW(k->place_of, mem, k->n_nodes, d);
  SW_ARENA_NEW(k->listed, mem, s->patterns.n, d);
  for (size_t v = 0; v < s->values.n; v++) {
    const sw_read_value *value = &s->values.at[v];
    if (value->hub < 0) continue;
    for (size_t h = 0; h < s->patterns.at[value->pattern].hubs.n; h++) {
      k->value_of[value->hub + (int32_t)h] = (int32_t)v;
      k->place_of[value->hub + (int32_t)h] = (int32_t)h;
    }
  }
  return SW_OK;
}

static int64_t name_of_row(const sw_source *row) { return ((int64_t)row->from << FROM_SHIFT) | row->made; }

static const sw_hub *hub_of(const hubs *k, int64_t node) {
  const sw_read_value *value = &k->s->values.at[k->value_of[node]];
  return &k->s->patterns.at[value->pattern].hubs.at[k->place_of[node]];
}

/* The names of a node and of its choices, in place. */
static void name_side(const hubs *k, int64_t *node, int32_t n, int64_t *choice) {
  if (*node < k->n_plain) return;
  const sw_hub *h = hub_of(k, *node);
  for (int32_t a = 0; a < n; a++) choice[a] = name_of_row(&h->rows[choice[a]]);
  *node = k->n_plain + (int64_t)k->value_of[*node] * MOST_HUBS + k->place_of[*node];
}

static sw_rc list_rows(hubs *k, int32_t pattern, sw_diag *d) {
  const sw_pattern *p = &k->s->patterns.at[pattern];
  if (k->listed[pattern]) return SW_OK;
  k->listed[pattern] = true;
  for (size_t h = 0; h < p->hubs.n; h++) {
    for (int32_t r = 0; r < p->hubs.at[h].n_rows; r++) {
      row_key key = {(int64_t)pattern * MOST_HUBS + (int64_t)h, name_of_row(&p->hubs.at[h].rows[r])};
      int64_t *slot;
      bool fresh;
      SW_TRY(sw_dict_put(&k->rows, &key, sizeof key, r, &slot, &fresh, d));
    }
  }
  return SW_OK;
}

/* A node by its name, and its choices, -1 for those that there are not. *known: there is such a node. */
static sw_rc find_side(hubs *k, int64_t *node, int32_t n, int64_t *choice, bool *known, sw_diag *d) {
  *known = *node >= 0 && *node < k->n_plain;
  if (*node < k->n_plain) return SW_OK;
  int64_t v = (*node - k->n_plain) / MOST_HUBS, h = (*node - k->n_plain) % MOST_HUBS;
  if (v >= (int64_t)k->s->values.n) return SW_OK;
  const sw_read_value *value = &k->s->values.at[v];
  *known = value->hub >= 0 && h < (int64_t)k->s->patterns.at[value->pattern].hubs.n;
  if (!*known) return SW_OK;
  *node = value->hub + h;
  SW_TRY(list_rows(k, value->pattern, d));
  for (int32_t a = 0; a < n; a++) {
    row_key key = {(int64_t)value->pattern * MOST_HUBS + h, choice[a]};
    const int64_t *row = sw_dict_get(&k->rows, &key, sizeof key);
    choice[a] = row ? *row : -1;
  }
  return SW_OK;
}

/* Links of one's own, whose nodes and choices may change; messages and prices are borrowed. */
static sw_rc copy_links(const sw_solve_state *from, sw_arena *arena, sw_solve_state *to, sw_diag *d) {
  *to = *from;
  SW_ARENA_NEW(to->links, arena, from->n_links, d);
  for (int32_t e = 0; e < from->n_links; e++) {
    to->links[e] = from->links[e];
    for (int side = 0; side < 2; side++) {
      size_t n = (size_t)from->links[e].n[side];
      to->links[e].choice[side] = sw_arena_copy(arena, from->links[e].choice[side], n, sizeof(int64_t), d);
      if (n && !to->links[e].choice[side]) return SW_E_RESOURCE;
    }
  }
  return SW_OK;
}

sw_rc sw_selection_keep(const sw_selection *s, const sw_solve_state *state, sw_arena *arena, sw_solve_state *kept,
                        sw_diag *d) {
  hubs k;
  SW_TRY(copy_links(state, arena, kept, d));
  SW_TRY(find_hubs(&k, s, arena, d));
  for (int32_t e = 0; e < kept->n_links; e++) {
    sw_dual_link *l = &kept->links[e];
    for (int side = 0; side < 2; side++) name_side(&k, &l->node[side], l->n[side], l->choice[side]);
  }
  return SW_OK;
}

static void swap_ends(sw_dual_link *l) {
  *l = (sw_dual_link){.node = {l->node[1], l->node[0]},
                      .n = {l->n[1], l->n[0]},
                      .choice = {l->choice[1], l->choice[0]},
                      .message = {l->message[1], l->message[0]}};
}

static sw_rc find_links(hubs *k, sw_solve_state *state, sw_diag *d) {
  int32_t n = 0;
  for (int32_t e = 0; e < state->n_links; e++) {
    sw_dual_link l = state->links[e];
    bool known[2];
    for (int side = 0; side < 2; side++)
      SW_TRY(find_side(k, &l.node[side], l.n[side], l.choice[side], &known[side], d));
    if (!known[0] || !known[1]) continue;
    if (l.node[0] > l.node[1]) swap_ends(&l);
    state->links[n++] = l;
  }
  state->n_links = n;
  return SW_OK;
}

sw_rc sw_selection_recall(const sw_selection *s, const sw_solve_state *kept, sw_arena *arena, sw_solve_state *state,
                          sw_diag *d) {
  hubs k;
  SW_TRY(copy_links(kept, arena, state, d));
  SW_TRY(find_hubs(&k, s, arena, d));
  sw_rc rc = find_links(&k, state, d);
  sw_dict_deinit(&k.rows);
  if (rc) return rc;
  state->n_nodes = (int32_t)s->nodes.n;
  int32_t *choice;
  SW_ARENA_NEW(choice, arena, state->n_nodes, d);
  state->choice = choice;
  return sw_selection_complete(s, kept->choice, choice, d);
}
