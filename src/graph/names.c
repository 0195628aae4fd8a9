/* Opcodes, attribute keys and precisions as text, and back; what the public columns of an op's row say. */
#include <string.h>

#include "shardwright/op.h"

static const struct {
  const char *text, *doc;
  sw_op_class class;
} kOps[SW_OP_COUNT] = {
#define SW_COLUMN_NAME(id, text, class, doc) {text, doc, SW_OPS_##class},
#include "shardwright/ops.def"
};

/* `of`: operands, as bits, whose elements results hold. */
static const struct {
  sw_content content;
  uint32_t of;
} kContents[SW_OP_COUNT] = {
#define CONTENT_none SW_CONTENT_COMPUTED, 0
#define CONTENT_ROUNDED SW_CONTENT_ROUNDED, 1
#define CONTENT_EXACT SW_CONTENT_EXACT, 0
#define CONTENT_CHOSEN(operands) SW_CONTENT_CHOSEN, operands
#define CONTENT_MOVED SW_CONTENT_MOVED, 1
#define SW_COLUMN_CONTENT(id, content) {CONTENT_##content},
#include "shardwright/ops.def"
};

static const struct {
  const char *text;
  sw_attr_kind kind;
} kAttrs[] = {
#define SW_X(id, text, kind) [SW_ATTR_##id] = {text, SW_ATTR_KIND_##kind},
    SW_ATTRS(SW_X)
#undef SW_X
};
_Static_assert(sizeof kAttrs / sizeof *kAttrs == SW_ATTR_COUNT, "one row per attribute key");

const char *sw_opcode_text(sw_opcode c) { return (unsigned)c < SW_OP_COUNT ? kOps[c].text : "?"; }
const char *sw_opcode_doc(sw_opcode c) { return (unsigned)c < SW_OP_COUNT ? kOps[c].doc : "?"; }
sw_op_class sw_op_class_of(sw_opcode c) { return kOps[c].class; }
sw_content sw_content_of(sw_opcode c) { return kContents[c].content; }
bool sw_opcode_holds(sw_opcode c, int operand) { return operand < 32 && kContents[c].of >> operand & 1; }

bool sw_opcode_parse(const char *text, sw_opcode *out) {
  for (int i = 0; i < SW_OP_COUNT; i++) {
    if (strcmp(kOps[i].text, text) != 0) continue;
    *out = (sw_opcode)i;
    return true;
  }
  return false;
}

const char *sw_attr_text(sw_attr_key k) { return (unsigned)k < SW_ATTR_COUNT ? kAttrs[k].text : "?"; }
sw_attr_kind sw_attr_kind_of(sw_attr_key k) { return kAttrs[k].kind; }

bool sw_attr_parse_key(const char *text, sw_attr_key *out) {
  for (int i = 0; i < SW_ATTR_COUNT; i++) {
    if (strcmp(kAttrs[i].text, text) != 0) continue;
    *out = (sw_attr_key)i;
    return true;
  }
  return false;
}

static const char *const kPrecisions[SW_PRECISION_COUNT] = {"highest", "high", "default"};

const char *sw_precision_text(sw_precision p) { return (unsigned)p < SW_PRECISION_COUNT ? kPrecisions[p] : "?"; }

bool sw_precision_parse(const char *text, sw_precision *out) {
  for (int i = 0; i < SW_PRECISION_COUNT; i++) {
    if (strcmp(kPrecisions[i], text) != 0) continue;
    *out = (sw_precision)i;
    return true;
  }
  return false;
}
