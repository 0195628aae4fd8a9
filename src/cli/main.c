/* The tool: reads the common options, finds the subcommand, fills its settings by its tables, runs it.
 *
 *   shardwright --debug plan model.json --threads=4
 *               common  command  the command's own words (common options may also stand there)
 */
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cli/command.h"
#include "cli/files.h"
#include "cli/manual.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "shardwright/log.h"

/* OpenBLAS's own answer to how many threads the environment wants, called while its library is loaded: a program's
 * definition stands in for that of a shared library. Devices are threads already. */
int openblas_num_threads_env(void);
__attribute__((visibility("default"))) int openblas_num_threads_env(void) { return 1; }

static sw_cancel g_cancel;

static volatile sig_atomic_t g_all_or_nothing;

static void on_signal(int signal_number) {
  static const char kText[] = "interrupted\n";
  (void)signal_number;
  sw_cancel_set(&g_cancel);
  if (!g_all_or_nothing) return;
  if (write(STDERR_FILENO, kText, sizeof kText - 1) >= 0) _exit(SW_E_CANCELLED);
  _exit(SW_E_CANCELLED); /* nobody reads it */
}

/* The first of the two asks the command to finish with what it has, or ends one that has nothing yet; a second one ends
 * the process. */
static void watch_signals(void) {
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  signal(SIGXFSZ, SIG_IGN); /* writing beyond the limit on a file's size fails instead */
}

static void print_message(void *user, sw_log_level level, const char *text) {
  (void)user;
  fputs(level == SW_LOG_WARN ? "warning: " : "", stderr);
  (void)sw_put_clean(text, strlen(text), stderr);
  fputs("\n", stderr);
}

static void set_log_level(const sw_common *common) {
  if (common->quiet) sw_log_set_level(SW_LOG_QUIET);
  if (common->verbose) sw_log_set_level(SW_LOG_INFO);
  if (common->debug) sw_log_set_level(SW_LOG_DEBUG);
}

static sw_rc print_version(sw_diag *d) {
  sw_text out = {0};
  sw_text_printf(&out, "shardwright %s\n", SW_VERSION);
  return sw_print_text(&out, d);
}

/* Help of `c`, or of the tool when it is NULL. */
static sw_rc print_help(const sw_command *c, sw_diag *d) {
  sw_text out = {0};
  bool colour = sw_terminal_has_colour(stdout);
  if (c) sw_manual_command(c, &out, colour);
  if (!c) sw_manual_overview(&out, colour);
  return sw_print_text(&out, d);
}

/* Reads the words after the command's name and runs it. */
static sw_rc run_command(const sw_command *c, const sw_words *words, sw_common *common, sw_arena *arena, sw_diag *d) {
  void *settings = sw_arena_alloc(arena, 1, c->settings_bytes, d);
  if (!settings) return SW_E_RESOURCE;
  sw_option_table sets[] = {{c->options, c->n_options, settings}, {sw_common_options, SW_COMMON_OPTIONS, common}};
  sw_words operands = {0};
  int used;
  SW_TRY(sw_options_default(sets, 2, arena, d));
  SW_TRY(sw_options_parse(sets, 2, words, false, arena, &operands, &used, d));
  set_log_level(common);
  if (common->help) return print_help(c, d);
  if (common->version) return print_version(d);
  SW_TRY(sw_operands_store(c->operands, c->n_operands, &operands, settings, arena, d));
  sw_call call = {c, settings, common, arena, &g_cancel, false};
  SW_TRY(sw_files_check(c, settings, arena, &call.stdout_taken, d));
  g_all_or_nothing = c->all_or_nothing && c->all_or_nothing(settings);
  if (sw_cancelled(&g_cancel) && g_all_or_nothing) return SW_FAIL(d, SW_E_CANCELLED, SW_NOWHERE, "stopped by a signal");
  return c->run(&call, d);
}

/* *command is set once it is known, for messages. */
static sw_rc dispatch_command(const sw_words *words, sw_common *common, const sw_command **command, sw_arena *arena,
                              sw_diag *d) {
  sw_option_table set = {sw_common_options, SW_COMMON_OPTIONS, common};
  sw_words none = {0};
  int used;
  SW_TRY(sw_options_parse(&set, 1, words, true, arena, &none, &used, d));
  set_log_level(common);
  if (common->version) return print_version(d);
  if (used == words->n && common->help) return print_help(NULL, d);
  if (used == words->n) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no command given");
  *command = sw_command_find(words->at[used], d);
  if (!*command) return SW_E_USAGE;
  sw_words rest = {words->at + used + 1, words->n - used - 1};
  return run_command(*command, &rest, common, arena, d);
}

static void report_error(const sw_diag *d, const sw_command *c, bool debug) {
  bool colour = sw_terminal_has_colour(stderr);
  fflush(stdout);
  fputs(sw_style_code(SW_STYLE_RED, colour), stderr);
  sw_tell_error(d, debug);
  fputs(sw_style_code(SW_STYLE_PLAIN, colour), stderr);
  if (d->rc == SW_E_USAGE) fprintf(stderr, "  hint: see 'shardwright %s%s--help'\n", c ? c->name : "", c ? " " : "");
}

int main(int argc, char **argv) {
  sw_arena arena = {0};
  sw_diag d = {0};
  sw_common common = {0};
  const sw_command *command = NULL;
  watch_signals();
  sw_log_to(print_message, NULL);
  sw_words words = {(const char **)(argv + 1), argc > 0 ? argc - 1 : 0};
  sw_rc rc = dispatch_command(&words, &common, &command, &arena, &d);
  if (rc && d.rc) report_error(&d, command, common.debug);
  sw_arena_deinit(&arena);
  return (int)rc;
}
