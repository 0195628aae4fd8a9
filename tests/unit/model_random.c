/* Random graphs with annotations written and read again, and copied; damaged files; allocations that fail. */
#include "check.h"

#include <dirent.h>

#include "base/file.h"
#include "graph/copy_op.h"
#include "shardwright/model_json.h"
#include "shardwright/request.h"

enum { MOST_VALUES = 400 };

typedef struct maker {
  sw_rng rng;
  sw_graph *g;
  sw_arena arena;
  int n;
  sw_id values[MOST_VALUES];
} maker;

static int64_t below(maker *m, int64_t n) { return sw_rng_below(&m->rng, n); }

static sw_id any_value(maker *m) { return m->values[below(m, m->n)]; }

/* A value of the wanted rank (-1: any) and dtype, or -1. */
static sw_id value_of(maker *m, int rank, sw_dtype t) {
  for (int tries = 0; tries < 30; tries++) {
    sw_id v = any_value(m);
    const sw_type *type = &m->g->values[v].type;
    if (type->dtype == t && (rank < 0 || type->rank == rank)) return v;
  }
  return -1;
}

/* Names that JSON must quote, among plain ones. */
static const char *fresh_name(maker *m, const char *what) {
  static const char *const kForms[] = {"%s%d", "%s %d", "%s\"%d\"", "%s\\%d\n", "%s/\xc3\xa9/%d", "%%%s.%d"};
  char text[64];
  snprintf(text, sizeof text, "%s%d", what, m->n);
  if (below(m, 3) == 0) {
    const char *form = kForms[below(m, 6)];
    size_t n = 0;
    for (const char *p = form; *p && n + 12 < sizeof text; p++) {
      if (*p == '%' && p[1] == 's')
        n += (size_t)snprintf(text + n, sizeof text - n, "%s", what), p++;
      else if (*p == '%' && p[1] == 'd')
        n += (size_t)snprintf(text + n, sizeof text - n, "%d", m->n), p++;
      else
        text[n++] = *p;
    }
    text[n] = '\0';
  }
  return sw_arena_strndup(&m->arena, text, strlen(text), NULL);
}

static void keep(maker *m, const sw_id *made, int n) {
  for (int i = 0; i < n && m->n < MOST_VALUES; i++) m->values[m->n++] = made[i];
}

static void add(maker *m, const sw_op_spec *spec) {
  sw_id made[SW_MAX_RESULTS];
  sw_op_spec named = *spec;
  if (below(m, 2)) named.name = fresh_name(m, "op");
  if (below(m, 3) == 0) named.location.at = (sw_span){"program.py", (int32_t)below(m, 90) + 1, (int32_t)below(m, 3)};
  if (below(m, 4) == 0) named.function = "norm";
  if (below(m, 4) == 0) named.blocked = (sw_direction)below(m, 4);
  assert_ok(sw_graph_add_op(m->g, &named, made, &diag));
  keep(m, made, m->g->ops[m->g->n_ops - 1].n_results);
}

static void add_argument(maker *m) {
  static const sw_dtype kTypes[] = {SW_F32, SW_BF16, SW_I32, SW_BOOL, SW_F32};
  int64_t dims[4];
  int rank = (int)below(m, 4);
  sw_id v;
  for (int i = 0; i < rank; i++) dims[i] = below(m, 10) ? 1 + below(m, 6) : 0;
  assert_ok(sw_graph_add_arg(m->g, fresh_name(m, "arg"), kTypes[below(m, 5)], rank, dims, (sw_value_kind)below(m, 3),
                             SW_NOWHERE, &v, &diag));
  keep(m, &v, 1);
}

