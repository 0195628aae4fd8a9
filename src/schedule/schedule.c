#include "shardwright/schedule.h"

#include <assert.h>

#include "graph/copy_op.h"
#include "schedule/moved_loop.h"
#include "schedule/same_ops.h"
#include "schedule/schedule_write.h"
#include "schedule/stacks.h"

/* --- what a list of entries must be ------------------------------------------------------------------------------- */

static bool is_plain_schedule(const sw_graph *g, const sw_schedule_spec *s) {
  bool plain = s->n_stages == 1 && s->micro_batches == 1 && s->n_entries == g->n_ops;
  for (int32_t i = 0; plain && i < s->n_entries; i++) {
    const sw_entry *e = &s->entries[i];
    plain = e->op == i && !e->instance && e->slot == SW_SLOT_ONCE && !e->stage && !e->source;
  }
  return plain;
}

/* What an entry reads: operands, or of a source the value itself. */
static const sw_id *entry_reads(const sw_graph *g, const sw_entry *e, int *n) {
  *n = e->source ? 1 : g->ops[e->op].n_operands;
  return e->source ? &e->value : g->ops[e->op].operands;
}

/* A source stands behind what makes the value, on its stage; of either kind behind it made again. `seen`: by op. */
static sw_rc check_kept(const sw_graph *g, const sw_entry *e, bool once, const int32_t *seen, bool *offloaded,
                        sw_diag *d) {
  if (e->value < 0 || e->value >= g->n_values)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the schedule keeps value %d; the program has %d", e->value, g->n_values);
  const sw_value *v = &g->values[e->value];
  const bool in_loop = v->def >= 0 && g->ops[v->def].frame >= 0, kept = e->source == SW_SOURCE_KEPT && !e->or_fetched,
             of_stack = in_loop && once && !kept, fetched = e->source == SW_SOURCE_FETCHED;
  const int32_t least = e->source == SW_SOURCE_EITHER && !of_stack ? 2 : 1;
  if (e->op != v->def)
    return SW_FAIL_INPUT(d, v->span, "'%s' is kept as if op %d made it; expected op %d", v->name, e->op, v->def);
  if (e->slot != SW_SLOT_ONCE || in_loop != of_stack)
    return SW_FAIL_INPUT(d, v->span, "'%s' is kept in a loop; expected it where all runs once", v->name);
  if (in_loop && fetched) return SW_OK; /* sw_stage_stack_offloaded */
  if (v->def < 0 ? least > 1 : seen[v->def] < least)
    return SW_FAIL_INPUT(d, v->span, "'%s' is kept before it is %s", v->name, least > 1 ? "made again" : "made");
  if ((fetched || e->or_fetched) && !in_loop && !offloaded[e->value])
    return SW_FAIL_INPUT(d, v->span, "'%s' is fetched before it is offloaded", v->name);
  if (e->source == SW_SOURCE_OFFLOADED) offloaded[e->value] = true;
  return SW_OK;
}

/* Each op once as itself, and then perhaps again, one instance after the other. */
static sw_rc check_schedule(const sw_graph *g, const sw_schedule_spec *s, sw_arena *scratch, sw_diag *d) {
  enum { MOST_STAGES = 64 }; /* bits of `crossing` */
  int32_t *seen;
  bool *offloaded;
  sw_rc rc = SW_OK;
  if (s->n_stages < 1 || s->n_stages > MOST_STAGES)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a schedule has %d stages; expected 1 to %d", s->n_stages, MOST_STAGES);
  SW_ARENA_NEW(seen, scratch, g->n_ops + 1, d);
  SW_ARENA_NEW(offloaded, scratch, g->n_values + 1, d);
  for (int32_t i = 0; i < s->n_entries && !rc; i++) {
    const sw_entry *e = &s->entries[i];
    if (e->source)
      rc = check_kept(g, e, s->n_stages == 1 && s->micro_batches == 1, seen, offloaded, d);
    else if (e->op < 0 || e->op >= g->n_ops)
      rc = SW_FAIL_INPUT(d, SW_NOWHERE, "entry %d of the schedule is of op %d; the program has %d", i, e->op, g->n_ops);
    else if (e->instance != seen[e->op]++)
      rc = SW_FAIL_INPUT(d, g->ops[e->op].span, "'%s' is in the schedule as instance %d; expected %d",
                         g->ops[e->op].name, e->instance, seen[e->op] - 1);
    else if (e->stage < 0 || e->stage >= s->n_stages)
      rc = SW_FAIL_INPUT(d, g->ops[e->op].span, "'%s' is on stage %d; expected one below %d", g->ops[e->op].name,
                         e->stage, s->n_stages);
    else if (e->instance && sw_op_class_of(g->ops[e->op].code) == SW_OPS_CONTROL && g->ops[e->op].frame < 0)
      rc = SW_FAIL_INPUT(d, g->ops[e->op].span, "'%s' is of a loop or choice that stands in none; expected it once",
                         g->ops[e->op].name);
  }
  for (sw_id op = 0; op < g->n_ops && !rc && (s->n_stages > 1 || s->micro_batches > 1); op++)
    if (!seen[op]) rc = SW_FAIL_INPUT(d, g->ops[op].span, "'%s' is not in the schedule", g->ops[op].name);
  return rc;
}

