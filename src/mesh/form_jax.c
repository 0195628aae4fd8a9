/* JAX: PartitionSpec('x', ('y', 'z'), None), one item per dimension; missing trailing items are None; P(...) is read
 * too. */
#include "mesh/forms.h"
#include "mesh/refs.h"

static sw_rc print_jax_form(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d) {
  (void)d;
  sw_text_puts(out, "PartitionSpec(");
  for (int dim = 0; dim < s->rank; dim++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
    if (dim) sw_text_puts(out, ", ");
    if (n == 0) sw_text_puts(out, "None");
    if (n > 1) sw_text_puts(out, "(");
    for (int i = 0; i < n; i++) sw_text_printf(out, "%s'%s'", i ? ", " : "", m->axis[refs[i].axis].name);
    if (n > 1) sw_text_puts(out, ")");
  }
  sw_text_puts(out, ")");
  return SW_OK;
}

/* 'x' or "x" */
static sw_rc read_name(const sw_form_input *in, int dim, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  const char *quote = sw_reader_accept(r, "'") ? "'" : "\"";
  if (*quote == '"') SW_TRY(sw_reader_accept(r, "\"") ? SW_OK : sw_reader_fail(r, "a quoted axis, a tuple or None", d));
  sw_axis_ref ref;
  SW_TRY(sw_axis_ref_read(in->mesh, r, &ref, d));
  SW_TRY(sw_reader_expect(r, quote, d));
  return sw_form_push(in, s, dim, ref, d);
}

static sw_rc read_item(const sw_form_input *in, int dim, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  if (dim >= in->rank) {
    return SW_FAIL_INPUT(d, sw_reader_span(r),
                         "the sharding has more than %d dimensions; expected at most the tensor's", in->rank);
  }
  if (sw_reader_accept(r, "None")) return SW_OK;
  if (in->open && (sw_reader_accept(r, "PartitionSpec.UNCONSTRAINED") || sw_reader_accept(r, "P.UNCONSTRAINED") ||
                   sw_reader_accept(r, "UNCONSTRAINED"))) {
    sw_form_leave_open(in, dim);
    return SW_OK;
  }
  if (!sw_reader_accept(r, "(")) return read_name(in, dim, s, d);
  while (!sw_reader_accept(r, ")")) {
    SW_TRY(read_name(in, dim, s, d));
    if (sw_reader_accept(r, ",")) continue;
    return sw_reader_expect(r, ")", d);
  }
  return SW_OK;
}

static sw_rc read_jax_form(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  if (!sw_reader_accept(r, "PartitionSpec") && !sw_reader_accept(r, "P")) {
    return sw_reader_fail(r, "PartitionSpec(...) or P(...)", d);
  }
  SW_TRY(sw_reader_expect(r, "(", d));
  for (int dim = 0; !sw_reader_accept(r, ")"); dim++) {
    SW_TRY_NOTE(d, read_item(in, dim, s, d), "while reading dimension %d of a sharding", dim);
    if (sw_reader_accept(r, ",")) continue;
    return sw_reader_expect(r, ")", d);
  }
  return SW_OK;
}

const sw_form_row sw_form_jax = {.name = "a PartitionSpec", .says = 0, .print = print_jax_form, .read = read_jax_form};
