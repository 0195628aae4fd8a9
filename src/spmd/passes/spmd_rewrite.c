#include "spmd/passes/spmd_rewrite.h"

#include <string.h>

#include "graph/copy_op.h"
#include "graph/derive.h"
#include "spmd/spmd_emit.h"

sw_rc sw_rewrite_begin(sw_rewrite *r, const sw_spmd *from, sw_diag *d) {
  r->from = from;
  r->to = *from;
  r->to.program = NULL;
  SW_MEM_NEW(r->now, from->program->n_values, d);
  for (sw_id v = 0; v < from->program->n_values; v++) r->now[v] = -1;
  SW_TRY(sw_graph_create(from->program->name, &r->to.program, d));
  SW_TRY(sw_graph_copy_args(r->to.program, from->program, r->now, d));
  for (int32_t i = 0; i < from->program->n_args; i++) {
    const sw_id old = from->program->args[i];
    const sw_value *v = &from->program->values[old];
    sw_layout l = from->layout[old];
    if (l.is_block) SW_TRY(sw_sharding_keep(&l.sharding, &r->to.program->arena, d));
    SW_TRY(sw_array_push(&r->layouts, l, d));
    SW_TRY(sw_array_push(&r->uses, v->n_uses, d));
    SW_TRY(sw_array_push(&r->is_new, false, d));
  }
  r->to.layout = r->layouts.at;
  return SW_OK;
}

void sw_rewrite_deinit(sw_rewrite *r) {
  sw_graph_destroy(r->to.program);
  sw_array_free(&r->layouts);
  sw_array_free(&r->origins);
  sw_array_free(&r->kept);
  sw_array_free(&r->uses);
  sw_array_free(&r->is_new);
  sw_mem_free(r->now);
  sw_arena_deinit(&r->scratch);
}

/* --- adding ------------------------------------------------------------------------------------------------------- */

/* Appends the op, and what stands beside it: layouts, readers (NULL: a new op, whose operands it reads besides),
 * origin. */
static sw_rc append_rewritten(sw_rewrite *r, const sw_op_spec *spec, const sw_layout *layouts, const int32_t *uses,
                              bool kept, sw_origin origin, sw_id *results, sw_diag *d) {
  sw_graph *g = r->to.program;
  sw_op_spec own = *spec;
  sw_collective c;
  if (spec->collective) {
    c = *spec->collective;
    SW_TRY(sw_emit_keep_tilings(&c, &g->arena, d));
    own.collective = &c;
  }
  SW_TRY(sw_graph_add_op(g, &own, results, d));
  for (int k = 0; k < g->ops[g->n_ops - 1].n_results; k++) {
    sw_layout l = layouts[k];
    if (l.is_block) SW_TRY(sw_sharding_keep(&l.sharding, &g->arena, d));
    SW_TRY(sw_array_push(&r->layouts, l, d));
    SW_TRY(sw_array_push(&r->uses, uses ? uses[k] : 0, d));
    SW_TRY(sw_array_push(&r->is_new, uses == NULL, d));
  }
  r->to.layout = r->layouts.at;
  SW_TRY(sw_array_push(&r->kept, kept, d));
  return sw_array_push(&r->origins, origin, d);
}

/* What must stay though no value of it is read. */
static bool must_stay(const sw_op *op) {
  return op->n_results == 0 || (sw_op_class_of(op->code) == SW_OPS_CONTROL && op->code != SW_OP_ENTER);
}

static bool lie_alike(const sw_spmd *s, sw_id a, sw_id b) {
  const sw_layout *l = &s->layout[a], *m = &s->layout[b];
  if (!sw_type_equal(&s->program->values[a].type, &s->program->values[b].type)) return false;
  if (!l->is_block || !m->is_block) return l->is_block == m->is_block && l->source == m->source;
  return l->on == m->on && sw_sharding_equal(&l->sharding, &m->sharding) &&
         sw_type_equal(&s->model->values[l->source].type, &s->model->values[m->source].type);
}

