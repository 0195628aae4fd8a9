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
#include "io/profile_plausible.h"
#include "io/profile_set.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/nearest.h"
#include "shardwright/kernel.h"

enum { VERSION = 1 };
#define COUNT(a) ((int)(sizeof(a) / sizeof(a)[0]))
#define HUGE_RATE 1e30 /* per second; beyond any hardware, far from overflow */

enum { MOST_ERRORS = 20 };

typedef struct reader {
  sw_arena *arena;
  const sw_json *sources;
  sw_profile *p;
  sw_diag *d;
  SW_ARRAY(sw_diag) errors;
  const char *level, *cost; /* where reading is; NULL: in none */
} reader;

/* Of a cost that other classes name, an error is kept once. */
static sw_rc keep_error(reader *r, const sw_diag *wrong) {
  for (size_t i = 0; i < r->errors.n; i++) {
    const sw_diag *e = &r->errors.at[i];
    if (e->line == wrong->line && e->col == wrong->col && strcmp(e->text, wrong->text) == 0) return SW_OK;
  }
  return sw_array_push(&r->errors, *wrong, r->d);
}

/* What is wrong in one place hides nothing that is wrong in others: it is kept, and reading goes on. */
static sw_rc past(reader *r, sw_rc rc) {
  if (rc != SW_E_INPUT) return rc;
  if (r->cost) sw_diag_note(r->d, "in the cost of %s", r->cost);
  if (r->level) sw_diag_note(r->d, "in level '%.60s'", r->level);
  const sw_diag wrong = *r->d;
  *r->d = (sw_diag){0};
  return keep_error(r, &wrong);
}

#define PAST(r, expr) SW_TRY(past(r, expr))

typedef sw_rc part_reader(reader *r, const sw_json *v);

/* The object or array under a key by its reader. */
static sw_rc read_profile_part(reader *r, const sw_json *v, const char *key, sw_json_kind kind, part_reader *read) {
  const sw_json *part = NULL;
  PAST(r, sw_json_member(v, key, &part, r->d));
  if (!part) return SW_OK;
  const size_t before = r->errors.n;
  PAST(r, sw_json_expect(part, kind, r->d));
  return r->errors.n > before ? SW_OK : past(r, read(r, part));
}

static sw_rc read_optional(reader *r, const sw_json *v, const char *key, sw_json_kind kind, part_reader *read) {
  return sw_json_find(v, key) ? read_profile_part(r, v, key, kind, read) : SW_OK;
}

/* Every key that is none of these. */
static sw_rc check_profile_keys(reader *r, const sw_json *v, const char *const *keys, int n, const char *what) {
  for (int i = 0; i < v->n; i++) PAST(r, sw_json_check_key(&v->at[i], keys, n, what, r->d));
  return SW_OK;
}

