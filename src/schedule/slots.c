/* Entries that run once for each micro-batch, as a loop over parts.
 *
 *   y = dot(x, w)  l = reduce_sum(y)  z = tanh(y)      x [6,4] along dim 0, 2 micro-batches; l and z are read later
 *
 *   while 2 times: part = dynamic_slice(x, 3 i)  y = dot(part, w)  l += reduce_sum(y)  z[3 i ..] = tanh(y)
 *
 * What is a part follows from the maps: a loop of an op is cut where an operand is; a result is a block where it has
 * that loop, and a part of a sum where the loop is summed over. Operands that are not cut themselves are sliced where
 * the loop reads them.
 */
#include <assert.h>

#include "graph/attr_of.h"
#include "schedule/schedule_write.h"

/* What a value of the program is within one micro-batch. */
typedef struct piece {
  bool made;    /* here */
  bool partial; /* a part of a sum over all micro-batches */
  int32_t dim;  /* that is cut; -1: none */
  sw_id inside; /* in the loop at hand; -1: not yet */
} piece;

/* A value that leaves: carried by the loop. */
typedef struct leaver {
  sw_id value;   /* of the program */
  sw_id carried; /* as it is now: before the loop, in it, behind it */
  sw_id entered;
} leaver;

typedef struct slots {
  sw_stage_writer *w;
  int32_t first, end;         /* entries */
  piece *of;                  /* by value of the program */
  int64_t extent, part, rest; /* of the cut dim: whole, of a micro-batch, of the last one where it is shorter (0) */
  int64_t size;               /* of the micro-batch that is being written */
  sw_id begin;                /* where its part begins: an i32 scalar */
  leaver *leave;
  int32_t n_leave;
  sw_id *outside; /* values that the loop reads, of the graph that is written; entered as: */
  sw_id *entered;
  int32_t n_outside;
} slots;

static const sw_graph *program_of(const slots *s) { return s->w->program; }
static const sw_op *op_of_entry(const slots *s, int32_t entry) {
  return &program_of(s)->ops[s->w->spec->entries[entry].op];
}
static bool is_here(const slots *s, int32_t entry) { return s->w->spec->entries[entry].stage == s->w->stage; }

/* --- what is cut -------------------------------------------------------------------------------------------------- */

/* The loop that runs along the dim of a port, step for step; -1: another relation. */
static int loop_along(const sw_op *op, int port, int dim) {
  const sw_affine *e = op->nest ? &op->nest->maps[port].dims[dim] : NULL;
  return e && e->n_terms == 1 && e->terms[0].coef == 1 && e->constant == 0 ? e->terms[0].loop : -1;
}

/* The dim of a port that the loop runs along; -1: none. */
static int dim_along(const sw_op *op, int port, int loop) {
  for (int k = 0; k < op->nest->maps[port].rank; k++)
    if (loop_along(op, port, k) == loop) return k;
  return -1;
}

static sw_rc refuse_slot(const slots *s, const sw_op *op, const char *why) {
  return SW_FAIL_INPUT(s->w->d, op->span, "'%s' cannot run once for each micro-batch: %s", op->name, why);
}

/* The loop that is cut; -1: none is. */
static sw_rc find_loop(const slots *s, const sw_op *op, int *out) {
  *out = -1;
  for (int i = 0; i < op->n_operands; i++) {
    const piece *p = &s->of[op->operands[i]];
    if (p->dim < 0) continue;
    const int loop = loop_along(op, i, p->dim);
    if (loop < 0) return refuse_slot(s, op, "it needs all of the dim that is cut");
    if (*out >= 0 && *out != loop) return refuse_slot(s, op, "two of its loops would be cut");
    *out = loop;
  }
  return SW_OK;
}

/* Parts of sums go through ops that are linear in them, and are added up behind the loop. */
static sw_rc pass_sums(slots *s, const sw_op *op, int loop, bool *partial) {
  uint32_t sums = 0;
  *partial = false;
  for (int i = 0; i < op->n_operands; i++) sums |= s->of[op->operands[i]].partial ? 1u << i : 0;
  if (!sums) return SW_OK;
  for (int k = 0; loop < 0 && op->nest && k < op->nest->n_linear; k++)
    *partial = *partial || (op->nest->linear[k].operands == sums && op->nest->linear[k].kind == SW_REDUCE_SUM);
  return *partial ? SW_OK : refuse_slot(s, op, "it reads a sum of which micro-batches give parts");
}

