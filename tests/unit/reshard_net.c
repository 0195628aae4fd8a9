/* Cheapest paths through all states: on every shipped profile, the routes found one by one cost what the table of all
 * pairs says, which is closed over every third sharding; so detours never pay. */
#include <math.h>

#include "../reshard_machines.h"

#include "reshard/closure.h"
#include "reshard/price.h"
#include "reshard/request.h"
#include "reshard/uneven.h"

static sw_diag diag;

enum { N = 8 };

/* Extents that every mesh above cuts evenly, of a small and of a large tensor; then such that few cut evenly. */
enum { N_EVEN = 2, N_DIMS = 6 };
static const int64_t kDims[N_DIMS][3] = {{192, 192, 384},  {3072, 6144, 1536}, {191, 190, 389},
                                         {3071, 24, 1537}, {5, 1, 3},          {10, 4099, 1}};

static bool all_even(const int64_t *dims) { return dims >= kDims[0] && dims < kDims[N_EVEN]; }

/* The rank is 2 or 3. */
static const int64_t *draw_dims(rng *r, int *rank) {
  *rank = 2 + (int)rng_below(r, 2);
  return kDims[rng_below(r, N_DIMS)];
}

static void whole_axes(rng *r, const sw_mesh *m, int rank, sw_sharding *out) {
  int64_t order[SW_MAX_AXES] = {0};
  *out = sw_sharding_replicated(rank);
  for (int a = 0; a < m->n_axes; a++) {
    int64_t j = rng_below(r, a + 1);
    order[a] = order[j];
    order[j] = a;
  }
  for (int a = 0; a < m->n_axes; a++) {
    int64_t where = rng_below(r, rank + 2);
    sw_axis_ref ref = sw_axis_whole(m, (int)order[a]);
    if (where < rank) assert_true(sw_sharding_push(out, (int)where, ref));
    if (where == rank && rng_below(r, 2)) assert_true(sw_sharding_push_partial(out, SW_REDUCE_SUM, ref));
  }
}

/* With parts of axes where one net holds all that there are. */
static void any_axes(rng *r, const sw_machine *machine, int rank, sw_sharding *out) {
  const sw_mesh *m = sw_machine_mesh(machine);
  rs_space space;
  const sw_sharding none = sw_sharding_replicated(rank);
  int64_t primes = 1, devices = 1;
  if (rs_net_space(&space, machine, rank, kDims[0], &none, 1)) {
    for (int i = 0; i < space.n; i++) primes *= space.atom[i].size > 3 || space.joined ? 0 : space.atom[i].size;
  }
  for (int a = 0; a < m->n_axes; a++) devices *= m->axis[a].size;
  if (primes == devices)
    *out = random_sharding(r, m, rank, rng_below(r, 2) == 0);
  else
    whole_axes(r, m, rank, out);
}

/* Of a tensor. */
static void print_of(const sw_mesh *m, const sw_sharding *a, const sw_sharding *b, const int64_t *dims, sw_text *t) {
  pair_print(m, a, b, t);
  for (int d = 0; d < a->rank; d++) sw_text_printf(t, "%s%lld", d ? "x" : " of ", (long long)dims[d]);
}

static void fail_pair(const char *where, const sw_mesh *m, const sw_sharding *a, const sw_sharding *b,
                      const int64_t *dims, double table, double route) {
  sw_text t = {0};
  print_of(m, a, b, dims, &t);
  fail_msg("%s: %s costs %.12g s in the table, %.12g s as a route", where, sw_text_str(&t), table, route);
}

/* The same value with its dimensions in the opposite order. */
static sw_sharding reversed(const sw_sharding *s) {
  sw_sharding out = sw_sharding_replicated(s->rank);
  for (int d = s->rank - 1; d >= 0; d--) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, d, &n);
    for (int i = 0; i < n; i++) assert_true(sw_sharding_push(&out, s->rank - 1 - d, refs[i]));
  }
  for (int i = 0; i < s->n_partial; i++)
    assert_true(sw_sharding_push_partial(&out, (sw_reduction)s->partial_kind, sw_sharding_partial(s)[i]));
  return out;
}

