/* What loops hand on to later ones, left out and made again: random loops under each policy, and random sets of stacks,
 * executed beside the program; searches beside all sets. */
#include "check.h"

#include <math.h>

#include "schedule/stacks.h"
#include "shardwright/profile.h"
#include "shardwright/program.h"
#include "support/job.h"
#include "support/meshes.h"
#include "support/random_plan.h"
#include "support/same.h"

enum { MOST_OPS = 6, MOST_VALUES = MOST_OPS + 2 };

typedef struct loops {
  sw_text *t;
  int n_trips, n_values, n_stacks;
  int stack_of[MOST_VALUES]; /* value k of the body; 0 is what is carried, 1 the slice of the weights */
} loops;

#define SQUARE "tensor<4x4xf32>"
#define SCALAR "tensor<i32>"

static void put_stack_type(loops *l) { sw_text_printf(l->t, "tensor<%dx4x4xf32>", l->n_trips); }

/* %NAME: the index as it is, or wrapped where it is negative, as JAX writes it. */
static void put_index(loops *l, const char *name, const char *of, bool wraps) {
  if (!wraps) sw_text_printf(l->t, "%%%s = stablehlo.add %%%s, %%zero_%s : " SCALAR "\n", name, of, name);
  if (wraps) {
    sw_text_printf(l->t,
                   "%%p_%s = stablehlo.compare LT, %%%s, %%zero_%s : (" SCALAR ", " SCALAR
                   ") -> tensor<i1>\n"
                   "%%q_%s = stablehlo.add %%%s, %%n_%s : " SCALAR
                   "\n"
                   "%%%s = stablehlo.select %%p_%s, %%q_%s, %%%s : tensor<i1>, " SCALAR "\n",
                   name, of, name, name, of, name, name, name, name, of);
  }
}

static void put_constants(loops *l, const char *of) {
  sw_text_printf(l->t,
                 "%%zero_%s = stablehlo.constant dense<0> : " SCALAR
                 "\n%%one_%s = stablehlo.constant dense<1> : " SCALAR
                 "\n%%n_%s = stablehlo.constant dense<%d> : " SCALAR "\n",
                 of, of, of, l->n_trips);
}

static void put_slice(loops *l, const char *to, int number, const char *from, const char *index) {
  sw_text_printf(l->t, "%%%s%d_ = stablehlo.dynamic_slice %s, %%%s, %%zero_%s, %%zero_%s, sizes = [1, 4, 4] : (", to,
                 number, from, index, index, index);
  put_stack_type(l);
  sw_text_printf(l->t,
                 ", " SCALAR ", " SCALAR ", " SCALAR
                 ") -> tensor<1x4x4xf32>\n%%%s%d = stablehlo.reshape %%%s%d_ : "
                 "(tensor<1x4x4xf32>) -> " SQUARE "\n",
                 to, number, to, number);
}

/* Of value v of the body; 0: of what is carried itself. */
static void put_update(loops *l, int k, int v) {
  sw_text_printf(l->t, "%%u%d_ = stablehlo.broadcast_in_dim ", k);
  if (v) sw_text_printf(l->t, "%%v%d", v);
  sw_text_puts(l->t, v ? "" : "%x_i");
  sw_text_puts(l->t, ", dims = [1, 2] : (" SQUARE ") -> tensor<1x4x4xf32>\n");
  sw_text_printf(l->t, "%%u%d = stablehlo.dynamic_update_slice %%s_i%d, %%u%d_, %%ki, %%zero_ki, %%zero_ki : (", k, k,
                 k);
  put_stack_type(l);
  sw_text_puts(l->t, ", tensor<1x4x4xf32>, " SCALAR ", " SCALAR ", " SCALAR ") -> ");
  put_stack_type(l);
  sw_text_puts(l->t, "\n");
}

static void put_body_op(loops *l, int to, sw_rng *g) {
  static const char *const kUnary[] = {"tanh", "negate", "abs"}, *const kBinary[] = {"add", "multiply", "maximum"};
  const int a = (int)sw_rng_below(g, to), b = (int)sw_rng_below(g, to);
  switch (sw_rng_below(g, 3)) {
    case 0:
      sw_text_printf(l->t, "%%v%d = stablehlo.%s %%v%d : " SQUARE "\n", to, kUnary[sw_rng_below(g, 3)], a);
      return;
    case 1:
      sw_text_printf(l->t, "%%v%d = stablehlo.%s %%v%d, %%v%d : " SQUARE "\n", to, kBinary[sw_rng_below(g, 3)], a, b);
      return;
    default:
      sw_text_printf(l->t,
                     "%%v%d = stablehlo.dot_general %%v%d, %%v%d, contracting_dims = [1] x [0] : (" SQUARE ", " SQUARE
                     ") -> " SQUARE "\n",
                     to, a, b);
  }
}

