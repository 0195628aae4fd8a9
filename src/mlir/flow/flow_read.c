/* From a syntax tree to tensors and steps.
 *
 * Values that one sharding is said of by construction are one tensor: the result of a loop or choice, the arguments of
 * its regions, and the data_flow_edge on it. What flows into it are the operands of an edge.
 */
#include <string.h>

#include "base/disjoint.h"
#include "mlir/flow/rule_steps.h"
#include "mlir/import/types.h"
#include "mlir/text/values.h"

/* The function that is being read. */
typedef struct reader {
  sw_program_flow *p;
  const sw_ir_tree *t;
  sw_im_alone rules;
  uint32_t function;
  uint32_t first_arg;               /* the place of its first argument */
  bool has_main, gives;             /* a function of that name; are results of the one at hand edges? */
  uint32_t op;                      /* that is being read */
  int32_t *own;                     /* by use: the tensor that a use of a constant has for itself; -1: none */
  int32_t *tensor_of;               /* by slot; -1: none yet, or no tensor of known sizes */
  int32_t *n_uses;                  /* by slot */
  uint32_t *first_call, *next_call; /* the calls of a function: by it, and by the call before */
  int32_t *results;                 /* of the function, by index */
  uint32_t n_results;
  SW_ARRAY(uint32_t) open;      /* ops with regions, or that hand values on, around the one at hand */
  sw_dict groups;               /* from the text's group_id to a number */
  SW_ARRAY(int32_t) same_group; /* by number: one that it is the same group as; itself: none */
  sw_diag *d;
} reader;

static bool flow_op_is(const reader *r, const sw_ir_op *o, const char *name) { return sw_ir_is(r->t, o->name, name); }

sw_rc sw_program_flow_add(sw_program_flow *p, const sw_type *type, uint32_t made_by, int32_t *out) {
  sw_open_sharding none = {.mesh = -1};
  none.cut.rank = (uint8_t)type->rank;
  *out = (int32_t)p->type.n;
  SW_TRY(sw_array_push(&p->type, *type, p->d));
  SW_TRY(sw_array_push(&p->group, -1, p->d));
  SW_TRY(sw_array_push(&p->said_at, SW_IR_NONE, p->d));
  SW_TRY(sw_array_push(&p->constant_of, -1, p->d));
  SW_TRY(sw_array_push(&p->next_copy, -1, p->d));
  SW_TRY(sw_array_push(&p->made_by, made_by, p->d));
  return sw_array_push(&p->said, none, p->d);
}

static sw_rc new_tensor(sw_program_flow *p, const sw_type *type, int32_t *out) {
  return sw_program_flow_add(p, type, SW_IR_NONE, out);
}

/* A tensor of the type that is written; -1 where that is none of known sizes. */
static sw_rc tensor_of_type(reader *r, sw_ir_span text, int32_t *out) {
  sw_type type;
  bool known;
  *out = -1;
  SW_TRY(sw_ir_read_sized_type(r->t, text, &r->p->arena, &type, &known));
  return known ? new_tensor(r->p, &type, out) : SW_OK;
}

static uint32_t result_slot(const reader *r, const sw_ir_op *o, uint32_t i) {
  uint32_t number;
  const sw_ir_result *at = sw_ir_result_at(r->t, o, i, &number);
  return at ? r->p->names->result[at - r->t->results.at] + number : SW_IR_NONE;
}

/* The tensor of a use in a function that was read. */
static int32_t tensor_of_use(const reader *r, uint32_t function, uint32_t use) {
  return r->own[use] >= 0 ? r->own[use] : r->p->tensors_in[function][r->p->names->use[use]];
}

static int32_t operand(const reader *r, const sw_ir_op *o, uint32_t i) {
  return tensor_of_use(r, r->function, o->first_use + i);
}

static int32_t result(const reader *r, const sw_ir_op *o, uint32_t i) {
  uint32_t slot = result_slot(r, o, i);
  return slot == SW_IR_NONE ? -1 : r->tensor_of[slot];
}

/* --- shardings ---------------------------------------------------------------------------------------------------- */

static sw_rc note_said_sharding(reader *r, int32_t tensor, sw_ir_span text) {
  sw_open_sharding s;
  if (!sw_ir_len(text)) return SW_OK;
  SW_TRY(sw_open_sharding_read(&r->p->sdy, text, &s));
  if (tensor < 0) return SW_OK;                     /* of no tensor of known sizes: nothing is propagated there */
  s.cut.rank = (uint8_t)r->p->type.at[tensor].rank; /* a maximal one has no dimensions in the text */
  r->p->said.at[tensor] = s;
  r->p->said_at.at[tensor] = text.at;
  return SW_OK;
}

static sw_rc note_said_place(reader *r, sw_said_at kind, uint32_t op, uint32_t index, const int32_t *tensors,
                             int32_t n) {
  sw_said s = {kind, op, index, (int32_t)r->p->said_of.n, n};
  for (int32_t i = 0; i < n; i++) SW_TRY(sw_array_push(&r->p->said_of, tensors[i], r->d));
  return sw_array_push(&r->p->places, s, r->d);
}

