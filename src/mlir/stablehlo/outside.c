/* Ops that speak of more than numbers: the order of effects, the host, other devices, work that goes on meanwhile.
 *
 *   %t = create_token                     a token: an op without elements, which executes as nothing
 *   %u = outfeed(%x, %t)                  the same; the host that takes x is not there
 *   %v, %w = infeed(%u)                   v is an argument of the program
 *   %f = async_start(%x) { ... }          what it does, at once; async_done(%f) is its result
 *   partition_id                          0 in a program for one device, where collectives leave values as they are
 */
#include "mlir/import/import_emit.h"
#include "mlir/import/tuple.h"
#include "mlir/import/types.h"
#include "mlir/stablehlo/stablehlo.h"

/* --- tokens and the host ------------------------------------------------------------------------------------------ */

sw_rc sw_im_token(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_ir_span name = sw_im_op(m, op)->name;
  if (sw_ir_ends(m->t, name, "outfeed") || sw_ir_ends(m->t, name, "send"))
    SW_TRY(sw_im_warn_once(m, op, "to host", "'%.*s' gives values to the host, which is not there",
                           SW_IR_TEXT(m->t, name)));
  return sw_im_opaque_known(m, op, sw_im_string(m, sw_im_op(m, op)->name));
}

/* Result `i` as an argument; tokens pass. */
static sw_rc make_result_argument(sw_importer *m, uint32_t op, uint32_t i) {
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
  bool tuple = n > 0 && sw_ir_is_tuple_type(m->t, sw_ir_result_type(m->t, o, 0));
  if (sw_im_in_control_flow(m) || tuple || o->n_uses != 1) return sw_im_opaque(m, op, sw_im_string(m, o->name));
  SW_TRY(sw_im_warn_once(m, op, "from host", "'%.*s' takes values from the host: they are arguments of the program",
                         SW_IR_TEXT(m->t, o->name)));
  for (uint32_t i = 0; i < n; i++) SW_TRY(make_result_argument(m, op, i));
  return SW_OK;
}
