/* shardwright opt: MLIR text through the parser and out again, in little more memory than the text. */
#include <string.h>

#include "cli/session.h"
#include "base/file.h"

typedef struct settings {
  const char *input, *output;
} settings;

static const sw_operand kOperands[] = {
    {.name = "FILE", .help = "MLIR text; - reads standard input", .into = SW_INTO_TEXT(settings, input)}};
static const sw_option kOptions[] = {SW_OPTION_OUTPUT_INTO(settings, output)};

static sw_rc cmd_opt(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_program_options options = {.report = sw_session_report};
  char *text;
  size_t n;
  SW_TRY(sw_file_read_text(s->input, &text, &n, d));
  sw_rc rc = sw_program_check_syntax(strcmp(s->input, "-") == 0 ? "<stdin>" : s->input, text, n, &options, d);
  if (!rc) rc = sw_file_write(s->output, text, n, d);
  sw_mem_free(text);
  return rc;
}

const sw_command sw_command_opt = {
    .name = "opt",
    .summary = "check the syntax of MLIR text and print it again",
    .description =
        "Reads any MLIR text, whether it can be planned or not, and prints it again, the same text byte for byte. "
        "Errors come with line and column, up to 20 of them.\n",
    .example = "shardwright opt tests/data/mlp.mlir | cmp - tests/data/mlp.mlir",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_opt};
