/* A direct exchange by the dialect's send and recv: rounds in which every device sends one box and receives one.
 *
 * A table per round says, by the device's linear index, whom it sends to and receives from, and where the boxes lie:
 *
 *   %t = arith.constant dense<[[1, 1, 0, 2, 2], [0, 0, 2, 0, 2]]> : tensor<2x5xi64>    to, from, source, target, extent
 *   %p = dynamic_slice of the block at `source`
 *   %s = shard.send %p on @mesh grid_axes = [0] destination = [%to] : ...
 *   %r = shard.recv %p on @mesh grid_axes = [0] source = [%from] : ...
 *   the result at `target`, as far as `extent`, becomes %r
 *
 * Boxes of a round have the shape of the largest; who has nothing to say to anybody in a round says nothing (extent 0)
 * to one who hears nothing, so that every recv has its send. What a device keeps is a round without send and recv.
 */
#include <string.h>

#include "mlir/emit/rounds.h"
#include "mlir/emit/spmd_collective.h"
#include "base/checked.h"

enum { MOST_NUMBERS = 1 << 15 }; /* of all tables together */

typedef struct message {
  int64_t from, to;
  int64_t source[SW_MAX_RANK], target[SW_MAX_RANK], extent[SW_MAX_RANK];
  int round; /* 0: kept */
} message;

typedef struct rounds {
  sw_spmd_writer *s;
  const sw_mesh *mesh;
  const sw_collective *c;
  int rank, n_axes, n; /* grid axes; rounds, the one of what is kept among them */
  int64_t devices;
  SW_ARRAY(message) all;
} rounds;

static sw_rc note_message(void *user, const sw_tile_move *box, sw_diag *d) {
  rounds *r = user;
  message m = {.from = box->from, .to = box->to};
  for (int i = 0; i < r->rank; i++) {
    int64_t source, target, lo, hi;
    sw_tiling_window(r->mesh, r->c->src, i, box->from, &source, &lo, &hi);
    sw_tiling_window(r->mesh, r->c->dst, i, box->to, &target, &lo, &hi);
    m.source[i] = box->lo[i] - source;
    m.target[i] = box->lo[i] - target;
    m.extent[i] = box->hi[i] - box->lo[i];
  }
  return sw_array_push(&r->all, m, d);
}

/* Round 0 is of what is kept. */
static sw_rc share_out(rounds *r, sw_diag *d) {
  sw_round_message *sent;
  int64_t n = 0;
  int32_t n_rounds;
  SW_ARENA_NEW(sent, &r->s->w.arena, r->all.n, d);
  for (size_t i = 0; i < r->all.n; i++) {
    const message *m = &r->all.at[i];
    if (m->from != m->to) sent[n++] = (sw_round_message){m->from, m->to, 0};
  }
  SW_TRY(sw_share_out(sent, n, r->devices, &r->s->w.arena, &n_rounds, d));
  n = 0;
  for (size_t i = 0; i < r->all.n; i++) {
    message *m = &r->all.at[i];
    if (m->from != m->to) m->round = 1 + sent[n++].round;
  }
  r->n = 1 + n_rounds;
  return SW_OK;
}

/* Columns of a table: whom to, whom from (by grid axis), source, target, extent (by dimension). */
static int64_t count_table_columns(const rounds *r) { return (int64_t)2 * r->n_axes + (int64_t)3 * r->rank; }

static void put_coordinates(const rounds *r, int64_t device, int64_t *row) {
  for (int a = r->n_axes - 1; a >= 0; device /= r->s->w.grid.axis[a].size, a--)
    row[a] = device % r->s->w.grid.axis[a].size;
}

/* Fills the table of a round; the shape of its boxes goes to `box`. */
static void fill_round_table(const rounds *r, int round, int64_t *table, int64_t *partner, int64_t *box) {
  const int64_t n = count_table_columns(r), first = (int64_t)2 * r->n_axes;
  int64_t *to = partner, *from = partner + r->devices;
  memset(table, 0, (size_t)(n * r->devices) * sizeof *table);
  for (int64_t i = 0; i < 2 * r->devices; i++) partner[i] = -1;
  memset(box, 0, (size_t)r->rank * sizeof *box);
  for (size_t i = 0; i < r->all.n; i++) {
    const message *m = &r->all.at[i];
    if (m->round != round) continue;
    to[m->from] = m->to;
    from[m->to] = m->from;
    int64_t *source = table + m->from * n + first, *target = table + m->to * n + first + r->rank;
    for (int d = 0; d < r->rank; d++) {
      source[d] = m->source[d];
      target[d] = m->target[d];
      target[r->rank + d] = m->extent[d];
      if (m->extent[d] > box[d]) box[d] = m->extent[d];
    }
  }
  for (int64_t i = 0, silent = 0; i < r->devices; i++) {
    if (from[i] >= 0) continue;
    while (to[silent] >= 0) silent++;
    from[i] = silent;
    to[silent] = i;
  }
  for (int64_t i = 0; i < r->devices; i++) {
    put_coordinates(r, to[i], table + i * n);
    put_coordinates(r, from[i], table + i * n + r->n_axes);
  }
}

