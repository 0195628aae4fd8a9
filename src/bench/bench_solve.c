/* shardwright bench solve: a table of runs of the solver. */
#include "bench/bench_solve.h"

#include <stdlib.h>
#include <sys/resource.h>

#include "shardwright/certificate.h"
#include "base/file.h"
#include "base/lists.h"
#include "gen/gen_problem.h"

typedef struct bench {
  const sw_bench_solve_options *o;
  sw_bench_line line;
  double best_s; /* when the best cost of the run was found */
  int64_t last_cost;
  double read_s;
  sw_diag *d;
} bench;

static sw_rc emit_head(bench *b) {
  sw_text t = {0};
  sw_text_printf(&t, "%-14s %4s %7s %7s %6s %6s %8s %6s %16s %16s %9s %7s %7s %6s  %s", "instance", "seed", "nodes",
                 "edges", "left", "edges", "presolve", "read", "cost", "bound", "gap %", "best s", "time s", "MiB",
                 "status");
  return sw_bench_emit(b->line, &t, b->d);
}

static sw_rc load_problem(bench *b, const char *name, sw_arena *arena, sw_problem *p) {
  double start = sw_now_s();
  SW_TRY(sw_problem_load(name, arena, p, b->d));
  b->read_s = sw_now_s() - start;
  return SW_OK;
}

static void note_solve_progress(void *user, const sw_solve_progress *p) {
  bench *b = user;
  if (p->has_cost && p->cost != b->last_cost) b->best_s = p->time_s;
  b->last_cost = p->has_cost ? p->cost : -1;
}

/* The bound must hold by its certificate alone. */
static sw_rc check_bound_proof(bench *b, const sw_problem *p, const sw_solution *s, const sw_text *proof) {
  int64_t bound;
  SW_TRY(sw_certificate_check(p, sw_text_str(proof), proof->n, "certificate", &bound, b->d));
  int64_t want = s->status == SW_SOLVE_INFEASIBLE ? SW_FORBIDDEN : s->bound;
  if (bound == want) return SW_OK;
  return SW_FAIL(b->d, SW_E_MISMATCH, SW_NOWHERE, "the certificate proves %lld; the solver said %lld", (long long)bound,
                 (long long)want);
}

static void put_row(const bench *b, int seed, const sw_problem *p, const sw_solution *s, int64_t kib) {
  sw_json_out *o = b->o->json;
  sw_jw_object(o, NULL);
  sw_jw_i64(o, "seed", seed);
  sw_jw_i64(o, "nodes", p->n_nodes);
  sw_jw_i64(o, "edges", p->n_edges);
  sw_jw_i64(o, "nodes_left", s->presolve.nodes);
  sw_jw_i64(o, "edges_left", s->presolve.edges);
  sw_jw_f64(o, "presolve_s", s->presolve.time_s);
  sw_jw_f64(o, "read_s", b->read_s);
  if (s->choice) {
    sw_jw_i64(o, "cost", s->cost);
    sw_jw_f64(o, "gap", s->cost > 0 ? (double)(s->cost - s->bound) / (double)s->cost : 0);
    sw_jw_f64(o, "best_s", b->best_s + b->read_s);
  }
  sw_jw_i64(o, "bound", s->bound);
  sw_jw_f64(o, "time_s", s->time_s + b->read_s);
  sw_jw_i64(o, "resident_bytes", kib * 1024);
  sw_jw_string(o, "status", sw_solve_status_text(s->status));
  sw_jw_end(o);
}

