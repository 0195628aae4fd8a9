/* StableHLO programs as MLIR text: read into a graph, and written back byte for byte with the shardings of a plan.
 *
 *   sw_program *p;
 *   SW_TRY(sw_program_read("model.mlir", &options, &p, d));
 *   ... plan sw_program_graph(p) ...
 *   SW_TRY(sw_program_emit(p, &plan, "sdy", &out, d));
 *
 * What is read, what an op becomes and what each form writes is in docs/stablehlo.md.
 */
#ifndef SHARDWRIGHT_PROGRAM_H_
#define SHARDWRIGHT_PROGRAM_H_

#include "shardwright/local.h"
#include "shardwright/propagate.h"
#include "shardwright/sizes.h"

typedef struct sw_program sw_program;

/* Which shardings that the program has are pins. */
typedef enum sw_keep {
  SW_KEEP_ALL,  /* of arguments, results, ops, and those that constraints state */
  SW_KEEP_IO,   /* of arguments and results of the program */
  SW_KEEP_NONE, /* none */
} sw_keep;

/* What an argument is: its name as messages have it, or a pattern (docs/stablehlo.md); "parameter", "input" or "state";
 * and of state the number of the output that it becomes, NULL: the first of its type that nothing else becomes. */
typedef struct sw_said_role {
  const char *argument, *role, *output;
} sw_said_role;

typedef struct sw_program_options {
  sw_keep keep;
  const sw_mesh *mesh;     /* axes that annotations are read in; NULL: the program's own */
  const sw_mesh *fallback; /* for a program without a mesh of its own, when there is no `mesh`; NULL: none */
  const char *roles;       /* a file that says what arguments are (docs/stablehlo.md); NULL: none */
  const sw_said_role
      *said_roles; /* the same without a file, and after it; errors are at "roles", in its line of these */
  int32_t n_said_roles;
  const char *roles_option; /* how the caller's user says either, for a warning: "--roles"; NULL: a file of roles */
  const char *rules;        /* a file with rules of ops that are not known; NULL: none */
  sw_sizes *sizes;          /* what `?` in the types of arguments are; NULL: not known */
  int64_t open_axis;        /* what axes of a grid are taken for whose sizes nobody says; 0: they are an error */
  bool fuse_attention; /* attention that is written as products and a softmax becomes one op, not of local programs */
  bool by_device;      /* take a program that is partitioned already: its graph is what one device runs */

  /* Called with every warning (rc = SW_OK), and with every error but the last, which the call returns. May be NULL. */
  void (*report)(void *user, const sw_diag *d);
  void *user;
} sw_program_options;

/* Read `path` ("-" is standard input; gzip is unpacked). `options` may be NULL. */
SW_API SW_CHECKED sw_rc sw_program_read(const char *path, const sw_program_options *options, sw_program **out,
                                        sw_diag *d);
/* The same from memory; `file` and the bytes are copied. */
SW_API SW_CHECKED sw_rc sw_program_parse(const char *file, const char *bytes, size_t n,
                                         const sw_program_options *options, sw_program **out, sw_diag *d);
SW_API void sw_program_destroy(sw_program *p); /* NULL allowed; the graph goes too */
/* The function `main` as a sealed graph, calls written out; lives as long as the program. */
SW_API sw_graph *sw_program_graph(const sw_program *p);

/* Axes of its mesh, as bits, that have that size because nobody says another. */
SW_API uint32_t sw_program_open_axes(const sw_program *p);

/* What a program that was read `by_device` and is partitioned runs on each device; NULL: it is a whole one. */
SW_API const sw_local_program *sw_program_local(const sw_program *p);

/* The same with arguments and results cut as a plan of the whole program says. When it is the text that was written of
 * this plan, it is also said what its values are (layout, origin). It borrows from all three. */
SW_API SW_CHECKED sw_rc sw_program_local_of_plan(const sw_program *p, const sw_plan *plan, sw_arena *arena,
                                                 sw_local_program *out, sw_diag *d);

