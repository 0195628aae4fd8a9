/* shardwright opt: MLIR text through the parser and out again. */
#include <string.h>

#include "cli/session.h"
#include "shardwright/file.h"

typedef struct settings {
  const char *input, *output;
} settings;

static const sw_operand kOperands[] = {
    {.name = "FILE", .help = "MLIR text; - reads standard input", .into = SW_INTO_TEXT(settings, input)}};
static const sw_option kOptions[] = {SW_OPTION_OUTPUT_INTO(settings, output)};

static sw_rc run(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_program_options options = {.report = sw_session_report};
  sw_text out = {0};
  char *bytes;
  size_t n;
  SW_TRY(sw_file_read(s->input, &bytes, &n, d));
  const char *file = strcmp(s->input, "-") == 0 ? "<stdin>" : s->input;
  sw_rc rc = sw_program_print_parsed(file, bytes, n, &options, &out, d);
  sw_mem_free(bytes);
  if (!rc) return sw_save_text(s->output, &out, d);
  sw_text_free(&out);
  return rc;
}

const sw_command sw_command_opt = {
    .name = "opt",
    .summary = "check the syntax of MLIR text and print it again",
    .description =
        "Reads any MLIR text, whether it can be planned or not, and prints it from its syntax tree: the same "
        "text, byte for byte. Errors come with line and column, up to 20 of them.\n",
    .example = "shardwright opt tests/data/mlp.mlir | cmp - tests/data/mlp.mlir",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = run};
