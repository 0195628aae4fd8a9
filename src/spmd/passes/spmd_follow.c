/* One dimension followed through an op: what lets the op run on blocks of it. */
#include <string.h>

#include "spmd/spmd_emit.h"
#include "spmd/passes/spmd_rewrite.h"

/* The dimension of the map that the loop is by itself: -1 none, -2 it is there in another way. */
static int plain_dim_of_loop(const sw_map *m, const sw_type *t, int loop, int64_t size) {
  int found = -1;
  for (int k = 0; k < m->rank; k++) {
    const sw_affine *a = &m->dims[k];
    bool has = false;
    for (int i = 0; i < a->n_terms; i++) has = has || a->terms[i].loop == loop;
    if (!has) continue;
    bool alone = a->n_terms == 1 && a->terms[0].coef == 1 && a->constant == 0 && !a->mixed_radix;
    if (!alone || found >= 0 || t->dims[k] != size) return -2;
    found = k;
  }
  return found;
}

bool sw_follow(const sw_rewrite *r, const sw_op *op, int port, int dim, sw_followed *out) {
  const sw_graph *g = r->to.program;
  const sw_loop_nest *nest = op->nest;
  if (!nest || op->n_results != 1 || op->n_operands > SW_MOST_FOLLOWED || !sw_op_runs_on_blocks(op->code)) return false;
  const sw_affine *a = &nest->maps[port].dims[dim];
  if (a->n_terms != 1) return false;
  const int loop = a->terms[0].loop;
  const int64_t size = nest->loops[loop].size;
  if (nest->loops[loop].kind != SW_LOOP_PARALLEL) return false;
  for (int i = 0; i < op->n_operands; i++) {
    out->operand_dim[i] = plain_dim_of_loop(&nest->maps[i], sw_operand_type(g, op, i), loop, size);
    if (out->operand_dim[i] == -2) return false;
  }
  out->result_dim = plain_dim_of_loop(&nest->maps[op->n_operands], sw_result_type(g, op, 0), loop, size);
  return out->result_dim >= 0;
}

/* Is each element of the constant or broadcast the same along the dimension? */
static bool is_even_along(const sw_rewrite *r, const sw_op *op, int dim) {
  if (op->code == SW_OP_CONSTANT) {
    const sw_attr *value = sw_op_attr(op, SW_ATTR_VALUE);
    return value && value->u.data.splat;
  }
  if (op->code != SW_OP_BROADCAST) return false;
  int n;
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  for (int i = 0; i < n; i++) {
    if (dims[i] == dim && sw_operand_type(r->to.program, op, 0)->dims[i] != 1) return false;
  }
  return true;
}

sw_rc sw_rewrite_resized(sw_rewrite *r, sw_id value, int dim, int64_t extent, sw_id *out, sw_diag *d) {
  const sw_op *op = sw_rewrite_def(r, value);
  const sw_type *t = sw_rewrite_type(r, value);
  int64_t dims[SW_MAX_RANK];
  *out = -1;
  if (!op || r->to.whole_tensors || !is_even_along(r, op, dim)) return SW_OK;
  memcpy(dims, t->dims, (size_t)t->rank * sizeof *dims);
  dims[dim] = extent;
  return sw_rewrite_add_like(r, op->operands, dims, &(sw_rewrite_as){r->to.program->values[value].def, SW_NO_LAYOUT},
                             out, d);
}

sw_rc sw_rewrite_take(sw_rewrite *r, sw_id v, int dim, const sw_collective *c, sw_id like, int64_t extent, sw_id *out,
                      sw_diag *d) {
  sw_collective own = *c;
  sw_rewrite_as as = {like, *sw_rewrite_layout(r, v)};
  own.dim = dim;
  *out = v;
  if (dim < 0) return SW_OK;
  SW_TRY(sw_rewrite_resized(r, v, dim, extent, out, d));
  if (*out >= 0 || as.layout.on) return SW_OK;
  const bool changed =
      (own.op == SW_COLL_ALL_GATHER ? sw_layout_join : sw_layout_cut)(&as.layout, dim, own.axes, own.n_axes);
  if (!changed || sw_rewrite_extent(r, v, &as.layout, dim) != extent) return SW_OK;
  return sw_rewrite_add_collective(r, v, &own, NULL, &as, out, d);
}
