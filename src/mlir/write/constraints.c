/* A plan's shardings as constraints, for compilers that leave the shardings of ops out when they take a program in (XLA
 * does, JAX 0.10): behind each op one for its result, before it one for each operand that it wants in another sharding.
 *
 *   %5 = stablehlo.add %3, %4 : tensor<8x4xf32>        becomes
 *
 *   %sw$0 = sdy.sharding_constraint %4 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *   %sw$5 = stablehlo.add %3, %sw$0 : tensor<8x4xf32>
 *   %5 = sdy.sharding_constraint %sw$5 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *
 * Partial values have no word: they are said as they are completed, and a compiler knows from the operands that it has
 * to. Ops with several results have no constraint behind; what nothing says where it gets its name is said before it is
 * read. What a loop takes in, and what its body gives back, has one when it is made in another sharding than it is
 * carried in. Functions that are cut in several ways have become several before (split.h).
 */
#include <stdlib.h>
#include <string.h>

#include "mlir/import/value_types.h"
#include "mlir/write/write.h"

/* What names say of a value where no constraint stands. */
enum {
  NOTHING_SAID = -1,
  PASSED_ON = -2, /* the same, and an op gives it another name */
  SAID_BY_SIGNATURE = -3,
  COMES_AS_USED = -4, /* an argument that all uses in the function want alike, and calls bring in so */
};

/* Of a slot of the op's function among those of all functions. */
static uint32_t slot_of_all(const sw_ir_writer *w, const sw_ir_op *o, uint32_t slot) {
  while (!sw_ir_is_function(w->t, o)) o = &w->t->ops.at[w->t->regions.at[w->t->blocks.at[o->block].region].op];
  return w->first_slot[o - w->t->ops.at] + slot;
}

/* Of the name in that slot of the op's function: the value that a constraint says, or one of the above. */
static sw_id *said_at(const sw_ir_writer *w, const sw_ir_op *o, uint32_t slot) {
  return &w->said[slot_of_all(w, o, slot)];
}

/* Futures and tuples, which are values of the graph, too, have no constraints. */
static bool is_tensor(const sw_ir_writer *w, const sw_ir_op *o, uint32_t slot) {
  const sw_ir_span type = w->types[slot_of_all(w, o, slot)];
  return !sw_ir_len(type) || sw_ir_starts(w->t, sw_ir_resolved(w->t, sw_ir_trimmed(w->t, type)), "tensor<");
}

/* <@mesh, [...]> : type, of what is in that slot of the op's function. The type is the text's, with sizes left open. */
static sw_rc put_constraint(sw_ir_writer *w, const sw_sharding *s, const sw_ir_op *o, uint32_t slot, sw_id value,
                            sw_text *out) {
  const sw_ir_span type = w->types[slot_of_all(w, o, slot)];
  sw_text_printf(out, "<@%s, ", w->mesh_name);
  SW_TRY(sw_sharding_print_as(w->mesh, s, SW_FORM_SDY, out, w->d));
  sw_text_puts(out, "> : ");
  if (sw_ir_len(type))
    sw_text_printf(out, "%.*s", SW_IR_TEXT(w->t, type));
  else
    sw_mlir_type(&w->p->graph->values[value].type, out);
  return out->rc;
}

/* In n shardings, one after the other. */
static sw_rc constrain_result(sw_ir_writer *w, const sw_ir_op *o, const sw_sharding *s, int n, sw_id value) {
  const sw_ir_result *r = &w->t->results.at[o->first_result];
  if (!is_tensor(w, o, w->p->names.result[o->first_result])) return SW_OK;
  const char *name = sw_arena_strndup(&w->arena, w->t->s + r->name.at, sw_ir_len(r->name), w->d);
  const char *from = sw_arena_printf(&w->arena, w->d, "sw$%s", name ? name : "");
  sw_text text = {0};
  for (int k = 0; k < n && name && from; k++) {
    bool last = k + 1 == n;
    const char *to = last ? name : sw_arena_printf(&w->arena, w->d, "sw$.%lld", (long long)w->n_helpers++);
    sw_text_printf(&text, "\n    %%%s = sdy.sharding_constraint %%%s ", to ? to : "", from);
    SW_TRY(put_constraint(w, &s[k], o, w->p->names.result[o->first_result], value, &text));
    from = to;
  }
  *said_at(w, o, w->p->names.result[o->first_result]) = value;
  SW_TRY(sw_ir_insert(&w->edits, r->name.at, "sw$"));
  return sw_ir_insert(&w->edits, o->text.end, from ? sw_text_keep(&text, &w->arena, w->d) : NULL);
}

