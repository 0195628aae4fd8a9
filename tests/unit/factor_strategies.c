/* Sharding rules beside strategies, over ops of random sizes on two axes: along factors that pass through or reduce, a
 * rule admits the strategies that are enumerated, and no others. What it is not asked about: windows and offsets
 * (permutations), what needs replication, and where Shardy's rules say more or less than can be done (windows of a
 * gather or scatter that an index moves, reshapes whose shapes do not refine each other, the columns of
 * triangular_solve). */
#include "check.h"

#include "propagate/factors.h"
#include "shardwright/strategy.h"
#include "support/meshes.h"
#include "support/program.h"
#include "support/job.h"

enum { AXES = 2, MOST_KEYS = 1024, KEY = 160, DRAWS = 12 };

/* Capital letters are sizes, drawn anew each time; "A*B" is their product. */
static const struct {
  const char *args, *op;
} kOps[] = {
    {"a f32 A,B,C", "r = add(a, a)"},
    {"p bool; a f32 A,B", "r = select(p, a, a)"},
    {"a f32 A,B; s f32", "r = clamp(s, a, s)"},
    {"a u32 A,B,2", "r = bitcast_convert(a) 'dtype':'u64'"},
    {"a f32 A,B,C", "r = transpose(a) 'permutation':[2,0,1]"},
    {"a f32 A,C", "r = broadcast_in_dim(a) 'shape':[A,B,C],'dims':[0,2]"},
    {"a f32 A,1,C", "r = broadcast_in_dim(a) 'shape':[C,A,B],'dims':[1,2,0]"},
    {"a f32 A,B,C", "r = reshape(a) 'shape':[A*B,C]"},
    {"a f32 A*B,C", "r = reshape(a) 'shape':[A,B,C]"},
    {"a f32 A,B*C,D", "r = reshape(a) 'shape':[A*B,C*D]"},
    {"a f32 A,B,C", "r = reduce(a) 'kind':'sum','dims':[1]"},
    {"a f32 A,B,C", "r = reduce(a) 'kind':'max','dims':[0,2],'keep_dims':true"},
    {"a f32 A,B", "r = argmax(a) 'dim':0"},
    {"a f32 A,B", "r = cumulative(a) 'kind':'sum','dim':0"},
    {"a f32 A,B", "r = cumulative_logsumexp(a) 'dim':1"},
    {"a f32 A,B,C", "r, s = sort(a, a) 'dim':1"},
    {"a f32 A,B", "r, s = top_k(a) 'k':1"},
    {"a f32 A,B; b f32 B,C", "r = dot_general(a, b) 'lhs_contract':[1],'rhs_contract':[0]"},
    {"a f32 A,B,C,D; b f32 D,B,A,2",
     "r = dot_general(a, b) 'lhs_batch':[1],'rhs_batch':[1],'lhs_contract':[3,0],'rhs_contract':[0,2]"},
    {"a f32 A,8,8,B; w f32 3,2,B,C",
     "r = convolution(a, w) 'lhs_layout':'b01f','rhs_layout':'01io','out_layout':'b01f','strides':[1,2]"},
    {"a f32 A,8,B*C; w f32 3,C,B*D",
     "r = convolution(a, w) 'lhs_layout':'b0f','rhs_layout':'0io','out_layout':'b0f','feature_groups':B"},
    {"a f32 A*B,8,C; w f32 3,C,B*D",
     "r = convolution(a, w) 'lhs_layout':'b0f','rhs_layout':'0io','out_layout':'b0f','batch_groups':B"},
    {"a f32 A,8", "r = slice(a) 'start':[0,1],'limit':[A,7]"},
    {"a f32 A,B; v f32", "r = pad(a, v) 'low':[0,1],'high':[0,2]"},
    {"a f32 A,B; b f32 A,C", "r = concatenate(a, b) 'dim':1"},
    {"a f32 A,8", "r = reverse(a) 'dims':[1]"},
    {"a f32 A,8,B", "r = reduce_window(a) 'kind':'max','window':[1,2,1],'strides':[1,2,1]"},
    {"x f32 A,8,B; s f32 A,4,B; i f32", "r = select_and_scatter(x, s, i) 'window':[1,2,1],'strides':[1,2,1]"},
    {"a f32 A,B; i i32", "r = dynamic_slice(a, i, i) 'sizes':[A,B]"},
    {"a f32 A,8; u f32 A,2; i i32", "r = dynamic_update_slice(a, u, i, i)"},
    {"t f32 B,C; i i64 A,1",
     "r = gather(t, i) "
     "'offset_dims':[1],'collapsed_dims':[0],'start_index_map':[0],'index_vector_dim':1,'sizes':[1,C]"},
    {"t f32 D,B,C; i i64 A,D",
     "r = gather(t, i) 'offset_dims':[0],'collapsed_dims':[1],'operand_batch':[0],'indices_batch':[1],"
     "'start_index_map':[1],'index_vector_dim':2,'sizes':[1,1,C]"},
    {"t f32 B,C; i i64 A,1; u f32 A,C",
     "r = scatter(t, i, u) "
     "'kind':'sum','update_window_dims':[1],'inserted_dims':[0],'start_index_map':[0],'index_vector_dim':1"},
    {"a c64 A,B", "r = fft(a) 'fft_type':'fft','fft_length':[B]"},
    {"a f32 A,3,3", "r = cholesky(a)"},
    {"a f32 A,5,3", "r, s = factor(a) 'how':'qr'"},
    {"l f32 A,B; b f32 A,B,C", "r = tridiagonal_solve(l, l, l, b)"},
    {"s u64 2", "t, r = rng_bit_generator(s) 'shape':[A,B],'dtype':'u32'"},
};

