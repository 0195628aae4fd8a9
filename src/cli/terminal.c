#include "cli/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool sw_terminal_has_colour(FILE *stream) {
  const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");
  if (no_color && no_color[0]) return false;
  return term && strcmp(term, "dumb") != 0 && isatty(fileno(stream));
}

const char *sw_style_code(sw_style style, bool colour) {
  static const char *const kCodes[] = {
      [SW_STYLE_PLAIN] = "\033[0m", [SW_STYLE_BOLD] = "\033[1m", [SW_STYLE_RED] = "\033[31m"};
  _Static_assert(sizeof kCodes / sizeof kCodes[0] == SW_STYLES, "one code per style");
  return colour ? kCodes[style] : "";
}
