/* What the passes of the walk keep in an importer, each its own; no dialect sees it. */
#ifndef MLIR_PASSES_H_
#define MLIR_PASSES_H_

#include "mlir/import/import.h"
#include "mlir/import/import_trace.h"

typedef enum sw_ir_frame_kind {
  SW_IR_IN_MAIN,
  SW_IR_IN_CALL,
  SW_IR_IN_TEST,
  SW_IR_IN_LOOP,
  SW_IR_IN_BRANCH,
  SW_IR_IN_OTHER, /* `leave` says */
  SW_IR_IN_BODY,
  SW_IR_IN_PART /* of an op that is its region: sdy.named_computation */
} sw_ir_frame_kind;

/* A block that is being walked. */
typedef struct sw_ir_walk {
  sw_ir_frame_kind kind;
  uint32_t op;     /* the call, loop or choice that opened it */
  uint32_t cursor; /* next op */
  uint32_t region;
  sw_ir_instance *instance;      /* of the block's values */
  struct sw_ir_control *control; /* of the loop or choice; NULL in functions */
  sw_im_leave leave;             /* of SW_IR_IN_OTHER, and of some parts, with */
  void *state;
} sw_ir_walk;

/* See tuple.h. */
typedef struct sw_ir_tuple {
  uint32_t n, depth;
  const sw_id *items;
} sw_ir_tuple;

/* A collective that one device takes part in: an op of the graph and where it stands. */
typedef struct sw_im_collective_at {
  sw_id op;
  uint32_t text;
} sw_im_collective_at;

/* What an importer has in common with those that read parts of its text on their own. */
typedef struct sw_im_shared {
  sw_dict warned; /* keys of warnings */
  sw_dict places; /* location.c: location to index of `locations` */
  SW_ARRAY(sw_source) locations;
  sw_dict texts, frames, stacks; /* names of files and functions, call frames, stacks of aliases: to what is kept */
  sw_arena *files;               /* these, and argument locations: the program's graph has them */
  char *rules;                   /* custom_rules.c: text of the rules file; NULL: none */
} sw_im_shared;

typedef struct sw_im_passes {
  sw_im_shared *shared;
  bool owns_shared;
  /* The walk (import.c, control.c). */
  SW_ARRAY(sw_ir_walk) walks;
  int64_t n_calls; /* that have been written out */
  sw_ir_trace trace;
  uint32_t n_returned; /* what the last block that was run at once returned */
  sw_id returned[SW_MAX_RESULTS];
  SW_ARRAY(sw_im_collective_at) collectives; /* in ascending order */
  /* Names of values (build.c). */
  sw_dict taken;
  /* Tuples (tuple.c). */
  SW_ARRAY(sw_ir_tuple) tuples;
  struct sw_im_split *split; /* the op whose tuple is given element by element; NULL: none */
  /* What main declares (signature.c): types of its results and their dictionaries, in the keep arena. What its
   * arguments are (roles.c), while they are read; NULL: not of a program. */
  sw_ir_span *declared, *declared_attrs;
  uint32_t n_declared;
  struct sw_roles *roles;
} sw_im_passes;

static inline sw_ir_walk *sw_im_top(const sw_importer *m) { return &m->passes->walks.at[m->passes->walks.n - 1]; }
/* Fill `declared` and `declared_attrs`. */
SW_CHECKED sw_rc sw_im_declare_results(sw_importer *m);

#endif
