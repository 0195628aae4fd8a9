/* Forward, roles go from operands to results, and ops add what they show: a loop of a product with a weight that the
 * weight lacks is one of data, one that both have with the result is of experts; where no operand is a weight, that is
 * one of heads. What is looked up is of a vocabulary. What is of heads, experts and a vocabulary goes backward, too, so
 * that the columns of weights have it, and forward again.
 */
#include "report/dim_roles.h"

#include <string.h>

#include "base/hash.h"
#include "graph/attention.h"
#include "plan/value_class.h"

enum { SAMPLE = 1, TOKEN = 2, EXPERT = 4, HEAD = 8, VOCABULARY = 16, OF_WEIGHTS = EXPERT | HEAD | VOCABULARY };

/* The role of a loop is its first one. */
static uint8_t role_of(uint8_t bits) {
  static const struct {
    uint8_t bit;
    sw_dim_role role;
  } kRoles[] = {{SAMPLE, SW_DIM_SAMPLE},
                {TOKEN, SW_DIM_TOKEN},
                {EXPERT, SW_DIM_EXPERT},
                {HEAD, SW_DIM_HEAD},
                {VOCABULARY, SW_DIM_VOCABULARY}};
  for (size_t i = 0; i < sizeof kRoles / sizeof *kRoles; i++)
    if (bits & kRoles[i].bit) return (uint8_t)kRoles[i].role;
  return SW_DIM_FEATURE;
}

/* --- weights ------------------------------------------------------------------------------------------------------ */

static bool is_product(const sw_op *op) { return sw_op_class_of(op->code) == SW_OPS_CONTRACTION; }

/* Is the result of it a weight where its operand is one? */
static bool keeps_weights(const sw_op *op) {
  return op->n_results == 1 && op->n_operands > 0 &&
         (sw_op_content(op) == SW_CONTENT_MOVED || op->code == SW_OP_CONVERT);
}

/* Which part of it the result is, where the operand is that part. */
static uint64_t kept_of_weight(const sw_op *op, uint64_t part) {
  int n;
  if (op->code == SW_OP_DYNAMIC_SLICE) return sw_hash_u64((uint64_t)op->code, part);
  if (op->code != SW_OP_SLICE) return part;
  const int64_t *start = sw_op_ints(op, SW_ATTR_START, &n);
  return sw_hash_bytes(start, (size_t)n * sizeof *start, part);
}

static void follow_weights(sw_dim_roles *r) {
  const sw_graph *g = r->g;
  for (int32_t i = 0; i < g->n_args; i++) r->part_of[g->args[i]] = sw_hash_u64((uint64_t)i, 0);
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_results; k++) r->weight_of[op->results[k]] = -1;
    if (!keeps_weights(op)) continue;
    r->weight_of[op->results[0]] = r->weight_of[op->operands[0]];
    r->part_of[op->results[0]] = kept_of_weight(op, r->part_of[op->operands[0]]);
  }
}

/* Has the product batch dims, and the operand samples there, as keys have beside queries? */
static bool is_batched(const sw_graph *g, const sw_op *op, int operand, int64_t batch) {
  int n;
  (void)sw_op_ints(op, SW_ATTR_LHS_BATCH, &n);
  return op->code == SW_OP_DOT && n > 0 && sw_operand_type(g, op, operand)->dims[0] == batch;
}

/* Of operands that are both arguments the larger one, or a convolution's kernel, is a weight, and the other is data in
 * other products, too; one beside what is computed is a weight. */
static void note_weight(const sw_graph *g, const sw_op *op, const int32_t *root, int64_t batch, bool *is_weight,
                        bool *is_data) {
  const int32_t left = root[op->operands[0]], right = root[op->operands[1]];
  const bool larger_left = op->code == SW_OP_DOT &&
                           sw_type_elements(sw_operand_type(g, op, 0)) > sw_type_elements(sw_operand_type(g, op, 1));
  for (int i = 0; i < 2; i++)
    if (root[op->operands[i]] >= 0 && is_batched(g, op, i, batch)) is_data[root[op->operands[i]]] = true;
  if (left < 0 && right < 0) return;
  if (left >= 0 && right >= 0) is_data[larger_left ? right : left] = true;
  is_weight[right < 0 || (left >= 0 && larger_left) ? left : right] = true;
}

