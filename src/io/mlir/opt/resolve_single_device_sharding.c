/* Ops whose results one device alone has are done by it, and all others have zeros:
 *
 *   %1 = stablehlo.compare EQ, THIS DEVICE, 3 : (tensor<i64>, tensor<i64>) -> tensor<i1>
 *   %2 = "stablehlo.if"(%1) ({
 *     %3 = stablehlo.negate %0 : tensor<8xf32>
 *     stablehlo.return %3 : tensor<8xf32>
 *   }, {
 *     %4 = stablehlo.constant dense<0.0> : tensor<8xf32>
 *     stablehlo.return %4 : tensor<8xf32>
 *   }) : (tensor<i1>) -> tensor<8xf32>
 */
#include "io/mlir/opt/local.h"

/* The device that has all results; -1: no single one. */
static sw_rc device_of(sw_local *l, const sw_sharded_place *p, int32_t *out) {
  int n = 0;
  *out = -1;
  for (uint32_t i = 0; i < p->n; i++) {
    sw_open_sharding s;
    bool any;
    SW_TRY(sw_opt_sharding(l->w, p->first + i, &s, &any));
    const sw_mesh *m = any ? &sw_opt_mesh(&l->w->shardings, &s)->mesh : NULL;
    if (!m || !sw_sdy_is_maximal(m) || (n && m->device_ids[0] != *out)) continue;
    *out = m->device_ids[0];
    n++;
  }
  if (*out < 0 || n == (int)p->n) return SW_OK;
  return SW_LOCAL_FAIL(l, p->op, "not all results of '%.*s' are on device %d; expected all on one device",
                       SW_IR_TEXT(l->t, l->t->ops.at[p->op].name), *out);
}

static sw_rc check_device(sw_local *l, uint32_t op, int32_t device) {
  const int64_t n = l->replicas * l->partitions;
  if (n == 1 || device < n) return SW_OK;
  return SW_LOCAL_FAIL(l, op, "device %d of %lld replicas of %lld partitions; expected one of 0 to %lld", device,
                       (long long)l->replicas, (long long)l->partitions, (long long)n - 1);
}

/* Is it this device? As tensor<i1>, by lines before the op. */
static sw_rc put_condition(sw_local *l, uint32_t op, int32_t device, const char **out) {
  SW_TRY(sw_local_begin_lines(l, op));
  const char *mine = sw_local_device(l), *wanted = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.constant dense<%d> : tensor<i64>\n", device);
  *out = sw_local_begin(l, NULL);
  if (!mine || !wanted || !*out) return SW_E_RESOURCE;
  sw_text_printf(&l->lines, "stablehlo.compare EQ, %s, %s : (tensor<i64>, tensor<i64>) -> tensor<i1>\n", mine, wanted);
  return sw_local_put_before(l, op);
}

/* ` %1#0, %1#1 : T, T`, or the types alone. */
static void put_list(sw_local *l, const sw_sharded_place *p, const char *const *names, sw_text *out) {
  for (uint32_t i = 0; names && i < p->n; i++) sw_text_printf(out, "%s%s", i ? ", " : " ", names[i]);
  if (names && p->n) sw_text_puts(out, " : ");
  for (uint32_t i = 0; i < p->n; i++) {
    const sw_ir_span type = sw_ir_trimmed(l->t, l->w->shardings.slots.at[p->first + i].type);
    sw_text_printf(out, "%s%.*s", i ? ", " : "", SW_IR_TEXT(l->t, type));
  }
}

static sw_rc put_zeros(sw_local *l, const sw_sharded_place *p, const char **names, sw_text *out) {
  static const char *const kZero[] = {
      [SW_CLASS_FLOAT] = "0.0",  [SW_CLASS_SIGNED] = "0",           [SW_CLASS_UNSIGNED] = "0",
      [SW_CLASS_BOOL] = "false", [SW_CLASS_COMPLEX] = "(0.0, 0.0)", [SW_CLASS_TOKEN] = ""};
  for (uint32_t i = 0; i < p->n; i++) {
    const sw_ir_span text = sw_ir_trimmed(l->t, l->w->shardings.slots.at[p->first + i].type);
    sw_type type;
    bool known;
    SW_TRY(sw_opt_slot_type(l->w, p->first + i, &type, &known));
    if (!known)
      return SW_LOCAL_FAIL(l, p->op,
                           "result %u of an op of one device is of type '%.*s'; expected a tensor of known sizes", i,
                           SW_IR_TEXT(l->t, text));
    if (!(names[i] = sw_opt_new_name(l->w))) return SW_E_RESOURCE;
    sw_text_printf(out, "\n%s  %s = stablehlo.constant dense<%s> : %.*s", l->indent, names[i],
                   kZero[sw_dtype_class_of(type.dtype)], SW_IR_TEXT(l->t, text));
  }
  return SW_OK;
}

