#include "strategy/border_table.h"

#include <assert.h>
#include <string.h>

#include "shardwright/selection.h"

/* Add a want to a list of *n, unless it is there. */
static void add_want(int32_t *list, int32_t *n, int32_t want) {
  for (int32_t k = 0; k < *n; k++)
    if (list[k] == want) return;
  list[(*n)++] = want;
}

/* The class of the wants list[0 .. n), perhaps a new one; `at`: of all classes' wants. */
static int32_t class_of_wants(sw_wants *w, int32_t *first, int32_t *at, const int32_t *list, int32_t n) {
  for (int32_t c = 0; c < w->n_classes; c++)
    if (first[c + 1] - first[c] == n && memcmp(at + first[c], list, (size_t)n * sizeof *list) == 0) return c;
  memcpy(at + first[w->n_classes], list, (size_t)n * sizeof *list);
  first[w->n_classes + 1] = first[w->n_classes] + n;
  return w->n_classes++;
}

/* What an option of a reader wants, by its number in the value's shape class. A state that takes over what comes back
 * may be of another: collectives on it are done together, those on what comes back are not, or the other way round. */
static sw_rc wanted_id(const sw_option_port *port, int32_t option, int32_t shape_class, sw_prices *prices, int32_t *out,
                       sw_diag *d) {
  *out = port->id[option];
  if (port->shape_class == shape_class || *out < 0) return SW_OK;
  return sw_prices_id(prices, shape_class, &prices->classes.at[port->shape_class].shardings.at[*out], out, d);
}

/* Wants by id, which number_layouts makes layouts of. */
static sw_rc make_class_wants(const sw_border_reader *r, int32_t shape_class, sw_prices *prices, sw_wants *w,
                              int32_t **wanted, sw_arena *arena, sw_diag *d) {
  int32_t *list, *class_of, *first, *at;
  const size_t n = (size_t)r->options->n, ports = (size_t)r->n_ports;
  SW_ARENA_NEW(class_of, arena, n, d);
  SW_ARENA_NEW(first, arena, n + 1, d);
  SW_ARENA_NEW(at, arena, n * ports, d);
  SW_ARENA_NEW(list, arena, ports, d);
  for (int32_t y = 0; y < r->options->n; y++) {
    int32_t wants = 0;
    for (int32_t k = 0; k < r->n_ports; k++) {
      const sw_option_port *port = &r->options->ports[r->ports[k]];
      int32_t id;
      SW_TRY(wanted_id(port, y, shape_class, prices, &id, d));
      if (id >= 0) add_want(list, &wants, port->tied ? ~id : id);
    }
    class_of[y] = class_of_wants(w, first, at, list, wants);
  }
  w->n_choices = r->options->n;
  w->class_of = class_of;
  w->first = first;
  w->layout = *wanted = at;
  return SW_OK;
}

/* Classes of the maker's choices: what is given, in *given. */
static sw_rc class_givings(const sw_border_key *key, sw_copy_table *t, int32_t **given, sw_arena *arena, sw_diag *d) {
  const int32_t *id = key->maker->ports[key->port].id;
  int32_t *class_of;
  t->n_choices = key->maker->n;
  SW_ARENA_NEW_EACH(arena, t->n_choices, d, class_of, *given);
  for (int32_t x = 0; x < t->n_choices; x++) {
    int32_t f = 0;
    while (f < t->n_classes && (*given)[f] != id[x]) f++;
    if (f == t->n_classes) (*given)[t->n_classes++] = id[x];
    assert(f < t->n_classes && (*given)[f] == id[x]);
    class_of[x] = f;
  }
  t->class_of = class_of;
  return SW_OK;
}