static void put_types(loops *l) {
  sw_text_puts(l->t, " : " SCALAR ", ");
  put_stack_type(l);
  sw_text_puts(l->t, ", " SQUARE);
  for (int k = 0; k < l->n_stacks; k++) {
    sw_text_puts(l->t, ", ");
    put_stack_type(l);
  }
}

/* Stacks are the values `stack` with numbers from `first` on; inside "%s_I0" and so on. */
static void put_head(loops *l, const char *result, const char *i, const char *carried, const char *stack, int first) {
  sw_text_printf(l->t, "%%%s:%d = stablehlo.while(%%%s = %%c0, %%w_%s = %%w, %%x_%s = %s", result, 3 + l->n_stacks, i,
                 i, i, carried);
  for (int k = 0; k < l->n_stacks; k++) sw_text_printf(l->t, ", %%s_%s%d = %s%d", i, k, stack, first + k);
  sw_text_puts(l->t, ")");
  put_types(l);
  sw_text_printf(l->t,
                 "\ncond { %%n_%s_c = stablehlo.constant dense<%d> : " SCALAR
                 "\n%%t_%s = stablehlo.compare LT, %%%s, %%n_%s_c : (" SCALAR ", " SCALAR
                 ") -> tensor<i1>\nstablehlo.return %%t_%s : tensor<i1> } do {\n",
                 i, l->n_trips, i, i, i, i);
}

static void put_end(loops *l, const char *i, const char *carried, const char *stack) {
  sw_text_printf(l->t, "%%next_%s = stablehlo.add %%%s, %%one_k%s : " SCALAR "\nstablehlo.return %%next_%s, %%w_%s, %s",
                 i, i, i, i, i, carried);
  for (int k = 0; k < l->n_stacks; k++) sw_text_printf(l->t, ", %s%d", stack, k);
  put_types(l);
  sw_text_puts(l->t, " }\n");
}

static void put_forward(loops *l, sw_rng *g) {
  put_head(l, "f", "i", "%x", "%empty", 0);
  put_constants(l, "ki");
  put_index(l, "ki", "i", sw_rng_below(g, 2));
  sw_text_puts(l->t, "%v0 = stablehlo.abs %x_i : " SQUARE "\n");
  put_slice(l, "v", 1, "%w_i", "ki");
  for (int k = 2; k < l->n_values; k++) put_body_op(l, k, g);
  for (int k = 0; k < l->n_stacks; k++) put_update(l, k, l->stack_of[k]);
  sw_text_printf(l->t, "%%y = stablehlo.tanh %%v%d : " SQUARE "\n", l->n_values - 1);
  put_end(l, "i", "%y", "%u");
}

static void put_backward(loops *l, sw_rng *g) {
  const bool turned = sw_rng_below(g, 2);
  put_head(l, "b", "j", "%f#2", "%f#", 3);
  put_constants(l, "kj");
  sw_text_puts(l->t, "%last = stablehlo.subtract %n_kj, %one_kj : " SCALAR
                     "\n%at = stablehlo.subtract %last, %j : " SCALAR "\n");
  put_index(l, "kj", turned ? "at" : "j", sw_rng_below(g, 2));
  for (int k = 0; k < l->n_stacks; k++) {
    char from[16];
    (void)snprintf(from, sizeof from, "%%s_j%d", k);
    put_slice(l, "r", k, from, "kj");
  }
  if (sw_rng_below(g, 2)) put_slice(l, "own", 0, "%w_j", "kj");
  sw_text_puts(l->t, "%g0 = stablehlo.tanh %x_j : " SQUARE "\n");
  for (int k = 0; k < l->n_stacks; k++)
    sw_text_printf(l->t, "%%g%d = stablehlo.%s %%g%d, %%r%d : " SQUARE "\n", k + 1, k % 2 ? "multiply" : "add", k, k);
  sw_text_printf(l->t, "%%h = stablehlo.tanh %%g%d : " SQUARE "\n", l->n_stacks);
  put_end(l, "j", "%h", "%s_j");
}

