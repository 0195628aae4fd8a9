#include "schedule/layers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/checked.h"
#include "base/folded_names.h"
#include "base/hash.h"

typedef struct finder {
  const sw_graph *g;
  int32_t n;
  sw_id *op;      /* by position: those that depend on an argument */
  uint64_t *like; /* by position: equal of ops that are alike */
  int32_t *at;    /* by op: its position */
  sw_id n_ops;
  int64_t *crossing, *made;
  int32_t *heavy; /* by position: contractions before it */
  int32_t *next;  /* by position: of the next that is alike; 0: there is none */
  int32_t *gaps;  /* by distance: how many have the next one so far away */
  SW_ARRAY(sw_id) first;
  SW_ARRAY(sw_id) end;
} finder;

static uint64_t likeness_of_type(const sw_type *t, uint64_t h) {
  h = sw_hash_u64((uint64_t)t->dtype, h);
  for (int k = 0; k < t->rank; k++) h = sw_hash_u64((uint64_t)t->dims[k], h);
  return sw_hash_u64((uint64_t)t->rank, h);
}

static uint64_t likeness_of(const sw_graph *g, const sw_op *op) {
  uint64_t h = sw_hash_u64((uint64_t)op->code, (uint64_t)op->n_operands);
  for (int k = 0; k < op->n_operands + op->n_results; k++) h = likeness_of_type(sw_port_type(g, op, k), h);
  return h;
}

/* What depends on no argument may stand anywhere, and is passed over. */
static sw_rc list_positions(finder *f, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = f->g;
  const sw_id n_ops = f->n_ops;
  bool *of_args;
  SW_ARENA_NEW(of_args, arena, g->n_values + 1, d);
  SW_ARENA_NEW_EACH(arena, n_ops + 1, d, f->op, f->at);
  SW_ARENA_NEW_EACH(arena, n_ops + 2, d, f->crossing, f->made);
  SW_ARENA_NEW(f->like, arena, n_ops + 1, d);
  SW_ARENA_NEW(f->heavy, arena, n_ops + 2, d);
  for (int32_t i = 0; i < g->n_args; i++) of_args[g->args[i]] = true;
  for (sw_id i = 0; i < n_ops; i++) {
    const sw_op *op = &g->ops[i];
    bool any = false;
    for (int k = 0; k < op->n_operands; k++) any = any || of_args[op->operands[k]];
    for (int k = 0; k < op->n_results; k++) of_args[op->results[k]] = any;
    if (!any) continue;
    f->op[f->n] = i;
    f->at[i] = f->n;
    f->like[f->n] = likeness_of(g, op);
    f->heavy[f->n + 1] = f->heavy[f->n] + sw_op_is_heavy(op);
    f->n++;
  }
  return SW_OK;
}

/* By position of the run: bytes that go to it and on from before it, and bytes made before it, of what the run makes.
 */
static void find_going_between(finder *f, int32_t first, int32_t end) {
  const sw_graph *g = f->g;
  for (int32_t i = first; i <= end; i++) f->crossing[i] = f->made[i] = 0;
  for (int32_t i = first; i < end; i++) {
    const sw_op *op = &g->ops[f->op[i]];
    f->made[i + 1] += f->made[i];
    for (int k = 0; k < op->n_results; k++) {
      const sw_value *v = &g->values[op->results[k]];
      const int64_t bytes = sw_type_bytes(&v->type);
      int32_t last = i;
      for (int32_t u = 0; u < v->n_uses; u++)
        if (v->uses[u].op >= 0 && v->uses[u].op < f->n_ops) last = sw_max_i32(last, f->at[v->uses[u].op]);
      f->made[i + 1] += bytes;
      f->crossing[i + 1] += bytes;
      if (last < end) f->crossing[last + 1] -= bytes;
    }
  }
  for (int32_t i = first; i < end; i++) f->crossing[i + 1] += f->crossing[i];
}

/* --- how far apart what is alike stands --------------------------------------------------------------------------- */

typedef struct placed {
  uint64_t like;
  int32_t at;
} placed;

static int by_likeness(const void *a, const void *b) {
  const placed *x = a, *y = b;
  if (x->like != y->like) return x->like < y->like ? -1 : 1;
  return (x->at > y->at) - (x->at < y->at);
}

static sw_rc find_next(finder *f, sw_arena *arena, sw_diag *d) {
  placed *all;
  SW_ARENA_NEW_EACH(arena, f->n + 1, d, all, f->next, f->gaps);
  for (int32_t i = 0; i < f->n; i++) all[i] = (placed){f->like[i], i};
  qsort(all, (size_t)f->n, sizeof *all, by_likeness);
  for (int32_t i = 0; i + 1 < f->n; i++)
    if (all[i].like == all[i + 1].like) f->next[all[i].at] = all[i + 1].at;
  return SW_OK;
}

/* Positions [first, first + length) are alike those `period` further on. */
typedef struct run {
  int32_t first, length, period;
} run;

static int32_t covered(const run *r) { return r->period ? r->length + r->period : 0; }

/* The longest run of a period in [from, to). */
static run longest_repeat(const finder *f, int32_t from, int32_t to, int32_t period) {
  run best = {from, 0, 0};
  int32_t length = 0;
  for (int32_t i = from; i + period < to; i++) {
    length = f->like[i] == f->like[i + period] ? length + 1 : 0;
    if (length > best.length && length >= period) best = (run){i + 1 - length, length, period};
  }
  if (best.period && f->heavy[best.first + period] == f->heavy[best.first]) best.period = 0;
  return best;
}

