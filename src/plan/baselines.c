/* Plans that people write by hand, from the roles of arguments, for comparison with the search.
 *
 * Arguments get their shardings from a rule; every op then follows its operands (follow.h). No op looks ahead: that is
 * what the search is for. But constants and broadcasts wait for their first use and are made as it wants them, as
 * nobody would write a plan that communicates a constant.
 *
 * Axes that do not divide the batch cut the sequence, where frameworks that go by the rule do so and that is faster;
 * else devices along them do the same work. What is required is kept before the rule is.
 */
#include <string.h>

#include "plan/choices.h"
#include "plan/follow.h"
#include "plan/heads.h"
#include "plan/narrowing.h"
#include "plan/value_class.h"
#include "base/lists.h"

/* Axes of the mesh, as bits, by what they cut. Along those of `kept` data stays cut as it is, along those of `placed`
 * weights do. */
typedef struct spread {
  uint32_t batch, sequence, idle, kept, placed;
} spread;

enum { WAYS_SEQUENCE = 1, WAYS_TENSOR = 2, WAYS_PLACED = 4, WAYS = 8 };

/* What any plan made by rule asks of a graph on a machine: it is the same for all of them. */
typedef struct known {
  sw_follow_known followed;
  const uint8_t *class_of; /* by value: sw_memory_class */
  const sw_id *narrowed;   /* by value: the weight that it is, on the way to eight bits; -1 */
  const uint8_t *work;     /* by op: sw_follow_work */
  const bool *weight;      /* by value */
  int64_t batch, sequence; /* sw_input_extents */
  spread spread;           /* of the last plan */
  struct {                 /* arguments that it leaves whole, or cuts elsewhere or less, where its rule would cut */
    int32_t n;
    sw_id first;
    int dim;
    int64_t shards, heads; /* heads: along the dim; 0: it is none of heads */
  } uncut;
} known;

typedef struct ruled {
  sw_follower f;
  sw_baseline kind;
  known *known;
  bool *pending; /* by op: converts a weight that its use places; NULL: none does */
} ruled;

typedef struct rule {
  const char *name;
  bool sequence; /* frameworks that go by it cut sequences, too */
  bool parts;    /* each device updates a part of what is cut by no weight's axis */
} rule;

static const rule kRules[SW_BASELINE_COUNT] = {
    [SW_BASELINE_REPLICATED] = {"replicated", false, false},
    [SW_BASELINE_DATA_PARALLEL] = {"data-parallel", false, false},
    [SW_BASELINE_MEGATRON] = {"megatron", true, false},
    [SW_BASELINE_FSDP] = {"fsdp", true, true},
    [SW_BASELINE_ZERO1] = {"zero1", true, true},
};
const char *sw_baseline_text(sw_baseline b) { return kRules[b].name; }

/* --- how the mesh is spread --------------------------------------------------------------------------------------- */

/* Of axes in order, as many as divide `extent` together. */
static uint32_t dividing(const sw_mesh *m, uint32_t axes, int64_t extent) {
  uint32_t out = 0;
  int64_t shards = 1;
  for (int a = 0; extent > 0 && a < m->n_axes; a++) {
    if (!(axes >> a & 1U) || extent % (shards * m->axis[a].size)) continue;
    shards *= m->axis[a].size;
    out |= 1U << a;
  }
  return out;
}

/* With the sequence, where frameworks that go by the rule cut it; with Megatron's data as weights cut it, too, and with
 * weights taken as they are cut. */
static spread spread_of(const known *k, const sw_mesh *m, sw_baseline b, int ways) {
  spread s = {0};
  uint32_t axes = 0;
  const int spare = b == SW_BASELINE_MEGATRON;
  for (int a = 0; a < m->n_axes - spare; a++)
    if (m->axis[a].size > 1) axes |= 1U << a;
  if (b == SW_BASELINE_REPLICATED) return s;
  s.batch = dividing(m, axes, k->batch);
  if ((ways & WAYS_SEQUENCE) && kRules[b].sequence) s.sequence = dividing(m, axes & ~s.batch, k->sequence);
  s.idle = axes & ~s.batch & ~s.sequence;
  const uint32_t last = spare && m->n_axes ? 1U << (m->n_axes - 1) : 0;
  s.kept = s.batch | (ways & WAYS_TENSOR ? last : 0);
  s.placed = ways & WAYS_PLACED ? last : 0;
  return s;
}

static void cut(const sw_mesh *m, uint32_t axes, int dim, sw_sharding *out) {
  for (int a = 0; a < m->n_axes; a++)
    if (axes >> a & 1U) (void)sw_sharding_push(out, dim, sw_axis_whole(m, a));
}

/* --- rules for arguments ----------------------------------------------------------------------------------------- */

