/* shardwright calibrate: measure this machine and write a profile of it. */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "report/calibrate.h"
#include "base/file.h"
#include "shardwright/log.h"
#include "shardwright/profile_json.h"

typedef struct settings {
  const char *name, *output;
  int64_t cores, devices, memory, largest;
  double min_s;
} settings;

static const sw_option kOptions[] = {
    {"name", 0, SW_OPTION_TEXT, "NAME", "local", "name of the profile", SW_INTO_TEXT(settings, name)},
    {"output", 'o', SW_OPTION_FILE, "FILE", "-", "where the profile goes", SW_INTO_TEXT(settings, output),
     .writes = true},
    {"cores", 'j', SW_OPTION_INT, "N", "0", "cores that the devices share; 0: all", SW_INTO_INT(settings, cores),
     .min = 0, .max = 1024},
    {"devices", 0, SW_OPTION_INT, "N", "64", "devices of the profile", SW_INTO_INT(settings, devices), .min = 1,
     .max = 4096},
    {"memory", 0, SW_OPTION_BYTES, "BYTES", NULL, "memory of one device; by default an eighth of the machine's",
     SW_INTO_BYTES(settings, memory)},
    {"largest", 0, SW_OPTION_BYTES, "BYTES", "4MiB", "largest collective to time", SW_INTO_BYTES(settings, largest)},
    {"min-time", 0, SW_OPTION_NUMBER, "S", "0.05", "seconds to measure each figure for",
     SW_INTO_NUMBER(settings, min_s), .min = 0.001, .max = 60},
};

static sw_rc cmd_calibrate(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_calibrate_options o = {.name = s->name,
                            .cores = s->cores,
                            .max_devices = s->devices,
                            .memory_bytes = s->memory,
                            .largest_bytes = s->largest,
                            .min_s = s->min_s,
                            .cancel = call->cancel};
  sw_calibration c;
  SW_TRY(sw_calibrate(&o, call->arena, &c, d));
  sw_log(SW_LOG_INFO, "%d collectives fit with %.1f %% mean error, %d local ops with %.1f %%", c.n_collectives,
         c.collectives_per_cent, c.n_ops, c.ops_per_cent);
  char *source = sw_arena_printf(call->arena, d,
                                 "measured by `shardwright calibrate`: %d collectives of device threads (mean error of "
                                 "the fit %.0f %%) and %d local ops (%.0f %%); 16-bit floats assumed at half of f32",
                                 c.n_collectives, c.collectives_per_cent, c.n_ops, c.ops_per_cent);
  if (!source) return SW_E_RESOURCE;
  sw_text text = {0};
  sw_rc rc = sw_profile_write(c.profile, source, &text, d);
  if (!rc && !strcmp(s->output, "-")) return sw_print_text(&text, d);
  if (!rc) rc = sw_file_write(s->output, sw_text_str(&text), text.n, d);
  sw_text_free(&text);
  return rc;
}

const sw_command sw_command_calibrate = {
    .name = "calibrate",
    .summary = "measure this machine and write a hardware profile of it",
    .description =
        "Times local ops and the collectives of device threads, fits the constants of the cost model to them, "
        "and writes a profile that --hw takes. Let the machine rest meanwhile.\n",
    .example = "shardwright calibrate -o local.json",
    SW_OPTIONS(kOptions),
    .settings_bytes = sizeof(settings),
    .run = cmd_calibrate};
