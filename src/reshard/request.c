/* What is partial at the two ends decides the frame of a route:
 *
 *   partial sum[x,y] -> partial sum[y]     y stays as it is, x is reduced on the way
 *   partial sum[x]   -> partial max[y]     x is reduced, at the end y is made partial (to_partial, free)
 *   offsets, partial -> anything           all_reduce first: pieces of unequal size have no reduce_scatter
 */
#include "reshard/request.h"

#include <math.h>
#include <string.h>

#include "reshard/net.h"
#include "reshard/price.h"
#include "collective/scalar.h"

static bool is_plain(const sw_sharding *s) { return !s->offsets && !s->halos; }

static bool same_partial(const sw_sharding *a, const sw_sharding *b) {
  return a->n_partial == b->n_partial && (a->n_partial == 0 || a->partial_kind == b->partial_kind) &&
         memcmp(sw_sharding_partial(a), sw_sharding_partial(b), a->n_partial * sizeof a->refs[0]) == 0;
}

static sw_sharding without_partial(sw_sharding s) {
  s.n_partial = 0;
  return s;
}

static void make_all(rs_request *r) {
  r->n_made = r->to.n_partial;
  memcpy(r->made, sw_sharding_partial(&r->to), (size_t)r->n_made * sizeof r->made[0]);
  r->target = without_partial(r->to);
}

/* Behind a list of the target, if blocks nest. */
static bool leave_piece(rs_query *q, rs_lists *to, int dim, int atom) {
  const int64_t size = q->space.atom[atom].size;
  if (!rs_cuts_nest(q->space.dims[dim], to->shards[dim], size)) return false;
  q->target.at[atom] = (uint8_t)(dim << 4 | to->len[dim]++);
  to->shards[dim] *= size;
  return true;
}

/* Atoms to be made partial that cut the source stay there, behind the target's lists, and those to be reduced before
 * come by a reduce_scatter; returns which. */
static unsigned leave_pieces(rs_query *q, unsigned made) {
  rs_lists from, to;
  unsigned left = 0;
  rs_lists_of(&q->space, &q->source, &from);
  rs_lists_of(&q->space, &q->target, &to);
  for (int d = 0; d < q->space.rank; d++) {
    for (int i = 0; i < from.len[d]; i++) {
      const uint8_t atom = from.atom[d][i];
      if (made >> atom & 1u && leave_piece(q, &to, d, atom)) left |= 1u << atom;
    }
  }
  for (int atom = 0; atom < q->space.n; atom++) {
    for (int d = 0; made & from.partial & ~left & 1u << atom && d < q->space.rank; d++) {
      if (leave_piece(q, &to, d, atom)) left |= 1u << atom;
    }
  }
  return left;
}

/* Ends that atoms can write: partial atoms of both ends stay, the others of the target are made at the end. */
static void frame_plain(rs_request *r, bool may_keep) {
  rs_query *q = &r->query;
  q->source = rs_state_of(&q->space, &r->from);
  q->target = rs_state_of(&q->space, &r->to);
  bool same_kind = r->from.n_partial && r->to.n_partial && r->from.partial_kind == r->to.partial_kind;
  unsigned made = 0;
  for (int i = 0; i < q->space.n; i++) {
    if (q->target.at[i] != RS_PARTIAL) continue;
    if (may_keep && same_kind && q->source.at[i] == RS_PARTIAL) {
      r->keeps_partial = true;
      continue;
    }
    q->target.at[i] = RS_UNUSED;
    made |= 1u << i;
  }
  const unsigned left = r->in_pieces ? leave_pieces(q, made) : 0;
  r->n_pieces = rs_refs_of_set(&q->space, left, r->piece);
  r->n_made = rs_refs_of_set(&q->space, made & ~left, r->made);
  r->source = r->from;
  r->target = made ? rs_sharding_of(&q->space, &q->target, q->kind) : r->to;
}

