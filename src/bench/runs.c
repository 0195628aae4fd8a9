/* A row of measured runs, from the table to a model, a machine and a plan by rule.
 *
 *   mpt-1b, H100-80GB, 16 devices, FULL_SHARD, micro_batch 20
 *     gen mpt-1b --mode train --batch 320 --seq 2048 --dtype bf16 --param-dtype f32 --convert again
 *     profile h100 with 16 devices and the memory that its driver reports, mesh dp=16, plan "fsdp"
 */
#include "bench/runs.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "graph/attention.h"
#include "gen/gen.h"
#include "shardwright/kernel.h"
#include "shardwright/plan.h"
#include "shardwright/profile.h"
#include "shardwright/profile_json.h"

enum { MOST = 1 << 20 };

/* What a sharding's name means: the rule that cuts state and parameters, and whether backward gathers parameters again
 * (then forward's copy need not be kept). */
static const struct {
  const char *name;
  sw_baseline rule;
  const char *convert;
} kShardings[] = {
    {"FULL_SHARD", SW_BASELINE_FSDP, "again"},   /* ZeRO-3 */
    {"SHARD_GRAD_OP", SW_BASELINE_FSDP, "once"}, /* ZeRO-2 */
    {"FSDP2", SW_BASELINE_FSDP, "again"},
    {"NO_SHARD", SW_BASELINE_DATA_PARALLEL, "once"},
    {"", SW_BASELINE_FSDP, "once"}, /* one device */
};

/* In which types steps and products are made; of 8 bits gradients have a wider range than what runs forward. */
static const struct {
  const char *name, *type, *products;
} kDtypes[] = {{"bf16", "bf16", "same"}, {"fp8", "bf16", "f8-mixed"}, {"f16", "f16", "same"}};

/* How a source has its loss and attention, and what it clips gradients to: torchtitan calls cross_entropy on logits
 * that it widens, outside of what it compiles; Megatron-LM was run before it called flash attention. All clip to 1
 * where they are not told otherwise (llm-foundry in all of its settings of MPT), but for scripts/measure-steps. */
static const struct {
  const char *source, *loss, *attention, *clip_norm;
} kBuilt[] = {{"pytorch/torchtitan*", "called", "fused", "1"},
              {"VIA-Research/vTrain*", "fused", "plain", "1"},
              {"measure-steps*", "fused", "fused", "0"},
              {"*", "fused", "fused", "1"}};

/* What a source means by its word. */
static const struct {
  const char *source, *word; /* a final '*': whatever follows */
  sw_recompute how;
} kRecomputed[] = {
    {"*", "none", SW_RECOMPUTE_NONE},
    {"pytorch/torchtitan*", "full", SW_RECOMPUTE_FULL}, /* assumed to stop behind what is needed, others not */
    {"*", "full", SW_RECOMPUTE_WHOLE},
    {"pytorch/torchtitan*", "selective", SW_RECOMPUTE_TORCHTITAN},
    {"*", "selective", SW_RECOMPUTE_MEGATRON},
};

/* What a source ran in place of what its compiler's row says: Flash Attention of 2022, and weights of the first FSDP,
 * which are views of what is gathered. */
static const struct {
  const char *source, *library;
  bool unpacks;
} kCalled[] = {{"mosaicml/*", "flash-1", false}};

/* Sources that say recomputation, sizes and overlap of every row. */
static const char *const kJudged[] = {"mosaicml/", "pytorch/torchtitan", "measure-steps"};

/* Names of the table that are not those of the generators but for case and separators. */
static const struct { const char *name, *arch; } kNames[] = {{"llama31405b", "llama3-405b"}};

/* Further parameters of every model. */
static const sw_gen_arg kProgram[] = {{"mode", "train"}, {"optimizer", "adam"}, {"param-dtype", "f32"}};
enum { N_PROGRAM = sizeof kProgram / sizeof *kProgram };

/* --- reading ----------------------------------------------------------------------------------------------------- */

typedef struct columns {
  int source, model, hardware, gpus, dtype, seq, dp, tp, pp, cp, sharding, micro_batch, grad_accum, global_batch,
      recompute, notes, tokens_per_s, memory;
} columns;

