/* What the layers share: running all steps until nothing changes. */
#ifndef PROPAGATE_RUN_H_
#define PROPAGATE_RUN_H_

#include "propagate/flow/origins.h"
#include "propagate/flow/projection.h"

struct sw_run;
/* Where a step may carry the axes of a factor now. */
typedef sw_direction (*sw_direction_of)(const struct sw_run *r, int32_t step, int factor);

typedef struct sw_run {
  sw_flow *f;
  sw_layer layer;            /* basic, or any other: aggressive */
  int32_t priority;          /* dims of a later one are left out */
  sw_direction_of direction; /* NULL: both, for all */
  int32_t *first_use, *uses; /* by tensor: the steps that it takes part in */
  int32_t *queue, n_queued;  /* the next one last */
  bool *queued;              /* by step */
  int32_t *member_next;      /* by tensor: the next of its group, around; itself: alone. NULL: there are no groups */
  int32_t round;             /* of op priority; -1: there is no such layer */
  sw_projection p;
  struct sw_watch *watch; /* what origins are found with; NULL: they are not wanted */
} sw_run;

/* A step as it was before it was run: what a tensor has more afterwards it got there (origins.c). */
typedef struct sw_watch {
  sw_projection p;
  sw_open_sharding old[SW_MOST_TENSORS];
} sw_watch;
SW_CHECKED sw_rc sw_watch_begin(sw_run *r, sw_arena *arena, sw_diag *d);
/* Around the change of shardings: before it, what the tensors had, and behind it, what those that changed have got. */
void sw_watch_before(sw_run *r);
SW_CHECKED sw_rc sw_watch_after(sw_run *r, const sw_direction *direction, const bool *changed, sw_diag *d);
/* A tensor gets the sharding of another of its group. */
SW_CHECKED sw_rc sw_watch_join(sw_run *r, int32_t tensor, int32_t from, sw_diag *d);

/* Until no step changes anything. */
SW_CHECKED sw_rc sw_run_all(sw_run *r, sw_diag *d);
/* The layers above. */
SW_CHECKED sw_rc sw_run_op_priority(sw_run *r, sw_diag *d);
SW_CHECKED sw_rc sw_run_user_priority(sw_run *r, sw_diag *d);

#endif