static void add_constant(maker *m) {
  static const sw_dtype kTypes[] = {SW_F64, SW_F32, SW_F16, SW_BF16, SW_F8E5M2, SW_I8, SW_I64, SW_U64, SW_BOOL, SW_C64};
  static const double kFloats[] = {0.1, -0.0, 1e-40, 65504, 3e38, 1.0 / 3};
  int64_t dims[] = {below(m, 3) + 1, below(m, 4)};
  sw_dtype t = kTypes[below(m, 10)];
  uint64_t bytes[64];
  for (int i = 0; i < 64; i++) bytes[i] = sw_rng_next(&m->rng);
  if (t == SW_BOOL) memset(bytes, below(m, 2) != 0, sizeof bytes);
  sw_dtype part = t == SW_C64 ? SW_F32 : t;
  for (int i = 0; i < 32 && sw_dtype_class_of(part) == SW_CLASS_FLOAT; i++) {
    sw_element_store(part, kFloats[below(m, 6)], (char *)bytes + i * sw_dtype_bytes(part));
  }
  sw_attr a[] = {{.key = SW_ATTR_VALUE, .u.data = {bytes, below(m, 2)}},
                 {.key = SW_ATTR_DTYPE, .u.i = t},
                 {.key = SW_ATTR_SHAPE, .u.ints = {dims, 2}}};
  add(m, &(sw_op_spec){.code = SW_OP_CONSTANT, .n_attrs = 3, .attrs = a});
}

static void add_unary(maker *m) {
  static const sw_opcode kOps[] = {SW_OP_TANH, SW_OP_EXP, SW_OP_GELU, SW_OP_SILU, SW_OP_IS_FINITE};
  sw_id x = value_of(m, -1, below(m, 2) ? SW_F32 : SW_BF16);
  if (x >= 0) add(m, &(sw_op_spec){.code = kOps[below(m, 5)], .n_operands = 1, .operands = &x});
}

static void add_binary(maker *m) {
  sw_id x = value_of(m, -1, SW_F32);
  if (x >= 0) add(m, &(sw_op_spec){.code = SW_OP_ADD, .n_operands = 2, .operands = (sw_id[]){x, x}});
}

static void add_softmax(maker *m) {
  sw_id x = value_of(m, 2, SW_F32);
  if (x >= 0) add(m, &(sw_op_spec){.code = SW_OP_SOFTMAX, .n_operands = 1, .operands = &x});
}

static void add_reduce(maker *m) {
  sw_id x = value_of(m, 3, SW_F32);
  int64_t dims[] = {below(m, 3)};
  sw_attr a[] = {{.key = SW_ATTR_KIND, .u.text = below(m, 2) ? "max" : "sum"},
                 {.key = SW_ATTR_DIMS, .u.ints = {dims, 1}},
                 {.key = SW_ATTR_KEEP_DIMS, .u.i = below(m, 2)}};
  if (x >= 0) add(m, &(sw_op_spec){.code = SW_OP_REDUCE, .n_operands = 1, .operands = &x, .n_attrs = 3, .attrs = a});
}

static void add_einsum(maker *m) {
  sw_id x = value_of(m, 2, SW_F32);
  sw_attr a = {.key = SW_ATTR_EQUATION, .u.text = below(m, 2) ? "ij,ij->ji" : "ij,kj->ik"};
  if (x >= 0)
    add(m,
        &(sw_op_spec){.code = SW_OP_EINSUM, .n_operands = 2, .operands = (sw_id[]){x, x}, .n_attrs = 1, .attrs = &a});
}

static void add_pad(maker *m) {
  sw_id x = value_of(m, 1, SW_F32), zero = value_of(m, 0, SW_F32);
  int64_t low[] = {below(m, 3)}, high[] = {1}, gap[] = {below(m, 2)};
  sw_attr a[] = {{.key = SW_ATTR_LOW, .u.ints = {low, 1}},
                 {.key = SW_ATTR_HIGH, .u.ints = {high, 1}},
                 {.key = SW_ATTR_INTERIOR, .u.ints = {gap, 1}}};
  if (x < 0 || zero < 0) return;
  add(m, &(sw_op_spec){.code = SW_OP_PAD, .n_operands = 2, .operands = (sw_id[]){x, zero}, .n_attrs = 3, .attrs = a});
}

