/* The blocks of an MLIR text: ops one after the other, regions on a stack of frames, aliases and resources at the end.
 *
 * After something wrong the rest of its line is skipped (and what the line opens, up to where it closes), so that one
 * mistake is one message; after SW_IR_MOST_ERRORS of them the parser gives up.
 */
#include <string.h>

#include "mlir/text/parser.h"

static sw_ir_frame *top(const sw_ir_parser *p) { return &p->frames.at[p->frames.n - 1]; }

/* --- errors ------------------------------------------------------------------------------------------------------ */

static sw_rc note_error(sw_ir_parser *p) {
  sw_diag d = {0};
  (void)SW_FAIL_INPUT(&d, sw_ir_place(p->t, p->flaw.at), "%s", p->flaw.text);
  return sw_array_push(&p->t->errors, d, p->d);
}

/* Braces that the rest of the line opens and does not close. */
static void skip_line(sw_ir_parser *p, uint32_t from) {
  const char *s = p->s;
  int64_t open = 0;
  for (uint32_t i = from; i < p->n; i++) {
    if (s[i] == '\n' && open <= 0) {
      p->i = i + 1;
      return;
    }
    if (s[i] == '"') {
      uint32_t end = sw_ir_behind_string(s, i, p->n);
      if (end < p->n) i = end - 1;
    } else if (s[i] == '{') {
      open++;
    } else if (s[i] == '}' && open > 0) {
      open--;
    }
  }
  p->i = p->n;
}

/* --- blocks and regions ------------------------------------------------------------------------------------------ */

/* A new block at the end of the region that the top frame fills. */
static sw_rc add_block(sw_ir_parser *p, sw_ir_span label, uint32_t first_arg, uint32_t n_args) {
  sw_ir_tree *t = p->t;
  sw_ir_frame *f = top(p);
  uint32_t id = (uint32_t)t->blocks.n;
  sw_ir_block b = {.first_op = SW_IR_NONE,
                   .region = f->region,
                   .next = SW_IR_NONE,
                   .first_arg = first_arg,
                   .n_args = n_args,
                   .label = label};
  SW_TRY(sw_array_push(&t->blocks, b, p->d));
  if (f->block != SW_IR_NONE)
    t->blocks.at[f->block].next = id;
  else if (f->region != SW_IR_NONE)
    t->regions.at[f->region].first_block = id;
  f->block = id;
  f->last_op = SW_IR_NONE;
  return SW_OK;
}

/* The brace at the cursor opens a region of `op`. `last`: the op's region before it. */
static sw_rc open_text_region(sw_ir_parser *p, uint32_t op, uint32_t last, const sw_ir_mark *before) {
  sw_ir_tree *t = p->t;
  uint32_t id = (uint32_t)t->regions.n;
  sw_ir_region r = {.op = op, .first_block = SW_IR_NONE, .next = SW_IR_NONE, .text = {p->i, 0}};
  SW_TRY(sw_array_push(&t->regions, r, p->d));
  if (last == SW_IR_NONE)
    t->ops.at[op].first_region = id;
  else
    t->regions.at[last].next = id;
  p->i++;
  sw_ir_frame f = {
      .region = id, .block = SW_IR_NONE, .last_op = SW_IR_NONE, .last_region = id, .op = op, .before = *before};
  SW_TRY(sw_array_push(&p->frames, f, p->d));
  if (p->s[sw_ir_skip(p)] == '^') return SW_OK;
  sw_ir_op *o = &t->ops.at[op];
  return add_block(p, (sw_ir_span){0, 0}, o->first_arg, o->n_args);
}

static sw_ir_mark mark(const sw_ir_tree *t) {
  return (sw_ir_mark){t->ops.n, t->uses.n, t->results.n, t->args.n, t->blocks.n, t->regions.n};
}

/* The op that began at the mark is at its end. */
static void forget_parsed_op(sw_ir_parser *p, const sw_ir_mark *m) {
  sw_ir_tree *t = p->t;
  if (!p->forgets) return;
  t->ops.n = m->ops;
  t->uses.n = m->uses;
  t->results.n = m->results;
  t->args.n = m->args;
  t->blocks.n = m->blocks;
  t->regions.n = m->regions;
  top(p)->last_op = SW_IR_NONE;
}

