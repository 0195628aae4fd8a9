/* Every second row of a kind is for fitting; the others judge. */
#include "bench/evidence.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/file.h"
#include "bench/data_sheet.h"
#include "bench/nccl_tests.h"

enum { MAX_COLUMNS = 12 };

typedef struct reading {
  evidence *e;
  const sw_csv *t;
  const char *hardware;
  int col[MAX_COLUMNS], hardware_col, library_col; /* -1: the table has none */
  sw_arena *arena;
  sw_diag *d;
} reading;

static sw_rc out_of_room(const char *file, int32_t line, sw_diag *d) {
  return SW_FAIL_INPUT(d, ((sw_span){file, line, 1}), "more than %d kinds of rows or group shapes", MAX_SOURCES);
}

static sw_rc add_sample(evidence *e, evidence_part part, const char *source, sample s, sw_span where, sw_diag *d) {
  s.source = sw_sample_source(&e->set[part], source);
  if (s.source < 0) return out_of_room(where.file, where.line, d);
  s.weight = 1;
  s.train = s.train && e->seen[part][s.source][s.op]++ % 2 == 0;
  SW_TRY(sw_array_push(&e->list[part], s, d));
  e->set[part].at = e->list[part].at;
  e->set[part].n = (int64_t)e->list[part].n;
  return SW_OK;
}

/* --- collectives --- */

static sw_rc add_collective(evidence *e, sw_coll_op op, rank_layout l, double bytes, double s, sw_span where,
                            sw_diag *d) {
  char source[80];
  evidence_part part = l.nodes > 1 ? EVIDENCE_ACROSS : EVIDENCE_INSIDE;
  sample x = {.op = op, .bytes = bytes, .measured_s = s, .train = true};
  x.layout = sw_sample_layout(&e->set[part], l);
  if (x.layout < 0) return out_of_room(where.file, where.line, d);
  snprintf(source, sizeof source, "%" PRId64 " ranks on %" PRId64 " node%s", l.ranks, l.nodes, l.nodes > 1 ? "s" : "");
  return add_sample(e, part, source, x, where, d);
}

static sw_rc add_tables(evidence *e, const char *file, const sw_nccl_tables *tables, sw_diag *d) {
  for (int64_t i = 0; i < tables->n; i++) {
    const sw_nccl_table *t = &tables->at[i];
    if (!t->known || t->ranks < 2 || t->ranks % t->nodes) {
      sw_text_printf(&e->left, "%s:%d: %" PRId64 " rows of %s on %" PRId64 " ranks and %" PRId64 " nodes: %s\n", file,
                     (int)t->line, t->n, t->program, t->ranks, t->nodes,
                     t->known ? "needs as many ranks on every node, and two" : "no price is fitted to this collective");
      continue;
    }
    for (int64_t k = 0; k < t->n; k++)
      SW_TRY(add_collective(e, t->op, (rank_layout){t->ranks, t->nodes}, t->rows[k].bytes, t->rows[k].time_s,
                            (sw_span){file, t->rows[k].line, 1}, d));
  }
  return SW_OK;
}

/* --- rows of tables --- */

static sw_span span_of_row(const reading *r, int64_t row) { return (sw_span){r->t->file, r->t->line[row], 1}; }
static const char *cell_in_column(const reading *r, int64_t row, int c) { return sw_csv_at(r->t, row, r->col[c]); }

static sw_rc numbers(reading *r, int64_t row, const int *which, int n, double *out) {
  for (int i = 0; i < n; i++) SW_TRY(sw_csv_number(r->t, row, r->col[which[i]], &out[i], r->d));
  return SW_OK;
}

static sw_rc positive(reading *r, int64_t row, int c, double *out) {
  SW_TRY(sw_csv_number(r->t, row, r->col[c], out, r->d));
  return *out > 0 ? SW_OK : SW_FAIL_INPUT(r->d, span_of_row(r, row), "'%s' is 0; expected more", r->t->head[r->col[c]]);
}

