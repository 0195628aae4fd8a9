/* What a validating run says of outputs, of collectives, and of what an audit of it noticed. */
#include "cli/run_report.h"

#include <math.h>
#include <string.h>

/* What was measured, and what was allowed. */
static void print_measured(const sw_validate_entry *e, sw_text *out) {
  const sw_tolerance *t = &e->tolerance;
  if (e->exact || (t->relative <= 0 && t->absolute <= 0)) {
    sw_text_puts(out, "bit for bit");
    return;
  }
  sw_text_printf(out, "off by %.2g, %.2g %% of what is allowed (%.2g relative + %.2g absolute)", e->worst.most_off,
                 100 * e->worst.most_used, t->relative, t->absolute);
}

static void print_entry(const sw_validate_entry *e, sw_text *out) {
  sw_text_printf(out, "  %-24s ", e->name);
  print_measured(e, out);
  bool loose = e->tolerance.relative >= 0.0625, far = e->norm_off > e->norm_allowed;
  if (e->norm_allowed > 0 && (loose || far))
    sw_text_printf(out, ", norm off by %.2g of %.2g allowed", e->norm_off, e->norm_allowed);
  if (e->not_finite) sw_text_printf(out, ", %lld elements not finite", (long long)e->not_finite);
  if (far) sw_text_printf(out, ": DIFFERS on device %lld", (long long)e->norm_device);
  if (e->worst.differing) {
    sw_text_printf(out, ": DIFFERS on device %lld: ", (long long)e->device);
    sw_difference_print(&e->worst, e->rank, out);
  }
  sw_text_puts(out, "\n");
}

void sw_report_collectives(const sw_comm_stats *s, sw_text *out) {
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    if (!s->calls[i]) continue;
    sw_text_printf(out, "  %-16s %6lld calls on all devices, ", sw_coll_text((sw_coll_op)i), (long long)s->calls[i]);
    sw_text_bytes(out, (double)s->bytes_received[i]);
    sw_text_puts(out, " received\n");
  }
}

void sw_report_overflow(const sw_validate_overflow *o, sw_text *out) {
  if (o->device < 0) {
    sw_text_printf(out,
                   "'%s' leaves the range of %s on one device, and other numbers come of another order of summation",
                   o->value, sw_dtype_text(o->dtype));
    return;
  }
  sw_text_printf(out, "partial results of '%s' leave the range of %s on device %lld, and one device's do not", o->value,
                 sw_dtype_text(o->dtype), (long long)o->device);
}

/* The one of them that uses most of what it is allowed, where anything is. */
static void print_intermediates(const sw_validation *v, sw_text *out) {
  sw_text_printf(out, "  %lld blocks of intermediate values compared", (long long)v->values_compared);
  if (v->nearest.worst.most_used > 0 && !v->first_bad_op) {
    sw_text_printf(out, ", off by %.2g %% of what is allowed at most ('%s')", 100 * v->nearest.worst.most_used,
                   v->nearest.name);
  }
  sw_text_puts(out, "\n");
}

static void print_run_times(const sw_run_said *s, sw_text *out) {
  sw_text_puts(out, "time: one device ");
  sw_text_seconds(out, s->v->single_s);
  sw_text_puts(out, ", all devices ");
  sw_text_seconds(out, s->v->parallel_s);
  if (s->plan) {
    sw_text_printf(out, "; predicted under '%s' (", sw_profile_name(sw_machine_profile(s->plan->job.machine)));
    sw_compiled_print(&s->plan->job, out);
    sw_text_puts(out, ") ");
    sw_text_seconds(out, s->predicted_s);
  }
  sw_text_puts(out, "\n");
}

static void print_delays(const sw_validation *v, sw_text *out) {
  const double off = v->parallel_s / v->delayed_step_s - 1;
  sw_text_puts(out, "delays: the step takes ");
  sw_text_seconds(out, v->parallel_s);
  sw_text_printf(out, ", %.1f %% %s than its timeline, in which all takes %.3g times as long\n", 100 * fabs(off),
                 off < 0 ? "less" : "more", v->delayed_times);
}

/* --- the audit ---------------------------------------------------------------------------------------------------- */

static const char *in_short(sw_audit_verdict v) {
  static const char *const kShort[SW_AUDIT_VERDICT_COUNT] = {"noticed", "no effect", "undecided", "MISSED"};
  return kShort[v];
}

