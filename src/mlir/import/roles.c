/* What the arguments of main are: data, parameters, or state, which is donated to an output. Said by the caller, one by
 * one or in a file (a line "parameter w*" each), by attributes (tf.aliasing_output, ttcore.argument_type), by names; of
 * all others a guess is made (roles/guess.c):
 *
 *   tf.aliasing_output = 3                    state that becomes output 3
 *   jax.buffer_donor                          state that becomes the first output of its type that no other one becomes
 *   "parameter" in ttcore.argument_type       parameter, also when a custom call @tt.mark_argument says it
 *   params['w'], kernel, weight, bias         parameter
 *   cache, input, token, batch, label, mask; an integer       data
 */
#include <ctype.h>
#include <string.h>

#include "mlir/import/import_passes.h"
#include "mlir/import/types.h"
#include "mlir/import/dialect.h"
#include "mlir/roles/roles.h"
#include "base/file.h"
#include "base/nearest.h"
#include "base/pattern.h"

typedef enum guess { GUESS_NONE, GUESS_INPUT, GUESS_PARAMETER } guess;

/* What somebody says of the arguments that a pattern meets. */
typedef struct said_role {
  guess role; /* NONE: state */
  const char *pattern;
  bool by_parts;  /* it is a pattern as of pins, too */
  int64_t output; /* of state: what it becomes; -1: the first of its type */
  bool used;
  sw_span at;
} said_role;

typedef struct role_finder {
  sw_importer *m;
  sw_roles *out;
  const sw_ir_op *f;
  const sw_ir_block *block;
  SW_ARRAY(said_role) given;
  guess *said;    /* by argument */
  bool *is_given; /* by argument: the caller says it, else attributes and names */
  bool *donated;  /* by argument: it becomes some output of its type */
  int64_t *from;  /* by slot of main: the argument that it is, reshaped or converted; -1 */
} role_finder;

/* --- by attributes and names ------------------------------------------------------------------------------------- */

static bool has_word(const sw_ir_tree *t, sw_ir_span s, const char *word) {
  size_t n = strlen(word);
  for (uint32_t i = s.at; i + n <= s.end; i++) {
    size_t k = 0;
    while (k < n && tolower((unsigned char)t->s[i + k]) == word[k]) k++;
    if (k == n) return true;
  }
  return false;
}

static guess guess_of_type(const sw_ir_tree *t, sw_ir_span s) {
  if (has_word(t, s, "parameter") || has_word(t, s, "constant")) return GUESS_PARAMETER;
  return has_word(t, s, "input") ? GUESS_INPUT : GUESS_NONE;
}

static guess guess_of_name(const sw_ir_tree *t, sw_ir_span s) {
  static const char *const kParameters[] = {"param", "weight", "kernel", "bias", "embedding", "w_", "_w", "scale"};
  if (has_word(t, s, "cache")) return GUESS_INPUT; /* whatever is in it; state, when it is written into */
  static const char *const kInputs[] = {"args[", "input", "token", "batch", "label", "mask", "position", "image"};
  for (size_t i = 0; i < sizeof kParameters / sizeof *kParameters; i++) {
    if (has_word(t, s, kParameters[i])) return GUESS_PARAMETER;
  }
  for (size_t i = 0; i < sizeof kInputs / sizeof *kInputs; i++) {
    if (has_word(t, s, kInputs[i])) return GUESS_INPUT;
  }
  return GUESS_NONE;
}

/* Is a unit or boolean attribute there and not false? */
static bool is_set(const sw_ir_tree *t, sw_ir_span v) {
  return sw_ir_present(v) && !(sw_ir_len(v) && sw_ir_is(t, v, "false"));
}

