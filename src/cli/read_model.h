/* Reading a model whose sizes may be open. */
#ifndef CLI_READ_MODEL_H_
#define CLI_READ_MODEL_H_

#include "cli/session.h"

enum { SW_OPEN_AXIS = 2 }; /* devices that stand in along an axis of unknown size */

/* Reads the model file into the session: its text, its graph and program, its sizes. Sizes that are not known are an
 * error that says which to give, or where they may stay open, others stand in for them: equal ones for those that the
 * model forces to be equal. `mesh`: given in place of the model's; NULL: none is. */
SW_CHECKED sw_rc sw_read_model(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sw_diag *d);
/* Destroys what was read; unequal blocks of a plan are in it. */
void sw_drop_model(sw_session *s);
/* The same text again, with sizes of s->stand_in. Drops what was read before. */
SW_CHECKED sw_rc sw_read_model_again(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sw_diag *d);

#endif
