/* The region becomes a list of steps on slots (cases.h), which run on scalars. Its operands are pairs: what it is given
 * of each, left and right. Every operand that it reads runs through pairs of numbers of its type; values of different
 * operands never meet, so that all pairs of each are all cases.
 */
#include "mlir/stablehlo/cases.h"

#include <math.h>
#include <string.h>

#include "mlir/import/dense.h"
#include "mlir/import/import_emit.h"
#include "mlir/stablehlo/stablehlo.h"
#include "collective/scalar.h"

enum { MOST_SLOTS = 96, MOST_STEPS = 80, MOST_KEYS = 3, MOST_CASES = 1 << 18 };

typedef struct step {
  sw_opcode code;
  int n, in[3], out;
  char direction[3];
  bool total; /* compares floats in their total order */
  sw_scalar constant;
} step;

typedef struct steps {
  int n_operands, n_steps, n_slots, n_given, given[2];
  int arg[SW_MAX_RESULTS][2]; /* slots of an operand's left and right */
  bool reads[SW_MAX_RESULTS]; /* an operand */
  sw_dtype dtype[MOST_SLOTS];
  int origin[MOST_SLOTS]; /* the operand that a value is of; -1: none, or it is a bool */
  bool tests_nan;         /* compares a value with itself */
  step at[MOST_STEPS];
} steps;

/* --- reading ----------------------------------------------------------------------------------------------------- */

static bool is_kind(sw_dtype t, bool floats, bool integers, bool bools) {
  sw_dtype_class c = sw_dtype_class_of(t);
  return (floats && c == SW_CLASS_FLOAT) || (integers && (c == SW_CLASS_SIGNED || c == SW_CLASS_UNSIGNED)) ||
         (bools && c == SW_CLASS_BOOL);
}

/* Both of one operand, or one of them of none. */
static bool origins_meet(const steps *s, int a, int b, int *origin) {
  int x = s->origin[a], y = s->origin[b];
  *origin = x < 0 ? y : x;
  return s->dtype[a] == s->dtype[b] && (x < 0 || y < 0 || x == y);
}

/* false, true, 0.0 or NaN: no other number is among the cases. */
static sw_rc read_constant(sw_importer *m, uint32_t op, steps *s, step *now, bool *fits) {
  sw_type t;
  sw_data data;
  sw_ir_span literal = sw_ir_constant_literal(m->t, sw_im_op(m, op));
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  *fits = t.rank == 0 && is_kind(t.dtype, true, false, true) && !sw_ir_is_elided(m->t, literal);
  if (!*fits) return SW_OK;
  SW_TRY(sw_ir_read_dense(m->t, literal, &t, &m->scratch, &data, m->d));
  now->constant = sw_scalar_load(t.dtype, data.bytes);
  s->dtype[now->out] = t.dtype;
  s->origin[now->out] = -1;
  *fits = t.dtype == SW_BOOL || isnan(now->constant.re) || now->constant.re == 0;
  return SW_OK;
}

static bool read_compare(const sw_importer *m, const sw_ir_op *o, steps *s, step *now) {
  int origin;
  if (now->n != 2 || !is_kind(s->dtype[now->in[0]], true, true, true)) return false;
  sw_im_direction_of(m, o, now->direction);
  now->total = sw_im_is_total_order(m, o) && is_kind(s->dtype[now->in[0]], true, false, false);
  s->tests_nan = s->tests_nan || now->in[0] == now->in[1];
  s->dtype[now->out] = SW_BOOL;
  s->origin[now->out] = -1;
  return origins_meet(s, now->in[0], now->in[1], &origin);
}

/* What chooses or combines: the result is one of the operands, or a bool. */
static bool read_choice(steps *s, const step *now) {
  bool chooses = now->code == SW_OP_SELECT, extreme = now->code == SW_OP_MAXIMUM || now->code == SW_OP_MINIMUM;
  int first = chooses, last = now->n - 1, *origin = &s->origin[now->out];
  if (now->n != (chooses ? 3 : now->code == SW_OP_NOT ? 1 : 2)) return false;
  if (chooses && s->dtype[now->in[0]] != SW_BOOL) return false;
  s->dtype[now->out] = s->dtype[now->in[last]];
  bool fits = origins_meet(s, now->in[first], now->in[last], origin);
  return fits && is_kind(s->dtype[now->out], chooses, chooses || extreme, true);
}

static bool is_choice_code(sw_opcode code) {
  return code == SW_OP_SELECT || code == SW_OP_AND || code == SW_OP_OR || code == SW_OP_XOR || code == SW_OP_NOT ||
         code == SW_OP_MAXIMUM || code == SW_OP_MINIMUM;
}

