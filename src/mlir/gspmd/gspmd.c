/* GSPMD: custom calls and attributes that say shardings in tiles, and parts of a program for one device. */
#include "mlir/gspmd/gspmd.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/import/annotate.h"

extern const sw_dialect sw_dialect_gspmd;

/* --- shardings ---------------------------------------------------------------------------------------------------- */

static bool is_ours(const sw_importer *m, sw_ir_span sharding) {
  return sw_ir_len(sharding) && m->t->s[sharding.at] == '"';
}

/* Tiles of a tensor of another rank. */
static sw_rc check_tiles_rank(const sw_importer *m, sw_ir_span sharding, const char *text, int rank, sw_diag *d) {
  const int tiled = sw_im_tiles_rank(text);
  if (tiled < 0 || tiled == rank) return SW_OK;
  return SW_FAIL_INPUT(d, sw_ir_place(m->t, sharding.at),
                       "the sharding has %d dimensions; expected %d, the tensor's rank", tiled, rank);
}

static sw_rc read_tile_sharding(sw_importer *m, const sw_im_said *said, sw_arena *arena, sw_sharding *out, bool *done,
                                sw_diag *d) {
  bool ok;
  (void)arena;
  *done = is_ours(m, said->text);
  if (!*done) return SW_OK;
  const char *text = sw_im_string(m, sw_ir_unquoted(m->t, said->text));
  SW_TRY(check_tiles_rank(m, said->text, text, said->rank, d));
  SW_TRY(sw_im_read_tiles(m, said->mesh, text, said->rank, out, NULL, &ok));
  return ok ? SW_OK
            : SW_FAIL_INPUT(d, sw_ir_place(m->t, said->text.at), "the sharding is none over the mesh of the program");
}

/* "{devices=...}" */
static sw_rc annotate_from_gspmd(sw_importer *m, const sw_im_target *of, sw_ir_span sharding, uint32_t at, bool *done) {
  const sw_type *type = &m->g->values[of->value].type;
  sw_sharding s;
  int64_t partitions;
  bool ok;
  *done = is_ours(m, sharding);
  if (!*done) return SW_OK;
  const char *text = sw_im_string(m, sw_ir_unquoted(m->t, sharding));
  if (sw_im_module_number(m, "mhlo.num_partitions", &partitions) && partitions == 1) return SW_OK; /* one device */
  if (strcmp(text, "{manual}") == 0) return SW_OK;
  SW_TRY(check_tiles_rank(m, sharding, text, type->rank, m->d));
  SW_TRY(sw_im_read_tiles(m, &m->g->written->mesh, text, type->rank, &s, NULL, &ok));
  if (ok && !sw_sharding_verify(&m->g->written->mesh, &s, type->rank, type->dims, NULL)) {
    return sw_im_add_annotation(m, of, &s, of->open, at);
  }
  sw_im_warn(m, at, "the sharding of '%s' is left out: the mesh has no axes for %s", m->g->values[of->value].name,
             text);
  return SW_OK;
}

uint32_t sw_im_unspecified_dims(sw_importer *m, uint32_t op) {
  static const char kKey[] = "unspecified_dims=[";
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "backend_config", NULL);
  const char *text = sw_ir_present(v) ? sw_im_string(m, sw_ir_unquoted(m->t, v)) : NULL;
  const char *at = text ? strstr(text, kKey) : NULL;
  uint32_t open = 0;
  for (at = at ? at + strlen(kKey) : ""; *at && *at != ']'; at++) {
    char *end;
    long dim = strtol(at, &end, 10);
    if (end == at) continue; /* a comma */
    if (dim >= 0 && dim < SW_MAX_RANK) open |= UINT32_C(1) << dim;
    at = end - 1;
  }
  return open;
}

static sw_rc custom_sharding(sw_importer *m, const sw_ir_row *row, uint32_t op) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), "mhlo.sharding", NULL);
  SW_TRY(sw_im_operand_count(m, op, 1, 1));
  return sw_ir_present(v) ? sw_im_constrained(m, op, v, sw_im_unspecified_dims(m, op)) : sw_im_identity(m, row, op);
}

/* --- the dialect -------------------------------------------------------------------------------------------------- */

static const sw_ir_row kCalls[] = {
    {"Sharding", custom_sharding, .flags = SW_IR_PASSES},
    {"InspectSharding", sw_im_identity, .flags = SW_IR_PASSES},
};

sw_im_parts *sw_gspmd_parts_of(const sw_importer *m) { return sw_im_state_of(m, &sw_dialect_gspmd); }

static sw_rc open_gspmd(sw_importer *m) { return m->cut ? SW_OK : sw_im_find_parts(m); }

static void close_parts(void *state) { sw_array_free(&((sw_im_parts *)state)->local); }

static sw_rc take_gspmd_part(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done) {
  (void)row;
  return sw_im_local_part(m, op, done);
}

/* --- the mesh that nobody declares -------------------------------------------------------------------------------- */

/* "2,4]" as axes, those of size 1 left out; the place behind it, NULL: it is no such list. */
static const char *read_tile_sizes(const char *at, sw_mesh *out) {
  *out = (sw_mesh){0};
  for (;;) {
    char *end;
    const long long size = strtoll(at, &end, 10);
    if (end == at || size < 1 || size > SW_MAX_DEVICES || out->n_axes == SW_MAX_AXES) return NULL;
    if (size > 1) {
      snprintf(out->axis[out->n_axes].name, SW_AXIS_NAME_BYTES, "a%d", out->n_axes);
      out->axis[out->n_axes++].size = size;
    }
    at = end + 1;
    if (*end == ']') return at;
    if (*end != ',') return NULL;
  }
}

/* Of as many devices as the module says it is for, with the axes of the tiles that have most. */
static sw_rc own_mesh(sw_importer *m, bool *known) {
  int64_t devices;
  sw_mesh tiles, order;
  if (*known || m->cut || m->own_mesh.n_axes || !sw_im_module_number(m, "mhlo.num_partitions", &devices) || devices < 2)
    return SW_OK;
  for (const char *at = strstr(m->t->s, "{devices=["); at; at = strstr(at, "{devices=[")) {
    at += strlen("{devices=[");
    const char *end = read_tile_sizes(at, &tiles);
    if (!end) continue;
    const bool in_order = strncmp(end, "<=[", 3) == 0;
    const char *turned = in_order ? read_tile_sizes(end + 3, &order) : NULL;
    if (turned && *turned == 'T') tiles = order;
    if (turned && sw_mesh_devices(&tiles) == devices && tiles.n_axes > m->own_mesh.n_axes) m->own_mesh = tiles;
  }
  return SW_OK;
}

static const sw_dialect_hooks kHooks = {.state_bytes = sizeof(sw_im_parts),
                                        .inherited_bytes = offsetof(sw_im_parts, local),
                                        .own_mesh = own_mesh,
                                        .open = open_gspmd,
                                        .close = close_parts,
                                        .take_unread = sw_im_part_at,
                                        .take = take_gspmd_part,
                                        .read_sharding = read_tile_sharding,
                                        .annotate = annotate_from_gspmd};
const sw_dialect sw_dialect_gspmd = {"gspmd", NULL, 0, SW_IR_ROWS(kCalls), &kHooks};
