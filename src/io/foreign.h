/* Files that are given as models and are something else: what they are, and how to get a model from there. */
#ifndef IO_FOREIGN_H_
#define IO_FOREIGN_H_

#include <stddef.h>

#include "shardwright/status.h"

/* SW_E_INPUT where the bytes begin as one of these does: HLO text, MLIR bytecode, archives, protobufs, jaxprs, source
 * code, weights. */
SW_API SW_CHECKED sw_rc sw_refuse_foreign(const char *file, const char *bytes, size_t n, sw_diag *d);
/* sw_file_read_text of a model, which refuses such files first. */
SW_API SW_CHECKED sw_rc sw_read_model_text(const char *path, char **bytes, size_t *n, sw_diag *d);

#endif
