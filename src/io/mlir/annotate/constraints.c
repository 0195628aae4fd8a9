/* A plan's shardings as constraints, for compilers that leave the shardings of ops out when they take a program in (XLA
 * does, JAX 0.10): behind each op one for its result, before it one for each operand that it wants in another sharding.
 *
 *   %5 = stablehlo.add %3, %4 : tensor<8x4xf32>        becomes
 *
 *   %sw$0 = sdy.sharding_constraint %4 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *   %sw$5 = stablehlo.add %3, %sw$0 : tensor<8x4xf32>
 *   %5 = sdy.sharding_constraint %sw$5 <@mesh, [{"x"}, {}]> : tensor<8x4xf32>
 *
 * Partial values have no constraint: a compiler knows from the operands that they are. (But see find_completed.) Ops
 * with several results have none behind; what nothing says where it gets its name is said before it is read. What a
 * loop takes in, and what its body gives back, has one when it is made in another sharding than it is carried in.
 * Functions that are cut in several ways have become several before (split.h).
 */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/annotate/write.h"

/* What names say of a value where no constraint stands. */
enum {
  NOTHING_SAID = -1,
  PASSED_ON = -2, /* the same, and an op gives it another name */
  SAID_BY_SIGNATURE = -3,
  COMES_AS_USED = -4, /* an argument that all uses in the function want alike, and calls bring in so */
};

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

/* Of the name in that slot of the op's function: the value that a constraint says, or one of the above. */
static sw_id *said_at(const sw_ir_writer *w, const sw_ir_op *o, uint32_t slot) {
  while (!sw_ir_is_function(w->t, o)) o = &w->t->ops.at[w->t->regions.at[w->t->blocks.at[o->block].region].op];
  return &w->said[w->first_slot[o - w->t->ops.at] + slot];
}

static sw_rc behind(sw_ir_writer *w, const sw_ir_op *o, const sw_sharding *s, sw_id value) {
  const sw_ir_result *r = &w->t->results.at[o->first_result];
  sw_text text = {0};
  int name = (int)sw_ir_len(r->name);
  sw_text_printf(&text, "\n    %%%.*s = sdy.sharding_constraint %%sw$%.*s ", name, w->t->s + r->name.at, name,
                 w->t->s + r->name.at);
  SW_TRY(put_constraint(w, s, value, &text));
  *said_at(w, o, w->p->names.result[o->first_result]) = value;
  SW_TRY(sw_ir_insert(w, r->name.at, "sw$"));
  return sw_ir_insert(w, o->text.end, kept(w, &text));
}

/* Number of the helper that is operand `i` in sharding `s` in the block of the op; *fresh: it must be made. Equal ones
 * are one, as two would each be gathered. */
static sw_rc find_helper(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, const sw_sharding *s, int64_t *number,
                         bool *fresh) {
  int64_t *slot;
  sw_text key = {0};
  sw_text_printf(&key, "%u %u ", w->p->names.use[o->first_use + i], o->block);
  sw_sharding_key(s, &key);
  sw_rc rc = key.rc ? key.rc : sw_dict_put(&w->helpers, sw_text_str(&key), key.n, w->n_helpers, &slot, fresh, w->d);
  sw_text_free(&key);
  if (rc) return rc;
  *number = *slot;
  w->n_helpers += *fresh;
  return SW_OK;
}