/* Ops that the schedule lacks are taken as others that do the same; what is read of a stack that it leaves out, as what
 * would have been put there. *alike: NULL where none is left out. */
static sw_rc find_same(const sw_graph *g, const sw_schedule_spec *s, sw_arena *scratch, const sw_id **out,
                       const sw_id **alike, sw_stacks *stacks, sw_diag *d) {
  bool *present, *left_out, any = false;
  sw_same_ops same;
  sw_id *equal;
  SW_TRY(sw_stacks_left_out(g, s, scratch, stacks, &left_out, &present, d));
  SW_TRY(sw_same_ops_find(g, present, scratch, &same, d));
  for (int32_t i = 0; i < s->n_entries && !any; i++)
    any = s->entries[i].source && s->entries[i].op >= 0 && g->ops[s->entries[i].op].frame >= 0;
  for (int32_t i = 0; i < stacks->n; i++) {
    any = any || left_out[i];
    if (left_out[i]) same.of_value[stacks->at[i].back] = same.of_value[stacks->at[i].made];
  }
  if (any) SW_TRY(sw_stacks_alike(g, stacks, left_out, scratch, &equal, d));
  *out = same.of_value;
  *alike = any ? equal : NULL;
  return SW_OK;
}

/* --- the graph of a stage ----------------------------------------------------------------------------------------- */

sw_rc sw_stage_note(sw_stage_writer *w, int32_t entry) {
  const int32_t more = w->to->n_ops - w->n_noted;
  SW_TRY(sw_arena_grow(w->arena, (void **)&w->entry, &w->room, w->n_noted, more, sizeof *w->entry, w->d));
  while (w->n_noted < w->to->n_ops) w->entry[w->n_noted++] = entry;
  return SW_OK;
}

/* Attributes that say the shape of a result say that of its part. */
static sw_rc cut_attrs(sw_stage_writer *w, const sw_op *op, const sw_entry_parts *p, const sw_attr **out) {
  sw_attr *attrs;
  *out = op->attrs;
  if (!p->cut_dim || !op->n_results || p->cut_dim[0] < 0) return SW_OK;
  SW_ARENA_NEW(attrs, &w->scratch, op->n_attrs, w->d);
  for (int i = 0; i < op->n_attrs; i++) {
    attrs[i] = op->attrs[i];
    if (attrs[i].key != SW_ATTR_SHAPE) continue;
    int64_t *shape = sw_arena_copy(&w->scratch, attrs[i].u.ints.at, (size_t)attrs[i].u.ints.n, sizeof *shape, w->d);
    if (!shape) return SW_E_RESOURCE;
    shape[p->cut_dim[0]] = p->size;
    attrs[i].u.ints.at = shape;
  }
  *out = attrs;
  return SW_OK;
}

/* What is inferred is the part of the result, and nothing else. */
static sw_rc check_part_of_result(const sw_stage_writer *w, const sw_op *op, int result, const sw_entry_parts *p,
                                  sw_id is) {
  const sw_type *whole = sw_result_type(w->program, op, result), *made = &w->to->values[is].type;
  bool same = whole->dtype == made->dtype && whole->rank == made->rank;
  for (int k = 0; same && k < whole->rank; k++)
    same = made->dims[k] == (p->cut_dim && p->cut_dim[result] == k ? p->size : whole->dims[k]);
  if (same) return SW_OK;
  return SW_FAIL_INPUT(w->d, op->span, "'%s' cannot run on a part of its operands: its attributes say the whole shape",
                       op->name);
}

