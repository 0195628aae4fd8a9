/* Attributes, shapes and the elements of constants, from and to JSON.
 *
 *   "attrs": {"permutation": [1, 0]}      INTS    an array of integers
 *   "attrs": {"kind": "sum"}              TEXT    a string
 *   "attrs": {"value": [[1, 2], [3, 4]]}  DATA    row-major, nested or flat; a single number stands for all
 *
 * NaN and the infinities are the strings "nan", "inf" and "-inf"; an element of a complex constant is two numbers; u64
 * beyond int64 may be a string of digits.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/model/model.h"
#include "base/checked.h"
#include "base/nearest.h"
#include "collective/minifloat.h"
#include "collective/scalar.h"

sw_rc sw_model_read_dtype(const sw_model_reader *r, const sw_json *v, sw_dtype *out) {
  const char *text;
  SW_TRY(sw_json_as_string(v, &text, r->d));
  if (sw_dtype_parse(text, out)) return SW_OK;
  return SW_MODEL_FAIL(
      r, v, "dtype '%.60s' is not known; expected f64, f32, f16, bf16, i8 to i64, u8 to u64, bool, ...", text);
}

/* A whole number, or a size in words. */
static sw_rc read_size_attr(const sw_model_reader *r, const sw_json *v, int64_t min, int64_t *out) {
  if (v->kind != SW_JSON_STRING) return sw_json_as_i64(v, min, INT64_MAX, out, r->d);
  return sw_sizes_meet_text(r->sizes, v->text, sw_model_span(r, v), out, r->d);
}

/* "?" is a size that is not known. */
sw_rc sw_model_read_shape(const sw_model_reader *r, const sw_json *v, int64_t dims[SW_MAX_RANK], int *rank) {
  SW_TRY(sw_json_expect(v, SW_JSON_ARRAY, r->d));
  if (v->n > SW_MAX_RANK) {
    return SW_MODEL_FAIL(r, v, "a shape has %d dims; expected at most %d", v->n, SW_MAX_RANK);
  }
  for (int i = 0; i < v->n; i++) {
    dims[i] = -1;
    bool unknown = v->at[i].kind == SW_JSON_STRING && strcmp(v->at[i].text, "?") == 0;
    if (!unknown) SW_TRY(read_size_attr(r, &v->at[i], 0, &dims[i]));
  }
  *rank = v->n;
  return SW_OK;
}

/* --- constants --------------------------------------------------------------------------------------------------- */

typedef struct filler {
  const sw_model_reader *r;
  sw_dtype part; /* of a number: the dtype, or half of a complex one */
  char *at;
  int64_t left;
} filler;

static bool special_number(const char *text, double *out) {
  static const struct {
    const char *text;
    double value;
  } kNumbers[] = {{"nan", NAN}, {"inf", INFINITY}, {"-inf", -INFINITY}};
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, kNumbers[i].text) != 0) continue;
    *out = kNumbers[i].value;
    return true;
  }
  return false;
}

static sw_rc out_of_range(const filler *f, const sw_json *v) {
  return SW_MODEL_FAIL(f->r, v, "%.60s is not a number of dtype %s", v->text, sw_dtype_text(f->part));
}

/* Exact for every integer dtype. */
static sw_rc put_integer(filler *f, const sw_json *v) {
  const int width = sw_dtype_bits(f->part);
  bool is_signed = sw_dtype_class_of(f->part) == SW_CLASS_SIGNED;
  uint64_t bits;
  if (v->kind == SW_JSON_INT) {
    int64_t i = v->i64, least = is_signed ? INT64_MIN >> (64 - width) : 0;
    if (i < least || (width < 64 && i > (INT64_C(1) << (width - is_signed)) - 1)) return out_of_range(f, v);
    bits = (uint64_t)i;
  } else if (v->kind == SW_JSON_STRING || v->kind == SW_JSON_FLOAT) {
    char *end;
    errno = 0;
    bits = strtoull(v->text, &end, 10);
    if (errno || *end || v->text[0] < '0' || v->text[0] > '9' || f->part != SW_U64) return out_of_range(f, v);
  } else {
    return sw_json_expect(v, SW_JSON_INT, f->r->d);
  }
  sw_scalar_store(f->part, (sw_scalar){.bits = bits}, f->at);
  return SW_OK;
}

static sw_rc put_attr_number(filler *f, const sw_json *v) {
  sw_dtype_class cls = sw_dtype_class_of(f->part);
  if (f->left == 0) return SW_MODEL_FAIL(f->r, v, "there are more elements than the shape has");
  if (cls == SW_CLASS_FLOAT) {
    double x = 0;
    bool special = v->kind == SW_JSON_STRING && special_number(v->text, &x);
    if (!special) SW_TRY(sw_json_as_f64(v, -INFINITY, INFINITY, &x, f->r->d));
    if (!special && (isinf(x) || sw_float_overflows(f->part, x))) return out_of_range(f, v);
    sw_element_store(f->part, x, f->at);
  } else if (cls == SW_CLASS_BOOL) {
    bool truth = false;
    SW_TRY(sw_json_as_bool(v, &truth, f->r->d));
    *f->at = truth ? 1 : 0;
  } else {
    SW_TRY(put_integer(f, v));
  }
  f->at += sw_dtype_bytes(f->part);
  f->left--;
  return SW_OK;
}

