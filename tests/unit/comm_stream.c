/* Copies and reductions past the caches give what those through them do, at every alignment and length; also when a
 * call of the communicator is large enough for them. */
#include "check.h"
#include "support/meshes.h"

#include "comm/copy.h"
#include "comm/comm_reduce.h"
#include "shardwright/comm.h"

enum { ROOM = 8192, MEMBERS = 5, GUARD = 0x5a };

typedef struct memory {
  _Alignas(64) unsigned char at[ROOM];
} memory;

/* No bytes of a NaN, whose own bits may be anybody's. */
static void fill(memory *m, sw_rng *rng) {
  for (size_t i = 0; i < ROOM; i++) m->at[i] = (unsigned char)sw_rng_below(rng, 64);
}

static void copies_are_exact(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(20260501));
  memory from, to, want;
  for (int i = 0; i < check_scale(3000); i++) {
    size_t n = (size_t)sw_rng_below(&rng, 4000), a = (size_t)sw_rng_below(&rng, 130),
           b = (size_t)sw_rng_below(&rng, 130);
    fill(&from, &rng);
    memset(&to, GUARD, sizeof to);
    memset(&want, GUARD, sizeof want);
    memcpy(want.at + b, from.at + a, n);
    if (i % 2) {
      sw_copy(to.at + b, from.at + a, n, true);
    } else {
      sw_stream(to.at + b, from.at + a, n);
      sw_stream_end();
    }
    assert_memory_equal(to.at, want.at, ROOM);
  }
}

static const struct {
  sw_reduction kind;
  sw_dtype from, to;
} kKinds[] = {
    {SW_REDUCE_SUM, SW_F32, SW_F32},     {SW_REDUCE_SUM, SW_F64, SW_F64},           {SW_REDUCE_SUM, SW_I8, SW_I8},
    {SW_REDUCE_MAX, SW_I16, SW_I16},     {SW_REDUCE_AVERAGE, SW_F32, SW_F32},       {SW_REDUCE_SUM, SW_BF16, SW_BF16},
    {SW_REDUCE_PRODUCT, SW_F16, SW_F32}, {SW_REDUCE_AND, SW_BOOL, SW_BOOL},         {SW_REDUCE_BIT_XOR, SW_U64, SW_U64},
    {SW_REDUCE_AVERAGE, SW_I32, SW_I32}, {SW_REDUCE_SUM, SW_F8E4M3FN, SW_F8E4M3FN},
};

/* Bytes of guard around a result stay what they are. */
static void reduce_both_ways(size_t k, sw_rng *rng) {
  static memory in[MEMBERS], out[2][MEMBERS];
  sw_reducer r = {.kind = kKinds[k].kind, .from = kKinds[k].from, .to = kKinds[k].to};
  int64_t from = sw_dtype_bytes(r.from), to = sw_dtype_bytes(r.to), n_src = 1 + sw_rng_below(rng, MEMBERS);
  int64_t n_dst = 1 + sw_rng_below(rng, n_src), count = sw_rng_below(rng, 700), src_at = sw_rng_below(rng, 70);
  int64_t dst_at = sw_rng_below(rng, 70), shift = to * sw_rng_below(rng, 70);
  const void *src[MEMBERS];
  for (int j = 0; j < MEMBERS; j++) fill(&in[j], rng);
  for (int j = 0; j < MEMBERS; j++) src[j] = in[j].at + from * j;
  for (int way = 0; way < 2; way++) {
    void *dst[MEMBERS];
    memset(out[way], GUARD, sizeof out[way]);
    for (int j = 0; j < MEMBERS; j++) dst[j] = out[way][j].at + shift;
    r.streams = way == 1;
    sw_reduce_run(&r, n_src, src, src_at, n_dst, dst, dst_at, count);
  }
  assert_memory_equal(out[0], out[1], sizeof out[0]);
}

static void reductions_are_the_same(void **state) {
  (void)state;
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(20260502));
  for (int i = 0; i < check_scale(3000); i++) reduce_both_ways((size_t)i % (sizeof kKinds / sizeof kKinds[0]), &rng);
}

/* Element i of member j's input is j + i % 13 at an odd place in memory; in place, results go where inputs are. */
typedef struct large {
  const sw_mesh *mesh;
  sw_coll_op op;
  int64_t n; /* elements of an input */
  bool in_place;
} large;

static sw_rc check_large(const large *l, int64_t me, const int32_t *y, sw_diag *d) {
  int64_t members = l->mesh->axis[0].size, n = l->op == SW_COLL_REDUCE_SCATTER ? l->n / members : l->n;
  for (int64_t i = 0; i < n; i++) {
    int64_t at = l->op == SW_COLL_REDUCE_SCATTER ? me * n + i : i;
    int64_t want = l->op == SW_COLL_BROADCAST ? at % 13 : members * (members - 1) / 2 + members * (at % 13);
    if (y[i] != want) return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "element %lld is %d", (long long)i, y[i]);
  }
  return SW_OK;
}

static sw_rc run_large(sw_comm *comm, int64_t me, void *user, sw_diag *d) {
  const large *l = user;
  int64_t out = l->op == SW_COLL_REDUCE_SCATTER ? l->n / l->mesh->axis[0].size : l->n;
  int32_t *block = sw_mem_alloc((size_t)(2 * l->n) + 3, sizeof *block, d);
  if (!block) return SW_E_RESOURCE;
  int32_t *x = block + 1, *y = l->in_place ? x : block + 2 + l->n;
  for (int64_t i = 0; i < l->n; i++) x[i] = (int32_t)(me + i % 13);
  sw_collective c = {.op = l->op, .n_axes = 1, .reduction = SW_REDUCE_SUM};
  c.axes[0] = sw_axis_whole(l->mesh, 0);
  c.n_root = l->op == SW_COLL_BROADCAST ? 1 : 0;
  sw_buffer a = {x, SW_I32, 1, {l->n}, {l->n}}, b = {y, SW_I32, 1, {out}, {0}};
  sw_rc rc = sw_comm_run(comm, me, &(sw_comm_call){.coll = &c, .in = &a, .out = &b}, d);
  if (!rc) rc = check_large(l, me, y, d);
  sw_mem_free(block);
  return rc;
}

static void large_calls_are_exact(void **state) {
  (void)state;
  sw_mesh mesh = mesh_of("4");
  static const sw_coll_op kOps[] = {SW_COLL_ALL_REDUCE, SW_COLL_REDUCE_SCATTER, SW_COLL_BROADCAST};
  for (int i = 0; i < 6; i++) {
    diag = (sw_diag){0};
    sw_comm *comm;
    large l = {&mesh, kOps[i % 3], (SW_STREAM_BYTES >> 4) + 4, i >= 3 && kOps[i % 3] != SW_COLL_REDUCE_SCATTER};
    assert_ok(sw_comm_create_threads(&mesh, NULL, &comm, &diag));
    if (sw_comm_launch(comm, run_large, &l, NULL, &diag)) fail_msg("%s: %s", sw_coll_text(l.op), diag.text);
    sw_comm_destroy(comm);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(copies_are_exact),
      cmocka_unit_test(reductions_are_the_same),
      cmocka_unit_test(large_calls_are_exact),
  };
  return cmocka_run_group_tests_name("comm, past the caches", tests, NULL, NULL);
}
