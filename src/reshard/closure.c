/* Every step from one state to another is priced, then every pair is relaxed over every third (Floyd and Warshall), so
 * that the triangle inequality holds by construction.
 *
 *   [[x],[y]] -> [[],[]]   no single collective; relaxed over [[x],[]]: all_gather y, all_gather x
 */
#include "reshard/closure.h"

#include <math.h>

#include "shardwright/checked.h"

static void relax_all(double *cost, int n) {
  for (int k = 0; k < n; k++) {
    const double *over = cost + (ptrdiff_t)k * n;
    for (int i = 0; i < n; i++) {
      double *row = cost + (ptrdiff_t)i * n, first = row[k];
      if (isinf(first)) continue;
      for (int j = 0; j < n; j++) {
        double sum = first + over[j];
        row[j] = sum < row[j] ? sum : row[j];
      }
    }
  }
}

static sw_rc price_uneven(rs_closure *c, sw_diag *d) {
  SW_MEM_NEW(c->own, 1, d);
  SW_TRY(rs_net_init(c->own, &c->q, (rs_net_scope){.partial = c->partial, .uneven = true}, false, d));
  c->net = c->own;
  const int n = c->net->n_states;
  SW_MEM_NEW(c->cost_s, (size_t)n * (size_t)n, d);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) c->cost_s[i * n + j] = i == j ? 0 : rs_net_step_s(c->net, i, j);
  }
  return SW_OK;
}

/* From a state to all others, which the tensor's extents may not allow. */
static sw_rc price_row(rs_closure *c, rs_atlas *a, rs_sized *sized, int from, sw_diag *d) {
  const int n = c->net->n_states;
  const rs_row *row;
  double *cost = c->cost_s + (ptrdiff_t)from * n;
  SW_TRY(rs_atlas_row(a, from, false, &row, d));
  rs_sized_hold(sized, row);
  for (int to = 0; to < n; to++) cost[to] = to == from ? 0 : rs_sized_s(sized, row->number[to]);
  return SW_OK;
}

static void forbid(rs_closure *c, int state) {
  const int n = c->net->n_states;
  for (int i = 0; i < n; i++) c->cost_s[state * n + i] = c->cost_s[i * n + state] = HUGE_VAL;
}

static sw_rc price_even(rs_closure *c, sw_diag *d) {
  rs_atlas *a;
  rs_sized sized;
  SW_TRY(rs_atlas_of(&c->q, c->partial, &a, d));
  c->net = rs_atlas_net(a);
  rs_sized_init(&sized, a, &c->q);
  const int n = c->net->n_states;
  SW_MEM_NEW(c->cost_s, (size_t)n * (size_t)n, d);
  for (int i = 0; i < n; i++) SW_TRY(price_row(c, a, &sized, i, d));
  for (int i = 0; i < n; i++) {
    if (!rs_atlas_cuts_evenly(a, &c->q, i)) forbid(c, i);
  }
  return SW_OK;
}

sw_rc rs_closure_init(rs_closure *c, const rs_query *q, rs_net_scope scope, sw_diag *d) {
  *c = (rs_closure){.q = *q, .partial = scope.partial};
  SW_TRY(scope.uneven ? price_uneven(c, d) : price_even(c, d));
  relax_all(c->cost_s, c->net->n_states);
  return SW_OK;
}

void rs_closure_deinit(rs_closure *c) {
  if (c->own) rs_net_deinit(c->own);
  sw_mem_free(c->own);
  sw_mem_free(c->cost_s);
  *c = (rs_closure){0};
}

double rs_closure_s(const rs_closure *c, const rs_state *from, const rs_state *to) {
  return c->cost_s[rs_net_find(c->net, from) * c->net->n_states + rs_net_find(c->net, to)];
}
