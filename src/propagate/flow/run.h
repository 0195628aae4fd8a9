/* What the layers share: running all steps until nothing changes. */
#ifndef PROPAGATE_RUN_H_
#define PROPAGATE_RUN_H_

#include "propagate/flow/projection.h"

/* Where a step may carry the axes of a factor now. */
typedef sw_direction (*sw_direction_of)(const void *user, const sw_flow *f, int32_t step, int factor);

typedef struct sw_run {
  sw_flow *f;
  sw_layer layer;            /* basic, or any other: aggressive */
  int32_t priority;          /* dims of a later one are left out */
  sw_direction_of direction; /* NULL: both, for all */
  const void *user;
  int32_t *first_use, *uses; /* by tensor: the steps that it takes part in */
  int32_t *n_reads;          /* by tensor: as an operand */
  int32_t *queue, n_queued;  /* the next one last */
  bool *queued;              /* by step */
  int32_t *member_next;      /* by tensor: the next of its group, around; itself: alone. NULL: there are no groups */
  sw_projection p;
} sw_run;

/* Until no step changes anything. */
SW_CHECKED sw_rc sw_run_all(sw_run *r, sw_diag *d);
/* The layers above. */
SW_CHECKED sw_rc sw_run_op_priority(sw_run *r, sw_diag *d);
SW_CHECKED sw_rc sw_run_user_priority(sw_run *r, sw_diag *d);

#endif
