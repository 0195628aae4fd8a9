#include "select/copies/copy_pattern.h"

#include <string.h>

#include "base/checked.h"
#include "base/lists.h"

/* Of a copy node: more layouts would only make the tables larger. */
enum { MOST_ROWS = 512, MOST_COPIES = 30 };

/* --- who wants what ---------------------------------------------------------------------------------------------- */

bool sel_class_wants(const sw_wants *w, int32_t c, int32_t layout) {
  return sw_list_has_i32(w->layout + w->first[c], w->first[c + 1] - w->first[c], layout);
}

static bool choice_wants(const sel_pattern *p, int32_t i, const int32_t *y, int32_t layout) {
  const sw_wants *w = &p->t->wants[i];
  return sel_class_wants(w, w->class_of[y[i]], layout);
}

bool sel_wants(const sw_wants *w, int32_t layout) { return sw_list_has_i32(w->layout, w->first[w->n_classes], layout); }

/* One more for each layout that reader i can want. `last` [n_layouts] has i + 1 where that is done already. */
static void count_wants_of(sel_pattern *p, int32_t i, int32_t *last) {
  const sw_wants *w = &p->t->wants[i];
  int32_t most = 0;
  for (int32_t c = 0; c < w->n_classes; c++) {
    most = w->first[c + 1] - w->first[c] > most ? w->first[c + 1] - w->first[c] : most;
    for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
      const int32_t layout = w->layout[k];
      if (last[layout] == i + 1) continue;
      last[layout] = i + 1;
      if (p->wanting[layout]++ == 0) p->wanting_first[layout] = i;
    }
  }
  p->most_wanted += most;
}

sw_rc sel_pattern_init(sel_pattern *p, const sw_copy_table *t, int64_t *version, sw_arena *arena, sw_diag *d) {
  int32_t *last;
  *p = (sel_pattern){.t = t, .version = version, .priced = t->version};
  sel_pattern_change(p);
  SW_ARENA_NEW_EACH(arena, t->n_layouts, d, p->wanting, p->wanting_first, p->shared_at, p->shared, last);
  for (int32_t k = 0; k < t->n_layouts; k++) p->shared_at[k] = -1;
  for (int32_t i = 0; i < t->n_readers; i++) count_wants_of(p, i, last);
  return sw_array_push(&p->nodes, (sel_copy_node){0}, d);
}

void sel_pattern_deinit(sel_pattern *p) { sw_array_free(&p->nodes); }

/* --- what is paid ------------------------------------------------------------------------------------------------ */

/* Reader i's share of a cost; of equal shares the first has the remainder of the division. */
static int64_t reader_share_of(const sel_pattern *p, int32_t i, int32_t from, int32_t layout) {
  const int64_t cost = sel_copy_cost(p->t, from, layout);
  if (cost >= SW_FORBIDDEN) return SW_FORBIDDEN;
  if (p->share) return p->share[i][(int64_t)from * p->t->n_layouts + layout];
  const int64_t m = p->wanting[layout];
  return cost / m + (p->wanting_first[layout] == i ? cost % m : 0);
}

/* What reader i pays beside a row of the node when it wants the layout. */
static int64_t price_of(const sel_pattern *p, const sel_copy_node *h, const sel_copy_row *row, int32_t i,
                        int32_t layout) {
  const int32_t copy = p->shared_at[layout];
  const bool other = copy < 0 ? h->first > 0 : copy < h->first || copy >= h->first + h->n;
  if (other || (copy >= 0 && row->made >> (copy - h->first) & 1)) return 0;
  return copy < 0 && !p->whole ? reader_share_of(p, i, row->from, layout) : sel_copy_cost(p->t, row->from, layout);
}

static void fill_table(const sel_pattern *p, const sel_copy_node *h, int32_t i, int64_t *of_class, int64_t *table,
                       bool *any) {
  const sw_wants *w = &p->t->wants[i];
  for (int32_t x = 0; x < h->n_rows; x++, table += w->n_choices) {
    for (int32_t c = 0; c < w->n_classes; c++) {
      of_class[c] = 0;
      for (int32_t k = w->first[c]; k < w->first[c + 1]; k++)
        of_class[c] = sw_cost_add(of_class[c], price_of(p, h, &h->rows[x], i, w->layout[k]));
      *any = *any || of_class[c];
    }
    for (int32_t y = 0; y < w->n_choices; y++) table[y] = of_class[w->class_of[y]];
  }
}

/* --- copy nodes -------------------------------------------------------------------------------------------------- */

/* Can two readers take each of the layouts in `made`? Where a reader wants one layout at a time, so many readers can.
 */
