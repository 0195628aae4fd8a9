#include "cli/read_model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/file.h"
#include "graph/fuse.h"
#include "io/foreign.h"
#include "shardwright/model_json.h"

enum { FIRST_UNIT = 64, FIRST_TIMES = 1009, TIMES_APART = 101 };

/* What a reader has to say, kept until it is known whether it is to be told. */
typedef struct sayings {
  SW_ARRAY(sw_diag) at;
} sayings;

static void keep_saying(void *user, const sw_diag *d) {
  sayings *s = user;
  if (sw_array_push(&s->at, *d, NULL)) sw_session_report(NULL, d);
}

static void tell_sayings(sayings *s) {
  for (size_t i = 0; i < s->at.n; i++) sw_session_report(NULL, &s->at.at[i]);
  s->at.n = 0;
}

static sw_keep keep_of(const char *text) {
  if (text && strcmp(text, "none") == 0) return SW_KEEP_NONE;
  return text && strcmp(text, "io") == 0 ? SW_KEEP_IO : SW_KEEP_ALL;
}

static int64_t stand_in(const void *user, int class_of) {
  const sw_stand_in *s = user;
  return s->unit * s->times[class_of];
}

void sw_drop_model(sw_session *s) {
  if (!s->program) sw_graph_destroy(s->read);
  sw_graph_destroy(s->as_written);
  sw_program_destroy(s->program);
  s->as_written = NULL;
  s->program = NULL;
  s->graph = s->read = NULL;
}

/* A model on its own mesh, of which some sizes are not known. */
static sw_rc parse_closed(const char *file, sw_session *s, sw_diag *d) {
  sw_mesh closed = s->read->written->mesh;
  for (int a = 0; a < closed.n_axes; a++) {
    if (closed.axis[a].size >= 0) continue;
    closed.axis[a].size = SW_OPEN_AXIS;
    s->open_axes |= UINT32_C(1) << a;
  }
  if (!s->open_axes) return SW_OK;
  sw_drop_model(s);
  return sw_model_parse_on(file, s->text, s->text_bytes, &closed, &s->sizes, &s->read, d);
}

static bool fuses(const sw_model_options *o) { return o->attention && strcmp(o->attention, "fused") == 0; }

