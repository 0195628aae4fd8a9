/* Numbers that the shard dialect gives of its grid: where a device stands, who is beside it, how large its block is.
 *
 *   %d, %u = shard.neighbors_linear_indices on @g[%i, %j] split_axes = [0]     of grid 2x4: %i*4+%j-4 or -1, ...+4 or
 * -1 %n = shard.shard_shape dims = [10] sharding = %s device = [%i, %j]         10/2, and one more at the end where odd
 */
#include <string.h>

#include "io/mlir/partitioned/partitioned.h"
#include "io/mlir/regions/lift.h"

sw_rc sw_im_read_mixed(sw_importer *m, uint32_t op, sw_ir_span v, uint32_t *use, sw_im_mixed *out) {
  const sw_ir_tree *t = m->t;
  sw_ir_span item;
  uint32_t cursor = 0;
  *out = (sw_im_mixed){.n = 0};
  if (!sw_ir_present(v)) return SW_OK;
  bool spelled = memchr(t->s + v.at, '%', sw_ir_len(v)) != NULL;
  sw_ir_ints all = {0};
  sw_rc rc = spelled ? SW_OK : sw_ir_read_ints(t, v, &all, m->d);
  while (!rc && (spelled ? sw_ir_next_item(t, v, &cursor, &item) : (size_t)out->n < all.n)) {
    int64_t number = spelled ? INT64_MIN : all.at[out->n];
    bool operand = spelled ? t->s[item.at] == '%' : number == INT64_MIN;
    bool fits = out->n < SW_IM_MIXED && (!operand || *use < sw_im_op(m, op)->n_uses);
    if (!fits || (spelled && !operand && !sw_ir_read_int(t, item, &number))) {
      rc = SW_IM_FAIL(m, op, "expected a list of at most %d numbers and operands", SW_IM_MIXED);
      break;
    }
    out->operand[out->n] = operand ? sw_im_operand(m, op, (*use)++) : -1;
    out->number[out->n++] = number;
  }
  sw_array_free(&all);
  return rc;
}

/* Item i as a value of the graph. */
static sw_rc value_of(sw_importer *m, uint32_t op, const sw_im_mixed *x, int i, sw_id *out) {
  *out = x->operand[i];
  return *out >= 0 ? SW_OK : sw_im_number(m, op, SW_I64, (double)x->number[i], 0, NULL, out);
}

/* x op a number. */
static sw_rc with_number(sw_importer *m, uint32_t op, sw_opcode code, sw_id x, int64_t number, sw_id *out) {
  sw_id y;
  SW_TRY(sw_im_number(m, op, sw_im_type(m, x)->dtype, (double)number, 0, NULL, &y));
  return sw_im_two(m, op, code, x, y, out);
}

/* The linear number of coordinates along these axes of the grid, major first. */
static sw_rc linear(sw_importer *m, uint32_t op, const sw_im_mixed *at, const int64_t *axes, size_t n, sw_id *out) {
  sw_id x;
  SW_TRY(value_of(m, op, at, (int)axes[0], out));
  for (size_t i = 1; i < n; i++) {
    SW_TRY(with_number(m, op, SW_OP_MULTIPLY, *out, m->cut->axes[axes[i]].size, out));
    SW_TRY(value_of(m, op, at, (int)axes[i], &x));
    SW_TRY(sw_im_two(m, op, SW_OP_ADD, *out, x, out));
  }
  return SW_OK;
}

static bool are_axes(const sw_importer *m, const sw_ir_ints *axes) {
  for (size_t i = 0; i < axes->n; i++) {
    if (axes->at[i] < 0 || axes->at[i] >= m->cut->n_axes) return false;
  }
  return axes->n > 0;
}

/* --- neighbours --------------------------------------------------------------------------------------------------- */

/* `all` moved by `by`, or -1 where the coordinate is `edge`. */
static sw_rc neighbour(sw_importer *m, uint32_t op, uint32_t result, sw_id all, int64_t by, sw_id coordinate,
                       int64_t edge) {
  sw_id end, at_edge, none, y;
  SW_TRY(with_number(m, op, SW_OP_ADD, all, by, &y));
  SW_TRY(sw_im_number(m, op, sw_im_type(m, coordinate)->dtype, (double)edge, 0, NULL, &end));
  SW_TRY(sw_im_compared(m, op, "eq", coordinate, end, &at_edge));
  SW_TRY(sw_im_number(m, op, sw_im_type(m, y)->dtype, -1, 0, NULL, &none));
  SW_TRY(sw_im_choose(m, op, at_edge, none, y, &y));
  return sw_im_bind(m, op, result, y, true);
}

