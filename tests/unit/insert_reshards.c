/* insert-explicit-reshards on random programs: all ops agree on their tensors then, and what it puts in becomes
 * collectives that can be read. */
#include "check.h"

#include "io/mlir/flow/program_flow.h"
#include "random_sharding.h"
#include "shardwright/program.h"

enum { MOST_VALUES = 24, N_ARGS = 3 };

typedef struct value {
  int64_t dims[2];
} value;

typedef struct program {
  rng r;
  sw_text text;
  int n;
  value at[MOST_VALUES]; /* %0, %1, ... of two dimensions */
} program;

static int64_t below(program *p, int64_t n) { return rng_below(&p->r, n); }

/* Some axes of x=2, y=4, z=2 on two dimensions, or one that is unreduced. */
static void put_sharding(program *p, int rank, bool may_be_unreduced) {
  static const char *const kAxes[] = {"\"x\"", "\"y\"", "\"z\"", "\"y\":(1)2", "\"y\":(2)2"};
  const bool parts = below(p, 3) == 0;
  int of[5];
  for (int a = 0; a < 5; a++) of[a] = (a == 1 && parts) || (a > 2 && !parts) ? -1 : (int)below(p, rank + 1) - 1;
  const int unreduced = may_be_unreduced && below(p, 6) == 0 && of[0] < 0 ? 0 : -1;
  sw_text_puts(&p->text, "<@grid, [");
  for (int d = 0; d < rank; d++) {
    int n = 0, last = -1;
    sw_text_puts(&p->text, d ? ", {" : "{");
    for (int k = 0; k < 5; k++) {
      const int a = d ? 4 - k : k; /* backwards in the second one, so that halves of y do not follow each other */
      if (of[a] != d || (a == 4 && last == 3)) continue;
      sw_text_printf(&p->text, "%s%s", n++ ? ", " : "", kAxes[a]);
      last = a;
    }
    sw_text_puts(&p->text, "}");
  }
  sw_text_printf(&p->text, "]%s>", unreduced < 0 ? "" : ", unreduced={\"x\"}");
}

static void put_type(program *p, value v) {
  sw_text_printf(&p->text, "tensor<%lldx%lldxf32>", (long long)v.dims[0], (long long)v.dims[1]);
}

static void put_own(program *p) {
  if (!below(p, 3)) return;
  sw_text_puts(&p->text, " {sdy.sharding = #sdy.sharding_per_value<[");
  put_sharding(p, 2, false);
  sw_text_puts(&p->text, "]>}");
}

/* The types of operands and of the new value, which is one now. */
static void end_line(program *p, const int *operands, int n, value result) {
  put_own(p);
  for (int i = 0; i < n; i++) {
    sw_text_puts(&p->text, i ? ", " : " : (");
    put_type(p, p->at[operands[i]]);
  }
  sw_text_puts(&p->text, ") -> ");
  put_type(p, result);
  sw_text_puts(&p->text, "\n");
  p->at[p->n++] = result;
}

static int any(program *p) { return (int)below(p, p->n); }

/* Another value that shares a size; itself where there is none. */
static int mate(program *p, int of, int dim, int mate_dim) {
  for (int tries = 0; tries < 20; tries++) {
    const int k = any(p);
    if (p->at[k].dims[mate_dim] == p->at[of].dims[dim]) return k;
  }
  return of;
}

static void put_op(program *p) {
  const int a = any(p), b = mate(p, a, 1, 0), c = mate(p, a, 1, 1);
  const value x = p->at[a];
  sw_text_printf(&p->text, "  %%%d = ", p->n);
  switch (below(p, 6)) {
    case 0:
      sw_text_printf(&p->text, "\"stablehlo.add\"(%%%d, %%%d)", a, p->at[c].dims[0] == x.dims[0] ? c : a);
      end_line(p, (const int[]){a, p->at[c].dims[0] == x.dims[0] ? c : a}, 2, x);
      break;
    case 1:
      if (p->at[b].dims[0] == x.dims[1]) {
        sw_text_printf(&p->text, "stablehlo.dot_general %%%d, %%%d, contracting_dims = [1] x [0]", a, b);
        end_line(p, (const int[]){a, b}, 2, (value){{x.dims[0], p->at[b].dims[1]}});
        break;
      } /* fall through */
    case 2:
      sw_text_printf(&p->text, "stablehlo.transpose %%%d, dims = [1, 0]", a);
      end_line(p, &a, 1, (value){{x.dims[1], x.dims[0]}});
      break;
    case 3: /* of arguments: the rule of one of slices is another when they are resharded first */
      if (a < N_ARGS && c < N_ARGS) {
        sw_text_printf(&p->text, "stablehlo.concatenate %%%d, %%%d, dim = 0", a, c);
        end_line(p, (const int[]){a, c}, 2, (value){{x.dims[0] + p->at[c].dims[0], x.dims[1]}});
        break;
      } /* fall through */
    case 4:
      sw_text_printf(&p->text, "stablehlo.reshape %%%d", a);
      end_line(p, &a, 1, (value){{x.dims[0] / 2, x.dims[1] * 2}});
      break;
    default:
      sw_text_printf(&p->text, "stablehlo.slice %%%d [0:%lld, 0:%lld]", a, (long long)x.dims[0],
                     (long long)(x.dims[1] / 2));
      end_line(p, &a, 1, (value){{x.dims[0], x.dims[1] / 2}});
  }
}

