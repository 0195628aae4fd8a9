/* Sharding rules, as Shardy has them: how the dimensions of the tensors of an op go together.
 *
 *   dot_general of [8,32] and [32,16]:   ([i, k], [k, j])->([i, j]) {i=8, j=16, k=32} reduction={k}
 *
 * A factor is a part of one or more dimensions; adjacent letters ("jk") are the factors of one dimension, major first,
 * and * is none. A letter says the number of its factor: i to z, then z_1, z_2, ... Factors of the kind reduction,
 * need_replication and permutation are listed, all others pass through; through blocked ones no sharding is propagated.
 * How rules follow from ops is in factors.h.
 */
#ifndef PROPAGATE_FACTOR_RULE_H_
#define PROPAGATE_FACTOR_RULE_H_

#include "shardwright/graph.h"

enum { SW_MOST_FACTORS = 64, SW_MOST_TENSORS = 40, SW_MOST_OF_DIM = 8, SW_FACTOR_OPEN = -1 };

typedef enum sw_factor_kind {
  SW_FACTOR_PASS,
  SW_FACTOR_REDUCTION,
  SW_FACTOR_REPLICATE,
  SW_FACTOR_PERMUTATION,
} sw_factor_kind;

/* The factors of a dimension, major first. */
typedef struct sw_factor_dim {
  uint8_t n, at[SW_MOST_OF_DIM];
} sw_factor_dim;

typedef struct sw_factor_rule {
  int n, n_operands, n_results;  /* n factors */
  uint8_t rank[SW_MOST_TENSORS]; /* of operands, then results */
  int64_t size[SW_MOST_FACTORS]; /* SW_FACTOR_OPEN: not said */
  sw_factor_kind kind[SW_MOST_FACTORS];
  bool blocked[SW_MOST_FACTORS];
  bool resized[SW_MOST_FACTORS]; /* along it a tensor has other sizes than another: conservatively, nothing is
                                    propagated */
  bool custom;                   /* of a person, not of the op */
  sw_factor_dim *dim;            /* of dimension k of tensor i: dim[i * SW_MAX_RANK + k] */
} sw_factor_rule;

/* Which words name factors: Shardy's alone, with all their sizes in order; or any letter, perhaps with _number, whose
 * factors are numbered as they are met, and whose sizes may be left out. */
typedef enum sw_factor_words { SW_FACTOR_LETTERS_OF_SHARDY, SW_FACTOR_ANY_LETTERS } sw_factor_words;

/* Reads [s, end): a rule alone, without what stands around it in MLIR. Where that fails, *at is the place. */
SW_API SW_CHECKED sw_rc sw_factor_rule_read(const char *s, const char *end, sw_factor_words words, sw_arena *arena,
                                            sw_factor_rule **out, const char **at, sw_diag *d);
/* The same rule in an arena. */
SW_API SW_CHECKED sw_rc sw_factor_rule_keep(const sw_factor_rule *r, sw_arena *arena, sw_factor_rule **out, sw_diag *d);
/* The letters of a factor; the whole rule. */
SW_API void sw_factor_put(int factor, sw_text *out);
SW_API void sw_factor_rule_put(const sw_factor_rule *r, sw_text *out);

/* The rule of an op; false (and nothing) when it has none: constants and other sources, control flow, unknown ops that
 * are given without one, reshapes without elements. Operands that StableHLO has and our op says by its kind (the
 * initial value of a reduce) appear as scalars. */
SW_API bool sw_factor_rule_print(const sw_graph *g, const sw_op *op, sw_text *out);
/* A line per op of main that has a rule: %h = dot_general : ([i, k], ... */
SW_API void sw_factor_rules_print(const sw_graph *g, sw_text *out);

#endif
