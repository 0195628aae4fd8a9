#include "bench/bench_row.h"

sw_rc sw_bench_emit(sw_bench_line line, sw_text *row, sw_diag *d) {
  sw_rc rc = row->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : line(sw_text_str(row), d);
  sw_text_free(row);
  return rc;
}

void sw_bench_cell_seconds(sw_text *row, double seconds) {
  size_t start = row->n;
  sw_text_seconds(row, seconds);
  sw_text_pad(row, start, 11);
}
