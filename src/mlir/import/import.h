/* From a syntax tree to a graph: what the parts of the importer share.
 *
 * The main function is walked op by op on a stack of frames; a call opens a frame of the callee with slots of its own,
 * so that calls are written out in place. Ops find their importer by the rows of dialects (dialect.h); an importer
 * reads attributes from the text and adds ops to the graph.
 */
#ifndef MLIR_IMPORT_H_
#define MLIR_IMPORT_H_

#include "mlir/import/dense.h"
#include "mlir/text/resolve.h"
#include "propagate/factor_rule.h"
#include "shardwright/program.h"

typedef struct sw_importer sw_importer;

/* One walk through a function: its values so far. */
typedef struct sw_ir_instance {
  uint32_t function;
  sw_id *slots;       /* -1: none yet */
  const char *prefix; /* of names, "" for main */
  uint32_t call;      /* 1 + the call (of sw_importer) that opened it; 0: main */
} sw_ir_instance;

enum { SW_IM_MOST_DIALECTS = 24 };

/* A region on scalars that is written out on tensors (vectorize.h): the shape that they get, and the elements for which
 * it is gone through, a loop's or branch's; -1: all. */
typedef struct sw_im_vectorized {
  sw_type shape;
  sw_id active;
} sw_im_vectorized;

/* What all parts of the importer see. What a pass of the walk keeps is in `passes` (passes.h), what a dialect keeps in
 * its state. */
struct sw_importer {
  const sw_ir_tree *t;
  const sw_ir_names *names;
  const sw_program_options *o;
  sw_graph *g;
  sw_diag *d;
  sw_arena keep, scratch; /* of the import; of one op */
  uint32_t main, module;
  sw_mesh own_mesh;              /* that the text declares; no axes: there is none */
  bool has_named_meshes;         /* shardings are about them, and not about a grid */
  uint32_t open_axes;            /* of the mesh that the text declares: their sizes are not known */
  bool by_device;                /* in a manual computation: collectives are ops of one device */
  struct sw_im_cut_program *cut; /* of a program that is partitioned already; NULL: it is whole (local.h) */
  sw_im_vectorized *vectorized;  /* a region that is being written out; NULL: none is */
  bool alone;                    /* one op, for its rule: dialects' hooks are not asked */
  struct sw_im_passes *passes;
  void *states[SW_IM_MOST_DIALECTS]; /* dialect.h */
};
/* For main; `from` otherwise is the importer of the text around what is read on its own. */
SW_CHECKED sw_rc sw_im_init(sw_importer *m, const sw_importer *from);

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
/* The function that is walked; NULL: nothing is walked yet. */
sw_ir_instance *sw_im_here(const sw_importer *m);
/* How many blocks are open: one more after an op that was a call. Is one of them of a loop or choice? */
size_t sw_im_depth(const sw_importer *m);
bool sw_im_in_control_flow(const sw_importer *m);
/* Walk a block of the op, whose arguments have values; `leave` is told what its terminator `ret` gives. */
typedef sw_rc (*sw_im_leave)(sw_importer *m, uint32_t op, void *state, uint32_t ret, const sw_id *values, uint32_t n);
SW_CHECKED sw_rc sw_im_enter_block(sw_importer *m, uint32_t op, uint32_t block, sw_im_leave leave, void *state);
/* The op's block as a part of the function that is walked, its arguments being these; `leave` NULL: what it returns are
 * the op's results. */
SW_CHECKED sw_rc sw_im_enter_part(sw_importer *m, uint32_t op, const sw_id *args, sw_im_leave leave);
/* The block's ops at once, each by `step`, with `args` for its arguments: what it returns is in out[0 .. *n), of
 * SW_MAX_RESULTS. */
SW_CHECKED sw_rc sw_im_run_block(sw_importer *m, uint32_t op, uint32_t block, const sw_id *args,
                                 sw_rc (*step)(sw_importer *m, uint32_t op), sw_id *out, uint32_t *n);
/* How many results the text has been told to have; those told from there on are not what its ops make of themselves:
 * the text says how they are cut. */
size_t sw_im_told(const sw_importer *m);
void sw_im_disown_from(sw_importer *m, size_t told);
/* An op of the graph is a collective that one device takes part in, which stands at op `text`. Is it? Ops are told in
 * ascending order. */
SW_CHECKED sw_rc sw_im_note_collective(sw_importer *m, sw_id op, uint32_t text);
bool sw_im_collective_of(const sw_importer *m, sw_id op, uint32_t *text);
sw_span sw_im_place(const sw_importer *m, uint32_t op);
/* What the row says; opaque without one. */
SW_CHECKED sw_rc sw_im_import_by_row(sw_importer *m, const sw_ir_row *row, uint32_t op);
#define SW_IM_FAIL_AT(m, at, ...) SW_FAIL_INPUT((m)->d, sw_ir_place((m)->t, (at)), __VA_ARGS__)
#define SW_IM_FAIL(m, op, ...) SW_FAIL_INPUT((m)->d, sw_im_place((m), (op)), __VA_ARGS__)

