#include "graph/find.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/pattern.h"
#include "graph/builder.h"
#include "shardwright/text.h"

enum { MOST_NEAREST = 3 };

static bool is_named(const char *name, const char *text, size_t n) {
  return strncmp(name, text, n) == 0 && name[n] == '\0';
}

/* --- what would have been near ------------------------------------------------------------------------------------ */

typedef struct near_name {
  const char *name;
  int distance;
} near_name;

typedef struct nearest {
  const char *text;
  size_t n;
  int32_t count;
  near_name at[MOST_NEAREST];
} nearest;

/* Do they differ in numbers alone? One of several layers is enough. */
static bool same_role(const char *a, const char *b) {
  for (;;) {
    const bool digits = isdigit((unsigned char)*a) && isdigit((unsigned char)*b);
    while (digits && isdigit((unsigned char)*a)) a++;
    while (digits && isdigit((unsigned char)*b)) b++;
    if (digits) continue;
    if (*a != *b) return false;
    if (!*a) return true;
    a++;
    b++;
  }
}

static void offer_name(nearest *near, const char *name) {
  const int most = ((int)near->n + 2) / 3;
  const near_name candidate = {name, sw_pattern_distance(near->text, near->n, name)};
  if (candidate.distance > most) return;
  for (int32_t i = 0; i < near->count; i++) {
    if (!same_role(near->at[i].name, name)) continue;
    if (near->at[i].distance <= candidate.distance) return;
    memmove(&near->at[i], &near->at[i + 1], (size_t)(--near->count - i) * sizeof *near->at);
  }
  int32_t at = near->count < MOST_NEAREST ? near->count++ : MOST_NEAREST;
  for (; at > 0 && near->at[at - 1].distance > candidate.distance; at--) {
    if (at < MOST_NEAREST) near->at[at] = near->at[at - 1];
  }
  if (at < MOST_NEAREST) near->at[at] = candidate;
}

static sw_rc fail_named(const nearest *near, const char *what, sw_diag *d) {
  sw_text names = {0};
  for (int32_t i = 0; i < near->count; i++) {
    const bool last = i + 1 == near->count;
    sw_text_printf(&names, "%s'%s'", i == 0 ? "; nearest " : last ? " and " : ", ", near->at[i].name);
  }
  const sw_rc rc = SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "%s '%.*s'%s", what, (int)near->n, near->text,
                           near->count ? sw_text_str(&names) : "; nor has one a name like that");
  sw_text_free(&names);
  return rc;
}

/* --- values ------------------------------------------------------------------------------------------------------- */

typedef SW_ARRAY(sw_id) id_list;

sw_id sw_find_named(const sw_graph *g, const char *text, size_t n) {
  return sw_graph_named(g, text, n, SW_NAME_OF_VALUE);
}

static sw_rc find_like(const sw_graph *g, const char *text, size_t n, id_list *found, sw_diag *d) {
  for (sw_id v = 0; v < g->n_values; v++) {
    if (sw_pattern_distance(text, n, g->values[v].name) == 0) SW_TRY(sw_array_push(found, v, d));
  }
  return SW_OK;
}

static sw_rc find_all(const sw_graph *g, const char *text, size_t n, id_list *found, sw_diag *d) {
  const sw_id named = sw_find_named(g, text, n);
  if (named >= 0) return sw_array_push(found, named, d);
  if (!sw_pattern_is(text, n)) return SW_OK;
  SW_TRY(sw_pattern_check(text, n, d));
  SW_TRY(find_like(g, text, n, found, d));
  if (found->n || !sw_pattern_is_of_one_part(text, n)) return SW_OK;
  sw_text across = {0};
  for (size_t i = 0; i < n; i++) {
    const bool alone = text[i] == '*' && (i == 0 || text[i - 1] != '*') && (i + 1 == n || text[i + 1] != '*');
    sw_text_printf(&across, "%.1s%s", text + i, alone ? "*" : "");
  }
  const sw_rc rc = across.rc ? across.rc : find_like(g, sw_text_str(&across), across.n, found, d);
  sw_text_free(&across);
  return rc;
}

