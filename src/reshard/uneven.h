/* Steps between states on a tensor that some of them cut unevenly. What devices receive there depends on every extent,
 * so prices are counted where they are asked for.
 */
#ifndef SRC_RESHARD_UNEVEN_H_
#define SRC_RESHARD_UNEVEN_H_

#include "reshard/net.h"

typedef struct rs_uneven {
  const rs_net *net;
  const rs_query *q;                        /* its space is the net's, on the dims of the tensor */
  int64_t block[SW_MAX_RANK][RS_NET_LISTS]; /* elements of a list's first shard */
  bool even[SW_MAX_RANK][RS_NET_LISTS];     /* are all its shards of so many? */
  double padded[SW_MAX_RANK][RS_NET_LISTS]; /* its shards, all of so many, over the dimension's size */
  unsigned spare;                           /* a set of dimensions, and the least that any of them is padded: */
  double spare_padded[RS_NET_LISTS];
} rs_uneven;

/* A dimension of an end with offsets or halos, where they cut it otherwise than its list does: ranges by device, all
 * the first elements, then all that follow the last ones. */
typedef struct rs_pieces {
  const sw_tile_dim *dim; /* NULL: as its list cuts it */
  double *shown;
  double *owned[SW_MAX_LEVELS]; /* by all of a device's unit of a level */
} rs_pieces;

/* What an exchange leaves, or reaches. */
typedef struct rs_side {
  int state;                 /* itself, or with the lists of */
  const sw_sharding *opaque; /* ... an end with offsets or halos; else NULL */
  const rs_pieces *piece;    /* of such an end, by dimension */
  const bool *is_odd;        /* rs_far_end's */
} rs_side;

void rs_uneven_init(rs_uneven *u, const rs_net *n, const rs_query *q);
/* The same by one collective or a permute, priced by what the busiest device receives. */
double rs_uneven_collective(const rs_uneven *u, int from, int to, rs_step *out);
double rs_uneven_bytes(const rs_uneven *u, int state); /* padded, of one device */
/* The step from a state to another and its price, which is HUGE_VAL where there is none. Where it costs `enough` or
 * more, some such price, no more than its own. */
double rs_uneven_step(const rs_uneven *u, int from, int to, double enough, rs_step *out);
/* From now on a state stands for all that differ from it by the order of the `spare` dimensions, in what follows: */
void rs_uneven_take_alike(rs_uneven *u, unsigned spare);
/* Is a step between equally partial values that cuts several dimensions no slices, as blocks do not nest? And is one
 * that changes what is partial a step at all, as far as that is known? */
bool rs_uneven_cuts(const rs_uneven *u, int from, int to);
bool rs_uneven_scatters(const rs_uneven *u, int from, int to);
/* What such a step's blocks, those of the longer lists, are over even ones. */
double rs_uneven_padding(const rs_uneven *u, int from, int to);
/* Bytes that the busiest device lacks; 0 where that is not known. */
double rs_uneven_lacked_bytes(const rs_uneven *u, const rs_side *from, const rs_side *to);
/* As sw_machine_exchange_s; with `enough` as above. */
double rs_uneven_exchange_s(const rs_uneven *u, const rs_side *from, const rs_side *to, double enough);

/* An end with offsets or halos beside the state with its lists. */
typedef struct rs_far_end {
  sw_tiling tiling;
  rs_pieces piece[SW_MAX_RANK];
  double *ranges; /* of all pieces */
  bool is_odd;    /* they are not worked out: such exchanges are counted by the machine */
} rs_far_end;
/* Beside a state, or, of a target that speaks of another mesh, beside the state that cuts nothing. */
SW_CHECKED sw_rc rs_far_end_init(rs_far_end *e, const rs_uneven *u, int state, const sw_sharding *opaque,
                                 const sw_other_mesh *on, sw_diag *d);
void rs_far_end_deinit(rs_far_end *e);
/* Of the tensor beside the net's. */
typedef struct rs_sizes {
  bool even; /* all states cut all dimensions evenly */
  double scale, root;
} rs_sizes;
/* The step between two sides, of which one is such an end; HUGE_VAL where other axes are partial. Where it costs
 * `enough` or more, some such price. */
double rs_far_step_s(const rs_uneven *u, const rs_sizes *sizes, const rs_side *from, const rs_side *to, double enough);

#endif
