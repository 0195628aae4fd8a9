/* What the parts of the parser share: parse.c keeps files, blocks and regions, op.c reads one op up to a region. */
#ifndef MLIR_PARSER_H_
#define MLIR_PARSER_H_

#include "mlir/text/text_scan.h"

/* How much of the tree there was before an op. */
typedef struct sw_ir_mark {
  size_t ops, uses, results, args, blocks, regions;
} sw_ir_mark;

/* A block that is being filled; frame 0 is the file. */
typedef struct sw_ir_frame {
  uint32_t region, block, last_op, last_region; /* last_region: of the op, for its chain */
  uint32_t op;                                  /* whose region it is; goes on behind the region */
  sw_ir_mark before;                            /* that op */
} sw_ir_frame;

typedef struct sw_ir_parser {
  sw_ir_tree *t;
  const char *s;
  uint32_t i, n;
  sw_ir_closers closers;
  SW_ARRAY(sw_ir_frame) frames;
  bool forgets; /* ops that are read to their end leave the tree again */
  sw_ir_flaw flaw;
  sw_diag *d;
} sw_ir_parser;

/* How the reading of an op stopped. */
typedef enum sw_ir_stop { SW_IR_AT_REGION, SW_IR_AT_END } sw_ir_stop;

/* Read an op from its beginning, or from behind one of its regions, up to the next region's brace or the op's end. */
SW_CHECKED sw_rc sw_ir_begin_op(sw_ir_parser *p, uint32_t *op, sw_ir_stop *stop);
SW_CHECKED sw_rc sw_ir_resume_op(sw_ir_parser *p, uint32_t op, sw_ir_stop *stop);

/* (%a: T {..} loc(..), ...): appends to the tree's arguments. */
SW_CHECKED sw_rc sw_ir_read_args(sw_ir_parser *p, uint32_t *count);

static inline sw_ir_op *sw_ir_op_at(const sw_ir_parser *p, uint32_t op) { return &p->t->ops.at[op]; }
static inline uint32_t sw_ir_skip(sw_ir_parser *p) { return p->i = sw_ir_blanks(p->s, p->i); }

#endif
