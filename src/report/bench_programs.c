/* shardwright bench plan PROGRAM...: how long it takes to read a program and to plan it, and how well it is planned.
 *
 *   gpt2:1250    GPT-2 of 1250 layers, written as StableHLO text and read again: some hundred thousand ops
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/bench_row.h"
#include "report/bench_plan.h"
#include "shardwright/emit.h"
#include "base/file.h"
#include "io/gen.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"

static const char kLayers[] = "gpt2:";

typedef struct text_file {
  char *bytes; /* owned */
  size_t n;
} text_file;

/* The text of a made model: the program of a mesh with one device is the whole program. */
static sw_rc make_text(const char *layers, text_file *out, sw_diag *d) {
  sw_gen_arg arg = {"layers", layers};
  sw_arena arena = {0};
  sw_graph *g = NULL;
  sw_mesh mesh;
  sw_machine *machine;
  sw_plan plan;
  sw_text text = {0};
  const sw_profile *profile;
  sw_rc rc = sw_gen_model("gpt2", &arg, 1, &g, d);
  if (!rc) rc = sw_mesh_parse("x=1", &arena, &mesh, d);
  if (!rc) rc = sw_profile_read("local", &arena, &profile, d);
  if (!rc) rc = sw_machine_build(&arena, profile, &mesh, &machine, d);
  if (!rc) rc = sw_plan_build(g, machine, &arena, &plan, d);
  if (!rc) rc = sw_emit_plan(&plan, "spmd", &text, d);
  if (!rc && text.rc) rc = SW_FAIL(d, text.rc, SW_NOWHERE, "out of memory");
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
  if (rc)
    sw_text_free(&text);
  else
    *out = (text_file){text.at, text.n};
  return rc;
}

static sw_rc get_text(const char *name, text_file *out, sw_diag *d) {
  size_t n = strlen(kLayers);
  if (strncmp(name, kLayers, n) == 0) return make_text(name + n, out, d);
  return sw_file_read_text(name, &out->bytes, &out->n, d);
}

/* `used`: processor time when reading began. */
static sw_rc plan_row(const sw_bench_plan_options *o, const sw_graph *g, sw_arena *arena, clock_t used, sw_text *t,
                      sw_diag *d) {
  sw_plan_options options = {
      .solve = {.time_limit_s = o->time_limit_s, .gap = o->gap, .threads = 1, .cancel = o->cancel}};
  sw_machine *machine;
  sw_plan plan;
  sw_breakdown breakdown;
  sw_text mesh = {0};
  sw_mesh_print(&g->mesh, &mesh);
  SW_TRY(sw_machine_build(arena, o->profile, &g->mesh, &machine, d));
  SW_TRY(sw_plan_search(g, machine, &options, arena, &plan, d));
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  if (sw_cancelled(o->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  double gap = 100 * sw_plan_gap(&plan);
  sw_bench_cell_seconds(t, plan.time_s);
  sw_bench_cell_seconds(t, (double)(clock() - used) / CLOCKS_PER_SEC);
  sw_bench_cell_seconds(t, breakdown.total_s);
  sw_text_printf(t, "%6.2f %%  %s", gap, mesh.rc ? "" : sw_text_str(&mesh));
  sw_text_free(&mesh);
  return SW_OK;
}

/* Bytes per second of parsing the text and printing it from its tree: the best of some runs, as other programs run
 * beside this one. */
static sw_rc parse_rate(const char *name, const text_file *file, double *out, sw_diag *d) {
  double best = HUGE_VAL, begun = sw_now_s();
  for (int i = 0; i < 20 && (i < 3 || sw_now_s() - begun < 0.2); i++) {
    sw_text again = {0};
    double start = sw_now_s();
    SW_TRY(sw_program_print_parsed(name, file->bytes, file->n, NULL, &again, d));
    best = fmin(best, sw_now_s() - start);
    bool same = again.n == file->n && !memcmp(again.at, file->bytes, file->n);
    sw_text_free(&again);
    if (!same) return SW_BUG(d, "'%s' is not printed as it was", name);
  }
  *out = (double)file->n / best;
  return SW_OK;
}

static sw_rc row(const sw_bench_plan_options *o, const char *name, sw_text *t, sw_diag *d) {
  text_file file;
  sw_program *program = NULL;
  sw_arena arena = {0};
  SW_TRY(get_text(name, &file, d));
  sw_program_options options = {.mesh = o->mesh, .fallback = o->fallback};
  double rate = 0;
  sw_rc rc = parse_rate(sw_path_base(name), &file, &rate, d);
  double start = sw_now_s();
  clock_t used = clock();
  if (!rc) rc = sw_program_parse(sw_path_base(name), file.bytes, file.n, &options, &program, d);
  double read_s = sw_now_s() - start;
  if (!rc) {
    const sw_graph *g = sw_program_graph(program);
    sw_text_printf(t, "%-40.40s %7d %6.2f MB %5.0f MB/s  ", sw_path_base(name), g->n_ops, (double)file.n * 1e-6,
                   rate * 1e-6);
    sw_bench_cell_seconds(t, read_s);
    rc = plan_row(o, g, &arena, used, t, d);
  }
  sw_mem_free(file.bytes);
  sw_program_destroy(program);
  sw_arena_deinit(&arena);
  return rc;
}

sw_rc sw_bench_programs(const sw_bench_plan_options *o, const char *const *names, int n, sw_bench_line line, void *user,
                        sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "%-40s %7s %9s %10s  %-11s%-11s%-11s%-11s%8s  mesh", "program", "ops", "text", "parsed at",
                 "read in", "planned in", "processor", "predicted", "gap");
  SW_TRY(sw_bench_emit(line, user, &head, d));
  for (int i = 0; i < n; i++) {
    sw_text t = {0};
    sw_rc rc = row(o, names[i], &t, d);
    if (rc) {
      sw_text_free(&t);
      return rc;
    }
    SW_TRY(sw_bench_emit(line, user, &t, d));
  }
  return SW_OK;
}
