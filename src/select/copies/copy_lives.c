/* Lives of copies as nodes and edges, of every group that is counted so. Where its readers are few, one node knows what
 * is made and what is wanted together, and pays for copies in place of the group's edges: its choices are those of
 * maker and readers by class.
 *
 * Else there is a node for what is made and one for each layout that is wanted:
 *
 *   node              choices                                      edges
 *   what is made      held no longer than in any case; or an       to the maker: the amount is that of what it makes
 *                     amount of it, until an end behind
 *   a layout          not there; what is made, held until an end;  to the maker: is it made so?
 *                     a copy, from a reader to another             to readers who want it: there while they need it
 *                                                                  to what is made: held until the copy is made of it
 *
 * Their costs are zero or forbidden. To be held longer than needed is allowed, and never fits better; but a copy is
 * made for a reader that wants it: made earlier, it would set what it is made of free. So the least that goes with a
 * choice of maker and readers is what the choice holds.
 *
 * Times are ranks among the times of a group: groups of one table whose times are in the same order share all tables.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/lists.h"
#include "select/copies/copies.h"

enum { MOST_ROWS = 256, MOST_TOGETHER = 4096, MOST_CELLS = 1 << 22 };

/* A choice of a life node. */
typedef enum life_kind { LIFE_NONE, LIFE_MADE, LIFE_COPY } life_kind;
typedef struct life_row {
  life_kind kind;
  int32_t begin, end; /* ranks */
  int64_t amount;
  int32_t first; /* of a copy: the reader that it is made for */
} life_row;

/* What is held from one time to the next, by row. */
typedef struct life_span {
  int32_t begin, end;
  int64_t *amount;
} life_span;

typedef struct life_node {
  int32_t layout; /* -1: what is made */
  int32_t n_rows, n_spans;
  life_row *rows; /* of a layout, or of what is made */
  life_span *spans;
  int64_t *cost;
} life_node;

enum { TO_FIRST = -1, TO_MAKER = -2 }; /* the first life node, the maker; else a reader */
typedef struct life_edge {
  int32_t node, to;
  const int64_t *cost; /* rows of the other x the node's where that is a life node or the maker, else the node's rows x
                          the reader's choices */
} life_edge;

typedef struct sel_life_shape {
  bool together;
  int64_t priced; /* the version of the table whose costs are in the nodes' */
  bool made;      /* the first node is that of what is made */
  SW_ARRAY(life_node) nodes;
  SW_ARRAY(life_edge) edges;
  int64_t cells;
  bool large; /* too large to be counted */
} sel_life_shape;

/* Times of a group, by rank, and its own as ranks. */
typedef struct life_times {
  int32_t n, n_readers;
  int64_t *time;
  int32_t held, *taken, *behind, *until, *until_made; /* behind the step at which it is taken */
} life_times;

struct sel_life {
  sel_life_shape *shape;
  life_times times;
  sw_node *nodes;
};

int32_t sel_life_nodes(const sw_relaxation *r, int32_t group) {
  const sel_life *l = r->life[group];
  return l ? (int32_t)l->shape->nodes.n : 0;
}

bool sel_life_pays(const sw_relaxation *r, int32_t group) {
  const sel_life *l = r->life[group];
  return l && l->shape->together;
}

/* --- times ------------------------------------------------------------------------------------------------------- */

static int32_t rank_of(const life_times *t, int64_t time) {
  const int64_t *at = bsearch(&time, t->time, (size_t)t->n, sizeof *t->time, sw_compare_i64);
  return (int32_t)(at - t->time);
}

