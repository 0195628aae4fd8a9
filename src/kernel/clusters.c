/* Which ops run together: three passes over the ops.
 *
 *   join      against program order: an op goes into the group that alone reads it, where the rules let it. Only the
 *             last op of a group is read by others, so groups can run in the order of their last ops. What several
 *             groups read is made again in each, where that is cheap
 *   follow    in that order: a group goes into the last one that it reads from, as a further result of it. All else
 *             that it reads is there before, so the order holds
 *   part      of compilers that call functions of a library, groups that are no such function fall apart
 *
 *   x -> reduce -> spread -> subtract -> exp -> reduce -> spread -> divide -> y        join: all are read by one group
 *                    x ----/               \-----------------------/
 */
#include "kernel/clusters.h"

#include <string.h>

static int64_t elements(const sw_graph *g, sw_id value) {
  const int64_t n = sw_type_elements(&g->values[value].type);
  return n > 0 ? n : 1;
}

static bool within(uint32_t kinds, uint32_t allowed) { return (kinds & ~allowed) == 0; }

/* Elements that are reduced to one, where these are the last dims of the operand; else 0. */
static int64_t row_of(const sw_graph *g, const sw_op *op) {
  int n;
  int64_t row = 1;
  const sw_type *t = sw_operand_type(g, op, 0);
  const int64_t *dims = sw_op_ints(op, SW_ATTR_DIMS, &n);
  for (int i = 0; i < n; i++) {
    if (dims[i] < t->rank - n) return 0;
    row *= t->dims[dims[i]] > 0 ? t->dims[dims[i]] : 1;
  }
  return row;
}

/* Does it cost no more to read what the op reads than what it makes? */
static bool reads_little(const sw_graph *g, const sw_op *op) {
  const double kAlike = 1 + 1.0 / 64;
  double read = 0;
  if (op->n_results != 1) return false;
  const double made = (double)elements(g, op->results[0]);
  for (int i = 0; i < sw_kernel_operands(op); i++) {
    const double n = (double)elements(g, op->operands[i]);
    read += sw_dtype_bytes(sw_operand_type(g, op, i)->dtype) * (n < made ? n : made);
  }
  return read <= kAlike * made * sw_dtype_bytes(sw_result_type(g, op, 0)->dtype);
}

/* --- join --------------------------------------------------------------------------------------------------------- */

static const char kCalled[] = "()";

/* Is it called as it is, whatever the compiler does with what is around? */
static bool is_call(const sw_op *op) { return op->function && strstr(op->function, kCalled); }

/* Does it give the result of its function? */
static bool gives_function(const sw_op *op) {
  const size_t n = strlen(op->name);
  return strncmp(op->name, op->function, n) == 0 && (!op->function[n] || strcmp(op->function + n, kCalled) == 0);
}

/* Compilers that call functions of a library run each by itself. */
static const char *function_of(const sw_clusters *p, const sw_op *op) {
  return p->rules->by_function || is_call(op) ? op->function : NULL;
}

