/* Validation of a plan by execution: on one device, again for what rounding may do, then on all devices, every block
 * compared with its part of the whole as soon as it is made. */
#include "shardwright/validate.h"

#include <pthread.h>
#include <string.h>

#include "exec/block.h"
#include "exec/processes.h"
#include "exec/roundings.h"
#include "exec/single.h"
#include "shardwright/checked.h"
#include "shardwright/log.h"

#define BLURRED_RUNS 2
/* Where something differs and numbers were chosen by comparing floats: as many runs see most choices that may turn. */
#define MORE_BLURRED_RUNS 16

/* State of one validation. */
typedef struct validator {
  const sw_plan *plan;
  const sw_validate_options *o;
  sw_spmd spmd;
  sw_single sharp;
  sw_roundings roundings; /* with `intermediates` */
  sw_tensor *blocks;      /* devices * n_args; NULL: not cut yet */
  bool *own;              /* of them, those that are nobody else's */
  sw_tensor *got;         /* devices * n_outputs */
  int64_t devices;
  int64_t first, end; /* those that run in this process: all, or one of an MPI run */
  sw_comm *comm;
  pthread_mutex_t lock; /* guards the roundings and the fields below during a parallel run */
  sw_arena *arena;      /* of the results, and of lists */
  sw_validation *out;
  int32_t first_bad_step;
  const int32_t *step_of; /* model op -> position */
} validator;

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* --- the parallel run -------------------------------------------------------------------------------------------- */

/* What the run on one device took is not needed any more when nothing is run again, unless devices share it. */
static sw_rc cut_arguments(validator *v, sw_diag *d) {
  const sw_function *f = &v->plan->graph->functions[v->plan->graph->main];
  if (v->blocks) return SW_OK;
  SW_ARENA_NEW(v->own, v->arena, v->devices * f->n_args, d);
  SW_ARENA_NEW(v->blocks, v->arena, v->devices * f->n_args, d);
  for (int32_t i = 0; i < f->n_args; i++) {
    sw_cut c = {.mesh = v->spmd.mesh,
                .sharding = v->plan->args_whole ? NULL : &v->plan->args[i],
                .whole = &v->sharp.args[i],
                .first = v->first,
                .end = v->end,
                .stride = f->n_args};
    bool borrows;
    SW_TRY(sw_cut_blocks(&c, v->blocks + i, v->own + i, &borrows, d));
    if (!borrows && v->sharp.own_args && !v->o->intermediates) sw_tensor_deinit(&v->sharp.args[i]);
  }
  return SW_OK;
}

static void valid_of(void *user, sw_id value, int64_t device, int64_t *valid) {
  sw_spmd_valid(&((const validator *)user)->spmd, value, device, valid);
}

/* What one device's run leaves to compare a block with, or NULL. Partial values have no counterpart there, and of a
 * loop's values only the last is known. */
static const sw_buffer *counterpart(const validator *v, const sw_layout *l) {
  if (!l->is_block || l->sharding.n_partial || sw_single_may_turn(&v->sharp, l->source)) return NULL;
  const sw_graph *g = v->plan->graph;
  sw_id def = g->values[l->source].def;
  return def >= 0 && sw_op_in_loop(g, &g->ops[def]) ? NULL : sw_single_value(&v->sharp, l->source);
}

/* The op of the model to blame when a block is wrong: the one that makes the value, or that wants an argument so. */
static sw_id blamed(const validator *v, const sw_layout *l, const sw_op *op) {
  sw_id def = v->plan->graph->values[l->source].def;
  return def >= 0 ? def : v->spmd.origin[op - v->spmd.program->ops].op;
}

static void note_comparison(validator *v, const sw_validate_entry *e, sw_id op) {
  const sw_graph *g = v->plan->graph;
  int32_t step = op >= 0 ? v->step_of[op] : sw_graph_main_block(g)->n_ops;
  pthread_mutex_lock(&v->lock);
  v->out->values_compared++;
  bool earlier = !v->out->first_bad_op || step < v->first_bad_step ||
                 (step == v->first_bad_step && e->device < v->out->first_bad.device);
  if (e->worst.differing && earlier) {
    v->out->first_bad_op = op >= 0 ? g->ops[op].name : "outputs";
    v->out->first_bad = *e;
    v->first_bad_step = step;
  }
  pthread_mutex_unlock(&v->lock);
}