static sw_rc find_times(const sw_lives *l, int32_t n, sw_arena *arena, life_times *t, sw_diag *d) {
  t->n = 0;
  t->n_readers = n;
  SW_ARENA_NEW(t->time, arena, 4 * (size_t)n + 1, d);
  SW_ARENA_NEW(t->taken, arena, 4 * (size_t)n, d);
  t->behind = t->taken + n;
  t->until = t->behind + n;
  t->until_made = t->until + n;
  t->time[t->n++] = l->held;
  for (int32_t i = 0; i < n; i++) {
    t->time[t->n++] = l->taken[i];
    t->time[t->n++] = l->taken[i] + 1;
    t->time[t->n++] = l->until[i];
    t->time[t->n++] = sw_max_i64(l->held, l->until_made[i]);
  }
  t->n = sw_sort_unique(t->time, t->n);
  t->held = rank_of(t, l->held);
  for (int32_t i = 0; i < n; i++) {
    t->taken[i] = rank_of(t, l->taken[i]);
    t->behind[i] = rank_of(t, l->taken[i] + 1);
    t->until[i] = rank_of(t, l->until[i]);
    t->until_made[i] = rank_of(t, sw_max_i64(l->held, l->until_made[i]));
  }
  return SW_OK;
}

/* --- nodes ------------------------------------------------------------------------------------------------------- */

typedef struct shaping {
  const sw_copies *c;
  const life_times *t;
  sw_arena *arena;
  sel_life_shape *shape;
  int32_t most_together; /* rows of a node that knows what is made and wanted */
  bool *mark;            /* by rank: scratch, by turns */
} shaping;

/* Spans of n rows, from what each of them holds, in ranks: `held` is n lists of at most `each`, n_held long. */
static sw_rc spans_of(shaping *b, life_node *node, int32_t each, const int32_t *n_held, const sw_occupied *held,
                      sw_diag *d) {
  int32_t last = -1;
  memset(b->mark, 0, (size_t)b->t->n * sizeof *b->mark);
  for (int32_t k = 0; k < node->n_rows; k++)
    for (const sw_occupied *h = held + (int64_t)k * each; h < held + (int64_t)k * each + n_held[k]; h++)
      if (h->amount && h->begin < h->end) b->mark[h->begin] = b->mark[h->end] = true;
  SW_ARENA_NEW(node->cost, b->arena, node->n_rows, d);
  SW_ARENA_NEW(node->spans, b->arena, b->t->n, d);
  for (int32_t at = 0; at < b->t->n; at++) {
    if (!b->mark[at]) continue;
    life_span *span = &node->spans[node->n_spans];
    if (last >= 0) SW_ARENA_NEW(span->amount, b->arena, node->n_rows, d);
    for (int32_t k = 0; k < node->n_rows && last >= 0; k++)
      for (const sw_occupied *h = held + (int64_t)k * each; h < held + (int64_t)k * each + n_held[k]; h++)
        if (h->begin <= last && h->end >= at) span->amount[k] += h->amount;
    if (last >= 0) span->begin = last, span->end = at, node->n_spans++;
    last = at;
  }
  return sw_array_push(&b->shape->nodes, *node, d);
}

static void add_row(life_node *node, life_row row, shaping *b) {
  if (node->n_rows == MOST_ROWS) b->shape->large = true;
  if (!b->shape->large) node->rows[node->n_rows++] = row;
}

static sw_rc new_node(shaping *b, int32_t layout, life_node *node, sw_diag *d) {
  *node = (life_node){.layout = layout};
  SW_ARENA_NEW(node->rows, b->arena, MOST_ROWS, d);
  add_row(node, (life_row){LIFE_NONE, b->t->held, b->t->held, 0}, b);
  return SW_OK;
}

static sw_rc close_node(shaping *b, life_node *node, sw_diag *d) {
  int32_t *n_held;
  sw_occupied *held;
  SW_ARENA_NEW_EACH(b->arena, node->n_rows, d, n_held, held);
  for (int32_t k = 0; k < node->n_rows; k++) {
    const life_row *row = &node->rows[k];
    held[k] = (sw_occupied){row->begin, row->end, row->amount};
    n_held[k] = 1;
  }
  return spans_of(b, node, 1, n_held, held, d);
}

