/* What `run` says, as JSON. */
#include "cli/run_report.h"
#include "io/json_write.h"

static void write_entry(sw_json_out *o, const char *key, const sw_validate_entry *e) {
  sw_jw_object(o, key);
  sw_jw_string(o, "name", e->name);
  sw_jw_bool(o, "exact", e->exact);
  sw_jw_i64(o, "elements", e->worst.compared);
  sw_jw_i64(o, "differing", e->worst.differing);
  sw_jw_f64(o, "off", e->worst.most_off);
  sw_jw_f64(o, "part_of_allowed", e->worst.most_used);
  sw_jw_f64(o, "allowed_relative", e->tolerance.relative);
  sw_jw_f64(o, "allowed_absolute", e->tolerance.absolute);
  if (e->norm_allowed > 0) {
    sw_jw_f64(o, "norm_off", e->norm_off);
    sw_jw_f64(o, "norm_allowed", e->norm_allowed);
  }
  sw_jw_i64(o, "not_finite", e->not_finite);
  if (e->worst.differing) {
    sw_jw_i64(o, "device", e->device);
    sw_jw_i64_list(o, "worst_at", e->worst.worst, e->rank);
    sw_jw_f64(o, "worst_got", e->worst.worst_got);
    sw_jw_f64(o, "worst_expected", e->worst.worst_want);
  }
  sw_jw_end(o);
}

static void write_overflow(sw_json_out *o, const sw_validate_overflow *x) {
  sw_jw_object(o, "overflow");
  sw_jw_string(o, "value", x->value);
  sw_jw_string(o, "dtype", sw_dtype_text(x->dtype));
  if (x->device < 0) sw_jw_null(o, "device");
  if (x->device >= 0) sw_jw_i64(o, "device", x->device);
  sw_jw_end(o);
}

static void write_made(sw_json_out *o, const sw_graph *g) {
  sw_jw_array(o, "made");
  for (int32_t i = 0; i < g->n_outputs; i++) {
    sw_text type = {0};
    sw_type_print(&g->values[g->outputs[i]].type, &type);
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", g->output_names[i]);
    sw_jw_text(o, "type", &type);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void write_collectives(sw_json_out *o, const sw_comm_stats *s) {
  sw_jw_array(o, "collectives");
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    if (!s->calls[i]) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "op", sw_coll_text((sw_coll_op)i));
    sw_jw_i64(o, "calls", s->calls[i]);
    sw_jw_i64(o, "bytes_received", s->bytes_received[i]);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void write_fault(sw_json_out *o, const sw_audit_entry *e) {
  sw_jw_object_row(o, NULL);
  if (e->collective) sw_jw_i64(o, "collective", e->collective);
  sw_jw_string(o, "name", e->name);
  if (e->collective) sw_jw_string(o, "op", sw_coll_text(e->op));
  sw_jw_string(o, "fault", sw_coll_fault_text(e->fault));
  sw_jw_string(o, "verdict", sw_audit_verdict_text(e->verdict));
  if (e->value) sw_jw_string(o, "value", e->value);
  if (e->verdict == SW_AUDIT_NO_EFFECT) sw_jw_string(o, "reason", sw_no_effect_text(e->why));
  if (e->verdict == SW_AUDIT_UNDECIDED) sw_jw_string(o, "reason", e->value ? "rounding" : "not_reached");
  if (e->verdict == SW_AUDIT_UNDECIDED && e->value) sw_jw_f64(o, "part_of_allowed", e->used);
  sw_jw_end(o);
}

static void write_audit(sw_json_out *o, const sw_audit *a) {
  sw_jw_object(o, "audit");
  sw_jw_i64(o, "collectives", a->n_collectives);
  if (a->n_copies) sw_jw_i64(o, "made_again", a->n_copies);
  sw_jw_i64(o, "faults", a->n_entries);
  for (int v = 0; v < SW_AUDIT_VERDICT_COUNT; v++) {
    sw_jw_i64(o, sw_audit_verdict_text((sw_audit_verdict)v), a->count[v]);
  }
  sw_jw_array(o, "list");
  for (int32_t i = 0; i < a->n_entries; i++) write_fault(o, &a->entries[i]);
  sw_jw_end(o);
  sw_jw_end(o);
}

static void write_times(sw_json_out *o, const sw_run_said *s) {
  sw_jw_object(o, "seconds");
  sw_jw_f64(o, "one_device", s->v->single_s);
  sw_jw_f64(o, "all_devices", s->v->parallel_s);
  if (s->plan) {
    sw_jw_string(o, "profile", sw_profile_name(sw_machine_profile(s->plan->job.machine)));
    sw_jw_string(o, "compiler", sw_compiled_as(&s->plan->job));
    sw_jw_f64(o, "predicted", s->predicted_s);
  }
  if (s->v->delayed_times > 0) {
    sw_jw_f64(o, "timeline", s->v->delayed_step_s);
    sw_jw_f64(o, "times_as_long", s->v->delayed_times);
  }
  sw_jw_end(o);
}

void sw_report_run_json(const sw_run_said *s, sw_text *out) {
  const sw_validation *v = s->v;
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "run", 1);
  sw_jw_string(&o, "model", s->model);
  sw_jw_i64(&o, "devices", s->devices);
  sw_jw_bool(&o, "matches", v->matches);
  if (v->overflow.value) write_overflow(&o, &v->overflow);
  sw_jw_array(&o, "outputs");
  for (int32_t i = 0; i < v->n_outputs; i++) write_entry(&o, NULL, &v->outputs[i]);
  sw_jw_end(&o);
  sw_jw_i64(&o, "blocks_compared", v->values_compared);
  if (v->nearest.name) write_entry(&o, "nearest_to_what_is_allowed", &v->nearest);
  if (v->first_bad_op) {
    sw_jw_string(&o, "first_op_that_differs", v->first_bad_op);
    write_entry(&o, "first_value_that_differs", &v->first_bad);
  }
  write_collectives(&o, &v->comm);
  write_times(&o, s);
  if (s->audit) write_audit(&o, s->audit);
  sw_jw_end(&o);
}

void sw_report_unjudged_json(const sw_run_unjudged *s, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "run", 1);
  sw_jw_string(&o, "model", s->graph->name);
  sw_jw_i64(&o, "devices", s->devices);
  write_made(&o, s->graph);
  if (s->comm) sw_jw_i64(&o, "elements_that_differ_between_devices", s->torn);
  if (s->comm) write_collectives(&o, s->comm);
  sw_jw_object(&o, "seconds");
  sw_jw_f64(&o, s->comm ? "all_devices" : "one_device", s->seconds);
  sw_jw_end(&o);
  sw_jw_end(&o);
}
