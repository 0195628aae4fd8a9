/* From a syntax tree to a graph: what the parts of the importer share.
 *
 * The main function is walked op by op on a stack of frames; a call opens a frame of the callee with slots of its own,
 * so that calls are written out in place. Ops find their importer by the rows of dialects (dialect.h); an importer
 * reads attributes from the text and adds ops to the graph.
 */
#ifndef IO_MLIR_IMPORT_H_
#define IO_MLIR_IMPORT_H_

#include "io/mlir/import/dense.h"
#include "io/mlir/text/resolve.h"
#include "shardwright/program.h"

typedef struct sw_importer sw_importer;

/* One walk through a function: its values so far. */
typedef struct sw_ir_instance {
  uint32_t function;
  sw_id *slots;       /* -1: none yet */
  const char *prefix; /* of names, "" for main */
  uint32_t call;      /* 1 + the call (of sw_importer) that opened it; 0: main */
} sw_ir_instance;

typedef enum sw_ir_frame_kind {
  SW_IR_IN_MAIN,
  SW_IR_IN_CALL,
  SW_IR_IN_TEST,
  SW_IR_IN_LOOP,
  SW_IR_IN_BRANCH,
  SW_IR_IN_OTHER, /* `leave` says */
  SW_IR_IN_BODY,
  SW_IR_IN_PART /* of an op that is its region: sdy.named_computation */
} sw_ir_frame_kind;

/* A block that is being walked. */
typedef struct sw_ir_walk {
  sw_ir_frame_kind kind;
  uint32_t op;     /* the call, loop or choice that opened it */
  uint32_t cursor; /* next op */
  uint32_t region;
  sw_ir_instance *instance;      /* of the block's values */
  struct sw_ir_control *control; /* of the loop or choice; NULL in functions */
  /* Its end, when it is of no kind above: `ret` is its terminator. */
  sw_rc (*leave)(sw_importer *m, const struct sw_ir_walk *w, uint32_t ret, const sw_id *values, uint32_t n);
  void *state; /* of that */
} sw_ir_walk;

/* Results of an op of the text as values of the graph, for the writer; a function called twice has two of each. */
typedef struct sw_ir_made {
  uint32_t op, result, call; /* call: 1 + that in which the op stands; 0: in main */
  sw_id value;
  bool own; /* made by an op of its own: not what a call or an identity passes on */
} sw_ir_made;

/* Value `index` that a loop of the text carries, for the writer: ENTER and YIELD of the graph; `ret` ends its body. */
typedef struct sw_ir_carried {
  uint32_t op, ret, index, call;
  sw_id enter, yield;
} sw_ir_carried;

/* A name from around that a loop or choice of the text reads, for the writer, and the ENTER of the graph that brings
 * its value in; of a choice in this branch. */
typedef struct sw_ir_captured {
  uint32_t op, branch, slot, call;
  sw_id enter;
} sw_ir_captured;

/* A call, or composite, that was written out: ops [first_op, end_op) of the graph. */
typedef struct sw_ir_call {
  uint32_t op, function, parent; /* ops of the text; the call in which this one stands, as above */
  uint32_t first_passed;         /* of `passed`: its arguments */
  sw_id first_op, end_op;
} sw_ir_call;

/* What became of the text, for the writer; in the order of the walk, calls in the order in which they begin. */
typedef struct sw_ir_trace {
  SW_ARRAY(sw_ir_made) made;
  SW_ARRAY(sw_ir_carried) carried;
  SW_ARRAY(sw_ir_captured) captured;
  SW_ARRAY(sw_ir_call) calls;
  SW_ARRAY(sw_id) passed; /* values that calls give to functions */
} sw_ir_trace;
void sw_ir_trace_free(sw_ir_trace *t);

/* See tuple.h. */
typedef struct sw_ir_tuple {
  uint32_t n, depth;
  const sw_id *items;
} sw_ir_tuple;

/* A collective that one device takes part in: an op of the graph and where it stands. */
typedef struct sw_im_collective_at {
  sw_id op;
  uint32_t text;
} sw_im_collective_at;

