/* Selection problems made up in the likeness of those that compilers pose, for tests and benches.
 *
 * A problem is a made-up program over a mesh of two axes: every tensor may be cut along its dimensions by either axis,
 * an edge costs what it takes to bring a tensor from one cut to another, a node what its op moves and computes, and a
 * tensor occupies its part from where it is made to its last use. The backward half of a training step keeps what the
 * forward half made. The limit lies a little above what the smallest cuts need at their peak. Families:
 *
 *   small   some 800 nodes; a third of the nodes are tied to another one
 *   tied    30,000 nodes, of which some 200 to 700 decide: the others follow one through tables with one allowed entry
 *           per row
 *   large   30,000 to 60,000 nodes without a forbidden entry
 */
#ifndef GEN_PROBLEM_H_
#define GEN_PROBLEM_H_

#include "shardwright/select.h"

/* `name` is FAMILY:SEED, as "large:3"; false when it is not of that form. */
SW_API bool sw_problem_family(const char *name, const char **family, uint64_t *seed);
/* That of a name FAMILY:SEED, else of a file in the contest's format (iopddl.h); "-" is standard input. */
SW_API SW_CHECKED sw_rc sw_problem_load(const char *name, sw_arena *arena, sw_problem *out, sw_diag *d);
/* The same problem for the same seed, everywhere. An unknown family is SW_E_USAGE. */
SW_API SW_CHECKED sw_rc sw_problem_generate(const char *family, uint64_t seed, sw_arena *arena, sw_problem *out,
                                            sw_diag *d);

#endif
