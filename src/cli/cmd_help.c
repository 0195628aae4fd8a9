/* shardwright help [COMMAND]: the help of the tool or of a subcommand, for a terminal or as a manual page; and the ops
 * that models may have, for a terminal or as docs/ops.schema.json. */
#include <string.h>

#include "cli/manual.h"
#include "cli/output.h"
#include "cli/terminal.h"
#include "io/json_write.h"
#include "shardwright/op.h"

typedef struct settings {
  const char *command, *format;
  bool list_ops;
} settings;

static const sw_option kOptions[] = {
    {"format", 0, SW_OPTION_CHOICE, "FORM", "text", "how it is written", SW_INTO_TEXT(settings, format),
     .choices = "text|man|schema"},
    {"list-ops", 0, SW_OPTION_FLAG, NULL, NULL, "the ops of models instead, a line each; schema: as JSON Schema",
     SW_INTO_FLAG(settings, list_ops)},
};
static const sw_operand kOperands[] = {
    {"COMMAND", "the command to explain", SW_INTO_TEXT(settings, command), .optional = true, .names_command = true},
};

static void list_ops(bool schema, sw_text *out) {
  if (schema) {
    sw_text_puts(out,
                 "{\n  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
                 "  \"title\": \"The ops of models: operands, attributes (= gives a default), and what they are\",\n"
                 "  \"anyOf\": [");
  }
  const char *behind = "\n";
  for (int i = 0; i < SW_OP_COUNT; i++) {
    const char *text = sw_opcode_text((sw_opcode)i), *doc = sw_opcode_doc((sw_opcode)i);
    if (sw_op_class_of((sw_opcode)i) == SW_OPS_DEVICE) continue; /* in no model */
    if (!schema) {
      sw_text_printf(out, "%-24s %s\n", text, doc);
      continue;
    }
    sw_text_printf(out, "%s    {\"const\": \"%s\", \"description\": ", behind, text);
    sw_json_quote(out, doc, strlen(doc));
    sw_text_puts(out, "}");
    behind = ",\n";
  }
  if (schema) sw_text_puts(out, "\n  ]\n}\n");
}

static sw_rc cmd_help(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const sw_command *only = s->command ? sw_command_find(s->command, d) : NULL;
  if (s->command && !only) return SW_E_USAGE;
  bool schema = strcmp(s->format, "schema") == 0;
  if (schema && !s->list_ops) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--format=schema needs --list-ops");
  if (s->list_ops && (only || strcmp(s->format, "man") == 0)) {
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--list-ops goes with neither a command nor --format=man");
  }
  bool colour = sw_terminal_has_colour(stdout);
  sw_text out = {0};
  if (s->list_ops) {
    list_ops(schema, &out);
  } else if (strcmp(s->format, "man") == 0) {
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
                                    .run = cmd_help};