bool sw_rewrite_lie_alike(const sw_rewrite *r, sw_id a, sw_id b) { return lie_alike(&r->to, a, b); }

/* A reshape to the shape that is there gives a value of the model one of its own in the program (partition.c); a
 * rewrite looks through it. */
static bool looks_through(const sw_rewrite *r, const sw_op *op) {
  return op->code == SW_OP_RESHAPE && r->from->program->values[op->results[0]].n_uses > 0 &&
         r->from->layout[op->results[0]].is_block && lie_alike(r->from, op->operands[0], op->results[0]);
}

sw_rc sw_rewrite_copy(sw_rewrite *r, sw_id id, sw_diag *d) {
  const sw_graph *g = r->from->program;
  const sw_op *op = &g->ops[id];
  if (looks_through(r, op)) {
    r->now[op->results[0]] = r->now[op->operands[0]];
    r->uses.at[r->now[op->results[0]]] += g->values[op->results[0]].n_uses - 1;
    return SW_OK;
  }
  sw_op_spec spec;
  sw_layout layouts[SW_MAX_RESULTS];
  int32_t uses[SW_MAX_RESULTS];
  sw_id results[SW_MAX_RESULTS];
  bool kept = must_stay(op) || op->n_results > 0;
  for (int i = 0; i < op->n_results; i++) {
    layouts[i] = r->from->layout[op->results[i]];
    uses[i] = g->values[op->results[i]].n_uses;
    kept = kept && (uses[i] == 0 || must_stay(op));
  }
  SW_TRY(sw_op_spec_of(g, op, r->now, &r->scratch, &spec, d));
  SW_TRY(append_rewritten(r, &spec, layouts, uses, kept, r->from->origin[id], results, d));
  for (int i = 0; i < op->n_results; i++) r->now[op->results[i]] = results[i];
  return SW_OK;
}

sw_rc sw_rewrite_walk(sw_rewrite *r, sw_rewrite_visit visit, void *user, sw_diag *d) {
  for (sw_id i = 0; i < r->from->program->n_ops; i++) {
    const int32_t before = r->to.program->n_ops;
    SW_TRY(sw_rewrite_copy(r, i, d));
    if (r->to.program->n_ops > before) SW_TRY(visit(r, i, before, user, d));
    sw_arena_reset(&r->scratch);
  }
  return SW_OK;
}

void sw_rewrite_replace(sw_rewrite *r, sw_id old, sw_id value) {
  r->now[old] = value;
  r->uses.at[value] += r->from->program->values[old].n_uses;
  r->rewrites++;
}

static bool is_taken(const sw_rewrite *r, const char *name) {
  const sw_graph *g[2] = {r->from->program, r->to.program};
  for (int i = 0; i < 2; i++) {
    if (sw_graph_op_named(g[i], name) >= 0 || sw_graph_value_named(g[i], name) >= 0) return true;
  }
  return false;
}

sw_rc sw_rewrite_add(sw_rewrite *r, const sw_op_spec *spec, const sw_rewrite_as *as, sw_id *out, sw_diag *d) {
  char name[64];
  sw_op_spec own = *spec;
  const sw_op *like = as->like < 0 ? NULL : sw_rewrite_op(r, as->like);
  const sw_origin origin = like ? r->origins.at[as->like] : *as->origin;
  sw_id results[SW_MAX_RESULTS];
  do snprintf(name, sizeof name, "%s.%lld", r->pass, (long long)r->counter++);
  while (is_taken(r, name));
  own.name = name;
  if (like) own.span = like->span;
  if (like) own.location = like->location;
  for (int k = 0; k < spec->n_operands; k++) r->uses.at[spec->operands[k]] += r->is_new.at[spec->operands[k]];
  SW_TRY(append_rewritten(r, &own, &as->layout, NULL, false, origin, results, d));
  *out = results[0];
  return SW_OK;
}

