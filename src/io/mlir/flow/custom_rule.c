/* sdy.sharding_rule of an op, as the text writes it:
 *
 *   #sdy.op_sharding_rule<([i, jk])->([i, j, k]) {i=8, j=2, k=4} reduction={j} need_replication={k}, custom>
 */
#include <stdlib.h>
#include <string.h>

#include "io/mlir/flow/rule.h"

typedef struct rule_reader {
  sw_program_flow *p;
  sw_ir_span text;
  const char *s, *end;
  sw_flow_rule *rule;
  sw_flow_dim *dim;
  int n_tensors, n_operands;
  struct {
    const char *s;
    size_t n;
  } name[SW_MOST_FACTORS];
} rule_reader;

#define FAIL(r, ...) SW_FAIL_INPUT((r)->p->d, sw_ir_place((r)->p->t, (uint32_t)((r)->s - (r)->p->t->s)), __VA_ARGS__)

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
  const char *s = r->s;
  size_t n = *s >= 'a' && *s <= 'z' ? 1 : 0;
  if (n && s[1] == '_') n += 1 + strspn(s + 2, "0123456789");
  if (!n) return FAIL(r, "found '%c'; expected a factor, a small letter", *s);
  r->s += n;
  for (int i = 0; i < r->rule->n; i++) {
    if (r->name[i].n != n || memcmp(r->name[i].s, s, n)) continue;
    *out = (uint8_t)i;
    return SW_OK;
  }
  if (r->rule->n == SW_MOST_FACTORS) return FAIL(r, "more than %d factors", SW_MOST_FACTORS);
  r->name[r->rule->n].s = s;
  r->name[r->rule->n].n = n;
  *out = (uint8_t)r->rule->n++;
  return SW_OK;
}

/* [i, jk] */
static sw_rc tensor(rule_reader *r) {
  if (r->n_tensors == SW_MOST_TENSORS) return FAIL(r, "more than %d tensors", SW_MOST_TENSORS);
  if (!take(r, "[")) return FAIL(r, "expected '['");
  for (int k = 0; !take(r, "]"); k++) {
    if (k == SW_MAX_RANK) return FAIL(r, "more than %d dimensions", SW_MAX_RANK);
    if (k && !take(r, ",")) return FAIL(r, "expected ',' or ']'");
    sw_flow_dim *d = &r->dim[r->n_tensors * SW_MAX_RANK + k];
    for (blanks(r); *r->s >= 'a' && *r->s <= 'z';) {
      if (d->n == SW_MOST_OF_DIM) return FAIL(r, "more than %d factors in a dimension", SW_MOST_OF_DIM);
      SW_TRY(factor(r, &d->at[d->n]));
      d->n++;
    }
  }
  r->n_tensors++;
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

static sw_rc sizes(rule_reader *r) {
  if (!take(r, "{")) return r->rule->n ? FAIL(r, "expected sizes of factors, {i=8}") : SW_OK;
  for (int i = 0; !take(r, "}"); i++) {
    uint8_t f;
    char *behind;
    if (i && !take(r, ",")) return FAIL(r, "expected ',' or '}'");
    SW_TRY(factor(r, &f));
    if (!take(r, "=")) return FAIL(r, "expected '='");
    r->rule->size[f] = strtoll(r->s, &behind, 10);
    if (behind == r->s) return FAIL(r, "expected the size of the factor");
    r->s = behind;
  }
  return SW_OK;
}

static sw_rc kinds(rule_reader *r) {
  static const struct {
    const char *word;
    sw_factor_kind kind;
  } kLists[] = {{"reduction=", SW_FACTOR_REDUCTION},
                {"need_replication=", SW_FACTOR_REPLICATE},
                {"permutation=", SW_FACTOR_PERMUTATION},
                {"blocked_propagation=", SW_FACTOR_PASS}};
  for (size_t l = 0; l < sizeof kLists / sizeof *kLists; l++) {
    if (!take(r, kLists[l].word)) continue;
    if (!take(r, "{")) return FAIL(r, "expected '{'");
    for (int i = 0; !take(r, "}"); i++) {
      uint8_t f;
      if (i && !take(r, ",")) return FAIL(r, "expected ',' or '}'");
      SW_TRY(factor(r, &f));
      if (kLists[l].kind == SW_FACTOR_PASS)
        r->rule->blocked[f] = true;
      else
        r->rule->kind[f] = kLists[l].kind;
    }
  }
  return SW_OK;
}

sw_rc sw_custom_rule_read(sw_program_flow *p, sw_ir_span text, sw_flow_rule **out, int *n_operands, int *n_results) {
  rule_reader r = {.p = p, .text = text};
  text = sw_ir_resolved(p->t, text);
  while (text.at < text.end && p->t->s[text.at] != '<') text.at++;
  r.s = p->t->s + text.at;
  r.end = p->t->s + text.end;
  SW_ARENA_NEW(r.rule, &p->arena, 1, p->d);
  SW_ARENA_NEW(r.dim, &p->arena, SW_MOST_TENSORS * SW_MAX_RANK, p->d);
  if (!take(&r, "<")) return FAIL(&r, "expected a rule, <([i])->([i]) {i=8}>");
  SW_TRY(tensors(&r));
  *n_operands = r.n_tensors;
  if (!take(&r, "->")) return FAIL(&r, "expected '->'");
  SW_TRY(tensors(&r));
  *n_results = r.n_tensors - *n_operands;
  SW_TRY(sizes(&r));
  SW_TRY(kinds(&r));
  r.rule->dim = r.dim;
  *out = r.rule;
  return SW_OK;
}
