/* TRW-S with prices on memory. See dual.h for the method.
 *
 * Why any pass gives a bound: a pass from the last variable to the first replaces a variable by what each edge to an
 * earlier one costs at least, given the earlier one's choice. Each is a minimum of a share of the variable's costs, and
 * the shares add up to all of them, so nothing is counted twice.
 */
#include "select/bound/dual.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "select/bound/shares.h"
#include "select/bound/compress.h"
#include "base/simd.h"

enum { MOST_DOM_ON_STACK = 1024 };

/* A table as links have it: two padded orientations, and classes when it is compressed. */
typedef struct oriented {
  const double *rows, *cols;
  sel_compressed q; /* class_of NULL: as it is */
} oriented;

/* Compression pays where it leaves this part of the cells, lines that must be gathered and spread counted in. */
static bool pays(const sel_mat *m, const sel_compressed *q) {
  const int64_t kLines = 3;
  int64_t compressed = (int64_t)q->n[0] * q->n[1] + kLines * (m->rows + m->cols);
  return compressed < (int64_t)m->rows * m->cols / 2;
}

/* One orientation of the lines named. */
static const double *lay_out(sel_dual *u, const sel_mat *m, int side, const sel_compressed *q, sw_diag *d) {
  int32_t rows = q->n[side], cols = q->n[!side], ld = sel_padded(cols);
  double *to = sw_arena_alloc(&u->mem, (size_t)rows * (size_t)ld, sizeof *to, d);
  for (int32_t s = 0; to && s < rows; s++) {
    int64_t line = q->class_of[0] ? q->first[side][s] : s;
    for (int32_t t = 0; t < ld; t++) {
      int64_t at = t < cols && q->class_of[0] ? q->first[!side][t] : t;
      to[(int64_t)s * ld + t] =
          t < cols ? sel_cell(side ? m->v[at * m->cols + line] : m->v[line * m->cols + at]) : SEL_DUAL_FORBIDDEN;
    }
  }
  return to;
}

static sw_rc orient(sel_dual *u, const sel_mat *m, bool compress, oriented *to, sw_diag *d) {
  if (compress) SW_TRY(sel_compress(m, &u->mem, &to->q, d));
  if (!compress || !pays(m, &to->q)) to->q = (sel_compressed){.n = {m->rows, m->cols}};
  to->rows = lay_out(u, m, 0, &to->q, d);
  to->cols = lay_out(u, m, 1, &to->q, d);
  return to->rows && to->cols ? SW_OK : SW_E_RESOURCE;
}

static sel_link link_of(const sel_pair *g, const oriented *o) {
  bool forward = g->i < g->j;
  return (sel_link){.i = forward ? g->i : g->j,
                    .j = forward ? g->j : g->i,
                    .class_i = o->q.class_of[!forward],
                    .class_j = o->q.class_of[forward],
                    .n_i = o->q.n[!forward],
                    .n_j = o->q.n[forward],
                    .ld_i = sel_padded(o->q.n[!forward]),
                    .ld_j = sel_padded(o->q.n[forward]),
                    .up = forward ? o->rows : o->cols,
                    .down = forward ? o->cols : o->rows};
}

static void add_link(sel_dual *u, int32_t e, const sel_link *g) {
  u->links[e] = *g;
  u->n_messages += sel_padded(u->c->dom[g->i]) + sel_padded(u->c->dom[g->j]);
  u->cells += (int64_t)g->n_i * g->n_j;
}

static sw_rc build_links(sel_dual *u, bool compress, sw_diag *d) {
  const sel_core *c = u->c;
  oriented *all;
  SW_ARENA_NEW(all, &u->mem, c->n_mats, d);
  SW_ARENA_NEW(u->links, &u->mem, c->n_pairs, d);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    const sel_pair *g = &c->pairs[e];
    if (!all[g->mat].rows) SW_TRY(orient(u, &c->mats[g->mat], compress, &all[g->mat], d));
    const sel_link link = link_of(g, &all[g->mat]);
    add_link(u, e, &link);
  }
  return SW_OK;
}

