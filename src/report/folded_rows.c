#include "report/folded_rows.h"

#include <string.h>

#include "base/hash.h"

/* What arguments of one group have in common, and what those of different layers need not. */
static sw_rc describe_argument(const sw_plan *p, int32_t i, sw_arena *arena, sw_named *out, sw_diag *d) {
  const sw_value *v = &p->job.graph->values[p->job.graph->args[i]];
  sw_text like = {0}, variant = {0};
  sw_text_printf(&like, "%d %s ", (int)v->kind, sw_dtype_text(v->type.dtype));
  sw_sharding_print(sw_machine_mesh(p->job.machine), &p->args[i], &like);
  sw_text_printf(&like, " %d", (int)v->type.rank);
  sw_type_print(&v->type, &variant);
  *out = (sw_named){v->name, sw_text_keep(&like, arena, d), sw_text_keep(&variant, arena, d)};
  return out->like && out->variant ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_fold_args(const sw_plan *p, sw_arena *arena, sw_arg_rows *out, sw_diag *d) {
  sw_named *items;
  SW_ARENA_NEW(items, arena, p->job.graph->n_args, d);
  for (int32_t i = 0; i < p->job.graph->n_args; i++) SW_TRY(describe_argument(p, i, arena, &items[i], d));
  return sw_fold_names(p->job.graph->n_args, items, arena, &out->n, &out->at, d);
}

sw_rc sw_list_args(const sw_plan *p, sw_arena *arena, sw_arg_rows *out, sw_diag *d) {
  sw_folded_name *all;
  int32_t *items;
  out->n = p->job.graph->n_args;
  SW_ARENA_NEW_EACH(arena, out->n, d, all, items);
  for (int32_t i = 0; i < out->n; i++) {
    items[i] = i;
    all[i] = (sw_folded_name){p->job.graph->values[p->job.graph->args[i]].name, 1, &items[i], true};
  }
  out->at = all;
  return SW_OK;
}

static const sw_type *type_of_arg(const sw_plan *p, int32_t arg) {
  return &p->job.graph->values[p->job.graph->args[arg]].type;
}

void sw_arg_row_type_print(const sw_plan *p, const sw_folded_name *g, sw_text *out) {
  const sw_type *first = type_of_arg(p, g->items[0]);
  if (g->uniform) {
    sw_type_print(first, out);
    return;
  }
  sw_text_printf(out, "%s[", sw_dtype_text(first->dtype));
  for (int32_t k = 0; k < first->rank; k++) {
    int64_t least = first->dims[k], most = first->dims[k];
    for (int32_t i = 1; i < g->n; i++) {
      const int64_t size = type_of_arg(p, g->items[i])->dims[k];
      least = size < least ? size : least;
      most = size > most ? size : most;
    }
    sw_text_printf(out, "%s%lld", k ? "," : "", (long long)least);
    if (most > least) sw_text_printf(out, "..%lld", (long long)most);
  }
  sw_text_puts(out, "]");
}

int64_t sw_arg_bytes(const sw_plan *p, int32_t i) {
  const sw_type *t = type_of_arg(p, i);
  return sw_sharding_held_bytes(&p->args[i], t->dims, t->dtype);
}

int64_t sw_arg_row_bytes(const sw_plan *p, const sw_folded_name *g) {
  int64_t bytes = 0;
  for (int32_t i = 0; i < g->n; i++) bytes += sw_arg_bytes(p, g->items[i]);
  return bytes;
}

static sw_rc name_value(const sw_graph *g, sw_dict *scopes, sw_id v, sw_arena *arena, const char **out, sw_diag *d) {
  const sw_value *value = &g->values[v];
  const char *scope = value->def >= 0 ? g->ops[value->def].location.scope : NULL;
  int64_t *seen;
  *out = value->name;
  if (!scope) return SW_OK;
  SW_TRY(sw_dict_put(scopes, scope, strlen(scope), 0, &seen, NULL, d));
  *out = ++*seen == 1 ? scope : sw_arena_printf(arena, d, "%s#%lld", scope, (long long)*seen);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_name_values(const sw_graph *g, sw_arena *arena, const char ***out, sw_diag *d) {
  sw_dict scopes = {0};
  sw_rc rc = SW_OK;
  SW_ARENA_NEW(*out, arena, g->n_values, d);
  for (sw_id v = 0; v < g->n_values && !rc; v++) rc = name_value(g, &scopes, v, arena, &(*out)[v], d);
  sw_dict_deinit(&scopes);
  return rc;
}

/* `nth`: which of the like of its value there is, as names in a group are of different values. */
static const char *way_of(const sw_plan *p, const sw_plan_reshard *r, int32_t nth, sw_arena *arena, sw_diag *d) {
  const sw_mesh *m = sw_machine_mesh(p->job.machine);
  sw_text t = {0};
  sw_text_printf(&t, "%d %d ", (int)r->leg, (int)nth);
  sw_sharding_print(m, &r->from, &t);
  sw_sharding_print(m, &r->to, &t);
  for (int k = 0; k < r->route->n_steps; k++) {
    sw_text_puts(&t, " ");
    sw_collective_print(m, &r->route->step[k].coll, &t);
  }
  return sw_text_keep(&t, arena, d);
}

sw_rc sw_name_reshards(const sw_plan *p, const sw_breakdown *a, const char *const *names, sw_arena *arena,
                       sw_named *out, sw_diag *d) {
  int32_t *seen;
  SW_ARENA_NEW(seen, arena, p->job.graph->n_values, d);
  for (int32_t i = 0; i < a->n_reshards; i++) {
    const sw_plan_reshard *r = &a->reshards[i];
    const int32_t nth = r->leg == 2 ? seen[r->value]++ : 0; /* of others there is one to each sharding */
    const double bytes = r->route->max_bytes * (double)sw_value_repeats(p->job.graph, r->value);
    out[i] = (sw_named){names[r->value], way_of(p, r, nth, arena, d), sw_arena_printf(arena, d, "%.0f", bytes)};
    if (!out[i].like || !out[i].variant) return SW_E_RESOURCE;
  }
  return SW_OK;
}

sw_rc sw_fold_reshards(const sw_plan *p, const sw_breakdown *a, sw_arena *arena, int32_t *n, const sw_folded_name **out,
                       sw_diag *d) {
  const char **names;
  sw_named *items;
  SW_TRY(sw_name_values(p->job.graph, arena, &names, d));
  SW_ARENA_NEW(items, arena, a->n_reshards, d);
  SW_TRY(sw_name_reshards(p, a, names, arena, items, d));
  return sw_fold_names(a->n_reshards, items, arena, n, out, d);
}
