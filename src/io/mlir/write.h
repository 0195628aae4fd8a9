/* What the writer of annotations and the forms of annotations share. */
#ifndef IO_MLIR_WRITE_H_
#define IO_MLIR_WRITE_H_

#include "io/emit/mlir.h"
#include "io/mlir/program.h"

/* `text` in place of bytes [at, end). */
typedef struct sw_ir_edit {
  uint32_t at, end, order;
  const char *text;
} sw_ir_edit;

typedef struct sw_ir_writer sw_ir_writer;

/* How shardings are spelled. */
typedef struct sw_ir_form {
  const char *kind;
  const char *key;   /* attribute of arguments, results and ops */
  const char *other; /* that of the other form */
  sw_rc (*begin)(sw_ir_writer *w);
  sw_rc (*put_value)(sw_ir_writer *w, const sw_sharding *s, sw_text *out);              /* argument or result */
  sw_rc (*put_values)(sw_ir_writer *w, const sw_sharding *s, uint32_t n, sw_text *out); /* of an op's results */
} sw_ir_form;

extern const sw_ir_form sw_ir_form_sdy, sw_ir_form_hlo;

struct sw_ir_writer {
  const sw_program *p;
  const sw_ir_tree *t;
  const sw_plan *plan;
  const sw_mesh *mesh;
  const sw_ir_form *form;
  const char *mesh_name; /* sdy */
  sw_grid grid;          /* hlo */
  SW_ARRAY(sw_ir_edit) edits;
  sw_arena arena;
  sw_diag *d;
};

/* A line at the beginning of the module. */
SW_CHECKED sw_rc sw_ir_write_at_top(sw_ir_writer *w, const char *line);

#endif
