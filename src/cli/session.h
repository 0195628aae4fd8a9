/* What most subcommands start with: the model, the profile, the mesh, and the machine they make. */
#ifndef CLI_SESSION_H_
#define CLI_SESSION_H_

#include "cli/command.h"
#include "open/open_steps.h"
#include "shardwright/report.h"

/* How a model is read. */
typedef struct sw_model_options {
  sw_open_options open; /* but for what stands here as the command line has it */
  const char *mesh;
  sw_words hw_set;
  sw_pairs sizes, trips; /* "*": of all loops */
  bool by_half; /* of a plan for another version half at least fits; what does not is told with --verbose alone */
} sw_model_options;

/* What every subcommand that reads a model has; `T` is its settings with a field `from` of the type above. */
#define SW_MODEL_HELP "model file (JSON) or StableHLO program (MLIR); - reads standard input"
/* clang-format off */
#define SW_HW_SET_OPTION(T, field) \
  {"hw-set", 0, SW_OPTION_WORDS, "PATH=N", NULL, \
   "change a number of the profile first, PATH*=N: N times, as 'levels.*.**.*bytes_per_s*=0.5'; may be repeated", \
   SW_INTO_WORDS(T, field)}
#define SW_SET_OPTION(T, field) \
  {"set", 0, SW_OPTION_WORDS, "NAME=VALUE", NULL, \
   "change a parameter of the search, for experiments (solve --parameters lists them); may be repeated", \
   SW_INTO_WORDS(T, field)}
#define SW_PROGRAM_OPTIONS(T) \
  SW_HW_SET_OPTION(T, from.hw_set), \
  {"keep", 0, SW_OPTION_CHOICE, "WHICH", "all", \
   "shardings in a StableHLO program that bind the plan: all, those of arguments and results, none", \
   SW_INTO_TEXT(T, from.open.keep), .choices = "all|io|none"}, \
  {"attention", 0, SW_OPTION_CHOICE, "HOW", "as-written", \
   "attention that a model writes as products and a softmax: as it is written, or fused to one op", \
   SW_INTO_TEXT(T, from.open.attention), .choices = "as-written|fused"}, \
  {"roles", 0, SW_OPTION_FILE, "FILE", NULL, "what the arguments of a StableHLO program are, a line each", \
   SW_INTO_TEXT(T, from.open.roles)}, \
  {"devices", 0, SW_OPTION_INT, "N", NULL, \
   "devices of a profile that has any number; without a mesh, they are its units by what is in one", \
   SW_INTO_INT(T, from.open.devices), .min = 1, .max = SW_MAX_DEVICES}, \
  {"size", 0, SW_OPTION_PAIRS, "NAME=N", NULL, \
   "a size that the model leaves open: by its name, or ARGUMENT:DIM for '?'", SW_INTO_PAIRS(T, from.sizes)}, \
  {"trips", 0, SW_OPTION_PAIRS, "NAME=N", NULL, \
   "how often a loop runs of which the program does not say it, by its name, or * for all; without it the plan's, if " \
   "one is read, else once, with a warning", SW_INTO_PAIRS(T, from.trips)}, \
  {"custom-rules", 0, SW_OPTION_FILE, "FILE", NULL, \
   "sharding rules of ops of a StableHLO program that are not known, a line each", SW_INTO_TEXT(T, from.open.rules)}
/* clang-format on */

/* clang-format off */
#define SW_COMPILER_OPTION(T, field) \
  {"compiler", 0, SW_OPTION_CHOICE, "NAME", NULL, \
   "whose kernels the program is priced as; none: each op by itself. Without it: the plan's, if one is read, else the " \
   "profile's, else xla for StableHLO and inductor for JSON", \
   SW_INTO_TEXT(T, field), .choices = SW_COMPILERS}
