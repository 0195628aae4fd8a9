#include "cli/smaller_batch.h"

#include <stdio.h>
#include <string.h>

#include "plan/value_class.h"
#include "shardwright/log.h"
#include "shardwright/pins.h"

typedef struct halving {
  const sw_model_options *from;
  const sw_words *pins;
  const sw_fit_limits *limits;
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

static bool try_fraction(const halving *h, int which, int halvings, sw_diag *d) {
  sw_arena arena = {0};
  sw_opened s;
  sw_job job;
  sw_fitting f;
  char size[32];
  bool any = false;
  if (read_fraction(h, which, INT64_C(1) << halvings, &arena, &s, size, sizeof size)) {
    if (sw_pins_take(&s.job, h->pins->n, h->pins->at, SW_PINS_FROM, false, &arena, &job, NULL) ||
        sw_find_fitting(&job, h->limits, SW_FIT_TRIES + 1 - halvings, &arena, &f, &any, NULL))
      any = false;
    sw_close_job(&s);
  }
  if (any) {
    sw_text t = {0};
    sw_fitting_print(&f, h->limits, &t);
    sw_diag_note(d, "the largest batch that would do is --size %s=%s, as far as found: %s",
                 h->from->sizes.at[which].key, size, sw_text_str(&t));
    sw_text_free(&t);
  }
  sw_arena_deinit(&arena);
  return any;
}

void sw_note_smaller_batch(const sw_model_options *from, const sw_opened *session, const sw_words *pins,
                           const sw_fit_limits *l, sw_diag *d) {
  const sw_log_level level = sw_log_get_level();
  const halving h = {from, pins, l, sw_find_input_extents(session->job.graph, NULL).batch};
  bool found = !strcmp(from->open.model, "-") || !from->sizes.n; /* it cannot be read again, or not otherwise */
  sw_log_set_level(SW_LOG_QUIET);                                /* what there is to say of the model has been said */
  for (int halvings = 1; halvings <= SW_FIT_TRIES && !found; halvings++) {
    if (halvings > 1 && sw_fit_is_over(l)) break;
    for (int i = 0; i < from->sizes.n && !found; i++) found = try_fraction(&h, i, halvings, d);
  }
  sw_log_set_level(level);
}
