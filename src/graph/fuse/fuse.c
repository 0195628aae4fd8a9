/* The graph again, with an op for each attention that was found (fuse.h), or without what nobody reads. Ops that
 * nothing reads any more, as of masks, go with an attention. */
#include "graph/fuse.h"

#include <string.h>

#include "graph/attention.h"
#include "graph/copy_op.h"
#include "graph/fuse/fuse_write.h"
#include "shardwright/log.h"
#include "shardwright/request.h"

typedef struct fusion {
  const sw_graph *g;
  sw_fuse_space space;
  SW_ARRAY(sw_fuse_region) found;
  int32_t *forward, *gradient; /* by op: 1 + the region that is written in its place */
  sw_id *same;                 /* by op: 1 + the value that its result is; 0: another one */
  bool *dropped;               /* by op */
  sw_arena *arena;
  sw_fuse_writer w;
  sw_fused *what;
  sw_diag *d;
} fusion;

static void free_region(sw_fuse_region *r) {
  sw_array_free(&r->values);
  sw_array_free(&r->todo);
  sw_array_free(&r->removed);
}

static sw_rc make_tables(fusion *f) {
  const sw_graph *g = f->g;
  SW_ARENA_NEW_EACH(f->arena, g->n_values, f->d, f->space.value, f->space.kept, f->space.said);
  SW_ARENA_NEW_EACH(f->arena, g->n_ops, f->d, f->space.taken, f->space.queued, f->forward, f->gradient, f->same,
                    f->dropped);
  SW_ARENA_NEW(f->what->value, f->arena, g->n_values, f->d);
  SW_ARENA_NEW(f->what->op, f->arena, g->n_ops, f->d);
  for (sw_id i = 0; i < g->n_values; i++) f->what->value[i] = -1;
  for (sw_id i = 0; i < g->n_ops; i++) f->what->op[i] = -1;
  return SW_OK;
}

/* It says of a value as it is made how it is cut, and nothing else. */
static bool says_cuts(const sw_annotation *a) {
  return !a->for_users && !a->n_kept && !a->sharding.n_partial && !a->sharding.offsets && !a->sharding.halos;
}

static void keep_value(fusion *f, sw_id v) {
  f->space.kept[v] = true;
  f->space.said[v] = -1;
}

/* What people say something of stays, or what is said of it is said of an op. */
static void keep_annotated(fusion *f) {
  const sw_graph *g = f->g;
  int32_t *said = f->space.said;
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    const sw_annotation *a = &g->written->annotations[i];
    if (a->value >= 0) {
      said[a->value] = says_cuts(a) && !f->space.kept[a->value] ? i + 1 : -1;
      f->space.kept[a->value] = true;
    }
    for (int k = 0; a->op >= 0 && k < g->ops[a->op].n_results; k++) keep_value(f, g->ops[a->op].results[k]);
    for (int k = 0; k < a->n_users; k++) {
      const sw_id op = a->users[k].op;
      if (op >= 0 && g->ops[op].n_results) keep_value(f, g->ops[op].results[0]);
      if (op >= 0) f->space.taken[op] = true;
    }
  }
  for (int32_t i = 0; i < g->written->n_sharding_groups; i++) {
    const sw_sharding_group *s = &g->written->sharding_groups[i];
    keep_value(f, s->a);
    keep_value(f, s->b);
  }
}

static sw_rc find_regions(fusion *f) {
  const sw_graph *g = f->g;
  for (sw_id i = 0; i < g->n_ops; i++) {
    sw_fuse_region r;
    bool found;
    f->what->n_there += sw_is_attention(g->ops[i].code);
    if (g->ops[i].code != SW_OP_DOT) continue;
    sw_rc rc = sw_fuse_find(g, i, &f->space, &r, &found, f->d);
    if (!rc && found) rc = sw_array_push(&f->found, r, f->d);
    if (rc || !found) free_region(&r);
    SW_TRY(rc);
    if (!found) continue;
    sw_fuse_narrow(&f->found.at[f->found.n - 1]);
    const sw_id out = r.exit[SW_FUSE_O].op, gradient = sw_fuse_first_gradient(&r);
    for (size_t k = 0; k < r.removed.n; k++) f->space.taken[r.removed.at[k]] = f->dropped[r.removed.at[k]] = true;
    f->forward[out < 0 ? gradient : out] = (int32_t)f->found.n;
    if (gradient >= 0) f->gradient[gradient] = (int32_t)f->found.n;
    f->what->n_forward++;
    f->what->n_gradient += gradient >= 0;
  }
  return SW_OK;
}

/* --- transposes that undo each other ------------------------------------------------------------------------------ */

