/* gather and scatter whose operand is cut where indices point: a device finds by them what is in its part.
 *
 * Indices lose what stands before the part. Of a scatter those that are then outside are left out, as the op says. A
 * gather would take the nearest: what it takes for them becomes 0, and the sum over devices is what is looked for.
 */
#include <string.h>

#include "io/mlir/opt/local.h"

/* The op at hand, and its indices. */
typedef struct pick {
  sw_local *l;
  uint32_t op, operand, indices;
  sw_tensor_text type, whole, part; /* of the indices; of the operand */
  int along;                        /* the dimension of the vector of indices; -1: they are single numbers */
  int n;
  int dim[SW_MAX_RANK]; /* by component: of the operand */
  bool shifted[SW_MAX_RANK];
} pick;

static sw_rc read_list(pick *p, sw_ir_span numbers, const char *key, sw_ir_ints *out) {
  const sw_ir_span v = sw_ir_entry(p->l->t, sw_ir_inside(p->l->t, numbers), key);
  return sw_ir_present(v) ? sw_ir_read_ints(p->l->t, v, out, p->l->d) : SW_OK;
}

static sw_rc read_map(pick *p, sw_ir_span numbers, const char *map) {
  sw_ir_ints dims = {0};
  int64_t along = p->type.rank;
  (void)sw_ir_read_int(p->l->t, sw_ir_entry(p->l->t, sw_ir_inside(p->l->t, numbers), "index_vector_dim"), &along);
  p->along = along < p->type.rank ? (int)along : -1;
  sw_rc rc = read_list(p, numbers, map, &dims);
  bool fits = dims.n <= SW_MAX_RANK && (p->along >= 0 ? (int64_t)dims.n == p->type.dims[p->along] : dims.n == 1);
  for (size_t i = 0; !rc && i < dims.n && fits; i++) {
    fits = dims.at[i] >= 0 && dims.at[i] < p->whole.rank;
    p->dim[p->n++] = (int)dims.at[i];
  }
  sw_array_free(&dims);
  return rc || fits ? rc : SW_LOCAL_FAIL(p->l, p->op, "indices are not as many as %s says", map);
}

/* Numbers, one for each component, as a tensor like the indices. */
static const char *spread(pick *p, const int64_t *numbers) {
  const char *name = sw_local_begin(p->l, NULL);
  sw_text_puts(&p->l->lines, "stablehlo.constant dense<");
  for (int i = 0; i < p->n; i++)
    sw_text_printf(&p->l->lines, "%s%lld", i ? ", " : p->along >= 0 ? "[" : "", (long long)numbers[i]);
  if (p->along >= 0)
    sw_text_printf(&p->l->lines, "]> : tensor<%dxi64>\n", p->n);
  else
    sw_text_puts(&p->l->lines, "> : tensor<i64>\n");
  return sw_local_spread(p->l, name, &p->type, p->along);
}

/* Where this device's part begins, likewise. */
static const char *starts(pick *p) {
  const sw_open_sharding *s = sw_local_sharding(p->l, p->operand);
  const char *name[SW_MAX_RANK] = {NULL};
  for (int i = 0; i < p->n; i++) {
    int n = 0;
    const sw_axis_ref *axes = sw_local_axes(p->l, p->operand, p->dim[i], &n);
    const char *start = NULL;
    if (p->shifted[i]) start = sw_local_offset(p->l, sw_local_mesh(p->l, s), axes, n, p->part.dims[p->dim[i]]);
    if (p->shifted[i] && p->n == 1) return sw_local_spread(p->l, start, &p->type, -1);
    name[i] = sw_local_begin(p->l, NULL);
    if (start)
      sw_text_printf(&p->l->lines, "stablehlo.reshape %s : (tensor<i64>) -> tensor<1xi64>\n", start);
    else
      sw_text_puts(&p->l->lines, "stablehlo.constant dense<0> : tensor<1xi64>\n");
  }
  const char *all = sw_local_begin(p->l, NULL);
  sw_text_puts(&p->l->lines, "stablehlo.concatenate ");
  for (int i = 0; i < p->n; i++) sw_text_printf(&p->l->lines, "%s%s", i ? ", " : "", name[i]);
  sw_text_puts(&p->l->lines, ", dim = 0 : (");
  for (int i = 0; i < p->n; i++) sw_text_printf(&p->l->lines, "%stensor<1xi64>", i ? ", " : "");
  sw_text_printf(&p->l->lines, ") -> tensor<%dxi64>\n", p->n);
  return sw_local_spread(p->l, all, &p->type, p->along);
}