/* #sdy.sharding_per_value<[<..>, <..>]> */
static sw_rc say_results(reader *r, const sw_ir_op *o, const int32_t *tensors, uint32_t n) {
  sw_ir_span v = sw_ir_attr(r->t, o, "sdy.sharding", NULL), item;
  uint32_t cursor = 0;
  if (!sw_ir_present(v)) return SW_OK;
  v = sw_sdy_items(r->t, v);
  for (uint32_t i = 0; i < n && sw_ir_next_item(r->t, v, &cursor, &item); i++)
    SW_TRY(note_said_sharding(r, tensors[i], item));
  return SW_OK;
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static sw_rc make_edge(reader *r, const int32_t *from, int32_t n_from, const int32_t *to, int32_t n_to,
                       sw_direction allowed, sw_flow_op *out) {
  int32_t *tensors, n = 0, n_operands;
  SW_ARENA_NEW(tensors, &r->p->arena, n_from + n_to, r->d);
  for (int32_t i = 0; i < n_from; i++) {
    if (from[i] >= 0) tensors[n++] = from[i];
  }
  n_operands = n;
  for (int32_t i = 0; i < n_to; i++) {
    if (to[i] >= 0) tensors[n++] = to[i];
  }
  bool is = n_operands && n > n_operands && n <= SW_MOST_TENSORS;
  *out = (sw_flow_op){.n_operands = is ? n_operands : 0,
                      .n_results = is ? n - n_operands : 0,
                      .tensors = tensors,
                      .allowed = allowed,
                      .kind = SW_STEP_EDGE,
                      .source = r->op};
  return SW_OK;
}

/* Nothing where either side has no tensor. */
static sw_rc edge(reader *r, const int32_t *from, int32_t n_from, const int32_t *to, int32_t n_to,
                  sw_direction allowed) {
  sw_flow_op s;
  SW_TRY(make_edge(r, from, n_from, to, n_to, allowed, &s));
  return s.n_operands ? sw_array_push(&r->p->steps, s, r->d) : SW_OK;
}

/* Has operand `i` several uses? A constant has one of its own for the op. */
static bool is_shared(const reader *r, const sw_ir_op *o, uint32_t i) {
  const uint32_t *use = &r->p->names->use[o->first_use], slot = use[i];
  const int32_t tensor = r->tensor_of[slot];
  int32_t n = 0;
  if (tensor < 0 || !r->p->type.at[tensor].rank) return false;
  if (r->p->constant_of.at[tensor] < 0) return r->n_uses[slot] > 1;
  for (uint32_t k = 0; k < o->n_uses; k++) n += use[k] == slot;
  return n > 1;
}

/* Of the steps from `first` on, which are the op's. */
static void note_shared(reader *r, const sw_ir_op *o, size_t first) {
  bool shared = false;
  for (uint32_t i = 0; i < o->n_uses && !shared; i++) shared = is_shared(r, o, i);
  for (size_t i = first; i < r->p->steps.n; i++) r->p->steps.at[i].shared_operand = shared;
}

/* sdy.sharding_constraint %x <...>: elementwise, its result in the sharding. A reshard is where propagation ends. */
static sw_rc constraint(reader *r, uint32_t op, const sw_ir_op *o) {
  int32_t x = operand(r, o, 0), y = result(r, o, 0);
  SW_TRY(note_said_sharding(r, y, sw_sdy_own_sharding(r->t, o, "sharding")));
  SW_TRY(note_said_place(r, SW_SAID_INSIDE, op, 0, &y, 1));
  if (flow_op_is(r, o, "sdy.reshard")) return SW_OK;
  const size_t first = r->p->steps.n;
  SW_TRY(edge(r, &x, 1, &y, 1, SW_DIRECTION_BOTH));
  if (r->p->steps.n > first) r->p->steps.at[first].kind = SW_STEP_ELEMENTWISE;
  note_shared(r, o, first);
  return SW_OK;
}

/* sdy.all_gather [...] %x out_sharding=<...>: its result has that, and nothing is propagated through it. */
static sw_rc read_flow_collective(reader *r, uint32_t op, const sw_ir_op *o) {
  int32_t y = result(r, o, 0);
  SW_TRY(note_said_sharding(r, y, sw_sdy_own_sharding(r->t, o, "out_sharding")));
  return note_said_place(r, SW_SAID_INSIDE, op, 0, &y, 1);
}

static sw_rc read_barrier(reader *r, uint32_t op, const sw_ir_op *o) {
  int32_t x = operand(r, o, 0), y = result(r, o, 0);
  sw_direction allowed = SW_DIRECTION_NONE;
  (void)sw_sdy_direction(r->t, sw_ir_attr(r->t, o, "allowed_direction", "allowed_direction"), &allowed);
  SW_TRY(note_said_place(r, SW_SAID_OP, op, 0, &y, 1));
  return edge(r, &x, 1, &y, 1, allowed);
}

/* The same tensor as what it is an edge of. */
static sw_rc data_flow_edge(reader *r, uint32_t op, const sw_ir_op *o) {
  int32_t x = operand(r, o, 0);
  uint32_t slot = result_slot(r, o, 0);
  if (slot != SW_IR_NONE) r->tensor_of[slot] = x;
  if (x < 0) return SW_OK;
  if (r->p->made_by.at[x] != SW_IR_NONE) r->p->has_edge[r->p->made_by.at[x]] = true;
  const uint32_t first = r->p->names->block[o->block], use = r->p->names->use[o->first_use];
  if (use >= first && use < first + r->t->blocks.at[o->block].n_args)
    r->p->has_arg_edge[r->t->regions.at[r->t->blocks.at[o->block].region].op] = true;
  SW_TRY(note_said_sharding(r, x, sw_ir_attr(r->t, o, "sharding", "sharding")));
  return note_said_place(r, SW_SAID_INSIDE, op, 0, &x, 1);
}

/* Of a loop, value i: its operand and what the body returns flow into its result, which its regions' arguments are.
 * Of a choice: what the branches return. Of a barrier: its operand. The values of regions are known when the whole
 * function is read, so the edges are made at its end. */
static sw_rc join_region_values(reader *r, uint32_t op) {
  const sw_ir_op *o = &r->t->ops.at[op];
  bool loop = sw_ir_is_among(r->t, o->name, "stablehlo.while mhlo.while");
  bool choice = !loop && sw_ir_region_count(r->t, o) > 0;
  uint32_t n = sw_ir_result_count(r->t, o), n_regions = sw_ir_region_count(r->t, o);
  int32_t from[SW_MOST_TENSORS];
  for (uint32_t i = 0; i < n; i++) {
    int32_t to = result(r, o, i), n_from = 0;
    if (!choice && i < o->n_uses) from[n_from++] = operand(r, o, i);
    for (uint32_t k = loop ? 1 : 0; k < n_regions && n_from < SW_MOST_TENSORS - 1; k++) {
      const uint32_t ret = sw_ir_last_op(r->t, sw_ir_block_at(r->t, o, k));
      if (ret != SW_IR_NONE && i < r->t->ops.at[ret].n_uses) from[n_from++] = operand(r, &r->t->ops.at[ret], i);
    }
    SW_TRY(edge(r, from, n_from, &to, 1, SW_DIRECTION_BOTH));
  }
  return SW_OK;
}

static bool op_joins_values(const reader *r, const sw_ir_op *o) {
  return sw_ir_is_among(r->t, o->name,
                        "stablehlo.while stablehlo.case stablehlo.if stablehlo.optimization_barrier "
                        "mhlo.while mhlo.case mhlo.if");
}

static bool is_computation(const reader *r, const sw_ir_op *o) {
  return flow_op_is(r, o, "sdy.manual_computation") || flow_op_is(r, o, "sdy.named_computation");
}

/* The arguments of a loop's regions are its results. */
static void name_region_args(reader *r, const sw_ir_op *o) {
  for (uint32_t k = 0; k < sw_ir_region_count(r->t, o); k++) {
    uint32_t block = sw_ir_block_at(r->t, o, k);
    for (uint32_t i = 0; block != SW_IR_NONE && i < r->t->blocks.at[block].n_args; i++)
      r->tensor_of[r->p->names->block[block] + i] = result(r, o, i);
  }
}

static sw_rc return_values(reader *r, const sw_ir_op *o) {
  for (uint32_t i = 0; i < o->n_uses && i < r->n_results; i++) {
    int32_t x = operand(r, o, i);
    sw_flow_op s;
    SW_TRY(make_edge(r, &x, 1, &r->results[i], 1, SW_DIRECTION_BOTH, &s));
    if (s.n_operands && r->gives) SW_TRY(sw_array_push(&r->p->returns, s, r->d));
  }
  return SW_OK;
}

/* Groups that share a member are one. */
static sw_rc sharding_group(reader *r, const sw_ir_op *o) {
  int64_t id;
  int32_t x = operand(r, o, 0);
  if (!sw_ir_read_int(r->t, sw_ir_attr(r->t, o, "group_id", "group_id"), &id) || id < 0 || id > INT32_MAX)
    return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, o->text.at), "expected group_id = a number from 0 on");
  if (x < 0) return SW_OK;
  int64_t *number;
  SW_TRY(sw_dict_put(&r->groups, &id, sizeof id, (int64_t)r->same_group.n, &number, NULL, r->d));
  if (*number == (int64_t)r->same_group.n) SW_TRY(sw_array_push(&r->same_group, (int32_t)*number, r->d));
  int32_t *own = &r->p->group.at[x], *same = r->same_group.at;
  if (*own >= 0) sw_disjoint_join(same, *own, (int32_t)*number);
  *own = sw_disjoint_find(same, (int32_t)*number);
  return SW_OK;
}

