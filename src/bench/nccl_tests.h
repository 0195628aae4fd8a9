/* Tables that nccl-tests and rccl-tests print: the text of standard output, and the file of `-J`. */
#ifndef BENCH_NCCL_TESTS_H_
#define BENCH_NCCL_TESTS_H_

#include "io/json_tree.h"
#include "shardwright/collective.h"

/* A size and how long the collective took out of place, or in place where nothing else was timed. */
typedef struct sw_nccl_row {
  int32_t line;
  double bytes, time_s;
} sw_nccl_row;

typedef struct sw_nccl_table {
  const char *program; /* "all_reduce_perf" */
  const char *device;  /* of the first rank, "NVIDIA H100 80GB HBM3"; "" when not said */
  bool known;          /* `op` is what it times; otherwise no price stands for it alone */
  sw_coll_op op;
  int64_t ranks, nodes; /* of one group, where the ranks were split; nodes are the different host names */
  int32_t line;
  const sw_nccl_row *rows;
  int64_t n;
} sw_nccl_table;

typedef struct sw_nccl_tables {
  sw_nccl_table *at;
  int64_t n;
} sw_nccl_tables;

/* Whether a text looks like either form. */
bool sw_nccl_is_text(const char *bytes, size_t n);
bool sw_nccl_is_json(const sw_json *v);

/* All tables of a text, one after another; lines of other programs between them are passed over. `file` is for
 * messages, and its name says the collective where the text does not. */
SW_CHECKED sw_rc sw_nccl_text(const char *file, const char *bytes, size_t n, sw_arena *arena, sw_nccl_tables *out,
                              sw_diag *d);
SW_CHECKED sw_rc sw_nccl_json(const char *file, const sw_json *v, sw_arena *arena, sw_nccl_tables *out, sw_diag *d);

#endif
