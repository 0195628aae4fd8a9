/* Propagation by the RFC's rules alone, as far as they lead. */
#ifndef PROPAGATE_BY_RULE_H_
#define PROPAGATE_BY_RULE_H_

#include "shardwright/propagate.h"

/* As sw_propagate, but for annotations that `left` marks (by their number; NULL: none), and without a search. Where it
 * fails, *failed is the op whose annotations exclude each other by the rules; -1: none. */
SW_CHECKED sw_rc sw_propagate_by_rule(const sw_job *j, sw_traversal t, const bool *left, sw_id *failed, sw_arena *arena,
                                      sw_plan *out, sw_diag *d);

#endif
