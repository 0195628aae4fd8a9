/* The problem in which nodes of one symmetry class choose alike, and its solution as one of the whole.
 *
 *   x - a - b - a - b - a - b - y    becomes    x - a - b - y, where a, b and the tables between them count three and
 *                                               two times, and the table from b to the next a is one between them, too
 */
#include <string.h>

#include "select/quotient.h"
#include "select/run.h"
#include "select/symmetry.h"
#include "base/hash.h"

enum { ROUNDS = 2 }; /* steps; few: what lies further away makes too many classes */

typedef struct quotient {
  const sw_problem *p;
  sw_arena *arena;
  const int32_t *class_of; /* of a node */
  int32_t n;
  int64_t **cost; /* by class */
  sw_usage **uses;
  sw_node *nodes;
  sw_dict made;   /* tables, by address and by how often they count */
  sw_dict tables; /* of copies, by what they were made of */
  SW_ARRAY(sw_copies) copies;
} quotient;

/* Of each reader of a table, the first one that wants the same. */
static sw_rc find_alike_readers(const sw_copy_table *t, sw_dict *seen, sw_text *key, int32_t *alike, sw_diag *d) {
  for (int32_t i = 0; i < t->n_readers; i++) {
    const sw_wants *w = &t->wants[i];
    const int32_t sizes[] = {w->n_choices, w->n_classes};
    int64_t *at;
    key->n = 0;
    sw_text_append(key, (const char *)sizes, sizeof sizes);
    sw_text_append(key, (const char *)w->class_of, (size_t)w->n_choices * sizeof *w->class_of);
    sw_text_append(key, (const char *)w->first, ((size_t)w->n_classes + 1) * sizeof *w->first);
    sw_text_append(key, (const char *)w->layout, (size_t)w->first[w->n_classes] * sizeof *w->layout);
    if (key->rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    SW_TRY(sw_dict_put(seen, key->at, key->n, i, &at, NULL, d));
    alike[i] = (int32_t)*at;
  }
  return SW_OK;
}

static sw_rc alike_readers(const sw_copy_table *t, sw_arena *mem, int32_t **alike, sw_diag *d) {
  sw_dict seen = {0};
  SW_ARENA_NEW(*alike, mem, t->n_readers, d);
  sw_text key = {0};
  sw_rc rc = find_alike_readers(t, &seen, &key, *alike, d);
  sw_text_free(&key);
  sw_dict_deinit(&seen);
  return rc;
}

/* Who reads copies of what counts like an edge: one table of its own for every reader of a table of copies, but for
 * those that want the same. */
static sw_rc link_copies(const sw_problem *p, sel_core *c, sw_arena *mem, sw_dict *first, sw_diag *d) {
  int32_t n = c->n_pairs, n_kinds = c->n_mats, *first_kind, **alike;
  sel_pair *pairs;
  SW_ARENA_NEW(alike, mem, p->n_copies, d); /* these by group that is the first of its table */
  SW_ARENA_NEW(first_kind, mem, p->n_copies, d);
  for (int32_t k = 0; k < p->n_copies; k++) n += p->copies[k].table->n_readers;
  SW_ARENA_NEW(pairs, mem, n, d);
  memcpy(pairs, c->pairs, (size_t)c->n_pairs * sizeof *pairs);
  for (int32_t k = 0; k < p->n_copies; k++) {
    const sw_copies *g = &p->copies[k];
    int64_t *of;
    bool fresh;
    SW_TRY(sw_dict_put(first, &g->table, sizeof g->table, k, &of, &fresh, d));
    if (fresh) SW_TRY(alike_readers(g->table, mem, &alike[k], d));
    if (fresh) first_kind[k] = n_kinds;
    if (fresh) n_kinds += g->table->n_readers;
    for (int32_t i = 0; i < g->table->n_readers; i++)
      pairs[c->n_pairs++] = (sel_pair){g->maker, g->reader[i], first_kind[*of] + alike[*of][i]};
  }
  c->pairs = pairs;
  return SW_OK;
}

/* Number the classes by their first nodes. */
static sw_rc find_classes(const sw_problem *p, int rounds, sw_arena *mem, int32_t *class_of, int32_t *n, sw_diag *d) {
  sel_core c;
  sel_symmetry same;
  sw_dict first = {0};
  SW_TRY(sel_core_of_problem(p, mem, &c, d));
  SW_TRY(sel_core_pool_tables(&c, mem, d));
  sw_rc rc = link_copies(p, &c, mem, &first, d);
  sw_dict_deinit(&first);
  if (rc) return rc;
  SW_TRY(sel_symmetry_find(&c, rounds, mem, &same, d));
  *n = 0;
  for (int32_t i = 0; i < c.n; i++) class_of[i] = same.rep[i] == i ? (*n)++ : class_of[same.rep[i]];
  return SW_OK;
}

sw_rc sel_find_classes(const sw_problem *p, int rounds, int32_t *class_of, int32_t *n, sw_diag *d) {
  sw_arena mem = {0};
  sw_rc rc = find_classes(p, rounds, &mem, class_of, n, d);
  sw_arena_deinit(&mem);
  return rc;
}

/* What all nodes of a class pay and occupy. */
static sw_rc add_nodes(quotient *k, sw_diag *d) {
  const sw_problem *p = k->p;
  SW_ARENA_NEW_EACH(k->arena, k->n, d, k->cost, k->uses, k->nodes);
  for (int32_t i = 0; i < p->n_nodes; i++) k->nodes[k->class_of[i]].n_uses += p->nodes[i].n_uses;
  for (int32_t a = 0; a < k->n; a++) {
    SW_ARENA_NEW(k->uses[a], k->arena, k->nodes[a].n_uses, d);
    k->nodes[a].n_uses = 0;
  }
  for (int32_t i = 0; i < p->n_nodes; i++) {
    int32_t a = k->class_of[i], n = p->nodes[i].n_choices;
    sw_node *to = &k->nodes[a];
    if (!k->cost[a]) SW_ARENA_NEW(k->cost[a], k->arena, n, d);
    for (int32_t s = 0; s < n; s++)
      k->cost[a][s] = sw_min_i64(SW_FORBIDDEN, sw_cost_add(k->cost[a][s], p->nodes[i].cost[s]));
    for (int32_t u = 0; u < p->nodes[i].n_uses; u++) k->uses[a][to->n_uses++] = p->nodes[i].uses[u];
    to->n_choices = n;
    to->cost = k->cost[a];
    to->uses = k->uses[a];
  }
  return SW_OK;
}

/* An edge between classes, which stands for several. */
typedef struct bundle {
  int32_t i, j;
  const int64_t *cost;
} bundle;

/* The cells of a table n times. What was made before is used again, so that edges that shared a table do so again. */
static sw_rc multiply_table(quotient *k, const bundle *b, int64_t n, const int64_t **out, sw_diag *d) {
  struct {
    uint64_t at, n;
  } key = {(uint64_t)(uintptr_t)b->cost, (uint64_t)n};
  size_t cells = (size_t)k->nodes[b->i].n_choices * (size_t)k->nodes[b->j].n_choices;
  int64_t *to, *slot;
  bool fresh;
  *out = b->cost;
  if (n == 1) return SW_OK;
  SW_TRY(sw_dict_put(&k->made, &key, sizeof key, 0, &slot, &fresh, d));
  if (fresh) {
    SW_ARENA_NEW(to, k->arena, cells, d);
    for (size_t c = 0; c < cells; c++) to[c] = sw_cost_times(b->cost[c], n);
    *slot = (int64_t)(uintptr_t)to;
  }
  *out = (const int64_t *)(uintptr_t)*slot;
  return SW_OK;
}

/* Both ends choose the same. */
static void add_loop(const quotient *k, const bundle *b, int64_t n) {
  for (int32_t s = 0, all = k->nodes[b->i].n_choices; s < all; s++) {
    int64_t each = sw_cost_times(b->cost[(int64_t)s * all + s], n);
    k->cost[b->i][s] = sw_min_i64(SW_FORBIDDEN, sw_cost_add(k->cost[b->i][s], each));
  }
}

static sw_rc merge_edges(quotient *k, sw_problem *out, sw_diag *d) {
  const sw_problem *p = k->p;
  sw_dict seen = {0};
  bundle *all = sw_arena_alloc(k->arena, (size_t)p->n_edges, sizeof *all, d);
  int64_t *count = sw_arena_alloc(k->arena, (size_t)p->n_edges, sizeof *count, d);
  sw_edge *edges = sw_arena_alloc(k->arena, (size_t)p->n_edges, sizeof *edges, d);
  sw_rc rc = all && count && edges ? SW_OK : SW_E_RESOURCE;
  int32_t n = 0;
  for (int32_t e = 0; e < p->n_edges && !rc; e++) {
    bundle b = {k->class_of[p->edges[e].i], k->class_of[p->edges[e].j], p->edges[e].cost};
    int64_t *at;
    bool fresh;
    rc = sw_dict_put(&seen, &b, sizeof b, n, &at, &fresh, d);
    if (!rc && fresh) all[n++] = b;
    if (!rc) count[*at]++;
  }
  out->n_edges = 0;
  out->edges = edges;
  for (int32_t a = 0; a < n && !rc; a++) {
    if (all[a].i == all[a].j) {
      add_loop(k, &all[a], count[a]);
      continue;
    }
    edges[out->n_edges] = (sw_edge){all[a].i, all[a].j, NULL};
    rc = multiply_table(k, &all[a], count[a], &edges[out->n_edges++].cost, d);
  }
  sw_dict_deinit(&seen);
  sw_dict_deinit(&k->made);
  return rc;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

/* What copies of a group cost whose maker stands for itself and some of its readers: by choice. What it wants of itself
 * is always made, and then free for the others. */
static sw_rc price_own(const quotient *k, const sw_copies *g, int64_t n, sw_copy_table *t, sw_diag *d) {
  int64_t *cost, *own = k->cost[g->maker];
  int32_t *class_of;
  const sw_copy_table *old = g->table;
  SW_ARENA_NEW(cost, k->arena, (size_t)old->n_choices * (size_t)old->n_layouts, d);
  SW_ARENA_NEW(class_of, k->arena, old->n_choices, d);
  for (int32_t s = 0; s < old->n_choices; s++) {
    int64_t *row = cost + (int64_t)s * old->n_layouts;
    class_of[s] = s;
    for (int32_t a = 0; a < old->n_layouts; a++)
      row[a] = sw_cost_times(old->cost[(int64_t)old->class_of[s] * old->n_layouts + a], n);
    for (int32_t i = 0; i < old->n_readers; i++) {
      const sw_wants *w = &old->wants[i];
      if (g->reader[i] != g->maker) continue;
      for (int32_t c = w->class_of[s], a = w->first[c]; a < w->first[c + 1]; a++) {
        own[s] = sw_min_i64(SW_FORBIDDEN, sw_cost_add(own[s], row[w->layout[a]]));
        row[w->layout[a]] = 0;
      }
    }
  }
  t->cost = cost;
  t->class_of = class_of;
  t->n_classes = old->n_choices;
  return SW_OK;
}

static sw_rc price_times(const quotient *k, const sw_copy_table *old, int64_t n, sw_copy_table *t, sw_diag *d) {
  const int64_t cells = (int64_t)old->n_classes * old->n_layouts;
  int64_t *cost;
  SW_ARENA_NEW(cost, k->arena, cells, d);
  for (int64_t c = 0; c < cells; c++) cost[c] = sw_cost_times(old->cost[c], n);
  t->cost = cost;
  return SW_OK;
}

/* The table of those readers, counted n times: what was made before is used again, unless a reader is the maker. */
static sw_rc make_table(quotient *k, const sw_copies *g, int64_t n, const int32_t *kept, int32_t n_kept, bool own,
                        const sw_copy_table **out, sw_diag *d) {
  const sw_copy_table *old = g->table;
  sw_text key = {0};
  sw_copy_table *t;
  sw_wants *wants;
  int64_t *slot = NULL;
  bool fresh = true;
  sw_text_append(&key, (const char *)&old, sizeof old);
  sw_text_append(&key, (const char *)&n, sizeof n);
  sw_text_append(&key, (const char *)kept, (size_t)n_kept * sizeof *kept);
  sw_rc rc = key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : SW_OK;
  if (!rc && !own) rc = sw_dict_put(&k->tables, key.at, key.n, 0, &slot, &fresh, d);
  sw_text_free(&key);
  if (rc) return rc;
  *out = fresh ? NULL : (const sw_copy_table *)(uintptr_t)*slot;
  if (!fresh) return SW_OK;
  SW_ARENA_NEW(t, k->arena, 1, d);
  SW_ARENA_NEW(wants, k->arena, n_kept, d);
  *t = *old;
  t->n_readers = n_kept;
  t->wants = wants;
  for (int32_t i = 0; i < n_kept; i++) wants[i] = old->wants[kept[i]];
  if (slot) *slot = (int64_t)(uintptr_t)t;
  *out = t;
  return own ? price_own(k, g, n, t, d) : price_times(k, old, n, t, d);
}

/* A group of classes that stands for n groups. Readers of one class that want the same are one. */
static sw_rc add_class_group(quotient *k, const sw_copies *g, int64_t n, const int32_t *alike, sw_arena *mem,
                             sw_diag *d) {
  const int32_t all = g->table->n_readers;
  sw_copies to = {.maker = g->maker};
  sw_dict seen = {0};
  int32_t *reader, *kept, n_kept = 0;
  bool own = false;
  sw_rc rc = SW_OK;
  SW_ARENA_NEW(reader, k->arena, all, d);
  SW_ARENA_NEW(kept, mem, all, d);
  for (int32_t i = 0; i < all && !rc; i++) {
    const int32_t key[] = {g->reader[i], alike[i]};
    bool fresh = false;
    if (g->reader[i] == g->maker) {
      own = true;
      continue;
    }
    rc = sw_dict_put(&seen, key, sizeof key, 0, NULL, &fresh, d);
    if (!fresh) continue;
    kept[n_kept] = i;
    reader[n_kept++] = g->reader[i];
  }
  sw_dict_deinit(&seen);
  if (rc) return rc;
  to.reader = reader;
  SW_TRY(make_table(k, g, n, kept, n_kept, own, &to.table, d));
  return sw_array_push(&k->copies, to, d);
}

/* all[a] stands for count[a] groups. */
static sw_rc add_groups(quotient *k, const sw_copies *all, const int64_t *count, int64_t n, sw_arena *mem, sw_diag *d) {
  sw_dict seen = {0};
  int32_t **alike;
  sw_rc rc = SW_OK;
  SW_ARENA_NEW(alike, mem, n, d); /* by group that is the first of its table */
  for (int64_t a = 0; a < n && !rc; a++) {
    int64_t *first;
    bool fresh;
    rc = sw_dict_put(&seen, &all[a].table, sizeof all[a].table, a, &first, &fresh, d);
    if (!rc && fresh) rc = alike_readers(all[a].table, mem, &alike[a], d);
    if (!rc) rc = add_class_group(k, &all[a], count[a], alike[*first], mem, d);
  }
  sw_dict_deinit(&seen);
  return rc;
}

/* Groups of one table between the same classes become one. */
static sw_rc merge_copy_groups(quotient *k, sw_arena *mem, sw_dict *seen, sw_diag *d) {
  const sw_problem *p = k->p;
  sw_copies *all;
  int64_t *count, n = 0;
  SW_ARENA_NEW_EACH(mem, p->n_copies, d, all, count);
  for (int32_t c = 0; c < p->n_copies; c++) {
    const sw_copies *g = &p->copies[c];
    const size_t n_key = 3 + (size_t)g->table->n_readers;
    int32_t *key;
    int64_t *at;
    bool fresh;
    SW_ARENA_NEW(key, mem, n_key, d);
    memcpy(key, &g->table, sizeof g->table);
    key[2] = k->class_of[g->maker];
    for (int32_t i = 0; i < g->table->n_readers; i++) key[3 + i] = k->class_of[g->reader[i]];
    SW_TRY(sw_dict_put(seen, key, n_key * sizeof *key, n, &at, &fresh, d));
    if (fresh) all[n++] = (sw_copies){key[2], key + 3, g->table, NULL};
    count[*at]++;
  }
  return add_groups(k, all, count, n, mem, d);
}

/* The list that grew, in the arena. */
static sw_rc give_copies(quotient *k, sw_problem *out, sw_diag *d) {
  sw_arena mem = {0};
  sw_dict seen = {0};
  sw_rc rc = merge_copy_groups(k, &mem, &seen, d);
  out->n_copies = (int32_t)k->copies.n;
  if (!rc) out->copies = sw_arena_copy(k->arena, k->copies.at, k->copies.n, sizeof *k->copies.at, d);
  if (!rc && !out->copies) rc = SW_E_RESOURCE;
  sw_array_free(&k->copies);
  sw_dict_deinit(&k->tables);
  sw_dict_deinit(&seen);
  sw_arena_deinit(&mem);
  return rc;
}

sw_rc sel_merge_classes(const sw_problem *p, const int32_t *class_of, int32_t n, sw_arena *arena, sw_problem *out,
                        sw_diag *d) {
  quotient k = {.p = p, .arena = arena, .class_of = class_of, .n = n};
  *out = (sw_problem){.name = p->name, .limit = p->limit};
  SW_TRY(add_nodes(&k, d));
  SW_TRY(merge_edges(&k, out, d));
  SW_TRY(give_copies(&k, out, d));
  out->n_nodes = k.n;
  out->nodes = k.nodes;
  for (int32_t i = 0; i < p->copy_nodes_at; i++)
    out->copy_nodes_at = class_of[i] >= out->copy_nodes_at ? class_of[i] + 1 : out->copy_nodes_at;
  return SW_OK;
}

sw_rc sw_problem_quotient(const sw_problem *p, sw_arena *arena, sw_problem *out, int32_t *class_of, sw_diag *d) {
  int32_t n;
  SW_TRY(sel_find_classes(p, ROUNDS, class_of, &n, d));
  return sel_merge_classes(p, class_of, n, arena, out, d);
}

/* --- solving it -------------------------------------------------------------------------------------------------- */

/* Links between the first nodes of their classes, as links of the classes; the choices of first nodes. */
static sw_rc take_state(const sw_problem *q, int32_t n, const int32_t *class_of, const int32_t *first,
                        const sw_solve_state *from, sw_arena *mem, sw_solve_state *to, sw_diag *d) {
  *to = *from;
  to->n_links = 0;
  to->n_nodes = q->n_nodes;
  SW_ARENA_NEW(to->links, mem, from->n_links, d);
  for (int32_t e = 0; e < from->n_links; e++) {
    sw_dual_link l = from->links[e];
    if (l.node[0] < 0 || l.node[1] >= n || l.node[1] < 0 || l.node[0] >= n) continue;
    int32_t a = class_of[l.node[0]], b = class_of[l.node[1]];
    if (first[a] != l.node[0] || first[b] != l.node[1]) continue;
    l.node[0] = a;
    l.node[1] = b;
    to->links[to->n_links++] = l;
  }
  to->choice = NULL;
  if (!from->choice || from->n_nodes < n) return SW_OK;
  int32_t *choice;
  SW_ARENA_NEW(choice, mem, q->n_nodes, d);
  for (int32_t a = 0; a < q->n_nodes; a++) choice[a] = from->choice[first[a]];
  to->choice = choice;
  return SW_OK;
}

static sw_rc spread_choice(const sw_problem *p, const int32_t *class_of, sw_arena *arena, int32_t **choice,
                           sw_diag *d) {
  const int32_t *of_classes = *choice;
  if (!of_classes) return SW_OK;
  SW_ARENA_NEW(*choice, arena, p->n_nodes, d);
  for (int32_t i = 0; i < p->n_nodes; i++) (*choice)[i] = of_classes[class_of[i]];
  return SW_OK;
}

static sw_rc solve_quotient(const sw_problem *p, const sw_solve_options *given, sw_arena *mem, sw_arena *arena,
                            sw_solution *out, sw_diag *d) {
  sw_problem q;
  sw_solve_state from;
  sw_solve_options o = *given;
  int32_t *class_of, *first;
  SW_ARENA_NEW_EACH(mem, p->n_nodes, d, class_of, first);
  SW_TRY(sw_problem_quotient(p, mem, &q, class_of, d));
  for (int32_t i = p->n_nodes - 1; i >= 0; i--) first[class_of[i]] = i;
  if (o.from) SW_TRY(take_state(&q, p->n_nodes, class_of, first, o.from, mem, &from, d));
  if (o.from) o.from = &from;
  o.symmetric = false;
  SW_TRY(sel_solve_plain(&q, &o, arena, out, d));
  SW_TRY(spread_choice(p, class_of, arena, &out->choice, d));
  if (!o.to) return SW_OK;
  o.to->n_nodes = p->n_nodes;
  o.to->choice = out->choice;
  for (int32_t e = 0; e < o.to->n_links; e++)
    for (int side = 0; side < 2; side++) o.to->links[e].node[side] = first[o.to->links[e].node[side]];
  return SW_OK;
}

sw_rc sel_solve_quotient(const sw_problem *p, const sw_solve_options *o, sw_arena *arena, sw_solution *out,
                         sw_diag *d) {
  sw_arena mem = {0};
  sw_rc rc = solve_quotient(p, o, &mem, arena, out, d);
  sw_arena_deinit(&mem);
  return rc;
}
