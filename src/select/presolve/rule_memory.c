/* Rules on memory: steps that decide nothing, and values too heavy to fit.
 *
 * A step goes when even the largest amounts stay within its cap, or when a neighbouring step sees every use that it
 * sees and has no more room. A value goes when it does not fit into the room that is left while every other variable
 * is at its smallest: room[t] = cap[t] - base[t].
 */
#include <stdlib.h>
#include <string.h>

#include "select/proof.h"

typedef struct step_view {
  int64_t *room;       /* cap - base */
  int64_t *most;       /* what the spans can add at most */
  bool *begins, *ends; /* a span begins at t, or ended just before t, since the last step kept */
  bool *kept;
} step_view;

static sw_rc view_steps(sel_model *m, step_view *w, sw_diag *d) {
  size_t n = (size_t)m->steps.n + 1;
  SW_ARENA_NEW_EACH(&m->mem, n, d, w->room, w->most, w->begins, w->ends, w->kept);
  int64_t base = 0;
  for (int32_t t = 0; t < m->steps.n; t++) w->room[t] = m->steps.cap[t] - (base += m->steps.base_diff[t]);
  for (int32_t i = 0; i < m->n; i++) {
    const sel_var *x = &m->vars[i];
    for (int32_t k = 0; k < x->n_spans && !x->gone; k++) {
      const sel_span *u = &x->spans[k];
      int64_t most = 0;
      for (int32_t s = 0; s < x->n; s++) most = sw_max_i64(most, u->amount[s]);
      w->most[u->begin] += most;
      w->most[u->end] -= most;
      w->begins[u->begin] = w->ends[u->end] = true;
    }
  }
  for (int32_t t = 1; t < m->steps.n; t++) w->most[t] += w->most[t - 1];
  return SW_OK;
}

/* Walk the steps with a stack of kept ones; flags of dropped steps pass to the step after. */
static sw_rc choose_steps(sel_model *m, step_view *w, sw_diag *d) {
  int32_t *stack, top = 0;
  SW_ARENA_NEW(stack, &m->mem, m->steps.n, d);
  bool begins = false, ends = false; /* between the last kept step and t */
  for (int32_t t = 0; t < m->steps.n; t++) {
    begins |= w->begins[t];
    ends |= w->ends[t];
    if (w->most[t] <= w->room[t]) continue;
    if (top && !begins && w->room[t] >= w->room[stack[top - 1]]) continue;
    while (top && !ends && w->room[stack[top - 1]] >= w->room[t]) {
      int32_t p = stack[--top];
      begins |= w->begins[p];
      ends |= w->ends[p];
    }
    w->begins[t] = begins;
    w->ends[t] = ends;
    begins = ends = false;
    stack[top++] = t;
  }
  for (int32_t k = 0; k < top; k++) w->kept[stack[k]] = true;
  return SW_OK;
}

static sw_rc renumber_steps(sel_model *m, const step_view *w, sw_diag *d) {
  int32_t *to, n = 0;
  SW_ARENA_NEW(to, &m->mem, (size_t)m->steps.n + 1, d);
  sw_text *log = m->given.log;
  for (int32_t t = 0; t < m->steps.n; t++) {
    to[t] = n;
    if (!w->kept[t] && log) sw_text_printf(log, "forget %lld\n", (long long)sel_name_time(m, t));
    if (!w->kept[t]) continue;
    m->steps.of[n] = m->steps.of[t];
    m->steps.cap[n++] = w->room[t];
  }
  to[m->steps.n] = n;
  sel_count(m, SW_RULE_STEPS, m->steps.n - n);
  memset(m->steps.base_diff, 0, ((size_t)m->steps.n + 1) * sizeof *m->steps.base_diff);
  m->steps.n = n;
  for (int32_t i = 0; i < m->n; i++) {
    sel_var *x = &m->vars[i];
    if (x->gone) continue;
    int32_t kept = 0;
    for (int32_t k = 0; k < x->n_spans; k++) {
      sel_span u = {to[x->spans[k].begin], to[x->spans[k].end], x->spans[k].amount};
      if (u.begin < u.end) x->spans[kept++] = u;
    }
    if (kept < x->n_spans) SW_TRY(sel_queue_var(m, i, d));
    x->n_spans = kept;
  }
  return SW_OK;
}

