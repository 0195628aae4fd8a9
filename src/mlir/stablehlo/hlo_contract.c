/* dot_general, gather and scatter, convolution: ops with dimension numbers. */
#include <string.h>

#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

/* --- dot_general ------------------------------------------------------------------------------------------------- */

/* `key = [0] x [1]` of the custom form, or two entries of #stablehlo.dot<...>. */
static sw_rc dot_lists(sw_importer *m, uint32_t op, const char *key, const char *const generic[2],
                       const sw_attr_key to[2], sw_im_attrs *a) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span numbers = sw_ir_attr(m->t, o, "dot_dimension_numbers", NULL), list[2] = {{0, 0}, {0, 0}};
  if (sw_ir_present(numbers)) {
    sw_ir_span in = sw_ir_inside(m->t, numbers);
    for (int i = 0; i < 2; i++) list[i] = sw_ir_entry(m->t, in, generic[i]);
  } else {
    list[0] = sw_ir_clause(m->t, o, key);
    uint32_t at = sw_ir_present(list[0]) ? sw_ir_blanks(m->t->s, list[0].end) : 0;
    if (at && m->t->s[at] == 'x') {
      sw_ir_span rest = {sw_ir_blanks(m->t->s, at + 1), o->body.end};
      sw_ir_span in = sw_ir_inside(m->t, rest);
      list[1] = (sw_ir_span){in.at - 1, in.end + 1};
    }
  }
  for (int i = 0; i < 2; i++) SW_TRY(sw_im_ints_or_none(m, a, to[i], list[i]));
  return SW_OK;
}

/* One word for each operand, of which the more precise counts. */
static void read_precision(sw_importer *m, uint32_t op, sw_im_attrs *a) {
  const sw_ir_span words = sw_ir_inside(m->t, sw_ir_attr(m->t, sw_im_op(m, op), "precision_config", "precision"));
  uint32_t cursor = words.at;
  sw_ir_span word;
  sw_precision most = SW_PRECISION_DEFAULT, one;
  while (sw_ir_next_item(m->t, words, &cursor, &word))
    if (sw_precision_parse(sw_im_small_word(m, word), &one) && one < most) most = one;
  if (most != SW_PRECISION_DEFAULT) sw_im_text(a, SW_ATTR_PRECISION, sw_precision_text(most));
}

/* Bools: is there a place where both are true? They are counted. */
static sw_rc contract_bools(sw_importer *m, uint32_t op, const sw_im_add *add) {
  sw_im_attrs a = *add->attrs;
  sw_id x[2], sum;
  for (int i = 0; i < a.n; i++) {
    if (a.at[i].key == SW_ATTR_DTYPE) a.at[i].u.i = SW_I32;
  }
  for (int i = 0; i < 2; i++) SW_TRY(sw_im_converted(m, op, add->operands[i], SW_I32, &x[i]));
  SW_TRY(sw_im_help(m, op, add->code, 2, x, &a, &sum));
  sw_im_attrs to = {.n = 0};
  sw_im_int(&to, SW_ATTR_DTYPE, SW_BOOL);
  return sw_im_emit_op(m, op, SW_OP_CONVERT, 1, &sum, &to);
}

static bool is_float8_element(sw_dtype t) { return sw_dtype_class_of(t) == SW_CLASS_FLOAT && sw_dtype_bits(t) == 8; }

/* Operands of two dtypes (weights in int8, say), or of one of another class (ui8 into i32), are taken in that of the
 * result; but for factors that are floats of 8 bits. */
static sw_rc contracted(sw_importer *m, uint32_t op, const sw_im_add *add, sw_dtype result) {
  sw_id x[2] = {add->operands[0], add->operands[1]};
  sw_dtype taken = sw_im_type(m, x[0])->dtype;
  const bool narrow =
      add->code == SW_OP_DOT && is_float8_element(taken) && is_float8_element(sw_im_type(m, x[1])->dtype);
  bool mixed = !narrow && taken != sw_im_type(m, x[1])->dtype;
  mixed = mixed || sw_dtype_class_of(taken) != sw_dtype_class_of(result);
  for (int i = 0; mixed && i < 2; i++) {
    if (sw_im_type(m, x[i])->dtype != result) SW_TRY(sw_im_converted(m, op, x[i], result, &x[i]));
  }
  sw_im_add alike = *add;
  alike.operands = x;
  if (result == SW_BOOL && sw_im_type(m, x[0])->dtype == SW_BOOL) return contract_bools(m, op, &alike);
  return sw_im_is_complex(m, x[0]) ? sw_im_by_parts(m, op, &alike) : sw_im_emit(m, op, &alike, NULL);
}

