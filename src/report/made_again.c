/* A copy takes its own time and that of resharding what copies alone read. What all of them save is the peak of the
 * plan without copies (sw_plan_without_copies), in which compilers store no more than they do of any program, less the
 * plan's own. Of one value it is told what keeping it instead would hold:
 *
 *   step      0  1  2  3  4  5
 *   x         =====
 *   kept            ======              as the copy has it, from its last early reader up to the copy
 *   x.again               ===
 */
#include "report/made_again.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/columns.h"
#include "report/folded_rows.h"

/* Of a plan with its account: where each op of the program runs first, and up to when values are held. */
typedef struct account {
  const sw_plan *p;
  const sw_breakdown *a;
  sw_id *first;  /* by op of the program: its own; -1: not on this stage */
  int32_t *last; /* by value: the last step at which it is held, in whatever sharding */
} account;

static sw_rc find_account(const sw_plan *p, const sw_breakdown *a, sw_arena *arena, account *out, sw_diag *d) {
  const sw_graph *g = p->job.graph;
  *out = (account){.p = p, .a = a};
  SW_TRY(sw_job_own_ops(&p->job, arena, &out->first, d));
  SW_ARENA_NEW(out->last, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) out->last[v] = g->values[v].def;
  for (int32_t i = 0; i < a->n_live; i++) {
    const sw_live *l = &a->live[i];
    if (l->kind != SW_LIVE_BUFFER) out->last[l->value] = sw_max_i32(out->last[l->value], l->steps.last);
  }
  return SW_OK;
}

static const sw_entry *copy_entry(const sw_job *j, sw_id op) {
  const sw_entry *e = op < 0 ? NULL : sw_job_entry(j, op);
  return sw_entry_is_copy(e) ? e : NULL;
}

static bool is_copy(const sw_job *j, sw_id op) { return copy_entry(j, op) != NULL; }

/* Does an op of the program itself read what the copy makes, so that it would have to be kept? */
static bool is_read_late(const sw_job *j, sw_id value) {
  const sw_value *v = &j->graph->values[value];
  bool any = false;
  for (int32_t u = 0; u < v->n_uses; u++) any = any || !is_copy(j, v->uses[u].op);
  return any;
}

static double op_s(const account *c, sw_id op) {
  return (c->a->op[op].local_s + c->a->op[op].move_s) * (double)c->p->job.graph->ops[op].repeats;
}

static int64_t bytes_as_made(const sw_plan *p, sw_id value) {
  const sw_type *t = &p->job.graph->values[value].type;
  sw_sharding s;
  sw_plan_value_sharding(p, value, &s);
  return sw_sharding_held_bytes(&s, t->dims, t->dtype);
}

/* What would be held of a result of a copy, and when; false: nothing more. */
static bool find_kept_instead(const account *c, sw_id copy, int result, sw_interval *steps, int64_t *bytes) {
  const sw_graph *g = c->p->job.graph;
  const sw_id value = g->ops[copy].results[result], first = c->first[copy_entry(&c->p->job, copy)->op];
  if (first < 0 || !is_read_late(&c->p->job, value)) return false;
  *steps = (sw_interval){c->last[g->ops[first].results[result]] + 1, copy - 1};
  *bytes = bytes_as_made(c->p, value);
  return steps->first <= steps->last;
}

/* --- one value ---------------------------------------------------------------------------------------------------- */

static sw_id copy_of(const sw_job *j, sw_id value, int *result) {
  const sw_graph *g = j->graph;
  const sw_id def = g->values[value].def;
  const sw_entry *own = def < 0 ? NULL : sw_job_entry(j, def);
  if (!own || own->source) return -1;
  for (*result = 0; g->ops[def].results[*result] != value;) ++*result;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_entry *e = copy_entry(j, i);
    if (e && e->op == own->op && (i == def || !own->instance)) return i;
  }
  return -1;
}

/* In all trips of the loops that the op stands in. */
static double host_s(const sw_plan *p, sw_id op) {
  return sw_strategy_host_s(&p->job, &p->job.graph->ops[op], &p->ops[op]) * (double)p->job.graph->ops[op].repeats;
}

