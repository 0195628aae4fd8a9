/* One device: ops in program order, each value freed after its last use.
 *
 * Freed blocks are kept for later values of about the same size, so that a loop of layers does not touch new pages for
 * every op. With `poison`, a result is filled with garbage before its kernel runs, and its padding after: what a kernel
 * forgets to write or should not have read then shows in the outputs.
 */
#include "exec/execution.h"

#include <string.h>

#include "exec/kernels/op_kernel.h"
#include "exec/validate/perturb.h"
#include "base/checked.h"

enum { MOST_SCRATCH_KEPT = 64 << 20 };

/* --- memory of values --------------------------------------------------------------------------------------------- */

/* The smallest kept block that holds `bytes` and is at most twice as large. */
static void *pool_take(sw_execution *e, int64_t bytes, int64_t *got, sw_diag *d) {
  int best = -1;
  for (int i = 0; i < e->n_pool; i++) {
    int64_t have = e->pool[i].bytes;
    if (have >= bytes && have / 2 <= bytes && (best < 0 || have < e->pool[best].bytes)) best = i;
  }
  *got = bytes;
  if (best < 0) return sw_mem_alloc((size_t)bytes, 1, d);
  sw_pool_block b = e->pool[best];
  e->pool[best] = e->pool[--e->n_pool];
  *got = b.bytes;
  return b.at;
}

static void pool_give(sw_execution *e, void *at, int64_t bytes) {
  if (e->n_pool == SW_POOL_BLOCKS) { /* the oldest goes */
    sw_mem_free(e->pool[0].at);
    memmove(e->pool, e->pool + 1, (SW_POOL_BLOCKS - 1) * sizeof e->pool[0]);
    e->n_pool--;
  }
  e->pool[e->n_pool++] = (sw_pool_block){at, bytes};
}

static void count_bytes(sw_execution *e, int64_t bytes) {
  e->held_bytes += bytes;
  e->peak_bytes = sw_max_i64(e->peak_bytes, e->held_bytes);
}

static int64_t tensor_bytes(const sw_buffer *b) { return sw_buffer_elements(b) * sw_dtype_bytes(b->dtype); }

void sw_held_set_valid(const sw_execution *e, sw_id value, sw_buffer *b) {
  const sw_exec_program *p = e->v->program;
  if (p && p->valid) {
    p->valid(p->valid_user, value, e->v->device, b->valid);
  } else {
    memcpy(b->valid, b->dims, sizeof b->valid);
  }
}

sw_rc sw_held_create(sw_execution *e, sw_id id, sw_diag *d) {
  const sw_value *value = &e->v->graph->values[id];
  sw_held *h = &e->values[id];
  int64_t bytes = sw_type_bytes(&value->type);
  if (bytes < 0) return SW_FAIL_INPUT(d, value->span, "value '%s' has a size that is not known", value->name);
  h->t = (sw_tensor){.dtype = value->type.dtype, .rank = value->type.rank};
  for (int i = 0; i < value->type.rank; i++) h->t.dims[i] = value->type.dims[i];
  h->uses_left = value->n_uses;
  h->t.data = pool_take(e, sw_max_i64(bytes, 1), &h->bytes, d);
  if (!h->t.data) return SW_E_RESOURCE;
  sw_held_set_valid(e, id, &h->t);
  if (e->v->options->poison) sw_buffer_poison(&h->t);
  count_bytes(e, bytes);
  return SW_OK;
}

/* A borrowed operand that is read for the first time becomes the execution's own, and perturbed. */
static sw_rc perturb_borrowed(sw_execution *e, const sw_op *op, sw_diag *d) {
  for (int i = 0; i < op->n_operands; i++) {
    sw_held *h = &e->values[op->operands[i]];
    int64_t bytes = tensor_bytes(&h->t), got;
    if (h->bytes || !h->t.data) continue;
    void *copy = pool_take(e, sw_max_i64(bytes, 1), &got, d);
    if (!copy) return SW_E_RESOURCE;
    if (bytes) memcpy(copy, h->t.data, (size_t)bytes);
    h->t.data = copy;
    h->bytes = got;
    sw_perturb(&h->t, NULL, &e->perturb);
  }
  return SW_OK;
}

