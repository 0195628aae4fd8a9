/* reduce and reduce_window: which reduction a region computes, and initial values that are not its neutral element.
 *
 *   reduce(%x init: %i) applies add across dimensions = [1]    becomes  reduce(x) {sum, dims=[1]}
 *   ... where %i is not 0                                       and then  add(that, broadcast(i))
 */
#include <string.h>

#include "mlir/stablehlo/cases.h"
#include "mlir/stablehlo/vectorize.h"
#include "mlir/stablehlo/stablehlo.h"

/* `applies stablehlo.add`, or the region. */
static bool find_reduction_kind(const sw_importer *m, uint32_t op, sw_dtype t, sw_reduction *out) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span name;
  if (o->first_region != SW_IR_NONE) return sw_im_region_kind(m, o->first_region, out);
  return sw_im_applied(m, o, &name) && sw_im_word_kind(m, name, t, out);
}

/* --- reduce ------------------------------------------------------------------------------------------------------ */

/* The op `add`, then (where `init` is not neutral) its result combined with init. */
static sw_rc emit_with_init(sw_importer *m, uint32_t op, sw_im_add *add, sw_id init, sw_reduction kind) {
  if (sw_ir_is_neutral(m->g, init, kind)) return sw_im_emit(m, op, add, NULL);
  sw_id part[2];
  add->part = "reduced";
  SW_TRY(sw_im_emit(m, op, add, &part[0]));
  sw_type t = m->g->values[part[0]].type;
  sw_im_attrs a = {.n = 0};
  sw_im_shape(&a, &t);
  sw_im_numbers(&a, SW_ATTR_DIMS, NULL, 0);
  SW_TRY(sw_im_emit(
      m, op, &(sw_im_add){.code = SW_OP_BROADCAST, .n_operands = 1, .operands = &init, .attrs = &a, .part = "init"},
      &part[1]));
  return sw_im_emit_op(m, op, sw_im_combiner(kind), 2, part, NULL);
}

/* Complex numbers are added up part by part. */
static bool sums_parts(const sw_importer *m, sw_id init, sw_reduction kind) {
  return kind == SW_REDUCE_SUM && sw_ir_is_neutral(m->g, init, kind);
}

sw_rc sw_im_reduce(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_reduction kind;
  bool done;
  SW_TRY(sw_im_operand_count(m, op, 2, UINT32_MAX));
  SW_TRY(sw_im_arg_reduce(m, op, &done));
  if (done) return SW_OK;
  sw_id x = sw_im_operand(m, op, 0), init = sw_im_operand(m, op, 1);
  const int64_t *dims = NULL;
  int n_dims;
  SW_TRY(sw_im_list(m, sw_ir_attr(m->t, o, "dimensions", "dimensions"), &dims, &n_dims));
  if (o->n_uses == 2) {
    SW_TRY(sw_im_reduced_as(m, op, 0, &x));
    SW_TRY(sw_im_reduced_as(m, op, 0, &init));
  }
  bool known = o->n_uses == 2 && find_reduction_kind(m, op, m->g->values[init].type.dtype, &kind);
  if (!known || (sw_im_is_complex(m, init) && !sums_parts(m, init, kind))) {
    SW_TRY(sw_im_reduce_by_region(m, op, dims, n_dims, &done));
    return done ? SW_OK : sw_im_opaque(m, op, "stablehlo.reduce (a region that cannot be written out)");
  }
  sw_im_attrs a = {.n = 0};
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(kind));
  sw_im_numbers(&a, SW_ATTR_DIMS, dims, n_dims);
  if (a.n == 2 && a.at[1].u.ints.n == 0 && sw_ir_is_neutral(m->g, init, kind)) return sw_im_bind(m, op, 0, x, false);
  sw_im_add add = {.code = row->code, .n_operands = 1, .operands = &x, .attrs = &a};
  return sw_im_is_complex(m, x) ? sw_im_by_parts(m, op, &add) : emit_with_init(m, op, &add, init, kind);
}

