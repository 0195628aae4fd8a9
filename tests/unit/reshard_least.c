/* A bound that is had without a search, beside what a search finds: never above it, and seldom far below. */
#include <math.h>

#include "../reshard_machines.h"

#include "reshard/least.h"
#include "shardwright/reshard.h"

static struct {
  int n, n_whole;        /* pairs; those of whole values */
  double logs, of_whole; /* of what the bound is of the price */
} seen;

static void one_pair(const sw_machine *machine, const sw_route_floors *floors, rng *r, const char *where) {
  const sw_mesh *m = sw_machine_mesh(machine);
  const int rank = 1 + (int)rng_below(r, 4);
  const bool even = rng_below(r, 3) > 0, partial = rng_below(r, 3) == 0;
  int64_t dims[SW_MAX_RANK];
  for (int d = 0; d < rank; d++) dims[d] = (even ? 192 : 1) * (1 + (int64_t)rng_below(r, even ? 40 : 3000));
  sw_sharding from = random_sharding(r, m, rank, partial), to = random_sharding(r, m, rank, partial);
  sw_sharding_normalise(m, &from);
  sw_sharding_normalise(m, &to);
  const sw_reshard wanted = {machine, &from, &to, rank, dims, SW_F32, {0}};
  if (sw_sharding_equal(&from, &to)) return;
  const double cost_s = sw_route_cost_s(&wanted);
  const double least_s = sw_route_least_between_s(floors, &from, &to, rank, dims, SW_F32);
  if (least_s > cost_s * (1 + 1e-9)) {
    sw_text t = {0};
    sw_sharding_print(m, &from, &t);
    sw_text_puts(&t, " -> ");
    sw_sharding_print(m, &to, &t);
    for (int d = 0; d < rank; d++) sw_text_printf(&t, " %lld", (long long)dims[d]);
    fail_msg("%s: %s costs %g s, less than the bound of %g s", where, sw_text_str(&t), cost_s, least_s);
  }
  if (isinf(cost_s) || least_s <= 0 || cost_s <= 0) return;
  seen.n++;
  seen.logs += log(least_s / cost_s);
  if (from.n_partial || to.n_partial) return;
  seen.n_whole++;
  seen.of_whole += log(least_s / cost_s);
}

static void pairs_of(const sw_machine *machine, rng *r, const char *where) {
  sw_arena arena = {0};
  const sw_route_floors *floors;
  assert_ok(sw_route_floors_make(machine, &arena, &floors, &diag));
  for (int k = 0; k < check_scale(40); k++) one_pair(machine, floors, r, where);
  sw_arena_deinit(&arena);
}

static void no_route_costs_less(void **state) {
  (void)state;
  on_all_machines(pairs_of, check_seed(90210));
  const double mean = exp(seen.logs / seen.n), of_whole = exp(seen.of_whole / seen.n_whole);
  print_message("%d pairs: the bound is %.2f of the price in the geometric mean, %.2f between whole values\n", seen.n,
                mean, of_whole);
  assert_true(of_whole > 0.25);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(no_route_costs_less)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
