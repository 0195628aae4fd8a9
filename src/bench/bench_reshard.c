/* shardwright bench reshard. Shardings of a bf16 tensor of rank 4 are drawn from a fixed seed, so that runs compare.
 * Times are the thread's processor time, so that a busy machine tells nearly the same.
 */
#include "bench/bench_reshard.h"

#include <math.h>
#include <stdlib.h>

#include "shardwright/clock.h"
#include "shardwright/reshard.h"
#include "base/lists.h"

enum { RANK = 4, N_SHARDINGS = 300, N_PAIRS = 1000, N_TABLE = 30 };

static const double kRouteLimit_s = 3e-3, kCachedLimit_s = 100e-9;

static const char *const kMeshes[] = {"x=2,y=4", "x=2,y=2,z=2", "x=3,y=4,z=2", "x=8,y=2,z=4"};
enum { N_MESHES = sizeof kMeshes / sizeof kMeshes[0] };

typedef struct bench {
  const sw_bench_reshard_options *o;
  const sw_bench_reshard_visitor *v;
  const char *mesh_text;
  sw_mesh mesh;
  const sw_machine *machine;
  const int64_t *dims;
  sw_sharding at[N_SHARDINGS];
  sw_rng rng;
  int beyond;
  /* While wins are counted: */
  sw_route any, plain;
  double ratio[N_PAIRS];
} bench;

enum { WHOLE, PARTIAL, PARTS }; /* what is drawn */

/* All axes; of PARTS every second one in two: 8 as 2 and 4. */
static int draw_refs(bench *b, int what, sw_axis_ref *refs) {
  int n = 0;
  for (int a = 0; a < b->mesh.n_axes; a++) {
    sw_axis_ref all = sw_axis_whole(&b->mesh, a);
    const int32_t size = all.size, part = size % 2 ? 3 : 2;
    if (what == PARTS && size > part && sw_rng_below(&b->rng, 2)) {
      refs[n++] = (sw_axis_ref){a, 1, part};
      all = (sw_axis_ref){a, part, size / part};
    }
    refs[n++] = all;
  }
  return n;
}

/* Axes in random order, each unused, on some dimension, or (one in five) partial. */
static void draw_shardings(bench *b, int what) {
  for (int i = 0; i < N_SHARDINGS; i++) {
    sw_axis_ref refs[2 * SW_MAX_AXES];
    const int n = draw_refs(b, what, refs);
    b->at[i] = sw_sharding_replicated(RANK);
    for (int a = n - 1; a > 0; a--) {
      const int j = (int)sw_rng_below(&b->rng, a + 1);
      const sw_axis_ref t = refs[a];
      refs[a] = refs[j];
      refs[j] = t;
    }
    for (int a = 0; a < n; a++) {
      int64_t where = sw_rng_below(&b->rng, what == PARTIAL ? 8 : 5);
      if (where < RANK) (void)sw_sharding_push(&b->at[i], (int)where, refs[a]);
      if (where > RANK) (void)sw_sharding_push_partial(&b->at[i], SW_REDUCE_SUM, refs[a]);
    }
    sw_sharding_normalise(&b->mesh, &b->at[i]);
  }
}

static sw_reshard draw_pair(bench *b) {
  const sw_sharding *from = &b->at[sw_rng_below(&b->rng, N_SHARDINGS)],
                    *to = &b->at[sw_rng_below(&b->rng, N_SHARDINGS)];
  return (sw_reshard){.machine = b->machine, .from = from, .to = to, .rank = RANK, .dims = b->dims, .dtype = SW_BF16};
}

static sw_rc check_cancelled(const bench *b, sw_diag *d) {
  return sw_cancelled(b->o->cancel) ? SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted") : SW_OK;
}

static sw_rc give_row(bench *b, sw_bench_reshard_row row, sw_diag *d) {
  row.mesh = b->mesh_text;
  b->beyond += row.limit_s > 0 && row.seconds > row.limit_s;
  SW_TRY(check_cancelled(b, d));
  return b->v->row(b->v->user, &row, d);
}

