/* What rounding may do to the values of a program. Example: x - y of two sums of 10^3 terms near 1 leaves 1e-6 with an
 * error of 1e-7; the perturbed runs show that noise, where a bound of the result's own last place would refuse it. */
#include "exec/validate/roundings.h"

#include <math.h>
#include <string.h>

#include "exec/kernels/native.h"
#include "exec/validate/perturb.h"

/* Two runs that round differently are allowed to be this many times as far apart as the perturbed runs were from the
 * sharp one: sums of partial sums round at other places than perturbed terms do. */
#define NOISE_MARGIN 16.0
/* Blocks as a whole, of this many elements at least, this many times. */
#define NORM_MARGIN 4.0
enum { LEAST_OF_NORM = 16 };

sw_rc sw_roundings_init_outputs(sw_roundings *r, const sw_single *sharp, sw_arena *arena, sw_diag *d) {
  *r = (sw_roundings){.sharp = sharp};
  SW_ARENA_NEW(r->moved, arena, sharp->graph->n_outputs, d);
  return SW_OK;
}

sw_rc sw_roundings_init(sw_roundings *r, const sw_single *sharp, sw_arena *arena, sw_diag *d) {
  int32_t n = sharp->graph->n_values;
  SW_TRY(sw_roundings_init_outputs(r, sharp, arena, d));
  SW_ARENA_NEW_EACH(arena, n, d, r->magnitude, r->noise, r->norm, r->spread, r->turned, r->partials, r->trip);
  for (int32_t i = 0; i < n; i++) {
    const sw_id def = sharp->graph->values[i].def;
    const bool in_loop = def >= 0 && sw_op_is_repeated(sharp->graph, &sharp->graph->ops[def]);
    const int32_t trips = in_loop ? (int32_t)sharp->trips[i].at.n : 1;
    for (int32_t k = 0; k < trips; k++) {
      const sw_buffer *b = sw_single_trip(sharp, i, k);
      if (!b) continue;
      r->magnitude[i] = fmax(r->magnitude[i], sw_magnitude(b));
      r->norm[i] = fmax(r->norm[i], sw_norm(b, NULL));
    }
  }
  return SW_OK;
}

void sw_roundings_deinit(sw_roundings *r) {
  for (int32_t i = 0; r->turned && i < r->sharp->graph->n_values; i++) sw_tensor_deinit(&r->turned[i]);
  for (int32_t i = 0; r->moved && i < r->sharp->graph->n_outputs; i++) sw_mem_free(r->moved[i]);
  for (int32_t i = 0; r->partials && i < r->sharp->graph->n_values; i++) sw_mem_free(r->partials[i]);
}

/* The formula knows of the coarsest op on the way; where reruns show what roundings do, of the value's own dtype. */
static sw_dtype coarsest_dtype(const sw_roundings *r, const sw_single *sharp, sw_id value, sw_dtype own) {
  sw_dtype coarsest = sharp->coarsest[value];
  bool is_float = sw_dtype_class_of(own) == SW_CLASS_FLOAT || sw_dtype_class_of(own) == SW_CLASS_COMPLEX;
  sw_dtype part = own == SW_C64 ? SW_F32 : own == SW_C128 ? SW_F64 : own;
  return is_float && !r->noise && sw_unit_roundoff(coarsest) > sw_unit_roundoff(part) ? coarsest : own;
}

/* Errors of one op pass through all later ones: the tolerance of a single reduction times the root of the depth, or
 * what the reruns have shown of what is left where terms cancel. */
