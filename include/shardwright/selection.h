/* From a graph to a selection problem, and from its solution back to strategies (docs/selection.md).
 *
 * Nodes: one per argument of the function (its choices are shardings), one per op (its strategies), one per output (its
 * sharding on delivery). Copies: what it takes to reshard a value from what its maker gives to what its readers want, a
 * copy that several want being made once. Edges: ports that must have one sharding. Equal ops share strategies, tables
 * of one shape class share prices: a repeated layer costs its memory once.
 *
 * Unit of cost: 1/16 ps on a machine whose memory moves 2.2 to 4.4 TB/s, twice as much where it moves half as much, and
 * so on: a machine that is slower throughout has the same problem. Every communication step adds one unit, every
 * device-resident argument up to three (by the share of its bytes that a device holds), every unmet hint one (of
 * several priorities: more for the earlier ones): ties fall to fewer collectives, fewer bytes held, and hints.
 */
#ifndef SHARDWRIGHT_SELECTION_H_
#define SHARDWRIGHT_SELECTION_H_

#include "shardwright/reshard.h"
#include "shardwright/select.h"
#include "shardwright/strategy.h"
#include "shardwright/unit.h"

SW_API double sw_cost_units_per_s(const sw_machine *machine);
/* Saturates at SW_FORBIDDEN; infinity is forbidden. */
SW_API int64_t sw_cost_units(const sw_machine *machine, double seconds);
static inline double sw_cost_seconds(const sw_machine *machine, int64_t units) {
  return (double)units / sw_cost_units_per_s(machine);
}

/* Strategies of an op, or shardings of an argument or output, besides those that are enumerated. */
typedef struct sw_further {
  int32_t n;
  const sw_strategy *strategies;
  const sw_sharding *shardings;
} sw_further;

typedef struct sw_selection_options {
  sw_enumerate_options enumerate;
  sw_even even;           /* what must be cut into equal blocks */
  bool args_whole;        /* inputs arrive whole on every device: they count whole in memory */
  int64_t capacity_bytes; /* per device; INT64_MAX: no limit */
  /* Contractions and convolutions are cut over as much of the mesh as they can be: no device repeats another's heavy
   * work. For cost models without compute time, where repeating is free. */
  bool cut_heavy_ops;
  sw_route_prices *routes;   /* found before, and added to; NULL: none; borrowed */
  const sw_further *further; /* NULL, or by node; of nodes that are alike the first one's count; borrowed */
  double deadline_s;         /* of sw_now_s, for the build; 0: none */
  sw_cancel *cancel;         /* NULL allowed */
} sw_selection_options;

typedef struct sw_selection sw_selection;

/* Pins (required annotations) restrict choices; SW_E_INFEASIBLE names the pin that nothing meets. SW_E_CANCELLED: time
 * was up, or it was cancelled, before the problem stood. *least, in either case: what any plan costs at least, ops
 * being at their cheapest, by their work alone where that was not known by then, and routes free. */
SW_API SW_CHECKED sw_rc sw_selection_build(const sw_job *j, const sw_selection_options *o, sw_arena *arena,
                                           sw_selection **out, int64_t *least, sw_diag *d);
SW_API void sw_selection_deinit(sw_selection *s); /* NULL allowed; what the arena does not hold */
/* Its owner is the selection: costs rise where they are settled, nodes' costs change with pins, each time under another
 * version. Costs of copies are at first no more than what they cost; those that a choice needs are made exact by
 * sw_selection_settle. */
SW_API const sw_problem *sw_selection_problem(const sw_selection *s);
/* Search for the routes that a choice of the problem's nodes takes, as far as their prices are not exact yet; until the
 * deadline (of sw_now_s, 0: none) for those that it would take with one node chosen otherwise, too. Costs of the
 * problem rise with that, of this choice or of another one that takes such a route. */
SW_API SW_CHECKED sw_rc sw_selection_settle(sw_selection *s, const int32_t *choice, double deadline_s, sw_diag *d);
/* A copy by what it is of: the value, and what it is resharded to. */
typedef struct sw_shared_copy {
  sw_id value;
  sw_sharding sharding;
} sw_shared_copy;
/* Layouts of the problem's copies by value and sharding, and back, as far as there are such; in the arena. */
SW_API SW_CHECKED sw_rc sw_selection_name_copies(const sw_selection *s, int32_t n, const sw_copy_of *of,
                                                 sw_arena *arena, const sw_shared_copy **out, sw_diag *d);
