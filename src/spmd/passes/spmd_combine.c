/* combine: collectives of one kind over the same groups become one call, up to a size.
 *
 *   before  p = all_reduce sum [x] a   q = all_reduce sum [x] b
 *   after   c = concatenate(reshape a, reshape b)   d = all_reduce sum [x] c
 *           p = reshape(slice d)   q = reshape(slice d)
 *
 * Also all_gathers and reduce_scatters: rows of the buffer are then the devices' parts. A call may stand anywhere from
 * where its operand is made to where its result is first read; calls whose ranges meet can be one. What gathers stands
 * right before its first reader, what reduces right behind its last operand: less is held so. They are taken in the
 * order in which operands are made; one joins the call that is being filled while its part of that, with the copies
 * into the buffer and out of it, costs less than a call of its own. Does not: move readers, put types together, or work
 * on whole tensors (where there is no buffer of one device). */
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "spmd/spmd_emit.h"
#include "spmd/passes/spmd_passes.h"

/* A collective that may become a part of a call. */
typedef struct member {
  sw_id op;            /* old */
  sw_id ready, needed; /* it may stand before ops with ready < id <= needed */
  int64_t bytes;       /* of its buffer, as it is priced */
  int32_t next;        /* of the call; -1 */
} member;

/* One call that is being filled, or is full. */
typedef struct call {
  int32_t first, last, n;
  sw_id ready, needed; /* as of its members */
  int64_t bytes;
  double copies_s; /* into the buffer and out of it, but for what putting together costs anyway */
  double apart_s;  /* of as many calls */
  int32_t next;    /* of those that stand before the same op; -1 */
} call;

typedef struct combining {
  sw_rewrite *r;
  SW_ARRAY(member) members;
  SW_ARRAY(call) calls;
  sw_dict open;    /* by key: the call that is being filled */
  int32_t *before; /* by old op, and behind the last: calls that stand before it; -1 */
  bool *taken;     /* by old op: it is a part of a call */
  sw_id *latest;   /* by old op: of a member, before which op it stands at the latest; else 0 */
} combining;

/* --- which -------------------------------------------------------------------------------------------------------- */

static bool is_combinable(const sw_graph *g, const sw_op *op) {
  const sw_collective *c = op->collective;
  if (!c || op->n_operands != 1 || op->n_results != 1 || c->lists || c->sources || c->src || !c->n_axes) return false;
  if (c->op == SW_COLL_REDUCE_SCATTER) {
    const int64_t n = sw_axis_refs_size(c->axes, c->n_axes);
    return sw_operand_type(g, op, 0)->dims[c->dim] == n * sw_result_type(g, op, 0)->dims[c->dim];
  }
  return c->op == SW_COLL_ALL_REDUCE || c->op == SW_COLL_ALL_GATHER;
}

/* The op of this frame that reads the value by use `u`: what enters a loop or choice is read where that begins. */
static sw_id reader(const sw_graph *g, sw_value_use u) {
  if (u.op < 0) return g->n_ops;
  return g->ops[u.op].code == SW_OP_ENTER ? g->frames[g->ops[u.op].frame].opened_by : u.op;
}

static sw_rc add_member(combining *c, sw_id id, sw_diag *d) {
  const sw_graph *g = c->r->from->program;
  const sw_op *op = &g->ops[id];
  if (!is_combinable(g, op)) return SW_OK;
  const sw_value *out = &g->values[op->results[0]];
  const sw_id def = g->values[op->operands[0]].def;
  member m = {.op = id, .ready = def, .needed = g->n_ops, .next = -1};
  if (!out->n_uses) return SW_OK;
  if (def >= 0 && c->latest[def] > m.ready) m.ready = c->latest[def];
  for (int i = 0; i < out->n_uses; i++) {
    const sw_id at = reader(g, out->uses[i]);
    if (at < m.needed) m.needed = at;
  }
  c->latest[id] = m.needed;
  m.bytes = (int64_t)sw_spmd_collective_bytes(c->r->from, op);
  return sw_array_push(&c->members, m, d);
}

