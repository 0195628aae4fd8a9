/* Reshards as Shardy's collectives: the route of each (collective_route.h) in place of it.
 *
 *   %1 = sdy.reshard %0 <@mesh, [{}, {"x"}]>
 *   %1 = sdy.all_to_all [{"x"}: 0->1] %0 out_sharding=<@mesh, [{}, {"x"}]>
 *
 * What says no more than the value has already goes. Between meshes of different axes, and to or from one device, there
 * is no collective: those stay.
 */
#include "io/mlir/opt/collective_route.h"

#include <string.h>

#include "io/mlir/opt/rewrite.h"
#include "io/mlir/import/types.h"

typedef struct converting {
  sw_opt_work *w;
  bool keep_redundant;
  const int32_t *tensors; /* by value */
  sw_route_parts parts;
} converting;

/* A reshard and what it is between. */
typedef struct reshard {
  const sw_ir_op *op;
  uint32_t at, from, to; /* op, values */
  sw_open_sharding before, after;
  bool is_unsaid; /* the text does not say how it is before, so it is whole; slices can be made of that alone */
  const sw_type *type;
} reshard;

/* --- meshes ------------------------------------------------------------------------------------------------------- */

static const sw_mesh *mesh_of(const sw_opt_work *w, const sw_open_sharding *s) {
  return &w->flow->sdy.meshes.at[s->mesh].mesh;
}

static bool same_axes(const sw_mesh *a, const sw_mesh *b) {
  if (a->n_axes != b->n_axes) return false;
  for (int i = 0; i < a->n_axes; i++) {
    if (a->axis[i].size != b->axis[i].size || strcmp(a->axis[i].name, b->axis[i].name) != 0) return false;
  }
  return true;
}

static bool same_order(const sw_mesh *a, const sw_mesh *b) {
  for (int64_t i = 0, n = sw_mesh_devices(a); i < n && (a->device_ids || b->device_ids); i++) {
    const int64_t x = a->device_ids ? a->device_ids[i] : i, y = b->device_ids ? b->device_ids[i] : i;
    if (x != y) return false;
  }
  return true;
}

/* --- text --------------------------------------------------------------------------------------------------------- */

/* {"x", "y":(1)2}, of one dimension. */
static void put_list(const sw_mesh *m, const sw_sharding *s, int dim, sw_text *out) {
  int n;
  const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
  sw_text_puts(out, "{");
  sw_sdy_axes_print(m, refs, n, out);
  sw_text_puts(out, "}");
}

static void put_axes(const sw_mesh *m, const sw_route_part *p, sw_text *out) {
  if (p->op == SW_COLL_PERMUTE) return;
  if (p->op == SW_COLL_ALL_REDUCE || p->op == SW_COLL_TO_PARTIAL) {
    put_list(m, &p->axes, 0, out);
  } else if (p->op == SW_COLL_ALL_TO_ALL) {
    sw_text_puts(out, "[");
    put_list(m, &p->axes, p->from, out);
    sw_text_printf(out, ": %d->%d]", p->from, p->to);
  } else {
    for (int d = 0; d < p->axes.rank; d++) {
      sw_text_puts(out, d ? ", " : "[");
      put_list(m, &p->axes, d, out);
    }
    sw_text_puts(out, "]");
  }
  sw_text_puts(out, " ");
}

static const char *name_of(sw_coll_op op) {
  static const char *const kNames[SW_COLL_COUNT] = {[SW_COLL_ALL_GATHER] = "all_gather",
                                                    [SW_COLL_ALL_SLICE] = "all_slice",
                                                    [SW_COLL_ALL_REDUCE] = "all_reduce",
                                                    [SW_COLL_REDUCE_SCATTER] = "reduce_scatter",
                                                    [SW_COLL_ALL_TO_ALL] = "all_to_all",
                                                    [SW_COLL_PERMUTE] = "collective_permute",
                                                    [SW_COLL_TO_PARTIAL] = "replicated_to_unreduced",
                                                    [SW_COLL_SHARD_TO_PARTIAL] = "sharded_to_unreduced"};
  return kNames[op];
}

/* sdy.all_gather [{"x"}] %0 out_sharding=<@mesh, [{}]> : tensor<8xf32> */
static const char *part_text(converting *c, const reshard *r, const sw_route_part *p, const char *operand,
                             sw_ir_span type) {
  sw_opt_work *w = c->w;
  const sw_mesh *m = mesh_of(w, &r->after);
  const sw_open_sharding after = {.mesh = p->there ? r->after.mesh : r->before.mesh, .cut = p->after};
  const sw_reduction kind = (sw_reduction)r->before.cut.partial_kind;
  const bool reduces = sw_coll_combines(p->op) && kind != SW_REDUCE_SUM;
  sw_text t = {0};
  sw_text_printf(&t, "sdy.%s %s%s", name_of(p->op), reduces ? sw_reduction_text(kind) : "", reduces ? " " : "");
  put_axes(m, p, &t);
  sw_text_printf(&t, "%s out_sharding=", operand);
  sw_rc rc = sw_open_sharding_print(&w->flow->sdy, &after, &t);
  sw_text_printf(&t, " : %.*s", SW_IR_TEXT(w->t, type));
  const char *text = rc ? NULL : sw_arena_strndup(&w->arena, sw_text_str(&t), t.n, w->d);
  sw_text_free(&t);
  return text;
}

