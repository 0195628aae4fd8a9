/* shardwright reshard: the cheapest route from one sharding to another, its traffic beside the bound. */
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/session.h"
#include "io/json_write.h"
#include "report/draw.h"
#include "shardwright/emit.h"
#include "shardwright/validate.h"

typedef struct settings {
  const char *mesh, *to_mesh, *shape, *from, *to, *dtype, *hw;
  sw_words hw_set;
  int64_t max_temp_bytes;
  const char *dialect;
  sw_pairs emit;
  bool no_exchange, refresh_halos, show, run, json;
} settings;

static const sw_option kOptions[] = {
    {"mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "axes and sizes, as x=2,y=4 or 2x4, perhaps ids=...; required",
     SW_INTO_TEXT(settings, mesh)},
    {"to-mesh", 0, SW_OPTION_TEXT, "MESH", NULL, "mesh that --to speaks of, over the same devices; else --mesh",
     SW_INTO_TEXT(settings, to_mesh)},
    {"shape", 0, SW_OPTION_TEXT, "SHAPE", NULL, "extents of the tensor, as 6x6; required",
     SW_INTO_TEXT(settings, shape)},
    {"from", 0, SW_OPTION_TEXT, "SHARDING", NULL, "the sharding it has; required", SW_INTO_TEXT(settings, from)},
    {"to", 0, SW_OPTION_TEXT, "SHARDING", NULL, "the sharding it shall have; required", SW_INTO_TEXT(settings, to)},
    {"dtype", 0, SW_OPTION_TEXT, "TYPE", "f32", "type of the elements", SW_INTO_TEXT(settings, dtype)},
    {"hw", 0, SW_OPTION_FILE, "PROFILE", "uniform", "hardware profile: its prices choose the route",
     SW_INTO_TEXT(settings, hw)},
    SW_HW_SET_OPTION(settings, hw_set),
    {"max-temp-bytes", 0, SW_OPTION_BYTES, "BYTES", NULL, "most that a device may hold beside both ends",
     SW_INTO_BYTES(settings, max_temp_bytes)},
    {"no-exchange", 0, SW_OPTION_FLAG, NULL, NULL, "collectives and permutes alone, where they suffice",
     SW_INTO_FLAG(settings, no_exchange)},
    {"refresh-halos", 0, SW_OPTION_FLAG, NULL, NULL,
     "halos of --from are stale: fill them even where both ends are equal", SW_INTO_FLAG(settings, refresh_halos)},
    {"show", 0, SW_OPTION_FLAG, NULL, NULL, "draw what each device holds before and after",
     SW_INTO_FLAG(settings, show)},
    {"run", 0, SW_OPTION_FLAG, NULL, NULL, "carry it out on device threads and compare with slices of the whole tensor",
     SW_INTO_FLAG(settings, run)},
    {"emit", 0, SW_OPTION_PAIRS, "KIND=FILE", NULL, "write the route as the program of one device",
     SW_INTO_PAIRS(settings, emit), .choices = "spmd", .writes = true},
    {"dialect", 0, SW_OPTION_CHOICE, "NAME", "shard",
     "of --emit: the shard dialect on local blocks, or Shardy's on whole tensors", SW_INTO_TEXT(settings, dialect),
     .choices = "shard|sdy"},
    SW_OPTION_JSON_INTO(settings, json),
};

/* What is asked, read. */
typedef struct request {
  sw_mesh mesh, to_mesh;
  const sw_other_mesh *other; /* NULL without --to-mesh */
  const sw_profile *profile;
  sw_machine *machine;
  int rank;
  int64_t dims[SW_MAX_RANK];
  sw_dtype dtype;
  sw_sharding from, to;
} request;

