/* A text is read line by line:
 *
 *   # Collective test starting: all_reduce_perf         any NAME_perf before a table says the collective
 *   #  Rank  0 Group  0 Pid 6899 on node0 device  0 [0000:04:00] NVIDIA H100 80GB HBM3
 *   #       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw ..
 *   #        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s) ..
 *           1024           256     float     sum      -1    147.1    0.01    0.01      0    123.1    0.01 ..
 *   # Out of bounds values : 0 OK                       a comment ends the table
 *
 * Columns are found by the header line, as versions differ in them.
 */
#include "bench/nccl_tests.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"

static const struct {
  const char *program; /* without _perf; also looked for in names of files */
  sw_coll_op op;
} kPrograms[] = {
    {"all_gather", SW_COLL_ALL_GATHER}, {"reduce_scatter", SW_COLL_REDUCE_SCATTER},
    {"all_reduce", SW_COLL_ALL_REDUCE}, {"alltoall", SW_COLL_ALL_TO_ALL},
    {"sendrecv", SW_COLL_PERMUTE},
};
enum { N_PROGRAMS = sizeof kPrograms / sizeof *kPrograms, MAX_CELLS = 40, MAX_RANKS = 1 << 20 };

static const char kHead[] = "size"; /* first word of the line of column names */

typedef SW_ARRAY(sw_nccl_row) row_list;
typedef SW_ARRAY(sw_nccl_table) table_list;
typedef SW_ARRAY(const char *) name_list;

typedef struct piece {
  const char *at;
  int n;
} piece;

typedef struct reader {
  const char *file;
  sw_arena *arena;
  sw_diag *d;
  table_list tables;
  /* Of the table that follows or is being read. */
  sw_nccl_table table;
  row_list rows;
  name_list hosts;
  int64_t group; /* whose ranks count */
  bool inside;
  double unit;        /* bytes per unit of a size */
  int n_cells, stamp; /* of a row, blanks counted; words of the time of day at its end */
  int time[2];        /* cells of the times; -1: no second one */
} reader;

/* --- what both forms share --- */

static bool program_op(const char *name, size_t n, sw_coll_op *op) {
  for (int i = 0; i < N_PROGRAMS; i++)
    if (strlen(kPrograms[i].program) == n && !memcmp(kPrograms[i].program, name, n)) {
      *op = kPrograms[i].op;
      return true;
    }
  return false;
}

static sw_rc set_program(reader *r, const char *name, size_t n) {
  r->table.known = program_op(name, n, &r->table.op);
  r->table.program = sw_arena_printf(r->arena, r->d, "%.*s_perf", (int)n, name);
  return r->table.program ? SW_OK : SW_E_RESOURCE;
}

/* The last NAME_perf of a text, NAME of letters, digits and '_'. */
static piece program_in(const char *text, size_t n) {
  static const char suffix[] = "_perf";
  const size_t m = sizeof suffix - 1;
  for (size_t i = n; i-- > 0;) {
    if (n - i < m || memcmp(text + i, suffix, m)) continue;
    size_t from = i;
    while (from > 0 && (isalnum((unsigned char)text[from - 1]) || text[from - 1] == '_')) from--;
    if (from < i) return (piece){text + from, (int)(i - from)};
  }
  return (piece){0};
}

/* A known program's name in the name of the file, "alltoall.8gpus.txt", when nothing else has said it. */
static sw_rc program_of_file(reader *r, sw_span where) {
  const char *base = sw_path_base(r->file);
  for (int i = 0; i < N_PROGRAMS && !r->table.program; i++) {
    const char *found = strstr(base, kPrograms[i].program);
    size_t n = strlen(kPrograms[i].program);
    if (found && !isalpha((unsigned char)found[n])) SW_TRY(set_program(r, found, n));
  }
  if (r->table.program) return SW_OK;
  return SW_FAIL_INPUT(
      r->d, where,
      "a table of an unknown collective; expected a line with 'all_reduce_perf' or the like before it, "
      "or its name in the file's name");
}

