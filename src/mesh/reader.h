/* A cursor over a short text from a user, for the parsers of meshes and shardings. Blanks between tokens mean nothing.
 */
#ifndef SRC_MESH_READER_H_
#define SRC_MESH_READER_H_

#include "shardwright/mesh.h"

typedef struct sw_reader {
  const char *start, *p, *end;
  sw_span at; /* where `start` stands in the user's file */
} sw_reader;

sw_reader sw_reader_of(const char *text, size_t n, sw_span at);
/* The place of the next token. */
sw_span sw_reader_span(sw_reader *r);

/* Is this literal next? If so, step over it. A literal that ends in a letter must end a word. */
bool sw_reader_accept(sw_reader *r, const char *literal);
sw_rc sw_reader_expect(sw_reader *r, const char *literal, sw_diag *d);
bool sw_reader_at_end(sw_reader *r);
sw_rc sw_reader_expect_end(sw_reader *r, sw_diag *d);

/* A run of letters, digits, '_', '.', '$' and '-'; false when there is none. */
bool sw_reader_word(sw_reader *r, const char **word, size_t *n);
/* A decimal integer in [min, max]; `what` names it in messages. */
sw_rc sw_reader_int(sw_reader *r, int64_t min, int64_t max, const char *what, int64_t *out, sw_diag *d);
/* "[1, 2, 3]" into the arena. */
sw_rc sw_reader_ints(sw_reader *r, const char *what, sw_arena *arena, const int64_t **out, int *n, sw_diag *d);
/* "found 'abc'; expected WANT" */
sw_rc sw_reader_fail(sw_reader *r, const char *want, sw_diag *d);

#endif
