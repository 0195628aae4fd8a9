/* Every collective done wrong in turn. One device's run and what roundings do are found once; then it takes a run on
 * all devices for each fault.
 *
 * A fingerprint of every value on every device, of all trips of a loop, tells without doubt whether a fault changed
 * anything. What changes and is not noticed is noise when the blurred runs move all of the collective's result as far
 * as it is large:
 *
 *   all_reduce of the gradient of a bias that softmax ignores: its norm is 3e-9, and roundings move it by 4e-9
 */
#include "shardwright/audit.h"

#include <string.h>

#include "exec/validate/validator.h"
#include "shardwright/hash.h"

/* A value is noise when roundings move it by this part of its norm or more: no digit of it means anything. */
#define NOISE_PART 0.25
/* A run that has done this many times what it should have goes round a loop that a fault keeps from ending. */
enum { MOST_ROUNDS = 20, ROUNDS_AT_LEAST = 1000 };

static const char *const kVerdicts[SW_AUDIT_VERDICT_COUNT] = {"noticed", "same bits", "unread", "noise", "MISSED"};
const char *sw_audit_verdict_text(sw_audit_verdict v) { return kVerdicts[v]; }

static const char *const kFaults[SW_COLL_FAULT_COUNT] = {"left out", "shifted", "other reduction"};
const char *sw_coll_fault_text(sw_coll_fault f) { return kFaults[f]; }

/* What the devices of a run have made. Each writes its own part. */
typedef struct record {
  uint64_t *prints; /* device * n_values + value */
  int64_t *ops;     /* by device: results seen */
} record;

typedef struct auditor {
  sw_validator v;
  const sw_sharded *s;
  sw_arena *arena;  /* of what is handed out */
  sw_arena scratch; /* of one run */
  record right, now;
  bool limited; /* a run may do some times what the right one did */
  sw_audit *out;
} auditor;

static int64_t n_values(const auditor *a) { return a->s->program->n_values; }

static sw_rc make_record(const auditor *a, record *r, sw_diag *d) {
  SW_ARENA_NEW(r->prints, a->arena, a->v.devices * n_values(a), d);
  SW_ARENA_NEW(r->ops, a->arena, a->v.devices, d);
  return SW_OK;
}

static void clear_record(const auditor *a, record *r) {
  memset(r->prints, 0, (size_t)(a->v.devices * n_values(a)) * sizeof *r->prints);
  memset(r->ops, 0, (size_t)a->v.devices * sizeof *r->ops);
}

static sw_rc observe(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  auditor *a = user;
  int64_t *ops = &a->now.ops[device];
  ++*ops;
  if (a->limited && *ops > MOST_ROUNDS * a->right.ops[device] + ROUNDS_AT_LEAST) {
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "a loop does not end");
  }
  for (int i = 0; i < op->n_results; i++) {
    uint64_t *print = &a->now.prints[device * n_values(a) + op->results[i]];
    size_t bytes = (size_t)(sw_buffer_elements(results[i]) * sw_dtype_bytes(results[i]->dtype));
    *print = sw_hash_u64(sw_hash_quick(results[i]->data, bytes), *print + 1);
  }
  return SW_OK;
}

static bool differs(const auditor *a, sw_id value) {
  for (int64_t device = 0; device < a->v.devices; device++) {
    int64_t at = device * n_values(a) + value;
    if (a->now.prints[at] != a->right.prints[at]) return true;
  }
  return false;
}

static bool is_output(const sw_graph *g, sw_id value) {
  const sw_function *f = &g->functions[g->main];
  for (int32_t i = 0; i < f->n_outputs; i++) {
    if (f->outputs[i] == value) return true;
  }
  return false;
}

/* Is it a part of one of the model's values, or an output? Where nothing is known of values all count. */
static bool is_said(const auditor *a, sw_id value) {
  return !a->s->layout || a->s->layout[value].is_block || is_output(a->s->program, value);
}

/* Bits of nothing, of helpers only, or of values that mean something. */
static sw_audit_verdict changes(const auditor *a) {
  sw_audit_verdict found = SW_AUDIT_SAME_BITS;
  for (sw_id value = 0; value < n_values(a); value++) {
    if (!differs(a, value)) continue;
    if (is_said(a, value)) return SW_AUDIT_MISSED;
    found = SW_AUDIT_UNREAD;
  }
  return found;
}

static bool is_noise(const auditor *a, const sw_op *op, sw_audit_entry *e) {
  const sw_roundings *r = &a->v.roundings;
  sw_id source = a->s->layout ? a->s->layout[op->results[0]].source : -1;
  if (source < 0 || !r->norm || a->v.sharp.exact) return false;
  e->norm = r->norm[source];
  e->moved = r->spread[source];
  return e->norm > 0 && e->moved >= NOISE_PART * e->norm;
}

/* After a run that goes by as right. */
static void explain(const auditor *a, const sw_op *op, const sw_validation *v, sw_audit_entry *e) {
  e->verdict = changes(a);
  if (e->verdict != SW_AUDIT_MISSED) return;
  const sw_validate_entry *nearest = v->nearest.name ? &v->nearest : NULL;
  for (int32_t i = 0; i < v->n_outputs; i++) {
    if (!nearest || v->outputs[i].worst.most_used > nearest->worst.most_used) nearest = &v->outputs[i];
  }
  e->value = nearest ? nearest->name : NULL;
  e->used = nearest ? nearest->worst.most_used : 0;
  if (is_noise(a, op, e)) e->verdict = SW_AUDIT_NOISE;
}

