/* The walk of the importer: blocks on a stack, one op after the other, calls written out in place.
 *
 *   main    %4 = call @relu(%3)       opens a walk through @relu with its own slots, argument 0 = value of %3
 *   relu    %1 = maximum %arg0, %0    named "4/1"
 *   relu    return %1                 %4 of main is that value
 */
#include "graph/source.h"
#include "mlir/import/import_passes.h"
#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"
#include "mlir/import/import_local.h"
#include "mlir/roles/roles.h"
#include "mlir/import/tuple.h"

#include <stdarg.h>
#include <string.h>

enum { MOST_CALL_DEPTH = 1000, MOST_CALLS = 200000 };

sw_span sw_im_place(const sw_importer *m, uint32_t op) { return sw_ir_place(m->t, sw_im_op(m, op)->text.at); }

static void warn(const sw_importer *m, uint32_t at, const char *fmt, va_list args) {
  char text[SW_DIAG_TEXT_BYTES];
  sw_diag w = {0};
  if (!m->o->report) return;
  vsnprintf(text, sizeof text, fmt, args);
  (void)SW_FAIL(&w, SW_OK, sw_ir_place(m->t, at), "%s", text);
  m->o->report(m->o->user, &w);
}

void sw_im_warn(sw_importer *m, uint32_t at, const char *fmt, ...) {
  va_list args;
  va_start(args, fmt);
  warn(m, at, fmt, args);
  va_end(args);
}

sw_rc sw_im_warn_once(sw_importer *m, uint32_t op, const char *key, const char *fmt, ...) {
  va_list args;
  bool first;
  SW_TRY(sw_dict_put(&m->passes->shared->warned, key, strlen(key), 0, NULL, &first, m->d));
  va_start(args, fmt);
  if (first) warn(m, sw_im_op(m, op)->text.at, fmt, args);
  va_end(args);
  return SW_OK;
}

/* --- where the walk is ------------------------------------------------------------------------------------------- */

sw_ir_instance *sw_im_here(const sw_importer *m) { return m->passes->walks.n ? sw_im_top(m)->instance : NULL; }
size_t sw_im_depth(const sw_importer *m) { return m->passes->walks.n; }

bool sw_im_in_control_flow(const sw_importer *m) {
  for (size_t i = 0; i < m->passes->walks.n; i++) {
    sw_ir_frame_kind kind = m->passes->walks.at[i].kind;
    if (kind >= SW_IR_IN_TEST && kind <= SW_IR_IN_OTHER) return true;
  }
  return false;
}

size_t sw_im_told(const sw_importer *m) { return m->passes->trace.made.n; }

void sw_im_disown_from(sw_importer *m, size_t told) {
  sw_ir_trace *t = &m->passes->trace;
  for (size_t i = told; i < t->made.n; i++) t->made.at[i].own = false;
}

sw_rc sw_im_note_collective(sw_importer *m, sw_id op, uint32_t text) {
  return sw_array_push(&m->passes->collectives, ((sw_im_collective_at){op, text}), m->d);
}

bool sw_im_collective_of(const sw_importer *m, sw_id op, uint32_t *text) {
  for (size_t lo = 0, hi = m->passes->collectives.n; lo < hi;) {
    size_t mid = (lo + hi) / 2;
    const sw_im_collective_at *c = &m->passes->collectives.at[mid];
    *text = c->text;
    if (c->op == op) return true;
    lo = c->op < op ? mid + 1 : lo;
    hi = c->op < op ? hi : mid;
  }
  return false;
}

/* --- values ------------------------------------------------------------------------------------------------------ */

sw_id sw_im_operand(const sw_importer *m, uint32_t op, uint32_t i) {
  return sw_im_here(m)->slots[m->names->use[sw_im_op(m, op)->first_use + i]];
}

sw_rc sw_im_operand_count(const sw_importer *m, uint32_t op, uint32_t least, uint32_t most) {
  const sw_ir_op *o = sw_im_op(m, op);
  if (o->n_uses >= least && o->n_uses <= most) return SW_OK;
  return SW_IM_FAIL(m, op, "'%.*s' has %u operands; expected %s%u", SW_IR_TEXT(m->t, o->name), o->n_uses,
                    least == most ? "" : "at least ", least);
}

/* Every operand has a value by now: it is not one of an op that gave none. */
static sw_rc check_operands_known(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  unsigned flags = row ? row->flags : SW_IR_TUPLES; /* opaque */
  if (flags & SW_IR_UNPLANNED) return SW_OK;
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const sw_ir_use *u = &m->t->uses.at[o->first_use + i];
    sw_id v = sw_im_operand(m, op, i);
    if (v >= 0 || (sw_im_is_tuple(v) && flags & SW_IR_TUPLES)) continue;
    return SW_IM_FAIL_AT(m, u->name.at - 1, "value '%%%.*s' %s; expected the result of an op with one",
                         SW_IR_TEXT(m->t, u->name),
                         sw_im_is_tuple(v) ? "is a tuple and no tensor" : "has no tensor that could be planned");
  }
  return SW_OK;
}