/* Prices are asked of a shape and of another, with which it shares what is found. */
static void compare_prices(const sw_machine *machine, int rank, const int64_t *dims, const sw_sharding s[N],
                           const char *where) {
  sw_route_prices *prices;
  int64_t other[3];
  int32_t shape[2];
  for (int d = 0; d < rank; d++) other[d] = dims[rank - 1 - d];
  assert_ok(sw_route_prices_make(machine, &prices, &diag));
  assert_ok(sw_route_prices_shape(prices, rank, dims, SW_BF16, &shape[0], &diag));
  assert_ok(sw_route_prices_shape(prices, rank, other, SW_I16, &shape[1], &diag));
  for (int k = 0; k < 2 * N * N; k++) {
    const int o = k / N % 2;
    const sw_sharding *a = &s[k / N / 2], *b = &s[k % N], from = o ? reversed(a) : *a, to = o ? reversed(b) : *b;
    const double route = sw_route_cost_s(&(sw_reshard){machine, &from, &to, rank, o ? other : dims, SW_BF16, {0}});
    double asked;
    assert_ok(sw_route_prices_get(prices, shape[o], &from, &to, &asked, &diag));
    if (!(fabs(asked - route) <= 1e-8 * route))
      fail_pair(where, sw_machine_mesh(machine), &from, &to, o ? other : dims, asked, route);
  }
  sw_route_prices_destroy(prices);
}

static void compare_with_table(const sw_machine *machine, rng *r, const char *where) {
  int rank;
  const int64_t *dims = draw_dims(r, &rank);
  const sw_mesh *m = sw_machine_mesh(machine);
  sw_arena arena = {0};
  sw_sharding s[N];
  const double *cost;
  for (int i = 0; i < N; i++) any_axes(r, machine, rank, &s[i]);
  assert_ok(sw_route_table(machine, s, N, rank, dims, SW_BF16, &arena, &cost, &diag));
  for (int i = 0; i < N; i++) {
    for (int j = 0; j < N; j++) {
      const double table = cost[i * N + j];
      double route = sw_route_cost_s(&(sw_reshard){machine, &s[i], &s[j], rank, dims, SW_BF16, {0}});
      if (!(fabs(table - route) <= 1e-8 * route)) fail_pair(where, m, &s[i], &s[j], dims, table, route);
      for (int via = 0; via < N; via++) { /* whole values gain nothing by parts: below */
        if (s[via].n_partial && !s[i].n_partial && !s[j].n_partial) continue;
        assert_true(table <= (cost[i * N + via] + cost[via * N + j]) * (1 + 1e-12));
      }
    }
  }
  compare_prices(machine, rank, dims, s, where);
  sw_arena_deinit(&arena);
}

static void routes_cost_what_the_table_says(void **state) {
  (void)state;
  on_all_machines(compare_with_table, check_seed(61));
}

/* The route itself, not only its price: what its steps cost is what it costs. */
static void compare_with_steps(const sw_machine *machine, rng *r, const char *where) {
  int rank;
  const int64_t *dims = draw_dims(r, &rank);
  const sw_mesh *m = sw_machine_mesh(machine);
  for (int i = 0; i < N; i++) {
    sw_arena arena = {0};
    sw_sharding from, to;
    sw_route route;
    double sum = 0;
    whole_axes(r, m, rank, &from);
    whole_axes(r, m, rank, &to);
    const sw_reshard wanted = {machine, &from, &to, rank, dims, SW_BF16, {0}};
    assert_ok(sw_route_find(&wanted, &arena, &route, &diag));
    for (int k = 0; k < route.n_steps; k++) {
      const sw_collective *c = &route.step[k].coll;
      sum += route.step[k].cost_s;
      bool exchange = c->op == SW_COLL_EXCHANGE || c->op == SW_COLL_PERMUTE;
      double price = exchange ? sw_machine_exchange_s(machine, c->src, c->dst, 2) : route.step[k].cost_s;
      /* never less than even blocks of as many elements */
      const bool right = all_even(dims) ? fabs(price - route.step[k].cost_s) <= 1e-9 * price
                                        : price <= route.step[k].cost_s * (1 + 1e-9);
      if (!right) fail_pair(where, m, &from, &to, dims, price, route.step[k].cost_s);
    }
    if (fabs(sum - sw_route_cost_s(&wanted)) > 1e-9 * sum)
      fail_pair(where, m, &from, &to, dims, sw_route_cost_s(&wanted), sum);
    sw_arena_deinit(&arena);
  }
}

