/* Shardings of the shard dialect (cuts.h). */
#include "mlir/shard/shard.h"

#include <string.h>

#include "mlir/import/types.h"
#include "mlir/import/import_emit.h"

/* --- numbers and operands ----------------------------------------------------------------------------------------- */

static sw_rc add_mixed(sw_importer *m, uint32_t op, int64_t number, bool open, uint32_t *use, sw_im_mixed *out) {
  bool given = open && *use < sw_im_op(m, op)->n_uses;
  sw_id operand = given ? sw_im_operand(m, op, (*use)++) : SW_IM_OPEN;
  out->operand[out->n] = !open ? SW_IM_NUMBER : operand < 0 ? SW_IM_OPEN : operand;
  out->number[out->n++] = number;
  return SW_OK;
}

static sw_rc room_for(sw_importer *m, size_t n, sw_im_mixed *out) {
  SW_ARENA_NEW_EACH(&m->scratch, n, m->d, out->operand, out->number);
  return SW_OK;
}

/* [%i, 1, ?]: where operands are spelled, "?" is none of them. */
static sw_rc read_items(sw_importer *m, uint32_t op, sw_ir_span v, uint32_t *use, sw_im_mixed *out) {
  const sw_ir_tree *t = m->t;
  bool spelled = memchr(t->s + v.at, '%', sw_ir_len(v)) != NULL;
  uint32_t cursor = 0, none = sw_im_op(m, op)->n_uses;
  size_t n = 0;
  sw_ir_span item;
  while (sw_ir_next_item(t, v, &cursor, &item)) n++;
  SW_TRY(room_for(m, n, out));
  for (cursor = 0; sw_ir_next_item(t, v, &cursor, &item);) {
    int64_t number = 0;
    bool operand = t->s[item.at] == '%', open = operand || sw_ir_is(t, item, "?");
    if (!open && !sw_ir_read_int(t, item, &number)) {
      return SW_FAIL_INPUT(m->d, sw_ir_place(t, item.at), "expected a value, a number or ? in a list of numbers");
    }
    SW_TRY(add_mixed(m, op, number, open, spelled && !operand ? &none : use, out));
  }
  return SW_OK;
}

sw_rc sw_im_read_mixed(sw_importer *m, uint32_t op, sw_ir_span v, uint32_t *use, sw_im_mixed *out) {
  *out = (sw_im_mixed){.n = 0};
  if (!sw_ir_present(v)) return SW_OK;
  if (sw_ir_len(v) && m->t->s[v.at] == '[') return read_items(m, op, v, use, out);
  const int64_t *all;
  int n;
  SW_TRY(sw_im_list(m, v, &all, &n));
  SW_TRY(room_for(m, (size_t)n, out));
  for (int i = 0; i < n; i++) SW_TRY(add_mixed(m, op, all[i], all[i] == INT64_MIN, use, out));
  return SW_OK;
}

bool sw_im_mixed_is_known(const sw_importer *m, const sw_im_mixed *x, int i, int64_t *out) {
  *out = x->number[i];
  if (x->operand[i] < 0) return x->operand[i] == SW_IM_NUMBER;
  return sw_im_constant_numbers(m, x->operand[i], 1, out);
}

/* --- axes --------------------------------------------------------------------------------------------------------- */

static sw_rc add_axis(sw_importer *m, sw_im_cuts *c, int dim, sw_ir_span at, int64_t axis) {
  sw_span place = sw_ir_place(m->t, at.at);
  if (axis < 0 || axis >= c->grid->n_axes) {
    return SW_FAIL_INPUT(m->d, place, "there is no axis %lld in the grid '@%.*s'; expected 0 to %d", (long long)axis,
                         SW_IR_TEXT(m->t, c->grid->name), c->grid->n_axes - 1);
  }
  for (int i = 0; i < c->n + c->n_partial; i++) {
    if (c->axis[i] != axis) continue;
    return SW_FAIL_INPUT(m->d, place, "the sharding uses axis %lld twice; expected it once", (long long)axis);
  }
  c->axis[c->n + c->n_partial] = (int16_t)axis;
  if (dim >= 0) c->dim[c->n++] = (int8_t)dim;
  if (dim < 0) c->n_partial++;
  return SW_OK;
}

