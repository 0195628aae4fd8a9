/* Splitting shared costs so that the bound is high: passes of the dual whose shares move with its prices. */
#include <math.h>

#include "select/bound/by_class.h"
#include "select/bound/shares.h"

/* Passes come in rounds, which are short where passes over one node of each class came first. Twice as long: the time
 * of a solution more, and bounds 0.1 % higher. */
enum { SHORT_ROUND = 4 };

typedef struct splitter {
  sel_dual u;
  sel_shares shares;
  const sw_split_options *o;
  sel_budget b;
  double target;
} splitter;

/* Cells of tables, to and fro, and what is summed at the nodes. */
static int64_t cells_of_pass(const sel_dual *u) {
  int64_t cells = u->c->n_uses;
  for (int32_t e = 0; e < u->c->n_pairs; e++)
    if (!u->classes.on || u->classes.same.rep_pair[e] == e) cells += 2 * (int64_t)u->links[e].n_i * u->links[e].n_j;
  for (int32_t m = 0; m < u->classes.n; m++) {
    int32_t i = u->classes.seen[m];
    cells += 2 * (int64_t)u->c->dom[i] * (1 + u->first_arc[i + 1] - u->first_arc[i]);
  }
  return cells;
}

static void ascend_in_rounds(splitter *k, int round) {
  sel_dual *u = &k->u;
  const int64_t cells = cells_of_pass(u);
  double before = -INFINITY;
  for (int n = 0; n < k->o->passes && u->stride.factor > u->by->dual_step_least && (n == 0 || !sel_stop(&k->b)); n++) {
    if (n % round == 0 && n > round && u->best.bound - before < SEL_LEAST_GAIN * (k->target - u->best.bound)) break;
    if (n % round == 0) before = u->best.bound;
    sel_dual_pass(u, k->target);
    sel_spend(&k->b, cells);
    if (u->best.bound >= k->target * (1 - k->o->gap)) break;
  }
  sel_dual_rewind(u);
}

/* Where layers repeat, passes over one node of each class do nearly all. */
static sw_rc ascend_by_class(splitter *k, bool *any, sw_diag *d) {
  enum { ROUNDS = 2 }; /* shares need only be good: few classes lead further in time */
  sel_dual *u = &k->u;
  sel_apart was;
  SW_TRY(sel_dual_merge_classes(u, ROUNDS, &was, d));
  *any = was.classes > 0;
  if (!*any) return SW_OK;
  SW_TRY(sel_shares_find_classes(&k->shares, u->classes.same.rep_pair, &u->mem, d));
  ascend_in_rounds(k, (int)u->by->quiet_passes);
  u->stride.factor = u->by->dual_step_again;
  return sel_dual_split_classes(u, &was, d);
}

static sw_rc split(splitter *k, const sel_shared_problem *p, sw_arena *mem, bool *taken, int64_t *share, bool *moved,
                   sw_diag *d) {
  sel_core c;
  sel_link *links;
  sel_pair *pairs;
  const double kMix = 0.2; /* shares turn faster than prices alone */
  bool by_class;
  *taken = false;
  if (p->n_shares == 0) return SW_OK;
  SW_ARENA_NEW_EACH(mem, p->n_edges, d, links, pairs);
  SW_TRY(sel_core_of_problem(&p->base, mem, &c, d));
  SW_TRY(sel_shares_init(&k->shares, p, links, pairs, mem, d));
  c.pairs = pairs;
  c.n_pairs = p->n_edges;
  SW_TRY(sel_dual_init_part(&k->u, &c, k->o->parameters, links, NULL, d));
  k->u.shares = &k->shares;
  k->u.stride.mix = kMix;
  SW_TRY(ascend_by_class(k, &by_class, d));
  ascend_in_rounds(k, by_class ? SHORT_ROUND : (int)k->u.by->quiet_passes);
  *taken = k->u.best.bound > fmax(0, (double)k->o->bound);
  for (int32_t i = 0; i < p->n_costs; i++) {
    moved[i] = k->shares.is_live[i];
    sel_shares_round(&k->shares, i, share);
  }
  return SW_OK;
}

sw_rc sel_split_shares(const sel_shared_problem *p, const sw_split_options *o, sel_split *out, sw_diag *d) {
  splitter k = {
      .o = o,
      .target = (double)o->target,
      .b = {
          .deadline_s = o->deadline_s, .cancel = o->cancel, .work_limit = o->work_limit, .parameters = o->parameters}};
  sw_arena mem = {0};
  sw_rc rc = split(&k, p, &mem, &out->taken, out->share, out->moved, d);
  out->work = k.b.work;
  sel_dual_deinit(&k.u);
  sw_arena_deinit(&mem);
  return rc;
}
