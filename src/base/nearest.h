/* The closest of some known names to a name that is not known, for "did you mean" messages.
 *
 *   sw_nearest near = {.wanted = "modle"};
 *   for (...) sw_nearest_offer(&near, known[i]);
 *   near.best  ->  "model", or NULL when nothing is close
 */
#ifndef BASE_NEAREST_H_
#define BASE_NEAREST_H_

#include "shardwright/status.h"

typedef struct sw_nearest {
  const char *wanted; /* borrowed */
  const char *best;   /* borrowed from the offers; the first of equally close ones */
  int distance;
  char hint[96];
} sw_nearest;

/* Keeps the candidate when it is closer than what was offered before. Distance counts inserted, removed, replaced and
 * swapped characters; a name that `wanted` begins counts as 1. At most a third of the characters may differ. */
SW_API void sw_nearest_offer(sw_nearest *near, const char *candidate);
/* For the end of a message: "; did you mean 'model'?", or "". */
SW_API const char *sw_nearest_hint(sw_nearest *near);

#endif
