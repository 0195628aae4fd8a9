#include "shardwright/status.h"

#include <string.h>

#include "base/file.h"

sw_rc sw_diag_fail(sw_diag *d, sw_rc rc, sw_span at, const char *src_file, int src_line, const char *fmt, ...) {
  if (!d) return rc;
  memset(d, 0, sizeof *d);
  d->rc = rc;
  if (at.file) snprintf(d->file, sizeof d->file, "%s", at.file);
  d->line = at.line;
  d->col = at.col;
  d->raised_file = src_file;
  d->raised_line = src_line;
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(d->text, sizeof d->text, fmt, ap);
  va_end(ap);
  return rc;
}

void sw_diag_note(sw_diag *d, const char *fmt, ...) {
  if (!d || !d->rc) return;
  if (d->n_notes < SW_DIAG_NOTES) {
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(d->notes[d->n_notes], SW_DIAG_NOTE_BYTES, fmt, ap);
    va_end(ap);
  }
  d->n_notes++;
}

const char *sw_rc_text(sw_rc rc) {
  switch (rc) {
    case SW_OK:
      return "ok";
    case SW_E_INPUT:
      return "error";
    case SW_E_USAGE:
      return "usage";
    case SW_E_INFEASIBLE:
      return "infeasible";
    case SW_E_MISMATCH:
      return "mismatch";
    case SW_E_RESOURCE:
      return "failed";
    case SW_E_BUG:
      return "bug (please report)";
    case SW_E_CANCELLED:
      return "interrupted";
  }
  return "unknown";
}

void sw_diag_print(const sw_diag *d, FILE *out, bool with_origin) {
  if (d->file[0]) fprintf(out, "%s:", d->file);
  if (d->line > 0) fprintf(out, "%d:", d->line);
  if (d->line > 0 && d->col > 0) fprintf(out, "%d:", d->col);
  fprintf(out, "%s%s: %s\n", d->file[0] ? " " : "", sw_rc_text(d->rc), d->text);
  int shown = d->n_notes < SW_DIAG_NOTES ? d->n_notes : SW_DIAG_NOTES;
  for (int i = 0; i < shown; i++) fprintf(out, "  note: %s\n", d->notes[i]);
  if (d->n_notes > shown) fprintf(out, "  note: %d more notes not kept\n", d->n_notes - shown);
  if (with_origin && d->raised_file) {
    fprintf(out, "  raised at %s:%d\n", sw_path_base(d->raised_file), d->raised_line);
  }
}
