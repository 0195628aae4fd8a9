/* A problem with copies as one of nodes and edges alone.
 *
 *   nodes   those of the problem, then copy nodes (pattern.h), then life nodes (lives.c)
 *   edges   maker - reader, or maker - copy node and copy node - reader; then those of the problem
 */
#include <assert.h>
#include <string.h>

#include "base/hash.h"
#include "select/copies/copies.h"

/* Groups with one table are of one pattern. */
static sw_rc find_patterns(sw_relaxation *r, sw_dict *seen, sw_diag *d) {
  for (int32_t k = 0; k < r->p->n_copies; k++) {
    const sw_copy_table *t = r->p->copies[k].table;
    int64_t *slot;
    bool fresh;
    SW_TRY(sw_dict_put(seen, &t, sizeof t, (int64_t)r->patterns.n, &slot, &fresh, d));
    r->pattern_of[k] = (int32_t)*slot;
    if (!fresh) continue;
    SW_TRY(sw_array_push(&r->patterns, (sel_pattern){0}, d));
    SW_TRY(sel_pattern_init(&r->patterns.at[r->patterns.n - 1], t, &r->relaxed.version, r->arena, d));
  }
  return SW_OK;
}

/* The copy nodes of a group, and the edges to them and from them. */
static sw_rc add_copies(sw_relaxation *r, int32_t group, sw_diag *d) {
  const sw_copies *c = &r->p->copies[group];
  const sel_pattern *p = &r->patterns.at[r->pattern_of[group]];
  r->node_at[group] = p->n_shared && !sel_life_pays(r, group) ? (int32_t)r->nodes.n : -1;
  if (sel_life_pays(r, group)) return SW_OK;
  for (size_t k = 0; k < p->nodes.n; k++) {
    const sel_copy_node *h = &p->nodes.at[k];
    const int32_t source = h->n ? (int32_t)r->nodes.n : c->maker;
    if (h->n) {
      SW_TRY(sw_array_push(&r->nodes, ((sw_node){.n_choices = h->n_rows, .cost = h->row_cost}), d));
      SW_TRY(sw_array_push(&r->edges, ((sw_edge){c->maker, source, h->link}), d));
    }
    for (int32_t i = 0; i < p->t->n_readers; i++)
      if (h->tables[i]) SW_TRY(sw_array_push(&r->edges, ((sw_edge){source, c->reader[i], h->tables[i]}), d));
  }
  return SW_OK;
}

/* All nodes and edges, from the patterns as they are now. */
static sw_rc build(sw_relaxation *r, sw_diag *d) {
  const sw_problem *p = r->p;
  r->edges.n = 0;
  r->nodes.n = (size_t)p->n_nodes;
  if (p->n_nodes) memcpy(r->nodes.at, p->nodes, (size_t)p->n_nodes * sizeof *r->nodes.at);
  sel_lives_hold(r);
  for (size_t k = 0; k < r->patterns.n; k++) SW_TRY(sel_pattern_tables(&r->patterns.at[k], r->arena, d));
  for (int32_t k = 0; k < p->n_copies; k++) SW_TRY(add_copies(r, k, d));
  SW_TRY(sel_lives_add(r, d));
  for (int32_t e = 0; e < p->n_edges; e++) SW_TRY(sw_array_push(&r->edges, p->edges[e], d));
  r->relaxed = (sw_problem){.name = p->name,
                            .n_nodes = (int32_t)r->nodes.n,
                            .n_edges = (int32_t)r->edges.n,
                            .nodes = r->nodes.at,
                            .edges = r->edges.at,
                            .limit = p->limit,
                            .copy_nodes_at = p->n_nodes,
                            .version = r->relaxed.version};
  r->made = r->relaxed.version;
  return SW_OK;
}

static sw_rc make(sw_relaxation *r, sw_diag *d) {
  sw_dict seen = {0};
  SW_ARENA_NEW_EACH(r->arena, r->p->n_copies, d, r->pattern_of, r->node_at);
  sw_rc rc = find_patterns(r, &seen, d);
  sw_dict_deinit(&seen);
  if (!rc) rc = sel_lives_init(r, d);
  return rc ? rc : sw_array_reserve(&r->nodes, (size_t)r->p->n_nodes, d);
}

