/* Whole programs annotated in the shard dialect (as `--emit shard` writes them), in the mesh dialect before it, or as
 * the RFC of both has it.
 *
 *   %s = shard.sharding @g split_axes = [[0], [1]] : !shard.sharding
 *   %y = shard.shard %x to %s : tensor<8x8xf32>                               %x is cut so
 *   %u = shard.shard %y to %s annotate_for_users : tensor<8x8xf32>            and so where %u is used: a reshape of
 * nothing
 *   %u = mesh.shard %y to <@g, [[0], [1]]> annotate_for_users : tensor<8x8xf32>
 *   %u = mesh.annotate %y {sharding = [[0], [1]], as_result = false, required = true} : T -> T
 *
 * One op behind the other with another sharding is a step: a reshape of nothing, too, whose result is cut so. Two ops
 * that annotate one definition differently are refused.
 */
#include <string.h>

#include "mlir/import/annotate.h"
#include "mlir/shard/shard.h"

/* What an annotating op says of its operand. */
typedef struct annotation {
  bool for_users, required;
  sw_im_cuts cut;
  sw_id like; /* a value whose sharding it is, in place of `cut`; -1: none */
} annotation;

static bool is_annotate(const sw_ir_tree *t, const sw_ir_op *o) { return sw_ir_is(t, o->name, "mesh.annotate"); }

static bool annotates(const sw_ir_tree *t, const sw_ir_op *o) {
  return is_annotate(t, o) || sw_ir_is(t, o->name, "shard.shard") || sw_ir_is(t, o->name, "mesh.shard");
}

/* true, false; `absent` where the op does not say it. */
static sw_rc read_flag(sw_importer *m, const sw_ir_op *o, const char *key, bool absent, bool *out) {
  sw_ir_span v = sw_ir_attr(m->t, o, key, NULL);
  int64_t said = absent;
  if (sw_ir_present(v) && !sw_ir_read_int(m->t, v, &said)) {
    return SW_IM_FAIL_AT(m, v.at, "expected '%s' to be true or false", key);
  }
  *out = said != 0;
  return SW_OK;
}

/* What stands behind "to", in place of a value. */
static sw_ir_span behind_to(const sw_importer *m, const sw_ir_op *o) {
  sw_ir_span v = sw_ir_attr(m->t, o, "shard", NULL);
  for (uint32_t i = o->body.at; !sw_ir_present(v) && i + 3 < o->body.end && !o->generic; i++) {
    if (m->t->s[i] != ' ' || !sw_ir_word(m->t->s, i + 1, "to")) continue;
    uint32_t at = sw_ir_blanks(m->t->s, i + 3), end = at;
    while (end < o->body.end && m->t->s[end] != '<' && m->t->s[end] != ' ') end++;
    if (end < o->body.end && m->t->s[end] == '<') end = sw_ir_inside(m->t, (sw_ir_span){at, o->body.end}).end + 1;
    v = sw_ir_resolved(m->t, (sw_ir_span){at, end});
  }
  return v;
}

static bool gets_sharding(const sw_ir_tree *t, const sw_ir_op *o) {
  return sw_ir_is(t, o->name, "shard.get_sharding") || sw_ir_is(t, o->name, "mesh.get_sharding");
}

static int rank_of_annotated(const sw_importer *m, uint32_t op) {
  sw_id x = sw_im_operand(m, op, 0);
  return x < 0 ? 0 : m->g->values[x].type.rank;
}

static sw_ir_span partial_of(const sw_importer *m, uint32_t op) {
  return sw_ir_unquoted(m->t, sw_ir_attr(m->t, sw_im_op(m, op), "shardwright.partial", NULL));
}

static sw_rc read_for_users_flag(sw_importer *m, const sw_ir_op *o, bool *out) {
  bool as_result;
  *out = sw_im_has_word(m->t, o, "annotate_for_users");
  if (!is_annotate(m->t, o)) return SW_OK;
  SW_TRY(read_flag(m, o, "as_result", true, &as_result));
  *out = !as_result;
  return SW_OK;
}

