/* Numbers that the shard dialect gives of its grid: where a device stands, who is beside it, how large its block is.
 *
 *   %d, %u = shard.neighbors_linear_indices on @g[%i, %j] split_axes = [0]     of grid 2x4: %i*4+%j-4 or -1, ...+4 or
 * -1 %n = shard.shard_shape dims = [10] sharding = %s device = [%i, %j]         of 4 parts: 3, 3, 3, 1
 *
 * Sizes follow the rule that shardings have everywhere (sharding.h): blocks of ceil(K/N), the later ones short or
 * empty.
 */
#include <string.h>

#include "mlir/import/import_emit.h"
#include "mlir/shard/shard.h"

/* Item i as a value of the graph. */
static sw_rc mixed_item_value(sw_importer *m, uint32_t op, const sw_im_mixed *x, int i, sw_id *out) {
  if (x->operand[i] == SW_IM_OPEN) return SW_IM_FAIL(m, op, "number %d of a list is ?, and no operand gives it", i);
  if (x->operand[i] == SW_IM_NUMBER) return sw_im_number(m, op, SW_I64, (double)x->number[i], 0, NULL, out);
  return sw_im_converted(m, op, x->operand[i], SW_I64, out);
}

/* x op a number. */
static sw_rc emit_with_number(sw_importer *m, uint32_t op, sw_opcode code, sw_id x, int64_t number, sw_id *out) {
  sw_id y;
  SW_TRY(sw_im_number(m, op, sw_im_type(m, x)->dtype, (double)number, 0, NULL, &y));
  return sw_im_two(m, op, code, x, y, out);
}

/* The linear number of coordinates along these axes of the grid, major first. */
static sw_rc linear(sw_importer *m, uint32_t op, const sw_im_mixed *at, const int16_t *axes, int n, sw_id *out) {
  sw_id x;
  SW_TRY(mixed_item_value(m, op, at, axes[0], out));
  for (int i = 1; i < n; i++) {
    SW_TRY(emit_with_number(m, op, SW_OP_MULTIPLY, *out, m->cut->axes[axes[i]].size, out));
    SW_TRY(mixed_item_value(m, op, at, axes[i], &x));
    SW_TRY(sw_im_two(m, op, SW_OP_ADD, *out, x, out));
  }
  return SW_OK;
}

/* Coordinates that are known lie in the grid. */
static sw_rc check_coordinates(sw_importer *m, uint32_t op, const sw_im_mixed *at) {
  for (int i = 0; i < at->n && i < m->cut->n_axes; i++) {
    int64_t c, size = m->cut->axes[i].size;
    if (!sw_im_mixed_is_known(m, at, i, &c) || (c >= 0 && c < size)) continue;
    return SW_IM_FAIL(m, op, "coordinate %d of the device is %lld; expected 0 to %lld", i, (long long)c,
                      (long long)size - 1);
  }
  return SW_OK;
}

static int64_t parts_along(const sw_importer *m, const int16_t *axes, int n) {
  int64_t parts = 1;
  for (int i = 0; i < n; i++) parts *= m->cut->axes[axes[i]].size;
  return parts;
}

/* --- neighbours --------------------------------------------------------------------------------------------------- */

/* How far the devices of two coordinates that follow each other on an axis are apart. */
static int64_t device_stride_of(const sw_im_cut_program *p, int axis) {
  int64_t step = 1;
  for (int i = axis + 1; i < p->n_axes; i++) step *= p->axes[i].size;
  return step;
}

/* How far shard `part` along the axes is from the first one. */
static sw_rc distance(sw_importer *m, uint32_t op, sw_id part, const int16_t *axes, int n, sw_id *out) {
  int64_t minor = 1;
  sw_id one;
  SW_TRY(emit_with_number(m, op, SW_OP_MULTIPLY, part, 0, out));
  for (int i = n - 1; i >= 0; i--) {
    int64_t size = m->cut->axes[axes[i]].size;
    SW_TRY(emit_with_number(m, op, SW_OP_DIVIDE, part, minor, &one));
    SW_TRY(emit_with_number(m, op, SW_OP_REMAINDER, one, size, &one));
    SW_TRY(emit_with_number(m, op, SW_OP_MULTIPLY, one, device_stride_of(m->cut, axes[i]), &one));
    SW_TRY(sw_im_two(m, op, SW_OP_ADD, *out, one, out));
    minor *= size;
  }
  return SW_OK;
}

