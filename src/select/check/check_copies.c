#include "select/check/check_copies.h"
#include "base/lists.h"

#include <string.h>

enum { LAYOUTS_MOST = 30, ROWS_MOST = 65536 }; /* of a node */

static bool class_wants(const sw_wants *w, int32_t class, int32_t layout) {
  return sw_list_has_i32(w->layout + w->first[class], w->first[class + 1] - w->first[class], layout);
}

static bool can_want(const sw_wants *w, int32_t layout) {
  for (int32_t c = 0; c < w->n_classes; c++)
    if (class_wants(w, c, layout)) return true;
  return false;
}

static int32_t count_wanting(const sw_copy_table *t, int32_t layout) {
  int32_t n = 0;
  for (int32_t i = 0; i < t->n_readers; i++) n += can_want(&t->wants[i], layout);
  return n;
}

/* How many layouts all readers together want at most, each reader's counted by itself. */
static int32_t most_wanted(const sw_copy_table *t) {
  int32_t sum = 0;
  for (int32_t i = 0; i < t->n_readers; i++) {
    int32_t most = 0;
    for (int32_t c = 0; c < t->wants[i].n_classes; c++) {
      const int32_t n = t->wants[i].first[c + 1] - t->wants[i].first[c];
      most = n > most ? n : most;
    }
    sum += most;
  }
  return sum;
}

sw_rc chk_copies_init(chk_copies *c, const sw_problem *p, sw_diag *d) {
  *c = (chk_copies){.p = p};
  SW_ARENA_NEW_EACH(&c->mem, p->n_copies, d, c->has_node, c->share);
  return SW_OK;
}

static sw_rc keep_node(chk_copies *c, int32_t group, const int64_t *layout, int32_t n) {
  int32_t *copy;
  if (!c->has_node[group]) SW_ARENA_NEW(c->has_node[group], &c->mem, c->p->copies[group].table->n_layouts, NULL);
  SW_ARENA_NEW(copy, &c->mem, n, NULL);
  SW_ARENA_ROOM(c->nodes, c->n_nodes, c->cap_nodes, &c->mem, NULL);
  for (int32_t k = 0; k < n; k++) {
    copy[k] = (int32_t)layout[k];
    c->has_node[group][layout[k]] = true;
  }
  c->nodes[c->n_nodes++] = (chk_copy_node){group, n, copy};
  return SW_OK;
}

chk_verdict chk_copies_node(chk_copies *c, const int64_t *row, size_t n, sw_rc *rc) {
  if (n < 2 || n > 1 + LAYOUTS_MOST || row[0] < 0 || row[0] >= c->p->n_copies)
    return "expected the number of a group of copies, and up to 30 layouts";
  const int32_t group = (int32_t)row[0];
  for (size_t k = 1; k < n; k++) {
    if (row[k] < 0 || row[k] >= c->p->copies[group].table->n_layouts) return "the group has no such layout";
    bool again = c->has_node[group] && c->has_node[group][row[k]];
    for (size_t a = 1; a < k; a++) again |= row[a] == row[k];
    if (again) return "a layout has a node already";
  }
  *rc = keep_node(c, group, row + 1, (int32_t)n - 1);
  return NULL;
}

static sw_rc keep_share(chk_copies *c, int32_t group, int32_t layout, int32_t class, const int64_t *share) {
  const sw_copy_table *t = c->p->copies[group].table;
  if (!c->share[group]) SW_ARENA_NEW(c->share[group], &c->mem, t->n_layouts, NULL);
  int64_t **of_layout = &c->share[group][layout];
  if (!*of_layout) {
    SW_ARENA_NEW(*of_layout, &c->mem, (size_t)t->n_classes * (size_t)t->n_readers, NULL);
    for (int64_t k = 0; k < (int64_t)t->n_classes * t->n_readers; k++) (*of_layout)[k] = -1; /* equal */
  }
  for (int32_t i = 0; i < t->n_readers; i++)
    (*of_layout)[(int64_t) class * t->n_readers + i] = can_want(&t->wants[i], layout) ? *share++ : 0;
  return SW_OK;
}