static void steps_cost_what_the_machine_says(void **state) {
  (void)state;
  on_all_machines(compare_with_steps, check_seed(62));
}

/* Is the step straight there dearer than the path? Several cuts are one only between uneven blocks. */
static bool is_longer(const rs_net *n, int from, int to, double scale, double path_s) {
  sw_curve curve[SW_MAX_CURVES];
  rs_step step;
  if (!rs_net_step(n, from, to, &step)) return n->state[from].partial != n->state[to].partial;
  const int k = rs_step_curves(n, &step, curve);
  return sw_curves_s(curve, k, scale, sqrt(scale)) > path_s * (1 + 1e-9);
}

static void fail_bound(const char *where, const rs_net *n, int from, int to, const int64_t *dims, const char *what,
                       double path_s, double bound_s) {
  const rs_space *s = &n->q->space;
  const rs_state old = rs_net_state_of(n, from), new = rs_net_state_of(n, to);
  const sw_sharding a = rs_sharding_of(s, &old, SW_REDUCE_SUM), b = rs_sharding_of(s, &new, SW_REDUCE_SUM);
  sw_text t = {0};
  print_of(s->mesh, &a, &b, dims, &t);
  fail_msg("%s: %s: %s of %.10g s does not cost the %.10g s at least", where, sw_text_str(&t), what, path_s, bound_s);
}

/* No path costs less than its bound, which the search goes by. */
static void check_bounds(const sw_machine *machine, rng *r, const char *where) {
  int rank;
  const int64_t *dims = draw_dims(r, &rank);
  rs_query q = {.machine = machine, .dtype = SW_BF16, .kind = SW_REDUCE_SUM};
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_closure c;
  if (rng_below(r, 3) || !rs_net_space(&q.space, machine, rank, dims, &none, 1)) return;
  assert_ok(rs_closure_init(&c, &q, rng_below(r, 2) == 0, &diag));
  const int n = c.net->n_states;
  double scale = sw_dtype_bytes(q.dtype) / c.net->whole_bytes;
  for (int d = 0; d < rank; d++) scale *= (double)dims[d];
  for (int round = 0; round < 40; round++) {
    const int one = (int)rng_below(r, n);
    const double *row;
    assert_ok(rs_closure_row(&c, one, &row, &diag));
    for (int i = 0; i < n; i++) {
      const double cost = row[i];
      const rs_net_bound bound = rs_net_bound_of(c.net, one, i, scale);
      if (bound.any_s > cost * (1 + 1e-9)) fail_bound(where, c.net, one, i, dims, "a path", cost, bound.any_s);
      if (i == one || !is_longer(c.net, one, i, scale, cost)) continue;
      if (bound.longer_s > cost * (1 + 1e-9))
        fail_bound(where, c.net, one, i, dims, "a path of two steps", cost, bound.longer_s);
    }
  }
  rs_closure_deinit(&c);
}

static void bounds_hold(void **state) {
  (void)state;
  on_all_machines(check_bounds, check_seed(63));
}

/* Between whole values no path over partial ones costs less than those over whole ones, so that these alone are looked
 * at. (Between prices without a machine some does.) */
