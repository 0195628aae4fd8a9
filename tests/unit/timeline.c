/* Timelines.
 *
 *   - times of random lists, beside a simulation by other means, which looks at all entries at each end of one;
 *   - where lists are issued, nothing is held that there is no room for, and nothing takes longer than one by one;
 *   - plans at random of small models: the timeline is no longer than the sum, no shorter than any stream, each entry
 *     starts behind what it works on, and without overlap nothing is as it was not.
 */
#include <math.h>

#include "check.h"

#include "shardwright/plan.h"
#include "shardwright/profile.h"
#include "support/building.h"
#include "support/meshes.h"
#include "support/random_plan.h"

enum { MOST = 14, STREAMS = SW_MAX_STREAMS };
#define BIT(s) ((uint8_t)(1u << (s)))
#define KERNEL BIT(SW_STREAM_WORK)

typedef struct listing {
  int32_t n;
  sw_timeline_entry e[MOST];
  int32_t waits[MOST][MOST];
} listing;

static bool works(const listing *l, int32_t i) { return l->e[i].streams & KERNEL; }

/* --- the simulation ------------------------------------------------------------------------------------------------
 */

typedef struct simulation {
  const listing *l;
  double slowed, now, left;
  double start[MOST], end[MOST]; /* infinite: not yet */
} simulation;

static bool has_ended(const simulation *s, int32_t i) { return s->end[i] <= s->now; }
static bool has_started(const simulation *s, int32_t i) { return s->start[i] <= s->now; }

static int32_t head_of(const simulation *s) {
  int32_t i = 0;
  while (i < s->l->n && (!works(s->l, i) || has_ended(s, i))) i++;
  return i;
}

/* When the host has launched a kernel, those before it having ended. */
static double launched_at(const simulation *s, int32_t id) {
  double at = 0;
  for (int32_t i = 0; i <= id; i++) {
    if (!works(s->l, i)) continue;
    at += s->l->e[i].launch_s;
    if (i < id && s->l->e[i].streams & BIT(SW_STREAM_HOST)) at = s->end[i];
  }
  return at;
}

static bool waits_are_over(const simulation *s, int32_t id) {
  bool over = true;
  for (int k = 0; k < s->l->e[id].n_waits; k++) over = over && has_ended(s, s->l->e[id].waits[k]);
  for (int32_t c = 0; c < s->l->n && works(s->l, id); c++)
    over = over && (works(s->l, c) || s->l->e[c].need != id || has_ended(s, c));
  return over;
}

static bool is_taken(const simulation *s, int stream) {
  bool taken = false;
  for (int32_t i = 0; i < s->l->n; i++)
    taken = taken || (s->l->e[i].streams >> stream & 1 && has_started(s, i) && !has_ended(s, i));
  return taken;
}

static bool head_is_due(const simulation *s) {
  const int32_t h = head_of(s);
  return h < s->l->n && !has_started(s, h) && waits_are_over(s, h) && launched_at(s, h) <= s->now;
}

/* What starts now; -1: nothing. */
static int32_t next_start(const simulation *s) {
  const int32_t h = head_of(s);
  bool free = head_is_due(s);
  for (int k = SW_STREAM_LEVEL; k < STREAMS && free; k++) free = !(s->l->e[h].streams >> k & 1 && is_taken(s, k));
  if (free) return h;
  for (int k = SW_STREAM_LEVEL; k < STREAMS; k++) {
    int32_t best = -1;
    if (is_taken(s, k) || (head_is_due(s) && s->l->e[h].streams >> k & 1)) continue;
    for (int32_t i = 0; i < s->l->n; i++) {
      const sw_timeline_entry *e = &s->l->e[i];
      if (works(s->l, i) || !(e->streams >> k & 1) || has_started(s, i) || e->from > h || !waits_are_over(s, i))
        continue;
      if (best < 0 || e->need < s->l->e[best].need) best = i;
    }
    if (best >= 0) return best;
  }
  return -1;
}

