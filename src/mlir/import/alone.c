#include "mlir/import/alone.h"

#include "mlir/import/import_passes.h"

sw_rc sw_im_alone_open(sw_im_alone *a, const sw_ir_tree *t, const sw_ir_names *names, uint32_t function, sw_diag *d) {
  const uint32_t n = names->n_slots[function];
  *a = (sw_im_alone){.instance = {.function = function, .prefix = ""}};
  a->m = (sw_importer){
      .t = t, .names = names, .o = &a->options, .main = function, .module = SW_IR_NONE, .alone = true, .d = d};
  SW_MEM_NEW(a->instance.slots, n + 1, d);
  for (uint32_t i = 0; i < n; i++) a->instance.slots[i] = -1;
  SW_TRY(sw_graph_create("op", &a->m.g, d));
  sw_rc rc = sw_im_init(&a->m, NULL);
  sw_graph_destroy(a->m.g);
  a->m.g = NULL;
  SW_TRY(rc);
  a->m.passes->shared->files = &a->m.keep; /* graphs go with their ops */
  return SW_OK;
}

/* A call or region that was entered is left again. */
static void leave_entered_blocks(sw_im_alone *a) {
  for (; a->m.passes->walks.n > 1; a->m.passes->walks.n--) {
    const sw_ir_walk *w = sw_im_top(&a->m);
    if (w->kind <= SW_IR_IN_CALL) sw_mem_free(w->instance->slots);
  }
}

void sw_im_alone_close(sw_im_alone *a) {
  if (a->m.passes) {
    sw_ir_trace_free(&a->m.passes->trace);
    a->m.passes->walks.n = 0;
    sw_im_free(&a->m);
  }
  sw_mem_free(a->instance.slots);
}

sw_rc sw_im_alone_begin(sw_im_alone *a, uint32_t op, sw_diag *d) {
  sw_ir_walk here = {.kind = SW_IR_IN_MAIN, .op = op, .cursor = SW_IR_NONE, .instance = &a->instance};
  a->m.d = d;
  a->m.passes->walks.n = 0;
  SW_TRY(sw_array_push(&a->m.passes->walks, here, d));
  sw_arena_reset(&a->m.scratch);
  return sw_graph_create("op", &a->m.g, d);
}

sw_rc sw_im_alone_import(sw_im_alone *a, uint32_t op, bool *done) {
  const sw_ir_row *row = sw_ir_row_of(a->m.t, sw_im_op(&a->m, op)->name);
  *done = row && row->import != sw_im_call && row->import != sw_im_named_computation;
  if (*done) SW_TRY(row->import(&a->m, row, op));
  *done = *done && a->m.passes->walks.n == 1;
  return SW_OK;
}

void sw_im_alone_end(sw_im_alone *a) {
  leave_entered_blocks(a);
  sw_dict_deinit(&a->m.passes->taken);
  a->m.passes->taken = (sw_dict){0};
  a->m.passes->trace.made.n = 0;
  a->m.vectorized = NULL; /* where reading a region failed */
  a->m.passes->split = NULL;
  sw_graph_destroy(a->m.g);
  a->m.g = NULL;
}