static sw_rc add_host(reader *r, const char *name, size_t n) {
  for (size_t i = 0; i < r->hosts.n; i++)
    if (strlen(r->hosts.at[i]) == n && !memcmp(r->hosts.at[i], name, n)) return SW_OK;
  const char *kept = sw_arena_strndup(r->arena, name, n, r->d);
  if (!kept) return SW_E_RESOURCE;
  r->table.nodes++;
  return sw_array_push(&r->hosts, kept, r->d);
}

/* Ranks of the first group are counted. */
static sw_rc add_ranks(reader *r, int64_t n, int64_t group, piece host, piece device) {
  if (r->table.ranks == 0) r->group = group;
  if (group != r->group) return SW_OK;
  if (!r->table.device[0] && device.n) {
    r->table.device = sw_arena_strndup(r->arena, device.at, (size_t)device.n, r->d);
    if (!r->table.device) return SW_E_RESOURCE;
  }
  r->table.ranks += n;
  return add_host(r, host.at, (size_t)host.n);
}

static void begin_head(reader *r) {
  r->table = (sw_nccl_table){.device = ""};
  r->rows.n = r->hosts.n = 0;
}

static sw_rc add_nccl_row(reader *r, int32_t line, double bytes, double out_us, double in_us) {
  double us = out_us > 0 ? out_us : in_us;
  if (!(bytes > 0) || !(us > 0) || !isfinite(us)) return SW_OK; /* nothing sent, or not timed */
  return sw_array_push(&r->rows, ((sw_nccl_row){line, bytes, us * 1e-6}), r->d);
}

static sw_rc end_table(reader *r) {
  r->table.n = (int64_t)r->rows.n;
  if (r->rows.n) {
    r->table.rows = sw_arena_copy(r->arena, r->rows.at, r->rows.n, sizeof *r->rows.at, r->d);
    if (!r->table.rows) return SW_E_RESOURCE;
  }
  sw_rc rc = sw_array_push(&r->tables, r->table, r->d);
  r->inside = false;
  begin_head(r);
  return rc;
}

static sw_rc finish_tables(reader *r, sw_rc rc, sw_nccl_tables *out) {
  *out = (sw_nccl_tables){0};
  if (!rc && r->tables.n) {
    out->n = (int64_t)r->tables.n;
    out->at = sw_arena_copy(r->arena, r->tables.at, r->tables.n, sizeof *r->tables.at, r->d);
    if (!out->at) rc = SW_E_RESOURCE;
  }
  sw_array_free(&r->tables);
  sw_array_free(&r->rows);
  sw_array_free(&r->hosts);
  return rc;
}

/* --- text --- */

static int split_cells(const char *text, size_t n, piece *cells) {
  int count = 0;
  size_t i = 0;
  while (i < n) {
    while (i < n && isspace((unsigned char)text[i])) i++;
    size_t from = i;
    while (i < n && !isspace((unsigned char)text[i])) i++;
    if (i > from && count < MAX_CELLS) cells[count++] = (piece){text + from, (int)(i - from)};
  }
  return count;
}

static bool piece_is(piece p, const char *word) { return (int)strlen(word) == p.n && !memcmp(p.at, word, (size_t)p.n); }

/* The number at the start of a cell; *rest is behind it. NaN when there is none. */
static double leading_number(piece p, piece *rest) {
  char text[40], *end;
  int n = p.n < (int)sizeof text - 1 ? p.n : (int)sizeof text - 1;
  memcpy(text, p.at, (size_t)n);
  text[n] = 0;
  double v = isdigit((unsigned char)text[0]) || text[0] == '.' ? strtod(text, &end) : (end = text, NAN);
  *rest = (piece){p.at + (end - text), p.n - (int)(end - text)};
  return v;
}

