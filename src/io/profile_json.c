/* Hardware profiles from JSON: docs/profiles.md describes the format, docs/profile.schema.json states it.
 *
 * One small reader per object, each checking its own keys. Every object that holds numbers names where they are from:
 * its "source" must be a key of the file's "sources".
 */
#include "shardwright/profile_json.h"

#include <dirent.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/json_tree.h"
#include "io/profile_set.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "shardwright/kernel.h"

enum { VERSION = 1 };
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))
#define HUGE_RATE 1e30 /* per second; beyond any hardware, far from overflow */

typedef struct reader {
  sw_arena *arena;
  const sw_json *sources;
  sw_profile *p;
  sw_diag *d;
} reader;

static sw_rc keep_text(reader *r, const char *text, const char **out) {
  *out = sw_arena_strndup(r->arena, text, strlen(text), r->d);
  return *out ? SW_OK : SW_E_RESOURCE;
}

static sw_rc text_member(reader *r, const sw_json *v, const char *key, const char **out) {
  const char *text;
  SW_TRY(sw_json_string(v, key, &text, r->d));
  return keep_text(r, text, out);
}

static sw_rc opt_text_member(reader *r, const sw_json *v, const char *key, const char **out) {
  return sw_json_find(v, key) ? text_member(r, v, key, out) : SW_OK;
}

static sw_rc check_source(reader *r, const sw_json *v) {
  const sw_json *source;
  const char *id;
  SW_TRY(sw_json_member(v, "source", &source, r->d));
  SW_TRY(sw_json_as_string(source, &id, r->d));
  if (sw_json_find(r->sources, id)) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_json_span(source), "source '%.60s' is not among the file's sources", id);
}

/* A rate in bytes per second as seconds per byte. */
static sw_rc slope_member(reader *r, const sw_json *v, const char *key, double *out) {
  double rate;
  SW_TRY(sw_json_f64(v, key, 1e-9, HUGE_RATE, &rate, r->d));
  *out = 1 / rate;
  return SW_OK;
}

static sw_rc opt_slope_member(reader *r, const sw_json *v, const char *key, double *out) {
  return sw_json_find(v, key) ? slope_member(r, v, key, out) : SW_OK;
}

/* A byte count written as 80000000000 or 8e10. */
static sw_rc bytes_member(reader *r, const sw_json *v, const char *key, int64_t *out) {
  double x;
  SW_TRY(sw_json_f64(v, key, 0, 9e15, &x, r->d));
  *out = (int64_t)x;
  return SW_OK;
}

static sw_rc read_memory(reader *r, const sw_json *v) {
  static const char *const keys[] = {"bytes", "reserved_bytes", "bytes_per_s", "source"};
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'memory'", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(bytes_member(r, v, "bytes", &r->p->memory_bytes));
  SW_TRY(bytes_member(r, v, "reserved_bytes", &r->p->memory_reserved_bytes));
  return sw_json_f64(v, "bytes_per_s", 1, HUGE_RATE, &r->p->memory_bytes_per_s, r->d);
}

static sw_rc read_flops(reader *r, const sw_json *v) {
  bool stated[SW_DTYPE_COUNT] = {false};
  SW_TRY(check_source(r, v));
  for (int i = 0; i < v->n; i++) {
    sw_dtype t;
    if (!strcmp(v->at[i].key, "source")) continue;
    if (!sw_dtype_parse(v->at[i].key, &t))
      return SW_FAIL_INPUT(r->d, sw_json_key_span(&v->at[i]), "'%.60s' is not a dtype", v->at[i].key);
    SW_TRY(sw_json_as_f64(&v->at[i], 1, HUGE_RATE, &r->p->flop_per_s[t], r->d));
    stated[t] = true;
  }
  if (!stated[SW_F32]) return SW_FAIL_INPUT(r->d, sw_json_span(v), "missing key 'f32'");
  sw_profile_complete_flops(r->p, stated);
  return SW_OK;
}