static sw_rc text_member(reader *r, const sw_json *v, const char *key, const char **out) {
  const char *text;
  SW_TRY(sw_json_string(v, key, &text, r->d));
  return sw_arena_keep(r->arena, text, out, r->d);
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

/* `reserved` NULL: it is not said there. */
static sw_rc read_memory_of(reader *r, const sw_json *v, int64_t *bytes, int64_t *reserved, double *bytes_per_s) {
  static const char *const keys[] = {"bytes", "bytes_per_s", "source", "reserved_bytes"};
  SW_TRY(check_profile_keys(r, v, keys, reserved ? COUNT(keys) : COUNT(keys) - 1, "'memory'"));
  PAST(r, check_source(r, v));
  PAST(r, bytes_member(r, v, "bytes", bytes));
  if (reserved) PAST(r, bytes_member(r, v, "reserved_bytes", reserved));
  return sw_json_f64(v, "bytes_per_s", 1, HUGE_RATE, bytes_per_s, r->d);
}

static sw_rc read_memory(reader *r, const sw_json *v) {
  sw_profile *p = r->p;
  return read_memory_of(r, v, &p->memory_bytes, &p->memory_reserved_bytes, &p->memory_bytes_per_s);
}

static sw_rc read_rate_of(reader *r, const sw_json *v, bool *stated) {
  sw_dtype t;
  for (int k = SW_PRECISION_HIGH; k < SW_PRECISION_COUNT; k++)
    if (strcmp(v->key, sw_precision_rate_text((sw_precision)k)) == 0)
      return sw_json_as_f64(v, 1, HUGE_RATE, &r->p->f32_per_s[k], r->d);
  if (!sw_dtype_parse(v->key, &t)) return SW_FAIL_INPUT(r->d, sw_json_key_span(v), "'%.60s' is not a dtype", v->key);
  stated[t] = true;
  return sw_json_as_f64(v, 1, HUGE_RATE, &r->p->flop_per_s[t], r->d);
}

static sw_rc read_flops(reader *r, const sw_json *v) {
  bool stated[SW_DTYPE_COUNT] = {false};
  PAST(r, check_source(r, v));
  for (int i = 0; i < v->n; i++)
    if (strcmp(v->at[i].key, "source") != 0) PAST(r, read_rate_of(r, &v->at[i], stated));
  if (!stated[SW_F32]) return SW_FAIL_INPUT(r->d, sw_json_span(v), "missing key 'f32'");
  sw_profile_complete_flops(r->p, stated);
  return SW_OK;
}

static sw_rc read_achieved(reader *r, const sw_json *v) {
  static const char *const keys[] = {"flop_fraction", "flop_fraction_8bit", "memory_fraction",
                                     "launch_s",      "contention",         "source"};
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'achieved'"));
  PAST(r, check_source(r, v));
  PAST(r, sw_json_f64(v, "flop_fraction", 1e-6, 1, &r->p->flop_fraction, r->d));
  r->p->flop_fraction_8bit = r->p->flop_fraction;
  PAST(r, sw_json_opt_f64(v, "flop_fraction_8bit", 1e-6, 1, &r->p->flop_fraction_8bit, r->d));
  PAST(r, sw_json_f64(v, "memory_fraction", 1e-6, 1, &r->p->memory_fraction, r->d));
  PAST(r, sw_json_opt_f64(v, "contention", 1, 100, &r->p->contention, r->d));
  return sw_json_f64(v, "launch_s", 0, 1, &r->p->launch_s, r->d);
}

static sw_rc read_host_link(reader *r, const sw_json *v) {
  static const char *const keys[] = {"bytes_per_s", "devices", "memory_bytes", "source"};
  int64_t devices = 1;
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'host_link'"));
  PAST(r, check_source(r, v));
  PAST(r, sw_json_f64(v, "bytes_per_s", 1, HUGE_RATE, &r->p->host_bytes_per_s, r->d));
  PAST(r, sw_json_opt_i64(v, "devices", 1, SW_MAX_DEVICES, &devices, r->d));
  r->p->host_bytes_per_s /= (double)devices;
  return bytes_member(r, v, "memory_bytes", &r->p->host_memory_bytes);
}

static sw_rc read_shared_cores(reader *r, const sw_json *v) {
  static const char *const keys[] = {"cores", "source"};
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'shared'"));
  PAST(r, check_source(r, v));
  return sw_json_i64(v, "cores", 1, SW_MAX_DEVICES, &r->p->shared_cores, r->d);
}

static sw_rc read_kernel(reader *r, const sw_json *v, sw_priced_kernel k, sw_kernel_price *price) {
  const char *keys[SW_KERNEL_CONSTANT_COUNT + 2] = {"library", "source"};
  const uint32_t has = sw_priced_kernel_constants(k);
  int n = 2;
  PAST(r, sw_json_expect(v, SW_JSON_OBJECT, r->d));
  for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++)
    if (has >> c & 1) keys[n++] = sw_kernel_constant_text((sw_kernel_constant)c);
  SW_TRY(check_profile_keys(r, v, keys, n, "a kernel"));
  PAST(r, check_source(r, v));
  PAST(r, opt_text_member(r, v, "library", &price->library));
  price->known = true;
  for (int c = 0; c < SW_KERNEL_CONSTANT_COUNT; c++) {
    const char *key = sw_kernel_constant_text((sw_kernel_constant)c);
    if (!(has >> c & 1)) continue;
    price->v[c] = c == SW_KERNEL_AGAIN ? SW_KERNEL_AGAIN_UNSAID : 0;
    PAST(r, (c == SW_KERNEL_AGAIN ? sw_json_opt_f64 : sw_json_f64)(v, key, 0, 1e9, &price->v[c], r->d));
  }
  return SW_OK;
}

