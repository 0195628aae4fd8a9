/* SPMD programs from text: on all devices alone, and as one side of a validation.
 *
 *   all_reduce of groups {0, 2}, {1, 3} over 4 devices: one communicator, whose groups are lists
 */
#include "shardwright/local.h"

#include <string.h>

#include "exec/parallel.h"
#include "exec/validate/parts.h"
#include "exec/validate/processes.h"
#include "exec/validate/sharded.h"

static sw_cut cut_of(const sw_local_program *p, const sw_local_border *b, const sw_buffer *whole, int64_t stride) {
  return (sw_cut){.mesh = &p->mesh,
                  .sharding = &b->sharding,
                  .whole = whole,
                  .position = p->position,
                  .end = p->devices,
                  .stride = stride,
                  .poison = true};
}

/* --- the run ------------------------------------------------------------------------------------------------------ */

/* The devices' arguments. */
typedef struct blocks_in {
  sw_tensor *at;
  bool *own;
  int64_t n;
} blocks_in;

static sw_rc cut_all(const sw_local_program *p, const sw_tensor *args, const sw_parallel *run, blocks_in *in,
                     sw_diag *d) {
  int32_t n = p->graph->n_args;
  for (int32_t i = 0; i < n; i++) {
    sw_cut c = cut_of(p, &p->args[i], &args[i], n);
    bool borrows;
    c.first = run->first;
    c.end = run->end;
    SW_TRY(sw_cut_blocks(&c, in->at + i, in->own + i, &borrows, d));
  }
  return SW_OK;
}

/* What is left of other devices in other processes comes here. */
static sw_rc share(const sw_local_program *p, const sw_parallel *run, sw_tensor *blocks, sw_local_stats *stats,
                   sw_arena *arena, sw_diag *d) {
  sw_processes all = {run->comm, run->grid, run->first};
  sw_validation sum = {.comm = stats->comm};
  SW_TRY(sw_processes_share_tensors(&all, p->graph->n_outputs, blocks, d));
  SW_TRY(sw_processes_share_findings(&all, 0, &sum, arena, d));
  stats->comm = sum.comm;
  return SW_OK;
}

static sw_rc admit_program(const sw_local_program *p, sw_arena *arena, sw_diag *d) {
  const sw_sharding **args;
  int32_t n = p->graph->n_args;
  SW_ARENA_NEW(args, arena, n, d);
  for (int32_t i = 0; i < n; i++) args[i] = &p->args[i].sharding;
  return sw_parallel_admit(p->graph, args, p->devices, d);
}

static sw_rc run_on_blocks(const sw_local_program *p, const sw_tensor *args, sw_parallel *run, blocks_in *in,
                           sw_tensor *blocks, sw_local_stats *stats, sw_arena *arena, sw_diag *d) {
  sw_exec_program program = {.graph = p->graph};
  SW_ARENA_NEW_EACH(arena, in->n, d, in->at, in->own);
  SW_TRY(cut_all(p, args, run, in, d));
  SW_TRY(sw_parallel_run(run, &program, &(sw_exec_options){.poison = true}, in->at, blocks, d));
  stats->seconds = run->seconds;
  stats->device = run->first;
  sw_parallel_add_stats(run, &stats->comm);
  return run->o->mpi ? share(p, run, blocks, stats, arena, d) : SW_OK;
}

sw_rc sw_local_run(const sw_local_program *p, const sw_tensor *args, const sw_parallel_options *o, sw_tensor *blocks,
                   sw_local_stats *stats, sw_diag *d) {
  static const sw_parallel_options kNone;
  int64_t n_blocks = p->devices * p->graph->n_outputs;
  blocks_in in = {.n = p->devices * p->graph->n_args};
  sw_arena arena = {0};
  sw_parallel run;
  *stats = (sw_local_stats){0};
  memset(blocks, 0, (size_t)n_blocks * sizeof *blocks);
  sw_rc rc = o && o->mpi ? SW_OK : admit_program(p, &arena, d);
  if (rc) return sw_arena_deinit(&arena), rc;
  rc = sw_parallel_open(&p->grid, o ? o : &kNone, &run, d);
  if (!rc) rc = run_on_blocks(p, args, &run, &in, blocks, stats, &arena, d);
  rc = sw_parallel_close(&run, rc, d);
  for (int64_t i = 0; in.own && i < in.n; i++) {
    if (in.own[i]) sw_tensor_deinit(&in.at[i]);
  }
  for (int64_t i = 0; rc && i < n_blocks; i++) sw_tensor_deinit(&blocks[i]);
  sw_arena_deinit(&arena);
  return rc;
}

/* --- whole outputs ------------------------------------------------------------------------------------------------ */

/* Devices later in order than others that hold the same elements agree with them, or those are counted. */
static sw_rc join_blocks(const sw_cut *c, const sw_tensor *blocks, sw_tensor *out, int64_t *torn, sw_diag *d) {
  for (int64_t device = c->end - 1; device >= 0; device--) { /* the first device's word counts */
    sw_block_copy(c->mesh, c->sharding, out, &blocks[device * c->stride], sw_cut_position(c, device), true);
  }
  for (int64_t device = 1; device < c->end && torn; device++) {
    sw_difference diff;
    sw_block_pair pair = {c->mesh, c->sharding, out, &blocks[device * c->stride], NULL, sw_cut_position(c, device)};
    SW_TRY(sw_block_compare(&pair, (sw_tolerance){0, 0}, &diff, d));
    *torn += diff.differing;
  }
  return SW_OK;
}