static void chain_op(sw_ir_parser *p, uint32_t op) {
  sw_ir_frame *f = top(p);
  p->t->ops.at[op].block = f->block;
  if (f->last_op == SW_IR_NONE)
    p->t->blocks.at[f->block].first_op = op;
  else
    p->t->ops.at[f->last_op].next = op;
  f->last_op = op;
}

static sw_rc read_op_text(sw_ir_parser *p) {
  sw_ir_stop stop;
  uint32_t op = SW_IR_NONE;
  if (top(p)->block == SW_IR_NONE) SW_TRY(add_block(p, (sw_ir_span){0, 0}, 0, 0));
  sw_ir_mark before = mark(p->t);
  SW_TRY(sw_ir_begin_op(p, &op, &stop));
  chain_op(p, op);
  if (stop == SW_IR_AT_REGION) return open_text_region(p, op, SW_IR_NONE, &before);
  forget_parsed_op(p, &before);
  return SW_OK;
}

static sw_rc close_region(sw_ir_parser *p) {
  sw_ir_frame done = *top(p);
  sw_ir_stop stop;
  p->i++;
  p->t->regions.at[done.region].text.end = p->i;
  p->frames.n--;
  SW_TRY(sw_ir_resume_op(p, done.op, &stop));
  if (stop == SW_IR_AT_REGION) return open_text_region(p, done.op, done.last_region, &done.before);
  forget_parsed_op(p, &done.before);
  return SW_OK;
}

/* ^bb0(%a: T): */
static sw_rc read_label(sw_ir_parser *p) {
  uint32_t at = p->i + 1, n_args = 0, first = (uint32_t)p->t->args.n;
  p->i = sw_ir_value_name(p->s, at);
  if (p->i == at) return sw_ir_expected(p->s, p->n, p->i, "the name of a block", &p->flaw);
  sw_ir_span label = {at - 1, p->i};
  if (p->s[sw_ir_skip(p)] == '(') SW_TRY(sw_ir_read_args(p, &n_args));
  SW_TRY(sw_ir_expect(p->s, p->n, &p->i, ":", &p->flaw));
  return add_block(p, label, first, n_args);
}

/* --- the end of the file ----------------------------------------------------------------------------------------- */

/* What an alias stands for: a type, an attribute, or a location. */
static sw_rc skip_value(sw_ir_parser *p) {
  uint32_t at = sw_ir_skip(p);
  if (at >= p->n) return sw_ir_expected(p->s, p->n, at, "a value", &p->flaw);
  bool open = true;
  while (open) {
    char c = p->s[p->i];
    if (c == '<' || c == '(' || c == '[' || c == '{') {
      SW_TRY(sw_ir_balanced(p->s, p->n, &p->i, &p->closers, NULL, &p->flaw, p->d));
    } else {
      SW_TRY(sw_ir_token(p->s, p->n, &p->i, &p->flaw));
    }
    while (p->s[p->i] == ' ' || p->s[p->i] == '\t' || p->s[p->i] == '\r') p->i++;
    open = p->i < p->n && p->s[p->i] != '\n' && !(p->s[p->i] == '/' && p->s[p->i + 1] == '/');
  }
  return SW_OK;
}

static sw_rc read_alias_definition(sw_ir_parser *p) {
  sw_ir_alias a = {{p->i, sw_ir_value_name(p->s, p->i + 1)}, {0, 0}};
  p->i = a.name.end;
  if (sw_ir_len(a.name) == 1) return sw_ir_expected(p->s, p->n, p->i, "the name of an alias", &p->flaw);
  SW_TRY(sw_ir_expect(p->s, p->n, &p->i, "=", &p->flaw));
  a.value.at = sw_ir_skip(p);
  SW_TRY(skip_value(p));
  a.value.end = p->i;
  SW_TRY(sw_dict_put(&p->t->alias_of, p->s + a.name.at, sw_ir_len(a.name), (int64_t)p->t->aliases.n, NULL, NULL, p->d));
  return sw_array_push(&p->t->aliases, a, p->d);
}

/* {-# ... #-} */
static sw_rc read_resources(sw_ir_parser *p) {
  uint32_t at = p->i;
  p->i += 3;
  while (sw_ir_skip(p) < p->n) {
    if (strncmp(p->s + p->i, "#-}", 3) == 0) {
      p->i += 3;
      return sw_array_push(&p->t->resources, ((sw_ir_span){at, p->i}), p->d);
    }
    SW_TRY(sw_ir_token(p->s, p->n, &p->i, &p->flaw));
  }
  return sw_ir_expected(p->s, p->n, p->i, "'#-}'", &p->flaw);
}

