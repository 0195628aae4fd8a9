#include "propagate/factor_rule.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "propagate/factors.h"

/* Lists behind the sizes, in this order. Of no kind: blocked. */
static const struct {
  const char *word;
  sw_factor_kind kind;
} kLists[] = {{"reduction", SW_FACTOR_REDUCTION},
              {"need_replication", SW_FACTOR_REPLICATE},
              {"permutation", SW_FACTOR_PERMUTATION},
              {"blocked_propagation", SW_FACTOR_PASS}};
enum { LISTS = sizeof kLists / sizeof *kLists };

/* --- from text ---------------------------------------------------------------------------------------------------- */

typedef struct rule_reader {
  const char *s, *end;
  bool any;                    /* letters; else Shardy's */
  long names[SW_MOST_FACTORS]; /* of factors, where any letter may be one */
  sw_factor_rule rule;
  sw_factor_dim dim[SW_MOST_TENSORS * SW_MAX_RANK];
  int n_tensors;
  uint64_t used, of_tensor, of_result, listed; /* factors, by bit */
  sw_diag *d;
} rule_reader;
_Static_assert(SW_MOST_FACTORS <= 64, "a bit for each factor");

#define RULE_FAIL(r, ...) SW_FAIL_INPUT((r)->d, SW_NOWHERE, __VA_ARGS__)

static void skip_rule_blanks(rule_reader *r) {
  while (r->s < r->end && strchr(" \t\r\n", *r->s)) r->s++;
}

static bool take_word(rule_reader *r, const char *word) {
  skip_rule_blanks(r);
  size_t n = strlen(word);
  if ((size_t)(r->end - r->s) < n || memcmp(r->s, word, n)) return false;
  r->s += n;
  return true;
}

/* The number of a letter, or of z_1. Of any letters: of the one met before, or the next one. */
static sw_rc read_factor_name(rule_reader *r, uint8_t *out) {
  skip_rule_blanks(r);
  const char letter = r->s < r->end ? *r->s : ' ';
  if (r->any ? !isalpha((unsigned char)letter) : letter < 'i' || letter > 'z')
    return RULE_FAIL(r, "found '%c'; expected a factor, %s", letter, r->any ? "a letter" : "i to z or z_1, z_2, ...");
  char *behind = (char *)r->s + 1;
  long n = letter - 'i', more = 0;
  if (behind < r->end && *behind == '_' && (r->any || letter == 'z')) {
    if (r->s[2] < '1' || r->s[2] > '9') return RULE_FAIL(r, "expected a factor, i to z or z_1, z_2, ...");
    more = strtol(r->s + 2, &behind, 10);
    n = more < 1 || more > SW_MOST_FACTORS ? SW_MOST_FACTORS : n + more;
  }
  if (r->any) {
    const long name = letter + 256 * more;
    for (n = 0; n < r->rule.n && r->names[n] != name; n++) continue;
    if (n < SW_MOST_FACTORS && n == r->rule.n) {
      r->names[n] = name;
      r->rule.size[r->rule.n++] = SW_FACTOR_OPEN;
    }
  }
  if (n >= SW_MOST_FACTORS) return RULE_FAIL(r, "more than %d factors", SW_MOST_FACTORS);
  r->s = behind;
  *out = (uint8_t)n;
  return SW_OK;
}

/* i, jk, or * for none. */
static sw_rc read_factors_of_dim(rule_reader *r, sw_factor_dim *d) {
  if (take_word(r, "*")) return SW_OK;
  do {
    if (d->n == SW_MOST_OF_DIM) return RULE_FAIL(r, "more than %d factors in a dimension", SW_MOST_OF_DIM);
    SW_TRY(read_factor_name(r, &d->at[d->n]));
    const uint64_t bit = UINT64_C(1) << d->at[d->n++];
    if (!r->any && r->of_tensor & bit) return RULE_FAIL(r, "a tensor has a factor twice; expected it once");
    r->of_tensor |= bit;
    skip_rule_blanks(r);
  } while (r->s < r->end && *r->s != ',' && *r->s != ']');
  return SW_OK;
}

/* [i, jk] */
static sw_rc read_tensor_factors(rule_reader *r) {
  if (r->n_tensors == SW_MOST_TENSORS) return RULE_FAIL(r, "more than %d tensors", SW_MOST_TENSORS);
  if (!take_word(r, "[")) return RULE_FAIL(r, "expected '['");
  r->of_tensor = 0;
  for (int k = 0; !take_word(r, "]"); k++) {
    if (k == SW_MAX_RANK) return RULE_FAIL(r, "more than %d dimensions", SW_MAX_RANK);
    if (k && !take_word(r, ",")) return RULE_FAIL(r, "expected ',' or ']'");
    SW_TRY(read_factors_of_dim(r, &r->rule.dim[r->n_tensors * SW_MAX_RANK + k]));
    r->rule.rank[r->n_tensors] = (uint8_t)(k + 1);
  }
  r->n_tensors++;
  r->used |= r->of_tensor;
  return SW_OK;
}

