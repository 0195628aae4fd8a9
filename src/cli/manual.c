/* Help for terminals and the manual page. Both walk the same tables:
 *
 *   {"threads", 'j', ..., "N", "1", "threads to use"}   ->     -j, --threads=N   threads to use (default: 1)
 *                                                       ->   .TP \fB\-j\fR, \fB\-\-threads\fR=\fIN\fR
 */
#include "cli/manual.h"

#include <string.h>

#include "cli/terminal.h"

enum { WIDTH = 80, TERM_INDENT = 2, HELP_COLUMN = 28 };

static const char kTagline[] = "automatic tensor-sharding planner";
static const char kOverview[] =
    "Chooses how every tensor of a model is split over the devices of a mesh, proves how good the choice is, and turns "
    "the model into the program that each device runs.";

/* Exit codes as the tool documents them; the values are those of sw_rc. */
static const struct {
  sw_rc rc;
  const char *meaning;
} kExits[] = {
    {SW_OK, "done; also when the time was up and a plan was found"},
    {SW_E_INPUT, "bad input"},
    {SW_E_USAGE, "wrong command line"},
    {SW_E_INFEASIBLE, "proven infeasible, or pins that cannot be met"},
    {SW_E_MISMATCH, "validation failed"},
    {SW_E_RESOURCE, "could not finish: I/O, memory, a device failure, or time up without any plan"},
    {SW_E_BUG, "internal inconsistency; please report it"},
    {SW_E_CANCELLED, "interrupted; the best plan so far is written"},
};

/* "shardwright plan [options] MODEL" */
static void put_usage(const sw_command *c, sw_text *out) {
  sw_text_printf(out, "shardwright %s [options]", c->name);
  for (int i = 0; i < c->n_operands; i++) {
    const sw_operand *o = &c->operands[i];
    sw_text_printf(out, " %s%s%s%s", o->optional ? "[" : "", o->name, o->repeated ? "..." : "", o->optional ? "]" : "");
  }
}

/* ---- terminal ---- */

static size_t column(const sw_text *t) {
  size_t i = t->n;
  while (i > 0 && t->at[i - 1] != '\n') i--;
  return t->n - i;
}

/* Append the words of `s`, breaking lines before WIDTH and indenting the new ones. */
static void wrap_words(sw_text *out, const char *s, size_t indent) {
  bool first = true;
  while (*s && !out->rc) {
    size_t n = strcspn(s, " \n");
    if (!first && column(out) + 1 + n > WIDTH) {
      sw_text_puts(out, "\n");
      sw_text_pad(out, out->n, indent);
    } else if (!first) {
      sw_text_puts(out, " ");
    }
    sw_text_append(out, s, n);
    s += n;
    s += strspn(s, " \n");
    first = false;
  }
  sw_text_puts(out, "\n");
}

/* "  TERM     help", the help starting on its own line when the term is long. */
static void put_entry(sw_text *out, const char *term, const char *help) {
  sw_text_printf(out, "%*s%s", TERM_INDENT, "", term);
  if (column(out) + 2 > HELP_COLUMN) sw_text_puts(out, "\n");
  size_t at = column(out);
  sw_text_pad(out, out->n, HELP_COLUMN - at);
  wrap_words(out, help, HELP_COLUMN);
}

static void put_heading(sw_text *out, const char *title, bool colour) {
  sw_text_printf(out, "\n%s%s:%s\n", sw_style_code(SW_STYLE_BOLD, colour), title,
                 sw_style_code(SW_STYLE_PLAIN, colour));
}

/* "help text: a, b" */
static void put_help(const char *help, const char *choices, sw_text *out) {
  sw_text_puts(out, help);
  int n;
  const char *choice;
  for (int i = 0; (choice = sw_option_word_at(choices, i, &n)); i++) {
    sw_text_printf(out, "%s%.*s", i ? ", " : ": ", n, choice);
  }
}

/* The same, with "(default: a; may be repeated)". */
static void option_help(const sw_option *o, sw_text *out) {
  put_help(o->help, o->choices, out);
  bool repeated = o->kind == SW_OPTION_WORDS || o->kind == SW_OPTION_PAIRS;
  if (o->by_default) sw_text_printf(out, " (default: %s)", o->by_default);
  if (repeated) sw_text_puts(out, " (may be repeated)");
}

static void option_entry(const sw_option *o, sw_text *out) {
  sw_text term = {0}, help = {0};
  if (o->letter) sw_text_printf(&term, "-%c, ", o->letter);
  if (!o->letter) sw_text_puts(&term, "    ");
  sw_text_printf(&term, "--%s%s%s", o->name, o->value ? "=" : "", o->value ? o->value : "");
  option_help(o, &help);
  put_entry(out, sw_text_str(&term), sw_text_str(&help));
  sw_text_free(&term);
  sw_text_free(&help);
}

static void operand_entry(const sw_operand *o, sw_text *out) {
  sw_text help = {0};
  put_help(o->help, o->choices, &help);
  put_entry(out, o->name, sw_text_str(&help));
  sw_text_free(&help);
}

static void common_entries(sw_text *out, bool colour) {
  put_heading(out, "common options", colour);
  for (int i = 0; i < SW_COMMON_OPTIONS; i++) option_entry(&sw_common_options[i], out);
}

