/* Types (types.h). */
#include "mlir/import/types.h"

#include "mlir/import/dialect.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

static sw_rc read_element_type(const sw_ir_tree *t, sw_ir_span s, sw_dtype *out, sw_diag *d) {
  char text[64];
  s = sw_ir_resolved(t, s);
  size_t n = sw_ir_len(s);
  if (n >= sizeof text) n = sizeof text - 1;
  memcpy(text, t->s + s.at, n);
  text[n] = 0;
  if (sw_dtype_parse(text, out)) return SW_OK;
  if (strcmp(text, "index") == 0) {
    *out = SW_I64;
    return SW_OK;
  }
  bool known;
  SW_TRY(sw_ir_foreign_element(t, s, out, &known, d));
  if (known) return SW_OK;
  return SW_FAIL_INPUT(
      d, sw_ir_place(t, s.at),
      "element type '%s' is not supported; expected a float, integer, boolean or complex type of StableHLO", text);
}

/* 2x?x4xf32: sizes, then the element type; `, #encoding` may follow. */
static sw_rc read_tensor_type(const sw_ir_tree *t, sw_ir_span in, sw_arena *arena, sw_type *out, sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  uint32_t at = in.at;
  while (at < in.end && (isdigit((unsigned char)t->s[at]) || t->s[at] == '?' || t->s[at] == '*')) {
    uint32_t from = at;
    int64_t size = -1;
    if (t->s[at] == '*') return SW_FAIL_INPUT(d, sw_ir_place(t, at), "a tensor without rank is not supported");
    if (t->s[at] == '?') {
      at++;
    } else {
      while (isdigit((unsigned char)t->s[at])) at++;
      if (at - from > 18) return SW_FAIL_INPUT(d, sw_ir_place(t, from), "a size does not fit 63 bits");
      size = strtoll(t->s + from, NULL, 10);
    }
    if (t->s[at] != 'x') return SW_FAIL_INPUT(d, sw_ir_place(t, at), "expected 'x' behind a size");
    at++;
    if (out->rank == SW_MAX_RANK) {
      return SW_FAIL_INPUT(d, sw_ir_place(t, from), "a tensor has more than %d dims", SW_MAX_RANK);
    }
    dims[out->rank++] = size;
  }
  sw_ir_span element, list = {at, in.end};
  uint32_t cursor = 0;
  if (!sw_ir_next_item(t, list, &cursor, &element)) element = (sw_ir_span){at, at};
  SW_TRY(read_element_type(t, element, &out->dtype, d));
  out->dims = sw_arena_copy(arena, dims, (size_t)out->rank, sizeof *dims, d);
  return out->dims ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_ir_read_type(const sw_ir_tree *t, sw_ir_span type, sw_arena *arena, sw_type *out, sw_diag *d) {
  *out = (sw_type){.rank = 0};
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  if (sw_ir_is(t, type, "!stablehlo.token") || sw_ir_is(t, type, "!mhlo.token")) {
    out->dtype = SW_TOKEN;
    return SW_OK;
  }
  bool ranked = sw_ir_starts(t, type, "tensor<") || sw_ir_starts(t, type, "memref<");
  if (ranked) return read_tensor_type(t, sw_ir_inside(t, type), arena, out, d);
  return read_element_type(t, type, &out->dtype, d);
}

sw_rc sw_ir_read_sized_type(const sw_ir_tree *t, sw_ir_span text, sw_arena *arena, sw_type *out, bool *known) {
  sw_diag why = {0};
  *known = false;
  if (!sw_ir_len(text)) return SW_OK;
  const sw_rc rc = sw_ir_read_type(t, sw_ir_type_alone(t, text), arena, out, &why);
  if (rc == SW_E_RESOURCE) return rc;
  *known = !rc && out->dtype != SW_TOKEN;
  for (int k = 0; *known && k < out->rank; k++) *known = out->dims[k] >= 0;
  return SW_OK;
}

/* --- lists ------------------------------------------------------------------------------------------------------- */

/* The arrow outside of brackets; types.end when there is none. */
static uint32_t arrow(const sw_ir_tree *t, sw_ir_span types) {
  int depth = 0;
  for (uint32_t i = types.at; i + 1 < types.end; i++) {
    char c = t->s[i];
    if (c == '-' && t->s[i + 1] == '>') {
      if (!depth) return i;
      i++;
    } else if (c == '(' || c == '[' || c == '{' || c == '<') {
      depth++;
    } else if (c == ')' || c == ']' || c == '}' || c == '>') {
      depth--;
    }
  }
  return types.end;
}

static sw_ir_span without_parenthesis(const sw_ir_tree *t, sw_ir_span s) {
  s = sw_ir_trimmed(t, s);
  return s.at < s.end && t->s[s.at] == '(' ? sw_ir_inside(t, s) : s;
}

/* From its first character on: another parenthesis is no part of a list. */
static sw_ir_types_cursor types_in(sw_ir_span list) { return (sw_ir_types_cursor){.list = list, .cursor = list.at}; }

static sw_ir_types_cursor types_behind_arrow(const sw_ir_tree *t, sw_ir_span types) {
  uint32_t at = arrow(t, types);
  sw_ir_span list = at < types.end ? (sw_ir_span){at + 2, types.end} : types;
  return types_in(without_parenthesis(t, list));
}

bool sw_ir_has_function_type(const sw_ir_tree *t, const sw_ir_op *op) { return arrow(t, op->types) < op->types.end; }

bool sw_ir_lists_operands(const sw_ir_tree *t, const sw_ir_op *op) {
  return sw_ir_ends(t, op->name, "return") || sw_ir_ends(t, op->name, ".while") ||
         sw_ir_ends(t, op->name, ".optimization_barrier");
}

sw_ir_types_cursor sw_ir_result_types(const sw_ir_tree *t, const sw_ir_op *op) {
  const sw_ir_types_cursor all = types_behind_arrow(t, op->types);
  if (sw_ir_has_function_type(t, op) || sw_ir_lists_operands(t, op)) return all;
  const uint32_t n_results = sw_ir_result_count(t, op);
  sw_ir_types_cursor c = all;
  sw_ir_span last = {0, 0};
  uint32_t n = 0;
  while (sw_ir_next_type(t, &c, &last)) n++;
  if (n == n_results) return all;
  return (sw_ir_types_cursor){.list = last, .cursor = last.at, .again = n_results ? n_results - 1 : 0};
}

sw_ir_types_cursor sw_ir_declared_results(const sw_ir_tree *t, const sw_ir_op *f) {
  return types_behind_arrow(t, f->generic ? sw_ir_entry(t, f->props, "function_type") : f->types);
}

sw_ir_types_cursor sw_ir_operand_types(const sw_ir_tree *t, sw_ir_span types) {
  return types_in(without_parenthesis(t, (sw_ir_span){types.at, arrow(t, types)}));
}

bool sw_ir_next_type(const sw_ir_tree *t, sw_ir_types_cursor *c, sw_ir_span *out) {
  if (c->list.at >= c->list.end) return false;
  if (sw_ir_next_item(t, c->list, &c->cursor, out)) return true;
  if (!c->again) return false;
  c->again--;
  c->cursor = c->list.at;
  return sw_ir_next_item(t, c->list, &c->cursor, out);
}

uint32_t sw_ir_operand_of_type(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i) {
  const uint32_t n = op->n_uses / 2;
  const bool pairs = !op->generic && sw_ir_ends(t, op->name, ".reduce") && op->n_uses % 2 == 0;
  if (!pairs) return i;
  return i < n ? 2 * i : 2 * (i - n) + 1;
}

sw_ir_span sw_ir_result_type(const sw_ir_tree *t, const sw_ir_op *op, int index) {
  sw_ir_types_cursor c = sw_ir_result_types(t, op);
  sw_ir_span type;
  for (int i = 0; sw_ir_next_type(t, &c, &type); i++) {
    if (i == index) return type;
  }
  return (sw_ir_span){0, 0};
}

sw_ir_span sw_ir_type_alone(const sw_ir_tree *t, sw_ir_span declared) {
  int depth = 0;
  uint32_t at = declared.at;
  for (; at < declared.end && (depth || t->s[at] != '{'); at++) { /* a type may have braces of its own */
    depth += (t->s[at] == '<') - (t->s[at] == '>' && t->s[at - 1] != '-');
  }
  return sw_ir_trimmed(t, (sw_ir_span){declared.at, at});
}
