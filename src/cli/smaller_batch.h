/* Where no plan fits: the largest batch on which one does, of a model whose batch is a size that it leaves open. */
#ifndef CLI_SMALLER_BATCH_H_
#define CLI_SMALLER_BATCH_H_

#include "cli/session.h"
#include "plan/would_fit.h"

/* Notes in *d the largest of a half, a quarter and an eighth of the batch on which a plan is found soon; nothing where
 * no size given is the batch, or none of them will do. `session`: the model as it was planned, with `pins`; `l`: as
 * sw_note_fits left them. */
void sw_note_smaller_batch(const sw_model_options *from, const sw_opened *session, const sw_words *pins,
                           const sw_fit_limits *l, sw_diag *d);

#endif
