/* Loops and choices of an SPMD program, which are written in line there, as regions of StableHLO:
 *
 *   while; a = enter(x); n = enter(m); p = ...; test(p); b = ...; y = yield(b); end; r = join(a, y)
 *
 *   %r, %t$0 = "stablehlo.while"(%x, %m) ({ ^bb0(%a, %n): ... return %p }, { ^bb0(%a, %n): ... return %b, %n })
 *
 * What a loop only reads is carried through it unchanged; a constant is written where it is read.
 */
#include "mlir/emit/emit_spmd.h"

typedef struct frame {
  sw_spmd_writer *s;
  const sw_graph *g;
  int32_t at, first, test, end, joins_end; /* places: the opener, the first op behind the enters, ... */
} frame;

static const sw_op *frame_op_at(const frame *f, int32_t i) { return &f->g->ops[i]; }

static sw_ssa ssa_of_value(const frame *f, sw_id v) { return sw_mlir_value(&f->s->w, f->g, v); }

/* Where the frame's own markers are. */
static void find_markers(frame *f, int32_t n) {
  int deep = 0;
  f->first = f->at + 1;
  while (frame_op_at(f, f->first)->code == SW_OP_ENTER) f->first++;
  f->test = -1;
  for (f->end = f->first; f->end < n; f->end++) {
    sw_opcode code = frame_op_at(f, f->end)->code;
    if (code == SW_OP_END && deep-- == 0) break;
    if (code == SW_OP_TEST && deep == 0) f->test = f->end;
    if (code == SW_OP_WHILE || code == SW_OP_CASE) deep++;
  }
  f->joins_end = f->end + 1;
  while (f->joins_end < n && frame_op_at(f, f->joins_end)->code == SW_OP_JOIN) f->joins_end++;
}

static void put_ssa_list(const frame *f, const sw_ssa *v, int32_t n, bool types) {
  for (int32_t i = 0; i < n; i++) {
    if (i) sw_text_puts(f->s->w.out, ", ");
    if (!types) sw_text_puts(f->s->w.out, v[i].name);
    if (types) sw_mlir_type(&v[i].type, f->s->w.out);
  }
}

static void put_return(const frame *f, const sw_ssa *v, int32_t n) {
  sw_text_puts(f->s->w.out, "    \"stablehlo.return\"(");
  put_ssa_list(f, v, n, false);
  sw_text_puts(f->s->w.out, ") : (");
  put_ssa_list(f, v, n, true);
  sw_text_puts(f->s->w.out, ") -> ()\n");
}

static void put_head(const frame *f, const char *op, const sw_ssa *out, int32_t n_out, const sw_ssa *in, int32_t n_in) {
  sw_text *t = f->s->w.out;
  sw_text_puts(t, "    ");
  put_ssa_list(f, out, n_out, false);
  sw_text_printf(t, "%s\"stablehlo.%s\"(", n_out ? " = " : "", op);
  put_ssa_list(f, in, n_in, false);
  sw_text_puts(t, ") (");
}

static void put_tail(const frame *f, const sw_ssa *out, int32_t n_out, const sw_ssa *in, int32_t n_in) {
  sw_text *t = f->s->w.out;
  sw_text_puts(t, ")");
  sw_mlir_put_result_shardings(&f->s->w, out, n_out);
  sw_text_puts(t, " : (");
  put_ssa_list(f, in, n_in, true);
  sw_text_puts(t, ") -> (");
  put_ssa_list(f, out, n_out, true);
  sw_text_puts(t, ")");
  sw_mlir_end_line(&f->s->w);
}

/* Ops [from, to) but for yields. */
static sw_rc put_frame_ops(const frame *f, int32_t from, int32_t to, sw_diag *d) {
  int deep = 0;
  for (int32_t i = from; i < to; i++) {
    sw_opcode code = frame_op_at(f, i)->code;
    if (code == SW_OP_YIELD && deep == 0) {
      SW_TRY(sw_spmd_write_ops(f->s, from, i, d));
      from = i + 1;
    }
    deep += (code == SW_OP_WHILE || code == SW_OP_CASE) - (code == SW_OP_END);
  }
  return sw_spmd_write_ops(f->s, from, to, d);
}

