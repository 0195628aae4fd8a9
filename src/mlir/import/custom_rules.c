/* Rules for ops that are not known: which loops they have, and how these reach operands and results.
 *
 *   tenstorrent.attention ([b, h, s, d], [b, h, t, d])->([b, h, s, d]) reduction={t} need_replication={d}
 *
 * A line of the rules file is the name of an op or custom call, then a rule (propagate/factor_rule.h) in any letters;
 * an op may bear one itself (sdy.sharding_rule). Factors are loops, of the size of the dim where they stand alone.
 */
#include <string.h>

#include "base/file.h"
#include "mlir/import/import_passes.h"
#include "mlir/shardy/shardy.h"
#include "propagate/factors.h"

/* --- where rules come from ---------------------------------------------------------------------------------------- */

sw_rc sw_im_open_rules(sw_importer *m) {
  size_t n;
  return m->o->rules ? sw_file_read_text(m->o->rules, &m->passes->shared->rules, &n, m->d) : SW_OK;
}

/* The rest of the line that begins with the name; NULL: none. */
static const char *line_of(const sw_importer *m, const char *name) {
  size_t n = strlen(name);
  for (const char *line = m->passes->shared->rules; line && *line; line = strchr(line, '\n')) {
    line += strspn(line, "\n \t");
    if (strncmp(line, name, n) == 0 && (line[n] == ' ' || line[n] == '\t')) return line + n;
  }
  return NULL;
}

sw_rc sw_im_rule_of(sw_importer *m, uint32_t op, const char *name, sw_factor_rule **out) {
  const sw_ir_op *o = sw_im_op(m, op);
  const sw_ir_span own =
      sw_ir_present(o->attrs) ? sw_ir_entry(m->t, o->attrs, "sdy.sharding_rule") : (sw_ir_span){0, 0};
  if (sw_ir_present(own)) return sw_sdy_rule_read(m->t, own, &m->scratch, out, m->d);
  const char *line = line_of(m, name), *at;
  sw_diag why = {0};
  if (!line) return SW_OK;
  sw_rc rc = sw_factor_rule_read(line, line + strcspn(line, "\n"), SW_FACTOR_ANY_LETTERS, &m->scratch, out, &at, &why);
  const int n = rc ? (int)strcspn(at, "\r\n") : 0;
  return rc ? SW_FAIL(m->d, rc, sw_im_place(m, op), "in the rule of this op, at '%.*s': %s", n < 12 ? n : 12, at,
                      why.text)
            : SW_OK;
}

sw_rc sw_im_elementwise_rule(sw_importer *m, uint32_t op, sw_factor_rule **out) {
  const sw_ir_op *o = sw_im_op(m, op);
  const uint32_t n = o->n_uses + sw_ir_result_count(m->t, o);
  sw_type types[SW_MOST_TENSORS];
  const sw_type *at[SW_MOST_TENSORS];
  sw_factors f;
  if (!sw_ir_starts(m->t, o->name, "chlo.") && !sw_ir_is_among(m->t, o->name, "stablehlo.map mhlo.map")) return SW_OK;
  if (!o->n_uses || n > SW_MOST_TENSORS) return SW_OK;
  for (uint32_t i = 0; i < n; i++) {
    const bool result = i >= o->n_uses;
    if (!result) types[i] = m->g->values[sw_im_operand(m, op, i)].type;
    if (result && sw_im_result_type(m, op, (int)(i - o->n_uses), &types[i])) return SW_OK;
    if (!sw_type_same_shape(&types[i], &types[0])) return SW_OK;
    at[i] = &types[i];
  }
  (void)sw_factors_begin(&f, (int)o->n_uses, (int)(n - o->n_uses), at);
  sw_factors_alike(&f);
  return sw_factor_rule_keep(&f.rule, &m->scratch, out, m->d);
}

/* --- as loops ----------------------------------------------------------------------------------------------------- */

typedef struct looper {
  sw_importer *m;
  uint32_t op;
  sw_factor_rule *rule; /* its open sizes are filled in */
  int n_loops;          /* factors, then those of dims without any */
  sw_loop loops[SW_MOST_FACTORS];
} looper;

/* A dim of no factor: a loop of its own, which is not cut. */
static sw_rc add_unmapped(looper *l, int64_t size, sw_affine *out) {
  sw_term *term;
  if (l->n_loops == SW_MOST_FACTORS)
    return SW_IM_FAIL(l->m, l->op, "the rule of this op has more than %d loops", SW_MOST_FACTORS);
  SW_ARENA_NEW(term, &l->m->scratch, 1, l->m->d);
  *term = (sw_term){l->n_loops, 1};
  *out = (sw_affine){.n_terms = size > 1, .terms = term};
  l->loops[l->n_loops++] = (sw_loop){.size = size, .kind = SW_LOOP_WHOLE};
  return SW_OK;
}

