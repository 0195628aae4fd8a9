/* One op of a text, in generic or custom form.
 *
 * Generic ops have one grammar. Custom forms are each dialect's own; what they share is enough to find their parts:
 *
 *   %1:2 = stablehlo.reduce(%x init: %c) across dimensions = [1] : (T, T) -> T  reducer(%a: T, %b: T) { ... } loc(#l)
 *
 * operands are the % names outside of braces, `(%a: T)` names arguments of the regions to come, `(%a = %x)` does and
 * gives operands, a brace with `key = value` is a dictionary, any other brace a region, a colon is followed by types.
 * The op ends at loc(...), or where the next one begins: `%r =`, or an op's name at the beginning of a line.
 */
#include <ctype.h>
#include <string.h>

#include "mlir/text/parser.h"
#include "mlir/text/resolve.h"

/* --- small pieces ------------------------------------------------------------------------------------------------ */

static sw_rc fail_expected(sw_ir_parser *p, const char *what) {
  return sw_ir_expected(p->s, p->n, p->i, what, &p->flaw);
}
static sw_rc expect_token(sw_ir_parser *p, const char *mark) { return sw_ir_expect(p->s, p->n, &p->i, mark, &p->flaw); }
static sw_rc balanced(sw_ir_parser *p, const sw_ir_see *see) {
  return sw_ir_balanced(p->s, p->n, &p->i, &p->closers, see, &p->flaw, p->d);
}

/* %name at the cursor. */
static sw_rc read_value_name(sw_ir_parser *p, sw_ir_span *name) {
  if (p->s[p->i] != '%') return fail_expected(p, "a value");
  name->at = p->i + 1;
  name->end = sw_ir_value_name(p->s, name->at);
  if (name->end == name->at) {
    p->i++;
    return fail_expected(p, "the name of a value");
  }
  p->i = name->end;
  return SW_OK;
}

static uint32_t read_digits(const char *s, uint32_t *i) {
  uint32_t v = 0;
  while (isdigit((unsigned char)s[*i])) {
    uint32_t digit = (uint32_t)(s[*i] - '0');
    v = v > (UINT32_MAX - digit) / 10 ? UINT32_MAX : v * 10 + digit;
    ++*i;
  }
  return v;
}

static sw_rc add_use(sw_ir_parser *p, uint32_t op) {
  sw_ir_use u = {{0, 0}, 0};
  SW_TRY(read_value_name(p, &u.name));
  if (p->s[p->i] == '#' && isdigit((unsigned char)p->s[p->i + 1])) {
    p->i++;
    u.index = read_digits(p->s, &p->i);
  }
  sw_ir_op *o = sw_ir_op_at(p, op);
  if (o->n_uses && o->first_use + o->n_uses != p->t->uses.n) return SW_OK; /* behind a region: not an operand */
  if (!o->n_uses) o->first_use = (uint32_t)p->t->uses.n;
  o->n_uses++;
  return sw_array_push(&p->t->uses, u, p->d);
}

/* loc(...) when it comes next. */
static sw_rc read_loc(sw_ir_parser *p, sw_ir_span *out) {
  uint32_t at = sw_ir_skip(p);
  if (!sw_ir_word(p->s, at, "loc") || p->s[at + 3] != '(') return SW_OK;
  p->i = at + 3;
  SW_TRY(balanced(p, NULL));
  *out = (sw_ir_span){at, p->i};
  return SW_OK;
}

static sw_rc read_bracketed_text(sw_ir_parser *p, sw_ir_span *out) {
  uint32_t at = p->i;
  SW_TRY(balanced(p, NULL));
  *out = (sw_ir_span){at, p->i};
  return SW_OK;
}

static sw_rc read_typed_argument(sw_ir_parser *p, sw_ir_arg *a) {
  sw_ir_skip(p);
  if (p->s[p->i] == '%') {
    SW_TRY(read_value_name(p, &a->name));
    SW_TRY(expect_token(p, ":"));
  }
  a->type.at = sw_ir_skip(p);
  SW_TRY(sw_ir_type(p->s, p->n, &p->i, &p->closers, &p->flaw, p->d));
  a->type.end = p->i;
  if (p->s[sw_ir_skip(p)] == '{') SW_TRY(read_bracketed_text(p, &a->attrs));
  return read_loc(p, &a->loc);
}

