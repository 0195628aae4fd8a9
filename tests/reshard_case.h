/* One reshard, carried out by the oracle of collectives and compared with slices of the whole tensor. */
#ifndef TESTS_RESHARD_CASE_H_
#define TESTS_RESHARD_CASE_H_

#include "random_sharding.h"

#include "shardwright/profile.h"
#include "shardwright/reshard.h"
#include "shardwright/scalar.h"

typedef struct reshard_case {
  sw_mesh mesh;
  int rank;
  int64_t dims[SW_MAX_RANK];
  sw_sharding from, to;
  sw_dtype dtype;
  sw_reshard_options options;
} reshard_case;

/* Devices on one switch: a start-up time and a rate, the same for all. */
static inline void flat_profile(sw_profile *p, int64_t devices, double latency_s, double s_per_byte) {
  *p = (sw_profile){.name = "flat",
                    .description = "test",
                    .device_name = "d",
                    .memory_bytes = INT64_C(1) << 40,
                    .memory_bytes_per_s = 1e13,
                    .flop_fraction = 1,
                    .memory_fraction = 1,
                    .launch_s = latency_s / 100,
                    .exchange_peer_s = latency_s / 10,
                    .n_levels = 1};
  for (int t = 0; t < SW_DTYPE_COUNT; t++) p->flop_per_s[t] = 1e12;
  sw_level *l = &p->level[0];
  *l = (sw_level){.name = "switch", .kind = SW_TOPOLOGY_SWITCH, .n_dims = 1, .dims = {devices}};
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    l->line[c].base_s = latency_s;
    l->line[c].s_per_byte = s_per_byte;
  }
}

static inline sw_reshard case_wanted(const reshard_case *c, const sw_machine *machine) {
  return (sw_reshard){machine, &c->from, &c->to, c->rank, c->dims, c->dtype, c->options};
}

static inline sw_rc case_route(const reshard_case *c, const sw_machine *machine, sw_arena *arena, sw_route *out,
                               sw_diag *d) {
  const sw_reshard wanted = case_wanted(c, machine);
  return sw_route_find(&wanted, arena, out, d);
}

static inline void case_print(const reshard_case *c, sw_text *out) {
  sw_text_puts(out, "--mesh ");
  sw_mesh_print(&c->mesh, out);
  sw_text_puts(out, " --shape ");
  for (int d = 0; d < c->rank; d++) sw_text_printf(out, "%s%lld", d ? "x" : "", (long long)c->dims[d]);
  sw_text_printf(out, " --dtype %s --from '", sw_dtype_text(c->dtype));
  sw_sharding_print(&c->mesh, &c->from, out);
  sw_text_puts(out, "' --to '");
  sw_sharding_print(&c->mesh, &c->to, out);
  sw_text_puts(out, "'");
}

static inline void route_print(const sw_mesh *m, const sw_route *r, sw_text *out) {
  for (int i = 0; i < r->n_steps; i++) {
    sw_text_printf(out, "\n  %s axes=[", sw_coll_text(r->step[i].coll.op));
    for (int k = 0; k < r->step[i].coll.n_axes; k++) {
      if (k) sw_text_puts(out, ",");
      sw_axis_ref_print(m, r->step[i].coll.axes[k], out);
    }
    sw_text_puts(out, "] -> ");
    sw_sharding_print(m, &r->step[i].after, out);
  }
}

/* The whole tensor's element number e: distinct, of both signs. */
static inline double whole_value(int64_t e) { return (double)((e % 2 ? -1 : 1) * (e + 1)); }

static inline void buffer_make(sw_arena *arena, const reshard_case *c, const sw_sharding *s, int64_t device,
                               sw_buffer *b) {
  *b = (sw_buffer){.dtype = c->dtype, .rank = c->rank};
  (void)sw_sharding_local_dims(s, c->dims, b->dims);
  int64_t n = elements_of(c->rank, b->dims);
  b->data = sw_arena_alloc(arena, (size_t)n + 1, (size_t)sw_dtype_bytes(c->dtype), NULL);
  sw_tiling t;
  sw_tiling_of(s, c->rank, c->dims, &t);
  for (int d = 0; d < c->rank; d++) {
    int64_t start, lo;
    sw_tiling_window(&c->mesh, &t, d, device, &start, &lo, &b->valid[d]);
  }
  sw_buffer_poison(b);
}