chk_verdict chk_copies_share(chk_copies *c, const int64_t *row, size_t n, sw_rc *rc) {
  if (n < 3 || row[0] < 0 || row[0] >= c->p->n_copies) return "expected the number of a group of copies";
  const sw_copy_table *t = c->p->copies[row[0]].table;
  if (row[1] < 0 || row[1] >= t->n_layouts || row[2] < 0 || row[2] >= t->n_classes)
    return "the group has no such layout or class";
  const int32_t layout = (int32_t)row[1], class = (int32_t)row[2];
  if (n != 3 + (size_t)count_wanting(t, layout)) return "expected a share for every reader that can want it";
  const int64_t cost = t->cost[(int64_t) class * t->n_layouts + layout];
  sw_i128 sum = 0;
  for (size_t k = 3; k < n; k++) {
    if (row[k] < 0) return "a share is negative";
    sum += row[k];
  }
  if (cost >= SW_FORBIDDEN || sum > cost) return "the shares come to more than the cost";
  *rc = keep_share(c, (int32_t)row[0], layout, class, row + 3);
  return NULL;
}

/* --- nodes and edges --------------------------------------------------------------------------------------------- */

/* A choice of a node: a class of the maker's, and which of the node's layouts are made. */
typedef struct choice {
  int32_t class;
  uint32_t made;
} choice;

typedef struct builder {
  chk_copies *c;
  sw_node *nodes;
  sw_edge *edges;
  int32_t n_nodes, n_edges;
} builder;

/* What reader i pays beside the maker's class for the layouts without a node. */
static int64_t sum_of_shares(const chk_copies *c, int32_t group, int32_t class, int32_t i, int32_t reader_class) {
  const sw_copy_table *t = c->p->copies[group].table;
  const sw_wants *w = &t->wants[i];
  int64_t sum = 0;
  for (int32_t k = w->first[reader_class]; k < w->first[reader_class + 1]; k++) {
    const int32_t layout = w->layout[k];
    if (c->has_node[group] && c->has_node[group][layout]) continue;
    const int64_t cost = t->cost[(int64_t) class * t->n_layouts + layout];
    const int64_t *own = c->share[group] ? c->share[group][layout] : NULL;
    int64_t share = own ? own[(int64_t) class * t->n_readers + i] : -1;
    int32_t first = 0;
    while (!can_want(&t->wants[first], layout)) first++;
    const int64_t m = count_wanting(t, layout);
    if (cost >= SW_FORBIDDEN) share = SW_FORBIDDEN;
    if (share < 0 && m > 0) share = cost / m + (first == i ? cost % m : 0); /* the reader itself wants it: m > 0 */
    sum = sw_cost_add(sum, share);
  }
  return sum;
}

/* What reader i pays in a node: what it wants and is not made. */
static int64_t unmade(const chk_copies *c, const chk_copy_node *v, const choice *x, int32_t i, int32_t reader_class) {
  const sw_copy_table *t = c->p->copies[v->group].table;
  int64_t sum = 0;
  for (int32_t k = 0; k < v->n; k++) {
    if (x->made >> k & 1 || !class_wants(&t->wants[i], reader_class, v->layout[k])) continue;
    sum = sw_cost_add(sum, t->cost[(int64_t)x->class * t->n_layouts + v->layout[k]]);
  }
  return sum;
}

