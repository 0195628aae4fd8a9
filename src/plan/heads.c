#include "plan/heads.h"

#include "base/array.h"
#include "graph/attention.h"

/* A dim of a value, and what is followed of it: the steps of its major loop, or of a minor one behind the batch. */
typedef struct place {
  sw_id value;
  int dim;
  int64_t extent;
  bool minor;
} place;

enum { MOST_PLACES = 64 }; /* from a projection to its attention it is some ten */

typedef struct way {
  const sw_graph *g;
  SW_ARRAY(place) at;
  int64_t heads;
} way;

/* The loop that a dim is, or its major digit; -1: none. */
static int major_loop(const sw_map *map, int dim) {
  const sw_affine *e = &map->dims[dim];
  const bool plain = e->n_terms == 1 || (e->n_terms > 1 && e->mixed_radix);
  return plain ? e->terms[0].loop : -1;
}

static bool has_int(const sw_op *op, sw_attr_key key, int64_t x) {
  int n;
  const int64_t *at = sw_op_ints(op, key, &n);
  for (int i = 0; i < n; i++) {
    if (at[i] == x) return true;
  }
  return false;
}

/* Is the dim of an operand one of several batch dims of a product, or one behind the batch in one with it? */
static bool is_further_batch(const sw_op *op, int operand, const place *from) {
  int n;
  (void)sw_op_ints(op, SW_ATTR_LHS_BATCH, &n);
  return op->code == SW_OP_DOT && (n > 1 || from->minor) &&
         has_int(op, operand ? SW_ATTR_RHS_BATCH : SW_ATTR_LHS_BATCH, from->dim);
}

static bool has_minor(const sw_affine *e, int loop) {
  for (int i = 1; e->mixed_radix && i < e->n_terms; i++) {
    if (e->terms[i].loop == loop) return true;
  }
  return false;
}

/* The dims of the results that the loop is a part of. */
static sw_rc pass_on(way *w, const sw_op *op, int loop, const place *from, sw_diag *d) {
  for (int r = 0; r < op->n_results && w->at.n < MOST_PLACES; r++) {
    const sw_map *map = &op->nest->maps[op->n_operands + r];
    for (int k = 0; k < map->rank; k++) {
      const bool major = major_loop(map, k) == loop, minor = has_minor(&map->dims[k], loop);
      if (!major && !minor) continue;
      SW_TRY(sw_array_push(&w->at, ((place){op->results[r], k, from->extent, minor || from->minor}), d));
    }
  }
  return SW_OK;
}

static sw_rc look(way *w, place from, sw_value_use use, sw_diag *d) {
  const sw_op *op = use.op < 0 ? NULL : &w->g->ops[use.op];
  if (!op || !op->nest) return SW_OK;
  const int loop = major_loop(&op->nest->maps[use.index], from.dim);
  if (loop < 0) return SW_OK;
  const int64_t steps = op->nest->loops[loop].size;
  const bool digit = op->nest->maps[use.index].dims[from.dim].n_terms > 1;
  const bool attends = sw_is_attention(op->code) && (loop == SW_ATTENTION_KV_HEAD || loop == SW_ATTENTION_GROUP);
  if (attends || is_further_batch(op, use.index, &from)) {
    w->heads = attends ? sw_operand_type(w->g, op, use.index)->dims[from.dim] : from.extent;
    return SW_OK;
  }
  if (op->code == SW_OP_DOT || (digit && from.minor)) return SW_OK;
  if (digit) from.extent = steps;
  return pass_on(w, op, loop, &from, d);
}

sw_rc sw_heads_along(const sw_graph *g, const sw_op *op, int which, int dim, int64_t *out, sw_diag *d) {
  way w = {.g = g};
  const int loop = major_loop(&op->nest->maps[which], dim);
  const place first = {op->operands[which], dim, sw_operand_type(g, op, which)->dims[dim], false};
  sw_rc rc = loop < 0 ? SW_OK : pass_on(&w, op, loop, &first, d);
  for (size_t i = 0; !rc && i < w.at.n && !w.heads; i++) {
    const place from = w.at.at[i];
    const sw_value *v = &g->values[from.value];
    for (int32_t u = 0; !rc && u < v->n_uses && !w.heads; u++) rc = look(&w, from, v->uses[u], d);
  }
  *out = w.heads;
  sw_array_free(&w.at);
  return rc;
}
