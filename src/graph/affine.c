/* Indexing maps as text, both ways:
 *
 *   (d0,d1,d2)->(d0,2*d1+d2-1)
 *
 * An expression is a sum of terms "d1", "2*d1", "d1*2", "3" with signs; blanks are ignored; several terms of one loop
 * are added. The text does not say whether terms are digits (mixed radix); sw_affine_is_digits finds out.
 */
#include <ctype.h>
#include <string.h>

#include "graph/affine.h"
#include "base/checked.h"

bool sw_map_has_loop(const sw_map *m, int loop) {
  for (int k = 0; k < m->rank; k++) {
    for (int i = 0; i < m->dims[k].n_terms; i++) {
      if (m->dims[k].terms[i].loop == loop) return true;
    }
  }
  return false;
}

static void print_sum(const sw_affine *e, sw_text *out) {
  for (int i = 0; i < e->n_terms; i++) {
    int64_t c = e->terms[i].coef;
    if (c < 0) sw_text_puts(out, "-");
    if (c > 0 && i) sw_text_puts(out, "+");
    if (c != 1 && c != -1) sw_text_printf(out, "%llu*", c < 0 ? 0ULL - (unsigned long long)c : (unsigned long long)c);
    sw_text_printf(out, "d%d", e->terms[i].loop);
  }
  if (e->constant || !e->n_terms) {
    sw_text_printf(out, e->n_terms ? "%+lld" : "%lld", (long long)e->constant);
  }
}

void sw_map_print(const sw_map *m, int n_loops, sw_text *out) {
  sw_text_puts(out, "(");
  for (int i = 0; i < n_loops; i++) sw_text_printf(out, i ? ",d%d" : "d%d", i);
  sw_text_puts(out, ")->(");
  for (int i = 0; i < m->rank; i++) {
    if (i) sw_text_puts(out, ",");
    print_sum(&m->dims[i], out);
  }
  sw_text_puts(out, ")");
}

typedef struct reader {
  const char *text, *at;
  int n_loops;
  sw_span span;
  sw_diag *d;
} reader;

static void skip_map_blanks(reader *r) {
  while (*r->at == ' ' || *r->at == '\t') r->at++;
}

static sw_rc wrong(const reader *r, const char *expected) {
  if (!*r->at) return SW_FAIL_INPUT(r->d, r->span, "map '%s' ends early; expected %s", r->text, expected);
  return SW_FAIL_INPUT(r->d, r->span, "map '%s' has '%.12s' at character %d; expected %s", r->text, r->at,
                       (int)(r->at - r->text) + 1, expected);
}

