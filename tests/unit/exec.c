/* The interpreter, device programs on threads and rng: what the comparison with the slow evaluator (unit.kernels) does
 * not reach. */
#include <math.h>

#include "check.h"

#include "shardwright/exec.h"
#include "support/building.h"
#include "support/reference.h"

/* --- one device --------------------------------------------------------------------------------------------------- */

/* y = (x + x) * x, with x and y returned, y twice. */
static sw_graph *small_graph(void) {
  sw_graph *g = new_graph();
  sw_id x = arg(g, "x", SW_F32, 1, (int64_t[]){3});
  sw_id s = add(g, SW_OP_ADD, 2, (sw_id[]){x, x}, 0, NULL);
  sw_id y = add(g, SW_OP_MULTIPLY, 2, (sw_id[]){s, x}, 0, NULL);
  output(g, "a", y);
  output(g, "b", x);
  output(g, "c", y);
  return seal(g);
}

static sw_rc count_ops(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  (void)d;
  assert_int_equal(device, 0);
  assert_int_equal(op->n_results, 1);
  assert_int_equal(results[0]->dims[0], 3);
  ++*(int *)user;
  return SW_OK;
}

static void a_graph_runs_and_reports(void **state) {
  (void)state;
  sw_graph *g = small_graph();
  sw_tensor x = tensor_of(SW_F32, 1, (int64_t[]){3}, (double[]){1, -2, 3}), y[3];
  sw_exec_time times[8] = {0};
  int64_t peak = 0;
  int ops = 0;
  sw_exec_options o = {.poison = true, .observe = count_ops, .observe_user = &ops, .times = times, .peak_bytes = &peak};
  assert_ok(sw_exec_run(g, (const sw_buffer *[]){&x}, &o, y, &diag));
  assert_values(&y[0], VALUES(2, 8, 18));
  assert_values(&y[1], VALUES(1, -2, 3));
  assert_values(&y[2], VALUES(2, 8, 18));
  assert_true(y[1].data != x.data && y[0].data != y[2].data);
  assert_int_equal(ops, 2);
  assert_true(times[1].start_s >= times[0].end_s && times[0].end_s >= times[0].start_s && times[1].end_s > 0);
  assert_int_equal(peak, 3 * 3 * 4); /* x, s and y; nothing else */
  for (int i = 0; i < 3; i++) sw_tensor_deinit(&y[i]);
  sw_tensor_deinit(&x);
  sw_graph_destroy(g);
}

static void values_are_freed_after_their_last_use(void **state) {
  (void)state;
  sw_graph *g = new_graph();
  sw_id x = arg(g, "x", SW_F32, 1, (int64_t[]){1000});
  for (int i = 0; i < 50; i++) x = add(g, SW_OP_NEGATE, 1, &x, 0, NULL);
  output(g, "y", x);
  seal(g);
  sw_tensor in, out;
  int64_t peak;
  assert_ok(sw_tensor_init(&in, SW_F32, 1, (int64_t[]){1000}, &diag));
  assert_ok(sw_tensor_fill(&in, &(sw_fill){.kind = SW_FILL_SMALL}, &diag));
  assert_ok(sw_exec_run(g, (const sw_buffer *[]){&in}, &(sw_exec_options){.peak_bytes = &peak}, &out, &diag));
  assert_int_equal(peak, 2 * 4000);
  assert_memory_equal(in.data, out.data, 4000);
  sw_tensor_deinit(&in);
  sw_tensor_deinit(&out);
  sw_graph_destroy(g);
}

