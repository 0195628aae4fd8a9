#include "plan/borders.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/checked.h"

typedef struct finder {
  const sw_plan *p;
  sw_units units;
  sw_arena *arena;
  sw_route_cache *routes;
  SW_ARRAY(sw_plan_reshard) all;
  SW_ARRAY(int32_t) of_value;  /* reshards of the value at hand */
  SW_ARRAY(sw_value_use) uses; /* of one reshard */
  SW_ARRAY(int32_t) which;     /* by use of the value at hand: its reshard; -1: none */
  SW_ARRAY(int32_t) needed;    /* likewise: the step at which it needs the value as it is made */
  sw_plan_borders *out;
} finder;

static sw_rc add_reshard(finder *f, sw_id value, int32_t leg, const sw_sharding *from, const sw_sharding *to,
                         int32_t step, sw_diag *d) {
  const sw_route *route;
  const sw_type *type = &f->p->job.graph->values[value].type;
  const sw_dtype moved = sw_sharding_moved_as(from, to, type->dtype);
  const sw_reshard wanted = {sw_value_machine(&f->p->job, value), from, to, type->rank, type->dims, moved, {0}};
  SW_TRY_NOTE(d, sw_route_cached(f->routes, &wanted, &route, d), "while resharding value '%s'",
              f->p->job.graph->values[value].name);
  const double break_s = leg < 2 ? sw_value_break_s(&f->p->job, value, from, to) : 0,
               unpack_s = leg < 2 ? sw_value_unpack_s(&f->p->job, value, from, to) : 0;
  const sw_plan_reshard r = {value, leg, *from, *to, route, break_s, unpack_s, {step, step}, 0, NULL};
  return sw_array_push(&f->all, r, d);
}

/* The reshard of the value at hand to `to`, made when it is the first. */
static sw_rc reshard_to(finder *f, sw_id value, const sw_sharding *from, const sw_sharding *to, int32_t step,
                        int32_t *out, sw_diag *d) {
  for (size_t i = 0; i < f->of_value.n; i++) {
    if (sw_sharding_equal(&f->all.at[f->of_value.at[i]].to, to)) {
      *out = f->of_value.at[i];
      return SW_OK;
    }
  }
  *out = (int32_t)f->all.n;
  SW_TRY(sw_array_push(&f->of_value, *out, d));
  return add_reshard(f, value, 1, from, to, step, d);
}

/* From the sharding stated of a use to what the op works on. */
static sw_rc take_stated(finder *f, sw_id value, const sw_value_use *use, const sw_sharding *stated, int32_t step,
                         sw_diag *d) {
  sw_sharding taken;
  sw_plan_taken_sharding(f->p, *use, &taken);
  if (sw_sharding_equal(stated, &taken) || sw_plan_takes_halo(f->p, *use)) return SW_OK;
  SW_TRY(add_reshard(f, value, 2, stated, &taken, step, d));
  sw_plan_reshard *r = &f->all.at[f->all.n - 1];
  sw_value_use *only = sw_arena_copy(f->arena, use, 1, sizeof *use, d);
  if (!only) return SW_E_RESOURCE;
  r->uses = only;
  r->n_uses = 1;
  return SW_OK;
}

/* From what the op makes to the sharding stated of its result: right before the first use, held to the last. */
static sw_rc make_stated(finder *f, sw_id value, const sw_sharding *stated, sw_diag *d) {
  const sw_value *v = &f->p->job.graph->values[value];
  sw_sharding made;
  sw_plan_made_sharding(f->p, value, &made);
  if (sw_sharding_equal(stated, &made) || !v->n_uses) return SW_OK;
  const int32_t first = sw_use_step(&f->units, v->uses[0]);
  int32_t last = first;
  SW_TRY(add_reshard(f, value, 0, &made, stated, first, d));
  sw_plan_reshard *r = &f->all.at[f->all.n - 1];
  r->steps.last = f->out->life[value].last;
  for (int32_t u = 0; r->steps.last < first && u < v->n_uses; u++) /* inside a kernel it is not held as it is made */
    last = sw_max_i32(last, sw_use_until(&f->units, v->uses[u]));
  r->steps.last = sw_max_i32(r->steps.last, last);
  r->n_uses = v->n_uses;
  r->uses = v->uses;
  f->out->bytes[value] = sw_sharding_held_bytes(&made, v->type.dims, v->type.dtype);
  f->out->life[value].last = first;
  return SW_OK;
}