static sw_rc follow_entry(slots *s, int32_t entry) {
  const sw_op *op = op_of_entry(s, entry);
  bool partial;
  int loop;
  if (sw_op_class_of(op->code) == SW_OPS_CONTROL || op->frame >= 0)
    return refuse_slot(s, op, "it is part of a loop or choice");
  SW_TRY(find_loop(s, op, &loop));
  SW_TRY(pass_sums(s, op, loop, &partial));
  const sw_loop *l = loop < 0 ? NULL : &op->nest->loops[loop];
  if (l && l->kind != SW_LOOP_PARALLEL && (l->kind != SW_LOOP_REDUCTION || l->combiner != SW_REDUCE_SUM))
    return refuse_slot(s, op, "it needs all of the dim that is cut");
  for (int i = 0; i < op->n_results; i++) {
    piece *p = &s->of[op->results[i]];
    *p = (piece){.made = true, .partial = partial, .dim = -1, .inside = -1};
    if (!l) continue;
    p->dim = dim_along(op, op->n_operands + i, loop);
    p->partial = p->dim < 0;
    if (p->partial && l->kind != SW_LOOP_REDUCTION)
      return refuse_slot(s, op, "a result has no block of the dim that is cut");
  }
  return SW_OK;
}

static sw_rc find_extent(slots *s) {
  const sw_schedule_spec *spec = s->w->spec;
  s->extent = -1;
  for (int32_t i = 0; i < spec->n_cuts; i++) {
    const sw_value *v = &program_of(s)->values[spec->cuts[i].value];
    if (v->def >= 0 || spec->cuts[i].dim < 0 || spec->cuts[i].dim >= v->type.rank)
      return SW_FAIL_INPUT(s->w->d, v->span, "'%s' has no dim %d to cut into micro-batches, or is no argument", v->name,
                           spec->cuts[i].dim);
    const int64_t n = v->type.dims[spec->cuts[i].dim];
    if (s->extent >= 0 && s->extent != n)
      return SW_FAIL_INPUT(s->w->d, v->span, "dim %d of '%s' is of %lld and others that are cut with it of %lld",
                           spec->cuts[i].dim, v->name, (long long)n, (long long)s->extent);
    s->extent = n;
    s->of[spec->cuts[i].value].dim = spec->cuts[i].dim;
  }
  const int64_t m = spec->micro_batches;
  s->part = s->extent > 0 ? (s->extent + m - 1) / m : 0;
  if (s->part <= 0 || (s->extent + s->part - 1) / s->part != m)
    return SW_FAIL_INPUT(s->w->d, SW_NOWHERE, "%lld rows do not make %lld micro-batches", (long long)s->extent,
                         (long long)m);
  s->rest = s->extent % s->part;
  assert(s->part > 0 && s->rest < s->part);
  return SW_OK;
}

static sw_rc find_pieces(slots *s) {
  const sw_graph *g = program_of(s);
  int32_t n = 0;
  SW_ARENA_NEW(s->of, &s->w->scratch, g->n_values + 1, s->w->d);
  for (sw_id v = 0; v < g->n_values; v++) s->of[v] = (piece){.dim = -1, .inside = -1};
  SW_TRY(find_extent(s));
  for (int32_t i = s->first; i < s->end; i++)
    if (is_here(s, i)) SW_TRY(follow_entry(s, i));
  SW_ARENA_NEW(s->leave, &s->w->scratch, g->n_values + 1, s->w->d);
  for (sw_id v = 0; v < g->n_values; v++) {
    if (!s->of[v].made || s->w->last_in[v] < s->end) continue;
    if (!s->of[v].partial && s->of[v].dim < 0)
      return refuse_slot(s, &g->ops[g->values[v].def], "it is the same in each; expected it once");
    s->leave[n++] = (leaver){.value = v, .carried = -1};
  }
  s->n_leave = n;
  return SW_OK;
}