/* --- manual computations ------------------------------------------------------------------------------------------ */

static sw_rc manual_axes(reader *r, const sw_ir_op *o, const sw_mesh *m, sw_axis_ref **out, int *n) {
  sw_ir_span list = sw_sdy_manual_axes(r->t, o), item;
  uint32_t cursor = 0;
  *n = 0;
  SW_ARENA_NEW(*out, &r->p->arena, SW_MAX_AXES, r->d);
  while (sw_ir_present(list) && sw_ir_next_item(r->t, list, &cursor, &item) && *n < SW_MAX_AXES) {
    sw_ir_span name = sw_ir_unquoted(r->t, item);
    int axis = sw_mesh_axis_named(m, r->t->s + name.at, sw_ir_len(name));
    if (axis >= 0) (*out)[(*n)++] = sw_axis_whole(m, axis);
  }
  return SW_OK;
}

/* The whole value and what a device of the manual axes has of it; `whole` is the first of the two. */
static sw_rc manual_edge(reader *r, const sw_ir_op *o, int32_t whole, int32_t local, bool in) {
  sw_flow_op s;
  sw_axis_ref *manual;
  if (whole < 0 || local < 0 || r->p->said.at[whole].mesh < 0) return SW_OK;
  SW_TRY(make_edge(r, in ? &whole : &local, 1, in ? &local : &whole, 1, SW_DIRECTION_BOTH, &s));
  SW_TRY(manual_axes(r, o, &r->p->sdy.meshes.at[r->p->said.at[whole].mesh].mesh, &manual, &s.n_manual));
  s.outside = in ? 0 : 1;
  s.manual = manual;
  return sw_array_push(&r->p->steps, s, r->d);
}

