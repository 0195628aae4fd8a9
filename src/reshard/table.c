/* All prices of one shape at once: with few atoms the states are few, three atoms at rank 4 have 193, or 296 where
 * values may be partial, and their closure is found in a few milliseconds.
 */
#include "reshard/closure.h"
#include "shardwright/checked.h"

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

static sw_rc pick(rs_closure *c, const sw_sharding *all, int n, double *out, sw_diag *d) {
  int *at;
  SW_MEM_NEW(at, n, d);
  for (int i = 0; i < n; i++) {
    rs_state state = rs_state_of(&c->q.space, &all[i]);
    at[i] = rs_net_find(c->net, &state);
  }
  sw_rc rc = SW_OK;
  for (int i = 0; i < n && !rc; i++) {
    const double *row;
    rc = rs_closure_row(c, at[i], &row, d);
    for (int j = 0; j < n && !rc; j++) out[i * n + j] = row[at[j]];
  }
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
  rs_closure closure = {0};
  bool partial;
  sw_rc rc = SW_OK;
  bool together = has_net(&q, all, n, rank, dims, &partial);
  if (together) {
    rc = rs_closure_init(&closure, &q, partial, d);
    if (!rc) rc = pick(&closure, all, n, out, d);
  }
  for (int i = 0; i < n && !together; i++) {
    for (int j = 0; j < n; j++) {
      out[i * n + j] = sw_route_cost_s(&(sw_reshard){machine, &shardings[i], &shardings[j], rank, dims, dtype, {0}});
    }
  }
  rs_closure_deinit(&closure);
  sw_mem_free(all);
  *cost_s = out;
  return rc;
}
