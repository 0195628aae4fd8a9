/* Command lines: the first byte picks a subcommand, the lines of the rest are its words. What is refused is a usage
 * error with a message; nothing else may happen. */
#include "cli/command.h"
#include "fuzz/fuzz.h"

enum { MOST_WORDS = 64 };

static sw_rc read_words(const sw_command *c, const sw_words *words, sw_arena *arena, sw_diag *d) {
  sw_common common = {0};
  sw_option_table sets[] = {{c->options, c->n_options, sw_arena_alloc(arena, 1, c->settings_bytes, d)},
                            {sw_common_options, SW_COMMON_OPTIONS, &common}};
  sw_words operands = {0};
  int used;
  SW_TRY(sw_options_default(sets, 2, arena, d));
  SW_TRY(sw_options_parse(sets, 2, words, false, arena, &operands, &used, d));
  FUZZ_CHECK(used == words->n && operands.n <= words->n);
  return sw_operands_store(c->operands, c->n_operands, &operands, sets[0].into, arena, d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  if (n < 1) return 0;
  sw_arena arena = {0};
  sw_diag d = {0};
  const char *at[MOST_WORDS];
  sw_words words = {at, 0};
  char *save = NULL, *text = sw_arena_strndup(&arena, (const char *)bytes + 1, n - 1, &d);
  for (char *w = strtok_r(text, "\n", &save); w && words.n < MOST_WORDS; w = strtok_r(NULL, "\n", &save)) {
    at[words.n++] = w;
  }
  sw_rc rc = read_words(sw_command_at(bytes[0] % sw_command_count()), &words, &arena, &d);
  FUZZ_CHECK(rc == SW_OK || (rc == SW_E_USAGE && d.rc == rc && d.text[0]));
  sw_arena_deinit(&arena);
  return 0;
}