#define SW_OVERLAP_OPTION(T, field) \
  {"overlap", 0, SW_OPTION_CHOICE, "HOW", NULL, \
   "what runs beside what, by which plans are timed. none: nothing; compiler: communication beside kernels, and launches " \
   "beside both, as the compiler lets them. Without it: as the plan that is read, if one is; else none with --compiler " \
   "none or xla-cpu and on hosts (local), else compiler", SW_INTO_TEXT(T, field), .choices = SW_OVERLAPS}
/* clang-format on */

/* clang-format off */
#define SW_ADAPT_OPTION(T) \
  {"adapt", 0, SW_OPTION_FLAG, NULL, NULL, \
   "the plan may be of another version of the model: what fits is taken, by names and places, the rest is completed by " \
   "rule, and it is said what does not fit", SW_INTO_FLAG(T, from.open.adapt)}
/* clang-format on */

/* A search that starts from a plan of a file; `T` has a field `limits` of this type. `WHO` may take so long. */
typedef struct sw_search_limits {
  double time_limit, gap;
  int64_t work_limit, seed;
} sw_search_limits;
/* clang-format off */
#define SW_SEARCH_OPTIONS(T, WHO, SECONDS) \
  {"time-limit", 0, SW_OPTION_NUMBER, "S", SECONDS, "seconds that " WHO " may take; 0: no limit", \
   SW_INTO_NUMBER(T, limits.time_limit), .min = 0, .max = 1e9}, \
  {"work-limit", 0, SW_OPTION_INT, "N", "0", "steps that " WHO " may take instead; 0: no limit", \
   SW_INTO_INT(T, limits.work_limit), .min = 0, .max = 1e15}, \
  {"gap", 0, SW_OPTION_PERCENT, "PERCENT", "0.1", "how close to the proven bound is close enough", \
   SW_INTO_NUMBER(T, limits.gap), .min = 0, .max = 100}, \
  {"seed", 0, SW_OPTION_INT, "K", "0", "seed of " WHO, SW_INTO_INT(T, limits.seed), .min = 0, .max = 1e15}
/* clang-format on */
/* Within the capacity; arguments arrive as those of the plan do. */
sw_plan_options sw_search_from(const sw_search_limits *l, const sw_plan *start, int64_t capacity_bytes,
                               sw_cancel *cancel);

/* Warn of what a plan for another version of the model has that fits nothing; of its own model: nothing. In brief: in
 * one line, names with --verbose. */
void sw_session_warn_of_transfer(const char *path, const sw_plan_transfer *t, bool in_brief);

/* Read the profile of --hw with the changes of --hw-set. */
SW_CHECKED sw_rc sw_read_hw(const char *hw, const sw_words *changes, sw_arena *arena, const sw_profile **out,
                            sw_diag *d);
/* sw_open_job; warnings are printed. Closed with sw_close_job. */
SW_CHECKED sw_rc sw_session_open(const sw_model_options *o, sw_arena *arena, sw_opened *out, sw_diag *d);
/* The same for a plan file: the mesh is the plan's. With `adapt` a plan for another version of the model is taken as
 * far as it fits and completed, with warnings that say what does not fit. */
SW_CHECKED sw_rc sw_session_open_plan(const sw_model_options *o, const char *plan_path, sw_arena *arena, sw_opened *s,
                                      sw_plan *plan, sw_diag *d);
/* The text of the options again, on this mesh (NULL: none is given), with the sizes that stand in for unknown ones now.
 * Drops what was read before; its warnings have been told. */
SW_CHECKED sw_rc sw_session_read_again(const sw_model_options *o, const sw_mesh *mesh, sw_opened *s, sw_diag *d);
/* For sw_program_options.report: prints what it is given on standard error. */
void sw_session_report(void *user, const sw_diag *d);

#define SW_PINS_FROM "--pin" /* where pins stand, to their errors */

/* Warn of hints of the model that the plan leaves. */
void sw_session_warn_of_hints(const sw_plan *plan);

/* To a failure at the place of an op: where that comes from in the user's program, if the model says so. */
void sw_session_note_source(const sw_opened *s, sw_diag *d);

