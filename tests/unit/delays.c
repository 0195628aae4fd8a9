/* Runs by a timeline.
 *
 *   - programs whose overlap is known: the timeline is as long as is written down here, all devices' run takes as long,
 *     and the numbers are one device's;
 *   - the same with every collective on the stream of the work takes as long as all things together;
 *   - of plans at random each op of the program is of some item, and some order has all items behind what they wait
 * for; some are run, and take as long as the timeline or longer;
 *   - each stream does things in the timeline's order; where a device does them in another, the run ends and says
 * where.
 */
#include <math.h>
#include <pthread.h>

#include "check.h"

#include "exec/delays.h"
#include "shardwright/model_json.h"
#include "shardwright/profile_json.h"
#include "shardwright/validate.h"
#include "support/meshes.h"
#include "support/random_plan.h"

enum { MOST_LAYERS = 8, SIZE = 16, MOST_TRIES = 4 };
static const double kKernel_s = 1, kStep_s = 0.3, kClose = 0.15, kRounding = 1e-6;

/* Products one after the other, each with
 *   GATHERED  a weight that is gathered before it: as early as the stream has time, so beside the one before;
 *   REDUCED   a gradient that is reduced behind it, which nothing waits for: beside the one behind;
 *   CHAINED   a sum that the next works on: beside nothing;
 *   OFFLOADED what the first makes is copied to the host, and back for the last: beside those in between.
 * With trips they are the body of a loop, whose trips are alike, as nothing runs across its border. */
typedef enum pattern { GATHERED, REDUCED, CHAINED, OFFLOADED } pattern;

typedef struct sample {
  pattern kind;
  int layers;
  double exchange_s;
  const char *mesh;
  int trips; /* 0: in no loop */
} sample;

static int64_t exchanges_of(const sample *s) {
  return s->kind == OFFLOADED ? 0 : (int64_t)s->layers * (s->trips ? s->trips : 1);
}

typedef struct program {
  sw_graph *g;
  sw_plan plan;
  sw_spmd spmd;
  sw_breakdown a;
  sw_exec_delays delays;
  sw_arena arena;
} program;

/* --- programs of known overlap -------------------------------------------------------------------------------------
 */

static void write_product(int i, const char *lhs, int of, const char *rhs, bool last, sw_text *t) {
  sw_text_printf(t,
                 "{\"op\": \"dot_general\", \"attrs\": {\"lhs_contract\": [1], \"rhs_contract\": [0]}, "
                 "\"outputs\": [\"y%d\"], \"inputs\": [\"%s%d\", \"%s%d\"]}%s",
                 i, lhs, of, rhs, i, last ? "" : ", ");
}

static void write_loop(const sample *s, sw_text *t) {
  static const char *const kCounts[] = {"zero", "one", "trips"};
  for (int i = 0; i < 3; i++)
    sw_text_printf(t, ", {\"name\": \"%s\", \"kind\": \"constant\", \"dtype\": \"i32\", \"shape\": [], \"value\": %d}",
                   kCounts[i], i < 2 ? i : s->trips);
  sw_text_puts(t, "], \"ops\": [{\"op\": \"while\", \"name\": \"loop\"}, ");
  for (int i = 0; i < 3; i++)
    sw_text_printf(t, "{\"op\": \"enter\", \"inputs\": [\"%s\"], \"outputs\": [\"in.%s\"]}, ", kCounts[i], kCounts[i]);
  for (int i = 0; i <= s->layers; i++)
    sw_text_printf(t, "{\"op\": \"enter\", \"inputs\": [\"w%d\"], \"outputs\": [\"v%d\"]}, ", i, i);
  sw_text_puts(t,
               "{\"op\": \"compare\", \"inputs\": [\"in.zero\", \"in.trips\"], \"outputs\": [\"more\"], "
               "\"attrs\": {\"direction\": \"lt\"}}, {\"op\": \"test\", \"name\": \"test\", \"inputs\": [\"more\"]}, ");
  for (int i = 1; i <= s->layers; i++) write_product(i, i > 1 ? "y" : "v", i - 1, "v", false, t);
  sw_text_printf(t,
                 "{\"op\": \"add\", \"inputs\": [\"in.zero\", \"in.one\"], \"outputs\": [\"next\"]}, "
                 "{\"op\": \"yield\", \"inputs\": [\"next\"], \"outputs\": [\"out.next\"]}, "
                 "{\"op\": \"yield\", \"inputs\": [\"y%d\"], \"outputs\": [\"out.y\"]}, "
                 "{\"op\": \"end\", \"name\": \"end\"}, "
                 "{\"op\": \"join\", \"inputs\": [\"in.zero\", \"out.next\"], \"outputs\": [\"count\"]}, "
                 "{\"op\": \"join\", \"inputs\": [\"v0\", \"out.y\"], \"outputs\": [\"result\"]}], "
                 "\"outputs\": [\"result\"]}",
                 s->layers);
}

