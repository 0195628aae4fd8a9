/* A route carried out on device threads and compared with slices of the whole tensor.
 *
 * Element number e of the whole tensor is a small number of e. Where the source is partial, its parts reduce to that:
 * which device of a group holds the larger part varies from element to element.
 */
#include <math.h>
#include <string.h>

#include "shardwright/comm.h"
#include "base/limits.h"
#include "base/lists.h"
#include "collective/scalar.h"
#include "shardwright/tensor.h"
#include "shardwright/validate.h"

typedef struct runner {
  const sw_reshard *wanted;
  const sw_route *route;
  const sw_mesh *mesh;
  sw_cancel *cancel;
  sw_tensor *at; /* by device: what it holds, in the end the result */
} runner;

/* A sharding on the machine's mesh or on the other one. */
static void tiling_on(const runner *w, const sw_sharding *s, const sw_mesh *mesh, sw_tiling *out) {
  sw_tiling_of(s, w->wanted->rank, w->wanted->dims, out);
  if (mesh != w->mesh) out->other = w->wanted->options.to_mesh;
}

static double whole_value(sw_dtype t, int64_t e) {
  if (t == SW_BOOL) return (double)(e / 3 % 2);
  int bits = sw_dtype_bits(t);
  if (t == SW_F8E8M0FNU) return (double)(1 << e % 7);
  int64_t most = bits > 8 ? 100 : bits > 4 ? 7 : bits > 2 ? 4 : 1, v = e % most + 1; /* all types hold these exactly */
  return (double)(e % 2 && sw_dtype_class_of(t) != SW_CLASS_UNSIGNED ? -v : v);
}

static bool is_logical(const sw_sharding *s) {
  return s->n_partial && (s->partial_kind == SW_REDUCE_AND || s->partial_kind == SW_REDUCE_OR);
}

/* The whole tensor's element number e. What `and` and `or` give is 0 or 1 of any type. */
static double element_value(const sw_reshard *wanted, int64_t e) {
  const bool logical = is_logical(wanted->from) || is_logical(wanted->to);
  return whole_value(logical ? SW_BOOL : wanted->dtype, e);
}

/* Part `part` of `parts` of an element of value v. */
static void store_part(sw_dtype t, sw_reduction kind, int64_t parts, int64_t part, int64_t e, double v, void *at) {
  bool larger = part == e % parts, wide = sw_dtype_bytes(t) > 1;
  bool averaged = parts > 1 && kind == SW_REDUCE_AVERAGE, few_bits = sw_dtype_bits(t) < 8;
  if (averaged && !few_bits) {
    sw_element_store(t, larger ? v * (double)parts : 0, at);
  } else if (parts > 1 && kind == SW_REDUCE_SUM && wide) {
    sw_element_store(t, larger ? v - (double)(parts - 1) : 1, at);
  } else if (larger || averaged) { /* (of few bits: no multiples of v) */
    sw_element_store(t, v, at);
  } else {
    sw_reduction_identity_bytes(kind, t, at);
  }
}

/* Which element of the whole tensor a position of a buffer stands for; -1: none, or (unless `with_halos`) a copy that
 * another device owns. */
static int64_t element_at(const runner *w, const sw_tiling *t, int64_t device, const int64_t *position,
                          bool with_halos) {
  sw_tiling core;
  sw_tiling_core(t, &core);
  int64_t e = 0;
  for (int d = 0; d < t->rank; d++) {
    int64_t start, lo, hi;
    sw_tiling_window(w->mesh, t, d, device, &start, &lo, &hi);
    if (position[d] < lo || position[d] >= hi) return -1;
    int64_t global = start + position[d];
    bool halos = t->dim[d].n_refs && !t->dim[d].starts && t->dim[d].len != core.dim[d].len;
    if (halos && !with_halos) {
      sw_tiling_window(w->mesh, &core, d, device, &start, &lo, &hi);
      if (global < start + lo || global >= start + hi) return -1;
    }
    e = e * w->wanted->dims[d] + global;
  }
  return e;
}

static sw_rc make_buffer(const runner *w, const sw_sharding *s, const sw_mesh *mesh, int64_t device, sw_tensor *out,
                         sw_diag *d) {
  int64_t dims[SW_MAX_RANK];
  sw_tiling t;
  if (!sw_sharding_local_dims(s, w->wanted->dims, dims)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a block of the tensor is too large to run");
  }
  SW_TRY(sw_tensor_init(out, w->wanted->dtype, w->wanted->rank, dims, d));
  tiling_on(w, s, mesh, &t);
  for (int i = 0; i < out->rank; i++) {
    int64_t start, lo;
    sw_tiling_window(w->mesh, &t, i, device, &start, &lo, &out->valid[i]);
  }
  sw_buffer_poison(out);
  return SW_OK;
}