/* Of the periods at which most ops have the next one alike, the shortest that covers nearly as much as any. */
static run find_run(finder *f, int32_t from, int32_t to) {
  enum { PERIODS = 16 };
  const double kNearly = 0.9;
  run best = {from, 0, 0};
  for (int32_t i = from; i < to; i++)
    if (f->next[i] && f->next[i] < to) f->gaps[f->next[i] - i]++;
  for (int tried = 0; tried < PERIODS; tried++) {
    int32_t most = 0;
    for (int32_t p = 1; p <= (to - from) / 2; p++)
      if (f->gaps[p] > f->gaps[most]) most = p;
    if (!most) break;
    f->gaps[most] = 0;
    const run r = longest_repeat(f, from, to, most);
    const double times = r.period < best.period ? kNearly : 1 / kNearly;
    if (r.period && covered(&r) > times * covered(&best)) best = r;
  }
  for (int32_t p = 1; p < to - from; p++) f->gaps[p] = 0;
  return best;
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

/* Where the first layer begins: where least goes from layer to layer; -1: as much nearly as a layer makes. */
static int32_t first_border(finder *f, const run *r) {
  const int32_t end = r->first + covered(r), layers = covered(r) / r->period;
  int32_t best = -1;
  double least = HUGE_VAL;
  find_going_between(f, r->first, end);
  for (int32_t at = r->first; at + layers * r->period <= end; at++) {
    double bytes = 0;
    for (int32_t k = 0; k <= layers; k++) bytes += (double)f->crossing[at + k * r->period];
    if (bytes < least) least = bytes, best = at;
  }
  const double made = (double)(f->made[end] - f->made[r->first]);
  return 2 * least <= made ? best : -1;
}

static sw_rc split_into_layers(finder *f, int32_t from, int32_t to, sw_diag *d) {
  while (to - from > 1) {
    const run r = find_run(f, from, to);
    const int32_t begin = r.period ? first_border(f, &r) : -1;
    if (begin < 0) return SW_OK;
    const int32_t layers = covered(&r) / r.period, end = begin + layers * r.period;
    SW_TRY(split_into_layers(f, from, begin, d));
    for (int32_t k = 0; k < layers; k++) {
      const int32_t next = begin + (k + 1) * r.period;
      SW_TRY(sw_array_push(&f->first, f->op[begin + k * r.period], d));
      SW_TRY(sw_array_push(&f->end, k + 1 < layers ? f->op[next] : f->op[next - 1] + 1, d));
    }
    from = end;
  }
  return SW_OK;
}

sw_rc sw_layers_find(const sw_graph *g, sw_id n_ops, sw_arena *arena, sw_layers *out, sw_diag *d) {
  finder f = {.g = g, .n_ops = n_ops};
  sw_arena scratch = {0};
  sw_rc rc = list_positions(&f, &scratch, d);
  *out = (sw_layers){0};
  if (!rc) rc = find_next(&f, &scratch, d);
  if (!rc) rc = split_into_layers(&f, 0, f.n, d);
  if (!rc && f.first.n) {
    out->first = sw_arena_copy(arena, f.first.at, f.first.n, sizeof *f.first.at, d);
    out->end = sw_arena_copy(arena, f.end.at, f.end.n, sizeof *f.end.at, d);
    out->n = (int32_t)f.first.n;
    if (!out->first || !out->end) rc = SW_E_RESOURCE;
  }
  sw_array_free(&f.first);
  sw_array_free(&f.end);
  sw_arena_deinit(&scratch);
  return rc;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static const char *called_by(const sw_op *op) { return op->location.scope ? op->location.scope : op->name; }

/* Up to the last '.' or '/' that all have. */
static sw_rc name_layer(const sw_graph *g, sw_id first, sw_id end, sw_arena *arena, const char **out, sw_diag *d) {
  const char *name = NULL;
  size_t n = 0;
  for (sw_id i = first; i < end; i++) {
    if (!sw_op_is_heavy(&g->ops[i])) continue;
    const char *said = called_by(&g->ops[i]);
    size_t same = 0;
    if (!name) name = said, n = strlen(said);
    while (same < n && said[same] == name[same]) same++;
    n = same;
  }
  while (n && name[n - 1] != '.' && name[n - 1] != '/') n--;
  *out = sw_arena_strndup(arena, n ? name : "", n ? n - 1 : 0, d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_layers_name(const sw_graph *g, const sw_layers *l, sw_arena *arena, const char **out, sw_diag *d) {
  sw_named *names;
  const sw_folded_name *groups;
  int32_t n_groups;
  sw_text t = {0};
  *out = NULL;
  SW_ARENA_NEW(names, arena, l->n, d);
  for (int32_t k = 0; k < l->n; k++) {
    names[k] = (sw_named){.like = "", .variant = ""};
    SW_TRY(name_layer(g, l->first[k], l->end[k], arena, &names[k].name, d));
    for (int32_t i = 0; i < k; i++)
      if (strcmp(names[i].name, names[k].name) == 0) return SW_OK;
    if (!*names[k].name) return SW_OK;
  }
  SW_TRY(sw_fold_names(l->n, names, arena, &n_groups, &groups, d));
  for (int32_t k = 0; k < n_groups; k++) sw_text_printf(&t, "%s%s", k ? ", " : "", groups[k].name);
  if (t.n) *out = sw_text_keep(&t, arena, d);
  return t.n && !*out ? SW_E_RESOURCE : SW_OK;
}