/* Each pair's best time of several rounds: their mean, median, 99th percentile and the largest. */
static sw_rc time_routes(bench *b, const char *what, sw_diag *d) {
  static const int kRounds = 3;
  double best[N_PAIRS], mean = 0, unused = 0;
  for (int i = 0; i < N_PAIRS; i++) {
    const sw_reshard wanted = draw_pair(b);
    best[i] = HUGE_VAL;
    for (int k = 0; k < kRounds; k++) {
      double start = sw_thread_s();
      unused += sw_route_cost_s(&wanted);
      best[i] = fmin(best[i], sw_thread_s() - start);
    }
    mean += best[i] / N_PAIRS;
  }
  if (unused < 0) return SW_BUG(d, "a price is negative");
  qsort(best, N_PAIRS, sizeof best[0], sw_compare_f64);
  const double median = best[N_PAIRS / 2], p99 = best[N_PAIRS - N_PAIRS / 100], worst = best[N_PAIRS - 1];
  return give_row(b, (sw_bench_reshard_row){NULL, what, mean, median, p99, worst, kRouteLimit_s}, d);
}

/* As planning asks: many pairs of one shape, looked up when they come again. */
static sw_rc time_prices(bench *b, const char *what, sw_diag *d) {
  const sw_rng same_pairs = b->rng; /* in every round and every run */
  double mean = HUGE_VAL, began = sw_now_s();
  do {
    b->rng = same_pairs;
    sw_route_prices *prices;
    double cost_s;
    const double start = sw_thread_s();
    int32_t shape = 0;
    SW_TRY(sw_route_prices_make(b->machine, &prices, d));
    sw_rc rc = sw_route_prices_shape(prices, false, RANK, b->dims, SW_BF16, &shape, d);
    for (int i = 0; i < N_PAIRS && !rc; i++) {
      const sw_reshard pair = draw_pair(b);
      rc = sw_route_prices_get(prices, shape, pair.from, pair.to, HUGE_VAL, &cost_s, d);
    }
    sw_route_prices_destroy(prices);
    SW_TRY(rc);
    mean = fmin(mean, (sw_thread_s() - start) / N_PAIRS);
  } while (sw_now_s() - began < b->o->min_s);
  return give_row(b, (sw_bench_reshard_row){.what = what, .seconds = mean, .limit_s = kRouteLimit_s}, d);
}

static sw_rc time_cached(bench *b, sw_arena *arena, sw_diag *d) {
  sw_route_cache *cache;
  sw_reshard *pairs;
  const sw_route *route;
  SW_ARENA_NEW(pairs, arena, N_PAIRS, d);
  SW_TRY(sw_route_cache_make(arena, &cache, d));
  for (int i = 0; i < N_PAIRS; i++) {
    pairs[i] = draw_pair(b);
    SW_TRY(sw_route_cached(cache, &pairs[i], &route, d));
  }
  double best = HUGE_VAL, began = sw_now_s();
  do {
    double start = sw_thread_s();
    for (int i = 0; i < N_PAIRS; i++) SW_TRY(sw_route_cached(cache, &pairs[i], &route, d));
    best = fmin(best, sw_thread_s() - start);
  } while (sw_now_s() - began < b->o->min_s);
  return give_row(
      b, (sw_bench_reshard_row){.what = "cached route", .seconds = best / N_PAIRS, .limit_s = kCachedLimit_s}, d);
}

static sw_rc time_table(bench *b, const char *what, sw_diag *d) {
  double best = HUGE_VAL, began = sw_now_s();
  do {
    sw_arena arena = {0};
    const double *cost;
    const double start = sw_thread_s();
    sw_rc rc = sw_route_table(b->machine, b->at, N_TABLE, RANK, b->dims, SW_BF16, &arena, &cost, d);
    best = fmin(best, sw_thread_s() - start);
    sw_arena_deinit(&arena);
    SW_TRY(rc);
  } while (sw_now_s() - began < b->o->min_s);
  return give_row(
      b, (sw_bench_reshard_row){.what = what, .seconds = best, .limit_s = N_TABLE * N_TABLE * kRouteLimit_s}, d);
}

