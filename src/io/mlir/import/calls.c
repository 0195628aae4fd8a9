/* Calls: functions and composites written out, custom calls seen through or known by their target. */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/ops/lapack.h"
#include "io/mlir/regions/lift.h"
#include "io/mlir/partitioned/partitioned.h"
#include "io/mlir/import/tuple.h"

static sw_rc call_symbol(sw_importer *m, uint32_t op, const char *key) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span callee = sw_ir_unquoted(m->t, sw_ir_attr(m->t, o, key, NULL));
  if (!sw_ir_present(callee)) callee = o->symbol;
  if (!sw_ir_len(callee)) return SW_IM_FAIL(m, op, "the op does not say which function it calls");
  bool done;
  SW_TRY(sw_im_declared_exchange(m, op, callee, &done));
  if (done) return SW_OK;
  return sw_im_inline(m, op, callee);
}

sw_rc sw_im_call(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  return call_symbol(m, op, "callee");
}

sw_rc sw_im_composite(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  return call_symbol(m, op, "decomposition");
}

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
sw_rc sw_im_constraint(sw_importer *m, const sw_ir_row *row, uint32_t op) {
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

/* --- custom calls ------------------------------------------------------------------------------------------------ */

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

/* top_k of the last dim; `k` in mhlo.attributes, in the op's own, or (chlo) written with the operand. */
sw_rc sw_im_top_k(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  sw_id x = sw_im_operand(m, op, 0);
  sw_type t;
  sw_ir_span said = sw_ir_result_type(m->t, o->types, 0), *both;
  uint32_t n;
  SW_TRY(sw_im_leaf_types(m, &said, 1, &both, &n));
  if (!n) return SW_IM_FAIL(m, op, "expected two results with a dim");
  bool tuple = n == 2;
  SW_TRY(sw_ir_read_type(m->t, both[0], &m->scratch, &t, m->d));
  sw_ir_span largest = sw_ir_entry(m->t, sw_ir_entry(m->t, o->attrs, "mhlo.attributes"), "largest");
  int64_t is_largest = 1;
  if (sw_ir_present(largest) && sw_ir_read_int(m->t, largest, &is_largest) && !is_largest) {
    return sw_im_opaque(m, op, "topk of the smallest");
  }
  if (!t.rank || sw_ir_result_count(m->t, o) != (tuple ? 1 : 2))
    return SW_IM_FAIL(m, op, "expected two results with a dim");
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_K, t.dims[t.rank - 1]);
  const sw_im_add add = {.code = SW_OP_TOP_K, .n_operands = 1, .operands = &x, .attrs = &a};
  return tuple ? sw_im_give(m, op, &add, 2) : sw_im_emit(m, op, &add, NULL);
}

/* Does the comparator that an ApproxTopK names ask for the greatest? */
static bool wants_greatest(const sw_importer *m, uint32_t op) {
  sw_ir_span list = sw_ir_attr(m->t, sw_im_op(m, op), "called_computations", NULL), item;
  uint32_t cursor = 0;
  if (!sw_ir_present(list) || !sw_ir_next_item(m->t, list, &cursor, &item)) return true;
  uint32_t f = sw_ir_function_named(m->t, m->names, sw_ir_unquoted(m->t, item));
  uint32_t block = f == SW_IR_NONE ? SW_IR_NONE : sw_im_block(m->t, sw_im_op(m, f), 0);
  if (block == SW_IR_NONE) return true;
  const sw_ir_op *first = sw_im_op(m, m->t->blocks.at[block].first_op);
  for (uint32_t i = first->body.at; i + 2 < first->text.end; i++) {
    if (memcmp(m->t->s + i, "LT", 2) == 0) return false;
  }
  return true;
}

