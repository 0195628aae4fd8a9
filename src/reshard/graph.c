/* States are numbered as they come; equal ones are one. */
#include "reshard/graph.h"

#include <math.h>
#include <string.h>

#include "base/checked.h"

/* What units of each level see of a list: its minor atoms, or parts of one, stay inside. */
static void see_units(const rs_graph *g, rs_cut *c) {
  for (int level = 0; level < g->n_levels; level++) {
    bool open = true;
    c->visible[level] = (uint8_t)c->n;
    c->inside[level] = c->outer[level] = 1;
    for (int i = c->n - 1; i >= 0; i--) {
      const int atom = rs_list_atom(c->list, i);
      const double size = g->r->space.atom[atom].size, inside = g->inside[level][atom];
      c->outer[level] *= size / inside;
      if (open) c->inside[level] *= inside;
      open = open && inside == size;
      if (open) c->visible[level] = (uint8_t)i;
    }
  }
}

static void new_cut(rs_graph *g, rs_list list) {
  const rs_space *s = &g->r->space;
  rs_cut *c = &g->cut[g->n_cuts++];
  int64_t shards = 1;
  c->list = list;
  c->set = rs_list_set(list);
  c->n = rs_list_len(list);
  c->head[0] = 0;
  for (int i = 0; i < c->n; i++) {
    const int atom = rs_list_atom(list, i);
    c->head[i + 1] = (uint16_t)(c->head[i] | 1u << atom);
    shards *= s->atom[atom].size;
  }
  c->shards = (double)shards;
  for (int d = 0; d < s->rank; d++) {
    c->block[d] = (double)(shards == 1 ? s->dims[d] : sw_ceil_div(s->dims[d], shards));
    c->even[d] = c->block[d] * c->shards == (double)s->dims[d];
  }
  see_units(g, c);
}

static int find_cut(rs_graph *g, rs_list list) {
  for (uint64_t i = (list * UINT64_C(0x9e3779b97f4a7c15)) >> 40;; i++) {
    uint16_t *slot = &g->cut_slot[i % RS_CUT_SLOTS];
    if (*slot && g->cut[*slot - 1].list == list) return *slot - 1;
    if (*slot) continue;
    if (g->n_cuts == RS_MAX_CUTS) return -1;
    new_cut(g, list);
    *slot = (uint16_t)g->n_cuts;
    return *slot - 1;
  }
}

static size_t state_bytes(const rs_graph *g) {
  return offsetof(rs_state, list) + (size_t)g->r->space.rank * sizeof(rs_list);
}

static uint16_t *slot_of(rs_graph *g, const rs_state *state) {
  uint64_t h = state->partial | (uint64_t)state->kind << 32 | (uint64_t)state->form << 48;
  for (int d = 0; d < g->r->space.rank; d++) h = (h ^ state->list[d]) * UINT64_C(0x9e3779b97f4a7c15) + (h >> 31);
  for (uint64_t i = h >> 32;; i++) {
    uint16_t *slot = &g->state_slot[i % RS_STATE_SLOTS];
    if (!*slot || memcmp(&g->vertex[*slot - 1].state, state, state_bytes(g)) == 0) return slot;
  }
}

static bool fill_vertex(rs_graph *g, const rs_state *state, rs_vertex *v) {
  v->bytes = g->elem_bytes;
  for (int d = 0; d < g->r->space.rank; d++) {
    const int cut = find_cut(g, state->list[d]);
    if (cut < 0) return false;
    v->cut[d] = (uint16_t)cut;
    v->bytes *= g->cut[cut].block[d];
  }
  v->state = *state;
  return true;
}

/* A state that is too dear keeps its slot, so that it is not looked at again. */
int rs_graph_add(rs_graph *g, const rs_state *state) {
  uint16_t *slot = slot_of(g, state);
  if (!*slot) {
    rs_vertex *v = &g->vertex[g->n];
    if (g->n == RS_MAX_STATES || !fill_vertex(g, state, v)) return -1;
    *slot = (uint16_t)++g->n;
    v->begun_s = g->n > 1 ? rs_graph_bound_s(g, 0, g->n - 1) : 0;
    v->left_s = g->n > 2 ? rs_graph_bound_s(g, g->n - 1, 1) : 0;
  }
  const rs_vertex *v = &g->vertex[*slot - 1];
  return v->begun_s + v->left_s < g->enough_s ? *slot - 1 : -1;
}

const sw_group *rs_graph_group(rs_graph *g, uint32_t set) {
  const uint32_t slot = (set ^ set >> 6) % RS_GROUP_SLOTS;
  if (g->group_set[slot] != set) {
    sw_axis_ref refs[RS_MAX_ATOMS];
    const int k = rs_refs_of_set(&g->r->space, set, refs);
    sw_machine_group(g->r->machine, refs, k, &g->group[slot]);
    g->group_set[slot] = set;
  }
  return &g->group[slot];
}

/* Which of several atoms that lie alike spreads a value is no matter. */
static void find_alike(rs_graph *g) {
  const rs_space *s = &g->r->space;
  for (int a = 0; a < s->n; a++) {
    g->alike[a] = 0;
    for (int b = 0; b < a; b++) {
      bool same = s->atom[a].size == s->atom[b].size;
      for (int l = 1; l < g->n_levels; l++) same = same && g->inside[l][a] == g->inside[l][b];
      if (same) g->alike[a] |= 1u << b;
    }
  }
}

void rs_graph_init(rs_graph *g, const rs_request *r) {
  const rs_space *s = &r->space;
  g->r = r;
  g->n = g->n_cuts = 0;
  g->enough_s = HUGE_VAL;
  memset(g->state_slot, 0, sizeof g->state_slot);
  memset(g->cut_slot, 0, sizeof g->cut_slot);
  memset(g->group_set, 0xff, sizeof g->group_set);
  g->n_levels = sw_machine_profile(r->machine)->n_levels;
  g->devices = (double)sw_mesh_devices(s->mesh);
  g->whole_bytes = g->elem_bytes = sw_dtype_bytes(r->dtype);
  for (int d = 0; d < s->rank; d++) g->whole_bytes *= (double)s->dims[d];
  for (int l = 0; l < g->n_levels; l++) {
    for (int a = 0; a < s->n; a++) {
      g->inside[l][a] = l ? (double)sw_axis_ref_inside(r->machine, s->atom[a], l) : 1;
    }
  }
  find_alike(g);
  rs_floor_init(g);
  g->source = rs_graph_add(g, &r->source);
  g->target = rs_graph_add(g, &r->target);
  g->vertex[0].left_s = rs_graph_bound_s(g, g->source, g->target);
}
