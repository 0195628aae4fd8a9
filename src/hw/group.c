/* The shape of a group: members per level, and on a torus how its paths share links.
 *
 * Digits of the refs are gathered per network dimension (members, and how far they reach), then per level. A stride
 * means sharing: on a ring of 8 the groups {0,2,4,6} and {1,3,5,7} use the same links, so each has half of them.
 */
#include "hw/machine.h"

typedef struct dim_use {
  int64_t n;      /* members along the dimension */
  int64_t extent; /* positions from the first to behind the last, strides included */
} dim_use;

static void use_digit(dim_use *use, axis_digit digit) {
  dim_use *u = &use[digit.dim];
  u->n *= digit.size;
  if (digit.stride * digit.size > u->extent) u->extent = digit.stride * digit.size;
}

/* The digits of an axis from `below` (product of what is minor to the ref) on, `size` in all. False when the ref does
 * not line up with them. */
static bool use_part(const axis_place *p, int64_t below, int64_t size, dim_use *use) {
  for (int i = 0; i < p->n && size > 1; i++) {
    axis_digit digit = p->digit[i];
    if (below % digit.size == 0) {
      below /= digit.size;
      continue;
    }
    if (digit.size % below) return false;
    digit.stride *= below;
    digit.size /= below;
    below = 1;
    if (size % digit.size) {
      if (digit.size % size) return false;
      digit.size = size;
    }
    use_digit(use, digit);
    size /= digit.size;
  }
  return size == 1;
}

static void use_ref(const sw_machine *m, sw_axis_ref ref, dim_use *use) {
  const axis_place *p = &m->axis[ref.axis];
  int64_t below = m->mesh.axis[ref.axis].size / ((int64_t)ref.pre * ref.size);
  dim_use before[SW_MAX_DIMS];
  for (int j = 0; j < m->n_dims; j++) before[j] = use[j];
  if (use_part(p, below, ref.size, use)) return;
  /* A ref that cuts across the network's own digits is priced like its whole axis. */
  for (int j = 0; j < m->n_dims; j++) use[j] = before[j];
  for (int i = 0; i < p->n; i++) use_digit(use, p->digit[i]);
}

/* On a line the middle link carries floor(n/2)*ceil(n/2) of the n*n pairs' chunks in each direction; a ring has two
 * ways round. */
void sw_group_add_torus_dim(sw_group_part *part, const net_dim *dim, int64_t n, double extent) {
  bool ring = dim->wrap && extent == (double)dim->size && dim->size > 2;
  double ways = ring ? 2 : 1;
  double stride = extent / (double)n;
  int64_t half = n / 2;
  part->steps += (double)(ring ? half : n - 1) * stride;
  part->links += ways / stride;
  double spread = (double)(half * (n - half)) / (double)n * stride / ways;
  if (spread > part->spread) part->spread = spread;
  if (stride > part->stride) part->stride = stride;
}

static void add_dim(const sw_machine *m, int j, dim_use u, sw_group_shape *out) {
  if (u.n == 1) return;
  int level = m->dim[j].level;
  sw_group_part *part = out->n_parts ? &out->part[out->n_parts - 1] : NULL;
  if (!part || part->level != level) {
    part = &out->part[out->n_parts++];
    *part = (sw_group_part){.level = level, .n = 1};
  }
  part->n *= u.n;
  out->size *= u.n;
  const int64_t inside = out->size / part->n; /* devices of each member */
  part->under = out->size;
  part->apart = out->size - inside;
  part->lacked = (double)(part->n - 1) / (double)part->n / (double)inside;
  if (m->profile->level[level].kind == SW_TOPOLOGY_TORUS)
    sw_group_add_torus_dim(part, &m->dim[j], u.n, (double)u.extent);
  else
    part->steps = (double)(part->n - 1);
}

/* The group over refs, which may be parts of axes. */
static void group_shape_of(const sw_machine *m, const sw_axis_ref *refs, int n, sw_group_shape *out) {
  dim_use use[SW_MAX_DIMS];
  for (int j = 0; j < m->n_dims; j++) use[j] = (dim_use){1, 1};
  for (int i = 0; i < n; i++) use_ref(m, refs[i], use);
  out->size = 1;
  out->n_parts = 0;
  for (int j = 0; j < m->n_dims; j++) add_dim(m, j, use[j], out);
}

int64_t sw_axis_ref_inside(const sw_machine *m, sw_axis_ref ref, int level) {
  const axis_place *p = &m->axis[ref.axis];
  int64_t below = m->mesh.axis[ref.axis].size / ((int64_t)ref.pre * ref.size), low = 1;
  if (m->order) return ref.size;
  for (int i = 0; i < p->n && m->dim[p->digit[i].dim].level < level; i++) low *= p->digit[i].size;
  if (low <= below || low % below) return 1;
  int64_t inside = low / below < ref.size ? low / below : ref.size;
  return ref.size % inside ? 1 : inside;
}

void sw_machine_group(const sw_machine *m, const sw_axis_ref *refs, int n, sw_group *out) {
  unsigned mask = 0;
  int whole = 0;
  while (whole < n && refs[whole].size == m->mesh.axis[refs[whole].axis].size) mask |= 1u << refs[whole++].axis;
  if (whole == n && m->subset) {
    *out = m->subset[mask];
    return;
  }
  out->next = NULL;
  if (m->order) {
    sw_order_group(m, refs, n, out);
    return;
  }
  group_shape_of(m, refs, n, &out->shape);
  sw_group_fold(m, out);
}
