#include "strategy/divide.h"

#include <math.h>
#include <string.h>

#include "shardwright/alike.h"
#include "shardwright/clock.h"
#include "shardwright/hash.h"
#include "shardwright/simd.h"

enum { PATIENCE = 8, LIFTED_PATIENCE = 16, PAD = 4, ROUND = 25, SHORT_ROUND = 4 };
static const double kLeastFactor = 2e-3, kMix = 0.2;
static const double kLeastGain = 0.02; /* of what is missing, in a round of passes */

/* What choices of two nodes cost together, by classes: of a producer and one of its consumers. */
typedef struct table {
  int32_t n[2], wide[2]; /* classes; padded for whole vectors */
  const int32_t *class_of[2];
  double *fixed;          /* [n[0]][wide[1]]: without parts */
  double *cost[2];        /* with them: [n[0]][wide[1]], [n[1]][wide[0]] */
  const sw_wants *wants;  /* of the consumer */
  const int32_t *part_at; /* [n[0]][n_ids]: into the parts, see part_in; NULL: none */
  int32_t n_ids;
  bool divided; /* there are parts in it */
  int32_t pattern;
} table;

typedef struct link {
  int32_t node[2], table; /* producer, consumer */
  double *msg[2];         /* messages to them, by class */
  double *mine;           /* of the last pass: what the sender's classes hand over */
  int32_t *member;        /* ... and the choice behind it */
} link;

typedef struct arc {
  int32_t link, side; /* of the node in the link */
} arc;

/* One route of a pattern, paid in parts [first, first + n). */
typedef struct slot {
  int32_t pattern, from, id, first, n;
  int64_t units;
} slot;

typedef struct divider {
  sw_selection *s;
  const sw_problem *p;
  sw_arena mem;
  int32_t n; /* nodes but hubs */
  SW_ARRAY(table) tables;
  SW_ARRAY(link) links;
  SW_ARRAY(slot) slots;
  int32_t n_parts, n_messages;
  double *part, *best_part, *toward, *mass; /* toward: averaged direction; mass: supergradient */
  int32_t *first_arc, *mid_arc;             /* arcs of a node to earlier ones, then to later ones */
  arc *arcs;
  int32_t *offset, *least; /* of a node in the flat arrays; its cheapest choice in the last backward pass */
  double *unary, *hat, *share, *messages, *best_messages;
  int64_t n_steps; /* of time; 0: memory is not in the way */
  double *price, *best_price, *use, *ahead, *prefix;
  double room; /* unit of memory */
  double bound, best_bound, factor;
  int stale;
  bool lifted;               /* passes see one node of those that are alike */
  int32_t *like, *like_link; /* the first node and link of the same kind; NULL: there are too few */
  int32_t *like_part, *n_like_part;
  int32_t *alike; /* how many nodes have this one for their first */
} divider;

/* --- building ---------------------------------------------------------------------------------------------------- */

static int32_t choices_of(const divider *v, int32_t i) { return v->p->nodes[i].n_choices; }

static double cell(int64_t units) { return (double)sw_min_i64(units, SW_FORBIDDEN); }

