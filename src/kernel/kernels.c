/* What crosses the borders of kernels: bytes per element at every port, what becomes of every value, and how long it is
 * needed. */
#include "shardwright/kernel.h"

#include <string.h>

#include "kernel/combine.h"
#include "kernel/clusters.h"
#include "base/checked.h"

static const char *const kAparts[] = {
#define SW_X(id, text) [SW_APART_##id] = text,
    SW_APARTS(SW_X)
#undef SW_X
};
const char *sw_apart_text(sw_apart a) { return kAparts[a]; }

/* A sw_kernels being filled. */
typedef struct borders {
  const sw_graph *g;
  sw_clusters p;
  int32_t n;
  int32_t *of;
  uint8_t *keeping;
  sw_id *updates;
  int32_t *until, *over;
  bool *launches;
  int32_t *port;
  double *width;
  double *reading; /* by value: bytes per element of it that a kernel reads which is not its own */
  int32_t *number; /* by group */
} borders;

/* --- values ------------------------------------------------------------------------------------------------------- */

static sw_keeping keeping_of(const borders *b, sw_id value) {
  const sw_value *v = &b->g->values[value];
  const sw_id by = sw_clusters_maker(&b->p, value);
  if (by < 0 || v->n_uses == 0) return SW_KEPT_STORED;
  if (b->p.group[by].again) return SW_KEPT_AGAIN;
  bool any = false;
  for (int32_t u = 0; u < v->n_uses; u++) {
    if (sw_use_is_by_choice(&b->p, v->uses[u])) continue;
    if (v->uses[u].op < 0 || b->p.of[v->uses[u].op] != by) return SW_KEPT_STORED;
    any = true;
  }
  return any ? SW_KEPT_INSIDE : SW_KEPT_STORED;
}

/* The step up to which uses of a value need it. */
static int32_t last_use(const borders *b, sw_id value) {
  const sw_value *v = &b->g->values[value];
  int32_t last = 0;
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_id op = v->uses[u].op;
    if (op < 0) return b->g->n_ops;
    if (sw_use_is_by_choice(&b->p, v->uses[u])) continue;
    last = sw_max_i32(last, b->until[op]);
    if (b->updates[b->g->ops[op].n_results ? b->g->ops[op].results[0] : value] == value)
      last = sw_max_i32(last, b->over[op]);
  }
  return last;
}

/* An op made again needs its operands as long as its readers need theirs; what is written over a value holds its
 * memory. Readers stand behind. */
static void find_until(borders *b) {
  for (sw_id i = b->g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &b->g->ops[i];
    const sw_fusion *group = &b->p.group[b->p.of[i]];
    b->until[i] = sw_max_i32(group->at, i);
    b->over[i] = op->n_results ? last_use(b, op->results[0]) : i;
    for (int k = 0; k < op->n_results && group->again; k++)
      b->until[i] = sw_max_i32(b->until[i], last_use(b, op->results[k]));
  }
}

/* Is `value` the next value of the state `state`? */
static bool becomes(const sw_graph *g, sw_id value, sw_id state) {
  const sw_value *v = &g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++)
    if (v->uses[u].op < 0 && g->alias[v->uses[u].index] == state) return true;
  return false;
}

/* Is the use a join's of what entered a loop that `op` stands in? It is read where the loop does not go round, so not
 * once the op has run. */
static bool is_of_no_trip(const sw_graph *g, const sw_value *v, sw_value_use use, sw_id op) {
  const bool joins = use.op >= 0 && g->ops[use.op].code == SW_OP_JOIN && g->ops[use.op].n_operands == 2;
  return joins && use.index == 0 && v->def >= 0 && g->ops[v->def].code == SW_OP_ENTER &&
         g->ops[v->def].frame == g->ops[op].frame && g->ops[op].code != SW_OP_JOIN;
}

/* Does nobody need what is in memory of `value` once `op` has run? */
static bool dies_at(const borders *b, sw_id value, sw_id op) {
  const sw_value *v = &b->g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++) {
    if (v->uses[u].op == op || is_of_no_trip(b->g, v, v->uses[u], op)) continue;
    if (v->uses[u].op < 0 || b->until[v->uses[u].op] > b->until[op]) return false;
  }
  return true;
}

