#include "cli/smaller_batch.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plan/value_class.h"
#include "shardwright/log.h"
#include "shardwright/pins.h"

enum { MOST_HALVINGS = 3 };

typedef struct halving {
  const sw_model_options *from;
  const sw_words *pins;
  sw_plan_options o;
  int64_t batch; /* as it was asked for */
} halving;

/* The model with the size, which is number `which` of those given, in so many parts. False: it is no size of batches.
 */
static bool read_fraction(const halving *h, int which, int64_t parts, sw_arena *arena, sw_opened *out, char *said,
                          size_t room) {
  sw_model_options smaller = *h->from;
  sw_diag why = {0};
  int64_t size;
  sw_pair *sizes = sw_arena_alloc(arena, (size_t)smaller.sizes.n, sizeof *sizes, &why);
  if (!sizes || sw_parse_i64(smaller.sizes.at[which].value, 1, INT64_MAX, "a size", &size, &why) || size % parts)
    return false;
  memcpy(sizes, smaller.sizes.at, (size_t)smaller.sizes.n * sizeof *sizes);
  snprintf(said, room, "%lld", (long long)(size / parts));
  sizes[which].value = said;
  smaller.sizes.at = sizes;
  if (sw_session_open(&smaller, arena, out, &why)) return false;
  const int64_t batch = sw_find_input_extents(out->job.graph, NULL).batch;
  if (batch * parts == h->batch) return true;
  sw_close_job(out);
  return false;
}

/* Bytes that a plan holds which fits; -1: none is found. */
static int64_t plan_part(const halving *h, const sw_opened *s, sw_arena *arena) {
  sw_diag why = {0};
  sw_job job;
  sw_plan plan;
  sw_breakdown a;
  if (sw_pins_take(&s->job, h->pins->n, h->pins->at, SW_PINS_FROM, false, arena, &job, &why) ||
      sw_plan_search(&job, &h->o, arena, &plan, &why) || sw_plan_breakdown(&plan, arena, &a, &why))
    return -1;
  return a.peak_bytes <= plan.capacity_bytes ? a.peak_bytes : -1;
}

static bool try_fraction(const halving *h, int which, int64_t parts, sw_diag *d) {
  sw_arena arena = {0};
  sw_opened s;
  char size[32];
  int64_t held = -1;
  if (read_fraction(h, which, parts, &arena, &s, size, sizeof size)) {
    held = plan_part(h, &s, &arena);
    sw_close_job(&s);
  }
  if (held >= 0) {
    sw_text t = {0};
    sw_text_bytes(&t, (double)held);
    sw_diag_note(d,
                 "the largest batch that would do is --size %s=%s, as far as found: a plan of it holds %s per device",
                 h->from->sizes.at[which].key, size, sw_text_str(&t));
    sw_text_free(&t);
  }
  sw_arena_deinit(&arena);
  return held >= 0;
}

void sw_note_smaller_batch(const sw_model_options *from, const sw_opened *session, const sw_words *pins,
                           const sw_plan_options *o, double time_limit_s, sw_diag *d) {
  const double kOfLimit = 0.1, kMost_s = 10;
  const int64_t work = o->solve.work_limit;
  const sw_log_level level = sw_log_get_level();
  halving h = {from, pins, {.selection = o->selection}, sw_find_input_extents(session->job.graph, NULL).batch};
  const double until_s = sw_now_s() + (time_limit_s > 0 ? fmin(kMost_s, kOfLimit * time_limit_s) : kMost_s);
  bool found = !strcmp(from->open.model, "-") || !from->sizes.n; /* it cannot be read again, or not otherwise */
  sw_log_set_level(SW_LOG_QUIET);                                /* what there is to say of the model has been said */
  for (int halvings = 1; halvings <= MOST_HALVINGS && !found; halvings++) {
    const double left_s = (until_s - sw_now_s()) / (MOST_HALVINGS + 1 - halvings);
    if (sw_cancelled(o->solve.cancel) || (!work && left_s <= 0)) break;
    h.o.solve = (sw_solve_options){
        .solver = o->solve.solver, .gap = 1, .threads = 1, .seed = o->solve.seed, .cancel = o->solve.cancel};
    h.o.solve.work_limit = work ? work / (INT64_C(2) * MOST_HALVINGS) + 1 : 0;
    h.o.solve.time_limit_s = work ? 0 : left_s;
    for (int i = 0; i < from->sizes.n && !found; i++) found = try_fraction(&h, i, INT64_C(1) << halvings, d);
  }
  sw_log_set_level(level);
}