static bool is_set_worth_making(const sel_pattern *p, const sel_copy_node *h, uint32_t made) {
  const int32_t need = 2 * __builtin_popcount(made);
  int32_t takers = 0;
  for (int32_t i = 0; i < p->t->n_readers && p->t->n_readers < need; i++) {
    const sw_wants *w = &p->t->wants[i];
    int32_t most = 0;
    for (int32_t c = 0; c < w->n_classes; c++) {
      int32_t n = 0;
      for (int32_t k = 0; k < h->n; k++) n += (made >> k & 1) && sel_class_wants(w, c, p->shared[h->first + k]);
      most = n > most ? n : most;
    }
    takers += most;
  }
  return p->t->n_readers >= need || takers >= need;
}

/* The sum of what the copies in `made` cost; no row when one of them is free or cannot be made. */
static int64_t cost_of_row(const sel_pattern *p, const sel_copy_node *h, const sel_copy_row *row, bool *is_row) {
  int64_t sum = 0;
  *is_row = is_set_worth_making(p, h, row->made);
  for (int32_t k = 0; k < h->n; k++) {
    if (!(row->made >> k & 1)) continue;
    const int64_t cost = sel_copy_cost(p->t, row->from, p->shared[h->first + k]);
    *is_row = *is_row && cost > 0 && cost < SW_FORBIDDEN;
    sum = sw_cost_add(sum, cost);
  }
  return sum;
}

/* Of n layouts, the sets that can be needed: each copy in them has two takers. */
static int64_t count_sets(const sel_pattern *p, int32_t n) {
  int64_t sum = 1, of_k = 1;
  for (int32_t k = 1; k <= n && 2 * k <= p->most_wanted; k++) {
    of_k = of_k * (n - k + 1) / k;
    sum += of_k;
  }
  return sum;
}

/* Those sets, smaller ones first. */
static sw_rc list_copy_sets(const sel_pattern *p, const sel_copy_node *h, sw_arena *arena, int32_t *n, uint32_t **sets,
                            sw_diag *d) {
  SW_ARENA_NEW(*sets, arena, count_sets(p, h->n), d);
  *n = 1;
  for (int32_t i = 0; i < *n; i++) {
    uint32_t set = (*sets)[i];
    if (2 * (__builtin_popcount(set) + 1) > p->most_wanted) break;
    for (int32_t k = 0; k < h->n; k++)
      if (set >> k == 0) (*sets)[(*n)++] = set | UINT32_C(1) << k;
  }
  return SW_OK;
}

/* Rows of a copy node: each class of the maker's choices with each set of copies that can be worth their cost. */
static sw_rc list_pattern_rows(const sel_pattern *p, sel_copy_node *h, sw_arena *arena, sw_diag *d) {
  const sw_copy_table *t = p->t;
  int32_t n_sets;
  uint32_t *sets;
  int64_t *link;
  SW_TRY(list_copy_sets(p, h, arena, &n_sets, &sets, d));
  SW_ARENA_NEW_EACH(arena, (size_t)t->n_classes * (size_t)n_sets, d, h->rows, h->row_cost);
  h->n_rows = 0;
  for (int32_t from = 0; from < t->n_classes; from++) {
    for (int32_t i = 0; i < n_sets; i++) {
      bool is_row;
      const sel_copy_row row = {from, sets[i]};
      h->row_cost[h->n_rows] = cost_of_row(p, h, &row, &is_row);
      if (is_row) h->rows[h->n_rows++] = row;
    }
  }
  SW_ARENA_NEW(link, arena, (size_t)t->n_choices * (size_t)h->n_rows, d);
  h->link = link;
  for (int32_t x = 0; x < t->n_choices; x++)
    for (int32_t r = 0; r < h->n_rows; r++) *link++ = t->class_of[x] == h->rows[r].from ? 0 : SW_FORBIDDEN;
  return SW_OK;
}

/* Without shared layouts the rows are the maker's choices. */
static sw_rc list_choices(const sel_pattern *p, sel_copy_node *h, sw_arena *arena, sw_diag *d) {
  h->n_rows = p->t->n_choices;
  SW_ARENA_NEW(h->rows, arena, h->n_rows, d);
  for (int32_t x = 0; x < h->n_rows; x++) h->rows[x].from = p->t->class_of[x];
  return SW_OK;
}

static sw_rc fill_node(const sel_pattern *p, sel_copy_node *h, sw_arena *arena, sw_diag *d) {
  SW_ARENA_NEW(h->tables, arena, p->t->n_readers, d);
  SW_TRY(h->n ? list_pattern_rows(p, h, arena, d) : list_choices(p, h, arena, d));
  for (int32_t i = 0; i < p->t->n_readers; i++) {
    int64_t *table, *of_class;
    bool any = false;
    SW_ARENA_NEW(table, arena, (size_t)h->n_rows * (size_t)p->t->wants[i].n_choices, d);
    SW_ARENA_NEW(of_class, arena, p->t->wants[i].n_classes, d);
    fill_table(p, h, i, of_class, table, &any);
    h->tables[i] = any ? table : NULL;
  }
  return SW_OK;
}

sw_rc sel_pattern_tables(sel_pattern *p, sw_arena *arena, sw_diag *d) {
  for (size_t k = 0; k < p->nodes.n && p->made != p->changed; k++) SW_TRY(fill_node(p, &p->nodes.at[k], arena, d));
  p->made = p->changed;
  return SW_OK;
}

