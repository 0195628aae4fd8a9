/* Shardy's collectives as those of StableHLO, on the parts of devices.
 *
 *   %1 = sdy.all_gather [{"x"}, {}] %0 out_sharding=<@mesh, [{}, {"y"}]> : tensor<8x8xf32>
 *   %1 = "stablehlo.all_gather"(%0) <{all_gather_dim = 0 : i64, replica_groups = dense<[[0, 2], [1, 3]]>, ...}>
 *       : (tensor<4x4xf32>) -> tensor<8x4xf32>
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "io/mlir/opt/local.h"

/* The collective at hand. */
typedef struct call {
  sw_local *l;
  uint32_t op;
  const sw_ir_op *o;
  const sw_mesh *m;
  const char *x, *name; /* of the operand and the result */
  uint32_t from_value, to_value;
  sw_tensor_text from, to;
  const char *combine;         /* of those that reduce: the op of StableHLO */
  sw_axis_ref at[SW_MAX_REFS]; /* axes that it works along: of dimension (parameter) k, [first[k], first[k + 1]) */
  int first[SW_MAX_RANK + 1], n;
  int source[SW_MAX_RANK], target[SW_MAX_RANK]; /* all_to_all: from which dimension to which */
} call;

/* --- reading ------------------------------------------------------------------------------------------------------ */

static const struct {
  const char *word, *op;
} kCombine[] = {{"sum", "add"},      {"add", "add"}, {"max", "maximum"}, {"min", "minimum"}, {"product", "multiply"},
                {"mul", "multiply"}, {"and", "and"}, {"or", "or"},       {"xor", "xor"}};

static sw_rc read_combine(call *c, sw_ir_span word) {
  c->combine = sw_ir_len(word) ? NULL : sw_local_combiner(c->l, c->from_value);
  for (size_t i = 0; i < sizeof kCombine / sizeof *kCombine; i++) {
    if (sw_ir_is(c->l->t, word, kCombine[i].word)) c->combine = kCombine[i].op;
  }
  if (c->combine) return SW_OK;
  return SW_LOCAL_FAIL(c->l, c->op, "found reduction '%.*s'; expected sum, product, max, min, and, or or xor",
                       SW_IR_TEXT(c->l->t, word));
}

/* {"x", "y":(1)2}, behind the axes that are there */
static sw_rc read_axes(call *c, sw_ir_span list) {
  sw_axes axes;
  SW_TRY(sw_sdy_axes_read(&c->l->flow.sdy, c->m, list, &axes));
  if (c->n + axes.n > SW_MAX_REFS) return SW_LOCAL_FAIL(c->l, c->op, "more than %d axes", SW_MAX_REFS);
  memcpy(c->at + c->n, axes.at, (size_t)axes.n * sizeof *axes.at);
  c->n += axes.n;
  return SW_OK;
}

/* {"x"}: 0->1 */
static sw_rc read_move(call *c, sw_ir_span item, int i) {
  uint32_t colon = item.end;
  while (colon > item.at && c->l->t->s[colon - 1] != '}') colon--;
  SW_TRY(read_axes(c, (sw_ir_span){item.at, colon}));
  const char *s = c->l->t->s + colon;
  char *end;
  while (s < c->l->t->s + item.end && !isdigit((unsigned char)*s)) s++;
  const long source = strtol(s, &end, 10);
  while (end < c->l->t->s + item.end && !isdigit((unsigned char)*end)) end++;
  const long target = strtol(end, NULL, 10);
  if (source < 0 || target < 0 || source >= c->from.rank || target >= c->from.rank)
    return SW_LOCAL_FAIL(c->l, c->op, "found dimensions %ld and %ld; the tensor has %d", source, target, c->from.rank);
  c->source[i] = (int)source, c->target[i] = (int)target;
  return SW_OK;
}

