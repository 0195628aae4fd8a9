/* Required annotations that exclude each other, named with both places.
 *
 * Between a definition and its uses a value is resharded, so annotations can only exclude each other where one thing is
 * chosen for both: the strategy of an op, the sharding of values that are one (carried by a loop, joined, in a sharding
 * group), that of a state which comes and goes. A sum may be completed behind its op. Each of these is looked at by
 * itself:
 *
 *   op      option n:[y], result required [[x],[]]     no strategy does both
 *   values  h enters a loop [[x],[]], its yield gives [[],[x]]     shardings that one can have, less those that the
 * other cannot, until none is left
 */
#include <string.h>

#include "base/disjoint.h"
#include "strategy/demands.h"

typedef struct reader {
  sw_job job;
  sw_units units;
  sw_demand_index demands;
  sw_id *one_with;      /* by value: another of the same sharding; at last the one that stands for all */
  const sw_span **ties; /* by value: the sharding group that says so, or NULL */
  sw_arena arena;       /* of one question */
  sw_diag *d;
} reader;

/* --- words -------------------------------------------------------------------------------------------------------- */

static void put_full_place(sw_span at, sw_text *out) {
  sw_text_printf(out, "%s:%d:%d", at.file ? at.file : "?", at.line, at.col);
}

static void put_demand(const reader *r, const sw_op *op, const sw_demand *m, sw_text *out) {
  const sw_annotation *a = m->a;
  if (m->port < 0) {
    sw_strategy option = {0};
    for (int i = 0; i < a->n_loop_refs; i++) (void)sw_strategy_push(&option, a->loop_of[i], a->loop_refs[i]);
    sw_text_puts(out, "the option ");
    sw_strategy_print(&r->job.request->mesh, op->nest, &option, out);
    sw_text_printf(out, " of op '%s'", op->name);
    return;
  }
  sw_annotation_print(r->job.request, a, out);
  sw_text_printf(out, " of '%s'", r->job.graph->values[a->value].name);
  if (a->for_users && op) sw_text_printf(out, " for its use in '%s'", op->name);
  if (a->for_users && !op) sw_text_puts(out, " for its use as an output");
}

/* Two that exclude each other; the later one is where the error is. */
static sw_rc exclude(const reader *r, const sw_op *x_op, const sw_demand *x, const sw_op *y_op, const sw_demand *y,
                     const char *expected) {
  if (x->a > y->a) return exclude(r, y_op, y, x_op, x, expected);
  sw_text first = {0}, second = {0}, at = {0};
  put_demand(r, x_op, x, &first);
  put_demand(r, y_op, y, &second);
  put_full_place(x->a->span, &at);
  sw_rc rc = SW_FAIL(r->d, SW_E_INFEASIBLE, y->a->span, "%s is required, and so is %s; expected %s",
                     sw_text_str(&second), sw_text_str(&first), expected);
  sw_diag_note(r->d, "%s is required at %s", sw_text_str(&first), sw_text_str(&at));
  sw_text_free(&first);
  sw_text_free(&second);
  sw_text_free(&at);
  return rc;
}

/* --- one op ------------------------------------------------------------------------------------------------------- */

static sw_rc can_meet(reader *r, const sw_op *op, const sw_demand *at, size_t n, bool *out) {
  return sw_demands_can_be_met(&r->job, op, at, n, out, r->d);
}

/* Those that no strategy meets are no matter of others. */
static sw_rc drop_impossible(const reader *r, const sw_op *op, sw_demands *m) {
  const sw_enumerate_options any_size = {.any_size = true};
  return sw_demands_drop_impossible(&r->job, op, &any_size, m, r->d);
}

static sw_rc find_pair(reader *r, const sw_op *op, const sw_demands *m) {
  static const char kExpected[] = "requirements that one strategy of the op meets";
  for (size_t j = 1; j < m->n; j++) {
    for (size_t i = 0; i < j; i++) {
      bool can;
      SW_TRY(can_meet(r, op, (sw_demand[]){m->at[i], m->at[j]}, 2, &can));
      if (!can) return exclude(r, op, &m->at[i], op, &m->at[j], kExpected);
    }
  }
  sw_rc rc = exclude(r, op, &m->at[0], op, &m->at[m->n - 1], "all that is required of the op to be met together");
  for (size_t i = 1; i + 1 < m->n; i++) {
    sw_text t = {0};
    put_demand(r, op, &m->at[i], &t);
    sw_text_puts(&t, " is required at ");
    put_full_place(m->at[i].a->span, &t);
    sw_diag_note(r->d, "%s", sw_text_str(&t));
    sw_text_free(&t);
  }
  return rc;
}

