/* Rows of the measured tables as samples. A row of `ranks` over `nodes` is predicted on the mesh
 *
 *   node = nodes, rest = what fills a node up, dev = ranks / nodes        along (node, dev)
 *
 * so that a group of 4 in a node of 8 is priced with its neighbour group beside it, as a plan would run it.
 */
#include "bench/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/csv.h"

static const struct {
  const char *text;
  sw_coll_op op;
} kCollectives[] = {
    {"all_gather", SW_COLL_ALL_GATHER}, {"reduce_scatter", SW_COLL_REDUCE_SCATTER},
    {"all_reduce", SW_COLL_ALL_REDUCE}, {"alltoall", SW_COLL_ALL_TO_ALL},
    {"sendrecv", SW_COLL_PERMUTE},      {"permute", SW_COLL_PERMUTE},
};

typedef struct reading {
  const sw_profile *p;
  sample_set *set;
  sample_list list;
  sw_diag *d;
} reading;

static bool claims(const sw_profile *p, const char *hardware, const char *source, int64_t nodes) {
  for (int i = 0; i < p->n_measured; i++) {
    const sw_measured *m = &p->measured[i];
    if (m->library && (!p->library || strcmp(m->library, p->library))) continue;
    if (m->nodes == nodes && sw_csv_fits(m->hardware, hardware) && sw_csv_fits(m->source, source)) return true;
  }
  return false;
}

int sw_sample_source(sample_set *s, const char *name) {
  for (int i = 0; i < s->n_sources; i++)
    if (!strcmp(s->source[i], name)) return i;
  if (s->n_sources == MAX_SOURCES) return -1;
  snprintf(s->source[s->n_sources], sizeof s->source[0], "%s", name);
  return s->n_sources++;
}

int sw_sample_layout(sample_set *s, rank_layout l) {
  for (int i = 0; i < s->n_layouts; i++)
    if (s->layouts[i].ranks == l.ranks && s->layouts[i].nodes == l.nodes) return i;
  if (s->n_layouts == MAX_LAYOUTS) return -1;
  s->layouts[s->n_layouts] = l;
  return s->n_layouts++;
}

/* The repository of a source text, or its first words. */
static sw_rc source_id(reading *r, const char *text, const char *suffix, int *out) {
  char name[sizeof r->set->source[0]];
  snprintf(name, sizeof name, "%.*s%s", (int)strcspn(text, "@:("), text, suffix);
  *out = sw_sample_source(r->set, name);
  return *out >= 0 ? SW_OK : SW_FAIL_INPUT(r->d, SW_NOWHERE, "more than %d sources", MAX_SOURCES);
}

static sw_rc layout_id(reading *r, rank_layout l, int *out) {
  *out = sw_sample_layout(r->set, l);
  return *out >= 0 ? SW_OK : SW_FAIL_INPUT(r->d, SW_NOWHERE, "more than %d group shapes", MAX_LAYOUTS);
}

static int64_t level_size(const sw_level *l) {
  int64_t n = 1;
  for (int i = 0; i < l->n_dims; i++) n *= l->dims[i];
  return n;
}

/* The outermost level of a node that the profile has: the last one, where it is a part of a larger profile. */
static int node_level(const sw_profile *p) { return p->node_level < p->n_levels ? p->node_level : p->n_levels - 1; }

/* `n` neighbours at the levels from `first` to `last` fill each level, or lie within one unit of it. What is left of n
 * at `last` is how many units they have there; 0: they would be shared unevenly. */
static int64_t units_at(const sw_profile *p, int first, int last, int64_t n) {
  if (n < 1) return 0;
  for (int l = first; l < last; l++) {
    const int64_t size = level_size(&p->level[l]);
    if (n % size == 0)
      n /= size;
    else if (size % n == 0)
      n = 1;
    else
      return 0;
  }
  return n;
}

int64_t sw_sample_layout_units(const sw_profile *p, rank_layout l, int level) {
  const int node = node_level(p), outer = p->n_levels - 1 > node;
  if (level > node) return units_at(p, node + 1, level, l.nodes);
  return units_at(p, 0, level, outer ? l.ranks / l.nodes : l.ranks);
}

int sw_sample_layout_level(const sw_profile *p, rank_layout l) {
  int level = p->n_levels - 1;
  while (level > 0 && sw_sample_layout_units(p, l, level) == 1) level--;
  return level;
}

