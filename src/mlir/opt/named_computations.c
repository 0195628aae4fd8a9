/* Calls as sdy.named_computation, the body of the function in its region, and back as functions of their own. */
#include <string.h>

#include "mlir/opt/calls.h"
#include "mlir/opt/opt_copy.h"
#include "mlir/opt/opt_rewrite.h"

static bool is_named_computation(const sw_opt_work *w, uint32_t op) {
  return sw_ir_is(w->t, w->t->ops.at[op].name, "sdy.named_computation");
}

/* Shardings of a place as a list, [<...>, <...>]; where some are missing they are open. *any false: none is said. */
static sw_rc put_shardings(sw_opt_work *w, const sw_sharded_place *p, const char *before, const char *behind,
                           sw_text *out) {
  const char *list;
  SW_TRY(sw_opt_sharding_list(w, p, &list));
  if (*list) sw_text_printf(out, "%s%s%s", before, list, behind);
  return out->rc;
}

/* What stands between the first op of a region and its closing brace. */
static sw_ir_span body_of(const sw_ir_tree *t, uint32_t op) {
  const uint32_t region = sw_ir_region_at(t, &t->ops.at[op], 0), block = t->regions.at[region].first_block;
  return (sw_ir_span){t->ops.at[t->blocks.at[block].first_op].text.at, t->regions.at[region].text.end - 1};
}

/* The entries of an op's dictionary but for one, and `more` before them: " {...}", or nothing. */
static void put_attributes(const sw_ir_tree *t, const sw_ir_op *o, const char *but, const char *more, sw_text *out) {
  sw_ir_span key, value;
  uint32_t cursor = 0;
  const size_t before = out->n;
  if (*more) sw_text_printf(out, " {%s", more);
  while (sw_ir_len(o->attrs) && sw_ir_next_entry(t, o->attrs, &cursor, &key, &value)) {
    const uint32_t at = key.at - (t->s[key.at - 1] == '"');
    if (sw_ir_is(t, key, but)) continue;
    sw_text_printf(out, "%s%.*s", out->n > before ? ", " : " {", (int)(value.end - at), t->s + at);
  }
  if (out->n > before) sw_text_puts(out, "}");
}

/* --- outline-named-computations ----------------------------------------------------------------------------------- */

typedef struct exporter {
  sw_opt_work *w;
  const char **symbol;        /* by op: the function that it becomes */
  uint32_t *home;             /* by op: the computation around it; SW_IR_NONE: none */
  uint32_t *order, n_ordered; /* computations, inner ones first */
} exporter;

static sw_ir_span computation_name_of(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_span name = sw_ir_attr(t, o, "name", NULL);
  if (sw_ir_present(name)) return sw_ir_unquoted(t, name);
  sw_ir_span at = o->body; /* <"name"> */
  while (at.at < at.end && t->s[at.at] != '"') at.at++;
  at.end = at.at;
  if (t->s[at.at] == '"') at.end = at.at + 1 + (uint32_t)strcspn(t->s + at.at + 1, "\"");
  return (sw_ir_span){at.at + 1, at.end};
}

/* Names are given to inner computations first. */
static sw_rc order_computations(exporter *e) {
  sw_opt_work *w = e->w;
  const sw_ir_tree *t = w->t;
  uint32_t around = SW_IR_NONE;
  for (uint32_t i = 0; i <= t->ops.n; i++) {
    while (around != SW_IR_NONE && (i == t->ops.n || t->ops.at[around].text.end <= t->ops.at[i].text.at)) {
      const sw_ir_span name = computation_name_of(t, &t->ops.at[around]);
      SW_TRY(sw_opt_new_symbol(w, t->s + name.at, sw_ir_len(name), &e->symbol[around]));
      e->order[e->n_ordered++] = around;
      around = e->home[around];
    }
    if (i == t->ops.n) break;
    e->home[i] = around;
    if (is_named_computation(w, i)) around = i;
  }
  return SW_OK;
}