sw_rc sw_im_dot(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const char *const kBatch[2] = {"lhs_batching_dimensions", "rhs_batching_dimensions"};
  static const char *const kContract[2] = {"lhs_contracting_dimensions", "rhs_contracting_dimensions"};
  static const sw_attr_key kToBatch[2] = {SW_ATTR_LHS_BATCH, SW_ATTR_RHS_BATCH};
  static const sw_attr_key kToContract[2] = {SW_ATTR_LHS_CONTRACT, SW_ATTR_RHS_CONTRACT};
  SW_TRY(sw_im_operand_count(m, op, 2, 2));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  sw_im_attrs a = {.n = 0};
  sw_type t;
  int64_t last = m->g->values[x[0]].type.rank - 1, first = 0;
  if (strcmp(row->name, "dot") == 0) { /* the last dim of the left with the first of the right */
    sw_im_numbers(&a, SW_ATTR_LHS_CONTRACT, &last, 1);
    sw_im_numbers(&a, SW_ATTR_RHS_CONTRACT, &first, 1);
  } else {
    SW_TRY(dot_lists(m, op, "batching_dims", kBatch, kToBatch, &a));
    SW_TRY(dot_lists(m, op, "contracting_dims", kContract, kToContract, &a));
  }
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  read_precision(m, op, &a);
  sw_im_add add = {.code = row->code, .n_operands = 2, .operands = x, .attrs = &a};
  return contracted(m, op, &add, t.dtype);
}

/* --- gather and scatter ------------------------------------------------------------------------------------------ */

typedef struct numbers_row {
  const char *entry;
  sw_attr_key key;
} numbers_row;

/* Entries of #stablehlo.gather<...>; absent lists are empty. */
static sw_rc read_dimension_numbers(sw_importer *m, sw_ir_span numbers, const numbers_row *rows, size_t n,
                                    sw_im_attrs *a) {
  sw_ir_span in = sw_ir_inside(m->t, numbers);
  for (size_t i = 0; i < n; i++) SW_TRY(sw_im_ints_or_none(m, a, rows[i].key, sw_ir_entry(m->t, in, rows[i].entry)));
  int64_t dim = 0;
  SW_TRY(sw_im_whole(m, sw_ir_entry(m->t, in, "index_vector_dim"), "a whole number", "index_vector_dim", &dim));
  sw_im_int(a, SW_ATTR_INDEX_VECTOR_DIM, dim);
  return SW_OK;
}

/* dynamic_gather has the sizes of its windows as a third operand: they are those of the result, where they are kept. */
static sw_rc sizes_from_result(sw_importer *m, uint32_t op, sw_im_attrs *a) {
  int64_t *sizes;
  const int64_t *kept = NULL;
  sw_type said;
  int n = 0, next = 0, rank = m->g->values[sw_im_operand(m, op, 0)].type.rank;
  SW_TRY(sw_im_result_type(m, op, 0, &said));
  SW_ARENA_NEW(sizes, &m->scratch, rank, m->d);
  for (int k = 0; k < rank; k++) sizes[k] = 0;
  for (int i = 0; i < a->n; i++) {
    sw_attr_key key = a->at[i].key;
    if (key == SW_ATTR_OFFSET_DIMS) kept = a->at[i].u.ints.at, n = a->at[i].u.ints.n;
    bool drops = key == SW_ATTR_COLLAPSED_DIMS || key == SW_ATTR_OPERAND_BATCH;
    for (int k = 0; drops && k < a->at[i].u.ints.n; k++) {
      int64_t dim = a->at[i].u.ints.at[k];
      if (dim >= 0 && dim < rank) sizes[dim] = 1;
    }
  }
  for (int k = 0; k < rank; k++) {
    if (sizes[k]) continue;
    if (next == n || kept[next] < 0 || kept[next] >= said.rank || said.dims[kept[next]] < 0)
      return SW_IM_FAIL(m, op, "the result does not say the size of dim %d of the windows", k);
    sizes[k] = said.dims[kept[next++]];
  }
  sw_im_numbers(a, SW_ATTR_SIZES, sizes, rank);
  return SW_OK;
}

sw_rc sw_im_gather(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const numbers_row kRows[] = {{"offset_dims", SW_ATTR_OFFSET_DIMS},
                                      {"collapsed_slice_dims", SW_ATTR_COLLAPSED_DIMS},
                                      {"operand_batching_dims", SW_ATTR_OPERAND_BATCH},
                                      {"start_indices_batching_dims", SW_ATTR_INDICES_BATCH},
                                      {"start_index_map", SW_ATTR_START_INDEX_MAP}};
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n = row->most_operands == 2 ? 2 : 3;
  SW_TRY(sw_im_operand_count(m, op, n, n));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  sw_im_attrs a = {.n = 0};
  SW_TRY(read_dimension_numbers(m, sw_ir_attr(m->t, o, "dimension_numbers", NULL), kRows, sizeof kRows / sizeof *kRows,
                                &a));
  if (n == 2) SW_TRY(sw_im_ints(m, &a, SW_ATTR_SIZES, sw_ir_attr(m->t, o, "slice_sizes", NULL)));
  if (n == 3) SW_TRY(sizes_from_result(m, op, &a));
  return sw_im_emit_op(m, op, row->code, 2, x, &a);
}

