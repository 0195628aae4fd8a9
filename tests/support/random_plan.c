#include "random_plan.h"

#include "plan/choices.h"

const char *const random_models[RANDOM_MODELS] = {"mlp",
                                                  "gpt2",
                                                  "llama3",
                                                  "llama3-decode",
                                                  "mixtral",
                                                  "vit",
                                                  "resnet",
                                                  "mlp-train",
                                                  "gpt2-train",
                                                  "conv-train",
                                                  "bert-train",
                                                  "moe-layers-train",
                                                  "llama3-fused-train",
                                                  "../../docs/examples/layers"};
const char *const random_meshes[RANDOM_MESHES] = {"x=2", "x=4", "x=2,y=2", "x=2,y=4", "x=3", "x=2,y=3", "x=2,y=2,z=2"};

static sw_rc random_sharding(const sw_type *t, const sw_mesh *m, sw_rng *rng, sw_arena *arena, sw_sharding *out,
                             sw_diag *d) {
  sw_listed_shardings all;
  SW_TRY(sw_shardings_enumerate(NULL, m, t->rank, t->dims, 0, arena, &all, d));
  *out = all.at[sw_rng_below(rng, all.n)];
  return SW_OK;
}

sw_rc random_plan(const sw_job *j, sw_rng *rng, sw_arena *arena, sw_plan *out, sw_diag *d) {
  const sw_graph *g = j->graph;
  const sw_machine *machine = j->machine;
  const sw_mesh *m = sw_machine_mesh(machine);
  SW_TRY(sw_plan_build(j, arena, out, d));
  for (int32_t i = 0; i < g->n_ops; i++) {
    sw_enumeration all;
    SW_TRY(sw_strategies_enumerate(j, &g->ops[i], NULL, arena, &all, d));
    sw_id leader = sw_op_tied_to(g, i);
    if (all.n) out->ops[i] = leader < 0 ? all.at[sw_rng_below(rng, all.n)] : out->ops[leader];
  }
  for (int32_t i = 0; i < g->n_ops; i++)
    if (g->ops[i].code == SW_OP_OFFLOAD) SW_TRY(sw_plan_cut_on_host(out, i, arena, d));
  for (int32_t i = 0; i < g->n_args; i++)
    SW_TRY(random_sharding(&g->values[g->args[i]].type, m, rng, arena, &out->args[i], d));
  for (int32_t i = 0; i < g->n_outputs; i++) {
    SW_TRY(random_sharding(&g->values[g->outputs[i]].type, m, rng, arena, &out->outputs[i], d));
    if (g->alias[i] >= 0) out->outputs[i] = out->args[g->values[g->alias[i]].def_index];
  }
  out->args_whole = sw_rng_below(rng, 2) != 0;
  return sw_plan_verify(out, d);
}
