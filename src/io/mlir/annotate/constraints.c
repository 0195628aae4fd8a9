/* A plan's shardings as constraints, for compilers that leave the shardings of ops out when they take a program in (XLA
 * does, JAX 0.10): behind each op one for its result, before it one for each operand that it wants in another sharding.
 *
 *   %5 = stablehlo.add %3, %4 : tensor<8x4xf32>        becomes
 *
 *   %sw$0 = sdy.sharding_constraint %4 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *   %sw$5 = stablehlo.add %3, %sw$0 : tensor<8x4xf32>
 *   %5 = sdy.sharding_constraint %sw$5 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *
 * Partial values have no constraint: a compiler knows from the operands that they are. (But see is_completed.) Ops with
 * several results, or in functions whose calls differ, have none behind. What a loop takes in, and what its body gives
 * back, has one when it is made in another sharding than it is carried in.
 */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/annotate/write.h"

/* <@mesh, [...]> : type */
static sw_rc put_constraint(sw_ir_writer *w, const sw_sharding *s, sw_id value, sw_text *out) {
  sw_text_printf(out, "<@%s, ", w->mesh_name);
  SW_TRY(sw_sharding_print_as(w->mesh, s, SW_FORM_SDY, out, w->d));
  sw_text_puts(out, "> : ");
  sw_mlir_type(&w->p->graph->values[value].type, out);
  return out->rc;
}

static const char *kept(sw_ir_writer *w, sw_text *text) {
  const char *copy = sw_arena_strndup(&w->arena, sw_text_str(text), text->n, w->d);
  sw_text_free(text);
  return copy;
}

static sw_rc behind(sw_ir_writer *w, const sw_ir_op *o, const sw_sharding *s, sw_id value) {
  const sw_ir_result *r = &w->t->results.at[o->first_result];
  sw_text text = {0};
  int name = (int)sw_ir_len(r->name);
  sw_text_printf(&text, "\n    %%%.*s = sdy.sharding_constraint %%sw$%.*s ", name, w->t->s + r->name.at, name,
                 w->t->s + r->name.at);
  SW_TRY(put_constraint(w, s, value, &text));
  w->said[value] = true;
  SW_TRY(sw_ir_insert(w, r->name.at, "sw$"));
  return sw_ir_insert(w, o->text.end, kept(w, &text));
}

/* Number of the helper that is `value` in sharding `s` in the block of the op; *fresh: it is not there before the op
 * and must be made. Equal ones are one, as two would each be gathered. */
static sw_rc find_helper(sw_ir_writer *w, const sw_ir_op *o, const sw_sharding *s, sw_id value, int64_t *number,
                         bool *fresh) {
  int64_t at = o - w->t->ops.at, *slot;
  sw_text key = {0};
  sw_text_printf(&key, "%d %u ", value, o->block);
  sw_sharding_key(s, &key);
  sw_rc rc =
      key.rc ? key.rc : sw_dict_put(&w->helpers, sw_text_str(&key), key.n, at << 32 | w->n_helpers, &slot, fresh, w->d);
  sw_text_free(&key);
  if (rc) return rc;
  bool stands_before = !*fresh && *slot >> 32 < at;
  *number = stands_before ? *slot & UINT32_MAX : w->n_helpers;
  *fresh = !stands_before;
  w->n_helpers += *fresh;
  return SW_OK;
}

/* Operand `i` in n shardings, one after the other. */
static sw_rc before(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, const sw_sharding *s, int n, sw_id value) {
  const sw_ir_use *use = &w->t->uses.at[o->first_use + i];
  uint32_t at = use->name.at - 1, end = use->name.end;
  if (w->t->s[end] == '#') end += 1 + (uint32_t)strspn(w->t->s + end + 1, "0123456789");
  const char *name = sw_arena_strndup(&w->arena, w->t->s + at, end - at, w->d);
  for (int k = 0; k < n && name; k++) {
    sw_text text = {0};
    int64_t number;
    bool fresh;
    SW_TRY(find_helper(w, o, &s[k], value, &number, &fresh));
    const char *next = sw_arena_printf(&w->arena, w->d, "%%sw$.%lld", (long long)number);
    if (fresh) {
      sw_text_printf(&text, "%s = sdy.sharding_constraint %s ", next ? next : "", name);
      SW_TRY(put_constraint(w, &s[k], value, &text));
      sw_text_puts(&text, "\n    ");
      SW_TRY(sw_ir_insert(w, o->text.at, kept(w, &text)));
    }
    name = next;
  }
  return sw_ir_replace(w, at, end, name);
}

/* Does nothing say its sharding, though it has one? */
static bool is_unsaid(const sw_ir_writer *w, sw_id id, sw_sharding *s) {
  const sw_value *value = &w->p->graph->values[id];
  sw_plan_value_sharding(w->plan, id, s);
  return !w->said[id] && value->def >= 0 && value->kind != SW_VALUE_CONSTANT && !s->n_partial && value->type.rank > 0;
}

/* Operand `i` of the text's op, which is what `use` reads: where the plan has it cut in another way for this use, and
 * before that as it is made, when nothing says so there (results of calls and loops, for one). */
