#include "cli/what_if.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "base/array.h"
#include "base/columns.h"
#include "base/name_groups.h"
#include "graph/find.h"
#include "io/json_write.h"

enum { LONGEST_LINE = 1 << 16, MOST_ROWS = 8 };

/* --- reading a question ------------------------------------------------------------------------------------------ */

typedef struct question {
  const sw_graph *g;
  const sw_mesh *mesh;
  sw_arena *arena;
  const char *text;
  sw_span at; /* where it stands */
  SW_ARRAY(sw_pin) pins;
} question;

typedef struct part {
  const char *s;
  size_t n;
} part;

static part trim(const char *s, size_t n) {
  while (n && isspace((unsigned char)*s)) s++, n--;
  while (n && isspace((unsigned char)s[n - 1])) n--;
  return (part){s, n};
}

static bool begins_with(part p, const char *word) {
  const size_t n = strlen(word);
  return p.n >= n && memcmp(p.s, word, n) == 0;
}

/* Does a sharding begin here, in one of its spellings? */
static bool begins_sharding(part p) {
  if (!p.n) return false;
  if (strchr("[<#{", *p.s) || begins_with(p, "PartitionSpec") || begins_with(p, "split_axes")) return true;
  return strchr("PRS_", *p.s) && (p.n == 1 || strchr("(PRS_", p.s[1]));
}

/* The sign '=' behind the name, which may have such signs itself. */
static const char *end_of_name(part p) {
  for (size_t i = 0; i < p.n; i++) {
    if (p.s[i] == '=' && begins_sharding(trim(p.s + i + 1, p.n - i - 1))) return p.s + i;
  }
  return NULL;
}

static sw_span place_of(const question *q, const char *at) {
  sw_span place = q->at;
  place.col += (int32_t)(at - q->text);
  return place;
}

static sw_rc add_pin(question *q, sw_id value, const sw_value_use *use, part sharding, sw_diag *d) {
  const sw_value *v = &q->g->values[value];
  sw_pin pin = {.value = value, .of_use = use != NULL};
  if (use) pin.use = *use;
  SW_TRY_NOTE(d,
              sw_sharding_parse_as(q->mesh, v->type.rank, sw_sharding_form_of(sharding.s, sharding.n), sharding.s,
                                   sharding.n, place_of(q, sharding.s), q->arena, &pin.sharding, d),
              "while reading the sharding of '%s'", v->name);
  SW_TRY_NOTE(d, sw_sharding_verify(q->mesh, &pin.sharding, v->type.rank, v->type.dims, d),
              "while reading the sharding of '%s'", v->name);
  return sw_array_push(&q->pins, pin, d);
}

/* NAME@USE in two, unless a value has that name; `use->s` NULL: there is none. */
static void split_use(const sw_graph *g, part *name, part *use) {
  *use = (part){NULL, 0};
  if (sw_find_named(g, name->s, name->n) >= 0) return;
  for (size_t i = name->n; i-- > 0;) {
    if (name->s[i] != '@') continue;
    *use = trim(name->s + i + 1, name->n - i - 1);
    *name = trim(name->s, i);
    return;
  }
}

static bool is(part p, const char *word) { return p.n == strlen(word) && begins_with(p, word); }

static sw_rc pin_all(question *q, part name, part use, part sharding, sw_diag *d) {
  sw_found found;
  const sw_value_use *uses;
  int32_t n_uses;
  SW_TRY(sw_find_values(q->g, name.s, name.n, q->arena, &found, d));
  if (!use.s || is(use, "stored")) {
    for (int32_t i = 0; i < found.n; i++) SW_TRY(add_pin(q, found.values[i], NULL, sharding, d));
    return SW_OK;
  }
  SW_TRY(sw_find_uses(q->g, &found, is(use, "used") ? NULL : use.s, use.n, q->arena, &n_uses, &uses, d));
  for (int32_t i = 0; i < n_uses; i++) {
    const sw_id value = uses[i].op < 0 ? q->g->outputs[uses[i].index] : q->g->ops[uses[i].op].operands[uses[i].index];
    SW_TRY(add_pin(q, value, &uses[i], sharding, d));
  }
  return SW_OK;
}

