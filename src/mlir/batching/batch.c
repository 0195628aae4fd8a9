/* Values of a manual computation as batched values: names, pins, dims and atoms; the walk over the body.
 *
 *   atoms of a value that differs over x=2 and y=4, f32[3] on a device:  [x y] [3]
 *   the same, gathered along its dim over y:                             [x] [y 3]
 */
#include "mlir/batching/batch.h"

#include <string.h>

#include "mlir/import/annotate.h"
#include "mlir/import/dialect.h"

/* --- one op ------------------------------------------------------------------------------------------------------ */

/* What the body says of its value, which is about a device's dims and axes that are not manual. */
static void add_said(const sw_batch *s, sw_id inner, sw_annotation *a) {
  const sw_annotation *said = &s->body->written->annotations[s->said[inner]];
  int front = s->varies[inner] != 0;
  for (int k = 0; k < said->sharding.n_refs; k++) {
    (void)sw_sharding_push(&a->sharding, said->sharding.dim_of[k] + front, said->sharding.refs[k]);
  }
  for (int k = 0; k < said->sharding.n_partial; k++) {
    (void)sw_sharding_push_partial(&a->sharding, (sw_reduction)said->sharding.partial_kind,
                                   sw_sharding_partial(&said->sharding)[k]);
  }
  a->open_dims = said->open_dims << front;
}

/* Axes that open dims may not use: the manual ones, and those that the body says; returns how many. */
static int32_t find_kept(const sw_batch *s, sw_id inner, sw_axis_ref *out) {
  const sw_mesh *mesh = &s->m->g->written->mesh;
  const sw_annotation *said = inner >= 0 && s->said[inner] >= 0 ? &s->body->written->annotations[s->said[inner]] : NULL;
  int32_t n = 0;
  for (int a = 0; a < mesh->n_axes; a++) {
    if (s->kept >> a & 1) out[n++] = sw_axis_whole(mesh, a);
  }
  for (int32_t i = 0; said && i < said->n_kept; i++) out[n++] = said->kept[i];
  return n;
}

/* Open dims may be cut by axes that are not manual. `inner`: the value of the body that it is, or -1. */
static sw_rc pin(sw_batch *s, sw_id value, const sw_sharding *sharding, sw_id inner) {
  const sw_type *t = &s->m->g->values[value].type;
  sw_axis_ref kept[SW_MAX_AXES + SW_MAX_REFS];
  if (!s->pinned || sw_type_elements(t) == 0) return SW_OK;
  sw_annotation a = {.value = value,
                     .op = -1,
                     .sharding = *sharding,
                     .open_dims = s->kept ? (UINT32_C(1) << t->rank) - 1 : 0,
                     .n_kept = find_kept(s, inner, kept),
                     .kept = kept,
                     .required = true,
                     .span = s->now ? s->now->span : sw_im_place(s->m, s->op)};
  if (inner >= 0 && s->said[inner] >= 0) add_said(s, inner, &a);
  return sw_graph_add_annotation(s->m->g, &a, s->m->d);
}

static sw_rc name_batched_result(sw_batch *s, const sw_batch_op *op, int i, const char **out) {
  const char *base = op->own ? s->body->values[s->now->results[i]].name
                             : sw_arena_printf(&s->m->scratch, s->m->d, "%s.%s", s->base, sw_opcode_text(op->code));
  return base ? sw_im_fresh_name(s->m, base, out) : SW_E_RESOURCE;
}

