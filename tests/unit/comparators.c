/* Comparators of sorts, drawn at random and spelled in random ways: the order must be that of the same comparison in C,
 * and one that a sort of the graph has must become one, whatever it looks like.
 */
#include <math.h>
#include <string.h>

#include "check.h"

#include "shardwright/clock.h"
#include "shardwright/exec.h"
#include "shardwright/program.h"

enum { MOST_KEYS = 3, MOST_ROWS = 9 };

typedef enum rule { WHOLE, CANONICAL, TOTAL } rule; /* integers; floats with NaN last and -0 as 0; by sign and bits */

typedef struct sorted {
  int n_keys, n;
  rule rule[MOST_KEYS];
  bool descending[MOST_KEYS];
  uint32_t key[MOST_KEYS][MOST_ROWS]; /* bits */
} sorted;

static bool coin(sw_rng *r) { return sw_rng_below(r, 2) != 0; }

static sorted draw(sw_rng *r) {
  static const uint32_t kFloats[] = {0xFFC00000, 0xFF800000, 0xBF800000, 0x80000000,
                                     0x00000000, 0x3F800000, 0x7F800000, 0x7FC00000};
  sorted s = {.n_keys = 1 + (int)sw_rng_below(r, MOST_KEYS), .n = 2 + (int)sw_rng_below(r, MOST_ROWS - 1)};
  bool alike = coin(r), down = coin(r);
  rule floats = coin(r) ? CANONICAL : TOTAL;
  for (int k = 0; k < s.n_keys; k++) {
    s.descending[k] = alike ? down : coin(r);
    s.rule[k] = coin(r) ? WHOLE : alike ? floats : coin(r) ? CANONICAL : TOTAL;
    for (int i = 0; i < s.n; i++) {
      s.key[k][i] = s.rule[k] == WHOLE ? (uint32_t)sw_rng_below(r, 3) - 1 : kFloats[sw_rng_below(r, 8)];
    }
  }
  return s;
}

/* Has the sort of the graph this order: one direction, one rule of floats? */
static bool is_plain(const sorted *s) {
  rule floats = WHOLE;
  for (int k = 0; k < s->n_keys; k++) {
    if (s->descending[k] != s->descending[0]) return false;
    if (s->rule[k] == WHOLE) continue;
    if (floats != WHOLE && floats != s->rule[k]) return false;
    floats = s->rule[k];
  }
  return true;
}

/* --- in C -------------------------------------------------------------------------------------------------------- */

static int64_t order_key(rule how, uint32_t bits) {
  int64_t v = (int32_t)bits;
  float f;
  memcpy(&f, &bits, sizeof f);
  if (how == WHOLE) return v;
  if (how == CANONICAL && isnan(f)) v = 0x7FC00000;
  if (how == CANONICAL && f == 0) v = 0;
  return v >= 0 ? v : -1 - (v & INT32_MAX);
}

static bool before(const sorted *s, int a, int b) {
  for (int k = 0; k < s->n_keys; k++) {
    int64_t x = order_key(s->rule[k], s->key[k][a]), y = order_key(s->rule[k], s->key[k][b]);
    if (x != y) return s->descending[k] ? x > y : x < y;
  }
  return false;
}

static void sort(const sorted *s, int *order) {
  for (int i = 0; i < s->n; i++) {
    int at = i;
    for (; at > 0 && before(s, i, order[at - 1]); at--) order[at] = order[at - 1];
    order[at] = i;
  }
}

/* --- in StableHLO ------------------------------------------------------------------------------------------------ */

static void put_compare(sw_text *t, const char *name, int k, const char *direction, const char *a, const char *b,
                        rule how) {
  const char *type = how == WHOLE ? "tensor<i32>" : "tensor<f32>";
  sw_text_printf(t, "    %%%s%d = stablehlo.compare %s, %%%s%d, %%%s%d, %s : (%s, %s) -> tensor<i1>\n", name, k,
                 direction, a, k, b, k, how == WHOLE ? "SIGNED" : "TOTALORDER", type, type);
}

static void put_canonical(sw_text *t, const char *from, const char *to, int k) {
  sw_text_printf(t,
                 "    %%z%s%d = stablehlo.compare EQ, %%%s%d, %%zero : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                 "    %%y%s%d = stablehlo.select %%z%s%d, %%zero, %%%s%d : tensor<i1>, tensor<f32>\n"
                 "    %%n%s%d = stablehlo.compare NE, %%%s%d, %%%s%d : (tensor<f32>, tensor<f32>) -> tensor<i1>\n"
                 "    %%%s%d = stablehlo.select %%n%s%d, %%nan, %%y%s%d : tensor<i1>, tensor<f32>\n",
                 to, k, from, k, to, k, to, k, from, k, to, k, from, k, from, k, to, k, to, k, to, k);
}