static sw_rc read_priced(reader *r, const sw_json *v, sw_kernel_price *kernels) {
  for (int k = 0; k < SW_PRICED_COUNT; k++) {
    const sw_json *part = sw_json_find(v, sw_priced_kernel_text((sw_priced_kernel)k));
    if (part) PAST(r, read_kernel(r, part, (sw_priced_kernel)k, &kernels[k]));
  }
  return SW_OK;
}

static sw_rc read_libraries(reader *r, const sw_json *v) {
  static const char *const keys[] = {"attention", "attention_grad", "decode"};
  if (v->n > SW_MAX_LIBRARIES)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "%d libraries; expected at most %d", v->n, SW_MAX_LIBRARIES);
  for (int i = 0; i < v->n; i++) {
    sw_library *l = &r->p->library_kernels[r->p->n_libraries++];
    SW_TRY(sw_json_expect(&v->at[i], SW_JSON_OBJECT, r->d));
    SW_TRY(check_profile_keys(r, &v->at[i], keys, COUNT(keys), "a library"));
    l->name = sw_arena_strndup(r->arena, v->at[i].key, strlen(v->at[i].key), r->d);
    if (!l->name) return SW_E_RESOURCE;
    SW_TRY(read_priced(r, &v->at[i], l->kernel));
  }
  return SW_OK;
}

static sw_rc read_kernels(reader *r, const sw_json *v) {
  const char *keys[SW_PRICED_COUNT + 3] = {"multiprocessors", "source", "libraries"};
  for (int k = 0; k < SW_PRICED_COUNT; k++) keys[k + 3] = sw_priced_kernel_text((sw_priced_kernel)k);
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'kernels'"));
  PAST(r, check_source(r, v));
  PAST(r, sw_json_f64(v, "multiprocessors", 1, 1e6, &r->p->multiprocessors, r->d));
  SW_TRY(read_priced(r, v, r->p->kernel));
  return read_optional(r, v, "libraries", SW_JSON_OBJECT, read_libraries);
}

static sw_rc read_device(reader *r, const sw_json *v) {
  static const char *const keys[] = {"name", "memory", "flop_per_s", "achieved", "kernels", "host_link", "shared"};
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'device'"));
  PAST(r, text_member(r, v, "name", &r->p->device_name));
  SW_TRY(read_profile_part(r, v, "memory", SW_JSON_OBJECT, read_memory));
  SW_TRY(read_profile_part(r, v, "flop_per_s", SW_JSON_OBJECT, read_flops));
  SW_TRY(read_profile_part(r, v, "achieved", SW_JSON_OBJECT, read_achieved));
  SW_TRY(read_optional(r, v, "kernels", SW_JSON_OBJECT, read_kernels));
  SW_TRY(read_optional(r, v, "host_link", SW_JSON_OBJECT, read_host_link));
  return read_optional(r, v, "shared", SW_JSON_OBJECT, read_shared_cores);
}

static sw_rc read_in_network(reader *r, const sw_json *v, sw_cost_line *line) {
  static const char *const keys[] = {"min_members", "bytes_per_s", "source"};
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'in_network'"));
  PAST(r, check_source(r, v));
  PAST(r, sw_json_i64(v, "min_members", 2, SW_MAX_DEVICES, &line->in_network_min, r->d));
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
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'knots'"));
  PAST(r, check_source(r, v));
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

static sw_rc read_cost_line(reader *r, const sw_json *v, sw_cost_line *line) {
  static const char *const keys[] = {
      "base_s", "peer_s", "ramp_s_per_sqrt_byte", "bytes_per_s", "pair_bytes_per_s", "in_network", "knots", "source"};
  const sw_json *in_network = NULL, *knots = NULL;
  SW_TRY(sw_json_expect(v, SW_JSON_OBJECT, r->d));
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "a cost"));
  PAST(r, check_source(r, v));
  PAST(r, sw_json_f64(v, "base_s", 0, 1e9, &line->base_s, r->d));
  PAST(r, sw_json_opt_f64(v, "peer_s", 0, 1e9, &line->peer_s, r->d));
  PAST(r, sw_json_opt_f64(v, "ramp_s_per_sqrt_byte", 0, 1e9, &line->ramp_s_per_sqrt_byte, r->d));
  PAST(r, slope_member(r, v, "bytes_per_s", &line->s_per_byte));
  PAST(r, opt_slope_member(r, v, "pair_bytes_per_s", &line->pair_s_per_byte));
  PAST(r, sw_json_opt_object(v, "in_network", &in_network, r->d));
  if (in_network) PAST(r, read_in_network(r, in_network, line));
  PAST(r, sw_json_opt_object(v, "knots", &knots, r->d));
  return knots ? read_knots(r, knots, line) : SW_OK;
}

