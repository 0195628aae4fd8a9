/* A plan: a strategy for every op, a sharding for every argument and output; what it costs and holds; how it is found.
 *
 * A plan says only that. The sharding of every value follows from the strategy of the op that makes it, the sharding
 * that each use wants from the strategy of the op that uses it, and the reshards between them from sw_route_find.
 */
#ifndef SHARDWRIGHT_PLAN_H_
#define SHARDWRIGHT_PLAN_H_

#include "shardwright/schedule.h"
#include "shardwright/selection.h"
#include "shardwright/timeline.h"

typedef struct sw_plan {
  sw_job job;
  sw_strategy *ops;     /* by op id; arena of the caller, as the next two */
  sw_sharding *args;    /* by argument */
  sw_sharding *outputs; /* by output; of an aliased one: its state's */
  int32_t n_stated;     /* in order of ops and ports; arena of the caller */
  sw_stated *stated;
  bool args_whole;                /* arguments arrive whole and every device slices its own part */
  const struct sw_passes *passes; /* that run over its program (spmd.h); borrowed; NULL: none */
  /* The record of the search; zero for plans made by hand. Costs in units of the machine (sw_cost_seconds). */
  sw_solve_status status;
  const char *origin; /* "search", "propagate", "data-parallel", ...; static or in the arena */
  const char *solver;
  int64_t cost_units, bound_units;
  int64_t found_units;       /* what the cheapest plan found costs, of which this is a simpler one; else its own cost */
  int64_t capacity_bytes;    /* INT64_MAX: none */
  int64_t pruned_inexact;    /* strategies that were left out and might have been better: then nothing is proven */
  sw_price_weights bound_by; /* of a plan with a timeline: the prices under which the bound was found */
  int32_t n_nodes, n_edges, n_classes;
  int32_t n_shared; /* copies that the search came to count once: a search that starts from this plan knows them */
  const sw_shared_copy *shared;
  double time_s;
} sw_plan;

static inline sw_selected sw_plan_selected(const sw_plan *p) {
  const sw_selected s = {p->ops, p->args, p->outputs, p->n_stated, p->stated};
  return s;
}

/* A plan with every op uncut and everything replicated. */
SW_API SW_CHECKED sw_rc sw_plan_build(const sw_job *j, sw_arena *arena, sw_plan *out, sw_diag *d);
/* What of a plan stands already: by argument, op and output. */
typedef struct sw_plan_given {
  const bool *args, *ops, *outputs;
} sw_plan_given;
/* Choose the rest: ops in program order, each the cheapest between what its operands are cut like and what those of its
 * uses that are given want; arguments as they are required, or first used. Without search, so requirements of the model
 * may be missed: sw_plan_verify tells. */
SW_API SW_CHECKED sw_rc sw_plan_complete(sw_plan *p, const sw_plan_given *given, sw_diag *d);
/* Outputs follow from the rest: a state's comes back as it is held, another one as it is made, sums completed. But for
 * those that stand (NULL: none do). */
SW_API void sw_plan_deliver(sw_plan *p, const bool *stands);
/* Every strategy legal, every sharding valid, outputs not partial, states in and out alike, required annotations met,
 * every reshard possible. */
SW_API SW_CHECKED sw_rc sw_plan_verify(const sw_plan *p, sw_diag *d);
/* Of a device, in memory of its host, where everything that is offloaded is held together. */
SW_API int64_t sw_plan_host_bytes(const sw_plan *p);
/* SW_E_INFEASIBLE: the host has not so much for a device. */
SW_API SW_CHECKED sw_rc sw_plan_check_host(const sw_plan *p, sw_diag *d);
/* Is everything as the annotation says? Hints may be left. */
SW_API bool sw_plan_keeps(const sw_plan *p, const sw_annotation *a);

/* Are arguments and outputs cut into equal blocks, as JAX wants them, but for what `rule` has (NULL: all)? SW_E_INPUT
 * names the first that is not. */