/* Slot of the region; -1: it is from around. */
static int region_slot_of(const sw_importer *m, uint32_t block, uint32_t name) {
  uint32_t first = m->names->block[block];
  return name < first || name - first >= MOST_SLOTS ? -1 : (int)(name - first);
}

static sw_rc read_step(sw_importer *m, uint32_t block, uint32_t op, steps *s, bool *fits) {
  const sw_ir_op *o = sw_im_op(m, op);
  const sw_ir_row *row = sw_ir_row_of(m->t, o->name);
  step now = {.code = row ? row->code : SW_OP_COUNT, .n = (int)o->n_uses};
  *fits = false;
  if (!row || o->first_region != SW_IR_NONE || o->n_uses > 3 || s->n_steps == MOST_STEPS) return SW_OK;
  for (int i = 0; i < now.n; i++) {
    now.in[i] = region_slot_of(m, block, m->names->use[o->first_use + (uint32_t)i]);
    if (now.in[i] < 0) return SW_OK;
    for (int k = 0; k < s->n_operands; k++) {
      s->reads[k] = s->reads[k] || now.in[i] == s->arg[k][0] || now.in[i] == s->arg[k][1];
    }
  }
  if (row->import == sw_im_return) {
    s->n_given = now.n;
    for (int i = 0; i < now.n && i < 2; i++) s->given[i] = now.in[i];
    *fits = now.n <= 2;
    return SW_OK;
  }
  if (sw_ir_result_count(m->t, o) != 1) return SW_OK;
  now.out = o->n_results ? region_slot_of(m, block, m->names->result[o->first_result]) : -1;
  if (now.out < 0) return SW_OK;
  if (row->import == sw_im_constant) SW_TRY(read_constant(m, op, s, &now, fits));
  if (row->import == sw_im_compare) *fits = read_compare(m, o, s, &now);
  if (row->import == sw_im_simple && is_choice_code(now.code)) *fits = read_choice(s, &now);
  s->at[s->n_steps++] = now;
  return SW_OK;
}

static sw_rc read_paired_arguments(sw_importer *m, uint32_t block, bool paired, steps *s, bool *fits) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  *fits = true;
  for (int k = 0; k < s->n_operands; k++) {
    for (int side = 0; side < 2; side++) {
      sw_type t;
      int i = s->arg[k][side] = paired ? 2 * k + side : side * s->n_operands + k;
      SW_TRY(sw_ir_read_type(m->t, m->t->args.at[b->first_arg + (uint32_t)i].type, &m->scratch, &t, m->d));
      s->dtype[i] = t.dtype;
      s->origin[i] = t.dtype == SW_BOOL ? -1 : k;
      *fits = *fits && t.rank == 0;
    }
  }
  return SW_OK;
}

static sw_rc read_region_steps(sw_importer *m, uint32_t region, uint32_t n_operands, bool paired, int n_given, steps *s,
                               bool *fits) {
  uint32_t block = region == SW_IR_NONE ? SW_IR_NONE : m->t->regions.at[region].first_block;
  *s = (steps){.n_operands = (int)n_operands};
  *fits = block != SW_IR_NONE && n_operands <= SW_MAX_RESULTS && m->t->blocks.at[block].n_args == 2 * n_operands &&
          2 * n_operands < MOST_SLOTS;
  if (*fits) SW_TRY(read_paired_arguments(m, block, paired, s, fits));
  if (!*fits) return SW_OK;
  uint32_t op = m->t->blocks.at[block].first_op;
  for (; op != SW_IR_NONE && *fits; op = sw_im_op(m, op)->next) SW_TRY(read_step(m, block, op, s, fits));
  *fits = *fits && s->n_given == n_given;
  return SW_OK;
}

/* --- running ----------------------------------------------------------------------------------------------------- */

/* -NaN, -inf, ..., -0, 0, ..., inf, NaN as integers in their order. */
static int64_t total_key(double v) {
  int64_t bits;
  memcpy(&bits, &v, sizeof bits);
  return bits >= 0 ? bits : bits ^ INT64_MAX;
}

/* -1, 0 or 1 by the order of the values; 2: none, as one is NaN. */
static int order_of_scalars(sw_dtype t, bool total, sw_scalar a, sw_scalar b) {
  int64_t x = (int64_t)a.bits, y = (int64_t)b.bits;
  if (sw_dtype_class_of(t) == SW_CLASS_FLOAT && !total) {
    if (isnan(a.re) || isnan(b.re)) return 2;
    return a.re < b.re ? -1 : a.re > b.re;
  }
  if (sw_dtype_class_of(t) == SW_CLASS_FLOAT) {
    x = total_key(a.re);
    y = total_key(b.re);
  }
  return x < y ? -1 : x > y; /* no case has a negative integer */
}

