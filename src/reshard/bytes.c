/* Bytes, counted in valid elements: padding is never sent.
 *
 * A step that only moves elements is an exchange of its two tilings, whoever carries it out; a reduction over p
 * devices costs each of them p-1 pieces per element scattered to it, and the same again to gather them.
 */
#include "reshard/bytes.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

double rs_moved_bytes(const rs_request *r) { return sw_machine_moved_bytes(r->machine, r->dtype); }

double rs_block_bytes(const rs_request *r, const sw_sharding *s) {
  return (double)sw_sharding_local_bytes(s, r->space.dims, r->dtype) / sw_dtype_bytes(r->dtype) * rs_moved_bytes(r);
}

/* Elements that the fullest device and all devices hold, halos included: what they would receive from nobody. `on`:
 * the other mesh that the sharding speaks of, or NULL. */
static void held(const rs_request *r, const sw_sharding *s, const sw_other_mesh *on, double *max, double *total) {
  sw_tiling nobody = {.rank = r->space.rank}, t;
  sw_tiling_of(s, r->space.rank, r->space.dims, &t);
  t.other = on;
  sw_tiling_traffic(r->space.mesh, &nobody, &t, max, total);
  if (t.rank > 0) return;
  *max = 1;
  *total = (double)sw_mesh_devices(r->space.mesh);
}

static void count_moved_bytes(const rs_request *r, const sw_sharding *before, const sw_sharding *after,
                              const sw_other_mesh *on, double *max, double *total) {
  sw_tiling src, dst;
  sw_tiling_of(before, r->space.rank, r->space.dims, &src);
  sw_tiling_of(after, r->space.rank, r->space.dims, &dst);
  dst.other = on;
  sw_tiling_traffic(r->space.mesh, &src, &dst, max, total);
}

void rs_leg_bytes(const rs_request *r, const sw_sharding *before, sw_hop *step) {
  double p = (double)sw_axis_refs_size(step->coll.axes, step->coll.n_axes), max = 0, total = 0, factor = 1;
  if (step->coll.op == SW_COLL_ALL_REDUCE) {
    held(r, before, NULL, &max, &total);
    factor = 2 * (p - 1) / p;
  } else if (step->coll.op == SW_COLL_REDUCE_SCATTER) {
    held(r, &step->after, NULL, &max, &total);
    factor = (sw_machine_lowering(r->machine).whole_scatters ? 2 : 1) * (p - 1);
  } else if (!(sw_coll_flags(step->coll.op) & SW_COLL_LOCAL)) {
    count_moved_bytes(r, before, &step->after, step->mesh == r->space.mesh ? NULL : r->to_mesh, &max, &total);
  }
  step->max_bytes = max * factor * rs_moved_bytes(r);
  step->total_bytes = total * factor * rs_moved_bytes(r);
}

static sw_axis_ref ref_of_either(const sw_sharding *a, const sw_sharding *b, int i) {
  return i < a->n_refs ? a->refs[i] : b->refs[i - a->n_refs];
}

/* Do digits cut into each other, as x:(3)2 and x:(2)3 of 6 do? */
static bool digits_clash(sw_axis_ref x, sw_axis_ref y) {
  const int64_t of_x[2] = {x.pre, (int64_t)x.pre * x.size}, of_y[2] = {y.pre, (int64_t)y.pre * y.size};
  for (int k = 0; k < 4; k++) {
    int64_t p = of_x[k / 2], q = of_y[k % 2];
    if (p % q != 0 && q % p != 0) return true;
  }
  return false;
}

/* Devices that an axis tells apart by the refs of either sharding: each of its digits counts once, those that clash as
 * the whole axis. */
static int64_t told_apart(const sw_mesh *m, int axis, const sw_sharding *a, const sw_sharding *b) {
  const int64_t size = m->axis[axis].size;
  const int n = a->n_refs + b->n_refs;
  int64_t used = 1;
  for (int64_t at = 1; at < size;) {
    int64_t next = size, end = 0;
    for (int i = 0; i < n; i++) {
      sw_axis_ref r = ref_of_either(a, b, i);
      if (r.axis != axis) continue;
      for (int k = 0; k < i; k++) {
        sw_axis_ref other = ref_of_either(a, b, k);
        if (other.axis == axis && digits_clash(r, other)) return size;
      }
      int64_t r_end = (int64_t)r.pre * r.size;
      if (r.pre <= at && r_end > at) end = sw_max_i64(end, r_end);
      if (r.pre > at) next = sw_min_i64(next, r.pre);
    }
    if (end > at) used *= end / at;
    at = end > at ? end : next;
  }
  return used;
}

