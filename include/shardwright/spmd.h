/* The SPMD program: what every device runs. It is a graph like any other, on local (padded) shapes, whose ops are the
 * ops of the model plus collectives, shard_start and mask; next to it stands, for every value, how the local blocks
 * make up a global tensor.
 */
#ifndef SHARDWRIGHT_SPMD_H_
#define SHARDWRIGHT_SPMD_H_

#include "shardwright/plan.h"

/* How a value of the program relates to a tensor of the model. */
typedef struct sw_layout {
  sw_id source;            /* value of the model that it is, whole or in part; -1: none (a helper's) */
  bool is_block;           /* it is that value's block under `sharding`; else all of its positions count as valid */
  sw_sharding sharding;    /* is_block only */
  const sw_other_mesh *on; /* NULL, or (what an exchange leaves) the mesh that the sharding speaks of; borrowed */
} sw_layout;

/* Why an op of the program exists, for reports: it computes `op` of the model (reshard: it brings a value to `op`; op
 * -1: to an output). */
typedef struct sw_origin {
  sw_id op;
  sw_id value; /* the value resharded; -1: the op's own work */
} sw_origin;

typedef struct sw_spmd {
  const sw_graph *model;
  sw_graph *program; /* owned */
  const sw_mesh *mesh;
  const sw_layout *layout; /* by program value; in the program's arena */
  const sw_origin *origin; /* by program op */
  int32_t n_fallbacks;     /* ops run replicated because they have no other way (opaque); named in the log */
  bool args_whole;
  bool whole_tensors; /* made by sw_partition_whole */
} sw_spmd;

/* Rewrite the model under the plan, and run the plan's passes over the program. `args_whole`: every argument arrives
 * whole and is sliced first. */
SW_API SW_CHECKED sw_rc sw_partition(const sw_plan *plan, sw_spmd *out, sw_diag *d);
/* The model on whole tensors with every reshard of the plan written out: its ops as they are, and each step of a route
 * an op that changes nothing but the sharding in `layout`. What a program looks like after reshards were made explicit
 * and before it is cut; not to be executed. */
SW_API SW_CHECKED sw_rc sw_partition_whole(const sw_plan *plan, sw_spmd *out, sw_diag *d);
/* One reshard alone. The model has an argument x and the output y, which is x; it outlives the program. SW_E_INPUT when
 * the route ends with a to_partial over axes of another mesh that those of the machine's mesh cannot say. */