/* y = reverse(reverse(x)), and x: of what is perturbed, the caller's x is not, and moving elements perturbs nothing. */
static void perturbation_is_of_copies_and_of_what_is_computed(void **state) {
  (void)state;
  enum { N = 64 };
  sw_graph *g = new_graph();
  sw_id x = arg(g, "x", SW_F32, 1, (int64_t[]){N});
  sw_attr dims[] = {INTS(DIMS, 0)};
  sw_id once = add(g, SW_OP_REVERSE, 1, &x, 1, dims);
  output(g, "once", once);
  output(g, "twice", add(g, SW_OP_REVERSE, 1, &once, 1, dims));
  output(g, "negative", add(g, SW_OP_NEGATE, 1, &once, 0, NULL));
  seal(g);
  sw_tensor given, was, y[3];
  assert_ok(sw_tensor_init(&given, SW_F32, 1, (int64_t[]){N}, &diag));
  assert_ok(sw_tensor_fill(&given, &(sw_fill){.kind = SW_FILL_RANDOM, .seed = 5, .limit = 1}, &diag));
  assert_ok(sw_tensor_copy(&was, &given, &diag));
  assert_ok(sw_exec_run(g, (const sw_buffer *[]){&given}, &(sw_exec_options){.perturb = 9}, y, &diag));
  assert_memory_equal(given.data, was.data, N * sizeof(float));
  int moved = 0, computed = 0;
  for (int i = 0; i < N; i++) {
    const float *a = was.data, *once_of = y[0].data, *twice_of = y[1].data, *negative = y[2].data;
    assert_true(twice_of[i] == once_of[N - 1 - i]);
    assert_true(fabsf(twice_of[i] - a[i]) <= 0x1p-22F * fabsf(a[i]));
    moved += twice_of[i] != a[i];
    computed += negative[i] != -once_of[i];
  }
  assert_in_range(moved, N / 3, N);
  assert_in_range(computed, N / 3, N);
  for (int i = 0; i < 3; i++) sw_tensor_deinit(&y[i]);
  sw_tensor_deinit(&given);
  sw_tensor_deinit(&was);
  sw_graph_destroy(g);
}

/* Weights of more than a panel of the dot kernel, on either side, contracted dim first or last, two in a batch. */
static void large_narrow_weights_are_multiplied(void **state) {
  (void)state;
  enum { ROWS = 3, N = 33000, K = 64 };
  for (int kind = 0; kind < 4; kind++) {
    const bool last = kind & 1, left = kind & 2;
    const int64_t w_dims[3] = {2, last ? N : K, last ? K : N}, x_dims[3] = {2, K, ROWS};
    sw_graph *g = new_graph();
    sw_id ids[2] = {arg(g, "w", SW_BF16, 3, w_dims), arg(g, "x", SW_BF16, 3, x_dims)};
    sw_attr w_right[] = {INTS(LHS_BATCH, 0), INTS(RHS_BATCH, 0), INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 1 + last),
                         INT(DTYPE, SW_F32)};
    sw_attr w_left[] = {INTS(LHS_BATCH, 0), INTS(RHS_BATCH, 0), INTS(LHS_CONTRACT, 1 + last), INTS(RHS_CONTRACT, 1),
                        INT(DTYPE, SW_F32)};
    output(g, "y", add(g, SW_OP_DOT, 2, left ? ids : (sw_id[]){ids[1], ids[0]}, 5, left ? w_left : w_right));
    seal(g);
    sw_tensor in[2], y;
    for (int i = 0; i < 2; i++) {
      assert_ok(sw_tensor_init(&in[i], SW_BF16, 3, i ? x_dims : w_dims, &diag));
      assert_ok(sw_tensor_fill(&in[i], &(sw_fill){.kind = SW_FILL_SMALL, .seed = 7 + (uint64_t)i, .limit = 8}, &diag));
    }
    assert_ok(sw_exec_run(g, (const sw_buffer *[]){&in[0], &in[1]}, NULL, &y, &diag));
    for (int64_t e = 0; e < sw_buffer_elements(&y); e += 7) {
      int64_t batch = e / (ROWS * N), at = e % (ROWS * N), n = left ? at / ROWS : at % N,
              row = left ? at % ROWS : at / N;
      int64_t want = 0;
      for (int64_t k = 0; k < K; k++) {
        int64_t of_w = batch * K * N + (last ? n * K + k : k * N + n), of_x = (batch * K + k) * ROWS + row;
        want += sw_buffer_int(&in[0], of_w) * sw_buffer_int(&in[1], of_x);
      }
      if (sw_buffer_int(&y, e) != want) fail_msg("kind %d, element %lld", kind, (long long)e);
    }
    for (int i = 0; i < 2; i++) sw_tensor_deinit(&in[i]);
    sw_tensor_deinit(&y);
    sw_graph_destroy(g);
  }
}