static void compare_whole_paths(const sw_machine *machine, rng *r, const char *where) {
  static const int64_t kMost[] = {8, 64, 4000};
  const int rank = 2 + (int)rng_below(r, 2), most = (int)rng_below(r, 3);
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_query q = {.machine = machine, .dtype = SW_BF16, .kind = SW_REDUCE_SUM};
  int64_t dims[3];
  rs_closure c[2];
  for (int d = 0; d < rank; d++) dims[d] = 1 + rng_below(r, kMost[rng_below(r, most + 1)]);
  if (sw_machine_profile(machine)->memory_bytes_per_s >= 1e13) return; /* no machine that there is */
  if (rng_below(r, 3) || !rs_net_space(&q.space, machine, rank, dims, &none, 1)) return;
  for (int partial = 0; partial < 2; partial++) assert_ok(rs_closure_init(&c[partial], &q, partial, &diag));
  for (int round = 0; round < 12; round++) {
    const int from = (int)rng_below(r, c[0].net->n_states);
    const rs_state source = rs_net_state_of(c[0].net, from);
    const double *whole, *any;
    assert_ok(rs_closure_row(&c[0], from, &whole, &diag));
    assert_ok(rs_closure_row(&c[1], rs_net_find(c[1].net, &source), &any, &diag));
    for (int to = 0; to < c[0].net->n_states; to++) {
      const rs_state target = rs_net_state_of(c[0].net, to);
      const double over_partial_s = any[rs_net_find(c[1].net, &target)];
      if (over_partial_s < whole[to] * (1 - 1e-9))
        fail_bound(where, c[0].net, from, to, dims, "a path over partial values", over_partial_s, whole[to]);
    }
  }
  for (int partial = 0; partial < 2; partial++) rs_closure_deinit(&c[partial]);
}

static void whole_values_gain_nothing_by_parts(void **state) {
  (void)state;
  on_all_machines(compare_whole_paths, check_seed(74));
}

/* Paths that are followed to one state after the other cost what paths to all cost. */
static void compare_paths(const sw_machine *machine, rng *r, const char *where) {
  int rank;
  const int64_t *dims = draw_dims(r, &rank);
  rs_query q = {.machine = machine, .dtype = SW_F32, .kind = SW_REDUCE_SUM};
  const sw_sharding none = sw_sharding_replicated(rank);
  const bool partial = rng_below(r, 2) == 0;
  rs_closure c, all;
  if (rng_below(r, 3) || !rs_net_space(&q.space, machine, rank, dims, &none, 1)) return;
  assert_ok(rs_closure_init(&c, &q, partial, &diag));
  assert_ok(rs_closure_init(&all, &q, partial, &diag));
  for (int k = 0; k < 3; k++) {
    const int from = (int)rng_below(r, c.net->n_states);
    const double *row;
    assert_ok(rs_closure_row(&all, from, &row, &diag));
    for (int i = 0; i < 20; i++) {
      const int to = (int)rng_below(r, c.net->n_states);
      double one;
      assert_ok(rs_closure_s(&c, from, to, &one, &diag));
      if (fabs(one - row[to]) > 1e-12 * row[to]) fail_msg("%s: %g s to one, %g s to all", where, one, row[to]);
    }
  }
  rs_closure_deinit(&c);
  rs_closure_deinit(&all);
}

static void paths_to_one_are_paths_to_all(void **state) {
  (void)state;
  on_all_machines(compare_paths, check_seed(65));
}

/* --- ends with offsets or halos ----------------------------------------------------------------------------------- */

/* A random sharding's offsets and halos, beside the state of a net with its lists; false where there are none. */
static bool random_end(rng *r, sw_arena *arena, const rs_uneven *u, sw_sharding *s, rs_far_end *e, rs_side *out) {
  const rs_space *space = &u->q->space;
  whole_axes(r, space->mesh, space->rank, s);
  if (rng_below(r, 3)) random_lists(r, arena, space->dims, s);
  sw_sharding_normalise(space->mesh, s);
  const rs_state state = rs_state_of(space, s);
  *out = (rs_side){.state = rs_net_find(u->net, &state)};
  if (!s->offsets && !s->halos) return false;
  assert_ok(rs_far_end_init(e, u, out->state, s, NULL, &diag));
  out->opaque = s;
  out->piece = e->piece;
  out->is_odd = &e->is_odd;
  return true;
}

/* What is counted by the places of devices is what the machine counts; a step is no cheaper than between the same lists
 * without offsets and halos. */
