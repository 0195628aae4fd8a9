#include <string.h>

#include "shardwright/plan.h"

sw_rc sw_compile_as(const char *compiler, sw_graph *g, sw_machine *m, sw_arena *arena, sw_diag *d) {
  const sw_profile *p = sw_machine_profile(m);
  const sw_kernels *k;
  if (!compiler) compiler = sw_profile_compiler(p);
  if (strcmp(compiler, "none") == 0) {
    g->kernels = NULL;
    SW_TRY(sw_machine_lower(m, (sw_lowering){0}, arena, d));
    return sw_machine_combine(m, 0, arena, d);
  }
  SW_TRY(sw_kernels_find(g, compiler, arena, &k, d));
  const int64_t of_compiler = k->combine_bytes, bytes = sw_profile_combine_bytes(p, of_compiler);
  if (bytes != of_compiler) SW_TRY(sw_kernels_combine(g, bytes, arena, &k, d));
  g->kernels = k;
  SW_TRY(sw_machine_lower(m, k->lowering, arena, d));
  return sw_machine_combine(m, bytes, arena, d);
}