/* Number of the helper that is what is read in sharding `s` in the block of the op; *fresh: it must be made. Equal ones
 * are one, as two would each be gathered. */
static sw_rc find_helper(sw_ir_writer *w, const sw_ir_read *r, const sw_sharding *s, int64_t *number, bool *fresh) {
  int64_t *slot;
  sw_text key = {0};
  sw_text_printf(&key, "%u %u ", w->p->names.use[r->name], w->t->ops.at[r->op].block);
  sw_sharding_key(s, &key);
  sw_rc rc = key.rc ? key.rc : sw_dict_put(&w->helpers, sw_text_str(&key), key.n, w->n_helpers, &slot, fresh, w->d);
  sw_text_free(&key);
  if (rc) return rc;
  *number = *slot;
  w->n_helpers += *fresh;
  return SW_OK;
}

/* %3#1 */
static sw_ir_span text_of_use(const sw_ir_writer *w, uint32_t use) {
  const sw_ir_use *u = &w->t->uses.at[use];
  uint32_t end = u->name.end;
  if (w->t->s[end] == '#') end += 1 + (uint32_t)strspn(w->t->s + end + 1, "0123456789");
  return (sw_ir_span){u->name.at - 1, end};
}

/* The name that is read, as it is by now: it may have become another around a region that the use is in. */
static const char *name_read(sw_ir_writer *w, uint32_t use) {
  sw_ir_span text = text_of_use(w, use);
  return w->renamed[use] ? w->renamed[use] : sw_arena_strndup(&w->arena, w->t->s + text.at, sw_ir_len(text), w->d);
}

static void rename_read(sw_ir_writer *w, const sw_ir_read *r, const char *name) {
  const uint32_t *slot = w->p->names.use;
  w->renamed[r->name] = name;
  for (uint32_t i = r->first; i < r->end; i++) {
    const sw_ir_op *o = &w->t->ops.at[i];
    for (uint32_t k = o->first_use; k < o->first_use + o->n_uses; k++) {
      if (slot[k] == slot[r->name]) w->renamed[k] = name;
    }
  }
}

/* The line that brings a name from one sharding to the next. `from` NULL: where it is nothing says. */
static sw_rc put_constraint_step(sw_ir_writer *w, const sw_ir_read *r, const sw_sharding *from, const sw_sharding *to,
                                 const char *name, sw_id value, sw_text *out) {
  const sw_ir_op *o = &w->t->ops.at[r->op];
  const uint32_t slot = w->p->names.use[r->name];
  const sw_type *type = &w->p->graph->values[value].type;
  const sw_collective *written = NULL;
  if (from) SW_TRY(sw_ir_find_written(w, o, w->types[slot_of_all(w, o, slot)], type, from, to, &written));
  if (written) return sw_ir_put_written(w, written, type, from, to, name, out);
  sw_text_printf(out, "sdy.sharding_constraint %s ", name);
  return put_constraint(w, to, o, slot, value, out);
}

/* What is read in n shardings, one after the other; it comes in `from` (NULL: it is not said in which). */
static sw_rc constrain_read(sw_ir_writer *w, const sw_ir_read *r, const sw_sharding *from, const sw_sharding *s, int n,
                            sw_id value) {
  const sw_ir_op *o = &w->t->ops.at[r->op];
  if (!n || !is_tensor(w, o, w->p->names.use[r->name])) return SW_OK;
  const char *name = name_read(w, r->name);
  for (int k = 0; k < n && name; k++) {
    sw_text text = {0};
    int64_t number;
    bool fresh;
    SW_TRY(find_helper(w, r, &s[k], &number, &fresh));
    const char *next = sw_arena_printf(&w->arena, w->d, "%%sw$.%lld", (long long)number);
    if (fresh) {
      sw_text_printf(&text, "%s = ", next ? next : "");
      SW_TRY(put_constraint_step(w, r, k ? &s[k - 1] : from, &s[k], name, value, &text));
      sw_text_puts(&text, "\n    ");
      SW_TRY(sw_ir_insert(&w->edits, o->text.at, sw_text_keep(&text, &w->arena, w->d)));
    }
    name = next;
  }
  if (!name) return SW_E_RESOURCE;
  rename_read(w, r, name);
  return SW_OK;
}

