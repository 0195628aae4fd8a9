/* Custom calls that our own texts have for what StableHLO lacks (docs/emitted-forms.md).
 *
 *   @shardwright.rng() {seed = 7 : i64, distribution = "uniform", low_value = 0.0, high_value = 1.0, global = [6, 10]}
 *   @shardwright.generic(%x) {body = "x0*x0", loops = [{kind = "parallel", size = 4 : i64}, ...], maps =
 * [affine_map<...>]}
 */
#include <string.h>

#include "mlir/import/dialect.h"
#include "mlir/import/import_emit.h"

/* A value of the call's settings, which have to be there. */
static sw_rc setting(sw_importer *m, uint32_t op, const char *key, sw_ir_span *out) {
  sw_ir_span config = sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL);
  *out = sw_ir_present(config) ? sw_ir_entry(m->t, config, key) : (sw_ir_span){0, 0};
  return sw_ir_present(*out) ? SW_OK : SW_IM_FAIL(m, op, "the call has no '%s' in its 'backend_config'", key);
}

static sw_rc whole_number(sw_importer *m, uint32_t op, sw_ir_span v, const char *key, int64_t *out) {
  if (sw_ir_read_int(m->t, v, out)) return SW_OK;
  return SW_IM_FAIL(m, op, "found '%.*s' as '%s'; expected a whole number", SW_IR_TEXT(m->t, v), key);
}

static sw_rc real_number(sw_importer *m, uint32_t op, const char *key, sw_attr_key to, sw_im_attrs *a) {
  sw_ir_span v;
  double value;
  SW_TRY(setting(m, op, key, &v));
  if (!sw_ir_read_float(m->t, v, &value)) {
    return SW_IM_FAIL(m, op, "found '%.*s' as '%s'; expected a number", SW_IR_TEXT(m->t, v), key);
  }
  a->at[a->n++] = (sw_attr){.key = to, .u.f = value};
  return SW_OK;
}

static sw_rc rng(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  sw_ir_span v;
  sw_type t;
  int64_t seed;
  const sw_id *x;
  int n_operands;
  sw_im_attrs a = {.n = 0};
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  SW_TRY(setting(m, op, "seed", &v));
  SW_TRY(whole_number(m, op, v, "seed", &seed));
  sw_im_int(&a, SW_ATTR_SEED, seed);
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  sw_im_shape(&a, &t);
  SW_TRY(setting(m, op, "distribution", &v));
  sw_im_text(&a, SW_ATTR_DISTRIBUTION, sw_im_string(m, sw_ir_unquoted(m->t, v)));
  SW_TRY(real_number(m, op, "low_value", SW_ATTR_LOW_VALUE, &a));
  SW_TRY(real_number(m, op, "high_value", SW_ATTR_HIGH_VALUE, &a));
  SW_TRY(setting(m, op, "global", &v));
  SW_TRY(sw_im_ints(m, &a, SW_ATTR_GLOBAL, v));
  SW_TRY(sw_im_operands(m, op, 0, &x, &n_operands));
  return sw_im_emit_op(m, op, SW_OP_RNG, n_operands, x, &a);
}

/* --- generic ------------------------------------------------------------------------------------------------------ */

enum { MOST_LOOPS = 64, MOST_MAPS = 64 };

static sw_rc read_own_loop(sw_importer *m, uint32_t op, sw_ir_span in, sw_loop *out) {
  static const struct {
    const char *name;
    sw_loop_kind kind;
  } kKinds[] = {{"parallel", SW_LOOP_PARALLEL}, {"reduction", SW_LOOP_REDUCTION}, {"whole", SW_LOOP_WHOLE}};
  sw_ir_span kind = sw_ir_unquoted(m->t, sw_ir_entry(m->t, in, "kind"));
  sw_ir_span combiner = sw_ir_unquoted(m->t, sw_ir_entry(m->t, in, "combiner"));
  size_t k = 0;
  while (k < 3 && !sw_ir_is(m->t, kind, kKinds[k].name)) k++;
  if (k == 3) {
    return SW_IM_FAIL(m, op, "a loop is '%.*s'; expected parallel, reduction or whole", SW_IR_TEXT(m->t, kind));
  }
  *out = (sw_loop){.kind = kKinds[k].kind};
  if (sw_ir_present(combiner) && !sw_reduction_parse(sw_im_string(m, combiner), &out->combiner)) {
    return SW_IM_FAIL(m, op, "a loop combines by '%.*s'; expected a reduction", SW_IR_TEXT(m->t, combiner));
  }
  return whole_number(m, op, sw_ir_entry(m->t, in, "size"), "size", &out->size);
}

static sw_rc read_nest(sw_importer *m, uint32_t op, sw_loop_nest *out) {
  sw_ir_span list, item;
  sw_loop *loops;
  sw_map *maps;
  uint32_t cursor = 0;
  SW_ARENA_NEW(loops, &m->scratch, MOST_LOOPS, m->d);
  SW_ARENA_NEW(maps, &m->scratch, MOST_MAPS, m->d);
  *out = (sw_loop_nest){.loops = loops, .maps = maps};
  SW_TRY(setting(m, op, "loops", &list));
  while (out->n_loops < MOST_LOOPS && sw_ir_next_item(m->t, list, &cursor, &item)) {
    SW_TRY(read_own_loop(m, op, item, &loops[out->n_loops++]));
  }
  SW_TRY(setting(m, op, "maps", &list));
  cursor = 0;
  while (out->n_maps < MOST_MAPS && sw_ir_next_item(m->t, list, &cursor, &item)) {
    const char *text = sw_im_string(m, sw_ir_inside(m->t, item)); /* affine_map<...> */
    SW_TRY(sw_map_parse(text, out->n_loops, sw_ir_place(m->t, item.at), &m->scratch, &maps[out->n_maps++], m->d));
  }
  return SW_OK;
}