sw_rc sw_rewrite_add_collective(sw_rewrite *r, sw_id x, const sw_collective *c, const int64_t *dims,
                                const sw_rewrite_as *as, sw_id *out, sw_diag *d) {
  sw_type type = *sw_rewrite_type(r, x);
  int64_t block[SW_MAX_RANK];
  if (!dims && !sw_rewrite_block_dims(r, &as->layout, block)) return SW_BUG(d, "a new collective gives no block");
  type.dims = dims ? dims : block;
  sw_op_spec spec = {.code = SW_OP_COLLECTIVE,
                     .n_operands = 1,
                     .operands = &x,
                     .collective = c,
                     .n_result_types = 1,
                     .result_types = &type};
  return sw_rewrite_add(r, &spec, as, out, d);
}

sw_rc sw_rewrite_add_like(sw_rewrite *r, const sw_id *operands, const int64_t *dims, const sw_rewrite_as *as,
                          sw_id *out, sw_diag *d) {
  const sw_op *op = sw_rewrite_op(r, as->like);
  sw_attrs at;
  sw_attrs_copy(op, &at);
  if (sw_op_attr(op, SW_ATTR_SHAPE)) {
    sw_attrs_ints(&at, SW_ATTR_SHAPE, dims, r->to.program->values[op->results[0]].type.rank);
  }
  sw_op_spec spec = {
      .code = op->code, .n_operands = op->n_operands, .operands = operands, .n_attrs = at.n, .attrs = at.at};
  return sw_rewrite_add(r, &spec, as, out, d);
}

sw_rc sw_rewrite_add_convert(sw_rewrite *r, sw_id x, sw_dtype t, const sw_rewrite_as *as, sw_id *out, sw_diag *d) {
  *out = x;
  if (sw_rewrite_type(r, x)->dtype == t) return SW_OK;
  sw_attrs at = {0};
  sw_attrs_int(&at, SW_ATTR_DTYPE, t);
  sw_op_spec spec = {.code = SW_OP_CONVERT, .n_operands = 1, .operands = &x, .n_attrs = at.n, .attrs = at.at};
  return sw_rewrite_add(r, &spec, as, out, d);
}

/* --- what is there ------------------------------------------------------------------------------------------------ */

const sw_op *sw_rewrite_def(const sw_rewrite *r, sw_id value) {
  const sw_id def = r->to.program->values[value].def;
  return def < 0 ? NULL : sw_rewrite_op(r, def);
}

static bool is_plain_block(const sw_layout *l) {
  return l->is_block && !l->on && !l->sharding.offsets && !l->sharding.halos;
}

bool sw_rewrite_is(const sw_rewrite *r, const sw_op *op, sw_coll_op c) {
  const sw_collective *is = op ? op->collective : NULL;
  if (!is || is->op != c || is->lists || is->sources || is->src || is->dst || op->n_operands != 1) return false;
  return is->n_axes > 0 && is_plain_block(sw_rewrite_layout(r, op->operands[0])) &&
         is_plain_block(sw_rewrite_layout(r, op->results[0]));
}

const sw_op *sw_rewrite_def_as(const sw_rewrite *r, sw_id value, sw_coll_op c) {
  const sw_op *op = sw_rewrite_def(r, value);
  return sw_rewrite_is(r, op, c) ? op : NULL;
}

bool sw_rewrite_read_by_one(const sw_rewrite *r, const sw_op *reader, sw_id value) {
  int32_t here = 0;
  for (int i = 0; i < reader->n_operands; i++) here += reader->operands[i] == value;
  return r->uses.at[value] <= here;
}

double sw_rewrite_seconds(const sw_rewrite *r, const sw_op *op) { return sw_spmd_op_s(&r->to, r->machine, op); }

double sw_rewrite_seconds_of(const sw_rewrite *r, sw_id value) {
  const sw_op *op = sw_rewrite_def(r, value);
  return op ? sw_rewrite_seconds(r, op) : 0;
}

