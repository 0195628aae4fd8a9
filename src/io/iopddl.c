/* Reader of the contest's problem files, in one pass over the text.
 *
 * Keys may come in any order (the published files give the edges' costs first), so lists are kept as they come and
 * fitted together at the end. Most tables repeat: each list of numbers is stored once, found by its hash, and edges
 * share it. Example: [[0,5],[0,5]] is two lists that point to the same two numbers.
 */
#include "shardwright/iopddl.h"

#include <string.h>

#include "io/scan.h"
#include "base/array.h"
#include "base/file.h"
#include "base/hash.h"

typedef struct row {
  const int64_t *at;
  int64_t n;
} row;

typedef SW_ARRAY(row) rows;

typedef struct reader {
  io_scan in;
  sw_arena *arena;
  sw_diag *d;
  SW_ARRAY(int64_t) line; /* the list being read */
  SW_ARRAY(row) distinct;
  sw_dict seen; /* hash of a list -> its place in `distinct` */
  rows intervals, costs, usages, ends, edge_costs;
  rows groups, makes, copy_costs, readers, wants; /* of copies */
  bool has_intervals, has_usages, has_costs, has_ends, has_edge_costs;
  char name[256];
  int64_t limit;
} reader;

/* One list of numbers, each cut to `most`. */
static sw_rc read_line(reader *r, int64_t most) {
  r->line.n = 0;
  bool again;
  SW_TRY(io_scan_take(&r->in, '[', "'[' (a list of numbers)"));
  SW_TRY(io_scan_empty(&r->in, ']', &again));
  for (again = !again; again;) {
    int64_t v;
    SW_TRY(io_scan_int(&r->in, &v));
    if (v > most) v = most;
    SW_TRY(sw_array_push(&r->line, v, r->d));
    if (r->in.at < r->in.end && *r->in.at == ',')
      r->in.at++; /* the common case, without a call */
    else
      SW_TRY(io_scan_next(&r->in, ']', &again));
  }
  return SW_OK;
}

static sw_rc keep_line(reader *r, row *out) {
  size_t bytes = r->line.n * sizeof *r->line.at;
  uint64_t key[2] = {sw_hash_bytes(r->line.at, bytes, 1), r->line.n};
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(&r->seen, key, sizeof key, (int64_t)r->distinct.n, &slot, &fresh, r->d));
  if (!fresh) {
    *out = r->distinct.at[*slot];
    if (memcmp(out->at, r->line.at, bytes) == 0) return SW_OK;
  }
  int64_t *at = sw_arena_copy(r->arena, r->line.at, r->line.n, sizeof *at, r->d);
  if (!at) return SW_E_RESOURCE;
  *out = (row){at, (int64_t)r->line.n};
  return fresh ? sw_array_push(&r->distinct, *out, r->d) : SW_OK;
}

/* Of pairs, each is kept as it comes: they rarely repeat. */
static sw_rc keep_pair(reader *r, row *out) {
  if (r->line.n != 2) return io_scan_fail(&r->in, "two numbers in the list before");
  int64_t *at = sw_arena_copy(r->arena, r->line.at, 2, sizeof *at, r->d);
  *out = (row){at, 2};
  return at ? SW_OK : SW_E_RESOURCE;
}

static sw_rc read_rows(reader *r, rows *out, int64_t most, bool pairs) {
  bool again;
  SW_TRY(io_scan_take(&r->in, '[', pairs ? "'[' (a list of pairs)" : "'[' (a list of lists)"));
  SW_TRY(io_scan_empty(&r->in, ']', &again));
  for (again = !again; again;) {
    row line = {0};
    SW_TRY(read_line(r, most));
    if (pairs)
      SW_TRY(keep_pair(r, &line));
    else if (r->line.n)
      SW_TRY(keep_line(r, &line));
    SW_TRY(sw_array_push(out, line, r->d));
    SW_TRY(io_scan_next(&r->in, ']', &again));
  }
  return SW_OK;
}

/* Of an object: what reads it, or the lists that it is read into. */
typedef struct member {
  const char *key;
  sw_rc (*read)(reader *r);
  rows *lists;
  bool *has; /* NULL: it may stand several times */
  int64_t most;
  bool pairs;
} member;

