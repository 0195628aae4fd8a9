/* Builds the loops and maps of an op in caller-owned steps: begin, loops, one call per mapped dimension, finish. For
 * transpose of f32[2,3]:
 *
 *   first = sw_nest_parallel_dims(b, result)      d0 (3), d1 (2)
 *   sw_nest_identity(b, sw_nest_result(b, 0), first)          result  (d0,d1)
 *   sw_nest_set(b, 0, 1, first); sw_nest_set(b, 0, 0, first+1)   operand (d1,d0)
 */
#include "graph/ops/nest.h"

#include "collective/scalar.h"

static unsigned undefined_kinds(sw_dtype t) {
  unsigned kinds = 0;
  for (int k = 0; k < SW_REDUCTION_COUNT; k++) kinds |= (unsigned)!sw_reduction_applies((sw_reduction)k, t) << k;
  return kinds;
}

void sw_nest_begin(sw_nest_builder *b, sw_arena *arena, int n_operands, const sw_type *operands, int n_results,
                   const sw_type *results, double flops, sw_diag *d) {
  b->arena = arena;
  b->flops = flops;
  b->d = d;
  b->rc = SW_OK;
  b->n_loops = b->n_linear = 0;
  b->undefined = 0;
  for (int i = 0; i < n_operands; i++) b->undefined |= undefined_kinds(operands[i].dtype);
  for (int i = 0; i < n_results; i++) b->undefined |= undefined_kinds(results[i].dtype);
  b->n_operands = n_operands;
  b->n_maps = n_operands + n_results;
  b->maps = sw_arena_alloc(arena, (size_t)b->n_maps, sizeof *b->maps, d);
  if (!b->maps) b->rc = SW_E_RESOURCE;
  for (int i = 0; !b->rc && i < b->n_maps; i++) {
    int rank = (i < n_operands ? operands[i] : results[i - n_operands]).rank;
    b->maps[i].rank = rank;
    b->maps[i].dims = sw_arena_alloc(arena, (size_t)rank, sizeof(sw_affine), d);
    if (!b->maps[i].dims) b->rc = SW_E_RESOURCE;
  }
}

int sw_nest_combining_loop(sw_nest_builder *b, int64_t size, sw_loop_kind kind, sw_reduction combiner) {
  if (b->rc) return 0;
  if (b->n_loops == SW_MAX_LOOPS) {
    b->rc = SW_BUG(b->d, "an op has more than %d loops", SW_MAX_LOOPS);
    return 0;
  }
  b->loops[b->n_loops] = (sw_loop){.size = size, .kind = size > 0 ? kind : SW_LOOP_WHOLE, .combiner = combiner};
  return b->n_loops++;
}

int sw_nest_loop(sw_nest_builder *b, int64_t size, sw_loop_kind kind) {
  return sw_nest_combining_loop(b, size, kind, SW_REDUCE_SUM);
}

static void set(sw_nest_builder *b, int map, int dim, sw_affine e) {
  if (b->rc) return;
  if (map < 0 || map >= b->n_maps || dim < 0 || dim >= b->maps[map].rank) {
    b->rc = SW_BUG(b->d, "map %d has no dim %d", map, dim);
    return;
  }
  if (e.n_terms) {
    e.terms = sw_arena_copy(b->arena, e.terms, (size_t)e.n_terms, sizeof *e.terms, b->d);
    if (!e.terms) b->rc = SW_E_RESOURCE;
  }
  ((sw_affine *)b->maps[map].dims)[dim] = e;
}

void sw_nest_scaled(sw_nest_builder *b, int map, int dim, int loop, int64_t coef, int64_t constant) {
  sw_term t = {loop, coef};
  set(b, map, dim, (sw_affine){.constant = constant, .n_terms = loop >= 0, .terms = &t});
}

void sw_nest_window(sw_nest_builder *b, int map, int dim, const int loops[2], const int64_t coefs[2],
                    int64_t constant) {
  sw_term terms[2];
  int n = 0;
  for (int i = 0; i < 2; i++) {
    if (b->loops[loops[i]].size != 1) terms[n++] = (sw_term){loops[i], coefs[i]};
  }
  set(b, map, dim, (sw_affine){.constant = constant, .n_terms = n, .terms = terms});
}

void sw_nest_digits(sw_nest_builder *b, int map, int dim, int n, const int *loops, int64_t rest) {
  if (n == 1 && rest == 1) {
    sw_nest_set(b, map, dim, loops[0]);
    return;
  }
  sw_term terms[SW_MAX_LOOPS];
  int n_terms = 0;
  int64_t coef = rest;
  for (int i = n - 1; i >= 0; i--) {
    int64_t size = b->loops[loops[i]].size;
    if (size == 1) continue;
    terms[SW_MAX_LOOPS - ++n_terms] = (sw_term){loops[i], coef};
    coef *= size;
  }
  bool mixed = n_terms > 1 || (n_terms == 1 && rest > 1);
  set(b, map, dim, (sw_affine){.n_terms = n_terms, .terms = terms + SW_MAX_LOOPS - n_terms, .mixed_radix = mixed});
}