sw_id *sw_im_result(const sw_importer *m, uint32_t op, uint32_t i) {
  uint32_t number;
  const sw_ir_result *r = sw_ir_result_at(m->t, sw_im_op(m, op), i, &number);
  return r ? &sw_im_here(m)->slots[m->names->result[r - m->t->results.at] + number] : NULL;
}

sw_rc sw_im_bind(sw_importer *m, uint32_t op, uint32_t i, sw_id value, bool own) {
  if (m->passes->split && m->passes->split->op == op) {
    m->passes->split->given[i] = value;
    return SW_OK;
  }
  sw_id *slot = sw_im_result(m, op, i);
  if (!slot) return SW_OK; /* a result without a name is not used */
  *slot = value;
  if (m->vectorized || value < 0) return SW_OK; /* not what the op of the text gives, or a tuple */
  return sw_array_push(&m->passes->trace.made, ((sw_ir_made){op, i, sw_im_here(m)->call, value, own}), m->d);
}

/* --- instances --------------------------------------------------------------------------------------------------- */

static sw_rc new_instance(sw_importer *m, uint32_t function, const char *prefix, sw_ir_instance **out) {
  uint32_t n = m->names->n_slots[function];
  sw_ir_instance *in;
  SW_ARENA_NEW(in, &m->keep, 1, m->d);
  SW_MEM_NEW(in->slots, n, m->d);
  for (uint32_t i = 0; i < n; i++) in->slots[i] = -1;
  in->function = function;
  in->prefix = prefix;
  *out = in;
  return SW_OK;
}

/* The prefix of names in a callee: the call's first result, or its number. */
static sw_rc prefix_of(sw_importer *m, uint32_t op, const char **out) {
  const sw_ir_op *o = sw_im_op(m, op);
  const char *outer = sw_im_here(m)->prefix;
  sw_ir_span name = o->n_results ? m->t->results.at[o->first_result].name : (sw_ir_span){0, 0};
  *out = sw_ir_len(name) ? sw_arena_printf(&m->keep, m->d, "%s%.*s/", outer, SW_IR_TEXT(m->t, name))
                         : sw_arena_printf(&m->keep, m->d, "%sline%d/", outer, sw_im_place(m, op).line);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc check_recursion(sw_importer *m, uint32_t op, uint32_t callee) {
  if (m->passes->walks.n > MOST_CALL_DEPTH) return SW_IM_FAIL(m, op, "calls nest more than %d deep", MOST_CALL_DEPTH);
  if (++m->passes->n_calls > MOST_CALLS)
    return SW_IM_FAIL(m, op, "more than %d calls, each written out where it stands; expected fewer", MOST_CALLS);
  for (size_t i = 0; i < m->passes->walks.n; i++) {
    if (m->passes->walks.at[i].kind <= SW_IR_IN_CALL && m->passes->walks.at[i].instance->function == callee) {
      return SW_IM_FAIL(m, op, "a function calls itself; expected calls without recursion");
    }
  }
  return SW_OK;
}

sw_rc sw_im_inline(sw_importer *m, uint32_t op, sw_ir_span callee) {
  uint32_t f = sw_ir_function_named(m->t, m->names, callee);
  if (f == SW_IR_NONE) {
    return SW_IM_FAIL(m, op, "there is no function '@%.*s'", SW_IR_TEXT(m->t, callee));
  }
  SW_TRY(check_recursion(m, op, f));
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, f), 0);
  if (block == SW_IR_NONE) {
    return SW_IM_FAIL(m, op, "function '@%.*s' has no body", SW_IR_TEXT(m->t, callee));
  }
  const sw_ir_block *b = &m->t->blocks.at[block];
  SW_TRY(sw_im_operand_count(m, op, b->n_args, b->n_args));
  const char *prefix;
  sw_ir_instance *in;
  SW_TRY(prefix_of(m, op, &prefix));
  SW_TRY(new_instance(m, f, prefix, &in));
  sw_ir_walk w = {.kind = SW_IR_IN_CALL, .op = op, .cursor = b->first_op, .region = b->region, .instance = in};
  sw_ir_call call = {op, f, sw_im_here(m)->call, (uint32_t)m->passes->trace.passed.n, m->g->n_ops, m->g->n_ops};
  sw_rc rc = sw_array_push(&m->passes->trace.calls, call, m->d);
  for (uint32_t i = 0; i < b->n_args && !rc; i++) {
    in->slots[m->names->block[block] + i] = sw_im_operand(m, op, i);
    rc = sw_array_push(&m->passes->trace.passed, sw_im_operand(m, op, i), m->d);
  }
  in->call = (uint32_t)m->passes->trace.calls.n;
  if (!rc) rc = sw_array_push(&m->passes->walks, w, m->d);
  if (rc) sw_mem_free(in->slots);
  return rc;
}

