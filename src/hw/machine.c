/* A machine: a profile with a mesh laid on it, and the questions that planning asks of it. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "hw/machine.h"

/* Of local ops: a copy, or one that takes no less than what moves pieces needs to begin. */
enum { SW_COST_COPY = SW_COST_CLASS_COUNT, SW_COST_PIECE };

static const int kCost[SW_COLL_COUNT] = {
#define SW_X(id, text, cost, flags) [SW_COLL_##id] = SW_COST_##cost,
    SW_COLLECTIVES(SW_X)
#undef SW_X
};

sw_cost_class sw_coll_cost_class(sw_coll_op op) { return (sw_cost_class)kCost[op]; }

static sw_rc check_size(const sw_profile *p, const sw_mesh *mesh, sw_diag *d) {
  SW_TRY(sw_mesh_verify(mesh, true, d));
  int64_t want = sw_mesh_devices(mesh), have = sw_profile_devices(p);
  if (want > have && !sw_profile_is_open(p))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the mesh has %" PRId64 " devices; profile '%s' has %" PRId64, want, p->name,
                         have);
  return SW_OK;
}

static sw_rc price_subsets(sw_machine *m, sw_arena *arena, sw_diag *d) {
  unsigned n_subsets = 1u << m->mesh.n_axes;
  sw_group *group;
  SW_ARENA_NEW(group, arena, n_subsets, d);
  for (unsigned mask = 0; mask < n_subsets; mask++) {
    sw_axis_ref refs[SW_MAX_AXES];
    int n = 0;
    for (int a = 0; a < m->mesh.n_axes; a++)
      if (mask >> a & 1) refs[n++] = sw_axis_whole(&m->mesh, a);
    sw_machine_group(m, refs, n, &group[mask]);
  }
  m->subset = group;
  return SW_OK;
}

static void end_caches(void *of) {
  _Atomic(sw_machine_cache *) *first = of;
  for (sw_machine_cache *n = atomic_load(first); n;) {
    sw_machine_cache *next = n->next;
    n->destroy(n);
    n = next;
  }
}

static sw_rc make_caches(sw_machine *m, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW(m->caches, arena, 1, d);
  return sw_arena_at_end(arena, end_caches, m->caches, d);
}

sw_machine_cache *sw_machine_caches(const sw_machine *m) { return atomic_load(m->caches); }

void sw_machine_cache_add(const sw_machine *m, sw_machine_cache *cache) {
  cache->next = atomic_load(m->caches);
  while (!atomic_compare_exchange_weak(m->caches, &cache->next, cache)) continue;
}

/* Of a machine that is laid out. */
static sw_rc make_prices(sw_machine *m, sw_arena *arena, sw_diag *d) {
  SW_TRY(price_subsets(m, arena, d));
  return make_caches(m, arena, d);
}

/* Groups and their prices, which what was said of the machine last changes. */
static sw_rc price_anew(sw_machine *m, sw_arena *arena, sw_diag *d) {
  m->subset = NULL;
  if (m->order) SW_TRY(sw_order_make(m, arena, &m->order, d)); /* it keeps prices, too */
  return make_prices(m, arena, d);
}

sw_rc sw_machine_lower(sw_machine *m, sw_lowering how, sw_arena *arena, sw_diag *d) {
  if (memcmp(&how, &m->lowering, sizeof how) == 0) return SW_OK;
  m->lowering = how;
  return price_anew(m, arena, d);
}

sw_lowering sw_machine_lowering(const sw_machine *m) { return m->lowering; }

static const sw_library *kernels_of_library(const sw_profile *p, const char *name) {
  for (int i = 0; name && i < p->n_libraries; i++)
    if (strcmp(p->library_kernels[i].name, name) == 0) return &p->library_kernels[i];
  return NULL;
}

static void take_library(sw_profile *p, const char *name) {
  const sw_library *l = kernels_of_library(p, name);
  for (int k = 0; l && k < SW_PRICED_COUNT; k++) {
    const bool own = p->kernel[k].library && strcmp(p->kernel[k].library, name) == 0;
    if (l->kernel[k].known && !own) p->kernel[k] = l->kernel[k];
  }
}

