/* Cheapest paths of a net, source by source. */
#ifndef SRC_RESHARD_CLOSURE_H_
#define SRC_RESHARD_CLOSURE_H_

#include "reshard/atlas.h"
#include "reshard/uneven.h"

enum { RS_CLOSURE_KEEPS = 460 }; /* states between which steps are kept */

/* Paths from one source, as far as they have been followed. */
typedef struct rs_paths {
  double *cost_s; /* the cheapest found, by state */
  double *open_s; /* the same, of states that were not gone on from yet; HUGE_VAL: of those that were */
  bool all;       /* have been followed to their ends */
} rs_paths;

typedef struct rs_closure {
  rs_query q; /* of any pair of states */
  rs_atlas *atlas;
  const rs_net *net; /* the machine's */
  bool keeps;        /* steps: there are not too many */
  rs_sized *sized;   /* prices of even blocks */
  rs_uneven *uneven; /* NULL where all states cut evenly */
  double **step_s;   /* by state, the steps from it: those that a path went on from. One that is not counted yet has the
                        least that it can cost, less than 0 */
  double *lone_s;    /* such a row where they are not kept */
  double *done_s;    /* how far a state was when it was last relaxed over, while a row is made */
  rs_paths *from;    /* by source, those that have been asked for */
} rs_closure;

/* Of the query's machine, dtype and space; `partial`: of states of partial values, too. */
SW_CHECKED sw_rc rs_closure_init(rs_closure *c, const rs_query *q, bool partial, sw_diag *d);
void rs_closure_deinit(rs_closure *c);
/* What leads from a state to each: the way where many sources are asked for. */
SW_CHECKED sw_rc rs_closure_row(rs_closure *c, int from, const double **out, sw_diag *d);
/* What leads from a state to another: paths are followed no farther. */
SW_CHECKED sw_rc rs_closure_s(rs_closure *c, int from, int to, double *out, sw_diag *d);

#endif
