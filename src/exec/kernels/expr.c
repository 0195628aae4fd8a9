/* Scalar expressions: a recursive-descent parser (of bounded depth) that emits postfix, and a stack machine whose
 * stack holds rows.
 *
 *   x0*x1 + 2   ->   x0 x1 * 2 +
 */
#include "exec/kernels/expr.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "exec/kernels/elementwise.h"
#include "exec/walk.h"
#include "base/array.h"

typedef enum step_kind {
  STEP_NUMBER,
  STEP_OPERAND,
  STEP_LOOP,
  STEP_UNARY,
  STEP_BINARY,
  STEP_COMPARE,
  STEP_SELECT
} step_kind;

struct sw_expr_instruction {
  step_kind kind;
  int index;    /* of the operand or loop */
  double value; /* NUMBER */
  sw_unary_function unary;
  sw_binary_function binary;
  sw_compare_function compare;
};

static const struct {
  const char *name;
  int arity;
  sw_opcode code; /* SW_OP_SELECT for select */
} kFunctions[] = {{"exp", 1, SW_OP_EXP},      {"log", 1, SW_OP_LOG},     {"sqrt", 1, SW_OP_SQRT},
                  {"rsqrt", 1, SW_OP_RSQRT},  {"tanh", 1, SW_OP_TANH},   {"abs", 1, SW_OP_ABS},
                  {"min", 2, SW_OP_MINIMUM},  {"max", 2, SW_OP_MAXIMUM}, {"pow", 2, SW_OP_POWER},
                  {"select", 3, SW_OP_SELECT}};
enum { N_FUNCTIONS = sizeof kFunctions / sizeof kFunctions[0] };

/* Longer signs first. */
static const struct {
  const char *sign, *direction;
} kComparisons[] = {{"<=", "le"}, {">=", "ge"}, {"==", "eq"}, {"!=", "ne"}, {"<", "lt"}, {">", "gt"}};
enum { N_COMPARISONS = sizeof kComparisons / sizeof kComparisons[0], MOST_NESTING = 64, MOST_STEPS = 4096 };

typedef struct parser {
  const char *text, *at;
  const sw_expr_scope *scope;
  SW_ARRAY(sw_expr_instruction) steps;
  int held, depth; /* rows on the stack now, and at most */
  int nesting;
  sw_diag *d;
} parser;

static sw_rc fail(const parser *p, const char *what) {
  return SW_FAIL_INPUT(p->d, p->scope->at, "op '%s': body '%.200s': %s at character %d", p->scope->name, p->text, what,
                       (int)(p->at - p->text) + 1);
}

static void skip_expr_blanks(parser *p) {
  while (*p->at == ' ' || *p->at == '\t' || *p->at == '\n') p->at++;
}

static bool accept(parser *p, const char *sign) {
  skip_expr_blanks(p);
  size_t n = strlen(sign);
  if (strncmp(p->at, sign, n) != 0) return false;
  p->at += n;
  return true;
}

/* Append a step that takes `takes` rows and leaves one. */
static sw_rc emit_expr_step(parser *p, sw_expr_instruction step, int takes) {
  if (p->steps.n >= MOST_STEPS) return fail(p, "too long an expression");
  p->held += 1 - takes;
  if (p->held > p->depth) p->depth = p->held;
  return sw_array_push(&p->steps, step, p->d);
}

static sw_rc emit_op(parser *p, sw_opcode code, int arity) {
  if (code == SW_OP_SELECT) return emit_expr_step(p, (sw_expr_instruction){.kind = STEP_SELECT}, 3);
  if (arity == 1)
    return emit_expr_step(p, (sw_expr_instruction){.kind = STEP_UNARY, .unary = sw_unary_function_of(code, SW_F64)}, 1);
  return emit_expr_step(p, (sw_expr_instruction){.kind = STEP_BINARY, .binary = sw_binary_function_of(code, SW_F64)},
                        2);
}

static sw_rc parse_compare(parser *p);

static sw_rc parse_call(parser *p, const char *name, size_t n) {
  for (int f = 0; f < N_FUNCTIONS; f++) {
    if (strlen(kFunctions[f].name) != n || strncmp(kFunctions[f].name, name, n) != 0) continue;
    if (!accept(p, "(")) return fail(p, "expected '(' after a function");
    for (int i = 0; i < kFunctions[f].arity; i++) {
      if (i > 0 && !accept(p, ",")) return fail(p, "expected ','");
      SW_TRY(parse_compare(p));
    }
    if (!accept(p, ")")) return fail(p, "expected ')'");
    return emit_op(p, kFunctions[f].code, kFunctions[f].arity);
  }
  p->at = name;
  return fail(p, "unknown name");
}

static bool is_letter(char c) { return c >= 'a' && c <= 'z'; }

/* x3, d0, or a function. */
static sw_rc parse_name(parser *p) {
  const char *name = p->at;
  while (is_letter(*p->at)) p->at++;
  size_t n = (size_t)(p->at - name);
  if (n != 1 || !isdigit((unsigned char)*p->at)) return parse_call(p, name, n);
  char *end;
  long index = strtol(p->at, &end, 10);
  bool operand = *name == 'x';
  int most = operand ? p->scope->n_operands : *name == 'd' ? p->scope->n_loops : 0;
  if (index >= most) {
    p->at = name;
    return fail(p, "no such operand or loop");
  }
  p->at = end;
  return emit_expr_step(p, (sw_expr_instruction){.kind = operand ? STEP_OPERAND : STEP_LOOP, .index = (int)index}, 0);
}