/* Arguments of the block have values; in the function that is walked. */
static sw_rc enter_block_of_walk(sw_importer *m, sw_ir_walk w, uint32_t block) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  w.cursor = b->first_op;
  w.region = b->region;
  w.instance = sw_im_here(m);
  return sw_array_push(&m->passes->walks, w, m->d);
}

sw_rc sw_im_enter_block(sw_importer *m, uint32_t op, uint32_t block, sw_im_leave leave, void *state) {
  return enter_block_of_walk(m, (sw_ir_walk){.kind = SW_IR_IN_OTHER, .op = op, .leave = leave, .state = state}, block);
}

static void bind_block_arguments(sw_importer *m, uint32_t block, const sw_id *args) {
  sw_id *slots = sw_im_here(m)->slots + m->names->block[block];
  for (uint32_t i = 0; i < m->t->blocks.at[block].n_args; i++) slots[i] = args[i];
}

sw_rc sw_im_run_block(sw_importer *m, uint32_t op, uint32_t block, const sw_id *args,
                      sw_rc (*step)(sw_importer *m, uint32_t op), sw_id *out, uint32_t *n) {
  const sw_im_passes *p = m->passes;
  const size_t depth = p->walks.n;
  bind_block_arguments(m, block, args);
  SW_TRY(enter_block_of_walk(m, (sw_ir_walk){.kind = SW_IR_IN_BODY, .op = op}, block));
  while (p->walks.n > depth) {
    sw_ir_walk *top = sw_im_top(m);
    uint32_t next = top->cursor;
    top->cursor = sw_im_op(m, next)->next;
    SW_TRY(step(m, next));
  }
  *n = p->n_returned;
  memcpy(out, p->returned, p->n_returned * sizeof *out);
  return SW_OK;
}

sw_rc sw_im_enter_part(sw_importer *m, uint32_t op, const sw_id *args, sw_im_leave leave) {
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, op), 0);
  if (block == SW_IR_NONE) return SW_IM_FAIL(m, op, "the op has no region");
  const uint32_t n = m->t->blocks.at[block].n_args;
  SW_TRY(sw_im_operand_count(m, op, n, n));
  bind_block_arguments(m, block, args);
  return enter_block_of_walk(m, (sw_ir_walk){.kind = SW_IR_IN_PART, .op = op, .leave = leave}, block);
}

sw_rc sw_im_named_computation(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_id *args;
  SW_TRY(sw_im_all_operands(m, op, &args));
  return sw_im_enter_part(m, op, args, NULL);
}

/* --- return ------------------------------------------------------------------------------------------------------ */

static sw_rc leave_call(sw_importer *m, uint32_t ret, const sw_id *values, uint32_t n) {
  sw_ir_walk w = m->passes->walks.at[--m->passes->walks.n];
  if (w.kind == SW_IR_IN_CALL) {
    m->passes->trace.calls.at[w.instance->call - 1].end_op = m->g->n_ops;
    sw_mem_free(w.instance->slots);
    w.instance->slots = NULL;
  }
  uint32_t want = sw_ir_result_count(m->t, sw_im_op(m, w.op));
  if (n < want) return SW_IM_FAIL(m, ret, "%u values are returned; expected %u", n, want);
  if (w.leave) return w.leave(m, w.op, w.state, ret, values, n);
  if (w.kind == SW_IR_IN_CALL && sw_im_says_shardings(m, w.op, values, want))
    return sw_im_results_are(m, w.op, values, want);
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_bind(m, w.op, i, values[i], false));
  return SW_OK;
}

static sw_rc leave_body(sw_importer *m, const sw_id *values, uint32_t n) {
  m->passes->walks.n--;
  m->passes->n_returned = n;
  for (uint32_t i = 0; i < n; i++) m->passes->returned[i] = values[i];
  return SW_OK;
}

static sw_rc output_name(sw_importer *m, uint32_t i, const char **out) {
  sw_ir_span attrs = m->passes->declared_attrs[i];
  sw_ir_span own = sw_ir_unquoted(m->t, sw_ir_entry(m->t, attrs, "shardwright.name"));
  if (sw_ir_len(own)) { /* a value may have it as well */
    *out = sw_im_string(m, own);
    return *out ? SW_OK : SW_E_RESOURCE;
  }
  sw_ir_span name = sw_ir_unquoted(m->t, sw_ir_entry(m->t, attrs, "jax.result_info"));
  const char *base = sw_ir_len(name) ? sw_im_string(m, name) : sw_arena_printf(&m->scratch, m->d, "result%u", i);
  return base ? sw_im_fresh_name(m, base, out) : SW_E_RESOURCE;
}