/* The slots of one sharding, from whatever the producer gives; the parts go to the consumers that can want it. */
static sw_rc slots_of_copy(divider *v, int32_t pattern, int32_t id, int32_t **part_at, sw_diag *d) {
  const sw_pattern *p = &v->s->patterns.at[pattern];
  for (int32_t from = 0; from < p->n_from; from++) {
    slot k = {pattern, from, id, v->n_parts, p->wanting[id], 0};
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
static sw_rc new_slots(divider *v, int32_t pattern, int32_t **part_at, sw_diag *d) {
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

/* The part in what a class of the producer and a want of the consumer cost; -1: it is charged as it is. */
static int32_t part_in(const table *t, int32_t from, int32_t want) {
  return t->part_at && want >= 0 ? t->part_at[(int64_t)from * t->n_ids + want] : -1;
}

static int32_t padded(int32_t n) { return (n + PAD - 1) / PAD * PAD; }

static sw_rc room_for_table(divider *v, table *t, sw_diag *d) {
  for (int side = 0; side < 2; side++) t->wide[side] = padded(t->n[side]);
  SW_ARENA_NEW(t->fixed, &v->mem, (size_t)t->n[0] * (size_t)t->wide[1], d);
  for (int side = 0; side < 2; side++) {
    size_t cells = (size_t)t->n[side] * (size_t)t->wide[!side];
    SW_ARENA_NEW(t->cost[side], &v->mem, cells, d);
    for (size_t k = 0; k < cells; k++) t->cost[side][k] = cell(SW_FORBIDDEN);
  }
  return SW_OK;
}

/* The table of a pattern's consumer, without parts. */
static sw_rc new_table(divider *v, int32_t pattern, int32_t i, const int32_t *part_at, sw_diag *d) {
  const sw_pattern *p = &v->s->patterns.at[pattern];
  const sw_wants *w = &p->wants[i];
  table t = {.n = {p->n_from, w->n_classes},
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
        bool divided = part_in(&t, from, w->id[k]) >= 0;
        t.divided = t.divided || divided;
        if (!divided) *to += cell(units);
      }
    }
  }
  return sw_array_push(&v->tables, t, d);
}

static sw_rc add_link(divider *v, int32_t producer, int32_t consumer, int32_t at, sw_diag *d) {
  const table *t = &v->tables.at[at];
  link l = {.node = {producer, consumer}, .table = at};
  int32_t most = t->wide[0] > t->wide[1] ? t->wide[0] : t->wide[1];
  SW_ARENA_NEW(l.member, &v->mem, most, d);
  SW_ARENA_NEW(l.mine, &v->mem, most, d);
  v->n_messages += t->wide[0] + t->wide[1];
  return sw_array_push(&v->links, l, d);
}

/* Links of the values, with a table per pattern and consumer. */
static sw_rc build_values(divider *v, sw_diag *d) {
  const sw_selection *s = v->s;
  int32_t *first_table;
  SW_ARENA_NEW(first_table, &v->mem, s->patterns.n, d);
  for (size_t k = 0; k < s->patterns.n; k++) {
    const sw_pattern *p = &s->patterns.at[k];
    int32_t **part_at;
    SW_ARENA_NEW(part_at, &v->mem, p->n_consumers, d);
    SW_TRY(new_slots(v, (int32_t)k, part_at, d));
    first_table[k] = (int32_t)v->tables.n;
    for (int32_t i = 0; i < p->n_consumers; i++) SW_TRY(new_table(v, (int32_t)k, i, part_at[i], d));
  }
  for (size_t k = 0; k < s->values.n; k++) {
    const sw_read_value *r = &s->values.at[k];
    for (int32_t i = 0; i < s->patterns.at[r->pattern].n_consumers; i++)
      SW_TRY(add_link(v, r->producer, s->consumer_nodes.at[r->first_consumer + i], first_table[r->pattern] + i, d));
  }
  return SW_OK;
}

static sw_rc build_arcs(divider *v, sw_diag *d) {
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
      v->arcs[fill[node[side]]++] = (arc){(int32_t)k, side};
    }
  }
  return SW_OK;
}

static void place_messages(divider *v) {
  double *next = v->messages;
  for (size_t k = 0; k < v->links.n; k++) {
    link *l = &v->links.at[k];
    const int32_t *wide = v->tables.at[l->table].wide;
    l->msg[0] = next;
    l->msg[1] = next + wide[0];
    next = l->msg[1] + wide[1];
  }
}

static sw_rc build_flat(divider *v, sw_diag *d) {
  SW_ARENA_NEW(v->offset, &v->mem, (size_t)v->n + 1, d);
  SW_ARENA_NEW(v->least, &v->mem, v->n, d);
  for (int32_t i = 0; i < v->n; i++) v->offset[i + 1] = v->offset[i] + choices_of(v, i);
  size_t flat = (size_t)v->offset[v->n];
  SW_ARENA_NEW(v->unary, &v->mem, flat, d);
  SW_ARENA_NEW(v->hat, &v->mem, flat, d);
  SW_ARENA_NEW(v->share, &v->mem, flat, d);
  SW_ARENA_NEW(v->messages, &v->mem, v->n_messages, d);
  SW_ARENA_NEW(v->best_messages, &v->mem, v->n_messages, d);
  double **const parts[] = {&v->part, &v->best_part, &v->toward, &v->mass};
  for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) SW_ARENA_NEW(*parts[k], &v->mem, v->n_parts, d);
  place_messages(v);
  for (size_t k = 0; k < v->slots.n; k++) {
    const slot *o = &v->slots.at[k];
    for (int32_t a = o->first; a < o->first + o->n; a++) v->part[a] = (double)o->units / o->n;
  }
  return SW_OK;
}

