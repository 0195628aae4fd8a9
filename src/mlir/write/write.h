/* What the writer of annotations and the forms of annotations share. */
#ifndef MLIR_WRITE_H_
#define MLIR_WRITE_H_

#include "mlir/emit/mlir.h"
#include "mlir/import/import_program.h"
#include "mlir/shardy/shardy.h"
#include "mlir/write/edits.h"
#include "shardwright/reshard.h"

/* A use of a name by an op of the text, or by ops [first, end) in a region of it, whose uses of the same name are
 * meant, too; and the use in the graph that it stands for. */
typedef struct sw_ir_read {
  uint32_t op, name, first, end;
  sw_value_use use;
} sw_ir_read;

typedef struct sw_ir_writer sw_ir_writer;

/* How shardings are spelled. */
typedef struct sw_ir_form {
  const char *kind;
  const char *key;   /* attribute of arguments, results and ops */
  const char *other; /* that of the other form */
  bool constraints;  /* ops are not annotated: constraints stand around them */
  bool ends;         /* nothing but arguments and results is annotated */
  bool sums;         /* it has a word for partial sums */
  sw_rc (*begin)(sw_ir_writer *w);
  sw_rc (*put_value)(sw_ir_writer *w, const sw_sharding *s, sw_text *out);              /* argument or result */
  sw_rc (*put_values)(sw_ir_writer *w, const sw_sharding *s, uint32_t n, sw_text *out); /* of an op's results */
} sw_ir_form;

extern const sw_ir_form sw_ir_form_sdy_ops, sw_ir_form_sdy_ends, sw_ir_form_hlo, sw_ir_form_sdy;

struct sw_ir_writer {
  const sw_program *p;
  const sw_ir_tree *t;
  const sw_plan *plan;
  const sw_mesh *mesh;
  const sw_ir_form *form;
  const char *mesh_name; /* sdy */
  int64_t n_helpers;     /* constraints: names made up */
  sw_dict helpers;       /* constraints: name, block and sharding to number */
  SW_ARRAY(sw_ir_read) reads;
  const char **renamed; /* constraints: by use of a name, what it becomes; NULL: nothing else */
  sw_id *said;          /* constraints: by name, what stands behind the op that gives it (constraints.c) */
  sw_ir_span *types;    /* constraints: by name, its type in the text; empty: not known */
  uint32_t *first_slot; /* constraints: by op, of a function: where its names begin in `said` */
  sw_route_cache *routes;
  sw_dict steps; /* constraints: type and shardings of a step to the number of its function (written.c) */
  int64_t n_steps, n_channels;
  const char *step_name;      /* of these functions, less the number */
  sw_sharding **completed;    /* constraints: by value, of a partial one: in which sharding it is said; else NULL */
  const sw_ir_call **call_of; /* constraints: by op of the graph, the innermost call that it stands in; NULL: none */
  bool is_split;              /* constraints: every function is cut in one way */
  bool *named;                /* constraints: by value, those that a name in the text stands for */
  bool *kept;      /* sdy: by value, is it annotated, and does the plan keep that? NULL: not yet looked for */
  sw_grid grid;    /* hlo */
  sw_sdy_text sdy; /* what the text says already */
  sw_ir_edits edits;
  sw_arena arena;
  sw_diag *d;
};

/* Does the op give one of its operands, or what that was made of, as it is? */
bool sw_ir_changes_nothing(const sw_graph *g, const sw_op *op);

/* Is it a symbol of the module? */
bool sw_ir_is_taken(const sw_ir_tree *t, const char *name);
/* The greatest number behind such words in the text; -1: there is none. */
int64_t sw_ir_last_number(const sw_ir_tree *t, const char *words);
/* A line at the beginning of the module. */
SW_CHECKED sw_rc sw_ir_write_at_top(sw_ir_writer *w, const char *line);

/* --- constraints: in which shardings values are said (completed.c) */

/* way[0 .. *n), of SW_MAX_ROUTE_STEPS: the shardings that a value goes through on the plan's way from how it is made to
 * how a use wants it, without those that a constraint cannot say. A compiler that is told the last one alone finds a
 * way of its own. */
SW_CHECKED sw_rc sw_ir_way_to(sw_ir_writer *w, sw_value_use use, sw_id id, sw_sharding *way, int *n);
sw_sharding sw_ir_without_partial(sw_sharding s);
/* Fills w->completed. */
SW_CHECKED sw_rc sw_ir_find_completed(sw_ir_writer *w);
void sw_ir_sharding_said(const sw_ir_writer *w, sw_id id, sw_sharding *s);
/* Is a partial value made in the sharding in which it is said, element by element of one that is said in that? Else it
 * is completed as it is cut: a compiler that is told what comes after exchanges operands for it. */
bool sw_ir_is_made_so(const sw_ir_writer *w, const sw_value *v);

/* --- constraints: steps that are written out (written.c) */

/* The collective that brings a value from one sharding to the other before the op, if it is one that a compiler would
 * not find and that can be written out; else NULL. `type_text`: the value's type in the text; empty: not known. */
SW_CHECKED sw_rc sw_ir_find_written(sw_ir_writer *w, const sw_ir_op *o, sw_ir_span type_text, const sw_type *type,
                                    const sw_sharding *from, const sw_sharding *to, const sw_collective **out);
/* sdy.manual_computation(NAME) ...: an op with one result. */
SW_CHECKED sw_rc sw_ir_put_written(sw_ir_writer *w, const sw_collective *c, const sw_type *type,
                                   const sw_sharding *from, const sw_sharding *to, const char *name, sw_text *out);

/* --- constraints: what is written (constraints.c) */

/* Constraints, in this order. made[0 .. n) is what one op of the text gives, `all` the shardings of its results. */
SW_CHECKED sw_rc sw_ir_begin_constraints(sw_ir_writer *w);
SW_CHECKED sw_rc sw_ir_constrain_results(sw_ir_writer *w, const sw_ir_made *made, size_t n, const sw_sharding *all);
SW_CHECKED sw_rc sw_ir_constrain_passed_on(sw_ir_writer *w, const sw_ir_made *made, size_t n);
/* What is read: by callees (made[0 .. n): of the whole program), by ops, by loops and the ends of their bodies, by what
 * stands in loops and choices. */
SW_CHECKED sw_rc sw_ir_read_by_calls(sw_ir_writer *w, const sw_ir_made *made, size_t n);
SW_CHECKED sw_rc sw_ir_read_by_op(sw_ir_writer *w, const sw_ir_made *made, size_t n);
SW_CHECKED sw_rc sw_ir_read_by_loops(sw_ir_writer *w);
SW_CHECKED sw_rc sw_ir_read_in_regions(sw_ir_writer *w);
SW_CHECKED sw_rc sw_ir_constrain_reads(sw_ir_writer *w);

#endif
