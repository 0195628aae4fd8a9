/* Cells begin with their number; what follows, "600 (1200 bidir)", is for people. */
#include "bench/data_sheet.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"

/* What is assumed of links and libraries until something is measured: shares of a link's rate that large collectives
 * reach, and latencies. */
static const double kLinkShare = 0.8, kSwitchBase = 6e-6, kSwitchPeer = 6e-7, kRamp = 5e-9, kPairRate = 2e12;
static const double kAcrossBase = 2e-5, kAcrossPeer = 3e-6;
static const double kReservedShare = 0.05; /* of memory, at most */

bool sw_data_sheet_is(const sw_csv *t) {
  return sw_csv_find(t, "device") >= 0 && sw_csv_find(t, "hbm_GB") >= 0 && sw_csv_find(t, "hbm_GBps") >= 0;
}

sw_rc sw_data_sheet_row(const sw_csv *t, const char *device, int64_t *row, sw_diag *d) {
  char wanted[80], name[80];
  int col = sw_csv_find(t, "device"), begin = 0;
  *row = -1;
  sw_csv_plain_name(device ? device : "", wanted, sizeof wanted);
  for (int64_t i = 0; i < t->n_rows; i++) {
    sw_csv_plain_name(sw_csv_at(t, i, col), name, sizeof name);
    if (strncmp(name, wanted, strlen(wanted)) != 0) continue;
    begin++;
    *row = i;
    if (!strcmp(name, wanted)) return SW_OK;
  }
  if (begin == 1) return SW_OK;
  sw_span where = {t->file, 1, 1};
  if (!device)
    return SW_FAIL_INPUT(d, where, "%" PRId64 " devices; expected one, or --device with the name of one", t->n_rows);
  return SW_FAIL_INPUT(d, where, "%d devices are '%.60s' or begin so; expected one of the column 'device'", begin,
                       device);
}

static const char *cell_named(const sw_csv *t, int64_t row, const char *name) {
  int col = sw_csv_find(t, name);
  return col < 0 ? "" : sw_csv_at(t, row, col);
}

/* The number at the start of a cell times a scale; a blank one is 0. */
static sw_rc figure(const sw_csv *t, int64_t row, const char *name, double scale, double *out, sw_diag *d) {
  const char *text = cell_named(t, row, name);
  char *end;
  *out = 0;
  if (!*text) return SW_OK;
  double v = strtod(text, &end);
  if (end == text || !(v > 0 && v < 1e9))
    return SW_FAIL_INPUT(d, ((sw_span){t->file, t->line[row], 1}), "'%s' is '%.40s'; expected a number", name, text);
  *out = v * scale;
  return SW_OK;
}

static sw_rc needed(const sw_csv *t, int64_t row, const char *name, double scale, double *out, sw_diag *d) {
  SW_TRY(figure(t, row, name, scale, out, d));
  if (*out > 0) return SW_OK;
  return SW_FAIL_INPUT(d, ((sw_span){t->file, t->line[row], 1}), "no '%s' of %.60s; expected a number", name,
                       cell_named(t, row, "device"));
}

/* Devices whose sheet says no rate of f32 make it from several products of bf16. */
static const double kF32OfBf16 = 1 / 6.0;

sw_rc sw_data_sheet_device(const sw_csv *t, int64_t row, sw_arena *arena, sw_profile *p, sw_diag *d) {
  static const struct {
    const char *name;
    sw_dtype dtype;
  } rates[] = {{"fp32_TFLOPS", SW_F32},
               {"bf16_TFLOPS", SW_BF16},
               {"fp16_TFLOPS", SW_F16},
               {"fp8_TFLOPS", SW_F8E4M3FN},
               {"int8_TOPS", SW_I8}};
  bool stated[SW_DTYPE_COUNT] = {false};
  double bytes;
  SW_TRY(needed(t, row, "hbm_GB", 1e9, &bytes, d));
  SW_TRY(needed(t, row, "hbm_GBps", 1e9, &p->memory_bytes_per_s, d));
  p->memory_bytes = (int64_t)bytes;
  p->memory_reserved_bytes = sw_min_i64(SW_RESERVED_BYTES, (int64_t)(bytes * kReservedShare));
  for (size_t i = 0; i < sizeof rates / sizeof *rates; i++) {
    double v;
    SW_TRY(figure(t, row, rates[i].name, 1e12, &v, d));
    if (v <= 0) continue;
    p->flop_per_s[rates[i].dtype] = v;
    stated[rates[i].dtype] = true;
  }
  double tf32;
  SW_TRY(figure(t, row, "tf32_TFLOPS", 1e12, &tf32, d));
  p->f32_per_s[SW_PRECISION_HIGH] = p->f32_per_s[SW_PRECISION_DEFAULT] = tf32;
  if (!stated[SW_F32]) {
    if (!stated[SW_BF16]) SW_TRY(needed(t, row, "fp32_TFLOPS", 1e12, &bytes, d));
    p->flop_per_s[SW_F32] = p->flop_per_s[SW_BF16] * kF32OfBf16;
    stated[SW_F32] = true;
  }
  sw_profile_complete_flops(p, stated);
  return sw_arena_keep(arena, cell_named(t, row, "device"), &p->device_name, d);
}

