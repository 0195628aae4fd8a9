/* Routes beside those that others publish: never more bytes for the busiest device.
 *
 * Rows are chains of shardings: what each published step leaves behind, restated as data. Bytes of a chain are counted
 * as for our own routes: one exchange per step, or what its reduction takes; what is made partial moves nothing.
 * Sources: openxla/shardy, tests of reshard_to_collectives and of insert_explicit_reshards with unreduced axes
 * (Apache-2.0); MLIR's shard dialect, single-step patterns; the recipes of the dialect's resharding examples;
 * openxla/xla 15207.
 */
#include "../reshard_case.h"

static sw_profile profile;

typedef struct chain_row {
  const char *mesh, *dims;
  const char *chain[6]; /* from, after each step, ..., to */
} chain_row;

static const chain_row kChains[] = {
    /* Shardy */
    {"x=2,y=2", "16,8", {"[[y],[x]]", "[[y],[]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[x,y,z],[]]", "[[x],[]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[y,z],[x]]", "[[y],[x]]"}},
    {"x=2,y=8", "16,8", {"[[y],[x]]", "[[y:(1)4],[x]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[],[]]", "[[x],[y,z]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x:(1)2],[y]]", "[[x],[y,z:(1)2]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[x],[y],[]]", "[[],[y],[x]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[x],[],[y,z]]", "[[x],[y,z],[]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[],[y,x],[]]", "[[x],[y],[]]", "[[x],[],[y]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[x],[y,z],[]]", "[[x,z],[y],[]]", "[[x,z],[],[y]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[y],[x],[]]", "[[y],[],[x]]", "[[],[],[x,y]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[y],[x,z],[]]", "[[x],[y,z],[]]", "[[],[y,z],[x]]", "[[],[],[x,y,z]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[],[y,z],[]]", "[[x],[y,z],[]]", "[[x,z],[y],[]]", "[[x,z],[],[y]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[x],[z,y],[]]", "[[x],[z],[y]]", "[[x,z:(2)2],[z:(1)2],[y]]", "[[x,z:(2)2],[],[y]]"}},
    {"x=2,y=2,z=4,w=2",
     "16,8,8",
     {"[[x],[z,w,y],[]]", "[[x],[z,w],[y]]", "[[x,z:(2)2,w],[z:(1)2],[y]]", "[[x,z:(2)2,w],[],[y]]"}},
    {"x=2,y=2,z=2,w=4", "16,8", {"[[],[w:(1)2]]", "[[],[w]]", "[[w],[]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[],[x],[]]", "[[],[x,y,z],[]]", "[[],[],[x,y,z]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[z],[x],[]]", "[[z],[x,y],[]]", "[[z],[],[x,y]]", "[[],[],[x,y,z]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[y],[x],[]]", "[[y,z],[x],[]]", "[[y,z],[],[x]]", "[[],[],[x,y,z]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[],[x,y],[]]", "[[],[x,y,z],[]]", "[[],[x],[y,z]]", "[[x],[],[y,z]]"}},
    {"x=2,y=2,z=2,w=4", "16,8", {"[[y,z,w:(1)2],[]]", "[[y,z,w],[x]]", "[[y,z],[x,w]]", "[[y],[x,w]]"}},
    {"x=2,y=2,z=2,w=2", "16,8,8", {"[[z],[x],[]]", "[[z,w],[x,y],[]]", "[[z,w],[],[x,y]]", "[[],[],[x,y,z,w]]"}},
    {"x=2,y=2,z=2,w=2",
     "2,8,8",
     {"[[z],[x],[]]", "[[z],[x,y],[w]]", "[[y],[z,w],[x]]", "[[],[z,w],[x,y]]", "[[],[],[x,y,z,w]]"}},
    {"x=2,y=2,z=2,w=2", "16,8,8", {"[[z],[x],[]]", "[[z],[x,y],[]]", "[[w],[x,y],[]]", "[[w],[],[x,y]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[],[x]]", "[[y,z],[x]]", "[[x,y],[z]]"}},
    {"x=2,y=2,z=2", "16,8,8", {"[[],[x],[z]]", "[[],[x],[z,y]]", "[[],[z],[x,y]]", "[[],[],[x,y,z]]"}},
    {"x=2,y=2,z=2", "4,8", {"[[],[x,z]]", "[[y],[x,z]]", "[[x],[y,z]]", "[[x,y,z],[]]"}},
    {"x=2,y=2,z=2,w=2", "4,8", {"[[],[z,w,y]]", "[[x],[z,w,y]]", "[[x],[w,y,z]]", "[[x,y,z],[w]]", "[[x,y,z],[]]"}},
    {"x=2,y=2,z=2", "16,4", {"[[],[x]]", "[[y,z],[x]]", "[[x,y],[z]]", "[[x,y,z],[]]"}},
    {"x=2,y=2,z=2",
     "16,4,8",
     {"[[],[x,y],[]]", "[[],[x,y],[z]]", "[[],[x,z],[y]]", "[[],[x],[y,z]]", "[[x],[],[y,z]]"}},
    {"x=2,y=2", "4,8", {"[[],[x]]", "[[y],[x]]", "[[x],[y]]", "[[x,y],[]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[z],[y]]", "[[z],[x]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[z],[y]]", "[[z],[y,x:(1)2]]", "[[z],[x]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[z],[x]]", "[[z],[y,x:(1)2]]", "[[z],[y]]"}},
    {"x=2,y=2,z=2,w=2", "16,8", {"[[x,y,z],[]]", "[[w,y,z],[]]"}},
    {"x=2,y=2", "16,8", {"[[x],[]]", "[[x],[y]]", "[[],[y]]"}},
    {"x=4,y=2", "16,8", {"[[x],[]]", "[[x],[y]]", "[[],[y]]"}},
    {"x=4,y=2", "16,8", {"[[y],[]]", "[[y],[x]]", "[[],[x]]"}},
    {"x=2,y=2,z=2,w=4", "16,8", {"[[y,z,w],[]]", "[[y,z,w],[x]]", "[[y,z],[x,w]]", "[[y],[x,w]]"}},
    {"x=2,y=2", "16,8", {"[[x],[y]]", "[[y],[x]]"}},
    {"x=4,y=2", "16,8", {"[[x],[y]]", "[[y,x:(2)2],[x:(1)2]]", "[[y],[x]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[x],[y]]", "[[x,z],[y]]", "[[x,y],[z]]"}},
    {"x=2,y=2", "8,8,8", {"[[x],[y],[]]", "[[y],[x],[]]", "[[],[x],[y]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[z],[y]]", "[[z,x:(2)2],[y,x:(1)2]]", "[[y,z],[x]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[z,y],[x]]", "[[x,z:(1)2],[y,z:(2)2]]", "[[x,z],[y]]", "[[x,z],[]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x,y],[z]]", "[[y,x],[z]]"}},
    {"x=6", "24,8", {"[[x],[]]", "[[],[]]"}},
    {"x=2,y=2,z=2,w=2,u=2,v=2", "8,8,8,8", {"[[x],[y,z],[],[]]", "[[x],[y,z],[w,u],[v]]", "[[],[],[w,u],[v]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[x,y],[]]", "[[z,y],[]]", "[[z],[]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x,z],[]]", "[[y,x:(2)2,z],[]]", "[[y],[]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[x,y],[z]]", "[[z,y],[x]]", "[[z],[]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[y,x,z],[]]", "[[z,x,y],[]]", "[[z],[]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[y,x,z],[]]", "[[z,x,y],[]]", "[[z,x],[y]]", "[[z],[y]]"}},
    {"x=2,y=2,z=2", "16,8", {"[[z,y,x],[]]", "[[z,x,y],[]]", "[[z,x],[y]]", "[[],[y]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x,y],[z]]", "[[y,z],[x]]"}},
    {"x=2,y=2", "16,8,8", {"[[y],[],[]]", "[[y,x],[],[]]", "[[x,y],[],[]]"}},
    {"x=2,y=2", "16,8,8", {"[[],[y,x],[]]", "[[],[x,y],[]]", "[[x,y],[],[]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[z],[y,x],[]]", "[[x],[y,z],[]]", "[[x,y,z],[],[]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[],[x,z,y],[]]", "[[],[x,y,z],[]]", "[[],[x,y],[z]]", "[[x,y],[],[z]]"}},
    {"x=4,y=2,z=4", "16,8,8", {"[[],[y,z,x],[]]", "[[],[x,y,z],[]]", "[[],[x,y],[z]]", "[[x,y],[],[z]]"}},
    {"x=2,y=2,z=4,w=2",
     "16,8,8",
     {"[[x],[y,z,w],[]]", "[[x],[z,w,y],[]]", "[[x],[z,w],[y]]", "[[x,z:(2)2,w],[z:(1)2],[y]]",
      "[[x,z:(2)2,w],[],[y]]"}},
    {"x=2,y=2,z=2,w=4",
     "16,8",
     {"[[y,w:(1)2,z,w:(2)2],[]]", "[[y,w:(1)2,z,w:(2)2],[x]]", "[[y,z,w],[x]]", "[[y,z],[x,w]]", "[[y],[x,w]]"}},
    {"x=2,y=2,z=2,w=4", "16,8", {"[[y,z,w:(2)2],[]]", "[[y,z,w:(2)2],[x,w:(1)2]]", "[[y,z],[x,w]]", "[[y],[x,w]]"}},
    {"x=2,y=2,z=2,w=16",
     "16,8",
     {"[[y,w:(4)2,z,w:(1)2],[]]", "[[y,w:(4)2,z,w:(1)2],[x,w:(2)2,w:(8)2]]", "[[y,z,w:(1)2,w:(8)2],[x,w:(2)4]]",
      "[[y,z,w:(1)2],[x,w:(2)8]]", "[[y],[x,w:(2)8]]"}},
    {"x=2,y=2,z=2,w=16",
     "16,16",
     {"[[y,w:(4)2,z,w:(1)2],[]]", "[[y,w:(4)2,z,w:(1)2],[x,w:(2)2,w:(8)2]]", "[[y,z,w:(4)4],[x,w:(1)4]]",
      "[[y,z],[x,w]]", "[[y],[x,w]]"}},
    {"x=2,y=3", "12,12", {"[[x],[]]", "[[x,y],[]]", "[[y,x],[]]", "[[y],[]]"}},
    {"x=2,y=3", "12,12", {"[[y],[]]", "[[y,x],[]]", "[[x,y],[]]", "[[x],[]]"}},
    {"x=4,y=6", "12,12", {"[[x],[]]", "[[x,y:(1)3],[]]", "[[y,x:(1)2],[]]", "[[y],[]]"}},
    {"x=4,y=6", "12,12", {"[[y],[]]", "[[y,x:(1)2],[]]", "[[x,y:(1)3],[]]", "[[x],[]]"}},
    {"x=2,y=3", "12,12", {"[[x],[y]]", "[[],[y,x]]", "[[],[x,y]]", "[[y],[x]]"}},
    {"x=4,y=6", "12,12", {"[[x],[y:(1)2]]", "[[x,y:(2)3],[y:(1)2]]", "[[y,x:(1)2],[x:(2)2]]", "[[y],[]]"}},
    {"x=4,y=6,z=2", "12,12", {"[[x],[z]]", "[[x,y:(1)3],[z]]", "[[y,x:(1)2],[z]]", "[[y],[]]"}},
    {"x=4,y=6,z=5", "12,10", {"[[x],[z]]", "[[x,y:(1)3],[z]]", "[[y,x:(1)2],[z]]", "[[y],[]]"}},
    {"x=2,y=2,z=2",
     "16,8",
     {"[[y,z],[]] partial sum[x]", "[[z,y],[]] partial sum[x]", "[[z],[y]] partial sum[x]", "[[],[y]] partial sum[x]"}},
    {"x=6", "6,2", {"[[x:(1)2],[]]", "[[],[]]", "[[x:(1)3],[]]"}},
    {"x=6", "6,2", {"[[x:(2)3],[]]", "[[],[]]", "[[x:(1)3],[]]"}},
    {"x=6", "6,6", {"[[x:(2)3],[]]", "[[],[]]", "[[],[x:(1)3]]"}},
    {"x=6", "24,8", {"[[x],[]]", "[[],[]] partial sum[x]"}},
    {"x=2,y=8", "16,8", {"[[y],[x]]", "[[y:(1)4],[x]] partial sum[y:(4)2]"}},
    /* Shardy: reductions, and axes that become unreduced */
    {"x=4,y=2,z=4", "16,8", {"[[],[]] partial sum[y]", "[[],[]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x],[]] partial sum[y]", "[[x],[]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[],[]] partial sum[x,y]", "[[],[]] partial sum[x]"}},
    {"x=4,y=2,z=4", "16,8", {"[[],[]] partial sum[x,y]", "[[],[]] partial sum[x:(1)2]"}},
    {"x=4,y=2,z=4", "16,8", {"[[],[]] partial sum[x,y]", "[[],[]] partial sum[x]", "[[y],[]] partial sum[x]"}},
    {"x=4,y=2,z=4", "208", {"[[]] partial sum[x,y]", "[[]] partial sum[y]", "[[x]] partial sum[y]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x:(1)2],[]] partial sum[y]", "[[x:(1)2],[]]", "[[x:(2)2],[]]"}},
    {"x=4,y=2,z=4", "16,8", {"[[y],[]] partial sum[x:(1)2]", "[[],[y]] partial sum[x:(1)2]"}},
    {"x=4,y=2,z=4", "16,8", {"[[],[]] partial sum[x:(1)2]", "[[],[]] partial sum[x]"}},
    {"x=4,y=2,z=4", "16,8", {"[[],[]] partial sum[y]", "[[],[]] partial sum[x,y,z]"}},
    {"x=16", "16,8", {"[[x:(1)2],[]] partial sum[x:(4)2]", "[[x:(1)2],[]] partial sum[x:(2)8]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x],[]]", "[[],[]] partial sum[x]"}},
    {"x=4,y=2,z=4", "16,8", {"[[y],[x]]", "[[y],[]] partial sum[x]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x,z,y],[]]", "[[x],[]] partial sum[y,z]"}},
    {"x=4,y=2,z=4", "16,8", {"[[y,z],[x]]", "[[y],[]] partial sum[x,z]"}},
    {"x=4,y=2,z=4", "16,8", {"[[z],[x]]", "[[z:(1)2],[x]] partial sum[z:(2)2]"}},
    {"x=4,y=2,z=4", "16,8", {"[[x],[]] partial sum[y]", "[[x],[]] partial sum[y,z]", "[[],[]] partial sum[x,y,z]"}},
    {"x=4,y=2,z=4",
     "16,8",
     {"[[x],[z:(1)2]] partial sum[y]", "[[x],[z:(1)2]] partial sum[y,z:(2)2]", "[[x],[]] partial sum[y,z]"}},
    /* MLIR */
    {"x=2,y=4", "16,16", {"[[x],[]]", "[[x],[y]]"}},
    {"x=2,y=4", "16,16", {"[[x,y],[]]", "[[x],[]]"}},
    {"x=2,y=4", "16,16", {"[[y],[x]]", "[[],[x,y]]"}},
    /* the dialect's own recipes */
    {"x=2,y=3", "6,6", {"[[x],[y]]", "[[x],[]]", "[[],[x]]", "[[y],[x]]"}},
    {"x=2,y=2,z=2", "4,8", {"[[x],[y,z]]", "[[x],[z,y]]", "[[x],[z]]"}},
    {"x=2,y=2,z=2", "4,4", {"[[x],[y,z]]", "[[x],[z,y]]", "[[x,y],[z]]"}},
    {"x=2,y=2,z=2,w=2",
     "16,16,16",
     {"[[w,z],[],[x,y]]", "[[w,z],[y],[x]]", "[[w],[y,z],[x]]", "[[],[y,z],[x]]", "[[x],[y,z],[]]"}},
    /* reported against XLA: it gathered everything */
    {"x=2,y=4", "16,16,16", {"[[y],[],[x]]", "[[],[y],[x]]", "[[],[x,y],[]]"}},
};