static void write_offloaded(const sample *s, sw_text *t) {
  for (int i = 1; i < s->layers; i++) {
    write_product(i, i > 1 ? "y" : "w", i - 1, "w", false, t);
    if (i == 1) sw_text_puts(t, "{\"op\": \"offload\", \"inputs\": [\"y1\"], \"outputs\": [\"away\"]}, ");
  }
  sw_text_puts(t, "{\"op\": \"fetch\", \"inputs\": [\"away\"], \"outputs\": [\"back0\"]}, ");
  write_product(s->layers, "back", 0, "w", true, t);
}

static void write_model(const sample *s, sw_text *t) {
  sw_text_puts(t, "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"layers\", \"values\": [");
  for (int i = 0; i <= s->layers; i++)
    sw_text_printf(t, "%s{\"name\": \"w%d\", \"kind\": \"%s\", \"dtype\": \"f32\", \"shape\": [%d, %d]}", i ? ", " : "",
                   i, i ? "parameter" : "input", SIZE, SIZE);
  if (s->trips) {
    write_loop(s, t);
    return;
  }
  sw_text_puts(t, "], \"ops\": [");
  if (s->kind == OFFLOADED) write_offloaded(s, t);
  for (int i = 1; i <= s->layers && s->kind != OFFLOADED; i++)
    write_product(i, i > 1 && s->kind != REDUCED ? "y" : "w", s->kind == REDUCED ? 0 : i - 1, "w", i == s->layers, t);
  sw_text_puts(t, "], \"outputs\": [");
  for (int i = s->kind == REDUCED ? 1 : s->kind == OFFLOADED ? s->layers - 1 : s->layers; i <= s->layers; i++)
    sw_text_printf(t, "\"y%d\"%s", i, i < s->layers ? ", " : "");
  sw_text_puts(t, "]}");
}

/* A product of a device's share takes kKernel_s, a collective, and a copy of its result to the host or back, what the
 * sample says, and nothing else takes any time. */
static void write_profile(const sample *s, int64_t devices, sw_text *t) {
  const double flops = 2.0 * SIZE * SIZE * SIZE / (double)devices;
  sw_text_printf(t,
                 "{\"format\": \"shardwright.profile\", \"version\": 1, \"name\": \"known\", \"description\": \"of "
                 "known times\", \"sources\": {\"none\": \"made up\"}, \"device\": {\"name\": \"d\", \"memory\": "
                 "{\"bytes\": 1e15, \"reserved_bytes\": 0, \"bytes_per_s\": 1e30, \"source\": \"none\"}, "
                 "\"flop_per_s\": {\"f32\": %.17g, \"source\": \"none\"}, \"achieved\": {\"flop_fraction\": 1.0, "
                 "\"memory_fraction\": 1.0, \"launch_s\": 0.0, \"contention\": 1.0, \"source\": \"none\"}, "
                 "\"host_link\": {\"bytes_per_s\": %.17g, \"memory_bytes\": 1e15, \"source\": \"none\"}}, "
                 "\"exchange\": {\"peer_s\": 0.0, \"source\": \"none\"}, \"levels\": [{\"name\": \"all\", "
                 "\"topology\": \"switch\", \"size\": \"any\", \"source\": \"none\", \"costs\": {",
                 flops / kKernel_s, 4.0 * SIZE * SIZE / (double)devices / s->exchange_s);
  static const char *const kKinds[] = {"all_gather", "reduce_scatter", "all_reduce", "all_to_all", "permute"};
  for (int i = 0; i < 5; i++)
    sw_text_printf(t, "%s\"%s\": {\"base_s\": %.17g, \"bytes_per_s\": 1e30, \"source\": \"none\"}", i ? ", " : "",
                   kKinds[i], s->exchange_s);
  sw_text_puts(t, "}}], \"meshes\": [\"x=2\"]}");
}

