/* Validation of a plan by execution. The comparison looks every element of a block up by its global index: no
 * reassembly shares code with the collectives that are being checked. */
#include "shardwright/validate.h"

#include <math.h>
#include <pthread.h>
#include <string.h>

#include "exec/noise.h"
#include "exec/processes.h"
#include "shardwright/checked.h"
#include "shardwright/log.h"

/* Two runs that round differently are allowed to be this many times as far apart as the blurred runs were from the
 * sharp one: sums of partial sums round at other places than blurred terms do. */
#define NOISE_MARGIN 16.0
#define BLURRED_RUNS 2
/* Where something differs and numbers were chosen by comparing floats: as many runs see most choices that may turn. */
#define MORE_BLURRED_RUNS 16

typedef struct scale {
  double magnitude; /* the largest element */
  double noise;     /* how far roundings were seen to move one */
} scale;

/* State of one validation. */
typedef struct validator {
  const sw_plan *plan;
  const sw_validate_options *o;
  sw_spmd spmd;
  sw_tensor *args; /* whole, by argument */
  bool own_args;
  sw_tensor *want;   /* by output, single device */
  sw_tensor *values; /* by model value, with `intermediates`; else NULL */
  scale *scales;     /* by model value, with `intermediates` */
  sw_tensor *turned; /* likewise; of integers and bools, true where a rounding turned one; no data: nowhere */
  int blurred_runs;
  double **partials; /* likewise, by element: the largest partial sum on the way to it; NULL: none */
  sw_tensor *blocks; /* devices * n_args */
  sw_tensor *got;    /* devices * n_outputs */
  int64_t devices;
  int64_t first, end; /* those that run in this process: all, or one of an MPI run */
  sw_comm *comm;
  bool exact;           /* so far: all numbers seen are small integers */
  int64_t terms;        /* longest reduction */
  pthread_mutex_t lock; /* guards the fields below during the parallel run */
  sw_validation *out;
  int32_t first_bad_step;
  const int32_t *step_of; /* model op -> position */
} validator;

/* --- elements by global index ------------------------------------------------------------------------------------ */

static int64_t offset_of(const sw_buffer *b, const int64_t *index) {
  int64_t at = 0;
  for (int k = 0; k < b->rank; k++) at = at * b->dims[k] + index[k];
  return at;
}

static bool next_index(int rank, const int64_t *limit, int64_t *index) {
  for (int k = rank - 1; k >= 0; k--) {
    if (++index[k] < limit[k]) return true;
    index[k] = 0;
  }
  return false;
}

/* Where a device's block starts and how much of it is real. */
static void block_extent(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, int64_t device, int64_t *lo,
                         int64_t *n) {
  for (int k = 0; k < whole->rank; k++) {
    int64_t hi;
    sw_sharding_extent(m, s, k, whole->dims[k], device, &lo[k], &hi);
    n[k] = hi - lo[k];
  }
}

static bool is_empty(int rank, const int64_t *n) {
  for (int k = 0; k < rank; k++) {
    if (n[k] <= 0) return true;
  }
  return false;
}

/* A box of n[k] positions from lo[k] on in each dimension of a buffer. */
typedef struct box {
  const sw_buffer *b;
  const int64_t *lo;
} box;

/* Copy between two boxes of extents n, a row along the last dimension at a time. */
static void copy_box(box dst, box src, const int64_t *n) {
  int rank = dst.b->rank, outer = rank ? rank - 1 : 0;
  int64_t index[SW_MAX_RANK] = {0}, to[SW_MAX_RANK], from[SW_MAX_RANK], bytes = sw_dtype_bytes(dst.b->dtype);
  if (is_empty(rank, n)) return;
  do {
    for (int k = 0; k < rank; k++) {
      to[k] = dst.lo[k] + index[k];
      from[k] = src.lo[k] + index[k];
    }
    memcpy((char *)dst.b->data + offset_of(dst.b, to) * bytes,
           (const char *)src.b->data + offset_of(src.b, from) * bytes, (size_t)(bytes * (rank ? n[outer] : 1)));
  } while (next_index(outer, n, index));
}