static bool same_function(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

static sw_fusion group_of_one(const sw_clusters *p, const sw_op *op) {
  const sw_graph *g = p->g;
  const sw_kind kind = sw_kind_of(g, op);
  sw_fusion one = {.kinds = sw_kind_bit(kind),
                   .function = function_of(p, op),
                   .points = 1,
                   .at = (int32_t)(op - g->ops),
                   .from = -1};
  const uint32_t light = ~(SW_KIND_BIT(LIBRARY) | SW_KIND_BIT(CONTROL) | SW_KIND_BIT(LITERAL) | SW_KIND_BIT(HOST) |
                           SW_KIND_BIT(CONTRACT) | SW_KIND_BIT(GATHER) | SW_KIND_BIT(UPDATE));
  one.heavy = !(one.kinds & light);
  if (op->n_results) one.points = elements(g, op->results[0]);
  if (kind != SW_KIND_REDUCE) return one;
  one.points = elements(g, op->operands[0]);
  one.row = row_of(g, op);
  one.column = one.row == 0;
  return one;
}

/* A reduction before what reads it: of the same rows, kept on chip; or of what is then worked on alone. */
static sw_apart join_reduction(const sw_clusters *p, const sw_op *op, const sw_fusion *into, sw_fusion *both) {
  const sw_fusion one = group_of_one(p, op);
  if (into->heavy || into->again || !p->rules->into_loop) return SW_APART_READER;
  const bool after = into->points <= elements(p->g, op->results[0]) && !into->row && !into->column;
  const bool shared = into->points == one.points && one.row && one.row <= p->rules->row && !into->column &&
                      (!into->row || into->row == one.row);
  if (!after && !shared) return SW_APART_ROWS;
  both->points = one.points;
  both->row = one.row;
  both->column = one.column;
  return SW_APART_TOGETHER;
}

/* The contraction whose result, times scales, is what the op gives as the result of a function; NULL: none. */
static const sw_op *scaled_contraction(const sw_clusters *p, const sw_op *op) {
  const char *function = op->function;
  if (!p->rules->scales || !function || strcmp(op->name, function) != 0) return NULL;
  while (op->n_operands && p->g->values[op->operands[0]].def >= 0) {
    op = &p->g->ops[p->g->values[op->operands[0]].def];
    if (!op->function || strcmp(op->function, function) != 0) return NULL;
    if (sw_kind_of(p->g, op) == SW_KIND_CONTRACT) return op;
  }
  return NULL;
}

/* A gradient that updates a state is reduced over devices first: that is no epilogue. */
static sw_apart join_contraction(const sw_clusters *p, const sw_op *op, const sw_op *end, const sw_fusion *into,
                                 sw_fusion *both) {
  const sw_op *contraction = scaled_contraction(p, end);
  const bool scaled = contraction && contraction == op;
  const bool fits = !into->heavy && !into->again && (scaled || !into->updates) && !into->row && !into->column &&
                    into->points == elements(p->g, op->results[0]) &&
                    (scaled || within(into->kinds, p->rules->epilogue));
  both->heavy = true;
  return fits ? SW_APART_TOGETHER : SW_APART_READER;
}

/* Kinds that go into the group. */
static uint32_t taken_by(const sw_fusion_rules *rules, const sw_fusion *group) {
  if (group->kinds & SW_KIND_BIT(LIBRARY)) return rules->into_call;
  return group->heavy ? rules->into_heavy : rules->into_loop;
}

/* Is it an inner step of a function, which keeps nothing of it? Its gradient makes it again from what the function
 * reads and gives, and from sums over rows. What is drawn at random is kept. */
static bool is_inner_step(const sw_clusters *p, const sw_op *op) {
  const uint32_t steps = SW_KIND_BIT(CHEAP) | SW_KIND_BIT(DEAR) | SW_KIND_BIT(CAST) | SW_KIND_BIT(SPREAD) |
                         SW_KIND_BIT(SOURCE) | SW_KIND_BIT(VIEW);
  if (!op->function || !(sw_kind_bit(sw_kind_of(p->g, op)) & steps) || gives_function(op)) return false;
  for (int i = 0; i < op->n_operands; i++) {
    const sw_id def = p->g->values[op->operands[i]].def;
    if (def >= 0 && sw_kind_of(p->g, &p->g->ops[def]) == SW_KIND_RANDOM) return false;
  }
  for (int k = 0; k < op->n_results; k++) {
    const sw_value *v = &p->g->values[op->results[k]];
    for (int32_t u = 0; u < v->n_uses; u++)
      if (v->uses[u].op < 0 || !p->g->ops[v->uses[u].op].function || p->g->ops[v->uses[u].op].frame != op->frame)
        return false;
  }
  return true;
}

/* Contractions read operands as they lie in memory: what is made smaller for them is made once. */
static bool makes_smaller(const sw_clusters *p, const sw_op *op, const sw_fusion *into) {
  return into->heavy && sw_kind_of(p->g, op) == SW_KIND_CAST && !(p->rules->into_heavy & SW_KIND_BIT(CHEAP)) &&
         !reads_little(p->g, op);
}

/* Does a call of a contraction, of which `end` gives the result, widen the operand that the op widens? */
static bool is_widened_by_call(const sw_clusters *p, const sw_op *op, const sw_op *end) {
  return op->function && sw_kind_of(p->g, op) == SW_KIND_CAST && reads_little(p->g, op) && scaled_contraction(p, end) &&
         strcmp(op->function, end->function) == 0;
}

/* Why the op does not go into the group, of which `end` is the last; TOGETHER: it does, and *both is the group with it.
 */
static sw_apart try_join(const sw_clusters *p, const sw_op *op, const sw_op *end, const sw_fusion *into,
                         sw_fusion *both) {
  const sw_kind kind = sw_kind_of(p->g, op);
  const uint32_t bit = sw_kind_bit(kind);
  *both = *into;
  both->kinds |= bit;
  if (into->kinds & SW_KIND_BIT(HOST) && kind == SW_KIND_SOURCE) return SW_APART_TOGETHER; /* where a slice begins */
  if (into->kinds & (SW_KIND_BIT(CONTROL) | SW_KIND_BIT(LITERAL) | SW_KIND_BIT(HOST))) return SW_APART_DELIVERED;
  if (!same_function(into->function, function_of(p, op))) return SW_APART_NEVER;
  if (kind == SW_KIND_REDUCE) return join_reduction(p, op, into, both);
  if (kind == SW_KIND_CONTRACT) return join_contraction(p, op, end, into, both);
  if (into->again)
    return is_inner_step(p, op) || (bit & p->rules->again && reads_little(p->g, op)) ? SW_APART_TOGETHER
                                                                                     : SW_APART_READER;
  if (is_widened_by_call(p, op, end)) return SW_APART_TOGETHER;
  if (!(bit & taken_by(p->rules, into)) || makes_smaller(p, op, into)) return SW_APART_READER;
  if ((into->row || into->column) && elements(p->g, op->results[0]) > into->points) return SW_APART_ROWS;
  return SW_APART_TOGETHER;
}

/* What is kept is stored, whatever reads it where. */
static bool is_keep(const sw_graph *g, sw_id op) {
  return g->ops[op].code == SW_OP_KEEP && sw_keep_operand(g, &g->ops[op], SW_WAY_AGAIN) < 0;
}

/* Who reads an op. */
typedef struct readers {
  sw_id only;     /* the group that alone does; -1: several, or none */
  bool delivered; /* the program, a loop or a choice does */
  bool updates;   /* as the next value of a state */
  bool all_take;  /* each of them can make it for itself */
} readers;

static readers readers_of(const sw_clusters *p, const sw_op *op) {
  const uint32_t bit = sw_kind_bit(sw_kind_of(p->g, op));
  readers r = {.only = -1, .all_take = true};
  bool several = false;
  for (int k = 0; k < op->n_results; k++) {
    const sw_value *v = &p->g->values[op->results[k]];
    int32_t n = 0;
    for (int32_t u = 0; u < v->n_uses; u++) {
      if (sw_use_is_by_choice(p, v->uses[u])) continue;
      n++;
      if (v->uses[u].op < 0) {
        r.delivered = true;
        r.updates = r.updates || p->g->alias[v->uses[u].index] >= 0;
        continue;
      }
      r.delivered = r.delivered || is_keep(p->g, v->uses[u].op);
      const sw_id by = p->of[v->uses[u].op];
      const sw_fusion *group = &p->group[by];
      several = several || (r.only >= 0 && r.only != by);
      r.only = by;
      r.delivered = r.delivered || (group->kinds & SW_KIND_BIT(CONTROL)) != 0;
      r.all_take = r.all_take && (bit & taken_by(p->rules, group)) && p->g->ops[by].frame == op->frame;
    }
    r.delivered = r.delivered || n == 0;
  }
  if (several || r.delivered) r.only = -1;
  return r;
}

static sw_apart apart_by_kind(sw_kind kind) {
  if (kind == SW_KIND_CONTROL) return SW_APART_CONTROL;
  const uint32_t apart = SW_KIND_BIT(LIBRARY) | SW_KIND_BIT(UPDATE) | SW_KIND_BIT(LITERAL) | SW_KIND_BIT(HOST);
  return apart & sw_kind_bit(kind) ? SW_APART_LIBRARY : SW_APART_TOGETHER;
}

/* Does each of several readers make it for itself? */
static bool is_made_again(const sw_clusters *p, const sw_op *op, const readers *by) {
  if (p->rules->again && is_inner_step(p, op)) return true;
  return !is_call(op) && by->all_take && sw_kind_bit(sw_kind_of(p->g, op)) & p->rules->again && reads_little(p->g, op);
}

static void join_op(sw_clusters *p, sw_id id) {
  const sw_op *op = &p->g->ops[id];
  const sw_kind kind = sw_kind_of(p->g, op);
  sw_apart why = apart_by_kind(kind);
  sw_fusion both;
  p->of[id] = id;
  p->group[id] = group_of_one(p, op);
  if (!p->rules->into_loop && !why) why = SW_APART_NEVER;
  p->why[id] = (uint8_t)why;
  if (why) return;
  const readers by = readers_of(p, op);
  p->group[id].updates = by.updates;
  why = by.delivered ? SW_APART_DELIVERED : SW_APART_WANTED;
  if (scaled_contraction(p, op)) {
    why = SW_APART_LIBRARY;
  } else if (by.only >= 0) {
    const sw_op *end = &p->g->ops[by.only];
    why = end->frame == op->frame ? try_join(p, op, end, &p->group[by.only], &both) : SW_APART_READER;
    if (!why) {
      p->of[id] = by.only;
      p->group[by.only] = both;
    }
  } else if (!by.delivered && is_made_again(p, op, &by)) {
    p->group[id].again = true;
    why = SW_APART_AGAIN;
  }
  p->why[id] = (uint8_t)why;
}

/* --- follow ------------------------------------------------------------------------------------------------------- */

/* The last group that one of them reads from, those made again being dissolved. */
static sw_id last_source(const sw_clusters *p, sw_id group) {
  sw_id best = -1;
  for (int32_t m = p->first[group]; m < p->first[group + 1]; m++) {
    const sw_op *op = &p->g->ops[p->member[m]];
    if (is_keep(p->g, p->member[m])) continue; /* for what runs much later */
    for (int i = 0; i < sw_kernel_operands(op); i++) {
      sw_id from = sw_clusters_maker(p, op->operands[i]);
      if (from == group) continue;
      if (from >= 0 && p->group[from].again) from = p->group[from].from;
      if (from >= 0 && (best < 0 || p->group[from].at > p->group[best].at)) best = from;
    }
  }
  return best;
}

static bool rows_go_together(const sw_clusters *p, const sw_fusion *a, const sw_fusion *b) {
  const int64_t row = a->row ? a->row : b->row;
  if (a->column || (b->column && a->row)) return false;
  if (a->row && b->row && a->row != b->row) return false;
  if (a->points != b->points) return a->row && b->points * a->row == a->points && !b->row && !b->column;
  return !a->row || row <= p->rules->row;
}

/* Can b be a further result of a, from which it reads? */
static bool can_follow(const sw_clusters *p, sw_id a_id, sw_id b_id) {
  const sw_fusion *a = &p->group[a_id], *b = &p->group[b_id];
  const uint32_t never = SW_KIND_BIT(CONTROL) | SW_KIND_BIT(LITERAL) | SW_KIND_BIT(HOST);
  if (p->g->ops[a_id].frame != p->g->ops[b_id].frame || (a->kinds | b->kinds) & never) return false;
  if (!same_function(a->function, b->function)) return false;
  if (b->kinds == SW_KIND_BIT(VIEW)) return true; /* of what is there */
  if (!p->rules->several || b->heavy || b->again) return false;
  if (a->kinds & SW_KIND_BIT(CONTRACT))
    return within(b->kinds, p->rules->epilogue) && !b->updates && !b->row && !b->column && a->points == b->points;
  if (a->heavy || !within(b->kinds, p->rules->into_loop | SW_KIND_BIT(REDUCE))) return false;
  return rows_go_together(p, a, b);
}

static void follow_source(sw_clusters *p, sw_id group) {
  sw_fusion *b = &p->group[group];
  b->from = last_source(p, group);
  if (b->from < 0 || b->again || !can_follow(p, b->from, group)) return;
  sw_fusion *a = &p->group[b->from];
  a->kinds |= b->kinds;
  a->row = a->row ? a->row : b->row;
  a->column = a->column || b->column;
  b->at = a->at;
  for (int32_t m = p->first[group]; m < p->first[group + 1]; m++) {
    const sw_id op = p->member[m];
    p->of[op] = b->from;
    p->why[op] = SW_APART_TOGETHER;
  }
}

/* --- part --------------------------------------------------------------------------------------------------------- */

/* Does the group give next values of states alone? Others may read these to do the same, where `others` says so. */
static bool gives_states(const sw_clusters *p, sw_id group, bool others) {
  bool any = false;
  for (int32_t m = p->first[group]; m < p->first[group + 1]; m++) {
    const sw_op *op = &p->g->ops[p->member[m]];
    for (int k = 0; k < op->n_results; k++) {
      const sw_value *v = &p->g->values[op->results[k]];
      for (int32_t u = 0; u < v->n_uses; u++) {
        const sw_value_use *use = &v->uses[u];
        const sw_id by = use->op < 0 ? -1 : p->of[use->op];
        if (by < 0 && p->g->alias[use->index] < 0) return false;
        if (by >= 0 && by != group && !(others && gives_states(p, by, false))) return false;
        any = any || by < 0;
      }
    }
  }
  return any && !p->group[group].heavy;
}

bool sw_clusters_only_updates(const sw_clusters *p, sw_id group) { return gives_states(p, group, true); }

/* Tensors as large as what the group goes through that it reads. */
static int large_sources(sw_clusters *p, sw_id group) {
  int n = 0;
  for (int32_t m = p->first[group]; m < p->first[group + 1]; m++) {
    const sw_op *op = &p->g->ops[p->member[m]];
    for (int i = 0; i < sw_kernel_operands(op); i++) {
      const sw_id value = op->operands[i];
      if (sw_clusters_maker(p, value) == group || p->read_by[value] == group) continue;
      p->read_by[value] = group;
      n += elements(p->g, value) >= p->group[group].points;
    }
  }
  return n;
}

/* Is it one function of a library: on rows, of one tensor, or the update of a state? */
static bool is_function(sw_clusters *p, sw_id group) {
  const sw_fusion *x = &p->group[group];
  return x->heavy || x->again || x->function || (x->row && x->row < x->points) || large_sources(p, group) <= 1 ||
         sw_clusters_only_updates(p, group);
}

static void part(sw_clusters *p, sw_id group) {
  const sw_fusion whole = p->group[group];
  const int32_t n = p->first[group + 1] - p->first[group];
  if (n <= 1 || is_function(p, group)) return;
  for (int32_t m = p->first[group + 1] - 1; m >= p->first[group]; m--) {
    const sw_id id = p->member[m];
    const sw_op *op = &p->g->ops[id];
    const bool again =
        sw_kind_bit(sw_kind_of(p->g, op)) & p->rules->again && reads_little(p->g, op) && !readers_of(p, op).delivered;
    p->of[id] = id;
    p->group[id] = group_of_one(p, op);
    p->group[id].at = whole.at;
    p->group[id].again = again;
    p->why[id] = again ? SW_APART_AGAIN : SW_APART_NEVER;
  }
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

/* Ops that move a stack around loops. */
static bool carries(sw_opcode c) {
  return c == SW_OP_ENTER || c == SW_OP_YIELD || c == SW_OP_JOIN || c == SW_OP_DYNAMIC_UPDATE_SLICE ||
         c == SW_OP_DYNAMIC_SLICE || c == SW_OP_RESHAPE || c == SW_OP_BROADCAST || c == SW_OP_OFFLOAD ||
         c == SW_OP_FETCH;
}

/* Of a keep in a loop: does a plan choose whether it takes this operand, which no kernel may have inside? */
static bool takes_by_choice(const sw_graph *g, sw_value_use use) {
  const sw_op *op = &g->ops[use.op];
  const bool keeps = op->code == SW_OP_KEEP && op->frame >= 0 && op->n_operands > 1;
  return keeps && (use.index > 0 || sw_keep_operand(g, op, SW_WAY_AGAIN) < 0);
}

/* Those of which nothing is read but what a keep may take, and what leaves a loop as it came. */
static void find_offered(sw_clusters *p, bool *unread) {
  const sw_graph *g = p->g;
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &g->ops[i];
    bool any = false, all = carries(op->code) && op->n_results == 1;
    const sw_value *v = all ? &g->values[op->results[0]] : NULL;
    unread[i] = all && (op->code == SW_OP_JOIN || op->code == SW_OP_YIELD);
    for (int32_t u = 0; all && u < v->n_uses; u++) {
      const sw_id by = v->uses[u].op;
      const bool takes = by >= 0 && takes_by_choice(g, v->uses[u]);
      any = any || takes || (by >= 0 && p->offered[by]);
      all = takes || (by >= 0 && (p->offered[by] || unread[by]));
      unread[i] = unread[i] && by >= 0 && unread[by];
    }
    p->offered[i] = any && all;
    p->offers = p->offers || p->offered[i];
  }
}

static void find_again(sw_clusters *p) {
  const sw_graph *g = p->g;
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &g->ops[i];
    bool any = false, all = op->frame >= 0;
    for (int k = 0; all && k < op->n_results; k++) {
      const sw_value *v = &g->values[op->results[k]];
      for (int32_t u = 0; u < v->n_uses; u++) {
        const sw_id by = v->uses[u].op;
        any = true;
        all = all && by >= 0 && (p->again[by] || (g->ops[by].code == SW_OP_KEEP && v->uses[u].index == 0));
      }
    }
    p->again[i] = any && all;
  }
}

