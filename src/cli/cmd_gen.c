/* shardwright gen ARCH: write the model file of a well-known architecture. The options are the generators' parameters
 * (gen.h), so that this file names none of them:
 *
 *   shardwright gen gpt2 --layers 2 -o small.json      =      sw_gen_model("gpt2", {{"layers", "2"}}, ...)
 */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "base/file.h"
#include "gen/gen.h"
#include "io/json_write.h"
#include "shardwright/model_json.h"

typedef struct settings {
  const char *arch, *output;
  bool list, json;
  const char *params[SW_GEN_PARAM_COUNT]; /* NULL: not given */
} settings;

static const sw_option kOptions[] = {
    SW_OPTION_OUTPUT_INTO(settings, output),
    {"list", 0, SW_OPTION_FLAG, NULL, NULL, "print the architectures, or the parameters of ARCH, and write no model",
     SW_INTO_FLAG(settings, list)},
    {"json", 0, SW_OPTION_FLAG, NULL, NULL, "print what --list prints as JSON", SW_INTO_FLAG(settings, json)},
#define SW_X(id, text, word, words, about) \
  {text, 0, SW_OPTION_TEXT, word, NULL, about, SW_INTO_TEXT(settings, params[SW_GEN_##id]), .choices = words},
    SW_GEN_PARAMS(SW_X)
#undef SW_X
};

static const sw_operand kOperands[] = {
    {"ARCH", "architecture or preset; --list prints them", SW_INTO_TEXT(settings, arch), .optional = true},
};

static void list_archs(sw_text *out) {
  const sw_gen_arch *a;
  for (int i = 0; (a = sw_gen_arch_at(i)); i++) {
    size_t start = out->n;
    sw_text_puts(out, a->name);
    sw_text_pad(out, start, 17);
    sw_text_puts(out, a->help);
    const char *list = a->presets, *value;
    sw_gen_param p;
    int n;
    if (list) sw_text_puts(out, ":");
    while (sw_gen_next_param(&list, &p, &value, &n)) {
      sw_text_printf(out, " --%s %.*s", sw_gen_param_text(p), n, value);
    }
    sw_text_puts(out, "\n");
  }
}

static void list_params(const sw_gen_arch *a, sw_text *out) {
  sw_text_printf(out, "%s: %s\n", a->name, a->help);
  sw_text_printf(out, "source: %s\n", a->source ? a->source : sw_gen_base_of(a)->source);
  for (int p = 0; p < SW_GEN_PARAM_COUNT; p++) {
    int n;
    const char *value = sw_gen_default_of(a, (sw_gen_param)p, &n);
    if (!value) continue;
    size_t start = out->n;
    sw_text_printf(out, "  --%s ", sw_gen_param_text((sw_gen_param)p));
    sw_text_pad(out, start, 18);
    sw_text_printf(out, "%.*s ", n, value);
    sw_text_pad(out, start, 38);
    sw_text_printf(out, "%s\n", sw_gen_param_help((sw_gen_param)p));
  }
}

/* What an architecture is; with its parameters, or, of a preset, what it sets otherwise. */
static void put_arch(sw_json_out *o, const sw_gen_arch *a, bool all) {
  const char *list = a->presets, *value;
  sw_gen_param p;
  int n;
  sw_jw_object(o, NULL);
  sw_jw_string(o, "name", a->name);
  sw_jw_string(o, "about", a->help);
  sw_jw_string(o, "source", a->source ? a->source : sw_gen_base_of(a)->source);
  if (a->base) sw_jw_string(o, "preset_of", a->base);
  if (list) {
    sw_jw_object_row(o, "sets");
    while (sw_gen_next_param(&list, &p, &value, &n)) sw_jw_string_n(o, sw_gen_param_text(p), value, (size_t)n);
    sw_jw_end(o);
  }
  if (all) {
    sw_jw_array(o, "parameters");
    for (int k = 0; k < SW_GEN_PARAM_COUNT; k++) {
      value = sw_gen_default_of(a, (sw_gen_param)k, &n);
      if (!value) continue;
      sw_jw_object_row(o, NULL);
      sw_jw_string(o, "name", sw_gen_param_text((sw_gen_param)k));
      sw_jw_string_n(o, "default", value, strcspn(value, "| ") < (size_t)n ? strcspn(value, "| ") : (size_t)n);
      if (memchr(value, '|', (size_t)n)) sw_jw_string_n(o, "choices", value, (size_t)n);
      sw_jw_string(o, "about", sw_gen_param_help((sw_gen_param)k));
      sw_jw_end(o);
    }
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static sw_rc list_json(const settings *s, sw_diag *d) {
  sw_text out = {0};
  sw_json_out o;
  const sw_gen_arch *a = NULL;
  if (s->arch) SW_TRY(sw_gen_arch_find(s->arch, &a, d));
  sw_json_out_init(&o, &out);
  sw_jw_format(&o, "gen-list", 1);
  sw_jw_array(&o, "architectures");
  if (a) put_arch(&o, a, true);
  for (int i = 0; !s->arch && (a = sw_gen_arch_at(i)); i++) put_arch(&o, a, false);
  sw_jw_end(&o);
  sw_jw_end(&o);
  return sw_print_text(&out, d);
}

static sw_rc list_models(const settings *s, sw_diag *d) {
  sw_text out = {0};
  if (s->json) return list_json(s, d);
  if (s->arch) {
    const sw_gen_arch *a;
    SW_TRY(sw_gen_arch_find(s->arch, &a, d));
    list_params(a, &out);
  } else {
    list_archs(&out);
  }
  return sw_print_text(&out, d);
}

static sw_rc write_model(const sw_graph *g, const char *path, sw_diag *d) {
  sw_text out = {0};
  sw_rc rc = sw_model_write(g, &out, d);
  if (!rc) rc = sw_file_write(path, out.at, out.n, d);
  sw_text_free(&out);
  return rc;
}

static sw_rc cmd_gen(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  if (s->list) return list_models(s, d);
  if (s->json) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--json prints what --list prints; expected --list beside it");
  if (!s->arch) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "ARCH is missing; --list prints the architectures");
  sw_gen_arg args[SW_GEN_PARAM_COUNT];
  int n = 0;
  for (int p = 0; p < SW_GEN_PARAM_COUNT; p++) {
    if (s->params[p]) args[n++] = (sw_gen_arg){sw_gen_param_text((sw_gen_param)p), s->params[p]};
  }
  sw_graph *g;
  SW_TRY(sw_gen_model(s->arch, args, n, &g, d));
  sw_rc rc = write_model(g, s->output, d);
  sw_graph_destroy(g);
  return rc;
}

const sw_command sw_command_gen = {
    .name = "gen",
    .summary = "write the model file of a well-known architecture",
    .description =
        "An architecture has the parameters and defaults that --list ARCH prints; a preset is an "
        "architecture with other defaults. Weights are values without data.\n",
    .example = "shardwright gen llama3-8b --mode decode --batch 16 -o llama.json",
    SW_OPTIONS(kOptions),
    SW_OPERANDS(kOperands),
    .settings_bytes = sizeof(settings),
    .run = cmd_gen};