/* --- what carries it ---------------------------------------------------------------------------------------------- */

static bool is_called(const sw_stage_writer *w, const char *name) {
  return sw_graph_op_named(w->program, name) >= 0 || sw_graph_value_named(w->program, name) >= 0 ||
         sw_graph_op_named(w->to, name) >= 0 || sw_graph_value_named(w->to, name) >= 0;
}

/* What is there for an entry is called by its value; else by what it does, as a graph names it itself, unless the
 * program has such a name. */
static sw_rc name_put(sw_stage_writer *w, sw_opcode code, const char **out) {
  const char *what = sw_opcode_text(code);
  const char *value = w->put_for ? w->program->values[w->spec->entries[w->put_for - 1].value].name : NULL;
  bool taken = value || sw_graph_op_named(w->program, what) >= 0;
  *out = NULL;
  for (int k = 0; taken; k++) {
    *out = sw_arena_printf(&w->scratch, w->d, value ? "%s.host%d" : "%s.%d", value ? value : what, k);
    if (!*out) return SW_E_RESOURCE;
    taken = is_called(w, *out);
  }
  return SW_OK;
}

sw_rc sw_stage_put(sw_stage_writer *w, sw_opcode code, int n, const sw_id *in, int n_attrs, const sw_attr *attrs,
                   sw_id *out) {
  sw_id results[SW_MAX_RESULTS] = {-1};
  const char *name;
  SW_TRY(name_put(w, code, &name));
  const sw_op_spec spec = {.code = code,
                           .name = name,
                           .n_operands = n,
                           .operands = in,
                           .n_attrs = n_attrs,
                           .attrs = attrs,
                           .n_result_names = name ? 1 : 0,
                           .result_names = &name};
  SW_TRY(sw_graph_add_op(w->to, &spec, results, w->d));
  SW_TRY(sw_stage_note(w, w->put_for - 1));
  if (out) *out = results[0];
  return SW_OK;
}

sw_rc sw_stage_put_number(sw_stage_writer *w, sw_dtype t, double x, int rank, const int64_t *dims, sw_id *out) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_element_store(t, x, element);
  const sw_attr attrs[] = {
      SW_ATTR_I(DTYPE, t), SW_ATTR_L(SHAPE, dims, rank), {.key = SW_ATTR_VALUE, .u.data = {element, true}}};
  return sw_stage_put(w, SW_OP_CONSTANT, 0, NULL, 3, attrs, out);
}

static sw_rc put_part_starts(slots *s, int rank, int dim, sw_id *starts) {
  sw_id zero;
  SW_TRY(sw_stage_put_number(s->w, SW_I32, 0, 0, NULL, &zero));
  for (int k = 0; k < rank; k++) starts[k] = k == dim ? s->begin : zero;
  return SW_OK;
}

/* The micro-batch's part of a whole value. */
static sw_rc put_part(slots *s, sw_id x, int dim, sw_id *out) {
  const sw_type t = s->w->to->values[x].type;
  int64_t sizes[SW_MAX_RANK];
  sw_id in[SW_MAX_RANK + 1] = {x};
  for (int k = 0; k < t.rank; k++) sizes[k] = k == dim ? s->size : t.dims[k];
  SW_TRY(put_part_starts(s, t.rank, dim, in + 1));
  return sw_stage_put(s->w, SW_OP_DYNAMIC_SLICE, t.rank + 1, in, 1, &SW_ATTR_L(SIZES, sizes, t.rank), out);
}

/* Sums begin at 0, results with blocks that are all written over. */
static sw_rc begin_leavers(slots *s) {
  for (int32_t i = 0; i < s->n_leave; i++) {
    const sw_type *t = &program_of(s)->values[s->leave[i].value].type;
    SW_TRY(sw_stage_put_number(s->w, t->dtype, 0, t->rank, t->dims, &s->leave[i].carried));
  }
  return SW_OK;
}

