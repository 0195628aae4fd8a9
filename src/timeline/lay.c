/* When the entries of a timeline run (timeline.h): from one end of an entry to the next. */
#include <math.h>

#include "shardwright/timeline.h"

#define WORK_BIT (1u << SW_STREAM_WORK)
#define HOST_BIT (1u << SW_STREAM_HOST)

/* Collectives that could start on a stream, the one that is needed first on top. */
typedef struct heap {
  int32_t n, *at;
} heap;

typedef struct laying {
  const sw_timeline_entry *e;
  int32_t n;
  double slowed;
  sw_timeline_slot *slots;
  sw_timeline_sums *sums;
  int32_t *left;              /* by entry: what it waits for that has not ended */
  int32_t *first_of, *behind; /* by entry: those that wait for it */
  int32_t *gated,
      *next_gated; /* by entry: collectives that it is the first for; the rest of such a list; -1: the end */
  heap ready[SW_MAX_STREAMS];
  int32_t running[SW_MAX_STREAMS]; /* -1: nothing */
  int32_t head;                    /* the kernel that runs or is the next; n: none */
  bool runs;                       /* it does */
  double left_s;                   /* of it, by itself */
  double launched_s;               /* when the host has launched it */
  double now_s;
  int32_t n_done;
} laying;

static bool is_kernel(const sw_timeline_entry *e) { return e->streams & WORK_BIT; }

static int stream_of(const sw_timeline_entry *e) {
  int s = SW_STREAM_LEVEL;
  while (s + 1 < SW_MAX_STREAMS && !(e->streams >> s & 1)) s++;
  return s;
}

/* --- what is ready ------------------------------------------------------------------------------------------------ */

static bool is_sooner(const laying *l, int32_t a, int32_t b) {
  return l->e[a].need != l->e[b].need ? l->e[a].need < l->e[b].need : a < b;
}

static void put_ready(laying *l, int32_t id) {
  heap *h = &l->ready[stream_of(&l->e[id])];
  int32_t i = h->n++;
  for (int32_t up; i > 0 && is_sooner(l, id, h->at[up = (i - 1) / 2]); i = up) h->at[i] = h->at[up];
  h->at[i] = id;
}

static int32_t take_ready(const laying *l, heap *h) {
  const int32_t top = h->at[0], last = h->at[--h->n];
  int32_t i = 0, down;
  for (; (down = 2 * i + 1) < h->n; i = down) {
    if (down + 1 < h->n && is_sooner(l, h->at[down + 1], h->at[down])) down++;
    if (!is_sooner(l, h->at[down], last)) break;
    h->at[i] = h->at[down];
  }
  h->at[i] = last;
  return top;
}

static void consider_ready(laying *l, int32_t id) {
  if (!is_kernel(&l->e[id]) && !l->left[id] && l->e[id].from <= l->head) put_ready(l, id);
}

/* The next kernel from `from` on becomes the head, and opens what it is the first for. */
static void go_on_to(laying *l, int32_t from) {
  int32_t id = from;
  while (id < l->n && !is_kernel(&l->e[id])) id++;
  const int32_t before = l->head;
  l->head = id;
  if (id < l->n) l->launched_s += l->e[id].launch_s;
  for (int32_t k = before + 1; k <= id && k <= l->n; k++)
    for (int32_t c = l->gated[k]; c >= 0; c = l->next_gated[c]) consider_ready(l, c);
}

static void end_entry(laying *l, int32_t id) {
  l->slots[id].end_s = l->now_s;
  l->n_done++;
  for (int s = 0; s < SW_MAX_STREAMS; s++)
    if (l->running[s] == id) l->running[s] = -1;
  for (int32_t k = l->first_of[id]; k < l->first_of[id + 1]; k++)
    if (!--l->left[l->behind[k]]) consider_ready(l, l->behind[k]);
  if (!is_kernel(&l->e[id])) return;
  l->runs = false;
  if (l->e[id].streams & HOST_BIT) l->launched_s = l->now_s;
  go_on_to(l, id + 1);
}

/* --- what starts -------------------------------------------------------------------------------------------------- */

/* Waits the head for nothing but streams, if for those? */
static bool is_due(const laying *l) {
  return l->head < l->n && !l->runs && !l->left[l->head] && l->launched_s <= l->now_s;
}

static bool streams_are_free(const laying *l, uint8_t streams) {
  bool all = true;
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) all = all && !(streams >> s & 1 && l->running[s] >= 0);
  return all;
}

static void run_kernels(laying *l) {
  while (is_due(l) && streams_are_free(l, l->e[l->head].streams)) {
    const sw_timeline_entry *e = &l->e[l->head];
    l->slots[l->head].start_s = l->now_s;
    l->sums->work_s += e->seconds;
    l->left_s = e->seconds;
    l->runs = true;
    for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++)
      if (e->streams >> s & 1) l->running[s] = l->head;
    if (e->seconds > 0) return;
    end_entry(l, l->head);
  }
}

/* False: nothing has ended at once. */
static bool start_collectives(laying *l) {
  const uint8_t kept = is_due(l) ? l->e[l->head].streams : 0;
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) {
    if (!l->ready[s].n || l->running[s] >= 0 || kept >> s & 1) continue;
    const int32_t id = take_ready(l, &l->ready[s]);
    l->slots[id] = (sw_timeline_slot){l->now_s, l->now_s + l->e[id].seconds, 0};
    l->running[s] = id;
    if (l->e[id].seconds > 0) continue;
    end_entry(l, id);
    return true;
  }
  return false;
}

