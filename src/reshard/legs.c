/* A route in several legs: an end with offsets or halos is left, or reached, by an exchange, which may also lead over
 * the even blocks of the same axes. There values can be reduced in parts, and no search knows ways from or to the end
 * itself that have them.
 *
 *   [[x],[]] partial sum[y] offsets=[0,9,10] -> [[x],[y]]   over [[x],[]] partial sum[y], then reduce_scatter
 */
#include <math.h>

#include "reshard/request.h"

static bool is_plain(const sw_sharding *s) { return !s->offsets && !s->halos; }

static sw_sharding plain_of(const sw_sharding *s) {
  sw_sharding out = *s;
  out.offsets = out.halos = NULL;
  return out;
}

/* The same with a dimension cut by all unused axes, too, so that each device fetches and reduces a part. */
static bool spread_over(const sw_mesh *m, int dim, sw_sharding *s) {
  bool any = false;
  for (int a = 0; a < m->n_axes; a++) {
    bool used = false;
    for (int i = 0; i < s->n_refs + s->n_partial; i++) used = used || s->refs[i].axis == a;
    if (!used && m->axis[a].size > 1) any = sw_sharding_push(s, dim, sw_axis_whole(m, a)) || any;
  }
  return any;
}

/* What a leg costs, if it leads on; and its steps. */
static sw_rc leg_s(const sw_reshard *wanted, const sw_sharding *from, const sw_sharding *to, double *cost_s, int *n,
                   sw_diag *d) {
  sw_reshard leg = *wanted;
  rs_request r;
  rs_path path;
  leg.from = from;
  leg.to = to;
  *cost_s = 0;
  *n = 0;
  SW_TRY(rs_request_init(&r, &leg, d));
  if (r.nothing_to_do) return SW_OK;
  SW_TRY(rs_request_search(&r, &path, d));
  *cost_s = path.cost_s + rs_reduce_first_s(&r) + rs_made_s(&r);
  *n = path.n + r.reduce_first + (r.n_made > 0 && r.makes_last);
  return SW_OK;
}

/* Over these, in order; taken if that costs less. */
static sw_rc try_over(const sw_reshard *wanted, const sw_sharding *via, int n_via, rs_legs *best, sw_diag *d) {
  double sum_s = 0;
  int steps = 0;
  for (int i = 0; i <= n_via; i++) {
    double cost_s;
    int n;
    const sw_rc rc = leg_s(wanted, i ? &via[i - 1] : wanted->from, i < n_via ? &via[i] : wanted->to, &cost_s, &n, d);
    if (rc) return rc == SW_E_INPUT ? SW_OK : rc;
    sum_s += cost_s;
    steps += n;
    if (sum_s >= best->cost_s * (1 - 1e-9)) return SW_OK;
  }
  if (steps > SW_MAX_ROUTE_STEPS) return SW_OK;
  best->cost_s = sum_s;
  best->n_via = n_via;
  for (int i = 0; i < n_via; i++) best->via[i] = via[i];
  return SW_OK;
}

/* What is partial where pieces are of unequal size. */
static sw_rc try_spread(const sw_reshard *wanted, bool arrives, rs_legs *best, sw_diag *d) {
  const sw_mesh *m = sw_machine_mesh(wanted->machine);
  for (int dim = 0; dim < wanted->rank; dim++) {
    sw_sharding via[] = {plain_of(wanted->from), plain_of(wanted->to)};
    if (!spread_over(m, dim, &via[0])) return SW_OK;
    SW_TRY(try_over(wanted, via, 1, best, d));
    if (arrives) SW_TRY(try_over(wanted, via, 2, best, d));
  }
  return SW_OK;
}

bool rs_may_have_legs(const sw_reshard *wanted) {
  const sw_reshard_options *o = &wanted->options;
  return !(is_plain(wanted->from) && is_plain(wanted->to)) && o->max_temp_bytes <= 0 && !o->no_exchange && !o->to_mesh;
}

sw_rc rs_legs_find(const sw_reshard *wanted, rs_legs *out, sw_diag *d) {
  const sw_sharding via[] = {plain_of(wanted->from), plain_of(wanted->to)};
  const bool leaves = !is_plain(wanted->from), arrives = !is_plain(wanted->to);
  int n;
  out->n_via = 0;
  SW_TRY(leg_s(wanted, wanted->from, wanted->to, &out->cost_s, &n, d));
  if (n == 0 || !rs_may_have_legs(wanted)) return SW_OK;
  if (leaves) SW_TRY(try_over(wanted, &via[0], 1, out, d));
  if (arrives) SW_TRY(try_over(wanted, &via[1], 1, out, d));
  if (leaves && arrives) SW_TRY(try_over(wanted, via, 2, out, d));
  return leaves && wanted->from->n_partial ? try_spread(wanted, arrives, out, d) : SW_OK;
}