/* A list in brackets has a number for each item. */
static sw_rc check_axis_numbers(sw_importer *m, sw_ir_span list, int n) {
  sw_ir_span item;
  uint32_t cursor = 0;
  for (int i = 0; m->t->s[list.at] == '[' && sw_ir_next_item(m->t, list, &cursor, &item); i++) {
    int64_t axis;
    if (i < n && sw_ir_read_int(m->t, item, &axis)) continue;
    return SW_IM_FAIL_AT(m, item.at, "found '%.*s'; expected the number of an axis", SW_IR_TEXT(m->t, item));
  }
  return SW_OK;
}

/* [0, 1], or array<i16: 0, 1> */
static sw_rc read_split_axes(sw_importer *m, sw_im_cuts *c, int dim, sw_ir_span list) {
  const int64_t *axes;
  int n;
  bool listed = sw_ir_len(list) && (m->t->s[list.at] == '[' || sw_ir_word(m->t->s, list.at, "array"));
  if (!listed) {
    return SW_IM_FAIL_AT(m, list.at, "expected a list of axes for each dim, as in [[0], [1]]");
  }
  SW_TRY(sw_im_list(m, list, &axes, &n));
  SW_TRY(check_axis_numbers(m, list, n));
  for (int i = 0; i < n; i++) SW_TRY(add_axis(m, c, dim, list, axes[i]));
  return SW_OK;
}

/* `rank` >= 0: the list behind that of the last dim is the partial one. */
static sw_rc read_cut_dims(sw_importer *m, sw_im_cuts *c, sw_ir_span v, int rank) {
  sw_ir_span item;
  uint32_t cursor = 0;
  v = sw_ir_resolved(m->t, sw_ir_trimmed(m->t, v));
  if (sw_ir_len(v) && m->t->s[v.at] == '#') { /* #shard.axisarray<[[0]]>, or as it is printed, #shard<axisarray[[0]]> */
    v = sw_ir_inside(m->t, v);
    while (v.at < v.end && m->t->s[v.at] != '[') v.at++;
  }
  if (!sw_ir_len(v) || m->t->s[v.at] != '[') {
    return SW_IM_FAIL_AT(m, sw_ir_present(v) ? v.at : c->at, "expected a list of axes for each dim, as in [[0], [1]]");
  }
  c->at = v.at;
  for (int k = 0; sw_ir_next_item(m->t, v, &cursor, &item); k++) {
    int most = rank < 0 ? SW_MAX_RANK : rank + 1;
    if (k == most) {
      return SW_IM_FAIL_AT(m, item.at, "the sharding has more than %d lists of axes", most);
    }
    SW_TRY(read_split_axes(m, c, k == rank ? -1 : k, item));
    if (k != rank) c->n_dims = k + 1;
  }
  return SW_OK;
}

/* sum[1], sum [0, 1], #mesh.partial<max> */
static sw_rc read_partial_axes(sw_importer *m, sw_im_cuts *c, sw_ir_span v, uint32_t end) {
  uint32_t at = v.at;
  while (at < end && m->t->s[at] != '[') at++;
  sw_ir_span word = sw_ir_trimmed(m->t, (sw_ir_span){v.at, at});
  if (at >= end) return SW_IM_FAIL_AT(m, v.at, "expected a partial list, as in sum[1]");
  SW_TRY(sw_im_read_reduction(m, sw_ir_place(m->t, word.at), word, &c->kind));
  return read_split_axes(m, c, -1, (sw_ir_span){at, sw_ir_inside(m->t, (sw_ir_span){at, end}).end + 1});
}

/* --- where shardings stand ---------------------------------------------------------------------------------------- */