static sw_rc borrow_links(sel_dual *u, const sel_link *links, const int32_t *which, sw_diag *d) {
  const sel_core *c = u->c;
  SW_ARENA_NEW(u->links, &u->mem, c->n_pairs, d);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    sel_link link = links[which ? which[e] : e];
    link.i = c->pairs[e].i;
    link.j = c->pairs[e].j;
    add_link(u, e, &link);
  }
  return SW_OK;
}

static sw_rc build_arcs(sel_dual *u, sw_diag *d) {
  const sel_core *c = u->c;
  int32_t *fill;
  SW_ARENA_NEW(u->first_arc, &u->mem, (size_t)c->n + 1, d);
  SW_ARENA_NEW(u->mid_arc, &u->mem, c->n, d);
  SW_ARENA_NEW(u->arcs, &u->mem, 2 * (size_t)c->n_pairs, d);
  SW_ARENA_NEW(fill, &u->mem, c->n, d);
  for (int32_t e = 0; e < c->n_pairs; e++) {
    u->first_arc[u->links[e].i + 1]++;
    u->first_arc[u->links[e].j + 1]++;
    u->mid_arc[u->links[e].j]++;
  }
  for (int32_t i = 0; i < c->n; i++) {
    u->first_arc[i + 1] += u->first_arc[i];
    u->mid_arc[i] += u->first_arc[i];
    fill[i] = u->first_arc[i];
  }
  for (int32_t e = 0; e < c->n_pairs; e++) u->arcs[fill[u->links[e].j]++] = (sel_arc){e, u->links[e].i};
  for (int32_t e = 0; e < c->n_pairs; e++) u->arcs[fill[u->links[e].i]++] = (sel_arc){e, u->links[e].j};
  return SW_OK;
}

void sel_dual_place_messages(sel_dual *u) {
  double *next = u->messages;
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    u->links[e].to_i = next;
    u->links[e].to_j = next + sel_padded(u->c->dom[u->links[e].i]);
    next = u->links[e].to_j + sel_padded(u->c->dom[u->links[e].j]);
  }
}

static sw_rc build_flat(sel_dual *u, sw_diag *d) {
  const sel_core *c = u->c;
  SW_ARENA_NEW(u->offset, &u->mem, (size_t)c->n + 1, d);
  for (int32_t i = 0; i < c->n; i++) u->offset[i + 1] = u->offset[i] + sel_padded(c->dom[i]);
  u->n_flat = u->offset[c->n];
  SW_ARENA_NEW_EACH(&u->mem, u->n_flat, d, u->pass.unary, u->pass.hat, u->pass.share, u->pass.mean);
  SW_ARENA_NEW_EACH(&u->mem, c->n, d, u->pass.part, u->classes.seen);
  for (int32_t i = 0; i < c->n; i++) u->classes.seen[u->classes.n++] = i;
  SW_ARENA_NEW_EACH(&u->mem, u->n_messages, d, u->messages, u->best.messages);
  double **steps[] = {&u->memory.lambda, &u->best.lambda, &u->memory.direction, &u->memory.usage, &u->memory.prefix};
  for (size_t k = 0; k < sizeof steps / sizeof steps[0]; k++)
    SW_ARENA_NEW(*steps[k], &u->mem, (size_t)c->n_steps + 1, d);
  int32_t most = 1;
  for (int32_t i = 0; i < c->n; i++) most = c->dom[i] > most ? c->dom[i] : most;
  u->most_dom = sel_padded(most);
  SW_ARENA_NEW(u->pass.least, &u->mem, 2 * (size_t)u->most_dom, d);
  sel_dual_place_messages(u);
  return SW_OK;
}

static void start(sel_dual *u, const sel_core *c, const sw_parameters *by) {
  by = sel_parameters(by);
  *u = (sel_dual){.c = c,
                  .by = by,
                  .stride.factor = 1.0,
                  .stride.mix = by->dual_mix,
                  .stride.patience = (int)by->dual_patience,
                  .best.bound = -INFINITY,
                  .unit = 1.0};
  int64_t room = 0;
  for (int32_t t = 0; t < c->n_steps; t++) room = sw_max_i64(room, c->cap[t]);
  if (room > 0) u->unit = (double)room;
}