static void list_members(sw_clusters *p) {
  const int32_t n = p->g->n_ops;
  memset(p->first, 0, (size_t)(n + 1) * sizeof *p->first);
  for (sw_id i = 0; i < n; i++) p->first[p->of[i] + 1]++;
  for (sw_id i = 0; i < n; i++) p->first[i + 1] += p->first[i];
  for (sw_id i = 0; i < n; i++) p->member[p->first[p->of[i]]++] = i;
  for (sw_id i = n; i > 0; i--) p->first[i] = p->first[i - 1];
  p->first[0] = 0;
}

/* What is alone in the end has a reason; the first of several that hang together has none. */
static void settle_reasons(sw_clusters *p) {
  for (sw_id i = 0; i < p->g->n_ops; i++) {
    const sw_id group = p->of[i];
    if (p->group[group].again)
      p->why[i] = SW_APART_AGAIN;
    else if (p->first[group + 1] - p->first[group] > 1)
      p->why[i] = SW_APART_TOGETHER;
  }
}

sw_rc sw_clusters_make(const sw_graph *g, const sw_fusion_rules *rules, sw_arena *arena, sw_clusters *out, sw_diag *d) {
  bool *unread;
  *out = (sw_clusters){.g = g, .rules = rules};
  SW_ARENA_NEW_EACH(arena, g->n_ops + 1, d, out->offered, unread, out->again);
  if (g->n_frames) find_offered(out, unread);
  if (out->offers) find_again(out);
  SW_ARENA_NEW_EACH(arena, g->n_ops + 1, d, out->of, out->group, out->why, out->first, out->member);
  SW_ARENA_NEW(out->read_by, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) out->read_by[v] = -1;
  for (sw_id i = g->n_ops - 1; i >= 0; i--) join_op(out, i);
  list_members(out);
  for (sw_id i = 0; i < g->n_ops && rules->into_loop; i++)
    if (out->first[i + 1] > out->first[i]) follow_source(out, i);
  list_members(out);
  for (sw_id i = 0; i < g->n_ops && rules->by_function; i++) part(out, i);
  list_members(out);
  settle_reasons(out);
  return SW_OK;
}
