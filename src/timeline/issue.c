/* From when on collectives may start (timeline.h). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "shardwright/timeline.h"

/* So many entries ahead at most, as compilers look at no more, and so that time is linear. */
enum { MOST_AHEAD = 4096 };

/* The first says where weights are gathered, the second where what scales them is. */
enum { PASSES = 2 };

typedef struct due {
  double by_s; /* when it is to have ended */
  int32_t id;
} due;

typedef struct issuing {
  sw_timeline_entry *e;
  int32_t n;
  int64_t *room;
  int32_t *was;   /* by entry: where it was */
  double *clock;  /* by entry, and behind the last: what kernels before it take, one after the other */
  int32_t *ready; /* by collective: the first entry behind what it waits for */
  int32_t *by;    /* by collective: the entry that it is to have ended for: `need`, or where what waits for it goes */
  due *dues;      /* those of one stream */
} issuing;

static bool takes_work(const sw_timeline_entry *e) { return e->streams >> SW_STREAM_WORK & 1; }

static void find_clock(issuing *k) {
  for (int32_t i = 0; i < k->n; i++) k->clock[i + 1] = k->clock[i] + (takes_work(&k->e[i]) ? k->e[i].seconds : 0);
}

static void put_behind(int32_t *at, int32_t to) { *at = *at > to ? *at : to; }

/* Collectives may wait for those that stand behind them only where these are needed earlier: none is listed so. What
 * feeds one goes where it is issued, and waits there. */
static void find_ready(issuing *k) {
  for (int32_t i = 0; i < k->n; i++) {
    const sw_timeline_entry *e = &k->e[i];
    const int32_t of = takes_work(e) ? e->feeds : i;
    for (int32_t w = 0; w < e->n_waits && of >= 0; w++) {
      const int32_t id = e->waits[w];
      if (!takes_work(&k->e[id])) put_behind(&k->ready[of], k->ready[id]);
      if (of == i && takes_work(&k->e[id]) && k->e[id].feeds != i) put_behind(&k->ready[i], id + 1);
    }
  }
}

static int by_latest(const void *a, const void *b) {
  const due *x = a, *y = b;
  if (x->by_s != y->by_s) return x->by_s > y->by_s ? -1 : 1;
  return (x->id < y->id) - (x->id > y->id);
}

/* The first entry that a kernel runs at, at the earliest at that time. */
static int32_t entry_at(const issuing *k, double at_s, int32_t first, int32_t last) {
  while (first < last) {
    const int32_t middle = first + (last - first + 1) / 2;
    if (k->clock[middle] <= at_s)
      first = middle;
    else
      last = middle - 1;
  }
  return first;
}

/* Before which entry it goes; itself: it stays. */
static int32_t goes_to(const issuing *k, int32_t i) {
  const int32_t feeds = k->e[i].feeds, follows = k->e[i].follows;
  if (feeds >= 0 && k->e[feeds].from < i) return k->e[feeds].from;
  return follows >= 0 && k->e[follows].need > i ? k->e[follows].need : i;
}

/* What waits for collectives and feeds another goes where that is issued. */
static void find_by(issuing *k) {
  for (int32_t i = k->n - 1; i >= 0; i--) {
    const sw_timeline_entry *e = &k->e[i];
    const int32_t by = takes_work(e) ? goes_to(k, i) : k->by[i];
    for (int32_t w = 0; w < e->n_waits; w++) {
      const int32_t on = e->waits[w];
      if (!takes_work(&k->e[on]) && k->by[on] > by) k->by[on] = by;
    }
  }
}

/* Behind what the entry waits for; a collective is behind its kernels as it is (find_ready). */
static int32_t behind_waits(const issuing *k, int32_t i) {
  const sw_timeline_entry *e = &k->e[i];
  int32_t at = 0;
  for (int32_t w = 0; w < e->n_waits; w++) {
    const int32_t on = e->waits[w], to = goes_to(k, on);
    if (!takes_work(&k->e[on]))
      put_behind(&at, k->e[on].from);
    else if (takes_work(e))
      put_behind(&at, to == on ? on + 1 : to);
  }
  return at;
}

/* What moves goes behind what it works on: no collective is issued before what it and its kernels wait for is, nor
 * before kernels that stay. */
