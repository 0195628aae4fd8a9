/* Collectives of StableHLO as their text says them; which devices its numbers name is for who reads them. */
#ifndef MLIR_COLLECTIVE_H_
#define MLIR_COLLECTIVE_H_

#include "mlir/import/import.h"
#include "shardwright/collective.h"

typedef struct sw_im_collective {
  const char *name; /* without its dialect */
  sw_coll_op op;
  const char *dim, *other; /* attributes; NULL: none */
  bool wide;               /* its groups may be those of replicas with all of their partitions */
} sw_im_collective;
/* NULL: it is none; partition_id and replica_id are none. */
const sw_im_collective *sw_im_collective_named(const sw_ir_tree *t, const sw_ir_op *o);

/* Rows of `each` numbers, shorter ones end in -1; of replica_groups or source_target_pairs, in the scratch arena. No
 * numbers: the text has no such list, or an empty one. */
typedef struct sw_im_rows {
  const int64_t *at;
  int n; /* numbers */
  int64_t each;
} sw_im_rows;
SW_CHECKED sw_rc sw_im_read_rows(sw_importer *m, uint32_t op, const char *key, sw_im_rows *out);
/* A dim of a tensor of that rank. */
SW_CHECKED sw_rc sw_im_read_dim(sw_importer *m, uint32_t op, const char *key, int rank, int64_t *out);
/* How the op reduces; false: by a region of its own. */
bool sw_im_collective_reduction(const sw_importer *m, uint32_t op, sw_reduction *out);

#endif
