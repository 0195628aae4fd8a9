/* Measure, then fit: samples of local ops and of collectives on 2, 4 and 8 devices go through the same fit as published
 * tables (cost_fit.c), starting from a profile of round numbers.
 */
#include "bench/calibrate.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench/cost_fit.h"
#include "bench/measure_ops.h"
#include "comm/comm_bench.h"

static const sw_coll_op kOps[] = {SW_COLL_ALL_GATHER, SW_COLL_REDUCE_SCATTER, SW_COLL_ALL_REDUCE, SW_COLL_ALL_TO_ALL,
                                  SW_COLL_SHIFT};
static const int64_t kDevices[] = {2, 4, 8};
enum { N_OPS = sizeof kOps / sizeof kOps[0], N_DEVICES = sizeof kDevices / sizeof kDevices[0], REPEATS = 12 };
static const char *const kMeshes[] = {"x=8", "x=2,y=4", "x=4", "x=2", "x=2,y=2", "x=2,y=2,z=2", "x=4,y=4", "x=64"};

static sw_calibrate_options with_defaults(const sw_calibrate_options *o) {
  sw_calibrate_options r = *o;
  if (r.cores <= 0) r.cores = sysconf(_SC_NPROCESSORS_ONLN);
  if (r.max_devices <= 0) r.max_devices = 64;
  if (r.memory_bytes <= 0) r.memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE) / 8;
  if (r.largest_bytes <= 0) r.largest_bytes = 4 << 20;
  if (r.min_s <= 0) r.min_s = 0.02;
  return r;
}

/* Names that a file may not have said yet, and constants of the right order. */
static sw_rc start_profile(const sw_calibrate_options *o, sw_arena *arena, sw_profile *p, sw_diag *d) {
  p->name = o->name;
  p->description = "Threads of one machine that share its cores.";
  p->device_name = "core";
  p->memory_bytes = o->memory_bytes;
  p->flop_fraction = p->flop_fraction_8bit = p->memory_fraction = 0.5;
  p->launch_s = 2e-6;
  p->exchange_peer_s = 1e-6;
  p->shared_cores = o->cores;
  p->n_levels = 1;
  p->level[0] = (sw_level){.name = "threads", .kind = SW_TOPOLOGY_SWITCH, .n_dims = 1, .dims = {o->max_devices}};
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) /* distinct, so that no two classes are taken for one */
    p->level[0].line[c] = (sw_cost_line){.base_s = 5e-6 + 1e-8 * c, .peer_s = 1e-6, .s_per_byte = 2e-10};
  for (size_t i = 0; i < sizeof kMeshes / sizeof kMeshes[0]; i++) {
    sw_mesh mesh;
    SW_TRY(sw_mesh_parse(kMeshes[i], arena, &mesh, d));
    if (sw_mesh_devices(&mesh) <= o->max_devices) p->mesh[p->n_meshes++] = mesh;
  }
  return SW_OK;
}

/* Products decide the rate of f32; f64 takes half of it, and the 16-bit floats, which are converted on the way, too. */
static void set_rates(sw_profile *p, double flop_per_s, double bytes_per_s) {
  bool stated[SW_DTYPE_COUNT] = {[SW_F32] = true, [SW_F16] = true, [SW_BF16] = true};
  p->flop_per_s[SW_F32] = flop_per_s;
  p->flop_per_s[SW_F16] = p->flop_per_s[SW_BF16] = flop_per_s / 2;
  sw_profile_complete_flops(p, stated);
  p->memory_bytes_per_s = bytes_per_s;
}

