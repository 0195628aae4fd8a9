/* Every collective done wrong in turn. One device's run and what roundings do are found once; then it takes a run on
 * all devices for each fault.
 *
 * A fingerprint of every value on every device, of all trips of a loop, tells without doubt whether a fault changed
 * anything. What changes and is not noticed is within rounding: the gradient of a bias that softmax ignores has a norm
 * of 3e-9, and roundings move it by 4e-9.
 */
#include "exec/audit.h"

#include <math.h>
#include <string.h>

#include "exec/validate/no_effect.h"
#include "exec/validate/validator.h"
#include "base/hash.h"

/* A run that has done this many times what it should have goes round a loop that a fault keeps from ending. */
enum { MOST_ROUNDS = 20, ROUNDS_AT_LEAST = 1000 };

static const char *const kVerdicts[SW_AUDIT_VERDICT_COUNT] = {"noticed", "no_effect", "undecided", "missed"};
const char *sw_audit_verdict_text(sw_audit_verdict v) { return kVerdicts[v]; }

static const char *const kFaults[SW_COLL_FAULT_COUNT] = {"left out", "shifted", "other reduction", "other value",
                                                         "stale source"};
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
  sw_no_effects known; /* what the program says */
  bool limited;        /* a run may do some times what the right one did */
  const bool *is_copy; /* by op of the program: of what is made again; NULL: none is */
  sw_tensor *updated;  /* device * n_args + argument: what its update leaves; no data: it has none */
  sw_audit *out;
  sw_audit_entry *entries;
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

/* A chunk of elements as they are, but 0 for -0, which equals it. (Where -0 would be there is NaN in types without
 * it.) */
static void take_chunk(const sw_buffer *b, int64_t first, int64_t n, unsigned char *out) {
  const size_t bytes = (size_t)sw_dtype_bytes(b->dtype);
  memcpy(out, (const char *)b->data + (size_t)first * bytes, (size_t)n * bytes);
  char cell[16];
  sw_element_store(b->dtype, -0.0, cell);
  if (sw_dtype_class_of(b->dtype) != SW_CLASS_FLOAT || !signbit(sw_element_load(b->dtype, cell))) return;
  for (int64_t i = 0; i < n; i++) {
    if (memcmp(out + (size_t)i * bytes, cell, bytes) == 0) memset(out + (size_t)i * bytes, 0, bytes);
  }
}

static uint64_t print_of(const sw_buffer *b, uint64_t before) {
  enum { CHUNK = 512 };
  unsigned char chunk[16 * CHUNK];
  uint64_t print = before + 1;
  for (int64_t i = 0, all = sw_buffer_elements(b); i < all; i += CHUNK) {
    int64_t n = all - i < CHUNK ? all - i : CHUNK;
    take_chunk(b, i, n, chunk);
    print = sw_hash_u64(sw_hash_quick(chunk, (size_t)(n * sw_dtype_bytes(b->dtype))), print);
  }
  return print;
}

/* Of the right run, the next versions of arguments. */
static sw_rc keep_updates(auditor *a, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  const sw_graph *g = a->s->program, *model = a->s->model;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_id state = model->alias[i];
    for (int k = 0; k < op->n_results && state >= 0; k++) {
      if (op->results[k] != g->outputs[i]) continue;
      sw_tensor *kept = &a->updated[device * g->n_args + model->values[state].def_index];
      sw_tensor_deinit(kept);
      SW_TRY(sw_tensor_copy(kept, results[k], d));
    }
  }
  return SW_OK;
}