static void read_said(role_finder *r, uint32_t i) {
  const sw_ir_tree *t = r->m->t;
  const sw_ir_arg *a = &t->args.at[r->block->first_arg + i];
  sw_ir_span attrs = sw_im_arg_attrs(t, r->f, i);
  sw_ir_span alias = sw_ir_entry(t, attrs, "tf.aliasing_output");
  if (!sw_ir_present(alias) || !sw_ir_read_int(t, alias, &r->out->at[i].output)) r->out->at[i].output = -1;
  r->donated[i] = is_set(t, sw_ir_entry(t, attrs, "jax.buffer_donor"));
  r->said[i] = guess_of_type(t, sw_ir_entry(t, attrs, "ttcore.argument_type"));
  static const char *const kNames[] = {"jax.arg_info", "ttir.name"};
  for (size_t k = 0; k < 2 && !r->said[i]; k++) r->said[i] = guess_of_name(t, sw_ir_entry(t, attrs, kNames[k]));
  if (!r->said[i]) r->said[i] = guess_of_name(t, sw_im_location_name(r->m, a->loc));
}

/* --- by the caller ------------------------------------------------------------------------------------------------ */

/* "*" stands for any characters. */
static bool matches(const char *pattern, const char *name) {
  const char *star = NULL, *mark = NULL;
  while (*name) {
    if (*pattern == '*') {
      star = ++pattern;
      mark = name;
    } else if (*pattern == *name) {
      pattern++;
      name++;
    } else if (star) {
      pattern = star;
      name = ++mark;
    } else {
      return false;
    }
  }
  while (*pattern == '*') pattern++;
  return !*pattern;
}

static sw_rc note_given_role(role_finder *r, sw_span at, const char *role, const char *name, const char *output) {
  said_role s = {.at = at, .output = -1};
  const bool state = strcmp(role, "state") == 0;
  s.role = strcmp(role, "parameter") == 0 ? GUESS_PARAMETER : strcmp(role, "input") == 0 ? GUESS_INPUT : GUESS_NONE;
  if ((!state && !s.role) || !name || (output && !state))
    return SW_FAIL_INPUT(r->m->d, at, "expected 'parameter NAME', 'input NAME', 'state NAME' or 'state NAME OUTPUT'");
  if (output)
    SW_TRY_NOTE(r->m->d, sw_parse_i64(output, 0, 1 << 20, "output", &s.output, r->m->d), "of the argument '%s'", name);
  s.by_parts = sw_pattern_is(name, strlen(name)) && !sw_pattern_check(name, strlen(name), NULL);
  s.pattern = sw_arena_strndup(&r->m->keep, name, strlen(name), r->m->d);
  return s.pattern ? sw_array_push(&r->given, s, r->m->d) : SW_E_RESOURCE;
}

/* The next word of a line, or what stands in double quotes, where a backslash takes the sign behind it as it is; ends
 * it in place, and *at is behind it. NULL: there is none, or the quotes are open. */
static char *next_word(char **at) {
  char *from = *at + strspn(*at, " \t\r"), *to = from;
  if (!*from) return NULL;
  if (*from != '"') {
    *at = from + strcspn(from, " \t\r");
    if (**at) *(*at)++ = 0;
    return from;
  }
  char *word = from;
  for (from++; *from && *from != '"'; *to++ = *from++) {
    if (*from == '\\' && from[1]) from++;
  }
  if (!*from) return NULL;
  *at = from + 1;
  *to = 0;
  return word;
}

/* ROLE NAME [OUTPUT] */
static sw_rc read_role_line(role_finder *r, sw_span at, char *text) {
  const char *role = next_word(&text);
  if (!role || *role == '#') return SW_OK;
  const char *name = next_word(&text);
  return note_given_role(r, at, role, name, next_word(&text));
}

static sw_rc read_roles_file(role_finder *r, const char *path) {
  char *bytes, *rest = NULL;
  size_t n;
  sw_span at = {path, 0, 1};
  SW_TRY(sw_file_read_text(path, &bytes, &n, r->m->d));
  sw_rc rc = SW_OK;
  for (char *line = bytes; line && !rc; line = rest) {
    rest = strchr(line, '\n');
    if (rest) *rest++ = 0;
    at.line++;
    rc = read_role_line(r, at, line);
  }
  sw_mem_free(bytes);
  return rc;
}