static double ratio_of(const sw_route *r) {
  if (r->bound_max_bytes == 0) return r->max_bytes == 0 ? 1 : HUGE_VAL;
  return r->max_bytes / r->bound_max_bytes;
}

static sw_rc count_wins(bench *b, sw_diag *d) {
  sw_bench_reshard_wins w = {.mesh = b->mesh_text, .pairs = N_PAIRS};
  double *ratio = b->ratio;
  for (int i = 0; i < N_PAIRS; i++) {
    sw_arena arena = {0};
    sw_reshard wanted = draw_pair(b);
    sw_rc rc = sw_route_find(&wanted, &arena, &b->any, d);
    wanted.options.no_exchange = true;
    if (!rc) rc = sw_route_find(&wanted, &arena, &b->plain, d);
    sw_arena_deinit(&arena);
    SW_TRY(rc);
    ratio[i] = ratio_of(&b->plain);
    if (b->any.cost_s >= b->plain.cost_s * (1 - 1e-9)) continue;
    w.wins++;
    w.mean_saving += 1 - b->any.cost_s / b->plain.cost_s;
  }
  if (w.wins) w.mean_saving /= w.wins;
  qsort(ratio, N_PAIRS, sizeof ratio[0], sw_compare_f64);
  w.median_ratio = ratio[N_PAIRS / 2];
  w.worst_ratio = ratio[N_PAIRS - 1];
  SW_TRY(check_cancelled(b, d));
  return b->v->wins(b->v->user, &w, d);
}

static sw_rc bench_mesh(bench *b, sw_arena *arena, sw_diag *d) {
  static const int64_t kEven[RANK] = {384, 768, 192, 384}, kUneven[RANK] = {383, 770, 190, 381};
  sw_machine *machine;
  sw_rng_seed(&b->rng, 4);
  SW_TRY(sw_mesh_parse(b->mesh_text, arena, &b->mesh, d));
  SW_TRY(sw_machine_build(arena, b->o->profile, &b->mesh, &machine, d));
  b->machine = machine;
  b->dims = kEven;
  draw_shardings(b, WHOLE);
  SW_TRY(time_routes(b, "route", d));
  SW_TRY(time_prices(b, "price", d));
  SW_TRY(time_cached(b, arena, d));
  SW_TRY(time_table(b, "table of 30 x 30", d));
  SW_TRY(count_wins(b, d));
  b->dims = kUneven;
  SW_TRY(time_routes(b, "route, uneven", d));
  SW_TRY(time_prices(b, "price, uneven", d));
  SW_TRY(time_table(b, "table, uneven", d));
  b->dims = kEven;
  draw_shardings(b, PARTIAL);
  SW_TRY(time_routes(b, "route, partial", d));
  SW_TRY(time_prices(b, "price, partial", d));
  SW_TRY(time_table(b, "table, partial", d));
  b->dims = kUneven;
  SW_TRY(time_routes(b, "route, both", d));
  SW_TRY(time_prices(b, "price, both", d));
  b->dims = kEven;
  draw_shardings(b, PARTS);
  return time_routes(b, "route, parts of axes", d);
}

sw_rc sw_bench_reshard(const sw_bench_reshard_options *o, const sw_bench_reshard_visitor *v, int *beyond, sw_diag *d) {
  bench *b;
  sw_rc rc = SW_OK;
  SW_MEM_NEW(b, 1, d);
  b->o = o;
  b->v = v;
  for (int i = 0; i < N_MESHES && !rc; i++) {
    sw_arena arena = {0};
    b->mesh_text = kMeshes[i];
    rc = bench_mesh(b, &arena, d);
    sw_arena_deinit(&arena);
  }
  *beyond = b->beyond;
  sw_mem_free(b);
  return rc;
}
