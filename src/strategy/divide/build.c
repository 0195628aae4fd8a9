/* Tables, links, messages, parts and steps of time, from a selection. */
#include "strategy/divide/divider.h"

#include <math.h>

/* The slots of one sharding, from whatever the producer gives; the parts go to the consumers that can want it. */
static sw_rc slots_of_copy(dv_divider *v, int32_t pattern, int32_t id, int32_t **part_at, sw_diag *d) {
  const sw_pattern *p = &v->s->patterns.at[pattern];
  for (int32_t from = 0; from < p->n_from; from++) {
    dv_slot k = {pattern, from, id, v->n_parts, p->wanting[id], 0};
    SW_TRY(sw_pattern_route(p, &v->s->prices, from, id, &k.units, d));
    if (k.units == 0 || k.units >= SW_FORBIDDEN) continue;
    SW_TRY(sw_array_push(&v->slots, k, d));
    for (int32_t i = 0; i < p->n_consumers; i++) {
      if (sw_pattern_can_want(p, i, id)) part_at[i][(int64_t)from * p->n_ids + id] = v->n_parts++;
    }
  }
  return SW_OK;
}

/* part_at[i]: of consumer i, as a table has it. */
static sw_rc new_slots(dv_divider *v, int32_t pattern, int32_t **part_at, sw_diag *d) {
  const sw_pattern *p = &v->s->patterns.at[pattern];
  size_t cells = (size_t)p->n_from * (size_t)p->n_ids;
  for (int32_t i = 0; i < p->n_consumers && p->n_consumers > 1; i++) {
    SW_ARENA_NEW(part_at[i], &v->mem, cells, d);
    for (size_t k = 0; k < cells; k++) part_at[i][k] = -1;
  }
  for (int32_t id = 0; id < p->n_ids; id++) {
    if (p->wanting[id] > 1) SW_TRY(slots_of_copy(v, pattern, id, part_at, d));
  }
  return SW_OK;
}

static int32_t padded(int32_t n) { return (n + DV_PAD - 1) / DV_PAD * DV_PAD; }

static sw_rc room_for_table(dv_divider *v, dv_table *t, sw_diag *d) {
  for (int side = 0; side < 2; side++) t->wide[side] = padded(t->n[side]);
  SW_ARENA_NEW(t->fixed, &v->mem, (size_t)t->n[0] * (size_t)t->wide[1], d);
  for (int side = 0; side < 2; side++) {
    size_t cells = (size_t)t->n[side] * (size_t)t->wide[!side];
    SW_ARENA_NEW(t->cost[side], &v->mem, cells, d);
    for (size_t k = 0; k < cells; k++) t->cost[side][k] = dv_cell(SW_FORBIDDEN);
  }
  return SW_OK;
}

/* The table of a pattern's consumer, without parts. */
static sw_rc new_table(dv_divider *v, int32_t pattern, int32_t i, const int32_t *part_at, sw_diag *d) {
  const sw_pattern *p = &v->s->patterns.at[pattern];
  const sw_wants *w = &p->wants[i];
  dv_table t = {.n = {p->n_from, w->n_classes},
                .class_of = {p->from_of, w->class_of},
                .wants = w,
                .part_at = part_at,
                .n_ids = p->n_ids,
                .pattern = pattern};
  SW_TRY(room_for_table(v, &t, d));
  for (int32_t from = 0; from < p->n_from; from++) {
    for (int32_t c = 0; c < w->n_classes; c++) {
      double *to = &t.fixed[(int64_t)from * t.wide[1] + c];
      for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
        int64_t units = ~w->id[k] == p->from_id[from] ? 0 : SW_FORBIDDEN;
        if (w->id[k] >= 0) SW_TRY(sw_pattern_route(p, &v->s->prices, from, w->id[k], &units, d));
        bool divided = dv_part_in(&t, from, w->id[k]) >= 0;
        t.divided = t.divided || divided;
        if (!divided) *to += dv_cell(units);
      }
    }
  }
  if (t.divided) SW_ARENA_NEW(t.moved, &v->mem, t.n[0], d);
  return sw_array_push(&v->tables, t, d);
}

static sw_rc add_link(dv_divider *v, int32_t producer, int32_t consumer, int32_t at, sw_diag *d) {
  const dv_table *t = &v->tables.at[at];
  dv_link l = {.node = {producer, consumer}, .table = at};
  int32_t most = t->wide[0] > t->wide[1] ? t->wide[0] : t->wide[1];
  SW_ARENA_NEW(l.member, &v->mem, most, d);
  SW_ARENA_NEW(l.mine, &v->mem, most, d);
  v->n_messages += t->wide[0] + t->wide[1];
  return sw_array_push(&v->links, l, d);
}

/* Links of the values, with a table per pattern and consumer. */
static sw_rc build_values(dv_divider *v, sw_diag *d) {
  const sw_selection *s = v->s;
  SW_ARENA_NEW(v->first_table, &v->mem, s->patterns.n, d);
  for (size_t k = 0; k < s->patterns.n; k++) {
    const sw_pattern *p = &s->patterns.at[k];
    int32_t **part_at;
    SW_ARENA_NEW(part_at, &v->mem, p->n_consumers, d);
    SW_TRY(new_slots(v, (int32_t)k, part_at, d));
    v->first_table[k] = (int32_t)v->tables.n;
    for (int32_t i = 0; i < p->n_consumers; i++) SW_TRY(new_table(v, (int32_t)k, i, part_at[i], d));
  }
  for (size_t k = 0; k < s->values.n; k++) {
    const sw_read_value *r = &s->values.at[k];
    for (int32_t i = 0; i < s->patterns.at[r->pattern].n_consumers; i++)
      SW_TRY(add_link(v, r->producer, s->consumer_nodes.at[r->first_consumer + i], v->first_table[r->pattern] + i, d));
  }
  return SW_OK;
}

