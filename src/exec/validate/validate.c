/* Validation of a plan by execution: on one device, again for what rounding may do, then on all devices, every block
 * compared with its part of the whole as soon as it is made. */
#include "shardwright/validate.h"

#include <math.h>
#include <string.h>

#include "exec/delays.h"
#include "exec/validate/perturb.h"
#include "exec/validate/parts.h"
#include "exec/validate/processes.h"
#include "exec/validate/validator.h"

/* From this relative tolerance on, outputs are compared as a whole, too. */
#define COARSE 0.0625

/* --- the parallel run -------------------------------------------------------------------------------------------- */

/* What the run on one device took is not needed any more when nothing is run again, unless devices share it. */
static sw_rc cut_arguments(sw_validator *v, sw_diag *d) {
  int32_t n = v->s->model->n_args;
  if (v->blocks) return SW_OK;
  SW_ARENA_NEW_EACH(v->arena, v->devices * n, d, v->own, v->blocks);
  for (int32_t i = 0; i < n; i++) {
    sw_cut c = sw_sharded_cut(v->s, v->s->args[i], &v->sharp.args[i], n);
    bool borrows;
    c.first = v->run.first;
    c.end = v->run.end;
    c.poison = true;
    SW_TRY(sw_cut_blocks(&c, v->blocks + i, v->own + i, &borrows, d));
    if (!borrows && v->sharp.own_args && !v->o->intermediates) sw_tensor_deinit(&v->sharp.args[i]);
  }
  return SW_OK;
}

/* What one device's run has of a value when the device that has it is as far, or NULL. Where an op makes it, it is one
 * trip further; copies in other shardings are of the last one. Integers and bools that a loop makes of inexact floats
 * may be ahead or behind by a trip: a test of convergence. */
static const sw_buffer *whole_value_of(sw_validator *v, int64_t device, const sw_op *op, const sw_layout *l) {
  const sw_graph *g = v->s->model;
  const sw_id def = g->values[l->source].def;
  if (def < 0 || !sw_op_is_repeated(g, &g->ops[def])) return sw_single_value(&v->sharp, l->source);
  const sw_dtype_class class = sw_dtype_class_of(g->values[l->source].type.dtype);
  const bool floats = class == SW_CLASS_FLOAT || class == SW_CLASS_COMPLEX;
  if (!v->s->by_plan || (!floats && !sw_single_is_exact(&v->sharp, l->source))) return NULL;
  const sw_origin *from = &v->s->origin[op - v->s->program->ops];
  int32_t *made = &v->made[device * g->n_values + l->source];
  *made += from->op == def && from->value < 0;
  return *made > 0 ? sw_single_trip(&v->sharp, l->source, *made - 1) : NULL;
}

/* The op of the model to blame when a block is wrong: the one that makes the value, or that wants an argument so. */
static sw_id blamed(const sw_validator *v, const sw_layout *l, const sw_op *op) {
  sw_id def = v->s->model->values[l->source].def;
  return def >= 0 ? def : v->s->origin[op - v->s->program->ops].op;
}

static void note_comparison(sw_validator *v, const sw_validate_entry *e, sw_id op) {
  const sw_graph *g = v->s->model;
  int32_t step = op >= 0 ? op : g->n_ops;
  pthread_mutex_lock(&v->lock);
  v->out->values_compared++;
  if (!v->out->nearest.name || e->worst.most_used > v->out->nearest.worst.most_used) v->out->nearest = *e;
  bool earlier = !v->out->first_bad_op || step < v->first_bad_step ||
                 (step == v->first_bad_step && e->device < v->out->first_bad.device);
  if ((e->worst.differing || e->norm_off > e->norm_allowed) && earlier) {
    v->out->first_bad_op = op >= 0 ? g->ops[op].name : "outputs";
    v->out->first_bad = *e;
    v->first_bad_step = step;
  }
  pthread_mutex_unlock(&v->lock);
}

/* --- overflow ---------------------------------------------------------------------------------------------------- */