sw_rc sel_dual_init(sel_dual *u, const sel_core *c, const sw_parameters *by, bool compress, sw_diag *d) {
  start(u, c, by);
  SW_TRY(build_links(u, compress, d));
  SW_TRY(build_arcs(u, d));
  return build_flat(u, d);
}

sw_rc sel_dual_init_part(sel_dual *u, const sel_core *c, const sw_parameters *by, const sel_link *links,
                         const int32_t *which, sw_diag *d) {
  start(u, c, by);
  SW_TRY(borrow_links(u, links, which, d));
  SW_TRY(build_arcs(u, d));
  return build_flat(u, d);
}

void sel_dual_deinit(sel_dual *u) { sw_arena_deinit(&u->mem); }

/* The variable that stands for i in a pass. */
static int32_t stands_for(const sel_dual *u, int32_t i) { return u->classes.on ? u->classes.same.rep[i] : i; }

static double count_of(const sel_dual *u, int32_t i) { return u->classes.on ? u->classes.same.count[i] : 1; }

static void add_price(const sel_dual *u, int32_t use, int32_t var, double rate, double *price) {
  const int64_t *amount = u->c->uses[use].amount;
  double *to = price + u->offset[var];
  if (rate > 0)
    for (int32_t s = 0; s < u->c->dom[var]; s++) to[s] += rate * (double)amount[s];
}

/* What memory costs those who are alike is averaged, as they live at different times. */
static void class_prices(const sel_dual *u, double *price) {
  const sel_core *c = u->c;
  for (int32_t k = 0; k < c->n_uses; k++) u->classes.rate[u->classes.rep_use[k]] = 0;
  for (int32_t k = 0; k < c->n_uses; k++)
    u->classes.rate[u->classes.rep_use[k]] +=
        (u->memory.prefix[c->uses[k].end] - u->memory.prefix[c->uses[k].begin]) / u->unit;
  for (int32_t m = 0; m < u->classes.n; m++) {
    int32_t i = u->classes.seen[m];
    for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
      add_price(u, k, i, u->classes.rate[k] / u->classes.same.count[i], price);
  }
}

void sel_dual_prices(const sel_dual *u, double *price) {
  const sel_core *c = u->c;
  u->memory.prefix[0] = 0;
  for (int32_t t = 0; t < c->n_steps; t++) u->memory.prefix[t + 1] = u->memory.prefix[t] + u->memory.lambda[t];
  memset(price, 0, (size_t)u->n_flat * sizeof *price);
  if (u->memory.prefix[c->n_steps] <= 0) return;
  if (u->classes.on) {
    class_prices(u, price);
    return;
  }
  for (int32_t k = 0; k < c->n_uses; k++) {
    const sel_usage *w = &c->uses[k];
    add_price(u, k, w->var, (u->memory.prefix[w->end] - u->memory.prefix[w->begin]) / u->unit, price);
  }
}

static void set_unaries(sel_dual *u) {
  const sel_core *c = u->c;
  sel_dual_prices(u, u->pass.unary);
  for (int32_t m = 0; m < u->classes.n; m++) {
    int32_t i = u->classes.seen[m];
    double *to = u->pass.unary + u->offset[i];
    for (int32_t s = 0; s < c->dom[i]; s++) to[s] += (double)c->cost[i][s];
    for (int32_t s = c->dom[i]; s < sel_padded(c->dom[i]); s++) to[s] = SEL_DUAL_FORBIDDEN;
  }
}

/* out[t] = min over s of from[s] + table[s][t], less its own minimum over the first `dom_t`; returns that minimum. */
SW_SIMD_CLONES static double send(const double *from, int32_t n, const double *restrict table, int32_t ld,
                                  int32_t dom_t, double *restrict out) {
  for (int32_t t = 0; t < ld; t++) out[t] = from[0] + table[t];
  for (int32_t s = 1; s < n; s++) {
    double a = from[s];
    const double *row = table + (int64_t)s * ld;
    for (int32_t t = 0; t < ld; t++) {
      double v = a + row[t];
      out[t] = v < out[t] ? v : out[t];
    }
  }
  double least = out[0];
  for (int32_t t = 1; t < dom_t; t++) least = out[t] < least ? out[t] : least;
  for (int32_t t = 0; t < ld; t++) out[t] -= least;
  return least;
}

