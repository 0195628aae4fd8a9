/* The bound in exact integers: one backward pass over rounded prices and messages.
 *
 * Any integers serve as messages, and any prices >= 0, so rounding costs a little of the bound but never its truth.
 * Costs are scaled by 2^COST_BITS and prices by a further 2^price_bits, as many as leave no room for overflow; priced
 * uses are rounded down, what the prices pay for the caps is rounded up, and the shares of a variable are whole numbers
 * whose remainder stays at the variable. Since all costs are whole numbers, the bound is rounded up at the end.
 */
#include <math.h>
#include <string.h>

#include "select/bound/dual.h"
#include "select/proof.h"
#include "base/simd.h"

enum { COST_BITS = 10, PRICE_BITS_MOST = 34, PREFIX_BITS = 60 };

/* Where cells and what is handed over (scaled) stay below these, sums fit into 64 bits, and a forbidden cell that
 * counts as kDear leads to more than any other. */
static const int64_t kModest = INT64_C(1) << 49, kSmall = INT64_C(1) << 59, kDear = INT64_C(1) << 51;
static const sw_i128 kNone = (sw_i128)1 << 100; /* more than any sum */

typedef struct certifier {
  const sel_dual *u;
  sw_arena mem;
  int64_t *prefix; /* of scaled prices */
  int price_bits;
  int64_t *to_i;  /* fresh messages to the earlier end, by link */
  int64_t *first; /* of a link in to_i */
  sw_i128 *hat, *least, *kept;
  int64_t *from;       /* what a value hands over one link */
  int64_t *class_from; /* the least of a class of values that have equal lines in a compressed table */
  int64_t *line;       /* of a table, as far as it is looked at */
  bool *modest;        /* per table: cells are below kModest, or forbidden */
  int32_t *member[2];  /* a value of a class of the earlier end, of the later end */
  const sel_model *names;
  sw_text *proof; /* NULL: none */
} certifier;

static int64_t rounded(double v) {
  double s = v * (1 << COST_BITS);
  if (!(s > -0x1p58)) return -(INT64_C(1) << 58);
  return s > 0x1p58 ? INT64_C(1) << 58 : llrint(s);
}

static sw_i128 floor_shift(sw_i128 v, int bits) { return v >> bits; } /* arithmetic: rounds down */

static sw_i128 floor_div(sw_i128 a, int32_t b) {
  sw_i128 q = a / b;
  return q - (a % b < 0);
}

static bool is_modest(const sel_mat *m) {
  bool modest = true;
  for (int64_t a = 0; a < (int64_t)m->rows * m->cols; a++) modest &= m->v[a] < kModest || m->v[a] >= SW_FORBIDDEN;
  return modest;
}

static sw_rc certifier_init(certifier *k, const sel_dual *u, sw_diag *d) {
  const sel_core *c = u->c;
  int32_t most = 1;
  for (int32_t i = 0; i < c->n; i++) most = c->dom[i] > most ? c->dom[i] : most;
  SW_ARENA_NEW(k->prefix, &k->mem, (size_t)c->n_steps + 1, d);
  SW_ARENA_NEW(k->to_i, &k->mem, u->n_messages, d);
  SW_ARENA_NEW(k->first, &k->mem, c->n_pairs, d);
  SW_ARENA_NEW_EACH(&k->mem, most, d, k->hat, k->least, k->kept, k->from, k->class_from, k->line);
  for (int side = 0; side < 2; side++) SW_ARENA_NEW(k->member[side], &k->mem, most, d);
  SW_ARENA_NEW(k->modest, &k->mem, c->n_mats, d);
  for (int32_t a = 0; a < c->n_mats; a++) k->modest[a] = is_modest(&c->mats[a]);
  int64_t at = 0;
  for (int32_t e = 0; e < c->n_pairs; e++) {
    k->first[e] = at;
    at += c->dom[u->links[e].i];
  }
  double all = 0;
  for (int32_t t = 0; t < c->n_steps; t++) all += u->best.lambda[t] / u->unit;
  int bits = PREFIX_BITS - COST_BITS - (all > 0 ? ilogb(all) + 1 : 0);
  k->price_bits = bits > PRICE_BITS_MOST ? PRICE_BITS_MOST : bits;
  for (int32_t t = 0; t < c->n_steps && bits >= 0; t++)
    k->prefix[t + 1] = k->prefix[t] + (int64_t)ldexp(u->best.lambda[t] / u->unit, COST_BITS + k->price_bits);
  if (bits < 0) k->price_bits = 0; /* prices beyond any sense: none */
  return SW_OK;
}