/* The tree is at most SW_JSON_MAX_DEPTH deep. */
static sw_rc put_all(filler *f, const sw_json *v) {
  if (v->kind != SW_JSON_ARRAY) return put_attr_number(f, v);
  for (int i = 0; i < v->n; i++) SW_TRY(put_all(f, &v->at[i]));
  return SW_OK;
}

sw_rc sw_model_read_data(const sw_model_reader *r, const sw_json *v, const sw_type *type, sw_data *out) {
  bool complex = sw_dtype_class_of(type->dtype) == SW_CLASS_COMPLEX;
  filler f = {.r = r, .part = type->dtype};
  if (complex) f.part = type->dtype == SW_C64 ? SW_F32 : SW_F64;
  bool pair = complex && v->kind == SW_JSON_ARRAY && v->n == 2 && v->at[0].kind != SW_JSON_ARRAY;
  out->splat = v->kind != SW_JSON_ARRAY || (pair && type->rank > 0);
  int64_t elements = out->splat ? 1 : sw_type_elements(type);
  if (elements < 0 || type->dtype == SW_TOKEN || !sw_mul_i64(elements, complex ? 2 : 1, &f.left)) {
    return SW_MODEL_FAIL(r, v, "a constant of this shape and dtype cannot be written out");
  }
  f.at = sw_arena_alloc(r->arena, (size_t)f.left, (size_t)sw_dtype_bytes(f.part), r->d);
  if (!f.at) return SW_E_RESOURCE;
  out->bytes = f.at;
  SW_TRY(put_all(&f, v));
  if (f.left) return SW_MODEL_FAIL(r, v, "the shape has %lld more elements than are given", (long long)f.left);
  return SW_OK;
}

static void write_float(sw_json_out *o, const char *key, double x) {
  if (isfinite(x)) {
    sw_jw_f64(o, key, x);
  } else {
    sw_jw_string(o, key, isnan(x) ? "nan" : x > 0 ? "inf" : "-inf");
  }
}

static void write_unsigned(sw_json_out *o, const char *key, uint64_t v) {
  char text[24];
  snprintf(text, sizeof text, "%llu", (unsigned long long)v);
  if (v > INT64_MAX) sw_jw_string(o, key, text);
  if (v <= INT64_MAX) sw_jw_i64(o, key, (int64_t)v);
}

static void write_number(sw_json_out *o, const char *key, sw_dtype t, const void *at) {
  sw_scalar v = sw_scalar_load(t, at);
  switch (sw_dtype_class_of(t)) {
    case SW_CLASS_FLOAT:
      write_float(o, key, v.re);
      return;
    case SW_CLASS_BOOL:
      sw_jw_bool(o, key, v.bits != 0);
      return;
    case SW_CLASS_SIGNED:
      sw_jw_i64(o, key, (int64_t)v.bits);
      return;
    case SW_CLASS_UNSIGNED:
      write_unsigned(o, key, v.bits);
      return;
    case SW_CLASS_COMPLEX:
    case SW_CLASS_TOKEN:
      return;
  }
}

static void write_data(const sw_type *t, const sw_data *data, sw_json_out *o) {
  bool complex = sw_dtype_class_of(t->dtype) == SW_CLASS_COMPLEX;
  sw_dtype part = !complex ? t->dtype : t->dtype == SW_C64 ? SW_F32 : SW_F64;
  if (data->splat && !complex) {
    write_number(o, "value", part, data->bytes);
    return;
  }
  int64_t n = (data->splat ? 1 : sw_type_elements(t)) * (complex ? 2 : 1);
  sw_jw_row(o, "value");
  for (int64_t i = 0; i < n; i++) write_number(o, NULL, part, (const char *)data->bytes + i * sw_dtype_bytes(part));
  sw_jw_end(o);
}

/* --- attributes -------------------------------------------------------------------------------------------------- */

/* Attributes that say how large something is, or where it ends. */
static sw_rc read_int(const sw_model_reader *r, sw_attr_key key, const sw_json *v, int64_t *out) {
  const bool size = key == SW_ATTR_SHAPE || key == SW_ATTR_SIZES || key == SW_ATTR_LIMIT || key == SW_ATTR_START ||
                    key == SW_ATTR_GLOBAL;
  return size ? read_size_attr(r, v, INT64_MIN, out) : sw_json_as_i64(v, INT64_MIN, INT64_MAX, out, r->d);
}

