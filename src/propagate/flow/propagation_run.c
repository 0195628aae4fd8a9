/* Steps are run in program order; those whose tensors another has changed are run again, what changed last first. */
#include "propagate/flow/propagation_run.h"

#include "shardwright/arena.h"

static void enqueue(sw_run *r, int32_t step) {
  if (r->queued[step]) return;
  r->queued[step] = true;
  r->queue[r->n_queued++] = step;
}

static void enqueue_users(sw_run *r, int32_t tensor) {
  for (int32_t k = r->first_use[tensor]; k < r->first_use[tensor + 1]; k++) enqueue(r, r->uses[k]);
}

static sw_rc join_run(sw_run *r, int32_t member, int32_t tensor, sw_diag *d) {
  SW_TRY(sw_watch_join(r, member, tensor, d));
  r->f->shardings[member] = r->f->shardings[tensor];
  return SW_OK;
}

/* All members of a group have what one of them has got. */
static sw_rc tell_group(sw_run *r, int32_t tensor, sw_diag *d) {
  enqueue_users(r, tensor);
  for (int32_t m = tensor; r->member_next && (m = r->member_next[m]) != tensor;) {
    SW_TRY(join_run(r, m, tensor, d));
    enqueue_users(r, m);
  }
  return SW_OK;
}

/* Has tensor i of the step changed, be it by what it became there or later in the step? */
static bool has_changed_here(const sw_projection *p, const bool *changed, int i) {
  for (int k = i; k < p->n; k++) {
    if (changed[k] && p->step->tensors[k] == p->step->tensors[i]) return sw_has_grown(p, i);
  }
  return false;
}

static sw_rc run_step(sw_run *r, int32_t id, sw_diag *d) {
  const sw_flow_op *s = &r->f->steps[id];
  sw_direction direction[SW_MOST_FACTORS];
  bool changed[SW_MOST_TENSORS];
  if (!sw_project(r->f, s, r->priority, &r->p)) return SW_OK;
  for (int k = 0; k < r->p.n_factors; k++)
    direction[k] = s->allowed & (r->direction ? r->direction(r, id, k) : SW_DIRECTION_BOTH);
  if (r->layer == SW_LAYER_BASIC)
    sw_propagate_basic(&r->p, direction);
  else
    sw_propagate_aggressive(&r->p, direction, s->kind == SW_STEP_ELEMENTWISE);
  sw_watch_before(r);
  if (!sw_unproject(r->f, &r->p, changed))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a tensor is cut by more than %d axes", SW_MAX_REFS);
  SW_TRY(sw_watch_after(r, direction, changed, d));
  r->queued[id] = true; /* it is not run again for what it did itself */
  for (int i = 0; i < r->p.n; i++) {
    if (has_changed_here(&r->p, changed, i)) SW_TRY(tell_group(r, s->tensors[i], d));
  }
  r->queued[id] = false;
  return SW_OK;
}

sw_rc sw_run_all(sw_run *r, sw_diag *d) {
  for (int32_t i = r->f->n_steps - 1; i >= 0; i--) enqueue(r, i);
  while (r->n_queued) {
    int32_t step = r->queue[--r->n_queued];
    r->queued[step] = false;
    SW_TRY(run_step(r, step, d));
  }
  return SW_OK;
}

/* Of step i: its tensors of one side, each after those that it was put to before. */
static void put_uses(sw_run *r, int32_t i, bool results) {
  const sw_flow_op *s = &r->f->steps[i];
  const int from = results ? s->n_operands : 0, to = results ? s->n_operands + s->n_results : s->n_operands;
  for (int k = from; k < to; k++) {
    if (s->tensors[k] >= 0) r->uses[r->first_use[s->tensors[k] + 1]++] = i;
  }
}

/* The steps of each tensor, in the order in which they are enqueued: those that make it, then those that use it, the
 * last first. So the first that uses it is run first. */
