/* The data of a call: boxes packed, swapped, and unpacked or reduced.
 *
 *   reduce_scatter over 2: member 0 sends its box of piece 1 to member 1 and hears member 1's box of piece 0; each
 *   reduces two packed boxes in group order
 */
#include <string.h>

#include "comm/mpi/mpi.h"
#include "comm/comm_reduce.h"
#include "comm/rows.h"
#include "comm/portion.h"

typedef struct collect {
  sw_mpi *m;
  sw_mpi_group *g;
  const sw_comm_call *call;
  sw_view view;
  sw_swap swap;
  int64_t *at;     /* bytes packed or unpacked so far, per member */
  bool counts;     /* measuring: sizes only */
  int64_t *result; /* bytes received from others, for the statistics */
} collect;

static int64_t box_bytes(const sw_buffer *b, const int64_t *extent) {
  int64_t n = sw_dtype_bytes(b->dtype);
  for (int i = 0; i < b->rank; i++) n *= extent[i];
  return n;
}

/* A box of `b` at `at` to (or from) contiguous bytes. */
static void copy_packed(const sw_buffer *b, const int64_t *extent, const int64_t *at, char *packed, bool packs) {
  static const int64_t kOrigin[SW_MAX_RANK];
  size_t size = (size_t)sw_dtype_bytes(b->dtype);
  sw_rows rows;
  sw_rows_init(&rows, b->rank, extent, b->dims, at, extent, kOrigin);
  while (sw_rows_next(&rows)) {
    char *there = (char *)b->data + (size_t)rows.a * size, *here = packed + (size_t)rows.b * size;
    memcpy(packs ? here : there, packs ? there : here, (size_t)rows.len * size);
  }
}

/* The boxes that this device gives to member `to`. */
static sw_rc visit_give(void *user, const sw_transfer *mv, sw_diag *d) {
  collect *c = user;
  (void)d;
  if (mv->from != c->g->index && mv->from != SW_FROM_ALL) return SW_OK;
  int64_t bytes = box_bytes(c->call->in, mv->extent);
  if (c->counts)
    c->swap.to_bytes[mv->to] += bytes;
  else
    copy_packed(c->call->in, mv->extent, mv->src_at, c->swap.to[mv->to] + c->at[mv->to], true);
  c->at[mv->to] += bytes;
  return SW_OK;
}

/* The boxes that this device gets: one member's, or the same of all for a reduction. */
static sw_rc visit_get(void *user, const sw_transfer *mv, sw_diag *d) {
  collect *c = user;
  (void)d;
  int64_t first = mv->from < 0 ? 0 : mv->from, end = mv->from < 0 ? c->g->n : mv->from + 1;
  for (int64_t j = first; j < end; j++) {
    int64_t bytes = box_bytes(c->view.members[j].call.in, mv->extent);
    if (c->counts)
      c->swap.from_bytes[j] += bytes;
    else if (mv->from >= 0)
      copy_packed(c->call->out, mv->extent, mv->dst_at, c->swap.from[j] + c->at[j], false);
    c->at[j] += bytes;
    if (c->counts && j != c->g->index) *c->result += bytes;
  }
  return SW_OK;
}

static sw_rc walk_moves(collect *c, bool counts, bool gives, sw_diag *d) {
  c->counts = counts;
  memset(c->at, 0, (size_t)c->g->n * sizeof *c->at);
  if (!gives) return sw_moves_to(&c->view, c->g->index, visit_get, c, d);
  for (int64_t to = 0; to < c->g->n; to++) SW_TRY(sw_moves_to(&c->view, to, visit_give, c, d));
  return SW_OK;
}

static sw_rc swap_boxes(collect *c, sw_diag *d) {
  SW_TRY(walk_moves(c, true, true, d));
  SW_TRY(walk_moves(c, true, false, d));
  SW_TRY(sw_swap_room(c->swap.to, c->swap.to_bytes, c->g->n, d));
  SW_TRY(sw_swap_room(c->swap.from, c->swap.from_bytes, c->g->n, d));
  SW_TRY(walk_moves(c, false, true, d));
  return sw_swap_run(c->m, c->g, &c->swap, d);
}

static sw_reducer reducer_of(const sw_comm_call *call, sw_dtype to) {
  return (sw_reducer){call->coll->reduction, call->in->dtype, to, call->generic, false};
}

/* The packed boxes of all, reduced into `packed`. */
static void reduce_packed(const collect *c, sw_dtype to, int64_t count, void *packed) {
  sw_reducer r = reducer_of(c->call, to);
  if (count) sw_reduce_run(&r, c->g->n, (const void *const *)c->swap.from, 0, 1, &packed, 0, count);
}

/* reduce_scatter: one box per member. */
static sw_rc visit_reduce(void *user, const sw_transfer *mv, sw_diag *d) {
  collect *c = user;
  const sw_buffer *out = c->call->out;
  int64_t bytes = box_bytes(out, mv->extent);
  char *packed = sw_mem_alloc((size_t)bytes, 1, d);
  if (!packed) return SW_E_RESOURCE;
  reduce_packed(c, out->dtype, bytes / sw_dtype_bytes(out->dtype), packed);
  copy_packed(out, mv->extent, mv->dst_at, packed, false);
  sw_mem_free(packed);
  return SW_OK;
}

static sw_rc collect_boxes(collect *c, sw_diag *d) {
  SW_TRY(swap_boxes(c, d));
  const sw_comm_call *call = c->call;
  if (call->coll->op == SW_COLL_REDUCE_SCATTER) return sw_moves_to(&c->view, c->g->index, visit_reduce, c, d);
  if (call->out && call->in) sw_portion_prepare(&c->view, c->g->index, call->in->data, call->out->data);
  return walk_moves(c, false, false, d);
}

