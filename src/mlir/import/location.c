/* Locations: loc("name"(#loc7)), loc(callsite(#loc3 at #loc4)), loc(fused[...]), loc("file.py":12:3), and aliases of
 * them. A call stack has the innermost frame first, so what an op came from is the first file in it that is the user's
 * own; of a library's files alone, the first; without a file, its name. What is read of a location is kept once; stacks
 * share their frames, as those of one program have most callers in common. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "graph/source.h"
#include "mlir/import/import_passes.h"

enum { MOST_HOPS = 64, MOST_PARTS = 512, MOST_NESTED = 200, MOST_PLACES = 10000 };

/* A string at `i`, with what follows: "file":line:col. */
static bool reads_file(const sw_ir_tree *t, uint32_t i, sw_ir_span *name, int32_t *line, int32_t *col) {
  uint32_t end = sw_ir_behind_string(t->s, i, t->n);
  if (end == t->n) return false;
  *name = (sw_ir_span){i + 1, end - 1};
  if (t->s[end] != ':' || !isdigit((unsigned char)t->s[end + 1])) return false;
  char *behind;
  *line = (int32_t)strtol(t->s + end + 1, &behind, 10);
  *col = *behind == ':' ? (int32_t)strtol(behind + 1, NULL, 10) : 0;
  return true;
}

/* Where `what` begins in the span, outside of strings and of brackets that begin there; its end when nowhere. */
static uint32_t find_outside(const sw_ir_tree *t, sw_ir_span s, const char *what) {
  const size_t n = strlen(what);
  int open = 0;
  for (uint32_t i = s.at; i < s.end; i++) {
    if (!open && i + n <= s.end && !memcmp(t->s + i, what, n)) return i;
    if (t->s[i] == '"') i = sw_ir_behind_string(t->s, i, s.end) - 1;
    if (strchr("([{", t->s[i])) open++;
    if (strchr(")]}", t->s[i])) open--;
  }
  return s.end;
}

/* The next string or #alias in the span, but for what fused<..> says beside its parts; false when there is none. */
static bool next_part(const sw_ir_tree *t, sw_ir_span s, uint32_t *i) {
  for (; *i < s.end && t->s[*i] != '"' && t->s[*i] != '#'; ++*i)
    if (t->s[*i] == '<') *i = find_outside(t, (sw_ir_span){*i, s.end}, "[");
  return *i < s.end;
}

typedef struct frame {
  sw_ir_span file;
  int32_t line, col;
} frame;

typedef struct following {
  const sw_ir_tree *t;
  sw_ir_span todo[MOST_HOPS]; /* a stack of what is left of locations */
  int depth;
  sw_ir_span name; /* the outermost on the way */
  frame found;     /* the first of a library's while there is none of the user's own */
} following;

/* The next part of the innermost location; false: nothing is left. */
static bool take_location_part(following *f) {
  sw_ir_span *s = &f->todo[f->depth - 1];
  sw_ir_span text;
  frame at = {{0, 0}, 0, 0};
  uint32_t i = s->at;
  if (!next_part(f->t, *s, &i)) return --f->depth > 0;
  if (f->t->s[i] == '#') {
    s->at = sw_ir_value_name(f->t->s, i + 1);
    const sw_ir_span to = sw_ir_alias_value(f->t, (sw_ir_span){i, s->at});
    if (sw_ir_present(to) && f->depth < MOST_HOPS) f->todo[f->depth++] = to;
    return true;
  }
  if (reads_file(f->t, i, &text, &at.line, &at.col)) {
    at.file = text;
    const bool own = !sw_source_is_library(f->t->s + text.at, sw_ir_len(text));
    if (own || !sw_ir_present(f->found.file)) f->found = at;
    if (own) return false;
  } else if (!sw_ir_present(f->name)) {
    f->name = text;
  }
  s->at = text.end + 1;
  return true;
}

/* Follow names and aliases to a file. */
static void follow_location(const sw_ir_tree *t, sw_ir_span loc, following *f) {
  *f = (following){.t = t, .todo = {loc}, .depth = 1};
  for (int parts = 0; parts < MOST_PARTS && take_location_part(f); parts++) continue;
}

