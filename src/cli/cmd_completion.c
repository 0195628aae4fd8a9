/* shardwright completion SHELL: a completion script made from the option tables. Of one row
 *
 *   {"solver", 0, SW_OPTION_CHOICE, "NAME", "auto", "which solver", ..., .choices = "auto|glpk"}    of `plan`
 *
 * bash gets   plan:--solver) COMPREPLY=($(compgen -W 'auto glpk' -- "$cur")); return ;;
 * zsh gets    '--solver=[which solver]:NAME:(auto glpk)'
 * fish gets   complete -c shardwright -n '__fish_seen_subcommand_from plan' -l solver -d 'which solver'
 *             -x -a 'auto glpk'
 */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"

typedef struct settings {
  const char *shell;
} settings;

static const sw_operand kOperands[] = {
    {"SHELL", "the shell to complete for", SW_INTO_TEXT(settings, shell), .choices = "bash|zsh|fish"},
};

typedef void option_visitor(const sw_option *o, const sw_command *c, sw_text *out);

/* The options of one command, its own and the common ones. */
static void each_option(const sw_command *c, option_visitor *visit, sw_text *out) {
  for (int i = 0; i < c->n_options; i++) visit(&c->options[i], c, out);
  for (int i = 0; i < SW_COMMON_OPTIONS; i++) visit(&sw_common_options[i], c, out);
}

/* "a b " */
static void choices(const char *list, const char *suffix, sw_text *out) {
  int n;
  const char *choice;
  for (int i = 0; (choice = sw_option_word_at(list, i, &n)); i++) {
    sw_text_printf(out, "%s%.*s%s", i ? " " : "", n, choice, suffix);
  }
}

static void option_choices(const sw_option *o, sw_text *out) {
  choices(o->choices, o->kind == SW_OPTION_PAIRS ? "=" : "", out);
}

static void command_names(sw_text *out) {
  for (int i = 0; i < sw_command_count(); i++) sw_text_printf(out, "%s%s", i ? " " : "", sw_command_at(i)->name);
}

/* What may stand for an operand: names of commands, choices, or nothing when it is free text or a file. */
static void operand_choices(const sw_operand *o, sw_text *out) {
  if (o->names_command) {
    command_names(out);
  } else {
    choices(o->choices, "", out);
  }
}

static bool operand_is_file(const sw_operand *o) { return !o->names_command && !o->choices; }

/* Text inside single quotes; `special` characters get a backslash, a quote is written as `quote`. */
static void quoted(const char *s, const char *special, const char *quote, sw_text *out) {
  for (; *s; s++) {
    if (*s == '\'') {
      sw_text_puts(out, quote);
      continue;
    }
    if (strchr(special, *s)) sw_text_puts(out, "\\");
    sw_text_append(out, s, 1);
  }
}

/* ---- bash ---- */

static const char kBashHead[] =
    "# bash completion for shardwright, made by 'shardwright completion bash'\n"
    "_shardwright() {\n"
    "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= options= words= files= i\n"
    "  if [[ $cur == '=' ]]; then cur=; elif [[ $prev == '=' ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi\n"
    "  for ((i = 1; i < COMP_CWORD; i++)); do\n"
    "    if [[ ${COMP_WORDS[i]} != -* ]]; then command=${COMP_WORDS[i]}; break; fi\n"
    "  done\n"
    "  case $command:$prev in\n";

static const char kBashTail[] =
    "  esac\n"
    "  if [[ $cur == -* ]]; then words=$options; files=; fi\n"
    "  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n"
    "  if [[ -n $files ]]; then COMPREPLY+=($(compgen -f -- \"$cur\")); fi\n"
    "}\n"
    "complete -o filenames -F _shardwright shardwright\n";

