/* select_and_scatter with regions of its own on random windows: the elements must be those of the same loops in C. All
 * numbers are small and whole.
 */
#include <math.h>
#include <stdio.h>

#include "check.h"

#include "shardwright/exec.h"
#include "shardwright/program.h"

enum { RANK = 3, MOST = 8 * 8 * 8 };

/* What a region says of %a and %b; op "%c" is its result. */
static const char *const kSelect[] = {
    "    %c = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>\n",
    "    %m = stablehlo.abs %a : tensor<f32>\n    %n = stablehlo.abs %b : tensor<f32>\n"
    "    %c = stablehlo.compare GT, %m, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>\n",
    "    %m = stablehlo.abs %a : tensor<f32>\n    %n = stablehlo.abs %b : tensor<f32>\n"
    "    %c = stablehlo.compare LE, %m, %n : (tensor<f32>, tensor<f32>) -> tensor<i1>\n",
    "    %c = stablehlo.constant dense<true> : tensor<i1>\n",
    "    %c = stablehlo.constant dense<false> : tensor<i1>\n"};
static const char *const kScatter[] = {
    "    %c = stablehlo.add %a, %b : tensor<f32>\n", "    %c = stablehlo.minimum %a, %b : tensor<f32>\n",
    "    %m = stablehlo.multiply %a, %b : tensor<f32>\n    %n = stablehlo.add %a, %b : tensor<f32>\n"
    "    %c = stablehlo.add %m, %n : tensor<f32>\n",
    "    %m = stablehlo.abs %a : tensor<f32>\n    %n = stablehlo.abs %b : tensor<f32>\n"
    "    %c = stablehlo.maximum %m, %n : tensor<f32>\n"};

static bool selects(int how, float a, float b) {
  switch (how) {
    case 0:
      return a >= b;
    case 1:
      return fabsf(a) > fabsf(b);
    case 2:
      return fabsf(a) <= fabsf(b);
    default:
      return how == 3;
  }
}

static float scattered(int how, float a, float b) {
  switch (how) {
    case 0:
      return a + b;
    case 1:
      return a < b ? a : b;
    case 2:
      return a * b + a + b;
    default:
      return fabsf(a) > fabsf(b) ? fabsf(a) : fabsf(b);
  }
}

typedef struct pool {
  int select, scatter;
  int size[RANK], window[RANK], stride[RANK], low[RANK], high[RANK], count[RANK];
  float x[MOST], source[MOST], init;
} pool;

static int below(sw_rng *r, int n) { return (int)sw_rng_below(r, n); }

/* Windows of one element are those of a batch; dim 0 has others, so that there is one that has. */
static void draw_dim(pool *p, int k, sw_rng *r) {
  p->size[k] = 2 + below(r, 4);
  p->window[k] = k == 0 ? 2 + below(r, 2) : 1 + below(r, 3);
  bool single = p->window[k] == 1;
  p->stride[k] = single ? 1 : 1 + below(r, 3);
  p->low[k] = single ? 0 : below(r, p->window[k]);
  p->high[k] = single ? 0 : below(r, 2) + p->window[k] - p->size[k] / 2;
  int room = p->size[k] + p->low[k] + p->high[k] - p->window[k];
  if (room < 0) p->high[k] -= room;
  p->count[k] = (room < 0 ? 0 : room) / p->stride[k] + 1;
}

static int elements(const int *dims) { return dims[0] * dims[1] * dims[2]; }

static pool draw(sw_rng *r) {
  pool p = {.select = below(r, 5), .scatter = below(r, 4)};
  for (int k = 0; k < RANK; k++) draw_dim(&p, k, r);
  for (int i = 0; i < elements(p.size); i++) p.x[i] = (float)below(r, 9) - 4;
  for (int i = 0; i < elements(p.count); i++) p.source[i] = (float)below(r, 5) - 2;
  p.init = (float)below(r, 3);
  return p;
}

static void coordinates(const int *dims, int number, int *at) {
  for (int k = RANK - 1; k >= 0; k--, number /= dims[k + 1]) at[k] = number % dims[k];
}

/* Number of the element that the window selects; -1: it has none. */
static int selected(const pool *p, const int *window_at) {
  int best = -1;
  for (int i = 0; i < elements(p->window); i++) {
    int at[RANK], number = 0;
    bool inside = true;
    coordinates(p->window, i, at);
    for (int k = 0; k < RANK; k++) {
      int place = window_at[k] * p->stride[k] + at[k] - p->low[k];
      inside = inside && place >= 0 && place < p->size[k];
      number = number * p->size[k] + place;
    }
    if (inside && (best < 0 || !selects(p->select, p->x[best], p->x[number]))) best = number;
  }
  return best;
}