/* What is yielded: the operand of the yield that gives `v`. */
static sw_ssa yielded(const frame *f, sw_id v) {
  const sw_op *yield = sw_value_maker(f->g, v);
  return ssa_of_value(f, yield && yield->n_operands ? yield->operands[0] : v);
}

/* --- while ------------------------------------------------------------------------------------------------------- */

static void put_region_arguments(const frame *f, const sw_ssa *entered, int32_t n) {
  sw_text *t = f->s->w.out;
  sw_text_puts(t, "{\n    ^bb0(");
  for (int32_t i = 0; i < n; i++) {
    sw_text_printf(t, "%s%s: ", i ? ", " : "", entered[i].name);
    sw_mlir_type(&entered[i].type, t);
  }
  sw_text_puts(t, "):\n");
}

/* Does the body read what was computed for the test? Then it is computed there once more. */
static bool body_reads_test(const frame *f) {
  for (int32_t i = f->test + 1; i < f->end; i++) {
    const sw_op *op = frame_op_at(f, i);
    for (int k = 0; k < op->n_operands; k++) {
      sw_id def = f->g->values[op->operands[k]].def;
      if (def >= f->first && def < f->test) return true;
    }
  }
  return false;
}

/* What the loop carries, by enter op that is no constant. */
typedef struct carried {
  int32_t n;
  sw_id *value; /* of what entered */
  sw_ssa *in, *entered, *next, *out;
} carried;

/* The join of an entered value; NULL: the loop only reads it. */
static const sw_op *join_of(const frame *f, sw_id entered) {
  for (int32_t j = f->end + 1; j < f->joins_end; j++) {
    if (frame_op_at(f, j)->operands[0] == entered) return frame_op_at(f, j);
  }
  return NULL;
}

static const sw_op *entered_constant_of(const frame *f, const sw_op *enter) {
  sw_id def = f->g->values[enter->operands[0]].def;
  bool is_constant = def >= 0 && f->g->ops[def].code == SW_OP_CONSTANT;
  return is_constant && !join_of(f, enter->results[0]) ? &f->g->ops[def] : NULL;
}

static sw_rc find_carried(const frame *f, carried *c, sw_diag *d) {
  sw_arena *arena = &f->s->w.arena;
  int32_t most = f->first - f->at;
  *c = (carried){.n = 0};
  SW_ARENA_NEW_EACH(arena, most, d, c->value, c->in, c->entered, c->next, c->out);
  for (int32_t i = f->at + 1; i < f->first; i++) {
    const sw_op *enter = frame_op_at(f, i), *join = join_of(f, enter->results[0]);
    if (entered_constant_of(f, enter)) continue;
    c->value[c->n] = enter->results[0];
    c->in[c->n] = ssa_of_value(f, enter->operands[0]);
    c->entered[c->n] = ssa_of_value(f, enter->results[0]);
    c->next[c->n] = join ? yielded(f, join->operands[1]) : c->entered[c->n];
    c->out[c->n] = join ? ssa_of_value(f, join->results[0]) : sw_mlir_temp(&f->s->w, c->entered[c->n].type);
    c->n++;
  }
  return SW_OK;
}

/* The head of a region: its arguments, and constants. */
static void open_region(const frame *f, const carried *c) {
  put_region_arguments(f, c->entered, c->n);
  for (int32_t i = f->at + 1; i < f->first; i++) {
    const sw_op *constant = entered_constant_of(f, frame_op_at(f, i));
    sw_ssa out = ssa_of_value(f, frame_op_at(f, i)->results[0]);
    if (constant) sw_hlo_write(&(sw_hlo){&f->s->w, constant, NULL, &out});
  }
}

