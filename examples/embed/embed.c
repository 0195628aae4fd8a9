/* The planner inside another program: embed MODEL PROFILE MESH PAGE
 * reads a model, finds its best plan, prints how each argument is cut, and writes the report's page.
 */
#include <shardwright/shardwright.h>

static sw_rc write_page(const sw_plan *plan, const char *path, sw_arena *arena, sw_diag *d) {
  sw_breakdown breakdown;
  sw_report report;
  sw_text page = {0};
  SW_TRY(sw_plan_breakdown(plan, arena, &breakdown, d));
  SW_TRY(sw_report_build(plan, &breakdown, NULL, arena, &report, d));
  sw_report_html(&report, &page);
  FILE *out = page.rc ? NULL : fopen(path, "w");
  if (out) fputs(sw_text_str(&page), out);
  const int failed = !out || fclose(out);
  sw_text_free(&page);
  printf("%.3f ms, %.1f MiB per device\n", 1e3 * breakdown.total_s, (double)breakdown.peak_bytes / (1 << 20));
  return failed ? SW_FAIL(d, SW_E_INPUT, SW_NOWHERE, "cannot write '%s'", path) : SW_OK;
}

static void print_arguments(const sw_plan *plan) {
  for (int32_t i = 0; i < plan->job.graph->n_args; i++) {
    sw_text text = {0};
    sw_sharding_print(sw_machine_mesh(plan->job.machine), &plan->args[i], &text);
    printf("%-24s %s\n", plan->job.graph->values[plan->job.graph->args[i]].name, sw_text_str(&text));
    sw_text_free(&text);
  }
}

/* What stands in the arena is valid until that is emptied; the job is the caller's to close. */
static sw_rc plan_model(char **args, sw_arena *arena, sw_opened *opened, sw_diag *d) {
  sw_mesh mesh;
  sw_plan plan;
  SW_TRY(sw_mesh_parse(args[3], arena, &mesh, d));
  SW_TRY(sw_open_job(&(sw_open_options){.model = args[1], .hw = args[2], .mesh = &mesh}, arena, opened, d));
  const sw_plan_options options = {.solve = {.threads = 1, .gap = 0.001, .time_limit_s = 30}, .simplicity = 0.003};
  SW_TRY(sw_plan_search(&opened->job, &options, arena, &plan, d));
  print_arguments(&plan);
  return write_page(&plan, args[4], arena, d);
}

int main(int n, char **args) {
  sw_arena arena = {0};
  sw_diag diag = {0};
  sw_opened opened = {0};
  if (n != 5) return fprintf(stderr, "usage: embed MODEL PROFILE MESH PAGE\n"), 2;
  const sw_rc rc = plan_model(args, &arena, &opened, &diag);
  if (rc) sw_diag_print(&diag, stderr, false); /* with file, line and column where there is one */
  sw_close_job(&opened);
  sw_arena_deinit(&arena);
  return rc ? 1 : 0;
}