static const int64_t kOrigin[SW_MAX_RANK];

/* Copy the real part of a block between its buffer and the whole tensor. */
static void copy_block(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, const sw_buffer *block,
                       int64_t device, bool to_whole) {
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK];
  block_extent(m, s, whole, device, lo, n);
  box w = {whole, lo}, b = {block, kOrigin};
  copy_box(to_whole ? w : b, to_whole ? b : w, n);
}

sw_rc sw_cut_block(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, int64_t device, sw_tensor *out,
                   sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  for (int k = 0; k < whole->rank; k++) dims[k] = sw_sharding_block(s, k, whole->dims[k]);
  SW_TRY(sw_tensor_init(out, whole->dtype, whole->rank, dims, d));
  copy_block(m, s, whole, out, device, false);
  return SW_OK;
}

/* --- comparing ---------------------------------------------------------------------------------------------------- */

/* Errors of one op pass through all later ones: the tolerance of a single reduction times the root of the depth, or
 * what the reruns have shown of what is left where terms cancel. */
static sw_tolerance tolerance_for(const validator *v, sw_dtype dtype, scale s) {
  if (v->exact) return (sw_tolerance){0, 0};
  double depth = sqrt((double)sw_graph_main_block(v->plan->graph)->n_ops);
  double relative = sw_tolerance_for(dtype, v->terms, 1).relative * depth;
  return (sw_tolerance){relative, relative * s.magnitude + NOISE_MARGIN * s.noise};
}

/* What roundings were seen to turn is nobody's mistake: wanted as it is. */
static sw_rc excuse_turned(const box *turned, const int64_t *n, sw_buffer *want, const sw_buffer *got, sw_diag *d) {
  sw_tensor mask = {0};
  SW_TRY(sw_tensor_init(&mask, SW_BOOL, want->rank, n, d));
  copy_box((box){&mask, kOrigin}, *turned, n);
  size_t bytes = (size_t)sw_dtype_bytes(want->dtype);
  for (int64_t i = 0; i < sw_buffer_elements(want); i++) {
    size_t at = (size_t)i * bytes;
    if (((const unsigned char *)mask.data)[i]) memcpy((char *)want->data + at, (const char *)got->data + at, bytes);
  }
  sw_tensor_deinit(&mask);
  return SW_OK;
}

/* Compare one device's block with its part of the whole; keeps the worse of two differences. `turned` may be NULL. */
static sw_rc compare_block(const validator *v, const sw_sharding *s, const sw_buffer *whole, const sw_buffer *turned,
                           const sw_buffer *block, int64_t device, sw_tolerance tol, sw_difference *out, sw_diag *d) {
  int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK];
  block_extent(v->spmd.mesh, s, whole, device, lo, n);
  *out = (sw_difference){0};
  if (is_empty(whole->rank, n)) return SW_OK;
  sw_tensor want = {0}, got = {0};
  sw_rc rc = sw_tensor_init(&want, whole->dtype, whole->rank, n, d);
  if (!rc) rc = sw_tensor_init(&got, whole->dtype, whole->rank, n, d);
  if (!rc) {
    copy_block(v->spmd.mesh, s, whole, &want, device, false);
    copy_box((box){&got, kOrigin}, (box){block, kOrigin}, n);
    if (turned) rc = excuse_turned(&(box){turned, lo}, n, &want, &got, d);
    if (!rc) rc = sw_tensor_compare(&got, &want, tol, out, d);
  }
  for (int k = 0; !rc && k < whole->rank; k++) { /* report global indices */
    out->first[k] += lo[k];
    out->worst[k] += lo[k];
  }
  sw_tensor_deinit(&want);
  sw_tensor_deinit(&got);
  return rc;
}

/* Where roundings turn elements of a value; NULL: nowhere. */
static const sw_buffer *turned_of(const validator *v, sw_id value) {
  return v->turned && v->turned[value].data ? &v->turned[value] : NULL;
}

/* --- the single-device run --------------------------------------------------------------------------------------- */

