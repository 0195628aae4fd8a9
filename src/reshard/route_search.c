/* A*: states in the order of what a path over them costs at least, until the target is next.
 *
 * The direct route (reduce, exchange, make partial) is a first upper bound. The first and the last step over each state
 * give a better one, and better lower bounds, which leave few states that a longer path may go over.
 */
#include "reshard/route_search.h"

#include <math.h>

#include "base/array.h"

typedef struct edge {
  double least_s; /* of a path over it */
  double cost_s;  /* from the source to its end */
  uint16_t from, to;
} edge;

typedef struct search {
  rs_graph *g;
  double tie_s;   /* for each step, so that among equal paths the shortest is found */
  double upper_s; /* paths that cost more are not wanted */
  SW_ARRAY(edge) heap;
  int n_alive;
  uint16_t alive[RS_MAX_VERTICES]; /* states that the cheapest path may go over */
  struct reached {
    double cost_s; /* of the best path so far */
    uint16_t from;
    uint8_t n_steps; /* of a route, which takes a slice for each dimension */
    bool done;
  } reached[RS_MAX_VERTICES];
} search;

/* --- the queue --------------------------------------------------------------------------------------------------- */

static bool edge_comes_before(const edge *a, const edge *b) {
  if (a->least_s != b->least_s) return a->least_s < b->least_s;
  if (a->to != b->to) return a->to < b->to;
  return a->from < b->from;
}

static void swap_edges(edge *a, edge *b) {
  const edge t = *a;
  *a = *b;
  *b = t;
}

static sw_rc push_edge(search *s, edge e, sw_diag *d) {
  SW_TRY(sw_array_push(&s->heap, e, d));
  edge *at = s->heap.at;
  for (size_t i = s->heap.n - 1; i > 0 && edge_comes_before(&at[i], &at[(i - 1) / 2]); i = (i - 1) / 2)
    swap_edges(&at[i], &at[(i - 1) / 2]);
  return SW_OK;
}

