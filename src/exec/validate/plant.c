/* Extremes put into an argument. A column is what is reduced to one number; its rows are cut:
 *
 *   max of f32[8, 3] over 2 devices    column 0: 7 in row 0 (first of the first block), column 1: 9 in row 7 (last of
 *                                      the second), column 2: 8 in row 3; all others are in -8 .. 5
 *   or of bool[8, 3]                   column 0: one is true; column 1: none is; column 2: one is
 *
 * So each device lacks what some other one has, in its first or last row; and neighbouring results differ.
 */
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "exec/kernels/native.h"
#include "exec/validate/arguments.h"

/* Numbers start, start + step, ... */
typedef struct band {
  double start;
  int64_t n; /* 0: none */
} band;

/* What an argument may hold, in equal steps (of exponents where `powers`), and which of it are extremes. */
typedef struct levels {
  band low, rest, high;
  double step;
  bool powers;     /* of 2 */
  bool continuous; /* what is between is taken, too, for the rest */
  bool two;        /* low or high, nothing else */
} levels;

typedef struct planter {
  const sw_extremes *x;
  sw_tensor *t;
  const sw_tensor *other; /* NULL: none */
  sw_tensor *mask;        /* NULL: none */
  levels l;
  uint64_t seed;
  int64_t columns;
} planter;

/* --- levels ------------------------------------------------------------------------------------------------------- */

enum { MOST_EXTREMES = 16, MOST_OF_A_SIDE = 8, FARTHEST = 24 };

/* Integers up to here are all held. */
static double integers_of(sw_dtype t) {
  const sw_dtype_class class = sw_dtype_class_of(t);
  const int bits = sw_dtype_bits(t);
  if (class != SW_CLASS_FLOAT) return fmin(FARTHEST, ldexp(1, bits - (class == SW_CLASS_SIGNED)) - 1);
  const double most = t == SW_F6E2M3FN ? 7 : t == SW_F8E3M4 ? 15 : FARTHEST;
  return fmin(most, 1 / sw_unit_roundoff(t));
}

/* All that it may be, as one band. */
static band range_of_fill(const sw_tensor *t, const sw_fill *f, levels *l) {
  const sw_dtype_class class = sw_dtype_class_of(t->dtype);
  const double most = integers_of(t->dtype);
  const int bits = sw_dtype_bits(t->dtype);
  l->step = 1;
  l->powers = t->dtype == SW_F8E8M0FNU;
  if (l->powers) return (band){0, 17};
  if (f->kind == SW_FILL_WITHIN && class != SW_CLASS_FLOAT) {
    const double first = ceil(f->low);
    return (band){first, (int64_t)fmin(floor(f->limit) - first + 1, 0x1p40)};
  }
  if (f->kind == SW_FILL_WITHIN) {
    const int64_t n = bits >= 16 ? 49 : 7;
    l->step = (f->limit - f->low) / (double)(n - 1);
    l->continuous = bits >= 16;
    return (band){f->low, n};
  }
  if (f->kind == SW_FILL_RANDOM && class == SW_CLASS_FLOAT && bits >= 16) {
    l->step = f->limit / 32;
    l->continuous = true;
    return (band){-f->limit, 65};
  }
  if (class == SW_CLASS_UNSIGNED) return (band){0, (int64_t)fmin(2 * FARTHEST, ldexp(1, bits) - 1) + 1};
  if (bits == 2) return (band){-2, 4};
  return (band){-most, 2 * (int64_t)most + 1};
}

static double at_step(const levels *l, const band *b, int64_t i) { return b->start + l->step * (double)i; }

/* Parts of [from, from + n) of the whole. */
static band part_of_band(const levels *l, const band *all, int64_t from, int64_t n) {
  return (band){at_step(l, all, from), n > 0 ? n : 0};
}

