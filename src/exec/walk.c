/* Strided walks and copies.
 *
 *   transpose of f32[2,3]: dims {3,2}, dst strides {8,4}, src strides {4,12}
 *
 * A copy whose rows are long in the source but not in the destination is done in square tiles, so that both sides use
 * whole cache lines.
 */
#include "exec/walk.h"

#include <string.h>

#include "base/checked.h"

void sw_dense_strides(int rank, const int64_t *dims, int64_t element_bytes, int64_t *stride) {
  for (int i = rank - 1; i >= 0; i--) {
    stride[i] = element_bytes;
    element_bytes *= sw_max_i64(dims[i], 1);
  }
}

static void copy_dim(sw_walk *w, int to, int from) {
  w->dims[to] = w->dims[from];
  for (int a = 0; a < w->n_arrays; a++) w->stride[a][to] = w->stride[a][from];
}

/* Is a step along `outer` the same as a full run along `inner`, for every array? */
static bool mergeable(const sw_walk *w, int outer, int inner) {
  for (int a = 0; a < w->n_arrays; a++) {
    if (w->stride[a][outer] != w->stride[a][inner] * w->dims[inner]) return false;
  }
  return true;
}

void sw_walk_simplify(sw_walk *w) {
  int n = 0;
  for (int i = 0; i < w->rank; i++) {
    if (w->dims[i] == 1) continue;
    copy_dim(w, n, i);
    if (n > 0 && mergeable(w, n - 1, n)) {
      int64_t run = w->dims[n - 1];
      copy_dim(w, n - 1, n);
      w->dims[n - 1] *= run;
    } else {
      n++;
    }
  }
  w->rank = n;
}

void sw_walk_run(const sw_walk *w, char *const *base, sw_walk_row row, void *user) {
  char *at[SW_WALK_ARRAYS] = {0};
  int64_t row_stride[SW_WALK_ARRAYS] = {0}, index[SW_MAX_RANK] = {0};
  int last = w->rank - 1;
  for (int i = 0; i < w->rank; i++) {
    if (w->dims[i] <= 0) return;
  }
  for (int a = 0; a < w->n_arrays; a++) {
    at[a] = base[a];
    if (last >= 0) row_stride[a] = w->stride[a][last];
  }
  for (;;) {
    row(user, at, row_stride, last >= 0 ? w->dims[last] : 1);
    int i = last - 1;
    for (; i >= 0; i--) { /* odometer over the outer dims */
      bool carry = ++index[i] == w->dims[i];
      for (int a = 0; a < w->n_arrays; a++) at[a] += carry ? w->stride[a][i] * (1 - w->dims[i]) : w->stride[a][i];
      if (!carry) break;
      index[i] = 0;
    }
    if (i < 0) return;
  }
}

typedef struct sw_wide16 {
  uint64_t half[2];
} sw_wide16;

/* One row of elements of a size; and a tile of n[0] x n[1] elements, contiguous along the first in the source and along
 * the second in the destination. The tile goes through a small buffer: each line of memory is touched once, however the
 * strides fall into the sets of a cache. */
enum { TILE = 16, BLOCK = 8 * TILE };
/* gcc's -O3 gathers vectors out of strided rows, which takes half as long again as to move elements one by one. */
#if defined(__GNUC__) && !defined(__clang__)
#define SW_ONE_BY_ONE __attribute__((optimize("O2")))
#else
#define SW_ONE_BY_ONE
#endif
#define COPY_LOOPS(bytes, T)                                                                                         \
  SW_ONE_BY_ONE static void copy_row_##bytes(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {        \
    if (ss == 0) {                                                                                                   \
      T v = *(const T *)src;                                                                                         \
      for (int64_t i = 0; i < n; i++) *(T *)(dst + i * ds) = v;                                                      \
    } else {                                                                                                         \
      for (int64_t i = 0; i < n; i++) *(T *)(dst + i * ds) = *(const T *)(src + i * ss);                             \
    }                                                                                                                \
  }                                                                                                                  \
  static inline void copy_part_##bytes(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n0, int64_t n1) { \
    T tile[TILE][TILE];                                                                                              \
    for (int64_t j = 0; j < n1; j++) {                                                                               \
      for (int64_t i = 0; i < n0; i++) tile[i][j] = ((const T *)(src + j * ss))[i];                                  \
    }                                                                                                                \
    for (int64_t i = 0; i < n0; i++) {                                                                               \
      for (int64_t j = 0; j < n1; j++) ((T *)(dst + i * ds))[j] = tile[i][j];                                        \
    }                                                                                                                \
  }                                                                                                                  \
  static void copy_tile_##bytes(char *dst, int64_t ds, const char *src, int64_t ss, const int64_t *n) {              \
    if (n[0] == TILE && n[1] == TILE) {                                                                              \
      copy_part_##bytes(dst, ds, src, ss, TILE, TILE); /* constant bounds: unrolled */                               \
    } else {                                                                                                         \
      copy_part_##bytes(dst, ds, src, ss, n[0], n[1]);                                                               \
    }                                                                                                                \
  }
