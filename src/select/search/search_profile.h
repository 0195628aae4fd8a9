/* Inside the solver: how far each step is from its cap, under changes of whole stretches. */
#ifndef SELECT_PROFILE_H_
#define SELECT_PROFILE_H_

#include "select/core.h"

enum { SEL_PROFILE_BLOCK = 64 };

typedef struct sel_profile {
  int32_t n, n_blocks;
  int64_t *v;    /* use less cap, without the block's `add` */
  int64_t *add;  /* per block */
  int64_t *most; /* per block, `add` included */
} sel_profile;

sw_rc sel_profile_init(sel_profile *p, const sel_core *c, sw_arena *mem, sw_diag *d); /* all uses 0 */
void sel_profile_reset(sel_profile *p, const sel_core *c);
void sel_profile_add(sel_profile *p, int32_t begin, int32_t end, int64_t amount);
int64_t sel_profile_most(const sel_profile *p, int32_t begin, int32_t end);
int64_t sel_profile_worst(const sel_profile *p, int32_t *step); /* over all; INT64_MIN without steps */

#endif
