/* The states that a search may go over.
 *
 *   around [[x],[y]]   gathered [[],[y]], moved [[],[y,x]], cut further [[x,z],[y]], [[x],[y,z]]
 *
 * One collective leads from the source to those around it, and to the target from those around that; exchanges, or one
 * collective again, join the two. The same around both ends with nothing partial. Where the axes that the ends name are
 * few, all states of them are added; always those with all that moves on one dimension, and nothing cut.
 */
#include "reshard/route_graph.h"

enum { FEW_STATES = 300, MAX_SUBSETS = 64 };

typedef struct candidates {
  rs_graph *g;
  int n_dims;
  int dim[SW_MAX_RANK]; /* that either end cuts, and the longest other */
  uint32_t atoms;
  int n_blocks;
  uint32_t block[RS_MAX_ATOMS]; /* atoms of what the ends name of the axes */
} candidates;

static void choose_dims(candidates *c) {
  const rs_request *r = c->g->r;
  int longest = -1;
  for (int d = 0; d < r->space.rank; d++) {
    if (r->source.list[d] | r->target.list[d])
      c->dim[c->n_dims++] = d;
    else if (longest < 0 || r->space.dims[d] > r->space.dims[longest])
      longest = d;
  }
  if (longest >= 0) c->dim[c->n_dims++] = longest;
}

static void add_candidate(candidates *c, const rs_state *s) {
  rs_state state = *s;
  if (!state.partial) state.kind = 0;
  (void)rs_graph_add(c->g, &state);
}

static uint32_t used_by(const rs_state *s, int rank) {
  uint32_t set = s->partial;
  for (int d = 0; d < rank; d++) set |= rs_list_set(s->list[d]);
  return set;
}

/* --- around a state ---------------------------------------------------------------------------------------------- */

/* What was dropped made partial, as the target has it. */
static void add_made_partial(candidates *c, const rs_state *shorter, uint32_t set) {
  const rs_state *target = &c->g->r->target;
  if (set & ~target->partial || (shorter->partial && shorter->kind != target->kind)) return;
  rs_state made = *shorter;
  made.partial |= set;
  made.kind = target->kind;
  add_candidate(c, &made);
}

/* The end of a dimension's list dropped, made partial, or moved behind another's. */
static void add_moved(candidates *c, const rs_state *s, int d) {
  const rs_list list = s->list[d];
  for (int keep = rs_list_len(list) - 1; keep >= 0; keep--) {
    rs_state shorter = *s;
    shorter.list[d] = rs_list_begin(list, keep);
    add_candidate(c, &shorter);
    add_made_partial(c, &shorter, rs_list_set(list >> 4 * keep));
    for (int i = 0; i < c->n_dims; i++) {
      const int e = c->dim[i];
      if (e == d) continue;
      rs_state moved = shorter;
      moved.list[e] = rs_list_join(moved.list[e], list >> 4 * keep);
      add_candidate(c, &moved);
    }
  }
}

/* Of atoms that lie alike on the network some may stand for all: the first ones. */
static bool takes_first(const candidates *c, uint32_t set, uint32_t some) {
  for (uint32_t rest = some; rest; rest &= rest - 1) {
    if (c->g->equivalent[__builtin_ctz(rest)] & set & ~some) return false;
  }
  return true;
}

/* Some of a set's atoms behind a dimension's list; with d < 0 behind none. */
static void add_longer(candidates *c, const rs_state *s, uint32_t set, int d) {
  const bool partial = s->partial & set;
  const bool whole = partial && !rs_reduces_in_parts(c->g->r->kind[s->kind]);
  int left = MAX_SUBSETS;
  for (uint32_t some = set; some && left > 0; some = (some - 1) & set) {
    if (!partial && !takes_first(c, set, some)) continue;
    left--;
    rs_state longer = *s;
    longer.partial &= ~some;
    if (d >= 0) longer.list[d] = rs_list_join(longer.list[d], rs_list_of_set(some));
    add_candidate(c, &longer);
    if (whole) return;
  }
}

/* Reduced on buffers as small as slices by all unused atoms make them. */
static void add_spread(candidates *c, const rs_state *s, uint32_t unused, int d) {
  rs_state spread = *s;
  spread.list[d] = rs_list_join(spread.list[d], rs_list_of_set(unused));
  add_longer(c, &spread, s->partial, -1);
  for (int i = 0; i < c->n_dims; i++) add_longer(c, &spread, s->partial, c->dim[i]);
}

static void add_around(candidates *c, const rs_state *s) {
  const uint32_t unused = c->atoms & ~used_by(s, c->g->r->space.rank);
  add_candidate(c, s);
  add_longer(c, s, s->partial, -1);
  for (int i = 0; i < c->n_dims; i++) {
    add_moved(c, s, c->dim[i]);
    add_longer(c, s, unused, c->dim[i]);
    add_longer(c, s, s->partial, c->dim[i]);
    if (s->partial && unused) add_spread(c, s, unused, c->dim[i]);
  }
}

