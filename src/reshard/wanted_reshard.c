/* Ends as states. An end with offsets or halos, or on another mesh, is a state of its own form: it is left or reached
 * by an exchange, and what is partial there is reduced, or made, as a whole. */
#include "reshard/wanted_reshard.h"

#include <string.h>

#include "collective/scalar.h"

/* Stand for all partial axes of an end that atoms cannot write. */
static const uint32_t kSourceParts = 1u << 30, kTargetParts = 1u << 31;

static bool is_without_halos(const sw_sharding *s) { return !s->offsets && !s->halos; }

static bool same_partial(const sw_sharding *a, const sw_sharding *b) {
  return a->n_partial == b->n_partial && (a->n_partial == 0 || a->partial_kind == b->partial_kind) &&
         memcmp(sw_sharding_partial(a), sw_sharding_partial(b), a->n_partial * sizeof a->refs[0]) == 0;
}

bool rs_reduces_in_parts(sw_reduction kind) { return kind != SW_REDUCE_AVERAGE && kind != SW_REDUCE_GENERIC; }

static sw_rc undefined(sw_reduction kind, sw_dtype t, sw_diag *d) {
  return SW_FAIL_INPUT(d, SW_NOWHERE, "the reduction '%s' is not defined on %s", sw_reduction_text(kind),
                       sw_dtype_text(t));
}

static sw_rc check_kinds(const rs_request *r, sw_diag *d) {
  const sw_reduction from = (sw_reduction)r->from.partial_kind, to = (sw_reduction)r->to.partial_kind;
  if (r->n_averaged > 0 && !sw_reduction_applies(to, r->dtype)) return undefined(to, r->dtype, d);
  if (r->makes && to == SW_REDUCE_GENERIC) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a value cannot be made partial by '%s', which has no neutral element",
                         sw_reduction_text(to));
  }
  if (r->makes && !sw_reduction_applies(to, r->dtype)) return undefined(to, r->dtype, d);
  const bool kept = !r->to_mesh && same_partial(&r->from, &r->to);
  if (r->from.n_partial && from == SW_REDUCE_GENERIC && !kept) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a value partial by 'generic' has no reduction that a route could use");
  }
  if (r->from.n_partial && !sw_reduction_applies(from, r->dtype)) return undefined(from, r->dtype, d);
  return SW_OK;
}

static void write_source(rs_request *r, bool in_atoms) {
  r->source = (rs_state){0};
  if (in_atoms) r->source = rs_state_of(&r->space, &r->from);
  if (!in_atoms && r->from.n_partial) r->source.partial = kSourceParts;
  if (!in_atoms || !is_without_halos(&r->from)) r->source.form = RS_SOURCE;
}

static void write_target(rs_request *r, bool in_atoms) {
  r->target = (rs_state){0};
  if (in_atoms) r->target = rs_state_of(&r->space, &r->to);
  if (!in_atoms || !is_without_halos(&r->to)) r->target.form = RS_TARGET;
  if (!in_atoms && r->to.n_partial) {
    const bool same = !r->to_mesh && same_partial(&r->from, &r->to);
    r->target.partial = same ? r->source.partial : kTargetParts;
  }
  if (r->target.partial && r->source.partial && r->kind[0] != r->kind[1]) r->target.kind = 1;
}

static void write_ends(rs_request *r, int rank, const int64_t *dims) {
  const bool both = !r->to_mesh && rs_space_init(&r->space, r->machine, rank, dims, &r->from, &r->to);
  const bool source = both || rs_space_init(&r->space, r->machine, rank, dims, &r->from, NULL);
  r->kind[0] = (sw_reduction)(r->from.n_partial ? r->from.partial_kind : r->to.partial_kind);
  r->kind[1] = (sw_reduction)r->to.partial_kind;
  write_source(r, source);
  write_target(r, both);
  r->target_written = both;
  r->makes = r->target.kind || (r->target.partial & ~r->source.partial) != 0;
}

sw_rc rs_request_init(rs_request *r, const sw_reshard *wanted, sw_diag *d) {
  const sw_mesh *m = sw_machine_mesh(wanted->machine);
  const sw_reshard_options *o = &wanted->options;
  *r = (rs_request){.machine = wanted->machine,
                    .dtype = wanted->dtype,
                    .no_exchange = o->no_exchange,
                    .max_temp_bytes = o->max_temp_bytes,
                    .from = *wanted->from,
                    .to = *wanted->to};
  if (o->to_mesh && !sw_sharding_from_other_mesh(m, o->to_mesh, wanted->to, &r->to)) {
    r->to = *wanted->to;
    r->to_mesh = o->to_mesh;
  }
  if (r->to.partial_kind == SW_REDUCE_AVERAGE && (r->to_mesh || !same_partial(&r->from, &r->to))) {
    r->n_averaged = r->to.n_partial; /* copies are parts of an average already */
    r->to.n_partial = 0;
  }
  sw_sharding_normalise(m, &r->from);
  sw_sharding_normalise(r->to_mesh ? &r->to_mesh->mesh : m, &r->to);
  const bool stale = o->refresh_halos && r->from.halos;
  r->nothing_to_do = sw_sharding_equal(&r->from, &r->to) && !stale && !r->to_mesh;
  write_ends(r, wanted->rank, wanted->dims);
  return check_kinds(r, d);
}

sw_sharding rs_request_sharding(const rs_request *r, const rs_state *state) {
  if (state->form == RS_PLAIN) return rs_sharding_of(&r->space, state, r->kind[state->kind]);
  sw_sharding s = state->form == RS_SOURCE ? r->from : r->to;
  if (!state->partial) s.n_partial = 0;
  return s;
}

const sw_other_mesh *rs_request_other(const rs_request *r, const rs_state *state) {
  return state->form == RS_TARGET ? r->to_mesh : NULL;
}

void rs_request_tiling(const rs_request *r, const rs_state *state, sw_tiling *out) {
  const sw_sharding s = rs_request_sharding(r, state);
  sw_tiling_of(&s, r->space.rank, r->space.dims, out);
  out->other = rs_request_other(r, state);
}
