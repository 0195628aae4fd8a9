/* From opcode, operand types and given attributes to canonical attributes, result types, loops and maps: the calls of
 * one registry row, in order. */
#include <string.h>

#include "graph/builder.h"

/* --- canonical attributes ---------------------------------------------------------------------------------------- */

static sw_rc fill_list(const sw_rule_call *c, sw_attr *a, int64_t value, int count, sw_arena *arena) {
  int64_t *at;
  SW_ARENA_NEW(at, arena, count > 0 ? count : 0, c->d);
  for (int i = 0; i < count; i++) at[i] = value;
  a->u.ints.at = at;
  a->u.ints.n = count > 0 ? count : 0;
  return SW_OK;
}

/* What stands for the absent attribute of row `r`; *stays when nothing does. */
static sw_rc fill_absent(const sw_rule_call *c, const sw_attr_rule *r, sw_arena *arena, sw_attr *a, bool *stays) {
  const sw_type *x = c->n_operands ? &c->operands[0] : &(sw_type){0};
  *a = (sw_attr){.key = r->key};
  *stays = false;
  switch (r->absent) {
    case SW_ABSENT_WRONG:
      return SW_RULE_FAIL(c, "attribute '%s' is missing; expected it", sw_attr_text(r->key));
    case SW_ABSENT_INT:
      a->u.i = r->fill;
      return SW_OK;
    case SW_ABSENT_LAST:
      a->u.i = x->rank - 1;
      return SW_OK;
    case SW_ABSENT_ELEMENT:
      a->u.i = x->dtype;
      return SW_OK;
    case SW_ABSENT_FLOAT:
      a->u.f = r->fill_float;
      return SW_OK;
    case SW_ABSENT_TEXT:
      a->u.text = r->fill_text;
      return SW_OK;
    case SW_ABSENT_EMPTY:
      return fill_list(c, a, 0, 0, arena);
    case SW_ABSENT_ZEROS:
      return fill_list(c, a, 0, (int)r->fill, arena);
    case SW_ABSENT_RANK:
      return fill_list(c, a, r->fill, x->rank, arena);
    case SW_ABSENT_SPATIAL:
      return fill_list(c, a, r->fill, x->rank - 2, arena);
    case SW_ABSENT_NOTHING:
    case SW_ABSENT_COPY:
      break;
  }
  *stays = true;
  return SW_OK;
}

static sw_rc check_given(const sw_rule_call *c, int n, const sw_attr *given) {
  for (int i = 0; i < n; i++) {
    bool known = false;
    for (int k = 0; k < c->rule->n_attrs; k++) known = known || c->rule->attrs[k].key == given[i].key;
    if (!known) {
      return SW_RULE_FAIL(c, "attribute '%s' is not one that %s has", sw_attr_text(given[i].key),
                          sw_opcode_text(c->code));
    }
    if (sw_attr_find(given, i, given[i].key)) {
      return SW_RULE_FAIL(c, "attribute '%s' is given twice; expected it once", sw_attr_text(given[i].key));
    }
  }
  return SW_OK;
}

static sw_rc copy_attr(const sw_attr *a, sw_arena *arena, sw_attr *out, sw_diag *d) {
  *out = *a;
  sw_attr_kind kind = sw_attr_kind_of(a->key);
  if (kind == SW_ATTR_KIND_TEXT) {
    out->u.text = sw_arena_strndup(arena, a->u.text, strlen(a->u.text), d);
    if (!out->u.text) return SW_E_RESOURCE;
  } else if (kind == SW_ATTR_KIND_INTS) {
    out->u.ints.at = sw_arena_copy(arena, a->u.ints.at, (size_t)a->u.ints.n, sizeof(int64_t), d);
    if (!out->u.ints.at) return SW_E_RESOURCE;
  }
  return SW_OK;
}

static void sort_by_key(sw_attr *at, int n) {
  for (int i = 1; i < n; i++) {
    sw_attr a = at[i];
    int k = i;
    for (; k > 0 && at[k - 1].key > a.key; k--) at[k] = at[k - 1];
    at[k] = a;
  }
}

/* Attributes in order, absent ones filled in; room in the arena. */
static sw_rc canonical_attrs(const sw_rule_call *c, int n, const sw_attr *given, sw_arena *arena, const sw_attr **out,
                             int *n_out) {
  SW_TRY(check_given(c, n, given));
  sw_attr *at;
  SW_ARENA_NEW(at, arena, c->rule->n_attrs, c->d);
  int have = 0;
  for (int i = 0; i < c->rule->n_attrs; i++) {
    const sw_attr_rule *r = &c->rule->attrs[i];
    const sw_attr *a = sw_attr_find(given, n, r->key);
    bool stays = false;
    if (!a && r->absent == SW_ABSENT_COPY) {
      a = sw_attr_find(at, have, (sw_attr_key)r->fill);
      if (a) at[have] = *a;
      if (a) at[have++].key = r->key;
    } else if (a) {
      SW_TRY(copy_attr(a, arena, &at[have++], c->d));
    } else {
      SW_TRY(fill_absent(c, r, arena, &at[have], &stays));
      have += !stays;
    }
  }
  sort_by_key(at, have);
  *out = at;
  *n_out = have;
  return SW_OK;
}

