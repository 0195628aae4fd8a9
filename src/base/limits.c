#include "base/limits.h"

#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shardwright/text.h"

/* The number behind `key` in a file of the system ("" : its first one), in units of `unit`; INT64_MAX: none, or
 * "max". */
static int64_t number_in(const char *path, const char *key, int64_t unit) {
  char line[256];
  long long n;
  FILE *f = fopen(path, "re");
  int64_t found = INT64_MAX;
  while (f && found == INT64_MAX && fgets(line, sizeof line, f)) {
    if (strncmp(line, key, strlen(key)) != 0 || sscanf(line + strlen(key), "%lld", &n) != 1) continue;
    if (n < INT64_MAX / unit) found = n * unit;
  }
  if (f) fclose(f);
  return found;
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* What is left of a limit. */
static int64_t left_of(int64_t limit, int64_t used) {
  if (limit == INT64_MAX || used == INT64_MAX) return INT64_MAX;
  return limit > used ? limit - used : 0;
}

static int64_t limit_of(__rlimit_resource_t what) {
  struct rlimit r;
  bool known = getrlimit(what, &r) == 0 && r.rlim_cur != RLIM_INFINITY && r.rlim_cur < INT64_MAX;
  return known ? (int64_t)r.rlim_cur : INT64_MAX;
}

/* Of the group of processes that this one is in, by either version of the kernel's files. */
static int64_t group_bytes(void) {
  static const char *const kFiles[][2] = {
      {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current"},
      {"/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.usage_in_bytes"}};
  int64_t bytes = INT64_MAX;
  for (size_t i = 0; i < sizeof kFiles / sizeof kFiles[0]; i++) {
    bytes = least(bytes, left_of(number_in(kFiles[i][0], "", 1), number_in(kFiles[i][1], "", 1)));
  }
  return bytes;
}

/* INT64_MAX where nothing is known. */
static void limits_now(sw_needs *out) {
  enum { SPARE = 1000 }; /* mappings and threads that are there already, here and elsewhere */
  int64_t threads =
      least(number_in("/proc/sys/kernel/threads-max", "", 1), number_in("/proc/sys/kernel/pid_max", "", 1));
  threads = least(threads, number_in("/sys/fs/cgroup/pids.max", "", 1));
  threads = least(threads, number_in("/sys/fs/cgroup/pids/pids.max", "", 1));
  if (geteuid() != 0) threads = least(threads, limit_of(RLIMIT_NPROC));
  out->threads = left_of(threads, SPARE);
  out->mappings = left_of(number_in("/proc/sys/vm/max_map_count", "", 1), SPARE);
  out->bytes = least(number_in("/proc/meminfo", "MemAvailable:", 1024), group_bytes());
  out->address_bytes = least(left_of(limit_of(RLIMIT_AS), number_in("/proc/self/status", "VmSize:", 1024)),
                             left_of(limit_of(RLIMIT_DATA), number_in("/proc/self/status", "VmData:", 1024)));
}

static void print_amount(int64_t x, bool is_bytes, sw_text *out) {
  if (is_bytes)
    sw_text_bytes(out, (double)x);
  else
    sw_text_printf(out, "%lld", (long long)x);
}

sw_rc sw_limits_check(const sw_needs *n, const char *what, sw_diag *d) {
  sw_needs have;
  limits_now(&have);
  const struct {
    int64_t wanted, there;
    bool is_bytes;
    const char *name;
  } rows[] = {{n->threads, have.threads, false, " threads"},
              {n->mappings, have.mappings, false, " mappings of memory"},
              {n->bytes, have.bytes, true, " of memory"},
              {n->address_bytes, have.address_bytes, true, " of address space"}};
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    if (rows[i].wanted <= rows[i].there) continue;
    sw_text t = {0};
    print_amount(rows[i].wanted, rows[i].is_bytes, &t);
    sw_text_printf(&t, "%s; there is room for ", rows[i].name);
    print_amount(rows[i].there, rows[i].is_bytes, &t);
    sw_rc rc = SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "%s would take %s", what, sw_text_str(&t));
    sw_text_free(&t);
    return rc;
  }
  return SW_OK;
}
