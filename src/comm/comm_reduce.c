/* Reduction loops: a run is cut into chunks that stay in the first-level cache; per chunk an accumulator takes the
 * sources in turn and is then written to every destination.
 *
 *   f16 sum of three:  f32 acc = widen(s0); acc += widen(s1); acc += widen(s2); d0 = d1 = d2 = narrow(acc)
 *
 * The meaning is that of shardwright/scalar.h, which tests compare with; here are loops that a compiler turns into
 * vector code.
 */
#include "comm/comm_reduce.h"

#include <math.h>
#include <string.h>

#include "comm/copy.h"
#include "collective/scalar.h"
#include "base/simd.h"

enum { CHUNK_BYTES = 4096, LINE = 64 };

/* A chunk is a few lines when it goes to several results, or when no cache holds the sources: then all of them are read
 * and written at the same pace, and the machine's own reading ahead goes on in each. In many sources it does not always
 * keep up with a memory that is fast at the moment, so chunks that no cache holds are also asked for early. */
enum { PACED_BYTES = 512, STREAMED_BYTES = 256, EARLY_BYTES = 768 };

/* acc[i] = a[i] combined with x[i]; acc may be a. */
typedef void (*combine_fn)(void *acc, const void *a, const void *x, size_t n);

#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

#define COMBINER(name, T, expr)                                                                 \
  SW_SIMD_CLONES static void name(void *acc_at, const void *a_at, const void *x_at, size_t n) { \
    T *acc = acc_at;                                                                            \
    const T *left = a_at, *right = x_at;                                                        \
    INDEPENDENT for (size_t i = 0; i < n; i++) {                                                \
      T a = left[i], b = right[i];                                                              \
      acc[i] = (T)(expr);                                                                       \
    }                                                                                           \
  }

/* a < b first, then equal numbers (which differ in sign when they are zeros), then NaN. */
static inline float min_f32(float a, float b) { return a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b; }
static inline float max_f32(float a, float b) { return a > b ? a : b > a ? b : a == b ? (signbit(a) ? b : a) : a + b; }
static inline double min_f64(double a, double b) {
  return a < b ? a : b < a ? b : a == b ? (signbit(a) ? a : b) : a + b;
}
static inline double max_f64(double a, double b) {
  return a > b ? a : b > a ? b : a == b ? (signbit(a) ? b : a) : a + b;
}