static void order_fed(issuing *k) {
  bool moved = true;
  while (moved) {
    moved = false;
    for (int32_t i = 0; i < k->n; i++) {
      const int32_t of = takes_work(&k->e[i]) ? k->e[i].feeds : i;
      if (of < 0 || !k->e[of].early) continue;
      const int32_t was = k->e[of].from;
      put_behind(&k->e[of].from, behind_waits(k, i));
      if (of != i && goes_to(k, i) == i) put_behind(&k->e[of].from, i + 1);
      moved = moved || k->e[of].from > was;
    }
  }
}

/* Backwards along the stream: each is to have ended when it is needed, and when the next one is to start. As streams do
 * other things, too, it is issued twice as long before it is needed. */
static void issue_on(issuing *k, int stream) {
  int32_t n = 0;
  for (int32_t i = 0; i < k->n; i++) {
    const sw_timeline_entry *e = &k->e[i];
    if (takes_work(e) || !(e->streams >> stream & 1)) continue;
    const double need_s = k->clock[k->by[i]] - e->rest_s;
    k->dues[n++] = (due){e->early ? need_s : fmin(k->clock[k->ready[i]] + e->seconds, need_s), i};
  }
  qsort(k->dues, (size_t)n, sizeof *k->dues, by_latest);
  double next_s = HUGE_VAL;
  for (int32_t i = 0; i < n; i++) {
    const int32_t id = k->dues[i].id, by = k->by[id], least = by - MOST_AHEAD, first = k->ready[id];
    sw_timeline_entry *e = &k->e[id];
    next_s = fmin(k->dues[i].by_s, next_s) - e->seconds;
    const double twice_s = next_s - (k->clock[by] - next_s);
    e->from = e->early ? entry_at(k, twice_s, first > least ? first : least, by) : first;
  }
}

static int by_start(const void *a, const void *b) { return -by_latest(a, b); }

/* Behind the list: that behind its last one. */
static int32_t step_at(const issuing *k, int32_t i) { return i < k->n ? k->e[i].step : k->e[k->n - 1].step + 1; }

/* Later, where the steps up to its own have no room for it. */
static void fit_early(issuing *k, int32_t id) {
  sw_timeline_entry *e = &k->e[id];
  const int32_t last = e->step;
  int32_t first = last;
  while (first > step_at(k, e->from) && k->room[first - 1] >= e->early_bytes) first--;
  while (e->from < e->need && step_at(k, e->from) < first) e->from++;
  e->held = step_at(k, e->from);
  for (int32_t t = e->held; t < last; t++) k->room[t] -= e->early_bytes;
}

/* The first kernel there that stays where it is. */
static int32_t kernel_from(const issuing *k, int32_t i) {
  while (i < k->n && (!takes_work(&k->e[i]) || k->e[i].feeds >= 0 || k->e[i].follows >= 0)) i++;
  return i;
}

/* The first kernel that waits for it is the one that begins then, or earlier where the steps up to it have no room. */
static void fit_late(issuing *k, int32_t id, double at_s) {
  sw_timeline_entry *e = &k->e[id];
  int32_t i = kernel_from(k, e->from), held = e->held;
  e->need = kernel_from(k, e->need);
  while (i < k->n && k->e[i].step <= e->held) i = kernel_from(k, i + 1);
  if (i >= e->need) return;
  const int32_t most = e->need - i < MOST_AHEAD ? e->need : i + MOST_AHEAD;
  while (i < most && k->clock[i] < at_s) {
    const int32_t next = kernel_from(k, i + 1);
    int32_t step = held;
    while (step + 1 < step_at(k, next) && k->room[step + 1] >= e->late_bytes) step++;
    if (step + 1 < step_at(k, next)) break;
    held = step;
    i = next;
  }
  for (int32_t step = e->held + 1; step <= held; step++) k->room[step] -= e->late_bytes;
  e->held = held;
  e->need = i;
}

/* Forwards along the stream: each may end so late as it does behind what starts before it. */
static void let_wait(issuing *k, int stream) {
  int32_t n = 0;
  double ended_s = 0;
  for (int32_t i = 0; i < k->n; i++) {
    const sw_timeline_entry *e = &k->e[i];
    if (!takes_work(e) && e->streams >> stream & 1) k->dues[n++] = (due){k->clock[e->from], i};
  }
  qsort(k->dues, (size_t)n, sizeof *k->dues, by_start);
  for (int32_t i = 0; i < n; i++) {
    const sw_timeline_entry *e = &k->e[k->dues[i].id];
    ended_s = fmax(ended_s, k->dues[i].by_s) + e->seconds;
    if (e->late_bytes) fit_late(k, k->dues[i].id, ended_s + (ended_s - k->dues[i].by_s));
  }
}

