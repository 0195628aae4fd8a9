/* Running passes: which there are, in which order, and that none makes a program dearer. */
#include "spmd/passes/spmd_passes.h"

#include <string.h>

#include "shardwright/log.h"

/* Values are first made fewer, then moved to where they are small, then reduced once and late; calls are put together
 * when nothing changes any more what they are. */
static const sw_pass *const kPasses[] = {
    &sw_pass_share, &sw_pass_drop,        &sw_pass_gather_up, &sw_pass_gather_down, &sw_pass_slice_up, &sw_pass_cancel,
    &sw_pass_fold,  &sw_pass_reassociate, &sw_pass_scatter,   &sw_pass_hoist,       &sw_pass_combine,
};
enum { N_PASSES = sizeof kPasses / sizeof kPasses[0], MOST_ROUNDS = 4 };
_Static_assert((int)N_PASSES <= (int)SW_MOST_PASSES, "a list has room for all of them");

int sw_pass_count(void) { return N_PASSES; }
const char *sw_pass_name(int pass) { return kPasses[pass]->name; }

/* --- the list ----------------------------------------------------------------------------------------------------- */

static sw_rc add_pass(int pass, sw_passes *out, sw_diag *d) {
  if (out->n == SW_MOST_PASSES) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "more than %d passes; expected fewer", SW_MOST_PASSES);
  }
  out->at[out->n++] = (uint8_t)pass;
  return SW_OK;
}

static sw_rc add_named(const char *name, size_t n, sw_passes *out, sw_diag *d) {
  const bool all = n == strlen("all") && memcmp(name, "all", n) == 0;
  bool found = all;
  for (int i = 0; i < N_PASSES; i++) {
    const bool named = strlen(kPasses[i]->name) == n && memcmp(kPasses[i]->name, name, n) == 0;
    if (named || all) SW_TRY(add_pass(i, out, d));
    found = found || named;
  }
  if (found) return SW_OK;
  sw_text names = {0};
  for (int i = 0; i < N_PASSES; i++) sw_text_printf(&names, "%s%s", i ? ", " : "", kPasses[i]->name);
  sw_rc rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "there is no pass '%.*s'; expected all, or some of %s", (int)n, name,
                     sw_text_str(&names));
  sw_text_free(&names);
  return rc;
}

sw_rc sw_passes_parse(const char *text, sw_passes *out, sw_diag *d) {
  *out = (sw_passes){.again = strcmp(text, "all") == 0};
  for (const char *p = text;; p++) {
    const size_t n = strcspn(p, ",");
    SW_TRY(add_named(p, n, out, d));
    p += n;
    if (!*p) return SW_OK;
  }
}

/* --- one pass ----------------------------------------------------------------------------------------------------- */

static sw_rc start_pass(sw_rewrite *r, const sw_pass *pass, sw_diag *d) {
  if (pass->visit_same) return sw_rewrite_walk_same(r, pass->visit_same, d);
  return pass->visit ? sw_rewrite_walk(r, pass->visit, NULL, d) : pass->run(r, d);
}

/* Runs the pass; *out is the new program when it changed something (*rewrites > 0). */
static sw_rc rewrite(const sw_pass *pass, const sw_spmd *s, const sw_machine *machine, const sw_passes *how,
                     sw_spmd *out, int32_t *rewrites, sw_diag *d) {
  sw_rewrite r = {.machine = machine, .how = how, .pass = pass->name};
  sw_rc rc = sw_rewrite_begin(&r, s, d);
  if (!rc) rc = start_pass(&r, pass, d);
  *rewrites = r.rewrites;
  if (!rc && r.rewrites) rc = sw_rewrite_end(&r, out, d);
  sw_rewrite_deinit(&r);
  return rc;
}

/* Is the new program worth having? A rewrite that only prepares for another may have led to nothing; and what ops do
 * not see one by one is memory. */
static const char *reason_to_leave(const sw_machine *machine, const sw_spmd_cost *before, const sw_spmd_cost *after) {
  const int64_t room = sw_profile_memory_bytes(sw_machine_profile(machine));
  const double was = before->comm_s + before->local_s, is = after->comm_s + after->local_s, margin = was * 1e-9;
  const bool fewer =
      sw_spmd_cost_calls(after) < sw_spmd_cost_calls(before) || after->received_bytes < before->received_bytes;
  if (is > was + margin) return "dearer";
  if (is > was - margin && !fewer) return "no cheaper";
  return after->peak_bytes > room && after->peak_bytes > before->peak_bytes ? "does not fit into memory" : NULL;
}

/* `asked`: worth it or not. */
static sw_rc judge_pass(sw_spmd *next, const sw_machine *machine, bool asked, sw_pass_report *report, sw_diag *d) {
  SW_TRY(sw_spmd_verify(next, d));
  SW_TRY(sw_spmd_price(next, machine, &report->after, d));
  if (!asked) report->leave = reason_to_leave(machine, &report->before, &report->after);
  return SW_OK;
}

/* Once; *changed: the program is another one now. */
static sw_rc run_once(sw_spmd *s, const sw_machine *machine, const sw_passes *how, sw_pass_report *report,
                      bool *changed, sw_diag *d) {
  const sw_pass *pass = kPasses[report->pass];
  sw_spmd next = {0};
  int32_t rewrites;
  *changed = false;
  SW_TRY_NOTE(d, rewrite(pass, s, machine, how, &next, &rewrites, d), "in the pass '%s'", pass->name);
  if (!rewrites) return SW_OK;
  sw_pass_report now = {.pass = report->pass, .before = report->after};
  sw_rc rc = judge_pass(&next, machine, pass == &sw_pass_combine && how->combine_in_place, &now, d);
  if (rc) sw_diag_note(d, "after the pass '%s'", pass->name);
  if (rc || now.leave) {
    sw_spmd_deinit(&next);
    report->leave = now.leave;
    return rc;
  }
  sw_spmd_deinit(s);
  *s = next;
  report->rewrites += rewrites;
  report->after = now.after;
  *changed = true;
  return SW_OK;
}

static sw_rc run_pass(sw_spmd *s, const sw_machine *machine, const sw_passes *how, sw_pass_report *report, sw_diag *d) {
  const sw_pass *pass = kPasses[report->pass];
  bool changed = true;
  report->after = report->before;
  if (pass->local_only && s->whole_tensors) {
    report->leave = "not on whole tensors";
    return SW_OK;
  }
  for (int i = 0; changed && i < (pass->repeats ? 64 : 1); i++) {
    SW_TRY(run_once(s, machine, how, report, &changed, d));
  }
  return SW_OK;
}

sw_rc sw_spmd_run_passes(sw_spmd *s, const sw_machine *machine, const sw_passes *passes, sw_pass_report *reports,
                         int *n, sw_diag *d) {
  sw_pass_report report = {0};
  bool changed = true;
  if (n) *n = 0;
  SW_TRY(sw_spmd_price(s, machine, &report.after, d));
  for (int round = 0; changed && round < (passes->again ? MOST_ROUNDS : 1); round++) {
    changed = false;
    for (int i = 0; i < passes->n; i++) {
      report = (sw_pass_report){.pass = passes->at[i], .before = report.after};
      SW_TRY(run_pass(s, machine, passes, &report, d));
      changed = changed || report.rewrites > 0;
      const bool told = round == 0 || report.rewrites > 0; /* later rounds only where they do something */
      if (reports && n && told) reports[(*n)++] = report;
      if (report.leave) sw_log(SW_LOG_INFO, "pass %s changes nothing: %s", kPasses[passes->at[i]]->name, report.leave);
    }
  }
  return SW_OK;
}
