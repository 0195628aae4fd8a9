/* What a kernel gets. One kernel serves all dtypes of its op. */
#ifndef EXEC_KERNEL_H_
#define EXEC_KERNEL_H_

#include "shardwright/exec.h"

typedef struct sw_kernel_call {
  const sw_op *op;
  const sw_buffer *const *in;
  sw_buffer *const *out;
  const sw_mesh *mesh; /* NULL: one device */
  int64_t device;
  sw_arena *scratch; /* worthless once the kernel has returned */
} sw_kernel_call;

typedef sw_rc (*sw_kernel)(const sw_kernel_call *c, sw_diag *d);

/* The kernels that rows of ops.def name. */
#define SW_COLUMN_KERNEL(id, kernel) sw_rc sw_kernel_##kernel(const sw_kernel_call *c, sw_diag *d);
#include "shardwright/ops.def"

/* The op has no kernel for this dtype. */
sw_rc sw_kernel_no_dtype(const sw_kernel_call *c, sw_dtype t, sw_diag *d);

/* The ints of an attribute, or `absent` repeated n times into `store` (room for SW_MAX_RANK). */
const int64_t *sw_kernel_ints(const sw_op *op, sw_attr_key k, int n, int64_t absent, int64_t *store);

#endif