/* Operands come in as in_shardings say. In a manual computation they go on inside without the manual axes; of a named
 * one the arguments are these. */
static sw_rc enter_computation(reader *r, uint32_t op, bool manual) {
  const sw_ir_op *o = &r->t->ops.at[op];
  sw_ir_span in = sw_sdy_items(r->t, sw_ir_attr(r->t, o, "in_shardings", "in_shardings")), item = {0, 0};
  uint32_t cursor = 0, block = sw_ir_block_at(r->t, o, 0);
  int32_t *outside;
  if (block == SW_IR_NONE) return SW_OK;
  const uint32_t n = o->n_uses < r->t->blocks.at[block].n_args ? o->n_uses : r->t->blocks.at[block].n_args;
  SW_ARENA_NEW(outside, &r->p->arena, n, r->d);
  for (uint32_t i = 0; i < n; i++) {
    int32_t x = operand(r, o, i), *local = &r->tensor_of[r->p->names->block[block] + i];
    SW_TRY(tensor_of_type(r, r->t->args.at[r->t->blocks.at[block].first_arg + i].type, local));
    bool said = sw_ir_present(in) && sw_ir_next_item(r->t, in, &cursor, &item);
    outside[i] = manual ? -1 : *local;
    if (x < 0 || (manual && !said)) continue;
    const sw_type type = r->p->type.at[x];
    if (manual) SW_TRY(new_tensor(r->p, &type, &outside[i]));
    if (said) SW_TRY(note_said_sharding(r, outside[i], item));
    SW_TRY(edge(r, &x, 1, &outside[i], 1, SW_DIRECTION_BOTH));
    if (manual) SW_TRY(manual_edge(r, o, outside[i], *local, true));
  }
  return note_said_place(r, SW_SAID_IN, op, 0, outside, (int32_t)n);
}

static sw_rc leave_computation(reader *r, uint32_t op, bool manual) {
  const sw_ir_op *o = &r->t->ops.at[op];
  sw_ir_span out = sw_sdy_items(r->t, sw_ir_attr(r->t, o, "out_shardings", "out_shardings")), item = {0, 0};
  uint32_t cursor = 0, ret = sw_ir_last_op(r->t, sw_ir_block_at(r->t, o, 0));
  const uint32_t n = sw_ir_result_count(r->t, o);
  int32_t *outside;
  SW_ARENA_NEW(outside, &r->p->arena, n, r->d);
  for (uint32_t i = 0; i < n; i++) {
    int32_t y = result(r, o, i), x = -1;
    bool said = sw_ir_present(out) && sw_ir_next_item(r->t, out, &cursor, &item);
    if (ret != SW_IR_NONE && i < r->t->ops.at[ret].n_uses) x = operand(r, &r->t->ops.at[ret], i);
    outside[i] = manual ? -1 : y;
    if (y < 0 || (manual && !said)) continue;
    const sw_type type = r->p->type.at[y];
    if (manual) SW_TRY(new_tensor(r->p, &type, &outside[i]));
    if (said) SW_TRY(note_said_sharding(r, outside[i], item));
    if (manual) {
      SW_TRY(manual_edge(r, o, outside[i], x, false));
      SW_TRY(edge(r, &outside[i], 1, &y, 1, SW_DIRECTION_BOTH));
    } else {
      SW_TRY(edge(r, &x, 1, &y, 1, SW_DIRECTION_BOTH));
    }
  }
  r->p->out_place[op] = (uint32_t)r->p->places.n;
  return note_said_place(r, SW_SAID_OUT, op, 0, outside, (int32_t)n);
}

