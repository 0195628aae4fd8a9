/* Copies of a part of the text, with other names in it. */
#ifndef MLIR_OPT_OPT_COPY_H_
#define MLIR_OPT_OPT_COPY_H_

#include "mlir/opt/pass.h"

typedef struct sw_opt_copy {
  sw_opt_work *w;
  sw_ir_span text;
  sw_ir_edits edits; /* in the copy alone */
} sw_opt_copy;

void sw_opt_copy_begin(sw_opt_work *w, sw_ir_span text, sw_opt_copy *out);
/* Give a result (of the tree) or a use another name, "%12"; NULL: out of memory. */
SW_CHECKED sw_rc sw_opt_copy_result(sw_opt_copy *c, uint32_t result, const char *name);
SW_CHECKED sw_rc sw_opt_copy_use(sw_opt_copy *c, uint32_t use, const char *name);
/* The text in the work's arena, and the copy is closed; not where `rc` says that it failed before, which is returned.
 */
SW_CHECKED sw_rc sw_opt_copy_end(sw_opt_copy *c, sw_rc rc, const char **out);

#endif