static sw_rc find_weights(sw_dim_roles *r, const uint8_t *class_of, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->g;
  bool any = false, *is_weight, *is_data;
  SW_ARENA_NEW_EACH(arena, g->n_args, d, is_weight, is_data);
  for (int32_t i = 0; i < g->n_args; i++) {
    is_weight[i] = class_of[g->args[i]] == SW_MEMORY_PARAMETERS;
    any = any || is_weight[i];
    r->weight_of[g->args[i]] = i;
  }
  if (!any) {
    const int64_t batch = sw_find_input_extents(g, NULL).batch;
    follow_weights(r);
    for (sw_id i = 0; i < g->n_ops; i++)
      if (is_product(&g->ops[i])) note_weight(g, &g->ops[i], r->weight_of, batch, is_weight, is_data);
  }
  for (int32_t i = 0; i < g->n_args; i++)
    if (!is_weight[i] || is_data[i]) r->weight_of[g->args[i]] = -1;
  follow_weights(r);
  return SW_OK;
}

int sw_weight_operand(const sw_dim_roles *r, const sw_op *op) {
  if (!is_product(op)) return -1;
  const bool left = r->weight_of[op->operands[0]] >= 0, right = r->weight_of[op->operands[1]] >= 0;
  return left == right ? -1 : right;
}

/* --- dims and loops ----------------------------------------------------------------------------------------------- */

/* Roles of a dim to the loops that it is made of: of several each to the next, of positions alone to all. */
static void give_loops(uint8_t bits, const sw_affine *e, uint8_t *loops) {
  int at = 0;
  if (!e->n_terms) return;
  if (!e->mixed_radix) {
    loops[e->terms[0].loop] |= bits;
    return;
  }
  for (int i = 0; bits == TOKEN && i < e->n_terms; i++) loops[e->terms[i].loop] |= bits;
  for (int bit = SAMPLE; bit <= VOCABULARY; bit <<= 1) {
    if (!(bits & bit)) continue;
    loops[e->terms[at].loop] |= (uint8_t)bit;
    if (at < e->n_terms - 1) at++;
  }
}

static uint8_t bits_of_dim(const sw_affine *e, const uint8_t *loops) {
  uint8_t bits = 0;
  for (int i = 0; i < e->n_terms; i++) bits |= loops[e->terms[i].loop];
  return bits;
}

/* What loops are of, by the dims of all ports. */
static uint8_t *read_loops(sw_dim_roles *r, const sw_op *op) {
  memset(r->loops, 0, (size_t)op->nest->n_loops);
  for (int port = 0; port < op->n_operands + op->n_results; port++) {
    const uint8_t *dims = r->of + r->first[sw_port_value(op, port)];
    const sw_map *map = &op->nest->maps[port];
    for (int k = 0; k < map->rank; k++) give_loops(dims[k], &map->dims[k], r->loops);
  }
  return r->loops;
}

const uint8_t *sw_loop_roles(sw_dim_roles *r, const sw_op *op) {
  uint8_t *loops = read_loops(r, op);
  for (int k = 0; k < op->nest->n_loops; k++) loops[k] = role_of(loops[k]);
  return loops;
}

bool sw_value_has_role(const sw_dim_roles *r, sw_id value, sw_dim_role role) {
  for (int k = 0; k < r->g->values[value].type.rank; k++)
    if (role_of(r->of[r->first[value] + k]) == role) return true;
  return false;
}

/* --- what ops show ------------------------------------------------------------------------------------------------ */

static void show_of_attention(uint8_t *loops) {
  loops[SW_ATTENTION_KV_HEAD] |= HEAD;
  loops[SW_ATTENTION_GROUP] |= HEAD;
  if (!loops[SW_ATTENTION_BATCH]) loops[SW_ATTENTION_BATCH] = SAMPLE;
  if (!loops[SW_ATTENTION_QUERY]) loops[SW_ATTENTION_QUERY] = TOKEN;
  if (!loops[SW_ATTENTION_KEY]) loops[SW_ATTENTION_KEY] = TOKEN;
}

/* Of data, what is of nothing known counts samples, or what is inside of them. */
static void show_of_product(const sw_op *op, int weight, uint8_t *loops) {
  bool sampled = false;
  for (int k = 0; k < op->nest->n_loops; k++) sampled = sampled || loops[k] & SAMPLE;
  for (int k = 0; k < op->nest->n_loops; k++) {
    const sw_map *maps = op->nest->maps;
    const bool of_result = sw_map_has_loop(&maps[2], k);
    if (!of_result || loops[k] || !sw_map_has_loop(&maps[weight < 0 ? 0 : 1 - weight], k)) continue;
    if (weight >= 0 && !sw_map_has_loop(&maps[weight], k))
      loops[k] = sampled ? TOKEN : SAMPLE, sampled = true;
    else if (weight >= 0 && op->code == SW_OP_DOT)
      loops[k] = EXPERT;
    else if (op->code == SW_OP_DOT && sw_map_has_loop(&maps[1], k))
      loops[k] = HEAD;
  }
}

