/* Attention that is written as products and a softmax, fused: how often it is found, where it must not be, and that the
 * fused graph computes what the written one does. */
#include <math.h>

#include "check.h"

#include "graph/attention.h"
#include "graph/fuse.h"
#include "gen/gen.h"
#include "shardwright/exec.h"
#include "shardwright/program.h"
#include "support/program.h"

enum { MOST_VALUES = 160 };

static void fill(const sw_graph *g, uint64_t seed, sw_tensor *args) {
  assert_in_range(g->n_args, 1, MOST_VALUES);
  for (int i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    sw_fill how = {.kind = SW_FILL_RANDOM, .seed = seed + (uint64_t)i, .limit = 0.8};
    if (sw_dtype_class_of(v->type.dtype) != SW_CLASS_FLOAT) how = (sw_fill){SW_FILL_INDEX, seed, 2, 0};
    assert_ok(sw_tensor_init(&args[i], v->type.dtype, v->type.rank, v->type.dims, &diag));
    assert_ok(sw_tensor_fill(&args[i], &how, &diag));
    for (int64_t k = 0; v->type.dtype == SW_BOOL && k < sw_buffer_elements(&args[i]); k++)
      ((bool *)args[i].data)[k] = k % 3 == 1; /* in each row some are true, and some are not */
  }
}

static void run(const sw_graph *g, const sw_tensor *args, sw_tensor *out) {
  const sw_buffer *in[MOST_VALUES];
  for (int i = 0; i < g->n_args; i++) in[i] = &args[i];
  assert_ok(sw_exec_run(g, in, &(sw_exec_options){.poison = true}, out, &diag));
}

static void print_graph(const sw_graph *g) {
  sw_text t = {0};
  sw_graph_print(g, &t);
  print_message("%s\n", sw_text_str(&t));
  sw_text_free(&t);
}

/* `forward` and `gradient` attentions are found, and all outputs stay. */
static void expect_fused(const char *what, const sw_graph *g, int forward, int gradient, double relative) {
  sw_arena arena = {0};
  sw_graph *fused;
  sw_fused how;
  sw_tensor args[MOST_VALUES], want[MOST_VALUES], got[MOST_VALUES];
  assert_ok(sw_graph_fuse_attention(g, &arena, &fused, &how, &diag));
  if (how.n_forward != forward || how.n_gradient != gradient) {
    print_graph(g);
    fail_msg("%s: %d attentions and %d gradients are found; expected %d and %d", what, how.n_forward, how.n_gradient,
             forward, gradient);
  }
  fill(g, 7, args);
  run(g, args, want);
  run(fused, args, got);
  assert_int_equal(g->n_outputs, fused->n_outputs);
  for (int i = 0; i < g->n_outputs; i++) {
    sw_difference off;
    assert_string_equal(g->output_names[i], fused->output_names[i]);
    assert_ok(sw_tensor_compare(&got[i], &want[i], (sw_tolerance){relative, relative}, &off, &diag));
    if (off.differing) {
      print_graph(fused);
      fail_msg("%s: '%s' differs by %g", what, g->output_names[i], off.worst_relative);
    }
  }
  for (int i = 0; i < g->n_args; i++) sw_tensor_deinit(&args[i]);
  for (int i = 0; i < g->n_outputs; i++) {
    sw_tensor_deinit(&want[i]);
    sw_tensor_deinit(&got[i]);
  }
  sw_graph_destroy(fused);
  sw_arena_deinit(&arena);
}

/* --- generated models --------------------------------------------------------------------------------------------- */

static const struct {
  const char *arch;
  sw_gen_arg args[12];
  int layers;
} kModels[] = {
    {"gpt2", {{"layers", "2"}, {"hidden", "8"}, {"heads", "2"}, {"vocab", "11"}, {"seq", "5"}, {"batch", "2"}}, 2},
    {"bert", {{"layers", "2"}, {"hidden", "6"}, {"heads", "3"}, {"vocab", "7"}, {"seq", "4"}, {"batch", "2"}}, 2},
    {"llama3",
     {{"layers", "2"},
      {"hidden", "8"},
      {"heads", "4"},
      {"kv-heads", "2"},
      {"head-dim", "4"},
      {"ffn", "6"},
      {"vocab", "11"},
      {"seq", "5"},
      {"batch", "2"}},
     2},
    {"vit",
     {{"layers", "1"},
      {"hidden", "6"},
      {"heads", "2"},
      {"image", "8"},
      {"patch", "4"},
      {"classes", "5"},
      {"batch", "2"}},
     1},
};