static int read_dims(const char *text, int64_t *dims) {
  int n = 0;
  for (char *end; *text; text = *end ? end + 1 : end) dims[n++] = strtoll(text, &end, 10);
  return n;
}

static void parse(const reshard_case *c, const char *text, sw_arena *arena, sw_sharding *out) {
  assert_ok(sw_sharding_parse(&c->mesh, c->rank, text, strlen(text), SW_NOWHERE, arena, out, &diag));
}

static double partial_over(const sw_sharding *s) {
  return (double)sw_axis_refs_size(sw_sharding_partial(s), s->n_partial);
}

/* Bytes that the busiest device of a step receives: an all_reduce over p devices takes 2 (p-1)/p of the buffer. */
static double step_bytes(const reshard_case *c, const sw_sharding *before, const sw_sharding *after) {
  const double p = partial_over(before) / partial_over(after);
  sw_tiling src, dst;
  double max, total;
  if (p < 1) return 0;
  if (p > 1) return 2 * (p - 1) / p * (double)sw_sharding_local_bytes(before, c->dims, c->dtype);
  sw_tiling_of(before, c->rank, c->dims, &src);
  sw_tiling_of(after, c->rank, c->dims, &dst);
  sw_tiling_traffic(&c->mesh, &src, &dst, &max, &total);
  return max * sw_dtype_bytes(c->dtype);
}