static int64_t clamp_to_i64(sw_i128 v) {
  const int64_t kMost = INT64_C(1) << 62;
  return v > kMost ? kMost : v < -kMost ? -kMost : (int64_t)v;
}

static sw_i128 scaled_cost(int64_t cost) { return (sw_i128)sw_min_i64(cost, SW_FORBIDDEN) << COST_BITS; }

/* hat = cost + priced uses + messages of both sides. */
static void gather(certifier *k, int32_t i) {
  const sel_dual *u = k->u;
  const sel_core *c = u->c;
  for (int32_t s = 0; s < c->dom[i]; s++) {
    sw_i128 priced = 0;
    for (int32_t a = c->first_use[i]; a < c->first_use[i + 1]; a++)
      priced += (sw_i128)(k->prefix[c->uses[a].end] - k->prefix[c->uses[a].begin]) * c->uses[a].amount[s];
    k->hat[s] = scaled_cost(c->cost[i][s]) + floor_shift(priced, k->price_bits);
  }
  const double *base = u->messages;
  for (int32_t a = u->first_arc[i]; a < u->first_arc[i + 1]; a++) {
    int32_t e = u->arcs[a].edge;
    const double *old = u->best.messages + (u->links[e].to_j - base);
    for (int32_t s = 0; s < c->dom[i]; s++) k->hat[s] += a < u->mid_arc[i] ? rounded(old[s]) : k->to_i[k->first[e] + s];
  }
}

/* "move i j A.. B..": A goes from the table's rows to the values of i, B from its columns to those of j. */
static void print_move(const certifier *k, int32_t e) {
  const sel_link *g = &k->u->links[e];
  const int32_t *dom = k->u->c->dom, *alive = k->names->alive.of;
  sw_text_printf(k->proof, "move %d %d", sel_name_var(k->names, alive[g->i]), sel_name_var(k->names, alive[g->j]));
  for (int32_t t = 0; t < dom[g->i]; t++) sw_text_printf(k->proof, " %lld", (long long)k->to_i[k->first[e] + t]);
  for (int32_t s = 0; s < dom[g->j]; s++) sw_text_printf(k->proof, " %lld", -(long long)k->from[s]);
  sw_text_puts(k->proof, "\n");
}

static void print_prices(const certifier *k) {
  sw_text_printf(k->proof, "prices %d %d\n", COST_BITS, COST_BITS + k->price_bits);
  for (int32_t t = 0; t < k->u->c->n_steps; t++)
    if (k->prefix[t + 1] > k->prefix[t])
      sw_text_printf(k->proof, "price %lld %lld\n", (long long)sel_name_time(k->names, t),
                     (long long)(k->prefix[t + 1] - k->prefix[t]));
}

/* What each value of the later end hands over. */
static void take_shares(certifier *k, const sel_link *g, int32_t parts) {
  const sel_dual *u = k->u;
  const double *old = u->best.messages + (g->to_j - u->messages);
  for (int32_t s = 0; s < u->c->dom[g->j]; s++) {
    k->from[s] = clamp_to_i64(floor_div(k->hat[s], parts) - rounded(old[s]));
    k->kept[s] -= (sw_i128)k->from[s] + rounded(old[s]);
  }
}

/* A value of each class; without classes each is its own. */
static const int32_t *members(certifier *k, int side, const int32_t *class_of, int32_t n) {
  for (int32_t s = n - 1; s >= 0; s--) k->member[side][class_of ? class_of[s] : s] = s;
  return k->member[side];
}

/* What each class of the later end hands over, into k->class_from. Whether all of it is below kSmall. */
static bool class_shares(certifier *k, const sel_link *g) {
  bool small = true;
  for (int32_t a = 0; a < g->n_j; a++) k->class_from[a] = INT64_MAX;
  for (int32_t s = 0; s < k->u->c->dom[g->j]; s++) {
    int64_t *least = &k->class_from[g->class_j ? g->class_j[s] : s];
    *least = sw_min_i64(*least, k->from[s]);
  }
  for (int32_t a = 0; a < g->n_j; a++) small = small && k->class_from[a] < kSmall && k->class_from[a] > -kSmall;
  return small;
}

