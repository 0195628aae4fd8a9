/* The table of spellings, and what they share. docs/sharding-forms.md describes them for users. */
#include "mesh/forms.h"

#include <string.h>

#include "mesh/extent.h"
#include "mesh/refs.h"

static const sw_form_row *const kForms[] = {
    [SW_FORM_NATIVE] = &sw_form_native, [SW_FORM_SHARD] = &sw_form_shard,     [SW_FORM_SDY] = &sw_form_sdy,
    [SW_FORM_JAX] = &sw_form_jax,       [SW_FORM_DTENSOR] = &sw_form_dtensor,
};

sw_rc sw_sharding_print_as(const sw_mesh *m, const sw_sharding *s, sw_sharding_form form, sw_text *out, sw_diag *d) {
  const sw_form_row *row = kForms[form];
  const char *cannot = NULL;
  if (!(row->says & SW_FORM_SAYS_SUBAXES) && sw_sharding_has_subaxes(m, s)) cannot = "sub-axes";
  if (!(row->says & SW_FORM_SAYS_PARTIAL) && s->n_partial > 0) cannot = "partial values";
  if (!(row->says & SW_FORM_SAYS_OFFSETS) && s->offsets) cannot = "offsets of shards";
  if (!(row->says & SW_FORM_SAYS_OFFSETS) && s->halos) cannot = "halos";
  if (cannot) return SW_FAIL_INPUT(d, SW_NOWHERE, "%s has no spelling for %s", row->name, cannot);
  SW_TRY(row->print(m, s, out, d));
  return out->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory while printing a sharding") : SW_OK;
}

static sw_rc parse(sw_form_input *in, sw_sharding_form form, sw_span at, sw_sharding *out, sw_diag *d) {
  if (in->rank < 0 || in->rank > SW_MAX_RANK) {
    return SW_FAIL_INPUT(d, at, "a sharding of rank %d is wanted; expected 0 to %d", in->rank, SW_MAX_RANK);
  }
  sw_sharding s = sw_sharding_replicated(in->rank);
  sw_form_wrapping around;
  sw_form_unwrap(in->reader, &around);
  SW_TRY(kForms[form]->read(in, &s, d));
  SW_TRY(sw_form_wrap_end(in->reader, &around, d));
  SW_TRY(sw_reader_expect_end(in->reader, d));
  SW_TRY(sw_axis_refs_check(in->mesh, s.refs, s.n_refs + s.n_partial, at, d));
  if (s.offsets && s.halos)
    return SW_FAIL_INPUT(d, at, "the sharding has both offsets and halos; expected one of them");
  *out = s;
  return SW_OK;
}

sw_rc sw_sharding_parse_open(const sw_mesh *m, int rank, sw_sharding_form form, const char *text, size_t n, sw_span at,
                             sw_arena *arena, sw_parsed_sharding *out, sw_diag *d) {
  sw_reader reader = sw_reader_of(text, n, at);
  sw_form_input in = {.mesh = m, .rank = rank, .reader = &reader, .arena = arena, .open = &out->open};
  out->open = 0;
  return parse(&in, form, at, &out->sharding, d);
}

sw_rc sw_sharding_parse_as(const sw_mesh *m, int rank, sw_sharding_form form, const char *text, size_t n, sw_span at,
                           sw_arena *arena, sw_sharding *out, sw_diag *d) {
  sw_reader reader = sw_reader_of(text, n, at);
  sw_form_input in = {.mesh = m, .rank = rank, .reader = &reader, .arena = arena};
  return parse(&in, form, at, out, d);
}

