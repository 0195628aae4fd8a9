/* Steps that compilers do not take as a plan has them: a constraint says where a value shall be, and XLA gathers for
 * what one exchange does. So these are written out, for all devices by hand:
 *
 *   %sw$0 = sdy.manual_computation(%4) in_shardings=[<@mesh, [{"x"}, {"y"}]>] out_shardings=[<@mesh, [{"y"}, {"x"}]>]
 *       manual_axes={"x", "y"} (%sw$in: tensor<4x1xf32>) {
 *     %sw$out = func.call @shardwright.step_0(%sw$in) : (tensor<4x1xf32>) -> tensor<2x2xf32>
 *     sdy.return %sw$out : tensor<2x2xf32>
 *   } : (tensor<8x4xf32>) -> tensor<8x4xf32>
 *
 * Equal steps share a function. A step of uneven blocks, inside a manual computation, or on a mesh with an order of
 * devices of its own is left to the compiler.
 */
#include "base/checked.h"
#include "mlir/emit/emit_sdy.h"
#include "mlir/emit/emit_written.h"
#include "mlir/write/write.h"
#include "shardwright/strategy.h"

static bool is_manual_region(const sw_ir_tree *t, const sw_ir_op *o) {
  while (!sw_ir_is_function(t, o)) {
    if (sw_ir_is(t, o->name, "sdy.manual_computation")) return true;
    o = &t->ops.at[t->regions.at[t->blocks.at[o->block].region].op];
  }
  return false;
}

/* Is the value's type in the text that of the graph? */
static bool is_type(const sw_ir_writer *w, sw_ir_span text, const sw_type *type) {
  sw_text t = {0};
  sw_mlir_type(type, &t);
  const bool same = !sw_ir_len(text) || (!t.rc && sw_ir_is(w->t, sw_ir_trimmed(w->t, text), sw_text_str(&t)));
  sw_text_free(&t);
  return same;
}

sw_rc sw_ir_find_written(sw_ir_writer *w, const sw_ir_op *o, sw_ir_span type_text, const sw_type *type,
                         const sw_sharding *from, const sw_sharding *to, const sw_collective **out) {
  const sw_route *route;
  *out = NULL;
  if (from->n_partial || to->n_partial || w->mesh->device_ids) return SW_OK;
  if (!sw_sharding_is_even(NULL, from, type->dims) || !sw_sharding_is_even(NULL, to, type->dims)) return SW_OK;
  if (is_manual_region(w->t, o) || !is_type(w, type_text, type)) return SW_OK;
  const sw_reshard wanted = {w->plan->job.machine, from, to, type->rank, type->dims, type->dtype, {0}};
  SW_TRY(sw_route_cached(w->routes, &wanted, &route, w->d));
  if (route->n_steps != 1) return SW_OK;
  const sw_collective *c = &route->step[0].coll;
  if ((c->op == SW_COLL_EXCHANGE || c->op == SW_COLL_ALL_TO_ALL_DIMS) && !c->dst->other) *out = c;
  return SW_OK;
}

/* "shardwright.step_", or with a number behind where the text comes with such functions. */
static const char *free_prefix(sw_ir_writer *w) {
  const char *prefix = "shardwright.step_", *first = "shardwright.step_0";
  for (int i = 1; prefix && first && sw_ir_is_taken(w->t, first); i++) {
    prefix = sw_arena_printf(&w->arena, w->d, "shardwright.step_%d_", i);
    first = sw_arena_printf(&w->arena, w->d, "shardwright.step_%d_0", i);
  }
  return first ? prefix : NULL;
}

/* The number of the function that carries the step out on blocks; it is written when it is new. */
static sw_rc find_function(sw_ir_writer *w, const sw_collective *c, const sw_type *type, const sw_sharding *from,
                           const sw_sharding *to, const sw_type blocks[2], int64_t *number) {
  sw_text key = {0}, text = {0};
  int64_t *slot;
  bool fresh = false;
  sw_mlir_type(type, &key);
  sw_sharding_key(from, &key);
  sw_sharding_key(to, &key);
  sw_rc rc = key.rc ? key.rc : sw_dict_put(&w->steps, sw_text_str(&key), key.n, w->n_steps, &slot, &fresh, w->d);
  sw_text_free(&key);
  if (rc) return rc;
  *number = *slot;
  if (!fresh) return SW_OK;
  if (!w->n_steps) {
    w->n_channels = sw_max_i64(0, sw_ir_last_number(w->t, "handle = "));
    w->step_name = free_prefix(w);
    if (!w->step_name) return SW_E_RESOURCE;
  }
  w->n_steps++;
  sw_text_printf(&text, "func.func private @%s%lld", w->step_name, (long long)*number);
  rc = sw_emit_written_hop(w->mesh, c, &blocks[0], &blocks[1], &w->n_channels, &text, w->d);
  const char *line;
  SW_TRY(sw_ir_keep_text(rc, &text, &w->arena, &line, w->d));
  return sw_ir_write_at_top(w, line);
}

static sw_rc put_keyed_sharding(const sw_ir_writer *w, const char *key, const sw_sharding *s, sw_text *out) {
  sw_text_printf(out, " %s=[", key);
  SW_TRY(sw_sdy_sharding(w->mesh, w->mesh_name, s, out, w->d));
  sw_text_puts(out, "]");
  return SW_OK;
}

sw_rc sw_ir_put_written(sw_ir_writer *w, const sw_collective *c, const sw_type *type, const sw_sharding *from,
                        const sw_sharding *to, const char *name, sw_text *out) {
  int64_t dims[2][SW_MAX_RANK], number;
  const sw_type blocks[2] = {{type->dtype, type->rank, dims[0]}, {type->dtype, type->rank, dims[1]}};
  if (!sw_sharding_local_dims(from, type->dims, dims[0]) || !sw_sharding_local_dims(to, type->dims, dims[1]))
    return SW_BUG(w->d, "%s", "a step of blocks that have no extents");
  SW_TRY(find_function(w, c, type, from, to, blocks, &number));
  sw_text_printf(out, "sdy.manual_computation(%s)", name);
  SW_TRY(put_keyed_sharding(w, "in_shardings", from, out));
  SW_TRY(put_keyed_sharding(w, "out_shardings", to, out));
  sw_text_puts(out, " manual_axes={");
  for (int a = 0; a < w->mesh->n_axes; a++) sw_text_printf(out, "%s\"%s\"", a ? ", " : "", w->mesh->axis[a].name);
  sw_text_puts(out, "} (%sw$in: ");
  sw_mlir_type(&blocks[0], out);
  sw_text_printf(out, ") {\n      %%sw$out = func.call @%s%lld(%%sw$in) : (", w->step_name, (long long)number);
  sw_mlir_type(&blocks[0], out);
  sw_text_puts(out, ") -> ");
  sw_mlir_type(&blocks[1], out);
  sw_text_puts(out, "\n      sdy.return %sw$out : ");
  sw_mlir_type(&blocks[1], out);
  sw_text_puts(out, "\n    } : (");
  sw_mlir_type(type, out);
  sw_text_puts(out, ") -> ");
  sw_mlir_type(type, out);
  return out->rc;
}
