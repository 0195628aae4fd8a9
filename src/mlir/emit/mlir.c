#include "mlir/emit/mlir.h"

#include "mlir/emit/emit_sdy.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#include "base/checked.h"

void sw_mlir_deinit(sw_mlir *w) {
  sw_array_free(&w->frames);
  sw_dict_deinit(&w->frame_of);
  sw_array_free(&w->results);
  sw_array_free(&w->composites);
  sw_text_free(&w->functions);
  sw_arena_deinit(&w->arena);
}

/* --- names and small pieces ------------------------------------------------------------------------------------- */

static const char *text_or_placeholder(sw_mlir *w, const char *text) {
  if (!text) w->out->rc = SW_E_RESOURCE;
  return text ? text : "%";
}

static bool is_plain_name_char(unsigned char c) { return isalnum(c) || c == '_' || c == '.' || c == '-'; }

const char *sw_mlir_name(sw_mlir *w, const char *name, sw_id id) {
  bool plain = isalpha((unsigned char)*name) || *name == '_';
  for (const char *c = name; *c; c++) plain = plain && is_plain_name_char((unsigned char)*c);
  if (plain) return text_or_placeholder(w, sw_arena_printf(&w->arena, NULL, "%%%s", name));
  char *text = sw_arena_printf(&w->arena, NULL, "%%_%s$%d", name, id);
  if (!text) return text_or_placeholder(w, NULL);
  for (char *c = text + 1; *c; c++) {
    if (!is_plain_name_char((unsigned char)*c)) *c = '_';
  }
  *strrchr(text, '_') = '$'; /* no plain name has one, so none is met twice */
  return text;
}

sw_ssa sw_mlir_value(sw_mlir *w, const sw_graph *g, sw_id id) {
  return (sw_ssa){sw_mlir_name(w, g->values[id].name, id), g->values[id].type};
}

const char *sw_mlir_suffixed(sw_mlir *w, const char *name, const char *suffix, int64_t number) {
  return text_or_placeholder(w, number < 0
                                    ? sw_arena_printf(&w->arena, NULL, "%s$%s", name, suffix)
                                    : sw_arena_printf(&w->arena, NULL, "%s$%s%lld", name, suffix, (long long)number));
}

void sw_mlir_quote(const char *text, sw_text *out) {
  sw_text_puts(out, "\"");
  for (const unsigned char *c = (const unsigned char *)text; *c; c++) {
    if (*c == '"' || *c == '\\' || *c < 0x20 || *c >= 0x7f)
      sw_text_printf(out, "\\%02X", *c);
    else
      sw_text_append(out, (const char *)c, 1);
  }
  sw_text_puts(out, "\"");
}

void sw_mlir_type(const sw_type *t, sw_text *out) {
  if (t->dtype == SW_TOKEN) {
    sw_text_puts(out, "!stablehlo.token");
    return;
  }
  sw_text_puts(out, "tensor<");
  for (int i = 0; i < t->rank; i++) {
    if (t->dims[i] < 0)
      sw_text_puts(out, "?x");
    else
      sw_text_printf(out, "%lldx", (long long)t->dims[i]);
  }
  sw_text_printf(out, "%s>", sw_dtype_mlir(t->dtype));
}

sw_type sw_mlir_shaped(sw_mlir *w, sw_dtype t, int rank, const int64_t *dims) {
  sw_type type = {t, rank, NULL};
  if (rank > 0) type.dims = sw_arena_copy(&w->arena, dims, (size_t)rank, sizeof *dims, NULL);
  if (rank > 0 && !type.dims) {
    w->out->rc = SW_E_RESOURCE;
    type.rank = 0;
  }
  return type;
}

void sw_mlir_list(const int64_t *v, int n, sw_text *out) {
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%lld", i ? ", " : "", (long long)v[i]);
}

static void prop_key(sw_text *props, const char *key) { sw_text_printf(props, "%s%s = ", props->n ? ", " : "", key); }

void sw_prop(sw_text *props, const char *key, const char *fmt, ...) {
  char text[512];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  prop_key(props, key);
  sw_text_puts(props, text);
}

