/* What the readers of a value want of it, and what its copies cost: the table of the selection problem (sw_copy_table)
 * of a border. Values whose makers and readers are of the same kinds share one.
 *
 * The layouts are the shardings that a reader can want, by number in the shape class, then those in which a value must
 * arrive as it is made: free where it is made so, else forbidden. */
#ifndef STRATEGY_BORDER_TABLE_H_
#define STRATEGY_BORDER_TABLE_H_

#include "shardwright/select.h"
#include "strategy/unit_options.h"

/* A unit that reads a value, and through which of its ports. */
typedef struct sw_border_reader {
  const sw_option_set *options;
  int32_t unit; /* of the value at hand; the rest is the same for all values of a table */
  int32_t n_ports;
  const int32_t *ports;
} sw_border_reader;

/* Who makes the value, and how often; who reads it. */
typedef struct sw_border_key {
  const sw_option_set *maker;
  int32_t port;
  const sw_job *job;
  sw_id value;     /* one of those that are alike */
  int64_t repeats; /* how often the value is made, and with it its copies */
  int32_t n_readers;
  const sw_border_reader *readers;
} sw_border_key;

typedef struct sw_border_table {
  sw_copy_table copies;
  int64_t *cost;   /* of copies */
  int64_t *breaks; /* likewise, of one run: what they cost beyond their routes (strategy.h); NULL: nothing */
  int64_t repeats;
  int32_t shape_class;
  int32_t *given;    /* by class of the maker's choices: its id in the shape class; -1: nothing is made */
  int32_t *sharding; /* by layout: likewise; ~id: the value must arrive so, uncopied */
} sw_border_table;

/* Costs are what prices say by now. */
sw_rc sw_border_table_make(const sw_border_key *key, sw_prices *prices, sw_arena *arena, sw_border_table *out,
                           sw_diag *d);
/* The same once more: where they are higher than they were, the table is of this version of the problem. */
sw_rc sw_border_table_reprice(sw_border_table *b, sw_prices *prices, int64_t version, sw_diag *d);
/* Make the price of a copy exact, by class of the maker's choices and layout; *raised is set when it was less. */
sw_rc sw_border_table_settle(const sw_border_table *b, int32_t from, int32_t layout, sw_prices *prices, bool *raised,
                             sw_diag *d);

#endif
