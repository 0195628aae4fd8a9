/* einsum of any number of operands, from left to right: labels that no one else needs are summed first, then each next
 * operand is joined by a dot_general (labels shared and needed later are batch dims, labels shared and not needed are
 * contracted), and a last transpose brings the labels into the order of the output.
 *
 *   "ij,jk,kl->li"   e.join0 = dot(a, b) contracting j: ik;   e.join1 = dot(., c) contracting k: il;   e = transpose
 */
#include <ctype.h>
#include <string.h>

#include "graph/ops/expand.h"
#include "graph/ops/op_rules.h"

enum { TERM = SW_MAX_RANK + 1 };

/* One comma-separated term after another. False at the end of the text, or at '-'. */
static bool next_term(const char **at, char term[TERM], bool *fits) {
  int n = 0;
  *fits = true;
  if (!**at || **at == '-') return false;
  for (; **at && **at != ',' && **at != '-'; (*at)++) {
    if (**at == ' ') continue;
    *fits = *fits && n < SW_MAX_RANK && isalpha((unsigned char)**at);
    if (n < SW_MAX_RANK) term[n++] = **at;
  }
  term[n] = '\0';
  if (**at == ',') (*at)++;
  return true;
}

static sw_rc check_term(const sw_rule_call *c, int operand, const char *term, int64_t size_of[256]) {
  const sw_type *x = &c->operands[operand];
  if ((int)strlen(term) != x->rank) {
    return SW_RULE_FAIL(c, "'equation' gives operand %d the labels '%s'; expected %d, one per dim", operand, term,
                        x->rank);
  }
  for (int i = 0; i < x->rank; i++) {
    unsigned char label = (unsigned char)term[i];
    if (strchr(term + i + 1, term[i])) {
      return SW_RULE_FAIL(c, "'equation' has label '%c' twice in operand %d; expected distinct labels", label, operand);
    }
    if (size_of[label] >= 0 && size_of[label] != x->dims[i]) {
      return SW_RULE_FAIL(c, "label '%c' has size %lld and in operand %d size %lld; expected equal sizes", label,
                          (long long)size_of[label], operand, (long long)x->dims[i]);
    }
    size_of[label] = x->dims[i];
  }
  return SW_OK;
}

static const char *output_term(const char *equation) {
  const char *arrow = strstr(equation, "->");
  return arrow ? arrow + 2 : NULL;
}

sw_rc sw_infer_einsum(sw_rule_call *c) {
  const char *equation = sw_call_text(c, SW_ATTR_EQUATION), *out = output_term(equation), *at = equation;
  char term[TERM];
  bool fits;
  int64_t size_of[256];
  memset(size_of, -1, sizeof size_of);
  if (!out) return SW_RULE_FAIL(c, "'equation' is '%s'; expected '->' and the labels of the result", equation);
  for (int i = 0; i < c->n_operands; i++) {
    SW_TRY(sw_check_class(c, i, SW_NUMBERS));
    SW_TRY(sw_check_same_dtype(c, 0, i));
    /* A scalar has an empty term, also as the last one. */
    if (!next_term(&at, term, &fits)) term[0] = '\0';
    if (!fits) return SW_RULE_FAIL(c, "'equation' is '%s'; expected letters, at most %d a term", equation, SW_MAX_RANK);
    SW_TRY(check_term(c, i, term, size_of));
  }
  if (strncmp(at, "->", 2) != 0) {
    return SW_RULE_FAIL(c, "'equation' is '%s'; expected %d terms before '->', one per operand", equation,
                        c->n_operands);
  }
  if (!next_term(&out, term, &fits)) term[0] = '\0';
  for (int i = 0; term[i]; i++) {
    if (size_of[(unsigned char)term[i]] < 0 || strchr(term + i + 1, term[i])) {
      return SW_RULE_FAIL(c, "'equation' has '%c' in the result; expected distinct labels of the operands", term[i]);
    }
  }
  return fits && !*out ? SW_OK : SW_RULE_FAIL(c, "'equation' is '%s'; expected letters after '->'", equation);
}

/* A value and its labels, one per dim. */
typedef struct labelled {
  sw_id x;
  char labels[2 * TERM];
} labelled;

/* Is the label wanted by the rest of the equation, its output included? */
static bool is_label_needed(char label, const char *rest) { return strchr(rest, label) != NULL; }