static sw_sharding cut(const sw_mesh *m, int dim) {
  sw_sharding s = sw_sharding_replicated(2);
  for (int a = 0; a < m->n_axes; a++) assert_true(sw_sharding_push(&s, dim, sw_axis_whole(m, a)));
  return s;
}

/* Loops of a product are its rows, columns, and what is added up. */
static void cut_loop(const sw_mesh *m, int loop, sw_strategy *s) {
  for (int a = 0; a < m->n_axes; a++) assert_true(sw_strategy_push(s, loop, sw_axis_whole(m, a)));
}

static void choose_plan(const sample *s, program *p) {
  enum { ROWS, COLUMNS, ADDED };
  const sw_mesh *m = sw_machine_mesh(p->plan.job.machine);
  for (sw_id i = 0; i < p->g->n_ops; i++) {
    const sw_op *op = &p->g->ops[i];
    const sw_id leader = sw_op_tied_to(p->g, i);
    if (op->code == SW_OP_DOT) cut_loop(m, s->kind == GATHERED || s->kind == OFFLOADED ? ROWS : ADDED, &p->plan.ops[i]);
    if (op->code == SW_OP_OFFLOAD || op->code == SW_OP_FETCH) cut_loop(m, ROWS, &p->plan.ops[i]);
    if (op->code == SW_OP_ENTER && sw_result_type(p->g, op, 0)->rank == 2)
      cut_loop(m, s->kind != GATHERED && op->operands[0] == p->g->args[0] ? COLUMNS : ROWS, &p->plan.ops[i]);
    if (leader >= 0) p->plan.ops[i] = p->plan.ops[leader];
  }
  for (int i = 0; i <= s->layers; i++) {
    if (s->kind == OFFLOADED && i > 0) continue;
    p->plan.args[i] = cut(m, s->kind != GATHERED && s->kind != OFFLOADED && i == 0 ? 1 : 0);
  }
  sw_plan_deliver(&p->plan, NULL);
  assert_ok(sw_plan_verify(&p->plan, &diag));
}

static void delay(program *p, double step_s) {
  assert_ok(sw_delays_of_plan(&p->plan, &p->spmd, step_s, &p->arena, &p->delays, &diag));
}

static void open_program(const sample *s, program *p) {
  sw_text model = {0}, hw = {0};
  const sw_profile *profile;
  sw_machine *machine;
  sw_mesh *mesh;
  sw_job job;
  *p = (program){0};
  mesh = sw_arena_alloc(&p->arena, 1, sizeof *mesh, &diag);
  assert_non_null(mesh);
  assert_ok(sw_mesh_parse(s->mesh, &p->arena, mesh, &diag));
  write_model(s, &model);
  write_profile(s, sw_mesh_devices(mesh), &hw);
  assert_ok(sw_model_parse("m", sw_text_str(&model), model.n, &p->g, &diag));
  assert_ok(sw_profile_parse("p", sw_text_str(&hw), hw.n, &p->arena, &profile, &diag));
  assert_ok(sw_machine_build(&p->arena, profile, mesh, &machine, &diag));
  assert_ok(sw_job_make("none", p->g->written, machine, &p->arena, &job, &diag));
  job.overlap = SW_OVERLAP_COMPILER;
  assert_ok(sw_plan_build(&job, &p->arena, &p->plan, &diag));
  choose_plan(s, p);
  assert_ok(sw_plan_breakdown(&p->plan, &p->arena, &p->a, &diag));
  assert_ok(sw_partition(&p->plan, &p->spmd, &diag));
  delay(p, kStep_s);
  sw_text_free(&model);
  sw_text_free(&hw);
}

