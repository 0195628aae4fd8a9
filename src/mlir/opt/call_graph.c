/* Functions and calls of them: one function for each call, so that calls need not be cut alike, and one again for those
 * that are; the order of functions; functions that nothing calls. */
#include <string.h>

#include "mlir/opt/calls.h"
#include "mlir/opt/opt_copy.h"
#include "mlir/opt/opt_rewrite.h"

static const char kOriginal[] = "sdy.original_func_name";

/* --- flatten-call-graph ------------------------------------------------------------------------------------------- */

enum { DEEPEST = 256, MOST_BYTES = 1 << 29 }; /* of calls; of copies */

typedef struct flattener {
  sw_opt_work *w;
  sw_opt_calls calls;
  bool *taken; /* by function: a call has it as it is */
  sw_text *added;
  const char **name; /* by call in a copy that is being made: of the copy that it calls */
} flattener;

/* attributes {sdy.original_func_name = "f"} */
static sw_rc say_original(sw_opt_copy *c, const sw_ir_op *f) {
  sw_opt_work *w = c->w;
  const sw_ir_span name = sw_opt_original_name(w->t, f);
  const char *value = sw_arena_printf(&w->arena, w->d, "\"%.*s\"", SW_IR_TEXT(w->t, name));
  if (!value) return SW_E_RESOURCE;
  c->edits.key = kOriginal;
  if (sw_ir_len(f->attrs)) return sw_ir_set_entry(&c->edits, f->attrs, value);
  if (f->generic) return sw_ir_set_op(&c->edits, f, value);
  const uint32_t region = sw_ir_region_at(w->t, f, 0),
                 at = region == SW_IR_NONE ? f->text.end : w->t->regions.at[region].text.at;
  return sw_ir_insert(&c->edits, at, sw_arena_printf(&w->arena, w->d, "attributes {%s = %s} ", kOriginal, value));
}

static sw_rc copy_function(flattener *f, uint32_t function, int depth, const char **out);

/* The names that calls in a copy have: of copies of what they call. */
static sw_rc copy_callees(flattener *f, uint32_t function, int depth) {
  for (uint32_t call = f->calls.first[function]; call != SW_IR_NONE; call = f->calls.next[call]) {
    const char *name;
    SW_TRY(copy_function(f, f->calls.callee[call], depth + 1, &name));
    f->name[call] = name;
  }
  return SW_OK;
}

static sw_rc write_copy(flattener *f, uint32_t function, const char *name) {
  sw_opt_work *w = f->w;
  const sw_ir_op *o = &w->t->ops.at[function];
  const sw_ir_span symbol = sw_ir_function_name(w->t, o);
  const char *text;
  sw_opt_copy c;
  sw_opt_copy_begin(w, o->text, &c);
  sw_rc rc = sw_ir_replace(&c.edits, symbol.at, symbol.end, name);
  if (!rc) rc = say_original(&c, o);
  for (uint32_t call = f->calls.first[function]; call != SW_IR_NONE && !rc; call = f->calls.next[call]) {
    const sw_ir_span at = sw_opt_called_symbol(w->t, &w->t->ops.at[call]);
    rc = sw_ir_replace(&c.edits, at.at, at.end, f->name[call]);
  }
  SW_TRY(sw_opt_copy_end(&c, rc, &text));
  sw_text_printf(f->added, "%s%s", f->added->n ? "\n" : "", text);
  return f->added->rc;
}

/* A copy of a function and of all that it calls. */
static sw_rc copy_function(flattener *f, uint32_t function, int depth, const char **out) {
  sw_opt_work *w = f->w;
  const sw_ir_op *o = &w->t->ops.at[function];
  const sw_ir_span name = sw_opt_original_name(w->t, o);
  if (depth > DEEPEST || f->added->n > MOST_BYTES)
    return SW_FAIL_INPUT(w->d, sw_ir_place(w->t, o->text.at),
                         "calls nest deeper than %d or would need more than %d MiB as functions of their own", DEEPEST,
                         MOST_BYTES >> 20);
  SW_TRY(copy_callees(f, function, depth));
  SW_TRY(sw_opt_new_symbol(w, w->t->s + name.at, sw_ir_len(name), out));
  return write_copy(f, function, *out);
}

