/* Reader of certificates: a line is a word and whole numbers; each step is checked as it is read.
 *
 * A state is what is left of the problem. "branch" makes the state at that line the one that every node of the tree
 * starts from; a node begins with the restrictions of the splits above it. A node is closed when its own lines prove
 * the bound, or when both of its children are.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "select/check/check_copies.h"
#include "base/array.h"

enum { DEPTH_MOST = 20000, WORD_MOST = 32 };

typedef struct reader {
  const char *at, *end, *name;
  int32_t line;
  int64_t bound;
  const sw_problem *p;
  SW_ARRAY(int64_t) row; /* the numbers of a line */
  char word[WORD_MOST];
  sw_diag *d;
} reader;

/* Choices of a node that a part of the tree is about. */
typedef struct path {
  const struct path *up;
  int32_t node;
  const bool *keep;
} path;

typedef struct scene {
  reader *r;
  chk_state *s;
  chk_prices prices;
  bool priced; /* prices are open */
  sw_arena mem;
  bool closed;
} scene;

#define HERE(r) ((sw_span){(r)->name, (r)->line, 0})

static sw_rc malformed(reader *r, const char *expected) {
  return SW_FAIL_INPUT(r->d, HERE(r), "'%s' is wrong; expected %s", r->word, expected);
}

static sw_rc wrong_step(reader *r, const char *why) {
  return SW_FAIL(r->d, SW_E_MISMATCH, HERE(r), "'%s' does not hold: %s", r->word, why);
}

static void skip_line_blanks(reader *r) {
  while (r->at < r->end && *r->at == ' ') r->at++;
}

/* The next line's word; empty at the end of the text. */
static void next_line(reader *r) {
  r->word[0] = 0;
  while (r->at < r->end && (*r->at == '\n' || *r->at == ' ')) r->line += *r->at++ == '\n';
  size_t n = 0;
  while (r->at < r->end && *r->at != ' ' && *r->at != '\n') {
    if (n + 1 < WORD_MOST) r->word[n++] = *r->at;
    r->at++;
  }
  r->word[n] = 0;
}

static bool read_signed_number(reader *r, int64_t *out) {
  skip_line_blanks(r);
  bool minus = r->at < r->end && *r->at == '-';
  const char *p = r->at + minus;
  int64_t v = 0;
  if (p >= r->end || *p < '0' || *p > '9') return false;
  for (; p < r->end && *p >= '0' && *p <= '9'; p++)
    if (__builtin_mul_overflow(v, 10, &v) || __builtin_add_overflow(v, *p - '0', &v)) return false;
  r->at = p;
  *out = minus ? -v : v;
  return true;
}

/* All numbers up to the end of the line. */
static sw_rc read_row(reader *r) {
  r->row.n = 0;
  for (skip_line_blanks(r); r->at < r->end && *r->at != '\n'; skip_line_blanks(r)) {
    int64_t v;
    if (!read_signed_number(r, &v)) return malformed(r, "whole numbers of 64 bits after it");
    SW_TRY(sw_array_push(&r->row, v, r->d));
  }
  return SW_OK;
}

/* A node of the state that is still there. */
static sw_rc take_node(scene *c, size_t k, int32_t *out) {
  int64_t v = k < c->r->row.n ? c->r->row.at[k] : -1;
  if (v < 0 || v >= c->s->n) return malformed(c->r, "the number of a node");
  if (c->s->nodes[v].gone) return wrong_step(c->r, "the node went before");
  *out = (int32_t)v;
  return SW_OK;
}

static sw_rc expect_count(scene *c, size_t want) {
  return c->r->row.n == want ? SW_OK : malformed(c->r, "another count of numbers after it");
}

static sw_rc judge(scene *c, chk_verdict wrong, sw_rc rc) {
  if (rc) return SW_FAIL(c->r->d, rc, SW_NOWHERE, "out of memory while checking '%s'", c->r->name);
  return wrong ? wrong_step(c->r, wrong) : SW_OK;
}

static sw_rc step_lower(scene *c) {
  int32_t i, j;
  SW_TRY(expect_count(c, 2));
  SW_TRY(take_node(c, 0, &i));
  SW_TRY(take_node(c, 1, &j));
  return judge(c, chk_lower(c->s, i, j), SW_OK);
}

