#include "io/plan_match.h"

#include <string.h>

#include "base/hash.h"

/* Cells of the table of one stretch between two matches by name; longer stretches are matched where both ends agree. */
enum { MOST_CELLS = 1 << 22 };
enum { SAME_FORM = 1000, SAME_KIND = 1 }; /* any number of kinds is worth less than a form */

typedef struct matcher {
  const sw_match_side *was, *now;
  int32_t *to, *from;
  sw_arena *arena; /* scratch */
} matcher;

/* Length of the part before the blank; of a type alone, nothing. */
static size_t kind_length(const char *form) {
  const char *blank = strchr(form, ' ');
  return blank ? (size_t)(blank - form) : 0;
}

static bool same_kind(const char *a, const char *b) {
  if (!a || !b) return true;
  const size_t n = kind_length(a);
  return n == kind_length(b) && memcmp(a, b, n) == 0;
}

static int likeness(const matcher *m, int32_t i, int32_t j) {
  const char *a = m->was->forms[i], *b = m->now->forms[j];
  if (!a || !b) return 0;
  return strcmp(a, b) == 0 ? SAME_FORM : same_kind(a, b) ? SAME_KIND : 0;
}

static void pair(matcher *m, int32_t i, int32_t j) {
  m->to[i] = j;
  m->from[j] = i;
}

static sw_rc match_names(matcher *m, sw_diag *d) {
  sw_dict names = {0};
  sw_rc rc = SW_OK;
  for (int32_t j = 0; !rc && j < m->now->n; j++)
    rc = sw_dict_put(&names, m->now->names[j], strlen(m->now->names[j]), j, NULL, NULL, d);
  for (int32_t i = 0; !rc && i < m->was->n; i++) {
    const int64_t *j = sw_dict_get(&names, m->was->names[i], strlen(m->was->names[i]));
    if (j && m->from[*j] < 0 && same_kind(m->was->forms[i], m->now->forms[*j])) pair(m, i, (int32_t)*j);
  }
  sw_dict_deinit(&names);
  return rc;
}

/* The longest list of matches that ascend on both sides: ends[k] is the match that ends the best of k + 1. */
static sw_rc list_ascending(const matcher *m, bool *in_list, sw_diag *d) {
  int32_t *ends, *before, n = 0;
  SW_ARENA_NEW_EACH(m->arena, m->was->n, d, ends, before);
  for (int32_t i = 0; i < m->was->n; i++) {
    int32_t low = 0, high = n;
    if (m->to[i] < 0) continue;
    while (low < high) {
      const int32_t middle = (low + high) / 2;
      if (m->to[ends[middle]] < m->to[i])
        low = middle + 1;
      else
        high = middle;
    }
    before[i] = low ? ends[low - 1] : -1;
    ends[low] = i;
    if (low == n) n++;
  }
  for (int32_t i = n ? ends[n - 1] : -1; i >= 0; i = before[i]) in_list[i] = true;
  return SW_OK;
}

/* What is left of two stretches that face each other. */
typedef struct stretch {
  int32_t n, m;
  int32_t *was, *now;
} stretch;

/* best[i][j] is the most that the first i and the first j are worth. */
static sw_rc match_best(matcher *m, const stretch *s, sw_diag *d) {
  const int32_t width = s->m + 1;
  int32_t *best;
  SW_ARENA_NEW(best, m->arena, (int64_t)(s->n + 1) * width, d);
  for (int32_t i = 1; i <= s->n; i++) {
    for (int32_t j = 1; j <= s->m; j++) {
      const int like = likeness(m, s->was[i - 1], s->now[j - 1]);
      const int32_t both = like ? best[(i - 1) * width + j - 1] + like : 0;
      const int32_t up = best[(i - 1) * width + j], left = best[i * width + j - 1];
      const int32_t one = up > left ? up : left;
      best[i * width + j] = both > one ? both : one;
    }
  }
  for (int32_t i = s->n, j = s->m; i > 0 && j > 0;) {
    const int32_t here = best[i * width + j];
    const int like = likeness(m, s->was[i - 1], s->now[j - 1]);
    if (like && here == best[(i - 1) * width + j - 1] + like) {
      pair(m, s->was[--i], s->now[--j]);
    } else if (here == best[(i - 1) * width + j]) {
      i--;
    } else {
      j--;
    }
  }
  return SW_OK;
}

static sw_rc match_stretch(matcher *m, stretch *s, sw_diag *d) {
  bool known = true;
  for (int32_t i = 0; i < s->n; i++) known = known && m->was->forms[s->was[i]];
  for (int32_t j = 0; j < s->m; j++) known = known && m->now->forms[s->now[j]];
  if (!known) {
    for (int32_t i = 0; s->n == s->m && i < s->n; i++)
      if (same_kind(m->was->forms[s->was[i]], m->now->forms[s->now[i]])) pair(m, s->was[i], s->now[i]);
    return SW_OK;
  }
  while (s->n && s->m && likeness(m, s->was[0], s->now[0]) == SAME_FORM) {
    pair(m, *s->was++, *s->now++);
    s->n--;
    s->m--;
  }
  while (s->n && s->m && likeness(m, s->was[s->n - 1], s->now[s->m - 1]) == SAME_FORM)
    pair(m, s->was[--s->n], s->now[--s->m]);
  return (int64_t)(s->n + 1) * (s->m + 1) > MOST_CELLS ? SW_OK : match_best(m, s, d);
}

static sw_rc match_places(matcher *m, sw_diag *d) {
  bool *in_list;
  stretch s;
  int32_t j = 0, i = 0;
  SW_ARENA_NEW_EACH(m->arena, m->was->n, d, in_list, s.was);
  SW_ARENA_NEW(s.now, m->arena, m->now->n, d);
  SW_TRY(list_ascending(m, in_list, d));
  const stretch room = s;
  while (i < m->was->n || j < m->now->n) {
    s = room;
    s.n = s.m = 0;
    for (; i < m->was->n && !in_list[i]; i++)
      if (m->to[i] < 0) s.was[s.n++] = i;
    const int32_t end = i < m->was->n ? m->to[i] : m->now->n;
    for (; j < end; j++)
      if (m->from[j] < 0) s.now[s.m++] = j;
    if (s.n && s.m) SW_TRY(match_stretch(m, &s, d));
    i++;
    j++;
  }
  return SW_OK;
}

sw_rc sw_plan_match(const sw_match_side *was, const sw_match_side *now, int32_t *to, sw_diag *d) {
  sw_arena scratch = {0};
  matcher m = {.was = was, .now = now, .to = to, .arena = &scratch};
  m.from = sw_arena_alloc(&scratch, (size_t)now->n + 1, sizeof *m.from, d);
  sw_rc rc = m.from ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; i < was->n; i++) to[i] = -1;
  for (int32_t j = 0; !rc && j < now->n; j++) m.from[j] = -1;
  if (!rc) rc = match_names(&m, d);
  if (!rc) rc = match_places(&m, d);
  sw_arena_deinit(&scratch);
  return rc;
}