/* Calls visit for each buffer position that stands for an element: its number in the whole tensor and its address. */
typedef void (*each_fn)(void *user, int64_t element, void *at, bool halo);
static inline void each_element(const reshard_case *c, const sw_sharding *s, int64_t device, sw_buffer *b, each_fn fn,
                                void *user) {
  sw_tiling t;
  sw_tiling_of(s, c->rank, c->dims, &t);
  int64_t n = elements_of(c->rank, b->dims), at[SW_MAX_RANK];
  for (int64_t p = 0; p < n; p++) {
    int64_t e = 0;
    bool exists = true;
    index_of(c->rank, b->dims, p, at);
    for (int d = 0; d < c->rank; d++) {
      int64_t start, lo, hi;
      sw_tiling_window(&c->mesh, &t, d, device, &start, &lo, &hi);
      exists = exists && at[d] >= lo && at[d] < hi;
      at[d] += start;
      e = e * c->dims[d] + at[d];
    }
    if (!exists) continue;
    fn(user, e, (char *)b->data + p * sw_dtype_bytes(c->dtype), !brute_holds(&c->mesh, s, c->dims, device, at));
  }
}

/* The part of an element that a device holds, out of `parts`; device's place among them is `part`. Their reduction is
 * the element. */
static inline double part_value(sw_reduction kind, int64_t parts, int64_t part, int64_t e) {
  double v = whole_value(e);
  int64_t lead = e % parts; /* which device holds the element's larger part varies */
  switch ((int)kind) {
    case SW_REDUCE_MAX:
      return part == lead ? v : v - 1 - (double)((part + e) % 5);
    case SW_REDUCE_MIN:
      return part == lead ? v : v + 1 + (double)((part + e) % 5);
    case SW_REDUCE_PRODUCT:
      return part == lead ? v : 1;
    case SW_REDUCE_AVERAGE:
      return part == lead ? v * (double)parts : 0;
    default:
      return part == lead ? v - (double)((parts - 1) * (e % 7)) : (double)(e % 7);
  }
}

typedef struct fill_user {
  const reshard_case *c;
  int64_t parts, part;
  int64_t wrong, seen; /* comparing */
  double *sum;         /* per element, when the result is partial */
  uint8_t *times;
} fill_user;

static inline void fill_one(void *user, int64_t e, void *at, bool halo) {
  fill_user *f = user;
  if (halo) return; /* stays poison: halos of a source may be stale, nobody may read them */
  sw_element_store(f->c->dtype, part_value((sw_reduction)f->c->from.partial_kind, f->parts, f->part, e), at);
}

static inline void compare_one(void *user, int64_t e, void *at, bool halo) {
  fill_user *f = user;
  (void)halo;
  f->seen++;
  if (sw_element_load(f->c->dtype, at) != whole_value(e)) f->wrong++;
}

static inline double reduce_two(sw_reduction kind, double a, double b) {
  switch ((int)kind) {
    case SW_REDUCE_MAX:
      return a > b ? a : b;
    case SW_REDUCE_MIN:
      return a < b ? a : b;
    case SW_REDUCE_PRODUCT:
      return a * b;
    default:
      return a + b;
  }
}

static inline void reduce_one(void *user, int64_t e, void *at, bool halo) {
  fill_user *f = user;
  (void)halo;
  double v = sw_element_load(f->c->dtype, at);
  f->sum[e] = f->times[e]++ ? reduce_two((sw_reduction)f->c->to.partial_kind, f->sum[e], v) : v;
}

/* Wrong elements on all devices at the end. A partial result is reduced over each of its groups first. */
static inline int64_t count_wrong(const reshard_case *c, sw_arena *arena, sw_buffer *b) {
  const sw_axis_ref *partial = sw_sharding_partial(&c->to);
  int64_t parts = sw_axis_refs_size(partial, c->to.n_partial), n = elements_of(c->rank, c->dims), wrong = 0;
  for (int64_t device = 0; device < sw_mesh_devices(&c->mesh); device++) {
    fill_user f = {.c = c, .parts = parts};
    if (parts == 1) {
      each_element(c, &c->to, device, &b[device], compare_one, &f);
      wrong += f.wrong;
      continue;
    }
    if (sw_mesh_group_index(&c->mesh, device, partial, c->to.n_partial) != 0) continue;
    f.sum = sw_arena_alloc(arena, (size_t)n + 1, sizeof(double), NULL);
    f.times = sw_arena_alloc(arena, (size_t)n + 1, 1, NULL);
    for (int64_t p = 0; p < parts; p++) {
      int64_t member = sw_mesh_group_peer(&c->mesh, device, partial, c->to.n_partial, p);
      each_element(c, &c->to, member, &b[member], reduce_one, &f);
    }
    for (int64_t e = 0; e < n; e++) {
      double v = c->to.partial_kind == SW_REDUCE_AVERAGE ? f.sum[e] / (double)parts : f.sum[e];
      wrong += f.times[e] && (f.times[e] != parts || v != whole_value(e));
    }
  }
  return wrong;
}