/* Steps of time, when all largest amounts together pass the limit somewhere. */
static sw_rc build_steps(divider *v, sw_diag *d) {
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
      for (int32_t a = 0; a < choices_of(v, i); a++) largest = sw_max_i64(largest, u->amount[a]);
      v->use[u->begin] += (double)largest;
      v->use[u->end] -= (double)largest;
    }
  }
  for (int64_t t = 0; t < end; t++) most = fmax(most, sum += v->use[t]);
  v->room = (double)v->p->limit;
  if (v->p->limit < INT64_MAX && v->p->limit > 0 && most > v->room) v->n_steps = end;
  return SW_OK;
}

static sw_rc build(divider *v, sw_diag *d) {
  SW_TRY(build_values(v, d));
  SW_TRY(build_arcs(v, d));
  SW_TRY(build_flat(v, d));
  return build_steps(v, d);
}

/* --- one pass ---------------------------------------------------------------------------------------------------- */

static void set_table(const divider *v, const table *t) {
  for (int32_t from = 0; from < t->n[0]; from++) {
    for (int32_t c = 0; c < t->n[1]; c++) {
      double sum = t->fixed[(int64_t)from * t->wide[1] + c];
      for (int32_t a = t->wants->first[c]; a < t->wants->first[c + 1]; a++) {
        int32_t part = part_in(t, from, t->wants->id[a]);
        if (part >= 0) sum += v->part[part];
      }
      t->cost[0][(int64_t)from * t->wide[1] + c] = sum;
      t->cost[1][(int64_t)c * t->wide[0] + from] = sum;
    }
  }
}

static void set_tables(const divider *v, bool all) {
  for (size_t k = 0; k < v->tables.n; k++)
    if (all || v->tables.at[k].divided) set_table(v, &v->tables.at[k]);
}

/* The node that stands for i in a pass. */
static int32_t stands_for(const divider *v, int32_t i) { return v->lifted ? v->like[i] : i; }

static double count_of(const divider *v, int32_t i) { return v->lifted ? v->alike[i] : 1; }

/* What memory costs those who are alike is averaged, as they live at different times. */
static void set_unaries(divider *v) {
  for (int64_t t = 0; t < v->n_steps; t++) v->prefix[t + 1] = v->prefix[t] + v->price[t];
  for (int32_t i = 0; i < v->n; i++) {
    const sw_node *node = &v->p->nodes[i];
    int32_t to_node = stands_for(v, i);
    double *to = v->unary + v->offset[to_node], each = 1 / (v->room * count_of(v, to_node));
    for (int32_t a = 0; to_node == i && a < node->n_choices; a++) to[a] = cell(node->cost[a]);
    for (int32_t k = 0; v->n_steps && k < node->n_uses; k++) {
      double rate = (v->prefix[node->uses[k].end] - v->prefix[node->uses[k].begin]) * each;
      for (int32_t a = 0; rate > 0 && a < node->n_choices; a++) to[a] += rate * (double)node->uses[k].amount[a];
    }
  }
}

static void gather(divider *v, int32_t i) {
  double *hat = v->hat + v->offset[i];
  int32_t n = choices_of(v, i);
  memcpy(hat, v->unary + v->offset[i], (size_t)n * sizeof *hat);
  for (int32_t k = v->first_arc[i]; k < v->first_arc[i + 1]; k++) {
    const link *l = &v->links.at[v->arcs[k].link];
    const double *m = l->msg[v->arcs[k].side];
    const int32_t *class_of = v->tables.at[l->table].class_of[v->arcs[k].side];
    for (int32_t a = 0; a < n; a++) hat[a] += m[class_of[a]];
  }
}

