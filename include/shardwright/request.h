/* A request: what somebody asks of the plan of a program, in the axes of a mesh. It is a plain value that borrows the
 * program and its lists: one with further pins is another request over the same program.
 */
#ifndef SHARDWRIGHT_REQUEST_H_
#define SHARDWRIGHT_REQUEST_H_

#include "shardwright/graph.h"

/* How a person marks a sharding (docs/model-format.md). In the order of the file, and in the normal form from
 * sw_graph_seal on (sw_sharding_settle): axes of size 1 cut nothing and are in none of the lists. */
typedef struct sw_annotation {
  sw_id value;          /* annotated value, or -1 */
  sw_id op;             /* annotated op (its loops are given), or -1 */
  sw_sharding sharding; /* of a value; dims marked open in `open_dims` may be refined */
  uint32_t open_dims;
  int32_t n_kept; /* axes that open dims may not use: those of which the value is said to be replicated */
  const sw_axis_ref *kept;
  int32_t n_loop_refs; /* of an op: refs[i] cuts loop loop_of[i]; loop n_loops+k stands for linearity k */
  const int32_t *loop_of;
  const sw_axis_ref *loop_refs;
  bool required;    /* else a hint */
  int32_t priority; /* of hints that exclude each other those of the lower number are kept; >= 0 */
  bool derived;    /* a hint that follows from what is said of a neighbour: it contradicts nothing, and is not missed */
  bool for_users;  /* about uses of the value, not its definition */
  int32_t n_users; /* 0 with for_users: every use */
  const sw_value_use *users;
  sw_span span;
  const struct sw_annotation *said; /* as it was written, from sw_graph_seal on; NULL: it is in the normal form */
} sw_annotation;
/* The annotation in the words of the person who made it: for texts that people or other tools read. */
static inline const sw_annotation *sw_annotation_said(const sw_annotation *a) { return a->said ? a->said : a; }

/* Two values that have one sharding (a sharding group of Shardy's: each member with the first). */
typedef struct sw_sharding_group {
  sw_id a, b;
  sw_span span;
} sw_sharding_group;

typedef struct sw_request {
  const sw_graph *graph;
  bool has_mesh; /* it names a mesh: annotations are in its axes */
  sw_mesh mesh;
  const char *compiler; /* that programs in such a text are run with, where nobody says another; NULL: inductor */
  int32_t n_annotations;
  const sw_annotation *annotations;
  int32_t n_sharding_groups;
  const sw_sharding_group *sharding_groups;
  const sw_annotation *const *said; /* of those with names of axes of size 1: by value, then by output; NULL: none */
} sw_request;

/* --- of a graph that is being built: what is written beside it -----------------------------------------------------
 */

SW_API void sw_graph_set_mesh(sw_graph *g, const sw_mesh *mesh);      /* its axis names: borrowed */
SW_API void sw_graph_set_compiler(sw_graph *g, const char *compiler); /* borrowed */
SW_API SW_CHECKED sw_rc sw_graph_add_annotation(sw_graph *g, const sw_annotation *a, sw_diag *d);
/* Two values of one shape that are to have one sharding; any others are SW_E_INPUT. */
SW_API SW_CHECKED sw_rc sw_graph_add_sharding_group(sw_graph *g, sw_id a, sw_id b, sw_span span, sw_diag *d);

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* Everything of it is possible by itself, and no two annotations of one thing contradict each other. */
SW_API SW_CHECKED sw_rc sw_request_verify(const sw_request *r, sw_diag *d);
/* The sharding that a value is annotated with, "?" behind the axes of open dims: [[x,?],[]]. */
SW_API void sw_annotation_print(const sw_request *r, const sw_annotation *a, sw_text *out);
/* Hash of everything that planning depends on (not spans): written into plans. */
SW_API uint64_t sw_request_hash(const sw_request *r);

#endif