SW_API SW_CHECKED sw_rc sw_plan_check_even(const sw_plan *p, const sw_even_rule *rule, sw_diag *d);

/* What a value is in, and what a use wants. */
SW_API void sw_plan_value_sharding(const sw_plan *p, sw_id value, sw_sharding *out);
SW_API void sw_plan_use_sharding(const sw_plan *p, sw_value_use use, sw_sharding *out);
/* What the op that makes the value gives, and what the op that uses it works on: other shardings than those above where
 * one is stated. */
SW_API void sw_plan_made_sharding(const sw_plan *p, sw_id value, sw_sharding *out);
SW_API void sw_plan_taken_sharding(const sw_plan *p, sw_value_use use, sw_sharding *out);
/* A join takes what entered a loop as it was made, whatever is stated of it inside. */
SW_API bool sw_plan_use_is_of_made(const sw_plan *p, sw_value_use use);
/* Is the halo that is stated of the use the window that the op needs? It is then taken as it is. An argument's halo is
 * not filled before someone does (update_halo), so its window is exchanged. */
SW_API bool sw_plan_takes_halo(const sw_plan *p, sw_value_use use);
/* The part of its cost that a plan may be above the best there is, by its bound; 0 where it costs nothing. */
SW_API double sw_plan_gap(const sw_plan *p);
/* The part by which a plan is dearer than the cheapest one found, of which it is a simpler one; 0: it is the cheapest.
 */
SW_API double sw_plan_dearer(const sw_plan *p);
/* Does the bound hold for every plan? Where strategies were left out inexactly, it is one over those enumerated. */
SW_API bool sw_plan_bound_is_proven(const sw_plan *p);
/* What the bound is: "proven lower bound", or "bound over the strategies enumerated (12 left out)". */
SW_API void sw_plan_bound_print(const sw_plan *p, sw_text *out);

/* One resharded copy of a value, made once, right before its first use. */
typedef struct sw_plan_reshard {
  sw_id value;
  /* Of a stated sharding: 0 from what the op makes to it, 2 from it to what the op works on; else 1. */
  int32_t leg;
  sw_sharding from, to;
  const sw_route *route; /* in the arena, and shared */
  double break_s;        /* of kernels, beyond the route (sw_value_break_s) */
  double unpack_s;       /* of these, behind it (sw_value_unpack_s) */
  sw_interval steps;     /* from its first use to its last */
  int32_t n_uses;
  const sw_value_use *uses;
} sw_plan_reshard;

/* What all runs of it take, with kernels (sw_value_break_s). */
SW_API double sw_plan_reshard_s(const sw_plan *p, const sw_plan_reshard *r);

typedef struct sw_collective_sum {
  int64_t calls;
  int64_t parts; /* of these: done together with others, in calls of sw_kernels.combine_bytes at most */
  double seconds;
  double bytes; /* received by the busiest device, summed over calls */
} sw_collective_sum;

/* A value as it is made, a resharded copy of it, a buffer of a unit or a route at work. */
typedef enum sw_live_kind { SW_LIVE_VALUE, SW_LIVE_COPY, SW_LIVE_BUFFER } sw_live_kind;
/* A tensor that a device holds for some steps. */
typedef struct sw_live {
  sw_live_kind kind;
  sw_id value; /* of a unit's buffers: -1 */
  sw_interval steps;
  int64_t bytes; /* padding included */
} sw_live;

/* What an op exchanges by itself in one run: in all, behind its arithmetic, and received by the busiest device. */
typedef struct sw_op_moves {
  double seconds, hidden_s, bytes;
} sw_op_moves;