static sw_rc observe_audited(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  auditor *a = user;
  int64_t *ops = &a->now.ops[device];
  ++*ops;
  if (a->limited && *ops > MOST_ROUNDS * a->right.ops[device] + ROUNDS_AT_LEAST) {
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "a loop does not end");
  }
  if (!a->limited && a->is_copy) SW_TRY(keep_updates(a, device, op, results, d));
  for (int i = 0; i < op->n_results; i++) {
    uint64_t *print = &a->now.prints[device * n_values(a) + op->results[i]];
    *print = print_of(results[i], *print);
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

/* Is the value compared, every element bit for bit? */
static bool is_compared_exactly(const auditor *a, sw_id value) {
  const sw_layout *l = a->s->layout ? &a->s->layout[value] : NULL;
  if (!sw_is_compared(a->s, a->v.o->intermediates, value) || !l || l->source < 0) return false;
  return !l->sharding.n_partial && !l->sharding.halos && sw_single_is_exact(&a->v.sharp, l->source) &&
         !sw_roundings_turned(&a->v.roundings, l->source);
}

static const char *audited_name(const auditor *a, sw_id value) {
  sw_id source = a->s->layout ? a->s->layout[value].source : -1;
  return source >= 0 ? a->s->model->values[source].name : a->s->program->values[value].name;
}

/* After a run that goes by as right. A value that is not compared may change without being wrong. */
static void explain_passed(const auditor *a, const sw_op *op, const sw_validation *v, sw_audit_entry *e) {
  bool exact = false;
  for (sw_id i = 0; i < n_values(a) && !exact; i++) {
    if (!differs(a, i) || !sw_is_compared(a->s, a->v.o->intermediates, i)) continue;
    exact = is_compared_exactly(a, i);
    if (!e->value || exact) e->value = audited_name(a, i);
  }
  e->why = e->value ? SW_NO_EFFECT_NONE : sw_no_effect_of(&a->known, op, e->fault);
  e->verdict = exact ? SW_AUDIT_MISSED : e->why ? SW_AUDIT_NO_EFFECT : SW_AUDIT_UNDECIDED;
  e->used = v->nearest.worst.most_used;
  for (int32_t i = 0; i < v->n_outputs; i++) e->used = fmax(e->used, v->outputs[i].worst.most_used);
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

static sw_rc run_audit_once(auditor *a, sw_injected_fault fault, sw_validation *v, sw_diag *d) {
  sw_judged_run how = {.inject_fault = fault, .observe = observe_audited, .observe_user = a, .quiet = true};
  clear_record(a, &a->now);
  return sw_validator_run(&a->v, &how, &a->scratch, v, d);
}

/* A run that fails is one that is noticed, if it is the fault that it fails of. */
static sw_rc try_fault(auditor *a, sw_injected_fault fault, sw_audit_entry *e, sw_diag *d) {
  const sw_op *op = fault.op;
  sw_validation v;
  sw_diag failure = {0};
  sw_rc rc = run_audit_once(a, fault, &v, &failure);
  if (rc == SW_E_CANCELLED && d) *d = failure;
  if (rc == SW_E_CANCELLED) return rc;
  e->verdict = SW_AUDIT_NOTICED;
  if (!rc && !v.matches) e->value = first_wrong(&v);
  if (!rc && v.matches) explain_passed(a, op, &v, e);
  if (e->value) { /* it is of the program, or of this run */
    e->value = sw_arena_printf(a->arena, d, "%s", e->value);
    if (!e->value) return SW_E_RESOURCE;
  }
  if (rc) SW_TRY(run_audit_once(a, (sw_injected_fault){0}, &v, d));
  sw_arena_reset(&a->scratch);
  return SW_OK;
}

static bool applies(const sw_op *op, sw_coll_fault f) {
  if (f >= SW_COLL_FAULT_OTHER_VALUE) return false;
  return f != SW_COLL_FAULT_OTHER_REDUCTION || (sw_coll_flags(op->collective->op) & SW_COLL_USES_REDUCTION);
}

/* Where an operand is an argument that is updated, held as it was, its own block in both; -1: nowhere. */
static int32_t updated_argument(const auditor *a, sw_id value) {
  const sw_graph *g = a->s->program;
  const sw_value *v = &g->values[value];
  while (v->def >= 0 && g->ops[v->def].code == SW_OP_KEEP) v = &g->values[g->ops[v->def].operands[0]];
  if (v->def >= 0) return -1;
  const sw_tensor *t = &a->updated[v->def_index];
  bool same = t->data && t->dtype == v->type.dtype && t->rank == v->type.rank;
  for (int k = 0; same && k < t->rank; k++) same = t->dims[k] == v->type.dims[k];
  return same ? v->def_index : -1;
}

static sw_rc try_copy_fault(auditor *a, sw_injected_fault fault, sw_diag *d) {
  sw_audit_entry *e = &a->entries[a->out->n_entries++];
  const char *name = sw_arena_printf(a->arena, d, "%s", fault.op->name);
  *e = (sw_audit_entry){.name = name, .fault = fault.fault};
  return name ? try_fault(a, fault, e, d) : SW_E_RESOURCE;
}

/* What is made again: made wrong, and of arguments as their updates leave them. */
static sw_rc try_copy(auditor *a, const sw_op *op, sw_diag *d) {
  const int32_t n_args = a->s->program->n_args;
  sw_tensor *instead;
  a->out->n_copies++;
  SW_TRY(try_copy_fault(a, (sw_injected_fault){.op = op, .fault = SW_COLL_FAULT_OTHER_VALUE}, d));
  SW_ARENA_NEW(instead, a->arena, a->v.devices, d);
  for (int k = 0; k < op->n_operands; k++) {
    const int32_t argument = updated_argument(a, op->operands[k]);
    if (argument < 0) continue;
    for (int64_t i = 0; i < a->v.devices; i++) instead[i] = a->updated[i * n_args + argument];
    return try_copy_fault(
        a, (sw_injected_fault){.op = op, .fault = SW_COLL_FAULT_STALE, .operand = k, .instead = instead}, d);
  }
  return SW_OK;
}

static int32_t count_made_again(const auditor *a) {
  int32_t n = 0;
  for (sw_id i = 0; a->is_copy && i < a->s->program->n_ops; i++) n += a->is_copy[i];
  return n;
}

static sw_rc try_all(auditor *a, sw_diag *d) {
  sw_audit *out = a->out;
  out->n_collectives = out->right.collectives;
  SW_ARENA_NEW(a->entries, a->arena, (int64_t)(out->n_collectives + count_made_again(a)) * SW_COLL_FAULT_COUNT, d);
  out->entries = a->entries;
  for (int32_t n = 1; n <= out->n_collectives; n++) {
    const sw_op *op = sw_nth_collective(a->s->program, n, NULL);
    char *name = sw_arena_printf(a->arena, d, "%s", op->name);
    if (!name) return SW_E_RESOURCE;
    for (int f = 0; f < SW_COLL_FAULT_COUNT; f++) {
      if (!applies(op, (sw_coll_fault)f)) continue;
      sw_audit_entry *e = &a->entries[out->n_entries++];
      *e = (sw_audit_entry){.collective = n, .name = name, .op = op->collective->op, .fault = (sw_coll_fault)f};
      SW_TRY(try_fault(a, (sw_injected_fault){.op = op, .fault = e->fault}, e, d));
    }
  }
  for (sw_id i = 0; a->is_copy && i < a->s->program->n_ops; i++)
    if (a->is_copy[i]) SW_TRY(try_copy(a, &a->s->program->ops[i], d));
  return SW_OK;
}

/* The run without a fault, whose bits all others are compared with. */
static sw_rc run_right(auditor *a, sw_validation *v, sw_diag *d) {
  sw_judged_run how = {.observe = observe_audited, .observe_user = a};
  SW_TRY(make_record(a, &a->right, d));
  SW_TRY(make_record(a, &a->now, d));
  SW_TRY(sw_validator_run(&a->v, &how, a->arena, v, d));
  record r = a->now;
  a->now = a->right;
  a->right = r;
  a->limited = true;
  return SW_OK;
}

static sw_rc audit(const sw_sharded *s, const bool *is_copy, const sw_validate_options *o, sw_arena *arena,
                   sw_audit *out, sw_diag *d) {
  sw_validate_options plain = {.seed = o->seed,
                               .random_floats = o->random_floats,
                               .intermediates = o->intermediates,
                               .timeout_s = o->timeout_s,
                               .inputs = o->inputs,
                               .jitter_seed = o->jitter_seed,
                               .cancel = o->cancel};
  auditor a = {.s = s, .is_copy = is_copy, .arena = arena, .out = out};
  /* What the more perturbed runs of a second look would excuse is excused here, too. */
  const bool chooses = o->intermediates && sw_graph_chooses(s->model);
  SW_TRY(sw_no_effects_find(s, o->intermediates, arena, &a.known, d));
  sw_rc rc = sw_validator_open(&a.v, s, &plain, chooses ? SW_MORE_PERTURBED_RUNS : SW_PERTURBED_RUNS, arena, d);
  const int64_t kept = a.v.devices * s->program->n_args;
  if (!rc) a.updated = sw_arena_alloc(arena, (size_t)kept + 1, sizeof *a.updated, d);
  if (!rc && !a.updated) rc = SW_E_RESOURCE;
  if (!rc) rc = run_right(&a, &out->right, d);
  if (!rc && out->right.matches) rc = try_all(&a, d);
  for (int64_t i = 0; a.updated && i < kept; i++) sw_tensor_deinit(&a.updated[i]);
  sw_validator_close(&a.v);
  for (int32_t i = 0; i < out->n_entries; i++) out->count[a.entries[i].verdict]++;
  sw_arena_deinit(&a.scratch);
  return rc;
}

/* By op of the program: is it, or a part of it, one of those that make something again, or fetch it from the host? */
static sw_rc find_copies(const sw_job *j, const sw_spmd *spmd, sw_arena *arena, const bool **out, sw_diag *d) {
  bool *copies;
  SW_ARENA_NEW(copies, arena, spmd->program->n_ops + 1, d);
  for (sw_id i = 0; i < spmd->program->n_ops; i++) {
    const sw_origin *o = &spmd->origin[i];
    const sw_entry *e = o->op >= 0 && o->value < 0 ? sw_job_entry(j, o->op) : NULL;
    const sw_op *op = &spmd->program->ops[i];
    const bool again = sw_entry_is_copy(e) || (e && j->graph->ops[o->op].code == SW_OP_FETCH);
    copies[i] = again && op->code != SW_OP_COLLECTIVE && op->n_results;
  }
  *out = copies;
  return SW_OK;
}

sw_rc sw_audit_plan(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_audit *out, sw_diag *d) {
  sw_spmd spmd;
  sw_sharded s;
  *out = (sw_audit){0};
  SW_TRY(sw_sharded_of_plan(plan, o->against, arena, &spmd, &s, d));
  const bool *is_copy;
  sw_rc rc = find_copies(&plan->job, &spmd, arena, &is_copy, d);
  if (!rc) rc = audit(&s, is_copy, o, arena, out, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

sw_rc sw_audit_local(const sw_local_program *p, const sw_graph *whole, const sw_validate_options *o, sw_arena *arena,
                     sw_audit *out, sw_diag *d) {
  sw_sharded s;
  *out = (sw_audit){0};
  SW_TRY(sw_sharded_of_local(p, whole, arena, &s, d));
  return audit(&s, NULL, o, arena, out, d);
}