static double digits_used(const sw_mesh *m, const sw_sharding *a, const sw_sharding *b) {
  double used = 1;
  for (int axis = 0; axis < m->n_axes; axis++) used *= (double)told_apart(m, axis, a, b);
  return used;
}

/* Values to be reduced over p: at least p-1 words per element to make it once, one more for each further device that
 * wants it, and one more when no device that wants it holds a part of it. */
static void bound_reduced(const rs_request *r, double p, sw_route *route) {
  double devices = (double)sw_mesh_devices(r->space.mesh), bytes = rs_moved_bytes(r);
  double elements = 1, held_max, held_total, traffic_max, traffic_total;
  for (int d = 0; d < r->space.rank; d++) elements *= (double)r->space.dims[d];
  if (elements == 0) return;
  double kept = (double)sw_axis_refs_size(sw_sharding_partial(&r->to), r->to.n_partial);
  held(r, &r->to, r->to_mesh, &held_max, &held_total);
  count_moved_bytes(r, &r->from, &r->to, r->to_mesh, &traffic_max, &traffic_total);
  double wanters = held_total / elements / kept;
  double copies = r->to_mesh ? 1 : devices / digits_used(r->space.mesh, &r->from, &r->to);
  double met = (held_total - traffic_total) / copies; /* elements of which some wanter holds a part */
  double words = kept * (elements * (p - 1 + wanters - 1) + (elements > met ? elements - met : 0));
  route->bound_total_bytes = words * bytes;
  route->bound_max_bytes = (held_max > words / devices ? held_max : words / devices) * bytes;
}

/* What stays partial may also be reduced and made partial again. Then devices that hold parts together need one word
 * per element that they lack, after `parts` - 1 that reduce it; `max_bytes` are lacked by one device. */
static void bound_made_again(double parts, double max_bytes, sw_route *route) {
  route->bound_total_bytes = route->bound_total_bytes / parts + (parts - 1) * max_bytes;
  route->bound_max_bytes = max_bytes / parts;
}

/* Or with all that is reduced anyway: that takes a word less than there are parts. */
static void bound_reduced_whole(const rs_request *r, double parts, sw_route *route) {
  double bytes = rs_moved_bytes(r) * (parts - 1);
  for (int d = 0; d < r->space.rank; d++) bytes *= (double)r->space.dims[d];
  route->bound_total_bytes = fmin(route->bound_total_bytes, bytes);
  route->bound_max_bytes = fmin(route->bound_max_bytes, bytes / (double)sw_mesh_devices(r->space.mesh));
}

void rs_route_bound(const rs_request *r, sw_route *route) {
  if (r->makes) return; /* parts may be chosen freely: nothing must move */
  double from = (double)sw_axis_refs_size(sw_sharding_partial(&r->from), r->from.n_partial);
  double to = (double)sw_axis_refs_size(sw_sharding_partial(&r->to), r->to.n_partial);
  const bool again = to > 1 && rs_reduces_in_parts(r->kind[0]);
  if (from > to) {
    bound_reduced(r, from / to, route);
    if (again) bound_reduced_whole(r, from, route);
    return;
  }
  double max, total;
  count_moved_bytes(r, &r->from, &r->to, r->to_mesh, &max, &total);
  route->bound_max_bytes = max * rs_moved_bytes(r);
  route->bound_total_bytes = total * rs_moved_bytes(r);
  if (again) bound_made_again(to, route->bound_max_bytes, route);
}

typedef struct senders {
  uint8_t *sent;
  bool once;
} senders;

static sw_rc note_sender(void *user, const sw_tile_move *move, sw_diag *d) {
  (void)d;
  senders *s = user;
  if (move->from != move->to && s->sent[move->from]++) s->once = false;
  return SW_OK;
}

sw_rc rs_is_permute(const sw_mesh *m, const sw_tiling *src, const sw_tiling *dst, bool *out, sw_diag *d) {
  *out = false;
  for (int i = 0; i < src->rank; i++) {
    const sw_tile_dim *s = &src->dim[i], *t = &dst->dim[i];
    if (s->starts || t->starts || s->base != t->base || s->step != t->step || s->len != t->len) return SW_OK;
  }
  uint8_t few[256] = {0};
  int64_t devices = sw_mesh_devices(m);
  senders s = {.sent = devices <= (int64_t)sizeof few ? few : sw_mem_alloc((size_t)devices, 1, d), .once = true};
  if (!s.sent) return SW_E_RESOURCE;
  sw_rc rc = SW_OK;
  for (int64_t to = 0; to < devices && s.once && !rc; to++)
    rc = sw_tiling_moves_to(m, src, dst, to, note_sender, &s, d);
  if (s.sent != few) sw_mem_free(s.sent);
  *out = s.once;
  return rc;
}
