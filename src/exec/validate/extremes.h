/* Which arguments reach a reduction that keeps one extreme of many numbers, and what these hold so that it matters on
 * which device the extreme is. */
#ifndef EXEC_EXTREMES_H_
#define EXEC_EXTREMES_H_

#include "exec/validate/block.h"
#include "shardwright/graph.h"
#include "shardwright/tensor.h"

/* The ways in which a program cuts one value. */
typedef struct sw_sharding_list {
  const sw_mesh *mesh;
  int32_t n;
  const sw_sharding *const *shardings;
} sw_sharding_list;

/* What a reduction keeps of an argument's numbers. */
enum {
  SW_KEEPS_GREATEST = 1, /* or what is true of any */
  SW_KEEPS_LEAST = 2,    /* or what is true of all */
  SW_KEEPS_PRODUCT = 4,
  SW_KEEPS_SUM = 8, /* of floats of so few digits that a sum of many says nothing */
};

/* A part of the argument that a device has, by what is reduced: places [lo, hi] of each of its dims. */
typedef struct sw_row_block {
  int64_t lo[SW_MAX_RANK], hi[SW_MAX_RANK];
} sw_row_block;

typedef struct sw_extremes {
  unsigned keeps; /* 0: of nothing that is cut */
  uint32_t dims;  /* of the argument, that are reduced: its rows; the others are columns */
  int places;     /* so many extremes of a column are kept: top_k's k */
  bool bits;      /* combined bit by bit */
  bool sizes;     /* the greatest in size, whatever its sign */
  /* Only on which side of a number an element lies counts: numbers above, or those that are not less; or only whether
   * it is that number. */
  bool sided, or_equal, only_equal;
  double side;
  bool apart; /* the number is an element of another argument, beyond all of which this one's are */
  /* The sides are others: an element as that argument has it at its place, or another one (-1: not so); a number, or
   * none. */
  int32_t other;
  bool nan;
  int32_t mask;     /* an argument that says, place by place, whether an element counts; -1: none */
  bool mask_is;     /* true for those that do */
  int32_t n_blocks; /* of rows, each on other devices; two at least */
  const sw_row_block *blocks;
  bool far; /* other ops stand between, and its numbers should be many different ones */
} sw_extremes;

/* How a value of the model is cut. */
typedef sw_sharding_list sw_cuts_of(void *user, sw_id value);

/* By argument of the main function. */
SW_CHECKED sw_rc sw_extremes_find(const sw_graph *g, sw_cuts_of *cuts, void *user, sw_arena *arena, sw_extremes *out,
                                  sw_diag *d);

/* Integers that may be anything go so far. */
#define SW_MOST_SMALL 4

/* What the seeds of fills of one argument under two seeds differ by; those of two arguments by 1. */
#define SW_SEED_STEP UINT64_C(1000003)

/* Puts the extremes into a tensor that was filled, if there are any, and room for them. True: elements may still be
 * drawn again by *f, which is then what the others are of. `all`: the arguments, as far as they are filled; where an
 * extreme is put, a mask shows it. */
bool sw_extremes_plant(const sw_extremes *x, sw_fill *f, sw_tensor *t, sw_tensor *all);

#endif