/* Cut the batch by its axes, of an input that has one of its size also the next dim by those of the sequence. */
static void cut_batch(const ruled *r, sw_id arg, sw_sharding *out) {
  const known *k = r->known;
  const sw_value *v = &r->f.job.graph->values[arg];
  const uint32_t axes = k->spread.batch | k->spread.sequence;
  const int batch = v->kind == SW_VALUE_INPUT ? sw_input_batch_dim(r->f.job.graph, arg) : 0;
  if (v->type.rank == 0) return;
  if (v->type.dims[batch] != k->batch) { /* positions, masks: their rows are cut as far as they can be */
    cut(r->f.mesh, dividing(r->f.mesh, axes, v->type.dims[batch]), batch, out);
    return;
  }
  cut(r->f.mesh, k->spread.batch, batch, out);
  if (v->kind == SW_VALUE_INPUT && sw_has_sequence(v, batch))
    cut(r->f.mesh, dividing(r->f.mesh, k->spread.sequence, v->type.dims[batch + 1]), batch + 1, out);
}

static void say_uncut(ruled *r, sw_id value, int dim, int64_t shards, int64_t heads) {
  if (r->known->uncut.n++) return;
  r->known->uncut.first = value;
  r->known->uncut.dim = dim;
  r->known->uncut.shards = shards;
  r->known->uncut.heads = heads;
}

static int largest_dim(const sw_type *t) {
  int best = 0;
  for (int k = 1; k < t->rank; k++)
    if (t->dims[k] > t->dims[best]) best = k;
  return best;
}

/* Are elements moved or converted, or written into others or carried around a loop, and no two of them put together? */
static bool only_moves(sw_opcode c) {
  return sw_content_of(c) == SW_CONTENT_MOVED || c == SW_OP_CONVERT || c == SW_OP_DYNAMIC_UPDATE_SLICE ||
         c == SW_OP_JOIN;
}

/* What of a stack an op of a loop takes or writes: the smaller one; NULL: it does neither. */
static const sw_type *slice_of(const sw_graph *g, const sw_op *op, sw_id stack) {
  if (op->frame < 0 || op->operands[0] != stack) return NULL;
  if (op->code == SW_OP_DYNAMIC_UPDATE_SLICE) return sw_operand_type(g, op, 1);
  return op->code == SW_OP_DYNAMIC_SLICE || op->code == SW_OP_SLICE ? sw_result_type(g, op, 0) : NULL;
}

/* The dims along which loops take or write slices of a stack that enters them, as bits; 0: one works on it otherwise.
 */
static uint32_t sliced_dims(const sw_graph *g, sw_id value) {
  const sw_value *v = &g->values[value];
  uint32_t dims = 0;
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_op *op = v->uses[u].op < 0 ? NULL : &g->ops[v->uses[u].op];
    uint32_t here = 0;
    if (!op || (v->def >= 0 && sw_op_tied_to(g, v->uses[u].op) == v->def)) continue; /* it is carried as it is */
    if (op->code == SW_OP_ENTER || op->code == SW_OP_CONVERT) here = sliced_dims(g, op->results[0]);
    const sw_type *part = slice_of(g, op, value);
    for (int k = 0; part && k < part->rank; k++) here |= part->dims[k] < v->type.dims[k] ? 1U << k : 0U;
    if (!here && op->frame >= 0) return 0;
    dims |= here;
  }
  return dims;
}

/* Cut the largest dimension that all axes together divide; when none, that as many as possible do. */
static void cut_everywhere(ruled *r, sw_id value, sw_sharding *out) {
  const sw_value *v = &r->f.job.graph->values[value];
  const sw_mesh *m = r->f.mesh;
  const int64_t devices = sw_mesh_devices(m);
  const uint32_t sliced = sliced_dims(r->f.job.graph, value);
  int best = -1;
  int64_t most = 1;
  *out = (sw_sharding){.rank = (uint8_t)v->type.rank};
  for (int k = 0; k < v->type.rank; k++) {
    int64_t shards = 1;
    const uint32_t axes = sliced >> k & 1U ? 0 : dividing(m, UINT32_MAX, v->type.dims[k]);
    for (int a = 0; a < m->n_axes; a++) shards *= axes >> a & 1U ? m->axis[a].size : 1;
    if (shards < most || shards < 2) continue;
    if (shards == most && best >= 0 && v->type.dims[k] <= v->type.dims[best]) continue;
    best = k;
    most = shards;
  }
  for (int a = 0; best >= 0 && a < m->n_axes; a++) {
    const bool cuts = dividing(m, UINT32_MAX, v->type.dims[best]) >> a & 1U;
    if (cuts && m->axis[a].size > 1) (void)sw_sharding_push(out, best, sw_axis_whole(m, a));
  }
  if (most < devices && v->def < 0 && sw_type_elements(&v->type) > 1)
    say_uncut(r, value, largest_dim(&v->type), devices, 0);
}