/* Amounts of what is made, until every end that someone may need behind `held`. */
static sw_rc add_made(shaping *b, sw_diag *d) {
  const sw_lives *l = b->c->lives;
  const life_times *t = b->t;
  bool any = false;
  life_node node;
  for (int32_t f = 0; f < b->c->table->n_classes; f++) any = any || l->made[f];
  memset(b->mark, 0, (size_t)t->n * sizeof *b->mark);
  for (int32_t i = 0; i < t->n_readers; i++) b->mark[t->behind[i]] = b->mark[t->until_made[i]] = true;
  SW_TRY(new_node(b, -1, &node, d));
  for (int32_t f = 0; f < b->c->table->n_classes && any; f++) {
    bool seen = false;
    for (int32_t e = 0; e < f; e++) seen = seen || l->made[e] == l->made[f];
    for (int32_t end = t->held + 1; end < t->n && !seen; end++)
      if (b->mark[end]) add_row(&node, (life_row){LIFE_MADE, t->held, end, l->made[f]}, b);
  }
  b->shape->made = node.n_rows > 1;
  return b->shape->made ? close_node(b, &node, d) : SW_OK;
}

/* Can the layout be copied from any class? */
static bool is_copied(const sw_copies *c, int32_t layout) {
  bool any = false;
  for (int32_t f = 0; f < c->table->n_classes; f++)
    any = any || (f != c->lives->made_as[layout] && sel_copy_cost(c->table, f, layout) < SW_FORBIDDEN);
  return any;
}

static void add_copy_rows(shaping *b, int32_t layout, life_node *node) {
  const life_times *t = b->t;
  const int64_t amount = b->c->lives->amount[layout];
  memset(b->mark, 0, (size_t)t->n * sizeof *b->mark);
  for (int32_t i = 0; i < t->n_readers; i++)
    if (sel_wants(&b->c->table->wants[i], layout)) b->mark[t->until[i]] = true;
  for (int32_t i = 0; i < t->n_readers; i++)
    for (int32_t e = t->until[i]; e < t->n && sel_wants(&b->c->table->wants[i], layout); e++)
      if (b->mark[e]) add_row(node, (life_row){LIFE_COPY, t->taken[i], e, amount, i}, b);
}

/* A layout; no node where it can hold nothing. */
static sw_rc add_layout(shaping *b, int32_t layout, sw_diag *d) {
  const life_times *t = b->t;
  const bool is_made = b->c->lives->made_as[layout] >= 0;
  life_node node;
  SW_TRY(new_node(b, layout, &node, d));
  memset(b->mark, 0, (size_t)t->n * sizeof *b->mark);
  b->mark[t->held] = true;
  for (int32_t i = 0; i < t->n_readers; i++)
    if (sel_wants(&b->c->table->wants[i], layout)) b->mark[t->until_made[i]] = true;
  for (int32_t end = t->held; end < t->n && is_made; end++)
    if (b->mark[end]) add_row(&node, (life_row){LIFE_MADE, t->held, end, 0}, b);
  const int32_t made = node.n_rows;
  if (is_copied(b->c, layout)) add_copy_rows(b, layout, &node);
  return made == node.n_rows && (made <= 2 || !b->shape->made) ? SW_OK : close_node(b, &node, d);
}

/* --- edges ------------------------------------------------------------------------------------------------------- */

static sw_rc add_edge(shaping *b, int32_t node, int32_t to, int64_t cells, int64_t **cost, sw_diag *d) {
  b->shape->cells += cells;
  if (b->shape->cells > MOST_CELLS) b->shape->large = true;
  *cost = NULL;
  if (b->shape->large) return SW_OK;
  SW_ARENA_NEW(*cost, b->arena, cells, d);
  return sw_array_push(&b->shape->edges, ((life_edge){node, to, *cost}), d);
}

static bool goes_with_class(const sw_lives *l, const life_node *node, const life_row *row, int32_t class) {
  if (row->kind == LIFE_NONE) return true;
  if (node->layout < 0) return l->made[class] == row->amount;
  return (row->kind == LIFE_MADE) == (l->made_as[node->layout] == class);
}

