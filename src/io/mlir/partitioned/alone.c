/* Collectives of StableHLO, and the number of a device: in a manual computation, in a program that is partitioned
 * already, in one for a single device. */
#include "io/mlir/import/dialect.h"
#include "io/mlir/partitioned/partitioned.h"

static bool is_number(const sw_importer *m, uint32_t op) { return sw_im_op(m, op)->n_uses == 0; }

/* replica_groups of one member each, [[0]]: a row of digits between brackets, no comma inside of inner ones. */
static bool groups_of_one(const sw_importer *m, uint32_t op) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "replica_groups", NULL);
  int depth = 0;
  if (!sw_ir_present(v)) return false;
  for (uint32_t i = v.at; i < v.end && m->t->s[i] != ':'; i++) {
    char c = m->t->s[i];
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth >= 2) return false;
  }
  return true;
}

/* In a program for one device, whose number is 0, a collective has nobody to talk to. */
static sw_rc alone(sw_importer *m, uint32_t op, bool *done) {
  *done = false;
  if (is_number(m, op)) {
    static const uint32_t kZero = 0;
    sw_im_attrs a = {.n = 0};
    int64_t partitions;
    *done = sw_im_module_number(m, "mhlo.num_partitions", &partitions) && partitions == 1;
    if (!*done) return SW_OK;
    sw_im_value(&a, &(sw_type){.dtype = SW_U32}, &kZero, true);
    return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_CONSTANT, .attrs = &a}, NULL);
  }
  uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, op));
  *done = groups_of_one(m, op) && sw_im_op(m, op)->n_uses == n;
  for (uint32_t i = 0; *done && i < n; i++) { /* (lengths of dims stay) */
    sw_type t;
    SW_TRY(sw_im_result_type(m, op, (int)i, &t));
    *done = sw_type_equal(&t, &m->g->values[sw_im_operand(m, op, i)].type);
  }
  return *done ? sw_im_identity(m, NULL, op) : SW_OK;
}

/* What a device gets from the others. */
static sw_rc collective(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = sw_ir_result_count(m->t, o);
  sw_type types[SW_MAX_RESULTS];
  sw_id results[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = SW_OP_OPAQUE, .attrs = &a, .n_types = (int)n, .types = types};
  if (n < 1 || n > SW_MAX_RESULTS) {
    return SW_IM_FAIL(m, op, "the op has %u results; expected 1 to %d", n, SW_MAX_RESULTS);
  }
  SW_TRY(sw_im_operands(m, op, 0, &add.operands, &add.n_operands));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_result_type(m, op, (int)i, &types[i]));
  sw_im_text(&a, SW_ATTR_TARGET, row->name);
  SW_TRY(sw_im_emit(m, op, &add, results));
  return sw_im_note_collective(m, m->g->values[results[0]].def, op);
}

/* Collectives outside of manual computations say what each device does: the program is partitioned already. */
static sw_rc local(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  if (m->by_device) return collective(m, row, op);
  if (m->cut) return sw_im_listed(m, row, op);
  sw_ir_span name = sw_im_op(m, op)->name;
  bool done;
  SW_TRY(alone(m, op, &done));
  if (done) return SW_OK;
  return SW_IM_FAIL(m, op, "'%.*s' is of a program that is partitioned already; expected the whole program",
                    SW_IR_TEXT(m->t, name));
}

/* clang-format off */
static const sw_ir_row kRows[] = {
    {"all_reduce", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"all_gather", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"all_to_all", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"reduce_scatter", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"collective_permute", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"collective_broadcast", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"cross-replica-sum", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"partition_id", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
    {"replica_id", local, .flags = SW_IR_BY_DEVICE | SW_IR_STORAGE},
};
/* clang-format on */

const sw_dialect sw_dialect_partitioned = {"partitioned", SW_IR_ROWS(kRows), NULL, 0, NULL};