static sw_rc keep_location_text(sw_importer *m, sw_ir_span s, const char **out) {
  int64_t *known;
  bool fresh;
  SW_TRY(sw_dict_put(&m->passes->shared->texts, m->t->s + s.at, sw_ir_len(s), 0, &known, &fresh, m->d));
  if (fresh) *known = (int64_t)(intptr_t)sw_arena_strndup(m->passes->shared->files, m->t->s + s.at, sw_ir_len(s), m->d);
  *out = (const char *)(intptr_t)*known;
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* --- call stacks -------------------------------------------------------------------------------------------------- */

/* What a location is a part of. */
typedef struct place {
  const char *function;      /* that its file is in; NULL: not said */
  const sw_call_frame *next; /* behind its last frame */
  bool beside;               /* that is another origin, no caller */
  bool top;                  /* its name is the op's scope, no function */
  int depth;
  int *left; /* parts that may still be looked at: aliases can name each other, and themselves */
} place;

static sw_rc stack_of(sw_importer *m, sw_ir_span loc, place p, const sw_call_frame **out);

static sw_rc keep_frame(sw_importer *m, const sw_call_frame *f, const sw_call_frame **out) {
  struct {
    const char *file, *function;
    const sw_call_frame *next;
    int32_t line, col;
    int64_t beside;
  } key = {f->at.file, f->function, f->next, f->at.line, f->at.col, f->beside};
  int64_t *known;
  bool fresh;
  SW_TRY(sw_dict_put(&m->passes->shared->frames, &key, sizeof key, 0, &known, &fresh, m->d));
  if (fresh) *known = (int64_t)(intptr_t)sw_arena_copy(m->passes->shared->files, f, 1, sizeof *f, m->d);
  *out = (const sw_call_frame *)(intptr_t)*known;
  return *out ? SW_OK : SW_E_RESOURCE;
}

/* What stands in the brackets that begin at `open`. */
static sw_ir_span inside_brackets(const sw_ir_tree *t, sw_ir_span s, uint32_t open, const char *close) {
  const sw_ir_span behind = {open < s.end ? open + 1 : s.end, s.end};
  return (sw_ir_span){behind.at, find_outside(t, behind, close)};
}

/* "file":line:col, "name", "name"(location) */
static sw_rc stack_of_string(sw_importer *m, sw_ir_span loc, place p, const sw_call_frame **out) {
  sw_ir_span text;
  sw_call_frame f = {.function = p.function, .beside = p.beside, .next = p.next};
  if (reads_file(m->t, loc.at, &text, &f.at.line, &f.at.col)) {
    f.library = sw_source_is_library(m->t->s + text.at, sw_ir_len(text));
    SW_TRY(keep_location_text(m, text, &f.at.file));
    return keep_frame(m, &f, out);
  }
  const uint32_t behind = text.end + 1;
  if (!p.top && sw_ir_len(text)) SW_TRY(keep_location_text(m, text, &p.function));
  p.top = false;
  if (behind < loc.end && m->t->s[behind] == '(') return stack_of(m, inside_brackets(m->t, loc, behind, ")"), p, out);
  f.function = p.function;
  return f.function ? keep_frame(m, &f, out) : SW_OK;
}

/* callsite(callee at caller): those of the callee go on with the caller's. */
static sw_rc stack_of_call(sw_importer *m, sw_ir_span loc, place p, const sw_call_frame **out) {
  const sw_ir_span both = inside_brackets(m->t, loc, find_outside(m->t, loc, "("), ")");
  const uint32_t at = find_outside(m->t, both, " at ");
  place caller = p;
  caller.function = NULL;
  if (at < both.end) SW_TRY(stack_of(m, (sw_ir_span){at + 4, both.end}, caller, &p.next));
  if (at < both.end) p.beside = false;
  return stack_of(m, (sw_ir_span){both.at, at}, p, out);
}

/* fused<..>[a, b], from the last to the first. */
static sw_rc stack_of_fused(sw_importer *m, sw_ir_span list, place p, const sw_call_frame **out) {
  const uint32_t comma = find_outside(m->t, list, ",");
  if (comma < list.end && p.depth < MOST_NESTED) {
    place rest = p;
    rest.depth++;
    SW_TRY(stack_of_fused(m, (sw_ir_span){comma + 1, list.end}, rest, &p.next));
    p.beside = p.next != rest.next || p.beside;
  }
  return stack_of(m, (sw_ir_span){list.at, comma}, p, out);
}

/* The stack of an alias by itself is looked up once. */
static sw_rc stack_of_alias(sw_importer *m, sw_ir_span loc, place p, const sw_call_frame **out) {
  const sw_ir_span name = {loc.at, sw_ir_value_name(m->t->s, loc.at + 1)};
  const sw_ir_span to = sw_ir_alias_value(m->t, name);
  const bool alone = !p.function && !p.next && !p.top;
  sw_dict *stacks = &m->passes->shared->stacks;
  const int64_t *known = alone ? sw_dict_get(stacks, m->t->s + name.at, sw_ir_len(name)) : NULL;
  if (!sw_ir_present(to)) return SW_OK;
  if (known) {
    *out = (const sw_call_frame *)(intptr_t)*known;
    return SW_OK;
  }
  SW_TRY(stack_of(m, to, p, out));
  if (!alone) return SW_OK;
  return sw_dict_put(stacks, m->t->s + name.at, sw_ir_len(name), (int64_t)(intptr_t)*out, NULL, NULL, m->d);
}

static bool location_begins_with(const sw_ir_tree *t, sw_ir_span s, const char *word) {
  const size_t n = strlen(word);
  return sw_ir_len(s) >= n && !memcmp(t->s + s.at, word, n);
}

/* The frames of a location, before p.next. */
static sw_rc stack_of(sw_importer *m, sw_ir_span loc, place p, const sw_call_frame **out) {
  while (loc.at < loc.end && isspace((unsigned char)m->t->s[loc.at])) loc.at++;
  *out = p.next;
  if (loc.at == loc.end || p.depth++ > MOST_NESTED || --*p.left < 0) return SW_OK;
  if (m->t->s[loc.at] == '#') return stack_of_alias(m, loc, p, out);
  if (m->t->s[loc.at] == '"') return stack_of_string(m, loc, p, out);
  if (location_begins_with(m->t, loc, "loc(")) return stack_of(m, inside_brackets(m->t, loc, loc.at + 3, ")"), p, out);
  p.top = false;
  if (location_begins_with(m->t, loc, "callsite")) return stack_of_call(m, loc, p, out);
  if (location_begins_with(m->t, loc, "fused"))
    return stack_of_fused(m, inside_brackets(m->t, loc, find_outside(m->t, loc, "["), "]"), p, out);
  return SW_OK;
}

sw_rc sw_im_location(sw_importer *m, sw_ir_span loc, sw_source *out) {
  sw_im_shared *all = m->passes->shared;
  *out = (sw_source){0};
  if (!sw_ir_present(loc) || strncmp(m->t->s + loc.at, "loc(unknown)", 12) == 0) return SW_OK;
  int64_t *known;
  bool fresh;
  SW_TRY(sw_dict_put(&all->places, m->t->s + loc.at, sw_ir_len(loc), (int64_t)all->locations.n, &known, &fresh, m->d));
  if (!fresh) {
    *out = all->locations.at[*known];
    return SW_OK;
  }
  following f;
  follow_location(m->t, loc, &f);
  if (sw_ir_present(f.found.file)) SW_TRY(keep_location_text(m, f.found.file, &out->at.file));
  if (sw_ir_len(f.name)) SW_TRY(keep_location_text(m, f.name, &out->scope));
  if (!out->at.file) out->at.file = out->scope;
  out->at.line = f.found.line;
  out->at.col = f.found.col;
  int left = MOST_PLACES;
  SW_TRY(stack_of(m, loc, (place){.top = true, .left = &left}, &out->stack));
  if (out->stack && !out->stack->next && !out->stack->function) out->stack = NULL;
  return sw_array_push(&all->locations, *out, m->d);
}

sw_ir_span sw_im_location_name(const sw_importer *m, sw_ir_span loc) {
  following f;
  if (!sw_ir_present(loc)) return (sw_ir_span){0, 0};
  follow_location(m->t, loc, &f);
  return f.name;
}

sw_rc sw_im_locate_arg(sw_importer *m, sw_ir_span loc, sw_id arg) {
  sw_source from;
  SW_TRY(sw_im_location(m, loc, &from));
  if (!from.at.file) return SW_OK;
  const sw_source *kept = sw_arena_copy(m->passes->shared->files, &from, 1, sizeof from, m->d);
  if (kept) sw_graph_set_arg_location(m->g, arg, kept);
  return kept ? SW_OK : SW_E_RESOURCE;
}