static int by_ready(const void *a, const void *b) {
  const member *x = a, *y = b;
  if (x->ready != y->ready) return x->ready < y->ready ? -1 : 1;
  return x->op < y->op ? -1 : x->op > y->op;
}

/* --- prices ------------------------------------------------------------------------------------------------------- */

static double call_s(const combining *c, const sw_op *op, int64_t bytes) {
  return sw_machine_collective_s(c->r->machine, op->collective->op, op->collective->axes, op->collective->n_axes,
                                 (double)bytes);
}

static double copy_s(const combining *c, sw_dtype t, int64_t bytes) {
  return sw_machine_local_s(c->r->machine, t, 0, 2 * (double)bytes);
}

/* Rows of a side of the call: 1, or one per device. */
static int64_t call_rows(const sw_collective *c, bool result) {
  const bool many = c->op == (result ? SW_COLL_ALL_GATHER : SW_COLL_REDUCE_SCATTER);
  return many ? sw_axis_refs_size(c->axes, c->n_axes) : 1;
}

/* What a member pays to be in the buffer: brought into rows, copied there, taken out, brought into its shape. */
static double copies_s(const combining *c, const sw_op *op) {
  const sw_graph *g = c->r->from->program;
  const sw_type *in = sw_operand_type(g, op, 0), *out = sw_result_type(g, op, 0);
  const bool moves = op->collective->op != SW_COLL_ALL_REDUCE && op->collective->dim > 0;
  double s = copy_s(c, in->dtype, sw_type_bytes(in)) - copy_s(c, in->dtype, 0); /* its share of one concatenation */
  s += copy_s(c, in->dtype, sw_type_bytes(out));
  if (moves && call_rows(op->collective, false) > 1) s += copy_s(c, in->dtype, sw_type_bytes(in));
  if (moves && call_rows(op->collective, true) > 1) s += copy_s(c, in->dtype, sw_type_bytes(out));
  return s;
}

/* --- filling calls ------------------------------------------------------------------------------------------------ */

/* Equal keys can be one call: the same groups and kind, type and part of a loop (its test runs once more than its
 * body). */
static sw_rc find_call(combining *c, const sw_op *op, sw_id id, int64_t **slot, sw_diag *d) {
  const sw_graph *g = c->r->from->program;
  const sw_collective *k = op->collective;
  bool fresh;
  int64_t key[5 + 3 * SW_MAX_REFS];
  int n = 0;
  key[n++] = k->op;
  key[n++] = sw_coll_combines(k->op) ? (int64_t)k->reduction : 0;
  key[n++] = sw_operand_type(g, op, 0)->dtype;
  key[n++] = op->frame;
  key[n++] = op->frame >= 0 && id > g->frames[op->frame].test;
  for (int i = 0; i < k->n_axes; i++) {
    key[n++] = k->axes[i].axis;
    key[n++] = k->axes[i].pre;
    key[n++] = k->axes[i].size;
  }
  return sw_dict_put(&c->open, key, (size_t)n * sizeof *key, -1, slot, &fresh, d);
}

/* May the member join the call, and does its part of the buffer cost less than a call of its own? */
static bool joins(const combining *c, const call *to, const member *m, const sw_op *op) {
  const int64_t most = c->r->how->combine_bytes ? c->r->how->combine_bytes : SW_COMBINE_BYTES;
  if (m->ready >= to->needed || to->bytes + m->bytes > most) return false;
  if (c->r->how->combine_in_place) return true;
  const double more = call_s(c, op, to->bytes + m->bytes) - call_s(c, op, to->bytes);
  return more + copies_s(c, op) < call_s(c, op, m->bytes);
}

