/* shardwright help [COMMAND]: the help of the tool or of a subcommand, for a terminal or as a manual page. */
#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "cli/terminal.h"

typedef struct settings {
  const char *command, *format;
} settings;

static const sw_option kOptions[] = {
    {"format", 0, SW_OPTION_CHOICE, "FORM", "text", "how it is written", SW_INTO_TEXT(settings, format),
     .choices = "text|man"},
};
static const sw_operand kOperands[] = {
    {"COMMAND", "the command to explain", SW_INTO_TEXT(settings, command), .optional = true, .names_command = true},
};

static sw_rc run(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const sw_command *only = s->command ? sw_command_find(s->command, d) : NULL;
  if (s->command && !only) return SW_E_USAGE;
  bool colour = sw_terminal_has_colour(stdout);
  sw_text out = {0};
  if (strcmp(s->format, "man") == 0) {
    sw_manual_man(only, &out);
  } else if (only) {
    sw_manual_command(only, &out, colour);
  } else {
    sw_manual_overview(&out, colour);
  }
  return sw_print_text(&out, d);
}

const sw_command sw_command_help = {.name = "help",
                                    .summary = "explain the tool or one of its commands",
                                    SW_OPTIONS(kOptions),
                                    SW_OPERANDS(kOperands),
                                    .settings_bytes = sizeof(settings),
                                    .run = run};