/* Does the name that is read not say how the value is cut? */
static bool is_unsaid(const sw_ir_writer *w, sw_id said, sw_id id) {
  const sw_value *value = &w->p->graph->values[id];
  bool says = said == id || said == SAID_BY_SIGNATURE || said == COMES_AS_USED;
  return !says && value->kind != SW_VALUE_CONSTANT && value->type.rank > 0;
}

/* Where the plan has a value cut in another way for this use, and before that as it is made, when its name does not say
 * so (results of calls, loops and barriers, arguments of functions). */
static sw_rc before_use(sw_ir_writer *w, const sw_ir_read *r) {
  const sw_value_use use = r->use;
  sw_id id = w->p->graph->ops[use.op].operands[use.index], def = w->p->graph->values[id].def;
  sw_id said = *said_at(w, &w->t->ops.at[r->op], w->p->names.use[r->name]);
  sw_sharding way[1 + SW_MAX_ROUTE_STEPS], from, to; /* way[0]: as it is said */
  int n;
  if (def >= 0 && w->p->graph->ops[def].code != SW_OP_ENTER && !w->named[id]) return SW_OK; /* made on the way to it */
  sw_ir_sharding_said(w, id, &way[0]);
  SW_TRY(sw_ir_way_to(w, use, id, way + 1, &n));
  if (n && said == COMES_AS_USED) return constrain_read(w, r, NULL, way + n, 1, id);
  sw_plan_value_sharding(w->plan, id, &from);
  sw_plan_use_sharding(w->plan, use, &to);
  if (from.n_partial && to.n_partial && !sw_sharding_equal(&from, &to)) way[++n] = sw_ir_without_partial(to);
  bool stays_partial = from.n_partial && !n;
  bool as_inside = w->renamed[r->name] != NULL; /* around a region: in the sharding that it has in there */
  bool begin = !stays_partial && !as_inside && is_unsaid(w, said, id);
  bool again = n && sw_sharding_equal(&way[0], &way[1]);
  return constrain_read(w, r, begin || as_inside ? NULL : &way[0], way + again + !begin, n - again + begin, id);
}

static sw_rc read_by(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, sw_value_use use) {
  uint32_t op = (uint32_t)(o - w->t->ops.at);
  return sw_array_push(&w->reads, ((sw_ir_read){op, o->first_use + i, 0, 0, use}), w->d);
}

/* Operands of the op of the graph that are those of the text one by one. */
static sw_rc before_operands(sw_ir_writer *w, const sw_ir_op *o, sw_id id) {
  const sw_op *op = &w->p->graph->ops[id];
  bool reduces = op->code == SW_OP_REDUCE && op->n_operands == 1 && o->n_uses == 2;
  if (op->n_operands != (int)o->n_uses && !reduces) return SW_OK;
  for (int i = 0; i < op->n_operands; i++) SW_TRY(read_by(w, o, (uint32_t)i, (sw_value_use){id, i}));
  return SW_OK;
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

/* Into w->types. Of ops of other dialects, what stands behind an arrow is the type of the result. */
static void type_values(sw_ir_writer *w) {
  const sw_ir_tree *t = w->t;
  const sw_ir_names *names = &w->p->names;
  uint32_t f = SW_IR_NONE; /* the function at hand */
  for (uint32_t i = 0; i < t->ops.n; i++) {
    const sw_ir_op *o = &t->ops.at[i];
    if (f != SW_IR_NONE && o->text.at >= t->ops.at[f].text.end) f = SW_IR_NONE;
    if (f != SW_IR_NONE) {
      sw_ir_span *types = &w->types[w->first_slot[f]];
      if (t->blocks.at[o->block].first_op == i) sw_ir_type_args(t, names, o->block, types, names->n_slots[f]);
      sw_ir_type_results(t, names, o, types, names->n_slots[f]);
      if (!sw_ir_has_known_types(t, o) && sw_ir_has_function_type(t, o) && o->n_results == 1)
        types[names->result[o->first_result]] = sw_ir_result_type(t, o, 0);
    }
    if (sw_ir_is_function(t, o)) f = i;
  }
}

sw_rc sw_ir_begin_constraints(sw_ir_writer *w) {
  const sw_ir_tree *t = w->t;
  uint32_t n = 0;
  SW_ARENA_NEW(w->first_slot, &w->arena, t->ops.n, w->d);
  for (uint32_t i = 0; i < t->ops.n; i++) {
    w->first_slot[i] = n;
    if (sw_ir_is_function(t, &t->ops.at[i])) n += w->p->names.n_slots[i];
  }
  SW_ARENA_NEW(w->types, &w->arena, n, w->d);
  type_values(w);
  w->n_helpers = 1 + sw_ir_last_number(t, "%sw$."); /* of a text that was written so */
  SW_ARENA_NEW(w->said, &w->arena, n, w->d);
  for (uint32_t i = 0; i < n; i++) w->said[i] = NOTHING_SAID;
  uint32_t block = sw_ir_block_at(t, &t->ops.at[w->p->main], 0);
  for (uint32_t i = 0; i < t->blocks.at[block].n_args; i++) {
    w->said[w->first_slot[w->p->main] + w->p->names.block[block] + i] = SAID_BY_SIGNATURE;
  }
  SW_TRY(sw_route_cache_make(&w->arena, &w->routes, w->d));
  return sw_ir_find_completed(w);
}

sw_rc sw_ir_constrain_results(sw_ir_writer *w, const sw_ir_made *made, size_t n, const sw_sharding *all) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  const sw_value *value = &w->p->graph->values[made[0].value];
  sw_sharding s = all[0];
  if (value->def < 0 || !o->n_uses || made[n - 1].result != 0 || value->type.rank == 0) return SW_OK;
  if (s.n_partial && !is_once(w, made, n)) return SW_OK;
  s.n_partial = 0;
  sw_sharding both[2] = {s, s};
  sw_ir_sharding_said(w, made[0].value, &both[1]);
  bool at_once = sw_sharding_equal(&both[0], &both[1]) || sw_ir_is_made_so(w, value);
  return constrain_result(w, o, both + at_once, 2 - at_once, made[0].value);
}