/* Wrong elements after the route, or -1 with a message in `why` when a step itself is wrong. */
static inline int64_t case_run(const reshard_case *c, const sw_route *r, sw_arena *arena, char *why, size_t n_why) {
  int64_t devices = sw_mesh_devices(&c->mesh);
  sw_buffer *in = sw_arena_alloc(arena, (size_t)devices, sizeof *in, NULL);
  const sw_axis_ref *partial = sw_sharding_partial(&c->from);
  int64_t parts = sw_axis_refs_size(partial, c->from.n_partial);
  sw_diag d = {0};
  for (int64_t i = 0; i < devices; i++) {
    buffer_make(arena, c, &c->from, i, &in[i]);
    fill_user f = {c, parts, sw_mesh_group_index(&c->mesh, i, partial, c->from.n_partial), 0, 0, NULL, NULL};
    each_element(c, &c->from, i, &in[i], fill_one, &f);
  }
  for (int k = 0; k < r->n_steps; k++) {
    const sw_route_step *step = &r->step[k];
    sw_buffer *out = sw_arena_alloc(arena, (size_t)devices, sizeof *out, NULL);
    int64_t dims[SW_MAX_RANK];
    sw_rc rc = sw_collective_verify(&c->mesh, &step->coll, c->rank, &d);
    if (!rc) rc = sw_collective_result_dims(&c->mesh, &step->coll, c->rank, in[0].dims, dims, &d);
    for (int64_t i = 0; i < devices && !rc; i++) {
      buffer_make(arena, c, &step->after, i, &out[i]);
      for (int x = 0; x < c->rank; x++) {
        if (dims[x] < out[i].dims[x]) rc = SW_FAIL(&d, SW_E_BUG, SW_NOWHERE, "step %d gives too short a result", k);
      }
    }
    if (!rc) rc = sw_collective_oracle(&c->mesh, &step->coll, in, out, &d);
    if (rc) {
      snprintf(why, n_why, "step %d: %.200s", k, d.text);
      return -1;
    }
    in = out;
  }
  int64_t wrong = count_wrong(c, arena, in);
  snprintf(why, n_why, "%lld wrong elements", (long long)wrong);
  return wrong;
}

/* One simplification of a failing case, number `k`; false when there is no such number. What it changes may turn out
 * to be nothing. */
static inline bool case_simpler(const reshard_case *c, int k, reshard_case *out) {
  *out = *c;
  sw_sharding *ends[] = {&out->from, &out->to};
  for (int e = 0; e < 2; e++) {
    int total = ends[e]->n_refs + ends[e]->n_partial;
    if (k < total && (ends[e]->offsets || ends[e]->halos)) {
      ends[e]->offsets = ends[e]->halos = NULL;
      return true;
    }
    if (k < total) { /* drop a ref */
      memmove(&ends[e]->refs[k], &ends[e]->refs[k + 1], (size_t)(total - k - 1) * sizeof ends[e]->refs[0]);
      if (k < ends[e]->n_refs) memmove(&ends[e]->dim_of[k], &ends[e]->dim_of[k + 1], (size_t)(ends[e]->n_refs - k - 1));
      if (k < ends[e]->n_refs)
        ends[e]->n_refs--;
      else
        ends[e]->n_partial--;
      return true;
    }
    k -= total;
  }
  bool lists = out->from.offsets || out->to.offsets; /* they fix the extents */
  if (k >= 2 * c->rank || lists) return false;
  int64_t *dim = &out->dims[k / 2];
  *dim = k % 2 ? (*dim > 0 ? *dim - 1 : 0) : *dim / 2;
  return true;
}

/* Greedy: take any simplification that still fails, until none does. */
typedef bool (*case_fails)(const reshard_case *c);
static inline void case_shrink(reshard_case *c, case_fails fails) {
  reshard_case simpler;
  for (int k = 0; case_simpler(c, k, &simpler); k++) {
    bool changed = memcmp(simpler.dims, c->dims, sizeof c->dims) != 0 || !sw_sharding_equal(&simpler.from, &c->from) ||
                   !sw_sharding_equal(&simpler.to, &c->to);
    if (!changed || !fails(&simpler)) continue;
    *c = simpler;
    k = -1;
  }
}

#endif