/* Numbers on either side of one. */
static bool levels_of_side(const sw_extremes *x, band all, levels *l) {
  const double last = at_step(l, &all, all.n - 1);
  if (l->powers) return false;
  double above = ceil((x->side - all.start) / l->step); /* the first that is not less */
  if (above < 0 || x->side > last) return false;
  if (!x->or_equal && !x->only_equal && at_step(l, &all, (int64_t)above) <= x->side) above++;
  const int64_t from = (int64_t)above, below = from < MOST_OF_A_SIDE ? from : MOST_OF_A_SIDE;
  const int64_t left = all.n - from;
  l->two = true;
  l->high = part_of_band(l, &all, from, left < MOST_OF_A_SIDE ? left : MOST_OF_A_SIDE);
  l->low = part_of_band(l, &all, from - below, below);
  if (x->only_equal) {
    if (below == 0) l->low = part_of_band(l, &all, from + 1, left - 1 < MOST_OF_A_SIDE ? left - 1 : MOST_OF_A_SIDE);
    l->high = (band){x->side, 1};
  }
  return l->low.n > 0 && l->high.n > 0;
}

/* One bit that the greatest alone have. */
static bool levels_of_bits(const sw_tensor *t, levels *l) {
  const int bits = sw_dtype_bits(t->dtype) - (sw_dtype_class_of(t->dtype) == SW_CLASS_SIGNED);
  const int64_t half = INT64_C(1) << (bits - 1 < 4 ? bits - 1 : 4);
  l->two = true;
  l->low = (band){0, half};
  l->high = (band){(double)half, half};
  return true;
}

/* Extremes on both ends, or one. */
static bool levels_of_order(const sw_extremes *x, band all, levels *l) {
  const bool greatest = x->keeps & SW_KEEPS_GREATEST, least = x->keeps & SW_KEEPS_LEAST;
  const int64_t ends = greatest && (least || x->sizes) ? all.n / 3 : all.n / 2;
  const int64_t n = ends < MOST_EXTREMES ? ends : MOST_EXTREMES;
  if (n < 1) return false;
  const int64_t low = least || x->sizes ? n : 0, high = greatest ? n : 0;
  l->low = part_of_band(l, &all, 0, least ? low : 0);
  l->rest = part_of_band(l, &all, low, all.n - low - high);
  l->high = part_of_band(l, &all, all.n - high, high);
  return l->rest.n > 0;
}

/* Beyond what is made up for another argument. */
static bool levels_apart(const sw_tensor *t, const sw_fill *f, levels *l) {
  const bool random = l->continuous;
  const int64_t room = random ? MOST_OF_A_SIDE : (int64_t)integers_of(t->dtype) - SW_MOST_SMALL;
  const int64_t n = room < MOST_OF_A_SIDE ? room : MOST_OF_A_SIDE;
  if (l->powers || f->kind == SW_FILL_WITHIN || n < 1) return false;
  l->two = true;
  l->step = random ? f->limit / MOST_OF_A_SIDE : 1;
  const double first = (random ? f->limit : SW_MOST_SMALL) + l->step;
  l->high = (band){first, n};
  l->low = (band){-(first + l->step * (double)(n - 1)), n};
  return true;
}

static bool find_levels(const sw_extremes *x, const sw_fill *f, const sw_tensor *t, levels *l) {
  *l = (levels){0};
  if (t->dtype == SW_BOOL || x->other >= 0 || x->nan) {
    *l = (levels){.low = {0, 1}, .high = {1, 1}, .step = 1, .two = true};
    return true;
  }
  band all = range_of_fill(t, f, l);
  if (x->sided && f->kind != SW_FILL_WITHIN && (x->side - 1 < all.start || x->side + 1 > at_step(l, &all, all.n - 1))) {
    const int64_t below = all.n / 2; /* around it */
    all.start = x->side - l->step * (double)below;
    if (sw_dtype_class_of(t->dtype) == SW_CLASS_UNSIGNED) all.start = fmax(all.start, 0);
  }
  if (x->sided) return x->apart ? levels_apart(t, f, l) : levels_of_side(x, all, l);
  if (x->bits && f->kind != SW_FILL_WITHIN) return levels_of_bits(t, l);
  return levels_of_order(x, all, l);
}

