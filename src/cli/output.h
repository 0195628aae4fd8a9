/* Results on standard output. */
#ifndef CLI_OUTPUT_H_
#define CLI_OUTPUT_H_

#include "shardwright/text.h"

/* Print the buffer and free it. A buffer that ran out of memory, or a stream that took less, is an error. */
SW_CHECKED sw_rc sw_print_text(sw_text *t, sw_diag *d);

#endif
