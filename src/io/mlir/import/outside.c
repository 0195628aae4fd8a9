/* Ops that speak of more than numbers: the order of effects, the host, other devices, work that goes on meanwhile.
 *
 *   %t = create_token                     a token: an op without elements, which executes as nothing
 *   %u = outfeed(%x, %t)                  the same; the host that takes x is not there
 *   %v, %w = infeed(%u)                   v is an argument of the program
 *   %f = async_start(%x) { ... }          what it does, at once; async_done(%f) is its result
 *   partition_id                          0 in a program for one device, where collectives leave values as they are
 */
#include <string.h>

#include "io/mlir/import/import.h"
#include "io/mlir/import/tuple.h"
#include "io/mlir/import/types.h"

static bool is_named(const sw_importer *m, uint32_t op, const char *word) {
  sw_ir_span name = sw_im_op(m, op)->name;
  size_t n = strlen(word);
  return sw_ir_len(name) > n && memcmp(m->t->s + name.end - n, word, n) == 0;
}

/* A warning once for each kind of op. */
static sw_rc warn_once(sw_importer *m, uint32_t op, const char *what) {
  bool fresh;
  sw_ir_span name = sw_im_op(m, op)->name;
  SW_TRY(sw_dict_put(&m->warned, what, strlen(what), 0, NULL, &fresh, m->d));
  if (fresh) sw_im_warn(m, sw_im_op(m, op)->text.at, "'%.*s' %s", (int)sw_ir_len(name), m->t->s + name.at, what);
  return SW_OK;
}

/* --- tokens and the host ------------------------------------------------------------------------------------------ */

sw_rc sw_im_token(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  if (is_named(m, op, "outfeed") || is_named(m, op, "send"))
    SW_TRY(warn_once(m, op, "gives values to the host, which is not there"));
  return sw_im_opaque_known(m, op, sw_im_string(m, sw_im_op(m, op)->name));
}

static bool in_control_flow(const sw_importer *m) {
  for (size_t i = 0; i < m->walks.n; i++) {
    sw_ir_frame_kind kind = m->walks.at[i].kind;
    if (kind >= SW_IR_IN_TEST && kind <= SW_IR_IN_SCAN) return true;
  }
  return false;
}

/* Result `i` as an argument; tokens pass. */
static sw_rc take_result(sw_importer *m, uint32_t op, uint32_t i) {
  sw_type t;
  sw_id id;
  const char *name = sw_arena_printf(&m->scratch, m->d, "%s.%u", sw_im_string(m, sw_im_op(m, op)->name), i);
  SW_TRY(sw_im_result_type(m, op, (int)i, &t));
  if (t.dtype == SW_TOKEN) return sw_im_bind(m, op, i, sw_im_operand(m, op, 0), false);
  SW_TRY(name ? sw_im_fresh_name(m, name, &name) : SW_E_RESOURCE);
  SW_TRY(sw_graph_add_arg(m->g, name, t.dtype, t.rank, t.dims, SW_VALUE_INPUT, sw_im_place(m, op), &id, m->d));
  return sw_im_bind(m, op, i, id, true);
}

sw_rc sw_im_from_host(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = sw_ir_result_count(m->t, o);
  bool tuple = n > 0 && sw_ir_is_tuple_type(m->t, sw_ir_result_type(m->t, o->types, 0));
  if (in_control_flow(m) || tuple || o->n_uses != 1) return sw_im_opaque(m, op, sw_im_string(m, o->name));
  SW_TRY(warn_once(m, op, "takes values from the host: they are arguments of the program"));
  for (uint32_t i = 0; i < n; i++) SW_TRY(take_result(m, op, i));
  return SW_OK;
}

/* --- meanwhile ---------------------------------------------------------------------------------------------------- */

sw_rc sw_im_async_start(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  if (o->first_region != SW_IR_NONE) return sw_im_named_computation(m, row, op);
  sw_ir_span callee = sw_ir_attr(m->t, o, "called_computation", NULL);
  if (!sw_ir_present(callee)) return SW_IM_FAIL(m, op, "expected a region or a 'called_computation'");
  return sw_im_inline(m, op, sw_ir_unquoted(m->t, callee));
}

/* --- one device --------------------------------------------------------------------------------------------------- */

/* replica_groups of one member each, [[0]]: a row of digits between brackets, no comma inside of inner ones. */
static bool groups_of_one(const sw_importer *m, uint32_t op) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "replica_groups", NULL);
  int depth = 0;
  if (!sw_ir_present(v)) return false;
  for (uint32_t i = v.at; i < v.end && m->t->s[i] != ':'; i++) {
    char c = m->t->s[i];
    depth += (c == '[') - (c == ']');
    if (c == ',' && depth >= 2) return false;
  }
  return true;
}

/* In a program for one device, whose number is 0, a collective has nobody to talk to. */
sw_rc sw_im_alone(sw_importer *m, uint32_t op, bool *done) {
  *done = false;
  if (is_named(m, op, "partition_id") || is_named(m, op, "replica_id")) {
    static const uint32_t kZero = 0;
    sw_im_attrs a = {.n = 0};
    *done = m->one_device;
    if (!*done) return SW_OK;
    sw_im_numbers(&a, SW_ATTR_SHAPE, NULL, 0);
    sw_im_int(&a, SW_ATTR_DTYPE, SW_U32);
    a.at[a.n++] = (sw_attr){.key = SW_ATTR_VALUE, .u.data = {&kZero, true}};
    return sw_im_emit(m, op, &(sw_im_add){.code = SW_OP_CONSTANT, .attrs = &a}, NULL);
  }
  uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, op));
  *done = groups_of_one(m, op) && sw_im_op(m, op)->n_uses == n;
  for (uint32_t i = 0; *done && i < n; i++) { /* (lengths of dims stay) */
    sw_type t;
    SW_TRY(sw_im_result_type(m, op, (int)i, &t));
    *done = sw_type_equal(&t, &m->g->values[sw_im_operand(m, op, i)].type);
  }
  return *done ? sw_im_identity(m, NULL, op) : SW_OK;
}