void sw_manual_overview(sw_text *out, bool colour) {
  sw_text_printf(out, "shardwright: %s\n\nusage: shardwright COMMAND [options] ...\n\n", kTagline);
  wrap_words(out, kOverview, 0);
  put_heading(out, "commands", colour);
  for (int i = 0; i < sw_command_count(); i++) put_entry(out, sw_command_at(i)->name, sw_command_at(i)->summary);
  common_entries(out, colour);
  sw_text_puts(
      out, "\n'shardwright help COMMAND' explains a command. Long options may be shortened while they stay clear.\n");
}

/* Each line of `paragraphs` is one. */
static void wrap_paragraphs(sw_text *out, const char *paragraphs) {
  while (*paragraphs && !out->rc) {
    size_t n = strcspn(paragraphs, "\n");
    sw_text one = {0};
    sw_text_append(&one, paragraphs, n);
    sw_text_puts(out, "\n");
    wrap_words(out, sw_text_str(&one), 0);
    sw_text_free(&one);
    paragraphs += n + (paragraphs[n] == '\n');
  }
}

void sw_manual_command(const sw_command *c, sw_text *out, bool colour) {
  sw_text_puts(out, "usage: ");
  put_usage(c, out);
  sw_text_printf(out, "\n\nshardwright %s: %s\n", c->name, c->summary);
  if (c->description) wrap_paragraphs(out, c->description);
  if (c->n_operands) put_heading(out, "operands", colour);
  for (int i = 0; i < c->n_operands; i++) operand_entry(&c->operands[i], out);
  if (c->n_options) put_heading(out, "options", colour);
  for (int i = 0; i < c->n_options; i++) option_entry(&c->options[i], out);
  common_entries(out, colour);
  if (c->example) put_heading(out, "example", colour);
  if (c->example) sw_text_printf(out, "  %s\n", c->example);
}

/* ---- manual page ---- */

/* Text as troff shows it unchanged. */
static void troff(sw_text *out, const char *s) {
  if (*s == '.' || *s == '\'') sw_text_puts(out, "\\&");
  for (; *s; s++) {
    if (*s == '-') {
      sw_text_puts(out, "\\-");
    } else if (*s == '\\') {
      sw_text_puts(out, "\\e");
    } else if (*s == '\n') {
      sw_text_puts(out, "\n.PP\n");
    } else {
      sw_text_append(out, s, 1);
    }
  }
}

static void troff_option(const sw_option *o, sw_text *out) {
  sw_text_puts(out, ".TP\n");
  if (o->letter) sw_text_printf(out, "\\fB\\-%c\\fR, ", o->letter);
  sw_text_puts(out, "\\fB\\-\\-");
  troff(out, o->name);
  sw_text_puts(out, "\\fR");
  if (o->value) sw_text_printf(out, "=\\fI%s\\fR", o->value);
  sw_text_puts(out, "\n");
  sw_text help = {0};
  option_help(o, &help);
  troff(out, sw_text_str(&help));
  sw_text_puts(out, "\n");
  sw_text_free(&help);
}

static void troff_operand(const sw_operand *o, sw_text *out) {
  sw_text help = {0};
  put_help(o->help, o->choices, &help);
  sw_text_printf(out, ".TP\n\\fI%s\\fR\n", o->name);
  troff(out, sw_text_str(&help));
  sw_text_puts(out, "\n");
  sw_text_free(&help);
}

static void troff_command(const sw_command *c, sw_text *out) {
  sw_text usage = {0};
  put_usage(c, &usage);
  sw_text_puts(out, ".SS ");
  troff(out, c->name);
  sw_text_puts(out, "\n.B ");
  troff(out, sw_text_str(&usage));
  sw_text_puts(out, "\n.PP\n");
  troff(out, c->summary);
  sw_text_puts(out, ".\n");
  if (c->description) {
    sw_text_puts(out, ".PP\n");
    troff(out, c->description);
    sw_text_puts(out, "\n");
  }
  for (int i = 0; i < c->n_operands; i++) troff_operand(&c->operands[i], out);
  for (int i = 0; i < c->n_options; i++) troff_option(&c->options[i], out);
  if (c->example) {
    sw_text_puts(out, ".PP\nExample:\n.PP\n.RS\n.B ");
    troff(out, c->example);
    sw_text_puts(out, "\n.RE\n");
  }
  sw_text_free(&usage);
}

void sw_manual_man(const sw_command *only, sw_text *out) {
  sw_text_puts(out, ".TH SHARDWRIGHT 1 \"\" \"shardwright " SW_VERSION "\" \"User Commands\"\n.SH NAME\n");
  sw_text_puts(out, "shardwright \\- ");
  troff(out, kTagline);
  sw_text_puts(out, "\n.SH SYNOPSIS\n.B shardwright\n.I COMMAND\n[options] ...\n.SH DESCRIPTION\n");
  troff(out, kOverview);
  sw_text_puts(out, "\n.SH COMMANDS\n");
  for (int i = 0; i < sw_command_count(); i++) {
    const sw_command *c = sw_command_at(i);
    if (!only || c == only) troff_command(c, out);
  }
  sw_text_puts(out, ".SH COMMON OPTIONS\n");
  for (int i = 0; i < SW_COMMON_OPTIONS; i++) troff_option(&sw_common_options[i], out);
  sw_text_puts(out, ".SH EXIT STATUS\n");
  for (size_t i = 0; i < sizeof kExits / sizeof kExits[0]; i++) {
    sw_text_printf(out, ".TP\n.B %d\n", (int)kExits[i].rc);
    troff(out, kExits[i].meaning);
    sw_text_puts(out, "\n");
  }
}