/* Does the value enter a loop or choice that only reads it? Loops carry what they only read, too, and yield it as it
 * is.
 */
static bool is_read_alone(const sw_graph *g, sw_id value) {
  const sw_id def = g->values[value].def;
  return def >= 0 && g->ops[def].code == SW_OP_ENTER && sw_entered_yields(g, value) == value;
}

/* What crosses the border of a loop or choice stays where it is, where nobody needs it there as it was. */
static bool passes_on(const borders *b, const sw_op *op, bool held) {
  const sw_value *v = &b->g->values[op->operands[0]];
  if (!b->p.rules->in_place || !held) return false;
  if (op->code == SW_OP_ENTER && is_read_alone(b->g, op->results[0])) return true;
  if (op->code == SW_OP_YIELD && is_read_alone(b->g, op->operands[0])) return true;
  if (op->code != SW_OP_ENTER && op->code != SW_OP_YIELD && op->code != SW_OP_JOIN) return false;
  return (v->def >= 0 || v->kind == SW_VALUE_STATE) && dies_at(b, op->operands[0], (sw_id)(op - b->g->ops));
}

/* The value whose memory the op's result takes over; -1: none. */
static sw_id updated_by(const borders *b, sw_id id) {
  const sw_op *op = &b->g->ops[id];
  const sw_kind kind = sw_kind_of(b->g, op);
  if (op->n_results != 1 || op->n_operands == 0 || b->keeping[op->results[0]] != SW_KEPT_STORED) return -1;
  const sw_id from = op->operands[0];
  const sw_value *v = &b->g->values[from];
  const bool held = b->keeping[from] == SW_KEPT_STORED || b->keeping[from] == SW_KEPT_IN_PLACE;
  if (kind == SW_KIND_CONTROL) return passes_on(b, op, held) ? from : -1;
  if (kind != SW_KIND_VIEW && kind != SW_KIND_UPDATE) return -1;
  if (kind == SW_KIND_VIEW) return held && v->def >= 0 && b->g->ops[v->def].frame == op->frame ? from : -1;
  if (!b->p.rules->in_place || !dies_at(b, from, id)) return -1;
  if (v->def < 0) return becomes(b->g, op->results[0], from) ? from : -1;
  return held && b->g->ops[v->def].frame == op->frame ? from : -1;
}

/* The next value of a state, made when nobody needs the last one any more, is written over it. */
static void update_states(borders *b) {
  for (int32_t i = 0; i < b->g->n_outputs && b->p.rules->in_place; i++) {
    const sw_id value = b->g->outputs[i], state = b->g->alias[i], op = b->g->values[value].def;
    if (state < 0 || op < 0 || b->keeping[value] != SW_KEPT_STORED || !dies_at(b, state, op)) continue;
    if (!sw_type_equal(&b->g->values[value].type, &b->g->values[state].type)) continue;
    b->keeping[value] = SW_KEPT_IN_PLACE;
    b->updates[value] = state;
  }
}

static void find_keeping(borders *b) {
  for (sw_id v = 0; v < b->g->n_values; v++) {
    b->keeping[v] = (uint8_t)keeping_of(b, v);
    b->updates[v] = -1;
  }
  find_until(b);
  for (sw_id i = 0; i < b->g->n_ops; i++) {
    const sw_id from = updated_by(b, i);
    if (from < 0) continue;
    b->keeping[b->g->ops[i].results[0]] = SW_KEPT_IN_PLACE;
    b->updates[b->g->ops[i].results[0]] = from;
  }
  update_states(b);
  find_until(b);
}

/* Kernels that read a value: all; and, of those that every plan has, the only one. */
typedef struct reading_kernels {
  sw_id any, only;
  bool several, several_stay;
} reading_kernels;

static void add_reading(const borders *b, sw_id value, int depth, reading_kernels *r) {
  enum { DEEPEST = 8 };
  const sw_value *v = &b->g->values[value];
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_id id = v->uses[u].op, of = id < 0 ? -1 : b->p.of[id];
    const bool optional = id >= 0 && (b->p.again[id] || b->p.offered[id]);
    const bool through = id >= 0 && !optional && b->g->ops[id].frame >= 0 && depth < DEEPEST &&
                         (b->g->ops[id].code == SW_OP_KEEP || b->p.group[of].again);
    if (through) {
      add_reading(b, b->g->ops[id].results[0], depth + 1, r);
      continue;
    }
    r->several = r->several || (r->any >= 0 && r->any != of);
    r->any = of;
    if (optional) continue;
    r->several_stay =
        r->several_stay || of < 0 || b->p.group[of].kinds & SW_KIND_BIT(CONTROL) || (r->only >= 0 && r->only != of);
    r->only = of;
  }
}