static void bad_arguments_and_cancelling_are_refused(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_graph *g = small_graph();
  sw_tensor x = tensor_of(SW_F32, 1, (int64_t[]){3}, (double[]){1, 2, 3}), y[3];
  sw_tensor wrong = tensor_of(SW_F64, 1, (int64_t[]){3}, (double[]){1, 2, 3});
  assert_int_equal(sw_exec_run(g, (const sw_buffer *[]){&wrong}, NULL, y, &diag), SW_E_INPUT);
  assert_non_null(strstr(diag.text, "'x'"));
  sw_cancel cancel = {1};
  assert_int_equal(sw_exec_run(g, (const sw_buffer *[]){&x}, &(sw_exec_options){.cancel = &cancel}, y, &diag),
                   SW_E_CANCELLED);
  for (int i = 0; i < 3; i++) assert_null(y[i].data);
  sw_tensor_deinit(&wrong);
  sw_tensor_deinit(&x);
  sw_graph_destroy(g);
}

/* Every allocation of a run fails in turn: an error each time, no leak (under a sanitizer), no output left. */
static void running_out_of_memory_is_an_error(void **state) {
  (void)state;
  sw_graph *g = small_graph();
  sw_tensor x = tensor_of(SW_F32, 1, (int64_t[]){3}, (double[]){1, 2, 3}), y[3];
  int failures = 0;
  for (int n = 1; n < 1000; n++) {
    sw_mem_fail_after(n);
    sw_rc rc = sw_exec_run(g, (const sw_buffer *[]){&x}, NULL, y, &diag);
    sw_mem_fail_after(0);
    if (rc == SW_OK) break;
    assert_int_equal(rc, SW_E_RESOURCE);
    for (int i = 0; i < 3; i++) assert_null(y[i].data);
    failures++;
  }
  assert_true(failures > 3 && failures < 999);
  for (int i = 0; i < 3; i++) sw_tensor_deinit(&y[i]);
  sw_tensor_deinit(&x);
  sw_graph_destroy(g);
}

/* --- rng ---------------------------------------------------------------------------------------------------------- */

static sw_tensor draw(int rank, const int64_t *dims, const int64_t *global, const int64_t *starts, const char *how,
                      sw_dtype t) {
  sw_graph *g = new_graph();
  sw_id ids[SW_MAX_RANK];
  sw_tensor in[SW_MAX_RANK], y;
  const sw_buffer *args[SW_MAX_RANK];
  int n_starts = starts ? rank : 0;
  char name[8];
  for (int i = 0; i < n_starts; i++) {
    snprintf(name, sizeof name, "s%d", i);
    ids[i] = arg(g, name, SW_I64, 0, NULL);
    in[i] = tensor_of(SW_I64, 0, NULL, (double[]){(double)starts[i]});
    args[i] = &in[i];
  }
  sw_attr attrs[] = {{.key = SW_ATTR_SHAPE, .u.ints = {dims, rank}},
                     {.key = SW_ATTR_GLOBAL, .u.ints = {global, rank}},
                     INT(SEED, 42),
                     TEXT(DISTRIBUTION, how),
                     FLOAT(LOW_VALUE, -2),
                     FLOAT(HIGH_VALUE, 3),
                     INT(DTYPE, t)};
  output(g, "y", add(g, SW_OP_RNG, n_starts, ids, sizeof attrs / sizeof *attrs, attrs));
  seal(g);
  assert_ok(sw_exec_run(g, args, &(sw_exec_options){.poison = true}, &y, &diag));
  for (int i = 0; i < n_starts; i++) sw_tensor_deinit(&in[i]);
  sw_graph_destroy(g);
  return y;
}

static void a_shard_draws_its_part_of_the_whole(void **state) {
  (void)state;
  const int64_t dims[3] = {5, 6, 7}, part[3] = {2, 3, 4}, starts[3] = {3, 1, 2};
  for (int k = 0; k < 2; k++) {
    sw_tensor whole = draw(3, dims, dims, NULL, k ? "normal" : "uniform", SW_F32);
    sw_tensor shard = draw(3, part, dims, starts, k ? "normal" : "uniform", SW_F32);
    const float *w = whole.data, *s = shard.data;
    for (int64_t i = 0; i < 2; i++) {
      for (int64_t j = 0; j < 3; j++) {
        for (int64_t l = 0; l < 4; l++) {
          assert_true(s[(i * 3 + j) * 4 + l] == w[((i + 3) * 6 + j + 1) * 7 + l + 2]);
        }
      }
    }
    sw_tensor_deinit(&whole);
    sw_tensor_deinit(&shard);
  }
}

