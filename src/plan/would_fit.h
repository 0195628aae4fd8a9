/* What would fit, where no plan of a job does (plan.h). */
#ifndef PLAN_WOULD_FIT_H_
#define PLAN_WOULD_FIT_H_

#include "shardwright/plan.h"

enum {
  SW_FIT_TRIES = 3
}; /* of a kind: each doubles devices, or halves a batch; one more is between the last two meshes */
/* What is looked for, and how long. */
typedef struct sw_fit_limits {
  const sw_plan_options *asked; /* of the search that failed: of its steps, tries take half as many in all */
  double until_s;               /* of sw_now_s: no search begins later, unless steps are counted */
  bool recomputes;              /* with all of layers made again, where else nothing fits */
  double base_s;                /* what a step takes by rule, without a limit; 0: unknown */
} sw_fit_limits;
/* What a plan of it takes and holds. */
typedef struct sw_fitting {
  double total_s;
  int64_t peak_bytes;
  bool recomputes;
} sw_fitting;

/* sw_note_what_fits; sets the limits for what else may be looked for, but `asked`. */
SW_API void sw_note_fits(const sw_job *j, sw_fit_limits *l, sw_arena *arena, sw_diag *d);
SW_API bool sw_fit_is_over(const sw_fit_limits *l);
/* By rule, else by a short search, else by rule with layers made again; tries_left: this one and those that
 * may follow. */
SW_API SW_CHECKED sw_rc sw_find_fitting(const sw_job *j, const sw_fit_limits *l, int tries_left, sw_arena *arena,
                                        sw_fitting *out, bool *any, sw_diag *d);
/* "+4 %, 61 GiB", beside the step of the limits. */
SW_API void sw_fitting_print(const sw_fitting *f, const sw_fit_limits *l, sw_text *out);
/* wider_mesh.c. The smallest with a longer first axis on which a plan fits, as far as is found. */
bool sw_find_wider_mesh(const sw_job *j, const sw_fit_limits *l, sw_mesh *mesh, sw_fitting *out);

#endif
