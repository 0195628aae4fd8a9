/* Loops, maps and linearities of a generic op:
 *
 *   "loops": [4, {"size": 8, "kind": "reduction", "combiner": "sum"}],
 *   "maps": ["(d0,d1)->(d0,d1)", "(d0,d1)->(d1)", "(d0,d1)->(d0)"],
 *   "linear": [{"operands": [0], "kind": "sum"}],
 *   "flops_per_point": 2
 *
 * A number alone is the size of a parallel loop.
 */
#include <math.h>
#include <string.h>

#include "io/model/model.h"

static const char *const kKinds[] = {
    [SW_LOOP_PARALLEL] = "parallel", [SW_LOOP_REDUCTION] = "reduction", [SW_LOOP_MASKED] = "masked",
    [SW_LOOP_SCAN] = "scan",         [SW_LOOP_PICK] = "pick",           [SW_LOOP_MANUAL] = "manual",
    [SW_LOOP_WHOLE] = "whole"};
enum { N_KINDS = sizeof kKinds / sizeof *kKinds };

static sw_rc read_combiner(const sw_model_reader *r, const sw_json *v, sw_reduction *out) {
  const char *text;
  SW_TRY(sw_json_as_string(v, &text, r->d));
  if (sw_reduction_parse(text, out)) return SW_OK;
  return SW_MODEL_FAIL(r, v, "reduction '%.40s' is not known; expected sum, product, min, max, and, or, ...", text);
}

static sw_rc read_nest_loop(const sw_model_reader *r, const sw_json *v, sw_loop *out) {
  static const char *const kKeys[] = {"size", "kind", "combiner"};
  *out = (sw_loop){.kind = SW_LOOP_PARALLEL, .combiner = SW_REDUCE_SUM};
  if (v->kind == SW_JSON_INT) return sw_json_as_i64(v, 1, INT64_MAX, &out->size, r->d);
  SW_TRY(sw_json_only(v, kKeys, 3, "a loop", r->d));
  SW_TRY(sw_json_i64(v, "size", 1, INT64_MAX, &out->size, r->d));
  const sw_json *kind = sw_json_find(v, "kind"), *combiner = sw_json_find(v, "combiner");
  int k = SW_LOOP_PARALLEL;
  if (kind) SW_TRY(sw_json_word(kind, kKinds, N_KINDS, &k, r->d));
  out->kind = (sw_loop_kind)k;
  if (combiner) SW_TRY(read_combiner(r, combiner, &out->combiner));
  if (out->kind == SW_LOOP_REDUCTION && !combiner) {
    return SW_MODEL_FAIL(r, v, "a reduction loop has no combiner; expected \"combiner\": \"sum\" or another reduction");
  }
  return SW_OK;
}

static sw_rc read_linear(const sw_model_reader *r, const sw_json *v, sw_linearity *out) {
  static const char *const kKeys[] = {"operands", "kind"};
  const sw_json *operands, *kind;
  int64_t which[32];
  int n;
  SW_TRY(sw_json_only(v, kKeys, 2, "a linearity", r->d));
  SW_TRY(sw_json_member(v, "operands", &operands, r->d));
  SW_TRY(sw_json_member(v, "kind", &kind, r->d));
  SW_TRY(sw_json_i64_list(operands, 0, 31, which, 32, &n, r->d));
  *out = (sw_linearity){0};
  for (int i = 0; i < n; i++) out->operands |= 1u << which[i];
  return read_combiner(r, kind, &out->kind);
}

/* A result's sum of several loops is digits; an operand's is a window unless it covers the digits exactly. */
static void mark_digits(sw_map *m, const sw_loop *loops) {
  for (int i = 0; i < m->rank; i++) {
    sw_affine *e = (sw_affine *)&m->dims[i];
    int64_t coef = 1;
    e->mixed_radix = e->n_terms > 1 && e->constant == 0;
    for (int t = e->n_terms - 1; t >= 0; t--) {
      e->mixed_radix = e->mixed_radix && e->terms[t].coef == coef;
      if (__builtin_mul_overflow(coef, loops[e->terms[t].loop].size, &coef)) coef = 0;
    }
  }
}