/* Inputs, and state that has the batch in front (a cache), follow the batch. */
static bool follows_batch(const ruled *r, sw_id arg) {
  const sw_value *v = &r->f.job.graph->values[arg];
  if (v->kind == SW_VALUE_INPUT) return true;
  return r->known->class_of[arg] == SW_MEMORY_STATE && v->type.rank >= 3 && r->known->batch > 1 &&
         v->type.dims[0] == r->known->batch;
}

/* State that ops use in a narrower type alone. */
static bool is_master(const sw_graph *g, const sw_value *v) {
  bool converted = false;
  for (int32_t i = 0; i < v->n_uses; i++) {
    const sw_op *op = v->uses[i].op < 0 ? NULL : &g->ops[v->uses[i].op];
    if (op && op->code == SW_OP_CONVERT)
      converted = converted || sw_dtype_bits(sw_result_type(g, op, 0)->dtype) < sw_dtype_bits(v->type.dtype);
  }
  return v->kind == SW_VALUE_STATE && converted;
}

/* Does the argument live cut over everything, whoever uses it? */
static bool lives_cut(const ruled *r, sw_id arg) {
  const sw_value *v = &r->f.job.graph->values[arg];
  if (r->kind == SW_BASELINE_FSDP) return !follows_batch(r, arg);
  if (r->kind != SW_BASELINE_ZERO1) return false;
  const uint8_t class_of = r->known->class_of[arg];
  return class_of == SW_MEMORY_OPTIMIZER || (class_of == SW_MEMORY_PARAMETERS && is_master(r->f.job.graph, v));
}

/* Optimizer state that lives cut is never whole: each device updates its part. */
static bool updates_parts(const ruled *r, sw_id arg) {
  return r->known->class_of[arg] == SW_MEMORY_OPTIMIZER && lives_cut(r, arg);
}

static void place_args(ruled *r) {
  const sw_graph *g = r->f.job.graph;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const bool batch = follows_batch(r, g->args[i]), megatron = r->kind == SW_BASELINE_MEGATRON;
    if (batch && r->kind != SW_BASELINE_REPLICATED) cut_batch(r, g->args[i], &r->f.plan->args[i]);
    if (updates_parts(r, g->args[i])) cut_everywhere(r, g->args[i], &r->f.plan->args[i]);
    const bool later = !batch && megatron && v->type.rank >= 2 && !sw_follow_required(&r->known->followed, i);
    if (!later) sw_follow_fix(&r->f, i);
  }
}

/* --- Megatron: weights by columns, or by rows where the other factor is already cut along what is summed ---------- */

static bool cut_last_axis_of(const ruled *r, sw_id value, const int64_t *dims, int n) {
  sw_sharding s;
  sw_plan_value_sharding(r->f.plan, value, &s);
  for (int i = 0; i < s.n_refs; i++) {
    if (s.refs[i].axis == r->f.mesh->n_axes - 1 && sw_list_has(dims, n, s.dim_of[i])) return true;
  }
  return false;
}

/* The argument that is the value, or that it is converted from, or kept of; NULL: none. */
static const sw_value *weight_of(const ruled *r, sw_id value) {
  const sw_graph *g = r->f.job.graph;
  const sw_id narrowed = r->known->narrowed[value];
  const sw_value *v = &g->values[value];
  if (narrowed >= 0) return sw_type_same_shape(&v->type, &g->values[narrowed].type) ? &g->values[narrowed] : NULL;
  if (v->def >= 0 && g->ops[v->def].code == SW_OP_KEEP) v = &g->values[g->ops[v->def].operands[0]];
  if (v->def >= 0 && g->ops[v->def].code == SW_OP_CONVERT) v = &g->values[g->ops[v->def].operands[0]];
  return v->def < 0 ? v : NULL;
}

/* A weight whose heads do not divide stays whole: heads are never cut themselves. */
static sw_rc place_weight(ruled *r, const sw_op *op, int which, sw_diag *d) {
  const sw_value *w = weight_of(r, op->operands[which]);
  if (!w || r->f.fixed[w->def_index]) return SW_OK;
  int n_mine, n_other, n_batch;
  const int64_t *mine = sw_op_ints(op, which ? SW_ATTR_RHS_CONTRACT : SW_ATTR_LHS_CONTRACT, &n_mine);
  const int64_t *other = sw_op_ints(op, which ? SW_ATTR_LHS_CONTRACT : SW_ATTR_RHS_CONTRACT, &n_other);
  const int64_t *batch = sw_op_ints(op, which ? SW_ATTR_RHS_BATCH : SW_ATTR_LHS_BATCH, &n_batch);
  const bool rows = cut_last_axis_of(r, op->operands[1 - which], other, n_other);
  const sw_axis_ref last = sw_axis_whole(r->f.mesh, r->f.mesh->n_axes - 1);
  for (int k = 0; k < w->type.rank; k++) {
    const bool columns = !sw_list_has(mine, n_mine, k) && !sw_list_has(batch, n_batch, k);
    int64_t heads = 0;
    if (rows ? !sw_list_has(mine, n_mine, k) : !columns) continue;
    if (!rows) SW_TRY(sw_heads_along(r->f.job.graph, op, which, k, &heads, d));
    if (w->type.dims[k] % last.size == 0 && heads % last.size == 0) {
      (void)sw_sharding_push(&r->f.plan->args[w->def_index], k, last);
      break;
    }
    say_uncut(r, r->f.job.graph->args[w->def_index], k, last.size, heads);
    if (heads) break;
  }
  sw_follow_fix(&r->f, w->def_index);
  return SW_OK;
}