/* The least of from[a] + cell[a], all of them small or forbidden: a lower message is still one. */
SW_SIMD_CLONES static int64_t least_of_line(const int64_t *restrict from, const int64_t *restrict cell, int32_t n) {
  int64_t least = INT64_MAX;
  for (int32_t a = 0; a < n; a++) {
    int64_t sum = from[a] + (cell[a] < kDear ? cell[a] : kDear) * (1 << COST_BITS);
    least = sum < least ? sum : least;
  }
  return least;
}

static sw_i128 least_of_line_wide(const int64_t *from, const int64_t *cell, int32_t n) {
  sw_i128 least = kNone;
  for (int32_t a = 0; a < n; a++) {
    sw_i128 sum = from[a] + scaled_cost(cell[a]);
    if (sum < least) least = sum;
  }
  return least;
}

/* The least that each class of the earlier end gets, into k->least; the least of all is returned. */
static sw_i128 least_sums(certifier *k, const sel_link *g, const sel_pair *pair) {
  const int32_t *dom = k->u->c->dom;
  const sel_mat *m = &k->u->c->mats[pair->mat];
  const int32_t *at_i = members(k, 0, g->class_i, dom[g->i]), *at_j = members(k, 1, g->class_j, dom[g->j]);
  const bool forward = pair->i == g->i, small = class_shares(k, g) && k->modest[pair->mat];
  const int64_t down = forward ? m->cols : 1, along = forward ? 1 : m->cols;
  sw_i128 floor = kNone;
  for (int32_t t = 0; t < g->n_i; t++) {
    const int64_t *line = m->v + at_i[t] * down;
    for (int32_t a = 0; a < g->n_j && (g->class_j || !forward); a++) k->line[a] = line[at_j[a] * along];
    if (g->class_j || !forward) line = k->line;
    k->least[t] = small ? least_of_line(k->class_from, line, g->n_j) : least_of_line_wide(k->class_from, line, g->n_j);
    if (k->least[t] < floor) floor = k->least[t];
  }
  return floor;
}

/* Hand a share over one link; returns what it adds to the bound. The message itself is clamped from above, which only
 * gives cost away. */
static sw_i128 hand_down(certifier *k, int32_t e, int32_t parts) {
  const sel_link *g = &k->u->links[e];
  take_shares(k, g, parts);
  sw_i128 floor = least_sums(k, g, &k->u->c->pairs[e]);
  for (int32_t t = 0; t < k->u->c->dom[g->i]; t++) {
    sw_i128 v = k->least[g->class_i ? g->class_i[t] : t] - floor;
    k->to_i[k->first[e] + t] = v > INT64_MAX / 4 ? INT64_MAX / 4 : (int64_t)v;
  }
  if (k->proof) print_move(k, e);
  return floor;
}

static sw_i128 sweep(certifier *k) {
  const sel_dual *u = k->u;
  sw_i128 bound = 0;
  for (int32_t i = u->c->n - 1; i >= 0; i--) {
    int32_t back = u->mid_arc[i] - u->first_arc[i], ahead = u->first_arc[i + 1] - u->mid_arc[i];
    int32_t parts = back > ahead ? back : ahead > 0 ? ahead : 1;
    gather(k, i);
    memcpy(k->kept, k->hat, (size_t)u->c->dom[i] * sizeof *k->kept);
    for (int32_t a = u->first_arc[i]; a < u->mid_arc[i]; a++) bound += hand_down(k, u->arcs[a].edge, parts);
    sw_i128 least = kNone;
    for (int32_t s = 0; s < u->c->dom[i]; s++)
      if (k->kept[s] < least) least = k->kept[s];
    bound += least;
  }
  return bound;
}

sw_rc sel_dual_certify(const sel_dual *u, const sel_model *names, sw_text *proof, int64_t *bound, sw_diag *d) {
  certifier k = {.u = u, .names = names, .proof = proof};
  sw_rc rc = certifier_init(&k, u, d);
  if (!rc) {
    if (proof) print_prices(&k);
    sw_i128 paid = 0;
    for (int32_t t = 0; t < u->c->n_steps; t++) paid += (sw_i128)(k.prefix[t + 1] - k.prefix[t]) * u->c->cap[t];
    sw_i128 total = sweep(&k) + floor_shift(-paid, k.price_bits);
    sw_i128 whole = -floor_shift(-total, COST_BITS);
    if (proof) sw_text_puts(proof, "sum\n");
    *bound = whole < -SW_FORBIDDEN ? -SW_FORBIDDEN : whole > SW_FORBIDDEN ? SW_FORBIDDEN : (int64_t)whole;
  }
  sw_arena_deinit(&k.mem);
  return rc;
}