/* At least one end is opaque: what is partial stays as a whole or is reduced as a whole. */
static void frame_opaque(rs_request *r, const sw_mesh *m) {
  rs_query *q = &r->query;
  const int rank = r->from.rank;
  bool keep = q->target_mesh ? r->from.n_partial + r->to.n_partial == 0 : same_partial(&r->from, &r->to);
  r->source = r->from;
  r->target = r->to;
  if (!keep) make_all(r);
  bool source_plain = is_plain(&r->from) && rs_space_init(&q->space, m, rank, q->space.dims, &r->from, &r->from, 0);
  if (source_plain) {
    q->source = rs_state_of(&q->space, &r->from);
    q->opaque_target = &r->target;
    q->target = q->source;
    for (int i = 0; !keep && i < q->space.n; i++) {
      if (q->target.at[i] == RS_PARTIAL) q->target.at[i] = RS_UNUSED;
    }
    return;
  }
  if (!keep && r->from.n_partial) {
    r->reduce_first = true;
    r->source = without_partial(r->from);
  }
  q->opaque_source = &r->source;
  sw_sharding none = sw_sharding_replicated(rank);
  sw_sharding plain_target = is_plain(&r->target) ? without_partial(r->target) : none;
  bool target_plain = is_plain(&r->target) && !keep && !q->target_mesh &&
                      rs_space_init(&q->space, m, rank, q->space.dims, &plain_target, &plain_target, 0);
  if (!target_plain) {
    q->space.n = 0;
    q->opaque_target = &r->target;
    plain_target = none;
  }
  q->source = rs_state_of(&q->space, &none);
  q->target = rs_state_of(&q->space, &plain_target);
}

bool rs_reduces_in_parts(const sw_sharding *s) {
  return s->n_partial == 0 || (s->partial_kind != SW_REDUCE_AVERAGE && s->partial_kind != SW_REDUCE_GENERIC);
}

/* What is partial at either end may be made so on the way, if it is of one kind. */
static void frame_states(rs_request *r) {
  rs_query *q = &r->query;
  frame_plain(r, true);
  r->makes_last = r->from.n_partial && r->to.n_partial && r->from.partial_kind != r->to.partial_kind;
  if (r->makes_last) return;
  if (r->to.n_partial) q->kind = (sw_reduction)r->to.partial_kind;
  q->target = rs_state_of(&q->space, &r->to);
  r->target = r->to;
}

/* The search looks at the request's own ends. */
static void point_at_ends(rs_request *r) {
  if (r->query.opaque_source) r->query.opaque_source = &r->source;
  if (r->query.opaque_target) r->query.opaque_target = &r->target;
}

static void reduce_state(const rs_space *s, rs_state *state) {
  for (int i = 0; i < s->n; i++) {
    if (state->at[i] == RS_PARTIAL) state->at[i] = RS_UNUSED;
  }
}

/* Ends with offsets or halos. What is partial may be reduced before all else, or be made partial after all else, though
 * pieces are of unequal size. */
static void frame_far(rs_request *r, bool reduces, bool makes) {
  rs_query *q = &r->query;
  frame_states(r);
  r->reduce_first = reduces;
  r->makes_last = r->makes_last || makes;
  if (reduces) {
    r->source = without_partial(r->from);
    reduce_state(&q->space, &q->source);
  }
  if (r->makes_last) {
    make_all(r);
    reduce_state(&q->space, &q->target);
  }
  q->opaque_source = is_plain(&r->from) ? NULL : &r->source;
  q->opaque_target = is_plain(&r->to) ? NULL : &r->target;
}

/* The atoms of a net with the lists of both ends, which holds all states or theirs; false where there is none. */
static bool find_net(rs_request *r, const sw_sharding ends[2]) {
  rs_query *q = &r->query;
  const rs_space none = q->space;
  r->in_net = rs_net_space(&q->space, q->machine, none.rank, none.dims, ends, 2);
  if (r->in_net) return true;
  const bool found = rs_space_init(&q->space, none.mesh, none.rank, none.dims, &ends[0], &ends[1], 4);
  if (found)
    rs_net_ends_space(&q->space, q->machine, ends);
  else
    q->space = none;
  return found;
}

static bool frame_far_net(rs_request *r) {
  const rs_query *q = &r->query;
  const sw_sharding ends[] = {r->from, r->to};
  if (q->no_exchange || q->max_temp_bytes > 0 || q->target_mesh || !rs_reduces_in_parts(&r->from)) return false;
  r->is_far = find_net(r, ends);
  if (r->is_far) frame_far(r, false, false);
  return r->is_far;
}