/* "reduce_scatter": "all_gather" takes the constants of a class that the file spells out. */
static sw_rc read_alias(reader *r, const sw_json *costs, const sw_json *v, sw_cost_line *line) {
  const sw_json *other = sw_json_find(costs, v->text);
  if (!other || other->kind != SW_JSON_OBJECT)
    return SW_FAIL_INPUT(r->d, sw_json_span(v),
                         "'%s' is '%.60s'; expected an object, or the name of a cost that is one", v->key, v->text);
  return read_cost_line(r, other, line);
}

static sw_rc read_cost(reader *r, const sw_json *costs, const char *key, sw_cost_line *out) {
  const sw_json *line;
  SW_TRY(sw_json_member(costs, key, &line, r->d));
  r->cost = key;
  PAST(r, line->kind == SW_JSON_STRING ? read_alias(r, costs, line, out) : read_cost_line(r, line, out));
  r->cost = NULL;
  return SW_OK;
}

static sw_rc read_costs(reader *r, const sw_json *v, sw_level *level) {
  const char *keys[SW_COST_CLASS_COUNT];
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) keys[c] = sw_cost_class_text((sw_cost_class)c);
  SW_TRY(check_profile_keys(r, v, keys, SW_COST_CLASS_COUNT, "'costs'"));
  for (int c = 0; c < SW_COST_CLASS_COUNT; c++) PAST(r, read_cost(r, v, keys[c], &level->line[c]));
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
static sw_rc read_level_size(reader *r, const sw_json *v, sw_level *level) {
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
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'overlap'"));
  PAST(r, check_source(r, v));
  return sw_json_f64(v, "serial_fraction", 0, 1, &level->serial_fraction, r->d);
}

static sw_rc read_level(reader *r, const sw_json *v, sw_level *level) {
  static const char *const square[] = {"name", "topology", "size", "overlap", "costs", "source"};
  static const char *const torus[] = {"name", "topology", "shape", "wrap", "overlap", "costs", "source"};
  const char *kinds[SW_TOPOLOGY_COUNT];
  const sw_json *part = NULL;
  int kind;
  SW_TRY(sw_json_expect(v, SW_JSON_OBJECT, r->d));
  PAST(r, text_member(r, v, "name", &level->name));
  r->level = level->name;
  for (int i = 0; i < SW_TOPOLOGY_COUNT; i++) kinds[i] = sw_topology_text((sw_topology)i);
  SW_TRY(sw_json_member(v, "topology", &part, r->d));
  SW_TRY(sw_json_word(part, kinds, SW_TOPOLOGY_COUNT, &kind, r->d));
  level->kind = (sw_topology)kind;
  bool is_torus = kind == SW_TOPOLOGY_TORUS;
  SW_TRY(check_profile_keys(r, v, is_torus ? torus : square, is_torus ? COUNT(torus) : COUNT(square), "a level"));
  PAST(r, check_source(r, v));
  level->n_dims = 1;
  PAST(r, is_torus ? read_torus(r, v, level) : read_level_size(r, v, level));
  part = NULL;
  PAST(r, sw_json_opt_object(v, "overlap", &part, r->d));
  if (part) PAST(r, read_overlap(r, part, level));
  part = NULL;
  PAST(r, sw_json_object(v, "costs", &part, r->d));
  return part && part->kind == SW_JSON_OBJECT ? read_costs(r, part, level) : SW_OK;
}

