/* The check of a program that came partitioned. */
#include "shardwright/spmd.h"

static sw_rc verify_border(const sw_local_program *p, const char *what, int32_t i, const sw_local_border *b,
                           const sw_value *v, sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  bool fits = b->whole.dtype == v->type.dtype && b->whole.rank == v->type.rank;
  if (fits) SW_TRY(sw_sharding_verify(&p->mesh, &b->sharding, b->whole.rank, b->whole.dims, d));
  fits = fits && sw_sharding_local_dims(&b->sharding, b->whole.dims, dims);
  for (int k = 0; fits && k < b->whole.rank; k++) fits = dims[k] == v->type.dims[k];
  if (fits) return SW_OK;
  return SW_FAIL_INPUT(d, v->span, "%s %d is not a block of the tensor that it is said to be a part of", what, i);
}

sw_rc sw_local_verify(const sw_local_program *p, sw_diag *d) {
  const sw_graph *g = p->graph;
  bool all = sw_mesh_devices(&p->mesh) == p->devices && sw_mesh_devices(&p->grid) == p->devices;
  if (!all) return SW_BUG(d, "the mesh has other devices than the program");
  for (int32_t i = 0; i < g->n_args; i++) {
    SW_TRY(verify_border(p, "argument", i, &p->args[i], &g->values[g->args[i]], d));
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    SW_TRY(verify_border(p, "result", i, &p->outputs[i], &g->values[g->outputs[i]], d));
  }
  return SW_OK;
}