/* The loops of one dim, major first. */
static sw_rc loops_of_dim(looper *l, const sw_factor_dim *dim, int64_t size, sw_affine *out) {
  sw_term *terms;
  int64_t step = 1;
  if (!dim->n) return add_unmapped(l, size, out);
  SW_ARENA_NEW(terms, &l->m->scratch, dim->n, l->m->d);
  *out = (sw_affine){.terms = terms};
  for (int i = dim->n - 1; i >= 0; i--) {
    int64_t *extent = &l->rule->size[dim->at[i]];
    if (dim->n == 1 && *extent == SW_FACTOR_OPEN) *extent = size;
    if (*extent < 1 || *extent > size || step > size) break;
    if (*extent > 1) {
      memmove(terms + 1, terms, sizeof *terms * (size_t)out->n_terms);
      terms[0] = (sw_term){dim->at[i], step};
      out->n_terms++;
    }
    step *= *extent;
  }
  out->mixed_radix = out->n_terms > 1;
  if (step == size) return SW_OK;
  return SW_IM_FAIL(l->m, l->op, "in the rule of this op the factors of a dim of size %lld have other sizes",
                    (long long)size);
}

/* Can the op on its own work on a part of the loop? Not when an operand dim does not come out in every result, or a
 * result dim comes from nowhere: such letters only say that these dims have nothing to do with each other. */
static bool runs_through(const sw_map *maps, int n_operands, int n_results, int loop) {
  bool read = false;
  for (int i = 0; i < n_operands; i++) read = read || sw_map_has_loop(&maps[i], loop);
  for (int i = 0; i < n_results; i++) {
    if (!sw_map_has_loop(&maps[n_operands + i], loop)) return false;
  }
  return read;
}

sw_rc sw_im_loops_of_rule(sw_importer *m, uint32_t op, sw_factor_rule *rule, const sw_type *operands, int n_operands,
                          const sw_type *results, int n_results, const sw_loop_nest **out) {
  static const sw_loop_kind kKinds[] = {[SW_FACTOR_PASS] = SW_LOOP_PARALLEL,
                                        [SW_FACTOR_REDUCTION] = SW_LOOP_REDUCTION,
                                        [SW_FACTOR_REPLICATE] = SW_LOOP_WHOLE,
                                        [SW_FACTOR_PERMUTATION] = SW_LOOP_WHOLE};
  looper l = {.m = m, .op = op, .rule = rule, .n_loops = rule->n};
  sw_loop_nest *s;
  sw_map *maps;
  if (rule->n_operands != n_operands || rule->n_results != n_results)
    return SW_IM_FAIL(m, op, "the rule of this op has %d operands and %d results; expected %d and %d", rule->n_operands,
                      rule->n_results, n_operands, n_results);
  SW_ARENA_NEW(s, &m->scratch, 1, m->d);
  SW_ARENA_NEW(maps, &m->scratch, n_operands + n_results, m->d);
  for (int i = 0; i < n_operands + n_results; i++) {
    const sw_type *t = i < n_operands ? &operands[i] : &results[i - n_operands];
    sw_affine *dims;
    if (rule->rank[i] != t->rank)
      return SW_IM_FAIL(m, op, "the rule of this op has %d dims for a tensor; expected %d", rule->rank[i], t->rank);
    SW_ARENA_NEW(dims, &m->scratch, t->rank, m->d);
    maps[i] = (sw_map){t->rank, dims};
    for (int k = 0; k < t->rank; k++) SW_TRY(loops_of_dim(&l, &rule->dim[i * SW_MAX_RANK + k], t->dims[k], &dims[k]));
  }
  for (int f = 0; f < rule->n; f++) {
    l.loops[f] = (sw_loop){.size = rule->size[f] > 0 ? rule->size[f] : 1, .kind = kKinds[rule->kind[f]]};
    if (l.loops[f].kind == SW_LOOP_REDUCTION) l.loops[f].combiner = SW_REDUCE_SUM;
    if (l.loops[f].kind == SW_LOOP_PARALLEL && !runs_through(maps, n_operands, n_results, f))
      l.loops[f].kind = SW_LOOP_WHOLE;
  }
  const sw_loop *loops = sw_arena_copy(&m->scratch, l.loops, (size_t)l.n_loops, sizeof *loops, m->d);
  if (!loops && l.n_loops) return SW_E_RESOURCE;
  *s = (sw_loop_nest){
      .n_loops = l.n_loops, .n_maps = n_operands + n_results, .loops = loops, .maps = maps, .flops_per_point = 1};
  *out = s;
  return SW_OK;
}
