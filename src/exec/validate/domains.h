/* What the uses of a program's arguments allow them to hold. */
#ifndef EXEC_DOMAINS_H_
#define EXEC_DOMAINS_H_

#include "shardwright/graph.h"

typedef struct sw_value_domain {
  bool bounded; /* low and high mean something: within them all uses are in their domain */
  double low, high;
  bool index; /* of integers: what it chooses from has high - low + 1 places */
  bool mixed; /* it is compared with numbers: some of it is to be on either side of each */
  double least_compared, most_compared;
  bool dominant; /* matrices that are factored: the diagonal outweighs the rest, so that they are positive definite */
  double terms;  /* > 0: it is a factor of sums of so many products */
  /* Index vectors lie along this dimension of the argument, and each part has a limit of its own; -1: none do. */
  int vector_dim;
  int n_parts;
  double part_high[SW_MAX_RANK];
} sw_value_domain;

/* domains: one per argument of the main function. */
SW_CHECKED sw_rc sw_value_domains_find(const sw_graph *g, sw_value_domain *domains, sw_diag *d);

/* Between which numbers a value is that follows from constants and iotas alone; false: it is none, or not known. */
bool sw_value_range(const sw_graph *g, sw_id value, double *low, double *high);

#endif