/* The parts are combined in copies: they are the caller's to read. */
static sw_rc join_parts(const sw_cut *c, const sw_tensor *blocks, sw_tensor *out, int64_t *torn, sw_diag *d) {
  sw_tensor *copies;
  sw_sharding complete;
  sw_cut of_copies = *c;
  sw_rc rc = SW_OK;
  of_copies.stride = 1;
  SW_MEM_NEW(copies, c->end, d);
  memset(copies, 0, (size_t)c->end * sizeof *copies);
  for (int64_t i = 0; i < c->end && !rc; i++) rc = sw_tensor_copy(&copies[i], &blocks[i * c->stride], d);
  if (!rc) rc = sw_parts_combine(&of_copies, copies, &complete, d);
  of_copies.sharding = &complete;
  if (!rc) rc = join_blocks(&of_copies, copies, out, torn, d);
  for (int64_t i = 0; i < c->end; i++) sw_tensor_deinit(&copies[i]);
  sw_mem_free(copies);
  return rc;
}

static sw_rc join_one(const sw_local_program *p, int32_t i, const sw_tensor *blocks, sw_tensor *out, int64_t *torn,
                      sw_diag *d) {
  const sw_local_border *b = &p->outputs[i];
  sw_cut c = cut_of(p, b, out, p->graph->n_outputs);
  SW_TRY(sw_tensor_init(out, b->whole.dtype, b->whole.rank, b->whole.dims, d));
  return (b->sharding.n_partial ? join_parts : join_blocks)(&c, blocks + i, out, torn, d);
}

sw_rc sw_local_join(const sw_local_program *p, const sw_tensor *blocks, sw_tensor *outputs, int64_t *torn, sw_diag *d) {
  int32_t n = p->graph->n_outputs;
  sw_rc rc = SW_OK;
  memset(outputs, 0, (size_t)n * sizeof *outputs);
  if (torn) *torn = 0;
  for (int32_t i = 0; i < n && !rc; i++) rc = join_one(p, i, blocks, &outputs[i], torn, d);
  for (int32_t i = 0; i < n && rc; i++) sw_tensor_deinit(&outputs[i]);
  return rc;
}

/* --- beside the whole --------------------------------------------------------------------------------------------- */

static sw_rc check_type(const char *what, const char *name, const sw_type *here, const sw_type *whole, bool said,
                        sw_diag *d) {
  if (sw_type_equal(here, whole)) return SW_OK;
  sw_text text = {0};
  sw_type_print(here, &text);
  sw_text_puts(&text, ", in the whole program ");
  sw_type_print(whole, &text);
  sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE, "%s '%s' is %s%s", what, name, sw_text_str(&text),
                           said ? "" : ", and nothing says how it is cut");
  sw_text_free(&text);
  return rc;
}

/* As many arguments and results. */
static sw_rc check_counts(const sw_graph *g, const sw_graph *whole, sw_diag *d) {
  if (whole->n_args == g->n_args && whole->n_outputs == g->n_outputs) return SW_OK;
  return SW_FAIL_INPUT(d, SW_NOWHERE, "the program has %d arguments and %d results, the whole one %d and %d", g->n_args,
                       g->n_outputs, whole->n_args, whole->n_outputs);
}

static sw_rc check_fit(const sw_local_program *p, const sw_graph *g, sw_diag *d) {
  SW_TRY(check_counts(p->graph, g, d));
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *x = &g->values[g->args[i]];
    SW_TRY(check_type("argument", x->name, &p->args[i].whole, &x->type, p->args[i].said, d));
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_type *y = &g->values[g->outputs[i]].type;
    SW_TRY(check_type("result", g->output_names[i], &p->outputs[i].whole, y, p->outputs[i].said, d));
  }
  return SW_OK;
}

sw_rc sw_sharded_against(sw_sharded *s, const sw_graph *whole, sw_diag *d) {
  const sw_graph *g = s->model;
  SW_TRY(check_counts(g, whole, d));
  for (int32_t i = 0; i < whole->n_args; i++) {
    const sw_value *x = &whole->values[whole->args[i]];
    SW_TRY(check_type("argument", x->name, &g->values[g->args[i]].type, &x->type, true, d));
  }
  for (int32_t i = 0; i < whole->n_outputs; i++) {
    const sw_type *y = &whole->values[whole->outputs[i]].type;
    SW_TRY(check_type("result", whole->output_names[i], &g->values[g->outputs[i]].type, y, true, d));
  }
  s->model = whole;
  s->layout = NULL; /* values of the other */
  s->origin = NULL;
  return SW_OK;
}

sw_rc sw_sharded_of_local(const sw_local_program *p, const sw_graph *model, sw_arena *arena, sw_sharded *out,
                          sw_diag *d) {
  const sw_sharding **args, **outputs;
  SW_TRY(check_fit(p, model, d));
  SW_ARENA_NEW(args, arena, model->n_args, d);
  SW_ARENA_NEW(outputs, arena, model->n_outputs, d);
  for (int32_t i = 0; i < model->n_args; i++) args[i] = &p->args[i].sharding;
  for (int32_t i = 0; i < model->n_outputs; i++) outputs[i] = &p->outputs[i].sharding;
  *out = (sw_sharded){.model = model,
                      .program = p->graph,
                      .grid = &p->grid,
                      .mesh = &p->mesh,
                      .position = p->position,
                      .args = args,
                      .outputs = outputs,
                      .layout = p->layout,
                      .origin = p->origin};
  return SW_OK;
}