/* What an offload copies of a value, for each trip beside that of the others. */
static int64_t offloaded_bytes(const sw_plan *p, sw_id op) {
  return sw_strategy_host_bytes(p->job.graph, &p->job.graph->ops[op], &p->ops[op]) * p->job.graph->ops[op].repeats;
}

/* The offload of what is read on the host, through stacks. */
static sw_id offload_of(const sw_graph *g, sw_id value) {
  const sw_op *op = sw_value_maker(g, value);
  while (op->code != SW_OP_OFFLOAD) {
    const bool put_there = op->code == SW_OP_JOIN || op->code == SW_OP_DYNAMIC_UPDATE_SLICE;
    op = sw_value_maker(g, op->operands[put_there]);
  }
  return (sw_id)(op - g->ops);
}

/* Of a value of the program, what is offloaded of it. */
static void find_offload(const sw_plan *p, sw_id value, sw_again *out) {
  const sw_value *v = &p->job.graph->values[value];
  for (int32_t u = 0; u < v->n_uses; u++) {
    const sw_op *op = v->uses[u].op < 0 ? NULL : &p->job.graph->ops[v->uses[u].op];
    if (!op || op->code != SW_OP_OFFLOAD) continue;
    out->offload = v->uses[u].op;
    out->host_bytes = offloaded_bytes(p, out->offload);
    out->host_s = host_s(p, out->offload);
    for (sw_id i = out->offload; i < p->job.graph->n_ops; i++) {
      const sw_op *fetch = &p->job.graph->ops[i];
      if (fetch->code == SW_OP_FETCH && offload_of(p->job.graph, fetch->operands[0]) == out->offload)
        out->host_s += host_s(p, i);
    }
  }
}

/* Marks the copies that only this one needs, and counts them with what they take. */
static void add_needed(const account *c, bool *needed, sw_again *out) {
  const sw_plan *p = c->p;
  const sw_breakdown *a = c->a;
  const sw_graph *g = p->job.graph;
  for (sw_id i = out->copy; i >= 0; i--) {
    bool only = is_copy(&p->job, i) && i != out->copy;
    for (int k = 0; only && k < g->ops[i].n_results; k++) {
      const sw_value *v = &g->values[g->ops[i].results[k]];
      for (int32_t u = 0; u < v->n_uses; u++) only = only && v->uses[u].op >= 0 && needed[v->uses[u].op];
    }
    needed[i] = i == out->copy || only;
    if (!needed[i]) continue;
    out->n_ops++;
    out->seconds += op_s(c, i);
  }
  for (int32_t i = 0; i < a->n_reshards; i++) {
    bool only = true;
    for (int32_t u = 0; u < a->reshards[i].n_uses; u++)
      only = only && a->reshards[i].uses[u].op >= 0 && needed[a->reshards[i].uses[u].op];
    if (only) out->seconds += sw_plan_reshard_s(p, &a->reshards[i]);
  }
}

sw_rc sw_again_of(const sw_plan *p, const sw_breakdown *a, sw_id value, sw_arena *arena, sw_again *out, sw_diag *d) {
  int result = 0;
  bool *needed;
  account c;
  *out = (sw_again){.copy = -1, .offload = -1};
  find_offload(p, value, out);
  if (p->job.schedule) out->copy = copy_of(&p->job, value, &result);
  if (out->copy < 0) return SW_OK;
  SW_TRY(find_account(p, a, arena, &c, d));
  SW_ARENA_NEW(needed, arena, p->job.graph->n_ops, d);
  add_needed(&c, needed, out);
  if (!find_kept_instead(&c, out->copy, result, &out->steps, &out->bytes))
    out->steps = (sw_interval){out->copy, out->copy};
  out->fullest = out->steps.first;
  for (int32_t i = out->steps.first; i <= out->steps.last; i++)
    if (a->bytes_at[i] > a->bytes_at[out->fullest]) out->fullest = i;
  return SW_OK;
}

