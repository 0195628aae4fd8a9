/* Profiles from files: tables that a known profile's prices make give its constants and prices back. */
#include "check.h"

#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "bench/calibrate_from.h"
#include "bench/measured.h"
#include "bench/runs.h"

enum { MAX_FILES = 40 };

/* A folder of made files. */
typedef struct folder {
  char path[64], names[MAX_FILES][128];
  const char *files[MAX_FILES];
  int n;
  sw_arena arena;
} folder;

static void begin(folder *f) {
  *f = (folder){.path = "/tmp/sw_calibrate_XXXXXX"};
  assert_non_null(mkdtemp(f->path));
}

static void end(folder *f) {
  for (int i = 0; i < f->n; i++) unlink(f->names[i]);
  rmdir(f->path);
  sw_arena_deinit(&f->arena);
}

static const char *put(folder *f, const char *name, const sw_text *text) {
  assert_true(f->n < MAX_FILES);
  char path[128];
  snprintf(path, sizeof path, "%s/%s", f->path, name);
  memcpy(f->names[f->n], path, sizeof path);
  assert_ok(sw_file_write(f->names[f->n], sw_text_str(text), text->n, &diag));
  f->files[f->n] = f->names[f->n];
  return f->files[f->n++];
}

static sw_rc calibrate(folder *f, const char *start, sw_calibrated *out) {
  sw_calibrate_from_options o = {.files = f->files, .n_files = f->n, .name = "made", .start = start};
  return sw_calibrate_from(&o, &f->arena, out, &diag);
}

/* --- prices of a known profile, as nccl-tests prints times ------------------------------------------------------ */

typedef struct test_program {
  const char *name;
  sw_coll_op op;
} test_program;
static const test_program kPrograms[] = {{"all_gather", SW_COLL_ALL_GATHER},
                                         {"reduce_scatter", SW_COLL_REDUCE_SCATTER},
                                         {"all_reduce", SW_COLL_ALL_REDUCE},
                                         {"alltoall", SW_COLL_ALL_TO_ALL},
                                         {"sendrecv", SW_COLL_PERMUTE}};
enum { N_PROGRAMS = sizeof kPrograms / sizeof *kPrograms };

static double price(folder *f, const sw_profile *p, sw_coll_op op, int nodes, int each, double bytes) {
  char text[64];
  sw_mesh mesh;
  sw_machine *m;
  snprintf(text, sizeof text, "node=%d,rest=%d,dev=%d", nodes, 8 / each, each);
  assert_ok(sw_mesh_parse(text, &f->arena, &mesh, &diag));
  assert_ok(sw_machine_build(&f->arena, p, &mesh, &m, &diag));
  sw_axis_ref group[] = {sw_axis_whole(&mesh, 0), sw_axis_whole(&mesh, 2)};
  return sw_machine_collective_s(m, op, group, 2, bytes);
}

static void print_ranks(sw_text *t, int nodes, int each) {
  sw_text_puts(t,
               "# nThread 1 nGpus 1 minBytes 1024 maxBytes 1073741824 step: 2(factor) warmup iters: 5 iters: 20 agg "
               "iters: 1 validation: 1 graph: 0\n#\n# Using devices\n");
  for (int i = 0; i < nodes * each; i++)
    sw_text_printf(t, "#  Rank %2d Group  0 Pid %6d on %10s%d device %2d [0000:%02x:00] NVIDIA H100 80GB HBM3\n", i,
                   100 + i, "node", i / each, i % each, i % each);
  sw_text_puts(t,
               "#\n#                                                              out-of-place                       "
               "in-place          \n"
               "#       size         count      type   redop    root     time   algbw   busbw #wrong     time   "
               "algbw   busbw #wrong\n"
               "#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  "
               "(GB/s)  (GB/s)       \n");
}