static sw_rc step_merge(scene *c) {
  int32_t gone, into;
  sw_rc rc = SW_OK;
  SW_TRY(expect_count(c, 2));
  SW_TRY(take_node(c, 0, &gone));
  SW_TRY(take_node(c, 1, &into));
  chk_verdict wrong = chk_merge(c->s, gone, into, &rc);
  return judge(c, wrong, rc);
}

static sw_rc step_fold(scene *c) {
  int32_t v;
  sw_rc rc = SW_OK;
  SW_TRY(expect_count(c, 1));
  SW_TRY(take_node(c, 0, &v));
  chk_verdict wrong = chk_fold(c->s, v, &rc);
  return judge(c, wrong, rc);
}

/* "drop V S WHY BY" */
static sw_rc step_drop(scene *c) {
  reader *r = c->r;
  int64_t node, choice, by;
  char why[WORD_MOST] = {0};
  sw_rc rc = SW_OK;
  bool ok = read_signed_number(r, &node) && read_signed_number(r, &choice);
  skip_line_blanks(r);
  for (size_t n = 0; r->at < r->end && *r->at >= 'a' && *r->at <= 'z'; r->at++)
    if (n + 1 < WORD_MOST) why[n++] = *r->at;
  if (!ok || !read_signed_number(r, &by)) return malformed(r, "a node, a choice, a reason and a number after it");
  r->row.n = 0;
  SW_TRY(sw_array_push(&r->row, node, r->d));
  int32_t v;
  SW_TRY(take_node(c, 0, &v));
  if (choice < 0 || choice >= c->s->nodes[v].n || !c->s->nodes[v].alive[choice])
    return wrong_step(r, "the choice is not one that is left");
  int32_t a = (int32_t)choice, b = by < 0 || by > INT32_MAX ? -1 : (int32_t)by;
  chk_verdict wrong = "expected forbidden, alone, beaten or heavy";
  if (strcmp(why, "forbidden") == 0) wrong = chk_drop_forbidden(c->s, v, a);
  if (strcmp(why, "beaten") == 0) wrong = chk_drop_beaten(c->s, v, a, b, &rc);
  if (strcmp(why, "heavy") == 0) wrong = chk_drop_heavy(c->s, v, a, by, &rc);
  if (strcmp(why, "alone") == 0)
    wrong = b < 0 || b >= c->s->n || b == v ? "expected a node after it" : chk_drop_alone(c->s, v, a, b);
  return judge(c, wrong, rc);
}

static sw_rc step_forget(scene *c) {
  SW_TRY(expect_count(c, 1));
  return judge(c, chk_forget(c->s, c->r->row.at[0]), SW_OK);
}

static sw_rc step_without_memory(scene *c) {
  SW_TRY(expect_count(c, 0));
  chk_forget_memory(c->s);
  return SW_OK;
}

static sw_rc step_overfull(scene *c) {
  sw_rc rc = SW_OK;
  SW_TRY(expect_count(c, 1));
  chk_verdict wrong = chk_overfull(c->s, c->r->row.at[0], &rc);
  c->closed |= !wrong;
  return judge(c, wrong, rc);
}

static sw_rc step_prices(scene *c) {
  sw_rc rc = SW_OK;
  SW_TRY(expect_count(c, 2));
  sw_arena_deinit(&c->mem);
  chk_verdict wrong = chk_prices_init(c->s, &c->prices, c->r->row.at[0], c->r->row.at[1], &c->mem, &rc);
  c->priced = !wrong && !rc;
  return judge(c, wrong, rc);
}

static sw_rc step_price(scene *c) {
  SW_TRY(expect_count(c, 2));
  return judge(c, c->priced ? chk_price(c->s, &c->prices, c->r->row.at[0], c->r->row.at[1]) : "'prices' comes first",
               SW_OK);
}

static sw_rc step_move(scene *c) {
  int32_t i, j;
  SW_TRY(take_node(c, 0, &i));
  SW_TRY(take_node(c, 1, &j));
  if (!c->priced) return wrong_step(c->r, "'prices' comes first");
  return judge(c, chk_move(c->s, &c->prices, i, j, c->r->row.at + 2, c->r->row.n - 2), SW_OK);
}