/* A function of its own sees no value of around. */
static sw_rc check_uses(exporter *e) {
  sw_opt_work *w = e->w;
  for (uint32_t i = 0; i < w->t->uses.n; i++) {
    const uint32_t value = w->values.of_use[i], op = w->values.op_of_use[i];
    if (value == SW_IR_NONE) continue;
    uint32_t maker = w->values.maker[value], home;
    if (maker != SW_IR_NONE) {
      home = e->home[maker];
    } else {
      maker = w->t->regions.at[w->t->blocks.at[w->values.block_of_value[value]].region].op;
      home = is_named_computation(w, maker) ? maker : e->home[maker];
    }
    if (home != e->home[op])
      return SW_FAIL_INPUT(w->d, sw_ir_place(w->t, w->t->uses.at[i].name.at),
                           "the computation reads %%%.*s from outside; expected its own arguments alone",
                           SW_IR_TEXT(w->t, w->t->uses.at[i].name));
  }
  return SW_OK;
}

/* %0:2 = call @f(%a) {sdy.sharding = ...} : (T) -> (T, T) */
static sw_rc write_exported_call(exporter *e, uint32_t op, sw_text *out) {
  sw_opt_work *w = e->w;
  const sw_ir_op *o = &w->t->ops.at[op];
  sw_text more = {0};
  sw_rc rc = put_shardings(w, sw_opt_place(w, op) + 1, "sdy.sharding = #sdy.sharding_per_value<", ">", &more);
  sw_text_append(out, w->t->s + o->text.at, o->name.at - o->generic - o->text.at);
  sw_text_printf(out, "func.call @%s(", e->symbol[op]);
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const uint32_t at = w->t->uses.at[o->first_use + i].name.at - 1;
    sw_text_puts(out, i ? ", " : "");
    sw_text_append(out, w->t->s + at, sw_opt_use_end(w->t, o->first_use + i) - at);
  }
  sw_text_puts(out, ")");
  put_attributes(w->t, o, "", sw_text_str(&more), out);
  sw_text_printf(out, " : %.*s", SW_IR_TEXT(w->t, o->types));
  sw_text_free(&more);
  return rc ? rc : out->rc;
}

static sw_rc replace_by_call(exporter *e, uint32_t op) {
  sw_opt_work *w = e->w;
  sw_text t = {0};
  sw_rc rc = write_exported_call(e, op, &t);
  const char *text;
  SW_TRY(sw_ir_keep_text(rc, &t, &w->arena, &text, w->d));
  SW_TRY(sw_ir_replace(&w->edits, w->t->ops.at[op].text.at, w->t->ops.at[op].text.end, text));
  const uint32_t last = sw_ir_last_op(w->t, sw_ir_block_at(w->t, &w->t->ops.at[op], 0));
  const sw_ir_span name = w->t->ops.at[last].name;
  return sw_ir_replace(&w->edits, name.at, name.end, "func.return");
}

/* func.func private @f(%p: T {...}) -> (T, T) attributes {...} { ... }; the edits are sorted. */
static sw_rc write_exported_function(exporter *e, uint32_t op, sw_text *out) {
  sw_opt_work *w = e->w;
  const sw_ir_tree *t = w->t;
  const sw_sharded_place in = *sw_opt_place(w, op), results = sw_opt_place(w, op)[1];
  const sw_ir_span name = computation_name_of(t, &t->ops.at[op]);
  sw_text_printf(out, "%sfunc.func private @%s(", out->n ? "\n" : "", e->symbol[op]);
  for (uint32_t i = in.first; i < in.first + in.n; i++) {
    const sw_ir_arg *a = &t->args.at[w->values.index_of[w->shardings.slots.at[i].value]];
    const char *sharding;
    SW_TRY(sw_opt_sharding_text(w, i, &sharding));
    sw_text_printf(out, "%s%%%.*s: %.*s", i > in.first ? ", " : "", SW_IR_TEXT(t, a->name), SW_IR_TEXT(t, a->type));
    if (*sharding) sw_text_printf(out, " {sdy.sharding = #sdy.sharding%s}", sharding);
  }
  sw_text_puts(out, ") -> (");
  for (uint32_t i = results.first; i < results.first + results.n; i++)
    sw_text_printf(out, "%s%.*s", i > results.first ? ", " : "", SW_IR_TEXT(t, w->shardings.slots.at[i].type));
  sw_text_printf(out, ") attributes {sdy.original_func_name = \"%.*s\"} {\n    ", SW_IR_TEXT(t, name));
  SW_TRY(sw_ir_edits_apply_sorted(&w->edits, body_of(t, op), out));
  sw_text_puts(out, "}");
  return out->rc;
}

