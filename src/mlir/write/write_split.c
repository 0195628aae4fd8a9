/* Functions that a plan cuts in several ways, as one copy for each of them:
 *
 *   %0 = call @relu(%a)    its rows are cut               %0 = call @relu(%a)
 *   %1 = call @relu(%b)    its columns are cut            %1 = call @relu$1(%b)
 *   func.func private @relu(...) { ... }                  func.func private @relu(...) { ... }
 *                                                         func.func private @relu$1(...) { ... }
 *
 * Calls are alike when everything that is written out for them is; one of those that are alike stands for all in the
 * list of what ops of the text make. A copy is text, parsed again: ops keep their order, so that op i of a function is
 * op i of its copies.
 */
#include "mlir/write/split.h"

#include <string.h>

typedef struct splitter {
  const sw_program *p;
  const sw_plan *plan;
  uint32_t *like;     /* by call: 1 + the first call that is alike; index 0: main, which no call makes */
  uint32_t *class_of; /* by call: number of the copy that it calls */
  uint32_t *n_copies; /* likewise; the function itself is the first */
  uint32_t *base;     /* likewise: op of the new text that is the function */
  sw_dict callees;    /* (call, op of the text in its function) to the call that this makes */
  sw_arena arena;
  sw_diag *d;
} splitter;

/* --- which calls are alike --------------------------------------------------------------------------------------- */

static void put_value_key(const splitter *s, sw_id value, sw_text *key) {
  sw_sharding made;
  sw_plan_value_sharding(s->plan, value, &made);
  sw_sharding_key(&made, key);
}

/* All that the call makes and reads, as it is cut. */
static void put_signature(const splitter *s, const sw_ir_call *c, sw_text *key) {
  const sw_graph *g = s->p->graph;
  sw_text_printf(key, "%u ", c->function);
  for (sw_id id = c->first_op; id < c->end_op; id++) {
    const sw_op *op = &g->ops[id];
    for (int i = 0; i < op->n_results; i++) put_value_key(s, op->results[i], key);
    for (int i = 0; i < op->n_operands; i++) {
      sw_sharding want;
      put_value_key(s, op->operands[i], key);
      sw_plan_use_sharding(s->plan, (sw_value_use){id, i}, &want);
      sw_sharding_key(&want, key);
    }
  }
}

static sw_rc find_equal(splitter *s) {
  const sw_program *p = s->p;
  sw_dict seen = {0};
  sw_text key = {0};
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; i < p->trace.calls.n && !rc; i++) {
    const sw_ir_call *c = &p->trace.calls.at[i];
    int64_t *first;
    bool fresh = true;
    s->like[i + 1] = i + 1;
    key.n = 0;
    put_signature(s, c, &key);
    rc = key.rc ? key.rc : sw_dict_put(&seen, sw_text_str(&key), key.n, i + 1, &first, &fresh, s->d);
    if (rc) break;
    s->like[i + 1] = (uint32_t)*first;
    s->class_of[i + 1] = fresh ? s->n_copies[c->function]++ : s->class_of[*first];
  }
  sw_text_free(&key);
  sw_dict_deinit(&seen);
  return rc;
}

/* Where each call goes; *ok = false where one stands in no text that could name another function, or is made twice. */
static sw_rc find_callees(splitter *s, bool *ok) {
  const sw_program *p = s->p;
  *ok = true;
  for (uint32_t i = 0; i < p->trace.calls.n; i++) {
    const sw_ir_call *c = &p->trace.calls.at[i];
    const uint32_t key[2] = {c->parent, c->op};
    bool fresh;
    SW_TRY(sw_dict_put(&s->callees, key, sizeof key, i + 1, NULL, &fresh, s->d));
    sw_ir_span symbol = p->tree.ops.at[c->op].symbol;
    *ok = *ok && fresh && sw_ir_function_named(&p->tree, &p->names, symbol) == c->function;
  }
  return SW_OK;
}