/* --- time --------------------------------------------------------------------------------------------------------- */

/* Does a collective run beside the kernel that does? Which is needed first; -1: none runs. */
static int32_t first_running(const laying *l) {
  int32_t first = -1;
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) {
    const int32_t id = l->running[s];
    if (id < 0 || is_kernel(&l->e[id])) continue;
    if (first < 0 || is_sooner(l, id, first)) first = id;
  }
  return first;
}

static bool is_slowed(const laying *l) {
  bool any = false;
  for (int s = SW_STREAM_LEVEL; s < SW_STREAM_TO_HOST; s++)
    any = any || (l->running[s] >= 0 && !is_kernel(&l->e[l->running[s]]));
  return any;
}

/* To the next end of something, or launch. False: there is none. */
static bool pass_time(laying *l) {
  const int32_t beside = first_running(l);
  const double rate = is_slowed(l) ? l->slowed : 1, kernel_ends_s = l->runs ? l->now_s + rate * l->left_s : HUGE_VAL;
  double next_s = kernel_ends_s;
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) {
    const int32_t id = l->running[s];
    if (id >= 0 && !is_kernel(&l->e[id])) next_s = fmin(next_s, l->slots[id].end_s);
  }
  if (!l->runs && l->head < l->n && !l->left[l->head] && l->launched_s > l->now_s) next_s = fmin(next_s, l->launched_s);
  if (!isfinite(next_s)) return false;
  const double passed_s = next_s - l->now_s;
  if (l->runs) {
    l->left_s -= passed_s / rate;
    l->sums->slowed_s += passed_s - passed_s / rate;
  } else if (beside >= 0) {
    l->slots[beside].exposed_s += passed_s;
    l->sums->exposed_s += passed_s;
  } else {
    l->sums->waited_s += passed_s;
  }
  l->now_s = next_s;
  const int32_t head = l->head;
  for (int s = SW_STREAM_LEVEL; s < SW_MAX_STREAMS; s++) {
    const int32_t id = l->running[s];
    if (id >= 0 && !is_kernel(&l->e[id]) && l->slots[id].end_s <= next_s) end_entry(l, id);
  }
  if (l->runs && kernel_ends_s <= next_s) end_entry(l, head);
  return true;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static bool has_need(const laying *l, int32_t id) { return !is_kernel(&l->e[id]) && l->e[id].need < l->n; }

static sw_rc list_waiters(laying *l, sw_arena *mem, sw_diag *d) {
  int32_t *first;
  SW_ARENA_NEW(l->left, mem, l->n + 1, d);
  SW_ARENA_NEW(first, mem, l->n + 2, d);
  for (int32_t i = 0; i < l->n; i++) {
    for (int32_t k = 0; k < l->e[i].n_waits; k++) first[l->e[i].waits[k] + 2]++;
    first[i + 2] += has_need(l, i);
  }
  for (int32_t i = 2; i < l->n + 2; i++) first[i] += first[i - 1];
  SW_ARENA_NEW(l->behind, mem, first[l->n + 1] + 1, d);
  for (int32_t i = 0; i < l->n; i++) {
    l->left[i] += l->e[i].n_waits;
    if (has_need(l, i)) l->behind[first[i + 1]++] = l->e[i].need, l->left[l->e[i].need]++;
    for (int32_t k = 0; k < l->e[i].n_waits; k++) l->behind[first[l->e[i].waits[k] + 1]++] = i;
  }
  l->first_of = first;
  return SW_OK;
}

static sw_rc list_gated(laying *l, sw_arena *mem, sw_diag *d) {
  SW_ARENA_NEW_EACH(mem, l->n + 1, d, l->gated, l->next_gated);
  for (int32_t i = 0; i <= l->n; i++) l->gated[i] = -1;
  for (int32_t i = 0; i < l->n; i++) {
    if (is_kernel(&l->e[i])) continue;
    l->next_gated[i] = l->gated[l->e[i].from];
    l->gated[l->e[i].from] = i;
    l->ready[stream_of(&l->e[i])].n++;
  }
  for (int s = 0; s < SW_MAX_STREAMS; s++) {
    SW_ARENA_NEW(l->ready[s].at, mem, l->ready[s].n + 1, d);
    l->ready[s].n = 0;
    l->running[s] = -1;
  }
  return SW_OK;
}

static sw_rc lay_entries(laying *l, sw_arena *mem, sw_diag *d) {
  SW_TRY(list_waiters(l, mem, d));
  SW_TRY(list_gated(l, mem, d));
  for (int32_t i = 0; i < l->n; i++) l->slots[i] = (sw_timeline_slot){0};
  l->head = -1;
  go_on_to(l, 0);
  do {
    do run_kernels(l);
    while (start_collectives(l));
  } while (l->n_done < l->n && pass_time(l));
  l->sums->total_s = l->now_s;
  return l->n_done == l->n ? SW_OK : SW_BUG(d, "an entry of a timeline waits for what comes behind it");
}

sw_rc sw_timeline_lay(const sw_timeline_entry *entries, int32_t n, double slowed, sw_timeline_slot *slots,
                      sw_timeline_sums *out, sw_diag *d) {
  sw_arena mem = {0};
  *out = (sw_timeline_sums){0};
  laying l = {.e = entries, .n = n, .slowed = slowed, .slots = slots, .sums = out};
  const sw_rc rc = lay_entries(&l, &mem, d);
  sw_arena_deinit(&mem);
  return rc;
}