/* out[o] = least over c of mine[c] + cost[c][o], less its own minimum, which is returned. */
SW_SIMD_CLONES static double least_sums(const double *mine, int32_t n, const double *restrict cost, int32_t wide,
                                        double *restrict out) {
  for (int32_t o = 0; o < wide; o++) out[o] = mine[0] + cost[o];
  for (int32_t c = 1; c < n; c++) {
    const double *row = cost + (int64_t)c * wide;
    double a = mine[c];
    for (int32_t o = 0; o < wide; o += PAD) {
      for (int k = 0; k < PAD; k++) {
        double sum = a + row[o + k];
        out[o + k] = sum < out[o + k] ? sum : out[o + k];
      }
    }
  }
  double least = out[0];
  for (int32_t o = 1; o < wide; o++) least = out[o] < least ? out[o] : least;
  for (int32_t o = 0; o < wide; o++) out[o] -= least;
  return least;
}

/* Node i hands its share over an arc; returns what goes into the bound. */
static double send(divider *v, int32_t i, const arc *k, double share) {
  link *l = &v->links.at[k->link];
  const table *t = &v->tables.at[l->table];
  const double *hat = v->hat + v->offset[i];
  const int32_t *class_of = t->class_of[k->side];
  int32_t n = t->n[k->side];
  for (int32_t c = 0; c < n; c++) l->mine[c] = INFINITY;
  for (int32_t a = 0; a < choices_of(v, i); a++) {
    if (hat[a] >= l->mine[class_of[a]]) continue;
    l->mine[class_of[a]] = hat[a];
    l->member[class_of[a]] = a;
  }
  for (int32_t c = 0; c < n; c++) l->mine[c] = share * l->mine[c] - l->msg[k->side][c];
  return least_sums(l->mine, n, t->cost[k->side], t->wide[!k->side], l->msg[!k->side]);
}

static double share_of(const divider *v, int32_t i) {
  int32_t back = v->mid_arc[i] - v->first_arc[i], ahead = v->first_arc[i + 1] - v->mid_arc[i];
  int32_t most = back > ahead ? back : ahead;
  return most ? 1.0 / most : 1.0;
}

static void forward(divider *v) {
  for (int32_t i = 0; i < v->n; i++) {
    if (stands_for(v, i) != i) continue;
    gather(v, i);
    for (int32_t k = v->mid_arc[i]; k < v->first_arc[i + 1]; k++) (void)send(v, i, &v->arcs[k], share_of(v, i));
  }
}

static double backward(divider *v) {
  double bound = 0;
  for (int32_t i = v->n - 1; i >= 0; i--) {
    if (stands_for(v, i) != i) continue;
    const double *hat = v->hat + v->offset[i];
    double share = share_of(v, i), part = 0;
    gather(v, i);
    for (int32_t k = v->first_arc[i]; k < v->mid_arc[i]; k++) part += send(v, i, &v->arcs[k], share);
    v->least[i] = 0;
    for (int32_t a = 1; a < choices_of(v, i); a++)
      if (hat[a] < hat[v->least[i]]) v->least[i] = a;
    part += (1.0 - (v->mid_arc[i] - v->first_arc[i]) * share) * hat[v->least[i]];
    bound += count_of(v, i) * part;
  }
  return bound;
}

/* --- supergradient ----------------------------------------------------------------------------------------------- */

/* Mass on a cell of a table counts for each part that is in it. */
static void weigh_cell(divider *v, const table *t, int32_t from, int32_t c, double mass) {
  for (int32_t a = t->wants->first[c]; t->divided && a < t->wants->first[c + 1]; a++) {
    int32_t part = part_in(t, from, t->wants->id[a]);
    if (part >= 0) v->mass[part] += mass;
  }
}

/* The class of the later node that an earlier one's class c has its message from. */
static int32_t behind(const link *l, const table *t, int later, int32_t c) {
  const double *row = t->cost[!later] + (int64_t)c * t->wide[later];
  int32_t best = 0;
  for (int32_t o = 1; o < t->n[later]; o++)
    if (l->mine[o] + row[o] < l->mine[best] + row[best]) best = o;
  return best;
}