/* least[c] = the least of from[s] over the values s of class c. */
static void least_of_classes(const double *from, int32_t n, const int32_t *class_of, int32_t n_classes, double *least) {
  for (int32_t c = 0; c < n_classes; c++) least[c] = INFINITY;
  for (int32_t s = 0; s < n; s++) least[class_of[s]] = from[s] < least[class_of[s]] ? from[s] : least[class_of[s]];
}

/* The same over a compressed table: classes send to classes. */
static double send_compressed(const sel_dual *u, const double *from, const sel_link *g, bool down, double *out) {
  const int32_t *mine = down ? g->class_j : g->class_i, *others = down ? g->class_i : g->class_j;
  int32_t n = u->c->dom[down ? g->j : g->i], n_other = u->c->dom[down ? g->i : g->j];
  int32_t n_mine = down ? g->n_j : g->n_i, n_others = down ? g->n_i : g->n_j, ld = sel_padded(n_others);
  double *to = u->pass.least + u->most_dom;
  least_of_classes(from, n, mine, n_mine, u->pass.least);
  double least = send(u->pass.least, n_mine, down ? g->down : g->up, ld, n_others, to);
  for (int32_t t = 0; t < n_other; t++) out[t] = to[others[t]];
  for (int32_t t = n_other; t < sel_padded(n_other); t++) out[t] = SEL_DUAL_FORBIDDEN;
  return least;
}

SW_SIMD_CLONES static void gather_messages(const sel_dual *u, int32_t i, double *hat) {
  int32_t ld = sel_padded(u->c->dom[i]);
  memcpy(hat, u->pass.unary + u->offset[i], (size_t)ld * sizeof *hat);
  for (int32_t a = u->first_arc[i]; a < u->first_arc[i + 1]; a++) {
    const sel_link *g = &u->links[u->arcs[a].edge];
    const double *m = a < u->mid_arc[i] ? g->to_j : g->to_i;
    for (int32_t s = 0; s < ld; s++) hat[s] += m[s];
  }
}

static double share_of(const sel_dual *u, int32_t i) {
  int32_t back = u->mid_arc[i] - u->first_arc[i], ahead = u->first_arc[i + 1] - u->mid_arc[i];
  int32_t most = back > ahead ? back : ahead;
  return most ? 1.0 / most : 1.0;
}

static void forward(sel_dual *u, double *from) {
  for (int32_t m = 0; m < u->classes.n; m++) {
    int32_t i = u->classes.seen[m], n = u->c->dom[i];
    double *hat = u->pass.hat + u->offset[i], gamma = share_of(u, i);
    gather_messages(u, i, hat);
    for (int32_t a = u->mid_arc[i]; a < u->first_arc[i + 1]; a++) {
      sel_link *g = &u->links[u->arcs[a].edge];
      for (int32_t s = 0; s < n; s++) from[s] = gamma * hat[s] - g->to_i[s];
      if (g->class_i)
        (void)send_compressed(u, from, g, false, g->to_j);
      else
        (void)send(from, n, g->up, g->ld_j, u->c->dom[g->j], g->to_j);
    }
  }
}

static double backward(sel_dual *u, double *from) {
  double bound = 0;
  for (int32_t m = u->classes.n - 1; m >= 0; m--) {
    int32_t i = u->classes.seen[m], n = u->c->dom[i], back = u->mid_arc[i] - u->first_arc[i];
    double *hat = u->pass.hat + u->offset[i], gamma = share_of(u, i);
    gather_messages(u, i, hat);
    u->pass.part[i] = 0;
    for (int32_t a = u->first_arc[i]; a < u->mid_arc[i]; a++) {
      sel_link *g = &u->links[u->arcs[a].edge];
      for (int32_t s = 0; s < n; s++) from[s] = gamma * hat[s] - g->to_j[s];
      u->pass.part[i] += g->class_i ? send_compressed(u, from, g, true, g->to_i)
                                    : send(from, n, g->down, g->ld_i, u->c->dom[g->i], g->to_i);
    }
    double least = hat[0];
    for (int32_t s = 1; s < n; s++) least = hat[s] < least ? hat[s] : least;
    u->pass.part[i] += (1.0 - back * gamma) * least;
    bound += count_of(u, i) * u->pass.part[i];
  }
  return bound;
}