static sw_rc generic(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  (void)row;
  uint32_t n = sw_ir_result_count(m->t, sw_im_op(m, op));
  sw_ir_span body;
  sw_loop_nest nest;
  sw_type types[SW_MAX_RESULTS];
  sw_im_attrs a = {.n = 0};
  const sw_id *x;
  int n_operands;
  if (n > SW_MAX_RESULTS) return SW_IM_FAIL(m, op, "the call has %u results; expected at most %d", n, SW_MAX_RESULTS);
  SW_TRY(setting(m, op, "body", &body));
  sw_im_text(&a, SW_ATTR_BODY, sw_im_string(m, sw_ir_unquoted(m->t, body)));
  for (uint32_t i = 0; i < n; i++) SW_TRY(sw_im_result_type(m, op, (int)i, &types[i]));
  SW_TRY(read_nest(m, op, &nest));
  SW_TRY(sw_im_operands(m, op, 0, &x, &n_operands));
  return sw_im_emit(m, op,
                    &(sw_im_add){.code = SW_OP_GENERIC,
                                 .n_operands = n_operands,
                                 .operands = x,
                                 .attrs = &a,
                                 .n_types = (int)n,
                                 .types = types,
                                 .nest = &nest},
                    NULL);
}

/* --- composites --------------------------------------------------------------------------------------------------- */

/* One of the attributes that all attentions have; false: it is not there. */
static sw_rc composite_attribute(sw_importer *m, uint32_t op, sw_attr_key key, sw_im_attrs *a) {
  sw_ir_span all = sw_ir_attr(m->t, sw_im_op(m, op), "composite_attributes", NULL);
  sw_ir_span v = sw_ir_present(all) ? sw_ir_entry(m->t, all, sw_attr_text(key)) : (sw_ir_span){0, 0};
  sw_attr *to = &a->at[a->n];
  if (!sw_ir_present(v)) return SW_OK;
  *to = (sw_attr){.key = key};
  switch (sw_attr_kind_of(key)) {
    case SW_ATTR_KIND_FLOAT:
      a->n++;
      if (sw_ir_read_float(m->t, v, &to->u.f)) return SW_OK;
      return SW_IM_FAIL(m, op, "found '%.*s' as '%s'; expected a number", SW_IR_TEXT(m->t, v), sw_attr_text(key));
    case SW_ATTR_KIND_BOOL:
      a->n++;
      to->u.i = sw_ir_is(m->t, v, "true");
      if (to->u.i || sw_ir_is(m->t, v, "false")) return SW_OK;
      return SW_IM_FAIL(m, op, "found '%.*s' as '%s'; expected true or false", SW_IR_TEXT(m->t, v), sw_attr_text(key));
    case SW_ATTR_KIND_TEXT:
      sw_im_text(a, key, sw_im_string(m, sw_ir_unquoted(m->t, v)));
      return SW_OK;
    case SW_ATTR_KIND_INTS:
      return sw_im_ints(m, a, key, v);
    case SW_ATTR_KIND_INT:
    case SW_ATTR_KIND_DTYPE:
    case SW_ATTR_KIND_DATA:
      break;
  }
  a->n++;
  return whole_number(m, op, v, sw_attr_text(key), &to->u.i);
}

static sw_rc import_own_attention(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const sw_attr_key kKeys[] = {SW_ATTR_SCALE, SW_ATTR_CAUSAL, SW_ATTR_WINDOW, SW_ATTR_SOFTCAP,  SW_ATTR_DROPOUT,
                                      SW_ATTR_BASE,  SW_ATTR_LAYOUT, SW_ATTR_TARGET, SW_ATTR_BIAS_GRAD};
  sw_im_attrs a = {.n = 0};
  const sw_id *x;
  int n;
  for (size_t i = 0; i < sizeof kKeys / sizeof *kKeys; i++) {
    if (kKeys[i] == SW_ATTR_BIAS_GRAD && row->code != SW_OP_ATTENTION_GRAD) continue;
    SW_TRY(composite_attribute(m, op, kKeys[i], &a));
  }
  SW_TRY(sw_im_operands(m, op, 0, &x, &n));
  return sw_im_emit_op(m, op, row->code, n, x, &a);
}

static const sw_ir_row kCalls[] = {{"shardwright.rng", rng},
                                   {"shardwright.generic", generic},
                                   {"shardwright.attention", import_own_attention, SW_OP_ATTENTION},
                                   {"shardwright.attention_grad", import_own_attention, SW_OP_ATTENTION_GRAD}};

const sw_dialect sw_dialect_own = {"shardwright", NULL, 0, SW_IR_ROWS(kCalls), NULL};
