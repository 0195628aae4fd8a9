#include "base/columns.h"

#include <string.h>

/* Columns as people see them: bytes that continue a UTF-8 character take no room. */
static size_t width_of(const char *s) {
  size_t w = 0;
  for (; *s; s++) w += ((unsigned char)*s & 0xc0) != 0x80;
  return w;
}

static void begin_cell(sw_columns *c) {
  if (sw_array_push(&c->at, c->cells.n, NULL)) c->cells.rc = SW_E_RESOURCE;
}

static void end_cell(sw_columns *c) { sw_text_append(&c->cells, "", 1); }

void sw_columns_add(sw_columns *c, const char *fmt, ...) {
  char text[512];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  begin_cell(c);
  sw_text_puts(&c->cells, text);
  end_cell(c);
}

void sw_columns_add_bytes(sw_columns *c, double bytes) {
  begin_cell(c);
  sw_text_bytes(&c->cells, bytes);
  end_cell(c);
}

void sw_columns_add_seconds(sw_columns *c, double seconds) {
  begin_cell(c);
  sw_text_seconds(&c->cells, seconds);
  end_cell(c);
}

void sw_columns_print(sw_columns *c, int indent, sw_text *out) {
  size_t width[SW_MAX_COLUMNS] = {0};
  if (c->cells.rc) out->rc = c->cells.rc;
  for (size_t i = 0; !c->cells.rc && i < c->at.n; i++) {
    size_t w = width_of(c->cells.at + c->at.at[i]), col = i % (size_t)c->n;
    if (w > width[col]) width[col] = w;
  }
  for (size_t i = 0; !c->cells.rc && i < c->at.n; i++) {
    const char *text = c->cells.at + c->at.at[i];
    size_t col = i % (size_t)c->n, pad = width[col] - width_of(text);
    bool last = col + 1 == (size_t)c->n;
    sw_text_printf(out, "%*s", col ? 2 : indent, "");
    if (c->right[col]) sw_text_printf(out, "%*s", (int)pad, "");
    sw_text_puts(out, text);
    if (!c->right[col] && !last) sw_text_printf(out, "%*s", (int)pad, "");
    if (last) sw_text_puts(out, "\n");
  }
  sw_text_free(&c->cells);
  sw_array_free(&c->at);
}
