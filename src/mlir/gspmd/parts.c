/* Which ops belong to a part for one device (gspmd.h): values of such parts are followed through the text once, and
 * parts that meet in an op are one.
 */
#include "mlir/gspmd/gspmd.h"

#include <stdlib.h>
#include <string.h>

static bool calls(const sw_ir_tree *t, const sw_ir_op *o, const char *target) {
  return sw_ir_is_among(t, o->name, "stablehlo.custom_call mhlo.custom_call") &&
         sw_ir_is(t, sw_ir_call_target(t, o), target);
}

bool sw_im_goes_in(const sw_ir_tree *t, const sw_ir_op *o) { return calls(t, o, "SPMDFullToShardShape"); }
bool sw_im_goes_out(const sw_ir_tree *t, const sw_ir_op *o) { return calls(t, o, "SPMDShardToFullShape"); }

/* A part while it is being found. */
typedef struct draft {
  uint32_t same_as; /* itself, or an earlier one that it has met */
  uint32_t block, first, last, first_out, n_in, n_out;
  bool broken; /* it cannot be taken out */
} draft;

typedef struct finder {
  sw_importer *m;
  sw_im_parts *parts;
  const sw_ir_tree *t;
  const sw_ir_names *names;
  SW_ARRAY(draft) drafts; /* of the function at hand, as are the next three */
  uint32_t *local;        /* by slot: 0, or 1 + the draft that makes it */
  uint32_t *made_by;      /* by slot: 1 + the op that makes it, or whose block has it as argument */
  uint32_t *seen;         /* by slot: 1 + the last draft that was found to read it */
  uint32_t *draft_of;     /* by op: 0, or 1 + its draft */
  SW_ARRAY(sw_im_part) out;
} finder;

static draft *root_draft(finder *f, uint32_t i) {
  while (f->drafts.at[i].same_as != i) i = f->drafts.at[i].same_as;
  return &f->drafts.at[i];
}
static uint32_t root_index(finder *f, uint32_t i) { return (uint32_t)(root_draft(f, i) - f->drafts.at); }

/* The op of the block that `op` stands in, however deep. */
static uint32_t in_block(const finder *f, uint32_t op, uint32_t block) {
  while (op != SW_IR_NONE && f->t->ops.at[op].block != block) {
    uint32_t region = f->t->blocks.at[f->t->ops.at[op].block].region;
    op = region == SW_IR_NONE ? SW_IR_NONE : f->t->regions.at[region].op;
  }
  return op;
}

static void join_draft(finder *f, uint32_t op, uint32_t i) {
  uint32_t *of = &f->draft_of[op];
  i = root_index(f, i);
  if (!*of) {
    *of = i + 1;
    return;
  }
  uint32_t j = root_index(f, *of - 1);
  if (i == j) return;
  draft *to = &f->drafts.at[i < j ? i : j], *from = &f->drafts.at[i < j ? j : i];
  from->same_as = (uint32_t)(to - f->drafts.at);
  to->broken = to->broken || from->broken || to->block != from->block;
}

/* The slots of an op's results get `v`. */
static void fill_result_slots(const finder *f, uint32_t op, uint32_t *by_slot, uint32_t v) {
  const sw_ir_op *o = &f->t->ops.at[op];
  for (uint32_t k = o->first_result; k < o->first_result + o->n_results; k++) {
    for (uint32_t i = 0; i < f->t->results.at[k].count; i++) by_slot[f->names->result[k] + i] = v;
  }
}

static void note_definitions(finder *f, uint32_t op) {
  const sw_ir_op *o = &f->t->ops.at[op];
  fill_result_slots(f, op, f->made_by, op + 1);
  if (sw_ir_is_function(f->t, o)) return; /* its arguments are there from the beginning: 0 */
  for (uint32_t r = o->first_region; r != SW_IR_NONE; r = f->t->regions.at[r].next) {
    for (uint32_t b = f->t->regions.at[r].first_block; b != SW_IR_NONE; b = f->t->blocks.at[b].next) {
      for (uint32_t i = 0; i < f->t->blocks.at[b].n_args; i++) f->made_by[f->names->block[b] + i] = op + 1;
    }
  }
}

static sw_rc begin_draft(finder *f, uint32_t op) {
  draft d = {.same_as = (uint32_t)f->drafts.n, .block = f->t->ops.at[op].block, .first = SW_IR_NONE};
  SW_TRY(sw_array_push(&f->drafts, d, f->m->d));
  join_draft(f, op, d.same_as);
  return SW_OK;
}

