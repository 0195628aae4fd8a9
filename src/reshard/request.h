/* A wanted reshard, made ready for the search: ends in normal form, what is reduced before it and made partial after
 * it. */
#ifndef SRC_RESHARD_REQUEST_H_
#define SRC_RESHARD_REQUEST_H_

#include "reshard/search.h"

typedef struct rs_request {
  rs_query query;
  sw_sharding from, to;       /* normal form */
  sw_sharding source, target; /* the ends of the search */
  bool reduce_first;          /* an opaque source is reduced over its partial axes before anything else */
  bool nothing_to_do;
  bool keeps_partial; /* values partial at both ends stay so; instead all could be reduced and made partial again */
  bool in_net;        /* a net holds both ends: the search is exact */
  bool has_ends;      /* else one of whole axes and the ends' own lists may: it is searched, too */
  bool is_far;        /* an end has offsets or halos, and the same lists without them are states of a net */
  bool is_there;   /* the target speaks of another mesh, and a net, all states or the source's own, holds the source */
  bool makes_last; /* `made` and `piece` take steps of their own after the search */
  bool in_pieces;  /* what is made last and cuts the source stays where it is till then */
  int n_made;      /* axes that are made partial by to.partial_kind */
  sw_axis_ref made[SW_MAX_REFS];
  int n_averaged; /* axes over which copies are taken for parts of an average: a step of its own at the end, for nothing
                   */
  int n_pieces;   /* and those that cut the search's target, behind the lists of `to`, until then */
  sw_axis_ref piece[SW_MAX_REFS];
} rs_request;

/* The shardings are borrowed while the request is used. SW_E_INPUT when no route can exist. */
sw_rc rs_request_init(rs_request *r, const sw_reshard *wanted, sw_diag *d);
/* The sharding with its lists in the arena, so that steps may keep them. */
sw_rc rs_own(sw_arena *arena, const sw_sharding *s, sw_sharding *out, sw_diag *d);
/* The search, of a request that keeps partial values also with all of them reduced first: whichever is cheaper. */
SW_CHECKED sw_rc rs_request_search(rs_request *r, rs_path *out, sw_diag *d);
/* An average of averages is not the average of all where it truncates: such values are reduced once, which is no matter
 * of states. */
bool rs_reduces_in_parts(const sw_sharding *s);
/* The cost of all: the path that is found, and the steps around it. */
SW_CHECKED sw_rc rs_request_s(rs_request *r, double *cost_s, sw_diag *d);
/* Steps around a path. Costs of a path: its own, without those steps. */
double rs_reduce_first_s(const rs_request *r);
double rs_made_s(const rs_request *r);
double rs_pieces_s(const rs_request *r);

#endif