static sw_program *random_loops(sw_rng *g) {
  sw_text t = {0};
  sw_program *p;
  loops l = {.t = &t, .n_trips = 2 + (int)sw_rng_below(g, 3), .n_values = 3 + (int)sw_rng_below(g, MOST_OPS - 1)};
  for (int k = 0; k < l.n_values; k++)
    if (k == 0 ? sw_rng_below(g, 5) != 0 : sw_rng_below(g, 2)) l.stack_of[l.n_stacks++] = k;
  sw_text_puts(&t, "func.func @main(%x: " SQUARE ", %w: ");
  put_stack_type(&l);
  sw_text_puts(&t, ") -> " SQUARE " {\n%c0 = stablehlo.constant dense<0> : " SCALAR
                   "\n%z = stablehlo.constant dense<0.0> : tensor<f32>\n");
  for (int k = 0; k < l.n_stacks; k++) {
    sw_text_printf(&t, "%%empty%d = stablehlo.broadcast_in_dim %%z, dims = [] : (tensor<f32>) -> ", k);
    put_stack_type(&l);
    sw_text_puts(&t, "\n");
  }
  put_forward(&l, g);
  put_backward(&l, g);
  sw_text_puts(&t, "return %b#2 : " SQUARE "\n}\n");
  assert_ok(sw_program_parse("t.mlir", sw_text_str(&t), t.n, NULL, &p, &diag));
  sw_text_free(&t);
  return p;
}

static int count_heavy(const sw_graph *g) {
  int n = 0;
  for (sw_id i = 0; i < g->n_ops; i++) n += sw_op_is_heavy(&g->ops[i]);
  return n;
}

/* Stacks of the program, and those among them that go through loops around. */
static int count_stacks(const sw_graph *g, int *nested) {
  sw_arena arena = {0};
  sw_stacks s;
  assert_ok(sw_stacks_find(g, &arena, &s, &diag));
  const int n = s.n;
  *nested = 0;
  for (int32_t i = 0; i < n; i++) *nested += s.at[i].through >= 0;
  sw_arena_deinit(&arena);
  return n;
}

/* What a loop makes again is read from stacks that are added, where a contraction is among it. Returns how many are. */
static int folds_back(const sw_graph *copied, const char *mesh, sw_rng *r, int *run, int *nested) {
  sw_arena arena = {0};
  sw_schedule_spec spec;
  sw_schedule s;
  sw_plan plan;
  int had_nested, has_nested;
  assert_ok(sw_recompute_spec(copied, SW_RECOMPUTE_NONE, false, &arena, &spec, &diag));
  assert_ok(sw_schedule_make(copied->written, &spec, &arena, &s, &diag));
  const int had = count_stacks(copied, &had_nested), added = count_stacks(s.program, &has_nested) - had;
  assert_true(s.stages[0].graph == s.program && (s.folded != NULL) == spec.folded);
  assert_true((count_heavy(s.program) < count_heavy(copied)) == (added > 0) && (added > 0) == spec.folded);
  *nested += has_nested - had_nested;
  if (random_plan(JOB(s.stages[0].graph, machine_of("dgx-h100", mesh, &arena)), r, &arena, &plan, NULL) == SW_OK) {
    gives_the_same(&plan, copied, &arena);
    *run += added > 0;
  }
  sw_schedule_deinit(&s);
  sw_arena_deinit(&arena);
  return added;
}

static void what_is_left_out_is_made_again(void **state) {
  (void)state;
  static const sw_recompute kHow[] = {SW_RECOMPUTE_FULL, SW_RECOMPUTE_TORCHTITAN, SW_RECOMPUTE_MEGATRON};
  sw_rng r;
  int found = 0, left_out = 0, copies = 0, run = 0, added = 0, folded = 0, nested = 0;
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < check_scale(60); k++) {
    sw_arena arena = {0};
    sw_program *p = random_loops(&r);
    const sw_graph *g = sw_program_graph(p);
    sw_stacks stacks;
    sw_schedule_spec spec;
    sw_schedule s;
    sw_plan plan;
    assert_ok(sw_stacks_find(g, &arena, &stacks, &diag));
    assert_ok(sw_recompute_spec(g, kHow[k % 3], true, &arena, &spec, &diag));
    assert_ok(sw_schedule_make(g->written, &spec, &arena, &s, &diag));
    found += stacks.n;
    for (int32_t i = 0; i < stacks.n; i++) {
      bool there = false;
      for (int32_t e = 0; e < spec.n_entries; e++) there = there || spec.entries[e].op == stacks.at[i].ops[0];
      left_out += !there;
    }
    for (int32_t e = 0; e < spec.n_entries; e++) copies += spec.entries[e].instance > 0;
    const sw_machine *m = machine_of("dgx-h100", k % 2 ? "x=2" : "x=2,y=2", &arena);
    if (random_plan(JOB(s.stages[0].graph, m), &r, &arena, &plan, NULL) == SW_OK) {
      gives_the_same(&plan, g, &arena);
      run++;
    }
    added += folds_back(s.stages[0].graph, k % 2 ? "x=2,y=2" : "x=2", &r, &folded, &nested);
    sw_schedule_deinit(&s);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
  print_message("%d stacks, %d left out with %d copies of ops, %d plans run; %d added again, %d plans run\n", found,
                left_out, copies, run, added, folded);
  assert_true(folded > 0);
  assert_true(run > check_scale(20) && left_out > check_scale(20) && left_out < found && copies > left_out);
}

