/* Where no plan fits, a larger mesh on which one does: the machine's, its first axis doubled, as often as needed, or
 * with three quarters of those devices. That is the axis along which batches are usually cut.
 */
#include "plan/would_fit.h"

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

static sw_rc job_on_mesh(const sw_job *j, const sw_mesh *mesh, sw_arena *arena, sw_job *out, sw_diag *d) {
  sw_request *asked;
  sw_machine *m;
  SW_ARENA_NEW(asked, arena, 1, d);
  SW_TRY(sw_machine_build(arena, sw_profile_unsized(sw_machine_profile(j->machine)), mesh, &m, d));
  SW_TRY(request_on(j->request, sw_machine_mesh(j->machine), mesh, arena, asked, d));
  SW_TRY(sw_job_make(sw_compiled_as(j), asked, m, arena, out, d));
  out->overlap = j->overlap;
  out->memory = j->memory;
  return SW_OK;
}

/* *any: a plan fits on the mesh. */
static sw_rc try_mesh(const sw_job *j, const sw_fit_limits *l, const sw_mesh *mesh, int tries_left, sw_fitting *out,
                      bool *any) {
  sw_arena arena = {0};
  sw_job job;
  *any = false;
  sw_rc rc = job_on_mesh(j, mesh, &arena, &job, NULL);
  if (!rc) rc = sw_find_fitting(&job, l, tries_left, &arena, out, any, NULL);
  sw_arena_deinit(&arena);
  return rc;
}

bool sw_find_wider_mesh(const sw_job *j, const sw_fit_limits *l, sw_mesh *mesh, sw_fitting *out) {
  sw_fitting on_fewer;
  bool any = false, fewer = false;
  *mesh = *sw_machine_mesh(j->machine);
  if (!mesh->n_axes || mesh->device_ids) return false;
  for (int left = SW_FIT_TRIES; left > 0 && !any && !sw_fit_is_over(l); left--) {
    mesh->axis[0].size *= 2;
    if (try_mesh(j, l, mesh, left, out, &any)) break; /* nor will a larger one go */
  }
  sw_mesh between = *mesh;
  const int64_t before = mesh->axis[0].size / 2;
  between.axis[0].size = before + before / 2;
  if (!any || before % 2 || sw_fit_is_over(l)) return any;
  if (!try_mesh(j, l, &between, 1, &on_fewer, &fewer) && fewer) {
    *mesh = between;
    *out = on_fewer;
  }
  return true;
}