static sw_rc flatten_calls(flattener *f, uint32_t function) {
  sw_opt_work *w = f->w;
  for (uint32_t call = f->calls.first[function]; call != SW_IR_NONE; call = f->calls.next[call]) {
    const uint32_t callee = f->calls.callee[call];
    const sw_ir_span at = sw_opt_called_symbol(w->t, &w->t->ops.at[call]);
    const char *name;
    if (f->taken[callee]) {
      SW_TRY(copy_function(f, callee, 0, &name));
      SW_TRY(sw_ir_replace(&w->edits, at.at, at.end, name));
    }
    f->taken[callee] = true;
  }
  return SW_OK;
}

sw_rc sw_pass_flatten_call_graph(sw_opt_work *w) {
  flattener f = {.w = w};
  SW_TRY(sw_opt_calls_read(w, &f.calls));
  SW_TRY(sw_opt_text(w, &f.added));
  SW_ARENA_NEW_EACH(&w->arena, w->t->ops.n, w->d, f.taken, f.name);
  for (uint32_t i = 0; i < f.calls.n; i++) SW_TRY(flatten_calls(&f, f.calls.order[i]));
  return f.added->n ? sw_opt_put_behind(w, sw_opt_last_of_module(w), sw_text_str(f.added)) : SW_OK;
}

/* --- unflatten-call-graph ----------------------------------------------------------------------------------------- */

/* Copies of a function that are cut alike. */
typedef struct cut_alike {
  uint32_t function; /* if it is the one that most calls want: which one is called */
  uint32_t calls;
} cut_alike;

typedef struct merger {
  sw_opt_work *w;
  bool fully;       /* one for all copies, however they are cut */
  sw_dict *by_key;  /* name and shardings of a function, to it; if fully, to an index of `cut` */
  sw_dict *by_name; /* if fully: to an index of `cut`, of the one that most calls want */
  sw_text *key;
  cut_alike *cut;
  uint32_t n_cut;
} merger;

static sw_rc write_function_key(merger *m, uint32_t function) {
  sw_opt_work *w = m->w;
  const sw_ir_span name = sw_opt_original_name(w->t, &w->t->ops.at[function]);
  m->key->n = 0;
  sw_text_append(m->key, w->t->s + name.at, sw_ir_len(name));
  for (uint32_t k = 0; k < 2; k++) {
    const sw_sharded_place p = sw_opt_place(w, function)[k];
    for (uint32_t i = p.first; i < p.first + p.n; i++) {
      const char *text;
      SW_TRY(sw_opt_sharding_text(w, i, &text));
      sw_text_printf(m->key, "\n%s", text);
    }
  }
  return m->key->rc;
}

/* The name of a function and how it is cut, `fully` counted over calls: of the ways in which copies are cut the one
 * wins that has the most calls, of such the first, with the function that was called when it came to the lead. */
static sw_rc count_call(merger *m, uint32_t callee) {
  sw_opt_work *w = m->w;
  const sw_ir_span name = sw_opt_original_name(w->t, &w->t->ops.at[callee]);
  int64_t *mine, *best;
  bool fresh;
  SW_TRY(write_function_key(m, callee));
  SW_TRY(sw_dict_put(m->by_key, m->key->at, m->key->n, m->n_cut, &mine, &fresh, w->d));
  if (fresh) m->cut[m->n_cut++] = (cut_alike){callee, 0};
  cut_alike *c = &m->cut[*mine];
  c->calls++;
  SW_TRY(sw_dict_put(m->by_name, w->t->s + name.at, sw_ir_len(name), *mine, &best, &fresh, w->d));
  if (*best == *mine || c->calls <= m->cut[*best].calls) return SW_OK;
  *best = *mine;
  c->function = callee;
  return SW_OK;
}

/* The function that a call has in place of its own. */
static sw_rc merged(merger *m, uint32_t callee, uint32_t *out) {
  sw_opt_work *w = m->w;
  const sw_ir_span name = sw_opt_original_name(w->t, &w->t->ops.at[callee]);
  int64_t *slot;
  if (m->fully) {
    *out = m->cut[*sw_dict_get(m->by_name, w->t->s + name.at, sw_ir_len(name))].function;
    return SW_OK;
  }
  SW_TRY(write_function_key(m, callee));
  SW_TRY(sw_dict_put(m->by_key, m->key->at, m->key->n, callee, &slot, NULL, w->d));
  *out = (uint32_t)*slot;
  return SW_OK;
}

