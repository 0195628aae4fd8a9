/* Writing MLIR text: what the writers of the shard form and of SPMD programs share.
 *
 * One line of text is one op in generic form,
 *
 *     %y = "stablehlo.add"(%a, %b) : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
 *
 * Memory that runs out is remembered in out->rc, like everywhere in text buffers; a name is then "%".
 */
#ifndef MLIR_EMIT_MLIR_H_
#define MLIR_EMIT_MLIR_H_

#include "base/array.h"
#include "base/hash.h"
#include "shardwright/graph.h"

/* The grid that the text speaks of. The shard dialect knows whole axes only, so an axis that is used in parts stands as
 * one grid axis per part: x=8 used as x:(1)2 is the grid 2x4. Linear device numbers stay the same. */
enum { SW_GRID_AXES = 40 };
typedef struct sw_grid {
  const sw_mesh *mesh;
  int n;
  sw_axis_ref axis[SW_GRID_AXES]; /* in mesh order, major first; whole axes or parts */
} sw_grid;

void sw_grid_init(const sw_mesh *mesh, sw_grid *out);
/* Cut the grid where a ref begins and ends; before sw_grid_close. */
sw_rc sw_grid_use(sw_grid *grid, const sw_axis_ref *refs, int n, sw_diag *d);
/* The grid axes that refs stand for, in their order; returns how many (at most SW_GRID_AXES). */
int sw_grid_axes(const sw_grid *grid, const sw_axis_ref *refs, int n, int *out);

/* A value as the text names it. */
typedef struct sw_ssa {
  const char *name; /* "%h" */
  sw_type type;
} sw_ssa;

/* What is said of a result of the op at hand, in its line: its sharding in Shardy's form. */
typedef struct sw_mlir_result_sharding {
  const char *name; /* that of the result's sw_ssa: the same pointer */
  const char *sharding;
} sw_mlir_result_sharding;

typedef struct sw_mlir {
  const sw_graph *graph;
  sw_grid grid;
  sw_text *out;
  sw_arena arena;  /* names and shapes of the text */
  int64_t n_temps; /* helpers: %t$0, %t$1, ... */
  sw_source at;    /* where the op at hand comes from, written behind its lines; line 0: nowhere */
  size_t begin;    /* of the module in the text: aliases of call stacks come before it */
  SW_ARRAY(const sw_call_frame *) frames;    /* #loc0, #loc1, ...: callers before what they call */
  sw_dict frame_of;                          /* pointer of a frame -> its number */
  SW_ARRAY(sw_mlir_result_sharding) results; /* of results to come */
  sw_text functions;                         /* behind main: decompositions of composites, */
  SW_ARRAY(const void *) composites;         /* of ops with these loops and attributes, two each */
} sw_mlir;

void sw_mlir_deinit(sw_mlir *w);

/* --- names and small pieces ------------------------------------------------------------------------------------- */

/* "%NAME" where MLIR can spell the name, else with other characters replaced and "$ID" added. A name in quotes. */
const char *sw_mlir_name(sw_mlir *w, const char *name, sw_id id);
sw_ssa sw_mlir_value(sw_mlir *w, const sw_graph *g, sw_id id);                                  /* by that name */
const char *sw_mlir_suffixed(sw_mlir *w, const char *name, const char *suffix, int64_t number); /* number < 0: none */
void sw_mlir_quote(const char *text, sw_text *out);
void sw_mlir_type(const sw_type *t, sw_text *out);                             /* tensor<2x4xf32> */
sw_type sw_mlir_shaped(sw_mlir *w, sw_dtype t, int rank, const int64_t *dims); /* a type that lives as long as w */

/* Properties: `, key = ...` with the comma where one is due. */
void sw_prop(sw_text *props, const char *key, const char *fmt, ...) SW_PRINTF(3, 4);
void sw_prop_ints(sw_text *props, const char *key, const int64_t *v, int n); /* array<i64: 1, 2> */
void sw_prop_int(sw_text *props, const char *key, int64_t v);                /* 1 : i64 */
void sw_prop_pairs(sw_text *props, const char *key, const int64_t *low, const int64_t *high, int n);
void sw_mlir_list(const int64_t *v, int n, sw_text *out); /* 1, 2 */

/* dense<...> of elements; `splat`: one for all. */
void sw_mlir_dense(const sw_type *t, const void *bytes, bool splat, sw_text *out);

/* --- lines ------------------------------------------------------------------------------------------------------- */

typedef struct sw_line {
  const char *op;
  int n_in, n_out;
  const sw_ssa *in, *out;
  const char *props;  /* what stands in <{ }>; NULL or "": nothing */
  const char *region; /* "({ ... })"; NULL: none */
} sw_line;