/* ApproxTopK(values, positions, ...): as exact as may be, the first k of both sorted by the values. */
static sw_rc approx_top_k(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  sw_type said;
  int64_t dim;
  SW_TRY(sw_im_operand_count(m, op, 2, UINT32_MAX));
  SW_TRY(sw_im_result_type(m, op, 0, &said));
  sw_ir_span config = sw_ir_entry(m->t, o->attrs, "mhlo.backend_config");
  sw_ir_span v = sw_ir_present(config) ? sw_ir_entry(m->t, config, "reduction_dim") : config;
  if (sw_ir_result_count(m->t, o) != 2 || !sw_ir_present(v) || !sw_ir_read_int(m->t, v, &dim)) {
    return sw_im_opaque(m, op, "ApproxTopK (of more than one operand, or without a dim)");
  }
  if (dim < 0 || dim >= said.rank) return SW_IM_FAIL(m, op, "there is no dim %lld", (long long)dim);
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)}, sorted[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_int(&a, SW_ATTR_DIM, dim);
  sw_im_int(&a, SW_ATTR_DESCENDING, wants_greatest(m, op));
  SW_TRY(
      sw_im_help_all(m, op, &(sw_im_add){.code = SW_OP_SORT, .n_operands = 2, .operands = x, .attrs = &a}, 2, sorted));
  for (uint32_t i = 0; i < 2; i++) {
    SW_TRY(sw_im_cut(m, op, sorted[i], &(sw_im_range){(int)dim, 0, said.dims[dim], 1}, &x[i]));
    SW_TRY(sw_im_result_is(m, op, i, x[i]));
  }
  return sw_im_annotate_results(m, op);
}

/* mhlo.erf and the like: an op that its own dialect would write by name. */
static const sw_ir_row *elementwise_target(const sw_ir_tree *t, sw_ir_span target) {
  const sw_ir_row *row = sw_ir_row_of(t, target);
  bool known = row && row->import == sw_im_simple && (row->most_operands == 1 || row->most_operands == 2);
  return known && !row->attrs[0].key ? row : NULL;
}

static const struct {
  const char *target;
  sw_ir_import import;
} kTargets[] = {
    {"Sharding", custom_sharding},
    {"tt.mark_argument", sw_im_identity},
    {"mark_tensor", sw_im_identity},
    {"annotate_device_placement", sw_im_identity},
    {"MoveToHost", sw_im_identity},
    {"MoveToDevice", sw_im_identity},
    {"PinToDevice", sw_im_identity},
    {"LayoutConstraint", sw_im_identity},
    {"xla.sdy.FuncResultSharding", sw_im_identity},
    {"xla.sdy.PropagationBarrier", sw_im_identity},
    {"InspectSharding", sw_im_identity},
    {"mhlo.topk", sw_im_top_k},
    {"TopK", sw_im_top_k},
    {"shape_assertion", sw_im_token}, /* of sizes, which are given */
    {"chlo.top_k", sw_im_top_k},
    {"ApproxTopK", approx_top_k},
    {"shardwright.rng", sw_im_own_rng},
    {"shardwright.generic", sw_im_own_generic},
};

static sw_ir_span target_of(const sw_ir_tree *t, const sw_ir_op *o) {
  sw_ir_span target = sw_ir_unquoted(t, sw_ir_attr(t, o, "call_target_name", NULL));
  return sw_ir_present(target) ? target : o->symbol;
}

static sw_ir_import import_of(const sw_ir_tree *t, sw_ir_span target) {
  for (size_t i = 0; i < sizeof kTargets / sizeof *kTargets; i++) {
    if (sw_ir_is(t, target, kTargets[i].target)) return kTargets[i].import;
  }
  return NULL;
}

bool sw_im_sees_through(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_row *row = sw_ir_row_of(t, o->name);
  sw_ir_import import = row ? row->import : NULL;
  if (import == sw_im_custom_call) import = import_of(t, target_of(t, o));
  return o->n_uses == 1 && (import == sw_im_constraint || import == sw_im_identity || import == custom_sharding);
}

sw_rc sw_im_custom_call(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span target = target_of(m->t, o);
  sw_ir_import import = import_of(m->t, target);
  if (import) return import(m, row, op);
  bool done;
  SW_TRY(sw_im_with_tuple_split(m, op, sw_im_lapack, target, &done));
  if (done) return SW_OK;
  const sw_ir_row *elementwise = elementwise_target(m->t, target);
  if (elementwise) return sw_im_simple(m, elementwise, op);
  return sw_im_opaque(m, op, sw_im_string(m, target));
}
