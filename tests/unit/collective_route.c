/* Routes by the collectives of Shardy's dialect: of random pairs of shardings every part can be carried out by the
 * groups of its axes, and the last one leaves what is wanted. */
#include "random_sharding.h"

#include "io/mlir/opt/collective_route.h"

typedef struct world {
  const sw_mesh *mesh;
  int rank;
  const int64_t *dims;
} world;

typedef struct box {
  int64_t lo[SW_MAX_RANK], hi[SW_MAX_RANK];
} box;

static box box_of(const world *w, const sw_sharding *s, int64_t device) {
  box b = {0};
  for (int d = 0; d < w->rank; d++) sw_sharding_extent(w->mesh, s, d, w->dims[d], device, &b.lo[d], &b.hi[d]);
  return b;
}

static int64_t common(const world *w, const box *a, const box *b) {
  int64_t n = 1;
  for (int d = 0; d < w->rank; d++) {
    const int64_t lo = a->lo[d] > b->lo[d] ? a->lo[d] : b->lo[d], hi = a->hi[d] < b->hi[d] ? a->hi[d] : b->hi[d];
    n *= hi > lo ? hi - lo : 0;
  }
  return n;
}

/* What a device needs of the group over the part's axes: each element once. */
static void group_has_it(const world *w, const sw_route_part *p, const sw_sharding *before, int64_t device) {
  const box need = box_of(w, &p->after, device);
  const int64_t g = sw_axis_refs_size(p->axes.refs, p->axes.n_refs);
  int64_t found = 0;
  for (int64_t i = 0; i < g; i++) {
    const box has = box_of(w, before, sw_mesh_group_peer(w->mesh, device, p->axes.refs, p->axes.n_refs, i));
    found += common(w, &need, &has);
  }
  assert_int_equal(found, common(w, &need, &need));
}

static void has_it_itself(const world *w, const sw_route_part *p, const sw_sharding *before, int64_t device) {
  const box need = box_of(w, &p->after, device), has = box_of(w, before, device);
  assert_int_equal(common(w, &need, &has), common(w, &need, &need));
}

/* Whole blocks move, each of the same size. */
static void some_device_has_it(const world *w, const sw_route_part *p, const sw_sharding *before, int64_t device) {
  const box need = box_of(w, &p->after, device);
  bool any = false;
  for (int64_t i = 0; i < sw_mesh_devices(w->mesh) && !any; i++) {
    const box has = box_of(w, before, i);
    any = memcmp(&has, &need, sizeof has) == 0;
  }
  assert_true(any);
}

static void same_partial(const sw_sharding *a, const sw_sharding *b) {
  assert_int_equal(a->n_partial, b->n_partial);
  for (int i = 0; i < a->n_partial; i++)
    assert_true(sw_axis_ref_equal(sw_sharding_partial(a)[i], sw_sharding_partial(b)[i]));
}

/* `more` is partial over the part's axes beside those of `less`. */
static void partial_differs(const sw_mesh *m, const sw_route_part *p, const sw_sharding *less,
                            const sw_sharding *more) {
  sw_sharding want = sw_sharding_replicated(0), have = want;
  for (int i = 0; i < less->n_partial; i++)
    assert_true(sw_sharding_push_partial(&want, SW_REDUCE_SUM, sw_sharding_partial(less)[i]));
  for (int i = 0; i < p->axes.n_refs; i++) assert_true(sw_sharding_push_partial(&want, SW_REDUCE_SUM, p->axes.refs[i]));
  for (int i = 0; i < more->n_partial; i++)
    assert_true(sw_sharding_push_partial(&have, SW_REDUCE_SUM, sw_sharding_partial(more)[i]));
  sw_sharding_normalise(m, &want);
  sw_sharding_normalise(m, &have);
  same_partial(&want, &have);
}

static void check_part(const world *w, const sw_route_part *p, const sw_sharding *before) {
  const bool takes = p->op == SW_COLL_ALL_GATHER || p->op == SW_COLL_ALL_TO_ALL;
  const bool makes = p->op == SW_COLL_TO_PARTIAL || p->op == SW_COLL_SHARD_TO_PARTIAL;
  assert_true((p->op == SW_COLL_PERMUTE) == !p->axes.n_refs);
  if (sw_coll_combines(p->op)) partial_differs(w->mesh, p, &p->after, before);
  if (makes) partial_differs(w->mesh, p, before, &p->after);
  if (!makes && !sw_coll_combines(p->op)) same_partial(before, &p->after);
  for (int64_t i = 0; i < sw_mesh_devices(w->mesh); i++) {
    if (takes) group_has_it(w, p, before, i);
    if (p->op == SW_COLL_PERMUTE) some_device_has_it(w, p, before, i);
    if (p->op == SW_COLL_SHARD_TO_PARTIAL) group_has_it(w, p, before, i);
    if (!takes && !makes && p->op != SW_COLL_PERMUTE) has_it_itself(w, p, before, i);
  }
}

/* Every number of shards divides it. */
static int64_t even_size(rng *r, const sw_mesh *m) { return sw_mesh_devices(m) * (1 + rng_below(r, 2)); }

