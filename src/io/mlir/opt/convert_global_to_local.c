/* The program of one device: types are those of its parts, and collectives are StableHLO's.
 *
 * All ops must be able to work on parts (local_check.c); most then only get other types. What differs by device asks
 * for its number. Manual computations say already what a device does: their ops stand in line.
 */
#include <string.h>

#include "io/mlir/opt/local.h"

/* --- text --------------------------------------------------------------------------------------------------------- */

sw_rc sw_local_begin_lines(sw_local *l, uint32_t op) {
  const uint32_t end = l->t->ops.at[op].text.at;
  uint32_t at = end;
  while (at > 0 && (l->t->s[at - 1] == ' ' || l->t->s[at - 1] == '\t')) at--;
  l->indent = at && l->t->s[at - 1] != '\n' ? "" : sw_arena_strndup(&l->w->arena, l->t->s + at, end - at, l->d);
  l->lines.n = 0;
  return l->indent ? SW_OK : SW_E_RESOURCE;
}

/* Without the last end of line. */
static sw_rc take_lines(sw_local *l, const char **out) {
  if (l->lines.rc) return l->lines.rc;
  *out = sw_arena_strndup(&l->w->arena, sw_text_str(&l->lines), l->lines.n ? l->lines.n - 1 : 0, l->d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_local_replace(sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const char *lines;
  SW_TRY(take_lines(l, &lines));
  for (uint32_t i = op; i < l->t->ops.n && l->t->ops.at[i].text.at < o->text.end; i++) l->w->erased[i] = true;
  return sw_ir_replace(&l->w->edits, o->text.at, o->text.end, lines);
}

sw_rc sw_local_put_before(sw_local *l, uint32_t op) {
  const char *lines;
  SW_TRY(take_lines(l, &lines));
  return sw_opt_put_before(l->w, op, lines);
}

sw_rc sw_local_put_behind(sw_local *l, uint32_t op) {
  const char *lines;
  SW_TRY(take_lines(l, &lines));
  return sw_opt_put_behind(l->w, op, lines);
}

const char *sw_local_name(sw_local *l, uint32_t op) {
  const uint32_t value = sw_ir_result_value(&l->w->values, l->t, &l->t->ops.at[op], 0);
  return l->name_of[value] ? l->name_of[value] : sw_opt_value_text(l->w, value);
}

sw_rc sw_local_set_type(sw_local *l, sw_ir_span at, const sw_tensor_text *type) {
  sw_text text = {0}, lines = l->lines;
  l->lines = text;
  sw_local_put_type(l, type);
  text = l->lines;
  l->lines = lines;
  const char *kept = sw_text_keep(&text, &l->w->arena, l->d);
  at = sw_ir_trimmed(l->t, at);
  return kept ? sw_ir_replace(&l->w->edits, at.at, at.end, kept) : SW_E_RESOURCE;
}

sw_rc sw_local_retype(sw_local *l, sw_ir_span type, uint32_t value) {
  sw_tensor_text part;
  if (!sw_local_is_cut(l, value)) return SW_OK;
  SW_TRY(sw_local_part(l, value, &part));
  return sw_local_set_type(l, type, &part);
}

/* --- what stays --------------------------------------------------------------------------------------------------- */

static sw_rc retype_op(sw_local *l, uint32_t op) {
  sw_local_types at = sw_local_types_of(l, op);
  sw_ir_span type;
  uint32_t value;
  while (sw_local_next_type(l, op, &at, &type, &value)) SW_TRY(sw_local_retype(l, type, value));
  return SW_OK;
}

/* Arguments of the op's regions, their names and types. */
static sw_rc edit_arguments(sw_local *l, const sw_ir_op *o) {
  for (uint32_t k = 0; k < sw_ir_region_count(l->t, o); k++) {
    for (uint32_t b = sw_ir_block_at(l->t, o, k); b != SW_IR_NONE; b = l->t->blocks.at[b].next) {
      for (uint32_t i = 0; i < l->t->blocks.at[b].n_args; i++) {
        const sw_ir_arg *a = &l->t->args.at[l->t->blocks.at[b].first_arg + i];
        const uint32_t value = l->w->values.of_block[b] + i;
        const char *name = l->name_of[value];
        if (name) SW_TRY(sw_ir_replace(&l->w->edits, a->name.at - 1, a->name.end, name));
        if (sw_ir_len(a->type)) SW_TRY(sw_local_retype(l, a->type, value));
      }
    }
  }
  return SW_OK;
}

static sw_rc rename_results(sw_local *l, const sw_ir_op *o) {
  for (uint32_t i = 0; i < o->n_results; i++) {
    const uint32_t value = l->w->values.of_result[o->first_result + i];
    const sw_ir_span name = l->t->results.at[o->first_result + i].name;
    if (value == SW_IR_NONE || !l->name_of[value]) continue;
    SW_TRY(sw_ir_replace(&l->w->edits, name.at - 1, name.end, l->name_of[value]));
  }
  return SW_OK;
}

/* --- functions ---------------------------------------------------------------------------------------------------- */

static uint32_t last_op(const sw_ir_tree *t, uint32_t block) {
  uint32_t last = t->blocks.at[block].first_op;
  while (last != SW_IR_NONE && t->ops.at[last].next != SW_IR_NONE) last = t->ops.at[last].next;
  return last;
}

/* What it declares to give is what it returns; a generic one declares its arguments there, too. */
static sw_rc retype_signature(sw_local *l, const sw_ir_op *f) {
  const uint32_t block = sw_ir_block_at(l->t, f, 0);
  if (block == SW_IR_NONE) return SW_OK;
  const uint32_t ret = last_op(l->t, block);
  const sw_ir_span types = f->generic ? sw_ir_entry(l->t, f->props, "function_type") : f->types;
  sw_ir_types_cursor in = sw_ir_operand_types(l->t, types), out = sw_ir_result_types(l->t, types);
  sw_ir_span type;
  for (uint32_t i = 0; f->generic && i < l->t->blocks.at[block].n_args && sw_ir_next_type(l->t, &in, &type); i++)
    SW_TRY(sw_local_retype(l, type, l->w->values.of_block[block] + i));
  for (uint32_t i = 0; ret != SW_IR_NONE && i < l->t->ops.at[ret].n_uses && sw_ir_next_type(l->t, &out, &type); i++)
    SW_TRY(sw_local_retype(l, sw_ir_type_alone(l->t, type), sw_ir_operand_value(&l->w->values, &l->t->ops.at[ret], i)));
  return SW_OK;
}

/* --- manual computations ------------------------------------------------------------------------------------------ */

static sw_rc rename_value(sw_local *l, uint32_t value, uint32_t n) {
  const char *name = sw_opt_new_name(l->w);
  if (!name) return SW_E_RESOURCE;
  for (uint32_t i = 0; i < n; i++) {
    const char *use = n == 1 ? name : sw_arena_printf(&l->w->arena, l->d, "%s#%u", name, i);
    if (!use) return SW_E_RESOURCE;
    l->name_of[value + i] = name;
    sw_opt_replace(l->w, value + i, use);
  }
  return SW_OK;
}

/* Names of a region may be those of others beside it, so all that are in it get new ones. */
static sw_rc rename_inside(sw_local *l, uint32_t op, uint32_t block) {
  const uint32_t end = l->t->ops.at[op].text.end;
  for (uint32_t i = op + 1; i < l->t->ops.n && l->t->ops.at[i].text.at < end; i++) {
    const sw_ir_op *o = &l->t->ops.at[i];
    for (uint32_t k = 0; k < o->n_results; k++) {
      const uint32_t value = l->w->values.of_result[o->first_result + k];
      if (!l->name_of[value]) SW_TRY(rename_value(l, value, l->t->results.at[o->first_result + k].count));
    }
    for (uint32_t k = 0; k < sw_ir_region_count(l->t, o); k++) {
      for (uint32_t b = sw_ir_block_at(l->t, o, k); b != SW_IR_NONE; b = l->t->blocks.at[b].next) {
        for (uint32_t a = 0; b != block && a < l->t->blocks.at[b].n_args; a++) {
          if (!l->name_of[l->w->values.of_block[b] + a]) SW_TRY(rename_value(l, l->w->values.of_block[b] + a, 1));
        }
      }
    }
  }
  return SW_OK;
}

/* Its ops stand where it stood: its arguments are its operands, and its results what it returns. */
static sw_rc put_in_line(sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const uint32_t block = sw_ir_block_at(l->t, o, 0), ret = block == SW_IR_NONE ? block : last_op(l->t, block);
  if (ret == SW_IR_NONE || l->t->ops.at[ret].n_uses != sw_ir_result_count(l->t, o))
    return SW_LOCAL_FAIL(l, op, "a manual computation without a body that returns its results");
  const uint32_t first = l->t->blocks.at[block].first_op;
  SW_TRY(rename_inside(l, op, block));
  for (uint32_t i = 0; i < l->t->blocks.at[block].n_args && i < o->n_uses; i++)
    sw_opt_forward(l->w, l->w->values.of_block[block] + i, sw_ir_operand_value(&l->w->values, o, i));
  for (uint32_t i = 0; i < l->t->ops.at[ret].n_uses; i++) {
    const uint32_t inner = sw_ir_operand_value(&l->w->values, &l->t->ops.at[ret], i);
    const uint32_t outer = sw_ir_result_value(&l->w->values, l->t, o, i);
    sw_tensor_text a, b;
    if (outer == SW_IR_NONE) continue;
    SW_TRY(sw_local_part(l, inner, &a));
    SW_TRY(sw_local_part(l, outer, &b));
    if (a.rank != b.rank || memcmp(a.dims, b.dims, (size_t)(a.rank > 0 ? a.rank : 0) * sizeof *a.dims) != 0)
      return SW_LOCAL_FAIL(l, op, "result %u is not cut as what is returned; expected a reshard of it", i);
    sw_opt_forward(l->w, outer, inner);
  }
  l->w->erased[op] = l->w->erased[ret] = true;
  SW_TRY(sw_ir_replace(&l->w->edits, o->text.at, l->t->ops.at[first].text.at, ""));
  return sw_ir_replace(&l->w->edits, l->t->ops.at[ret].text.at, o->text.end, "");
}

/* --- all ops ------------------------------------------------------------------------------------------------------ */

static sw_rc convert_op(sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  bool kept = true;
  if (l->w->values.function_of[op] == SW_IR_NONE || l->w->erased[op]) return SW_OK;
  SW_TRY(sw_local_begin_lines(l, op));
  if (sw_ir_is_function(l->t, o)) {
    SW_TRY(edit_arguments(l, o));
    return retype_signature(l, o);
  }
  if (sw_ir_is(l->t, o->name, "sdy.manual_computation")) return put_in_line(l, op);
  if (sw_local_is_collective(l, op)) return sw_local_collective(l, op);
  SW_TRY(sw_local_op(l, op, &kept));
  if (!kept) return SW_OK;
  SW_TRY(rename_results(l, o));
  SW_TRY(edit_arguments(l, o));
  return l->whole == op ? SW_OK : retype_op(l, op);
}

/* What the module says of devices is no longer 1. */
static sw_rc count_devices(sw_local *l) {
  static const char *const kKeys[] = {"mhlo.num_partitions", "mhlo.num_replicas"};
  for (uint32_t i = 0; i < l->t->ops.n; i++) {
    if (!sw_ir_is_among(l->t, l->t->ops.at[i].name, "module builtin.module")) continue;
    for (int k = 0; k < 2; k++) {
      const sw_ir_span v = sw_ir_attr(l->t, &l->t->ops.at[i], kKeys[k], NULL);
      const long long n = (long long)(k ? l->replicas : l->partitions);
      if (sw_ir_present(v))
        SW_TRY(sw_ir_replace(&l->w->edits, v.at, v.end, sw_arena_printf(&l->w->arena, l->d, "%lld : i32", n)));
    }
  }
  return SW_OK;
}

/* Channels that the text has are taken. */
static void find_channels(sw_local *l) {
  for (uint32_t i = 0; i < l->t->ops.n; i++) {
    int64_t n;
    sw_ir_span v = sw_ir_attr(l->t, &l->t->ops.at[i], "channel_handle", "channel_handle");
    if (!sw_ir_present(v)) continue;
    v = sw_ir_entry(l->t, sw_ir_inside(l->t, v), "handle");
    if (sw_ir_read_int(l->t, v, &n) && n > l->n_channels) l->n_channels = n;
  }
}

static sw_rc read_options(sw_local *l) {
  const int64_t devices = l->mesh ? sw_mesh_devices(l->mesh) : 1;
  SW_TRY(sw_opt_flag(l->w, "per-dim-all-gather", false, &l->each_dim));
  SW_TRY(sw_opt_flag(l->w, "combine-multi-dimension-reduce-scatter", false, &l->scatter_at_once));
  SW_TRY(sw_opt_flag(l->w, "enable-rgv3", false, &l->names_axes));
  SW_TRY(sw_opt_count(l->w, "replica-count", &l->replicas));
  l->partitions = devices / l->replicas;
  SW_TRY(sw_opt_count(l->w, "partition-count", &l->partitions));
  if (l->replicas * l->partitions == devices) return SW_OK;
  return SW_FAIL(l->d, SW_E_USAGE, SW_NOWHERE,
                 "%lld replicas of %lld partitions; expected %lld devices in all, as the mesh has",
                 (long long)l->replicas, (long long)l->partitions, (long long)devices);
}

static sw_rc convert(sw_local *l) {
  SW_TRY(sw_local_refuse(l));
  SW_TRY(sw_local_read(l));
  SW_TRY(read_options(l));
  if (!l->mesh) return SW_OK;
  SW_TRY(sw_local_check(l));
  SW_ARENA_NEW(l->name_of, &l->w->arena, l->w->values.n, l->d);
  SW_TRY(count_devices(l));
  find_channels(l);
  for (uint32_t i = 0; i < l->t->ops.n; i++) SW_TRY(convert_op(l, i));
  return SW_OK;
}

static sw_rc convert_global_to_local(sw_opt_work *w) { return sw_local_pass(w, convert); }

const sw_opt_pass sw_pass_convert_global_to_local = {
    "convert-global-to-local", "make the program that one device runs",
    "per-dim-all-gather=BOOL: gather one dimension after the other\n"
    "combine-multi-dimension-reduce-scatter=BOOL: scatter several dimensions at once\n"
    "enable-rgv3=BOOL: say groups by axes of the mesh\n"
    "replica-count=N: replicas; 1 when not given\n"
    "partition-count=N: partitions of each replica\n",
    false, convert_global_to_local};