/* What the op says by itself; *done = false: its sharding is operand 1. */
static sw_rc read_own(sw_importer *m, uint32_t op, annotation *out, bool *done) {
  const sw_ir_op *o = sw_im_op(m, op);
  *out = (annotation){.required = true, .like = -1};
  *done = true;
  SW_TRY(read_for_users_flag(m, o, &out->for_users));
  if (is_annotate(m->t, o)) {
    SW_TRY(sw_im_operand_count(m, op, 1, 1));
    SW_TRY(read_flag(m, o, "required", false, &out->required));
    return sw_im_read_listed_cut(m, op, sw_ir_attr(m->t, o, "sharding", NULL), rank_of_annotated(m, op), &out->cut);
  }
  sw_ir_span in_line = o->n_uses == 1 ? behind_to(m, o) : (sw_ir_span){0, 0};
  *done = sw_ir_present(in_line);
  return *done ? sw_im_read_inline_cut(m, op, in_line, &out->cut) : sw_im_operand_count(m, op, 2, 2);
}

/* Operand `use`: a shard.sharding, or shard.get_sharding of a value, which is what that is annotated with, or else
 * whatever it gets. Operands are defined above their ops: chains end. */
static sw_rc read_operand(sw_importer *m, uint32_t op, uint32_t use, annotation *out) {
  sw_ir_span partial = {0, 0};
  annotation said;
  for (bool done = false; !done; use = 1) {
    uint32_t from, source;
    SW_TRY(sw_im_definer(m, op, use, &from));
    const sw_ir_op *o = from == SW_IR_NONE ? NULL : sw_im_op(m, from);
    if (o && sw_im_is_sharding(m->t, o)) {
      SW_TRY(sw_im_read_cut(m, from, &out->cut));
      break;
    }
    if (!o || !gets_sharding(m->t, o)) {
      return SW_IM_FAIL(m, op, "expected the result of a shard.sharding or shard.get_sharding as sharding");
    }
    SW_TRY(sw_im_operand_count(m, from, 1, 1));
    SW_TRY(sw_im_definer(m, from, 0, &source));
    out->like = sw_im_operand(m, from, 0);
    if (source == SW_IR_NONE || !annotates(m->t, sw_im_op(m, source))) return SW_OK;
    SW_TRY(read_own(m, source, &said, &done));
    if (done) out->cut = said.cut;
    if (!sw_ir_present(partial)) partial = partial_of(m, source);
    op = source;
  }
  out->like = -1;
  if (sw_ir_present(partial)) out->cut.partial = partial;
  return SW_OK;
}

static sw_rc read_shard_annotation(sw_importer *m, uint32_t op, annotation *out) {
  bool done;
  sw_ir_span partial = partial_of(m, op);
  SW_TRY(read_own(m, op, out, &done));
  if (!done) SW_TRY(read_operand(m, op, 1, out));
  if (sw_ir_present(partial)) out->cut.partial = partial;
  return SW_OK;
}

sw_rc sw_im_read_sharding_of(sw_importer *m, uint32_t op, uint32_t use, sw_im_cuts *out) {
  annotation a = {.like = -1};
  SW_TRY(read_operand(m, op, use, &a));
  *out = a.cut;
  return a.like < 0 ? SW_OK : SW_IM_FAIL(m, op, "nothing says how the value is cut whose sharding is taken");
}

/* --- steps, and what is undefined --------------------------------------------------------------------------------- */

static bool same_annotation(const sw_importer *m, const annotation *a, const annotation *b) {
  bool by_value = a->like >= 0 || b->like >= 0;
  return by_value ? a->like == b->like : sw_im_same_cut(m, &a->cut, &b->cut);
}

/* The op that annotates what an annotating op takes; SW_IR_NONE: none does. */
static sw_rc annotated_by(sw_importer *m, uint32_t op, uint32_t *source) {
  SW_TRY(sw_im_definer(m, op, 0, source));
  if (*source != SW_IR_NONE && !annotates(m->t, sw_im_op(m, *source))) *source = SW_IR_NONE;
  return SW_OK;
}

/* Does an op stand behind a use, or another one that says otherwise? */
static sw_rc is_further_annotation(sw_importer *m, uint32_t op, const annotation *a, bool *out) {
  uint32_t source;
  annotation before;
  *out = false;
  SW_TRY(annotated_by(m, op, &source));
  if (source == SW_IR_NONE) return SW_OK;
  SW_TRY(read_shard_annotation(m, source, &before));
  *out = !same_annotation(m, &before, a) || (before.for_users && !a->for_users);
  return SW_OK;
}

