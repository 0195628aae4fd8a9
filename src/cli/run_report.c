/* What a validating run says of each output and of the collectives. */
#include "cli/run_report.h"

#include "shardwright/status.h"

void sw_report_entry(const sw_validate_entry *e, sw_text *out) {
  sw_text_printf(out, "  %-24s ", e->name);
  if (e->exact) sw_text_puts(out, "bit for bit");
  if (!e->exact)
    sw_text_printf(out, "within %.2g relative, %.2g absolute", e->tolerance.relative, e->tolerance.absolute);
  bool loose = e->tolerance.relative >= 0.0625, far = e->norm_off > e->norm_allowed;
  if (e->norm_allowed > 0 && (loose || far))
    sw_text_printf(out, ", norm off by %.2g of %.2g", e->norm_off, e->norm_allowed);
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

sw_rc sw_run_trace_open(const char *path, bool mpi, int64_t devices, sw_trace **out, sw_diag *d) {
  *out = NULL;
  if (!path) return SW_OK;
  if (mpi) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--trace needs all devices in one process: --comm threads");
  return sw_trace_create(devices, out, d);
}

sw_rc sw_run_trace_close(sw_trace *trace, const char *path, sw_rc rc, sw_diag *d) {
  sw_rc written = trace ? sw_trace_write(trace, path, rc ? NULL : d) : SW_OK;
  sw_trace_destroy(trace);
  return rc ? rc : written;
}