/* The table between choices and a reader, if it says anything; `with_shares`: of layouts without a node, too. */
static sw_rc add_reader(builder *b, const chk_copy_node *v, int32_t source, const choice *x, int32_t n, int32_t i,
                        bool with_shares) {
  const sw_copies *g = &b->c->p->copies[v->group];
  const sw_wants *w = &g->table->wants[i];
  int64_t *table, *of_class;
  bool any = false;
  SW_ARENA_NEW(table, &b->c->mem, (size_t)n * (size_t)w->n_choices, NULL);
  SW_ARENA_NEW(of_class, &b->c->mem, w->n_classes, NULL);
  for (int32_t a = 0; a < n; a++) {
    for (int32_t c = 0; c < w->n_classes; c++) {
      of_class[c] = unmade(b->c, v, &x[a], i, c);
      if (with_shares) of_class[c] = sw_cost_add(of_class[c], sum_of_shares(b->c, v->group, x[a].class, i, c));
      any |= of_class[c] > 0;
    }
    for (int32_t s = 0; s < w->n_choices; s++) table[(int64_t)a * w->n_choices + s] = of_class[w->class_of[s]];
  }
  if (any) b->edges[b->n_edges++] = (sw_edge){source, g->reader[i], table};
  return SW_OK;
}

/* Can two readers take each of the layouts in `made`? Where they are twice as many, it is not asked. */
static bool is_worth_making(const chk_copies *c, const chk_copy_node *v, uint32_t made) {
  const sw_copy_table *t = c->p->copies[v->group].table;
  const int32_t need = 2 * __builtin_popcount(made);
  int32_t takers = 0;
  for (int32_t i = 0; i < t->n_readers; i++) {
    int32_t most = 0;
    for (int32_t a = 0; a < t->wants[i].n_classes; a++) {
      int32_t n = 0;
      for (int32_t k = 0; k < v->n; k++) n += made >> k & 1 && class_wants(&t->wants[i], a, v->layout[k]);
      most = n > most ? n : most;
    }
    takers += most;
  }
  return t->n_readers >= need || takers >= need;
}

/* Is `made` a choice of the node beside the class? What it costs. */
static bool is_choice(const chk_copies *c, const chk_copy_node *v, const choice *x, int64_t *cost) {
  const sw_copy_table *t = c->p->copies[v->group].table;
  *cost = 0;
  if (!is_worth_making(c, v, x->made)) return false;
  for (int32_t k = 0; k < v->n; k++) {
    if (!(x->made >> k & 1)) continue;
    const int64_t one = t->cost[(int64_t)x->class * t->n_layouts + v->layout[k]];
    if (one == 0 || one >= SW_FORBIDDEN) return false;
    *cost = sw_cost_add(*cost, one);
  }
  return true;
}

/* Sets of the node's layouts, smaller ones first, then by their first members; at most half as many as are wanted. */
static chk_verdict list_sets(chk_copies *c, const chk_copy_node *v, uint32_t **sets, int32_t *n, sw_rc *rc) {
  const int32_t most = most_wanted(c->p->copies[v->group].table) / 2;
  *sets = sw_arena_alloc(&c->mem, ROWS_MOST + LAYOUTS_MOST, sizeof **sets, NULL);
  *rc = *sets ? SW_OK : SW_E_RESOURCE;
  if (*rc) return NULL;
  *n = 1;
  for (int32_t a = 0; a < *n; a++) {
    if (__builtin_popcount((*sets)[a]) >= most) break;
    for (int32_t k = 0; k < v->n; k++)
      if ((*sets)[a] >> k == 0) (*sets)[(*n)++] = (*sets)[a] | UINT32_C(1) << k;
    if (*n > ROWS_MOST) return "a node of so many choices";
  }
  return NULL;
}