/* The number of a device is of a part, too, when it meets one. */
static bool is_device_number_op(const finder *f, const sw_ir_op *o) {
  return sw_ir_is_among(f->t, o->name, "stablehlo.partition_id stablehlo.replica_id mhlo.partition_id mhlo.replica_id");
}

static sw_rc visit_part_op(finder *f, uint32_t op) {
  const sw_ir_op *o = &f->t->ops.at[op];
  note_definitions(f, op);
  if (sw_im_goes_in(f->t, o) || is_device_number_op(f, o)) SW_TRY(begin_draft(f, op));
  for (uint32_t i = 0; i < o->n_uses; i++) {
    uint32_t by = f->local[f->names->use[o->first_use + i]];
    if (!by) continue;
    uint32_t outer = in_block(f, op, root_draft(f, by - 1)->block);
    if (outer == SW_IR_NONE || sw_ir_is_return(f->t, &f->t->ops.at[outer]) || (sw_im_goes_in(f->t, o) && outer == op)) {
      root_draft(f, by - 1)->broken = true;
      continue;
    }
    join_draft(f, outer, by - 1);
    if (outer != op) fill_result_slots(f, outer, f->local, f->draft_of[outer]);
  }
  if (f->draft_of[op] && !sw_im_goes_out(f->t, o)) fill_result_slots(f, op, f->local, f->draft_of[op]);
  return SW_OK;
}

/* --- what they consist of ----------------------------------------------------------------------------------------- */

static void count_draft_op(finder *f, uint32_t op) {
  if (!f->draft_of[op]) return;
  draft *d = root_draft(f, f->draft_of[op] - 1);
  const sw_ir_op *o = &f->t->ops.at[op];
  bool in = sw_im_goes_in(f->t, o), out = sw_im_goes_out(f->t, o);
  if ((in || out) && (o->n_uses != 1 || sw_ir_result_count(f->t, o) != 1)) d->broken = true;
  if (in && d->n_out) d->broken = true; /* comes in too late */
  if (out && !d->n_out) d->first_out = op;
  if (d->first == SW_IR_NONE) d->first = op;
  d->last = op;
  d->n_in += in;
  d->n_out += out;
}

/* Lists of a part, growing. */
typedef struct gathered {
  SW_ARRAY(uint32_t) ops;
  SW_ARRAY(uint32_t) in;
  SW_ARRAY(uint32_t) out;
  SW_ARRAY(uint32_t) captured;
} gathered;

static bool is_constant(const finder *f, uint32_t by, uint32_t block) {
  const sw_ir_row *row = by ? sw_ir_row_of(f->t, f->t->ops.at[by - 1].name) : NULL;
  return row && row->import == sw_im_constant && f->t->ops.at[by - 1].block == block;
}

/* What op `i`, which is `outer` of the part or inside of it, reads from around the part. */
static sw_rc gather_reads(finder *f, uint32_t i, uint32_t outer, draft *d, gathered *g) {
  const sw_ir_op *o = &f->t->ops.at[i];
  uint32_t mark = (uint32_t)(d - f->drafts.at) + 1;
  for (uint32_t k = 0; k < o->n_uses; k++) {
    uint32_t slot = f->names->use[o->first_use + k], by = f->made_by[slot];
    if (f->local[slot] || (by && by - 1 >= outer) || f->seen[slot] == mark) continue;
    f->seen[slot] = mark;
    if (by && by - 1 > d->first_out) d->broken = true;
    if (is_constant(f, by, d->block))
      SW_TRY(sw_array_push(&g->ops, by - 1, f->m->d));
    else
      SW_TRY(sw_array_push(&g->captured, slot, f->m->d));
  }
  return SW_OK;
}

static sw_rc gather_draft_ops(finder *f, draft *d, gathered *g) {
  uint32_t end = f->t->ops.at[d->last].text.end;
  for (uint32_t i = d->first; i < f->t->ops.n && f->t->ops.at[i].text.at < end; i++) {
    const sw_ir_op *o = &f->t->ops.at[i];
    uint32_t outer = in_block(f, i, d->block);
    if (outer == SW_IR_NONE || !f->draft_of[outer] || root_draft(f, f->draft_of[outer] - 1) != d) continue;
    if (outer == i) SW_TRY(sw_array_push(&g->ops, i, f->m->d));
    if (outer == i && sw_im_goes_in(f->t, o)) {
      SW_TRY(sw_array_push(&g->in, i, f->m->d));
      continue;
    }
    if (outer == i && sw_im_goes_out(f->t, o)) SW_TRY(sw_array_push(&g->out, i, f->m->d));
    SW_TRY(gather_reads(f, i, outer, d, g));
  }
  return SW_OK;
}