static bool runs_beside(const simulation *s) {
  bool any = false;
  for (int32_t i = 0; i < s->l->n; i++)
    any = any ||
          (!works(s->l, i) && s->l->e[i].streams < BIT(SW_STREAM_TO_HOST) && has_started(s, i) && !has_ended(s, i));
  return any;
}

static void simulate(simulation *s) {
  for (int32_t i = 0; i < s->l->n; i++) s->start[i] = s->end[i] = HUGE_VAL;
  s->now = 0;
  for (;;) {
    const int32_t id = next_start(s);
    if (id >= 0) {
      s->start[id] = s->now;
      if (works(s->l, id)) s->left = s->l->e[id].seconds;
      if (!works(s->l, id) || s->l->e[id].seconds <= 0) s->end[id] = s->now + s->l->e[id].seconds;
      continue;
    }
    const int32_t h = head_of(s);
    const double rate = runs_beside(s) ? s->slowed : 1;
    double next = HUGE_VAL;
    for (int32_t i = 0; i < s->l->n; i++)
      if (has_started(s, i) && !has_ended(s, i)) next = fmin(next, s->end[i]);
    if (h < s->l->n && has_started(s, h)) next = fmin(next, s->now + rate * s->left);
    if (h < s->l->n && !has_started(s, h) && waits_are_over(s, h) && launched_at(s, h) > s->now)
      next = fmin(next, launched_at(s, h));
    if (!isfinite(next)) return;
    if (h < s->l->n && has_started(s, h)) {
      if (s->now + rate * s->left <= next) s->end[h] = next;
      s->left -= (next - s->now) / rate;
    }
    s->now = next;
  }
}

/* --- random lists --------------------------------------------------------------------------------------------------
 */

static void wait_for(listing *l, int32_t id, int32_t on) {
  sw_timeline_entry *e = &l->e[id];
  for (int k = 0; k < e->n_waits; k++)
    if (l->waits[id][k] == on) return;
  l->waits[id][e->n_waits++] = on;
  e->waits = l->waits[id];
}

/* A level's, another's, or that to the host. */
static uint8_t any_link(sw_rng *r) {
  static const int kStreams[] = {SW_STREAM_LEVEL, SW_STREAM_LEVEL + 1, SW_STREAM_TO_HOST};
  return BIT(kStreams[sw_rng_below(r, 3)]);
}

/* Collectives wait for what is before them; kernels for collectives that are needed by then. */
static void random_list(sw_rng *r, listing *l) {
  *l = (listing){.n = 1 + (int32_t)sw_rng_below(r, MOST)};
  for (int32_t i = 0; i < l->n; i++) {
    const bool kernel = sw_rng_below(r, 2);
    l->e[i] = (sw_timeline_entry){.streams = kernel ? KERNEL : any_link(r),
                                  .seconds = (double)sw_rng_below(r, 6),
                                  .launch_s = kernel ? (double)sw_rng_below(r, 3) : 0,
                                  .step = i,
                                  .need = l->n,
                                  .feeds = -1,
                                  .follows = -1};
    if (kernel && sw_rng_below(r, 8) == 0) l->e[i].streams |= BIT(SW_STREAM_LEVEL + sw_rng_below(r, 2));
    if (kernel && sw_rng_below(r, 8) == 0) l->e[i].streams |= BIT(SW_STREAM_HOST);
    for (int32_t k = 0; k < i && !kernel; k++)
      if (sw_rng_below(r, 4) == 0) wait_for(l, i, k);
  }
  for (int32_t i = l->n - 1; i >= 0; i--) {
    sw_timeline_entry *e = &l->e[i];
    if (works(l, i)) continue;
    for (int32_t k = i + 1; k < e->need; k++)
      if (works(l, k) && sw_rng_below(r, 3) == 0) e->need = k;
    for (int k = 0; k < e->n_waits; k++) {
      sw_timeline_entry *on = &l->e[e->waits[k]];
      if (!works(l, e->waits[k]) && e->need < on->need) on->need = e->need;
    }
  }
  for (int32_t i = 0; i < l->n; i++) {
    sw_timeline_entry *e = &l->e[i];
    for (int32_t c = 0; c < l->n && works(l, i); c++)
      if (!works(l, c) && l->e[c].need <= i && sw_rng_below(r, 3) == 0) wait_for(l, i, c);
    if (!works(l, i)) e->from = (int32_t)sw_rng_below(r, e->need + 1);
  }
}

