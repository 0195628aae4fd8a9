/* Importers of the dialects that say shardings, and what they say of values. */
#ifndef IO_MLIR_ANNOTATE_H_
#define IO_MLIR_ANNOTATE_H_

#include "io/mlir/import/import.h"

/* What the dialects remember while a text is read. */
typedef struct sw_im_annotations {
  sw_dict groups;                  /* sharding groups: number to first value */
  struct sw_im_named_mesh *meshes; /* that the text declares */
  uint32_t n_meshes;
  sw_mesh own_mesh;         /* the first of them with axes; no axes: there is none */
  struct sw_im_grid *grids; /* that the text declares (annotate/grids.h) */
  uint32_t n_grids;
  const struct sw_im_grid *grid; /* the program's; NULL: there is none */
  sw_axis_ref *grid_refs;        /* its axes in the mesh; axis -1: the mesh has none of the kind */
  uint32_t **definers;           /* by function, slot: the op that gives it (annotate/cuts.h) */
  sw_dict annotated;             /* names (call, slot) that the shard dialect annotates: by which op */
  sw_dict said_of;               /* values that it annotates: number in `said` */
  SW_ARRAY(sw_sharding) said;
  int64_t partitions; /* mhlo.num_partitions; 0: not said */
  bool one_device;    /* mhlo.num_partitions = 1: its mhlo.sharding says nothing */
} sw_im_annotations;
sw_im_annotations *sw_im_annotations_of(const sw_importer *m);

/* The module's meshes, and the one at hand, into the graph. */
SW_CHECKED sw_rc sw_im_mesh(sw_importer *m);
typedef struct sw_im_named_mesh sw_im_named_mesh;
/* <@mesh, [{"x"}, {}], replicated={"y"}> */
typedef struct sw_im_sharding {
  sw_mesh mesh;         /* that it speaks of: declared, or written out in it, or else the program's first */
  sw_im_named_mesh *of; /* NULL: it is not a declared one */
  bool foreign;         /* it has axes that the graph's mesh has not */
  sw_ir_span dims;      /* from the list of dims on; empty: there is none */
} sw_im_sharding;
SW_CHECKED sw_rc sw_im_said(sw_importer *m, sw_ir_span sharding, sw_im_sharding *out);
/* Warns, once for each mesh, that what is foreign is left out. */
void sw_im_tell_foreign(sw_importer *m, const sw_im_sharding *s, uint32_t at);
/* A sharding in Shardy's or GSPMD's text as an annotation of a value; what cannot be said in the mesh is warned of. */
SW_CHECKED sw_rc sw_im_annotate(sw_importer *m, sw_id value, sw_ir_span sharding, uint32_t at);
/* A sharding over the graph's mesh that fits it and the value, where the value is made. */
SW_CHECKED sw_rc sw_im_annotate_as(sw_importer *m, sw_id value, const sw_sharding *s, bool required, uint32_t at);
/* The same of one use of the value, or (NULL) of all. */
SW_CHECKED sw_rc sw_im_annotate_uses_as(sw_importer *m, sw_id value, const sw_sharding *s, const sw_value_use *use,
                                        bool required, uint32_t at);
/* What the type of a value says of its sharding, in the spelling of the mesh dialect: of the value, or of output
 * `*output`. Then what types and attributes of an op say that became ops of the graph from `first` on. */
SW_CHECKED sw_rc sw_im_annotate_typed(sw_importer *m, uint32_t op, sw_id value, const int32_t *output, sw_ir_span type);
SW_CHECKED sw_rc sw_im_annotate_distributed(sw_importer *m, uint32_t op, sw_id first);
/* backend_config = "unspecified_dims=[0,2]": dims that a GSPMD sharding leaves to others, as bits. */
uint32_t sw_im_unspecified_dims(sw_importer *m, uint32_t op);
/* The same, and dims of `open` (bit i) may be cut further. */
SW_CHECKED sw_rc sw_im_annotate_open(sw_importer *m, sw_id value, sw_ir_span sharding, uint32_t open, uint32_t at);
/* A sharding in tiles, "{devices=[2,4]<=[8]}", over the mesh; *ok = false when it cannot be said there. *manual (may be
 * NULL): the axes that the text calls manual, on the dim of a vector; they cut no dim. */
SW_CHECKED sw_rc sw_im_read_tiles(sw_importer *m, const sw_mesh *mesh, const char *text, int rank, sw_sharding *out,
                                  sw_sharding *manual, bool *ok);
/* The mesh cut into axes of prime size; false: they are too many. */
bool sw_im_digits(const sw_mesh *mesh, sw_mesh *out);
SW_CHECKED sw_rc sw_im_annotate_arg(sw_importer *m, sw_id value, sw_ir_span attrs);
/* The same of output `index`, which is a use of the value. */
SW_CHECKED sw_rc sw_im_annotate_output(sw_importer *m, sw_id value, int32_t index, sw_ir_span attrs);

/* sdy.sharding of the op's attributes. */
SW_CHECKED sw_rc sw_im_annotate_op(sw_importer *m, uint32_t op);
SW_IR_IMPORTER(sw_im_sharding_group);
SW_IR_IMPORTER(sw_im_shard);
SW_IR_IMPORTER(sw_im_shard_sharding);
SW_IR_IMPORTER(sw_im_get_sharding);
SW_IR_IMPORTER(sw_im_distributed);

#endif
