/* Inside the solver: which lines of a table are equal. */
#ifndef SELECT_COMPRESS_H_
#define SELECT_COMPRESS_H_

#include "select/core.h"

/* Classes of equal rows and of equal columns: class_of[side][line], first[side][class] = a line of the class. */
typedef struct sel_compressed {
  int32_t n[2];
  int32_t *class_of[2], *first[2];
} sel_compressed;

/* Example: [[1, 1, 5], [1, 1, 5], [2, 2, 0]] has the row classes 0 0 1 and the column classes 0 0 1. Cost: a walk over
 * the table and one over each line that is like another. */
sw_rc sel_compress(const sel_mat *m, sw_arena *mem, sel_compressed *out, sw_diag *d);

#endif