void sw_again_print(const sw_plan *p, const sw_breakdown *a, const sw_again *x, sw_text *out) {
  const sw_graph *g = p->job.graph;
  if (x->offload >= 0) {
    sw_text_printf(out, "offloaded by '%s', ", g->ops[x->offload].name);
    sw_text_bytes(out, (double)x->host_bytes);
    sw_text_puts(out, ", for ");
    sw_text_seconds(out, x->host_s);
    if (x->copy < 0) return;
    sw_text_puts(out, "; ");
  }
  sw_text_printf(out, "made again by '%s'", g->ops[x->copy].name);
  if (x->n_ops > 1) sw_text_printf(out, " with %d ops that it alone needs", x->n_ops - 1);
  sw_text_puts(out, ", for ");
  sw_text_seconds(out, x->seconds);
  if (!x->bytes) {
    sw_text_puts(out, "; only what is made again reads it");
    return;
  }
  sw_text_puts(out, "; kept it would hold ");
  sw_text_bytes(out, (double)x->bytes);
  sw_text_printf(out, " more from '%s' on, and at '%s' a device ", g->ops[x->steps.first].name,
                 g->ops[x->fullest].name);
  sw_text_bytes(out, (double)(a->bytes_at[x->fullest] + x->bytes));
  if (p->capacity_bytes == INT64_MAX) return;
  sw_text_puts(out, " of ");
  sw_text_bytes(out, (double)p->capacity_bytes);
}

/* --- all of them -------------------------------------------------------------------------------------------------- */

/* By op of the program: its copies; by value: it is kept, or offloaded. */
typedef struct tally {
  account of;
  sw_arena *arena;
  const char **names; /* by value of the program */
  double *seconds;    /* by op */
  int64_t *bytes;     /* by op that has copies: held at the peak without these */
  int64_t *kept;      /* by value: bytes */
  int64_t *on_host;   /* likewise */
  double *host_s;     /* likewise: there and back */
  bool *copied;       /* by op */
  sw_made_again *out;
} tally;

/* Beside the plan without copies: what that holds at its peak, and of it of what is made again here. */
static sw_rc find_saved(tally *t, sw_diag *d) {
  sw_schedule schedule = {0};
  sw_plan plan;
  sw_breakdown kept;
  if (!t->out->n_ops && !t->out->n_offloaded) return SW_OK;
  sw_rc rc = sw_plan_without_copies(t->of.p, t->arena, &schedule, &plan, d);
  if (!rc) rc = sw_plan_breakdown(&plan, t->arena, &kept, d);
  for (int32_t i = 0; !rc && i < kept.n_live; i++) {
    const sw_live *l = &kept.live[i];
    const sw_id def = l->value < 0 ? -1 : plan.job.graph->values[l->value].def;
    const sw_entry *e = def < 0 ? NULL : sw_job_entry(&plan.job, def);
    const bool at_peak = l->steps.first <= kept.peak_step && kept.peak_step <= l->steps.last;
    if (e && !e->source && at_peak && t->copied[e->op]) t->bytes[e->op] += l->bytes;
  }
  if (!rc) t->out->saved_bytes = kept.peak_bytes - t->of.a->peak_bytes;
  sw_schedule_deinit(&schedule);
  return rc;
}

static void tally_op(tally *t, sw_id op) {
  const sw_graph *g = t->of.p->job.graph;
  const sw_entry *e = sw_job_entry(&t->of.p->job, op);
  const bool back = e && g->ops[op].code == SW_OP_FETCH;
  const sw_entry *away = back ? sw_job_entry(&t->of.p->job, offload_of(g, g->ops[op].operands[0])) : e;
  if (e && e->source == SW_SOURCE_OFFLOADED) {
    t->out->n_offloaded++;
    t->on_host[e->value] = offloaded_bytes(t->of.p, op);
    t->out->host_bytes += t->on_host[e->value];
  }
  if (e && e->source && away) t->host_s[away->value] += host_s(t->of.p, op), t->out->host_s += host_s(t->of.p, op);
  if (sw_entry_is_keep(e) && e->op >= 0) {
    t->out->n_kept += !t->kept[e->value];
    t->kept[e->value] = bytes_as_made(t->of.p, g->ops[op].results[0]);
    t->out->kept_bytes += t->kept[e->value];
  }
  if (!is_copy(&t->of.p->job, op)) return;
  t->out->n_ops++;
  t->copied[e->op] = true;
  t->seconds[e->op] += op_s(&t->of, op);
}