sw_rc sw_batch_put(sw_batch *s, const sw_batch_op *op, sw_id *results) {
  const char *names[SW_MAX_RESULTS];
  int n = op->own ? s->now->n_results : 1;
  for (int i = 0; i < n; i++) SW_TRY(name_batched_result(s, op, i, &names[i]));
  sw_op_spec spec = {.code = op->code,
                     .name = n ? names[0] : NULL,
                     .n_operands = op->n,
                     .operands = op->in,
                     .n_attrs = op->attrs ? op->attrs->n : 0,
                     .attrs = op->attrs ? op->attrs->at : NULL,
                     .span = s->now ? s->now->span : sw_im_place(s->m, s->op),
                     .n_result_names = n,
                     .result_names = names,
                     .nest = op->nest,
                     .n_result_types = op->n_types,
                     .result_types = op->types};
  if (s->now) spec.location = s->now->location, spec.function = s->now->function;
  if (op->own) spec.blocked = s->now->blocked;
  sw_id made[SW_MAX_RESULTS]; /* not `results`, which may be the operands and has room for what there is */
  SW_TRY(sw_graph_add_op(s->m->g, &spec, made, s->m->d));
  for (int i = 0; i < s->m->g->ops[s->m->g->n_ops - 1].n_results; i++) results[i] = made[i];
  for (int i = 0; i < n && op->sharding; i++) {
    SW_TRY(pin(s, results[i], &op->sharding[i], op->own ? s->now->results[i] : -1));
  }
  return SW_OK;
}

int64_t sw_batch_size(const sw_batch *s, uint32_t set) {
  int64_t n = 1;
  for (int a = 0; a < s->mesh->n_axes; a++) n *= set >> a & 1 ? s->mesh->axis[a].size : 1;
  return n;
}

void sw_batch_sharding(const sw_batch *s, uint32_t set, int rank, sw_sharding *out) {
  *out = sw_sharding_replicated(rank);
  for (int a = 0; a < s->mesh->n_axes; a++) {
    if (set >> a & 1) (void)sw_sharding_push(out, 0, s->refs[a]);
  }
}

/* --- atoms ------------------------------------------------------------------------------------------------------- */

void sw_batch_add_dim(sw_batch_form *f) { f->count[f->n_dims++] = 0; }

void sw_batch_add_atom(sw_batch_form *f, int id, int axis, int64_t size) {
  f->at[f->n++] = (sw_batch_atom){id, axis, size};
  f->count[f->n_dims - 1]++;
}

void sw_batch_add_set(const sw_batch *s, sw_batch_form *f, uint32_t set) {
  if (!set) return;
  sw_batch_add_dim(f);
  for (int a = 0; a < s->mesh->n_axes; a++) {
    if (set >> a & 1) sw_batch_add_atom(f, a, a, s->mesh->axis[a].size);
  }
}

void sw_batch_add_local(sw_batch_form *f, const sw_type *local, int part, int64_t n) {
  for (int k = 0; k < local->rank; k++) {
    sw_batch_add_dim(f);
    sw_batch_add_atom(f, SW_BATCH_DIM + k, -1, local->dims[k] / (k == part ? n : 1));
  }
}

sw_batch_form sw_batch_form_over(const sw_batch *s, uint32_t set, const sw_type *local) {
  sw_batch_form f = {.n = 0};
  sw_batch_add_set(s, &f, set);
  sw_batch_add_local(&f, local, -1, 1);
  return f;
}

void sw_batch_cut(const sw_batch *s, const sw_batch_form *f, sw_sharding *out) {
  *out = sw_sharding_replicated(f->n_dims);
  for (int k = 0, i = 0; k < f->n_dims; k++) {
    for (int j = 0; j < f->count[k]; j++, i++) {
      if (f->at[i].axis >= 0) (void)sw_sharding_push(out, k, s->refs[f->at[i].axis]);
    }
  }
}

static void dims_of(const sw_batch_form *f, int64_t *dims) {
  for (int k = 0, i = 0; k < f->n_dims; k++) {
    dims[k] = 1;
    for (int j = 0; j < f->count[k]; j++) dims[k] *= f->at[i++].size;
  }
}

sw_rc sw_batch_one(sw_batch *s, sw_opcode code, sw_id v, const sw_im_attrs *more, const sw_batch_form *to, sw_id *out) {
  sw_sharding cut;
  sw_batch_cut(s, to, &cut);
  return sw_batch_put(s, &(sw_batch_op){.code = code, .n = 1, .in = &v, .attrs = more, .sharding = &cut}, out);
}