/* B, K, KB, KiB, M, ..: powers of 1024, as nccl-tests reads its own options. 0: no unit. */
static double unit_of_suffix(piece p) {
  static const char kScales[] = "KMGT";
  if (p.n == 0) return 1;
  const char *scale = strchr(kScales, toupper((unsigned char)p.at[0]));
  double unit = 1;
  if (scale && *scale) {
    for (long i = scale - kScales; i >= 0; i--) unit *= 1024;
    p = (piece){p.at + 1, p.n - 1};
    if (p.n == 2 && p.at[0] == 'i') p = (piece){p.at + 1, 1};
  }
  return p.n == 0 || (p.n == 1 && p.at[0] == 'B') ? unit : 0;
}

/* "#  Rank  0 Group  0 Pid   6899 on node0 device  0 [0000:04:00] NVIDIA H100 80GB HBM3"; older ones say no group. */
static sw_rc read_rank(reader *r, const char *text, size_t n, const piece *cells, int count) {
  int64_t group = 0;
  piece rest, host = {0}, device = {0};
  for (int i = 0; i + 1 < count && !host.n; i++) {
    if (piece_is(cells[i], "Group")) group = (int64_t)fmin(fmax(leading_number(cells[i + 1], &rest), 0), MAX_RANKS);
    if (piece_is(cells[i], "on")) host = cells[i + 1];
  }
  for (size_t i = 0; i + 1 < n; i++)
    if (text[i] == ']') {
      while (i + 1 < n && isspace((unsigned char)text[i + 1])) i++;
      device = (piece){text + i + 1, (int)(n - i - 1)};
      break;
    }
  return host.n && r->table.ranks < MAX_RANKS ? add_ranks(r, 1, group, host, device) : SW_OK;
}

static sw_rc read_column_head(reader *r, int32_t line, const piece *cells, int count) {
  sw_span where = {r->file, line, 1};
  int times = 0;
  r->time[0] = r->time[1] = -1;
  r->stamp = piece_is(cells[count - 1], "timestamp") ? 2 : 0;
  r->n_cells = count - (r->stamp ? 1 : 0);
  for (int i = 0; i < r->n_cells; i++)
    if ((piece_is(cells[i], "time") || piece_is(cells[i], "cputime")) && times < 2) r->time[times++] = i;
  if (times == 0) return SW_FAIL_INPUT(r->d, where, "no column 'time' in a table of nccl-tests");
  if (r->table.ranks == 0)
    return SW_FAIL_INPUT(r->d, where,
                         "a table of unknown ranks; expected the lines '#  Rank  0 .. on HOST device ..' before it");
  if (!r->table.program) SW_TRY(program_of_file(r, where));
  r->table.line = line;
  r->unit = 1;
  r->inside = true;
  return SW_OK;
}

/* A comment, its '#' taken off. */
static sw_rc read_comment(reader *r, int32_t line, const char *text, size_t n) {
  piece cells[MAX_CELLS];
  int count = split_cells(text, n, cells);
  if (count == 0) return SW_OK;
  if (piece_is(cells[0], kHead) && count > 2) {
    if (r->inside) SW_TRY(end_table(r));
    return read_column_head(r, line, cells, count);
  }
  if (r->inside && cells[0].at[0] == '(') {
    double unit = unit_of_suffix((piece){cells[0].at + 1, cells[0].n - 2});
    if (cells[0].n < 3 || !(unit > 0))
      return SW_FAIL_INPUT(r->d, ((sw_span){r->file, line, 1}), "sizes in '%.*s'; expected (B), (KB), (MB) or (GB)",
                           cells[0].n, cells[0].at);
    r->unit = unit;
    return SW_OK;
  }
  if (r->inside) SW_TRY(end_table(r));
  if (piece_is(cells[0], "Rank")) return read_rank(r, text, n, cells, count);
  return SW_OK;
}

/* A time that was not measured is N/A or nan. */
static sw_rc read_time(reader *r, int32_t line, piece cell, double *out) {
  piece rest;
  *out = leading_number(cell, &rest);
  if ((!isnan(*out) && rest.n == 0) || piece_is(cell, "N/A") || piece_is(cell, "nan")) return SW_OK;
  return SW_FAIL_INPUT(r->d, ((sw_span){r->file, line, 1}), "time '%.*s'; expected microseconds", cell.n, cell.at);
}