/* --- calls -------------------------------------------------------------------------------------------------------- */

/* sdy.func_data_flow_edge on argument `index` of a function: what all calls hand in. */
static sw_rc argument_edge(reader *r, uint32_t function, uint32_t index, int32_t to) {
  SW_ARRAY(int32_t) from = {0};
  sw_rc rc = SW_OK;
  for (uint32_t op = r->first_call[function]; op != SW_IR_NONE && !rc; op = r->next_call[op]) {
    const sw_ir_op *o = &r->t->ops.at[op];
    if (index >= o->n_uses) continue;
    rc = sw_array_push(&from, tensor_of_use(r, r->p->function_of[op], o->first_use + index), r->d);
  }
  if (!rc) rc = edge(r, from.at, (int32_t)from.n, &to, 1, SW_DIRECTION_BOTH);
  sw_array_free(&from);
  return rc;
}

/* The same on result `index` of a call: what the function returns. */
static sw_rc result_edge(reader *r, uint32_t function, uint32_t index, int32_t to) {
  const uint32_t ret = sw_ir_last_op(r->t, sw_ir_block_at(r->t, &r->t->ops.at[function], 0));
  if (ret == SW_IR_NONE || index >= r->t->ops.at[ret].n_uses) return SW_OK;
  int32_t from = tensor_of_use(r, function, r->t->ops.at[ret].first_use + index);
  return edge(r, &from, 1, &to, 1, SW_DIRECTION_BOTH);
}

/* When all functions are read. */
static sw_rc func_data_flow_edge(reader *r, uint32_t op) {
  r->op = op;
  const sw_ir_op *o = &r->t->ops.at[op];
  uint32_t function = r->p->function_of[op], slot = r->p->names->use[o->first_use];
  uint32_t block = sw_ir_block_at(r->t, &r->t->ops.at[function], 0), first = r->p->names->block[block];
  int32_t to = r->p->tensors_in[function][slot];
  if (slot >= first && slot < first + r->t->blocks.at[block].n_args)
    return argument_edge(r, function, slot - first, to);
  const uint32_t maker = to < 0 ? SW_IR_NONE : r->p->made_by.at[to];
  const uint32_t callee = maker == SW_IR_NONE ? SW_IR_NONE : sw_opt_callee(r->t, r->p->names, &r->t->ops.at[maker]);
  for (uint32_t i = 0, n = callee == SW_IR_NONE ? 0 : sw_ir_result_count(r->t, &r->t->ops.at[maker]); i < n; i++) {
    if (result_slot(r, &r->t->ops.at[maker], i) == slot) return result_edge(r, callee, i, to);
  }
  return SW_OK;
}

/* Without data-flow edges in the text: what calls hand to a function, and what they get from it. */
static sw_rc link_calls(reader *r, uint32_t function) {
  const uint32_t block = sw_ir_block_at(r->t, &r->t->ops.at[function], 0);
  if (r->first_call[function] == SW_IR_NONE || block == SW_IR_NONE) return SW_OK;
  r->op = r->first_call[function];
  for (uint32_t i = 0; i < r->t->blocks.at[block].n_args; i++)
    SW_TRY(argument_edge(r, function, i, r->p->tensors_in[function][r->p->names->block[block] + i]));
  for (uint32_t op = r->first_call[function]; op != SW_IR_NONE; op = r->next_call[op]) {
    const sw_ir_op *o = &r->t->ops.at[op];
    r->op = op;
    for (uint32_t i = 0, n = sw_ir_result_count(r->t, o); i < n; i++) {
      const uint32_t slot = result_slot(r, o, i);
      if (slot != SW_IR_NONE) SW_TRY(result_edge(r, function, i, r->p->tensors_in[r->p->function_of[op]][slot]));
    }
  }
  return SW_OK;
}

/* In the operands of a step. */
static sw_rc replace_in_step(reader *r, sw_flow_op *s, int32_t from, int32_t to) {
  int32_t *tensors;
  if (from == to) return SW_OK;
  SW_ARENA_NEW(tensors, &r->p->arena, s->n_operands + s->n_results, r->d);
  for (int i = 0; i < s->n_operands + s->n_results; i++)
    tensors[i] = i < s->n_operands && s->tensors[i] == from ? to : s->tensors[i];
  s->tensors = tensors;
  return SW_OK;
}

/* Uses of constants by an op that makes none: each its own tensor, but the same one for the same value. Its steps, from
 * `first` on, were made with the shared ones. */
