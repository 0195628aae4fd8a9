/* mlir-opt 22 (Debian package mlir-22-tools) for the interop tests. */
#ifndef TEST_MLIR_OPT_H_
#define TEST_MLIR_OPT_H_

#include "shardwright/text.h"

enum { MLIR_OPT_SKIPPED = 77 }; /* exit status of a test that has none */

bool has_mlir_opt(void); /* says so when there is none */
/* Fails the test when mlir-opt refuses the text, whose parts stand between lines of `// -----`; a failing text is kept
 * as interop_NAME_PID.mlir. */
void assert_mlir_opt_takes(const sw_text *text, const char *name);

#endif