/* Of what JAX writes: all but what each layer is given is made again, in a scan of scans, too, and read again from
 * stacks that are added. */
static void scans_keep_what_layers_are_given(void **state) {
  (void)state;
  static const char *const kPaths[] = {SW_SOURCE_DIR "/tests/data/scan.mlir",
                                       SW_SOURCE_DIR "/tests/data/scan_of_scans.mlir"};
  sw_rng r;
  sw_rng_seed(&r, check_seed(2));
  for (int k = 0; k < 2; k++) {
    sw_arena arena = {0};
    sw_program *p;
    sw_schedule_spec spec;
    sw_schedule s;
    sw_plan plan, plain;
    sw_breakdown less, all;
    assert_ok(sw_program_read(kPaths[k], NULL, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    const sw_machine *m = machine_of("dgx-h100", "x=2", &arena);
    assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_FULL, false, &arena, &spec, &diag));
    assert_ok(sw_schedule_make(g->written, &spec, &arena, &s, &diag));
    const sw_job with = job_under(s.stages[0].graph, m, "xla", &arena), without = job_under(g, m, "xla", &arena);
    assert_ok(sw_plan_build(&with, &arena, &plan, &diag));
    assert_ok(sw_plan_build(&without, &arena, &plain, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &less, &diag));
    assert_ok(sw_plan_breakdown(&plain, &arena, &all, &diag));
    print_message("%lld of %lld bytes\n", (long long)less.peak_bytes, (long long)all.peak_bytes);
    assert_true(3 * less.peak_bytes < 2 * all.peak_bytes);
    assert_ok(random_plan(JOB(s.stages[0].graph, m), &r, &arena, &plan, NULL));
    gives_the_same(&plan, g, &arena);
    int run = 0, nested = 0;
    const int added = folds_back(s.stages[0].graph, "x=2", &r, &run, &nested);
    print_message("%d stacks added, %d of loops in loops\n", added, nested);
    assert_true(added > 0 && run == 1 && (nested > 0) == (k == 1));
    sw_schedule_deinit(&s);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
}

/* With checkpoints of its own: as `full` makes it. The graph is the schedule's. */
static const sw_graph *checkpointed(const sw_graph *g, sw_arena *arena, sw_schedule *out) {
  sw_schedule_spec spec;
  assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_FULL, false, arena, &spec, &diag));
  assert_ok(sw_schedule_make(g->written, &spec, arena, out, &diag));
  return out->stages[0].graph;
}

/* --- chosen ------------------------------------------------------------------------------------------------------- */

/* The program's entries where what stacks of these bits hold is offloaded; of what a value holds, the first stack.
 * Returns how many there are. */