/* Does a block leave its type's range where the whole stays within? Types without infinities have NaN there. */
static bool leaves_range(const sw_buffer *whole, sw_box own, const int64_t *lo, const int64_t *n) {
  const sw_buffer *block = own.b;
  int64_t index[SW_MAX_RANK] = {0}, at[SW_MAX_RANK], from[SW_MAX_RANK], bytes = sw_dtype_bytes(block->dtype);
  char cell[16];
  sw_element_store(block->dtype, INFINITY, cell);
  const bool has_infinity = isinf(sw_element_load(block->dtype, cell));
  if (sw_has_no_position(whole->rank, n)) return false;
  do {
    for (int k = 0; k < whole->rank; k++) from[k] = own.lo[k] + index[k];
    double got = sw_element_load(block->dtype, (const char *)block->data + sw_box_offset(block, from) * bytes);
    if (has_infinity ? !isinf(got) : isfinite(got)) continue;
    for (int k = 0; k < whole->rank; k++) at[k] = lo[k] + index[k];
    const int64_t element = sw_box_offset(whole, at) * sw_dtype_bytes(whole->dtype); /* parts may be held wider */
    double want = sw_element_load(whole->dtype, (const char *)whole->data + element);
    if (isfinite(want)) return true;
  } while (sw_next_position(whole->rank, n, index));
  return false;
}

/* Partial results, and what a collective makes of them: there one order of summation is exchanged for another. */
static void note_overflow(sw_validator *v, int64_t device, const sw_op *op, const sw_layout *l, const sw_buffer *whole,
                          const sw_buffer *block) {
  bool combines = op->collective && sw_coll_combines(op->collective->op);
  if (!combines && !l->sharding.n_partial) return;
  if (!whole || sw_dtype_class_of(whole->dtype) != SW_CLASS_FLOAT) return;
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK], at[SW_MAX_RANK];
  sw_cut cut = sw_sharded_cut(v->s, &l->sharding, whole, 1);
  sw_block_extent(cut.mesh, cut.sharding, whole, sw_cut_position(&cut, device), lo, n, at);
  if (!leaves_range(whole, (sw_box){block, at}, lo, n)) return;
  int32_t step = (int32_t)(op - v->s->program->ops);
  pthread_mutex_lock(&v->lock);
  sw_validate_overflow *o = &v->out->overflow;
  if (!o->value || step < v->overflow_step || (step == v->overflow_step && device < o->device)) {
    *o = (sw_validate_overflow){v->s->model->values[l->source].name, whole->dtype, device};
    v->overflow_step = step;
  }
  pthread_mutex_unlock(&v->lock);
}

/* Does the op add up finite numbers to infinite ones on one device? */
static bool adds_to_infinity(const sw_validator *v, const sw_op *op) {
  bool adds = false;
  for (int l = 0; op->nest && l < op->nest->n_loops; l++) {
    const sw_loop *loop = &op->nest->loops[l];
    bool sums = loop->combiner == SW_REDUCE_SUM || loop->combiner == SW_REDUCE_PRODUCT;
    adds = adds || (sums && (loop->kind == SW_LOOP_REDUCTION || loop->kind == SW_LOOP_SCAN));
  }
  for (int k = 0; adds && k < op->n_operands; k++) {
    const sw_buffer *in = sw_single_value(&v->sharp, op->operands[k]);
    adds = in && sw_count_not_finite(in) == 0;
  }
  const sw_buffer *out = adds ? sw_single_value(&v->sharp, op->results[0]) : NULL;
  return out && sw_count_not_finite(out) > 0;
}

/* The first difference is of that kind, or there is none. */
static void judge_overflow(const sw_validator *v) {
  sw_validation *out = v->out;
  const sw_graph *g = v->s->model;
  if (out->matches || !out->first_bad_op) out->overflow = (sw_validate_overflow){0};
  if (out->matches || !out->first_bad_op || out->overflow.value) return;
  for (int32_t i = 0; i < g->n_ops; i++) {
    if (i != v->first_bad_step || !adds_to_infinity(v, &g->ops[i])) continue;
    out->overflow = (sw_validate_overflow){out->first_bad.name, out->first_bad.dtype, -1};
  }
}

/* --- comparisons ------------------------------------------------------------------------------------------------- */