static void put_text(folder *f, const sw_profile *p, const test_program *program, int nodes, int each) {
  char name[64];
  sw_text t = {0};
  sw_text_printf(&t, "# Collective test starting: %s_perf\n", program->name);
  print_ranks(&t, nodes, each);
  for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2) {
    double us = 1e6 * price(f, p, program->op, nodes, each, bytes);
    sw_text_printf(&t,
                   "%12.0f  %12.0f     float     sum      -1  %7.2f  %6.2f  %6.2f      0  %7.2f  %6.2f  %6.2f      0\n",
                   bytes, bytes / 4, us, bytes / us / 1e3, 0.0, us * 2, bytes / us / 2e3, 0.0);
  }
  sw_text_puts(&t, "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 70.742 \n#\n");
  snprintf(name, sizeof name, "%s-%d-%d.txt", program->name, nodes, each);
  put(f, name, &t);
  sw_text_free(&t);
}

static void put_json(folder *f, const sw_profile *p, const test_program *program, int each) {
  char name[64];
  sw_text t = {0};
  sw_text_printf(&t,
                 "{\"version\": 1, \"args\": [\"./build/%s_perf\", \"-J\", \"x\"], \"config\": {\"nthreads\": 1, "
                 "\"ngpus\": %d, \"devices\": [{\"rank\": 0, \"group\": 0, \"pid\": 7, \"hostname\": \"n\", "
                 "\"device\": 0, \"device_hex\": \"00\", \"device_info\": \"NVIDIA H100\"}]}, \"results\": [",
                 program->name, each);
  for (double bytes = 1024; bytes <= 1 << 30; bytes *= 2)
    sw_text_printf(&t,
                   "%s{\"size\": %.0f, \"count\": 1, \"type\": \"float\", \"redop\": \"sum\", \"root\": \"-1\", "
                   "\"out_of_place\": {\"time\": %f, \"alg_bw\": 0.0, \"bus_bw\": 0.0, \"nwrong\": null}, "
                   "\"in_place\": null}",
                   bytes > 1024 ? ",\n" : "", bytes, 1e6 * price(f, p, program->op, 1, each, bytes));
  sw_text_puts(&t, "]}");
  snprintf(name, sizeof name, "%s-%d.json", program->name, each);
  put(f, name, &t);
  sw_text_free(&t);
}

static double worst_price(folder *f, const sw_profile *truth, const sw_profile *made, int nodes, int each) {
  double worst = 0;
  for (int i = 0; i < N_PROGRAMS; i++)
    for (double bytes = 1536; bytes <= 1 << 30; bytes *= 2) {
      double a = price(f, truth, kPrograms[i].op, nodes, each, bytes);
      double b = price(f, made, kPrograms[i].op, nodes, each, bytes);
      worst = fmax(worst, fabs(log(b / a)));
    }
  return worst;
}

/* Prices by the formula alone. */
static const sw_profile *shipped(folder *f, const char *name) {
  const sw_profile *p;
  assert_ok(sw_profile_read(name, &f->arena, &p, &diag));
  sw_profile *plain = sw_arena_copy(&f->arena, p, 1, sizeof *p, &diag);
  assert_non_null(plain);
  for (int l = 0; l < plain->n_levels; l++)
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) plain->level[l].line[c].knots = NULL;
  return plain;
}

/* The profile with every constant of its network off by a factor of up to two, as a file. */
static const char *put_start(folder *f, const sw_profile *p, uint64_t seed) {
  sw_profile off = *p;
  sw_text t = {0};
  char path[128];
  sw_rng rng;
  sw_rng_seed(&rng, seed);
  for (int l = 0; l < off.n_levels; l++)
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
      sw_cost_line *x = &off.level[l].line[c];
      double *const constants[] = {&x->base_s,          &x->peer_s,     &x->ramp_s_per_sqrt_byte,
                                   &x->pair_s_per_byte, &x->s_per_byte, &x->in_network_s_per_byte};
      for (int k = 0; k < 6; k++) *constants[k] *= exp2(2 * sw_rng_unit(&rng) - 1);
    }
  assert_ok(sw_profile_write(&off, "a test", &t, &diag));
  snprintf(path, sizeof path, "%s/start.json", f->path);
  assert_ok(sw_file_write(path, sw_text_str(&t), t.n, &diag));
  sw_text_free(&t);
  return sw_arena_strndup(&f->arena, path, strlen(path), &diag);
}

static void end_with_start(folder *f, const char *start) {
  unlink(start);
  end(f);
}