/* The device of the shard `by` (1 or -1) further, or -1 where there is none. */
static sw_rc neighbour(sw_importer *m, uint32_t op, uint32_t result, sw_id all, sw_id part, int64_t by,
                       const int16_t *axes, int n) {
  sw_id other, here, there, end, at_edge, none, y;
  int64_t edge = by < 0 ? 0 : parts_along(m, axes, n) - 1;
  SW_TRY(emit_with_number(m, op, SW_OP_ADD, part, by, &other));
  SW_TRY(distance(m, op, part, axes, n, &here));
  SW_TRY(distance(m, op, other, axes, n, &there));
  SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, all, here, &y));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, y, there, &y));
  SW_TRY(sw_im_number(m, op, SW_I64, (double)edge, 0, NULL, &end));
  SW_TRY(sw_im_compared(m, op, "eq", part, end, &at_edge));
  SW_TRY(sw_im_number(m, op, SW_I64, -1, 0, NULL, &none));
  SW_TRY(sw_im_choose(m, op, at_edge, none, y, &y));
  return sw_im_bind(m, op, result, y, true);
}

static sw_rc add_neighbours(sw_importer *m, uint32_t op, const sw_im_mixed *at, const sw_im_cuts *along) {
  const sw_im_cut_program *p = m->cut;
  int16_t all[SW_IM_GRID_AXES];
  sw_id here, part;
  if (at->n != p->n_axes || !along->n || sw_ir_result_count(m->t, sw_im_op(m, op)) != 2) {
    return SW_IM_FAIL(m, op, "expected a coordinate for each of %d axes, some of them to split, and two results",
                      p->n_axes);
  }
  SW_TRY(check_coordinates(m, op, at));
  for (int i = 0; i < p->n_axes; i++) all[i] = (int16_t)i;
  SW_TRY(linear(m, op, at, all, p->n_axes, &here));
  SW_TRY(linear(m, op, at, along->axis, along->n, &part));
  SW_TRY(neighbour(m, op, 0, here, part, -1, along->axis, along->n));
  return neighbour(m, op, 1, here, part, 1, along->axis, along->n);
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
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_cuts along;
  sw_im_mixed at = {.n = (int)o->n_uses};
  uint32_t use = 0;
  SW_TRY(sw_im_read_axes_cut(m, op, sw_ir_attr(m->t, o, "split_axes", "split_axes"), &along));
  if (!o->generic) {
    SW_TRY(sw_im_read_mixed(m, op, coordinates(m, op), &use, &at));
    return add_neighbours(m, op, &at, &along);
  }
  SW_ARENA_NEW_EACH(&m->scratch, o->n_uses, m->d, at.operand, at.number);
  for (; use < o->n_uses; use++) at.operand[use] = sw_im_operand(m, op, use);
  return add_neighbours(m, op, &at, &along);
}

/* --- sizes of blocks ---------------------------------------------------------------------------------------------- */

/* A dim that is cut: its size, in how many parts, and which one. */
typedef struct dim {
  int index; /* of the tensor's dims */
  sw_id size, part;
  int64_t parts;
} dim;

/* Blocks of ceil(K/N): from min(K, i*B) to min(K, (i+1)*B). */
static sw_rc even_block(sw_importer *m, uint32_t op, const dim *d, sw_id *out) {
  sw_id block, from, to;
  SW_TRY(emit_with_number(m, op, SW_OP_ADD, d->size, d->parts - 1, &block));
  SW_TRY(emit_with_number(m, op, SW_OP_DIVIDE, block, d->parts, &block));
  SW_TRY(sw_im_two(m, op, SW_OP_MULTIPLY, d->part, block, &from));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, from, block, &to));
  SW_TRY(sw_im_two(m, op, SW_OP_MINIMUM, from, d->size, &from));
  SW_TRY(sw_im_two(m, op, SW_OP_MINIMUM, to, d->size, &to));
  return sw_im_two(m, op, SW_OP_SUBTRACT, to, from, out);
}

/* offsets[first + i] is where part i begins. */
static sw_rc block_by_offsets(sw_importer *m, uint32_t op, const dim *d, const sw_im_mixed *offsets, int first,
                              sw_id *out) {
  sw_id from, to;
  SW_TRY(sw_im_number(m, op, SW_I64, 0, 0, NULL, out));
  SW_TRY(mixed_item_value(m, op, offsets, first, &from));
  for (int64_t i = 0; i < d->parts; i++, from = to) {
    sw_id here, size;
    SW_TRY(sw_im_number(m, op, SW_I64, (double)i, 0, NULL, &here));
    SW_TRY(sw_im_compared(m, op, "eq", d->part, here, &here));
    SW_TRY(mixed_item_value(m, op, offsets, first + (int)i + 1, &to));
    SW_TRY(sw_im_two(m, op, SW_OP_SUBTRACT, to, from, &size));
    SW_TRY(sw_im_choose(m, op, here, size, *out, out));
  }
  return SW_OK;
}