static sw_rc read_member(reader *r, const member *m) {
  if (m->read) return m->read(r);
  if (m->has && *m->has) return io_scan_fail(&r->in, "every key once");
  if (m->has) *m->has = true;
  return read_rows(r, m->lists, m->most, m->pairs);
}

/* The members named in the table; others are skipped. */
static sw_rc read_object(reader *r, const member *table, size_t n_table) {
  bool again;
  SW_TRY(io_scan_take(&r->in, '{', "'{'"));
  SW_TRY(io_scan_empty(&r->in, '}', &again));
  for (again = !again; again;) {
    char key[32];
    SW_TRY(io_scan_key(&r->in, key, sizeof key));
    size_t k = 0;
    while (k < n_table && strcmp(table[k].key, key) != 0) k++;
    if (k < n_table)
      SW_TRY_NOTE(r->d, read_member(r, &table[k]), "while reading '%s'", key);
    else
      SW_TRY(io_scan_skip(&r->in));
    SW_TRY(io_scan_next(&r->in, '}', &again));
  }
  return SW_OK;
}

static sw_rc read_nodes(reader *r) {
  const member nodes[] = {{"intervals", NULL, &r->intervals, &r->has_intervals, INT64_MAX, true},
                          {"costs", NULL, &r->costs, &r->has_costs, SW_FORBIDDEN, false},
                          {"usages", NULL, &r->usages, &r->has_usages, INT64_MAX, false}};
  return read_object(r, nodes, sizeof nodes / sizeof nodes[0]);
}
static sw_rc read_edges(reader *r) {
  const member edges[] = {{"nodes", NULL, &r->ends, &r->has_ends, INT64_MAX, true},
                          {"costs", NULL, &r->edge_costs, &r->has_edge_costs, SW_FORBIDDEN, false}};
  return read_object(r, edges, sizeof edges / sizeof edges[0]);
}
static sw_rc read_copy_members(reader *r) {
  const member copies[] = {{"groups", NULL, &r->groups, NULL, INT64_MAX, false},
                           {"makes", NULL, &r->makes, NULL, INT64_MAX, false},
                           {"costs", NULL, &r->copy_costs, NULL, SW_FORBIDDEN, false},
                           {"readers", NULL, &r->readers, NULL, INT64_MAX, false},
                           {"wants", NULL, &r->wants, NULL, INT64_MAX, false}};
  if (r->groups.n + r->makes.n + r->wants.n) return io_scan_fail(&r->in, "every key once");
  return read_object(r, copies, sizeof copies / sizeof copies[0]);
}
static sw_rc read_problem_name(reader *r) { return io_scan_string(&r->in, r->name, sizeof r->name); }
static sw_rc read_limit(reader *r) { return io_scan_int(&r->in, &r->limit); }

static sw_rc read_problem(reader *r) {
  static const member kProblem[] = {{.key = "name", .read = read_problem_name},
                                    {.key = "nodes", .read = read_nodes},
                                    {.key = "edges", .read = read_edges},
                                    {.key = "copies", .read = read_copy_members},
                                    {.key = "usage_limit", .read = read_limit}};
  return read_object(r, kProblem, sizeof kProblem / sizeof kProblem[0]);
}

#define FAIL_IN_FILE(r, ...) SW_FAIL_INPUT((r)->d, ((sw_span){(r)->in.name, 0, 0}), __VA_ARGS__)

static sw_rc same_count(const reader *r, const rows *list, const char *what, size_t want, const char *of) {
  if (list->n == want) return SW_OK;
  return FAIL_IN_FILE(r, "%zu %s for %zu %s; expected as many", list->n, what, want, of);
}

static sw_rc build_node(reader *r, size_t i, sw_node *v, sw_usage *u) {
  row cost = r->costs.at[i];
  if (cost.n == 0 || cost.n > INT32_MAX)
    return FAIL_IN_FILE(r, "node %zu has %lld costs; expected 1 or more", i, (long long)cost.n);
  *v = (sw_node){.n_choices = (int32_t)cost.n, .cost = cost.at};
  if (!r->has_intervals) return SW_OK;
  row usage = r->usages.at[i];
  if (usage.n != cost.n)
    return FAIL_IN_FILE(r, "node %zu has %lld usages and %lld costs; expected as many", i, (long long)usage.n,
                        (long long)cost.n);
  const int64_t *t = r->intervals.at[i].at;
  if (t[0] >= t[1]) return SW_OK;
  *u = (sw_usage){t[0], t[1], usage.at};
  v->n_uses = 1;
  v->uses = u;
  return SW_OK;
}