static sw_rc read_achieved(reader *r, const sw_json *v) {
  static const char *const keys[] = {"flop_fraction", "flop_fraction_8bit", "memory_fraction", "launch_s", "source"};
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'achieved'", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(sw_json_f64(v, "flop_fraction", 1e-6, 1, &r->p->flop_fraction, r->d));
  r->p->flop_fraction_8bit = r->p->flop_fraction;
  SW_TRY(sw_json_opt_f64(v, "flop_fraction_8bit", 1e-6, 1, &r->p->flop_fraction_8bit, r->d));
  SW_TRY(sw_json_f64(v, "memory_fraction", 1e-6, 1, &r->p->memory_fraction, r->d));
  return sw_json_f64(v, "launch_s", 0, 1, &r->p->launch_s, r->d);
}

static sw_rc read_shared(reader *r, const sw_json *v) {
  static const char *const keys[] = {"cores", "source"};
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'shared'", r->d));
  SW_TRY(check_source(r, v));
  return sw_json_i64(v, "cores", 1, SW_MAX_DEVICES, &r->p->shared_cores, r->d);
}

static sw_rc read_kernel(reader *r, const sw_json *v, sw_priced_kernel k) {
  const char *keys[SW_KERNEL_CONSTANT_COUNT + 2] = {"library", "source"};
  sw_kernel_price *price = &r->p->kernel[k];
  const uint32_t has = sw_priced_kernel_constants(k);
  int n = 2;
  for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++)
    if (has >> c & 1) keys[n++] = sw_kernel_constant_text((sw_kernel_constant)c);
  SW_TRY(sw_json_only(v, keys, n, "a kernel", r->d));
  SW_TRY(check_source(r, v));
  if (sw_json_find(v, "library")) SW_TRY(text_member(r, v, "library", &price->library));
  price->known = true;
  for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++)
    if (has >> c & 1)
      SW_TRY(sw_json_f64(v, sw_kernel_constant_text((sw_kernel_constant)c), 0, 1e9, &price->v[c], r->d));
  return SW_OK;
}

static sw_rc read_kernels(reader *r, const sw_json *v) {
  const char *keys[SW_PRICED_COUNT + 2] = {"multiprocessors", "source"};
  for (int k = 0; k < SW_PRICED_COUNT; k++) keys[k + 2] = sw_priced_kernel_text((sw_priced_kernel)k);
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'kernels'", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(sw_json_f64(v, "multiprocessors", 1, 1e6, &r->p->multiprocessors, r->d));
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    const sw_json *part = NULL;
    SW_TRY(sw_json_opt_object(v, keys[k + 2], &part, r->d));
    if (part) SW_TRY(read_kernel(r, part, (sw_priced_kernel)k));
  }
  return SW_OK;
}

static sw_rc read_device(reader *r, const sw_json *v) {
  static const char *const keys[] = {"name", "memory", "flop_per_s", "achieved", "kernels", "shared"};
  const sw_json *part;
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'device'", r->d));
  SW_TRY(text_member(r, v, "name", &r->p->device_name));
  SW_TRY(sw_json_object(v, "memory", &part, r->d));
  SW_TRY(read_memory(r, part));
  SW_TRY(sw_json_object(v, "flop_per_s", &part, r->d));
  SW_TRY(read_flops(r, part));
  SW_TRY(sw_json_object(v, "achieved", &part, r->d));
  SW_TRY(read_achieved(r, part));
  part = NULL;
  SW_TRY(sw_json_opt_object(v, "kernels", &part, r->d));
  if (part) SW_TRY(read_kernels(r, part));
  part = NULL;
  SW_TRY(sw_json_opt_object(v, "shared", &part, r->d));
  return part ? read_shared(r, part) : SW_OK;
}

static sw_rc read_in_network(reader *r, const sw_json *v, sw_cost_line *line) {
  static const char *const keys[] = {"min_members", "bytes_per_s", "source"};
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'in_network'", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(sw_json_i64(v, "min_members", 2, SW_MAX_DEVICES, &line->in_network_min, r->d));
  return slope_member(r, v, "bytes_per_s", &line->in_network_s_per_byte);
}

