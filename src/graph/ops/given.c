/* Ops whose loops, maps or result types are given rather than found: generic, opaque, and those of SPMD programs. */
#include "graph/affine.h"
#include "graph/ops/op_rules.h"

static sw_rc check_loops(const sw_rule_call *c, const sw_loop_nest *s) {
  if (s->n_loops > SW_MAX_LOOPS) {
    return SW_RULE_FAIL(c, "there are %d loops; expected at most %d", s->n_loops, SW_MAX_LOOPS);
  }
  for (int i = 0; i < s->n_loops; i++) {
    sw_loop_kind kind = s->loops[i].kind;
    bool manual = kind == SW_LOOP_MANUAL && c->code == SW_OP_OPAQUE;
    if (kind != SW_LOOP_PARALLEL && kind != SW_LOOP_REDUCTION && kind != SW_LOOP_WHOLE && !manual) {
      return SW_RULE_FAIL(c, "loop d%d is neither parallel, reduction nor whole%s; expected one of these", i,
                          c->code == SW_OP_OPAQUE ? ", nor manual" : "");
    }
    if (s->loops[i].size < 1) {
      return SW_RULE_FAIL(c, "loop d%d has size %lld; expected at least 1", i, (long long)s->loops[i].size);
    }
  }
  for (int i = 0; i < s->n_linear; i++) {
    if (c->n_operands < 32 && s->linear[i].operands >> c->n_operands) {
      return SW_RULE_FAIL(c, "a linearity names an operand beyond the %d there are", c->n_operands);
    }
  }
  return SW_OK;
}

static sw_rc check_operand_map(const sw_rule_call *c, const sw_loop_nest *s, int i) {
  const sw_type *t = &c->operands[i];
  if (s->maps[i].rank != t->rank) {
    return SW_RULE_FAIL(c, "the map of operand %d has %d dims; expected %d", i, s->maps[i].rank, t->rank);
  }
  for (int k = 0; k < t->rank; k++) {
    int64_t least, most;
    if (!sw_affine_bounds(&s->maps[i].dims[k], s->loops, &least, &most) || least < 0 || most >= t->dims[k]) {
      return SW_RULE_FAIL(c, "the map of operand %d leaves dim %d of size %lld; expected indices in 0 .. %lld", i, k,
                          (long long)t->dims[k], (long long)t->dims[k] - 1);
    }
  }
  return SW_OK;
}

/* A result's dim is one loop, digits, or 0; a loop indexes it once and is not a reduction. */
static sw_rc check_result_map(const sw_rule_call *c, const sw_loop_nest *s, int r, uint64_t *used) {
  const sw_map *m = &s->maps[c->n_operands + r];
  for (int k = 0; k < m->rank; k++) {
    if (!sw_affine_is_digits(&m->dims[k], s->loops)) {
      return SW_RULE_FAIL(c,
                          "dim %d of result %d is indexed by neither a loop nor digits; expected d0 or 6*d0+d1 with "
                          "d1 of size 6",
                          k, r);
    }
    for (int i = 0; i < m->dims[k].n_terms; i++) {
      int loop = m->dims[k].terms[i].loop;
      if (s->loops[loop].kind == SW_LOOP_REDUCTION) {
        return SW_RULE_FAIL(c, "reduction loop d%d indexes result %d; expected it in operands only", loop, r);
      }
      if (*used >> loop & 1) return SW_RULE_FAIL(c, "loop d%d indexes result %d twice", loop, r);
      *used |= UINT64_C(1) << loop;
    }
  }
  for (int i = 0; i < s->n_loops; i++) {
    if (s->loops[i].kind == SW_LOOP_PARALLEL && s->loops[i].size > 1 && !(*used >> i & 1)) {
      return SW_RULE_FAIL(c, "parallel loop d%d does not index result %d; expected it there, or a reduction", i, r);
    }
  }
  return SW_OK;
}

static sw_rc generic_result(sw_rule_call *c, const sw_loop_nest *s, int r) {
  const sw_map *m = &s->maps[c->n_operands + r];
  const sw_type *given = &c->given_types[r];
  int64_t *dims;
  SW_TRY(sw_call_result(c, given->dtype, m->rank, &dims));
  for (int k = 0; k < m->rank; k++) {
    int64_t least;
    if (!sw_affine_bounds(&m->dims[k], s->loops, &least, &dims[k])) {
      return SW_RULE_FAIL(c, "dim %d of result %d does not fit 64 bits", k, r);
    }
    dims[k]++;
  }
  if (given->dims && !sw_type_equal(given, &c->results[r])) {
    return SW_RULE_FAIL(c, "the shape given for result %d is not what its map and loops say", r);
  }
  return SW_OK;
}

sw_rc sw_infer_generic(sw_rule_call *c) {
  const sw_loop_nest *s = c->given_nest;
  if (!s || s->n_maps != c->n_operands + c->n_given_types || c->n_given_types < 1) {
    return SW_RULE_FAIL(c,
                        "there are %d maps, %d operands and %d results; expected loops, and one map for each operand "
                        "and result",
                        s ? s->n_maps : 0, c->n_operands, c->n_given_types);
  }
  SW_TRY(check_loops(c, s));
  for (int i = 0; i < c->n_operands; i++) SW_TRY(check_operand_map(c, s, i));
  for (int r = 0; r < c->n_given_types; r++) {
    uint64_t used = 0;
    SW_TRY(check_result_map(c, s, r, &used));
    SW_TRY(generic_result(c, s, r));
  }
  return SW_OK;
}

static sw_rc take_given_types(sw_rule_call *c) {
  for (int i = 0; i < c->n_given_types; i++) {
    SW_TRY(sw_call_result_like(c, c->given_types[i].dtype, &c->given_types[i]));
  }
  return SW_OK;
}

sw_rc sw_infer_opaque(sw_rule_call *c) {
  return c->given_nest && c->given_nest->n_loops ? sw_infer_generic(c) : take_given_types(c);
}

/* No loops, unless they are given: every device has all of every operand and result. */
void sw_nest_of_opaque(const sw_rule_call *c, sw_nest_builder *b) {
  (void)c;
  (void)b;
}

sw_rc sw_infer_given(sw_rule_call *c) {
  if (c->n_given_types != 1) {
    return SW_RULE_FAIL(c, "%d result types are given; expected 1", c->n_given_types);
  }
  return take_given_types(c);
}