/* The name in the function that the op annotates, through other ops that do. */
static sw_rc annotated_name(sw_importer *m, uint32_t op, uint32_t *slot) {
  for (bool own = false; !own;) {
    uint32_t source;
    annotation a;
    *slot = m->names->use[sw_im_op(m, op)->first_use];
    SW_TRY(annotated_by(m, op, &source));
    if (source == SW_IR_NONE) break;
    SW_TRY(read_shard_annotation(m, source, &a));
    SW_TRY(is_further_annotation(m, source, &a, &own));
    own = own || a.for_users;
    op = source;
  }
  return SW_OK;
}

/* A definition has one sharding, also where several ops annotate it. */
static sw_rc check_definition(sw_importer *m, uint32_t op, const annotation *a) {
  struct {
    uint32_t call, slot;
  } key = {sw_im_here(m)->call, 0};
  int64_t *first;
  bool fresh;
  annotation before;
  SW_TRY(annotated_name(m, op, &key.slot));
  SW_TRY(sw_dict_put(&sw_shard_state_of(m)->annotated, &key, sizeof key, op, &first, &fresh, m->d));
  uint32_t source = (uint32_t)*first;
  if (fresh || source == op) return SW_OK;
  SW_TRY(read_shard_annotation(m, source, &before));
  if (same_annotation(m, &before, a)) return SW_OK;
  sw_span at = sw_im_place(m, source);
  (void)SW_IM_FAIL(m, op, "a value is annotated twice with different shardings; expected one sharding");
  sw_diag_note(m->d, "the other annotation is at %s:%d:%d", at.file ? at.file : "?", at.line, at.col);
  return SW_E_INPUT;
}

/* --- ops ---------------------------------------------------------------------------------------------------------- */

/* Has the value another sharding by the name that it has in another function? */
static sw_rc is_cut_otherwise(sw_importer *m, sw_id value, const sw_sharding *now, bool *out) {
  sw_shard_state *s = sw_shard_state_of(m);
  int64_t *at;
  bool fresh;
  SW_TRY(sw_dict_put(&s->said_of, &value, sizeof value, (int64_t)s->said.n, &at, &fresh, m->d));
  if (fresh) SW_TRY(sw_array_push(&s->said, *now, m->d));
  *out = !fresh && !sw_sharding_equal(&s->said.at[*at], now);
  return SW_OK;
}

static sw_rc annotate_from_shard_op(sw_importer *m, uint32_t op, sw_id x, const annotation *a, bool step) {
  const uint32_t at = sw_im_op(m, op)->text.at;
  sw_sharding s;
  bool apart = a->for_users || step;
  if (a->like < 0) SW_TRY(sw_im_cut_as_sharding(m, &a->cut, &m->g->values[x].type, &s));
  if (a->like < 0 && !apart) SW_TRY(is_cut_otherwise(m, x, &s, &apart));
  if (apart) SW_TRY(sw_im_same_value(m, op, x, &x));
  if (!apart) SW_TRY(sw_im_bind(m, op, 0, x, false));
  if (a->like >= 0) return sw_graph_add_sharding_group(m->g, a->like, x, sw_im_place(m, op), m->d);
  SW_TRY(sw_im_annotate_as(m, x, &s, a->required, at));
  return a->for_users ? sw_im_annotate_uses_as(m, x, &s, NULL, a->required, at) : SW_OK;
}

sw_rc sw_im_shard(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_id x = sw_im_operand(m, op, 0);
  annotation a;
  bool step;
  (void)row;
  SW_TRY(sw_im_operand_count(m, op, 1, 2));
  SW_TRY(read_shard_annotation(m, op, &a));
  if (a.like < 0) SW_TRY(sw_im_check_cut(m, &a.cut, m->g->values[x].type.rank));
  SW_TRY(is_further_annotation(m, op, &a, &step));
  if (!a.for_users && !step) SW_TRY(check_definition(m, op, &a));
  if (m->has_named_meshes || m->cut || m->o->keep != SW_KEEP_ALL || !m->g->written->has_mesh)
    return sw_im_bind(m, op, 0, x, false);
  return annotate_from_shard_op(m, op, x, &a, step);
}

/* Read where it is used; here for what is wrong with it. */
sw_rc sw_im_shard_sharding(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_im_cuts cut;
  (void)row;
  return sw_im_read_cut(m, op, &cut);
}

sw_rc sw_im_get_sharding(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  return sw_im_operand_count(m, op, 1, 1);
}