static sw_rc write_while(const frame *f, sw_diag *d) {
  sw_mlir *w = &f->s->w;
  carried c;
  SW_TRY(find_carried(f, &c, d));
  sw_ssa test = ssa_of_value(f, frame_op_at(f, f->test)->operands[0]);
  put_head(f, "while", c.out, c.n, c.in, c.n);
  open_region(f, &c);
  SW_TRY(put_frame_ops(f, f->first, f->test, d));
  put_return(f, &test, 1);
  sw_text_puts(w->out, "    }, ");
  open_region(f, &c);
  if (body_reads_test(f)) SW_TRY(put_frame_ops(f, f->first, f->test, d));
  SW_TRY(put_frame_ops(f, f->test + 1, f->end, d));
  put_return(f, c.next, c.n);
  sw_text_puts(w->out, "    }");
  /* XLA takes what a loop only reads out of its results, but not out of a list of their shardings; constraints on what
   * enters and what the body gives say the same. */
  w->results.n = 0;
  for (int32_t i = 0; i < c.n && f->s->dialect != SW_SPMD_CONSTRAINTS; i++)
    SW_TRY(sw_spmd_add_result_sharding(f->s, c.out[i], c.value[i], d));
  put_tail(f, c.out, c.n, c.in, c.n);
  return SW_OK;
}

/* --- case -------------------------------------------------------------------------------------------------------- */

/* Branch `b` begins at `from`; returns where it ends. */
static sw_rc write_branch(const frame *f, int32_t b, int32_t from, int32_t *to, sw_diag *d) {
  sw_mlir *w = &f->s->w;
  int deep = 0;
  int32_t n = f->joins_end - f->end - 1;
  sw_ssa *given;
  SW_ARENA_NEW(given, &w->arena, n, d);
  sw_text_puts(w->out, b ? "    }, {\n" : "{\n");
  for (; frame_op_at(f, from)->code == SW_OP_ENTER; from++) {
    sw_mlir_alias(w, ssa_of_value(f, frame_op_at(f, from)->operands[0]),
                  ssa_of_value(f, frame_op_at(f, from)->results[0]));
  }
  for (*to = from; *to < f->end; ++*to) {
    sw_opcode code = frame_op_at(f, *to)->code;
    if (code == SW_OP_OTHERWISE && deep == 0) break;
    deep += (code == SW_OP_WHILE || code == SW_OP_CASE) - (code == SW_OP_END);
  }
  SW_TRY(put_frame_ops(f, from, *to, d));
  for (int32_t i = 0; i < n; i++) given[i] = yielded(f, frame_op_at(f, f->end + 1 + i)->operands[b]);
  put_return(f, given, n);
  return SW_OK;
}

static sw_rc write_case(const frame *f, sw_diag *d) {
  sw_mlir *w = &f->s->w;
  int32_t n = f->joins_end - f->end - 1, at = f->at + 1;
  sw_ssa *out, index = ssa_of_value(f, frame_op_at(f, f->at)->operands[0]);
  SW_ARENA_NEW(out, &w->arena, n, d);
  for (int32_t i = 0; i < n; i++) out[i] = ssa_of_value(f, frame_op_at(f, f->end + 1 + i)->results[0]);
  bool is_if = index.type.dtype == SW_BOOL;
  if (!is_if && index.type.dtype != SW_I32) {
    index = sw_mlir_unary(w, "stablehlo.convert", index, (sw_type){SW_I32, 0, NULL}, NULL);
  }
  put_head(f, is_if ? "if" : "case", out, n, &index, 1);
  for (int32_t b = 0; at <= f->end; b++, at++) SW_TRY(write_branch(f, b, at, &at, d));
  sw_text_puts(w->out, "    }");
  w->results.n = 0;
  for (int32_t i = 0; i < n; i++)
    SW_TRY(sw_spmd_add_result_sharding(f->s, out[i], frame_op_at(f, f->end + 1 + i)->results[0], d));
  put_tail(f, out, n, &index, 1);
  return SW_OK;
}

sw_rc sw_spmd_write_control(sw_spmd_writer *s, int32_t at, int32_t *next, sw_diag *d) {
  frame f = {.s = s, .g = s->w.graph, .at = at};
  find_markers(&f, s->w.graph->n_ops);
  *next = f.joins_end;
  return frame_op_at(&f, at)->code == SW_OP_WHILE ? write_while(&f, d) : write_case(&f, d);
}