/* --- reduce_window ----------------------------------------------------------------------------------------------- */

/* The lists of a window as the text has them: what each is in the graph, how many numbers of a dim, and which when it
 * is absent. */
enum { SIZES, STRIDES, BASE, HOLES, PADDING, N_LISTS };
static const struct {
  const char *name;
  sw_attr_key key;
  int each, absent;
} kLists[N_LISTS] = {{"window_dimensions", SW_ATTR_WINDOW, 1, 1},
                     {"window_strides", SW_ATTR_STRIDES, 1, 1},
                     {"base_dilations", SW_ATTR_LHS_DILATION, 1, 1},
                     {"window_dilations", SW_ATTR_RHS_DILATION, 1, 1},
                     {"padding", SW_ATTR_PAD_LOW, 2, 0}};

typedef struct window {
  const int64_t *at[N_LISTS];
  int n[N_LISTS]; /* -1: absent */
} window;

static sw_rc read_window(sw_importer *m, uint32_t op, window *w) {
  for (int i = 0; i < N_LISTS; i++) {
    sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), kLists[i].name, NULL);
    SW_TRY(i == PADDING ? sw_im_pairs(m, op, kLists[i].name, v, &w->at[i], &w->n[i])
                        : sw_im_list(m, v, &w->at[i], &w->n[i]));
  }
  return SW_OK;
}

static bool all_ones(const window *w, int list) {
  for (int i = 0; i < w->n[list]; i++) {
    if (w->at[list][i] != 1) return false;
  }
  return true;
}

/* A window over everything before (or behind) each element is a running reduction: its dim; -1 when it is not one. */
static int running_dim(const window *w, const sw_type *x, bool *reversed) {
  int dim = -1, n = w->n[SIZES];
  if (n != x->rank || w->n[PADDING] != 2 * n) return -1;
  for (int i = 0; i < n; i++) {
    const int64_t *pad = &w->at[PADDING][2 * (int64_t)i];
    int64_t size = w->at[SIZES][i], low = pad[0], high = pad[1];
    if (size == 1 && !low && !high) continue;
    bool forward = low == x->dims[i] - 1 && !high, backward = !low && high == x->dims[i] - 1;
    if (dim >= 0 || size != x->dims[i] || (!forward && !backward)) return -1;
    dim = i;
    *reversed = backward;
  }
  return all_ones(w, STRIDES) && all_ones(w, BASE) && all_ones(w, HOLES) ? dim : -1;
}

static sw_rc window_attrs(sw_importer *m, const window *w, sw_im_attrs *a) {
  int n = w->n[SIZES];
  for (int i = 0; i < PADDING; i++) sw_im_numbers(a, kLists[i].key, w->at[i], w->n[i]);
  if (n < 0 || w->n[PADDING] != 2 * n) return SW_OK;
  int64_t *split;
  SW_ARENA_NEW(split, &m->scratch, 2 * n, m->d);
  for (int i = 0; i < 2 * n; i++) split[i % 2 ? n + i / 2 : i / 2] = w->at[PADDING][i];
  sw_im_numbers(a, SW_ATTR_PAD_LOW, split, n);
  sw_im_numbers(a, SW_ATTR_PAD_HIGH, split + n, n);
  return SW_OK;
}

/* The window with all its lists. */
static sw_rc fill_window(sw_importer *m, uint32_t op, const window *w, sw_im_window *full) {
  int n = w->n[SIZES];
  int64_t *const to[N_LISTS] = {full->sizes, full->strides, full->base, full->holes, full->padding};
  if (n < 0 || n > SW_MAX_RANK) return SW_IM_FAIL(m, op, "attribute 'window_dimensions' is missing");
  full->n = n;
  for (int i = 0; i < N_LISTS; i++) {
    int want = n * kLists[i].each;
    if (w->n[i] >= 0 && w->n[i] != want)
      return SW_IM_FAIL(m, op, "a list of the window has %d numbers; expected %d", w->n[i], want);
    for (int k = 0; k < want; k++) to[i][k] = w->n[i] < 0 ? kLists[i].absent : w->at[i][k];
  }
  for (int i = 0; i < n; i++) {
    if (full->sizes[i] < 1 || full->strides[i] < 1 || full->base[i] < 1 || full->holes[i] < 1) {
      return SW_IM_FAIL(m, op, "dim %d of the window has a size, stride or dilation below 1", i);
    }
  }
  return SW_OK;
}

