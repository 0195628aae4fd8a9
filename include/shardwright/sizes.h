/* Sizes that a model leaves open: "?" and names in the shapes of a model file, `?` in the types of a program's
 * arguments. A table of what they are, filled by whoever asks for a model and by the readers.
 *
 *   tensor<?x8xf32> of %a     name "a:0", by argument and dimension
 *   "shape": ["N", "2*N"]     name "N"; sums, differences and products of names and numbers
 *   "shape": ["?", 8] of "a"  name "a:0"
 */
#ifndef SHARDWRIGHT_SIZES_H_
#define SHARDWRIGHT_SIZES_H_

#include "shardwright/status.h"
#include "shardwright/text.h"

enum { SW_MAX_SIZES = 32, SW_SIZE_NAME_BYTES = 64 };

typedef struct sw_size {
  char name[SW_SIZE_NAME_BYTES];
  int64_t value; /* -1: not known */
  bool given;    /* by whoever asks */
  bool met;      /* the model has such a size */
  int class_of;  /* of one that was met and is not given: the number that it has in common with those that equal it */
} sw_size;

typedef struct sw_sizes {
  int n;
  sw_size at[SW_MAX_SIZES];
  /* For names that are met and not known: a size to go on with, by the number of the name's class; NULL: none. */
  int64_t (*stand_in)(const void *user, int class_of);
  const void *user;
  int found; /* how often sw_sizes_equate found something out */
} sw_sizes;

/* A size that is known. Fails when it is given twice, or out of range. */
SW_API SW_CHECKED sw_rc sw_sizes_give(sw_sizes *s, const char *name, const char *value, sw_diag *d);
/* For readers: what the name stands for; -1 when that is not known. `s` NULL: nothing is. */
SW_API SW_CHECKED sw_rc sw_sizes_meet(sw_sizes *s, const char *name, sw_span at, int64_t *out, sw_diag *d);
/* The same for a sum of products of names and numbers, "2*N + 1". */
SW_API SW_CHECKED sw_rc sw_sizes_meet_text(sw_sizes *s, const char *text, sw_span at, int64_t *out, sw_diag *d);
/* Names that were met and are not given. */
SW_API int sw_sizes_open(const sw_sizes *s);
/* SW_E_INPUT when names are open, naming them all; or when one was given that the model does not have. */
SW_API SW_CHECKED sw_rc sw_sizes_check(const sw_sizes *s, const char *model, sw_diag *d);
/* Put the names of two classes into one: their sizes are equal. */
SW_API void sw_sizes_unite(sw_sizes *s, int a, int b);
/* What the sizes of a class are from now on. */
SW_API void sw_sizes_take(sw_sizes *s, int class_of, int64_t value);
/* For readers, of two sizes that must be equal and are not: where names stand behind both, these are united; where one
 * is made of a name (by a factor, a divisor and something to add) and the other is a number, the name is what makes
 * them equal. The model is to be read again then. */
SW_API void sw_sizes_equate(sw_sizes *s, int64_t x, int64_t y);
/* The text with the names of sizes in place of the numbers that stand in for them. */
SW_API void sw_sizes_name(const sw_sizes *s, char *text, size_t room);

#endif