static void close_program(program *p) {
  sw_spmd_deinit(&p->spmd);
  sw_graph_destroy(p->g);
  sw_arena_deinit(&p->arena);
}

/* One by one. */
static double known_sum_s(const sample *s) {
  const double n = s->layers, times = s->trips ? s->trips : 1;
  return times * kKernel_s * n + s->exchange_s * (s->kind == OFFLOADED ? 2 : times * n);
}

/* Of n products and n exchanges all but the first or last exchange, or the shorter of the two, runs beside the rest. Of
 * both copies so much does as the products in between take. */
static double known_s(const sample *s) {
  if (s->kind == OFFLOADED) return s->layers * kKernel_s + fmax(0, 2 * s->exchange_s - (s->layers - 2) * kKernel_s);
  const double n = s->layers, longer = fmax(kKernel_s, s->exchange_s), times = s->trips ? s->trips : 1;
  return times * (s->kind == CHAINED ? n * (kKernel_s + s->exchange_s) : kKernel_s + s->exchange_s + (n - 1) * longer);
}

/* By what a known time is off: rounding, and what a loop's test and count take. */
static double unknown_s(const sample *s, const program *p) {
  const double op_s = kKernel_s * (double)sw_mesh_devices(p->spmd.mesh) / (2.0 * SIZE * SIZE * SIZE);
  return kRounding + 2 * s->trips * op_s;
}

/* --- a busy machine ------------------------------------------------------------------------------------------------
 */

/* A thread that does nothing but sleep: by how much it is woken too late while others run. */
typedef struct sleeper {
  pthread_t thread;
  sw_cancel stop;
  double late_s;
} sleeper;

static void *sleeper_main(void *user) {
  const double kNap_s = 0.002;
  sleeper *z = user;
  while (!sw_cancelled(&z->stop)) {
    const double until_s = sw_now_s() + kNap_s;
    (void)nanosleep(&(struct timespec){.tv_nsec = (long)(1e9 * kNap_s)}, NULL);
    const double late_s = sw_now_s() - until_s;
    if (late_s > kNap_s) z->late_s += late_s;
  }
  return NULL;
}

static void start_sleeper(sleeper *z) {
  *z = (sleeper){0};
  assert_int_equal(pthread_create(&z->thread, NULL, sleeper_main, z), 0);
}

static double stop_sleeper(sleeper *z) {
  sw_cancel_set(&z->stop);
  (void)pthread_join(z->thread, NULL);
  return z->late_s;
}

/* How far a time is from what it should be; what the machine did not run for may be in it. */
static double off_from(double took_s, double late_s, double want_s) {
  const double more_s = took_s - want_s;
  return (more_s > 0 ? fmax(0, more_s - late_s) : -more_s) / want_s;
}

/* --- how long they run ---------------------------------------------------------------------------------------------
 */

/* Into outputs that the caller frees; compared with one device. */
static double run_step(const program *p, int64_t exchanges, double step_s, sw_tensor *outputs) {
  sw_arena arena = {0};
  sw_validation v;
  const sw_validate_options o = {.seed = 1, .delayed_step_s = step_s, .outputs = outputs};
  assert_ok(sw_validate(&p->plan, &o, &arena, &v, &diag));
  assert_true(v.matches);
  assert_true(v.delayed_step_s == step_s);
  int64_t calls = 0;
  for (int i = 0; i < SW_COLL_COUNT; i++) calls += v.comm.calls[i];
  assert_int_equal(calls, exchanges * sw_mesh_devices(p->spmd.mesh));
  sw_arena_deinit(&arena);
  return v.parallel_s;
}

/* By how much the run is off; numbers are those of a run without delays. Others may disturb a run: the best of some,
 * each twice as long. */
