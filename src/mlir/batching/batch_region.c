/* Regions with tensors in them, or ops with regions of their own: what reduce, sort, scatter and others do with them,
 * written out as manual computations are (batching/batch.h). Every element that the region is applied to is a device,
 * which leaves no one out and sends nothing:
 *
 *   { t = concatenate a, b; r = reduce max t; return r }     applied to x[4,8], y[4,8]
 *
 *   t f32[32,2] of x and y as f32[32], r f32[32], then f32[4,8]
 *
 * The body is read once as a graph of its own; applied, its ops are added with the elements along a dim in front.
 */
#include "mlir/batching/batch.h"

struct sw_im_inside {
  uint32_t op, n_args, n_results;
  sw_im_captured captured; /* slots around the region that it reads */
  sw_importer reader;
  sw_graph *body;
};

static void close_inside(void *of) {
  struct sw_im_inside *inside = of;
  sw_im_close_body(&inside->reader, inside->body);
}

/* All elements as the devices of one axis. */
static sw_rc batch_of(sw_importer *m, const struct sw_im_inside *inside, int64_t elements, sw_mesh *mesh, sw_batch *s) {
  *mesh = (sw_mesh){.n_axes = 1};
  mesh->axis[0].size = elements;
  *s = (sw_batch){
      .m = m, .op = inside->op, .reader = &inside->reader, .body = inside->body, .mesh = mesh, .manual = 1, .base = ""};
  s->refs[0] = sw_axis_whole(mesh, 0);
  return sw_batch_prepare(s);
}

/* Does it give scalars, of ops that are all known, whatever its arguments are? */
static sw_rc can_be_batched(sw_importer *m, const struct sw_im_inside *inside, bool *can) {
  const sw_graph *g = inside->body;
  const char *why = NULL;
  sw_mesh mesh;
  sw_batch s;
  *can = g->n_outputs == (int32_t)inside->n_results && g->n_args == (int32_t)(inside->n_args + inside->captured.n);
  for (int32_t i = 0; i < g->n_outputs && *can; i++) *can = g->values[g->outputs[i]].type.rank == 0;
  for (int32_t i = 0; i < g->n_ops && *can; i++) *can = g->ops[i].code != SW_OP_OPAQUE;
  if (!*can) return SW_OK;
  SW_TRY(batch_of(m, inside, 1, &mesh, &s));
  for (uint32_t i = 0; i < inside->n_args; i++) s.varies[g->args[i]] = 1;
  SW_TRY(sw_batch_analyse(&s, &why));
  *can = why == NULL;
  return SW_OK;
}

/* Slots that it reads from around, when tensors are in all of them. */
static sw_rc find_captured(sw_importer *m, struct sw_im_inside *inside, uint32_t block, bool *fits) {
  sw_ir_span text = m->t->regions.at[m->t->blocks.at[block].region].text;
  SW_TRY(sw_im_find_captured(m, inside->op, text, m->names->block[block], &inside->captured));
  *fits = true;
  for (uint32_t i = 0; i < inside->captured.n; i++) {
    *fits = *fits && sw_im_here(m)->slots[inside->captured.slots[i]] >= 0;
  }
  return SW_OK;
}

/* Arguments are scalars. */
static sw_rc takes_scalars(const sw_importer *m, uint32_t block, bool *scalars) {
  const sw_ir_block *b = &m->t->blocks.at[block];
  *scalars = true;
  for (uint32_t i = 0; i < b->n_args && *scalars; i++) {
    sw_type t;
    sw_arena arena = {0};
    sw_rc rc = sw_ir_read_type(m->t, m->t->args.at[b->first_arg + i].type, &arena, &t, m->d);
    *scalars = !rc && t.rank == 0;
    sw_arena_deinit(&arena);
    SW_TRY(rc);
  }
  return SW_OK;
}

sw_rc sw_batch_open_region(sw_importer *m, uint32_t op, uint32_t block, uint32_t n_args, uint32_t n_results,
                           struct sw_im_inside **out) {
  struct sw_im_inside *inside;
  bool fits;
  *out = NULL;
  SW_TRY(takes_scalars(m, block, &fits));
  if (!fits) return SW_OK;
  SW_ARENA_NEW(inside, &m->keep, 1, m->d);
  *inside = (struct sw_im_inside){.op = op, .n_args = n_args, .n_results = n_results};
  SW_TRY(find_captured(m, inside, block, &fits));
  if (!fits) return SW_OK;
  SW_TRY(sw_im_read_region(m, op, block, inside->captured.slots, inside->captured.n, &inside->reader, &inside->body));
  sw_rc rc = can_be_batched(m, inside, &fits);
  if (!rc && fits) rc = sw_arena_at_end(&m->keep, close_inside, inside, m->d);
  if (rc || !fits) close_inside(inside);
  if (!rc && fits) *out = inside;
  return rc;
}

/* Arguments of the body: elements along one dim; scalars, and what is from around, as they are. */
static sw_rc bind_arguments(sw_batch *s, const struct sw_im_inside *inside, const sw_id *args) {
  const sw_graph *g = s->body;
  for (uint32_t i = 0; i < inside->n_args; i++) {
    bool tensor = sw_im_type(s->m, args[i])->rank > 0;
    s->of[g->args[i]] = args[i];
    s->varies[g->args[i]] = tensor;
    if (tensor) SW_TRY(sw_im_reshaped(s->m, s->op, args[i], 1, &s->mesh->axis[0].size, &s->of[g->args[i]]));
  }
  for (uint32_t i = 0; i < inside->captured.n; i++) {
    s->of[g->args[inside->n_args + i]] = sw_im_here(s->m)->slots[inside->captured.slots[i]];
  }
  return SW_OK;
}

sw_rc sw_batch_apply_region(sw_importer *m, struct sw_im_inside *inside, const sw_id *args, const sw_type *shape,
                            sw_id *out) {
  const sw_graph *g = inside->body;
  const char *why = NULL;
  sw_type own = *shape; /* types of the graph move as it grows; their sizes stay */
  sw_mesh mesh;
  sw_batch s;
  SW_TRY(batch_of(m, inside, sw_type_elements(&own), &mesh, &s));
  SW_TRY(bind_arguments(&s, inside, args));
  SW_TRY(sw_batch_analyse(&s, &why));
  if (why) return SW_BUG(m->d, "a region that was looked at cannot be written out: %s", why);
  for (int32_t i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    SW_TRY_NOTE(m->d, sw_batch_write_op(&s, op), "in op '%s' of a region", op->name);
  }
  for (uint32_t i = 0; i < inside->n_results; i++) {
    sw_id v = g->outputs[i];
    SW_TRY(sw_batch_spread(&s, s.of[v], &g->values[v].type, s.varies[v], 1, &out[i]));
    SW_TRY(sw_im_reshaped(m, inside->op, out[i], own.rank, own.dims, &out[i]));
  }
  return SW_OK;
}