/* What stands before the op, and behind it. */
static sw_rc wrap(sw_local *l, const sw_sharded_place *p, const char *condition, sw_text *before, sw_text *behind) {
  const char **names;
  SW_ARENA_NEW(names, &l->w->arena, p->n, l->d);
  const char *name = sw_opt_new_name(l->w);
  sw_text_printf(before, "\"stablehlo.if\"(%s) ({\n%s  ", condition, l->indent);
  if (p->n) sw_text_printf(before, p->n > 1 ? "%s:%u = " : "%s = ", name, p->n);
  for (uint32_t i = 0; i < p->n; i++) {
    names[i] = p->n > 1 ? sw_arena_printf(&l->w->arena, l->d, "%s#%u", name, i) : name;
    if (!names[i]) return SW_E_RESOURCE;
  }
  sw_text_printf(behind, "\n%s  stablehlo.return", l->indent);
  put_list(l, p, names, behind);
  sw_text_printf(behind, "\n%s}, {", l->indent);
  SW_TRY(put_zeros(l, p, names, behind));
  sw_text_printf(behind, "\n%s  stablehlo.return", l->indent);
  put_list(l, p, names, behind);
  sw_text_printf(behind, "\n%s}) : (tensor<i1>) -> %s", l->indent, p->n == 1 ? "" : "(");
  put_list(l, p, NULL, behind);
  sw_text_puts(behind, p->n == 1 ? "" : ")");
  return before->rc ? before->rc : behind->rc;
}

static sw_rc guard(sw_local *l, const sw_sharded_place *p, int32_t device) {
  const sw_ir_op *o = &l->t->ops.at[p->op];
  sw_sharded_place results = *p;
  if (!o->n_results) results.n = 0; /* what has no name is not used */
  const uint32_t at = o->name.at - (o->name.at && l->t->s[o->name.at - 1] == '"');
  const char *condition;
  sw_text before = {0}, behind = {0};
  SW_TRY(check_device(l, p->op, device));
  SW_TRY(put_condition(l, p->op, device, &condition));
  sw_rc rc = wrap(l, &results, condition, &before, &behind);
  if (!rc) rc = sw_ir_insert(&l->w->edits, at, sw_arena_strndup(&l->w->arena, sw_text_str(&before), before.n, l->d));
  if (!rc)
    rc = sw_ir_insert(&l->w->edits, o->text.end, sw_arena_strndup(&l->w->arena, sw_text_str(&behind), behind.n, l->d));
  sw_text_free(&before);
  sw_text_free(&behind);
  for (uint32_t i = 0; i < p->n; i++) sw_opt_say_text(l->w, p->first + i, "");
  return rc;
}

static sw_rc resolve(sw_local *l) {
  SW_TRY(sw_opt_count(l->w, "replica-count", &l->replicas));
  SW_TRY(sw_opt_count(l->w, "partition-count", &l->partitions));
  SW_TRY(sw_opt_read_shardings(l->w));
  for (size_t i = 0; i < l->w->shardings.places.n; i++) {
    const sw_sharded_place p = l->w->shardings.places.at[i];
    int32_t device;
    if (p.kind != SW_SHARDED_OP) continue;
    SW_TRY(device_of(l, &p, &device));
    if (device >= 0) SW_TRY(guard(l, &p, device));
  }
  return SW_OK;
}

static sw_rc resolve_single_device_sharding(sw_opt_work *w) { return sw_local_pass(w, resolve); }

const sw_opt_pass sw_pass_resolve_single_device_sharding = {
    "resolve-single-device-sharding", "let one device do the ops whose results it alone has",
    "replica-count=N: replicas; 1 when not given\n"
    "partition-count=N: partitions of each replica; 1 when not given\n",
    false, resolve_single_device_sharding};
