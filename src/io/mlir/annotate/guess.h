/* What uses of arguments say about them, for those of which the text says nothing. */
#ifndef IO_MLIR_ANNOTATE_GUESS_H_
#define IO_MLIR_ANNOTATE_GUESS_H_

#include "io/mlir/import/import.h"

/* What the first use of an argument that tells says; a contraction tells more than a gather. */
typedef enum sw_im_evidence {
  SW_IM_UNUSED, /* nothing tells */
  SW_IM_GATHERED,
  SW_IM_DATA,
  SW_IM_WEIGHTS
} sw_im_evidence;

/* Arguments that come back as outputs, `values` of them in order, though nothing says so: they become state, by
 * values[].kind and roles->alias. `evidence` is by value. */
SW_CHECKED sw_rc sw_im_guess_state(sw_importer *m, const sw_im_evidence *evidence, const sw_id *values, uint32_t n);

#endif
