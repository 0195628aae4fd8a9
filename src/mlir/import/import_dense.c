/* Literals (dense.h): one that stands for all, nested lists, or bytes in hexadecimal. */
#include "mlir/import/dense.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "collective/minifloat.h"

sw_ir_span sw_ir_constant_literal(const sw_ir_tree *t, const sw_ir_op *op) {
  sw_ir_span v = sw_ir_attr(t, op, "value", NULL);
  if (sw_ir_present(v) || op->generic) return v;
  v = sw_ir_trimmed(t, op->body);
  const bool inside = op->attrs.end > v.at && op->attrs.end <= v.end, first = op->attrs.at == v.at;
  if (inside && first) v.at = sw_ir_blanks(t->s, op->attrs.end);
  if (inside && !first) v.end = op->attrs.at;
  return sw_ir_resolved(t, sw_ir_trimmed(t, v));
}

/* --- resources --------------------------------------------------------------------------------------------------- */

/* The text at `name: "0x..."` of {-# dialect_resources: {builtin: {...}} #-}. */
static sw_ir_span find_resource(const sw_ir_tree *t, sw_ir_span name) {
  for (size_t i = 0; i < t->resources.n; i++) {
    sw_ir_span in = t->resources.at[i];
    for (uint32_t at = in.at + 3; at < in.end;) {
      sw_ir_flaw ignored;
      uint32_t from = at = sw_ir_blanks(t->s, at);
      if (at >= in.end || sw_ir_token(t->s, t->n, &at, &ignored)) break;
      bool is_it = sw_ir_len(name) == at - from && memcmp(t->s + from, t->s + name.at, at - from) == 0;
      uint32_t behind = sw_ir_blanks(t->s, at);
      if (is_it && t->s[behind] == ':') {
        from = at = sw_ir_blanks(t->s, behind + 1);
        if (t->s[at] == '"' && !sw_ir_string(t->s, t->n, &at, &ignored)) return (sw_ir_span){from + 1, at - 1};
      }
    }
  }
  return (sw_ir_span){0, 0};
}

bool sw_ir_is_elided(const sw_ir_tree *t, sw_ir_span literal) {
  return sw_ir_starts(t, literal, "dense_resource<") && !sw_ir_present(find_resource(t, sw_ir_inside(t, literal)));
}

/* --- elements ---------------------------------------------------------------------------------------------------- */

typedef struct element_reader {
  const sw_ir_tree *t;
  const sw_type *type;
  uint32_t i, end;
  int depth;                   /* brackets that are open */
  int64_t before[SW_MAX_RANK]; /* elements before each of them */
  sw_diag *d;
} element_reader;

static sw_rc wrong_element(const element_reader *r, const char *what) {
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->i), "expected %s as an element of %s", what,
                       sw_dtype_mlir(r->type->dtype));
}

static sw_rc read_real(element_reader *r, sw_dtype dtype, void *out) {
  const char *s = r->t->s + r->i;
  char *end;
  if (s[0] == '0' && s[1] == 'x') { /* the bits */
    uint64_t bits = strtoull(s, &end, 16);
    memcpy(out, &bits, (size_t)sw_dtype_bytes(dtype)); /* little-endian, as buffers are */
  } else {
    const bool named = strchr("iIn", s[*s == '-']) != NULL;
    double v = strtod(s, &end);
    if (end == s) return wrong_element(r, "a number");
    if ((isinf(v) && !named) || sw_float_overflows(dtype, v)) return wrong_element(r, "a number in range");
    sw_element_store(dtype, v, out);
  }
  r->i += (uint32_t)(end - s);
  return SW_OK;
}

/* Of a type with a sign also what all its bits can say without one: 255 : i8 is -1. */
static bool integer_in_range(sw_dtype t, bool negative, uint64_t v) {
  int bits = sw_dtype_bits(t);
  if (!negative) return bits == 64 || v >> bits == 0;
  return v == 0 || (sw_dtype_class_of(t) == SW_CLASS_SIGNED && v <= UINT64_C(1) << (bits - 1));
}