static sw_rc read_shape_option(const char *text, request *r, sw_diag *d) {
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

static sw_rc read_sharding_option(const char *option, const char *text, const sw_mesh *m, const request *r,
                                  sw_arena *arena, sw_sharding *out, sw_diag *d) {
  size_t n = strlen(text);
  sw_rc rc = sw_sharding_parse_as(m, r->rank, sw_sharding_form_of(text, n), text, n, SW_NOWHERE, arena, out, d);
  if (!rc) rc = sw_sharding_verify(m, out, r->rank, r->dims, d);
  if (rc) sw_diag_note(d, "in --%s %s", option, text);
  return rc;
}

static sw_rc read_mesh_option(const char *option, const char *text, sw_arena *arena, sw_mesh *out, sw_diag *d) {
  SW_TRY_NOTE(d, sw_mesh_parse(text, arena, out, d), "in --%s %s", option, text);
  SW_TRY_NOTE(d, sw_mesh_verify(out, true, d), "in --%s %s", option, text);
  return SW_OK;
}

static sw_rc read_request(const settings *s, sw_arena *arena, request *r, sw_diag *d) {
  const char *given[][2] = {{"mesh", s->mesh}, {"shape", s->shape}, {"from", s->from}, {"to", s->to}};
  for (int i = 0; i < 4; i++) {
    if (!given[i][1]) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "--%s is missing", given[i][0]);
  }
  SW_TRY(read_mesh_option("mesh", s->mesh, arena, &r->mesh, d));
  r->to_mesh = r->mesh;
  if (s->to_mesh) {
    SW_TRY(read_mesh_option("to-mesh", s->to_mesh, arena, &r->to_mesh, d));
    SW_TRY(sw_other_mesh_make(&r->mesh, &r->to_mesh, arena, &r->other, d));
  }
  SW_TRY(read_shape_option(s->shape, r, d));
  if (!sw_dtype_parse(s->dtype, &r->dtype)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "--dtype is '%s'; expected a type such as f32, bf16 or i8", s->dtype);
  }
  SW_TRY(read_sharding_option("from", s->from, &r->mesh, r, arena, &r->from, d));
  SW_TRY(read_sharding_option("to", s->to, &r->to_mesh, r, arena, &r->to, d));
  SW_TRY(sw_read_hw(s->hw, &s->hw_set, arena, &r->profile, d));
  return sw_bind_hw(r->profile, &r->mesh, arena, &r->machine, d);
}