static sw_rc find_columns(const sw_csv *t, columns *c, sw_diag *d) {
  const struct {
    const char *name;
    int *at;
  } all[] = {{"source", &c->source},
             {"model", &c->model},
             {"hardware", &c->hardware},
             {"gpus", &c->gpus},
             {"dtype", &c->dtype},
             {"seq", &c->seq},
             {"dp_or_fsdp", &c->dp},
             {"tp", &c->tp},
             {"pp", &c->pp},
             {"cp", &c->cp},
             {"sharding", &c->sharding},
             {"micro_batch", &c->micro_batch},
             {"grad_accum", &c->grad_accum},
             {"global_batch", &c->global_batch},
             {"recompute", &c->recompute},
             {"notes", &c->notes},
             {"tokens_per_s_per_gpu", &c->tokens_per_s},
             {"peak_mem_gib", &c->memory}};
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) SW_TRY(sw_csv_column(t, all[i].name, all[i].at, d));
  return SW_OK;
}

static sw_rc read_optional_number(const sw_csv *t, int64_t row, int col, double missing, double *out, sw_diag *d) {
  *out = missing;
  return *sw_csv_at(t, row, col) ? sw_csv_number(t, row, col, out, d) : SW_OK;
}

/* A whole number of 1 and more, small enough for products of three; an empty cell is `missing`. */
static sw_rc read_count(const sw_csv *t, int64_t row, int col, int64_t missing, int64_t *out, sw_diag *d) {
  double v;
  SW_TRY(read_optional_number(t, row, col, (double)missing, &v, d));
  if (v != floor(v) || v > MOST || (v < 1 && *sw_csv_at(t, row, col))) {
    return SW_FAIL_INPUT(d, ((sw_span){t->file, t->line[row], 1}), "%s is '%s'; expected a whole number from 1 to %d",
                         t->head[col], sw_csv_at(t, row, col), MOST);
  }
  *out = (int64_t)v;
  return SW_OK;
}

static sw_rc read_run_row(const sw_csv *t, const columns *c, int64_t i, sw_run_row *r, sw_diag *d) {
  *r = (sw_run_row){.line = t->line[i],
                    .source = sw_csv_at(t, i, c->source),
                    .model = sw_csv_at(t, i, c->model),
                    .hardware = sw_csv_at(t, i, c->hardware),
                    .dtype = sw_csv_at(t, i, c->dtype),
                    .sharding = sw_csv_at(t, i, c->sharding),
                    .recompute = sw_csv_at(t, i, c->recompute),
                    .notes = sw_csv_at(t, i, c->notes)};
  const struct {
    int col;
    int64_t missing, *out;
  } counts[] = {{c->gpus, 0, &r->gpus},
                {c->seq, 0, &r->seq},
                {c->tp, 1, &r->tp},
                {c->pp, 1, &r->pp},
                {c->cp, 1, &r->cp},
                {c->micro_batch, 0, &r->micro_batch},
                {c->global_batch, 0, &r->global_batch}};
  for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
    SW_TRY(read_count(t, i, counts[k].col, counts[k].missing, counts[k].out, d));
  SW_TRY(read_count(t, i, c->dp, r->gpus / (r->tp * r->pp * r->cp), &r->dp, d));
  int64_t at_once = r->micro_batch * r->dp;
  SW_TRY(read_count(t, i, c->grad_accum, at_once ? r->global_batch / at_once : 0, &r->accumulations, d));
  SW_TRY(read_optional_number(t, i, c->tokens_per_s, 0, &r->tokens_per_s, d));
  SW_TRY(read_optional_number(t, i, c->memory, 0, &r->memory_gib, d));
  double rate = r->tokens_per_s * (double)r->gpus;
  if (rate > 0) r->measured_s = (double)r->global_batch * (double)r->seq / rate;
  return SW_OK;
}

sw_rc sw_runs_of(const sw_csv *t, const char *only, sw_arena *arena, sw_runs *out, sw_diag *d) {
  columns c;
  SW_TRY(find_columns(t, &c, d));
  *out = (sw_runs){0};
  SW_ARENA_NEW(out->rows, arena, t->n_rows, d);
  for (int64_t i = 0; i < t->n_rows; i++) {
    if (only && !strstr(sw_csv_at(t, i, c.model), only)) continue;
    SW_TRY(read_run_row(t, &c, i, &out->rows[out->n++], d));
  }
  return SW_OK;
}

sw_rc sw_runs_read(const char *path, const char *only, sw_arena *arena, sw_runs *out, sw_diag *d) {
  sw_csv t;
  SW_TRY(sw_csv_read(path, arena, &t, d));
  return sw_runs_of(&t, only, arena, out, d);
}

/* --- predicting -------------------------------------------------------------------------------------------------- */