/* Marginals that follow the minima of the backward pass, from earlier nodes to later ones. */
static void spread(divider *v) {
  memset(v->share, 0, (size_t)v->offset[v->n] * sizeof *v->share);
  memset(v->mass, 0, (size_t)v->n_parts * sizeof *v->mass);
  for (int32_t i = 0; i < v->n; i++) {
    if (stands_for(v, i) != i) continue;
    double *p = v->share + v->offset[i], share = share_of(v, i), count = count_of(v, i);
    for (int32_t k = v->first_arc[i]; k < v->mid_arc[i]; k++) {
      const link *l = &v->links.at[v->arcs[k].link];
      const table *t = &v->tables.at[l->table];
      int side = v->arcs[k].side;
      int32_t other = stands_for(v, l->node[!side]);
      const double *q = v->share + v->offset[other];
      for (int32_t a = 0; a < choices_of(v, other); a++) {
        if (q[a] <= 0) continue;
        int32_t c = t->class_of[!side][a], mine = behind(l, t, side, c);
        p[l->member[mine]] += share * q[a];
        weigh_cell(v, t, side ? c : mine, side ? mine : c, count * q[a]);
      }
    }
    p[v->least[i]] += fmax(0, 1.0 - (v->mid_arc[i] - v->first_arc[i]) * share);
  }
}

/* Takers that are alike have equal parts in what one of them has gathered for all. */
static void share_mass(divider *v) {
  for (int32_t a = 0; a < v->n_parts; a++)
    if (v->like_part[a] != a) v->mass[v->like_part[a]] += v->mass[a];
  for (int32_t a = v->n_parts - 1; a >= 0; a--) v->mass[a] = v->mass[v->like_part[a]] / v->n_like_part[v->like_part[a]];
}

/* use[t] = what the marginals occupy beyond the limit, in units of it. */
static void weigh_memory(divider *v) {
  memset(v->use, 0, ((size_t)v->n_steps + 1) * sizeof *v->use);
  for (int32_t i = 0; i < v->n; i++) {
    const double *p = v->share + v->offset[stands_for(v, i)];
    for (int32_t k = 0; k < v->p->nodes[i].n_uses; k++) {
      const sw_use *u = &v->p->nodes[i].uses[k];
      double mean = 0;
      for (int32_t a = 0; a < choices_of(v, i); a++) mean += p[a] * (double)u->amount[a];
      v->use[u->begin] += mean / v->room;
      v->use[u->end] -= mean / v->room;
    }
  }
  double run = 0;
  for (int64_t t = 0; t < v->n_steps; t++) {
    run += v->use[t];
    v->use[t] = run - 1.0;
  }
}

/* The direction within a slot: who pays more, others pay less. */
static double mean_toward(const divider *v, const slot *o) {
  double sum = 0;
  for (int32_t a = o->first; a < o->first + o->n; a++) sum += v->toward[a];
  return sum / o->n;
}

static double length_squared(const divider *v) {
  double sum = 0;
  for (size_t k = 0; k < v->slots.n; k++) {
    const slot *o = &v->slots.at[k];
    double mean = mean_toward(v, o);
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      double g = v->toward[a] - mean;
      if (v->part[a] > 0 || g > 0) sum += g * g;
    }
  }
  for (int64_t t = 0; t < v->n_steps; t++)
    if (v->price[t] > 0 || v->ahead[t] > 0) sum += v->ahead[t] * v->ahead[t];
  return sum;
}

static void move_parts(divider *v, double length) {
  for (size_t k = 0; k < v->slots.n; k++) {
    const slot *o = &v->slots.at[k];
    double mean = mean_toward(v, o), sum = 0;
    for (int32_t a = o->first; a < o->first + o->n; a++) {
      v->part[a] = fmax(0, v->part[a] + length * (v->toward[a] - mean));
      sum += v->part[a];
    }
    for (int32_t a = o->first; a < o->first + o->n; a++)
      v->part[a] = sum > 0 ? v->part[a] * (double)o->units / sum : (double)o->units / o->n;
  }
}

static void step(divider *v, double target) {
  const double kLevel = 0.3;
  for (int32_t a = 0; a < v->n_parts; a++) v->toward[a] += kMix * (v->mass[a] - v->toward[a]);
  for (int64_t t = 0; t < v->n_steps; t++) v->ahead[t] += kMix * (v->use[t] - v->ahead[t]);
  double squared = length_squared(v), level = v->best_bound + kLevel * (target - v->best_bound);
  double length = v->factor * (level - v->bound) / squared;
  if (!(squared > 0 && length > 0)) return;
  move_parts(v, length);
  for (int64_t t = 0; t < v->n_steps; t++) v->price[t] = fmax(0, v->price[t] + length * v->ahead[t]);
}

