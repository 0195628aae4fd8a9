/* Prices of one shape, asked pair by pair: the first ones are searched for, then the closure of all states is looked
 * up.
 */
#include <math.h>
#include <string.h>

#include "reshard/closure.h"
#include "reshard/request.h"

enum {
  MOST_COUNTED = 460
}; /* states of a closure whose prices are counted, which takes the square of time and memory */

/* Of pairs of whole values, and of such where something is partial. */
typedef struct shelf {
  int n_asked;
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

/* Have so many pairs been asked for that a closure takes no longer? */
static sw_rc pays(const shelf *s, const rs_query *q, bool partial, bool *out, sw_diag *d) {
  rs_atlas *a;
  SW_TRY(rs_atlas_of(q, partial, &a, d));
  const int n = rs_atlas_net(a)->n_states;
  *out = s->n_asked > n && (n <= RS_CLOSURE_KEEPS || rs_atlas_cuts_evenly(a, q));
  return SW_OK;
}

static sw_rc in_net_s(sw_route_prices *p, rs_request *r, double *cost_s, sw_diag *d) {
  const bool partial = rs_net_has_partial(&r->query);
  shelf *s = &p->shelf[partial];
  bool closes = false;
  s->n_asked++;
  if (!s->closure.net) SW_TRY(pays(s, &r->query, partial, &closes, d));
  if (closes) SW_TRY(rs_closure_init(&s->closure, &r->query, partial, d));
  if (holds(&s->closure, &r->query)) {
    SW_TRY(rs_closure_s(&s->closure, &r->query.source, &r->query.target, cost_s, d));
    *cost_s += rs_made_s(r);
    return SW_OK;
  }
  return rs_request_s(r, cost_s, d);
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
  if (r.in_net) return in_net_s(p, &r, cost_s, d);
  return rs_request_s(&r, cost_s, d);
}
