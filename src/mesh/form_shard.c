/* split_axes of MLIR's shard dialect, with what may follow them in shard.sharding:
 *
 *   [[0], [1, 2]]
 *   split_axes = [[0], [1]] halo_sizes = [1, 2, 0, 1]
 *   split_axes = [[0]] sharded_dims_offsets = [0, 3, 8]
 *   [[0], []], partial = max[1]          read only: the older mesh dialect
 */
#include "mesh/forms.h"

static sw_rc print_shard_form(const sw_mesh *m, const sw_sharding *s, sw_text *out, sw_diag *d) {
  (void)m, (void)d;
  sw_text_puts(out, s->rank ? "[" : "[[]");
  for (int dim = 0; dim < s->rank; dim++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(s, dim, &n);
    sw_text_puts(out, dim ? ", [" : "[");
    for (int i = 0; i < n; i++) sw_text_printf(out, "%s%d", i ? ", " : "", refs[i].axis);
    sw_text_puts(out, "]");
  }
  sw_text_puts(out, "]");
  sw_form_print_lists(s, " sharded_dims_offsets = ", " halo_sizes = ", out);
  return SW_OK;
}

static sw_rc read_shard_form(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  sw_reader *r = in->reader;
  if (sw_reader_accept(r, "split_axes")) SW_TRY(sw_reader_expect(r, "=", d));
  SW_TRY(sw_form_read_dims(in, "[", "]", s, d));
  if (sw_reader_accept(r, ",")) {
    SW_TRY(sw_reader_expect(r, "partial", d));
    SW_TRY(sw_reader_expect(r, "=", d));
    SW_TRY(sw_form_read_partial(in, s, d));
  }
  if (sw_reader_accept(r, "sharded_dims_offsets")) {
    SW_TRY(sw_reader_expect(r, "=", d));
    SW_TRY(sw_form_read_offsets(in, s, d));
  }
  if (sw_reader_accept(r, "halo_sizes")) {
    SW_TRY(sw_reader_expect(r, "=", d));
    SW_TRY(sw_form_read_halos(in, s, d));
  }
  return SW_OK;
}

const sw_form_row sw_form_shard = {
    .name = "the shard dialect", .says = SW_FORM_SAYS_OFFSETS, .print = print_shard_form, .read = read_shard_form};
