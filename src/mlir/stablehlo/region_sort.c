/* sort with any comparator, written out as a merge sort on whole tensors. Runs of length r = 1, 2, 4, ... are merged:
 * every element finds by binary search how many of the neighbouring run stand before it, which is its new place.
 *
 *   while r < n:                              3 1 | 2 0      r = 1
 *     lo, hi = the neighbouring run           1 3 | 0 2      r = 2
 *     while step < log2(n) + 1:               0 1 2 3
 *       middle = (lo + hi) / 2
 *       if the element there is before mine: lo = middle + 1, else: hi = middle
 *     scatter to (places before mine in my run) + (those in the other)
 *
 * An element of the left run comes before equal ones of the right run: the sort is stable.
 */
#include "mlir/stablehlo/vectorize.h"

typedef struct sorting {
  sw_importer *m;
  uint32_t op;
  sw_im_body body;
  int n, dim; /* operands; the sorted dim */
  int64_t size;
  sw_type shape; /* of all operands; positions are i32 or i64 of it */
  sw_dtype t;
} sorting;

/* --- parts ------------------------------------------------------------------------------------------------------- */

static sw_rc emit_sort_number(const sorting *s, int64_t v, sw_id *out) {
  return sw_im_number(s->m, s->op, s->t, (double)v, s->shape.rank, s->shape.dims, out);
}

static sw_rc scalar(const sorting *s, int64_t v, sw_id *out) {
  return sw_im_number(s->m, s->op, s->t, (double)v, 0, NULL, out);
}

static sw_rc emit_sort_binary(const sorting *s, sw_opcode code, sw_id x, sw_id y, sw_id *out) {
  return sw_im_two(s->m, s->op, code, x, y, out);
}

static sw_rc limit_from_above(const sorting *s, sw_id x, int64_t limit, sw_id *out) {
  sw_id most;
  SW_TRY(emit_sort_number(s, limit, &most));
  return emit_sort_binary(s, SW_OP_MINIMUM, x, most, out);
}

/* Lists of gather and scatter that take or put one element along the dim for each position. */
static void along_dim(const sorting *s, int64_t *others, int64_t *dim, sw_im_attrs *a) {
  int n = 0;
  for (int k = 0; k < s->shape.rank; k++) {
    if (k != s->dim) others[n++] = k;
  }
  *dim = s->dim;
  sw_im_numbers(a, SW_ATTR_OPERAND_BATCH, others, n);
  sw_im_numbers(a, SW_ATTR_INDICES_BATCH, others, n);
  sw_im_numbers(a, SW_ATTR_START_INDEX_MAP, dim, 1);
  sw_im_int(a, SW_ATTR_INDEX_VECTOR_DIM, s->shape.rank);
}

static sw_rc take_at_places(const sorting *s, sw_id x, sw_id at, sw_id *out) {
  int64_t others[SW_MAX_RANK], dim, ones[SW_MAX_RANK];
  sw_im_attrs a = {.n = 0};
  along_dim(s, others, &dim, &a);
  for (int k = 0; k < s->shape.rank; k++) ones[k] = 1;
  sw_im_numbers(&a, SW_ATTR_COLLAPSED_DIMS, &dim, 1);
  sw_im_numbers(&a, SW_ATTR_OFFSET_DIMS, NULL, 0);
  sw_im_numbers(&a, SW_ATTR_SIZES, ones, s->shape.rank);
  return sw_im_help(s->m, s->op, SW_OP_GATHER, 2, (sw_id[]){x, at}, &a, out);
}

/* x with its elements put to other places; all places occur. */
static sw_rc put_at_places(const sorting *s, sw_id x, sw_id at, sw_id *out) {
  int64_t others[SW_MAX_RANK], dim;
  sw_im_attrs a = {.n = 0};
  along_dim(s, others, &dim, &a);
  sw_im_numbers(&a, SW_ATTR_INSERTED_DIMS, &dim, 1);
  sw_im_numbers(&a, SW_ATTR_UPDATE_WINDOW_DIMS, NULL, 0);
  sw_im_text(&a, SW_ATTR_KIND, "replace");
  return sw_im_help(s->m, s->op, SW_OP_SCATTER, 3, (sw_id[]){x, at, x}, &a, out);
}

