/* Prices of all pairs of some shardings, each searched for by itself. */
#include "shardwright/reshard.h"

sw_rc sw_route_table(const sw_machine *machine, const sw_sharding *shardings, int n, int rank, const int64_t *dims,
                     sw_dtype dtype, sw_arena *arena, const double **cost_s, sw_diag *d) {
  double *out;
  SW_ARENA_NEW(out, arena, (size_t)n * (size_t)n, d);
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      out[i * n + j] = sw_route_cost_s(&(sw_reshard){machine, &shardings[i], &shardings[j], rank, dims, dtype, {0}});
    }
  }
  *cost_s = out;
  return SW_OK;
}
