/* shardwright bench plan PROGRAM...: how long it takes to read a program and to plan it, and how well it is planned.
 *
 *   gpt2:1250    GPT-2 of 1250 layers, written as StableHLO text and read again: some hundred thousand ops
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/bench_plan.h"
#include "shardwright/emit.h"
#include "base/file.h"
#include "gen/gen.h"
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
  if (!rc) rc = sw_plan_build(&(sw_job){g, g->written, NULL, machine}, &arena, &plan, d);
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

/* What is said of one program. */
typedef struct figures {
  const char *name, *compiler;
  int32_t n_ops;
  size_t n_bytes;
  double bytes_per_s, read_s, planned_s, processor_s, total_s, gap;
  sw_text mesh;
} figures;

/* `used`: processor time when reading began. */
static sw_rc plan_row(const sw_bench_plan_options *o, const sw_graph *g, sw_arena *arena, clock_t used, figures *f,
                      sw_diag *d) {
  sw_plan_options options = {
      .solve = {.time_limit_s = o->time_limit_s, .gap = o->gap, .threads = 1, .cancel = o->cancel}};
  sw_machine *machine;
  sw_job job;
  sw_plan plan;
  sw_breakdown breakdown;
  sw_mesh_print(&g->written->mesh, &f->mesh);
  SW_TRY(sw_machine_build(arena, o->profile, &g->written->mesh, &machine, d));
  SW_TRY(sw_job_make(o->compiler, g->written, machine, arena, &job, d));
  SW_TRY(sw_overlap_parse(o->overlap, &job.overlap, d));
  f->compiler = sw_compiled_as(&job);
  SW_TRY(sw_plan_search(&job, &options, arena, &plan, d));
  SW_TRY(sw_plan_breakdown(&plan, arena, &breakdown, d));
  if (sw_cancelled(o->cancel)) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "interrupted");
  f->planned_s = plan.time_s;
  f->processor_s = (double)(clock() - used) / CLOCKS_PER_SEC;
  f->total_s = breakdown.total_s;
  f->gap = sw_plan_gap(&plan);
  return SW_OK;
}

static void put_figures(const figures *f, sw_json_out *o) {
  sw_jw_object(o, NULL);
  sw_jw_string(o, "program", f->name);
  sw_jw_i64(o, "ops", f->n_ops);
  sw_jw_i64(o, "text_bytes", (int64_t)f->n_bytes);
  sw_jw_f64(o, "parsed_bytes_per_s", f->bytes_per_s);
  sw_jw_f64(o, "read_s", f->read_s);
  sw_jw_f64(o, "planned_s", f->planned_s);
  sw_jw_f64(o, "processor_s", f->processor_s);
  sw_jw_f64(o, "total_s", f->total_s);
  sw_jw_f64(o, "gap", f->gap);
  sw_jw_string(o, "mesh", sw_text_str(&f->mesh));
  sw_jw_string(o, "compiler", f->compiler);
  sw_jw_end(o);
}

static void print_figures(const figures *f, sw_text *t) {
  sw_text_printf(t, "%-40.40s %7d %6.2f MB %5.0f MB/s  ", f->name, f->n_ops, (double)f->n_bytes * 1e-6,
                 f->bytes_per_s * 1e-6);
  sw_bench_cell_seconds(t, f->read_s);
  sw_bench_cell_seconds(t, f->planned_s);
  sw_bench_cell_seconds(t, f->processor_s);
  sw_bench_cell_seconds(t, f->total_s);
  sw_text_printf(t, "%6.2f %%  %s  %s", 100 * f->gap, sw_text_str(&f->mesh), f->compiler);
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

static sw_rc find_figures(const sw_bench_plan_options *o, const char *name, figures *f, sw_diag *d) {
  text_file file;
  sw_program *program = NULL;
  sw_arena arena = {0};
  SW_TRY(get_text(name, &file, d));
  sw_program_options options = {.mesh = o->mesh, .fallback = o->fallback};
  sw_rc rc = parse_rate(sw_path_base(name), &file, &f->bytes_per_s, d);
  double start = sw_now_s();
  clock_t used = clock();
  if (!rc) rc = sw_program_parse(sw_path_base(name), file.bytes, file.n, &options, &program, d);
  f->read_s = sw_now_s() - start;
  f->name = sw_path_base(name);
  f->n_bytes = file.n;
  if (!rc) {
    f->n_ops = sw_program_graph(program)->n_ops;
    rc = plan_row(o, sw_program_graph(program), &arena, used, f, d);
  }
  sw_mem_free(file.bytes);
  sw_program_destroy(program);
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc emit_program_row(const sw_bench_plan_options *o, const char *name, sw_bench_line line, sw_diag *d) {
  figures f = {0};
  sw_text t = {0};
  sw_rc rc = find_figures(o, name, &f, d);
  if (!rc && o->json) put_figures(&f, o->json);
  if (!rc && !o->json) {
    print_figures(&f, &t);
    rc = sw_bench_emit(line, &t, d);
  }
  sw_text_free(&f.mesh);
  return rc;
}

sw_rc sw_bench_programs(const sw_bench_plan_options *o, const char *const *names, int n, sw_bench_line line,
                        sw_diag *d) {
  sw_text head = {0};
  sw_text_printf(&head, "%-40s %7s %9s %10s  %-11s%-11s%-11s%-11s%8s  mesh  compiler", "program", "ops", "text",
                 "parsed at", "read in", "planned in", "processor", "predicted", "gap");
  if (o->json)
    sw_jw_array(o->json, "programs");
  else
    SW_TRY(sw_bench_emit(line, &head, d));
  if (o->json) sw_text_free(&head);
  for (int i = 0; i < n; i++) SW_TRY(emit_program_row(o, names[i], line, d));
  if (o->json) sw_jw_end(o->json);
  return SW_OK;
}
