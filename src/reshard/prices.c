/* Prices of one shape, asked pair by pair: the first ones are searched for, then paths from a source to all states are
 * followed, and prices looked up.
 */
#include <math.h>
#include <string.h>

#include "reshard/closure.h"
#include "reshard/request.h"

/* Of pairs of whole values, and of such where something is partial. */
typedef struct shelf {
  int n_asked;
  int n_left[RS_NET_STATES]; /* by source, states that searches went on from */
  rs_closure closure;
} shelf;

struct sw_route_prices {
  sw_reshard wanted;
  shelf shelf[2];
};

sw_rc sw_route_prices_make(const sw_machine *machine, int rank, const int64_t *dims, sw_dtype t, sw_route_prices **out,
                           sw_diag *d) {
  SW_MEM_NEW(*out, 1, d);
  (*out)->wanted = (sw_reshard){.machine = machine, .rank = rank, .dims = dims, .dtype = t};
  return SW_OK;
}

void sw_route_prices_destroy(sw_route_prices *p) {
  if (!p) return;
  for (int i = 0; i < 2; i++) rs_closure_deinit(&p->shelf[i].closure);
  sw_mem_free(p);
}

/* Sums, products, least and largest values take the same steps at the same prices. */
static bool holds(const rs_closure *c, const rs_query *q) {
  const rs_space *a = &c->q.space, *b = &q->space;
  return c->net && a->n == b->n && memcmp(a->atom, b->atom, (size_t)a->n * sizeof a->atom[0]) == 0;
}

/* Between two states, from what costs least now that so much was asked: all paths of a source, where steps are kept and
 * other sources share them; those that lead to what is asked for, where searches from that source took as long; else a
 * search. */
static sw_rc between_s(shelf *s, rs_request *r, int from, int to, double *cost_s, sw_diag *d) {
  rs_closure *c = &s->closure;
  const int n = c->net->n_states;
  const double *row;
  rs_path path;
  if (c->keeps && s->n_asked > n) {
    SW_TRY(rs_closure_row(c, from, &row, d));
    *cost_s = row[to];
    return SW_OK;
  }
  if (s->n_left[from] > n) return rs_closure_s(c, from, to, cost_s, d);
  SW_TRY(rs_request_search(r, &path, d));
  s->n_left[from] += path.n_left;
  *cost_s = path.cost_s;
  return SW_OK;
}

static sw_rc in_net_s(sw_route_prices *p, rs_request *r, double *cost_s, sw_diag *d) {
  const rs_query *q = &r->query;
  const bool partial = rs_net_has_partial(q);
  shelf *s = &p->shelf[partial];
  rs_closure *c = &s->closure;
  s->n_asked++;
  if (!c->net) SW_TRY(rs_closure_init(c, q, partial, d));
  if (!holds(c, q)) return rs_request_s(r, cost_s, d);
  const int from = rs_net_find(c->net, &q->source), to = rs_net_find(c->net, &q->target);
  SW_TRY(between_s(s, r, from, to, cost_s, d));
  *cost_s += rs_made_s(r);
  return SW_OK;
}

sw_rc sw_route_prices_get(sw_route_prices *p, const sw_sharding *from, const sw_sharding *to, double *cost_s,
                          sw_diag *d) {
  sw_reshard wanted = p->wanted;
  rs_request r;
  wanted.from = from;
  wanted.to = to;
  *cost_s = HUGE_VAL;
  if (rs_request_init(&r, &wanted, NULL)) return SW_OK;
  *cost_s = 0;
  if (r.nothing_to_do) return SW_OK;
  if (r.in_net && !r.is_far) return in_net_s(p, &r, cost_s, d);
  *cost_s = sw_route_cost_s(&wanted);
  return SW_OK;
}