/* To another mesh, whose axes have no digits in common with this one's: over the states that a net has for the source,
 * all reduced. */
static bool frame_there(rs_request *r) {
  rs_query *q = &r->query;
  const sw_sharding ends[] = {r->from, r->from}, nothing = sw_sharding_replicated(r->from.rank);
  if (!q->target_mesh || !is_plain(&r->from) || q->no_exchange || q->max_temp_bytes > 0 ||
      !rs_reduces_in_parts(&r->from))
    return false;
  r->is_there = find_net(r, ends);
  if (!r->is_there) return false;
  r->source = r->from;
  make_all(r);
  q->source = rs_state_of(&q->space, &r->from);
  q->target = rs_state_of(&q->space, &nothing);
  q->opaque_target = &r->target;
  return true;
}

static bool all_primes(const rs_space *s) {
  for (int i = 0; i < s->n; i++) {
    for (int32_t p = 2; p * p <= s->atom[i].size; p++) {
      if (s->atom[i].size % p == 0) return false;
    }
  }
  return true;
}

/* By collectives and permutes alone every step of a small net may be tried, whose states hold all equal cuts. */
static bool frame_plain_net(rs_request *r) {
  enum { FEW_STATES = 300 };
  rs_query *q = &r->query;
  const rs_space plain = q->space;
  const sw_sharding ends[] = {r->from, r->to};
  if (r->from.n_partial || r->to.n_partial || q->max_temp_bytes > 0) return false;
  r->in_net = rs_net_space(&q->space, q->machine, plain.rank, plain.dims, ends, 2) && !q->space.joined &&
              all_primes(&q->space) && rs_net_count(q->space.n, plain.rank, false) <= FEW_STATES;
  if (r->in_net)
    frame_states(r);
  else
    q->space = plain;
  return r->in_net;
}

/* Few atoms: every state may be on the way. */
static bool frame_net(rs_request *r) {
  rs_query *q = &r->query;
  const rs_space plain = q->space;
  const sw_sharding ends[] = {r->from, r->to};
  if (q->no_exchange) return frame_plain_net(r);
  if (!rs_reduces_in_parts(&r->from)) return false;
  if (!rs_net_space(&q->space, q->machine, plain.rank, plain.dims, ends, 2)) {
    q->space = plain;
    return false;
  }
  r->in_net = true;
  frame_states(r);
  return true;
}

static sw_rc undefined(sw_reduction kind, sw_dtype t, sw_diag *d) {
  return SW_FAIL_INPUT(d, SW_NOWHERE, "the reduction '%s' is not defined on %s", sw_reduction_text(kind),
                       sw_dtype_text(t));
}

static sw_rc check_kinds(const rs_request *r, sw_diag *d) {
  sw_reduction to_kind = (sw_reduction)r->to.partial_kind, from_kind = (sw_reduction)r->from.partial_kind;
  if (r->n_averaged > 0 && !sw_reduction_applies(to_kind, r->query.dtype)) {
    return undefined(to_kind, r->query.dtype, d);
  }
  if (r->n_made > 0 && to_kind == SW_REDUCE_GENERIC) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a value cannot be made partial by '%s', which has no neutral element",
                         sw_reduction_text(to_kind));
  }
  if (r->n_made > 0 && !sw_reduction_applies(to_kind, r->query.dtype)) return undefined(to_kind, r->query.dtype, d);
  bool kept_whole = !r->query.target_mesh && same_partial(&r->from, &r->to);
  if (r->from.n_partial && from_kind == SW_REDUCE_GENERIC && !kept_whole) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a value partial by 'generic' has no reduction that a route could use");
  }
  if (r->from.n_partial && !sw_reduction_applies(from_kind, r->query.dtype)) {
    return undefined(from_kind, r->query.dtype, d);
  }
  return SW_OK;
}

/* Few enough for the search to hold all that there are: every atom unused, or in some place of some list. */
static bool few_states(const rs_space *s) {
  int n = 1;
  for (int i = 0; i < s->n && n <= 900; i++) n *= s->rank + i + 1;
  return n <= 900;
}

