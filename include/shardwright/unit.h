/* Units: what a plan chooses for, and what is scheduled and priced as one.
 *
 * A unit is an argument, an op, or an output that is delivered. They are numbered in that order, ops as the program has
 * them; the nodes of a selection problem begin with one for each unit, under the same numbers.
 *
 *   unit      reads (its first ports)   makes (its other ports)   step
 *   argument                            its value                 0, before the first op
 *   op        its operands              its results               its place among the ops
 *   output    the value returned                                  behind the last op
 *
 * Time runs in steps, one for each unit that runs; outputs are delivered at the last. A value that crosses from the
 * unit that makes it to units that read it is a border: its copies in other shardings are priced on the edges between
 * them, and its bytes are held as sw_value_life says. What a unit can be chosen to do is an option of it: of an op a
 * strategy, of an argument or output a sharding.
 *
 * All here are plain values that borrow the graph; safe to read from many threads.
 */
#ifndef SHARDWRIGHT_UNIT_H_
#define SHARDWRIGHT_UNIT_H_

#include "shardwright/job.h"

typedef struct sw_units {
  const sw_graph *g;
  const sw_kernels *kernels;        /* NULL: none */
  int32_t n_args, n_ops, n_outputs; /* units of each kind, in this order */
  int32_t n;                        /* of all kinds */
  int32_t n_steps;                  /* of the line of time: ops, and the delivery of outputs */
} sw_units;
SW_API sw_units sw_units_of(const sw_job *j);

typedef enum sw_unit_kind { SW_UNIT_ARGUMENT, SW_UNIT_OP, SW_UNIT_OUTPUT } sw_unit_kind;

typedef struct sw_unit {
  sw_unit_kind kind;
  sw_id id;     /* index of the argument or output, id of the op */
  int32_t step; /* at which it runs */
  int32_t n_reads, n_makes;
  const sw_id *reads, *makes; /* values; borrowed from the graph */
} sw_unit;
SW_API sw_unit sw_unit_at(const sw_units *u, int32_t unit);

/* Where a value enters or leaves a unit: what it reads, then what it makes. */
typedef struct sw_port {
  int32_t unit, port;
} sw_port;

static inline int32_t sw_unit_of_op(const sw_units *u, sw_id op) { return u->n_args + op; }
/* Of an output that a state is donated to: its argument's, for it is delivered as it is held. */
SW_API int32_t sw_unit_of_output(const sw_units *u, int32_t output);
/* The port that makes a value, and the one that takes it for a use. */
SW_API sw_port sw_value_made_at(const sw_units *u, sw_id value);
SW_API sw_port sw_use_taken_at(const sw_units *u, sw_value_use use);
/* The step at which a use takes its value. */
static inline int32_t sw_use_step(const sw_units *u, sw_value_use use) { return use.op < 0 ? u->n_ops : use.op; }
/* The step up to which it needs it: later where its op is made again, or runs with later ones (kernel.h). */
SW_API int32_t sw_use_until(const sw_units *u, sw_value_use use);
/* What a keep gives lies where that lay that it takes, and is counted behind it. */
static inline int32_t sw_value_step(const sw_units *u, sw_id value) {
  const sw_id def = u->g->values[value].def;
  return def < 0 ? 0 : def + (u->g->ops[def].code == SW_OP_KEEP);
}

/* Steps, both included. */
typedef struct sw_interval {
  int32_t first, last;
} sw_interval;
/* When a device holds a value as it is made: parameters and state throughout, others from the unit that makes them to
 * the last that needs them so, or for which they are held (a loop holds what entered it). `needed`: by use, the step at
 * which it needs the value as it is made (of a copy that several take: the first of them); NULL: each use does. */
SW_API sw_interval sw_value_life(const sw_units *u, sw_id value, const int32_t *needed);

/* Bytes by step: of each interval first where they change, with room for one step more, then what is held, and the step
 * of the most, the first of several. */
static inline void sw_line_hold(int64_t *line, sw_interval steps, int64_t bytes) {
  line[steps.first] += bytes;
  line[steps.last + 1] -= bytes;
}
/* The operand that the op has stored although its kernel would not, where a plan keeps or offloads it; -1: none. */
SW_API int sw_op_stores(const sw_job *j, const sw_op *op);
SW_API void sw_line_sum(int64_t *line, int32_t n_steps, int32_t *peak);

/* The ports that an annotation is about: of an op its strategy (port -1), of a value where it is made, or each of the
 * uses that it names, or all of them. */
SW_API int32_t sw_annotation_n_ports(const sw_graph *g, const sw_annotation *a);
SW_API sw_port sw_annotation_port(const sw_units *u, const sw_annotation *a, int32_t i);
/* Use i of an annotation that is for users. */
static inline sw_value_use sw_annotation_use(const sw_graph *g, const sw_annotation *a, int32_t i) {
  return a->n_users ? a->users[i] : g->values[a->value].uses[i];
}

#endif