static sw_rc find_uses(sw_run *r, sw_arena *arena, sw_diag *d) {
  const sw_flow *f = r->f;
  int32_t total = 0;
  SW_ARENA_NEW(r->first_use, arena, f->n_tensors + 2, d);
  for (int32_t i = 0; i < f->n_steps; i++) {
    const sw_flow_op *s = &f->steps[i];
    for (int k = 0; k < s->n_operands + s->n_results; k++) {
      if (s->tensors[k] < 0) continue;
      r->first_use[s->tensors[k] + 2]++;
      total++;
    }
  }
  SW_ARENA_NEW(r->uses, arena, total, d);
  for (int32_t t = 0; t < f->n_tensors; t++) r->first_use[t + 2] += r->first_use[t + 1];
  for (int32_t i = 0; i < f->n_steps; i++) put_uses(r, i, true);
  for (int32_t i = f->n_steps - 1; i >= 0; i--) put_uses(r, i, false);
  return SW_OK;
}

/* Rings of the members of each group. */
static sw_rc link_groups(sw_run *r, sw_arena *arena, sw_diag *d) {
  const sw_flow *f = r->f;
  int32_t *last, most = -1;
  for (int32_t t = 0; f->group && t < f->n_tensors; t++) most = f->group[t] > most ? f->group[t] : most;
  if (most < 0) return SW_OK;
  SW_ARENA_NEW(r->member_next, arena, f->n_tensors, d);
  SW_ARENA_NEW(last, arena, most + 1, d);
  for (int32_t g = 0; g <= most; g++) last[g] = -1;
  for (int32_t t = 0; t < f->n_tensors; t++) {
    int32_t g = f->group[t];
    r->member_next[t] = t;
    if (g < 0) continue;
    if (last[g] >= 0) {
      r->member_next[t] = r->member_next[last[g]];
      r->member_next[last[g]] = t;
    }
    last[g] = t;
  }
  return SW_OK;
}

/* Before anything is carried on, members that have no sharding get that of the first that has one. */
static sw_rc join_groups(sw_run *r, sw_diag *d) {
  for (int32_t t = 0; r->member_next && t < r->f->n_tensors; t++) {
    if (r->f->shardings[t].mesh < 0) continue;
    for (int32_t m = r->member_next[t]; m != t; m = r->member_next[m]) {
      if (r->f->shardings[m].mesh < 0) SW_TRY(join_run(r, m, t, d));
    }
  }
  return SW_OK;
}

static sw_rc run_layer(sw_run *r, sw_layer layer, sw_arena *arena, sw_diag *d) {
  SW_TRY(find_uses(r, arena, d));
  SW_TRY(link_groups(r, arena, d));
  if (r->f->origins) SW_TRY(sw_watch_begin(r, arena, d));
  SW_TRY(join_groups(r, d));
  SW_ARENA_NEW_EACH(arena, r->f->n_steps, d, r->queue, r->queued);
  if (layer >= SW_LAYER_USER_PRIORITY) return sw_run_user_priority(r, d);
  return layer == SW_LAYER_OP_PRIORITY ? sw_run_op_priority(r, d) : sw_run_all(r, d);
}

sw_rc sw_flow_propagate(sw_flow *f, sw_layer layer, sw_diag *d) {
  sw_arena arena = {0};
  sw_run *r = sw_arena_alloc(&arena, 1, sizeof *r, d);
  if (!r) return SW_E_RESOURCE;
  r->f = f;
  r->layer = layer;
  r->priority = INT32_MAX;
  r->round = -1;
  sw_rc rc = run_layer(r, layer, &arena, d);
  sw_arena_deinit(&arena);
  for (int32_t t = 0; t < f->n_tensors && layer >= SW_LAYER_USER_PRIORITY; t++) {
    f->shardings[t].has_priority = 0;
    for (int k = 0; k < SW_MAX_RANK; k++) f->shardings[t].priority[k] = 0;
  }
  return rc;
}
