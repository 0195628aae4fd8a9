/* What the writer of annotations and the forms of annotations share. */
#ifndef IO_MLIR_WRITE_H_
#define IO_MLIR_WRITE_H_

#include "io/emit/mlir.h"
#include "io/mlir/import/program.h"

/* `text` in place of bytes [at, end). */
typedef struct sw_ir_edit {
  uint32_t at, end, order;
  const char *text;
} sw_ir_edit;

typedef struct sw_ir_writer sw_ir_writer;

/* How shardings are spelled. */
typedef struct sw_ir_form {
  const char *kind;
  const char *key;   /* attribute of arguments, results and ops */
  const char *other; /* that of the other form */
  bool constraints;  /* ops are not annotated: constraints stand around them */
  bool sums;         /* it has a word for partial sums */
  sw_rc (*begin)(sw_ir_writer *w);
  sw_rc (*put_value)(sw_ir_writer *w, const sw_sharding *s, sw_text *out);              /* argument or result */
  sw_rc (*put_values)(sw_ir_writer *w, const sw_sharding *s, uint32_t n, sw_text *out); /* of an op's results */
} sw_ir_form;

extern const sw_ir_form sw_ir_form_sdy, sw_ir_form_hlo, sw_ir_form_constraints;

struct sw_ir_writer {
  const sw_program *p;
  const sw_ir_tree *t;
  const sw_plan *plan;
  const sw_mesh *mesh;
  const sw_ir_form *form;
  const char *mesh_name; /* sdy */
  int64_t n_helpers;     /* constraints: names made up */
  sw_dict helpers;       /* constraints: value, block and sharding to the op before which it stands, and its number */
  bool *said;            /* constraints: by value, those with one behind the op that makes them */
  bool *named;           /* constraints: by value, those that a name in the text stands for */
  sw_grid grid;          /* hlo */
  SW_ARRAY(sw_ir_edit) edits;
  sw_arena arena;
  sw_diag *d;
};

/* Does the op give one of its operands, or what that was made of, as it is? */
bool sw_ir_changes_nothing(const sw_graph *g, const sw_op *op);

/* A line at the beginning of the module. */
SW_CHECKED sw_rc sw_ir_write_at_top(sw_ir_writer *w, const char *line);

/* Text at a place, and text in place of [at, end). It is borrowed; NULL: out of memory. */
SW_CHECKED sw_rc sw_ir_insert(sw_ir_writer *w, uint32_t at, const char *text);
SW_CHECKED sw_rc sw_ir_replace(sw_ir_writer *w, uint32_t at, uint32_t end, const char *text);
/* made[0 .. n): what one op of the text gives; `all`: the shardings of its results. First those of all ops, then what
 * calls pass on, then operands, then what comes into loops and is given back by their bodies. */
SW_CHECKED sw_rc sw_ir_constrain_results(sw_ir_writer *w, const sw_ir_made *made, size_t n, const sw_sharding *all);
SW_CHECKED sw_rc sw_ir_constrain_passed_on(sw_ir_writer *w, const sw_ir_made *made, size_t n);
SW_CHECKED sw_rc sw_ir_constrain_operands(sw_ir_writer *w, const sw_ir_made *made, size_t n);
SW_CHECKED sw_rc sw_ir_constrain_carried(sw_ir_writer *w);

#endif
