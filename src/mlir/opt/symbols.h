/* Symbols of the module that passes add. */
#ifndef MLIR_OPT_SYMBOLS_H_
#define MLIR_OPT_SYMBOLS_H_

#include "mlir/opt/pass.h"

typedef struct sw_opt_symbols {
  sw_dict taken;
  uint32_t counter; /* of names that were taken */
} sw_opt_symbols;

/* Those of the text. To be freed in any case. */
SW_CHECKED sw_rc sw_opt_symbols_read(sw_opt_work *w, sw_opt_symbols *out);
void sw_opt_symbols_free(sw_opt_symbols *s);
/* Forget one, as its op goes. */
void sw_opt_symbol_leave(sw_opt_symbols *s, const char *name, size_t n);
/* `name` of n bytes, or name_0, name_1, ... if it is taken, in the arena. Numbers go on over all names. */
SW_CHECKED sw_rc sw_opt_new_symbol(sw_opt_work *w, sw_opt_symbols *s, const char *name, size_t n, const char **out);

#endif
