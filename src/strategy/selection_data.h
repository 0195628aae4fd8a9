/* A selection problem with what it was made from; shared by the files that make it. */
#ifndef STRATEGY_SELECTION_DATA_H_
#define STRATEGY_SELECTION_DATA_H_

#include "shardwright/selection.h"

#include "strategy/unit_pins.h"
#include "strategy/border_table.h"

/* A border: a value that is read by other units than the one that makes it. */
typedef struct sw_read_value {
  sw_id id;
  int32_t table;
} sw_read_value;

typedef SW_ARRAY(int32_t) sw_int32_array;

struct sw_selection {
  sw_job job;
  sw_selection_options o;
  sw_even_rule even;
  sw_arena *arena;
  sw_prices prices;
  sw_problem problem;
  sw_units units;                /* the first nodes, in their order */
  const sw_option_set **options; /* by unit */
  int64_t pruned_inexact;
  int32_t n_classes;
  SW_ARRAY(sw_border_table *) tables;
  SW_ARRAY(sw_read_value) values; /* of the problem's copies */
  int32_t *copies_at;             /* by value: its number among these, -1: it has none */
  SW_ARRAY(sw_copies) copies;
  int32_t n_stated;
  sw_stated *stated;
  sw_int32_array pinned;   /* nodes whose costs are their own (pinned.c) */
  SW_ARRAY(sw_node) nodes; /* units */
  SW_ARRAY(sw_edge) edges;
};

#endif