static sw_rc read_ints(const sw_model_reader *r, const sw_json *v, sw_attr *out) {
  SW_TRY(sw_json_expect(v, SW_JSON_ARRAY, r->d));
  int64_t *at;
  SW_ARENA_NEW(at, r->arena, v->n, r->d);
  for (int i = 0; i < v->n; i++) SW_TRY(read_int(r, out->key, &v->at[i], &at[i]));
  out->u.ints.at = at;
  out->u.ints.n = v->n;
  return SW_OK;
}

/* A constant's elements need its shape and dtype, which stand beside them. */
static sw_rc read_constant_value(const sw_model_reader *r, const sw_json *attrs, const sw_json *v, sw_attr *out) {
  const sw_json *shape, *dtype;
  sw_type t;
  int64_t dims[SW_MAX_RANK];
  SW_TRY(sw_json_member(attrs, "shape", &shape, r->d));
  SW_TRY(sw_json_member(attrs, "dtype", &dtype, r->d));
  SW_TRY(sw_model_read_shape(r, shape, dims, &t.rank));
  SW_TRY(sw_model_read_dtype(r, dtype, &t.dtype));
  t.dims = dims;
  return sw_model_read_data(r, v, &t, &out->u.data);
}

static sw_rc unknown_attr(const sw_model_reader *r, const sw_json *v) {
  sw_nearest near = {.wanted = v->key};
  for (int k = 0; k < SW_ATTR_COUNT; k++) sw_nearest_offer(&near, sw_attr_text((sw_attr_key)k));
  sw_span at = {r->file, v->key_line, v->key_col};
  return SW_FAIL_INPUT(r->d, at, "attribute '%.60s' is not known%s", v->key, sw_nearest_hint(&near));
}

static sw_rc read_attr(const sw_model_reader *r, const sw_json *attrs, const sw_json *v, sw_attr *out) {
  if (!sw_attr_parse_key(v->key, &out->key)) return unknown_attr(r, v);
  bool truth;
  sw_dtype dtype;
  switch (sw_attr_kind_of(out->key)) {
    case SW_ATTR_KIND_INT:
      return sw_json_as_i64(v, INT64_MIN, INT64_MAX, &out->u.i, r->d);
    case SW_ATTR_KIND_FLOAT:
      return sw_json_as_f64(v, -INFINITY, INFINITY, &out->u.f, r->d);
    case SW_ATTR_KIND_BOOL:
      SW_TRY(sw_json_as_bool(v, &truth, r->d));
      out->u.i = truth;
      return SW_OK;
    case SW_ATTR_KIND_TEXT:
      return sw_json_as_string(v, &out->u.text, r->d);
    case SW_ATTR_KIND_INTS:
      return read_ints(r, v, out);
    case SW_ATTR_KIND_DTYPE:
      SW_TRY(sw_model_read_dtype(r, v, &dtype));
      out->u.i = dtype;
      return SW_OK;
    case SW_ATTR_KIND_DATA:
      return read_constant_value(r, attrs, v, out);
  }
  return SW_OK;
}

sw_rc sw_model_read_attrs(const sw_model_reader *r, const sw_json *object, sw_attr **out, int *n) {
  *n = object ? object->n : 0;
  SW_ARENA_NEW(*out, r->arena, *n, r->d);
  for (int i = 0; i < *n; i++) SW_TRY(read_attr(r, object, &object->at[i], &(*out)[i]));
  return SW_OK;
}

void sw_model_write_shape(const sw_type *t, sw_json_out *o) {
  sw_jw_row(o, "shape");
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0)
      sw_jw_string(o, NULL, "?");
    else
      sw_jw_i64(o, NULL, t->dims[i]);
  }
  sw_jw_end(o);
}

void sw_model_write_attr(const sw_graph *g, const sw_op *op, const sw_attr *a, sw_json_out *o) {
  const char *key = sw_attr_text(a->key);
  switch (sw_attr_kind_of(a->key)) {
    case SW_ATTR_KIND_INT:
      sw_jw_i64(o, key, a->u.i);
      return;
    case SW_ATTR_KIND_FLOAT:
      sw_jw_f64(o, key, a->u.f);
      return;
    case SW_ATTR_KIND_BOOL:
      sw_jw_bool(o, key, a->u.i != 0);
      return;
    case SW_ATTR_KIND_TEXT:
      sw_jw_string(o, key, a->u.text);
      return;
    case SW_ATTR_KIND_INTS:
      sw_jw_i64_list(o, key, a->u.ints.at, a->u.ints.n);
      return;
    case SW_ATTR_KIND_DTYPE:
      sw_jw_string(o, key, sw_dtype_text((sw_dtype)a->u.i));
      return;
    case SW_ATTR_KIND_DATA:
      write_data(sw_result_type(g, op, 0), &a->u.data, o);
      return;
  }
}