static void bash_value(const sw_option *o, const sw_command *c, sw_text *out) {
  if (o->kind == SW_OPTION_FLAG) return;
  sw_text_printf(out, "    %s:--%s", c->name, o->name);
  if (o->letter) sw_text_printf(out, " | %s:-%c", c->name, o->letter);
  sw_text_puts(out, ") ");
  if (o->choices) {
    if (o->kind == SW_OPTION_PAIRS) sw_text_puts(out, "compopt -o nospace 2>/dev/null; ");
    sw_text_puts(out, "COMPREPLY=($(compgen -W '");
    option_choices(o, out);
    sw_text_puts(out, "' -- \"$cur\"))");
  } else if (o->kind == SW_OPTION_FILE || o->kind == SW_OPTION_DIR) {
    sw_text_printf(out, "COMPREPLY=($(compgen %s -- \"$cur\"))", o->kind == SW_OPTION_FILE ? "-f" : "-d");
  } else {
    sw_text_puts(out, "COMPREPLY=()");
  }
  sw_text_puts(out, "; return ;;\n");
}

static void bash_name(const sw_option *o, const sw_command *c, sw_text *out) {
  sw_text_printf(out, "%s--%s", o == c->options || (!c->n_options && o == sw_common_options) ? "" : " ", o->name);
}

static void bash_command(const sw_command *c, sw_text *out) {
  sw_text_printf(out, "    %s) options='", c->name);
  each_option(c, bash_name, out);
  sw_text_puts(out, "' words='");
  bool files = false;
  for (int i = 0; i < c->n_operands; i++) {
    operand_choices(&c->operands[i], out);
    files = files || operand_is_file(&c->operands[i]);
  }
  sw_text_printf(out, "' files=%s ;;\n", files ? "yes" : "");
}

static void bash(sw_text *out) {
  sw_text_puts(out, kBashHead);
  for (int i = 0; i < sw_command_count(); i++) each_option(sw_command_at(i), bash_value, out);
  sw_text_puts(out, "  esac\n  case $command in\n    '') options='");
  for (int i = 0; i < SW_COMMON_OPTIONS; i++) sw_text_printf(out, "%s--%s", i ? " " : "", sw_common_options[i].name);
  sw_text_puts(out, "' words='");
  command_names(out);
  sw_text_puts(out, "' ;;\n");
  for (int i = 0; i < sw_command_count(); i++) bash_command(sw_command_at(i), out);
  sw_text_puts(out, kBashTail);
}

/* ---- zsh ---- */

static void zsh_quoted(const char *s, sw_text *out) { quoted(s, "[]:\\", "'\\''", out); }

static void zsh_option(const sw_option *o, const sw_command *c, sw_text *out) {
  (void)c;
  bool takes_value = o->kind != SW_OPTION_FLAG, repeated = o->kind == SW_OPTION_WORDS || o->kind == SW_OPTION_PAIRS;
  const char *equals = takes_value ? "=" : "";
  sw_text_puts(out, " \\\n        ");
  if (o->letter && !repeated) sw_text_printf(out, "'(-%c --%s)'", o->letter, o->name);
  if (repeated) sw_text_puts(out, "'*'");
  if (o->letter) sw_text_printf(out, "{-%c%s,--%s%s}'[", o->letter, takes_value ? "+" : "", o->name, equals);
  if (!o->letter) sw_text_printf(out, "'--%s%s[", o->name, equals);
  zsh_quoted(o->help, out);
  sw_text_puts(out, "]");
  if (takes_value) {
    sw_text_printf(out, ":%s:", o->value);
    if (o->choices) {
      sw_text_puts(out, "(");
      option_choices(o, out);
      sw_text_puts(out, ")");
    } else if (o->kind == SW_OPTION_FILE || o->kind == SW_OPTION_DIR) {
      sw_text_puts(out, o->kind == SW_OPTION_FILE ? "_files" : "_files -/");
    }
  }
  sw_text_puts(out, "'");
}

static void zsh_command(const sw_command *c, sw_text *out) {
  sw_text_printf(out, "    %s)\n      _arguments -s", c->name);
  each_option(c, zsh_option, out);
  for (int i = 0; i < c->n_operands; i++) {
    const sw_operand *o = &c->operands[i];
    sw_text_printf(out, " \\\n        '%s:%s:", o->repeated ? "*" : o->optional ? ":" : "", o->name);
    if (operand_is_file(o)) {
      sw_text_puts(out, "_files'");
    } else {
      sw_text_puts(out, "(");
      operand_choices(o, out);
      sw_text_puts(out, ")'");
    }
  }
  sw_text_puts(out, " ;;\n");
}