/* The s that makes gamma * hat[s] - message[s] + row[s] least, the first of several. */
SW_SIMD_CLONES static int32_t cheapest(const double *restrict hat, double gamma, const double *restrict message,
                                       const double *restrict row, int32_t n) {
  double v[64], least = INFINITY;
  int32_t best = 0;
  for (int32_t from = 0; from < n; from += 64) {
    int32_t len = n - from < 64 ? n - from : 64;
    double here = INFINITY;
    for (int32_t s = 0; s < len; s++) v[s] = gamma * hat[from + s] - message[from + s] + row[from + s];
    for (int32_t s = 0; s < len; s++) here = v[s] < here ? v[s] : here;
    if (here >= least) continue;
    least = here;
    for (best = 0; v[best] > here;) best++;
    best += from;
  }
  return best;
}

/* The same over a compressed table, for value t of the earlier end; u->least has what classes of the later end hand
 * over, `member` the values behind it. */
static int32_t cheapest_compressed(const sel_dual *u, const sel_link *g, int32_t t, const int32_t *member) {
  const double *row = g->up + (int64_t)g->class_i[t] * g->ld_j;
  int32_t best = 0;
  for (int32_t c = 1; c < g->n_j; c++)
    if (u->pass.least[c] + row[c] < u->pass.least[best] + row[best]) best = c;
  return member[best];
}

/* Into u->least and member, for cheapest_compressed. */
static void hand_over(const sel_dual *u, const double *hat, double gamma, const sel_link *g, int32_t *member) {
  for (int32_t c = 0; c < g->n_j; c++) u->pass.least[c] = INFINITY;
  for (int32_t s = 0; s < u->c->dom[g->j]; s++) {
    double v = gamma * hat[s] - g->to_j[s];
    if (v >= u->pass.least[g->class_j[s]]) continue;
    u->pass.least[g->class_j[s]] = v;
    member[g->class_j[s]] = s;
  }
}

/* How much the bound moves with the cost of each value: marginals that follow the minima of the backward pass. */
static void spread_marginals(sel_dual *u) {
  int32_t *member = (int32_t *)(void *)(u->pass.least + u->most_dom);
  memset(u->pass.share, 0, (size_t)u->n_flat * sizeof *u->pass.share);
  if (u->shares) sel_shares_clear(u->shares);
  for (int32_t m = 0; m < u->classes.n; m++) {
    int32_t i = u->classes.seen[m], n = u->c->dom[i], back = u->mid_arc[i] - u->first_arc[i];
    const double *hat = u->pass.hat + u->offset[i];
    double *p = u->pass.share + u->offset[i], gamma = share_of(u, i);
    for (int32_t a = u->first_arc[i]; a < u->mid_arc[i]; a++) {
      const sel_link *g = &u->links[u->arcs[a].edge];
      const double *q = u->pass.share + u->offset[stands_for(u, g->i)];
      if (g->class_i) hand_over(u, hat, gamma, g, member);
      for (int32_t t = 0; t < u->c->dom[g->i]; t++) {
        if (q[t] <= 0) continue;
        int32_t s = g->class_i ? cheapest_compressed(u, g, t, member)
                               : cheapest(hat, gamma, g->to_j, g->up + (int64_t)t * g->ld_j, n);
        p[s] += gamma * q[t];
        if (u->shares)
          sel_shares_weigh(u->shares, u->arcs[a].edge, g->class_i[t], g->class_j[s], count_of(u, i) * q[t]);
      }
    }
    if (back * gamma >= 1.0 - 1e-12) continue;
    int32_t best = 0;
    for (int32_t s = 1; s < n; s++)
      if (hat[s] < hat[best]) best = s;
    p[best] += 1.0 - back * gamma;
  }
  if (u->shares && u->classes.on) sel_shares_average(u->shares);
}

