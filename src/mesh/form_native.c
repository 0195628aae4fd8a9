/* Our own spelling: [[x],[y,z:(1)2],[]] partial sum[w] offsets=[0, 24, 32]
 * Says everything; axes by name or number. */
#include "mesh/forms.h"

static sw_rc print_native_form(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d) {
  (void)d;
  sw_text_puts(out, "[");
  for (int dim = 0; dim < s->rank; dim++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
    if (dim) sw_text_puts(out, ",");
    sw_axis_refs_print(m, refs, n, out);
  }
  sw_text_puts(out, "]");
  if (s->n_partial) {
    sw_text_printf(out, " partial %s", sw_reduction_text((sw_reduction)s->partial_kind));
    sw_axis_refs_print(m, sw_sharding_partial(s), s->n_partial, out);
  }
  sw_form_print_lists(s, " offsets=", " halos=", out);
  return SW_OK;
}

static sw_rc read_native_form(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  SW_TRY(sw_form_read_dims(in, "[", "]", s, d));
  if (sw_reader_accept(in->reader, "partial")) SW_TRY(sw_form_read_partial(in, s, d));
  if (sw_reader_accept(in->reader, "offsets")) {
    SW_TRY(sw_reader_expect(in->reader, "=", d));
    SW_TRY(sw_form_read_offsets(in, s, d));
  }
  if (sw_reader_accept(in->reader, "halos")) {
    SW_TRY(sw_reader_expect(in->reader, "=", d));
    SW_TRY(sw_form_read_halos(in, s, d));
  }
  return SW_OK;
}

const sw_form_row sw_form_native = {
    .name = "the native form",
    .says = SW_FORM_SAYS_SUBAXES | SW_FORM_SAYS_PARTIAL | SW_FORM_SAYS_OFFSETS,
    .print = print_native_form,
    .read = read_native_form,
};
