/* A schedule as an object of a JSON file: what plan files and --schedule have. */
#ifndef IO_SCHEDULE_JSON_H_
#define IO_SCHEDULE_JSON_H_

#include "io/json_tree.h"
#include "io/json_write.h"
#include "shardwright/schedule.h"

void sw_schedule_put(sw_json_out *o, const char *key, const sw_schedule *s, int32_t stage);
/* Of the program that is asked for so; *stage: which of them is planned. */
SW_CHECKED sw_rc sw_schedule_take(const sw_json *object, const sw_request *written, sw_arena *arena, bool adapt,
                                  sw_schedule *out, int32_t *stage, sw_diag *d);

#endif
