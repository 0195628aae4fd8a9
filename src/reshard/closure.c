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

sw_rc rs_closure_init(rs_closure *c, const rs_query *q, rs_net_scope scope, sw_diag *d) {
  c->q = *q;
  SW_MEM_NEW(c->net, 1, d);
  rs_net_init(c->net, &c->q, scope);
  const int n = c->net->n_states;
  SW_MEM_NEW(c->cost_s, (size_t)n * (size_t)n, d);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) c->cost_s[i * n + j] = i == j ? 0 : rs_net_step_s(c->net, i, j, NULL);
  }
  relax_all(c->cost_s, n);
  return SW_OK;
}

void rs_closure_deinit(rs_closure *c) {
  sw_mem_free(c->net);
  sw_mem_free(c->cost_s);
  *c = (rs_closure){0};
}

double rs_closure_s(const rs_closure *c, const rs_state *from, const rs_state *to) {
  return c->cost_s[rs_net_find(c->net, from) * c->net->n_states + rs_net_find(c->net, to)];
}