/* The value that operand `i` is. */
sw_id sw_im_operand(const sw_importer *m, uint32_t op, uint32_t i);
SW_CHECKED sw_rc sw_im_operand_count(const sw_importer *m, uint32_t op, uint32_t least, uint32_t most);
/* All operands, in the scratch arena. */
SW_CHECKED sw_rc sw_im_all_operands(sw_importer *m, uint32_t op, const sw_id **out);
/* The same; with `most` > 0 that many, of as many or more; -1: none. */
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
/* Those of a constant: elements in `bytes`, or (splat) the one that stands for all; borrowed. */
void sw_im_value(sw_im_attrs *a, const sw_type *t, const void *bytes, bool splat);
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
/* One of pairs, low and high for each dim, by its type or its brackets: attribute `name`. */
SW_CHECKED sw_rc sw_im_pairs(sw_importer *m, uint32_t op, const char *name, sw_ir_span value, const int64_t **out,
                             int *n);
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
/* A composite's decomposition, written out. */
SW_CHECKED sw_rc sw_im_decompose(sw_importer *m, uint32_t op);

/* The op that combines two values by the reduction. */
sw_opcode sw_im_combiner(sw_reduction kind);
/* What a region of one scalar op computes; false: something else. */
bool sw_im_region_kind(const sw_importer *m, uint32_t region, sw_reduction *out);
bool sw_im_word_kind(const sw_importer *m, sw_ir_span name, sw_dtype t, sw_reduction *out);
/* Does the region return its second argument as it is? */
bool sw_im_region_replaces(const sw_importer *m, uint32_t region);
/* What an op `applies` in place of a region; empty: it has no such word. */
sw_ir_span sw_ir_applied(const sw_ir_tree *t, const sw_ir_op *o);
/* The row behind `applies`, of an op that has it in place of a region; NULL: it has not. */
const sw_ir_row *sw_im_applied(const sw_importer *m, const sw_ir_op *o, sw_ir_span *name);

/* The file of custom rules, and the rule of an op: its own, or the file's for its name or target; *out stays where
 * there is none. */
SW_CHECKED sw_rc sw_im_open_rules(sw_importer *m);
SW_CHECKED sw_rc sw_im_rule_of(sw_importer *m, uint32_t op, const char *name, sw_factor_rule **out);
/* The rule of an op that works element by element, as far as is known of its dialect: all of chlo's, and map; *out
 * stays where it is another. */
SW_CHECKED sw_rc sw_im_elementwise_rule(sw_importer *m, uint32_t op, sw_factor_rule **out);
/* The same as loops. Sizes that the rule leaves open are filled in. */
SW_CHECKED sw_rc sw_im_loops_of_rule(sw_importer *m, uint32_t op, sw_factor_rule *rule, const sw_type *operands,
                                     int n_operands, const sw_type *results, int n_results, const sw_loop_nest **out);
/* Import rows that several dialects have. */
#define SW_IR_IMPORTER(name) SW_CHECKED sw_rc name(sw_importer *m, const sw_ir_row *row, uint32_t op)
SW_IR_IMPORTER(sw_im_simple);
SW_IR_IMPORTER(sw_im_identity);
SW_IR_IMPORTER(sw_im_optimization_barrier);
SW_IR_IMPORTER(sw_im_constant);
SW_IR_IMPORTER(sw_im_tuple);
SW_IR_IMPORTER(sw_im_get_tuple_element);
SW_IR_IMPORTER(sw_im_named_computation);
SW_IR_IMPORTER(sw_im_call);
SW_IR_IMPORTER(sw_im_custom_call);
SW_IR_IMPORTER(sw_im_return);
SW_IR_IMPORTER(sw_im_while);
SW_IR_IMPORTER(sw_im_case);
/* The end of a region of a loop or choice; `ret` is its terminator. */
SW_CHECKED sw_rc sw_im_leave_region(sw_importer *m, uint32_t ret, const sw_id *values, uint32_t n);

/* --- other parts ------------------------------------------------------------------------------------------------- */

/* Where an op comes from in the user's program: through names, calls and fusions to a file; one of the user's own
 * before those of libraries. */
SW_CHECKED sw_rc sw_im_location(sw_importer *m, sw_ir_span loc, sw_source *out);
SW_CHECKED sw_rc sw_im_locate_arg(sw_importer *m, sw_ir_span loc, sw_id arg);
/* The name in loc("name"...), or empty. */
sw_ir_span sw_im_location_name(const sw_importer *m, sw_ir_span loc);

/* The name that people know an argument by (of the text, when it has no other), and that name made unique. Both live in
 * the scratch arena. */
SW_CHECKED sw_rc sw_im_arg_label(sw_importer *m, uint32_t i, const char **out);
SW_CHECKED sw_rc sw_im_arg_name(sw_importer *m, uint32_t i, const char **out);

/* Does an op that hands values on say shardings of all of them? They are then values of their own. */
bool sw_im_says_shardings(const sw_importer *m, uint32_t op, const sw_id *values, uint32_t n);
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
/* Only the first one of the key; at the op. */
SW_CHECKED sw_rc sw_im_warn_once(sw_importer *m, uint32_t op, const char *key, const char *fmt, ...) SW_PRINTF(4, 5);

/* The attributes of argument `i` of a function: written with it, or in arg_attrs. */
sw_ir_span sw_im_arg_attrs(const sw_ir_tree *t, const sw_ir_op *function, uint32_t i);

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
