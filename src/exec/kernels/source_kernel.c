/* Kernels without data operands: iota, constant, rng and shard_start.
 *
 * An rng element is a hash of the seed and of the element's row-major number in the whole tensor, so a shard makes its
 * own part: element (1,0) of a [4,8] tensor has number 8 on whichever device it lies.
 */
#include <math.h>
#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/kernels/native.h"
#include "exec/walk.h"
#include "base/hash.h"
#include "base/lists.h"
#include "collective/scalar.h"

sw_rc sw_kernel_iota(const sw_kernel_call *c, sw_diag *d) {
  sw_buffer *y = c->out[0];
  int bytes = sw_dtype_bytes(y->dtype);
  int64_t dim = sw_op_int(c->op, SW_ATTR_DIM, 0), n = sw_buffer_elements(y), inner = 1;
  if (y->dtype == SW_TOKEN) return sw_kernel_no_dtype(c, y->dtype, d);
  for (int64_t i = dim + 1; i < y->rank; i++) inner *= y->dims[i];
  if (n == 0) return SW_OK;
  char *at = y->data;
  int64_t period = y->dims[dim] * inner * bytes;
  for (int64_t i = 0; i < y->dims[dim]; i++) {
    _Alignas(16) unsigned char value[16];
    sw_scalar_store(y->dtype, sw_scalar_convert(SW_I64, y->dtype, sw_scalar_load(SW_I64, &i)), value);
    sw_fill_elements(at + i * inner * bytes, value, bytes, inner);
  }
  for (int64_t done = period; done < n * bytes; done += period) memcpy(at + done, at, (size_t)period);
  return SW_OK;
}

sw_rc sw_kernel_constant(const sw_kernel_call *c, sw_diag *d) {
  const sw_attr *value = sw_op_attr(c->op, SW_ATTR_VALUE);
  sw_buffer *y = c->out[0];
  if (!value) return SW_BUG(d, "constant '%s' has no value", c->op->name);
  int bytes = sw_dtype_bytes(y->dtype);
  int64_t n = sw_buffer_elements(y);
  if (value->u.data.splat) {
    sw_fill_elements(y->data, value->u.data.bytes, bytes, n);
  } else if (n > 0) {
    memcpy(y->data, value->u.data.bytes, (size_t)(n * bytes));
  }
  return SW_OK;
}

typedef struct draw {
  uint64_t seed;
  bool normal;
  bool integer;
  double a, b; /* low and high, or mean and deviation */
} draw;

/* Uniform in [0, 1), from 53 bits of the hash. */
static double uniform_of_hash(uint64_t hash) { return (double)(hash >> 11) * 0x1p-53; }

static double draw_at(const draw *r, uint64_t number) {
  uint64_t h = sw_hash_u64(number, r->seed);
  double u = uniform_of_hash(h);
  if (r->normal) { /* Box and Muller; 1-u is in (0, 1] */
    double v = uniform_of_hash(sw_hash_u64(h, r->seed + 1));
    return r->a + r->b * sqrt(-2.0 * log(1.0 - u)) * cos(6.283185307179586 * v);
  }
  double x = r->a + (r->b - r->a) * u;
  return r->integer ? floor(x) : x;
}

/* Row-major number in `global` of the first element of every innermost row, in order. */
typedef struct numbering {
  int rank;
  int64_t dims[SW_MAX_RANK], start[SW_MAX_RANK], stride[SW_MAX_RANK], index[SW_MAX_RANK];
} numbering;

static uint64_t number_of_row(const numbering *m) {
  uint64_t number = 0;
  for (int i = 0; i < m->rank; i++) number += (uint64_t)(m->start[i] + m->index[i]) * (uint64_t)m->stride[i];
  return number;
}

static void number_init(numbering *m, const sw_kernel_call *c) {
  const sw_buffer *y = c->out[0];
  int n;
  const int64_t *global = sw_op_ints(c->op, SW_ATTR_GLOBAL, &n);
  m->rank = y->rank;
  sw_dense_strides(y->rank, n == y->rank && global ? global : y->dims, 1, m->stride);
  for (int i = 0; i < y->rank; i++) {
    m->dims[i] = y->dims[i];
    m->start[i] = i < c->op->n_operands ? sw_buffer_int(c->in[i], 0) : 0;
  }
}

sw_rc sw_kernel_rng(const sw_kernel_call *c, sw_diag *d) {
  sw_buffer *y = c->out[0];
  int bytes = sw_dtype_bytes(y->dtype);
  if (y->dtype == SW_TOKEN) return sw_kernel_no_dtype(c, y->dtype, d);
  draw r = {.seed = (uint64_t)sw_op_int(c->op, SW_ATTR_SEED, 0),
            .normal = strcmp(sw_op_text(c->op, SW_ATTR_DISTRIBUTION, "uniform"), "normal") == 0,
            .integer = sw_dtype_class_of(y->dtype) != SW_CLASS_FLOAT,
            .a = sw_op_float(c->op, SW_ATTR_LOW_VALUE, 0.0),
            .b = sw_op_float(c->op, SW_ATTR_HIGH_VALUE, 1.0)};
  numbering m = {0};
  number_init(&m, c);
  int64_t n = sw_buffer_elements(y), row = y->rank ? y->dims[y->rank - 1] : 1;
  char *to = y->data;
  for (int64_t at = 0; at < n; at += row, sw_next_position(m.rank - 1, m.dims, m.index)) {
    uint64_t first = number_of_row(&m);
    for (int64_t i = 0; i < row; i++, to += bytes) {
      double v = draw_at(&r, first + (uint64_t)i);
      sw_convert(SW_F64, &v, y->dtype, to, 1);
    }
  }
  return SW_OK;
}

sw_rc sw_kernel_shard_start(const sw_kernel_call *c, sw_diag *d) {
  const sw_op *op = c->op;
  if (op->n_refs > 0 && !c->mesh) return SW_BUG(d, "shard_start over mesh axes is executed without a mesh");
  int64_t shard = op->n_refs ? sw_mesh_group_index(c->mesh, c->device, op->refs, op->n_refs) : 0;
  int64_t v = sw_op_int(op, SW_ATTR_BASE, 0) + sw_op_int(op, SW_ATTR_STEP, 0) * shard;
  sw_convert(SW_I64, &v, c->out[0]->dtype, c->out[0]->data, 1);
  return SW_OK;
}

/* What gives tokens alone has nothing to compute. */
sw_rc sw_kernel_opaque(const sw_kernel_call *c, sw_diag *d) {
  int tokens = 0;
  while (tokens < c->op->n_results && c->out[tokens]->dtype == SW_TOKEN) tokens++;
  if (tokens == c->op->n_results) return SW_OK;
  const char *target = sw_op_text(c->op, SW_ATTR_TARGET, "opaque");
  return SW_FAIL_INPUT(d, c->op->span, "op '%s' is '%s', %s: it cannot be executed", c->op->name, target,
                       strstr(target, "python") ? "a call back into Python" : "of which nothing is known");
}