static bool is_name_taken(const sw_graph *g, const char *name) {
  return sw_graph_op_named(g, name) >= 0 || sw_graph_value_named(g, name) >= 0;
}

/* A name that neither the program has, nor what stands already. */
static sw_rc name_instance(sw_stage_writer *w, const char *name, const char *suffix, const char **out) {
  *out = name;
  while (suffix && (*out == name || is_name_taken(w->program, *out) || is_name_taken(w->to, *out))) {
    *out = sw_arena_printf(&w->scratch, w->d, "%s%s", *out, suffix);
    if (!*out) return SW_E_RESOURCE;
  }
  return SW_OK;
}

sw_rc sw_stage_add_entry(sw_stage_writer *w, int32_t entry, const sw_entry_parts *p, sw_id *results) {
  const sw_op *op = &w->program->ops[w->spec->entries[entry].op];
  const char *names[SW_MAX_RESULTS];
  sw_op_spec spec;
  sw_id *in;
  SW_ARENA_NEW(in, &w->scratch, op->n_operands, w->d);
  for (int i = 0; i < op->n_operands; i++) {
    in[i] = p->in ? p->in[i] : w->now[w->same[op->operands[i]]];
    const sw_id earlier = in[i] < 0 && w->moved ? w->moved[op->operands[i]] : -1;
    if (earlier >= 0) in[i] = w->now[w->same[earlier]];
    if (in[i] < 0)
      return SW_FAIL_INPUT(w->d, op->span, "'%s' stands before '%s' in the schedule, which makes what it reads",
                           op->name, w->program->values[op->operands[i]].name);
  }
  SW_TRY(sw_op_spec_of(w->program, op, NULL, &w->scratch, &spec, w->d));
  spec.operands = in;
  SW_TRY(name_instance(w, op->name, p->suffix, &spec.name));
  for (int i = 0; i < op->n_results; i++)
    SW_TRY(name_instance(w, w->program->values[op->results[i]].name, p->suffix, &names[i]));
  spec.result_names = names;
  SW_TRY(cut_attrs(w, op, p, &spec.attrs));
  SW_TRY(sw_graph_add_op(w->to, &spec, results, w->d));
  SW_TRY(sw_stage_note(w, entry));
  for (int i = 0; i < op->n_results; i++) SW_TRY(check_part_of_result(w, op, i, p, results[i]));
  return SW_OK;
}

/* Runs once, for all that read it from here on. */
static sw_rc add_once(sw_stage_writer *w, int32_t entry) {
  const sw_entry *e = &w->spec->entries[entry];
  const sw_op *op = &w->program->ops[e->op];
  sw_id results[SW_MAX_RESULTS];
  sw_entry_parts parts = {0};
  if (e->instance == 1) parts.suffix = SW_AGAIN_SUFFIX;
  if (e->instance > 1) parts.suffix = sw_arena_printf(&w->scratch, w->d, SW_AGAIN_SUFFIX "%d", e->instance);
  if (e->instance > 1 && !parts.suffix) return SW_E_RESOURCE;
  if (!e->instance) SW_TRY(sw_stage_stack_before(w, e->op));
  SW_TRY(sw_stage_add_entry(w, entry, &parts, results));
  for (int i = 0; i < op->n_results; i++) {
    w->now[op->results[i]] = results[i];
    if (!e->instance) w->first[op->results[i]] = results[i];
    if (w->alike && w->alike[op->results[i]] >= 0) w->now[w->alike[op->results[i]]] = results[i];
  }
  return e->instance ? SW_OK : sw_stage_stack_behind(w, e->op);
}