static sw_rc place_member(combining *c, int32_t i, sw_diag *d) {
  member *m = &c->members.at[i];
  const sw_op *op = &c->r->from->program->ops[m->op];
  int64_t *slot;
  SW_TRY(find_call(c, op, m->op, &slot, d));
  call *to = *slot < 0 ? NULL : &c->calls.at[*slot];
  if (!to || !joins(c, to, m, op)) {
    *slot = (int64_t)c->calls.n;
    const call one = {
        .first = i, .last = i, .n = 1, .ready = m->ready, .needed = m->needed, .bytes = m->bytes, .next = -1};
    SW_TRY(sw_array_push(&c->calls, one, d));
    to = &c->calls.at[*slot];
  } else {
    c->members.at[to->last].next = i;
    to->last = i;
    to->n++;
    to->bytes += m->bytes;
    if (m->needed < to->needed) to->needed = m->needed;
    if (m->ready > to->ready) to->ready = m->ready;
  }
  to->copies_s += copies_s(c, op);
  to->apart_s += call_s(c, op, m->bytes);
  return SW_OK;
}

/* One call with all its copies against as many calls. */
static bool combining_pays(const combining *c, const call *k) {
  const sw_op *op = &c->r->from->program->ops[c->members.at[k->first].op];
  const double concatenation = copy_s(c, sw_operand_type(c->r->from->program, op, 0)->dtype, 0);
  if (c->r->how->combine_in_place) return k->n > 1;
  return k->n > 1 && call_s(c, op, k->bytes) + concatenation + k->copies_s < k->apart_s;
}

/* The op right before which the call stands; not among those that begin a loop or branch or take over from one. */
static sw_id stands_before(const combining *c, const call *k) {
  const sw_graph *g = c->r->from->program;
  sw_id at = k->ready + 1;
  if (g->ops[c->members.at[k->first].op].collective->op == SW_COLL_ALL_GATHER) return k->needed;
  while (at < k->needed && (g->ops[at].code == SW_OP_ENTER || g->ops[at].code == SW_OP_JOIN)) at++;
  return at;
}

static sw_rc fill_calls(combining *c, sw_arena *arena, sw_diag *d) {
  const sw_graph *g = c->r->from->program;
  SW_ARENA_NEW(c->before, arena, (int64_t)g->n_ops + 1, d);
  SW_ARENA_NEW_EACH(arena, g->n_ops, d, c->taken, c->latest);
  for (sw_id i = 0; i < g->n_ops; i++) SW_TRY(add_member(c, i, d));
  if (c->members.n) qsort(c->members.at, c->members.n, sizeof *c->members.at, by_ready);
  for (size_t i = 0; i < c->members.n; i++) SW_TRY(place_member(c, (int32_t)i, d));
  for (sw_id i = 0; i <= g->n_ops; i++) c->before[i] = -1;
  for (size_t i = 0; i < c->calls.n; i++) {
    call *k = &c->calls.at[i];
    if (!combining_pays(c, k)) continue;
    const sw_id at = stands_before(c, k);
    k->next = c->before[at];
    c->before[at] = (int32_t)i;
    for (int32_t m = k->first; m >= 0; m = c->members.at[m].next) c->taken[c->members.at[m].op] = true;
  }
  return SW_OK;
}

/* --- writing them ------------------------------------------------------------------------------------------------- */

static sw_rc add_reshape(sw_rewrite *r, sw_id x, const int64_t *dims, int rank, const sw_rewrite_as *as, sw_id *out,
                         sw_diag *d) {
  sw_attrs at = {0};
  sw_attrs_ints(&at, SW_ATTR_SHAPE, dims, rank);
  sw_op_spec spec = {.code = SW_OP_RESHAPE, .n_operands = 1, .operands = &x, .n_attrs = at.n, .attrs = at.at};
  return sw_rewrite_add(r, &spec, as, out, d);
}