static sw_rc read_pin(question *q, part text, sw_diag *d) {
  const char *equals = end_of_name(text);
  if (!equals)
    return SW_FAIL(d, SW_E_USAGE, place_of(q, text.s),
                   "'%.*s' is no pin; expected NAME=SHARDING, as w=[[],[x]] or w=P(None, 'x')", (int)text.n, text.s);
  part name = trim(text.s, (size_t)(equals - text.s)), use;
  split_use(q->g, &name, &use);
  const sw_rc rc = pin_all(q, name, use, trim(equals + 1, (size_t)(text.s + text.n - equals - 1)), d);
  if (rc && d && !d->line) {
    const sw_span at = place_of(q, text.s);
    snprintf(d->file, sizeof d->file, "%s", at.file);
    d->line = at.line;
    d->col = at.col;
  }
  return rc;
}

static sw_rc read_question(question *q, sw_diag *d) {
  for (const char *at = q->text; *at;) {
    const size_t n = strcspn(at, ";");
    const part pin = trim(at, n);
    if (pin.n) SW_TRY(read_pin(q, pin, d));
    at += n + (at[n] == ';');
  }
  if (!q->pins.n) return SW_FAIL(d, SW_E_USAGE, q->at, "there is no pin; expected NAME=SHARDING, as w=[[],[x]]");
  return SW_OK;
}

static const sw_span kOfOption = {"--what-if", 1, 1};

sw_rc sw_check_questions(const sw_graph *g, const sw_mesh *mesh, const sw_words *texts, sw_diag *d) {
  sw_rc rc = SW_OK;
  for (int i = 0; i < texts->n && !rc; i++) {
    sw_arena arena = {0};
    question q = {.g = g, .mesh = mesh, .arena = &arena, .text = texts->at[i], .at = kOfOption};
    if (strcmp(texts->at[i], "-") != 0) rc = read_question(&q, d);
    sw_array_free(&q.pins);
    sw_arena_deinit(&arena);
  }
  return rc;
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

typedef struct answer {
  const char *text; /* of the question */
  int32_t n_pins;
  sw_rc rc;
  const char *why; /* there is no plan */
  sw_plan plan;
  sw_breakdown breakdown;
  int32_t n_changed; /* values that are made in another sharding */
  const sw_named *changed;
  int32_t n_groups;
  const sw_name_group *groups; /* of these */
} answer;

static double change_of(const sw_questions *q, const answer *a) {
  return q->breakdown->total_s > 0 ? a->breakdown.total_s / q->breakdown->total_s - 1 : 0;
}

static bool differs(const sw_collective_sum *a, const sw_collective_sum *b) {
  return a->calls != b->calls || a->bytes < b->bytes || a->bytes > b->bytes;
}

static void print_calls(const sw_questions *q, const answer *a, sw_text *out) {
  bool any = false;
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *was = &q->breakdown->by_collective[i], *is_now = &a->breakdown.by_collective[i];
    if (!differs(was, is_now)) continue;
    sw_text_printf(out, "%s %s %lld -> %lld calls, ", any ? ";" : "  collectives", sw_coll_text((sw_coll_op)i),
                   (long long)was->calls, (long long)is_now->calls);
    sw_text_bytes(out, was->bytes);
    sw_text_puts(out, " -> ");
    sw_text_bytes(out, is_now->bytes);
    any = true;
  }
  sw_text_puts(out, any ? "\n" : "  collectives as before\n");
}

static void print_changes(const sw_questions *q, const answer *a, sw_text *out) {
  sw_columns c = {.n = 3, .right = {false, true, false}};
  if (a->n_pins > 1) sw_text_printf(out, "  %d pins\n", a->n_pins);
  print_calls(q, a, out);
  sw_text_puts(out, "  memory ");
  sw_text_bytes(out, (double)q->breakdown->peak_bytes);
  sw_text_puts(out, " -> ");
  sw_text_bytes(out, (double)a->breakdown.peak_bytes);
  sw_text_printf(out, "\n  %d of %d values made in another sharding\n", a->n_changed, a->plan.graph->n_values);
  for (int32_t i = 0; i < a->n_groups && i < MOST_ROWS; i++) {
    const sw_name_group *g = &a->groups[i];
    sw_columns_add(&c, "%s", g->name);
    sw_columns_add(&c, g->n > 1 ? "x%d" : "", g->n);
    sw_columns_add(&c, "%s", a->changed[g->items[0]].like);
  }
  sw_columns_print(&c, 4, out);
  if (a->n_groups > MOST_ROWS) sw_text_printf(out, "    and %d more rows; --json has all\n", a->n_groups - MOST_ROWS);
}

