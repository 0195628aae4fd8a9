/* device.memory, device.flop_per_s, device.achieved, device.shared, exchange, then of every level its shape and its
 * five classes.
 */
#include "bench/calibrate_keys.h"

static const struct {
  const char *key, *meaning, *how;
} kDevice[] = {
    {"device.memory",
     "bytes of one device; reserved_bytes that a plan may not use (driver, libraries, buffers); bytes_per_s at peak",
     "the data sheet; reserved_bytes: what nvidia-smi shows in use when the job has set up its communicators"},
    {"device.flop_per_s", "peak rate of each dtype, a multiply-add being two, without sparsity", "the data sheet"},
    {"device.achieved",
     "flop_fraction and memory_fraction: parts of the peaks that large ops reach; launch_s: least time of an op",
     "scripts/measure-device, then calibrate --from gemm.csv memory.csv; steps of one's own training correct it"},
    {"device.shared", "cores that all devices share, where devices are threads", "calibrate without --from"},
    {"exchange", "peer_s: what a device pays per peer in an exchange of many small messages, beyond an all_to_all",
     "alltoall_perf -b 1K -e 64K on 2 to all devices: the time per rank; half a microsecond is usual"},
};
enum { N_DEVICE = sizeof kDevice / sizeof *kDevice };

static const char kShape[] =
    "topology and size: how many units it joins and how; serial_fraction: 0 when its work runs "
    "beside that of the levels inside, 1 when after it";
static const char kShapeHow[] =
    "nvidia-smi topo -m, the vendor's description; serial_fraction: all_reduce_perf over "
    "several nodes";
static const char kLine[] =
    "base_s: column `time` of the smallest message between two, peer_s: what each further member adds to it, both in "
    "seconds; bytes_per_s: column `busbw` of the largest message (GB/s times 1e9), pair_bytes_per_s: the same of "
    "groups "
    "of two; ramp_s_per_sqrt_byte: what sizes in between take beyond these; in_network: `busbw` where the switch "
    "reduces";

static const char *const kPrograms[SW_COST_CLASS_COUNT] = {
    [SW_COST_ALL_GATHER] = "all_gather_perf", [SW_COST_REDUCE_SCATTER] = "reduce_scatter_perf",
    [SW_COST_ALL_REDUCE] = "all_reduce_perf", [SW_COST_ALL_TO_ALL] = "alltoall_perf",
    [SW_COST_PERMUTE] = "sendrecv_perf",
};
enum { PER_LEVEL = 1 + SW_COST_CLASS_COUNT };

const char **sw_calibrate_key_source(const sw_profile *p, sw_profile_origins *o, int i) {
  const char **device[] = {&o->memory, &o->flops, &o->achieved, &o->shared, &o->exchange};
  if (!p->shared_cores && i >= 3) i++;
  if (i < N_DEVICE) return device[i];
  int level = (i - N_DEVICE) / PER_LEVEL, part = (i - N_DEVICE) % PER_LEVEL;
  return part == 0 ? &o->level[level] : &o->line[level][part - 1];
}

bool sw_calibrate_key_is_measured(const sw_profile *p, int i) {
  sw_profile_origins o;
  const char **at = sw_calibrate_key_source(p, &o, i);
  for (int l = 0; l < p->n_levels; l++)
    if (at == &o.level[l]) return false;
  return at != &o.memory && at != &o.flops && at != &o.shared;
}

static sw_rc class_key(const sw_profile *p, int level, int c, sw_arena *arena, sw_calibrated_key *k, sw_diag *d) {
  const char *name = p->level[level].name, *class = sw_cost_class_text((sw_cost_class)c);
  k->meaning = kLine;
  k->key = sw_arena_printf(arena, d, "levels.%s.costs.%s", name, class);
  k->how =
      level == 0
          ? sw_arena_printf(arena, d, "nccl-tests: %s -b 1K -e 1G -f 2 -g N, N being 2, 4, .. all devices of a node",
                            kPrograms[c])
          : sw_arena_printf(arena, d, "nccl-tests: mpirun -np N %s -b 1K -e 1G -f 2 -g 1 over 2, 4, .. units of '%s'",
                            kPrograms[c], name);
  return k->key && k->how ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_calibrate_keys(const sw_profile *p, sw_arena *arena, const sw_calibrated_key **out, int *n, sw_diag *d) {
  sw_calibrated_key *all, *at;
  SW_ARENA_NEW(all, arena, N_DEVICE + PER_LEVEL * p->n_levels, d);
  at = all;
  for (int i = 0; i < N_DEVICE; i++)
    if (i != 3 || p->shared_cores)
      *at++ = (sw_calibrated_key){.key = kDevice[i].key, .meaning = kDevice[i].meaning, .how = kDevice[i].how};
  for (int l = 0; l < p->n_levels; l++) {
    at->key = sw_arena_printf(arena, d, "levels.%s", p->level[l].name);
    at->meaning = kShape;
    at->how = kShapeHow;
    if (!at->key) return SW_E_RESOURCE;
    at++;
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) SW_TRY(class_key(p, l, c, arena, at++, d));
  }
  *out = all;
  *n = (int)(at - all);
  return SW_OK;
}
