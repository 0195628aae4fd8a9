/* Attributes as expressions, for those who write ops. */
#ifndef GRAPH_ATTR_OF_H_
#define GRAPH_ATTR_OF_H_

#include "shardwright/op.h"

#define SW_ATTR_I(k, v) \
  (sw_attr) { .key = SW_ATTR_##k, .u.i = (v) }
#define SW_ATTR_T(k, v) \
  (sw_attr) { .key = SW_ATTR_##k, .u.text = (v) }
#define SW_ATTR_L(k, v, count)                    \
  (sw_attr) {                                     \
    .key = SW_ATTR_##k, .u.ints = {(v), (count) } \
  }

#endif