/* The last rows are padded, as Megatron pads the vocabulary. */
static void place_table(ruled *r, const sw_op *op) {
  const sw_value *w = weight_of(r, op->operands[0]);
  if (!w || r->f.fixed[w->def_index]) return;
  const sw_axis_ref last = sw_axis_whole(r->f.mesh, r->f.mesh->n_axes - 1);
  if (w->type.dims[0] >= last.size) (void)sw_sharding_push(&r->f.plan->args[w->def_index], 0, last);
  sw_follow_fix(&r->f, w->def_index);
}

/* What an op reads, and what that reads. */
static sw_rc follow_pending(ruled *r, const sw_op *op, sw_diag *d) {
  for (int i = 0; i < op->n_operands; i++) {
    const sw_id def = r->f.job.graph->values[op->operands[i]].def;
    if (def < 0 || !r->pending[def]) continue;
    r->pending[def] = false;
    SW_TRY(follow_pending(r, &r->f.job.graph->ops[def], d));
    SW_TRY(sw_follow_op(&r->f, def, d));
  }
  return SW_OK;
}

/* Weights are placed by the first product or look-up that uses them, and converted then. */
static sw_rc place_operands(ruled *r, const sw_op *op, sw_diag *d) {
  if (op->code == SW_OP_DOT) {
    SW_TRY(place_weight(r, op, 1, d));
    SW_TRY(place_weight(r, op, 0, d));
  }
  if (op->code == SW_OP_GATHER) place_table(r, op);
  return follow_pending(r, op, d);
}

/* The weight that an op converts, or brings to eight bits; -1: none, or something is asked of it. */
static sw_id converted_by(const ruled *r, sw_id id) {
  const sw_op *op = &r->f.job.graph->ops[id];
  if (!op->n_results || sw_follow_is_asked(&r->f, id)) return -1;
  if (r->known->narrowed[op->results[0]] >= 0) return r->known->narrowed[op->results[0]];
  if ((op->code != SW_OP_CONVERT && op->code != SW_OP_KEEP) || sw_op_tied_to(r->f.job.graph, id) >= 0) return -1;
  const sw_id arg = op->operands[0];
  return r->f.job.graph->values[arg].def < 0 && !follows_batch(r, arg) ? arg : -1;
}

/* Does the op convert a weight that has no place yet? */
static bool is_pending(const ruled *r, sw_id id) {
  const sw_id arg = converted_by(r, id);
  return arg >= 0 && !r->f.fixed[r->f.job.graph->values[arg].def_index];
}

/* The first strategy that takes an operand cut as `part`, or where none is of those extents gives that. */
static sw_rc work_on_part(ruled *r, sw_id id, const sw_sharding *part, const sw_type *whole, bool *works, sw_diag *d) {
  const sw_op *op = &r->f.job.graph->ops[id];
  sw_enumeration e;
  int at = 0;
  *works = false;
  while (at < op->n_operands && !sw_type_same_shape(sw_operand_type(r->f.job.graph, op, at), whole)) at++;
  if (at == op->n_operands && !sw_type_same_shape(sw_result_type(r->f.job.graph, op, 0), whole))
    return SW_OK; /* of a scale */
  SW_TRY(sw_follow_strategies(&r->f, op, &e, d));
  for (int32_t k = 0; k < e.n && !*works; k++) {
    sw_sharding has, made;
    sw_strategy_result(op, &e.at[k], 0, &made);
    if (at < op->n_operands)
      sw_strategy_operand(op, &e.at[k], at, &has);
    else
      has = made;
    *works = sw_sharding_equal(&has, part) && !(only_moves(op->code) && made.n_partial);
    if (*works) r->f.plan->ops[id] = e.at[k];
  }
  return SW_OK;
}

/* --- a batch in parts that a loop takes --------------------------------------------------------------------------- */

/* Does what enters a loop come from a reshape of [B, ...] to [n, B / n, ...], of which the loop takes B / n at a time?
 */