static sw_rc read_nccl_row(reader *r, int32_t line, const char *text, size_t n) {
  piece cells[MAX_CELLS], rest;
  int count = split_cells(text, n, cells);
  if (count == 0 || !isdigit((unsigned char)cells[0].at[0]) || memchr(cells[0].at, ':', (size_t)cells[0].n))
    return SW_OK; /* the log of another program */
  double bytes = leading_number(cells[0], &rest), unit = rest.n ? unit_of_suffix(rest) : r->unit, us[2] = {0};
  if (!(unit > 0) || !isfinite(bytes))
    return SW_FAIL_INPUT(r->d, ((sw_span){r->file, line, 1}), "size '%.*s'; expected one such as 1048576 or 1M",
                         cells[0].n, cells[0].at);
  int blanks = r->n_cells + r->stamp - count; /* redop and root may be blank */
  if (blanks < 0 || blanks > 2 || r->time[0] <= blanks)
    return SW_FAIL_INPUT(r->d, ((sw_span){r->file, line, 1}), "%d cells; the header has %d", count, r->n_cells);
  for (int i = 0; i < 2 && r->time[i] >= 0; i++) SW_TRY(read_time(r, line, cells[r->time[i] - blanks], &us[i]));
  return add_nccl_row(r, line, bytes * unit, us[0], us[1]);
}

/* "[1,0]<stdout>:", which mpirun --tag-output writes before each line. */
static const char *after_tag(const char *text, const char *end) {
  if (text == end || *text != '[') return text;
  const char *close = memchr(text, '>', (size_t)(end - text));
  return close && close + 1 < end && close[1] == ':' ? close + 2 : text;
}

static sw_rc read_log_line(reader *r, int32_t line, const char *text, const char *end) {
  text = after_tag(text, end);
  while (text < end && isspace((unsigned char)*text)) text++;
  while (end > text && isspace((unsigned char)end[-1])) end--;
  size_t n = (size_t)(end - text);
  bool comment = n && *text == '#';
  if (r->inside) return comment ? read_comment(r, line, text + 1, n - 1) : read_nccl_row(r, line, text, n);
  piece program = program_in(text, n);
  static const char concluded[] = "# Collective test concluded";
  if (program.n && (n < sizeof concluded || memcmp(text, concluded, sizeof concluded - 1)))
    SW_TRY(set_program(r, program.at, (size_t)program.n));
  return comment ? read_comment(r, line, text + 1, n - 1) : SW_OK;
}

sw_rc sw_nccl_text(const char *file, const char *bytes, size_t n, sw_arena *arena, sw_nccl_tables *out, sw_diag *d) {
  reader r = {.file = file, .arena = arena, .d = d};
  const char *end = bytes + n;
  int32_t line = 1;
  sw_rc rc = SW_OK;
  begin_head(&r);
  for (const char *at = bytes; at < end && !rc; line++) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    rc = read_log_line(&r, line, at, stop);
    at = stop + 1;
  }
  if (!rc && r.inside) rc = end_table(&r);
  if (!rc && r.tables.n == 0)
    rc = SW_FAIL_INPUT(d, ((sw_span){file, line, 1}), "no table of nccl-tests; expected a line '# size count type ..'");
  return finish_tables(&r, rc, out);
}

bool sw_nccl_is_text(const char *bytes, size_t n) {
  const char *end = bytes + n;
  piece cells[MAX_CELLS];
  for (const char *at = bytes; at < end;) {
    const char *stop = memchr(at, '\n', (size_t)(end - at));
    if (!stop) stop = end;
    const char *text = after_tag(at, stop);
    int count = split_cells(text, (size_t)(stop - text), cells);
    if (count > 2 && piece_is(cells[0], "#") && (piece_is(cells[1], "nThread") || piece_is(cells[1], kHead)))
      return true;
    at = stop + 1;
  }
  return false;
}