void sw_prop_ints(sw_text *props, const char *key, const int64_t *v, int n) {
  prop_key(props, key);
  sw_text_puts(props, n ? "array<i64: " : "array<i64");
  sw_mlir_list(v, n, props);
  sw_text_puts(props, ">");
}

void sw_prop_int(sw_text *props, const char *key, int64_t v) { sw_prop(props, key, "%lld : i64", (long long)v); }

void sw_prop_pairs(sw_text *props, const char *key, const int64_t *low, const int64_t *high, int n) {
  prop_key(props, key);
  sw_text_puts(props, n ? "dense<[" : "dense<");
  for (int i = 0; i < n; i++) {
    sw_text_printf(props, "%s[%lld, %lld]", i ? ", " : "", (long long)low[i], (long long)high[i]);
  }
  sw_text_printf(props, "%s : tensor<%dx2xi64>", n ? "]>" : ">", n);
}

/* --- lines ------------------------------------------------------------------------------------------------------- */

static void put_names(const sw_ssa *v, int n, sw_text *out) {
  for (int i = 0; i < n; i++) sw_text_printf(out, "%s%s", i ? ", " : "", v[i].name);
}

static void put_types(const sw_ssa *v, int n, sw_text *out) {
  for (int i = 0; i < n; i++) {
    if (i) sw_text_puts(out, ", ");
    sw_mlir_type(&v[i].type, out);
  }
}

/* The number of the frame's alias; those of its callers are made before it. -1: out of memory. */
static int64_t number_frame(sw_mlir *w, const sw_call_frame *f) {
  SW_ARRAY(const sw_call_frame *) fresh = {0};
  const int64_t *known = NULL;
  int64_t number = -1;
  for (; f && !(known = sw_dict_get(&w->frame_of, &f, sizeof f)); f = f->next)
    if (sw_array_push(&fresh, f, NULL)) break;
  if (known) number = *known;
  for (size_t i = fresh.n; i-- > 0;) {
    number = (int64_t)w->frames.n;
    if (sw_array_push(&w->frames, fresh.at[i], NULL) ||
        sw_dict_put(&w->frame_of, &fresh.at[i], sizeof fresh.at[i], number, NULL, NULL, NULL)) {
      w->out->rc = SW_E_RESOURCE;
      number = -1;
      break;
    }
  }
  sw_array_free(&fresh);
  return number;
}

static void put_file(sw_span at, sw_text *out) {
  sw_mlir_quote(at.file ? at.file : "", out);
  sw_text_printf(out, ":%d:%d", at.line, at.col);
}

/* " loc(..)"; nothing where nothing is known. The scope is the name of the whole, unless it is the function's. */
static void put_location(sw_mlir *w, const sw_source *from) {
  const sw_call_frame *stack = from->stack;
  const bool same = stack && stack->function && from->scope && !strcmp(stack->function, from->scope);
  const char *scope = same ? NULL : from->scope;
  if (from->at.line <= 0 && !from->scope && !stack) return;
  sw_text_puts(w->out, " loc(");
  if (scope) sw_mlir_quote(scope, w->out);
  const bool placed = stack || from->at.line > 0;
  if (scope && placed) sw_text_puts(w->out, "(");
  if (stack)
    sw_text_printf(w->out, "#loc%lld", (long long)number_frame(w, stack));
  else if (placed)
    put_file(from->at, w->out);
  if (scope && placed) sw_text_puts(w->out, ")");
  sw_text_puts(w->out, ")");
}

static void put_frame(const sw_call_frame *f, sw_text *out) {
  const bool placed = f->at.line > 0;
  if (f->function) sw_mlir_quote(f->function, out);
  if (f->function && placed) sw_text_puts(out, "(");
  if (placed) put_file(f->at, out);
  if (f->function && placed) sw_text_puts(out, ")");
}