static sw_rc own_constants(reader *r, uint32_t op, size_t first) {
  const sw_ir_op *o = &r->t->ops.at[op];
  const size_t end = r->p->steps.n;
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const uint32_t use = o->first_use + i;
    const int32_t shared = r->tensor_of[r->p->names->use[use]];
    for (uint32_t k = 0; k < i && r->own[use] < 0; k++) {
      if (r->p->names->use[o->first_use + k] == r->p->names->use[use]) r->own[use] = r->own[o->first_use + k];
    }
    if (shared < 0 || r->p->constant_of.at[shared] < 0 || r->own[use] >= 0) continue;
    SW_TRY(sw_constant_use(r->p, shared, &r->own[use]));
    for (size_t s = first; s < end; s++) SW_TRY(replace_in_step(r, &r->p->steps.at[s], shared, r->own[use]));
  }
  return SW_OK;
}

/* Tensors for the results that an op has by its types. */
static sw_rc make_results(reader *r, const sw_ir_op *o, int32_t *tensors, uint32_t n) {
  sw_ir_types_cursor c = sw_ir_result_types(r->t, o);
  sw_ir_span type;
  for (uint32_t i = 0; i < n; i++) {
    uint32_t slot = result_slot(r, o, i);
    tensors[i] = -1;
    if (sw_ir_next_type(r->t, &c, &type)) SW_TRY(tensor_of_type(r, type, &tensors[i]));
    if (tensors[i] >= 0) r->p->made_by.at[tensors[i]] = (uint32_t)(o - r->t->ops.at);
    if (slot != SW_IR_NONE) r->tensor_of[slot] = tensors[i];
  }
  return SW_OK;
}

/* Are its steps those of a rule? Then its constants are known when these are read. */
static bool has_rule(const reader *r, const sw_ir_op *o) {
  return !(op_joins_values(r, o) || is_computation(r, o) || sw_ir_is_return(r->t, o) ||
           sw_ir_starts(r->t, o->name, "sdy.") || sw_opt_callee(r->t, r->p->names, o) != SW_IR_NONE);
}

/* The steps of an op with a rule. Is it made of constants, those that use it have their own; else it has its own of
 * those that it uses. */
static sw_rc steps_of_op(reader *r, uint32_t op, int32_t made) {
  const sw_ir_op *o = &r->t->ops.at[op];
  const size_t first = r->p->steps.n;
  int32_t *operands;
  SW_ARENA_NEW(operands, &r->p->arena, o->n_uses, r->d);
  for (uint32_t i = 0; i < o->n_uses; i++) operands[i] = operand(r, o, i);
  SW_TRY(sw_rule_steps(&r->rules, r->p, op, r->tensor_of));
  note_shared(r, o, first);
  if (!r->p->whole) return SW_OK;
  SW_TRY(sw_constant_note(r->p, op, made, operands, first));
  if (made >= 0 && r->p->constant_of.at[made] >= 0) return SW_OK;
  return own_constants(r, op, first);
}

/* An edge on an argument of the function says the sharding instead of it. */
static void say_at_edge(reader *r, uint32_t slot) {
  const uint32_t block = sw_ir_block_at(r->t, &r->t->ops.at[r->function], 0), first = r->p->names->block[block];
  if (slot < first || slot >= first + r->t->blocks.at[block].n_args) return;
  r->p->said_of.at[r->p->places.at[r->first_arg + slot - first].first] = -1;
}