/* What a use occupies under the marginals. */
static double mean_use(const sel_dual *u, int32_t use) {
  const sel_usage *w = &u->c->uses[use];
  const double *p = u->pass.share + u->offset[w->var];
  double mean = 0;
  for (int32_t s = 0; s < u->c->dom[w->var]; s++) mean += p[s] * (double)w->amount[s];
  return mean / u->unit;
}

/* usage[t] = use under the marginals less the cap, in units. */
static void supergradient(sel_dual *u) {
  const sel_core *c = u->c;
  memset(u->memory.usage, 0, ((size_t)c->n_steps + 1) * sizeof *u->memory.usage);
  for (int32_t k = 0; k < c->n_uses; k++) {
    if (u->classes.on && u->classes.rep_use[k] == k) u->classes.rate[k] = mean_use(u, k);
    double mean = u->classes.on ? u->classes.rate[u->classes.rep_use[k]] : mean_use(u, k);
    u->memory.usage[c->uses[k].begin] += mean;
    u->memory.usage[c->uses[k].end] -= mean;
  }
  double run = 0;
  for (int32_t t = 0; t < c->n_steps; t++) {
    run += u->memory.usage[t];
    u->memory.usage[t] = run - (double)c->cap[t] / u->unit;
  }
}

static void keep_best(sel_dual *u) {
  u->best.bound = u->pass.bound;
  memcpy(u->best.lambda, u->memory.lambda, (size_t)u->c->n_steps * sizeof *u->memory.lambda);
  memcpy(u->best.messages, u->messages, (size_t)u->n_messages * sizeof *u->messages);
  if (u->shares) sel_shares_keep(u->shares);
}

void sel_dual_rewind(sel_dual *u) {
  if (u->shares) sel_shares_rewind(u->shares);
  memcpy(u->memory.lambda, u->best.lambda, (size_t)u->c->n_steps * sizeof *u->memory.lambda);
  memcpy(u->messages, u->best.messages, (size_t)u->n_messages * sizeof *u->messages);
}

void sel_dual_forget(sel_dual *u) {
  memset(u->messages, 0, (size_t)u->n_messages * sizeof *u->messages);
  u->best.bound = -INFINITY;
  u->stride.stale = 0;
}

static void step(sel_dual *u, double target) {
  double level = u->best.bound + u->by->dual_level * (target - u->best.bound);
  double norm = u->shares ? sel_shares_turn(u->shares, u->stride.mix) : 0;
  for (int32_t t = 0; t < u->c->n_steps; t++) {
    u->memory.direction[t] += u->stride.mix * (u->memory.usage[t] - u->memory.direction[t]);
    if (u->memory.lambda[t] > 0 || u->memory.direction[t] > 0) norm += u->memory.direction[t] * u->memory.direction[t];
  }
  if (norm <= 0) return;
  double length = u->stride.factor * (level - u->pass.bound) / norm;
  if (length <= 0) return;
  if (u->shares) sel_shares_move(u->shares, length);
  for (int32_t t = 0; t < u->c->n_steps; t++)
    u->memory.lambda[t] = fmax(0, u->memory.lambda[t] + length * u->memory.direction[t]);
}

bool sel_dual_is_sound(const sel_dual *u) {
  bool sound = true;
  for (int32_t t = 0; t < u->c->n_steps; t++) sound = sound && u->memory.lambda[t] >= 0;
  for (int32_t m = 0; m < u->classes.n; m++) {
    const int32_t i = u->classes.seen[m];
    sound = sound && stands_for(u, i) == i && (m == 0 || u->classes.seen[m - 1] < i);
    sound = sound && u->offset[i] >= 0 && u->offset[i] + sel_padded(u->c->dom[i]) <= u->n_flat;
  }
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    const sel_link *g = &u->links[e];
    sound = sound && g->i < g->j && g->to_i >= u->messages && g->to_j >= u->messages &&
            g->to_i + sel_padded(u->c->dom[g->i]) <= u->messages + u->n_messages &&
            g->to_j + sel_padded(u->c->dom[g->j]) <= u->messages + u->n_messages;
  }
  return sound;
}