/* The aliases of call stacks, before the module. */
static void put_aliases(sw_mlir *w) {
  sw_text t = {0};
  for (size_t i = 0; i < w->frames.n; i++) {
    const sw_call_frame *f = w->frames.at[i];
    sw_text_printf(&t, "#loc%zu = loc(%s", i, !f->next ? "" : f->beside ? "fused[" : "callsite(");
    put_frame(f, &t);
    if (f->next)
      sw_text_printf(&t, "%s#loc%lld%s", f->beside ? ", " : " at ", (long long)number_frame(w, f->next),
                     f->beside ? "]" : ")");
    sw_text_puts(&t, ")\n");
  }
  if (t.n) {
    sw_text_append(&t, w->out->at + w->begin, w->out->n - w->begin);
    w->out->n = w->begin;
    sw_text_append(w->out, t.at, t.n);
  }
  if (t.rc) w->out->rc = t.rc;
  sw_text_free(&t);
}

void sw_mlir_end_line(sw_mlir *w) {
  put_location(w, &w->at);
  sw_text_puts(w->out, "\n");
}

static const char *note_of(const sw_mlir *w, const char *name) {
  for (size_t i = 0; i < w->results.n; i++) {
    if (w->results.at[i].name == name) return w->results.at[i].sharding;
  }
  return NULL;
}

/* Of a helper beside results: as one of its type lies, else open. */
static void put_note(const sw_mlir *w, const sw_ssa *out, int n, int i, const char *known) {
  const char *note = note_of(w, out[i].name);
  for (int k = 0; k < n && !note; k++) {
    if (sw_type_same_shape(&out[k].type, &out[i].type)) note = note_of(w, out[k].name);
  }
  if (note) {
    sw_text_puts(w->out, note);
    return;
  }
  sw_text_printf(w->out, "%.*s, [", (int)strcspn(known, ","), known);
  for (int k = 0; k < out[i].type.rank; k++) sw_text_puts(w->out, k ? ", {?}" : "{?}");
  sw_text_puts(w->out, "]>");
}

void sw_mlir_put_result_shardings(const sw_mlir *w, const sw_ssa *out, int n) {
  const char *known = NULL;
  for (int i = 0; i < n && !known; i++) known = note_of(w, out[i].name);
  if (!known) return;
  for (int i = 0; i < n; i++) {
    sw_text_puts(w->out, i ? ", " : " {sdy.sharding = #sdy.sharding_per_value<[");
    put_note(w, out, n, i, known);
  }
  sw_text_puts(w->out, "]>}");
}

void sw_mlir_line(sw_mlir *w, const sw_line *l) {
  sw_text_puts(w->out, "    ");
  put_names(l->out, l->n_out, w->out);
  sw_text_printf(w->out, "%s\"%s\"(", l->n_out ? " = " : "", l->op);
  put_names(l->in, l->n_in, w->out);
  sw_text_puts(w->out, ")");
  if (l->props && *l->props) {
    sw_text_puts(w->out, " <{");
    sw_text_puts(w->out, l->props);
    sw_text_puts(w->out, "}>");
  }
  if (l->region) {
    sw_text_puts(w->out, " ");
    sw_text_puts(w->out, l->region);
  }
  sw_mlir_put_result_shardings(w, l->out, l->n_out);
  sw_text_puts(w->out, " : (");
  put_types(l->in, l->n_in, w->out);
  sw_text_puts(w->out, l->n_out == 1 ? ") -> " : ") -> (");
  put_types(l->out, l->n_out, w->out);
  if (l->n_out != 1) sw_text_puts(w->out, ")");
  sw_mlir_end_line(w);
}

void sw_mlir_line_with(sw_mlir *w, sw_line line, sw_text *props, sw_text *region) {
  line.props = sw_text_str(props);
  line.region = region ? sw_text_str(region) : NULL;
  sw_mlir_line(w, &line);
  if (props->rc || (region && region->rc)) w->out->rc = SW_E_RESOURCE;
  sw_text_free(props);
  if (region) sw_text_free(region);
}

sw_ssa sw_mlir_temp(sw_mlir *w, sw_type type) {
  return (sw_ssa){text_or_placeholder(w, sw_arena_printf(&w->arena, NULL, "%%t$%lld", (long long)w->n_temps++)), type};
}

sw_ssa sw_mlir_unary(sw_mlir *w, const char *op, sw_ssa x, sw_type type, const char *props) {
  sw_ssa y = sw_mlir_temp(w, type);
  sw_mlir_line(w, &(sw_line){.op = op, .n_in = 1, .in = &x, .n_out = 1, .out = &y, .props = props});
  return y;
}

