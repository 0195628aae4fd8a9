#include "io/mlir/opt/local.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "io/mlir/import/value_types.h"

/* --- types -------------------------------------------------------------------------------------------------------- */

/* Sizes are numbers with an x behind each. */
static sw_tensor_text read_tensor(const sw_ir_tree *t, sw_ir_span type) {
  sw_tensor_text out = {.rank = -1};
  type = sw_ir_resolved(t, sw_ir_trimmed(t, type));
  if (!sw_ir_starts(t, type, "tensor<")) return out;
  uint32_t at = type.at + (uint32_t)strlen("tensor<");
  int rank = 0;
  while (isdigit((unsigned char)t->s[at])) {
    char *end;
    const int64_t n = strtoll(t->s + at, &end, 10);
    if (*end != 'x' || rank == SW_MAX_RANK) return out;
    out.dims[rank++] = n;
    at = (uint32_t)(end - t->s) + 1;
  }
  if (t->s[at] == '?' || t->s[at] == '*') return out;
  out.element = t->s + at;
  out.n_element = (int)(type.end - 1 - at);
  out.rank = rank;
  return out;
}

sw_tensor_text sw_local_whole(const sw_local *l, uint32_t value) { return read_tensor(l->t, l->type[value]); }

const sw_open_sharding *sw_local_sharding(const sw_local *l, uint32_t value) {
  const int32_t tensor = value == SW_IR_NONE ? -1 : l->tensor_of[value];
  return tensor >= 0 && l->sharding[tensor].mesh >= 0 ? &l->sharding[tensor] : NULL;
}

bool sw_local_is_cut(const sw_local *l, uint32_t value) {
  const sw_open_sharding *s = sw_local_sharding(l, value);
  return s && s->cut.n_refs > 0;
}

const sw_mesh *sw_local_mesh(const sw_local *l, const sw_open_sharding *s) {
  return &l->flow.sdy.meshes.at[s->mesh].mesh;
}

static sw_span place_of(const sw_local *l, uint32_t value) {
  return sw_ir_place(l->t, sw_ir_trimmed(l->t, l->type[value]).at);
}

sw_rc sw_local_part(const sw_local *l, uint32_t value, sw_tensor_text *out) {
  const sw_open_sharding *s = sw_local_sharding(l, value);
  *out = sw_local_whole(l, value);
  if (!s || !s->cut.n_refs) return SW_OK;
  if (out->rank != s->cut.rank)
    return SW_FAIL_INPUT(l->d, place_of(l, value), "a value without known sizes is cut; expected tensor<4x8xf32>");
  for (int k = 0; k < out->rank; k++) {
    int n;
    const sw_axis_ref *axes = sw_sharding_dim(&s->cut, k, &n);
    const int64_t parts = sw_axis_refs_size(axes, n);
    if (out->dims[k] % parts)
      return SW_FAIL_INPUT(l->d, place_of(l, value),
                           "dimension %d, of %lld, is cut into %lld parts; expected parts that are equal (pass "
                           "pad-for-divisibility makes them)",
                           k, (long long)out->dims[k], (long long)parts);
    out->dims[k] /= parts;
  }
  return SW_OK;
}

/* --- types of ops ------------------------------------------------------------------------------------------------- */

static uint32_t count(const sw_ir_tree *t, sw_ir_types_cursor c) {
  sw_ir_span type;
  uint32_t n = 0;
  while (sw_ir_next_type(t, &c, &type)) n++;
  return n;
}

/* `reduce(%x init: %i), (%y init: %j)` has the types of the inputs first. */
static uint32_t operand_at(const sw_local *l, const sw_ir_op *o, uint32_t i) {
  const bool pairs = !o->generic && sw_ir_ends(l->t, o->name, ".reduce") && o->n_uses % 2 == 0;
  const uint32_t half = o->n_uses / 2;
  if (pairs) i = i < half ? 2 * i : 2 * (i - half) + 1;
  return i < o->n_uses ? sw_ir_operand_value(&l->w->values, o, i) : SW_IR_NONE;
}

static uint32_t result_at(const sw_local *l, const sw_ir_op *o, uint32_t i) {
  return sw_ir_result_value(&l->w->values, l->t, o, i);
}