/* The mesh of a layout and the two refs of its group; false when the network cannot hold it. */
static bool layout_mesh(const sw_profile *p, rank_layout l, sw_mesh *mesh) {
  const int node = node_level(p);
  int64_t unit = 1;
  for (int i = 0; i <= node; i++) unit *= level_size(&p->level[i]);
  const int64_t units = sw_profile_devices(p) / unit, nodes = p->n_levels - 1 > node ? l.nodes : 1;
  if (l.ranks % nodes || nodes > units || unit % (l.ranks / nodes)) return false;
  for (int i = 0; i < p->n_levels; i++)
    if (!sw_sample_layout_units(p, l, i)) return false;
  *mesh = (sw_mesh){.n_axes = 3, .axis = {{"node", nodes}, {"rest", 0}, {"dev", l.ranks / nodes}}};
  /* Devices that share cores would slow the group down, and no table was made with them beside it. */
  mesh->axis[1].size = p->shared_cores ? 1 : unit / mesh->axis[2].size;
  return true;
}

bool sw_sample_layout_fits(const sw_profile *p, rank_layout l) {
  sw_mesh mesh;
  return l.ranks > 1 && layout_mesh(p, l, &mesh);
}

enum { C_SOURCE, C_HARDWARE, C_RANKS, C_NODES, C_COLLECTIVE, C_BYTES, C_TIME_US, C_PLACE, C_COLUMNS };
static const char *const kCollectiveColumns[C_COLUMNS] = {"source",     "hardware", "ranks",   "nodes",
                                                          "collective", "bytes",    "time_us", "place"};

static bool same_measured_table(const sw_csv *t, const int *c, int64_t a, int64_t b) {
  const int key[] = {c[C_SOURCE], c[C_HARDWARE], c[C_RANKS], c[C_NODES], c[C_COLLECTIVE], c[C_PLACE]};
  for (size_t i = 0; i < sizeof key / sizeof key[0]; i++)
    if (strcmp(sw_csv_at(t, a, key[i]), sw_csv_at(t, b, key[i]))) return false;
  return true;
}

bool sw_sample_op(const char *text, sw_coll_op *op) {
  for (size_t i = 0; i < sizeof kCollectives / sizeof kCollectives[0]; i++)
    if (!strcmp(text, kCollectives[i].text)) {
      *op = kCollectives[i].op;
      return true;
    }
  return false;
}

/* Position of the row's size among the sizes of its table, so that "every other size" does not hang on the order of the
 * file. */
static int64_t size_rank(const sw_csv *t, const int *c, int64_t row) {
  double mine = strtod(sw_csv_at(t, row, c[C_BYTES]), NULL);
  int64_t rank = 0;
  for (int64_t i = 0; i < t->n_rows; i++)
    if (strtod(sw_csv_at(t, i, c[C_BYTES]), NULL) < mine && same_measured_table(t, c, i, row)) rank++;
  return rank;
}

/* Small messages count less: there tables of one machine differ by how they were timed. */
static double fit_weight(double bytes) { return bytes < 65536 ? 0.3 : bytes < 1048576 ? 0.5 : 1; }

static sw_rc add_collective_row(reading *r, const sw_csv *t, const int *c, int64_t row) {
  double ranks, nodes, time_us;
  sample s = {0};
  sw_mesh mesh;
  SW_TRY(sw_csv_number(t, row, c[C_RANKS], &ranks, r->d));
  SW_TRY(sw_csv_number(t, row, c[C_NODES], &nodes, r->d));
  SW_TRY(sw_csv_number(t, row, c[C_BYTES], &s.bytes, r->d));
  SW_TRY(sw_csv_number(t, row, c[C_TIME_US], &time_us, r->d));
  rank_layout l = {(int64_t)ranks, (int64_t)nodes};
  if (!claims(r->p, sw_csv_at(t, row, c[C_HARDWARE]), sw_csv_at(t, row, c[C_SOURCE]), l.nodes)) return SW_OK;
  if (l.ranks < 2 || time_us <= 0 || !sw_sample_op(sw_csv_at(t, row, c[C_COLLECTIVE]), &s.op) ||
      !layout_mesh(r->p, l, &mesh)) {
    r->set->skipped++;
    return SW_OK;
  }
  SW_TRY(source_id(r, sw_csv_at(t, row, c[C_SOURCE]), "", &s.source));
  SW_TRY(layout_id(r, l, &s.layout));
  s.measured_s = time_us * 1e-6;
  s.weight = fit_weight(s.bytes);
  s.train = size_rank(t, c, row) % 2 == 0;
  return sw_array_push(&r->list, s, r->d);
}