/* What is returned is what the function declares. */
static sw_rc check_output(sw_importer *m, uint32_t ret, uint32_t i, sw_id value) {
  if (i >= m->passes->n_declared) {
    return SW_IM_FAIL(m, ret, "more values are returned than the %u that the function declares", m->passes->n_declared);
  }
  sw_ir_span said = m->passes->declared[i];
  sw_type type;
  SW_TRY(sw_ir_read_type(m->t, said, &m->scratch, &type, m->d));
  if (sw_im_type_fits(&type, &m->g->values[value].type)) return SW_OK;
  return SW_IM_FAIL(m, ret, "returned value %u is not of the type %.*s that the function declares", i,
                    SW_IR_TEXT(m->t, said));
}

static sw_rc add_returned_outputs(sw_importer *m, uint32_t ret, const sw_id *returned, uint32_t n_returned) {
  sw_im_leaves leaves;
  SW_TRY(sw_im_leaves_of(m, returned, n_returned, &leaves));
  const sw_id *values = leaves.at;
  uint32_t n = leaves.n;
  SW_TRY(sw_im_see_returned(m, values, n));
  for (uint32_t i = 0; i < n; i++) {
    const char *name;
    sw_id alias = -1;
    SW_TRY(check_output(m, ret, i, values[i]));
    SW_TRY(output_name(m, i, &name));
    for (uint32_t a = 0; m->passes->roles && a < m->passes->roles->n; a++) {
      if (m->passes->roles->at[a].output == (int64_t)i) alias = m->passes->roles->at[a].value;
    }
    SW_TRY(sw_graph_add_output(m->g, name, values[i], alias, sw_im_place(m, ret), m->d));
    if (alias >= 0) continue; /* as it came */
    SW_TRY(sw_im_annotate_output(m, values[i], (int32_t)i));
    SW_TRY(sw_im_see_output(m, ret, values[i], (int32_t)i, m->passes->declared[i]));
  }
  if (n < m->passes->n_declared) {
    return SW_IM_FAIL(m, ret, "%u values are returned; the function declares %u", n, m->passes->n_declared);
  }
  sw_ir_walk w = m->passes->walks.at[--m->passes->walks.n];
  sw_mem_free(w.instance->slots);
  w.instance->slots = NULL;
  return SW_OK;
}

static sw_rc leave_device(sw_importer *m, uint32_t ret, const sw_id *values, uint32_t n) {
  for (uint32_t i = 0; i < n; i++) {
    const char *name = sw_arena_printf(&m->scratch, m->d, "result%u", i);
    if (!name) return SW_E_RESOURCE;
    SW_TRY(sw_graph_add_output(m->g, name, values[i], -1, sw_im_place(m, ret), m->d));
  }
  sw_ir_walk w = m->passes->walks.at[--m->passes->walks.n];
  sw_mem_free(w.instance->slots);
  w.instance->slots = NULL;
  return SW_OK;
}

sw_rc sw_im_return(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const uint32_t n = sw_im_op(m, op)->n_uses;
  const sw_id *values;
  SW_TRY(sw_im_all_operands(m, op, &values));
  bool in_main = sw_im_top(m)->kind == SW_IR_IN_MAIN;
  if (in_main && sw_im_top(m)->op != m->main) return leave_device(m, op, values, n);
  if (in_main) return add_returned_outputs(m, op, values, n);
  if (sw_im_top(m)->kind == SW_IR_IN_CALL || sw_im_top(m)->kind == SW_IR_IN_PART) return leave_call(m, op, values, n);
  if (sw_im_top(m)->kind == SW_IR_IN_BODY) return leave_body(m, values, n);
  return sw_im_leave_region(m, op, values, n);
}

/* --- the walk ---------------------------------------------------------------------------------------------------- */

sw_rc sw_im_import_by_row(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  return row ? row->import(m, row, op) : sw_im_opaque(m, op, sw_im_string(m, sw_im_op(m, op)->name));
}

/* Where the op that cannot be read comes from in the user's program. */
static void note_location(sw_importer *m, uint32_t op) {
  const sw_diag error = *m->d;
  sw_source from;
  if (sw_im_location(m, sw_im_op(m, op)->loc, &from)) from = (sw_source){0};
  *m->d = error;
  sw_source_note(&from, m->d);
}

static sw_rc import_op(sw_importer *m, uint32_t op) {
  sw_ir_span name = sw_im_op(m, op)->name;
  const sw_ir_row *row = sw_ir_row_of(m->t, name);
  sw_arena_reset(&m->scratch);
  bool done;
  SW_TRY(sw_im_take_unread(m, op, &done));
  if (done) return SW_OK;
  SW_TRY(check_operands_known(m, row, op));
  SW_TRY(sw_im_take(m, row, op, &done));
  if (done) return SW_OK;
  sw_id first = m->g->n_ops;
  size_t depth =
      m->passes->walks.n; /* another one afterwards: of a call nothing is made yet, and names are the callee's */
  sw_rc rc = sw_im_import_by_row(m, row, op);
  if (rc == SW_E_INPUT && m->d) note_location(m, op);
  if (!rc && m->passes->walks.n == depth) rc = sw_im_imported(m, op, first);
  if (rc == SW_E_INPUT && m->d && m->d->line == 0) { /* of a collective, which is checked without its text */
    const sw_span at = sw_im_place(m, op);
    snprintf(m->d->file, sizeof m->d->file, "%s", at.file ? at.file : "");
    m->d->line = at.line;
    m->d->col = at.col;
  }
  return rc;
}