static void compare_exchanges(const sw_machine *machine, rng *r, const char *where) {
  int rank;
  const int64_t *dims = draw_dims(r, &rank);
  const sw_mesh *m = sw_machine_mesh(machine);
  rs_query q = {.machine = machine, .dtype = SW_BF16, .kind = SW_REDUCE_SUM};
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_atlas *atlas;
  rs_uneven u;
  if (rng_below(r, 3) || !rs_net_space(&q.space, machine, rank, dims, &none, 1)) return;
  assert_ok(rs_atlas_of(&q, true, &atlas, &diag));
  rs_uneven_init(&u, rs_atlas_net(atlas), &q);
  for (int i = 0; i < 4 * N; i++) {
    sw_arena arena = {0};
    sw_sharding s[2];
    rs_far_end end[2];
    rs_side side[2];
    bool far[2];
    for (int k = 0; k < 2; k++) far[k] = random_end(r, &arena, &u, &s[k], &end[k], &side[k]);
    sw_tiling src, dst;
    sw_tiling_of(&s[0], rank, dims, &src);
    sw_tiling_of(&s[1], rank, dims, &dst);
    if (s[0].n_partial == 0 && s[1].n_partial == 0 && !sw_sharding_equal(&s[0], &s[1]) && (far[0] || far[1])) {
      const double counted = rs_uneven_exchange_s(&u, &side[0], &side[1], HUGE_VAL);
      const double price = sw_machine_exchange_s(machine, &src, &dst, 2);
      if (fabs(counted - price) > 1e-9 * price) fail_pair(where, m, &s[0], &s[1], dims, counted, price);
    }
    for (int k = 0; k < 2; k++) {
      if (far[k]) rs_far_end_deinit(&end[k]);
    }
    sw_arena_deinit(&arena);
  }
}

static void exchanges_cost_what_the_machine_says(void **state) {
  (void)state;
  on_all_machines(compare_exchanges, check_seed(67));
}

/* --- nets of two ends -------------------------------------------------------------------------------------------- */

/* The price of a step, which is no less than its bound says; HUGE_VAL where there is none. */
static double bounded_step_s(const rs_net *n, int from, int to, const rs_sized *sized) {
  sw_curve curve[SW_MAX_CURVES];
  rs_step step;
  if (from == to || !rs_net_step(n, from, to, &step)) return HUGE_VAL;
  const double price_s = sw_curves_s(curve, rs_step_curves(n, &step, curve), sized->scale, sized->root);
  const double least_s = rs_net_step_least_s(n, from, to, sized->scale, HUGE_VAL);
  if (least_s > price_s * (1 + 1e-9)) fail_msg("a step of %g s is said to cost %g s or more", price_s, least_s);
  assert_true(rs_net_step_least_s(n, from, to, sized->scale, 0) <= least_s * (1 + 1e-9));
  return price_s;
}

/* Every step of the net of ends, relaxed until nothing comes nearer. */
static double brute_force_s(const rs_query *q, bool partial) {
  static double cost[RS_NET_STATES];
  rs_net_ends ends;
  rs_atlas *a;
  assert_true(rs_net_ends_of(q, &ends));
  assert_ok(rs_atlas_make(q, &ends, partial, &a, &diag));
  const rs_net *n = rs_atlas_net(a);
  rs_sized sized;
  rs_sized_init(&sized, a, q);
  for (int i = 0; i < n->n_states; i++) cost[i] = HUGE_VAL;
  cost[rs_net_find(n, &q->source)] = 0;
  for (bool any = true; any;) {
    any = false;
    for (int i = 0; i < n->n_states; i++) {
      for (int k = 0; k < n->n_states && !isinf(cost[i]); k++) {
        const double sum = cost[i] + bounded_step_s(n, i, k, &sized);
        if (sum >= cost[k]) continue;
        cost[k] = sum;
        any = true;
      }
    }
  }
  const double out = cost[rs_net_find(n, &q->target)];
  rs_atlas_give_back(a);
  return out;
}

/* Ends that name parts of axes, more than one net of all states can hold: the search finds the cheapest path of their
 * own net, and the route is no dearer. */
