/* Shardings that the program has already, in Shardy's form or in tiles, as annotations of the graph. */
#include <string.h>

#include "io/mlir/annotate/annotate.h"
#include "io/mlir/import/import.h"

/* Dims with "?" among their axes: [{"x", ?}, {?}]. */
static uint32_t open_dims(const sw_ir_tree *t, sw_ir_span list) {
  uint32_t open = 0, cursor = 0;
  sw_ir_span dim;
  for (int k = 0; k < 32 && sw_ir_next_item(t, list, &cursor, &dim); k++) {
    if (memchr(t->s + dim.at, '?', sw_ir_len(dim))) open |= UINT32_C(1) << k;
  }
  return open;
}

/* What is annotated: a value where it is made, or one use of it. */
typedef struct target {
  sw_id value;
  const sw_value_use *use; /* NULL: where it is made */
  bool all_uses, hint;
  uint32_t open; /* dims that may be cut further, whatever the sharding says */
} target;

static sw_rc add(sw_importer *m, const target *of, const sw_sharding *s, uint32_t open, uint32_t at) {
  uint32_t all = s->rank >= 32 ? UINT32_MAX : (UINT32_C(1) << s->rank) - 1;
  if (s->rank > 0 && open == all && !s->n_refs && !s->n_partial) return SW_OK; /* says nothing */
  sw_annotation a = {.value = of->value,
                     .op = -1,
                     .sharding = *s,
                     .open_dims = open,
                     .required = !of->hint,
                     .for_users = of->use != NULL || of->all_uses,
                     .n_users = of->use != NULL,
                     .users = of->use,
                     .span = sw_ir_place(m->t, at)};
  return sw_graph_add_annotation(m->g, &a, m->d);
}

/* "{devices=...}" */
static sw_rc annotate_tiles(sw_importer *m, const target *of, sw_ir_span tiles, uint32_t at) {
  const sw_type *type = &m->g->values[of->value].type;
  const char *text = sw_im_string(m, tiles);
  sw_sharding s;
  bool ok;
  if (sw_im_annotations_of(m)->one_device || strcmp(text, "{manual}") == 0) return SW_OK;
  SW_TRY(sw_im_read_tiles(m, &m->g->mesh, text, type->rank, &s, NULL, &ok));
  if (ok && !sw_sharding_verify(&m->g->mesh, &s, type->rank, type->dims, NULL)) return add(m, of, &s, of->open, at);
  sw_im_warn(m, at, "the sharding of '%s' is left out: the mesh has no axes for %s", m->g->values[of->value].name,
             text);
  return SW_OK;
}

/* Axes on a dim of one element leave it to one device of each group: a step of some routes, which no op gives. */
static void drop_idle_axes(const sw_type *type, sw_sharding *s) {
  uint8_t n = 0;
  if (s->offsets || s->halos) return; /* lists of each dim that is cut */
  for (int i = 0; i < s->n_refs; i++) {
    if (type->dims[s->dim_of[i]] == 1) continue;
    s->refs[n] = s->refs[i];
    s->dim_of[n++] = s->dim_of[i];
  }
  memmove(s->refs + n, s->refs + s->n_refs, s->n_partial * sizeof *s->refs);
  s->n_refs = n;
}

/* In the mesh that it speaks of; one of no axes says nothing of dims. */
static sw_rc check_said(sw_importer *m, const sw_im_sharding *said, const sw_type *type) {
  sw_sharding s;
  uint32_t cursor = 0, n = 0;
  sw_ir_span dim, list = {said->dims.at, sw_ir_inside(m->t, said->dims).end + 1};
  while (sw_ir_next_item(m->t, list, &cursor, &dim)) n++;
  if (n != (uint32_t)type->rank && (n || said->mesh.n_axes)) {
    return SW_FAIL_INPUT(m->d, sw_ir_place(m->t, said->dims.at),
                         "the sharding has %u dims; expected %d, as the tensor has", n, type->rank);
  }
  sw_diag why = {0};
  sw_span at = sw_ir_place(m->t, said->dims.at);
  sw_rc rc = sw_sharding_parse_as(&said->mesh, type->rank, SW_FORM_SDY, m->t->s + said->dims.at, sw_ir_len(said->dims),
                                  at, &m->scratch, &s, &why);
  if (rc == SW_E_INPUT && why.line) at = (sw_span){why.file, why.line, why.col};
  if (!rc) rc = sw_sharding_verify(&said->mesh, &s, type->rank, type->dims, &why);
  return rc == SW_E_INPUT ? SW_FAIL_INPUT(m->d, at, "%s", why.text) : rc;
}