static const sw_op *parts_batch(const ruled *r, const sw_op *op) {
  const sw_graph *g = r->f.job.graph;
  const sw_value *v = op->code == SW_OP_ENTER ? &g->values[op->operands[0]] : NULL;
  const sw_op *by = v && v->def >= 0 && sw_is_walked(g, op->results[0]) ? &g->ops[v->def] : NULL;
  if (!by || by->code != SW_OP_RESHAPE) return NULL;
  const sw_type *was = sw_operand_type(g, by, 0), *is = &v->type;
  if (was->rank < 1 || is->rank != was->rank + 1) return NULL;
  if (!is->dims[0] || was->dims[0] % is->dims[0]) return NULL;
  if (is->dims[1] != was->dims[0] / is->dims[0]) return NULL;
  for (int k = 1; k < was->rank; k++)
    if (is->dims[k + 1] != was->dims[k]) return NULL;
  return by;
}

/* Each part is cut as the batch was, so that all devices work on every one. False: it is none, or that cannot be. */
static sw_rc enter_in_parts(ruled *r, sw_id id, bool *done, sw_diag *d) {
  const sw_graph *g = r->f.job.graph;
  const sw_op *op = &g->ops[id], *reshape = parts_batch(r, op);
  sw_sharding was, parts = {0};
  *done = false;
  if (!reshape || sw_follow_is_asked(&r->f, id)) return SW_OK;
  sw_plan_value_sharding(r->f.plan, reshape->operands[0], &was);
  parts.rank = was.rank + 1;
  int64_t shards = 1;
  for (int i = 0; i < was.n_refs; i++) {
    if (was.dim_of[i] == 0) shards *= was.refs[i].size;
    if (!sw_sharding_push(&parts, was.dim_of[i] + 1, was.refs[i])) return SW_OK;
  }
  if (shards == 1 || sw_operand_type(g, op, 0)->dims[1] % shards) return SW_OK;
  return work_on_part(r, id, &parts, sw_operand_type(g, op, 0), done, d);
}

/* --- op by op ----------------------------------------------------------------------------------------------------- */

/* Does a stack of gradients enter a loop that adds a slice per trip? Where weights live cut, so does it. */
static bool is_gradient_stack(const ruled *r, sw_id id) {
  const sw_op *op = &r->f.job.graph->ops[id];
  return r->kind == SW_BASELINE_FSDP && op->code == SW_OP_ENTER && r->known->work[id] == FOLLOW_UPDATES &&
         !sw_follow_is_asked(&r->f, id) && sliced_dims(r->f.job.graph, op->results[0]) != 0;
}

/* Is an op that so many lead to, one after the other, a sum over whole tensors? */
static bool leads_to_sum(const sw_graph *g, sw_id value, int hops) {
  const sw_value *v = &g->values[value];
  if (v->type.rank == 0) return v->def >= 0 && g->ops[v->def].code == SW_OP_REDUCE;
  for (int32_t u = 0; hops > 0 && u < v->n_uses; u++) {
    const sw_id id = v->uses[u].op;
    if (id >= 0 && g->ops[id].n_results && leads_to_sum(g, g->ops[id].results[0], hops - 1)) return true;
  }
  return false;
}

/* Is a gradient summed up here that a norm of all reads before the update does? It is cut as the state is. */
static bool is_normed_gradient(const ruled *r, sw_id id) {
  enum { HOPS = 2 }; /* squared, and added up */
  const sw_graph *g = r->f.job.graph;
  const sw_op *op = &g->ops[id];
  bool sums = false;
  if (!kRules[r->kind].parts || op->n_results != 1 || !(sw_op_is_pointwise(op->code) || only_moves(op->code)))
    return false;
  for (int i = 0; i < op->n_operands; i++) {
    sw_sharding made;
    sw_plan_value_sharding(r->f.plan, op->operands[i], &made);
    sums = sums || (made.n_partial && r->known->class_of[op->operands[i]] == SW_MEMORY_GRADIENTS);
  }
  return sums && leads_to_sum(g, op->results[0], HOPS);
}

/* `stack`: of gradients, that enters a loop, or a gradient that is summed up. */
static sw_rc follow_op(ruled *r, sw_id id, bool stack, sw_diag *d) {
  const sw_op *op = &r->f.job.graph->ops[id];
  sw_sharding part;
  bool works = false;
  if (stack) {
    cut_everywhere(r, op->results[0], &part);
    SW_TRY(work_on_part(r, id, &part, sw_operand_type(r->f.job.graph, op, 0), &works, d));
  } else {
    SW_TRY(enter_in_parts(r, id, &works, d));
  }
  return works ? sw_follow_settle(&r->f, id, d) : sw_follow_op(&r->f, id, d);
}

static sw_rc follow_all(ruled *r, sw_diag *d) {
  const sw_graph *g = r->f.job.graph;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const bool stays = r->kind == SW_BASELINE_REPLICATED && !sw_follow_is_asked(&r->f, i);
    if (stays && sw_op_tied_to(g, i) < 0) continue;
    if (r->pending && (r->pending[i] = is_pending(r, i))) continue;
    if (!r->pending && converted_by(r, i) >= 0) continue; /* of a whole weight, for all who use it */
    if (r->pending) SW_TRY(place_operands(r, op, d));
    const bool stack = is_gradient_stack(r, i) || is_normed_gradient(r, i);
    r->f.waits[i] = stack ? 0 : sw_follow_can_wait(&r->f, op);
    if (!r->f.waits[i]) SW_TRY(follow_op(r, i, stack, d));
  }
  for (int32_t i = g->n_ops - 1; i >= 0; i--) { /* those that only outputs use */
    if (r->f.waits[i] || (r->pending && r->pending[i])) SW_TRY(sw_follow_op(&r->f, i, d));
  }
  return SW_OK;
}