sw_rc sw_model_read_nest(const sw_model_reader *r, const sw_json *op, const sw_loop_nest **out) {
  const sw_json *loops, *maps, *linear = NULL;
  SW_TRY(sw_json_array(op, "loops", &loops, r->d));
  SW_TRY(sw_json_array(op, "maps", &maps, r->d));
  SW_TRY(sw_json_opt_array(op, "linear", &linear, r->d));
  sw_loop_nest *s;
  sw_loop *loop;
  sw_map *map;
  sw_linearity *form;
  SW_ARENA_NEW(s, r->arena, 1, r->d);
  SW_ARENA_NEW(loop, r->arena, loops->n, r->d);
  SW_ARENA_NEW(map, r->arena, maps->n, r->d);
  SW_ARENA_NEW(form, r->arena, linear ? linear->n : 0, r->d);
  for (int i = 0; i < loops->n; i++) SW_TRY(read_nest_loop(r, &loops->at[i], &loop[i]));
  for (int i = 0; i < maps->n; i++) {
    const char *text;
    SW_TRY(sw_json_as_string(&maps->at[i], &text, r->d));
    SW_TRY(sw_map_parse(text, loops->n, sw_model_span(r, &maps->at[i]), r->arena, &map[i], r->d));
    mark_digits(&map[i], loop);
  }
  for (int i = 0; linear && i < linear->n; i++) SW_TRY(read_linear(r, &linear->at[i], &form[i]));
  *s = (sw_loop_nest){loops->n, maps->n, linear ? linear->n : 0, loop, map, form, 1};
  SW_TRY(sw_json_opt_f64(op, "flops_per_point", 0, 1e18, &s->flops_per_point, r->d));
  *out = s;
  return SW_OK;
}

static void write_loop(const sw_loop *l, sw_json_out *o) {
  if (l->kind == SW_LOOP_PARALLEL) {
    sw_jw_i64(o, NULL, l->size);
    return;
  }
  sw_jw_object_row(o, NULL);
  sw_jw_i64(o, "size", l->size);
  sw_jw_string(o, "kind", kKinds[l->kind]);
  if (l->kind == SW_LOOP_REDUCTION) sw_jw_string(o, "combiner", sw_reduction_text(l->combiner));
  sw_jw_end(o);
}

static void write_linear(const sw_linearity *f, sw_json_out *o) {
  sw_jw_object_row(o, NULL);
  sw_jw_row(o, "operands");
  for (int i = 0; i < 32; i++) {
    if (f->operands >> i & 1) sw_jw_i64(o, NULL, i);
  }
  sw_jw_end(o);
  sw_jw_string(o, "kind", sw_reduction_text(f->kind));
  sw_jw_end(o);
}

void sw_model_write_nest(const sw_op *op, sw_json_out *o) {
  const sw_loop_nest *s = op->nest;
  sw_jw_row(o, "loops");
  for (int i = 0; i < s->n_loops; i++) write_loop(&s->loops[i], o);
  sw_jw_end(o);
  sw_jw_row(o, "maps");
  for (int i = 0; i < s->n_maps; i++) {
    sw_text text = {0};
    sw_map_print(&s->maps[i], s->n_loops, &text);
    sw_jw_text(o, NULL, &text);
  }
  sw_jw_end(o);
  if (s->n_linear) {
    sw_jw_row(o, "linear");
    for (int i = 0; i < s->n_linear; i++) write_linear(&s->linear[i], o);
    sw_jw_end(o);
  }
  if (s->flops_per_point != 1) sw_jw_f64(o, "flops_per_point", s->flops_per_point);
}