static void put_tables_of_a_node(folder *f, const sw_profile *truth) {
  for (int i = 0; i < N_PROGRAMS; i++)
    for (int each = 2; each <= 8; each *= 2) {
      if (i == 4 || each == 4)
        put_json(f, truth, &kPrograms[i], each);
      else
        put_text(f, truth, &kPrograms[i], 1, each);
    }
}

#define assert_near(made, truth, part) assert_true(fabs(log((made) / (truth))) <= (part))

static void tables_of_one_node_give_its_prices_back(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  begin(&f);
  const sw_profile *truth = shipped(&f, "dgx-h100");
  put_tables_of_a_node(&f, truth);
  const char *start = put_start(&f, truth, check_seed(1));
  assert_ok(calibrate(&f, start, &made));
  for (int each = 2; each <= 8; each *= 2) assert_true(worst_price(&f, truth, made.profile, 1, each) <= 0.03);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    const sw_cost_line *a = &made.profile->level[0].line[c], *b = &truth->level[0].line[c];
    assert_near(a->base_s, b->base_s, 0.02);
    assert_near(a->s_per_byte, b->s_per_byte, 0.02);
  }
  assert_int_equal(made.n_rows, N_PROGRAMS * 3);
  for (int64_t i = 0; i < made.n_rows; i++) {
    assert_int_equal(made.rows[i].fitted, 11);
    assert_int_equal(made.rows[i].judged, 10);
    assert_true(made.rows[i].fitted_error <= 0.02 && made.rows[i].judged_error <= 0.02);
  }
  assert_string_equal(made.left, "");
  end_with_start(&f, start);
}

/* The network of a sheet is assumed; without reduction in the switch its formula holds for the truth, too. */
static void a_data_sheet_is_enough_to_start_with(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  begin(&f);
  sw_profile truth = *shipped(&f, "dgx-h100");
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) truth.level[0].line[c].in_network_min = 0;
  put_tables_of_a_node(&f, &truth);
  sw_text sheet = {0};
  sw_text_puts(&sheet,
               "device,fp32_TFLOPS,bf16_TFLOPS,fp8_TFLOPS,hbm_GB,hbm_GBps,scaleup_total_GBps_unidir,"
               "scaleup_domain,scaleup_topology,scaleout_GBps_unidir_per_device\n"
               "Big-1,60,900,1800,96,4000,450 (900 bidir),8,switch,50\n");
  put(&f, "sheet.csv", &sheet);
  sw_text_free(&sheet);
  assert_ok(calibrate(&f, NULL, &made));
  const sw_profile *p = made.profile;
  assert_string_equal(p->device_name, "Big-1");
  assert_true(p->memory_bytes == 96000000000 && p->memory_bytes_per_s == 4e12);
  assert_true(p->flop_per_s[SW_F32] == 60e12 && p->flop_per_s[SW_BF16] == 900e12 && p->flop_per_s[SW_F16] == 60e12);
  assert_int_equal(p->n_levels, 2);
  assert_true(p->level[1].open);
  for (int each = 2; each <= 8; each *= 2) assert_true(worst_price(&f, &truth, p, 1, each) <= 0.03);
  int unknown = 0;
  for (int i = 0; i < made.n_keys; i++) unknown += !made.keys[i].known;
  assert_int_equal(unknown, 2 + SW_COST_CLASS_COUNT); /* achieved, exchange, what is across nodes */
  end(&f);
}

static void tables_over_nodes_give_their_prices_back(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  begin(&f);
  const sw_profile *truth = shipped(&f, "h100x64");
  put_tables_of_a_node(&f, truth);
  for (int i = 0; i < N_PROGRAMS; i++)
    for (int nodes = 2; nodes <= 8; nodes *= 2) put_text(&f, truth, &kPrograms[i], nodes, 8);
  const char *start = put_start(&f, truth, check_seed(1));
  assert_ok(calibrate(&f, start, &made));
  assert_true(worst_price(&f, truth, made.profile, 1, 8) <= 0.03);
  for (int nodes = 2; nodes <= 8; nodes *= 2) assert_true(worst_price(&f, truth, made.profile, nodes, 8) <= 0.03);
  end_with_start(&f, start);
}