static sw_rc read_flow_op(reader *r, uint32_t op) {
  const sw_ir_op *o = &r->t->ops.at[op];
  r->op = op;
  if (r->p->whole && !has_rule(r, o)) SW_TRY(own_constants(r, op, r->p->steps.n));
  uint32_t n = sw_ir_result_count(r->t, o);
  int32_t *tensors;
  if (flow_op_is(r, o, "sdy.data_flow_edge")) return data_flow_edge(r, op, o);
  if (flow_op_is(r, o, "sdy.func_data_flow_edge")) {
    int32_t x = operand(r, o, 0);
    uint32_t slot = result_slot(r, o, 0);
    if (slot != SW_IR_NONE) r->tensor_of[slot] = x;
    say_at_edge(r, r->p->names->use[o->first_use]);
    if (x >= 0 && r->p->made_by.at[x] != SW_IR_NONE) r->p->has_edge[r->p->made_by.at[x]] = true;
    if (x >= 0) SW_TRY(say_results(r, o, &x, 1));
    return note_said_place(r, SW_SAID_OP, op, 0, &x, 1);
  }
  if (flow_op_is(r, o, "sdy.sharding_group")) return sharding_group(r, o);
  SW_ARENA_NEW(tensors, &r->p->arena, n, r->d);
  SW_TRY(make_results(r, o, tensors, n));
  SW_TRY(say_results(r, o, tensors, n));
  if (flow_op_is(r, o, "sdy.sharding_constraint") || flow_op_is(r, o, "sdy.reshard")) return constraint(r, op, o);
  if (flow_op_is(r, o, "sdy.propagation_barrier")) return read_barrier(r, op, o);
  if (sw_ir_present(sw_ir_attr(r->t, o, "out_sharding", "out_sharding"))) return read_flow_collective(r, op, o);
  if (sw_ir_is_among(r->t, o->name, "stablehlo.while mhlo.while")) name_region_args(r, o);
  if (flow_op_is(r, o, "sdy.manual_computation")) return enter_computation(r, op, true);
  if (flow_op_is(r, o, "sdy.named_computation")) return enter_computation(r, op, false);
  if (op_joins_values(r, o)) return note_said_place(r, SW_SAID_OP, op, 0, tensors, (int32_t)n);
  if (sw_ir_is_return(r->t, o)) {
    bool of_function = r->t->regions.at[r->t->blocks.at[o->block].region].op == r->function;
    return of_function ? return_values(r, o) : SW_OK;
  }
  const uint32_t callee = sw_opt_callee(r->t, r->p->names, o);
  if (callee != SW_IR_NONE) {
    r->next_call[op] = r->first_call[callee];
    r->first_call[callee] = op;
  }
  if (!n) return SW_OK;
  SW_TRY(note_said_place(r, SW_SAID_OP, op, 0, tensors, (int32_t)n));
  return callee == SW_IR_NONE ? steps_of_op(r, op, n == 1 ? tensors[0] : -1) : SW_OK;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

static sw_rc read_args(reader *r, const sw_ir_op *f, uint32_t block) {
  const sw_ir_block *b = &r->t->blocks.at[block];
  r->first_arg = (uint32_t)r->p->places.n;
  for (uint32_t i = 0; i < b->n_args; i++) {
    int32_t *tensor = &r->tensor_of[r->p->names->block[block] + i];
    SW_TRY(tensor_of_type(r, r->t->args.at[b->first_arg + i].type, tensor));
    SW_TRY(note_said_sharding(r, *tensor, sw_ir_entry(r->t, sw_im_arg_attrs(r->t, f, i), "sdy.sharding")));
    SW_TRY(note_said_place(r, SW_SAID_ARGUMENT, r->function, i, tensor, 1));
  }
  return SW_OK;
}

static sw_rc read_results(reader *r, const sw_ir_op *f) {
  sw_ir_types_cursor c = sw_ir_declared_results(r->t, f);
  sw_ir_span item, list = f->generic ? sw_ir_entry(r->t, f->props, "res_attrs") : (sw_ir_span){0, 0};
  uint32_t cursor = 0;
  SW_ARRAY(int32_t) found = {0};
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; !rc && sw_ir_next_type(r->t, &c, &item); i++) {
    int32_t tensor;
    sw_ir_span alone = sw_ir_type_alone(r->t, item), attrs = sw_ir_trimmed(r->t, (sw_ir_span){alone.end, item.end});
    if (sw_ir_present(list)) (void)sw_ir_next_item(r->t, list, &cursor, &attrs);
    rc = tensor_of_type(r, item, &tensor);
    if (!rc && sw_ir_len(attrs)) rc = note_said_sharding(r, tensor, sw_ir_entry(r->t, attrs, "sdy.sharding"));
    if (!rc) rc = note_said_place(r, SW_SAID_RESULT, r->function, i, &tensor, 1);
    if (!rc) rc = sw_array_push(&found, tensor, r->d);
  }
  r->n_results = (uint32_t)found.n;
  r->results = rc ? NULL : sw_arena_copy(&r->p->arena, found.at, found.n, sizeof *found.at, r->d);
  sw_array_free(&found);
  return rc ? rc : r->results ? SW_OK : SW_E_RESOURCE;
}

/* What flows out of ops with regions, at their ends: those that end before a place of the text. */
static sw_rc leave_ops(reader *r, uint32_t at) {
  while (r->open.n && r->t->ops.at[r->open.at[r->open.n - 1]].text.end <= at) {
    const uint32_t op = r->open.at[--r->open.n];
    const sw_ir_op *o = &r->t->ops.at[op];
    r->op = op;
    SW_TRY(op_joins_values(r, o) ? join_region_values(r, op)
                                 : leave_computation(r, op, flow_op_is(r, o, "sdy.manual_computation")));
  }
  return SW_OK;
}

/* What leaves a program leaves its main function, or, where there is none, those that are public; calls take on what
 * private ones give. */
static bool gives_results(const reader *r, const sw_ir_op *f) {
  const bool is_private = sw_opt_is_private(r->t, f);
  if (is_private && r->p->whole) return true;
  if (r->has_main) return sw_opt_is_main(r->t, f);
  return !is_private;
}

