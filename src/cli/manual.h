/* The help of the tool and of its subcommands, rendered from their tables. Output is appended to `out`. */
#ifndef CLI_MANUAL_H_
#define CLI_MANUAL_H_

#include "cli/command.h"
#include "shardwright/text.h"

/* For a terminal, at most 80 columns wide. */
void sw_manual_overview(sw_text *out, bool colour);
void sw_manual_command(const sw_command *c, sw_text *out, bool colour);
/* Manual page shardwright(1): all subcommands, or one of them. */
void sw_manual_man(const sw_command *only, sw_text *out);

#endif