sw_rc sw_ir_constrain_passed_on(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  const sw_value *value = &w->p->graph->values[made[0].value];
  sw_sharding s;
  sw_ir_sharding_said(w, made[0].value, &s);
  bool says = n == 1 && !made[0].own && sw_ir_result_count(w->t, o) == 1;
  if (!says || value->kind == SW_VALUE_CONSTANT || value->type.rank == 0) return SW_OK;
  return constrain_result(w, o, &s, 1, made[0].value);
}

/* The use of a value in a callee, when all uses there want it in one sharding, and another than it is made in. */
static bool is_used_alike(const sw_ir_writer *w, const sw_ir_call *c, sw_id id, sw_value_use *use) {
  const sw_value *v = &w->p->graph->values[id];
  sw_sharding made, first, s;
  int n = 0;
  for (int32_t i = 0; i < v->n_uses; i++) {
    if (v->uses[i].op < c->first_op || v->uses[i].op >= c->end_op) continue;
    sw_plan_use_sharding(w->plan, v->uses[i], n ? &s : &first);
    if (n && !sw_sharding_equal(&s, &first)) return false;
    if (!n++) *use = v->uses[i];
  }
  sw_plan_value_sharding(w->plan, id, &made);
  return n && !first.n_partial && !sw_sharding_equal(&made, &first);
}

static void mark_passed_on(sw_ir_writer *w, const sw_ir_made *made, size_t n, const bool *is_call) {
  for (size_t i = 0; i < n; i++) {
    const sw_ir_op *o = &w->t->ops.at[made[i].op];
    if (made[i].own || is_call[made[i].op]) continue;
    for (uint32_t k = 0; k < o->n_uses; k++) {
      sw_id *said = said_at(w, o, w->p->names.use[o->first_use + k]);
      if (*said == NOTHING_SAID) *said = PASSED_ON;
    }
  }
}

sw_rc sw_ir_read_by_calls(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_program *p = w->p;
  bool *is_call;
  SW_ARENA_NEW(is_call, &w->arena, w->t->ops.n, w->d);
  for (size_t i = 0; i < p->trace.calls.n; i++) is_call[p->trace.calls.at[i].op] = true;
  mark_passed_on(w, made, n, is_call);
  for (size_t i = 0; i < p->trace.calls.n; i++) {
    const sw_ir_call *c = &p->trace.calls.at[i];
    const sw_ir_op *o = &w->t->ops.at[c->op], *f = &w->t->ops.at[c->function];
    uint32_t block = sw_ir_block_at(w->t, f, 0);
    for (uint32_t k = 0; k < w->t->blocks.at[block].n_args; k++) {
      sw_id id = p->trace.passed.at[c->first_passed + k];
      sw_id *said = &w->said[w->first_slot[c->function] + p->names.block[block] + k];
      sw_value_use use;
      if (id < 0 || *said == PASSED_ON || !is_used_alike(w, c, id, &use)) continue;
      SW_TRY(read_by(w, o, k, use));
      *said = COMES_AS_USED;
    }
  }
  return SW_OK;
}

