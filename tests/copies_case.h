/* Random selection problems with copies, for tests. */
#ifndef TESTS_COPIES_CASE_H_
#define TESTS_COPIES_CASE_H_

#include "select_case.h"

/* Classes of n choices, none of them empty. */
static inline int32_t *random_classes(sw_rng *g, sw_arena *a, int32_t n, int32_t *n_classes) {
  int32_t *class_of = take(a, (size_t)n, sizeof *class_of);
  *n_classes = 1 + (int32_t)sw_rng_below(g, n);
  for (int32_t s = 0; s < n; s++) class_of[s] = s < *n_classes ? s : (int32_t)sw_rng_below(g, *n_classes);
  return class_of;
}

static inline sw_wants random_wants(sw_rng *g, sw_arena *a, int32_t n_choices, int32_t n_layouts) {
  sw_wants w = {.n_choices = n_choices};
  w.class_of = random_classes(g, a, n_choices, &w.n_classes);
  int32_t *first = take(a, (size_t)w.n_classes + 1, sizeof *first), n = 0;
  int32_t *layout = take(a, (size_t)w.n_classes * (size_t)n_layouts, sizeof *layout);
  const int of = 2 + (int)sw_rng_below(g, 3);
  for (int32_t c = 0; c < w.n_classes; c++) {
    for (int32_t k = 0; k < n_layouts; k++)
      if (sw_rng_below(g, of) == 0) layout[n++] = k;
    first[c + 1] = n;
  }
  w.first = first;
  w.layout = layout;
  return w;
}

/* A table for a maker and readers of as many choices as nodes have; some layouts are free or forbidden for some. */
static inline const sw_copy_table *random_copy_table(sw_rng *g, sw_arena *a, const sw_node *nodes, int32_t maker,
                                                     const int32_t *reader, int32_t n_readers, const shape *s) {
  sw_copy_table *t = take(a, 1, sizeof *t);
  sw_wants *wants = take(a, (size_t)n_readers, sizeof *wants);
  *t = (sw_copy_table){.n_choices = nodes[maker].n_choices, .n_layouts = 1 + (int32_t)sw_rng_below(g, 4)};
  t->class_of = random_classes(g, a, t->n_choices, &t->n_classes);
  int64_t *cost = random_costs(g, a, (int64_t)t->n_classes * t->n_layouts, s);
  for (int64_t k = 0; k < (int64_t)t->n_classes * t->n_layouts; k++)
    if (sw_rng_below(g, 5) == 0) cost[k] = 0;
  for (int32_t i = 0; i < n_readers; i++) { /* some want the same as one before */
    const int32_t n = nodes[reader[i]].n_choices, like = (int32_t)sw_rng_below(g, i + 1);
    wants[i] = like < i && wants[like].n_choices == n ? wants[like] : random_wants(g, a, n, t->n_layouts);
  }
  t->n_readers = n_readers;
  t->cost = cost;
  t->wants = wants;
  return t;
}

static inline bool takes(const sw_copy_table *t, const sw_node *nodes, int32_t maker, const int32_t *reader) {
  bool fits = t->n_choices == nodes[maker].n_choices;
  for (int32_t i = 0; i < t->n_readers; i++) fits &= t->wants[i].n_choices == nodes[reader[i]].n_choices;
  return fits;
}

/* Some groups of copies on top of p, some of which have one table. */
static inline sw_problem with_copies(sw_rng *g, sw_arena *a, sw_problem p, const shape *s) {
  enum { READERS = 4 };
  if (p.n_nodes < 2) return p;
  p.n_copies = 1 + (int32_t)sw_rng_below(g, 4);
  sw_copies *copies = take(a, (size_t)p.n_copies, sizeof *copies);
  for (int32_t k = 0; k < p.n_copies; k++) {
    int32_t *reader = take(a, READERS, sizeof *reader), n = 1 + (int32_t)sw_rng_below(g, READERS);
    copies[k].maker = (int32_t)sw_rng_below(g, p.n_nodes);
    for (int32_t i = 0; i < READERS; i++) /* one node may read twice */
      reader[i] = (copies[k].maker + 1 + (int32_t)sw_rng_below(g, p.n_nodes - 1)) % p.n_nodes;
    copies[k].reader = reader;
    const sw_copy_table *old = k ? copies[k - 1].table : NULL;
    copies[k].table = old && takes(old, p.nodes, copies[k].maker, reader)
                          ? old
                          : random_copy_table(g, a, p.nodes, copies[k].maker, reader, n, s);
  }
  p.copies = copies;
  return p;
}

static inline sw_problem small_copies(sw_rng *g, sw_arena *a, int k) {
  const shape *s = &kSmall[k % (int)N_SMALL];
  shape sparse = *s;
  sparse.edges = k % 3 ? s->edges / 3 : 0;
  return with_copies(g, a, random_problem(g, a, &sparse), s);
}

#endif
