/* What the members of a group must agree on. */
#ifndef SRC_COMM_SIGNATURE_H_
#define SRC_COMM_SIGNATURE_H_

#include "comm/comm_moves.h"

/* Equal for members that may meet; a hash of what sw_signature_difference compares, but for the position. */
uint64_t sw_signature(const sw_comm_call *call);
/* With the position. */
static inline uint64_t sw_signature_at(uint64_t signature, int64_t where) {
  return signature + (uint64_t)where * UINT64_C(0x9E3779B97F4A7C15);
}
/* The first thing in which two calls differ ("the dtype of the result"), or NULL. */
const char *sw_signature_difference(const sw_comm_call *a, const sw_comm_call *b);
/* "all_gather axes=[x] dim=0, f32 4x8 -> f32 16x8". */
void sw_call_print(const sw_mesh *m, const sw_comm_call *call, sw_text *out);

#endif
