/* What a plan makes again for ops that read it late, or offloads, so as not to hold it up to there, and what it keeps
 * for them. */
#ifndef REPORT_MADE_AGAIN_H_
#define REPORT_MADE_AGAIN_H_

#include "io/json_write.h"
#include "shardwright/explain.h"

/* Of the value itself or of the copy of it. */
SW_CHECKED sw_rc sw_again_of(const sw_plan *p, const sw_breakdown *a, sw_id value, sw_arena *arena, sw_again *out,
                             sw_diag *d);
/* Is there something to say of it? */
static inline bool sw_again_is_any(const sw_again *x) { return x->copy >= 0 || x->offload >= 0; }
/* "made again by 'x.again' with 2 ops that only it needs, 18.6 us; kept, it would ..." */
void sw_again_print(const sw_plan *p, const sw_breakdown *a, const sw_again *x, sw_text *out);

/* Values of one kind over all layers, by the names that the program has for them. */
typedef struct sw_made_again_row {
  const char *name; /* base/folded_names.h */
  int32_t n;
  double seconds; /* of making them again, with resharding what only copies read; of bringing them to the host and back;
                     0 of what is kept */
  int64_t bytes;  /* made again: held at the peak of the plan without copies; kept, and offloaded: of all */
} sw_made_again_row;

typedef struct sw_made_again {
  int32_t n_ops, n_kept, n_offloaded;
  double seconds, host_s, host_exposed_s; /* the last, on a timeline: what nothing hides of the one before; else all */
  int64_t saved_bytes, kept_bytes, host_bytes; /* so much lower is the peak than that of sw_plan_without_copies */
  int32_t n_again, n_rows_kept, n_rows_offloaded;
  const sw_made_again_row *again;            /* the dearest first */
  const sw_made_again_row *kept, *offloaded; /* the largest first */
} sw_made_again;
/* In the arena; all 0 of a plan that makes nothing again, and keeps and offloads nothing for what runs late. */
SW_CHECKED sw_rc sw_made_again_find(const sw_plan *p, const sw_breakdown *a, sw_arena *arena, sw_made_again *out,
                                    sw_diag *d);

static inline bool sw_made_again_is_any(const sw_made_again *r) { return r->n_ops || r->n_kept || r->n_offloaded; }
/* One sentence: "3 ops (layers.{0..2}.relu) take 18.6 us, 8.8 % of the time, for 96 KiB less at the peak; ..." */
void sw_made_again_print(const sw_made_again *r, double total_s, sw_text *out);
/* As the member "made_again"; nothing where nothing is made again, kept or offloaded. */
void sw_made_again_json(const sw_made_again *r, double total_s, sw_json_out *o);

#endif