static double one_by_one(const listing *l) {
  double all = 0;
  for (int32_t i = 0; i < l->n; i++) all += l->e[i].seconds + l->e[i].launch_s;
  return all;
}

static void judge_sums(const listing *l, const sw_timeline_sums *sums, double slowed) {
  double stream[STREAMS] = {0};
  for (int32_t i = 0; i < l->n; i++) {
    stream[SW_STREAM_HOST] += l->e[i].launch_s;
    for (int s = SW_STREAM_WORK; s < STREAMS; s++)
      if (l->e[i].streams >> s & 1) stream[s] += l->e[i].seconds;
  }
  for (int s = 0; s < STREAMS; s++) assert_true(sums->total_s >= stream[s]);
  for (int s = SW_STREAM_LEVEL; s < SW_STREAM_TO_HOST;
       s++) { /* a kernel beside a collective is slower by that much at least */
    double exchanged = 0;
    for (int32_t i = 0; i < l->n; i++) exchanged += !works(l, i) && l->e[i].streams >> s & 1 ? l->e[i].seconds : 0;
    assert_true(sums->total_s >= stream[SW_STREAM_WORK] + (1 - 1 / slowed) * exchanged);
  }
  assert_true(sums->total_s <= one_by_one(l));
  assert_true(sums->total_s == sums->work_s + sums->slowed_s + sums->exposed_s + sums->waited_s);
}

static void as_simulated(void **state) {
  (void)state;
  const int n = check_scale(40000);
  int hidden = 0, slower = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(1));
  for (int k = 0; k < n; k++) {
    listing l;
    sw_timeline_slot slots[MOST];
    sw_timeline_sums sums;
    random_list(&r, &l);
    simulation s = {.l = &l, .slowed = 1 + (double)(k % 2)};
    simulate(&s);
    assert_ok(sw_timeline_lay(l.e, l.n, s.slowed, slots, &sums, &diag));
    for (int32_t i = 0; i < l.n; i++)
      if (slots[i].start_s != s.start[i] || slots[i].end_s != s.end[i])
        fail_msg("list %d, entry %d: %g to %g, simulated %g to %g", k, (int)i, slots[i].start_s, slots[i].end_s,
                 s.start[i], s.end[i]);
    assert_true(sums.total_s == s.now);
    judge_sums(&l, &sums, s.slowed);
    hidden += sums.total_s < one_by_one(&l);
    slower += sums.slowed_s > 0;
  }
  assert_true(hidden > n / 2 && slower > n / 10);
}

/* Kernels, and a weight gathered or a gradient reduced for every fourth. */
static double seconds_of_list(int32_t n) {
  sw_arena arena = {0};
  sw_timeline_entry *e = sw_arena_alloc(&arena, (size_t)n, sizeof *e, &diag);
  sw_timeline_slot *slots = sw_arena_alloc(&arena, (size_t)n, sizeof *slots, &diag);
  int32_t *order = sw_arena_alloc(&arena, (size_t)n, sizeof *order, &diag),
          *waits = sw_arena_alloc(&arena, (size_t)n, sizeof *waits, &diag);
  int64_t *room = sw_arena_alloc(&arena, (size_t)n, sizeof *room, &diag);
  sw_timeline_sums sums;
  assert_true(e && slots && order && waits && room);
  for (int32_t i = 0; i < n; i++) {
    const bool kernel = i % 4 || i == 0, early = i % 8 == 0;
    waits[i] = i - 1;
    room[i] = 1000;
    e[i] = (sw_timeline_entry){.streams = kernel ? KERNEL : BIT(SW_STREAM_LEVEL + i / 4 % 2),
                               .seconds = kernel ? 1 : 2.5,
                               .launch_s = kernel ? 0.5 : 0,
                               .step = i,
                               .n_waits = !kernel && !early,
                               .waits = &waits[i],
                               .need = early ? i + 1 < n ? i + 1 : n : n,
                               .early = !kernel && early,
                               .early_bytes = early,
                               .late_bytes = !kernel && !early,
                               .held = i,
                               .feeds = -1,
                               .follows = -1};
  }
  const double before_s = check_cpu_s();
  assert_ok(sw_timeline_issue(e, n, room, order, &diag));
  assert_ok(sw_timeline_lay(e, n, 1.2, slots, &sums, &diag));
  const double took_s = check_cpu_s() - before_s;
  sw_arena_deinit(&arena);
  return took_s;
}