sw_rc sw_pass_outline_named_computations(sw_opt_work *w) {
  exporter e = {.w = w};
  sw_text added = {0};
  SW_ARENA_NEW_EACH(&w->arena, w->t->ops.n, w->d, e.symbol, e.home, e.order);
  SW_TRY(order_computations(&e));
  SW_TRY(check_uses(&e));
  for (uint32_t i = 0; i < e.n_ordered; i++) SW_TRY(replace_by_call(&e, e.order[i]));
  if (!e.n_ordered) return SW_OK;
  sw_ir_edits_sort(&w->edits);
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; i < e.n_ordered && !rc; i++) rc = write_exported_function(&e, e.order[i], &added);
  const char *text;
  SW_TRY(sw_ir_keep_text(rc, &added, &w->arena, &text, w->d));
  return sw_opt_put_behind(w, sw_opt_last_of_module(w), text);
}

/* --- inline-func-calls -------------------------------------------------------------------------------------------- */

enum { DEEPEST = 256, MOST_BYTES = 1 << 29 }; /* of calls; of bodies */

typedef struct inliner {
  sw_opt_work *w;
  sw_opt_calls calls;
  uint32_t *end; /* by function: behind its last op */
  const char *
      *now; /* by value: its name in the copy that is being made, of the first of several results; NULL: as it is */
  size_t bytes;
} inliner;

static bool has_body(const inliner *n, uint32_t function) {
  return sw_ir_block_at(n->w->t, &n->w->t->ops.at[function], 0) != SW_IR_NONE;
}

/* A use of a value as it is called in the copy. */
static const char *use_text(inliner *n, uint32_t use) {
  sw_opt_work *w = n->w;
  const uint32_t value = w->values.of_use[use], maker = w->values.maker[value];
  if (maker == SW_IR_NONE) return n->now[value] ? n->now[value] : sw_opt_value_text(w, value);
  const uint32_t result = w->values.index_of[value], first = w->values.of_result[result];
  if (!n->now[first]) return sw_opt_value_text(w, value);
  if (w->t->results.at[result].count == 1) return n->now[first];
  return sw_arena_printf(&w->arena, w->d, "%s#%u", n->now[first], value - first);
}

static sw_rc name_values(inliner *n, uint32_t function) {
  sw_opt_work *w = n->w;
  for (uint32_t op = function; op < n->end[function]; op++) {
    const sw_ir_op *o = &w->t->ops.at[op];
    for (uint32_t i = o->first_result; i < o->first_result + o->n_results && op != function; i++) {
      if (!(n->now[w->values.of_result[i]] = sw_opt_new_name(w))) return SW_E_RESOURCE;
    }
    for (uint32_t r = o->first_region; r != SW_IR_NONE; r = w->t->regions.at[r].next) {
      for (uint32_t b = w->t->regions.at[r].first_block; b != SW_IR_NONE; b = w->t->blocks.at[b].next) {
        for (uint32_t k = 0; k < w->t->blocks.at[b].n_args; k++) {
          const uint32_t value = w->values.of_block[b] + k, arg = w->values.index_of[value];
          /* regions of a loop may share the names that stand before them */
          const uint32_t first = w->values.of_block[w->t->regions.at[o->first_region].first_block] + k;
          const bool shared = value != first && arg == w->values.index_of[first];
          n->now[value] = shared ? n->now[first] : sw_opt_new_name(w);
          if (!n->now[value]) return SW_E_RESOURCE;
        }
      }
    }
  }
  return SW_OK;
}