static sw_rc add_neighbours(sw_importer *m, uint32_t op, const sw_im_mixed *at, const sw_ir_ints *axes) {
  const sw_im_cut_program *p = m->cut;
  int64_t all[SW_IM_GRID_AXES], step = 1;
  sw_id here, coordinate;
  if (at->n != p->n_axes || axes->n != 1 || !are_axes(m, axes) || sw_ir_result_count(m->t, sw_im_op(m, op)) != 2) {
    return SW_IM_FAIL(m, op, "expected a coordinate for each of %d axes, one of them to split, and two results",
                      p->n_axes);
  }
  for (int i = 0; i < p->n_axes; i++) all[i] = i;
  for (int i = (int)axes->at[0] + 1; i < p->n_axes; i++) step *= p->axes[i].size;
  SW_TRY(linear(m, op, at, all, (size_t)p->n_axes, &here));
  SW_TRY(value_of(m, op, at, (int)axes->at[0], &coordinate));
  SW_TRY(neighbour(m, op, 0, here, -step, coordinate, 0));
  return neighbour(m, op, 1, here, step, coordinate, p->axes[axes->at[0]].size - 1);
}

/* Coordinates stand in brackets behind the grid's name. */
static sw_ir_span coordinates(const sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t at = o->symbol.end;
  if (o->generic || at >= o->text.end || m->t->s[at] != '[') return (sw_ir_span){0, 0};
  sw_ir_span in = sw_ir_inside(m->t, (sw_ir_span){at, o->text.end});
  return (sw_ir_span){at, in.end + 1};
}

sw_rc sw_im_neighbours(sw_importer *m, uint32_t op) {
  sw_ir_ints axes = {0};
  sw_im_mixed at = {.n = 0};
  uint32_t use = 0;
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "split_axes", "split_axes");
  if (sw_im_op(m, op)->generic) {
    for (; use < sw_im_op(m, op)->n_uses && at.n < SW_IM_MIXED; use++) at.operand[at.n++] = sw_im_operand(m, op, use);
  } else {
    SW_TRY(sw_im_read_mixed(m, op, coordinates(m, op), &use, &at));
  }
  sw_rc rc = sw_ir_present(v) ? sw_ir_read_ints(m->t, v, &axes, m->d) : SW_OK;
  if (!rc) rc = add_neighbours(m, op, &at, &axes);
  sw_array_free(&axes);
  return rc;
}

/* --- sizes of blocks ---------------------------------------------------------------------------------------------- */

/* The op that gives operand `use`: a shard.sharding. */
static const sw_ir_op *sharding_of(const sw_importer *m, uint32_t op, uint32_t use) {
  uint32_t slot = m->names->use[sw_im_op(m, op)->first_use + use];
  for (uint32_t i = 0; i < op; i++) {
    const sw_ir_op *o = sw_im_op(m, i);
    if (sw_ir_is(m->t, o->name, "shard.sharding") && o->n_results == 1 && m->names->result[o->first_result] == slot) {
      return o;
    }
  }
  return NULL;
}

/* One of `axes` cuts the dim: offsets[first + i] is where part i begins, if offsets are said; otherwise parts are alike
 * but for the odd ones, which are the last. */
