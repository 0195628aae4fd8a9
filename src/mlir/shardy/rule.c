/* sdy.sharding_rule of an op, as the text writes it:
 *
 *   #sdy.op_sharding_rule<([i, jk])->([i, j, k]) {i=8, j=2, k=4} reduction={j} need_replication={k}, custom>
 *
 * Factors are i to z, then z_1, z_2, ...: a letter says the number of its factor.
 */
#include <stdlib.h>
#include <string.h>

#include "mlir/shardy/shardy.h"

typedef struct rule_reader {
  sw_sdy_text *x;
  const char *s, *end;
  sw_flow_rule *rule;
  sw_flow_dim dim[SW_MOST_TENSORS * SW_MAX_RANK];
  int n_tensors, rank[SW_MOST_TENSORS];
  uint64_t used, of_tensor, of_result, listed; /* factors, by bit */
} rule_reader;
_Static_assert(SW_MOST_FACTORS <= 64, "a bit for each factor");

#define FAIL(r, ...) SW_SDY_FAIL((r)->x, (uint32_t)((r)->s - (r)->x->t->s), __VA_ARGS__)

static void blanks(rule_reader *r) { r->s += strspn(r->s, " \t\r\n"); }

static bool take(rule_reader *r, const char *word) {
  blanks(r);
  size_t n = strlen(word);
  if ((size_t)(r->end - r->s) < n || memcmp(r->s, word, n)) return false;
  r->s += n;
  return true;
}

/* A letter, or z_1. */
static sw_rc factor(rule_reader *r, uint8_t *out) {
  blanks(r);
  if (*r->s < 'i' || *r->s > 'z') return FAIL(r, "found '%c'; expected a factor, i to z or z_1, z_2, ...", *r->s);
  long n = *r->s - 'i';
  char *behind = (char *)r->s + 1;
  if (*r->s == 'z' && *behind == '_') {
    if (r->s[2] < '1' || r->s[2] > '9') return FAIL(r, "expected a factor, i to z or z_1, z_2, ...");
    long more = strtol(r->s + 2, &behind, 10);
    n = more < 1 || more > SW_MOST_FACTORS ? SW_MOST_FACTORS : n + more;
  }
  if (n >= SW_MOST_FACTORS) return FAIL(r, "more than %d factors", SW_MOST_FACTORS);
  r->s = behind;
  *out = (uint8_t)n;
  return SW_OK;
}

/* i, jk, or * for none. */
static sw_rc dim(rule_reader *r, sw_flow_dim *d) {
  if (take(r, "*")) return SW_OK;
  do {
    if (d->n == SW_MOST_OF_DIM) return FAIL(r, "more than %d factors in a dimension", SW_MOST_OF_DIM);
    SW_TRY(factor(r, &d->at[d->n]));
    const uint64_t bit = UINT64_C(1) << d->at[d->n++];
    if (r->of_tensor & bit) return FAIL(r, "a tensor has a factor twice; expected it once");
    r->of_tensor |= bit;
    blanks(r);
  } while (r->s < r->end && *r->s != ',' && *r->s != ']');
  return SW_OK;
}

/* [i, jk] */
static sw_rc tensor(rule_reader *r) {
  if (r->n_tensors == SW_MOST_TENSORS) return FAIL(r, "more than %d tensors", SW_MOST_TENSORS);
  if (!take(r, "[")) return FAIL(r, "expected '['");
  r->of_tensor = 0;
  for (int k = 0; !take(r, "]"); k++) {
    if (k == SW_MAX_RANK) return FAIL(r, "more than %d dimensions", SW_MAX_RANK);
    if (k && !take(r, ",")) return FAIL(r, "expected ',' or ']'");
    SW_TRY(dim(r, &r->dim[r->n_tensors * SW_MAX_RANK + k]));
    r->rank[r->n_tensors] = k + 1;
  }
  r->n_tensors++;
  r->used |= r->of_tensor;
  return SW_OK;
}

static sw_rc tensors(rule_reader *r) {
  if (!take(r, "(")) return FAIL(r, "expected '('");
  for (int i = 0; !take(r, ")"); i++) {
    if (i && !take(r, ",")) return FAIL(r, "expected ',' or ')'");
    SW_TRY(tensor(r));
  }
  return SW_OK;
}

/* {i=8, j=2}: of all factors in their order, each used. */
static sw_rc sizes(rule_reader *r) {
  for (int i = 0; take(r, i ? "," : "{"); i++) {
    uint8_t f;
    char *behind;
    if (!i && take(r, "}")) return SW_OK;
    SW_TRY(factor(r, &f));
    if (f != i) return FAIL(r, "the sizes of factors are not in order; expected i, j, k, ...");
    if (!(r->used >> f & 1)) return FAIL(r, "a factor of which a size is said is of no tensor; expected a used one");
    if (!take(r, "=")) return FAIL(r, "expected '='");
    blanks(r);
    r->rule->size[f] = strtoll(r->s, &behind, 10);
    if (behind == r->s || r->rule->size[f] < 0 || r->rule->size[f] == INT64_MAX)
      return FAIL(r, "expected the size of the factor");
    r->s = behind;
    r->rule->n = i + 1;
  }
  if (r->rule->n && !take(r, "}")) return FAIL(r, "expected ',' or '}'");
  if (r->rule->n < SW_MOST_FACTORS && r->used >> r->rule->n)
    return FAIL(r, "a factor of a tensor has no size; expected a size for each, {i=8}");
  return SW_OK;
}

