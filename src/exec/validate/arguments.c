/* Arguments for a validating run: what an argument is used for decides what it may hold (domains.c), and how it is cut,
 * what must differ (distinct.c).
 *
 * Indices are random over their whole range; masks have both values in every row; what is compared with a number lies
 * on either side of it; logarithms, roots and divisors are well inside their domain; a single integer is positive,
 * since most count steps, and 1 - b^0 divides. What reaches a reduction that keeps an extreme has it on one device
 * (extremes.c). Everything else is distinct and of mixed sign. Random weights are scaled
 * by the number of terms that they are summed in, so that what an input says neither explodes nor vanishes in a deep
 * model.
 */
#include "exec/validate/arguments.h"

#include <math.h>
#include <string.h>

#include "exec/parallel.h"
#include "base/hash.h"

static bool is_integer_dtype(sw_dtype t) {
  sw_dtype_class c = sw_dtype_class_of(t);
  return c == SW_CLASS_SIGNED || c == SW_CLASS_UNSIGNED;
}

/* Within what the dtype holds; a range that is open at an end goes on for `width`. */
static sw_fill fill_within(sw_dtype t, double low, double high, double width) {
  sw_fill f = {.kind = SW_FILL_WITHIN, .low = low, .limit = high};
  if (!isfinite(f.low)) f.low = isfinite(high) ? high - width : -width;
  if (!isfinite(f.limit)) f.limit = f.low + width;
  int bits = sw_dtype_bits(t);
  bool is_signed = sw_dtype_class_of(t) == SW_CLASS_SIGNED;
  if (!is_integer_dtype(t) || bits >= 64) return f;
  f.low = fmax(f.low, is_signed ? -ldexp(1, bits - 1) : 0);
  f.limit = fmin(f.limit, ldexp(1, bits - is_signed) - 1);
  return f;
}

static sw_fill fill_of_integers(const sw_value *v, const sw_value_domain *r) {
  sw_dtype t = v->type.dtype;
  if (r->bounded) return fill_within(t, r->low, r->high, 4);
  if (r->mixed) return fill_within(t, r->least_compared - 2, r->most_compared + 2, 4);
  if (v->type.rank == 0) return fill_within(t, 1, 5, 4);
  return (sw_fill){.kind = SW_FILL_SMALL, .limit = SW_MOST_SMALL};
}

/* Floats of a bounded role are random anyway: their domain's functions leave no whole numbers. */
static sw_fill fill_of_floats(const sw_value *v, const sw_value_domain *r, bool random_floats) {
  sw_fill f = {.kind = random_floats ? SW_FILL_RANDOM : SW_FILL_SMALL, .limit = random_floats ? 1 : SW_MOST_SMALL};
  if (r->bounded && r->index) return fill_within(v->type.dtype, r->low, r->high, 1);
  if (r->bounded) {
    double low = fmax(r->low, -1), high = fmin(r->high, fmax(low, 0) + 1); /* of a wide domain what is near 0 */
    return fill_within(v->type.dtype, low, high, 1);
  }
  bool weight = v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE;
  if (random_floats && weight && v->type.rank >= 2 && r->terms > 1) {
    f.limit = sqrt(6.0 / r->terms); /* variance 2 / terms: a rectifier after it takes half */
  }
  return f;
}

static sw_fill fill_for(const sw_value *v, const sw_value_domain *r, bool random_floats) {
  return is_integer_dtype(v->type.dtype) ? fill_of_integers(v, r) : fill_of_floats(v, r, random_floats);
}

/* Both values in every row, so that no softmax is over nothing, and no mask does nothing. */
static void mix_rows(sw_tensor *t, uint64_t seed) {
  const int64_t row = t->rank ? t->dims[t->rank - 1] : 1;
  unsigned char *at = t->data;
  if (row < 2) return;
  for (int64_t i = 0, n = sw_buffer_elements(t); i < n; i += row) {
    int64_t one = (int64_t)(sw_hash_u64((uint64_t)i, ~seed) % (uint64_t)row);
    at[i + one] = 1;
    at[i + (one + 1) % row] = 0;
  }
}

/* Index vectors of several parts, each up to its own end. */
static void bound_parts(sw_tensor *t, const sw_value_domain *r) {
  int64_t inner = 1, bytes = sw_dtype_bytes(t->dtype);
  for (int k = r->vector_dim + 1; k < t->rank; k++) inner *= t->dims[k];
  for (int64_t i = 0, n = sw_buffer_elements(t); i < n; i++) {
    char *at = (char *)t->data + i * bytes;
    double places = r->part_high[i / inner % r->n_parts] - r->low + 1, v = sw_element_load(t->dtype, at);
    if (places >= 1) sw_element_store(t->dtype, r->low + fmod(v - r->low, places), at);
  }
}

/* By as much as the rest of a row can be. */
static void raise_diagonal(sw_tensor *t) {
  sw_dtype part = t->dtype == SW_C64 ? SW_F32 : t->dtype == SW_C128 ? SW_F64 : t->dtype;
  int64_t n = t->rank >= 2 ? t->dims[t->rank - 1] : 0, bytes = sw_dtype_bytes(t->dtype);
  if (n == 0 || t->dims[t->rank - 2] != n || sw_dtype_class_of(part) != SW_CLASS_FLOAT) return;
  for (int64_t i = 0, all = sw_buffer_elements(t); i < all; i += n * n) {
    for (int64_t k = 0; k < n; k++) {
      char *at = (char *)t->data + (i + k * n + k) * bytes;
      sw_element_store(part, 4 * (double)n + sw_element_load(part, at), at);
    }
  }
}