static sw_rc read_levels(reader *r, const sw_json *v) {
  if (v->n < 1 || v->n > SW_MAX_LEVELS)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "'levels' has %d elements; expected 1 to %d", v->n, SW_MAX_LEVELS);
  for (int i = 0; i < v->n; i++) {
    PAST(r, read_level(r, &v->at[i], &r->p->level[i]));
    r->level = NULL;
  }
  r->p->n_levels = v->n;
  return SW_OK;
}

/* The level whose unit is a node: the innermost one where nothing says it. */
static sw_rc read_node_level(reader *r, const sw_json *v) {
  const char *name = NULL;
  SW_TRY(opt_text_member(r, v, "node", &name));
  r->p->node_level = 0;
  if (!name || !r->p->n_levels) return SW_OK;
  for (int l = 0; l < r->p->n_levels; l++) {
    r->p->node_level = l;
    if (r->p->level[l].name && !strcmp(r->p->level[l].name, name)) return SW_OK;
  }
  r->p->node_level = 0;
  return SW_FAIL_INPUT(r->d, sw_json_span(sw_json_find(v, "node")), "'node' is '%.60s'; expected the name of a level",
                       name);
}

static sw_rc read_profile_mesh(reader *r, const sw_json *v, sw_mesh *out) {
  const char *text;
  sw_diag inner = {0};
  SW_TRY(sw_json_as_string(v, &text, r->d));
  sw_rc rc = sw_mesh_parse(text, r->arena, out, &inner);
  return rc ? SW_FAIL(r->d, inner.rc, sw_json_span(v), "%s", inner.text) : SW_OK;
}

static sw_rc read_meshes(reader *r, const sw_json *v) {
  if (v->n < 1 || v->n > SW_MAX_PROFILE_MESHES)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "'meshes' has %d elements; expected 1 to %d", v->n,
                         SW_MAX_PROFILE_MESHES);
  for (int i = 0; i < v->n; i++) PAST(r, read_profile_mesh(r, &v->at[i], &r->p->mesh[i]));
  r->p->n_meshes = v->n;
  return SW_OK;
}

typedef sw_rc row_reader(reader *r, const sw_json *v, int i);

static sw_rc read_profile_rows(reader *r, const sw_json *v, int most, row_reader *read, int *n) {
  if (v->n > most)
    return SW_FAIL_INPUT(r->d, sw_json_span(v), "'%s' has %d elements; expected at most %d", v->key, v->n, most);
  for (int i = 0; i < v->n; i++) {
    const size_t before = r->errors.n;
    PAST(r, sw_json_expect(&v->at[i], SW_JSON_OBJECT, r->d));
    if (r->errors.n == before) PAST(r, read(r, &v->at[i], i));
  }
  *n = v->n;
  return SW_OK;
}

static sw_rc read_measured_row(reader *r, const sw_json *v, int i) {
  static const char *const keys[] = {"hardware", "source", "nodes", "library"};
  sw_measured *m = &r->p->measured[i];
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "an element of 'measured'"));
  PAST(r, text_member(r, v, "hardware", &m->hardware));
  PAST(r, text_member(r, v, "source", &m->source));
  PAST(r, opt_text_member(r, v, "library", &m->library));
  return sw_json_i64(v, "nodes", 1, SW_MAX_DEVICES, &m->nodes, r->d);
}

static sw_rc read_measured(reader *r, const sw_json *v) {
  return read_profile_rows(r, v, SW_MAX_MEASURED, read_measured_row, &r->p->n_measured);
}

static sw_rc read_run_hardware_row(reader *r, const sw_json *v, int i) {
  static const char *const keys[] = {"name", "memory", "clock", "source"};
  sw_run_hardware *h = &r->p->run_hardware[i];
  const sw_json *memory = NULL;
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "an element of 'hardware'"));
  PAST(r, text_member(r, v, "name", &h->name));
  h->clock = 1;
  PAST(r, sw_json_opt_f64(v, "clock", 1e-3, 1, &h->clock, r->d));
  if (sw_json_find(v, "clock")) PAST(r, check_source(r, v));
  SW_TRY(sw_json_object(v, "memory", &memory, r->d));
  return read_memory_of(r, memory, &h->memory_bytes, NULL, &h->memory_bytes_per_s);
}

