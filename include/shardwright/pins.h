/* Pins in words: shardings that a person says values are to have.
 *
 *   wq=[[],[x]]; h.*.wk = P(None, 'x')    how values are made, or arguments arrive: as stored
 *   wq@used = [[],[x]]                    how all that use it take it
 *   wq@h.0.dot = [[],[x]]                 how the ops of that name or pattern take it
 *   wq = [[?],[x,?]]                      dims that end in '?' may be cut further
 *
 * Shardings are in any of the spellings of docs/sharding-forms.md.
 */
#ifndef SHARDWRIGHT_PINS_H_
#define SHARDWRIGHT_PINS_H_

#include "shardwright/selection.h"

/* Pins with ';' between them, in the order of the text, a pattern's in the order of values; in the arena, but for `at`:
 * where the text stands. SW_E_USAGE or SW_E_INPUT, at a place of the text, for what cannot be read, and where there is
 * no pin. */
SW_API SW_CHECKED sw_rc sw_pins_parse(const sw_graph *g, const sw_mesh *mesh, const char *text, sw_span at,
                                      sw_arena *arena, int32_t *n, const sw_pin **out, sw_diag *d);
/* The request with the pins among its required annotations, each at its place `at`, of the mesh whose axes they name;
 * all else is borrowed. */
SW_API SW_CHECKED sw_rc sw_pins_require(const sw_request *r, const sw_mesh *mesh, int32_t n, const sw_pin *pins,
                                        sw_span at, sw_arena *arena, sw_request *out, sw_diag *d);
/* The job with n texts of pins, line after line of `file`; SW_E_INPUT, too, with `even`, for a dim that its pin cuts
 * unevenly: forms whose readers pad such values do not take them. All else is borrowed. */
SW_API SW_CHECKED sw_rc sw_pins_take(const sw_job *j, int n, const char *const *texts, const char *file, bool even,
                                     sw_arena *arena, sw_job *out, sw_diag *d);

#endif
