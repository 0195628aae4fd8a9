/* Where things come from: in the model's file, and in the program that the model came from. */
#ifndef REPORT_PLACES_H_
#define REPORT_PLACES_H_

#include "base/array.h"
#include "base/hash.h"
#include "io/json_write.h"
#include "shardwright/graph.h"

/* "FILE:LINE:COLUMN" as a member; nothing where the place is not known. */
void sw_jw_place(sw_json_out *o, const char *key, sw_span at);
/* Members location, source and scope of an op. */
void sw_jw_places(sw_json_out *o, const sw_op *op);

/* " (train.py:12:9, jit(step)/block_0/dot_general)": of the program, or else of the model's file; nothing where neither
 * is known. */
void sw_place_print(sw_span at, const sw_source *from, sw_text *out);

/* The stacks that a document has named so far: what has one says its number. */
typedef struct sw_places {
  SW_ARRAY(const sw_call_frame *) stacks;
  sw_dict number_of;
} sw_places;

/* "location", "source", "scope" and "stack" of an op, or of an argument, as far as they are known. */
void sw_places_of_op(sw_places *p, const sw_op *op, sw_json_out *o);
void sw_places_of_arg(sw_places *p, const sw_value *v, sw_json_out *o);
/* "call_stacks", the frames of each, the user's own before those of libraries; when there are any. Frees them. */
void sw_places_end(sw_places *p, sw_json_out *o);

#endif