enum { SW_IM_MOST_DIALECTS = 24 };

struct sw_importer {
  const sw_ir_tree *t;
  const sw_ir_names *names;
  const sw_program_options *o;
  sw_graph *g;
  sw_arena keep, scratch; /* of the import; of one op */
  SW_ARRAY(sw_ir_walk) walks;
  int64_t n_calls; /* that have been written out */
  sw_ir_trace trace;
  SW_ARRAY(sw_ir_tuple) tuples;
  sw_dict taken;  /* names of values */
  sw_dict warned; /* of unknown ops and targets */
  sw_dict places; /* location to index of `locations` */
  SW_ARRAY(sw_span) locations;
  uint32_t main, module;
  struct sw_roles *roles;                /* of main's arguments, while they are read; NULL: not of a program */
  sw_ir_span *declared, *declared_attrs; /* types of main's results and their dictionaries; keep arena */
  uint32_t n_declared;
  char *rules;                               /* text of the rules file; owned; NULL: none */
  sw_arena *files;                           /* names of files in locations; NULL: the graph's, which outlives them */
  sw_mesh own_mesh;                          /* that the text declares; no axes: there is none */
  bool has_named_meshes;                     /* shardings are about them, and not about a grid */
  uint32_t open_axes;                        /* of the mesh that the text declares: their sizes are not known */
  bool by_device;                            /* in a manual computation: collectives are ops of one device */
  struct sw_im_cut_program *cut;             /* of a program that is partitioned already; NULL: it is whole */
  SW_ARRAY(sw_im_collective_at) collectives; /* in ascending order */
  const struct sw_im_part *within;           /* the one that is being read */
  int64_t n_elided;
  const sw_type *lifted;     /* the shape that a region's scalars get (lift.h); NULL: none is being written out */
  struct sw_im_split *split; /* the op whose tuple is given element by element (tuple.h); NULL: none */
  sw_id active;              /* in it: the elements for which it is gone through, a loop's or branch's; -1: all */
  uint32_t n_returned;       /* what that region returned */
  sw_id returned[SW_MAX_RESULTS];
  void *states[SW_IM_MOST_DIALECTS]; /* dialect.h */
  sw_diag *d;
};

typedef struct sw_dialect sw_dialect;

typedef struct sw_ir_row sw_ir_row;
typedef sw_rc (*sw_ir_import)(sw_importer *m, const sw_ir_row *row, uint32_t op);

/* One attribute of a simple op: where it stands in the text. */
typedef struct sw_ir_attr_row {
  sw_attr_key key;
  const char *generic; /* NULL: follows from the result's type */
  const char *custom;
  enum { SW_IR_REQUIRED, SW_IR_MAY_LACK, SW_IR_ELSE_ZERO } absent;
} sw_ir_attr_row;

enum { SW_IR_ROW_ATTRS = 4 };

/* What is known of an op beside what it becomes. */
enum {
  SW_IR_TUPLES = 1,    /* operands may be tuples */
  SW_IR_UNPLANNED = 2, /* operands may have no tensor */
  SW_IR_STORAGE = 4,   /* elements of quantized types stay as they are stored */
  SW_IR_HANDS_ON = SW_IR_TUPLES | SW_IR_STORAGE,
  SW_IR_SCALARS = 8,   /* works element by element, also on tensors in place of a region's scalars */
  SW_IR_SPREADS = 16,  /* only changes the shape of a region's scalar */
  SW_IR_PASSES = 32,   /* its result is its operand, of which it says something */
  SW_IR_BY_DEVICE = 64 /* a collective, or the number of a device: of what one device does */
};

struct sw_ir_row {
  const char *name; /* with its dialect; of a custom call its target */
  sw_ir_import import;
  sw_opcode code;    /* of importers that read it */
  int most_operands; /* further ones are dropped (shapes given as values); 0: all */
  unsigned flags;
  sw_ir_attr_row attrs[SW_IR_ROW_ATTRS];
};

/* The row of an op's name; NULL: unknown. */
const sw_ir_row *sw_ir_row_of(const sw_ir_tree *t, sw_ir_span name);