static sw_rc step_sum(scene *c) {
  sw_rc rc = SW_OK;
  sw_i128 bound = 0;
  SW_TRY(expect_count(c, 0));
  chk_verdict wrong = c->priced ? chk_sum(c->s, &c->prices, &c->mem, &bound, &rc) : "'prices' comes first";
  if (!wrong && !rc) c->closed |= bound >= c->r->bound;
  c->priced = false;
  return judge(c, wrong, rc);
}

static sw_rc step_enumerate(scene *c) {
  sw_rc rc = SW_OK;
  SW_TRY(expect_count(c, 0));
  chk_verdict wrong = chk_enumerate(c->s, c->r->bound, &rc);
  c->closed |= !wrong;
  return judge(c, wrong, rc);
}

static sw_rc step_eliminate(scene *c) {
  sw_rc rc = SW_OK;
  int32_t v, *order;
  SW_ARENA_NEW(order, &c->mem, c->r->row.n, c->r->d);
  for (size_t k = 0; k < c->r->row.n; k++) {
    SW_TRY(take_node(c, k, &v));
    order[k] = v;
  }
  chk_verdict wrong = chk_eliminate(c->s, order, (int32_t)c->r->row.n, c->r->bound, &rc);
  c->closed |= !wrong;
  return judge(c, wrong, rc);
}

static const struct {
  const char *word;
  sw_rc (*run)(scene *c);
  bool row; /* numbers follow */
} kSteps[] = {
    {"lower", step_lower, true},         {"drop", step_drop, false},    {"merge", step_merge, true},
    {"fold", step_fold, true},           {"forget", step_forget, true}, {"without-memory", step_without_memory, true},
    {"overfull", step_overfull, true},   {"prices", step_prices, true}, {"price", step_price, true},
    {"move", step_move, true},           {"sum", step_sum, true},       {"enumerate", step_enumerate, true},
    {"eliminate", step_eliminate, true},
};

/* Steps until a line that is none; its word is then in r->word. */
static sw_rc read_steps(scene *c) {
  enum { N = sizeof kSteps / sizeof kSteps[0] };
  for (;;) {
    size_t k = 0;
    next_line(c->r);
    while (k < N && strcmp(kSteps[k].word, c->r->word) != 0) k++;
    if (k == N) return SW_OK;
    if (kSteps[k].row) SW_TRY(read_row(c->r));
    SW_TRY(kSteps[k].run(c));
  }
}

static sw_rc read_node(reader *r, const chk_state *core, const path *up, int depth, bool *closed);

static sw_rc expect(reader *r, const char *word) {
  next_line(r);
  return strcmp(r->word, word) == 0 ? SW_OK : malformed(r, word);
}

/* "split V S..": the first child keeps the choices named, the second the others that are left. */
static sw_rc read_split(scene *c, const chk_state *core, const path *up, int depth) {
  reader *r = c->r;
  int32_t v;
  SW_TRY(read_row(r));
  SW_TRY(take_node(c, 0, &v));
  const chk_node *x = &c->s->nodes[v];
  bool *keep[2], both = true;
  for (int side = 0; side < 2; side++) SW_ARENA_NEW(keep[side], &c->mem, x->n, r->d);
  for (size_t k = 1; k < r->row.n; k++) {
    if (r->row.at[k] < 0 || r->row.at[k] >= x->n) return malformed(r, "choices of the node after it");
    keep[0][r->row.at[k]] = true;
  }
  for (int32_t a = 0; a < x->n; a++) keep[1][a] = x->alive[a] && !keep[0][a];
  for (int side = 0; side < 2; side++) {
    bool closed = false;
    SW_TRY(expect(r, "node"));
    SW_TRY(read_node(r, core, &(path){up, v, keep[side]}, depth + 1, &closed));
    both &= closed;
    if (strcmp(r->word, "end") != 0) return malformed(r, "'end' or a step");
  }
  c->closed |= both;
  next_line(r);
  return SW_OK;
}

static sw_rc read_body(scene *c, const chk_state *core, const path *up, int depth) {
  SW_TRY(chk_copy(c->s, core, c->r->d));
  for (const path *p = up; p; p = p->up)
    for (int32_t a = 0; a < c->s->nodes[p->node].n; a++) c->s->nodes[p->node].alive[a] &= p->keep[a];
  SW_TRY(read_steps(c));
  c->closed |= chk_has_empty_node(c->s);
  return strcmp(c->r->word, "split") == 0 ? read_split(c, core, up, depth) : SW_OK;
}