static chk_verdict add_node(builder *b, const chk_copy_node *v, bool first, sw_rc *rc) {
  const sw_copies *g = &b->c->p->copies[v->group];
  const sw_copy_table *t = g->table;
  const int32_t node = b->n_nodes++;
  uint32_t *sets;
  int32_t n_sets = 0, n = 0;
  chk_verdict wrong = list_sets(b->c, v, &sets, &n_sets, rc);
  if (wrong || *rc) return wrong;
  if ((int64_t)n_sets * t->n_classes > ROWS_MOST) return "a node of so many choices";
  const size_t rows = (size_t)n_sets * (size_t)t->n_classes;
  choice *x = sw_arena_alloc(&b->c->mem, rows, sizeof *x, NULL);
  int64_t *cost = sw_arena_alloc(&b->c->mem, rows, sizeof *cost, NULL);
  *rc = x && cost ? SW_OK : SW_E_RESOURCE;
  if (*rc) return NULL;
  for (int32_t class = 0; class < t->n_classes; class ++) {
    for (int32_t a = 0; a < n_sets; a++) {
      x[n] = (choice){class, sets[a]};
      if (is_choice(b->c, v, &x[n], &cost[n])) n++;
    }
  }
  int64_t *link = sw_arena_alloc(&b->c->mem, (size_t)t->n_choices * (size_t)n, sizeof *link, NULL);
  *rc = link ? SW_OK : SW_E_RESOURCE;
  for (int64_t k = 0; link && k < (int64_t)t->n_choices * n; k++)
    link[k] = t->class_of[k / n] == x[k % n].class ? 0 : SW_FORBIDDEN;
  b->nodes[node] = (sw_node){.n_choices = n, .cost = cost};
  b->edges[b->n_edges++] = (sw_edge){g->maker, node, link};
  for (int32_t i = 0; i < t->n_readers && !*rc; i++) *rc = add_reader(b, v, node, x, n, i, first);
  return NULL;
}

/* Between the maker itself and the readers, where the group has no node. */
static sw_rc add_group(builder *b, int32_t group) {
  const sw_copies *g = &b->c->p->copies[group];
  const chk_copy_node none = {.group = group};
  choice *x;
  SW_ARENA_NEW(x, &b->c->mem, g->table->n_choices, NULL);
  for (int32_t a = 0; a < g->table->n_choices; a++) x[a].class = g->table->class_of[a];
  for (int32_t i = 0; i < g->table->n_readers; i++)
    SW_TRY(add_reader(b, &none, g->maker, x, g->table->n_choices, i, true));
  return SW_OK;
}

static sw_rc make_room(builder *b) {
  const chk_copies *c = b->c;
  const sw_problem *p = c->p;
  size_t n_edges = (size_t)p->n_edges;
  for (int32_t k = 0; k < p->n_copies; k++) n_edges += (size_t)p->copies[k].table->n_readers;
  for (int32_t k = 0; k < c->n_nodes; k++) n_edges += 1 + (size_t)p->copies[c->nodes[k].group].table->n_readers;
  SW_ARENA_NEW(b->nodes, &b->c->mem, (size_t)p->n_nodes + (size_t)c->n_nodes, NULL);
  SW_ARENA_NEW(b->edges, &b->c->mem, n_edges, NULL);
  if (p->n_nodes) memcpy(b->nodes, p->nodes, (size_t)p->n_nodes * sizeof *b->nodes);
  if (p->n_edges) memcpy(b->edges, p->edges, (size_t)p->n_edges * sizeof *b->edges);
  b->n_nodes = p->n_nodes;
  b->n_edges = p->n_edges;
  return SW_OK;
}

chk_verdict chk_copies_build(chk_copies *c, sw_problem *out, sw_rc *rc) {
  builder b = {.c = c};
  bool *seen = sw_arena_alloc(&c->mem, (size_t)c->p->n_copies, sizeof *seen, NULL);
  *rc = seen ? make_room(&b) : SW_E_RESOURCE;
  for (int32_t k = 0; k < c->n_nodes && !*rc; k++) {
    const int32_t group = c->nodes[k].group;
    chk_verdict wrong = add_node(&b, &c->nodes[k], !seen[group], rc);
    if (wrong) return wrong;
    seen[group] = true;
  }
  for (int32_t k = 0; k < c->p->n_copies && !*rc; k++)
    if (!seen[k]) *rc = add_group(&b, k);
  *out = *c->p;
  out->nodes = b.nodes;
  out->edges = b.edges;
  out->n_nodes = b.n_nodes;
  out->n_edges = b.n_edges;
  out->n_copies = 0;
  return NULL;
}