/* Does the op end its block? */
bool sw_ir_is_return(const sw_ir_tree *t, const sw_ir_op *o);

/* --- what importers use ------------------------------------------------------------------------------------------ */

static inline const sw_ir_op *sw_im_op(const sw_importer *m, uint32_t op) { return &m->t->ops.at[op]; }
static inline sw_ir_walk *sw_im_top(const sw_importer *m) { return &m->walks.at[m->walks.n - 1]; }
sw_span sw_im_place(const sw_importer *m, uint32_t op);
/* What the row says; opaque without one. */
SW_CHECKED sw_rc sw_im_import_by_row(sw_importer *m, const sw_ir_row *row, uint32_t op);
#define SW_IM_FAIL_AT(m, at, ...) SW_FAIL_INPUT((m)->d, sw_ir_place((m)->t, (at)), __VA_ARGS__)
#define SW_IM_FAIL(m, op, ...) SW_FAIL_INPUT((m)->d, sw_im_place((m), (op)), __VA_ARGS__)

/* The value that operand `i` is. */
sw_id sw_im_operand(const sw_importer *m, uint32_t op, uint32_t i);
SW_CHECKED sw_rc sw_im_operand_count(const sw_importer *m, uint32_t op, uint32_t least, uint32_t most);
/* All operands, in the scratch arena; with `most` > 0 that many, of as many or more; -1: none. */
SW_CHECKED sw_rc sw_im_operands(sw_importer *m, uint32_t op, int most, const sw_id **out, int *n);
/* Say what result `i` (over all names) of an op is; `own`: a value that the op itself makes. */
SW_CHECKED sw_rc sw_im_bind(sw_importer *m, uint32_t op, uint32_t i, sw_id value, bool own);
SW_CHECKED sw_rc sw_im_result_type(sw_importer *m, uint32_t op, int i, sw_type *out);
/* Is a type that which the text says, as far as it does? Sizes of `?` follow from operands. */
bool sw_im_type_fits(const sw_type *said, const sw_type *is);
/* What result `i` (over all names) of an op is; NULL: it has no name. */
sw_id *sw_im_result(const sw_importer *m, uint32_t op, uint32_t i);

/* Attributes of the op to be added; more than fit is an internal error that adding finds. */
enum { SW_IM_ATTRS = 16 };
typedef struct sw_im_attrs {
  sw_attr at[SW_IM_ATTRS];
  int n;
} sw_im_attrs;
void sw_im_int(sw_im_attrs *a, sw_attr_key k, int64_t v);
void sw_im_text(sw_im_attrs *a, sw_attr_key k, const char *v);              /* borrowed */
void sw_im_numbers(sw_im_attrs *a, sw_attr_key k, const int64_t *v, int n); /* borrowed; n < 0: absent */
void sw_im_shape(sw_im_attrs *a, const sw_type *t);
/* The list at `value` as attribute `k`; absent: not added. */
SW_CHECKED sw_rc sw_im_ints(sw_importer *m, sw_im_attrs *a, sw_attr_key k, sw_ir_span value);
/* The same, and where it is absent a list of none. */
SW_CHECKED sw_rc sw_im_ints_or_none(sw_importer *m, sw_im_attrs *a, sw_attr_key k, sw_ir_span value);
/* The number at `value`, which `what` describes; *out stays where it is absent. */
SW_CHECKED sw_rc sw_im_whole(sw_importer *m, sw_ir_span value, const char *what, const char *name, int64_t *out);
/* The last word of a value in small letters, in the scratch arena: three_fry of #stablehlo<rng_algorithm THREE_FRY>. */
const char *sw_im_small_word(sw_importer *m, sw_ir_span value);
/* A list of numbers in the scratch arena; *n = -1 when absent. */
SW_CHECKED sw_rc sw_im_list(sw_importer *m, sw_ir_span value, const int64_t **out, int *n);
/* A text without its quotes, in the scratch arena. */
const char *sw_im_string(sw_importer *m, sw_ir_span s);