/* Kinds that scatter itself has. */
static bool scatter_has_kind(const sw_importer *m, uint32_t op, sw_reduction kind) {
  if (sw_im_is_complex(m, sw_im_operand(m, op, 0))) return false;
  return kind == SW_REDUCE_SUM || kind == SW_REDUCE_PRODUCT || kind == SW_REDUCE_MIN || kind == SW_REDUCE_MAX;
}

static sw_rc scatter_by_region(sw_importer *m, uint32_t op, const sw_im_attrs *numbers) {
  int64_t unique = 0;
  bool done;
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "unique_indices", NULL);
  SW_TRY(sw_im_whole(m, v, "true or false", "unique_indices", &unique));
  SW_TRY(sw_im_scatter_by_region(m, op, numbers, unique != 0, &done));
  return done ? SW_OK : sw_im_opaque(m, op, "stablehlo.scatter (a region that cannot be written out)");
}

sw_rc sw_im_scatter(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const numbers_row kRows[] = {{"update_window_dims", SW_ATTR_UPDATE_WINDOW_DIMS},
                                      {"inserted_window_dims", SW_ATTR_INSERTED_DIMS},
                                      {"input_batching_dims", SW_ATTR_OPERAND_BATCH},
                                      {"scatter_indices_batching_dims", SW_ATTR_INDICES_BATCH},
                                      {"scatter_dims_to_operand_dims", SW_ATTR_START_INDEX_MAP}};
  const sw_ir_op *o = sw_im_op(m, op);
  sw_reduction kind = SW_REDUCE_SUM;
  bool replaces = sw_im_region_replaces(m, o->first_region);
  sw_im_attrs a = {.n = 0};
  sw_ir_span numbers = sw_ir_attr(m->t, o, "scatter_dimension_numbers", NULL);
  SW_TRY(sw_im_operand_count(m, op, 3, UINT32_MAX));
  SW_TRY(read_dimension_numbers(m, numbers, kRows, sizeof kRows / sizeof *kRows, &a));
  if (o->n_uses != 3 ||
      (!replaces && !(sw_im_region_kind(m, o->first_region, &kind) && scatter_has_kind(m, op, kind)))) {
    return scatter_by_region(m, op, &a);
  }
  sw_id x[3] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1), sw_im_operand(m, op, 2)};
  SW_TRY(sw_im_reduced_as(m, op, 0, &x[0]));
  SW_TRY(sw_im_reduced_as(m, op, 0, &x[2]));
  sw_im_text(&a, SW_ATTR_KIND, replaces ? "replace" : sw_reduction_text(kind));
  return sw_im_emit_op(m, op, row->code, 3, x, &a);
}

/* --- convolution ------------------------------------------------------------------------------------------------- */

/* [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] as "b01f", "01io", "b01f". */
static sw_rc read_layouts(sw_importer *m, uint32_t op, sw_im_attrs *a) {
  static const sw_attr_key kKeys[3] = {SW_ATTR_LHS_LAYOUT, SW_ATTR_RHS_LAYOUT, SW_ATTR_OUT_LAYOUT};
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span v = sw_ir_attr(m->t, o, "dimension_numbers", NULL);
  uint32_t at;
  if (sw_ir_present(v)) {
    at = sw_ir_inside(m->t, v).at;
  } else {
    v = sw_ir_clause(m->t, o, "dim_numbers");
    at = v.at;
    if (sw_ir_present(v)) v.end = o->body.end;
  }
  if (!sw_ir_present(v)) return SW_IM_FAIL(m, op, "the dimension numbers are missing");
  for (int i = 0; i < 3; i++) {
    char *text;
    int n = 0;
    SW_ARENA_NEW(text, &m->scratch, 2 * SW_MAX_RANK, m->d);
    while (at < v.end && m->t->s[at] != '[') at++;
    for (at++; at < v.end && m->t->s[at] != ']' && n < SW_MAX_RANK; at++) {
      if (sw_ir_is_name((unsigned char)m->t->s[at])) text[n++] = m->t->s[at];
    }
    sw_im_text(a, kKeys[i], text);
  }
  return SW_OK;
}

static sw_ir_span window_part(const sw_importer *m, uint32_t op, const char *generic, const char *custom) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span v = sw_ir_attr(m->t, o, generic, NULL);
  if (sw_ir_present(v) || o->generic) return v;
  return sw_ir_entry(m->t, sw_ir_clause(m->t, o, "window"), custom);
}

