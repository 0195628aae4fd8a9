#include "report/places.h"

static void print_span(sw_span at, sw_text *out) {
  sw_text_printf(out, "%s:%d:%d", at.file ? at.file : "", at.line, at.col);
}

void sw_jw_place(sw_json_out *o, const char *key, sw_span at) {
  sw_text t = {0};
  if (at.line <= 0) return;
  print_span(at, &t);
  sw_jw_text(o, key, &t);
}

void sw_jw_places(sw_json_out *o, const sw_op *op) {
  sw_jw_place(o, "location", op->span);
  sw_jw_place(o, "source", op->location.at);
  if (op->location.scope) sw_jw_string(o, "scope", op->location.scope);
}

void sw_place_print(sw_span at, const sw_source *from, sw_text *out) {
  const char *scope = from ? from->scope : NULL;
  if (from && from->at.line > 0) at = from->at;
  if (at.line <= 0 && !scope) return;
  sw_text_puts(out, " (");
  if (at.line > 0) print_span(at, out);
  if (scope) sw_text_printf(out, "%s%s", at.line > 0 ? ", " : "", scope);
  sw_text_puts(out, ")");
}