/* Nodes of four PCIe root complexes with two devices each, behind the network of a known profile. */
static sw_profile of_complexes(folder *f) {
  sw_profile p = *shipped(f, "h100x64");
  p.level[2] = p.level[1];
  p.level[1] = p.level[0];
  p.level[0].name = "complex";
  p.level[0].dims[0] = 2;
  p.level[1].name = "sockets";
  p.level[1].dims[0] = 4;
  p.n_levels = 3;
  p.node_level = 1;
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    for (int l = 0; l < 2; l++) {
      p.level[l].line[c].in_network_min = 0;
      p.level[l].line[c].s_per_byte *= l ? 30 : 15;
      p.level[l].line[c].ramp_s_per_sqrt_byte = 0;
    }
    p.level[1].line[c].base_s *= 3;
  }
  return p;
}

/* By the definition: the devices of a group one after the other, each with its place at every level. */
static void check_layout(const sw_profile *p, const sample_set *set, int layout, folder *f) {
  const rank_layout l = set->layouts[layout];
  const int64_t each = l.ranks / l.nodes;
  sw_group g;
  assert_ok(sw_sample_group(p, set, layout, &f->arena, &g, &diag));
  int top = 0;
  for (int64_t i = 1; i < l.ranks; i++) {
    const int64_t first = 0, id = i / each * 8 + i % each;
    for (int level = 0; level < 3; level++) {
      const int64_t unit = level == 0 ? 1 : level == 1 ? 2 : 8, above = level == 0 ? 2 : level == 1 ? 8 : 64;
      if (first / above == id / above && first / unit != id / unit && level > top) top = level;
    }
  }
  assert_int_equal(sw_sample_layout_level(p, l), top);
}

static void groups_lie_in_complexes_nodes_and_the_network(void **state) {
  (void)state;
  folder f;
  begin(&f);
  const sw_profile p = of_complexes(&f);
  sample_set *set;
  assert_non_null(set = calloc(1, sizeof *set));
  static const rank_layout kFits[] = {{2, 1}, {4, 1}, {8, 1}, {2, 2}, {4, 2}, {8, 2}, {16, 2}, {32, 4}, {64, 8}};
  static const rank_layout kDoNot[] = {{3, 1}, {16, 1}, {6, 1}, {12, 2}, {9, 2}, {1, 2}, {72, 9}};
  for (size_t i = 0; i < sizeof kFits / sizeof *kFits; i++) {
    assert_true(sw_sample_layout_fits(&p, kFits[i]));
    check_layout(&p, set, sw_sample_layout(set, kFits[i]), &f);
  }
  for (size_t i = 0; i < sizeof kDoNot / sizeof *kDoNot; i++) assert_false(sw_sample_layout_fits(&p, kDoNot[i]));
  free(set);
  end(&f);
}

/* Each level is fitted by groups that reach it and go no further. */
static void tables_of_three_levels_give_their_prices_back(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  begin(&f);
  const sw_profile truth = of_complexes(&f);
  put_tables_of_a_node(&f, &truth);
  for (int i = 0; i < N_PROGRAMS; i++)
    for (int nodes = 2; nodes <= 8; nodes *= 4) put_text(&f, &truth, &kPrograms[i], nodes, 8);
  const char *start = put_start(&f, &truth, check_seed(1));
  assert_ok(calibrate(&f, start, &made));
  assert_int_equal(made.profile->node_level, 1);
  assert_string_equal(made.left, "");
  assert_true(worst_price(&f, &truth, made.profile, 1, 2) <= 0.03);
  /* how far levels overlap is told by few rows alone, those of all_reduces in which two take long */
  for (int64_t i = 0; i < made.n_rows; i++)
    assert_true(made.rows[i].judged_error <= (strstr(made.rows[i].what, "all_reduce") ? 0.12 : 0.03));
  for (int i = 0; i < made.n_keys; i++) {
    if (strstr(made.keys[i].key, "costs")) assert_non_null(strstr(made.keys[i].from, "fitted"));
  }
  end_with_start(&f, start);
}