/* The last of the parts takes the op's place, the others stand before it. */
static sw_rc write_parts(converting *c, const reshard *r) {
  sw_opt_work *w = c->w;
  sw_ir_types_cursor types = sw_ir_result_types(w->t, r->op->types);
  sw_ir_span type = {0, 0};
  const char *operand = sw_opt_text_of_uses(w, r->from);
  (void)sw_ir_next_type(w->t, &types, &type);
  for (size_t i = 0; i < c->parts.n; i++) {
    const char *text = operand ? part_text(c, r, &c->parts.at[i], operand, type) : NULL;
    if (!text) return SW_E_RESOURCE;
    if (i + 1 == c->parts.n) {
      w->erased[r->at] = true; /* its use is in the text that is put there */
      return sw_ir_replace(&w->edits, r->op->name.at - r->op->generic, r->op->types.end, text);
    }
    operand = sw_opt_new_name(w);
    SW_TRY(sw_opt_put_before(w, r->at, sw_arena_printf(&w->arena, w->d, "%s = %s", operand, text)));
  }
  return SW_OK;
}

/* --- reshards ----------------------------------------------------------------------------------------------------- */

static bool said_of(const converting *c, uint32_t value, sw_open_sharding *out) {
  const int32_t tensor = c->tensors[value];
  if (tensor < 0 || c->w->flow->said.at[tensor].mesh < 0) return false;
  *out = c->w->flow->said.at[tensor];
  return true;
}

/* What a barrier lets through is what goes in. */
static uint32_t through_barriers(const converting *c, uint32_t value) {
  const sw_opt_work *w = c->w;
  sw_open_sharding own;
  for (uint32_t maker; (maker = w->values.maker[value]) != SW_IR_NONE && !said_of(c, value, &own);
       value = sw_ir_operand_value(&w->values, &w->t->ops.at[maker], 0)) {
    if (!sw_ir_is(w->t, w->t->ops.at[maker].name, "sdy.propagation_barrier")) break;
  }
  return value;
}

static bool is_whole(const sw_open_sharding *s) { return !s->cut.n_refs && !s->cut.n_partial; }

/* What is on one mesh: reshards of whole values, and from or to them, are told by the axes of the other end. */
static bool can_convert(const sw_opt_work *w, reshard *r) {
  const sw_mesh *a = mesh_of(w, &r->before), *b = mesh_of(w, &r->after);
  if (sw_sdy_is_maximal(a) || sw_sdy_is_maximal(b)) return false;
  if (is_whole(&r->after)) r->after.mesh = r->before.mesh;
  return same_axes(a, mesh_of(w, &r->after)) || is_whole(&r->after);
}

static sw_rc convert(converting *c, reshard *r) {
  sw_opt_work *w = c->w;
  const sw_mesh *a = mesh_of(w, &r->before), *b = mesh_of(w, &r->after);
  const sw_collective_ends ends = {b, r->type->rank, r->type->dims, &r->before.cut, &r->after.cut, !same_order(a, b)};
  c->parts.n = 0;
  const bool same = !ends.reordered && sw_sharding_equal(&r->before.cut, &r->after.cut);
  if (!same)
    SW_TRY_NOTE(w->d, sw_collective_route(&ends, &c->parts, w->d), "in line %d",
                sw_ir_place(w->t, r->op->text.at).line);
  if (c->parts.n && r->is_unsaid && c->parts.at[0].op != SW_COLL_ALL_SLICE) return SW_OK;
  if (c->parts.n) return write_parts(c, r);
  if (c->keep_redundant) return SW_OK;
  sw_opt_forward(w, r->to, r->from);
  return sw_opt_erase(w, r->at);
}

static sw_rc convert_op(converting *c, uint32_t at) {
  sw_opt_work *w = c->w;
  const sw_ir_op *o = &w->t->ops.at[at];
  reshard r = {.op = o, .at = at, .to = sw_ir_result_value(&w->values, w->t, o, 0)};
  if (!o->n_uses || r.to == SW_IR_NONE || !said_of(c, r.to, &r.after)) return SW_OK;
  r.from = through_barriers(c, sw_ir_operand_value(&w->values, o, 0));
  r.type = &w->flow->type.at[c->tensors[r.to]];
  r.is_unsaid = !said_of(c, r.from, &r.before);
  if (r.is_unsaid) r.before = (sw_open_sharding){.mesh = r.after.mesh, .cut = sw_sharding_replicated(r.type->rank)};
  return can_convert(w, &r) ? convert(c, &r) : SW_OK;
}

static sw_rc run(sw_opt_work *w) {
  converting c = {.w = w};
  int32_t *tensors;
  SW_TRY(sw_opt_flag(w, "keep-redundant-reshards", false, &c.keep_redundant));
  SW_TRY(sw_opt_tensors(w, &tensors));
  c.tensors = tensors;
  sw_rc rc = SW_OK;
  for (uint32_t i = 0; i < w->t->ops.n && !rc; i++) {
    if (sw_ir_is(w->t, w->t->ops.at[i].name, "sdy.reshard")) rc = convert_op(&c, i);
  }
  sw_array_free(&c.parts);
  w->flow->places.n = 0; /* shardings stay as they are written */
  return rc;
}

const sw_opt_pass sw_pass_reshard_to_collectives = {"reshard-to-collectives", "make collectives of reshards",
                                                    "keep-redundant-reshards=BOOL: those that change nothing, too\n",
                                                    true, run};