enum { G_SOURCE, G_HARDWARE, G_DTYPE, G_M, G_N, G_K, G_TIME_US, G_COLUMNS };
static const char *const kGemmColumns[G_COLUMNS] = {"source", "hardware", "dtype", "m", "n", "k", "time_us"};

bool sw_sample_dtype(const char *text, sw_dtype *out) {
  if (strcmp(text, "fp8")) return sw_dtype_parse(text, out);
  *out = SW_F8E4M3FN;
  return true;
}

void sw_sample_set_product(sample *s, sw_dtype t, double m, double n, double k) {
  const double size = sw_dtype_bytes(t);
  s->bytes = size * (m * k + k * n) + fmax(size, 2) * m * n;
  s->work = (sw_work){SW_WORK_PRODUCT, t, 2 * m * n * k, s->bytes, .batch = 1, .m = m, .n = n, .k = k};
}

/* m x k by k x n, inputs of the dtype, result of two bytes. The 8-bit rows time the whole layer, whose activations come
 * in two bytes and are cast first. */
static sw_rc add_gemm(reading *r, const sw_csv *t, const int *c, int64_t row) {
  double m, n, k, time_us;
  char tag[32];
  sample s = {.layout = -1};
  SW_TRY(sw_csv_number(t, row, c[G_M], &m, r->d));
  SW_TRY(sw_csv_number(t, row, c[G_N], &n, r->d));
  SW_TRY(sw_csv_number(t, row, c[G_K], &k, r->d));
  SW_TRY(sw_csv_number(t, row, c[G_TIME_US], &time_us, r->d));
  if (!claims(r->p, sw_csv_at(t, row, c[G_HARDWARE]), sw_csv_at(t, row, c[G_SOURCE]), 1)) return SW_OK;
  sw_dtype dtype;
  if (time_us <= 0 || !sw_sample_dtype(sw_csv_at(t, row, c[G_DTYPE]), &dtype)) {
    r->set->skipped++;
    return SW_OK;
  }
  snprintf(tag, sizeof tag, " gemm %s", sw_dtype_text(dtype));
  SW_TRY(source_id(r, sw_csv_at(t, row, c[G_SOURCE]), tag, &s.source));
  sw_sample_set_product(&s, dtype, m, n, k);
  if (sw_dtype_bytes(dtype) == 1) s.cast_bytes = 3 * m * k;
  s.measured_s = time_us * 1e-6;
  s.train = row % 2 == 0;
  s.weight = 1;
  return sw_array_push(&r->list, s, r->d);
}

enum { A_SOURCE, A_HARDWARE, A_KIND, A_BATCH, A_SEQ, A_HEADS, A_KV_HEADS, A_WIDTH, A_WINDOW, A_TIME_US, A_COLUMNS };
static const char *const kAttentionColumns[A_COLUMNS] = {"source", "hardware", "kind",     "batch",  "seq",
                                                         "heads",  "kv_heads", "head_dim", "window", "time_us"};

bool sw_sample_set_attention(sample *s, const char *kind, const sw_attention_size *a) {
  const bool one = strcmp(kind, "generation") == 0, back = strcmp(kind, "backward") == 0;
  if (!one && !back && strcmp(kind, "context") != 0) return false;
  const double window = a->window > 0 && a->window < a->seq ? a->window : a->seq;
  const double queries = one ? 1 : a->seq, keys = one ? window : a->seq;
  const double pairs = one ? window : window * (window + 1) / 2 + (a->seq - window) * window;
  const double per_query = a->batch * a->heads * queries * a->width, per_key = a->batch * a->kv_heads * keys * a->width;
  s->bytes = 2 * (back ? 4 : 2) * (per_query + per_key);
  s->work = (sw_work){.kind = back ? SW_WORK_ATTENTION_GRAD : SW_WORK_ATTENTION,
                      .dtype = SW_BF16,
                      .flops = (back ? 10 : 4) * a->batch * a->heads * a->width * pairs,
                      .bytes = s->bytes,
                      .batch = a->batch,
                      .m = queries,
                      .n = keys,
                      .k = a->width,
                      .heads = a->heads,
                      .kv_heads = a->kv_heads};
  return true;
}