static sw_rc time_collective(const sw_calibrate_options *o, sw_coll_op op, int64_t devices, int64_t bytes, double *out,
                             sw_diag *d) {
  *out = HUGE_VAL;
  for (int i = 0; i < REPEATS; i++) {
    sw_comm_bench_row row;
    sw_comm_bench b = {.op = op,
                       .devices = devices,
                       .bytes = bytes,
                       .dtype = SW_F32,
                       .threads = (int)o->cores,
                       .min_s = o->min_s / REPEATS};
    if (sw_cancelled(o->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted while measuring");
    SW_TRY(sw_comm_bench_run(&b, &row, d));
    *out = fmin(*out, row.time_s);
  }
  return SW_OK;
}

static sw_rc measure_collectives(const sw_calibrate_options *o, sample_set *set, sample_list *list, sw_diag *d) {
  for (int k = 0; k < N_OPS; k++)
    for (int i = 0; i < N_DEVICES; i++)
      for (int64_t bytes = 4096; bytes <= o->largest_bytes; bytes *= 8) {
        if (kDevices[i] > o->max_devices) continue;
        /* The fit knows the shift as a permute. */
        sample s = {.op = kOps[k] == SW_COLL_SHIFT ? SW_COLL_PERMUTE : kOps[k],
                    .bytes = (double)bytes,
                    .train = true,
                    .weight = 1,
                    .source = sw_sample_source(set, "threads"),
                    .layout = sw_sample_layout(set, (rank_layout){kDevices[i], 1})};
        SW_TRY(time_collective(o, kOps[k], kDevices[i], bytes, &s.measured_s, d));
        SW_TRY(sw_array_push(list, s, d));
      }
  return SW_OK;
}

/* Measured constants are good to a few digits. */
static double round_measured(double v) { return sw_round_to(v, 3); }

static void round_constants(sw_profile *p) {
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    sw_cost_line *l = &p->level[0].line[c];
    l->base_s = round_measured(l->base_s);
    l->peer_s = round_measured(l->peer_s);
    l->s_per_byte = 1 / round_measured(1 / l->s_per_byte);
  }
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p->flop_per_s[t] = round_measured(p->flop_per_s[t]);
  p->memory_bytes_per_s = round_measured(p->memory_bytes_per_s);
  p->flop_fraction = p->flop_fraction_8bit = round_measured(p->flop_fraction);
  p->memory_fraction = round_measured(p->memory_fraction);
  p->launch_s = round_measured(p->launch_s);
}

static void judge_calibration(const sample_set *set, const double *predicted, sw_calibration *out) {
  double ops = 0, collectives = 0;
  for (int64_t i = 0; i < set->n; i++) {
    double e = 100 * fabs(log(predicted[i] / set->at[i].measured_s));
    bool local = set->at[i].layout < 0;
    *(local ? &ops : &collectives) += e;
    *(local ? &out->n_ops : &out->n_collectives) += 1;
  }
  out->ops_per_cent = ops / out->n_ops;
  out->collectives_per_cent = out->n_collectives ? collectives / out->n_collectives : 0;
}

static sw_rc measure_and_fit(const sw_calibrate_options *o, sw_profile *p, sample_list *list, sw_calibration *out,
                             sw_diag *d) {
  sample_set set = {0};
  double flop_per_s, bytes_per_s, *predicted;
  SW_TRY(sw_measure_ops(o->min_s, o->cancel, &set, list, &flop_per_s, &bytes_per_s, d));
  SW_TRY(measure_collectives(o, &set, list, d));
  set_rates(p, flop_per_s, bytes_per_s);
  set.at = list->at;
  set.n = (int64_t)list->n;
  SW_MEM_NEW(predicted, set.n, d);
  sw_rc rc = sw_fit(p, &set, predicted, d);
  if (!rc) round_constants(p);
  if (!rc) rc = sw_samples_predict(p, &set, predicted, d);
  if (!rc) judge_calibration(&set, predicted, out);
  sw_mem_free(predicted);
  return rc;
}

sw_rc sw_calibrate(const sw_calibrate_options *given, sw_arena *arena, sw_calibration *out, sw_diag *d) {
  sw_calibrate_options o = with_defaults(given);
  sw_profile *p;
  SW_ARENA_NEW(p, arena, 1, d);
  *out = (sw_calibration){.profile = p};
  SW_TRY(start_profile(&o, arena, p, d));
  sample_list list = {0};
  sw_rc rc = measure_and_fit(&o, p, &list, out, d);
  sw_array_free(&list);
  return rc ? rc : sw_profile_verify(p, d);
}