static void add_top_k(maker *m) {
  sw_id x = value_of(m, 1, SW_F32);
  if (x < 0) return;
  sw_attr a = {.key = SW_ATTR_K, .u.i = m->g->values[x].type.dims[0] / 2};
  add(m, &(sw_op_spec){.code = SW_OP_TOP_K, .n_operands = 1, .operands = &x, .n_attrs = 1, .attrs = &a});
}

static void add_rng(maker *m) {
  int64_t shape[] = {3, 4};
  sw_attr a[] = {{.key = SW_ATTR_SHAPE, .u.ints = {shape, 2}},
                 {.key = SW_ATTR_SEED, .u.i = (int64_t)sw_rng_next(&m->rng)},
                 {.key = SW_ATTR_DTYPE, .u.i = SW_F32},
                 {.key = SW_ATTR_HIGH_VALUE, .u.f = sw_rng_unit(&m->rng)}};
  add(m, &(sw_op_spec){.code = SW_OP_RNG, .n_attrs = 4, .attrs = a});
}

static void add_opaque(maker *m) {
  int64_t dims[] = {2, 3};
  sw_type t[] = {{SW_F32, 2, dims}, {SW_I32, 1, dims}};
  sw_attr a = {.key = SW_ATTR_TARGET, .u.text = "who knows"};
  sw_id x[] = {any_value(m), any_value(m)};
  add(m, &(sw_op_spec){.code = SW_OP_OPAQUE,
                       .n_operands = 2,
                       .operands = x,
                       .n_attrs = 1,
                       .attrs = &a,
                       .n_result_types = 2,
                       .result_types = t});
}

/* Sums along the second of two dims, by an own rule. */
static void add_generic(maker *m) {
  sw_id x = value_of(m, 2, SW_F32);
  if (x < 0 || sw_type_elements(&m->g->values[x].type) < 1) return;
  const int64_t *dims = m->g->values[x].type.dims;
  sw_loop loops[] = {{dims[0], SW_LOOP_PARALLEL, SW_REDUCE_SUM, 0}, {dims[1], SW_LOOP_REDUCTION, SW_REDUCE_MAX, 0}};
  sw_map maps[2];
  sw_linearity linear[] = {{1, SW_REDUCE_MAX}};
  assert_ok(sw_map_parse("(d0,d1)->(d0,d1)", 2, SW_NOWHERE, &m->arena, &maps[0], &diag));
  assert_ok(sw_map_parse("(d0,d1)->(d0)", 2, SW_NOWHERE, &m->arena, &maps[1], &diag));
  sw_loop_nest s = {2, 2, 1, loops, maps, linear, 3};
  sw_attr a = {.key = SW_ATTR_BODY, .u.text = "x0 * 2 + d0"};
  sw_type t = {SW_F32, 1, NULL};
  add(m, &(sw_op_spec){.code = SW_OP_GENERIC,
                       .n_operands = 1,
                       .operands = &x,
                       .n_attrs = 1,
                       .attrs = &a,
                       .nest = &s,
                       .n_result_types = 1,
                       .result_types = &t});
}

/* --- annotations -------------------------------------------------------------------------------------------------- */

static sw_sharding random_sharding(maker *m, int rank) {
  sw_sharding s = sw_sharding_replicated(rank);
  int dim = 0;
  for (int axis = 0; axis < 3 && rank; axis++) {
    dim += (int)below(m, 2);
    if (dim < rank && below(m, 2)) (void)sw_sharding_push(&s, dim, sw_axis_whole(&m->g->written->mesh, axis));
  }
  return s;
}

static void annotate_value(maker *m, sw_id v) {
  sw_annotation a = {.value = v, .op = -1, .required = below(m, 2) != 0};
  int rank = m->g->values[v].type.rank;
  a.sharding = random_sharding(m, rank);
  a.open_dims = rank ? (uint32_t)below(m, INT64_C(1) << rank) : 0;
  assert_ok(sw_graph_add_annotation(m->g, &a, &diag));
  if (below(m, 2)) return;
  a.for_users = true;
  a.sharding = random_sharding(m, rank);
  assert_ok(sw_graph_add_annotation(m->g, &a, &diag));
}

