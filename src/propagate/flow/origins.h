/* How each axis came to a tensor: what is recorded while a flow is propagated, when someone asks.
 *
 * Records stand in the order in which things happened. A record names the tensor that an axis came from, and that one
 * had it earlier: so a chain of them ends, at a sharding that was there before.
 */
#ifndef PROPAGATE_ORIGINS_H_
#define PROPAGATE_ORIGINS_H_

#include "base/array.h"
#include "propagate/flow.h"

/* An axis, or a part of one, that a dimension of a tensor has got. */
typedef struct sw_axis_arrival {
  int32_t tensor, dim;
  sw_axis_ref axis; /* as the step knows it, along one factor */
  sw_axis_ref as;   /* what it is a part of in the dimension, together with what stood there */
  int32_t from;     /* the tensor that had it */
  int32_t step;     /* -1: both are of one group */
  int32_t factor;   /* of the step's rule; of an edge the dimension */
  int32_t priority; /* up to which user priority dimensions took part; INT32_MAX: there was no such layer */
  int32_t round;    /* of op priority; -1: there was no such layer */
  int32_t before;   /* the record before of the same tensor; -1: none */
} sw_axis_arrival;

/* Axes that a tensor would have got along a factor, had not another factor got them in the same step. */
typedef struct sw_loss {
  int32_t tensor, step;
  sw_axis_ref axis;
  int32_t dim, factor, from;       /* that did not get it, and the tensor that it was in */
  int32_t winner_dim, winner_from; /* that did */
  double weight, winner_weight;    /* elements of these two; of elementwise ops the shards that each would make */
  int32_t before;
} sw_loss;

typedef struct sw_origins {
  SW_ARRAY(sw_axis_arrival) came;
  SW_ARRAY(sw_loss) lost;
  const sw_open_sharding **initial; /* by tensor; NULL: it had none */
  int32_t *last, *last_lost;        /* by tensor: its latest record; -1: none */
  sw_arena arena;
} sw_origins;

SW_API void sw_origins_free(sw_origins *o);

/* Where tensor `t` had got [part of] an axis from before record `time` (came.n: at the end): the first that has all of
 * it, else the first that has some. SW_ORIGIN_SAID: it was annotated; SW_ORIGIN_NONE: it has it not. */
enum { SW_ORIGIN_SAID = -1, SW_ORIGIN_NONE = -2 };
SW_API int32_t sw_origin_of(const sw_origins *o, int32_t t, sw_axis_ref axis, int32_t time);
/* The digits that both have; size 0: none. */
SW_API sw_axis_ref sw_axis_common(sw_axis_ref a, sw_axis_ref b);

/* Why a tensor has not the axes that another one of a step has along their common factor. */
typedef enum sw_refusal_reason {
  SW_REFUSED_STANDS,  /* other axes stand there */
  SW_REFUSED_BLOCKED, /* nothing is propagated along the factor */
  SW_REFUSED_BARRIER, /* nothing goes that way */
  SW_REFUSED_CLOSED,  /* the dimension takes no further axes */
  SW_REFUSED_USED,    /* the axis cuts another dimension */
  SW_REFUSED_LISTED,  /* the axis is replicated or unreduced explicitly */
  SW_REFUSED_SIZE,    /* it does not divide what is left of the factor */
  SW_REFUSED_TENSOR,  /* another tensor of the step contradicts */
  SW_REFUSED_LAYER    /* the layer does not go further */
} sw_refusal_reason;

typedef struct sw_refusal {
  int32_t step, factor, dim; /* of the tensor that was asked about */
  int32_t from;              /* the tensor that has it */
  sw_axis_ref axis;
  sw_refusal_reason why;
  int32_t by; /* USED: the dimension that the axis cuts. TENSOR: the tensor. Else -1 */
} sw_refusal;
typedef SW_ARRAY(sw_refusal) sw_refusals;

/* Appended, when a flow is at its end: every step of the tensor is looked at. */
SW_API SW_CHECKED sw_rc sw_flow_refusals(const sw_flow *f, int32_t tensor, sw_refusals *out, sw_diag *d);

#endif
