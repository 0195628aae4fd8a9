/* Where things come from: in the model's file, and in the program that the model came from. */
#ifndef REPORT_PLACES_H_
#define REPORT_PLACES_H_

#include "io/json_write.h"
#include "shardwright/graph.h"

/* "FILE:LINE:COLUMN" as a member; nothing where the place is not known. */
void sw_jw_place(sw_json_out *o, const char *key, sw_span at);
/* Members location, source and scope of an op. */
void sw_jw_places(sw_json_out *o, const sw_op *op);

/* " (train.py:12:9, jit(step)/block_0/dot_general)": of the program, or else of the model's file; nothing where neither
 * is known. */
void sw_place_print(sw_span at, const sw_source *from, sw_text *out);

#endif