static void generated_models_are_fused(void **state) {
  (void)state;
  static const char *const kModes[] = {"forward", "train"};
  for (size_t m = 0; m < sizeof kModels / sizeof *kModels; m++) {
    for (int mode = 0; mode < 2; mode++) {
      sw_gen_arg args[16];
      sw_graph *g;
      int n = 0;
      while (kModels[m].args[n].name) args[n] = kModels[m].args[n], n++;
      args[n++] = (sw_gen_arg){"mode", kModes[mode]};
      args[n++] = (sw_gen_arg){"dtype", "f64"};
      if (mode) args[n++] = (sw_gen_arg){"optimizer", "sgd"};
      assert_ok(sw_gen_model(kModels[m].arch, args, n, &g, &diag));
      expect_fused(kModels[m].arch, g, kModels[m].layers, mode ? kModels[m].layers : 0, 1e-9);
      sw_graph_destroy(g);
    }
  }
}

/* --- ways to write it --------------------------------------------------------------------------------------------- */

#define HEADS "q f64 2,3,4,5; k f64 2,3,6,5; v f64 2,3,6,7"
#define SCORES "s = dot_general(q, k) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[3]; "
#define MIX "o = dot_general(p, v) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[2]"
#define NUMBER(name, value, shape) name " = constant() 'value':" value ",'dtype':'f64','shape':" shape "; "