sw_rc sw_ir_read_args(sw_ir_parser *p, uint32_t *count) {
  p->i++;
  if (p->s[sw_ir_skip(p)] == ')') {
    p->i++;
    return SW_OK;
  }
  for (;;) {
    sw_ir_arg a = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    SW_TRY(read_typed_argument(p, &a));
    SW_TRY(sw_array_push(&p->t->args, a, p->d));
    ++*count;
    if (p->s[sw_ir_skip(p)] != ',') return expect_token(p, ")");
    p->i++;
  }
}

/* --- generic form ------------------------------------------------------------------------------------------------ */

static sw_rc generic_operands(sw_ir_parser *p, uint32_t op) {
  SW_TRY(expect_token(p, "("));
  if (p->s[sw_ir_skip(p)] == ')') {
    p->i++;
    return SW_OK;
  }
  for (;;) {
    sw_ir_skip(p);
    SW_TRY(add_use(p, op));
    if (p->s[sw_ir_skip(p)] != ',') return expect_token(p, ")");
    p->i++;
  }
}

/* Behind the regions: {attributes} : types loc. */
static sw_rc generic_tail(sw_ir_parser *p, uint32_t op) {
  if (p->s[sw_ir_skip(p)] == '{') SW_TRY(read_bracketed_text(p, &sw_ir_op_at(p, op)->attrs));
  sw_ir_op *o = sw_ir_op_at(p, op);
  o->body.end = sw_ir_skip(p);
  SW_TRY(expect_token(p, ":"));
  o->types.at = sw_ir_skip(p);
  if (p->s[p->i] != '(') return fail_expected(p, "'('");
  SW_TRY(sw_ir_type(p->s, p->n, &p->i, &p->closers, &p->flaw, p->d));
  SW_TRY(expect_token(p, "->"));
  SW_TRY(sw_ir_type(p->s, p->n, &p->i, &p->closers, &p->flaw, p->d));
  o->types.end = o->text.end = p->i;
  uint32_t end = p->i;
  SW_TRY(read_loc(p, &o->loc));
  if (o->loc.end) end = p->i;
  o->text.end = p->i = end;
  return SW_OK;
}

static sw_rc generic_head(sw_ir_parser *p, uint32_t op, sw_ir_stop *stop) {
  sw_ir_op_at(p, op)->body.at = sw_ir_skip(p);
  SW_TRY(generic_operands(p, op));
  if (p->s[sw_ir_skip(p)] == '[') SW_TRY(balanced(p, NULL)); /* successors */
  if (p->s[sw_ir_skip(p)] == '<' && p->s[p->i + 1] == '{') {
    uint32_t at = p->i;
    SW_TRY(balanced(p, NULL));
    sw_ir_op_at(p, op)->props = (sw_ir_span){at + 1, p->i - 1};
  }
  *stop = SW_IR_AT_END;
  if (p->s[sw_ir_skip(p)] != '(') return generic_tail(p, op);
  p->i++;
  if (p->s[sw_ir_skip(p)] != '{') return fail_expected(p, "'{'");
  *stop = SW_IR_AT_REGION;
  return SW_OK;
}

/* Behind a region: another one, or ")". */
static sw_rc generic_resume(sw_ir_parser *p, uint32_t op, sw_ir_stop *stop) {
  if (p->s[sw_ir_skip(p)] == ',') {
    p->i++;
    if (p->s[sw_ir_skip(p)] != '{') return fail_expected(p, "'{'");
    *stop = SW_IR_AT_REGION;
    return SW_OK;
  }
  SW_TRY(expect_token(p, ")"));
  *stop = SW_IR_AT_END;
  return generic_tail(p, op);
}

/* --- custom forms ------------------------------------------------------------------------------------------------ */

/* %a, %b:2 = */
static bool starts_results(const char *s, uint32_t i) {
  for (;;) {
    if (s[i] != '%') return false;
    i = sw_ir_blanks(s, sw_ir_value_name(s, i + 1));
    if (s[i] == ':' && isdigit((unsigned char)s[i + 1])) {
      i++;
      (void)read_digits(s, &i);
      i = sw_ir_blanks(s, i);
    }
    if (s[i] == '=') return true;
    if (s[i] != ',') return false;
    i = sw_ir_blanks(s, i + 1);
  }
}

