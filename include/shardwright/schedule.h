/* A schedule: what runs of a program, in order, and on what.
 *
 *   entry      op, instance      an op of the program: itself (instance 0), or made again for those that read it later
 *              slot              once, or once for each micro-batch
 *              stage             which machine it runs on
 *              source            no op of its own: where later entries take a value from. It is as it was made, kept up
 *                                to here, or that or the instance before, whichever a plan chooses. Or it is copied to
 *                                the host at one entry, and back at another: only between the two does the device not
 *                                hold it
 *
 * A reader takes a value from the last entry before its own that makes it: its source. The schedule is carried out as
 * one graph for each stage, which is planned, priced, partitioned and run like any other:
 *
 *   x = exp(a)  y = dot(x, b)  z = add(x, y)        x  y  x.again  z       z reads x.again: x is not held beside y
 *
 * Entries of all micro-batches stand together: they become a loop over parts of what they read, which carries sums (of
 * what a micro-batch gives a part of) and results (of which it gives a block). Where parts are not equal, the last one
 * is shorter and follows the loop. What one stage makes and another reads leaves the one as an output and enters the
 * other as an input of its name.
 *
 * An op that no entry has is taken as an earlier one of its code and attributes, and its operands: a copy that the
 * program has of its own does not run. Of one stage, without micro-batches. Of loops, all ops of a stack can be left
 * out (src/schedule/stacks.h): what is read of it is then made again in the later loop; or ops of the later loop, which
 * make what the earlier one has made: that is then read from a stack that is added.
 *
 * A program by itself is the schedule that runs each op once on one machine: its only stage is the program.
 */
#ifndef SHARDWRIGHT_SCHEDULE_H_
#define SHARDWRIGHT_SCHEDULE_H_

#include "shardwright/request.h"

typedef enum sw_slot { SW_SLOT_ONCE, SW_SLOT_EACH } sw_slot;

typedef enum sw_source_kind {
  SW_SOURCE_NONE,
  SW_SOURCE_KEPT,
  SW_SOURCE_EITHER,
  SW_SOURCE_OFFLOADED, /* to the host, for: */
  SW_SOURCE_FETCHED,   /* where optional, for the keep behind it to choose */
} sw_source_kind;

typedef struct sw_entry {
  sw_id op; /* of the program */
  int32_t instance;
  sw_slot slot;
  int32_t stage;
  sw_source_kind source;
  sw_id value;     /* of a source: of what; op: that which makes it, -1 of an argument */
  bool optional;   /* a plan may leave it out, where what reads it is left out, too */
  bool or_fetched; /* of a keep: or as the fetch before it brings it back, as a plan chooses */
} sw_entry;
/* Does it keep a value, if the plan chooses so? */
static inline bool sw_entry_is_keep(const sw_entry *e) {
  return e && (e->source == SW_SOURCE_KEPT || e->source == SW_SOURCE_EITHER);
}
/* Does it make an op again? */
static inline bool sw_entry_is_copy(const sw_entry *e) { return e && e->instance && !e->source; }
/* Is something left to the plan: whether it runs, or where its value comes from? */
static inline bool sw_entry_is_open(const sw_entry *e) {
  return e && (e->optional || e->or_fetched || e->source == SW_SOURCE_EITHER);
}

/* An argument that micro-batches take a part of each, along this dim. */
typedef struct sw_slot_cut {
  sw_id value;
  int32_t dim;
} sw_slot_cut;

/* What a lever decides; the rest of a schedule follows. */
typedef struct sw_schedule_spec {
  int32_t n_entries;
  const sw_entry *entries;
  int32_t n_stages;      /* >= 1 */
  int64_t micro_batches; /* >= 1 */
  int32_t n_cuts;
  const sw_slot_cut *cuts;
  bool folded; /* entries are of what sw_schedule_fold gives of the program */
} sw_schedule_spec;

typedef struct sw_stage {
  const sw_graph *graph; /* what runs there */
  const int32_t *entry;  /* by op of the graph: its entry; -1: it carries others (borders of the loop, slices, sums) */
  const sw_id *args;     /* by argument of the graph: the value of the program */
  const sw_id *outputs;  /* by output of the graph: likewise */
} sw_stage;

typedef struct sw_schedule {
  const sw_request *written; /* borrowed: what is asked of the program as it is written */
  sw_graph *folded;          /* without its own checkpoints; NULL: it is taken with them */
  const sw_graph *program;   /* of these two, that which entries are of, as: */
  const sw_request *asked;   /* what is asked of it */
  sw_schedule_spec spec;     /* its lists are in the arena */
  const sw_stage *stages;    /* by stage */
  sw_graph **owned;          /* graphs of stages that are not the program; NULL where one is */
} sw_schedule;

/* Behind the name of the op and of its results, of one made again; the third time "again2". */
#define SW_AGAIN_SUFFIX ".again"
/* Of a source: "keeps", "offloads" or "fetches" in files; behind the name of the value, ".kept" and so on. */
SW_API const char *sw_source_text(sw_source_kind s);
SW_API const char *sw_source_suffix(sw_source_kind s);