static sw_rc parse_factor(parser *p) {
  skip_expr_blanks(p);
  if (is_letter(*p->at)) return parse_name(p);
  if (accept(p, "(")) {
    SW_TRY(parse_compare(p));
    return accept(p, ")") ? SW_OK : fail(p, "expected ')'");
  }
  if (accept(p, "-")) {
    if (++p->nesting > MOST_NESTING) return fail(p, "too deep a nesting");
    SW_TRY(parse_factor(p));
    p->nesting--;
    return emit_op(p, SW_OP_NEGATE, 1);
  }
  if (!isdigit((unsigned char)*p->at) && *p->at != '.') return fail(p, "expected a number, a name or '('");
  char *end;
  double value = strtod(p->at, &end);
  if (end == p->at) return fail(p, "expected a number");
  p->at = end;
  return emit_expr_step(p, (sw_expr_instruction){.kind = STEP_NUMBER, .value = value}, 0);
}

static sw_rc parse_product(parser *p) {
  SW_TRY(parse_factor(p));
  for (;;) {
    sw_opcode code = accept(p, "*") ? SW_OP_MULTIPLY : accept(p, "/") ? SW_OP_DIVIDE : SW_OP_COUNT;
    if (code == SW_OP_COUNT) return SW_OK;
    SW_TRY(parse_factor(p));
    SW_TRY(emit_op(p, code, 2));
  }
}

static sw_rc parse_sum(parser *p) {
  SW_TRY(parse_product(p));
  for (;;) {
    sw_opcode code = accept(p, "+") ? SW_OP_ADD : accept(p, "-") ? SW_OP_SUBTRACT : SW_OP_COUNT;
    if (code == SW_OP_COUNT) return SW_OK;
    SW_TRY(parse_product(p));
    SW_TRY(emit_op(p, code, 2));
  }
}

static sw_rc parse_compare(parser *p) {
  if (++p->nesting > MOST_NESTING) return fail(p, "too deep a nesting");
  SW_TRY(parse_sum(p));
  p->nesting--;
  for (int i = 0; i < N_COMPARISONS; i++) {
    if (!accept(p, kComparisons[i].sign)) continue;
    SW_TRY(parse_sum(p));
    sw_compare_function loop = sw_compare_function_of(kComparisons[i].direction, SW_F64);
    return emit_expr_step(p, (sw_expr_instruction){.kind = STEP_COMPARE, .compare = loop}, 2);
  }
  return SW_OK;
}

static sw_rc parse_all(parser *p, sw_arena *arena, sw_expr *out) {
  for (int i = 0; i < p->scope->n_results; i++) {
    p->steps.n = 0;
    p->held = p->depth = p->nesting = 0;
    if (i > 0 && !accept(p, ";")) return fail(p, "expected ';' and one expression per result");
    SW_TRY(parse_compare(p));
    out[i] = (sw_expr){.n_steps = (int)p->steps.n, .depth = p->depth};
    out[i].steps = sw_arena_copy(arena, p->steps.at, p->steps.n, sizeof *p->steps.at, p->d);
    if (!out[i].steps) return SW_E_RESOURCE;
  }
  (void)accept(p, ";");
  skip_expr_blanks(p);
  return *p->at ? fail(p, "expected the end") : SW_OK;
}

sw_rc sw_expr_parse(const char *text, const sw_expr_scope *scope, sw_arena *arena, sw_expr *out, sw_diag *d) {
  parser p = {.text = text, .at = text, .scope = scope, .d = d};
  sw_rc rc = parse_all(&p, arena, out);
  sw_array_free(&p.steps);
  return rc;
}

/* --- evaluation --------------------------------------------------------------------------------------------------- */

static void load_row(const sw_expr_instruction *s, const sw_expr_rows *rows, int64_t n, double *to) {
  if (s->kind == STEP_OPERAND) {
    memcpy(to, rows->x[s->index], (size_t)n * sizeof *to);
    return;
  }
  double first = s->kind == STEP_NUMBER ? s->value : (double)rows->loop[s->index];
  double by = s->kind == STEP_LOOP && s->index == rows->moving ? 1 : 0;
  for (int64_t i = 0; i < n; i++) to[i] = first + by * (double)i;
}

static void compare_rows(const sw_expr_instruction *s, double *a, const double *b, int64_t n) {
  uint8_t truth[SW_EXPR_ROW];
  s->compare(a, b, truth, n);
  for (int64_t i = 0; i < n; i++) a[i] = truth[i];
}

static void select_rows(double *c, const double *a, const double *b, int64_t n) {
  for (int64_t i = 0; i < n; i++) c[i] = c[i] != 0 ? a[i] : b[i];
}

void sw_expr_eval(const sw_expr *e, const sw_expr_rows *rows, int64_t n, double *stack) {
  double *top = stack; /* first free row */
  for (int i = 0; i < e->n_steps; i++) {
    const sw_expr_instruction *s = &e->steps[i];
    double *a = top - SW_EXPR_ROW;
    switch (s->kind) {
      case STEP_NUMBER:
      case STEP_OPERAND:
      case STEP_LOOP:
        load_row(s, rows, n, top);
        top += SW_EXPR_ROW;
        break;
      case STEP_UNARY:
        s->unary(a, a, n);
        break;
      case STEP_BINARY:
        s->binary(a - SW_EXPR_ROW, a, a - SW_EXPR_ROW, n);
        top = a;
        break;
      case STEP_COMPARE:
        compare_rows(s, a - SW_EXPR_ROW, a, n);
        top = a;
        break;
      case STEP_SELECT:
        select_rows(a - 2 * SW_EXPR_ROW, a - SW_EXPR_ROW, a, n);
        top = a - SW_EXPR_ROW;
        break;
    }
  }
}