static bool word_in(const char *s, uint32_t i, const char *const *words) {
  for (; *words; words++) {
    if (sw_ir_word(s, i, *words)) return true;
  }
  return false;
}

/* Does the brace at i open a dictionary? */
static bool opens_dictionary(const sw_ir_parser *p, uint32_t op, uint32_t i) {
  static const char *const kHoldRegions[] = {"module", "builtin.module", "func.func", NULL};
  static const char *const kTerminators[] = {"return",     "func.return", "stablehlo.return",
                                             "sdy.return", "mhlo.return", NULL};
  const char *s = p->s;
  uint32_t at = sw_ir_blanks(s, i + 1), end = sw_ir_name(s, at);
  if (s[at] == '}') return !word_in(s, p->t->ops.at[op].name.at, kHoldRegions);
  if (s[at] == '"') {
    end = sw_ir_behind_string(s, at, p->n);
    if (end == p->n) return true;
  } else if (end == at || word_in(s, at, kTerminators)) {
    return false;
  }
  end = sw_ir_blanks(s, end);
  return s[end] == '=' || s[end] == ',' || s[end] == '}';
}

/* Does the op have a list of axes in braces, {"x", "y":(1)2}, before its operand? */
static bool opens_list(const sw_ir_parser *p, uint32_t op) {
  static const char *const kListed[] = {"sdy.all_reduce", "sdy.replicated_to_unreduced", NULL};
  const sw_ir_op *o = &p->t->ops.at[op];
  return !o->n_uses && word_in(p->s, o->name.at, kListed);
}

/* What brackets behind a region hold are no operands. */
static bool takes_uses(const sw_ir_parser *p, uint32_t op) { return p->t->ops.at[op].first_region == SW_IR_NONE; }

static sw_rc see_use(void *user, uint32_t *i, sw_ir_flaw *flaw, sw_diag *d) {
  sw_ir_parser *p = user;
  (void)flaw;
  (void)d;
  p->i = *i;
  sw_rc rc = add_use(p, (uint32_t)p->t->ops.n - 1);
  *i = p->i;
  return rc;
}

/* (%a = %x, %b = %y : T): names for arguments of the regions, and operands. */
static sw_rc read_bindings(sw_ir_parser *p, uint32_t op) {
  p->i++;
  for (;;) {
    sw_ir_arg a = {{0, 0}, {0, 0}, {0, 0}, {0, 0}};
    sw_ir_skip(p);
    SW_TRY(read_value_name(p, &a.name));
    SW_TRY(expect_token(p, "="));
    sw_ir_skip(p);
    SW_TRY(add_use(p, op));
    SW_TRY(sw_array_push(&p->t->args, a, p->d));
    sw_ir_op *o = sw_ir_op_at(p, op);
    o->n_args++;
    o->n_bound++;
    if (p->s[sw_ir_skip(p)] == ',') {
      p->i++;
      continue;
    }
    if (p->s[p->i] == ':') {
      p->i++;
      SW_TRY(sw_ir_types(p->s, p->n, &p->i, &p->closers, &p->flaw, p->d));
    }
    return expect_token(p, ")");
  }
}

/* A parenthesis at depth 0: arguments, bindings, or anything with operands in it. */
static sw_rc read_parenthesis(sw_ir_parser *p, uint32_t op) {
  const char *s = p->s;
  uint32_t at = sw_ir_blanks(s, p->i + 1);
  sw_ir_op *o = sw_ir_op_at(p, op);
  if (s[at] == '%') {
    uint32_t end = sw_ir_blanks(s, sw_ir_value_name(s, at + 1));
    bool binds = s[end] == '=', declares = s[end] == ':' && s[end + 1] != ':';
    if ((binds || declares) && !o->n_args) o->first_arg = (uint32_t)p->t->args.n;
    if (binds) return read_bindings(p, op);
    if (declares) return sw_ir_read_args(p, &o->n_args);
  }
  if (takes_uses(p, op)) return balanced(p, &(sw_ir_see){see_use, p});
  return balanced(p, NULL);
}

