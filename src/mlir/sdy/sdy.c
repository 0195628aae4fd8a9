/* Shardy: which ops its dialect has, and what its attributes say of values. */
#include "mlir/sdy/sdy.h"

#include <stddef.h>

#include "mlir/import/annotate.h"
#include "mlir/import/dialect.h"
#include "mlir/import/tuple.h"

extern const sw_dialect sw_dialect_sdy;

/* --- shardings ---------------------------------------------------------------------------------------------------- */

static bool is_sdy_sharding(const sw_importer *m, sw_ir_span sharding) {
  return sw_ir_len(sharding) && m->t->s[sharding.at] != '"'; /* else GSPMD's */
}

/* Over any mesh, in which the axes have the same names. */
static sw_rc read_sdy_sharding(sw_importer *m, const sw_im_said *of, sw_arena *arena, sw_sharding *out, bool *done,
                               sw_diag *d) {
  sw_sdy_sharding said;
  sw_diag why = {0};
  (void)arena;
  *done = is_sdy_sharding(m, of->text);
  if (!*done) return SW_OK;
  SW_TRY(sw_sdy_said(m, of->text, &said));
  sw_rc rc = sw_sdy_over(&said, of->mesh, of->rank, out, &why);
  return rc == SW_E_INPUT ? SW_FAIL_INPUT(d, sw_ir_place(m->t, of->text.at), "%s", why.text) : rc;
}

/* Which device has a value alone is kept in the text; there is no plan of it. */
static void tell_maximal(sw_importer *m, const sw_value *v, const sw_sdy_sharding *said, uint32_t at) {
  sw_im_warn(m, at, "'%s' is said to be on device %d alone: that is kept as it is, and the plan has it on all devices",
             v->name, (int)said->mesh.device_ids[0]);
}

static sw_rc annotate_as_said(sw_importer *m, const sw_im_target *said_of, const sw_sdy_sharding *said, uint32_t at,
                              sw_diag *why) {
  const sw_value *v = &m->g->values[said_of->value];
  sw_im_target of = *said_of;
  sw_axis_ref kept[SW_MAX_REFS];
  sw_sharding s;
  SW_TRY(sw_sdy_over(said, &m->g->written->mesh, v->type.rank, &s, why));
  SW_TRY(sw_sharding_verify(&m->g->written->mesh, &s, v->type.rank, v->type.dims, why));
  SW_TRY(sw_sdy_kept(said, &m->g->written->mesh, kept, why));
  if (!of.use && v->def >= 0) sw_im_drop_idle_axes(&v->type, &s);
  of.n_kept = said->own.n_replicated;
  of.kept = kept;
  SW_TRY(sw_im_add_annotation(m, &of, &s, of.open | said->own.open, at));
  return sw_sdy_hint_by_priority(m, &of, &s, said, at);
}

static sw_rc annotate_from_sdy(sw_importer *m, const sw_im_target *of, sw_ir_span sharding, uint32_t at, bool *done) {
  const sw_value *v = &m->g->values[of->value];
  sw_sdy_sharding said;
  sw_diag why = {0};
  *done = is_sdy_sharding(m, sharding);
  if (!*done) return SW_OK;
  SW_TRY(sw_sdy_said(m, sharding, &said));
  if (sw_sdy_is_maximal(&said.mesh)) tell_maximal(m, v, &said, at);
  sw_sdy_tell_foreign(m, &said, at);
  if (said.foreign) return SW_OK;
  sw_rc rc = annotate_as_said(m, of, &said, at, &why);
  if (rc != SW_E_INPUT) return rc;
  sw_im_warn(m, at, "the sharding of '%s' is left out: %s", v->name, why.text);
  return SW_OK;
}