static const char *const kCollective[] = {"ranks", "nodes", "collective", "bytes", "time_us"};
static sw_rc collective_row(reading *r, int64_t row) {
  double v[5];
  sw_coll_op op;
  SW_TRY(positive(r, row, 0, &v[0]));
  SW_TRY(positive(r, row, 1, &v[1]));
  SW_TRY(positive(r, row, 3, &v[3]));
  SW_TRY(positive(r, row, 4, &v[4]));
  rank_layout l = {(int64_t)v[0], (int64_t)v[1]};
  if (l.ranks < 2 || l.nodes < 1 || l.ranks % l.nodes)
    return SW_FAIL_INPUT(r->d, span_of_row(r, row),
                         "%" PRId64 " ranks on %" PRId64 " nodes; expected as many on every node", l.ranks, l.nodes);
  if (!sw_sample_op(cell_in_column(r, row, 2), &op))
    return SW_FAIL_INPUT(r->d, span_of_row(r, row),
                         "'collective' is '%.40s'; expected all_gather, reduce_scatter, all_reduce, alltoall or "
                         "sendrecv",
                         cell_in_column(r, row, 2));
  return add_collective(r->e, op, l, v[3], v[4] * 1e-6, span_of_row(r, row), r->d);
}

static const char *const kProduct[] = {"m", "n", "k", "dtype", "time_us"};
static sw_rc product_row(reading *r, int64_t row) {
  static const int which[] = {0, 1, 2};
  double v[3], us;
  char source[80];
  sample s = {.layout = -1, .train = true};
  SW_TRY(numbers(r, row, which, 3, v));
  SW_TRY(positive(r, row, 4, &us));
  sw_dtype dtype;
  if (!sw_sample_dtype(cell_in_column(r, row, 3), &dtype))
    return SW_FAIL_INPUT(r->d, span_of_row(r, row), "'dtype' is '%.40s'; expected one such as bfloat16 or fp8",
                         cell_in_column(r, row, 3));
  sw_sample_set_product(&s, dtype, v[0], v[1], v[2]);
  s.measured_s = us * 1e-6;
  snprintf(source, sizeof source, "matrix products in %s", sw_dtype_text(dtype));
  return add_sample(r->e, EVIDENCE_LOCAL, source, s, span_of_row(r, row), r->d);
}

static const char *const kMemory[] = {"op", "bytes", "time_us"};
static sw_rc memory_row(reading *r, int64_t row) {
  double us;
  sample s = {.layout = -1, .train = true, .work.dtype = SW_BF16};
  SW_TRY(positive(r, row, 1, &s.bytes));
  s.work.bytes = s.bytes;
  SW_TRY(positive(r, row, 2, &us));
  s.measured_s = us * 1e-6;
  return add_sample(r->e, EVIDENCE_LOCAL, "kernels bounded by memory", s, span_of_row(r, row), r->d);
}

/* Of the library that is calibrated. */
static const char *const kAttention[] = {"kind", "batch", "seq", "heads", "kv_heads", "head_dim", "window", "time_us"};
static sw_rc attention_row(reading *r, int64_t row) {
  static const int which[] = {1, 2, 3, 4, 5, 6};
  double v[6], us;
  char source[80];
  sample s = {.layout = -1, .train = true};
  SW_TRY(numbers(r, row, which, 6, v));
  SW_TRY(positive(r, row, 7, &us));
  const char *kind = cell_in_column(r, row, 0),
             *library = r->library_col < 0 ? "" : sw_csv_at(r->t, row, r->library_col);
  const sw_attention_size size = {v[0], v[1], v[2], v[3], v[4], v[5]};
  if (!sw_sample_set_attention(&s, kind, &size))
    return SW_FAIL_INPUT(r->d, span_of_row(r, row), "'kind' is '%.40s'; expected context, backward or generation",
                         kind);
  if (!r->e->library && *library) r->e->library = library;
  if (*library && strcmp(library, r->e->library) != 0) return SW_OK;
  s.measured_s = us * 1e-6;
  snprintf(source, sizeof source, "attention, %s", kind);
  return add_sample(r->e, EVIDENCE_LOCAL, source, s, span_of_row(r, row), r->d);
}