/* --- JSON --- */

static sw_rc json_time(reader *r, const sw_json *row, const char *key, double *out) {
  const sw_json *v = sw_json_find(row, key), *time = NULL;
  *out = 0;
  if (!v || v->kind == SW_JSON_NULL) return SW_OK;
  SW_TRY(sw_json_expect(v, SW_JSON_OBJECT, r->d));
  time = sw_json_find(v, "time");
  if (!time) time = sw_json_find(v, "cpu_time");
  if (!time) return SW_FAIL_INPUT(r->d, sw_json_span(v), "missing key 'time'");
  if (time->kind == SW_JSON_STRING) return SW_OK; /* "nan" */
  return sw_json_as_f64(time, 0, 1e15, out, r->d);
}

/* A process says its first rank; each has as many as threads times devices of a thread. */
static sw_rc json_ranks(reader *r, const sw_json *v) {
  const sw_json *config, *devices;
  int64_t threads, each;
  SW_TRY(sw_json_object(v, "config", &config, r->d));
  SW_TRY(sw_json_i64(config, "nthreads", 1, 1024, &threads, r->d));
  SW_TRY(sw_json_i64(config, "ngpus", 1, 1024, &each, r->d));
  SW_TRY(sw_json_array(config, "devices", &devices, r->d));
  for (int i = 0; i < devices->n; i++) {
    const char *host, *info = "";
    int64_t group = 0;
    SW_TRY(sw_json_string(&devices->at[i], "hostname", &host, r->d));
    SW_TRY(sw_json_opt_string(&devices->at[i], "device_info", &info, r->d));
    SW_TRY(sw_json_opt_i64(&devices->at[i], "group", INT32_MIN, INT32_MAX, &group, r->d));
    SW_TRY(add_ranks(r, threads * each, group, (piece){host, (int)strlen(host)}, (piece){info, (int)strlen(info)}));
  }
  if (r->table.ranks) return SW_OK;
  return SW_FAIL_INPUT(r->d, sw_json_span(devices), "'devices' is empty; expected one per process");
}

static sw_rc json_program(reader *r, const sw_json *v) {
  const sw_json *args = NULL;
  SW_TRY(sw_json_opt_array(v, "args", &args, r->d));
  if (args && args->n) {
    const char *name;
    SW_TRY(sw_json_as_string(&args->at[0], &name, r->d));
    piece p = program_in(name, strlen(name));
    if (p.n) return set_program(r, p.at, (size_t)p.n);
  }
  return program_of_file(r, sw_json_span(args ? args : v));
}

static sw_rc json_table(reader *r, const sw_json *v) {
  const sw_json *rows;
  SW_TRY(sw_json_array(v, "results", &rows, r->d));
  SW_TRY(json_ranks(r, v));
  SW_TRY(json_program(r, v));
  r->table.line = rows->line;
  for (int i = 0; i < rows->n; i++) {
    double bytes, out_us, in_us;
    SW_TRY(sw_json_f64(&rows->at[i], "size", 0, 9e15, &bytes, r->d));
    SW_TRY(json_time(r, &rows->at[i], "out_of_place", &out_us));
    SW_TRY(json_time(r, &rows->at[i], "in_place", &in_us));
    SW_TRY(add_nccl_row(r, rows->at[i].line, bytes, out_us, in_us));
  }
  return end_table(r);
}

bool sw_nccl_is_json(const sw_json *v) {
  return v->kind == SW_JSON_OBJECT && sw_json_find(v, "config") && sw_json_find(v, "results");
}

sw_rc sw_nccl_json(const char *file, const sw_json *v, sw_arena *arena, sw_nccl_tables *out, sw_diag *d) {
  reader r = {.file = file, .arena = arena, .d = d};
  begin_head(&r);
  return finish_tables(&r, json_table(&r, v), out);
}
