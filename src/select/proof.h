/* Inside the solver: what is written down on the way, so that others can check a bound without us.
 *
 * Every change that a rule makes to a model leaves a line of text in the words of the problem: nodes, choices and times
 * as the problem numbers them. docs/selection.md gives the form; src/select/check reads it. Without a log nothing is
 * written.
 */
#ifndef SELECT_PROOF_H_
#define SELECT_PROOF_H_

#include "select/presolve/presolve_model.h"
#include "base/array.h"
#include "shardwright/text.h"

/* One node of branch and bound. */
typedef struct sel_proof_node {
  sw_text text;  /* its reductions, prices and messages, or what closed it */
  sw_text split; /* the choices its first child keeps */
  int64_t bound; /* of the whole problem, by the text alone; INT64_MIN: none */
  int64_t kid[2];
} sel_proof_node;

/* Reductions of the whole problem, and what follows from them without branching. */
typedef struct sel_proof_part {
  sw_text text;  /* reductions */
  sw_text end;   /* elimination, or prices and messages */
  int64_t bound; /* by both */
} sel_proof_part;

/* The parts from which a certificate is put together at the end. */
typedef struct sel_proof {
  sel_proof_part bare; /* without memory */
  sel_proof_part root;
  SW_ARRAY(sel_proof_node) nodes; /* by number of birth */
} sel_proof;

void sel_proof_deinit(sel_proof *p);
/* The whole certificate of `bound`; left empty when the parts do not prove it. */
void sel_proof_print(const sel_proof *p, int64_t bound, sw_text *out);
/* Room for node `id`; NULL when memory is out (the certificate then stays empty). */
sel_proof_node *sel_proof_node_at(sel_proof *p, int64_t id);

/* Names in the problem. */
int32_t sel_name_var(const sel_model *m, int32_t v);
int32_t sel_name_value(const sel_model *m, int32_t v, int32_t s); /* s: value now */
int64_t sel_name_time(const sel_model *m, int32_t step);

/* For rules; each does nothing without a log. Call before the model changes. */
void sel_log_lower(const sel_model *m, int32_t i, int32_t j);
void sel_log_merge(const sel_model *m, int32_t gone, int32_t into);
void sel_log_fold(const sel_model *m, int32_t v);
void sel_log_drop(const sel_model *m, int32_t v, int32_t s, const char *why, int64_t by);
void sel_log_forbidden(const sel_model *m, int32_t v, const bool *keep); /* those whose cost is forbidden */
void sel_log_overfull(const sel_model *m, int32_t step);

#endif
