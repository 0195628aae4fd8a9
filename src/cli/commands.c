/* The table of subcommands, made from commands.def, and the options that all of them take. */
#include <string.h>

#include "cli/command.h"
#include "base/nearest.h"

#define SW_COMMAND(x) extern const sw_command sw_command_##x;
#include "cli/commands.def"
#undef SW_COMMAND

#define SW_COMMAND(x) &sw_command_##x,
static const sw_command *const kCommands[] = {
#include "cli/commands.def"
};
#undef SW_COMMAND

const sw_option sw_common_options[SW_COMMON_OPTIONS] = {
    {"help", 'h', SW_OPTION_FLAG, NULL, NULL, "print this help", SW_INTO_FLAG(sw_common, help)},
    {"version", 0, SW_OPTION_FLAG, NULL, NULL, "print the version", SW_INTO_FLAG(sw_common, version)},
    {"quiet", 'q', SW_OPTION_FLAG, NULL, NULL, "no warnings or progress", SW_INTO_FLAG(sw_common, quiet)},
    {"verbose", 'v', SW_OPTION_FLAG, NULL, NULL, "say what is being done", SW_INTO_FLAG(sw_common, verbose)},
    {"debug", 0, SW_OPTION_FLAG, NULL, NULL, "say more, and where in the source an error arose",
     SW_INTO_FLAG(sw_common, debug)},
};

int sw_command_count(void) { return (int)(sizeof kCommands / sizeof kCommands[0]); }
const sw_command *sw_command_at(int i) { return kCommands[i]; }

const sw_command *sw_command_find(const char *name, sw_diag *d) {
  sw_nearest near = {.wanted = name};
  for (int i = 0; i < sw_command_count(); i++) {
    if (strcmp(kCommands[i]->name, name) == 0) return kCommands[i];
    sw_nearest_offer(&near, kCommands[i]->name);
  }
  (void)SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "unknown command '%s'%s", name, sw_nearest_hint(&near));
  return NULL;
}
