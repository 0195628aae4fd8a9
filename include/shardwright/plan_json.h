/* Plans as JSON files (docs/plan-format.md): written by a search, edited by hand, checked when read. */
#ifndef SHARDWRIGHT_PLAN_JSON_H_
#define SHARDWRIGHT_PLAN_JSON_H_

#include "shardwright/plan.h"

/* Why no plan takes less: problem.json, solution.txt and certificate.txt, as `check-solution` reads them, and
 * bound.json, which has the weights and says what the nodes' choices are. Into a folder, which is made. */
SW_API SW_CHECKED sw_rc sw_proof_write(const sw_plan_proof *p, const char *dir, sw_diag *d);

SW_API SW_CHECKED sw_rc sw_plan_write(const sw_plan *p, const sw_breakdown *breakdown, sw_text *out, sw_diag *d);

/* What is known of a plan for a model whose sizes are not: measures as polynomials in the sizes. */
typedef struct sw_open_measures {
  int n;
  const char *const *sizes;                  /* names */
  const char *moved_bytes, *redundant_flops; /* NULL: not known, as sizes of the mesh are not */
  uint32_t open_axes;                        /* of the mesh, as bits */
} sw_open_measures;
/* The same without times; read back for the model with any sizes. */
SW_API SW_CHECKED sw_rc sw_plan_write_open(const sw_plan *p, const sw_open_measures *open, sw_text *out, sw_diag *d);

/* What a plan file is made for, read before a machine can be built. Texts and lists live in the arena. */
typedef struct sw_plan_head {
  sw_mesh mesh;
  const char *profile;  /* its name */
  const char *compiler; /* whose kernels it is priced by; "none" where the file does not say */
  const char *overlap;  /* what it is timed with: "none", also where the file does not say, or "compiler" */
  int32_t n_trips;
  const sw_said_trips *trips; /* that loops were taken to run (sw_graph_with_trips) */
} sw_plan_head;
SW_API SW_CHECKED sw_rc sw_plan_read_head(const char *path, sw_arena *arena, sw_plan_head *out, sw_diag *d);

/* What a plan file says that the plan takes, under the profile and for the model that it was made for. */
typedef struct sw_plan_record {
  bool priced; /* else the next two are not set */
  double total_s;
  int64_t peak_bytes;
} sw_plan_record;
SW_API SW_CHECKED sw_rc sw_plan_read_record(const char *path, sw_plan_record *out, sw_diag *d);

/* Read a plan for the graph and the machine, and verify it. A plan made for another model or mesh is stale: refused
 * with both hashes. It may be made for another profile: its costs are recounted by whoever asks. Ops that the file does
 * not name are uncut. */
SW_API SW_CHECKED sw_rc sw_plan_read(const char *path, const sw_job *j, sw_arena *arena, sw_plan *out, sw_diag *d);

/* What became of the entries of a plan for another version of the model. All in the arena. */
typedef struct sw_plan_left {
  int32_t line, col; /* of the entry */
  const char *why;   /* it fits nothing */
} sw_plan_left;
typedef struct sw_plan_renamed {
  const char *was, *now;
} sw_plan_renamed;
typedef struct sw_plan_transfer {
  bool same_model;                  /* it was made for just this one */
  int32_t n_taken;                  /* entries that fit something */
  int32_t n_renamed;                /* of these: something of another name, of the same kind in the same place */
  int32_t n_left;                   /* entries that fit nothing */
  int32_t n_args_open, n_ops_open;  /* of the model, without an entry that fits */
  const bool *args, *ops, *outputs; /* by argument, op, output: it has one */
  const sw_plan_renamed *renamed;
  const sw_plan_left *left;
} sw_plan_transfer;

/* Read a plan that may be for another version of the model: renamed, longer, of other shapes. Entries are matched by
 * name, and where that does not help, by kind and place; each that is legal is taken, and sw_plan_complete
 * chooses the rest. The plan is not verified. The mesh must be the same. */
SW_API SW_CHECKED sw_rc sw_plan_read_other(const char *path, const sw_job *j, sw_arena *arena, sw_plan *out,
                                           sw_plan_transfer *taken, sw_diag *d);

/* The schedule that a plan file has (docs/plan-format.md), or a file with a schedule alone; *any is false where a plan
 * has none: the program runs as it is. *stage: which of its stages is planned. adapt: it may
 * be of another version of the model, and is taken as far as it fits (sw_schedule_fit). Caller: sw_schedule_deinit. */
SW_API SW_CHECKED sw_rc sw_schedule_read(const char *path, const sw_request *written, sw_arena *arena, bool adapt,
                                         sw_schedule *out, int32_t *stage, bool *any, sw_diag *d);

#endif
