/* What people ask first of a step: how many samples and tokens a device gets through a second, and which part of its
 * peak the model's contractions are.
 *
 * A contraction counts as it is written, and once: one that takes the same operands as an earlier one, through ops that
 * are the same, is a copy made again, and so is one of which JAX says so. So does the gradient of attention make the
 * scores again, one of its five products.
 */
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/hash.h"
#include "graph/attention.h"
#include "graph/find.h"
#include "schedule/same_ops.h"
#include "shardwright/profile.h"
#include "shardwright/report.h"

sw_rc sw_batch_dim_parse(const sw_graph *g, const char *text, sw_batch_dim *out, sw_diag *d) {
  const char *colon = strrchr(text, ':');
  char *end = NULL;
  const size_t n = colon ? (size_t)(colon - text) : 0;
  const long dim = colon ? strtol(colon + 1, &end, 10) : 0;
  if (!n || end == colon + 1 || *end)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a batch dimension is '%s'; expected ARG:DIM, as x:0", text);
  const sw_id value = sw_find_named(g, text, n);
  if (value < 0 || g->values[value].def >= 0)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "there is no argument '%.*s'; expected ARG:DIM, as x:0", (int)n, text);
  if (dim < 0 || dim >= g->values[value].type.rank)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s' has no dimension %ld; expected one of its %d, from 0 on", (int)n,
                   text, dim, g->values[value].type.rank);
  *out = (sw_batch_dim){true, value, (int)dim};
  return SW_OK;
}

/* --- what a step works on ----------------------------------------------------------------------------------------- */

static bool is_input(const sw_value *v) { return v->kind == SW_VALUE_INPUT; }

/* Has the input a dim of this size that is cut; or, where that is not asked, is its first of this size? */
static bool has_size(const sw_plan *p, int32_t arg, bool cut, int64_t size) {
  const sw_value *v = &p->job.graph->values[p->job.graph->args[arg]];
  if (!is_input(v)) return false;
  for (int k = 0; k < (cut ? v->type.rank : sw_min_i64(v->type.rank, 1)); k++)
    if (v->type.dims[k] == size && (!cut || sw_sharding_shards(&p->args[arg], k) > 1)) return true;
  return false;
}

/* The size along which most inputs are cut, the first of several; where none is, that of most first dims. 0: there are
 * no inputs. */
static int64_t batch_size_of(const sw_plan *p, bool cut) {
  const sw_graph *g = p->job.graph;
  int64_t best = 0;
  int32_t most = 0;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_type *t = &g->values[g->args[i]].type;
    for (int k = 0; k < t->rank; k++) {
      int32_t n = 0;
      if (!has_size(p, i, cut, t->dims[k])) continue;
      for (int32_t j = 0; j < g->n_args; j++) n += has_size(p, j, cut, t->dims[k]);
      if (n > most) most = n, best = t->dims[k];
    }
  }
  return best || !cut ? best : batch_size_of(p, false);
}

/* Of the largest input of whole numbers that is [batch, seq]. */
static int64_t count_tokens(const sw_graph *g, int64_t batch) {
  int64_t most = 0;
  for (int32_t i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    const sw_dtype_class c = sw_dtype_class_of(v->type.dtype);
    if (!is_input(v) || v->type.rank != 2 || v->type.dims[0] != batch) continue;
    if ((c == SW_CLASS_SIGNED || c == SW_CLASS_UNSIGNED) && v->type.dims[1] > most) most = v->type.dims[1];
  }
  return most * batch;
}

/* --- flops of the model ------------------------------------------------------------------------------------------- */

typedef struct counter {
  const sw_graph *g;
  sw_id *number; /* by value: equal ones have one */
  sw_dict seen;  /* ops by what they are and take */
  sw_text key;
} counter;

/* *fresh: no op before does the same. */
static sw_rc number_op(counter *c, sw_id id, bool *fresh, sw_diag *d) {
  const sw_op *op = &c->g->ops[id];
  int64_t *slot = NULL;
  *fresh = true;
  if (sw_op_is_of_operands(op)) {
    sw_op_likeness(c->g, op, c->number, &c->key);
    if (c->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
    SW_TRY(sw_dict_put(&c->seen, c->key.at, c->key.n, id, &slot, fresh, d));
  }
  const sw_op *as = *fresh ? op : &c->g->ops[*slot];
  for (int i = 0; i < op->n_results; i++)
    c->number[op->results[i]] = *fresh ? as->results[i] : c->number[as->results[i]];
  return SW_OK;
}

static bool is_copy_by_name(const sw_op *op) {
  return op->location.scope && strstr(op->location.scope, "rematted_computation");
}

/* Adds what the op counts, and the seconds that it takes one device at its peak. */
static void count_op_flops(const sw_plan *p, const sw_op *op, sw_throughput *out, double *peak_s) {
  const double kNotAgain = op->code == SW_OP_ATTENTION_GRAD ? 4.0 / 5 : 1;
  sw_work w;
  if (sw_op_class_of(op->code) != SW_OPS_CONTRACTION && !sw_is_attention(op->code)) return;
  sw_op_shape(&p->job, op, NULL, &w);
  const double flops = w.flops * kNotAgain * (double)op->repeats;
  out->model_flops += flops;
  *peak_s += flops / sw_profile_rate(sw_machine_profile(p->job.machine), &w);
}

static sw_rc count_plan_flops(counter *c, const sw_plan *p, sw_throughput *out, double *peak_s, sw_diag *d) {
  for (int32_t v = 0; v < c->g->n_values; v++) c->number[v] = v;
  for (sw_id i = 0; i < c->g->n_ops; i++) {
    const sw_op *op = &c->g->ops[i];
    bool fresh;
    SW_TRY(number_op(c, i, &fresh, d));
    if (fresh && !is_copy_by_name(op)) count_op_flops(p, op, out, peak_s);
  }
  return SW_OK;
}

sw_rc sw_throughput_measure(const sw_plan *p, const sw_breakdown *a, const sw_batch_dim *of, sw_arena *arena,
                            sw_throughput *out, sw_diag *d) {
  const double devices = (double)sw_mesh_devices(sw_machine_mesh(p->job.machine));
  counter c = {.g = p->job.graph};
  double peak_s = 0;
  *out = (sw_throughput){.batch = of && of->given ? c.g->values[of->value].type.dims[of->dim] : batch_size_of(p, true)};
  if (out->batch) out->tokens = count_tokens(c.g, out->batch);
  SW_ARENA_NEW(c.number, arena, c.g->n_values, d);
  const sw_rc rc = count_plan_flops(&c, p, out, &peak_s, d);
  sw_dict_deinit(&c.seen);
  sw_text_free(&c.key);
  if (rc || a->total_s <= 0) return rc;
  out->samples_per_s = (double)out->batch / a->total_s / devices;
  out->tokens_per_s = (double)out->tokens / a->total_s / devices;
  out->utilisation = peak_s / a->total_s / devices;
  return SW_OK;
}