static sw_rc take_in(slots *s, leaver *l) {
  const piece *p = &s->of[l->value];
  if (p->partial) return sw_stage_put(s->w, SW_OP_ADD, 2, (sw_id[]){l->carried, p->inside}, 0, NULL, &l->carried);
  const int rank = program_of(s)->values[l->value].type.rank;
  sw_id in[SW_MAX_RANK + 2] = {l->carried, p->inside};
  SW_TRY(put_part_starts(s, rank, p->dim, in + 2));
  return sw_stage_put(s->w, SW_OP_DYNAMIC_UPDATE_SLICE, rank + 2, in, 0, NULL, &l->carried);
}

/* --- one micro-batch ---------------------------------------------------------------------------------------------- */

/* What is made outside, as the loop at hand sees it. */
static sw_id seen_in_loop(const slots *s, sw_id x) {
  for (int32_t i = 0; i < s->n_outside; i++)
    if (s->outside[i] == x) return s->entered[i];
  return x;
}

static sw_rc take_slot_operand(slots *s, const sw_op *op, int operand, int loop, sw_id *out) {
  const sw_id v = op->operands[operand];
  piece *p = &s->of[v];
  const int dim = p->dim >= 0 ? p->dim : loop >= 0 ? dim_along(op, operand, loop) : -1;
  if (p->inside < 0 && !p->made) {
    const sw_id whole = s->w->now[v];
    if (whole < 0) return refuse_slot(s, op, "what it reads is made behind it");
    if (p->dim < 0 && dim < 0) return *out = seen_in_loop(s, whole), SW_OK;
    SW_TRY(put_part(s, seen_in_loop(s, whole), dim, out));
    if (p->dim >= 0) p->inside = *out; /* for all that read it here */
    return SW_OK;
  }
  *out = p->inside;
  if (*out < 0) return refuse_slot(s, op, "what it reads is made behind it");
  return p->dim < 0 && !p->partial && dim >= 0 ? put_part(s, p->inside, dim, out) : SW_OK;
}

static sw_rc put_slot_entry(slots *s, int32_t entry, const char *suffix) {
  const sw_op *op = op_of_entry(s, entry);
  sw_id *in, results[SW_MAX_RESULTS];
  int32_t cut[SW_MAX_RESULTS];
  int loop;
  SW_ARENA_NEW(in, &s->w->scratch, op->n_operands, s->w->d);
  SW_TRY(find_loop(s, op, &loop));
  for (int i = 0; i < op->n_operands; i++) SW_TRY(take_slot_operand(s, op, i, loop, &in[i]));
  for (int i = 0; i < op->n_results; i++) cut[i] = s->of[op->results[i]].dim;
  const sw_entry_parts parts = {in, suffix, cut, s->size};
  SW_TRY(sw_stage_add_entry(s->w, entry, &parts, results));
  for (int i = 0; i < op->n_results; i++) s->of[op->results[i]].inside = results[i];
  return SW_OK;
}