/* What only an all_reduce has said: it is met, and the two that it is made of follow. */
static void an_all_reduce_alone_is_met(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  begin(&f);
  sw_profile truth = *shipped(&f, "dgx-a100");
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    truth.level[0].line[c].base_s *= 9; /* beyond what the start lets a sum of two others cost */
    truth.level[0].line[c].s_per_byte *= 5;
  }
  put_text(&f, &truth, &kPrograms[2], 1, 8);
  assert_ok(calibrate(&f, "dgx-a100", &made));
  for (double bytes = 1536; bytes <= 1 << 30; bytes *= 2)
    assert_near(price(&f, made.profile, SW_COLL_ALL_REDUCE, 1, 8, bytes),
                price(&f, &truth, SW_COLL_ALL_REDUCE, 1, 8, bytes), 0.03);
  sw_cost_line all = made.profile->level[0].line[SW_COST_ALL_REDUCE];
  assert_true(made.profile->level[0].line[SW_COST_ALL_GATHER].base_s == all.base_s);
  end(&f);
}

static double local_s(const sw_profile *p, sw_arena *arena, sw_dtype t, double flops, double bytes) {
  sw_mesh one = {0};
  sw_machine *m;
  assert_ok(sw_machine_build(arena, p, &one, &m, &diag));
  return sw_machine_local_s(m, t, flops, bytes);
}

static void times_of_kernels_give_what_is_achieved_back(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  begin(&f);
  sw_profile truth = *shipped(&f, "mi300x-8");
  truth.flop_fraction = 0.61;
  truth.flop_fraction_8bit = 0.5;
  truth.memory_fraction = 0.7;
  truth.launch_s = 3e-6;
  sw_text products = {0}, memory = {0};
  sw_text_puts(&products, "source,hardware,dtype,m,n,k,time_us\n");
  sw_text_puts(&memory, "source,hardware,op,bytes,time_us\n");
  for (int m = 16; m <= 16384; m *= 2)
    for (int bits = 8; bits <= 16; bits += 8) {
      sw_dtype t = bits == 8 ? SW_F8E4M3FN : SW_BF16;
      double flops = 2.0 * m * 4096 * 4096, bytes = bits / 8.0 * 4096.0 * (m + 4096) + 2.0 * m * 4096;
      sw_text_printf(&products, "x,H100,%s,%d,4096,4096,%.3f\n", bits == 8 ? "fp8" : "bfloat16", m,
                     1e6 * local_s(&truth, &f.arena, t, flops, bytes));
    }
  for (double bytes = 1 << 16; bytes <= 1 << 30; bytes *= 2)
    sw_text_printf(&memory, "x,H100,copy,%.0f,%.3f\n", bytes, 1e6 * local_s(&truth, &f.arena, SW_BF16, 0, bytes));
  put(&f, "products.csv", &products);
  put(&f, "memory.csv", &memory);
  sw_text_free(&products);
  sw_text_free(&memory);
  assert_ok(calibrate(&f, "mi300x-8", &made));
  assert_near(made.profile->flop_fraction, truth.flop_fraction, 0.02);
  assert_near(made.profile->flop_fraction_8bit, truth.flop_fraction_8bit, 0.02);
  assert_near(made.profile->memory_fraction, truth.memory_fraction, 0.02);
  assert_near(made.profile->launch_s, truth.launch_s, 0.02);
  end(&f);
}

/* Kernels that a collective makes slower by a known factor; those that end before it does say nothing of it. */
static void kernels_beside_collectives_give_contention_back(void **state) {
  (void)state;
  static const double kFactors[] = {1, 1.25, 1.7};
  for (int i = 0; i < 3; i++) {
    folder f;
    sw_calibrated made;
    sw_text t = {0};
    sw_rng rng;
    begin(&f);
    sw_rng_seed(&rng, check_seed(7));
    sw_text_puts(&t, "source,hardware,kernel,collective,bytes,kernel_us,collective_us,both_us\n");
    for (int row = 0; row < 24; row++) {
      const double collective_us = 1000 + 5000 * sw_rng_unit(&rng);
      const bool ends_first = row % 6 == 5;
      const double kernels_us = collective_us * (ends_first ? 0.5 / kFactors[i] : 0.8 + 2 * sw_rng_unit(&rng));
      /* what is left of the kernels when the collective ends */
      const double left_us = fmax(0, kernels_us - collective_us / kFactors[i]);
      const double noise = 1 + 0.004 * (2 * sw_rng_unit(&rng) - 1);
      sw_text_printf(&t, "x,H100,product,all_reduce,1e8,%.4f,%.4f,%.4f\n", kernels_us, collective_us,
                     (collective_us + left_us) * (ends_first ? 1 : noise));
    }
    put(&f, "beside.csv", &t);
    sw_text_free(&t);
    assert_ok(calibrate(&f, "dgx-h100", &made));
    assert_near(made.profile->contention, kFactors[i], 0.02);
    assert_int_equal(made.n_rows, 1);
    assert_true(made.rows[0].judged >= 6 && made.rows[0].judged_error <= 0.01);
    assert_non_null(strstr(made.left, "end before"));
    assert_non_null(strstr(made.origins.source[made.origins.n_sources - 1].text, "contention fitted to"));
    end(&f);
  }
}

