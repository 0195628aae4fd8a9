/* The op graph: arguments, ops in a line, outputs, and the source span of each.
 *
 * Everything lives in one arena; ids are dense indices; a value is defined once, by an op or as an argument; ops stand
 * in program order and use earlier values only; what a loop or a choice holds are the ops of a frame of it. A graph is
 * built through sw_graph_add_* (which infer types, build loops and maps, expand sugar) and then sealed, after which it
 * is read-only and its use lists exist. sw_graph_verify is the executable definition of all this.
 */
#ifndef SHARDWRIGHT_GRAPH_H_
#define SHARDWRIGHT_GRAPH_H_

#include "shardwright/collective.h"
#include "shardwright/op.h"

typedef int32_t sw_id; /* of a value, op or frame; -1 = none */

typedef struct sw_type {
  sw_dtype dtype;
  int32_t rank;
  const int64_t *dims; /* -1: not known (read, refused by planning) */
} sw_type;

SW_API int64_t sw_type_elements(const sw_type *t); /* -1 when it overflows or a size is unknown */
SW_API int64_t sw_type_bytes(const sw_type *t);    /* likewise */
SW_API bool sw_type_equal(const sw_type *a, const sw_type *b);
SW_API bool sw_type_same_shape(const sw_type *a, const sw_type *b); /* the same extents, whatever the dtypes */
SW_API void sw_type_print(const sw_type *t, sw_text *out);          /* f32[2,4,8] */

typedef enum sw_value_kind {
  SW_VALUE_INPUT,
  SW_VALUE_PARAMETER,
  SW_VALUE_STATE,        /* donated to an output: see sw_graph.alias */
  SW_VALUE_CONSTANT,     /* result of a constant op */
  SW_VALUE_INTERMEDIATE, /* result of any other op */
} sw_value_kind;

/* An operand slot that reads a value: operand `index` of `op`, or output `index` of the graph when op = -1. */
typedef struct sw_value_use {
  sw_id op;
  int32_t index;
} sw_value_use;

/* A place in a call stack, or one of several that an op was put together from. Equal ones are one, callers included. */
typedef struct sw_call_frame {
  sw_span at;           /* line 0: only the function is known */
  const char *function; /* NULL: not said */
  bool library;         /* of an installed package or of Python itself */
  bool beside;          /* the next is no caller but another origin */
  const struct sw_call_frame *next;
} sw_call_frame;

/* Where an op comes from in the program that the model came from, as far as that says it. */
typedef struct sw_source {
  sw_span at;                 /* a line of the user's own files before one of a library's */
  const sw_call_frame *stack; /* all of them, the innermost first; NULL where there is nothing beyond `at` */
  const char *scope; /* the scopes that it stands in and what it is there: "jit(step)/block_3/attn/dot_general"; NULL */
} sw_source;

typedef struct sw_value {
  const char *name; /* unique among values; never NULL */
  sw_type type;
  sw_value_kind kind;
  sw_id def;         /* op, or -1 for an argument */
  int32_t def_index; /* which result, or which argument */
  sw_span span;
  const sw_source *location; /* of an argument, in the program that the model came from; NULL: not known */
  bool on_host;              /* it lies in memory of the host; filled by sw_graph_seal */
  int32_t n_uses;            /* filled by sw_graph_seal, in program order, outputs last */
  const sw_value_use *uses;
} sw_value;

/* The inside of a loop, or of one branch of a choice (op.h: control flow): ops begin < op < end. */
typedef struct sw_frame {
  sw_opcode kind;  /* SW_OP_WHILE or SW_OP_CASE */
  sw_id parent;    /* frame that it stands in; -1: none */
  sw_id opened_by; /* WHILE, CASE */
  int32_t branch;  /* of a CASE, from 0 */
  sw_id begin;     /* WHILE, CASE or OTHERWISE: the op before its first */
  sw_id test;      /* TEST of a loop; -1 */
  sw_id end;       /* OTHERWISE or END: the op after its last */
  sw_id closed_by; /* END; JOINs follow */
  int64_t trips;   /* of a loop: how often it runs; -1: not known */
  bool assumed;    /* as somebody said (sw_graph_with_trips), not the program */
} sw_frame;

/* A loop of which the program does not say how often it runs, whether somebody does or not. */
static inline bool sw_frame_is_open(const sw_frame *f) {
  return f->kind == SW_OP_WHILE && (f->trips < 0 || f->assumed);
}

/* How often a loop runs, by the name of its WHILE; "*": every loop of which nothing else is known. */
typedef struct sw_said_trips {
  const char *loop;
  int64_t trips; /* >= 0 */
} sw_said_trips;