/* No op of the program's: what is read of the value from here on; of a stack that is offered, of what it holds, too. */
static sw_rc add_source(sw_stage_writer *w, int32_t entry) {
  const sw_entry *e = &w->spec->entries[entry];
  const sw_value *v = &w->program->values[e->value];
  const sw_id first = w->first[e->value], alike = w->alike ? w->alike[e->value] : -1;
  sw_id in[SW_WAY_COUNT], made = -1;
  int n = 0;
  const char *name;
  const bool fetches = e->source == SW_SOURCE_FETCHED;
  if (fetches && w->on_host[e->value] < 0)
    return SW_FAIL_INPUT(w->d, v->span, "'%s' is fetched; expected that what its stack holds is offloaded", v->name);
  if (first < 0 && !fetches)
    return SW_FAIL_INPUT(w->d, v->span, "'%s' is kept on another stage than it is made on", v->name);
  SW_TRY(name_instance(w, v->name, sw_source_suffix(e->source), &name));
  if (e->source == SW_SOURCE_EITHER) in[n++] = w->now[alike < 0 ? e->value : alike];
  in[n++] = fetches ? w->on_host[e->value] : first;
  if (e->or_fetched) in[n++] = w->fetched[e->value];
  const sw_op_spec spec = {.code = e->source == SW_SOURCE_OFFLOADED ? SW_OP_OFFLOAD
                                   : fetches                        ? SW_OP_FETCH
                                                                    : SW_OP_KEEP,
                           .name = name,
                           .n_operands = n,
                           .operands = in,
                           .n_result_names = 1,
                           .result_names = &name,
                           .span = v->span};
  SW_TRY(sw_graph_add_op(w->to, &spec, &made, w->d));
  SW_TRY(sw_stage_note(w, entry));
  if (e->source == SW_SOURCE_OFFLOADED) {
    w->on_host[e->value] = made;
    return sw_stage_stack_offloaded(w, entry);
  }
  if (fetches && e->optional) {
    w->fetched[e->value] = made;
    return SW_OK;
  }
  w->now[e->value] = made;
  if (alike >= 0) w->now[alike] = made;
  return SW_OK;
}

/* --- what crosses between stages ---------------------------------------------------------------------------------- */

/* Of a value: which stages read it, and which makes it what is delivered; as bits by stage. */
typedef struct crossing {
  const sw_graph *g;
  const sw_id *same; /* sw_same_ops */
  const sw_stacks *stacks;
  const sw_schedule_spec *spec;
  int32_t *made_on; /* by value: the stage of the op itself; -1: an argument */
  uint64_t *read_on;
} crossing;

static sw_rc find_crossing(crossing *c, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = c->g;
  SW_ARENA_NEW_EACH(arena, g->n_values + 1, d, c->made_on, c->read_on);
  uint64_t *made; /* so far */
  SW_ARENA_NEW(made, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) c->made_on[v] = -1;
  for (int32_t k = 0; k < c->stacks->n_added; k++) c->made_on[c->stacks->added[k].value] = 0; /* of its only stage */
  for (int32_t i = 0; i < c->spec->n_entries; i++) {
    const sw_entry *e = &c->spec->entries[i];
    const uint64_t here = UINT64_C(1) << e->stage;
    int n;
    const sw_id *reads = entry_reads(g, e, &n);
    for (int k = 0; k < n; k++) c->read_on[c->same[reads[k]]] |= here & ~made[c->same[reads[k]]];
    if (e->source) continue;
    const sw_op *op = &g->ops[e->op];
    for (int k = 0; k < op->n_results; k++) {
      made[op->results[k]] |= here;
      if (!e->instance) c->made_on[op->results[k]] = e->stage;
    }
  }
  for (int32_t i = 0; i < g->n_outputs; i++)
    if (g->values[g->outputs[i]].def < 0) c->read_on[g->outputs[i]] |= 1; /* returned as it comes, by the first stage */
  return SW_OK;
}

/* Does the stage take the value from outside? Arguments that nobody reads are the first stage's. */
static bool stage_takes(const crossing *c, sw_id v, int32_t stage) {
  const bool read = c->read_on[v] >> stage & 1;
  if (c->g->values[v].def >= 0) return c->made_on[v] != stage && read;
  return read || (stage == 0 && !c->g->values[v].n_uses);
}

static bool gives_to_others(const crossing *c, sw_id v, int32_t stage) {
  return c->g->values[v].def >= 0 && c->made_on[v] == stage && (c->read_on[v] & ~(UINT64_C(1) << stage)) != 0;
}

static int32_t output_stage(const crossing *c, sw_id v) { return c->g->values[v].def < 0 ? 0 : c->made_on[c->same[v]]; }

/* --- one stage ---------------------------------------------------------------------------------------------------- */

