/* Names to definitions (resolve.h): one walk over the ops in the order of the text, with the names that are visible in
 * a dictionary and a log of what each region added, which is taken back where the region ends. */
#include "mlir/text/resolve.h"

#include <string.h>

#include "mlir/text/attr.h"

/* A slot and how many results the name has, in one number; -1: the name is not visible. */
static int64_t pack_slot(uint32_t slot, uint32_t count) { return (int64_t)slot << 31 | (count & INT32_MAX); }
static uint32_t unpack_slot(int64_t v) { return (uint32_t)(v >> 31); }
static uint32_t unpack_count(int64_t v) { return (uint32_t)(v & INT32_MAX); }

typedef struct undo {
  sw_ir_span name;
  int64_t before;
} undo;

/* An op whose regions are being walked. */
typedef struct scope {
  uint32_t op, block;
  size_t mark;          /* of the log */
  bool isolated;        /* a function: has its own names */
  uint32_t outer_slots; /* of the function around it */
} scope;

typedef struct resolver {
  const sw_ir_tree *t;
  sw_ir_names *out;
  sw_dict visible;
  SW_ARRAY(undo) log;
  SW_ARRAY(scope) scopes;
  uint32_t n_slots;  /* of the function at hand */
  uint32_t function; /* which one: part of the keys */
  sw_text key;
  sw_diag *d;
} resolver;

bool sw_ir_is_function(const sw_ir_tree *t, const sw_ir_op *op) { return sw_ir_is(t, op->name, "func.func"); }

sw_ir_span sw_ir_function_name(const sw_ir_tree *t, const sw_ir_op *op) {
  return op->generic ? sw_ir_unquoted(t, sw_ir_entry(t, op->props, "sym_name")) : op->symbol;
}

uint32_t sw_ir_result_count(const sw_ir_tree *t, const sw_ir_op *op) {
  uint32_t n = 0;
  for (uint32_t i = 0; i < op->n_results; i++) n += t->results.at[op->first_result + i].count;
  return n;
}

/* Names are told apart by function, so that leaving one needs no forgetting. */
static void write_name_key(resolver *r, sw_ir_span name) {
  r->key.n = 0;
  sw_text_append(&r->key, (const char *)&r->function, sizeof r->function);
  sw_text_append(&r->key, r->t->s + name.at, sw_ir_len(name));
}

static sw_rc define_value_name(resolver *r, sw_ir_span name, uint32_t slot, uint32_t count) {
  int64_t *at;
  write_name_key(r, name);
  SW_TRY(r->key.rc);
  SW_TRY(sw_dict_put(&r->visible, r->key.at, r->key.n, -1, &at, NULL, r->d));
  if (*at >= 0) {
    return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, name.at), "value '%%%.*s' is defined twice; expected a new name",
                         SW_IR_TEXT(r->t, name));
  }
  undo u = {name, *at};
  *at = pack_slot(slot, count);
  return sw_array_push(&r->log, u, r->d);
}

static sw_rc new_slots(resolver *r, sw_ir_span at, uint32_t count, uint32_t *first) {
  *first = r->n_slots;
  if (count > (1u << 24) || r->n_slots > INT32_MAX - count) {
    return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, at.at), "there are too many values");
  }
  r->n_slots += count;
  return SW_OK;
}

static sw_rc resolve_use(resolver *r, uint32_t i) {
  const sw_ir_use *u = &r->t->uses.at[i];
  write_name_key(r, u->name);
  SW_TRY(r->key.rc);
  const int64_t *at = sw_dict_get(&r->visible, r->key.at, r->key.n);
  if (!at || *at < 0) {
    return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, u->name.at - 1),
                         "value '%%%.*s' is not defined here; expected one from above", SW_IR_TEXT(r->t, u->name));
  }
  if (u->index >= unpack_count(*at)) {
    return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, u->name.at - 1),
                         "value '%%%.*s' has %u results; expected #%u to be below", SW_IR_TEXT(r->t, u->name),
                         unpack_count(*at), u->index);
  }
  r->out->use[i] = unpack_slot(*at) + u->index;
  return SW_OK;
}

static sw_rc define_results(resolver *r, const sw_ir_op *op) {
  for (uint32_t i = 0; i < op->n_results; i++) {
    const sw_ir_result *res = &r->t->results.at[op->first_result + i];
    uint32_t *slot = &r->out->result[op->first_result + i];
    SW_TRY(new_slots(r, res->name, res->count, slot));
    SW_TRY(define_value_name(r, res->name, *slot, res->count));
  }
  return SW_OK;
}

static void undo_definitions(resolver *r, size_t mark) {
  while (r->log.n > mark) {
    const undo *u = &r->log.at[--r->log.n];
    write_name_key(r, u->name);
    int64_t *at = r->key.rc ? NULL : sw_dict_get(&r->visible, r->key.at, r->key.n);
    if (at) *at = u->before;
  }
}

