/* The files of a command line, before the command begins. */
#ifndef CLI_FILES_H_
#define CLI_FILES_H_

#include "cli/command.h"

/* No file is written that is also read, or written twice (SW_E_USAGE), or cannot be written as its folder is not
 * there. *stdout_taken: one of them is standard output, and was said to be. */
SW_CHECKED sw_rc sw_files_check(const sw_command *c, const void *settings, sw_arena *arena, bool *stdout_taken,
                                sw_diag *d);

#endif
