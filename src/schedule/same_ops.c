#include "schedule/same_ops.h"

#include "base/hash.h"
#include "schedule/layers.h"

/* Of constants, the one element of all of it; NULL: it has more, or is none. */
static const void *find_splat(const sw_graph *g, const sw_op *op, size_t *bytes) {
  const sw_data *data = op->code == SW_OP_CONSTANT ? &sw_op_attr(op, SW_ATTR_VALUE)->u.data : NULL;
  *bytes = data ? (size_t)sw_dtype_bytes(sw_result_type(g, op, 0)->dtype) : 0;
  return data && data->splat ? data->bytes : NULL;
}

/* Attributes of equal ops are shared, so their place tells them apart, but for those of constants. */
void sw_op_likeness(const sw_graph *g, const sw_op *op, const sw_id *of_value, sw_text *key) {
  const void *attrs = op->n_attrs ? op->attrs : NULL;
  size_t bytes;
  const void *splat = find_splat(g, op, &bytes);
  key->n = 0;
  sw_text_append(key, (const char *)&op->code, sizeof op->code);
  if (!splat) sw_text_append(key, (const char *)&attrs, sizeof attrs);
  if (splat) {
    const sw_type *t = sw_result_type(g, op, 0);
    sw_text_append(key, (const char *)&t->dtype, sizeof t->dtype);
    sw_text_append(key, (const char *)t->dims, (size_t)t->rank * sizeof *t->dims);
    sw_text_append(key, splat, bytes);
  }
  for (int k = 0; k < op->n_operands; k++)
    sw_text_append(key, (const char *)&of_value[op->operands[k]], sizeof *of_value);
}

bool sw_op_is_of_operands(const sw_op *op) {
  const sw_op_class c = sw_op_class_of(op->code);
  return c != SW_OPS_CONTROL && c != SW_OPS_GIVEN && c != SW_OPS_DEVICE && op->code != SW_OP_RNG && op->n_results > 0;
}

/* Loops, choices and effects run as often as the program says. */
static bool can_be_same(const sw_op *op) { return op->frame < 0 && sw_op_is_of_operands(op); }

static sw_rc find_same_ops(const sw_graph *g, const bool *present, sw_dict *seen, sw_text *key, sw_same_ops *out,
                           sw_diag *d) {
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    int64_t *at = NULL;
    bool fresh = true;
    sw_op_likeness(g, op, out->of_value, key);
    if (key->rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    if (can_be_same(op)) SW_TRY(sw_dict_put(seen, key->at, key->n, i, &at, &fresh, d));
    out->runs[i] = present ? present[i] : fresh;
    if (out->runs[i]) continue;
    if (fresh)
      return SW_FAIL_INPUT(d, op->span, "'%s' is not in the schedule, nor is an op that does the same", op->name);
    for (int k = 0; k < op->n_results; k++) out->of_value[op->results[k]] = out->of_value[g->ops[*at].results[k]];
    out->heavy = out->heavy || sw_op_is_heavy(op);
  }
  return SW_OK;
}

sw_rc sw_same_ops_find(const sw_graph *g, const bool *present, sw_arena *arena, sw_same_ops *out, sw_diag *d) {
  sw_dict seen = {0};
  sw_text key = {0};
  *out = (sw_same_ops){0};
  SW_ARENA_NEW(out->of_value, arena, g->n_values + 1, d);
  SW_ARENA_NEW(out->runs, arena, g->n_ops + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) out->of_value[v] = v;
  const sw_rc rc = find_same_ops(g, present, &seen, &key, out, d);
  sw_dict_deinit(&seen);
  sw_text_free(&key);
  return rc;
}