/* Is it stored for several kernels of which a plan may leave out all but one, which then may have it inside? */
static bool is_perhaps_inside(const borders *b, sw_id value) {
  const sw_id by = sw_clusters_maker(&b->p, value);
  reading_kernels r = {-1, -1, false, false};
  if (!b->p.offers || by < 0 || b->p.group[by].heavy) return false;
  add_reading(b, value, 0, &r);
  return r.several && !r.several_stay;
}

/* What is read of a value from outside: of one made again, what that reads. */
static void find_reading(borders *b) {
  const sw_graph *g = b->g;
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_value *value = &g->values[v];
    b->reading[v] = sw_dtype_bytes(value->type.dtype);
    if (b->keeping[v] == SW_KEPT_AGAIN || is_perhaps_inside(b, v)) b->reading[v] = 0;
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    if (!b->p.group[b->p.of[i]].again) continue;
    const double made = (double)sw_type_elements(sw_result_type(g, op, 0));
    for (int k = 0; k < sw_kernel_operands(op) && made > 0; k++) {
      const double n = (double)sw_type_elements(sw_operand_type(g, op, k));
      b->reading[op->results[0]] += b->reading[op->operands[k]] * (n < made ? n / made : 1);
    }
  }
}

/* --- ports -------------------------------------------------------------------------------------------------------- */

/* XLA on hosts multiplies narrow floats as f32: a copy is written and read. */
static double widening_bytes(const borders *b, const sw_op *op, sw_dtype t) {
  const int bytes = sw_dtype_bytes(t), wide = sw_dtype_bytes(SW_F32);
  const bool is = b->p.rules->widens && sw_kind_of(b->g, op) == SW_KIND_CONTRACT &&
                  sw_dtype_class_of(t) == SW_CLASS_FLOAT && bytes < wide;
  return is ? 2.0 * wide : 0;
}

/* Bytes per element of `value` that the group reads for it, what it has read or makes itself being there; of one made
 * again what that reads. Far behind, all that is read there. */
static double read_value(borders *b, sw_id value, sw_id group, int depth) {
  enum { DEEPEST = 16 };
  const sw_graph *g = b->g;
  if (sw_clusters_maker(&b->p, value) == group || b->p.read_by[value] == group) return 0;
  b->p.read_by[value] = group;
  if (b->keeping[value] != SW_KEPT_AGAIN || depth == DEEPEST) return b->reading[value];
  const sw_op *op = &g->ops[g->values[value].def];
  const double made = (double)sw_type_elements(&g->values[value].type);
  double sum = 0;
  for (int i = 0; i < sw_kernel_operands(op) && made > 0; i++) {
    const double n = (double)sw_type_elements(sw_operand_type(g, op, i));
    sum += read_value(b, op->operands[i], group, depth + 1) * (n < made ? n / made : 1);
  }
  return sum;
}

static void read_operands(borders *b, const sw_op *op, sw_id group) {
  double *width = &b->width[b->port[op - b->g->ops]];
  for (int i = 0; i < sw_kernel_operands(op); i++) {
    const sw_id value = op->operands[i];
    if (sw_use_is_by_choice(&b->p, (sw_value_use){(sw_id)(op - b->g->ops), i})) continue; /* of a stack */
    width[i] = widening_bytes(b, op, b->g->values[value].type.dtype) + read_value(b, value, group, 0);
  }
}

/* Do only choices read it? Then it is written where it is kept. */
static bool is_for_choices(const borders *b, sw_id value) {
  const sw_value *v = &b->g->values[value];
  bool all = v->n_uses > 0;
  for (int32_t u = 0; u < v->n_uses; u++) all = all && sw_use_is_by_choice(&b->p, v->uses[u]);
  return all;
}

/* What it costs to keep what could be made again: it is written, where it is not anyway, and read by the kernels that
 * would have had it inside. Likewise to bring it to the host, and back. */