static sw_rc check_op_demands(reader *r, sw_id id) {
  const sw_op *op = &r->job.graph->ops[id];
  sw_demands m = {0};
  bool can = true;
  sw_rc rc = sw_demands_of(&r->demands, sw_unit_of_op(&r->units, id), &m, r->d);
  sw_demands_drop_flexible(r->job.graph, id, &m);
  if (!rc) rc = can_meet(r, op, m.at, m.n, &can);
  if (!rc && !can) rc = drop_impossible(r, op, &m);
  if (!rc && !can && m.n > 1) rc = can_meet(r, op, m.at, m.n, &can);
  if (!rc && !can && m.n > 1) rc = find_pair(r, op, &m);
  sw_array_free(&m);
  return rc;
}

/* --- states that come and go -------------------------------------------------------------------------------------- */

static bool is_of_output(const sw_graph *g, const sw_annotation *a, int32_t output) {
  if (a->value != g->outputs[output] || !a->for_users) return false;
  for (int32_t i = 0; i < a->n_users; i++) {
    if (a->users[i].op < 0 && a->users[i].index == output) return true;
  }
  return a->n_users == 0;
}

static sw_rc check_state(reader *r, int32_t output) {
  const sw_graph *g = r->job.graph;
  for (int32_t i = 0; i < r->job.request->n_annotations; i++) {
    const sw_annotation *a = &r->job.request->annotations[i];
    if (!a->required || a->value != g->alias[output] || a->for_users) continue;
    for (int32_t k = 0; k < r->job.request->n_annotations; k++) {
      const sw_annotation *b = &r->job.request->annotations[k];
      if (!b->required || b->value < 0 || !is_of_output(g, b, output) || sw_annotations_agree(a, b)) continue;
      return exclude(r, NULL, &(sw_demand){a, 0}, NULL, &(sw_demand){b, 0},
                     "one sharding of a state that comes and goes");
    }
  }
  return SW_OK;
}

/* --- values that are one ------------------------------------------------------------------------------------------ */

static void join_values(reader *r) {
  const sw_graph *g = r->job.graph;
  for (sw_id v = 0; v < g->n_values; v++) r->one_with[v] = v;
  for (sw_id id = 0; id < g->n_ops; id++) {
    const sw_op *op = &g->ops[id];
    for (int i = 0; op->code == SW_OP_JOIN && i < op->n_operands; i++)
      sw_disjoint_join(r->one_with, op->results[0], op->operands[i]);
  }
  for (int32_t i = 0; i < r->job.request->n_sharding_groups; i++) {
    sw_disjoint_join(r->one_with, r->job.request->sharding_groups[i].a, r->job.request->sharding_groups[i].b);
    r->ties[r->job.request->sharding_groups[i].b] = &r->job.request->sharding_groups[i].span;
  }
}

/* Shardings that values which are one can have as far as they were looked at, and who says so. */
typedef struct common {
  bool any; /* all that there are: nobody was asked yet */
  SW_ARRAY(sw_sharding) left;
  const sw_op *op;
  sw_demand by; /* a NULL: nobody required anything */
  sw_id value;
} common;

static bool is_left(const common *c, const sw_sharding *s) {
  for (size_t i = 0; i < c->left.n; i++) {
    if (sw_sharding_equal(&c->left.at[i], s)) return true;
  }
  return false;
}

typedef struct filter {
  sw_demands_meet demands;
  const common *c;
  int result;
} filter;

/* What the readers of a result see, with what is demanded of it. */
static void seen_sharding(const sw_demands_meet *m, const sw_strategy *s, int result, sw_sharding *out) {
  const int port = m->op->n_operands + result;
  sw_strategy_result(m->op, s, result, out);
  for (size_t i = 0; i < m->n; i++)
    if (m->at[i].port == port) sw_demand_stated(m->request, m->op, &m->at[i], s, out);
}

static bool passes(const void *user, const sw_strategy *s) {
  const filter *f = user;
  sw_sharding at;
  if (!sw_demands_are_met(&f->demands, s)) return false;
  seen_sharding(&f->demands, s, f->result, &at);
  return f->c->any || is_left(f->c, &at);
}