/* Compare a block as soon as a device has made it. */
static sw_rc observe_parallel(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                              sw_diag *d) {
  validator *v = user;
  for (int i = 0; i < op->n_results; i++) {
    const sw_layout *l = &v->spmd.layout[op->results[i]];
    const sw_buffer *whole = counterpart(v, l);
    if (!whole) continue;
    sw_validate_entry e = {
        .name = v->plan->graph->values[l->source].name, .rank = whole->rank, .exact = v->sharp.exact, .device = device};
    e.tolerance = sw_roundings_tolerance(&v->roundings, &v->sharp, l->source, whole);
    sw_block_pair c = {v->spmd.mesh, &l->sharding, whole, results[i], sw_roundings_turned(&v->roundings, l->source),
                       device};
    SW_TRY(sw_block_compare(&c, e.tolerance, &e.worst, d));
    note_comparison(v, &e, blamed(v, l, op));
  }
  return SW_OK;
}

/* The n-th collective of the program, counted from 1; NULL when there are fewer. */
static const sw_op *nth_collective(const sw_spmd *s, int32_t n, int32_t *count) {
  int32_t seen = 0;
  const sw_op *found = NULL;
  for (int32_t i = 0; i < s->program->n_ops; i++) {
    if (s->program->ops[i].collective && ++seen == n) found = &s->program->ops[i];
  }
  if (count) *count = seen;
  return found;
}

/* Where each device stood when the run failed. */
static void log_flight_record(const validator *v) {
  sw_text text = {0};
  sw_comm_report(v->comm, &text);
  sw_log(SW_LOG_WARN, "the last collectives of each device:\n%s", sw_text_str(&text));
  sw_text_free(&text);
}

/* All devices of this process, or the one. */
static sw_rc execute(validator *v, const sw_exec_options *o, sw_diag *d) {
  const sw_function *f = &v->spmd.program->functions[v->spmd.program->main];
  size_t n = (size_t)v->devices * (size_t)f->n_args;
  const sw_buffer **args = sw_mem_alloc(n + 1, sizeof *args, d);
  if (!args) return SW_E_RESOURCE;
  for (size_t i = 0; i < n; i++) args[i] = &v->blocks[i];
  sw_exec_program program = {v->spmd.program, v->spmd.mesh, v->comm, valid_of, v, NULL};
  sw_rc rc = v->o->mpi ? sw_exec_run_device(&program, v->first, args + v->first * f->n_args, o,
                                            &v->got[v->first * f->n_outputs], d)
                       : sw_exec_run_spmd(&program, args, o, v->got, d);
  if (rc && rc != SW_E_CANCELLED) log_flight_record(v);
  sw_mem_free(args);
  return rc;
}

static void drop_results(validator *v) {
  int64_t n = v->devices * v->spmd.program->functions[v->spmd.program->main].n_outputs;
  for (int64_t i = 0; i < n; i++) sw_tensor_deinit(&v->got[i]);
}

static sw_rc run_parallel(validator *v, sw_diag *d) {
  sw_exec_options o = {.poison = true, .cancel = v->o->cancel, .on_op = v->o->on_op, .on_op_user = v->o->listener};
  o.sabotage = (sw_sabotage){nth_collective(&v->spmd, v->o->sabotage, NULL), v->o->sabotage_alters};
  if (v->o->intermediates) o.observe = observe_parallel;
  o.observe_user = v;
  double start = sw_now_s();
  sw_rc rc = execute(v, &o, d);
  v->out->parallel_s = sw_now_s() - start;
  for (int64_t dev = v->first; !rc && dev < v->end; dev++) {
    sw_comm_stats s;
    sw_comm_get_stats(v->comm, dev, &s);
    for (int c = 0; c < SW_COLL_COUNT; c++) {
      v->out->comm.calls[c] += s.calls[c];
      v->out->comm.bytes_received[c] += s.bytes_received[c];
    }
  }
  return rc;
}

