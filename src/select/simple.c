#include "select/simple.h"

#include "base/hash.h"
#include "select/quotient.h"

enum { ROUNDS = 8 }; /* steps that nodes of a class are alike */

/* --- classes and roles ------------------------------------------------------------------------------------------- */

/* Numbers by pairs, in the order of the first of each. */
typedef struct pairs {
  sw_dict seen;
  int32_t n;
} pairs;

static sw_rc number_pair(pairs *m, int32_t a, int32_t b, int32_t *out, sw_diag *d) {
  const int32_t key[] = {a, b};
  int64_t *at;
  bool fresh;
  SW_TRY(sw_dict_put(&m->seen, key, sizeof key, m->n, &at, &fresh, d));
  m->n += fresh;
  *out = (int32_t)*at;
  return SW_OK;
}

/* Groups of copies of one table whose makers and readers are of the same roles. */
static sw_rc find_group_roles(sw_simplicity *k, sw_arena *arena, sw_dict *seen, sw_diag *d) {
  const sw_problem *p = k->p;
  sw_text key = {0};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW(k->group_role, arena, p->n_copies, d);
  for (int32_t c = 0; c < p->n_copies && !rc; c++) {
    const sw_copies *g = &p->copies[c];
    int64_t *at;
    key.n = 0;
    sw_text_append(&key, (const char *)&g->table, sizeof g->table);
    sw_text_append(&key, (const char *)&k->role_of[g->maker], sizeof *k->role_of);
    for (int32_t i = 0; i < g->table->n_readers; i++)
      sw_text_append(&key, (const char *)&k->role_of[g->reader[i]], sizeof *k->role_of);
    rc = key.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory")
                : sw_dict_put(seen, key.at, key.n, c, &at, NULL, d);
    if (!rc) k->group_role[c] = (int32_t)*at;
  }
  sw_text_free(&key);
  return rc;
}

/* Classes that do not go across roles, and roles; those given come first. */
static sw_rc find_roles(sw_simplicity *k, const int32_t *role, pairs *classes, pairs *roles, sw_diag *d) {
  for (int32_t i = 0; i < k->p->n_nodes; i++) {
    const int32_t given = role ? role[i] : -1, of = k->class_of[i];
    SW_TRY(number_pair(roles, given, given < 0 ? of : 0, &k->role_of[i], d));
    SW_TRY(number_pair(classes, of, given, &k->class_of[i], d));
  }
  k->n_classes = classes->n;
  k->n_roles = roles->n;
  return SW_OK;
}

sw_rc sw_simplicity_make(const sw_problem *p, const int32_t *role, const uint8_t *const *points, sw_arena *arena,
                         sw_simplicity *out, sw_diag *d) {
  sw_dict seen = {0};
  pairs classes = {0}, roles = {0};
  *out = (sw_simplicity){.p = p, .points = points};
  SW_ARENA_NEW_EACH(arena, p->n_nodes, d, out->class_of, out->role_of, out->first);
  SW_TRY(sel_find_classes(p, ROUNDS, out->class_of, &out->n_classes, d));
  sw_rc rc = find_roles(out, role, &classes, &roles, d);
  for (int32_t i = p->n_nodes - 1; i >= 0 && !rc; i--) out->first[out->role_of[i]] = i;
  if (!rc) rc = find_group_roles(out, arena, &seen, d);
  sw_dict_deinit(&classes.seen);
  sw_dict_deinit(&roles.seen);
  sw_dict_deinit(&seen);
  return rc;
}

/* --- one choice for a role ---------------------------------------------------------------------------------------- */

static sw_rc unite(const sw_simplicity *k, const int32_t *choice, int32_t *out, pairs *seen, sw_arena *mem,
                   sw_diag *d) {
  const int32_t n = k->p->n_nodes;
  int32_t *at, *count, *most;
  SW_ARENA_NEW_EACH(mem, n, d, at, count);
  SW_ARENA_NEW(most, mem, k->n_roles, d); /* a node with the choice of most, + 1 */
  for (int32_t i = 0; i < n; i++) {
    SW_TRY(number_pair(seen, k->role_of[i], choice[i], &at[i], d));
    count[at[i]]++;
  }
  for (int32_t i = 0; i < n; i++) {
    int32_t *of = &most[k->role_of[i]];
    if (!*of || count[at[i]] > count[at[*of - 1]]) *of = i + 1;
  }
  for (int32_t i = 0; i < n; i++) out[i] = choice[most[k->role_of[i]] - 1];
  return SW_OK;
}

sw_rc sw_simplicity_unite(const sw_simplicity *k, const int32_t *choice, int32_t *out, sw_diag *d) {
  sw_arena mem = {0};
  pairs seen = {0};
  sw_rc rc = unite(k, choice, out, &seen, &mem, d);
  sw_dict_deinit(&seen.seen);
  sw_arena_deinit(&mem);
  return rc;
}