/* The list of axes, under its name in the generic form, or in front of the operand; a word may stand before it. */
static sw_rc read_list(call *c, const char *key, bool nested, bool moves) {
  const sw_ir_tree *t = c->l->t;
  sw_ir_span list = sw_ir_attr(t, c->o, key, NULL), item;
  if (!sw_ir_present(list)) {
    list = sw_ir_trimmed(t, c->o->body);
    uint32_t word = list.at;
    while (isalpha((unsigned char)t->s[list.at])) list.at++;
    SW_TRY(read_combine(c, (sw_ir_span){word, list.at}));
  } else {
    sw_ir_span kind = sw_ir_attr(t, c->o, "reduction_op", NULL);
    SW_TRY(read_combine(c, sw_ir_present(kind) ? sw_ir_last_word(t, kind) : (sw_ir_span){0, 0}));
  }
  while (list.at < list.end && t->s[list.at] != (nested ? '[' : '{')) list.at++;
  const sw_ir_span inside = sw_ir_inside(t, list);
  list = (sw_ir_span){list.at, inside.end + 1};
  if (!nested) return read_axes(c, list);
  uint32_t cursor = 0;
  int i = 0;
  for (; sw_ir_next_item(t, list, &cursor, &item) && i < SW_MAX_RANK; i++) {
    c->first[i] = c->n;
    SW_TRY(moves ? read_move(c, item, i) : read_axes(c, item));
    c->first[i + 1] = c->n;
  }
  if (moves || i == c->from.rank) return SW_OK;
  return SW_LOCAL_FAIL(c->l, c->op, "there are %d lists of axes; expected %d, one for each dimension", i, c->from.rank);
}

static int64_t parts(const call *c, int k) {
  return sw_axis_refs_size(c->at + c->first[k], c->first[k + 1] - c->first[k]);
}

static int dims_with_axes(const call *c) {
  int n = 0;
  for (int k = 0; k < c->from.rank; k++) n += c->first[k + 1] > c->first[k];
  return n;
}

/* --- groups ------------------------------------------------------------------------------------------------------- */

static int64_t id_of(const call *c, int64_t position) {
  return c->m->device_ids ? c->m->device_ids[position] : position;
}

/* Without a channel numbers are those of replicas, unless the op says that they are of devices. */
static void put_channel(call *c, bool of_devices) {
  sw_local *l = c->l;
  const bool none = !of_devices && l->partitions == 1 && l->replicas > 1;
  sw_text_printf(&l->lines, "channel_handle = #stablehlo.channel_handle<handle = %lld, type = 1>",
                 none ? 0LL : (long long)++l->n_channels);
}

static void put_mesh_axes(call *c, const sw_axis_ref *axes, int n) {
  sw_text *out = &c->l->lines;
  const sw_open_sharding *s = sw_local_sharding(c->l, c->to_value);
  const sw_ir_span name = c->l->flow.sdy.meshes.at[s->mesh].name;
  sw_text_printf(out, "replica_groups = #stablehlo.replica_group_mesh_axes<mesh = @%.*s, axes = [",
                 SW_IR_TEXT(c->l->t, name));
  for (int i = 0; i < n; i++) {
    const sw_axis_ref a = axes[i];
    sw_text_printf(out, "%s#sdy<axis_ref\"%s\"", i ? ", " : "", c->m->axis[a.axis].name);
    if (a.size != c->m->axis[a.axis].size) sw_text_printf(out, ":(%d)%d", a.pre, a.size);
    sw_text_puts(out, ">");
  }
  sw_text_puts(out, "]>");
}

/* Devices that are alike but for these axes, in their order along them; groups by their first device. */
static void put_groups(call *c, const sw_axis_ref *axes, int n) {
  sw_text *out = &c->l->lines;
  const int64_t devices = sw_mesh_devices(c->m), members = sw_axis_refs_size(axes, n);
  if (c->l->names_axes) {
    put_mesh_axes(c, axes, n);
    return;
  }
  sw_text_puts(out, "replica_groups = dense<[");
  bool first = true;
  for (int64_t device = 0; device < devices; device++) {
    if (sw_mesh_group_index(c->m, device, axes, n)) continue;
    sw_text_puts(out, first ? "[" : ", [");
    for (int64_t i = 0; i < members; i++)
      sw_text_printf(out, "%s%lld", i ? ", " : "", (long long)id_of(c, sw_mesh_group_peer(c->m, device, axes, n, i)));
    sw_text_puts(out, "]");
    first = false;
  }
  sw_text_printf(out, "]> : tensor<%lldx%lldxi64>", (long long)(devices / members), (long long)members);
}

/* `name = "stablehlo.all_gather"(%x) <{`, and what follows the properties. */
static const char *begin_op(call *c, const char *op, const char *x, const char *name) {
  name = sw_local_begin(c->l, name);
  sw_text_printf(&c->l->lines, "\"stablehlo.%s\"(%s) <{", op, x);
  return name;
}