SW_API SW_CHECKED sw_rc sw_selection_find_copies(const sw_selection *s, int32_t n, const sw_shared_copy *copies,
                                                 sw_arena *arena, int32_t *n_found, const sw_copy_of **out, sw_diag *d);
/* A sharding that someone requires of a port of an op (operands, then results) whose strategy gives or wants another
 * one there: the value is resharded in between. */
typedef struct sw_stated {
  sw_id op;
  int32_t port;
  sw_sharding sharding;
} sw_stated;
/* Those that requirements of the model lead to with a choice, in order of ops and ports; in the arena. */
SW_API SW_CHECKED sw_rc sw_selection_stated(const sw_selection *s, const int32_t *choice, sw_arena *arena, int32_t *n,
                                            sw_stated **out, sw_diag *d);
/* That of a port among n in order; NULL: the strategy has the word. */
SW_API const sw_sharding *sw_stated_at(const sw_stated *stated, int32_t n, sw_id op, int32_t port);
/* A sharding that a value is to be made in: what its op gives, or how an argument arrives; or that one use of it is to
 * take. */
typedef struct sw_pin {
  sw_id value;
  sw_sharding sharding;
  uint32_t open_dims; /* these may be cut further */
  bool behind;        /* of a result: what its readers see, a sum perhaps completed behind the op, as of annotations */
  bool of_use;
  sw_value_use use; /* where `of_use` */
} sw_pin;
/* It as what is required at a place; the pin is borrowed. */
SW_API sw_annotation sw_pin_required(const sw_pin *p, sw_span at);
/* Would one of the pins be met by a choice that the problem has, whose result would be brought to it behind the op? */
SW_API bool sw_selection_brings(const sw_selection *s, int32_t n, const sw_pin *pins);
/* Pins on a problem that stands, instead of those set by the call before (n = 0: none): choices that they do not admit
 * are forbidden by their cost, and all else stays as it is. SW_E_INFEASIBLE names the pin that no choice of the problem
 * meets; then no pin is set. */
SW_API SW_CHECKED sw_rc sw_selection_pin(sw_selection *s, int32_t n, const sw_pin *pins, sw_diag *d);
/* Strategies that were left out although one of them may belong to the best plan. */
SW_API int64_t sw_selection_pruned_inexact(const sw_selection *s);
/* Strategies that the problem lacks and that go best with what is chosen around them, `most` of each kind of op, by
 * what routes cost at least; for the problem to be built once more. In the arena, by node. */
SW_API SW_CHECKED sw_rc sw_selection_further(const sw_selection *s, const int32_t *choice, int32_t most,
                                             sw_arena *arena, const sw_further **out, sw_diag *d);
/* How many classes of ops that share their strategies there are. */
SW_API int32_t sw_selection_classes(const sw_selection *s);

/* What of a plan choices say; borrowed. */
typedef struct sw_selected {
  const sw_strategy *ops;
  const sw_sharding *args, *outputs;
  int32_t n_stated;
  const sw_stated *stated;
} sw_selected;
/* The choices of a plan made elsewhere, as far as the problem has them and pins admit them; elsewhere missing[i] is
 * set. */
SW_API void sw_selection_encode(const sw_selection *s, sw_selected from, int32_t *choice, bool *missing);
/* Read a solution, but for what is stated: ops[op id], args[argument], outputs[output] are filled. */
SW_API void sw_selection_decode(const sw_selection *s, const int32_t *choice, sw_strategy *ops, sw_sharding *args,
                                sw_sharding *outputs);
/* Of a choice of an argument's node: how it is held. */
SW_API const sw_sharding *sw_selection_sharding(const sw_selection *s, int32_t argument, int32_t choice);
/* A pin or hint read against a sharding: equal on closed dimensions, refined on open ones. */
SW_API bool sw_annotation_admits(const sw_annotation *a, const sw_sharding *s);
/* An op's own option read against a strategy. */
SW_API bool sw_annotation_admits_strategy(const sw_graph *g, const sw_annotation *a, const sw_strategy *s);
/* Does it say what no strategy of an op by itself does: offsets, halos? */
static inline bool sw_sharding_is_special(const sw_sharding *s) { return s->offsets || s->halos; }

#endif
