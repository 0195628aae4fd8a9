/* Figures of resharding: how long a route, a price, a cached route and a table of prices take, and how often the direct
 * exchange is worth having. */
#ifndef BENCH_BENCH_RESHARD_H_
#define BENCH_BENCH_RESHARD_H_

#include "shardwright/clock.h"
#include "shardwright/profile.h"

typedef struct sw_bench_reshard_options {
  const sw_profile *profile;
  double min_s; /* repeat each measurement at least this long */
  sw_cancel *cancel;
} sw_bench_reshard_options;

/* One figure beside its limit. */
typedef struct sw_bench_reshard_row {
  const char *mesh, *what;         /* "route", "price", "cached route", "table of 30 x 30"; of shapes that do not divide
                                      ("uneven"), of partial values, of both, of parts of axes */
  double seconds;                  /* the mean over the drawn reshards; of a table, the best run */
  double median_s, p99_s, worst_s; /* of them in turn; 0 for a table, and for what is timed together */
  double limit_s;                  /* 0: none */
} sw_bench_reshard_row;

/* Direct exchanges among all pairs of the drawn shardings of one mesh. */
typedef struct sw_bench_reshard_wins {
  const char *mesh;
  int pairs, wins;                  /* wins: pairs on which collectives and permutes alone cost more */
  double mean_saving;               /* over the wins: the part of the time that the exchange saves */
  double median_ratio, worst_ratio; /* of collectives and permutes alone: bytes of the busiest device over the bound */
} sw_bench_reshard_wins;

typedef struct sw_bench_reshard_visitor {
  sw_rc (*row)(void *user, const sw_bench_reshard_row *row, sw_diag *d);
  sw_rc (*wins)(void *user, const sw_bench_reshard_wins *wins, sw_diag *d);
  void *user;
} sw_bench_reshard_visitor;

/* Rank 4, meshes of two and three axes, reshards drawn from a fixed seed. *beyond: rows whose mean passes the limit. */
SW_API SW_CHECKED sw_rc sw_bench_reshard(const sw_bench_reshard_options *o, const sw_bench_reshard_visitor *v,
                                         int *beyond, sw_diag *d);

#endif
