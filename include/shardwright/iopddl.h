/* Selection problems and their solutions as files, in the format of the public 2025 contest on intra-operator
 * parallelism (docs/selection.md):
 *
 *   {"problem": {"name": "tiny", "usage_limit": 50,
 *     "nodes": {"intervals": [[30, 70], [40, 70]], "costs": [[15], [55, 65]], "usages": [[10], [25, 25]]},
 *     "edges": {"nodes": [[0, 1]], "costs": [[30, 40]]}}}
 *
 * Node i occupies usages[i][s] in time steps [begin, end); costs[e] of edge (i, j) is row-major, choices of i first.
 * Costs of 10^18 and more mean forbidden. Keys may come in any order and unknown ones are skipped; without
 * "usage_limit" there is no limit, without "intervals" and "usages" no memory. An interval that ends before it begins
 * is empty. A solution is one line "[s0, s1, ...]", a choice per node.
 *
 * Beyond the contest, a problem may have copies that are paid once (sw_copies):
 *
 *   "copies": {"groups": [[0, 0, 1, 2]], "makes": [[0, 1]], "costs": [[0, 9, 7, 0]],
 *              "readers": [[2, 1]], "wants": [[0], [1], []]}
 *
 * A group is its maker, a table and the readers: node 0 makes what nodes 1 and 2 read. For each table: the classes of
 * the maker's choices, what copies cost by class and layout, and how many choices each reader has; "wants" has the
 * layouts that each choice wants, of one reader after the other.
 */
#ifndef SHARDWRIGHT_IOPDDL_H_
#define SHARDWRIGHT_IOPDDL_H_

#include "shardwright/select.h"
#include "shardwright/text.h"

/* `path` may be gzip, or "-". The problem lives in the arena; equal tables are stored once. A message names the file
 * and the offset in the (unpacked) text. Reads in pieces: the file is never in memory as a whole. */
SW_API SW_CHECKED sw_rc sw_iopddl_read(const char *path, sw_arena *arena, sw_problem *out, sw_diag *d);
/* The same from text in memory; `name` stands for the file in messages. */
SW_API SW_CHECKED sw_rc sw_iopddl_parse(const char *text, size_t n, const char *name, sw_arena *arena, sw_problem *out,
                                        sw_diag *d);
/* What sw_iopddl_parse reads back as the same problem. Fails on a node with more than one use: the format has one. */
SW_API SW_CHECKED sw_rc sw_iopddl_print(const sw_problem *p, sw_text *out, sw_diag *d);

/* The last line of the file that begins with '[', or the "choice" of a JSON result; one number per node, in range of
 * the problem. */
SW_API SW_CHECKED sw_rc sw_iopddl_read_solution(const char *path, const sw_problem *p, sw_arena *arena,
                                                int32_t **choice, sw_diag *d);
SW_API void sw_iopddl_print_solution(const int32_t *choice, int32_t n, sw_text *out);

#endif
