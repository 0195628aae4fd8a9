/* Models of which some sizes stay unknown. */
#ifndef CLI_READ_MODEL_H_
#define CLI_READ_MODEL_H_

#include "open/open_steps.h"

/* An sw_open_search: what stands in for unknown sizes becomes equal where the model forces it to be equal. */
SW_CHECKED sw_rc sw_leave_open(sw_opening *r, sw_rc rc, sw_diag *d);

#endif
