/* What no route between two shardings costs less than: a bound in a time that hangs on their axes alone, for tables of
 * prices of which few are ever searched for. */
#ifndef RESHARD_LEAST_H_
#define RESHARD_LEAST_H_

#include "shardwright/profile.h"
#include "shardwright/reshard.h"

typedef struct sw_route_floors sw_route_floors; /* of a machine: what bytes take at least; in an arena */

/* A digit of an axis that lies in one level of the network. */
typedef struct sw_route_digit {
  int8_t axis, level;
  int32_t pre, size;
} sw_route_digit;

enum { SW_MAX_ROUTE_DIGITS = 24 };

/* An end of routes: a sharding of a tensor. */
typedef struct sw_route_end {
  bool unknown; /* offsets, halos, parts of an average: its bound is 0 */
  bool empty;   /* no elements */
  bool uneven;  /* blocks are not all of one size */
  uint8_t rank, n_digits, n_partial;
  uint8_t first[SW_MAX_RANK + 1]; /* by dimension, of its digits, major first */
  sw_route_digit digit[SW_MAX_ROUTE_DIGITS], partial[SW_MAX_ROUTE_DIGITS];
  double elem_bytes, whole; /* of an element as it is held; elements of the tensor */
  /* By level and dimension, elements that a unit whose far digits are 0 has, at most and at least. */
  double most[SW_MAX_LEVELS][SW_MAX_RANK], least[SW_MAX_LEVELS][SW_MAX_RANK];
} sw_route_end;

/* The machine is borrowed. */
SW_API SW_CHECKED sw_rc sw_route_floors_make(const sw_machine *machine, sw_arena *arena, const sw_route_floors **out,
                                             sw_diag *d);
/* `t`: of the tensor's elements. */
SW_API void sw_route_end_make(const sw_route_floors *f, const sw_sharding *s, int rank, const int64_t *dims, sw_dtype t,
                              sw_route_end *out);
/* Seconds; of two different shardings of one tensor. No more than sw_route_cost_s. */
SW_API double sw_route_least_s(const sw_route_floors *f, const sw_route_end *a, const sw_route_end *b);
/* The same of ends that are looked at once; 0 where they are equal. */
SW_API double sw_route_least_between_s(const sw_route_floors *f, const sw_sharding *from, const sw_sharding *to,
                                       int rank, const int64_t *dims, sw_dtype t);
/* Of the machine of prices, or of sw_machine_combining of it. */
SW_API const sw_route_floors *sw_route_prices_floors(const sw_route_prices *p, bool combines);

#endif
