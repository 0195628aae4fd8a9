#include "cli/output.h"

sw_rc sw_print_text(sw_text *t, sw_diag *d) {
  sw_rc rc = t->rc;
  if (rc) {
    (void)SW_FAIL(d, rc, SW_NOWHERE, "out of memory while printing");
  } else if (fwrite(sw_text_str(t), 1, t->n, stdout) != t->n || fflush(stdout)) {
    rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot write to standard output");
  }
  sw_text_free(t);
  return rc;
}