SW_API SW_CHECKED sw_rc sw_reshard_model(const sw_reshard *wanted, sw_graph **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_partition_route(const sw_graph *model, const sw_reshard *wanted, const sw_route *route,
                                           sw_spmd *out, sw_diag *d);
SW_API void sw_spmd_deinit(sw_spmd *s);
/* Local shapes follow from layouts, collectives fit their operands, results have the layouts the plan says. */
SW_API SW_CHECKED sw_rc sw_spmd_verify(const sw_spmd *s, sw_diag *d);

/* Valid extents of a program value on a device. */
SW_API void sw_spmd_valid(const sw_spmd *s, sw_id value, int64_t device, int64_t *valid);

/* A readable listing with the model op that each op stems from. */
SW_API void sw_spmd_print(const sw_spmd *s, sw_text *out);

/* Collectives of the program in order, as words of one line each: "all_gather dim=2 [x]". For tests and people. */
SW_API void sw_spmd_collectives(const sw_spmd *s, sw_text *out);

/* What the program costs as it stands: the sum over its ops, priced by the machine. Equal to the plan's cost but for
 * the small local ops (masks, index arithmetic) that the breakdown leaves out. */
typedef struct sw_spmd_cost {
  double local_s, comm_s;
  int64_t calls[SW_COLL_COUNT]; /* what a loop holds counts once per trip */
  double received_bytes;        /* by one device, padding included; over all calls */
  int64_t peak_bytes;           /* liveness over the program */
} sw_spmd_cost;
SW_API SW_CHECKED sw_rc sw_spmd_price(const sw_spmd *s, const sw_machine *machine, sw_spmd_cost *out, sw_diag *d);
SW_API int64_t sw_spmd_cost_calls(const sw_spmd_cost *c); /* of those that communicate */

/* --- passes over the program -------------------------------------------------------------------------------------- */

/* What follows rewrites the collectives of a program, each pass by one kind of rewrite, and only where the machine's
 * prices say that it is no dearer (docs/collective-passes.md). Values stay what they are: exactly where elements are
 * moved, and up to the order of a sum elsewhere. */
SW_API int sw_pass_count(void); /* in the order in which all of them run */
SW_API const char *sw_pass_name(int pass);

enum { SW_MOST_PASSES = 32 };

/* Which passes run over a program, in order. */
typedef struct sw_passes {
  int n;
  uint8_t at[SW_MOST_PASSES];
  bool again;            /* the list again while it changes something, four times at most */
  int64_t combine_bytes; /* calls are combined up to this size of their buffer; 0: SW_COMBINE_BYTES */
  /* As the plan's compiler does it (kernel.h): calls read and write their parts where these lie, and are combined
   * whether our own buffer would pay or not. */
  bool combine_in_place;
} sw_passes;
#define SW_COMBINE_BYTES (INT64_C(64) << 20)

/* "all" (each, and again while something changes) or names, as "fold,combine". SW_E_USAGE for an unknown name. */
SW_API SW_CHECKED sw_rc sw_passes_parse(const char *text, sw_passes *out, sw_diag *d);

/* What a pass did to the program. */
typedef struct sw_pass_report {
  int pass;
  int32_t rewrites;  /* 0: it found nothing, or left the program as it was because of */
  const char *leave; /* this: in words; NULL: nothing */
  sw_spmd_cost before, after;
} sw_pass_report;

/* Runs them. `reports` has room for SW_MOST_REPORTS, NULL: not wanted; *n of them are filled. On failure the program is
 * the one before the pass that failed. Time: linear in the ops of the program, per pass. */
enum { SW_MOST_REPORTS = 4 * SW_MOST_PASSES };
SW_API SW_CHECKED sw_rc sw_spmd_run_passes(sw_spmd *s, const sw_machine *machine, const sw_passes *passes,
                                           sw_pass_report *reports, int *n, sw_diag *d);

/* --- a program that came partitioned ------------------------------------------------------------------------------ */

/* Of which tensor an argument or output is a device's block. */
typedef struct sw_local_border {
  sw_type whole;
  sw_sharding sharding; /* over the program's mesh */
  bool said;            /* the text says it; else it is the same on all devices */
} sw_local_border;

typedef struct sw_local_program {
  sw_graph *graph;
  int64_t devices;
  sw_mesh grid;            /* of the collectives: a device is its position there */
  sw_mesh mesh;            /* of the shardings; as many devices */
  const int64_t *position; /* by device: where in the mesh it sits; NULL: device i at position i */
  sw_local_border *args, *outputs;
  /* By value and op of the graph: what they are in the program that they were made of; both NULL: not known. */
  const sw_layout *layout;
  const sw_origin *origin;
} sw_local_program;

/* Blocks are those of the shardings. */
SW_API SW_CHECKED sw_rc sw_local_verify(const sw_local_program *p, sw_diag *d);

/* The same as a program that is priced and that passes rewrite, and what one that passes rewrote is: it is to have the
 * arguments and results of `p`. Its groups are axes of p->mesh where they are such; layouts follow, through the ops,
 * from those of arguments. The model is one of p's values as the tensors that their blocks make up, in the arena, and
 * borrows from `p`. */
SW_API SW_CHECKED sw_rc sw_spmd_of_local(const sw_local_program *p, sw_arena *arena, sw_spmd *out, sw_diag *d);
SW_API void sw_local_of_spmd(const sw_local_program *p, const sw_spmd *s, sw_local_program *out);

#endif
