#include <string.h>

#include "shardwright/plan.h"

sw_rc sw_compile_as(const char *compiler, sw_graph *g, sw_machine *m, sw_arena *arena, sw_diag *d) {
  const sw_profile *p = sw_machine_profile(m);
  if (!compiler) compiler = sw_profile_compiler(p);
  g->kernels = NULL;
  if (strcmp(compiler, "none") == 0) return sw_machine_combine(m, 0, arena, d);
  SW_TRY(sw_kernels_find(g, compiler, arena, &g->kernels, d));
  const int64_t of_compiler = g->kernels->combine_bytes, bytes = sw_profile_combine_bytes(p, of_compiler);
  if (bytes != of_compiler) SW_TRY(sw_kernels_combine(g, bytes, arena, &g->kernels, d));
  return sw_machine_combine(m, bytes, arena, d);
}
