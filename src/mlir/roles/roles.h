/* What the arguments of a program are: data, parameters, or state (a buffer that is donated to the output it becomes).
 *
 * What the caller, attributes and names say is read off the text (import/roles.c). What nothing says is guessed here,
 * from the uses of arguments in the graph: a pass that sees the graph and this table, no text. Without it such
 * arguments are data.
 */
#ifndef MLIR_ROLES_H_
#define MLIR_ROLES_H_

#include "shardwright/graph.h"

/* Who says what an argument is. */
typedef enum sw_role_source {
  SW_ROLE_GIVEN, /* the caller or an attribute */
  SW_ROLE_NAMED, /* names or attributes, of a type that weights and caches have: it may be state all the same */
  SW_ROLE_TYPED, /* its type, of scalars and flags: data, but it may be state */
  SW_ROLE_UNSAID,
  SW_ROLE_UNSAID_INTEGERS /* nothing, and integers are data, but for packed ones */
} sw_role_source;

typedef struct sw_role {
  sw_id value;        /* of the graph; -1: none yet, or a tuple */
  sw_value_kind kind; /* SW_VALUE_INPUT where nothing says it */
  int64_t output;     /* the one that it becomes; -1: none */
  sw_role_source source;
  const char *sharding; /* as the text has it; "": it has none */
} sw_role;

typedef struct sw_roles {
  uint32_t n;
  sw_role *at; /* by argument of main */
} sw_roles;

/* What becomes an output of the graph. */
typedef struct sw_role_output {
  sw_id value;
  const char *sharding; /* as above */
} sw_role_output;

/* Decide what arguments are that are SW_ROLE_UNSAID, in `roles` and in the kinds of the graph's values, and which ones
 * become outputs; integers whose bits are several numbers become SW_ROLE_UNSAID. All ops of the graph are there,
 * it need not be sealed. Temporaries are in `scratch`. */
SW_CHECKED sw_rc sw_guess_roles(sw_graph *g, const sw_roles *roles, const sw_role_output *outputs, uint32_t n_outputs,
                                sw_arena *scratch, sw_diag *d);

/* --- the parts of the guess -------------------------------------------------------------------------------------- */

/* What the first contraction of an argument says. */
typedef enum sw_evidence {
  SW_EVIDENCE_NONE, /* there is no contraction */
  SW_EVIDENCE_DATA,
  SW_EVIDENCE_BATCHED, /* what is computed is the other side, and dims are common to both and the result: caches,
                          experts */
  SW_EVIDENCE_WEIGHTS,
  SW_EVIDENCE_SURELY_WEIGHTS /* the other side is an argument, too, no dim is common to both and the result */
} sw_evidence;

/* What the parts share; arrays are by value of the graph. */
typedef struct sw_role_guess {
  sw_graph *g;
  const sw_roles *roles;
  sw_arena *scratch;
  sw_evidence *evidence;
  bool *has_examples; /* it has a dim for them, or is made of such */
  bool trains;        /* it is a step of a training: known when states are found */
  sw_diag *d;
} sw_role_guess;

/* Are they of one tree, by their names: params['w'] and params['b']? */
bool sw_same_tree(const sw_graph *g, sw_id a, sw_id b);
/* Arguments that become outputs though nothing says so: state from here on. */
SW_CHECKED sw_rc sw_guess_donated(sw_role_guess *r, const sw_role_output *outputs, uint32_t n_outputs);
/* has_examples of arguments: they are data by their evidence, or have a dim that runs over examples. To be called when
 * states are found. */
SW_CHECKED sw_rc sw_guess_examples(const sw_role_guess *r);

#endif