void sw_mlir_line(sw_mlir *w, const sw_line *line);
/* The line with properties and a region (NULL: none), which are freed. */
void sw_mlir_line_with(sw_mlir *w, sw_line line, sw_text *props, sw_text *region);
/* {sdy.sharding = #sdy.sharding_per_value<[...]>} when the sharding of a result is known; else nothing. */
void sw_mlir_put_result_shardings(const sw_mlir *w, const sw_ssa *out, int n);
void sw_mlir_end_line(sw_mlir *w); /* location and newline, for lines written by hand */
sw_ssa sw_mlir_temp(sw_mlir *w, sw_type type);
/* Lines with one result, a new helper. */
sw_ssa sw_mlir_unary(sw_mlir *w, const char *op, sw_ssa x, sw_type type, const char *props);
sw_ssa sw_mlir_binary(sw_mlir *w, const char *op, sw_ssa a, sw_ssa b, const char *props);
sw_ssa sw_mlir_constant(sw_mlir *w, sw_type type, const void *element);
sw_ssa sw_mlir_table(sw_mlir *w, sw_type type, const void *elements);
sw_ssa sw_mlir_int(sw_mlir *w, sw_type type, int64_t v);
sw_ssa sw_mlir_identity(sw_mlir *w, sw_reduction kind, sw_dtype t);
sw_ssa sw_mlir_spread(sw_mlir *w, sw_ssa scalar, sw_type type); /* of a scalar over a shape */
sw_ssa sw_mlir_compare(sw_mlir *w, const char *direction, sw_ssa a, sw_ssa b);
sw_ssa sw_mlir_iota(sw_mlir *w, sw_type type, int dim);
/* Further elements at both ends of each dim, none between. */
void sw_mlir_pad(sw_mlir *w, sw_ssa x, sw_ssa fill, const int64_t *low, const int64_t *high, sw_ssa out);
void sw_mlir_transpose(sw_mlir *w, sw_ssa x, const int64_t *permutation, sw_ssa out);
/* A block of x from `start` on; x (in[0]) from starts that are values on. */
sw_ssa sw_mlir_slice(sw_mlir *w, sw_ssa x, const int64_t *start, sw_type type);
void sw_mlir_dynamic_slice(sw_mlir *w, const sw_ssa *in, sw_ssa out);
/* x with the extents of `dims`: cut at the end, or padded with zeros. */
sw_ssa sw_mlir_fit(sw_mlir *w, sw_ssa x, const int64_t *dims);
/* Give `x` the name of `out` as well: out = x, by a reshape of nothing. */
void sw_mlir_alias(sw_mlir *w, sw_ssa x, sw_ssa out);

/* --- StableHLO --------------------------------------------------------------------------------------------------- */

/* One op of a graph with its operands and results as the text names them. */
typedef struct sw_hlo {
  sw_mlir *w;
  const sw_op *op;
  const sw_ssa *in, *out;
} sw_hlo;
/* The op as one line of that name; the properties are freed. */
void sw_hlo_line(const sw_hlo *h, const char *name, sw_text *props);

/* Every op of main can be written; else the one that cannot is named. `with_control`: loops and choices, too. */
SW_CHECKED sw_rc sw_hlo_check(const sw_graph *g, bool with_control, sw_diag *d);
/* Any op but those of SPMD programs alone. */
void sw_hlo_write(const sw_hlo *h);

/* One `key = [..]` of a dimension-numbers attribute; StableHLO's printer leaves empty lists out. */
void sw_hlo_numbers(const sw_op *op, sw_attr_key k, const char *key, bool even_empty, sw_text *out);
/* "({ ... })": how two scalars are combined, by a reduction's name or "replace". */
void sw_hlo_region(const char *kind, sw_dtype t, sw_text *out);
/* attention and attention_grad as cuDNN's custom call; false: it cannot say them, and nothing is written. */
bool sw_hlo_cudnn(const sw_hlo *h);
/* Ops with regions, and ops that StableHLO composes of others or has as custom calls (docs/emitted-forms.md): those
 * that rows of ops.def name. */
#define SW_WRITER_none
#define SW_WRITER_LINE(props)
#define SW_WRITER_CHLO
#define SW_WRITER_WRITE(how) void sw_hlo_##how(const sw_hlo *h);
#define SW_COLUMN_OUT(id, out) SW_WRITER_##out
#include "shardwright/ops.def"

/* --- the module around it ---------------------------------------------------------------------------------------- */

/* What a module begins with: the shard dialect's grid, the number of partitions, Shardy's mesh. */
typedef enum sw_mlir_devices { SW_MLIR_GRID, SW_MLIR_PARTITIONS, SW_MLIR_MESH } sw_mlir_devices;
void sw_mlir_open_module(sw_mlir *w, const char *form, sw_mlir_devices devices);
/* func.func @main with the arguments and results of w->graph; names, kinds and aliases are those of `model`. `more`
 * (may be NULL) adds attributes of argument or result `i`, each as ", key = value". */
typedef void (*sw_mlir_more)(void *user, bool is_result, int32_t i, sw_text *out);
void sw_mlir_open_function(sw_mlir *w, const sw_graph *model, sw_mlir_more more, void *user);
void sw_mlir_return(sw_mlir *w, const sw_ssa *v, int n); /* and the end of the function */
/* Functions that ops of main name, and the end of the module. */
void sw_mlir_close_module(sw_mlir *w);
/* sum[x,y] */
void sw_mlir_partial(const sw_mesh *m, const sw_sharding *s, sw_text *out);

#endif