/* Until `depth` blocks are left open. */
static sw_rc walk_blocks(sw_importer *m, size_t depth) {
  while (m->passes->walks.n > depth) {
    sw_ir_walk *w = sw_im_top(m);
    uint32_t op = w->cursor;
    if (op == SW_IR_NONE) {
      uint32_t at = m->t->regions.at[w->region].text.end;
      return SW_IM_FAIL_AT(m, at - 1, "a region ends without a return");
    }
    w->cursor = sw_im_op(m, op)->next;
    SW_TRY(import_op(m, op));
  }
  return SW_OK;
}

const char *sw_im_bound_hint(const sw_importer *m) {
  bool bounded = strstr(m->t->s, "#stablehlo.bounds<") || strstr(m->t->s, ".type_extensions<");
  return bounded ? "; write a bound in place of its '?' to plan the program of padded tensors" : "";
}

/* Planning needs all sizes. */
static sw_rc check_sizes(sw_importer *m) {
  for (sw_id i = 0; i < m->g->n_values; i++) {
    const sw_value *v = &m->g->values[i];
    for (int k = 0; k < v->type.rank; k++) {
      if (v->type.dims[k] >= 0) continue;
      return SW_FAIL_INPUT(m->d, v->span, "the size of dim %d of '%s' is not known (?); expected known sizes%s", k,
                           v->name, sw_im_bound_hint(m));
    }
  }
  return SW_OK;
}

/* --- bodies as graphs of their own -------------------------------------------------------------------------------- */

static sw_rc add_local_arg(sw_importer *r, sw_ir_instance *in, uint32_t block, uint32_t i) {
  const sw_ir_block *b = &r->t->blocks.at[block];
  const sw_ir_arg *a = &r->t->args.at[b->first_arg + i];
  const char *name = sw_arena_printf(&r->scratch, r->d, "%s%.*s", in->prefix, SW_IR_TEXT(r->t, a->name));
  sw_type type;
  sw_id *slot = &in->slots[r->names->block[block] + i];
  if (!name) return SW_E_RESOURCE;
  SW_TRY(sw_ir_read_type(r->t, a->type, &r->scratch, &type, r->d));
  SW_TRY(sw_im_fresh_name(r, name, &name));
  SW_TRY(sw_graph_add_arg(r->g, name, type.dtype, type.rank, type.dims, SW_VALUE_INPUT, sw_ir_place(r->t, a->name.at),
                          slot, r->d));
  return sw_im_see_type(r, *slot, a->type);
}

/* A value that one device has: a name of the text, or one that stands for it. */
static sw_rc add_part_arg(sw_importer *r, const char *name, const sw_type *t, uint32_t op, sw_id *slot) {
  SW_TRY(sw_im_fresh_name(r, name, &name));
  return sw_graph_add_arg(r->g, name, t->dtype, t->rank, t->dims, SW_VALUE_INPUT, sw_im_place(r, op), slot, r->d);
}

/* Values around the ops that are read, as arguments: what the outer importer has in these slots. */
static sw_rc add_captured_args(sw_importer *r, const sw_importer *outer, const sw_ir_instance *in,
                               const uint32_t *slots, uint32_t n, uint32_t op) {
  for (uint32_t i = 0; i < n; i++) {
    const sw_value *v = &outer->g->values[sw_im_here(outer)->slots[slots[i]]];
    SW_TRY(add_part_arg(r, v->name, &v->type, op, &in->slots[slots[i]]));
  }
  return SW_OK;
}

static sw_rc read_block(sw_importer *r, uint32_t op, uint32_t block, const sw_importer *outer, const char *prefix,
                        const uint32_t *slots, uint32_t n) {
  const sw_ir_block *b = &r->t->blocks.at[block];
  sw_ir_instance *in;
  SW_TRY(new_instance(r, sw_im_here(outer)->function, prefix, &in));
  sw_ir_walk w = {.kind = SW_IR_IN_MAIN, .op = op, .cursor = b->first_op, .region = b->region, .instance = in};
  sw_rc rc = sw_array_push(&r->passes->walks, w, r->d);
  if (rc) sw_mem_free(in->slots);
  for (uint32_t i = 0; i < b->n_args && !rc; i++) rc = add_local_arg(r, in, block, i);
  if (!rc) rc = add_captured_args(r, outer, in, slots, n, op);
  if (!rc) rc = walk_blocks(r, 0);
  if (!rc) rc = check_sizes(r);
  return rc ? rc : sw_graph_seal(r->g, r->d);
}

