/* Proofs of lower bounds of selection problems, and their check.
 *
 * A certificate is a text of one step per line that turns the problem, step by step, into ones whose least cost is no
 * higher, until the bound can be read off (docs/selection.md has the whole form):
 *
 *   shardwright-certificate 1
 *   bound 15
 *   lower 0 1                node 0 takes over the row minima of its table with node 1
 *   drop 0 2 beaten 1        choice 2 of node 0 costs and occupies at least what choice 1 does
 *   ...
 *
 * The check does every step itself, in exact integers, and shares no code with the solvers.
 */
#ifndef SHARDWRIGHT_CERTIFICATE_H_
#define SHARDWRIGHT_CERTIFICATE_H_

#include "shardwright/select.h"

/* Read and check the certificate in text[0 .. n); `name` stands for it in messages. *bound = what it proves: no
 * solution costs less; SW_FORBIDDEN says that there is none at all. A step that is wrong is SW_E_MISMATCH with its
 * line, text that is no certificate SW_E_INPUT. `p` is verified (sw_problem_verify). */
SW_API SW_CHECKED sw_rc sw_certificate_check(const sw_problem *p, const char *text, size_t n, const char *name,
                                             int64_t *bound, sw_diag *d);

#endif