/* Layouts of what is wanted, in the order of ids, uncopied ones last. */
static sw_rc number_layouts(sw_border_table *b, int32_t n_ids, int32_t *const *wanted, sw_arena *arena, sw_diag *d) {
  sw_copy_table *t = &b->copies;
  int32_t *layout; /* of id, and of n_ids + id where it must arrive so */
  SW_ARENA_NEW(layout, arena, 2 * (size_t)n_ids, d);
  for (int32_t i = 0; i < t->n_readers; i++)
    for (int32_t k = 0; k < t->wants[i].first[t->wants[i].n_classes]; k++)
      layout[wanted[i][k] < 0 ? n_ids + ~wanted[i][k] : wanted[i][k]] = 1;
  for (int32_t a = 0; a < 2 * n_ids; a++) t->n_layouts += layout[a];
  SW_ARENA_NEW(b->sharding, arena, t->n_layouts, d);
  for (int32_t a = 0, n = 0; a < 2 * n_ids; a++) {
    if (!layout[a]) continue;
    b->sharding[n] = a < n_ids ? a : ~(a - n_ids);
    layout[a] = n++;
  }
  for (int32_t i = 0; i < t->n_readers; i++)
    for (int32_t k = 0; k < t->wants[i].first[t->wants[i].n_classes]; k++)
      wanted[i][k] = layout[wanted[i][k] < 0 ? n_ids + ~wanted[i][k] : wanted[i][k]];
  return SW_OK;
}

sw_rc sw_border_table_reprice(sw_border_table *b, sw_prices *prices, int64_t version, sw_diag *d) {
  sw_copy_table *t = &b->copies;
  int64_t *cost = b->cost;
  for (int32_t from = 0; from < t->n_classes; from++) {
    for (int32_t k = 0; k < t->n_layouts; k++, cost++) {
      const int32_t id = b->sharding[k], given = b->given[from];
      int64_t now = given >= 0 && given == ~id ? 0 : SW_FORBIDDEN;
      if (id >= 0 && given >= 0) SW_TRY(sw_prices_get(prices, b->shape_class, given, id, &now, d));
      if (b->breaks) now = sw_cost_add(now, b->breaks[cost - b->cost]);
      now = sw_cost_times(now, b->repeats);
      if (now != *cost) t->version = version;
      *cost = now;
    }
  }
  return SW_OK;
}

sw_rc sw_border_table_settle(const sw_border_table *b, int32_t from, int32_t layout, sw_prices *prices, bool *raised,
                             sw_diag *d) {
  assert(from >= 0 && from < b->copies.n_classes && layout >= 0 && layout < b->copies.n_layouts);
  const int32_t id = b->sharding[layout];
  return id < 0 || b->given[from] < 0 ? SW_OK : sw_prices_settle(prices, b->shape_class, b->given[from], id, raised, d);
}

/* What copies of the value cost beyond their routes. */
static sw_rc price_breaks(const sw_border_key *key, const sw_prices *prices, sw_border_table *b, sw_arena *arena,
                          sw_diag *d) {
  const sw_shape_class *c = &prices->classes.at[b->shape_class];
  const sw_copy_table *t = &b->copies;
  SW_ARENA_NEW(b->breaks, arena, (size_t)t->n_classes * (size_t)t->n_layouts, d);
  for (int32_t from = 0; from < t->n_classes; from++) {
    for (int32_t k = 0; k < t->n_layouts; k++) {
      const int32_t id = b->sharding[k], given = b->given[from];
      if (id < 0 || given < 0 || id == given) continue;
      b->breaks[from * t->n_layouts + k] = sw_cost_units(
          prices->machine, sw_value_break_s(key->job, key->value, &c->shardings.at[given], &c->shardings.at[id]));
    }
  }
  return SW_OK;
}

sw_rc sw_border_table_make(const sw_border_key *key, sw_prices *prices, sw_arena *arena, sw_border_table *out,
                           sw_diag *d) {
  const int32_t shape_class = key->maker->ports[key->port].shape_class;
  sw_wants *wants;
  int32_t **wanted;
  *out =
      (sw_border_table){.shape_class = shape_class, .repeats = key->repeats, .copies = {.n_readers = key->n_readers}};
  SW_ARENA_NEW_EACH(arena, key->n_readers, d, wants, wanted);
  SW_TRY(class_givings(key, &out->copies, &out->given, arena, d));
  for (int32_t i = 0; i < key->n_readers; i++)
    SW_TRY(make_class_wants(&key->readers[i], shape_class, prices, &wants[i], &wanted[i], arena, d));
  out->copies.wants = wants;
  SW_TRY(number_layouts(out, (int32_t)prices->classes.at[shape_class].shardings.n, wanted, arena, d));
  SW_ARENA_NEW(out->cost, arena, (size_t)out->copies.n_classes * (size_t)out->copies.n_layouts, d);
  out->copies.cost = out->cost;
  SW_TRY(price_breaks(key, prices, out, arena, d));
  return sw_border_table_reprice(out, prices, 0, d);
}