sw_ssa sw_mlir_binary(sw_mlir *w, const char *op, sw_ssa a, sw_ssa b, const char *props) {
  sw_ssa in[2] = {a, b}, y = sw_mlir_temp(w, a.type);
  sw_mlir_line(w, &(sw_line){.op = op, .n_in = 2, .in = in, .n_out = 1, .out = &y, .props = props});
  return y;
}

static sw_ssa put_constant(sw_mlir *w, sw_type type, const void *bytes, bool splat) {
  sw_text props = {0};
  sw_ssa y = sw_mlir_temp(w, type);
  prop_key(&props, "value");
  sw_mlir_dense(&type, bytes, splat, &props);
  sw_text_puts(&props, " : ");
  sw_mlir_type(&type, &props);
  sw_mlir_line_with(w, (sw_line){.op = "stablehlo.constant", .n_out = 1, .out = &y}, &props, NULL);
  return y;
}

sw_ssa sw_mlir_constant(sw_mlir *w, sw_type type, const void *element) { return put_constant(w, type, element, true); }
sw_ssa sw_mlir_table(sw_mlir *w, sw_type type, const void *elements) { return put_constant(w, type, elements, false); }

sw_ssa sw_mlir_int(sw_mlir *w, sw_type type, int64_t v) {
  _Alignas(16) unsigned char element[16] = {0};
  if (type.dtype == SW_I64)
    memcpy(element, &v, sizeof v);
  else
    sw_element_store(type.dtype, (double)v, element);
  return sw_mlir_constant(w, type, element);
}

sw_ssa sw_mlir_identity(sw_mlir *w, sw_reduction kind, sw_dtype t) {
  _Alignas(16) unsigned char element[16] = {0};
  sw_reduction_identity_bytes(kind, t, element);
  return sw_mlir_constant(w, (sw_type){t, 0, NULL}, element);
}

sw_ssa sw_mlir_spread(sw_mlir *w, sw_ssa scalar, sw_type type) {
  sw_type t = {scalar.type.dtype, type.rank, type.dims};
  return type.rank == 0
             ? scalar
             : sw_mlir_unary(w, "stablehlo.broadcast_in_dim", scalar, t, "broadcast_dimensions = array<i64>");
}

sw_ssa sw_mlir_compare(sw_mlir *w, const char *direction, sw_ssa a, sw_ssa b) {
  char props[80];
  sw_ssa in[2] = {a, b}, y = sw_mlir_temp(w, (sw_type){SW_BOOL, a.type.rank, a.type.dims});
  snprintf(props, sizeof props, "comparison_direction = #stablehlo<comparison_direction %s>", direction);
  sw_mlir_line(w, &(sw_line){"stablehlo.compare", 2, 1, in, &y, props, NULL});
  return y;
}

sw_ssa sw_mlir_iota(sw_mlir *w, sw_type type, int dim) {
  char props[48];
  sw_ssa y = sw_mlir_temp(w, type);
  snprintf(props, sizeof props, "iota_dimension = %d : i64", dim);
  sw_mlir_line(w, &(sw_line){.op = "stablehlo.iota", .n_out = 1, .out = &y, .props = props});
  return y;
}

void sw_mlir_pad(sw_mlir *w, sw_ssa x, sw_ssa fill, const int64_t *low, const int64_t *high, sw_ssa out) {
  const int64_t none[SW_MAX_RANK] = {0};
  const sw_ssa in[2] = {x, fill};
  sw_text props = {0};
  sw_prop_ints(&props, "edge_padding_high", high, x.type.rank);
  sw_prop_ints(&props, "edge_padding_low", low, x.type.rank);
  sw_prop_ints(&props, "interior_padding", none, x.type.rank);
  sw_mlir_line_with(w, (sw_line){"stablehlo.pad", 2, 1, in, &out, NULL, NULL}, &props, NULL);
}