/* What is asked of the program by `written` is asked of the stages: of definitions where the op itself stands, of uses
 * where they stand. SW_E_INPUT names the op where entries miss one, have one twice, or have one before what it reads;
 * where a micro-batch would need more than its part; where a state comes back on another stage. */
SW_API SW_CHECKED sw_rc sw_schedule_make(const sw_request *written, const sw_schedule_spec *spec, sw_arena *arena,
                                         sw_schedule *out, sw_diag *d);
/* The list of entries of a schedule of another version of the program, as far as it fits this one: ops that it lacks
 * stand before what reads them first, copies and sources of what there is not are left out. One of several stages or of
 * micro-batches stays as it is. In the arena. */
SW_API SW_CHECKED sw_rc sw_schedule_fit(const sw_graph *g, sw_arena *arena, sw_schedule_spec *spec, sw_diag *d);
SW_API void sw_schedule_deinit(sw_schedule *s); /* frees the graphs of stages, and the folded program */

/* --- recomputation ------------------------------------------------------------------------------------------------
 *
 * Between what a program does first and what it does then (forward and backward) lies the step at which most bytes have
 * been read and will be. What crosses it comes from a source before its first reader behind it, and can be made again
 * there by a second instance of its op. The early part is cut into segments where little more than one value goes from
 * one to the next: that value is never made again, all others of a segment are in one go.
 */
typedef enum sw_recompute {
  SW_RECOMPUTE_AS_WRITTEN, /* the program as it is */
  SW_RECOMPUTE_SEARCH,     /* sources are choices, copies optional */
  SW_RECOMPUTE_FULL,       /* what goes from layer to layer is kept, all else of layers is made again */
  SW_RECOMPUTE_WHOLE,      /* likewise, and what nobody reads of it, as the last product of a layer */
  SW_RECOMPUTE_MEGATRON,   /* attention's core is: scores, softmax, dropout; of attention that is one op, that op */
  SW_RECOMPUTE_TORCHTITAN, /* of layers all but attention that is one op, collectives, and every other product with a
                              weight, the first of a layer kept */
  SW_RECOMPUTE_NONE,       /* nothing is, of the program's own checkpoints neither */
  SW_RECOMPUTE_COUNT
} sw_recompute;
/* "as-written", "search", "full", "full=megatron", "selective=megatron", "selective=torchtitan", "none". */
SW_API const char *sw_recompute_text(sw_recompute r);
/* SW_E_USAGE at `at`: it is none of these. */
SW_API SW_CHECKED sw_rc sw_recompute_parse(const char *text, sw_span at, sw_recompute *out, sw_diag *d);
/* The program without its own checkpoints: ops that do what earlier ones do, where a contraction is among them; what is
 * so in a later loop is read from stacks. *out: the caller's (sw_graph_destroy); NULL: it has none. */
SW_API SW_CHECKED sw_rc sw_schedule_fold(const sw_request *written, sw_graph **out, sw_diag *d);
/* The first loop of a later one whose stacks another one there reads, as a checkpoint around a loop leaves it where
 * that is not folded back: the op that opens it. -1: there is none. */
SW_API SW_CHECKED sw_rc sw_schedule_loop_again(const sw_graph *g, sw_id *out, sw_diag *d);
/* In the arena: the list of entries. But for the program as it is written its own checkpoints are folded back first; of
 * a program with loops, entries are then of the folded one. The plain schedule where nothing can be made
 * again. Of loops a search has stacks as choices. gathers_again: what is made of arguments on devices, as
 * weights are gathered, is not held for what runs late; a search has that as a choice, too. */
SW_API SW_CHECKED sw_rc sw_recompute_spec(const sw_graph *g, sw_recompute how, bool gathers_again, sw_arena *arena,
                                          sw_schedule_spec *out, sw_diag *d);
/* In the arena: the same list, of a search, where values may be offloaded that are kept otherwise, or made again by ops
 * that are dear (by op): behind their last reader before the source, and fetched right before it. */
SW_API SW_CHECKED sw_rc sw_schedule_offer_host(const sw_graph *g, const bool *dear, sw_arena *arena,
                                               sw_schedule_spec *spec, sw_diag *d);
/* The same without instances but those of the ops themselves, and without sources. In the arena. */
SW_API SW_CHECKED sw_rc sw_schedule_without_copies(const sw_schedule *s, sw_arena *arena, sw_schedule_spec *out,
                                                   sw_diag *d);
/* The schedule that is left of one with choices; takes: by op of its only stage, 0 it runs as it is, -1 it is left out,
 * k it takes operand k - 1 alone. In the arena. */
SW_API SW_CHECKED sw_rc sw_schedule_chosen(const sw_schedule *s, const int8_t *takes, sw_arena *arena,
                                           sw_schedule_spec *out, sw_diag *d);

#endif