static void of_100000_entries(void **state) {
  (void)state;
  const double small_s = seconds_of_list(25000), large_s = seconds_of_list(100000);
  print_message("100000 entries in %.3f s\n", large_s);
  check_grows_linearly(small_s, large_s);
  assert_true(large_s < 1);
}

/* --- issued lists --------------------------------------------------------------------------------------------------
 */

/* A kernel that waits for nothing, and for which nothing waits yet. */
static bool is_by_itself(const listing *l, int32_t k) {
  bool alone = works(l, k) && !l->e[k].n_waits && l->e[k].feeds < 0 && l->e[k].follows < 0;
  for (int32_t c = 0; c < l->n; c++) alone = alone && (works(l, c) || l->e[c].need != k);
  for (int32_t c = 0; c < l->n; c++)
    for (int w = 0; w < l->e[c].n_waits; w++) alone = alone && l->waits[c][w] != k;
  return alone;
}

/* What it waits for is needed as early as it is. */
static void need_at(listing *l, int32_t c, int32_t need) {
  sw_timeline_entry *e = &l->e[c];
  if (works(l, c) || e->need <= need) return;
  e->need = need;
  for (int k = 0; k < e->n_waits; k++) need_at(l, e->waits[k], need);
}

/* Collectives that hold something early or late, and kernels that feed or follow them, some behind other collectives,
 * or behind kernels that feed others. */
static void make_issued(sw_rng *r, listing *l) {
  for (int32_t i = 0; i < l->n; i++) {
    sw_timeline_entry *e = &l->e[i];
    e->from = 0;
    if (works(l, i)) continue;
    e->early = sw_rng_below(r, 2);
    e->held = i;
    if (e->early) e->early_bytes = sw_rng_below(r, 4);
    if (!e->early) e->late_bytes = sw_rng_below(r, 4);
    for (int32_t k = 0; k < i && e->early; k++)
      if (is_by_itself(l, k) && sw_rng_below(r, 3) == 0) {
        l->e[k].feeds = i;
        wait_for(l, i, k);
        for (int32_t c = 0; c < k; c++)
          if (!works(l, c) && l->e[c].early && sw_rng_below(r, 3) == 0) {
            wait_for(l, k, c);
            need_at(l, c, k);
          }
        for (int32_t c = 0; c < k; c++)
          if (works(l, c) && l->e[c].feeds >= 0 && l->e[c].feeds != i && sw_rng_below(r, 3) == 0) wait_for(l, k, c);
      }
    for (int32_t k = i + 1; k < e->need && e->late_bytes; k++)
      if (is_by_itself(l, k) && sw_rng_below(r, 3) == 0) {
        l->e[k].follows = i;
        wait_for(l, k, i);
      }
  }
}