static sw_rc build_arcs(dv_divider *v, sw_diag *d) {
  int32_t *fill;
  SW_ARENA_NEW(v->first_arc, &v->mem, (size_t)v->n + 1, d);
  SW_ARENA_NEW(v->mid_arc, &v->mem, v->n, d);
  SW_ARENA_NEW(v->arcs, &v->mem, 2 * v->links.n, d);
  for (size_t k = 0; k < v->links.n; k++) {
    const int32_t *node = v->links.at[k].node;
    v->first_arc[node[0] + 1]++;
    v->first_arc[node[1] + 1]++;
    v->mid_arc[node[0] > node[1] ? node[0] : node[1]]++;
  }
  for (int32_t i = 0; i < v->n; i++) {
    v->first_arc[i + 1] += v->first_arc[i];
    v->mid_arc[i] += v->first_arc[i];
  }
  fill = sw_arena_copy(&v->mem, v->first_arc, (size_t)v->n + 1, sizeof *fill, d);
  if (!fill) return SW_E_RESOURCE;
  for (int later = 1; later >= 0; later--) { /* the arcs of later ends lead to earlier ones */
    for (size_t k = 0; k < v->links.n; k++) {
      const int32_t *node = v->links.at[k].node;
      int side = (node[1] > node[0]) == (later == 1);
      v->arcs[fill[node[side]]++] = (dv_arc){(int32_t)k, side};
    }
  }
  return SW_OK;
}

void dv_place_messages(dv_divider *v) {
  double *next = v->messages;
  for (size_t k = 0; k < v->links.n; k++) {
    dv_link *l = &v->links.at[k];
    const int32_t *wide = v->tables.at[l->table].wide;
    l->msg[0] = next;
    l->msg[1] = next + wide[0];
    next = l->msg[1] + wide[1];
  }
}

static sw_rc build_flat(dv_divider *v, sw_diag *d) {
  SW_ARENA_NEW(v->offset, &v->mem, (size_t)v->n + 1, d);
  SW_ARENA_NEW(v->least, &v->mem, v->n, d);
  for (int32_t i = 0; i < v->n; i++) v->offset[i + 1] = v->offset[i] + dv_choices(v, i);
  size_t flat = (size_t)v->offset[v->n];
  SW_ARENA_NEW(v->unary, &v->mem, flat, d);
  SW_ARENA_NEW(v->hat, &v->mem, flat, d);
  SW_ARENA_NEW(v->share, &v->mem, flat, d);
  SW_ARENA_NEW(v->messages, &v->mem, v->n_messages, d);
  SW_ARENA_NEW(v->best_messages, &v->mem, v->n_messages, d);
  double **const parts[] = {&v->part, &v->best_part, &v->toward, &v->mass};
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) SW_ARENA_NEW(*parts[k], &v->mem, v->n_parts, d);
  dv_place_messages(v);
  SW_ARENA_NEW(v->slot_of, &v->mem, v->n_parts, d);
  SW_ARENA_NEW(v->live, &v->mem, v->slots.n, d);
  SW_ARENA_NEW(v->is_live, &v->mem, v->slots.n, d);
  for (size_t k = 0; k < v->slots.n; k++) {
    const dv_slot *o = &v->slots.at[k];
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      v->part[a] = v->best_part[a] = (double)o->units / o->n;
      v->slot_of[a] = (int32_t)k;
    }
  }
  return SW_OK;
}

/* Steps of time, when all largest amounts together pass the limit somewhere. */
static sw_rc build_steps(dv_divider *v, sw_diag *d) {
  int64_t end = 0;
  double sum = 0, most = 0;
  for (int32_t i = 0; i < v->n; i++)
    for (int32_t k = 0; k < v->p->nodes[i].n_uses; k++) end = sw_max_i64(end, v->p->nodes[i].uses[k].end);
  double **const steps[] = {&v->price, &v->best_price, &v->use, &v->ahead, &v->prefix};
  for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++) SW_ARENA_NEW(*steps[k], &v->mem, (size_t)end + 1, d);
  for (int32_t i = 0; i < v->n; i++) {
    for (int32_t k = 0; k < v->p->nodes[i].n_uses; k++) {
      const sw_use *u = &v->p->nodes[i].uses[k];
      int64_t largest = 0;
      for (int32_t a = 0; a < dv_choices(v, i); a++) largest = sw_max_i64(largest, u->amount[a]);
      v->use[u->begin] += (double)largest;
      v->use[u->end] -= (double)largest;
    }
  }
  for (int64_t t = 0; t < end; t++) most = fmax(most, sum += v->use[t]);
  v->room = (double)v->p->limit;
  if (v->p->limit < INT64_MAX && v->p->limit > 0 && most > v->room) v->n_steps = end;
  return SW_OK;
}

sw_rc dv_build(dv_divider *v, sw_diag *d) {
  SW_TRY(build_values(v, d));
  SW_TRY(build_arcs(v, d));
  SW_TRY(build_flat(v, d));
  return build_steps(v, d);
}
