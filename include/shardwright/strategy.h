/* Strategies: the ways to cut one op over a mesh, and what each wants of its operands, gives as results, and costs.
 *
 * A strategy is an ordered axis list per loop, no axis twice (but in a ring). Everything else follows through the op's
 * maps. For dot_general with loops b, m, n, k over mesh x=2,y=4 the strategy "n:[y] k:[x]" wants its operands as
 * [[],[],[x]] and
 * [[],[x],[y]] and gives [[],[],[y]] partial sum[x].
 *
 * A dimension that loops reach at an offset or through a window (slice, pad, concatenate, reverse, convolution,
 * pooling) is taken in plain blocks along the same axes; the op itself then starts with an exchange from those blocks
 * to its windows. Such exchanges, the merge of candidates (argmax, top_k) and the carries of scans are the op's own
 * moves: listed here once, priced from that list, and emitted from it by the partitioner.
 */
#ifndef SHARDWRIGHT_STRATEGY_H_
#define SHARDWRIGHT_STRATEGY_H_

#include "shardwright/job.h"

/* Where the blocks of loops begin when they are not equal (sharded_dims_offsets), for one op. */
typedef struct sw_strategy_offsets {
  const int64_t *loops;        /* per cut loop in order: N + 1 starts, first 0, last the loop's size */
  const int64_t *const *ports; /* per operand, then result: the offsets of its sharding; NULL: equal blocks */
} sw_strategy_offsets;

typedef struct sw_strategy {
  uint8_t n_refs;
  int8_t loop_of[SW_MAX_REFS]; /* not decreasing; n_loops + k means: partial through linearity k */
  sw_axis_ref refs[SW_MAX_REFS];
  /* Of what a schedule leaves to the plan (schedule.h): 0: all operands; k: operand k - 1 alone; -1: it does not run.
   */
  int8_t takes;
  const sw_strategy_offsets *offsets; /* NULL: all loops are cut into equal blocks; borrowed */
} sw_strategy;

/* Does it read the operand? What does not run reads none. */
static inline bool sw_strategy_takes(const sw_strategy *s, int i) { return !s->takes || s->takes == i + 1; }
static inline bool sw_strategy_runs(const sw_strategy *s) { return s->takes >= 0; }

SW_API bool sw_strategy_equal(const sw_strategy *a, const sw_strategy *b);
/* Append an axis as the minor-most of a loop; false when full. */
SW_API bool sw_strategy_push(sw_strategy *s, int loop, sw_axis_ref ref);
/* Sub-axes that follow each other on one loop joined, x:(1)2, x:(2)4 of x=8 are x; axes of size 1 dropped. */
SW_API void sw_strategy_join(sw_strategy *s);
/* Axes of one loop: *n of them from the returned pointer. */
SW_API const sw_axis_ref *sw_strategy_loop(const sw_strategy *s, int loop, int *n);
/* Elements of a loop that one device does: ceil(size / shards), or the longest of the unequal blocks. */
SW_API int64_t sw_strategy_block(const sw_loop_nest *nest, const sw_strategy *s, int loop);
/* The starts of a loop's blocks, N + 1 of them; NULL where they are equal. */
SW_API const int64_t *sw_strategy_starts(const sw_loop_nest *nest, const sw_strategy *s, int loop);
/* The same axes with unequal blocks: starts[loop], or NULL for equal ones. Those of another op's strategy may be given
 * (loops of one order). In the arena. */
SW_API SW_CHECKED sw_rc sw_strategy_set_starts(const sw_graph *g, const sw_op *op, const int64_t *const *starts,
                                               sw_arena *arena, sw_strategy *s, sw_diag *d);
/* What one op does is done by another whose loops are the same (ops of a loop's border). */
SW_API SW_CHECKED sw_rc sw_strategy_take_over(const sw_graph *g, const sw_op *from, const sw_strategy *s,
                                              const sw_op *to, sw_arena *arena, sw_strategy *out, sw_diag *d);
/* "d2:[y] d3:[x] partial0:[z]", with "offsets=[0,3,8]" behind unequal blocks, "-" when nothing is cut; parse(print(s))
 * = s. The offsets that are read are in the arena. */
SW_API void sw_strategy_print(const sw_mesh *m, const sw_loop_nest *nest, const sw_strategy *s, sw_text *out);
SW_API SW_CHECKED sw_rc sw_strategy_parse(const sw_graph *g, const sw_op *op, const sw_mesh *m, const char *text,
                                          sw_span at, sw_arena *arena, sw_strategy *out, sw_diag *d);