static void judge_room(const listing *l, const int64_t *room) {
  int64_t held[MOST] = {0};
  for (int32_t i = 0; i < l->n; i++) {
    const sw_timeline_entry *e = &l->e[i];
    if (works(l, i)) continue;
    for (int32_t t = e->held; t < e->step && e->early; t++) held[t] += e->early_bytes;
    for (int32_t t = e->step + 1; t <= e->held && !e->early; t++) held[t] += e->late_bytes;
    for (int32_t k = 0; k < l->n; k++) { /* no kernel runs outside of what is held, but those that it goes with */
      if (!works(l, k) || l->e[k].follows >= 0 || l->e[k].feeds >= 0) continue;
      if (k >= e->from && k < e->need && e->early_bytes) assert_true(l->e[k].step >= e->held);
      if (k < e->need && e->late_bytes) assert_true(l->e[k].step <= e->held);
    }
  }
  for (int32_t t = 0; t < MOST; t++) assert_true(held[t] <= (room[t] > 0 ? room[t] : 0) || held[t] == 0);
}

static void issued_with_room(void **state) {
  (void)state;
  const int n = check_scale(40000);
  int moved = 0;
  double issued_s = 0, late_s = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(2));
  for (int k = 0; k < n; k++) {
    listing l;
    int64_t room[MOST], left[MOST];
    int32_t order[MOST];
    bool seen[MOST] = {false};
    sw_timeline_slot slots[MOST];
    sw_timeline_sums sums;
    random_list(&r, &l);
    make_issued(&r, &l);
    for (int t = 0; t < MOST; t++) left[t] = room[t] = sw_rng_below(&r, 6) - 1;
    assert_ok(sw_timeline_issue(l.e, l.n, left, order, &diag));
    for (int32_t i = 0; i < l.n; i++) {
      assert_false(seen[order[i]]);
      seen[order[i]] = true;
      moved += order[i] != i;
      if (!works(&l, i)) assert_in_range(l.e[i].from, 0, l.e[i].need);
      for (int w = 0; w < l.e[i].n_waits; w++)
        if (works(&l, i) && works(&l, l.e[i].waits[w])) assert_true(l.e[i].waits[w] < i);
    }
    judge_room(&l, room);
    assert_ok(sw_timeline_lay(l.e, l.n, 2, slots, &sums, &diag));
    judge_sums(&l, &sums, 2);
    issued_s += sums.total_s;
    late_s += one_by_one(&l);
  }
  print_message("%d entries moved; %.1f %% of the time one by one\n", moved, 100 * issued_s / late_s);
  assert_true(moved > n / 50 && issued_s < 0.9 * late_s);
}

/* --- plans ---------------------------------------------------------------------------------------------------------
 */

static const sw_timed *entry_of_op(const sw_timeline *t, sw_id op) {
  for (int32_t i = 0; i < t->n; i++)
    if (t->at[i].reshard < 0 && t->at[i].op == op) return &t->at[i];
  fail_msg("op %d has no entry", (int)op);
  return NULL;
}

/* The end of what the use takes: the last hop of a reshard for it, else what its maker ends. */
static double there_at(const sw_plan *p, const sw_breakdown *a, sw_value_use use) {
  const sw_graph *g = p->job.graph;
  const sw_id value = g->ops[use.op].operands[use.index], def = g->values[value].def;
  double end = def < 0 ? 0 : entry_of_op(a->timeline, def)->end_s;
  for (int32_t i = 0; i < a->timeline->n; i++) {
    const sw_timed *e = &a->timeline->at[i];
    const sw_plan_reshard *of = e->reshard < 0 ? NULL : &a->reshards[e->reshard];
    for (int32_t u = 0; of && u < of->n_uses; u++)
      if (of->uses[u].op == use.op && of->uses[u].index == use.index) end = fmax(end, e->end_s);
  }
  return end;
}

static void judge_order(const sw_plan *p, const sw_breakdown *a) {
  const double kRounding = 1e-12;
  const sw_graph *g = p->job.graph;
  for (sw_id i = 0; i < g->n_ops; i++) {
    const sw_timed *e = entry_of_op(a->timeline, i);
    for (int k = 0; k < g->ops[i].n_operands; k++) {
      const sw_id def = g->values[g->ops[i].operands[k]].def;
      if (!sw_strategy_takes(&p->ops[i], k) || (def >= 0 && g->ops[def].frame != g->ops[i].frame)) continue;
      if (e->start_s + kRounding < there_at(p, a, (sw_value_use){i, k}))
        fail_msg("%s starts at %g s, and its operand %d is there at %g s", g->ops[i].name, e->start_s, k,
                 there_at(p, a, (sw_value_use){i, k}));
    }
  }
}

