/* shardwright version: the version and what this binary was built with. */
#include "cli/output.h"
#include "cli/command.h"
#include "io/json_write.h"

typedef struct settings {
  bool json;
} settings;

static const sw_option kOptions[] = {SW_OPTION_JSON_INTO(settings, json)};

#ifdef SW_WITH_GLPK
static const bool kHasGlpk = true;
#else
static const bool kHasGlpk = false;
#endif

static void print_version_json(const char *licence, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "version", 1);
  sw_jw_string(&o, "shardwright", SW_VERSION);
  sw_jw_row(&o, "solvers");
  sw_jw_string(&o, NULL, "native");
  sw_jw_string(&o, NULL, "exhaustive");
  if (kHasGlpk) sw_jw_string(&o, NULL, "glpk");
  sw_jw_end(&o);
  sw_jw_string(&o, "binary_licence", licence);
  sw_jw_end(&o);
}

static sw_rc cmd_version(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  /* GLPK decides under which licence the binary may be passed on (NOTICE). */
  const char *licence = kHasGlpk ? "GPL-3.0-or-later" : "Apache-2.0";
  sw_text out = {0};
  if (s->json) {
    print_version_json(licence, &out);
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