static const struct {
  const char *name, *args, *ops;
  int forward;
} kWays[] = {
    {"softmax", HEADS, SCORES "p = softmax(s); " MIX, 1},
    {"scale before and behind", HEADS,
     SCORES NUMBER("c", "0.5",
                   "[2,3,4,6]") "t = multiply(s, c); u = divide(t, c); w = multiply(c, u); p = softmax(w); " MIX,
     1},
    {"a bias for all heads", HEADS "; b f64 2,1,4,6",
     SCORES "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[0,1,2,3]; t = add(c, s); p = softmax(t); " MIX, 1},
    {"a mask", HEADS "; b bool 4,6",
     SCORES "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[2,3]; " NUMBER(
         "n", "-30000", "[2,3,4,6]") "t = select(c, s, n); p = softmax(t); " MIX,
     1},
    {"a mask that hides", HEADS "; b bool 2,6",
     SCORES "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[0,3]; " NUMBER(
         "n", "-1e9", "[2,3,4,6]") "t = select(c, n, s); p = softmax(t); " MIX,
     1},
    {"causal", HEADS,
     SCORES "i = iota() 'dtype':'i32','shape':[4,6],'dim':0; j = iota() 'dtype':'i32','shape':[4,6],'dim':1; "
            "c = compare(i, j) 'direction':'ge'; d = broadcast_in_dim(c) 'shape':[2,3,4,6],'dims':[2,3]; " NUMBER(
                "n", "-1e9", "[2,3,4,6]") "t = select(d, s, n); p = softmax(t); " MIX,
     1},
    {"causal, later by one", HEADS,
     SCORES "i = iota() 'dtype':'i32','shape':[4,6],'dim':0; j = iota() 'dtype':'i32','shape':[4,6],'dim':1; "
            "e = constant() 'value':2,'dtype':'i32','shape':[4,6]; f = add(i, e); "
            "c = compare(j, f) 'direction':'lt'; d = broadcast_in_dim(c) 'shape':[2,3,4,6],'dims':[2,3]; " NUMBER(
                "n", "-1e9", "[2,3,4,6]") "t = select(d, s, n); p = softmax(t); " MIX,
     1},
    {"positions first, as JAX's einsums", "q f64 2,4,3,5; k f64 2,6,3,5; v f64 2,6,3,7",
     "s = dot_general(q, k) 'lhs_batch':[0,2],'rhs_batch':[0,2],'lhs_contract':[3],'rhs_contract':[3]; p = softmax(s); "
     "x = dot_general(v, p) 'lhs_batch':[0,2],'rhs_batch':[0,1],'lhs_contract':[1],'rhs_contract':[3]; "
     "o = transpose(x) 'permutation':[0,3,1,2]",
     1},
    {"one batch dim, cut into two between, as PyTorch's", "q f64 6,4,5; k f64 6,5,6; v f64 6,6,7; b f64 1,1,4,6",
     "s = dot_general(q, k) 'lhs_batch':[0],'rhs_batch':[0],'lhs_contract':[2],'rhs_contract':[1]; "
     "r = reshape(s) 'shape':[2,3,4,6]; c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[0,1,2,3]; t = add(r, c); "
     "w = softmax(t); p = reshape(w) 'shape':[6,4,6]; "
     "o = dot_general(p, v) 'lhs_batch':[0],'rhs_batch':[0],'lhs_contract':[2],'rhs_contract':[1]",
     1},
    {"rows without keys give 0, as PyTorch's", HEADS "; b bool 4,6",
     SCORES "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[2,3]; " NUMBER(
         "n", "'-inf'",
         "[2,3,4,6]") "t = select(c, s, n); w = softmax(t); e = compare(t, n) 'direction':'eq'; f = not(e); "
                      "g = reduce(f) 'kind':'or','dims':[3],'keep_dims':true; h = not(g); "
                      "i = broadcast_in_dim(h) 'shape':[2,3,4,6],'dims':[0,1,2,3]; " NUMBER(
                          "z", "0", "[2,3,4,6]") "p = select(i, z, w); " MIX,
     1},
    {"no batch", "q f64 4,5; k f64 6,5; v f64 6,7",
     "s = dot_general(q, k) 'lhs_contract':[1],'rhs_contract':[1]; p = softmax(s); "
     "o = dot_general(p, v) 'lhs_contract':[1],'rhs_contract':[0]",
     1},
    {"groups of queries", "q f64 2,4,3,2,5; k f64 2,6,3,5; v f64 2,6,3,7",
     "s = dot_general(q, k) 'lhs_batch':[0,2],'rhs_batch':[0,2],'lhs_contract':[4],'rhs_contract':[3]; "
     "p = softmax(s); "
     "o = dot_general(p, v) 'lhs_batch':[0,1],'rhs_batch':[0,2],'lhs_contract':[4],'rhs_contract':[1]",
     1},
    {"one query, of which no dim is left", "q f64 2,3,5; k f64 2,6,3,5; v f64 2,6,3,7",
     "s = dot_general(q, k) 'lhs_batch':[0,1],'rhs_batch':[0,2],'lhs_contract':[2],'rhs_contract':[3]; "
     "p = softmax(s); "
     "o = dot_general(p, v) 'lhs_batch':[0,1],'rhs_batch':[0,2],'lhs_contract':[2],'rhs_contract':[1]",
     1},
    {"dropout", HEADS "; b bool 2,3,4,6",
     SCORES NUMBER("n", "0.75", "[2,3,4,6]")
         NUMBER("z", "0", "[2,3,4,6]") "w = softmax(s); t = divide(w, n); p = select(b, t, z); " MIX,
     1},
    {"dropout, of one batch as of all, by what is dropped", HEADS "; b bool 3,4,6",
     SCORES NUMBER("n", "2", "[2,3,4,6]")
         NUMBER("z", "0", "[2,3,4,6]") "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[1,2,3]; w = softmax(s); "
                                       "t = select(c, z, w); p = multiply(n, t); " MIX,
     1},
    {"dropout as a number", HEADS "; b bool 2,1,4,6",
     SCORES NUMBER("n", "0.9", "[2,1,4,6]") "a = convert(b) 'dtype':'f64'; c = divide(a, n); "
                                            "d = broadcast_in_dim(c) 'shape':[2,3,4,6],'dims':[0,1,2,3]; "
                                            "w = softmax(s); p = multiply(d, w); " MIX,
     1},
    /* not one */
    {"weights that are dropped and not divided", HEADS "; b bool 2,3,4,6",
     SCORES NUMBER("z", "0", "[2,3,4,6]") "w = softmax(s); p = select(b, w, z); " MIX, 0},
    {"weights that are chosen, or 1", HEADS "; b bool 2,3,4,6",
     SCORES NUMBER("n", "0.75", "[2,3,4,6]")
         NUMBER("z", "1", "[2,3,4,6]") "w = softmax(s); t = divide(w, n); p = select(b, t, z); " MIX,
     0},
    {"two dropouts", HEADS "; b bool 2,3,4,6; c bool 2,3,4,6",
     SCORES NUMBER("n", "0.75", "[2,3,4,6]") NUMBER(
         "z", "0", "[2,3,4,6]") "w = softmax(s); t = divide(w, n); u = select(b, t, z); p = select(c, u, z); " MIX,
     0},
    {"another use of the softmax", HEADS,
     SCORES "p = softmax(s); e = reduce(p) 'kind':'max','dims':[3]; " MIX
            "; o2 = reduce(e) 'kind':'sum','dims':[0,1,2]; u = reduce(o) 'kind':'sum','dims':[0,1,2,3]; x = add(o2, u)",
     0},
    {"dropped weights", HEADS "; b f64 2,3,4,6", SCORES "w = softmax(s); p = multiply(w, b); " MIX, 0},
    {"no softmax", HEADS, SCORES "p = exponential(s); " MIX, 0},
    {"a softmax over queries", "q f64 2,3,4,5; k f64 2,3,4,5; v f64 2,3,4,7",
     SCORES "w = softmax(s) 'dim':2; p = transpose(w) 'permutation':[0,1,2,3]; " MIX, 0},
    {"another largest", HEADS "; b f64 2,3,4",
     SCORES "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[0,1,2]; t = subtract(s, c); e = exponential(t); "
            "f = reduce(e) 'kind':'sum','dims':[3]; g = broadcast_in_dim(f) 'shape':[2,3,4,6],'dims':[0,1,2]; "
            "p = divide(e, g); " MIX,
     0},
    {"a mask that hides little", HEADS "; b bool 4,6",
     SCORES "c = broadcast_in_dim(b) 'shape':[2,3,4,6],'dims':[2,3]; " NUMBER(
         "n", "-3", "[2,3,4,6]") "t = select(c, s, n); p = softmax(t); " MIX,
     0},
};