static const char *put_table(const rounds *r, const int64_t *table) {
  sw_mlir *w = &r->s->w;
  const int64_t n = count_table_columns(r);
  const char *name = sw_mlir_temp(w, (sw_type){SW_I64, 0, NULL}).name;
  sw_text_printf(w->out, "    %s = arith.constant dense<[", name);
  for (int64_t i = 0; i < r->devices; i++) {
    sw_text_puts(w->out, i ? ", [" : "[");
    sw_mlir_list(table + i * n, (int)n, w->out);
    sw_text_puts(w->out, "]");
  }
  sw_text_printf(w->out, "]> : tensor<%lldx%lldxi64>\n", (long long)r->devices, (long long)n);
  return name;
}

/* A number of the device's row: as index (`cast` index) or as a tensor of no dimensions. */
static sw_ssa emit_row_number(const rounds *r, const char *table, int column, bool as_index) {
  sw_mlir *w = &r->s->w;
  sw_type none = {SW_I64, 0, NULL};
  sw_ssa at = sw_mlir_temp(w, none), v = sw_mlir_temp(w, none), y = sw_mlir_temp(w, none);
  sw_text_printf(w->out, "    %s = arith.constant %d : index\n", at.name, column);
  sw_text_printf(w->out, "    %s = tensor.extract %s[%%me, %s] : tensor<%lldx%lldxi64>\n", v.name, table, at.name,
                 (long long)r->devices, (long long)count_table_columns(r));
  if (as_index) sw_text_printf(w->out, "    %s = arith.index_cast %s : i64 to index\n", y.name, v.name);
  if (!as_index) sw_text_printf(w->out, "    %s = tensor.from_elements %s : tensor<i64>\n", y.name, v.name);
  return y;
}

/* %y = shard.OP %x on @mesh grid_axes = [0, 1] KEY = [%a, %b] : (tensor, index, index) -> tensor */
static sw_ssa put_partner(const rounds *r, const char *op, const char *key, const char *table, int column, sw_ssa x) {
  sw_mlir *w = &r->s->w;
  const char *at[SW_GRID_AXES];
  for (int a = 0; a < r->n_axes; a++) at[a] = emit_row_number(r, table, column + a, true).name;
  sw_ssa y = sw_mlir_temp(w, x.type);
  sw_text_printf(w->out, "    %s = shard.%s %s on @mesh grid_axes = [", y.name, op, x.name);
  for (int a = 0; a < r->n_axes; a++) sw_text_printf(w->out, "%s%d", a ? ", " : "", a);
  sw_text_printf(w->out, "] %s = [", key);
  for (int a = 0; a < r->n_axes; a++) sw_text_printf(w->out, "%s%s", a ? ", " : "", at[a]);
  sw_text_puts(w->out, "] : (");
  sw_mlir_type(&x.type, w->out);
  for (int a = 0; a < r->n_axes; a++) sw_text_puts(w->out, ", index");
  sw_text_puts(w->out, ") -> ");
  sw_mlir_type(&y.type, w->out);
  sw_text_puts(w->out, "\n");
  return y;
}

/* x at the places that columns of the table say: a box of the given shape, or x with `box` put there. */
static sw_ssa slice_at(const rounds *r, sw_ssa x, const sw_ssa *at, sw_type box) {
  sw_ssa in[1 + SW_MAX_RANK] = {x}, y = sw_mlir_temp(&r->s->w, box);
  memcpy(in + 1, at, (size_t)r->rank * sizeof *at);
  sw_mlir_dynamic_slice(&r->s->w, in, y);
  return y;
}

static sw_ssa update_at(const rounds *r, sw_ssa x, const sw_ssa *at, sw_ssa box) {
  sw_ssa in[2 + SW_MAX_RANK] = {x, box}, y = sw_mlir_temp(&r->s->w, x.type);
  memcpy(in + 2, at, (size_t)r->rank * sizeof *at);
  sw_mlir_line(
      &r->s->w,
      &(sw_line){.op = "stablehlo.dynamic_update_slice", .n_in = 2 + r->rank, .n_out = 1, .in = in, .out = &y});
  return y;
}

/* Is a position of the box inside the extent that came? */
static sw_ssa emit_inside_extent(const rounds *r, const char *table, sw_type box) {
  sw_mlir *w = &r->s->w;
  sw_type index = {SW_I64, box.rank, box.dims};
  sw_ssa all = {0};
  for (int d = 0; d < r->rank; d++) {
    sw_ssa extent = sw_mlir_spread(w, emit_row_number(r, table, 2 * r->n_axes + 2 * r->rank + d, false), index);
    sw_ssa here = sw_mlir_compare(w, "LT", sw_mlir_iota(w, index, d), extent);
    all = d ? sw_mlir_binary(w, "stablehlo.and", all, here, NULL) : here;
  }
  return all;
}