/* `name = stablehlo.compare HOW, a, b`, as a tensor of i1. */
static const char *compare(pick *p, const char *how, const char *a, const char *b, const sw_tensor_text *bools) {
  const char *name = sw_local_begin(p->l, NULL);
  sw_text_printf(&p->l->lines, "stablehlo.compare %s, %s, %s : (", how, a, b);
  sw_local_put_type(p->l, &p->type);
  sw_text_puts(&p->l->lines, ", ");
  sw_local_put_type(p->l, &p->type);
  sw_text_puts(&p->l->lines, ") -> ");
  sw_local_put_type(p->l, bools);
  sw_local_end(p->l);
  return name;
}

static sw_tensor_text as_bools(const sw_tensor_text *t) {
  sw_tensor_text out = *t;
  out.element = "i1", out.n_element = 2;
  return out;
}

/* Do all components of an index point into the part? A bool for each index. */
static const char *all_inside(pick *p, const char *x, const char *zero, sw_tensor_text *bools) {
  int64_t limit[SW_MAX_RANK];
  for (int i = 0; i < p->n; i++) limit[i] = p->shifted[i] ? p->part.dims[p->dim[i]] : p->whole.dims[p->dim[i]];
  sw_tensor_text each = as_bools(&p->type);
  const char *not_before = compare(p, "GE", x, zero, &each), *not_behind = compare(p, "LT", x, spread(p, limit), &each);
  const char *inside = sw_local_binary(p->l, "and", not_before, not_behind, &each, NULL);
  *bools = each;
  if (p->along < 0) return inside;
  for (int k = p->along; k + 1 < bools->rank; k++) bools->dims[k] = bools->dims[k + 1];
  bools->rank--;
  const char *yes = sw_local_begin(p->l, NULL);
  sw_text_puts(&p->l->lines, "stablehlo.constant dense<true> : tensor<i1>\n");
  const char *all = sw_local_begin(p->l, NULL);
  sw_text_printf(&p->l->lines, "stablehlo.reduce(%s init: %s) applies stablehlo.and across dimensions = [%d] : (",
                 inside, yes, p->along);
  sw_local_put_type(p->l, &each);
  sw_text_puts(&p->l->lines, ", tensor<i1>) -> ");
  sw_local_put_type(p->l, bools);
  sw_local_end(p->l);
  return all;
}

/* Indices as the whole op takes them: the nearest that there is. */
static const char *clamped(pick *p, const char *x, const sw_ir_ints *sizes, const char **zero) {
  int64_t last[SW_MAX_RANK], none[SW_MAX_RANK] = {0};
  for (int i = 0; i < p->n; i++) last[i] = p->whole.dims[p->dim[i]] - sizes->at[p->dim[i]];
  *zero = spread(p, none);
  x = sw_local_binary(p->l, "minimum", x, spread(p, last), &p->type, NULL);
  return sw_local_binary(p->l, "maximum", x, *zero, &p->type, NULL);
}

static sw_rc open_pick(sw_local *l, uint32_t op, pick *p) {
  const sw_ir_op *o = &l->t->ops.at[op];
  *p = (pick){.l = l, .op = op};
  p->operand = sw_ir_operand_value(&l->w->values, o, 0);
  p->indices = sw_ir_operand_value(&l->w->values, o, 1);
  p->whole = sw_local_whole(l, p->operand);
  SW_TRY(sw_local_part(l, p->operand, &p->part));
  return sw_local_part(l, p->indices, &p->type);
}

static bool any_shifted(const pick *p) {
  bool any = false;
  for (int i = 0; i < p->n; i++) any = any || p->shifted[i];
  return any;
}

/* --- gather ------------------------------------------------------------------------------------------------------- */