static sw_rc show(const request *r, sw_text *out, sw_diag *d) {
  SW_TRY(sw_draw_sharding(&r->mesh, &r->from, r->dims, out, d));
  sw_text_puts(out, "\ntransform into\n\n");
  SW_TRY(sw_draw_sharding(&r->to_mesh, &r->to, r->dims, out, d));
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

static void print_collective(const request *r, const sw_hop *step, sw_text *out) {
  sw_collective_print(step->coll.op == SW_COLL_TO_PARTIAL ? step->mesh : &r->mesh, &step->coll, out);
}

static void print_text(const request *r, const sw_route *route, sw_text *out) {
  if (route->n_steps == 0) sw_text_puts(out, "nothing to do\n");
  for (int i = 0; i < route->n_steps; i++) {
    const sw_hop *step = &route->step[i];
    size_t start = out->n;
    sw_text_printf(out, "%d ", i + 1);
    print_collective(r, step, out);
    sw_text_pad(out, start, 42);
    sw_text_puts(out, " ");
    sw_text_seconds(out, step->cost_s);
    sw_text_pad(out, start, 52);
    sw_text_puts(out, " ");
    sw_text_bytes(out, step->max_bytes);
    sw_text_puts(out, " ");
    sw_text_pad(out, start, 64);
    sw_text_puts(out, "-> ");
    sw_sharding_print(step->mesh, &step->after, out);
    sw_text_puts(out, "\n");
  }
  sw_text_puts(out, "time ");
  sw_text_seconds(out, route->cost_s);
  sw_text_puts(out, "\n");
  print_bytes("busiest device receives", route->max_bytes, route->bound_max_bytes, out);
  print_bytes("all devices receive", route->total_bytes, route->bound_total_bytes, out);
  if (route->full_replication) sw_text_puts(out, "holds the whole tensor on every device on the way\n");
}

static void put_route_step(sw_json_out *o, const request *r, const sw_hop *step) {
  sw_text t = {0};
  print_collective(r, step, &t);
  sw_jw_object_row(o, NULL);
  sw_jw_text(o, "collective", &t);
  sw_jw_sharding(o, "after", step->mesh, &step->after);
  sw_jw_f64(o, "time_s", step->cost_s);
  sw_jw_f64(o, "max_bytes", step->max_bytes);
  sw_jw_f64(o, "total_bytes", step->total_bytes);
  sw_jw_end(o);
}

/* docs/reshard.schema.json */
static void print_reshard_json(const request *r, const sw_route *route, const sw_route_run *ran, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_format(&o, "reshard", 1);
  sw_jw_string(&o, "profile", sw_profile_name(r->profile));
  sw_jw_sharding(&o, "from", &r->mesh, &r->from);
  sw_jw_sharding(&o, "to", &r->to_mesh, &r->to);
  sw_jw_array(&o, "steps");
  for (int i = 0; i < route->n_steps; i++) put_route_step(&o, r, &route->step[i]);
  sw_jw_end(&o);
  sw_jw_f64(&o, "time_s", route->cost_s);
  sw_jw_f64(&o, "max_bytes", route->max_bytes);
  sw_jw_f64(&o, "total_bytes", route->total_bytes);
  sw_jw_f64(&o, "bound_max_bytes", route->bound_max_bytes);
  sw_jw_f64(&o, "bound_total_bytes", route->bound_total_bytes);
  sw_jw_bool(&o, "full_replication", route->full_replication);
  if (ran) {
    sw_jw_object_row(&o, "run");
    sw_jw_i64(&o, "elements", ran->elements);
    sw_jw_i64(&o, "wrong", ran->wrong);
    sw_jw_i64(&o, "bytes_received", ran->bytes_received);
    sw_jw_f64(&o, "time_s", ran->seconds);
    sw_jw_end(&o);
  }
  sw_jw_end(&o);
}

/* --- other forms ------------------------------------------------------------------------------------------------- */

static sw_rc write_shard(const sw_reshard *wanted, const sw_route *route, sw_text *out, sw_diag *d) {
  sw_graph *model;
  sw_spmd spmd;
  SW_TRY(sw_reshard_model(wanted, &model, d));
  sw_rc rc = sw_partition_route(model, wanted, route, &spmd, d);
  if (!rc) {
    rc = sw_spmd_verify(&spmd, d);
    if (!rc) rc = sw_emit_spmd(&spmd, SW_SPMD_SHARD, out, d);
    sw_spmd_deinit(&spmd);
  }
  sw_graph_destroy(model);
  return rc;
}

static sw_rc emit_route_files(const settings *s, const sw_reshard *wanted, const sw_route *route, sw_diag *d) {
  for (int i = 0; i < s->emit.n; i++) {
    sw_text t = {0};
    bool sdy = strcmp(s->dialect, "sdy") == 0;
    sw_rc rc = sdy ? sw_emit_route_sdy(wanted, route, &t, d) : write_shard(wanted, route, &t, d);
    SW_TRY(sw_save_made(rc, s->emit.at[i].value, &t, d));
  }
  return SW_OK;
}

static sw_rc report_route(const settings *s, const request *r, const sw_route *route, const sw_route_run *ran,
                          sw_text *out, sw_diag *d) {
  if (s->json) {
    print_reshard_json(r, route, s->run ? ran : NULL, out);
    return SW_OK;
  }
  if (s->show) SW_TRY(show(r, out, d));
  print_text(r, route, out);
  if (s->run) {
    sw_text_printf(out, "carried out: %lld elements on all devices, %lld wrong, ", (long long)ran->elements,
                   (long long)ran->wrong);
    sw_text_bytes(out, (double)ran->bytes_received);
    sw_text_puts(out, " received, ");
    sw_text_seconds(out, ran->seconds);
    sw_text_puts(out, "\n");
  }
  return SW_OK;
}

static sw_rc cmd_reshard(const sw_call *call, sw_diag *d) {
  const settings *s = call->settings;
  request r = {0};
  sw_route route;
  sw_route_run ran = {0};
  sw_text out = {0};
  SW_TRY(read_request(s, call->arena, &r, d));
  const sw_reshard_options options = {.max_temp_bytes = s->max_temp_bytes,
                                      .no_exchange = s->no_exchange,
                                      .refresh_halos = s->refresh_halos,
                                      .to_mesh = r.other};
  const sw_reshard wanted = {r.machine, &r.from, &r.to, r.rank, r.dims, r.dtype, options};
  SW_TRY(sw_route_find(&wanted, call->arena, &route, d));
  SW_TRY(emit_route_files(s, &wanted, &route, d));
  if (s->run) SW_TRY(sw_run_route(&wanted, &route, call->cancel, &ran, d));
  sw_rc rc = report_route(s, &r, &route, &ran, &out, d);
  if (rc) {
    sw_text_free(&out);
    return rc;
  }
  SW_TRY(s->json || s->show ? sw_print_text(&out, d) : sw_print_answer(call, &out, d));
  return ran.wrong ? SW_FAIL(d, SW_E_MISMATCH, SW_NOWHERE, "the route does not leave what the target says") : SW_OK;
}

const sw_command sw_command_reshard = {
    .name = "reshard",
    .summary = "find the cheapest way from one sharding to another",
    .description =
        "Prints each collective with its time and what the busiest device receives, and the whole beside the least "
        "that any route must move. Exit status 4 when --run finds a wrong element.\n"
        "Shardings may be written as the native form, the shard dialect, Shardy, JAX or DTensor write them.\n",
    .example = "shardwright reshard --mesh x=2,y=3 --shape 6x6 --from '[[x],[y]]' --to '[[y],[x]]' --show",
    SW_OPTIONS(kOptions),
    .settings_bytes = sizeof(settings),
    .run = cmd_reshard};
