/* A program as tensors and steps for propagation (propagate/flow.h): its values where they stand in the text, one
 * function at a time, with the shardings that the text says. */
#ifndef MLIR_PROGRAM_FLOW_H_
#define MLIR_PROGRAM_FLOW_H_

#include "mlir/import/import.h"
#include "mlir/shardy/shardy.h"
#include "mlir/write/edits.h"
#include "propagate/flow.h"
#include "propagate/flow/origins.h"

/* Where a sharding is written in the text, and of which tensors. */
typedef enum sw_said_at {
  SW_SAID_ARGUMENT, /* of a function: `index` is its argument */
  SW_SAID_RESULT,   /* of a function: result `index` */
  SW_SAID_OP,       /* of all results of an op */
  SW_SAID_INSIDE,   /* `<...>` of a constraint, `sharding=<...>` of an edge or collective: one sharding */
  SW_SAID_IN,       /* in_shardings of a manual or named computation */
  SW_SAID_OUT       /* its out_shardings */
} sw_said_at;
typedef struct sw_said {
  sw_said_at kind;
  uint32_t op, index;
  int32_t first, n; /* tensors: `said_of` of the program [first, first + n) */
} sw_said;

/* A tensor that is made of constants alone, or a scalar that is broadcast: those that use it have copies. */
typedef struct sw_constant {
  const sw_flow_op *steps; /* of the op that makes it: each copy has them */
  size_t n_steps;
} sw_constant;

typedef struct sw_program_flow {
  const sw_ir_tree *t;
  const sw_ir_names *names;
  sw_arena arena;
  sw_sdy_text sdy;                 /* its meshes are those of the flow */
  SW_ARRAY(sw_type) type;          /* by tensor */
  SW_ARRAY(sw_open_sharding) said; /* by tensor */
  SW_ARRAY(sw_flow_op) steps;
  SW_ARRAY(sw_flow_op) returns; /* edges to results of functions: they come first */
  SW_ARRAY(uint32_t) made_by;   /* by tensor: op that it is a result of; SW_IR_NONE: none */
  SW_ARRAY(int32_t) group;      /* by tensor: number of its sharding group; -1: none */
  SW_ARRAY(uint32_t) said_at;   /* by tensor: where its sharding stands in the text; SW_IR_NONE: nowhere */
  int32_t **tensors_in;         /* by op that is a function, by slot: the tensor; -1: none of known sizes */
  uint32_t *function_of;        /* by op */
  uint32_t *out_place;          /* by op that has out_shardings: the place of these */
  bool *has_edge;               /* by op: a data_flow_edge says the shardings of its results instead of it */
  bool *has_arg_edge;           /* likewise of the arguments of its region */
  SW_ARRAY(sw_said) places;
  SW_ARRAY(int32_t) said_of;
  SW_ARRAY(sw_constant) constants;
  SW_ARRAY(int32_t) constant_of; /* by tensor: its constant; -1: none */
  SW_ARRAY(int32_t) next_copy;   /* by tensor: another one for the same value; -1: there is no further one */
  const char **origins;          /* by tensor: {a = "self", b = "input: 0"}; NULL: not to be written */
  const char **origin_name;      /* by tensor: what others call it as an origin; NULL: nothing of its own */
  const char **op_name;          /* by op: sdy.sharding_origin_name; NULL: none */
  bool whole;                    /* read as SW_READ_WHOLE */
  bool same_ops;                 /* shardings of computations and edges are written only where there are some */
  bool scalars;                  /* rules are wanted of ops on scalars, too, though nothing is propagated there */
  sw_flow flow;
  sw_diag *d;
} sw_program_flow;

/* Tensors and steps of all functions. SCALARS: of ops on scalars, too. WHOLE: as programs are before Shardy's import:
 * each use of a constant is its own tensor, calls hand shardings on. To be freed in any case. */
enum { SW_READ_SCALARS = 1, SW_READ_WHOLE = 2 };
SW_CHECKED sw_rc sw_program_flow_read(const sw_ir_tree *t, const sw_ir_names *names, int how, sw_program_flow *out,
                                      sw_diag *d);
SW_CHECKED sw_rc sw_program_flow_add(sw_program_flow *p, const sw_type *type, uint32_t made_by, int32_t *out);
void sw_program_flow_free(sw_program_flow *p);
/* Edits that write the shardings that the flow has now, but for those of ops that are erased[] (NULL: none is). */
SW_CHECKED sw_rc sw_program_flow_edit(const sw_program_flow *p, const bool *erased, sw_ir_edits *e);
/* The text with them. */
SW_CHECKED sw_rc sw_program_flow_write(const sw_program_flow *p, sw_text *out, sw_diag *d);

/* What a tensor is called: "%12#1", "@f:%12" where several functions have bodies, "@f#0", "%12 in_shardings[0]". */
typedef struct sw_tensor_names {
  const char **name; /* by tensor; NULL: it stands for no value of the text */
  uint32_t *at;      /* by tensor: where that is in the text; SW_IR_NONE: nowhere */
} sw_tensor_names;
SW_CHECKED sw_rc sw_tensor_names_find(const sw_program_flow *p, sw_arena *arena, sw_tensor_names *out, sw_diag *d);
/* What is written of origins, when the flow was propagated with them: p->origins and p->origin_name. */
SW_CHECKED sw_rc sw_program_flow_name_origins(sw_program_flow *p, sw_diag *d);
/* How each axis of a value came, when its flow was propagated with origins (explain.c). */
SW_CHECKED sw_rc sw_program_flow_explain(const sw_program_flow *p, const char *value, sw_text *out, sw_diag *d);

#endif