static void annotate_op(maker *m, sw_id op) {
  const sw_loop_nest *s = m->g->ops[op].nest;
  int32_t loops[1] = {0};
  sw_axis_ref ref = sw_axis_whole(&m->g->written->mesh, 1);
  sw_annotation a = {.value = -1, .op = op, .n_loop_refs = 1, .loop_of = loops, .loop_refs = &ref};
  while (loops[0] < s->n_loops && s->loops[loops[0]].kind == SW_LOOP_WHOLE) loops[0]++;
  if (loops[0] < s->n_loops + s->n_linear) assert_ok(sw_graph_add_annotation(m->g, &a, &diag));
}

static sw_graph *random_graph(uint64_t seed) {
  static void (*const kMakers[])(maker *) = {add_argument, add_constant, add_unary,  add_binary,
                                             add_softmax,  add_reduce,   add_einsum, add_pad,
                                             add_top_k,    add_rng,      add_opaque, add_generic};
  maker m = {0};
  sw_rng_seed(&m.rng, seed);
  assert_ok(sw_graph_create("random \"model\"", &m.g, &diag));
  sw_mesh mesh;
  assert_ok(sw_mesh_parse("x=2,y=2,z=3", &m.g->arena, &mesh, &diag));
  sw_graph_set_mesh(m.g, &mesh);
  for (int i = 0; i < 4; i++) add_argument(&m);
  for (int64_t i = 5 + below(&m, 40); i > 0; i--) kMakers[below(&m, 12)](&m);
  static const char *const kOutputs[] = {"first", "second", "third"};
  for (int i = 0; i < 3; i++) {
    assert_ok(sw_graph_add_output(m.g, fresh_name(&m, kOutputs[i]), any_value(&m), -1, SW_NOWHERE, &diag));
  }
  for (sw_id v = 0; v < m.g->n_values; v++) {
    if (below(&m, 3) == 0) annotate_value(&m, v);
  }
  for (sw_id op = 0; op < m.g->n_ops; op++) {
    if (below(&m, 3) == 0) annotate_op(&m, op);
  }
  assert_ok(sw_graph_seal(m.g, &diag));
  sw_arena_deinit(&m.arena);
  return m.g;
}

/* --- tests -------------------------------------------------------------------------------------------------------- */

static void written_is_read_again(void **state) {
  (void)state;
  uint64_t seed = check_seed(1);
  for (int n = 0; n < check_scale(300); n++) {
    sw_graph *g = random_graph(seed * 100000 + (uint64_t)n), *copy = NULL;
    sw_text text = {0}, again = {0}, a = {0}, b = {0};
    assert_ok(sw_model_write(g, &text, &diag));
    assert_ok(sw_model_parse("copy.json", text.at, text.n, &copy, &diag));
    sw_graph_print(g, &a);
    sw_graph_print(copy, &b);
    assert_string_equal(sw_text_str(&a), sw_text_str(&b));
    assert_true(sw_request_hash(g->written) == sw_request_hash(copy->written));
    assert_int_equal(g->written->n_annotations, copy->written->n_annotations);
    sw_graph *third = NULL;
    assert_ok(sw_model_write(copy, &again, &diag));
    assert_ok(sw_model_parse("third.json", again.at, again.n, &third, &diag));
    assert_true(sw_request_hash(g->written) == sw_request_hash(third->written));
    for (sw_id i = 0; i < g->n_ops; i++) {
      const sw_attr *x = sw_op_attr(&g->ops[i], SW_ATTR_VALUE);
      const sw_op *other = &copy->ops[sw_graph_op_named(copy, g->ops[i].name)];
      assert_int_equal(g->ops[i].location.at.line, other->location.at.line);
      if (!x) continue;
      const sw_attr *y = sw_op_attr(other, SW_ATTR_VALUE);
      sw_dtype t = sw_result_type(g, &g->ops[i], 0)->dtype;
      int64_t elements = x->u.data.splat ? 1 : sw_type_elements(sw_result_type(g, &g->ops[i], 0));
      assert_memory_equal(x->u.data.bytes, y->u.data.bytes, (size_t)(elements * sw_dtype_bytes(t)));
    }
    sw_graph_destroy(g);
    sw_graph_destroy(copy);
    sw_graph_destroy(third);
    sw_text_free(&text);
    sw_text_free(&again);
    sw_text_free(&a);
    sw_text_free(&b);
  }
}