/* Does a stand before b by the comparator? */
static sw_rc apply_comparator(const sorting *s, const sw_id *a, const sw_id *b, sw_id *out) {
  sw_id args[2 * SW_MAX_RESULTS], *to = args;
  for (int i = 0; i < s->n; i++) {
    *to++ = a[i];
    *to++ = b[i];
  }
  return sw_im_apply(s->m, &s->body, args, &s->shape, out);
}

/* --- one search -------------------------------------------------------------------------------------------------- */

/* What a merge of runs of length r knows of each position, all of the operands' shape. */
typedef struct places {
  sw_id start;           /* of its own run */
  sw_id is_left;         /* is that the left one of two? */
  sw_id lo, hi;          /* the other run */
  sw_id first, position; /* the start of both, and the position itself */
} places;

static sw_rc find_places(const sorting *s, sw_id run, places *p) {
  sw_id length, pair, last, middle, end;
  SW_TRY(sw_im_positions(s->m, s->op, s->t, s->shape.rank, s->shape.dims, s->dim, &p->position));
  SW_TRY(sw_im_spread(s->m, s->op, run, s->shape.rank, s->shape.dims, -1, &length));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, length, length, &pair));
  SW_TRY(emit_sort_binary(s, SW_OP_DIVIDE, p->position, pair, &p->first));
  SW_TRY(emit_sort_binary(s, SW_OP_MULTIPLY, p->first, pair, &p->first));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, p->first, length, &middle));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, p->first, pair, &last));
  SW_TRY(limit_from_above(s, middle, s->size, &middle));
  SW_TRY(limit_from_above(s, last, s->size, &end));
  SW_TRY(sw_im_compared(s->m, s->op, "lt", p->position, middle, &p->is_left));
  SW_TRY(sw_im_choose(s->m, s->op, p->is_left, p->first, middle, &p->start));
  SW_TRY(sw_im_choose(s->m, s->op, p->is_left, middle, p->first, &p->lo));
  return sw_im_choose(s->m, s->op, p->is_left, end, middle, &p->hi);
}

/* One step: the middle of [lo, hi) is compared with every element. */
static sw_rc halve_search_range(const sorting *s, const sw_id *x, sw_id is_left, sw_id *lo, sw_id *hi) {
  sw_id two_of, at, other[SW_MAX_RESULTS], theirs, mine, open, goes, above, number_one;
  SW_TRY(emit_sort_number(s, 2, &two_of));
  SW_TRY(emit_sort_number(s, 1, &number_one));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, *lo, *hi, &at));
  SW_TRY(emit_sort_binary(s, SW_OP_DIVIDE, at, two_of, &at));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, at, number_one, &above));
  SW_TRY(sw_im_compared(s->m, s->op, "lt", *lo, *hi, &open));
  SW_TRY(limit_from_above(s, at, s->size - 1, &at));
  for (int i = 0; i < s->n; i++) SW_TRY(take_at_places(s, x[i], at, &other[i]));
  SW_TRY(apply_comparator(s, other, x, &theirs)); /* of the right run: only what is truly less */
  SW_TRY(apply_comparator(s, x, other, &mine));   /* of the left run: all that is not greater */
  SW_TRY(sw_im_one(s->m, s->op, SW_OP_NOT, mine, &mine));
  SW_TRY(sw_im_choose(s->m, s->op, is_left, theirs, mine, &goes));
  SW_TRY(emit_sort_binary(s, SW_OP_AND, goes, open, &goes));
  SW_TRY(sw_im_choose(s->m, s->op, goes, above, *lo, lo));
  SW_TRY(sw_im_one(s->m, s->op, SW_OP_NOT, goes, &goes));
  SW_TRY(emit_sort_binary(s, SW_OP_AND, goes, open, &goes));
  return sw_im_choose(s->m, s->op, goes, at, *hi, hi);
}

