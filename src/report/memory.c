#include "report/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/name_groups.h"

typedef struct tally {
  const sw_plan *p;
  sw_arena *arena;
  const uint8_t *class_of;
  const char **names; /* by value */
  int32_t *times;     /* by value: how many of its copies and buffers were seen */
  SW_ARRAY(sw_named) named;
  SW_ARRAY(sw_memory_row) held; /* likewise */
} tally;

/* A value of a program that says its scopes is called by these, "jit(step)/block_3/attn/exp", and "#2" behind the
 * second of the same: numbers of values say nothing, and differ from layer to layer. */
static sw_rc name_value(tally *h, sw_dict *scopes, sw_id v, sw_diag *d) {
  const sw_value *value = &h->p->graph->values[v];
  const char *scope = value->def >= 0 ? h->p->graph->ops[value->def].location.scope : NULL;
  int64_t *seen;
  h->names[v] = value->name;
  if (!scope) return SW_OK;
  SW_TRY(sw_dict_put(scopes, scope, strlen(scope), 0, &seen, NULL, d));
  h->names[v] = ++*seen == 1 ? scope : sw_arena_printf(h->arena, d, "%s#%lld", scope, (long long)*seen);
  return h->names[v] ? SW_OK : SW_E_RESOURCE;
}

static sw_rc name_values(tally *h, sw_diag *d) {
  sw_dict scopes = {0};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW(h->names, h->arena, h->p->graph->n_values, d);
  for (sw_id v = 0; v < h->p->graph->n_values && !rc; v++) rc = name_value(h, &scopes, v, d);
  sw_dict_deinit(&scopes);
  return rc;
}

static sw_memory_class class_of_live(const tally *h, const sw_live *l) {
  if (l->value < 0) return SW_MEMORY_TEMPORARIES;
  const sw_memory_class own = (sw_memory_class)h->class_of[l->value];
  if (l->kind == SW_LIVE_VALUE) return own;
  /* an argument that arrives whole */
  const bool whole = l->kind == SW_LIVE_BUFFER && h->p->args_whole && h->p->graph->values[l->value].def < 0 &&
                     l->bytes == sw_type_bytes(&h->p->graph->values[l->value].type);
  return whole ? own : SW_MEMORY_COPIES;
}

static sw_rc hold(tally *h, const sw_live *l, sw_diag *d) {
  static const char *const kKinds[] = {[SW_LIVE_VALUE] = "", [SW_LIVE_COPY] = "copy", [SW_LIVE_BUFFER] = "buffer"};
  const sw_graph *g = h->p->graph;
  const sw_memory_class c = class_of_live(h, l);
  const char *name = l->value >= 0 ? h->names[l->value] : g->ops[l->steps.first].name;
  const int32_t time = l->kind == SW_LIVE_VALUE || l->value < 0 ? 0 : h->times[l->value]++;
  const char *like = sw_arena_printf(h->arena, d, "%d %s %d %s", (int)c, kKinds[l->kind], time,
                                     l->value >= 0 ? sw_dtype_text(g->values[l->value].type.dtype) : "");
  const char *variant = sw_arena_printf(h->arena, d, "%lld", (long long)l->bytes);
  if (!like || !variant) return SW_E_RESOURCE;
  SW_TRY(sw_array_push(&h->named, ((sw_named){name, like, variant}), d));
  return sw_array_push(&h->held, ((sw_memory_row){c, name, 1, l->bytes}), d);
}

static int by_class(const void *a, const void *b) {
  const sw_memory_row *x = a, *y = b;
  if (x->class_of != y->class_of) return x->class_of < y->class_of ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return strcmp(x->name, y->name);
}

static sw_rc group_held(tally *h, sw_memory *out, sw_diag *d) {
  const sw_name_group *groups;
  sw_memory_row *rows;
  SW_TRY(sw_group_names((int32_t)h->named.n, h->named.at, h->arena, &out->n, &groups, d));
  SW_ARENA_NEW(rows, h->arena, out->n, d);
  for (int32_t i = 0; i < out->n && h->held.at; i++) {
    rows[i] = h->held.at[groups[i].items[0]];
    rows[i].name = groups[i].name;
    rows[i].count = groups[i].n;
    rows[i].bytes = 0;
    for (int32_t k = 0; k < groups[i].n; k++) rows[i].bytes += h->held.at[groups[i].items[k]].bytes;
    out->bytes[rows[i].class_of] += rows[i].bytes;
  }
  qsort(rows, (size_t)out->n, sizeof *rows, by_class);
  out->rows = rows;
  return SW_OK;
}

sw_rc sw_memory_at(const sw_plan *p, const sw_breakdown *a, int32_t step, sw_arena *arena, sw_memory *out, sw_diag *d) {
  tally h = {.p = p, .arena = arena};
  *out = (sw_memory){0};
  SW_TRY(sw_classify_values(p->graph, arena, &h.class_of, d));
  SW_TRY(name_values(&h, d));
  SW_ARENA_NEW(h.times, arena, p->graph->n_values, d);
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < a->n_live && !rc; i++) {
    const sw_live *l = &a->live[i];
    if (l->bytes && l->steps.first <= step && step <= l->steps.last) rc = hold(&h, l, d);
  }
  if (!rc) rc = group_held(&h, out, d);
  sw_array_free(&h.named);
  sw_array_free(&h.held);
  return rc;
}
