/* Vertices are numbered as they come; equal states are one. */
#include "reshard/route_graph.h"

#include <math.h>
#include <string.h>

#include "reshard/bytes.h"

static size_t state_bytes(const rs_graph *g) {
  return offsetof(rs_state, list) + (size_t)g->r->space.rank * sizeof(rs_list);
}

static uint16_t *vertex_slot_of(rs_graph *g, const rs_state *state) {
  uint64_t h = state->partial | (uint64_t)state->kind << 32 | (uint64_t)state->form << 48;
  for (int d = 0; d < g->r->space.rank; d++) h = (h ^ state->list[d]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 31);
  for (uint64_t i = h >> 32;; i++) {
    uint16_t *slot = &g->vertex_slot[i % RS_VERTEX_SLOTS];
    if (!*slot || memcmp(&g->vertex[*slot - 1].state, state, state_bytes(g)) == 0) return slot;
  }
}

static bool fill_vertex(rs_graph *g, const rs_state *state, rs_vertex *v) {
  v->bytes = g->elem_bytes;
  v->cut_by = 0;
  for (int d = 0; d < g->r->space.rank; d++) {
    const int dim = rs_graph_dim(g, state->list[d]);
    if (dim < 0) return false;
    v->dim[d] = (uint16_t)dim;
    v->bytes *= g->dim[dim].block[d];
    v->cut_by |= g->dim[dim].set;
  }
  v->state = *state;
  return true;
}

/* Bounds are raised by so much: where many paths cost nearly the same, one of them is found far sooner. */
static const double kGreed = 1.05;

/* A state that is too dear keeps its slot, so that it is not looked at again. */
int rs_graph_add(rs_graph *g, const rs_state *state) {
  uint16_t *slot = vertex_slot_of(g, state);
  if (!*slot) {
    rs_vertex *v = &g->vertex[g->n];
    if (g->n == RS_MAX_VERTICES || !fill_vertex(g, state, v)) return -1;
    *slot = (uint16_t)++g->n;
    v->source_s = v->target_s = 0;
    if (g->n <= g->target) return g->n - 1;
    v->source_s = kGreed * rs_graph_bound_s(g, g->source, g->n - 1);
    v->target_s = kGreed * rs_graph_bound_s(g, g->n - 1, g->target);
  }
  const rs_vertex *v = &g->vertex[*slot - 1];
  return v->source_s + v->target_s < g->upper_s ? *slot - 1 : -1;
}

const sw_group *rs_graph_group(rs_graph *g, uint32_t set) {
  const uint32_t slot = (set ^ set >> 6) % RS_GROUPS;
  if (g->group_set[slot] != set) {
    sw_axis_ref refs[RS_MAX_ATOMS];
    const int k = rs_refs_of_set(&g->r->space, set, refs);
    sw_machine_group(g->r->machine, refs, k, &g->group[slot]);
    g->group_set[slot] = set;
  }
  return &g->group[slot];
}

/* Which of several equivalent atoms spreads a value is no matter. */
static void find_equivalent(rs_graph *g) {
  const rs_space *s = &g->r->space;
  for (int a = 0; a < s->n; a++) {
    g->equivalent[a] = 0;
    for (int b = 0; b < a; b++) {
      bool same = s->atom[a].size == s->atom[b].size;
      for (int l = 1; l < g->n_levels; l++) same = same && g->inside[l][a] == g->inside[l][b];
      if (same) g->equivalent[a] |= 1u << b;
    }
  }
}

void rs_graph_init(rs_graph *g, const rs_request *r) {
  const rs_space *s = &r->space;
  g->r = r;
  g->n = g->n_dims = 0;
  g->upper_s = HUGE_VAL;
  memset(g->vertex_slot, 0, sizeof g->vertex_slot);
  memset(g->dim_slot, 0, sizeof g->dim_slot);
  memset(g->dim_step_key, 0, sizeof g->dim_step_key);
  memset(g->group_set, 0xff, sizeof g->group_set);
  g->n_levels = sw_machine_profile(r->machine)->n_levels;
  g->devices = (double)sw_mesh_devices(s->mesh);
  g->whole_bytes = g->elem_bytes = rs_moved_bytes(r);
  for (int d = 0; d < s->rank; d++) g->whole_bytes *= (double)s->dims[d];
  for (int l = 0; l < g->n_levels; l++) {
    for (int a = 0; a < s->n; a++) {
      g->inside[l][a] = l ? (double)sw_axis_ref_inside(r->machine, s->atom[a], l) : 1;
    }
  }
  find_equivalent(g);
  rs_floor_init(g);
  g->source = 0;
  g->target = 1; /* once there is one */
  g->source = rs_graph_add(g, &r->source);
  g->target = rs_graph_add(g, &r->target);
  g->vertex[g->source].target_s = rs_graph_bound_s(g, g->source, g->target);
}
