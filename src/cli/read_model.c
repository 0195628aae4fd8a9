#include "cli/read_model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* How far a reader came before the first thing that it did not like. */
static int64_t first_error(const sw_opening *r, const sw_diag *last) {
  const sw_diag *first = last;
  for (size_t i = r->said.n; i-- > 0;) {
    if (r->said.at[i].rc) first = &r->said.at[i];
  }
  return ((int64_t)first->line << 24) + first->col;
}

static int count_size_classes(const sw_sizes *s) {
  int most = -1;
  for (int i = 0; i < s->n; i++) most = s->at[i].class_of > most ? s->at[i].class_of : most;
  return most + 1;
}

static bool has_class(const sw_sizes *s, int class_of) {
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].met && !s->at[i].given && s->at[i].class_of == class_of) return true;
  }
  return false;
}

/* What an error says, apart from what sizes stand for: numbers that are `value`, or too large for a program's own. */
static sw_rc mask_sizes(const sw_sizes *s, const sw_diag *why, int64_t value, sw_text *out) {
  for (const char *at = why->text; *at;) {
    char *end = (char *)at + 1;
    const long long number = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : -1;
    const bool is_size = number >= 0 && (number == value || number >= s->stand_in(s->user, 0));
    sw_text_append(out, is_size ? "#" : at, is_size ? 1 : (size_t)(end - at));
    at = end;
  }
  return out->rc;
}

/* What is tried: pairs of classes put into one, or a class taken for a number that the error has, until a reader comes
 * further than before, or has another fault to find at the same place. */
typedef struct attempt {
  sw_opening *r;
  int64_t before; /* how far it came */
  sw_diag *why;
  sw_rc rc;
  bool strict; /* another fault at the same place is none further */
} attempt;

/* Reads again; true, with what is wrong now: it came further. `value` -1: a number is not. */
static bool comes_further(attempt *t, int64_t value) {
  sw_diag now = {0};
  sw_text was = {0}, is = {0};
  t->rc = sw_open_read(t->r, &now);
  const int64_t at = first_error(t->r, &now);
  bool further = t->rc == SW_OK || at > t->before;
  const sw_sizes *sizes = &t->r->out->sizes;
  if (!further && !t->strict && at == t->before && !mask_sizes(sizes, t->why, value, &was) &&
      !mask_sizes(sizes, &now, value, &is))
    further = strcmp(sw_text_str(&was), sw_text_str(&is)) != 0;
  if (further) *t->why = now;
  sw_text_free(&was);
  sw_text_free(&is);
  return further;
}

/* More numbers of a text into `out`, of which there are n, the greatest first. */
static int collect_numbers(const char *text, size_t bytes, int64_t below, int64_t *out, int n, int most) {
  for (const char *at = text, *end = text + bytes; at < end && *at;) {
    char *next = (char *)at + 1;
    const long long number = isdigit((unsigned char)*at) ? strtoll(at, &next, 10) : below;
    bool skip = number >= below || n == most;
    int to = n;
    at = next;
    for (int i = 0; i < n; i++) skip = skip || out[i] == number;
    if (skip) continue;
    for (; to > 0 && out[to - 1] < number; to--) out[to] = out[to - 1];
    out[to] = number;
    n++;
  }
  return n;
}

/* The model's text from the line of an error on: an op with regions has several. */
static const char *text_at(const char *text, int line, size_t *bytes) {
  enum { LINES = 12, MOST_BYTES = 4096 };
  const char *at = text;
  for (int i = 1; i < line && at; i++) {
    at = strchr(at, '\n');
    at += at != NULL;
  }
  *bytes = 0;
  for (int i = 0; i < LINES && at && at[*bytes] && *bytes < MOST_BYTES; i++) *bytes += strcspn(at + *bytes, "\n") + 1;
  return at ? at : "";
}

/* A size is likely to be a number that the error has, or the op at fault. */
static bool take_some(sw_opening *r, sw_diag *why, sw_rc *rc) {
  enum { MOST_NUMBERS = 16 };
  int64_t numbers[MOST_NUMBERS];
  attempt t = {r, first_error(r, why), why, *rc, .strict = true};
  sw_sizes *sizes = &r->out->sizes;
  const sw_sizes was = *sizes;
  const int64_t below = was.stand_in(was.user, 0);
  const int classes = count_size_classes(&was);
  size_t bytes;
  const char *text = text_at(r->o->text, why->line, &bytes);
  sw_diag named = *why;
  sw_sizes_name(&was, named.text, sizeof named.text);
  int n = collect_numbers(named.text, sizeof named.text, below, numbers, 0, MOST_NUMBERS / 2);
  n = collect_numbers(text, bytes, below, numbers, n, MOST_NUMBERS);
  for (int i = 0; i < 2 * n * classes; i++) {
    const int64_t number = numbers[i / classes % n];
    t.strict = i < n * classes;
    if (!has_class(&was, i % classes)) continue;
    sw_sizes_take(sizes, i % classes, number);
    if (comes_further(&t, number)) return *rc = t.rc, true;
    *sizes = was;
  }
  return false;
}

/* `pairs` more of them, from pair number `from` on; those of one op may take several at once. */
static bool unite_size_classes(attempt *t, int pairs, int from) {
  sw_sizes *sizes = &t->r->out->sizes;
  const sw_sizes apart = *sizes;
  const int n = count_size_classes(&apart);
  for (int pair = from; pair < n * n; pair++) {
    const int a = pair / n, b = pair % n;
    if (a >= b || !has_class(&apart, a) || !has_class(&apart, b)) continue;
    sw_sizes_unite(sizes, a, b);
    if (pairs > 1 ? unite_size_classes(t, pairs - 1, pair + 1) : comes_further(t, -1)) return true;
    *sizes = apart;
  }
  return false;
}

/* As few as will do: sizes that need not be equal stay apart. */
static bool unite_some(sw_opening *r, sw_diag *why, sw_rc *rc) {
  enum { MOST_AT_ONCE = 3 };
  attempt t = {r, first_error(r, why), why, *rc};
  bool any = false;
  for (int pairs = 1; pairs <= MOST_AT_ONCE && !any; pairs++) any = unite_size_classes(&t, pairs, 0);
  if (any) *rc = t.rc;
  return any;
}

sw_rc sw_leave_open(sw_opening *r, sw_rc rc, sw_diag *d) {
  sw_diag why = d ? *d : (sw_diag){0}, first;
  sw_sizes at_first;
  bool guesses = false;
  while (rc == SW_E_INPUT) {
    rc = sw_open_read_on(r, rc, &why);
    if (rc != SW_E_INPUT) break;
    const sw_diag was = why;
    if (unite_some(r, &why, &rc)) continue;
    if (!guesses) first = was, at_first = r->out->sizes; /* what is told if guesses lead nowhere */
    guesses = true;
    if (take_some(r, &why, &rc)) continue;
    break;
  }
  if (rc == SW_E_INPUT && guesses) why = first;
  if (rc) sw_sizes_name(guesses ? &at_first : &r->out->sizes, why.text, sizeof why.text);
  if (d) *d = rc ? why : (sw_diag){0};
  return rc;
}