static bool starts_with(const char *text, const char *prefix) { return strncmp(text, prefix, strlen(prefix)) == 0; }

sw_rc sw_run_profiles_read(sw_arena *arena, sw_run_profiles *out, sw_diag *d) {
  const char *const *names;
  int n;
  SW_TRY(sw_profile_names(arena, &names, &n, d));
  *out = (sw_run_profiles){0};
  SW_ARENA_NEW(out->at, arena, n * SW_MAX_RUN_HARDWARE, d);
  for (int i = 0; i < n; i++) {
    const sw_profile *shipped;
    SW_TRY(sw_profile_read(names[i], arena, &shipped, d));
    for (int k = 0; k < shipped->n_run_hardware; k++) {
      const sw_run_hardware *h = &shipped->run_hardware[k];
      sw_profile *own = sw_arena_copy(arena, shipped, 1, sizeof *shipped, d);
      if (!own) return SW_E_RESOURCE;
      own->n_run_hardware = 1;
      own->run_hardware[0] = *h;
      own->memory_bytes = h->memory_bytes;
      own->memory_bytes_per_s = h->memory_bytes_per_s;
      for (int t = 0; t < SW_DTYPE_COUNT; t++) own->flop_per_s[t] *= h->clock;
      for (int rate = 0; rate < SW_PRECISION_COUNT; rate++) own->f32_per_s[rate] *= h->clock;
      out->at[out->n++] = own;
    }
  }
  return SW_OK;
}

const sw_profile *sw_run_profile_of(const sw_run_profiles *all, const sw_run_row *r) {
  for (int i = 0; i < all->n; i++) {
    if (sw_csv_fits(all->at[i]->run_hardware[0].name, r->hardware)) return all->at[i];
  }
  return NULL;
}

static int sharding_index_of(const sw_run_row *r) {
  for (int i = 0; i < (int)(sizeof kShardings / sizeof *kShardings); i++) {
    if (strcmp(r->sharding, kShardings[i].name) == 0) return i;
  }
  return -1;
}

bool sw_run_recomputes(const sw_run_row *r) { return strcmp(r->recompute, "none") != 0; }

const char *sw_run_kind_text(const sw_run_row *r) {
  return r->accumulations > 1 ? "accumulates" : sw_run_recomputes(r) ? "recomputes" : "neither";
}

/* SW_RECOMPUTE_COUNT: not said, or not known. */
static sw_recompute run_recompute_of(const sw_run_row *r) {
  for (size_t i = 0; i < sizeof kRecomputed / sizeof *kRecomputed; i++) {
    const bool says = sw_csv_fits(kRecomputed[i].word, r->recompute);
    if (says && sw_csv_fits(kRecomputed[i].source, r->source)) return kRecomputed[i].how;
  }
  return SW_RECOMPUTE_COUNT;
}

/* GPT of sizes that its name says: width, layers, heads. */
static bool is_megatron_gpt(const sw_run_row *r, int64_t sizes[3]) {
  return sscanf(r->model, "megatron-gpt-h%" SCNd64 "-l%" SCNd64 "-a%" SCNd64, &sizes[0], &sizes[1], &sizes[2]) == 3;
}

/* The generators' name; NULL: they have none. */
static const char *arch_of(const sw_run_row *r) {
  char wanted[64], have[64];
  int64_t sizes[3];
  const sw_gen_arch *a;
  if (is_megatron_gpt(r, sizes)) return "gpt2";
  sw_csv_plain_name(r->model, wanted, sizeof wanted);
  for (size_t i = 0; i < sizeof kNames / sizeof *kNames; i++) {
    if (strcmp(kNames[i].name, wanted) == 0) return kNames[i].arch;
  }
  for (int i = 0; (a = sw_gen_arch_at(i)); i++) {
    sw_csv_plain_name(a->name, have, sizeof have);
    if (strcmp(have, wanted) == 0) return a->name;
  }
  return NULL;
}

static int dtype_index_of(const sw_run_row *r) {
  for (int i = 0; i < (int)(sizeof kDtypes / sizeof *kDtypes); i++)
    if (strcmp(r->dtype, kDtypes[i].name) == 0) return i;
  return -1;
}

