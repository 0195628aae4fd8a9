/* sdy.manual_computation: what each device does is written by hand, so only one plan is possible, the one that its
 * shardings say. It becomes an op that is not looked into, with a loop per axis, cut by just that axis:
 *
 *   mesh x=2, y=4: in [{"x"}, {"y"}] of f32[8,32], out [{"y", "x"}] of f32[16]
 *   loops d0 (2, cut by x), d1 (4, cut by y), blocks d2 (4), d3 (8), d4 (2)
 *   maps (4*d0 + d2, 8*d1 + d3) -> (4*d1 + 2*d0 + d4)
 */
#include <string.h>

#include "mlir/batching/batch.h"
#include "mlir/sdy/sdy.h"

enum { MOST_LOOPS = 64 };

/* --- one op ------------------------------------------------------------------------------------------------------- */

typedef struct manual {
  sw_importer *m;
  uint32_t op;
  bool fits; /* false: this cannot be said */
  sw_loop loops[MOST_LOOPS];
  int32_t dim_of[MOST_LOOPS]; /* of the blocks that a loop runs through; -1: an axis cuts it */
  int32_t n_loops;
  sw_axis_ref refs[SW_MAX_AXES];
  int32_t loop_of[SW_MAX_AXES]; /* that the ref cuts */
  int32_t n_refs;
} manual;

static int add_manual_loop(manual *r, int64_t size, sw_loop_kind kind, int dim) {
  if (r->n_loops == MOST_LOOPS) r->fits = false;
  if (!r->fits) return 0;
  r->dim_of[r->n_loops] = dim;
  r->loops[r->n_loops] = (sw_loop){.size = size, .kind = kind};
  return r->n_loops++;
}

/* The loop that the axis, or a part of one, cuts. */
static int loop_of_ref(manual *r, sw_axis_ref ref) {
  for (int i = 0; i < r->n_refs; i++) {
    if (sw_axis_ref_equal(r->refs[i], ref)) return r->loop_of[i];
    if (sw_axis_ref_overlaps(r->refs[i], ref)) r->fits = false;
  }
  if (r->n_refs == SW_MAX_AXES) r->fits = false;
  if (!r->fits) return 0;
  r->refs[r->n_refs] = ref;
  return r->loop_of[r->n_refs++] = add_manual_loop(r, ref.size, SW_LOOP_MANUAL, -1);
}

/* The loop through a device's block of dim k. */
static int loop_of_block(manual *r, int k, int64_t size) {
  for (int i = 0; i < r->n_loops; i++) {
    if (r->dim_of[i] == k && r->loops[i].size == size) return i;
  }
  return add_manual_loop(r, size, SW_LOOP_WHOLE, k);
}

/* Dim k: a digit for each of its axes, and one for what a device has of it. */
static sw_rc map_dim(manual *r, const sw_sharding *s, int k, int64_t size, sw_affine *out) {
  int64_t rest = size;
  sw_term *terms;
  SW_ARENA_NEW(terms, &r->m->scratch, s->n_refs + 1, r->m->d);
  *out = (sw_affine){.terms = terms};
  for (int i = 0; i < s->n_refs && r->fits; i++) {
    if (s->dim_of[i] != k || s->refs[i].size == 1) continue;
    r->fits = rest > 0 && rest % s->refs[i].size == 0;
    if (!r->fits) break;
    rest /= s->refs[i].size;
    terms[out->n_terms++] = (sw_term){loop_of_ref(r, s->refs[i]), rest};
  }
  if (rest > 1) terms[out->n_terms++] = (sw_term){loop_of_block(r, k, rest), 1};
  out->mixed_radix = out->n_terms > 1;
  return SW_OK;
}

static sw_rc map_value(manual *r, sw_ir_span sharding, const sw_type *t, sw_map *out) {
  sw_sharding s;
  sw_diag why = {0};
  sw_affine *dims;
  sw_sdy_sharding said;
  SW_TRY(sw_sdy_said(r->m, sharding, &said));
  if (said.foreign) r->fits = false;
  sw_rc rc = sw_sdy_over(&said, &r->m->g->written->mesh, t->rank, &s, &why);
  if (rc == SW_E_INPUT || s.n_partial) r->fits = false;
  if (rc) return rc == SW_E_INPUT ? SW_OK : rc;
  SW_ARENA_NEW(dims, &r->m->scratch, t->rank, r->m->d);
  *out = (sw_map){t->rank, dims};
  for (int k = 0; k < t->rank && r->fits; k++) SW_TRY(map_dim(r, &s, k, t->dims[k], &dims[k]));
  return SW_OK;
}