static sw_rc tie_to_maker(shaping *b, int32_t at, sw_diag *d) {
  const life_node *node = &b->shape->nodes.at[at];
  const sw_copy_table *t = b->c->table;
  int64_t *cost;
  if (node->layout >= 0 && b->c->lives->made_as[node->layout] < 0) return SW_OK;
  SW_TRY(add_edge(b, at, TO_MAKER, (int64_t)t->n_choices * node->n_rows, &cost, d));
  for (int32_t x = 0; x < t->n_choices && cost; x++)
    for (int32_t k = 0; k < node->n_rows; k++)
      *cost++ = goes_with_class(b->c->lives, node, &node->rows[k], t->class_of[x]) ? 0 : SW_FORBIDDEN;
  return SW_OK;
}

/* Is it there while the reader needs it? */
static bool serves(const life_times *t, const life_row *row, int32_t reader) {
  if (row->kind == LIFE_MADE) return row->end >= t->until_made[reader];
  return row->kind == LIFE_COPY && row->begin <= t->taken[reader] && row->end >= t->until[reader];
}

/* A copy is made for a reader who wants it: made earlier, it would set what it is made of free. */
static bool goes_with_reader(const life_times *t, const life_row *row, int32_t reader, bool wants) {
  if (wants) return serves(t, row, reader);
  return row->kind != LIFE_COPY || row->first != reader;
}

static sw_rc tie_to_reader(shaping *b, int32_t at, int32_t reader, sw_diag *d) {
  const life_node *node = &b->shape->nodes.at[at];
  const sw_wants *w = &b->c->table->wants[reader];
  int64_t *cost;
  if (!sel_wants(w, node->layout)) return SW_OK;
  SW_TRY(add_edge(b, at, reader, (int64_t)w->n_choices * node->n_rows, &cost, d));
  for (int32_t k = 0; k < node->n_rows && cost; k++)
    for (int32_t y = 0; y < w->n_choices; y++) {
      const bool wants = sel_class_wants(w, w->class_of[y], node->layout);
      *cost++ = goes_with_reader(b->t, &node->rows[k], reader, wants) ? 0 : SW_FORBIDDEN;
    }
  return SW_OK;
}

/* What is made is there until behind the step at which a copy is made of it. */
static int32_t needs_made_until(const life_times *t, const life_row *row) {
  return row->kind == LIFE_COPY ? t->behind[row->first] : row->end;
}

static sw_rc tie_to_made(shaping *b, int32_t at, sw_diag *d) {
  const life_node *node = &b->shape->nodes.at[at], *made = &b->shape->nodes.at[0];
  int64_t *cost;
  if (!b->shape->made || at == 0) return SW_OK;
  SW_TRY(add_edge(b, at, TO_FIRST, (int64_t)made->n_rows * node->n_rows, &cost, d));
  for (int32_t m = 0; m < made->n_rows && cost; m++)
    for (int32_t k = 0; k < node->n_rows; k++) {
      const bool none = node->rows[k].kind == LIFE_NONE;
      const int32_t need = none ? b->t->held : needs_made_until(b->t, &node->rows[k]);
      *cost++ = made->rows[m].end >= need ? 0 : SW_FORBIDDEN;
    }
  return SW_OK;
}

static sw_rc shape_layouts(shaping *b, sw_diag *d) {
  SW_TRY(add_made(b, d));
  for (int32_t k = 0; k < b->c->table->n_layouts; k++) SW_TRY(add_layout(b, k, d));
  for (size_t k = 0; k < b->shape->nodes.n && !b->shape->large; k++) {
    SW_TRY(tie_to_maker(b, (int32_t)k, d));
    SW_TRY(tie_to_made(b, (int32_t)k, d));
    for (int32_t i = 0; i < b->t->n_readers && b->shape->nodes.at[k].layout >= 0; i++)
      SW_TRY(tie_to_reader(b, (int32_t)k, i, d));
  }
  return SW_OK;
}

/* --- nodes that know what is made and what is wanted ------------------------------------------------------------- */

