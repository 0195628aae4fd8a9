/* {"micro_batches": 2, "cuts": [{"argument": "x", "dim": 0}], "stages": 1, "stage": 0,
 *  "entries": [{"op": "dot", "slot": "each"}, {"op": "dot", "instance": 1}, {"keeps": "dot"}, {"op": "loss"},
 *              {"offloads": "loss"}, {"fetches": "loss"}]}
 */
#include "io/schedule_json.h"

#include <string.h>

static const char *const kSlots[] = {"once", "each"};

void sw_schedule_put(sw_json_out *o, const char *key, const sw_schedule *s, int32_t stage) {
  const sw_graph *g = s->program;
  sw_jw_object(o, key);
  if (s->spec.micro_batches > 1) sw_jw_i64(o, "micro_batches", s->spec.micro_batches);
  if (s->spec.n_cuts) sw_jw_array(o, "cuts");
  for (int32_t i = 0; i < s->spec.n_cuts; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "argument", g->values[s->spec.cuts[i].value].name);
    sw_jw_i64(o, "dim", s->spec.cuts[i].dim);
    sw_jw_end(o);
  }
  if (s->spec.n_cuts) sw_jw_end(o);
  if (s->spec.n_stages > 1) sw_jw_i64(o, "stages", s->spec.n_stages);
  if (stage) sw_jw_i64(o, "stage", stage);
  if (s->spec.folded) sw_jw_bool(o, "folded", true);
  sw_jw_array(o, "entries");
  for (int32_t i = 0; i < s->spec.n_entries; i++) {
    const sw_entry *e = &s->spec.entries[i];
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, sw_source_text(e->source), e->source ? g->values[e->value].name : g->ops[e->op].name);
    if (e->instance) sw_jw_i64(o, "instance", e->instance);
    if (e->slot != SW_SLOT_ONCE) sw_jw_string(o, "slot", kSlots[e->slot]);
    if (e->stage) sw_jw_i64(o, "stage", e->stage);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_end(o);
}

/* Of a value that is kept: {"keeps": NAME}. Likewise of one that is offloaded, and fetched. */
static sw_rc take_kept(const sw_json *v, const sw_graph *g, sw_source_kind source, sw_entry *out, sw_diag *d) {
  const char *name, *const key = sw_source_text(source);
  SW_TRY(sw_json_only(v, &key, 1, "an entry of a value", d));
  SW_TRY(sw_json_string(v, key, &name, d));
  const sw_id value = sw_graph_value_named(g, name);
  if (value < 0) return SW_FAIL_INPUT(d, sw_json_span(v), "the model has no value '%s'", name);
  *out = (sw_entry){.op = g->values[value].def, .source = source, .value = value};
  return SW_OK;
}

static sw_rc take_schedule_entry(const sw_json *v, const sw_graph *g, sw_entry *out, sw_diag *d) {
  static const char *const kKeys[] = {"op", "instance", "slot", "stage"};
  const sw_json *slot = sw_json_find(v, "slot");
  int64_t instance = 0, stage = 0;
  int which = 0;
  const char *name;
  for (sw_source_kind k = SW_SOURCE_KEPT; k <= SW_SOURCE_FETCHED; k++)
    if (k != SW_SOURCE_EITHER && sw_json_find(v, sw_source_text(k))) return take_kept(v, g, k, out, d);
  SW_TRY(sw_json_only(v, kKeys, 4, "an entry of a schedule", d));
  SW_TRY(sw_json_string(v, "op", &name, d));
  SW_TRY(sw_json_opt_i64(v, "instance", 0, INT32_MAX, &instance, d));
  SW_TRY(sw_json_opt_i64(v, "stage", 0, INT32_MAX, &stage, d));
  if (slot) SW_TRY(sw_json_word(slot, kSlots, 2, &which, d));
  *out = (sw_entry){
      .op = sw_graph_op_named(g, name), .instance = (int32_t)instance, .slot = (sw_slot)which, .stage = (int32_t)stage};
  return out->op >= 0 ? SW_OK : SW_FAIL_INPUT(d, sw_json_span(v), "the model has no op '%s'", name);
}