/* Ops [first, end) of the text are the function's. */
static sw_rc read_function(reader *r, uint32_t first, uint32_t end) {
  const sw_ir_op *f = &r->t->ops.at[r->function];
  uint32_t block = sw_ir_block_at(r->t, f, 0), n = r->p->names->n_slots[r->function];
  SW_ARENA_NEW(r->tensor_of, &r->p->arena, n, r->d);
  r->p->tensors_in[r->function] = r->tensor_of;
  r->gives = gives_results(r, f);
  for (uint32_t i = 0; i < n; i++) r->tensor_of[i] = -1;
  SW_ARENA_NEW(r->n_uses, &r->p->arena, n, r->d);
  for (uint32_t op = first; op < end; op++) {
    const sw_ir_op *o = &r->t->ops.at[op];
    for (uint32_t i = 0; i < o->n_uses; i++) r->n_uses[r->p->names->use[o->first_use + i]]++;
  }
  SW_TRY(read_results(r, f));
  if (block == SW_IR_NONE) return SW_OK;
  SW_TRY(read_args(r, f, block));
  SW_TRY(sw_im_alone_open(&r->rules, r->t, r->p->names, r->function, r->d));
  r->open.n = 0;
  for (uint32_t op = first; op < end; op++) {
    SW_TRY(leave_ops(r, r->t->ops.at[op].text.at));
    r->p->function_of[op] = r->function;
    SW_TRY(read_flow_op(r, op));
    if (op_joins_values(r, &r->t->ops.at[op]) || is_computation(r, &r->t->ops.at[op]))
      SW_TRY(sw_array_push(&r->open, op, r->d));
  }
  return leave_ops(r, UINT32_MAX);
}

static sw_rc finish_flow(sw_program_flow *p) {
  const sw_type **types;
  sw_mesh *meshes;
  SW_ARENA_NEW(types, &p->arena, p->type.n, p->d);
  for (size_t i = 0; i < p->type.n; i++) types[i] = &p->type.at[i];
  SW_ARENA_NEW(meshes, &p->arena, p->sdy.meshes.n, p->d);
  for (size_t i = 0; i < p->sdy.meshes.n; i++) meshes[i] = p->sdy.meshes.at[i].mesh;
  for (size_t i = 0; i < p->steps.n; i++) SW_TRY(sw_array_push(&p->returns, p->steps.at[i], p->d));
  p->flow = (sw_flow){.n_meshes = (int32_t)p->sdy.meshes.n,
                      .n_tensors = (int32_t)p->type.n,
                      .n_steps = (int32_t)p->returns.n,
                      .meshes = meshes,
                      .shardings = p->said.at,
                      .types = types,
                      .group = p->group.at,
                      .steps = p->returns.at};
  return SW_OK;
}

static sw_rc read_program(reader *r) {
  const sw_ir_tree *t = r->t;
  sw_program_flow *p = r->p;
  SW_ARENA_NEW_EACH(&p->arena, t->ops.n, r->d, p->tensors_in, p->function_of, p->has_edge);
  SW_ARENA_NEW(r->own, &p->arena, t->uses.n, r->d);
  for (size_t i = 0; i < t->uses.n; i++) r->own[i] = -1;
  SW_ARENA_NEW_EACH(&p->arena, t->ops.n, r->d, p->has_arg_edge, p->out_place, r->first_call, r->next_call);
  for (uint32_t i = 0; i < t->ops.n; i++) {
    r->first_call[i] = r->next_call[i] = SW_IR_NONE;
    r->has_main |= sw_ir_is_function(t, &t->ops.at[i]) && sw_opt_is_main(t, &t->ops.at[i]);
  }
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (!sw_ir_is_function(t, &t->ops.at[i])) continue;
    uint32_t end = i + 1;
    while (end < t->ops.n && !sw_ir_is_function(t, &t->ops.at[end])) end++;
    r->function = i;
    r->rules = (sw_im_alone){0};
    sw_rc rc = read_function(r, i + 1, end);
    sw_im_alone_close(&r->rules);
    SW_TRY(rc);
  }
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (sw_ir_is(t, t->ops.at[i].name, "sdy.func_data_flow_edge")) SW_TRY(func_data_flow_edge(r, i));
  }
  for (uint32_t i = 0; i < t->ops.n && p->whole; i++) SW_TRY(link_calls(r, i));
  for (size_t i = 0; r->same_group.at && i < p->group.n; i++) {
    if (p->group.at[i] >= 0) p->group.at[i] = sw_disjoint_find(r->same_group.at, p->group.at[i]);
  }
  return finish_flow(p);
}

sw_rc sw_program_flow_read(const sw_ir_tree *t, const sw_ir_names *names, int how, sw_program_flow *p, sw_diag *d) {
  *p =
      (sw_program_flow){.t = t, .names = names, .scalars = how & SW_READ_SCALARS, .whole = how & SW_READ_WHOLE, .d = d};
  SW_TRY(sw_sdy_open(&p->sdy, t, &p->arena, d));
  reader r = {.p = p, .t = t, .d = d};
  sw_rc rc = read_program(&r);
  sw_dict_deinit(&r.groups);
  sw_array_free(&r.same_group);
  sw_array_free(&r.open);
  return rc;
}

void sw_program_flow_free(sw_program_flow *p) {
  sw_sdy_close(&p->sdy);
  sw_array_free(&p->type);
  sw_array_free(&p->said);
  sw_array_free(&p->steps);
  sw_array_free(&p->returns);
  sw_array_free(&p->group);
  sw_array_free(&p->said_at);
  sw_array_free(&p->constants);
  sw_array_free(&p->constant_of);
  sw_array_free(&p->next_copy);
  sw_array_free(&p->made_by);
  sw_array_free(&p->places);
  sw_array_free(&p->said_of);
  sw_arena_deinit(&p->arena);
}
