/* Where an op comes from, in words. */
#ifndef GRAPH_SOURCE_H_
#define GRAPH_SOURCE_H_

#include "shardwright/graph.h"

/* "from net.py:12:9, in jit(step)/block_0/dot_general"; nothing where nothing is known. */
SW_API void sw_source_print(const sw_source *from, sw_text *out);

#endif