static sw_rc read_logs(reader *r, const sw_json *v, const char *key, double min, double max, int cap, double *out,
                       int *n) {
  const sw_json *list;
  SW_TRY(sw_json_array(v, key, &list, r->d));
  if (list->n < 1 || list->n > cap)
    return SW_FAIL_INPUT(r->d, sw_json_span(list), "'%s' has %d elements; expected 1 to %d", key, list->n, cap);
  for (int i = 0; i < list->n; i++) {
    double x;
    SW_TRY(sw_json_as_f64(&list->at[i], min, max, &x, r->d));
    out[i] = log(x);
    if (i > 0 && out[i] <= out[i - 1])
      return SW_FAIL_INPUT(r->d, sw_json_span(&list->at[i]), "'%s' does not ascend", key);
  }
  *n = list->n;
  return SW_OK;
}

static sw_rc read_factors(reader *r, const sw_json *list, int n, double *out) {
  SW_TRY(sw_json_expect(list, SW_JSON_ARRAY, r->d));
  if (list->n != n)
    return SW_FAIL_INPUT(r->d, sw_json_span(list), "%d factors; expected one for each of %d sizes", list->n, n);
  for (int j = 0; j < n; j++) SW_TRY(sw_json_as_f64(&list->at[j], -SW_MAX_LN_FACTOR, SW_MAX_LN_FACTOR, &out[j], r->d));
  return SW_OK;
}

static sw_rc read_knots(reader *r, const sw_json *v, sw_cost_line *line) {
  static const char *const keys[] = {"members", "bytes", "ln_factor", "source"};
  const sw_json *rows;
  sw_cost_knots *k;
  SW_ARENA_NEW(k, r->arena, 1, r->d);
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'knots'", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(read_logs(r, v, "members", 2, SW_MAX_DEVICES, SW_MAX_KNOT_MEMBERS, k->ln_members, &k->n_members));
  SW_TRY(read_logs(r, v, "bytes", 1, 9e15, SW_MAX_KNOT_SIZES, k->ln_bytes, &k->n_sizes));
  SW_TRY(sw_json_array(v, "ln_factor", &rows, r->d));
  if (rows->n != k->n_members)
    return SW_FAIL_INPUT(r->d, sw_json_span(rows), "'ln_factor' has %d elements; 'members' has %d", rows->n,
                         k->n_members);
  for (int i = 0; i < rows->n; i++) SW_TRY(read_factors(r, &rows->at[i], k->n_sizes, k->ln_factor[i]));
  line->knots = k;
  return SW_OK;
}

static sw_rc read_line(reader *r, const sw_json *v, sw_cost_line *line) {
  static const char *const keys[] = {
      "base_s", "peer_s", "ramp_s_per_sqrt_byte", "bytes_per_s", "pair_bytes_per_s", "in_network", "knots", "source"};
  const sw_json *in_network = NULL, *knots = NULL;
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "a cost", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(sw_json_f64(v, "base_s", 0, 1e9, &line->base_s, r->d));
  SW_TRY(sw_json_opt_f64(v, "peer_s", 0, 1e9, &line->peer_s, r->d));
  SW_TRY(sw_json_opt_f64(v, "ramp_s_per_sqrt_byte", 0, 1e9, &line->ramp_s_per_sqrt_byte, r->d));
  SW_TRY(slope_member(r, v, "bytes_per_s", &line->s_per_byte));
  SW_TRY(opt_slope_member(r, v, "pair_bytes_per_s", &line->pair_s_per_byte));
  SW_TRY(sw_json_opt_object(v, "in_network", &in_network, r->d));
  if (in_network) SW_TRY(read_in_network(r, in_network, line));
  SW_TRY(sw_json_opt_object(v, "knots", &knots, r->d));
  return knots ? read_knots(r, knots, line) : SW_OK;
}