static sw_rc add_attention(reading *r, const sw_csv *t, const int *c, int64_t row) {
  double v[A_COLUMNS];
  sample s = {.layout = -1};
  const char *kind = sw_csv_at(t, row, c[A_KIND]);
  for (int i = A_BATCH; i < A_COLUMNS; i++) SW_TRY(sw_csv_number(t, row, c[i], &v[i], r->d));
  if (!claims(r->p, sw_csv_at(t, row, c[A_HARDWARE]), sw_csv_at(t, row, c[A_SOURCE]), 1)) return SW_OK;
  const sw_attention_size size = {v[A_BATCH], v[A_SEQ], v[A_HEADS], v[A_KV_HEADS], v[A_WIDTH], v[A_WINDOW]};
  if (v[A_TIME_US] <= 0 || v[A_KV_HEADS] <= 0 || !sw_sample_set_attention(&s, kind, &size)) {
    r->set->skipped++;
    return SW_OK;
  }
  char tag[32];
  snprintf(tag, sizeof tag, " attention %s", s.work.m > 1 ? kind : "decode");
  SW_TRY(source_id(r, sw_csv_at(t, row, c[A_SOURCE]), tag, &s.source));
  s.measured_s = v[A_TIME_US] * 1e-6;
  s.train = row % 2 == 0;
  s.weight = 1;
  return sw_array_push(&r->list, s, r->d);
}

/* Tables of the folder; those that are not there have no such measurements. */
static const struct {
  const char *file;
  int n_columns;
  const char *const *columns;
  sw_rc (*add)(reading *r, const sw_csv *t, const int *c, int64_t row);
  bool has_nodes;
} kTables[] = {{"collectives.csv", C_COLUMNS, kCollectiveColumns, add_collective_row, true},
               {"gemm.csv", G_COLUMNS, kGemmColumns, add_gemm, false},
               {"newer-gemm.csv", G_COLUMNS, kGemmColumns, add_gemm, false},
               {"attention.csv", A_COLUMNS, kAttentionColumns, add_attention, false},
               {"newer-attention.csv", A_COLUMNS, kAttentionColumns, add_attention, false}};
enum { GEMM_TABLE = 1, N_TABLES = sizeof kTables / sizeof *kTables };

static sw_rc open_table(const char *facts_dir, int table, sw_arena *scratch, sw_csv *out, bool *there, sw_diag *d) {
  const char *file = sw_arena_printf(scratch, d, "%s/%s", facts_dir, kTables[table].file);
  if (!file) return SW_E_RESOURCE;
  *there = access(file, F_OK) == 0;
  return *there ? sw_csv_read(file, scratch, out, d) : SW_OK;
}

static sw_rc read_table(reading *r, const char *facts_dir, int table, sw_arena *scratch) {
  sw_csv t;
  bool there;
  int c[C_COLUMNS + G_COLUMNS + A_COLUMNS]; /* room for those of any */
  SW_TRY(open_table(facts_dir, table, scratch, &t, &there, r->d));
  if (table == GEMM_TABLE) r->set->no_products = !there;
  if (!there) return SW_OK;
  for (int i = 0; i < kTables[table].n_columns; i++) SW_TRY(sw_csv_column(&t, kTables[table].columns[i], &c[i], r->d));
  for (int64_t i = 0; i < t.n_rows; i++) SW_TRY(kTables[table].add(r, &t, c, i));
  return SW_OK;
}

sw_rc sw_samples_read(const sw_profile *p, const char *facts_dir, sw_arena *arena, sample_set *out, sw_diag *d) {
  *out = (sample_set){0};
  reading r = {.p = p, .set = out, .d = d};
  sw_arena scratch = {0};
  sw_rc rc = SW_OK;
  for (int i = 0; i < N_TABLES && !rc; i++) rc = read_table(&r, facts_dir, i, &scratch);
  if (!rc) {
    out->n = (int64_t)r.list.n;
    out->at = sw_arena_copy(arena, r.list.at, r.list.n, sizeof *out->at, d);
    if (!out->at) rc = SW_E_RESOURCE;
  }
  sw_array_free(&r.list);
  sw_arena_deinit(&scratch);
  return rc;
}

typedef struct unclaimed {
  const sw_profile *const *profiles;
  int n;
  int64_t count;
  sw_text *lines;
} unclaimed;

static bool any_claims(const unclaimed *u, const char *hardware, const char *source, int64_t nodes) {
  for (int i = 0; i < u->n; i++)
    if (claims(u->profiles[i], hardware, source, nodes)) return true;
  return false;
}

static void end_run(unclaimed *u, const char *hardware, const char *source, int64_t nodes, int64_t rows) {
  if (rows == 0) return;
  u->count += rows;
  sw_text_printf(u->lines, "    %5lld  %.*s: %s, nodes %lld\n", (long long)rows, (int)strcspn(source, "@:("), source,
                 hardware, (long long)nodes);
}

