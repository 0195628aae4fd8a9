/* Cheapest paths from one source: to one state by Dijkstra's method, gone on with where it ended when more is asked
 * for; to all states by relaxing each over every other, and again over those that came nearer, until none does. So the
 * triangle inequality holds by construction.
 *
 *   [[x],[y]] -> [[],[]]   no single collective; relaxed over [[x],[]]: all_gather y, all_gather x
 *
 * Steps between uneven blocks are counted (uneven.h) where they may win even at the price of even blocks.
 */
#include "reshard/closure.h"

#include <math.h>
#include <string.h>

#include "base/simd.h"

sw_rc rs_closure_init(rs_closure *c, const rs_query *q, bool partial, sw_diag *d) {
  *c = (rs_closure){.q = *q};
  SW_TRY(rs_atlas_of(q, partial, &c->atlas, d));
  c->net = rs_atlas_net(c->atlas);
  const size_t n = (size_t)c->net->n_states;
  c->keeps = n <= RS_CLOSURE_KEEPS;
  SW_MEM_NEW(c->from, n, d);
  SW_MEM_NEW(c->step_s, n, d);
  SW_MEM_NEW(c->lone_s, n, d);
  SW_MEM_NEW(c->done_s, n, d);
  SW_MEM_NEW(c->sized, 1, d);
  rs_sized_init(c->sized, c->atlas, &c->q);
  if (rs_atlas_cuts_evenly(c->atlas, &c->q)) return SW_OK;
  SW_MEM_NEW(c->uneven, 1, d);
  rs_uneven_init(c->uneven, c->net, &c->q);
  return SW_OK;
}

void rs_closure_deinit(rs_closure *c) {
  const int n = c->net ? c->net->n_states : 0;
  for (int i = 0; i < n; i++) {
    if (c->from) sw_mem_free(c->from[i].cost_s);
    if (c->step_s) sw_mem_free(c->step_s[i]);
  }
  sw_mem_free(c->from);
  sw_mem_free(c->step_s);
  sw_mem_free(c->lone_s);
  sw_mem_free(c->done_s);
  sw_mem_free(c->sized);
  sw_mem_free(c->uneven);
  *c = (rs_closure){0};
}

/* --- steps ------------------------------------------------------------------------------------------------------- */

static sw_rc price_steps(const rs_closure *c, int from, double *out, sw_diag *d) {
  const int n = c->net->n_states;
  const rs_row *row;
  SW_TRY(rs_atlas_row(c->atlas, from, false, &row, d));
  rs_sized_hold(c->sized, row);
  for (int to = 0; to < n; to++) out[to] = rs_sized_s(c->sized, row->number[to]);
  if (!c->uneven) return SW_OK;
  for (int i = 0; i < row->n_cuts; i++) out[row->cut[i]] = c->net->floor.step_s;
  for (int to = 0; to < n; to++) out[to] = isinf(out[to]) ? out[to] : -out[to];
  return SW_OK;
}

static sw_rc steps_from(rs_closure *c, int from, bool keep, double **out, sw_diag *d) {
  double **kept = &c->step_s[from];
  *out = *kept ? *kept : c->lone_s;
  if (*kept) return SW_OK;
  if (keep) {
    SW_MEM_NEW(*kept, c->net->n_states, d);
    *out = *kept;
  }
  return price_steps(c, from, *out, d);
}

/* What a step is counted at, if more than that between even blocks. */
static double counted_s(const rs_closure *c, int from, int to, double least_s) {
  rs_step step;
  return fmax(rs_uneven_step(c->uneven, from, to, HUGE_VAL, &step), least_s);
}

/* Is there a step that wins from a state `so_far` away, or may when it is counted? */
SW_SIMD_CLONES static bool any_wins(double so_far, const double *restrict row, const double *restrict step, int n) {
  int wins = 0; /* a count needs no order, as a least number would */
  for (int i = 0; i < n; i++) wins += so_far + fabs(step[i]) < row[i];
  return wins > 0;
}

/* Is there one of those that is not counted yet? */
SW_SIMD_CLONES static bool any_near(double so_far, const double *restrict row, const double *restrict step, int n) {
  int near = 0;
  for (int i = 0; i < n; i++) near += (step[i] <= 0) & (so_far - step[i] < row[i]);
  return near > 0;
}

/* Counts them. */
static void count_near(const rs_closure *c, int from, double so_far, const double *row, double *step) {
  const int n = c->net->n_states;
  if (!any_near(so_far, row, step, n)) return;
  for (int to = 0; to < n; to++) {
    if (signbit(step[to]) && so_far - step[to] < row[to]) step[to] = counted_s(c, from, to, -step[to]);
  }
}

/* --- paths to all ------------------------------------------------------------------------------------------------ */

static sw_rc paths_from(rs_closure *c, int from, rs_paths **out, sw_diag *d) {
  const int n = c->net->n_states;
  rs_paths *p = *out = &c->from[from];
  if (p->cost_s) return SW_OK;
  SW_MEM_NEW(p->cost_s, 2 * n, d);
  p->open_s = p->cost_s + n;
  for (int i = 0; i < 2 * n; i++) p->cost_s[i] = HUGE_VAL;
  p->cost_s[from] = p->open_s[from] = 0;
  return SW_OK;
}

SW_SIMD_CLONES static void relax(double *restrict row, const double *restrict step, double so_far, int n) {
  for (int i = 0; i < n; i++) {
    const double sum = so_far + fabs(step[i]); /* what was not counted does not win even at the price of even blocks */
    row[i] = sum < row[i] ? sum : row[i];
  }
}