/* The type of `select %p, %a, %b : tensor<i1>, tensor<8xf32>` at place i, and of others that say but the last. */
static uint32_t value_without_arrow(const sw_local *l, const sw_ir_op *o, uint32_t i, uint32_t n) {
  if (sw_ir_lists_operands(l->t, o)) return operand_at(l, o, i);
  if (i + 1 < n) return operand_at(l, o, i);
  return sw_ir_result_count(l->t, o) ? result_at(l, o, 0) : operand_at(l, o, 0);
}

sw_local_types sw_local_types_of(const sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const sw_ir_types_cursor c = sw_ir_operand_types(l->t, o->types);
  if (sw_ir_is_function(l->t, o) || !sw_ir_len(o->types)) return (sw_local_types){0};
  return (sw_local_types){c, 0, count(l->t, c), sw_ir_has_function_type(l->t, o)};
}

bool sw_local_next_type(const sw_local *l, uint32_t op, sw_local_types *at, sw_ir_span *type, uint32_t *value) {
  const sw_ir_op *o = &l->t->ops.at[op];
  if (at->arrow && at->i == at->n_operands) at->c = sw_ir_result_types(l->t, o->types);
  if (!sw_ir_next_type(l->t, &at->c, type)) return false;
  const uint32_t i = at->i++;
  if (!at->arrow)
    *value = value_without_arrow(l, o, i, at->n_operands);
  else
    *value = i < at->n_operands ? operand_at(l, o, i) : result_at(l, o, i - at->n_operands);
  return true;
}

bool sw_local_types_known(const sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const uint32_t n = count(l->t, sw_ir_operand_types(l->t, o->types));
  if (!sw_ir_len(o->types)) return !o->n_uses && !o->n_results;
  if (sw_ir_has_function_type(l->t, o)) return n == o->n_uses;
  if (sw_ir_lists_operands(l->t, o)) return n == o->n_uses;
  return n == 1 || (n == 2 && sw_ir_ends(l->t, o->name, ".select"));
}

/* --- types of values ---------------------------------------------------------------------------------------------- */

static void type_results(sw_local *l, const sw_ir_op *o) {
  const bool listed = sw_ir_has_function_type(l->t, o) || sw_ir_lists_operands(l->t, o);
  const uint32_t n = sw_ir_result_count(l->t, o);
  sw_ir_types_cursor c = sw_ir_result_types(l->t, o->types);
  for (uint32_t i = 0; i < n && sw_ir_len(o->types); i++) {
    const uint32_t value = result_at(l, o, i);
    sw_ir_span type = {0, 0};
    const bool is = listed ? sw_ir_next_type(l->t, &c, &type) : true;
    if (!listed) type = sw_ir_result_type(l->t, o->types, (int)i);
    if (is && value != SW_IR_NONE) l->type[value] = type;
  }
}

/* Arguments of `while(%i = %x)` have the types of the list. */
static void type_arguments(sw_local *l, uint32_t block) {
  const sw_ir_block *b = &l->t->blocks.at[block];
  const sw_ir_op *o = &l->t->ops.at[l->t->regions.at[b->region].op];
  sw_ir_types_cursor c = {0};
  if (sw_ir_lists_operands(l->t, o)) c = sw_ir_operand_types(l->t, o->types);
  for (uint32_t i = 0; i < b->n_args; i++) {
    sw_ir_span own = l->t->args.at[b->first_arg + i].type, said = {0, 0};
    if (c.list.end && !sw_ir_next_type(l->t, &c, &said)) said = own;
    if (l->w->values.of_block[block] != SW_IR_NONE)
      l->type[l->w->values.of_block[block] + i] = sw_ir_len(own) ? own : said;
  }
}

/* --- shardings ---------------------------------------------------------------------------------------------------- */

/* Without the axes that are manual. */
static sw_open_sharding without(const sw_open_sharding *s, const sw_axis_ref *axes, int n) {
  sw_open_sharding out = {.mesh = s->mesh, .cut = sw_sharding_replicated(s->cut.rank)};
  for (int i = 0; s->mesh >= 0 && i < s->cut.n_refs; i++) {
    bool manual = false;
    for (int k = 0; k < n; k++) manual = manual || axes[k].axis == s->cut.refs[i].axis;
    if (!manual) (void)sw_sharding_push(&out.cut, s->cut.dim_of[i], s->cut.refs[i]);
  }
  return out;
}