static void draws_have_their_distribution(void **state) {
  (void)state;
  const int64_t n = 20000;
  for (int k = 0; k < 2; k++) {
    sw_tensor x = draw(1, &n, &n, NULL, k ? "normal" : "uniform", SW_F64);
    const double *v = x.data;
    double sum = 0, squares = 0;
    for (int64_t i = 0; i < n; i++) {
      if (!k) assert_true(v[i] >= -2 && v[i] < 3);
      sum += v[i], squares += v[i] * v[i];
    }
    double mean = sum / (double)n, deviation = sqrt(squares / (double)n - mean * mean);
    /* uniform in [-2,3): mean 0.5, deviation 5/sqrt(12); normal: mean -2, deviation 3; 5 standard errors */
    assert_true(fabs(mean - (k ? -2 : 0.5)) < 5 * deviation / sqrt((double)n));
    assert_true(fabs(deviation - (k ? 3 : 5 / sqrt(12))) < 0.1);
    sw_tensor_deinit(&x);
  }
  sw_tensor ints = draw(1, &n, &n, NULL, "uniform", SW_I8);
  int seen[5] = {0};
  for (int64_t i = 0; i < n; i++) {
    int v = ((const int8_t *)ints.data)[i];
    assert_true(v >= -2 && v < 3);
    seen[v + 2]++;
  }
  for (int i = 0; i < 5; i++) assert_true(abs(seen[i] - 4000) < 300);
  sw_tensor_deinit(&ints);
}

/* --- device programs ---------------------------------------------------------------------------------------------- */

static const sw_mesh kMesh = {.n_axes = 2, .axis = {{"x", 2}, {"y", 3}}};
enum { DEVICES = 6 };

/* Each device holds x: a 2-row block of a 10-row column cut over y and x (6 shards of 2 rows, the last of none). It
 * masks its padding, sums its rows, reduces over the mesh, and gathers the blocks. */
static sw_graph *device_program(void) {
  sw_graph *g = new_graph();
  sw_axis_ref refs[2] = {sw_axis_whole(&kMesh, 1), sw_axis_whole(&kMesh, 0)};
  sw_id x = arg(g, "x", SW_F32, 1, (int64_t[]){2}), zero;
  float nothing = 0;
  sw_attr constant[] = {{.key = SW_ATTR_VALUE, .u.data = {&nothing, true}}, {.key = SW_ATTR_SHAPE}, INT(DTYPE, SW_F32)};
  zero = add(g, SW_OP_CONSTANT, 0, NULL, 3, constant);
  sw_attr mask[] = {INT(DIM, 0), INT(STEP, 2), INTS(START, 0), INTS(LIMIT, 9)};
  sw_type block = {SW_F32, 1, (int64_t[]){2}}, scalar = {SW_F32, 0, NULL}, whole = {SW_F32, 1, (int64_t[]){9}};
  sw_id kept = add_spec(g, &(sw_op_spec){.code = SW_OP_MASK,
                                         .n_operands = 2,
                                         .operands = (sw_id[]){x, zero},
                                         .n_attrs = 4,
                                         .attrs = mask,
                                         .n_refs = 2,
                                         .refs = refs,
                                         .n_result_types = 1,
                                         .result_types = &block});
  sw_attr reduce[] = {TEXT(KIND, "sum"), INTS(DIMS, 0)};
  sw_id sum = add(g, SW_OP_REDUCE, 1, &kept, 2, reduce);
  sw_collective all = {.op = SW_COLL_ALL_REDUCE, .n_axes = 2, .axes = {refs[0], refs[1]}, .reduction = SW_REDUCE_SUM};
  sw_id total = add_spec(g, &(sw_op_spec){.code = SW_OP_COLLECTIVE,
                                          .n_operands = 1,
                                          .operands = &sum,
                                          .collective = &all,
                                          .n_result_types = 1,
                                          .result_types = &scalar});
  sw_collective gather = {.op = SW_COLL_ALL_GATHER, .n_axes = 2, .axes = {refs[0], refs[1]}, .dim = 0};
  sw_id joined = add_spec(g, &(sw_op_spec){.code = SW_OP_COLLECTIVE,
                                           .n_operands = 1,
                                           .operands = &x,
                                           .collective = &gather,
                                           .n_result_types = 1,
                                           .result_types = &whole});
  sw_attr start[] = {INT(BASE, 100), INT(STEP, 2), INT(DTYPE, SW_I64)};
  sw_type index = {SW_I64, 0, NULL};
  sw_id where = add_spec(g, &(sw_op_spec){.code = SW_OP_SHARD_START,
                                          .n_attrs = 3,
                                          .attrs = start,
                                          .n_refs = 2,
                                          .refs = refs,
                                          .n_result_types = 1,
                                          .result_types = &index});
  output(g, "total", total);
  output(g, "joined", joined);
  output(g, "where", where);
  return seal(g);
}

