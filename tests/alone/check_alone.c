/* check-solution without the solver: linked from the reader of problems, the scoring and the check of certificates
 * alone (tests/CMakeLists.txt), so that it cannot use a line of any solver.
 *
 *   check_alone PROBLEM SOLUTION CERTIFICATE       prints cost and bound; exits 1 when something does not hold
 */
#include <stdio.h>

#include "shardwright/certificate.h"
#include "base/file.h"
#include "shardwright/iopddl.h"

static sw_rc check(char **argv, sw_arena *arena, sw_diag *d) {
  sw_problem p;
  sw_score score;
  int32_t *choice;
  int64_t bound;
  char *text;
  size_t n;
  SW_TRY(sw_iopddl_read(argv[1], arena, &p, d));
  SW_TRY(sw_problem_verify(&p, d));
  SW_TRY(sw_iopddl_read_solution(argv[2], &p, arena, &choice, d));
  SW_TRY(sw_problem_score(&p, choice, &score, d));
  SW_TRY(sw_file_read(argv[3], &text, &n, d));
  sw_rc rc = sw_certificate_check(&p, text, n, argv[3], &bound, d);
  sw_mem_free(text);
  if (rc) return rc;
  if (!score.feasible || bound > score.cost)
    return SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "no solution, or a wrong bound");
  printf("cost %lld bound %lld\n", (long long)score.cost, (long long)bound);
  return SW_OK;
}

int main(int argc, char **argv) {
  sw_arena arena = {0};
  sw_diag diag = {0};
  if (argc != 4) return 2;
  sw_rc rc = check(argv, &arena, &diag);
  if (rc) sw_diag_print(&diag, stderr, false);
  sw_arena_deinit(&arena);
  return rc ? 1 : 0;
}
