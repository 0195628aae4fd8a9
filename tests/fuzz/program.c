/* StableHLO programs: the text with a plan's shardings in it is read again, and annotating its ops once more changes
 * nothing. */
#include "fuzz/fuzz.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "support/job.h"

/* A machine for all inputs. */
static const sw_machine *machine(void) {
  static sw_arena arena;
  static sw_machine *m;
  static sw_mesh mesh;
  sw_diag d = {0};
  const sw_profile *profile;
  if (m) return m;
  FUZZ_CHECK(sw_mesh_parse("x=2", &arena, &mesh, &d) == SW_OK);
  FUZZ_CHECK(sw_profile_read("local", &arena, &profile, &d) == SW_OK);
  FUZZ_CHECK(sw_machine_build(&arena, profile, &mesh, &m, &d) == SW_OK);
  return m;
}

/* Annotate under the plan in which everything is replicated. */
static sw_rc annotate(const char *bytes, size_t n, const char *kind, sw_text *out, sw_diag *d) {
  sw_arena arena = {0};
  sw_program *p;
  sw_plan plan;
  const sw_mesh *mesh = sw_machine_mesh(machine());
  SW_TRY(sw_program_parse("fuzz.mlir", bytes, n, &(sw_program_options){.mesh = mesh}, &p, d));
  FUZZ_CHECK(sw_plan_build(JOB(sw_program_graph(p), machine()), &arena, &plan, d) == SW_OK);
  FUZZ_CHECK(sw_program_emit(p, &plan, kind, out, d) == SW_OK);
  sw_program_destroy(p);
  sw_arena_deinit(&arena);
  return SW_OK;
}

/* The text with constraints is a program, too, or has a type that none can be: constraints repeat types that nothing
 * else reads. */
static void check_constrained(const char *bytes, size_t n) {
  sw_diag d = {0};
  sw_text constrained = {0}, again = {0};
  FUZZ_CHECK(annotate(bytes, n, "sdy", &constrained, &d) == SW_OK);
  sw_rc rc = annotate(constrained.at, constrained.n, "sdy", &again, &d);
  if (rc) FUZZ_CHECK_FAILURE(rc, &d);
  sw_text_free(&constrained);
  sw_text_free(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n) {
  sw_diag d = {0};
  sw_text once = {0}, twice = {0};
  sw_rc rc = annotate((const char *)bytes, n, "sdy-ops", &once, &d);
  if (rc) {
    FUZZ_CHECK_FAILURE(rc, &d);
  } else {
    rc = annotate(once.at, once.n, "sdy-ops", &twice, &d);
    if (rc) fprintf(stderr, "%s\n%d:%d: %s\n", sw_text_str(&once), d.line, d.col, d.text);
    FUZZ_CHECK(rc == SW_OK);
    fuzz_check_same_text(&once, &twice);
    check_constrained((const char *)bytes, n);
  }
  sw_text_free(&once);
  sw_text_free(&twice);
  return 0;
}