static void end_op(call *c, const sw_tensor_text *from, const sw_tensor_text *to) {
  sw_text_puts(&c->l->lines, " : (");
  sw_local_put_type(c->l, from);
  sw_text_puts(&c->l->lines, ") -> ");
  sw_local_put_type(c->l, to);
  sw_local_end(c->l);
}

static void put_region(call *c) {
  sw_local *l = c->l;
  const char *a = sw_opt_new_name(l->w), *b = sw_opt_new_name(l->w), *y = sw_opt_new_name(l->w);
  const int n = c->from.n_element;
  const char *e = c->from.element;
  if (!a || !b || !y) return;
  sw_text_printf(&l->lines, " ({\n%s^bb0(%s: tensor<%.*s>, %s: tensor<%.*s>):\n", l->indent, a, n, e, b, n, e);
  sw_text_printf(&l->lines, "%s  %s = stablehlo.%s %s, %s : tensor<%.*s>\n", l->indent, y, c->combine, a, b, n, e);
  sw_text_printf(&l->lines, "%s  stablehlo.return %s : tensor<%.*s>\n%s})", l->indent, y, n, e, l->indent);
}

/* --- all_gather, all_slice ---------------------------------------------------------------------------------------- */

static const char *gather_dim(call *c, const char *x, const sw_tensor_text *from, int k, const sw_axis_ref *axes, int n,
                              sw_tensor_text *to, const char *name) {
  *to = *from;
  to->dims[k] *= sw_axis_refs_size(axes, n);
  name = begin_op(c, "all_gather", x, name);
  sw_text_printf(&c->l->lines, "all_gather_dim = %d : i64, ", k);
  put_channel(c, true);
  sw_text_puts(&c->l->lines, ", ");
  put_groups(c, axes, n);
  sw_text_puts(&c->l->lines, ", use_global_device_ids}>");
  end_op(c, from, to);
  return name;
}

/* `lead` sizes in front of a tensor. */
static sw_tensor_text with_leading(const sw_tensor_text *t, const int64_t *lead, int n) {
  sw_tensor_text out = *t;
  out.rank = 0;
  for (int i = 0; i < n; i++) out.dims[out.rank++] = lead[i];
  for (int i = 0; i < t->rank; i++) out.dims[out.rank++] = t->dims[i];
  return out;
}

/* All dimensions at once: parts are gathered along a dimension in front, which is then cut up again. */
static sw_rc gather_at_once(call *c) {
  const int64_t one = 1;
  int64_t lead[SW_MAX_RANK];
  int order[2 * SW_MAX_RANK], n = 0, k = 0;
  if (c->from.rank * 2 > SW_MAX_RANK)
    return SW_LOCAL_FAIL(c->l, c->op,
                         "a tensor has %d dimensions; at most %d can be "
                         "gathered at once (per-dim-all-gather=true)",
                         c->from.rank, SW_MAX_RANK / 2);
  for (int i = 0; i < c->from.rank; i++) {
    if (parts(c, i) > 1) lead[n++] = parts(c, i);
  }
  sw_tensor_text flat = with_leading(&c->from, &one, 1), all, cut = with_leading(&c->from, lead, n), turned;
  const char *x = sw_local_reshape(c->l, c->x, &c->from, &flat, NULL);
  x = gather_dim(c, x, &flat, 0, c->at, c->n, &all, NULL);
  x = sw_local_reshape(c->l, x, &all, &cut, NULL);
  for (int i = 0, at = 0; i < c->from.rank; i++) {
    if (parts(c, i) > 1) order[k++] = at++;
    order[k++] = n + i;
  }
  x = sw_local_transpose(c->l, x, &cut, order, &turned);
  (void)sw_local_reshape(c->l, x, &turned, &c->to, c->name);
  return SW_OK;
}

static sw_rc all_gather(call *c) {
  SW_TRY(read_list(c, "gathering_axes", true, false));
  const int n = dims_with_axes(c);
  if (n > 1 && !c->l->each_dim) return gather_at_once(c);
  const char *x = c->x;
  sw_tensor_text from = c->from, to;
  for (int k = c->from.rank - 1, left = n; k >= 0; k--) {
    if (c->first[k + 1] == c->first[k]) continue;
    x = gather_dim(c, x, &from, k, c->at + c->first[k], c->first[k + 1] - c->first[k], &to, --left ? NULL : c->name);
    from = to;
  }
  return SW_OK;
}