/* --- the end ------------------------------------------------------------------------------------------------------ */

/* New ops that are read, or stay anyway. */
static sw_rc find_live(const sw_rewrite *r, bool *live, sw_diag *d) {
  const sw_graph *g = r->to.program, *old = r->from->program;
  bool *read;
  SW_MEM_NEW(read, g->n_values, d);
  for (int32_t i = 0; i < old->n_outputs; i++) read[r->now[old->outputs[i]]] = true;
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &g->ops[i];
    live[i] = r->kept.at[i];
    for (int k = 0; k < op->n_results; k++) live[i] = live[i] || read[op->results[k]];
    for (int k = 0; live[i] && k < op->n_operands; k++) read[op->operands[k]] = true;
  }
  sw_mem_free(read);
  return SW_OK;
}

/* The outputs of the program that r rewrote, which is `swept` now. */
static sw_rc add_swept_outputs(const sw_rewrite *r, sw_rewrite *swept, sw_diag *d) {
  const sw_graph *old = r->from->program;
  for (int32_t i = 0; i < old->n_outputs; i++) {
    const sw_id alias = old->alias[i] < 0 ? -1 : swept->now[r->now[old->alias[i]]];
    SW_TRY(sw_graph_add_output(swept->to.program, old->output_names[i], swept->now[r->now[old->outputs[i]]], alias,
                               old->output_spans[i], d));
  }
  return sw_graph_seal(swept->to.program, d);
}

static sw_rc copy_live_ops(const sw_rewrite *r, const bool *live, sw_rewrite *swept, sw_diag *d) {
  for (sw_id i = 0; i < r->to.program->n_ops; i++) {
    if (live[i]) SW_TRY(sw_rewrite_copy(swept, i, d));
    sw_arena_reset(&swept->scratch);
  }
  return add_swept_outputs(r, swept, d);
}

/* The new program hands over what it consists of. */
static sw_rc hand_over_swept(sw_rewrite *swept, sw_spmd *out, sw_diag *d) {
  sw_graph *g = swept->to.program;
  sw_layout *layout = sw_arena_copy(&g->arena, swept->layouts.at, swept->layouts.n, sizeof *layout, d);
  sw_origin *origin = sw_arena_copy(&g->arena, swept->origins.at, swept->origins.n, sizeof *origin, d);
  if (!layout || !origin) return SW_E_RESOURCE;
  *out = swept->to;
  out->layout = layout;
  out->origin = origin;
  swept->to.program = NULL;
  return SW_OK;
}

/* The written program has no list of arguments yet: they are its first values, in order. */
static sw_rc view_written(const sw_rewrite *r, sw_arena *arena, sw_spmd *out, sw_diag *d) {
  const int32_t n = r->from->program->n_args;
  sw_id *args;
  SW_ARENA_NEW(args, arena, n + 1, d);
  for (int32_t i = 0; i < n; i++) args[i] = i;
  *out = r->to;
  return sw_graph_derive(r->to.program, &(sw_graph_parts){.n_args = n, .args = args}, arena, &out->program, d);
}

sw_rc sw_rewrite_end(sw_rewrite *r, sw_spmd *out, sw_diag *d) {
  bool *live;
  sw_arena scratch = {0};
  sw_spmd written;
  sw_rewrite swept = {0};
  SW_MEM_NEW(live, r->to.program->n_ops, d);
  r->to.origin = r->origins.at;
  sw_rc rc = view_written(r, &scratch, &written, d);
  if (!rc) rc = find_live(r, live, d);
  if (!rc) rc = sw_rewrite_begin(&swept, &written, d);
  if (!rc) rc = copy_live_ops(r, live, &swept, d);
  if (!rc) rc = hand_over_swept(&swept, out, d);
  sw_rewrite_deinit(&swept);
  sw_arena_deinit(&scratch);
  sw_mem_free(live);
  return rc;
}