static void price_choice(borders *b, const sw_op *op) {
  const int held = sw_keep_operand(b->g, op, SW_WAY_KEPT), host = sw_keep_operand(b->g, op, SW_WAY_FETCHED);
  const sw_id again = op->operands[0], kept = op->operands[held];
  if (op->frame >= 0) return; /* what reads a slice of a stack has it inside */
  const sw_value *v = &b->g->values[op->results[0]];
  const bool inside = b->keeping[again] == SW_KEPT_INSIDE || b->keeping[again] == SW_KEPT_AGAIN;
  const bool written = b->keeping[kept] == SW_KEPT_STORED || b->keeping[kept] == SW_KEPT_IN_PLACE;
  const double writes = !written || is_for_choices(b, kept) ? 1 : 0, bytes = sw_dtype_bytes(v->type.dtype);
  double reads = 0;
  sw_id last = -1;
  for (int32_t u = 0; u < v->n_uses && inside; u++) { /* uses stand in the order of ops: groups seldom come back */
    const sw_id by = v->uses[u].op < 0 ? -1 : b->p.of[v->uses[u].op];
    reads += by != last;
    last = by;
  }
  double *width = &b->width[b->port[op - b->g->ops]];
  for (int k = 0; k <= op->n_operands; k++) width[k] = k == held ? (writes + reads) * bytes : 0;
  if (host < 0) return;
  const sw_id fetch = b->g->values[op->operands[host]].def, offload = sw_op_tied_to(b->g, fetch);
  b->width[b->port[fetch] + 1] = reads * bytes;
  b->width[b->port[offload]] = writes * bytes;
}

static void write_results(borders *b, const sw_op *op) {
  double *width = &b->width[b->port[op - b->g->ops] + op->n_operands];
  for (int k = 0; k < op->n_results; k++) {
    const sw_keeping keeping = (sw_keeping)b->keeping[op->results[k]];
    const bool stored = (keeping == SW_KEPT_STORED || keeping == SW_KEPT_IN_PLACE) &&
                        !is_for_choices(b, op->results[k]) && !is_perhaps_inside(b, op->results[k]);
    width[k] = stored ? sw_dtype_bytes(sw_result_type(b->g, op, k)->dtype) : 0;
  }
}

/* In place only what is put there is written, and read before where it is combined with what is there. */
static void update_in_place(borders *b, const sw_op *op) {
  double *width = &b->width[b->port[op - b->g->ops]];
  const bool combined = op->code == SW_OP_SCATTER && strcmp(sw_op_text(op, SW_ATTR_KIND, "replace"), "replace") != 0;
  const int put = op->code == SW_OP_SCATTER ? 2 : 1;
  width[0] = width[op->n_operands] = 0;
  if (sw_kind_of(b->g, op) == SW_KIND_UPDATE)
    width[put] += (combined ? 2.0 : 1.0) * sw_dtype_bytes(sw_result_type(b->g, op, 0)->dtype);
}

/* A constant that nobody reads, such as the start of a reduction, which the reduction itself has: compilers drop it. */
static bool is_dropped(const borders *b, const sw_op *op) {
  return b->p.rules->into_loop && sw_kind_of(b->g, op) == SW_KIND_SOURCE && b->g->values[op->results[0]].n_uses == 0;
}

static bool is_idle(const borders *b, const sw_op *op) {
  const sw_kind kind = sw_kind_of(b->g, op);
  return is_dropped(b, op) || b->p.group[b->p.of[op - b->g->ops]].again || kind == SW_KIND_CONTROL ||
         kind == SW_KIND_LITERAL || kind == SW_KIND_HOST;
}

/* Of a stack that a plan may have: a trip writes a slice of it, and another one reads it; on the host what is offloaded
 * is, and what is fetched. */
static void cross_offered(borders *b, const sw_op *op) {
  double *width = &b->width[b->port[op - b->g->ops]];
  if (sw_op_is_on_host(b->g, op)) return;
  if (op->code == SW_OP_OFFLOAD && is_for_choices(b, op->operands[0]))
    width[0] = sw_dtype_bytes(sw_result_type(b->g, op, 0)->dtype);
  if (op->code == SW_OP_FETCH) width[1] = sw_dtype_bytes(sw_result_type(b->g, op, 0)->dtype);
  if (op->code == SW_OP_DYNAMIC_UPDATE_SLICE) width[1] = sw_dtype_bytes(sw_result_type(b->g, op, 0)->dtype);
  if (op->code == SW_OP_DYNAMIC_SLICE) width[0] = sw_dtype_bytes(sw_result_type(b->g, op, 0)->dtype);
}