/* Dimension `from` goes to place `to`, the others keep their order. */
static sw_rc move_dim(sw_rewrite *r, sw_id *x, int from, int to, const sw_rewrite_as *as, sw_diag *d) {
  const int rank = sw_rewrite_type(r, *x)->rank;
  int64_t order[SW_MAX_RANK + 1];
  sw_attrs at = {0};
  int n = 0;
  for (int k = 0; k < rank; k++) {
    if (n == to) order[n++] = from;
    if (k != from) order[n++] = k;
  }
  if (n < rank) order[n] = from;
  sw_attrs_ints(&at, SW_ATTR_PERMUTATION, order, rank);
  sw_op_spec spec = {.code = SW_OP_TRANSPOSE, .n_operands = 1, .operands = x, .n_attrs = at.n, .attrs = at.at};
  return sw_rewrite_add(r, &spec, as, x, d);
}

/* Positions [start, limit) of one dimension. */
static sw_rc slice_along(sw_rewrite *r, sw_id *x, int dim, int64_t start, int64_t limit, const sw_rewrite_as *as,
                         sw_diag *d) {
  const sw_type t = *sw_rewrite_type(r, *x);
  int64_t from[SW_MAX_RANK] = {0}, to[SW_MAX_RANK];
  sw_attrs at = {0};
  if (start == 0 && limit == t.dims[dim]) return SW_OK;
  memcpy(to, t.dims, (size_t)t.rank * sizeof *to);
  from[dim] = start;
  to[dim] = limit;
  sw_attrs_ints(&at, SW_ATTR_START, from, t.rank);
  sw_attrs_ints(&at, SW_ATTR_LIMIT, to, t.rank);
  sw_op_spec spec = {.code = SW_OP_SLICE, .n_operands = 1, .operands = x, .n_attrs = at.n, .attrs = at.at};
  return sw_rewrite_add(r, &spec, as, x, d);
}

/* [.., rows * b, ..] as [rows, rest]: row i holds the i-th part of dimension `dim`. */
static sw_rc to_rows(sw_rewrite *r, sw_id *x, int64_t rows, int dim, const sw_rewrite_as *as, sw_diag *d) {
  const sw_type t = *sw_rewrite_type(r, *x);
  int64_t split[SW_MAX_RANK + 1], flat[2] = {rows, sw_type_elements(&t) / rows};
  if (rows > 1 && dim > 0) {
    memcpy(split, t.dims, (size_t)dim * sizeof *split);
    split[dim] = rows;
    split[dim + 1] = t.dims[dim] / rows;
    memcpy(split + dim + 2, t.dims + dim + 1, (size_t)(t.rank - dim - 1) * sizeof *split);
    SW_TRY(add_reshape(r, *x, split, t.rank + 1, as, x, d));
    SW_TRY(move_dim(r, x, dim, 0, as, d));
  }
  return add_reshape(r, *x, flat, 2, as, x, d);
}

/* And back: the rows put one behind the other along `dim`, `part` are the dims of one. */
static sw_rc from_rows(sw_rewrite *r, sw_id *x, int64_t rows, int dim, const int64_t *part, int rank,
                       const sw_rewrite_as *as, sw_diag *d) {
  int64_t dims[SW_MAX_RANK + 1] = {rows};
  if (rank) memcpy(dims + 1, part, (size_t)rank * sizeof *dims);
  if (rows > 1 && dim > 0) {
    const sw_rewrite_as none = {-1, SW_NO_LAYOUT, as->origin};
    SW_TRY(add_reshape(r, *x, dims, rank + 1, &none, x, d));
    SW_TRY(move_dim(r, x, 0, dim, &none, d));
  }
  if (rank) memcpy(dims, part, (size_t)rank * sizeof *dims);
  if (rank) dims[dim] *= rows;
  return add_reshape(r, *x, dims, rank, as, x, d);
}

static int combined_dim(const sw_collective *c) { return c->op == SW_COLL_ALL_REDUCE ? 0 : c->dim; }