static bool attr_equal(const sw_attr *a, const sw_attr *b) {
  if (a->key != b->key) return false;
  switch (sw_attr_kind_of(a->key)) {
    case SW_ATTR_KIND_INT:
    case SW_ATTR_KIND_BOOL:
    case SW_ATTR_KIND_DTYPE:
    case SW_ATTR_KIND_FLOAT: /* the same bits, NaN included */
      return a->u.i == b->u.i;
    case SW_ATTR_KIND_TEXT:
      return strcmp(a->u.text, b->u.text) == 0;
    case SW_ATTR_KIND_INTS:
      return a->u.ints.n == b->u.ints.n &&
             (a->u.ints.n == 0 || memcmp(a->u.ints.at, b->u.ints.at, sizeof(int64_t) * (size_t)a->u.ints.n) == 0);
    case SW_ATTR_KIND_DATA:
      break;
  }
  return false;
}

bool sw_attr_is_default(const sw_rule_call *c, const sw_attr *a) {
  for (int i = 0; i < c->rule->n_attrs; i++) {
    const sw_attr_rule *r = &c->rule->attrs[i];
    if (r->key != a->key || r->absent == SW_ABSENT_WRONG) continue;
    if (r->absent == SW_ABSENT_COPY) {
      const sw_attr *from = sw_call_attr(c, (sw_attr_key)r->fill);
      sw_attr as = from ? *from : *a;
      as.key = a->key;
      return from && attr_equal(a, &as);
    }
    int64_t room[SW_MAX_RANK];
    bool list = sw_attr_kind_of(a->key) == SW_ATTR_KIND_INTS;
    int rank = c->n_operands ? c->operands[0].rank : 0;
    int n = r->absent == SW_ABSENT_RANK ? rank : r->absent == SW_ABSENT_SPATIAL && rank > 2 ? rank - 2 : 0;
    sw_attr fill;
    bool stays = false;
    if (!list && (fill_absent(c, r, NULL, &fill, &stays) || stays)) return false;
    for (int k = 0; k < n; k++) room[k] = r->fill;
    if (list) fill = (sw_attr){.key = a->key, .u.ints = {room, n}};
    return attr_equal(a, &fill);
  }
  return false;
}

/* --- one op ------------------------------------------------------------------------------------------------------ */

static sw_rc check_operands(const sw_rule_call *c) {
  const sw_op_rule *r = c->rule;
  const bool few = c->n_operands < r->least_operands, many = r->most_operands >= 0 && c->n_operands > r->most_operands;
  if (few || many) {
    return SW_RULE_FAIL(c, "there are %d operands; expected %s%d", c->n_operands,
                        r->most_operands == r->least_operands ? ""
                        : few                                 ? "at least "
                                                              : "at most ",
                        few ? r->least_operands : r->most_operands);
  }
  for (int i = 0; i < c->n_operands && !(r->flags & SW_RULE_DYNAMIC); i++) {
    for (int k = 0; k < c->operands[i].rank; k++) {
      if (c->operands[i].dims[k] >= 0) continue;
      return SW_RULE_FAIL(c, "the size of dim %d of operand %d is not known; expected a known size", k, i);
    }
  }
  return SW_OK;
}

static sw_rc build_nest(sw_rule_call *c, const sw_loop_nest **out) {
  *out = NULL;
  if (c->rule->flags & SW_RULE_DEVICE) return SW_OK;
  bool given = c->code == SW_OP_OPAQUE && c->given_nest && c->given_nest->n_loops;
  if (!c->rule->nest || given) return sw_nest_copy(c->given_nest, c->arena, out, c->d);
  sw_nest_builder b;
  sw_nest_begin(&b, c->arena, c->n_operands, c->operands, c->n_results, c->results, c->rule->flops, c->d);
  if (!b.rc) c->rule->nest(c, &b);
  return sw_nest_finish(&b, out);
}

sw_rc sw_shape_build(sw_rule_call *c, int n_attrs, const sw_attr *attrs, sw_shape *out) {
  SW_TRY(check_operands(c));
  SW_TRY(canonical_attrs(c, n_attrs, attrs, c->arena, &c->attrs, &c->n_attrs));
  c->n_results = 0;
  SW_TRY(c->rule->infer(c));
  *out = (sw_shape){.n_attrs = c->n_attrs, .attrs = c->attrs, .n_results = c->n_results};
  if (c->rule->expand) return SW_OK;
  for (int i = 0; i < c->n_results; i++) {
    bool known = true;
    for (int k = 0; k < c->results[i].rank; k++) known = known && c->results[i].dims[k] >= 0;
    if (known && sw_type_bytes(&c->results[i]) < 0) return SW_RULE_FAIL(c, "result %d does not fit 2^63 bytes", i);
  }
  out->results = sw_arena_copy(c->arena, c->results, (size_t)c->n_results, sizeof *c->results, c->d);
  if (!out->results) return SW_E_RESOURCE;
  return build_nest(c, &out->nest);
}
