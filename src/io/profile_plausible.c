/* Every row of kRows is a statement about all numbers that its path names; those for which it does not hold are told.
 *
 *   {LINKS, AT_MOST, 1, KEY, "device.memory.bytes_per_s", ..}    a link is no faster than the memory behind it
 */
#include "io/profile_plausible.h"

#include <string.h>

#include "io/json_numbers.h"
#include "shardwright/text.h"

typedef enum relation { AT_MOST, AT_LEAST } relation;
/* What a number is compared with. */
typedef enum than {
  NUMBER, /* the row's own */
  KEY,    /* the row's number times what stands under another path */
  INSIDE, /* the row's number times what the level inside has under the same path; the innermost has none */
} than;

static const struct {
  const char *path;
  relation relation;
  double number;
  than than;
  const char *other;
  const char *why;
} kRows[] = {
    {"device.memory.bytes", AT_LEAST, 1e7, NUMBER, NULL, "is it in GB? It is in bytes"},
    {"device.memory.reserved_bytes", AT_MOST, 0.5, KEY, "device.memory.bytes",
     "plans could use less than half of the memory"},
    {"device.memory.bytes_per_s", AT_LEAST, 1e8, NUMBER, NULL, "is it in GB/s? It is in bytes per second"},
    {"device.flop_per_s.*", AT_LEAST, 1e8, NUMBER, NULL, "is it in TFLOP/s? It is in operations per second"},
    {"device.flop_per_s.*", AT_LEAST, 0.25, KEY, "device.memory.bytes_per_s",
     "memory would deliver elements faster than they can be added up"},
    {"device.flop_per_s.f64", AT_MOST, 1, KEY, "device.flop_per_s.f32", "wider floats are no faster"},
    {"device.flop_per_s.f8*", AT_LEAST, 1, KEY, "device.flop_per_s.bf16", "narrower floats are no slower"},
    {"device.flop_per_s.f4*", AT_LEAST, 1, KEY, "device.flop_per_s.bf16", "narrower floats are no slower"},
    {"device.achieved.*_fraction*", AT_LEAST, 0.02, NUMBER, NULL,
     "large ops would reach next to nothing of the peak; is the peak that of a sparse or another format?"},
    {"device.{achieved,kernels.*}.launch_s", AT_MOST, 1e-3, NUMBER, NULL, "is it in microseconds? It is in seconds"},
    {"exchange.peer_s", AT_MOST, 1e-3, NUMBER, NULL, "is it in microseconds? It is in seconds"},
    {"levels.*.costs.*.base_s", AT_MOST, 1e-2, NUMBER, NULL,
     "is it in microseconds, as nccl-tests print? It is in seconds"},
    {"levels.*.costs.*.peer_s", AT_MOST, 1e-3, NUMBER, NULL, "is it in microseconds? It is in seconds"},
    {"levels.*.costs.*.ramp_s_per_sqrt_byte", AT_MOST, 1e-5, NUMBER, NULL,
     "a megabyte would take 10 ms more than its rate says"},
    {"levels.*.costs.*.{bytes_per_s,pair_bytes_per_s}", AT_LEAST, 1e5, NUMBER, NULL,
     "is it in GB/s, as nccl-tests print? It is in bytes per second"},
    {"levels.*.costs.*.{bytes_per_s,pair_bytes_per_s}", AT_MOST, 1, KEY, "device.memory.bytes_per_s",
     "no link is faster than the memory behind it; is it in bits per second?"},
    {"levels.*.costs.*.bytes_per_s", AT_MOST, 2, INSIDE, NULL,
     "links across are faster than those inside; levels stand innermost first"},
};
enum { N_ROWS = sizeof kRows / sizeof *kRows, MOST_TOLD = 10 };

typedef struct doubts {
  const sw_json *tree;
  const sw_number_list *numbers;
  const sw_profile_reading *o;
  sw_arena *arena;
  int told;
} doubts;

static const sw_number *find_number(const doubts *x, const char *path) {
  for (size_t i = 0; path && i < x->numbers->n; i++)
    if (strcmp(x->numbers->at[i].path, path) == 0) return &x->numbers->at[i];
  return NULL;
}

/* The same number of the level before; NULL: there is none. */
static const sw_number *find_inside(const doubts *x, const char *path) {
  static const char kLevels[] = "levels.";
  const sw_json *levels = sw_json_find(x->tree, "levels");
  const char *rest = path + strlen(kLevels), *before = NULL;
  for (int i = 0; levels && i < levels->n; i++) {
    const char *name = sw_json_find(&levels->at[i], "name")->text;
    const size_t n = strlen(name);
    if (strncmp(rest, name, n) == 0 && rest[n] == '.')
      return before ? find_number(x, sw_arena_printf(x->arena, NULL, "%s%s%s", kLevels, before, rest + n)) : NULL;
    before = name;
  }
  return NULL;
}

static void tell_doubt(doubts *x, const sw_number *number, int row, const sw_number *other) {
  const char *how = kRows[row].relation == AT_MOST ? "more than" : "less than";
  const double times = kRows[row].number;
  sw_text limit = {0};
  sw_diag w = {0};
  if (x->told++ >= MOST_TOLD) return;
  if (other && times != 1) sw_text_printf(&limit, "%g times ", times);
  if (other)
    sw_text_printf(&limit, "%s, which is %g", other->path, other->at->f64);
  else
    sw_text_printf(&limit, "%g", times);
  sw_diag_fail(&w, SW_OK, sw_json_span(number->at), __FILE__, __LINE__, "%s is %g, %s %s: %s", number->path,
               number->at->f64, how, sw_text_str(&limit), kRows[row].why);
  x->o->report(x->o->user, &w);
  sw_text_free(&limit);
}

static void check_plausible_row(doubts *x, int row, const sw_number *number) {
  const bool most = kRows[row].relation == AT_MOST;
  const sw_number *other = NULL;
  double limit = kRows[row].number;
  if (kRows[row].than == KEY) other = find_number(x, kRows[row].other);
  if (kRows[row].than == INSIDE) other = find_inside(x, number->path);
  if (kRows[row].than != NUMBER && !other) return;
  if (other) limit *= other->at->f64;
  if (most ? number->at->f64 > limit : number->at->f64 < limit) tell_doubt(x, number, row, other);
}

sw_rc sw_profile_doubt(const sw_json *tree, const sw_profile_reading *o, sw_arena *arena, sw_diag *d) {
  sw_number_list numbers = {0};
  doubts x = {.tree = tree, .numbers = &numbers, .o = o, .arena = arena};
  sw_rc rc = sw_numbers_of(tree, &numbers, arena, d);
  for (size_t i = 0; !rc && i < numbers.n; i++)
    for (int row = 0; row < N_ROWS; row++)
      if (sw_number_path_matches(kRows[row].path, numbers.at[i].path)) check_plausible_row(&x, row, &numbers.at[i]);
  if (!rc && x.told > MOST_TOLD) {
    sw_diag w = {0};
    sw_diag_fail(&w, SW_OK, sw_json_span(tree), __FILE__, __LINE__, "%d more numbers of the profile are doubtful",
                 x.told - MOST_TOLD);
    o->report(o->user, &w);
  }
  sw_array_free(&numbers);
  return rc;
}