static sw_graph *copy_of(const sw_graph *g, sw_arena *arena) {
  sw_graph *to;
  sw_id *now = sw_arena_alloc(arena, (size_t)g->n_values, sizeof *now, &diag);
  assert_non_null(now);
  assert_ok(sw_graph_create(g->name, &to, &diag));
  if (g->written->has_mesh) sw_graph_set_mesh(to, &g->written->mesh);
  assert_ok(sw_graph_copy_args(to, g, now, &diag));
  for (sw_id i = 0; i < g->n_ops; i++) assert_ok(sw_graph_copy_op(to, g, &g->ops[i], now, arena, &diag));
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_id alias = g->alias[i] < 0 ? -1 : now[g->alias[i]];
    assert_ok(sw_graph_add_output(to, g->output_names[i], now[g->outputs[i]], alias, g->output_spans[i], &diag));
  }
  assert_ok(sw_graph_seal(to, &diag));
  return to;
}

static bool same_place(sw_span a, sw_span b) { return a.file == b.file && a.line == b.line && a.col == b.col; }

static void check_copy(const sw_graph *g) {
  sw_arena arena = {0};
  sw_graph *copy = copy_of(g, &arena);
  sw_request asks_nothing = *g->written;
  asks_nothing.n_annotations = asks_nothing.n_sharding_groups = 0;
  assert_true(sw_request_hash(&asks_nothing) == sw_request_hash(copy->written));
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *was = &g->ops[i], *is = &copy->ops[i];
    assert_true(same_place(was->span, is->span) && same_place(was->location.at, is->location.at));
    assert_string_equal(was->function ? was->function : "", is->function ? is->function : "");
    assert_true(was->frame == is->frame && was->repeats == is->repeats && was->n_refs == is->n_refs);
  }
  sw_graph_destroy(copy);
  sw_arena_deinit(&arena);
}

static int check_copies_of_folder(const char *path) {
  char file[512];
  int n = 0;
  DIR *folder = opendir(path);
  assert_non_null(folder);
  for (struct dirent *e = readdir(folder); e; e = readdir(folder)) {
    sw_graph *g;
    if (!sw_path_ends_in(e->d_name, ".json")) continue;
    snprintf(file, sizeof file, "%s/%s", path, e->d_name);
    assert_ok(sw_model_read(file, &g, &diag));
    check_copy(g);
    sw_graph_destroy(g);
    n++;
  }
  closedir(folder);
  return n;
}

static void copied_is_the_same(void **state) {
  (void)state;
  const uint64_t seed = check_seed(5);
  for (int n = 0; n < check_scale(300); n++) {
    sw_graph *g = random_graph(seed * 100000 + (uint64_t)n);
    check_copy(g);
    sw_graph_destroy(g);
  }
  assert_true(check_copies_of_folder(SW_SOURCE_DIR "/models/small") > 20);
  assert_true(check_copies_of_folder(SW_SOURCE_DIR "/docs/examples") > 3); /* loops among them */
}

static char *read_example(const char *name, size_t *n) {
  char path[512], *text;
  snprintf(path, sizeof path, "%s/docs/examples/%s.json", SW_SOURCE_DIR, name);
  assert_ok(sw_file_read(path, &text, n, &diag));
  return text;
}

