/* Locations: loc("name"(#loc7)), loc(callsite(#loc3 at #loc4)), loc(fused[...]), loc("file.py":12:3), and aliases of
 * them. A call stack has the innermost frame first, so what an op came from is the first file in it that is the user's
 * own; of a library's files alone, the first; without a file, its name. What is read of a location is kept once. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "io/mlir/import/passes.h"

enum { MOST_HOPS = 64, MOST_PARTS = 512 };

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

/* The next string or #alias in the span; false when there is none. */
static bool next_part(const sw_ir_tree *t, sw_ir_span s, uint32_t *i) {
  while (*i < s.end && t->s[*i] != '"' && t->s[*i] != '#') ++*i;
  return *i < s.end;
}

/* Files of installed packages and of Python itself. */
static bool is_of_library(const sw_ir_tree *t, sw_ir_span file) {
  static const char *const kParts[] = {"/site-packages/", "/dist-packages/", "/lib/python", "<frozen "};
  for (size_t i = 0; i < sizeof kParts / sizeof *kParts; i++) {
    if (memmem(t->s + file.at, sw_ir_len(file), kParts[i], strlen(kParts[i]))) return true;
  }
  return false;
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
static bool take_part(following *f) {
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
    const bool own = !is_of_library(f->t, text);
    if (own || !sw_ir_present(f->found.file)) f->found = at;
    if (own) return false;
  } else if (!sw_ir_present(f->name)) {
    f->name = text;
  }
  s->at = text.end + 1;
  return true;
}

/* Follow names and aliases to a file. */
static void follow(const sw_ir_tree *t, sw_ir_span loc, following *f) {
  *f = (following){.t = t, .todo = {loc}, .depth = 1};
  for (int parts = 0; parts < MOST_PARTS && take_part(f); parts++) continue;
}

static sw_rc keep_text(sw_importer *m, sw_ir_span s, const char **out) {
  *out = sw_arena_strndup(m->passes->shared->files, m->t->s + s.at, sw_ir_len(s), m->d);
  return *out ? SW_OK : SW_E_RESOURCE;
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
  follow(m->t, loc, &f);
  if (sw_ir_present(f.found.file)) SW_TRY(keep_text(m, f.found.file, &out->at.file));
  if (sw_ir_len(f.name)) SW_TRY(keep_text(m, f.name, &out->scope));
  if (!out->at.file) out->at.file = out->scope;
  out->at.line = f.found.line;
  out->at.col = f.found.col;
  return sw_array_push(&all->locations, *out, m->d);
}

sw_ir_span sw_im_location_name(const sw_importer *m, sw_ir_span loc) {
  following f;
  if (!sw_ir_present(loc)) return (sw_ir_span){0, 0};
  follow(m->t, loc, &f);
  return f.name;
}