/* Is it on whole tensors with every reshard written out, in Shardy's collectives? */
SW_API bool sw_program_is_resharded(const sw_program *p);

/* "sdy-basic", "sdy-aggressive", "sdy-op-priority", "sdy-user-priority" or "sdy". */
SW_API bool sw_layer_parse(const char *text, sw_layer *out);
/* How a text is propagated. */
typedef struct sw_propagation {
  sw_layer layer;
  bool conservative; /* axes are not split, and cut only what they divide */
  bool origins;      /* sdy.sharding_origins beside each sharding: where its axes were annotated */
  bool same_ops; /* computations and edges that have no shardings get none: the graph that is read of it stays the same
                  */
  const char *explain; /* of this value ("%12", "%12#1", "@f:%12", "@f#0": a result of a function) how its axes came,
                          instead of the text; NULL: the text */
} sw_propagation;

/* Propagate the shardings of a program as Shardy does, and append its text with those found. No machine is asked.
 * SW_E_INPUT as above. */
SW_API SW_CHECKED sw_rc sw_program_propagate(const char *file, const char *bytes, size_t n, const sw_propagation *how,
                                             sw_text *out, sw_diag *d);
/* Append the sharding rule of every op of the text that has one, a line each, as `propagate --show-rules` prints them.
 */
SW_API SW_CHECKED sw_rc sw_program_rules(const char *file, const char *bytes, size_t n, sw_text *out, sw_diag *d);

/* A pass over the text of a program: its name, what it does, and its options, "key=VALUE: what for\n" each (NULL:
 * none); or a name for several passes, which are listed instead of the others. They are those of Shardy's pipelines;
 * docs/passes.md says what each does. */
typedef struct sw_pass_info {
  const char *name, *summary, *options, *passes;
} sw_pass_info;
SW_API int sw_program_pass_count(void);
SW_API sw_pass_info sw_program_pass_at(int i);

/* Called with the text after every pass. May be NULL. */
typedef struct sw_pass_watch {
  void (*after)(void *user, const char *pass, const char *text, size_t n);
  void *user;
} sw_pass_watch;
/* Run passes over a program, "a,b{key=value key=value},c", and append its text. SW_E_USAGE for an unknown pass or
 * option; SW_E_INPUT as above, with the pass named. `watch` may be NULL. */
SW_API SW_CHECKED sw_rc sw_program_run_passes(const char *file, const char *bytes, size_t n, const char *passes,
                                              const sw_pass_watch *watch, sw_text *out, sw_diag *d);

/* Parse any MLIR text and append it as printed from its syntax tree: equal to the input. It need not be a program that
 * can be planned. Errors as above. */
SW_API SW_CHECKED sw_rc sw_program_print_parsed(const char *file, const char *bytes, size_t n,
                                                const sw_program_options *options, sw_text *out, sw_diag *d);
/* Parse it alone, in little more memory than the text, which has a NUL behind its n bytes. Errors as above. */
SW_API SW_CHECKED sw_rc sw_program_check_syntax(const char *file, const char *text, size_t n,
                                                const sw_program_options *options, sw_diag *d);
/* Append the text with the shardings of a plan of the graph; `kind` is "sdy" (a sdy.mesh, sdy.sharding of
 * arguments and results, and constraints around ops, which XLA keeps), "sdy-ops" (sdy.sharding of ops instead, which
 * Shardy's own propagation keeps), "sdy-ends" (of arguments and results alone) or "hlo" (mhlo.sharding). */
SW_API SW_CHECKED sw_rc sw_program_emit(const sw_program *p, const sw_plan *plan, const char *kind, sw_text *out,
                                        sw_diag *d);
/* Is the file MLIR by its name (model.mlir, model.mlir.gz), or by its first characters if the name is neither that nor
 * *.json? JSON begins with a bracket, and no MLIR text does but for resources, "{-#". */
SW_API bool sw_program_is(const char *path, const char *bytes);

#endif
