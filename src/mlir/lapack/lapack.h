/* Custom calls whose names are LAPACK's. */
#ifndef MLIR_LAPACK_H_
#define MLIR_LAPACK_H_

#include "mlir/import/import.h"

/* A number (letters are their codes, true is 1) among the call's settings; which triangle counts. */
int64_t sw_im_call_number(sw_importer *m, uint32_t op, const char *key, int64_t absent);
bool sw_im_call_lower(sw_importer *m, uint32_t op);
/* Whose call it is, as `target` of the ops says it. */
const char *sw_im_call_library(sw_importer *m, uint32_t op);

/* Calls of one kind; `how`: what tells those of a kind apart. *done = false: it is not of the form that is known. */
SW_CHECKED sw_rc sw_im_eig(sw_importer *m, uint32_t op, const char *how, bool *done);
SW_CHECKED sw_rc sw_im_eigh(sw_importer *m, uint32_t op, const char *how, bool *done);
SW_CHECKED sw_rc sw_im_schur(sw_importer *m, uint32_t op, const char *how, bool *done);
SW_CHECKED sw_rc sw_im_svd(sw_importer *m, uint32_t op, const char *how, bool *done);
SW_CHECKED sw_rc sw_im_pivots_to_permutation(sw_importer *m, uint32_t op, const char *how, bool *done);
SW_CHECKED sw_rc sw_im_lu_with_permutation(sw_importer *m, uint32_t op, const char *how, bool *done);

#endif