static void nets_of_ends_are_searched(void **state) {
  (void)state;
  static const char *const kProfiles[] = {"h100x64", "tpu-v5p-4x4x4"};
  sw_arena arena = {0};
  rng r = {check_seed(66)};
  sw_mesh m;
  int searched = 0;
  assert_ok(sw_mesh_parse("x=8,y=2,z=4", &arena, &m, &diag));
  for (int i = 0; i < check_scale(24); i++) {
    const sw_profile *p;
    sw_machine *machine;
    rs_request request;
    rs_path path;
    assert_ok(sw_profile_read(kProfiles[i % 2], &arena, &p, &diag));
    assert_ok(sw_machine_build(&arena, p, &m, &machine, &diag));
    const int rank = 1 + (int)rng_below(&r, 2);
    const bool partial = rng_below(&r, 2) == 0;
    const sw_sharding from = random_sharding(&r, &m, rank, partial), to = random_sharding(&r, &m, rank, false);
    const sw_reshard wanted = {machine, &from, &to, rank, kDims[i % N_EVEN], SW_BF16, {0}};
    assert_ok(rs_request_init(&request, &wanted, &diag));
    if (request.nothing_to_do || request.in_net || request.query.space.n > RS_NET_ATOMS) continue;
    const sw_sharding ends[] = {request.from, request.to};
    rs_net_ends_space(&request.query.space, machine, ends);
    request.query.source = rs_state_of(&request.query.space, &ends[0]);
    request.query.target = rs_state_of(&request.query.space, &ends[1]);
    assert_ok(rs_net_search_ends(&request.query, &path, &diag));
    const double least = brute_force_s(&request.query, from.n_partial > 0);
    searched++;
    if (fabs(path.cost_s - least) > 1e-8 * least) fail_msg("found %g s, there is a path of %g s", path.cost_s, least);
    assert_true(sw_route_cost_s(&wanted) <= least * (1 + 1e-8));
  }
  print_message("%d nets of ends\n", searched);
  assert_true(searched > 0);
  sw_arena_deinit(&arena);
}

/* What the cheapest route between two random states of a net of whole axes costs there, over what it costs where states
 * that spread are on the way, too. */
static double saved_by_spreading(const sw_machine *machine, rng *r, int rank, const int64_t *dims) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const sw_sharding none = sw_sharding_replicated(rank);
  rs_query q = {.machine = machine, .dtype = SW_F32, .kind = SW_REDUCE_SUM};
  rs_atlas *whole;
  rs_path path;
  assert_true(rs_space_init_all(&q.space, m, rank, dims, &none, 1, NULL));
  assert_ok(rs_atlas_of(&q, false, &whole, &diag));
  const rs_net *n = rs_atlas_net(whole);
  q.source = rs_net_state_of(n, (int)rng_below(r, n->n_states));
  q.target = rs_net_state_of(n, (int)rng_below(r, n->n_states));
  const sw_sharding from = rs_sharding_of(&q.space, &q.source, q.kind),
                    to = rs_sharding_of(&q.space, &q.target, q.kind);
  if (sw_sharding_equal(&from, &to)) return 1;
  assert_ok(rs_net_search(&q, &path, &diag));
  const double cost_s = sw_route_cost_s(&(sw_reshard){machine, &from, &to, rank, dims, SW_F32, {0}});
  if (cost_s > path.cost_s * (1 + 1e-8)) fail_pair("spread", m, &from, &to, dims, path.cost_s, cost_s);
  return path.cost_s / cost_s;
}

/* No route of whole axes is dearer for states that spread, and some are cheaper: most where an axis lies across the
 * border of nodes. Uneven blocks have no such states. */
