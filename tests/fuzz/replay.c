/* Runs a fuzz target without a fuzzer: on every file of a folder, and on mutations of each.
 *
 *   corpus_mesh FOLDER...   SW_TEST_SEED and SW_TEST_SCALE as in the unit tests
 */
#include <dirent.h>

#include "check.h"
#include "fuzz/fuzz.h"
#include "base/file.h"

enum { MUTATIONS = 300 };

/* Some bytes replaced, doubled, dropped or cut off; `to` has room for 2 * n. */
static size_t mutate(sw_rng *r, const char *from, size_t n, char *to) {
  static const char kTelling[] = "{}[](),:\"=-0129.e x\n";
  size_t out = 0;
  int64_t every = 1 + sw_rng_below(r, 40);
  for (size_t i = 0; i < n; i++) {
    if (sw_rng_below(r, every * 8) != 0) {
      to[out++] = from[i];
      continue;
    }
    int64_t how = sw_rng_below(r, 4);
    if (how == 0) to[out++] = kTelling[sw_rng_below(r, (int64_t)sizeof kTelling - 1)];
    if (how == 1) to[out++] = (char)sw_rng_below(r, 256);
    if (how == 2) to[out++] = from[i], to[out++] = from[i];
  }
  return sw_rng_below(r, 8) == 0 && out ? (size_t)sw_rng_below(r, (int64_t)out) : out;
}

/* The input at the end of its own block, so that a sanitizer sees the first byte too many. */
static void run(const char *bytes, size_t n) {
  uint8_t *copy = malloc(n ? n : 1);
  if (!copy) exit(1);
  memcpy(copy, bytes, n);
  LLVMFuzzerTestOneInput(copy, n);
  free(copy);
}

static int replay(const char *path, sw_rng *rng) {
  char *bytes;
  size_t n;
  if (sw_file_read(path, &bytes, &n, &diag)) {
    sw_diag_print(&diag, stderr, true);
    return 1;
  }
  run(bytes, n);
  char *mutant = malloc(2 * n + 8);
  if (!mutant) return 1;
  for (int i = check_scale(MUTATIONS); i > 0; i--) run(mutant, mutate(rng, bytes, n, mutant));
  free(mutant);
  sw_mem_free(bytes);
  return 0;
}

static int is_file(const struct dirent *e) { return e->d_name[0] != '.'; }

/* The number of files, or -1. */
static int replay_folder(const char *folder, sw_rng *rng) {
  struct dirent **entries = NULL;
  int n = scandir(folder, &entries, is_file, alphasort), status = 0;
  for (int i = 0; i < n; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    status |= replay(path, rng);
    free(entries[i]);
  }
  free(entries);
  return status ? -1 : n;
}

int main(int argc, char **argv) {
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(1));
  for (int i = 1; i < argc; i++) {
    int n = replay_folder(argv[i], &rng);
    printf("%s: %d files, %d mutations of each\n", argv[i], n, check_scale(MUTATIONS));
    if (n <= 0) return 1;
  }
  return argc > 1 ? 0 : 2;
}