/* --- the text ---------------------------------------------------------------------------------------------------- */

/* What the name of a copy has behind that of the function, so that no other function is of that name. */
static const char *ending(splitter *s, uint32_t function, uint32_t copy) {
  const sw_ir_tree *t = &s->p->tree;
  sw_ir_span name = sw_ir_function_name(t, &t->ops.at[function]);
  for (int marks = 1;; marks++) {
    const char *end = sw_arena_printf(&s->arena, s->d, "%.*s%u", marks, "$$$$$$$$", copy);
    const char *whole = sw_arena_printf(&s->arena, s->d, "%.*s%s", (int)sw_ir_len(name), t->s + name.at, end);
    if (!whole) return NULL;
    if (marks == 8 || !sw_dict_get(&s->p->names.functions, whole, strlen(whole))) return end;
  }
}

/* The text from *at to the end of the name, and the ending of a copy's. */
static sw_rc put_copied_name(splitter *s, sw_ir_span name, uint32_t function, uint32_t copy, uint32_t *at,
                             sw_text *out) {
  const sw_ir_tree *t = &s->p->tree;
  const char *end = ending(s, function, copy);
  uint32_t quote = t->s[name.end - 1] == '"';
  if (!end) return SW_E_RESOURCE;
  sw_text_append(out, t->s + *at, name.end - quote - *at);
  sw_text_puts(out, end);
  *at = name.end - quote;
  return SW_OK;
}

static uint32_t end_of_function_ops(const sw_ir_tree *t, uint32_t function) {
  return sw_ir_op_from(t, function + 1, t->ops.at[function].text.end);
}

/* A function as a call sees it (0: main, or one that no call goes to). */
static sw_rc put_function(splitter *s, uint32_t function, uint32_t call, sw_text *out) {
  const sw_ir_tree *t = &s->p->tree;
  const sw_ir_op *f = &t->ops.at[function];
  uint32_t at = f->text.at, end = end_of_function_ops(t, function);
  if (s->class_of[call]) SW_TRY(put_copied_name(s, sw_ir_function_name(t, f), function, s->class_of[call], &at, out));
  for (uint32_t i = function + 1; i < end; i++) {
    const uint32_t key[2] = {call, i};
    const int64_t *to = sw_dict_get(&s->callees, key, sizeof key);
    if (!to || !s->class_of[*to]) continue;
    SW_TRY(put_copied_name(s, t->ops.at[i].symbol, s->p->trace.calls.at[*to - 1].function, s->class_of[*to], &at, out));
  }
  sw_text_append(out, t->s + at, f->text.end - at);
  return out->rc;
}

static sw_rc put_copies(splitter *s, uint32_t function, sw_text *out) {
  for (uint32_t i = 1, copy = 0; i <= s->p->trace.calls.n; i++) {
    bool one = s->p->trace.calls.at[i - 1].function == function && s->like[i] == i;
    if (!one) continue;
    if (copy++) sw_text_puts(out, "\n  ");
    SW_TRY(put_function(s, function, i, out));
  }
  return SW_OK;
}

static sw_rc put_text(splitter *s, sw_text *out) {
  const sw_ir_tree *t = &s->p->tree;
  uint32_t at = 0, more = 0;
  for (uint32_t i = 0; i < t->ops.n; i++) {
    if (!sw_ir_is_function(t, &t->ops.at[i])) continue;
    s->base[i] = i + more;
    sw_text_append(out, t->s + at, t->ops.at[i].text.at - at);
    SW_TRY(s->n_copies[i] ? put_copies(s, i, out) : put_function(s, i, 0, out));
    at = t->ops.at[i].text.end;
    if (s->n_copies[i] > 1) more += (s->n_copies[i] - 1) * (end_of_function_ops(t, i) - i);
  }
  sw_text_append(out, t->s + at, t->n - at);
  return out->rc;
}

/* --- what ops of the text make ----------------------------------------------------------------------------------- */