static void check_random_pair(rng *r) {
  sw_diag diag = {0};
  sw_route_parts parts = {0};
  const sw_mesh m = random_mesh(r, 4, 48);
  const int rank = (int)rng_below(r, 4);
  int64_t dims[SW_MAX_RANK];
  for (int d = 0; d < rank; d++) dims[d] = even_size(r, &m);
  sw_sharding from = random_sharding(r, &m, rank, rng_below(r, 2)), to = random_sharding(r, &m, rank, rng_below(r, 2));
  sw_sharding_join(&from); /* axes of one device stay */
  sw_sharding_join(&to);
  const sw_collective_ends ends = {&m, rank, dims, &from, &to, rng_below(r, 4) == 0};
  const world w = {&m, rank, dims};
  const sw_sharding *before = &from;
  assert_ok(sw_collective_route(&ends, &parts, &diag));
  bool there = false;
  for (size_t i = 0; i < parts.n; i++) {
    check_part(&w, &parts.at[i], before);
    assert_true(parts.at[i].there == there || (!there && parts.at[i].op == SW_COLL_PERMUTE));
    there = parts.at[i].there;
    before = &parts.at[i].after;
  }
  assert_true(sw_sharding_equal(before, &to));
  assert_true(there == ends.reordered);
  sw_array_free(&parts);
}

static void parts_can_be_carried_out(void **state) {
  (void)state;
  rng r = {check_seed(7)};
  for (int i = 0, n = check_scale(3000); i < n; i++) check_random_pair(&r);
}

/* One route as text, "all_slice all_to_all". */
static void check_route(const char *mesh_text, const char *from_text, const char *to_text, const char *want) {
  sw_diag diag = {0};
  sw_arena arena = {0};
  sw_mesh m;
  sw_sharding from, to;
  sw_route_parts parts = {0};
  sw_text t = {0};
  const int64_t dims[] = {64, 64, 64};
  const sw_span here = SW_NOWHERE;
  assert_ok(sw_mesh_parse(mesh_text, &arena, &m, &diag));
  assert_ok(sw_sharding_parse(&m, 3, from_text, strlen(from_text), here, &arena, &from, &diag));
  assert_ok(sw_sharding_parse(&m, 3, to_text, strlen(to_text), here, &arena, &to, &diag));
  assert_ok(sw_collective_route(&(sw_collective_ends){&m, 3, dims, &from, &to, false}, &parts, &diag));
  for (size_t i = 0; i < parts.n; i++) {
    sw_text_printf(&t, "%s%s ", i ? "; " : "", sw_coll_text(parts.at[i].op));
    sw_sharding_print(&m, &parts.at[i].after, &t);
  }
  assert_string_equal(sw_text_str(&t), want);
  sw_text_free(&t);
  sw_array_free(&parts);
  sw_arena_deinit(&arena);
}

static void routes_are_short(void **state) {
  (void)state;
  check_route("a=2,b=4", "[[a],[b],[]]", "[[a],[b],[]]", "");
  /* what is missing is cut where it moves on with what is there */
  check_route("a=2,b=4", "[[b],[],[]]", "[[],[],[b,a]]", "all_slice [[b,a],[],[]]; all_to_all [[],[],[b,a]]");
  /* halves of an axis of two dimensions */
  check_route("a=4,b=2", "[[a,b],[],[]]", "[[a:(1)2],[b],[a:(2)2]]",
              "all_to_all [[a],[b],[]]; all_to_all [[a:(1)2],[b],[a:(2)2]]");
  /* one all_gather of several dimensions */
  check_route("a=2,b=2,c=2", "[[a],[b,c],[]]", "[[],[b],[]]", "all_gather [[],[b],[]]");
  /* in place of an axis that was there */
  check_route("a=3,b=3", "[[],[a],[]]", "[[],[b],[]]", "permute [[],[b],[]]");
  /* reduced where it is cut */
  check_route("a=2,b=4", "[[a],[],[]] partial sum[b]", "[[a],[b],[]]", "reduce_scatter [[a],[b],[]]");
  check_route("a=2,b=4", "[[],[],[]] partial sum[b]", "[[a],[],[]]",
              "all_slice [[a],[],[]] partial sum[b]; all_reduce [[a],[],[]]");
  /* pieces are parts */
  check_route("a=2,b=4", "[[a,b],[],[]]", "[[a],[],[]] partial sum[b]", "shard_to_partial [[a],[],[]] partial sum[b]");
  check_route("a=2,b=4", "[[a],[],[]]", "[[a],[],[]] partial sum[b]", "to_partial [[a],[],[]] partial sum[b]");
  /* thirds and halves of an axis cannot stand beside each other */
  check_route("a=6", "[[a:(1)2],[],[]]", "[[],[a:(1)3],[]]", "all_gather [[],[],[]]; all_slice [[],[a:(1)3],[]]");
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(parts_can_be_carried_out), cmocka_unit_test(routes_are_short)};
  return cmocka_run_group_tests_name("collective_route", tests, NULL, NULL);
}
