/* PyTorch DTensor placements, one per axis of the MESH: S(0)R, RS(1), P(sum)S(0). S(0)S(0) cuts dimension 0 by the
 * first axis, then by the second; other orders have no spelling here. Read too: blanks, commas, one pair of brackets,
 * Shard(0), Replicate(), Partial(), P alone.
 *
 *   mesh x,y,z:   RS(0)P(sum)  =  [[y]] partial sum[z]
 */
#include <string.h>

#include "mesh/forms.h"
#include "mesh/refs.h"

/* Our reductions in DTensor's words. */
static const struct {
  sw_reduction kind;
  const char *word;
} kWords[] = {{SW_REDUCE_SUM, "sum"},
              {SW_REDUCE_AVERAGE, "avg"},
              {SW_REDUCE_MAX, "max"},
              {SW_REDUCE_MIN, "min"},
              {SW_REDUCE_PRODUCT, "product"}};
enum { N_WORDS = sizeof kWords / sizeof kWords[0] };

static const char *word_of(sw_reduction kind) {
  for (int i = 0; i < N_WORDS; i++) {
    if (kWords[i].kind == kind) return kWords[i].word;
  }
  return NULL;
}

static sw_rc check(const sw_mesh *m, const sw_sharding *s, sw_diag *d) {
  for (int i = 1; i < s->n_refs; i++) {
    if (s->dim_of[i] != s->dim_of[i - 1] || s->refs[i - 1].axis < s->refs[i].axis) continue;
    return SW_FAIL_INPUT(d, SW_NOWHERE,
                         "DTensor placements cannot cut dimension %d by '%s' before '%s'; expected mesh order",
                         s->dim_of[i], m->axis[s->refs[i - 1].axis].name, m->axis[s->refs[i].axis].name);
  }
  if (s->n_partial && !word_of((sw_reduction)s->partial_kind)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "DTensor has no spelling for values partial by '%s'",
                         sw_reduction_text((sw_reduction)s->partial_kind));
  }
  return SW_OK;
}

static void print_axis(const sw_sharding *s, int axis, sw_text *out) {
  for (int i = 0; i < s->n_refs + s->n_partial; i++) {
    if (s->refs[i].axis != axis) continue;
    if (i < s->n_refs) sw_text_printf(out, "S(%d)", s->dim_of[i]);
    if (i >= s->n_refs) sw_text_printf(out, "P(%s)", word_of((sw_reduction)s->partial_kind));
    return;
  }
  sw_text_puts(out, "R");
}

static sw_rc print(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d) {
  SW_TRY(check(m, s, d));
  for (int axis = 0; axis < m->n_axes; axis++) print_axis(s, axis, out);
  return SW_OK;
}

static sw_rc read_shard(const sw_form_input *in, int axis, sw_sharding *s, sw_diag *d) {
  int64_t dim;
  SW_TRY(sw_reader_expect(in->reader, "(", d));
  SW_TRY(sw_reader_int(in->reader, 0, SW_MAX_RANK - 1, "a dimension", &dim, d));
  SW_TRY(sw_reader_expect(in->reader, ")", d));
  return sw_form_push(in, s, (int)dim, sw_axis_whole(in->mesh, axis), d);
}

static sw_rc read_partial(const sw_form_input *in, int axis, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  int found = 0; /* sum */
  if (sw_reader_accept(r, "(") && !sw_reader_accept(r, ")")) {
    for (found = 0; found < N_WORDS && !sw_reader_accept(r, kWords[found].word);) found++;
    if (found == N_WORDS) return sw_reader_fail(r, "sum, avg, max, min or product", d);
    SW_TRY(sw_reader_expect(r, ")", d));
  }
  return sw_form_push_partial(in, s, kWords[found].kind, sw_axis_whole(in->mesh, axis), d);
}

/* Letters stand side by side (RS(1)), so a placement is told by its prefix; long words first. */
static bool accept_prefix(sw_reader *r, const char *prefix) {
  (void)sw_reader_span(r); /* step over blanks */
  size_t n = strlen(prefix);
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, prefix, n) != 0) return false;
  r->p += n;
  return true;
}

static sw_rc read_placement(const sw_form_input *in, int axis, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  if (accept_prefix(r, "Shard") || accept_prefix(r, "S")) return read_shard(in, axis, s, d);
  if (accept_prefix(r, "Partial") || accept_prefix(r, "P")) return read_partial(in, axis, s, d);
  if (accept_prefix(r, "Replicate")) {
    SW_TRY(sw_reader_expect(r, "(", d));
    return sw_reader_expect(r, ")", d);
  }
  return accept_prefix(r, "R") ? SW_OK
                               : sw_reader_fail(r, "one placement per axis of the mesh: S(dim), R or P(sum)", d);
}

static sw_rc read(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  const char *close = sw_reader_accept(r, "[") ? "]" : sw_reader_accept(r, "(") ? ")" : NULL;
  for (int axis = 0; axis < in->mesh->n_axes; axis++) {
    if (axis > 0) (void)sw_reader_accept(r, ",");
    SW_TRY_NOTE(d, read_placement(in, axis, s, d), "while reading the placement of axis '%s'",
                in->mesh->axis[axis].name);
  }
  if (!close) return SW_OK;
  (void)sw_reader_accept(r, ",");
  return sw_reader_expect(r, close, d);
}

const sw_form_row sw_form_dtensor = {.name = "DTensor", .says = SW_FORM_SAYS_PARTIAL, .print = print, .read = read};
