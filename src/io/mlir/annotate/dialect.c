/* The dialects sdy, shard and mesh, and GSPMD's attributes: which ops they have, and what they say of values. */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/annotate/annotate.h"
#include "io/mlir/import/dialect.h"
#include "io/mlir/import/emit.h"

extern const sw_dialect sw_dialect_annotate;

/* x as it is, in the sharding that is asked for: a reshape of nothing, so that uses before and behind it may differ. */
static sw_rc constrained(sw_importer *m, uint32_t op, sw_ir_span sharding, uint32_t open) {
  sw_id x = sw_im_operand(m, op, 0), y;
  sw_type t = m->g->values[x].type;
  if (m->o->keep != SW_KEEP_ALL || t.dtype == SW_TOKEN) return sw_im_bind(m, op, 0, x, false);
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, &t);
  SW_TRY(sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &x, .attrs = &a}, &y));
  return sw_im_annotate_open(m, y, sharding, open, sw_im_op(m, op)->text.at);
}

/* sdy.sharding_constraint %0 <@mesh, [{"x"}, {}]> : T
 * sdy.all_gather [{}, {"y"}] %0 out_sharding=<@mesh, [{"x"}, {}]> : T, and the other collectives of whole tensors */
static sw_rc constraint(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_ir_span v = sw_ir_attr(m->t, o, "sharding", NULL);
  if (!sw_ir_present(v)) v = sw_ir_attr(m->t, o, "out_sharding", NULL);
  if (!sw_ir_present(v)) {
    v = (sw_ir_span){o->body.at, o->body.end};
    while (v.at < v.end && m->t->s[v.at] != '<') v.at++;
  }
  return constrained(m, op, v, 0);
}

uint32_t sw_im_unspecified_dims(sw_importer *m, uint32_t op) {
  static const char kKey[] = "unspecified_dims=[";
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL);
  const char *text = sw_ir_present(v) ? sw_im_string(m, sw_ir_unquoted(m->t, v)) : NULL;
  const char *at = text ? strstr(text, kKey) : NULL;
  uint32_t open = 0;
  for (at = at ? at + strlen(kKey) : ""; *at && *at != ']'; at++) {
    char *end;
    long dim = strtol(at, &end, 10);
    if (end == at) continue; /* a comma */
    if (dim >= 0 && dim < SW_MAX_RANK) open |= UINT32_C(1) << dim;
    at = end - 1;
  }
  return open;
}

static sw_rc custom_sharding(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "mhlo.sharding", NULL);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  return sw_ir_present(v) ? constrained(m, op, v, sw_im_unspecified_dims(m, op)) : sw_im_identity(m, row, op);
}

/* --- the dialects ------------------------------------------------------------------------------------------------- */

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"sdy.sharding_constraint", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.sharding_group", sw_im_sharding_group, .flags = SW_IR_STORAGE},
    {"sdy.reshard", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_gather", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_slice", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_to_all", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.all_reduce", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.reduce_scatter", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.collective_permute", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.replicated_to_unreduced", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.sharded_to_unreduced", constraint, .flags = SW_IR_STORAGE | SW_IR_PASSES},
    {"sdy.named_computation", sw_im_named_computation, .flags = SW_IR_HANDS_ON},
    {"sdy.propagation_barrier", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"sdy.data_flow_edge", sw_im_identity, .flags = SW_IR_HANDS_ON | SW_IR_PASSES},
    {"shard.sharding", sw_im_shard_sharding},
    {"shard.get_sharding", sw_im_get_sharding},
    {"shard.shard", sw_im_shard, .flags = SW_IR_UNPLANNED},
    {"mesh.annotate", sw_im_shard, .flags = SW_IR_UNPLANNED},
    {"mesh.local_split", sw_im_distributed},
};
/* clang-format on */

static const sw_ir_row kCalls[] = {
    {"Sharding", custom_sharding, .flags = SW_IR_PASSES},
    {"xla.sdy.FuncResultSharding", sw_im_identity, .flags = SW_IR_PASSES},
    {"xla.sdy.PropagationBarrier", sw_im_identity, .flags = SW_IR_PASSES},
    {"InspectSharding", sw_im_identity, .flags = SW_IR_PASSES},
};

static sw_rc argument(sw_importer *m, uint32_t i, sw_id value, sw_ir_span type) {
  SW_TRY(sw_im_annotate_arg(m, value, sw_im_arg_attrs(m->t, sw_im_op(m, m->main), i)));
  return sw_im_annotate_typed(m, m->main, value, NULL, type);
}

static sw_rc output(sw_importer *m, uint32_t ret, sw_id value, int32_t index) {
  SW_TRY(sw_im_annotate_output(m, value, index, m->declared_attrs[index]));
  return sw_im_annotate_typed(m, ret, value, &index, m->declared[index]);
}

sw_im_annotations *sw_im_annotations_of(const sw_importer *m) { return sw_im_state_of(m, &sw_dialect_annotate); }

static sw_rc open(sw_importer *m) {
  void *state;
  SW_TRY(sw_im_state(m, &sw_dialect_annotate, &state));
  return sw_im_mesh(m);
}

static sw_rc inherit(sw_importer *reader, const sw_importer *from) {
  void *state;
  const sw_im_annotations *of = sw_im_annotations_of(from);
  SW_TRY(sw_im_state(reader, &sw_dialect_annotate, &state));
  *(sw_im_annotations *)state = (sw_im_annotations){.meshes = of->meshes,
                                                    .n_meshes = of->n_meshes,
                                                    .own_mesh = of->own_mesh,
                                                    .grids = of->grids,
                                                    .n_grids = of->n_grids,
                                                    .grid = of->grid,
                                                    .grid_refs = of->grid_refs,
                                                    .partitions = of->partitions,
                                                    .one_device = of->one_device};
  return SW_OK;
}

static void close_annotations(void *state) {
  sw_im_annotations *a = state;
  sw_dict_deinit(&a->groups);
  sw_dict_deinit(&a->annotated);
  sw_dict_deinit(&a->said_of);
  sw_array_free(&a->said);
}

static const sw_dialect_hooks kHooks = {.state_bytes = sizeof(sw_im_annotations),
                                        .open = open,
                                        .inherit = inherit,
                                        .close = close_annotations,
                                        .results = sw_im_annotate_op,
                                        .imported = sw_im_annotate_distributed,
                                        .argument = argument,
                                        .output = output};
const sw_dialect sw_dialect_annotate = {"annotate", SW_IR_ROWS(kRows), SW_IR_ROWS(kCalls), &kHooks};
