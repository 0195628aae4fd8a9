/* Does a sharding fit a mesh and a tensor? */
#include "mesh/extent.h"
#include "mesh/refs.h"

static sw_rc verify_lists(const sw_sharding *s, int rank, sw_diag *d) {
  if (rank < 0 || rank > SW_MAX_RANK || s->rank != rank) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the sharding is of rank %d; expected the tensor's rank %d", s->rank, rank);
  }
  if (s->n_refs + s->n_partial > SW_MAX_REFS) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the sharding uses %d axes; expected at most %d", s->n_refs + s->n_partial,
                         SW_MAX_REFS);
  }
  for (int i = 0; i < s->n_refs; i++) {
    if (s->dim_of[i] < 0 || s->dim_of[i] >= rank || (i > 0 && s->dim_of[i] < s->dim_of[i - 1])) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "the sharding cuts dimension %d; expected 0 to %d, in order", s->dim_of[i],
                           rank - 1);
    }
  }
  if (s->n_partial > 0 && s->partial_kind >= SW_REDUCTION_COUNT) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the sharding is partial with an unknown reduction %d", s->partial_kind);
  }
  if (s->offsets && s->halos) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "the sharding has both offsets and halos; expected one of them");
  }
  return SW_OK;
}

static sw_rc verify_offsets(const sw_sharding *s, const int64_t *dims, sw_diag *d) {
  for (int dim = 0; dim < s->rank; dim++) {
    const int64_t *at = sw_sharding_dim_offsets(s, dim);
    if (!at) continue;
    int64_t n = sw_sharding_shards(s, dim);
    for (int64_t i = 0; i < n; i++) {
      if (at[i] <= at[i + 1]) continue;
      return SW_FAIL_INPUT(d, SW_NOWHERE, "offset %lld of dimension %d follows %lld; expected them not to decrease",
                           (long long)at[i + 1], dim, (long long)at[i]);
    }
    if (at[0] != 0 || at[n] != dims[dim]) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "the offsets of dimension %d go from %lld to %lld; expected 0 to %lld", dim,
                           (long long)at[0], (long long)at[n], (long long)dims[dim]);
    }
  }
  return SW_OK;
}

static sw_rc verify_halos(const sw_sharding *s, sw_diag *d) {
  const int64_t limit = INT64_C(1) << 40;
  for (int i = 0; i < 2 * sw_sharding_cut_dims(s); i++) {
    if (s->halos[i] >= 0 && s->halos[i] <= limit) continue;
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a halo has size %lld; expected 0 to 2^40", (long long)s->halos[i]);
  }
  return SW_OK;
}

sw_rc sw_sharding_verify(const sw_mesh *m, const sw_sharding *s, int rank, const int64_t *dims, sw_diag *d) {
  SW_TRY(verify_lists(s, rank, d));
  SW_TRY(sw_axis_refs_check(m, s->refs, s->n_refs + s->n_partial, SW_NOWHERE, d));
  if (s->offsets) SW_TRY(verify_offsets(s, dims, d));
  if (s->halos) SW_TRY(verify_halos(s, d));
  return SW_OK;
}