/* "reduce_scatter": "all_gather" takes the constants of a class that the file spells out. */
static sw_rc read_alias(reader *r, const sw_json *costs, const sw_json *v, sw_cost_line *line) {
  const sw_json *other = sw_json_find(costs, v->text);
  if (!other || other->kind != SW_JSON_OBJECT)
    return SW_FAIL_INPUT(r->d, sw_json_span(v),
                         "'%s' is '%.60s'; expected an object, or the name of a cost that is one", v->key, v->text);
  return read_line(r, other, line);
}

static sw_rc read_costs(reader *r, const sw_json *v, sw_level *level) {
  const char *keys[SW_COST_CLASS_COUNT];
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) keys[c] = sw_cost_class_text((sw_cost_class)c);
  SW_TRY(sw_json_only(v, keys, SW_COST_CLASS_COUNT, "'costs'", r->d));
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) {
    const sw_json *line;
    SW_TRY(sw_json_member(v, keys[c], &line, r->d));
    if (line->kind == SW_JSON_STRING)
      SW_TRY(read_alias(r, v, line, &level->line[c]));
    else
      SW_TRY_NOTE(r->d, read_line(r, line, &level->line[c]), "in the cost of %s", keys[c]);
  }
  return SW_OK;
}

static sw_rc read_torus(reader *r, const sw_json *v, sw_level *level) {
  const sw_json *shape, *wrap;
  SW_TRY(sw_json_array(v, "shape", &shape, r->d));
  SW_TRY(sw_json_i64_list(shape, 1, SW_MAX_DEVICES, level->dims, SW_MAX_TORUS_DIMS, &level->n_dims, r->d));
  SW_TRY(sw_json_array(v, "wrap", &wrap, r->d));
  if (level->n_dims < 1 || wrap->n != level->n_dims)
    return SW_FAIL_INPUT(r->d, sw_json_span(wrap), "'wrap' has %d elements; 'shape' has %d", wrap->n, level->n_dims);
  for (int i = 0; i < wrap->n; i++) SW_TRY(sw_json_as_bool(&wrap->at[i], &level->wrap[i], r->d));
  return SW_OK;
}

/* A number, or "any". */
static sw_rc read_size(reader *r, const sw_json *v, sw_level *level) {
  static const char *const any[] = {"any"};
  const sw_json *size;
  int word;
  SW_TRY(sw_json_member(v, "size", &size, r->d));
  level->dims[0] = 1;
  level->open = size->kind == SW_JSON_STRING;
  return level->open ? sw_json_word(size, any, COUNT(any), &word, r->d)
                     : sw_json_i64(v, "size", 1, SW_MAX_DEVICES, &level->dims[0], r->d);
}

static sw_rc read_overlap(reader *r, const sw_json *v, sw_level *level) {
  static const char *const keys[] = {"serial_fraction", "source"};
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'overlap'", r->d));
  SW_TRY(check_source(r, v));
  return sw_json_f64(v, "serial_fraction", 0, 1, &level->serial_fraction, r->d);
}

static sw_rc read_level(reader *r, const sw_json *v, sw_level *level) {
  static const char *const square[] = {"name", "topology", "size", "overlap", "costs", "source"};
  static const char *const torus[] = {"name", "topology", "shape", "wrap", "overlap", "costs", "source"};
  const char *kinds[SW_TOPOLOGY_COUNT];
  const sw_json *part = NULL;
  int kind;
  for (int i = 0; i < SW_TOPOLOGY_COUNT; i++) kinds[i] = sw_topology_text((sw_topology)i);
  SW_TRY(sw_json_member(v, "topology", &part, r->d));
  SW_TRY(sw_json_word(part, kinds, SW_TOPOLOGY_COUNT, &kind, r->d));
  level->kind = (sw_topology)kind;
  bool is_torus = kind == SW_TOPOLOGY_TORUS;
  SW_TRY(sw_json_only(v, is_torus ? torus : square, is_torus ? COUNT(torus) : COUNT(square), "a level", r->d));
  SW_TRY(check_source(r, v));
  SW_TRY(text_member(r, v, "name", &level->name));
  level->n_dims = 1;
  SW_TRY(is_torus ? read_torus(r, v, level) : read_size(r, v, level));
  part = NULL;
  SW_TRY(sw_json_opt_object(v, "overlap", &part, r->d));
  if (part) SW_TRY(read_overlap(r, part, level));
  SW_TRY(sw_json_object(v, "costs", &part, r->d));
  SW_TRY_NOTE(r->d, read_costs(r, part, level), "in level '%.60s'", level->name);
  return SW_OK;
}

