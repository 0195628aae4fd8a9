/* Contractions by letters (contract.h). */
#include "gen/contract.h"

void swg_read_equation(const char *equation, swg_letters *a, swg_letters *b, swg_letters *result) {
  swg_letters *const terms[] = {a, b, result};
  int term = 0;
  *a = *b = *result = (swg_letters){{0}, 0};
  for (const char *at = equation; *at; at++) {
    if (*at == ',' || *at == '>') term++;
    if (*at >= 'A' && term < 3 && terms[term]->n < SWG_LETTERS) swg_letters_push(terms[term], *at);
  }
}

/* The order of dims in which dot_general gives einsum(a, b): shared and kept, a's own, b's own. */
static swg_letters natural_order(const swg_letters *a, const swg_letters *b, const swg_letters *result) {
  swg_letters order = {{0}, 0};
  for (int i = 0; i < a->n; i++) {
    if (swg_letters_have(b, a->at[i]) && swg_letters_have(result, a->at[i])) swg_letters_push(&order, a->at[i]);
  }
  for (int i = 0; i < a->n; i++) {
    if (!swg_letters_have(b, a->at[i])) swg_letters_push(&order, a->at[i]);
  }
  for (int i = 0; i < b->n; i++) {
    if (!swg_letters_have(a, b->at[i])) swg_letters_push(&order, b->at[i]);
  }
  return order;
}

/* One dot_general with the sums kept in type t, of dims in the order in which it gives them. */
static sw_id wide_dot(swg_builder *b, const char *name, sw_dtype t, const swg_side *x, const swg_side *y,
                      const swg_letters *result) {
  swg_shape batch[2] = {{0}, {0}}, summed[2] = {{0}, {0}};
  for (int i = 0; i < x->dims->n; i++) {
    const char *other = memchr(y->dims->at, x->dims->at[i], (size_t)y->dims->n);
    if (!other) continue;
    swg_shape *lists = swg_letters_have(result, *other) ? batch : summed;
    lists[0].at[lists[0].n++] = i;
    lists[1].at[lists[1].n++] = other - y->dims->at;
  }
  return swg_op(
      b, SW_OP_DOT, name, SWG_IDS(x->value, y->value),
      SWG_ATTRS(SWG_INTS_N(LHS_BATCH, batch[0].at, batch[0].n), SWG_INTS_N(RHS_BATCH, batch[1].at, batch[1].n),
                SWG_INTS_N(LHS_CONTRACT, summed[0].at, summed[0].n),
                SWG_INTS_N(RHS_CONTRACT, summed[1].at, summed[1].n), SWG_INT(DTYPE, t)));
}

static bool same_letters(const swg_letters *a, const swg_letters *b) { return memcmp(a->at, b->at, sizeof a->at) == 0; }

/* The dot in the order in which it comes, then a transpose. */
static sw_id wide_dot_transposed(swg_builder *b, const char *name, sw_dtype t, const swg_side *x, const swg_side *y,
                                 const swg_letters *result) {
  const swg_letters made = natural_order(x->dims, y->dims, result);
  swg_shape order = {.n = result->n};
  for (int i = 0; i < result->n; i++) {
    const char *from = memchr(made.at, result->at[i], (size_t)made.n);
    order.at[i] = from ? from - made.at : 0;
  }
  swg_enter(b, "%s", name);
  sw_id dot = wide_dot(b, "dot", t, x, y, &made);
  swg_leave(b);
  return swg_op(b, SW_OP_TRANSPOSE, name, SWG_IDS(dot), SWG_ATTRS(SWG_INTS_N(PERMUTATION, order.at, order.n)));
}

sw_id swg_contract(swg_builder *b, const char *name, sw_dtype t, const swg_side *x, const swg_side *y,
                   const swg_letters *result) {
  const swg_letters swapped = natural_order(y->dims, x->dims, result),
                    straight = natural_order(x->dims, y->dims, result);
  const bool swap = same_letters(&swapped, result), natural = swap || same_letters(&straight, result);
  const swg_side *first = swap ? y : x, *second = swap ? x : y;
  if (t == swg_type(b, first->value)->dtype && t == swg_type(b, second->value)->dtype) {
    char equation[3 * SWG_LETTERS + 4];
    snprintf(equation, sizeof equation, "%s,%s->%s", first->dims->at, second->dims->at, result->at);
    return swg_einsum(b, name, equation, SWG_IDS(first->value, second->value));
  }
  return natural ? wide_dot(b, name, t, first, second, result) : wide_dot_transposed(b, name, t, first, second, result);
}