/* Low and high amounts in turn: in the text, or of a dynamic_conv those of its third operand. */
static sw_rc padding_pairs(sw_importer *m, uint32_t op, sw_ir_span v, const int64_t **pairs, int *n) {
  if (sw_im_op(m, op)->n_uses < 3) return sw_im_pairs(m, op, "padding", v, pairs, n);
  enum { MOST = 2 * SW_MAX_RANK };
  int64_t *found;
  sw_id third = sw_im_operand(m, op, 2);
  int64_t amounts = sw_type_elements(&m->g->values[third].type);
  *n = amounts > MOST ? MOST : (int)amounts;
  SW_ARENA_NEW(found, &m->scratch, MOST, m->d);
  *pairs = found;
  if (sw_im_constant_numbers(m, third, *n, found)) return SW_OK;
  return SW_IM_FAIL(m, op, "amounts of padding are no constants; planning needs them");
}

/* [[1, 2], [3, 4]] as low 1 3 and high 2 4. */
static sw_rc read_padding(sw_importer *m, uint32_t op, sw_im_attrs *a) {
  const int64_t *pairs;
  int n;
  SW_TRY(padding_pairs(m, op, window_part(m, op, "padding", "pad"), &pairs, &n));
  if (n <= 0) return SW_OK;
  int64_t *split;
  SW_ARENA_NEW(split, &m->scratch, n, m->d);
  for (int i = 0; i < n; i++) split[i % 2 ? n / 2 + i / 2 : i / 2] = pairs[i];
  sw_im_numbers(a, SW_ATTR_PAD_LOW, split, n / 2);
  sw_im_numbers(a, SW_ATTR_PAD_HIGH, split + n / 2, n / 2);
  return SW_OK;
}

/* window_reversal: the kernel is turned around first. */
static sw_rc reverse_kernel(sw_importer *m, uint32_t op, const char *layout, sw_id *kernel) {
  const int64_t *turned;
  int n, count = 0;
  int64_t *dims;
  SW_TRY(sw_im_list(m, window_part(m, op, "window_reversal", "reverse"), &turned, &n));
  SW_ARENA_NEW(dims, &m->scratch, SW_MAX_RANK, m->d);
  for (int i = 0; i < (int)strlen(layout); i++) {
    int spatial = layout[i] - '0';
    if (spatial >= 0 && spatial < n && turned[spatial]) dims[count++] = i;
  }
  if (!count) return SW_OK;
  sw_im_attrs a = {.n = 0};
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, count);
  sw_id x = *kernel;
  return sw_im_emit(m, op,
                    &(sw_im_add){.code = SW_OP_REVERSE, .n_operands = 1, .operands = &x, .attrs = &a, .part = "kernel"},
                    kernel);
}

sw_rc sw_im_convolution(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  static const struct {
    const char *name;
    sw_attr_key key;
  } kGroups[] = {{"feature_group_count", SW_ATTR_FEATURE_GROUPS}, {"batch_group_count", SW_ATTR_BATCH_GROUPS}};
  SW_TRY(sw_im_operand_count(m, op, (uint32_t)row->most_operands, (uint32_t)row->most_operands));
  sw_id x[2] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1)};
  sw_im_attrs a = {.n = 0};
  sw_type t;
  if (sw_im_type(m, x[0])->dtype != sw_im_type(m, x[1])->dtype)
    return SW_IM_FAIL(m, op, "the operands hold %s and %s; expected one type of elements",
                      sw_dtype_text(sw_im_type(m, x[0])->dtype), sw_dtype_text(sw_im_type(m, x[1])->dtype));
  SW_TRY(read_layouts(m, op, &a));
  SW_TRY(reverse_kernel(m, op, a.at[1].u.text, &x[1]));
  SW_TRY(sw_im_ints(m, &a, SW_ATTR_STRIDES, window_part(m, op, "window_strides", "stride")));
  SW_TRY(read_padding(m, op, &a));
  SW_TRY(sw_im_ints(m, &a, SW_ATTR_LHS_DILATION, window_part(m, op, "lhs_dilation", "lhs_dilate")));
  SW_TRY(sw_im_ints(m, &a, SW_ATTR_RHS_DILATION, window_part(m, op, "rhs_dilation", "rhs_dilate")));
  for (int i = 0; i < 2; i++) {
    int64_t groups = 1;
    sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), kGroups[i].name, NULL);
    SW_TRY(sw_im_whole(m, v, "a whole number", kGroups[i].name, &groups));
    if (sw_ir_present(v)) sw_im_int(&a, kGroups[i].key, groups);
  }
  SW_TRY(sw_im_result_type(m, op, 0, &t));
  sw_im_int(&a, SW_ATTR_DTYPE, t.dtype);
  read_precision(m, op, &a);
  sw_im_add add = {.code = row->code, .n_operands = 2, .operands = x, .attrs = &a};
  return contracted(m, op, &add, t.dtype);
}