/* The same by all paths from a state. They go on over what they lead to, so that this need not be relaxed over. */
SW_SIMD_CLONES static void relax_all(double *restrict row, double *restrict done, const double *restrict path,
                                     double so_far, int n) {
  for (int i = 0; i < n; i++) {
    const double sum = so_far + path[i];
    const bool leads = sum <= row[i];
    row[i] = leads ? sum : row[i];
    done[i] = leads ? sum : done[i];
  }
}

static sw_rc relax_over(rs_closure *c, int over, double *row, double *done, sw_diag *d) {
  double *step;
  if (c->from[over].all) {
    relax_all(row, done, c->from[over].cost_s, row[over], c->net->n_states);
    return SW_OK;
  }
  SW_TRY(steps_from(c, over, c->keeps || c->uneven, &step, d));
  if (c->uneven && !any_wins(row[over], row, step, c->net->n_states)) return SW_OK;
  if (c->uneven) count_near(c, over, row[over], row, step);
  relax(row, step, row[over], c->net->n_states);
  return SW_OK;
}

enum { MOST_GUIDES = 4 };

/* The nearest by its step of those from which all paths are known; -1: none is nearer than HUGE_VAL. */
static int nearest_known(const rs_closure *c, const double *step, const bool *used) {
  int nearest = -1;
  for (int i = 0; i < c->net->n_states; i++) {
    if (!c->from[i].all || used[i] || isinf(step[i])) continue;
    if (nearest < 0 || fabs(step[i]) < fabs(step[nearest])) nearest = i;
  }
  return nearest;
}

/* Paths by way of near states whose paths are known: with these at hand, few of the steps straight to states far away
 * are counted. */
static sw_rc follow_known(rs_closure *c, int from, double *row, double *done, sw_diag *d) {
  bool used[RS_NET_STATES] = {false};
  double *step;
  SW_TRY(steps_from(c, from, true, &step, d));
  for (int i = 0; i < MOST_GUIDES; i++) {
    const int over = nearest_known(c, step, used);
    if (over < 0) return SW_OK;
    used[over] = true;
    if (signbit(step[over])) step[over] = counted_s(c, from, over, -step[over]);
    relax_all(row, done, c->from[over].cost_s, step[over], c->net->n_states);
  }
  return SW_OK;
}

static sw_rc follow_all(rs_closure *c, int from, sw_diag *d) {
  rs_paths *p = &c->from[from];
  const int n = c->net->n_states;
  double *done = c->done_s, *row = p->cost_s;
  for (int i = 0; i < n; i++) done[i] = HUGE_VAL;
  if (c->uneven) SW_TRY(follow_known(c, from, row, done, d));
  for (bool any = true; any;) {
    any = false;
    for (int over = 0; over < n; over++) {
      if (row[over] >= done[over]) continue;
      done[over] = row[over];
      SW_TRY(relax_over(c, over, row, done, d));
      any = true;
    }
  }
  for (int i = 0; i < n; i++) p->open_s[i] = HUGE_VAL;
  p->all = true;
  return SW_OK;
}

sw_rc rs_closure_row(rs_closure *c, int from, const double **out, sw_diag *d) {
  rs_paths *p;
  SW_TRY(paths_from(c, from, &p, d));
  if (!p->all) SW_TRY(follow_all(c, from, d));
  *out = p->cost_s;
  return SW_OK;
}

/* --- paths to one ------------------------------------------------------------------------------------------------ */

/* From the state that is the nearest now. */
static sw_rc go_on(rs_closure *c, const rs_paths *p, int from, sw_diag *d) {
  const double so_far = p->cost_s[from];
  double *step;
  SW_TRY(steps_from(c, from, c->keeps, &step, d));
  for (int to = 0, n = c->net->n_states; to < n; to++) {
    if (so_far + fabs(step[to]) >= p->cost_s[to]) continue;
    if (signbit(step[to])) step[to] = counted_s(c, from, to, -step[to]);
    const double sum = so_far + step[to];
    if (sum < p->cost_s[to]) p->cost_s[to] = p->open_s[to] = sum;
  }
  p->open_s[from] = HUGE_VAL;
  return SW_OK;
}

enum { LANES = 8 };

SW_SIMD_CLONES static double least_of(const double *at, int n) {
  double least[LANES];
  for (int k = 0; k < LANES; k++) least[k] = HUGE_VAL;
  int i = 0;
  for (; i + LANES <= n; i += LANES) {
    for (int k = 0; k < LANES; k++) least[k] = at[i + k] < least[k] ? at[i + k] : least[k];
  }
  for (; i < n; i++) least[0] = at[i] < least[0] ? at[i] : least[0];
  for (int k = 1; k < LANES; k++) least[0] = least[k] < least[0] ? least[k] : least[0];
  return least[0];
}

/* The nearest of the states to go on from, if it is nearer than the goal; -1: none is. */
static int next_of(const rs_closure *c, const rs_paths *p, int goal) {
  if (isinf(p->open_s[goal]) && !isinf(p->cost_s[goal])) return -1; /* gone on from, so it came first */
  const double least = least_of(p->open_s, c->net->n_states);
  int next = 0;
  if (least >= p->cost_s[goal]) return -1;
  while (p->open_s[next] != least) next++;
  return next;
}

sw_rc rs_closure_s(rs_closure *c, int from, int to, double *out, sw_diag *d) {
  rs_paths *p;
  SW_TRY(paths_from(c, from, &p, d));
  for (int at = next_of(c, p, to); at >= 0; at = next_of(c, p, to)) SW_TRY(go_on(c, p, at, d));
  *out = p->cost_s[to];
  return SW_OK;
}
