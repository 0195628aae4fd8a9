/* All prices of one shape at once: with few atoms the states are few, three atoms at rank 4 have 193, or 296 where
 * values may be partial, and their closure is found in a few milliseconds.
 */
#include "reshard/closure.h"
#include "base/checked.h"

/* One kind of partial at most, nothing opaque, few states? */
static bool has_net(rs_query *q, const sw_sharding *all, int n, int rank, const int64_t *dims, bool *partial) {
  *partial = false;
  for (int i = 0; i < n; i++) {
    if (all[i].offsets || all[i].halos) return false;
    if (all[i].n_partial == 0) continue;
    if (*partial && q->kind != (sw_reduction)all[i].partial_kind) return false;
    *partial = true;
    q->kind = (sw_reduction)all[i].partial_kind;
  }
  if (*partial && (q->kind == SW_REDUCE_AVERAGE || q->kind == SW_REDUCE_GENERIC)) return false;
  return rs_net_space(&q->space, q->machine, rank, dims, all, n);
}

/* Routes between whole values go over whole ones. */
static bool goes_over_partial(const sw_sharding *from, const sw_sharding *to) {
  return from->n_partial || to->n_partial;
}

static sw_rc fill_row(rs_closure *c, bool partial, const sw_sharding *all, int n, int i, const int *at, double *out,
                      sw_diag *d) {
  const double *row;
  SW_TRY(rs_closure_row(c, at[i], &row, d));
  for (int j = 0; j < n; j++) {
    if (goes_over_partial(&all[i], &all[j]) == partial) out[j] = row[at[j]];
  }
  return SW_OK;
}

/* The costs of such routes, or of all others. */
static sw_rc fill(const rs_query *q, bool partial, const sw_sharding *all, int n, double *out, sw_diag *d) {
  rs_closure c;
  int *at;
  SW_MEM_NEW(at, n, d);
  sw_rc rc = rs_closure_init(&c, q, partial, d);
  for (int i = 0; i < n && !rc; i++) {
    rs_state state = rs_state_of(&q->space, &all[i]);
    at[i] = rs_net_find(c.net, &state);
  }
  for (int i = 0; i < n && !rc; i++) {
    if (partial || all[i].n_partial == 0) rc = fill_row(&c, partial, all, n, i, at, out + (ptrdiff_t)i * n, d);
  }
  rs_closure_deinit(&c);
  sw_mem_free(at);
  return rc;
}

sw_rc sw_route_table(const sw_machine *machine, const sw_sharding *shardings, int n, int rank, const int64_t *dims,
                     sw_dtype dtype, sw_arena *arena, const double **cost_s, sw_diag *d) {
  sw_sharding *all;
  double *out;
  SW_ARENA_NEW(out, arena, (size_t)n * (size_t)n, d);
  SW_MEM_NEW(all, n, d);
  for (int i = 0; i < n; i++) {
    all[i] = shardings[i];
    sw_sharding_normalise(sw_machine_mesh(machine), &all[i]);
  }
  rs_query q = {.machine = machine, .dtype = dtype};
  bool partial;
  sw_rc rc = SW_OK;
  bool together = has_net(&q, all, n, rank, dims, &partial);
  if (together) {
    rc = fill(&q, false, all, n, out, d);
    if (!rc && partial) rc = fill(&q, true, all, n, out, d);
  }
  for (int i = 0; i < n && !together; i++) {
    for (int j = 0; j < n; j++) {
      out[i * n + j] = sw_route_cost_s(&(sw_reshard){machine, &shardings[i], &shardings[j], rank, dims, dtype, {0}});
    }
  }
  sw_mem_free(all);
  *cost_s = out;
  return rc;
}