static int64_t levels_of(int64_t size) {
  int64_t levels = 0;
  while (size > INT64_C(1) << levels) levels++;
  return levels;
}

/* The loop of steps; *found is where each element stands in the other run. */
static sw_rc search_other_run(const sorting *s, const sw_id *x, const places *p, sw_id *found) {
  int64_t turns = levels_of(s->size) + 1;
  sw_im_repeat l = {.m = s->m};
  sw_id zero, next, range[2], in[3 + SW_MAX_RESULTS] = {p->lo, p->hi, p->is_left};
  for (int i = 0; i < s->n; i++) in[3 + i] = x[i];
  SW_TRY(scalar(s, 0, &zero));
  SW_TRY(sw_im_open_body_repeat(&s->body, &l, turns, zero, turns, in, 3 + s->n));
  SW_TRY(scalar(s, 1, &next));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, l.counter, next, &next));
  range[0] = in[0];
  range[1] = in[1];
  SW_TRY(halve_search_range(s, in + 3, in[2], &range[0], &range[1]));
  SW_TRY(sw_im_close_repeat(&l, next, in, range, 2));
  *found = range[0];
  return SW_OK;
}

/* Runs of length `run` merged two by two. */
static sw_rc merge_sorted_runs(const sorting *s, sw_id run, sw_id *x) {
  places p;
  sw_id found, place;
  SW_TRY(find_places(s, run, &p));
  SW_TRY(search_other_run(s, x, &p, &found));
  SW_TRY(emit_sort_binary(s, SW_OP_SUBTRACT, found, p.lo, &found));
  SW_TRY(emit_sort_binary(s, SW_OP_SUBTRACT, p.position, p.start, &place));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, place, found, &place));
  SW_TRY(emit_sort_binary(s, SW_OP_ADD, place, p.first, &place));
  for (int i = 0; i < s->n; i++) SW_TRY(put_at_places(s, x[i], place, &x[i]));
  return SW_OK;
}

static sw_rc sort_all(const sorting *s, sw_id *x) {
  sw_im_repeat l = {.m = s->m};
  sw_id entered[SW_MAX_RESULTS], next, first;
  SW_TRY(scalar(s, 1, &first));
  SW_TRY(sw_im_open_body_repeat(&s->body, &l, levels_of(s->size), first, s->size, x, s->n));
  for (int i = 0; i < s->n; i++) entered[i] = x[i];
  SW_TRY(merge_sorted_runs(s, l.counter, x));
  SW_TRY(scalar(s, 2, &next)); /* (XLA's search for trip counts fails an assertion on run + run) */
  SW_TRY(emit_sort_binary(s, SW_OP_MULTIPLY, l.counter, next, &next));
  return sw_im_close_repeat(&l, next, entered, x, s->n);
}

sw_rc sw_im_sort_by_region(sw_importer *m, uint32_t op, int64_t dim, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  sorting s = {.m = m, .op = op, .n = (int)o->n_uses, .dim = (int)dim};
  sw_id x[SW_MAX_RESULTS];
  SW_TRY(sw_im_open_body(m, op, o->first_region, 2 * o->n_uses, 1, &s.body, done));
  if (!*done) return SW_OK;
  for (int i = 0; i < s.n; i++) x[i] = sw_im_operand(m, op, (uint32_t)i);
  s.shape = *sw_im_type(m, x[0]);
  for (int i = 1; i < s.n; i++) {
    sw_type t = *sw_im_type(m, x[i]);
    t.dtype = s.shape.dtype;
    if (!sw_type_equal(&t, &s.shape)) return SW_IM_FAIL(m, op, "operand %d has another shape than operand 0", i);
  }
  if (dim < 0 || dim >= s.shape.rank) return SW_IM_FAIL(m, op, "there is no dim %lld to sort", (long long)dim);
  s.size = s.shape.dims[dim];
  s.t = s.size < INT32_MAX / 4 ? SW_I32 : SW_I64;
  if (sw_type_elements(&s.shape) > 0 && s.size > 1) SW_TRY(sort_all(&s, x));
  return sw_im_results_are(m, op, x, (uint32_t)s.n);
}