/* An update is a kernel by itself, unless it has what makes the slice for it alone inside. */
static bool launches_offered(const borders *b, const sw_op *op) {
  if (op->code != SW_OP_DYNAMIC_UPDATE_SLICE || sw_op_is_on_host(b->g, op)) return false;
  sw_id put = op->operands[1];
  const sw_op *view = sw_value_maker(b->g, put);
  if (view && b->p.offered[view - b->g->ops]) put = view->operands[0];
  return !is_for_choices(b, put);
}

static void cross(borders *b, sw_id group) {
  for (int32_t m = b->p.first[group]; m < b->p.first[group + 1]; m++) {
    const sw_op *op = &b->g->ops[b->p.member[m]];
    if (b->p.offered[b->p.member[m]]) cross_offered(b, op);
    if (is_idle(b, op) || b->p.offered[b->p.member[m]]) continue;
    read_operands(b, op, group);
    write_results(b, op);
    const bool over = op->n_results == 1 && op->n_operands && b->updates[op->results[0]] == op->operands[0];
    if (over && (sw_kind_of(b->g, op) == SW_KIND_UPDATE || sw_kind_of(b->g, op) == SW_KIND_VIEW))
      update_in_place(b, op);
  }
}

/* --- launches ----------------------------------------------------------------------------------------------------- */

static void traffic(const sw_graph *g, const sw_op *op, const double *width, const int64_t *extents, double *read,
                    double *written) {
  double whole = 0;
  *read = *written = 0;
  if (!op->nest || (extents && sw_op_moves_nothing(op, extents))) return;
  for (int k = 0; k < op->n_results; k++) {
    const double n = sw_op_reached(g, op, op->n_operands + k, extents);
    *written += n * width[op->n_operands + k];
    whole += n;
  }
  for (int i = 0; i < op->n_operands; i++) {
    if (width[i] <= 0) continue;
    const double n = sw_op_reached(g, op, i, extents);
    *read += width[i] * (i == 0 && sw_op_is_sparse(op) && n > whole ? whole : n);
  }
}

/* Launches that serve many tensors. */
typedef struct launched {
  bool update;
  const char *norm; /* the function whose numbers are summed up over tensors; NULL: none */
} launched;

/* A function that gives a number of each of several tensors: the norm of all of them. */
static const char *norm_of(const borders *b, sw_id group) {
  const sw_op *last = &b->g->ops[b->p.member[b->p.first[group + 1] - 1]];
  return b->p.rules->one_update && last->n_results && sw_result_type(b->g, last, 0)->rank == 0 ? last->function : NULL;
}

/* The first op of a group that does anything bears the launch. Those of all updates of states are one, where the
 * compiler runs them as one, and so are those of one norm. */
static void launch(borders *b, sw_id group, launched *done) {
  if (b->p.first[group] == b->p.first[group + 1] || b->p.group[group].again) return;
  const bool update = b->p.rules->one_update && sw_clusters_only_updates(&b->p, group);
  const char *norm = norm_of(b, group);
  if ((update && done->update) || (norm && done->norm && strcmp(norm, done->norm) == 0)) return;
  for (int32_t m = b->p.first[group]; m < b->p.first[group + 1]; m++) {
    const sw_id id = b->p.member[m];
    const sw_op *op = &b->g->ops[id];
    double flops, bytes, read, written;
    if (b->p.offered[id]) b->launches[id] = launches_offered(b, op);
    if (!op->nest || is_idle(b, op) || op->code == SW_OP_KEEP || b->p.offered[id]) continue;
    sw_op_work(b->g, op, NULL, &flops, &bytes);
    traffic(b->g, op, &b->width[b->port[id]], NULL, &read, &written);
    if (flops <= 0 && read + written <= 0) continue;
    b->launches[id] = true;
    done->update = done->update || update;
    if (norm) done->norm = norm;
    return;
  }
}

void sw_kernels_traffic(const sw_graph *g, const sw_kernels *k, const sw_op *op, const int64_t *extents, double *read,
                        double *written) {
  traffic(g, op, &k->width[k->port[op - g->ops]], extents, read, written);
}