static sw_scalar result_of_region_step(const steps *s, const step *now, const sw_scalar *v) {
  sw_scalar a = v[now->in[0]], b = v[now->in[now->n > 1]];
  sw_dtype t = s->dtype[now->in[0]];
  switch ((int)now->code) {
    case SW_OP_CONSTANT:
      return now->constant;
    case SW_OP_COMPARE:
      return (sw_scalar){.bits = sw_im_compares(now->direction, order_of_scalars(t, now->total, a, b))};
    case SW_OP_SELECT:
      return a.bits ? b : v[now->in[2]];
    case SW_OP_AND:
      return (sw_scalar){.bits = a.bits & b.bits};
    case SW_OP_OR:
      return (sw_scalar){.bits = a.bits | b.bits};
    case SW_OP_XOR:
      return (sw_scalar){.bits = a.bits ^ b.bits};
    case SW_OP_NOT:
      return (sw_scalar){.bits = !a.bits};
    case SW_OP_MINIMUM:
      return order_of_scalars(t, false, a, b) <= 0 ? a : b;
    default: /* maximum */
      return order_of_scalars(t, false, a, b) >= 0 ? a : b;
  }
}

static void run_region_steps(const steps *s, sw_scalar *v) {
  for (int i = 0; i < s->n_steps; i++) v[s->at[i].out] = result_of_region_step(s, &s->at[i], v);
}

/* --- cases ------------------------------------------------------------------------------------------------------- */

/* Of each sign two numbers, for their order. */
static const double kFloats[] = {-NAN, -INFINITY, -1, -0.0, 0, 1, INFINITY, NAN};

/* Numbers that operand k runs through, on either side. */
static int count_case_numbers(const steps *s, int k) {
  return is_kind(s->dtype[s->arg[k][0]], true, false, false) ? (int)(sizeof kFloats / sizeof *kFloats) : 2;
}

static sw_scalar case_number_at(const steps *s, int k, int i) {
  bool real = is_kind(s->dtype[s->arg[k][0]], true, false, false);
  return real ? (sw_scalar){.re = kFloats[i]} : (sw_scalar){.bits = (uint64_t)i};
}

/* 0: too many. */
static int64_t cases_of(const steps *s) {
  int64_t n = 1;
  for (int k = 0; k < s->n_operands && n <= MOST_CASES; k++) {
    n *= s->reads[k] ? (int64_t)count_case_numbers(s, k) * count_case_numbers(s, k) : 1;
  }
  return n <= MOST_CASES ? n : 0;
}

/* Arguments in case number `at`; operands that are not read are 0. */
static void set_case(const steps *s, int64_t at, sw_scalar *v) {
  for (int k = 0; k < s->n_operands; k++) {
    int n = s->reads[k] ? count_case_numbers(s, k) : 1;
    for (int side = 0; side < 2; side++) {
      v[s->arg[k][side]] = s->reads[k] ? case_number_at(s, k, (int)(at % n)) : (sw_scalar){0};
      at /= n;
    }
  }
}

/* --- a sort ------------------------------------------------------------------------------------------------------ */

typedef enum nan_rule { NAN_LAST, NAN_UNORDERED, NAN_BY_SIGN } nan_rule;

/* Of one key: as order_of, with NaN by the rule. */
static int key_order(sw_dtype t, nan_rule rule, sw_scalar a, sw_scalar b) {
  int order = order_of_scalars(t, rule == NAN_BY_SIGN, a, b);
  if (order != 2 || rule == NAN_UNORDERED) return order;
  return isnan(a.re) - isnan(b.re);
}

static bool is_before_by_keys(const steps *s, const sw_im_order *o, nan_rule rule, const sw_scalar *v) {
  for (int i = 0; i < o->n_keys; i++) {
    const int *arg = s->arg[o->keys[i]];
    int order = key_order(s->dtype[arg[0]], rule, v[arg[0]], v[arg[1]]);
    if (order == 2) return false;
    if (order) return o->descending ? order > 0 : order < 0;
  }
  return false;
}

static bool sorts_so(const steps *s, const sw_im_order *o, nan_rule rule, const unsigned char *first) {
  sw_scalar v[MOST_SLOTS];
  for (int64_t at = 0, n = cases_of(s); at < n; at++) {
    set_case(s, at, v);
    if (is_before_by_keys(s, o, rule, v) != first[at]) return false;
  }
  return true;
}

/* The next permutation of few numbers in ascending order of them; false: that was the last. */
static bool next_key_permutation(int64_t *v, int n) {
  int i = n - 2, j = n - 1;
  while (i >= 0 && v[i] > v[i + 1]) i--;
  if (i < 0) return false;
  while (v[j] < v[i]) j--;
  int64_t t = v[i];
  v[i] = v[j];
  v[j] = t;
  for (int a = i + 1, b = n - 1; a < b; a++, b--) {
    t = v[a];
    v[a] = v[b];
    v[b] = t;
  }
  return true;
}