static void print_lines(const sw_questions *q, const answer *a, sw_text *out) {
  sw_text_printf(out, "what if %s: ", a->text);
  if (a->rc) {
    sw_text_printf(out, "no plan: %s\n", a->why);
    return;
  }
  sw_text_seconds(out, a->breakdown.total_s);
  sw_text_printf(out, " (%+.2f %%), gap %.2f %%", 100 * change_of(q, a), 100 * sw_plan_gap(&a->plan));
  if (!sw_plan_bound_is_proven(&a->plan)) sw_text_puts(out, " to the strategies enumerated");
  sw_text_puts(out, ", ");
  sw_text_bytes(out, (double)a->breakdown.peak_bytes);
  sw_text_puts(out, "; planned in ");
  sw_text_seconds(out, a->plan.time_s);
  sw_text_puts(out, "\n");
  print_changes(q, a, out);
}

static void put_changes(const sw_questions *q, const answer *a, sw_json_out *o) {
  sw_jw_i64(o, "pins", a->n_pins);
  sw_jw_i64(o, "peak_bytes_before", q->breakdown->peak_bytes);
  sw_jw_i64(o, "values_changed", a->n_changed);
  sw_jw_row(o, "changed");
  for (int32_t i = 0; i < a->n_groups; i++) {
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "name", a->groups[i].name);
    sw_jw_i64(o, "count", a->groups[i].n);
    sw_jw_string(o, "sharding", a->changed[a->groups[i].items[0]].like);
    sw_jw_end(o);
  }
  sw_jw_end(o);
  sw_jw_row(o, "collectives");
  for (int i = 0; i < SW_COLL_COUNT; i++) {
    const sw_collective_sum *was = &q->breakdown->by_collective[i], *is_now = &a->breakdown.by_collective[i];
    if (!differs(was, is_now)) continue;
    sw_jw_object_row(o, NULL);
    sw_jw_string(o, "op", sw_coll_text((sw_coll_op)i));
    sw_jw_i64(o, "calls_before", was->calls);
    sw_jw_i64(o, "calls", is_now->calls);
    sw_jw_f64(o, "bytes_before", was->bytes);
    sw_jw_f64(o, "bytes", is_now->bytes);
    sw_jw_end(o);
  }
  sw_jw_end(o);
}

static void print_json(const sw_questions *q, const answer *a, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_object_row(&o, NULL);
  sw_jw_string(&o, "format", "shardwright-what-if");
  sw_jw_i64(&o, "version", 1);
  sw_jw_string(&o, "what_if", a->text);
  sw_jw_bool(&o, "made", !a->rc);
  if (a->rc) {
    sw_jw_string(&o, "why", a->why);
  } else {
    sw_jw_f64(&o, "total_s", a->breakdown.total_s);
    sw_jw_f64(&o, "change", change_of(q, a));
    sw_jw_f64(&o, "bound_s", (double)a->plan.bound_units / SW_COST_UNITS_PER_S);
    sw_jw_f64(&o, "gap", sw_plan_gap(&a->plan));
    sw_jw_bool(&o, "bound_proven", sw_plan_bound_is_proven(&a->plan));
    sw_jw_i64(&o, "peak_bytes", a->breakdown.peak_bytes);
    put_changes(q, a, &o);
    sw_jw_f64(&o, "time_s", a->plan.time_s);
  }
  sw_jw_end(&o);
}

/* Values that the two plans make otherwise, those that changed alike in groups. */
static sw_rc find_changes(const sw_questions *q, sw_arena *arena, answer *a, sw_diag *d) {
  const sw_graph *g = q->plan->graph;
  const sw_mesh *m = sw_machine_mesh(q->plan->machine);
  sw_named *items;
  SW_ARENA_NEW(items, arena, g->n_values, d);
  for (sw_id v = 0; v < g->n_values; v++) {
    sw_sharding was, is_now;
    sw_plan_value_sharding(q->plan, v, &was);
    sw_plan_value_sharding(&a->plan, v, &is_now);
    if (sw_sharding_equal(&was, &is_now)) continue;
    sw_text t = {0};
    sw_sharding_print(m, &was, &t);
    sw_text_puts(&t, " -> ");
    sw_sharding_print(m, &is_now, &t);
    const char *like = t.rc ? NULL : sw_arena_strndup(arena, t.at, t.n, d);
    sw_text_free(&t);
    if (!like) return SW_E_RESOURCE;
    items[a->n_changed++] = (sw_named){g->values[v].name, like, ""};
  }
  a->changed = items;
  return sw_group_names(a->n_changed, items, arena, &a->n_groups, &a->groups, d);
}