/* Rows that belong to one class of the other's choices each. */
static sw_rc tie_classes(shaping *b, int32_t node, int32_t to, const int32_t *row_class, sw_diag *d) {
  const sw_copy_table *t = b->c->table;
  const int32_t n_rows = b->shape->nodes.at[node].n_rows;
  const int32_t n = to == TO_MAKER ? t->n_choices : t->wants[to].n_choices;
  const int32_t *class_of = to == TO_MAKER ? t->class_of : t->wants[to].class_of;
  int64_t *cost;
  SW_TRY(add_edge(b, node, to, (int64_t)n * n_rows, &cost, d));
  for (int32_t x = 0; x < n && cost; x++)
    for (int32_t k = 0; k < n_rows; k++)
      cost[to == TO_MAKER ? (int64_t)x * n_rows + k : (int64_t)k * n + x] =
          class_of[x] == row_class[k] ? 0 : SW_FORBIDDEN;
  return SW_OK;
}

/* One of each class. */
static void put_examples(int32_t n_choices, const int32_t *class_of, int32_t *example) {
  for (int32_t x = n_choices; x-- > 0;) example[class_of[x]] = x;
}

/* The class of reader i, or of the maker (-1), in a row of all together. */
static int32_t class_in_row(const sw_copy_table *t, int32_t row, int32_t i) {
  for (int32_t k = t->n_readers - 1; k >= 0; k--) {
    if (k == i) return row % t->wants[k].n_classes;
    row /= t->wants[k].n_classes;
  }
  return row;
}

/* The group by itself, under numbers of its own: the maker is 0, readers follow. */
static sw_rc alone(const shaping *b, sw_copies *out, int32_t **choice, int32_t ***example, sw_diag *d) {
  const sw_copy_table *t = b->c->table;
  int32_t *reader;
  SW_ARENA_NEW(reader, b->arena, t->n_readers, d);
  SW_ARENA_NEW_EACH(b->arena, t->n_readers + 1, d, *choice, *example);
  SW_ARENA_NEW((*example)[0], b->arena, t->n_classes, d);
  put_examples(t->n_choices, t->class_of, (*example)[0]);
  for (int32_t i = 0; i < t->n_readers; i++) {
    reader[i] = i + 1;
    SW_ARENA_NEW((*example)[i + 1], b->arena, t->wants[i].n_classes, d);
    put_examples(t->wants[i].n_choices, t->wants[i].class_of, (*example)[i + 1]);
  }
  *out = (sw_copies){0, reader, t, b->c->lives};
  return SW_OK;
}

static sw_rc shape_together(shaping *b, int32_t n_rows, sw_diag *d) {
  const sw_copy_table *t = b->c->table;
  life_node node = {.n_rows = n_rows};
  sw_copies c;
  int32_t *choice, **example, *n_held, *class;
  sw_occupied *held;
  SW_TRY(alone(b, &c, &choice, &example, d));
  const int32_t each = sw_copies_most_held(&c);
  SW_ARENA_NEW_EACH(b->arena, n_rows, d, n_held, class);
  SW_ARENA_NEW(held, b->arena, (size_t)n_rows * (size_t)each, d);
  for (int32_t k = 0; k < n_rows; k++) {
    sw_occupied *here = held + (int64_t)k * each;
    for (int32_t i = -1; i < t->n_readers; i++) choice[i + 1] = example[i + 1][class_in_row(t, k, i)];
    n_held[k] = sw_copies_held(&c, choice, here);
    for (int32_t a = 0; a < n_held[k]; a++)
      here[a] = (sw_occupied){rank_of(b->t, here[a].begin), rank_of(b->t, here[a].end), here[a].amount};
  }
  SW_TRY(spans_of(b, &node, each, n_held, held, d));
  for (int32_t i = -1; i < t->n_readers; i++) {
    for (int32_t k = 0; k < n_rows; k++) class[k] = class_in_row(t, k, i);
    SW_TRY(tie_classes(b, 0, i < 0 ? TO_MAKER : i, class, d));
  }
  return SW_OK;
}

