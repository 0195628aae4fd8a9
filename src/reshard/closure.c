/* Every step from one state to another is priced; from a source that is asked for every state is then relaxed over
 * every other, and again over those that came nearer, until none does. So the triangle inequality holds by
 * construction.
 *
 *   [[x],[y]] -> [[],[]]   no single collective; relaxed over [[x],[]]: all_gather y, all_gather x
 */
#include "reshard/closure.h"

#include <math.h>
#include <string.h>

#include "reshard/uneven.h"
#include "shardwright/simd.h"

/* Steps from a state. */
static sw_rc price_row(const rs_closure *c, int from, double *out, sw_diag *d) {
  const int n = c->net->n_states;
  const rs_row *row;
  SW_TRY(rs_atlas_row(c->atlas, from, false, &row, d));
  rs_sized_hold(c->sized, row);
  for (int to = 0; to < n; to++) out[to] = rs_sized_s(c->sized, row->number[to]);
  out[from] = 0;
  return SW_OK;
}

/* Uneven blocks cost more. */
static sw_rc count_uneven(rs_closure *c, sw_diag *d) {
  const int n = c->net->n_states;
  rs_uneven *u;
  rs_step step;
  SW_MEM_NEW(u, 1, d);
  rs_uneven_init(u, c->net, &c->q);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      double *price = &c->step_s[i * n + j];
      const double counted = i == j ? 0 : rs_uneven_step(u, i, j, &step);
      *price = isinf(*price) || counted > *price ? counted : *price;
    }
  }
  sw_mem_free(u);
  return SW_OK;
}

sw_rc rs_closure_init(rs_closure *c, const rs_query *q, bool partial, sw_diag *d) {
  *c = (rs_closure){.q = *q};
  SW_TRY(rs_atlas_of(q, partial, &c->atlas, d));
  c->net = rs_atlas_net(c->atlas);
  const size_t n = (size_t)c->net->n_states;
  SW_MEM_NEW(c->row, n, d);
  SW_MEM_NEW(c->sized, 1, d);
  rs_sized_init(c->sized, c->atlas, &c->q);
  const bool even = rs_atlas_cuts_evenly(c->atlas, &c->q);
  if (even && n > RS_CLOSURE_KEEPS) return SW_OK;
  SW_MEM_NEW(c->step_s, n * n, d);
  for (size_t i = 0; i < n; i++) SW_TRY(price_row(c, (int)i, c->step_s + i * n, d));
  return even ? SW_OK : count_uneven(c, d);
}

void rs_closure_deinit(rs_closure *c) {
  for (int i = 0; c->row && i < c->net->n_states; i++) sw_mem_free(c->row[i]);
  sw_mem_free(c->row);
  sw_mem_free(c->step_s);
  sw_mem_free(c->sized);
  *c = (rs_closure){0};
}

SW_SIMD_CLONES static void relax(double *restrict row, const double *restrict step, double so_far, int n) {
  for (int i = 0; i < n; i++) {
    const double sum = so_far + step[i];
    row[i] = sum < row[i] ? sum : row[i];
  }
}

static sw_rc relax_over(const rs_closure *c, int over, double *row, sw_diag *d) {
  const int n = c->net->n_states;
  double step[RS_NET_STATES];
  const double *steps = c->step_s ? c->step_s + (ptrdiff_t)over * n : step;
  if (!c->step_s) SW_TRY(price_row(c, over, step, d));
  relax(row, steps, row[over], n);
  return SW_OK;
}

static sw_rc close_row(const rs_closure *c, int from, double *row, sw_diag *d) {
  const int n = c->net->n_states;
  double before[RS_NET_STATES]; /* when the round began */
  for (int i = 0; i < n; i++) row[i] = before[i] = HUGE_VAL;
  row[from] = 0;
  for (bool any = true; any;) {
    double now[RS_NET_STATES];
    memcpy(now, row, (size_t)n * sizeof row[0]);
    any = false;
    for (int over = 0; over < n; over++) {
      if (now[over] >= before[over]) continue; /* no nearer than when it was last relaxed over */
      SW_TRY(relax_over(c, over, row, d));
      any = true;
    }
    memcpy(before, now, (size_t)n * sizeof row[0]);
  }
  return SW_OK;
}

sw_rc rs_closure_row(rs_closure *c, int from, const double **out, sw_diag *d) {
  if (!c->row[from]) {
    double *row = sw_mem_alloc((size_t)c->net->n_states, sizeof *row, d);
    if (!row) return SW_E_RESOURCE;
    sw_rc rc = close_row(c, from, row, d);
    if (rc) {
      sw_mem_free(row);
      return rc;
    }
    c->row[from] = row;
  }
  *out = c->row[from];
  return SW_OK;
}

sw_rc rs_closure_s(rs_closure *c, const rs_state *from, const rs_state *to, double *out, sw_diag *d) {
  const double *row;
  SW_TRY(rs_closure_row(c, rs_net_find(c->net, from), &row, d));
  *out = row[rs_net_find(c->net, to)];
  return SW_OK;
}