/* Compare a block as soon as a device has made it. */
static sw_rc observe_parallel(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                              sw_diag *d) {
  sw_validator *v = user;
  if (v->how->observe) SW_TRY(v->how->observe(v->how->observe_user, device, op, results, d));
  for (int i = 0; i < op->n_results && v->o->intermediates && v->s->layout; i++) {
    const sw_layout *l = &v->s->layout[op->results[i]];
    const sw_buffer *whole = l->is_block ? whole_value_of(v, device, op, l) : NULL;
    if (whole && !v->sharp.exact) note_overflow(v, device, op, l, whole, results[i]);
    /* Partial values have no counterpart, nor have some that are held wider. */
    if (!whole || l->sharding.n_partial || sw_single_may_turn(&v->sharp, l->source)) continue;
    if (whole->dtype != results[i]->dtype) continue;
    sw_cut cut = sw_sharded_cut(v->s, &l->sharding, whole, 1);
    sw_validate_entry e = {.name = v->s->model->values[l->source].name,
                           .dtype = whole->dtype,
                           .rank = whole->rank,
                           .exact = sw_single_is_exact(&v->sharp, l->source),
                           .device = device};
    e.tolerance = sw_roundings_tolerance(&v->roundings, &v->sharp, l->source, whole);
    sw_block_pair c = {cut.mesh,
                       cut.sharding,
                       whole,
                       results[i],
                       sw_roundings_turned(&v->roundings, l->source),
                       sw_cut_position(&cut, device)};
    SW_TRY(sw_block_compare(&c, e.tolerance, &e.worst, d));
    sw_roundings_judge_block(&v->roundings, l->source, &c, &e);
    note_comparison(v, &e, blamed(v, l, op));
  }
  return SW_OK;
}

const sw_op *sw_nth_collective(const sw_graph *g, int32_t n, int32_t *count) {
  int32_t seen = 0;
  const sw_op *found = NULL;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_collective *c = g->ops[i].collective;
    if (c && c->op != SW_COLL_SEND && ++seen == n) found = &g->ops[i];
  }
  if (count) *count = seen;
  return found;
}

static sw_rc execute(sw_validator *v, const sw_exec_options *o, sw_diag *d) {
  sw_exec_program p = {.graph = v->s->program, .valid = v->s->valid, .valid_user = v->s->valid_user};
  SW_TRY(cut_arguments(v, d));
  return sw_parallel_run(&v->run, &p, o, v->blocks, v->got, d);
}

static void drop_results(sw_validator *v) {
  for (int64_t i = 0; i < v->devices * v->s->model->n_outputs; i++) sw_tensor_deinit(&v->got[i]);
}

/* Over MPI, every process gets all blocks and judges all devices. */
static sw_rc share_results(sw_validator *v, sw_diag *d) {
  sw_processes p = {v->run.comm, v->s->grid, v->run.first};
  v->out->device = v->run.first;
  SW_TRY(sw_processes_share_tensors(&p, v->s->model->n_outputs, v->got, d));
  return sw_processes_share_findings(&p, v->first_bad_step, v->out, v->arena, d);
}

static sw_rc run_parallel(sw_validator *v, sw_diag *d) {
  sw_exec_options o = {.poison = true, .observe_user = v, .inject_fault = v->how->inject_fault, .delays = v->s->delays};
  memset(v->made, 0, (size_t)(v->devices * v->s->model->n_values) * sizeof *v->made);
  if (v->how->observe || (v->o->intermediates && v->s->layout)) o.observe = observe_parallel;
  v->listened.quiet = v->how->quiet;
  sw_rc rc = sw_parallel_open(v->s->grid, &v->listened, &v->run, d);
  if (!rc) rc = execute(v, &o, d);
  v->out->parallel_s = v->run.seconds;
  if (v->s->delays) {
    v->out->delayed_step_s = v->s->delays->step_s;
    v->out->delayed_times = v->s->delays->times;
  }
  if (!rc) sw_parallel_add_stats(&v->run, &v->out->comm);
  if (!rc && v->o->mpi) rc = share_results(v, d);
  return sw_parallel_close(&v->run, rc, d);
}

/* --- what rounding may do ---------------------------------------------------------------------------------------- */

static sw_rc observe_partials(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                              sw_diag *d) {
  sw_validator *v = user;
  pthread_mutex_lock(&v->lock);
  sw_rc rc = sw_roundings_record_partials(&v->roundings, v->s, device, op, results, d);
  pthread_mutex_unlock(&v->lock);
  return rc;
}

/* A parallel run of its own, nobody listening. */
static sw_rc find_partials(sw_validator *v, sw_diag *d) {
  sw_exec_options o = {.poison = true, .observe = observe_partials, .observe_user = v};
  if (!v->s->layout) return SW_OK;
  sw_rc rc = sw_parallel_open(v->s->grid, &v->alone, &v->run, d);
  if (!rc) rc = execute(v, &o, d);
  rc = sw_parallel_close(&v->run, rc, d);
  drop_results(v);
  return rc;
}