static sw_rc merge_calls(merger *m, const sw_opt_calls *calls) {
  sw_opt_work *w = m->w;
  for (uint32_t op = 0; m->fully && op < w->t->ops.n; op++) {
    if (calls->callee[op] != SW_IR_NONE) SW_TRY(count_call(m, calls->callee[op]));
  }
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    uint32_t to;
    if (calls->callee[op] == SW_IR_NONE) continue;
    SW_TRY(merged(m, calls->callee[op], &to));
    if (to == calls->callee[op]) continue;
    const sw_ir_span at = sw_opt_called_symbol(w->t, &w->t->ops.at[op]),
                     name = sw_ir_function_name(w->t, &w->t->ops.at[to]);
    SW_TRY(
        sw_ir_replace(&w->edits, at.at, at.end, sw_arena_strndup(&w->arena, w->t->s + name.at, sw_ir_len(name), w->d)));
  }
  return SW_OK;
}

sw_rc sw_pass_unflatten_call_graph(sw_opt_work *w) {
  static const char *const kKeys[] = {kOriginal};
  merger m = {.w = w};
  sw_opt_calls calls;
  SW_TRY(sw_opt_flag(w, "dedup-functions-fully", false, &m.fully));
  SW_TRY(sw_opt_calls_read(w, &calls));
  SW_TRY(sw_opt_dict(w, &m.by_key));
  SW_TRY(sw_opt_dict(w, &m.by_name));
  SW_TRY(sw_opt_text(w, &m.key));
  SW_ARENA_NEW(m.cut, &w->arena, w->t->ops.n, w->d);
  SW_TRY(merge_calls(&m, &calls));
  return sw_opt_drop_attributes(w, kKeys, 1);
}

/* --- pre-order-funcs ---------------------------------------------------------------------------------------------- */

sw_rc sw_pass_pre_order_funcs(sw_opt_work *w) {
  sw_opt_calls calls;
  uint32_t i = 0;
  SW_TRY(sw_opt_calls_read(w, &calls));
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] != op) continue;
    const uint32_t from = calls.order[calls.n - 1 - i++];
    const sw_ir_span at = w->t->ops.at[op].text, text = w->t->ops.at[from].text;
    if (from == op) continue;
    SW_TRY(
        sw_ir_replace(&w->edits, at.at, at.end, sw_arena_strndup(&w->arena, w->t->s + text.at, sw_ir_len(text), w->d)));
  }
  return SW_OK;
}

/* --- symbol-dce --------------------------------------------------------------------------------------------------- */

/* Functions that the text of a function names, wherever. */
static void reach(sw_opt_work *w, sw_ir_span text, bool *live, uint32_t *work, uint32_t *n) {
  for (uint32_t at = text.at; at < text.end; at++) {
    if (w->t->s[at] != '@') continue;
    uint32_t end = sw_ir_name(w->t->s, at + 1);
    if (w->t->s[at + 1] == '"') end = at + 2 + (uint32_t)strcspn(w->t->s + at + 2, "\"");
    const sw_ir_span name = sw_ir_unquoted(w->t, (sw_ir_span){at + 1, end});
    const uint32_t to = sw_ir_function_named(w->t, w->names, name);
    if (to == SW_IR_NONE || live[to]) continue;
    live[to] = true;
    work[(*n)++] = to;
  }
}

sw_rc sw_pass_symbol_dce(sw_opt_work *w) {
  bool *live;
  uint32_t *work, n = 0;
  SW_ARENA_NEW_EACH(&w->arena, w->t->ops.n, w->d, live, work);
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] != op || sw_opt_is_private(w->t, &w->t->ops.at[op])) continue;
    live[op] = true;
    work[n++] = op;
  }
  while (n) {
    n--;
    reach(w, w->t->ops.at[work[n]].text, live, work, &n);
  }
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] == op && !live[op]) SW_TRY(sw_opt_erase(w, op));
  }
  return SW_OK;
}
