/* shardwright opt: MLIR text through the parser and out again, in little more memory than the text, or through passes.
 */
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "cli/session.h"
#include "base/file.h"
#include "io/foreign.h"
#include "io/json_write.h"

typedef struct settings {
  const char *input, *output, *passes;
  bool list, print_after, json;
} settings;

static const sw_operand kOperands[] = {{.name = "FILE",
                                        .help = "MLIR text; - reads standard input",
                                        .into = SW_INTO_TEXT(settings, input),
                                        .optional = true}};
static const sw_option kOptions[] = {
    {"pass", 'p', SW_OPTION_TEXT, "LIST", NULL, "passes to run one after the other: a,b{key=value},c",
     SW_INTO_TEXT(settings, passes)},
    {"list-passes", 0, SW_OPTION_FLAG, NULL, NULL, "print the passes, what they do and their options",
     SW_INTO_FLAG(settings, list)},
    {"json", 0, SW_OPTION_FLAG, NULL, NULL, "print what --list-passes prints as JSON", SW_INTO_FLAG(settings, json)},
    {"print-after", 0, SW_OPTION_FLAG, NULL, NULL, "print the text after each pass on standard error",
     SW_INTO_FLAG(settings, print_after)},
    SW_OPTION_OUTPUT_INTO(settings, output)};

static sw_rc list_passes_json(sw_diag *d) {
  sw_text out = {0};
  sw_json_out o;
  sw_json_out_init(&o, &out);
  sw_jw_format(&o, "passes", 1);
  sw_jw_array(&o, "passes");
  for (int i = 0; i < sw_program_pass_count(); i++) {
    const sw_pass_info p = sw_program_pass_at(i);
    sw_jw_object(&o, NULL);
    sw_jw_string(&o, "name", p.name);
    sw_jw_string(&o, p.passes ? "runs" : "about", p.passes ? p.passes : p.summary);
    sw_jw_array(&o, "options");
    for (const char *at = p.options; at && *at; at += strcspn(at, "\n") + 1)
      sw_jw_string_n(&o, NULL, at, strcspn(at, "\n"));
    sw_jw_end(&o);
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
  sw_jw_end(&o);
  return sw_print_text(&out, d);
}

static sw_rc list_passes(sw_diag *d) {
  sw_text out = {0};
  int width = 0;
  for (int i = 0; i < sw_program_pass_count(); i++) {
    const int n = (int)strlen(sw_program_pass_at(i).name);
    width = n > width ? n : width;
  }
  for (int i = 0; i < sw_program_pass_count(); i++) {
    const sw_pass_info p = sw_program_pass_at(i);
    sw_text_printf(&out, "%-*s  %s\n", width, p.name, p.passes ? p.passes : p.summary);
    for (const char *at = p.options; at && *at; at += strcspn(at, "\n") + 1)
      sw_text_printf(&out, "%*s    %.*s\n", width, "", (int)strcspn(at, "\n"), at);
  }
  return sw_print_text(&out, d);
}

static void print_after(void *user, const char *pass, const char *text, size_t n) {
  (void)user;
  (void)fprintf(stderr, "// after %s\n%.*s", pass, (int)n, text);
}

static sw_rc run_passes(const settings *s, const char *file, const char *text, size_t n, sw_diag *d) {
  const sw_pass_watch watch = {.after = s->print_after ? print_after : NULL};
  sw_text out = {0};
  sw_rc rc = sw_program_run_passes(file, text, n, s->passes, &watch, &out, d);
  if (rc) sw_text_free(&out);
  return rc ? rc : sw_save_text(s->output, &out, d);
}

static sw_rc cmd_opt(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_program_options options = {.report = sw_session_report};
  char *text;
  size_t n;
  if (s->list) return s->json ? list_passes_json(d) : list_passes(d);
  if (s->json)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--json prints what --list-passes prints; expected that beside it");
  if (!s->input) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "expected a FILE; - reads standard input");
  SW_TRY(sw_read_model_text(s->input, &text, &n, d));
  const char *file = strcmp(s->input, "-") == 0 ? "<stdin>" : s->input;
  sw_rc rc = s->passes ? run_passes(s, file, text, n, d) : sw_program_check_syntax(file, text, n, &options, d);
  if (!rc && !s->passes) rc = sw_file_write(s->output, text, n, d);
  sw_mem_free(text);
  return rc;
}

static bool always(const void *of) { return of != NULL; }

const sw_command sw_command_opt = {
    .name = "opt",
    .summary = "check the syntax of MLIR text, or run passes over it, and print it",
    .description =
        "Reads any MLIR text, whether it can be planned or not, and prints it again, the same text byte for byte. "
        "Errors come with line and column, up to 20 of them.\n"
        "With --pass the passes of Shardy's pipelines run over a program one after the other; what they do not change "
        "stays as it is written. Names may begin with sdy-.\n",
    .example = "shardwright opt tests/data/mlp.mlir | cmp - tests/data/mlp.mlir",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .all_or_nothing = always,
    .run = cmd_opt};
