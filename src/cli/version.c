/* shardwright version: the version and what this binary was built with. */
#include "cli/output.h"
#include "cli/command.h"

typedef struct settings {
  bool json;
} settings;

static const sw_option kOptions[] = {SW_OPTION_JSON_INTO(settings, json)};

#ifdef SW_WITH_GLPK
static const bool kHasGlpk = true;
#else
static const bool kHasGlpk = false;
#endif

static sw_rc cmd_version(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  /* GLPK decides under which licence the binary may be passed on (NOTICE). */
  const char *licence = kHasGlpk ? "GPL-3.0-or-later" : "Apache-2.0";
  sw_text out = {0};
  if (s->json) {
    sw_text_printf(&out, "{\"version\": \"%s\", \"glpk\": %s, \"binary_licence\": \"%s\"}\n", SW_VERSION,
                   kHasGlpk ? "true" : "false", licence);
  } else {
    sw_text_printf(&out, "shardwright %s\nsolvers: native, exhaustive%s\nlicence of this binary: %s\n", SW_VERSION,
                   kHasGlpk ? ", glpk" : "", licence);
  }
  return sw_print_text(&out, d);
}

const sw_command sw_command_version = {.name = "version",
                                       .summary = "print the version and what it was built with",
                                       SW_OPTIONS(kOptions),
                                       .settings_bytes = sizeof(settings),
                                       .run = cmd_version};
