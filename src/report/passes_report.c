#include "report/passes_report.h"

#include "base/columns.h"
#include "report/places.h"
#include "io/json_write.h"

static double seconds(const sw_spmd_cost *c) { return c->comm_s + c->local_s; }

static void add_pass_row(sw_columns *c, const char *name, int32_t rewrites, const sw_spmd_cost *before,
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
    add_pass_row(&c, sw_pass_name(r->pass), r->rewrites, &r->before, &r->after);
    all += r->rewrites;
  }
  if (n > 1) add_pass_row(&c, "together", all, &reports[0].before, &reports[n - 1].after);
  sw_columns_print(&c, 2, out);
  for (int i = 0; i < n; i++) {
    if (reports[i].leave) {
      sw_text_printf(out, "  %s changes nothing: %s\n", sw_pass_name(reports[i].pass), reports[i].leave);
    }
  }
}

static void put_cost(sw_json_out *o, const char *key, const sw_spmd_cost *c) {
  sw_jw_object_row(o, key);
  sw_jw_i64(o, "calls", sw_spmd_cost_calls(c));
  sw_jw_f64(o, "received_bytes", c->received_bytes);
  sw_jw_f64(o, "comm_s", c->comm_s);
  sw_jw_f64(o, "local_s", c->local_s);
  sw_jw_i64(o, "peak_bytes", c->peak_bytes);
  sw_jw_end(o);
}

static void put_pass(sw_json_out *o, const sw_pass_report *r) {
  sw_jw_object(o, NULL);
  sw_jw_string(o, "pass", sw_pass_name(r->pass));
  sw_jw_i64(o, "rewrites", r->rewrites);
  if (r->leave) sw_jw_string(o, "leave", r->leave);
  put_cost(o, "before", &r->before);
  put_cost(o, "after", &r->after);
  sw_jw_end(o);
}

/* Of those ops that are there for one of the model of which it says where it comes from. */
static void put_places(sw_json_out *o, const sw_spmd *s) {
  sw_places places = {0};
  sw_jw_array(o, "places");
  for (sw_id i = 0; i < s->program->n_ops; i++) {
    const sw_op *op = s->origin[i].op >= 0 ? &s->model->ops[s->origin[i].op] : NULL;
    if (!op || (op->location.at.line <= 0 && !op->location.scope)) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "op", s->program->ops[i].name);
    sw_places_of_op(&places, op, o);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_places_end(&places, o);
}

void sw_program_json(const sw_spmd *s, const sw_spmd_cost *cost, const sw_pass_report *reports, int n, sw_text *out) {
  sw_json_out o;
  sw_text lines = {0};
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "partition", 1);
  sw_jw_string(&o, "program", s->program->name);
  sw_jw_mesh(&o, "mesh", s->mesh);
  sw_jw_bool(&o, "args_whole", s->args_whole);
  put_cost(&o, "cost", cost);
  sw_jw_array(&o, "passes");
  for (int i = 0; i < n; i++) put_pass(&o, &reports[i]);
  sw_jw_end(&o);
  sw_spmd_collectives(s, &lines);
  sw_jw_lines(&o, "collectives", sw_text_str(&lines));
  lines.n = 0;
  sw_spmd_print(s, &lines);
  sw_jw_lines(&o, "statements", sw_text_str(&lines));
  put_places(&o, s);
  sw_jw_end(&o);
  if (lines.rc) out->rc = lines.rc;
  sw_text_free(&lines);
}