/* `base`, or base.2, base.3, ...: a name that nothing has yet; in the scratch arena. */
SW_CHECKED sw_rc sw_im_fresh_name(sw_importer *m, const char *base, const char **out);

/* Add an op of the graph that stands for `op` of the text: its results are those of the op, or with `part` helpers that
 * are named after it. */
typedef struct sw_im_add {
  sw_opcode code;
  int n_operands;
  const sw_id *operands;
  const sw_im_attrs *attrs; /* NULL: none */
  const char *part;         /* of helpers: suffix of the name; NULL: this op gives the results */
  int n_types;              /* opaque ones */
  const sw_type *types;
  const sw_loop_nest *nest;        /* generic ones */
  const sw_collective *collective; /* of a partitioned program, as are: */
  int n_refs;
  const sw_axis_ref *refs;
} sw_im_add;
SW_CHECKED sw_rc sw_im_emit(sw_importer *m, uint32_t op, const sw_im_add *add, sw_id *results);
/* The same for an op of the graph that gives at most one value: result `result` of the op of the text (which is bound
 * to it), or with `part` a helper named after that. */
SW_CHECKED sw_rc sw_im_emit_one(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t result, sw_id *out);
/* The same with all `n` results of the op of the graph, helpers named after its kind. */
SW_CHECKED sw_rc sw_im_help_all(sw_importer *m, uint32_t op, const sw_im_add *add, uint32_t n, sw_id *results);
/* Is the value a constant that is the neutral element of the reduction? */
bool sw_ir_is_neutral(const sw_graph *g, sw_id value, sw_reduction kind);
/* The op as an opaque one, with a warning the first time. */
SW_CHECKED sw_rc sw_im_opaque(sw_importer *m, uint32_t op, const char *target);
/* The same without a warning: nothing has to be known of it. */
SW_CHECKED sw_rc sw_im_opaque_known(sw_importer *m, uint32_t op, const char *target);

/* Walk a function in place of the op, whose operands are its arguments. */
SW_CHECKED sw_rc sw_im_inline(sw_importer *m, uint32_t op, sw_ir_span callee);

/* The op that combines two values by the reduction. */
sw_opcode sw_im_combiner(sw_reduction kind);
/* What a region of one scalar op computes; false: something else. */
bool sw_im_region_kind(const sw_importer *m, uint32_t region, sw_reduction *out);
bool sw_im_word_kind(const sw_importer *m, sw_ir_span name, sw_dtype t, sw_reduction *out);
/* Does the region return its second argument as it is? */
bool sw_im_region_replaces(const sw_importer *m, uint32_t region);
/* The row behind `applies`, of an op that has it in place of a region; NULL: it has not. */
const sw_ir_row *sw_im_applied(const sw_importer *m, const sw_ir_op *o, sw_ir_span *name);

/* The file of custom rules, and the rule of an op: its own, or the file's for its name or target; NULL: none. */
SW_CHECKED sw_rc sw_im_open_rules(sw_importer *m);
const char *sw_im_rule_of(sw_importer *m, uint32_t op, const char *target);
/* The rule of an op that works element by element, as far as is known of its dialect: all of chlo's, and map; NULL: it
 * is another. */
const char *sw_im_elementwise_rule(sw_importer *m, uint32_t op);
SW_CHECKED sw_rc sw_im_read_rule(sw_importer *m, uint32_t op, const char *text, const sw_type *operands, int n_operands,
                                 const sw_type *results, int n_results, const sw_loop_nest **out);
/* Import rows that several dialects have. */
#define SW_IR_IMPORTER(name) SW_CHECKED sw_rc name(sw_importer *m, const sw_ir_row *row, uint32_t op)
SW_IR_IMPORTER(sw_im_simple);
SW_IR_IMPORTER(sw_im_identity);
SW_IR_IMPORTER(sw_im_constant);
SW_IR_IMPORTER(sw_im_tuple);
SW_IR_IMPORTER(sw_im_get_tuple_element);
SW_IR_IMPORTER(sw_im_named_computation);
SW_IR_IMPORTER(sw_im_call);
SW_IR_IMPORTER(sw_im_composite);
SW_IR_IMPORTER(sw_im_custom_call);
SW_IR_IMPORTER(sw_im_return);
SW_IR_IMPORTER(sw_im_while);
SW_IR_IMPORTER(sw_im_case);
/* The end of a region of a loop or choice; `ret` is its terminator. */
SW_CHECKED sw_rc sw_im_leave_region(sw_importer *m, uint32_t ret, const sw_id *values, uint32_t n);