/* Elements are many: the first of every so many asks. */
static sw_rc check_cancel(const runner *w, int64_t i, sw_diag *d) {
  enum { EACH = 1 << 16 };
  if (i % EACH != 0 || !sw_cancelled(w->cancel)) return SW_OK;
  return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
}

static sw_rc fill_source(runner *w, int64_t device, sw_diag *d) {
  const sw_sharding *from = w->wanted->from;
  const sw_axis_ref *partial = sw_sharding_partial(from);
  int64_t parts = sw_axis_refs_size(partial, from->n_partial), position[SW_MAX_RANK] = {0};
  int64_t part = sw_mesh_group_index(w->mesh, device, partial, from->n_partial);
  sw_tensor *b = &w->at[device];
  sw_tiling t;
  SW_TRY(make_buffer(w, from, w->mesh, device, b, d));
  tiling_on(w, from, w->mesh, &t);
  char *at = b->data;
  if (sw_buffer_elements(b) == 0) return SW_OK;
  int64_t i = 0;
  do {
    SW_TRY(check_cancel(w, i++, d));
    int64_t e = element_at(w, &t, device, position, false);
    if (e >= 0) store_part(b->dtype, (sw_reduction)from->partial_kind, parts, part, e, element_value(w->wanted, e), at);
    at += sw_dtype_bytes(b->dtype);
  } while (sw_next_position(b->rank, b->dims, position));
  return SW_OK;
}

/* to_partial over axes of the other mesh: local, so nobody is called. */
static void keep_first(const runner *w, const sw_hop *step, int64_t device, const sw_buffer *in, sw_buffer *out) {
  int64_t there = w->wanted->options.to_mesh->position[device], n = sw_buffer_elements(in);
  size_t bytes = (size_t)sw_dtype_bytes(in->dtype);
  if (sw_mesh_group_index(step->mesh, there, step->coll.axes, step->coll.n_axes) == 0) {
    memcpy(out->data, in->data, (size_t)n * bytes);
    return;
  }
  for (int64_t i = 0; i < n; i++) {
    sw_reduction_identity_bytes(step->coll.reduction, in->dtype, (char *)out->data + (size_t)i * bytes);
  }
}

static sw_rc run_route_on_device(sw_comm *comm, int64_t device, void *user, sw_diag *d) {
  runner *w = user;
  SW_TRY(fill_source(w, device, d));
  for (int i = 0; i < w->route->n_steps; i++) {
    const sw_hop *step = &w->route->step[i];
    sw_tensor out;
    SW_TRY(make_buffer(w, &step->after, step->mesh, device, &out, d));
    sw_rc rc = SW_OK;
    if (step->mesh != w->mesh && step->coll.op == SW_COLL_TO_PARTIAL) {
      keep_first(w, step, device, &w->at[device], &out);
    } else {
      rc = sw_comm_run(comm, device, &(sw_comm_call){&step->coll, &w->at[device], &out, i, NULL}, d);
    }
    sw_tensor_deinit(&w->at[device]);
    w->at[device] = out;
    SW_TRY(rc);
  }
  return SW_OK;
}

/* The element at a place of a group's buffers, reduced over the group. */
static sw_scalar reduced_element(const runner *w, const sw_sharding *to, const int64_t *members, int64_t n,
                                 size_t place) {
  sw_dtype t = w->wanted->dtype;
  sw_scalar v = sw_scalar_load(t, (char *)w->at[members[0]].data + place);
  for (int64_t i = 1; i < n; i++) {
    sw_scalar x = sw_scalar_load(t, (char *)w->at[members[i]].data + place);
    v = sw_reduction_combine((sw_reduction)to->partial_kind, t, v, x);
  }
  return n > 1 ? sw_reduction_finish((sw_reduction)to->partial_kind, t, v, n) : v;
}

/* The devices that hold parts of what `device` holds; 0 when another one stands for the group. */
static int64_t partial_group_of(const runner *w, int64_t device, int64_t *members) {
  const sw_sharding *to = w->wanted->to;
  const sw_other_mesh *o = w->wanted->options.to_mesh;
  const sw_mesh *m = o ? &o->mesh : w->mesh;
  const sw_axis_ref *partial = sw_sharding_partial(to);
  int64_t n = sw_axis_refs_size(partial, to->n_partial), there = o ? o->position[device] : device;
  if (sw_mesh_group_index(m, there, partial, to->n_partial) != 0) return 0;
  for (int64_t i = 0; i < n; i++) {
    int64_t peer = sw_mesh_group_peer(m, there, partial, to->n_partial, i);
    members[i] = o ? o->device[peer] : peer;
  }
  return n;
}