/* What this device keeps of %x, which is cut along c's axes. */
static void slice(call *c, const char *x) {
  const char *starts[SW_MAX_RANK] = {NULL};
  for (int k = 0; k < c->from.rank; k++) {
    const int n = c->first[k + 1] - c->first[k];
    if (n) starts[k] = sw_local_offset(c->l, c->m, c->at + c->first[k], n, c->to.dims[k]);
  }
  (void)sw_local_slice(c->l, x, &c->from, starts, &c->to, c->name);
}

static sw_rc all_slice(call *c) {
  SW_TRY(read_list(c, "slicing_axes", true, false));
  slice(c, c->x);
  return SW_OK;
}

/* --- reductions --------------------------------------------------------------------------------------------------- */

static const char *reduce_all(call *c, const char *name) {
  name = begin_op(c, "all_reduce", c->x, name);
  put_channel(c, true);
  sw_text_puts(&c->l->lines, ", ");
  put_groups(c, c->at, c->n);
  sw_text_puts(&c->l->lines, ", use_global_device_ids}>");
  put_region(c);
  end_op(c, &c->from, &c->from);
  return name;
}

static sw_rc all_reduce(call *c) {
  SW_TRY(read_list(c, "reduction_axes", false, false));
  (void)reduce_all(c, c->name);
  return SW_OK;
}

static const char *scatter_dim(call *c, const char *x, const sw_tensor_text *from, int k, const sw_tensor_text *to,
                               const char *name) {
  name = begin_op(c, "reduce_scatter", x, name);
  put_channel(c, true);
  sw_text_puts(&c->l->lines, ", ");
  put_groups(c, c->at, c->n);
  sw_text_printf(&c->l->lines, ", scatter_dimension = %d : i64, use_global_device_ids}>", k);
  put_region(c);
  end_op(c, from, to);
  return name;
}

/* Several dimensions: their parts stand behind each other in a dimension in front, along which they are scattered. */
static sw_rc scatter_at_once(call *c) {
  int64_t total = 1;
  int order[SW_MAX_RANK], n = 0;
  sw_tensor_text cut = c->from, turned, flat, one;
  if (c->from.rank * 2 > SW_MAX_RANK) {
    slice(c, reduce_all(c, NULL));
    return SW_OK;
  }
  cut.rank = 0;
  for (int k = 0; k < c->from.rank; k++) {
    if (parts(c, k) > 1) order[n++] = cut.rank, cut.dims[cut.rank++] = parts(c, k);
    cut.dims[cut.rank++] = c->to.dims[k];
    total *= parts(c, k);
  }
  for (int k = 0, at = 0; k < c->from.rank; k++) order[n++] = at += parts(c, k) > 1, at++;
  flat = with_leading(&c->to, &total, 1);
  one = with_leading(&c->to, &(int64_t){1}, 1);
  const char *x = sw_local_reshape(c->l, c->x, &c->from, &cut, NULL);
  x = sw_local_transpose(c->l, x, &cut, order, &turned);
  x = sw_local_reshape(c->l, x, &turned, &flat, NULL);
  x = scatter_dim(c, x, &flat, 0, &one, NULL);
  (void)sw_local_reshape(c->l, x, &one, &c->to, c->name);
  return SW_OK;
}

static sw_rc reduce_scatter(call *c) {
  SW_TRY(read_list(c, "reduce_scatter_axes", true, false));
  if (dims_with_axes(c) > 1) {
    if (c->l->scatter_at_once) return scatter_at_once(c);
    slice(c, reduce_all(c, NULL));
    return SW_OK;
  }
  for (int k = 0; k < c->from.rank; k++) {
    if (parts(c, k) > 1) (void)scatter_dim(c, c->x, &c->from, k, &c->to, c->name);
  }
  return SW_OK;
}

/* --- moves -------------------------------------------------------------------------------------------------------- */

static const char *exchange(call *c, const char *x, const sw_tensor_text *from, int cut, int join,
                            const sw_axis_ref *axes, int n, const sw_tensor_text *to, const char *name) {
  name = begin_op(c, "all_to_all", x, name);
  put_channel(c, false);
  sw_text_printf(&c->l->lines, ", concat_dimension = %d : i64, ", join);
  put_groups(c, axes, n);
  sw_text_printf(&c->l->lines, ", split_count = %lld : i64, split_dimension = %d : i64}>",
                 (long long)sw_axis_refs_size(axes, n), cut);
  end_op(c, from, to);
  return name;
}