/* Counts runs of rows with the same hardware, source and nodes, as tables list them together. */
static sw_rc count_unclaimed(const char *facts_dir, int table, unclaimed *u, sw_arena *scratch, sw_diag *d) {
  sw_csv t;
  bool there, has_nodes = kTables[table].has_nodes;
  int hardware, source, nodes_column = 0;
  SW_TRY(open_table(facts_dir, table, scratch, &t, &there, d));
  if (!there) return SW_OK;
  SW_TRY(sw_csv_column(&t, "hardware", &hardware, d));
  SW_TRY(sw_csv_column(&t, "source", &source, d));
  if (has_nodes) SW_TRY(sw_csv_column(&t, "nodes", &nodes_column, d));
  const char *last_hardware = "", *last_source = "";
  int64_t last_nodes = 0, rows = 0;
  for (int64_t i = 0; i < t.n_rows; i++) {
    double nodes = 1;
    if (has_nodes) SW_TRY(sw_csv_number(&t, i, nodes_column, &nodes, d));
    const char *h = sw_csv_at(&t, i, hardware), *s = sw_csv_at(&t, i, source);
    if (any_claims(u, h, s, (int64_t)nodes)) continue;
    if (strcmp(h, last_hardware) || strcmp(s, last_source) || last_nodes != (int64_t)nodes) {
      end_run(u, last_hardware, last_source, last_nodes, rows);
      rows = 0;
    }
    rows++;
    last_hardware = h;
    last_source = s;
    last_nodes = (int64_t)nodes;
  }
  end_run(u, last_hardware, last_source, last_nodes, rows);
  return SW_OK;
}

sw_rc sw_rows_unclaimed(const sw_profile *const *profiles, int n, const char *facts_dir, int64_t *count,
                        sw_text *by_hardware, sw_diag *d) {
  sw_arena scratch = {0};
  unclaimed u = {profiles, n, 0, by_hardware};
  sw_rc rc = SW_OK;
  for (int i = 0; i < N_TABLES && !rc; i++) rc = count_unclaimed(facts_dir, i, &u, &scratch, d);
  sw_arena_deinit(&scratch);
  *count = u.count;
  return rc;
}

static double predict_one(const sample *s, const sw_machine *m) {
  const sw_mesh *mesh = sw_machine_mesh(m);
  if (s->layout < 0) {
    double cast_s = s->cast_bytes > 0 ? sw_machine_local_s(m, s->work.dtype, 0, s->cast_bytes) : 0;
    return cast_s + sw_machine_work_s(m, &s->work);
  }
  sw_axis_ref group[] = {sw_axis_whole(mesh, 0), sw_axis_whole(mesh, 2)};
  return sw_machine_collective_s(m, s->op, group, 2, s->bytes);
}

sw_rc sw_sample_group(const sw_profile *p, const sample_set *set, int layout, sw_arena *arena, sw_group *out,
                      sw_diag *d) {
  sw_mesh *mesh;
  sw_machine *m;
  SW_ARENA_NEW(mesh, arena, 1, d);
  if (!layout_mesh(p, set->layouts[layout], mesh)) return SW_BUG(d, "a sample that the profile cannot hold");
  SW_TRY(sw_machine_build(arena, p, mesh, &m, d));
  sw_machine_group(m, (sw_axis_ref[]){sw_axis_whole(mesh, 0), sw_axis_whole(mesh, 2)}, 2, out);
  return SW_OK;
}

sw_rc sw_samples_predict(const sw_profile *p, const sample_set *set, double *seconds, sw_diag *d) {
  sw_arena scratch = {0};
  sw_machine *machine[MAX_LAYOUTS + 1] = {0};
  sw_rc rc = SW_OK;
  for (int i = 0; i < set->n_layouts && !rc; i++) {
    sw_mesh mesh;
    if (!layout_mesh(p, set->layouts[i], &mesh)) rc = SW_BUG(d, "a sample that the profile cannot hold");
    if (!rc) rc = sw_machine_build(&scratch, p, &mesh, &machine[i], d);
  }
  sw_mesh one = {0};
  if (!rc) rc = sw_machine_build(&scratch, p, &one, &machine[MAX_LAYOUTS], d);
  for (int64_t i = 0; i < set->n && !rc; i++) {
    int l = set->at[i].layout;
    seconds[i] = predict_one(&set->at[i], machine[l < 0 ? MAX_LAYOUTS : l]);
  }
  sw_arena_deinit(&scratch);
  return rc;
}
