/* What every engine does with a call on its own. */
#ifndef SRC_COMM_CALL_H_
#define SRC_COMM_CALL_H_

#include "shardwright/comm.h"

/* The descriptor and this device's buffers fit each other. */
SW_CHECKED sw_rc sw_call_check(const sw_mesh *m, int64_t device, const sw_comm_call *call, sw_diag *d);
/* Memory that is kept from one staged input to the next. */
typedef struct sw_room {
  void *data;
  int64_t bytes;
} sw_room;

/* *staged = a copy of the input, in `room`, which grows to fit. */
SW_CHECKED sw_rc sw_call_stage(const sw_comm_call *call, sw_room *room, sw_buffer *staged, sw_diag *d);
/* What a send brings. */
typedef struct sw_sent {
  int64_t from, where;
  sw_buffer buffer;
} sw_sent;

/* A recv of it, which must be of the result's dtype and dims. *bytes: from another device. */
SW_CHECKED sw_rc sw_call_receive(int64_t device, const sw_comm_call *call, const sw_sent *sent, int64_t *bytes,
                                 sw_diag *d);
/* The failure of a recv that names no sender, when two have sent. */
SW_CHECKED sw_rc sw_call_fail_rivals(int64_t device, const sw_comm_call *call, int64_t first, int64_t other,
                                     sw_diag *d);
/* That of a device that ends and has not received what another one has sent. */
SW_CHECKED sw_rc sw_call_fail_unread(int64_t device, int64_t from, int64_t where, sw_diag *d);
/* An op without communication. */
SW_CHECKED sw_rc sw_call_run_local(const sw_mesh *m, int64_t device, const sw_comm_call *call, sw_diag *d);

#endif