static int offload_stacks(const sw_graph *g, uint64_t bits, sw_arena *arena, sw_schedule *out) {
  sw_schedule_spec spec = {.n_stages = 1, .micro_batches = 1};
  sw_stacks s;
  int n = 0;
  assert_ok(sw_stacks_find(g, arena, &s, &diag));
  sw_entry *entries = sw_arena_alloc(arena, (size_t)g->n_ops + 2 * (size_t)s.n, sizeof *entries, &diag);
  bool *gone = sw_arena_alloc(arena, (size_t)g->n_ops, 1, &diag),
       *away = sw_arena_alloc(arena, (size_t)s.n + 1, 1, &diag);
  assert_true(entries && gone && away);
  for (int32_t k = 0; k < s.n; k++) {
    bool free = true;
    for (int32_t i = 0; i < s.n; i++) free = free && s.at[i].through != k && (i >= k || s.at[i].made != s.at[k].made);
    away[k] = free && bits >> n % 64 & 1;
    n += free;
    for (int i = 0; away[k] && i < s.at[k].n_ops; i++) gone[s.at[k].ops[i]] = true;
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (!gone[i]) entries[spec.n_entries++] = (sw_entry){.op = i};
    for (int32_t k = 0; k < s.n; k++) {
      const sw_stack *x = &s.at[k];
      const sw_id def = g->values[x->made].def, test = g->frames[x->forward].test, back = g->values[x->back].def;
      if (away[k] && i == (def > test ? def : test))
        entries[spec.n_entries++] = (sw_entry){.op = def, .source = SW_SOURCE_OFFLOADED, .value = x->made};
      if (away[k] && i == back)
        entries[spec.n_entries++] = (sw_entry){.op = back, .source = SW_SOURCE_FETCHED, .value = x->back};
    }
  }
  spec.entries = entries;
  assert_ok(sw_schedule_make(g->written, &spec, arena, out, &diag));
  return n;
}

static const sw_machine *machine_with_host(const char *mesh, int64_t memory_bytes, sw_arena *arena) {
  const sw_machine *h100 = machine_of("dgx-h100", mesh, arena);
  sw_profile *p = sw_arena_copy(arena, sw_machine_profile(h100), 1, sizeof *p, &diag);
  sw_machine *m;
  assert_non_null(p);
  p->host_bytes_per_s = 1e9;
  p->host_memory_bytes = memory_bytes;
  assert_ok(sw_machine_build(arena, p, sw_machine_mesh(h100), &m, &diag));
  return m;
}

/* Bytes of all that is on the host, of a plan in which nothing is cut: each stack is there once, as a whole. */
static int64_t stacks_bytes(const sw_graph *g, uint64_t bits, sw_arena *arena) {
  sw_stacks s;
  int64_t sum = 0;
  int n = 0;
  assert_ok(sw_stacks_find(g, arena, &s, &diag));
  for (int32_t k = 0; k < s.n; k++) {
    bool free = true;
    int64_t trips = g->frames[s.at[k].forward].trips, outer = s.at[k].through;
    for (int32_t i = 0; i < s.n; i++) free = free && s.at[i].through != k && (i >= k || s.at[i].made != s.at[k].made);
    if (free && bits >> n % 64 & 1) {
      sum += trips * sw_type_bytes(&g->values[s.at[k].made].type);
      for (; outer >= 0; outer = s.at[outer].through) {
        trips *= g->frames[s.at[outer].forward].trips;
        sum += trips * sw_type_bytes(&g->values[s.at[k].made].type);
      }
    }
    n += free;
  }
  return sum;
}

/* Of a plan in which nothing is cut: what the host holds, and that the device holds nothing of it. */
static void judge_memory(const sw_graph *g, const sw_schedule *s, uint64_t bits, sw_arena *arena) {
  const int64_t bytes = stacks_bytes(g, bits, arena);
  for (int overlap = 0; overlap < 2; overlap++) {
    sw_job j = job_under(s->stages[0].graph, machine_with_host("x=2", bytes, arena), "xla", arena);
    sw_plan plan;
    sw_breakdown a;
    j.overlap = overlap ? SW_OVERLAP_COMPILER : SW_OVERLAP_NONE;
    assert_ok(sw_plan_build(&j, arena, &plan, &diag));
    assert_ok(sw_plan_verify(&plan, &diag));
    assert_true(sw_plan_host_bytes(&plan) == bytes && sw_plan_check_host(&plan, NULL) == SW_OK);
    assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
    for (int32_t i = 0; i < a.n_live; i++)
      assert_true(a.live[i].value < 0 || !sw_value_is_on_host(j.graph, a.live[i].value) || a.live[i].bytes == 0);
    for (sw_id i = 0; i < j.graph->n_ops; i++) {
      assert_true(!sw_op_is_on_host(j.graph, &j.graph->ops[i]) || (a.op[i].local_s == 0 && a.op[i].bytes == 0));
    }
  }
}