static double off_by(const program *p, int64_t exchanges) {
  sw_tensor plain[MOST_LAYERS], delayed[MOST_LAYERS];
  double least = INFINITY, step_s = kStep_s;
  (void)run_step(p, exchanges, 0, plain);
  for (int i = 0; i < MOST_TRIES && !(least <= kClose); i++, step_s *= 2) {
    sleeper z;
    start_sleeper(&z);
    const double took_s = run_step(p, exchanges, step_s, delayed);
    least = fmin(least, off_from(took_s, stop_sleeper(&z), step_s));
    for (int k = 0; k < p->g->n_outputs; k++) {
      assert_memory_equal(plain[k].data, delayed[k].data, SIZE * SIZE * sizeof(float));
      sw_tensor_deinit(&delayed[k]);
    }
  }
  for (int k = 0; k < p->g->n_outputs; k++) sw_tensor_deinit(&plain[k]);
  return least;
}

static void of_known_overlap(void **state) {
  (void)state;
  static const char *const kMeshes[] = {"x=2", "x=4", "x=2,y=2", "x=2"}, *const kPatterns[] = {"gathered", "reduced",
                                                                                               "chained", "offloaded"};
  static const sample kKinds[] = {{GATHERED, 0, 1, NULL},   {GATHERED, 0, 2, NULL}, {REDUCED, 0, 1, NULL},
                                  {REDUCED, 0, 2, NULL},    {CHAINED, 0, 1, NULL},  {GATHERED, 0, 1, NULL, 3},
                                  {CHAINED, 0, 1, NULL, 2}, {OFFLOADED, 0, 1, NULL}};
  double most = 0;
  const uint64_t seed = check_seed(1);
  for (int i = 0; i < 4 * (int)(sizeof kKinds / sizeof *kKinds); i++) {
    sample s = kKinds[i / 4];
    program p;
    if (!check_turn(seed, i)) continue;
    s.layers = (s.kind == OFFLOADED ? 2 : 3) + i % 4;
    s.mesh = kMeshes[i % 4];
    open_program(&s, &p);
    const double unknown = unknown_s(&s, &p);
    if (fabs(p.a.sum_s - known_sum_s(&s)) > unknown)
      fail_msg("%s, %d layers, %d trips: %g s one by one", kPatterns[s.kind], s.layers, s.trips, p.a.sum_s);
    if (fabs(p.a.total_s - known_s(&s)) > unknown)
      fail_msg("%s, %d layers, %g s each: %g s by the timeline, known %g s", kPatterns[s.kind], s.layers, s.exchange_s,
               p.a.total_s, known_s(&s));
    const double off = off_by(&p, exchanges_of(&s));
    if (off > kClose) fail_msg("%s, %d layers on %s: off by %.0f %%", kPatterns[s.kind], s.layers, s.mesh, 100 * off);
    most = fmax(most, off);
    close_program(&p);
  }
  print_message("off by %.1f %% at most\n", 100 * most);
}

/* --- in which order ------------------------------------------------------------------------------------------------
 */

/* One device of a run, with delays of its own. */
typedef struct device {
  const program *p;
  sw_exec_program *run;
  sw_exec_options o;
  int64_t id;
  sw_rc rc;
  sw_diag diag;
  pthread_t thread;
} device;

static void *device_main(void *user) {
  device *v = user;
  const sw_graph *g = v->p->spmd.program;
  const sw_buffer *args[MOST_LAYERS + 1];
  sw_tensor blocks[MOST_LAYERS + 1], outputs[MOST_LAYERS];
  for (int i = 0; i < g->n_args; i++) {
    const sw_type *t = &g->values[g->args[i]].type;
    v->rc = sw_tensor_init(&blocks[i], t->dtype, t->rank, t->dims, &v->diag);
    if (v->rc) return NULL;
    args[i] = &blocks[i];
  }
  v->rc = sw_exec_run_device(v->run, v->id, args, &v->o, outputs, &v->diag);
  const sw_rc left = sw_comm_leave(v->run->comm, v->id, v->rc, v->diag.text, &v->diag);
  if (!v->rc) v->rc = left;
  for (int i = 0; i < g->n_args; i++) sw_tensor_deinit(&blocks[i]);
  for (int i = 0; i < g->n_outputs && !v->rc; i++) sw_tensor_deinit(&outputs[i]);
  return NULL;
}

