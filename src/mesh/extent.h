/* Where offsets and halos of a sharding stand, and how many there are. */
#ifndef SRC_MESH_EXTENT_H_
#define SRC_MESH_EXTENT_H_

#include "shardwright/sharding.h"

/* Offsets (N+1 starts) or halos (lo, hi) of one dimension; NULL when there are none or it is not cut. */
const int64_t *sw_sharding_dim_offsets(const sw_sharding *s, int dim);
const int64_t *sw_sharding_dim_halos(const sw_sharding *s, int dim);
/* Dimensions with at least one ref, and all their N+1 together. */
int sw_sharding_cut_dims(const sw_sharding *s);
int64_t sw_sharding_offsets_count(const sw_sharding *s);

#endif