static bool eat(reader *r, const char *word) {
  skip_map_blanks(r);
  size_t n = strlen(word);
  if (strncmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static sw_rc read_affine_number(reader *r, int64_t *out) {
  if (!isdigit((unsigned char)*r->at)) return wrong(r, "a number");
  int64_t v = 0;
  for (const char *p = r->at; isdigit((unsigned char)*p); p++) {
    if (!sw_mul_i64(v, 10, &v) || !sw_add_i64(v, *p - '0', &v)) return wrong(r, "a number that fits 64 bits");
  }
  while (isdigit((unsigned char)*r->at)) r->at++;
  *out = v;
  return SW_OK;
}

static sw_rc read_loop(reader *r, int *out) {
  const char *start = r->at;
  int64_t n = 0;
  if (!eat(r, "d")) return wrong(r, "a loop d0, d1, ...");
  SW_TRY(read_affine_number(r, &n));
  if (n >= r->n_loops) {
    r->at = start;
    return SW_FAIL_INPUT(r->d, r->span, "map '%s' uses loop d%lld; the op has %d loops", r->text, (long long)n,
                         r->n_loops);
  }
  *out = (int)n;
  return SW_OK;
}

/* "2*d1", "d1*2", "d1" or "3": loop -1 for a constant. */
static sw_rc read_product(reader *r, int *loop, int64_t *coef) {
  skip_map_blanks(r);
  *loop = -1;
  *coef = 1;
  if (isdigit((unsigned char)*r->at)) {
    SW_TRY(read_affine_number(r, coef));
    if (!eat(r, "*")) return SW_OK;
    skip_map_blanks(r);
    return read_loop(r, loop);
  }
  SW_TRY(read_loop(r, loop));
  if (!eat(r, "*")) return SW_OK;
  skip_map_blanks(r);
  return read_affine_number(r, coef);
}

enum { SUM_TERMS = 64 };

static sw_rc add_term(reader *r, sw_affine *e, sw_term *terms, int loop, int64_t coef) {
  if (loop < 0) return sw_add_i64(e->constant, coef, &e->constant) ? SW_OK : wrong(r, "a constant that fits 64 bits");
  for (int i = 0; i < e->n_terms; i++) {
    if (terms[i].loop == loop) {
      return sw_add_i64(terms[i].coef, coef, &terms[i].coef) ? SW_OK : wrong(r, "a factor that fits 64 bits");
    }
  }
  if (e->n_terms == SUM_TERMS) return wrong(r, "at most 64 terms");
  terms[e->n_terms++] = (sw_term){loop, coef};
  return SW_OK;
}

static sw_rc read_sum(reader *r, sw_arena *arena, sw_affine *out) {
  sw_term terms[SUM_TERMS];
  sw_affine e = {0};
  bool minus = eat(r, "-");
  for (;;) {
    int loop;
    int64_t coef;
    SW_TRY(read_product(r, &loop, &coef));
    SW_TRY(add_term(r, &e, terms, loop, minus ? -coef : coef));
    if (eat(r, "+")) {
      minus = false;
    } else if (eat(r, "-")) {
      minus = true;
    } else {
      break;
    }
  }
  int kept = 0;
  for (int i = 0; i < e.n_terms; i++) {
    if (terms[i].coef) terms[kept++] = terms[i];
  }
  e.n_terms = kept;
  e.terms = sw_arena_copy(arena, terms, (size_t)kept, sizeof *terms, r->d);
  if (!e.terms) return SW_E_RESOURCE;
  *out = e;
  return SW_OK;
}

static sw_rc read_loop_list(reader *r) {
  if (!eat(r, "(")) return wrong(r, "'('");
  for (int i = 0; i < r->n_loops; i++) {
    char want[16];
    snprintf(want, sizeof want, i ? ", d%d" : "d%d", i);
    int loop = -1;
    if (i && !eat(r, ",")) return wrong(r, want);
    skip_map_blanks(r);
    const char *start = r->at;
    if (read_loop(r, &loop) || loop != i) {
      r->at = start;
      return wrong(r, i ? want + 2 : want);
    }
  }
  return eat(r, ")") ? SW_OK : wrong(r, "')' after the loops");
}

sw_rc sw_map_parse(const char *text, int n_loops, sw_span at, sw_arena *arena, sw_map *out, sw_diag *d) {
  reader r = {text, text, n_loops, at, d};
  sw_affine dims[SW_MAX_RANK];
  int rank = 0;
  SW_TRY(read_loop_list(&r));
  if (!eat(&r, "->")) return wrong(&r, "'->'");
  if (!eat(&r, "(")) return wrong(&r, "'('");
  while (!eat(&r, ")")) {
    if (rank && !eat(&r, ",")) return wrong(&r, "',' or ')'");
    if (rank == SW_MAX_RANK) return wrong(&r, "at most 12 dims");
    SW_TRY(read_sum(&r, arena, &dims[rank]));
    rank++;
  }
  skip_map_blanks(&r);
  if (*r.at) return wrong(&r, "the end");
  out->rank = rank;
  out->dims = sw_arena_copy(arena, dims, (size_t)rank, sizeof *dims, d);
  return out->dims ? SW_OK : SW_E_RESOURCE;
}

bool sw_affine_bounds(const sw_affine *e, const sw_loop *loops, int64_t *least, int64_t *most) {
  *least = *most = e->constant;
  for (int i = 0; i < e->n_terms; i++) {
    int64_t span;
    if (!sw_mul_i64(e->terms[i].coef, loops[e->terms[i].loop].size - 1, &span)) return false;
    if (!sw_add_i64(span < 0 ? *least : *most, span, span < 0 ? least : most)) return false;
  }
  return true;
}

bool sw_affine_is_digits(const sw_affine *e, const sw_loop *loops) {
  int64_t coef = 1;
  for (int i = e->n_terms - 1; i >= 0; i--) {
    if (e->terms[i].coef != coef) return false;
    if (!sw_mul_i64(coef, loops[e->terms[i].loop].size, &coef)) return false;
  }
  return e->constant == 0;
}

int64_t sw_affine_reach(const sw_affine *e, int64_t size, const int64_t *extents) {
  if (!e->n_terms) return size;
  int64_t points = 1, span = 1;
  for (int i = 0; i < e->n_terms; i++) {
    int64_t coef = e->terms[i].coef < 0 ? -e->terms[i].coef : e->terms[i].coef;
    int64_t n = extents[e->terms[i].loop];
    if (n <= 0) return 0;
    if (!sw_mul_i64(points, n, &points)) points = INT64_MAX;
    if (!sw_mul_i64(n - 1, coef, &n) || !sw_add_i64(span, n, &span)) span = INT64_MAX;
  }
  if (e->mixed_radix && !sw_mul_i64(points, e->terms[e->n_terms - 1].coef, &points)) points = INT64_MAX;
  int64_t reach = e->mixed_radix || points < span ? points : span;
  return reach < size ? reach : size;
}
