/* Two plans side by side, from the files that say what they are: plan files (plan_json.h) or JSON reports (report.h),
 * of one model or of two versions of it. Nothing is priced anew: a file has what it has, and a plan file no
 * collectives.
 *
 *   sw_diff diff;
 *   SW_TRY(sw_diff_build(&(sw_diff_text){"a.json", a, a_bytes}, &(sw_diff_text){"b.json", b, b_bytes}, arena, &diff,
 * d)); sw_diff_table(&diff, &out);
 */
#ifndef SHARDWRIGHT_DIFF_H_
#define SHARDWRIGHT_DIFF_H_

#include "shardwright/plan.h"

/* What a file holds; `name` is what messages call it. */
typedef struct sw_diff_text {
  const char *name, *bytes;
  size_t n;
} sw_diff_text;

/* What one of the two says of all of it. Texts live in the arena. */
typedef struct sw_diff_side {
  const char *file;
  bool is_report;
  const char *model, *profile, *mesh, *compiler;
  const char *dtype; /* NULL: it does not say it */
  bool priced;       /* else the next five are not set */
  double total_s, local_s, reshard_s, inside_s;
  int64_t peak_bytes;
  bool has_collectives;
  sw_collective_sum by_collective[SW_COLL_COUNT];
} sw_diff_side;

typedef enum sw_diff_kind { SW_DIFF_ARGUMENT, SW_DIFF_OP, SW_DIFF_OUTPUT, SW_DIFF_KINDS } sw_diff_kind;
SW_API const char *sw_diff_kind_text(sw_diff_kind k); /* "argument" */

/* Things of one kind over all layers that were cut alike and now are: "h.{0..11}.attn.wq". Of what only one of the two
 * has the other cut is NULL. Cuts are shardings, of ops those of their first results, or strategies where only these
 * differ, or where a file has nothing else. */
typedef struct sw_diff_row {
  sw_diff_kind kind;
  const char *name; /* as the second file has it, where it is there, or its scopes where a report says them; of a group:
                       base/folded_names.h */
  int32_t n;
  const char *const *names; /* n of them */
  const char *was, *now;
} sw_diff_row;

/* What only one of the two makes again, or offloads, over all layers; the other keeps it. `name`, `names`: of ops of
 * the program, and of values. */
typedef struct sw_diff_again {
  const char *name;
  int32_t n;
  const char *const *names;
  bool now; /* the second does */
  bool offloaded;
} sw_diff_again;

typedef struct sw_diff_renamed {
  sw_diff_kind kind;
  const char *was, *now;
} sw_diff_renamed;

typedef struct sw_diff {
  sw_diff_side was, now;
  int32_t n_now[SW_DIFF_KINDS]; /* how many the second has of each kind */
  int32_t n_changed[SW_DIFF_KINDS], n_added[SW_DIFF_KINDS], n_removed[SW_DIFF_KINDS];
  int32_t n_rows;
  const sw_diff_row *rows; /* changed, then added, then removed ones; of each kind in the order of the file */
  int32_t n_again;
  const sw_diff_again *again; /* what the second does, then what the first does */
  int32_t n_renamed;
  const sw_diff_renamed *renamed;
} sw_diff;

/* In the arena. SW_E_INPUT, at its place, for a text that is neither a plan nor a report. */
SW_API SW_CHECKED sw_rc sw_diff_build(const sw_diff_text *was, const sw_diff_text *now, sw_arena *arena, sw_diff *out,
                                      sw_diag *d);
/* Is nothing different but the files' names? */
SW_API bool sw_diff_is_empty(const sw_diff *diff);
SW_API void sw_diff_table(const sw_diff *diff, sw_text *out);
/* docs/diff.schema.json */
SW_API void sw_diff_json(const sw_diff *diff, sw_text *out);

#endif
