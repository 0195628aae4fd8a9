#include "select/bound/compress.h"

static int64_t entry(const sel_mat *m, int side, int32_t line, int32_t k) {
  return side ? m->v[(int64_t)k * m->cols + line] : m->v[(int64_t)line * m->cols + k];
}

static bool same_line(const sel_mat *m, int side, int32_t a, int32_t b) {
  int32_t len = side ? m->rows : m->cols;
  for (int32_t k = 0; k < len; k++) {
    if (entry(m, side, a, k) != entry(m, side, b, k)) return false;
  }
  return true;
}

/* Hashes of all lines, by entries in order. */
static void hash_lines(const sel_mat *m, uint64_t *row, uint64_t *col) {
  for (int32_t s = 0; s < m->rows; s++) {
    for (int32_t t = 0; t < m->cols; t++) {
      uint64_t v = (uint64_t)m->v[(int64_t)s * m->cols + t];
      row[s] = (row[s] ^ v) * UINT64_C(0x9e3779b97f4a7c15);
      col[t] = (col[t] ^ v) * UINT64_C(0x9e3779b97f4a7c15);
      row[s] ^= row[s] >> 29;
      col[t] ^= col[t] >> 29;
    }
  }
}

sw_rc sel_compress(const sel_mat *m, sw_arena *mem, sel_compressed *out, sw_diag *d) {
  const int32_t lines[2] = {m->rows, m->cols};
  uint64_t *hash[2];
  *out = (sel_compressed){0};
  for (int side = 0; side < 2; side++) {
    SW_ARENA_NEW_EACH(mem, lines[side], d, hash[side], out->class_of[side], out->first[side]);
  }
  hash_lines(m, hash[0], hash[1]);
  for (int side = 0; side < 2; side++) {
    for (int32_t s = 0; s < lines[side]; s++) {
      int32_t c = 0, *first = out->first[side];
      while (c < out->n[side] && (hash[side][first[c]] != hash[side][s] || !same_line(m, side, first[c], s))) c++;
      if (c == out->n[side]) first[out->n[side]++] = s;
      out->class_of[side][s] = c;
    }
  }
  return SW_OK;
}
