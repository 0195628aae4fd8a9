/* Meshes where shardings speak of them: declared once, or written out in each. */
#include <string.h>

#include "mlir/emit/emit_sdy.h"
#include "mlir/opt/opt_rewrite.h"

/* The mesh of a sharding as it is written: "@mesh" or "mesh<...>". */
static sw_ir_span mesh_in(const sw_ir_tree *t, sw_ir_span sharding) {
  sw_ir_span item = {0, 0};
  uint32_t cursor = 0;
  if (!sw_ir_next_item(t, sharding, &cursor, &item)) return (sw_ir_span){0, 0};
  return item;
}

/* The sharding with another mesh. */
static sw_rc say_mesh(sw_opt_work *w, uint32_t slot, sw_ir_span mesh, const char *text) {
  const sw_ir_span said = w->shardings.slots.at[slot].said;
  const char *now = sw_arena_printf(&w->arena, w->d, "<%s%.*s", text, (int)(said.end - mesh.end), w->t->s + mesh.end);
  if (!now) return SW_E_RESOURCE;
  sw_opt_say_text(w, slot, now);
  return SW_OK;
}

/* <["x"=2], device_ids=[1, 0]> */
static sw_rc spell_mesh(sw_opt_work *w, const sw_mesh *m, const char **out) {
  sw_text t = {0};
  sw_sdy_mesh(m, &t);
  return sw_ir_keep_text(SW_OK, &t, &w->arena, out, w->d);
}

/* Do devices of a collective lie along axes of the mesh with this name? Its declaration stays then. */
static bool is_grouped_by(const sw_ir_tree *t, sw_ir_span name) {
  for (uint32_t i = 0; i < t->ops.n; i++) {
    sw_ir_span groups = sw_ir_attr(t, &t->ops.at[i], "replica_groups", NULL);
    if (!sw_ir_present(groups) || !sw_ir_starts(t, groups, "#stablehlo.replica_group_mesh_axes")) continue;
    if (sw_ir_same(t, sw_ir_unquoted(t, sw_ir_entry(t, sw_ir_inside(t, groups), "mesh")), name)) return true;
  }
  return false;
}

/* --- inline-meshes ------------------------------------------------------------------------------------------------ */

static sw_rc inline_slot(sw_opt_work *w, const char *const *spelled, uint32_t slot) {
  const sw_ir_span said = w->shardings.slots.at[slot].said, mesh = mesh_in(w->t, said);
  sw_open_sharding s;
  bool any;
  if (!sw_ir_len(mesh) || w->t->s[mesh.at] != '@') return SW_OK;
  SW_TRY(sw_opt_sharding(w, slot, &s, &any));
  return say_mesh(w, slot, mesh, spelled[s.mesh]);
}

sw_rc sw_pass_inline_meshes(sw_opt_work *w) {
  const char **spelled;
  const size_t n = w->shardings.words.meshes.n;
  SW_ARENA_NEW(spelled, &w->arena, n, w->d);
  for (size_t i = 0; i < n; i++) {
    const char *text;
    SW_TRY(spell_mesh(w, &w->shardings.words.meshes.at[i].mesh, &text));
    spelled[i] = sw_arena_printf(&w->arena, w->d, "mesh%s", text);
    if (!spelled[i]) return SW_E_RESOURCE;
  }
  for (uint32_t i = 0; i < w->shardings.slots.n; i++) SW_TRY(inline_slot(w, spelled, i));
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_op *o = &w->t->ops.at[i];
    if (sw_ir_is(w->t, o->name, "sdy.mesh") && !is_grouped_by(w->t, sw_ir_mesh_name(w->t, o)))
      SW_TRY(sw_opt_erase(w, i));
  }
  return SW_OK;
}

/* --- lift-inlined-meshes ------------------------------------------------------------------------------------------ */

typedef struct declarer {
  sw_opt_work *w;
  sw_dict *by_value;           /* the mesh as text, to index of `names` */
  const char **names, **added; /* declarations */
  int64_t n_names, n_added;
  uint32_t last; /* declaration that stays; SW_IR_NONE: there is none */
} declarer;

/* What StableHLO has beside the axes of a mesh. */
static const char *stablehlo_mesh(sw_opt_work *w, const sw_mesh *m) {
  sw_text t = {0};
  const int64_t n = m->device_ids ? sw_mesh_devices(m) : 0;
  sw_text_puts(&t, "{axes = [");
  for (int a = 0; a < m->n_axes; a++)
    sw_text_printf(&t, "%s{name = \"%s\", size = %lld : i64}", a ? ", " : "", m->axis[a].name,
                   (long long)m->axis[a].size);
  sw_text_puts(&t, "]");
  for (int64_t i = 0; i < n; i++) sw_text_printf(&t, i ? ", %d" : ", device_ids = dense<[%d", (int)m->device_ids[i]);
  if (n) sw_text_printf(&t, "]> : tensor<%lldxi64>", (long long)n);
  sw_text_puts(&t, "}");
  return sw_text_keep(&t, &w->arena, w->d);
}