static void make_program(program *p) {
  const int n_ops = 4 + (int)below(p, 12);
  sw_text_puts(&p->text, "sdy.mesh @grid = <[\"x\"=2, \"y\"=4, \"z\"=2]>\nfunc.func @main(");
  for (; p->n < N_ARGS; p->n++) {
    p->at[p->n] = (value){{16 << below(p, 2), 16 << below(p, 2)}};
    sw_text_printf(&p->text, "%s%%%d: ", p->n ? ", " : "", p->n);
    put_type(p, p->at[p->n]);
    if (!below(p, 4)) continue;
    sw_text_puts(&p->text, " {sdy.sharding = #sdy.sharding");
    put_sharding(p, 2, true);
    sw_text_puts(&p->text, "}");
  }
  sw_text_puts(&p->text, ") -> ");
  program body = {.r = p->r, .n = p->n};
  memcpy(body.at, p->at, sizeof body.at);
  for (int i = 0; i < n_ops; i++) {
    if (body.at[body.n - 1].dims[0] % 2 || body.at[body.n - 1].dims[1] % 2 || body.n == MOST_VALUES) break;
    put_op(&body);
  }
  const int last = body.n - 1;
  put_type(p, body.at[last]);
  sw_text_printf(&p->text, " {\n%s  return %%%d : ", sw_text_str(&body.text), last);
  put_type(p, body.at[last]);
  sw_text_puts(&p->text, "\n}\n");
  sw_text_free(&body.text);
}

static double no_price(void *user, int i, const sw_agreement *a) {
  (void)user;
  (void)i;
  (void)a;
  return 1;
}

/* Tensors of all steps agree; how many steps there are. */
static int check_agreement(const sw_text *text) {
  sw_diag diag = {0};
  sw_ir_tree tree;
  sw_ir_names names;
  sw_program_flow flow;
  sw_agreeing *room;
  sw_agreement a;
  int n = 0;
  assert_ok(sw_ir_parse("random", sw_text_str(text), text->n, &tree, &diag));
  assert_ok(sw_ir_resolve(&tree, &names, &diag));
  assert_ok(sw_program_flow_read(&tree, &names, false, &flow, &diag));
  assert_ok(sw_agreeing_make(&room, &diag));
  for (int32_t i = 0; i < flow.flow.n_steps; i++) {
    const sw_flow_step *s = &flow.flow.steps[i];
    if (!sw_agree(room, &flow.flow, s, no_price, NULL, &a)) continue;
    if (a.changes) {
      print_message("%s", sw_text_str(text));
      fail_msg("tensors of an op do not agree: %.*s", SW_IR_TEXT(&tree, tree.ops.at[s->source].text));
    }
    n++;
  }
  sw_agreeing_destroy(room);
  sw_program_flow_free(&flow);
  sw_ir_names_free(&names);
  sw_ir_free(&tree);
  return n;
}

static void run_passes(const sw_text *in, const char *passes, sw_text *out) {
  sw_diag diag = {0};
  assert_ok(sw_program_run_passes("random", sw_text_str(in), in->n, passes, NULL, out, &diag));
}

static void check_readable(const sw_text *text) {
  sw_diag diag = {0};
  sw_program *p;
  assert_ok(sw_program_parse("random", sw_text_str(text), text->n, NULL, &p, &diag));
  sw_program_destroy(p);
}

static void ops_of_random_programs_agree(void **state) {
  (void)state;
  rng r = {check_seed(3)};
  int steps = 0;
  for (int i = 0, n = check_scale(300); i < n; i++) {
    program p = {.r = {rng_next(&r)}};
    sw_text full = {0}, out = {0}, brief = {0};
    make_program(&p);
    run_passes(&p.text, "insert-explicit-reshards{enable-full-version=true}", &full);
    steps += check_agreement(&full);
    run_passes(&full, "reshard-to-collectives", &out);
    assert_null(strstr(sw_text_str(&out), "sdy.reshard"));
    check_readable(&out);
    run_passes(&p.text, "insert-explicit-reshards,reshard-to-collectives", &brief);
    check_readable(&brief);
    sw_text_free(&full);
    sw_text_free(&out);
    sw_text_free(&brief);
    sw_text_free(&p.text);
  }
  assert_true(steps > 100);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(ops_of_random_programs_agree)};
  return cmocka_run_group_tests_name("insert_reshards", tests, NULL, NULL);
}