static int64_t shard_of(int64_t device) { return device % 3 * 2 + device / 3; } /* y major, x minor */

/* Blocks of the 9 rows: shard 4 has one row, shard 5 none. */
static void block_extent(void *user, sw_id value, int64_t device, int64_t *valid) {
  const sw_graph *g = user;
  const sw_type *t = &g->values[value].type;
  for (int i = 0; i < t->rank; i++) valid[i] = t->dims[i];
  if (g->values[value].kind == SW_VALUE_INPUT) { /* masked blocks are valid throughout */
    int64_t left = 9 - 2 * shard_of(device);
    valid[0] = left < 0 ? 0 : left > 2 ? 2 : left;
  }
}

/* Random masks and shard starts on every device, against the definition. */
static void masks_agree_with_the_definition(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(41));
  for (int round = 0; round < check_scale(200); round++) {
    int64_t dims[3], rank = 1 + sw_rng_below(&rng, 3), dim = sw_rng_below(&rng, rank);
    for (int i = 0; i < rank; i++) dims[i] = sw_rng_below(&rng, 6);
    sw_dtype t = sw_rng_below(&rng, 2) ? SW_BF16 : SW_I64;
    sw_axis_ref refs[2] = {sw_axis_whole(&kMesh, (int)sw_rng_below(&rng, 2)), {1, 1, 3}};
    int n_refs = (int)sw_rng_below(&rng, refs[0].axis == 0 ? 3 : 2);
    int other_rank = sw_rng_below(&rng, 2) ? (int)rank : 0;
    sw_graph *g = new_graph();
    sw_id in[2] = {arg(g, "x", t, (int)rank, dims), arg(g, "other", t, other_rank, dims)};
    sw_attr attrs[] = {INT(DIM, dim), INT(BASE, sw_rng_below(&rng, 9) - 4), INT(STEP, sw_rng_below(&rng, 7) - 3),
                       INTS(START, sw_rng_below(&rng, 9) - 4), INTS(LIMIT, sw_rng_below(&rng, 20) - 4)};
    sw_type type = {t, (int32_t)rank, dims};
    sw_id y = add_spec(g, &(sw_op_spec){.code = SW_OP_MASK,
                                        .n_operands = 2,
                                        .operands = in,
                                        .n_attrs = 5,
                                        .attrs = attrs,
                                        .n_refs = n_refs,
                                        .refs = refs,
                                        .n_result_types = 1,
                                        .result_types = &type});
    const sw_op *op = &g->ops[g->values[y].def];
    sw_tensor x[2], got, want;
    sw_fill fill = {.kind = SW_FILL_SMALL, .seed = (uint64_t)round};
    assert_ok(sw_tensor_init(&x[0], t, (int)rank, dims, &diag));
    assert_ok(sw_tensor_init(&x[1], t, other_rank, dims, &diag));
    assert_ok(sw_tensor_init(&got, t, (int)rank, dims, &diag));
    assert_ok(sw_tensor_init(&want, t, (int)rank, dims, &diag));
    for (int i = 0; i < 2; i++) assert_ok(sw_tensor_fill(&x[i], &fill, &diag));
    const sw_buffer *args[2] = {&x[0], &x[1]};
    for (int64_t device = 0; device < DEVICES; device++) {
      sw_difference difference;
      assert_ok(sw_exec_eval(op, args, (sw_buffer *[]){&got}, &(sw_exec_ctx){&kMesh, device, NULL}, &diag));
      assert_true(reference_eval(op, args, (sw_buffer *[]){&want}, &kMesh, device));
      assert_ok(sw_tensor_compare(&got, &want, (sw_tolerance){0}, &difference, &diag));
      assert_int_equal(difference.differing, 0);
    }
    for (int i = 0; i < 2; i++) sw_tensor_deinit(&x[i]);
    sw_tensor_deinit(&got);
    sw_tensor_deinit(&want);
    sw_graph_destroy(g);
  }
}