static void what_stacks_hold_is_offloaded(void **state) {
  (void)state;
  sw_rng r;
  int offered = 0, run = 0, some = 0;
  sw_rng_seed(&r, check_seed(5));
  for (int k = 0; k < check_scale(60); k++) {
    sw_arena arena = {0};
    sw_program *p = random_loops(&r);
    const sw_graph *g = sw_program_graph(p);
    const uint64_t bits = sw_rng_next(&r);
    sw_schedule s;
    sw_plan plan;
    const int n = offload_stacks(g, bits, &arena, &s);
    const bool any = n && (bits & ((UINT64_C(1) << n) - 1));
    judge_memory(g, &s, bits, &arena);
    if (random_plan(JOB(s.stages[0].graph, machine_of("dgx-h100", k % 2 ? "x=2" : "x=2,y=2", &arena)), &r, &arena,
                    &plan, NULL) == SW_OK) {
      assert_ok(sw_plan_verify(&plan, &diag));
      gives_the_same(&plan, g, &arena);
      run++;
      some += any;
    }
    offered += n;
    sw_schedule_deinit(&s);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
  print_message("%d stacks; %d plans run, %d with stacks on the host\n", offered, run, some);
  assert_true(run > check_scale(20) && some > check_scale(15));
}

enum { MOST_WAYS = 3 }; /* of a stack: it is had, left out and made again, or offloaded */

/* What each op takes where the offered stacks are had each in its way: digits of `ways`, the first stack's last. A way
 * that a stack does not have is the first. Returns how many are offered. */
static int takes_of(const sw_schedule *s, uint64_t ways, int8_t *takes) {
  const sw_graph *g = s->stages[0].graph;
  int n = 0;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    static const sw_keep_way kWays[MOST_WAYS] = {SW_WAY_KEPT, SW_WAY_AGAIN, SW_WAY_FETCHED};
    takes[i] = 0;
    if (op->code != SW_OP_KEEP) continue;
    const int kept = sw_keep_operand(g, op, SW_WAY_KEPT), wanted = sw_keep_operand(g, op, kWays[ways % MOST_WAYS]);
    takes[i] = (int8_t)((wanted < 0 ? kept : wanted) + 1);
    ways /= MOST_WAYS;
    n++;
  }
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const int32_t e = s->stages[0].entry[i];
    bool read = e < 0 || !s->spec.entries[e].optional;
    for (int k = 0; k < g->ops[i].n_results && !read; k++) {
      const sw_value *v = &g->values[g->ops[i].results[k]];
      for (int32_t u = 0; u < v->n_uses; u++)
        read = read || takes[v->uses[u].op] == 0 || takes[v->uses[u].op] == v->uses[u].index + 1;
    }
    if (!read) takes[i] = -1;
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_opcode c = g->ops[i].code;
    if ((c == SW_OP_YIELD || c == SW_OP_JOIN) && takes[sw_op_tied_to(g, i)] == 0) takes[i] = 0; /* as it came in */
    if (c == SW_OP_KEEP && takes[i] == sw_keep_operand(g, &g->ops[i], SW_WAY_KEPT) + 1) takes[i] = -1; /* as it is */
  }
  return n;
}

static void chosen_schedule(const sw_graph *g, const sw_schedule *choices, uint64_t ways, sw_arena *arena,
                            sw_schedule *out) {
  sw_schedule_spec spec;
  int8_t *takes = sw_arena_alloc(arena, (size_t)choices->stages[0].graph->n_ops, 1, &diag);
  assert_non_null(takes);
  (void)takes_of(choices, ways, takes);
  assert_ok(sw_schedule_chosen(choices, takes, arena, &spec, &diag));
  assert_ok(sw_schedule_make(g->written, &spec, arena, out, &diag));
}

static uint64_t count_ways(int n) { return n ? MOST_WAYS * count_ways(n - 1) : 1; }

/* With the host offered to what is `dear`. */
static int offered_schedule(const sw_graph *g, bool dear, sw_arena *arena, sw_schedule *out) {
  sw_schedule_spec spec;
  sw_graph *folded = NULL;
  assert_ok(sw_recompute_spec(g, SW_RECOMPUTE_SEARCH, true, arena, &spec, &diag));
  if (spec.folded) assert_ok(sw_schedule_fold(g->written, &folded, &diag));
  const sw_graph *of = folded ? folded : g;
  bool *all = sw_arena_alloc(arena, (size_t)of->n_ops + 1, 1, &diag);
  assert_non_null(all);
  memset(all, dear, (size_t)of->n_ops);
  assert_ok(sw_schedule_offer_host(of, all, arena, &spec, &diag));
  sw_graph_destroy(folded);
  assert_ok(sw_schedule_make(g->written, &spec, arena, out, &diag));
  int8_t *takes = sw_arena_alloc(arena, (size_t)out->stages[0].graph->n_ops, 1, &diag);
  assert_non_null(takes);
  return takes_of(out, 0, takes);
}