static sw_rc read_run_hardware(reader *r, const sw_json *v) {
  return read_profile_rows(r, v, SW_MAX_RUN_HARDWARE, read_run_hardware_row, &r->p->n_run_hardware);
}

static sw_rc read_profile_runs(reader *r, const sw_json *v) {
  static const char *const keys[] = {"hardware"};
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'runs'"));
  return read_profile_part(r, v, "hardware", SW_JSON_ARRAY, read_run_hardware);
}

static sw_rc read_exchange(reader *r, const sw_json *v) {
  static const char *const keys[] = {"peer_s", "source"};
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "'exchange'"));
  PAST(r, check_source(r, v));
  return sw_json_f64(v, "peer_s", 0, 1e9, &r->p->exchange_peer_s, r->d);
}

static sw_rc read_profile_compiler(reader *r, const sw_json *v) {
  const sw_json *name = sw_json_find(v, "compiler");
  if (!name) return SW_OK;
  SW_TRY(text_member(r, v, "compiler", &r->p->compiler));
  if (sw_compiler_is_known(r->p->compiler)) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_json_span(name), "'compiler' is '%.60s'; expected one of " SW_COMPILERS,
                       r->p->compiler);
}

static sw_rc read_combine(reader *r, const sw_json *v) {
  if (!sw_json_find(v, "combine_bytes")) return SW_OK;
  r->p->says_combine = true;
  return sw_json_i64(v, "combine_bytes", 0, INT64_C(1) << 40, &r->p->combine_bytes, r->d);
}

/* A file that is no profile at all has one error, not one for each of its keys. */
static sw_rc check_profile_format(reader *r, const sw_json *v) {
  const char *format;
  int64_t version;
  SW_TRY(sw_json_string(v, "format", &format, r->d));
  if (strcmp(format, "shardwright.profile"))
    return SW_FAIL_INPUT(r->d, sw_json_span(sw_json_find(v, "format")),
                         "'format' is '%.60s'; expected 'shardwright.profile'", format);
  return sw_json_i64(v, "version", VERSION, VERSION, &version, r->d);
}

static sw_rc read_profile_parts(reader *r, const sw_json *v) {
  static const char *const keys[] = {"format",   "version",  "name",          "description", "sources",
                                     "device",   "exchange", "levels",        "meshes",      "measured",
                                     "compiler", "library",  "combine_bytes", "node",        "runs"};
  static const sw_json kNoSources = {.kind = SW_JSON_OBJECT};
  SW_TRY(check_profile_format(r, v));
  SW_TRY(check_profile_keys(r, v, keys, COUNT(keys), "a hardware profile"));
  const sw_json *sources = NULL;
  PAST(r, sw_json_object(v, "sources", &sources, r->d));
  r->sources = sources ? sources : &kNoSources;
  PAST(r, text_member(r, v, "name", &r->p->name));
  PAST(r, read_profile_compiler(r, v));
  PAST(r, read_combine(r, v));
  PAST(r, opt_text_member(r, v, "library", &r->p->library));
  PAST(r, text_member(r, v, "description", &r->p->description));
  SW_TRY(read_profile_part(r, v, "device", SW_JSON_OBJECT, read_device));
  SW_TRY(read_profile_part(r, v, "exchange", SW_JSON_OBJECT, read_exchange));
  SW_TRY(read_profile_part(r, v, "levels", SW_JSON_ARRAY, read_levels));
  PAST(r, read_node_level(r, v));
  SW_TRY(read_profile_part(r, v, "meshes", SW_JSON_ARRAY, read_meshes));
  SW_TRY(read_optional(r, v, "measured", SW_JSON_ARRAY, read_measured));
  return read_optional(r, v, "runs", SW_JSON_OBJECT, read_profile_runs);
}