static sw_rc block_size(sw_importer *m, uint32_t op, sw_id dim, sw_id part, int64_t parts, const sw_ir_ints *offsets,
                        size_t first, sw_id *out) {
  sw_id odd, from, more;
  if (!offsets->n) {
    SW_TRY(with_number(m, op, SW_OP_REMAINDER, dim, parts, &odd));
    SW_TRY(with_number(m, op, SW_OP_ADD, part, -parts, &from)); /* -1 for the last part */
    SW_TRY(sw_im_two(m, op, SW_OP_ADD, from, odd, &from));
    SW_TRY(with_number(m, op, SW_OP_DIVIDE, dim, parts, out));
    SW_TRY(sw_im_number(m, op, SW_I64, 0, 0, NULL, &odd));
    SW_TRY(sw_im_compared(m, op, "ge", from, odd, &more));
    SW_TRY(sw_im_converted(m, op, more, SW_I64, &more));
    return sw_im_two(m, op, SW_OP_ADD, *out, more, out);
  }
  if (first + (size_t)parts >= offsets->n) return SW_IM_FAIL(m, op, "the sharding has fewer offsets than parts");
  SW_TRY(sw_im_number(m, op, SW_I64, 0, 0, NULL, out));
  for (int64_t i = 0; i < parts; i++) {
    sw_id here, size;
    SW_TRY(sw_im_number(m, op, SW_I64, (double)i, 0, NULL, &here));
    SW_TRY(sw_im_compared(m, op, "eq", part, here, &here));
    int64_t n = offsets->at[first + (size_t)i + 1] - offsets->at[first + (size_t)i];
    SW_TRY(sw_im_number(m, op, SW_I64, (double)n, 0, NULL, &size));
    SW_TRY(sw_im_choose(m, op, here, size, *out, out));
  }
  return SW_OK;
}

static sw_rc cut_dim(sw_importer *m, uint32_t op, sw_ir_span said, const sw_im_mixed *at, const sw_ir_ints *offsets,
                     size_t *first, sw_id dim, sw_id *out) {
  sw_ir_ints axes = {0};
  sw_id part;
  int64_t parts = 1;
  *out = dim;
  sw_rc rc = sw_ir_read_ints(m->t, said, &axes, m->d);
  if (!rc && axes.n) {
    rc = are_axes(m, &axes) ? SW_OK : SW_IM_FAIL(m, op, "the sharding names an axis that the grid has not");
    for (size_t i = 0; i < axes.n && !rc; i++) parts *= m->cut->axes[axes.at[i]].size;
    if (!rc) rc = linear(m, op, at, axes.at, axes.n, &part);
    if (!rc) rc = block_size(m, op, dim, part, parts, offsets, *first, out);
    *first += (size_t)parts + 1;
  }
  sw_array_free(&axes);
  return rc;
}

static sw_rc cut_dims(sw_importer *m, uint32_t op, const sw_ir_op *sharding, const sw_im_mixed *dims,
                      const sw_im_mixed *at, const sw_ir_ints *offsets) {
  sw_ir_span split = sw_ir_resolved(m->t, sw_ir_attr(m->t, sharding, "split_axes", "split_axes")), item;
  uint32_t cursor = 0;
  size_t first = 0;
  if (sw_ir_len(split) && m->t->s[split.at] == '#') split = sw_ir_inside(m->t, split);
  for (int i = 0; i < dims->n; i++) {
    sw_id size;
    bool said = sw_ir_present(split) && sw_ir_next_item(m->t, split, &cursor, &item);
    SW_TRY(value_of(m, op, dims, i, &size));
    if (said) SW_TRY(cut_dim(m, op, item, at, offsets, &first, size, &size));
    SW_TRY(sw_im_bind(m, op, (uint32_t)i, size, true));
  }
  return SW_OK;
}

sw_rc sw_im_shard_shape(sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_mixed dims, at;
  uint32_t use = 0;
  sw_ir_ints offsets = {0};
  SW_TRY(sw_im_read_mixed(m, op, sw_ir_attr(m->t, o, "dims", "dims"), &use, &dims));
  const sw_ir_op *sharding = use < o->n_uses ? sharding_of(m, op, use++) : NULL;
  SW_TRY(sw_im_read_mixed(m, op, sw_ir_attr(m->t, o, "device", "device"), &use, &at));
  if (!sharding || at.n != m->cut->n_axes || (uint32_t)dims.n != sw_ir_result_count(m->t, o)) {
    return SW_IM_FAIL(m, op, "expected a result for each dim, a shard.sharding and %d coordinates", m->cut->n_axes);
  }
  sw_ir_span v = sw_ir_attr(m->t, sharding, "static_sharded_dims_offsets", "sharded_dims_offsets");
  sw_rc rc = sw_ir_present(v) ? sw_ir_read_ints(m->t, v, &offsets, m->d) : SW_OK;
  if (!rc) rc = cut_dims(m, op, sharding, &dims, &at, &offsets);
  sw_array_free(&offsets);
  return rc;
}
