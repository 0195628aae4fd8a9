/* The sdy.sharding_origins of each tensor: of each axis that it has or had, what it was annotated on.
 *
 *   "input: 0", "output: 1"               an argument, a result of the function
 *   "constraint_0"                        a sharding_constraint, counted in the order of the text
 *   "mc_0_input: 1", "mc_0_output: 0"     what a manual computation is given and gives; nc_0 of a named one
 *   "%3"                                  any other value
 *   "self"                                the tensor itself
 */
#include <stdlib.h>
#include <string.h>

#include "mlir/flow/program_flow.h"

typedef struct namer {
  sw_program_flow *p;
  const sw_origins *o;
  sw_tensor_names names;
  const char **op_name; /* by op: constraint_0, mc_1; NULL: none */
  int32_t *root;        /* by record: the tensor that its axis was annotated on */
  sw_diag *d;
} namer;

/* --- what tensors are called -------------------------------------------------------------------------------------- */

static sw_rc name_ops(namer *n) {
  static const struct {
    const char *op, *name;
  } kCounted[] = {
      {"sdy.sharding_constraint", "constraint"}, {"sdy.manual_computation", "mc"}, {"sdy.named_computation", "nc"}};
  enum { COUNTED = sizeof kCounted / sizeof *kCounted };
  int count[COUNTED] = {0};
  SW_ARENA_NEW(n->op_name, &n->p->arena, n->p->t->ops.n, n->d);
  for (uint32_t i = 0; i < n->p->t->ops.n; i++) {
    for (int k = 0; k < COUNTED; k++) {
      if (!sw_ir_is(n->p->t, n->p->t->ops.at[i].name, kCounted[k].op)) continue;
      n->op_name[i] = sw_arena_printf(&n->p->arena, n->d, "%s_%d", kCounted[k].name, count[k]++);
      if (!n->op_name[i]) return SW_E_RESOURCE;
    }
  }
  return SW_OK;
}

static sw_rc name_place(namer *n, const sw_said *s) {
  static const char *const kWords[] = {
      [SW_SAID_ARGUMENT] = "input", [SW_SAID_RESULT] = "output", [SW_SAID_IN] = "_input", [SW_SAID_OUT] = "_output"};
  const char *op = n->op_name[s->op], *word = kWords[s->kind];
  for (int32_t i = 0; i < s->n; i++) {
    const int32_t tensor = n->p->said_of.at[s->first + i];
    if (tensor < 0 || n->p->origin_name[tensor] || !(op || word)) continue;
    const char *name =
        word ? sw_arena_printf(&n->p->arena, n->d, "%s%s: %d", op ? op : "", word, (int)s->index + i) : op;
    if (!name) return SW_E_RESOURCE;
    n->p->origin_name[tensor] = name;
  }
  return SW_OK;
}

/* --- where axes come from ----------------------------------------------------------------------------------------- */

/* Of each record the tensor that its axis was annotated on: that of an earlier record, or where it came from itself. */
static sw_rc find_roots(namer *n) {
  SW_ARENA_NEW(n->root, &n->p->arena, n->o->came.n, n->d);
  for (size_t i = 0; i < n->o->came.n; i++) {
    const sw_axis_arrival *a = &n->o->came.at[i];
    const int32_t earlier = sw_origin_of(n->o, a->from, a->axis, (int32_t)i);
    n->root[i] = earlier >= 0 ? n->root[earlier] : a->from;
  }
  return SW_OK;
}

static const char *origin_root_name(const namer *n, int32_t i) {
  const int32_t tensor = n->root[i];
  if (tensor == n->o->came.at[i].tensor) return "self";
  if (n->p->origin_name[tensor]) return n->p->origin_name[tensor];
  return n->names.name[tensor] ? n->names.name[tensor] : "unknown";
}

typedef struct entry {
  sw_axis_ref axis;
  const char *root;
  const char *text;
} entry;

static int compare_entry_texts(const void *a, const void *b) {
  return strcmp(((const entry *)a)->text, ((const entry *)b)->text);
}

typedef SW_ARRAY(entry) entries;

/* The first that is known of an axis counts. */
static sw_rc add_origin_entry(namer *n, int32_t tensor, sw_axis_ref axis, const char *root, entries *list) {
  const sw_mesh *m = &n->p->flow.meshes[n->p->flow.shardings[tensor].mesh];
  const char *name = m->axis[axis.axis].name;
  for (size_t i = 0; i < list->n; i++) {
    if (sw_axis_ref_equal(list->at[i].axis, axis)) return SW_OK;
  }
  const char *text = axis.size == m->axis[axis.axis].size
                         ? name
                         : sw_arena_printf(&n->p->arena, n->d, "%s:(%d)%d", name, axis.pre, axis.size);
  return text ? sw_array_push(list, ((entry){axis, root, text}), n->d) : SW_E_RESOURCE;
}

static bool is_bare_attr_name(const char *s) {
  const size_t n = strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$.");
  return n && !s[n] && !strchr("0123456789$.", s[0]);
}

/* {a = "self", "c:(1)4" = "input: 0"} */
static sw_rc print_origin_dict(namer *n, const entries *list, const char **out) {
  sw_text t = {0};
  sw_text_puts(&t, "{");
  for (size_t i = 0; i < list->n; i++) {
    const char *quote = is_bare_attr_name(list->at[i].text) ? "" : "\"";
    sw_text_printf(&t, "%s%s%s%s = \"%s\"", i ? ", " : "", quote, list->at[i].text, quote, list->at[i].root);
  }
  sw_text_puts(&t, "}");
  *out = sw_text_keep(&t, &n->p->arena, n->d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc name_tensor(namer *n, int32_t tensor) {
  const sw_open_sharding *said = n->o->initial[tensor];
  entries list = {0};
  SW_ARRAY(int32_t) records = {0};
  sw_rc rc = SW_OK;
  for (int k = 0; said && k < said->cut.n_refs && !rc; k++)
    rc = add_origin_entry(n, tensor, said->cut.refs[k], "self", &list);
  for (int32_t i = n->o->last[tensor]; i >= 0 && !rc; i = n->o->came.at[i].before)
    rc = sw_array_push(&records, i, n->d);
  for (size_t k = records.n; k-- > 0 && !rc;) {
    const int32_t i = records.at[k];
    rc = add_origin_entry(n, tensor, n->o->came.at[i].as, origin_root_name(n, i), &list);
  }
  if (list.n) qsort(list.at, list.n, sizeof *list.at, compare_entry_texts);
  if (!rc && list.n) rc = print_origin_dict(n, &list, &n->p->origins[tensor]);
  sw_array_free(&records);
  sw_array_free(&list);
  return rc;
}

sw_rc sw_program_flow_name_origins(sw_program_flow *p, sw_diag *d) {
  namer n = {.p = p, .o = p->flow.origins, .d = d};
  SW_ARENA_NEW_EACH(&p->arena, p->type.n, d, p->origins, p->origin_name);
  SW_TRY(sw_tensor_names_find(p, &p->arena, &n.names, d));
  SW_TRY(name_ops(&n));
  SW_TRY(find_roots(&n));
  for (size_t k = 0; k < p->places.n; k++) SW_TRY(name_place(&n, &p->places.at[k]));
  for (size_t i = 0; i < p->type.n; i++) SW_TRY(name_tensor(&n, (int32_t)i));
  p->op_name = n.op_name;
  return SW_OK;
}