/* --- what lives cut ----------------------------------------------------------------------------------------------- */

static int64_t shards_of(const sw_sharding *s) {
  int64_t n = 1;
  for (int i = 0; i < s->n_refs; i++) n *= s->refs[i].size;
  return n;
}

/* Where a state's new value came out cut as far as the rule asks, along another dimension, it stays where it is. */
static void keep_update(ruled *r, int32_t output) {
  sw_sharding made;
  const int32_t arg = r->f.job.graph->values[r->f.job.graph->alias[output]].def_index;
  sw_plan_value_sharding(r->f.plan, r->f.job.graph->outputs[output], &made);
  if (made.n_partial || shards_of(&made) < shards_of(&r->f.plan->args[arg])) return;
  r->f.plan->args[arg] = made;
  sw_follow_fix(&r->f, arg);
}

/* Optimizer state that goes with weights is cut as their updates are. */
static void place_optimizer(ruled *r) {
  const sw_graph *g = r->f.job.graph;
  for (int32_t i = 0; r->kind == SW_BASELINE_MEGATRON && i < g->n_outputs; i++)
    if (g->alias[i] >= 0 && r->known->class_of[g->alias[i]] == SW_MEMORY_OPTIMIZER) keep_update(r, i);
}

/* Does the op bring a stack of weights to the slice of it that a trip of a loop works on? */
static bool leads_to_slice(const ruled *r, sw_id id) {
  const sw_op *op = &r->f.job.graph->ops[id];
  if (r->known->work[id] != FOLLOW_WEIGHTS || sw_op_tied_to(r->f.job.graph, id) >= 0 || sw_follow_is_asked(&r->f, id))
    return false;
  if (op->code == SW_OP_ENTER) return sliced_dims(r->f.job.graph, op->results[0]) != 0;
  return op->frame >= 0 && only_moves(op->code) && op->code != SW_OP_BROADCAST;
}

/* Parts of weights are scaled and converted, and gathered in the type that is used; those of stacks where a loop has
 * its slice. */
static sw_rc work_on_parts(ruled *r, sw_diag *d) {
  const sw_graph *g = r->f.job.graph;
  bool *part = sw_mem_alloc((size_t)g->n_values, sizeof *part, d); /* by value: it is there in parts alone */
  sw_rc rc = part ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; !rc && i < g->n_args; i++) part[g->args[i]] = lives_cut(r, g->args[i]);
  for (int32_t i = 0; !rc && i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const sw_id arg = converted_by(r, i), leader = sw_op_tied_to(g, i);
    sw_sharding held;
    if (leader >= 0 && part[g->ops[leader].results[0]]) {
      r->f.plan->ops[i] = r->f.plan->ops[leader];
    } else if (arg >= 0 && lives_cut(r, arg)) {
      const sw_value *v = &g->values[arg];
      rc = work_on_part(r, i, &r->f.plan->args[v->def_index], &v->type, &part[op->results[0]], d);
    } else if (op->n_results == 1 && op->n_operands && part[op->operands[0]] && leads_to_slice(r, i)) {
      sw_plan_value_sharding(r->f.plan, op->operands[0], &held);
      rc = work_on_part(r, i, &held, sw_operand_type(g, op, 0), &part[op->results[0]], d);
    }
  }
  sw_mem_free(part);
  return rc;
}

/* What lives cut is gathered where it is used whole. */
static sw_rc shard_state(ruled *r, sw_diag *d) {
  const sw_graph *g = r->f.job.graph;
  place_optimizer(r);
  for (int32_t i = 0; i < g->n_args; i++) {
    if (!lives_cut(r, g->args[i]) || updates_parts(r, g->args[i])) continue;
    cut_everywhere(r, g->args[i], &r->f.plan->args[i]);
    sw_follow_fix(&r->f, i);
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] >= 0 && lives_cut(r, g->alias[i]) && !sliced_dims(g, g->alias[i])) keep_update(r, i);
  }
  return work_on_parts(r, d);
}

/* --- plans -------------------------------------------------------------------------------------------------------- */

static sw_follow_work work_behind(const known *k, const sw_graph *g, const uint8_t *work, sw_id value) {
  const sw_value *v = &g->values[value];
  if (v->def >= 0) return (sw_follow_work)work[v->def];
  if (k->class_of[value] == SW_MEMORY_OPTIMIZER) return FOLLOW_UPDATES;
  return k->class_of[value] == SW_MEMORY_PARAMETERS ? FOLLOW_WEIGHTS : FOLLOW_DATA;
}

