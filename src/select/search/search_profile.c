/* Use less cap over the steps, in blocks: a change of [begin, end) touches whole blocks once and two blocks in part. */
#include "select/search/search_profile.h"

enum { BLOCK = SEL_PROFILE_BLOCK };

static void refresh(sel_profile *p, int32_t b) {
  int32_t end = (b + 1) * BLOCK < p->n ? (b + 1) * BLOCK : p->n;
  int64_t most = INT64_MIN;
  for (int32_t t = b * BLOCK; t < end; t++) most = p->v[t] > most ? p->v[t] : most;
  p->most[b] = most + p->add[b];
}

sw_rc sel_profile_init(sel_profile *p, const sel_core *c, sw_arena *mem, sw_diag *d) {
  *p = (sel_profile){.n = c->n_steps, .n_blocks = (c->n_steps + BLOCK - 1) / BLOCK};
  SW_ARENA_NEW(p->v, mem, p->n, d);
  SW_ARENA_NEW_EACH(mem, p->n_blocks, d, p->add, p->most);
  sel_profile_reset(p, c);
  return SW_OK;
}

void sel_profile_reset(sel_profile *p, const sel_core *c) {
  for (int32_t t = 0; t < p->n; t++) p->v[t] = -c->cap[t];
  for (int32_t b = 0; b < p->n_blocks; b++) {
    p->add[b] = 0;
    refresh(p, b);
  }
}

static void add_over_steps(sel_profile *p, int32_t begin, int32_t end, int64_t amount) {
  for (int32_t t = begin; t < end; t++) p->v[t] += amount;
  refresh(p, begin / BLOCK);
}

void sel_profile_add(sel_profile *p, int32_t begin, int32_t end, int64_t amount) {
  if (begin >= end || amount == 0) return;
  int32_t b = begin / BLOCK, last = (end - 1) / BLOCK;
  if (b == last) {
    add_over_steps(p, begin, end, amount);
    return;
  }
  if (begin % BLOCK) add_over_steps(p, begin, ++b * BLOCK, amount);
  for (; b < last; b++) {
    p->add[b] += amount;
    p->most[b] += amount;
  }
  add_over_steps(p, last * BLOCK, end, amount);
}

static int64_t most_of(const sel_profile *p, int32_t begin, int32_t end) {
  int64_t most = INT64_MIN;
  for (int32_t t = begin; t < end; t++) most = p->v[t] > most ? p->v[t] : most;
  return most + p->add[begin / BLOCK];
}

int64_t sel_profile_most(const sel_profile *p, int32_t begin, int32_t end) {
  if (begin >= end) return INT64_MIN;
  int32_t b = begin / BLOCK, last = (end - 1) / BLOCK;
  if (b == last) return most_of(p, begin, end);
  int64_t most = INT64_MIN;
  if (begin % BLOCK) {
    most = most_of(p, begin, (b + 1) * BLOCK);
    b++;
  }
  for (; b < last; b++) most = p->most[b] > most ? p->most[b] : most;
  int64_t tail = most_of(p, last * BLOCK, end);
  return tail > most ? tail : most;
}

int64_t sel_profile_worst(const sel_profile *p, int32_t *step) {
  if (p->n == 0) return INT64_MIN;
  int32_t worst = 0;
  for (int32_t b = 1; b < p->n_blocks; b++)
    if (p->most[b] > p->most[worst]) worst = b;
  *step = worst * BLOCK;
  while (p->v[*step] + p->add[*step / SEL_PROFILE_BLOCK] != p->most[worst]) ++*step;
  return p->most[worst];
}
