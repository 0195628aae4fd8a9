/* A wanted reshard, made ready for the search: ends in normal form, written as states. */
#ifndef RESHARD_WANTED_RESHARD_H_
#define RESHARD_WANTED_RESHARD_H_

#include "reshard/space.h"

typedef struct rs_request {
  const sw_machine *machine;
  sw_dtype dtype;
  bool no_exchange;
  int64_t max_temp_bytes;
  sw_sharding from, to;         /* normal form; `to` without the axes of `n_averaged` */
  const sw_other_mesh *to_mesh; /* that `to` speaks of where no axes of the machine's mesh say it; else NULL */
  bool nothing_to_do;
  int n_averaged; /* axes over which copies are taken for parts of an average: a step of its own at the end, for nothing
                   */
  bool makes;     /* `to` is partial over axes that `from` is not */
  rs_space space;
  rs_state source, target;
  bool target_written;  /* have `target`'s lists its atoms? Else they are empty */
  sw_reduction kind[2]; /* of rs_state.kind */
} rs_request;

/* The shardings are borrowed while the request is used. SW_E_INPUT when no route can exist. */
sw_rc rs_request_init(rs_request *r, const sw_reshard *wanted, sw_diag *d);
/* May values partial by this be reduced over some of their axes, and made of whole ones? An average of averages is not
 * the average of all where it truncates. */
bool rs_reduces_in_parts(sw_reduction kind);
/* What a state stands for. */
sw_sharding rs_request_sharding(const rs_request *r, const rs_state *state);
/* The same as a tiling. */
void rs_request_tiling(const rs_request *r, const rs_state *state, sw_tiling *out);
/* The other mesh that a state's sharding speaks of, or NULL. */
const sw_other_mesh *rs_request_other(const rs_request *r, const rs_state *state);

#endif