static const char *last_result(const char *ops) {
  static char name[16];
  const char *last = ops;
  for (const char *p = ops; (p = strchr(p, ';')); p++) last = p + 1;
  if (sscanf(last, " %15[a-z0-9]", name) != 1) fail_msg("no result in '%s'", ops);
  return name;
}

static void written_attention_is_found(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kWays / sizeof *kWays; i++) {
    sw_graph *g;
    assert_ok(program_of(kWays[i].args, NULL, kWays[i].ops, last_result(kWays[i].ops), &g, &diag));
    expect_fused(kWays[i].name, g, kWays[i].forward, 0, 1e-9);
    sw_graph_destroy(g);
  }
}

/* Of a causal mask nothing is left, and of a bias for all heads it is not made larger. */
static void masks_and_biases_stay_small(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kWays / sizeof *kWays; i++) {
    sw_arena arena = {0};
    sw_graph *g, *fused;
    sw_fused how;
    const bool causal = strncmp(kWays[i].name, "causal", 6) == 0, bias = strncmp(kWays[i].name, "a bias", 6) == 0;
    if (!causal && !bias) continue;
    assert_ok(program_of(kWays[i].args, NULL, kWays[i].ops, "o", &g, &diag));
    assert_ok(sw_graph_fuse_attention(g, &arena, &fused, &how, &diag));
    assert_int_equal(fused->n_ops, 1);
    assert_int_equal(fused->ops[0].code, SW_OP_ATTENTION);
    assert_int_equal(fused->ops[0].n_operands, causal ? 3 : 4);
    assert_int_equal(sw_op_int(&fused->ops[0], SW_ATTR_CAUSAL, 0), causal);
    sw_graph_destroy(fused);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* --- heads that are repeated -------------------------------------------------------------------------------------- */

#define REPEATED(to, from, ...) to " = broadcast_in_dim(" from ") " __VA_ARGS__ "; "
#define JOINED(to, from, width) to " = reshape(" from ") 'shape':[2,6,7," width "]; "
#define GROUPED_HEADS "q f64 2,6,4,5; c f64 2,3,7,5; e f64 2,3,7,3; d f64 2,6,4,3"
#define K_AND_V                                               \
  REPEATED("kk", "c", "'shape':[2,3,2,7,5],'dims':[0,1,3,4]") \
  JOINED("k", "kk", "5")                                      \
  REPEATED("vv", "e", "'shape':[2,3,2,7,3],'dims':[0,1,3,4]") JOINED("v", "vv", "3")
#define GROUPED_GRADIENT                                                                                \
  "; g = dot_general(d, v) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[3]; " \
  "a = multiply(p, g); b = reduce(a) 'kind':'sum','dims':[3]; "                                         \
  "f = broadcast_in_dim(b) 'shape':[2,6,4,7],'dims':[0,1,2]; h = multiply(f, p); z = subtract(a, h); "  \
  "y = dot_general(z, q) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[2],'rhs_contract':[2]; "   \
  "w = dot_general(p, d) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[2],'rhs_contract':[2]; "   \
  "yy = reshape(y) 'shape':[2,3,2,7,5]; ww = reshape(w) 'shape':[2,3,2,7,3]; "

static const struct {
  const char *name, *args, *ops, *outputs;
  int gradients;
  int64_t group;
} kRepeated[] = {
    {"repeated", GROUPED_HEADS, K_AND_V SCORES "p = softmax(s); " MIX, "o", 0, 2},
    {"repeated, with gradients", GROUPED_HEADS,
     K_AND_V SCORES "p = softmax(s); " MIX GROUPED_GRADIENT
                    "dk = reduce(yy) 'kind':'sum','dims':[2]; dv = reduce(ww) 'kind':'sum','dims':[2]",
     "o, dk, dv", 1, 2},
    {"a gradient of what is repeated", GROUPED_HEADS,
     K_AND_V SCORES "p = softmax(s); " MIX GROUPED_GRADIENT "dv = reduce(ww) 'kind':'sum','dims':[2]", "o, yy, dv", 1,
     1},
    {"a gradient added up over other heads", GROUPED_HEADS,
     K_AND_V SCORES "p = softmax(s); " MIX GROUPED_GRADIENT
                    "dk = reduce(yy) 'kind':'sum','dims':[1]; dv = reduce(ww) 'kind':'sum','dims':[2]",
     "o, dk, dv", 1, 1},
    {"the largest of gradients", GROUPED_HEADS,
     K_AND_V SCORES "p = softmax(s); " MIX GROUPED_GRADIENT
                    "dk = reduce(yy) 'kind':'max','dims':[2]; dv = reduce(ww) 'kind':'sum','dims':[2]",
     "o, dk, dv", 1, 1},
    {"one behind the other", "q f64 2,6,4,5; c f64 2,3,7,5; e f64 2,3,7,3",
     REPEATED("kk", "c", "'shape':[2,2,3,7,5],'dims':[0,2,3,4]") JOINED("k", "kk", "5") REPEATED(
         "vv", "e", "'shape':[2,2,3,7,3],'dims':[0,2,3,4]") JOINED("v", "vv", "3") SCORES "p = softmax(s); " MIX,
     "o", 0, 1},
    {"k alone", "q f64 2,6,4,5; c f64 2,3,7,5; v f64 2,6,7,3",
     REPEATED("kk", "c", "'shape':[2,3,2,7,5],'dims':[0,1,3,4]") JOINED("k", "kk", "5") SCORES "p = softmax(s); " MIX,
     "o", 0, 1},
    {"scaled before it is repeated, and behind", GROUPED_HEADS,
     NUMBER("n", "0.5", "[2,6,7,5]") K_AND_V
     "kn = multiply(n, k); s = dot_general(q, kn) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],"
     "'rhs_contract':[3]; p = softmax(s); " MIX,
     "o", 0, 2},
    {"v scaled", GROUPED_HEADS,
     NUMBER("n", "0.5", "[2,6,7,3]") K_AND_V SCORES
     "p = softmax(s); vn = multiply(n, v); o = dot_general(p, vn) "
     "'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[2]",
     "o", 0, 1},
    {"one head for all", "q f64 2,6,4,5; c f64 2,7,5; e f64 2,7,3",
     REPEATED("k", "c", "'shape':[2,6,7,5],'dims':[0,2,3]") REPEATED("v", "e", "'shape':[2,6,7,3],'dims':[0,2,3]")
         SCORES "p = softmax(s); " MIX,
     "o", 0, 6},
    {"keys that are all alike", "q f64 2,6,4,5; c f64 2,6,5; v f64 2,6,7,3",
     REPEATED("k", "c", "'shape':[2,6,7,5],'dims':[0,1,3]") SCORES "p = softmax(s); " MIX, "o", 0, 1},
};

static void repeated_heads_are_groups(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRepeated / sizeof *kRepeated; i++) {
    sw_arena arena = {0};
    sw_graph *g, *fused;
    sw_fused how;
    int64_t group = 0;
    assert_ok(program_of(kRepeated[i].args, NULL, kRepeated[i].ops, kRepeated[i].outputs, &g, &diag));
    expect_fused(kRepeated[i].name, g, 1, kRepeated[i].gradients, 1e-9);
    assert_ok(sw_graph_fuse_attention(g, &arena, &fused, &how, &diag));
    for (sw_id k = 0; k < fused->n_ops; k++) {
      if (fused->ops[k].code == SW_OP_ATTENTION) group = fused->ops[k].nest->loops[SW_ATTENTION_GROUP].size;
    }
    if (group != kRepeated[i].group)
      fail_msg("%s: groups of %lld; expected %lld", kRepeated[i].name, (long long)group, (long long)kRepeated[i].group);
    sw_graph_destroy(fused);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

/* --- a program of JAX's, as its gradient is written --------------------------------------------------------------- */

/* y (ct - sum(y ct)) is y ct - y sum(y ct) there: the softmax has a derivative of its own. */
static const char kGradient[] =
    SCORES "p = softmax(s); " MIX
           "; g = dot_general(d, v) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[3]; "
           "a = multiply(p, g); b = negate(a); c = reduce(b) 'kind':'sum','dims':[3]; "
           "e = broadcast_in_dim(c) 'shape':[2,3,4,6],'dims':[0,1,2]; f = multiply(e, p); h = add(a, f); "
           "x = dot_general(h, k) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[2]; "
           "y = dot_general(h, q) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[2],'rhs_contract':[2]; "
           "z = dot_general(d, p) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[2],'rhs_contract':[2]; "
           "w = transpose(z) 'permutation':[0,1,3,2]";

static void gradients_are_found(void **state) {
  (void)state;
  sw_graph *g;
  assert_ok(program_of(HEADS "; d f64 2,3,4,7", NULL, kGradient, "o, x, y, w", &g, &diag));
  expect_fused("as JAX writes it", g, 1, 1, 1e-9);
  sw_graph_destroy(g);
  assert_ok(program_of(HEADS "; d f64 2,3,4,7", NULL, kGradient, "x, y", &g, &diag));
  expect_fused("without the forward part", g, 1, 1, 1e-9);
  sw_graph_destroy(g);
}

/* With dropout, whose derivative is that of what is kept. */
static const char kDropped[] = SCORES NUMBER("n", "0.75", "[2,3,4,6]") NUMBER(
    "zero", "0",
    "[2,3,4,6]") "w = softmax(s); j = divide(w, n); p = select(b, j, zero); " MIX
                 "; g = dot_general(d, v) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[3]; "
                 "t = select(b, g, zero); u = divide(t, n); a = multiply(w, u); c = reduce(a) 'kind':'sum','dims':[3]; "
                 "e = broadcast_in_dim(c) 'shape':[2,3,4,6],'dims':[0,1,2]; f = multiply(e, w); h = subtract(a, f); "
                 "x = dot_general(h, k) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[3],'rhs_contract':[2]; "
                 "y = dot_general(h, q) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[2],'rhs_contract':[2]; "
                 "z = dot_general(d, p) 'lhs_batch':[0,1],'rhs_batch':[0,1],'lhs_contract':[2],'rhs_contract':[2]";

static const struct {
  const char *what, *was, *is;
  int found;
} kDroppedWays[] = {
    {"dropped", "t =", "t =", 1},
    {"a derivative of all", "u = divide(t, n)", "u = divide(g, n)", 0},
    {"another op", "u = divide(t, n)", "u = maximum(t,n)", 0},
    {"a sum of all", "c = reduce(a)", "c = reduce(w)", 0},
    {"the softmax before it", "z = dot_general(d, p)", "z = dot_general(d, w)", 0},
    {"others are kept", "t = select(b, g", "t = select(i, g", 0},
};

static void dropout_has_its_gradient(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kDroppedWays / sizeof *kDroppedWays; i++) {
    char ops[sizeof kDropped];
    sw_graph *g;
    memcpy(ops, kDropped, sizeof ops);
    char *at = strstr(ops, kDroppedWays[i].was);
    for (size_t k = 0; kDroppedWays[i].is[k]; k++) at[k] = kDroppedWays[i].is[k];
    assert_ok(program_of(HEADS "; d f64 2,3,4,7; b bool 2,3,4,6; i bool 2,3,4,6", NULL, ops, "o, x, y, z", &g, &diag));
    expect_fused(kDroppedWays[i].what, g, kDroppedWays[i].found, kDroppedWays[i].found, 1e-9);
    sw_graph_destroy(g);
  }
}

/* A derivative that lacks a factor is none. */
static void wrong_gradients_stay(void **state) {
  (void)state;
  char ops[sizeof kGradient];
  sw_graph *g;
  memcpy(ops, kGradient, sizeof ops);
  char *wrong = strstr(ops, "h = add(a, f)");
  memcpy(wrong, "h = add(f, f)", strlen("h = add(f, f)"));
  assert_ok(program_of(HEADS "; d f64 2,3,4,7", NULL, ops, "o, x, y, w", &g, &diag));
  expect_fused("another derivative", g, 0, 0, 1e-9);
  sw_graph_destroy(g);
}

/* --- what is said of values in between ---------------------------------------------------------------------------- */

/* q, k and v of heads 0..5 in groups of 2 kv heads, `said` of scores s or their softmax p; "loops" of the op: "0:x
 * 3:y", NULL: it stays as it is written. */
static const struct {
  const char *name, *values, *more, *loops;
} kSaid[] = {
    {"batches and heads",
     "{\"name\": \"p\", \"annotations\": [{\"sharding\": \"[[x],[y],[],[]]\", \"required\": true}]}", "", "0:x 1:y"},
    {"a hint", "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[x],[y],[],[]]\"}]}", "", "0:x 1:y"},
    {"heads by more than there are kv heads",
     "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[],[y,x],[],[]]\"}]}", "", "1:y 2:x"},
    {"queries and keys", "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[],[],[y],[x]]\"}]}", "", "3:y 4:x"},
    {"not cut", "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[],[],[],[]]\"}]}", "", ""},
    {"a dim left open, and said elsewhere",
     "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[x],[?],[],[]]\"}]}, "
     "{\"name\": \"p\", \"annotations\": [{\"sharding\": \"[[x],[y],[],[?]]\"}]}",
     "", "0:x 1:y"},
    {"a dim left open", "{\"name\": \"p\", \"annotations\": [{\"sharding\": \"[[x],[?],[],[]]\"}]}", "", NULL},
    {"cut, and left open", "{\"name\": \"p\", \"annotations\": [{\"sharding\": \"[[x,?],[],[],[]]\"}]}", "", NULL},
    {"two that differ",
     "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[x],[],[],[]]\"}]}, "
     "{\"name\": \"p\", \"annotations\": [{\"sharding\": \"[[y],[],[],[]]\"}]}",
     "", NULL},
    {"blocks of heads that are none of groups",
     "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[],[z],[],[]]\"}]}", "", NULL},
    {"for users", "{\"name\": \"p\", \"annotations\": [{\"sharding\": \"[[x],[],[],[]]\", \"for_users\": true}]}", "",
     NULL},
    {"partial", "{\"name\": \"s\", \"annotations\": [{\"sharding\": \"[[],[],[],[]] partial sum[x]\"}]}", "", NULL},
    {"a group", "{\"name\": \"s\"}", ", \"sharding_groups\": [[\"s\", \"p\"]]", NULL},
};

static sw_graph *said_model(const char *values, const char *more) {
  static const char kArg[] = "{\"name\": \"%s\", \"kind\": \"input\", \"dtype\": \"f64\", \"shape\": [2,%d,%d,5]}, ";
  sw_text t = {0};
  sw_graph *g;
  sw_text_puts(&t, "{\"format\": \"shardwright-model\", \"version\": 1, \"mesh\": \"x=2,y=2,z=4\", \"values\": [");
  sw_text_printf(&t, kArg, "q", 4, 4);
  sw_text_printf(&t, kArg, "k", 2, 6);
  sw_text_printf(
      &t,
      "%s], \"ops\": [{\"op\": \"broadcast_in_dim\", \"inputs\": [\"k\"], \"outputs\": [\"kk\"], "
      "\"attrs\": {\"shape\": [2,2,2,6,5], \"dims\": [0,1,3,4]}}, {\"op\": \"reshape\", \"inputs\": [\"kk\"], "
      "\"outputs\": [\"r\"], \"attrs\": {\"shape\": [2,4,6,5]}}, {\"op\": \"einsum\", \"inputs\": [\"q\", "
      "\"r\"], \"outputs\": [\"s\"], \"attrs\": {\"equation\": \"bhqd,bhkd->bhqk\"}}, {\"op\": \"softmax\", "
      "\"inputs\": [\"s\"], \"outputs\": [\"p\"]}, {\"op\": \"einsum\", \"inputs\": [\"p\", \"r\"], "
      "\"outputs\": [\"o\"], \"attrs\": {\"equation\": \"bhqk,bhkd->bhqd\"}}], \"outputs\": [\"o\"]%s}",
      values, more);
  if (sw_model_parse("m.json", t.at, t.n, &g, &diag)) fail_msg("%s in %s", diag.text, t.at);
  sw_text_free(&t);
  return g;
}

static void annotations_of_scores_are_of_the_op(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kSaid / sizeof *kSaid; i++) {
    sw_arena arena = {0};
    sw_graph *g = said_model(kSaid[i].values, kSaid[i].more), *fused;
    sw_fused how;
    sw_text loops = {0};
    expect_fused(kSaid[i].name, g, kSaid[i].loops != NULL, 0, 1e-9);
    assert_ok(sw_graph_fuse_attention(g, &arena, &fused, &how, &diag));
    assert_int_equal(fused->written->n_annotations, kSaid[i].loops ? 1 : g->written->n_annotations);
    const sw_annotation *a = fused->written->annotations;
    for (int k = 0; kSaid[i].loops && k < a->n_loop_refs; k++)
      sw_text_printf(&loops, "%s%d:%s", k ? " " : "", a->loop_of[k], g->written->mesh.axis[a->loop_refs[k].axis].name);
    if (kSaid[i].loops) {
      assert_int_equal(fused->ops[a->op].code, SW_OP_ATTENTION);
      assert_int_equal(a->required, g->written->annotations[0].required);
      assert_int_equal(a->span.line, g->written->annotations[0].span.line);
      if (strcmp(sw_text_str(&loops), kSaid[i].loops) != 0)
        fail_msg("%s: the op is said to be cut '%s'; expected '%s'", kSaid[i].name, sw_text_str(&loops),
                 kSaid[i].loops);
    }
    sw_text_free(&loops);
    sw_graph_destroy(fused);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(generated_models_are_fused),  cmocka_unit_test(written_attention_is_found),
      cmocka_unit_test(masks_and_biases_stay_small), cmocka_unit_test(repeated_heads_are_groups),
      cmocka_unit_test(gradients_are_found),         cmocka_unit_test(wrong_gradients_stay),
      cmocka_unit_test(dropout_has_its_gradient),    cmocka_unit_test(annotations_of_scores_are_of_the_op)};
  return cmocka_run_group_tests_name("fuse", tests, NULL, NULL);
}