/* What an op can give, of that which is left. */
static sw_rc given_by_op(reader *r, const sw_demands *m, const sw_op *op, int result, const common *c, common *out) {
  const filter f = {{r->job.request, op, m->at, m->n}, c, result};
  sw_enumerate_options o = {.admits = passes, .admits_user = &f};
  for (int pass = 0; pass < 2; pass++) {
    sw_enumeration e;
    o.any_size = pass == 1;
    SW_TRY(sw_strategies_enumerate(&r->job, op, &o, &r->arena, &e, r->d));
    for (int32_t i = 0; i < e.n; i++) {
      sw_sharding at;
      seen_sharding(&f.demands, &e.at[i], result, &at);
      if (!is_left(out, &at)) SW_TRY(sw_array_push(&out->left, at, r->d));
    }
    sw_arena_reset(&r->arena);
  }
  return SW_OK;
}

/* All shardings that an argument with open dims can have; *any: they cannot all be listed. */
static sw_rc given_by_open_arg(reader *r, sw_id v, const sw_annotation *by, common *out) {
  const sw_type *type = &r->job.graph->values[v].type;
  sw_listed_shardings all;
  SW_TRY(
      sw_shardings_enumerate(r->job.request, &r->job.request->mesh, type->rank, type->dims, 0, &r->arena, &all, r->d));
  out->any = all.left_out > 0 || by->sharding.n_partial;
  out->by = (sw_demand){by, 0};
  for (int32_t i = 0; i < all.n && !out->any; i++) {
    if (sw_annotation_admits(by, &all.at[i])) SW_TRY(sw_array_push(&out->left, all.at[i], r->d));
  }
  if (!out->any && !is_left(out, &by->sharding)) SW_TRY(sw_array_push(&out->left, by->sharding, r->d));
  sw_arena_reset(&r->arena);
  return SW_OK;
}

/* Of an argument, all that its annotations admit. */
static sw_rc given_by_arg(reader *r, sw_id v, const common *c, common *out) {
  const sw_annotation *by = NULL;
  for (int32_t i = 0; i < r->job.request->n_annotations && !by; i++) {
    const sw_annotation *a = &r->job.request->annotations[i];
    if (a->required && a->value == v && !a->for_users) by = a;
  }
  if (by && c->any && by->open_dims) return given_by_open_arg(r, v, by, out);
  if (!by) {
    for (size_t i = 0; i < c->left.n; i++) SW_TRY(sw_array_push(&out->left, c->left.at[i], r->d));
    out->any = c->any;
    return SW_OK;
  }
  out->by = (sw_demand){by, 0};
  if (c->any) return sw_array_push(&out->left, by->sharding, r->d);
  for (size_t i = 0; i < c->left.n; i++) {
    if (sw_annotation_admits(by, &c->left.at[i])) SW_TRY(sw_array_push(&out->left, c->left.at[i], r->d));
  }
  return SW_OK;
}

static sw_rc given_by(reader *r, sw_id v, const common *c, common *out) {
  const sw_value *value = &r->job.graph->values[v];
  if (value->def < 0) return given_by_arg(r, v, c, out);
  const sw_op *op = &r->job.graph->ops[value->def];
  sw_demands m = {0};
  sw_rc rc = sw_demands_of(&r->demands, sw_unit_of_op(&r->units, value->def), &m, r->d);
  sw_demands_drop_flexible(r->job.graph, value->def, &m);
  if (!rc) rc = drop_impossible(r, op, &m);
  if (!rc && m.n) out->by = m.at[0];
  for (size_t i = 0; i < m.n; i++) {
    if (m.at[i].a->value == v && !m.at[i].a->for_users) out->by = m.at[i];
  }
  out->op = op;
  if (!rc) rc = given_by_op(r, &m, op, value->def_index, c, out);
  sw_array_free(&m);
  return rc;
}

/* None is left that both can have. */
static sw_rc exclude_both(reader *r, const common *c, const common *next) {
  static const char kExpected[] = "one sharding of values that are one: carried by a loop, joined, or of one group";
  const sw_value *x = &r->job.graph->values[c->value], *y = &r->job.graph->values[next->value];
  sw_rc rc;
  if (c->by.a && next->by.a) {
    rc = exclude(r, c->op, &c->by, next->op, &next->by, kExpected);
  } else if (!c->by.a) { /* nobody required anything: `c` is the one who did, if anyone */
    return SW_BUG(r->d, "'%s' and '%s' exclude each other, and neither is required", x->name, y->name);
  } else {
    sw_text t = {0};
    put_demand(r, c->op, &c->by, &t);
    rc = SW_FAIL(r->d, SW_E_INFEASIBLE, c->by.a->span, "%s is required, which '%s' cannot have; expected %s",
                 sw_text_str(&t), y->name, kExpected);
    sw_text_free(&t);
    t = (sw_text){0};
    put_full_place(y->def < 0 ? y->span : r->job.graph->ops[y->def].span, &t);
    sw_diag_note(r->d, "'%s' is made at %s", y->name, sw_text_str(&t));
    sw_text_free(&t);
  }
  const sw_span *tie = r->ties[next->value] ? r->ties[next->value] : r->ties[c->value];
  sw_text t = {0};
  if (tie) put_full_place(*tie, &t);
  if (tie)
    sw_diag_note(r->d, "'%s' and '%s' are in one sharding group by what is said at %s", x->name, y->name,
                 sw_text_str(&t));
  sw_text_free(&t);
  return rc;
}