/* %p of key k: it decides, or where it is equal %p of the next one does. */
static void put_key(const sorted *s, int k, sw_rng *r, sw_text *t) {
  const char *a = "a", *b = "b";
  bool turned = coin(r), no = coin(r);
  if (s->rule[k] == CANONICAL) {
    put_canonical(t, "a", "c", k);
    put_canonical(t, "b", "d", k);
    a = "c";
    b = "d";
  }
  bool less = s->descending[k] == turned; /* `less` of (a, b), or with turned arguments */
  const char *direction = no ? (less ? "GE" : "LE") : less ? "LT" : "GT";
  put_compare(t, no ? "m" : "l", k, direction, turned ? b : a, turned ? a : b, s->rule[k]);
  if (no) sw_text_printf(t, "    %%l%d = stablehlo.not %%m%d : tensor<i1>\n", k, k);
  put_compare(t, "e", k, "EQ", a, b, s->rule[k]);
  if (coin(r)) {
    sw_text_printf(t, "    %%p%d = stablehlo.select %%e%d, %%p%d, %%l%d : tensor<i1>, tensor<i1>\n", k, k, k + 1, k);
  } else {
    sw_text_printf(t, "    %%q%d = stablehlo.and %%e%d, %%p%d : tensor<i1>\n", k, k, k + 1);
    sw_text_printf(t, "    %%p%d = stablehlo.or %%l%d, %%q%d : tensor<i1>\n", k, k, k);
  }
}

static void put_operands(const sorted *s, sw_text *t) {
  for (int k = 0; k < s->n_keys; k++) {
    sw_text_printf(t, "  %%bits%d = stablehlo.constant dense<[", k);
    for (int i = 0; i < s->n; i++) sw_text_printf(t, "%s%d", i ? ", " : "", (int)(int32_t)s->key[k][i]);
    sw_text_printf(t, "]> : tensor<%dxi32>\n  %%x%d = stablehlo.bitcast_convert %%bits%d : (tensor<%dxi32>) -> ", s->n,
                   k, k, s->n);
    sw_text_printf(t, "tensor<%dx%s>\n", s->n, s->rule[k] == WHOLE ? "i32" : "f32");
  }
  sw_text_printf(t, "  %%i = stablehlo.iota dim = 0 : tensor<%dxi32>\n", s->n);
}

static void put_types(const sorted *s, sw_text *t) {
  for (int k = 0; k < s->n_keys; k++) sw_text_printf(t, "tensor<%dx%s>, ", s->n, s->rule[k] == WHOLE ? "i32" : "f32");
  sw_text_printf(t, "tensor<%dxi32>", s->n);
}

static void put_program(const sorted *s, sw_rng *r, sw_text *t) {
  sw_text_printf(t, "func.func @main() -> tensor<%dxi32> {\n", s->n);
  put_operands(s, t);
  sw_text_printf(t, "  %%r:%d = \"stablehlo.sort\"(", s->n_keys + 1);
  for (int k = 0; k < s->n_keys; k++) sw_text_printf(t, "%%x%d, ", k);
  sw_text_printf(t, "%%i) <{dimension = 0 : i64, is_stable = true}> ({\n  ^bb0(");
  for (int k = 0; k < s->n_keys; k++) {
    const char *type = s->rule[k] == WHOLE ? "i32" : "f32";
    sw_text_printf(t, "%%a%d: tensor<%s>, %%b%d: tensor<%s>, ", k, type, k, type);
  }
  sw_text_printf(t,
                 "%%u: tensor<i32>, %%v: tensor<i32>):\n    %%p%d = stablehlo.constant dense<false> : tensor<i1>\n"
                 "    %%zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
                 "    %%nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>\n",
                 s->n_keys);
  for (int k = s->n_keys - 1; k >= 0; k--) put_key(s, k, r, t);
  sw_text_printf(t, "    stablehlo.return %%p0 : tensor<i1>\n  }) : (");
  put_types(s, t);
  sw_text_printf(t, ") -> (");
  put_types(s, t);
  sw_text_printf(t, ")\n  return %%r#%d : tensor<%dxi32>\n}\n", s->n_keys, s->n);
}

static bool has_sort(const sw_graph *g) {
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (g->ops[i].code == SW_OP_SORT) return true;
  }
  return false;
}

static void sorts_as_in_c(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(11));
  for (int turn = 0; turn < 20 * check_scale(3); turn++) {
    sorted s = draw(&rng);
    sw_text text = {0};
    diag = (sw_diag){0};
    sw_program *p = NULL;
    sw_tensor y;
    int want[MOST_ROWS];
    put_program(&s, &rng, &text);
    sort(&s, want);
    sw_rc rc = sw_program_parse("t.mlir", sw_text_str(&text), text.n, NULL, &p, &diag);
    if (!rc) rc = sw_exec_run(sw_program_graph(p), NULL, NULL, &y, &diag);
    if (rc) fail_msg("turn %d: %d: %s\n%s", turn, diag.line, diag.text, sw_text_str(&text));
    if (has_sort(sw_program_graph(p)) != is_plain(&s)) {
      fail_msg("turn %d: %s\n%s", turn, is_plain(&s) ? "not seen to be a sort" : "taken for another sort",
               sw_text_str(&text));
    }
    for (int i = 0; i < s.n; i++) {
      int32_t got = ((const int32_t *)y.data)[i];
      if (got != want[i])
        fail_msg("turn %d: place %d has %d; expected %d\n%s", turn, i, got, want[i], sw_text_str(&text));
    }
    sw_tensor_deinit(&y);
    sw_program_destroy(p);
    sw_text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(sorts_as_in_c)};
  return cmocka_run_group_tests_name("comparators", tests, NULL, NULL);
}