static sw_rc build_nodes(reader *r, sw_problem *out) {
  size_t n = r->costs.n;
  if (n > INT32_MAX / 2) return FAIL_IN_FILE(r, "%zu nodes; expected at most %d", n, INT32_MAX / 2);
  if (r->has_intervals != r->has_usages)
    return FAIL_IN_FILE(r, "only one of 'intervals' and 'usages' is given; expected both or none");
  if (r->has_intervals) {
    SW_TRY(same_count(r, &r->intervals, "intervals", n, "nodes"));
    SW_TRY(same_count(r, &r->usages, "usages", n, "nodes"));
  }
  sw_node *nodes;
  sw_usage *uses;
  SW_ARENA_NEW_EACH(r->arena, n, r->d, nodes, uses);
  for (size_t i = 0; i < n; i++) SW_TRY(build_node(r, i, &nodes[i], &uses[i]));
  out->n_nodes = (int32_t)n;
  out->nodes = nodes;
  return SW_OK;
}

static sw_rc build_edges(reader *r, sw_problem *out) {
  size_t n = r->ends.n;
  if (n > INT32_MAX / 2) return FAIL_IN_FILE(r, "%zu edges; expected at most %d", n, INT32_MAX / 2);
  SW_TRY(same_count(r, &r->edge_costs, "tables of costs", n, "edges"));
  sw_edge *edges;
  SW_ARENA_NEW(edges, r->arena, n, r->d);
  for (size_t e = 0; e < n; e++) {
    int64_t i = r->ends.at[e].at[0], j = r->ends.at[e].at[1];
    if (i >= out->n_nodes || j >= out->n_nodes || i == j)
      return FAIL_IN_FILE(r, "edge %zu joins nodes %lld and %lld; expected two different ones below %d", e,
                          (long long)i, (long long)j, out->n_nodes);
    int64_t cells = (int64_t)out->nodes[i].n_choices * out->nodes[j].n_choices;
    if (r->edge_costs.at[e].n != cells)
      return FAIL_IN_FILE(r, "edge %zu has %lld costs; expected %d x %d", e, (long long)r->edge_costs.at[e].n,
                          out->nodes[i].n_choices, out->nodes[j].n_choices);
    edges[e] = (sw_edge){(int32_t)i, (int32_t)j, r->edge_costs.at[e].at};
  }
  out->n_edges = (int32_t)n;
  out->edges = edges;
  return SW_OK;
}

/* --- copies ------------------------------------------------------------------------------------------------------ */

static sw_rc small_numbers(reader *r, row from, const char *what, int32_t **out) {
  SW_ARENA_NEW(*out, r->arena, from.n, r->d);
  for (int64_t k = 0; k < from.n; k++) {
    if (from.at[k] > INT32_MAX / 2) return FAIL_IN_FILE(r, "%lld among %s; expected less", (long long)from.at[k], what);
    (*out)[k] = (int32_t)from.at[k];
  }
  return SW_OK;
}

/* One reader's wants: a list per choice, from r->wants[*at] on; choices of equal lists are of one class. */
static sw_rc build_wants(reader *r, int64_t n_choices, size_t *at, sw_wants *out) {
  int32_t *class_of, *first, *layout;
  size_t n = 0;
  if (n_choices < 1 || *at + (size_t)n_choices > r->wants.n)
    return FAIL_IN_FILE(r, "%zu lists of wants; expected one for every choice of a reader", r->wants.n);
  const row *list = &r->wants.at[*at];
  *at += (size_t)n_choices;
  for (int64_t s = 0; s < n_choices; s++) n += (size_t)list[s].n;
  SW_ARENA_NEW(class_of, r->arena, n_choices, r->d);
  SW_ARENA_NEW(first, r->arena, (size_t)n_choices + 1, r->d);
  SW_ARENA_NEW(layout, r->arena, n, r->d);
  *out = (sw_wants){(int32_t)n_choices, 0, class_of, first, layout};
  for (int64_t s = 0; s < n_choices; s++) {
    int64_t like = 0;
    while (like < s && (list[like].n != list[s].n || list[like].at != list[s].at)) like++;
    class_of[s] = like < s ? class_of[like] : out->n_classes;
    if (like < s) continue;
    int32_t *wanted;
    SW_TRY(small_numbers(r, list[s], "what is wanted", &wanted));
    memcpy(layout + first[out->n_classes], wanted, (size_t)list[s].n * sizeof *wanted);
    first[out->n_classes + 1] = first[out->n_classes] + (int32_t)list[s].n;
    out->n_classes++;
  }
  return SW_OK;
}