/* One move after the other: what each sends is what it would as a part of all. */
static sw_rc all_to_all(call *c) {
  if (c->l->replicas > 1 && c->l->partitions > 1)
    return SW_LOCAL_FAIL(c->l, c->op,
                         "an all_to_all is among replicas or among partitions; expected one of them to be 1");
  SW_TRY(read_list(c, "params", true, true));
  const char *x = c->x;
  sw_tensor_text from = c->from, to = c->from;
  for (int i = 0; c->n > c->first[i]; i++) {
    const int64_t n = parts(c, i);
    to.dims[c->target[i]] /= n;
    to.dims[c->source[i]] *= n;
    x = exchange(c, x, &from, c->target[i], c->source[i], c->at + c->first[i], c->first[i + 1] - c->first[i], &to,
                 c->n > c->first[i + 1] ? NULL : c->name);
    from = to;
  }
  return SW_OK;
}

/* A device, and which part of the tensor it has or wants. */
typedef struct holder {
  int64_t part, device;
} holder;

static int by_part(const void *a, const void *b) {
  const holder *x = a, *y = b;
  if (x->part != y->part) return x->part < y->part ? -1 : 1;
  return x->device < y->device ? -1 : x->device > y->device;
}

static int by_device(const void *a, const void *b) {
  const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return x < y ? -1 : x > y;
}

static sw_rc holders(call *c, uint32_t value, holder **out, int64_t n) {
  const sw_open_sharding *s = sw_local_sharding(c->l, value);
  SW_ARENA_NEW(*out, &c->l->w->arena, n, c->l->d);
  for (int64_t i = 0; i < n; i++)
    (*out)[i] = (holder){s ? sw_mesh_group_index(c->m, i, s->cut.refs, s->cut.n_refs) : 0, i};
  qsort(*out, (size_t)n, sizeof **out, by_part);
  return SW_OK;
}

/* Those that have a part send it to those that want it, in the order of devices. */
static sw_rc collective_permute(call *c) {
  const int64_t n = sw_mesh_devices(c->m);
  holder *have, *want;
  int64_t(*pairs)[2];
  if (c->l->replicas > 1 && c->l->partitions > 1)
    return SW_LOCAL_FAIL(c->l, c->op,
                         "a permutation is among replicas or among partitions; expected one of them to be 1");
  SW_TRY(holders(c, c->from_value, &have, n));
  SW_TRY(holders(c, c->to_value, &want, n));
  SW_ARENA_NEW(pairs, &c->l->w->arena, n, c->l->d);
  for (int64_t i = 0; i < n; i++) {
    if (have[i].part != want[i].part)
      return SW_LOCAL_FAIL(c->l, c->op, "a permutation between %s numbers of parts; expected equal ones", "different");
    pairs[i][0] = id_of(c, have[i].device);
    pairs[i][1] = id_of(c, want[i].device);
  }
  qsort(pairs, (size_t)n, sizeof *pairs, by_device);
  (void)begin_op(c, "collective_permute", c->x, c->name);
  put_channel(c, false);
  sw_text_puts(&c->l->lines, ", source_target_pairs = dense<[");
  for (int64_t i = 0; i < n; i++)
    sw_text_printf(&c->l->lines, "%s[%lld, %lld]", i ? ", " : "", (long long)pairs[i][0], (long long)pairs[i][1]);
  sw_text_printf(&c->l->lines, "]> : tensor<%lldx2xi64>}>", (long long)n);
  end_op(c, &c->from, &c->to);
  return SW_OK;
}

/* --- to values that are partial ----------------------------------------------------------------------------------- */

/* What is the same on all devices, of which the parts are one and, of sums, else 0. Combined by maximum and the like
 * it may stay as it is. */
static sw_rc replicated_to_unreduced(call *c) {
  const sw_open_sharding *s = sw_local_sharding(c->l, c->to_value);
  const bool sum = s->cut.partial_kind == SW_REDUCE_SUM;
  SW_TRY(read_list(c, "axes", false, false));
  if (!sum && s->cut.partial_kind != SW_REDUCE_MAX && s->cut.partial_kind != SW_REDUCE_MIN)
    return SW_LOCAL_FAIL(c->l, c->op, "parts are combined in another way than by sum, maximum or minimum");
  if (!sum) {
    (void)sw_local_reshape(c->l, c->x, &c->from, &c->to, c->name);
    return SW_OK;
  }
  const char *none, *first = sw_local_is_first(c->l, c->m, c->at, c->n, &c->from, &none);
  (void)sw_local_begin(c->l, c->name);
  sw_text_printf(&c->l->lines, "stablehlo.select %s, %s, %s : tensor<i1>, ", first, c->x, none);
  sw_local_put_type(c->l, &c->to);
  sw_local_end(c->l);
  return SW_OK;
}