/* --- what feeds them ---------------------------------------------------------------------------------------------- */

typedef struct moving {
  int32_t *first, *next; /* by entry: those that go before it; the rest of such a list; -1: the end */
  int32_t *is_at;        /* by entry: where it goes, */
  int32_t *opens_at;     /* and where what goes before it begins */
  sw_timeline_entry *before;
} moving;

static void place_moved(const issuing *k, const moving *m) {
  int32_t n = 0;
  for (int32_t i = 0; i <= k->n; i++) {
    m->opens_at[i] = n;
    for (int32_t f = m->first[i]; f >= 0; f = m->next[f]) k->was[n] = f, m->is_at[f] = n++;
    if (i < k->n && goes_to(k, i) != i) continue;
    if (i < k->n) k->was[n] = i;
    m->is_at[i] = n++;
  }
}

static sw_rc move_feeding(issuing *k, sw_arena *mem, sw_diag *d) {
  moving m;
  SW_ARENA_NEW_EACH(mem, k->n + 1, d, m.first, m.next, m.is_at, m.opens_at);
  if (!(m.before = sw_arena_copy(mem, k->e, (size_t)k->n, sizeof *m.before, d))) return SW_E_RESOURCE;
  memset(m.first, -1, (size_t)(k->n + 1) * sizeof *m.first);
  for (int32_t i = k->n - 1; i >= 0; i--) {
    const int32_t to = goes_to(k, i);
    if (to == i) continue;
    m.next[i] = m.first[to];
    m.first[to] = i;
  }
  place_moved(k, &m);
  for (int32_t i = 0; i < k->n; i++) {
    sw_timeline_entry *e = &k->e[i];
    *e = m.before[k->was[i]];
    if (e->feeds >= 0) e->feeds = m.is_at[e->feeds];
    if (e->follows >= 0) e->follows = m.is_at[e->follows];
    if (!takes_work(e)) e->need = m.is_at[e->need], e->from = m.opens_at[e->from];
    for (int32_t w = 0; w < e->n_waits; w++) e->waits[w] = m.is_at[e->waits[w]];
  }
  for (int32_t i = k->n - 1; i >= 0; i--) /* what moved is the first that needs what it waits for */
    for (int32_t w = 0; w < k->e[i].n_waits && takes_work(&k->e[i]); w++) {
      sw_timeline_entry *on = &k->e[k->e[i].waits[w]];
      if (!takes_work(on) && on->need > i) on->need = i;
    }
  return SW_OK;
}

static sw_rc issue_all(issuing *k, sw_arena *mem, sw_diag *d) {
  SW_ARENA_NEW_EACH(mem, k->n + 1, d, k->clock, k->ready, k->dues);
  find_clock(k);
  find_ready(k);
  SW_ARENA_NEW(k->by, mem, k->n + 1, d);
  for (int32_t i = 0; i < k->n; i++) k->by[i] = k->e[i].need;
  for (int pass = 0; pass < PASSES; pass++) {
    for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) issue_on(k, s);
    find_by(k);
  }
  for (int32_t i = 0; i < k->n; i++)
    if (!takes_work(&k->e[i]) && k->e[i].early_bytes) fit_early(k, i);
  order_fed(k);
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) let_wait(k, s);
  for (int32_t i = k->n - 1; i >= 0; i--) /* what it waits for is needed as soon as it is */
    for (int32_t w = 0; w < k->e[i].n_waits && !takes_work(&k->e[i]); w++) {
      sw_timeline_entry *on = &k->e[k->e[i].waits[w]];
      on->need = on->need < k->e[i].need ? on->need : k->e[i].need;
      on->from = on->from < on->need ? on->from : on->need;
    }
  return move_feeding(k, mem, d);
}

sw_rc sw_timeline_issue(sw_timeline_entry *entries, int32_t n, int64_t *room, int32_t *order, sw_diag *d) {
  sw_arena mem = {0};
  issuing k = {.e = entries, .n = n, .room = room, .was = order};
  const sw_rc rc = n ? issue_all(&k, &mem, d) : SW_OK;
  sw_arena_deinit(&mem);
  return rc;
}
