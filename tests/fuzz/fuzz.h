/* A fuzz target is one file here with one function: it reads the bytes as a user's input and checks what must hold of
 * any input. libFuzzer drives it in the `fuzz` preset; in the other builds replay.c runs it on tests/corpus/NAME and on
 * mutations of those files. */
#ifndef TESTS_FUZZ_FUZZ_H_
#define TESTS_FUZZ_FUZZ_H_

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shardwright/status.h"
#include "shardwright/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n);

/* Ends the process with the place when it does not hold, as libFuzzer wants it. */
#define FUZZ_CHECK(holds)                                                        \
  do {                                                                           \
    if (!(holds)) {                                                              \
      fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #holds); \
      abort();                                                                   \
    }                                                                            \
  } while (0)

/* A failure has a code, the same in the record, and a message. */
#define FUZZ_CHECK_FAILURE(rc, d) FUZZ_CHECK((rc) != SW_OK && (d)->rc == (rc) && (d)->text[0] && (rc) != SW_E_BUG)

static inline void fuzz_check_same_text(const sw_text *a, const sw_text *b) {
  if (strcmp(sw_text_str(a), sw_text_str(b)) != 0) {
    fprintf(stderr, "printed:\n%s\nread back and printed:\n%s\n", sw_text_str(a), sw_text_str(b));
    abort();
  }
}

#endif