/* Where so many ops are so coarse that the formula forgives almost anything, it takes perturbed runs to know. */
static sw_rc find_roundings_of_outputs(sw_validator *v, int runs, sw_diag *d) {
  double most = 0;
  for (int32_t i = 0; i < v->s->model->n_outputs && !v->sharp.exact; i++) {
    sw_id id = v->s->model->outputs[i];
    sw_tolerance t = sw_roundings_tolerance(&v->roundings, &v->sharp, id, &v->sharp.want[i]);
    if (t.relative > most) most = t.relative;
  }
  if (most < COARSE) return SW_OK;
  SW_TRY(sw_roundings_init_outputs(&v->roundings, &v->sharp, v->arena, d));
  return sw_roundings_perturb(&v->roundings, runs, v->o->cancel, v->arena, d);
}

static sw_rc find_roundings(sw_validator *v, int perturbed_runs, sw_diag *d) {
  if (!v->o->intermediates) return find_roundings_of_outputs(v, perturbed_runs, d);
  SW_TRY(sw_roundings_init(&v->roundings, &v->sharp, v->arena, d));
  if (v->sharp.exact) return SW_OK;
  SW_TRY(find_partials(v, d));
  return sw_roundings_perturb(&v->roundings, perturbed_runs, v->o->cancel, v->arena, d);
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static sw_rc judge_output(sw_validator *v, int32_t i, sw_validate_entry *e, sw_diag *d) {
  const int64_t n = v->s->model->n_outputs;
  sw_cut c = sw_sharded_cut(v->s, v->s->outputs[i], &v->sharp.want[i], n);
  sw_sharding complete;
  SW_TRY(sw_parts_combine(&c, v->got + i, &complete, d));
  c.sharding = &complete;
  SW_TRY(sw_roundings_judge(&v->roundings, &v->sharp, i, &c, v->got + i, e, v->out, d));
  for (int64_t device = v->devices - 1; v->o->outputs && device >= 0; device--) { /* the first device's word counts */
    sw_block_copy(c.mesh, c.sharding, &v->o->outputs[i], &v->got[device * n + i], sw_cut_position(&c, device), true);
  }
  return SW_OK;
}

static sw_rc judge_outputs(sw_validator *v, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = v->s->model;
  sw_validate_entry *entries;
  SW_ARENA_NEW(entries, arena, g->n_outputs, d);
  v->out->matches = v->out->first_bad_op == NULL;
  v->out->n_outputs = g->n_outputs;
  v->out->outputs = entries;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_buffer *w = &v->sharp.want[i];
    if (v->o->outputs) SW_TRY(sw_tensor_init(&v->o->outputs[i], w->dtype, w->rank, w->dims, d));
    SW_TRY(judge_output(v, i, &entries[i], d));
  }
  return SW_OK;
}

static sw_sharding_list ways_of(void *user, sw_id value) {
  const sw_validator *v = user;
  return v->ways[value];
}

static void add_way(const sw_sharding **list, int32_t *n, const sw_sharding *way) {
  for (int32_t i = 0; i < *n; i++) {
    if (sw_sharding_equal(list[i], way)) return;
  }
  list[(*n)++] = way;
}

static bool is_way(const sw_layout *l) { return l->source >= 0 && l->is_block && !l->on; }

/* How an argument arrives, and how the program has its values. */
static sw_rc find_ways(sw_validator *v, sw_diag *d) {
  const sw_sharded *s = v->s;
  const sw_graph *g = s->model;
  const int32_t n_values = s->layout ? s->program->n_values : 0;
  int32_t *most; /* by value of the model */
  SW_ARENA_NEW_EACH(v->arena, g->n_values, d, most, v->ways);
  for (sw_id k = 0; k < n_values; k++) {
    if (is_way(&s->layout[k])) most[s->layout[k].source]++;
  }
  const sw_sharding ***list; /* by value of the model */
  SW_ARENA_NEW(list, v->arena, g->n_values, d);
  int32_t *n;
  SW_ARENA_NEW(n, v->arena, g->n_values, d);
  for (int32_t i = 0; i < g->n_args; i++) {
    sw_id id = g->args[i];
    most[id]++;
    SW_ARENA_NEW(list[id], v->arena, most[id], d);
    if (s->args[i]) add_way(list[id], &n[id], s->args[i]);
  }
  for (sw_id k = 0; k < n_values; k++) {
    const sw_layout *l = &s->layout[k];
    if (!is_way(l)) continue;
    if (!list[l->source]) SW_ARENA_NEW(list[l->source], v->arena, most[l->source], d);
    add_way(list[l->source], &n[l->source], &l->sharding);
  }
  for (sw_id id = 0; id < g->n_values; id++) v->ways[id] = (sw_sharding_list){s->mesh, n[id], list[id]};
  return SW_OK;
}