/* Over MPI, every process gets all blocks and judges all devices. */
static sw_rc share(validator *v, sw_diag *d) {
  const sw_function *f = &v->spmd.program->functions[v->spmd.program->main];
  sw_processes p = {v->comm, v->spmd.mesh, v->first};
  SW_TRY(sw_processes_share_tensors(&p, f->n_outputs, v->got, d));
  return sw_processes_share_findings(&p, v->first_bad_step, v->out, v->arena, d);
}

/* A communicator is good for one run: its devices leave at the end. */
static sw_rc open_comm(validator *v, bool listened, sw_diag *d) {
  sw_comm_options co = {.timeout_s = v->o->timeout_s, .jitter_seed = v->o->jitter_seed, .cancel = v->o->cancel};
  co.on_call = listened ? v->o->on_call : NULL;
  co.on_call_user = v->o->listener;
  v->end = v->devices;
  if (!v->o->mpi) return sw_comm_create_threads(v->spmd.mesh, &co, &v->comm, d);
  SW_TRY(sw_comm_create_mpi(v->spmd.mesh, &co, &v->comm, &v->first, d));
  v->end = v->first + 1;
  v->out->device = v->first;
  return SW_OK;
}

static sw_rc close_comm(validator *v, sw_rc rc, sw_diag *d) {
  if (v->comm && v->o->mpi) rc = sw_comm_leave(v->comm, v->first, rc, rc && d ? d->text : NULL, d);
  sw_comm_destroy(v->comm);
  v->comm = NULL;
  return rc;
}

/* --- what rounding may do ---------------------------------------------------------------------------------------- */

static sw_rc observe_partials(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                              sw_diag *d) {
  validator *v = user;
  pthread_mutex_lock(&v->lock);
  sw_rc rc = sw_roundings_note_partials(&v->roundings, &v->spmd, device, op, results, d);
  pthread_mutex_unlock(&v->lock);
  return rc;
}

/* A parallel run of its own, nobody listening. */
static sw_rc find_partials(validator *v, sw_diag *d) {
  sw_exec_options o = {.poison = true, .cancel = v->o->cancel, .observe = observe_partials, .observe_user = v};
  sw_rc rc = open_comm(v, false, d);
  if (!rc) rc = cut_arguments(v, d);
  if (!rc) rc = execute(v, &o, d);
  rc = close_comm(v, rc, d);
  drop_results(v);
  return rc;
}