/* A kernel, a step of communication, or a copy to the host or back, of a plan on its timeline. */
typedef struct sw_timed {
  sw_id op;             /* whose kernel it is, with what the op exchanges inside; or before which a reshard stands, the
                           number of ops: before delivery */
  int32_t reshard, hop; /* of the breakdown, and of its route; -1: of none; hop -1: the kernel that breaks for it;
                         * behind the last: what copies it out of the buffer of the call */
  int32_t stream;       /* SW_STREAM_WORK, or that of a link */
  int32_t needed;       /* of what takes a link: the entry that waits for it first; -1: delivery */
  int64_t repeats;      /* how often it runs */
  double start_s, end_s, exposed_s; /* of its first run; loops end before anything else runs, so trips are alike */
} sw_timed;
typedef struct sw_timeline {
  sw_timeline_sums sums; /* of all runs */
  int32_t n;
  const sw_timed *at; /* in the order of the account: by step, reshards before the op */
  double busy_s[SW_MAX_STREAMS], exposed_s[SW_MAX_STREAMS]; /* by stream, of all runs */
  double launches_s;                                        /* of the host */
  int64_t in_flight_bytes; /* by which the peak is higher, as copies are made early and what they are made of stays */
} sw_timeline;

/* What a plan costs and holds, under its machine. */
typedef struct sw_breakdown {
  double total_s;                           /* of the timeline; without one the sum */
  double sum_s, local_s, move_s, reshard_s; /* the first is the sum of the others */
  double
      hidden_s; /* communication inside ops that runs behind their arithmetic: in by_collective and axis_s, not above */
  double flops; /* of one device */
  double whole_flops;       /* of the model run once on one device */
  double moved_bytes;       /* received by all devices together */
  const sw_op_cost *op;     /* by op id: of one run of it; the sums count a loop's ops per trip */
  const sw_op_moves *moves; /* by op id */
  int32_t n_reshards;
  const sw_plan_reshard *reshards; /* by step, then value */
  sw_collective_sum by_collective[SW_COLL_COUNT];
  double axis_s[SW_MAX_AXES]; /* communication time of steps that use the axis (a step over two axes counts in both) */
  int32_t n_steps;            /* of the line of time (unit.h) */
  int32_t n_live;
  const sw_live *live;     /* copies, values, buffers; in no other order */
  const int64_t *bytes_at; /* by step: the sum of those that are live then */
  int64_t peak_bytes;
  int32_t peak_step;
  int64_t param_bytes;         /* parameters and state, held throughout */
  const sw_timeline *timeline; /* where anything may run beside anything (sw_job.overlap); else NULL */
  int32_t full_replications;   /* routes through full replication */
} sw_breakdown;
/* Flops of all devices beyond those of one that runs the model alone: work done twice, padding included. */
SW_API double sw_breakdown_redundant_flops(const sw_breakdown *a, const sw_machine *machine);
SW_API SW_CHECKED sw_rc sw_plan_breakdown(const sw_plan *p, sw_arena *arena, sw_breakdown *out, sw_diag *d);
/* What no plan takes less than, as far as is proven: the plan's time less its gap, so never above it, and it where the
 * plan is optimal. The units of the search break ties beside the time (selection.h), those of its bound do, too. */
SW_API double sw_plan_bound_s(const sw_plan *p, const sw_breakdown *a);

/* The largest values and copies that are live at a step, at most `room`; returns how many. */
SW_API int32_t sw_breakdown_largest(const sw_breakdown *a, int32_t step, int32_t room, const sw_live **out);

/* A plan made otherwise, for comparison, with its breakdown. */
typedef struct sw_comparison {
  const char *name;
  bool made;          /* false: it cannot be made, for what `breaks` says; the rest is not set */
  const char *breaks; /* NULL, or what is required and not kept, in words: it is no answer to the model */
  const char *spread; /* NULL, or what axes of the mesh do that do not divide the batch, in words */
  const char *uncut;  /* NULL, or what its rule would cut and does not, as sizes do not divide, in words */
  sw_plan plan;
  sw_breakdown breakdown;
} sw_comparison;

