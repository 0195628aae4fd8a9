/* The profile as data: its words, what it derives, and its check. */
#include "shardwright/profile.h"

#include <inttypes.h>
#include <math.h>

#include "base/checked.h"
#include "hw/knots.h"
#include "hw/machine.h"

static const char *const kTopology[] = {
#define SW_X(id, text) [SW_TOPOLOGY_##id] = text,
    SW_TOPOLOGIES(SW_X)
#undef SW_X
};
static const char *const kClass[] = {
#define SW_X(id, text) [SW_COST_##id] = text,
    SW_COST_CLASSES(SW_X)
#undef SW_X
};

const char *sw_topology_text(sw_topology t) { return kTopology[t]; }
const char *sw_cost_class_text(sw_cost_class c) { return kClass[c]; }

const char *sw_profile_name(const sw_profile *p) { return p->name; }
int64_t sw_profile_combine_bytes(const sw_profile *p, int64_t of_compiler) {
  return p->says_combine ? p->combine_bytes : of_compiler;
}
const char *sw_profile_compiler(const sw_profile *p) { return p->compiler; }
uint64_t sw_profile_hash(const sw_profile *p) { return p->hash; }
int sw_profile_mesh_count(const sw_profile *p) { return p->n_meshes; }
const sw_mesh *sw_profile_mesh(const sw_profile *p, int i) { return &p->mesh[i]; }
int64_t sw_profile_memory_bytes(const sw_profile *p) { return p->memory_bytes - p->memory_reserved_bytes; }

int64_t sw_profile_devices(const sw_profile *p) {
  int64_t n = 1;
  for (int l = 0; l < p->n_levels; l++)
    for (int i = 0; i < p->level[l].n_dims; i++) n *= p->level[l].dims[i];
  return n;
}

/* --- an open level ------------------------------------------------------------------------------------------------ */

const sw_profile *sw_profile_unsized(const sw_profile *p) { return p->unsized ? p->unsized : p; }

bool sw_profile_is_open(const sw_profile *p) { return p->level[p->n_levels - 1].open; }

sw_rc sw_profile_to_hold(const sw_profile *p, int64_t devices, sw_arena *arena, const sw_profile **out, sw_diag *d) {
  const int64_t unit = sw_profile_devices(p);
  *out = p;
  if (!sw_profile_is_open(p)) return SW_OK;
  sw_profile *sized = sw_arena_copy(arena, p, 1, sizeof *p, d);
  if (!sized) return SW_E_RESOURCE;
  sized->level[p->n_levels - 1].dims[0] = devices / unit + (devices % unit > 0);
  sized->level[p->n_levels - 1].open = false;
  sized->unsized = p;
  *out = sized;
  return SW_OK;
}

/* Units by what is in one; one axis where there is but one unit, or one device in each. */
static sw_rc offer_mesh(sw_profile *p, int64_t units, int64_t unit, sw_arena *arena, sw_diag *d) {
  const bool flat = units == 1 || unit == 1;
  const char *text = flat ? sw_arena_printf(arena, d, "x=%" PRId64, units * unit)
                          : sw_arena_printf(arena, d, "x=%" PRId64 ",y=%" PRId64, units, unit);
  p->n_meshes = 1;
  return text ? sw_mesh_parse(text, arena, &p->mesh[0], d) : SW_E_RESOURCE;
}

sw_rc sw_profile_with_devices(const sw_profile *p, int64_t devices, sw_arena *arena, const sw_profile **out,
                              sw_diag *d) {
  const int64_t unit = sw_profile_devices(p);
  if (!sw_profile_is_open(p) && devices != unit)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "profile '%s' has %" PRId64 " devices and no open level; expected %" PRId64,
                         p->name, unit, unit);
  *out = p;
  if (!sw_profile_is_open(p)) return SW_OK;
  if (devices < 1 || devices > SW_MAX_DEVICES || (devices > unit && devices % unit))
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "profile '%s' has units of %" PRId64 " devices; expected at most that, or a multiple up to %d",
                         p->name, unit, SW_MAX_DEVICES);
  SW_TRY(sw_profile_to_hold(p, devices, arena, out, d));
  return offer_mesh((sw_profile *)*out, devices > unit ? devices / unit : 1, devices > unit ? unit : devices, arena, d);
}

/* --- dtypes ------------------------------------------------------------------------------------------------------- */

/* Where a dtype takes its rate from when the profile is silent: `times` that of `like`; f32 is always stated. */
static const struct {
  sw_dtype like;
  double times;
} kRates[SW_DTYPE_COUNT] = {
#define SW_X(id, text, bits, class, mlir, alias, like, times) [SW_##id] = {SW_##like, times},
    SW_DTYPES(SW_X)
#undef SW_X
};