/* All that moves behind what stays, on one dimension. */
static void add_on_one_dim(candidates *c, const rs_state *a, const rs_state *b) {
  rs_state stays = {0};
  uint32_t moves = 0;
  for (int i = 0; i < c->n_dims; i++) {
    const int d = c->dim[i], common = rs_list_common(a->list[d], b->list[d]);
    stays.list[d] = rs_list_begin(a->list[d], common);
    moves |= rs_list_set(a->list[d] >> 4 * common) | rs_list_set(b->list[d] >> 4 * common);
  }
  for (int i = 0; i < c->n_dims; i++) {
    rs_state all = stays;
    all.list[c->dim[i]] = rs_list_join(all.list[c->dim[i]], rs_list_of_set(moves));
    add_candidate(c, &all);
  }
}

/* --- all states -------------------------------------------------------------------------------------------------- */

/* What the ends name of the axes, cut at the borders of units. */
static void choose_blocks(candidates *c) {
  const rs_graph *g = c->g;
  const rs_space *s = &g->r->space;
  for (int a = 0; a < s->n; a++) {
    bool border = !(s->joined >> a & 1u);
    for (int l = 1; l < g->n_levels && !border; l++) border = (g->inside[l][a] > 1) != (g->inside[l][a - 1] > 1);
    if (border) c->block[c->n_blocks++] = 0;
    c->block[c->n_blocks - 1] |= 1u << a;
  }
}

/* n!/(n-k)! * C(k+dims-1, k) ways to place k of n blocks. */
static int64_t count_states(const candidates *c) {
  int64_t ways = 1, sum = 0;
  for (int k = 0; k <= c->n_blocks && sum <= FEW_STATES; k++) {
    sum += ways;
    ways = ways * (c->n_blocks - k) * (c->n_dims + k) / (k + 1);
  }
  return sum;
}

static void add_placed(candidates *c, const rs_state *s, uint32_t used) {
  const rs_request *r = c->g->r;
  const uint32_t set[2] = {r->source.partial, r->target.partial};
  add_candidate(c, s);
  for (int end = 0; end < 2; end++) {
    const uint32_t spare = set[end] & c->atoms & ~used;
    rs_state state = *s;
    if (end == 1) state.kind = r->target.kind;
    state.partial = spare;
    if (spare) add_candidate(c, &state);
  }
}

static void add_all(candidates *c, const rs_state *s, int i, uint32_t used) {
  if (i == c->n_dims) {
    add_placed(c, s, used);
    return;
  }
  add_all(c, s, i + 1, used);
  for (int b = 0; b < c->n_blocks; b++) {
    if (used & c->block[b]) continue;
    rs_state longer = *s;
    rs_list *list = &longer.list[c->dim[i]];
    *list = rs_list_join(*list, rs_list_of_set(c->block[b]));
    add_all(c, &longer, i, used | c->block[b]);
  }
}

/* --- all of it --------------------------------------------------------------------------------------------------- */

static rs_state plain(const rs_state *s, uint32_t atoms) {
  rs_state out = *s;
  out.form = RS_PLAIN;
  out.partial &= atoms;
  return out;
}

static rs_state whole(const rs_state *s) {
  rs_state out = *s;
  out.partial = 0;
  out.kind = 0;
  return out;
}

static candidates candidates_of(rs_graph *g) {
  candidates c = {.g = g, .atoms = (1u << g->r->space.n) - 1};
  choose_dims(&c);
  choose_blocks(&c);
  return c;
}

void rs_graph_add_near(rs_graph *g) {
  candidates c = candidates_of(g);
  const rs_state end[2] = {plain(&g->r->source, c.atoms), plain(&g->r->target, c.atoms)};
  for (int i = 0; i < 2; i++) {
    const rs_state all = whole(&end[i]);
    add_around(&c, &end[i]);
    if (end[i].partial) add_around(&c, &all);
  }
  const rs_state a = whole(&end[0]), b = whole(&end[1]);
  add_on_one_dim(&c, &a, &b);
  add_candidate(&c, &(rs_state){0});
}

void rs_graph_add_all(rs_graph *g) {
  candidates c = candidates_of(g);
  if (count_states(&c) <= FEW_STATES) add_all(&c, &(rs_state){0}, 0, 0);
}

void rs_graph_add_neighbours(rs_graph *g) {
  candidates c = candidates_of(g);
  for (int v = 0, last = g->n; v < last; v++) {
    const rs_state at = g->vertex[v].state;
    if (at.form == RS_PLAIN && g->vertex[v].source_s + g->vertex[v].target_s < g->upper_s) add_around(&c, &at);
  }
}