/* The compiler that a program is priced as, where a person or a plan (`named`) may have said one: NULL for the
 * profile's own, else the one that programs in such a text are run with. Whoever plans asks here. */
SW_API const char *sw_compiler_of(const char *named, const sw_request *r, const sw_profile *p);
/* The request's program on the machine, with the kernels of that compiler; the machine's calls of collectives become
 * those of the compiler, and plans are timed with its overlap. Under "none" each op and each collective is by itself;
 * there, under "xla-cpu" and on a host's profile nothing runs beside anything. In the arena; borrows both. */
SW_API SW_CHECKED sw_rc sw_job_make(const char *compiler, const sw_request *r, sw_machine *m, sw_arena *arena,
                                    sw_job *out, sw_diag *d);
/* The same of a stage of a schedule, as the compiler and the machine of `j` have it. In the arena; borrows the
 * schedule. */
SW_API SW_CHECKED sw_rc sw_job_of_stage(const sw_job *j, const sw_schedule *s, int32_t stage, sw_arena *arena,
                                        sw_job *out, sw_diag *d);
/* The same of the program that `j` is a stage of, as it was written; in the arena. */
SW_API SW_CHECKED sw_rc sw_job_of_program(const sw_job *j, sw_arena *arena, sw_job *out, sw_diag *d);
/* By op of the program that a schedule carries out: where the stage has it, not made again; -1: nowhere. In the arena.
 */
SW_API SW_CHECKED sw_rc sw_job_own_ops(const sw_job *j, sw_arena *arena, sw_id **out, sw_diag *d);
SW_API const char *sw_compiled_as(const sw_job *j); /* its compiler's name */
/* What prices are of, for a person: "compiler inductor, bf16". */
SW_API void sw_compiled_print(const sw_job *j, sw_text *out);
/* The dtype of most of the program's arithmetic. */
SW_API sw_dtype sw_job_dtype(const sw_job *j);

/* Ways to run a program in less memory, each with the plans that are made by rule for it. */
typedef struct sw_ruled_lever {
  sw_recompute how;
  bool gathers_again;        /* sw_recompute_spec */
  int32_t of_layers;         /* in so many of the first layers alone; 0: in all */
  sw_schedule *schedule;     /* of the job; in the arena */
  sw_job job;                /* with the requirements of the one that was given */
  sw_arena mem;              /* of: */
  const sw_comparison *made; /* sw_baselines_build; their names are those of rules */
} sw_ruled_lever;
enum { SW_MAX_LEVERS = 9 };
typedef struct sw_ruled_levers {
  const sw_request *request; /* of the job that they are of */
  int n;
  sw_ruled_lever at[SW_MAX_LEVERS]; /* those that change the program */
} sw_ruled_levers;
/* Of a program that runs as it is; in the arena, until it is closed. Of the best of them, in as few layers as fit into
 * `capacity`, is one more. */
SW_API SW_CHECKED sw_rc sw_levers_open(const sw_job *j, int64_t capacity, sw_arena *arena, sw_ruled_levers *out,
                                       sw_diag *d);
SW_API void sw_levers_close(sw_ruled_levers *l);
/* "full, gathered again". */
SW_API void sw_lever_print(const sw_ruled_lever *l, sw_text *out);
/* Of one kind the schedule of which a plan made by rule is the fastest that fits into `capacity` (0: the profile's), or
 * holds least where none does. The caller's (sw_schedule_deinit). */
SW_API SW_CHECKED sw_rc sw_lever_choose(const sw_job *j, sw_recompute how, int64_t capacity, sw_arena *arena,
                                        sw_schedule *out, sw_diag *d);
/* By rule, the fastest plan that fits of the program as it is and of all levers, or what holds least; named with its
 * lever. `written`, and the answer: in the order of rules. In the arena. */
