/* The bench of kernels: a table of ops at sizes beyond the caches, each built as a graph of one op and evaluated.
 *
 * References: sgemm of 1024^3 as the dot kernel calls it (flop/s), and a copy of 64 MiB (bytes/s, read and written).
 */
#include "bench/bench_kernels.h"

#include <string.h>

#include "shardwright/clock.h"

enum { MOST_IN = 3, MOST_ATTRS = 10, MOST_RANK = 4 };

typedef struct bench_operand {
  sw_dtype dtype;
  int rank;
  int64_t dims[MOST_RANK];
  double limit; /* > 0: indices below this */
} bench_operand;

typedef struct bench_case {
  const char *name;
  sw_opcode code;
  int n_in;
  bench_operand in[MOST_IN];
  int n_attrs;
  sw_attr attrs[MOST_ATTRS];
} bench_case;

#define COUNT(...) (sizeof((int64_t[]){__VA_ARGS__}) / sizeof(int64_t))
#define INTS(k, ...)                                                                    \
  {                                                                                     \
    .key = SW_ATTR_##k, .u.ints = {(const int64_t[]){__VA_ARGS__}, COUNT(__VA_ARGS__) } \
  }
#define INT(k, v) \
  { .key = SW_ATTR_##k, .u.i = (v) }
#define TEXT(k, v) \
  { .key = SW_ATTR_##k, .u.text = (v) }
#define MATRIX(t, m, n) \
  { SW_##t, 2, {m, n}, 0 }
#define TENSOR(t, ...) \
  { SW_##t, 4, {__VA_ARGS__}, 0 }
#define VECTOR(t, n) \
  { SW_##t, 1, {n}, 0 }

/* clang-format off */
static const bench_case kCases[] = {
    {"dot f32 1024x1024x1024", SW_OP_DOT, 2, {MATRIX(F32, 1024, 1024), MATRIX(F32, 1024, 1024)}, 2,
     {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)}},
    {"reshape f32 64 MiB", SW_OP_RESHAPE, 1, {VECTOR(F32, 1 << 24)}, 1, {INTS(SHAPE, 4096, 4096)}},
    {"dot f32 1024, transposed", SW_OP_DOT, 2, {MATRIX(F32, 1024, 1024), MATRIX(F32, 1024, 1024)}, 2,
     {INTS(LHS_CONTRACT, 0), INTS(RHS_CONTRACT, 1)}},
    {"dot bf16 1024x1024x1024", SW_OP_DOT, 2, {MATRIX(BF16, 1024, 1024), MATRIX(BF16, 1024, 1024)}, 2,
     {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)}},
    {"dot f16 1024x1024x1024", SW_OP_DOT, 2, {MATRIX(F16, 1024, 1024), MATRIX(F16, 1024, 1024)}, 2,
     {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)}},
    {"dot i32 256x256x256", SW_OP_DOT, 2, {MATRIX(I32, 256, 256), MATRIX(I32, 256, 256)}, 2,
     {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)}},
    {"dot f32 attention q.k 4x512x12x64", SW_OP_DOT, 2, {TENSOR(F32, 4, 512, 12, 64), TENSOR(F32, 4, 512, 12, 64)}, 4,
     {INTS(LHS_BATCH, 0, 2), INTS(RHS_BATCH, 0, 2), INTS(LHS_CONTRACT, 3), INTS(RHS_CONTRACT, 3)}},
    {"convolution f32 3x3, 64 to 64, 4x56x56", SW_OP_CONVOLUTION, 2,
     {TENSOR(F32, 4, 64, 56, 56), TENSOR(F32, 64, 64, 3, 3)}, 5,
     {TEXT(LHS_LAYOUT, "bf01"), TEXT(RHS_LAYOUT, "oi01"), TEXT(OUT_LAYOUT, "bf01"), INTS(PAD_LOW, 1, 1),
      INTS(PAD_HIGH, 1, 1)}},
    {"convolution f32 3x3, 64 to 64, 4x56x56, features last", SW_OP_CONVOLUTION, 2,
     {TENSOR(F32, 4, 56, 56, 64), TENSOR(F32, 3, 3, 64, 64)}, 5,
     {TEXT(LHS_LAYOUT, "b01f"), TEXT(RHS_LAYOUT, "01io"), TEXT(OUT_LAYOUT, "b01f"), INTS(PAD_LOW, 1, 1),
      INTS(PAD_HIGH, 1, 1)}},
    {"convolution f32 7x7 stride 2, 3 to 64, 4x224x224", SW_OP_CONVOLUTION, 2,
     {TENSOR(F32, 4, 3, 224, 224), TENSOR(F32, 64, 3, 7, 7)}, 6,
     {TEXT(LHS_LAYOUT, "bf01"), TEXT(RHS_LAYOUT, "oi01"), TEXT(OUT_LAYOUT, "bf01"), INTS(PAD_LOW, 3, 3),
      INTS(PAD_HIGH, 3, 3), INTS(STRIDES, 2, 2)}},
    {"convolution f32 1x1, 256 to 64, 4x56x56", SW_OP_CONVOLUTION, 2,
     {TENSOR(F32, 4, 256, 56, 56), TENSOR(F32, 64, 256, 1, 1)}, 3,
     {TEXT(LHS_LAYOUT, "bf01"), TEXT(RHS_LAYOUT, "oi01"), TEXT(OUT_LAYOUT, "bf01")}},
    {"add f32", SW_OP_ADD, 2, {VECTOR(F32, 1 << 23), VECTOR(F32, 1 << 23)}, 0, {{0}}},
    {"add bf16", SW_OP_ADD, 2, {VECTOR(BF16, 1 << 23), VECTOR(BF16, 1 << 23)}, 0, {{0}}},
    {"add f16", SW_OP_ADD, 2, {VECTOR(F16, 1 << 23), VECTOR(F16, 1 << 23)}, 0, {{0}}},
    {"add i32", SW_OP_ADD, 2, {VECTOR(I32, 1 << 23), VECTOR(I32, 1 << 23)}, 0, {{0}}},
    {"maximum f32", SW_OP_MAXIMUM, 2, {VECTOR(F32, 1 << 23), VECTOR(F32, 1 << 23)}, 0, {{0}}},
    {"exponential f32", SW_OP_EXP, 1, {VECTOR(F32, 1 << 22)}, 0, {{0}}},
    {"tanh f32", SW_OP_TANH, 1, {VECTOR(F32, 1 << 22)}, 0, {{0}}},
    {"rsqrt f32", SW_OP_RSQRT, 1, {VECTOR(F32, 1 << 22)}, 0, {{0}}},
    {"compare f32", SW_OP_COMPARE, 2, {VECTOR(F32, 1 << 23), VECTOR(F32, 1 << 23)}, 1, {TEXT(DIRECTION, "lt")}},
    {"select f32", SW_OP_SELECT, 3, {VECTOR(BOOL, 1 << 23), VECTOR(F32, 1 << 23), VECTOR(F32, 1 << 23)}, 0, {{0}}},
    {"convert bf16 to f32", SW_OP_CONVERT, 1, {VECTOR(BF16, 1 << 23)}, 1, {INT(DTYPE, SW_F32)}},
    {"convert f32 to bf16", SW_OP_CONVERT, 1, {VECTOR(F32, 1 << 23)}, 1, {INT(DTYPE, SW_BF16)}},
    {"convert f16 to f32", SW_OP_CONVERT, 1, {VECTOR(F16, 1 << 23)}, 1, {INT(DTYPE, SW_F32)}},
    {"convert f32 to f16", SW_OP_CONVERT, 1, {VECTOR(F32, 1 << 23)}, 1, {INT(DTYPE, SW_F16)}},
    {"transpose f32 4096x4096", SW_OP_TRANSPOSE, 1, {MATRIX(F32, 4096, 4096)}, 1, {INTS(PERMUTATION, 1, 0)}},
    {"transpose f32 heads 4x512x12x64", SW_OP_TRANSPOSE, 1, {TENSOR(F32, 16, 512, 12, 64)}, 1,
     {INTS(PERMUTATION, 0, 2, 1, 3)}},
    {"slice f32, every other", SW_OP_SLICE, 1, {MATRIX(F32, 4096, 4096)}, 3,
     {INTS(START, 0, 0), INTS(LIMIT, 4096, 4096), INTS(STRIDES, 1, 2)}},
    {"concatenate f32", SW_OP_CONCATENATE, 2, {MATRIX(F32, 4096, 1024), MATRIX(F32, 4096, 1024)}, 1, {INT(DIM, 1)}},
    {"reduce f32 along rows", SW_OP_REDUCE, 1, {MATRIX(F32, 4096, 4096)}, 2, {TEXT(KIND, "sum"), INTS(DIMS, 1)}},
    {"reduce f32 along columns", SW_OP_REDUCE, 1, {MATRIX(F32, 4096, 4096)}, 2, {TEXT(KIND, "sum"), INTS(DIMS, 0)}},
    {"reduce bf16 max along rows", SW_OP_REDUCE, 1, {MATRIX(BF16, 4096, 4096)}, 2, {TEXT(KIND, "max"), INTS(DIMS, 1)}},
    {"reduce_window f32 max 3x3 stride 2", SW_OP_REDUCE_WINDOW, 1, {TENSOR(F32, 4, 64, 112, 112)}, 5,
     {TEXT(KIND, "max"), INTS(WINDOW, 1, 1, 3, 3), INTS(STRIDES, 1, 1, 2, 2), INTS(PAD_LOW, 0, 0, 1, 1),
      INTS(PAD_HIGH, 0, 0, 1, 1)}},
    {"cumulative f32 along rows", SW_OP_CUMULATIVE, 1, {MATRIX(F32, 1024, 4096)}, 2, {TEXT(KIND, "sum"), INT(DIM, 1)}},
    {"gather f32 rows of 768", SW_OP_GATHER, 2, {MATRIX(F32, 50257, 768), {SW_I32, 1, {8192}, 50257}}, 5,
     {INTS(OFFSET_DIMS, 1), INTS(COLLAPSED_DIMS, 0), INTS(START_INDEX_MAP, 0), INT(INDEX_VECTOR_DIM, 1),
      INTS(SIZES, 1, 768)}},
    {"scatter f32 sum of rows of 768", SW_OP_SCATTER, 3,
     {MATRIX(F32, 8192, 768), {SW_I32, 1, {8192}, 8192}, MATRIX(F32, 8192, 768)}, 5,
     {TEXT(KIND, "sum"), INTS(UPDATE_WINDOW_DIMS, 1), INTS(INSERTED_DIMS, 0), INTS(START_INDEX_MAP, 0),
      INT(INDEX_VECTOR_DIM, 1)}},
    {"argmax f32 along rows", SW_OP_ARGMAX, 1, {MATRIX(F32, 1024, 4096)}, 1, {INT(DIM, 1)}},
    {"top_k f32 8 of 4096", SW_OP_TOP_K, 1, {MATRIX(F32, 1024, 4096)}, 1, {INT(K, 8)}},
};
/* clang-format on */
enum { N_CASES = sizeof kCases / sizeof kCases[0] };

typedef struct bench_run {
  const bench_case *c;
  sw_graph *g;
  const sw_op *op;
  sw_tensor in[MOST_IN], out[2];
} bench_run;

static sw_rc build_graph(bench_run *r, sw_diag *d) {
  sw_id ids[MOST_IN], results[SW_MAX_RESULTS];
  SW_TRY(sw_graph_create(r->c->name, &r->g, d));
  for (int i = 0; i < r->c->n_in; i++) {
    const bench_operand *x = &r->c->in[i];
    const char name[] = {'x', (char)('0' + i), 0};
    SW_TRY(sw_graph_add_arg(r->g, name, x->dtype, x->rank, x->dims, SW_VALUE_INPUT, SW_NOWHERE, &ids[i], d));
  }
  sw_op_spec spec = {
      .code = r->c->code, .n_operands = r->c->n_in, .operands = ids, .n_attrs = r->c->n_attrs, .attrs = r->c->attrs};
  SW_TRY(sw_graph_add_op(r->g, &spec, results, d));
  r->op = &r->g->ops[r->g->values[results[0]].def];
  return SW_OK;
}

static sw_rc make_buffers(bench_run *r, sw_diag *d) {
  for (int i = 0; i < r->c->n_in; i++) {
    const bench_operand *x = &r->c->in[i];
    sw_fill fill = {.kind = x->limit > 0 ? SW_FILL_INDEX : SW_FILL_RANDOM, .seed = 1, .limit = x->limit};
    SW_TRY(sw_tensor_init(&r->in[i], x->dtype, x->rank, x->dims, d));
    SW_TRY(sw_tensor_fill(&r->in[i], &fill, d));
  }
  for (int i = 0; i < r->op->n_results; i++) {
    const sw_type *t = sw_result_type(r->g, r->op, i);
    SW_TRY(sw_tensor_init(&r->out[i], t->dtype, t->rank, t->dims, d));
  }
  return SW_OK;
}

/* Best of as many evaluations as fit into min_s; the first warms up. */
static sw_rc measure_kernel(bench_run *r, double min_s, double *best, sw_diag *d) {
  const sw_buffer *in[MOST_IN];
  sw_buffer *out[2] = {&r->out[0], &r->out[1]};
  for (int i = 0; i < r->c->n_in; i++) in[i] = &r->in[i];
  SW_TRY(sw_exec_eval(r->op, in, out, NULL, d));
  *best = 1e30;
  for (double start = sw_now_s(), now = start; now - start < min_s;) {
    SW_TRY(sw_exec_eval(r->op, in, out, NULL, d));
    double end = sw_now_s();
    if (end - now < *best) *best = end - now;
    now = end;
  }
  return SW_OK;
}

static sw_rc run_kernel_case(bench_run *r, double min_s, sw_bench_kernel_row *row, sw_diag *d) {
  double flops, bytes = 0;
  SW_TRY(build_graph(r, d));
  SW_TRY(make_buffers(r, d));
  SW_TRY(measure_kernel(r, min_s, &row->seconds, d));
  sw_op_work(r->g, r->op, NULL, &flops, &bytes);
  if (r->c->code == SW_OP_RESHAPE) bytes = 2.0 * (double)sw_type_bytes(sw_result_type(r->g, r->op, 0));
  row->name = r->c->name;
  row->flop_per_s = flops / row->seconds;
  row->bytes_per_s = bytes / row->seconds;
  return SW_OK;
}

static void free_case(bench_run *r) {
  for (int i = 0; i < MOST_IN; i++) sw_tensor_deinit(&r->in[i]);
  for (int i = 0; i < 2; i++) sw_tensor_deinit(&r->out[i]);
  sw_graph_destroy(r->g);
}

sw_rc sw_bench_kernels(const sw_bench_kernels_options *o, sw_bench_kernel_visit visit, void *user, sw_diag *d) {
  double peak_flop = 0, peak_bytes = 0, min_s = o->min_s > 0 ? o->min_s : 0.2;
  for (int i = 0; i < N_CASES; i++) {
    bool reference = i < 2;
    if (!reference && o->only && !strstr(kCases[i].name, o->only)) continue;
    bench_run r = {.c = &kCases[i]};
    sw_bench_kernel_row row = {0};
    sw_rc rc = run_kernel_case(&r, min_s, &row, d);
    free_case(&r);
    SW_TRY(rc);
    if (i == 0) peak_flop = row.flop_per_s;
    if (i == 1) peak_bytes = row.bytes_per_s;
    double by_bytes = peak_bytes > 0 ? row.bytes_per_s / peak_bytes : 0, by_flop = row.flop_per_s / peak_flop;
    row.share = by_flop > by_bytes ? by_flop : by_bytes;
    SW_TRY(visit(user, &row, d));
  }
  return SW_OK;
}