static sw_rc observe_single(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  (void)device;
  validator *v = user;
  for (int i = 0; i < op->n_results; i++) {
    v->exact = v->exact && sw_small_integers(results[i]);
    if (v->values) sw_tensor_deinit(&v->values[op->results[i]]); /* of an earlier trip of the loop */
    if (v->values) SW_TRY(sw_tensor_copy(&v->values[op->results[i]], results[i], d));
  }
  return SW_OK;
}

static void find_terms(validator *v) {
  const sw_graph *g = v->plan->graph;
  v->terms = 1;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_space *s = g->ops[i].space;
    double terms = 1;
    for (int l = 0; s && l < s->n_loops; l++) {
      if (s->loops[l].kind != SW_LOOP_PARALLEL) terms *= (double)s->loops[l].size;
    }
    if (terms > (double)v->terms && terms < 1e15) v->terms = (int64_t)terms;
  }
}

static sw_rc run_once(validator *v, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  const sw_buffer **args = sw_mem_alloc((size_t)f->n_args + 1, sizeof *args, d);
  if (!args) return SW_E_RESOURCE;
  v->exact = true;
  for (int32_t i = 0; i < f->n_args; i++) {
    args[i] = &v->args[i];
    v->exact = v->exact && sw_small_integers(args[i]);
  }
  sw_exec_options o = {.observe = observe_single, .observe_user = v, .cancel = v->o->cancel};
  double start = sw_now_s();
  sw_rc rc = sw_exec_run(g, args, &o, v->want, d);
  v->out->single_s = sw_now_s() - start;
  sw_mem_free(args);
  v->out->exact = v->exact;
  find_terms(v);
  return rc;
}

/* Small integers make chaotic numbers of some models (a softmax of large scores): unless everything stays exact with
 * them, random floats of moderate size are the better arguments. */
static sw_rc run_single(validator *v, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  SW_TRY(run_once(v, d));
  if (v->exact || !v->own_args || v->o->random_floats) return SW_OK;
  for (int32_t i = 0; i < f->n_args; i++) sw_tensor_deinit(&v->args[i]);
  for (int32_t i = 0; i < f->n_outputs; i++) sw_tensor_deinit(&v->want[i]);
  for (int32_t i = 0; v->values && i < g->n_values; i++) sw_tensor_deinit(&v->values[i]);
  SW_TRY(sw_make_arguments(g, v->o->seed, true, v->args, d));
  return run_once(v, d);
}

static const sw_buffer *single_value(const validator *v, sw_id id) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  const sw_value *value = &g->values[id];
  if (value->def >= 0) return v->values[id].data ? &v->values[id] : NULL;
  bool is_arg = value->def_index < f->n_args && f->args[value->def_index] == id; /* not of a region's block */
  return is_arg ? &v->args[value->def_index] : NULL;
}

/* An integer or bool that follows from inexact floats may turn at any rounding. */
static bool turns(const validator *v, sw_id id) {
  const sw_graph *g = v->plan->graph;
  const sw_op *op = g->values[id].def >= 0 ? &g->ops[g->values[id].def] : NULL;
  if (v->exact || !op || sw_dtype_class_of(g->values[id].type.dtype) == SW_CLASS_FLOAT) return false;
  for (int i = 0; i < op->n_operands; i++) {
    if (sw_dtype_class_of(sw_operand_type(g, op, i)->dtype) == SW_CLASS_FLOAT) return true;
  }
  return false;
}

/* --- the parallel run -------------------------------------------------------------------------------------------- */

static sw_rc cut_arguments(validator *v, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  for (int64_t dev = v->first; dev < v->end; dev++) {
    for (int32_t i = 0; i < f->n_args; i++) {
      sw_tensor *block = &v->blocks[dev * f->n_args + i];
      if (v->plan->args_whole) SW_TRY(sw_tensor_copy(block, &v->args[i], d));
      if (!v->plan->args_whole) SW_TRY(sw_cut_block(v->spmd.mesh, &v->plan->args[i], &v->args[i], dev, block, d));
    }
  }
  return SW_OK;
}

static void valid_of(void *user, sw_id value, int64_t device, int64_t *valid) {
  sw_spmd_valid(&((const validator *)user)->spmd, value, device, valid);
}

