/* The grid of an MLIR text. Axes that are used in parts are split at the ends of the parts:
 *
 *   mesh x=8,y=4 with the sub-axis x:(1)2 in use:  grid 2x4x4 of x:(1)2, x:(2)4, y
 */
#include "mlir/emit/mlir.h"

void sw_grid_init(const sw_mesh *mesh, sw_grid *out) {
  *out = (sw_grid){.mesh = mesh};
  for (int a = 0; a < mesh->n_axes; a++) out->axis[out->n++] = sw_axis_whole(mesh, a);
}

/* Make `at` (a product of sizes from the axis' start) a border between two grid axes. */
static sw_rc cut_grid_axis(sw_grid *grid, int axis, int32_t at, sw_diag *d) {
  for (int i = 0; i < grid->n; i++) {
    sw_axis_ref *r = &grid->axis[i];
    int64_t end = (int64_t)r->pre * r->size;
    if (r->axis != axis || at <= r->pre || at >= end) continue;
    if (at % r->pre != 0 || end % at != 0 || grid->n == SW_GRID_AXES) {
      return SW_FAIL_INPUT(d, SW_NOWHERE,
                           "axis '%s' is used in parts that end at %d and between %d and %lld: no grid has all of them",
                           grid->mesh->axis[axis].name, at, r->pre, (long long)end);
    }
    for (int k = grid->n++; k > i + 1; k--) grid->axis[k] = grid->axis[k - 1];
    grid->axis[i + 1] = (sw_axis_ref){axis, at, (int32_t)(end / at)};
    grid->axis[i].size = at / grid->axis[i].pre;
    return SW_OK;
  }
  return SW_OK;
}

sw_rc sw_grid_use(sw_grid *grid, const sw_axis_ref *refs, int n, sw_diag *d) {
  for (int i = 0; i < n; i++) {
    SW_TRY(cut_grid_axis(grid, refs[i].axis, refs[i].pre, d));
    SW_TRY(cut_grid_axis(grid, refs[i].axis, refs[i].pre * refs[i].size, d));
  }
  return SW_OK;
}

int sw_grid_axes(const sw_grid *grid, const sw_axis_ref *refs, int n, int *out) {
  int found = 0;
  for (int i = 0; i < n; i++) {
    for (int k = 0; k < grid->n && found < SW_GRID_AXES; k++) {
      const sw_axis_ref *g = &grid->axis[k];
      bool inside = g->axis == refs[i].axis && g->pre >= refs[i].pre &&
                    (int64_t)g->pre * g->size <= (int64_t)refs[i].pre * refs[i].size;
      if (inside && (g->size > 1 || refs[i].size == 1)) out[found++] = k;
    }
  }
  return found;
}
