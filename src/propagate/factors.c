/* Factors off loops and maps. For a slice [0:32, 1:2] of f32[32,4], whose loops are d0 (32) and d1 (1):
 *
 *   (d0,d1)->(d0,d1+1), (d0,d1)->(d0,d1)      ([i, j])->([i, j]) {i=32, j=4} permutation={j}
 *
 * A parallel loop passes through; it permutes where a tensor is indexed by it at an offset, with a coefficient or in a
 * window, or has another size. Reductions and masked loops reduce. Any other loop needs replication, and so does a dim
 * that no loop reaches.
 */
#include "propagate/factors.h"

typedef struct rule_column {
  bool none;
  unsigned words;
  bool (*hook)(sw_factors *f); /* false: no rule */
} rule_column;

/* Words of the cells. */
enum {
  none = 0,
  IN_ORDER = SW_FACTORS_IN_ORDER,
  OF_OPERAND = SW_FACTORS_OF_OPERAND,
  BY_SIZE = SW_FACTORS_BY_SIZE,
  PERMUTING = SW_FACTORS_PERMUTING,
  BLOCKED = SW_FACTORS_BLOCKED,
  INITIAL = SW_FACTORS_INITIAL,
};
#define COLUMN_none .none = true
#define COLUMN_LOOPS(bits, by) .words = (bits), .hook = sw_factors_hook_##by
#define COLUMN_DIMS(bits, by) .words = SW_FACTORS_DIMS | (bits), .hook = sw_factors_hook_##by
#define sw_factors_hook_none NULL

static const rule_column kColumn[SW_OP_COUNT] = {
#define SW_COLUMN_FACTORS(id, factors) [SW_OP_##id] = {COLUMN_##factors},
#include "shardwright/ops.def"
};

int sw_factor(sw_factors *f, int64_t size, sw_factor_kind kind) {
  if (f->n == SW_MOST_FACTORS) {
    f->full = true;
    return 0;
  }
  f->size[f->n] = size;
  f->kind[f->n] = kind;
  return f->n++;
}

void sw_factor_in(sw_factors *f, int factor, int tensor, int dim) {
  if (f->dim[tensor][dim].n == SW_MOST_OF_DIM) {
    f->full = true;
    return;
  }
  f->dim[tensor][dim].at[f->dim[tensor][dim].n++] = (uint8_t)factor;
}

int sw_factor_alone(sw_factors *f, int tensor, int dim, sw_factor_kind kind) {
  int factor = sw_factor(f, sw_factor_type(f, tensor)->dims[dim], kind);
  sw_factor_in(f, factor, tensor, dim);
  return factor;
}

/* --- a factor of a loop ------------------------------------------------------------------------------------------- */

/* The tensor whose factors this one has: itself, or the first result. */
static int sharer(const sw_factors *f, int tensor) {
  int result = sw_factor_result(f, 0);
  const sw_map *maps = f->op->nest->maps;
  bool shares = f->words & SW_FACTORS_DIMS && tensor < result && maps[tensor].rank == maps[result].rank;
  return shares ? result : tensor;
}

static bool has_loop(const sw_affine *e, int loop) {
  for (int i = 0; i < e->n_terms; i++) {
    if (e->terms[i].loop == loop) return true;
  }
  return false;
}

/* How tensors are indexed by a loop. */
typedef struct reach {
  bool in_result, moved, resized;
} reach;

static void see_dim(const sw_factors *f, int loop, int tensor, int dim, reach *out) {
  const sw_affine *e = &f->op->nest->maps[tensor].dims[dim];
  int64_t extent = sw_factor_type(f, tensor)->dims[dim];
  bool plain = e->n_terms == 1 && e->terms[0].loop == loop && e->terms[0].coef == 1;
  if (e->mixed_radix) return;
  out->moved |= e->constant != 0 || !(plain || (e->n_terms == 0 && extent == 1));
  out->resized |= extent != f->op->nest->loops[loop].size;
}

static reach reach_of(const sw_factors *f, int loop) {
  const sw_loop_nest *s = f->op->nest;
  reach r = {0};
  for (int t = 0; t < s->n_maps; t++) {
    for (int k = 0; k < s->maps[t].rank; k++) {
      if (!has_loop(&s->maps[sharer(f, t)].dims[k], loop)) continue;
      r.in_result |= t >= f->op->n_operands;
      see_dim(f, loop, t, k, &r);
    }
  }
  return r;
}