static sw_rc build_copy_table(reader *r, size_t k, size_t *at, sw_copy_table *t) {
  const row makes = r->makes.at[k], costs = r->copy_costs.at[k], readers = r->readers.at[k];
  int32_t *class_of;
  sw_wants *wants;
  SW_TRY(small_numbers(r, makes, "classes of a maker", &class_of));
  *t = (sw_copy_table){.n_choices = (int32_t)makes.n, .class_of = class_of, .cost = costs.at};
  for (int64_t s = 0; s < makes.n; s++) t->n_classes = class_of[s] < t->n_classes ? t->n_classes : class_of[s] + 1;
  if (t->n_classes == 0 || costs.n == 0 || costs.n % t->n_classes)
    return FAIL_IN_FILE(r, "copies of table %zu have %lld costs; expected as many for each of %d classes", k,
                        (long long)costs.n, t->n_classes);
  t->n_layouts = (int32_t)(costs.n / t->n_classes);
  t->n_readers = (int32_t)readers.n;
  SW_ARENA_NEW(wants, r->arena, t->n_readers, r->d);
  for (int32_t i = 0; i < t->n_readers; i++) SW_TRY(build_wants(r, readers.at[i], at, &wants[i]));
  t->wants = wants;
  return SW_OK;
}

static sw_rc build_group(reader *r, size_t k, const sw_copy_table *tables, sw_copies *out) {
  int32_t *numbers;
  const row group = r->groups.at[k];
  SW_TRY(small_numbers(r, group, "a group of copies", &numbers));
  if (group.n < 2 || (size_t)numbers[1] >= r->makes.n || group.n - 2 != tables[numbers[1]].n_readers)
    return FAIL_IN_FILE(r, "group %zu of copies; expected a maker, one of %zu tables, and its readers", k, r->makes.n);
  *out = (sw_copies){numbers[0], numbers + 2, &tables[numbers[1]], NULL};
  return SW_OK;
}

static sw_rc build_copies(reader *r, sw_problem *out) {
  const size_t n = r->makes.n;
  sw_copy_table *tables;
  sw_copies *copies;
  size_t at = 0;
  if (r->groups.n > INT32_MAX / 2) return FAIL_IN_FILE(r, "%zu groups of copies; expected fewer", r->groups.n);
  SW_TRY(same_count(r, &r->copy_costs, "costs", n, "tables of copies"));
  SW_TRY(same_count(r, &r->readers, "lists of readers", n, "tables of copies"));
  SW_ARENA_NEW(tables, r->arena, n, r->d);
  SW_ARENA_NEW(copies, r->arena, r->groups.n, r->d);
  for (size_t k = 0; k < n; k++) SW_TRY(build_copy_table(r, k, &at, &tables[k]));
  if (at != r->wants.n)
    return FAIL_IN_FILE(r, "%zu lists of wants for %zu choices of readers; expected as many", r->wants.n, at);
  for (size_t k = 0; k < r->groups.n; k++) SW_TRY(build_group(r, k, tables, &copies[k]));
  out->n_copies = (int32_t)r->groups.n;
  out->copies = copies;
  if (out->n_copies) SW_TRY_NOTE(r->d, sw_problem_verify(out, r->d), "in the copies of '%s'", r->in.name);
  return SW_OK;
}