sw_id sw_value_given_back(const sw_graph *g, const sw_op *op) {
  int n, m;
  if (op->code != SW_OP_TRANSPOSE) return -1;
  const int64_t *outer = sw_op_ints(op, SW_ATTR_PERMUTATION, &n);
  sw_id v = op->operands[0];
  while (g->values[v].def >= 0 && sw_changes_nothing(g, &g->ops[g->values[v].def]))
    v = g->ops[g->values[v].def].operands[0];
  const sw_op *first = sw_value_maker(g, v);
  if (!first || first->code != SW_OP_TRANSPOSE || first->frame != op->frame) return -1;
  const int64_t *inner = sw_op_ints(first, SW_ATTR_PERMUTATION, &m);
  for (int i = 0; i < n; i++) {
    if (inner[outer[i]] != i) return -1;
  }
  return first->operands[0];
}

static void find_undone(fusion *f) {
  for (sw_id i = 0; i < f->g->n_ops; i++) {
    const sw_id v = f->dropped[i] ? -1 : sw_value_given_back(f->g, &f->g->ops[i]),
                by = v < 0 ? -1 : f->g->values[v].def;
    if (v < 0 || f->space.kept[f->g->ops[i].results[0]] || (by >= 0 && f->dropped[by])) continue;
    f->same[i] = 1 + v;
    f->dropped[i] = true;
  }
}

/* --- what nothing reads any more ---------------------------------------------------------------------------------- */

static bool is_read(const fusion *f, const bool *needed, const sw_op *op) {
  for (int k = 0; k < op->n_results; k++) {
    const sw_id value = op->results[k];
    const sw_value *v = &f->g->values[value];
    if (f->space.kept[value] || (needed && needed[value])) return true;
    for (int u = 0; u < v->n_uses; u++)
      if (v->uses[u].op < 0 || !f->dropped[v->uses[u].op]) return true;
  }
  return false;
}

/* Ops all of whose readers went. */
static sw_rc drop_unread_again(fusion *f) {
  const sw_graph *g = f->g;
  bool *needed;
  SW_ARENA_NEW(needed, f->arena, g->n_values, f->d);
  for (size_t i = 0; i < f->found.n; i++) {
    const sw_fuse_region *r = &f->found.at[i];
    const sw_fuse_operand *const all[] = {&r->q, &r->k, &r->v, &r->d_o, &r->keep, &r->bias, &r->mask};
    for (int k = 0; k < 7; k++) {
      if (all[k]->id >= 0) needed[all[k]->id] = true;
    }
    if (r->lengths >= 0) needed[r->lengths] = true;
    if (r->start >= 0) needed[r->start] = true;
  }
  for (sw_id i = 0; i < g->n_ops; i++) {
    if (f->same[i]) needed[f->same[i] - 1] = true;
  }
  for (sw_id i = g->n_ops - 1; i >= 0; i--) {
    const sw_op *op = &g->ops[i];
    bool was_read = false;
    if (f->dropped[i] || sw_op_class_of(op->code) == SW_OPS_CONTROL) continue;
    for (int k = 0; k < op->n_results; k++) was_read = was_read || g->values[op->results[k]].n_uses > 0;
    f->dropped[i] = was_read && !is_read(f, needed, op);
  }
  return SW_OK;
}

/* What reads nothing costs nothing, and may be the start of a reduction that the text names. What an op that the graph
 * does not know does besides, nobody can say. A constraint without uses says how its input is cut. */
static bool may_go(const sw_graph *g, const sw_op *op) {
  const sw_op_class class = sw_op_class_of(op->code);
  if (sw_changes_nothing(g, op) && g->values[op->results[0]].n_uses == 0) return false;
  return op->n_results > 0 && op->n_operands > 0 && class != SW_OPS_CONTROL && class != SW_OPS_GIVEN;
}

/* Ops that nobody ever read, and those that only they read. Readers stand behind, but for what a loop carries. How a
 * value is cut that nobody reads is as if unsaid. */
static bool find_unread(fusion *f) {
  bool any = false;
  for (sw_id v = 0; v < f->g->n_values; v++)
    if (f->space.said[v] > 0) f->space.kept[v] = false;
  for (sw_id i = f->g->n_ops - 1; i >= 0; i--) {
    f->dropped[i] = may_go(f->g, &f->g->ops[i]) && !is_read(f, NULL, &f->g->ops[i]);
    any = any || f->dropped[i];
  }
  return any;
}

/* --- the new graph ------------------------------------------------------------------------------------------------ */