static sw_rc close_scope(resolver *r) {
  scope s = r->scopes.at[--r->scopes.n];
  undo_definitions(r, s.mark);
  if (s.isolated) {
    r->out->n_slots[s.op] = r->n_slots;
    r->n_slots = s.outer_slots;
    r->function = 0;
    for (size_t i = r->scopes.n; i-- > 0;) {
      if (r->scopes.at[i].isolated) r->function = r->scopes.at[i].op + 1;
    }
  }
  return define_results(r, &r->t->ops.at[s.op]);
}

static sw_rc enter_block(resolver *r, scope *s, uint32_t block) {
  const sw_ir_block *b = &r->t->blocks.at[block];
  if (s->block != SW_IR_NONE && r->t->blocks.at[s->block].region != b->region) undo_definitions(r, s->mark);
  s->block = block;
  SW_TRY(new_slots(r, r->t->ops.at[s->op].text, b->n_args, &r->out->block[block]));
  for (uint32_t i = 0; i < b->n_args; i++) {
    const sw_ir_arg *a = &r->t->args.at[b->first_arg + i];
    if (sw_ir_len(a->name)) SW_TRY(define_value_name(r, a->name, r->out->block[block] + i, 1));
  }
  return SW_OK;
}

static sw_rc open_scope(resolver *r, uint32_t i) {
  scope s = {.op = i, .block = SW_IR_NONE, .mark = r->log.n, .isolated = sw_ir_is_function(r->t, &r->t->ops.at[i])};
  if (s.isolated) {
    s.outer_slots = r->n_slots;
    r->n_slots = 0;
    r->function = i + 1;
  }
  return sw_array_push(&r->scopes, s, r->d);
}

/* Do both stand in one module, and not in texts with `// -----` between them? */
static bool in_one_module(const sw_ir_tree *t, const sw_ir_op *a, const sw_ir_op *b) {
  if (a->block != b->block) return false;
  const char *split = strstr(t->s + a->text.end, "// -----");
  return !split || split > t->s + b->text.at;
}

static sw_rc note_function(resolver *r, uint32_t i) {
  const sw_ir_op *op = &r->t->ops.at[i];
  sw_ir_span name = sw_ir_function_name(r->t, op);
  int64_t *first;
  bool fresh;
  SW_TRY(sw_dict_put(&r->out->functions, r->t->s + name.at, sw_ir_len(name), i, &first, &fresh, r->d));
  if (fresh || !in_one_module(r->t, &r->t->ops.at[*first], op)) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_ir_place(r->t, op->text.at), "function '@%.*s' is defined twice; expected a new name",
                       SW_IR_TEXT(r->t, name));
}

static sw_rc resolve_op(resolver *r, uint32_t i) {
  const sw_ir_op *op = &r->t->ops.at[i];
  while (r->scopes.n && r->t->ops.at[r->scopes.at[r->scopes.n - 1].op].text.end <= op->text.at) SW_TRY(close_scope(r));
  scope *s = r->scopes.n ? &r->scopes.at[r->scopes.n - 1] : NULL;
  if (s && s->block != op->block) SW_TRY(enter_block(r, s, op->block));
  for (uint32_t k = 0; k < op->n_uses; k++) SW_TRY(resolve_use(r, op->first_use + k));
  if (sw_ir_is_function(r->t, op)) SW_TRY(note_function(r, i));
  return op->first_region == SW_IR_NONE ? define_results(r, op) : open_scope(r, i);
}

static sw_rc resolve_all(resolver *r) {
  for (uint32_t i = 0; i < r->t->ops.n; i++) SW_TRY(resolve_op(r, i));
  while (r->scopes.n) SW_TRY(close_scope(r));
  return SW_OK;
}

sw_rc sw_ir_resolve(const sw_ir_tree *t, sw_ir_names *out, sw_diag *d) {
  *out = (sw_ir_names){0};
  SW_MEM_NEW(out->use, t->uses.n, d);
  SW_MEM_NEW(out->result, t->results.n, d);
  SW_MEM_NEW(out->block, t->blocks.n, d);
  SW_MEM_NEW(out->n_slots, t->ops.n, d);
  resolver r = {.t = t, .out = out, .d = d};
  sw_rc rc = resolve_all(&r);
  sw_dict_deinit(&r.visible);
  sw_array_free(&r.log);
  sw_array_free(&r.scopes);
  sw_text_free(&r.key);
  return rc;
}

void sw_ir_names_free(sw_ir_names *n) {
  sw_mem_free(n->use);
  sw_mem_free(n->result);
  sw_mem_free(n->block);
  sw_mem_free(n->n_slots);
  sw_dict_deinit(&n->functions);
}

uint32_t sw_ir_function_named(const sw_ir_tree *t, const sw_ir_names *n, sw_ir_span symbol) {
  const int64_t *at = sw_dict_get(&n->functions, t->s + symbol.at, sw_ir_len(symbol));
  return at ? (uint32_t)*at : SW_IR_NONE;
}