sw_rc rs_request_init(rs_request *r, const sw_reshard *wanted, sw_diag *d) {
  const sw_mesh *m = sw_machine_mesh(wanted->machine);
  const sw_reshard_options *o = &wanted->options;
  const int rank = wanted->rank;
  const int64_t *dims = wanted->dims;
  *r = (rs_request){.from = *wanted->from, .to = *wanted->to};
  bool foreign = o->to_mesh && !sw_sharding_from_other_mesh(m, o->to_mesh, wanted->to, &r->to);
  if (foreign) r->to = *wanted->to;
  if (r->to.partial_kind == SW_REDUCE_AVERAGE && (foreign || !same_partial(&r->from, &r->to))) {
    r->n_averaged = r->to.n_partial; /* copies are parts of an average already */
    r->to.n_partial = 0;
  }
  sw_sharding_normalise(m, &r->from);
  sw_sharding_normalise(foreign ? &o->to_mesh->mesh : m, &r->to);
  rs_query *q = &r->query;
  *q = (rs_query){.machine = wanted->machine,
                  .dtype = wanted->dtype,
                  .kind = (sw_reduction)r->from.partial_kind,
                  .max_temp_bytes = o->max_temp_bytes,
                  .no_exchange = o->no_exchange,
                  .target_mesh = foreign ? o->to_mesh : NULL,
                  .space = {.mesh = m, .rank = rank, .dims = dims}};
  bool stale = o->refresh_halos && r->from.halos;
  r->nothing_to_do = sw_sharding_equal(&r->from, &r->to) && !stale && !foreign;
  if (r->nothing_to_do) return check_kinds(r, d);
  const int most_split = q->no_exchange      ? 8
                         : r->from.n_partial ? 3
                                             : 4; /* fewer are found faster; an exchange does as well */
  bool plain = is_plain(&r->from) && is_plain(&r->to) && !foreign &&
               rs_space_init(&q->space, m, rank, dims, &r->from, &r->to, most_split);
  r->makes_last = true;
  if (plain && frame_net(r)) return check_kinds(r, d);
  if (plain) {
    frame_plain(r, true);
    r->has_ends = !q->no_exchange && rs_reduces_in_parts(&r->from);
    q->thorough = q->no_exchange && r->from.n_partial == 0 && few_states(&q->space);
  } else {
    q->space = (rs_space){.mesh = m, .rank = rank, .dims = dims};
    if (!frame_far_net(r) && !frame_there(r)) frame_opaque(r, m);
  }
  return check_kinds(r, d);
}

double rs_reduce_first_s(const rs_request *r) {
  if (!r->reduce_first) return 0;
  double bytes = (double)sw_sharding_local_bytes(&r->from, r->query.space.dims, r->query.dtype);
  return sw_machine_collective_s(r->query.machine, SW_COLL_ALL_REDUCE, sw_sharding_partial(&r->from), r->from.n_partial,
                                 bytes);
}

double rs_made_s(const rs_request *r) {
  if (r->n_made == 0 || !r->makes_last) return 0;
  double bytes = (double)sw_sharding_local_bytes(&r->target, r->query.space.dims, r->query.dtype);
  int n = r->query.target_mesh ? 0 : r->n_made; /* local: nobody is spoken to along them */
  return sw_machine_collective_s(r->query.machine, SW_COLL_TO_PARTIAL, r->made, n, bytes);
}

double rs_pieces_s(const rs_request *r) {
  if (r->n_pieces == 0 || !r->makes_last) return 0;
  const rs_query *q = &r->query;
  const sw_mesh *m = q->space.mesh;
  const double bytes = (double)sw_sharding_local_bytes(&r->to, q->space.dims, q->dtype);
  if (!q->target_mesh)
    return sw_machine_collective_s(q->machine, SW_COLL_SHARD_TO_PARTIAL, r->piece, r->n_pieces, bytes);
  sw_axis_ref all[SW_MAX_AXES]; /* of another mesh's axes no more is known */
  for (int a = 0; a < m->n_axes; a++) all[a] = sw_axis_whole(m, a);
  return sw_machine_collective_s(q->machine, SW_COLL_SHARD_TO_PARTIAL, all, m->n_axes, bytes);
}

/* All that comes before and after the path. */
static double around_s(const rs_request *r) { return rs_reduce_first_s(r) + rs_made_s(r) + rs_pieces_s(r); }