void sw_mlir_transpose(sw_mlir *w, sw_ssa x, const int64_t *permutation, sw_ssa out) {
  sw_text props = {0};
  sw_prop_ints(&props, "permutation", permutation, x.type.rank);
  sw_mlir_line_with(w, (sw_line){"stablehlo.transpose", 1, 1, &x, &out, NULL, NULL}, &props, NULL);
}

sw_ssa sw_mlir_slice(sw_mlir *w, sw_ssa x, const int64_t *start, sw_type type) {
  int64_t limit[SW_MAX_RANK], strides[SW_MAX_RANK];
  const sw_ssa y = sw_mlir_temp(w, type);
  sw_text props = {0};
  for (int i = 0; i < type.rank; i++) {
    limit[i] = start[i] + type.dims[i];
    strides[i] = 1;
  }
  sw_prop_ints(&props, "limit_indices", limit, type.rank);
  sw_prop_ints(&props, "start_indices", start, type.rank);
  sw_prop_ints(&props, "strides", strides, type.rank);
  sw_mlir_line_with(w, (sw_line){"stablehlo.slice", 1, 1, &x, &y, NULL, NULL}, &props, NULL);
  return y;
}

void sw_mlir_dynamic_slice(sw_mlir *w, const sw_ssa *in, sw_ssa out) {
  sw_text props = {0};
  sw_prop_ints(&props, "slice_sizes", out.type.dims, out.type.rank);
  sw_mlir_line_with(w, (sw_line){"stablehlo.dynamic_slice", 1 + out.type.rank, 1, in, &out, NULL, NULL}, &props, NULL);
}

sw_ssa sw_mlir_fit(sw_mlir *w, sw_ssa x, const int64_t *dims) {
  int64_t more[SW_MAX_RANK], grown[SW_MAX_RANK], none[SW_MAX_RANK] = {0};
  bool grows = false, shrinks = false;
  for (int i = 0; i < x.type.rank; i++) {
    grown[i] = sw_max_i64(x.type.dims[i], dims[i]);
    more[i] = grown[i] - x.type.dims[i];
    grows = grows || more[i] > 0;
    shrinks = shrinks || grown[i] > dims[i];
  }
  if (grows) {
    const sw_ssa y = sw_mlir_temp(w, sw_mlir_shaped(w, x.type.dtype, x.type.rank, grown));
    sw_mlir_pad(w, x, sw_mlir_int(w, (sw_type){x.type.dtype, 0, NULL}, 0), none, more, y);
    x = y;
  }
  return shrinks ? sw_mlir_slice(w, x, none, sw_mlir_shaped(w, x.type.dtype, x.type.rank, dims)) : x;
}

void sw_mlir_alias(sw_mlir *w, sw_ssa x, sw_ssa out) {
  sw_mlir_line(w, &(sw_line){"stablehlo.reshape", 1, 1, &x, &out, NULL, NULL});
}

/* --- the module around it ---------------------------------------------------------------------------------------- */

static void put_grid(const sw_mlir *w, int64_t devices) {
  const sw_mesh *m = w->grid.mesh;
  sw_text_puts(w->out, "  shard.grid @mesh(shape = ");
  for (int i = 0; i < w->grid.n; i++) sw_text_printf(w->out, "%s%d", i ? "x" : "", w->grid.axis[i].size);
  if (w->grid.n == 0) sw_text_puts(w->out, "1"); /* a grid has an axis at least */
  sw_text_puts(w->out, ") {shardwright.axes = [");
  for (int i = 0; i < w->grid.n; i++) {
    sw_text name = {0};
    sw_axis_ref_print(m, w->grid.axis[i], &name);
    if (i) sw_text_puts(w->out, ", ");
    sw_mlir_quote(sw_text_str(&name), w->out);
    sw_text_free(&name);
  }
  sw_text_puts(w->out, "]");
  if (m->device_ids) {
    sw_text_puts(w->out, ", shardwright.device_ids = array<i32: ");
    for (int64_t i = 0; i < devices; i++) sw_text_printf(w->out, "%s%d", i ? ", " : "", m->device_ids[i]);
    sw_text_puts(w->out, ">");
  }
  sw_text_puts(w->out, "}\n");
}