const char *sw_precision_rate_text(sw_precision p) {
  static const char *const kKeys[] = {"f32", "f32_high", "f32_default"};
  return kKeys[p];
}

void sw_profile_complete_flops(sw_profile *p, const bool stated[SW_DTYPE_COUNT]) {
  for (sw_dtype t = 0; t < SW_DTYPE_COUNT; t++) {
    sw_dtype from = t;
    double times = 1;
    for (; !stated[from] && kRates[from].like != from; from = kRates[from].like) times *= kRates[from].times;
    if (from != t) p->flop_per_s[t] = times * p->flop_per_s[from];
  }
}

/* --- checks ------------------------------------------------------------------------------------------------------- */

static bool fine(double x) { return isfinite(x) && x >= 0; }

static bool line_is_fine(const sw_cost_line *l) {
  return fine(l->base_s) && fine(l->peer_s) && fine(l->ramp_s_per_sqrt_byte) && fine(l->s_per_byte) &&
         fine(l->pair_s_per_byte) && fine(l->in_network_s_per_byte) && l->in_network_min >= 0;
}

static bool ascend(const double *at, int n) {
  bool ok = isfinite(at[0]) && at[0] >= 0;
  for (int i = 1; i < n; i++) ok = ok && isfinite(at[i]) && at[i] > at[i - 1];
  return ok;
}

static bool knots_are_fine(const sw_cost_knots *k) {
  if (k->n_members < 1 || k->n_members > SW_MAX_KNOT_MEMBERS || k->n_sizes < 1 || k->n_sizes > SW_MAX_KNOT_SIZES)
    return false;
  bool ok = ascend(k->ln_members, k->n_members) && k->ln_members[k->n_members - 1] <= log(SW_MAX_DEVICES) + 1e-9 &&
            ascend(k->ln_bytes, k->n_sizes);
  for (int i = 0; i < k->n_members; i++)
    for (int j = 0; j < k->n_sizes; j++) ok = ok && fabs(k->ln_factor[i][j]) <= SW_MAX_LN_FACTOR;
  return ok;
}

static bool knots_hold(const sw_level *l, sw_cost_class c) {
  return sw_knots_rise(&l->line[c], c, l->open ? SW_MAX_DEVICES : l->dims[0]);
}

void sw_profile_drop_knots(sw_profile *p, const char *file, void (*report)(void *user, const sw_diag *d), void *user) {
  for (int i = 0; i < p->n_levels; i++)
    for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
      sw_level *l = &p->level[i];
      sw_cost_line *line = &l->line[c];
      sw_diag said = {0};
      if (!line->knots || !knots_are_fine(line->knots) || !line_is_fine(line) || knots_hold(l, (sw_cost_class)c))
        continue;
      line->knots = NULL;
      sw_diag_fail(&said, SW_OK, (sw_span){file, 1, 1}, __FILE__, __LINE__,
                   "level '%s': %s is priced without its knots, under which more bytes would cost less now", l->name,
                   kClass[c]);
      if (report) report(user, &said);
    }
}

static sw_rc verify_knots(const sw_level *l, sw_cost_class c, sw_diag *d) {
  const sw_cost_knots *k = l->line[c].knots;
  if (!k) return SW_OK;
  if (l->kind == SW_TOPOLOGY_TORUS)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s': %s has knots; expected none on a torus", l->name, kClass[c]);
  if (!knots_are_fine(k))
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "level '%s': knots of %s; expected members and bytes that ascend, and logarithms of factors "
                         "from %d to %d",
                         l->name, kClass[c], -SW_MAX_LN_FACTOR, SW_MAX_LN_FACTOR);
  if (knots_hold(l, c)) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s': under its knots a larger %s costs less; expected prices that rise",
                       l->name, kClass[c]);
}

static sw_rc verify_level(const sw_level *l, int64_t *devices, sw_diag *d) {
  if (l->n_dims < 1 || l->n_dims > SW_MAX_TORUS_DIMS || (l->kind != SW_TOPOLOGY_TORUS && l->n_dims != 1))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s' has %d dimensions", l->name, l->n_dims);
  for (int i = 0; i < l->n_dims; i++)
    if (l->dims[i] < 1 || !sw_mul_i64(*devices, l->dims[i], devices) || *devices > SW_MAX_DEVICES)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s' has a size of %" PRId64 "; expected 1 to %d devices in all",
                           l->name, l->dims[i], SW_MAX_DEVICES);
  if (!fine(l->serial_fraction) || l->serial_fraction > 1)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s' has a serial fraction of %g; expected 0 to 1", l->name,
                         l->serial_fraction);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++)
    if (!line_is_fine(&l->line[c]))
      return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s': a constant of %s is negative or not finite", l->name, kClass[c]);
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) SW_TRY(verify_knots(l, (sw_cost_class)c, d));
  return SW_OK;
}