sw_rc sw_batch_constant(sw_batch *s, const sw_type *t, const void *bytes, bool splat, const sw_sharding *cut,
                        sw_id *out) {
  sw_im_attrs a = {.n = 0};
  sw_im_value(&a, t, bytes, splat);
  return sw_batch_put(s, &(sw_batch_op){.code = SW_OP_CONSTANT, .attrs = &a, .sharding = cut}, out);
}

sw_rc sw_batch_zeros(sw_batch *s, const sw_type *t, const sw_sharding *cut, sw_id *out) {
  _Alignas(16) static const unsigned char kZero[16] = {0};
  return sw_batch_constant(s, t, kZero, true, cut, out);
}

/* A reshape to the dims of the form (to the same ones: its cuts are the point). */
sw_rc sw_batch_moved(sw_batch *s, sw_id v, const sw_batch_form *to, sw_id *out) {
  int64_t dims[3 * SW_MAX_RANK];
  sw_im_attrs a = {.n = 0};
  if (to->n_dims > SW_MAX_RANK) {
    return SW_IM_FAIL(s->m, s->op, "a value has %d dims with those for devices; expected at most %d", to->n_dims,
                      SW_MAX_RANK);
  }
  dims_of(to, dims);
  sw_im_numbers(&a, SW_ATTR_SHAPE, dims, to->n_dims);
  return sw_batch_one(s, SW_OP_RESHAPE, v, &a, to, out);
}

static bool has_batched_dims(const sw_batch *s, sw_id v, const sw_batch_form *f) {
  const sw_type *t = &s->m->g->values[v].type;
  int64_t dims[3 * SW_MAX_RANK];
  dims_of(f, dims);
  return t->rank == f->n_dims && (!t->rank || memcmp(t->dims, dims, (size_t)t->rank * sizeof *dims) == 0);
}

/* The same atoms, each a dim of its own; those of one element are left out. */
static sw_batch_form apart(const sw_batch_form *f) {
  sw_batch_form out = {.n = 0};
  for (int i = 0; i < f->n; i++) {
    if (f->at[i].size == 1) continue;
    sw_batch_add_dim(&out);
    sw_batch_add_atom(&out, f->at[i].id, f->at[i].axis, f->at[i].size);
  }
  return out;
}

sw_rc sw_batch_regroup(sw_batch *s, sw_id v, const sw_batch_form *from, const sw_batch_form *to, sw_id *out) {
  const sw_batch_form loose = apart(from), sorted = apart(to);
  int64_t permutation[3 * SW_MAX_RANK];
  bool moves = false;
  for (int i = 0; i < sorted.n; i++) {
    permutation[i] = 0;
    while (loose.at[permutation[i]].id != sorted.at[i].id) permutation[i]++;
    moves = moves || permutation[i] != i;
  }
  *out = v;
  if (moves) {
    sw_im_attrs a = {.n = 0};
    sw_im_numbers(&a, SW_ATTR_PERMUTATION, permutation, loose.n);
    if (!has_batched_dims(s, v, &loose)) SW_TRY(sw_batch_moved(s, v, &loose, out));
    SW_TRY(sw_batch_one(s, SW_OP_TRANSPOSE, *out, &a, &sorted, out));
  }
  return has_batched_dims(s, *out, to) ? SW_OK : sw_batch_moved(s, *out, to, out);
}

