/* Characters of MLIR: blanks, names, strings, brackets. Every function takes a place in a text that ends in NUL and
 * gives the place behind what it read; none recurses. */
#ifndef MLIR_SCAN_H_
#define MLIR_SCAN_H_

#include "mlir/text/tree.h"

/* What is wrong and where. */
typedef struct sw_ir_flaw {
  uint32_t at;
  char text[160];
} sw_ir_flaw;

/* Closing brackets that are due; kept between calls so that it is allocated once. */
typedef struct sw_ir_closers {
  SW_ARRAY(char) due;
} sw_ir_closers;

bool sw_ir_is_name(unsigned char c);              /* of a bare name: letters, digits, _ $ . */
uint32_t sw_ir_blanks(const char *s, uint32_t i); /* blanks and comments */
uint32_t sw_ir_name(const char *s, uint32_t i);   /* bare name, "" when there is none */
uint32_t sw_ir_value_name(const char *s, uint32_t i);
bool sw_ir_word(const char *s, uint32_t i, const char *word); /* a whole name */

/* A string whose opening quote is at i; SW_E_INPUT with the flaw when it does not end in its line. */
SW_CHECKED sw_rc sw_ir_string(const char *s, uint32_t n, uint32_t *i, sw_ir_flaw *flaw);
/* Behind the string; `end` where it does not end before that. */
uint32_t sw_ir_behind_string(const char *s, uint32_t i, uint32_t end);
/* A number, a quoted or bare name, or one other character. */
SW_CHECKED sw_rc sw_ir_token(const char *s, uint32_t n, uint32_t *i, sw_ir_flaw *flaw);
/* Two characters that are no brackets: "->", "<=" and ">=". */
static inline bool sw_ir_is_no_bracket(const char *s, uint32_t i) {
  return s[i] == '-' ? s[i + 1] == '>' : (s[i] == '<' || s[i] == '>') && s[i + 1] == '=';
}
/* From an opening bracket to behind the one that closes it. `see` (may be NULL)
 * is called at each % outside of strings. */
typedef struct sw_ir_see {
  sw_rc (*value)(void *user, uint32_t *i, sw_ir_flaw *flaw, sw_diag *d); /* moves *i behind the name */
  void *user;
} sw_ir_see;
SW_CHECKED sw_rc sw_ir_balanced(const char *s, uint32_t n, uint32_t *i, sw_ir_closers *c, const sw_ir_see *see,
                                sw_ir_flaw *flaw, sw_diag *d);
/* A type: name<...>, !dialect.name<...> or (...). */
SW_CHECKED sw_rc sw_ir_type(const char *s, uint32_t n, uint32_t *i, sw_ir_closers *c, sw_ir_flaw *flaw, sw_diag *d);
/* T, T, ... [-> T], the types behind a colon. */
SW_CHECKED sw_rc sw_ir_types(const char *s, uint32_t n, uint32_t *i, sw_ir_closers *c, sw_ir_flaw *flaw, sw_diag *d);
bool sw_ir_starts_type(const char *s, uint32_t i);

/* Record `expected ..., but found ...` at i. */
SW_CHECKED sw_rc sw_ir_expected(const char *s, uint32_t n, uint32_t i, const char *what, sw_ir_flaw *flaw);
/* Is there the character (behind blanks)? Then move behind it, else it is expected. */
SW_CHECKED sw_rc sw_ir_expect(const char *s, uint32_t n, uint32_t *i, const char *mark, sw_ir_flaw *flaw);

#endif