/* Rows of a table, or of what is known of each word. */
static void show_of_look_up(const sw_op *op, uint8_t *loops) {
  for (int k = 0; k < op->nest->n_loops; k++)
    if (op->nest->loops[k].kind == SW_LOOP_MASKED && !loops[k]) loops[k] = VOCABULARY;
}

static void go_forward(sw_dim_roles *r) {
  for (sw_id i = 0; i < r->g->n_ops; i++) {
    const sw_op *op = &r->g->ops[i];
    if (!op->nest) continue;
    uint8_t *loops = read_loops(r, op);
    if (sw_is_attention(op->code)) show_of_attention(loops);
    if (op->code == SW_OP_GATHER) show_of_look_up(op, loops);
    const int weight = sw_weight_operand(r, op);
    const bool made = is_product(op) && r->weight_of[op->operands[0]] < 0 && r->weight_of[op->operands[1]] < 0;
    if (weight >= 0 || made) show_of_product(op, weight, loops);
    for (int port = 0; port < op->n_operands + op->n_results; port++) {
      const uint8_t keep = port < op->n_operands ? OF_WEIGHTS : UINT8_MAX;
      uint8_t *dims = r->of + r->first[sw_port_value(op, port)];
      const sw_map *map = &op->nest->maps[port];
      for (int k = 0; k < map->rank; k++) dims[k] |= bits_of_dim(&map->dims[k], loops) & keep;
    }
  }
}

static void go_backward(sw_dim_roles *r) {
  for (sw_id i = r->g->n_ops; i-- > 0;) {
    const sw_op *op = &r->g->ops[i];
    if (!op->nest) continue;
    const uint8_t *loops = read_loops(r, op);
    for (int port = 0; port < op->n_operands; port++) {
      uint8_t *dims = r->of + r->first[op->operands[port]];
      const sw_map *map = &op->nest->maps[port];
      for (int k = 0; k < map->rank; k++) dims[k] |= bits_of_dim(&map->dims[k], loops) & OF_WEIGHTS;
    }
  }
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

/* Inputs have samples first, or behind steps of a loop, and positions behind them; caches have samples. */
static sw_rc mark_arguments(sw_dim_roles *r, const uint8_t *class_of, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->g;
  bool *is_weight;
  SW_ARENA_NEW(is_weight, arena, g->n_values, d);
  for (int32_t i = 0; i < g->n_args; i++) is_weight[g->args[i]] = r->weight_of[g->args[i]] >= 0;
  const sw_input_extents of = sw_find_input_extents(g, is_weight);
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    uint8_t *dims = r->of + r->first[g->args[i]];
    const bool input = v->kind == SW_VALUE_INPUT, cache = class_of[g->args[i]] == SW_MEMORY_STATE && v->type.rank > 2;
    if (!v->type.rank || is_weight[g->args[i]] || (!input && !cache)) continue;
    const int batch = input ? sw_input_batch_dim(g, g->args[i]) : 0;
    const int64_t extent = v->type.dims[batch];
    if (extent == of.batch)
      dims[batch] = SAMPLE;
    else if (input && extent == of.sequence)
      dims[batch] = TOKEN;
    if (input && sw_has_sequence(v, batch) && extent == of.batch) dims[batch + 1] = TOKEN;
  }
  return SW_OK;
}

sw_rc sw_dim_roles_find(const sw_graph *g, const uint8_t *class_of, sw_arena *arena, sw_dim_roles *out, sw_diag *d) {
  int64_t n_dims = 0;
  int32_t n_loops = SW_ATTENTION_GRAD_LOOPS;
  *out = (sw_dim_roles){.g = g};
  SW_ARENA_NEW_EACH(arena, g->n_values, d, out->weight_of, out->part_of, out->first);
  for (sw_id v = 0; v < g->n_values; v++) {
    out->first[v] = n_dims;
    n_dims += g->values[v].type.rank;
  }
  for (sw_id i = 0; i < g->n_ops; i++)
    if (g->ops[i].nest && g->ops[i].nest->n_loops > n_loops) n_loops = g->ops[i].nest->n_loops;
  SW_ARENA_NEW(out->of, arena, n_dims, d);
  SW_ARENA_NEW(out->loops, arena, n_loops, d);
  SW_TRY(find_weights(out, class_of, arena, d));
  SW_TRY(mark_arguments(out, class_of, arena, d));
  go_forward(out);
  go_backward(out);
  go_forward(out);
  return SW_OK;
}
