/* What main declares: attributes of its arguments, types and attributes of its results. */
#include "mlir/import/import_passes.h"
#include "mlir/import/tuple.h"
#include "mlir/import/types.h"

sw_ir_span sw_im_arg_attrs(const sw_ir_tree *t, const sw_ir_op *f, uint32_t i) {
  if (!f->generic) {
    uint32_t block = sw_ir_block_at(t, f, 0);
    return t->args.at[t->blocks.at[block].first_arg + i].attrs;
  }
  sw_ir_span list = sw_ir_entry(t, f->props, "arg_attrs"), item;
  uint32_t cursor = 0;
  while (sw_ir_present(list) && sw_ir_next_item(t, list, &cursor, &item)) {
    if (!i--) return item;
  }
  return (sw_ir_span){0, 0};
}

/* Items of a list, in the keep arena; *n of them. */
static sw_rc list_items(sw_importer *m, sw_ir_types_cursor list, sw_ir_span **out, uint32_t *n) {
  SW_ARRAY(sw_ir_span) found = {0};
  sw_ir_span item;
  sw_rc rc = SW_OK;
  while (!rc && sw_ir_next_type(m->t, &list, &item)) rc = sw_array_push(&found, item, m->d);
  *out = rc ? NULL : sw_arena_copy(&m->keep, found.at, found.n, sizeof *found.at, m->d);
  *n = (uint32_t)found.n;
  sw_array_free(&found);
  return rc ? rc : *out ? SW_OK : SW_E_RESOURCE;
}

/* `T {...}`, or a type and the dictionary in res_attrs. */
sw_rc sw_im_declare_results(sw_importer *m) {
  const sw_ir_op *f = sw_im_op(m, m->main);
  sw_im_passes *p = m->passes;
  SW_TRY(list_items(m, sw_ir_declared_results(m->t, f), &p->declared, &p->n_declared));
  SW_TRY(sw_im_leaf_types(m, p->declared, p->n_declared, &p->declared, &p->n_declared));
  SW_ARENA_NEW(p->declared_attrs, &m->keep, p->n_declared, m->d);
  for (uint32_t i = 0; i < p->n_declared; i++) {
    sw_ir_span *type = &p->declared[i], *attrs = &p->declared_attrs[i];
    sw_ir_span alone = sw_ir_type_alone(m->t, *type);
    *attrs = sw_ir_trimmed(m->t, (sw_ir_span){alone.end, type->end});
    if (!sw_ir_len(*attrs)) *attrs = (sw_ir_span){0, 0};
    *type = alone;
  }
  sw_ir_span list = f->generic ? sw_ir_entry(m->t, f->props, "res_attrs") : (sw_ir_span){0, 0}, *attrs;
  uint32_t n;
  if (!sw_ir_present(list)) return SW_OK;
  SW_TRY(list_items(m, (sw_ir_types_cursor){.list = sw_ir_inside(m->t, list)}, &attrs, &n));
  for (uint32_t i = 0; i < n && i < p->n_declared; i++) p->declared_attrs[i] = attrs[i];
  return SW_OK;
}

sw_ir_span sw_im_module_attrs(const sw_importer *m) {
  return m->module == SW_IR_NONE ? (sw_ir_span){0, 0} : sw_im_op(m, m->module)->attrs;
}

bool sw_im_module_number(const sw_importer *m, const char *key, int64_t *out) {
  sw_ir_span v = sw_ir_entry(m->t, sw_im_module_attrs(m), key);
  return sw_ir_present(v) && sw_ir_read_int(m->t, v, out);
}

sw_ir_span sw_im_sharding_attr(const sw_ir_tree *t, sw_ir_span attrs) {
  sw_ir_span v = sw_ir_entry(t, attrs, "sdy.sharding");
  return sw_ir_present(v) ? v : sw_ir_entry(t, attrs, "mhlo.sharding");
}