/* Each reshard of the value, from `first` on, with its own list of uses. */
static sw_rc list_uses(finder *f, const sw_value *v, size_t first, sw_diag *d) {
  for (size_t r = first; r < f->all.n; r++) {
    if (f->all.at[r].leg != 1) continue;
    f->uses.n = 0;
    for (int32_t u = 0; u < v->n_uses; u++)
      if (f->which.at[u] == (int32_t)r) SW_TRY(sw_array_push(&f->uses, v->uses[u], d));
    f->all.at[r].uses = sw_arena_copy(f->arena, f->uses.at, f->uses.n, sizeof *f->uses.at, d);
    if (!f->all.at[r].uses) return SW_E_RESOURCE;
  }
  return SW_OK;
}

/* The step up to which a use needs the value as it is made: one that its kernel keeps inside is not in memory then. */
static int32_t until_taken(const finder *f, sw_id value, const sw_value_use *use) {
  const sw_keeping keeping = sw_value_keeping(f->p->job.kernels, value);
  if (keeping == SW_KEPT_INSIDE || keeping == SW_KEPT_AGAIN) return sw_value_step(&f->units, value);
  return sw_use_until(&f->units, *use);
}

/* How a use wants the value, which it has as it is made unless it says otherwise. */
static void find_wanted(const finder *f, sw_value_use use, sw_sharding *made_or_wanted) {
  if (!sw_plan_use_is_of_made(f->p, use)) sw_plan_use_sharding(f->p, use, made_or_wanted);
}

/* What lies where another value did, by the block of that which is written over: a state's, or what the op takes of its
 * operand, which may be a copy. */
static int64_t bytes_under(const finder *f, sw_id value) {
  const sw_graph *g = f->p->job.graph;
  const sw_value *v = &g->values[value], *over = &g->values[f->p->job.kernels->updates[value]];
  const sw_op *op = &g->ops[v->def];
  sw_sharding taken;
  sw_plan_value_sharding(f->p, f->p->job.kernels->updates[value], &taken);
  if (op->n_operands && op->operands[0] == f->p->job.kernels->updates[value])
    find_wanted(f, (sw_value_use){v->def, 0}, &taken);
  return sw_sharding_held_bytes(&taken, over->type.dims, over->type.dtype);
}

/* Reshards `first` and after are of the value. What is inside a kernel holds memory only where a copy is made of it;
 * what is written over another value does where its block is not that one's. */
static void hold_as_kept(finder *f, sw_id value, size_t first) {
  const sw_keeping keeping = sw_value_keeping(f->p->job.kernels, value);
  const bool nothing = keeping == SW_KEPT_IN_PLACE ? f->out->bytes[value] == bytes_under(f, value)
                                                   : keeping != SW_KEPT_STORED && f->all.n == first;
  if (nothing) f->out->bytes[value] = 0;
}

/* Does the op run, and read the use? */
static bool is_use_taken(const finder *f, sw_value_use use) {
  const sw_strategy *s = use.op < 0 ? NULL : &f->p->ops[use.op];
  return !s || sw_strategy_takes(s, use.index);
}

static sw_rc uses_of_value(finder *f, sw_id value, sw_diag *d) {
  const sw_value *v = &f->p->job.graph->values[value];
  const size_t first = f->all.n;
  sw_sharding from, to;
  sw_plan_value_sharding(f->p, value, &from);
  f->out->bytes[value] = 0;
  if (v->def < 0 || sw_strategy_runs(&f->p->ops[v->def]))
    f->out->bytes[value] = sw_sharding_held_bytes(&from, v->type.dims, v->type.dtype);
  if (sw_value_is_on_host(f->p->job.graph, value)) f->out->bytes[value] = 0;
  f->of_value.n = f->which.n = f->needed.n = 0;
  for (int32_t u = 0; u < v->n_uses; u++) {
    const int32_t step = sw_use_step(&f->units, v->uses[u]);
    int32_t r = -1, until = sw_use_until(&f->units, v->uses[u]), needed = until_taken(f, value, &v->uses[u]);
    if (!is_use_taken(f, v->uses[u])) {
      SW_TRY(sw_array_push(&f->which, -1, d));
      SW_TRY(sw_array_push(&f->needed, sw_value_step(&f->units, value), d));
      continue;
    }
    to = from;
    find_wanted(f, v->uses[u], &to);
    if (!sw_sharding_equal(&from, &to)) {
      SW_TRY(reshard_to(f, value, &from, &to, step, &r, d));
      f->all.at[r].steps.last = until > f->all.at[r].steps.last ? until : f->all.at[r].steps.last;
      assert(f->all.at[r].value == value && f->all.at[r].steps.first <= step);
      f->all.at[r].n_uses++;
      needed = f->all.at[r].steps.first;
    }
    SW_TRY(sw_array_push(&f->which, r, d));
    SW_TRY(sw_array_push(&f->needed, needed, d));
    if (f->p->n_stated && v->uses[u].op >= 0) SW_TRY(take_stated(f, value, &v->uses[u], &to, step, d));
  }
  assert(f->needed.n == (size_t)v->n_uses && f->which.n == (size_t)v->n_uses);
  f->out->life[value] = sw_value_life(&f->units, value, f->needed.at);
  hold_as_kept(f, value, first);
  SW_TRY(list_uses(f, v, first, d));
  return v->def < 0 || !f->p->n_stated ? SW_OK : make_stated(f, value, &from, d);
}

