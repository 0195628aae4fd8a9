/* Pins in words (pins.h). */
#include "shardwright/pins.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "graph/find.h"

typedef struct reader {
  const sw_graph *g;
  const sw_mesh *mesh;
  sw_arena *arena;
  const char *text;
  sw_span at; /* where it stands */
  SW_ARRAY(sw_pin) pins;
} reader;

typedef struct part {
  const char *s;
  size_t n;
} part;

static part trim(const char *s, size_t n) {
  while (n && isspace((unsigned char)*s)) s++, n--;
  while (n && isspace((unsigned char)s[n - 1])) n--;
  return (part){s, n};
}

static bool part_begins_with(part p, const char *word) {
  const size_t n = strlen(word);
  return p.n >= n && memcmp(p.s, word, n) == 0;
}

/* Does a sharding begin here, in one of its spellings? */
static bool begins_sharding(part p) {
  if (!p.n) return false;
  if (strchr("[<#{", *p.s) || part_begins_with(p, "PartitionSpec") || part_begins_with(p, "split_axes")) return true;
  return strchr("PRS_", *p.s) && (p.n == 1 || strchr("(PRS_", p.s[1]));
}

/* The sign '=' behind the name, which may have such signs itself. */
static const char *end_of_name(part p) {
  for (size_t i = 0; i < p.n; i++) {
    if (p.s[i] == '=' && begins_sharding(trim(p.s + i + 1, p.n - i - 1))) return p.s + i;
  }
  return NULL;
}

static sw_span span_in_text(const reader *r, const char *at) {
  sw_span place = r->at;
  place.col += (int32_t)(at - r->text);
  return place;
}