static void run_in_c(const pool *p, float *y) {
  for (int i = 0; i < elements(p->size); i++) y[i] = p->init;
  for (int i = 0; i < elements(p->count); i++) {
    int at[RANK];
    coordinates(p->count, i, at);
    int to = selected(p, at);
    if (to >= 0) y[to] = scattered(p->scatter, y[to], p->source[i]);
  }
}

/* --- in StableHLO ------------------------------------------------------------------------------------------------ */

static void put_constant(sw_text *t, const char *name, const float *v, const int *dims) {
  sw_text_printf(t, "  %%%s0 = stablehlo.constant dense<[", name);
  for (int i = 0; i < elements(dims); i++) sw_text_printf(t, "%s%d.0", i ? ", " : "", (int)v[i]);
  sw_text_printf(t, "]> : tensor<%dxf32>\n  %%%s = stablehlo.reshape %%%s0 : (tensor<%dxf32>) -> ", elements(dims),
                 name, name, elements(dims));
  sw_text_printf(t, "tensor<%dx%dx%dxf32>\n", dims[0], dims[1], dims[2]);
}

static void put_program(const pool *p, sw_text *t) {
  char x[64], source[64];
  (void)snprintf(x, sizeof x, "tensor<%dx%dx%dxf32>", p->size[0], p->size[1], p->size[2]);
  (void)snprintf(source, sizeof source, "tensor<%dx%dx%dxf32>", p->count[0], p->count[1], p->count[2]);
  sw_text_printf(t, "func.func @main() -> %s {\n", x);
  put_constant(t, "x", p->x, p->size);
  put_constant(t, "s", p->source, p->count);
  sw_text_printf(t, "  %%i = stablehlo.constant dense<%d.0> : tensor<f32>\n", (int)p->init);
  sw_text_printf(t,
                 "  %%r = \"stablehlo.select_and_scatter\"(%%x, %%s, %%i) <{window_dimensions = array<i64: %d, %d, %d>",
                 p->window[0], p->window[1], p->window[2]);
  sw_text_printf(t, ", window_strides = array<i64: %d, %d, %d>", p->stride[0], p->stride[1], p->stride[2]);
  sw_text_printf(t, ", padding = dense<[[%d, %d], [%d, %d], [%d, %d]]> : tensor<3x2xi64>}> ({\n", p->low[0], p->high[0],
                 p->low[1], p->high[1], p->low[2], p->high[2]);
  sw_text_printf(t, "  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n%s    stablehlo.return %%c : tensor<i1>\n  }, {\n",
                 kSelect[p->select]);
  sw_text_printf(t, "  ^bb0(%%a: tensor<f32>, %%b: tensor<f32>):\n%s    stablehlo.return %%c : tensor<f32>\n",
                 kScatter[p->scatter]);
  sw_text_printf(t, "  }) : (%s, %s, tensor<f32>) -> %s\n  return %%r : %s\n}\n", x, source, x, x);
}

static void pools_as_in_c(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(12));
  for (int turn = 0; turn < 20 * check_scale(3); turn++) {
    pool p = draw(&rng);
    sw_text text = {0};
    diag = (sw_diag){0};
    sw_program *program = NULL;
    sw_tensor y;
    float want[MOST];
    put_program(&p, &text);
    run_in_c(&p, want);
    sw_rc rc = sw_program_parse("t.mlir", sw_text_str(&text), text.n, NULL, &program, &diag);
    if (!rc) rc = sw_exec_run(sw_program_graph(program), NULL, NULL, &y, &diag);
    if (rc) fail_msg("turn %d: %d: %s\n%s", turn, diag.line, diag.text, sw_text_str(&text));
    for (int i = 0; i < elements(p.size); i++) {
      float got = ((const float *)y.data)[i];
      if (got != want[i])
        fail_msg("turn %d: element %d is %g; expected %g\n%s", turn, i, got, want[i], sw_text_str(&text));
    }
    sw_tensor_deinit(&y);
    sw_program_destroy(program);
    sw_text_free(&text);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(pools_as_in_c)};
  return cmocka_run_group_tests_name("pools", tests, NULL, NULL);
}
