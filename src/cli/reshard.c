/* shardwright reshard: the cheapest route from one sharding to another, its traffic beside the bound. */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "shardwright/profile_json.h"
#include "shardwright/reshard.h"

typedef struct settings {
  const char *mesh, *shape, *from, *to, *dtype, *hw;
  int64_t max_temp_bytes;
  bool no_exchange, show, json;
} settings;

static const sw_option kOptions[] = {
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "axes and sizes, as x=2,y=4 or 2x4; required",
     SW_INTO_TEXT(settings, mesh)},
    {"shape", 0, SW_OPTION_TEXT, "SHAPE", NULL, "extents of the tensor, as 6x6; required",
     SW_INTO_TEXT(settings, shape)},
    {"from", 0, SW_OPTION_TEXT, "SHARDING", NULL, "the sharding it has; required", SW_INTO_TEXT(settings, from)},
    {"to", 0, SW_OPTION_TEXT, "SHARDING", NULL, "the sharding it shall have; required", SW_INTO_TEXT(settings, to)},
    {"dtype", 0, SW_OPTION_TEXT, "TYPE", "f32", "type of the elements", SW_INTO_TEXT(settings, dtype)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "dgx-h100", "hardware profile: its prices choose the route",
     SW_INTO_TEXT(settings, hw)},
    {"max-temp-bytes", 0, SW_OPTION_BYTES, "BYTES", NULL, "most that a device may hold beside both ends",
     SW_INTO_BYTES(settings, max_temp_bytes)},
    {"no-exchange", 0, SW_OPTION_FLAG, NULL, NULL, "collectives and permutes alone, where they suffice",
     SW_INTO_FLAG(settings, no_exchange)},
    {"show", 0, SW_OPTION_FLAG, NULL, NULL, "draw what each device holds before and after",
     SW_INTO_FLAG(settings, show)},
    SW_OPTION_JSON_INTO(settings, json),
};

/* What is asked, read. */
typedef struct request {
  sw_mesh mesh;
  const sw_profile *profile;
  sw_machine *machine;
  int rank;
  int64_t dims[SW_MAX_RANK];
  sw_dtype dtype;
  sw_sharding from, to;
} request;

static sw_rc read_shape(const char *text, request *r, sw_diag *d) {
  for (const char *p = text; *p;) {
    char number[24] = "";
    size_t n = strcspn(p, "x,");
    if (r->rank == SW_MAX_RANK) {
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--shape has more than %d dimensions", SW_MAX_RANK);
    }
    if (n < sizeof number) memcpy(number, p, n);
    SW_TRY(sw_parse_i64(number, 0, INT64_C(1) << 48, "an extent in --shape", &r->dims[r->rank++], d));
    p += n;
    if (*p && !*++p) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--shape %s ends with a sign; expected an extent", text);
  }
  return SW_OK;
}

static sw_rc read_sharding(const char *option, const char *text, const request *r, sw_arena *arena, sw_sharding *out,
                           sw_diag *d) {
  size_t n = strlen(text);
  sw_rc rc = sw_sharding_parse_as(&r->mesh, r->rank, sw_sharding_form_of(text, n), text, n, SW_NOWHERE, arena, out, d);
  if (!rc) rc = sw_sharding_verify(&r->mesh, out, r->rank, r->dims, d);
  if (rc) sw_diag_note(d, "in --%s %s", option, text);
  return rc;
}

static sw_rc read_request(const settings *s, sw_arena *arena, request *r, sw_diag *d) {
  const char *given[][2] = {{"mesh", s->mesh}, {"shape", s->shape}, {"from", s->from}, {"to", s->to}};
  for (int i = 0; i < 4; i++) {
    if (!given[i][1]) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--%s is missing", given[i][0]);
  }
  SW_TRY_NOTE(d, sw_mesh_parse(s->mesh, arena, &r->mesh, d), "in --mesh %s", s->mesh);
  SW_TRY_NOTE(d, sw_mesh_verify(&r->mesh, true, d), "in --mesh %s", s->mesh);
  SW_TRY(read_shape(s->shape, r, d));
  if (!sw_dtype_parse(s->dtype, &r->dtype)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "--dtype is '%s'; expected a type such as f32, bf16 or i8", s->dtype);
  }
  SW_TRY(read_sharding("from", s->from, r, arena, &r->from, d));
  SW_TRY(read_sharding("to", s->to, r, arena, &r->to, d));
  SW_TRY(sw_profile_read(s->hw, arena, &r->profile, d));
  return sw_machine_build(arena, r->profile, &r->mesh, &r->machine, d);
}

