/* The table of collectives, and what can be said of a collective without buffers: text, legality, result dims.
 *
 *   all_gather axes=[x] dim=1 on mesh x=4: f32 4x8 -> 4x32
 */
#include "shardwright/collective.h"

#include <string.h>

#include "base/checked.h"

static const struct {
  const char *text;
  unsigned flags;
} kOps[SW_COLL_COUNT] = {
#define SW_X(id, name, cost, f) [SW_COLL_##id] = {name, f},
    SW_COLLECTIVES(SW_X)
#undef SW_X
};

const char *sw_coll_text(sw_coll_op op) { return kOps[op].text; }
unsigned sw_coll_flags(sw_coll_op op) { return kOps[op].flags; }

bool sw_coll_parse(const char *text, sw_coll_op *out) {
  for (int op = 0; op < SW_COLL_COUNT; op++)
    if (strcmp(text, kOps[op].text) == 0) return *out = (sw_coll_op)op, true;
  return false;
}

/* Per dimension: size cut by its refs, and the window when it is not the plain block. */
static void print_tiling(const sw_mesh *m, const sw_tiling *t, sw_text *out) {
  for (int d = 0; d < t->rank; d++) {
    const sw_tile_dim *dim = &t->dim[d];
    sw_text_printf(out, "%s%lld", d ? "x" : "", (long long)dim->size);
    if (dim->n_refs) sw_axis_refs_print(t->other ? &t->other->mesh : m, t->refs + dim->first_ref, dim->n_refs, out);
    if (dim->base || (dim->n_refs && dim->step != dim->len))
      sw_text_printf(out, "(base %lld step %lld len %lld)", (long long)dim->base, (long long)dim->step,
                     (long long)dim->len);
  }
}

enum { MOST_PRINTED = 16 }; /* devices of lists, and sources */

/* " groups=[[0,3],[2,1]]" */
static void print_lists(const sw_mesh *m, const sw_device_list *lists, sw_text *out) {
  int64_t printed = 0;
  sw_text_puts(out, " groups=[");
  for (int64_t i = 0; i < sw_mesh_devices(m) && printed < MOST_PRINTED; i++) {
    if (!lists[i].n || lists[i].place) continue;
    for (int64_t k = 0; k < lists[i].n && printed < MOST_PRINTED; k++, printed++) {
      sw_text_printf(out, "%s%lld", k ? "," : printed ? ",[" : "[", (long long)lists[i].members[k]);
    }
    sw_text_puts(out, printed < MOST_PRINTED ? "]" : ", ...");
  }
  sw_text_puts(out, "]");
}

static void print_sources(const sw_collective *c, sw_text *out) {
  int64_t n = sw_axis_refs_size(c->axes, c->n_axes);
  for (int64_t i = 0; i < n && i < MOST_PRINTED; i++) {
    sw_text_printf(out, i ? ",%lld" : " sources=[%lld", (long long)c->sources[i]);
  }
  sw_text_puts(out, n > MOST_PRINTED ? ", ...]" : "]");
}

void sw_collective_print(const sw_mesh *m, const sw_collective *c, sw_text *out) {
  unsigned flags = sw_coll_flags(c->op);
  sw_text_puts(out, sw_coll_text(c->op));
  if (c->lists) {
    print_lists(m, c->lists, out);
  } else if (c->n_axes > 0 || !(flags & SW_COLL_TILED)) {
    sw_text_puts(out, " axes=");
    sw_axis_refs_print(m, c->axes, c->n_axes, out);
  }
  if (flags & SW_COLL_USES_REDUCTION) sw_text_printf(out, " reduction=%s", sw_reduction_text(c->reduction));
  if ((flags & SW_COLL_USES_DIM) && !c->sources) sw_text_printf(out, " dim=%d", c->dim);
  if (flags & SW_COLL_USES_CONCAT) sw_text_printf(out, " concat_dim=%d", c->concat_dim);
  if ((flags & SW_COLL_USES_ROOT) && c->n_root) {
    sw_text_puts(out, " root=[");
    for (int i = 0; i < c->n_root; i++) sw_text_printf(out, "%s%lld", i ? "," : "", (long long)c->root[i]);
    sw_text_puts(out, "]");
  }
  if (c->sources)
    print_sources(c, out);
  else if (flags & SW_COLL_USES_OFFSET)
    sw_text_printf(out, " offset=%lld%s", (long long)c->offset, c->rotate ? " rotate" : "");
  if ((flags & SW_COLL_USES_TILES) && c->src) {
    sw_text_puts(out, " src=");
    print_tiling(m, c->src, out);
  }
  if ((flags & SW_COLL_TILED) && c->dst) {
    sw_text_puts(out, " dst=");
    print_tiling(m, c->dst, out);
  }
  if ((flags & SW_COLL_USES_TILES) && c->fill_outside) sw_text_printf(out, " fill=%.17g", c->fill);
}

/* Refs exist, divide their axis and share no digit. */
static sw_rc verify_refs(const sw_mesh *m, const sw_axis_ref *refs, int n, const char *op, sw_diag *d) {
  if (n < 0 || n > SW_MAX_REFS)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s has %d axes; expected at most %d", op, n, (int)SW_MAX_REFS);
  for (int i = 0; i < n; i++) {
    sw_axis_ref r = refs[i];
    if (r.axis < 0 || r.axis >= m->n_axes)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "%s names axis %d of a mesh with %d axes", op, r.axis, m->n_axes);
    int64_t size = m->axis[r.axis].size;
    if (r.pre < 1 || r.size < 1 || size % ((int64_t)r.pre * r.size) != 0)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: sub-axis (%d)%d does not divide axis '%s' of size %lld", op, r.pre,
                           r.size, m->axis[r.axis].name, (long long)size);
    for (int j = 0; j < i; j++)
      if (sw_axis_ref_overlaps(r, refs[j]))
        return SW_FAIL_INPUT(d, SW_NOWHERE, "%s uses axis '%s' twice", op, m->axis[r.axis].name);
  }
  return SW_OK;
}