void sel_dual_pass(sel_dual *u, double target) {
  assert(sel_dual_is_sound(u));
  double on_stack[MOST_DOM_ON_STACK], *from = on_stack;
  if (u->most_dom > MOST_DOM_ON_STACK) from = u->pass.share; /* as wide as all variables together */
  set_unaries(u);
  if (u->shares) sel_shares_apply(u->shares);
  double paid = 0;
  for (int32_t t = 0; t < u->c->n_steps; t++) paid += u->memory.lambda[t] * ((double)u->c->cap[t] / u->unit);
  forward(u, from);
  u->pass.bound = backward(u, from) - paid;
  u->pass.n++;
  bool better = u->pass.bound > u->best.bound + 1e-9 * fabs(u->best.bound);
  if (u->pass.bound > u->best.bound) keep_best(u);
  u->stride.stale = better ? 0 : u->stride.stale + 1;
  spread_marginals(u);
  double weight = u->pass.n == 1 ? 1.0 : u->stride.mix;
  for (int32_t k = 0; k < u->n_flat; k++) u->pass.mean[k] += weight * (u->pass.share[k] - u->pass.mean[k]);
  if (u->c->n_steps == 0 && !u->shares) return;
  supergradient(u);
  if (u->stride.stale > u->stride.patience) {
    u->stride.factor *= u->by->dual_shrink;
    u->stride.stale = 0;
    sel_dual_rewind(u);
    return;
  }
  step(u, target);
}

double sel_dual_freeze(sel_dual *u) {
  sel_dual_rewind(u);
  set_unaries(u);
  double paid = 0;
  for (int32_t t = 0; t < u->c->n_steps; t++) paid += u->memory.lambda[t] * ((double)u->c->cap[t] / u->unit);
  return backward(u, u->pass.share) - paid;
}

void sel_dual_pace(sel_dual *u, double passes) {
  const double kShrinks = 31, kSlow = 0.08; /* 0.8^31 = 0.001; a third of the passes make progress */
  double patience = passes / (1.3 * kShrinks);
  if (!(patience > u->by->dual_patience)) return;
  u->stride.patience = (int)fmin(patience, u->by->dual_patience_most);
  u->stride.mix = fmax(kSlow, u->stride.mix * u->by->dual_patience / u->stride.patience);
}

bool sel_dual_settled(const sel_dual *u, double before) {
  const double kTired = 0.05;
  if (u->c->n_steps > 0 && u->stride.factor > kTired) return false; /* long steps may well gain nothing for a while */
  return u->stride.factor <= u->by->dual_step_least || u->best.bound - before <= u->by->dual_gain * fabs(u->best.bound);
}

void sel_dual_ascend(sel_dual *u, double target, double enough, sel_budget *b) {
  int quiet = 0;
  while (!sel_stop(b) && u->best.bound < enough && u->stride.factor > 1e-4) {
    double before = u->best.bound;
    sel_dual_pass(u, target);
    sel_spend(b, 2 * u->cells + u->n_flat + u->c->n_uses);
    quiet = u->best.bound > before + u->by->dual_gain * fabs(before) ? 0 : quiet + 1;
    if (u->c->n_steps == 0 && quiet > u->by->quiet_passes) break;
  }
  sel_dual_rewind(u);
}

void sel_dual_decode(sel_dual *u, int32_t *x) {
  set_unaries(u);
  for (int32_t i = 0; i < u->c->n; i++) {
    double *hat = u->pass.hat + u->offset[i];
    memcpy(hat, u->pass.unary + u->offset[i], (size_t)sel_padded(u->c->dom[i]) * sizeof *hat);
    for (int32_t a = u->first_arc[i]; a < u->first_arc[i + 1]; a++) {
      const sel_link *g = &u->links[u->arcs[a].edge];
      int32_t from = a >= u->mid_arc[i] ? 0 : g->class_i ? g->class_i[x[g->i]] : x[g->i];
      const double *row = g->up + (int64_t)from * g->ld_j;
      for (int32_t s = 0; s < u->c->dom[i]; s++)
        hat[s] += a >= u->mid_arc[i] ? g->to_i[s] : row[g->class_j ? g->class_j[s] : s];
    }
    x[i] = 0;
    for (int32_t s = 1; s < u->c->dom[i]; s++)
      if (hat[s] < hat[x[i]]) x[i] = s;
  }
}
