#include "shardwright/text.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"

/* Room for `want` bytes; t->rc says when there is none, and all stays as it was. */
static void *with_room(sw_text *t, size_t want) {
  void *at = t->at;
  t->rc = sw_array_reserve_(&at, &t->cap, t->n, want, 1, NULL);
  return at;
}

void sw_text_append(sw_text *t, const char *bytes, size_t n) {
  if (t->rc) return;
  t->at = with_room(t, t->n + n + 1);
  if (t->rc) return;
  if (n) memcpy(t->at + t->n, bytes, n);
  t->n += n;
  t->at[t->n] = '\0';
}

void sw_text_puts(sw_text *t, const char *s) { sw_text_append(t, s, strlen(s)); }

void sw_text_printf(sw_text *t, const char *fmt, ...) {
  char small[256];
  va_list ap, ap2;
  va_start(ap, fmt);
  va_copy(ap2, ap);
  int n = vsnprintf(small, sizeof small, fmt, ap);
  va_end(ap);
  if (n >= 0 && (size_t)n < sizeof small) {
    sw_text_append(t, small, (size_t)n);
  } else if (n >= 0) {
    char *big = sw_mem_alloc((size_t)n + 1, 1, NULL);
    if (!big) t->rc = SW_E_RESOURCE;
    if (big) {
      vsnprintf(big, (size_t)n + 1, fmt, ap2);
      sw_text_append(t, big, (size_t)n);
    }
    sw_mem_free(big);
  }
  va_end(ap2);
}

void sw_text_pad(sw_text *t, size_t start, size_t width) {
  while (!t->rc && t->n < start + width) sw_text_append(t, " ", 1);
}

const char *sw_text_str(const sw_text *t) { return t->at ? t->at : ""; }

bool sw_texts_equal(const char *a, const char *b) { return a == b || (a && b && strcmp(a, b) == 0); }

void sw_text_free(sw_text *t) {
  sw_mem_free(t->at);
  *t = (sw_text){0};
}

const char *sw_text_keep(sw_text *t, sw_arena *arena, sw_diag *d) {
  if (t->rc) (void)SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  const char *out = NULL;
  if (!t->rc) out = sw_arena_strndup(arena, sw_text_str(t), t->n, d);
  sw_text_free(t);
  return out;
}

static void scaled(sw_text *t, double x, double base, const char *const *units, int n_units) {
  int u = 0;
  while (u + 1 < n_units && fabs(x) >= base) {
    x /= base;
    u++;
  }
  int digits = fabs(x) >= 99.95 || x == floor(x) ? 0 : fabs(x) >= 9.995 ? 1 : 2;
  sw_text_printf(t, "%.*f %s", digits, x, units[u]);
}

void sw_text_bytes(sw_text *t, double bytes) {
  static const char *const kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  scaled(t, bytes, 1024, kUnits, 6);
}

void sw_text_seconds(sw_text *t, double seconds) {
  static const char *const kUnits[] = {"ns", "us", "ms", "s"};
  scaled(t, seconds * 1e9, 1000, kUnits, 4);
}

sw_rc sw_parse_i64(const char *s, int64_t min, int64_t max, const char *what, int64_t *out, sw_diag *d) {
  char *end;
  errno = 0;
  long long v = strtoll(s, &end, 10);
  if (end == s || *end || errno == ERANGE || v < min || v > max) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s is '%s'; expected an integer from %lld to %lld", what, s, (long long)min,
                         (long long)max);
  }
  *out = v;
  return SW_OK;
}

sw_rc sw_parse_f64(const char *s, double min, double max, const char *what, double *out, sw_diag *d) {
  char *end;
  errno = 0;
  double v = strtod(s, &end);
  if (end == s || *end || errno == ERANGE || !(v >= min && v <= max)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s is '%s'; expected a number from %g to %g", what, s, min, max);
  }
  *out = v;
  return SW_OK;
}

sw_rc sw_parse_bytes(const char *s, const char *what, int64_t *out, sw_diag *d) {
  static const struct {
    const char *suffix;
    double factor;
  } kUnits[] = {{"", 1},
                {"B", 1},
                {"kB", 1e3},
                {"KB", 1e3},
                {"MB", 1e6},
                {"GB", 1e9},
                {"TB", 1e12},
                {"KiB", 1024},
                {"MiB", 1048576.0},
                {"GiB", 1073741824.0},
                {"K", 1024},
                {"M", 1048576.0},
                {"G", 1073741824.0},
                {"TiB", 1099511627776.0}};
  char *end;
  double v = strtod(s, &end);
  for (size_t i = 0; end != s && i < sizeof kUnits / sizeof kUnits[0]; i++) {
    if (strcmp(end, kUnits[i].suffix) != 0) continue;
    v *= kUnits[i].factor;
    if (!(v >= 0 && v < 9e18)) break;
    *out = (int64_t)v;
    return SW_OK;
  }
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s is '%s'; expected a size such as 80GB, 512MiB or 4096", what, s);
}

double sw_round_to(double v, int digits) {
  char text[48];
  snprintf(text, sizeof text, "%.*g", digits, v);
  return strtod(text, NULL);
}
