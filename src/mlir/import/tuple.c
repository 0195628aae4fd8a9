/* Tuples (tuple.h). Their number is coded in a slot as -2 - index; nesting is bounded, so that walking them may
 * recurse.
 */
#include "mlir/import/import_passes.h"
#include "mlir/import/tuple.h"

#include <string.h>

enum { MOST_NESTED = 16 };

static const sw_ir_tuple *tuple_at(const sw_importer *m, sw_id v) { return &m->passes->tuples.at[-2 - (int64_t)v]; }

bool sw_ir_is_tuple_type(const sw_ir_tree *t, sw_ir_span type) {
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  return sw_ir_starts(t, type, "tuple<");
}

/* A tuple of values and tuples; they are copied. */
static sw_rc tuple_of(sw_importer *m, uint32_t op, const sw_id *items, uint32_t n, sw_id *out) {
  sw_ir_tuple made = {n, 1, sw_arena_copy(&m->keep, items, n, sizeof *items, m->d)};
  if (!made.items) return SW_E_RESOURCE;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t inner = sw_im_is_tuple(items[i]) ? tuple_at(m, items[i])->depth : 0;
    if (inner >= made.depth) made.depth = inner + 1;
  }
  if (made.depth > MOST_NESTED) return SW_IM_FAIL(m, op, "tuples nest more than %d deep", MOST_NESTED);
  *out = -2 - (sw_id)m->passes->tuples.n;
  return sw_array_push(&m->passes->tuples, made, m->d);
}

/* --- leaves ------------------------------------------------------------------------------------------------------ */

typedef SW_ARRAY(sw_id) ids;

static sw_rc collect_tuple_leaves(sw_importer *m, sw_id v, ids *found) {
  if (!sw_im_is_tuple(v)) return sw_array_push(found, v, m->d);
  const sw_ir_tuple t = *tuple_at(m, v);
  for (uint32_t i = 0; i < t.n; i++) SW_TRY(collect_tuple_leaves(m, t.items[i], found));
  return SW_OK;
}

sw_rc sw_im_leaves_of(sw_importer *m, const sw_id *values, uint32_t n, sw_im_leaves *out) {
  ids found = {0};
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; i < n && !rc; i++) rc = collect_tuple_leaves(m, values[i], &found);
  out->n = (uint32_t)found.n;
  out->at = rc ? NULL : sw_arena_copy(&m->keep, found.at, found.n, sizeof *found.at, m->d);
  sw_array_free(&found);
  return rc ? rc : out->at ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_built_like(sw_importer *m, uint32_t op, sw_id like, const sw_id **next, sw_id *out) {
  if (!sw_im_is_tuple(like)) {
    *out = *(*next)++;
    return SW_OK;
  }
  const sw_ir_tuple t = *tuple_at(m, like);
  sw_id *items;
  SW_ARENA_NEW(items, &m->keep, t.n, m->d);
  for (uint32_t i = 0; i < t.n; i++) SW_TRY(sw_im_built_like(m, op, t.items[i], next, &items[i]));
  return tuple_of(m, op, items, t.n, out);
}

/* --- types ------------------------------------------------------------------------------------------------------- */

typedef SW_ARRAY(sw_ir_span) spans;

static sw_rc collect_types(sw_importer *m, sw_ir_span type, int deep, spans *found) {
  sw_ir_span item;
  uint32_t cursor = 0;
  if (!sw_ir_is_tuple_type(m->t, type)) return sw_array_push(found, type, m->d);
  if (deep == MOST_NESTED) {
    return SW_IM_FAIL_AT(m, type.at, "tuples nest more than %d deep", MOST_NESTED);
  }
  sw_ir_span list = sw_ir_inside(m->t, sw_ir_resolved(m->t, sw_ir_trimmed(m->t, type)));
  while (list.at < list.end && sw_ir_next_item(m->t, list, &cursor, &item))
    SW_TRY(collect_types(m, item, deep + 1, found));
  return SW_OK;
}

sw_rc sw_im_leaf_types(sw_importer *m, const sw_ir_span *types, uint32_t n, sw_ir_span **out, uint32_t *n_out) {
  spans found = {0};
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; i < n && !rc; i++) rc = collect_types(m, types[i], 0, &found);
  *n_out = (uint32_t)found.n;
  *out = rc ? NULL : sw_arena_copy(&m->keep, found.at, found.n, sizeof *found.at, m->d);
  sw_array_free(&found);
  return rc ? rc : *out ? SW_OK : SW_E_RESOURCE;
}

