/* One step of a route as a function of a device's block, in StableHLO alone: for compilers that are told what the step
 * gives and would bring it about in another way.
 */
#include "mlir/emit/emit_written.h"

#include "mlir/emit/spmd_collective.h"

static sw_rc write_step_function(sw_spmd_writer *s, const sw_collective *c, const sw_type *in, const sw_type *out,
                                 sw_diag *d) {
  const sw_ssa x = {"%x", *in}, y = {"%y", *out};
  SW_TRY(sw_spmd_use_axes(s, c, d));
  sw_text_puts(s->w.out, "(%x: ");
  sw_mlir_type(in, s->w.out);
  sw_text_puts(s->w.out, ") -> ");
  sw_mlir_type(out, s->w.out);
  sw_text_puts(s->w.out, " {\n");
  SW_TRY(sw_spmd_write_collective(s, c, x, y, d));
  sw_text_puts(s->w.out, "    return %y : ");
  sw_mlir_type(out, s->w.out);
  sw_text_puts(s->w.out, "\n  }");
  return s->w.out->rc ? SW_FAIL(d, s->w.out->rc, SW_NOWHERE, "out of memory") : SW_OK;
}

sw_rc sw_emit_written_hop(const sw_mesh *mesh, const sw_collective *c, const sw_type *in, const sw_type *out,
                          int64_t *n_channels, sw_text *text, sw_diag *d) {
  sw_spmd_writer s = {.w = {.out = text}, .dialect = SW_SPMD_STABLEHLO, .n_channels = *n_channels};
  sw_grid_init(mesh, &s.w.grid);
  sw_rc rc = write_step_function(&s, c, in, out, d);
  *n_channels = s.n_channels;
  sw_mlir_deinit(&s.w);
  return rc;
}
