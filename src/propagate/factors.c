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
  DIMS = 1,       /* operands of the rank of the first result share its factors, dim by dim */
  IN_ORDER = 2,   /* named in the order of the loops, not in that in which tensors have them */
  OF_OPERAND = 4, /* sizes are those of operand 0, where that differs */
  BY_SIZE = 8,    /* passed through where sizes agree, whatever the loops say */
  PERMUTING = 16, /* a permutation where it would need replication */
  BLOCKED = 32,   /* blocked where sizes differ */
  INITIAL = 64,   /* StableHLO has an initial value as a scalar operand, our op says it by its kind */
};
#define COLUMN_none .none = true
#define COLUMN_LOOPS(bits, by) .words = (bits), .hook = sw_factors_hook_##by
#define COLUMN_DIMS(bits, by) .words = DIMS | (bits), .hook = sw_factors_hook_##by
#define sw_factors_hook_none NULL

static const rule_column kColumn[SW_OP_COUNT] = {
#define SW_COLUMN_FACTORS(id, factors) [SW_OP_##id] = {COLUMN_##factors},
#include "shardwright/ops.def"
};

bool sw_factors_begin(sw_factors *f, int n_operands, int n_results, const sw_type *const *types) {
  const int n = n_operands + n_results;
  if (n > SW_MOST_TENSORS) return false;
  *f = (sw_factors){.rule = {.n_operands = n_operands, .n_results = n_results}};
  f->rule.dim = f->dim;
  for (int t = 0; t < n; t++) {
    f->type[t] = types[t];
    f->rule.rank[t] = types[t] ? (uint8_t)types[t]->rank : 0;
  }
  return true;
}

void sw_factors_alike(sw_factors *f) {
  for (int k = 0; k < f->rule.rank[0]; k++) {
    int factor = sw_factor(f, f->type[0]->dims[k], SW_FACTOR_PASS);
    for (int t = 0; t < f->rule.n_operands + f->rule.n_results; t++) {
      if (f->rule.rank[t] == f->rule.rank[0]) sw_factor_in(f, factor, t, k);
    }
  }
}

int sw_factor(sw_factors *f, int64_t size, sw_factor_kind kind) {
  if (f->rule.n == SW_MOST_FACTORS) {
    f->full = true;
    return 0;
  }
  f->rule.size[f->rule.n] = size;
  f->rule.kind[f->rule.n] = kind;
  return f->rule.n++;
}

void sw_factor_in(sw_factors *f, int factor, int tensor, int dim) {
  sw_factor_dim *at = sw_factor_dim_of(f, tensor, dim);
  f->full |= at->n == SW_MOST_OF_DIM;
  if (at->n < SW_MOST_OF_DIM) at->at[at->n++] = (uint8_t)factor;
}

int sw_factor_alone(sw_factors *f, int tensor, int dim, sw_factor_kind kind) {
  int factor = sw_factor(f, f->type[tensor]->dims[dim], kind);
  sw_factor_in(f, factor, tensor, dim);
  return factor;
}

/* --- a factor of a loop ------------------------------------------------------------------------------------------- */

/* The tensor whose factors this one has: itself, or the first result. */
static int sharer(const sw_factors *f, int tensor) {
  int result = f->rule.n_operands;
  const sw_map *maps = f->op->nest->maps;
  bool shares = f->words & DIMS && tensor < result && maps[tensor].rank == maps[result].rank;
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
  int64_t extent = f->type[tensor]->dims[dim];
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
  if (f->words & BY_SIZE) passes = !r.resized, reduces = r.moved = false;
  if (reduces) return SW_FACTOR_REDUCTION;
  if (passes) return r.moved || r.resized ? SW_FACTOR_PERMUTATION : SW_FACTOR_PASS;
  return f->words & PERMUTING ? SW_FACTOR_PERMUTATION : SW_FACTOR_REPLICATE;
}

/* `dim`: where it is met first. */
static int of_loop(sw_factors *f, int loop, int dim) {
  const sw_loop *l = &f->op->nest->loops[loop];
  if (f->of_loop[loop]) return f->of_loop[loop] - 1;
  reach r = reach_of(f, loop);
  bool from_operand = r.resized && f->words & OF_OPERAND;
  int factor = sw_factor(f, from_operand ? f->type[0]->dims[dim] : l->size, kind_of_loop(f, l, r));
  f->rule.blocked[factor] = r.resized && f->words & BLOCKED;
  f->of_loop[loop] = factor + 1;
  return factor;
}

/* --- of dims ------------------------------------------------------------------------------------------------------ */

int sw_factor_of_dim(sw_factors *f, int tensor, int dim) {
  int from = sharer(f, tensor), major = -1;
  if (sw_factor_dim_of(f, tensor, dim)->n) return sw_factor_dim_of(f, tensor, dim)->at[0];
  const sw_affine *e = &f->op->nest->maps[from].dims[dim];
  if (e->n_terms == 0) {
    bool one = f->type[from]->dims[dim] == 1;
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
  for (int l = 0; f->words & IN_ORDER && l < s->n_loops; l++) (void)of_loop(f, l, 0);
  for (int t = 0; t < s->n_maps; t++) {
    for (int k = 0; k < s->maps[t].rank; k++) (void)sw_factor_of_dim(f, t, k);
  }
}

/* What the map says, where no hook has said it. */
static void fill_dim(sw_factors *f, int tensor, int dim) {
  int from = sharer(f, tensor);
  const sw_affine *e = &f->op->nest->maps[from].dims[dim];
  sw_factor_dim *at = sw_factor_dim_of(f, tensor, dim);
  if (at->n) return;
  *at = *sw_factor_dim_of(f, from, dim);
  if (at->n) return;
  for (int i = 0; i < e->n_terms; i++) sw_factor_in(f, of_loop(f, e->terms[i].loop, dim), tensor, dim);
}

/* Of several factors of a dim those of size 1 are left out. */
static void leave_out_ones(sw_factors *f, int tensor, int dim) {
  sw_factor_dim *at = sw_factor_dim_of(f, tensor, dim);
  const int n = at->n;
  for (int i = 0, kept = 0; i < n; i++) {
    bool out = f->rule.size[at->at[i]] == 1 && at->n > 1;
    at->n -= out;
    if (!out) at->at[kept++] = at->at[i];
  }
}

bool sw_factors_build(const sw_graph *g, const sw_op *op, sw_factors *f) {
  const rule_column *column = &kColumn[op->code];
  const sw_loop_nest *s = op->nest;
  const sw_type *types[SW_MOST_TENSORS];
  if (column->none || !s || s->n_maps > SW_MOST_TENSORS || s->n_loops > SW_MOST_FACTORS) return false;
  for (int t = 0; t < s->n_maps; t++) types[t] = sw_port_type(g, op, t);
  if (!sw_factors_begin(f, op->n_operands, op->n_results, types)) return false;
  f->g = g;
  f->op = op;
  f->words = column->words;
  f->initial = column->words & INITIAL;
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
