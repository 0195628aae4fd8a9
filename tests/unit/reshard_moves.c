/* The search offers only moves that a cheapest route normally has. Here every move is tried as well, and the cheapest
 * routes of both compared. */
#include <math.h>

#include "../reshard_case.h"

#include "reshard/request.h"
#include "shardwright/profile_json.h"

static sw_diag diag;
static sw_profile profile;

typedef struct moves_row {
  const char *mesh, *profile; /* NULL: one flat network */
  bool partial;
  int most_dearer;    /* of a thousand pairs */
  double most_in_all; /* sum of all costs over that with all moves */
} moves_row;

static const moves_row kRows[] = {
    {"x=8,y=4,z=2", NULL, false, 20, 1.01},       {"x=4,y=4,z=3", NULL, false, 20, 1.01},
    {"x=8,y=2,z=4", NULL, false, 20, 1.01},       {"x=8,y=4,z=2", NULL, true, 40, 1.01},
    {"x=4,y=4,z=3", NULL, true, 40, 1.01},        {"x=8,y=2,z=4", NULL, true, 40, 1.01},
    {"x=8,y=2,z=4", "h100x64", false, 200, 1.10}, {"x=8,y=2,z=4", "h100x64", true, 200, 1.10},
};

static double cheapest(const sw_reshard *wanted, bool thorough) {
  rs_request r;
  rs_path path;
  assert_ok(rs_request_init(&r, wanted, &diag));
  if (r.nothing_to_do || r.in_net) return 0; /* that search is exact */
  r.query.thorough = thorough;
  assert_ok(rs_search(&r.query, &path, &diag));
  return path.cost_s + rs_reduce_first_s(&r) + rs_made_s(&r);
}

static void offered_moves_suffice(void **state) {
  const moves_row *row = *state;
  static const int64_t kDims[] = {47, 97, 25};
  rng r = {check_seed(51)};
  sw_arena arena = {0};
  sw_mesh m;
  sw_machine *machine;
  int n = check_scale(300), dearer = 0, searched = 0;
  double worst = 1, sum = 0, sum_all = 0;
  const sw_profile *p = &profile;
  if (row->profile) assert_ok(sw_profile_read(row->profile, &arena, &p, &diag));
  assert_ok(sw_mesh_parse(row->mesh, &arena, &m, &diag));
  assert_ok(sw_machine_build(&arena, p, &m, &machine, &diag));
  for (int i = 0; i < n; i++) {
    int rank = 1 + (int)rng_below(&r, 3);
    sw_sharding from = random_sharding(&r, &m, rank, row->partial), to = random_sharding(&r, &m, rank, row->partial);
    const sw_reshard wanted = {machine, &from, &to, rank, kDims, SW_F32, {0}};
    double offered = cheapest(&wanted, false), all = cheapest(&wanted, true);
    searched += offered > 0;
    assert_true(all <= offered * (1 + 1e-9) || row->profile);
    all = fmin(all, offered); /* with 64 devices there are more states than the search holds */
    sum += offered;
    sum_all += all;
    dearer += offered > all * (1 + 1e-9);
    worst = offered > all * worst ? offered / all : worst;
  }
  assert_true(searched * 10 > n);
  print_message("%s%s: of %d routes %d cost more than with all moves, at most %.3f times, together %.4f times\n",
                row->mesh, row->partial ? " partial" : "", searched, dearer, worst, sum / sum_all);
  assert_true(dearer * 1000 <= row->most_dearer * n && sum <= row->most_in_all * sum_all);
  sw_arena_deinit(&arena);
}

enum { N_ROWS = sizeof kRows / sizeof kRows[0] };

int main(void) {
  flat_profile(&profile, 512, 1e-6, 1e-9);
  struct CMUnitTest tests[N_ROWS];
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[i] = (struct CMUnitTest){
        .name = kRows[i].mesh, .test_func = offered_moves_suffice, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests_name("reshard_moves", tests, NULL, NULL);
}