/* Over slow links it pays to reduce over the fast ones first, even what is to be partial again: where a reduction over
 * all partial axes costs less than one over those that go. */
static bool reducing_all_may_pay(const rs_request *r) {
  const rs_query *q = &r->query;
  sw_reduction kind = (sw_reduction)r->to.partial_kind;
  rs_lists from, target;
  if (!r->keeps_partial || kind == SW_REDUCE_AVERAGE || kind == SW_REDUCE_GENERIC) return false;
  rs_lists_of(&q->space, &q->source, &from);
  rs_lists_of(&q->space, &q->target, &target);
  unsigned goes = from.partial & ~target.partial;
  double bytes = rs_local_bytes(q, from.shards);
  return !goes || rs_collective_over_s(q, SW_COLL_REDUCE_SCATTER, from.partial, bytes) <
                      rs_collective_over_s(q, SW_COLL_REDUCE_SCATTER, goes, bytes);
}

/* Takes the path that likely moves find, if all in all it costs less than what is known. */
static sw_rc take_if_cheaper(const rs_request *other, rs_request *r, rs_path *out, sw_diag *d) {
  rs_request tried = *other;
  rs_path path;
  const double limit_s = (out->cost_s + around_s(r)) * (1 - 1e-9) - around_s(other);
  if (limit_s <= 0) return SW_OK;
  if (!isinf(limit_s)) tried.query.limit_s = limit_s;
  SW_TRY(rs_search(&tried.query, &path, d));
  if (isinf(path.cost_s)) return SW_OK;
  *r = *other;
  *out = path;
  return SW_OK;
}

/* Of two frames that were searched the cheaper, all in all. */
static void keep_cheaper(const rs_request *tried, const rs_path *path, rs_request *best, rs_path *out) {
  if (path->cost_s + around_s(tried) >= (out->cost_s + around_s(best)) * (1 - 1e-9)) return;
  *best = *tried;
  *out = *path;
}

static sw_rc search_some_net(const rs_request *r, rs_path *out, sw_diag *d) {
  return r->in_net ? rs_net_search(&r->query, out, d) : rs_net_search_ends(&r->query, out, d);
}

static sw_rc try_far(const rs_request *asked, bool reduces, bool makes, rs_request *best, rs_path *out, sw_diag *d) {
  rs_request tried = *asked;
  rs_path path;
  frame_far(&tried, reduces, makes);
  SW_TRY(search_some_net(&tried, &path, d));
  keep_cheaper(&tried, &path, best, out);
  return SW_OK;
}

/* The same frame with what is made last in pieces, where there is any such. */
static bool frame_pieces(const rs_request *asked, bool may_keep, rs_request *out) {
  if (asked->query.opaque_source || asked->query.opaque_target) return false;
  *out = *asked;
  out->in_pieces = true;
  frame_plain(out, may_keep);
  return out->n_pieces > 0 && out->makes_last;
}

/* The same where these are axes of another mesh: as what cuts a dimension last they make pieces, if blocks nest. */
static bool frame_pieces_there(const rs_request *asked, int dim, rs_request *out) {
  const sw_sharding *to = &asked->to;
  const sw_axis_ref *made = sw_sharding_partial(to);
  const int64_t size = sw_axis_refs_size(made, to->n_partial);
  if (!asked->query.target_mesh || asked->n_made == 0 || !is_plain(to) ||
      !rs_cuts_nest(asked->query.space.dims[dim], sw_sharding_shards(to, dim), size))
    return false;
  *out = *asked;
  for (int i = 0; i < asked->n_made; i++) {
    if (!sw_sharding_push(&out->target, dim, asked->made[i])) return false;
  }
  out->n_pieces = asked->n_made;
  memcpy(out->piece, asked->made, (size_t)asked->n_made * sizeof out->piece[0]);
  out->n_made = 0;
  point_at_ends(out);
  return true;
}

/* By likely moves, what is made last being whole or in pieces. */
static sw_rc search_moves(const rs_request *framed, bool may_keep, rs_request *r, rs_path *out, sw_diag *d) {
  rs_request pieces;
  SW_TRY(take_if_cheaper(framed, r, out, d));
  if (frame_pieces(framed, may_keep, &pieces)) SW_TRY(take_if_cheaper(&pieces, r, out, d));
  for (int i = 0; i < framed->query.space.rank; i++) {
    if (frame_pieces_there(framed, i, &pieces)) SW_TRY(take_if_cheaper(&pieces, r, out, d));
  }
  point_at_ends(r);
  return SW_OK;
}