/* Operands by in_shardings, results by out_shardings. */
static sw_rc map_side(manual *r, const char *key, const sw_type *types, uint32_t n, sw_map *maps) {
  sw_ir_span list = sw_sdy_items(r->m->t, sw_ir_attr(r->m->t, sw_im_op(r->m, r->op), key, key)), item;
  uint32_t cursor = 0, i = 0;
  for (; i < n && r->fits && sw_ir_next_item(r->m->t, list, &cursor, &item); i++) {
    SW_TRY(map_value(r, item, &types[i], &maps[i]));
  }
  if (i < n) r->fits = false;
  return SW_OK;
}

static sw_rc make_nest(manual *r, const sw_im_add *add, const sw_type *operands, const sw_loop_nest **out) {
  sw_loop_nest *s;
  sw_map *maps;
  uint32_t n_operands = (uint32_t)add->n_operands, n_results = (uint32_t)add->n_types;
  SW_ARENA_NEW(s, &r->m->scratch, 1, r->m->d);
  SW_ARENA_NEW(maps, &r->m->scratch, n_operands + n_results, r->m->d);
  SW_TRY(map_side(r, "in_shardings", operands, n_operands, maps));
  SW_TRY(map_side(r, "out_shardings", add->types, n_results, maps + n_operands));
  *s = (sw_loop_nest){.n_loops = r->n_loops, .n_maps = add->n_operands + add->n_types, .loops = r->loops, .maps = maps};
  *out = r->fits && r->n_refs ? s : NULL;
  return SW_OK;
}

static sw_rc bind_loops(const manual *r, sw_id made) {
  sw_annotation a = {.value = -1,
                     .op = r->m->g->values[made].def,
                     .n_loop_refs = r->n_refs,
                     .loop_of = r->loop_of,
                     .loop_refs = r->refs,
                     .required = true,
                     .span = sw_im_place(r->m, r->op)};
  return sw_graph_add_annotation(r->m->g, &a, r->m->d);
}

/* --- written out -------------------------------------------------------------------------------------------------- */

/* The mesh that its shardings speak of: the first one's. */
static sw_rc read_manual_mesh(sw_batch *s, sw_sdy_sharding *said) {
  sw_ir_span first = s->n_in ? s->in[0].sharding : s->n_out ? s->out[0].sharding : (sw_ir_span){0, 0};
  *said = (sw_sdy_sharding){.mesh = s->m->own_mesh};
  if (sw_ir_present(first)) SW_TRY(sw_sdy_said(s->m, first, said));
  if (sw_ir_present(first)) sw_sdy_tell_foreign(s->m, said, sw_im_op(s->m, s->op)->text.at);
  s->mesh = &said->mesh;
  s->pinned = !said->foreign;
  return SW_OK;
}

/* Axes of manual_axes={"x", "y"}, in that mesh and in the graph's. */
static bool read_manual_axes(sw_batch *s) {
  const sw_ir_op *o = sw_im_op(s->m, s->op);
  const sw_mesh *mesh = &s->m->g->written->mesh;
  sw_ir_span list = sw_sdy_manual_axes(s->m->t, o), item;
  uint32_t cursor = 0, in_graph = 0;
  while (sw_ir_next_item(s->m->t, list, &cursor, &item)) {
    sw_ir_span name = sw_ir_unquoted(s->m->t, item);
    int own = sw_mesh_axis_named(s->mesh, s->m->t->s + name.at, sw_ir_len(name));
    int axis = sw_mesh_axis_named(mesh, s->m->t->s + name.at, sw_ir_len(name));
    if (own < 0) return false;
    if (axis < 0 || mesh->axis[axis].size != s->mesh->axis[own].size) s->pinned = false;
    if (axis >= 0) s->refs[own] = sw_axis_whole(mesh, axis);
    if (axis >= 0) in_graph |= UINT32_C(1) << axis;
    if (s->mesh->axis[own].size > 1) s->manual |= UINT32_C(1) << own;
  }
  for (int a = 0; a < mesh->n_axes; a++) {
    if (!(in_graph >> a & 1) && mesh->axis[a].size > 1) s->kept = in_graph;
  }
  return true;
}