static void spreading_pays(void **state) {
  (void)state;
  static const struct {
    const char *mesh;
    int rank;
    int64_t dims[4];
    int percent; /* of routes that are cheaper, at least */
  } kRows[] = {
      {"x=8,y=2,z=4", 2, {4096, 4096}, 4},        {"x=8,y=2,z=4", 3, {256, 256, 256}, 4},
      {"x=8,y=2,z=4", 3, {256, 255, 256}, 0},     {"x=4,y=4,z=4", 3, {512, 1024, 256}, 20},
      {"x=4,y=4,z=4", 4, {64, 64, 256, 128}, 10}, {"x=4,y=4,z=4", 3, {512, 1023, 256}, 0},
      {"x=2,y=16,z=2", 3, {512, 1024, 256}, 20},
  };
  sw_arena arena = {0};
  rng r = {check_seed(69)};
  const sw_profile *p;
  assert_ok(sw_profile_read("h100x64", &arena, &p, &diag));
  for (size_t k = 0; k < sizeof kRows / sizeof kRows[0]; k++) {
    const int each = check_scale(150);
    int paid = 0;
    sw_mesh m;
    sw_machine *machine;
    assert_ok(sw_mesh_parse(kRows[k].mesh, &arena, &m, &diag));
    assert_ok(sw_machine_build(&arena, p, &m, &machine, &diag));
    for (int i = 0; i < each; i++) paid += saved_by_spreading(machine, &r, kRows[k].rank, kRows[k].dims) > 1 + 1e-8;
    print_message("%s, rank %d: %d of %d routes are cheaper over states that spread\n", kRows[k].mesh, kRows[k].rank,
                  paid, each);
    assert_true(kRows[k].percent ? paid * 100 >= each * kRows[k].percent : paid == 0);
  }
  sw_arena_deinit(&arena);
}

/* Does a third sharding make the way shorter? */
static bool detour_pays(const sw_reshard *wanted, const sw_sharding s[3]) {
  sw_reshard leg[3] = {*wanted, *wanted, *wanted};
  double cost_s[3];
  for (int i = 0; i < 3; i++) { /* to the third, from there on, and straight */
    leg[i].from = &s[i == 1 ? 1 : 0];
    leg[i].to = &s[i == 0 ? 1 : 2];
    cost_s[i] = sw_route_cost_s(&leg[i]);
  }
  return cost_s[2] > (cost_s[0] + cost_s[1]) * (1 + 1e-7);
}

static bool names_parts(const sw_mesh *m, sw_sharding s) {
  bool parts = false;
  sw_sharding_normalise(m, &s);
  for (int i = 0; i < s.n_refs; i++) parts = parts || s.refs[i].size != m->axis[s.refs[i].axis].size;
  return parts;
}

/* Extents that every sharding over 64 devices cuts evenly, of 2^16 to 2^34 elements in all where there are several. */
static void random_even_dims(rng *r, int rank, int64_t *dims) {
  double n;
  do {
    n = 1;
    for (int d = 0; d < rank; d++) n *= (double)(dims[d] = INT64_C(64) << rng_below(r, 11));
  } while (rank > 1 && (n < 65536 || n > 1.7e10));
}

/* Axes in random order, each in some dimension or unused. */
static sw_sharding random_whole(rng *r, const sw_mesh *m, int rank) {
  sw_sharding s = sw_sharding_replicated(rank);
  unsigned left = (1u << m->n_axes) - 1;
  while (left) {
    const int a = (int)rng_below(r, m->n_axes), d = (int)rng_below(r, rank + 1);
    if (!(left >> a & 1u)) continue;
    left &= ~(1u << a);
    if (d < rank) assert_true(sw_sharding_push(&s, d, sw_axis_whole(m, a)));
  }
  return s;
}

/* The head of the first axis, of two or four, and the other axes, in random order in one dimension. */
static sw_sharding random_spread(rng *r, const sw_mesh *m, int rank) {
  const int one = (int)rng_below(r, rank);
  sw_sharding s = random_whole(r, m, 1), out = sw_sharding_replicated(rank);
  while (s.n_refs < m->n_axes) s = random_whole(r, m, 1);
  for (int i = 0; i < s.n_refs; i++) {
    if (s.refs[i].axis == 0) s.refs[i].size = 2 << rng_below(r, 2);
    assert_true(sw_sharding_push(&out, one, s.refs[i]));
  }
  return out;
}