static void keep(divider *v) {
  v->best_bound = v->bound;
  memcpy(v->best_part, v->part, (size_t)v->n_parts * sizeof *v->part);
  memcpy(v->best_price, v->price, (size_t)v->n_steps * sizeof *v->price);
  memcpy(v->best_messages, v->messages, (size_t)v->n_messages * sizeof *v->messages);
}

static void rewind_to_best(divider *v) {
  memcpy(v->part, v->best_part, (size_t)v->n_parts * sizeof *v->part);
  memcpy(v->price, v->best_price, (size_t)v->n_steps * sizeof *v->price);
  memcpy(v->messages, v->best_messages, (size_t)v->n_messages * sizeof *v->messages);
}

static void pass(divider *v, double target) {
  const double kProgress = 1e-6;
  double paid = 0;
  set_tables(v, false);
  set_unaries(v);
  for (int64_t t = 0; t < v->n_steps; t++) paid += v->price[t];
  forward(v);
  v->bound = backward(v) - paid;
  v->stale = v->bound > v->best_bound + kProgress * fabs(v->best_bound) ? 0 : v->stale + 1;
  if (v->bound > v->best_bound) keep(v);
  spread(v);
  if (v->lifted) share_mass(v);
  if (v->n_steps) weigh_memory(v);
  if (v->stale > (v->lifted ? LIFTED_PATIENCE : PATIENCE)) {
    v->factor *= 0.8;
    v->stale = 0;
    rewind_to_best(v);
    return;
  }
  step(v, target);
}

/* --- repeated layers --------------------------------------------------------------------------------------------- */

static uint64_t colour_of(const divider *v, int32_t i) {
  const sw_node *node = &v->p->nodes[i];
  size_t n = (size_t)node->n_choices;
  uint64_t h = sw_hash_u64(sw_hash_quick(node->cost, n * sizeof *node->cost), (uint64_t)n);
  for (int32_t k = 0; k < node->n_uses; k++)
    h = sw_hash_u64(h, sw_hash_quick(node->uses[k].amount, n * sizeof *node->uses[k].amount));
  return h;
}

static uint64_t hash_of(uint64_t h, const void *bytes, size_t n) { return sw_hash_u64(h, sw_hash_quick(bytes, n)); }

/* Tables of consumers that pay the same for the same, but for their parts. */
static uint64_t kind_of(const table *t) {
  const sw_wants *w = t->wants;
  uint64_t h = hash_of(0, t->fixed, (size_t)t->n[0] * (size_t)t->wide[1] * sizeof *t->fixed);
  h = hash_of(h, w->first, ((size_t)w->n_classes + 1) * sizeof *w->first);
  h = hash_of(h, w->id, (size_t)w->first[w->n_classes] * sizeof *w->id);
  return sw_hash_u64(h, t->divided ? (uint64_t)t->pattern + 1 : 0);
}

/* A hash may err; what passes rely on is that those who are alike have as much of everything. */
static bool are_alike(const divider *v, int32_t i, int32_t j) {
  return choices_of(v, i) == choices_of(v, j) && v->p->nodes[i].n_uses == v->p->nodes[j].n_uses;
}

static bool are_alike_links(const divider *v, size_t k, int32_t j) {
  const table *a = &v->tables.at[v->links.at[k].table], *b = &v->tables.at[v->links.at[j].table];
  return a->n[0] == b->n[0] && a->n[1] == b->n[1];
}

