/* Edit distance with swaps of neighbours (optimal string alignment), on three rows of the usual table:
 *
 *   "modle" -> "model"   1 (a swap)        "sovle" -> "solve"   1        "plan" -> "run"   too far
 */
#include "base/nearest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CHARS = 63 };

static int smaller(int a, int b) { return a < b ? a : b; }

static int edit_distance(const char *a, int na, const char *b, int nb) {
  int rows[3][MOST_CHARS + 1];
  int *before = rows[0], *last = rows[1], *now = rows[2];
  for (int j = 0; j <= nb; j++) last[j] = j;
  for (int i = 1; i <= na; i++) {
    now[0] = i;
    for (int j = 1; j <= nb; j++) {
      int replaced = last[j - 1] + (a[i - 1] != b[j - 1]);
      now[j] = smaller(replaced, 1 + smaller(last[j], now[j - 1]));
      bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = smaller(now[j], before[j - 2] + 1);
    }
    int *spare = before;
    before = last;
    last = now;
    now = spare;
  }
  return last[nb];
}

void sw_nearest_offer(sw_nearest *near, const char *candidate) {
  size_t na = strlen(near->wanted), nb = strlen(candidate);
  if (na == 0 || na > MOST_CHARS || nb > MOST_CHARS) return;
  int distance = edit_distance(near->wanted, (int)na, candidate, (int)nb);
  int most = (int)(na > nb ? na : nb) / 3;
  if (na >= 2 && strncmp(near->wanted, candidate, na) == 0) distance = smaller(distance, 1);
  if (distance > (most > 1 ? most : 1) || (na == 1 && distance == 1)) return;
  if (near->best && distance >= near->distance) return;
  near->best = candidate;
  near->distance = distance;
}

const char *sw_nearest_hint(sw_nearest *near) {
  if (near->best) snprintf(near->hint, sizeof near->hint, "; did you mean '%s'?", near->best);
  return near->hint;
}
