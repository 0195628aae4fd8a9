#include <string.h>

#include "io/mlir/opt/factor_axes.h"
#include "io/mlir/opt/local.h"

typedef sw_axes axes; /* along one factor of a step */

typedef struct checker {
  sw_local *l;
  const sw_flow_step *s;
  axes found[SW_MOST_FACTORS], mine[SW_MOST_FACTORS];    /* of the first tensor that has a factor, of the one at hand */
  int tensor[SW_MOST_FACTORS], holders[SW_MOST_FACTORS]; /* the first tensor of a factor, and how many have it */
} checker;

static bool same(const axes *a, const axes *b) {
  bool is = a->n == b->n;
  for (int i = 0; is && i < a->n; i++) is = sw_axis_ref_equal(a->at[i], b->at[i]);
  return is;
}

static sw_rc differ(checker *c, int a, int b) {
  const sw_ir_op *o = &c->l->t->ops.at[c->s->source];
  return SW_LOCAL_FAIL(c->l, c->s->source,
                       "values %d and %d of '%.*s', operands first, are not cut alike; expected reshards between them "
                       "(passes insert-explicit-reshards and reshard-to-collectives)",
                       a, b, SW_IR_TEXT(c->l->t, o->name));
}

static sw_rc read_tensor(checker *c, int i) {
  const sw_flow_rule *rule = c->s->rule;
  const int32_t tensor = c->s->tensors[i];
  axes *mine = c->mine;
  uint64_t has = 0;
  memset(c->mine, 0, (size_t)rule->n * sizeof *mine);
  if (tensor < 0) return SW_OK;
  const sw_open_sharding *s = &c->l->sharding[tensor];
  const int rank = c->l->flow.type.at[tensor].rank;
  for (int k = 0; k < rank; k++) {
    int n = 0;
    const sw_axis_ref *refs = s->mesh >= 0 ? sw_sharding_dim(&s->cut, k, &n) : NULL;
    const sw_flow_dim *dim = &rule->dim[i * SW_MAX_RANK + k];
    if (!sw_axes_along_factors(rule, dim, refs, n, mine))
      return SW_LOCAL_FAIL(c->l, c->s->source, "'%.*s' does not pass on how dimension %d of value %d is cut",
                           SW_IR_TEXT(c->l->t, c->l->t->ops.at[c->s->source].name), k, i);
    for (int f = 0; f < dim->n; f++) has |= UINT64_C(1) << dim->at[f];
  }
  for (int f = 0; f < rule->n; f++) {
    if (!(has >> f & 1)) continue;
    if (!c->holders[f]++) c->found[f] = mine[f], c->tensor[f] = i;
    if (!same(&c->found[f], &mine[f])) return differ(c, c->tensor[f], i);
  }
  return SW_OK;
}

/* --- factors that are cut ----------------------------------------------------------------------------------------- */

static bool is(const checker *c, const char *name) {
  const sw_ir_span full = c->l->t->ops.at[c->s->source].name;
  return sw_ir_ends(c->l->t, full, name);
}

/* Of these each device reduces what it has: several operands are cut along the factor, or what is left out adds
 * nothing. */
static bool may_reduce(const checker *c, int f) {
  if (is(c, ".reduce") || is(c, ".gather") || is(c, ".scatter")) return true;
  return c->holders[f] > 1 && (is(c, ".dot_general") || is(c, ".dot") || is(c, ".convolution"));
}

static sw_rc check_factor(checker *c, int f) {
  const sw_factor_kind kind = c->s->rule->kind[f];
  if (!c->found[f].n || kind == SW_FACTOR_PASS || (kind == SW_FACTOR_REDUCTION && may_reduce(c, f))) return SW_OK;
  const char *why = kind == SW_FACTOR_PERMUTATION ? "moves elements along a dimension that is cut"
                    : kind == SW_FACTOR_REDUCTION ? "cannot be done in parts along a dimension that is cut"
                                                  : "needs a dimension whole that is cut";
  return SW_LOCAL_FAIL(c->l, c->s->source, "'%.*s' %s, of value %d%s",
                       SW_IR_TEXT(c->l->t, c->l->t->ops.at[c->s->source].name), why, c->tensor[f],
                       kind == SW_FACTOR_PERMUTATION ? " (pass resolve-permutation-factors)" : "");
}

static sw_rc check_rule(checker *c, const sw_flow_step *s) {
  c->s = s;
  for (int f = 0; f < s->rule->n; f++) c->found[f].n = c->holders[f] = 0;
  for (int i = 0; i < s->n_operands + s->n_results; i++) SW_TRY(read_tensor(c, i));
  for (int f = 0; f < s->rule->n; f++) SW_TRY(check_factor(c, f));
  return SW_OK;
}

/* What an edge joins is cut alike: what a loop carries, what branches and functions return. */
static sw_rc check_edge(sw_local *l, const sw_flow_step *s) {
  const sw_open_sharding *first = &l->sharding[s->tensors[0]];
  for (int i = 1; i < s->n_operands + s->n_results; i++) {
    const sw_open_sharding *other = &l->sharding[s->tensors[i]];
    sw_sharding a = sw_sharding_replicated(0), b = a;
    if (first->mesh >= 0) a = first->cut;
    if (other->mesh >= 0) b = other->cut;
    bool alike = a.n_refs == b.n_refs;
    for (int k = 0; alike && k < a.n_refs; k++)
      alike = a.dim_of[k] == b.dim_of[k] && sw_axis_ref_equal(a.refs[k], b.refs[k]);
    if (alike) continue;
    uint32_t op = SW_IR_NONE;
    for (int k = 0; k <= i && op == SW_IR_NONE; k++) op = l->flow.made_by.at[s->tensors[k]];
    return SW_LOCAL_FAIL(l, op == SW_IR_NONE ? 0 : op,
                         "values that are one (of a loop, a choice, or what a function returns) are not cut alike; "
                         "expected reshards between them (passes insert-explicit-reshards and reshard-to-collectives)");
  }
  return SW_OK;
}

sw_rc sw_local_check(sw_local *l) {
  bool *has_rule;
  checker *c;
  sw_tensor_text part;
  for (uint32_t i = 0; i < l->w->values.n; i++) SW_TRY(sw_local_part(l, i, &part));
  SW_ARENA_NEW(has_rule, &l->w->arena, l->t->ops.n, l->d);
  SW_ARENA_NEW(c, &l->w->arena, 1, l->d);
  c->l = l;
  for (int32_t i = 0; i < l->flow.flow.n_steps; i++) {
    const sw_flow_step *s = &l->flow.flow.steps[i];
    if (s->rule && sw_ir_starts(l->t, l->t->ops.at[s->source].name, "sdy.")) continue; /* they are what reshards */
    if (s->rule) has_rule[s->source] = true;
    if (s->rule) SW_TRY(check_rule(c, s));
    if (!s->rule && !s->n_manual) SW_TRY(check_edge(l, s));
  }
  l->has_rule = has_rule;
  return SW_OK;
}
