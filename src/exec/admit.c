/* What a run on threads takes, before it starts: a thread and its stack for every device, the parts of arguments, and
 * what a device holds at most at one point of the program. */
#include "exec/parallel.h"
#include "base/limits.h"

/* Of a device besides its values: what it touches of its stack, and its place in the communicator. */
enum { DEVICE_BYTES = 64 << 10 };
/* Any machine has as many. */
enum { FEW_BYTES = 256 << 20 };

static int64_t plus(int64_t a, int64_t b) { return b > INT64_MAX - a ? INT64_MAX : a + b; }
static int64_t saturated_product(int64_t a, int64_t b) { return b > 0 && a > INT64_MAX / b ? INT64_MAX : a * b; }

static int64_t type_bytes_or_max(const sw_type *t) {
  int64_t bytes = sw_type_bytes(t);
  return bytes < 0 ? INT64_MAX : bytes;
}

/* A value is held from its op to its last use; arguments are counted apart. */
static int64_t most_held(const sw_graph *g, int32_t *uses_left) {
  int64_t held = 0, most = 0;
  for (int32_t i = 0; i < g->n_values; i++) uses_left[i] = g->values[i].n_uses;
  for (int32_t i = 0; i < g->n_ops && most < INT64_MAX; i++) {
    const sw_op *op = &g->ops[i];
    for (int k = 0; k < op->n_results; k++) held = plus(held, type_bytes_or_max(sw_result_type(g, op, k)));
    if (held > most) most = held;
    for (int k = 0; k < op->n_operands; k++) {
      const sw_value *v = &g->values[op->operands[k]];
      if (--uses_left[op->operands[k]] == 0 && v->def >= 0) held -= type_bytes_or_max(&v->type);
    }
    for (int k = 0; k < op->n_results; k++) {
      if (g->values[op->results[k]].n_uses == 0) held -= type_bytes_or_max(sw_result_type(g, op, k));
    }
  }
  return most;
}

/* Devices with the same part share it; one that all have whole is the caller's. */
static int64_t argument_bytes(const sw_graph *g, const sw_sharding *const *args) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_type *block = &g->values[g->args[i]].type;
    if (!args[i] || (!args[i]->n_refs && !args[i]->n_partial)) continue;
    int64_t parts = sw_axis_refs_size(sw_sharding_partial(args[i]), args[i]->n_partial);
    for (int k = 0; k < block->rank; k++) parts = saturated_product(parts, sw_sharding_shards(args[i], k));
    bytes = plus(bytes, saturated_product(parts, type_bytes_or_max(block)));
  }
  return bytes;
}

sw_rc sw_single_admit(const sw_graph *g, const sw_type *const *types, sw_diag *d) {
  int32_t *uses_left;
  SW_MEM_NEW(uses_left, g->n_values, d);
  int64_t bytes = most_held(g, uses_left);
  sw_mem_free(uses_left);
  for (int32_t i = 0; i < g->n_args; i++) {
    bytes = plus(bytes, type_bytes_or_max(types ? types[i] : &g->values[g->args[i]].type));
  }
  if (bytes < FEW_BYTES) return SW_OK;
  return sw_limits_check(&(sw_needs){.bytes = bytes, .address_bytes = bytes}, "the arguments and values of a run", d);
}

sw_rc sw_parallel_admit(const sw_graph *program, const sw_sharding *const *args, int64_t devices, sw_diag *d) {
  int32_t *uses_left;
  char what[64];
  SW_MEM_NEW(uses_left, program->n_values, d);
  int64_t held = most_held(program, uses_left);
  sw_mem_free(uses_left);
  sw_needs n = {.threads = devices, .mappings = saturated_product(2, devices)};
  n.bytes = plus(saturated_product(plus(held, DEVICE_BYTES), devices), argument_bytes(program, args));
  n.address_bytes = plus(n.bytes, saturated_product(SW_DEVICE_STACK_BYTES, devices));
  snprintf(what, sizeof what, "%lld devices on threads of this machine", (long long)devices);
  return sw_limits_check(&n, what, d);
}
