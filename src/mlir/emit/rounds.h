/* Sharing messages out to rounds. */
#ifndef MLIR_EMIT_ROUNDS_H_
#define MLIR_EMIT_ROUNDS_H_

#include "shardwright/arena.h"

typedef struct sw_round_message {
  int64_t from, to; /* devices */
  int32_t round;    /* out */
} sw_round_message;

/* In each round a device sends at most one of the messages and receives at most one. There are as many rounds,
 * *n_rounds from 0 on, as the device has messages that sends or receives the most: no fewer would do (Koenig 1916). */
SW_CHECKED sw_rc sw_share_out(sw_round_message *all, int64_t n, int64_t devices, sw_arena *arena, int32_t *n_rounds,
                              sw_diag *d);

#endif