static sw_ssa write_round(const rounds *r, int round, const int64_t *table, const int64_t *dims, sw_ssa x, sw_ssa y) {
  sw_mlir *w = &r->s->w;
  sw_type box = sw_mlir_shaped(w, x.type.dtype, r->rank, dims);
  const char *name = put_table(r, table);
  sw_ssa source[SW_MAX_RANK], target[SW_MAX_RANK];
  for (int d = 0; d < r->rank; d++) {
    source[d] = emit_row_number(r, name, 2 * r->n_axes + d, false);
    target[d] = emit_row_number(r, name, 2 * r->n_axes + r->rank + d, false);
  }
  sw_ssa got = slice_at(r, x, source, box);
  if (round > 0) {
    sw_ssa piece = got;
    (void)put_partner(r, "send", "destination", name, 0, piece);
    got = put_partner(r, "recv", "source", name, r->n_axes, piece);
  }
  sw_ssa args[3] = {emit_inside_extent(r, name, box), got, slice_at(r, y, target, box)}, new = sw_mlir_temp(w, box);
  sw_mlir_line(w, &(sw_line){"stablehlo.select", 3, 1, args, &new, NULL, NULL});
  return update_at(r, y, target, new);
}

/* The block with room behind it, so that a box at its end is not moved. */
static sw_ssa pad_with_room(const rounds *r, sw_ssa x, const int64_t *room) {
  int64_t dims[SW_MAX_RANK];
  for (int d = 0; d < r->rank; d++) dims[d] = x.type.dims[d] + room[d];
  return sw_mlir_fit(&r->s->w, x, dims);
}

/* What is said in a round. */
typedef struct saying {
  int64_t *table, box[SW_MAX_RANK];
} saying;

static sw_rc fill_round_tables(const rounds *r, saying *all, int64_t *room, sw_diag *d) {
  int64_t *partner;
  SW_ARENA_NEW(partner, &r->s->w.arena, 2 * r->devices, d);
  for (int i = 0; i < r->n; i++) {
    SW_ARENA_NEW(all[i].table, &r->s->w.arena, count_table_columns(r) * r->devices, d);
    fill_round_table(r, i, all[i].table, partner, all[i].box);
    for (int k = 0; k < r->rank; k++) room[k] = sw_max_i64(room[k], all[i].box[k]);
  }
  return SW_OK;
}

static sw_rc write_rounds_body(const rounds *r, sw_type in, sw_type out, sw_diag *d) {
  sw_mlir *w = &r->s->w;
  saying *all;
  int64_t room[SW_MAX_RANK] = {0};
  _Alignas(16) unsigned char fill[16] = {0};
  SW_ARENA_NEW(all, &w->arena, r->n, d);
  SW_TRY(fill_round_tables(r, all, room, d));
  if (r->c->fill_outside) sw_element_store(in.dtype, r->c->fill, fill);
  sw_text_puts(w->out, "    %me = shard.process_linear_index on @mesh : index\n");
  sw_ssa x = pad_with_room(r, (sw_ssa){"%x", in}, room), y = pad_with_room(r, sw_mlir_constant(w, out, fill), room);
  for (int i = 0; i < r->n; i++) {
    bool any = false;
    for (int k = 0; k < r->rank; k++) any = any || all[i].box[k] > 0;
    if (any) y = write_round(r, i, all[i].table, all[i].box, x, y);
  }
  sw_ssa z = sw_mlir_fit(w, y, out.dims);
  sw_text_printf(w->out, "    return %s : ", z.name);
  sw_mlir_type(&out, w->out);
  sw_text_puts(w->out, "\n");
  return SW_OK;
}

sw_rc sw_spmd_write_rounds(sw_spmd_writer *s, const sw_collective *c, sw_type in, sw_type out, sw_text *body,
                           sw_diag *d) {
  sw_mlir *w = &s->w, outer = s->w;
  rounds r = {.s = s,
              .mesh = s->spmd->mesh,
              .c = c,
              .rank = in.rank,
              .n_axes = w->grid.n,
              .devices = sw_mesh_devices(s->spmd->mesh)};
  sw_rc rc = SW_OK;
  for (int64_t to = 0; to < r.devices && !rc && r.all.n <= MOST_NUMBERS; to++) {
    rc = sw_tiling_moves_to(r.mesh, c->src, c->dst, to, note_message, &r, d);
  }
  if (!rc && in.rank > 0 && r.all.n <= MOST_NUMBERS) rc = share_out(&r, d);
  if (!rc && r.n > 0 && r.n * count_table_columns(&r) * r.devices <= MOST_NUMBERS) {
    w->out = body;
    w->n_temps = 0;
    w->at = (sw_source){0};
    rc = write_rounds_body(&r, in, out, d);
    w->out = outer.out;
    w->n_temps = outer.n_temps;
    w->at = outer.at;
  }
  sw_array_free(&r.all);
  return rc;
}