/* Can the op be cut like this? The reason when not, in words. Axes exist and are used once; no WHOLE loop; at most one
 * loop of a window; digits of a mixed-radix dimension cut major first, evenly; one kind of partial. */
SW_API SW_CHECKED sw_rc sw_strategy_check(const sw_graph *g, const sw_op *op, const sw_mesh *m, const sw_strategy *s,
                                          sw_diag *d);
SW_API bool sw_strategy_legal(const sw_graph *g, const sw_op *op, const sw_mesh *m, const sw_strategy *s);

/* Attention whose queries and keys are cut by the same axes is a ring: a device keeps its queries, and all blocks of
 * keys and values come by, passed on from device to device while it attends to what it has (Liu, Zaharia and Abbeel
 * 2023, Ring Attention). Nothing is partial over these axes, and of all that has keys only k, v and their gradients are
 * cut along them. */
SW_API bool sw_strategy_is_ring(const sw_op *op, const sw_strategy *s);
/* Does the port have all of a loop that the strategy cuts? (A bias in a ring, along the keys.) */
SW_API bool sw_strategy_is_whole_at(const sw_op *op, const sw_strategy *s, int port, int loop);
/* The next step of a ring in which some device sees some of the keys that have come to it, after step `after`; the
 * number of devices when there is none. Step 0, of the device's own keys, is always one. */
SW_API int64_t sw_strategy_ring_next(const sw_graph *g, const sw_op *op, const sw_strategy *s, int64_t after);

/* What the op wants of an operand, or gives as a result, under a legal strategy; ports are operands, then results. */
SW_API void sw_strategy_port(const sw_op *op, const sw_strategy *s, int port, sw_sharding *out);
static inline void sw_strategy_operand(const sw_op *op, const sw_strategy *s, int i, sw_sharding *out) {
  sw_strategy_port(op, s, i, out);
}
static inline void sw_strategy_result(const sw_op *op, const sw_strategy *s, int i, sw_sharding *out) {
  sw_strategy_port(op, s, op->n_operands + i, out);
}
/* What a device needs of operand i: its block with a halo (`window`); returns false when it is just the block. */
SW_API bool sw_strategy_halo(const sw_graph *g, const sw_op *op, const sw_strategy *s, int i, sw_tiling *blocks,
                             sw_tiling *window);

/* Is that window inside the block and halo that a device holds of the operand, at the same step from device to device?
 * Then nothing has to be exchanged. */
SW_API bool sw_strategy_halo_is_held(const sw_graph *g, const sw_op *op, const sw_strategy *s, int i,
                                     const sw_sharding *held);

/* A communication step inside an op. */
typedef enum sw_move_kind {
  SW_MOVE_HALO,    /* halo exchange of an operand: blocks -> blocks with halos */
  SW_MOVE_TOP_K,   /* top-k merge: all_gather of the candidates for result `index` along dimension `dim` */
  SW_MOVE_SCAN,    /* scan carry: all_gather of what each block reduces to along dimension `dim` */
  SW_MOVE_MERGE,   /* attention over parts of the keys: all_gather of the log-sum-exps, result `index` */
  SW_MOVE_SHUFFLE, /* every device sends its block to one other: a shuffle */
  SW_MOVE_RING,    /* keys and values, and with them their gradients, go on to the next device of a ring */
} sw_move_kind;

typedef struct sw_move {
  sw_move_kind kind;
  int index; /* operand (halo), result (top-k merge) */
  int dim;
  int n_axes;
  sw_axis_ref axes[SW_MAX_REFS];
  sw_dtype dtype;
  double bytes;             /* as sw_machine_collective_s counts them; halos: bytes of a block with its halo */
  double temp_bytes;        /* buffer that the step leaves on a device while the op runs */
  int64_t times;            /* how often it is done */
  double beside;            /* share of the op's own time that hides one time of it */
  sw_tiling blocks, window; /* HALO: what a device holds, and what it needs */
} sw_move;

/* Visit the moves of an op in the order in which they run. */
typedef void (*sw_move_visit)(void *user, const sw_move *move);
SW_API void sw_strategy_moves(const sw_graph *g, const sw_op *op, const sw_strategy *s, sw_move_visit visit,
                              void *user);

