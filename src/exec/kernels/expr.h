/* Scalar expressions of `generic` ops: parsed once to postfix, evaluated on rows of doubles.
 *
 *   "x0*x1 + 2; select(x0 < d1, 0, exp(-x0))"
 *
 *   body     = sum-or-comparison { ';' sum-or-comparison }     one per result
 *   compare  = sum [ ('<' | '<=' | '>' | '>=' | '==' | '!=') sum ]     1 or 0
 *   sum      = product { ('+' | '-') product }
 *   product  = factor { ('*' | '/') factor }
 *   factor   = '-' factor | number | xN | dN | name '(' compare { ',' compare } ')' | '(' compare ')'
 *   name     = exp log sqrt rsqrt tanh abs min max pow select
 *
 * xN is the element of operand N, dN the index of loop N. Integers are computed as doubles: exact up to 2^53.
 */
#ifndef EXEC_EXPR_H_
#define EXEC_EXPR_H_

#include "shardwright/op.h"

typedef struct sw_expr_instruction sw_expr_instruction;

typedef struct sw_expr {
  int n_steps, depth; /* depth: rows of stack that evaluation needs */
  const sw_expr_instruction *steps;
} sw_expr;

/* What names may occur, and how many expressions there must be. */
typedef struct sw_expr_scope {
  int n_operands, n_loops, n_results;
  const char *name; /* of the op, for messages */
  sw_span at;
} sw_expr_scope;

/* out[0..n_results). SW_E_INPUT with the place in the text. */
sw_rc sw_expr_parse(const char *text, const sw_expr_scope *scope, sw_arena *arena, sw_expr *out, sw_diag *d);

#define SW_EXPR_ROW INT64_C(256)
/* Rows of at most SW_EXPR_ROW points: x[i] = elements of operand i; loop i has index loop[i], loop `moving` grows by 1
 * from point to point. */
typedef struct sw_expr_rows {
  const double *const *x;
  const int64_t *loop;
  int moving;
} sw_expr_rows;

/* stack: depth * SW_EXPR_ROW doubles; the result is its first row. */
void sw_expr_eval(const sw_expr *e, const sw_expr_rows *rows, int64_t n, double *stack);

#endif