static sw_rc check_sizes(rule_reader *r) {
  for (int i = 0; i < r->n_tensors * SW_MAX_RANK; i++) {
    for (int k = 0; r->dim[i].n > 1 && k < r->dim[i].n; k++) {
      if (r->rule->size[r->dim[i].at[k]] != 1) continue;
      return FAIL(r, "a dimension of several factors has one of size 1; expected larger ones");
    }
  }
  return SW_OK;
}

/* {i, j}, in order. Factors of a kind are of that one alone; all may be blocked. */
static sw_rc list(rule_reader *r, sw_factor_kind kind) {
  int last = -1;
  if (!take(r, "{")) return FAIL(r, "expected '{'");
  for (int i = 0; !take(r, "}"); i++) {
    uint8_t f;
    if (i && !take(r, ",")) return FAIL(r, "expected ',' or '}'");
    SW_TRY(factor(r, &f));
    const uint64_t bit = UINT64_C(1) << f;
    if (f >= r->rule->n) return FAIL(r, "a factor of the list has no size; expected one of the rule");
    if (f <= last) return FAIL(r, "factors of the list are not in order; expected each once, in order");
    if (kind != SW_FACTOR_PASS && r->listed & bit) return FAIL(r, "a factor is of two kinds; expected one");
    if (kind == SW_FACTOR_REDUCTION && r->of_result & bit)
      return FAIL(r, "a factor of a reduction is in a result; expected it in operands alone");
    last = f;
    if (kind == SW_FACTOR_PASS)
      r->rule->blocked[f] = true;
    else
      r->rule->kind[f] = kind, r->listed |= bit;
  }
  return SW_OK;
}

static sw_rc kinds(rule_reader *r) {
  static const struct {
    const char *word;
    sw_factor_kind kind;
  } kLists[] = {{"reduction", SW_FACTOR_REDUCTION},
                {"need_replication", SW_FACTOR_REPLICATE},
                {"permutation", SW_FACTOR_PERMUTATION},
                {"blocked_propagation", SW_FACTOR_PASS}};
  for (size_t l = 0; l < sizeof kLists / sizeof *kLists; l++) {
    if (!take(r, kLists[l].word)) continue;
    if (!take(r, "=")) return FAIL(r, "expected '='");
    SW_TRY(list(r, kLists[l].kind));
  }
  return SW_OK;
}

static sw_rc body(rule_reader *r, sw_sdy_rule *out) {
  if (!take(r, "<")) return FAIL(r, "expected a rule, #sdy.op_sharding_rule<([i])->([i]) {i=8}>");
  SW_TRY(tensors(r));
  out->n_operands = r->n_tensors;
  if (!take(r, "->")) return FAIL(r, "expected '->'");
  const uint64_t operands = r->used;
  r->used = 0;
  SW_TRY(tensors(r));
  r->of_result = r->used;
  r->used |= operands;
  out->n_results = r->n_tensors - out->n_operands;
  if (!r->n_tensors) return FAIL(r, "the rule has no tensor; expected one");
  SW_TRY(sizes(r));
  SW_TRY(check_sizes(r));
  SW_TRY(kinds(r));
  out->custom = take(r, ",");
  if (out->custom && !take(r, "custom")) return FAIL(r, "expected 'custom'");
  if (!take(r, ">"))
    return FAIL(r,
                "expected a list of factors in its place (reduction, need_replication, permutation, "
                "blocked_propagation), ', custom' or '>'");
  return SW_OK;
}

sw_rc sw_sdy_rule_read(sw_sdy_text *x, sw_ir_span text, sw_sdy_rule *out) {
  rule_reader r = {.x = x};
  text = sw_ir_resolved(x->t, sw_ir_trimmed(x->t, text));
  r.s = x->t->s + text.at;
  r.end = x->t->s + text.end;
  SW_ARENA_NEW(r.rule, x->arena, 1, x->d);
  if (!take(&r, "#sdy.op_sharding_rule")) return FAIL(&r, "expected a rule, #sdy.op_sharding_rule<([i])->([i]) {i=8}>");
  SW_TRY(body(&r, out));
  memcpy(out->rank, r.rank, sizeof r.rank);
  r.rule->dim = sw_arena_copy(x->arena, r.dim, (size_t)r.n_tensors * SW_MAX_RANK, sizeof *r.dim, x->d);
  if (!r.rule->dim) return SW_E_RESOURCE;
  out->rule = r.rule;
  return SW_OK;
}