sw_rc sw_im_read_cut(sw_importer *m, uint32_t op, sw_im_cuts *out) {
  const sw_ir_tree *t = m->t;
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t use = 0;
  *out = (sw_im_cuts){.at = o->text.at};
  SW_TRY(sw_im_grid_of(m, op, &out->grid));
  SW_TRY(read_cut_dims(m, out, sw_ir_attr(t, o, "split_axes", "split_axes"), -1));
  if (!out->n_dims) {
    return SW_FAIL_INPUT(m->d, sw_ir_place(t, out->at),
                         "the sharding has no list of axes; expected one at least, [[]]");
  }
  sw_ir_span partial = sw_ir_attr(t, o, "partial", "partial"), axes = sw_ir_attr(t, o, "partial_axes", NULL),
             kind = sw_ir_attr(t, o, "partial_type", NULL);
  if (sw_ir_present(partial)) SW_TRY(read_partial_axes(m, out, partial, o->text.end));
  if (sw_ir_present(axes)) SW_TRY(read_split_axes(m, out, -1, axes));
  if (sw_ir_present(kind)) SW_TRY(sw_im_read_reduction(m, sw_ir_place(t, kind.at), kind, &out->kind));
  sw_ir_span offsets = sw_ir_attr(t, o, "static_sharded_dims_offsets", "sharded_dims_offsets"),
             halos = sw_ir_attr(t, o, "static_halo_sizes", "halo_sizes");
  SW_TRY(sw_im_read_mixed(m, op, offsets, &use, &out->offsets));
  SW_TRY(sw_im_read_mixed(m, op, halos, &use, &out->halos));
  if (!out->offsets.n || !out->halos.n) return SW_OK;
  return SW_FAIL_INPUT(m->d, sw_ir_place(t, halos.at), "the sharding has both offsets and halos; expected one of them");
}

static sw_rc check_sharding_type(sw_importer *m, const sw_ir_op *o) {
  sw_ir_span type = sw_ir_trimmed(m->t, sw_ir_result_type(m->t, o, 0));
  if (sw_ir_is_among(m->t, type, "!shard.sharding !mesh.sharding")) return SW_OK;
  return SW_IM_FAIL_AT(m, type.at, "the type of a sharding is '%.*s'; expected !shard.sharding",
                       SW_IR_TEXT(m->t, type));
}

sw_rc sw_im_check_cuts(sw_importer *m) {
  for (uint32_t i = 0; i < m->t->ops.n; i++) {
    const sw_ir_op *o = sw_im_op(m, i);
    sw_im_cuts c = {.at = o->text.at};
    if (!sw_im_is_sharding(m->t, o)) continue;
    SW_TRY(check_sharding_type(m, o));
    SW_TRY(sw_im_grid_of(m, i, &c.grid));
    SW_TRY(read_cut_dims(m, &c, sw_ir_attr(m->t, o, "split_axes", "split_axes"), -1));
  }
  return SW_OK;
}

sw_rc sw_im_read_inline_cut(sw_importer *m, uint32_t op, sw_ir_span in, sw_im_cuts *out) {
  sw_ir_span item;
  uint32_t cursor = 0;
  in = sw_ir_inside(m->t, sw_ir_resolved(m->t, sw_ir_trimmed(m->t, in)));
  *out = (sw_im_cuts){.at = in.at};
  if (!sw_ir_next_item(m->t, in, &cursor, &item) || m->t->s[item.at] != '@') {
    return SW_IM_FAIL_AT(m, in.at, "expected a sharding, as in <@grid, [[0], [1]]>");
  }
  SW_TRY(sw_im_grid_named(m, sw_ir_unquoted(m->t, item), &out->grid));
  if (out->grid != sw_shard_state_of(m)->grid)
    return SW_IM_FAIL(m, op, "the program works on several grids; expected one");
  if (!sw_ir_next_item(m->t, in, &cursor, &item)) item = (sw_ir_span){in.end, in.end};
  SW_TRY(read_cut_dims(m, out, item, -1));
  sw_ir_span partial = sw_ir_entry(m->t, (sw_ir_span){cursor, in.end}, "partial");
  return sw_ir_present(partial) ? read_partial_axes(m, out, partial, in.end) : SW_OK;
}

sw_rc sw_im_read_listed_cut(sw_importer *m, uint32_t op, sw_ir_span list, int rank, sw_im_cuts *out) {
  *out = (sw_im_cuts){.at = sw_ir_present(list) ? list.at : sw_im_op(m, op)->text.at, .kind = SW_REDUCE_SUM};
  SW_TRY(sw_im_grid_of(m, op, &out->grid));
  return read_cut_dims(m, out, list, rank);
}

