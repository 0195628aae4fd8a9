#include "io/mlir/opt/local.h"

#include <string.h>

static void put_dims(sw_local *l, const int64_t *dims, int n, const char *between) {
  for (int i = 0; i < n; i++) sw_text_printf(&l->lines, "%s%lld", i ? between : "", (long long)dims[i]);
}

void sw_local_put_type(sw_local *l, const sw_tensor_text *t) {
  sw_text_puts(&l->lines, "tensor<");
  put_dims(l, t->dims, t->rank, "x");
  sw_text_printf(&l->lines, "%s%.*s>", t->rank ? "x" : "", t->n_element, t->element);
}

static void put_function_type(sw_local *l, const sw_tensor_text *from, const sw_tensor_text *to) {
  sw_text_puts(&l->lines, " : (");
  sw_local_put_type(l, from);
  sw_text_puts(&l->lines, ") -> ");
  sw_local_put_type(l, to);
}

const char *sw_local_begin(sw_local *l, const char *name) {
  if (!name) name = sw_opt_new_name(l->w);
  if (l->lines.n) sw_text_puts(&l->lines, l->indent);
  sw_text_printf(&l->lines, "%s = ", name ? name : "");
  return name;
}

void sw_local_end(sw_local *l) { sw_text_puts(&l->lines, "\n"); }

const char *sw_local_reshape(sw_local *l, const char *x, const sw_tensor_text *from, const sw_tensor_text *to,
                             const char *name) {
  name = sw_local_begin(l, name);
  sw_text_printf(&l->lines, "stablehlo.reshape %s", x);
  put_function_type(l, from, to);
  sw_local_end(l);
  return name;
}

const char *sw_local_transpose(sw_local *l, const char *x, const sw_tensor_text *from, const int *order,
                               sw_tensor_text *to) {
  const char *name = sw_local_begin(l, NULL);
  *to = *from;
  sw_text_printf(&l->lines, "stablehlo.transpose %s, dims = [", x);
  for (int i = 0; i < from->rank; i++) {
    to->dims[i] = from->dims[order[i]];
    sw_text_printf(&l->lines, "%s%d", i ? ", " : "", order[i]);
  }
  sw_text_puts(&l->lines, "]");
  put_function_type(l, from, to);
  sw_local_end(l);
  return name;
}

/* --- what differs by device --------------------------------------------------------------------------------------- */

/* `name = stablehlo.partition_id`, as tensor<i64>. */
static const char *put_id(sw_local *l, const char *op) {
  const char *narrow = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.%s : tensor<ui32>\n", op);
  const char *wide = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.convert %s : (tensor<ui32>) -> tensor<i64>\n", narrow);
  return wide;
}

const char *sw_local_device(sw_local *l) {
  if (l->replicas == 1) return put_id(l, "partition_id");
  const char *replica = put_id(l, "replica_id");
  if (l->partitions == 1) return replica;
  const char *partition = put_id(l, "partition_id"), *n = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.constant dense<%lld> : tensor<i64>\n", (long long)l->partitions);
  const char *first = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.multiply %s, %s : tensor<i64>\n", replica, n);
  const char *device = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.add %s, %s : tensor<i64>\n", first, partition);
  return device;
}

const char *sw_local_number(sw_local *l, const int64_t *by_device) {
  const long long n = (long long)sw_mesh_devices(l->mesh);
  const char *device = sw_local_device(l), *table = sw_local_begin(l, NULL);
  sw_text_puts(&l->lines, "stablehlo.constant dense<[");
  put_dims(l, by_device, (int)n, ", ");
  sw_text_printf(&l->lines, "]> : tensor<%lldxi64>\n", n);
  const char *cell = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines,
                 "stablehlo.dynamic_slice %s, %s, sizes = [1] : (tensor<%lldxi64>, tensor<i64>) -> tensor<1xi64>\n",
                 table, device, n);
  const char *number = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.reshape %s : (tensor<1xi64>) -> tensor<i64>\n", cell);
  return number;
}

const char *sw_local_offset(sw_local *l, const sw_mesh *m, const sw_axis_ref *axes, int n, int64_t step) {
  const int64_t devices = sw_mesh_devices(m);
  int64_t *numbers = sw_arena_alloc(&l->w->arena, (size_t)devices, sizeof *numbers, l->d);
  if (!numbers) return NULL;
  for (int64_t i = 0; i < devices; i++)
    numbers[m->device_ids ? m->device_ids[i] : i] = sw_mesh_group_index(m, i, axes, n) * step;
  return sw_local_number(l, numbers);
}

const char *sw_local_slice(sw_local *l, const char *x, const sw_tensor_text *from, const char *const *starts,
                           const sw_tensor_text *to, const char *name) {
  const char *zero = NULL;
  for (int i = 0; i < from->rank && !zero; i++) {
    if (starts[i]) continue;
    zero = sw_local_begin(l, NULL);
    sw_text_puts(&l->lines, "stablehlo.constant dense<0> : tensor<i64>\n");
  }
  name = sw_local_begin(l, name);
  sw_text_printf(&l->lines, "stablehlo.dynamic_slice %s", x);
  for (int i = 0; i < from->rank; i++) sw_text_printf(&l->lines, ", %s", starts[i] ? starts[i] : zero);
  sw_text_puts(&l->lines, ", sizes = [");
  put_dims(l, to->dims, to->rank, ", ");
  sw_text_puts(&l->lines, "] : (");
  sw_local_put_type(l, from);
  for (int i = 0; i < from->rank; i++) sw_text_puts(&l->lines, ", tensor<i64>");
  sw_text_puts(&l->lines, ") -> ");
  sw_local_put_type(l, to);
  sw_local_end(l);
  return name;
}

const char *sw_local_binary(sw_local *l, const char *op, const char *a, const char *b, const sw_tensor_text *type,
                            const char *name) {
  name = sw_local_begin(l, name);
  sw_text_printf(&l->lines, "stablehlo.%s %s, %s : ", op, a, b);
  sw_local_put_type(l, type);
  sw_local_end(l);
  return name;
}

const char *sw_local_spread(sw_local *l, const char *x, const sw_tensor_text *to, int along) {
  sw_tensor_text wide = {.rank = along >= 0, .element = "i64", .n_element = 3}, from;
  if (along >= 0) wide.dims[0] = to->dims[along];
  from = wide;
  from.element = to->element, from.n_element = to->n_element;
  const char *near = x, *name;
  if (to->n_element != 3 || strncmp(to->element, "i64", 3) != 0) {
    near = sw_local_begin(l, NULL);
    sw_text_printf(&l->lines, "stablehlo.convert %s", x);
    put_function_type(l, &wide, &from);
    sw_local_end(l);
  }
  name = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.broadcast_in_dim %s, dims = [", near);
  if (along >= 0) sw_text_printf(&l->lines, "%d", along);
  sw_text_puts(&l->lines, "]");
  put_function_type(l, &from, to);
  sw_local_end(l);
  return name;
}

const char *sw_local_is_first(sw_local *l, const sw_mesh *m, const sw_axis_ref *axes, int n, const sw_tensor_text *type,
                              const char **zeros) {
  const char *index = sw_local_offset(l, m, axes, n, 1), *zero = sw_local_begin(l, NULL);
  sw_text_puts(&l->lines, "stablehlo.constant dense<0> : tensor<i64>\n");
  const char *first = sw_local_begin(l, NULL);
  sw_text_printf(&l->lines, "stablehlo.compare EQ, %s, %s : (tensor<i64>, tensor<i64>) -> tensor<i1>\n", index, zero);
  *zeros = sw_local_spread(l, zero, type, -1);
  return first;
}