sw_rc sw_batch_spread(sw_batch *s, sw_id v, const sw_type *local, uint32_t from, uint32_t to, sw_id *out) {
  sw_batch_form narrow = {.n = 0}, wide = {.n = 0}, joined = sw_batch_form_over(s, to, local);
  int64_t shape[SW_MAX_RANK + SW_MAX_AXES], dims[SW_MAX_RANK + SW_MAX_AXES];
  int n = 0;
  *out = v;
  if (from == to) return SW_OK;
  for (int a = 0; a < s->mesh->n_axes; a++) {
    if (from >> a & 1) dims[n++] = wide.n_dims;
    sw_batch_add_set(s, &wide, to & UINT32_C(1) << a);
    sw_batch_add_set(s, &narrow, from & UINT32_C(1) << a);
  }
  for (int k = 0; k < local->rank; k++) dims[n++] = wide.n_dims + k;
  sw_batch_add_local(&narrow, local, -1, 1);
  sw_batch_add_local(&wide, local, -1, 1);
  if (!has_batched_dims(s, v, &narrow)) SW_TRY(sw_batch_moved(s, v, &narrow, out));
  sw_im_attrs a = {.n = 0};
  dims_of(&wide, shape);
  sw_im_numbers(&a, SW_ATTR_SHAPE, shape, wide.n_dims);
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, n);
  SW_TRY(sw_batch_one(s, SW_OP_BROADCAST, *out, &a, &wide, out));
  return has_batched_dims(s, *out, &joined) ? SW_OK : sw_batch_moved(s, *out, &joined, out);
}

sw_rc sw_batch_operand(sw_batch *s, int i, uint32_t set, sw_id *out) {
  sw_id v = s->now->operands[i];
  return sw_batch_spread(s, s->of[v], &s->body->values[v].type, s->varies[v], set, out);
}

/* --- what differs over which axes -------------------------------------------------------------------------------- */

static uint32_t operands_vary(const sw_batch *s, const sw_op *op) {
  uint32_t set = 0;
  for (int i = 0; i < op->n_operands; i++) set |= s->varies[op->operands[i]];
  return set;
}

/* Carried values differ as what is yielded does, and the other way round. */
static bool tie_join(sw_batch *s, const sw_op *op) {
  uint32_t set = operands_vary(s, op) | s->varies[op->results[0]];
  bool more = s->varies[op->results[0]] != set;
  s->varies[op->results[0]] = set;
  for (int i = 0; i < op->n_operands; i++) {
    more = more || s->varies[op->operands[i]] != set;
    s->varies[op->operands[i]] = set;
  }
  return more;
}

static sw_rc see_batched_op(sw_batch *s, const sw_op *op, bool *more, const char **why) {
  uint32_t set = operands_vary(s, op);
  if (op->code == SW_OP_JOIN) {
    *more = tie_join(s, op) || *more;
    return SW_OK;
  }
  if (sw_batch_is_collective(s, op)) SW_TRY(sw_batch_collective_set(s, op, set, &set, why));
  for (int i = 0; i < op->n_results; i++) {
    uint32_t *v = &s->varies[op->results[i]];
    bool carried = op->code == SW_OP_ENTER || op->code == SW_OP_YIELD;
    if (carried) set |= *v;
    *more = *more || *v != set;
    *v = set;
  }
  return SW_OK;
}

sw_rc sw_batch_analyse(sw_batch *s, const char **why) {
  const sw_graph *g = s->body;
  bool more = true;
  while (more && !*why) {
    more = false;
    for (int32_t i = 0; i < g->n_ops && !*why; i++) SW_TRY(see_batched_op(s, &g->ops[i], &more, why));
  }
  for (int32_t i = 0; i < g->n_ops && !*why; i++) *why = sw_batch_why_not(s, &g->ops[i]);
  return SW_OK;
}

/* --- in and out -------------------------------------------------------------------------------------------------- */

/* One of in_shardings or out_shardings: where manual axes cut dims. */
typedef struct border {
  const sw_batch_port *port;
  int rank;
  sw_sharding of; /* over the program's mesh */
  sw_batch_form whole, batched;
  uint32_t set;
} border;

static sw_rc read_border(sw_batch *s, const sw_batch_port *p, border *b, const char **why) {
  const sw_ir_tree *tree = s->m->t;
  sw_diag what = {0};
  b->port = p;
  b->rank = p->type.rank;
  b->of = sw_sharding_replicated(b->rank);
  sw_ir_span in = sw_ir_resolved(tree, sw_ir_trimmed(tree, p->sharding));
  if (!sw_ir_len(in)) return SW_OK;
  const sw_im_said said = {in, s->mesh, b->rank};
  sw_rc rc = sw_im_read_sharding(s->m, &said, &s->m->scratch, &b->of, &what);
  if (rc != SW_E_INPUT) SW_TRY(rc);
  if (rc || b->of.n_partial) *why = "a sharding of it is not one of whole manual axes";
  return SW_OK;
}

