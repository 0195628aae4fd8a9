/* Certificates of bounds: whatever text is accepted proves no more than is true of the problem. */
#include "fuzz/fuzz.h"
#include "shardwright/certificate.h"

/* Three nodes in memory at two steps, two that are alike and one that nothing joins to the rest. */
static const int64_t kCost[][3] = {{1, 4, 9}, {2, 3, 5}, {7, 1, 0}, {3, 5, 0}, {6, 2, 0}};
static const int64_t kAmount[][3] = {{9, 4, 1}, {8, 5, 2}, {1, 6, 0}};
static const sw_usage kUses[] = {{0, 10, kAmount[0]}, {0, 20, kAmount[1]}, {10, 20, kAmount[2]}};
static const int64_t kTable[] = {0, 5, 2, 4, 0, 7, 3, 1, 0}, kNarrow[] = {0, 3, 6, 1, SW_FORBIDDEN, 2};
static const sw_node kNodes[] = {{3, 1, kCost[0], &kUses[0]}, {3, 1, kCost[1], &kUses[1]}, {2, 1, kCost[2], &kUses[2]},
                                 {2, 0, kCost[3], NULL},      {2, 0, kCost[3], NULL},      {2, 0, kCost[4], NULL}};
static const sw_edge kEdges[] = {{0, 1, kTable},  {1, 2, kNarrow}, {0, 3, kNarrow},
                                 {0, 4, kNarrow}, {1, 3, kNarrow}, {1, 4, kNarrow}};
static const sw_problem kProblem = {"fuzz", 6, 6, kNodes, kEdges, 11};

static int64_t least(void) {
  sw_arena arena = {0};
  sw_diag d = {0};
  sw_solution s;
  sw_solve_options o = {.solver = SW_SOLVER_EXHAUSTIVE, .threads = 1};
  FUZZ_CHECK(sw_solve(&kProblem, &o, &arena, &s, &d) == SW_OK && s.status == SW_SOLVE_OPTIMAL);
  int64_t cost = s.cost;
  sw_arena_deinit(&arena);
  return cost;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  static int64_t optimum = -1;
  sw_diag d = {0};
  int64_t bound = 0;
  if (optimum < 0) optimum = least();
  sw_rc rc = sw_certificate_check(&kProblem, (const char *)bytes, n, "fuzz", &bound, &d);
  if (rc)
    FUZZ_CHECK_FAILURE(rc, &d);
  else
    FUZZ_CHECK(bound <= optimum);
  return 0;
}