static sw_rc read_dense_integer(element_reader *r, void *out) {
  const char *s = r->t->s + r->i;
  char *end;
  bool negative = s[0] == '-';
  uint64_t v = strtoull(s + negative, &end, s[negative] == '0' && s[negative + 1] == 'x' ? 16 : 10);
  if (end == s + negative) return wrong_element(r, "a whole number");
  if (!integer_in_range(r->type->dtype, negative, v)) return wrong_element(r, "a number in range");
  if (negative) v = 0 - v;
  v = sw_dtype_wrap(r->type->dtype, v);
  memcpy(out, &v, (size_t)sw_dtype_bytes(r->type->dtype));
  r->i += (uint32_t)(end - s);
  return SW_OK;
}

static sw_rc read_truth(element_reader *r, unsigned char *out) {
  const char *s = r->t->s;
  bool yes = sw_ir_word(s, r->i, "true") || sw_ir_word(s, r->i, "1");
  if (!yes && !sw_ir_word(s, r->i, "false") && !sw_ir_word(s, r->i, "0")) return wrong_element(r, "true or false");
  *out = yes;
  while (sw_ir_is_name((unsigned char)s[r->i])) r->i++;
  return SW_OK;
}

static void skip_marks(element_reader *r, const char *marks) {
  while (r->i < r->end && strchr(marks, r->t->s[r->i])) r->i++;
}

static sw_rc read_element(element_reader *r, unsigned char *out) {
  sw_dtype dtype = r->type->dtype;
  switch (sw_dtype_class_of(dtype)) {
    case SW_CLASS_FLOAT:
      return read_real(r, dtype, out);
    case SW_CLASS_BOOL:
      return read_truth(r, out);
    case SW_CLASS_COMPLEX: {
      sw_dtype part = dtype == SW_C64 ? SW_F32 : SW_F64;
      skip_marks(r, "( ");
      SW_TRY(read_real(r, part, out));
      skip_marks(r, ", ");
      SW_TRY(read_real(r, part, out + sw_dtype_bytes(part)));
      skip_marks(r, ") ");
      return SW_OK;
    }
    case SW_CLASS_SIGNED:
    case SW_CLASS_UNSIGNED:
      return read_dense_integer(r, out);
    case SW_CLASS_TOKEN:
      break;
  }
  return wrong_element(r, "nothing");
}

/* At "]": the list has the elements of an index of the dims around it. */
static sw_rc close_list(element_reader *r, int64_t found) {
  int64_t want = 1, n = found - r->before[r->depth];
  for (int k = r->depth; k < r->type->rank; k++) want *= r->type->dims[k];
  if (n == want) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->i), "there are %lld elements in a list of dim %d; expected %lld",
                       (long long)n, r->depth, (long long)want);
}

/* Blanks, commas and brackets up to the next element. */
static sw_rc find_element(element_reader *r, bool splat, int64_t found) {
  int rank = splat ? 0 : r->type->rank;
  for (; r->i < r->end; r->i++) {
    char c = r->t->s[r->i];
    if (c == '[' && r->depth < rank) {
      r->before[r->depth++] = found;
    } else if (c == ']' && r->depth > 0) {
      r->depth--;
      SW_TRY(close_list(r, found));
    } else if (!strchr(", \n\t\r", c)) {
      break;
    }
  }
  if (r->i >= r->end || r->depth == rank) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->i), "expected '[', a list for each of %d dims", rank);
}

/* [[1, 2], [3, 4]], or 5 for all of them. */
static sw_rc read_dense_list(element_reader *r, sw_arena *arena, sw_data *out) {
  int64_t n = sw_type_elements(r->type), bytes = sw_dtype_bytes(r->type->dtype), found = 0;
  bool none = n == 0, splat = r->i < r->end && r->t->s[r->i] != '[';
  if (splat) n = 1;
  if (n < 0 || n > (int64_t)r->end) n = n < 0 ? 0 : (int64_t)r->end; /* no text holds more */
  unsigned char *at;
  SW_ARENA_NEW(at, arena, n * bytes + 16, r->d);
  *out = (sw_data){at, splat && !none};
  for (;;) {
    SW_TRY(find_element(r, splat, found));
    if (r->i >= r->end) break;
    if (found == n)
      return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->i), "there are more than %lld elements", (long long)n);
    SW_TRY(read_element(r, at + found++ * bytes));
  }
  if (found == n) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, r->end), "there are %lld elements; expected %lld", (long long)found,
                       (long long)n);
}

/* --- bytes ------------------------------------------------------------------------------------------------------- */