/* Values of floats that the program holds as parts of an average. */
static sw_rc find_averaged(const sw_validator *v, const bool **out, sw_diag *d) {
  const sw_sharded *s = v->s;
  bool *averaged;
  SW_ARENA_NEW(averaged, v->arena, s->model->n_values, d);
  for (sw_id k = 0; s->layout && k < s->program->n_values; k++) {
    const sw_layout *l = &s->layout[k];
    if (l->source < 0 || !l->is_block || !l->sharding.n_partial) continue;
    const sw_dtype_class class = sw_dtype_class_of(s->model->values[l->source].type.dtype);
    const bool rounds = class == SW_CLASS_FLOAT || class == SW_CLASS_COMPLEX;
    if (rounds && l->sharding.partial_kind == SW_REDUCE_AVERAGE) averaged[l->source] = true;
  }
  *out = averaged;
  return SW_OK;
}

static sw_rc prepare_validation(sw_validator *v, sw_diag *d) {
  const sw_graph *g = v->s->model;
  const sw_validate_options *o = v->o;
  v->devices = sw_mesh_devices(v->s->grid);
  SW_ARENA_NEW(v->made, v->arena, v->devices * v->s->model->n_values, d);
  SW_ARENA_NEW(v->got, v->arena, v->devices * g->n_outputs, d);
  v->alone = (sw_parallel_options){
      .mpi = o->mpi, .timeout_s = o->timeout_s, .jitter_seed = o->jitter_seed, .cancel = o->cancel};
  v->listened = v->alone;
  v->listened.on_op = o->on_op;
  v->listened.on_call = o->on_call;
  v->listened.listener = o->listener;
  const bool *averaged;
  SW_TRY(find_ways(v, d));
  SW_TRY(find_averaged(v, &averaged, d));
  sw_single_options so = {.inputs = o->inputs,
                          .seed = o->seed,
                          .random_floats = o->random_floats,
                          .keep_values = o->intermediates,
                          .held = v->s->by_plan,
                          .cuts = ways_of,
                          .cuts_user = v,
                          .averaged = averaged,
                          .cancel = o->cancel};
  return sw_single_run(g, &so, v->arena, &v->sharp, d);
}

void sw_validator_close(sw_validator *v) {
  for (int64_t i = 0; v->blocks && i < v->devices * v->s->model->n_args; i++) {
    if (v->own[i]) sw_tensor_deinit(&v->blocks[i]);
  }
  if (v->got) drop_results(v);
  sw_roundings_deinit(&v->roundings);
  sw_single_deinit(&v->sharp);
  pthread_mutex_destroy(&v->lock);
}

sw_rc sw_validator_open(sw_validator *v, const sw_sharded *s, const sw_validate_options *o, int perturbed_runs,
                        sw_arena *arena, sw_diag *d) {
  *v = (sw_validator){.s = s, .o = o, .arena = arena};
  pthread_mutex_init(&v->lock, NULL);
  if (!o->mpi) SW_TRY(sw_parallel_admit(s->program, s->args, sw_mesh_devices(s->grid), d));
  SW_TRY(prepare_validation(v, d));
  return find_roundings(v, perturbed_runs, d);
}

sw_rc sw_validator_run(sw_validator *v, const sw_judged_run *how, sw_arena *arena, sw_validation *out, sw_diag *d) {
  *out = (sw_validation){.single_s = v->sharp.seconds, .exact = v->sharp.exact};
  v->out = out;
  v->how = how;
  (void)sw_nth_collective(v->s->program, 0, &out->collectives);
  SW_TRY(run_parallel(v, d));
  sw_rc rc = judge_outputs(v, arena, d);
  if (!rc) judge_overflow(v);
  drop_results(v);
  return rc;
}

/* The collective that is to be done wrong: with another reduction where it has one. */
static sw_injected_fault injected_fault(const sw_graph *program, const sw_validate_options *o) {
  const sw_op *op = sw_nth_collective(program, o->inject_fault, NULL);
  bool reduces = op && sw_coll_flags(op->collective->op) & SW_COLL_USES_REDUCTION;
  sw_coll_fault altered = reduces ? SW_COLL_FAULT_OTHER_REDUCTION : SW_COLL_FAULT_SHIFTED;
  return (sw_injected_fault){op, o->fault_alters ? altered : SW_COLL_FAULT_LEFT_OUT};
}