/* Ports of one side, cut as in_shardings or out_shardings say. */
static sw_rc read_ports(sw_batch *s, const char *key, sw_batch_port *ports, uint32_t n, const char **why) {
  sw_ir_span list = sw_sdy_items(s->m->t, sw_ir_attr(s->m->t, sw_im_op(s->m, s->op), key, key)), item;
  uint32_t cursor = 0, i = 0;
  for (; i < n && sw_ir_next_item(s->m->t, list, &cursor, &item); i++) {
    sw_sdy_sharding said; /* the mesh that it names is there */
    SW_TRY(sw_sdy_said(s->m, item, &said));
    ports[i].sharding = item;
  }
  if (i < n) *why = "it has fewer shardings than operands or results";
  return SW_OK;
}

static sw_rc ports_of(sw_batch *s, const char **why) {
  const sw_ir_op *o = sw_im_op(s->m, s->op);
  s->n_in = o->n_uses;
  s->n_out = sw_ir_result_count(s->m->t, o);
  SW_ARENA_NEW(s->in, &s->m->scratch, s->n_in, s->m->d);
  SW_ARENA_NEW(s->out, &s->m->scratch, s->n_out, s->m->d);
  for (uint32_t i = 0; i < s->n_in; i++) {
    sw_id v = sw_im_operand(s->m, s->op, i);
    s->in[i] = (sw_batch_port){.value = v, .op = s->op, .type = s->m->g->values[v].type};
  }
  for (uint32_t i = 0; i < s->n_out; i++) {
    s->out[i] = (sw_batch_port){.value = -1, .op = s->op, .result = i};
    SW_TRY(sw_im_result_type(s->m, s->op, (int)i, &s->out[i].type));
  }
  SW_TRY(read_ports(s, "in_shardings", s->in, s->n_in, why));
  return *why ? SW_OK : read_ports(s, "out_shardings", s->out, s->n_out, why);
}

static sw_rc write_out(sw_importer *m, uint32_t op, const char **why) {
  sw_importer reader;
  sw_graph *body;
  *why = NULL;
  SW_TRY(sw_im_read_body(m, op, &reader, &body));
  sw_sdy_sharding said;
  sw_batch s = {.m = m, .op = op, .reader = &reader, .body = body};
  sw_rc rc = ports_of(&s, why);
  if (!rc) rc = read_manual_mesh(&s, &said);
  if (!rc && !read_manual_axes(&s)) *why = "the program has no mesh with its manual axes";
  if (!rc && !*why) rc = sw_batch_write_all(&s, why);
  sw_im_close_body(&reader, body);
  return rc;
}

/* Written out where it can be (batching/batch.h), else one op. With a mesh that the program does not know, or shardings
 * that no loops have, it is like any unknown op. */
sw_rc sw_sdy_manual(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = sw_ir_result_count(m->t, o);
  const char *why;
  SW_TRY(write_out(m, op, &why));
  if (!why) return SW_OK;
  manual r = {.m = m, .op = op, .fits = m->g->written->has_mesh && n > 0 && n <= SW_MAX_RESULTS};
  sw_type types[SW_MAX_RESULTS], *operand_types;
  sw_id *operands, made[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = SW_OP_OPAQUE, .n_operands = (int)o->n_uses, .attrs = &a, .n_types = (int)n, .types = types};
  SW_ARENA_NEW_EACH(&m->scratch, o->n_uses, m->d, operands, operand_types);
  for (uint32_t i = 0; i < o->n_uses; i++) {
    operands[i] = sw_im_operand(m, op, i);
    operand_types[i] = m->g->values[operands[i]].type;
  }
  for (uint32_t i = 0; r.fits && i < n; i++) SW_TRY(sw_im_result_type(m, op, (int)i, &types[i]));
  if (r.fits) SW_TRY(make_nest(&r, &add, operand_types, &add.nest));
  if (!add.nest) return sw_im_opaque(m, op, row->name);
  sw_im_warn(m, o->text.at, "'%s' is planned as its shardings say; what is inside is not priced and not executed: %s",
             row->name, why);
  add.operands = operands;
  sw_im_text(&a, SW_ATTR_TARGET, row->name);
  SW_TRY(sw_im_emit(m, op, &add, made));
  return bind_loops(&r, made[0]);
}
