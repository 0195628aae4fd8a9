/* Parts for one device that cannot be taken out (gspmd.h): all of it is opaque, planned replicated, and left alone by
 * the writer.
 *
 *   %1 = custom_call @SPMDFullToShardShape(%0)     tensor<8x4xf32> -> tensor<1x4xf32>: from here on, one device's part
 *   %2 = sine %1                                   nothing here can be cut once more
 *   %3 = custom_call @SPMDShardToFullShape(%2)     the whole again
 */
#include <stdlib.h>

#include "io/mlir/gspmd/gspmd.h"

static int compare_ids(const void *a, const void *b) {
  sw_id x = *(const sw_id *)a, y = *(const sw_id *)b;
  return x < y ? -1 : x > y;
}

static bool is_local(const sw_importer *m, sw_id value) {
  const sw_im_parts *p = sw_gspmd_parts_of(m);
  return p->local.n && bsearch(&value, p->local.at, p->local.n, sizeof value, compare_ids);
}

sw_rc sw_im_local_part(sw_importer *m, uint32_t op, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  bool enters = sw_im_goes_in(m->t, o), inside = enters, leaves = sw_im_goes_out(m->t, o);
  for (uint32_t i = 0; i < o->n_uses && !inside; i++) inside = is_local(m, sw_im_operand(m, op, i));
  *done = inside && !sw_ir_is_return(m->t, o);
  if (!*done) return SW_OK;
  size_t made = sw_im_told(m);
  sw_id first = m->g->n_values;
  const char *what = enters || leaves ? sw_im_string(m, sw_ir_trimmed(m->t, o->symbol)) : "the part of one device";
  SW_TRY(sw_im_opaque(m, op, what));
  sw_im_disown_from(m, made);
  for (sw_id v = first; v < m->g->n_values && !leaves; v++)
    SW_TRY(sw_array_push(&sw_gspmd_parts_of(m)->local, v, m->d));
  return SW_OK;
}
