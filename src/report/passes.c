#include "report/passes.h"

#include "base/columns.h"

static double seconds(const sw_spmd_cost *c) { return c->comm_s + c->local_s; }

static void add_row(sw_columns *c, const char *name, int32_t rewrites, const sw_spmd_cost *before,
                    const sw_spmd_cost *after) {
  const sw_spmd_cost *side[2] = {before, after};
  sw_columns_add(c, "%s", name);
  sw_columns_add(c, "%d", rewrites);
  for (int i = 0; i < 2; i++) sw_columns_add(c, "%lld", (long long)sw_spmd_cost_calls(side[i]));
  for (int i = 0; i < 2; i++) sw_columns_add_bytes(c, side[i]->received_bytes);
  for (int i = 0; i < 2; i++) sw_columns_add_seconds(c, seconds(side[i]));
}

void sw_pass_table_print(const char *program, const sw_pass_report *reports, int n, sw_text *out) {
  static const char *const kHead[] = {"pass", "rewrites", "calls", "after", "received", "after", "time", "after"};
  sw_columns c = {.n = 8, .right = {false, true, true, true, true, true, true, true}};
  int32_t all = 0;
  sw_text_printf(out, "%s: collectives that communicate, bytes that one device receives, predicted time\n", program);
  for (int i = 0; i < c.n; i++) sw_columns_add(&c, "%s", kHead[i]);
  for (int i = 0; i < n; i++) {
    const sw_pass_report *r = &reports[i];
    add_row(&c, sw_pass_name(r->pass), r->rewrites, &r->before, &r->after);
    all += r->rewrites;
  }
  if (n > 1) add_row(&c, "together", all, &reports[0].before, &reports[n - 1].after);
  sw_columns_print(&c, 2, out);
  for (int i = 0; i < n; i++) {
    if (reports[i].leave) {
      sw_text_printf(out, "  %s changes nothing: %s\n", sw_pass_name(reports[i].pass), reports[i].leave);
    }
  }
}

static void put_cost(const char *key, const sw_spmd_cost *c, sw_text *out) {
  sw_text_printf(out,
                 "\"%s\": {\"calls\": %lld, \"received_bytes\": %.17g, \"comm_s\": %.9g, \"local_s\": %.9g, "
                 "\"peak_bytes\": %lld}",
                 key, (long long)sw_spmd_cost_calls(c), c->received_bytes, c->comm_s, c->local_s,
                 (long long)c->peak_bytes);
}

void sw_pass_table_json(const char *program, const sw_pass_report *reports, int n, sw_text *out) {
  sw_text_printf(out, "{\"program\": \"%s\", \"passes\": [", program);
  for (int i = 0; i < n; i++) {
    const sw_pass_report *r = &reports[i];
    sw_text_printf(out, "%s{\"pass\": \"%s\", \"rewrites\": %d, ", i ? ", " : "", sw_pass_name(r->pass), r->rewrites);
    if (r->leave) sw_text_printf(out, "\"leave\": \"%s\", ", r->leave);
    put_cost("before", &r->before, out);
    sw_text_puts(out, ", ");
    put_cost("after", &r->after, out);
    sw_text_puts(out, "}");
  }
  sw_text_puts(out, "]}\n");
}
