/* The report as one page: page/ with the JSON report inside, which its scripts draw. Nothing is fetched, so the page
 * works from a file, offline. The JSON is deflated, as text in base 64: a tenth of it, and no name can end a script. */
#include <string.h>

#include "base/packed.h"
#include "report/page.h"
#include "shardwright/report.h"

static const char kPlace[] = "@REPORT@";

void sw_report_html(const sw_report *r, sw_text *out) {
  const char *place = strstr(sw_report_page, kPlace);
  sw_text json = {0};
  sw_report_json(r, &json);
  sw_text_append(out, sw_report_page, (size_t)(place - sw_report_page));
  sw_put_deflated(sw_text_str(&json), json.n, out);
  sw_text_puts(out, place + sizeof kPlace - 1);
  if (json.rc) out->rc = json.rc;
  sw_text_free(&json);
}
