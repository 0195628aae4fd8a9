/* Polynomials from their values: random ones are found again, what is none is told. */
#include "check.h"

#include <math.h>

#include "report/polynomial.h"

enum { MOST_TERMS = 5 };

typedef struct known {
  int n_unknowns, n_terms;
  int64_t unit, num[MOST_TERMS]; /* over unit^degree */
  int power[MOST_TERMS][SW_MAX_UNKNOWNS];
  bool is_log;
} known;

static sw_rc values_of(void *user, const int64_t *at, double *out, sw_diag *d) {
  (void)d;
  const known *p = user;
  out[0] = 0;
  for (int k = 0; k < p->n_terms; k++) {
    double product = (double)p->num[k];
    for (int i = 0; i < p->n_unknowns; i++) product *= pow((double)at[i], p->power[k][i]);
    out[0] += product;
  }
  out[1] = p->is_log ? floor(1000 * log2((double)at[0])) : 2 * out[0];
  return SW_OK;
}

static void polynomials_are_found_again(void **state) {
  (void)state;
  static const char *const kNames[] = {"N", "M", "K"};
  sw_rng r;
  sw_rng_seed(&r, check_seed(41));
  for (int round = 0; round < check_scale(300); round++) {
    sw_arena a = {0};
    known p = {.n_unknowns = 1 + (int)sw_rng_below(&r, 3), .n_terms = (int)sw_rng_below(&r, MOST_TERMS)};
    p.unit = 1 + sw_rng_below(&r, 12);
    for (int k = 0; k < p.n_terms; k++) {
      p.num[k] = sw_rng_below(&r, 200) - 100;
      for (int i = 0; i < p.n_unknowns; i++) p.power[k][i] = (int)sw_rng_below(&r, 3);
    }
    const int64_t around[] = {101, 113, 127};
    sw_poly found[2];
    bool fits;
    assert_ok(sw_poly_fit(&(sw_poly_grid){p.n_unknowns, p.unit, around}, 2, values_of, &p, &a, found, &fits, &diag));
    assert_true(fits);
    for (int t = 0; t < 5; t++) {
      double sizes[3], want[2];
      int64_t at[3];
      for (int i = 0; i < 3; i++) {
        at[i] = 1 + sw_rng_below(&r, 50);
        sizes[i] = (double)(at[i] * p.unit);
      }
      assert_ok(values_of(&p, at, want, &diag));
      for (int k = 0; k < 2; k++) {
        if (fabs(sw_poly_at(&found[k], sizes) - want[k]) <= 1e-9 * fmax(1, fabs(want[k]))) continue;
        sw_text text = {0};
        sw_poly_print(&found[k], kNames, &text);
        fail_msg("%s is %g, expected %g", sw_text_str(&text), sw_poly_at(&found[k], sizes), want[k]);
      }
    }
    sw_arena_deinit(&a);
  }
}

static void a_logarithm_is_none(void **state) {
  (void)state;
  sw_arena a = {0};
  known p = {.n_unknowns = 1, .unit = 4, .is_log = true};
  sw_poly found[2];
  bool fits;
  assert_ok(sw_poly_fit(&(sw_poly_grid){1, 4, (const int64_t[]){101}}, 2, values_of, &p, &a, found, &fits, &diag));
  assert_false(fits);
  sw_arena_deinit(&a);
}

static void terms_are_printed_by_degree(void **state) {
  (void)state;
  static const sw_poly_term kTerms[] = {{3, 2, {1, 1}}, {1, 1, {2}}, {-1, 1, {1}}, {64, 1, {0}}};
  static const char *const kNames[] = {"N", "a:0"};
  const sw_poly p = {2, 4, kTerms}, none = {2, 0, kTerms};
  sw_text t = {0};
  sw_poly_print(&p, kNames, &t);
  sw_text_puts(&t, "; ");
  sw_poly_print(&none, kNames, &t);
  assert_string_equal(sw_text_str(&t), "3/2*N*a:0 + N*N - N + 64; 0");
  sw_text_free(&t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(polynomials_are_found_again),
      cmocka_unit_test(a_logarithm_is_none),
      cmocka_unit_test(terms_are_printed_by_degree),
  };
  return cmocka_run_group_tests_name("polynomial", tests, NULL, NULL);
}