static const char *part_name(sw_expansion *e, const char *what, int i) {
  const char *s = sw_arena_printf(e->call->arena, e->d, "%s%d", what, i);
  if (!s) e->rc = SW_E_RESOURCE;
  return s ? s : what;
}

/* Sum over the labels of operand i that nothing else needs: neither `others`, what was joined so far, nor the rest. */
static void sum_lonely(sw_expansion *e, labelled *v, int i, const char *others, const char *rest, const char *out) {
  int64_t dims[2 * TERM];
  char kept[2 * TERM];
  int n = 0, k = 0;
  for (int j = 0; v->labels[j]; j++) {
    if (strchr(others, v->labels[j]) || is_label_needed(v->labels[j], rest)) {
      kept[k++] = v->labels[j];
    } else {
      dims[n++] = j;
    }
  }
  kept[k] = '\0';
  if (!n) return;
  bool final = e->call->n_operands == 1 && strcmp(kept, out) == 0;
  v->x = sw_expand_reduce(e, final ? SW_LAST_STEP : part_name(e, "sum", i), "sum", v->x, n, dims);
  memcpy(v->labels, kept, sizeof kept);
}

/* The dims of a and b that a join pairs. */
typedef struct pairing {
  int64_t batch[2][TERM], contract[2][TERM];
  int n_batch, n_contract;
  char labels[2 * TERM];
} pairing;

static void pair_up(const labelled *a, const labelled *b, const char *rest, pairing *p) {
  *p = (pairing){0};
  int n = 0;
  for (int i = 0; a->labels[i]; i++) {
    const char *in_b = strchr(b->labels, a->labels[i]);
    if (!in_b) continue;
    bool batch = is_label_needed(a->labels[i], rest);
    int at = batch ? p->n_batch++ : p->n_contract++;
    (batch ? p->batch : p->contract)[0][at] = i;
    (batch ? p->batch : p->contract)[1][at] = in_b - b->labels;
    if (batch) p->labels[n++] = a->labels[i];
  }
  for (int i = 0; a->labels[i]; i++) {
    if (!strchr(b->labels, a->labels[i])) p->labels[n++] = a->labels[i];
  }
  for (int i = 0; b->labels[i]; i++) {
    if (!strchr(a->labels, b->labels[i])) p->labels[n++] = b->labels[i];
  }
}

static void join(sw_expansion *e, labelled *a, const labelled *b, int i, const char *rest, const char *out) {
  pairing p;
  pair_up(a, b, rest, &p);
  bool final = strcmp(p.labels, out) == 0 && i + 1 == e->call->n_operands;
  sw_attr attrs[] = {SW_ATTR_L(LHS_BATCH, p.batch[0], p.n_batch), SW_ATTR_L(RHS_BATCH, p.batch[1], p.n_batch),
                     SW_ATTR_L(LHS_CONTRACT, p.contract[0], p.n_contract),
                     SW_ATTR_L(RHS_CONTRACT, p.contract[1], p.n_contract)};
  a->x = sw_expand_op(e, final ? SW_LAST_STEP : part_name(e, "join", i), SW_OP_DOT, 2, (sw_id[]){a->x, b->x}, 4, attrs);
  memcpy(a->labels, p.labels, sizeof p.labels);
}

static void transpose_to(sw_expansion *e, const labelled *v, const char *out) {
  int64_t permutation[TERM];
  int n = 0;
  for (; out[n]; n++) permutation[n] = strchr(v->labels, out[n]) - v->labels;
  (void)sw_expand_op(e, SW_LAST_STEP, SW_OP_TRANSPOSE, 1, &v->x, 1, &SW_ATTR_L(PERMUTATION, permutation, n));
}

sw_rc sw_expand_einsum(sw_expansion *e) {
  const char *equation = sw_call_text(e->call, SW_ATTR_EQUATION), *at = equation, *to = output_term(equation);
  char out[TERM] = "", term[TERM] = "";
  bool fits;
  int n = e->call->n_operands;
  (void)next_term(&to, out, &fits);
  labelled a = {0};
  for (int i = 0; i < n && !e->rc; i++) {
    term[0] = '\0';
    (void)next_term(&at, term, &fits);
    labelled b = {.x = e->spec->operands[i]};
    memcpy(b.labels, term, sizeof term);
    sum_lonely(e, &b, i, a.labels, at, out);
    if (i == 0) a = b;
    if (i > 0) join(e, &a, &b, i, at, out);
  }
  if (!e->rc && !e->done) transpose_to(e, &a, out);
  return e->rc;
}
