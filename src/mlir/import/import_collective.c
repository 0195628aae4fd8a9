/* Collectives of StableHLO (collective.h). */
#include "mlir/import/import_collective.h"

#include <string.h>

const sw_im_collective *sw_im_collective_named(const sw_ir_tree *t, const sw_ir_op *o) {
  static const sw_im_collective kAll[] = {
      {"all_reduce", SW_COLL_ALL_REDUCE, NULL, NULL, true},
      {"cross-replica-sum", SW_COLL_ALL_REDUCE, NULL, NULL, true},
      {"reduce_scatter", SW_COLL_REDUCE_SCATTER, "scatter_dimension", NULL, true},
      {"all_gather", SW_COLL_ALL_GATHER, "all_gather_dim", NULL, true},
      {"all_to_all", SW_COLL_ALL_TO_ALL, "split_dimension", "concat_dimension", false},
      {"collective_broadcast", SW_COLL_BROADCAST, NULL, NULL, false},
      {"collective_reduce", SW_COLL_REDUCE, NULL, NULL, false},
      {"collective_permute", SW_COLL_SHIFT, NULL, NULL, false},
  };
  sw_ir_span name = o->name;
  const char *dot = memchr(t->s + name.at, '.', sw_ir_len(name));
  if (dot) name.at = (uint32_t)(dot - t->s) + 1;
  for (size_t i = 0; i < sizeof kAll / sizeof *kAll; i++) {
    if (sw_ir_is(t, name, kAll[i].name)) return &kAll[i];
  }
  return NULL;
}

/* Rows are told by the type: dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>. */
sw_rc sw_im_read_rows(sw_importer *m, uint32_t op, const char *key, sw_im_rows *out) {
  sw_ir_span text = sw_ir_attr(m->t, sw_im_op(m, op), key, key);
  *out = (sw_im_rows){.n = 0};
  if (!sw_ir_present(text)) return SW_OK;
  SW_TRY(sw_im_list(m, text, &out->at, &out->n));
  out->each = out->n;
  for (uint32_t at = text.at; at + 7 < text.end; at++) {
    if (memcmp(m->t->s + at, "tensor<", 7) != 0) continue;
    sw_type type;
    SW_TRY(sw_ir_read_type(m->t, (sw_ir_span){at, text.end}, &m->scratch, &type, m->d));
    bool fits = type.rank == 2 && type.dims[1] > 0 && out->n % type.dims[1] == 0;
    if (fits) out->each = type.dims[1];
    if (fits || !out->n) return SW_OK;
    return SW_IM_FAIL(m, op, "'%s' has %d numbers; expected rows of them", key, out->n);
  }
  return SW_OK;
}

sw_rc sw_im_read_dim(sw_importer *m, uint32_t op, const char *key, int rank, int64_t *out) {
  sw_ir_span v = sw_ir_attr(m->t, sw_im_op(m, op), key, key);
  if (!sw_ir_present(v) || !sw_ir_read_int(m->t, v, out)) {
    return SW_IM_FAIL(m, op, "expected a whole number as '%s'", key);
  }
  if (*out >= 0 && *out < rank) return SW_OK;
  return SW_IM_FAIL(m, op, "'%s' is %lld; expected a dim of the operand", key, (long long)*out);
}

bool sw_im_collective_reduction(const sw_importer *m, uint32_t op, sw_reduction *out) {
  *out = SW_REDUCE_SUM;
  const uint32_t region = sw_im_op(m, op)->first_region;
  return region == SW_IR_NONE /* of mhlo.cross-replica-sum */ || sw_im_region_kind(m, region, out);
}