/* Forms that say nothing of sizes but what the model's own text says. */
bool sw_session_emits_sizes_open(const char *kind);

/* Before the work: SW_E_USAGE for a form that is written into MLIR, of a model that is none. */
SW_CHECKED sw_rc sw_emit_check(const sw_opened *s, const sw_pairs *emit, sw_diag *d);
/* Write each --emit KIND=FILE of a plan; spmd with the collectives of `dialect`, "shard", "stablehlo" or "sdy". */
SW_CHECKED sw_rc sw_emit_all(const sw_opened *s, const sw_plan *plan, const sw_pairs *emit, const char *dialect,
                             sw_diag *d);
#define SW_DIALECT_OPTION(settings)                                                       \
  {                                                                                       \
    "dialect", 0, SW_OPTION_CHOICE, "NAME", "shard", "whose collectives --emit spmd has", \
        SW_INTO_TEXT(settings, dialect), .choices = "shard|stablehlo|sdy"                 \
  }

/* Passes over the program of a plan: what every subcommand that makes it has; `T` has fields `passes` and
 * `combine_bytes`. */
/* clang-format off */
#define SW_PASS_OPTIONS(T) \
  {"passes", 0, SW_OPTION_TEXT, "NAMES", NULL, \
   "passes over the collectives of the program, in this order: " SW_PASS_NAMES "; all: each, and again while " \
   "something changes", SW_INTO_TEXT(T, passes)}, \
  {"combine-bytes", 0, SW_OPTION_BYTES, "SIZE", "64MiB", \
   "size up to which the pass combine fills the buffer of one call", SW_INTO_BYTES(T, combine_bytes), .min = 1}
/* clang-format on */
#define SW_PASS_NAMES \
  "share, drop, gather-up, gather-down, slice-up, cancel, fold, reassociate, scatter, hoist, combine"
/* From here on the plan's program is the one behind the passes, which live in the arena; NULL: those that its
 * compiler's calls of collectives need. */
SW_CHECKED sw_rc sw_session_take_passes(const char *names, int64_t combine_bytes, sw_arena *arena, sw_plan *plan,
                                        sw_diag *d);
/* A program that came partitioned behind passes, under the profile's prices. */
typedef struct sw_local_passes {
  const char *names; /* NULL: none */
  int64_t combine_bytes;
  sw_pass_report *reports; /* SW_MOST_REPORTS of them, filled; NULL: not wanted */
  int *n_reports;
  sw_machine **machine; /* that asked for prices; NULL: not wanted */
} sw_local_passes;
SW_CHECKED sw_rc sw_session_rewrite_local(const sw_opened *s, const sw_local_program *local, const sw_local_passes *how,
                                          sw_arena *arena, sw_spmd *out, sw_diag *d);
/* The plan of a program that says every reshard: its annotations leave no choice but between ways that cost the same.
 */
SW_CHECKED sw_rc sw_session_plan_resharded(const sw_opened *s, const sw_call *call, sw_plan *out, sw_diag *d);
#define SW_EMIT_KINDS "sdy|sdy-ops|hlo|shard|spmd|jax|dtensor"
#define SW_EMIT_HELP                                                                                                 \
  "write the plan in another form; sdy: the program with constraints, which XLA obeys; sdy-ops: with the shardings " \
  "of "                                                                                                              \
  "ops, which Shardy's passes read"

/* Write a report to each of the files: as a page when its name ends in .html, else as JSON. */
SW_CHECKED sw_rc sw_save_reports(const sw_report *r, const sw_words *files, sw_diag *d);
/* Write text to a file ("-": standard output) and free it. */
SW_CHECKED sw_rc sw_save_text(const char *path, sw_text *t, sw_diag *d);
/* The same where making it has gone well (`rc`); it is freed in any case. */
SW_CHECKED sw_rc sw_save_made(sw_rc rc, const char *path, sw_text *t, sw_diag *d);

#endif