/* A plan that does not exist or was not found is an answer, too. */
static sw_rc ask(const sw_questions *q, const question *of, answer *a, sw_diag *d) {
  sw_diag why = {0};
  a->n_pins = (int32_t)of->pins.n;
  a->rc = sw_planner_ask(q->planner, a->n_pins, of->pins.at, of->arena, &a->plan, &why);
  if (a->rc == SW_E_INFEASIBLE || a->rc == SW_E_RESOURCE) {
    a->why = sw_arena_copy(of->arena, why.text, strlen(why.text) + 1, 1, d);
    return a->why ? SW_OK : SW_E_RESOURCE;
  }
  if (a->rc && d) *d = why;
  if (a->rc) return a->rc;
  SW_TRY(sw_plan_breakdown(&a->plan, of->arena, &a->breakdown, d));
  return find_changes(q, of->arena, a, d);
}

static sw_rc tell(const sw_questions *q, const answer *a, sw_diag *d) {
  sw_text out = {0};
  (q->json ? print_json : print_lines)(q, a, &out);
  return sw_print_text(&out, d);
}

static sw_rc answer_read(const sw_questions *q, const question *of, sw_diag *d) {
  answer a = {.text = of->text};
  SW_TRY(ask(q, of, &a, d));
  return tell(q, &a, d);
}

/* A question that cannot be read, with `bad` (NULL: it ends the rest): said, counted, and with --json an answer. */
static sw_rc tell_unread(const sw_questions *q, const char *text, const sw_diag *why, int *bad, sw_diag *d) {
  const answer a = {.text = text, .rc = why->rc, .why = why->text};
  ++*bad;
  sw_diag_print(why, stderr, false);
  return q->json ? tell(q, &a, d) : SW_OK;
}

static sw_rc answer_one(const sw_questions *q, const char *text, sw_span at, int *bad, sw_diag *d) {
  sw_arena arena = {0};
  sw_diag why = {0};
  question of = {
      .g = q->plan->graph, .mesh = sw_machine_mesh(q->plan->machine), .arena = &arena, .text = text, .at = at};
  sw_rc rc = read_question(&of, &why);
  if (!rc)
    rc = answer_read(q, &of, d);
  else if (bad && (rc == SW_E_USAGE || rc == SW_E_INPUT))
    rc = tell_unread(q, text, &why, bad, d);
  else if (d)
    *d = why;
  sw_array_free(&of.pins);
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc answer_lines(const sw_questions *q, char *line, sw_cancel *cancel, sw_diag *d) {
  sw_span at = {"<stdin>", 0, 1};
  int bad = 0, asked = 0;
  while (!sw_cancelled(cancel) && fgets(line, LONGEST_LINE, stdin)) {
    size_t n = strcspn(line, "\r\n");
    at.line++;
    if (n + 1 == LONGEST_LINE)
      return SW_FAIL(d, SW_E_USAGE, at, "a line of standard input has more than %d bytes", LONGEST_LINE - 2);
    line[n] = '\0';
    if (!trim(line, n).n) continue;
    asked++;
    SW_TRY(answer_one(q, line, at, &bad, d));
  }
  if (ferror(stdin)) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot read standard input");
  if (bad) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%d of %d questions could not be read", bad, asked);
  return SW_OK;
}

static sw_rc answer_stdin(const sw_questions *q, sw_cancel *cancel, sw_diag *d) {
  char *line;
  SW_MEM_ROOM(line, LONGEST_LINE, d);
  sw_rc rc = answer_lines(q, line, cancel, d);
  sw_mem_free(line);
  return rc;
}

sw_rc sw_answer_all(const sw_questions *q, const sw_words *texts, sw_cancel *cancel, sw_diag *d) {
  for (int i = 0; i < texts->n && !sw_cancelled(cancel); i++) {
    const bool lines = strcmp(texts->at[i], "-") == 0;
    SW_TRY(lines ? answer_stdin(q, cancel, d) : answer_one(q, texts->at[i], kOfOption, NULL, d));
  }
  return SW_OK;
}