/* Steps of a machine whose products and memory are slower than the start says. */
static void steps_of_training_runs_correct_what_is_achieved(void **state) {
  (void)state;
  static const char *const models[] = {"mpt-760m", "mpt-1b", "mpt-3b"};
  folder f;
  sw_calibrated made;
  begin(&f);
  sw_profile truth = *shipped(&f, "mi300x");
  truth.flop_fraction *= 0.7;
  truth.memory_fraction *= 0.6;
  sw_text runs = {0};
  sw_text_puts(&runs,
               "source,model,hardware,gpus,dtype,seq,dp_or_fsdp,tp,pp,cp,sharding,micro_batch,grad_accum,"
               "global_batch,recompute,notes,tokens_per_s_per_gpu,peak_mem_gib\n");
  for (int i = 0; i < 24; i++) {
    int micro = 4 << (i / 2 % 4), gpus = 8 << (i / 8), seq = 512 << (i / 3 % 4);
    sw_run_row r = {.line = 2,
                    .source = "own",
                    .model = models[i % 3],
                    .hardware = "ours",
                    .dtype = "bf16",
                    .sharding = "FULL_SHARD",
                    .recompute = "none",
                    .notes = "",
                    .gpus = gpus,
                    .seq = seq,
                    .dp = gpus,
                    .tp = 1,
                    .pp = 1,
                    .cp = 1,
                    .micro_batch = micro,
                    .accumulations = 1,
                    .global_batch = gpus * micro,
                    .tokens_per_s = 1};
    assert_ok(sw_run_predict(&r, &truth, SW_OVERLAP_COMPILER, 0, &diag));
    assert_null(r.left);
    double step_s = sw_run_step_s(&r.parts, &(sw_run_scales){{1, 1, 1}});
    sw_text_printf(&runs, "own,%s,ours,%d,bf16,%d,%d,1,1,1,FULL_SHARD,%d,1,%d,none,,%.3f,\n", models[i % 3], gpus, seq,
                   gpus, micro, gpus * micro, micro * seq / step_s);
  }
  put(&f, "runs.csv", &runs);
  sw_text_free(&runs);
  assert_ok(calibrate(&f, "mi300x", &made));
  assert_int_equal(made.n_rows, 1);
  assert_true(made.rows[0].fitted == 12 && made.rows[0].judged == 12);
  assert_true(made.rows[0].fitted_error <= 0.08 && made.rows[0].judged_error <= 0.08);
  assert_near(made.profile->flop_fraction, truth.flop_fraction, 0.07);
  end(&f);
}

static void a_template_is_a_profile_that_says_what_its_parts_are(void **state) {
  (void)state;
  folder f;
  sw_calibrated made;
  const sw_profile *again, *h100;
  sw_text t = {0};
  begin(&f);
  assert_ok(sw_profile_read("h100", &f.arena, &h100, &diag));
  assert_ok(sw_calibrate_template("h100", "made", &f.arena, &made, &diag));
  assert_int_equal(made.n_keys, 4 + h100->n_levels * (1 + SW_COST_CLASS_COUNT));
  assert_ok(sw_profile_write_with(made.profile, &made.origins, &t, &diag));
  assert_ok(sw_profile_parse("made.json", sw_text_str(&t), t.n, &f.arena, &again, &diag));
  for (int i = 0; i < made.n_keys; i++) {
    char id[96];
    snprintf(id, sizeof id, "\"source\": \"%s\"", made.keys[i].key);
    assert_non_null(strstr(sw_text_str(&t), id));
  }
  for (int nodes = 1; nodes <= 8; nodes *= 2) assert_true(worst_price(&f, h100, again, nodes, 8) <= 1e-9);
  sw_text_free(&t);
  end(&f);
}

