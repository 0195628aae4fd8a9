/* Results on standard output. */
#ifndef CLI_OUTPUT_H_
#define CLI_OUTPUT_H_

#include <stdio.h>

#include "cli/command.h"
#include "shardwright/text.h"

/* Names are somebody else's: control characters but line ends are written as \\u001b. */
bool sw_put_clean(const char *s, size_t n, FILE *to);
void sw_tell_error(const sw_diag *d, bool debug);
/* Print the buffer and free it. A buffer that ran out of memory, or a stream that took less, is an error. */
SW_CHECKED sw_rc sw_print_text(sw_text *t, sw_diag *d);
/* Print it where making it has gone well (`rc`), and free it in any case. */
SW_CHECKED sw_rc sw_print_made(sw_rc rc, sw_text *t, sw_diag *d);
/* The same of an answer that nobody asked for by an option: it stays away from a standard output that is taken. */
SW_CHECKED sw_rc sw_print_answer(const sw_call *call, sw_text *t, sw_diag *d);

#endif