static sw_rc read_node(reader *r, const chk_state *core, const path *up, int depth, bool *closed) {
  if (depth > DEPTH_MOST) return SW_FAIL_INPUT(r->d, HERE(r), "splits go deeper than %d", DEPTH_MOST);
  chk_state s = {0};
  scene c = {.r = r, .s = &s};
  sw_rc rc = read_body(&c, core, up, depth);
  *closed = c.closed;
  chk_deinit(&s);
  sw_arena_deinit(&c.mem);
  return rc;
}

static sw_rc read_head(reader *r) {
  SW_TRY(expect(r, "shardwright-certificate"));
  SW_TRY(read_row(r));
  if (r->row.n != 1 || r->row.at[0] != 1) return malformed(r, "version 1");
  SW_TRY(expect(r, "bound"));
  SW_TRY(read_row(r));
  if (r->row.n != 1 || r->row.at[0] > SW_FORBIDDEN) return malformed(r, "one number up to 10^18");
  r->bound = r->row.at[0];
  return SW_OK;
}

static sw_rc read_certificate_body(reader *r, chk_state *s) {
  scene c = {.r = r, .s = s};
  sw_rc rc = read_steps(&c);
  if (!rc) c.closed |= r->bound <= 0 || chk_has_empty_node(s);
  if (!rc && strcmp(r->word, "branch") == 0) {
    bool closed = false;
    rc = read_node(r, s, NULL, 0, &closed);
    c.closed |= closed;
  }
  sw_arena_deinit(&c.mem);
  if (rc) return rc;
  if (r->word[0] || r->at < r->end) return malformed(r, "a step or the end of the text");
  return c.closed ? SW_OK
                  : SW_FAIL(r->d, SW_E_MISMATCH, HERE(r), "the steps do not prove the bound %lld", (long long)r->bound);
}

/* "copies" and "share" lines, as many as there are; any other is left to the steps. */
static sw_rc read_copies(reader *r, chk_copies *c) {
  for (;;) {
    const char *at = r->at;
    const int32_t line = r->line;
    next_line(r);
    const bool node = strcmp(r->word, "copies") == 0;
    if (!node && strcmp(r->word, "share") != 0) {
      r->at = at;
      r->line = line;
      return SW_OK;
    }
    sw_rc rc = SW_OK;
    SW_TRY(read_row(r));
    chk_verdict wrong = (node ? chk_copies_node : chk_copies_share)(c, r->row.at, r->row.n, &rc);
    if (wrong) return wrong_step(r, wrong);
    if (rc) return SW_FAIL(r->d, rc, SW_NOWHERE, "out of memory while checking '%s'", r->name);
  }
}

/* The problem of nodes and edges that the steps begin with. */
static sw_rc count_copies(reader *r, chk_copies *c, sw_problem *out) {
  sw_rc rc;
  SW_TRY(chk_copies_init(c, r->p, r->d));
  SW_TRY(read_copies(r, c));
  chk_verdict wrong = chk_copies_build(c, out, &rc);
  if (wrong) return wrong_step(r, wrong);
  return rc ? SW_FAIL(r->d, rc, SW_NOWHERE, "out of memory while checking '%s'", r->name) : SW_OK;
}

static sw_rc read_certificate(reader *r, int64_t *bound) {
  chk_state s = {0};
  chk_copies c = {0};
  sw_problem p = *r->p;
  sw_rc rc = read_head(r);
  if (!rc && p.n_copies) rc = count_copies(r, &c, &p);
  if (!rc) rc = chk_init(&s, &p, r->d);
  if (!rc) rc = read_certificate_body(r, &s);
  if (!rc) *bound = r->bound;
  chk_deinit(&s);
  sw_arena_deinit(&c.mem);
  sw_array_free(&r->row);
  return rc;
}

sw_rc sw_certificate_check(const sw_problem *p, const char *text, size_t n, const char *name, int64_t *bound,
                           sw_diag *d) {
  reader r = {.at = text, .end = text + n, .name = name, .line = 1, .p = p, .d = d};
  return read_certificate(&r, bound);
}