/* Dims of the whole: axes of each, then the rest; the batched value: axes in the mesh's order, then the rests. */
static void split_border(sw_batch *s, const sw_type *t, border *b, const char **why) {
  int64_t rest[SW_MAX_RANK];
  for (int k = 0; k < t->rank; k++) {
    rest[k] = t->dims[k];
    sw_batch_add_dim(&b->whole);
    for (int i = 0; i < b->of.n_refs; i++) {
      int axis = b->of.refs[i].axis;
      if (b->of.dim_of[i] != k || !(s->manual >> axis & 1)) continue;
      if (b->of.refs[i].size != s->mesh->axis[axis].size) *why = "a sharding of it cuts by a part of a manual axis";
      if (rest[k] % b->of.refs[i].size) *why = "a manual axis does not divide a dim";
      if (*why) return;
      rest[k] /= b->of.refs[i].size;
      b->set |= UINT32_C(1) << axis;
      sw_batch_add_atom(&b->whole, axis, axis, b->of.refs[i].size);
    }
    sw_batch_add_atom(&b->whole, SW_BATCH_DIM + k, -1, rest[k]);
  }
  b->batched = sw_batch_form_over(s, b->set, &(sw_type){t->dtype, t->rank, rest});
}

static sw_rc read_borders(sw_batch *s, const sw_batch_port *ports, uint32_t n, border **out, const char **why) {
  SW_ARENA_NEW(*out, &s->m->scratch, n, s->m->d);
  for (uint32_t i = 0; i < n && !*why; i++) {
    SW_TRY(read_border(s, &ports[i], &(*out)[i], why));
    if (!*why) split_border(s, &ports[i].type, &(*out)[i], why);
  }
  return SW_OK;
}

/* The value in the sharding of the border; it may be cut by further axes where the text says so. */
static sw_rc at_border(sw_batch *s, sw_id v, const border *b, bool last, sw_id *out) {
  const sw_batch_port *p = b->port;
  sw_im_attrs a = {.n = 0};
  int64_t dims[SW_MAX_RANK];
  dims_of(&b->whole, dims);
  sw_im_numbers(&a, SW_ATTR_SHAPE, dims, b->whole.n_dims);
  sw_im_add add = {.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &v, .attrs = &a, .part = last ? NULL : "given"};
  SW_TRY(sw_im_emit_one(s->m, p->op, &add, p->result, out));
  return s->pinned ? sw_im_annotate(s->m, *out, p->sharding, p->open, sw_im_op(s->m, p->op)->text.at) : SW_OK;
}

/* What comes in is pinned by its first use; the text speaks of further axes only where there are some. */
static sw_rc go_in(sw_batch *s, uint32_t i, const border *b) {
  sw_id v = s->in[i].value, arg = s->body->args[i];
  s->base = s->body->values[arg].name;
  if (s->kept && sw_ir_len(b->port->sharding)) SW_TRY(at_border(s, v, b, false, &v));
  SW_TRY(sw_batch_regroup(s, v, &b->whole, &b->batched, &s->of[arg]));
  return SW_OK;
}

