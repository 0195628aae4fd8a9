/* shardwright bench: figures about the program itself, each by its name. */
#include <stdlib.h>

#include "cli/command.h"
#include "cli/output.h"
#include "shardwright/bench_costs.h"
#include "shardwright/profile_json.h"

typedef struct settings {
  const char *what;
  const char *facts;
  sw_words hw;
  bool fit, rows, json;
} settings;

static const sw_operand kOperands[] = {
    {"WHAT", "costs: predicted against measured times", SW_INTO_TEXT(settings, what), .choices = "costs"},
};
static const sw_option kOptions[] = {
    {"facts", 0, SW_OPTION_DIR, "DIR", NULL, "folder of the measured tables; by default $SHARDWRIGHT_FACTS_DIR",
     SW_INTO_TEXT(settings, facts)},
    {"hw", 0, SW_OPTION_WORDS, "PROFILE", NULL, "hardware profile to judge; by default all",
     SW_INTO_WORDS(settings, hw)},
    {"fit", 0, SW_OPTION_FLAG, NULL, NULL, "fit the constants to the training rows first and print them",
     SW_INTO_FLAG(settings, fit)},
    {"rows", 0, SW_OPTION_FLAG, NULL, NULL, "print every measured row beside its prediction",
     SW_INTO_FLAG(settings, rows)},
    SW_OPTION_JSON_INTO(settings, json),
};

static sw_rc read_profiles(const settings *s, sw_arena *arena, const sw_profile ***out, int *n, sw_diag *d) {
  const char *const *names = s->hw.at;
  *n = s->hw.n;
  if (*n == 0) SW_TRY(sw_profile_names(arena, &names, n, d));
  SW_ARENA_NEW(*out, arena, *n, d);
  for (int i = 0; i < *n; i++) SW_TRY(sw_profile_read(names[i], arena, &(*out)[i], d));
  return SW_OK;
}

static sw_rc bench_costs(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const char *facts = s->facts ? s->facts : getenv("SHARDWRIGHT_FACTS_DIR");
  if (!facts)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "no measured tables; expected --facts DIR or $SHARDWRIGHT_FACTS_DIR");
  const sw_profile **profiles;
  int n;
  SW_TRY(read_profiles(s, call->arena, &profiles, &n, d));
  sw_bench_costs_options o = {.facts_dir = facts, .fit = s->fit, .rows = s->rows};
  sw_text out = {0};
  bool passed;
  sw_rc rc = sw_bench_costs(profiles, n, &o, s->json ? NULL : &out, s->json ? &out : NULL, &passed, d);
  if (rc) {
    sw_text_free(&out);
    return rc;
  }
  SW_TRY(sw_print_text(&out, d));
  return passed ? SW_OK : SW_E_MISMATCH;
}

static sw_rc run(const sw_call *call, sw_diag *d) { return bench_costs(call, d); }

const sw_command sw_command_bench = {
    .name = "bench",
    .summary = "print figures about the program: how far its prices are from measured times",
    .description =
        "costs: every profile names the measured rows that speak of it. Half of the sizes, on ranks other than 4, are "
        "for fitting; the others judge. The mean absolute log error of a source at 1 MiB and above may be 15 %; exit "
        "status 4 when one is beyond.\n",
    .example = "shardwright bench costs --facts facts --hw dgx-h100",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = run};