/* What is not in the part becomes 0. */
static sw_rc mask(pick *p, sw_ir_span numbers, const char *inside, const sw_tensor_text *bools) {
  const sw_ir_op *o = &p->l->t->ops.at[p->op];
  const uint32_t value = sw_ir_result_value(&p->l->w->values, p->l->t, o, 0);
  const int64_t none = 0;
  sw_tensor_text y, wide;
  sw_ir_ints window = {0};
  if (value == SW_IR_NONE) return SW_OK;
  SW_TRY(sw_local_part(p->l, value, &y));
  SW_TRY(read_list(p, numbers, "offset_dims", &window));
  wide = as_bools(&y);
  const char *all = sw_local_begin(p->l, NULL), *between = "";
  sw_text_printf(&p->l->lines, "stablehlo.broadcast_in_dim %s, dims = [", inside);
  for (int k = 0; k < y.rank; k++) {
    bool of_window = false;
    for (size_t i = 0; i < window.n; i++) of_window = of_window || window.at[i] == k;
    if (of_window) continue;
    sw_text_printf(&p->l->lines, "%s%d", between, k);
    between = ", ";
  }
  sw_array_free(&window);
  sw_text_puts(&p->l->lines, "] : (");
  sw_local_put_type(p->l, bools);
  sw_text_puts(&p->l->lines, ") -> ");
  sw_local_put_type(p->l, &wide);
  sw_local_end(p->l);
  const char *zero = sw_local_begin(p->l, NULL);
  sw_text_printf(&p->l->lines, "stablehlo.constant dense<%lld> : tensor<i64>\n", (long long)none);
  zero = sw_local_spread(p->l, zero, &y, -1);
  const char *name = sw_local_begin(p->l, NULL);
  sw_text_printf(&p->l->lines, "stablehlo.select %s, %s, %s : ", all, sw_opt_text_of_uses(p->l->w, value), zero);
  sw_local_put_type(p->l, &wide);
  sw_text_puts(&p->l->lines, ", ");
  sw_local_put_type(p->l, &y);
  sw_local_end(p->l);
  SW_TRY(sw_local_put_behind(p->l, p->op));
  sw_opt_replace(p->l->w, value, name);
  return name ? SW_OK : SW_E_RESOURCE;
}

static sw_rc shift_gather(pick *p, sw_ir_span numbers, const sw_ir_ints *sizes) {
  const sw_ir_op *o = &p->l->t->ops.at[p->op];
  for (int i = 0; i < p->n; i++) {
    int n;
    (void)sw_local_axes(p->l, p->operand, p->dim[i], &n);
    const int64_t size = sizes->at[p->dim[i]];
    p->shifted[i] = n > 0 && size != p->whole.dims[p->dim[i]];
    if (p->shifted[i] && size != 1)
      return SW_LOCAL_FAIL(p->l, p->op, "'stablehlo.gather' takes %lld elements along dimension %d, which is cut",
                           (long long)size, p->dim[i]);
  }
  if (!any_shifted(p)) return SW_OK;
  const char *zero;
  sw_tensor_text bools;
  const char *x = clamped(p, sw_opt_text_of_uses(p->l->w, p->indices), sizes, &zero);
  x = sw_local_binary(p->l, "subtract", x, starts(p), &p->type, NULL);
  const char *inside = all_inside(p, x, zero, &bools);
  SW_TRY(sw_local_put_before(p->l, p->op));
  SW_TRY(sw_opt_replace_use(p->l->w, o->first_use + 1, x));
  SW_TRY(sw_local_begin_lines(p->l, p->op));
  return mask(p, numbers, inside, &bools);
}

sw_rc sw_local_gather(sw_local *l, uint32_t op, bool *kept) {
  const sw_ir_op *o = &l->t->ops.at[op];
  const sw_ir_span numbers = sw_ir_attr(l->t, o, "dimension_numbers", NULL),
                   list = sw_ir_attr(l->t, o, "slice_sizes", NULL);
  pick p;
  sw_ir_ints sizes = {0};
  *kept = true;
  SW_TRY(open_pick(l, op, &p));
  SW_TRY(read_map(&p, numbers, "start_index_map"));
  SW_TRY(sw_local_cut_sizes(l, op, "slice_sizes", NULL));
  sw_rc rc = sw_ir_read_ints(l->t, list, &sizes, l->d);
  if (!rc && sizes.n != (size_t)p.whole.rank)
    rc = SW_LOCAL_FAIL(l, op, "there are %zu slice_sizes; expected %d", sizes.n, p.whole.rank);
  if (!rc) rc = shift_gather(&p, numbers, &sizes);
  sw_array_free(&sizes);
  return rc;
}