/* A part in its place among zeros. */
static sw_rc sharded_to_unreduced(call *c) {
  const sw_open_sharding *s = sw_local_sharding(c->l, c->to_value);
  const char *starts[SW_MAX_RANK];
  SW_TRY(read_list(c, "axes", true, false));
  if (s->cut.partial_kind != SW_REDUCE_SUM)
    return SW_LOCAL_FAIL(c->l, c->op, "parts are combined in another way than by sum");
  const char *zero = sw_local_begin(c->l, NULL);
  sw_text_puts(&c->l->lines, "stablehlo.constant dense<0> : tensor<i64>\n");
  const char *none = sw_local_spread(c->l, zero, &c->to, -1);
  for (int k = 0; k < c->from.rank; k++) {
    const int n = c->first[k + 1] - c->first[k];
    starts[k] = n ? sw_local_offset(c->l, c->m, c->at + c->first[k], n, c->from.dims[k]) : zero;
  }
  (void)sw_local_begin(c->l, c->name);
  sw_text_printf(&c->l->lines, "stablehlo.dynamic_update_slice %s, %s", none, c->x);
  for (int k = 0; k < c->from.rank; k++) sw_text_printf(&c->l->lines, ", %s", starts[k]);
  sw_text_puts(&c->l->lines, " : (");
  sw_local_put_type(c->l, &c->to);
  sw_text_puts(&c->l->lines, ", ");
  sw_local_put_type(c->l, &c->from);
  for (int k = 0; k < c->from.rank; k++) sw_text_puts(&c->l->lines, ", tensor<i64>");
  sw_text_puts(&c->l->lines, ") -> ");
  sw_local_put_type(c->l, &c->to);
  sw_local_end(c->l);
  return SW_OK;
}

/* --- the table ---------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  sw_rc (*write)(call *c);
} kCollectives[] = {
    {"sdy.all_gather", all_gather},
    {"sdy.all_slice", all_slice},
    {"sdy.all_reduce", all_reduce},
    {"sdy.reduce_scatter", reduce_scatter},
    {"sdy.all_to_all", all_to_all},
    {"sdy.collective_permute", collective_permute},
    {"sdy.replicated_to_unreduced", replicated_to_unreduced},
    {"sdy.sharded_to_unreduced", sharded_to_unreduced},
};

static int row_of(const sw_local *l, uint32_t op) {
  for (int i = 0; i < (int)(sizeof kCollectives / sizeof *kCollectives); i++) {
    if (sw_ir_is(l->t, l->t->ops.at[op].name, kCollectives[i].name)) return i;
  }
  return -1;
}

bool sw_local_is_collective(const sw_local *l, uint32_t op) { return row_of(l, op) >= 0; }

sw_rc sw_local_collective(sw_local *l, uint32_t op) {
  const sw_ir_op *o = &l->t->ops.at[op];
  call c = {.l = l, .op = op, .o = o};
  c.from_value = sw_ir_operand_value(&l->w->values, o, 0);
  c.to_value = sw_ir_result_value(&l->w->values, l->t, o, 0);
  if (c.to_value == SW_IR_NONE) return SW_LOCAL_FAIL(l, op, "a collective without a result");
  const sw_open_sharding *s = sw_local_sharding(l, c.to_value);
  if (!s) return SW_LOCAL_FAIL(l, op, "a collective without a sharding; expected out_sharding=<...>");
  c.m = sw_local_mesh(l, s);
  SW_TRY(sw_local_part(l, c.from_value, &c.from));
  SW_TRY(sw_local_part(l, c.to_value, &c.to));
  c.x = sw_opt_text_of_uses(l->w, c.from_value);
  c.name = sw_local_name(l, op);
  if (!c.x || !c.name) return SW_E_RESOURCE;
  SW_TRY(kCollectives[row_of(l, op)].write(&c));
  return sw_local_replace(l, op);
}
