/* What a subcommand is. Each lives in a file of its own, src/cli/NAME.c, that ends in its descriptor:
 *
 *   static sw_rc cmd_solve(const sw_call *call, sw_diag *d) {
 *     const settings *s = call->settings;
 *     ...
 *   }
 *   const sw_command sw_command_solve = {
 *       .name = "solve", .summary = "solve a selection problem", SW_OPTIONS(kOptions), SW_OPERANDS(kOperands),
 *       .settings_bytes = sizeof(settings), .run = cmd_solve};
 *
 * and has one line in commands.def. Parsing, --help, the manual page and completion follow from the descriptor.
 */
#ifndef CLI_COMMAND_H_
#define CLI_COMMAND_H_

#include "cli/options.h"
#include "shardwright/clock.h"

typedef struct sw_command sw_command;

/* Options that every subcommand takes. */
typedef struct sw_common {
  bool help, version, quiet, verbose, debug;
} sw_common;

/* One invocation. Everything in it is valid until `run` returns. */
typedef struct sw_call {
  const sw_command *command;
  const void *settings; /* the command's struct, filled by its tables */
  const sw_common *common;
  sw_arena *arena;   /* freed when `run` has returned */
  sw_cancel *cancel; /* set by SIGINT and SIGTERM */
  bool stdout_taken; /* an option's file is standard output: what goes there for want of another place does not */
} sw_call;

struct sw_command {
  const char *name;
  const char *summary;     /* one line, lower case, no full stop */
  const char *description; /* paragraphs, each one line, ended by a newline; NULL: none */
  const char *example;     /* a command line to copy; NULL: none */
  const sw_option *options;
  int n_options;
  const sw_operand *operands;
  int n_operands;
  size_t settings_bytes;
  /* With these settings there is no answer before all is done, and a signal ends the command at once; NULL: it looks at
   * `cancel`. */
  bool (*all_or_nothing)(const void *settings);
  /* Results go to standard output or to files, messages to standard error (sw_log). A failure is described in `d` and
   * printed by the caller; a non-zero return with an empty `d` sets the exit status and prints nothing. */
  sw_rc (*run)(const sw_call *call, sw_diag *d);
};

#define SW_OPTIONS(table) .options = (table), .n_options = (int)(sizeof(table) / sizeof(table)[0])
#define SW_OPERANDS(table) .operands = (table), .n_operands = (int)(sizeof(table) / sizeof(table)[0])

/* All subcommands in the order of commands.def. */
int sw_command_count(void);
const sw_command *sw_command_at(int i);
/* Unknown: NULL, with `d` naming the nearest. */
const sw_command *sw_command_find(const char *name, sw_diag *d);

enum { SW_COMMON_OPTIONS = 5 };
extern const sw_option sw_common_options[SW_COMMON_OPTIONS];

#endif