/* A colon at depth 0. */
static sw_rc read_types(sw_ir_parser *p, uint32_t op) {
  sw_ir_op *o = sw_ir_op_at(p, op);
  if (sw_ir_is_function(p->t, o)) return fail_expected(p, "'(' and the function's arguments");
  uint32_t colon = p->i++;
  uint32_t at = sw_ir_skip(p);
  if (p->s[at] == ':') { /* nested symbol */
    p->i++;
    return SW_OK;
  }
  if (!sw_ir_starts_type(p->s, at)) return SW_OK;
  SW_TRY(sw_ir_types(p->s, p->n, &p->i, &p->closers, &p->flaw, p->d));
  o->types = (sw_ir_span){at, p->i};
  o->body.end = colon;
  return SW_OK;
}

static sw_rc read_symbol(sw_ir_parser *p, uint32_t op) {
  uint32_t at = ++p->i;
  if (p->s[at] == '"') {
    SW_TRY(sw_ir_string(p->s, p->n, &p->i, &p->flaw));
  } else {
    p->i = sw_ir_value_name(p->s, at);
  }
  if (p->i == at) return fail_expected(p, "the name of a symbol");
  sw_ir_span name = p->s[at] == '"' ? (sw_ir_span){at + 1, p->i - 1} : (sw_ir_span){at, p->i};
  if (!sw_ir_op_at(p, op)->symbol.end) sw_ir_op_at(p, op)->symbol = name;
  return SW_OK;
}

/* Where the op at hand ends: another one begins, or its block does. */
static bool begins_op(const sw_ir_parser *p, uint32_t op, uint32_t i, bool line_start, bool may_end) {
  static const char *const kShort[] = {"return", "call", "module", "call_indirect", NULL};
  const char *s = p->s;
  if (i >= p->n || s[i] == '}') return true;
  if (s[i] == '%') return may_end && (line_start || p->t->ops.at[op].types.end) && starts_results(s, i);
  if (!line_start || !may_end) return false;
  uint32_t end = sw_ir_name(s, i);
  switch (s[i]) {
    case '^':
      return true;
    case '#':
    case '!':
      return s[sw_ir_blanks(s, sw_ir_value_name(s, i + 1))] == '=';
    case '{':
      return s[i + 1] == '-' && s[i + 2] == '#';
    case '"':
      return s[sw_ir_behind_string(s, i, p->n)] == '(';
    default:
      return end > i && (memchr(s + i, '.', end - i) || word_in(s, i, kShort));
  }
}

typedef struct walk {
  uint32_t end;    /* of what was read */
  bool is_value;   /* an attribute's value comes: behind "=" */
  bool is_keyword; /* behind "attributes": a dictionary comes; behind "applies": the name of an op */
} walk;

/* <...>, or properties as in the generic form: stablehlo.constant() <{value = ...}> : () -> T */
static sw_rc read_angle(sw_ir_parser *p, uint32_t op) {
  uint32_t at = p->i;
  SW_TRY(balanced(p, NULL));
  if (p->s[at + 1] == '{') sw_ir_op_at(p, op)->props = (sw_ir_span){at + 1, p->i - 1};
  return SW_OK;
}

/* One piece of a custom form that is not its end. */
static sw_rc read_piece(sw_ir_parser *p, uint32_t op, walk *w, sw_ir_stop *stop) {
  const char *s = p->s;
  bool is_value = w->is_value, is_keyword = w->is_keyword;
  w->is_value = w->is_keyword = false;
  *stop = SW_IR_AT_END;
  if (is_value && strchr(":,=)]}", s[p->i])) return fail_expected(p, "a value");
  switch (s[p->i]) {
    case '%':
      return add_use(p, op);
    case '(':
      return read_parenthesis(p, op);
    case '[':
      return takes_uses(p, op) ? balanced(p, &(sw_ir_see){see_use, p}) : balanced(p, NULL);
    case '<':
      return read_angle(p, op);
    case '{':
      if (is_value || opens_list(p, op)) return balanced(p, NULL);
      if (is_keyword || opens_dictionary(p, op, p->i)) return read_bracketed_text(p, &sw_ir_op_at(p, op)->attrs);
      *stop = SW_IR_AT_REGION;
      return SW_OK;
    case ':':
      return read_types(p, op);
    case '@':
      return read_symbol(p, op);
    case '=':
      w->is_value = true;
      p->i++;
      return SW_OK;
    case '-':
      if (s[p->i + 1] != '>') break;
      p->i += 2;
      if (!sw_ir_starts_type(s, sw_ir_skip(p))) return SW_OK; /* dim_numbers = [..]x[..]->[..] */
      sw_ir_op_at(p, op)->types.at = p->i;
      SW_TRY(sw_ir_type(s, p->n, &p->i, &p->closers, &p->flaw, p->d));
      sw_ir_op_at(p, op)->types.end = p->i;
      return SW_OK;
    case ')':
    case ']':
    case '>':
      return fail_expected(p, "the next part of the op");
    default:
      w->is_keyword = sw_ir_word(s, p->i, "attributes") || sw_ir_word(s, p->i, "applies");
  }
  return sw_ir_token(s, p->n, &p->i, &p->flaw);
}