sw_rc sw_machine_run(sw_machine *m, const sw_software *how, sw_arena *arena, sw_diag *d) {
  sw_profile *run = sw_arena_copy(arena, m->profile, 1, sizeof *m->profile, d);
  if (!run) return SW_E_RESOURCE;
  take_library(run, how->library);
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    run->kernel[k].v[SW_KERNEL_FLOP_FRACTION] /= how->in_step;
    run->kernel[k].v[SW_KERNEL_MEMORY_FRACTION] /= how->in_step;
    run->kernel[k].v[SW_KERNEL_HEAD] *= how->in_step;
  }
  run->flop_fraction /= how->in_step;
  run->flop_fraction_8bit /= how->in_step;
  run->memory_fraction /= how->in_step;
  m->run = run;
  m->host_s = how->host_s;
  m->unpacks = how->unpacks;
  return price_anew(m, arena, d);
}

int sw_machine_moved_bytes(const sw_machine *m, sw_dtype t) {
  const int bytes = sw_dtype_bytes(t), wide = sw_dtype_bytes(SW_F32);
  const bool widens = m->lowering.wide_floats && sw_dtype_class_of(t) == SW_CLASS_FLOAT;
  return widens && bytes < wide ? wide : bytes;
}

sw_rc sw_machine_combine(sw_machine *m, int64_t bytes, sw_arena *arena, sw_diag *d) {
  sw_machine *c;
  m->combining = NULL;
  if (bytes <= 0) return SW_OK;
  SW_ARENA_NEW(c, arena, 1, d);
  *c = *m;
  c->combine_bytes = bytes;
  SW_TRY(price_anew(c, arena, d));
  m->combining = c;
  return SW_OK;
}

const sw_machine *sw_machine_combining(const sw_machine *m) { return m->combining ? m->combining : m; }
bool sw_machine_combines(const sw_machine *m) { return m->combine_bytes > 0; }

sw_rc sw_machine_weigh(const sw_machine *m, const sw_price_weights *weights, sw_arena *arena, sw_machine **out,
                       sw_diag *d) {
  SW_ARENA_NEW(*out, arena, 1, d);
  **out = *m;
  (*out)->weights = *weights;
  SW_TRY(price_anew(*out, arena, d));
  return m->combining ? sw_machine_combine(*out, m->combining->combine_bytes, arena, d) : SW_OK;
}

const sw_price_weights *sw_machine_weights(const sw_machine *m) { return &m->weights; }

int sw_machine_level(const sw_machine *m, const sw_axis_ref *axes, int n_axes) {
  sw_group g;
  sw_machine_group(m, axes, n_axes, &g);
  return g.shape.n_parts ? g.shape.part[g.shape.n_parts - 1].level : -1;
}

const char *sw_machine_level_name(const sw_machine *m, int level) { return m->profile->level[level].name; }

sw_rc sw_machine_build(sw_arena *arena, const sw_profile *p, const sw_mesh *mesh, sw_machine **out, sw_diag *d) {
  SW_TRY(check_size(p, mesh, d));
  SW_TRY(sw_profile_to_hold(p, sw_mesh_devices(mesh), arena, &p, d));
  sw_machine *m;
  SW_ARENA_NEW(m, arena, 1, d);
  m->profile = m->run = p;
  m->mesh = *mesh;
  m->weights.launch = 1;
  for (int l = 0; l < SW_MAX_LINKS; l++) m->weights.link[l] = 1;
  double devices = (double)sw_mesh_devices(mesh), cores = (double)p->shared_cores;
  m->share = cores > 0 && devices > cores ? devices / cores : 1;
  SW_TRY(sw_machine_place(m, arena, d));
  SW_TRY(make_prices(m, arena, d));
  *out = m;
  return SW_OK;
}

const sw_mesh *sw_machine_mesh(const sw_machine *m) { return &m->mesh; }
const sw_profile *sw_machine_profile(const sw_machine *m) { return m->profile; }

