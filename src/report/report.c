#include "shardwright/report.h"

sw_rc sw_report_build(const sw_plan *plan, const sw_account *account, sw_arena *arena, sw_report *out, sw_diag *d) {
  sw_comparison *c;
  SW_ARENA_NEW(c, arena, SW_BASELINE_COUNT, d);
  for (int i = 0; i < SW_BASELINE_COUNT; i++) {
    sw_plan *p;
    sw_diag why = {0};
    SW_ARENA_NEW(p, arena, 1, d);
    c[i].name = sw_baseline_text((sw_baseline)i);
    sw_rc rc = sw_baseline_build(plan->graph, plan->machine, (sw_baseline)i, arena, p, &why);
    if (!rc) rc = sw_plan_account(p, arena, &c[i].account, &why);
    if (rc == SW_E_RESOURCE) return SW_FAIL(d, rc, SW_NOWHERE, "%s", why.text);
    c[i].made = rc == SW_OK;
    c[i].fits = c[i].made && c[i].account.peak_bytes <= plan->capacity_bytes;
  }
  *out = (sw_report){plan, account, SW_BASELINE_COUNT, c};
  return SW_OK;
}