static sw_rc part_args(sw_importer *r, const sw_im_part *part, const sw_importer *outer, const sw_ir_instance *in) {
  for (uint32_t i = 0; i < part->n_in; i++) {
    const sw_ir_op *o = sw_im_op(r, part->in[i]);
    sw_ir_span name = o->n_results ? r->t->results.at[o->first_result].name : (sw_ir_span){0, 0};
    const char *text = sw_arena_printf(&r->scratch, r->d, "%s%.*s", in->prefix, SW_IR_TEXT(r->t, name));
    sw_id *slot = sw_im_result(r, part->in[i], 0), unused;
    sw_type t;
    if (!text) return SW_E_RESOURCE;
    SW_TRY(sw_im_result_type(r, part->in[i], 0, &t));
    SW_TRY(add_part_arg(r, text, &t, part->in[i], slot ? slot : &unused));
  }
  return add_captured_args(r, outer, in, part->captured, part->n_captured, part->out[0]);
}

static bool is_listed_op(const uint32_t *list, uint32_t n, uint32_t op) {
  for (uint32_t i = 0; i < n; i++) {
    if (list[i] == op) return true;
  }
  return false;
}

static sw_rc read_gspmd_part(sw_importer *r, const sw_im_part *part, const sw_importer *outer, const char *prefix) {
  sw_ir_instance *in;
  SW_TRY(new_instance(r, sw_im_here(outer)->function, prefix, &in));
  sw_ir_walk w = {.kind = SW_IR_IN_MAIN, .op = part->out[0], .cursor = SW_IR_NONE, .instance = in};
  sw_rc rc = sw_array_push(&r->passes->walks, w, r->d);
  if (rc) sw_mem_free(in->slots);
  if (!rc) rc = part_args(r, part, outer, in);
  for (uint32_t i = 0; i < part->n_ops && !rc; i++) {
    if (is_listed_op(part->in, part->n_in, part->ops[i]) || is_listed_op(part->out, part->n_out, part->ops[i]))
      continue;
    rc = import_op(r, part->ops[i]);
    if (!rc) rc = walk_blocks(r, 1);
  }
  sw_id *values;
  SW_TRY(rc);
  SW_ARENA_NEW(values, &r->scratch, part->n_out, r->d);
  for (uint32_t i = 0; i < part->n_out; i++) values[i] = sw_im_operand(r, part->out[i], 0);
  SW_TRY(leave_device(r, part->out[0], values, part->n_out));
  SW_TRY(check_sizes(r));
  return sw_graph_seal(r->g, r->d);
}

sw_rc sw_im_init(sw_importer *m, const sw_importer *from) {
  sw_im_passes *p;
  SW_ARENA_NEW(p, &m->keep, 1, m->d);
  m->passes = p;
  p->owns_shared = !from;
  if (from) p->shared = from->passes->shared;
  if (from) return sw_im_open_states(m, from);
  SW_ARENA_NEW(p->shared, &m->keep, 1, m->d);
  p->shared->files = &m->g->arena;
  return sw_im_open_states(m, NULL);
}

/* Of ops on the shapes of one device, into a graph of their own. */
static sw_rc open_reader(sw_importer *m, sw_importer *reader, sw_graph **body) {
  *body = NULL;
  *reader = (sw_importer){.t = m->t,
                          .names = m->names,
                          .o = m->o,
                          .own_mesh = m->own_mesh,
                          .has_named_meshes = m->has_named_meshes,
                          .by_device = true,
                          .alone = m->alone,
                          .main = m->main,
                          .module = m->module,
                          .d = m->d};
  SW_TRY(sw_im_init(reader, m));
  SW_TRY(sw_graph_create("body", body, m->d));
  reader->g = *body;
  if (m->g->written->has_mesh) sw_graph_set_mesh(*body, &m->g->written->mesh);
  return SW_OK;
}

/* Where it failed, nothing is left to close. */
static sw_rc have_read(sw_importer *reader, sw_graph *body, sw_rc rc) {
  if (rc) sw_im_close_body(reader, body);
  return rc;
}

static sw_rc read_region(sw_importer *m, uint32_t op, uint32_t block, const uint32_t *slots, uint32_t n, bool by_device,
                         sw_importer *reader, sw_graph **body) {
  const char *prefix;
  SW_TRY(prefix_of(m, op, &prefix));
  sw_rc rc = open_reader(m, reader, body);
  reader->by_device = by_device;
  return have_read(reader, *body, rc ? rc : read_block(reader, op, block, m, prefix, slots, n));
}

sw_rc sw_im_read_body(sw_importer *m, uint32_t op, sw_importer *reader, sw_graph **body) {
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, op), 0);
  if (block == SW_IR_NONE) return SW_IM_FAIL(m, op, "the op has no region");
  uint32_t n_args = m->t->blocks.at[block].n_args;
  SW_TRY(sw_im_operand_count(m, op, n_args, n_args));
  return read_region(m, op, block, NULL, 0, true, reader, body);
}