static sw_rc keep_gathered_ops(finder *f, gathered *g, sw_im_part *out) {
  if (g->ops.n) qsort(g->ops.at, g->ops.n, sizeof *g->ops.at, sw_ir_compare_ops); /* constants before what reads them */
  *out = (sw_im_part){.n_ops = (uint32_t)g->ops.n,
                      .n_in = (uint32_t)g->in.n,
                      .n_out = (uint32_t)g->out.n,
                      .n_captured = (uint32_t)g->captured.n};
  sw_arena *a = &f->m->keep;
  out->ops = sw_arena_copy(a, g->ops.at, g->ops.n, sizeof *g->ops.at, f->m->d);
  out->in = sw_arena_copy(a, g->in.at, g->in.n, sizeof *g->in.at, f->m->d);
  out->out = sw_arena_copy(a, g->out.at, g->out.n, sizeof *g->out.at, f->m->d);
  out->captured = sw_arena_copy(a, g->captured.at, g->captured.n, sizeof *g->captured.at, f->m->d);
  return out->ops && out->in && out->out && out->captured ? SW_OK : SW_E_RESOURCE;
}

static sw_rc add_drafted_part(finder *f, draft *d) {
  gathered g = {0};
  sw_im_part part;
  sw_rc rc = gather_draft_ops(f, d, &g);
  if (!rc && !d->broken) rc = keep_gathered_ops(f, &g, &part);
  if (!rc && !d->broken) rc = sw_array_push(&f->out, part, f->m->d);
  for (uint32_t i = 0; i < part.n_ops && !rc && !d->broken; i++) {
    if (f->draft_of[part.ops[i]]) f->parts->part_of[part.ops[i]] = (uint32_t)f->out.n;
  }
  sw_array_free(&g.ops);
  sw_array_free(&g.in);
  sw_array_free(&g.out);
  sw_array_free(&g.captured);
  return rc;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static sw_rc search_function(finder *f, uint32_t function) {
  const uint32_t slots = f->names->n_slots[function];
  const uint32_t end = sw_ir_op_from(f->t, function + 1, f->t->ops.at[function].text.end);
  SW_ARENA_NEW_EACH(&f->m->scratch, slots, f->m->d, f->local, f->made_by, f->seen);
  f->drafts.n = 0;
  for (uint32_t i = function + 1; i < end; i++) SW_TRY(visit_part_op(f, i));
  for (uint32_t i = function + 1; i < end; i++) count_draft_op(f, i);
  for (uint32_t i = 0; i < f->drafts.n; i++) {
    draft *d = &f->drafts.at[i];
    if (d->same_as == i && !d->broken && d->n_in && d->n_out) SW_TRY(add_drafted_part(f, d));
  }
  sw_arena_reset(&f->m->scratch);
  return SW_OK;
}

static sw_rc search_for_parts(finder *f) {
  SW_ARENA_NEW_EACH(&f->m->keep, f->t->ops.n, f->m->d, f->parts->part_of, f->draft_of);
  SW_TRY(sw_array_reserve(&f->drafts, 1, f->m->d));
  for (uint32_t i = 0; i < f->t->ops.n; i++) {
    if (sw_ir_is_function(f->t, &f->t->ops.at[i])) SW_TRY(search_function(f, i));
  }
  f->parts->n = (uint32_t)f->out.n;
  f->parts->at = sw_arena_copy(&f->m->keep, f->out.at, f->out.n, sizeof *f->out.at, f->m->d);
  return f->parts->at ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_find_parts(sw_importer *m) {
  finder f = {.m = m, .parts = sw_gspmd_parts_of(m), .t = m->t, .names = m->names};
  if (!strstr(m->t->s, "SPMDFullToShardShape")) return SW_OK;
  sw_rc rc = search_for_parts(&f);
  sw_array_free(&f.drafts);
  sw_array_free(&f.out);
  return rc;
}