static sw_rc make_shape(shaping *b, sw_diag *d) {
  const sw_copy_table *t = b->c->table;
  int64_t n = t->n_classes;
  for (int32_t i = 0; i < t->n_readers && n <= b->most_together; i++) n *= t->wants[i].n_classes;
  SW_ARENA_NEW(b->mark, b->arena, b->t->n, d);
  b->shape->together = n <= b->most_together;
  b->shape->priced = -1;
  return b->shape->together ? shape_together(b, (int32_t)n, d) : shape_layouts(b, d);
}

/* What a reader of class `class` pays beside the maker's class, but for what readers before it in the row want. */
static int64_t reader_payment(const sw_copy_table *t, int32_t row, int32_t i) {
  const sw_wants *w = &t->wants[i];
  const int32_t from = class_in_row(t, row, -1), class = class_in_row(t, row, i);
  int64_t sum = 0;
  for (int32_t k = w->first[class]; k < w->first[class + 1]; k++) {
    bool seen = false;
    for (int32_t a = 0; a < i && !seen; a++) {
      const sw_wants *v = &t->wants[a];
      const int32_t other = class_in_row(t, row, a);
      for (int32_t e = v->first[other]; e < v->first[other + 1]; e++) seen = seen || v->layout[e] == w->layout[k];
    }
    if (!seen) sum = sw_cost_add(sum, sel_copy_cost(t, from, w->layout[k]));
  }
  return sum;
}

/* Costs of copies as they are now. */
static void price_shape(sel_life_shape *s, const sw_copy_table *t) {
  if (!s->together || !sw_overtaken(&s->priced, t->version)) return;
  const life_node *node = &s->nodes.at[0];
  for (int32_t k = 0; k < node->n_rows; k++) {
    node->cost[k] = 0;
    for (int32_t i = 0; i < t->n_readers; i++) node->cost[k] = sw_cost_add(node->cost[k], reader_payment(t, k, i));
  }
}

/* The shape of a group, perhaps a new one. */
static sw_rc find_shape(sw_relaxation *r, int32_t group, const life_times *t, sel_life_shape **out, sw_diag *d) {
  const sw_copies *c = &r->p->copies[group];
  const size_t n_times = 4 * (size_t)t->n_readers, n_made = (size_t)c->table->n_classes;
  int64_t *key, *slot;
  bool fresh;
  size_t n = 0;
  SW_ARENA_NEW(key, r->arena, 3 + n_times + n_made, d);
  key[n++] = r->pattern_of[group];
  key[n++] = t->held;
  key[n++] = t->n;
  for (size_t k = 0; k < n_times; k++) key[n++] = t->taken[k];
  for (size_t k = 0; k < n_made; k++) key[n++] = c->lives->made[k];
  SW_TRY(sw_dict_put(&r->life_shapes, key, n * sizeof *key, (int64_t)r->life_shape.n, &slot, &fresh, d));
  if (!fresh) {
    *out = r->life_shape.at[*slot];
    return SW_OK;
  }
  SW_ARENA_NEW(*out, r->arena, 1, d);
  SW_TRY(sw_array_push(&r->life_shape, *out, d));
  shaping b = {.c = c, .t = t, .arena = r->arena, .shape = *out, .most_together = r->most_together};
  return make_shape(&b, d);
}

static sw_rc count_life(sw_relaxation *r, int32_t group, sw_diag *d) {
  const sw_copies *c = &r->p->copies[group];
  sel_life *l;
  sel_life_shape *shape;
  SW_ARENA_NEW(l, r->arena, 1, d);
  SW_TRY(find_times(c->lives, c->table->n_readers, r->arena, &l->times, d));
  SW_TRY(find_shape(r, group, &l->times, &shape, d));
  if (shape->large) return SW_OK;
  l->shape = shape;
  SW_ARENA_NEW(l->nodes, r->arena, shape->nodes.n, d);
  for (size_t k = 0; k < shape->nodes.n; k++) {
    const life_node *node = &shape->nodes.at[k];
    sw_usage *uses;
    SW_ARENA_NEW(uses, r->arena, node->n_spans, d);
    for (int32_t a = 0; a < node->n_spans; a++)
      uses[a] =
          (sw_usage){l->times.time[node->spans[a].begin], l->times.time[node->spans[a].end], node->spans[a].amount};
    l->nodes[k] = (sw_node){node->n_rows, node->n_spans, node->cost, uses};
  }
  r->life[group] = l;
  r->relaxed.version++;
  return SW_OK;
}

