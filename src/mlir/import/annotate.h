/* Shardings that a text has, as annotations of the graph: what the dialects that say them share. */
#ifndef MLIR_ANNOTATE_H_
#define MLIR_ANNOTATE_H_

#include "mlir/import/import.h"

/* The mesh of the graph: the one given, or else the program's own (m->own_mesh), which dialects declare. */
SW_CHECKED sw_rc sw_im_find_mesh(sw_importer *m);

/* What is annotated: a value where it is made, or one use of it. */
typedef struct sw_im_target {
  sw_id value;
  const sw_value_use *use; /* NULL: where it is made */
  bool all_uses, hint;
  uint32_t open;  /* dims that may be cut further, whatever the sharding says */
  int32_t n_kept; /* axes that these may not be cut by; borrowed */
  const sw_axis_ref *kept;
} sw_im_target;
/* `open`: all such dims. */
SW_CHECKED sw_rc sw_im_add_annotation(sw_importer *m, const sw_im_target *of, const sw_sharding *s, uint32_t open,
                                      uint32_t at);
/* Without axes on dims of one element. */
void sw_im_drop_idle_axes(const sw_type *type, sw_sharding *s);

/* A sharding in the text of a dialect as an annotation of a value, of which dims of `open` (bit i) may be cut further;
 * what cannot be said in the mesh is warned of. Then of argument i of main, and of output `index` as a use. */
SW_CHECKED sw_rc sw_im_annotate(sw_importer *m, sw_id value, sw_ir_span sharding, uint32_t open, uint32_t at);
SW_CHECKED sw_rc sw_im_annotate_arg(sw_importer *m, uint32_t i, sw_id value);
SW_CHECKED sw_rc sw_im_annotate_output(sw_importer *m, sw_id value, int32_t index);
/* A sharding over the graph's mesh that fits it and the value, where the value is made. */
SW_CHECKED sw_rc sw_im_annotate_as(sw_importer *m, sw_id value, const sw_sharding *s, bool required, uint32_t at);
/* The same of one use of the value, or (NULL) of all. */
SW_CHECKED sw_rc sw_im_annotate_uses_as(sw_importer *m, sw_id value, const sw_sharding *s, const sw_value_use *use,
                                        bool required, uint32_t at);
/* x as result of the op, by a reshape of nothing, so that uses before and behind it may be cut differently; then
 * operand 0 of the op so, in the sharding of the text. */
SW_CHECKED sw_rc sw_im_same_value(sw_importer *m, uint32_t op, sw_id x, sw_id *y);
SW_CHECKED sw_rc sw_im_constrained(sw_importer *m, uint32_t op, sw_ir_span sharding, uint32_t open);

#endif