static sw_rc annotate(sw_importer *m, const target *of, sw_ir_span sharding, uint32_t at) {
  const sw_type *type = &m->g->values[of->value].type;
  sharding = sw_ir_resolved(m->t, sw_ir_trimmed(m->t, sharding));
  if (!m->g->has_mesh || !sw_ir_len(sharding)) return SW_OK;
  bool made = !of->use && m->g->values[of->value].def >= 0;
  if (made && sw_type_elements(type) == 0) return SW_OK; /* nothing to cut: reshapes of it have no loops */
  if (m->t->s[sharding.at] == '"') return annotate_tiles(m, of, sw_ir_unquoted(m->t, sharding), at);
  sw_im_sharding said;
  SW_TRY(sw_im_said(m, sharding, &said));
  sw_ir_span dims = said.dims;
  if (sw_ir_len(dims)) SW_TRY(check_said(m, &said, type));
  sw_im_tell_foreign(m, &said, at);
  if (!sw_ir_len(dims) || said.foreign) return SW_OK;
  sw_sharding s;
  sw_diag why = {0};
  sw_rc rc = sw_sharding_parse_as(&m->g->mesh, type->rank, SW_FORM_SDY, m->t->s + dims.at, sw_ir_len(dims),
                                  sw_ir_place(m->t, dims.at), &m->g->arena, &s, &why);
  if (!rc) rc = sw_sharding_verify(&m->g->mesh, &s, type->rank, type->dims, &why);
  if (!rc && made) drop_idle_axes(type, &s);
  if (!rc) {
    sw_ir_span list = {dims.at, sw_ir_inside(m->t, dims).end + 1};
    return add(m, of, &s, of->open | open_dims(m->t, list), at);
  }
  if (rc != SW_E_INPUT) return rc;
  sw_im_warn(m, at, "the sharding of '%s' is left out: %s", m->g->values[of->value].name, why.text);
  return SW_OK;
}

sw_rc sw_im_annotate_as(sw_importer *m, sw_id value, const sw_sharding *said, bool required, uint32_t at) {
  const sw_type *type = &m->g->values[value].type;
  sw_sharding s = *said;
  bool made = m->g->values[value].def >= 0;
  if (made && sw_type_elements(type) == 0) return SW_OK;
  if (made) drop_idle_axes(type, &s);
  return add(m, &(target){.value = value, .hint = !required}, &s, 0, at);
}

sw_rc sw_im_annotate_uses_as(sw_importer *m, sw_id value, const sw_sharding *said, const sw_value_use *use,
                             bool required, uint32_t at) {
  const sw_type *type = &m->g->values[value].type;
  sw_sharding s = *said;
  if (sw_type_elements(type) == 0) return SW_OK;
  if (!use) drop_idle_axes(type, &s);
  return add(m, &(target){.value = value, .use = use, .all_uses = !use, .hint = !required}, &s, 0, at);
}

sw_rc sw_im_annotate(sw_importer *m, sw_id value, sw_ir_span sharding, uint32_t at) {
  return sw_im_annotate_open(m, value, sharding, 0, at);
}

sw_rc sw_im_annotate_open(sw_importer *m, sw_id value, sw_ir_span sharding, uint32_t open, uint32_t at) {
  return annotate(m, &(target){.value = value, .open = open}, sharding, at);
}

sw_rc sw_im_annotate_op(sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span v = sw_ir_present(o->attrs) ? sw_ir_entry(m->t, o->attrs, "sdy.sharding") : (sw_ir_span){0, 0}, item;
  if (!sw_ir_present(v) || m->o->keep != SW_KEEP_ALL || m->split) return SW_OK;
  sw_ir_span list = sw_ir_inside(m->t, sw_ir_resolved(m->t, v)); /* #sdy.sharding_per_value<[<...>, <...>]> */
  uint32_t cursor = 0, n = sw_ir_result_count(m->t, o);
  for (uint32_t i = 0; i < n && sw_ir_next_item(m->t, list, &cursor, &item); i++) {
    uint32_t left = i;
    for (uint32_t k = 0; k < o->n_results; k++) {
      const sw_ir_result *r = &m->t->results.at[o->first_result + k];
      if (left < r->count) {
        sw_id value = sw_im_top(m)->instance->slots[m->names->result[o->first_result + k] + left];
        if (value >= 0) SW_TRY(sw_im_annotate(m, value, item, o->text.at)); /* else a tuple */
        break;
      }
      left -= r->count;
    }
  }
  return SW_OK;
}

/* sdy.sharding_group %0 group_id=3 : T */
sw_rc sw_im_sharding_group(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  const sw_ir_op *o = sw_im_op(m, op);
  int64_t group, *first;
  bool fresh;
  sw_ir_span id = sw_ir_attr(m->t, o, "group_id", "group_id");
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  if (m->o->keep != SW_KEEP_ALL) return SW_OK;
  if (!sw_ir_present(id) || !sw_ir_read_int(m->t, id, &group))
    return SW_IM_FAIL(m, op, "expected a whole number as 'group_id'");
  sw_id value = sw_im_operand(m, op, 0);
  SW_TRY(sw_dict_put(&sw_im_annotations_of(m)->groups, &group, sizeof group, value, &first, &fresh, m->d));
  return fresh ? SW_OK : sw_graph_add_sharding_group(m->g, (sw_id)*first, value, sw_im_place(m, op), m->d);
}

sw_rc sw_im_annotate_arg(sw_importer *m, sw_id value, sw_ir_span attrs) {
  if (m->o->keep == SW_KEEP_NONE) return SW_OK;
  sw_ir_span v = sw_im_sharding_attr(m->t, attrs);
  return sw_ir_present(v) ? sw_im_annotate(m, value, v, v.at) : SW_OK;
}

sw_rc sw_im_annotate_output(sw_importer *m, sw_id value, int32_t index, sw_ir_span attrs) {
  if (m->o->keep == SW_KEEP_NONE) return SW_OK;
  sw_ir_span v = sw_im_sharding_attr(m->t, attrs);
  sw_value_use use = {-1, index};
  return sw_ir_present(v) ? annotate(m, &(target){value, &use}, v, v.at) : SW_OK;
}
