/* What every engine does with a call on its own. */
#ifndef SRC_COMM_CALL_H_
#define SRC_COMM_CALL_H_

#include "shardwright/comm.h"

/* The descriptor and this device's buffers fit each other. */
SW_CHECKED sw_rc sw_call_check(const sw_mesh *m, int64_t device, const sw_comm_call *call, sw_diag *d);
/* *staged = a copy of the input, when the result would overwrite it too early; else its data is NULL. Free the data. */
SW_CHECKED sw_rc sw_call_stage(const sw_comm_call *call, sw_buffer *staged, sw_diag *d);
/* An op without communication. */
SW_CHECKED sw_rc sw_call_run_local(const sw_mesh *m, int64_t device, const sw_comm_call *call, sw_diag *d);

#endif