/* What is known of offsets: they begin at 0, do not decrease and end at the size. */
static sw_rc check_offsets(sw_importer *m, const sw_im_cuts *c, const dim *d, const sw_im_mixed *dims, int first) {
  int64_t last = 0, here, size;
  sw_span at = sw_ir_place(m->t, c->at);
  for (int64_t i = 0; i <= d->parts; i++) {
    if (!sw_im_mixed_is_known(m, &c->offsets, first + (int)i, &here)) continue;
    bool ends = i == d->parts && sw_im_mixed_is_known(m, dims, d->index, &size) && here != size;
    if (here < last || (i == 0 && here != 0) || ends) {
      return SW_FAIL_INPUT(m->d, at,
                           "offset %lld of dimension %d is %lld; expected 0 first, the size last, and no decrease",
                           (long long)i, d->index, (long long)here);
    }
    last = here;
  }
  return SW_OK;
}

/* How many numbers of the lists the dims before have used. */
typedef struct used {
  int offsets, halos;
} used;

static sw_rc find_block_of_dim(sw_importer *m, uint32_t op, const sw_im_cuts *c, const dim *d, const sw_im_mixed *dims,
                               used *at, sw_id *out) {
  sw_id low, high;
  bool fits = (!c->offsets.n || at->offsets + d->parts < c->offsets.n) && (!c->halos.n || at->halos + 1 < c->halos.n);
  if (!fits) {
    return SW_IM_FAIL_AT(m, c->at, "the sharding has fewer %s",
                         c->offsets.n ? "offsets than parts" : "halos than dims that are cut");
  }
  if (c->offsets.n) SW_TRY(check_offsets(m, c, d, dims, at->offsets));
  SW_TRY(c->offsets.n ? block_by_offsets(m, op, d, &c->offsets, at->offsets, out) : even_block(m, op, d, out));
  at->offsets += (int)d->parts + 1;
  if (!c->halos.n) return SW_OK;
  SW_TRY(mixed_item_value(m, op, &c->halos, at->halos++, &low));
  SW_TRY(mixed_item_value(m, op, &c->halos, at->halos++, &high));
  SW_TRY(sw_im_two(m, op, SW_OP_ADD, *out, low, out));
  return sw_im_two(m, op, SW_OP_ADD, *out, high, out);
}

static sw_rc bind_block_sizes(sw_importer *m, uint32_t op, const sw_im_cuts *c, const sw_im_mixed *dims,
                              const sw_im_mixed *at) {
  used so_far = {0, 0};
  for (int k = 0, next = 0; k < dims->n; k++) {
    dim d = {.index = k};
    int first = next;
    sw_id size;
    while (next < c->n && c->dim[next] == k) next++;
    SW_TRY(mixed_item_value(m, op, dims, k, &d.size));
    size = d.size;
    d.parts = parts_along(m, c->axis + first, next - first);
    if (next > first) {
      SW_TRY(linear(m, op, at, c->axis + first, next - first, &d.part));
      SW_TRY(find_block_of_dim(m, op, c, &d, dims, &so_far, &size));
    }
    SW_TRY(sw_im_bind(m, op, (uint32_t)k, size, true));
  }
  bool all = (!c->offsets.n || so_far.offsets == c->offsets.n) && (!c->halos.n || so_far.halos == c->halos.n);
  return all ? SW_OK : SW_IM_FAIL_AT(m, c->at, "the sharding has more offsets or halos than dims that are cut");
}

sw_rc sw_im_shard_shape(sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_im_mixed dims, at;
  sw_im_cuts cut;
  uint32_t use = 0;
  SW_TRY(sw_im_read_mixed(m, op, sw_ir_attr(m->t, o, "dims", "dims"), &use, &dims));
  SW_TRY(sw_im_read_sharding_of(m, op, use++, &cut));
  SW_TRY(sw_im_read_mixed(m, op, sw_ir_attr(m->t, o, "device", "device"), &use, &at));
  if (at.n != m->cut->n_axes || (uint32_t)dims.n != sw_ir_result_count(m->t, o)) {
    return SW_IM_FAIL(m, op, "expected a result for each dim, a shard.sharding and %d coordinates", m->cut->n_axes);
  }
  SW_TRY(check_coordinates(m, op, &at));
  SW_TRY(sw_im_check_cut(m, &cut, dims.n));
  return bind_block_sizes(m, op, &cut, &dims, &at);
}
