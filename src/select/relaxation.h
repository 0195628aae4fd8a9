/* A problem with copies (sw_copies) as one of nodes and edges alone, which costs no more whatever is chosen: for the
 * search of plans, which solves a sequence of them. The first n_nodes nodes are those of the problem; copy nodes
 * follow.
 *
 * A relaxation begins with the cost of every copy split among those who can want it. Where a choice shows that it
 * counts too little, it is refined there, by a copy node that counts exactly; splitting anew raises its bound. The
 * optimum of any of these problems bounds the true one, and it is the true one where nothing is left to refine for it.
 *
 * Memory likewise: a relaxation begins with the least that a value and its copies hold whatever is chosen (sw_lives),
 * and where a choice holds more than the limit life nodes follow, which count exactly; so it never counts more than is
 * held.
 *
 * It follows the problem: where that has another version, costs of nodes, of copies and the limit are taken over; the
 * problem's shape must not change. It owns what it makes of it, and is itself changed by the calls below; each takes
 * effect when the relaxation is asked for the next time. Not thread-safe. All in the arena that it was made with, but
 * for lists that grow. */
#ifndef SELECT_RELAXATION_H_
#define SELECT_RELAXATION_H_

#include "shardwright/select.h"

typedef struct sw_relaxation sw_relaxation;

/* `p` is verified (or made so), and outlives the relaxation. */
SW_CHECKED sw_rc sw_relaxation_make(const sw_problem *p, sw_arena *arena, sw_relaxation **out, sw_diag *d);
void sw_relaxation_deinit(sw_relaxation *r); /* NULL allowed; what the arena does not hold */
/* As it is now, made anew where something has changed; borrowed, until it is asked for again. */
SW_CHECKED sw_rc sw_relaxation_problem(sw_relaxation *r, sw_problem *out, sw_diag *d);

/* Add copy nodes where less is counted for this choice than it costs; *refined says whether there were any such. */
SW_CHECKED sw_rc sw_relaxation_refine(sw_relaxation *r, const int32_t *choice, bool *refined, sw_diag *d);
/* Count lives of copies exactly where this choice holds more than the limit of the problem; *refined says whether some
 * were counted by the least that they hold before. */
SW_CHECKED sw_rc sw_relaxation_refine_lives(sw_relaxation *r, const int32_t *choice, int64_t limit, bool *refined,
                                            sw_diag *d);
/* Price copies that are not yet counted exactly in full for each reader (a bound from above, at which a choice can only
 * be better than it seems) or, as at first, in shares (a bound from below). */
void sw_relaxation_price_whole(sw_relaxation *r, bool whole);

typedef struct sw_split_options {
  int64_t work_limit;              /* 0: none; steps, as sw_solve_options has them */
  double deadline_s;               /* of sw_now_s; 0: none */
  int passes;                      /* at most */
  int64_t target;                  /* the least cost known */
  int64_t bound;                   /* what is known without other shares: those that promise less are not taken */
  double gap;                      /* end when the bound is so near the target */
  sw_cancel *cancel;               /* NULL allowed */
  const sw_parameters *parameters; /* NULL: the defaults */
} sw_split_options;
/* Split what copies cost among those who may want them so that the bound of messages and prices is high; at first all
 * pay equal shares. Floats guide; any shares that add up are right. Refinements are forgotten: with the new shares
 * others are needed. *work: steps counted. */
SW_CHECKED sw_rc sw_relaxation_split(sw_relaxation *r, const sw_split_options *o, int64_t *work, sw_diag *d);

int64_t sw_relaxation_last_step(const sw_relaxation *r);
/* The relaxation as it is now, with memory at a price instead of its limit: prices[t] >= 0 is what a unit of it costs
 * from step t to the next, n_steps are sw_relaxation_last_step, and each reader pays as if it were the only one. In the
 * arena, but borrows tables of the relaxation. */
SW_CHECKED sw_rc sw_relaxation_price_memory(sw_relaxation *r, int64_t n_steps, const double *prices, sw_arena *arena,
                                            sw_problem *out, sw_diag *d);

/* A choice of the relaxation as it was last asked for: the problem's nodes from `choice`, of any refinement (NULL: each
 * the first), and copies that go with them. */
SW_CHECKED sw_rc sw_relaxation_complete(const sw_relaxation *r, const int32_t *choice, int32_t *out, sw_diag *d);
/* What is known of it as it was last asked for, in names that stay the same when it is refined (copy nodes change their
 * places, and their choices), and back: the dual warm start as far as the relaxation has it, the choice with the copies
 * that go with it. In the arena. Splitting anew gives copy nodes other names: of what was known under the old ones the
 * choice is left. */
SW_CHECKED sw_rc sw_relaxation_keep(const sw_relaxation *r, const sw_solve_state *state, sw_arena *arena,
                                    sw_solve_state *kept, sw_diag *d);
SW_CHECKED sw_rc sw_relaxation_recall(const sw_relaxation *r, const sw_solve_state *kept, sw_arena *arena,
                                      sw_solve_state *state, sw_diag *d);

/* Layouts that are counted exactly; in the arena. */
SW_CHECKED sw_rc sw_relaxation_exact(const sw_relaxation *r, sw_arena *arena, int32_t *n, const sw_copy_of **out,
                                     sw_diag *d);
/* Count these exactly, too. */
SW_CHECKED sw_rc sw_relaxation_count(sw_relaxation *r, int32_t n, const sw_copy_of *of, sw_diag *d);

/* How copies are counted now, as lines of a certificate. */
void sw_relaxation_print(const sw_relaxation *r, sw_text *out);

#endif