/* Whatever is done to a file, the answer is a graph or one message with a place. */
static void damaged_files_are_refused(void **state) {
  (void)state;
  static const char *const kExamples[] = {"mlp", "decoder", "smoothing"};
  static const char kPieces[] = "[]{}:,\"0123456789-xd()>?*.ae";
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(3));
  int refused = 0, total = check_scale(3000);
  for (int i = 0; i < total; i++) {
    size_t n;
    char *text = read_example(kExamples[i % 3], &n);
    for (int64_t hits = 1 + sw_rng_below(&rng, 3); hits > 0; hits--) {
      size_t at = (size_t)sw_rng_below(&rng, (int64_t)n - 8), run = (size_t)sw_rng_below(&rng, 8);
      switch (sw_rng_below(&rng, 3)) {
        case 0:
          text[at] = kPieces[sw_rng_below(&rng, (int64_t)sizeof kPieces - 1)];
          break;
        case 1:
          memmove(text + at, text + at + run, n - at - run);
          n -= run;
          break;
        default:
          memmove(text + at, text + n / 2, run);
      }
    }
    sw_graph *g = NULL;
    sw_rc rc = sw_model_parse("damaged.json", text, n, &g, &diag);
    if (rc) {
      assert_int_equal(rc, SW_E_INPUT);
      assert_true(diag.line > 0 && diag.text[0]);
      refused++;
    }
    sw_graph_destroy(g);
    sw_mem_free(text);
  }
  print_message("%d of %d refused\n", refused, total);
  assert_true(refused > total / 2);
}

static void every_failing_allocation_is_reported(void **state) {
  (void)state;
  size_t n;
  char *text = read_example("smoothing", &n);
  for (long k = 1;; k++) {
    sw_graph *g = NULL;
    sw_text out = {0};
    sw_mem_fail_after(k);
    sw_rc rc = sw_model_parse("m.json", text, n, &g, &diag);
    if (!rc) rc = sw_model_write(g, &out, &diag);
    sw_mem_fail_after(0);
    sw_graph_destroy(g);
    sw_text_free(&out);
    if (!rc) {
      assert_true(k > 10);
      break;
    }
    assert_int_equal(rc, SW_E_RESOURCE);
  }
  sw_mem_free(text);
}

/* CPU seconds to read a model of n layers. */
static double read_layers(int n) {
  sw_text text = {0};
  sw_text_puts(&text,
               "{\"format\": \"shardwright-model\", \"version\": 1, \"values\": [{\"name\": \"x\", \"kind\": "
               "\"input\", \"dtype\": \"f32\", \"shape\": [8, 8]}], \"ops\": [\n");
  for (int i = 0; i < n; i++) {
    char before[32];
    snprintf(before, sizeof before, i ? "layer/%d" : "x", i - 1);
    sw_text_printf(&text,
                   "%s    {\"op\": \"dot_general\", \"inputs\": [\"%s\", \"x\"], \"outputs\": [\"layer/%d\"], "
                   "\"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}}\n",
                   i ? "," : "", before, i);
  }
  sw_text_puts(&text, "], \"outputs\": [");
  for (int i = 0; i < n; i++) sw_text_printf(&text, "%s\"layer/%d\"", i ? ", " : "", i);
  sw_text_puts(&text, "]}");
  sw_graph *g = NULL;
  double start = check_cpu_s();
  assert_ok(sw_model_parse("large.json", text.at, text.n, &g, &diag));
  double seconds = check_cpu_s() - start;
  print_message("%d ops, %.1f MB in %.2f s\n", g->n_ops, (double)text.n / 1e6, seconds);
  assert_int_equal(g->n_ops, n);
  sw_graph_destroy(g);
  sw_text_free(&text);
  return seconds;
}

static void large_files_are_no_slower_by_op(void **state) {
  (void)state;
  double small = read_layers(12500);
  check_grows_linearly(small, read_layers(50000));
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(written_is_read_again), cmocka_unit_test(copied_is_the_same),
                                     cmocka_unit_test(large_files_are_no_slower_by_op),
                                     cmocka_unit_test(damaged_files_are_refused),
                                     cmocka_unit_test(every_failing_allocation_is_reported)};
  return cmocka_run_group_tests_name("random model files", tests, NULL, NULL);
}
