/* Shardings in the words of the people who asked for them. */
#ifndef GRAPH_SAID_H_
#define GRAPH_SAID_H_

#include "shardwright/request.h"

/* What a value, or an output as it is delivered, is annotated with where axes of size 1 are named: the sharding that
 * is given, when it is that annotation in the normal form, with their names; any other as it is. For texts that people
 * or other tools read. */
SW_API sw_sharding sw_value_said(const sw_request *r, sw_id value, const sw_sharding *s);
SW_API sw_sharding sw_output_said(const sw_request *r, int32_t output, const sw_sharding *s);

#endif
