/* What regions that only compare and choose do, found by trying them on every case that there is: the comparator of a
 * sort, the region of an argmax, which element of a window is selected.
 *
 *   { c = compare GT, %a, %b; d = compare NE, %a, %a; e = or c, d; return select e, %a, %b }
 *
 * Values are only passed on and compared with each other, with 0 and with NaN, so that a few numbers of each kind and
 * sign meet all cases. A region that does anything else is not looked into.
 */
#ifndef MLIR_CASES_H_
#define MLIR_CASES_H_

#include "mlir/import/import.h"

/* The order by which a comparator (of pairs: left and right of each operand) says that left comes first. */
typedef struct sw_im_order {
  int n_keys;
  int64_t keys[SW_MAX_RESULTS]; /* operands, the first one counts most */
  bool descending, total;       /* all of them; -NaN, ..., -0, 0, ..., NaN (else NaN last and -0 = 0, or undefined) */
} sw_im_order;
/* *found = false: it is no such order. */
SW_CHECKED sw_rc sw_im_order_of(sw_importer *m, uint32_t region, uint32_t n_operands, sw_im_order *out, bool *found);

/* A reduction of (values, positions): 1 when the greater value stays, -1 when the smaller one does, NaN before all (or
 * undefined), the first one of equals; 0: something else. `paired`: arguments are (x, x', i, i'), else (x, i, x', i').
 */
SW_CHECKED sw_rc sw_im_keeps_extreme(sw_importer *m, uint32_t region, bool paired, int *out);

/* "ge", "gt", "le" or "lt": when the first of two values is selected; NULL: by something else. */
SW_CHECKED sw_rc sw_im_selects(sw_importer *m, uint32_t region, const char **out);

#endif
