/* A schedule of another version of the program, as far as it fits: what is in order stays so, what is not comes right
 * before its first reader.
 *
 *   entries   x  y  x.again  z      the program now: x  y  n = f(x)  z = g(y, n)      x  y  x.again  n  z
 */
#include "base/array.h"
#include "schedule/stacks.h"
#include "shardwright/schedule.h"

typedef struct fitting {
  const sw_graph *g;
  int32_t *instances; /* by op: so many stand */
  bool *offloaded;    /* by value */
  SW_ARRAY(sw_id) open;
  SW_ARRAY(sw_entry) entries;
} fitting;

/* An operand's op that does not stand yet; -1: none. */
static sw_id lacking(const fitting *f, sw_id op) {
  const sw_op *o = &f->g->ops[op];
  for (int k = 0; k < o->n_operands; k++) {
    const sw_id def = f->g->values[o->operands[k]].def;
    if (def >= 0 && !f->instances[def]) return def;
  }
  return -1;
}

/* Behind all that it reads. */
static sw_rc put_with_operands(fitting *f, sw_id op, sw_diag *d) {
  f->open.n = 0;
  SW_TRY(sw_array_push(&f->open, op, d));
  while (f->open.n) {
    const sw_id at = f->open.at[f->open.n - 1], before = lacking(f, at);
    if (before >= 0) {
      SW_TRY(sw_array_push(&f->open, before, d));
      continue;
    }
    f->open.n--;
    if (!f->instances[at]++) SW_TRY(sw_array_push(&f->entries, ((sw_entry){.op = at}), d));
  }
  return SW_OK;
}

static sw_rc fit_entry(fitting *f, const sw_entry *e, sw_diag *d) {
  sw_entry fits = *e;
  const sw_id def = e->source ? f->g->values[e->value].def : e->op;
  if (e->source == SW_SOURCE_OFFLOADED) f->offloaded[e->value] = def >= 0 && f->instances[def];
  if (e->source == SW_SOURCE_FETCHED && !f->offloaded[e->value]) return SW_OK;
  if (e->source) return def < 0 || f->instances[def] ? sw_array_push(&f->entries, fits, d) : SW_OK;
  if (!e->instance) return f->instances[def] ? SW_OK : put_with_operands(f, def, d);
  const bool again = f->instances[def] && lacking(f, def) < 0 && sw_op_class_of(f->g->ops[def].code) != SW_OPS_CONTROL;
  if (!again) return SW_OK;
  fits.instance = f->instances[def]++;
  return sw_array_push(&f->entries, fits, d);
}

static sw_rc fit_all(fitting *f, const sw_schedule_spec *was, sw_diag *d) {
  for (int32_t i = 0; i < was->n_entries && !f->g->n_frames; i++) SW_TRY(fit_entry(f, &was->entries[i], d));
  for (sw_id i = 0; i < f->g->n_ops; i++)
    if (!f->instances[i]) SW_TRY(put_with_operands(f, i, d));
  return SW_OK;
}

/* Does it have all of a program with loops, but for stacks that it leaves out? */
static sw_rc has_all(const sw_graph *g, const sw_schedule_spec *s, bool *all, sw_diag *d) {
  sw_arena scratch = {0};
  bool *present, *left_out;
  sw_stacks stacks;
  const sw_rc rc = sw_stacks_left_out(g, s, &scratch, &stacks, &left_out, &present, d);
  *all = !rc && g->n_frames;
  for (sw_id i = 0; *all && i < g->n_ops; i++) *all = present[i];
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_schedule_fit(const sw_graph *g, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d) {
  fitting f = {.g = g};
  bool all;
  if (spec->n_stages > 1 || spec->micro_batches > 1) return SW_OK;
  SW_TRY(has_all(g, spec, &all, d));
  if (all) return SW_OK;
  SW_ARENA_NEW(f.instances, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(f.offloaded, arena, g->n_values + 1, d);
  sw_rc rc = fit_all(&f, spec, d);
  if (!rc) {
    spec->n_entries = (int32_t)f.entries.n;
    spec->entries = sw_arena_copy(arena, f.entries.at, f.entries.n, sizeof *f.entries.at, d);
    if (!spec->entries) rc = SW_E_RESOURCE;
  }
  sw_array_free(&f.open);
  sw_array_free(&f.entries);
  return rc;
}