static void with_sizes(const char *text, const int64_t *sizes, char *out, size_t room) {
  size_t n = 0;
  for (const char *p = text; *p; p++) {
    int64_t product = 1;
    if (*p < 'A' || *p > 'D') {
      out[n++] = *p;
    } else {
      product = sizes[*p - 'A'];
      for (; p[1] == '*'; p += 2) product *= sizes[p[2] - 'A'];
      n += (size_t)snprintf(out + n, room - n, "%lld", (long long)product);
    }
    assert_true(n + 24 < room);
  }
  out[n] = 0;
}

/* --- ways to cut, as text: the axes of each dim of each tensor, and over which axes results are partial ---------- */

typedef struct ways {
  int n;
  char key[MOST_KEYS][KEY];
} ways;

static void add_way(ways *w, const sw_text *key) {
  for (int i = 0; i < w->n; i++) {
    if (strcmp(w->key[i], sw_text_str(key)) == 0) return;
  }
  assert_true(w->n < MOST_KEYS && key->n < KEY);
  strcpy(w->key[w->n++], sw_text_str(key));
}

static bool has_way(const ways *w, const char *key) {
  for (int i = 0; i < w->n; i++) {
    if (strcmp(w->key[i], key) == 0) return true;
  }
  return false;
}

/* Does every tensor have this loop as a digit, or as a dim of its own? */
static bool is_plain(const sw_graph *g, const sw_op *op, int loop) {
  const sw_loop_nest *s = op->nest;
  sw_loop_kind kind = s->loops[loop].kind;
  if (kind != SW_LOOP_PARALLEL && kind != SW_LOOP_REDUCTION && kind != SW_LOOP_MASKED) return false;
  for (int t = 0; t < s->n_maps; t++) {
    for (int k = 0; k < s->maps[t].rank; k++) {
      const sw_affine *e = &s->maps[t].dims[k];
      for (int i = 0; i < e->n_terms; i++) {
        bool alone = e->n_terms == 1 && e->terms[0].coef == 1 && e->constant == 0 &&
                     sw_port_type(g, op, t)->dims[k] == s->loops[loop].size;
        if (e->terms[i].loop == loop && !e->mixed_radix && !alone) return false;
      }
    }
  }
  return true;
}

static void ways_of_strategies(const sw_graph *g, const sw_op *op, const sw_machine *machine, sw_arena *arena,
                               ways *out) {
  sw_enumeration all;
  assert_ok(sw_strategies_enumerate(JOB(g, machine), op, NULL, arena, &all, &diag));
  assert_true(all.pruned_inexact == 0);
  for (int i = 0; i < all.n; i++) {
    const sw_strategy *s = &all.at[i];
    bool plain = true;
    for (int r = 0; r < s->n_refs; r++)
      plain = plain && s->loop_of[r] < op->nest->n_loops && is_plain(g, op, s->loop_of[r]);
    if (!plain) continue;
    sw_text key = {0};
    unsigned partial = 0;
    for (int t = 0; t < op->n_operands + op->n_results; t++) {
      sw_sharding port;
      sw_strategy_port(op, s, t, &port);
      sw_text_puts(&key, "[");
      for (int k = 0, n; k < port.rank; k++) {
        const sw_axis_ref *refs = sw_sharding_dim(&port, k, &n);
        sw_text_puts(&key, k ? "," : "");
        for (int r = 0; r < n; r++) sw_text_printf(&key, "%d", refs[r].axis);
      }
      sw_text_puts(&key, "]");
      for (int r = 0; t >= op->n_operands && r < port.n_partial; r++)
        partial |= 1u << sw_sharding_partial(&port)[r].axis;
    }
    sw_text_printf(&key, " partial %u", partial);
    add_way(out, &key);
    sw_text_free(&key);
  }
}

/* Axes of each factor, in order. */
typedef struct cut {
  int n[SW_MOST_FACTORS], axes[SW_MOST_FACTORS][AXES];
} cut;

static int64_t shards(const cut *c, int factor) { return INT64_C(1) << c->n[factor]; }

