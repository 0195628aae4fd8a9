/* Contractions by letters, of two operands, with sums kept in a type of choice.
 *
 *   swg_contract(b, "y", SW_F32, "bsd", x, "dhk", w, "bshk")    y[b,s,h,k] = sum over d of x[b,s,d] w[d,h,k], in f32
 */
#ifndef GEN_CONTRACT_H_
#define GEN_CONTRACT_H_

#include <string.h>

#include "gen/build.h"

enum { SWG_LETTERS = 52 };

/* Labels of dims, zeros behind the last. */
typedef struct swg_letters {
  char at[SWG_LETTERS + 1];
  int n;
} swg_letters;
static inline bool swg_letters_have(const swg_letters *l, char c) { return memchr(l->at, c, (size_t)l->n) != NULL; }
static inline void swg_letters_push(swg_letters *l, char c) { l->at[l->n++] = c; }

typedef struct swg_side {
  const swg_letters *dims;
  sw_id value;
} swg_side;

/* The terms of "bsd,dhk->bshk". */
void swg_read_equation(const char *equation, swg_letters *a, swg_letters *b, swg_letters *result);
/* As op NAME, of type t. Of the two orders of operands the one is taken whose result needs no transpose. */
sw_id swg_contract(swg_builder *b, const char *name, sw_dtype t, const swg_side *x, const swg_side *y,
                   const swg_letters *result);

#endif
