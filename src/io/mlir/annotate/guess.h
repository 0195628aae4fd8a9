/* What uses of arguments say about them, for those of which the text says nothing. */
#ifndef IO_MLIR_ANNOTATE_GUESS_H_
#define IO_MLIR_ANNOTATE_GUESS_H_

#include "io/mlir/import/import.h"

/* What the first contraction of an argument says. */
typedef enum sw_im_evidence {
  SW_IM_UNUSED, /* there is none */
  SW_IM_DATA,
  SW_IM_BATCHED, /* what is computed is the other side, and dims are common to both and the result: caches, experts */
  SW_IM_WEIGHTS,
  SW_IM_SURELY_WEIGHTS /* the other side is an argument, too, and no dim is common to both and the result */
} sw_im_evidence;

/* Arguments that come back as outputs, `values` of them in order, though nothing says so: they become state, by
 * values[].kind and roles->alias. `evidence` is by value. */
SW_CHECKED sw_rc sw_im_guess_state(sw_importer *m, const sw_im_evidence *evidence, const sw_id *values, uint32_t n);

/* Arguments that are data by `evidence`, or have a dim that runs over examples: has_examples[v], by value. To be called
 * when states are found. */
SW_CHECKED sw_rc sw_im_find_examples(sw_importer *m, const sw_im_evidence *evidence, bool *has_examples);

#endif