static int nibble(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = (char)tolower((unsigned char)c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static sw_rc decode_hex_digits(const sw_ir_tree *t, sw_ir_span digits, unsigned char *out, sw_diag *d) {
  for (uint32_t i = digits.at; i + 1 < digits.end; i += 2) {
    int high = nibble(t->s[i]), low = nibble(t->s[i + 1]);
    if (high < 0 || low < 0) return SW_FAIL_INPUT(d, sw_ir_place(t, i), "expected hexadecimal digits");
    *out++ = (unsigned char)(high << 4 | low);
  }
  return SW_OK;
}

/* Elements of fewer than 8 bits are written with a byte each, the bits in front zeros. */
static void wrap(sw_dtype t, unsigned char *at, int64_t n) {
  for (int64_t i = 0; sw_dtype_container(t) != t && i < n; i++) at[i] = (unsigned char)sw_dtype_wrap(t, at[i]);
}

/* Bits of i1 packed eight to a byte, to one byte each. */
static sw_rc unpack_bools(const unsigned char *bits, int64_t n, sw_arena *arena, sw_data *out, sw_diag *d) {
  unsigned char *at;
  SW_ARENA_NEW(at, arena, n, d);
  for (int64_t i = 0; i < n; i++) at[i] = bits[i / 8] >> (i % 8) & 1;
  out->bytes = at;
  return SW_OK;
}

static sw_rc read_blob(const sw_ir_tree *t, sw_ir_span digits, const sw_type *type, sw_arena *arena, sw_data *out,
                       sw_diag *d) {
  int64_t n = sw_type_elements(type), want = sw_type_bytes(type), element = sw_dtype_bytes(type->dtype);
  if (!sw_ir_starts(t, digits, "0x")) return SW_FAIL_INPUT(d, sw_ir_place(t, digits.at), "expected \"0x...\"");
  digits.at += 2;
  int64_t have = sw_ir_len(digits) / 2;
  unsigned char *bytes;
  SW_ARENA_NEW(bytes, arena, have + 1, d);
  SW_TRY(decode_hex_digits(t, digits, bytes, d));
  wrap(type->dtype, bytes, have);
  *out = (sw_data){bytes, false};
  if (have == want) return SW_OK;
  bool packed = type->dtype == SW_BOOL && have == (n + 7) / 8;
  if (packed && !(have == 1 && (bytes[0] == 0 || bytes[0] == 0xff))) return unpack_bools(bytes, n, arena, out, d);
  out->splat = have == element;
  if (out->splat && type->dtype == SW_BOOL) bytes[0] = bytes[0] != 0;
  if (out->splat) return SW_OK;
  return SW_FAIL_INPUT(d, sw_ir_place(t, digits.at), "there are %lld bytes; expected %lld", (long long)have,
                       (long long)want);
}

sw_rc sw_ir_read_dense(const sw_ir_tree *t, sw_ir_span literal, const sw_type *type, sw_arena *arena, sw_data *out,
                       sw_diag *d) {
  *out = (sw_data){NULL, false};
  if (sw_ir_starts(t, literal, "dense_resource<")) {
    sw_ir_span digits = find_resource(t, sw_ir_inside(t, literal));
    if (sw_ir_len(digits) >= 10) digits.at += 8; /* 0x and the alignment in four bytes, kept as 0x */
    sw_ir_span bytes = {digits.at + 2, digits.end};
    if (sw_ir_len(bytes) / 2 != sw_type_bytes(type)) {
      return SW_FAIL_INPUT(d, sw_ir_place(t, literal.at), "the resource has %lld bytes; expected %lld",
                           (long long)sw_ir_len(bytes) / 2, (long long)sw_type_bytes(type));
    }
    unsigned char *at;
    SW_ARENA_NEW(at, arena, sw_type_bytes(type) + 1, d);
    out->bytes = at;
    SW_TRY(decode_hex_digits(t, bytes, at, d));
    wrap(type->dtype, at, sw_type_bytes(type));
    return SW_OK;
  }
  sw_ir_span in = sw_ir_starts(t, literal, "dense<") ? sw_ir_trimmed(t, sw_ir_inside(t, literal)) : literal;
  if (in.at < in.end && t->s[in.at] == '"') return read_blob(t, sw_ir_unquoted(t, in), type, arena, out, d);
  element_reader r = {.t = t, .type = type, .i = in.at, .end = in.end, .d = d};
  return read_dense_list(&r, arena, out);
}