/* The same of an end that no state is, where no net holds all. */
static sw_rc try_far_moves(const rs_request *asked, rs_request *best, rs_path *out, sw_diag *d) {
  rs_request tried = *asked;
  const rs_space *s = &asked->query.space;
  tried.reduce_first = false;
  tried.makes_last = true;
  tried.n_made = 0;
  tried.query.opaque_source = tried.query.opaque_target = NULL;
  tried.query.kind = (sw_reduction)asked->from.partial_kind;
  tried.query.space = (rs_space){.mesh = s->mesh, .rank = s->rank, .dims = s->dims};
  frame_opaque(&tried, s->mesh);
  return search_moves(&tried, true, best, out, d);
}

static sw_rc search_far(rs_request *r, rs_path *out, sw_diag *d) {
  const rs_request asked = *r;
  const bool may_reduce = asked.query.opaque_source && asked.from.n_partial;
  const bool may_make = asked.query.opaque_target && asked.to.n_partial;
  out->cost_s = HUGE_VAL;
  for (int reduces = 0; reduces <= may_reduce; reduces++) {
    for (int makes = 0; makes <= may_make; makes++) SW_TRY(try_far(&asked, reduces, makes, r, out, d));
  }
  if (!asked.in_net) SW_TRY(try_far_moves(&asked, r, out, d));
  point_at_ends(r);
  return SW_OK;
}

static sw_rc search_there(rs_request *r, rs_path *out, sw_diag *d) {
  const rs_request asked = *r;
  SW_TRY(search_some_net(r, out, d));
  for (int i = 0; i < asked.query.space.rank; i++) {
    rs_request pieces;
    rs_path path;
    if (!frame_pieces_there(&asked, i, &pieces)) continue;
    SW_TRY(search_some_net(&pieces, &path, d));
    keep_cheaper(&pieces, &path, r, out);
  }
  if (!asked.in_net) SW_TRY(try_far_moves(&asked, r, out, d));
  point_at_ends(r);
  return SW_OK;
}

/* Of two kinds of partial values: those of the target are made last. */
static sw_rc search_net(rs_request *r, rs_path *out, sw_diag *d) {
  rs_request other;
  rs_path path;
  SW_TRY(rs_net_search(&r->query, out, d));
  if (!r->makes_last || !frame_pieces(r, true, &other)) return SW_OK;
  SW_TRY(rs_net_search(&other.query, &path, d));
  keep_cheaper(&other, &path, r, out);
  return SW_OK;
}

sw_rc rs_request_search(rs_request *r, rs_path *out, sw_diag *d) {
  if (r->is_far) return search_far(r, out, d);
  if (r->is_there) return search_there(r, out, d);
  if (r->in_net && r->query.no_exchange) return rs_net_search_plain(&r->query, out, d);
  if (r->in_net) return search_net(r, out, d);
  const rs_request asked = *r;
  rs_request over = *r;
  *out = (rs_path){.cost_s = HUGE_VAL};
  if (r->has_ends) {
    const sw_sharding ends[] = {r->from, r->to};
    rs_net_ends_space(&over.query.space, over.query.machine, ends);
    frame_states(&over);
    SW_TRY(rs_net_search_ends(&over.query, out, d));
    if (!isinf(out->cost_s)) *r = over;
  }
  if (!isinf(out->cost_s) && !rs_net_has_partial(&r->query)) return SW_OK;
  SW_TRY(search_moves(&asked, true, r, out, d));
  if (!reducing_all_may_pay(&asked)) return SW_OK;
  over = asked;
  over.keeps_partial = false;
  frame_plain(&over, false);
  return search_moves(&over, false, r, out, d);
}

sw_rc rs_request_s(rs_request *r, double *cost_s, sw_diag *d) {
  rs_path path;
  SW_TRY(rs_request_search(r, &path, d));
  *cost_s = path.cost_s + around_s(r);
  return SW_OK;
}
