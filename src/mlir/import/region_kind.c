/* Which reduction a region of one scalar op computes. */
#include <string.h>

#include "mlir/import/dense.h"
#include "mlir/import/import.h"
#include "mlir/import/types.h"

typedef struct kind_row {
  const char *name;
  sw_reduction kind, of_bool;
  sw_opcode combine;
} kind_row;

static const kind_row kKinds[] = {
    {"add", SW_REDUCE_SUM, SW_REDUCE_OR, SW_OP_ADD},
    {"multiply", SW_REDUCE_PRODUCT, SW_REDUCE_AND, SW_OP_MULTIPLY},
    {"maximum", SW_REDUCE_MAX, SW_REDUCE_OR, SW_OP_MAXIMUM},
    {"minimum", SW_REDUCE_MIN, SW_REDUCE_AND, SW_OP_MINIMUM},
    {"and", SW_REDUCE_BIT_AND, SW_REDUCE_AND, SW_OP_AND},
    {"or", SW_REDUCE_BIT_OR, SW_REDUCE_OR, SW_OP_OR},
    {"xor", SW_REDUCE_BIT_XOR, SW_REDUCE_BIT_XOR, SW_OP_XOR},
};

bool sw_im_word_kind(const sw_importer *m, sw_ir_span name, sw_dtype t, sw_reduction *out) {
  const sw_ir_row *row = sw_ir_row_of(m->t, name);
  for (size_t i = 0; row && i < sizeof kKinds / sizeof *kKinds; i++) {
    if (strcmp(row->name, kKinds[i].name) != 0) continue;
    *out = t == SW_BOOL ? kKinds[i].of_bool : kKinds[i].kind;
    return true;
  }
  return false;
}

sw_opcode sw_im_combiner(sw_reduction kind) {
  for (size_t i = 0; i < sizeof kKinds / sizeof *kKinds; i++) {
    if (kKinds[i].kind == kind || kKinds[i].of_bool == kind) {
      return kind == SW_REDUCE_OR ? SW_OP_OR : kind == SW_REDUCE_AND ? SW_OP_AND : kKinds[i].combine;
    }
  }
  return SW_OP_COUNT;
}

/* --- regions ----------------------------------------------------------------------------------------------------- */

static bool is_return(const sw_importer *m, uint32_t op) {
  return op != SW_IR_NONE && sw_ir_is_return(m->t, sw_im_op(m, op)) && sw_im_op(m, op)->n_uses == 1;
}

static uint32_t only_block(const sw_importer *m, uint32_t region) {
  if (region == SW_IR_NONE) return SW_IR_NONE;
  uint32_t block = m->t->regions.at[region].first_block;
  return block != SW_IR_NONE && m->t->blocks.at[block].n_args == 2 ? block : SW_IR_NONE;
}

/* The op of a block that gives the slot; NULL: none. */
static const sw_ir_op *giver(const sw_importer *m, uint32_t block, uint32_t slot) {
  for (uint32_t i = m->t->blocks.at[block].first_op; i != SW_IR_NONE; i = sw_im_op(m, i)->next) {
    const sw_ir_op *o = sw_im_op(m, i);
    if (o->n_results == 1 && m->names->result[o->first_result] == slot) return o;
  }
  return NULL;
}

/* Behind ops that only say something about the value. */
static const sw_ir_op *giver_behind(const sw_importer *m, uint32_t block, uint32_t slot) {
  const sw_ir_op *o = giver(m, block, slot);
  while (o && sw_im_sees_through(m->t, o)) o = giver(m, block, m->names->use[o->first_use]);
  return o;
}

static bool is_bool_constant(const sw_importer *m, const sw_ir_op *o, const char *want) {
  const sw_ir_row *row = o ? sw_ir_row_of(m->t, o->name) : NULL;
  if (!row || row->import != sw_im_constant) return false;
  sw_ir_span in = sw_ir_inside(m->t, sw_ir_constant_literal(m->t, o));
  return sw_ir_is(m->t, sw_ir_trimmed(m->t, in), want);
}

/* Slot of p where the value is select(p, true, false); else the slot itself. */
static uint32_t behind_select(const sw_importer *m, uint32_t block, uint32_t slot) {
  const sw_ir_op *o = giver(m, block, slot);
  const sw_ir_row *row = o ? sw_ir_row_of(m->t, o->name) : NULL;
  if (!row || row->code != SW_OP_SELECT || o->n_uses != 3) return slot;
  const uint32_t *use = &m->names->use[o->first_use];
  bool is_its =
      is_bool_constant(m, giver(m, block, use[1]), "true") && is_bool_constant(m, giver(m, block, use[2]), "false");
  return is_its ? use[0] : slot;
}

bool sw_im_region_kind(const sw_importer *m, uint32_t region, sw_reduction *out) {
  uint32_t block = only_block(m, region);
  if (block == SW_IR_NONE) return false;
  uint32_t ret = m->t->blocks.at[block].first_op, first = m->names->block[block];
  while (ret != SW_IR_NONE && sw_im_op(m, ret)->next != SW_IR_NONE) ret = sw_im_op(m, ret)->next;
  if (!is_return(m, ret)) return false;
  uint32_t given = behind_select(m, block, m->names->use[sw_im_op(m, ret)->first_use]);
  const sw_ir_op *o = giver_behind(m, block, given);
  if (!o || o->n_uses != 2) return false;
  uint32_t a = m->names->use[o->first_use], b = m->names->use[o->first_use + 1];
  bool both = (a == first && b == first + 1) || (a == first + 1 && b == first);
  if (!both) return false;
  sw_type t;
  sw_arena arena = {0};
  sw_rc rc = sw_ir_read_type(m->t, sw_ir_result_type(m->t, o, 0), &arena, &t, NULL);
  sw_arena_deinit(&arena);
  return !rc && sw_im_word_kind(m, o->name, t.dtype, out);
}

bool sw_im_region_replaces(const sw_importer *m, uint32_t region) {
  uint32_t block = only_block(m, region);
  if (block == SW_IR_NONE) return false;
  uint32_t op = m->t->blocks.at[block].first_op;
  return is_return(m, op) && m->names->use[sw_im_op(m, op)->first_use] == m->names->block[block] + 1;
}

sw_ir_span sw_ir_applied(const sw_ir_tree *t, const sw_ir_op *o) {
  for (uint32_t i = o->body.at; i < o->body.end; i++) {
    if (t->s[i] != 'a' || !sw_ir_word(t->s, i, "applies")) continue;
    const uint32_t at = sw_ir_blanks(t->s, i + 7);
    return (sw_ir_span){at, sw_ir_name(t->s, at)};
  }
  return (sw_ir_span){0, 0};
}

const sw_ir_row *sw_im_applied(const sw_importer *m, const sw_ir_op *o, sw_ir_span *name) {
  const sw_ir_span found = sw_ir_applied(m->t, o);
  if (!sw_ir_len(found)) return NULL;
  *name = found;
  return sw_ir_row_of(m->t, found);
}