/* Distinct, so that no two classes are taken for one. */
static void set_lines(sw_level *level, double base_s, double peer_s, double bytes_per_s) {
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    level->line[c] = (sw_cost_line){.base_s = base_s * (1 + 1e-3 * c),
                                    .peer_s = peer_s,
                                    .ramp_s_per_sqrt_byte = kRamp,
                                    .s_per_byte = 1 / bytes_per_s,
                                    .pair_s_per_byte = 1 / kPairRate};
}

/* "8", "72 GPUs" or "16x16 (256 chips)". */
static sw_rc shape(const sw_csv *t, int64_t row, sw_level *level, sw_diag *d) {
  const char *text = cell_named(t, row, "scaleup_domain");
  char *end;
  level->n_dims = 0;
  for (const char *at = text; level->n_dims < SW_MAX_TORUS_DIMS; at = end + 1) {
    long long v = strtoll(at, &end, 10);
    if (end == at || v < 1 || v > SW_MAX_DEVICES) break;
    level->dims[level->n_dims++] = v;
    if (*end != 'x') break;
  }
  bool torus = level->kind == SW_TOPOLOGY_TORUS;
  if (torus ? level->n_dims > 1 : level->n_dims == 1) return SW_OK;
  return SW_FAIL_INPUT(d, ((sw_span){t->file, t->line[row], 1}), "'scaleup_domain' is '%.60s'; expected %s", text,
                       torus ? "the dimensions of the torus, as 16x16" : "a number of devices");
}

static sw_rc topology(const sw_csv *t, int64_t row, sw_level *level, sw_diag *d) {
  const char *text = cell_named(t, row, "scaleup_topology"), *wrap = cell_named(t, row, "wraparound");
  if (strncmp(text, "switch", 6) == 0)
    level->kind = SW_TOPOLOGY_SWITCH;
  else if (strncmp(text, "full mesh", 9) == 0)
    level->kind = SW_TOPOLOGY_FULL_MESH;
  else if (strstr(text, "torus"))
    level->kind = SW_TOPOLOGY_TORUS;
  else
    return SW_FAIL_INPUT(d, ((sw_span){t->file, t->line[row], 1}),
                         "'scaleup_topology' is '%.60s'; expected switch, full mesh or torus", text);
  SW_TRY(shape(t, row, level, d));
  bool wraps = *wrap && wrap[0] != 'n'; /* no, none, n/a */
  for (int i = 0; i < level->n_dims && level->kind == SW_TOPOLOGY_TORUS; i++) level->wrap[i] = wraps;
  return SW_OK;
}

sw_rc sw_data_sheet_network(const sw_csv *t, int64_t row, sw_arena *arena, sw_profile *p, sw_diag *d) {
  double rate, across;
  sw_level *inside = &p->level[0], *outside = &p->level[1];
  p->flop_fraction = p->flop_fraction_8bit = 0.75;
  p->memory_fraction = 0.85;
  p->launch_s = 5e-6;
  p->exchange_peer_s = 5e-7;
  p->n_levels = 1;
  inside->name = "inside";
  SW_TRY(topology(t, row, inside, d));
  const char *of = inside->kind == SW_TOPOLOGY_SWITCH ? "scaleup_total_GBps_unidir" : "scaleup_link_GBps_unidir";
  SW_TRY(needed(t, row, of, 1e9 * kLinkShare, &rate, d));
  set_lines(inside, kSwitchBase, kSwitchPeer, rate);
  SW_TRY(figure(t, row, "scaleout_GBps_unidir_per_device", 1e9 * kLinkShare, &across, d));
  if (across > 0) {
    p->n_levels = 2;
    *outside = (sw_level){.name = "across", .kind = SW_TOPOLOGY_SWITCH, .open = true, .n_dims = 1, .dims = {1}};
    outside->serial_fraction = 0.1;
    set_lines(outside, kAcrossBase, kAcrossPeer, across);
  }
  int64_t devices = 1;
  for (int i = 0; i < inside->n_dims; i++) devices *= inside->dims[i];
  char *mesh = sw_arena_printf(arena, d, "x=%" PRId64, devices);
  if (!mesh) return SW_E_RESOURCE;
  p->n_meshes = 1;
  return sw_mesh_parse(mesh, arena, &p->mesh[0], d);
}
