/* Parts of partial values: made of a whole tensor, and combined again. By definition, an element at a time: no code is
 * shared with the collectives that are being checked. */
#ifndef EXEC_PARTS_H_
#define EXEC_PARTS_H_

#include "exec/validate/block.h"

/* The block that a device holds becomes its part: which device of a group holds an element varies from element to
 * element, the others hold what does not change it (of `and` and `or` 0 or 1, whatever the type). Nothing happens where
 * the sharding is not partial. SW_E_INPUT for a kind that the type does not have. */
SW_CHECKED sw_rc sw_parts_split(const sw_mesh *m, const sw_sharding *s, const sw_buffer *whole, int64_t position,
                                sw_tensor *block, sw_diag *d);
/* Every device's block of a partial value becomes the combination of the parts of its group; *whole_sharding is then
 * the sharding of the blocks. All devices' blocks are there. */
SW_CHECKED sw_rc sw_parts_combine(const sw_cut *c, sw_tensor *blocks, sw_sharding *whole_sharding, sw_diag *d);

#endif
