/* A dialect: the ops that it has, by rows, and where else it takes part in reading a text.
 *
 * Every dialect is a folder with one value `const sw_dialect sw_dialect_NAME`; import/dialects.c lists them, a line
 * each. Without its line and its folder everything else still compiles and links, and its ops are unknown ones: so
 * nobody outside the folder names what is in it. What a dialect remembers while a text is read is its state, of
 * the size that it says, zeroed, seen by its folder alone.
 *
 * Hooks run in the order of the list; each may be NULL. Where one says that it has done the work, the rest is not
 * asked.
 */
#ifndef MLIR_DIALECT_H_
#define MLIR_DIALECT_H_

#include "mlir/import/annotate.h"

/* A sharding in the text of a dialect, resolved and trimmed, as one over a mesh. */
typedef struct sw_im_said {
  sw_ir_span text;
  const sw_mesh *mesh;
  int rank;
} sw_im_said;

typedef struct sw_dialect_hooks {
  size_t state_bytes;     /* 0: it has no state */
  size_t inherited_bytes; /* of its beginning: whoever reads a part of the text on its own has them, too */
  /* Main is found: the mesh that the text declares into m->own_mesh, of a program of one device its grid into m->cut.
   * *known: one of the hooks before has found how the devices lie. */
  sw_rc (*own_mesh)(sw_importer *m, bool *known);
  /* Before anything is imported: the graph's mesh is known. */
  sw_rc (*open)(sw_importer *m);
  /* The end, also after an error, when there is a state; its memory goes by itself. */
  void (*close)(void *state);

  /* An op in place of its row. The first before its operands are looked at, which may have no values. */
  sw_rc (*take_unread)(sw_importer *m, uint32_t op, bool *done);
  sw_rc (*take)(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done);
  /* A custom call of a target that has no row; its tuple of results is split (tuple.h). A call of a function. */
  sw_rc (*call)(sw_importer *m, uint32_t op, sw_ir_span target, bool *done);
  sw_rc (*callee)(sw_importer *m, uint32_t op, sw_ir_span callee, bool *done);
  /* The results of an op are bound: what its attributes say of them. */
  sw_rc (*results)(sw_importer *m, uint32_t op);
  /* An op is imported; it became ops of the graph from `first` on. */
  sw_rc (*imported)(sw_importer *m, uint32_t op, sw_id first);

  /* Is the op one that brings whole tensors to another sharding? */
  bool (*reshards)(const sw_ir_tree *t, const sw_ir_op *o);
  /* A sharding in the dialect's spelling over a mesh (SW_E_INPUT: it is none over that); as an annotation of a value of
   * the graph, for which what cannot be said in the graph's mesh is left out with a warning. */
  sw_rc (*read_sharding)(sw_importer *m, const sw_im_said *said, sw_arena *arena, sw_sharding *out, bool *done,
                         sw_diag *d);
  sw_rc (*annotate)(sw_importer *m, const sw_im_target *of, sw_ir_span sharding, uint32_t at, bool *done);

  /* Argument `i` of main (no tuple), with its type in the text. */
  sw_rc (*argument)(sw_importer *m, uint32_t i, sw_id value, sw_ir_span type);
  /* All values that main returns, before they become outputs; then each as output `index`, with its type in the text.
   */
  sw_rc (*returned)(sw_importer *m, const sw_id *values, uint32_t n);
  sw_rc (*output)(sw_importer *m, uint32_t ret, sw_id value, int32_t index, sw_ir_span type);
  /* A value is of this type of the text; `to` has what `from` had (a loop or choice hands it on). */
  sw_rc (*typed)(sw_importer *m, sw_id value, sw_ir_span type);
  sw_rc (*handed)(sw_importer *m, sw_id from, sw_id to);
  /* An element type that the graph has not, as the one that it is stored in; the type of a result while such values are
   * read as what they stand for. */
  sw_rc (*element)(const sw_ir_tree *t, sw_ir_span type, sw_dtype *out, bool *known, sw_diag *d);
  sw_rc (*result_type)(sw_importer *m, sw_ir_span type, sw_type *out);
} sw_dialect_hooks;

struct sw_dialect {
  const char *name;
  const sw_ir_row *rows; /* ops. A name without a dialect is spelled alike in stablehlo, mhlo and chlo. */
  size_t n_rows;
  const sw_ir_row *calls; /* custom calls, by target */
  size_t n_calls;
  const sw_dialect_hooks *hooks; /* NULL: none */
};
#define SW_IR_ROWS(rows) rows, sizeof rows / sizeof *rows

/* States of all dialects, which inherit from `from` (NULL: nothing). That of one of them. */
SW_CHECKED sw_rc sw_im_open_states(sw_importer *m, const sw_importer *from);
void *sw_im_state_of(const sw_importer *m, const sw_dialect *dialect);

/* All dialects' hooks of a kind. */
SW_CHECKED sw_rc sw_im_find_own_mesh(sw_importer *m);
bool sw_im_reshards(const sw_ir_tree *t, const sw_ir_op *o);
SW_CHECKED sw_rc sw_im_read_sharding(sw_importer *m, const sw_im_said *said, sw_arena *arena, sw_sharding *out,
                                     sw_diag *d);
SW_CHECKED sw_rc sw_im_annotate_said(sw_importer *m, const sw_im_target *of, sw_ir_span sharding, uint32_t at);
SW_CHECKED sw_rc sw_im_open_dialects(sw_importer *m);
SW_CHECKED sw_rc sw_im_take_unread(sw_importer *m, uint32_t op, bool *done);
SW_CHECKED sw_rc sw_im_take(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done);
SW_CHECKED sw_rc sw_im_take_call(sw_importer *m, uint32_t op, sw_ir_span target, bool *done);
SW_CHECKED sw_rc sw_im_take_callee(sw_importer *m, uint32_t op, sw_ir_span callee, bool *done);
SW_CHECKED sw_rc sw_im_imported(sw_importer *m, uint32_t op, sw_id first);
SW_CHECKED sw_rc sw_im_see_argument(sw_importer *m, uint32_t i, sw_id value, sw_ir_span type);
SW_CHECKED sw_rc sw_im_see_returned(sw_importer *m, const sw_id *values, uint32_t n);
SW_CHECKED sw_rc sw_im_see_output(sw_importer *m, uint32_t ret, sw_id value, int32_t index, sw_ir_span type);
SW_CHECKED sw_rc sw_im_see_type(sw_importer *m, sw_id value, sw_ir_span type);
SW_CHECKED sw_rc sw_im_hand_on(sw_importer *m, sw_id from, sw_id to);
SW_CHECKED sw_rc sw_ir_foreign_element(const sw_ir_tree *t, sw_ir_span type, sw_dtype *out, bool *known, sw_diag *d);
SW_CHECKED sw_rc sw_im_adjust_result_type(sw_importer *m, sw_ir_span type, sw_type *out);

/* The row of a custom call's target; NULL: none. */
const sw_ir_row *sw_ir_call_row(const sw_ir_tree *t, sw_ir_span target);

#endif