/* --- elements ----------------------------------------------------------------------------------------------------- */

static uint64_t draw(const planter *p, uint64_t what, int64_t i) {
  return sw_hash_u64((uint64_t)i, p->seed ^ what * 77u);
}

/* Of what another argument has there, and of numbers that may be none, 1 is what they have in common, 0 what they do
 * not. */
static void put(const planter *p, const int64_t *at, double v) {
  const int64_t place = sw_box_offset(p->t, at) * sw_dtype_bytes(p->t->dtype);
  if (p->l.powers) v = ldexp(1, (int)v);
  if (p->x->nan && v > 0) return;
  if (p->x->nan) v = NAN;
  if (p->other) {
    const double there = sw_element_load(p->t->dtype, (const char *)p->other->data + place);
    v = v > 0 ? there : there >= 1 ? there - 1 : there + 1;
  }
  sw_element_store(p->t->dtype, v, (char *)p->t->data + place);
}

/* Number i of those drawn from a band; neighbours differ where it has two. */
static double from_band(const planter *p, const band *b, int64_t i) {
  const uint64_t n = (uint64_t)b->n, half = draw(p, 1, i / 2) % n;
  const uint64_t move = i % 2 && n > 1 ? 1 + draw(p, 2, i) % (n - 1) : 0;
  return at_step(&p->l, b, (int64_t)((half + move) % n));
}

/* One of a column's other elements. */
static double from_rest(const planter *p, const band *b, int64_t i) {
  const uint64_t h = draw(p, 3, i);
  if (!p->l.continuous || p->l.two) return at_step(&p->l, b, (int64_t)(h % (uint64_t)b->n));
  return b->start + p->l.step * (double)(b->n - 1) * (double)(h >> 11) * 0x1p-53;
}

/* --- places ------------------------------------------------------------------------------------------------------- */

/* The first or last row of a block in turn, of another block for each number; dims that are whole: anywhere. */
static void place_in_block(const planter *p, int64_t number, int64_t *at) {
  const int64_t n = p->x->n_blocks, turn = number / n;
  const sw_row_block *r = &p->x->blocks[number % n];
  for (int k = 0; k < p->t->rank; k++) {
    if (!(p->x->dims >> k & 1)) continue;
    const bool whole = r->lo[k] == 0 && r->hi[k] == p->t->dims[k] - 1, last = (number + turn) & 1;
    at[k] = last ? r->hi[k] : r->lo[k];
    if (whole && p->x->n_blocks > 1) at[k] = (int64_t)(draw(p, 5 + (uint64_t)k, number) % (uint64_t)p->t->dims[k]);
  }
  if (p->mask) sw_element_store(SW_BOOL, p->x->mask_is, (char *)p->mask->data + sw_box_offset(p->t, at));
}

/* Which place is the first of a column: on the next device for the next column, or seed (of all arguments, or of one).
 */
static int64_t first_place_of(const planter *p, int64_t column) {
  return column + (int64_t)(p->seed / SW_SEED_STEP % 1009 + p->seed % SW_SEED_STEP);
}

/* Every element of a column, of which at[] says the other dims. */
static void fill_column(const planter *p, const band *b, int64_t column, int64_t *at) {
  int64_t extent[SW_MAX_RANK], index[SW_MAX_RANK] = {0}, here[SW_MAX_RANK], i = column * 1000003;
  for (int k = 0; k < p->t->rank; k++) extent[k] = p->x->dims >> k & 1 ? p->t->dims[k] : 1;
  do {
    for (int k = 0; k < p->t->rank; k++) here[k] = at[k] + index[k];
    put(p, here, from_rest(p, b, i++));
  } while (sw_next_position(p->t->rank, extent, index));
}

/* --- columns ------------------------------------------------------------------------------------------------------ */