sw_rc sw_im_read_region(sw_importer *m, uint32_t op, uint32_t block, const uint32_t *slots, uint32_t n,
                        sw_importer *reader, sw_graph **body) {
  return read_region(m, op, block, slots, n, m->by_device, reader, body);
}

sw_rc sw_im_read_part(sw_importer *m, const sw_im_part *part, sw_importer *reader, sw_graph **body) {
  sw_rc rc = open_reader(m, reader, body);
  return have_read(reader, *body, rc ? rc : read_gspmd_part(reader, part, m, sw_im_here(m)->prefix));
}

void sw_ir_trace_free(sw_ir_trace *t) {
  sw_array_free(&t->made);
  sw_array_free(&t->carried);
  sw_array_free(&t->captured);
  sw_array_free(&t->calls);
  sw_array_free(&t->passed);
}

void sw_im_close_body(sw_importer *reader, sw_graph *body) {
  if (reader->passes) sw_ir_trace_free(&reader->passes->trace);
  sw_im_free(reader);
  sw_graph_destroy(body);
}

/* --- the main function ------------------------------------------------------------------------------------------- */

static sw_value_kind argument_kind_of(const sw_importer *m, uint32_t i) {
  return m->passes->roles ? m->passes->roles->at[i].kind : SW_VALUE_INPUT;
}

/* Every element of a tuple is an argument of the graph. */
static sw_rc add_tuple_arg(sw_importer *m, uint32_t i, const sw_ir_arg *a, sw_id *out) {
  const char *base;
  sw_ir_span *types;
  sw_id *ids;
  uint32_t n;
  SW_TRY(sw_im_leaf_types(m, &a->type, 1, &types, &n));
  SW_TRY(sw_im_arg_label(m, i, &base));
  SW_ARENA_NEW(ids, &m->keep, n, m->d);
  for (uint32_t k = 0; k < n; k++) {
    sw_type type;
    const char *name = sw_arena_printf(&m->scratch, m->d, "%s.%u", base, k);
    if (!name) return SW_E_RESOURCE;
    SW_TRY(sw_ir_read_type(m->t, types[k], &m->scratch, &type, m->d));
    SW_TRY(sw_im_fresh_name(m, name, &name));
    SW_TRY(sw_graph_add_arg(m->g, name, type.dtype, type.rank, type.dims, argument_kind_of(m, i),
                            sw_ir_place(m->t, a->name.at), &ids[k], m->d));
    SW_TRY(sw_im_see_type(m, ids[k], types[k]));
  }
  const sw_id *next = ids;
  return sw_im_built_of_type(m, m->main, a->type, &next, out);
}

/* `?` of an argument has the name of the argument and the dimension. */
static sw_rc close_sizes(sw_importer *m, const char *name, sw_span at, sw_type *t) {
  int64_t *dims = sw_arena_copy(&m->scratch, t->dims, (size_t)t->rank, sizeof *dims, m->d);
  if (!dims) return SW_E_RESOURCE;
  for (int k = 0; k < t->rank; k++) {
    char size[SW_SIZE_NAME_BYTES + 16];
    if (dims[k] >= 0) continue;
    snprintf(size, sizeof size, "%.*s:%d", SW_SIZE_NAME_BYTES, name, k);
    SW_TRY(sw_sizes_meet(m->o->sizes, size, at, &dims[k], m->d));
  }
  t->dims = dims;
  return SW_OK;
}

static sw_rc add_arg(sw_importer *m, sw_ir_instance *in, uint32_t block, uint32_t i) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  const sw_ir_arg *a = &m->t->args.at[b->first_arg + i];
  if (sw_ir_is_tuple_type(m->t, a->type)) return add_tuple_arg(m, i, a, &in->slots[m->names->block[block] + i]);
  const char *name;
  sw_type type;
  sw_id id;
  SW_TRY(sw_ir_read_type(m->t, a->type, &m->scratch, &type, m->d));
  SW_TRY(sw_im_arg_name(m, i, &name));
  SW_TRY(close_sizes(m, name, sw_ir_place(m->t, a->name.at), &type));
  SW_TRY(sw_graph_add_arg(m->g, name, type.dtype, type.rank, type.dims, argument_kind_of(m, i),
                          sw_ir_place(m->t, a->name.at), &id, m->d));
  SW_TRY(sw_im_locate_arg(m, a->loc, id));
  in->slots[m->names->block[block] + i] = id;
  if (m->passes->roles) m->passes->roles->at[i].value = id;
  SW_TRY(sw_im_see_type(m, id, a->type));
  SW_TRY(sw_im_annotate_arg(m, i, id));
  return sw_im_see_argument(m, i, id, a->type);
}

