/* Finds the files that come with the program or the library, wherever these were built or installed:
 *
 *   PREFIX/bin/shardwright          finds PREFIX/share/shardwright/hwprofiles/local.json
 *   TREE/build/debug/shardwright    finds TREE/hwprofiles/local.json
 *   PACKAGE/core.so, of a program that loads it    finds PACKAGE/hwprofiles/local.json
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "base/file.h"

enum { PATH_BYTES = 4096, MOST_PARENTS = 4 };

typedef struct search {
  const char *folder, *name;
  sw_arena *arena;
  sw_diag *d;
} search;

/* START/MIDDLE/FOLDER/NAME when it can be read. False also when memory is out, which `d` then says. */
static bool is_at(const search *s, const char *start, const char *middle, const char **path) {
  *path = sw_arena_printf(s->arena, s->d, "%s/%s%s/%s", start, middle, s->folder, s->name);
  return *path && access(*path, R_OK) == 0;
}

/* In the folder of that file, or one above it. The path is cut short on the way. */
static bool is_near(const search *s, char *file, const char **path) {
  for (int up = 0; up <= MOST_PARENTS; up++) {
    char *slash = strrchr(file, '/');
    if (!slash) return false;
    *slash = '\0';
    if (is_at(s, file, "", path) || is_at(s, file, "share/shardwright/", path)) return true;
  }
  return false;
}

static bool is_near_program(const search *s, const char **path) {
  char exe[PATH_BYTES];
  ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
  if (n < 0)                                                                 /* there is no /proc: as it was started */
    n = snprintf(exe, sizeof exe, "%s", (const char *)getauxval(AT_EXECFN)); /* NOLINT(performance-no-int-to-ptr) */
  if (n < 0 || n >= PATH_BYTES) return false;
  exe[n] = '\0';
  return is_near(s, exe, path);
}

/* The library may be a part of what a program loads. */
static bool is_near_library(const search *s, const char **path) {
  static const char here;
  char file[PATH_BYTES];
  Dl_info info;
  if (!dladdr(&here, &info) || !info.dli_fname) return false;
  const int n = snprintf(file, sizeof file, "%s", info.dli_fname);
  return n > 0 && n < PATH_BYTES && is_near(s, file, path);
}

sw_rc sw_data_file(const char *folder, const char *name, sw_arena *arena, const char **path, sw_diag *d) {
  sw_diag inner = {0};
  search s = {folder, name, arena, &inner};
  const char *env = getenv("SHARDWRIGHT_DATA");
  if (env && is_at(&s, env, "", path)) return SW_OK;
  if (is_at(&s, ".", "", path) || is_near_library(&s, path) || is_near_program(&s, path)) return SW_OK;
  if (inner.rc) return SW_FAIL(d, inner.rc, SW_NOWHERE, "%s", inner.text);
  return SW_FAIL_INPUT(d, SW_NOWHERE, "no file '%s/%s' in $SHARDWRIGHT_DATA, the working folder or beside the program",
                       folder, name);
}