/* What one device's run leaves to compare a block with, or NULL. Partial values have no counterpart there, and of a
 * loop's values only the last is known. */
static const sw_buffer *counterpart(const validator *v, const sw_layout *l) {
  if (!l->is_block || l->sharding.n_partial || turns(v, l->source)) return NULL;
  const sw_graph *g = v->plan->graph;
  sw_id def = g->values[l->source].def;
  return def >= 0 && sw_op_in_loop(g, &g->ops[def]) ? NULL : single_value(v, l->source);
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
        .name = v->plan->graph->values[l->source].name, .rank = whole->rank, .exact = v->exact, .device = device};
    e.tolerance = tolerance_for(v, whole->dtype, v->scales[l->source]);
    SW_TRY(
        compare_block(v, &l->sharding, whole, turned_of(v, l->source), results[i], device, e.tolerance, &e.worst, d));
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

/* All devices of this process, or the one. */
static sw_rc execute(validator *v, const sw_exec_options *o, sw_diag *d) {
  const sw_function *f = &v->spmd.program->functions[v->spmd.program->main];
  size_t n = (size_t)v->devices * (size_t)f->n_args;
  const sw_buffer **args = sw_mem_alloc(n + 1, sizeof *args, d);
  if (!args) return SW_E_RESOURCE;
  for (size_t i = 0; i < n; i++) args[i] = &v->blocks[i];
  sw_exec_program program = {v->spmd.program, v->spmd.mesh, v->comm, valid_of, v};
  sw_rc rc = v->o->mpi ? sw_exec_run_device(&program, v->first, args + v->first * f->n_args, o,
                                            &v->got[v->first * f->n_outputs], d)
                       : sw_exec_run_spmd(&program, args, o, v->got, d);
  sw_mem_free(args);
  return rc;
}