/* sdy.sharding = #sdy.sharding_per_value<[<...>, <...>]> */
static sw_rc annotate_results(sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span v = sw_ir_present(o->attrs) ? sw_ir_entry(m->t, o->attrs, "sdy.sharding") : (sw_ir_span){0, 0}, item;
  if (!sw_ir_present(v) || m->o->keep != SW_KEEP_ALL || sw_im_splits_tuple(m)) return SW_OK;
  sw_ir_span list = sw_ir_inside(m->t, sw_ir_resolved(m->t, v));
  uint32_t cursor = 0, n = sw_ir_result_count(m->t, o);
  for (uint32_t i = 0; i < n && sw_ir_next_item(m->t, list, &cursor, &item); i++) {
    const sw_id *value = sw_im_result(m, op, i);
    if (value && *value >= 0) SW_TRY(sw_im_annotate(m, *value, item, 0, o->text.at)); /* else a tuple */
  }
  return SW_OK;
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

/* sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : T
 * sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : T, and the other collectives of whole tensors */
static sw_rc import_constraint(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_ir_span v = sw_ir_attr(m->t, o, "out_sharding", "out_sharding");
  return sw_im_constrained(m, op, sw_ir_present(v) ? v : sw_sdy_own_sharding(m->t, o, "sharding"), 0);
}

/* sdy.propagation_barrier %0 allowed_direction=FORWARD : T: two values, so that each has a sharding of its own. */
static sw_rc import_barrier(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_id x = sw_im_operand(m, op, 0), y;
  if (m->o->keep != SW_KEEP_ALL || m->g->values[x].type.dtype == SW_TOKEN) return sw_im_identity(m, row, op);
  sw_direction d = SW_DIRECTION_NONE;
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  (void)sw_sdy_direction(m->t, sw_ir_attr(m->t, sw_im_op(m, op), "allowed_direction", "allowed_direction"), &d);
  SW_TRY(sw_im_same_value(m, op, x, &y));
  sw_graph_block_op(m->g, m->g->values[y].def, SW_DIRECTION_BOTH & ~d);
  return SW_OK;
}

/* sdy.data_flow_edge %0 sharding=<@mesh, [{"x"}, {}]> : T: what behind it reads the value in that sharding. */
static sw_rc import_data_flow_edge(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "sharding", "sharding");
  return sw_ir_present(v) ? sw_im_constrained(m, op, v, 0) : sw_im_identity(m, row, op);
}

/* sdy.sharding_group %0 group_id=3 : T */
static sw_rc import_sharding_group(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  int64_t group, *first;
  bool fresh;
  sw_ir_span id = sw_ir_attr(m->t, o, "group_id", "group_id");
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  if (m->o->keep != SW_KEEP_ALL) return SW_OK;
  if (!sw_ir_present(id) || !sw_ir_read_int(m->t, id, &group))
    return SW_IM_FAIL(m, op, "expected a whole number as 'group_id'");
  sw_id value = sw_im_operand(m, op, 0);
  SW_TRY(sw_dict_put(&sw_sdy_state_of(m)->groups, &group, sizeof group, value, &first, &fresh, m->d));
  return fresh ? SW_OK : sw_graph_add_sharding_group(m->g, (sw_id)*first, value, sw_im_place(m, op), m->d);
}

/* --- the dialect -------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"sdy.sharding_constraint", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.sharding_group", import_sharding_group, .flags = SW_IR_STORAGE},
    {"sdy.reshard", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_gather", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_slice", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_to_all", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_reduce", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.reduce_scatter", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.collective_permute", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.replicated_to_unreduced", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.sharded_to_unreduced", import_constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.named_computation", sw_sdy_named, .flags = SW_IR_HANDS_ON},
    {"sdy.propagation_barrier", import_barrier, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.data_flow_edge", import_data_flow_edge, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"sdy.manual_computation", sw_sdy_manual, SW_OP_OPAQUE},
};
/* clang-format on */

static const sw_ir_row kCalls[] = {
    {"xla.sdy.FuncResultSharding", sw_im_identity, .flags = SW_IR_PASSES},
    {"xla.sdy.PropagationBarrier", sw_im_identity, .flags = SW_IR_PASSES},
};

static bool is_reshard(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_is_among(t, o->name,
                        "sdy.all_gather sdy.all_slice sdy.all_to_all sdy.all_reduce sdy.reduce_scatter "
                        "sdy.collective_permute sdy.replicated_to_unreduced sdy.sharded_to_unreduced");
}

sw_sdy_state *sw_sdy_state_of(const sw_importer *m) { return sw_im_state_of(m, &sw_dialect_sdy); }

static void close_sdy_state(void *state) {
  sw_sdy_state *s = state;
  sw_dict_deinit(&s->groups);
  if (s->owns_text) sw_sdy_close(s->text);
}

static const sw_dialect_hooks kHooks = {.state_bytes = sizeof(sw_sdy_state),
                                        .inherited_bytes = offsetof(sw_sdy_state, groups),
                                        .own_mesh = sw_sdy_own_mesh,
                                        .close = close_sdy_state,
                                        .reshards = is_reshard,
                                        .read_sharding = read_sdy_sharding,
                                        .annotate = annotate_from_sdy,
                                        .results = annotate_results};
const sw_dialect sw_dialect_sdy = {"sdy", SW_IR_ROWS(kRows), SW_IR_ROWS(kCalls), &kHooks};
