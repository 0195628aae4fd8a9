/* Offers the memory of the host to what a search would otherwise keep or make again:
 *
 *   y = dot(x, w)   z = exp(y)   ..                    y.again   keep(y.again, y)              reads y
 *   y = dot(x, w)   z = exp(y)   offload(y)   ..       y.again   fetch   keep(y.again, y, fetch)   reads y
 */
#include "base/array.h"
#include "shardwright/schedule.h"

static const struct {
  const char *text, *suffix;
} kSources[] = {[SW_SOURCE_NONE] = {"op", ""},
                [SW_SOURCE_KEPT] = {"keeps", ".kept"},
                [SW_SOURCE_EITHER] = {"keeps", ".kept"},
                [SW_SOURCE_OFFLOADED] = {"offloads", ".offloaded"},
                [SW_SOURCE_FETCHED] = {"fetches", ".fetched"}};
const char *sw_source_text(sw_source_kind s) { return kSources[s].text; }
const char *sw_source_suffix(sw_source_kind s) { return kSources[s].suffix; }

static bool is_offered(const sw_graph *g, const bool *dear, const sw_entry *e) {
  return sw_entry_is_keep(e) && e->op >= 0 && g->ops[e->op].frame < 0 && (e->source == SW_SOURCE_KEPT || dear[e->op]);
}

/* By value that is offered: the last entry before its source that makes or reads it. Others: -1. */
static sw_rc find_last_before(const sw_graph *g, const bool *dear, const sw_schedule_spec *s, sw_arena *mem,
                              int32_t **out, sw_diag *d) {
  int32_t *at, *last = NULL;
  SW_ARENA_NEW(at, mem, g->n_values + 1, d);
  SW_ARENA_NEW(last, mem, g->n_values + 1, d);
  *out = last;
  for (sw_id v = 0; v < g->n_values; v++) last[v] = -1;
  for (int32_t i = 0; i < s->n_entries; i++) {
    const sw_entry *e = &s->entries[i];
    if (is_offered(g, dear, e)) last[e->value] = at[e->value];
    if (e->source || e->instance) continue;
    const sw_op *op = &g->ops[e->op];
    for (int k = 0; k < op->n_operands; k++) at[op->operands[k]] = i;
    for (int k = 0; k < op->n_results; k++) at[op->results[k]] = i;
  }
  return SW_OK;
}

typedef SW_ARRAY(sw_entry) entry_list;

/* Behind entry i: what of its operands and results goes to the host. */
static sw_rc put_offloads(const sw_graph *g, const sw_op *op, int32_t i, const int32_t *last, entry_list *out,
                          sw_diag *d) {
  for (int k = 0; k < op->n_operands + op->n_results; k++) {
    const sw_id v = k < op->n_operands ? op->operands[k] : op->results[k - op->n_operands];
    bool again = false; /* it is an operand twice */
    for (int m = 0; m < k && m < op->n_operands; m++) again = again || op->operands[m] == v;
    if (last[v] != i || again) continue;
    const sw_entry e = {.op = g->values[v].def, .source = SW_SOURCE_OFFLOADED, .value = v, .optional = true};
    SW_TRY(sw_array_push(out, e, d));
  }
  return SW_OK;
}

static sw_rc put_offered(const sw_graph *g, const bool *dear, const sw_schedule_spec *s, const int32_t *last,
                         entry_list *out, sw_diag *d) {
  for (int32_t i = 0; i < s->n_entries; i++) {
    sw_entry e = s->entries[i], fetch = e;
    e.or_fetched = is_offered(g, dear, &e);
    fetch.source = SW_SOURCE_FETCHED;
    fetch.optional = true;
    if (e.or_fetched) SW_TRY(sw_array_push(out, fetch, d));
    SW_TRY(sw_array_push(out, e, d));
    if (!e.source && !e.instance) SW_TRY(put_offloads(g, &g->ops[e.op], i, last, out, d));
  }
  return SW_OK;
}

sw_rc sw_schedule_offer_host(const sw_graph *g, const bool *dear, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d) {
  sw_arena mem = {0};
  entry_list out = {0};
  int32_t *last = NULL;
  sw_rc rc = find_last_before(g, dear, spec, &mem, &last, d);
  if (!rc) rc = put_offered(g, dear, spec, last, &out, d);
  if (!rc) {
    spec->n_entries = (int32_t)out.n;
    spec->entries = sw_arena_copy(arena, out.at, out.n, sizeof *out.at, d);
    if (!spec->entries) rc = SW_E_RESOURCE;
  }
  sw_array_free(&out);
  sw_arena_deinit(&mem);
  return rc;
}
