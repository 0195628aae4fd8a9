/* What a device holds at a step, by what it is for: classes, and in each rows of the program's names over layers. */
#ifndef REPORT_MEMORY_H_
#define REPORT_MEMORY_H_

#include "io/json_write.h"
#include "plan/value_class.h"
#include "shardwright/plan.h"

typedef struct sw_memory_row {
  sw_memory_class class_of;
  const char *name; /* of a group: base/folded_names.h; of an op's buffer: the op's */
  int32_t count;
  int64_t bytes;         /* of all */
  const sw_live **lives; /* which they are */
} sw_memory_row;

typedef struct sw_memory {
  int64_t bytes[SW_MEMORY_CLASSES]; /* sums of the rows; their sum is all that is held */
  int32_t n;
  const sw_memory_row *rows; /* by class, then size */
} sw_memory;
/* `step` SW_ALL_STEPS: all that is ever held. */
enum { SW_ALL_STEPS = -1 };
sw_rc sw_memory_at(const sw_plan *p, const sw_breakdown *a, int32_t step, sw_arena *arena, sw_memory *out, sw_diag *d);
/* The classes of a graph's values, found once for plans of that graph one after the other. */
typedef struct sw_found_classes {
  const sw_graph *g; /* NULL: of none yet */
  const uint8_t *of_value;
} sw_found_classes;
/* The sums at the peak alone. */
sw_rc sw_memory_at_peak(const sw_plan *p, const sw_breakdown *a, sw_found_classes *found, sw_arena *arena,
                        int64_t *bytes, sw_diag *d);
/* Its rows as a list of {class, name, count, bytes}. */
void sw_memory_rows_json(const sw_memory *m, const char *key, sw_json_out *o);

#endif