SW_API SW_CHECKED sw_rc sw_levers_compare(const sw_ruled_levers *l, const sw_comparison *written, int64_t capacity,
                                          sw_arena *arena, const sw_comparison **out, sw_diag *d);

typedef struct sw_plan_options {
  sw_solve_options solve;
  sw_selection_options selection; /* capacity_bytes 0: the profile's */
  const sw_plan *start;           /* NULL, or a plan of the same graph and mesh to start from; pins may have changed */
  const sw_comparison *baselines; /* NULL, or those of sw_baselines_build: else they are made where they are needed */
  const sw_plan *known; /* further plans, as by propagation: where the search does not close, none that fits and keeps
                           what is required is cheaper than its plan */
  int32_t n_known;
  const sw_ruled_levers *levers; /* of sw_plan_search_sources: those of the job; NULL: they are made */
  bool *none_fits;               /* NULL, or becomes true where the search fails as no plan fits into memory */
  double simplicity; /* of the plans that cost at most this part more than the cheapest one found, the simplest; 0: the
                        cheapest. Not where what is known was cheaper than what the search found. */
} sw_plan_options;

/* What a device may hold. */
SW_API int64_t sw_plan_capacity(const sw_job *j, const sw_plan_options *o);
/* Search. SW_E_INFEASIBLE with the smallest capacity that would do and the tensors that fill the peak; SW_E_RESOURCE
 * when time is up with nothing found; SW_E_CANCELLED never: an interrupted search returns its best plan. */
SW_API SW_CHECKED sw_rc sw_plan_search(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_plan *out,
                                       sw_diag *d);

/* To the failure of a search in which no plan of the job fits, as notes: what would, in words of its layers, with what
 * a step takes over the fastest by rule without a limit and what a device holds: plans by rule of an unscheduled job
 * with something made again, and the smallest mesh with a longer first axis as far as found. What is looked for takes
 * some 10 s, or half the steps of `o`. */
SW_API void sw_note_what_fits(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_diag *d);

/* The same, with what is made again chosen together with the shardings (schedule.h), of a job of a program that runs as
 * it is. The plan is of a job of the schedule that was chosen, which the caller owns (sw_schedule_deinit, after the
 * plan); its time is that of its own account, its bound that of all choices. `told`: the request that the plan is told
 * by, that of the job but for pins. o->start may be of a schedule of the program, too; o->baselines and known, which
 * are of the program as it is, are not looked at. No plan made by rule that fits is faster, of the program as it is or
 * under a lever. */
SW_API SW_CHECKED sw_rc sw_plan_search_sources(const sw_job *j, const sw_request *told, const sw_plan_options *o,
                                               sw_arena *arena, sw_schedule *schedule, sw_plan *out, sw_diag *d);

/* Of a plan of a schedule: the plan in which nothing is made again, nor kept for what runs late, and all else is as it
 * is there. Of a schedule of its own, which the caller owns (sw_schedule_deinit, after the plan); in the arena. */
SW_API SW_CHECKED sw_rc sw_plan_without_copies(const sw_plan *p, sw_arena *arena, sw_schedule *schedule, sw_plan *out,
                                               sw_diag *d);

/* Numbers that add up to `of`: of what a step takes no less than, how much there is in a bound on it. */
typedef struct sw_bound_weights {
  int64_t of;
  int64_t kernels, launches, link[SW_MAX_LINKS]; /* kernels with what they are longer for beside communication */
  int64_t beside[SW_MAX_LEVELS];                 /* that: of SW_WEIGHT_UNIT, how much of what a level exchanges */
} sw_bound_weights;
enum { SW_WEIGHT_UNIT = 1 << 16 };

/* Why no plan takes less than a bound. A step takes at least its kernels with what they are longer for, at least what
 * it moves on each link, and at least its launches; the weighted sum of these is what the problem counts. Of a job
 * without overlap, the sum of all. */
