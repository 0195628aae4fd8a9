/* Constants and what is computed of them alone, and scalars spread over a tensor: one for each use before propagation,
 * so that uses need not be cut alike, and one for all that are cut alike after it. */
#include <stdlib.h>
#include <string.h>

#include "mlir/opt/opt_copy.h"
#include "mlir/opt/opt_rewrite.h"

static const char kConstants[] = "stablehlo.constant sdy.constant";
static const char kElementwise[] =
    "stablehlo.abs stablehlo.add stablehlo.and stablehlo.atan2 stablehlo.bitcast_convert stablehlo.cbrt stablehlo.ceil "
    "stablehlo.clamp stablehlo.compare stablehlo.complex stablehlo.convert stablehlo.cosine "
    "stablehlo.count_leading_zeros stablehlo.divide stablehlo.exponential stablehlo.exponential_minus_one "
    "stablehlo.floor stablehlo.imag stablehlo.is_finite stablehlo.log stablehlo.log_plus_one stablehlo.logistic "
    "stablehlo.maximum stablehlo.minimum stablehlo.multiply stablehlo.negate stablehlo.not stablehlo.or "
    "stablehlo.popcnt stablehlo.power stablehlo.real stablehlo.reduce_precision stablehlo.remainder "
    "stablehlo.round_nearest_afz stablehlo.round_nearest_even stablehlo.rsqrt stablehlo.select stablehlo.shift_left "
    "stablehlo.shift_right_arithmetic stablehlo.shift_right_logical stablehlo.sign stablehlo.sine stablehlo.sqrt "
    "stablehlo.subtract stablehlo.tan stablehlo.tanh stablehlo.xor chlo.acos chlo.acosh chlo.asin chlo.asinh chlo.atan "
    "chlo.atanh chlo.bessel_i1e chlo.conj chlo.cosh chlo.digamma chlo.erf chlo.erf_inv chlo.erfc chlo.is_inf "
    "chlo.is_neg_inf chlo.is_pos_inf chlo.lgamma chlo.next_after chlo.polygamma chlo.sinh chlo.square chlo.tan "
    "chlo.zeta";
static const char kShapes[] = "stablehlo.broadcast_in_dim stablehlo.reshape stablehlo.slice";

static bool opt_op_is(const sw_opt_work *w, uint32_t op, const char *name) {
  return sw_ir_is(w->t, w->t->ops.at[op].name, name);
}
static bool is_constant_op(const sw_opt_work *w, uint32_t op) {
  return sw_ir_is_among(w->t, w->t->ops.at[op].name, kConstants);
}
static bool is_group(const sw_opt_work *w, uint32_t op) { return opt_op_is(w, op, "sdy.sharding_group"); }

/* tensor<f32>: no sizes. */
static bool is_scalar(const sw_opt_work *w, uint32_t value) {
  const uint32_t slot = w->shardings.of_value[value];
  const sw_ir_span type = slot == SW_IR_NONE && w->values.maker[value] == SW_IR_NONE
                              ? w->t->args.at[w->values.index_of[value]].type
                              : w->shardings.slots.at[slot].type;
  if (!sw_ir_starts(w->t, type, "tensor<")) return false;
  for (uint32_t at = type.at + 7; at < type.end && w->t->s[at] != '<'; at++) {
    if (w->t->s[at] == 'x' && strchr("0123456789?", w->t->s[at - 1])) return false;
  }
  return true;
}

/* --- constant-or-scalar-splitter ---------------------------------------------------------------------------------- */

typedef enum op_kind { OTHER, CONSTANT, EXPANSION } op_kind;

typedef struct splitter {
  sw_opt_work *w;
  uint8_t *kind;  /* by op: op_kind */
  uint32_t *left; /* by value: uses that stay */
  const char *
      *copy; /* by op: the name of its last copy, which is for the use that is looked at where stamp[] is its number */
  uint32_t *stamp, n_stamps;
  uint32_t *work; /* ops to be copied */
} splitter;

static uint32_t first_result_of(const splitter *s, uint32_t op) {
  return sw_ir_result_value(&s->w->values, s->w->t, &s->w->t->ops.at[op], 0);
}

