/* Locations: loc("name"(#loc7)), loc(callsite(#loc3 at #loc4)), loc(fused[...]), loc("file.py":12:3), and aliases of
 * them. What an op came from is the first file in it; without a file, its name. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "io/mlir/import/passes.h"

enum { MOST_HOPS = 64 };

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

/* Follow names and aliases to the first file. *name: the outermost name on the way. */
static bool follow(const sw_ir_tree *t, sw_ir_span loc, sw_ir_span *name, sw_ir_span *file, int32_t *line,
                   int32_t *col) {
  uint32_t i = loc.at;
  *name = (sw_ir_span){0, 0};
  for (int hops = 0; hops < MOST_HOPS && next_part(t, loc, &i); hops++) {
    if (t->s[i] == '#') {
      uint32_t end = sw_ir_value_name(t->s, i + 1);
      sw_ir_span to = sw_ir_alias_value(t, (sw_ir_span){i, end});
      i = end;
      if (!sw_ir_present(to)) continue;
      loc = to;
      i = to.at;
      continue;
    }
    sw_ir_span text;
    if (reads_file(t, i, &text, line, col)) {
      *file = text;
      return true;
    }
    if (!sw_ir_present(*name)) *name = text;
    i = text.end + 1;
  }
  return false;
}

static sw_rc keep_text(sw_importer *m, sw_ir_span s, const char **out) {
  *out = sw_arena_strndup(m->passes->shared->files, m->t->s + s.at, sw_ir_len(s), m->d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_im_location(sw_importer *m, sw_ir_span loc, sw_span *out) {
  sw_im_shared *all = m->passes->shared;
  *out = SW_NOWHERE;
  if (!sw_ir_present(loc) || strncmp(m->t->s + loc.at, "loc(unknown)", 12) == 0) return SW_OK;
  int64_t *known;
  bool fresh;
  SW_TRY(sw_dict_put(&all->places, m->t->s + loc.at, sw_ir_len(loc), (int64_t)all->locations.n, &known, &fresh, m->d));
  if (!fresh) {
    *out = all->locations.at[*known];
    return SW_OK;
  }
  sw_ir_span name, file;
  int32_t line = 0, col = 0;
  if (follow(m->t, loc, &name, &file, &line, &col)) {
    SW_TRY(keep_text(m, file, &out->file));
  } else if (sw_ir_len(name)) {
    SW_TRY(keep_text(m, name, &out->file));
  }
  out->line = line;
  out->col = col;
  return sw_array_push(&all->locations, *out, m->d);
}

sw_ir_span sw_im_location_name(const sw_importer *m, sw_ir_span loc) {
  sw_ir_span name, file;
  int32_t line, col;
  if (!sw_ir_present(loc)) return (sw_ir_span){0, 0};
  (void)follow(m->t, loc, &name, &file, &line, &col);
  return name;
}