static bool whole_axes(const sw_machine *m, const sw_axis_ref *axes, int n, unsigned *mask) {
  *mask = 0;
  for (int i = 0; i < n; i++) {
    if (axes[i].size != m->mesh.axis[axes[i].axis].size) return false;
    *mask |= 1u << axes[i].axis;
  }
  return true;
}

static sw_curve copy_curve(const sw_machine *m, double bytes) {
  const sw_profile *p = m->run;
  return (sw_curve){.n_parts = 1,
                    .latency_s = p->launch_s * m->share,
                    .slope = {2 * bytes / (p->memory_fraction * p->memory_bytes_per_s) * m->share}};
}

/* Where little moves, a reduction may take less than an all_gather or all_to_all of its parts' pieces. So what makes
 * such parts takes no less than these need to begin: else values would be padded and reduced in place of being
 * moved. */
static sw_curve local_curve(const sw_machine *m, const sw_group *g, sw_coll_op op, double bytes) {
  sw_curve c = copy_curve(m, bytes);
  if (kCost[op] == SW_COST_COPY) return c;
  c.latency_s = fmax(c.latency_s, sw_group_price_s(g, SW_COST_ALL_GATHER, 0));
  c.latency_s = fmax(c.latency_s, sw_group_price_s(g, SW_COST_ALL_TO_ALL, 0));
  return c;
}

/* What a class takes for the bytes of an op. */
static double bytes_of(const sw_group *g, sw_coll_op op, double bytes) {
  const double size = (double)g->shape.size;
  if (op == SW_COLL_BARRIER) return 0;
  return (sw_coll_flags(op) & SW_COLL_WHOLE) && size > 1 ? bytes * size / (size - 1) : bytes;
}

double sw_group_collective_s(const sw_machine *m, const sw_group *g, sw_coll_op op, double bytes) {
  if (!(sw_coll_flags(op) & SW_COLL_LOCAL)) return sw_group_price_s(g, sw_coll_cost_class(op), bytes_of(g, op, bytes));
  const sw_curve c = local_curve(m, g, op, 1);
  return sw_curve_s(&c, bytes, 0);
}

double sw_machine_collective_s(const sw_machine *m, sw_coll_op op, const sw_axis_ref *axes, int n_axes, double bytes) {
  if (kCost[op] == SW_COST_COPY) n_axes = 0; /* no group is to be made */
  unsigned mask;
  sw_group built;
  if (whole_axes(m, axes, n_axes, &mask)) return sw_group_collective_s(m, &m->subset[mask], op, bytes);
  sw_machine_group(m, axes, n_axes, &built);
  return sw_group_collective_s(m, &built, op, bytes);
}

/* Where a profile does not say: kernels took 18.9 % longer on average over models on A100, H100, MI210 and MI250
 * (arXiv 2507.03114). */
static const double kContention = 1.189;

double sw_machine_contention(const sw_machine *m) {
  return m->profile->contention >= 1 ? m->profile->contention : kContention;
}

double sw_machine_host_times(const sw_machine *m) {
  return m->run->launch_s > 0 ? fmax(1, m->host_s / m->run->launch_s) : 1;
}

double sw_machine_launch_s(const sw_machine *m) { return m->run->launch_s * m->share; }

double sw_machine_unpack_s(const sw_machine *m, sw_dtype t, double bytes) {
  return m->unpacks ? sw_machine_local_s(m, t, 0, 2 * bytes) - sw_machine_launch_s(m) : 0;
}

double sw_machine_local_s(const sw_machine *m, sw_dtype t, double flops, double bytes) {
  const sw_profile *p = m->run;
  double fraction = sw_dtype_bytes(t) == 1 ? p->flop_fraction_8bit : p->flop_fraction;
  double compute = flops / (fraction * p->flop_per_s[t]);
  double memory = bytes / (p->memory_fraction * p->memory_bytes_per_s);
  return (p->launch_s + fmax(compute, memory)) * m->share;
}