/* 64 devices each hold 4 columns of a and 4 rows of b: the sum of their products is the whole product, exactly. */
static void many_devices_multiply(void **state) {
  (void)state;
  enum { N = 32, PER = 4, MANY = 64, K = PER * MANY };
  const sw_mesh mesh = {.n_axes = 2, .axis = {{"x", 8}, {"y", 8}}};
  sw_graph *g = new_graph();
  sw_id ab[2] = {arg(g, "a", SW_F32, 2, (int64_t[]){N, PER}), arg(g, "b", SW_F32, 2, (int64_t[]){PER, N})};
  sw_attr dot[] = {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)};
  sw_id part = add(g, SW_OP_DOT, 2, ab, 2, dot);
  sw_collective sum = {.op = SW_COLL_ALL_REDUCE,
                       .n_axes = 2,
                       .axes = {sw_axis_whole(&mesh, 0), sw_axis_whole(&mesh, 1)},
                       .reduction = SW_REDUCE_SUM};
  sw_type type = {SW_F32, 2, (int64_t[]){N, N}};
  output(g, "y",
         add_spec(g, &(sw_op_spec){.code = SW_OP_COLLECTIVE,
                                   .n_operands = 1,
                                   .operands = &part,
                                   .collective = &sum,
                                   .n_result_types = 1,
                                   .result_types = &type}));
  seal(g);
  sw_tensor in[MANY * 2], out[MANY];
  const sw_buffer *args[MANY * 2];
  static double want[N * N];
  memset(want, 0, sizeof want);
  for (int i = 0; i < MANY * 2; i++) {
    assert_ok(sw_tensor_init(&in[i], SW_F32, 2, i % 2 ? (int64_t[]){PER, N} : (int64_t[]){N, PER}, &diag));
    assert_ok(sw_tensor_fill(&in[i], &(sw_fill){.kind = SW_FILL_SMALL, .seed = (uint64_t)i, .limit = 8}, &diag));
    args[i] = &in[i];
  }
  for (int e = 0; e < N * N * K; e++) {
    int i = e / K / N, j = e / K % N, k = e % K, device = k / PER;
    want[i * N + j] += (double)((const float *)in[device * 2].data)[i * PER + k % PER] *
                       (double)((const float *)in[device * 2 + 1].data)[k % PER * N + j];
  }
  sw_comm *comm;
  assert_ok(sw_comm_create_threads(&mesh, &(sw_comm_options){.timeout_s = 60}, &comm, &diag));
  sw_exec_program program = {g, &mesh, comm, NULL, NULL};
  assert_ok(sw_exec_run_spmd(&program, args, &(sw_exec_options){.poison = true}, out, &diag));
  for (int i = 0; i < MANY; i++) assert_values(&out[i], want, N * N);
  for (int i = 0; i < MANY * 2; i++) sw_tensor_deinit(&in[i]);
  for (int i = 0; i < MANY; i++) sw_tensor_deinit(&out[i]);
  sw_comm_destroy(comm);
  sw_graph_destroy(g);
}

typedef struct spmd_case {
  sw_graph *g;
  sw_comm *comm;
  sw_tensor in[DEVICES];
  const sw_buffer *args[DEVICES];
  sw_tensor out[DEVICES * 3];
  sw_exec_program program;
} spmd_case;

static void spmd_start(spmd_case *c, sw_cancel *cancel) {
  *c = (spmd_case){.g = device_program()};
  assert_ok(sw_comm_create_threads(&kMesh, &(sw_comm_options){.timeout_s = 20, .cancel = cancel}, &c->comm, &diag));
  for (int64_t i = 0; i < DEVICES; i++) {
    double first = (double)(2 * shard_of(i));
    c->in[i] = tensor_of(SW_F32, 1, (int64_t[]){2}, (double[]){first < 9 ? first : NAN, first < 8 ? first + 1 : NAN});
    c->args[i] = &c->in[i];
  }
  c->program = (sw_exec_program){c->g, &kMesh, c->comm, block_extent, c->g};
}

static void spmd_end(spmd_case *c) {
  for (int i = 0; i < DEVICES; i++) sw_tensor_deinit(&c->in[i]);
  for (int i = 0; i < DEVICES * 3; i++) sw_tensor_deinit(&c->out[i]);
  sw_comm_destroy(c->comm);
  sw_graph_destroy(c->g);
}