static sw_rc compare_partial_group(const runner *w, int64_t device, int64_t *members, sw_route_run *out, sw_diag *d) {
  const sw_mesh *m = w->wanted->options.to_mesh ? &w->wanted->options.to_mesh->mesh : w->mesh;
  const sw_buffer *b = &w->at[device];
  int64_t n = partial_group_of(w, device, members), position[SW_MAX_RANK] = {0}, i = 0;
  size_t place = 0, bytes = (size_t)sw_dtype_bytes(b->dtype);
  sw_tiling t;
  tiling_on(w, w->wanted->to, m, &t);
  if (n == 0 || sw_buffer_elements(b) == 0) return SW_OK;
  do {
    SW_TRY(check_cancel(w, i++, d));
    int64_t e = element_at(w, &t, device, position, true);
    if (e >= 0) {
      _Alignas(16) unsigned char want[16] = {0}, got[16] = {0};
      sw_element_store(b->dtype, element_value(w->wanted, e), want);
      sw_scalar_store(b->dtype, reduced_element(w, w->wanted->to, members, n, place), got);
      out->elements++;
      out->wrong += memcmp(want, got, bytes) != 0;
    }
    place += bytes;
  } while (sw_next_position(b->rank, b->dims, position));
  return SW_OK;
}

static sw_rc run_route_devices(runner *w, sw_comm *comm, int64_t *members, sw_route_run *out, sw_diag *d) {
  int64_t devices = sw_mesh_devices(w->mesh);
  double start = sw_now_s();
  SW_TRY(sw_comm_launch(comm, run_route_on_device, w, NULL, d));
  out->seconds = sw_now_s() - start;
  for (int64_t i = 0; i < devices; i++) {
    sw_comm_stats s;
    sw_comm_get_stats(comm, i, &s);
    for (int c = 0; c < SW_COLL_COUNT; c++) out->bytes_received += s.bytes_received[c];
    SW_TRY(compare_partial_group(w, i, members, out, d));
  }
  return SW_OK;
}

static double block_bytes(const runner *w, const sw_sharding *s) {
  int64_t dims[SW_MAX_RANK];
  double bytes = sw_dtype_bytes(w->wanted->dtype);
  if (!sw_sharding_local_dims(s, w->wanted->dims, dims)) return HUGE_VAL;
  for (int k = 0; k < w->wanted->rank; k++) bytes *= (double)dims[k];
  return bytes;
}

/* Every device holds what it has and what a step makes of it. */
static sw_rc admit_route(const runner *w, sw_diag *d) {
  double before = block_bytes(w, w->wanted->from), most = before;
  char what[64];
  for (int i = 0; i < w->route->n_steps; i++) {
    double after = block_bytes(w, &w->route->step[i].after);
    most = fmax(most, before + after);
    before = after;
  }
  most *= (double)sw_mesh_devices(w->mesh);
  sw_needs n = {.bytes = most < 9e18 ? (int64_t)most : INT64_MAX};
  snprintf(what, sizeof what, "the blocks of %lld devices", (long long)sw_mesh_devices(w->mesh));
  return sw_limits_check(&n, what, d);
}

sw_rc sw_run_route(const sw_reshard *wanted, const sw_route *route, sw_cancel *cancel, sw_route_run *out, sw_diag *d) {
  runner w = {.wanted = wanted, .route = route, .mesh = sw_machine_mesh(wanted->machine), .cancel = cancel};
  size_t devices = (size_t)sw_mesh_devices(w.mesh);
  sw_comm *comm = NULL;
  int64_t *members = sw_mem_alloc(devices, sizeof *members, d);
  w.at = sw_mem_alloc(devices, sizeof *w.at, d);
  *out = (sw_route_run){0};
  sw_rc rc = members && w.at ? admit_route(&w, d) : SW_E_RESOURCE;
  if (!rc) rc = sw_comm_create_threads(w.mesh, &(sw_comm_options){.cancel = cancel}, &comm, d);
  if (!rc) rc = run_route_devices(&w, comm, members, out, d);
  for (size_t i = 0; w.at && i < devices; i++) sw_tensor_deinit(&w.at[i]);
  sw_comm_destroy(comm);
  sw_mem_free(w.at);
  sw_mem_free(members);
  return rc;
}
