/* No two blocks of an argument alike.
 *
 *   bool[4] over 4 devices: two values for four blocks of one element: no room, left as it is
 *   i32[8] in 0 .. 7 over 8 devices: eight values for eight blocks: random draws hardly ever differ all, so equal ones
 *   are drawn again one by one
 */
#include <math.h>
#include <string.h>

#include "exec/validate/arguments.h"
#include "base/hash.h"

enum { ROUNDS = 8, DRAWS = 64 };

/* The different blocks of one sharding. */
typedef struct block_set {
  int64_t n;
  int64_t (*lo)[SW_MAX_RANK], (*extent)[SW_MAX_RANK];
  uint64_t *print;
} block_set;

static void block_set_free(block_set *s) {
  sw_mem_free(s->lo);
  sw_mem_free(s->extent);
  sw_mem_free(s->print);
}

static uint64_t fingerprint_of(const sw_buffer *t, const int64_t *lo, const int64_t *n) {
  int64_t index[SW_MAX_RANK] = {0}, at[SW_MAX_RANK], bytes = sw_dtype_bytes(t->dtype);
  int outer = t->rank ? t->rank - 1 : 0;
  int64_t row = t->rank ? n[outer] : 1;
  uint64_t print = sw_hash_bytes(n, (size_t)t->rank * sizeof *n, 0);
  do {
    for (int k = 0; k < t->rank; k++) at[k] = lo[k] + index[k];
    print = sw_hash_bytes((const char *)t->data + sw_box_offset(t, at) * bytes, (size_t)(row * bytes), print);
  } while (sw_next_position(outer, n, index));
  return print;
}

static bool is_new(const block_set *s, int rank, const int64_t *lo) {
  for (int64_t i = 0; i < s->n; i++) {
    if (memcmp(s->lo[i], lo, (size_t)rank * sizeof *lo) == 0) return false;
  }
  return true;
}

static sw_rc find_blocks(const sw_buffer *t, const sw_mesh *m, const sw_sharding *way, block_set *s, sw_diag *d) {
  size_t devices = (size_t)sw_mesh_devices(m);
  *s = (block_set){0};
  s->lo = sw_mem_alloc(devices, sizeof *s->lo, d);
  s->extent = sw_mem_alloc(devices, sizeof *s->extent, d);
  s->print = sw_mem_alloc(devices, sizeof *s->print, d);
  if (!s->lo || !s->extent || !s->print) return SW_E_RESOURCE;
  for (int64_t device = 0; device < (int64_t)devices; device++) {
    int64_t *lo = s->lo[s->n], *n = s->extent[s->n], at[SW_MAX_RANK];
    sw_block_extent(m, way, t, device, lo, n, at);
    if (sw_has_no_position(t->rank, n) || !is_new(s, t->rank, lo)) continue;
    s->print[s->n++] = fingerprint_of(t, lo, n);
  }
  return SW_OK;
}

/* One that is equal to block i; -1: none is. */
static int64_t equal_block(const block_set *s, int64_t i) {
  for (int64_t k = 0; k < s->n; k++) {
    if (k != i && s->print[k] == s->print[i]) return k;
  }
  return -1;
}

/* How many numbers an element may be. */
static double choices_of(const sw_buffer *t, const sw_fill *f) {
  if (t->dtype == SW_BOOL) return 2;
  if (f->kind == SW_FILL_WITHIN && sw_dtype_class_of(t->dtype) != SW_CLASS_FLOAT)
    return floor(f->limit) - ceil(f->low) + 1;
  bool is_signed = sw_dtype_class_of(t->dtype) != SW_CLASS_UNSIGNED;
  return f->kind == SW_FILL_SMALL ? (1 + is_signed) * f->limit + 1 : ldexp(1, sw_dtype_bits(t->dtype) / 2);
}

static bool has_room_for_blocks(const sw_buffer *t, const sw_fill *f, const block_set *s) {
  double fewest = INFINITY;
  for (int64_t i = 0; i < s->n; i++) {
    double elements = 1;
    for (int k = 0; k < t->rank; k++) elements *= (double)s->extent[i][k];
    fewest = fmin(fewest, elements);
  }
  return fewest * log(fmax(choices_of(t, f), 1)) >= log((double)s->n);
}