/* Arguments of manual computations are cut as in_shardings say, but for the manual axes, and results as out_shardings
 * say: there is an edge from what these are said of to each result. */
static sw_rc say_of_computations(sw_local *l) {
  bool *is_result;
  SW_ARENA_NEW(is_result, &l->w->arena, l->flow.flow.n_tensors, l->d);
  for (int32_t i = 0; i < l->flow.flow.n_steps; i++) {
    const sw_flow_step *s = &l->flow.flow.steps[i];
    if (!s->n_manual) continue;
    const int32_t whole = s->tensors[s->outside], inside = s->tensors[!s->outside];
    is_result[whole] = s->outside == 1;
    if (s->outside == 0) l->sharding[inside] = without(&l->sharding[whole], s->manual, s->n_manual);
  }
  for (int32_t i = 0; i < l->flow.flow.n_steps; i++) {
    const sw_flow_step *s = &l->flow.flow.steps[i];
    if (!s->rule && !s->n_manual && s->n_operands == 1 && is_result[s->tensors[0]])
      l->sharding[s->tensors[1]] = l->sharding[s->tensors[0]];
  }
  return SW_OK;
}

/* Devices of all meshes are the same; one without axes names a device. */
static sw_rc find_mesh(sw_local *l) {
  for (size_t i = 0; i < l->flow.sdy.meshes.n; i++) {
    const sw_text_mesh *m = &l->flow.sdy.meshes.at[i];
    const int64_t n = sw_mesh_devices(&m->mesh);
    if (!m->mesh.n_axes && m->mesh.device_ids)
      return SW_FAIL_INPUT(l->d, sw_ir_place(l->t, m->name.at), "what one device has alone cannot be made local");
    if (l->mesh && sw_mesh_devices(l->mesh) != n && n > 1)
      return SW_FAIL_INPUT(l->d, sw_ir_place(l->t, m->name.at), "a mesh of %lld devices beside one of %lld",
                           (long long)n, (long long)sw_mesh_devices(l->mesh));
    if (!l->mesh || n > 1) l->mesh = &m->mesh;
  }
  return SW_OK;
}

static sw_rc number_values(sw_local *l) {
  const sw_ir_values *v = &l->w->values;
  SW_ARENA_NEW(l->tensor_of, &l->w->arena, v->n, l->d);
  SW_ARENA_NEW(l->type, &l->w->arena, v->n, l->d);
  for (uint32_t i = 0; i < v->n; i++) l->tensor_of[i] = -1;
  for (uint32_t op = 0; op < l->t->ops.n; op++) {
    const sw_ir_op *o = &l->t->ops.at[op];
    const uint32_t block = sw_ir_is_function(l->t, o) ? sw_ir_block_at(l->t, o, 0) : SW_IR_NONE;
    if (block == SW_IR_NONE) continue;
    const uint32_t base = v->of_block[block] - l->w->names->block[block];
    for (uint32_t i = 0; i < l->w->names->n_slots[op]; i++) l->tensor_of[base + i] = l->flow.tensors_in[op][i];
  }
  return SW_OK;
}

sw_rc sw_local_pass(sw_opt_work *w, sw_rc (*work)(sw_local *l)) {
  sw_local l = {.w = w, .t = w->t, .whole = SW_IR_NONE, .replicas = 1, .partitions = 1, .d = w->d};
  const sw_rc rc = work(&l);
  sw_program_flow_free(&l.flow);
  sw_text_free(&l.lines);
  return rc;
}

sw_rc sw_local_read(sw_local *l) {
  SW_TRY(sw_program_flow_read(l->t, l->w->names, SW_READ_SCALARS, &l->flow, l->d));
  SW_TRY(number_values(l));
  l->sharding = sw_arena_copy(&l->w->arena, l->flow.said.at, l->flow.said.n, sizeof *l->sharding, l->d);
  if (!l->sharding) return SW_E_RESOURCE;
  for (uint32_t i = 0; i < l->t->ops.n; i++) {
    if (l->w->values.function_of[i] == SW_IR_NONE) continue;
    if (!sw_ir_is_function(l->t, &l->t->ops.at[i])) type_results(l, &l->t->ops.at[i]);
  }
  for (uint32_t i = 1; i < l->t->blocks.n; i++) type_arguments(l, i);
  SW_TRY(say_of_computations(l));
  return find_mesh(l);
}