/* Why a fault was not noticed. */
static void print_reason(const sw_audit_entry *e, sw_text *out) {
  if (e->verdict == SW_AUDIT_NO_EFFECT) {
    sw_text_puts(out, sw_no_effect_words(e->why));
  } else if (e->verdict == SW_AUDIT_MISSED) {
    sw_text_printf(out, "'%s' changes, which is compared bit for bit", e->value);
  } else if (e->value) {
    sw_text_printf(out, "'%s' changes within rounding: %.2g %% of what is allowed at most", e->value, 100 * e->used);
  } else {
    sw_text_puts(out, "not reached: with these arguments nothing that is compared changes");
  }
}

static void print_audit_rows(const sw_audit *a, int32_t first, int32_t end, sw_text *out) {
  const sw_audit_entry *e = &a->entries[first];
  size_t at = out->n;
  if (e->collective)
    sw_text_printf(out, "  %4d %s", e->collective, sw_coll_text(e->op));
  else
    sw_text_puts(out, "       made again");
  sw_text_pad(out, at, 24);
  sw_text_printf(out, " %s", e->name);
  sw_text_pad(out, at, 56);
  for (int32_t i = first; i < end; i++) {
    size_t start = out->n;
    sw_text_printf(out, " %s %s", sw_coll_fault_text(a->entries[i].fault), in_short(a->entries[i].verdict));
    if (i + 1 < end) sw_text_pad(out, start, 20);
  }
  sw_text_puts(out, "\n");
  for (int32_t i = first; i < end; i++) {
    if (a->entries[i].verdict == SW_AUDIT_NOTICED) continue;
    sw_text_printf(out, "         %s: ", sw_coll_fault_text(a->entries[i].fault));
    print_reason(&a->entries[i], out);
    sw_text_puts(out, "\n");
  }
}

static bool same_audited(const sw_audit_entry *a, const sw_audit_entry *b) {
  return a->collective == b->collective && (a->collective || strcmp(a->name, b->name) == 0);
}

static void print_audit(const sw_audit *a, sw_text *out) {
  sw_text_printf(out, "audit: %d collectives, ", a->n_collectives);
  if (a->n_copies) sw_text_printf(out, "%d ops made again, ", a->n_copies);
  sw_text_printf(out, "%d faults: %d noticed, %d without effect, %d undecided, %d missed\n", a->n_entries,
                 a->count[SW_AUDIT_NOTICED], a->count[SW_AUDIT_NO_EFFECT], a->count[SW_AUDIT_UNDECIDED],
                 a->count[SW_AUDIT_MISSED]);
  for (int32_t i = 0, end; i < a->n_entries; i = end) {
    for (end = i + 1; end < a->n_entries && same_audited(&a->entries[end], &a->entries[i]);) end++;
    print_audit_rows(a, i, end, out);
  }
}

void sw_report_run(const sw_run_said *s, sw_text *out) {
  const sw_validation *v = s->v;
  const char *verdict = v->matches ? "matches" : v->overflow.value ? "OVERFLOWS unlike" : "DIFFERS from";
  sw_text_printf(out, "%s on %lld devices: %s %s\n", s->model, (long long)s->devices, verdict,
                 s->of_whole ? "one device" : "the whole program");
  if (v->overflow.value) {
    sw_text_puts(out, "overflow: ");
    sw_report_overflow(&v->overflow, out);
    sw_text_puts(out, "\n");
  }
  for (int32_t i = 0; i < v->n_outputs; i++) print_entry(&v->outputs[i], out);
  if (v->values_compared) print_intermediates(v, out);
  if (v->first_bad_op) {
    sw_text_printf(out, "first op that differs: %s\n", v->first_bad_op);
    print_entry(&v->first_bad, out);
  }
  sw_report_collectives(&v->comm, out);
  if (s->audit && v->matches) print_audit(s->audit, out);
  print_run_times(s, out);
  if (v->delayed_times > 0) print_delays(v, out);
}

/* --- traces ------------------------------------------------------------------------------------------------------- */

sw_rc sw_run_trace_open(const char *path, bool mpi, int64_t devices, const char *const *streams, sw_trace **out,
                        sw_diag *d) {
  *out = NULL;
  if (!path) return SW_OK;
  if (mpi) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--trace needs all devices in one process: --comm threads");
  return sw_trace_create(devices, streams, out, d);
}

sw_rc sw_run_trace_close(sw_trace *trace, const char *path, sw_rc rc, sw_diag *d) {
  sw_rc written = trace ? sw_trace_write(trace, path, rc ? NULL : d) : SW_OK;
  sw_trace_destroy(trace);
  return rc ? rc : written;
}