sw_tolerance sw_roundings_tolerance(const sw_roundings *r, const sw_single *sharp, sw_id value,
                                    const sw_buffer *whole) {
  if (sw_single_is_exact(sharp, value)) return (sw_tolerance){0, 0};
  double magnitude = r->magnitude ? r->magnitude[value] : sw_magnitude(whole), noise = r->noise ? r->noise[value] : 0;
  double depth = sqrt((double)sharp->graph->n_ops);
  sw_dtype t = coarsest_dtype(r, sharp, value, whole->dtype);
  double relative = sw_tolerance_for(t, sharp->terms, 1).relative * depth;
  return (sw_tolerance){relative, relative * magnitude + NOISE_MARGIN * noise};
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

/* Sums of squares over a block: of what it should be, how far it is off, and how far roundings moved it. */
typedef struct norms {
  int64_t n;
  double want, off, moved;
} norms;

/* moved NULL: not known. */
static void add_norms(const sw_block_pair *c, const double *moved, norms *out) {
  const sw_buffer *whole = c->whole, *block = c->block;
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], at[SW_MAX_RANK], here[SW_MAX_RANK], first[SW_MAX_RANK];
  int64_t index[SW_MAX_RANK] = {0}, bytes = sw_dtype_bytes(whole->dtype);
  sw_block_extent(c->mesh, c->sharding, whole, c->device, lo, n, first);
  if (sw_has_no_position(whole->rank, n)) return;
  do {
    for (int k = 0; k < whole->rank; k++) {
      at[k] = lo[k] + index[k];
      here[k] = first[k] + index[k];
    }
    int64_t element = sw_box_offset(whole, at);
    double want = sw_element_load(whole->dtype, (const char *)whole->data + element * bytes);
    double got = sw_element_load(block->dtype, (const char *)block->data + sw_box_offset(block, here) * bytes);
    double by = moved ? moved[element] : 0;
    if (!isfinite(want) || !isfinite(got) || !isfinite(by)) continue; /* judged one by one */
    out->n++;
    out->want += want * want;
    out->off += (got - want) * (got - want);
    out->moved += by * by;
  } while (sw_next_position(whole->rank, n, index));
}

/* Sums of squares of many elements hardly vary: where roundings move some of them far, a wrong block that keeps within
 * that is still further off as a whole. */
static void judge_norm(const sw_roundings *r, const sw_single *sharp, int32_t i, const sw_block_pair *c, int64_t device,
                       sw_validate_entry *e) {
  const sw_buffer *whole = c->whole;
  norms s = {0};
  if (e->exact || !r->moved || !r->moved[i]) return;
  add_norms(c, r->moved[i], &s);
  double least = sw_tolerance_for(whole->dtype, sharp->terms, 1).relative * sqrt(s.want);
  double allowed = NORM_MARGIN * sqrt(s.moved) + least, off = sqrt(s.off);
  if (s.n < LEAST_OF_NORM || off * e->norm_allowed < e->norm_off * allowed) return;
  e->norm_off = off;
  e->norm_allowed = allowed;
  e->norm_device = device;
}

void sw_roundings_judge_block(const sw_roundings *r, sw_id value, const sw_block_pair *c, sw_validate_entry *e) {
  const sw_dtype t = c->whole->dtype;
  norms s = {0};
  if (e->exact || sw_dtype_class_of(t) != SW_CLASS_FLOAT) return;
  add_norms(c, NULL, &s);
  if (s.n < LEAST_OF_NORM) return;
  e->norm_off = sqrt(s.off);
  e->norm_allowed = NORM_MARGIN * r->spread[value] + sw_tolerance_for(t, r->sharp->terms, 1).relative * r->norm[value];
  e->norm_device = e->device;
}

