/* One pass: each node gathers what it hears and hands its share on, forward along the nodes, then backward. */
#include "strategy/divide/divider.h"

#include <math.h>
#include <string.h>

#include "shardwright/simd.h"

static void set_table(const dv_divider *v, const dv_table *t, bool all) {
  for (int32_t from = 0; from < t->n[0]; from++) {
    if (!all && !t->moved[from]) continue;
    for (int32_t c = 0; c < t->n[1]; c++) {
      double sum = t->fixed[(int64_t)from * t->wide[1] + c];
      for (int32_t a = t->wants->first[c]; a < t->wants->first[c + 1]; a++) {
        int32_t part = dv_part_in(t, from, t->wants->id[a]);
        if (part >= 0) sum += v->part[part];
      }
      t->cost[0][(int64_t)from * t->wide[1] + c] = sum;
      t->cost[1][(int64_t)c * t->wide[0] + from] = sum;
    }
  }
}

void dv_set_tables(const dv_divider *v, bool all) {
  for (size_t k = 0; k < v->tables.n; k++)
    if (all || v->tables.at[k].divided) set_table(v, &v->tables.at[k], all);
}

/* What memory costs those who are alike is averaged, as they live at different times. */
void dv_set_unaries(dv_divider *v) {
  for (int64_t t = 0; t < v->n_steps; t++) v->prefix[t + 1] = v->prefix[t] + v->price[t];
  for (int32_t i = 0; i < v->n; i++) {
    const sw_node *node = &v->p->nodes[i];
    int32_t to_node = dv_stands_for(v, i);
    double *to = v->unary + v->offset[to_node], each = 1 / (v->room * dv_count(v, to_node));
    for (int32_t a = 0; to_node == i && a < node->n_choices; a++) to[a] = dv_cell(node->cost[a]);
    for (int32_t k = 0; v->n_steps && k < node->n_uses; k++) {
      double rate = (v->prefix[node->uses[k].end] - v->prefix[node->uses[k].begin]) * each;
      for (int32_t a = 0; rate > 0 && a < node->n_choices; a++) to[a] += rate * (double)node->uses[k].amount[a];
    }
  }
}

static void gather(dv_divider *v, int32_t i) {
  double *hat = v->hat + v->offset[i];
  int32_t n = dv_choices(v, i);
  memcpy(hat, v->unary + v->offset[i], (size_t)n * sizeof *hat);
  for (int32_t k = v->first_arc[i]; k < v->first_arc[i + 1]; k++) {
    const dv_link *l = &v->links.at[v->arcs[k].link];
    const double *m = l->msg[v->arcs[k].side];
    const int32_t *class_of = v->tables.at[l->table].class_of[v->arcs[k].side];
    for (int32_t a = 0; a < n; a++) hat[a] += m[class_of[a]];
  }
}

/* out[o] = least over c of mine[c] + cost[c][o], less its own minimum, which is returned. */
SW_SIMD_CLONES static double least_sums(const double *mine, int32_t n, const double *restrict cost, int32_t wide,
                                        double *restrict out) {
  for (int32_t o = 0; o < wide; o++) out[o] = mine[0] + cost[o];
  for (int32_t c = 1; c < n; c++) {
    const double *row = cost + (int64_t)c * wide;
    double a = mine[c];
    for (int32_t o = 0; o < wide; o++) {
      double sum = a + row[o];
      out[o] = sum < out[o] ? sum : out[o];
    }
  }
  double least = out[0];
  for (int32_t o = 1; o < wide; o++) least = out[o] < least ? out[o] : least;
  for (int32_t o = 0; o < wide; o++) out[o] -= least;
  return least;
}

/* Node i hands its share over an arc; returns what goes into the bound. */
static double send(dv_divider *v, int32_t i, const dv_arc *k, double share) {
  dv_link *l = &v->links.at[k->link];
  const dv_table *t = &v->tables.at[l->table];
  const double *hat = v->hat + v->offset[i];
  const int32_t *class_of = t->class_of[k->side];
  int32_t n = t->n[k->side];
  for (int32_t c = 0; c < n; c++) l->mine[c] = INFINITY;
  for (int32_t a = 0; a < dv_choices(v, i); a++) {
    if (hat[a] >= l->mine[class_of[a]]) continue;
    l->mine[class_of[a]] = hat[a];
    l->member[class_of[a]] = a;
  }
  for (int32_t c = 0; c < n; c++) l->mine[c] = share * l->mine[c] - l->msg[k->side][c];
  return least_sums(l->mine, n, t->cost[k->side], t->wide[!k->side], l->msg[!k->side]);
}

void dv_forward(dv_divider *v) {
  for (int32_t i = 0; i < v->n; i++) {
    if (dv_stands_for(v, i) != i) continue;
    gather(v, i);
    for (int32_t k = v->mid_arc[i]; k < v->first_arc[i + 1]; k++) (void)send(v, i, &v->arcs[k], dv_share_of(v, i));
  }
}

double dv_backward(dv_divider *v) {
  double bound = 0;
  for (int32_t i = v->n - 1; i >= 0; i--) {
    if (dv_stands_for(v, i) != i) continue;
    const double *hat = v->hat + v->offset[i];
    double share = dv_share_of(v, i), part = 0;
    gather(v, i);
    for (int32_t k = v->first_arc[i]; k < v->mid_arc[i]; k++) part += send(v, i, &v->arcs[k], share);
    v->least[i] = 0;
    for (int32_t a = 1; a < dv_choices(v, i); a++)
      if (hat[a] < hat[v->least[i]]) v->least[i] = a;
    part += (1.0 - (v->mid_arc[i] - v->first_arc[i]) * share) * hat[v->least[i]];
    bound += dv_count(v, i) * part;
  }
  return bound;
}