/* Which way propagation carries shardings through an op; bits. */
typedef enum sw_direction {
  SW_DIRECTION_NONE = 0,
  SW_DIRECTION_FORWARD = 1, /* from operands */
  SW_DIRECTION_BACKWARD = 2 /* from results */,
  SW_DIRECTION_BOTH = 3,
} sw_direction;
SW_API bool sw_direction_parse(const char *text, sw_direction *out); /* "forward", "backward", "none"; not "both" */
SW_API const char *sw_direction_text(sw_direction d);

typedef struct sw_op {
  sw_opcode code;
  const char *name; /* unique among ops; the name its first result would have by default */
  int32_t n_operands, n_results, n_attrs;
  const sw_id *operands;
  const sw_id *results;
  const sw_attr *attrs;
  sw_id frame;                     /* innermost loop or branch; -1: none. Filled by sw_graph_seal, as the next one */
  int64_t repeats;                 /* how often it runs when the graph runs once: product of trips (1: not known) */
  sw_span span;                    /* in the model file */
  sw_source location;              /* in the program that the model came from, where the model says so */
  const char *function;            /* of a library, of which the op is a part (softmax, a norm, gelu): its name. The op
                                      of that name gives its result; its gradient's is NAME.grad. NULL: of none */
  sw_direction blocked;            /* ways that propagation may not go: of a barrier, else none */
  const sw_loop_nest *nest;        /* NULL for SPMD-only ops */
  const sw_collective *collective; /* SW_OP_COLLECTIVE only */
  int32_t n_refs;                  /* SHARD_START and MASK: axes whose shard index they use */
  const sw_axis_ref *refs;
} sw_op;

struct sw_request;

typedef struct sw_graph {
  sw_arena arena;
  const char *name;
  int32_t n_args, n_values, n_ops, n_outputs;
  const sw_value *values;
  const sw_op *ops;
  const sw_id *args;               /* these four and output_spans: from sw_graph_seal on */
  const sw_id *outputs;            /* values returned, in order; a value may appear twice */
  const char *const *output_names; /* one per output */
  const sw_id *alias;              /* per output: the state argument it becomes next time, or -1 */
  const sw_span *output_spans;
  int32_t n_frames;
  const sw_frame *frames; /* in the order of their begins */
  bool sealed;
  const struct sw_request *written; /* what the text asks for that the graph was read from; never NULL */
  struct sw_graph_builder *builder; /* until sealed */
  struct sw_graph_names *names;     /* behind sw_graph_value_named and sw_graph_op_named */
  const char shared;                /* a graph is shared by pointer: no struct with a const member can be assigned */
} sw_graph;

SW_API SW_CHECKED sw_rc sw_graph_create(const char *name, sw_graph **out, sw_diag *d);
SW_API void sw_graph_destroy(sw_graph *g); /* NULL allowed */

/* --- building ---------------------------------------------------------------------------------------------------- */

/* An argument. `dims` is copied. */
SW_API SW_CHECKED sw_rc sw_graph_add_arg(sw_graph *g, const char *name, sw_dtype t, int rank, const int64_t *dims,
                                         sw_value_kind kind, sw_span span, sw_id *out, sw_diag *d);

/* Where an argument comes from; borrowed for as long as the graph lives. */
SW_API void sw_graph_set_arg_location(sw_graph *g, sw_id arg, const sw_source *from);
/* It turns out to be of another kind. */
SW_API void sw_graph_set_arg_kind(sw_graph *g, sw_id arg, sw_value_kind kind);

typedef struct sw_op_spec {
  sw_opcode code;
  const char *name; /* NULL: made from the opcode and a counter */
  int32_t n_operands;
  const sw_id *operands;
  int32_t n_attrs;
  const sw_attr *attrs; /* copied deeply */
  sw_span span;
  sw_source location;
  const char *function; /* as in sw_op; copied */
  sw_direction blocked;
  int32_t n_result_names; /* 0: made from `name` */
  const char *const *result_names;
  /* GENERIC: loops, maps (text is parsed by the reader) and result dtypes are given; OPAQUE: result types are given. */
  const sw_loop_nest *nest;
  int32_t n_result_types;
  const sw_type *result_types;
  /* SPMD-only ops: result types are given too. */
  const sw_collective *collective;
  int32_t n_refs;
  const sw_axis_ref *refs;
} sw_op_spec;

/* Check operands and attributes against the registry, infer result types, build loops and maps, append.
 * The op's attributes are canonical: sorted by key, and absent ones that have a default filled in (strides get
 * one number per dim, dtype that of the operand, ...), so that readers need no defaults of their own. Equal ops share
 * attributes, types and loop nest. Sugar becomes several ops, named "name.part", the last one "name" itself; *results
 * gets the ids of the last one's results. `results` has room for SW_MAX_RESULTS. After a failure of any sw_graph_add_*
 * the graph can only be destroyed. */
