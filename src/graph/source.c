#include "graph/source.h"

#include "shardwright/text.h"

void sw_source_print(const sw_source *from, sw_text *out) {
  const bool placed = from->at.line > 0 && from->at.file;
  if (placed) sw_text_printf(out, "from %s:%d", from->at.file, from->at.line);
  if (placed && from->at.col > 0) sw_text_printf(out, ":%d", from->at.col);
  if (from->scope) sw_text_printf(out, "%s%s", placed ? ", in " : "from ", from->scope);
}
