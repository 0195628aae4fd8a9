/* A program: its text, the tree of it, the graph, and which value stands for which result. */
#ifndef MLIR_PROGRAM_H_
#define MLIR_PROGRAM_H_

#include "mlir/import/import.h"
#include "mlir/import/import_trace.h"
#include "shardwright/local.h"

struct sw_program {
  char *file, *text; /* owned */
  sw_ir_tree tree;
  sw_ir_names names;
  sw_graph *graph;
  sw_graph *whole;      /* before what nobody reads was dropped; NULL: there was nothing */
  sw_graph *as_written; /* before attention was fused; NULL: it was not */
  uint32_t main, module, open_axes;
  sw_ir_trace trace;
  bool is_local;     /* read as what one device runs */
  bool is_resharded; /* has collectives of whole tensors, or reshards written out */
  bool is_spmd;      /* says that it is a partitioned program, as this project writes them */
  sw_local_program local;
  sw_arena arena; /* of the latter */
};

#endif