sw_sharding_form sw_sharding_form_of(const char *text, size_t n) {
  sw_reader r = sw_reader_of(text, n, SW_NOWHERE);
  sw_form_wrapping around;
  sw_form_unwrap(&r, &around);
  if (around.form >= 0) return (sw_sharding_form)around.form;
  sw_reader inside = r;
  if (sw_reader_accept(&r, "#sdy.sharding") || sw_reader_accept(&r, "<")) return SW_FORM_SDY;
  if (sw_reader_accept(&inside, "[") && sw_reader_accept(&inside, "{")) return SW_FORM_SDY;
  if (sw_reader_accept(&r, "split_axes")) return SW_FORM_SHARD;
  if (sw_reader_accept(&r, "PartitionSpec")) return SW_FORM_JAX;
  if (sw_reader_at_end(&r) || !strchr("SRP_([", *r.p)) return SW_FORM_NATIVE;
  bool jax = memchr(text, '\'', n) || memchr(text, '"', n) || memmem(text, n, "None", 4) || memmem(text, n, "()", 2) ||
             memmem(text, n, "UNCONSTRAINED", 13);
  if (*r.p == 'P' && jax) return SW_FORM_JAX;
  sw_reader list = r;
  if (sw_reader_accept(&list, "[") && (sw_reader_at_end(&list) || !strchr("SRP_", *list.p))) return SW_FORM_NATIVE;
  return SW_FORM_DTENSOR;
}

void sw_sharding_print(const sw_mesh *m, const sw_sharding *s, sw_text *out) {
  sw_rc rc = sw_form_native.print(m, s, out, NULL);
  if (rc && !out->rc) out->rc = rc;
}

sw_rc sw_sharding_parse(const sw_mesh *m, int rank, const char *text, size_t n, sw_span at, sw_arena *arena,
                        sw_sharding *out, sw_diag *d) {
  return sw_sharding_parse_as(m, rank, SW_FORM_NATIVE, text, n, at, arena, out, d);
}

sw_rc sw_form_push(const sw_form_input *in, sw_sharding *s, int dim, sw_axis_ref ref, sw_diag *d) {
  sw_span at = sw_reader_span(in->reader);
  if (dim < 0 || dim >= in->rank) {
    return SW_FAIL_INPUT(d, at, "the sharding cuts dimension %d; expected a tensor of more than %d dimensions", dim,
                         in->rank);
  }
  if (sw_sharding_push(s, dim, ref)) return SW_OK;
  return SW_FAIL_INPUT(d, at, "the sharding uses more than %d axes", SW_MAX_REFS);
}

void sw_form_leave_open(const sw_form_input *in, int dim) {
  if (in->open && dim >= 0 && dim < in->rank) *in->open |= UINT32_C(1) << dim;
}

sw_rc sw_form_push_partial(const sw_form_input *in, sw_sharding *s, sw_reduction kind, sw_axis_ref ref, sw_diag *d) {
  if (sw_sharding_push_partial(s, kind, ref)) return SW_OK;
  sw_span at = sw_reader_span(in->reader);
  if (s->n_partial > 0 && s->partial_kind != kind) {
    return SW_FAIL_INPUT(d, at, "the value is partial by '%s' and by '%s'; expected one reduction",
                         sw_reduction_text((sw_reduction)s->partial_kind), sw_reduction_text(kind));
  }
  return SW_FAIL_INPUT(d, at, "the sharding uses more than %d axes", SW_MAX_REFS);
}

/* "sum", "max", ... */
static sw_rc read_reduction(const sw_form_input *in, sw_reduction *kind, sw_diag *d) {
  sw_span at = sw_reader_span(in->reader);
  const char *word;
  size_t n;
  char copy[32] = "";
  if (!sw_reader_word(in->reader, &word, &n)) return sw_reader_fail(in->reader, "a reduction such as sum", d);
  if (n < sizeof copy) memcpy(copy, word, n);
  if (sw_reduction_parse(copy, kind)) return SW_OK;
  return SW_FAIL_INPUT(d, at, "'%.*s' is no reduction; expected sum, max, min, product, ...", n > 40 ? 40 : (int)n,
                       word);
}