/* Minor factors only where major ones are cut to the end, and of several each evenly. */
static bool is_legal(const sw_factors *f, const cut *c, int tensor, int dim) {
  bool cut_through = true;
  int n = f->rule.dim[tensor * SW_MAX_RANK + dim].n;
  for (int i = 0; i < n; i++) {
    int factor = f->rule.dim[tensor * SW_MAX_RANK + dim].at[i];
    int64_t size = f->rule.size[factor], parts = shards(c, factor);
    if (parts > 1 && (!cut_through || parts > size || (n > 1 && size % parts))) return false;
    cut_through = cut_through && parts == size;
  }
  return true;
}

static void add_cut(const sw_factors *f, const cut *c, ways *out) {
  sw_text key = {0};
  unsigned partial = 0;
  bool legal = true;
  for (int t = 0; t < f->op->nest->n_maps; t++) {
    sw_text_puts(&key, "[");
    for (int k = 0; k < f->type[t]->rank; k++) {
      legal = legal && is_legal(f, c, t, k);
      sw_text_puts(&key, k ? "," : "");
      for (int i = 0; i < f->rule.dim[t * SW_MAX_RANK + k].n; i++) {
        int factor = f->rule.dim[t * SW_MAX_RANK + k].at[i];
        for (int r = 0; r < c->n[factor]; r++) sw_text_printf(&key, "%d", c->axes[factor][r]);
      }
    }
    sw_text_puts(&key, "]");
  }
  for (int i = 0; i < f->rule.n; i++) {
    for (int r = 0; f->rule.kind[i] == SW_FACTOR_REDUCTION && r < c->n[i]; r++) partial |= 1u << c->axes[i][r];
  }
  sw_text_printf(&key, " partial %u", partial);
  if (legal) add_way(out, &key);
  sw_text_free(&key);
}

/* Does it pass through or reduce, and are all that share a dim with it such factors? */
static bool is_asked(const sw_factors *f, int factor) {
  for (int t = 0; t < f->op->nest->n_maps; t++) {
    for (int k = 0; k < f->type[t]->rank; k++) {
      bool here = false, plain = true;
      for (int i = 0; i < f->rule.dim[t * SW_MAX_RANK + k].n; i++) {
        int other = f->rule.dim[t * SW_MAX_RANK + k].at[i];
        here = here || other == factor;
        plain = plain && (f->rule.kind[other] == SW_FACTOR_PASS || f->rule.kind[other] == SW_FACTOR_REDUCTION);
      }
      if (here && !plain) return false;
    }
  }
  return true;
}

/* All ways to give the axes `left` (bits) to factors. */
static void cut_on(const sw_factors *f, cut *c, unsigned left, ways *out) {
  add_cut(f, c, out);
  for (int axis = 0; axis < AXES; axis++) {
    for (int i = 0; left >> axis & 1 && i < f->rule.n; i++) {
      if (!is_asked(f, i)) continue;
      c->axes[i][c->n[i]++] = axis;
      cut_on(f, c, left & ~(1u << axis), out);
      c->n[i]--;
    }
  }
}

static void compare(const char *op, const char *args, const ways *a, const ways *b, const char *what) {
  for (int i = 0; i < a->n; i++) {
    if (!has_way(b, a->key[i])) fail_msg("%s over %s:\n  %s is %s", op, args, a->key[i], what);
  }
}

static void rules_admit_the_strategies(void **state) {
  (void)state;
  static const int64_t kSizes[] = {1, 2, 3, 4, 6, 8, 12};
  static ways by_rule, by_strategy;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(28));
  int64_t cuts = 0;
  for (size_t row = 0; row < DRAWS * sizeof kOps / sizeof *kOps; row++) {
    int64_t sizes[4];
    char args[256], op[512];
    sw_graph *g;
    sw_arena arena = {0};
    sw_factors f;
    cut none = {0};
    for (int i = 0; i < 4; i++) sizes[i] = kSizes[sw_rng_below(&rng, 7)];
    with_sizes(kOps[row / DRAWS].args, sizes, args, sizeof args);
    with_sizes(kOps[row / DRAWS].op, sizes, op, sizeof op);
    assert_ok(program_of(args, NULL, op, "r", &g, &diag));
    assert_true(sw_factors_build(g, &g->ops[0], &f));
    by_rule.n = by_strategy.n = 0;
    cut_on(&f, &none, (1u << AXES) - 1, &by_rule);
    ways_of_strategies(g, &g->ops[0], machine_of("local", "x=2,y=2", &arena), &arena, &by_strategy);
    compare(op, args, &by_rule, &by_strategy, "admitted by the rule and no strategy");
    compare(op, args, &by_strategy, &by_rule, "a strategy and not admitted by the rule");
    cuts += by_rule.n;
    sw_arena_deinit(&arena);
    sw_graph_destroy(g);
  }
  print_message("%lld ways to cut %zu ops\n", (long long)cuts, DRAWS * sizeof kOps / sizeof *kOps);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(rules_admit_the_strategies)};
  return cmocka_run_group_tests_name("rules and strategies", tests, NULL, NULL);
}