/* The number of a mesh by its value; *fresh: it has no name yet. */
static sw_rc number_of_mesh(declarer *l, const char *spelled, int64_t *out, bool *fresh) {
  int64_t *slot;
  SW_TRY(sw_dict_put(l->by_value, spelled, strlen(spelled), l->n_names, &slot, fresh, l->w->d));
  *out = *slot;
  l->n_names += *fresh;
  return SW_OK;
}

/* Declarations: of equal ones the first stays. */
static sw_rc read_declared(declarer *l) {
  sw_opt_work *w = l->w;
  size_t mesh = 0;
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    const sw_ir_op *o = &w->t->ops.at[i];
    if (!sw_ir_is(w->t, o->name, "sdy.mesh")) continue;
    const sw_mesh m = w->shardings.words.meshes.at[mesh++].mesh;
    const sw_ir_span name = sw_ir_mesh_name(w->t, o);
    const char *spelled;
    int64_t number;
    bool fresh;
    SW_TRY(spell_mesh(w, &m, &spelled));
    SW_TRY(number_of_mesh(l, spelled, &number, &fresh));
    if (fresh) {
      l->last = i;
      l->names[number] = sw_arena_printf(&w->arena, w->d, "@%.*s", SW_IR_TEXT(w->t, name));
      if (!l->names[number]) return SW_E_RESOURCE;
      w->edits.key = "stablehlo.mesh";
      SW_TRY(sw_ir_set_op(&w->edits, o, stablehlo_mesh(w, &m)));
    } else if (!is_grouped_by(w->t, name)) {
      SW_TRY(sw_opt_forget_symbol(w, w->t->s + name.at, sw_ir_len(name)));
      SW_TRY(sw_opt_erase(w, i));
    }
  }
  return SW_OK;
}

static sw_rc declare(declarer *l, const sw_mesh *m, const char *spelled, int64_t number) {
  sw_opt_work *w = l->w;
  const char *name = "mesh", *symbol;
  if (!m->n_axes)
    name = m->device_ids ? sw_arena_printf(&w->arena, w->d, "maximal_mesh_%d", m->device_ids[0]) : "empty_mesh";
  if (!name) return SW_E_RESOURCE;
  SW_TRY(sw_opt_new_symbol(w, name, strlen(name), &symbol));
  l->names[number] = sw_arena_printf(&w->arena, w->d, "@%s", symbol);
  const char *beside = stablehlo_mesh(w, m);
  if (!l->names[number] || !beside) return SW_E_RESOURCE;
  const char *text =
      sw_arena_printf(&w->arena, w->d, "sdy.mesh @%s = %s {stablehlo.mesh = %s}", symbol, spelled, beside);
  l->added[l->n_added++] = text;
  return text ? SW_OK : SW_E_RESOURCE;
}

static sw_rc declare_slot(declarer *l, uint32_t slot) {
  sw_opt_work *w = l->w;
  const sw_ir_span mesh = mesh_in(w->t, w->shardings.slots.at[slot].said);
  sw_open_sharding s;
  const char *spelled;
  int64_t number;
  bool any, fresh;
  SW_TRY(sw_opt_sharding(w, slot, &s, &any));
  if (!any) return SW_OK;
  const sw_mesh m = sw_opt_mesh(&w->shardings, &s)->mesh;
  SW_TRY(spell_mesh(w, &m, &spelled));
  SW_TRY(number_of_mesh(l, spelled, &number, &fresh));
  if (fresh) SW_TRY(declare(l, &m, spelled, number));
  return say_mesh(w, slot, mesh, l->names[number]);
}

/* Behind the declarations that there are, or first in the module. */
static sw_rc put_added(declarer *l) {
  sw_opt_work *w = l->w;
  uint32_t function = SW_IR_NONE;
  for (uint32_t i = 0; i < w->t->ops.n && function == SW_IR_NONE; i++) function = w->values.function_of[i];
  for (int64_t i = 0; i < l->n_added; i++) {
    SW_TRY(l->last != SW_IR_NONE ? sw_opt_put_behind(w, l->last, l->added[i])
                                 : sw_opt_put_first(w, w->t->ops.at[function].block, l->added[i]));
  }
  return SW_OK;
}

sw_rc sw_pass_lift_inlined_meshes(sw_opt_work *w) {
  declarer l = {.w = w, .last = SW_IR_NONE};
  const size_t most = w->t->ops.n + w->shardings.slots.n;
  SW_TRY(sw_opt_dict(w, &l.by_value));
  SW_ARENA_NEW_EACH(&w->arena, most, w->d, l.names, l.added);
  SW_TRY(read_declared(&l));
  for (uint32_t i = 0; i < w->shardings.slots.n; i++) SW_TRY(declare_slot(&l, i));
  return put_added(&l);
}