static sw_rc add_pin(reader *r, sw_id value, const sw_value_use *use, part sharding, sw_diag *d) {
  const sw_value *v = &r->g->values[value];
  sw_pin pin = {.value = value, .behind = !use, .of_use = use != NULL};
  sw_parsed_sharding read;
  if (use) pin.use = *use;
  SW_TRY_NOTE(d,
              sw_sharding_parse_open(r->mesh, v->type.rank, sw_sharding_form_of(sharding.s, sharding.n), sharding.s,
                                     sharding.n, span_in_text(r, sharding.s), r->arena, &read, d),
              "while reading the sharding of '%s'", v->name);
  pin.sharding = read.sharding;
  pin.open_dims = read.open;
  SW_TRY_NOTE(d, sw_sharding_verify(r->mesh, &pin.sharding, v->type.rank, v->type.dims, d),
              "while reading the sharding of '%s'", v->name);
  SW_TRY(sw_sharding_settle(r->mesh, &pin.sharding, r->arena, d));
  return sw_array_push(&r->pins, pin, d);
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

static bool part_is(part p, const char *word) { return p.n == strlen(word) && part_begins_with(p, word); }

static sw_rc pin_all(reader *r, part name, part use, part sharding, sw_diag *d) {
  sw_found found;
  const sw_value_use *uses;
  int32_t n_uses;
  SW_TRY(sw_find_values(r->g, name.s, name.n, r->arena, &found, d));
  if (!use.s || part_is(use, "stored")) {
    for (int32_t i = 0; i < found.n; i++) SW_TRY(add_pin(r, found.values[i], NULL, sharding, d));
    return SW_OK;
  }
  SW_TRY(sw_find_uses(r->g, &found, part_is(use, "used") ? NULL : use.s, use.n, r->arena, &n_uses, &uses, d));
  for (int32_t i = 0; i < n_uses; i++) {
    const sw_id value = uses[i].op < 0 ? r->g->outputs[uses[i].index] : r->g->ops[uses[i].op].operands[uses[i].index];
    SW_TRY(add_pin(r, value, &uses[i], sharding, d));
  }
  return SW_OK;
}

static sw_rc read_pin(reader *r, part text, sw_diag *d) {
  const char *equals = end_of_name(text);
  if (!equals)
    return SW_FAIL(d, SW_E_USAGE, span_in_text(r, text.s),
                   "'%.*s' is no pin; expected NAME=SHARDING, as w=[[],[x]] or w=P(None, 'x')", (int)text.n, text.s);
  part name = trim(text.s, (size_t)(equals - text.s)), use;
  split_use(r->g, &name, &use);
  const sw_rc rc = pin_all(r, name, use, trim(equals + 1, (size_t)(text.s + text.n - equals - 1)), d);
  if (rc && d && !d->line) {
    const sw_span at = span_in_text(r, text.s);
    snprintf(d->file, sizeof d->file, "%s", at.file);
    d->line = at.line;
    d->col = at.col;
  }
  return rc;
}

/* Up to the next ';', but for those within the quotes of a key: params['a;b']. */
static size_t pin_length(const char *at) {
  size_t n = 0;
  while (at[n] && at[n] != ';') {
    const char quote = n > 0 && at[n - 1] == '[' && strchr("'\"", at[n]) ? at[n] : 0;
    const char *close = quote ? strchr(at + n + 1, quote) : NULL;
    n = close ? (size_t)(close - at) + 1 : n + 1;
  }
  return n;
}

static sw_rc read_pins(reader *r, sw_diag *d) {
  for (const char *at = r->text; *at;) {
    const size_t n = pin_length(at);
    const part pin = trim(at, n);
    if (pin.n) SW_TRY(read_pin(r, pin, d));
    at += n + (at[n] == ';');
  }
  if (!r->pins.n) return SW_FAIL(d, SW_E_USAGE, r->at, "there is no pin; expected NAME=SHARDING, as w=[[],[x]]");
  return SW_OK;
}

sw_rc sw_pins_parse(const sw_graph *g, const sw_mesh *mesh, const char *text, sw_span at, sw_arena *arena, int32_t *n,
                    const sw_pin **out, sw_diag *d) {
  reader r = {.g = g, .mesh = mesh, .arena = arena, .text = text, .at = at};
  sw_rc rc = read_pins(&r, d);
  *n = (int32_t)r.pins.n;
  if (!rc) *out = sw_arena_copy(arena, r.pins.at, r.pins.n, sizeof *r.pins.at, d);
  sw_array_free(&r.pins);
  return rc ? rc : *out ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_pins_require(const sw_request *r, const sw_mesh *mesh, int32_t n, const sw_pin *pins, sw_span at,
                      sw_arena *arena, sw_request *out, sw_diag *d) {
  sw_annotation *all;
  SW_ARENA_NEW(all, arena, r->n_annotations + n, d);
  if (r->n_annotations) memcpy(all, r->annotations, (size_t)r->n_annotations * sizeof *all);
  for (int32_t i = 0; i < n; i++) all[r->n_annotations + i] = sw_pin_required(&pins[i], at);
  *out = *r;
  out->annotations = all;
  out->n_annotations = r->n_annotations + n;
  out->has_mesh = true;
  out->mesh = *mesh;
  return SW_OK;
}

static sw_rc check_even(const sw_graph *g, const sw_mesh *mesh, int32_t n, const sw_pin *pins, sw_span at, sw_diag *d) {
  for (int32_t i = 0; i < n; i++) {
    const sw_value *v = &g->values[pins[i].value];
    for (int dim = 0; dim < v->type.rank; dim++) {
      int n_refs;
      const sw_axis_ref *refs = sw_sharding_dim(&pins[i].sharding, dim, &n_refs);
      int64_t parts = 1;
      sw_text axes = {0};
      for (int k = 0; k < n_refs; k++) parts *= refs[k].size; /* no more than there are devices */
      if (v->type.dims[dim] % parts == 0) continue;
      sw_axis_refs_print(mesh, refs, n_refs, &axes);
      const sw_rc rc = SW_FAIL_INPUT(
          d, at, "dim %d of '%s' is of %lld and cut by %s, which are %lld parts; expected a pin that divides it", dim,
          v->name, (long long)v->type.dims[dim], sw_text_str(&axes), (long long)parts);
      sw_text_free(&axes);
      return rc;
    }
  }
  return SW_OK;
}

sw_rc sw_pins_take(const sw_job *j, int n, const char *const *texts, const char *file, bool even, sw_arena *arena,
                   sw_job *out, sw_diag *d) {
  const sw_mesh *mesh = sw_machine_mesh(j->machine);
  *out = *j;
  for (int i = 0; i < n; i++) {
    const sw_span at = {file, i + 1, 1};
    const sw_pin *pins;
    sw_request *pinned;
    int32_t n_pins;
    SW_ARENA_NEW(pinned, arena, 1, d);
    SW_TRY(sw_pins_parse(j->graph, mesh, texts[i], at, arena, &n_pins, &pins, d));
    if (even) SW_TRY(check_even(j->graph, mesh, n_pins, pins, at, d));
    SW_TRY(sw_pins_require(out->request, mesh, n_pins, pins, at, arena, pinned, d));
    out->request = pinned;
  }
  return SW_OK;
}