/* The same of a chain, step by step. */
static double chain_bytes(const reshard_case *c, const chain_row *row, sw_arena *arena) {
  double bytes = 0;
  for (int i = 0; i + 1 < 6 && row->chain[i + 1]; i++) {
    sw_sharding before, after;
    parse(c, row->chain[i], arena, &before);
    parse(c, row->chain[i + 1], arena, &after);
    bytes += step_bytes(c, &before, &after);
  }
  return bytes;
}

static void no_more_than_published(void **state) {
  const chain_row *row = *state;
  sw_arena arena = {0};
  sw_machine *machine;
  sw_route route;
  char why[256];
  reshard_case c = {.dtype = SW_I32};
  assert_ok(sw_mesh_parse(row->mesh, &arena, &c.mesh, &diag));
  c.rank = read_dims(row->dims, c.dims);
  for (int d = 0; d < c.rank; d++) c.dims[d] *= 2; /* so that every published step is right under ceil blocks */
  int last = 0;
  while (last + 1 < 6 && row->chain[last + 1]) last++;
  parse(&c, row->chain[0], &arena, &c.from);
  parse(&c, row->chain[last], &arena, &c.to);
  assert_ok(sw_machine_build(&arena, &profile, &c.mesh, &machine, &diag));
  double published = chain_bytes(&c, row, &arena);
  for (int only_collectives = 0; only_collectives < 2; only_collectives++) {
    c.options.no_exchange = only_collectives;
    assert_ok(case_route(&c, machine, &arena, &route, &diag));
    if (case_run(&c, &route, &arena, why, sizeof why)) fail_msg("%s", why);
    if (route.max_bytes > published) {
      sw_text t = {0};
      route_print(&c.mesh, &route, &t);
      fail_msg("%g bytes, published %g:%s", route.max_bytes, published, sw_text_str(&t));
    }
  }
  sw_arena_deinit(&arena);
}

enum { N_CHAINS = sizeof kChains / sizeof kChains[0] };

int main(void) {
  flat_profile(&profile, 512, 1e-9, 1); /* bytes alone count */
  struct CMUnitTest tests[N_CHAINS];
  for (size_t i = 0; i < N_CHAINS; i++) {
    tests[i] = (struct CMUnitTest){.name = kChains[i].chain[0],
                                   .test_func = no_more_than_published,
                                   .initial_state = (void *)(uintptr_t)&kChains[i]};
  }
  return cmocka_run_group_tests_name("reshard_published", tests, NULL, NULL);
}