typedef struct sw_plan_proof {
  bool timed;              /* the job has overlap */
  sw_problem problem;      /* of memory, what nodes hold in their first use */
  const int32_t *choice;   /* of the plan; one per node of the problem */
  const char *certificate; /* of bound_units (certificate.h) */
  int64_t bound_units;     /* no choice costs less */
  int64_t beside_units;    /* of a cost, at most so many units are no time */
  int64_t pruned_inexact;  /* as of a plan: strategies that the problem lacks */
  sw_bound_weights weights;
  unsigned links; /* bits of those that the problem's plans use */
  double bound_s; /* (bound_units - beside_units) units of cost, times SW_WEIGHT_UNIT / weights.of */
  int32_t n_choices;
  sw_plan *choices; /* choice c of all nodes that have so many: what it is */
} sw_plan_proof;
/* Of a plan that a search with these options found for the job, or for one with fewer requirements. Solves a problem:
 * options hold again. In the arena; borrows the job. SW_E_INPUT where the plan is none of the problem's. */
SW_API SW_CHECKED sw_rc sw_plan_prove(const sw_job *j, const sw_plan *p, const sw_plan_options *o, sw_arena *arena,
                                      sw_plan_proof *out, sw_diag *d);

/* A search that answers further questions: what would the plan be with these pins, too? The problem stands already, so
 * do its prices, and what is known of it holds; what is proven without the pins holds with them. So an answer takes
 * a fraction of the first search. */
typedef struct sw_planner sw_planner;
/* As sw_plan_search; the planner borrows what that does, and lives in the arena. */
SW_API SW_CHECKED sw_rc sw_planner_open(const sw_job *j, const sw_plan_options *o, sw_arena *arena, sw_planner **out,
                                        sw_plan *plan, sw_diag *d);
/* The plan with n pins besides those of the model, within the limits that the planner has. Each question is by itself:
 * earlier ones leave no pins. SW_E_RESOURCE where the problem never stood, else as sw_plan_search. */
SW_API SW_CHECKED sw_rc sw_planner_ask(sw_planner *p, int32_t n, const sw_pin *pins, sw_arena *arena, sw_plan *out,
                                       sw_diag *d);
/* The same within a capacity of its own, no greater than the planner's; n may be 0. */
SW_API SW_CHECKED sw_rc sw_planner_ask_within(sw_planner *p, int64_t capacity_bytes, int32_t n, const sw_pin *pins,
                                              sw_arena *arena, sw_plan *out, sw_diag *d);
SW_API void sw_planner_close(sw_planner *p); /* NULL allowed */

/* Plans that people make without search, from the roles of arguments (inputs, parameters, state), for comparison. Each
 * op follows its operands greedily. What the model requires is kept first. Axes that do not divide the batch cut the
 * sequence where that is faster (megatron, fsdp, zero1), else devices along them do the same. */
typedef enum sw_baseline {
  SW_BASELINE_REPLICATED,
  SW_BASELINE_DATA_PARALLEL, /* every input cut on its first dimension over all axes, parameters replicated */
  SW_BASELINE_MEGATRON,      /* last axis: weights alternately by columns and rows; the rest data-parallel */
  SW_BASELINE_FSDP,          /* inputs as data-parallel, parameters and state cut over all axes, gathered to use */
  SW_BASELINE_ZERO1,         /* data-parallel, but what only updates read, moments and master weights, is cut over all
                                axes: each device updates its part, and new parameters are gathered */
  SW_BASELINE_COUNT
} sw_baseline;
SW_API const char *sw_baseline_text(sw_baseline b);
SW_API SW_CHECKED sw_rc sw_baseline_build(const sw_job *j, sw_baseline b, sw_arena *arena, sw_plan *out, sw_diag *d);
/* All of them, in the order of their numbers. */
SW_API SW_CHECKED sw_rc sw_baselines_build(const sw_job *j, sw_arena *arena, const sw_comparison **out, sw_diag *d);

#endif