/* What a move other than of halos is done by. */
SW_API sw_coll_op sw_move_collective(const sw_move *move);
/* Its bytes as the machine's compiler moves them. */
SW_API double sw_move_bytes(const sw_machine *machine, const sw_move *move);
/* What it takes in all, of which nothing is hidden; and what of it shows beside an op that takes local_s itself. */
SW_API double sw_move_s(const sw_machine *machine, const sw_move *move);
SW_API double sw_move_exposed_s(const sw_machine *machine, const sw_move *move, double local_s);

typedef struct sw_op_cost {
  double local_s;  /* roofline of the padded local work */
  double launch_s; /* of it: launches of kernels */
  double move_s;   /* the op's own moves, as far as they show */
  double flops, bytes;
  double temp_bytes;
} sw_op_cost;
/* What an offload or fetch moves between device and host in one run, and how long that takes; 0: another op, or no link
 * is known. */
SW_API int64_t sw_strategy_host_bytes(const sw_graph *g, const sw_op *op, const sw_strategy *s);
/* What the host holds for a device from this op on. */
SW_API int64_t sw_strategy_host_held(const sw_graph *g, const sw_op *op, const sw_strategy *s);
SW_API double sw_strategy_host_s(const sw_job *j, const sw_op *op, const sw_strategy *s);
SW_API void sw_strategy_cost(const sw_job *j, const sw_op *op, const sw_strategy *s, sw_op_cost *out);

/* On what a value's reshards are priced: where its collectives are done together with others (kernel.h), the machine
 * that counts their share. */
SW_API const sw_machine *sw_value_machine(const sw_job *j, sw_id value);
/* What it costs beyond the route when a value is wanted in another sharding. One that its kernel keeps inside
 * (kernel.h): the kernel breaks there, so the value is stored as it is made, its copy is read, and there is a launch
 * more; but a part of what is made again anyway is made as such. And what is copied out of the buffer of the call,
 * where the software gathers weights so (sw_software.unpacks): this is the second, too. */
SW_API double sw_value_break_s(const sw_job *j, sw_id value, const sw_sharding *from, const sw_sharding *to);
SW_API double sw_value_unpack_s(const sw_job *j, sw_id value, const sw_sharding *from, const sw_sharding *to);

/* What a device does in the op when its loops have these extents (NULL: all): flops, the bytes that its kernel moves,
 * and the shape of a product or attention. */
SW_API void sw_op_shape(const sw_job *j, const sw_op *op, const int64_t *extents, sw_work *w);
/* What one run of the op costs at least, cut however one likes: its work shared evenly by all devices. */
SW_API double sw_op_least_s(const sw_job *j, const sw_op *op);

/* Append bytes that are equal for ops with the same strategies and costs (same opcode, loops, maps, types): a key for
 * caches, valid while the graph lives. */
SW_API void sw_op_class_key(const sw_job *j, const sw_op *op, sw_text *key);

typedef struct sw_enumeration {
  int32_t n;
  const sw_strategy *at; /* the uncut one first, then by number of axes, then by loops and axes: a fixed order */
  const sw_op_cost *cost;
  int64_t pruned_exact;   /* dropped because another has the same operands and results and costs no more */
  int64_t pruned_inexact; /* dropped by a limit */
} sw_enumeration;

/* Unequal blocks that someone asks for: of a dimension of `size` elements, by these axes. */
typedef struct sw_unequal {
  int64_t size;
  int n_refs;
  sw_axis_ref refs[SW_MAX_REFS];
  const int64_t *starts; /* borrowed */
} sw_unequal;
/* Those of a graph's annotations, each once; in the arena. */
SW_API SW_CHECKED sw_rc sw_unequal_blocks(const sw_request *r, sw_arena *arena, int32_t *n, const sw_unequal **out,
                                          sw_diag *d);

/* What must be cut into equal blocks, none shorter than the others and none empty, as frameworks want it. */
typedef enum sw_even {
  SW_EVEN_NEVER,     /* nothing */
  SW_EVEN_ARGUMENTS, /* arguments and results of the program */
  SW_EVEN_ALWAYS     /* every value, as it is made and as it is used */
} sw_even;
/* A dimension of `size` elements, cut by these axes. */
typedef struct sw_dim_cut {
  int64_t size;
  int n_refs;
  sw_axis_ref refs[SW_MAX_REFS];
} sw_dim_cut;
/* What may be uneven all the same. */
typedef struct sw_even_rule {
  int32_t n_required; /* uneven cuts that annotations require, and so what ops do beside them */
  const sw_dim_cut *required;
} sw_even_rule;
/* Of a graph; in the arena. */
SW_API SW_CHECKED sw_rc sw_even_rule_of(const sw_request *r, sw_arena *arena, sw_even_rule *out, sw_diag *d);
/* Are all cuts of it equal blocks, but for those required (NULL: all)? */
SW_API bool sw_sharding_is_even(const sw_even_rule *rule, const sw_sharding *s, const int64_t *dims);
/* ... of all that it wants and gives? */
SW_API bool sw_strategy_is_even(const sw_even_rule *rule, const sw_graph *g, const sw_op *op, const sw_strategy *s);