/* Shares of one copy, of which no other sum than its cost is known, made to add up to what it costs now. */
static void raise_shares(sel_pattern *p, int64_t cell, int64_t cost) {
  int64_t before = 0, left = cost;
  int32_t first = -1;
  for (int32_t i = 0; i < p->t->n_readers; i++) {
    if (!sel_wants(&p->t->wants[i], (int32_t)(cell % p->t->n_layouts))) continue;
    before = sw_cost_add(before, p->share[i][cell]);
    if (first < 0) first = i;
  }
  if (first < 0 || before == cost || cost >= SW_FORBIDDEN) return;
  for (int32_t i = first; i < p->t->n_readers; i++) {
    int64_t *share = &p->share[i][cell];
    if (!sel_wants(&p->t->wants[i], (int32_t)(cell % p->t->n_layouts))) continue;
    *share = before ? (int64_t)((sw_i128)*share * cost / before) : 0;
    left -= *share;
  }
  p->share[first][cell] += left; /* what division leaves */
}

void sel_pattern_reprice(sel_pattern *p) {
  if (!sw_overtaken(&p->priced, p->t->version)) return;
  sel_pattern_change(p);
  for (int64_t k = 0; p->share && k < (int64_t)p->t->n_classes * p->t->n_layouts; k++)
    raise_shares(p, k, p->t->cost[k]);
}

sw_rc sel_pattern_share(sel_pattern *p, int32_t layout, sw_diag *d) {
  if (p->shared_at[layout] >= 0) return SW_OK;
  sel_copy_node *h = &p->nodes.at[p->nodes.n - 1];
  if (h->n && (h->n == MOST_COPIES || p->t->n_classes * count_sets(p, h->n + 1) > MOST_ROWS)) {
    SW_TRY(sw_array_push(&p->nodes, ((sel_copy_node){.first = p->n_shared}), d));
    h = &p->nodes.at[p->nodes.n - 1];
  }
  h->n++;
  p->shared_at[layout] = p->n_shared;
  p->shared[p->n_shared++] = layout;
  sel_pattern_change(p);
  return SW_OK;
}

void sel_pattern_unshare(sel_pattern *p) {
  for (int32_t k = 0; k < p->n_shared; k++) p->shared_at[p->shared[k]] = -1;
  p->n_shared = 0;
  p->nodes.at[0] = (sel_copy_node){0};
  p->nodes.n = 1;
  sel_pattern_change(p);
}

/* --- the truth --------------------------------------------------------------------------------------------------- */

static int32_t count_readers_wanting(const sel_pattern *p, const int32_t *y, int32_t layout) {
  int32_t n = 0;
  for (int32_t i = 0; i < p->t->n_readers; i++) n += choice_wants(p, i, y, layout);
  return n;
}

static int64_t sum_reader_shares(const sel_pattern *p, int32_t from, const int32_t *y, int32_t layout) {
  int64_t sum = 0;
  for (int32_t i = 0; i < p->t->n_readers; i++)
    if (choice_wants(p, i, y, layout)) sum = sw_cost_add(sum, reader_share_of(p, i, from, layout));
  return sum;
}

/* Has an earlier reader the same want? */
static bool is_new_want(const sel_pattern *p, const int32_t *y, int32_t i, int32_t layout) {
  for (int32_t j = 0; j < i; j++)
    if (choice_wants(p, j, y, layout)) return false;
  return true;
}

sw_rc sel_pattern_refine(sel_pattern *p, int32_t x, const int32_t *y, sw_diag *d) {
  const int32_t from = p->t->class_of[x];
  for (int32_t i = 0; i < p->t->n_readers; i++) {
    const sw_wants *w = &p->t->wants[i];
    const int32_t c = w->class_of[y[i]];
    for (int32_t k = w->first[c]; k < w->first[c + 1]; k++) {
      const int32_t layout = w->layout[k];
      const int64_t cost = sel_copy_cost(p->t, from, layout);
      if (cost == 0 || p->shared_at[layout] >= 0 || !is_new_want(p, y, i, layout)) continue;
      if (sum_reader_shares(p, from, y, layout) < cost) SW_TRY(sel_pattern_share(p, layout, d));
    }
  }
  return SW_OK;
}

int32_t sel_pattern_row(const sel_pattern *p, const sel_copy_node *h, int32_t x, const int32_t *y) {
  int32_t best = 0, most = -1;
  for (int32_t r = 0; r < h->n_rows; r++) {
    int32_t used = 0;
    if (h->rows[r].from != p->t->class_of[x]) continue;
    for (int32_t k = 0; k < h->n; k++)
      if (h->rows[r].made >> k & 1) used += count_readers_wanting(p, y, p->shared[h->first + k]) > 1 ? 1 : -1;
    if (used > most) best = r, most = used;
  }
  return best;
}