/* @main, or the first function with a body. */
static sw_rc find_main(sw_importer *m) {
  m->main = SW_IR_NONE;
  for (uint32_t i = 0; i < m->t->ops.n; i++) {
    const sw_ir_op *op = sw_im_op(m, i);
    if (!sw_ir_is_function(m->t, op) || sw_ir_block_at(m->t, op, 0) == SW_IR_NONE) continue;
    bool is_main = sw_ir_is(m->t, sw_ir_function_name(m->t, op), "main");
    if (m->main == SW_IR_NONE || is_main) m->main = i;
    if (is_main) break;
  }
  if (m->main == SW_IR_NONE) {
    const char *artifact = strstr(m->t->s, "vhlo.func");
    if (artifact) {
      return SW_IM_FAIL_AT(m, (uint32_t)(artifact - m->t->s),
                           "the program is in VHLO; expected StableHLO (stablehlo-translate --deserialize prints it)");
    }
    return SW_IM_FAIL_AT(m, 0, "the program has no function with a body; expected @main");
  }
  uint32_t region = m->t->blocks.at[sw_im_op(m, m->main)->block].region;
  m->module = region == SW_IR_NONE ? SW_IR_NONE : m->t->regions.at[region].op;
  return SW_OK;
}

/* arg_attrs and res_attrs of the generic form: as many dictionaries as there are arguments or results. */
static sw_rc check_attr_list(sw_importer *m, const char *key, int64_t n) {
  sw_ir_span list = sw_ir_entry(m->t, sw_im_op(m, m->main)->props, key), item;
  uint32_t cursor = 0;
  if (!sw_ir_present(list)) return SW_OK;
  int64_t found = 0;
  bool ok = list.at < list.end && m->t->s[list.at] == '[';
  while (ok && sw_ir_next_item(m->t, list, &cursor, &item)) {
    ok = item.at < item.end && m->t->s[item.at] == '{';
    found++;
  }
  if (ok && found == n) return SW_OK;
  return SW_IM_FAIL_AT(m, list.at, "expected '%s' to be a list of one dictionary for each value", key);
}

static sw_rc check_main(sw_importer *m) {
  const sw_ir_op *f = sw_im_op(m, m->main);
  const sw_ir_block *b = &m->t->blocks.at[sw_ir_block_at(m->t, f, 0)];
  SW_TRY(sw_im_declare_results(m));
  SW_TRY(check_attr_list(m, "arg_attrs", b->n_args));
  return check_attr_list(m, "res_attrs", m->passes->n_declared);
}

sw_rc sw_im_import(sw_importer *m) {
  SW_TRY(find_main(m));
  SW_TRY(check_main(m));
  SW_TRY(sw_im_open_rules(m));
  SW_TRY(sw_im_find_mesh(m));
  SW_TRY(sw_im_open_local(m));
  SW_TRY(sw_im_open_dialects(m));
  uint32_t block = sw_ir_block_at(m->t, sw_im_op(m, m->main), 0);
  const sw_ir_block *b = &m->t->blocks.at[block];
  sw_ir_instance *in;
  SW_TRY(new_instance(m, m->main, "", &in));
  sw_ir_walk w = {.kind = SW_IR_IN_MAIN, .op = m->main, .cursor = b->first_op, .region = b->region, .instance = in};
  sw_rc rc = sw_array_push(&m->passes->walks, w, m->d);
  if (rc) sw_mem_free(in->slots);
  SW_TRY(rc);
  for (uint32_t i = 0; i < b->n_args; i++) SW_TRY(add_arg(m, in, block, i));
  SW_TRY(check_sizes(m)); /* what follows from an unknown size would be told with less reason */
  SW_TRY(walk_blocks(m, 0));
  SW_TRY(check_sizes(m));
  return sw_graph_seal(m->g, m->d);
}

void sw_im_free(sw_importer *m) {
  sw_im_passes *p = m->passes;
  for (size_t i = 0; p && i < p->walks.n; i++) { /* those that a failure left open */
    if (p->walks.at[i].kind > SW_IR_IN_CALL) continue;
    sw_mem_free(p->walks.at[i].instance->slots);
    p->walks.at[i].instance->slots = NULL;
  }
  if (p) {
    sw_array_free(&p->walks);
    sw_array_free(&p->tuples);
    sw_array_free(&p->collectives);
    sw_dict_deinit(&p->taken);
  }
  if (p && p->owns_shared && p->shared) {
    sw_mem_free(p->shared->rules);
    sw_array_free(&p->shared->locations);
    sw_dict_deinit(&p->shared->warned);
    sw_dict_deinit(&p->shared->places);
    sw_dict_deinit(&p->shared->texts);
    sw_dict_deinit(&p->shared->frames);
    sw_dict_deinit(&p->shared->stacks);
  }
  sw_arena_deinit(&m->keep);
  sw_arena_deinit(&m->scratch);
}
