/* rng_bit_generator, bit for bit as XLA has it: Threefry-2x32 of 20 rounds and Philox-4x32 of 10 (Salmon et al.,
 * Parallel random numbers: as easy as 1, 2, 3). An element is a function of key, counter and its place in the whole
 * result.
 *
 *   three_fry   32 bits: two elements next to each other along one dim, the first even one (else the largest), share a
 *               call; 64 bits: one call an element
 *   philox      a call gives four 32-bit words in row-major order, or two of 64
 *
 * Narrower elements are the low bits of 32.
 */
#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/walk.h"

static uint32_t rotated(uint32_t v, int by) { return v << by | v >> (32 - by); }

static void three_fry(uint64_t key, uint64_t counter, uint32_t *x) {
  static const int kTurns[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  uint32_t k[3] = {(uint32_t)key, (uint32_t)(key >> 32)};
  k[2] = k[0] ^ k[1] ^ 0x1BD11BDAu;
  x[0] = (uint32_t)counter + k[0];
  x[1] = (uint32_t)(counter >> 32) + k[1];
  for (uint32_t group = 0; group < 5; group++) {
    for (int i = 0; i < 4; i++) {
      x[0] += x[1];
      x[1] = rotated(x[1], kTurns[group % 2][i]) ^ x[0];
    }
    x[0] += k[(group + 1) % 3];
    x[1] += k[(group + 2) % 3] + group + 1;
  }
}

static void philox(uint64_t key, uint64_t low, uint64_t high, uint32_t *x) {
  uint32_t k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
  x[0] = (uint32_t)low, x[1] = (uint32_t)(low >> 32), x[2] = (uint32_t)high, x[3] = (uint32_t)(high >> 32);
  for (int i = 0; i < 10; i++, k[0] += 0x9E3779B9u, k[1] += 0xBB67AE85u) {
    uint64_t a = UINT64_C(0xD2511F53) * x[0], b = UINT64_C(0xCD9E8D57) * x[2];
    uint32_t next[4] = {(uint32_t)(b >> 32) ^ x[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ x[3] ^ k[1], (uint32_t)a};
    memcpy(x, next, sizeof next);
  }
}

typedef struct generator {
  bool fry, wide;                                 /* wide: 64 bits an element */
  uint64_t key, low, high;                        /* counter; Threefry has `low` alone */
  int rank, split;                                /* split: dim of pairs; -1: none */
  int64_t half[SW_MAX_RANK], stride[SW_MAX_RANK]; /* of the shape that is counted, in calls or elements */
} generator;

/* The dim along which pairs share a call. */
static int pairing_dim(int rank, const int64_t *dims) {
  int largest = -1;
  for (int i = 0; i < rank; i++) {
    if (dims[i] % 2 == 0) return i;
    if (largest < 0 || dims[i] > dims[largest]) largest = i;
  }
  return largest;
}

static void generator_init(generator *v, const sw_kernel_call *c) {
  const uint64_t *state = c->in[0]->data;
  const int64_t *dims = sw_op_ints(c->op, SW_ATTR_GLOBAL, &v->rank);
  v->fry = strcmp(sw_op_text(c->op, SW_ATTR_ALGORITHM, ""), "three_fry") == 0;
  v->wide = sw_dtype_bytes(c->out[1]->dtype) == 8;
  v->key = state[0];
  v->low = state[1];
  v->high = v->fry ? 0 : c->in[0]->dims[0] == 3 ? state[2] : state[0];
  v->split = v->fry && !v->wide ? pairing_dim(v->rank, dims) : -1;
  for (int i = 0; i < v->rank; i++) v->half[i] = i == v->split ? (dims[i] + 1) / 2 : dims[i];
  sw_dense_strides(v->rank, v->half, 1, v->stride);
}

static uint64_t bits_at(const generator *v, const int64_t *at) {
  uint64_t number = 0;
  uint32_t x[4];
  for (int i = 0; i < v->rank; i++) number += (uint64_t)((i == v->split ? at[i] / 2 : at[i]) * v->stride[i]);
  if (v->fry) {
    three_fry(v->key, v->low + number, x);
    return v->wide ? x[0] | (uint64_t)x[1] << 32 : x[v->split >= 0 ? at[v->split] % 2 : 0];
  }
  uint64_t per = v->wide ? 2 : 4, low = v->low + number / per, which = number % per;
  philox(v->key, low, v->high + (low < v->low), x);
  return v->wide ? x[2 * which] | (uint64_t)x[2 * which + 1] << 32 : x[which];
}

/* How far the counter moves. */
static uint64_t calls_of(const generator *v) {
  uint64_t n = 1;
  for (int i = 0; i < v->rank; i++) n *= (uint64_t)v->half[i];
  return v->fry ? n : v->wide ? (n + 1) / 2 : (n + 3) / 4;
}

static void next_state(const generator *v, const sw_kernel_call *c) {
  uint64_t *out = c->out[0]->data, low = v->low + calls_of(v);
  out[0] = v->key;
  out[1] = low;
  if (c->out[0]->dims[0] == 3) out[2] = v->high + (low < v->low);
}

static bool next_index(const sw_buffer *y, const int64_t *first, int64_t *at) {
  for (int i = y->rank - 1; i >= 0; i--) {
    if (++at[i] < first[i] + y->dims[i]) return true;
    at[i] = first[i];
  }
  return false;
}

sw_rc sw_kernel_rng_bits(const sw_kernel_call *c, sw_diag *d) {
  (void)d;
  sw_buffer *y = c->out[1];
  generator v = {0};
  int64_t first[SW_MAX_RANK] = {0}, at[SW_MAX_RANK], bytes = sw_dtype_bytes(y->dtype);
  generator_init(&v, c);
  next_state(&v, c);
  for (int i = 0; i + 1 < c->op->n_operands; i++) first[i] = sw_buffer_int(c->in[i + 1], 0);
  memcpy(at, first, sizeof at);
  if (sw_buffer_elements(y) == 0) return SW_OK;
  char *to = y->data;
  do {
    uint64_t bits = bits_at(&v, at);
    memcpy(to, &bits, (size_t)bytes); /* the low ones: this machine keeps them first */
    to += bytes;
  } while (next_index(y, first, at));
  return SW_OK;
}
