/* shardwright calibrate: a profile of this machine by measuring it, or of another from measurements in files. */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "bench/calibrate.h"
#include "bench/calibrate_from.h"
#include "base/file.h"
#include "shardwright/log.h"
#include "shardwright/profile_json.h"

typedef struct settings {
  const char *name, *output;
  int64_t cores, devices, memory, largest;
  double min_s;
  sw_words from, files;
  const char *start, *device, *hardware, *library;
  bool make_template, json;
} settings;

static const sw_operand kOperands[] = {
    {"FILE", "further files for --from", SW_INTO_WORDS(settings, files), .optional = true, .repeated = true},
};

static const sw_option kOptions[] = {
    {"from", 0, SW_OPTION_WORDS, "FILE", NULL,
     "make the profile from this file instead: output of nccl-tests or rccl-tests (text, or JSON of -J), a CSV of "
     "matrix products, attention, kernels bounded by memory, collectives or training runs, a data sheet",
     SW_INTO_WORDS(settings, from)},
    {"start", 0, SW_OPTION_TEXT, "PROFILE", NULL,
     "with --from: what is not measured is as in this profile; by default as the data sheet says, or assumed",
     SW_INTO_TEXT(settings, start)},
    {"device", 0, SW_OPTION_TEXT, "NAME", NULL,
     "with --from: which row of the data sheet, by the beginning of its name", SW_INTO_TEXT(settings, device)},
    {"hardware", 0, SW_OPTION_TEXT, "NAME", NULL,
     "with --from: which rows of tables that name their hardware, by its beginning", SW_INTO_TEXT(settings, hardware)},
    {"library", 0, SW_OPTION_TEXT, "NAME", NULL,
     "with --from: whose attention, where a table has that of several; without it that which comes first",
     SW_INTO_TEXT(settings, library)},
    {"template", 0, SW_OPTION_FLAG, NULL, NULL,
     "print the profile of --start (h100) with the meaning of every part, and how it is measured, in its sources",
     SW_INTO_FLAG(settings, make_template)},
    SW_OPTION_JSON_INTO(settings, json),
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

/* Writes the text where it goes, and frees it. */
static sw_rc write_calibration(const char *output, sw_rc rc, sw_text *text, sw_diag *d) {
  if (!rc && !strcmp(output, "-")) return sw_print_text(text, d);
  if (!rc) rc = sw_file_write(output, sw_text_str(text), text->n, d);
  sw_text_free(text);
  return rc;
}

static sw_rc measure_here(const sw_call *call, sw_diag *d) {
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
  return write_calibration(s->output, sw_profile_write(c.profile, source, &text, d), &text, d);
}

/* What was fitted, where the profile does not go: standard output, or the log. */
static sw_rc tell_fitted(const settings *s, const sw_calibrated *c, sw_diag *d) {
  sw_text text = {0};
  if (s->json)
    sw_calibrated_json(c, &text);
  else
    sw_calibrated_table(c, &text);
  if (strcmp(s->output, "-") != 0) return sw_print_text(&text, d);
  for (char *line = text.at, *next; line && *line; line = next) {
    next = strchr(line, '\n');
    if (next) *next++ = 0;
    sw_log(SW_LOG_INFO, "%s", line);
  }
  sw_text_free(&text);
  return SW_OK;
}

static sw_rc from_files(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  const char **files;
  int n = s->from.n + s->files.n;
  if (s->json && !strcmp(s->output, "-"))
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--json prints where the profile goes; expected -o FILE beside it");
  SW_ARENA_NEW(files, call->arena, n, d);
  for (int i = 0; i < n; i++) files[i] = i < s->from.n ? s->from.at[i] : s->files.at[i - s->from.n];
  sw_calibrate_from_options o = {.files = files,
                                 .n_files = n,
                                 .name = s->name,
                                 .start = s->start,
                                 .device = s->device,
                                 .hardware = s->hardware,
                                 .library = s->library,
                                 .cancel = call->cancel};
  sw_calibrated c;
  sw_text text = {0};
  SW_TRY(sw_calibrate_from(&o, call->arena, &c, d));
  SW_TRY(write_calibration(s->output, sw_profile_write_with(c.profile, &c.origins, &text, d), &text, d));
  return tell_fitted(s, &c, d);
}

static sw_rc make_template(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  sw_calibrated c;
  sw_text text = {0};
  SW_TRY(sw_calibrate_template(s->start ? s->start : "h100", s->name, call->arena, &c, d));
  return write_calibration(s->output, sw_profile_write_with(c.profile, &c.origins, &text, d), &text, d);
}

static sw_rc cmd_calibrate(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  bool files = s->from.n || s->files.n;
  if (s->make_template && files)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--template measures nothing; expected it without files");
  if (s->make_template) return make_template(call, d);
  if (files) return from_files(call, d);
  if (s->start || s->device || s->hardware || s->library || s->json)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "--start, --device, --hardware, --library and --json are for files; expected --from FILE");
  return measure_here(call, d);
}

const sw_command sw_command_calibrate = {
    .name = "calibrate",
    .summary = "write a hardware profile: of this machine by measuring it, or from measurements in files",
    .description =
        "Without files: times local ops and the collectives of device threads, fits the constants of the cost model to "
        "them, and writes a profile that --hw takes. Let the machine rest meanwhile.\n"
        "From files: what they are is seen from what is in them. Every second row is fitted, the others judge. With -o "
        "FILE the table says what was fitted, how far off the judging rows are, where each part of the profile is "
        "from, and what would measure those that nothing measured; without it, --verbose does. Training runs (the "
        "columns of "
        "`bench runs`) correct what large ops achieve. scripts/measure-device makes the CSVs of kernels.\n",
    .example = "shardwright calibrate --from reports/measured-h100/gemm.csv --start h100 --name mine -o mine.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_calibrate};
