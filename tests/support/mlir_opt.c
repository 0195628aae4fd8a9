#include "mlir_opt.h"

#include <unistd.h>

#include "check.h"
#include "base/file.h"

bool has_mlir_opt(void) {
  bool has = system("mlir-opt-22 --version >/dev/null 2>&1") == 0;
  if (!has) print_message("skipped: there is no mlir-opt-22 (Debian package mlir-22-tools)\n");
  return has;
}

void assert_mlir_opt_takes(const sw_text *text, const char *name) {
  char path[256], command[512];
  snprintf(path, sizeof path, "interop_%s_%ld.mlir", name, (long)getpid());
  assert_ok(sw_file_write(path, text->at, text->n, &diag));
  snprintf(command, sizeof command,
           "LLVM_DISABLE_SYMBOLIZATION=1 mlir-opt-22 --allow-unregistered-dialect --split-input-file %s -o /dev/null",
           path);
  if (system(command) != 0) fail_msg("mlir-opt refuses %s", path);
  (void)remove(path);
}