/* A unique greatest, and a unique least on another device. Of several places each is an extreme by itself. */
static void plant_order(const planter *p, int64_t column, int64_t *at) {
  const levels *l = &p->l;
  const int64_t number = first_place_of(p, column);
  fill_column(p, &l->rest, column, at);
  for (int i = 0; i < p->x->places && l->high.n; i++) {
    place_in_block(p, number + i, at);
    put(p, at, from_band(p, &l->high, column * p->x->places + i));
  }
  for (int i = 0; i < p->x->places && l->low.n; i++) {
    place_in_block(p, number + p->x->places + i, at);
    put(p, at, from_band(p, &l->low, column * p->x->places + i));
  }
}

/* Of seven columns most are all low, or all high, but for one element; each has it on another device, so they are
 * counted. Two are whole, and one is mixed, so that blocks differ. */
typedef struct column_kind {
  bool high, one, mixed;
  int count;
} column_kind;
enum { KINDS = 7, COUNTED = 4 };

/* Whatever is kept is in most columns, and of the others one is all true, one all false. */
static column_kind column_kind_of(const planter *p, int64_t column) {
  static const column_kind kMixed = {.mixed = true}, kLow = {.high = false}, kHigh = {.high = true};
  static const column_kind kOne[] = {
      {.one = true, .count = 0}, {.one = true, .count = 1}, {.one = true, .count = 2}, {.one = true, .count = 3}};
  static const column_kind kLacks[] = {{.high = true, .one = true, .count = 1},
                                       {.high = true, .one = true, .count = 2}};
  const column_kind any_only[KINDS] = {kOne[0], kLow, kOne[1], kOne[2], kHigh, kMixed, kOne[3]};
  const column_kind of_both[KINDS] = {kOne[0], kLacks[0], kLow, kHigh, kOne[1], kLacks[1], kMixed};
  const bool any = p->x->keeps & SW_KEEPS_GREATEST, all = p->x->keeps & SW_KEEPS_LEAST;
  column_kind k = (any && all ? of_both : any_only)[column % KINDS];
  k.high = k.high != !any;
  return k;
}

static bool is_in(const planter *p, int32_t block, const int64_t *at) {
  const sw_row_block *r = &p->x->blocks[block % p->x->n_blocks];
  for (int k = 0; k < p->t->rank; k++) {
    if ((p->x->dims >> k & 1) && (at[k] < r->lo[k] || at[k] > r->hi[k])) return false;
  }
  return true;
}

/* Either side at random; `by_blocks`: one block all low, the next all high, so that what is true of any and what is
 * true of all both show who lacks a block. */
static void plant_mixed(const planter *p, bool by_blocks, int64_t column, int64_t *at) {
  int64_t extent[SW_MAX_RANK], index[SW_MAX_RANK] = {0}, here[SW_MAX_RANK], i = column * 1000003;
  const int32_t first = (int32_t)(first_place_of(p, column) % p->x->n_blocks);
  for (int k = 0; k < p->t->rank; k++) extent[k] = p->x->dims >> k & 1 ? p->t->dims[k] : 1;
  do {
    for (int k = 0; k < p->t->rank; k++) here[k] = at[k] + index[k];
    bool high = draw(p, 4, i) & 1;
    if (by_blocks) high = is_in(p, first + 1, here) || (high && !is_in(p, first, here));
    put(p, here, from_rest(p, high ? &p->l.high : &p->l.low, i++));
  } while (sw_next_position(p->t->rank, extent, index));
}

static void plant_sides(const planter *p, int64_t column, int64_t *at) {
  const column_kind k = column_kind_of(p, column);
  const bool both = (p->x->keeps & SW_KEEPS_GREATEST) && (p->x->keeps & SW_KEEPS_LEAST);
  const bool by_blocks = both && p->columns < 3;
  if (k.mixed || by_blocks) {
    plant_mixed(p, by_blocks, column, at);
    return;
  }
  fill_column(p, k.high ? &p->l.high : &p->l.low, column, at);
  if (!k.one) return;
  place_in_block(p, first_place_of(p, column / KINDS * COUNTED + k.count), at);
  put(p, at, from_band(p, k.high ? &p->l.low : &p->l.high, column));
}