/* --- of a relaxation --------------------------------------------------------------------------------------------- */

sw_rc sel_lives_init(sw_relaxation *r, sw_diag *d) {
  const sw_problem *p = r->p;
  r->most_together = MOST_TOGETHER;
  SW_ARENA_NEW_EACH(r->arena, p->n_copies, d, r->life, r->life_at, r->least_at);
  SW_ARENA_NEW_EACH(r->arena, p->n_nodes, d, r->uses, r->n_uses);
  for (int32_t k = 0; k < p->n_copies; k++) {
    const sw_lives *l = p->copies[k].lives;
    r->least_at[k] = -1;
    if (l && l->least.end > l->least.begin) r->least_at[k] = r->n_uses[p->copies[k].maker]++;
  }
  for (int32_t k = 0; k < p->n_copies; k++) {
    const int32_t maker = p->copies[k].maker, n = p->nodes[maker].n_uses;
    if (r->least_at[k] < 0) continue;
    if (!r->uses[maker]) {
      SW_ARENA_NEW(r->uses[maker], r->arena, n + r->n_uses[maker], d);
      if (n) memcpy(r->uses[maker], p->nodes[maker].uses, (size_t)n * sizeof **r->uses);
    }
    r->least_at[k] += n;
  }
  return SW_OK;
}

void sel_lives_deinit(sw_relaxation *r) {
  for (size_t k = 0; k < r->life_shape.n; k++) {
    sw_array_free(&r->life_shape.at[k]->nodes);
    sw_array_free(&r->life_shape.at[k]->edges);
  }
  sw_array_free(&r->life_shape);
  sw_dict_deinit(&r->life_shapes);
}

void sel_lives_hold(sw_relaxation *r) {
  for (int32_t g = 0; g < r->p->n_copies; g++) {
    const sw_copies *c = &r->p->copies[g];
    if (r->least_at[g] < 0) continue;
    sw_usage *use = &r->uses[c->maker][r->least_at[g]];
    *use = c->lives->least;
    if (r->life[g]) use->end = use->begin;
  }
  for (int32_t i = 0; i < r->p->n_nodes; i++) {
    if (!r->uses[i]) continue;
    r->nodes.at[i].uses = r->uses[i];
    r->nodes.at[i].n_uses = r->p->nodes[i].n_uses + r->n_uses[i];
  }
}

sw_rc sel_lives_add(sw_relaxation *r, sw_diag *d) {
  for (int32_t g = 0; g < r->p->n_copies; g++) {
    const sw_copies *c = &r->p->copies[g];
    const sel_life *l = r->life[g];
    const int32_t at = (int32_t)r->nodes.n;
    r->life_at[g] = l ? at : -1;
    if (l) price_shape(l->shape, c->table);
    for (size_t k = 0; l && k < l->shape->nodes.n; k++) SW_TRY(sw_array_push(&r->nodes, l->nodes[k], d));
    for (size_t k = 0; l && k < l->shape->edges.n; k++) {
      const life_edge *e = &l->shape->edges.at[k];
      const sw_edge edge = e->to >= 0          ? (sw_edge){at + e->node, c->reader[e->to], e->cost}
                           : e->to == TO_MAKER ? (sw_edge){c->maker, at + e->node, e->cost}
                                               : (sw_edge){at, at + e->node, e->cost};
      SW_TRY(sw_array_push(&r->edges, edge, d));
    }
  }
  return SW_OK;
}

/* Is the group in memory at one of these times, beyond what the uses of its maker say? */
static bool holds_then(const sw_occupied *held, int32_t n_held, const sw_occupied *at, int32_t n) {
  for (int32_t k = 0; k < n_held; k++)
    for (int32_t a = 0; a < n; a++)
      if (held[k].amount > 0 && held[k].begin < at[a].end && at[a].begin < held[k].end && held[k].begin < held[k].end)
        return true;
  return false;
}