static int by_reshard_step(const void *a, const void *b) {
  const sw_plan_reshard *x = a, *y = b;
  if (x->steps.first != y->steps.first) return x->steps.first < y->steps.first ? -1 : 1;
  if (x->uses[0].index != y->uses[0].index) return x->uses[0].index < y->uses[0].index ? -1 : 1;
  if (x->value != y->value) return x->value < y->value ? -1 : 1;
  return x->leg < y->leg ? -1 : x->leg > y->leg;
}

static sw_rc begin_borders(finder *f, sw_diag *d) {
  SW_ARENA_NEW_EACH(f->arena, f->p->job.graph->n_values, d, f->out->life, f->out->bytes);
  return sw_route_cache_make(f->arena, &f->routes, d);
}

static sw_rc collect(finder *f, sw_diag *d) {
  SW_TRY(begin_borders(f, d));
  for (int32_t i = 0; i < f->units.n; i++) {
    const sw_unit unit = sw_unit_at(&f->units, i);
    for (int32_t k = 0; k < unit.n_makes; k++) SW_TRY(uses_of_value(f, unit.makes[k], d));
  }
  if (f->all.n) qsort(f->all.at, f->all.n, sizeof *f->all.at, by_reshard_step);
  f->out->n_reshards = (int32_t)f->all.n;
  f->out->reshards = sw_arena_copy(f->arena, f->all.at, f->all.n, sizeof *f->all.at, d);
  return f->out->reshards ? SW_OK : SW_E_RESOURCE;
}

static void end(finder *f) {
  sw_array_free(&f->all);
  sw_array_free(&f->of_value);
  sw_array_free(&f->uses);
  sw_array_free(&f->which);
  sw_array_free(&f->needed);
}

sw_rc sw_plan_find_borders(const sw_plan *p, sw_arena *arena, sw_plan_borders *out, sw_diag *d) {
  finder f = {.p = p, .units = sw_units_of(&p->job), .arena = arena, .out = out};
  *out = (sw_plan_borders){0};
  sw_rc rc = collect(&f, d);
  end(&f);
  return rc;
}

double sw_plan_reshard_s(const sw_plan *p, const sw_plan_reshard *r) {
  return (r->route->cost_s + r->break_s) * (double)sw_value_repeats(p->job.graph, r->value);
}

struct sw_border_prices {
  finder f;
  sw_plan_borders borders;
};

sw_rc sw_border_prices_make(const sw_plan *p, sw_arena *arena, sw_border_prices **out, sw_diag *d) {
  SW_ARENA_NEW(*out, arena, 1, d);
  (*out)->f = (finder){.p = p, .units = sw_units_of(&p->job), .arena = arena, .out = &(*out)->borders};
  return begin_borders(&(*out)->f, d);
}

sw_rc sw_border_prices_ask(sw_border_prices *b, const sw_plan *p, sw_id value, double *seconds, sw_diag *d) {
  finder *f = &b->f;
  sw_diag why = {0};
  f->p = p;
  f->all.n = 0;
  const sw_rc rc = uses_of_value(f, value, &why);
  *seconds = rc == SW_E_INPUT ? HUGE_VAL : 0;
  if (rc == SW_E_INPUT) return SW_OK;
  if (rc && d) *d = why;
  for (size_t i = 0; i < f->all.n && !rc; i++) *seconds += sw_plan_reshard_s(p, &f->all.at[i]);
  return rc;
}

void sw_border_prices_free(sw_border_prices *b) {
  if (b) end(&b->f);
}