static sw_rc read_levels(reader *r, const sw_json *v) {
  if (v->n < 1 || v->n > SW_MAX_LEVELS)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "'levels' has %d elements; expected 1 to %d", v->n, SW_MAX_LEVELS);
  for (int i = 0; i < v->n; i++) SW_TRY(read_level(r, &v->at[i], &r->p->level[i]));
  r->p->n_levels = v->n;
  return SW_OK;
}

static sw_rc read_meshes(reader *r, const sw_json *v) {
  if (v->n < 1 || v->n > SW_MAX_PROFILE_MESHES)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "'meshes' has %d elements; expected 1 to %d", v->n,
                         SW_MAX_PROFILE_MESHES);
  for (int i = 0; i < v->n; i++) {
    const char *text;
    sw_diag inner = {0};
    SW_TRY(sw_json_as_string(&v->at[i], &text, r->d));
    if (sw_mesh_parse(text, r->arena, &r->p->mesh[i], &inner))
      return SW_FAIL(r->d, inner.rc, sw_json_span(&v->at[i]), "%s", inner.text);
  }
  r->p->n_meshes = v->n;
  return SW_OK;
}

static sw_rc read_measured(reader *r, const sw_json *v) {
  static const char *const keys[] = {"hardware", "source", "nodes", "library"};
  if (v->n > SW_MAX_MEASURED)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "'measured' has %d elements; expected at most %d", v->n,
                         SW_MAX_MEASURED);
  for (int i = 0; i < v->n; i++) {
    sw_measured *m = &r->p->measured[i];
    SW_TRY(sw_json_only(&v->at[i], keys, COUNT(keys), "an element of 'measured'", r->d));
    SW_TRY(text_member(r, &v->at[i], "hardware", &m->hardware));
    SW_TRY(text_member(r, &v->at[i], "source", &m->source));
    SW_TRY(opt_text_member(r, &v->at[i], "library", &m->library));
    SW_TRY(sw_json_i64(&v->at[i], "nodes", 1, SW_MAX_DEVICES, &m->nodes, r->d));
  }
  r->p->n_measured = v->n;
  return SW_OK;
}

static sw_rc read_exchange(reader *r, const sw_json *v) {
  static const char *const keys[] = {"peer_s", "source"};
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "'exchange'", r->d));
  SW_TRY(check_source(r, v));
  return sw_json_f64(v, "peer_s", 0, 1e9, &r->p->exchange_peer_s, r->d);
}

static sw_rc read_compiler(reader *r, const sw_json *v) {
  const sw_json *name = sw_json_find(v, "compiler");
  if (!name) return SW_OK;
  SW_TRY(text_member(r, v, "compiler", &r->p->compiler));
  if (sw_compiler_is_known(r->p->compiler)) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_json_span(name), "'compiler' is '%.60s'; expected one of " SW_COMPILERS,
                       r->p->compiler);
}

static sw_rc read_head(reader *r, const sw_json *v) {
  static const char *const keys[] = {"format",   "version", "name",   "description", "sources",  "device",
                                     "exchange", "levels",  "meshes", "measured",    "compiler", "library"};
  const char *format;
  int64_t version;
  SW_TRY(sw_json_only(v, keys, COUNT(keys), "a hardware profile", r->d));
  SW_TRY(sw_json_string(v, "format", &format, r->d));
  if (strcmp(format, "shardwright.profile"))
    return SW_FAIL_INPUT(r->d, sw_json_span(sw_json_find(v, "format")),
                         "'format' is '%.60s'; expected 'shardwright.profile'", format);
  SW_TRY(sw_json_i64(v, "version", VERSION, VERSION, &version, r->d));
  SW_TRY(sw_json_object(v, "sources", &r->sources, r->d));
  SW_TRY(text_member(r, v, "name", &r->p->name));
  SW_TRY(read_compiler(r, v));
  SW_TRY(opt_text_member(r, v, "library", &r->p->library));
  return text_member(r, v, "description", &r->p->description);
}