sw_rc sel_rule_steps(sel_model *m, sw_diag *d) {
  step_view w;
  SW_TRY(view_steps(m, &w, d));
  for (int32_t t = 0; t < m->steps.n; t++)
    if (w.room[t] < 0 && !m->infeasible) {
      sel_log_overfull(m, t);
      m->infeasible = true;
    }
  if (m->infeasible || !(m->given.rules & SW_RULE_STEPS)) return SW_OK;
  SW_TRY(choose_steps(m, &w, d));
  return renumber_steps(m, &w, d);
}

/* Least of any stretch of room in constant time: row k holds the least of 2^k neighbours. */
typedef struct least_room {
  int64_t *row[32];
} least_room;

static sw_rc least_room_build(sel_model *m, least_room *r, sw_diag *d) {
  SW_ARENA_NEW(r->row[0], &m->mem, m->steps.n, d);
  int64_t base = 0;
  for (int32_t t = 0; t < m->steps.n; t++) r->row[0][t] = m->steps.cap[t] - (base += m->steps.base_diff[t]);
  for (int k = 1; (1 << k) <= m->steps.n; k++) {
    int32_t half = 1 << (k - 1), n = m->steps.n - (1 << k) + 1;
    SW_ARENA_NEW(r->row[k], &m->mem, n, d);
    for (int32_t t = 0; t < n; t++) r->row[k][t] = sw_min_i64(r->row[k - 1][t], r->row[k - 1][t + half]);
  }
  return SW_OK;
}

static int64_t least_between(const least_room *r, int32_t begin, int32_t end) {
  int k = 31 - __builtin_clz((unsigned)(end - begin));
  return sw_min_i64(r->row[k][begin], r->row[k][end - (1 << k)]);
}

static int32_t tightest_between(const least_room *r, int32_t begin, int32_t end) {
  int64_t least = least_between(r, begin, end);
  while (r->row[0][begin] != least) begin++;
  return begin;
}

typedef struct span_event {
  int32_t time, span; /* the span begins, or (as ~span) ends */
} span_event;

static int by_event(const void *a, const void *b) {
  const span_event *x = a, *y = b;
  return x->time != y->time ? (x->time > y->time) - (x->time < y->time) : (x->span > y->span) - (x->span < y->span);
}

/* keep[s] = s fits at every step, all spans of the variable counted together. */
static sw_rc weigh_values(sel_model *m, int32_t v, const least_room *r, bool *keep, sw_diag *d) {
  const sel_var *x = &m->vars[v];
  span_event *ev;
  int64_t *now;
  SW_ARENA_NEW(ev, &m->mem, 2 * (size_t)x->n_spans, d);
  SW_ARENA_NEW(now, &m->mem, x->n, d);
  int32_t n = 0;
  for (int32_t k = 0; k < x->n_spans; k++) {
    ev[n++] = (span_event){x->spans[k].begin, k};
    ev[n++] = (span_event){x->spans[k].end, ~k};
  }
  qsort(ev, (size_t)n, sizeof *ev, by_event);
  for (int32_t e = 0; e < n; e++) {
    int32_t k = ev[e].span < 0 ? ~ev[e].span : ev[e].span;
    for (int32_t s = 0; s < x->n; s++) now[s] += ev[e].span < 0 ? -x->spans[k].amount[s] : x->spans[k].amount[s];
    if (e + 1 == n || ev[e + 1].time == ev[e].time) continue;
    int64_t room = least_between(r, ev[e].time, ev[e + 1].time);
    for (int32_t s = 0; s < x->n; s++) {
      if (now[s] <= room || !keep[s]) continue;
      keep[s] = false;
      if (m->given.log)
        sel_log_drop(m, v, s, "heavy", sel_name_time(m, tightest_between(r, ev[e].time, ev[e + 1].time)));
    }
  }
  return SW_OK;
}

sw_rc sel_rule_heavy(sel_model *m, bool *changed, sw_diag *d) {
  least_room r;
  SW_TRY(least_room_build(m, &r, d));
  *changed = false;
  for (int32_t i = 0; i < m->n && !m->infeasible; i++) {
    sel_var *x = &m->vars[i];
    if (x->gone || x->n_spans == 0) continue;
    bool *keep;
    int32_t n = 0;
    SW_ARENA_NEW(keep, &m->mem, x->n, d);
    for (int32_t s = 0; s < x->n; s++) keep[s] = true;
    SW_TRY(weigh_values(m, i, &r, keep, d));
    for (int32_t s = 0; s < x->n; s++) n += keep[s];
    if (n == x->n) continue;
    *changed = true;
    sel_count(m, SW_RULE_HEAVY, x->n - n);
    SW_TRY(sel_keep_values(m, i, keep, d));
  }
  return SW_OK;
}