/* --- points ------------------------------------------------------------------------------------------------------ */

/* What the choices of each role come to. */
static sw_rc count_choices(const sw_simplicity *k, const int32_t *choice, pairs *seen, int64_t *out, sw_diag *d) {
  *out = -(int64_t)k->n_roles * SW_POINTS_SPLIT;
  for (int32_t i = 0; i < k->p->n_nodes; i++) {
    const uint8_t *points = k->points ? k->points[k->first[k->role_of[i]]] : NULL;
    const int32_t before = seen->n;
    int32_t at;
    SW_TRY(number_pair(seen, k->role_of[i], choice[i], &at, d));
    if (seen->n > before) *out += SW_POINTS_SPLIT + (points ? points[choice[i]] : 0);
  }
  return SW_OK;
}

static bool is_paid(int64_t cost) { return cost > 0 && cost < SW_FORBIDDEN; }

/* Kinds of copies that are made. */
static sw_rc count_copy_kinds(const sw_simplicity *k, const int32_t *choice, sw_dict *seen, int64_t *out, sw_diag *d) {
  *out = 0;
  for (int32_t c = 0; c < k->p->n_copies; c++) {
    const sw_copies *g = &k->p->copies[c];
    const int32_t from = g->table->class_of[choice[g->maker]];
    const int64_t *cost = g->table->cost + (int64_t)from * g->table->n_layouts;
    for (int32_t i = 0; i < g->table->n_readers; i++) {
      const sw_wants *w = &g->table->wants[i];
      const int32_t of = w->class_of[choice[g->reader[i]]];
      for (int32_t a = w->first[of]; a < w->first[of + 1]; a++) {
        const int32_t key[] = {k->group_role[c], from, w->layout[a]};
        bool fresh;
        if (!is_paid(cost[w->layout[a]])) continue;
        SW_TRY(sw_dict_put(seen, key, sizeof key, 0, NULL, &fresh, d));
        *out += fresh;
      }
    }
  }
  return SW_OK;
}

sw_rc sw_simplicity_points(const sw_simplicity *k, const int32_t *choice, int64_t *out, sw_diag *d) {
  sw_dict seen = {0};
  pairs choices = {0};
  int64_t copies = 0;
  sw_rc rc = count_choices(k, choice, &choices, out, d);
  if (!rc) rc = count_copy_kinds(k, choice, &seen, &copies, d);
  if (!rc) *out += copies * SW_POINTS_COPY;
  sw_dict_deinit(&choices.seen);
  sw_dict_deinit(&seen);
  return rc;
}

/* --- the problem with a price on points ------------------------------------------------------------------------- */

static int64_t dearer(int64_t cost, int64_t by) { return cost < SW_FORBIDDEN ? sw_cost_add(cost, by) : cost; }

static sw_rc price_node(const sw_node *from, const uint8_t *points, int64_t per_point, sw_arena *arena, sw_node *to,
                        sw_diag *d) {
  int64_t *cost;
  *to = *from;
  if (!points) return SW_OK;
  SW_ARENA_NEW(cost, arena, from->n_choices, d);
  for (int32_t s = 0; s < from->n_choices; s++) cost[s] = dearer(from->cost[s], sw_cost_times(per_point, points[s]));
  to->cost = cost;
  return SW_OK;
}

/* Groups that had one table have one. */
static sw_rc price_copies(const sw_copies *from, int64_t by, sw_arena *arena, sw_dict *made, sw_copies *to,
                          sw_diag *d) {
  const int64_t cells = (int64_t)from->table->n_classes * from->table->n_layouts;
  sw_copy_table *t;
  int64_t *cost, *slot;
  bool fresh;
  *to = *from;
  SW_TRY(sw_dict_put(made, &from->table, sizeof from->table, 0, &slot, &fresh, d));
  if (fresh) {
    SW_ARENA_NEW(t, arena, 1, d);
    SW_ARENA_NEW(cost, arena, cells, d);
    for (int64_t c = 0; c < cells; c++)
      cost[c] = is_paid(from->table->cost[c]) ? dearer(from->table->cost[c], by) : from->table->cost[c];
    *t = *from->table;
    t->cost = cost;
    *slot = (int64_t)(uintptr_t)t;
  }
  to->table = (const sw_copy_table *)(uintptr_t)*slot;
  return SW_OK;
}

/* Parts: nodes of a class that choose alike. */
typedef struct parts {
  const sw_simplicity *k;
  int32_t n;
  int32_t *of, *first, *size; /* by node of p; by part */
} parts;