static sw_rc read_profile(reader *r, const sw_json *v) {
  const sw_json *part, *measured = NULL;
  SW_TRY(read_head(r, v));
  SW_TRY(sw_json_object(v, "device", &part, r->d));
  SW_TRY(read_device(r, part));
  SW_TRY(sw_json_object(v, "exchange", &part, r->d));
  SW_TRY(read_exchange(r, part));
  SW_TRY(sw_json_array(v, "levels", &part, r->d));
  SW_TRY(read_levels(r, part));
  SW_TRY(sw_json_array(v, "meshes", &part, r->d));
  SW_TRY(read_meshes(r, part));
  SW_TRY(sw_json_opt_array(v, "measured", &measured, r->d));
  return measured ? read_measured(r, measured) : SW_OK;
}

/* The profile is another one by its name and hash, too. */
static sw_rc sign_changes(sw_profile *p, const char *const *changes, int n, sw_arena *arena, sw_diag *d) {
  for (int i = 0; i < n; i++) {
    p->name = sw_arena_printf(arena, d, "%s%s%s", p->name, i ? ", " : SW_PROFILE_CHANGED, changes[i]);
    if (!p->name) return SW_E_RESOURCE;
    p->hash = sw_hash_bytes(changes[i], strlen(changes[i]), p->hash);
  }
  return SW_OK;
}

static sw_rc parse_changed(const char *file, const char *bytes, size_t n, const char *const *changes, int n_changes,
                           sw_arena *arena, const sw_profile **out, sw_diag *d) {
  sw_arena tree = {0};
  const sw_json *v;
  sw_profile *p;
  SW_ARENA_NEW(p, arena, 1, d);
  reader r = {.arena = arena, .p = p, .d = d};
  sw_rc rc = sw_json_parse(file, bytes, n, &tree, &v, d);
  if (!rc && n_changes) rc = sw_profile_set(v, changes, n_changes, &tree, d);
  const bool set = !rc && n_changes;
  if (!rc) rc = read_profile(&r, v);
  if (!rc) {
    sw_diag inner = {0};
    rc = sw_profile_verify(p, &inner);
    if (rc) SW_FAIL(d, rc, ((sw_span){file, 1, 1}), "%s", inner.text);
  }
  if (rc == SW_E_INPUT && set) sw_diag_note(d, "with the numbers that --hw-set changes");
  sw_arena_deinit(&tree);
  p->hash = sw_hash_bytes(bytes, n, 0);
  if (!rc) rc = sign_changes(p, changes, n_changes, arena, d);
  *out = p;
  return rc;
}

sw_rc sw_profile_parse(const char *file, const char *bytes, size_t n, sw_arena *arena, const sw_profile **out,
                       sw_diag *d) {
  return parse_changed(file, bytes, n, NULL, 0, arena, out, d);
}

typedef SW_ARRAY(const char *) name_list;

static sw_rc add_name(name_list *names, const char *file, sw_arena *arena, sw_diag *d) {
  size_t n = strlen(file);
  if (n <= 5 || strcmp(file + n - 5, ".json")) return SW_OK;
  const char *name = sw_arena_strndup(arena, file, n - 5, d);
  if (!name) return SW_E_RESOURCE;
  return sw_array_push(names, name, d);
}

static int by_text(const void *a, const void *b) { return strcmp(*(const char *const *)a, *(const char *const *)b); }