/* One cell of a drawing: what a device holds of one row of its block. */
static void draw_cell(const request *r, const sw_sharding *s, int64_t device, int64_t row, sw_text *out) {
  int64_t lo[2] = {0, 0}, hi[2] = {1, 1};
  int first = 2 - r->rank;
  bool wide = false;
  for (int d = 0; d < r->rank; d++) {
    sw_sharding_extent(&r->mesh, s, d, r->dims[d], device, &lo[first + d], &hi[first + d]);
    wide = wide || r->dims[d] > 9;
  }
  for (int64_t k = lo[1]; lo[0] + row < hi[0] && k < hi[1]; k++) {
    sw_text_puts(out, " ");
    if (r->rank == 2) sw_text_printf(out, "%lld%s", (long long)lo[0] + row + 1, wide ? "," : "");
    sw_text_printf(out, "%lld", (long long)k + 1);
  }
}

static size_t cell_width(const request *r, const sw_sharding *s, int64_t rows) {
  size_t width = 0;
  for (int64_t device = 0; device < sw_mesh_devices(&r->mesh); device++) {
    for (int64_t row = 0; row < rows; row++) {
      sw_text t = {0};
      draw_cell(r, s, device, row, &t);
      width = t.n > width ? t.n : width;
      sw_text_free(&t);
    }
  }
  return width + 1;
}

static void draw_rule(int64_t columns, size_t width, sw_text *out) {
  for (int64_t c = 0; c < columns; c++) {
    sw_text_puts(out, "+");
    for (size_t i = 0; i < width; i++) sw_text_puts(out, "-");
  }
  sw_text_puts(out, "+\n");
}

/* Devices as a grid of boxes, the last axis to the right, the others downwards. */
static void draw(const request *r, const sw_sharding *s, sw_text *out) {
  int64_t columns = r->mesh.n_axes ? r->mesh.axis[r->mesh.n_axes - 1].size : 1;
  int64_t lines = sw_mesh_devices(&r->mesh) / columns;
  int64_t rows = r->rank == 2 ? sw_sharding_block(s, 0, r->dims[0]) : 1;
  size_t width = cell_width(r, s, rows);
  sw_sharding_print(&r->mesh, s, out);
  sw_text_puts(out, "\n");
  for (int64_t line = 0; line < lines; line++) {
    draw_rule(columns, width, out);
    for (int64_t row = 0; row < rows; row++) {
      for (int64_t c = 0; c < columns; c++) {
        sw_text_puts(out, "|");
        size_t start = out->n;
        draw_cell(r, s, line * columns + c, row, out);
        sw_text_pad(out, start, width);
      }
      sw_text_puts(out, "|\n");
    }
  }
  draw_rule(columns, width, out);
}

static sw_rc show(const request *r, sw_text *out, sw_diag *d) {
  int64_t elements = 1;
  for (int i = 0; i < r->rank; i++) elements *= r->dims[i] < 1000 ? r->dims[i] : 1000;
  if (r->rank > 2 || elements > 4096 || sw_mesh_devices(&r->mesh) > 64) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "--show draws tensors of rank 1 or 2, up to 4096 elements on 64 devices");
  }
  draw(r, &r->from, out);
  sw_text_puts(out, "\n");
  draw(r, &r->to, out);
  sw_text_puts(out, "\n");
  return SW_OK;
}

static double ratio(double moved, double bound) { return bound > 0 ? moved / bound : 1; }

static void print_bytes(const char *what, double moved, double bound, sw_text *out) {
  sw_text_printf(out, "%s ", what);
  sw_text_bytes(out, moved);
  sw_text_puts(out, ", bound ");
  sw_text_bytes(out, bound);
  if (bound > 0) sw_text_printf(out, ", ratio %.3f", ratio(moved, bound));
  sw_text_puts(out, "\n");
}