sw_rc sel_lives_count(sw_relaxation *r, const int32_t *choice, int64_t limit, sw_diag *d) {
  sw_problem p = *r->p;
  sw_arena mem = {0};
  const sw_occupied *over;
  int32_t n = 0;
  p.limit = limit;
  sw_rc rc = sw_problem_over(&p, choice, &mem, &n, &over, d);
  for (int32_t g = 0; g < p.n_copies && n && !rc; g++) {
    const sw_copies *c = &p.copies[g];
    if (!c->lives || r->life[g]) continue;
    sw_occupied *held = sw_arena_alloc(&mem, (size_t)sw_copies_most_held(c), sizeof *held, d);
    if (!held) rc = SW_E_RESOURCE;
    if (!rc && holds_then(held, sw_copies_held(c, choice, held), over, n)) rc = count_life(r, g, d);
  }
  sw_arena_deinit(&mem);
  return rc;
}

/* The row of a node that goes with a life; that which holds nothing, where it has none. */
static int32_t find_row(const life_node *node, life_row row) {
  for (int32_t k = 0; k < node->n_rows; k++) {
    const life_row *a = &node->rows[k];
    if (a->kind == row.kind && a->end == row.end && (row.kind != LIFE_COPY || a->first == row.first) &&
        (row.kind != LIFE_MADE || node->layout >= 0 || a->amount == row.amount))
      return k;
  }
  return 0;
}

/* The life of a layout under a choice. */
static life_row life_of(const sw_copies *c, const life_times *t, const int32_t *choice, int32_t layout) {
  const bool made = c->lives->made_as[layout] == c->table->class_of[choice[c->maker]];
  life_row row = {LIFE_NONE, t->n, t->held, 0, 0};
  for (int32_t i = 0; i < t->n_readers; i++) {
    const sw_wants *w = &c->table->wants[i];
    if (!sel_class_wants(w, w->class_of[choice[c->reader[i]]], layout)) continue;
    const int32_t end = made ? t->until_made[i] : t->until[i];
    row.end = row.kind == LIFE_NONE || end > row.end ? end : row.end;
    if (t->taken[i] < row.begin) row.begin = t->taken[row.first = i];
    row.kind = made ? LIFE_MADE : LIFE_COPY;
  }
  return row;
}

static void complete_layouts(const sw_copies *c, const sel_life *l, const int32_t *choice, int32_t *out) {
  const int32_t class = c->table->class_of[choice[c->maker]];
  life_row made = {LIFE_NONE, l->times.held, l->times.held, c->lives->made[class]};
  for (int32_t k = 0; k < c->table->n_layouts; k++) {
    const life_row row = life_of(c, &l->times, choice, k);
    const int32_t end = row.kind == LIFE_NONE ? l->times.held : needs_made_until(&l->times, &row);
    made.end = end > made.end ? end : made.end;
  }
  if (made.end > l->times.held) made.kind = LIFE_MADE;
  for (size_t k = 0; k < l->shape->nodes.n; k++) {
    const life_node *node = &l->shape->nodes.at[k];
    *out++ = find_row(node, node->layout < 0 ? made : life_of(c, &l->times, choice, node->layout));
  }
}

static void complete_together(const sw_copies *c, const int32_t *choice, int32_t *out) {
  const sw_copy_table *t = c->table;
  *out = t->class_of[choice[c->maker]];
  for (int32_t i = 0; i < t->n_readers; i++)
    *out = *out * t->wants[i].n_classes + t->wants[i].class_of[choice[c->reader[i]]];
}

void sel_lives_complete(const sw_relaxation *r, int32_t *out) {
  for (int32_t g = 0; g < r->p->n_copies; g++) {
    const sel_life *l = r->life[g];
    if (!l) continue;
    int32_t *at = out + r->life_at[g];
    if (l->shape->together) complete_together(&r->p->copies[g], out, at);
    if (!l->shape->together) complete_layouts(&r->p->copies[g], l, out, at);
  }
}