sw_rc sw_roundings_judge(const sw_roundings *r, const sw_single *sharp, int32_t i, const sw_cut *c,
                         const sw_tensor *blocks, sw_validate_entry *e, sw_validation *out, sw_diag *d) {
  const sw_graph *g = sharp->graph;
  *e = (sw_validate_entry){.name = g->output_names[i],
                           .dtype = c->whole->dtype,
                           .rank = c->whole->rank,
                           .exact = sw_single_is_exact(sharp, g->outputs[i]),
                           .not_finite = sw_count_not_finite(c->whole),
                           .tolerance = sw_roundings_tolerance(r, sharp, g->outputs[i], c->whole)};
  for (int64_t device = c->first; device < c->end; device++) {
    sw_difference diff;
    sw_block_pair pair = {.mesh = c->mesh,
                          .sharding = c->sharding,
                          .whole = c->whole,
                          .block = &blocks[device * c->stride],
                          .turned = sw_roundings_turned(r, g->outputs[i]),
                          .device = sw_cut_position(c, device)};
    SW_TRY(sw_block_compare(&pair, e->tolerance, &diff, d));
    judge_norm(r, sharp, i, &pair, device, e);
    out->elements += diff.compared;
    sw_difference_raise(&diff, &e->worst);
    if (device == c->first || diff.differing > e->worst.differing) {
      e->worst = diff;
      e->device = device;
    }
    sw_difference_raise(&e->worst, &diff);
  }
  out->matches = out->matches && e->worst.differing == 0 && e->norm_off <= e->norm_allowed;
  return SW_OK;
}

/* --- partial sums ------------------------------------------------------------------------------------------------ */

/* The block's absolute elements into the whole's largest; what is not finite is padding, or beyond any rounding. */
static void raise_to_elements(double *largest, const sw_buffer *whole, sw_box own, const int64_t *lo,
                              const int64_t *n) {
  const sw_buffer *block = own.b;
  int64_t index[SW_MAX_RANK] = {0}, bytes = sw_dtype_bytes(block->dtype);
  if (sw_has_no_position(whole->rank, n)) return;
  do {
    int64_t to[SW_MAX_RANK], from[SW_MAX_RANK];
    for (int k = 0; k < whole->rank; k++) {
      to[k] = lo[k] + index[k];
      from[k] = own.lo[k] + index[k];
    }
    double v = fabs(sw_element_load(block->dtype, (const char *)block->data + sw_box_offset(block, from) * bytes));
    double *at = &largest[sw_box_offset(whole, to)];
    if (isfinite(v) && v > *at) *at = v;
  } while (sw_next_position(whole->rank, n, index));
}

/* The least or largest of parts is one of them, unrounded. */
static bool is_partial_sum(const sw_layout *l) {
  sw_reduction kind = (sw_reduction)l->sharding.partial_kind;
  return l->is_block && l->sharding.n_partial && kind != SW_REDUCE_MIN && kind != SW_REDUCE_MAX;
}

sw_rc sw_roundings_record_partials(sw_roundings *r, const sw_sharded *s, int64_t device, const sw_op *op,
                                   const sw_buffer *const *results, sw_diag *d) {
  for (int i = 0; i < op->n_results; i++) {
    const sw_layout *l = &s->layout[op->results[i]];
    const sw_buffer *whole = l->source >= 0 && is_partial_sum(l) ? sw_single_value(r->sharp, l->source) : NULL;
    if (!whole || sw_dtype_class_of(whole->dtype) != SW_CLASS_FLOAT) continue;
    double **largest = &r->partials[l->source];
    if (!*largest) *largest = sw_mem_alloc((size_t)sw_buffer_elements(whole) + 1, sizeof **largest, d);
    if (!*largest) return SW_E_RESOURCE;
    int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], at[SW_MAX_RANK];
    sw_cut cut = sw_sharded_cut(s, &l->sharding, whole, 1);
    sw_block_extent(cut.mesh, cut.sharding, whole, sw_cut_position(&cut, device), lo, n, at);
    raise_to_elements(*largest, whole, (sw_box){results[i], at}, lo, n);
  }
  return SW_OK;
}

/* --- perturbed runs ---------------------------------------------------------------------------------------------- */

/* Which integers and bools of a perturbed run are others than in the sharp one: chosen among floats, those that were
 * seen to turn; behind such choices all of a value, as another choice leads elsewhere. */