/* Integers of all that the dtype holds; floats as large as leaves sums of their products exact. */
static void widen_fill(sw_fill *f, sw_dtype t, const sw_value_domain *r) {
  const int bits = sw_dtype_bits(t);
  if (f->kind != SW_FILL_SMALL || t == SW_BOOL) return;
  if (is_integer_dtype(t)) f->limit = ldexp(1, (bits < 62 ? bits : 62) - (sw_dtype_class_of(t) == SW_CLASS_SIGNED)) - 1;
  if (t == SW_F32 || t == SW_F64) f->limit = fmax(f->limit, floor(sqrt(0x1p19 / fmax(r->terms, 1))));
}

static sw_rc fill_one(const sw_argument_maker *m, int32_t i, const sw_value_domain *r, const sw_extremes *x,
                      sw_fill *fill, sw_tensor *out, sw_diag *d) {
  const sw_value *v = &m->graph->values[m->graph->args[i]];
  const sw_type *t = m->types ? m->types[i] : &v->type;
  *fill = fill_for(v, r, m->random_floats);
  if (fill->kind == SW_FILL_RANDOM && m->scale > 0) fill->limit *= m->scale;
  fill->seed = m->seed * SW_SEED_STEP + (uint64_t)i;
  if (x && x->far && m->wide) widen_fill(fill, t->dtype, r);
  SW_TRY(sw_tensor_init(out, t->dtype, t->rank, t->dims, d));
  SW_TRY(sw_tensor_fill(out, fill, d));
  if (t->dtype == SW_BOOL) mix_rows(out, fill->seed);
  if (r->dominant) raise_diagonal(out);
  if (r->vector_dim >= 0 && !m->types) bound_parts(out, r);
  return SW_OK;
}

static sw_rc tell_blocks_apart(const sw_argument_maker *m, int32_t i, const sw_value_domain *r, const sw_extremes *x,
                               sw_fill *fill, sw_tensor *all, sw_diag *d) {
  const bool plants = x && !r->dominant && r->vector_dim < 0;
  const bool drawn = !plants || sw_extremes_plant(x, fill, &all[i], all);
  return m->cuts && drawn ? sw_make_distinct(&all[i], fill, m->cuts(m->cuts_user, m->graph->args[i]), d) : SW_OK;
}

static sw_rc make_all(const sw_argument_maker *m, sw_arena *scratch, sw_tensor *out, bool *far, sw_diag *d) {
  const sw_graph *g = m->graph;
  sw_value_domain *domains;
  sw_extremes *extremes = NULL;
  sw_fill *fills;
  bool *is_mask;
  SW_ARENA_NEW_EACH(scratch, g->n_args, d, domains, fills, is_mask);
  SW_TRY(sw_value_domains_find(g, domains, d));
  if (m->cuts) {
    SW_ARENA_NEW(extremes, scratch, g->n_args, d);
    SW_TRY(sw_extremes_find(g, m->cuts, m->cuts_user, scratch, extremes, d));
  }
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_extremes *x = extremes ? &extremes[i] : NULL;
    if (far) *far = *far || (x && x->far);
    SW_TRY_NOTE(d, fill_one(m, i, &domains[i], x, &fills[i], &out[i], d), "for argument '%s'",
                g->values[g->args[i]].name);
  }
  for (int32_t i = 0; i < g->n_args; i++)
    if (extremes && extremes[i].mask >= 0) is_mask[extremes[i].mask] = true;
  for (int pass = 0; pass < 2; pass++) { /* masks come first: what they are to show is put in behind them */
    for (int32_t i = 0; i < g->n_args; i++) {
      if (is_mask[i] != (pass == 0)) continue;
      SW_TRY_NOTE(d, tell_blocks_apart(m, i, &domains[i], extremes ? &extremes[i] : NULL, &fills[i], out, d),
                  "for argument '%s'", g->values[g->args[i]].name);
    }
  }
  return SW_OK;
}

sw_rc sw_arguments_make(const sw_argument_maker *m, sw_tensor *out, bool *far, sw_diag *d) {
  const sw_graph *g = m->graph;
  sw_arena scratch = {0};
  memset(out, 0, (size_t)g->n_args * sizeof *out);
  if (far) *far = false;
  SW_TRY(sw_single_admit(g, m->types, d));
  sw_rc rc = make_all(m, &scratch, out, far, d);
  sw_arena_deinit(&scratch);
  for (int32_t i = 0; rc && i < g->n_args; i++) sw_tensor_deinit(&out[i]);
  return rc;
}

sw_rc sw_make_arguments(const sw_graph *g, uint64_t seed, bool random_floats, sw_tensor *out, sw_diag *d) {
  return sw_make_arguments_as(g, NULL, seed, random_floats, out, d);
}

sw_rc sw_make_arguments_as(const sw_graph *g, const sw_type *const *types, uint64_t seed, bool random_floats,
                           sw_tensor *out, sw_diag *d) {
  sw_argument_maker m = {.graph = g, .types = types, .seed = seed, .random_floats = random_floats};
  return sw_arguments_make(&m, out, NULL, d);
}