static sw_rc fail_to_find(const sw_graph *g, const char *text, size_t n, sw_diag *d) {
  nearest near = {.text = text, .n = n};
  for (int32_t i = 0; i < g->n_args; i++) offer_name(&near, g->values[g->args[i]].name);
  for (sw_id v = 0; v < g->n_values; v++) {
    if (g->values[v].def >= 0) offer_name(&near, g->values[v].name);
  }
  return fail_named(
      &near, sw_pattern_is(text, n) ? "no value of the model is named like" : "no value of the model is named", d);
}

sw_rc sw_find_values(const sw_graph *g, const char *text, size_t n, sw_arena *arena, sw_found *out, sw_diag *d) {
  id_list found = {0};
  sw_rc rc = find_all(g, text, n, &found, d);
  if (!rc && !found.n) rc = fail_to_find(g, text, n, d);
  if (!rc && found.at) {
    *out = (sw_found){(int32_t)found.n, sw_arena_copy(arena, found.at, found.n, sizeof *found.at, d)};
    if (!out->values) rc = SW_E_RESOURCE;
  }
  sw_array_free(&found);
  return rc;
}

/* --- uses --------------------------------------------------------------------------------------------------------- */

typedef SW_ARRAY(sw_value_use) use_list;

const char *sw_use_name(const sw_graph *g, sw_value_use use) {
  return use.op >= 0 ? g->ops[use.op].name : g->output_names[use.index];
}

/* Uses by ops of just that name before all that a pattern matches. */
static sw_rc take_uses(const sw_graph *g, const sw_found *values, const char *op, size_t op_n, bool exact,
                       use_list *found, sw_diag *d) {
  for (int32_t i = 0; i < values->n; i++) {
    const sw_value *v = &g->values[values->values[i]];
    for (int32_t u = 0; u < v->n_uses; u++) {
      const char *name = sw_use_name(g, v->uses[u]);
      const bool takes = !op || (exact ? is_named(name, op, op_n) : sw_pattern_distance(op, op_n, name) == 0);
      if (takes) SW_TRY(sw_array_push(found, v->uses[u], d));
    }
  }
  return SW_OK;
}

static sw_rc fail_to_use(const sw_graph *g, const sw_found *values, const char *op, size_t op_n, sw_diag *d) {
  nearest near = {.text = op, .n = op_n};
  const char *name = g->values[values->values[0]].name;
  if (!op) return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "nothing uses '%s'", name);
  for (int32_t i = 0; i < values->n; i++) {
    const sw_value *v = &g->values[values->values[i]];
    for (int32_t u = 0; u < v->n_uses; u++) offer_name(&near, sw_use_name(g, v->uses[u]));
  }
  const sw_rc rc = fail_named(&near, "no op or output uses it that is named", d);
  sw_diag_note(d, "of '%s'%s", name, values->n > 1 ? " and others" : "");
  return rc;
}

sw_rc sw_find_uses(const sw_graph *g, const sw_found *values, const char *op, size_t op_n, sw_arena *arena, int32_t *n,
                   const sw_value_use **out, sw_diag *d) {
  use_list found = {0};
  sw_rc rc = op && sw_pattern_is(op, op_n) ? sw_pattern_check(op, op_n, d) : SW_OK;
  if (!rc && op) rc = take_uses(g, values, op, op_n, true, &found, d);
  if (!rc && !found.n) rc = take_uses(g, values, op, op_n, false, &found, d);
  if (!rc && !found.n) rc = fail_to_use(g, values, op, op_n, d);
  if (!rc) {
    *n = (int32_t)found.n;
    if (!(*out = sw_arena_copy(arena, found.at, found.n, sizeof *found.at, d))) rc = SW_E_RESOURCE;
  }
  sw_array_free(&found);
  return rc;
}
