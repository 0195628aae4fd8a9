/* Finding what is alike in a core, and passes of the dual over one of each class. */
#include "select/bound/by_class.h"

#include <math.h>
#include <string.h>

static int32_t flat_of(const sel_apart *was, int32_t i) { return was->offset[i + 1] - was->offset[i]; }

/* Variables that are alike have one place in the flat arrays; what stands there for all comes first. */
static sw_rc pack_variables(sel_dual *u, const sel_apart *was, sw_diag *d) {
  int32_t n = u->c->n;
  SW_ARENA_NEW(u->offset, &u->mem, (size_t)n + 1, d);
  SW_ARENA_NEW(u->pass.mean, &u->mem, u->n_flat, d);
  u->n_flat = 0;
  for (int32_t i = 0; i < n; i++) {
    u->offset[i] = u->classes.same.rep[i] == i ? u->n_flat : u->offset[u->classes.same.rep[i]];
    if (u->classes.same.rep[i] != i) continue;
    memcpy(u->pass.mean + u->n_flat, was->mean + was->offset[i], (size_t)flat_of(was, i) * sizeof *u->pass.mean);
    u->n_flat += flat_of(was, i);
  }
  return SW_OK;
}

/* So have links. */
static sw_rc pack_messages(sel_dual *u, const sel_apart *was, sw_diag *d) {
  double *from = sw_arena_copy(&u->mem, u->messages, (size_t)u->n_messages, sizeof *from, d);
  if (!from) return SW_E_RESOURCE;
  u->n_messages = 0;
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    sel_link *l = &u->links[e];
    const sel_link *first = &u->links[u->classes.same.rep_pair[e]];
    int32_t n[2] = {flat_of(was, l->i), flat_of(was, l->j)};
    double **at[2] = {&l->to_i, &l->to_j};
    for (int side = 0; side < 2; side++) {
      const double *old = from + (*at[side] - u->messages);
      *at[side] = l == first ? u->messages + u->n_messages : side ? first->to_j : first->to_i;
      if (l != first) continue;
      memcpy(*at[side], old, (size_t)n[side] * sizeof *old);
      u->n_messages += n[side];
    }
  }
  memcpy(u->best.messages, u->messages, (size_t)u->n_messages * sizeof *u->messages);
  return SW_OK;
}

/* Passes see the first variables; their uses stand for those of the others. */
static sw_rc see_first(sel_dual *u, sw_diag *d) {
  const sel_core *c = u->c;
  SW_ARENA_NEW_EACH(&u->mem, c->n_uses, d, u->classes.rep_use, u->classes.rate);
  u->classes.n = 0;
  for (int32_t i = 0; i < c->n; i++) {
    if (u->classes.same.rep[i] == i) u->classes.seen[u->classes.n++] = i;
    for (int32_t k = c->first_use[i]; k < c->first_use[i + 1]; k++)
      u->classes.rep_use[k] = c->first_use[u->classes.same.rep[i]] + k - c->first_use[i];
  }
  return SW_OK;
}

static void see_all(sel_dual *u) {
  for (u->classes.n = 0; u->classes.n < u->c->n; u->classes.n++) u->classes.seen[u->classes.n] = u->classes.n;
}

sw_rc sel_dual_merge_classes(sel_dual *u, int rounds, sel_apart *was, sw_diag *d) {
  *was = (sel_apart){
      .offset = u->offset, .n_flat = u->n_flat, .n_messages = u->n_messages, .passes = u->pass.n, .mean = u->pass.mean};
  SW_TRY(sel_symmetry_find(u->c, rounds, &u->mem, &u->classes.same, d));
  const int32_t classes = u->classes.same.n_classes;
  if (classes == 0 || classes > u->c->n / (int32_t)u->by->class_members) return SW_OK;
  was->classes = classes;
  u->best.bound = -INFINITY;
  SW_TRY(pack_variables(u, was, d));
  SW_TRY(pack_messages(u, was, d));
  SW_TRY(see_first(u, d));
  u->classes.on = true;
  return SW_OK;
}

/* The averaged marginals of those for whom others stood have faded with every pass. */
static void unpack_means(sel_dual *u, const sel_apart *was) {
  const double faded = pow(1 - u->stride.mix, (double)(u->pass.n - was->passes));
  for (int32_t i = 0; i < u->c->n; i++) {
    double *to = was->mean + was->offset[i];
    int32_t n = flat_of(was, i);
    if (u->classes.same.rep[i] == i) memcpy(to, u->pass.mean + u->offset[i], (size_t)n * sizeof *to);
    for (int32_t s = 0; u->classes.same.rep[i] != i && s < n; s++) to[s] *= faded;
  }
  u->pass.mean = was->mean;
}

/* Each link has its own messages again: those of its class. */
sw_rc sel_dual_split_classes(sel_dual *u, const sel_apart *was, sw_diag *d) {
  double *from = sw_arena_copy(&u->mem, u->messages, (size_t)u->n_messages, sizeof *from, d);
  int64_t *at;
  if (!from) return SW_E_RESOURCE;
  SW_ARENA_NEW(at, &u->mem, u->c->n_pairs, d);
  for (int32_t e = 0; e < u->c->n_pairs; e++) at[e] = u->links[e].to_i - u->messages; /* to_j lies behind it */
  unpack_means(u, was);
  u->classes.on = false;
  see_all(u);
  u->offset = was->offset;
  u->n_flat = was->n_flat;
  u->n_messages = was->n_messages;
  sel_dual_place_messages(u);
  for (int32_t e = 0; e < u->c->n_pairs; e++) {
    const sel_link *l = &u->links[e];
    int32_t n = flat_of(was, l->i);
    memcpy(l->to_i, from + at[e], (size_t)n * sizeof *from);
    memcpy(l->to_j, from + at[e] + n, (size_t)flat_of(was, l->j) * sizeof *from);
  }
  u->stride.stale = 0;
  u->best.bound = -INFINITY;
  return SW_OK;
}

sw_rc sel_dual_ascend_by_class(sel_dual *u, double target, sel_settled end, sel_budget *b, int64_t *passes,
                               sw_diag *d) {
  const double first_factor = u->stride.factor;
  const int64_t cells = 2 * u->cells + u->n_flat;
  sel_apart was;
  *passes = 0;
  SW_TRY(sel_dual_merge_classes(u, (int)u->by->class_steps, &was, d));
  if (was.classes == 0) return SW_OK;
  int64_t work = cells / (u->c->n / was.classes) + u->c->n_uses;
  double before = 0;
  for (int quiet = 0; quiet < end.quiet && *passes < end.most && u->best.bound < end.enough && !sel_stop(b);
       ++*passes) {
    if (u->best.bound >= target) target = u->by->goal_first * u->best.bound;
    sel_dual_pass(u, target);
    sel_spend(b, work);
    quiet = u->best.bound > before + end.gain * fabs(before) ? 0 : quiet + 1;
    if (quiet == 0) before = u->best.bound;
  }
  sel_dual_rewind(u);
  SW_TRY(sel_dual_split_classes(u, &was, d));
  u->stride.factor = u->by->dual_step_again * first_factor;
  return SW_OK;
}