static void judge_plan(sw_plan *p, sw_arena *arena, double *shorter) {
  const double kRounding = 1e-9;
  sw_breakdown sum, a;
  p->job.overlap = SW_OVERLAP_NONE;
  assert_ok(sw_plan_breakdown(p, arena, &sum, &diag));
  assert_null(sum.timeline);
  assert_true(sum.total_s == sum.sum_s);
  p->job.overlap = SW_OVERLAP_COMPILER;
  assert_ok(sw_plan_breakdown(p, arena, &a, &diag));
  assert_true(a.sum_s == sum.sum_s && a.total_s == a.timeline->sums.total_s);
  if (a.total_s > a.sum_s * (1 + kRounding)) fail_msg("%g s, and %g s one by one", a.total_s, a.sum_s);
  const sw_timeline_sums *s = &a.timeline->sums;
  assert_true(fabs(s->work_s + s->slowed_s + s->exposed_s + s->waited_s - a.total_s) <= kRounding * a.total_s);
  double busy = a.timeline->launches_s;
  for (int k = SW_STREAM_WORK; k < STREAMS; k++) busy += a.timeline->busy_s[k];
  assert_true(s->exposed_s <= (busy - a.timeline->launches_s - a.timeline->busy_s[SW_STREAM_WORK]) * (1 + kRounding));
  assert_true(busy - s->slowed_s <= a.sum_s * (1 + kRounding) && busy >= a.sum_s * (1 - kRounding));
  for (int k = SW_STREAM_WORK; k < STREAMS; k++) assert_true(a.timeline->busy_s[k] <= a.total_s * (1 + kRounding));
  assert_true(a.timeline->launches_s <= a.total_s * (1 + kRounding));
  const int64_t capacity = sw_profile_memory_bytes(sw_machine_profile(p->job.machine));
  assert_true(a.peak_bytes >= sum.peak_bytes);
  assert_true(a.peak_bytes <= (sum.peak_bytes > capacity ? sum.peak_bytes : capacity));
  judge_order(p, &a);
  *shorter += (a.sum_s - a.total_s) / a.sum_s;
}

static void plans_at_random(void **state) {
  (void)state;
  static const char *const kCompilers[] = {"none", "eager", "xla", "inductor"}, *const kProfiles[] = {"dgx-h100",
                                                                                                      "h100x64"};
  const int n = check_scale(RANDOM_MODELS * 4);
  int made = 0;
  double shorter = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(3));
  for (int i = 0; i < n; i++) {
    sw_arena arena = {0};
    sw_plan plan;
    sw_job job;
    sw_graph *g = small_model(random_models[i % RANDOM_MODELS]);
    sw_machine *m = machine_of(kProfiles[i % 2], random_meshes[sw_rng_below(&r, RANDOM_MESHES)], &arena);
    assert_ok(sw_job_make(kCompilers[sw_rng_below(&r, 4)], g->written, m, &arena, &job, &diag));
    if (!random_plan(&job, &r, &arena, &plan, NULL)) {
      judge_plan(&plan, &arena, &shorter);
      made++;
    }
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("%d plans, shorter by %.1f %% on average\n", made, 100 * shorter / made);
  assert_true(made > n / 2 && shorter > 0);
}

/* --- bounds --------------------------------------------------------------------------------------------------------
 */