static sw_rc take_given(role_finder *r) {
  const sw_program_options *o = r->m->o;
  if (o->roles) SW_TRY(read_roles_file(r, o->roles));
  for (int32_t i = 0; i < o->n_said_roles; i++) {
    const sw_said_role *s = &o->said_roles[i];
    SW_TRY(note_given_role(r, (sw_span){"roles", i + 1, 1}, s->role, s->argument, s->output));
  }
  return SW_OK;
}

/* The last one that names the argument, by the name for people or that of the text. */
static sw_rc see_given(role_finder *r, uint32_t i) {
  const sw_ir_arg *a = &r->m->t->args.at[r->block->first_arg + i];
  const char *name, *own = sw_im_string(r->m, a->name);
  SW_TRY(sw_im_arg_label(r->m, i, &name));
  for (size_t k = 0; k < r->given.n; k++) {
    said_role *s = &r->given.at[k];
    const bool by_parts = s->by_parts && sw_pattern_distance(s->pattern, strlen(s->pattern), name) == 0;
    if (!by_parts && !matches(s->pattern, name) && !matches(s->pattern, own)) continue;
    s->used = true;
    r->is_given[i] = true;
    r->said[i] = s->role;
    r->donated[i] = !s->role && s->output < 0;
    r->out->at[i].output = s->output;
  }
  return SW_OK;
}

static sw_rc check_said_roles(const role_finder *r) {
  for (size_t k = 0; k < r->given.n; k++) {
    const said_role *s = &r->given.at[k];
    sw_nearest near = {.wanted = s->pattern};
    if (s->used) continue;
    for (uint32_t i = 0; i < r->out->n; i++) {
      const char *name;
      SW_TRY(sw_im_arg_label(r->m, i, &name));
      sw_nearest_offer(&near, name);
    }
    const char *hint = sw_nearest_hint(&near);
    return SW_FAIL_INPUT(r->m->d, s->at, "no argument is named '%s'%s", s->pattern,
                         *hint ? hint : "; expected one of the program");
  }
  return SW_OK;
}

/* --- by a custom call that marks it ------------------------------------------------------------------------------- */

static int64_t argument_of(const role_finder *r, const sw_ir_op *op, uint32_t operand) {
  return operand < op->n_uses ? r->from[r->m->names->use[op->first_use + operand]] : -1;
}

/* Ops behind which an argument is still the same one. */
static bool is_transparent(const sw_ir_row *row) {
  sw_content content = sw_content_of(row->code);
  bool moves = content == SW_CONTENT_MOVED || content == SW_CONTENT_ROUNDED;
  return moves || row->flags & SW_IR_PASSES || row->import == sw_im_custom_call;
}