/* An element of the block becomes another number that the fill may hold. */
static sw_rc draw_again(sw_tensor *t, const sw_fill *f, const int64_t *lo, const int64_t *n, sw_rng *rng, sw_diag *d) {
  int64_t at[SW_MAX_RANK], bytes = sw_dtype_bytes(t->dtype);
  sw_fill other = *f;
  for (int k = 0; k < t->rank; k++) at[k] = lo[k] + sw_rng_below(rng, n[k]);
  other.seed = sw_rng_next(rng);
  char cell[16];
  sw_tensor one = {.dtype = t->dtype, .data = cell};
  if (t->dtype == SW_BOOL) {
    cell[0] = (char)(sw_rng_next(rng) & 1);
  } else {
    SW_TRY(sw_tensor_fill(&one, &other, d));
  }
  memcpy((char *)t->data + sw_box_offset(t, at) * bytes, cell, (size_t)bytes);
  return SW_OK;
}

/* Number `c` of the contents that the block's first elements can have, counted in digits of `choices`. Of as many as
 * there are blocks one is nobody else's. */
static void put_number(sw_tensor *t, const sw_fill *f, const int64_t *lo, const int64_t *n, int64_t c) {
  int64_t index[SW_MAX_RANK] = {0}, at[SW_MAX_RANK], bytes = sw_dtype_bytes(t->dtype);
  const int64_t choices = (int64_t)fmin(choices_of(t, f), 0x1p40);
  const double low = t->dtype == SW_BOOL                                                          ? 0
                     : f->kind == SW_FILL_WITHIN                                                  ? ceil(f->low)
                     : f->kind == SW_FILL_SMALL && sw_dtype_class_of(t->dtype) == SW_CLASS_SIGNED ? -f->limit
                                                                                                  : 0;
  do {
    for (int k = 0; k < t->rank; k++) at[k] = lo[k] + index[k];
    sw_element_store(t->dtype, low + (double)(c % choices), (char *)t->data + sw_box_offset(t, at) * bytes);
    c /= choices;
  } while (c > 0 && sw_next_position(t->rank, n, index));
}

/* Until it differs from all others of this sharding. */
static sw_rc draw_anew(sw_tensor *t, const sw_fill *f, block_set *s, int64_t i, sw_rng *rng, sw_diag *d) {
  const bool counts = sw_dtype_class_of(t->dtype) != SW_CLASS_FLOAT;
  for (int64_t draw = 0; draw < DRAWS + s->n && equal_block(s, i) >= 0; draw++) {
    if (draw < DRAWS || !counts) SW_TRY(draw_again(t, f, s->lo[i], s->extent[i], rng, d));
    if (draw >= DRAWS && counts) put_number(t, f, s->lo[i], s->extent[i], draw - DRAWS);
    s->print[i] = fingerprint_of(t, s->lo[i], s->extent[i]);
  }
  return SW_OK;
}

static sw_rc part_all(sw_tensor *t, const sw_fill *f, const sw_sharding_list *w, int32_t way, sw_rng *rng,
                      bool *changed, sw_diag *d) {
  block_set s;
  sw_fill fill = *f;
  sw_rc rc = find_blocks(t, w->mesh, w->shardings[way], &s, d);
  if (!rc && fill.kind == SW_FILL_SMALL && !has_room_for_blocks(t, &fill, &s)) fill.limit = (double)s.n;
  if (!rc && has_room_for_blocks(t, &fill, &s)) {
    for (int64_t i = 0; !rc && i < s.n; i++) {
      if (equal_block(&s, i) < 0) continue;
      *changed = true;
      rc = draw_anew(t, &fill, &s, i, rng, d);
    }
  }
  block_set_free(&s);
  return rc;
}

static bool can_differ(const sw_buffer *t) {
  return t->dtype != SW_TOKEN && sw_dtype_class_of(t->dtype) != SW_CLASS_COMPLEX && sw_buffer_elements(t) > 0;
}

/* What differs under one sharding may become equal under another: again, until nothing changes. */
sw_rc sw_make_distinct(sw_tensor *t, const sw_fill *f, sw_sharding_list ways, sw_diag *d) {
  sw_rng rng;
  bool changed = can_differ(t);
  sw_rng_seed(&rng, f->seed);
  for (int round = 0; changed && round < ROUNDS; round++) {
    changed = false;
    for (int32_t i = 0; i < ways.n; i++) SW_TRY(part_all(t, f, &ways, i, &rng, &changed, d));
  }
  return SW_OK;
}

sw_rc sw_count_equal_blocks(const sw_buffer *t, sw_sharding_list ways, int64_t *out, sw_diag *d) {
  *out = 0;
  for (int32_t i = 0; i < ways.n; i++) {
    block_set s;
    sw_rc rc = find_blocks(t, ways.mesh, ways.shardings[i], &s, d);
    for (int64_t k = 0; !rc && k < s.n; k++) *out += equal_block(&s, k) > k;
    block_set_free(&s);
    SW_TRY(rc);
  }
  return SW_OK;
}
