/* What is told of a plan for a model whose sizes are not all known. */
#ifndef CLI_OPEN_SIZES_H_
#define CLI_OPEN_SIZES_H_

#include "cli/session.h"
#include "shardwright/propagate.h"

/* Appends the plan, as a table or as JSON: its shardings, and what it moves and does twice as polynomials in the sizes.
 * The model is read again and again with other sizes: session->job.graph is no longer that of the plan afterwards. */
SW_CHECKED sw_rc sw_open_sizes_print(const sw_model_options *from, sw_opened *session, const sw_plan *plan, bool table,
                                     sw_arena *arena, sw_text *out, sw_diag *d);
/* Warns when the shardings of the plan are others where axes whose sizes are not known are larger, as far as the
 * profile has devices for that. Reads the model again. */
SW_CHECKED sw_rc sw_open_axes_compare(const sw_model_options *from, sw_opened *session, const sw_plan *plan,
                                      sw_traversal t, sw_arena *arena, sw_diag *d);

#endif