static sw_rc finish_custom(sw_ir_parser *p, uint32_t op, uint32_t end) {
  sw_ir_op *o = sw_ir_op_at(p, op);
  p->i = o->text.end = end;
  if (!o->body.end) o->body.end = end;
  return SW_OK;
}

static sw_rc walk_custom(sw_ir_parser *p, uint32_t op, bool fresh, sw_ir_stop *stop) {
  walk w = {.end = p->i};
  for (bool first = fresh;; first = false) {
    uint32_t from = p->i, at = sw_ir_skip(p);
    bool line_start = memchr(p->s + from, '\n', at - from) != NULL;
    if (begins_op(p, op, at, line_start, !w.is_keyword && !w.is_value)) {
      *stop = SW_IR_AT_END;
      return w.is_value ? fail_expected(p, "a value") : finish_custom(p, op, w.end);
    }
    if (!first && sw_ir_word(p->s, at, "loc") && p->s[at + 3] == '(') {
      sw_ir_op *o = sw_ir_op_at(p, op);
      if (!o->body.end) o->body.end = w.end;
      SW_TRY(read_loc(p, &o->loc));
      *stop = SW_IR_AT_END;
      return finish_custom(p, op, p->i);
    }
    SW_TRY(read_piece(p, op, &w, stop));
    w.end = p->i;
    if (*stop == SW_IR_AT_REGION) return SW_OK;
  }
}

/* --- both -------------------------------------------------------------------------------------------------------- */

static sw_rc read_result_names(sw_ir_parser *p, sw_ir_op *o) {
  if (p->s[p->i] != '%') return SW_OK;
  o->first_result = (uint32_t)p->t->results.n;
  for (;;) {
    sw_ir_result r = {{0, 0}, 1};
    sw_ir_skip(p);
    SW_TRY(read_value_name(p, &r.name));
    if (p->s[sw_ir_skip(p)] == ':') {
      p->i++;
      sw_ir_skip(p);
      if (!isdigit((unsigned char)p->s[p->i])) return fail_expected(p, "the number of results");
      r.count = read_digits(p->s, &p->i);
      sw_ir_skip(p);
    }
    SW_TRY(sw_array_push(&p->t->results, r, p->d));
    o->n_results++;
    if (p->s[p->i] != ',') return expect_token(p, "=");
    p->i++;
  }
}

sw_rc sw_ir_begin_op(sw_ir_parser *p, uint32_t *op, sw_ir_stop *stop) {
  sw_ir_op o = {.first_region = SW_IR_NONE, .next = SW_IR_NONE};
  o.text.at = sw_ir_skip(p);
  SW_TRY(read_result_names(p, &o));
  uint32_t at = sw_ir_skip(p);
  o.generic = p->s[at] == '"';
  if (o.generic) {
    SW_TRY(sw_ir_string(p->s, p->n, &p->i, &p->flaw));
    o.name = (sw_ir_span){at + 1, p->i - 1};
  } else {
    p->i = sw_ir_name(p->s, at);
    o.name = (sw_ir_span){at, p->i};
  }
  if (o.name.at == o.name.end) return fail_expected(p, o.n_results ? "the name of an op" : "an op");
  o.body.at = p->i;
  *op = (uint32_t)p->t->ops.n;
  SW_TRY(sw_array_push(&p->t->ops, o, p->d));
  return o.generic ? generic_head(p, *op, stop) : walk_custom(p, *op, true, stop);
}

sw_rc sw_ir_resume_op(sw_ir_parser *p, uint32_t op, sw_ir_stop *stop) {
  return sw_ir_op_at(p, op)->generic ? generic_resume(p, op, stop) : walk_custom(p, op, false, stop);
}