/* Members of whom something is required first: they leave the least. */
static sw_rc check_class(reader *r, sw_id all, const bool *asked) {
  common c = {.any = true};
  sw_rc rc = SW_OK;
  for (int pass = 0; pass < 2 && !rc; pass++) {
    for (sw_id v = 0; v < r->job.graph->n_values && !rc; v++) {
      if (sw_disjoint_find(r->one_with, v) != all || asked[v] != (pass == 0)) continue;
      common next = {.value = v};
      rc = given_by(r, v, &c, &next);
      const bool none = !rc && !next.any && next.left.n == 0;
      if (none && !c.any) rc = exclude_both(r, &c, &next);
      if (rc || none) {
        sw_array_free(&next.left);
        if (none) break;
        continue;
      }
      if (!next.by.a || c.by.a) { /* who has said most of what is left */
        next.by = c.by;
        next.op = c.op;
        next.value = c.by.a ? c.value : v;
      }
      sw_array_free(&c.left);
      c = next;
    }
  }
  sw_array_free(&c.left);
  return rc;
}

static sw_rc check_values(reader *r) {
  const sw_graph *g = r->job.graph;
  bool *asked, *of_class;
  int32_t *members;
  SW_MEM_NEW(asked, (size_t)g->n_values * 2, r->d);
  members = sw_mem_alloc((size_t)g->n_values + 1, sizeof *members, r->d);
  of_class = asked + g->n_values;
  sw_rc rc = members ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; i < r->job.request->n_annotations; i++) {
    const sw_annotation *a = &r->job.request->annotations[i];
    if (a->required && a->value >= 0 && !a->for_users) asked[a->value] = true;
  }
  for (sw_id v = 0; v < g->n_values && !rc; v++) {
    const sw_id def = g->values[v].def;
    asked[v] = asked[v] || (def >= 0 && sw_demands_count(&r->demands, sw_unit_of_op(&r->units, def)) > 0);
    of_class[sw_disjoint_find(r->one_with, v)] |= asked[v];
    members[sw_disjoint_find(r->one_with, v)]++;
  }
  for (sw_id v = 0; v < g->n_values && !rc; v++) {
    if (of_class[v] && members[v] > 1) rc = check_class(r, v, asked);
  }
  sw_mem_free(members);
  sw_mem_free(asked);
  return rc;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static sw_rc check_all(reader *r) {
  const sw_graph *g = r->job.graph;
  join_values(r);
  for (sw_id id = 0; id < g->n_ops; id++) {
    if (sw_demands_count(&r->demands, sw_unit_of_op(&r->units, id)) > 1) SW_TRY(check_op_demands(r, id));
  }
  for (int32_t i = 0; i < g->n_outputs; i++) {
    if (g->alias[i] >= 0) SW_TRY(check_state(r, i));
  }
  return check_values(r);
}

sw_rc sw_requirements_check(const sw_job *j, sw_diag *d) {
  const sw_graph *g = j->graph;
  reader r = {.job = *j, .d = d};
  sw_arena scratch = {0};
  bool any = false;
  for (int32_t i = 0; i < j->request->n_annotations; i++) any = any || j->request->annotations[i].required;
  if (!any) return SW_OK;
  r.units = sw_units_of(j);
  r.one_with = sw_arena_alloc(&scratch, (size_t)g->n_values + 1, sizeof *r.one_with, d);
  r.ties = sw_arena_alloc(&scratch, (size_t)g->n_values + 1, sizeof *r.ties, d);
  sw_rc rc = r.one_with && r.ties ? sw_demands_find(j, false, &scratch, &r.demands, d) : SW_E_RESOURCE;
  if (!rc) rc = check_all(&r);
  sw_arena_deinit(&r.arena);
  sw_arena_deinit(&scratch);
  return rc;
}
