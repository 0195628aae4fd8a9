/* The dialects that are read, and who of them is asked (dialect.h). */
#include "mlir/import/dialect.h"

#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "base/hash.h"

/* In the order in which hooks run. */
/* clang-format off */
#define DIALECTS(X) \
  X(func) \
  X(gspmd) \
  X(shard) \
  X(sdy) \
  X(partitioned) \
  X(roles) \
  X(stablehlo) \
  X(chlo) \
  X(mhlo) \
  X(arith) \
  X(quant) \
  X(lapack) \
  X(cudnn) \
  X(sdpa) \
  X(own)

/* clang-format on */

#define X(name) extern const sw_dialect sw_dialect_##name;
DIALECTS(X)
#undef X
#define X(name) &sw_dialect_##name,
static const sw_dialect *const kDialects[] = {DIALECTS(X)};
#undef X
enum { N_DIALECTS = sizeof kDialects / sizeof *kDialects };
_Static_assert(sizeof kDialects / sizeof *kDialects <= SW_IM_MOST_DIALECTS,
               "an importer has room for the state of each");

/* --- rows -------------------------------------------------------------------------------------------------------- */

static sw_ir_span without_dialect(const sw_ir_tree *t, sw_ir_span name) {
  static const char *const kAlike[] = {"stablehlo.", "mhlo.", "chlo."};
  for (size_t i = 0; i < sizeof kAlike / sizeof *kAlike; i++) {
    if (sw_ir_starts(t, name, kAlike[i])) name.at += (uint32_t)strlen(kAlike[i]);
  }
  return name;
}

/* Rows by name, as rows are asked for at every op: an open hash table, filled once, of four times the rows there are.
 */
enum { ROW_SLOTS = 2048 };
static const sw_ir_row *g_rows[ROW_SLOTS];

static const sw_ir_row **find_row_slot(const char *name, size_t n) {
  size_t i = sw_hash_quick(name, n) % ROW_SLOTS;
  while (g_rows[i] && (strncmp(g_rows[i]->name, name, n) != 0 || g_rows[i]->name[n])) i = (i + 1) % ROW_SLOTS;
  return &g_rows[i];
}

static void fill_rows(void) {
  for (int i = 0; i < N_DIALECTS; i++) {
    for (size_t k = 0; k < kDialects[i]->n_rows; k++) {
      const sw_ir_row *row = &kDialects[i]->rows[k], **slot = find_row_slot(row->name, strlen(row->name));
      if (!*slot) *slot = row;
    }
  }
}

const sw_ir_row *sw_ir_row_of(const sw_ir_tree *t, sw_ir_span name) {
  static const char kOlder[] = "mesh.", kNewer[] = "shard.";
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  (void)pthread_once(&once, fill_rows);
  const sw_ir_span bare = without_dialect(t, name);
  const sw_ir_row *row = *find_row_slot(t->s + bare.at, sw_ir_len(bare));
  if (row || !sw_ir_starts(t, name, kOlder)) return row;
  char newer[64]; /* without a row of its own it is the shard dialect's */
  name.at += (uint32_t)strlen(kOlder);
  int n = snprintf(newer, sizeof newer, "%s%.*s", kNewer, (int)sw_ir_len(name), t->s + name.at);
  return n < (int)sizeof newer ? *find_row_slot(newer, (size_t)n) : NULL;
}

bool sw_ir_is_return(const sw_ir_tree *t, const sw_ir_op *o) {
  const sw_ir_row *row = sw_ir_row_of(t, o->name);
  return row && row->import == sw_im_return;
}

const sw_ir_row *sw_ir_call_row(const sw_ir_tree *t, sw_ir_span target) {
  for (int i = 0; i < N_DIALECTS; i++) {
    for (size_t k = 0; k < kDialects[i]->n_calls; k++) {
      if (sw_ir_is(t, target, kDialects[i]->calls[k].name)) return &kDialects[i]->calls[k];
    }
  }
  return NULL;
}

/* --- states ------------------------------------------------------------------------------------------------------ */

static int index_of_dialect(const sw_dialect *dialect) {
  int i = 0;
  while (i < N_DIALECTS - 1 && kDialects[i] != dialect) i++;
  return i;
}

void *sw_im_state_of(const sw_importer *m, const sw_dialect *dialect) { return m->states[index_of_dialect(dialect)]; }