sw_rc sw_im_read_axes_cut(sw_importer *m, uint32_t op, sw_ir_span v, sw_im_cuts *out) {
  const int64_t *axes;
  int n;
  *out = (sw_im_cuts){.at = v.at};
  SW_TRY(sw_im_grid_of(m, op, &out->grid));
  SW_TRY(sw_im_list(m, v, &axes, &n));
  for (int i = 0; i < n; i++) SW_TRY(add_axis(m, out, 0, v, axes[i]));
  return SW_OK;
}

static bool same_mixed(const sw_importer *m, const sw_im_mixed *a, const sw_im_mixed *b) {
  for (int i = 0; i < a->n && a->n == b->n; i++) {
    int64_t x, y;
    bool known = sw_im_mixed_is_known(m, a, i, &x), both = known && sw_im_mixed_is_known(m, b, i, &y);
    if (both ? x != y : known || a->operand[i] != b->operand[i]) return false;
  }
  return a->n == b->n;
}

bool sw_im_same_cut(const sw_importer *m, const sw_im_cuts *a, const sw_im_cuts *b) {
  bool same = a->grid == b->grid && a->n == b->n && a->n_partial == b->n_partial &&
              (!a->n_partial || a->kind == b->kind) && sw_ir_same(m->t, a->partial, b->partial);
  for (int i = 0; same && i < a->n; i++) same = a->axis[i] == b->axis[i] && a->dim[i] == b->dim[i];
  for (int i = a->n; same && i < a->n + a->n_partial; i++) { /* in any order */
    bool found = false;
    for (int k = b->n; k < b->n + b->n_partial; k++) found = found || a->axis[i] == b->axis[k];
    same = found;
  }
  return same && same_mixed(m, &a->halos, &b->halos) && same_mixed(m, &a->offsets, &b->offsets);
}

/* --- over the mesh ------------------------------------------------------------------------------------------------ */

/* A scalar has one list, too, as there must be one. */
sw_rc sw_im_check_cut(sw_importer *m, const sw_im_cuts *c, int rank) {
  bool scalar = rank == 0 && c->n_dims == 1 && c->n == 0;
  if (c->n_dims <= rank || scalar) return SW_OK;
  return SW_IM_FAIL_AT(m, c->at, "the sharding has %d lists of axes; expected at most %d, the rank of the tensor",
                       c->n_dims, rank);
}

sw_rc sw_im_ref_of_cut(sw_importer *m, const sw_im_cuts *c, int i, sw_axis_ref *out) {
  *out = sw_shard_state_of(m)->grid_refs[c->axis[i]];
  if (out->axis >= 0) return SW_OK;
  sw_text mesh = {0};
  sw_mesh_print(&m->g->written->mesh, &mesh);
  sw_rc rc = SW_IM_FAIL_AT(
      m, c->at, "axis %d of grid '@%.*s' is none of the mesh %s; expected a mesh that has it (or --keep none)",
      c->axis[i], SW_IR_TEXT(m->t, c->grid->name), sw_text_str(&mesh));
  sw_text_free(&mesh);
  return rc;
}

static sw_rc known_list(sw_importer *m, const sw_im_cuts *c, const sw_im_mixed *x, const char *what, int64_t want,
                        const int64_t **out) {
  int64_t *at;
  if (!x->n) return SW_OK;
  if (x->n != want) {
    return SW_IM_FAIL_AT(m, c->at, "the list of %ss has %d numbers; expected %lld", what, x->n, (long long)want);
  }
  SW_ARENA_NEW(at, &m->g->arena, x->n, m->d);
  for (int i = 0; i < x->n; i++) {
    if (sw_im_mixed_is_known(m, x, i, &at[i])) continue;
    return SW_IM_FAIL_AT(m, c->at,
                         "%s %d of the sharding is not known before the program runs; expected a number or a constant",
                         what, i);
  }
  *out = at;
  return SW_OK;
}