sw_rc sw_relaxation_make(const sw_problem *p, sw_arena *arena, sw_relaxation **out, sw_diag *d) {
  sw_relaxation *r;
  SW_ARENA_NEW(r, arena, 1, d);
  *r = (sw_relaxation){.p = p, .arena = arena, .followed = p->version, .relaxed = {.version = 1}};
  sw_rc rc = make(r, d);
  if (rc) sw_relaxation_deinit(r);
  *out = rc ? NULL : r;
  return rc;
}

void sw_relaxation_deinit(sw_relaxation *r) {
  if (!r) return;
  for (size_t k = 0; k < r->patterns.n; k++) sel_pattern_deinit(&r->patterns.at[k]);
  sel_lives_deinit(r);
  sw_array_free(&r->patterns);
  sw_array_free(&r->nodes);
  sw_array_free(&r->edges);
}

/* Shares add up to what copies cost at the version of the problem. */
static void follow_problem(sw_relaxation *r) {
  if (!sw_overtaken(&r->followed, r->p->version)) return;
  r->relaxed.version++;
  for (size_t k = 0; k < r->patterns.n; k++) sel_pattern_reprice(&r->patterns.at[k]);
}

sw_rc sw_relaxation_problem(sw_relaxation *r, sw_problem *out, sw_diag *d) {
  follow_problem(r);
  if (r->made != r->relaxed.version) SW_TRY(build(r, d));
  *out = r->relaxed;
  return SW_OK;
}

/* --- nearer to the truth ----------------------------------------------------------------------------------------- */

typedef SW_ARRAY(int32_t) int32_list;

/* What the readers of a group choose, in *y. */
static sw_rc readers_choose(const sw_copies *c, const int32_t *choice, int32_list *y, sw_diag *d) {
  const int32_t n = c->table->n_readers;
  SW_TRY(sw_array_reserve(y, (size_t)n, d));
  for (int32_t i = 0; i < n; i++) y->at[i] = choice[c->reader[i]];
  return SW_OK;
}

sw_rc sw_relaxation_refine(sw_relaxation *r, const int32_t *choice, bool *refined, sw_diag *d) {
  int32_list y = {0};
  sw_rc rc = SW_OK;
  follow_problem(r);
  const int64_t before = r->relaxed.version;
  for (int32_t k = 0; k < r->p->n_copies && !rc; k++) {
    const sw_copies *c = &r->p->copies[k];
    if (sel_life_pays(r, k)) continue;
    rc = readers_choose(c, choice, &y, d);
    if (!rc) rc = sel_pattern_refine(&r->patterns.at[r->pattern_of[k]], choice[c->maker], y.at, d);
  }
  sw_array_free(&y);
  *refined = r->relaxed.version != before;
  return rc;
}

sw_rc sw_relaxation_refine_lives(sw_relaxation *r, const int32_t *choice, int64_t limit, bool *refined, sw_diag *d) {
  const int64_t before = r->relaxed.version;
  SW_TRY(sel_lives_count(r, choice, limit, d));
  *refined = r->relaxed.version != before;
  return SW_OK;
}

sw_rc sw_relaxation_split(sw_relaxation *r, const sw_split_options *o, int64_t *work, sw_diag *d) {
  bool taken;
  follow_problem(r);
  SW_TRY(sel_split_copies(r, o, &taken, work, d));
  for (size_t k = 0; k < r->patterns.n && taken; k++) sel_pattern_unshare(&r->patterns.at[k]);
  r->named = ++r->relaxed.version; /* where shares stay, too: messages had settled, and others lead further */
  return SW_OK;
}