/* By what writes out regions; opaque where it cannot. */
static sw_rc by_regions(sw_importer *m, uint32_t op, const window *w,
                        sw_rc (*write_out)(sw_importer *, uint32_t, const sw_im_window *, bool *), const char *what) {
  sw_im_window full;
  bool done;
  SW_TRY(fill_window(m, op, w, &full));
  SW_TRY(write_out(m, op, &full, &done));
  return done ? SW_OK : sw_im_opaque(m, op, what);
}

/* Combining the initial value once more changes nothing: it may be combined behind. */
static bool is_idempotent(sw_reduction kind) {
  return kind != SW_REDUCE_SUM && kind != SW_REDUCE_PRODUCT && kind != SW_REDUCE_BIT_XOR;
}

sw_rc sw_im_reduce_window(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_reduction kind = SW_REDUCE_SUM;
  window w;
  bool reversed = false;
  SW_TRY(sw_im_operand_count(m, op, 2, UINT32_MAX));
  sw_id x = sw_im_operand(m, op, 0), init = sw_im_operand(m, op, 1);
  SW_TRY(read_window(m, op, &w));
  bool known = o->n_uses == 2 && sw_im_region_kind(m, o->first_region, &kind) && !sw_im_is_complex(m, x);
  if (!known || (!sw_ir_is_neutral(m->g, init, kind) && !is_idempotent(kind)))
    return by_regions(m, op, &w, sw_im_window_by_region,
                      "stablehlo.reduce_window (a region that cannot be written out)");
  SW_TRY(sw_im_reduced_as(m, op, 0, &x));
  SW_TRY(sw_im_reduced_as(m, op, 0, &init));
  sw_im_attrs a = {.n = 0};
  sw_im_add add = {.code = row->code, .n_operands = 1, .operands = &x, .attrs = &a};
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(kind));
  int dim = running_dim(&w, &m->g->values[x].type, &reversed);
  if (dim >= 0) {
    add.code = SW_OP_CUMULATIVE;
    sw_im_int(&a, SW_ATTR_DIM, dim);
    sw_im_int(&a, SW_ATTR_REVERSED, reversed);
  } else {
    SW_TRY(window_attrs(m, &w, &a));
  }
  return emit_with_init(m, op, &add, init, kind);
}

sw_rc sw_im_select_and_scatter(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_reduction kind;
  window w;
  SW_TRY(sw_im_operand_count(m, op, 3, 3));
  sw_id x[3] = {sw_im_operand(m, op, 0), sw_im_operand(m, op, 1), sw_im_operand(m, op, 2)};
  const char *select;
  SW_TRY(sw_im_selects(m, o->first_region, &select));
  SW_TRY(read_window(m, op, &w));
  uint32_t scatter = o->first_region == SW_IR_NONE ? SW_IR_NONE : m->t->regions.at[o->first_region].next;
  bool known = select && !sw_im_is_complex(m, x[0]) && sw_im_region_kind(m, scatter, &kind);
  if (!known)
    return by_regions(m, op, &w, sw_im_pool_by_regions,
                      "stablehlo.select_and_scatter (regions that cannot be written out)");
  for (int i = 0; i < 3; i++) SW_TRY(sw_im_reduced_as(m, op, 0, &x[i]));
  sw_im_attrs a = {.n = 0};
  sw_im_text(&a, SW_ATTR_SELECT_BY, select);
  sw_im_text(&a, SW_ATTR_KIND, sw_reduction_text(kind));
  SW_TRY(window_attrs(m, &w, &a));
  return sw_im_emit_op(m, op, row->code, 3, x, &a);
}
