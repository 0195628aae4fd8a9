/* The table of kernels, and the evaluation of one op. */
#include "exec/kernels/op_kernel.h"

/* Sugar is expanded while a graph is built, control flow is control.c's, collectives are run by the communicator. */
#define sw_kernel_none NULL
static const sw_kernel kKernels[SW_OP_COUNT] = {
#define SW_COLUMN_KERNEL(id, kernel) sw_kernel_##kernel,
#include "shardwright/ops.def"
};

sw_rc sw_kernel_no_dtype(const sw_kernel_call *c, sw_dtype t, sw_diag *d) {
  return SW_FAIL_INPUT(d, c->op->span, "op '%s': %s is not executed on %s", c->op->name, sw_opcode_text(c->op->code),
                       sw_dtype_text(t));
}

const int64_t *sw_kernel_ints(const sw_op *op, sw_attr_key k, int n, int64_t absent, int64_t *store) {
  int found;
  const int64_t *v = sw_op_ints(op, k, &found);
  if (v && found == n) return v;
  for (int i = 0; i < n; i++) store[i] = absent;
  return store;
}

sw_rc sw_exec_eval(const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out, const sw_exec_ctx *ctx,
                   sw_diag *d) {
  sw_kernel kernel = kKernels[op->code];
  if (!kernel) {
    return SW_FAIL_INPUT(d, op->span, "op '%s': %s has no kernel", op->name, sw_opcode_text(op->code));
  }
  sw_arena own = {0}, *scratch = ctx && ctx->scratch ? ctx->scratch : &own;
  sw_kernel_call call = {op, in, out, ctx ? ctx->mesh : NULL, ctx ? ctx->device : 0, scratch};
  sw_rc rc = kernel(&call, d);
  sw_arena_deinit(&own);
  return rc;
}