static void any_of_the_stacks_can_be_left_out(void **state) {
  (void)state;
  sw_rng r;
  int offered = 0, run = 0, some = 0, away = 0, folded = 0;
  sw_rng_seed(&r, check_seed(3));
  for (int k = 0; k < check_scale(90); k++) {
    sw_arena arena = {0};
    sw_program *p = random_loops(&r);
    sw_schedule choices, s, own = {0};
    sw_plan plan;
    const sw_graph *g = k % 3 ? sw_program_graph(p) : checkpointed(sw_program_graph(p), &arena, &own);
    const sw_machine *m = machine_of("dgx-h100", k % 2 ? "x=2" : "x=2,y=2", &arena);
    const int n = offered_schedule(g, sw_rng_below(&r, 2), &arena, &choices);
    const uint64_t ways = (uint64_t)sw_rng_below(&r, (int64_t)count_ways(n));
    chosen_schedule(g, &choices, ways, &arena, &s);
    if (random_plan(JOB(s.stages[0].graph, m), &r, &arena, &plan, NULL) == SW_OK) {
      gives_the_same(&plan, g, &arena);
      run++;
      some += ways && ways + 1 < count_ways(n);
      folded += choices.folded != NULL;
    }
    for (int32_t i = 0; i < s.spec.n_entries; i++) away += s.spec.entries[i].source == SW_SOURCE_FETCHED;
    offered += n;
    sw_schedule_deinit(&s);
    sw_schedule_deinit(&choices);
    sw_schedule_deinit(&own);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
  print_message(
      "%d stacks offered, %d offloaded; %d plans run, %d with some of theirs so or left out, %d without the program's "
      "checkpoints\n",
      offered, away, run, some, folded);
  assert_true(run > check_scale(40) && some > check_scale(5) && away > check_scale(20) && folded > check_scale(2));
}

static double best_s(const sw_job *j, const sw_plan_options *o, sw_arena *arena) {
  sw_plan plan;
  sw_breakdown a;
  if (sw_plan_search(j, o, arena, &plan, NULL)) return HUGE_VAL;
  assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
  return sw_plan_check_host(&plan, NULL) ? HUGE_VAL : a.total_s;
}

/* Of all sets of stacks, each planned by itself. */
static double best_of_all_s(const sw_job *j, const sw_schedule *choices, int n, const sw_plan_options *o) {
  double least = HUGE_VAL;
  for (uint64_t ways = 0; ways < count_ways(n); ways++) {
    sw_arena mem = {0};
    sw_schedule s;
    sw_job job;
    chosen_schedule(j->graph, choices, ways, &mem, &s);
    assert_ok(sw_job_of_stage(j, &s, 0, &mem, &job, &diag));
    least = fmin(least, best_s(&job, o, &mem));
    sw_schedule_deinit(&s);
    sw_arena_deinit(&mem);
  }
  return least;
}

/* As the program has it, without its checkpoints, and with all made again: the best of those that fit. */
static double best_by_rule_s(const sw_job *j, const sw_plan_options *o) {
  static const sw_recompute kHow[] = {SW_RECOMPUTE_AS_WRITTEN, SW_RECOMPUTE_NONE, SW_RECOMPUTE_FULL};
  double least = HUGE_VAL;
  for (int k = 0; k < 3; k++) {
    sw_arena mem = {0};
    sw_schedule s;
    sw_job job;
    assert_ok(sw_lever_choose(j, kHow[k], o->selection.capacity_bytes, &mem, &s, &diag));
    assert_ok(sw_job_of_stage(j, &s, 0, &mem, &job, &diag));
    least = fmin(least, best_s(&job, o, &mem));
    sw_schedule_deinit(&s);
    sw_arena_deinit(&mem);
  }
  return least;
}

static int64_t peak_of(const sw_job *j, const sw_plan_options *o, sw_arena *arena) {
  sw_plan plan;
  sw_breakdown a;
  assert_ok(sw_plan_search(j, o, arena, &plan, &diag));
  assert_ok(sw_plan_breakdown(&plan, arena, &a, &diag));
  return a.peak_bytes;
}

/* Of programs with checkpoints of their own, as of those without; of either some in less memory than the fastest plan
 * of the program holds. */
static void searches_of_stacks_beside_all_sets(void **state) {
  (void)state;
  sw_rng r;
  int searched = 0, away = 0, folded = 0;
  static const char *const kCompilers[] = {"xla", "inductor", "eager", "none"};
  double dearest = 1, beside_rules = 1;
  sw_rng_seed(&r, check_seed(4));
  for (int k = 0; k < check_scale(40); k++) {
    sw_arena arena = {0};
    sw_program *p = random_loops(&r);
    sw_schedule choices, s, own = {0};
    const sw_graph *g = k % 2 ? sw_program_graph(p) : checkpointed(sw_program_graph(p), &arena, &own);
    const sw_job j = job_under(g, machine_with_host("x=2", 1 << 20, &arena), kCompilers[k / 2 % 4], &arena);
    sw_plan_options o = {.solve = {.work_limit = 2000000, .threads = 1}};
    sw_plan plan;
    sw_breakdown a;
    const int n = offered_schedule(g, false, &arena, &choices);
    if (k % 4 > 1 && n > 0 && n < 4) o.selection.capacity_bytes = peak_of(&j, &o, &arena) * 4 / 5;
    const double all = n > 0 && n < 4 ? best_of_all_s(&j, &choices, n, &o) : HUGE_VAL;
    if (all < HUGE_VAL) {
      assert_ok(sw_plan_search_sources(&j, j.request, &o, &arena, &s, &plan, &diag));
      assert_ok(sw_plan_verify(&plan, &diag));
      assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
      assert_true(!sw_plan_bound_is_proven(&plan)); /* kernels are formed before stacks are chosen */
      dearest = fmax(dearest, a.total_s / all);
      beside_rules = fmax(beside_rules, a.total_s / best_by_rule_s(&j, &o));
      away += sw_plan_host_bytes(&plan) > 0;
      gives_the_same(&plan, g, &arena);
      sw_schedule_deinit(&s);
      searched++;
      folded += choices.folded != NULL;
    }
    sw_schedule_deinit(&choices);
    sw_schedule_deinit(&own);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
  print_message(
      "%d searches, %d without the program's checkpoints, %d with stacks on the host: at most %.1f %% dearer than "
      "the "
      "best set, %.1f %% than what the program, none and full give\n",
      searched, folded, away, 100 * (dearest - 1), 100 * (beside_rules - 1));
  assert_true(searched > 0 && beside_rules < 1 + 1e-6 &&
              dearest < 1.3); /* loops of launches alone, which choices count as they are fused then */
}

/* By the timeline, with what enters the loops brought there before they begin. */
static void searches_of_scans_fit(void **state) {
  (void)state;
  static const struct {
    const char *path;
    int64_t capacity;
  } kScans[] = {{SW_SOURCE_DIR "/tests/data/scan.mlir", 160000},
                {SW_SOURCE_DIR "/tests/data/scan.mlir", 240000},
                {SW_SOURCE_DIR "/tests/data/scan_of_scans.mlir", 240000}};
  for (int k = 0; k < 3; k++) {
    sw_arena arena = {0};
    sw_program *p;
    sw_schedule s;
    sw_plan plan;
    sw_breakdown a;
    const sw_plan_options o = {.solve = {.work_limit = 10000000, .threads = 1},
                               .selection.capacity_bytes = kScans[k].capacity};
    assert_ok(sw_program_read(kScans[k].path, NULL, &p, &diag));
    sw_job j = job_under(sw_program_graph(p), machine_of("dgx-h100", "x=4", &arena), "xla", &arena);
    j.overlap = SW_OVERLAP_COMPILER;
    assert_ok(sw_plan_search_sources(&j, j.request, &o, &arena, &s, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
    print_message("%lld of %lld bytes\n", (long long)a.peak_bytes, (long long)kScans[k].capacity);
    assert_true(a.peak_bytes <= kScans[k].capacity);
    gives_the_same(&plan, sw_program_graph(p), &arena);
    sw_schedule_deinit(&s);
    sw_program_destroy(p);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(what_is_left_out_is_made_again),    cmocka_unit_test(scans_keep_what_layers_are_given),
      cmocka_unit_test(what_stacks_hold_is_offloaded),     cmocka_unit_test(searches_of_scans_fit),
      cmocka_unit_test(any_of_the_stacks_can_be_left_out), cmocka_unit_test(searches_of_stacks_beside_all_sets)};
  return cmocka_run_group_tests_name("stacks", tests, NULL, NULL);
}
