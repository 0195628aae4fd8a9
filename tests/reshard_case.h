/* One reshard, carried out by the oracle of collectives and compared with slices of the whole tensor. */
#ifndef TESTS_RESHARD_CASE_H_
#define TESTS_RESHARD_CASE_H_

#include "random_sharding.h"

#include "shardwright/profile.h"
#include "shardwright/reshard.h"
#include "collective/scalar.h"

/* With options.to_mesh `to` speaks of that mesh. */
typedef struct reshard_case {
  sw_mesh mesh;
  int rank;
  int64_t dims[SW_MAX_RANK];
  sw_sharding from, to;
  sw_dtype dtype;
  sw_reshard_options options;
  int node; /* devices of a unit on fast links of its own; 0: all are on one switch, 1: on one that starts at once */
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

/* Such devices in units of so many, a tenth as fast between them. */
static inline void two_level_profile(sw_profile *p, int64_t devices, int node, double latency_s, double s_per_byte) {
  flat_profile(p, node, latency_s, s_per_byte);
  p->n_levels = 2;
  p->level[1] = p->level[0];
  p->level[1].dims[0] = (devices + node - 1) / node;
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    p->level[1].line[c].base_s = 10 * latency_s;
    p->level[1].line[c].s_per_byte = 10 * s_per_byte;
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

static inline const sw_mesh *case_to_mesh(const reshard_case *c) {
  return c->options.to_mesh ? &c->options.to_mesh->mesh : &c->mesh;
}

static inline void case_print(const reshard_case *c, sw_text *out) {
  sw_text_puts(out, "--mesh ");
  sw_text_puts(out, "'");
  sw_mesh_print(&c->mesh, out);
  sw_text_puts(out, "' ");
  if (c->options.to_mesh) {
    sw_text_puts(out, "--to-mesh '");
    sw_mesh_print(&c->options.to_mesh->mesh, out);
    sw_text_puts(out, "' ");
  }
  sw_text_puts(out, "--shape ");
  for (int d = 0; d < c->rank; d++) sw_text_printf(out, "%s%lld", d ? "x" : "", (long long)c->dims[d]);
  sw_text_printf(out, " --dtype %s --from '", sw_dtype_text(c->dtype));
  sw_sharding_print(&c->mesh, &c->from, out);
  sw_text_puts(out, "' --to '");
  sw_sharding_print(case_to_mesh(c), &c->to, out);
  sw_text_puts(out, "'");
  if (c->node > 1) sw_text_printf(out, " on nodes of %d", c->node);
  if (c->node == 1) sw_text_puts(out, " where bytes alone count");
}

static inline void pair_print(const sw_mesh *m, const sw_sharding *from, const sw_sharding *to, sw_text *out) {
  sw_sharding_print(m, from, out);
  sw_text_puts(out, " -> ");
  sw_sharding_print(m, to, out);
}

static inline void route_print(const sw_mesh *m, const sw_route *r, sw_text *out) {
  for (int i = 0; i < r->n_steps; i++) {
    sw_text_printf(out, "\n  %s axes=[", sw_coll_text(r->step[i].coll.op));
    for (int k = 0; k < r->step[i].coll.n_axes; k++) {
      if (k) sw_text_puts(out, ",");
      sw_axis_ref_print(m, r->step[i].coll.axes[k], out);
    }
    sw_text_puts(out, "] -> ");
    sw_sharding_print(r->step[i].mesh, &r->step[i].after, out);
  }
}

/* The whole tensor's element number e: of both signs, and distinct as far as the type can tell integers apart. */
static inline double whole_value(sw_dtype t, int64_t e) {
  static const int64_t kMost[SW_DTYPE_COUNT] = {
      [SW_BF16] = 255, [SW_F8E4M3FN] = 15, [SW_F8E5M2] = 7,   [SW_I8] = 127,   [SW_U8] = 255,  [SW_BOOL] = 1,
      [SW_I4] = 7,     [SW_U2] = 3,        [SW_F4E2M1FN] = 4, [SW_F16] = 2047, [SW_I16] = 600, [SW_U16] = 65535};
  bool negative = e % 2 && sw_dtype_class_of(t) != SW_CLASS_UNSIGNED && t != SW_BOOL;
  if (t == SW_BOOL) return (double)(e * e / 3 % 2);
  if (t == SW_F8E8M0FNU) return (double)(1 << e % 7); /* powers of two alone */
  return (double)((negative ? -1 : 1) * (kMost[t] ? e % kMost[t] + 1 : e + 1));
}

static inline bool is_logical(const sw_sharding *s) {
  return s->n_partial && (s->partial_kind == SW_REDUCE_AND || s->partial_kind == SW_REDUCE_OR);
}

/* What `and` and `or` give is 0 or 1 of any type. */
static inline double case_value(const reshard_case *c, int64_t e) {
  return is_logical(&c->from) || is_logical(&c->to) ? (double)(e * e / 3 % 2) : whole_value(c->dtype, e);
}

/* A place on one of the two meshes of a case. */
typedef struct case_place {
  const reshard_case *c;
  const sw_sharding *s;
  const sw_other_mesh *other; /* NULL: on c->mesh */
} case_place;

static inline case_place case_from(const reshard_case *c) { return (case_place){c, &c->from, NULL}; }
static inline case_place case_to(const reshard_case *c) { return (case_place){c, &c->to, c->options.to_mesh}; }
static inline case_place case_after(const reshard_case *c, const sw_hop *step) {
  bool there = c->options.to_mesh && step->mesh == &c->options.to_mesh->mesh;
  return (case_place){c, &step->after, there ? c->options.to_mesh : NULL};
}
static inline const sw_mesh *place_mesh(case_place p) { return p.other ? &p.other->mesh : &p.c->mesh; }
static inline int64_t place_position(case_place p, int64_t device) {
  return p.other ? p.other->position[device] : device;
}
static inline void place_tiling(case_place p, sw_tiling *t) {
  sw_tiling_of(p.s, p.c->rank, p.c->dims, t);
  t->other = p.other;
}

static inline void buffer_make(sw_arena *arena, case_place place, int64_t device, sw_buffer *b) {
  const reshard_case *c = place.c;
  *b = (sw_buffer){.dtype = c->dtype, .rank = c->rank};
  (void)sw_sharding_local_dims(place.s, c->dims, b->dims);
  int64_t n = elements_of(c->rank, b->dims);
  b->data = sw_arena_alloc(arena, (size_t)n + 1, (size_t)sw_dtype_bytes(c->dtype), NULL);
  sw_tiling t;
  place_tiling(place, &t);
  for (int d = 0; d < c->rank; d++) {
    int64_t start, lo;
    sw_tiling_window(&c->mesh, &t, d, device, &start, &lo, &b->valid[d]);
  }
  sw_buffer_poison(b);
}

/* Calls visit for each buffer position that stands for an element: its number in the whole tensor and its address. */
typedef void (*each_fn)(void *user, int64_t element, void *at, bool halo);
static inline void each_element(case_place place, int64_t device, sw_buffer *b, each_fn fn, void *user) {
  const reshard_case *c = place.c;
  sw_tiling t;
  place_tiling(place, &t);
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
    bool holds = brute_holds(place_mesh(place), place.s, c->dims, place_position(place, device), at);
    fn(user, e, (char *)b->data + p * sw_dtype_bytes(c->dtype), !holds);
  }
}

/* The part of an element that a device holds, out of `parts`; device's place among them is `part`. Their reduction is
 * the element. */
static inline double part_value(const reshard_case *c, int64_t parts, int64_t part, int64_t e) {
  double v = case_value(c, e);
  const int64_t bits = (int64_t)v;
  if (parts == 1) return v;
  int64_t lead = e % parts; /* which device holds the element's larger part varies */
  switch ((int)c->from.partial_kind) {
    case SW_REDUCE_MAX:
      return part == lead ? v : v - 1 - (double)((part + e) % 5);
    case SW_REDUCE_MIN:
      return part == lead ? v : v + 1 + (double)((part + e) % 5);
    case SW_REDUCE_PRODUCT:
    case SW_REDUCE_AND:
      return part == lead ? v : 1;
    case SW_REDUCE_OR:
      return part == lead ? v : 0;
    case SW_REDUCE_BIT_AND:
      return part == lead ? v : (double)(bits | (part + e) % 8);
    case SW_REDUCE_BIT_OR:
      return part == lead ? v : (double)(bits & (part + e) % 512);
    case SW_REDUCE_BIT_XOR:
      return part == lead ? (double)(bits ^ ((parts - 1) % 2 * (e % 7))) : (double)(e % 7);
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
  sw_element_store(f->c->dtype, part_value(f->c, f->parts, f->part, e), at);
}

static inline void compare_one(void *user, int64_t e, void *at, bool halo) {
  fill_user *f = user;
  (void)halo;
  f->seen++;
  if (sw_element_load(f->c->dtype, at) != case_value(f->c, e)) f->wrong++;
}

/* All ones of u64 are no double. */
static inline int64_t bits_of(double v) { return v >= 0x1p63 ? -1 : (int64_t)v; }

static inline double reduce_two(sw_reduction kind, double a, double b) {
  switch ((int)kind) {
    case SW_REDUCE_MAX:
      return a > b ? a : b;
    case SW_REDUCE_MIN:
      return a < b ? a : b;
    case SW_REDUCE_PRODUCT:
    case SW_REDUCE_AND:
      return a * b;
    case SW_REDUCE_OR:
    case SW_REDUCE_BIT_OR:
      return (double)(bits_of(a) | bits_of(b));
    case SW_REDUCE_BIT_AND:
      return (double)(bits_of(a) & bits_of(b));
    case SW_REDUCE_BIT_XOR:
      return (double)(bits_of(a) ^ bits_of(b));
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
      each_element(case_to(c), device, &b[device], compare_one, &f);
      wrong += f.wrong;
      continue;
    }
    case_place place = case_to(c);
    const sw_mesh *m = place_mesh(place);
    int64_t first = place_position(place, device);
    if (sw_mesh_group_index(m, first, partial, c->to.n_partial) != 0) continue;
    f.sum = sw_arena_alloc(arena, (size_t)n + 1, sizeof(double), NULL);
    f.times = sw_arena_alloc(arena, (size_t)n + 1, 1, NULL);
    for (int64_t p = 0; p < parts; p++) {
      int64_t member = sw_mesh_group_peer(m, first, partial, c->to.n_partial, p);
      if (place.other) member = place.other->device[member];
      each_element(case_to(c), member, &b[member], reduce_one, &f);
    }
    for (int64_t e = 0; e < n; e++) {
      double v = c->to.partial_kind == SW_REDUCE_AVERAGE ? f.sum[e] / (double)parts : f.sum[e];
      wrong += f.times[e] && (f.times[e] != parts || v != case_value(c, e));
    }
  }
  return wrong;
}

/* A collective whose axes speak of the other mesh, on buffers in the order of its devices. */
static inline sw_rc run_there(const sw_other_mesh *o, const sw_collective *coll, int rank, const sw_buffer *in,
                              sw_buffer *out, sw_arena *arena, sw_diag *d) {
  int64_t devices = sw_mesh_devices(&o->mesh);
  sw_buffer *there = sw_arena_alloc(arena, 2 * (size_t)devices, sizeof *there, d);
  SW_TRY(sw_collective_verify(&o->mesh, coll, rank, d));
  for (int64_t q = 0; q < devices; q++) {
    there[q] = in[o->device[q]];
    there[devices + q] = out[o->device[q]];
  }
  SW_TRY(sw_collective_oracle(&o->mesh, coll, there, there + devices, d));
  for (int64_t q = 0; q < devices; q++) out[o->device[q]] = there[devices + q];
  return SW_OK;
}

static inline sw_rc run_here(const sw_mesh *m, const sw_collective *coll, int rank, const sw_buffer *in, sw_buffer *out,
                             sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  SW_TRY(sw_collective_verify(m, coll, rank, d));
  SW_TRY(sw_collective_result_dims(m, coll, rank, in[0].dims, dims, d));
  for (int x = 0; x < rank; x++) {
    if (dims[x] < out[0].dims[x]) return SW_FAIL(d, SW_E_BUG, SW_NOWHERE, "too short a result");
  }
  return sw_collective_oracle(m, coll, in, out, d);
}

/* Wrong elements after the route, or -1 with a message in `why` when a step itself is wrong. */
static inline int64_t case_run(const reshard_case *c, const sw_route *r, sw_arena *arena, char *why, size_t n_why) {
  int64_t devices = sw_mesh_devices(&c->mesh);
  sw_buffer *in = sw_arena_alloc(arena, (size_t)devices, sizeof *in, NULL);
  const sw_axis_ref *partial = sw_sharding_partial(&c->from);
  int64_t parts = sw_axis_refs_size(partial, c->from.n_partial);
  sw_diag d = {0};
  for (int64_t i = 0; i < devices; i++) {
    buffer_make(arena, case_from(c), i, &in[i]);
    fill_user f = {c, parts, sw_mesh_group_index(&c->mesh, i, partial, c->from.n_partial), 0, 0, NULL, NULL};
    each_element(case_from(c), i, &in[i], fill_one, &f);
  }
  for (int k = 0; k < r->n_steps; k++) {
    const sw_hop *step = &r->step[k];
    sw_buffer *out = sw_arena_alloc(arena, (size_t)devices, sizeof *out, NULL);
    for (int64_t i = 0; i < devices; i++) buffer_make(arena, case_after(c, step), i, &out[i]);
    bool there = case_after(c, step).other && step->coll.op == SW_COLL_TO_PARTIAL;
    sw_rc rc = there ? run_there(c->options.to_mesh, &step->coll, c->rank, in, out, arena, &d)
                     : run_here(&c->mesh, &step->coll, c->rank, in, out, &d);
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