static void judge_against(const sw_plan *found, double bound_s, sw_plan *other, sw_arena *arena, int *judged) {
  const double kRounding = 1e-9;
  sw_breakdown a;
  other->job.overlap = SW_OVERLAP_COMPILER;
  assert_ok(sw_plan_breakdown(other, arena, &a, &diag));
  if (a.total_s < bound_s * (1 - kRounding))
    fail_msg("%s: a plan takes %.9g s, and the bound is %.9g s", found->job.graph->name, a.total_s, bound_s);
  ++*judged;
}

/* From a plan that was found: no slower, however short the search. */
static void judge_start(const sw_plan *found, double found_s, const sw_plan_options *o, sw_arena *arena) {
  const double kRounding = 1e-9;
  sw_plan again;
  sw_breakdown a;
  sw_plan_options from = *o;
  from.start = found;
  from.solve.work_limit = 1;
  assert_ok(sw_plan_search(&found->job, &from, arena, &again, &diag));
  assert_ok(sw_plan_breakdown(&again, arena, &a, &diag));
  if (a.total_s > found_s * (1 + kRounding))
    fail_msg("%s: %.9g s, and %.9g s after its start", found->job.graph->name, found_s, a.total_s);
}

/* What is proven of a timeline holds for plans at random and by rule; plans found are no slower than those by rule, or
 * than what they start from. */
