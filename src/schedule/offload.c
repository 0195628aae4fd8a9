/* Offers the memory of the host to what a search would otherwise keep or make again:
 *
 *   y = dot(x, w)   z = exp(y)   ..                    y.again   keep(y.again, y)              reads y
 *   y = dot(x, w)   z = exp(y)   offload(y)   ..       y.again   fetch   keep(y.again, y, fetch)   reads y
 *
 * In loops what a stack hands on is offloaded in each trip, behind what makes it, and fetched where it is read:
 *
 *   while ..  r = f(x)  s[i] = r  ..                  while ..  r' = s[j]  f(x)  keep(f(x), r')         reads r'
 *   while ..  r = f(x)  offload(r)  s[i] = r  ..      while ..  r' = s[j]  f(x)  fetch   keep(f(x), r', fetch)
 */
#include "base/array.h"
#include "base/checked.h"
#include "schedule/stacks.h"

static const struct {
  const char *text, *suffix;
} kSources[] = {[SW_SOURCE_NONE] = {"op", ""},
                [SW_SOURCE_KEPT] = {"keeps", ".kept"},
                [SW_SOURCE_EITHER] = {"keeps", ".kept"},
                [SW_SOURCE_OFFLOADED] = {"offloads", ".offloaded"},
                [SW_SOURCE_FETCHED] = {"fetches", ".fetched"}};
const char *sw_source_text(sw_source_kind s) { return kSources[s].text; }
const char *sw_source_suffix(sw_source_kind s) { return kSources[s].suffix; }

typedef struct offers {
  const sw_graph *g;
  const bool *dear;       /* by op */
  sw_stacks stacks;       /* of loops */
  const sw_stack **stack; /* by value: the offered stack that it comes back from; NULL: none */
  bool *of_stack;         /* by op: it is there for one alone that is kept otherwise */
  int32_t *last; /* by value that is offered: the last entry before its source that makes or reads it; of what a
                    stack holds: the entry behind which it is there. Others: -1 */
  SW_ARRAY(sw_entry) out;
} offers;

static bool is_offered(const offers *o, const sw_entry *e) {
  if (!sw_entry_is_keep(e) || e->op < 0) return false;
  return o->g->ops[e->op].frame >= 0 ? o->stack[e->value] != NULL : e->source == SW_SOURCE_KEPT || o->dear[e->op];
}

/* Stacks of loops in the loops of others go by way of theirs, which are none by themselves then; and of one value one.
 */
static sw_rc choose_stacks_of_host(offers *o, const sw_schedule_spec *s, sw_arena *mem, sw_diag *d) {
  const sw_graph *g = o->g;
  bool *taken, *either;
  SW_TRY(sw_stacks_find(g, mem, &o->stacks, d));
  SW_ARENA_NEW(o->stack, mem, g->n_values + 1, d);
  SW_ARENA_NEW(o->of_stack, mem, g->n_ops + 1, d);
  SW_ARENA_NEW_EACH(mem, g->n_values + 1, d, taken, either);
  for (int32_t i = 0; i < s->n_entries; i++)
    if (s->entries[i].source == SW_SOURCE_EITHER) either[s->entries[i].value] = true;
  for (int32_t k = 0; k < o->stacks.n; k++) {
    const sw_stack *x = &o->stacks.at[k];
    const sw_op *maker = sw_value_maker(g, x->made);
    bool none = taken[x->made] || !maker || (either[x->back] && !o->dear[maker - g->ops]);
    for (int32_t i = 0; i < o->stacks.n; i++) none = none || o->stacks.at[i].through == k;
    if (none) continue;
    taken[x->made] = true;
    o->stack[x->back] = x;
    for (int i = 0; i < x->n_ops && !either[x->back]; i++) o->of_stack[x->ops[i]] = true;
  }
  return SW_OK;
}

/* What is made before a loop's test is put into no stack in the trip that does not come. */
static void find_made(offers *o, const sw_schedule_spec *s) {
  const sw_graph *g = o->g;
  for (int32_t k = 0; k < o->stacks.n; k++) {
    const sw_stack *x = &o->stacks.at[k];
    if (o->stack[x->back] != x) continue;
    const sw_id behind = sw_max_i32(g->values[x->made].def, g->frames[x->forward].test);
    for (int32_t i = 0; i < s->n_entries; i++)
      if (!s->entries[i].source && !s->entries[i].instance && s->entries[i].op == behind) o->last[x->made] = i;
  }
}