static bool find_order(const steps *s, const unsigned char *first, sw_im_order *out) {
  do {
    for (int way = 0; way < 2; way++) {
      for (nan_rule rule = NAN_LAST; rule <= NAN_BY_SIGN; rule++) {
        out->descending = way;
        out->total = rule == NAN_BY_SIGN;
        if (sorts_so(s, out, rule, first)) return true;
      }
    }
  } while (next_key_permutation(out->keys, out->n_keys));
  return false;
}

sw_rc sw_im_order_of(sw_importer *m, uint32_t region, uint32_t n_operands, sw_im_order *out, bool *found) {
  steps s;
  unsigned char *first;
  sw_scalar v[MOST_SLOTS];
  *out = (sw_im_order){.n_keys = 0};
  SW_TRY(read_region_steps(m, region, n_operands, true, 1, &s, found));
  if (!*found || s.dtype[s.given[0]] != SW_BOOL) return *found = false, SW_OK;
  for (int k = 0; k < s.n_operands; k++) {
    if (s.reads[k]) out->keys[out->n_keys++] = k;
  }
  int64_t n = cases_of(&s);
  *found = n > 0 && out->n_keys >= 1 && out->n_keys <= MOST_KEYS;
  if (!*found) return SW_OK;
  SW_ARENA_NEW(first, &m->scratch, n, m->d);
  for (int64_t at = 0; at < n; at++) {
    set_case(&s, at, v);
    run_region_steps(&s, v);
    first[at] = v[s.given[0]].bits != 0;
  }
  *found = find_order(&s, first, out);
  return SW_OK;
}

/* --- a choice of two --------------------------------------------------------------------------------------------- */

/* Of (value, position) and (value, position) with positions in their order: does the region give what it should? */
static bool gives_better(const steps *s, const sw_scalar *v, int sign) {
  sw_scalar a = v[s->arg[0][0]], b = v[s->arg[0][1]], best = v[s->given[0]];
  sw_dtype t = s->dtype[s->arg[0][0]];
  int order = order_of_scalars(t, false, a, b), right;
  if (order == 2)
    right = !isnan(a.re);
  else
    right = order * sign < 0;
  sw_scalar want = right ? b : a;
  bool same = order_of_scalars(t, false, best, want) == 0 || (isnan(best.re) && isnan(want.re));
  return same && v[s->given[1]].bits == v[s->arg[1][right]].bits;
}

static bool keeps_extreme(const steps *s, int sign) {
  sw_scalar v[MOST_SLOTS];
  int n = count_case_numbers(s, 0);
  for (int i = 0; i < n * n; i++) {
    v[s->arg[0][0]] = case_number_at(s, 0, i % n);
    v[s->arg[0][1]] = case_number_at(s, 0, i / n);
    v[s->arg[1][0]] = (sw_scalar){.bits = 0};
    v[s->arg[1][1]] = (sw_scalar){.bits = 1};
    bool has_nan = isnan(v[s->arg[0][0]].re) || isnan(v[s->arg[0][1]].re);
    run_region_steps(s, v);
    if (has_nan && !s->tests_nan) continue; /* what it gives follows from the order of the reduction */
    if (!gives_better(s, v, sign)) return false;
  }
  return true;
}

sw_rc sw_im_keeps_extreme(sw_importer *m, uint32_t region, bool paired, int *out) {
  steps s;
  bool fits;
  *out = 0;
  SW_TRY(read_region_steps(m, region, 2, paired, 2, &s, &fits));
  if (!fits || !is_kind(s.dtype[s.arg[1][0]], false, true, false)) return SW_OK;
  for (int sign = -1; sign <= 1 && !*out; sign += 2) *out = keeps_extreme(&s, sign) ? sign : 0;
  return SW_OK;
}

sw_rc sw_im_selects(sw_importer *m, uint32_t region, const char **out) {
  static const char *const kDirections[] = {"ge", "gt", "le", "lt"};
  steps s;
  bool fits;
  sw_scalar v[MOST_SLOTS];
  *out = NULL;
  SW_TRY(read_region_steps(m, region, 1, true, 1, &s, &fits));
  for (int i = 0; fits && !*out && i < 4; i++) {
    bool same = s.dtype[s.given[0]] == SW_BOOL && s.reads[0];
    for (int64_t at = 0, n = cases_of(&s); same && at < n; at++) {
      set_case(&s, at, v);
      int order = order_of_scalars(s.dtype[s.arg[0][0]], false, v[s.arg[0][0]], v[s.arg[0][1]]);
      run_region_steps(&s, v);
      same = sw_im_compares(kDirections[i], order) == (v[s.given[0]].bits != 0);
    }
    if (same) *out = kDirections[i];
  }
  return SW_OK;
}