static sw_rc note_turned(sw_roundings *r, sw_id id, const sw_buffer *sharp, const sw_buffer *b, sw_diag *d) {
  sw_dtype_class class = sw_dtype_class_of(b->dtype);
  size_t bytes = (size_t)sw_dtype_bytes(b->dtype);
  sw_tensor *turned = &r->turned[id];
  if (class == SW_CLASS_FLOAT || class == SW_CLASS_COMPLEX) return SW_OK;
  for (int64_t i = 0; i < sw_buffer_elements(b); i++) {
    size_t at = (size_t)i * bytes;
    if (memcmp((const char *)b->data + at, (const char *)sharp->data + at, bytes) == 0) continue;
    if (!turned->data) SW_TRY(sw_tensor_init(turned, SW_BOOL, b->rank, b->dims, d));
    if (!sw_single_may_turn(r->sharp, id)) memset(turned->data, 1, (size_t)sw_buffer_elements(b));
    ((unsigned char *)turned->data)[i] = 1;
  }
  return SW_OK;
}

/* How far a value of a perturbed run is from the sharp one. */
static sw_rc observe_perturbed(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                               sw_diag *d) {
  (void)device;
  sw_roundings *r = user;
  for (int i = 0; i < op->n_results; i++) {
    sw_id id = op->results[i];
    const sw_buffer *sharp = sw_single_trip(r->sharp, id, r->trip[id]++);
    if (!sharp) continue; /* a trip that only this run makes, or one that is not kept */
    SW_TRY(note_turned(r, id, sharp, results[i], d));
    r->noise[id] = fmax(r->noise[id], sw_farthest(results[i], sharp));
    r->spread[id] = fmax(r->spread[id], sw_norm(results[i], sharp));
  }
  return SW_OK;
}

/* The same of an output's elements. */
static sw_rc note_moved(sw_roundings *r, int32_t i, const sw_buffer *b, sw_diag *d) {
  const sw_buffer *sharp = &r->sharp->want[i];
  const int64_t n = sw_buffer_elements(b), bytes = sw_dtype_bytes(b->dtype);
  if (sw_dtype_class_of(b->dtype) != SW_CLASS_FLOAT) return SW_OK;
  if (!r->moved[i]) r->moved[i] = sw_mem_alloc((size_t)n + 1, sizeof **r->moved, d);
  if (!r->moved[i]) return SW_E_RESOURCE;
  for (int64_t k = 0; k < n; k++) {
    double x = sw_element_load(b->dtype, (const char *)b->data + k * bytes);
    double y = sw_element_load(b->dtype, (const char *)sharp->data + k * bytes);
    r->moved[i][k] = fmax(r->moved[i][k], fabs(x - y));
  }
  return SW_OK;
}

static sw_rc run_perturbed(sw_roundings *r, uint64_t seed, sw_cancel *cancel, sw_arena *scratch, sw_diag *d) {
  const sw_graph *g = r->sharp->graph;
  sw_exec_options o = {.perturb = seed,
                       .perturb_least = (const double *const *)r->partials,
                       .observe = r->noise ? observe_perturbed : NULL,
                       .observe_user = r,
                       .cancel = cancel};
  sw_tensor *outputs;
  const sw_buffer **args;
  SW_ARENA_NEW(args, scratch, g->n_args, d);
  SW_ARENA_NEW(outputs, scratch, g->n_outputs, d);
  for (int32_t i = 0; i < g->n_args; i++) args[i] = &r->sharp->args[i];
  if (r->trip) memset(r->trip, 0, (size_t)g->n_values * sizeof *r->trip);
  sw_rc rc = sw_exec_run(g, args, &o, outputs, d);
  for (int32_t i = 0; !rc && i < g->n_outputs; i++) rc = note_moved(r, i, &outputs[i], d);
  for (int32_t i = 0; i < g->n_outputs; i++) sw_tensor_deinit(&outputs[i]);
  return rc;
}

sw_rc sw_roundings_perturb(sw_roundings *r, int runs, sw_cancel *cancel, sw_arena *scratch, sw_diag *d) {
  for (int seed = 1; seed <= runs; seed++) SW_TRY(run_perturbed(r, (uint64_t)seed, cancel, scratch, d));
  return SW_OK;
}