int sw_nest_parallel_dims(sw_nest_builder *b, const sw_type *t) {
  int first = b->n_loops;
  for (int i = 0; i < t->rank; i++) (void)sw_nest_loop(b, t->dims[i], SW_LOOP_PARALLEL);
  return first;
}

void sw_nest_identity(sw_nest_builder *b, int map, int first) {
  for (int i = 0; !b->rc && i < b->maps[map].rank; i++) sw_nest_set(b, map, i, first + i);
}

void sw_nest_linear(sw_nest_builder *b, uint32_t operands, sw_reduction kind) {
  if (b->rc || b->undefined >> kind & 1) return;
  if (b->n_linear == SW_MAX_LINEAR) {
    b->rc = SW_BUG(b->d, "an op has more than %d linearities", SW_MAX_LINEAR);
    return;
  }
  b->linear[b->n_linear++] = (sw_linearity){operands, kind};
}

void sw_nest_moves(sw_nest_builder *b, uint32_t operands) {
  sw_nest_linear(b, operands, SW_REDUCE_SUM);
  sw_nest_linear(b, operands, SW_REDUCE_MIN);
  sw_nest_linear(b, operands, SW_REDUCE_MAX);
}

/* A result that follows a reduction loop is cut by it, not partial. */
static void find_whole_results(sw_nest_builder *b) {
  for (int i = b->n_operands; i < b->n_maps; i++) {
    for (int k = 0; k < b->maps[i].rank; k++) {
      const sw_affine *e = &b->maps[i].dims[k];
      for (int t = 0; t < e->n_terms; t++) b->loops[e->terms[t].loop].whole_results |= 1u << (i - b->n_operands);
    }
  }
  for (int l = 0; l < b->n_loops; l++) {
    if (b->loops[l].kind != SW_LOOP_REDUCTION && b->loops[l].kind != SW_LOOP_MASKED) b->loops[l].whole_results = 0;
  }
}

sw_rc sw_nest_finish(sw_nest_builder *b, const sw_loop_nest **out) {
  SW_TRY(b->rc);
  find_whole_results(b);
  sw_loop_nest *s;
  SW_ARENA_NEW(s, b->arena, 1, b->d);
  s->n_loops = b->n_loops;
  s->n_maps = b->n_maps;
  s->n_linear = b->n_linear;
  s->maps = b->maps;
  s->flops_per_point = b->flops;
  s->loops = sw_arena_copy(b->arena, b->loops, (size_t)b->n_loops, sizeof *b->loops, b->d);
  s->linear = sw_arena_copy(b->arena, b->linear, (size_t)b->n_linear, sizeof *b->linear, b->d);
  if (!s->loops || !s->linear) return SW_E_RESOURCE;
  *out = s;
  return SW_OK;
}

static sw_rc copy_map(const sw_map *m, sw_arena *arena, sw_map *out, sw_diag *d) {
  sw_affine *dims = sw_arena_copy(arena, m->dims, (size_t)m->rank, sizeof *dims, d);
  if (!dims) return SW_E_RESOURCE;
  for (int i = 0; i < m->rank; i++) {
    dims[i].terms = sw_arena_copy(arena, dims[i].terms, (size_t)dims[i].n_terms, sizeof(sw_term), d);
    if (!dims[i].terms) return SW_E_RESOURCE;
  }
  *out = (sw_map){m->rank, dims};
  return SW_OK;
}

sw_rc sw_nest_copy(const sw_loop_nest *s, sw_arena *arena, const sw_loop_nest **out, sw_diag *d) {
  sw_loop_nest *c = sw_arena_copy(arena, s, 1, sizeof *s, d);
  sw_map *maps = sw_arena_alloc(arena, (size_t)s->n_maps, sizeof *maps, d);
  if (!c || !maps) return SW_E_RESOURCE;
  for (int i = 0; i < s->n_maps; i++) SW_TRY(copy_map(&s->maps[i], arena, &maps[i], d));
  c->maps = maps;
  c->loops = sw_arena_copy(arena, s->loops, (size_t)s->n_loops, sizeof *s->loops, d);
  c->linear = sw_arena_copy(arena, s->linear, (size_t)s->n_linear, sizeof *s->linear, d);
  if (!c->loops || !c->linear) return SW_E_RESOURCE;
  *out = c;
  return SW_OK;
}

void sw_nest_total_flops(sw_nest_builder *b, double flops) {
  double points = 1;
  for (int i = 0; i < b->n_loops; i++) points *= (double)b->loops[i].size;
  b->flops = points > 0 ? flops / points : 0;
}