static sw_rc add_stage_args(sw_stage_writer *w, const crossing *c, const sw_id **out) {
  const sw_graph *g = w->program;
  sw_id *args;
  int32_t n = 0;
  SW_ARENA_NEW(args, w->arena, g->n_values + 1, w->d);
  for (sw_id v = 0; v < g->n_values; v++) {
    const sw_value *x = &g->values[v];
    if (!stage_takes(c, v, w->stage)) continue;
    SW_TRY(sw_graph_add_arg(w->to, x->name, x->type.dtype, x->type.rank, x->type.dims,
                            x->def < 0 ? x->kind : SW_VALUE_INPUT, x->span, &w->now[v], w->d));
    w->first[v] = w->now[v];
    if (x->location) sw_graph_set_arg_location(w->to, w->now[v], x->location);
    args[n++] = v;
  }
  *out = args;
  return SW_OK;
}

static sw_rc add_entries(sw_stage_writer *w) {
  const sw_schedule_spec *s = w->spec;
  for (int32_t i = 0; i < s->n_entries; i++) {
    int32_t end = i + 1;
    if (s->entries[i].stage != w->stage) continue;
    if (s->entries[i].slot == SW_SLOT_ONCE || s->micro_batches == 1) {
      SW_TRY(s->entries[i].source ? add_source(w, i) : add_once(w, i));
      continue;
    }
    while (end < s->n_entries && s->entries[end].slot == SW_SLOT_EACH) end++;
    SW_TRY(sw_stage_add_slots(w, i, end));
    i = end - 1;
  }
  return SW_OK;
}

static sw_rc add_stage_outputs(sw_stage_writer *w, const crossing *c, const sw_id **out) {
  const sw_graph *g = w->program;
  sw_id *outputs;
  int32_t n = 0;
  SW_ARENA_NEW(outputs, w->arena, g->n_outputs + g->n_values + 1, w->d);
  SW_ARENA_NEW(w->output_at, &w->scratch, g->n_outputs + 1, w->d);
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_id v = g->outputs[i], state = g->alias[i];
    w->output_at[i] = -1;
    if (output_stage(c, v) != w->stage) continue;
    if (state >= 0 && w->first[state] < 0)
      return SW_FAIL_INPUT(w->d, g->output_spans[i], "output '%s' becomes a state that another stage holds",
                           g->output_names[i]);
    SW_TRY(sw_graph_add_output(w->to, g->output_names[i], g->values[v].def < 0 ? w->first[v] : w->now[w->same[v]],
                               state < 0 ? -1 : w->first[state], g->output_spans[i], w->d));
    w->output_at[i] = n;
    outputs[n++] = v;
  }
  for (sw_id v = 0; v < g->n_values; v++) {
    if (!gives_to_others(c, v, w->stage)) continue;
    SW_TRY(sw_graph_add_output(w->to, NULL, w->now[v], -1, g->values[v].span, w->d));
    outputs[n++] = v;
  }
  *out = outputs;
  return SW_OK;
}

/* By op of the program: what stands for the op itself; -1: nothing on this stage. */
static sw_rc own_ops(sw_stage_writer *w, sw_id **out) {
  SW_ARENA_NEW(*out, &w->scratch, w->program->n_ops + 1, w->d);
  for (sw_id i = 0; i < w->program->n_ops; i++) (*out)[i] = -1;
  for (sw_id i = 0; i < w->to->n_ops; i++) {
    const sw_entry *e = w->entry[i] >= 0 ? &w->spec->entries[w->entry[i]] : NULL;
    if (e && !e->instance && !e->source && (*out)[e->op] < 0) (*out)[e->op] = i;
  }
  return SW_OK;
}

/* Where a use of the program is on this stage, and the value that it takes; false: not here. */
static bool find_use(const sw_stage_writer *w, const sw_id *own, sw_id value, sw_value_use use, sw_value_use *out,
                     sw_id *source) {
  const sw_id at = use.op < 0 ? w->output_at[use.index] : own[use.op];
  if (at < 0) return false;
  *out = use.op < 0 ? (sw_value_use){-1, at} : (sw_value_use){at, use.index};
  *source = use.op < 0 ? (w->program->values[value].def < 0 ? w->first : w->now)[w->same[value]]
                       : w->to->ops[at].operands[use.index];
  return *source >= 0;
}