static sw_rc before_use(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, sw_value_use use) {
  sw_id id = w->p->graph->ops[use.op].operands[use.index];
  sw_sharding s[2]; /* as it is made, as it is wanted */
  sw_id def = w->p->graph->values[id].def;
  if (def >= 0 && w->p->graph->ops[def].code != SW_OP_ENTER && !w->named[id]) return SW_OK; /* made on the way to it */
  bool said = !is_unsaid(w, id, &s[0]);
  sw_plan_use_sharding(w->plan, use, &s[1]);
  bool other = !s[1].n_partial && !sw_sharding_equal(&s[0], &s[1]);
  return said && !other ? SW_OK : before(w, o, i, s + said, !said + other, id);
}

/* Operands of the op of the graph that are those of the text one by one. */
static sw_rc before_operands(sw_ir_writer *w, const sw_ir_op *o, sw_id id) {
  const sw_op *op = &w->p->graph->ops[id];
  bool reduces = op->code == SW_OP_REDUCE && op->n_operands == 1 && o->n_uses == 2;
  if (op->n_operands != (int)o->n_uses && !reduces) return SW_OK;
  for (int i = 0; i < op->n_operands; i++) SW_TRY(before_use(w, o, (uint32_t)i, (sw_value_use){id, i}));
  return SW_OK;
}

/* Is each dim cut as `a` has it, and perhaps further? */
static bool refines(const sw_sharding *b, const sw_sharding *a) {
  for (int d = 0; d < a->rank; d++) {
    int n, m;
    const sw_axis_ref *x = sw_sharding_dim(a, d, &n), *y = sw_sharding_dim(b, d, &m);
    if (n > m) return false;
    for (int i = 0; i < n; i++) {
      if (!sw_axis_ref_equal(x[i], y[i])) return false;
    }
  }
  return true;
}

/* A partial value that every use wants complete, some of them not cut as it is: the sharding in which it is completed.
 * Without it a compiler would make the value as the uses want it, and gather operands instead. */
static bool is_completed(const sw_ir_writer *w, sw_id value, sw_sharding *s) {
  const sw_value *v = &w->p->graph->values[value];
  bool as_cut = true;
  sw_plan_value_sharding(w->plan, value, s);
  s->n_partial = 0;
  for (int32_t i = 0; i < v->n_uses; i++) {
    sw_sharding want;
    sw_plan_use_sharding(w->plan, v->uses[i], &want);
    if (want.n_partial) return false;
    as_cut = as_cut && refines(&want, s);
  }
  return !as_cut;
}

/* made[0 .. n) are the results of one op of the graph, in a function that is called once: other calls may want other
 * operands. */
static bool is_once(const sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_value *values = w->p->graph->values;
  bool once = true;
  for (size_t i = 0; i < n; i++) {
    once = once && made[i].own && made[i].result == i && values[made[i].value].def == values[made[0].value].def;
  }
  return once;
}

sw_rc sw_ir_constrain_results(sw_ir_writer *w, const sw_ir_made *made, size_t n, const sw_sharding *all) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  const sw_value *value = &w->p->graph->values[made[0].value];
  sw_sharding s = all[0];
  if (value->def < 0 || !o->n_uses || made[n - 1].result != 0 || value->type.rank == 0) return SW_OK;
  if (s.n_partial && !(is_once(w, made, n) && is_completed(w, made[0].value, &s))) return SW_OK;
  for (size_t i = 1; i < n; i++) w->said[made[i].value] = true;
  return behind(w, o, &s, made[0].value);
}

sw_rc sw_ir_constrain_passed_on(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  sw_sharding s;
  if (n > 1 || made[0].own || sw_ir_result_count(w->t, o) != 1 || !is_unsaid(w, made[0].value, &s)) return SW_OK;
  return behind(w, o, &s, made[0].value);
}

sw_rc sw_ir_constrain_operands(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  sw_id def = w->p->graph->values[made[0].value].def;
  return def < 0 || !is_once(w, made, n) ? SW_OK : before_operands(w, o, def);
}

static int compare_carried(const void *a, const void *b) {
  const sw_ir_carried *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  if (x->index != y->index) return x->index < y->index ? -1 : 1;
  return x->enter < y->enter ? -1 : x->enter > y->enter;
}

static bool is_same_slot(const sw_ir_carried *a, const sw_ir_carried *b) {
  return a->op == b->op && a->index == b->index;
}

sw_rc sw_ir_constrain_carried(sw_ir_writer *w) {
  const sw_program *p = w->p;
  size_t n = p->carried.n;
  sw_ir_carried *c = sw_arena_copy(&w->arena, p->carried.at, n, sizeof *c, w->d);
  if (!c) return SW_E_RESOURCE;
  qsort(c, n, sizeof *c, compare_carried);
  for (size_t i = 0; i < n; i++) {
    if ((i && is_same_slot(&c[i - 1], &c[i])) || (i + 1 < n && is_same_slot(&c[i], &c[i + 1]))) continue;
    SW_TRY(before_use(w, &w->t->ops.at[c[i].op], c[i].index, (sw_value_use){c[i].enter, 0}));
    SW_TRY(before_use(w, &w->t->ops.at[c[i].ret], c[i].index, (sw_value_use){c[i].yield, 0}));
  }
  return SW_OK;
}