/* --- scatter ------------------------------------------------------------------------------------------------------ */

/* Axes along which devices have different updates of the same part. */
static int update_axes(const pick *p, uint32_t updates, sw_axis_ref *out) {
  const sw_open_sharding *of = sw_local_sharding(p->l, updates), *to = sw_local_sharding(p->l, p->operand);
  int n = 0;
  for (int i = 0; of && i < of->cut.n_refs; i++) {
    bool shared = false;
    for (int k = 0; to && k < to->cut.n_refs; k++)
      shared = shared || sw_axis_ref_overlaps(of->cut.refs[i], to->cut.refs[k]);
    if (!shared) out[n++] = of->cut.refs[i];
  }
  return n;
}

/* Then what is written into counts on one device alone, and is 0 on the others. */
static sw_rc begin_once(pick *p) {
  const sw_ir_op *o = &p->l->t->ops.at[p->op];
  const uint32_t updates = sw_ir_operand_value(&p->l->w->values, o, 2),
                 value = sw_ir_result_value(&p->l->w->values, p->l->t, o, 0);
  const sw_open_sharding *s = sw_local_sharding(p->l, updates);
  sw_axis_ref axes[SW_MAX_REFS];
  const int n = update_axes(p, updates, axes);
  if (!n) return SW_OK;
  const char *how = sw_local_combiner(p->l, value);
  if (how && (strcmp(how, "maximum") == 0 || strcmp(how, "minimum") == 0)) return SW_OK; /* once more changes nothing */
  if (!how || strcmp(how, "add") != 0)
    return SW_LOCAL_FAIL(p->l, p->op,
                         "'stablehlo.scatter' of updates that are cut; expected one that adds, or takes the "
                         "maximum or minimum");
  const char *none, *first = sw_local_is_first(p->l, sw_local_mesh(p->l, s), axes, n, &p->part, &none);
  const char *x = sw_local_begin(p->l, NULL);
  sw_text_printf(&p->l->lines, "stablehlo.select %s, %s, %s : tensor<i1>, ", first,
                 sw_opt_text_of_uses(p->l->w, p->operand), none);
  sw_local_put_type(p->l, &p->part);
  sw_local_end(p->l);
  return x ? sw_opt_replace_use(p->l->w, o->first_use, x) : SW_E_RESOURCE;
}

static sw_rc read_scatter(pick *p) {
  const sw_ir_span numbers = sw_ir_attr(p->l->t, &p->l->t->ops.at[p->op], "scatter_dimension_numbers", NULL);
  sw_ir_ints single = {0};
  SW_TRY(read_map(p, numbers, "scatter_dims_to_operand_dims"));
  sw_rc rc = read_list(p, numbers, "inserted_window_dims", &single);
  for (int i = 0; i < p->n && !rc; i++) {
    int n;
    (void)sw_local_axes(p->l, p->operand, p->dim[i], &n);
    bool is_single = false;
    for (size_t k = 0; k < single.n; k++) is_single = is_single || single.at[k] == p->dim[i];
    p->shifted[i] = n > 0;
    if (n && !is_single)
      rc = SW_LOCAL_FAIL(p->l, p->op, "'stablehlo.scatter' writes several elements along a dimension that is cut");
  }
  sw_array_free(&single);
  return rc;
}

sw_rc sw_local_scatter(sw_local *l, uint32_t op, bool *kept) {
  pick p;
  *kept = true;
  if (l->t->ops.at[op].n_uses != 3)
    return SW_LOCAL_FAIL(l, op, "'stablehlo.scatter' into several tensors that are cut; expected one");
  SW_TRY(open_pick(l, op, &p));
  SW_TRY(read_scatter(&p));
  SW_TRY(begin_once(&p));
  if (any_shifted(&p)) {
    const char *x = sw_local_binary(l, "subtract", sw_opt_text_of_uses(l->w, p.indices), starts(&p), &p.type, NULL);
    SW_TRY(sw_opt_replace_use(l->w, l->t->ops.at[op].first_use + 1, x));
  }
  return l->lines.n ? sw_local_put_before(l, op) : SW_OK;
}