/* What is resharded for copies alone belongs to the first of them. */
static void tally_reshard(tally *t, const sw_plan_reshard *r) {
  bool only = true;
  for (int32_t u = 0; u < r->n_uses; u++) only = only && is_copy(&t->of.p->job, r->uses[u].op);
  if (only) t->seconds[copy_entry(&t->of.p->job, r->uses[0].op)->op] += sw_plan_reshard_s(t->of.p, r);
}

static int dearest_first(const void *a, const void *b) {
  const sw_made_again_row *x = a, *y = b;
  if (x->seconds < y->seconds || x->seconds > y->seconds) return x->seconds > y->seconds ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return strcmp(x->name, y->name);
}

/* Rows of values, by what makes them. By op, or where `by_value` by value: seconds (NULL: none) and bytes. */
static sw_rc fold_rows(tally *t, int32_t n, const sw_id *values, bool by_value, const double *seconds,
                       const int64_t *bytes, int32_t *n_rows, const sw_made_again_row **out, sw_diag *d) {
  const sw_graph *program = t->of.p->job.schedule->program;
  const sw_folded_name *groups;
  sw_made_again_row *rows;
  sw_named *named;
  SW_ARENA_NEW(named, t->arena, n, d);
  for (int32_t i = 0; i < n; i++)
    named[i] = (sw_named){t->names[values[i]], sw_opcode_text(program->ops[program->values[values[i]].def].code), ""};
  SW_TRY(sw_fold_names(n, named, t->arena, n_rows, &groups, d));
  SW_ARENA_NEW(rows, t->arena, *n_rows, d);
  for (int32_t i = 0; i < *n_rows; i++) {
    rows[i] = (sw_made_again_row){.name = groups[i].name, .n = groups[i].n};
    for (int32_t k = 0; k < groups[i].n; k++) {
      const sw_id v = values[groups[i].items[k]], at = by_value ? v : program->values[v].def;
      rows[i].seconds += seconds ? seconds[at] : 0;
      rows[i].bytes += bytes[at];
    }
  }
  qsort(rows, (size_t)*n_rows, sizeof *rows, dearest_first);
  *out = rows;
  return SW_OK;
}

static sw_rc list_made_again(tally *t, sw_diag *d) {
  const sw_graph *program = t->of.p->job.schedule->program;
  sw_id *values;
  int32_t n = 0;
  SW_ARENA_NEW(values, t->arena, program->n_values + 1, d);
  for (sw_id i = 0; i < program->n_ops; i++) {
    if (!t->copied[i]) continue;
    t->out->seconds += t->seconds[i];
    if (program->ops[i].n_results) values[n++] = program->ops[i].results[0]; /* but borders of loops */
  }
  SW_TRY(fold_rows(t, n, values, false, t->seconds, t->bytes, &t->out->n_again, &t->out->again, d));
  n = 0;
  for (sw_id v = 0; v < program->n_values; v++)
    if (t->kept[v]) values[n++] = v;
  SW_TRY(fold_rows(t, n, values, true, NULL, t->kept, &t->out->n_rows_kept, &t->out->kept, d));
  n = 0;
  for (sw_id v = 0; v < program->n_values; v++)
    if (t->on_host[v]) values[n++] = v;
  return fold_rows(t, n, values, true, t->host_s, t->on_host, &t->out->n_rows_offloaded, &t->out->offloaded, d);
}

