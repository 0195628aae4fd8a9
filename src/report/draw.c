/* Pictures of shardings (draw.h). Lines of text are counted before they are made, so that the arrow of an axis knows
 * where its last line is: an axis' arrow runs over one round of its coordinate.
 */
#include "report/draw.h"

#include <string.h>

#include "base/checked.h"
#include "shardwright/tiling.h"

typedef struct drawing {
  const sw_mesh *m;
  int rank;
  const int64_t *dims;
  int64_t block[SW_MAX_RANK];
  sw_tiling tiling;
  bool commas; /* some index has two digits */
  int64_t columns, rows;
  size_t width; /* of a box */
  sw_text *out;
} drawing;

/* The indices that row `row` of a device's box starts with, all but the last; false when it is padding. */
static bool row_start(const drawing *w, int64_t device, int64_t row, int64_t *index) {
  for (int d = w->rank - 2; d >= 0; d--) {
    int64_t start, lo, hi, at = row % w->block[d];
    row /= w->block[d];
    sw_tiling_window(w->m, &w->tiling, d, device, &start, &lo, &hi);
    if (at < lo || at >= hi) return false;
    index[d] = start + at;
  }
  return true;
}

static void draw_element(const drawing *w, const int64_t *index, sw_text *out) {
  sw_text_puts(out, " ");
  for (int d = 0; d < w->rank; d++) {
    sw_text_printf(out, "%s%lld", d && w->commas ? "," : "", (long long)index[d] + 1);
  }
}

static void draw_cell(const drawing *w, int64_t device, int64_t row, sw_text *out) {
  int64_t index[SW_MAX_RANK], start, lo, hi;
  if (w->rank == 0) {
    sw_text_puts(out, " 1");
    return;
  }
  if (!row_start(w, device, row, index)) return;
  sw_tiling_window(w->m, &w->tiling, w->rank - 1, device, &start, &lo, &hi);
  for (int64_t k = lo; k < hi; k++) {
    index[w->rank - 1] = start + k;
    draw_element(w, index, out);
  }
}

static size_t cell_width(const drawing *w) {
  size_t width = 0;
  for (int64_t device = 0; device < sw_mesh_devices(w->m); device++) {
    for (int64_t row = 0; row < w->rows; row++) {
      sw_text t = {0};
      draw_cell(w, device, row, &t);
      width = t.n > width ? t.n : width;
      sw_text_free(&t);
    }
  }
  return width + 1;
}

static void draw_rule(const drawing *w) {
  for (int64_t c = 0; c < w->columns; c++) {
    sw_text_puts(w->out, "+");
    for (size_t i = 0; i < w->width; i++) sw_text_puts(w->out, "-");
  }
  sw_text_puts(w->out, "+");
}

/* The arrows at the right of line `line`: every axis but the last, innermost first. A block, which is one round of the
 * last axis but one, has `lines` of them. */
static void draw_arrows(const drawing *w, int64_t line, int64_t lines) {
  int64_t period = lines;
  for (int a = w->m->n_axes - 2; a >= 0; a--) {
    int64_t at = line % period;
    size_t start = w->out->n;
    const char *name = w->m->axis[a].name;
    sw_text_puts(w->out, " ");
    if (at == 0) sw_text_printf(w->out, "grid axis %s", name);
    sw_text_pad(w->out, start, strlen(name) + 11);
    sw_text_puts(w->out, at == 0 ? " |" : at == period - 1 ? " v" : " |");
    if (a > 0) period *= w->m->axis[a - 1].size;
  }
  sw_text_puts(w->out, "\n");
}

/* Boxes of one round of the last axis but one. */
static void draw_block(const drawing *w, int64_t block, int64_t lines_of_devices) {
  const int64_t lines = lines_of_devices * (w->rows + 1) + 1;
  for (int64_t k = 0; k < lines; k++) {
    int64_t of_device = k / (w->rows + 1), row = k % (w->rows + 1) - 1;
    if (row < 0) draw_rule(w);
    for (int64_t c = 0; row >= 0 && c < w->columns; c++) {
      sw_text_puts(w->out, "|");
      size_t start = w->out->n;
      draw_cell(w, (block * lines_of_devices + of_device) * w->columns + c, row, w->out);
      sw_text_pad(w->out, start, w->width);
    }
    if (row >= 0) sw_text_puts(w->out, "|");
    draw_arrows(w, block * lines + k, lines);
  }
}

sw_rc sw_draw_sharding(const sw_mesh *m, const sw_sharding *s, const int64_t *dims, sw_text *out, sw_diag *d) {
  int64_t elements = 1, devices = sw_mesh_devices(m);
  drawing w = {.m = m, .rank = s->rank, .dims = dims, .rows = 1, .columns = 1, .out = out};
  for (int i = 0; i < s->rank; i++) {
    elements = sw_max_i64(elements, 1) * sw_min_i64(dims[i], 5000);
    w.commas = w.commas || dims[i] > 9;
    if (elements > 4096) break;
  }
  if (elements > 4096 || devices > 64 || !sw_sharding_local_dims(s, dims, w.block)) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "a drawing has room for 4096 elements on 64 devices");
  }
  sw_tiling_of(s, s->rank, dims, &w.tiling);
  for (int i = 0; i + 1 < s->rank; i++) w.rows *= w.block[i];
  if (m->n_axes) w.columns = m->axis[m->n_axes - 1].size;
  int64_t lines_of_devices = m->n_axes > 1 ? m->axis[m->n_axes - 2].size : 1;
  w.width = cell_width(&w);
  sw_text_puts(out, "sharding = ");
  sw_sharding_print(m, s, out);
  sw_text_puts(out, "\n");
  if (m->n_axes) sw_text_printf(out, "grid axis %s\n----------->\n", m->axis[m->n_axes - 1].name);
  for (int64_t b = 0; b < devices / w.columns / lines_of_devices; b++) draw_block(&w, b, lines_of_devices);
  return out->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : SW_OK;
}