void sw_relaxation_price_whole(sw_relaxation *r, bool whole) {
  for (size_t k = 0; k < r->patterns.n; k++) {
    sel_pattern *p = &r->patterns.at[k];
    bool differs = false;
    for (int32_t a = 0; a < p->t->n_layouts && !differs; a++) differs = p->wanting[a] > 1 && p->shared_at[a] < 0;
    if (p->whole == whole || (whole && !differs)) continue;
    p->whole = whole;
    sel_pattern_change(p);
  }
}

sw_rc sw_relaxation_exact(const sw_relaxation *r, sw_arena *arena, int32_t *n, const sw_copy_of **out, sw_diag *d) {
  sw_copy_of *list;
  *n = 0;
  for (int32_t k = 0; k < r->p->n_copies; k++) *n += r->patterns.at[r->pattern_of[k]].n_shared;
  SW_ARENA_NEW(list, arena, *n, d);
  *out = list;
  for (int32_t k = 0; k < r->p->n_copies; k++) {
    const sel_pattern *p = &r->patterns.at[r->pattern_of[k]];
    for (int32_t a = 0; a < p->n_shared; a++) *list++ = (sw_copy_of){k, p->shared[a]};
  }
  return SW_OK;
}

sw_rc sw_relaxation_count(sw_relaxation *r, int32_t n, const sw_copy_of *of, sw_diag *d) {
  for (int32_t a = 0; a < n; a++)
    SW_TRY(sel_pattern_share(&r->patterns.at[r->pattern_of[of[a].copies]], of[a].layout, d));
  return SW_OK;
}

sw_rc sw_relaxation_complete(const sw_relaxation *r, const int32_t *choice, int32_t *out, sw_diag *d) {
  int32_list y = {0};
  sw_rc rc = SW_OK;
  assert(r->made == r->relaxed.version);
  for (int32_t i = 0; i < r->p->n_nodes; i++) out[i] = choice ? choice[i] : 0;
  for (int32_t k = 0; k < r->p->n_copies && !rc; k++) {
    const sw_copies *c = &r->p->copies[k];
    const sel_pattern *p = &r->patterns.at[r->pattern_of[k]];
    if (r->node_at[k] < 0) continue;
    rc = readers_choose(c, out, &y, d);
    for (size_t h = 0; h < p->nodes.n && !rc; h++)
      out[r->node_at[k] + (int32_t)h] = sel_pattern_row(p, &p->nodes.at[h], out[c->maker], y.at);
  }
  sw_array_free(&y);
  if (!rc) sel_lives_complete(r, out);
  return rc;
}

/* --- for certificates -------------------------------------------------------------------------------------------- */

static void print_shares(const sel_pattern *p, int32_t group, sw_text *out) {
  const sw_copy_table *t = p->t;
  for (int32_t a = 0; a < t->n_layouts && p->share; a++) {
    if (p->wanting[a] < 2 || p->shared_at[a] >= 0) continue;
    for (int32_t from = 0; from < t->n_classes; from++) {
      const int64_t cost = sel_copy_cost(t, from, a);
      if (cost == 0 || cost >= SW_FORBIDDEN) continue;
      sw_text_printf(out, "share %d %d %d", group, a, from);
      for (int32_t i = 0; i < t->n_readers; i++)
        if (sel_wants(&t->wants[i], a))
          sw_text_printf(out, " %lld", (long long)p->share[i][(int64_t)from * t->n_layouts + a]);
      sw_text_puts(out, "\n");
    }
  }
}

/* Nodes in the order of their numbers: a group's stand together. */
void sw_relaxation_print(const sw_relaxation *r, sw_text *out) {
  for (int32_t k = 0; k < r->p->n_copies; k++) {
    const sel_pattern *p = &r->patterns.at[r->pattern_of[k]];
    print_shares(p, k, out);
    for (size_t h = 0; h < p->nodes.n && p->n_shared; h++) {
      sw_text_printf(out, "copies %d", k);
      for (int32_t a = 0; a < p->nodes.at[h].n; a++) sw_text_printf(out, " %d", p->shared[p->nodes.at[h].first + a]);
      sw_text_puts(out, "\n");
    }
  }
}
