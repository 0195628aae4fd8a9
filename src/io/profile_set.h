/* Numbers of a profile's file changed by dotted path before it is read: "what if the network were half as fast".
 *
 *   device.memory.bytes_per_s=3e12           a number in place of the file's
 *   levels.nvlink.**.*bytes_per_s*=0.5       every rate of that level, halved
 */
#ifndef IO_PROFILE_SET_H_
#define IO_PROFILE_SET_H_

#include "io/json_tree.h"

/* Make the changes, in this order. The tree's numbers are replaced where they stand, so `tree` is that of nobody else.
 */
SW_CHECKED sw_rc sw_profile_set(const sw_json *tree, const char *const *changes, int n, sw_arena *arena, sw_diag *d);

#endif
