/* PyTorch DTensor placements, one per axis of the MESH: S(0)R, RS(1), P(sum)S(0). S(0)S(0) cuts dimension 0 by the
 * first axis, then by the second; other orders are not printed. Read too: blanks, commas, one pair of brackets,
 * Shard(0), Shard(dim=0), Replicate(), Partial(), P alone, and _StridedShard(dim=0, split_factor=4) or _S(0, 4), which
 * cuts after as many shards as later axes make.
 *
 *   mesh x,y,z:   RS(0)P(sum)     =  [[y]] partial sum[z]
 *   mesh x=2,y=4: _S(0, 4)S(0)    =  [[y,x]]
 */
#include <string.h>

#include "mesh/forms.h"

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

static sw_rc check_dtensor_form(const sw_mesh *m, const sw_sharding *s, sw_diag *d) {
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

static sw_rc print_dtensor_form(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d) {
  SW_TRY(check_dtensor_form(m, s, d));
  for (int axis = 0; axis < m->n_axes; axis++) print_axis(s, axis, out);
  return SW_OK;
}

/* What an axis of the mesh does to the tensor. */
typedef struct placement {
  int dim; /* cut; -1: none */
  bool partial;
  sw_reduction kind;
  int64_t after; /* shards that later axes make of the dimension first */
} placement;

/* 4, or WORD=4 */
static sw_rc read_worded_number(sw_reader *r, const char *word, int64_t min, int64_t max, int64_t *out, sw_diag *d) {
  if (sw_reader_accept(r, word)) SW_TRY(sw_reader_expect(r, "=", d));
  return sw_reader_int(r, min, max, word, out, d);
}

static sw_rc read_shard(sw_reader *r, bool strided, placement *out, sw_diag *d) {
  int64_t dim;
  SW_TRY(sw_reader_expect(r, "(", d));
  SW_TRY(read_worded_number(r, "dim", 0, SW_MAX_RANK - 1, &dim, d));
  if (strided) {
    SW_TRY(sw_reader_expect(r, ",", d));
    sw_reader ahead = *r;
    const char *word = sw_reader_accept(&ahead, "sf") ? "sf" : "split_factor";
    SW_TRY(read_worded_number(r, word, 1, SW_MAX_DEVICES, &out->after, d));
  }
  out->dim = (int)dim;
  return sw_reader_expect(r, ")", d);
}

static sw_rc read_partial(sw_reader *r, placement *out, sw_diag *d) {
  int found = 0; /* sum */
  if (sw_reader_accept(r, "(") && !sw_reader_accept(r, ")")) {
    for (found = 0; found < N_WORDS && !sw_reader_accept(r, kWords[found].word);) found++;
    if (found == N_WORDS) return sw_reader_fail(r, "sum, avg, max, min or product", d);
    SW_TRY(sw_reader_expect(r, ")", d));
  }
  out->partial = true;
  out->kind = kWords[found].kind;
  return SW_OK;
}

/* Letters stand side by side (RS(1)), so a placement is told by its prefix; long words first. */
static bool accept_prefix(sw_reader *r, const char *prefix) {
  (void)sw_reader_span(r); /* step over blanks */
  size_t n = strlen(prefix);
  if ((size_t)(r->end - r->p) < n || memcmp(r->p, prefix, n) != 0) return false;
  r->p += n;
  return true;
}

static sw_rc read_placement(sw_reader *r, placement *out, sw_diag *d) {
  *out = (placement){.dim = -1, .after = 1};
  if (accept_prefix(r, "_StridedShard") || accept_prefix(r, "_S")) return read_shard(r, true, out, d);
  if (accept_prefix(r, "Shard") || accept_prefix(r, "S")) return read_shard(r, false, out, d);
  if (accept_prefix(r, "Partial") || accept_prefix(r, "P")) return read_partial(r, out, d);
  if (accept_prefix(r, "Replicate")) {
    SW_TRY(sw_reader_expect(r, "(", d));
    return sw_reader_expect(r, ")", d);
  }
  return accept_prefix(r, "R") ? SW_OK
                               : sw_reader_fail(r, "one placement per axis of the mesh: S(dim), R or P(sum)", d);
}

/* Which axes cut a dimension, major first: from the last one on, each before those that came, or after so many of their
 * shards as it says. */
static sw_rc order_of(const sw_form_input *in, const placement *p, int dim, int *order, int *n, sw_diag *d) {
  *n = 0;
  for (int axis = in->mesh->n_axes - 1; axis >= 0; axis--) {
    int at = 0;
    int64_t shards = 1;
    if (p[axis].dim != dim) continue;
    while (at < *n && shards < p[axis].after) shards *= in->mesh->axis[order[at++]].size;
    if (shards != p[axis].after) {
      return SW_FAIL_INPUT(d, sw_reader_span(in->reader),
                           "axis '%s' cuts dimension %d after %lld shards, which no "
                           "later axes make",
                           in->mesh->axis[axis].name, dim, (long long)p[axis].after);
    }
    for (int i = (*n)++; i > at; i--) order[i] = order[i - 1];
    order[at] = axis;
  }
  return SW_OK;
}

static sw_rc place(const sw_form_input *in, const placement *p, sw_sharding *s, sw_diag *d) {
  for (int dim = 0; dim < SW_MAX_RANK; dim++) {
    int order[SW_MAX_AXES], n;
    SW_TRY(order_of(in, p, dim, order, &n, d));
    for (int i = 0; i < n; i++) SW_TRY(sw_form_push(in, s, dim, sw_axis_whole(in->mesh, order[i]), d));
  }
  for (int axis = 0; axis < in->mesh->n_axes; axis++) {
    if (p[axis].partial) SW_TRY(sw_form_push_partial(in, s, p[axis].kind, sw_axis_whole(in->mesh, axis), d));
  }
  return SW_OK;
}

static sw_rc read_dtensor_form(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  placement p[SW_MAX_AXES];
  const char *close = sw_reader_accept(r, "[") ? "]" : sw_reader_accept(r, "(") ? ")" : NULL;
  for (int axis = 0; axis < in->mesh->n_axes; axis++) {
    if (axis > 0) (void)sw_reader_accept(r, ",");
    SW_TRY_NOTE(d, read_placement(r, &p[axis], d), "while reading the placement of axis '%s'",
                in->mesh->axis[axis].name);
  }
  SW_TRY(place(in, p, s, d));
  if (!close) return SW_OK;
  (void)sw_reader_accept(r, ",");
  return sw_reader_expect(r, close, d);
}

const sw_form_row sw_form_dtensor = {
    .name = "DTensor", .says = SW_FORM_SAYS_PARTIAL, .print = print_dtensor_form, .read = read_dtensor_form};