/* Look for nodes that are alike: where they are many, passes over one of each kind come near to those over all. */
static sw_rc find_alike(divider *v, sw_diag *d) {
  enum { ROUNDS = 8, FEWEST = 4 }; /* of one kind, on average */
  uint64_t *colour, *kind;
  sw_alike_link *links;
  int32_t kinds = 0;
  SW_ARENA_NEW(colour, &v->mem, v->n, d);
  SW_ARENA_NEW(links, &v->mem, v->links.n, d);
  SW_ARENA_NEW(v->like, &v->mem, v->n, d);
  SW_ARENA_NEW(v->alike, &v->mem, v->n, d);
  SW_ARENA_NEW(v->like_link, &v->mem, v->links.n, d);
  SW_ARENA_NEW(kind, &v->mem, v->tables.n, d);
  for (size_t k = 0; k < v->tables.n; k++) kind[k] = kind_of(&v->tables.at[k]);
  for (int32_t i = 0; i < v->n; i++) colour[i] = colour_of(v, i);
  for (size_t k = 0; k < v->links.n; k++) {
    const link *l = &v->links.at[k];
    links[k] = (sw_alike_link){{l->node[0], l->node[1]}, kind[l->table]};
  }
  SW_TRY(sw_alike(v->n, colour, (int32_t)v->links.n, links, ROUNDS, v->like, v->like_link, d));
  for (int32_t i = 0; i < v->n; i++) {
    if (!are_alike(v, i, v->like[i])) v->like[i] = i;
    kinds += v->alike[v->like[i]]++ == 0;
  }
  for (size_t k = 0; k < v->links.n; k++)
    if (!are_alike_links(v, k, v->like_link[k])) v->like_link[k] = (int32_t)k;
  if (kinds > v->n / FEWEST) v->like = NULL;
  return SW_OK;
}

/* Parts of one route whose takers are alike: like_part[a] is the first of them, n_like_part how many. */
static sw_rc find_like_parts(divider *v, sw_diag *d) {
  int32_t *like_table, *first, *slot_of, *taker;
  SW_ARENA_NEW(like_table, &v->mem, v->tables.n, d);
  SW_ARENA_NEW(first, &v->mem, v->tables.n, d);
  SW_ARENA_NEW(slot_of, &v->mem, v->tables.n, d);
  SW_ARENA_NEW(taker, &v->mem, v->n_parts, d);
  SW_ARENA_NEW(v->like_part, &v->mem, v->n_parts, d);
  SW_ARENA_NEW(v->n_like_part, &v->mem, v->n_parts, d);
  for (size_t k = 0; k < v->links.n; k++) like_table[v->links.at[k].table] = v->links.at[v->like_link[k]].table;
  for (size_t k = 0; k < v->tables.n; k++) {
    const table *t = &v->tables.at[k];
    for (int32_t c = 0; t->part_at && c < t->n[0] * t->n_ids; c++)
      if (t->part_at[c] >= 0) taker[t->part_at[c]] = like_table[k];
  }
  for (size_t k = 0; k < v->slots.n; k++) {
    for (int32_t a = v->slots.at[k].first; a < v->slots.at[k].first + v->slots.at[k].n; a++) {
      int32_t t = taker[a];
      if (slot_of[t] != (int32_t)k + 1) first[t] = a;
      slot_of[t] = (int32_t)k + 1;
      v->like_part[a] = first[t];
      v->n_like_part[first[t]]++;
    }
  }
  return SW_OK;
}

/* Links that are alike have their messages in one place. */
static void lift(divider *v) {
  v->lifted = true;
  for (size_t k = 0; k < v->links.n; k++)
    memcpy(v->links.at[k].msg, v->links.at[v->like_link[k]].msg, sizeof v->links.at[k].msg);
}

/* Each link has its own messages again: those of its kind. */
static void lower(divider *v) {
  v->lifted = false;
  place_messages(v);
  for (size_t k = 0; k < v->links.n; k++) {
    const link *l = &v->links.at[k], *first = &v->links.at[v->like_link[k]];
    for (int side = 0; side < 2 && l != first; side++)
      memcpy(l->msg[side], first->msg[side], (size_t)v->tables.at[l->table].wide[side] * sizeof *l->msg[side]);
  }
}

/* --- the result -------------------------------------------------------------------------------------------------- */

/* Whole units: each part rounded down, the rest with the largest. */
static void round_slot(const divider *v, const slot *o, int64_t *part) {
  int64_t left = o->units;
  int32_t most = 0;
  for (int32_t a = 0; a < o->n; a++) {
    double w = v->best_part[o->first + a];
    part[a] = sw_min_i64(left, (int64_t)fmax(0, fmin(w, cell(o->units))));
    left -= part[a];
    if (w > v->best_part[o->first + most]) most = a;
  }
  part[most] += left;
}

