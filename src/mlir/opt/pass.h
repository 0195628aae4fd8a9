/* Passes over the text of a program, as `shardwright opt --pass` runs them: each reads the tree of the text and says
 * what is to be changed; the changed text is parsed again for the next one. Each is a function sw_pass_NAME and a row
 * of passes.def.
 *
 * A pass may ask for the flow of the program (mlir/flow/program_flow.h): its values with the shardings that the text
 * says. It may change these, and they are written where they stand. Or it may read what is said at each place alone,
 * and say something else there (shardings.h). All else is done by edits (mlir/write/edits.h) and by what rewrite.h
 * has: ops that are put in, erased, or whose results are replaced.
 */
#ifndef MLIR_PASS_H_
#define MLIR_PASS_H_

#include "mlir/opt/shardings.h"
#include "mlir/write/edits.h"

/* One run of a pass over one text. */
struct sw_opt_work {
  const sw_ir_tree *t;
  const sw_ir_names *names;
  sw_ir_values values;
  sw_program_flow *flow; /* of passes that ask for it; otherwise NULL */
  const char *options;   /* "key=value key=value"; never NULL */
  sw_opt_shardings shardings;
  sw_ir_edits edits;
  sw_arena arena;
  const char **instead;         /* by value: the text that its uses become; NULL: they stay */
  uint32_t *forward;            /* by value: the value that its uses become; SW_IR_NONE: they stay */
  bool *erased;                 /* by op */
  bool *use_done;               /* by use: an edit replaces it */
  uint32_t first_name, n_names; /* that new values are given: numbers */
  sw_dict *symbols;             /* of the module; NULL: not asked for yet */
  uint32_t n_symbols;           /* that are put in for names that were taken */
  sw_diag *d;
};

/* A dictionary and a text that go with the arena. */
SW_CHECKED sw_rc sw_opt_dict(sw_opt_work *w, sw_dict **out);
SW_CHECKED sw_rc sw_opt_text(sw_opt_work *w, sw_text **out);

/* An option: "true" or "false", or `otherwise` where it is not given; SW_E_USAGE for another word. */
SW_CHECKED sw_rc sw_opt_flag(sw_opt_work *w, const char *key, bool otherwise, bool *out);

/* ([i, j])->([i, j]) {i=8, j=8}: an op says it whose result, of this slot, is cut as its operand is
 * (populate_op_sharding_rules.c). */
SW_CHECKED sw_rc sw_opt_say_identity_rule(sw_opt_work *w, uint32_t op, uint32_t slot);

#define SW_PASS(x, name, summary, flow, options) SW_CHECKED sw_rc sw_pass_##x(sw_opt_work *w);
#include "mlir/opt/passes.def"
#undef SW_PASS

#endif