void sw_held_release(sw_execution *e, sw_held *h) {
  count_bytes(e, -tensor_bytes(&h->t));
  if (h->bytes) pool_give(e, h->t.data, h->bytes);
  *h = (sw_held){0};
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

/* Instead of a collective: the device's own input, over and over. */
static void keep_own(const sw_buffer *in, sw_buffer *out) {
  int64_t have = tensor_bytes(in), want = tensor_bytes(out);
  for (int64_t at = 0; have > 0 && at < want; at += have) {
    memcpy((char *)out->data + at, in->data, (size_t)sw_min_i64(have, want - at));
  }
}

/* A collective's result moved by one element; a single one becomes 0, or 1 where it is 0. */
static void move_result(sw_buffer *out) {
  int64_t element = sw_dtype_bytes(out->dtype), all = tensor_bytes(out);
  char first[16], *data = out->data;
  if (all <= element) {
    const bool zero =
        all && sw_dtype_class_of(out->dtype) != SW_CLASS_COMPLEX && sw_element_load(out->dtype, data) == 0;
    memset(data, 0, (size_t)all);
    if (zero) sw_element_store(out->dtype, 1, data);
    return;
  }
  memcpy(first, data, (size_t)element);
  memmove(data, data + element, (size_t)(all - element));
  memcpy(data + all - element, first, (size_t)element);
}

static void clear(sw_buffer *b) { memset(b->data, 0, (size_t)tensor_bytes(b)); }

/* The collective with its root, whose coordinates may be operands. */
static sw_collective with_root(const sw_op *op, const sw_buffer *const *in) {
  sw_collective c = *op->collective;
  for (int i = 0, next = 1; i < c.n_root && next < op->n_operands; i++) {
    if (c.root[i] == SW_ROOT_IS_OPERAND) c.root[i] = sw_buffer_int(in[next++], 0);
  }
  return c;
}

/* A send gives its input on, and what is sent to a recv counts alone. */
static sw_rc run_call(sw_execution *e, const sw_comm_call *call, sw_diag *d) {
  sw_comm *comm = e->comm;
  sw_comm_call given = *call;
  if (call->coll->op == SW_COLL_RECV) given.in = NULL;
  if (call->coll->op != SW_COLL_SEND) return sw_comm_run(comm, e->v->device, &given, d);
  given.out = NULL;
  if (call->in && call->out) keep_own(call->in, call->out);
  return sw_comm_run(comm, e->v->device, &given, d);
}

/* By the greatest; where that may be the same, as with bits, bools and sums to which one device gives an index and the
 * others 0, by the least. */
static sw_reduction other_reduction(const sw_collective *c, sw_dtype t) {
  switch ((int)c->reduction) {
    case SW_REDUCE_MAX:
    case SW_REDUCE_OR:
      return SW_REDUCE_MIN;
    case SW_REDUCE_BIT_OR:
    case SW_REDUCE_BIT_XOR:
      return t == SW_BOOL ? SW_REDUCE_MIN : SW_REDUCE_BIT_AND;
    case SW_REDUCE_SUM:
    case SW_REDUCE_AVERAGE:
      return sw_dtype_class_of(t) == SW_CLASS_FLOAT || sw_dtype_class_of(t) == SW_CLASS_COMPLEX ? SW_REDUCE_MAX
                                                                                                : SW_REDUCE_MIN;
    default:
      return SW_REDUCE_MAX;
  }
}

static sw_rc inject_fault(sw_execution *e, const sw_comm_call *call, sw_diag *d) {
  sw_collective other = *call->coll;
  sw_comm_call altered = *call;
  const sw_coll_fault fault = e->v->options->inject_fault.fault;
  const bool left_out = fault == SW_COLL_FAULT_LEFT_OUT;
  other.reduction = other_reduction(call->coll, call->out->dtype);
  if (fault == SW_COLL_FAULT_OTHER_REDUCTION) altered.coll = &other;
  if (!left_out || other.op == SW_COLL_RECV) SW_TRY(run_call(e, &altered, d)); /* what was sent must not stay */
  if (left_out) keep_own(call->in, call->out);
  if (fault == SW_COLL_FAULT_SHIFTED) move_result(call->out);
  return SW_OK;
}

static sw_rc run_collective(sw_execution *e, const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out,
                            sw_diag *d) {
  const sw_exec_program *p = e->v->program;
  if (!p || !e->comm) return SW_FAIL_INPUT(d, op->span, "op '%s' is a collective, but one device runs alone", op->name);
  const int64_t device = e->v->device;
  const sw_collective coll = with_root(op, in);
  sw_comm_call call = {.coll = &coll,
                       .in = op->n_operands ? in[0] : NULL,
                       .out = op->n_results ? out[0] : NULL,
                       .where = op - e->v->graph->ops};
  bool listed = !coll.lists || coll.lists[device].n;
  if (op == e->v->options->inject_fault.op && call.in && call.out && listed) return inject_fault(e, &call, d);
  if (listed) SW_TRY(run_call(e, &call, d));
  bool given = listed && !(coll.sources && coll.sources[sw_collective_place(p->mesh, &coll, device)] < 0);
  if (!given && call.out) clear(call.out);
  return SW_OK;
}

/* A collective of either kind, or a kernel. */
static sw_rc run_by_kind(sw_execution *e, const sw_op *op, const sw_buffer *const *in, sw_buffer *const *out,
                         sw_diag *d) {
  const sw_exec_program *p = e->v->program;
  if (op->code == SW_OP_COLLECTIVE) return run_collective(e, op, in, out, d);
  sw_exec_ctx ctx = {p ? p->mesh : NULL, e->v->device, &e->scratch};
  return sw_exec_eval(op, in, out, &ctx, d);
}

static sw_rc run_op(sw_execution *e, const sw_op *op, sw_diag *d) {
  const sw_exec_options *o = e->v->options;
  const sw_buffer **in;
  sw_buffer **out;
  SW_ARENA_NEW(in, &e->scratch, op->n_operands, d);
  SW_ARENA_NEW(out, &e->scratch, op->n_results, d);
  for (int i = 0; i < op->n_operands; i++) in[i] = &e->values[op->operands[i]].t;
  for (int i = 0; i < op->n_results; i++) {
    SW_TRY(sw_held_create(e, op->results[i], d));
    out[i] = &e->values[op->results[i]].t;
  }
  const sw_injected_fault *f = &o->inject_fault;
  if (op == f->op && f->fault == SW_COLL_FAULT_STALE) in[f->operand] = &f->instead[e->v->device];
  SW_TRY(run_by_kind(e, op, in, out, d));
  for (int i = 0; op == f->op && f->fault == SW_COLL_FAULT_OTHER_VALUE && i < op->n_results; i++) move_result(out[i]);
  for (int i = 0; i < op->n_results; i++) {
    sw_held_set_valid(e, op->results[i], out[i]);
    if (o->poison) sw_buffer_poison_padding(out[i]);
    if (o->perturb && (sw_op_content(op) < SW_CONTENT_CHOSEN || (op->nest && op->nest->flops_per_point > 0)))
      sw_perturb(out[i], o->perturb_least ? o->perturb_least[op->results[i]] : NULL, &e->perturb);
  }
  return o->observe ? o->observe(o->observe_user, e->v->device, op, (const sw_buffer *const *)out, d) : SW_OK;
}

static void release_unused(sw_execution *e, const sw_op *op) {
  if (e->shared) pthread_mutex_lock(e->shared);
  for (int i = 0; i < op->n_operands; i++) {
    sw_held *h = &e->values[op->operands[i]];
    if (--h->uses_left == 0) sw_held_release(e, h);
  }
  for (int i = 0; i < op->n_results; i++) {
    sw_held *h = &e->values[op->results[i]];
    if (h->uses_left == 0) sw_held_release(e, h);
  }
  if (e->shared) pthread_mutex_unlock(e->shared);
}

/* Empty the scratch, but keep one block that would have held all of what the op took (a reset keeps only the last):
 * the next layer's op then finds its memory in place. */
static sw_rc scratch_recycle(sw_execution *e, sw_diag *d) {
  size_t used = e->scratch.bytes;
  sw_arena_reset(&e->scratch);
  if (used <= e->scratch_block || used > MOST_SCRATCH_KEPT) return SW_OK;
  e->scratch_block = used;
  if (!sw_arena_alloc(&e->scratch, used, 1, d)) return SW_E_RESOURCE;
  sw_arena_reset(&e->scratch);
  return SW_OK;
}

static sw_rc run_control(sw_execution *e, const sw_op *op, sw_id *next, sw_diag *d) {
  if (e->shared) pthread_mutex_lock(e->shared);
  const sw_rc rc = sw_control_run(e, op, next, d);
  if (e->shared) pthread_mutex_unlock(e->shared);
  return rc;
}

sw_rc sw_execution_run_op(sw_execution *e, sw_id id, sw_id *next, sw_diag *d) {
  const sw_graph *g = e->v->graph;
  const sw_exec_options *o = e->v->options;
  const sw_op *op = &g->ops[id];
  double start = sw_now_s();
  *next = id + 1;
  if (o->perturb) SW_TRY(perturb_borrowed(e, op, d));
  if (sw_is_control(op->code)) return run_control(e, op, next, d);
  sw_rc rc = run_op(e, op, d);
  if (o->on_op && !o->delays)
    o->on_op(o->on_op_user,
             &(sw_exec_event){.device = e->v->device, .op = op, .start_s = start, .end_s = sw_now_s(), .rc = rc});
  SW_TRY_NOTE(d, rc, "while executing op '%s' (%s)", op->name, sw_opcode_text(op->code));
  if (o->times) {
    o->times[e->v->device * g->n_ops + id] = (sw_exec_time){start - e->v->began_s, sw_now_s() - e->v->began_s};
  }
  SW_TRY(scratch_recycle(e, d));
  release_unused(e, op);
  return SW_OK;
}

static sw_rc run_ops(sw_execution *e, sw_diag *d) {
  const sw_graph *g = e->v->graph;
  sw_id next;
  for (sw_id id = 0; id < g->n_ops; id = next) {
    if (sw_cancelled(e->v->options->cancel)) {
      return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "execution was interrupted");
    }
    SW_TRY(sw_execution_run_op(e, id, &next, d));
  }
  return SW_OK;
}