/* Between whole axes few routes miss a way over the states that spread a value between nodes. */
static void few_detours_that_spread_pay(void **state) {
  (void)state;
  sw_arena arena = {0};
  rng r = {check_seed(70)};
  sw_mesh m;
  const sw_profile *p;
  sw_machine *machine;
  int paid = 0;
  const int n = check_scale(6000);
  assert_ok(sw_mesh_parse("x=8,y=2,z=4", &arena, &m, &diag));
  assert_ok(sw_profile_read("h100x64", &arena, &p, &diag));
  assert_ok(sw_machine_build(&arena, p, &m, &machine, &diag));
  for (int i = 0; i < n; i++) {
    const int rank = 2 + i % 2;
    int64_t dims[SW_MAX_RANK];
    random_even_dims(&r, rank, dims);
    const sw_sharding s[3] = {random_whole(&r, &m, rank), random_spread(&r, &m, rank), random_whole(&r, &m, rank)};
    paid += detour_pays(&(sw_reshard){machine, &s[0], &s[2], rank, dims, SW_F32, {0}}, s);
  }
  print_message("%d of %d detours over a state that spreads pay\n", paid, n);
  assert_true(paid * 600 <= n + 600);
  sw_arena_deinit(&arena);
}

typedef struct detours {
  int tried, paid;
} detours;

static detours try_detours(rng *r, sw_arena *arena, const char *mesh, int n, bool whole_ends) {
  detours out = {0};
  sw_mesh m;
  const sw_profile *p;
  sw_machine *machine;
  assert_ok(sw_mesh_parse(mesh, arena, &m, &diag));
  assert_ok(sw_profile_read("h100x64", arena, &p, &diag));
  assert_ok(sw_machine_build(arena, p, &m, &machine, &diag));
  while (out.tried < n) {
    const int rank = 1 + (int)rng_below(r, 3);
    int64_t dims[SW_MAX_RANK];
    sw_sharding s[3];
    random_even_dims(r, rank, dims);
    for (int k = 0; k < 3; k++) s[k] = random_sharding(r, &m, rank, false);
    const bool whole = !names_parts(&m, s[0]) && !names_parts(&m, s[2]);
    if (whole != whole_ends || (whole && !names_parts(&m, s[1]))) continue;
    out.tried++;
    out.paid += detour_pays(&(sw_reshard){machine, &s[0], &s[2], rank, dims, SW_F32, {0}}, s);
  }
  print_message("%s, %s: %d of %d detours over a third sharding pay\n", mesh,
                whole_ends ? "between whole axes over parts" : "where the ends name parts", out.paid, out.tried);
  return out;
}

/* Where parts of axes are named that no one net holds: five or six prime factors. */
static void few_detours_over_parts_pay(void **state) {
  (void)state;
  static const char *const kMesh[] = {"x=8,y=2,z=4", "x=16,y=4", "x=4,y=4,z=4", "x=2,y=16,z=2", "x=4,y=8", "x=8,y=8"};
  sw_arena arena = {0};
  rng r = {check_seed(68)};
  detours all[2] = {0};
  for (size_t i = 0; i < sizeof kMesh / sizeof kMesh[0]; i++) {
    for (int whole = 0; whole < 2; whole++) {
      const detours of = try_detours(&r, &arena, kMesh[i], check_scale(500), whole);
      all[whole].tried += of.tried;
      all[whole].paid += of.paid;
    }
  }
  for (int whole = 0; whole < 2; whole++) assert_true(all[whole].paid * 300 <= all[whole].tried + 300);
  sw_arena_deinit(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(routes_cost_what_the_table_says),
      cmocka_unit_test(steps_cost_what_the_machine_says),
      cmocka_unit_test(bounds_hold),
      cmocka_unit_test(whole_values_gain_nothing_by_parts),
      cmocka_unit_test(paths_to_one_are_paths_to_all),
      cmocka_unit_test(exchanges_cost_what_the_machine_says),
      cmocka_unit_test(nets_of_ends_are_searched),
      cmocka_unit_test(spreading_pays),
      cmocka_unit_test(few_detours_that_spread_pay),
      cmocka_unit_test(few_detours_over_parts_pay),
  };
  return cmocka_run_group_tests_name("reshard_net", tests, NULL, NULL);
}