double sw_op_traffic(const sw_graph *g, const sw_kernels *k, const sw_op *op, const int64_t *extents) {
  double flops, bytes, read, written;
  if (!k) {
    sw_op_work(g, op, extents, &flops, &bytes);
    return bytes;
  }
  sw_kernels_traffic(g, k, op, extents, &read, &written);
  return read + written;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* Kernels get numbers in an order in which they can run: by `at`, those of one in the order of the program. */
static sw_rc number_kernels(borders *b, sw_arena *arena, sw_diag *d) {
  const int32_t n_ops = b->g->n_ops;
  int32_t *first;
  SW_ARENA_NEW(first, arena, n_ops + 2, d);
  SW_ARENA_NEW(b->number, arena, n_ops + 1, d);
  for (sw_id i = 0; i < n_ops; i++)
    if (b->p.of[i] == i) first[b->p.group[i].at + 1]++;
  for (sw_id i = 0; i < n_ops; i++) first[i + 1] += first[i];
  for (sw_id i = 0; i < n_ops; i++)
    if (b->p.of[i] == i) b->number[i] = first[b->p.group[i].at]++, b->n++;
  for (sw_id i = 0; i < n_ops; i++) b->of[i] = b->number[b->p.of[i]];
  return SW_OK;
}

static sw_rc allocate(borders *b, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = b->g;
  int32_t n_ports = 0;
  SW_ARENA_NEW(b->of, arena, g->n_ops + 1, d);
  SW_ARENA_NEW_EACH(arena, g->n_values + 1, d, b->keeping, b->updates);
  SW_ARENA_NEW_EACH(arena, g->n_ops + 1, d, b->until, b->over, b->launches, b->port);
  SW_ARENA_NEW(b->reading, arena, g->n_values + 1, d);
  for (sw_id i = 0; i < g->n_ops; i++) {
    b->port[i] = n_ports;
    n_ports += g->ops[i].n_operands + g->ops[i].n_results;
  }
  SW_ARENA_NEW(b->width, arena, n_ports + 1, d);
  return SW_OK;
}

sw_rc sw_kernels_combine(const sw_graph *g, int64_t bytes, sw_arena *arena, const sw_kernels **k, sw_diag *d) {
  sw_kernels *own = sw_arena_copy(arena, *k, 1, sizeof *own, d);
  if (!own) return SW_E_RESOURCE;
  own->combine_bytes = bytes;
  *k = own;
  return sw_combined_find(g, bytes, arena, &own->combines, d);
}

sw_rc sw_kernels_find(const sw_graph *g, const char *compiler, sw_arena *arena, const sw_kernels **out, sw_diag *d) {
  borders b = {.g = g};
  sw_kernels *k;
  launched done = {0};
  const sw_fusion_rules *rules = sw_fusion_rules_of(compiler);
  if (!rules) return SW_FAIL_INPUT(d, SW_NOWHERE, "'%s' is no compiler; expected one of " SW_COMPILERS, compiler);
  SW_TRY(sw_clusters_make(g, rules, arena, &b.p, d));
  SW_TRY(allocate(&b, arena, d));
  SW_TRY(number_kernels(&b, arena, d));
  find_keeping(&b);
  find_reading(&b);
  for (sw_id v = 0; v < g->n_values; v++) b.p.read_by[v] = -1;
  for (sw_id i = 0; i < g->n_ops; i++) cross(&b, i);
  for (sw_id i = 0; i < g->n_ops; i++)
    if (g->ops[i].code == SW_OP_KEEP && sw_keep_operand(g, &g->ops[i], SW_WAY_AGAIN) >= 0) price_choice(&b, &g->ops[i]);
  for (sw_id i = 0; i < g->n_ops; i++) launch(&b, i, &done);
  SW_ARENA_NEW(k, arena, 1, d);
  *k =
      (sw_kernels){rules->name, b.n, b.of, b.p.why, b.keeping, b.updates, b.until, b.over, b.launches, b.port, b.width};
  k->combine_bytes = rules->combine;
  k->lowering = rules->lowering;
  k->software = rules->software;
  *out = k;
  return sw_combined_find(g, rules->combine, arena, &k->combines, d);
}