enum { DEVICES = 2 };

/* Seconds of the run of two devices. */
static double run_devices(const program *p, const sw_exec_delays *const *delays, device *all) {
  sw_exec_program run = {.graph = p->spmd.program, .mesh = p->spmd.mesh};
  assert_ok(sw_comm_create_threads(run.mesh, &(sw_comm_options){0}, &run.comm, &diag));
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++)
    if (delays[0]->has[s]) assert_ok(sw_comm_create_threads(run.mesh, &(sw_comm_options){0}, &run.beside[s], &diag));
  const double since_s = sw_now_s();
  for (int i = 0; i < DEVICES; i++) {
    all[i] = (device){.p = p, .run = &run, .o = {.delays = delays[i]}, .id = i};
    assert_int_equal(pthread_create(&all[i].thread, NULL, device_main, &all[i]), 0);
  }
  for (int i = 0; i < DEVICES; i++) (void)pthread_join(all[i].thread, NULL);
  const double took_s = sw_now_s() - since_s;
  sw_comm_destroy(run.comm);
  for (int s = 0; s < SW_MAX_STREAMS; s++) sw_comm_destroy(run.beside[s]);
  return took_s;
}

/* The same items, all on the stream of the work: an exchange behind each kernel, or before it. Into *list and at. */
static sw_exec_delays one_by_one(const program *p, const sample *s, sw_delayed_list *list, int32_t *at) {
  sw_exec_delays d = p->delays;
  const sw_delayed_list was = *list = d.lists[0];
  int32_t n = 0;
  at[n++] = was.at[SW_STREAM_WORK][0];
  for (int i = 0; i < s->layers; i++) {
    if (s->kind == GATHERED) at[n++] = was.at[SW_STREAM_LEVEL][i];
    at[n++] = was.at[SW_STREAM_WORK][i + 1];
    if (s->kind != GATHERED) at[n++] = was.at[SW_STREAM_LEVEL][i];
  }
  assert_int_equal(n, d.n_items);
  list->n_at[SW_STREAM_LEVEL] = 0;
  list->n_at[SW_STREAM_WORK] = n;
  list->at[SW_STREAM_WORK] = at;
  d.lists = list;
  d.has[SW_STREAM_LEVEL] = false;
  return d;
}

static void without_overlap(void **state) {
  (void)state;
  static const sample s = {GATHERED, 5, 1, "x=2"};
  device all[DEVICES];
  int32_t at[2 * MOST_LAYERS + 1];
  program p;
  open_program(&s, &p);
  double off = INFINITY, step_s = kStep_s;
  for (int i = 0; i < MOST_TRIES && !(off <= kClose); i++, step_s *= 2) {
    delay(&p, step_s);
    sw_delayed_list list;
    const sw_exec_delays d = one_by_one(&p, &s, &list, at), *const both[] = {&d, &d};
    sleeper z;
    start_sleeper(&z);
    const double took_s = run_devices(&p, both, all);
    off = fmin(off, off_from(took_s, stop_sleeper(&z), step_s * p.a.sum_s / p.a.total_s));
    for (int k = 0; k < DEVICES; k++) assert_int_equal(all[k].rc, SW_OK);
  }
  if (off > kClose) fail_msg("one by one: off by %.0f %%", 100 * off);
  assert_true(p.a.sum_s > p.a.total_s * (1 + 3 * kClose));
  close_program(&p);
}