/* --- the whole --------------------------------------------------------------------------------------------------- */

static sw_rc read_text_item(sw_ir_parser *p) {
  const char *s = p->s;
  bool in_file = p->frames.n == 1;
  p->closers.due.n = 0;
  if (s[p->i] == '}' && !in_file) return close_region(p);
  if (s[p->i] == '^' && !in_file) return read_label(p);
  if ((s[p->i] == '#' || s[p->i] == '!') && in_file) return read_alias_definition(p);
  if (s[p->i] == '{' && in_file && s[p->i + 1] == '-' && s[p->i + 2] == '#') return read_resources(p);
  return strchr("}^#!{", s[p->i]) ? sw_ir_expected(s, p->n, p->i, "an op", &p->flaw) : read_op_text(p);
}

static sw_rc recover(sw_ir_parser *p, uint32_t from, sw_rc rc) {
  if (rc != SW_E_INPUT) return rc;
  SW_TRY(note_error(p));
  skip_line(p, p->flaw.at > from ? p->flaw.at : from);
  if (p->i <= from) p->i = from + 1;
  return SW_OK;
}

static sw_rc read_text_items(sw_ir_parser *p) {
  while (p->t->errors.n < SW_IR_MOST_ERRORS) {
    uint32_t at = sw_ir_skip(p);
    if (at >= p->n) break;
    sw_rc rc = read_text_item(p);
    if (rc) SW_TRY(recover(p, at, rc));
  }
  if (p->t->errors.n < SW_IR_MOST_ERRORS && p->frames.n > 1) {
    uint32_t opened = p->t->regions.at[top(p)->region].text.at;
    sw_span place = sw_ir_place(p->t, opened);
    p->flaw.at = p->n;
    snprintf(p->flaw.text, sizeof p->flaw.text,
             "found the end of the text; expected '}' for the region that begins in line %d", place.line);
    SW_TRY(note_error(p));
  }
  return SW_OK;
}

static sw_rc find_lines(sw_ir_tree *t, sw_diag *d) {
  SW_TRY(sw_array_push(&t->lines, 0, d));
  for (const char *at = t->s; (at = memchr(at, '\n', t->n - (size_t)(at - t->s))); at++) {
    SW_TRY(sw_array_push(&t->lines, (uint32_t)(at - t->s) + 1, d));
  }
  return SW_OK;
}

static sw_rc parse_ir_text(const char *file, const char *s, size_t n, bool forgets, sw_ir_tree *t, sw_diag *d) {
  *t = (sw_ir_tree){.file = file, .s = s};
  if (n > UINT32_MAX - 16) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "'%s' has %zu bytes; expected less than 4 GiB", file, n);
  }
  t->n = (uint32_t)n;
  if (n > 4 && !memcmp(s, "ML\xefR", 4)) {
    sw_diag found = {0};
    sw_rc rc = SW_FAIL_INPUT(&found, ((sw_span){file, 1, 1}),
                             "found MLIR bytecode; expected text (stablehlo-translate --deserialize prints it)");
    if (d) *d = found;
    SW_TRY(sw_array_push(&t->errors, found, d));
    return rc;
  }
  SW_TRY(find_lines(t, d));
  sw_ir_parser p = {.t = t, .s = s, .n = t->n, .forgets = forgets, .d = d};
  sw_ir_frame f = {.region = SW_IR_NONE, .block = SW_IR_NONE, .last_op = SW_IR_NONE, .op = SW_IR_NONE};
  sw_rc rc = sw_array_push(&p.frames, f, d);
  if (!rc) rc = add_block(&p, (sw_ir_span){0, 0}, 0, 0);
  if (!rc) rc = read_text_items(&p);
  sw_array_free(&p.frames);
  sw_array_free(&p.closers.due);
  if (!rc && t->errors.n) {
    if (d) *d = t->errors.at[0];
    rc = SW_E_INPUT;
  }
  return rc;
}

sw_rc sw_ir_parse(const char *file, const char *s, size_t n, sw_ir_tree *t, sw_diag *d) {
  return parse_ir_text(file, s, n, false, t, d);
}

sw_rc sw_ir_check(const char *file, const char *s, size_t n, sw_ir_tree *t, sw_diag *d) {
  return parse_ir_text(file, s, n, true, t, d);
}