typedef struct sw_enumerate_options {
  const sw_even_rule *even; /* NULL, or: only strategies that are even */
  int32_t n_unequal;        /* besides equal blocks, loops are cut into these where the op can be */
  const sw_unequal *unequal;
  /* Neighbouring atoms go together, in at most so many runs, each on one loop, or on none; 0: each by itself where they
   * are no more than three, else three runs. */
  int runs;
  int32_t n_further; /* strategies besides those in runs, of the op; borrowed */
  const sw_strategy *further;
  /* NULL, or: only these. Then they are looked for in every order and mixture of axes. */
  bool (*admits)(const void *user, const sw_strategy *s);
  const void *admits_user;
  bool any_size; /* also shards that are empty by design: more of them than a loop has steps */
} sw_enumerate_options;

/* What the space of plans is made of: the axes of a mesh that are longer than 1. In the place of an axis of which
 * annotations name parts stand its parts, major first, so that the mesh is refined until all that is named is whole.
 *
 *   x=8, y=2, annotations with x:(1)2 and x:(4)2:  x:(1)2 x:(2)2 x:(4)2 y */
typedef struct sw_atoms {
  int n;
  sw_axis_ref at[SW_MAX_REFS];
  int64_t left_out; /* ends of parts that have no place among the others: x:(1)3 beside x:(1)2 of x=12 */
  bool beyond;      /* an annotation cuts some dimension into more parts than it has elements */
} sw_atoms;
/* r NULL: no annotations. */
SW_API void sw_atoms_of(const sw_request *r, const sw_mesh *m, sw_atoms *out);

/* Every legal strategy of the atoms of the request and the mesh, every order of several on one loop; parts that follow
 * each other are joined. Shards are not empty by design (shards <= size of the loop), unless annotations ask for such.
 * Where atoms go together in runs (sw_enumerate_options), all strategies of whole axes come too where these are no more
 * than three; what is left out is counted as if every loop had room for all. */
SW_API SW_CHECKED sw_rc sw_strategies_enumerate(const sw_job *j, const sw_op *op, const sw_enumerate_options *o,
                                                sw_arena *arena, sw_enumeration *out, sw_diag *d);
typedef struct sw_listed_shardings {
  int32_t n;
  const sw_sharding *at;
  int64_t left_out; /* how many were not looked at */
} sw_listed_shardings;
/* Every sharding of a value of these dims without partials, likewise, by the atoms of the request (NULL: whole axes)
 * and the mesh; `runs` as in sw_enumerate_options. */
SW_API SW_CHECKED sw_rc sw_shardings_enumerate(const sw_request *r, const sw_mesh *m, int rank, const int64_t *dims,
                                               int runs, sw_arena *arena, sw_listed_shardings *out, sw_diag *d);
/* Those shardings of the list that can have unequal blocks, with these; in the arena. */
SW_API SW_CHECKED sw_rc sw_shardings_unequal(const sw_enumerate_options *o, const int64_t *dims, int32_t n,
                                             const sw_sharding *shardings, sw_arena *arena, int32_t *n_out,
                                             const sw_sharding **out, sw_diag *d);

/* Can the required annotations be met together? SW_E_INFEASIBLE names two that exclude each other, both with their
 * places: of one op (its option, operands, results), of one definition (values that are one: carried through loops and
 * joins, in one sharding group), of a state that comes and goes. SW_OK is no proof that they can: what partial values
 * cannot become is left to the search. */
SW_API SW_CHECKED sw_rc sw_requirements_check(const sw_job *j, sw_diag *d);
/* The job's request with those hints required that can be kept beside what is required, the lower priorities first,
 * then as they stand in the text; one for all uses of a value may be so at some of them. `out` borrows from that
 * request and the arena; *taken: how many hints these are. */
SW_API SW_CHECKED sw_rc sw_hints_require(const sw_job *j, sw_arena *arena, sw_request *out, int32_t *taken, sw_diag *d);

#endif