/* Operand `i` in n shardings, one after the other. */
static sw_rc before(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, const sw_sharding *s, int n, sw_id value) {
  const sw_ir_use *use = &w->t->uses.at[o->first_use + i];
  if (!n) return SW_OK;
  uint32_t at = use->name.at - 1, end = use->name.end;
  if (w->t->s[end] == '#') end += 1 + (uint32_t)strspn(w->t->s + end + 1, "0123456789");
  const char *name = sw_arena_strndup(&w->arena, w->t->s + at, end - at, w->d);
  for (int k = 0; k < n && name; k++) {
    sw_text text = {0};
    int64_t number;
    bool fresh;
    SW_TRY(find_helper(w, o, i, &s[k], &number, &fresh));
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

/* Does the name that operand `i` is not say how the value is cut? */
static bool is_unsaid(const sw_ir_writer *w, const sw_ir_op *o, uint32_t i, sw_id id) {
  const sw_value *value = &w->p->graph->values[id];
  sw_id said = *said_at(w, o, w->p->names.use[o->first_use + i]);
  bool says = said == id || said == SAID_BY_SIGNATURE || said == COMES_AS_USED;
  return !says && value->kind != SW_VALUE_CONSTANT && value->type.rank > 0;
}

/* The shardings that a value goes through on the plan's way from how it is made to how a use wants it, without those
 * that a constraint cannot say. A compiler that is told the last one alone finds a way of its own. */
static sw_rc way_to(sw_ir_writer *w, sw_value_use use, sw_id id, sw_sharding *way, int *n) {
  const sw_type *type = &w->p->graph->values[id].type;
  const sw_machine *machine = w->plan->machine;
  sw_sharding from, to;
  const sw_route *route;
  *n = 0;
  sw_plan_value_sharding(w->plan, id, &from);
  sw_plan_use_sharding(w->plan, use, &to);
  if (to.n_partial || sw_sharding_equal(&from, &to)) return SW_OK;
  const sw_reshard wanted = {machine, &from, &to, type->rank, type->dims, type->dtype, {0}};
  SW_TRY(sw_route_cached(w->routes, &wanted, &route, w->d));
  for (int k = 0; k + 1 < route->n_steps; k++) {
    const sw_route_step *step = &route->step[k];
    if (!step->after.n_partial && step->mesh == w->mesh) way[(*n)++] = step->after;
  }
  way[(*n)++] = to;
  return SW_OK;
}

/* Operand `i` of the text's op, which is what `use` reads: where the plan has it cut in another way for this use, and
 * before that as it is made, when its name does not say so (results of calls, loops and barriers, arguments of
 * functions). */
static sw_rc before_use(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, sw_value_use use) {
  sw_id id = w->p->graph->ops[use.op].operands[use.index], def = w->p->graph->values[id].def;
  sw_sharding way[1 + SW_MAX_ROUTE_STEPS]; /* the first: as it is made */
  int n;
  if (def >= 0 && w->p->graph->ops[def].code != SW_OP_ENTER && !w->named[id]) return SW_OK; /* made on the way to it */
  sw_plan_value_sharding(w->plan, id, &way[0]);
  SW_TRY(way_to(w, use, id, way + 1, &n));
  if (n && *said_at(w, o, w->p->names.use[o->first_use + i]) == COMES_AS_USED) return before(w, o, i, way + n, 1, id);
  bool begin = is_unsaid(w, o, i, id) && !way[0].n_partial;
  return before(w, o, i, way + !begin, n + begin, id);
}

static sw_rc read_by(sw_ir_writer *w, const sw_ir_op *o, uint32_t i, sw_value_use use) {
  return sw_array_push(&w->reads, ((sw_ir_read){(uint32_t)(o - w->t->ops.at), i, use}), w->d);
}

/* Operands of the op of the graph that are those of the text one by one. */
static sw_rc before_operands(sw_ir_writer *w, const sw_ir_op *o, sw_id id) {
  const sw_op *op = &w->p->graph->ops[id];
  bool reduces = op->code == SW_OP_REDUCE && op->n_operands == 1 && o->n_uses == 2;
  if (op->n_operands != (int)o->n_uses && !reduces) return SW_OK;
  for (int i = 0; i < op->n_operands; i++) SW_TRY(read_by(w, o, (uint32_t)i, (sw_value_use){id, i}));
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

/* A partial value that every use wants complete, some of them on the way not cut as it is: *s is the sharding in which
 * it is completed. Without it a compiler would make the value as the uses want it, and gather operands instead. */
static sw_rc find_completed(sw_ir_writer *w, sw_id value, sw_sharding *s, bool *completed) {
  const sw_value *v = &w->p->graph->values[value];
  bool whole = true, as_cut = true;
  sw_plan_value_sharding(w->plan, value, s);
  s->n_partial = 0;
  for (int32_t i = 0; i < v->n_uses && whole; i++) {
    sw_sharding way[SW_MAX_ROUTE_STEPS];
    int n;
    SW_TRY(way_to(w, v->uses[i], value, way, &n));
    whole = n > 0;
    as_cut = whole && as_cut && refines(&way[0], s);
  }
  *completed = whole && !as_cut;
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

sw_rc sw_ir_begin_constraints(sw_ir_writer *w) {
  const sw_ir_tree *t = w->t;
  uint32_t n = 0;
  SW_ARENA_NEW(w->first_slot, &w->arena, t->ops.n, w->d);
  for (uint32_t i = 0; i < t->ops.n; i++) {
    w->first_slot[i] = n;
    if (sw_ir_is_function(t, &t->ops.at[i])) n += w->p->names.n_slots[i];
  }
  SW_ARENA_NEW(w->said, &w->arena, n, w->d);
  for (uint32_t i = 0; i < n; i++) w->said[i] = NOTHING_SAID;
  uint32_t block = sw_im_block(t, &t->ops.at[w->p->main], 0);
  for (uint32_t i = 0; i < t->blocks.at[block].n_args; i++) {
    w->said[w->first_slot[w->p->main] + w->p->names.block[block] + i] = SAID_BY_SIGNATURE;
  }
  return sw_route_cache_make(&w->arena, &w->routes, w->d);
}

sw_rc sw_ir_constrain_results(sw_ir_writer *w, const sw_ir_made *made, size_t n, const sw_sharding *all) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  const sw_value *value = &w->p->graph->values[made[0].value];
  sw_sharding s = all[0];
  if (value->def < 0 || !o->n_uses || made[n - 1].result != 0 || value->type.rank == 0) return SW_OK;
  if (s.n_partial) {
    bool completed = false;
    if (is_once(w, made, n)) SW_TRY(find_completed(w, made[0].value, &s, &completed));
    if (!completed) return SW_OK;
  }
  return behind(w, o, &s, made[0].value);
}

sw_rc sw_ir_constrain_passed_on(sw_ir_writer *w, const sw_ir_made *made, size_t n) {
  const sw_ir_op *o = &w->t->ops.at[made[0].op];
  const sw_value *value = &w->p->graph->values[made[0].value];
  sw_sharding s;
  sw_plan_value_sharding(w->plan, made[0].value, &s);
  bool says = n == 1 && !made[0].own && sw_ir_result_count(w->t, o) == 1;
  if (!says || s.n_partial || value->kind == SW_VALUE_CONSTANT || value->type.rank == 0) return SW_OK;
  return behind(w, o, &s, made[0].value);
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
  for (size_t i = 0; i < p->calls.n; i++) is_call[p->calls.at[i].op] = true;
  mark_passed_on(w, made, n, is_call);
  for (size_t i = 0; i < p->calls.n; i++) {
    const sw_ir_call *c = &p->calls.at[i];
    const sw_ir_op *o = &w->t->ops.at[c->op], *f = &w->t->ops.at[c->function];
    uint32_t block = sw_im_block(w->t, f, 0);
    for (uint32_t k = 0; k < w->t->blocks.at[block].n_args; k++) {
      sw_id id = p->passed.at[c->first_passed + k];
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
  size_t n = p->carried.n;
  sw_ir_carried *c = sw_arena_copy(&w->arena, p->carried.at, n, sizeof *c, w->d);
  if (!c) return SW_E_RESOURCE;
  qsort(c, n, sizeof *c, compare_carried);
  for (size_t i = 0; i < n; i++) {
    if ((i && is_same_slot(&c[i - 1], &c[i])) || (i + 1 < n && is_same_slot(&c[i], &c[i + 1]))) continue;
    SW_TRY(read_by(w, &w->t->ops.at[c[i].op], c[i].index, (sw_value_use){c[i].enter, 0}));
    SW_TRY(read_by(w, &w->t->ops.at[c[i].ret], c[i].index, (sw_value_use){c[i].yield, 0}));
  }
  return SW_OK;
}

static int compare_reads(const void *a, const void *b) {
  const sw_ir_read *x = a, *y = b;
  if (x->op != y->op) return x->op < y->op ? -1 : 1;
  return x->operand < y->operand ? -1 : x->operand > y->operand;
}

sw_rc sw_ir_constrain_reads(sw_ir_writer *w) {
  if (w->reads.n) qsort(w->reads.at, w->reads.n, sizeof *w->reads.at, compare_reads);
  for (size_t i = 0; i < w->reads.n; i++) {
    const sw_ir_read *r = &w->reads.at[i];
    SW_TRY(before_use(w, &w->t->ops.at[r->op], r->operand, r->use));
  }
  return SW_OK;
}
