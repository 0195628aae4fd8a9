/* Hints as requirements: for a plan that completes what is said, where a hint is kept whatever it costs if it can be.
 *
 *   a hint for all uses of a value is one for each use; earlier priorities come first, then the order of the text;
 *   at each unit those are taken that one option of it meets together with what is required there and taken before;
 *   where values that are one (a loop's, a group's) then exclude each other, hints are left until they do not.
 */
#include <stdlib.h>
#include <string.h>

#include "strategy/demands.h"

typedef struct hints {
  sw_job job;         /* its request has the annotations below */
  sw_annotation *all; /* of the graph: what is required, then hints in the order in which they are taken */
  int32_t n, n_required;
  sw_demand_index demands; /* of all of them */
  sw_units units;
  sw_diag *d;
} hints;

/* --- one annotation for each port --------------------------------------------------------------------------------- */

static bool is_split(const sw_annotation *a) { return !a->required && a->value >= 0 && a->for_users; }

static int by_priority(const void *x, const void *y) {
  const sw_annotation *a = x, *b = y;
  if (a->required != b->required) return b->required - a->required;
  return (a->priority > b->priority) - (a->priority < b->priority);
}

/* Hints of one priority stay in the order of the text: qsort need not keep it, so that places are compared, too. */
static int by_place(const void *x, const void *y) {
  const sw_annotation *const *a = x, *const *b = y;
  const int order = by_priority(*a, *b);
  return order ? order : (*a > *b) - (*a < *b);
}

static sw_rc list_all(hints *h, const sw_request *r, sw_arena *arena) {
  const sw_graph *g = r->graph;
  const sw_annotation **order;
  SW_ARENA_NEW(order, arena, r->n_annotations, h->d);
  for (int32_t i = 0; i < r->n_annotations; i++) {
    order[i] = &r->annotations[i];
    h->n += is_split(order[i]) ? sw_annotation_n_ports(g, order[i]) : 1;
  }
  if (r->n_annotations) qsort(order, (size_t)r->n_annotations, sizeof *order, by_place);
  SW_ARENA_NEW(h->all, arena, h->n, h->d);
  int32_t n = 0;
  for (int32_t i = 0; i < r->n_annotations; i++) {
    const sw_annotation *a = order[i];
    h->n_required += a->required;
    for (int32_t k = 0; k < (is_split(a) ? sw_annotation_n_ports(g, a) : 1); k++, n++) {
      h->all[n] = *a;
      if (!is_split(a)) continue;
      h->all[n].n_users = 1;
      h->all[n].users = a->n_users ? &a->users[k] : &g->values[a->value].uses[k];
    }
  }
  return SW_OK;
}

/* --- what can be met at one unit ---------------------------------------------------------------------------------- */

static sw_annotation *annotation_at(const hints *h, int32_t i) { return &h->all[h->demands.at[i].a - h->all]; }

static sw_rc take_at_op(hints *h, int32_t unit) {
  const sw_id op = sw_unit_at(&h->units, unit).id;
  sw_demands meets = {0}; /* by the op's strategies by themselves */
  sw_rc rc = SW_OK;
  for (int32_t i = h->demands.first[unit]; i < h->demands.first[unit + 1] && !rc; i++) {
    const sw_demand *m = &h->demands.at[i];
    sw_annotation *a = annotation_at(h, i);
    bool can = true;
    if (!a->required && a->value >= 0 && (a->sharding.n_partial || sw_sharding_is_special(&a->sharding))) continue;
    const bool flexible = sw_demand_is_flexible(h->job.graph, op, m);
    if (!flexible) rc = sw_array_push(&meets, *m, h->d);
    if (!rc) rc = sw_demands_can_be_met(&h->job, &h->job.graph->ops[op], meets.at, meets.n, &can, h->d);
    if (!can && !flexible) meets.n--; /* of what is required: it is resharded, or refused by who plans */
    a->required = a->required || (!rc && can);
  }
  sw_array_free(&meets);
  return rc;
}

/* An argument or an output has one sharding. */
static void take_at_end(hints *h, int32_t unit) {
  const int32_t first = h->demands.first[unit], end = h->demands.first[unit + 1];
  for (int32_t i = first; i < end; i++) {
    bool can = true;
    for (int32_t k = first; k < end && can; k++)
      can = k == i || !annotation_at(h, k)->required || sw_annotations_agree(annotation_at(h, i), annotation_at(h, k));
    annotation_at(h, i)->required = annotation_at(h, i)->required || can;
  }
}

/* --- values that are one ------------------------------------------------------------------------------------------ */

static sw_rc hold(const hints *h, bool *out) {
  const sw_rc rc = sw_requirements_check(&h->job, NULL);
  *out = rc == SW_OK;
  return rc == SW_E_INFEASIBLE ? SW_OK : rc;
}

/* Of hints [from, to) of the list, which are taken, those stay that hold with all before; none behind is required. */
static sw_rc leave_some(hints *h, const int32_t *list, int32_t from, int32_t to) {
  bool all;
  for (int32_t i = from; i < to; i++) h->all[list[i]].required = true;
  SW_TRY(hold(h, &all));
  if (all) return SW_OK;
  for (int32_t i = from; i < to; i++) h->all[list[i]].required = false;
  if (to - from == 1) return SW_OK;
  const int32_t half = from + (to - from) / 2;
  SW_TRY(leave_some(h, list, from, half));
  return leave_some(h, list, half, to);
}

static sw_rc settle_hints(hints *h, sw_arena *arena) {
  int32_t *taken, n = 0;
  bool all;
  SW_ARENA_NEW(taken, arena, h->n, h->d);
  for (int32_t i = h->n_required; i < h->n; i++) {
    if (h->all[i].required) taken[n++] = i;
  }
  if (n) SW_TRY(hold(h, &all));
  if (!n || all) return SW_OK;
  for (int32_t i = 0; i < n; i++) h->all[taken[i]].required = false;
  return leave_some(h, taken, 0, n);
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

sw_rc sw_hints_require(const sw_job *j, sw_arena *arena, sw_request *out, int32_t *taken, sw_diag *d) {
  hints h = {.job = *j, .d = d};
  h.job.request = out;
  *out = *j->request;
  *taken = 0;
  SW_TRY(list_all(&h, j->request, arena));
  if (h.n == h.n_required) return SW_OK;
  out->annotations = h.all;
  out->n_annotations = h.n;
  h.units = sw_units_of(j);
  SW_TRY(sw_demands_find(&h.job, true, arena, &h.demands, d));
  for (int32_t u = 0; u < h.units.n; u++) {
    if (!sw_demands_count(&h.demands, u)) continue;
    if (sw_unit_at(&h.units, u).kind == SW_UNIT_OP) SW_TRY(take_at_op(&h, u));
    if (sw_unit_at(&h.units, u).kind != SW_UNIT_OP) take_at_end(&h, u);
  }
  SW_TRY(settle_hints(&h, arena));
  for (int32_t i = h.n_required; i < h.n; i++) *taken += h.all[i].required;
  return SW_OK;
}