/* Two factors that are not 1, or terms that are not 0, on two devices; the larger is not what they make together. */
static void plant_pair(const planter *p, int64_t column, int64_t *at) {
  static const double kTerms[][2] = {{2, 1}, {1, 1}, {-2, -1}, {-1, -1}};
  static const double kFactors[][2] = {{2, 3}, {2, 2}, {4, 2}, {2, 2}};
  static const double kPowers[][2] = {{1, 2}, {1, 1}, {2, 2}, {1, 1}}; /* of 2 */
  static const double kFew[][2] = {{2, 2}, {-2, 2}, {2, 2}, {-2, 2}};  /* no number beyond 4 */
  static const double kSigned2[][2] = {{-2, 1}, {-1, 1}, {-2, 1}, {-1, -1}};
  static const double kUnsigned2[][2] = {{2, 3}, {3, 3}, {2, 3}, {3, 1}};
  const sw_dtype t = p->t->dtype;
  const bool sum = p->x->keeps & SW_KEEPS_SUM;
  const double(*pairs)[2] = sum                                                ? kTerms
                            : t == SW_I2                                       ? kSigned2
                            : t == SW_U2                                       ? kUnsigned2
                            : p->l.powers                                      ? kPowers
                            : sw_dtype_bits(t) < 8 && t != SW_I4 && t != SW_U4 ? kFew
                                                                               : kFactors;
  const band one = {sum || p->l.powers ? 0 : 1, 1};
  fill_column(p, &one, column, at);
  for (int i = 0; i < 2; i++) {
    place_in_block(p, first_place_of(p, column) + i, at);
    put(p, at, pairs[column % 4][i]);
  }
}

static bool keeps_extremes(const sw_extremes *x) { return x->keeps & (SW_KEEPS_GREATEST | SW_KEEPS_LEAST); }

static void plant_column(const planter *p, int64_t column, int64_t *at) {
  if (!keeps_extremes(p->x)) {
    plant_pair(p, column, at);
  } else if (p->l.two) {
    plant_sides(p, column, at);
  } else {
    plant_order(p, column, at);
  }
}

/* What is not an extreme may be any of these. */
static void narrow_fill(const planter *p, sw_fill *f) {
  const levels *l = &p->l;
  f->kind = SW_FILL_WITHIN;
  f->whole = !l->continuous && l->step == 1;
  f->low = l->rest.start;
  f->limit = at_step(l, &l->rest, l->rest.n - 1);
}

bool sw_extremes_plant(const sw_extremes *x, sw_fill *f, sw_tensor *t, sw_tensor *all) {
  planter p = {.x = x, .t = t, .seed = f->seed, .columns = 1};
  if (x->other >= 0) p.other = &all[x->other];
  if (x->mask >= 0) p.mask = &all[x->mask];
  int64_t extent[SW_MAX_RANK], column[SW_MAX_RANK] = {0}, number = 0;
  const sw_dtype_class class = sw_dtype_class_of(t->dtype);
  if (!x->keeps || class == SW_CLASS_COMPLEX || class == SW_CLASS_TOKEN || sw_buffer_elements(t) == 0) return true;
  if (!find_levels(x, f, t, &p.l) || (!keeps_extremes(x) && f->kind == SW_FILL_WITHIN)) return true;
  for (int k = 0; k < t->rank; k++) {
    extent[k] = x->dims >> k & 1 ? 1 : t->dims[k];
    p.columns *= extent[k];
  }
  do {
    int64_t at[SW_MAX_RANK];
    for (int k = 0; k < t->rank; k++) at[k] = x->dims >> k & 1 ? 0 : column[k];
    plant_column(&p, number++, at);
  } while (sw_next_position(t->rank, extent, column));
  if (!keeps_extremes(x) || p.l.two || p.l.powers) return false;
  narrow_fill(&p, f);
  return true;
}
