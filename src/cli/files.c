#include "cli/files.h"

#include <string.h>

#include "base/file.h"

/* A path of the command line and what names it there: "MODEL", "--report". */
typedef struct named_file {
  sw_file_use use;
  const char *dashes, *name;
  bool usual; /* it goes there anyway */
} named_file;

typedef struct file_list {
  named_file *at;
  int n;
} file_list;

static void add_file(file_list *l, const char *path, named_file as) {
  as.use.path = path;
  if (path && l->at) l->at[l->n] = as;
  if (path) l->n++;
}

static void add_option_files(file_list *l, const sw_option *o, const void *at) {
  const sw_words *words = at;
  const sw_pairs *pairs = at;
  const named_file as = {{NULL, o->writes}, "--", o->name, o->by_default && strcmp(o->by_default, "-") == 0};
  if (o->kind == SW_OPTION_FILE) add_file(l, *(const char *const *)at, as);
  if (!o->writes) return;
  for (int i = 0; o->kind == SW_OPTION_WORDS && i < words->n; i++) add_file(l, words->at[i], as);
  for (int i = 0; o->kind == SW_OPTION_PAIRS && i < pairs->n; i++) add_file(l, pairs->at[i].value, as);
}

/* A result that goes to standard output for want of another place is in nobody's way. */
static bool is_by_default(const sw_option *o, const void *at) {
  return o->kind == SW_OPTION_FILE && o->writes && *(const char *const *)at == o->by_default;
}

static void list_files(const sw_command *c, const void *settings, file_list *l) {
  l->n = 0;
  for (int i = 0; i < c->n_operands; i++) {
    const sw_operand *o = &c->operands[i];
    const void *at = (const char *)settings + o->into;
    const sw_words *words = at;
    if (o->choices || o->names_command) continue;
    const named_file as = {{NULL, false}, "", o->name, false};
    if (!o->repeated) add_file(l, *(const char *const *)at, as);
    for (int k = 0; o->repeated && k < words->n; k++) add_file(l, words->at[k], as);
  }
  for (int i = 0; i < c->n_options; i++) {
    const void *at = (const char *)settings + c->options[i].into;
    if (!is_by_default(&c->options[i], at)) add_option_files(l, &c->options[i], at);
  }
}

static sw_rc check_overwrite(const named_file *a, const named_file *b, sw_diag *d) {
  const named_file *out = b->use.written ? b : a, *other = out == b ? a : b;
  if (!out->use.written || !sw_file_same(&a->use, &b->use)) return SW_OK;
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%s%s would write '%s' over '%s' of %s%s; expected another file",
                 out->dashes, out->name, out->use.path, other->use.path, other->dashes, other->name);
}

sw_rc sw_files_check(const sw_command *c, const void *settings, sw_arena *arena, bool *stdout_taken, sw_diag *d) {
  file_list l = {0};
  list_files(c, settings, &l);
  SW_ARENA_NEW(l.at, arena, l.n, d);
  list_files(c, settings, &l);
  const named_file standard = {{"-", true}, "", "standard output", true};
  for (int i = 0; i < l.n; i++) {
    for (int k = 0; k < i; k++) SW_TRY(check_overwrite(&l.at[k], &l.at[i], d));
    if (strcmp(l.at[i].use.path, "-") != 0) SW_TRY(check_overwrite(&standard, &l.at[i], d));
    *stdout_taken |= l.at[i].use.written && !l.at[i].usual && strcmp(l.at[i].use.path, "-") == 0;
  }
  for (int i = 0; i < l.n; i++) {
    if (l.at[i].use.written) SW_TRY(sw_file_can_write(l.at[i].use.path, d));
  }
  return SW_OK;
}