/* What is wrong is said with its place. */
static void wrong_files_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *name, *text;
    int line;
    const char *message;
  } cases[] = {
      {"a.txt", "", 1, "not recognised"},
      {"a.txt", "hello, world\n", 1, "not recognised"},
      {"a.json", "{\"a\": 1}", 1, "not recognised"},
      {"a.json", "{\"format\": \"shardwright.profile\"}", 1, "a profile goes with --start"},
      {"a.json", "{\"config\": {}, \"results\": []}", 1, "nthreads"},
      {"all_reduce.txt", "# nThread 1\n# size count type time algbw busbw\n", 2, "unknown ranks"},
      {"x.txt", "# nThread 1\n#  Rank 0 Group 0 Pid 1 on a device 0 [0] X\n# size count type time\n", 3,
       "unknown collective"},
      {"all_reduce.txt", "#  Rank 0 Pid 1 on a device 0 [0] X\n# size count type time\n 12x4 3 float 1.0\n", 3,
       "size '12x4'"},
      {"all_reduce.txt", "#  Rank 0 Pid 1 on a device 0 [0] X\n# size count type time\n 1024 3 float soon\n", 3,
       "time 'soon'"},
      {"all_reduce.txt", "#  Rank 0 Pid 1 on a device 0 [0] X\n# size count type time\n 1024 3 float 1 2\n", 3,
       "5 cells; the header has 4"},
      {"a.csv", "m,n,k,dtype,time_us\n1,1,1,bf16,1\n1,1,1,bf17,1\n", 3, "'bf17'"},
      {"a.csv", "m,n,k,dtype,time_us\n1,1,1,bf16,0\n", 2, "'time_us' is 0"},
      {"a.csv", "kernel_us,collective_us,both_us\n5,5,6\n5,5,0\n", 3, "'both_us' is 0"},
      {"a.csv", "op,bytes,time_us,hardware\nadd,8,1,A\nadd,8,1,B\n", 3, "one hardware"},
      {"a.csv", "ranks,nodes,collective,bytes,time_us\n8,3,all_reduce,8,1\n", 2, "8 ranks on 3 nodes"},
      {"a.csv", "device,hbm_GB,hbm_GBps\nA,80,fast\n", 2, "'hbm_GBps' is 'fast'"},
      {"a.csv", "device,hbm_GB,hbm_GBps\nA,80,3\nB,80,3\n", 1, "--device"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    folder f;
    sw_text t = {0};
    sw_calibrated made;
    begin(&f);
    sw_text_puts(&t, cases[i].text);
    put(&f, cases[i].name, &t);
    sw_text_free(&t);
    diag = (sw_diag){0};
    assert_int_equal(calibrate(&f, "dgx-h100", &made), SW_E_INPUT);
    if (!strstr(diag.text, cases[i].message)) fail_msg("'%s' instead of '%s'", diag.text, cases[i].message);
    assert_int_equal(diag.line, cases[i].line);
    end(&f);
  }
  diag = (sw_diag){0};
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(tables_of_one_node_give_its_prices_back),
      cmocka_unit_test(a_data_sheet_is_enough_to_start_with),
      cmocka_unit_test(tables_over_nodes_give_their_prices_back),
      cmocka_unit_test(groups_lie_in_complexes_nodes_and_the_network),
      cmocka_unit_test(tables_of_three_levels_give_their_prices_back),
      cmocka_unit_test(an_all_reduce_alone_is_met),
      cmocka_unit_test(times_of_kernels_give_what_is_achieved_back),
      cmocka_unit_test(kernels_beside_collectives_give_contention_back),
      cmocka_unit_test(steps_of_training_runs_correct_what_is_achieved),
      cmocka_unit_test(a_template_is_a_profile_that_says_what_its_parts_are),
      cmocka_unit_test(wrong_files_are_refused),
  };
  cmocka_set_test_filter(getenv("SW_TEST_ONLY")); /* a pattern of names; NULL: all */
  return cmocka_run_group_tests_name("calibrate_from", tests, NULL, NULL);
}