static edge pop_edge(search *s) {
  edge *at = s->heap.at;
  const edge top = at[0];
  at[0] = at[--s->heap.n];
  for (size_t i = 0;;) {
    size_t least = i;
    for (size_t c = 2 * i + 1; c <= 2 * i + 2 && c < s->heap.n; c++) {
      if (edge_comes_before(&at[c], &at[least])) least = c;
    }
    if (least == i) return top;
    swap_edges(&at[i], &at[least]);
    i = least;
  }
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

/* Is there room for a step's buffers, beside those of both ends? */
static bool fits(const rs_graph *g, int from, int to) {
  if (g->r->max_temp_bytes <= 0) return true;
  const double old = from == g->source ? 0 : g->vertex[from].bytes, new = to == g->target ? 0 : g->vertex[to].bytes;
  return old + new <= (double)g->r->max_temp_bytes;
}

static bool find_step(search *s, int from, int to, rs_leg *out) {
  if (from == to || !fits(s->g, from, to) || !rs_graph_leg(s->g, from, to, out)) return false;
  const bool slices = out->move.n_slices > 0; /* what lies between is no larger */
  if (slices && s->g->r->max_temp_bytes > 0 && 2 * s->g->vertex[from].bytes > (double)s->g->r->max_temp_bytes)
    return false;
  out->cost_s += s->tie_s * (out->move.op == SW_COLL_EXCHANGE ? 1.5 : 1);
  return true;
}

static sw_rc offer_step(search *s, int from, int to, const rs_leg *step, sw_diag *d) {
  const struct reached *f = &s->reached[from];
  struct reached *t = &s->reached[to];
  const double cost_s = f->cost_s + step->cost_s, least_s = cost_s + s->g->vertex[to].target_s;
  const int n_steps = f->n_steps + (step->move.n_slices ? step->move.n_slices : 1);
  if (least_s > s->upper_s || cost_s >= t->cost_s || n_steps >= SW_MAX_ROUTE_STEPS) return SW_OK;
  t->cost_s = cost_s;
  t->from = (uint16_t)from;
  t->n_steps = (uint8_t)n_steps;
  if (to == s->g->target) s->upper_s = cost_s;
  return push_edge(s, (edge){least_s, cost_s, (uint16_t)from, (uint16_t)to}, d);
}

/* The least that a step may take by the levels of the network that it crosses, which is known at a glance. */
static double latency_s(const rs_graph *g, int from, int to) {
  const rs_vertex *a = &g->vertex[from], *b = &g->vertex[to];
  double least_s = g->floor.step_s;
  if (a->state.partial != b->state.partial) return least_s;
  for (int d = 0; d < g->r->space.rank; d++) {
    const rs_dim_sharding *x = &g->dim[a->dim[d]];
    if (a->dim[d] == b->dim[d]) continue;
    const int common = rs_list_common(x->list, b->state.list[d]);
    for (int l = 0; l < g->n_levels && common < x->visible[l]; l++)
      least_s = fmax(least_s, g->floor.level[l].latency_s);
  }
  return least_s;
}

static sw_rc expand_vertex(search *s, int from, sw_diag *d) {
  const rs_graph *g = s->g;
  const double source_s = s->reached[from].cost_s;
  for (int i = 0; i < s->n_alive; i++) {
    const int to = s->alive[i];
    const struct reached *t = &s->reached[to];
    const double upper_s = fmin(s->upper_s - g->vertex[to].target_s, t->cost_s) - source_s;
    rs_leg step;
    if (t->done || g->floor.step_s > upper_s || latency_s(g, from, to) > upper_s) continue;
    if (find_step(s, from, to, &step)) SW_TRY(offer_step(s, from, to, &step, d));
  }
  return SW_OK;
}

static sw_rc search_routes(search *s, sw_diag *d) {
  const rs_graph *g = s->g;
  s->reached[g->source].cost_s = 0;
  s->reached[g->source].done = true;
  SW_TRY(expand_vertex(s, g->source, d));
  while (s->heap.n > 0) {
    const edge e = pop_edge(s);
    struct reached *t = &s->reached[e.to];
    if (t->done || e.least_s > s->upper_s || e.cost_s > t->cost_s) continue;
    t->done = true;
    if (e.to == g->target) return SW_OK;
    SW_TRY(expand_vertex(s, e.to, d));
  }
  return SW_OK;
}

/* --- bounds ------------------------------------------------------------------------------------------------------ */

/* What may be reduced is, the value exchanged, and made partial again; or exchanged as it is. */
static void direct_route(rs_graph *g, rs_path *out) {
  rs_state from = g->r->source, to = g->r->target;
  rs_leg step;
  from.partial = to.partial = 0;
  from.kind = to.kind = 0;
  int via[] = {g->source, rs_graph_add(g, &from), rs_graph_add(g, &to), g->target};
  if (rs_graph_leg(g, g->source, g->target, &step)) via[1] = via[2] = g->target;
  *out = (rs_path){.cost_s = g->r->max_temp_bytes > 0 ? HUGE_VAL : 0};
  for (int i = 0; i < 3; i++) {
    if (via[i] == via[i + 1]) continue;
    if (!rs_graph_leg(g, via[i], via[i + 1], &step)) {
      out->cost_s = HUGE_VAL;
      return;
    }
    out->hop[out->n++] = (struct rs_hop){step.move, g->vertex[via[i + 1]].state, step.cost_s};
    out->cost_s += step.cost_s;
  }
}

/* The first or the last step of a path; HUGE_VAL where none leads there at once. */
static double step_s(search *s, int from, int to) {
  rs_leg step;
  return find_step(s, from, to, &step) ? step.cost_s : HUGE_VAL;
}

/* A path over a state comes there by one step or by several, and goes on likewise: better bounds, of vertices from a
 * number on. */
static void tighten(search *s, int first_vertex) {
  const rs_graph *g = s->g;
  for (int i = first_vertex; i < g->n; i++) {
    rs_vertex *v = &s->g->vertex[i];
    if (i == g->source || i == g->target || v->source_s + v->target_s > s->upper_s) continue;
    const double first_s = step_s(s, g->source, i), last_s = step_s(s, i, g->target);
    v->source_s = fmin(first_s, v->source_s + g->floor.step_s);
    v->target_s = fmin(last_s, v->target_s + g->floor.step_s);
    s->upper_s = fmin(s->upper_s, first_s + last_s);
  }
  s->g->upper_s = s->upper_s;
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

/* None where nothing is found: `out` stays. */
static void read_path(search *s, rs_path *out) {
  rs_graph *g = s->g;
  if (isinf(s->reached[g->target].cost_s)) return;
  int at[SW_MAX_ROUTE_STEPS + 1];
  out->n = 0;
  for (int v = g->target; v != g->source; v = s->reached[v].from) at[out->n++] = v;
  at[out->n] = g->source;
  out->cost_s = 0;
  for (int i = 0; i < out->n; i++) {
    rs_leg step;
    const int from = at[out->n - i], to = at[out->n - i - 1];
    (void)rs_graph_leg(g, from, to, &step);
    out->hop[i] = (struct rs_hop){step.move, g->vertex[to].state, step.cost_s};
    out->cost_s += step.cost_s;
  }
}

static sw_rc search_states(search *s, rs_path *out, sw_diag *d) {
  const rs_graph *g = s->g;
  s->heap.n = 0;
  s->n_alive = 0;
  for (int v = 0; v < g->n; v++) {
    s->reached[v] = (struct reached){.cost_s = HUGE_VAL};
    const bool pays = v == g->target || g->vertex[v].source_s + g->vertex[v].target_s <= s->upper_s;
    if (pays) s->alive[s->n_alive++] = (uint16_t)v;
  }
  SW_TRY(search_routes(s, d));
  read_path(s, out);
  return SW_OK;
}

static sw_rc search_graph(search *s, const rs_request *r, rs_path *out, sw_diag *d) {
  static void (*const kAdd[])(rs_graph *) = {rs_graph_add_near, rs_graph_add_all, rs_graph_add_neighbours};
  rs_graph_init(s->g, r);
  direct_route(s->g, out);
  const double two_steps_s = s->g->vertex[s->g->source].target_s + s->g->floor.step_s;
  if (out->n <= 1 && out->cost_s <= two_steps_s) return SW_OK;
  s->tie_s = 1e-10 * (isinf(out->cost_s) ? s->g->floor.step_s : out->cost_s);
  s->upper_s = s->g->upper_s = out->cost_s + 2 * SW_MAX_ROUTE_STEPS * s->tie_s;
  for (int i = 0; i < (r->no_exchange ? 3 : 2); i++) { /* collectives alone take longer ways */
    const int n = i ? s->g->n : 0;
    if (i == 2) SW_TRY(search_states(s, out, d));
    kAdd[i](s->g);
    tighten(s, n);
  }
  return search_states(s, out, d);
}

sw_rc rs_search(const rs_request *r, rs_path *out, sw_diag *d) {
  search *s;
  SW_MEM_ROOM(s, 1, d);
  s->heap.at = NULL;
  s->heap.n = s->heap.cap = 0;
  s->g = sw_mem_room(1, sizeof *s->g, d);
  const sw_rc rc = s->g ? search_graph(s, r, out, d) : SW_E_RESOURCE;
  sw_array_free(&s->heap);
  sw_mem_free(s->g);
  sw_mem_free(s);
  return rc;
}