static void print_text(const request *r, const sw_route *route, sw_text *out) {
  if (route->n_steps == 0) sw_text_puts(out, "nothing to do\n");
  for (int i = 0; i < route->n_steps; i++) {
    const sw_route_step *step = &route->step[i];
    size_t start = out->n;
    sw_text_printf(out, "%d ", i + 1);
    sw_collective_print(&r->mesh, &step->coll, out);
    sw_text_pad(out, start, 42);
    sw_text_puts(out, " ");
    sw_text_seconds(out, step->cost_s);
    sw_text_pad(out, start, 52);
    sw_text_puts(out, " ");
    sw_text_bytes(out, step->max_bytes);
    sw_text_pad(out, start, 64);
    sw_text_puts(out, "-> ");
    sw_sharding_print(&r->mesh, &step->after, out);
    sw_text_puts(out, "\n");
  }
  sw_text_puts(out, "time ");
  sw_text_seconds(out, route->cost_s);
  sw_text_puts(out, "\n");
  print_bytes("busiest device receives", route->max_bytes, route->bound_max_bytes, out);
  print_bytes("all devices receive", route->total_bytes, route->bound_total_bytes, out);
  if (route->full_replication) sw_text_puts(out, "holds the whole tensor on every device on the way\n");
}

static void print_sharding_json(const request *r, const char *key, const sw_sharding *s, sw_text *out) {
  sw_text_printf(out, "\"%s\": \"", key);
  sw_sharding_print(&r->mesh, s, out);
  sw_text_puts(out, "\"");
}

static void print_json(const request *r, const sw_route *route, sw_text *out) {
  sw_text_puts(out, "{");
  print_sharding_json(r, "from", &r->from, out);
  sw_text_puts(out, ", ");
  print_sharding_json(r, "to", &r->to, out);
  sw_text_puts(out, ", \"steps\": [");
  for (int i = 0; i < route->n_steps; i++) {
    const sw_route_step *step = &route->step[i];
    sw_text_printf(out, "%s{\"collective\": \"", i ? ", " : "");
    sw_collective_print(&r->mesh, &step->coll, out);
    sw_text_puts(out, "\", ");
    print_sharding_json(r, "after", &step->after, out);
    sw_text_printf(out, ", \"time_s\": %.9g, \"max_bytes\": %.17g, \"total_bytes\": %.17g}", step->cost_s,
                   step->max_bytes, step->total_bytes);
  }
  sw_text_printf(out,
                 "], \"time_s\": %.9g, \"max_bytes\": %.17g, \"total_bytes\": %.17g, \"bound_max_bytes\": %.17g, "
                 "\"bound_total_bytes\": %.17g, \"full_replication\": %s}\n",
                 route->cost_s, route->max_bytes, route->total_bytes, route->bound_max_bytes, route->bound_total_bytes,
                 route->full_replication ? "true" : "false");
}

static sw_rc run(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  request r = {0};
  sw_route route;
  sw_text out = {0};
  SW_TRY(read_request(s, call->arena, &r, d));
  const sw_reshard_options options = {.max_temp_bytes = s->max_temp_bytes, .no_exchange = s->no_exchange};
  const sw_reshard wanted = {r.machine, &r.from, &r.to, r.rank, r.dims, r.dtype, options};
  SW_TRY(sw_route_find(&wanted, call->arena, &route, d));
  sw_rc rc = s->show && !s->json ? show(&r, &out, d) : SW_OK;
  if (rc) {
    sw_text_free(&out);
    return rc;
  }
  if (s->json) print_json(&r, &route, &out);
  if (!s->json) print_text(&r, &route, &out);
  return sw_print_text(&out, d);
}

const sw_command sw_command_reshard = {
    .name = "reshard",
    .summary = "find the cheapest way from one sharding to another",
    .description =
        "Prints each collective with its time and what the busiest device receives, and the whole beside the least "
        "that "
        "any route must move.\n"
        "Shardings may be written as the native form, the shard dialect, Shardy, JAX or DTensor write them.\n",
    .example = "shardwright reshard --mesh x=2,y=3 --shape 6x6 --from '[[x],[y]]' --to '[[y],[x]]' --show",
    SW_OPTIONS(kOptions),
    .settings_bytes = sizeof(settings),
    .run = run};
