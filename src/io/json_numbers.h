/* The numbers of a JSON tree by path: the keys that lead to one, joined by dots; an element of a list goes by its
 * "name", or else by its place from 0.
 *
 *   device.memory.bytes    levels.nvlink.costs.all_gather.base_s    ln_factor.0.3
 */
#ifndef IO_JSON_NUMBERS_H_
#define IO_JSON_NUMBERS_H_

#include "base/array.h"
#include "io/json_tree.h"

typedef struct sw_number {
  const char *path;
  sw_json *at;
} sw_number;

typedef SW_ARRAY(sw_number) sw_number_list;

/* In the order of the text; paths are in the arena, the list is the caller's to free, also after a failure. */
SW_CHECKED sw_rc sw_numbers_of(const sw_json *tree, sw_number_list *out, sw_arena *arena, sw_diag *d);
/* A pattern as those of base/pattern.h, but ".**" at its end also stands for no key. */
bool sw_number_path_matches(const char *pattern, const char *path);

#endif