/* What is asked of uses is asked where they read: an annotation for each source. */
static sw_rc ask_of_uses(sw_stage_writer *w, const sw_id *own, const sw_annotation *a) {
  const sw_value *v = &w->program->values[a->value];
  const int32_t n = a->n_users ? a->n_users : v->n_uses;
  sw_annotation copy = *a;
  sw_value_use *users, *at;
  sw_id *source;
  SW_ARENA_NEW_EACH(&w->scratch, n, w->d, users, at, source);
  for (int32_t i = 0; i < n; i++)
    if (!find_use(w, own, a->value, (a->n_users ? a->users : v->uses)[i], &at[i], &source[i])) source[i] = -1;
  copy.users = users;
  for (int32_t i = 0; i < n; i++) {
    if (source[i] < 0) continue;
    copy.value = source[i];
    copy.n_users = 0;
    for (int32_t k = i; k < n; k++) {
      if (source[k] != copy.value) continue;
      users[copy.n_users++] = at[k];
      source[k] = -1;
    }
    SW_TRY(sw_graph_add_annotation(w->to, &copy, w->d));
  }
  return SW_OK;
}

/* What is asked of a definition is asked of the op itself, or of the argument. */
static sw_rc ask_of_stage(sw_stage_writer *w, const sw_id *own, const sw_annotation *a) {
  sw_annotation copy = *a;
  if (a->for_users) return ask_of_uses(w, own, a);
  if (a->op >= 0) copy.op = own[a->op];
  if (a->value >= 0) {
    const sw_value *v = &w->program->values[a->value];
    copy.value = v->def < 0 ? w->first[a->value] : own[v->def] < 0 ? -1 : w->to->ops[own[v->def]].results[v->def_index];
  }
  return copy.op < 0 && copy.value < 0 ? SW_OK : sw_graph_add_annotation(w->to, &copy, w->d);
}

static sw_rc ask_stage(sw_stage_writer *w, const sw_request *r) {
  sw_id *own;
  SW_TRY(own_ops(w, &own));
  for (int32_t i = 0; i < r->n_annotations; i++) SW_TRY(ask_of_stage(w, own, &r->annotations[i]));
  for (int32_t i = 0; i < r->n_sharding_groups; i++) {
    const sw_sharding_group *s = &r->sharding_groups[i];
    const sw_id one = w->same[s->a], other = w->same[s->b];
    const sw_id a = w->first[one] >= 0 ? w->first[one] : w->now[one],
                b = w->first[other] >= 0 ? w->first[other] : w->now[other];
    if (a >= 0 && b >= 0) SW_TRY(sw_graph_add_sharding_group(w->to, a, b, s->span, w->d));
  }
  return SW_OK;
}

static sw_rc write_stage(sw_stage_writer *w, const crossing *c, const sw_request *r, sw_stage *out) {
  SW_ARENA_NEW_EACH(&w->scratch, w->program->n_values + 1, w->d, w->now, w->first, w->on_host, w->fetched);
  SW_ARENA_NEW_EACH(&w->scratch, w->stacks->n_added + 1, w->d, w->added, w->entered, w->ended, w->joined);
  for (sw_id v = 0; v < w->program->n_values; v++) w->now[v] = w->first[v] = w->on_host[v] = w->fetched[v] = -1;
  SW_TRY(sw_graph_create(w->program->name, &w->to, w->d));
  if (r->has_mesh) sw_graph_set_mesh(w->to, &r->mesh);
  if (r->compiler) sw_graph_set_compiler(w->to, r->compiler);
  SW_TRY(add_stage_args(w, c, &out->args));
  SW_TRY(add_entries(w));
  SW_TRY(add_stage_outputs(w, c, &out->outputs));
  SW_TRY(ask_stage(w, r));
  SW_TRY(sw_graph_seal(w->to, w->d));
  for (sw_id i = 0; i < w->to->n_ops; i++) {
    for (int k = 0; k < w->to->ops[i].n_operands; k++)
      assert(w->to->values[w->to->ops[i].operands[k]].def < i); /* a source stands before its reader */
    assert(w->entry[i] < w->spec->n_entries);
  }
  out->graph = w->to;
  out->entry = w->entry;
  return SW_OK;
}

/* By value: the last entry that reads it. */
static sw_rc find_last_reads(const crossing *c, sw_arena *arena, int32_t **out, sw_diag *d) {
  const sw_graph *g = c->g;
  const sw_schedule_spec *s = c->spec;
  SW_ARENA_NEW(*out, arena, g->n_values + 1, d);
  for (sw_id v = 0; v < g->n_values; v++) (*out)[v] = -1;
  for (int32_t i = 0; i < s->n_entries; i++) {
    int n;
    const sw_id *reads = entry_reads(g, &s->entries[i], &n);
    for (int k = 0; k < n; k++) (*out)[c->same[reads[k]]] = i;
  }
  for (int32_t i = 0; i < g->n_outputs; i++) (*out)[c->same[g->outputs[i]]] = s->n_entries;
  return SW_OK;
}