static sw_rc find_last_before(offers *o, const sw_schedule_spec *s, sw_arena *mem, sw_diag *d) {
  const sw_graph *g = o->g;
  int32_t *at;
  SW_ARENA_NEW_EACH(mem, g->n_values + 1, d, at, o->last);
  for (sw_id v = 0; v < g->n_values; v++) o->last[v] = -1;
  for (int32_t i = 0; i < s->n_entries; i++) {
    const sw_entry *e = &s->entries[i];
    if (is_offered(o, e) && !o->stack[e->value]) o->last[e->value] = at[e->value];
    if (e->source || e->instance) continue;
    const sw_op *op = &g->ops[e->op];
    for (int k = 0; k < op->n_operands; k++) at[op->operands[k]] = i;
    for (int k = 0; k < op->n_results; k++) at[op->results[k]] = i;
  }
  return SW_OK;
}

static sw_rc put_offload(offers *o, sw_id value, sw_diag *d) {
  const sw_entry e = {.op = o->g->values[value].def, .source = SW_SOURCE_OFFLOADED, .value = value, .optional = true};
  return sw_array_push(&o->out, e, d);
}

/* Behind entry i, of the op: what of its operands and results goes to the host. */
static sw_rc put_offloads(offers *o, const sw_op *op, int32_t i, sw_diag *d) {
  for (int32_t k = 0; k < o->stacks.n; k++) {
    const sw_stack *x = &o->stacks.at[k];
    if (o->stack[x->back] == x && o->last[x->made] == i) SW_TRY(put_offload(o, x->made, d));
  }
  for (int k = 0; k < op->n_operands + op->n_results && op->frame < 0; k++) {
    const sw_id v = k < op->n_operands ? op->operands[k] : op->results[k - op->n_operands];
    bool again = false; /* it is an operand twice */
    for (int m = 0; m < k && m < op->n_operands; m++) again = again || op->operands[m] == v;
    if (o->last[v] == i && !again) SW_TRY(put_offload(o, v, d));
  }
  return SW_OK;
}

static sw_rc put_with_fetch(offers *o, const sw_entry *keep, sw_diag *d) {
  sw_entry e = *keep, fetch = e;
  e.or_fetched = true;
  fetch.source = SW_SOURCE_FETCHED;
  fetch.optional = true;
  SW_TRY(sw_array_push(&o->out, fetch, d));
  return sw_array_push(&o->out, e, d);
}

static sw_rc put_offered(offers *o, const sw_schedule_spec *s, sw_diag *d) {
  for (int32_t i = 0; i < s->n_entries; i++) {
    sw_entry e = s->entries[i];
    const bool own = !e.source && !e.instance, stacked = own && o->of_stack[e.op];
    const sw_op *op = own ? &o->g->ops[e.op] : NULL;
    e.optional = e.optional || stacked;
    if (is_offered(o, &e))
      SW_TRY(put_with_fetch(o, &e, d));
    else
      SW_TRY(sw_array_push(&o->out, e, d));
    if (own) SW_TRY(put_offloads(o, op, i, d));
    const sw_id back = stacked && op->n_results ? op->results[0] : -1;
    if (back >= 0 && o->stack[back])
      SW_TRY(put_with_fetch(o, &(sw_entry){.op = e.op, .source = SW_SOURCE_KEPT, .value = back}, d));
  }
  return SW_OK;
}

sw_rc sw_schedule_offer_host(const sw_graph *g, const bool *dear, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d) {
  sw_arena mem = {0};
  offers o = {.g = g, .dear = dear};
  sw_rc rc = choose_stacks_of_host(&o, spec, &mem, d);
  if (!rc) rc = find_last_before(&o, spec, &mem, d);
  if (!rc) find_made(&o, spec);
  if (!rc) rc = put_offered(&o, spec, d);
  if (!rc) {
    spec->n_entries = (int32_t)o.out.n;
    spec->entries = sw_arena_copy(arena, o.out.at, o.out.n, sizeof *o.out.at, d);
    if (!spec->entries) rc = SW_E_RESOURCE;
  }
  sw_array_free(&o.out);
  sw_arena_deinit(&mem);
  return rc;
}