/* The op of the new text that is `op`, of the function that `call` goes to. */
static uint32_t op_in_split_text(const splitter *s, uint32_t op, uint32_t call) {
  uint32_t f = call ? s->p->trace.calls.at[call - 1].function : s->p->main;
  return s->base[f] + s->class_of[call] * (end_of_function_ops(&s->p->tree, f) - f) + op - f;
}

static sw_rc split_trace(splitter *s, sw_program *q) {
  const sw_program *p = s->p;
  for (size_t i = 0; i < p->trace.made.n; i++) {
    sw_ir_made m = p->trace.made.at[i];
    if (s->like[m.call] != m.call) continue;
    m.op = op_in_split_text(s, m.op, m.call);
    SW_TRY(sw_array_push(&q->trace.made, m, s->d));
  }
  for (size_t i = 0; i < p->trace.calls.n; i++) {
    sw_ir_call c = p->trace.calls.at[i];
    if (s->like[c.parent] != c.parent) continue;
    c.op = op_in_split_text(s, c.op, c.parent);
    c.function = op_in_split_text(s, c.function, (uint32_t)i + 1);
    SW_TRY(sw_array_push(&q->trace.calls, c, s->d));
  }
  for (size_t i = 0; i < p->trace.passed.n; i++) SW_TRY(sw_array_push(&q->trace.passed, p->trace.passed.at[i], s->d));
  for (size_t i = 0; i < p->trace.carried.n; i++) {
    sw_ir_carried c = p->trace.carried.at[i];
    if (s->like[c.call] != c.call) continue;
    c.op = op_in_split_text(s, c.op, c.call);
    c.ret = op_in_split_text(s, c.ret, c.call);
    SW_TRY(sw_array_push(&q->trace.carried, c, s->d));
  }
  for (size_t i = 0; i < p->trace.captured.n; i++) {
    sw_ir_captured c = p->trace.captured.at[i];
    if (s->like[c.call] != c.call) continue;
    c.op = op_in_split_text(s, c.op, c.call);
    SW_TRY(sw_array_push(&q->trace.captured, c, s->d));
  }
  return SW_OK;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static sw_rc split_program_text(splitter *s, sw_program *q) {
  const sw_program *p = s->p;
  sw_text text = {0};
  sw_rc rc = put_text(s, &text);
  if (!rc) q->text = sw_mem_alloc(text.n + 1, 1, s->d);
  if (!rc && !q->text) rc = SW_E_RESOURCE;
  if (!rc) memcpy(q->text, sw_text_str(&text), text.n + 1);
  size_t n = text.n;
  sw_text_free(&text);
  SW_TRY(rc);
  SW_TRY(sw_ir_parse(p->file, q->text, n, &q->tree, s->d));
  SW_TRY(sw_ir_resolve(&q->tree, &q->names, s->d));
  q->graph = p->graph;
  q->main = s->base[p->main];
  q->module = p->module; /* before all functions */
  return split_trace(s, q);
}

sw_rc sw_ir_split(const sw_program *p, const sw_plan *plan, sw_program *q, bool *done, sw_diag *d) {
  splitter s = {.p = p, .plan = plan, .d = d};
  size_t n = p->tree.ops.n;
  *done = false;
  SW_ARENA_NEW_EACH(&s.arena, p->trace.calls.n + 1, d, s.like, s.class_of);
  SW_ARENA_NEW_EACH(&s.arena, n, d, s.n_copies, s.base);
  sw_rc rc = find_callees(&s, done);
  if (!rc && *done) rc = find_equal(&s);
  if (!rc && *done) rc = split_program_text(&s, q);
  sw_dict_deinit(&s.callees);
  sw_arena_deinit(&s.arena);
  return rc;
}

void sw_ir_split_free(sw_program *q) {
  sw_ir_trace_free(&q->trace);
  sw_ir_names_free(&q->names);
  sw_ir_free(&q->tree);
  sw_mem_free(q->text);
}