static sw_rc read_tensors(rule_reader *r) {
  if (!take_word(r, "(")) return RULE_FAIL(r, "expected '('");
  for (int i = 0; !take_word(r, ")"); i++) {
    if (i && !take_word(r, ",")) return RULE_FAIL(r, "expected ',' or ')'");
    SW_TRY(read_tensor_factors(r));
  }
  return SW_OK;
}

/* {i=8, j=2}: Shardy's are of all factors in their order. */
static sw_rc read_factor_sizes(rule_reader *r) {
  const bool any = take_word(r, "{");
  int n = 0;
  for (; any && !take_word(r, "}"); n++) {
    uint8_t f;
    char *behind;
    if (n && !take_word(r, ",")) return RULE_FAIL(r, "expected ',' or '}'");
    SW_TRY(read_factor_name(r, &f));
    if (!r->any && f != n) return RULE_FAIL(r, "the sizes of factors are not in order; expected i, j, k, ...");
    if (!(r->used >> f & 1))
      return RULE_FAIL(r, "a factor of which a size is said is of no tensor; expected a used one");
    if (!take_word(r, "=")) return RULE_FAIL(r, "expected '='");
    skip_rule_blanks(r);
    r->rule.size[f] = strtoll(r->s, &behind, 10);
    if (behind == r->s || r->rule.size[f] < 0 || r->rule.size[f] == INT64_MAX)
      return RULE_FAIL(r, "expected the size of the factor");
    r->s = behind;
  }
  if (!r->any) r->rule.n = n;
  if (r->rule.n < SW_MOST_FACTORS && r->used >> r->rule.n)
    return RULE_FAIL(r, "a factor of a tensor has no size; expected a size for each, {i=8}");
  return SW_OK;
}

static sw_rc check_factor_sizes(rule_reader *r) {
  for (int i = 0; i < r->n_tensors * SW_MAX_RANK; i++) {
    for (int k = 0; r->rule.dim[i].n > 1 && k < r->rule.dim[i].n; k++) {
      if (r->rule.size[r->rule.dim[i].at[k]] != 1) continue;
      return RULE_FAIL(r, "a dimension of several factors has one of size 1; expected larger ones");
    }
  }
  return SW_OK;
}

/* {i, j}, Shardy's in order. Factors of a kind are of that one alone; all may be blocked. */
static sw_rc read_factor_list(rule_reader *r, sw_factor_kind kind) {
  int last = -1;
  if (!take_word(r, "{")) return RULE_FAIL(r, "expected '{'");
  for (int i = 0; !take_word(r, "}"); i++) {
    uint8_t f;
    if (i && !take_word(r, ",")) return RULE_FAIL(r, "expected ',' or '}'");
    SW_TRY(read_factor_name(r, &f));
    const uint64_t bit = UINT64_C(1) << f;
    if (!(r->used & bit)) return RULE_FAIL(r, "a factor of the list has no size; expected one of the rule");
    if (!r->any && f <= last) return RULE_FAIL(r, "factors of the list are not in order; expected each once, in order");
    if (kind != SW_FACTOR_PASS && r->listed & bit) return RULE_FAIL(r, "a factor is of two kinds; expected one");
    if (kind == SW_FACTOR_REDUCTION && r->of_result & bit)
      return RULE_FAIL(r, "a factor of a reduction is in a result; expected it in operands alone");
    last = f;
    if (kind == SW_FACTOR_PASS)
      r->rule.blocked[f] = true;
    else
      r->rule.kind[f] = kind, r->listed |= bit;
  }
  return SW_OK;
}

static sw_rc read_rule(rule_reader *r) {
  SW_TRY(read_tensors(r));
  r->rule.n_operands = r->n_tensors;
  if (!take_word(r, "->")) return RULE_FAIL(r, "expected '->'");
  const uint64_t operands = r->used;
  r->used = 0;
  SW_TRY(read_tensors(r));
  r->of_result = r->used;
  r->used |= operands;
  r->rule.n_results = r->n_tensors - r->rule.n_operands;
  if (!r->n_tensors) return RULE_FAIL(r, "the rule has no tensor; expected one");
  SW_TRY(read_factor_sizes(r));
  if (!r->any) SW_TRY(check_factor_sizes(r));
  for (int l = 0; l < LISTS; l++) {
    if (!take_word(r, kLists[l].word)) continue;
    if (!take_word(r, "=")) return RULE_FAIL(r, "expected '='");
    SW_TRY(read_factor_list(r, kLists[l].kind));
  }
  r->rule.custom = take_word(r, ",");
  if (r->rule.custom && !take_word(r, "custom")) return RULE_FAIL(r, "expected 'custom'");
  skip_rule_blanks(r);
  return r->s == r->end ? SW_OK
                        : RULE_FAIL(r,
                                    "expected a list of factors in its place (reduction, need_replication, "
                                    "permutation, blocked_propagation), ', custom' or the end");
}