static sw_rc take_slot_cut(const sw_json *v, const sw_graph *g, sw_slot_cut *out, sw_diag *d) {
  static const char *const kKeys[] = {"argument", "dim"};
  int64_t dim;
  const char *name;
  SW_TRY(sw_json_only(v, kKeys, 2, "a cut of a schedule", d));
  SW_TRY(sw_json_string(v, "argument", &name, d));
  SW_TRY(sw_json_i64(v, "dim", 0, SW_MAX_RANK, &dim, d));
  *out = (sw_slot_cut){sw_graph_value_named(g, name), (int32_t)dim};
  return out->value >= 0 ? SW_OK : SW_FAIL_INPUT(d, sw_json_span(v), "the model has no argument '%s'", name);
}

static sw_rc take_lists(const sw_json *object, const sw_graph *g, sw_arena *arena, bool adapt, sw_schedule_spec *out,
                        sw_diag *d) {
  const sw_json *cuts = NULL, *entries;
  sw_entry *entry;
  sw_slot_cut *cut = NULL;
  int32_t n = 0;
  SW_TRY(sw_json_array(object, "entries", &entries, d));
  SW_TRY(sw_json_opt_array(object, "cuts", &cuts, d));
  SW_ARENA_NEW(entry, arena, entries->n, d);
  for (int32_t i = 0; i < entries->n; i++) {
    sw_diag why = {0};
    const sw_rc rc = take_schedule_entry(&entries->at[i], g, &entry[n], &why);
    n += !rc;
    if (rc && !(adapt && rc == SW_E_INPUT)) {
      if (d) *d = why;
      return rc;
    }
  }
  if (cuts) SW_ARENA_NEW(cut, arena, cuts->n, d);
  for (int32_t i = 0; cuts && i < cuts->n; i++) SW_TRY(take_slot_cut(&cuts->at[i], g, &cut[i], d));
  out->n_entries = n;
  out->entries = entry;
  out->n_cuts = cuts ? cuts->n : 0;
  out->cuts = cut;
  return SW_OK;
}

sw_rc sw_schedule_take(const sw_json *object, const sw_request *written, sw_arena *arena, bool adapt, sw_schedule *out,
                       int32_t *stage, sw_diag *d) {
  static const char *const kKeys[] = {"micro_batches", "cuts", "stages", "stage", "folded", "entries"};
  sw_schedule_spec spec = {.micro_batches = 1};
  sw_graph *folded = NULL;
  int64_t stages = 1, at = 0;
  SW_TRY(sw_json_only(object, kKeys, 6, "a schedule", d));
  SW_TRY(sw_json_opt_i64(object, "micro_batches", 1, INT32_MAX, &spec.micro_batches, d));
  SW_TRY(sw_json_opt_i64(object, "stages", 1, INT32_MAX, &stages, d));
  SW_TRY(sw_json_opt_i64(object, "stage", 0, stages - 1, &at, d));
  spec.n_stages = (int32_t)stages;
  *stage = (int32_t)at;
  SW_TRY(sw_json_opt_bool(object, "folded", &spec.folded, d));
  if (spec.folded) SW_TRY(sw_schedule_fold(written, &folded, d));
  const sw_graph *g = folded ? folded : written->graph;
  sw_rc rc = take_lists(object, g, arena, adapt, &spec, d);
  if (!rc && adapt) rc = sw_schedule_fit(g, arena, &spec, d);
  sw_graph_destroy(folded);
  if (rc) return rc;
  rc = sw_schedule_make(written, &spec, arena, out, d);
  if (rc == SW_E_INPUT) sw_diag_note(d, "in the schedule at %s:%d", object->file, object->line);
  return rc;
}
