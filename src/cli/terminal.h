/* What may be done to a stream: colour only where a person reads it. */
#ifndef CLI_TERMINAL_H_
#define CLI_TERMINAL_H_

#include <stdbool.h>
#include <stdio.h>

typedef enum sw_style { SW_STYLE_PLAIN, SW_STYLE_BOLD, SW_STYLE_RED, SW_STYLES } sw_style;

/* A terminal that takes escape sequences, and the user did not set NO_COLOR. */
bool sw_terminal_has_colour(FILE *stream);
/* The escape sequence, or "" when there is no colour. */
const char *sw_style_code(sw_style style, bool colour);

#endif
