#include "report/places.h"

#include <string.h>

#include "graph/source.h"
#include "shardwright/text.h"

enum { MOST_FRAMES = 128 }; /* of a stack */

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

/* --- with call stacks --------------------------------------------------------------------------------------------- */

/* `name`: what the document calls it already. */
static void put_source(sw_places *p, const sw_source *from, const char *name, sw_json_out *o) {
  int64_t *number;
  bool fresh;
  sw_jw_place(o, "source", from->at);
  if (from->scope && strcmp(from->scope, name) != 0) sw_jw_string(o, "scope", from->scope);
  if (!from->stack) return;
  const int64_t next = (int64_t)p->stacks.n;
  if (sw_dict_put(&p->number_of, &from->stack, sizeof from->stack, next, &number, &fresh, NULL) ||
      (fresh && sw_array_push(&p->stacks, from->stack, NULL))) {
    o->text->rc = SW_E_RESOURCE;
    return;
  }
  sw_jw_i64(o, "stack", *number);
}

void sw_places_of_op(sw_places *p, const sw_op *op, sw_json_out *o) {
  sw_jw_place(o, "location", op->span);
  put_source(p, &op->location, op->name, o);
}

void sw_places_of_arg(sw_places *p, const sw_value *v, sw_json_out *o) {
  sw_jw_place(o, "location", v->span);
  if (v->location) put_source(p, v->location, v->name, o);
}

static void put_call_frame(const sw_call_frame *f, sw_json_out *o) {
  sw_jw_object_row(o, NULL);
  sw_jw_place(o, "at", f->at);
  if (f->function) sw_jw_string(o, "function", f->function);
  if (f->library) sw_jw_bool(o, "library", true);
  sw_jw_end(o);
}

void sw_places_end(sw_places *p, sw_json_out *o) {
  if (p->stacks.n) sw_jw_array(o, "call_stacks");
  for (size_t i = 0; i < p->stacks.n; i++) {
    const sw_call_frame *frames[MOST_FRAMES];
    const int n = sw_source_frames(p->stacks.at[i], MOST_FRAMES, frames);
    sw_jw_row(o, NULL);
    for (int k = 0; k < n; k++) put_call_frame(frames[k], o);
    sw_jw_end(o);
  }
  if (p->stacks.n) sw_jw_end(o);
  sw_array_free(&p->stacks);
  sw_dict_deinit(&p->number_of);
}