sw_rc sw_made_again_find(const sw_plan *p, const sw_breakdown *a, sw_arena *arena, sw_made_again *out, sw_diag *d) {
  tally t = {.arena = arena, .out = out};
  *out = (sw_made_again){0};
  if (!p->job.schedule) return SW_OK;
  SW_TRY(find_account(p, a, arena, &t.of, d));
  const sw_graph *program = p->job.schedule->program;
  SW_TRY(sw_name_values(program, arena, &t.names, d));
  SW_ARENA_NEW_EACH(arena, program->n_ops + 1, d, t.seconds, t.bytes, t.copied);
  SW_ARENA_NEW_EACH(arena, program->n_values + 1, d, t.kept, t.on_host, t.host_s);
  for (sw_id i = 0; i < p->job.graph->n_ops; i++) tally_op(&t, i);
  SW_TRY(find_saved(&t, d));
  for (int32_t i = 0; i < a->n_reshards; i++) tally_reshard(&t, &a->reshards[i]);
  const sw_timeline *laid = a->timeline;
  out->host_exposed_s = laid ? laid->exposed_s[SW_STREAM_TO_HOST] + laid->exposed_s[SW_STREAM_FROM_HOST] : out->host_s;
  return list_made_again(&t, d);
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

/* "layers.{0..3}.relu, layers.2.dot and 3 more" */
static void name_rows(const sw_made_again_row *rows, int32_t n, sw_text *out) {
  enum { MOST = 3 };
  for (int32_t i = 0; i < n && i < MOST; i++) sw_text_printf(out, "%s%s", i ? ", " : " (", rows[i].name);
  if (n > MOST) sw_text_printf(out, " and %d more", n - MOST);
  sw_text_puts(out, n ? ")" : "");
}

static void print_time(double seconds, double total_s, sw_text *out) {
  sw_text_seconds(out, seconds);
  sw_text_printf(out, ", %.1f %% of the time", sw_percent_of(seconds, total_s));
}

void sw_made_again_print(const sw_made_again *r, double total_s, sw_text *out) {
  sw_text_printf(out, "%d op%s", r->n_ops, r->n_ops == 1 ? "" : "s");
  name_rows(r->again, r->n_again, out);
  if (r->n_ops) sw_text_puts(out, r->n_ops == 1 ? " takes " : " take ");
  if (r->n_ops) print_time(r->seconds, total_s, out);
  if (r->n_offloaded) {
    sw_text_printf(out, "%s%d value%s", r->n_ops ? "; " : ", ", r->n_offloaded, r->n_offloaded == 1 ? "" : "s");
    name_rows(r->offloaded, r->n_rows_offloaded, out);
    sw_text_puts(out, r->n_offloaded == 1 ? " is offloaded, " : " are offloaded, ");
    sw_text_bytes(out, (double)r->host_bytes);
    sw_text_puts(out, " in ");
    if (r->host_exposed_s < r->host_s) {
      sw_text_seconds(out, r->host_s);
      sw_text_puts(out, ", exposed ");
    }
    print_time(r->host_exposed_s, total_s, out);
  }
  if (r->n_ops || r->n_offloaded) {
    sw_text_puts(out, ", for ");
    sw_text_bytes(out, fabs((double)r->saved_bytes));
    sw_text_puts(out, r->saved_bytes < 0 ? " more at the peak" : " less at the peak");
  }
  if (!r->n_kept) return;
  sw_text_printf(out, "; %d value%s", r->n_kept, r->n_kept == 1 ? "" : "s");
  name_rows(r->kept, r->n_rows_kept, out);
  sw_text_puts(out, r->n_kept == 1 ? " is kept for what runs late, " : " are kept for what runs late, ");
  sw_text_bytes(out, (double)r->kept_bytes);
}

static void put_again_rows(const char *key, const sw_made_again_row *rows, int32_t n, bool kept, sw_json_out *o) {
  sw_jw_array(o, key);
  for (int32_t i = 0; i < n; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", rows[i].name);
    sw_jw_i64(o, "count", rows[i].n);
    if (!kept) sw_jw_f64(o, "seconds", rows[i].seconds);
    sw_jw_i64(o, "bytes", rows[i].bytes);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

void sw_made_again_json(const sw_made_again *r, double total_s, sw_json_out *o) {
  sw_text t = {0};
  if (!sw_made_again_is_any(r)) return;
  sw_made_again_print(r, total_s, &t);
  sw_jw_object(o, "made_again");
  sw_jw_text(o, "in_words", &t);
  sw_jw_f64(o, "seconds", r->seconds);
  sw_jw_i64(o, "saved_bytes", r->saved_bytes);
  put_again_rows("ops", r->again, r->n_again, false, o);
  put_again_rows("kept", r->kept, r->n_rows_kept, true, o);
  if (r->n_offloaded) put_again_rows("offloaded", r->offloaded, r->n_rows_offloaded, false, o);
  sw_jw_end(o);
}