/* An update makes new state, sums, scales and moves gradients, or goes on from optimizer state or another update. */
static sw_follow_work find_work(const known *k, const sw_graph *g, const sw_op *op, const uint8_t *work) {
  if (!op->n_results) return FOLLOW_DATA;
  const uint8_t c = k->class_of[op->results[0]];
  if (c == SW_MEMORY_PARAMETERS || c == SW_MEMORY_OPTIMIZER) return FOLLOW_UPDATES;
  const bool pointwise = sw_op_is_pointwise(op->code), moves = only_moves(op->code);
  if (c == SW_MEMORY_GRADIENTS && (pointwise || moves)) return FOLLOW_UPDATES;
  for (int i = 0; i < op->n_operands && (pointwise || op->code == SW_OP_CONVERT); i++) {
    if (work_behind(k, g, work, op->operands[i]) == FOLLOW_UPDATES) return FOLLOW_UPDATES;
  }
  return moves ? work_behind(k, g, work, op->operands[0]) : FOLLOW_DATA;
}

static sw_rc find_all_work(known *k, const sw_graph *g, sw_diag *d) {
  uint8_t *work;
  bool *weight;
  SW_ARENA_NEW(work, &k->followed.mem, g->n_ops, d);
  SW_ARENA_NEW(weight, &k->followed.mem, g->n_values, d);
  for (sw_id i = 0; i < g->n_ops; i++) work[i] = (uint8_t)find_work(k, g, &g->ops[i], work);
  for (sw_id v = 0; v < g->n_values; v++) weight[v] = work_behind(k, g, work, v) == FOLLOW_WEIGHTS;
  k->work = work;
  k->weight = weight;
  return SW_OK;
}

static sw_rc known_init(known *k, const sw_job *j, sw_diag *d) {
  const sw_graph *g = j->graph;
  const sw_input_extents of = sw_find_input_extents(g, NULL);
  k->batch = of.batch;
  k->sequence = of.sequence;
  SW_TRY(sw_follow_known_init(&k->followed, j, d));
  SW_TRY(sw_classify_values(g, &k->followed.mem, &k->class_of, d));
  SW_TRY(sw_narrowed_weights(g, &k->followed.mem, &k->narrowed, d));
  return find_all_work(k, g, d);
}

static sw_rc build_baseline(ruled *r, const spread *s, sw_arena *arena, sw_plan *out, sw_diag *d) {
  known *k = r->known;
  sw_follower *f = &r->f;
  SW_TRY(sw_plan_build(&f->job, arena, out, d));
  out->origin = kRules[r->kind].name;
  f->plan = out;
  f->work = k->work;
  const uint32_t all = s->batch | s->sequence | s->idle;
  f->kept = s->kept;
  f->weight = k->weight;
  f->class_of = k->class_of;
  f->placed = s->placed;
  f->idle[FOLLOW_DATA] = s->idle;
  f->idle[FOLLOW_WEIGHTS] = all;
  f->idle[FOLLOW_UPDATES] = kRules[r->kind].parts ? 0 : all;
  k->spread = *s;
  k->uncut.n = 0;
  sw_rc rc = sw_follow_begin(f, arena, d);
  if (!rc && r->kind == SW_BASELINE_MEGATRON && f->mesh->n_axes > 0) {
    r->pending = sw_mem_alloc((size_t)f->job.graph->n_ops, sizeof *r->pending, d);
    if (!r->pending) rc = SW_E_RESOURCE;
  }
  if (!rc) place_args(r);
  if (!rc) rc = follow_all(r, d);
  if (!rc) rc = shard_state(r, d);
  if (!rc) sw_follow_deliver(f);
  sw_follow_end(f);
  sw_mem_free(r->pending);
  r->pending = NULL;
  return rc;
}

/* What is mostly better is not always: the cheapest plan of the rule is the one to beat. */
static sw_rc build_better(const sw_job *j, sw_baseline b, known *k, sw_arena *arena, sw_plan *out,
                          sw_breakdown *breakdown, sw_diag *d) {
  const sw_machine *machine = j->machine;
  const sw_mesh *mesh = sw_machine_mesh(machine);
  spread ways[WAYS];
  known best = *k;
  for (int i = 0; i < WAYS; i++) {
    bool again = false;
    ways[i] = spread_of(k, mesh, b, i);
    for (int e = 0; e < i; e++) again = again || memcmp(&ways[e], &ways[i], sizeof *ways) == 0;
    if (again) continue;
    ruled r = {{.job = *j, .mesh = mesh, .known = &k->followed}, b, k, NULL};
    sw_plan plan;
    sw_breakdown a;
    SW_TRY(build_baseline(&r, &ways[i], arena, &plan, d));
    sw_plan_keep_all(&plan);
    SW_TRY(sw_plan_breakdown(&plan, arena, &a, d));
    if (i && a.total_s >= breakdown->total_s) continue;
    *out = plan;
    *breakdown = a;
    best = *k;
  }
  k->spread = best.spread;
  k->uncut = best.uncut;
  return SW_OK;
}

