/* The shardings that a text says, each where it stands, for passes that read them or say others.
 *
 * A place is an attribute or an operand that says shardings of one or several values: those of the arguments or results
 * of a function, `sdy.sharding` of an op (one for each result), in_shardings and out_shardings of a region, the
 * sharding of a constraint, an edge or a collective. Each has its slots in one list, whether something is said or not.
 * What a pass says goes into the text after it.
 */
#ifndef MLIR_OPT_SHARDINGS_H_
#define MLIR_OPT_SHARDINGS_H_

#include "mlir/flow/program_flow.h"
#include "mlir/text/values.h"

typedef struct sw_opt_work sw_opt_work;

typedef enum sw_sharded_kind {
  SW_SHARDED_ARGUMENTS,
  SW_SHARDED_RESULTS, /* of a function */
  SW_SHARDED_OP,
  SW_SHARDED_IN, /* in_shardings: the values are arguments of the region */
  SW_SHARDED_OUT,
  SW_SHARDED_INSIDE /* one sharding that is part of the op */
} sw_sharded_kind;

typedef struct sw_sharded_place {
  sw_sharded_kind kind;
  uint32_t op, first, n; /* slots [first, first + n) */
  sw_ir_span text;       /* the whole of what is said, as it stands; empty: nothing */
  bool changed;
} sw_sharded_place;

typedef struct sw_sharded_slot {
  uint32_t place, value; /* SW_IR_NONE: of no value of its own (results of functions, ops without results) */
  sw_ir_span type;
  sw_ir_span said; /* "<@mesh, [...]>", aliases looked up; empty: nothing */
  const char *now; /* what a pass says instead; "": nothing. NULL: it stays */
} sw_sharded_slot;

typedef struct sw_opt_shardings {
  SW_ARRAY(sw_sharded_place) places; /* in the order of ops */
  SW_ARRAY(sw_sharded_slot) slots;
  uint32_t *of_op;    /* by op: its first place; of results, and of out_shardings, it is the next one */
  uint32_t *of_value; /* by value: its slot; SW_IR_NONE: it has none */
  sw_sdy_text words;  /* meshes, for reading and printing shardings */
} sw_opt_shardings;

/* Fills w->shardings; opt/run.c calls it. Meshes that shardings write out are added as they are read. */
SW_CHECKED sw_rc sw_opt_read_shardings(sw_opt_work *w);
void sw_opt_free_shardings(sw_opt_shardings *s);

/* The first place of an op, which has one. */
const sw_sharded_place *sw_opt_place(const sw_opt_work *w, uint32_t op);
/* The sharding of a slot as it is now; *any false: it has none. */
SW_CHECKED sw_rc sw_opt_sharding(sw_opt_work *w, uint32_t slot, sw_open_sharding *out, bool *any);
/* The same as text in one spelling, "" for none; NULL with *rc: it is not a sharding. */
SW_CHECKED sw_rc sw_opt_sharding_text(sw_opt_work *w, uint32_t slot, const char **out);
/* Those of a place as they are now, "[<...>, <...>]"; missing ones are open, "" where all are missing. */
SW_CHECKED sw_rc sw_opt_sharding_list(sw_opt_work *w, const sw_sharded_place *p, const char **out);
SW_CHECKED sw_rc sw_opt_spell(sw_opt_work *w, const sw_open_sharding *s, const char **out);
/* Is something said of it? Where shardings are a list, of any of the list. */
bool sw_opt_says(const sw_opt_work *w, uint32_t slot);
/* Say a sharding; "" or NULL: none. The text is borrowed. */
void sw_opt_say_text(sw_opt_work *w, uint32_t slot, const char *text);
SW_CHECKED sw_rc sw_opt_say(sw_opt_work *w, uint32_t slot, const sw_open_sharding *s);
/* The mesh that a sharding speaks of. */
static inline const sw_text_mesh *sw_opt_mesh(const sw_opt_shardings *s, const sw_open_sharding *o) {
  return &s->words.meshes.at[o->mesh];
}
/* The same axes in all dimensions, and unreduced over the same? */
static inline bool sw_opt_cut_alike(const sw_open_sharding *a, const sw_open_sharding *b) {
  return a->mesh == b->mesh && sw_sharding_equal(&a->cut, &b->cut);
}
/* The type of a slot's value; *known false: none of known sizes. */
SW_CHECKED sw_rc sw_opt_slot_type(sw_opt_work *w, uint32_t slot, sw_type *out, bool *known);

/* Axes by number of the mesh: those that a manual computation has its own body for; 0 of other places. */
uint32_t sw_opt_manual_axes(const sw_opt_work *w, const sw_sharded_place *p, const sw_mesh *m);

/* Edits for what was said, but for ops that are erased; opt/run.c calls it. */
SW_CHECKED sw_rc sw_opt_settle_shardings(sw_opt_work *w);

#endif