/* --- all_reduce and reduce: a part each, then the parts to all (to the root) --- */

/* The second round: `part` to whoever gets the result, the other parts from all. */
static sw_rc swap_parts(collect *c, sw_dtype to, int64_t total, const char *part, sw_diag *d) {
  int64_t n = c->g->n, size = sw_dtype_bytes(to), lo, hi;
  sw_swap_deinit(&c->swap);
  SW_TRY(sw_swap_init(&c->swap, n, d));
  sw_portion_range(total, c->g->index, n, &lo, &hi);
  for (int64_t j = 0; j < n; j++) {
    int64_t from, end;
    sw_portion_range(total, j, n, &from, &end);
    if (sw_moves_defined(&c->view, j)) c->swap.to_bytes[j] = (hi - lo) * size;
    if (sw_moves_defined(&c->view, c->g->index)) c->swap.from_bytes[j] = (end - from) * size;
    if (j != c->g->index) *c->result += c->swap.from_bytes[j];
  }
  SW_TRY(sw_swap_room(c->swap.to, c->swap.to_bytes, n, d));
  SW_TRY(sw_swap_room(c->swap.from, c->swap.from_bytes, n, d));
  for (int64_t j = 0; j < n; j++)
    if (c->swap.to_bytes[j]) memcpy(c->swap.to[j], part, (size_t)c->swap.to_bytes[j]);
  return sw_swap_run(c->m, c->g, &c->swap, d);
}

/* The first round: everybody's part `j` to member j. */
static sw_rc swap_inputs(collect *c, const char *packed, int64_t total, sw_diag *d) {
  int64_t n = c->g->n, size = sw_dtype_bytes(c->call->in->dtype), lo, hi;
  sw_portion_range(total, c->g->index, n, &lo, &hi);
  for (int64_t j = 0; j < n; j++) {
    int64_t from, end;
    sw_portion_range(total, j, n, &from, &end);
    c->swap.to_bytes[j] = (end - from) * size;
    c->swap.from_bytes[j] = (hi - lo) * size;
    if (j != c->g->index) *c->result += c->swap.from_bytes[j];
  }
  SW_TRY(sw_swap_room(c->swap.to, c->swap.to_bytes, n, d));
  SW_TRY(sw_swap_room(c->swap.from, c->swap.from_bytes, n, d));
  for (int64_t j = 0, from = 0; j < n; from += c->swap.to_bytes[j++])
    if (c->swap.to_bytes[j]) memcpy(c->swap.to[j], packed + from, (size_t)c->swap.to_bytes[j]);
  return sw_swap_run(c->m, c->g, &c->swap, d);
}

/* The value packed, in one piece of room for input or result elements. */
static sw_rc reduce_in_parts(collect *c, char *packed, int64_t total, sw_diag *d) {
  static const int64_t kOrigin[SW_MAX_RANK];
  const sw_buffer *in = c->call->in, *out = c->call->out;
  sw_dtype to = c->view.members[sw_collective_root(c->call->coll)].call.out->dtype;
  int64_t lo, hi;
  copy_packed(in, in->valid, kOrigin, packed, true);
  SW_TRY(swap_inputs(c, packed, total, d));
  sw_portion_range(total, c->g->index, c->g->n, &lo, &hi);
  reduce_packed(c, to, hi - lo, packed);
  SW_TRY(swap_parts(c, to, total, packed, d));
  if (!sw_moves_defined(&c->view, c->g->index)) return SW_OK;
  for (int64_t j = 0, at = 0; j < c->g->n; at += c->swap.from_bytes[j++])
    if (c->swap.from_bytes[j]) memcpy(packed + at, c->swap.from[j], (size_t)c->swap.from_bytes[j]);
  copy_packed(out, in->valid, kOrigin, packed, false);
  return SW_OK;
}

static sw_rc collect_parts(collect *c, sw_diag *d) {
  const sw_buffer *in = c->call->in;
  int64_t total = box_bytes(in, in->valid) / sw_dtype_bytes(in->dtype);
  char *packed = sw_mem_alloc((size_t)total, 16, d); /* 16: the widest element */
  if (!packed) return SW_E_RESOURCE;
  sw_rc rc = reduce_in_parts(c, packed, total, d);
  sw_mem_free(packed);
  return rc;
}

sw_rc sw_mpi_collect(sw_mpi *m, sw_mpi_group *g, const sw_comm_call *call, int64_t *bytes, sw_diag *d) {
  collect c = {.m = m, .g = g, .call = call, .result = bytes};
  c.view = (sw_view){&m->base.mesh, call->coll, g->n, g->members, sizeof *g->members};
  *bytes = 0;
  if (call->coll->op == SW_COLL_BARRIER) return SW_OK;
  bool parts = call->coll->op == SW_COLL_ALL_REDUCE || call->coll->op == SW_COLL_REDUCE;
  sw_rc rc = sw_swap_init(&c.swap, g->n, d);
  c.at = rc ? NULL : sw_mem_alloc((size_t)g->n, sizeof *c.at, d);
  if (!rc && !c.at) rc = SW_E_RESOURCE;
  if (!rc) rc = parts ? collect_parts(&c, d) : collect_boxes(&c, d);
  if (!rc || !m->failure.rc) sw_swap_deinit(&c.swap); /* after a failure MPI may still write there */
  sw_mem_free(c.at);
  return rc;
}