static sw_rc find_alike_parts(parts *m, const int32_t *choice, pairs *seen, sw_arena *arena, sw_diag *d) {
  const int32_t n = m->k->p->n_nodes;
  SW_ARENA_NEW_EACH(arena, n, d, m->first, m->size);
  for (int32_t i = 0; i < n; i++) SW_TRY(number_pair(seen, m->k->class_of[i], choice[i], &m->of[i], d));
  m->n = seen->n;
  for (int32_t i = n - 1; i >= 0; i--) m->first[m->of[i]] = i;
  for (int32_t i = 0; i < n; i++) m->size[m->of[i]]++;
  return SW_OK;
}

/* A price on choosing otherwise, for nodes of n choices. */
static sw_rc price_apart(int32_t n, int64_t price, sw_arena *arena, sw_dict *made, const int64_t **out, sw_diag *d) {
  int64_t *slot, *cost;
  bool fresh;
  SW_TRY(sw_dict_put(made, &n, sizeof n, 0, &slot, &fresh, d));
  if (fresh) {
    SW_ARENA_NEW(cost, arena, (size_t)n * (size_t)n, d);
    for (int32_t a = 0; a < n; a++)
      for (int32_t b = 0; b < n; b++) cost[(size_t)a * (size_t)n + (size_t)b] = a == b ? 0 : price;
    *slot = (int64_t)(uintptr_t)cost;
  }
  *out = (const int64_t *)(uintptr_t)*slot;
  return SW_OK;
}

/* Each part of a role is joined to the largest one. */
static sw_rc tie_parts(const parts *m, int64_t price, sw_arena *arena, sw_dict *made, sw_problem *out, sw_diag *d) {
  int32_t *largest;
  sw_edge *edges;
  SW_ARENA_NEW(largest, arena, m->k->n_roles, d);
  SW_ARENA_NEW(edges, arena, out->n_edges + m->n, d);
  for (int32_t e = 0; e < out->n_edges; e++) edges[e] = out->edges[e];
  for (int32_t r = 0; r < m->k->n_roles; r++) largest[r] = -1;
  for (int32_t a = 0; a < m->n; a++) {
    int32_t *at = &largest[m->k->role_of[m->first[a]]];
    if (*at < 0 || m->size[a] > m->size[*at]) *at = a;
  }
  for (int32_t a = 0; a < m->n; a++) {
    const int32_t to = largest[m->k->role_of[m->first[a]]];
    sw_edge *e = &edges[out->n_edges];
    if (to == a) continue;
    *e = (sw_edge){a < to ? a : to, a < to ? to : a, NULL};
    SW_TRY(price_apart(out->nodes[a].n_choices, price, arena, made, &e->cost, d));
    out->n_edges++;
  }
  out->edges = edges;
  return SW_OK;
}

/* Choices and copies of parts, points among their costs. */
static sw_rc price_parts(const parts *m, int64_t per_point, sw_arena *arena, sw_dict *made, sw_problem *out,
                         sw_diag *d) {
  const sw_simplicity *k = m->k;
  sw_node *nodes;
  sw_copies *copies;
  SW_ARENA_NEW(nodes, arena, out->n_nodes, d);
  SW_ARENA_NEW(copies, arena, out->n_copies, d);
  for (int32_t a = 0; a < out->n_nodes; a++) {
    const uint8_t *points = k->points ? k->points[k->first[k->role_of[m->first[a]]]] : NULL;
    SW_TRY(price_node(&out->nodes[a], points, per_point, arena, &nodes[a], d));
  }
  for (int32_t c = 0; c < out->n_copies; c++)
    SW_TRY(price_copies(&out->copies[c], sw_cost_times(per_point, SW_POINTS_COPY), arena, made, &copies[c], d));
  out->nodes = nodes;
  out->copies = copies;
  return SW_OK;
}

sw_rc sw_simplicity_problem(const sw_simplicity *k, const int32_t *choice, int64_t per_point, sw_arena *arena,
                            sw_problem *out, int32_t *part_of, int32_t *start, sw_diag *d) {
  parts m = {.k = k, .of = part_of};
  pairs seen = {0};
  sw_dict made = {0}, tables = {0};
  sw_rc rc = find_alike_parts(&m, choice, &seen, arena, d);
  for (int32_t a = 0; a < m.n && !rc; a++) start[a] = choice[m.first[a]];
  if (!rc) rc = sel_merge_classes(k->p, part_of, m.n, arena, out, d);
  if (!rc) rc = price_parts(&m, per_point, arena, &tables, out, d);
  if (!rc) rc = tie_parts(&m, sw_cost_times(per_point, SW_POINTS_SPLIT), arena, &made, out, d);
  sw_dict_deinit(&seen.seen);
  sw_dict_deinit(&made);
  sw_dict_deinit(&tables);
  return rc;
}