static op_kind op_kind_of(const splitter *s, uint32_t op) {
  const sw_ir_op *o = &s->w->t->ops.at[op];
  if (is_constant_op(s->w, op) || opt_op_is(s->w, op, "stablehlo.iota")) return CONSTANT;
  if (!o->n_uses) return OTHER;
  bool constant = sw_ir_is_among(s->w->t, o->name, kShapes) || sw_ir_is_among(s->w->t, o->name, kElementwise);
  for (uint32_t i = 0; i < o->n_uses && constant; i++) {
    const uint32_t maker = s->w->values.maker[sw_ir_operand_value(&s->w->values, o, i)];
    constant = maker != SW_IR_NONE && s->kind[maker] == CONSTANT;
  }
  if (constant) return CONSTANT;
  return opt_op_is(s->w, op, "stablehlo.broadcast_in_dim") && is_scalar(s->w, sw_ir_operand_value(&s->w->values, o, 0))
             ? EXPANSION
             : OTHER;
}

/* Of the op alone; its operands are the copies that there are. */
static sw_rc copy_constant_op(splitter *s, uint32_t op) {
  sw_opt_work *w = s->w;
  const sw_ir_op *o = &w->t->ops.at[op];
  const char *name =
      s->copy[op] ? sw_opt_new_name(w) : sw_opt_value_text(w, first_result_of(s, op)); /* the first has its name */
  const char *text;
  sw_opt_copy c;
  sw_opt_copy_begin(w, o->text, &c);
  sw_rc rc = sw_opt_copy_result(&c, o->first_result, name);
  if (!rc && opt_op_is(w, op, "stablehlo.constant"))
    rc = sw_ir_replace(&c.edits, o->name.at, o->name.end, "sdy.constant");
  for (uint32_t i = 0; i < o->n_uses && !rc; i++) {
    const uint32_t value = sw_ir_operand_value(&w->values, o, i), maker = w->values.maker[value];
    if (maker != SW_IR_NONE && s->stamp[maker] == s->n_stamps)
      rc = sw_opt_copy_use(&c, o->first_use + i, s->copy[maker]);
    else
      s->left[value]++;
  }
  SW_TRY(sw_opt_copy_end(&c, rc, &text));
  s->copy[op] = name;
  s->stamp[op] = s->n_stamps;
  SW_TRY(sw_opt_put_before(w, op, text));
  const uint32_t value = first_result_of(s, op);
  for (uint32_t use = w->values.first_use[value]; use != SW_IR_NONE; use = w->values.next_use[use]) {
    const uint32_t group = w->values.op_of_use[use];
    if (!is_group(w, group)) continue;
    sw_opt_copy_begin(w, w->t->ops.at[group].text, &c);
    rc = sw_opt_copy_use(&c, use, name);
    SW_TRY(sw_opt_copy_end(&c, rc, &text));
    SW_TRY(sw_opt_put_before(w, op, text));
  }
  return SW_OK;
}

/* What a constant is computed of, down to scalars, which are shared. */
static sw_rc copy_all(splitter *s, uint32_t op) {
  sw_opt_work *w = s->w;
  size_t n = 0;
  s->n_stamps++;
  s->work[n++] = op;
  s->stamp[op] = s->n_stamps;
  for (size_t i = 0; i < n && s->kind[op] == CONSTANT; i++) {
    const sw_ir_op *o = &w->t->ops.at[s->work[i]];
    for (uint32_t k = 0; k < o->n_uses; k++) {
      const uint32_t value = sw_ir_operand_value(&w->values, o, k), maker = w->values.maker[value];
      if (s->stamp[maker] == s->n_stamps || is_scalar(w, value)) continue;
      s->stamp[maker] = s->n_stamps;
      s->work[n++] = maker;
    }
  }
  qsort(s->work, n, sizeof *s->work, sw_ir_compare_ops); /* definitions before uses */
  for (size_t i = 0; i < n; i++) SW_TRY(copy_constant_op(s, s->work[i]));
  return SW_OK;
}

static sw_rc split_uses(splitter *s, uint32_t op) {
  sw_opt_work *w = s->w;
  const sw_ir_op *o = &w->t->ops.at[op];
  if (is_group(w, op)) return SW_OK;
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const uint32_t value = sw_ir_operand_value(&w->values, o, i), maker = w->values.maker[value];
    if (maker == SW_IR_NONE || s->kind[maker] == OTHER || is_scalar(w, value)) {
      s->left[value]++;
      continue;
    }
    SW_TRY(copy_all(s, maker));
    SW_TRY(sw_opt_replace_use(w, o->first_use + i, s->copy[maker]));
  }
  return SW_OK;
}