static sw_rc put_micro_batch(slots *s, const char *suffix) {
  for (sw_id v = 0; v < program_of(s)->n_values; v++) s->of[v].inside = -1;
  for (int32_t i = s->first; i < s->end; i++)
    if (is_here(s, i)) SW_TRY(put_slot_entry(s, i, suffix));
  for (int32_t i = 0; i < s->n_leave; i++) SW_TRY(take_in(s, &s->leave[i]));
  return SW_OK;
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* Everything that the loop reads of what there is before it. */
static sw_rc enter_outside(slots *s) {
  const sw_graph *g = program_of(s);
  int32_t most = 0;
  for (int32_t i = s->first; i < s->end; i++) most += op_of_entry(s, i)->n_operands;
  SW_ARENA_NEW_EACH(&s->w->scratch, most + 1, s->w->d, s->outside, s->entered);
  bool *listed;
  SW_ARENA_NEW(listed, &s->w->scratch, g->n_values + 1, s->w->d);
  for (int32_t i = s->first; i < s->end; i++) {
    for (int k = 0; is_here(s, i) && k < op_of_entry(s, i)->n_operands; k++) {
      const sw_id v = op_of_entry(s, i)->operands[k];
      if (s->of[v].made || listed[v] || s->w->now[v] < 0) continue;
      listed[v] = true;
      s->outside[s->n_outside] = s->w->now[v];
      SW_TRY(sw_stage_put(s->w, SW_OP_ENTER, 1, &s->w->now[v], 0, NULL, &s->entered[s->n_outside]));
      s->n_outside++;
    }
  }
  return SW_OK;
}

/* The micro-batches that are as long as the first; what leaves is carried around. */
static sw_rc put_loop(slots *s, int64_t trips) {
  sw_id zero, counter, limit, test, part, one, next;
  SW_TRY(sw_stage_put_number(s->w, SW_I32, 0, 0, NULL, &zero));
  SW_TRY(sw_stage_put(s->w, SW_OP_WHILE, 0, NULL, 1, &SW_ATTR_I(TRIPS, trips), NULL));
  SW_TRY(sw_stage_put(s->w, SW_OP_ENTER, 1, &zero, 0, NULL, &counter));
  for (int32_t i = 0; i < s->n_leave; i++) {
    SW_TRY(sw_stage_put(s->w, SW_OP_ENTER, 1, &s->leave[i].carried, 0, NULL, &s->leave[i].entered));
    s->leave[i].carried = s->leave[i].entered;
  }
  SW_TRY(enter_outside(s));
  SW_TRY(sw_stage_put_number(s->w, SW_I32, (double)trips, 0, NULL, &limit));
  SW_TRY(sw_stage_put(s->w, SW_OP_COMPARE, 2, (sw_id[]){counter, limit}, 1, &SW_ATTR_T(DIRECTION, "lt"), &test));
  SW_TRY(sw_stage_put(s->w, SW_OP_TEST, 1, &test, 0, NULL, NULL));
  SW_TRY(sw_stage_put_number(s->w, SW_I32, (double)s->part, 0, NULL, &part));
  SW_TRY(sw_stage_put(s->w, SW_OP_MULTIPLY, 2, (sw_id[]){counter, part}, 0, NULL, &s->begin));
  SW_TRY(put_micro_batch(s, NULL));
  SW_TRY(sw_stage_put_number(s->w, SW_I32, 1, 0, NULL, &one));
  SW_TRY(sw_stage_put(s->w, SW_OP_ADD, 2, (sw_id[]){counter, one}, 0, NULL, &next));
  SW_TRY(sw_stage_put(s->w, SW_OP_YIELD, 1, &next, 0, NULL, &next));
  for (int32_t i = 0; i < s->n_leave; i++)
    SW_TRY(sw_stage_put(s->w, SW_OP_YIELD, 1, &s->leave[i].carried, 0, NULL, &s->leave[i].carried));
  SW_TRY(sw_stage_put(s->w, SW_OP_END, 0, NULL, 0, NULL, NULL));
  SW_TRY(sw_stage_put(s->w, SW_OP_JOIN, 2, (sw_id[]){counter, next}, 0, NULL, NULL));
  for (int32_t i = 0; i < s->n_leave; i++) {
    leaver *l = &s->leave[i];
    SW_TRY(sw_stage_put(s->w, SW_OP_JOIN, 2, (sw_id[]){l->entered, l->carried}, 0, NULL, &l->carried));
  }
  s->n_outside = 0;
  return SW_OK;
}

static sw_rc put_last(slots *s) {
  s->size = s->rest;
  SW_TRY(sw_stage_put_number(s->w, SW_I32, (double)(s->extent - s->rest), 0, NULL, &s->begin));
  return put_micro_batch(s, ".last");
}

sw_rc sw_stage_add_slots(sw_stage_writer *w, int32_t first, int32_t end) {
  slots s = {.w = w, .first = first, .end = end};
  SW_TRY(find_pieces(&s));
  SW_TRY(begin_leavers(&s));
  s.size = s.part;
  assert(s.extent >= s.part && s.extent / s.part + (s.rest > 0) == w->spec->micro_batches);
  SW_TRY(put_loop(&s, s.extent / s.part));
  if (s.rest) SW_TRY(put_last(&s));
  for (int32_t i = 0; i < s.n_leave; i++) w->now[s.leave[i].value] = s.leave[i].carried;
  return SW_OK;
}