/* --- other parts ------------------------------------------------------------------------------------------------- */

/* Where an op comes from in the user's program: through names, calls and fusions to a file. */
SW_CHECKED sw_rc sw_im_location(sw_importer *m, sw_ir_span loc, sw_span *out);
/* The name in loc("name"...), or empty. */
sw_ir_span sw_im_location_name(const sw_importer *m, sw_ir_span loc);

/* The name that people know an argument by (of the text, when it has no other), and that name made unique. Both live in
 * the scratch arena. */
SW_CHECKED sw_rc sw_im_arg_label(sw_importer *m, uint32_t i, const char **out);
SW_CHECKED sw_rc sw_im_arg_name(sw_importer *m, uint32_t i, const char **out);

/* What an op's attributes say of its results, which are bound. */
SW_CHECKED sw_rc sw_im_annotate_results(sw_importer *m, uint32_t op);
/* sdy.sharding or mhlo.sharding among attributes. */
sw_ir_span sw_im_sharding_attr(const sw_ir_tree *t, sw_ir_span attrs);
/* Does the op only say something about its operand? */
bool sw_im_sees_through(const sw_ir_tree *t, const sw_ir_op *o);
/* Attributes of the module; empty: it has none. A whole number among them; false: it is not there. */
sw_ir_span sw_im_module_attrs(const sw_importer *m);
bool sw_im_module_number(const sw_importer *m, const char *key, int64_t *out);
void sw_im_warn(sw_importer *m, uint32_t at, const char *fmt, ...) SW_PRINTF(3, 4);

/* The attributes of argument `i` of a function: written with it, or in arg_attrs. */
sw_ir_span sw_im_arg_attrs(const sw_ir_tree *t, const sw_ir_op *function, uint32_t i);
/* Fill `declared` and `declared_attrs` of the importer. */
SW_CHECKED sw_rc sw_im_declare_results(sw_importer *m);

/* What to do about an unknown size that has a bound: tensors of that size, whose elements beyond the real size the
 * program itself has to leave out, are planned; ops do not do that by themselves. "" where the text has no bounds. */
const char *sw_im_bound_hint(const sw_importer *m);

/* The body of a manual computation as a graph of its own, on the shapes of one device, and what read it. The second: of
 * a region, whose arguments are those of its block and then what is in `n` slots around it. */
SW_CHECKED sw_rc sw_im_read_body(sw_importer *m, uint32_t op, sw_importer *reader, sw_graph **body);
SW_CHECKED sw_rc sw_im_read_region(sw_importer *m, uint32_t op, uint32_t block, const uint32_t *slots, uint32_t n,
                                   sw_importer *reader, sw_graph **body);
/* Ops of a block, to be read into a graph of their own: all of `ops` in the order of the text, of which `in` give what
 * comes in and `out` take what goes out; `captured` are slots of values from around. */
typedef struct sw_im_part {
  uint32_t n_ops, *ops;           /* in the order of the text; with constants that stand outside and are read inside */
  uint32_t n_in, *in;             /* of them: those that go in */
  uint32_t n_out, *out;           /* those that go out */
  uint32_t n_captured, *captured; /* slots of values from outside */
} sw_im_part;
/* They as a graph of its own, and what read it: arguments are what goes in and then what is captured, outputs what
 * goes out. To be closed by sw_im_close_body. */
SW_CHECKED sw_rc sw_im_read_part(sw_importer *m, const sw_im_part *part, sw_importer *reader, sw_graph **body);

void sw_im_close_body(sw_importer *reader, sw_graph *body);

SW_CHECKED sw_rc sw_im_import(sw_importer *m);
void sw_im_free(sw_importer *m);

#endif