/* Why nothing is predicted; NULL: it is. */
static const char *reason_left_out(const sw_run_row *r, const sw_profile *p) {
  if (r->gpus < 1 || r->seq < 1 || r->micro_batch < 1 || r->global_batch < 1) return "sizes are not said";
  if (!(r->tokens_per_s > 0)) return "no time";
  if (r->pp > 1) return "stages";
  if (r->cp > 1) return "cuts sequences";
  if (run_recompute_of(r) == SW_RECOMPUTE_COUNT)
    return *r->recompute ? "recomputation not known" : "recomputation not said";
  if (r->tp > 1) return "tp beside it";
  if (!arch_of(r)) return "model not known";
  if (!p) return "hardware not known";
  if (sharding_index_of(r) < 0 || (!*r->sharding && r->gpus > 1)) return "strategy not known";
  return dtype_index_of(r) < 0 ? "type not known" : NULL;
}

static sw_rc generate(const sw_run_row *r, sw_graph **out, sw_diag *d) {
  char seq[24], batch[24], gpt[3][24];
  const int dtype = dtype_index_of(r);
  const int64_t examples = r->micro_batch * r->dp;
  int64_t sizes[3];
  int n = N_PROGRAM, built = 0;
  while (!sw_csv_fits(kBuilt[built].source, r->source)) built++;
  snprintf(seq, sizeof seq, "%lld", (long long)r->seq);
  snprintf(batch, sizeof batch, "%lld", (long long)examples);
  sw_gen_arg args[N_PROGRAM + 12];
  memcpy(args, kProgram, sizeof kProgram);
  args[n++] = (sw_gen_arg){"seq", seq};
  args[n++] = (sw_gen_arg){"batch", batch};
  args[n++] = (sw_gen_arg){"convert", kShardings[sharding_index_of(r)].convert};
  args[n++] = (sw_gen_arg){"dtype", kDtypes[dtype].type};
  args[n++] = (sw_gen_arg){"matmul-dtype", kDtypes[dtype].products};
  args[n++] = (sw_gen_arg){"loss", kBuilt[built].loss};
  args[n++] = (sw_gen_arg){"attention", kBuilt[built].attention};
  args[n++] = (sw_gen_arg){"clip-norm", kBuilt[built].clip_norm};
  for (int i = 0; is_megatron_gpt(r, sizes) && i < 3; i++) {
    static const char *const kSizes[] = {"hidden", "layers", "heads"};
    snprintf(gpt[i], sizeof gpt[i], "%lld", (long long)sizes[i]);
    args[n++] = (sw_gen_arg){kSizes[i], gpt[i]};
  }
  return sw_gen_model(arch_of(r), args, n, out, d);
}

const char *sw_run_scale_text(int i) {
  static const char *const kScales[SW_RUN_SCALES] = {"products", "attention", "other"};
  return kScales[i];
}

double sw_run_step_s(const sw_run_parts *p, const sw_run_scales *s) {
  double sum_s = p->rest_s;
  for (int k = 0; k < SW_RUN_SCALES; k++) sum_s += s->of[k] * p->kernels_s[k];
  return sum_s;
}

/* A state that is not converted to be used: no master weight. */
static bool is_moment(const sw_graph *g, const sw_value *v) {
  if (v->kind != SW_VALUE_STATE) return false;
  for (int32_t u = 0; u < v->n_uses; u++)
    if (v->uses[u].op >= 0 && g->ops[v->uses[u].op].code == SW_OP_CONVERT) return false;
  return true;
}

static bool is_of_clipping(const sw_op *op) { return op->function && strcmp(op->function, SW_GEN_CLIP) == 0; }

/* Marks what is made of an optimizer's moments, the update, and the norm that it waits for. */
static sw_rc mark_updates(const sw_graph *g, sw_arena *arena, bool **out, sw_diag *d) {
  SW_ARENA_NEW(*out, arena, g->n_values, d);
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool updates = is_of_clipping(op);
    for (int k = 0; k < op->n_operands; k++)
      updates = updates || (*out)[op->operands[k]] || is_moment(g, &g->values[op->operands[k]]);
    for (int k = 0; k < op->n_results; k++) (*out)[op->results[k]] = updates;
  }
  return SW_OK;
}

/* Of a step of so many micro-batches, each priced as a step of its own: but one leave the update out. */
static sw_rc fill_parts(const sw_job *j, const sw_breakdown *b, double micro_batches, sw_run_parts *out,
                        sw_arena *arena, sw_diag *d) {
  const sw_graph *g = j->graph;
  bool *updates;
  *out = (sw_run_parts){.rest_s = b->total_s * micro_batches};
  SW_TRY(mark_updates(g, arena, &updates, d));
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_op *op = &g->ops[i];
    const int kind = sw_op_class_of(op->code) == SW_OPS_CONTRACTION ? 0 : sw_is_attention(op->code) ? 1 : 2;
    const double took_s = (b->op[i].local_s - b->op[i].launch_s) * (double)op->repeats;
    out->kernels_s[kind] += took_s * (op->n_results && updates[op->results[0]] ? 1 : micro_batches);
    out->rest_s -= took_s * micro_batches;
  }
  return SW_OK;
}