static sw_rc emit_solve_row(bench *b, const char *name, int seed, const sw_problem *p, const sw_solution *s) {
  struct rusage use;
  sw_text t = {0};
  if (getrusage(RUSAGE_SELF, &use)) use.ru_maxrss = 0;
  double gap = s->choice && s->cost > 0 ? 100.0 * (double)(s->cost - s->bound) / (double)s->cost : 0;
  if (b->o->json) {
    put_row(b, seed, p, s, use.ru_maxrss);
    return SW_OK;
  }
  sw_text_printf(&t, "%-14s %4d %7d %7d %6d %6d %8.2f %6.2f %16lld %16lld %9.5f %7.2f %7.2f %6ld  %s",
                 sw_path_base(name), seed, p->n_nodes, p->n_edges, s->presolve.nodes, s->presolve.edges,
                 s->presolve.time_s, b->read_s, (long long)s->cost, (long long)s->bound, gap, b->best_s + b->read_s,
                 s->time_s + b->read_s, use.ru_maxrss / 1024, sw_solve_status_text(s->status));
  return sw_bench_emit(b->line, &t, b->d);
}

static sw_rc run_seed(bench *b, const char *name, int seed, sw_arena *arena, int64_t *cost) {
  sw_problem p;
  sw_solution s;
  sw_text proof = {0};
  SW_TRY(load_problem(b, name, arena, &p));
  b->best_s = 0;
  double left = b->o->time_limit_s - b->read_s;
  sw_solve_options o = {.time_limit_s = b->o->time_limit_s,
                        .deadline_s = sw_now_s() + (left > 0.01 ? left : 0.01),
                        .solver = b->o->solver,
                        .threads = b->o->threads,
                        .seed = (uint64_t)seed,
                        .cancel = b->o->cancel,
                        .certificate = &proof,
                        .on_progress = note_solve_progress,
                        .user = b};
  sw_rc rc = sw_solve(&p, &o, arena, &s, b->d);
  if (!rc) rc = check_bound_proof(b, &p, &s, &proof);
  sw_text_free(&proof);
  if (!rc) rc = emit_solve_row(b, name, seed, &p, &s);
  *cost = !rc && s.choice ? s.cost : SW_FORBIDDEN;
  return rc;
}

static sw_rc run_instance(bench *b, const char *name) {
  sw_arena arena = {0};
  int n = b->o->seeds;
  int64_t *costs = sw_arena_alloc(&arena, (size_t)n, sizeof *costs, b->d);
  sw_rc rc = costs ? SW_OK : SW_E_RESOURCE;
  sw_json_out *o = b->o->json;
  if (o) {
    sw_jw_object(o, NULL);
    sw_jw_string(o, "instance", sw_path_base(name));
    sw_jw_array(o, "runs");
  }
  for (int k = 0; k < n && !rc; k++) {
    sw_arena mem = {0};
    rc = sw_cancelled(b->o->cancel) ? SW_FAIL(b->d, SW_E_CANCELLED, SW_NOWHERE, "interrupted")
                                    : run_seed(b, name, k + 1, &mem, &costs[k]);
    sw_arena_deinit(&mem);
  }
  if (!rc) qsort(costs, (size_t)n, sizeof *costs, sw_compare_i64);
  if (!rc && o) {
    sw_jw_end(o);
    if (costs[0] < SW_FORBIDDEN) sw_jw_i64(o, "least_cost", costs[0]);
    if (costs[n / 2] < SW_FORBIDDEN) sw_jw_i64(o, "middle_cost", costs[n / 2]);
    sw_jw_end(o);
  } else if (!rc && n > 1) {
    sw_text t = {0};
    sw_text_printf(&t, "%-14s      least %lld, middle %lld of %d", sw_path_base(name), (long long)costs[0],
                   (long long)costs[n / 2], n);
    rc = sw_bench_emit(b->line, &t, b->d);
  }
  sw_arena_deinit(&arena);
  return rc;
}

sw_rc sw_bench_solve(const sw_bench_solve_options *o, sw_bench_line line, sw_diag *d) {
  bench b = {.o = o, .line = line, .d = d};
  if (o->json)
    sw_jw_array(o->json, "instances");
  else
    SW_TRY(emit_head(&b));
  for (int k = 0; k < o->n_instances; k++)
    SW_TRY_NOTE(d, run_instance(&b, o->instances[k]), "on '%s'", o->instances[k]);
  if (o->json) sw_jw_end(o->json);
  return SW_OK;
}