#define FLOAT_COMBINERS(t, T)               \
  COMBINER(sum_##t, T, a + b)               \
  COMBINER(product_##t, T, a *b)            \
  COMBINER(min_of_##t, T, min_##t(a, b))    \
  COMBINER(max_of_##t, T, max_##t(a, b))    \
  COMBINER(and_##t, T, (a != 0) & (b != 0)) \
  COMBINER(or_##t, T, (a != 0) | (b != 0))

FLOAT_COMBINERS(f32, float)
FLOAT_COMBINERS(f64, double)

/* Sums and products are taken unsigned, where wrapping is defined. */
#define INTEGER_COMBINERS(t, T, U)                               \
  COMBINER(sum_##t, T, (U)((uint64_t)(U)a + (uint64_t)(U)b))     \
  COMBINER(product_##t, T, (U)((uint64_t)(U)a * (uint64_t)(U)b)) \
  COMBINER(min_of_##t, T, a < b ? a : b)                         \
  COMBINER(max_of_##t, T, a < b ? b : a)                         \
  COMBINER(bit_and_##t, T, a &b)                                 \
  COMBINER(bit_or_##t, T, a | b)                                 \
  COMBINER(bit_xor_##t, T, a ^ b)                                \
  COMBINER(and_##t, T, (a != 0) & (b != 0))                      \
  COMBINER(or_##t, T, (a != 0) | (b != 0))

INTEGER_COMBINERS(i8, int8_t, uint8_t)
INTEGER_COMBINERS(i16, int16_t, uint16_t)
INTEGER_COMBINERS(i32, int32_t, uint32_t)
INTEGER_COMBINERS(i64, int64_t, uint64_t)
INTEGER_COMBINERS(u8, uint8_t, uint8_t)
INTEGER_COMBINERS(u16, uint16_t, uint16_t)
INTEGER_COMBINERS(u32, uint32_t, uint32_t)
INTEGER_COMBINERS(u64, uint64_t, uint64_t)

#define COMPLEX_COMBINERS(t, R)                                                                    \
  SW_SIMD_CLONES static void sum_##t(void *acc_at, const void *a_at, const void *x_at, size_t n) { \
    R *acc = acc_at;                                                                               \
    const R *a = a_at, *x = x_at;                                                                  \
    INDEPENDENT for (size_t i = 0; i < 2 * n; i++) acc[i] = a[i] + x[i];                           \
  }                                                                                                \
  static void product_##t(void *acc_at, const void *a_at, const void *x_at, size_t n) {            \
    R *acc = acc_at;                                                                               \
    const R *a = a_at, *x = x_at;                                                                  \
    for (size_t i = 0; i < 2 * n; i += 2) {                                                        \
      R re = a[i] * x[i] - a[i + 1] * x[i + 1];                                                    \
      R im = a[i] * x[i + 1] + a[i + 1] * x[i];                                                    \
      acc[i] = re;                                                                                 \
      acc[i + 1] = im;                                                                             \
    }                                                                                              \
  }

COMPLEX_COMBINERS(c64, float)
COMPLEX_COMBINERS(c128, double)

#define FLOAT_ROW(t)                                                                                               \
  {                                                                                                                \
    [SW_REDUCE_SUM] = sum_##t, [SW_REDUCE_AVERAGE] = sum_##t, [SW_REDUCE_PRODUCT] = product_##t,                   \
    [SW_REDUCE_MIN] = min_of_##t, [SW_REDUCE_MAX] = max_of_##t, [SW_REDUCE_AND] = and_##t, [SW_REDUCE_OR] = or_##t \
  }
#define INTEGER_ROW(t)                                                                                              \
  {                                                                                                                 \
    [SW_REDUCE_SUM] = sum_##t, [SW_REDUCE_AVERAGE] = sum_##t, [SW_REDUCE_PRODUCT] = product_##t,                    \
    [SW_REDUCE_MIN] = min_of_##t, [SW_REDUCE_MAX] = max_of_##t, [SW_REDUCE_AND] = and_##t, [SW_REDUCE_OR] = or_##t, \
    [SW_REDUCE_BIT_AND] = bit_and_##t, [SW_REDUCE_BIT_OR] = bit_or_##t, [SW_REDUCE_BIT_XOR] = bit_xor_##t           \
  }
#define COMPLEX_ROW(t) \
  { [SW_REDUCE_SUM] = sum_##t, [SW_REDUCE_AVERAGE] = sum_##t, [SW_REDUCE_PRODUCT] = product_##t }
/* Bool is 0 or 1 in a byte. */
#define BOOL_ROW                                                                                     \
  {                                                                                                  \
    [SW_REDUCE_SUM] = bit_or_u8, [SW_REDUCE_AVERAGE] = bit_and_u8, [SW_REDUCE_PRODUCT] = bit_and_u8, \
    [SW_REDUCE_MIN] = bit_and_u8, [SW_REDUCE_MAX] = bit_or_u8, [SW_REDUCE_AND] = bit_and_u8,         \
    [SW_REDUCE_OR] = bit_or_u8, [SW_REDUCE_BIT_AND] = bit_and_u8, [SW_REDUCE_BIT_OR] = bit_or_u8,    \
    [SW_REDUCE_BIT_XOR] = bit_xor_u8                                                                 \
  }

/* By the dtype of the accumulator. */
static const combine_fn kCombine[SW_DTYPE_COUNT][SW_REDUCTION_COUNT] = {
    [SW_F64] = FLOAT_ROW(f64),    [SW_F32] = FLOAT_ROW(f32),   [SW_I8] = INTEGER_ROW(i8), [SW_I16] = INTEGER_ROW(i16),
    [SW_I32] = INTEGER_ROW(i32),  [SW_I64] = INTEGER_ROW(i64), [SW_U8] = INTEGER_ROW(u8), [SW_U16] = INTEGER_ROW(u16),
    [SW_U32] = INTEGER_ROW(u32),  [SW_U64] = INTEGER_ROW(u64), [SW_BOOL] = BOOL_ROW,      [SW_C64] = COMPLEX_ROW(c64),
    [SW_C128] = COMPLEX_ROW(c128)};

/* f32 for small floats; 64 bits for averages of integers, whose sum must not wrap. */
static sw_dtype accumulator(const sw_reducer *r) {
  if (r->kind == SW_REDUCE_GENERIC) return r->to;
  sw_dtype_class c = sw_dtype_class_of(r->to);
  if (c == SW_CLASS_FLOAT) return r->to == SW_F64 ? SW_F64 : SW_F32;
  if (r->kind != SW_REDUCE_AVERAGE) return sw_dtype_container(r->to); /* sums modulo 2^8 are such modulo 2^4 */
  return c == SW_CLASS_SIGNED ? SW_I64 : c == SW_CLASS_UNSIGNED ? SW_U64 : r->to;
}

static void convert_bf16_to_f32(float *to, const uint16_t *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = sw_bf16_to_f32(from[i]);
}

static void convert_f16_to_f32(float *to, const uint16_t *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = sw_f16_to_f32(from[i]);
}

static void convert_f32_to_bf16(uint16_t *to, const float *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = sw_f32_to_bf16(from[i]);
}

static void convert_f32_to_f16(uint16_t *to, const float *from, size_t n) {
  for (size_t i = 0; i < n; i++) to[i] = sw_f32_to_f16(from[i]);
}

static void convert_elements(sw_dtype to, void *dst, sw_dtype from, const void *src, size_t n) {
  if (from == SW_BF16 && to == SW_F32)
    convert_bf16_to_f32(dst, src, n);
  else if (from == SW_F16 && to == SW_F32)
    convert_f16_to_f32(dst, src, n);
  else if (from == SW_F32 && to == SW_BF16)
    convert_f32_to_bf16(dst, src, n);
  else if (from == SW_F32 && to == SW_F16)
    convert_f32_to_f16(dst, src, n);
  else
    sw_convert_elements(to, dst, from, src, n);
}

typedef struct workspace {
  _Alignas(64) char acc[CHUNK_BYTES];
  _Alignas(64) char wide[CHUNK_BYTES];
  _Alignas(64) char narrow[CHUNK_BYTES];
} workspace;

/* A chunk of a source as accumulator elements: where it lies, or converted (to the result's dtype first). */
static const void *load(const sw_reducer *r, sw_dtype acc, workspace *w, const void *src, size_t n) {
  if (r->from == r->to && acc != SW_BOOL) {
    convert_elements(acc, w->wide, r->from, src, n);
    return w->wide;
  }
  if (r->from == SW_BOOL && r->to == SW_BOOL) { /* any byte but 0 means true */
    const uint8_t *bytes = src;
    for (size_t i = 0; i < n; i++) w->wide[i] = (char)(bytes[i] != 0);
    return w->wide;
  }
  convert_elements(r->to, w->narrow, r->from, src, n);
  if (r->to == acc) return w->narrow;
  convert_elements(acc, w->wide, r->to, w->narrow, n);
  return w->wide;
}

/* Averages are divided, and and/or of one source answers 0 or 1; element by element. */
static void finish_reduced(const sw_reducer *r, sw_dtype acc, int64_t n_src, void *at, size_t n) {
  bool logical = (r->kind == SW_REDUCE_AND || r->kind == SW_REDUCE_OR) && n_src == 1;
  if (r->kind != SW_REDUCE_AVERAGE && !logical) return;
  size_t size = (size_t)sw_dtype_bytes(acc);
  if (acc == SW_F32 && !logical) {
    float *f = at;
    for (size_t i = 0; i < n; i++) f[i] /= (float)n_src;
    return;
  }
  for (size_t i = 0; i < n; i++) {
    char *p = (char *)at + i * size;
    sw_scalar_store(acc, sw_reduction_finish(r->kind, acc, sw_scalar_load(acc, p), n_src), p);
  }
}

static void combine_elements(const sw_reducer *r, sw_dtype acc, void *at, const void *a, const void *x, size_t n) {
  if (r->kind != SW_REDUCE_GENERIC) {
    kCombine[acc][r->kind](at, a, x, n);
    return;
  }
  if (at != a) memcpy(at, a, n * (size_t)sw_dtype_bytes(acc));
  r->generic->combine(r->generic->user, at, x, n);
}

/* One call's sources and destinations. */
typedef struct reduce_job {
  const sw_reducer *r;
  sw_dtype acc;
  int64_t n_src, n_dst;
  const void *const *src;
  void *const *dst;
  int64_t from_size, to_size; /* bytes of an element */
  bool plain;                 /* nothing is converted */
  bool direct;                /* sources combine in the first destination, without an accumulator of its own */
} reduce_job;

static const void *source_at(const reduce_job *j, int64_t s, int64_t at) {
  return (const char *)j->src[s] + at * j->from_size;
}

static void *target_at(const reduce_job *j, int64_t i, int64_t at) { return (char *)j->dst[i] + at * j->to_size; }

static const void *loaded(const reduce_job *j, workspace *w, int64_t s, int64_t at, size_t n) {
  const void *src = source_at(j, s, at);
  return j->plain ? src : load(j->r, j->acc, w, src, n);
}

static void write_result(const reduce_job *j, const void *result, int64_t first, int64_t dst_at, size_t n) {
  for (int64_t i = first; i < j->n_dst; i++) {
    if (j->r->streams)
      sw_stream(target_at(j, i, dst_at), result, n * (size_t)j->to_size);
    else
      memcpy(target_at(j, i, dst_at), result, n * (size_t)j->to_size);
  }
}

/* Each source's chunk, some chunks after this one; perhaps past its end, which harms nobody. */
static void ask_early(const reduce_job *j, int64_t src_at, size_t n) {
  for (int64_t s = 0; s < j->n_src; s++) {
    const char *at = (const char *)source_at(j, s, src_at) + EARLY_BYTES;
    for (size_t i = 0; i < n * (size_t)j->from_size; i += LINE) __builtin_prefetch(at + i, 0, 2);
  }
}

static void reduce_chunk(const reduce_job *j, workspace *w, int64_t src_at, int64_t dst_at, size_t n) {
  const sw_reducer *r = j->r;
  void *acc = j->direct ? target_at(j, 0, dst_at) : w->acc;
  if (r->streams) ask_early(j, src_at, n);
  const void *sum = loaded(j, w, 0, src_at, n);
  if (!j->plain || j->n_src == 1) sum = memcpy(acc, sum, n * (size_t)sw_dtype_bytes(j->acc));
  for (int64_t s = 1; s < j->n_src; s++) {
    combine_elements(r, j->acc, acc, sum, loaded(j, w, s, src_at, n), n);
    sum = acc;
  }
  finish_reduced(r, j->acc, j->n_src, acc, n);
  if (r->to != j->acc) {
    convert_elements(r->to, w->narrow, j->acc, acc, n);
    sum = w->narrow;
  }
  write_result(j, sum, j->direct ? 1 : 0, dst_at, n);
}

/* The first destination is no source that is read after the first step wrote there; a user's combiner gets a copy of
 * the first source there to begin with. */
static bool can_be_direct(const reduce_job *j, int64_t src_at, int64_t dst_at) {
  if (j->n_src < 2 || !j->plain || j->r->streams) return false;
  for (int64_t s = j->r->kind == SW_REDUCE_GENERIC ? 1 : 2; s < j->n_src; s++)
    if (source_at(j, s, src_at) == target_at(j, 0, dst_at)) return false;
  return true;
}

/* Elements before the first whole cache line of the result, which chunks begin with. */
static int64_t head_of(const reduce_job *j, int64_t dst_at) {
  int64_t before = (int64_t)(-(uintptr_t)target_at(j, 0, dst_at) % LINE);
  return j->r->streams && before % j->to_size == 0 ? before / j->to_size : 0;
}

/* Accumulated, and as results. */
static int64_t elements_of_chunk(const reduce_job *j) {
  int64_t wide = sw_dtype_bytes(j->acc);
  return CHUNK_BYTES / (wide > j->to_size ? wide : j->to_size);
}

void sw_reduce_run(const sw_reducer *r, int64_t n_src, const void *const *src, int64_t src_at, int64_t n_dst,
                   void *const *dst, int64_t dst_at, int64_t count) {
  workspace w;
  reduce_job job = {.r = r, .acc = accumulator(r), .n_src = n_src, .n_dst = n_dst, .src = src, .dst = dst};
  job.from_size = sw_dtype_bytes(r->from);
  job.to_size = sw_dtype_bytes(r->to);
  job.plain = r->from == job.acc && r->to == job.acc && job.acc != SW_BOOL;
  job.direct = can_be_direct(&job, src_at, dst_at);
  bool paced = job.plain && (r->streams || n_dst > 1);
  int64_t bytes = r->streams ? STREAMED_BYTES : PACED_BYTES, end = head_of(&job, dst_at);
  int64_t chunk = paced ? bytes / job.to_size : elements_of_chunk(&job);
  if (end == 0) end = chunk;
  for (int64_t at = 0; at < count; at = end, end += chunk) {
    if (end > count) end = count;
    reduce_chunk(&job, &w, src_at + at, dst_at + at, (size_t)(end - at));
  }
  if (r->streams) sw_stream_end();
}
