/* Where no plan fits, a larger mesh on which one does: the machine's, its first axis doubled, as often as needed. That
 * is the axis along which batches are usually cut. A plan by rule that fits is enough; else a short search looks for
 * one.
 */
#include "plan/levers.h"
#include "plan/search.h"

#include <math.h>

#include "base/checked.h"

enum { MOST_DOUBLINGS = 3 };

typedef struct wider {
  const sw_job *job;
  const sw_plan_options *asked;
  double until_s; /* of sw_now_s: no try begins later; 0: steps are counted instead */
  int tries_left;
  int64_t peak; /* of a plan that fits; -1: none was found */
} wider;

/* --- the model on it ---------------------------------------------------------------------------------------------- */

/* Refs to the whole axis stay that. */
static void widen_refs(sw_axis_ref *refs, int n, const sw_mesh *from, const sw_mesh *to) {
  for (int i = 0; i < n; i++)
    if (refs[i].axis == 0 && refs[i].size == from->axis[0].size) refs[i] = sw_axis_whole(to, 0);
}

static sw_rc widen_copy(const sw_axis_ref **refs, int n, const sw_mesh *from, const sw_mesh *to, sw_arena *arena,
                        sw_diag *d) {
  sw_axis_ref *copy;
  SW_ARENA_NEW(copy, arena, n + 1, d);
  for (int i = 0; i < n; i++) copy[i] = (*refs)[i];
  widen_refs(copy, n, from, to);
  *refs = copy;
  return SW_OK;
}

/* The request as it would be read with --mesh. SW_E_INPUT: its annotations do not allow the mesh. */
static sw_rc request_on(const sw_request *r, const sw_mesh *from, const sw_mesh *to, sw_arena *arena, sw_request *out,
                        sw_diag *d) {
  sw_annotation *all;
  *out = *r;
  out->mesh = *to;
  if (!r->n_annotations) return SW_OK;
  if (from->axis[0].size == 1) /* which annotations that are sealed do not have any more */
    return SW_FAIL_INPUT(d, SW_NOWHERE, "annotations may name an axis of one device");
  SW_ARENA_NEW(all, arena, r->n_annotations, d);
  for (int32_t i = 0; i < r->n_annotations; i++) {
    sw_annotation *a = &all[i];
    *a = r->annotations[i];
    widen_refs(a->sharding.refs, a->sharding.n_refs + a->sharding.n_partial, from, to);
    SW_TRY(widen_copy(&a->kept, a->n_kept, from, to, arena, d));
    SW_TRY(widen_copy(&a->loop_refs, a->n_loop_refs, from, to, arena, d));
  }
  out->annotations = all;
  return sw_request_verify(out, d);
}

/* --- a try -------------------------------------------------------------------------------------------------------- */

/* What a try may take. False: there is too little left for a search. */
static bool limit(const wider *w, sw_plan_options *o) {
  const int64_t kLeast = 100000000, work = w->asked->solve.work_limit;
  const double left_s = w->until_s - sw_now_s();
  o->solve = (sw_solve_options){
      .solver = o->solve.solver, .gap = 1, .threads = 1, .seed = o->solve.seed, .cancel = o->solve.cancel};
  o->solve.work_limit = work > 0 ? work / (INT64_C(2) * MOST_DOUBLINGS) : 0;
  if (work > 0) return work >= kLeast;
  o->solve.time_limit_s = left_s / w->tries_left;
  return left_s > 0;
}

/* A plan by rule, or what a short search finds. */
static sw_rc find_plan(const wider *w, const sw_job *j, sw_plan_options *o, sw_arena *arena, sw_plan *out, bool *any,
                       sw_diag *d) {
  sw_search k = {.job = *j, .asked = o, .selected = o->selection, .arena = arena};
  SW_TRY(sw_search_find_known(&k, out, any, d));
  if (*any || !limit(w, o)) return SW_OK;
  sw_rc rc = sw_search_open(&k, out, d);
  sw_search_close(&k);
  *any = rc == SW_OK;
  return rc;
}

sw_rc sw_job_on_mesh(const sw_job *j, const sw_mesh *mesh, sw_arena *arena, sw_job *out, sw_diag *d) {
  sw_request *asked;
  sw_machine *m;
  SW_ARENA_NEW(asked, arena, 1, d);
  SW_TRY(sw_machine_build(arena, sw_profile_unsized(sw_machine_profile(j->machine)), mesh, &m, d));
  SW_TRY(request_on(j->request, sw_machine_mesh(j->machine), mesh, arena, asked, d));
  return sw_job_make(sw_compiled_as(j), asked, m, arena, out, d);
}

static sw_rc try_mesh(wider *w, const sw_mesh *mesh, sw_arena *arena, sw_diag *d) {
  const sw_selection_options *asked = &w->asked->selection;
  sw_plan_options o = {.solve = w->asked->solve,
                       .selection = {.even = asked->even,
                                     .args_whole = asked->args_whole,
                                     .capacity_bytes = asked->capacity_bytes,
                                     .cut_heavy_ops = asked->cut_heavy_ops}};
  sw_job job;
  sw_plan plan;
  sw_breakdown a;
  bool any;
  SW_TRY(sw_job_on_mesh(w->job, mesh, arena, &job, d));
  SW_TRY(find_plan(w, &job, &o, arena, &plan, &any, d));
  if (!any) return SW_OK;
  SW_TRY(sw_plan_breakdown(&plan, arena, &a, d));
  if (a.peak_bytes <= o.selection.capacity_bytes) w->peak = a.peak_bytes;
  return SW_OK;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void note(const sw_mesh *mesh, int64_t peak, sw_diag *d) {
  sw_text t = {0};
  sw_mesh_print(mesh, &t);
  sw_text_puts(&t, ", as far as found: a plan there holds ");
  sw_text_bytes(&t, (double)peak);
  sw_diag_note(d, "the smallest mesh with more devices along %s that would do is %s per device", mesh->axis[0].name,
               sw_text_str(&t));
  sw_text_free(&t);
}

static bool is_over(const wider *w) {
  return sw_cancelled(w->asked->solve.cancel) || (w->until_s > 0 && sw_now_s() >= w->until_s);
}

void sw_search_note_wider_mesh(const sw_job *j, const sw_plan_options *o, sw_diag *d) {
  const double kOfLimit = 0.1, kMost_s = 10, limit_s = o->solve.time_limit_s;
  sw_mesh mesh = *sw_machine_mesh(j->machine);
  wider w = {.job = j, .asked = o, .tries_left = MOST_DOUBLINGS, .peak = -1};
  if (!mesh.n_axes || mesh.device_ids) return;
  if (!o->solve.work_limit) w.until_s = sw_now_s() + (limit_s > 0 ? fmin(kMost_s, kOfLimit * limit_s) : kMost_s);
  for (; w.tries_left > 0 && w.peak < 0 && !is_over(&w); w.tries_left--) {
    sw_arena arena = {0};
    sw_diag why = {0};
    mesh.axis[0].size *= 2;
    sw_rc rc = try_mesh(&w, &mesh, &arena, &why);
    sw_arena_deinit(&arena);
    if (rc && rc != SW_E_INFEASIBLE && rc != SW_E_RESOURCE) break; /* nor will a larger one go */
  }
  if (w.peak >= 0) note(&mesh, w.peak, d);
}