COPY_LOOPS(1, uint8_t)
COPY_LOOPS(2, uint16_t)
COPY_LOOPS(4, uint32_t)
COPY_LOOPS(8, uint64_t)
COPY_LOOPS(16, sw_wide16)

typedef struct copy_loops {
  void (*row)(char *dst, int64_t ds, const char *src, int64_t ss, int64_t n);
  void (*tile)(char *dst, int64_t ds, const char *src, int64_t ss, const int64_t *n);
} copy_loops;
static const copy_loops kCopy[17] = {[1] = {copy_row_1, copy_tile_1},
                                     [2] = {copy_row_2, copy_tile_2},
                                     [4] = {copy_row_4, copy_tile_4},
                                     [8] = {copy_row_8, copy_tile_8},
                                     [16] = {copy_row_16, copy_tile_16}};

void sw_copy_row(int element_bytes, char *dst, int64_t ds, const char *src, int64_t ss, int64_t n) {
  if (ds == element_bytes && ss == element_bytes) {
    memcpy(dst, src, (size_t)(n * element_bytes));
  } else {
    kCopy[element_bytes].row(dst, ds, src, ss, n);
  }
}

static void copy_row(void *user, char *const *at, const int64_t *stride, int64_t n) {
  sw_copy_row(*(const int *)user, at[0], stride[0], at[1], stride[1], n);
}

/* Two dims: n[0] contiguous in the source and `ds` bytes apart in the destination, n[1] the other way round. */
typedef struct plane {
  int bytes;
  int64_t n[2], ds, ss;
} plane;

/* The tiles of a block of at most BLOCK x BLOCK elements, so that pages are reused while their translations are
 * near. */
static void copy_block(const plane *p, char *dst, const char *src, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; i += TILE) {
    for (int64_t j = 0; j < columns; j += TILE) {
      int64_t n[2] = {sw_min_i64(TILE, rows - i), sw_min_i64(TILE, columns - j)};
      kCopy[p->bytes].tile(dst + i * p->ds + j * p->bytes, p->ds, src + i * p->bytes + j * p->ss, p->ss, n);
    }
  }
}

static void copy_plane(void *user, char *const *at, const int64_t *stride, int64_t count) {
  const plane *p = user;
  for (int64_t k = 0; k < count; k++) {
    char *dst = at[0] + k * stride[0];
    const char *src = at[1] + k * stride[1];
    for (int64_t i = 0; i < p->n[0]; i += BLOCK) {
      for (int64_t j = 0; j < p->n[1]; j += BLOCK) {
        copy_block(p, dst + i * p->ds + j * p->bytes, src + i * p->bytes + j * p->ss, sw_min_i64(BLOCK, p->n[0] - i),
                   sw_min_i64(BLOCK, p->n[1] - j));
      }
    }
  }
}

/* The dim along which the source is contiguous, when rows (the last dim) are not: then tiles pay. -1: none. */
static int tiled_dim(const sw_walk *w, int bytes) {
  int last = w->rank - 1;
  if (last < 1 || w->stride[0][last] != bytes || w->stride[1][last] == bytes || w->stride[1][last] == 0) return -1;
  for (int i = 0; i < last; i++) {
    if (w->stride[1][i] == bytes) return i;
  }
  return -1;
}

void sw_copy_walk(const sw_walk *w, int element_bytes, char *dst, const char *src) {
  sw_walk_run(w, (char *[SW_WALK_ARRAYS]){dst, (char *)(uintptr_t)src}, copy_row, &element_bytes);
}

void sw_copy_box(int rank, const int64_t *dims, int element_bytes, char *dst, const int64_t *dst_stride,
                 const char *src, const int64_t *src_stride) {
  sw_walk w = {.rank = rank, .n_arrays = 2};
  for (int i = 0; i < rank; i++) {
    if (dims[i] <= 0) return;
    w.dims[i] = dims[i];
    w.stride[0][i] = dst_stride[i];
    w.stride[1][i] = src_stride[i];
  }
  sw_walk_simplify(&w);
  int last = w.rank - 1, t = tiled_dim(&w, element_bytes);
  if (t < 0) {
    sw_copy_walk(&w, element_bytes, dst, src);
    return;
  }
  plane p = {element_bytes, {w.dims[t], w.dims[last]}, w.stride[0][t], w.stride[1][last]};
  w.dims[last] = 1;
  for (int i = t; i < last; i++) copy_dim(&w, i, i + 1);
  w.rank = last;
  sw_walk_simplify(&w);
  sw_walk_run(&w, (char *[SW_WALK_ARRAYS]){dst, (char *)(uintptr_t)src}, copy_plane, &p);
}

void sw_fill_elements(void *dst, const void *value, int element_bytes, int64_t n) {
  if (n > 0) kCopy[element_bytes].row(dst, element_bytes, value, 0, n);
}