sw_rc sw_im_open_states(sw_importer *m, const sw_importer *from) {
  for (int i = 0; i < N_DIALECTS; i++) {
    const sw_dialect_hooks *h = kDialects[i]->hooks;
    if (!h || !h->state_bytes) continue;
    m->states[i] = sw_arena_alloc(&m->keep, 1, h->state_bytes, m->d);
    if (!m->states[i]) return SW_E_RESOURCE;
    if (from && h->inherited_bytes) memcpy(m->states[i], from->states[i], h->inherited_bytes);
    if (h->close) SW_TRY(sw_arena_at_end(&m->keep, h->close, m->states[i], m->d));
  }
  return SW_OK;
}

/* --- hooks ------------------------------------------------------------------------------------------------------- */

/* Every dialect that has the hook, until one fails, or `until` holds. */
#define EACH(hook, until, ...)                                  \
  for (int k = 0; k < N_DIALECTS && !(until); k++) {            \
    const sw_dialect_hooks *hooks = kDialects[k]->hooks;        \
    if (hooks && hooks->hook) SW_TRY(hooks->hook(__VA_ARGS__)); \
  }                                                             \
  return SW_OK

sw_rc sw_im_open_dialects(sw_importer *m) { EACH(open, m->alone, m); }
sw_rc sw_im_imported(sw_importer *m, uint32_t op, sw_id first) { EACH(imported, m->alone, m, op, first); }
sw_rc sw_im_annotate_results(sw_importer *m, uint32_t op) { EACH(results, m->alone, m, op); }
sw_rc sw_im_see_returned(sw_importer *m, const sw_id *values, uint32_t n) { EACH(returned, m->alone, m, values, n); }
sw_rc sw_im_see_type(sw_importer *m, sw_id value, sw_ir_span type) { EACH(typed, m->alone, m, value, type); }
sw_rc sw_im_hand_on(sw_importer *m, sw_id from, sw_id to) { EACH(handed, m->alone, m, from, to); }

sw_rc sw_im_see_argument(sw_importer *m, uint32_t i, sw_id value, sw_ir_span type) {
  EACH(argument, m->alone, m, i, value, type);
}

sw_rc sw_im_see_output(sw_importer *m, uint32_t ret, sw_id value, int32_t index, sw_ir_span type) {
  EACH(output, m->alone, m, ret, value, index, type);
}

sw_rc sw_im_find_own_mesh(sw_importer *m) {
  bool known = false;
  EACH(own_mesh, m->alone, m, &known);
}

bool sw_im_reshards(const sw_ir_tree *t, const sw_ir_op *o) {
  for (int i = 0; i < N_DIALECTS; i++) {
    const sw_dialect_hooks *hooks = kDialects[i]->hooks;
    if (hooks && hooks->reshards && hooks->reshards(t, o)) return true;
  }
  return false;
}

sw_rc sw_im_read_sharding(sw_importer *m, const sw_im_said *said, sw_arena *arena, sw_sharding *out, sw_diag *d) {
  bool done = false;
  for (int i = 0; i < N_DIALECTS && !done; i++) {
    const sw_dialect_hooks *hooks = kDialects[i]->hooks;
    if (hooks && hooks->read_sharding) SW_TRY(hooks->read_sharding(m, said, arena, out, &done, d));
  }
  if (done) return SW_OK;
  return SW_FAIL_INPUT(d, sw_ir_place(m->t, said->text.at), "the sharding is in a form that is not known");
}

sw_rc sw_im_annotate_said(sw_importer *m, const sw_im_target *of, sw_ir_span sharding, uint32_t at) {
  bool done = false;
  EACH(annotate, done || m->alone, m, of, sharding, at, &done);
}

sw_rc sw_im_take_unread(sw_importer *m, uint32_t op, bool *done) {
  *done = false;
  EACH(take_unread, *done || m->alone, m, op, done);
}

sw_rc sw_im_take(sw_importer *m, const sw_ir_row *row, uint32_t op, bool *done) {
  *done = false;
  EACH(take, *done || m->alone, m, row, op, done);
}

sw_rc sw_im_take_call(sw_importer *m, uint32_t op, sw_ir_span target, bool *done) {
  *done = false;
  EACH(call, *done || m->alone, m, op, target, done);
}

sw_rc sw_im_take_callee(sw_importer *m, uint32_t op, sw_ir_span callee, bool *done) {
  *done = false;
  EACH(callee, *done || m->alone, m, op, callee, done);
}

sw_rc sw_ir_foreign_element(const sw_ir_tree *t, sw_ir_span type, sw_dtype *out, bool *known, sw_diag *d) {
  *known = false;
  EACH(element, *known, t, type, out, known, d);
}

sw_rc sw_im_adjust_result_type(sw_importer *m, sw_ir_span type, sw_type *out) {
  EACH(result_type, m->alone, m, type, out);
}
