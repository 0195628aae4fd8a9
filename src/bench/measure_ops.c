/* Each probe is a model of one op, written as text, read and run again and again; its time is the shortest seen. Work
 * (flops and bytes) is what planning counts for that op, so that errors of counting are fitted too.
 */
#include "bench/measure_ops.h"

#include <math.h>

#include "shardwright/exec.h"
#include "shardwright/model_json.h"

typedef struct probe {
  const char *op, *attrs;
  int n_inputs;
  int64_t rows, cols; /* of every input */
} probe;

static const double kLargeBytes = 1 << 20;

#define DOT "\"lhs_contract\": [1], \"rhs_contract\": [0]"
static const probe kProbes[] = {
    {"dot_general", DOT, 2, 16, 16},
    {"dot_general", DOT, 2, 64, 64},
    {"dot_general", DOT, 2, 256, 256},
    {"dot_general", DOT, 2, 768, 768},
    {"add", "", 2, 16, 16},
    {"add", "", 2, 256, 256},
    {"add", "", 2, 1024, 2048},
    {"maximum", "", 2, 64, 64},
    {"maximum", "", 2, 1024, 1024},
    {"negate", "", 1, 32, 32},
    {"negate", "", 1, 1024, 2048},
    {"multiply", "", 2, 512, 512},
    {"transpose", "\"permutation\": [1, 0]", 1, 512, 512},
};

static sw_rc build_probe(const probe *p, sw_graph **out, sw_diag *d) {
  sw_text t = {0};
  const char *second = p->n_inputs > 1 ? ", \"b\"" : "";
  sw_text_puts(&t, "{\"format\": \"shardwright-model\", \"version\": 1, \"name\": \"probe\", \"values\": [");
  for (int i = 0; i < p->n_inputs; i++)
    sw_text_printf(&t, "{\"name\": \"%c\", \"kind\": \"input\", \"dtype\": \"f32\", \"shape\": [%lld, %lld]}, ",
                   'a' + i, (long long)p->rows, (long long)p->cols);
  sw_text_printf(&t,
                 "{\"name\": \"y\", \"kind\": \"output\"}], \"ops\": [{\"op\": \"%s\", \"inputs\": [\"a\"%s], "
                 "\"outputs\": [\"y\"], \"attrs\": {%s}}]}",
                 p->op, second, p->attrs);
  sw_rc rc = t.rc ? t.rc : sw_model_parse("probe", sw_text_str(&t), t.n, out, d);
  sw_text_free(&t);
  return rc;
}

/* The shortest time of the graph's only op, over at least three runs and `min_s` seconds. */
static sw_rc time_op(const sw_graph *g, const sw_buffer *const *args, double min_s, sw_cancel *cancel, double *out,
                     sw_diag *d) {
  sw_exec_time *times;
  SW_MEM_NEW(times, g->n_ops, d);
  double until = sw_now_s() + min_s;
  sw_rc rc = SW_OK;
  *out = HUGE_VAL;
  for (int run = 0; !rc && (run < 3 || sw_now_s() < until); run++) {
    sw_tensor y = {0};
    sw_exec_options o = {.times = times, .cancel = cancel};
    rc = sw_exec_run(g, args, &o, &y, d);
    sw_tensor_deinit(&y);
    for (int i = 0; i < g->n_ops && !rc; i++)
      if (times[i].end_s > times[i].start_s) *out = fmin(*out, times[i].end_s - times[i].start_s);
  }
  sw_mem_free(times);
  return rc;
}

static sw_rc measure_probe(const probe *p, const sw_graph *g, double min_s, sw_cancel *cancel, sample *out,
                           sw_diag *d) {
  sw_tensor in[2] = {0};
  const sw_buffer *args[] = {&in[0], &in[1]};
  sw_rc rc = SW_OK;
  for (int i = 0; i < p->n_inputs && !rc; i++) {
    rc = sw_tensor_init(&in[i], SW_F32, 2, (int64_t[]){p->rows, p->cols}, d);
    if (!rc) rc = sw_tensor_fill(&in[i], &(sw_fill){.kind = SW_FILL_RANDOM, .seed = 1, .limit = 1}, d);
  }
  if (!rc) rc = time_op(g, args, min_s, cancel, &out->measured_s, d);
  for (int i = 0; i < 2; i++) sw_tensor_deinit(&in[i]);
  if (!rc) sw_op_work(g, &g->ops[0], NULL, &out->work.flops, &out->work.bytes);
  out->bytes = out->work.bytes;
  return rc;
}

sw_rc sw_measure_ops(double min_s, sw_cancel *cancel, sample_set *set, sample_list *list, double *flop_per_s,
                     double *bytes_per_s, sw_diag *d) {
  *flop_per_s = *bytes_per_s = 0;
  for (size_t i = 0; i < sizeof kProbes / sizeof kProbes[0]; i++) {
    sw_graph *g;
    sample s = {.layout = -1, .work.dtype = SW_F32, .train = true, .source = sw_sample_source(set, kProbes[i].op)};
    SW_TRY(build_probe(&kProbes[i], &g, d));
    sw_rc rc = measure_probe(&kProbes[i], g, min_s, cancel, &s, d);
    sw_graph_destroy(g);
    if (rc) return rc;
    s.weight = s.bytes < kLargeBytes ? 0.3 : 1; /* most time goes into the large ones */
    *flop_per_s = fmax(*flop_per_s, s.work.flops / s.measured_s);
    *bytes_per_s = fmax(*bytes_per_s, s.bytes / s.measured_s);
    SW_TRY(sw_array_push(list, s, d));
  }
  return SW_OK;
}