/* --- all ---------------------------------------------------------------------------------------------------------- */

static sw_rc keep_spec(const sw_schedule_spec *spec, sw_arena *arena, sw_schedule *out, sw_diag *d) {
  out->spec = *spec;
  out->spec.entries = sw_arena_copy(arena, spec->entries, (size_t)spec->n_entries, sizeof *spec->entries, d);
  out->spec.cuts = sw_arena_copy(arena, spec->cuts, (size_t)spec->n_cuts, sizeof *spec->cuts, d);
  return out->spec.entries && out->spec.cuts ? SW_OK : SW_E_RESOURCE;
}

static sw_rc make_stages(const sw_request *r, const sw_moved_loop *m, sw_schedule *out, sw_arena *arena,
                         sw_arena *scratch, sw_diag *d) {
  const sw_graph *g = r->graph;
  crossing c = {.g = g, .spec = &out->spec};
  sw_stage *stages;
  int32_t *last_in;
  const sw_id *alike = NULL;
  sw_stacks stacks;
  c.stacks = &stacks;
  SW_TRY(check_schedule(g, &out->spec, scratch, d));
  SW_ARENA_NEW_EACH(arena, out->spec.n_stages, d, stages, out->owned);
  out->stages = stages;
  if (m) SW_TRY(sw_moved_loop_stacks(g, m, scratch, &stacks, d));
  if (!m) SW_TRY(find_same(g, &out->spec, scratch, &c.same, &alike, &stacks, d));
  if (m) c.same = m->read_as;
  SW_TRY(find_crossing(&c, scratch, d));
  SW_TRY(find_last_reads(&c, scratch, &last_in, d));
  for (int32_t k = 0; k < out->spec.n_stages; k++) {
    sw_stage_writer w = {.program = g,
                         .same = c.same,
                         .alike = alike,
                         .moved = m ? m->alike : NULL,
                         .stacks = &stacks,
                         .spec = &out->spec,
                         .stage = k,
                         .last_in = last_in,
                         .arena = arena,
                         .d = d};
    const sw_rc rc = write_stage(&w, &c, r, &stages[k]);
    sw_arena_deinit(&w.scratch);
    out->owned[k] = w.to;
    if (rc) return rc;
  }
  return SW_OK;
}

/* The program itself. */
static sw_rc take_plain(const sw_request *r, sw_schedule *out, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = r->graph;
  sw_stage *stage;
  int32_t *entry;
  SW_ARENA_NEW(stage, arena, 1, d);
  SW_ARENA_NEW(entry, arena, g->n_ops + 1, d);
  SW_ARENA_NEW(out->owned, arena, 1, d);
  for (sw_id i = 0; i < g->n_ops; i++) entry[i] = i;
  *stage = (sw_stage){g, entry, g->args, g->outputs};
  out->stages = stage;
  return SW_OK;
}

sw_rc sw_schedule_make_moved(const sw_request *written, const sw_schedule_spec *spec, const sw_moved_loop *m,
                             sw_arena *arena, sw_schedule *out, sw_diag *d) {
  sw_arena scratch = {0};
  *out = (sw_schedule){.written = written};
  SW_TRY(keep_spec(spec, arena, out, d));
  if (spec->folded) SW_TRY(sw_schedule_fold(written, &out->folded, d));
  const sw_request *r = out->asked = out->folded ? out->folded->written : written;
  out->program = r->graph;
  sw_rc rc =
      is_plain_schedule(r->graph, spec) ? take_plain(r, out, arena, d) : make_stages(r, m, out, arena, &scratch, d);
  sw_arena_deinit(&scratch);
  if (rc) sw_schedule_deinit(out);
  return rc;
}

sw_rc sw_schedule_make(const sw_request *written, const sw_schedule_spec *spec, sw_arena *arena, sw_schedule *out,
                       sw_diag *d) {
  return sw_schedule_make_moved(written, spec, NULL, arena, out, d);
}

void sw_schedule_deinit(sw_schedule *s) {
  for (int32_t k = 0; s->owned && k < s->spec.n_stages; k++) sw_graph_destroy(s->owned[k]);
  sw_graph_destroy(s->folded);
  s->owned = NULL;
  s->folded = NULL;
}
