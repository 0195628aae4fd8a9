#include "cli/output.h"

#include <string.h>

#include "cli/terminal.h"
#include "io/json_write.h"

/* The codes of our own headings, which begin and end a line. */
static size_t style_at(const char *s, size_t i, size_t n) {
  for (int k = 0; k < SW_STYLES; k++) {
    const char *code = sw_style_code((sw_style)k, true);
    const size_t length = strlen(code);
    if (n - i < length || memcmp(s + i, code, length) != 0) continue;
    if (i == 0 || s[i - 1] == '\n' || i + length == n || s[i + length] == '\n') return length;
  }
  return 0;
}

bool sw_put_clean(const char *s, size_t n, FILE *to) {
  size_t from = 0, length;
  bool ok = true;
  for (size_t i = 0; i < n; i += length) {
    const uint32_t code = sw_control_at(s + i, n - i, &length);
    if (!code || code == '\n' || code == '\t') continue;
    if (code == 0x1b && style_at(s, i, n)) continue;
    ok = ok && fwrite(s + from, 1, i - from, to) == i - from && fprintf(to, "\\u%04x", code) > 0;
    from = i + length;
  }
  return ok && fwrite(s + from, 1, n - from, to) == n - from;
}

void sw_tell_error(const sw_diag *d, bool debug) {
  char text[12 * 1024] = {0}; /* a record and its notes are shorter */
  FILE *into = fmemopen(text, sizeof text - 1, "w");
  if (!into) return;
  sw_diag_print(d, into, debug);
  fclose(into);
  (void)sw_put_clean(text, strlen(text), stderr);
}

sw_rc sw_print_text(sw_text *t, sw_diag *d) {
  sw_rc rc = t->rc;
  if (rc) {
    (void)SW_FAIL(d, rc, SW_NOWHERE, "out of memory while printing");
  } else if (!sw_put_clean(sw_text_str(t), t->n, stdout) || fflush(stdout)) {
    rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot write to standard output");
  }
  sw_text_free(t);
  return rc;
}

sw_rc sw_print_made(sw_rc rc, sw_text *t, sw_diag *d) {
  if (!rc) return sw_print_text(t, d);
  sw_text_free(t);
  return rc;
}

sw_rc sw_print_answer(const sw_call *call, sw_text *t, sw_diag *d) {
  if (!call->stdout_taken) return sw_print_text(t, d);
  sw_text_free(t);
  return SW_OK;
}