/* --- arguments and outputs ---------------------------------------------------------------------------------------- */

static sw_rc take_args(sw_execution *e, const sw_buffer *const *args, sw_diag *d) {
  const sw_graph *g = e->v->graph;
  for (int i = 0; i < g->n_args; i++) {
    const sw_value *value = &g->values[g->args[i]];
    const sw_buffer *b = args[i];
    bool fits = b && b->dtype == value->type.dtype && b->rank == value->type.rank;
    for (int k = 0; fits && k < b->rank; k++) fits = b->dims[k] == value->type.dims[k];
    if (!fits) return SW_FAIL_INPUT(d, value->span, "argument '%s' is not of the declared type", value->name);
    e->values[g->args[i]] = (sw_held){.t = *b, .uses_left = value->n_uses};
    sw_held_set_valid(e, g->args[i], &e->values[g->args[i]].t);
    count_bytes(e, tensor_bytes(b));
  }
  return SW_OK;
}

/* A value's last return hands it over; earlier ones, and an argument's, are copies. */
static sw_rc give_outputs(sw_execution *e, sw_tensor *outputs, sw_diag *d) {
  const sw_graph *g = e->v->graph;
  for (int i = 0; i < g->n_outputs; i++) {
    sw_held *h = &e->values[g->outputs[i]];
    if (--h->uses_left == 0 && h->bytes) {
      outputs[i] = h->t;
      *h = (sw_held){0};
    } else {
      SW_TRY(sw_tensor_copy(&outputs[i], &h->t, d));
    }
  }
  return SW_OK;
}

