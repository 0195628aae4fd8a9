/* Changes that passes make to ops and values of the text. */
#ifndef MLIR_REWRITE_H_
#define MLIR_REWRITE_H_

#include "mlir/opt/pass.h"

/* A name that no value of the text has, "%12"; NULL: out of memory. */
const char *sw_opt_new_name(sw_opt_work *w);
/* A symbol of the module: `name` of n bytes, or name_0, name_1, ... if it is taken, in the arena. Numbers go on over
 * all names. A symbol whose op goes is forgotten. */
SW_CHECKED sw_rc sw_opt_new_symbol(sw_opt_work *w, const char *name, size_t n, const char **out);
SW_CHECKED sw_rc sw_opt_forget_symbol(sw_opt_work *w, const char *name, size_t n);
/* A value as the text has it, "%12#1"; NULL: out of memory. */
const char *sw_opt_value_text(sw_opt_work *w, uint32_t value);

/* The op that uses a value first, where it is of this name; SW_IR_NONE: it is of another, or there is none. */
uint32_t sw_opt_edge_on(const sw_opt_work *w, uint32_t value, const char *name);

/* An op of the text on lines of its own, before or behind another one, or first in a block. */
SW_CHECKED sw_rc sw_opt_put_before(sw_opt_work *w, uint32_t op, const char *text);
SW_CHECKED sw_rc sw_opt_put_behind(sw_opt_work *w, uint32_t op, const char *text);
SW_CHECKED sw_rc sw_opt_put_first(sw_opt_work *w, uint32_t block, const char *text);

/* First in a block, before what was put there. */
SW_CHECKED sw_rc sw_opt_put_first_of_all(sw_opt_work *w, uint32_t block, const char *text);

/* All uses of a value in the text become `text`, or those of another value, which may be replaced itself. What is put
 * in is the caller's to write as it shall be. */
void sw_opt_replace(sw_opt_work *w, uint32_t value, const char *text);
void sw_opt_forward(sw_opt_work *w, uint32_t value, uint32_t to);
/* One use alone. It wins over those above. */
SW_CHECKED sw_rc sw_opt_replace_use(sw_opt_work *w, uint32_t use, const char *text);
/* Behind the name of a use, and its "#1". */
uint32_t sw_opt_use_end(const sw_ir_tree *t, uint32_t use);
/* Entries of these keys, of ops, arguments and results of functions. */
SW_CHECKED sw_rc sw_opt_drop_attributes(sw_opt_work *w, const char *const *keys, size_t n);
/* The op goes, with its lines and regions. Nothing in it may be edited otherwise. */
SW_CHECKED sw_rc sw_opt_erase(sw_opt_work *w, uint32_t op);

/* When the pass has run: uses of replaced values, where no op around them was erased (opt/run.c calls it). */
SW_CHECKED sw_rc sw_opt_settle(sw_opt_work *w);

#endif