static sw_rc copy_ops(fusion *f) {
  sw_id(*o_lse)[2];
  SW_ARENA_NEW(o_lse, f->arena, f->found.n + 1, f->d);
  for (sw_id i = 0; i < f->g->n_ops; i++) {
    const int32_t forward = f->forward[i] - 1, gradient = f->gradient[i] - 1;
    if (forward >= 0) SW_TRY(sw_fuse_write_forward(&f->w, &f->found.at[forward], o_lse[forward]));
    if (gradient >= 0) SW_TRY(sw_fuse_write_gradient(&f->w, &f->found.at[gradient], o_lse[gradient]));
    if (f->same[i]) f->w.now[f->g->ops[i].results[0]] = f->w.now[f->same[i] - 1];
    if (f->dropped[i]) continue;
    SW_TRY(sw_graph_copy_op(f->w.to, f->g, &f->g->ops[i], f->w.now, f->arena, f->d));
    f->what->op[i] = f->w.to->n_ops - 1;
  }
  return SW_OK;
}

static sw_rc copy_annotation(fusion *f, const sw_annotation *a) {
  sw_annotation copy = *a;
  sw_value_use *users;
  SW_ARENA_NEW(users, f->arena, a->n_users, f->d);
  if (a->value >= 0) copy.value = f->w.now[a->value];
  if (a->op >= 0) copy.op = f->what->op[a->op];
  for (int i = 0; i < a->n_users; i++) {
    users[i] = a->users[i];
    if (users[i].op >= 0) users[i].op = f->what->op[users[i].op];
  }
  copy.users = users;
  return sw_graph_add_annotation(f->w.to, &copy, f->d);
}

static sw_rc copy_rest(fusion *f) {
  const sw_graph *g = f->g;
  for (int32_t i = 0; i < g->n_outputs; i++) {
    const sw_id alias = g->alias[i] < 0 ? -1 : f->w.now[g->alias[i]];
    SW_TRY(sw_graph_add_output(f->w.to, g->output_names[i], f->w.now[g->outputs[i]], alias, g->output_spans[i], f->d));
  }
  for (int32_t i = 0; i < g->written->n_annotations; i++) {
    const sw_annotation *a = &g->written->annotations[i];
    if (a->value < 0 || f->w.now[a->value] >= 0) SW_TRY(copy_annotation(f, a)); /* else the op has it */
  }
  for (int32_t i = 0; i < g->written->n_sharding_groups; i++) {
    const sw_sharding_group *s = &g->written->sharding_groups[i];
    SW_TRY(sw_graph_add_sharding_group(f->w.to, f->w.now[s->a], f->w.now[s->b], s->span, f->d));
  }
  return sw_graph_seal(f->w.to, f->d);
}

static sw_rc write_graph(fusion *f) {
  SW_TRY(sw_graph_create(f->g->name, &f->w.to, f->d));
  if (f->g->written->has_mesh) sw_graph_set_mesh(f->w.to, &f->g->written->mesh);
  sw_graph_set_compiler(f->w.to, f->g->written->compiler);
  SW_TRY(sw_graph_copy_args(f->w.to, f->g, f->w.now, f->d));
  SW_TRY(copy_ops(f));
  return copy_rest(f);
}

sw_rc sw_graph_fuse_attention(const sw_graph *g, sw_arena *arena, sw_graph **out, sw_fused *what, sw_diag *d) {
  *what = (sw_fused){0};
  fusion f = {.g = g, .arena = arena, .what = what, .d = d};
  sw_rc rc = make_tables(&f);
  if (!rc) {
    f.w = (sw_fuse_writer){.from = g, .now = what->value, .arena = arena, .d = d};
    keep_annotated(&f);
    rc = find_regions(&f);
  }
  if (!rc) find_undone(&f);
  if (!rc) rc = drop_unread_again(&f);
  if (!rc) rc = write_graph(&f);
  for (size_t i = 0; i < f.found.n; i++) free_region(&f.found.at[i]);
  sw_array_free(&f.found);
  if (rc) sw_graph_destroy(f.w.to);
  if (!rc) *out = f.w.to;
  return rc;
}

sw_rc sw_graph_drop_unread(const sw_graph *g, sw_arena *arena, sw_graph **out, sw_fused *what, sw_diag *d) {
  *what = (sw_fused){0};
  *out = NULL;
  fusion f = {.g = g, .arena = arena, .what = what, .d = d};
  SW_TRY(make_tables(&f));
  f.w = (sw_fuse_writer){.from = g, .now = what->value, .arena = arena, .d = d};
  keep_annotated(&f);
  if (!find_unread(&f)) return SW_OK;
  sw_rc rc = write_graph(&f);
  if (rc) sw_graph_destroy(f.w.to);
  if (!rc) *out = f.w.to;
  return rc;
}

sw_rc sw_graph_fuse_in_place(sw_graph **g, sw_graph **as_written, sw_arena *arena, sw_fused *what, sw_diag *d) {
  sw_graph *fused;
  SW_TRY(sw_graph_fuse_attention(*g, arena, &fused, what, d));
  *as_written = *g;
  *g = fused;
  if (!what->n_forward && !what->n_there) sw_log(SW_LOG_WARN, "no attention was found that could be fused");
  return SW_OK;
}
