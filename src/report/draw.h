/* A picture of what each device holds. */
#ifndef REPORT_DRAW_H_
#define REPORT_DRAW_H_

#include "shardwright/sharding.h"

/* Devices as boxes: the last axis runs to the right, the others downwards, each beside an arrow with its name. An
 * element is drawn as its indices, counted from 1; halos are drawn as what they are copies of; what is short or empty
 * leaves blanks. For any rank: all dimensions but the last run downwards inside a box.
 *
 *   mesh x=2,y=2, 2x4, [[x],[y]]     grid axis y
 *                                    ----------->
 *                                    +-------+-------+ grid axis x |
 *                                    | 11 12 | 13 14 |             |
 *                                    +-------+-------+             |
 *                                    | 21 22 | 23 24 |             |
 *                                    +-------+-------+             v
 *
 * SW_E_INPUT for more than 4096 elements or 64 devices. */
SW_API SW_CHECKED sw_rc sw_draw_sharding(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, sw_text *out,
                                         sw_diag *d);

#endif
