#include "report/memory.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/folded_rows.h"

typedef struct tally {
  const sw_plan *p;
  sw_arena *arena;
  const uint8_t *class_of;
  const char **names; /* by value */
  int32_t *times;     /* by value: how many of its copies and buffers were seen */
  SW_ARRAY(sw_named) named;
  SW_ARRAY(sw_memory_row) held; /* likewise, as the next */
  SW_ARRAY(const sw_live *) lives;
} tally;

static sw_memory_class class_of_live(const sw_plan *p, const uint8_t *class_of, const sw_live *l) {
  if (l->value < 0) return SW_MEMORY_TEMPORARIES;
  const sw_memory_class own = (sw_memory_class)class_of[l->value];
  if (l->kind == SW_LIVE_VALUE) return own;
  /* an argument that arrives whole */
  const sw_value *v = &p->job.graph->values[l->value];
  const bool whole = l->kind == SW_LIVE_BUFFER && p->args_whole && v->def < 0 && l->bytes == sw_type_bytes(&v->type);
  return whole ? own : SW_MEMORY_COPIES;
}

static bool is_held_at(const sw_live *l, int32_t step) {
  return l->bytes && l->steps.first <= step && step <= l->steps.last;
}

sw_rc sw_memory_at_peak(const sw_plan *p, const sw_breakdown *a, sw_found_classes *found, sw_arena *arena,
                        int64_t *bytes, sw_diag *d) {
  if (found->g != p->job.graph) SW_TRY(sw_classify_values(p->job.graph, arena, &found->of_value, d));
  found->g = p->job.graph;
  for (int c = 0; c < SW_MEMORY_CLASSES; c++) bytes[c] = 0;
  for (int32_t i = 0; i < a->n_live; i++)
    if (is_held_at(&a->live[i], a->peak_step))
      bytes[class_of_live(p, found->of_value, &a->live[i])] += a->live[i].bytes;
  return SW_OK;
}

static sw_rc tally_live(tally *h, const sw_live *l, sw_diag *d) {
  static const char *const kKinds[] = {[SW_LIVE_VALUE] = "", [SW_LIVE_COPY] = "copy", [SW_LIVE_BUFFER] = "buffer"};
  const sw_graph *g = h->p->job.graph;
  const sw_memory_class c = class_of_live(h->p, h->class_of, l);
  const char *name = l->value >= 0 ? h->names[l->value] : g->ops[l->steps.first].name;
  const int32_t time = l->kind == SW_LIVE_VALUE || l->value < 0 ? 0 : h->times[l->value]++;
  const char *like = sw_arena_printf(h->arena, d, "%d %s %d %s", (int)c, kKinds[l->kind], time,
                                     l->value >= 0 ? sw_dtype_text(g->values[l->value].type.dtype) : "");
  const char *variant = sw_arena_printf(h->arena, d, "%lld", (long long)l->bytes);
  if (!like || !variant) return SW_E_RESOURCE;
  SW_TRY(sw_array_push(&h->named, ((sw_named){name, like, variant}), d));
  SW_TRY(sw_array_push(&h->lives, l, d));
  return sw_array_push(&h->held, ((sw_memory_row){c, name, 1, l->bytes, NULL}), d);
}

static int by_class(const void *a, const void *b) {
  const sw_memory_row *x = a, *y = b;
  if (x->class_of != y->class_of) return x->class_of < y->class_of ? -1 : 1;
  if (x->bytes != y->bytes) return x->bytes > y->bytes ? -1 : 1;
  return strcmp(x->name, y->name);
}

static sw_rc group_held(tally *h, sw_memory *out, sw_diag *d) {
  const sw_folded_name *groups;
  sw_memory_row *rows;
  SW_TRY(sw_fold_names((int32_t)h->named.n, h->named.at, h->arena, &out->n, &groups, d));
  SW_ARENA_NEW(rows, h->arena, out->n, d);
  for (int32_t i = 0; i < out->n && h->held.at; i++) {
    rows[i] = h->held.at[groups[i].items[0]];
    rows[i].name = groups[i].name;
    rows[i].count = groups[i].n;
    rows[i].bytes = 0;
    SW_ARENA_NEW(rows[i].lives, h->arena, groups[i].n, d);
    for (int32_t k = 0; k < groups[i].n; k++) {
      rows[i].lives[k] = h->lives.at[groups[i].items[k]];
      rows[i].bytes += rows[i].lives[k]->bytes;
    }
    out->bytes[rows[i].class_of] += rows[i].bytes;
  }
  qsort(rows, (size_t)out->n, sizeof *rows, by_class);
  out->rows = rows;
  return SW_OK;
}

sw_rc sw_memory_at(const sw_plan *p, const sw_breakdown *a, int32_t step, sw_arena *arena, sw_memory *out, sw_diag *d) {
  tally h = {.p = p, .arena = arena};
  *out = (sw_memory){0};
  SW_TRY(sw_classify_values(p->job.graph, arena, &h.class_of, d));
  SW_TRY(sw_name_values(p->job.graph, arena, &h.names, d));
  SW_ARENA_NEW(h.times, arena, p->job.graph->n_values, d);
  sw_rc rc = SW_OK;
  for (int32_t i = 0; i < a->n_live && !rc; i++) {
    const sw_live *l = &a->live[i];
    if (step == SW_ALL_STEPS ? l->bytes != 0 : is_held_at(l, step)) rc = tally_live(&h, l, d);
  }
  if (!rc) rc = group_held(&h, out, d);
  sw_array_free(&h.named);
  sw_array_free(&h.held);
  sw_array_free(&h.lives);
  return rc;
}

void sw_memory_rows_json(const sw_memory *m, const char *key, sw_json_out *o) {
  sw_jw_array(o, key);
  for (int32_t i = 0; i < m->n && m->rows; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "class", sw_memory_class_text(m->rows[i].class_of));
    sw_jw_string(o, "name", m->rows[i].name);
    sw_jw_i64(o, "count", m->rows[i].count);
    sw_jw_i64(o, "bytes", m->rows[i].bytes);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}