static sw_factor_kind kind_of_loop(const sw_factors *f, const sw_loop *l, reach r) {
  bool passes = l->kind == SW_LOOP_PARALLEL, reduces = l->kind == SW_LOOP_REDUCTION || l->kind == SW_LOOP_MASKED;
  if (l->size <= 0) reduces = !(passes = r.in_result); /* whole, as there is nothing to cut */
  if (f->words & SW_FACTORS_BY_SIZE) passes = !r.resized, reduces = r.moved = false;
  if (reduces) return SW_FACTOR_REDUCTION;
  if (passes) return r.moved || r.resized ? SW_FACTOR_PERMUTATION : SW_FACTOR_PASS;
  return f->words & SW_FACTORS_PERMUTING ? SW_FACTOR_PERMUTATION : SW_FACTOR_REPLICATE;
}

/* `dim`: where it is met first. */
static int of_loop(sw_factors *f, int loop, int dim) {
  const sw_loop *l = &f->op->nest->loops[loop];
  if (f->of_loop[loop]) return f->of_loop[loop] - 1;
  reach r = reach_of(f, loop);
  bool from_operand = r.resized && f->words & SW_FACTORS_OF_OPERAND;
  int factor = sw_factor(f, from_operand ? sw_factor_type(f, 0)->dims[dim] : l->size, kind_of_loop(f, l, r));
  f->blocked[factor] = r.resized && f->words & SW_FACTORS_BLOCKED;
  f->of_loop[loop] = factor + 1;
  return factor;
}

/* --- of dims ------------------------------------------------------------------------------------------------------ */

int sw_factor_of_dim(sw_factors *f, int tensor, int dim) {
  int from = sharer(f, tensor), major = -1;
  if (f->dim[tensor][dim].n) return f->dim[tensor][dim].at[0];
  const sw_affine *e = &f->op->nest->maps[from].dims[dim];
  if (e->n_terms == 0) {
    bool one = sw_factor_type(f, from)->dims[dim] == 1;
    return sw_factor_alone(f, from, dim, one ? SW_FACTOR_PASS : SW_FACTOR_REPLICATE);
  }
  for (int i = 0; i < e->n_terms; i++) {
    int factor = of_loop(f, e->terms[i].loop, dim);
    if (i == 0) major = factor;
  }
  return major;
}

void sw_factors_of_dims(sw_factors *f) {
  const sw_loop_nest *s = f->op->nest;
  for (int l = 0; f->words & SW_FACTORS_IN_ORDER && l < s->n_loops; l++) (void)of_loop(f, l, 0);
  for (int t = 0; t < s->n_maps; t++) {
    for (int k = 0; k < s->maps[t].rank; k++) (void)sw_factor_of_dim(f, t, k);
  }
}

/* What the map says, where no hook has said it. */
static void fill_dim(sw_factors *f, int tensor, int dim) {
  int from = sharer(f, tensor);
  const sw_affine *e = &f->op->nest->maps[from].dims[dim];
  if (f->dim[tensor][dim].n) return;
  if (f->dim[from][dim].n) {
    f->dim[tensor][dim] = f->dim[from][dim];
    return;
  }
  for (int i = 0; i < e->n_terms; i++) sw_factor_in(f, of_loop(f, e->terms[i].loop, dim), tensor, dim);
}

/* Of several factors of a dim those of size 1 are left out. */
static void leave_out_ones(sw_factors *f, int tensor, int dim) {
  int n = f->dim[tensor][dim].n, kept = 0;
  uint8_t *at = f->dim[tensor][dim].at;
  for (int i = 0, left = n; i < n; i++) {
    bool out = f->size[at[i]] == 1 && left > 1;
    left -= out;
    if (!out) at[kept++] = at[i];
  }
  f->dim[tensor][dim].n = kept;
}

bool sw_factors_build(const sw_graph *g, const sw_op *op, sw_factors *f) {
  const rule_column *column = &kColumn[op->code];
  const sw_loop_nest *s = op->nest;
  *f = (sw_factors){.g = g, .op = op, .words = column->words};
  if (column->none || !s || s->n_maps > SW_MOST_TENSORS || s->n_loops > SW_MOST_FACTORS) return false;
  if (column->hook && !column->hook(f)) return false;
  sw_factors_of_dims(f);
  for (int t = 0; t < s->n_maps; t++) {
    for (int k = 0; k < s->maps[t].rank; k++) {
      fill_dim(f, t, k);
      leave_out_ones(f, t, k);
    }
  }
  return !f->full;
}