static void another_order(void **state) {
  (void)state;
  static const sample s = {REDUCED, 4, 1, "x=2"};
  device all[DEVICES];
  int32_t at[MOST_LAYERS];
  program p;
  open_program(&s, &p);
  sw_exec_delays other = p.delays;
  sw_delayed_list list = other.lists[0];
  assert_int_equal(list.n_at[SW_STREAM_LEVEL], s.layers);
  memcpy(at, list.at[SW_STREAM_LEVEL], (size_t)s.layers * sizeof *at);
  for (int i = 1; i < s.layers; i++) { /* as the timeline has them */
    assert_true(p.a.timeline->at[at[i]].start_s >= p.a.timeline->at[at[i - 1]].end_s);
  }
  const int32_t first = at[1];
  at[1] = at[2];
  at[2] = first;
  list.at[SW_STREAM_LEVEL] = at;
  other.lists = &list;
  const sw_exec_delays *const delays[] = {&p.delays, &other};
  (void)run_devices(&p, delays, all);
  for (int i = 0; i < DEVICES; i++) {
    assert_int_equal(all[i].rc, SW_E_RESOURCE);
    if (!strstr(all[i].diag.text, "position")) fail_msg("'%s' names no position", all[i].diag.text);
  }
  print_message("%s\n", all[0].diag.text);
  close_program(&p);
}

/* --- plans at random -----------------------------------------------------------------------------------------------
 */

/* Of loops and choices what stands at their borders is in no item. */
static int32_t at_borders(const sw_graph *g) {
  int32_t n = 0;
  for (sw_id f = 0; f < g->n_frames; f++) {
    if (g->frames[f].kind != SW_OP_WHILE) continue;
    for (sw_id id = g->frames[f].begin + 1; g->ops[id].code == SW_OP_ENTER; id++) n++;
    n++;
  }
  return n;
}

static void judge_random(const sw_plan *plan, bool runs, sw_arena *arena, int *exchanges) {
  const double kShort_s = 0.1;
  diag = (sw_diag){0};
  sw_spmd spmd;
  sw_exec_delays delays;
  int32_t n_ops = 0;
  assert_ok(sw_partition(plan, &spmd, &diag));
  const sw_rc rc = sw_delays_of_plan(plan, &spmd, kShort_s, arena, &delays, &diag);
  if (rc) fail_msg("%s: %s", plan->job.graph->name, diag.text);
  for (int32_t i = 0; i < delays.n_items; i++) n_ops += delays.items[i].n_ops;
  assert_int_equal(n_ops + at_borders(spmd.program), spmd.program->n_ops);
  for (int32_t l = 0; l < delays.n_lists; l++)
    for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) *exchanges += delays.lists[l].n_at[s];
  sw_spmd_deinit(&spmd);
  if (!runs) return;
  sw_validation v;
  assert_ok(sw_validate(plan, &(sw_validate_options){.seed = 1, .delayed_step_s = kShort_s}, arena, &v, &diag));
  assert_true(v.matches);
  if (!plan->job.graph->n_frames) assert_true(v.parallel_s > kShort_s * (1 - kClose)); /* not all branches run */
}

static void of_random_plans(void **state) {
  (void)state;
  const int n = check_scale(RANDOM_MODELS * 3), each = 8;
  int made = 0, exchanges = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(2));
  for (int i = 0; i < n; i++) {
    sw_arena arena = {0};
    sw_plan plan;
    sw_job job;
    sw_graph *g = small_model(random_models[i % RANDOM_MODELS]);
    sw_machine *m = machine_of(i % 2 ? "dgx-h100" : "h100x64", random_meshes[sw_rng_below(&r, RANDOM_MESHES)], &arena);
    assert_ok(sw_job_make(i % 3 ? "inductor" : "none", g->written, m, &arena, &job, &diag));
    job.overlap = SW_OVERLAP_COMPILER;
    if (!random_plan(&job, &r, &arena, &plan, &diag)) {
      judge_random(&plan, i % each == 0 || g->n_frames, &arena, &exchanges);
      made++;
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("%d plans with %d exchanges\n", made, exchanges);
  assert_true(made > n / 4 && exchanges > 10 * made);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(of_known_overlap), cmocka_unit_test(without_overlap),
                                     cmocka_unit_test(another_order), cmocka_unit_test(of_random_plans)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