sw_rc sw_form_read_partial(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  sw_reduction kind;
  SW_TRY(read_reduction(in, &kind, d));
  SW_TRY(sw_reader_expect(in->reader, "[", d));
  do {
    sw_axis_ref ref;
    SW_TRY(sw_axis_ref_read(in->mesh, in->reader, &ref, d));
    SW_TRY(sw_form_push_partial(in, s, kind, ref, d));
  } while (sw_reader_accept(in->reader, ","));
  return sw_reader_expect(in->reader, "]", d);
}

/* The list behind that of the last dimension has the axes over which the value is partial, to be summed. */
static sw_rc read_dim(const sw_form_input *in, int dim, const char *open, const char *close, sw_sharding *s,
                      sw_diag *d) {
  SW_TRY(sw_reader_expect(in->reader, open, d));
  if (dim > in->rank) {
    return SW_FAIL_INPUT(d, sw_reader_span(in->reader),
                         "the sharding has more than %d dimensions; expected at most the tensor's", in->rank);
  }
  if (sw_reader_accept(in->reader, close)) return SW_OK;
  do {
    sw_axis_ref ref;
    const sw_span at = sw_reader_span(in->reader);
    if (in->open && dim < in->rank && sw_reader_accept(in->reader, "?")) {
      sw_form_leave_open(in, dim);
      if (sw_reader_accept(in->reader, close)) return SW_OK;
      return SW_FAIL_INPUT(d, at, "'?' stands inside a dim; expected it as the last entry");
    }
    SW_TRY(sw_axis_ref_read(in->mesh, in->reader, &ref, d));
    SW_TRY(dim < in->rank ? sw_form_push(in, s, dim, ref, d) : sw_form_push_partial(in, s, SW_REDUCE_SUM, ref, d));
  } while (sw_reader_accept(in->reader, ","));
  return sw_reader_expect(in->reader, close, d);
}

sw_rc sw_form_read_dims(const sw_form_input *in, const char *open, const char *close, sw_sharding *s, sw_diag *d) {
  SW_TRY(sw_reader_expect(in->reader, "[", d));
  if (sw_reader_accept(in->reader, "]")) return SW_OK;
  int dim = 0;
  do {
    SW_TRY_NOTE(d, read_dim(in, dim, open, close, s, d), "while reading dimension %d of a sharding", dim);
    dim++;
  } while (sw_reader_accept(in->reader, ","));
  return sw_reader_expect(in->reader, "]", d);
}

static sw_rc read_counted(const sw_form_input *in, const char *what, int64_t want, const int64_t **out, sw_diag *d) {
  sw_span at = sw_reader_span(in->reader);
  int n;
  SW_TRY(sw_reader_ints(in->reader, what, in->arena, out, &n, d));
  if (n == want) return SW_OK;
  return SW_FAIL_INPUT(d, at, "the list of %ss has %d numbers; expected %lld", what, n, (long long)want);
}

sw_rc sw_form_read_offsets(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  return read_counted(in, "offset", sw_sharding_offsets_count(s), &s->offsets, d);
}

sw_rc sw_form_read_halos(const sw_form_input *in, sw_sharding *s, sw_diag *d) {
  return read_counted(in, "halo", (int64_t)2 * sw_sharding_cut_dims(s), &s->halos, d);
}

static void print_list(const char *word, const int64_t *at, int64_t n, sw_text *out) {
  if (!at) return;
  sw_text_puts(out, word);
  for (int64_t i = 0; i < n; i++) sw_text_printf(out, "%s%lld", i ? ", " : "[", (long long)at[i]);
  sw_text_puts(out, n ? "]" : "[]");
}

void sw_form_print_lists(const sw_sharding *s, const char *offsets_word, const char *halos_word, sw_text *out) {
  print_list(offsets_word, s->offsets, sw_sharding_offsets_count(s), out);
  print_list(halos_word, s->halos, (int64_t)2 * sw_sharding_cut_dims(s), out);
}