static sw_rc find_roundings(validator *v, int blurred_runs, sw_diag *d) {
  if (!v->o->intermediates) return SW_OK;
  SW_TRY(sw_roundings_init(&v->roundings, &v->sharp, v->arena, d));
  if (v->sharp.exact) return SW_OK;
  SW_TRY(find_partials(v, d));
  return sw_roundings_blur(&v->roundings, blurred_runs, v->o->cancel, v->arena, d);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static sw_rc judge_output(validator *v, int32_t i, sw_validate_entry *e, sw_diag *d) {
  const sw_sharding *sharding = &v->plan->outputs[i];
  const int64_t n = v->plan->graph->functions[v->plan->graph->main].n_outputs;
  sw_cut c = {.mesh = v->spmd.mesh, .sharding = sharding, .whole = &v->sharp.want[i], .end = v->devices, .stride = n};
  SW_TRY(sw_roundings_judge(&v->roundings, &v->sharp, i, &c, v->got + i, e, v->out, d));
  for (int64_t device = 0; v->o->outputs && device < v->devices; device++) {
    sw_block_copy(v->spmd.mesh, sharding, &v->o->outputs[i], &v->got[device * n + i], device, true);
  }
  return SW_OK;
}

static sw_rc judge(validator *v, sw_diag *d) {
  const sw_function *f = &v->plan->graph->functions[v->plan->graph->main];
  sw_validate_entry *entries;
  SW_ARENA_NEW(entries, v->arena, f->n_outputs, d);
  v->out->matches = v->out->first_bad_op == NULL;
  v->out->n_outputs = f->n_outputs;
  v->out->outputs = entries;
  for (int32_t i = 0; i < f->n_outputs; i++) {
    const sw_buffer *w = &v->sharp.want[i];
    if (v->o->outputs) SW_TRY(sw_tensor_init(&v->o->outputs[i], w->dtype, w->rank, w->dims, d));
    SW_TRY(judge_output(v, i, &entries[i], d));
  }
  return SW_OK;
}

static sw_rc prepare(validator *v, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  const sw_validate_options *o = v->o;
  int32_t *step;
  SW_ARENA_NEW(step, v->arena, g->n_ops, d);
  for (int32_t i = 0; i < sw_graph_main_block(g)->n_ops; i++) step[sw_graph_main_block(g)->ops[i]] = i;
  v->step_of = step;
  v->devices = sw_mesh_devices(v->spmd.mesh);
  SW_ARENA_NEW(v->got, v->arena, v->devices * g->functions[g->main].n_outputs, d);
  sw_single_options so = {o->inputs, o->seed, o->random_floats, o->intermediates, o->cancel};
  sw_rc rc = sw_single_run(g, &so, v->arena, &v->sharp, d);
  v->out->single_s = v->sharp.seconds;
  v->out->exact = v->sharp.exact;
  return rc;
}

static void release(validator *v) {
  const sw_function *f = &v->plan->graph->functions[v->plan->graph->main];
  for (int64_t i = 0; v->blocks && i < v->devices * f->n_args; i++) {
    if (v->own[i]) sw_tensor_deinit(&v->blocks[i]);
  }
  if (v->got) drop_results(v);
  sw_roundings_deinit(&v->roundings);
  sw_single_deinit(&v->sharp);
  sw_spmd_deinit(&v->spmd);
}

static sw_rc validate(const sw_plan *plan, const sw_validate_options *o, int blurred_runs, sw_arena *arena,
                      sw_validation *out, sw_diag *d) {
  *out = (sw_validation){0};
  validator v = {.plan = plan, .o = o, .out = out, .arena = arena};
  SW_TRY(sw_partition(plan, &v.spmd, d));
  pthread_mutex_init(&v.lock, NULL);
  (void)nth_collective(&v.spmd, 0, &out->collectives);
  sw_rc rc = sw_spmd_verify(&v.spmd, d);
  if (!rc) rc = prepare(&v, d);
  if (!rc) rc = find_roundings(&v, blurred_runs, d);
  if (!rc) rc = open_comm(&v, true, d);
  if (!rc) rc = cut_arguments(&v, d);
  if (!rc) rc = run_parallel(&v, d);
  if (!rc && o->mpi) rc = share(&v, d);
  if (!rc) rc = judge(&v, d);
  rc = close_comm(&v, rc, d);
  pthread_mutex_destroy(&v.lock);
  release(&v);
  return rc;
}

/* Does some op make integers or bools of floats? */
static bool chooses(const sw_graph *g) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_operands * op->n_results; k++) {
      sw_dtype to = sw_result_type(g, op, k % op->n_results)->dtype;
      sw_dtype from = sw_operand_type(g, op, k / op->n_results)->dtype;
      bool discrete = sw_dtype_class_of(to) != SW_CLASS_FLOAT && sw_dtype_class_of(to) != SW_CLASS_COMPLEX;
      if (discrete && sw_dtype_class_of(from) == SW_CLASS_FLOAT) return true;
    }
  }
  return false;
}

sw_rc sw_validate(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_validation *out, sw_diag *d) {
  SW_TRY(validate(plan, o, BLURRED_RUNS, arena, out, d));
  bool again = o->intermediates && !o->mpi && !o->sabotage && !out->exact && !out->matches && chooses(plan->graph);
  if (!again) return SW_OK;
  for (int32_t i = 0; o->outputs && i < out->n_outputs; i++) sw_tensor_deinit(&o->outputs[i]);
  return validate(plan, o, MORE_BLURRED_RUNS, arena, out, d);
}