/* The mesh that shardings of arguments and results speak of; partition i is its position i, whatever device that is. */
static void put_positions(const sw_mlir *w) {
  sw_mesh mesh = *w->grid.mesh;
  mesh.device_ids = NULL;
  sw_text_puts(w->out, ", shardwright.mesh = \"");
  sw_mesh_print(&mesh, w->out);
  sw_text_puts(w->out, "\"");
}

void sw_mlir_open_module(sw_mlir *w, const char *form, sw_mlir_devices devices) {
  int64_t n = sw_mesh_devices(w->grid.mesh);
  w->begin = w->out->n;
  sw_text_puts(w->out, "module attributes {");
  if (devices != SW_MLIR_GRID) {
    sw_text_printf(w->out, "mhlo.num_partitions = %lld : i32, mhlo.num_replicas = 1 : i32, ", (long long)n);
  }
  sw_text_printf(w->out, "shardwright.form = \"%s\", shardwright.model = ", form);
  sw_mlir_quote(w->graph->name, w->out);
  if (devices == SW_MLIR_PARTITIONS) put_positions(w);
  sw_text_puts(w->out, "} {\n");
  if (devices == SW_MLIR_GRID) put_grid(w, n);
  if (devices != SW_MLIR_MESH) return;
  sw_text_puts(w->out, "  sdy.mesh @mesh = ");
  sw_sdy_mesh(w->grid.mesh, w->out);
  sw_text_puts(w->out, "\n");
}

void sw_mlir_partial(const sw_mesh *m, const sw_sharding *s, sw_text *out) {
  sw_text_puts(out, sw_reduction_text((sw_reduction)s->partial_kind));
  sw_axis_refs_print(m, sw_sharding_partial(s), s->n_partial, out);
}

static void put_attrs(const char *name, const char *key, const char *value, sw_text *out) {
  sw_text_puts(out, " {shardwright.name = ");
  sw_mlir_quote(name, out);
  if (key) sw_text_printf(out, ", shardwright.%s = %s", key, value);
}

void sw_mlir_open_function(sw_mlir *w, const sw_graph *model, sw_mlir_more more, void *user) {
  static const char *const kKinds[] = {
      [SW_VALUE_INPUT] = "\"input\"", [SW_VALUE_PARAMETER] = "\"parameter\"", [SW_VALUE_STATE] = "\"state\""};
  const sw_graph *g = w->graph;
  sw_text *out = w->out;
  sw_text_puts(out, "  func.func @main(");
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    sw_text_printf(out, "%s%s: ", i ? ",\n      " : "", sw_mlir_name(w, v->name, g->args[i]));
    sw_mlir_type(&v->type, out);
    put_attrs(v->name, "kind", kKinds[v->kind], out);
    if (more) more(user, false, i, out);
    sw_text_puts(out, "}");
    if (v->location) put_location(w, v->location);
  }
  sw_text_puts(out, g->n_args ? ")\n      -> (" : ") -> (");
  for (int32_t i = 0; i < g->n_outputs; i++) {
    char number[24];
    sw_id becomes = model->alias ? model->alias[i] : -1;
    if (i) sw_text_puts(out, ",\n          ");
    sw_mlir_type(&g->values[g->outputs[i]].type, out);
    snprintf(number, sizeof number, "%d : i64", becomes >= 0 ? model->values[becomes].def_index : -1);
    put_attrs(g->output_names[i], becomes >= 0 ? "becomes" : NULL, number, out);
    if (more) more(user, true, i, out);
    sw_text_puts(out, "}");
  }
  sw_text_puts(out, ") {\n");
}

void sw_mlir_close_module(sw_mlir *w) {
  if (w->functions.n) sw_text_append(w->out, w->functions.at, w->functions.n);
  if (w->functions.rc) w->out->rc = w->functions.rc;
  sw_text_puts(w->out, "}\n");
  put_aliases(w);
}

void sw_mlir_return(sw_mlir *w, const sw_ssa *v, int n) {
  sw_text_puts(w->out, "    return");
  if (n) sw_text_puts(w->out, " ");
  put_names(v, n, w->out);
  if (n) sw_text_puts(w->out, " : ");
  put_types(v, n, w->out);
  sw_text_puts(w->out, "\n  }\n");
}