static sw_rc run_parallel(validator *v, sw_diag *d) {
  sw_exec_options o = {.poison = true, .cancel = v->o->cancel, .on_op = v->o->on_op, .on_op_user = v->o->listener};
  o.sabotage = (sw_sabotage){nth_collective(&v->spmd, v->o->sabotage, NULL), v->o->sabotage_alters};
  if (v->values) o.observe = observe_parallel;
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
static sw_rc share(validator *v, sw_arena *arena, sw_diag *d) {
  const sw_function *f = &v->spmd.program->functions[v->spmd.program->main];
  sw_processes p = {v->comm, v->spmd.mesh, v->first};
  SW_TRY(sw_processes_share_tensors(&p, f->n_outputs, v->got, d));
  return sw_processes_share_findings(&p, v->first_bad_step, v->out, arena, d);
}

static sw_rc open_comm(validator *v, bool listened, sw_diag *d) {
  sw_comm_options co = {.timeout_s = v->o->timeout_s, .jitter_seed = v->o->jitter_seed, .cancel = v->o->cancel};
  co.on_call = listened ? v->o->on_call : NULL;
  co.on_call_user = v->o->listener;
  v->devices = v->end = sw_mesh_devices(v->spmd.mesh);
  if (!v->o->mpi) return sw_comm_create_threads(v->spmd.mesh, &co, &v->comm, d);
  SW_TRY(sw_comm_create_mpi(v->spmd.mesh, &co, &v->comm, &v->first, d));
  v->end = v->first + 1;
  v->out->device = v->first;
  return SW_OK;
}

/* Where each device stood when the run failed. */
static void log_flight_record(const validator *v) {
  sw_text text = {0};
  sw_comm_report(v->comm, &text);
  sw_log(SW_LOG_WARN, "the last collectives of each device:\n%s", sw_text_str(&text));
  sw_text_free(&text);
}

static void close_comm(validator *v, sw_rc rc, const sw_diag *d) {
  if (v->comm && v->o->mpi) sw_comm_leave(v->comm, v->first, rc, rc && d ? d->text : NULL);
  sw_comm_destroy(v->comm);
}

/* --- what rounding may do --------------------------------------------------------------------------------------- */

/* The block's absolute elements into the whole's largest; what is not finite is padding, or beyond any rounding. */
static void raise_to(double *largest, const sw_buffer *whole, const sw_buffer *block, const int64_t *lo,
                     const int64_t *n) {
  int64_t index[SW_MAX_RANK] = {0}, bytes = sw_dtype_bytes(block->dtype);
  if (is_empty(whole->rank, n)) return;
  do {
    int64_t to[SW_MAX_RANK];
    for (int k = 0; k < whole->rank; k++) to[k] = lo[k] + index[k];
    double v = fabs(sw_element_load(block->dtype, (const char *)block->data + offset_of(block, index) * bytes));
    double *at = &largest[offset_of(whole, to)];
    if (isfinite(v) && v > *at) *at = v;
  } while (next_index(whole->rank, n, index));
}

/* The least or largest of parts is one of them, unrounded. */
static bool is_partial_sum(const sw_layout *l) {
  sw_reduction kind = (sw_reduction)l->sharding.partial_kind;
  return l->is_block && l->sharding.n_partial && kind != SW_REDUCE_MIN && kind != SW_REDUCE_MAX;
}

static sw_rc observe_partials(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results,
                              sw_diag *d) {
  validator *v = user;
  sw_rc rc = SW_OK;
  for (int i = 0; i < op->n_results && !rc; i++) {
    const sw_layout *l = &v->spmd.layout[op->results[i]];
    const sw_buffer *whole = l->source >= 0 && is_partial_sum(l) ? single_value(v, l->source) : NULL;
    if (!whole || sw_dtype_class_of(whole->dtype) != SW_CLASS_FLOAT) continue;
    int64_t lo[SW_MAX_RANK], n[SW_MAX_RANK];
    block_extent(v->spmd.mesh, &l->sharding, whole, device, lo, n);
    pthread_mutex_lock(&v->lock);
    double **largest = &v->partials[l->source];
    if (!*largest) *largest = sw_mem_alloc((size_t)sw_buffer_elements(whole) + 1, sizeof **largest, d);
    if (*largest) raise_to(*largest, whole, results[i], lo, n);
    rc = *largest ? SW_OK : SW_E_RESOURCE;
    pthread_mutex_unlock(&v->lock);
  }
  return rc;
}

/* Partial sums may be larger than what they add up to, and it is they that are rounded. The run takes a communicator
 * of its own, nobody listening; where everything is exact it is left out. */
static sw_rc find_partials(validator *v, sw_diag *d) {
  int64_t n_got = v->devices * v->spmd.program->functions[v->spmd.program->main].n_outputs;
  sw_exec_options o = {.poison = true, .cancel = v->o->cancel, .observe = observe_partials, .observe_user = v};
  sw_rc rc = v->exact ? SW_OK : execute(v, &o, d);
  for (int64_t i = 0; i < n_got; i++) sw_tensor_deinit(&v->got[i]);
  if (rc && rc != SW_E_CANCELLED) log_flight_record(v);
  close_comm(v, rc, d);
  v->comm = NULL;
  return rc ? rc : open_comm(v, true, d);
}

/* Which integers and bools of a blurred run are others than in the sharp one: chosen among floats, those that were seen
 * to turn; behind such choices all of a value, as another choice leads elsewhere. */
static sw_rc note_turned(validator *v, sw_id id, const sw_buffer *b, sw_diag *d) {
  const sw_buffer *sharp = &v->values[id];
  sw_dtype_class class = sw_dtype_class_of(b->dtype);
  size_t bytes = (size_t)sw_dtype_bytes(b->dtype);
  if (class == SW_CLASS_FLOAT || class == SW_CLASS_COMPLEX) return SW_OK;
  for (int64_t i = 0; i < sw_buffer_elements(b); i++) {
    size_t at = (size_t)i * bytes;
    if (memcmp((const char *)b->data + at, (const char *)sharp->data + at, bytes) == 0) continue;
    if (!v->turned[id].data) SW_TRY(sw_tensor_init(&v->turned[id], SW_BOOL, b->rank, b->dims, d));
    if (!turns(v, id)) memset(v->turned[id].data, 1, (size_t)sw_buffer_elements(b));
    ((unsigned char *)v->turned[id].data)[i] = 1;
  }
  return SW_OK;
}

/* How far a value of a blurred run is from the sharp one. */
static sw_rc observe_blurred(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  (void)device;
  validator *v = user;
  for (int i = 0; i < op->n_results; i++) {
    SW_TRY(note_turned(v, op->results[i], results[i], d));
    scale *s = &v->scales[op->results[i]];
    s->noise = fmax(s->noise, sw_farthest(results[i], &v->values[op->results[i]]));
  }
  return SW_OK;
}

static sw_rc run_blurred(validator *v, uint64_t seed, sw_arena *scratch, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  sw_exec_options o = {.blur = seed,
                       .blur_least = (const double *const *)v->partials,
                       .observe = observe_blurred,
                       .observe_user = v,
                       .cancel = v->o->cancel};
  sw_tensor *args, *outputs;
  const sw_buffer **list;
  sw_rng rng;
  SW_ARENA_NEW(args, scratch, f->n_args, d);
  SW_ARENA_NEW(list, scratch, f->n_args, d);
  SW_ARENA_NEW(outputs, scratch, f->n_outputs, d);
  sw_rng_seed(&rng, seed);
  sw_rc rc = SW_OK;
  for (int32_t i = 0; !rc && i < f->n_args; i++) {
    rc = sw_tensor_copy(&args[i], &v->args[i], d);
    if (!rc) sw_blur(&args[i], NULL, &rng);
    list[i] = &args[i];
  }
  if (!rc) rc = sw_exec_run(g, list, &o, outputs, d);
  for (int32_t i = 0; i < f->n_args; i++) sw_tensor_deinit(&args[i]);
  for (int32_t i = 0; i < f->n_outputs; i++) sw_tensor_deinit(&outputs[i]);
  return rc;
}

static sw_rc find_scales(validator *v, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  if (!v->values) return SW_OK;
  SW_ARENA_NEW(v->scales, arena, g->n_values, d);
  SW_ARENA_NEW(v->partials, arena, g->n_values, d);
  SW_ARENA_NEW(v->turned, arena, g->n_values, d);
  for (int32_t i = 0; i < g->n_values; i++) {
    const sw_buffer *b = single_value(v, i);
    if (b) v->scales[i].magnitude = sw_magnitude(b);
  }
  SW_TRY(find_partials(v, d));
  for (int seed = 1; !v->exact && seed <= v->blurred_runs; seed++) SW_TRY(run_blurred(v, (uint64_t)seed, arena, d));
  return SW_OK;
}

/* --- judgement --------------------------------------------------------------------------------------------------- */

static scale scale_of_output(const validator *v, int32_t i) {
  const sw_function *f = &v->plan->graph->functions[v->plan->graph->main];
  return v->scales ? v->scales[f->outputs[i]] : (scale){.magnitude = sw_magnitude(&v->want[i])};
}

static sw_rc judge_output(validator *v, int32_t i, sw_validate_entry *e, sw_diag *d) {
  const sw_function *f = &v->plan->graph->functions[v->plan->graph->main];
  *e = (sw_validate_entry){.name = f->output_names[i],
                           .rank = v->want[i].rank,
                           .exact = v->exact,
                           .tolerance = tolerance_for(v, v->want[i].dtype, scale_of_output(v, i))};
  for (int64_t dev = 0; dev < v->devices; dev++) {
    sw_difference diff;
    const sw_buffer *block = &v->got[dev * f->n_outputs + i];
    SW_TRY(compare_block(v, &v->plan->outputs[i], &v->want[i], turned_of(v, f->outputs[i]), block, dev, e->tolerance,
                         &diff, d));
    v->out->elements += diff.compared;
    if (dev == 0 || diff.differing > e->worst.differing) {
      e->worst = diff;
      e->device = dev;
    }
    if (v->o->outputs) copy_block(v->spmd.mesh, &v->plan->outputs[i], &v->o->outputs[i], block, dev, true);
  }
  v->out->matches = v->out->matches && e->worst.differing == 0;
  return SW_OK;
}

static sw_rc judge(validator *v, sw_arena *arena, sw_diag *d) {
  const sw_function *f = &v->plan->graph->functions[v->plan->graph->main];
  sw_validate_entry *entries;
  SW_ARENA_NEW(entries, arena, f->n_outputs, d);
  v->out->matches = v->out->first_bad_op == NULL;
  v->out->n_outputs = f->n_outputs;
  v->out->outputs = entries;
  for (int32_t i = 0; i < f->n_outputs; i++) {
    const sw_buffer *w = &v->want[i];
    if (v->o->outputs) SW_TRY(sw_tensor_init(&v->o->outputs[i], w->dtype, w->rank, w->dims, d));
    SW_TRY(judge_output(v, i, &entries[i], d));
  }
  return SW_OK;
}

static sw_rc prepare(validator *v, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  int32_t *step;
  SW_ARENA_NEW(step, arena, g->n_ops, d);
  for (int32_t i = 0; i < sw_graph_main_block(g)->n_ops; i++) step[sw_graph_main_block(g)->ops[i]] = i;
  v->step_of = step;
  SW_ARENA_NEW(v->args, arena, f->n_args, d);
  SW_ARENA_NEW(v->want, arena, f->n_outputs, d);
  SW_ARENA_NEW(v->blocks, arena, v->devices * f->n_args, d);
  SW_ARENA_NEW(v->got, arena, v->devices * f->n_outputs, d);
  if (v->o->intermediates) SW_ARENA_NEW(v->values, arena, g->n_values, d);
  for (int32_t i = 0; v->o->inputs && i < f->n_args; i++) v->args[i] = v->o->inputs[i];
  if (!v->o->inputs) SW_TRY(sw_make_arguments(g, v->o->seed, v->o->random_floats, v->args, d));
  v->own_args = !v->o->inputs;
  return SW_OK;
}

static void release(validator *v) {
  const sw_graph *g = v->plan->graph;
  const sw_function *f = &g->functions[g->main];
  for (int32_t i = 0; v->own_args && i < f->n_args; i++) sw_tensor_deinit(&v->args[i]);
  for (int32_t i = 0; v->want && i < f->n_outputs; i++) sw_tensor_deinit(&v->want[i]);
  for (int64_t i = 0; v->blocks && i < v->devices * f->n_args; i++) sw_tensor_deinit(&v->blocks[i]);
  for (int64_t i = 0; v->got && i < v->devices * f->n_outputs; i++) sw_tensor_deinit(&v->got[i]);
  for (int32_t i = 0; v->values && i < g->n_values; i++) sw_tensor_deinit(&v->values[i]);
  for (int32_t i = 0; v->turned && i < g->n_values; i++) sw_tensor_deinit(&v->turned[i]);
  for (int32_t i = 0; v->partials && i < g->n_values; i++) sw_mem_free(v->partials[i]);
  sw_spmd_deinit(&v->spmd);
}

static sw_rc validate(const sw_plan *plan, const sw_validate_options *o, int blurred_runs, sw_arena *arena,
                      sw_validation *out, sw_diag *d) {
  *out = (sw_validation){0};
  validator v = {.plan = plan, .o = o, .out = out, .blurred_runs = blurred_runs};
  SW_TRY(sw_partition(plan, &v.spmd, d));
  pthread_mutex_init(&v.lock, NULL);
  (void)nth_collective(&v.spmd, 0, &out->collectives);
  sw_rc rc = sw_spmd_verify(&v.spmd, d);
  if (!rc) rc = open_comm(&v, !o->intermediates, d);
  if (!rc) rc = prepare(&v, arena, d);
  if (!rc) rc = run_single(&v, d);
  if (!rc) rc = cut_arguments(&v, d);
  if (!rc) rc = find_scales(&v, arena, d);
  if (!rc) rc = run_parallel(&v, d);
  if (rc && v.out->parallel_s > 0 && rc != SW_E_CANCELLED) log_flight_record(&v);
  if (!rc && o->mpi) rc = share(&v, arena, d);
  if (!rc) rc = judge(&v, arena, d);
  close_comm(&v, rc, d);
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
