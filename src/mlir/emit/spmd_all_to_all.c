/* An all_to_all of several dimensions, or into another order, by the dialect's all_to_all of one: what is cut is
 * brought to the front, one position per member, and what came from the members goes from there to where it is joined.
 *
 *   [[x],[y],[]] -> [[],[],[x,y]] on 2x4, blocks 4x2x16:
 *     reshape 4x2x[2,4,2], transpose [2,4]x4x2x2, reshape 8x4x2x2, all_to_all axes [x,y] on dimension 0,
 *     reshape [2,4]x4x2x2, transpose [2]4x[4]2x2, reshape 8x8x2
 */
#include <string.h>

#include "mlir/emit/spmd_collective.h"

enum { MAX_PARTS = SW_GRID_AXES + SW_MAX_RANK };

/* Grid axes that a dimension has more in one tiling than in the other, at its end. */
typedef struct moved_axes {
  int n, axis[SW_GRID_AXES];
} moved_axes;

static void read_moved(const sw_grid *grid, const sw_tiling *less, const sw_tiling *more, int dim, moved_axes *out) {
  int before[SW_GRID_AXES], after[SW_GRID_AXES], common = 0;
  int n = sw_grid_axes(grid, less->refs + less->dim[dim].first_ref, less->dim[dim].n_refs, before);
  int m = sw_grid_axes(grid, more->refs + more->dim[dim].first_ref, more->dim[dim].n_refs, after);
  while (common < n && common < m && before[common] == after[common]) common++;
  out->n = m - common;
  memcpy(out->axis, after + common, (size_t)out->n * sizeof *after);
}

/* A shape of parts: of each, what it stands for: a grid axis, or the rest of a dimension. */
typedef struct parts {
  int n;
  int64_t size[MAX_PARTS];
  int what[MAX_PARTS]; /* grid axis, or SW_GRID_AXES + dimension */
} parts;

static void add_shape_part(parts *p, int what, int64_t size) {
  p->what[p->n] = what;
  p->size[p->n++] = size;
}

/* A block whose dimensions `moved` are split off in front of each. */
static parts split_parts(const sw_grid *grid, const sw_type *block, const moved_axes *moved) {
  parts p = {0};
  for (int d = 0; d < block->rank; d++) {
    int64_t rest = block->dims[d];
    for (int i = 0; i < moved[d].n; i++) {
      add_shape_part(&p, moved[d].axis[i], grid->axis[moved[d].axis[i]].size);
      rest /= grid->axis[moved[d].axis[i]].size;
    }
    add_shape_part(&p, SW_GRID_AXES + d, rest);
  }
  return p;
}

/* The group's axes in front, then the rests of the dimensions of `of`. */
static parts front_parts(const sw_grid *grid, const int *axes, int n, const parts *of) {
  parts p = {0};
  for (int i = 0; i < n; i++) add_shape_part(&p, axes[i], grid->axis[axes[i]].size);
  for (int i = 0; i < of->n; i++) {
    if (of->what[i] >= SW_GRID_AXES) add_shape_part(&p, of->what[i], of->size[i]);
  }
  return p;
}

static sw_ssa reshape_to_parts(sw_mlir *w, sw_ssa x, const parts *p) {
  return sw_mlir_unary(w, "stablehlo.reshape", x, sw_mlir_shaped(w, x.type.dtype, p->n, p->size), NULL);
}

static sw_ssa transpose_parts(sw_mlir *w, sw_ssa x, const parts *from, const parts *to) {
  int64_t permutation[MAX_PARTS];
  for (int i = 0; i < to->n; i++) {
    int at = 0;
    while (from->what[at] != to->what[i]) at++;
    permutation[i] = at;
  }
  const sw_ssa y = sw_mlir_temp(w, sw_mlir_shaped(w, x.type.dtype, to->n, to->size));
  sw_mlir_transpose(w, x, permutation, y);
  return y;
}

static void put_all_to_all_line(sw_mlir *w, const int *axes, int n, sw_ssa x, sw_ssa y) {
  sw_text_printf(w->out, "    %s = shard.all_to_all %s on @mesh grid_axes = [", y.name, x.name);
  for (int i = 0; i < n; i++) sw_text_printf(w->out, "%s%d", i ? ", " : "", axes[i]);
  sw_text_puts(w->out, "] split_axis = 0 concat_axis = 0 : ");
  sw_mlir_type(&x.type, w->out);
  sw_text_puts(w->out, " -> ");
  sw_mlir_type(&y.type, w->out);
  sw_mlir_end_line(w);
}

void sw_spmd_all_to_all_dims(sw_spmd_writer *s, const sw_collective *c, sw_ssa in, sw_ssa out) {
  sw_mlir *w = &s->w;
  moved_axes gained[SW_MAX_RANK], lost[SW_MAX_RANK];
  int axes[SW_GRID_AXES], n = sw_grid_axes(&w->grid, c->axes, c->n_axes, axes);
  for (int d = 0; d < in.type.rank; d++) {
    read_moved(&w->grid, c->src, c->dst, d, &gained[d]);
    read_moved(&w->grid, c->dst, c->src, d, &lost[d]);
  }
  parts cut = split_parts(&w->grid, &in.type, gained), joined = split_parts(&w->grid, &out.type, lost);
  parts front = front_parts(&w->grid, axes, n, &cut), folded = front;
  folded.n = 1;
  folded.size[0] = sw_axis_refs_size(c->axes, c->n_axes);
  for (int i = n; i < front.n; i++) add_shape_part(&folded, front.what[i], front.size[i]);
  sw_ssa x = reshape_to_parts(w, transpose_parts(w, reshape_to_parts(w, in, &cut), &cut, &front), &folded);
  sw_ssa y = sw_mlir_temp(w, x.type);
  if (s->dialect == SW_SPMD_STABLEHLO) {
    sw_spmd_stablehlo_line(s, c, x, y);
  } else {
    put_all_to_all_line(w, axes, n, x, y);
  }
  y = transpose_parts(w, reshape_to_parts(w, y, &front), &front, &joined);
  sw_mlir_line(w, &(sw_line){.op = "stablehlo.reshape", .n_in = 1, .n_out = 1, .in = &y, .out = &out});
}