static const char *const kTriple[] = {"kernel_us", "collective_us", "both_us"};
static sw_rc triple_row(reading *r, int64_t row) {
  evidence_triple t = {.train = r->e->triples.n % 2 == 0};
  double *const at[] = {&t.kernels_s, &t.collective_s, &t.both_s};
  for (int i = 0; i < 3; i++) {
    SW_TRY(positive(r, row, i, at[i]));
    *at[i] *= 1e-6;
  }
  return sw_array_push(&r->e->triples, t, r->d);
}

typedef struct table_kind {
  const char *const *columns;
  int n;
  sw_rc (*add)(reading *r, int64_t row);
} table_kind;

#define KIND(columns, add) \
  { columns, sizeof columns / sizeof *columns, add }
static const table_kind kKinds[] = {KIND(kCollective, collective_row), KIND(kProduct, product_row),
                                    KIND(kAttention, attention_row), KIND(kMemory, memory_row),
                                    KIND(kTriple, triple_row)};
enum { N_KINDS = sizeof kKinds / sizeof *kKinds };

static bool has_columns(const sw_csv *t, const table_kind *k, int *col) {
  for (int i = 0; i < k->n; i++)
    if ((col[i] = sw_csv_find(t, k->columns[i])) < 0) return false;
  return true;
}

/* Whether the row is of the hardware that is calibrated. */
static sw_rc is_of_hardware(reading *r, int64_t row, bool *out) {
  *out = true;
  if (r->hardware_col < 0) return SW_OK;
  const char *mine = sw_csv_at(r->t, row, r->hardware_col);
  if (r->hardware) {
    *out = strncmp(mine, r->hardware, strlen(r->hardware)) == 0;
    return SW_OK;
  }
  if (!r->e->hardware) r->e->hardware = mine;
  if (strcmp(r->e->hardware, mine) == 0) return SW_OK;
  return SW_FAIL_INPUT(r->d, span_of_row(r, row),
                       "rows of '%.60s' and of '%.60s'; expected one hardware, or --hardware with the beginning of one",
                       r->e->hardware, mine);
}

static sw_rc read_evidence_rows(reading *r, const table_kind *k) {
  for (int64_t i = 0; i < r->t->n_rows; i++) {
    bool mine;
    SW_TRY(is_of_hardware(r, i, &mine));
    if (mine) SW_TRY(k->add(r, i));
  }
  return SW_OK;
}

static sw_rc read_runs(reading *r) {
  sw_runs all, *runs = &r->e->runs;
  if (runs->n) return SW_FAIL_INPUT(r->d, ((sw_span){r->t->file, 1, 1}), "a second table of training runs");
  SW_TRY(sw_runs_of(r->t, NULL, r->arena, &all, r->d));
  runs->rows = all.rows;
  for (int64_t i = 0; i < all.n; i++) {
    bool mine;
    SW_TRY(is_of_hardware(r, i, &mine));
    if (mine) runs->rows[runs->n++] = all.rows[i];
  }
  return SW_OK;
}

static sw_rc not_recognised(const char *file, sw_diag *d) {
  return SW_FAIL_INPUT(
      d, ((sw_span){file, 1, 1}),
      "not recognised; expected what nccl-tests prints or writes with -J, or a CSV with the columns "
      "m,n,k,dtype,time_us (products), kind,batch,seq,heads,kv_heads,head_dim,window,time_us "
      "(attention), op,bytes,time_us (kernels bounded by memory), ranks,nodes,collective,bytes,time_us "
      "(collectives), kernel_us,collective_us,both_us (both beside each other), device,hbm_GB,hbm_GBps,.. (data "
      "sheets) or those of `bench runs`");
}