static void zsh(sw_text *out) {
  sw_text_puts(out,
               "#compdef shardwright\n# zsh completion for shardwright, made by 'shardwright completion zsh'\n"
               "_shardwright() {\n  local -a commands\n  commands=(\n");
  for (int i = 0; i < sw_command_count(); i++) {
    sw_text_printf(out, "    '%s:", sw_command_at(i)->name);
    zsh_quoted(sw_command_at(i)->summary, out);
    sw_text_puts(out, "'\n");
  }
  sw_text_puts(out,
               "  )\n  if (( CURRENT == 2 )); then\n    _describe command commands\n    return\n  fi\n"
               "  local command=$words[2]\n  shift words\n  (( CURRENT-- ))\n  case $command in\n");
  for (int i = 0; i < sw_command_count(); i++) zsh_command(sw_command_at(i), out);
  sw_text_puts(out,
               "  esac\n}\nif [[ $funcstack[1] == _shardwright ]]; then _shardwright \"$@\"; "
               "else compdef _shardwright shardwright; fi\n");
}

/* ---- fish ---- */

static void fish_quoted(const char *s, sw_text *out) { quoted(s, "\\", "\\'", out); }

static void fish_option(const sw_option *o, const sw_command *c, sw_text *out) {
  sw_text_printf(out, "complete -c shardwright -n '__fish_seen_subcommand_from %s' -l %s", c->name, o->name);
  if (o->letter) sw_text_printf(out, " -s %c", o->letter);
  sw_text_puts(out, " -d '");
  fish_quoted(o->help, out);
  sw_text_puts(out, "'");
  if (o->choices) {
    sw_text_puts(out, " -x -a '");
    option_choices(o, out);
    sw_text_puts(out, "'");
  } else if (o->kind == SW_OPTION_FILE) {
    sw_text_puts(out, " -r -F");
  } else if (o->kind == SW_OPTION_DIR) {
    sw_text_puts(out, " -x -a '(__fish_complete_directories)'");
  } else if (o->kind != SW_OPTION_FLAG) {
    sw_text_puts(out, " -x");
  }
  sw_text_puts(out, "\n");
}

static void fish_command(const sw_command *c, sw_text *out) {
  sw_text_printf(out, "complete -c shardwright -f -n __fish_use_subcommand -a %s -d '", c->name);
  fish_quoted(c->summary, out);
  sw_text_puts(out, "'\n");
  for (int i = 0; i < c->n_operands; i++) {
    sw_text_printf(out, "complete -c shardwright -n '__fish_seen_subcommand_from %s'", c->name);
    if (operand_is_file(&c->operands[i])) {
      sw_text_puts(out, " -F\n");
    } else {
      sw_text_puts(out, " -f -a '");
      operand_choices(&c->operands[i], out);
      sw_text_puts(out, "'\n");
    }
  }
  each_option(c, fish_option, out);
}

static void fish(sw_text *out) {
  sw_text_puts(out, "# fish completion for shardwright, made by 'shardwright completion fish'\n");
  for (int i = 0; i < sw_command_count(); i++) fish_command(sw_command_at(i), out);
}

static const struct {
  const char *name;
  void (*write)(sw_text *out);
} kShells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

static sw_rc cmd_completion(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_text out = {0};
  for (size_t i = 0; i < sizeof kShells / sizeof kShells[0]; i++) {
    if (strcmp(kShells[i].name, s->shell) == 0) kShells[i].write(&out);
  }
  return sw_print_text(&out, d);
}

const sw_command sw_command_completion = {.name = "completion",
                                          .summary = "print a shell completion script",
                                          .example = "source <(shardwright completion bash)",
                                          SW_OPERANDS(kOperands),
                                          .settings_bytes = sizeof(settings),
                                          .run = cmd_completion};