void sw_execution_deinit(sw_execution *e) {
  for (int i = 0; i < e->n_pool; i++) sw_mem_free(e->pool[i].at);
  sw_arena_deinit(&e->scratch);
}

static void free_values(sw_execution *e) {
  for (int i = 0; e->values && i < e->v->graph->n_values; i++) {
    if (e->values[i].bytes) sw_mem_free(e->values[i].t.data);
  }
  sw_mem_free(e->values);
}

sw_rc sw_device_execute(sw_device *v, const sw_buffer *const *args, sw_tensor *outputs, sw_diag *d) {
  int n_outputs = v->graph->n_outputs;
  sw_execution e = {.v = v, .comm = v->program ? v->program->comm : NULL};
  sw_rng_seed(&e.perturb, v->options->perturb);
  memset(outputs, 0, (size_t)n_outputs * sizeof *outputs);
  e.values = sw_mem_alloc((size_t)v->graph->n_values, sizeof *e.values, d);
  sw_rc rc = e.values ? take_args(&e, args, d) : SW_E_RESOURCE;
  if (!rc) rc = (v->options->delays ? sw_execution_run_delayed : run_ops)(&e, d);
  if (!rc) rc = give_outputs(&e, outputs, d);
  for (int i = 0; rc && i < n_outputs; i++) sw_tensor_deinit(&outputs[i]);
  if (v->options->peak_bytes) v->options->peak_bytes[v->device] = e.peak_bytes;
  free_values(&e);
  sw_execution_deinit(&e);
  return rc;
}