/* The operands side by side. */
static sw_rc gather_operands(combining *c, const call *k, const sw_rewrite_as *as, sw_id *out, sw_diag *d) {
  sw_rewrite *r = c->r;
  sw_id *in;
  sw_attrs at = {0};
  int n = 0;
  SW_ARENA_NEW(in, &r->scratch, k->n, d);
  for (int32_t m = k->first; m >= 0; m = c->members.at[m].next, n++) {
    const sw_op *op = &r->from->program->ops[c->members.at[m].op];
    in[n] = r->now[op->operands[0]];
    SW_TRY(to_rows(r, &in[n], call_rows(op->collective, false), combined_dim(op->collective), as, d));
  }
  sw_attrs_int(&at, SW_ATTR_DIM, 1);
  sw_op_spec spec = {.code = SW_OP_CONCATENATE, .n_operands = k->n, .operands = in, .n_attrs = at.n, .attrs = at.at};
  return sw_rewrite_add(r, &spec, as, out, d);
}

/* What stands for a member's result, from column *at of the buffer on. */
static sw_rc take_result(sw_rewrite *r, const sw_op *op, sw_id buffer, int64_t *at, sw_diag *d) {
  const sw_graph *g = r->from->program;
  const sw_origin *origin = &r->from->origin[op - g->ops];
  const sw_type *t = sw_result_type(g, op, 0), *in = sw_operand_type(g, op, 0);
  const int64_t rows = call_rows(op->collective, true);
  const int dim = combined_dim(op->collective);
  const sw_rewrite_as none = {-1, SW_NO_LAYOUT, origin}, as = {-1, r->from->layout[op->results[0]], origin};
  const int64_t *part = rows > 1 ? in->dims : t->dims;
  int64_t width = 1;
  sw_id x = buffer;
  for (int i = 0; i < t->rank; i++) width *= part[i];
  SW_TRY(slice_along(r, &x, 1, *at, *at + width, &none, d));
  const bool cut = t->rank && part[dim] * rows != t->dims[dim];
  SW_TRY(from_rows(r, &x, rows, dim, part, t->rank, cut ? &none : &as, d));
  if (cut) SW_TRY(slice_along(r, &x, dim, 0, t->dims[dim], &as, d));
  *at += width;
  sw_rewrite_replace(r, op->results[0], x);
  return SW_OK;
}

static sw_rc write_call(combining *c, const call *k, sw_diag *d) {
  sw_rewrite *r = c->r;
  const sw_op *first = &r->from->program->ops[c->members.at[k->first].op];
  const sw_rewrite_as as = {-1, SW_NO_LAYOUT, &r->from->origin[first - r->from->program->ops]};
  int64_t dims[2], at = 0;
  sw_collective one = *first->collective;
  sw_id buffer;
  SW_TRY(gather_operands(c, k, &as, &buffer, d));
  dims[0] = call_rows(&one, true);
  dims[1] = sw_rewrite_type(r, buffer)->dims[1];
  one.dim = 0;
  SW_TRY(sw_rewrite_add_collective(r, buffer, &one, dims, &as, &buffer, d));
  for (int32_t m = k->first; m >= 0; m = c->members.at[m].next) {
    SW_TRY(take_result(r, &r->from->program->ops[c->members.at[m].op], buffer, &at, d));
  }
  return SW_OK;
}

static sw_rc write_calls(combining *c, sw_diag *d) {
  const sw_graph *g = c->r->from->program;
  for (sw_id i = 0; i <= g->n_ops; i++) {
    for (int32_t k = c->before[i]; k >= 0; k = c->calls.at[k].next) SW_TRY(write_call(c, &c->calls.at[k], d));
    if (i < g->n_ops && !c->taken[i]) SW_TRY(sw_rewrite_copy(c->r, i, d));
    sw_arena_reset(&c->r->scratch);
  }
  return SW_OK;
}

static sw_rc run_combine(sw_rewrite *r, sw_diag *d) {
  combining c = {.r = r};
  sw_arena arena = {0};
  sw_rc rc = fill_calls(&c, &arena, d);
  if (!rc) rc = write_calls(&c, d);
  sw_array_free(&c.members);
  sw_array_free(&c.calls);
  sw_dict_deinit(&c.open);
  sw_arena_deinit(&arena);
  return rc;
}

const sw_pass sw_pass_combine = {.name = "combine", .run = run_combine, .local_only = true};