sw_rc sw_baseline_build(const sw_job *j, sw_baseline b, sw_arena *arena, sw_plan *out, sw_diag *d) {
  sw_breakdown breakdown;
  known k = {0};
  sw_rc rc = known_init(&k, j, d);
  if (!rc) rc = build_better(j, b, &k, arena, out, &breakdown, d);
  sw_follow_known_deinit(&k.followed);
  return rc;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void put_axes(const sw_mesh *m, uint32_t axes, sw_text *t) {
  for (int a = 0; a < m->n_axes; a++) {
    if (!(axes >> a & 1U)) continue;
    sw_text_printf(t, "%s=%lld%s", m->axis[a].name, (long long)m->axis[a].size, axes >> (a + 1) ? "," : "");
  }
}

/* "a batch of 4 does not divide by x=8, which cuts sequences of 2048" */
static sw_rc tell_spread(const known *k, const sw_mesh *m, sw_arena *arena, const char **out, sw_diag *d) {
  const spread *s = &k->spread;
  sw_text t = {0};
  *out = NULL;
  if (!s->sequence && !s->idle) return SW_OK;
  if (k->batch)
    sw_text_printf(&t, "a batch of %lld does not divide by ", (long long)k->batch);
  else
    sw_text_puts(&t, "no input has a batch for ");
  put_axes(m, s->sequence | s->idle, &t);
  if (s->batch) sw_text_puts(&t, " beside ");
  put_axes(m, s->batch, &t);
  if (s->sequence) {
    sw_text_puts(&t, "; ");
    put_axes(m, s->sequence, &t);
    sw_text_printf(&t, " cuts sequences of %lld", (long long)k->sequence);
  }
  if (s->idle) {
    sw_text_puts(&t, "; devices along ");
    put_axes(m, s->idle, &t);
    sw_text_puts(&t, " do the same");
  }
  *out = sw_text_keep(&t, arena, d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* "12 heads of 'h.0.attn.wq' do not divide by 8, nor do 35 more" */
static sw_rc tell_uncut(const sw_graph *g, const known *k, sw_arena *arena, const char **out, sw_diag *d) {
  sw_text t = {0};
  *out = NULL;
  if (!k->uncut.n) return SW_OK;
  const sw_value *w = &g->values[k->uncut.first];
  const int64_t extent = k->uncut.heads ? k->uncut.heads : w->type.dims[k->uncut.dim];
  sw_text_printf(&t, "%lld %sof '%s' do not divide by %lld", (long long)extent, k->uncut.heads ? "heads " : "", w->name,
                 (long long)k->uncut.shards);
  if (k->uncut.n > 1) sw_text_printf(&t, ", nor do %d more", (int)k->uncut.n - 1);
  *out = sw_text_keep(&t, arena, d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* What is wrong, with its place where it has one. */
static sw_rc tell_why(const sw_diag *why, sw_arena *arena, const char **out, sw_diag *d) {
  sw_text t = {0};
  if (why->line) sw_text_printf(&t, "%s:%d:%d: ", why->file, why->line, why->col);
  sw_text_puts(&t, why->text);
  *out = sw_text_keep(&t, arena, d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc build_baselines(const sw_job *j, known *k, sw_arena *arena, sw_comparison *c, sw_diag *d) {
  const sw_graph *g = j->graph;
  const sw_machine *machine = j->machine;
  for (int i = 0; i < SW_BASELINE_COUNT; i++) {
    sw_diag why = {0};
    c[i].name = kRules[i].name;
    sw_rc rc = build_better(j, (sw_baseline)i, k, arena, &c[i].plan, &c[i].breakdown, &why);
    if (rc == SW_E_RESOURCE) return SW_FAIL(d, rc, SW_NOWHERE, "%s", why.text);
    c[i].made = rc == SW_OK;
    if (c[i].made) {
      SW_TRY(tell_spread(k, sw_machine_mesh(machine), arena, &c[i].spread, d));
      SW_TRY(tell_uncut(g, k, arena, &c[i].uncut, d));
    }
    if (c[i].made && !sw_plan_verify(&c[i].plan, &why)) continue;
    SW_TRY(tell_why(&why, arena, &c[i].breaks, d));
  }
  return SW_OK;
}

sw_rc sw_baselines_build(const sw_job *j, sw_arena *arena, const sw_comparison **out, sw_diag *d) {
  sw_comparison *c;
  known k = {0};
  SW_ARENA_NEW(c, arena, SW_BASELINE_COUNT, d);
  sw_rc rc = known_init(&k, j, d);
  if (!rc) rc = build_baselines(j, &k, arena, c, d);
  sw_follow_known_deinit(&k.followed);
  *out = c;
  return rc;
}
