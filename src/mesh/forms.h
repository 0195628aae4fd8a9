/* One row per spelling of a sharding; each spelling is one file. */
#ifndef SRC_MESH_FORMS_H_
#define SRC_MESH_FORMS_H_

#include "mesh/reader.h"
#include "shardwright/sharding.h"

/* What a reader of a spelling gets. */
typedef struct sw_form_input {
  const sw_mesh *mesh;
  int rank;
  sw_reader *reader;
  sw_arena *arena;
  uint32_t *open; /* dims that are left open, as bits; NULL: nobody asks */
} sw_form_input;

/* What a spelling can say beyond whole axes on dimensions. */
enum {
  SW_FORM_SAYS_SUBAXES = 1,
  SW_FORM_SAYS_PARTIAL = 2,
  SW_FORM_SAYS_OFFSETS = 4, /* and halos */
};

typedef struct sw_form_row {
  const char *name; /* for messages: "the shard dialect" */
  unsigned says;
  sw_rc (*print)(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d);
  sw_rc (*read)(const sw_form_input *in, sw_sharding *s, sw_diag *d);
} sw_form_row;

extern const sw_form_row sw_form_native, sw_form_shard, sw_form_sdy, sw_form_jax, sw_form_dtensor;

/* What stands around a sharding that is copied from a program. */
typedef struct sw_form_wrapping {
  int form;             /* sw_sharding_form; -1: it stands alone */
  const char *close[2]; /* what must follow the sharding */
  bool may_have_type;   /* and what may: ": !shard.sharding" */
} sw_form_wrapping;
/* Steps over what stands before it. */
void sw_form_unwrap(sw_reader *r, sw_form_wrapping *out);
sw_rc sw_form_wrap_end(sw_reader *r, const sw_form_wrapping *w, sw_diag *d);

/* Push with a message when the table is full or the dimension is beyond the rank. */
sw_rc sw_form_push(const sw_form_input *in, sw_sharding *s, int dim, sw_axis_ref ref, sw_diag *d);
sw_rc sw_form_push_partial(const sw_form_input *in, sw_sharding *s, sw_reduction kind, sw_axis_ref ref, sw_diag *d);
/* Dim `dim` may be cut further. */
void sw_form_leave_open(const sw_form_input *in, int dim);
/* "sum [a, b]" */
sw_rc sw_form_read_partial(const sw_form_input *in, sw_sharding *s, sw_diag *d);

/* "[[a, b], [], [c]]": lists of axes between the given brackets, one per dimension, and "?" last in those that are
 * open, where somebody asks for these. `elements` are read by sw_axis_ref_read. Rank 0 may be written [] and [[]]. */
sw_rc sw_form_read_dims(const sw_form_input *in, const char *open, const char *close, sw_sharding *s, sw_diag *d);
/* The offsets or halos that follow a word: checks how many there are. */
sw_rc sw_form_read_offsets(const sw_form_input *in, sw_sharding *s, sw_diag *d);
sw_rc sw_form_read_halos(const sw_form_input *in, sw_sharding *s, sw_diag *d);
/* " offsets=[0,24]" and " halos=[1,2]", with the given words before the list; nothing when there are none. */
void sw_form_print_lists(const sw_sharding *s, const char *offsets_word, const char *halos_word, sw_text *out);

#endif