static sw_rc read_whole(reader *r, sw_problem *out) {
  static const member kTop[] = {{.key = "problem", .read = read_problem}};
  SW_TRY(read_object(r, kTop, 1));
  char c;
  SW_TRY(io_scan_peek(&r->in, &c));
  if (c) return io_scan_fail(&r->in, "the end of the text");
  if (!r->has_costs) return FAIL_IN_FILE(r, "no costs of nodes; expected problem.nodes.costs");
  *out = (sw_problem){.limit = r->limit};
  SW_TRY(sw_arena_keep(r->arena, r->name, &out->name, r->d));
  SW_TRY(build_nodes(r, out));
  SW_TRY(build_edges(r, out));
  return build_copies(r, out);
}

static sw_rc read_and_release(reader *r, sw_problem *out) {
  r->limit = INT64_MAX;
  r->in.d = r->d;
  sw_rc rc = read_whole(r, out);
  rows *lists[] = {&r->intervals, &r->costs, &r->usages,     &r->ends,    &r->edge_costs,
                   &r->groups,    &r->makes, &r->copy_costs, &r->readers, &r->wants};
  for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) sw_array_free(lists[k]);
  sw_array_free(&r->line);
  sw_array_free(&r->distinct);
  sw_dict_deinit(&r->seen);
  return rc;
}

sw_rc sw_iopddl_parse(const char *text, size_t n, const char *name, sw_arena *arena, sw_problem *out, sw_diag *d) {
  reader r = {.arena = arena, .d = d, .in = {.at = text, .start = text, .end = text + n, .name = name}};
  return read_and_release(&r, out);
}

static sw_rc more_bytes(io_scan *s, const char **piece, size_t *n) {
  SW_TRY(sw_file_next(s->source, piece, n, s->d));
  return s->end > s->start ? SW_OK : sw_check_text(s->name, *piece, *n, s->d);
}

sw_rc sw_iopddl_read(const char *path, sw_arena *arena, sw_problem *out, sw_diag *d) {
  static const char kNothing[1] = "";
  sw_file_stream *file;
  SW_TRY(sw_file_open(path, &file, d));
  reader r = {.arena = arena, .d = d};
  r.in =
      (io_scan){.at = kNothing, .start = kNothing, .end = kNothing, .more = more_bytes, .source = file, .name = path};
  sw_rc rc = read_and_release(&r, out);
  sw_file_close(file);
  return rc;
}

/* The list of a result that solve --format json wrote, or NULL. */
static const char *list_in_json(const char *text) {
  static const char kKey[] = "\"choice\": ";
  const char *at = *text == '{' ? strstr(text, kKey) : NULL;
  return at && at[sizeof kKey - 1] == '[' ? at + sizeof kKey - 1 : NULL;
}

/* The last line that begins with '[', or NULL. */
static const char *last_list(const char *text) {
  const char *found = NULL;
  for (const char *line = text; line; line = strchr(line, '\n')) {
    line += *line == '\n';
    if (*line == '[') found = line;
  }
  return found;
}

sw_rc sw_iopddl_read_solution(const char *path, const sw_problem *p, sw_arena *arena, int32_t **choice, sw_diag *d) {
  char *bytes;
  size_t n;
  SW_TRY(sw_file_read_text(path, &bytes, &n, d));
  const char *line = list_in_json(bytes);
  if (!line) line = last_list(bytes);
  reader r = {.arena = arena, .d = d, .in = {.d = d, .name = path}};
  sw_rc rc = line ? SW_OK : FAIL_IN_FILE(&r, "no line begins with '['; expected a list of choices");
  if (!rc) {
    r.in.at = line;
    r.in.start = bytes;
    r.in.end = line + strcspn(line, "\n");
    rc = read_line(&r, INT64_MAX);
  }
  if (!rc && r.line.n != (size_t)p->n_nodes)
    rc = FAIL_IN_FILE(&r, "%zu choices for %d nodes; expected as many", r.line.n, p->n_nodes);
  if (!rc && !(*choice = sw_arena_alloc(arena, r.line.n, sizeof **choice, d))) rc = SW_E_RESOURCE;
  for (int32_t i = 0; !rc && i < p->n_nodes; i++) {
    if (r.line.at[i] >= p->nodes[i].n_choices)
      rc = FAIL_IN_FILE(&r, "choice of node %d is %lld; expected 0 to %d", i, (long long)r.line.at[i],
                        p->nodes[i].n_choices - 1);
    else
      (*choice)[i] = (int32_t)r.line.at[i];
  }
  sw_array_free(&r.line);
  sw_mem_free(bytes);
  return rc;
}