static sw_rc verify_kernel(const sw_profile *p, const sw_kernel_price *price, sw_priced_kernel k, sw_diag *d) {
  const uint32_t fractions = SW_KERNEL_BIT(FLOP_FRACTION) | SW_KERNEL_BIT(MEMORY_FRACTION);
  if (!price->known) return SW_OK;
  if (!(p->multiprocessors >= 1 && p->multiprocessors <= 1e6))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "kernel '%s' has constants, and the device %g multiprocessors",
                         sw_priced_kernel_text(k), p->multiprocessors);
  for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++) {
    const double v = price->v[c];
    if (!(sw_priced_kernel_constants(k) >> c & 1)) continue;
    if (!fine(v) || (fractions >> c & 1 && (v <= 0 || v > 1)))
      return SW_FAIL_INPUT(d, SW_NOWHERE, "kernel '%s' has a %s of %g", sw_priced_kernel_text(k),
                           sw_kernel_constant_text((sw_kernel_constant)c), v);
  }
  return SW_OK;
}

static sw_rc verify_memory(int64_t bytes, int64_t reserved_bytes, sw_diag *d) {
  if (reserved_bytes >= 0 && reserved_bytes < bytes) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "memory of %" PRId64 " bytes with %" PRId64 " reserved leaves nothing", bytes,
                       reserved_bytes);
}

static sw_rc verify_device(const sw_profile *p, sw_diag *d) {
  SW_TRY(verify_memory(p->memory_bytes, p->memory_reserved_bytes, d));
  for (int i = 0; i < p->n_run_hardware; i++)
    SW_TRY(verify_memory(p->run_hardware[i].memory_bytes, p->memory_reserved_bytes, d));
  bool ok = p->memory_bytes_per_s > 0 && p->flop_fraction > 0 && p->flop_fraction <= 1 && p->flop_fraction_8bit > 0 &&
            p->flop_fraction_8bit <= 1 && p->memory_fraction > 0 && p->memory_fraction <= 1 && fine(p->launch_s) &&
            (p->contention >= 1 || p->contention == 0) && fine(p->exchange_peer_s) && p->shared_cores >= 0 &&
            p->host_bytes_per_s >= 0 && p->host_memory_bytes >= 0;
  for (int t = 0; t < SW_DTYPE_COUNT; t++) ok = ok && p->flop_per_s[t] > 0;
  for (int k = 0; k < SW_PRECISION_COUNT; k++) ok = ok && fine(p->f32_per_s[k]);
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    SW_TRY(verify_kernel(p, &p->kernel[k], (sw_priced_kernel)k, d));
    for (int i = 0; i < p->n_libraries; i++)
      SW_TRY(verify_kernel(p, &p->library_kernels[i].kernel[k], (sw_priced_kernel)k, d));
  }
  return ok ? SW_OK
            : SW_FAIL_INPUT(d, SW_NOWHERE, "device '%s': rates must be positive and fractions in (0, 1]",
                            p->device_name);
}

static sw_rc verify_mesh(const sw_profile *p, int i, sw_diag *d) {
  sw_arena scratch = {0};
  sw_machine *m;
  sw_rc rc = sw_machine_build(&scratch, p, &p->mesh[i], &m, d);
  sw_arena_deinit(&scratch);
  if (rc) sw_diag_note(d, "while laying mesh %d of profile '%s' on its network", i + 1, p->name);
  return rc;
}

sw_rc sw_profile_verify(const sw_profile *p, sw_diag *d) {
  SW_TRY(verify_device(p, d));
  if (p->n_levels < 1 || p->n_levels > SW_MAX_LEVELS)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "profile '%s' has %d levels; expected 1 to %d", p->name, p->n_levels,
                         SW_MAX_LEVELS);
  int64_t devices = 1;
  for (int l = 0; l < p->n_levels; l++) {
    const sw_level *level = &p->level[l];
    SW_TRY(verify_level(level, &devices, d));
    if (level->open && (l + 1 < p->n_levels || level->kind == SW_TOPOLOGY_TORUS || level->dims[0] != 1))
      return SW_FAIL_INPUT(d, SW_NOWHERE, "level '%s' is open; expected only the outermost one to be, and no torus",
                           level->name);
  }
  if (p->node_level < 0 || p->node_level >= p->n_levels)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a node of profile '%s' is level %d; expected 0 to %d", p->name, p->node_level,
                         p->n_levels - 1);
  if (p->n_meshes < 1) return SW_FAIL_INPUT(d, SW_NOWHERE, "profile '%s' offers no mesh", p->name);
  for (int i = 0; i < p->n_meshes; i++) SW_TRY(verify_mesh(p, i, d));
  return SW_OK;
}