static sw_rc room_for_parts(sw_selection *s, sw_pattern *p, sw_diag *d) {
  if (p->part) return SW_OK;
  SW_ARENA_NEW(p->part, s->arena, p->n_consumers, d);
  for (int32_t i = 0; i < p->n_consumers; i++) {
    SW_ARENA_NEW(p->part[i], s->arena, (size_t)p->n_from * (size_t)p->n_ids, d);
    for (int32_t from = 0; from < p->n_from; from++)
      for (int32_t id = 0; id < p->n_ids; id++) {
        if (p->wanting[id] != 1) continue; /* all of it, or of no cost */
        SW_TRY(sw_pattern_route(p, &s->prices, from, id, &p->part[i][(int64_t)from * p->n_ids + id], d));
      }
  }
  return SW_OK;
}

static sw_rc write_parts(divider *v, sw_diag *d) {
  int64_t *part;
  int32_t most = 1;
  for (size_t k = 0; k < v->slots.n; k++) most = v->slots.at[k].n > most ? v->slots.at[k].n : most;
  SW_ARENA_NEW(part, &v->mem, most, d);
  for (size_t k = 0; k < v->slots.n; k++) {
    const slot *o = &v->slots.at[k];
    sw_pattern *p = &v->s->patterns.at[o->pattern];
    SW_TRY(room_for_parts(v->s, p, d));
    round_slot(v, o, part);
    int32_t a = 0;
    for (int32_t i = 0; i < p->n_consumers; i++) {
      if (sw_pattern_can_want(p, i, o->id)) p->part[i][(int64_t)o->from * p->n_ids + o->id] = part[a++];
    }
    p->ready = false;
  }
  return SW_OK;
}

static bool over(const sw_divide_options *o) {
  return (o->deadline_s > 0 && sw_now_s() >= o->deadline_s) || sw_cancelled(o->cancel);
}

/* Passes until the bound is near the target, or a round of them closes less than a part of what is missing. */
static void ascend(divider *v, const sw_divide_options *o, double target, int round, double gain) {
  double before = -INFINITY;
  for (int k = 0; k < o->passes && v->factor > kLeastFactor && (k == 0 || !over(o)); k++) {
    if (k % round == 0 && k > round && v->best_bound - before < gain * (target - v->best_bound)) break;
    if (k % round == 0) before = v->best_bound;
    pass(v, target);
    if (v->best_bound >= target * (1 - o->gap)) break;
  }
  rewind_to_best(v);
}

/* Where layers repeat, passes over one node of each kind do nearly all; but for the last few tenths of a per cent. */
static sw_rc ascend_alike(divider *v, const sw_divide_options *o, double target, bool *done, sw_diag *d) {
  const double kFine = 5e-3;
  const double kLeastLiftedGain = 0.02, kFactor = 0.5; /* of the steps that follow */
  if (o->gap < kFine) return SW_OK;
  SW_TRY(find_alike(v, d));
  *done = v->like != NULL;
  if (!v->like) return SW_OK;
  SW_TRY(find_like_parts(v, d));
  lift(v);
  ascend(v, o, target, ROUND, kLeastLiftedGain);
  lower(v);
  v->best_bound = -INFINITY;
  v->factor = kFactor;
  v->stale = 0;
  return SW_OK;
}

sw_rc sw_divide_parts(sw_selection *s, const sw_divide_options *o, sw_diag *d) {
  divider v = {
      .s = s, .p = &s->problem, .n = s->n_args + s->n_ops + s->n_outputs, .factor = 1, .best_bound = -INFINITY};
  double target = cell(o->target);
  bool near = false;
  sw_rc rc = build(&v, d);
  if (!rc) set_tables(&v, true);
  if (!rc && v.n_parts) rc = ascend_alike(&v, o, target, &near, d);
  if (!rc && v.n_parts) ascend(&v, o, target, near ? SHORT_ROUND : ROUND, kLeastGain);
  if (!rc && v.best_bound > -INFINITY) rc = write_parts(&v, d);
  sw_array_free(&v.tables);
  sw_array_free(&v.links);
  sw_array_free(&v.slots);
  sw_arena_deinit(&v.mem);
  return rc;
}