/* What devices agree on, though nothing says so: the first one's. */
static sw_rc agreed(sw_batch *s, sw_id v, const sw_type *local, uint32_t from, uint32_t to, sw_id *out) {
  sw_batch_form have = sw_batch_form_over(s, from, local), left = sw_batch_form_over(s, from & to, local);
  sw_batch_form loose = {.n = 0};
  int64_t start[3 * SW_MAX_RANK] = {0}, limit[3 * SW_MAX_RANK], one[3 * SW_MAX_RANK];
  uint32_t gone = from & ~to;
  *out = v;
  if (!gone) return SW_OK;
  sw_batch_add_set(s, &loose, gone);
  sw_batch_add_set(s, &loose, from & to);
  sw_batch_add_local(&loose, local, -1, 1);
  SW_TRY(sw_batch_regroup(s, v, &have, &loose, out));
  sw_im_attrs a = {.n = 0};
  dims_of(&loose, limit);
  limit[0] = 1;
  for (int k = 0; k < loose.n_dims; k++) one[k] = 1;
  sw_im_numbers(&a, SW_ATTR_START, start, loose.n_dims);
  sw_im_numbers(&a, SW_ATTR_LIMIT, limit, loose.n_dims);
  sw_im_numbers(&a, SW_ATTR_STRIDES, one, loose.n_dims);
  SW_TRY(sw_batch_put(s, &(sw_batch_op){.code = SW_OP_SLICE, .n = 1, .in = out, .attrs = &a}, out));
  return sw_batch_moved(s, *out, &left, out);
}

static sw_rc go_out(sw_batch *s, uint32_t i, const border *b) {
  sw_id last = s->body->outputs[i], v = s->of[last], out;
  const sw_type *local = &s->body->values[last].type;
  sw_batch_form loose = {.n = 0};
  s->base = s->body->values[last].name;
  SW_TRY(agreed(s, v, local, s->varies[last], b->set, &v));
  SW_TRY(sw_batch_spread(s, v, local, s->varies[last] & b->set, b->set, &v));
  for (int k = 0; k < b->whole.n; k++) {
    sw_batch_add_dim(&loose);
    sw_batch_add_atom(&loose, b->whole.at[k].id, b->whole.at[k].axis, b->whole.at[k].size);
  }
  SW_TRY(sw_batch_regroup(s, v, &b->batched, &loose, &v));
  return at_border(s, v, b, true, &out);
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

/* Do the shapes inside follow from those outside? */
static bool border_fits(const sw_batch *s, const border *b, sw_id value) {
  const sw_type *t = &s->body->values[value].type;
  int first = b->batched.n_dims - b->rank, at = b->batched.n - b->rank;
  if (t->rank != b->rank || first != (b->set != 0)) return false;
  for (int k = 0; k < t->rank; k++) {
    if (t->dims[k] != b->batched.at[at + k].size) return false;
  }
  return true;
}

static sw_rc check_borders(const sw_batch *s, const border *in, const border *out) {
  const sw_graph *g = s->body;
  if (g->n_outputs != (int32_t)s->n_out) {
    return SW_IM_FAIL(s->m, s->op, "%d values are returned inside; expected %u, one for each result", g->n_outputs,
                      s->n_out);
  }
  for (uint32_t i = 0; i < s->n_in + s->n_out; i++) {
    const border *b = i < s->n_in ? &in[i] : &out[i - s->n_in];
    if (border_fits(s, b, i < s->n_in ? g->args[i] : g->outputs[i - s->n_in])) continue;
    return SW_IM_FAIL(s->m, b->port->op, "%s %u has another shape inside than its sharding gives",
                      i < s->n_in ? "operand" : "result", i < s->n_in ? i : i - s->n_in);
  }
  return SW_OK;
}

/* Constants without elements are arguments of the program. */
static sw_rc pass_elided(sw_batch *s) {
  const sw_graph *g = s->body;
  for (int32_t i = (int32_t)s->n_in; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const char *name;
    SW_TRY(sw_im_fresh_name(s->m, v->name, &name));
    SW_TRY(sw_graph_add_arg(s->m->g, name, v->type.dtype, v->type.rank, v->type.dims, v->kind, v->span,
                            &s->of[g->args[i]], s->m->d));
    sw_graph_set_arg_location(s->m->g, s->of[g->args[i]], v->location);
  }
  return SW_OK;
}

/* A value of the body that is an argument and has not come in yet does so now, not before: it may be long till then. */
static sw_rc bring_in_argument(sw_batch *s, sw_id v, const border *in) {
  const sw_value *x = &s->body->values[v];
  if (x->def >= 0 || s->of[v] >= 0) return SW_OK;
  return go_in(s, (uint32_t)x->def_index, &in[x->def_index]);
}

static sw_rc bring_operands(sw_batch *s, const sw_op *op, const border *in) {
  for (int i = 0; i < op->n_operands && op->code != SW_OP_ENTER; i++) SW_TRY(bring_in_argument(s, op->operands[i], in));
  const sw_graph *g = s->body;
  for (sw_id f = sw_frame_begun_by(g, (sw_id)(op - g->ops)); f >= 0; f = sw_frame_begun_by(g, g->frames[f].end)) {
    for (sw_id id = g->frames[f].begin + 1; g->ops[id].code == SW_OP_ENTER; id++)
      SW_TRY(bring_in_argument(s, g->ops[id].operands[0], in));
  }
  return SW_OK;
}

sw_rc sw_batch_write_op(sw_batch *s, const sw_op *op) {
  sw_id results[SW_MAX_RESULTS];
  s->now = op;
  s->base = op->n_results ? s->body->values[op->results[0]].name : op->name;
  uint32_t set = op->n_results ? s->varies[op->results[0]] : 0;
  SW_TRY(sw_batch_is_collective(s, op) ? sw_batch_collective(s, results) : sw_batch_write(s, set, results));
  for (int r = 0; r < op->n_results; r++) s->of[op->results[r]] = results[r];
  s->now = NULL;
  return SW_OK;
}

static sw_rc write_body(sw_batch *s, const border *in) {
  const sw_graph *g = s->body;
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    SW_TRY(bring_operands(s, op, in));
    SW_TRY_NOTE(s->m->d, sw_batch_write_op(s, op), "in op '%s' of a manual computation", op->name);
  }
  return SW_OK;
}