sw_rc sw_profile_names(sw_arena *arena, const char *const **out, int *n, sw_diag *d) {
  const char *folder;
  SW_TRY(sw_data_file("hwprofiles", ".", arena, &folder, d));
  DIR *dir = opendir(folder);
  if (!dir) return SW_FAIL_INPUT(d, ((sw_span){folder, 0, 0}), "cannot list the folder of hardware profiles");
  name_list names = {0};
  struct dirent *e;
  sw_rc rc = SW_OK;
  while (!rc && (e = readdir(dir))) rc = add_name(&names, e->d_name, arena, d);
  closedir(dir);
  if (!rc && names.n) {
    qsort(names.at, names.n, sizeof *names.at, by_text);
    *out = sw_arena_copy(arena, names.at, names.n, sizeof *names.at, d);
    if (!*out) rc = SW_E_RESOURCE;
  }
  *n = (int)names.n;
  sw_array_free(&names);
  return rc;
}

/* Of a name that no profile has: the nearest, and all. */
static sw_rc unknown_profile(const char *name, sw_arena *scratch, sw_diag *d) {
  const char *const *names;
  int n;
  sw_nearest near = {.wanted = name};
  sw_text all = {0};
  sw_diag inner = {0};
  if (sw_profile_names(scratch, &names, &n, &inner)) return SW_E_INPUT; /* sw_data_file has said what is not there */
  for (int i = 0; i < n; i++) {
    sw_nearest_offer(&near, names[i]);
    sw_text_printf(&all, "%s%s", i ? ", " : "", names[i]);
  }
  if (d) *d = (sw_diag){0};
  sw_rc rc = SW_FAIL_INPUT(d, SW_NOWHERE, "no hardware profile '%.60s'%s (known: %s)", name, sw_nearest_hint(&near),
                           sw_text_str(&all));
  sw_diag_note(d, "a file needs a '/' or ends in .json; `shardwright calibrate` makes one");
  sw_text_free(&all);
  return rc;
}

static sw_rc find_profile(const char *name, sw_arena *scratch, const char **out, sw_diag *d) {
  const char *file = sw_arena_printf(scratch, d, "%s.json", name);
  if (!file) return SW_E_RESOURCE;
  sw_rc rc = sw_data_file("hwprofiles", file, scratch, out, d);
  return rc == SW_E_INPUT ? unknown_profile(name, scratch, d) : rc;
}

static bool looks_like_path(const char *s) {
  size_t n = strlen(s);
  return !strcmp(s, "-") || strchr(s, '/') || (n > 5 && !strcmp(s + n - 5, ".json"));
}

sw_rc sw_profile_read_changed(const char *path_or_name, const char *const *changes, int n_changes, sw_arena *arena,
                              const sw_profile **out, sw_diag *d) {
  sw_arena scratch = {0};
  const char *path = path_or_name;
  char *bytes = NULL;
  size_t n = 0;
  sw_rc rc = SW_OK;
  if (!looks_like_path(path_or_name)) rc = find_profile(path_or_name, &scratch, &path, d);
  if (!rc) rc = sw_file_read_text(path, &bytes, &n, d);
  if (!rc) rc = parse_changed(strcmp(path, "-") ? path : "<stdin>", bytes, n, changes, n_changes, arena, out, d);
  sw_mem_free(bytes);
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_profile_read(const char *path_or_name, sw_arena *arena, const sw_profile **out, sw_diag *d) {
  return sw_profile_read_changed(path_or_name, NULL, 0, arena, out, d);
}

void sw_profile_note_fitting(const sw_mesh *mesh, sw_diag *d) {
  enum { MOST = 8 };
  sw_arena arena = {0};
  sw_text t = {0};
  const char *const *names;
  int n = 0, fit = 0;
  if (sw_profile_names(&arena, &names, &n, NULL)) n = 0;
  for (int i = 0; i < n; i++) {
    const sw_profile *p;
    sw_machine *m;
    if (sw_profile_read(names[i], &arena, &p, NULL) || sw_machine_build(&arena, p, mesh, &m, NULL)) continue;
    if (fit++ < MOST) sw_text_printf(&t, "%s%s", fit > 1 ? ", " : "", names[i]);
  }
  if (fit > MOST) sw_text_printf(&t, " and %d more", fit - MOST);
  if (fit) sw_diag_note(d, "profiles on which this mesh fits: %s", sw_text_str(&t));
  sw_text_free(&t);
  sw_arena_deinit(&arena);
}
