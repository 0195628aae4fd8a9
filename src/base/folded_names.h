/* Names that are alike but for numbers of layers, or for one word, as one name that stands for just these.
 *
 *   h.0.attn.wq h.1.attn.wq .. h.11.attn.wq      h.{0..11}.attn.wq
 *   h.0.ln_1.bias h.0.ln_2.bias h.1.ln_1.bias .. h.{0..11}.ln_{1,2}.bias
 *   l.0.w l.2.w l.4.w l.6.w l.7.w                l.{0..6..2,7}.w
 *   h.0.wq.m h.0.wq.v h.0.wk.m h.0.wk.v          h.0.{wq,wk}.{m,v}
 *
 * A name of a group is a pattern (base/pattern.h): what it matches, a word for each brace, are the names of its items,
 * all of them and no other.
 */
#ifndef BASE_FOLDED_NAMES_H_
#define BASE_FOLDED_NAMES_H_

#include "shardwright/arena.h"

typedef struct sw_named {
  const char *name;    /* no two are equal; borrowed, as the next two */
  const char *like;    /* only items of equal `like` stand in one group */
  const char *variant; /* items of other variants may stand with them only as other layers: where a part of the name is
                          a number and nothing else */
} sw_named;

typedef struct sw_folded_name {
  const char *name;
  int32_t n;
  const int32_t *items; /* ascending */
  bool uniform;         /* one variant */
} sw_folded_name;

/* In the order of their first items; in the arena. */
SW_API SW_CHECKED sw_rc sw_fold_names(int32_t n, const sw_named *items, sw_arena *arena, int32_t *n_groups,
                                      const sw_folded_name **out, sw_diag *d);

#endif
