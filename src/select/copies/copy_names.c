/* What is known of a relaxation, from one refinement to the next.
 *
 * Nodes of the problem keep their numbers, and so do their choices. A copy node is named by its group and its number
 * there, its choices by the maker's class and which copies are made; a layout that the node gets later adds choices and
 * changes no name. A life node is named likewise, and stays as it is.
 */
#include <assert.h>

#include "base/hash.h"

#include "select/copies/copies.h"

enum { MOST_NODES = 1 << 16, FIRST_LIFE = MOST_NODES / 2, FROM_SHIFT = 32 };

/* The copy nodes of the relaxation as it is. */
typedef struct names {
  const sw_relaxation *r;
  int32_t n_plain;
  int32_t *group_of, *place_of; /* of copy nodes: the group, and which of its nodes */
  sw_dict rows;                 /* pattern, node, choice by name -> choice */
  bool *listed;                 /* patterns whose nodes are in `rows` */
} names;

typedef struct row_key {
  int64_t node, choice;
} row_key;

static sw_rc find_nodes(names *k, const sw_relaxation *r, sw_arena *mem, sw_diag *d) {
  *k = (names){.r = r, .n_plain = r->p->n_nodes};
  SW_ARENA_NEW_EACH(mem, r->nodes.n, d, k->group_of, k->place_of);
  SW_ARENA_NEW(k->listed, mem, r->patterns.n, d);
  for (int32_t g = 0; g < r->p->n_copies; g++) {
    for (int32_t h = 0; h < sel_life_nodes(r, g); h++) {
      k->group_of[r->life_at[g] + h] = g;
      k->place_of[r->life_at[g] + h] = FIRST_LIFE + h;
    }
    if (r->node_at[g] < 0) continue;
    for (size_t h = 0; h < r->patterns.at[r->pattern_of[g]].nodes.n; h++) {
      k->group_of[r->node_at[g] + (int32_t)h] = g;
      k->place_of[r->node_at[g] + (int32_t)h] = (int32_t)h;
    }
  }
  return SW_OK;
}

static int64_t name_of_row(const sel_copy_row *row) { return ((int64_t)row->from << FROM_SHIFT) | row->made; }

/* The names of a node and of its choices, in place. */
static void name_side(const names *k, int64_t *node, int32_t n, int64_t *choice) {
  if (*node < k->n_plain) return;
  const int32_t group = k->group_of[*node], place = k->place_of[*node];
  const sel_copy_node *nodes = k->r->patterns.at[k->r->pattern_of[group]].nodes.at;
  for (int32_t a = 0; a < n && place < FIRST_LIFE; a++) choice[a] = name_of_row(&nodes[place].rows[choice[a]]);
  *node = k->n_plain + (int64_t)group * MOST_NODES + place;
}

static sw_rc list_rows(names *k, int32_t pattern, sw_diag *d) {
  const sel_pattern *p = &k->r->patterns.at[pattern];
  if (k->listed[pattern]) return SW_OK;
  k->listed[pattern] = true;
  for (size_t h = 0; h < p->nodes.n; h++) {
    for (int32_t r = 0; r < p->nodes.at[h].n_rows; r++) {
      row_key key = {(int64_t)pattern * MOST_NODES + (int64_t)h, name_of_row(&p->nodes.at[h].rows[r])};
      int64_t *slot;
      bool fresh;
      SW_TRY(sw_dict_put(&k->rows, &key, sizeof key, r, &slot, &fresh, d));
    }
  }
  return SW_OK;
}

/* A node by its name, and its choices, -1 for those that there are not. *known: there is such a node. */
static sw_rc find_side(names *k, int64_t *node, int32_t n, int64_t *choice, bool *known, sw_diag *d) {
  *known = *node >= 0 && *node < k->n_plain;
  if (*node < k->n_plain) return SW_OK;
  const sw_relaxation *r = k->r;
  const int64_t group = (*node - k->n_plain) / MOST_NODES, h = (*node - k->n_plain) % MOST_NODES;
  if (group >= r->p->n_copies) return SW_OK;
  if (h >= FIRST_LIFE) {
    *known = h - FIRST_LIFE < sel_life_nodes(r, (int32_t)group);
    *node = r->life_at[group] + h - FIRST_LIFE;
    return SW_OK;
  }
  const int32_t pattern = r->pattern_of[group];
  *known = r->node_at[group] >= 0 && h < (int64_t)r->patterns.at[pattern].nodes.n;
  if (!*known) return SW_OK;
  *node = r->node_at[group] + h;
  SW_TRY(list_rows(k, pattern, d));
  for (int32_t a = 0; a < n; a++) {
    row_key key = {(int64_t)pattern * MOST_NODES + h, choice[a]};
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

sw_rc sw_relaxation_keep(const sw_relaxation *r, const sw_solve_state *state, sw_arena *arena, sw_solve_state *kept,
                         sw_diag *d) {
  names k;
  assert(r->made == r->relaxed.version);
  SW_TRY(copy_links(state, arena, kept, d));
  kept->names = r->named;
  SW_TRY(find_nodes(&k, r, arena, d));
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

static sw_rc find_links(names *k, sw_solve_state *state, sw_diag *d) {
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

sw_rc sw_relaxation_recall(const sw_relaxation *r, const sw_solve_state *kept, sw_arena *arena, sw_solve_state *state,
                           sw_diag *d) {
  names k;
  sw_solve_state known = *kept;
  if (known.names != r->named) known.n_links = known.n_prices = 0;
  SW_TRY(copy_links(&known, arena, state, d));
  SW_TRY(find_nodes(&k, r, arena, d));
  sw_rc rc = find_links(&k, state, d);
  sw_dict_deinit(&k.rows);
  if (rc) return rc;
  state->n_nodes = (int32_t)r->nodes.n;
  int32_t *choice;
  SW_ARENA_NEW(choice, arena, state->n_nodes, d);
  state->choice = choice;
  return sw_relaxation_complete(r, kept->choice, choice, d);
}