static sw_rc verify_tiling(const sw_mesh *m, const sw_tiling *t, const char *what, const char *op, int rank,
                           sw_diag *d) {
  if (!t) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s lacks its %s tiling", op, what);
  if (t->rank != rank)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: the %s tiling has rank %d and the tensor has rank %d", op, what, t->rank,
                         rank);
  const sw_mesh *spoken_of = t->other ? &t->other->mesh : m;
  for (int i = 0; i < t->rank; i++)
    SW_TRY(verify_refs(spoken_of, t->refs + t->dim[i].first_ref, t->dim[i].n_refs, op, d));
  return SW_OK;
}

static sw_rc verify_root(const sw_collective *c, const char *op, sw_diag *d) {
  bool optional = c->op == SW_COLL_RECV;
  if (c->n_root == 0 && (optional || c->n_axes == 0)) return SW_OK;
  if (c->n_root != c->n_axes)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: the root has %d coordinates; expected %d, one per axis", op, c->n_root,
                         c->n_axes);
  for (int i = 0; i < c->n_root; i++)
    if (c->root[i] < 0 || c->root[i] >= c->axes[i].size)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: root coordinate %lld is outside [0, %d)", op, (long long)c->root[i],
                           c->axes[i].size);
  return SW_OK;
}

static sw_rc verify_dim(const char *op, const char *what, int dim, int n, sw_diag *d) {
  if (dim >= 0 && dim < n) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: %s %d is outside [0, %d)", op, what, dim, n);
}

sw_rc sw_collective_verify(const sw_mesh *m, const sw_collective *c, int rank, sw_diag *d) {
  if ((unsigned)c->op >= SW_COLL_COUNT) return SW_FAIL_INPUT(d, SW_NOWHERE, "unknown collective %d", (int)c->op);
  const char *op = sw_coll_text(c->op);
  unsigned flags = sw_coll_flags(c->op);
  if (rank < 0 || rank > SW_MAX_RANK) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s of a tensor of rank %d", op, rank);
  SW_TRY(verify_refs(m, c->axes, c->n_axes, op, d));
  if (c->lists && (c->n_axes || c->n_root || (flags & SW_COLL_TILED)))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s has lists of devices besides axes, a root or tilings", op);
  if (c->sources) return SW_OK;
  if (c->op == SW_COLL_SHIFT)
    SW_TRY(verify_dim(op, "shift axis", c->dim, c->n_axes, d));
  else if (flags & SW_COLL_USES_DIM)
    SW_TRY(verify_dim(op, "dimension", c->dim, rank, d));
  if (flags & SW_COLL_USES_CONCAT) SW_TRY(verify_dim(op, "concat dimension", c->concat_dim, rank, d));
  if (flags & SW_COLL_USES_ROOT) SW_TRY(verify_root(c, op, d));
  if (flags & SW_COLL_USES_TILES) SW_TRY(verify_tiling(m, c->src, "source", op, rank, d));
  if (flags & SW_COLL_TILED) SW_TRY(verify_tiling(m, c->dst, "destination", op, rank, d));
  if ((flags & SW_COLL_USES_REDUCTION) && (unsigned)c->reduction >= SW_REDUCTION_COUNT)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: unknown reduction %d", op, (int)c->reduction);
  if (sw_collective_is_neutral_beside(c) && (c->reduction == SW_REDUCE_AVERAGE || c->reduction == SW_REDUCE_GENERIC))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: reduction '%s' has no neutral element", op,
                         sw_reduction_text(c->reduction));
  return SW_OK;
}

int64_t sw_collective_members(const sw_collective *c, int64_t device) {
  return c->lists ? c->lists[device].n : sw_axis_refs_size(c->axes, c->n_axes);
}

int64_t sw_collective_place(const sw_mesh *m, const sw_collective *c, int64_t device) {
  return c->lists ? c->lists[device].place : sw_mesh_group_index(m, device, c->axes, c->n_axes);
}

int64_t sw_collective_peer(const sw_mesh *m, const sw_collective *c, int64_t device, int64_t index) {
  return c->lists ? c->lists[device].members[index] : sw_mesh_group_peer(m, device, c->axes, c->n_axes, index);
}

int64_t sw_collective_root(const sw_collective *c) {
  int64_t index = 0;
  if (!(sw_coll_flags(c->op) & SW_COLL_USES_ROOT)) return 0;
  for (int i = 0; i < c->n_root; i++) index = index * c->axes[i].size + c->root[i];
  return index;
}

sw_rc sw_collective_result_dims(const sw_mesh *m, const sw_collective *c, int rank, const int64_t *in, int64_t *out,
                                sw_diag *d) {
  SW_TRY(sw_collective_verify(m, c, rank, d));
  int64_t n = sw_collective_members(c, 0);
  if (sw_coll_flags(c->op) & SW_COLL_TILED) {
    for (int i = 0; i < rank; i++) out[i] = c->dst->dim[i].len;
    return SW_OK;
  }
  if (out != in && rank > 0) memcpy(out, in, (size_t)rank * sizeof *in);
  const int cut = sw_collective_cut_dim(c), joined = sw_collective_joined_dim(c);
  if (cut >= 0) out[cut] = sw_ceil_div(out[cut], n);
  if (joined >= 0 && !sw_mul_i64(out[joined], n, &out[joined]))
    return SW_FAIL_INPUT(d, SW_NOWHERE, "%s: dimension %d of its result is too long", sw_coll_text(c->op), joined);
  return SW_OK;
}