static sw_rc write_computation(inliner *n, uint32_t call, int depth, const char **out);

/* Names of results, uses and arguments of regions of one op, which stands in a copy. */
static sw_rc rename_op(inliner *n, sw_opt_copy *c, uint32_t op) {
  sw_opt_work *w = n->w;
  const sw_ir_op *o = &w->t->ops.at[op];
  for (uint32_t i = o->first_result; i < o->first_result + o->n_results; i++)
    SW_TRY(sw_opt_copy_result(c, i, n->now[w->values.of_result[i]]));
  for (uint32_t i = 0; i < o->n_uses; i++) SW_TRY(sw_opt_copy_use(c, o->first_use + i, use_text(n, o->first_use + i)));
  for (uint32_t r = o->first_region; r != SW_IR_NONE; r = w->t->regions.at[r].next) {
    for (uint32_t b = w->t->regions.at[r].first_block; b != SW_IR_NONE; b = w->t->blocks.at[b].next) {
      const sw_ir_block *block = &w->t->blocks.at[b];
      const bool again = r != o->first_region && block->n_args &&
                         block->first_arg == w->t->blocks.at[w->t->regions.at[o->first_region].first_block].first_arg;
      for (uint32_t k = 0; k < block->n_args && !again; k++) {
        const sw_ir_span name = w->t->args.at[block->first_arg + k].name;
        SW_TRY(sw_ir_replace(&c->edits, name.at - 1, name.end, n->now[w->values.of_block[b] + k]));
      }
    }
  }
  return SW_OK;
}

static sw_rc rename_all(inliner *n, sw_opt_copy *c, uint32_t function, int depth) {
  sw_opt_work *w = n->w;
  for (uint32_t op = function + 1; op < n->end[function]; op++) {
    const sw_ir_op *o = &w->t->ops.at[op];
    const char *text;
    if (n->calls.callee[op] != SW_IR_NONE && has_body(n, n->calls.callee[op])) {
      SW_TRY(write_computation(n, op, depth + 1, &text));
      SW_TRY(sw_ir_replace(&c->edits, o->text.at, o->text.end, text));
      continue;
    }
    SW_TRY(rename_op(n, c, op));
    if (sw_ir_is(w->t, o->name, "call")) SW_TRY(sw_ir_replace(&c->edits, o->name.at, o->name.end, "func.call"));
    if (sw_ir_is_among(w->t, o->name, "return func.return"))
      SW_TRY(sw_ir_replace(&c->edits, o->name.at, o->name.end, "sdy.return"));
  }
  return SW_OK;
}

static sw_rc copy_inlined_body(inliner *n, uint32_t function, int depth, const char **out) {
  sw_opt_copy c;
  SW_TRY(name_values(n, function));
  sw_opt_copy_begin(n->w, body_of(n->w->t, function), &c);
  return sw_opt_copy_end(&c, rename_all(n, &c, function, depth), out);
}

static sw_rc put_computation_head(inliner *n, uint32_t call, sw_text *out) {
  sw_opt_work *w = n->w;
  const sw_ir_op *o = &w->t->ops.at[call];
  const sw_ir_span name = sw_opt_original_name(w->t, &w->t->ops.at[n->calls.callee[call]]);
  for (uint32_t i = o->first_result; i < o->first_result + o->n_results; i++) {
    const char *now = n->now[w->values.of_result[i]];
    if (now)
      sw_text_printf(out, "%s%s", i > o->first_result ? ", " : "", now);
    else
      sw_text_printf(out, "%s%%%.*s", i > o->first_result ? ", " : "", SW_IR_TEXT(w->t, w->t->results.at[i].name));
    if (w->t->results.at[i].count != 1) sw_text_printf(out, ":%u", w->t->results.at[i].count);
  }
  sw_text_printf(out, "%ssdy.named_computation<\"%.*s\">(", o->n_results ? " = " : "", SW_IR_TEXT(w->t, name));
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const char *use = use_text(n, o->first_use + i);
    if (!use) return SW_E_RESOURCE;
    sw_text_printf(out, "%s%s", i ? ", " : "", use);
  }
  sw_text_puts(out, ")");
  SW_TRY(put_shardings(w, sw_opt_place(w, n->calls.callee[call]), " in_shardings=", "", out));
  return put_shardings(w, sw_opt_place(w, call), " out_shardings=", "", out);
}

