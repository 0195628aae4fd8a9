/* Dimension shardings of Shardy:
 *
 *   [{"x"}, {"y", "z":(1)2}, {}]
 *   [{"x"}, {}], unreduced={"w"}
 *   #sdy.sharding<@mesh, [{"x"}, {"y", ?}p1], replicated={"z"}>
 *
 * Priorities and replicated= say what propagation may change, not where elements are: they are read and not kept, as is
 * "?", where nobody asks for open dims.
 */
#include "mesh/forms.h"
#include "mesh/refs.h"

static void print_ref(const sw_mesh *m, sw_axis_ref ref, sw_text *out) {
  sw_text_printf(out, "\"%s\"", m->axis[ref.axis].name);
  if (!sw_axis_ref_equal(ref, sw_axis_whole(m, ref.axis))) sw_text_printf(out, ":(%d)%d", ref.pre, ref.size);
}

static void print_set(const sw_mesh *m, const sw_axis_ref *refs, int n, sw_text *out) {
  sw_text_puts(out, "{");
  for (int i = 0; i < n; i++) {
    if (i) sw_text_puts(out, ", ");
    print_ref(m, refs[i], out);
  }
  sw_text_puts(out, "}");
}

static sw_rc print_sdy_form(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d) {
  if (s->n_partial && s->partial_kind != SW_REDUCE_SUM) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "Shardy has no spelling for values partial by '%s'; expected sum",
                         sw_reduction_text((sw_reduction)s->partial_kind));
  }
  sw_text_puts(out, "[");
  for (int dim = 0; dim < s->rank; dim++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
    if (dim) sw_text_puts(out, ", ");
    print_set(m, refs, n, out);
  }
  sw_text_puts(out, "]");
  if (s->n_partial) {
    sw_text_puts(out, ", unreduced=");
    print_set(m, sw_sharding_partial(s), s->n_partial, out);
  }
  return SW_OK;
}

enum { TO_REPLICATED = -2, TO_PARTIAL = -1 };

static sw_rc read_sdy_item(const sw_form_input *in, int dim, sw_sharding *s, sw_diag *d) {
  sw_axis_ref ref;
  SW_TRY(sw_axis_ref_read(in->mesh, in->reader, &ref, d));
  if (dim == TO_REPLICATED) return SW_OK;
  if (dim == TO_PARTIAL) return sw_form_push_partial(in, s, SW_REDUCE_SUM, ref, d);
  return sw_form_push(in, s, dim, ref, d);
}

/* {"x", "y":(1)2, ?}p1 */
static sw_rc read_set(const sw_form_input *in, int dim, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  SW_TRY(sw_reader_expect(r, "{", d));
  if (!sw_reader_accept(r, "}")) {
    do {
      if (sw_reader_accept(r, "?"))
        sw_form_leave_open(in, dim);
      else
        SW_TRY(read_sdy_item(in, dim, s, d));
    } while (sw_reader_accept(r, ","));
    SW_TRY(sw_reader_expect(r, "}", d));
  }
  const char *word;
  size_t n;
  if (r->p < r->end && *r->p == 'p' && sw_reader_word(r, &word, &n)) {
    for (size_t i = 1; i < n; i++) {
      if (n > 6 || word[i] < '0' || word[i] > '9') return sw_reader_fail(r, "a priority such as p1", d);
    }
  }
  return SW_OK;
}

static sw_rc read_dims(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  SW_TRY(sw_reader_expect(in->reader, "[", d));
  if (sw_reader_accept(in->reader, "]")) return SW_OK;
  int dim = 0;
  do {
    if (dim >= in->rank) {
      return SW_FAIL_INPUT(d, sw_reader_span(in->reader),
                           "the sharding has more than %d dimensions; expected at most the tensor's", in->rank);
    }
    SW_TRY_NOTE(d, read_set(in, dim, s, d), "while reading dimension %d of a sharding", dim);
    dim++;
  } while (sw_reader_accept(in->reader, ","));
  return sw_reader_expect(in->reader, "]", d);
}

static sw_rc read_named_set(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  int where = TO_PARTIAL;
  if (sw_reader_accept(in->reader, "replicated")) {
    where = TO_REPLICATED;
  } else {
    SW_TRY(sw_reader_expect(in->reader, "unreduced", d));
  }
  SW_TRY(sw_reader_expect(in->reader, "=", d));
  return read_set(in, where, s, d);
}

/* A mesh by name, or in full: what it is is known from elsewhere. */
static sw_rc skip_mesh(sw_reader *r, sw_diag *d) {
  const char *word;
  size_t n;
  if (sw_reader_accept(r, "mesh")) {
    while (r->p < r->end && *r->p != '>') r->p++;
    SW_TRY(sw_reader_expect(r, ">", d));
    return sw_reader_expect(r, ",", d);
  }
  SW_TRY(sw_reader_expect(r, "@", d));
  if (!sw_reader_word(r, &word, &n)) return sw_reader_fail(r, "the name of a mesh", d);
  return sw_reader_expect(r, ",", d);
}

static sw_rc read_sdy_form(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  (void)sw_reader_accept(r, "#sdy.sharding");
  bool whole = sw_reader_accept(r, "<");
  if (whole) SW_TRY(skip_mesh(r, d));
  SW_TRY(read_dims(in, s, d));
  while (sw_reader_accept(r, ",")) SW_TRY(read_named_set(in, s, d));
  return whole ? sw_reader_expect(r, ">", d) : SW_OK;
}

const sw_form_row sw_form_sdy = {.name = "Shardy",
                                 .says = SW_FORM_SAYS_SUBAXES | SW_FORM_SAYS_PARTIAL,
                                 .print = print_sdy_form,
                                 .read = read_sdy_form};
