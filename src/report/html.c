/* The report as one page: page.html with the JSON report inside, which its script draws. Nothing is fetched, so the
 * page works from a file, offline. */
#include <string.h>

#include "report/page.h"
#include "shardwright/report.h"

static const char kPlace[] = "@REPORT@";

/* A name may hold "</script>" or "<!--": no "<" of the JSON, where it stands in strings alone, is left as it is. */
static void put_json(const sw_text *json, sw_text *out) {
  const char *at = sw_text_str(json);
  for (const char *next = strchr(at, '<'); next; next = strchr(at, '<')) {
    sw_text_append(out, at, (size_t)(next - at));
    sw_text_puts(out, "\\u003c");
    at = next + 1;
  }
  sw_text_puts(out, at);
}

void sw_report_html(const sw_report *r, sw_text *out) {
  const char *place = strstr(sw_report_page, kPlace);
  sw_text json = {0};
  sw_report_json(r, &json);
  sw_text_append(out, sw_report_page, (size_t)(place - sw_report_page));
  put_json(&json, out);
  sw_text_puts(out, place + sizeof kPlace - 1);
  if (json.rc) out->rc = json.rc;
  sw_text_free(&json);
}
