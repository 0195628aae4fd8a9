/* Programs on one device whose gradients read what runs first: chains and random graphs of matrices. */
#ifndef SUPPORT_DAG_H_
#define SUPPORT_DAG_H_

#include "check.h"
#include "shardwright/program.h"

enum { DAG_MOST_VALUES = 15, DAG_ROWS = 4096 };

static inline void dag_put_matrix(sw_text *t, int rows, int width) {
  sw_text_printf(t, "tensor<%dx%dxf32>", rows, width);
}

/* %OF = op %A, %B, all of one width. */
static inline void dag_put_op(sw_text *t, const char *of, int n, const char *op, const char *a, const char *b,
                              int width) {
  sw_text_printf(t, "  %%%s%d = stablehlo.%s %s%s%s : ", of, n, op, a, b ? ", " : "", b ? b : "");
  dag_put_matrix(t, DAG_ROWS, width);
  sw_text_puts(t, "\n");
}

/* %OF = %A times the weights of value k, or their transpose. */
static inline void dag_put_product(sw_text *t, const char *of, int n, const char *a, int k, bool back,
                                   const int *width) {
  const int from = width[k - 1], to = width[k];
  sw_text_printf(t, "  %%%s%d = stablehlo.dot_general %s, %%w%d, contracting_dims = [1] x [%d] : (", of, n, a, k, back);
  dag_put_matrix(t, DAG_ROWS, back ? to : from);
  sw_text_puts(t, ", ");
  dag_put_matrix(t, from, to);
  sw_text_puts(t, ") -> ");
  dag_put_matrix(t, DAG_ROWS, back ? from : to);
  sw_text_puts(t, "\n");
}

static inline const char *dag_ref(char *room, const char *of, int n) {
  (void)snprintf(room, 16, "%%%s%d", of, n);
  return room;
}

/* Of `least` to `most` values before the gradients. Value k is a product with weights, a function of the one before, or
 * it times an earlier one of its width, but in a chain; then what gradients read, from the last to the first. */
static inline sw_program *random_dag(sw_rng *r, bool chain, int least, int most) {
  const int n = least + (int)sw_rng_below(r, most - least + 1);
  int width[DAG_MOST_VALUES + 1] = {16}, with[DAG_MOST_VALUES + 1] = {0}, made = 0;
  char a[16], b[16], c[16];
  sw_text t = {0};
  sw_program *p;
  for (int k = 1; k <= n; k++) {
    width[k] = sw_rng_below(r, 2) ? 16 << sw_rng_below(r, 3) : width[k - 1];
    with[k] = -1; /* a function */
    if (width[k] != width[k - 1]) with[k] = k;
    for (int i = 0; i + 1 < k && !chain && with[k] < 0; i++)
      if (width[i] == width[k] && sw_rng_below(r, 2)) with[k] = i;
  }
  sw_text_printf(&t, "func.func @main(%%v0: ");
  dag_put_matrix(&t, DAG_ROWS, width[0]);
  for (int k = 1; k <= n; k++) {
    sw_text_printf(&t, ", %%w%d: ", k);
    dag_put_matrix(&t, width[k - 1], width[k]);
  }
  sw_text_puts(&t, ") -> ");
  dag_put_matrix(&t, DAG_ROWS, width[0]);
  sw_text_puts(&t, " {\n");
  for (int k = 1; k <= n; k++) {
    dag_ref(a, "v", k - 1);
    if (with[k] == k) dag_put_product(&t, "v", k, a, k, false, width);
    if (with[k] < 0) dag_put_op(&t, "v", k, k % 2 ? "tanh" : "abs", a, NULL, width[k]);
    if (with[k] >= 0 && with[k] < k) dag_put_op(&t, "v", k, "multiply", a, dag_ref(b, "v", with[k]), width[k]);
  }
  dag_put_op(&t, "g", made, "tanh", dag_ref(a, "v", n), NULL, width[n]);
  for (int k = n; k >= 1; k--) { /* %g is of value k */
    const int of = with[k] >= 0 && with[k] < k ? with[k] : k;
    dag_put_op(&t, "h", k, "multiply", dag_ref(a, "g", made), dag_ref(b, "v", of), width[k]);
    dag_ref(c, "h", k);
    made++;
    if (with[k] == k) dag_put_product(&t, "g", made, c, k, true, width);
    if (with[k] != k) dag_put_op(&t, "g", made, "abs", c, NULL, width[k]);
  }
  sw_text_printf(&t, "  return %%g%d : ", made);
  dag_put_matrix(&t, DAG_ROWS, width[0]);
  sw_text_puts(&t, "\n}\n");
  assert_ok(sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &p, &diag));
  sw_text_free(&t);
  return p;
}

#endif
