/* Opening a job: a model, a hardware profile and a mesh, by name or in memory, bound to what a plan is searched for.
 *
 *   sw_opened o;
 *   SW_TRY(sw_open_job(&(sw_open_options){.model = "gpt2.json", .hw = "dgx-h100"}, &arena, &o, d));
 *   SW_TRY(sw_plan_search(&o.job, &plan_options, &arena, &plan, d));
 *   ...
 *   sw_close_job(&o);
 *
 * The mesh is the one that is given, else the model's own, else the first of the profile. The kernels are those of the
 * compiler that is given, else of that of the plan that is given, else as sw_compiler_of.
 */
#ifndef SHARDWRIGHT_OPEN_H_
#define SHARDWRIGHT_OPEN_H_

#include "shardwright/plan_json.h"
#include "shardwright/profile.h"
#include "shardwright/program.h"
#include "shardwright/sizes.h"

/* 0 and NULL stand for what is not said. All is borrowed during the call. */
typedef struct sw_open_options {
  /* the model */
  const char *model; /* JSON, or a StableHLO program: a file, "-" for standard input; or what messages call `text` */
  const char *text;  /* its text, with a NUL behind it; NULL: that of the file */
  size_t text_bytes;
  const sw_sizes *sizes; /* that it leaves open, as sw_sizes_give had them */
  bool spare_sizes;      /* some of them may be of another model */
  bool open_sizes;       /* those that nobody says may stay unknown, of axes too: others stand in for them */
  const char *attention; /* "as-written" or "fused" to one op; NULL: as written */
  int32_t n_trips;
  const sw_said_trips *trips;            /* of its loops; the last of those said of a loop holds */
  const char *trips_option, *trips_form; /* how the caller's user says them, for messages: "--trips", " NAME=N" */

  /* of a program alone (program.h) */
  const char *keep; /* shardings that are pins: "all", "io" or "none"; NULL: all */
  const char *roles, *rules;
  const sw_said_role *said_roles;
  int32_t n_said_roles;
  const char *roles_option;
  bool by_device;

  /* the machine */
  const char *hw; /* profile (profile_json.h); NULL: that of the plan, if it is shipped, else "uniform" */
  int n_changes;
  const char *const *changes; /* of its numbers */
  int64_t devices;            /* of one with an open level; 0: as many as the mesh has */
  const sw_mesh *mesh;        /* its device_ids: borrowed until the job is closed */
  const char *compiler;       /* kernel.h */
  const char *overlap;        /* "none" or "compiler" (sw_overlap); NULL: that of the plan, else as sw_job_make */

  const char *schedule;   /* a file with one, or a plan; NULL: the program runs as it is */
  sw_recompute recompute; /* SEARCH: left to sw_plan_search_sources */
  int64_t memory;         /* of a device, by which sw_lever_choose and timelines go; 0: the profile's */

  /* the plan that the job's is to be, or start from: its compiler and trips hold where no others are given */
  const sw_plan_head *of_plan;
  bool adapt; /* it may be for another version of the model: trips of loops that there are not are left out */

  /* Called with every warning (rc = SW_OK; line 0: of no place), and every error but the last. May be NULL. */
  void (*report)(void *user, const sw_diag *d);
  void *user;
} sw_open_options;

/* What sizes that are not known are taken for, class by class: unit * times[class]. */
typedef struct sw_stand_in {
  int64_t unit, times[SW_MAX_SIZES];
} sw_stand_in;

/* It stays where it is: the job borrows from it. */
typedef struct sw_opened {
  sw_job job;           /* its mesh: sw_machine_mesh(job.machine) */
  sw_program *program;  /* owned, as its graph is; NULL: the model is JSON */
  sw_graph *read;       /* as it was read, before trips were said; owned, unless there is a program */
  sw_graph *as_written; /* owned: of no program, before attention was fused; NULL: it was not */
  sw_schedule schedule; /* owned; of the job, where it has one */
  sw_schedule of_start; /* likewise, of a plan to start from */
  int32_t n_compared;
  sw_schedule *compared; /* likewise, of plans that are told beside the job's; the list is in the arena */
  const sw_profile *profile;
  sw_sizes sizes; /* that the model leaves open; some are not known only where that was asked for */
  sw_stand_in stand_in;
  uint32_t open_axes; /* of the mesh, as bits: their sizes are not known either */
} sw_opened;

/* What is not owned lives in the arena. SW_E_INPUT and SW_E_USAGE for what the readers, sw_mesh_verify,
 * sw_machine_build and sw_job_make refuse, and for sizes that nobody says; then there is nothing to close. */
SW_API SW_CHECKED sw_rc sw_open_job(const sw_open_options *o, sw_arena *arena, sw_opened *out, sw_diag *d);
/* Plans borrow from the job, and go first. */
SW_API void sw_close_job(sw_opened *o);

#endif