enum { SW_MAX_RESULTS = 16 };
SW_API SW_CHECKED sw_rc sw_graph_add_op(sw_graph *g, const sw_op_spec *spec, sw_id *results, sw_diag *d);
/* Propagation may not go these ways through the op. */
SW_API void sw_graph_block_op(sw_graph *g, sw_id op, sw_direction ways);
/* Return `value` as the next output. alias: state argument, or -1. */
SW_API SW_CHECKED sw_rc sw_graph_add_output(sw_graph *g, const char *name, sw_id value, sw_id alias, sw_span span,
                                            sw_diag *d);
/* No more building: use lists are made, then verified. */
SW_API SW_CHECKED sw_rc sw_graph_seal(sw_graph *g, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_graph_verify(const sw_graph *g, sw_diag *d);
/* The graph with a loop, whose trips neither the program nor its counter says, taken to run so often: its ops count so
 * many times. The last of those said of a loop holds. In the arena; borrows from `g`, and is not destroyed. A name that
 * no loop has, or one whose trips are known, is SW_E_INPUT. */
SW_API SW_CHECKED sw_rc sw_graph_with_trips(const sw_graph *g, const sw_said_trips *said, sw_arena *arena,
                                            sw_graph **out, sw_diag *d);
/* The loops of which that is not known, and not said: "outer, inner"; nothing: none. */
SW_API void sw_graph_put_unknown_loops(const sw_graph *g, sw_text *out);

/* --- reading ----------------------------------------------------------------------------------------------------- */

static inline const sw_attr *sw_attr_find(const sw_attr *at, int n, sw_attr_key k) {
  for (int i = 0; i < n; i++) {
    if (at[i].key == k) return &at[i];
  }
  return NULL;
}
SW_API const sw_attr *sw_op_attr(const sw_op *op, sw_attr_key k); /* NULL when absent */
SW_API int64_t sw_op_int(const sw_op *op, sw_attr_key k, int64_t absent);
SW_API double sw_op_float(const sw_op *op, sw_attr_key k, double absent);
SW_API const char *sw_op_text(const sw_op *op, sw_attr_key k, const char *absent);
SW_API sw_precision sw_op_precision(const sw_op *op); /* of a contraction: what its attribute says */
/* What results are made of: as the opcode says, but a scatter that does not replace computes. */
SW_API sw_content sw_op_content(const sw_op *op);
/* Does the attribute say what its absence would? `a` is one of the op's. */
SW_API bool sw_op_attr_is_default(const sw_graph *g, const sw_op *op, const sw_attr *a);
/* The ints, and their number in *n; 0 and NULL when absent. */
SW_API const int64_t *sw_op_ints(const sw_op *op, sw_attr_key k, int *n);
static inline const sw_type *sw_operand_type(const sw_graph *g, const sw_op *op, int i) {
  return &g->values[op->operands[i]].type;
}
static inline const sw_type *sw_result_type(const sw_graph *g, const sw_op *op, int i) {
  return &g->values[op->results[i]].type;
}
/* Ports of an op are its operands, then its results. */
static inline sw_id sw_port_value(const sw_op *op, int port) {
  return port < op->n_operands ? op->operands[port] : op->results[port - op->n_operands];
}
static inline const sw_type *sw_port_type(const sw_graph *g, const sw_op *op, int port) {
  return &g->values[sw_port_value(op, port)].type;
}
/* The innermost loop of what stands in the frame, itself included; -1: none. */
static inline sw_id sw_loop_around(const sw_graph *g, sw_id frame) {
  while (frame >= 0 && g->frames[frame].kind != SW_OP_WHILE) frame = g->frames[frame].parent;
  return frame;
}
/* Behind which op it is known that what stands at `op` of the frame runs in this trip: the frame's CASE, or its TEST,
 * where that comes first; -1: it always does. */
static inline sw_id sw_frame_gate(const sw_graph *g, sw_id frame, sw_id op) {
  const sw_frame *f = frame < 0 ? NULL : &g->frames[frame];
  if (!f) return -1;
  return f->kind == SW_OP_CASE ? f->opened_by : op > f->test ? f->test : -1;
}
/* The frame that begins at the op: a WHILE's, or the branch behind a CASE or an OTHERWISE; -1: none. Each branch of a
 * choice but the first begins where the one before ends. */
SW_API sw_id sw_frame_begun_by(const sw_graph *g, sw_id op);
/* Is the op inside a loop (however deep)? */
SW_API bool sw_op_is_repeated(const sw_graph *g, const sw_op *op);
/* The op that makes a value; NULL for arguments. */
static inline const sw_op *sw_value_maker(const sw_graph *g, sw_id value) {
  const sw_id def = g->values[value].def;
  return def < 0 ? NULL : &g->ops[def];
}
/* A reshape to the type that its operand has. */
static inline bool sw_changes_nothing(const sw_graph *g, const sw_op *op) {
  return op->code == SW_OP_RESHAPE && sw_type_equal(sw_operand_type(g, op, 0), sw_result_type(g, op, 0));
}
/* Frame that holds a value: that of the op that makes it; -1 for arguments. */
static inline sw_id sw_value_frame(const sw_graph *g, sw_id value) {
  return g->values[value].def < 0 ? -1 : g->ops[g->values[value].def].frame;
}
/* The op that makes the value, where it is of this code; else NULL. */
static inline const sw_op *sw_value_made_by(const sw_graph *g, sw_id value, sw_opcode code) {
  const sw_id def = g->values[value].def;
  return def >= 0 && g->ops[def].code == code ? &g->ops[def] : NULL;
}
/* Does it lie in memory of the host: what is offloaded, and stacks of it that loops hand on? */
static inline bool sw_value_is_on_host(const sw_graph *g, sw_id value) { return g->values[value].on_host; }
/* Is the op of memory of the host alone: a stack that begins, is written, handed on or read there? */
static inline bool sw_op_is_on_host(const sw_graph *g, const sw_op *op) {
  return op->n_results == 1 && op->code != SW_OP_OFFLOAD && g->values[op->results[0]].on_host;
}
/* How a keep comes by what one of its operands gives. */
typedef enum sw_keep_way { SW_WAY_AGAIN, SW_WAY_KEPT, SW_WAY_FETCHED, SW_WAY_COUNT } sw_keep_way;
static inline sw_keep_way sw_keep_way_of(const sw_graph *g, const sw_op *keep, int operand) {
  const int last = keep->n_operands - 1,
            held = last - (last > 0 && sw_value_made_by(g, keep->operands[last], SW_OP_FETCH));
  return operand > held ? SW_WAY_FETCHED : operand == held ? SW_WAY_KEPT : SW_WAY_AGAIN;
}
/* The operand that a keep has of a way; -1: none. */
static inline int sw_keep_operand(const sw_graph *g, const sw_op *keep, sw_keep_way way) {
  for (int k = 0; k < keep->n_operands; k++)
    if (sw_keep_way_of(g, keep, k) == way) return k;
  return -1;
}
/* How often the value is made anew when the graph runs once. */
static inline int64_t sw_value_repeats(const sw_graph *g, sw_id value) {
  return g->values[value].def < 0 ? 1 : g->ops[g->values[value].def].repeats;
}
/* The last op that needs the value, though it may not read it: an entered value lasts as long as its loop. -1: none. */
SW_API sw_id sw_value_held_for(const sw_graph *g, sw_id value);
/* The earlier op whose strategy this one must share: all that joins bring together is cut alike. A join and the yields
 * that it reads follow its first operand. -1: none. */
SW_API sw_id sw_op_tied_to(const sw_graph *g, sw_id op);
/* What the body of a loop gives for the value that the join ends; -1: the join ends a choice. */
SW_API sw_id sw_join_yielded(const sw_graph *g, const sw_op *join);
/* What comes round for what enters a loop or choice: itself where that is only read. */
SW_API sw_id sw_entered_yields(const sw_graph *g, sw_id entered);
/* The value that this one is inside loops and choices that only read it: behind all such enters. */
SW_API sw_id sw_behind_enters(const sw_graph *g, sw_id value);
/* Is it a constant integer, on its way into loops or not? A scalar. */
SW_API bool sw_value_constant(const sw_graph *g, sw_id value, int64_t *out);
SW_API sw_id sw_graph_value_named(const sw_graph *g, const char *name); /* -1: none */
SW_API sw_id sw_graph_op_named(const sw_graph *g, const char *name);

/* Floating-point operations and bytes (operands + results) of the op when its loops have `extents` (one per loop; NULL:
 * all of them): what one device does. Bytes follow the maps. 0 for ops that a compiler makes free (reshape,
 * broadcast_in_dim, iota, constant). */
SW_API void sw_op_work(const sw_graph *g, const sw_op *op, const int64_t *extents, double *flops, double *bytes);

/* Elements of a port (operands, then results) that loops of these extents reach (NULL: all of them). */
SW_API double sw_op_reached(const sw_graph *g, const sw_op *op, int port, const int64_t *extents);
/* Does the op read no more of its first operand than it writes (gather, dynamic_slice)? */
SW_API bool sw_op_is_sparse(const sw_op *op);
/* Does it move nothing with these extents: a transpose of dims of one element? */
SW_API bool sw_op_moves_nothing(const sw_op *op, const int64_t *extents);

/* A readable listing, one op a line: %h = dot_general(%x, %w) {lhs_contract=[2]} : f32[2,4,32]. For messages and
 * tests. */
SW_API void sw_graph_print(const sw_graph *g, sw_text *out);

#endif