sw_rc sw_factor_rule_read(const char *s, const char *end, sw_factor_words words, sw_arena *arena, sw_factor_rule **out,
                          const char **at, sw_diag *d) {
  rule_reader r = {.s = s, .end = end, .any = words == SW_FACTOR_ANY_LETTERS, .d = d};
  r.rule.dim = r.dim;
  sw_rc rc = read_rule(&r);
  *at = r.s;
  return rc ? rc : sw_factor_rule_keep(&r.rule, arena, out, d);
}

sw_rc sw_factor_rule_keep(const sw_factor_rule *r, sw_arena *arena, sw_factor_rule **out, sw_diag *d) {
  const size_t n_dims = (size_t)(r->n_operands + r->n_results) * SW_MAX_RANK;
  *out = sw_arena_copy(arena, r, 1, sizeof *r, d);
  if (!*out) return SW_E_RESOURCE;
  SW_ARENA_NEW((*out)->dim, arena, n_dims, d);
  if (n_dims) memcpy((*out)->dim, r->dim, n_dims * sizeof *r->dim);
  return SW_OK;
}

/* --- as text ------------------------------------------------------------------------------------------------------ */

void sw_factor_put(int factor, sw_text *out) {
  enum { LETTERS = 'z' - 'i' + 1 };
  if (factor < LETTERS) sw_text_printf(out, "%c", 'i' + factor);
  if (factor >= LETTERS) sw_text_printf(out, "z_%d", factor - LETTERS + 1);
}

static void put_tensor(const sw_factor_rule *r, int tensor, sw_text *out) {
  sw_text_puts(out, "[");
  for (int k = 0; k < r->rank[tensor]; k++) {
    const sw_factor_dim *dim = &r->dim[tensor * SW_MAX_RANK + k];
    sw_text_puts(out, k ? ", " : "");
    if (!dim->n) sw_text_puts(out, "*");
    for (int i = 0; i < dim->n; i++) sw_factor_put(dim->at[i], out);
  }
  sw_text_puts(out, "]");
}

/* " reduction={k, m}"; nothing when no factor is listed. */
static void put_factor_list(const sw_factor_rule *r, int list, sw_text *out) {
  const sw_factor_kind kind = kLists[list].kind;
  bool any = false;
  for (int f = 0; f < r->n; f++) {
    if (kind == SW_FACTOR_PASS ? !r->blocked[f] : r->kind[f] != kind) continue;
    sw_text_printf(out, any ? ", " : " %s={", kLists[list].word);
    sw_factor_put(f, out);
    any = true;
  }
  if (any) sw_text_puts(out, "}");
}

/* `arrow`: what stands between operands and results. */
static void put_rule(const sw_factor_rule *r, const char *arrow, sw_text *out) {
  sw_text_puts(out, "(");
  for (int i = 0; i < r->n_operands + r->n_results; i++) {
    sw_text_puts(out, i == r->n_operands ? arrow : i ? ", " : "");
    put_tensor(r, i, out);
  }
  sw_text_puts(out, r->n_results ? ")" : ")->()");
  for (int f = 0; f < r->n; f++) {
    sw_text_puts(out, f ? ", " : " {");
    sw_factor_put(f, out);
    sw_text_printf(out, "=%lld", (long long)r->size[f]);
  }
  if (r->n) sw_text_puts(out, "}");
  for (int l = 0; l < LISTS; l++) put_factor_list(r, l, out);
}

void sw_factor_rule_put(const sw_factor_rule *r, sw_text *out) { put_rule(r, ")->(", out); }

bool sw_factor_rule_print(const sw_graph *g, const sw_op *op, sw_text *out) {
  sw_factors f;
  if (!sw_factors_build(g, op, &f)) return false;
  put_rule(&f.rule, f.initial ? ", [])->(" : ")->(", out);
  return true;
}

void sw_factor_rules_print(const sw_graph *g, sw_text *out) {
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    sw_text rule = {0};
    if (sw_factor_rule_print(g, op, &rule)) {
      sw_text_printf(out, "%%%s = %s : %s\n", op->name, sw_opcode_text(op->code), sw_text_str(&rule));
    }
    if (rule.rc) out->rc = rule.rc;
    sw_text_free(&rule);
  }
}