static const char *compiler_of(const sw_run_row *r) {
  return r->notes && strstr(r->notes, "torch.compile") ? "inductor" : "eager";
}

static sw_software software_of(const sw_run_row *r, const sw_job *j, double in_step) {
  sw_software s = j->kernels->software;
  if (in_step > 0) s.in_step = in_step;
  for (size_t i = 0; i < sizeof kCalled / sizeof *kCalled; i++)
    if (sw_csv_fits(kCalled[i].source, r->source)) s.library = kCalled[i].library, s.unpacks = kCalled[i].unpacks;
  return s;
}

static sw_rc price_by_rule(sw_run_row *r, const sw_job *j, sw_arena *arena, sw_diag *d) {
  sw_plan plan;
  sw_breakdown b;
  SW_TRY(sw_baseline_build(j, kShardings[sharding_index_of(r)].rule, arena, &plan, d));
  SW_TRY(sw_plan_breakdown(&plan, arena, &b, d));
  const double micro_batches = (double)r->global_batch / (double)(r->micro_batch * r->dp);
  SW_TRY(fill_parts(j, &b, fmax(1, micro_batches), &r->parts, arena, d));
  r->predicted_s = sw_run_step_s(&r->parts, &(sw_run_scales){{1, 1, 1}});
  r->peak_bytes = b.peak_bytes;
  r->capacity_bytes = sw_profile_memory_bytes(sw_machine_profile(j->machine));
  return SW_OK;
}

static sw_rc price_recomputing(sw_run_row *r, const sw_job *j, sw_arena *arena, sw_diag *d) {
  const bool gathers_again = strcmp(kShardings[sharding_index_of(r)].convert, "again") == 0;
  sw_schedule_spec spec;
  sw_schedule s;
  sw_job job;
  SW_TRY(sw_recompute_spec(j->graph, run_recompute_of(r), gathers_again, arena, &spec, d));
  SW_TRY(sw_schedule_make(j->request, &spec, arena, &s, d));
  sw_rc rc = sw_job_of_stage(j, &s, 0, arena, &job, d);
  if (!rc) rc = price_by_rule(r, &job, arena, d);
  sw_schedule_deinit(&s);
  return rc;
}

static sw_rc price_run(sw_run_row *r, const sw_profile *p, const sw_graph *g, sw_overlap overlap, double in_step,
                       sw_arena *arena, sw_diag *d) {
  sw_machine *machine;
  sw_mesh mesh;
  char text[32];
  snprintf(text, sizeof text, "dp=%lld", (long long)r->gpus);
  SW_TRY(sw_mesh_parse(text, arena, &mesh, d));
  SW_TRY(sw_machine_build(arena, p, &mesh, &machine, d));
  sw_job job;
  SW_TRY(sw_job_make(compiler_of(r), g->written, machine, arena, &job, d));
  job.overlap = overlap;
  const sw_software software = software_of(r, &job, in_step);
  SW_TRY(sw_machine_run(machine, &software, arena, d));
  return sw_run_recomputes(r) ? price_recomputing(r, &job, arena, d) : price_by_rule(r, &job, arena, d);
}

sw_rc sw_run_predict(sw_run_row *r, const sw_profile *p, sw_overlap overlap, double in_step, sw_diag *d) {
  r->left = reason_left_out(r, p);
  r->judged = false;
  r->device = r->left ? NULL : p->device_name;
  if (r->left) return SW_OK;
  for (size_t i = 0; i < sizeof kJudged / sizeof *kJudged; i++)
    r->judged = r->judged || starts_with(r->source, kJudged[i]);
  sw_graph *g;
  sw_arena arena = {0};
  SW_TRY_NOTE(d, generate(r, &g, d), "in row %d", (int)r->line);
  sw_rc rc = price_run(r, p, g, overlap, in_step, &arena, d);
  sw_graph_destroy(g);
  sw_arena_deinit(&arena);
  if (rc) sw_diag_note(d, "in row %d", (int)r->line);
  return rc;
}