/* The first error, the others as notes to it; or, where someone hears them, all but the last to him. */
static sw_rc tell_errors(reader *r, const sw_profile_reading *o) {
  enum { SHOWN = SW_DIAG_NOTES - 2 };
  const size_t n = r->errors.n;
  const sw_diag *e = r->errors.at;
  if (o->report) {
    for (size_t i = 0; i + 1 < n && i < MOST_ERRORS; i++) o->report(o->user, &e[i]);
    *r->d = e[n - 1];
  } else {
    *r->d = e[0];
    for (size_t i = 1; i < n && i <= SHOWN; i++)
      sw_diag_note(r->d, "and at %d:%d: %.200s", e[i].line, e[i].col, e[i].text);
  }
  const size_t told = o->report ? MOST_ERRORS + 1 : SHOWN + 1;
  if (n > told) sw_diag_note(r->d, "%zu more errors in the profile are not shown", n - told);
  if (n > 1)
    sw_diag_note(r->d, "docs/profiles.md says what each key means; `shardwright calibrate --template` prints all");
  return SW_E_INPUT;
}

static sw_rc read_profile(reader *r, const sw_json *v, const sw_profile_reading *o) {
  sw_diag own = {0};
  if (!r->d) r->d = &own;
  sw_rc rc = past(r, read_profile_parts(r, v));
  if (!rc && r->errors.n) rc = tell_errors(r, o);
  sw_array_free(&r->errors);
  return rc;
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

static sw_rc verify(const char *file, const sw_profile *p, sw_diag *d) {
  sw_diag inner = {0};
  sw_rc rc = sw_profile_verify(p, &inner);
  return rc ? SW_FAIL(d, rc, ((sw_span){file, 1, 1}), "%s", inner.text) : SW_OK;
}

static sw_rc parse_profile(const char *file, const char *bytes, size_t n, const sw_profile_reading *o, sw_arena *arena,
                           const sw_profile **out, sw_diag *d) {
  sw_arena tree = {0};
  const sw_json *v;
  sw_profile *p;
  SW_ARENA_NEW(p, arena, 1, d);
  reader r = {.arena = arena, .p = p, .d = d};
  sw_rc rc = sw_json_parse(file, bytes, n, &tree, &v, d);
  if (!rc && o->n_changes) rc = sw_profile_set(v, o->changes, o->n_changes, &tree, d);
  const bool set = !rc && o->n_changes;
  if (!rc) rc = read_profile(&r, v, o);
  if (!rc && o->report) rc = sw_profile_doubt(v, o, &tree, d);
  if (!rc && set) sw_profile_drop_knots(p, file, o->report, o->user);
  if (!rc) rc = verify(file, p, d);
  if (rc == SW_E_INPUT && set) sw_diag_note(d, "with the numbers that --hw-set changes");
  sw_arena_deinit(&tree);
  p->hash = sw_hash_bytes(bytes, n, 0);
  if (!rc) rc = sign_changes(p, o->changes, o->n_changes, arena, d);
  *out = p;
  return rc;
}

sw_rc sw_profile_parse(const char *file, const char *bytes, size_t n, sw_arena *arena, const sw_profile **out,
                       sw_diag *d) {
  return parse_profile(file, bytes, n, &(sw_profile_reading){0}, arena, out, d);
}

typedef SW_ARRAY(const char *) name_list;

static sw_rc add_name(name_list *names, const char *file, sw_arena *arena, sw_diag *d) {
  if (!sw_path_ends_in(file, ".json")) return SW_OK;
  const char *name = sw_arena_strndup(arena, file, strlen(file) - strlen(".json"), d);
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

static bool looks_like_path(const char *s) { return !strcmp(s, "-") || strchr(s, '/') || sw_path_ends_in(s, ".json"); }

sw_rc sw_profile_read_with(const char *path_or_name, const sw_profile_reading *o, sw_arena *arena,
                           const sw_profile **out, sw_diag *d) {
  sw_arena scratch = {0};
  const char *path = path_or_name;
  char *bytes = NULL;
  size_t n = 0;
  sw_rc rc = SW_OK;
  if (!looks_like_path(path_or_name)) rc = find_profile(path_or_name, &scratch, &path, d);
  if (!rc) rc = sw_file_read_text(path, &bytes, &n, d);
  if (!rc) rc = parse_profile(strcmp(path, "-") ? path : "<stdin>", bytes, n, o, arena, out, d);
  sw_mem_free(bytes);
  sw_arena_deinit(&scratch);
  return rc;
}

sw_rc sw_profile_read(const char *path_or_name, sw_arena *arena, const sw_profile **out, sw_diag *d) {
  return sw_profile_read_with(path_or_name, &(sw_profile_reading){0}, arena, out, d);
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