/* Members of the body's groups, where they are of one shape also with the devices that they differ over. */
static sw_rc write_groups(sw_batch *s) {
  sw_graph *g = s->m->g;
  for (int32_t i = 0; i < s->body->written->n_sharding_groups; i++) {
    const sw_sharding_group *pair = &s->body->written->sharding_groups[i];
    const sw_id a = s->of[pair->a], b = s->of[pair->b];
    if (a < 0 || b < 0 || s->varies[pair->a] != s->varies[pair->b]) continue;
    SW_TRY(sw_graph_add_sharding_group(g, a, b, pair->span, s->m->d));
  }
  return SW_OK;
}

sw_rc sw_batch_prepare(sw_batch *s) {
  SW_ARENA_NEW_EACH(&s->m->scratch, s->body->n_values, s->m->d, s->varies, s->of, s->said);
  for (sw_id i = 0; i < s->body->n_values; i++) s->of[i] = s->said[i] = -1;
  for (int32_t i = 0; i < s->body->written->n_annotations; i++) {
    const sw_annotation *a = &s->body->written->annotations[i];
    if (a->value >= 0 && !a->for_users && !a->derived) s->said[a->value] = i;
  }
  return SW_OK;
}

sw_rc sw_batch_write_all(sw_batch *s, const char **why) {
  border *in, *out;
  const sw_graph *g = s->body;
  *why = NULL;
  SW_TRY(sw_batch_prepare(s));
  SW_TRY(read_borders(s, s->in, s->n_in, &in, why));
  if (!*why) SW_TRY(read_borders(s, s->out, s->n_out, &out, why));
  if (*why) return SW_OK;
  SW_TRY(check_borders(s, in, out));
  for (uint32_t i = 0; i < s->n_in; i++) s->varies[g->args[i]] = in[i].set;
  SW_TRY(sw_batch_analyse(s, why));
  if (*why) return SW_OK;
  SW_TRY(pass_elided(s));
  SW_TRY(write_body(s, in));
  for (int32_t i = 0; i < g->n_outputs; i++) SW_TRY(bring_in_argument(s, g->outputs[i], in));
  for (uint32_t i = 0; i < s->n_out; i++) SW_TRY(go_out(s, i, &out[i]));
  return write_groups(s);
}