static sw_rc add_lists(sw_importer *m, const sw_im_cuts *c, sw_sharding *s) {
  int64_t offsets = 0, dims = 0;
  for (int k = 0; k < s->rank; k++) {
    int n;
    (void)sw_sharding_dim(s, k, &n);
    dims += n > 0;
    offsets += n > 0 ? sw_sharding_shards(s, k) + 1 : 0;
  }
  SW_TRY(known_list(m, c, &c->offsets, "offset", offsets, &s->offsets));
  return known_list(m, c, &c->halos, "halo", 2 * dims, &s->halos);
}

/* shardwright.partial = "sum[y]" */
static sw_rc add_named_partial(sw_importer *m, const sw_im_cuts *c, sw_sharding *s) {
  sw_sharding partial;
  const char *text = sw_arena_printf(&m->scratch, m->d, "[] partial %.*s", SW_IR_TEXT(m->t, c->partial));
  if (!sw_ir_len(c->partial)) return SW_OK;
  if (!text) return SW_E_RESOURCE;
  SW_TRY(sw_sharding_parse(&m->g->written->mesh, s->rank, text, strlen(text), sw_ir_place(m->t, c->partial.at),
                           &m->scratch, &partial, m->d));
  bool fits = true;
  for (int i = 0; i < partial.n_partial; i++) {
    fits = fits && sw_sharding_push_partial(s, (sw_reduction)partial.partial_kind, sw_sharding_partial(&partial)[i]);
  }
  return fits ? SW_OK : SW_IM_FAIL_AT(m, c->at, "the sharding uses too many axes");
}

sw_rc sw_im_cut_as_sharding(sw_importer *m, const sw_im_cuts *c, const sw_type *t, sw_sharding *out) {
  sw_diag why = {0};
  SW_TRY(sw_im_check_cut(m, c, t->rank));
  *out = sw_sharding_replicated(t->rank);
  for (int i = 0; i < c->n + c->n_partial; i++) {
    sw_axis_ref ref;
    SW_TRY(sw_im_ref_of_cut(m, c, i, &ref));
    bool fits = i < c->n ? sw_sharding_push(out, c->dim[i], ref) : sw_sharding_push_partial(out, c->kind, ref);
    if (!fits) return SW_IM_FAIL_AT(m, c->at, "the sharding uses too many axes");
  }
  SW_TRY(add_named_partial(m, c, out));
  SW_TRY(add_lists(m, c, out));
  sw_rc rc = sw_sharding_verify(&m->g->written->mesh, out, t->rank, t->dims, &why);
  return rc == SW_E_INPUT ? SW_IM_FAIL_AT(m, c->at, "%s", why.text) : rc;
}

/* --- who gives a value -------------------------------------------------------------------------------------------- */

bool sw_im_is_sharding(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_is(t, o->name, "shard.sharding") || sw_ir_is(t, o->name, "mesh.sharding");
}

/* By slot of a function, once for all its uses. */
static sw_rc definers_of(sw_importer *m, uint32_t function, uint32_t **out) {
  const sw_ir_tree *t = m->t;
  sw_shard_state *s = sw_shard_state_of(m);
  if (!s->definers) SW_ARENA_NEW(s->definers, &m->keep, t->ops.n, m->d);
  *out = s->definers[function];
  if (*out) return SW_OK;
  SW_ARENA_NEW(*out, &m->keep, m->names->n_slots[function] + 1, m->d);
  for (uint32_t i = 0; i < m->names->n_slots[function]; i++) (*out)[i] = SW_IR_NONE;
  for (uint32_t i = function + 1; i < t->ops.n && t->ops.at[i].text.at < t->ops.at[function].text.end; i++) {
    for (uint32_t r = 0; r < t->ops.at[i].n_results; r++) {
      uint32_t result = t->ops.at[i].first_result + r;
      for (uint32_t k = 0; k < t->results.at[result].count; k++) (*out)[m->names->result[result] + k] = i;
    }
  }
  s->definers[function] = *out;
  return SW_OK;
}

sw_rc sw_im_definer(sw_importer *m, uint32_t op, uint32_t use, uint32_t *out) {
  uint32_t *definers;
  SW_TRY(definers_of(m, sw_im_here(m)->function, &definers));
  *out = use < sw_im_op(m, op)->n_uses ? definers[m->names->use[sw_im_op(m, op)->first_use + use]] : SW_IR_NONE;
  return SW_OK;
}
