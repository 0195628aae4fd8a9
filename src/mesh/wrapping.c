/* What may stand around a sharding where it is copied from: an op, an attribute or a type, which name a mesh or a value
 * and say nothing else here.
 *
 *   %s = shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
 *   {sdy.sharding = #sdy.sharding<@mesh, [{"x"}, {}]>}
 *   f32[8,32][S(0)R]
 */
#include <ctype.h>

#include "mesh/forms.h"

static bool accept_name(sw_reader *r, const char *mark) {
  const char *word;
  size_t n;
  sw_reader ahead = *r;
  if (!sw_reader_accept(&ahead, mark) || !sw_reader_word(&ahead, &word, &n)) return false;
  *r = ahead;
  return true;
}

/* %s = */
static void skip_result(sw_reader *r) {
  sw_reader ahead = *r;
  if (accept_name(&ahead, "%") && sw_reader_accept(&ahead, "=")) *r = ahead;
}

/* shard.sharding @grid, and the same of the older dialect */
static bool open_op(sw_reader *r) {
  sw_reader ahead = *r;
  if (!sw_reader_accept(&ahead, "shard.sharding") && !sw_reader_accept(&ahead, "mesh.sharding")) return false;
  if (!accept_name(&ahead, "@")) return false;
  *r = ahead;
  return true;
}

/* #mesh.shard<@grid, */
static bool open_mesh_attribute(sw_reader *r) {
  sw_reader ahead = *r;
  if (!sw_reader_accept(&ahead, "#mesh.shard") || !sw_reader_accept(&ahead, "<")) return false;
  if (!accept_name(&ahead, "@") || !sw_reader_accept(&ahead, ",")) return false;
  *r = ahead;
  return true;
}

/* f32[8,32] before a bracket */
static bool open_type(sw_reader *r) {
  const char *word;
  size_t n;
  sw_reader ahead = *r;
  if (!sw_reader_word(&ahead, &word, &n) || !isalpha((unsigned char)word[0]) || !sw_reader_accept(&ahead, "["))
    return false;
  while (sw_reader_word(&ahead, &word, &n) && isdigit((unsigned char)word[0])) (void)sw_reader_accept(&ahead, ",");
  sw_reader list = ahead;
  if (!sw_reader_accept(&ahead, "]")) return false;
  list = ahead;
  if (!sw_reader_accept(&list, "[")) return false;
  *r = ahead;
  return true;
}

void sw_form_unwrap(sw_reader *r, sw_form_wrapping *out) {
  *out = (sw_form_wrapping){.form = -1};
  sw_reader inside = *r;
  skip_result(r);
  if (open_op(r)) {
    *out = (sw_form_wrapping){SW_FORM_SHARD, {NULL}, true};
  } else if (open_mesh_attribute(r)) {
    *out = (sw_form_wrapping){SW_FORM_SHARD, {">"}, false};
  } else if (open_type(r)) {
    *out = (sw_form_wrapping){SW_FORM_DTENSOR, {NULL}, false};
  } else if (sw_reader_accept(r, "#sdy.sharding_per_value") && sw_reader_accept(r, "<") && sw_reader_accept(r, "[")) {
    *out = (sw_form_wrapping){SW_FORM_SDY, {"]", ">"}, false};
  } else {
    *r = inside;
    const bool braced = sw_reader_accept(&inside, "{");
    if (!sw_reader_accept(&inside, "sdy.sharding") || !sw_reader_accept(&inside, "=")) return;
    *r = inside;
    *out = (sw_form_wrapping){SW_FORM_SDY, {braced ? "}" : NULL}, false};
  }
}

sw_rc sw_form_wrap_end(sw_reader *r, const sw_form_wrapping *w, sw_diag *d) {
  for (int i = 0; i < 2 && w->close[i]; i++) SW_TRY(sw_reader_expect(r, w->close[i], d));
  if (!w->may_have_type || !sw_reader_accept(r, ":")) return SW_OK;
  if (accept_name(r, "!")) return SW_OK;
  return sw_reader_fail(r, "a type such as !shard.sharding", d);
}