/* %0 = sdy.named_computation<"f">(%a) in_shardings=[...] (%p: T) { ... } : (T) -> T */
static sw_rc put_computation(inliner *n, uint32_t call, int depth, sw_text *out) {
  sw_opt_work *w = n->w;
  const sw_ir_op *o = &w->t->ops.at[call];
  const uint32_t function = n->calls.callee[call], block = sw_ir_block_at(w->t, &w->t->ops.at[function], 0);
  const char *body;
  SW_TRY(put_computation_head(n, call, out));
  SW_TRY(copy_inlined_body(n, function, depth, &body));
  sw_text_puts(out, " (");
  for (uint32_t k = 0; k < w->t->blocks.at[block].n_args; k++)
    sw_text_printf(out, "%s%s: %.*s", k ? ", " : "", n->now[w->values.of_block[block] + k],
                   SW_IR_TEXT(w->t, w->t->args.at[w->t->blocks.at[block].first_arg + k].type));
  sw_text_printf(out, ") {\n    %s}", body);
  put_attributes(w->t, o, "sdy.sharding", "", out);
  sw_text_printf(out, " : %.*s", SW_IR_TEXT(w->t, o->types));
  return out->rc;
}

static sw_rc write_computation(inliner *n, uint32_t call, int depth, const char **out) {
  sw_opt_work *w = n->w;
  sw_text t = {0};
  if (depth > DEEPEST || n->bytes > MOST_BYTES)
    return SW_FAIL_INPUT(w->d, sw_ir_place(w->t, w->t->ops.at[call].text.at),
                         "calls nest deeper than %d or would need more than %d MiB in place", DEEPEST,
                         MOST_BYTES >> 20);
  sw_rc rc = put_computation(n, call, depth, &t);
  n->bytes += t.n;
  return sw_ir_keep_text(rc, &t, &w->arena, out, w->d);
}

static sw_rc prepare_inliner(inliner *n) {
  sw_opt_work *w = n->w;
  SW_TRY(sw_opt_calls_read(w, &n->calls));
  SW_ARENA_NEW(n->end, &w->arena, w->t->ops.n, w->d);
  SW_ARENA_NEW(n->now, &w->arena, w->values.n, w->d);
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] != SW_IR_NONE) n->end[w->values.function_of[op]] = op + 1;
  }
  return SW_OK;
}

/* Functions that are called are only read where they are called. */
sw_rc sw_pass_inline_func_calls(sw_opt_work *w) {
  inliner n = {.w = w};
  bool *called;
  SW_TRY(prepare_inliner(&n));
  SW_ARENA_NEW(called, &w->arena, w->t->ops.n, w->d);
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    const uint32_t callee = n.calls.callee[op];
    if (callee != SW_IR_NONE && has_body(&n, callee)) called[callee] = true;
  }
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    const uint32_t function = w->values.function_of[op], callee = n.calls.callee[op];
    const char *text;
    if (function == op && called[op]) SW_TRY(sw_opt_erase(w, op));
    if (callee == SW_IR_NONE || function == SW_IR_NONE || called[function] || !called[callee]) continue;
    SW_TRY(write_computation(&n, op, 0, &text));
    SW_TRY(sw_ir_replace(&w->edits, w->t->ops.at[op].text.at, w->t->ops.at[op].text.end, text));
  }
  return SW_OK;
}