static void a_program_runs_on_device_threads(void **state) {
  (void)state;
  spmd_case c;
  spmd_start(&c, NULL);
  sw_exec_time times[DEVICES * 16] = {0};
  assert_true(c.g->n_ops <= 16);
  int64_t peak[DEVICES] = {0};
  sw_exec_options o = {.poison = true, .times = times, .peak_bytes = peak};
  assert_ok(sw_exec_run_spmd(&c.program, c.args, &o, c.out, &diag));
  for (int64_t i = 0; i < DEVICES; i++) {
    assert_values(&c.out[i * 3], VALUES(36));
    assert_values(&c.out[i * 3 + 1], VALUES(0, 1, 2, 3, 4, 5, 6, 7, 8));
    assert_values(&c.out[i * 3 + 2], (double[]){(double)(100 + 2 * shard_of(i))}, 1);
    assert_true(peak[i] > 0);
    for (int32_t k = 0; k < c.g->n_ops; k++) assert_true(times[i * c.g->n_ops + k].end_s > 0);
  }
  spmd_end(&c);
}

static sw_rc fail_on_four(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  (void)results;
  if (device != 4 || op->code != *(const sw_opcode *)user) return SW_OK;
  return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "device four has had enough");
}

static void one_failing_device_ends_the_run(void **state) {
  (void)state;
  const sw_opcode kWhere[] = {SW_OP_MASK, SW_OP_REDUCE, SW_OP_COLLECTIVE, SW_OP_SHARD_START};
  for (int k = 0; k < 4; k++) {
    diag = (sw_diag){0};
    spmd_case c;
    sw_opcode where = kWhere[k];
    spmd_start(&c, NULL);
    sw_exec_options o = {.observe = fail_on_four, .observe_user = &where};
    assert_int_equal(sw_exec_run_spmd(&c.program, c.args, &o, c.out, &diag), SW_E_MISMATCH);
    assert_string_equal(diag.text, "device four has had enough");
    bool named = false;
    for (int i = 0; i < diag.n_notes; i++) named = named || strstr(diag.notes[i], "on device 4 of 6");
    assert_true(named);
    for (int i = 0; i < DEVICES * 3; i++) assert_null(c.out[i].data);
    spmd_end(&c);
  }
}

static sw_rc cancel_run(void *user, int64_t device, const sw_op *op, const sw_buffer *const *results, sw_diag *d) {
  (void)results, (void)d;
  sw_cancel *cancel = user;
  if (device == 1 && op->code == SW_OP_REDUCE) sw_cancel_set(cancel);
  return SW_OK;
}

static void a_run_can_be_cancelled(void **state) {
  (void)state;
  spmd_case c;
  sw_cancel cancel = {0};
  spmd_start(&c, &cancel);
  sw_exec_options o = {.observe = cancel_run, .observe_user = &cancel, .cancel = &cancel};
  assert_int_equal(sw_exec_run_spmd(&c.program, c.args, &o, c.out, &diag), SW_E_CANCELLED);
  spmd_end(&c);
}

static void a_collective_needs_devices(void **state) {
  (void)state;
  spmd_case c;
  spmd_start(&c, NULL);
  assert_int_equal(sw_exec_run(c.g, c.args, NULL, c.out, &diag), SW_E_BUG); /* the mask comes first: it has no mesh */
  spmd_end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(a_graph_runs_and_reports),
                                     cmocka_unit_test(values_are_freed_after_their_last_use),
                                     cmocka_unit_test(perturbation_is_of_copies_and_of_what_is_computed),
                                     cmocka_unit_test(large_narrow_weights_are_multiplied),
                                     cmocka_unit_test(bad_arguments_and_cancelling_are_refused),
                                     cmocka_unit_test(running_out_of_memory_is_an_error),
                                     cmocka_unit_test(masks_agree_with_the_definition),
                                     cmocka_unit_test(many_devices_multiply),
                                     cmocka_unit_test(a_shard_draws_its_part_of_the_whole),
                                     cmocka_unit_test(draws_have_their_distribution),
                                     cmocka_unit_test(a_program_runs_on_device_threads),
                                     cmocka_unit_test(one_failing_device_ends_the_run),
                                     cmocka_unit_test(a_run_can_be_cancelled),
                                     cmocka_unit_test(a_collective_needs_devices)};
  return cmocka_run_group_tests_name("exec", tests, NULL, NULL);
}
