/* What the files of two plans say of values made again, kept and offloaded, by the names of the ops that do it. */
#ifndef REPORT_DIFF_LEVERS_H_
#define REPORT_DIFF_LEVERS_H_

#include "base/hash.h"
#include "io/json_tree.h"
#include "shardwright/schedule.h"

/* Zero-initialise; then sw_dict_deinit of `of`. */
typedef struct sw_diff_levers {
  sw_dict of; /* by name of an op that does one of these: a sw_lever */
} sw_diff_levers;
typedef enum sw_lever { SW_LEVER_NONE, SW_LEVER_AGAIN, SW_LEVER_KEEPS, SW_LEVER_OFFLOADS } sw_lever;

/* Of a plan file, from its schedule; of a report, from its ops. */
SW_CHECKED sw_rc sw_diff_read_levers(const sw_json *root, sw_diff_levers *out, sw_diag *d);
/* What the op does in the one plan, where the other has no such op (fetches as what is kept). *original, NULL or in the
 * arena: the op of the program that it makes again, or the value that it offloads. */
SW_CHECKED sw_rc sw_diff_lever_alone(const sw_diff_levers *own, const sw_diff_levers *other, const char *op,
                                     sw_arena *arena, sw_lever *how, const char **original, sw_diag *d);

#endif