static void bounds_hold(void **state) {
  (void)state;
  static const char *const kCompilers[] = {"eager", "xla", "inductor"}, *const kProfiles[] = {"dgx-h100", "h100x64"};
  const int n = check_scale(RANDOM_MODELS);
  int judged = 0, gaps = 0;
  sw_rng r;
  sw_rng_seed(&r, check_seed(4));
  for (int i = 0; i < n; i++) {
    sw_arena arena = {0};
    sw_plan plan, other;
    sw_breakdown a;
    sw_job job;
    const sw_comparison *rules;
    const sw_plan_options o = {.solve = {.work_limit = 20000000, .threads = 1}};
    sw_graph *g = small_model(random_models[i % RANDOM_MODELS]);
    sw_machine *m = machine_of(kProfiles[i % 2], random_meshes[sw_rng_below(&r, RANDOM_MESHES)], &arena);
    assert_ok(sw_job_make(kCompilers[i % 3], g->written, m, &arena, &job, &diag));
    job.overlap = SW_OVERLAP_COMPILER;
    assert_ok(sw_baselines_build(&job, &arena, &rules, &diag));
    sw_plan_options with = o;
    with.baselines = rules;
    assert_ok(sw_plan_search(&job, &with, &arena, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
    assert_non_null(a.timeline);
    assert_true(plan.cost_units == sw_cost_units(m, a.total_s) && plan.bound_units <= plan.cost_units);
    const double bound_s = sw_plan_bound_s(&plan, &a);
    gaps += sw_plan_gap(&plan) < 0.2;
    judge_start(&plan, a.total_s, &with, &arena);
    for (int b = 0; b < SW_BASELINE_COUNT && sw_plan_bound_is_proven(&plan); b++) {
      if (!rules[b].made || rules[b].breaks) continue;
      assert_true(rules[b].breakdown.total_s >= a.total_s || rules[b].breakdown.peak_bytes > plan.capacity_bytes);
      other = rules[b].plan;
      judge_against(&plan, bound_s, &other, &arena, &judged);
    }
    for (int k = 0; k < 6 && sw_plan_bound_is_proven(&plan); k++)
      if (!random_plan(&job, &r, &arena, &other, NULL)) judge_against(&plan, bound_s, &other, &arena, &judged);
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
  print_message("%d searches, %d with a gap below 20 %%; %d plans\n", n, gaps, judged);
  assert_true(gaps > n / 3 && judged > n);
}

/* x w1 -> exp -> w2 -> sum, or two products of one input that meet: of five ops. */
static sw_graph *five_ops(bool meet) {
  const sw_attr contract[] = {INTS(LHS_CONTRACT, 1), INTS(RHS_CONTRACT, 0)},
                over[] = {INTS(DIMS, 0), TEXT(KIND, "sum")};
  sw_graph *g = new_graph();
  const int64_t dims[] = {2048, 2048};
  const sw_id x = arg(g, "x", SW_F32, 2, dims), w1 = arg(g, "w1", SW_F32, 2, dims), w2 = arg(g, "w2", SW_F32, 2, dims);
  const sw_id a = add(g, SW_OP_DOT, 2, (sw_id[]){x, w1}, 2, contract), b = add(g, SW_OP_EXP, 1, &a, 0, NULL);
  const sw_id c = add(g, SW_OP_DOT, 2, (sw_id[]){meet ? x : b, w2}, 2, contract);
  const sw_id e = add(g, meet ? SW_OP_ADD : SW_OP_MAXIMUM, 2, (sw_id[]){meet ? b : c, c}, 0, NULL);
  output(g, "y", add(g, SW_OP_REDUCE, 1, &e, 2, over));
  return seal(g);
}

/* The fastest of all plans that the problem has, or of a part of them; *n: how many there are. */
static double fastest_of_all(const sw_job *j, sw_arena *arena, int *n) {
  const sw_selection_options o = {.enumerate = {.runs = SW_MAX_REFS}, .capacity_bytes = INT64_MAX};
  sw_selection *s;
  int64_t least;
  double best_s = HUGE_VAL;
  assert_ok(sw_selection_build(j, &o, arena, &s, &least, &diag));
  const sw_problem *p = sw_selection_problem(s);
  int32_t *choice = sw_arena_alloc(arena, (size_t)p->n_nodes, sizeof *choice, &diag), at = 0;
  for (int k = 0; at < p->n_nodes; k++) {
    sw_arena mem = {0};
    sw_plan plan;
    sw_breakdown a;
    const bool tried = check_turn(0, k);
    if (tried) assert_ok(sw_plan_build(j, &mem, &plan, &diag));
    if (tried) sw_selection_decode(s, choice, plan.ops, plan.args, plan.outputs);
    if (tried && !sw_plan_verify(&plan, NULL) && !sw_plan_breakdown(&plan, &mem, &a, NULL)) {
      best_s = fmin(best_s, a.total_s);
      ++*n;
    }
    sw_arena_deinit(&mem);
    for (at = 0; at < p->n_nodes && ++choice[at] == p->nodes[at].n_choices; at++) choice[at] = 0;
  }
  sw_selection_deinit(s);
  return best_s;
}

static void all_plans_of_few_ops(void **state) {
  (void)state;
  for (int k = 0; k < 2; k++) {
    sw_arena arena = {0};
    sw_plan plan;
    sw_breakdown a;
    sw_job job;
    int n = 0;
    sw_graph *g = five_ops(k & 1);
    sw_machine *m = machine_of("dgx-h100", "x=2", &arena);
    const sw_plan_options o = {.solve = {.work_limit = 20000000, .threads = 1}};
    assert_ok(sw_job_make("none", g->written, m, &arena, &job, &diag));
    job.overlap = SW_OVERLAP_COMPILER;
    const double best_s = fastest_of_all(&job, &arena, &n);
    assert_ok(sw_plan_search(&job, &o, &arena, &plan, &diag));
    assert_ok(sw_plan_breakdown(&plan, &arena, &a, &diag));
    print_message("%d plans, the fastest %.6g s; found %.6g s, bound %.6g s\n", n, best_s, a.total_s,
                  sw_plan_bound_s(&plan, &a));
    assert_true(sw_plan_bound_is_proven(&plan) && sw_plan_bound_s(&plan, &a) <= best_s * (1 + 1e-9));
    assert_true(a.total_s <= best_s * 1.05 && (a.total_s >= best_s * (1 - 1e-9) || check_factor() < 1));
    sw_graph_destroy(g);
    sw_arena_deinit(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(as_simulated),     cmocka_unit_test(of_100000_entries),
                                     cmocka_unit_test(issued_with_room), cmocka_unit_test(plans_at_random),
                                     cmocka_unit_test(bounds_hold),      cmocka_unit_test(all_plans_of_few_ops)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