/* What differs first, outputs where nothing in between is known. */
static const char *first_wrong(const sw_validation *v) {
  if (v->first_bad_op) return v->first_bad.name;
  for (int32_t i = 0; i < v->n_outputs; i++) {
    const sw_validate_entry *e = &v->outputs[i];
    if (e->worst.differing || e->norm_off > e->norm_allowed) return e->name;
  }
  return NULL;
}

static sw_rc run_once(auditor *a, sw_sabotage fault, sw_validation *v, sw_diag *d) {
  sw_judged_run how = {.sabotage = fault, .observe = observe, .observe_user = a, .quiet = true};
  clear_record(a, &a->now);
  return sw_validator_run(&a->v, &how, &a->scratch, v, d);
}

/* A run that fails is one that is noticed, if it is the fault that it fails of. */
static sw_rc try_fault(auditor *a, const sw_op *op, sw_audit_entry *e, sw_diag *d) {
  sw_validation v;
  sw_diag failure = {0};
  sw_rc rc = run_once(a, (sw_sabotage){op, e->fault}, &v, &failure);
  if (rc == SW_E_CANCELLED && d) *d = failure;
  if (rc == SW_E_CANCELLED) return rc;
  e->verdict = SW_AUDIT_NOTICED;
  if (!rc && !v.matches) e->value = first_wrong(&v);
  if (!rc && v.matches) explain(a, op, &v, e);
  a->out->count[e->verdict]++;
  if (rc) SW_TRY(run_once(a, (sw_sabotage){0}, &v, d));
  sw_arena_reset(&a->scratch);
  return SW_OK;
}

static bool applies(const sw_op *op, sw_coll_fault f) {
  return f != SW_COLL_FAULT_OTHER_REDUCTION || (sw_coll_flags(op->collective->op) & SW_COLL_USES_REDUCTION);
}

static sw_rc try_all(auditor *a, sw_diag *d) {
  sw_audit *out = a->out;
  sw_audit_entry *entries;
  SW_ARENA_NEW(entries, a->arena, (int64_t)out->n_collectives * SW_COLL_FAULT_COUNT, d);
  out->entries = entries;
  for (int32_t n = 1; n <= out->n_collectives; n++) {
    const sw_op *op = sw_nth_collective(a->s->program, n, NULL);
    char *name = sw_arena_printf(a->arena, d, "%s", op->name);
    if (!name) return SW_E_RESOURCE;
    for (int f = 0; f < SW_COLL_FAULT_COUNT; f++) {
      if (!applies(op, (sw_coll_fault)f)) continue;
      sw_audit_entry *e = &entries[out->n_entries++];
      *e = (sw_audit_entry){.collective = n, .name = name, .op = op->collective->op, .fault = (sw_coll_fault)f};
      SW_TRY(try_fault(a, op, e, d));
    }
  }
  return SW_OK;
}

/* The run without a fault, whose bits all others are compared with. */
static sw_rc run_right(auditor *a, sw_diag *d) {
  sw_judged_run how = {.observe = observe, .observe_user = a};
  SW_TRY(make_record(a, &a->right, d));
  SW_TRY(make_record(a, &a->now, d));
  SW_TRY(sw_validator_run(&a->v, &how, a->arena, &a->out->right, d));
  record r = a->now;
  a->now = a->right;
  a->right = r;
  a->out->n_collectives = a->out->right.collectives;
  a->limited = true;
  return SW_OK;
}

/* What the more blurred runs of a second look would excuse is excused here, too. */
static sw_rc audit(const sw_sharded *s, const sw_validate_options *o, sw_arena *arena, sw_audit *out, sw_diag *d) {
  sw_validate_options plain = {.seed = o->seed,
                               .random_floats = o->random_floats,
                               .intermediates = o->intermediates,
                               .timeout_s = o->timeout_s,
                               .inputs = o->inputs,
                               .jitter_seed = o->jitter_seed,
                               .cancel = o->cancel};
  bool chooses = o->intermediates && sw_graph_chooses(s->model);
  auditor a = {.s = s, .arena = arena, .out = out};
  sw_rc rc = sw_validator_open(&a.v, s, &plain, chooses ? SW_MORE_BLURRED_RUNS : SW_BLURRED_RUNS, arena, d);
  if (!rc) rc = run_right(&a, d);
  if (!rc && out->right.matches) rc = try_all(&a, d);
  sw_validator_close(&a.v);
  sw_arena_deinit(&a.scratch);
  return rc;
}

sw_rc sw_audit_plan(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_audit *out, sw_diag *d) {
  sw_spmd spmd;
  sw_sharded s;
  *out = (sw_audit){0};
  SW_TRY(sw_partition(plan, &spmd, d));
  sw_rc rc = sw_sharded_of_plan(plan, &spmd, arena, &s, d);
  if (!rc && o->against) rc = sw_sharded_against(&s, o->against, d);
  if (!rc) rc = audit(&s, o, arena, out, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

sw_rc sw_audit_local(const sw_local_program *p, const sw_graph *whole, const sw_validate_options *o, sw_arena *arena,
                     sw_audit *out, sw_diag *d) {
  sw_sharded s;
  *out = (sw_audit){0};
  SW_TRY(sw_sharded_of_local(p, whole, arena, &s, d));
  return audit(&s, o, arena, out, d);
}