/* Constants that nothing uses any more go, and groups on what goes. */
static sw_rc erase_unused(splitter *s) {
  sw_opt_work *w = s->w;
  for (uint32_t op = (uint32_t)w->t->ops.n; op-- > 0;) {
    const sw_ir_op *o = &w->t->ops.at[op];
    if (w->values.function_of[op] == SW_IR_NONE || s->kind[op] == OTHER) continue;
    const uint32_t value = first_result_of(s, op);
    if (value == SW_IR_NONE) continue;
    if (s->left[value] || (s->kind[op] == EXPANSION && s->stamp[op] == 0)) {
      if (opt_op_is(w, op, "stablehlo.constant"))
        SW_TRY(sw_ir_replace(&w->edits, o->name.at, o->name.end, "sdy.constant"));
      for (uint32_t i = 0; i < o->n_uses; i++) s->left[sw_ir_operand_value(&w->values, o, i)]++;
      continue;
    }
    SW_TRY(sw_opt_erase(w, op));
    for (uint32_t use = w->values.first_use[value]; use != SW_IR_NONE; use = w->values.next_use[use]) {
      if (is_group(w, w->values.op_of_use[use])) SW_TRY(sw_opt_erase(w, w->values.op_of_use[use]));
    }
  }
  return SW_OK;
}

sw_rc sw_pass_constant_or_scalar_splitter(sw_opt_work *w) {
  splitter s = {.w = w};
  SW_ARENA_NEW_EACH(&w->arena, w->t->ops.n, w->d, s.kind, s.copy, s.stamp, s.work);
  SW_ARENA_NEW(s.left, &w->arena, w->values.n, w->d);
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] == SW_IR_NONE || w->values.function_of[op] == op) continue;
    s.kind[op] = (uint8_t)op_kind_of(&s, op);
    if (s.kind[op] == OTHER) SW_TRY(split_uses(&s, op));
  }
  return erase_unused(&s);
}

/* --- constant-or-scalar-merger ------------------------------------------------------------------------------------ */

typedef struct merger {
  sw_opt_work *w;
  sw_dict *seen;  /* text of an op without its result, to the op that has it */
  uint32_t *same; /* by value: the one that it is merged with; itself: none */
  sw_text *key;
} merger;

/* The block, and the op without its result and place, its operand by number. */
static void write_constant_key(merger *m, uint32_t op) {
  const sw_ir_tree *t = m->w->t;
  const sw_ir_op *o = &t->ops.at[op];
  uint32_t at = o->name.at;
  m->key->n = 0;
  sw_text_printf(m->key, "%u ", o->block);
  for (uint32_t i = 0; i < o->n_uses; i++) {
    const sw_ir_span use = t->uses.at[o->first_use + i].name;
    sw_text_append(m->key, t->s + at, use.at - at);
    sw_text_printf(m->key, "%u", m->same[sw_ir_operand_value(&m->w->values, o, i)]);
    at = use.end;
  }
  const sw_ir_span rest = sw_ir_trimmed(t, (sw_ir_span){at, sw_ir_len(o->loc) ? o->loc.at : o->text.end});
  sw_text_append(m->key, t->s + rest.at, sw_ir_len(rest));
}

static sw_rc merge_op(merger *m, uint32_t op) {
  sw_opt_work *w = m->w;
  const sw_ir_op *o = &w->t->ops.at[op];
  const uint32_t value = sw_ir_result_value(&w->values, w->t, o, 0);
  int64_t *slot;
  bool fresh;
  write_constant_key(m, op);
  if (m->key->rc || value == SW_IR_NONE) return m->key->rc;
  SW_TRY(sw_dict_put(m->seen, m->key->at, m->key->n, op, &slot, &fresh, w->d));
  if (fresh) return SW_OK;
  m->same[value] = sw_ir_result_value(&w->values, w->t, &w->t->ops.at[*slot], 0);
  sw_opt_forward(w, value, m->same[value]);
  return sw_opt_erase(w, op);
}

sw_rc sw_pass_constant_or_scalar_merger(sw_opt_work *w) {
  merger m = {.w = w};
  SW_TRY(sw_opt_dict(w, &m.seen));
  SW_TRY(sw_opt_text(w, &m.key));
  SW_ARENA_NEW(m.same, &w->arena, w->values.n, w->d);
  for (uint32_t i = 0; i < w->values.n; i++) m.same[i] = i;
  for (uint32_t op = 0; op < w->t->ops.n; op++) {
    if (w->values.function_of[op] == SW_IR_NONE) continue;
    const bool expansion = opt_op_is(w, op, "stablehlo.broadcast_in_dim") &&
                           is_scalar(w, sw_ir_operand_value(&w->values, &w->t->ops.at[op], 0));
    if (expansion || is_constant_op(w, op)) SW_TRY(merge_op(&m, op));
  }
  return SW_OK;
}
