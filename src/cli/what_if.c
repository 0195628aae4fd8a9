#include "cli/what_if.h"

#include <stdio.h>
#include <string.h>

#include "cli/output.h"
#include "base/array.h"
#include "io/json_write.h"

enum { LONGEST_LINE = 1 << 16 };

typedef SW_ARRAY(sw_pin) pin_list;

/* --- reading a question ------------------------------------------------------------------------------------------ */

static sw_rc find_value(const sw_graph *g, const char *name, size_t n, sw_id *out, sw_diag *d) {
  for (sw_id v = 0; v < g->n_values; v++) {
    *out = v;
    if (strlen(g->values[v].name) == n && memcmp(g->values[v].name, name, n) == 0) return SW_OK;
  }
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "there is no value '%.*s' in the model; expected NAME=SHARDING", (int)n,
                 name);
}

/* Where the name ends: at the last '=' before the sharding's first bracket, as names may have any sign. */
static const char *end_of_name(const char *text, size_t n) {
  const char *open = memchr(text, '[', n);
  for (const char *end = NULL; open; open = end) {
    if (open > text && open[-1] == '=') return open - 1;
    end = memchr(open + 1, '[', (size_t)(text + n - open - 1));
  }
  return NULL;
}

static sw_rc read_pin(const sw_plan *p, const char *text, size_t n, sw_arena *arena, pin_list *out, sw_diag *d) {
  const char *equals = end_of_name(text, n);
  sw_pin pin = {0};
  if (!equals)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "'%.*s' is no pin; expected NAME=SHARDING, as w=[[],[x]]", (int)n, text);
  SW_TRY(find_value(p->graph, text, (size_t)(equals - text), &pin.value, d));
  const sw_value *v = &p->graph->values[pin.value];
  SW_TRY_NOTE(d,
              sw_sharding_parse(sw_machine_mesh(p->machine), v->type.rank, equals + 1, (size_t)(text + n - equals - 1),
                                SW_NOWHERE, arena, &pin.sharding, d),
              "while reading '%.*s'", (int)n, text);
  SW_TRY_NOTE(d, sw_sharding_verify(sw_machine_mesh(p->machine), &pin.sharding, v->type.rank, v->type.dims, d),
              "while reading '%.*s'", (int)n, text);
  return sw_array_push(out, pin, d);
}

static sw_rc read_pins(const sw_plan *p, const char *text, sw_arena *arena, pin_list *out, sw_diag *d) {
  for (const char *at = text; *at;) {
    size_t n = strcspn(at, ";");
    SW_TRY(read_pin(p, at, n, arena, out, d));
    at += n + (at[n] == ';');
  }
  return SW_OK;
}

/* --- answers ----------------------------------------------------------------------------------------------------- */

typedef struct answer {
  const char *text; /* of the question */
  sw_rc rc;
  const char *why; /* there is no plan */
  sw_plan plan;
  sw_breakdown breakdown;
} answer;

static double change_of(const sw_questions *q, const answer *a) {
  return q->total_s > 0 ? a->breakdown.total_s / q->total_s - 1 : 0;
}

static void print_line(const sw_questions *q, const answer *a, sw_text *out) {
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
}

static void print_json(const sw_questions *q, const answer *a, sw_text *out) {
  sw_json_out o;
  sw_json_out_init(&o, out);
  sw_jw_object_row(&o, NULL);
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
    sw_jw_f64(&o, "time_s", a->plan.time_s);
  }
  sw_jw_end(&o);
}

/* A plan that does not exist or was not found is an answer, too. */
static sw_rc ask(const sw_questions *q, const pin_list *pins, sw_arena *arena, answer *a, sw_diag *d) {
  sw_diag why = {0};
  a->rc = sw_planner_ask(q->planner, (int32_t)pins->n, pins->at, arena, &a->plan, &why);
  if (a->rc == SW_E_INFEASIBLE || a->rc == SW_E_RESOURCE) {
    a->why = sw_arena_copy(arena, why.text, strlen(why.text) + 1, 1, d);
    return a->why ? SW_OK : SW_E_RESOURCE;
  }
  if (a->rc && d) *d = why;
  if (a->rc) return a->rc;
  return sw_plan_breakdown(&a->plan, arena, &a->breakdown, d);
}

static sw_rc answer_in(const sw_questions *q, const char *text, sw_arena *arena, pin_list *pins, sw_diag *d) {
  answer a = {.text = text};
  sw_text out = {0};
  SW_TRY(read_pins(q->plan, text, arena, pins, d));
  SW_TRY(ask(q, pins, arena, &a, d));
  if (q->json)
    print_json(q, &a, &out);
  else
    print_line(q, &a, &out);
  return sw_print_text(&out, d);
}

static sw_rc answer_one(const sw_questions *q, const char *text, sw_diag *d) {
  sw_arena arena = {0};
  pin_list pins = {0};
  sw_rc rc = answer_in(q, text, &arena, &pins, d);
  sw_array_free(&pins);
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc answer_lines(const sw_questions *q, char *line, sw_cancel *cancel, sw_diag *d) {
  while (!sw_cancelled(cancel) && fgets(line, LONGEST_LINE, stdin)) {
    size_t n = strcspn(line, "\n");
    if (n + 1 == LONGEST_LINE)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a line of standard input has more than %d bytes", LONGEST_LINE - 2);
    line[n] = '\0';
    if (n) SW_TRY(answer_one(q, line, d));
  }
  if (ferror(stdin)) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "cannot read standard input");
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
  for (int i = 0; i < texts->n && !sw_cancelled(cancel); i++)
    SW_TRY(strcmp(texts->at[i], "-") == 0 ? answer_stdin(q, cancel, d) : answer_one(q, texts->at[i], d));
  return SW_OK;
}