static sw_rc fuse_session_attention(sw_session *s, sw_diag *d) {
  sw_arena arena = {0};
  sw_fused what;
  sw_rc rc = sw_graph_fuse_in_place(&s->read, &s->as_written, &arena, &what, d);
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc parse_model(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sayings *said, sw_diag *d) {
  const char *file = strcmp(o->model, "-") == 0 ? "<stdin>" : o->model;
  sw_program_options options = {.keep = keep_of(o->keep),
                                .mesh = mesh,
                                .roles = o->roles,
                                .roles_option = "--roles",
                                .rules = o->rules,
                                .sizes = &s->sizes,
                                .open_axis = o->open_sizes ? SW_OPEN_AXIS : 0,
                                .fuse_attention = fuses(o),
                                .by_device = o->by_device,
                                .report = keep_saying,
                                .user = said};
  sw_drop_model(s);
  said->at.n = 0;
  s->sizes.stand_in = stand_in;
  s->sizes.user = &s->stand_in;
  if (sw_profile_mesh_count(s->profile) > 0) options.fallback = sw_profile_mesh(s->profile, 0);
  sw_rc rc = sw_program_is(o->model, s->text)
                 ? sw_program_parse(file, s->text, s->text_bytes, &options, &s->program, d)
                 : sw_model_parse_on(file, s->text, s->text_bytes, mesh, &s->sizes, &s->read, d);
  if (s->program) s->read = sw_program_graph(s->program);
  if (s->program && !mesh) s->open_axes = sw_program_open_axes(s->program);
  if (!rc && !s->program && !mesh && o->open_sizes && s->read->written->has_mesh) rc = parse_closed(file, s, d);
  if (!rc && !s->program && fuses(o)) rc = fuse_session_attention(s, d);
  s->graph = s->read;
  if (!rc) s->job = (sw_job){s->graph, s->graph->written, NULL, s->job.machine};
  return rc;
}

/* --- sizes that must be equal ------------------------------------------------------------------------------------- */

/* How far a reader came before the first thing that it did not like. */
static int64_t first_error(const sayings *said, const sw_diag *last) {
  const sw_diag *first = last;
  for (size_t i = said->at.n; i-- > 0;) {
    if (said->at.at[i].rc) first = &said->at.at[i];
  }
  return ((int64_t)first->line << 24) + first->col;
}

static int count_size_classes(const sw_sizes *s) {
  int most = -1;
  for (int i = 0; i < s->n; i++) most = s->at[i].class_of > most ? s->at[i].class_of : most;
  return most + 1;
}

static bool has_class(const sw_sizes *s, int class_of) {
  for (int i = 0; i < s->n; i++) {
    if (s->at[i].met && !s->at[i].given && s->at[i].class_of == class_of) return true;
  }
  return false;
}

/* What an error says, apart from what sizes stand for: numbers that are `value`, or too large for a program's own. */
static sw_rc mask_sizes(const sw_sizes *s, const sw_diag *why, int64_t value, sw_text *out) {
  for (const char *at = why->text; *at;) {
    char *end = (char *)at + 1;
    const long long number = isdigit((unsigned char)*at) ? strtoll(at, &end, 10) : -1;
    const bool is_size = number >= 0 && (number == value || number >= s->stand_in(s->user, 0));
    sw_text_append(out, is_size ? "#" : at, is_size ? 1 : (size_t)(end - at));
    at = end;
  }
  return out->rc;
}

/* What is tried: pairs of classes put into one, or a class taken for a number that the error has, until a reader comes
 * further than before, or has another fault to find at the same place. */
typedef struct attempt {
  const sw_model_options *o;
  const sw_mesh *mesh;
  sw_session *s;
  sayings *said;
  int64_t before; /* how far it came */
  sw_diag *why;
  sw_rc rc;
  bool strict; /* another fault at the same place is none further */
} attempt;

/* Reads again; true, with what is wrong now: it came further. `value` -1: a number is not. */
static bool comes_further(attempt *t, int64_t value) {
  sw_diag now = {0};
  sw_text was = {0}, is = {0};
  t->rc = parse_model(t->o, t->mesh, t->s, t->said, &now);
  const int64_t at = first_error(t->said, &now);
  bool further = t->rc == SW_OK || at > t->before;
  if (!further && !t->strict && at == t->before && !mask_sizes(&t->s->sizes, t->why, value, &was) &&
      !mask_sizes(&t->s->sizes, &now, value, &is))
    further = strcmp(sw_text_str(&was), sw_text_str(&is)) != 0;
  if (further) *t->why = now;
  sw_text_free(&was);
  sw_text_free(&is);
  return further;
}

/* More numbers of a text into `out`, of which there are n, the greatest first. */
static int collect_numbers(const char *text, size_t bytes, int64_t below, int64_t *out, int n, int most) {
  for (const char *at = text, *end = text + bytes; at < end && *at;) {
    char *next = (char *)at + 1;
    const long long number = isdigit((unsigned char)*at) ? strtoll(at, &next, 10) : below;
    bool skip = number >= below || n == most;
    int to = n;
    at = next;
    for (int i = 0; i < n; i++) skip = skip || out[i] == number;
    if (skip) continue;
    for (; to > 0 && out[to - 1] < number; to--) out[to] = out[to - 1];
    out[to] = number;
    n++;
  }
  return n;
}

/* The model's text from the line of an error on: an op with regions has several. */
static const char *text_at(const sw_session *s, int line, size_t *bytes) {
  enum { LINES = 12, MOST_BYTES = 4096 };
  const char *at = s->text;
  for (int i = 1; i < line && at; i++) {
    at = strchr(at, '\n');
    at += at != NULL;
  }
  *bytes = 0;
  for (int i = 0; i < LINES && at && at[*bytes] && *bytes < MOST_BYTES; i++) *bytes += strcspn(at + *bytes, "\n") + 1;
  return at ? at : "";
}

/* A size is likely to be a number that the error has, or the op at fault. */
static bool take_some(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sayings *said, sw_diag *why,
                      sw_rc *rc) {
  enum { MOST_NUMBERS = 16 };
  int64_t numbers[MOST_NUMBERS];
  attempt t = {o, mesh, s, said, first_error(said, why), why, *rc, .strict = true};
  const sw_sizes was = s->sizes;
  const int64_t below = stand_in(was.user, 0);
  const int classes = count_size_classes(&was);
  size_t bytes;
  const char *text = text_at(s, why->line, &bytes);
  sw_diag named = *why;
  sw_sizes_name(&was, named.text, sizeof named.text);
  int n = collect_numbers(named.text, sizeof named.text, below, numbers, 0, MOST_NUMBERS / 2);
  n = collect_numbers(text, bytes, below, numbers, n, MOST_NUMBERS);
  for (int i = 0; i < 2 * n * classes; i++) {
    const int64_t number = numbers[i / classes % n];
    t.strict = i < n * classes;
    if (!has_class(&was, i % classes)) continue;
    sw_sizes_take(&s->sizes, i % classes, number);
    if (comes_further(&t, number)) return *rc = t.rc, true;
    s->sizes = was;
  }
  return false;
}

/* `pairs` more of them, from pair number `from` on; those of one op may take several at once. */
static bool unite_size_classes(attempt *t, int pairs, int from) {
  const sw_sizes apart = t->s->sizes;
  const int n = count_size_classes(&apart);
  for (int pair = from; pair < n * n; pair++) {
    const int a = pair / n, b = pair % n;
    if (a >= b || !has_class(&apart, a) || !has_class(&apart, b)) continue;
    sw_sizes_unite(&t->s->sizes, a, b);
    if (pairs > 1 ? unite_size_classes(t, pairs - 1, pair + 1) : comes_further(t, -1)) return true;
    t->s->sizes = apart;
  }
  return false;
}

/* What a reader found out of sizes while it read, until it finds nothing more. */
static void read_what_follows(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sayings *said, sw_rc *rc,
                              sw_diag *d) {
  for (int before = 0; *rc == SW_E_INPUT && s->sizes.found > before;) {
    before = s->sizes.found;
    sw_diag now = {0};
    *rc = parse_model(o, mesh, s, said, &now);
    if (d) *d = now;
  }
}

/* As few as will do: sizes that need not be equal stay apart. */
static bool unite_some(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sayings *said, sw_diag *why,
                       sw_rc *rc) {
  enum { MOST_AT_ONCE = 3 };
  attempt t = {o, mesh, s, said, first_error(said, why), why, *rc};
  bool any = false;
  for (int pairs = 1; pairs <= MOST_AT_ONCE && !any; pairs++) any = unite_size_classes(&t, pairs, 0);
  if (any) *rc = t.rc;
  return any;
}

static sw_rc leave_open(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sw_rc rc, sayings *said,
                        sw_diag *d) {
  sw_diag why = d ? *d : (sw_diag){0}, first;
  sw_sizes at_first;
  bool guesses = false;
  while (rc == SW_E_INPUT) {
    read_what_follows(o, mesh, s, said, &rc, &why);
    if (rc != SW_E_INPUT) break;
    const sw_diag was = why;
    if (unite_some(o, mesh, s, said, &why, &rc)) continue;
    if (!guesses) first = was, at_first = s->sizes; /* what is told if guesses lead nowhere */
    guesses = true;
    if (take_some(o, mesh, s, said, &why, &rc)) continue;
    break;
  }
  if (rc == SW_E_INPUT && guesses) why = first;
  if (rc) sw_sizes_name(guesses ? &at_first : &s->sizes, why.text, sizeof why.text);
  if (rc && d) *d = why;
  if (!rc && d) *d = (sw_diag){0};
  return rc;
}

/* --- all of it ---------------------------------------------------------------------------------------------------- */

static sw_rc read_sized(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sayings *said, sw_diag *d) {
  for (int i = 0; i < o->sizes.n; i++) SW_TRY(sw_sizes_give(&s->sizes, o->sizes.at[i].key, o->sizes.at[i].value, d));
  s->stand_in.unit = FIRST_UNIT;
  for (int i = 0; i < SW_MAX_SIZES; i++) s->stand_in.times[i] = FIRST_TIMES + TIMES_APART * i;
  sw_rc rc = parse_model(o, mesh, s, said, d);
  read_what_follows(o, mesh, s, said, &rc, d);
  if (sw_sizes_open(&s->sizes) && !o->open_sizes) {
    said->at.n = 0; /* it was not the sizes' own program that was read */
    if (d) *d = (sw_diag){0};
    return sw_sizes_check(&s->sizes, o->model, d);
  }
  if (sw_sizes_open(&s->sizes)) return leave_open(o, mesh, s, rc, said, d);
  return rc || o->spare_sizes ? rc : sw_sizes_check(&s->sizes, o->model, d);
}

sw_rc sw_read_model(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sw_diag *d) {
  sayings said = {0};
  if (o->text) {
    SW_MEM_NEW(s->text, o->text->n + 1, d);
    if (o->text->n) memcpy(s->text, o->text->at, o->text->n);
    s->text_bytes = o->text->n;
  } else {
    SW_TRY(sw_read_model_text(o->model, &s->text, &s->text_bytes, d));
  }
  sw_rc rc = read_sized(o, mesh, s, &said, d);
  tell_sayings(&said);
  sw_array_free(&said.at);
  if (sw_sizes_open(&s->sizes) || s->open_axes) return rc;
  sw_mem_free(s->text); /* it is not read again */
  s->text = NULL;
  return rc;
}

sw_rc sw_read_model_again(const sw_model_options *o, const sw_mesh *mesh, sw_session *s, sw_diag *d) {
  sayings said = {0};
  sw_rc rc = parse_model(o, mesh, s, &said, d);
  sw_array_free(&said.at);
  return rc;
}