static bool is_runs(const sw_csv *t) { return sw_csv_find(t, "tokens_per_s_per_gpu") >= 0; }

/* Whether the columns are those of a kind of table. */
static bool is_known_table(reading *r) {
  bool any = is_runs(r->t) || sw_data_sheet_is(r->t);
  for (int i = 0; i < N_KINDS; i++) any = any || has_columns(r->t, &kKinds[i], r->col);
  return any;
}

static sw_rc read_csv(reading *r) {
  r->hardware_col = sw_csv_find(r->t, "hardware");
  r->library_col = sw_csv_find(r->t, "library");
  if (is_runs(r->t)) return read_runs(r);
  if (sw_data_sheet_is(r->t)) {
    if (r->e->sheet) return SW_FAIL_INPUT(r->d, ((sw_span){r->t->file, 1, 1}), "a second data sheet");
    r->e->sheet = r->t;
    return SW_OK;
  }
  for (int i = 0; i < N_KINDS; i++)
    if (has_columns(r->t, &kKinds[i], r->col)) return read_evidence_rows(r, &kKinds[i]);
  return SW_BUG(r->d, "a table of no kind");
}

static sw_rc read_json(evidence *e, const char *file, const char *bytes, size_t n, sw_arena *arena, sw_diag *d) {
  const sw_json *v;
  sw_nccl_tables tables;
  SW_TRY(sw_json_parse(file, bytes, n, arena, &v, d));
  if (sw_nccl_is_json(v)) {
    SW_TRY(sw_nccl_json(file, v, arena, &tables, d));
    return add_tables(e, file, &tables, d);
  }
  const sw_json *format = v->kind == SW_JSON_OBJECT ? sw_json_find(v, "format") : NULL;
  if (format && format->kind == SW_JSON_STRING && !strcmp(format->text, "shardwright.profile"))
    return SW_FAIL_INPUT(d, ((sw_span){file, 1, 1}), "a profile; expected measurements (a profile goes with --start)");
  return not_recognised(file, d);
}

static sw_rc read_bytes(evidence *e, const char *file, const char *bytes, size_t n, const char *hardware,
                        sw_arena *arena, sw_diag *d) {
  size_t first = 0;
  while (first < n && isspace((unsigned char)bytes[first])) first++;
  if (first < n && bytes[first] == '{') return read_json(e, file, bytes, n, arena, d);
  if (sw_nccl_is_text(bytes, n)) {
    sw_nccl_tables tables;
    SW_TRY(sw_nccl_text(file, bytes, n, arena, &tables, d));
    return add_tables(e, file, &tables, d);
  }
  sw_csv *t;
  SW_ARENA_NEW(t, arena, 1, d);
  reading r = {.e = e, .t = t, .hardware = hardware, .arena = arena, .d = d};
  const char *end = memchr(bytes, '\n', n);
  sw_diag head = {0};
  if (sw_csv_parse(file, bytes, end ? (size_t)(end - bytes) : n, arena, t, &head) || !is_known_table(&r))
    return not_recognised(file, d);
  SW_TRY(sw_csv_parse(file, bytes, n, arena, t, d));
  return read_csv(&r);
}

sw_rc sw_evidence_read(evidence *e, const char *path, const char *hardware, sw_arena *arena, sw_diag *d) {
  char *bytes;
  size_t n;
  const char *file;
  SW_TRY(sw_arena_keep(arena, path, &file, d));
  SW_TRY(sw_file_read_text(file, &bytes, &n, d));
  sw_rc rc = n ? read_bytes(e, file, bytes, n, hardware, arena, d) : not_recognised(file, d);
  sw_mem_free(bytes);
  return rc;
}

void sw_evidence_free(evidence *e) {
  for (int i = 0; i < EVIDENCE_PARTS; i++) sw_array_free(&e->list[i]);
  sw_array_free(&e->triples);
  sw_text_free(&e->left);
}