static sw_rc validate_once(const sw_sharded *s, const sw_validate_options *o, int perturbed_runs, sw_arena *arena,
                           sw_validation *out, sw_diag *d) {
  sw_judged_run how = {.inject_fault = injected_fault(s->program, o)};
  sw_validator v;
  sw_rc rc = sw_validator_open(&v, s, o, perturbed_runs, arena, d);
  if (!rc) rc = sw_validator_run(&v, &how, arena, out, d);
  sw_validator_close(&v);
  return rc;
}

bool sw_graph_chooses(const sw_graph *g) {
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

static sw_rc validate(const sw_sharded *s, const sw_validate_options *o, sw_arena *arena, sw_validation *out,
                      sw_diag *d) {
  SW_TRY(validate_once(s, o, SW_PERTURBED_RUNS, arena, out, d));
  bool again =
      o->intermediates && !o->mpi && !o->inject_fault && !out->exact && !out->matches && sw_graph_chooses(s->model);
  if (!again) return SW_OK;
  for (int32_t i = 0; o->outputs && i < out->n_outputs; i++) sw_tensor_deinit(&o->outputs[i]);
  return validate_once(s, o, SW_MORE_PERTURBED_RUNS, arena, out, d);
}

/* --- of a plan, of a text ---------------------------------------------------------------------------------------- */

static void valid_of(void *user, sw_id value, int64_t device, int64_t *valid) {
  sw_spmd_valid(user, value, device, valid);
}

static sw_rc describe_sharded(const sw_plan *plan, sw_spmd *spmd, sw_arena *arena, sw_sharded *out, sw_diag *d) {
  const sw_graph *g = plan->job.graph;
  const sw_sharding **args, **outputs;
  SW_TRY(sw_spmd_verify(spmd, d));
  SW_ARENA_NEW(args, arena, g->n_args, d);
  SW_ARENA_NEW(outputs, arena, g->n_outputs, d);
  for (int32_t i = 0; i < g->n_args; i++) args[i] = plan->args_whole ? NULL : &plan->args[i];
  for (int32_t i = 0; i < g->n_outputs; i++) outputs[i] = &plan->outputs[i];
  *out = (sw_sharded){.model = g,
                      .by_plan = true,
                      .program = spmd->program,
                      .grid = spmd->mesh,
                      .mesh = spmd->mesh,
                      .args = args,
                      .outputs = outputs,
                      .layout = spmd->layout,
                      .origin = spmd->origin,
                      .valid = valid_of,
                      .valid_user = spmd};
  return SW_OK;
}

sw_rc sw_sharded_of_plan(const sw_plan *plan, const sw_graph *against, sw_arena *arena, sw_spmd *spmd, sw_sharded *out,
                         sw_diag *d) {
  SW_TRY(sw_partition(plan, spmd, d));
  sw_rc rc = describe_sharded(plan, spmd, arena, out, d);
  if (!rc && against) rc = sw_sharded_against(out, against, d);
  if (rc) sw_spmd_deinit(spmd);
  return rc;
}

sw_rc sw_validate(const sw_plan *plan, const sw_validate_options *o, sw_arena *arena, sw_validation *out, sw_diag *d) {
  sw_spmd spmd;
  sw_sharded s;
  *out = (sw_validation){0};
  sw_exec_delays delays;
  SW_TRY(sw_sharded_of_plan(plan, o->against, arena, &spmd, &s, d));
  sw_rc rc = o->delayed_step_s > 0 ? sw_delays_of_plan(plan, &spmd, o->delayed_step_s, arena, &delays, d) : SW_OK;
  if (!rc && o->delayed_step_s > 0) s.delays = &delays;
  if (!rc) rc = validate(&s, o, arena, out, d);
  sw_spmd_deinit(&spmd);
  return rc;
}

sw_rc sw_local_validate(const sw_local_program *p, const sw_graph *whole, const sw_validate_options *o, sw_arena *arena,
                        sw_validation *out, sw_diag *d) {
  sw_sharded s;
  *out = (sw_validation){0};
  SW_TRY(sw_sharded_of_local(p, whole, arena, &s, d));
  return validate(&s, o, arena, out, d);
}
