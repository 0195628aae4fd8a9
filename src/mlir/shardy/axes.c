/* Lists of axes and of parts of them. */
#include <stdlib.h>
#include <string.h>

#include "mlir/shardy/shardy.h"

static sw_rc fail_unknown_axis(sw_sdy_text *x, const sw_mesh *m, sw_ir_span name) {
  sw_text known = {0};
  for (int i = 0; i < m->n_axes; i++) sw_text_printf(&known, "%s\"%s\"", i ? ", " : "", m->axis[i].name);
  sw_rc rc = SW_SDY_FAIL(x, name.at - 1, "axis \"%.*s\" is not in the mesh; expected one of its axes%s%s",
                         SW_IR_TEXT(x->t, name), m->n_axes ? ", " : ", of which there are none", sw_text_str(&known));
  sw_text_free(&known);
  return rc;
}

/* (pre)size */
static bool read_axis_part(const sw_sdy_text *x, sw_ir_span text, long long *pre, long long *size) {
  const char *s = x->t->s + text.at, *end = x->t->s + text.end;
  char *behind;
  if (s == end || *s != '(') return false;
  *pre = strtoll(s + 1, &behind, 10);
  behind += strspn(behind, " ");
  if (behind == s + 1 || *behind != ')') return false;
  s = behind + 1;
  *size = strtoll(s, &behind, 10);
  return behind > s && behind == end;
}

/* Behind part `last` of the same axis; -1 where there is none. */
static sw_rc check_part(sw_sdy_text *x, sw_ir_span text, int64_t whole, long long pre, long long size,
                        const sw_axis_ref *last) {
  if (pre < 1)
    return SW_SDY_FAIL(x, text.at, "the pre-size of %.*s is %lld; expected 1 or more", SW_IR_TEXT(x->t, text), pre);
  if (size < 2)
    return SW_SDY_FAIL(x, text.at, "the size of %.*s is %lld; expected more than 1", SW_IR_TEXT(x->t, text), size);
  if (last && (int64_t)last->pre * last->size == pre)
    return SW_SDY_FAIL(x, text.at, "%.*s follows part (%d)%d of the axis; expected both as one", SW_IR_TEXT(x->t, text),
                       last->pre, last->size);
  if (pre > whole || size > whole || whole % (pre * size))
    return SW_SDY_FAIL(x, text.at, "pre-size times size of %.*s does not divide the axis, of %lld",
                       SW_IR_TEXT(x->t, text), (long long)whole);
  if (size == whole)
    return SW_SDY_FAIL(x, text.at, "%.*s is all of the axis, of %lld; expected the axis itself", SW_IR_TEXT(x->t, text),
                       (long long)whole);
  return SW_OK;
}

/* "x" or "x":(1)2, behind `last` of the same list. */
static sw_rc read_axis_ref(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, const sw_axis_ref *last,
                           sw_axis_ref *out) {
  if (x->t->s[text.at] != '"')
    return SW_SDY_FAIL(x, text.at, "found '%.*s'; expected an axis in quotes", SW_IR_TEXT(x->t, text));
  const uint32_t end = sw_ir_behind_string(x->t->s, text.at, text.end);
  const sw_ir_span name = {text.at + 1, end - 1};
  sw_ir_span part = sw_ir_trimmed(x->t, (sw_ir_span){end, text.end});
  int axis = 0;
  while (axis < m->n_axes && !sw_ir_is(x->t, name, m->axis[axis].name)) axis++;
  if (axis == m->n_axes) return fail_unknown_axis(x, m, name);
  *out = sw_axis_whole(m, axis);
  if (!sw_ir_len(part)) return SW_OK;
  long long pre, size;
  const bool colon = x->t->s[part.at] == ':';
  part = sw_ir_trimmed(x->t, (sw_ir_span){part.at + 1, part.end});
  if (!colon || !read_axis_part(x, part, &pre, &size))
    return SW_SDY_FAIL(x, text.at, "found '%.*s'; expected an axis \"x\", or a part of it \"x\":(1)2",
                       SW_IR_TEXT(x->t, text));
  SW_TRY(check_part(x, text, m->axis[axis].size, pre, size, last && last->axis == axis ? last : NULL));
  *out = (sw_axis_ref){axis, (int32_t)pre, (int32_t)size};
  return SW_OK;
}

sw_rc sw_sdy_axes_read(sw_sdy_text *x, const sw_mesh *m, sw_ir_span list, sw_axes *out) {
  sw_ir_span item;
  uint32_t cursor = 0;
  out->n = 0;
  while (sw_ir_next_item(x->t, list, &cursor, &item)) {
    if (out->n == SW_MAX_REFS) return SW_SDY_FAIL(x, item.at, "more than %d axes", SW_MAX_REFS);
    SW_TRY(read_axis_ref(x, m, item, out->n ? &out->at[out->n - 1] : NULL, &out->at[out->n]));
    out->n++;
  }
  const sw_ir_span inside = sw_ir_trimmed(x->t, sw_ir_inside(x->t, list));
  if (sw_ir_ends(x->t, inside, ",")) return SW_SDY_FAIL(x, inside.end - 1, "the list of axes ends in a comma");
  return SW_OK;
}

void sw_sdy_axes_print(const sw_mesh *m, const sw_axis_ref *a, int n, sw_text *out) {
  for (int i = 0; i < n; i++) {
    sw_text_printf(out, "%s\"%s\"", i ? ", " : "", m->axis[a[i].axis].name);
    if (a[i].size != m->axis[a[i].axis].size) sw_text_printf(out, ":(%d)%d", a[i].pre, a[i].size);
  }
}

sw_rc sw_sdy_axes_are_distinct(sw_sdy_text *x, const sw_mesh *m, sw_ir_span text, const sw_axis_ref *a, int n) {
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < i; k++) {
      const int64_t size = m->axis[a[i].axis].size;
      const char *name = m->axis[a[i].axis].name;
      if (a[i].axis != a[k].axis) continue;
      if (sw_axis_ref_equal(a[i], a[k]) && a[i].size == size)
        return SW_SDY_FAIL(x, text.at, "axis \"%s\" is used twice; expected it once", name);
      if (sw_axis_ref_equal(a[i], a[k]))
        return SW_SDY_FAIL(x, text.at, "axis \"%s\":(%d)%d is used twice; expected it once", name, a[i].pre, a[i].size);
      if (a[i].size == size || a[k].size == size)
        return SW_SDY_FAIL(x, text.at, "axis \"%s\" is used whole and in part; expected one of both", name);
      if (sw_axis_ref_overlaps(a[i], a[k]))
        return SW_SDY_FAIL(x, text.at, "parts (%d)%d and (%d)%d of axis \"%s\" overlap", a[k].pre, a[k].size, a[i].pre,
                           a[i].size, name);
    }
  }
  return SW_OK;
}

sw_rc sw_sdy_axes_are_ordered(sw_sdy_text *x, sw_ir_span text, const char *what, const sw_axis_ref *a, int n) {
  for (int i = 1; i < n; i++) {
    if (a[i - 1].axis < a[i].axis || (a[i - 1].axis == a[i].axis && a[i - 1].pre <= a[i].pre)) continue;
    return SW_SDY_FAIL(x, text.at, "%s axes are not ordered; expected the order of the mesh", what);
  }
  return SW_OK;
}