sw_rc sw_ir_read_by_op(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
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

sw_rc sw_ir_read_by_loops(sw_ir_writer *w) {
  const sw_program *p = w->p;
  size_t n = p->trace.carried.n;
  sw_ir_carried *c = sw_arena_copy(&w->arena, p->trace.carried.at, n, sizeof *c, w->d);
  if (!c) return SW_E_RESOURCE;
  qsort(c, n, sizeof *c, compare_carried);
  for (size_t i = 0; i < n; i++) {
    if ((i && is_same_slot(&c[i - 1], &c[i])) || (i + 1 < n && is_same_slot(&c[i], &c[i + 1]))) continue;
    SW_TRY(read_by(w, &w->t->ops.at[c[i].op], c[i].index, (sw_value_use){c[i].enter, 0}));
    SW_TRY(read_by(w, &w->t->ops.at[c[i].ret], c[i].index, (sw_value_use){c[i].yield, 0}));
  }
  return SW_OK;
}

static int compare_captured(const void *a, const void *b) {
  const sw_ir_captured *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  if (x->branch != y->branch) return x->branch < y->branch ? -1 : 1;
  if (x->slot != y->slot) return x->slot < y->slot ? -1 : 1;
  return x->enter < y->enter ? -1 : x->enter > y->enter;
}

static bool is_same_name(const sw_ir_captured *a, const sw_ir_captured *b) {
  return a->op == b->op && a->branch == b->branch && a->slot == b->slot;
}

/* Regions of a loop together, a choice's each by itself: *first and *end of the ops in the text. */
static void ops_within(const sw_ir_tree *t, const sw_ir_captured *c, uint32_t *first, uint32_t *end) {
  const sw_ir_op *o = &t->ops.at[c->op];
  uint32_t region = o->first_region;
  for (uint32_t i = 0; i < c->branch; i++) region = t->regions.at[region].next;
  const bool loop = sw_ir_is_among(t, o->name, "stablehlo.while mhlo.while");
  const sw_ir_span text = loop ? o->text : t->regions.at[region].text;
  *first = sw_ir_op_from(t, c->op + 1, text.at);
  *end = sw_ir_op_from(t, *first, text.end);
}

static sw_rc read_within(sw_ir_writer *w, const sw_ir_captured *c) {
  uint32_t first, end;
  ops_within(w->t, c, &first, &end);
  for (uint32_t i = first; i < end; i++) {
    const sw_ir_op *o = &w->t->ops.at[i];
    for (uint32_t k = o->first_use; k < o->first_use + o->n_uses; k++) {
      if (w->p->names.use[k] != c->slot) continue;
      return sw_array_push(&w->reads, ((sw_ir_read){c->op, k, first, end, {c->enter, 0}}), w->d);
    }
  }
  return SW_OK;
}

sw_rc sw_ir_read_in_regions(sw_ir_writer *w) {
  size_t n = w->p->trace.captured.n;
  sw_ir_captured *c = sw_arena_copy(&w->arena, w->p->trace.captured.at, n, sizeof *c, w->d);
  if (!c) return SW_E_RESOURCE;
  if (n) qsort(c, n, sizeof *c, compare_captured);
  for (size_t i = 0; i < n; i++) {
    if ((i && is_same_name(&c[i - 1], &c[i])) || (i + 1 < n && is_same_name(&c[i], &c[i + 1]))) continue;
    SW_TRY(read_within(w, &c[i]));
  }
  return SW_OK;
}

static int compare_reads(const void *a, const void *b) {
  const sw_ir_read *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return x->name < y->name ? -1 : x->name > y->name;
}

static sw_rc write_renamed(sw_ir_writer *w) {
  for (uint32_t i = 0; i < w->t->uses.n; i++) {
    sw_ir_span text = text_of_use(w, i);
    if (w->renamed[i]) SW_TRY(sw_ir_replace(&w->edits, text.at, text.end, w->renamed[i]));
  }
  return SW_OK;
}

sw_rc sw_ir_constrain_reads(sw_ir_writer *w) {
  if (w->reads.n) qsort(w->reads.at, w->reads.n, sizeof *w->reads.at, compare_reads);
  SW_ARENA_NEW(w->renamed, &w->arena, w->t->uses.n, w->d);
  for (size_t i = 0; i < w->reads.n; i++) SW_TRY(before_use(w, &w->reads.at[i]));
  return write_renamed(w);
}