/* Of types that sw_im_leaf_types has been through. */
sw_rc sw_im_built_of_type(sw_importer *m, uint32_t op, sw_ir_span type, const sw_id **next, sw_id *out) {
  sw_ir_span item;
  uint32_t cursor = 0;
  ids items = {0};
  sw_rc rc = SW_OK;
  if (!sw_ir_is_tuple_type(m->t, type)) {
    *out = *(*next)++;
    return SW_OK;
  }
  sw_ir_span list = sw_ir_inside(m->t, sw_ir_resolved(m->t, sw_ir_trimmed(m->t, type)));
  while (!rc && list.at < list.end && sw_ir_next_item(m->t, list, &cursor, &item)) {
    sw_id inner = -1;
    rc = sw_im_built_of_type(m, op, item, next, &inner);
    if (!rc) rc = sw_array_push(&items, inner, m->d);
  }
  if (!rc) rc = tuple_of(m, op, items.at, (uint32_t)items.n, out);
  sw_array_free(&items);
  return rc;
}

/* --- the ops ----------------------------------------------------------------------------------------------------- */

sw_rc sw_im_tuple(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  uint32_t n = sw_im_op(m, op)->n_uses;
  const sw_id *items;
  sw_id made;
  SW_TRY(sw_im_all_operands(m, op, &items));
  SW_TRY(tuple_of(m, op, items, n, &made));
  return sw_im_bind(m, op, 0, made, false);
}

/* stablehlo.get_tuple_element %0[1] : (tuple<...>) -> T */
sw_rc sw_im_get_tuple_element(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  int64_t index = -1;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  if (!sw_im_is_tuple(x)) return SW_IM_FAIL(m, op, "the operand is no tuple");
  sw_ir_span at = sw_ir_attr(m->t, o, "index", NULL);
  if (!sw_ir_present(at)) {
    at = (sw_ir_span){o->body.at, o->body.end};
    while (at.at < at.end && m->t->s[at.at] != '[') at.at++;
    at = sw_ir_inside(m->t, at);
  }
  const sw_ir_tuple *t = tuple_at(m, x);
  if (!sw_ir_present(at) || !sw_ir_read_int(m->t, at, &index) || index < 0 || index >= t->n) {
    return SW_IM_FAIL(m, op, "expected the number of one of the %u elements", t->n);
  }
  return sw_im_bind(m, op, 0, t->items[index], false);
}

static sw_rc bind_tuple(sw_importer *m, uint32_t op, const sw_im_split *split) {
  sw_id tuple;
  for (uint32_t i = 0; i < split->n; i++) {
    if (split->given[i] < 0) return SW_BUG(m->d, "element %u of the tuple of a call is not given", i);
  }
  SW_TRY(tuple_of(m, op, split->given, split->n, &tuple));
  return sw_im_bind(m, op, 0, tuple, false);
}

sw_rc sw_im_with_tuple_split(sw_importer *m, uint32_t op,
                             sw_rc (*run)(sw_importer *m, uint32_t op, sw_ir_span target, bool *done),
                             sw_ir_span target, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span type = sw_ir_result_type(m->t, o, 0), *leaves;
  sw_im_split split = {.op = op};
  if (m->passes->split || sw_ir_result_count(m->t, o) != 1 || !sw_ir_is_tuple_type(m->t, type))
    return run(m, op, target, done);
  SW_TRY(sw_im_leaf_types(m, &type, 1, &leaves, &split.n));
  if (split.n > SW_MAX_RESULTS) return run(m, op, target, done);
  split.types = leaves;
  for (uint32_t i = 0; i < split.n; i++) split.given[i] = -1;
  m->passes->split = &split;
  sw_rc rc = run(m, op, target, done);
  m->passes->split = NULL;
  return rc || !*done ? rc : bind_tuple(m, op, &split);
}

bool sw_im_splits_tuple(const sw_importer *m) { return m->passes->split != NULL; }

uint32_t sw_im_result_count(const sw_importer *m, uint32_t op) {
  const sw_im_split *split = m->passes->split;
  return split && split->op == op ? split->n : sw_ir_result_count(m->t, sw_im_op(m, op));
}