static void see_op_for_roles(role_finder *r, const sw_ir_op *op) {
  const sw_ir_tree *t = r->m->t;
  const sw_ir_row *row = sw_ir_row_of(t, op->name);
  int64_t from = argument_of(r, op, 0);
  if (!row) return;
  if (row->import == sw_im_custom_call && from >= 0 && !r->said[from]) {
    sw_ir_span frontend = sw_ir_entry(t, op->attrs, "mhlo.frontend_attributes");
    r->said[from] = guess_of_type(t, sw_ir_entry(t, frontend, "ttcore.argument_type"));
  }
  if (is_transparent(row) && op->n_results == 1 && from >= 0) r->from[r->m->names->result[op->first_result]] = from;
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

/* Weights are floats, or integers that stand for such. */
static bool may_be_weights(sw_dtype t) {
  sw_dtype_class class = sw_dtype_class_of(t);
  return class == SW_CLASS_FLOAT || (class == SW_CLASS_SIGNED && sw_dtype_bits(t) <= 8) || sw_dtype_container(t) != t;
}

static sw_rc decide(role_finder *r, uint32_t i) {
  const sw_ir_tree *t = r->m->t;
  sw_role *a = &r->out->at[i];
  sw_ir_span sharding = sw_im_sharding_attr(t, sw_im_arg_attrs(t, r->f, i));
  sw_type type;
  sw_rc rc = sw_ir_read_type(t, t->args.at[r->block->first_arg + i].type, &r->m->scratch, &type, NULL);
  bool weights = !rc && may_be_weights(type.dtype);
  if (a->output >= 0) {
    a->kind = SW_VALUE_STATE;
  } else if (r->said[i]) {
    a->kind = r->said[i] == GUESS_INPUT ? SW_VALUE_INPUT : SW_VALUE_PARAMETER;
    if (weights && !r->is_given[i]) a->source = SW_ROLE_NAMED;
  } else {
    bool integers = !rc && type.rank >= 2 && type.dtype != SW_BOOL;
    a->source = weights ? SW_ROLE_UNSAID : integers ? SW_ROLE_UNSAID_INTEGERS : SW_ROLE_TYPED;
  }
  a->sharding = sw_arena_strndup(&r->m->keep, t->s + sharding.at, sw_ir_len(sharding), r->m->d);
  return a->sharding ? SW_OK : SW_E_RESOURCE;
}

/* Has the argument the type of output `k` of main? */
static bool is_of_type(role_finder *r, uint32_t i, int64_t k) {
  const sw_ir_tree *t = r->m->t;
  sw_type is, was;
  return k < r->m->passes->n_declared && !sw_ir_read_type(t, r->m->passes->declared[k], &r->m->scratch, &is, NULL) &&
         !sw_ir_read_type(t, t->args.at[r->block->first_arg + i].type, &r->m->scratch, &was, NULL) &&
         sw_type_equal(&is, &was);
}

/* Does an argument before number `n` become the output? */
static bool is_output_taken(const role_finder *r, uint32_t n, int64_t output) {
  for (uint32_t k = 0; k < n; k++) {
    if (r->out->at[k].output == output) return true;
  }
  return false;
}

/* State is donated to one output of its own type. */
static void check_state_alias(role_finder *r, uint32_t i) {
  int64_t *alias = &r->out->at[i].output;
  if (*alias < 0 || (is_of_type(r, i, *alias) && !is_output_taken(r, i, *alias))) return;
  sw_im_warn(r->m, r->m->t->args.at[r->block->first_arg + i].type.at,
             "argument %u is said to become output %lld, which is of another type or taken: not state", i,
             (long long)*alias);
  *alias = -1;
}

/* Do argument and output of main say the same type, as they do where one is donated for the other? */
static bool says_type_of(const role_finder *r, uint32_t i, uint32_t output) {
  const sw_ir_tree *t = r->m->t;
  sw_ir_span own = sw_ir_trimmed(t, t->args.at[r->block->first_arg + i].type);
  return sw_ir_same(t, own, sw_ir_trimmed(t, r->m->passes->declared[output]));
}

/* As JAX pairs them: every output with the first donated argument of its type that is left. */
static void pair_donated(role_finder *r) {
  for (uint32_t k = 0; k < r->m->passes->n_declared; k++) {
    if (is_output_taken(r, r->out->n, k)) continue;
    for (uint32_t i = 0; i < r->out->n; i++) {
      if (!r->donated[i] || r->out->at[i].output >= 0 || !says_type_of(r, i, k)) continue;
      r->out->at[i].output = k;
      break;
    }
  }
}

static sw_rc find_argument_roles(role_finder *r) {
  sw_importer *m = r->m;
  uint32_t n = r->out->n, first = (uint32_t)(r->f - m->t->ops.at);
  SW_ARENA_NEW_EACH(&m->scratch, n, m->d, r->said, r->is_given, r->donated);
  SW_ARENA_NEW(r->from, &m->scratch, m->names->n_slots[first], m->d);
  for (uint32_t i = 0; i < m->names->n_slots[first]; i++) r->from[i] = -1;
  uint32_t slot = m->names->block[sw_ir_block_at(m->t, r->f, 0)];
  for (uint32_t i = 0; i < n; i++) {
    r->from[slot + i] = i;
    read_said(r, i);
    SW_TRY(see_given(r, i));
    check_state_alias(r, i);
  }
  SW_TRY(check_said_roles(r));
  pair_donated(r);
  for (uint32_t op = r->block->first_op; op != SW_IR_NONE; op = m->t->ops.at[op].next)
    see_op_for_roles(r, &m->t->ops.at[op]);
  for (uint32_t i = 0; i < n; i++) SW_TRY(decide(r, i));
  return SW_OK;
}

static sw_rc open_roles(sw_importer *m) {
  sw_roles *out;
  SW_ARENA_NEW(out, &m->keep, 1, m->d);
  m->passes->roles = out;
  role_finder r = {.m = m, .out = out, .f = sw_im_op(m, m->main)};
  r.block = &m->t->blocks.at[sw_ir_block_at(m->t, r.f, 0)];
  out->n = r.block->n_args;
  SW_ARENA_NEW(out->at, &m->keep, out->n, m->d);
  for (uint32_t i = 0; i < out->n; i++) out->at[i] = (sw_role){.value = -1, .output = -1};
  sw_rc rc = take_given(&r);
  if (!rc) rc = find_argument_roles(&r);
  sw_array_free(&r.given);
  return rc;
}

static void say_count(sw_text *out, int32_t n, const char *what, const char *whats) {
  if (n) sw_text_printf(out, "%s%d %s", out->n ? ", " : "", n, n == 1 ? what : whats);
}

static void warn_of_guess(sw_importer *m) {
  const sw_roles *roles = m->passes->roles;
  int32_t n = 0, count[SW_VALUE_STATE + 1] = {0};
  sw_text kinds = {0};
  for (uint32_t i = 0; i < roles->n; i++) {
    if (roles->at[i].source != SW_ROLE_UNSAID || roles->at[i].value < 0) continue;
    n++;
    count[m->g->values[roles->at[i].value].kind]++;
  }
  say_count(&kinds, count[SW_VALUE_PARAMETER], "parameter", "parameters");
  say_count(&kinds, count[SW_VALUE_INPUT], "input", "inputs");
  say_count(&kinds, count[SW_VALUE_STATE], "state that an output replaces", "states that outputs replace");
  if (n)
    sw_im_warn(m, sw_im_op(m, m->main)->text.at,
               "what %d of %u arguments are is guessed from their uses: %s; %s says it", n, roles->n,
               sw_text_str(&kinds), m->o->roles_option ? m->o->roles_option : "a file of roles");
  sw_text_free(&kinds);
}

static sw_rc guess_rest(sw_importer *m, const sw_id *values, uint32_t n) {
  sw_role_output *outputs;
  if (m->cut) return SW_OK;
  if (n > m->passes->n_declared) n = m->passes->n_declared; /* more is an error, told later */
  SW_ARENA_NEW(outputs, &m->scratch, n, m->d);
  for (uint32_t i = 0; i < n; i++) {
    sw_ir_span s = sw_im_sharding_attr(m->t, m->passes->declared_attrs[i]);
    outputs[i] = (sw_role_output){values[i], sw_arena_strndup(&m->scratch, m->t->s + s.at, sw_ir_len(s), m->d)};
    if (!outputs[i].sharding) return SW_E_RESOURCE;
  }
  SW_TRY(sw_guess_roles(m->g, m->passes->roles, outputs, n, &m->scratch, m->d));
  warn_of_guess(m);
  return SW_OK;
}

static const sw_dialect_hooks kHooks = {.open = open_roles, .returned = guess_rest};
const sw_dialect sw_dialect_roles = {"roles", NULL, 0, NULL, 0, &kHooks};
