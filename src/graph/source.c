#include "graph/source.h"

#include <string.h>

#include "shardwright/text.h"

static void put_place(sw_span at, sw_text *out) {
  sw_text_printf(out, "%s:%d", at.file, at.line);
  if (at.col > 0) sw_text_printf(out, ":%d", at.col);
}

/* "from net.py:12:9, in jit(step)/block_0/dot_general"; nothing where nothing is known. */
static void print_source(const sw_source *from, sw_text *out) {
  const bool placed = from->at.line > 0 && from->at.file;
  if (placed) {
    sw_text_puts(out, "from ");
    put_place(from->at, out);
  }
  if (from->scope) sw_text_printf(out, "%s%s", placed ? ", in " : "from ", from->scope);
}

bool sw_source_is_library(const char *file, size_t n) {
  static const char *const kParts[] = {"/site-packages/", "/dist-packages/", "/lib/python", "<frozen "};
  for (size_t i = 0; i < sizeof kParts / sizeof *kParts; i++) {
    if (memmem(file, n, kParts[i], strlen(kParts[i]))) return true;
  }
  return false;
}

int sw_source_frames(const sw_call_frame *stack, int room, const sw_call_frame **out) {
  int n = 0;
  for (int library = 0; library < 2; library++) {
    for (const sw_call_frame *f = stack; f && n < room; f = f->next)
      if (f->library == (library == 1)) out[n++] = f;
  }
  return n;
}

/* "net.py:12:9, in layer" */
static void print_call_frame(const sw_call_frame *f, sw_text *out) {
  const bool placed = f->at.line > 0 && f->at.file;
  if (placed) put_place(f->at, out);
  if (f->function) sw_text_printf(out, "%s%s", placed ? ", in " : "in ", f->function);
}

void sw_source_note(const sw_source *from, sw_diag *d) {
  enum { MOST = 4 };
  sw_text text = {0};
  int told = 0;
  print_source(from, &text);
  if (text.n) sw_diag_note(d, "%s", sw_text_str(&text));
  bool below = false; /* the frame of `from` itself has been passed */
  for (const sw_call_frame *f = from->stack; f && told < MOST; f = f->next) {
    const bool same = f->at.line == from->at.line && f->at.col == from->at.col && f->at.file == from->at.file;
    if (below && !f->library && !same) {
      text.n = 0;
      print_call_frame(f, &text);
      sw_diag_note(d, "called from %s", sw_text_str(&text));
      told++;
    }
    below = below || same;
  }
  sw_text_free(&text);
}
