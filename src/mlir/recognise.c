/* Which files are programs, and not JSON models. */
#include <string.h>

#include "shardwright/program.h"

static bool ends_in(const char *path, const char *ending) {
  size_t n = strlen(path), m = strlen(ending);
  if (n > 3 && strcmp(path + n - 3, ".gz") == 0) n -= 3;
  return n > m && strncmp(path + n - m, ending, m) == 0;
}

bool sw_program_is(const char *path, const char *bytes) {
  if (ends_in(path, ".mlir")) return true;
  if (ends_in(path, ".json")) return false;
  bytes += strspn(bytes, " \t\r\n");
  return *bytes && *bytes != '[' && (*bytes != '{' || bytes[1] == '-');
}
