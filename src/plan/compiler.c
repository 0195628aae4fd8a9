/* Whose kernels and calls a program is priced as (kernel.h). */
#include <string.h>

#include "shardwright/plan.h"

const char *sw_compiler_of(const char *named, const sw_graph *g, const sw_profile *p) {
  if (named) return named;
  const char *of_profile = sw_profile_compiler(p);
  return of_profile ? of_profile : g->compiler ? g->compiler : "inductor";
}

sw_rc sw_compile_as(const char *named, sw_graph *g, sw_machine *m, sw_arena *arena, sw_diag *d) {
  const sw_profile *p = sw_machine_profile(m);
  const char *compiler = sw_compiler_of(named, g, p);
  const sw_kernels *k;
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

sw_dtype sw_graph_dtype(const sw_graph *g) {
  double flops[SW_DTYPE_COUNT] = {0};
  sw_dtype most = SW_F32;
  for (sw_id i = 0; i < g->n_ops; i++) {
    sw_work w;
    sw_op_shape(g, &g->ops[i], NULL, &w);
    flops[w.dtype] += w.flops * (double)g->ops[i].repeats;
  }
  for (int t = 0; t < SW_DTYPE_COUNT; t++)
    if (flops[t] > flops[most]) most = (sw_dtype)t;
  return most;
}

const char *sw_compiled_as(const sw_graph *g) { return g->kernels ? g->kernels->compiler : "none"; }

void sw_compiled_print(const sw_graph *g, sw_text *out) {
  sw_text_printf(out, "compiler %s, %s", sw_compiled_as(g), sw_dtype_text(sw_graph_dtype(g)));
}
