/* Rules for ops that are not known: which loops they have, and how these reach operands and results.
 *
 *   tenstorrent.attention ([b, h, s, d], [b, h, t, d])->([b, h, s, d]) need_replication={d} reduction={t}
 *
 * A line of the rules file is the name of an op or custom call, then a rule in the form of Shardy's op_sharding_rule;
 * an op may bear one itself (sdy.sharding_rule). Letters are loops. A dim with several has them major first, with sizes
 * in braces: ([ij])->([i, j]) {i=4, j=8}.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "mlir/import/passes.h"
#include "base/file.h"

enum { MOST_FACTORS = 64, MOST_IN_DIM = 8 };

typedef struct factor {
  char name[8];
  int64_t size; /* 0: not known yet */
  sw_loop_kind kind;
} factor;

typedef struct rule_reader {
  sw_importer *m;
  const char *at;
  uint32_t op;
  factor factors[MOST_FACTORS];
  int n_factors;
} rule_reader;

#define RULE_FAIL(r, ...) SW_IM_FAIL((r)->m, (r)->op, "in the rule of this op: " __VA_ARGS__)

static void skip(rule_reader *r) {
  while (*r->at == ' ' || *r->at == '\t') r->at++;
}

static bool accept(rule_reader *r, const char *mark) {
  skip(r);
  size_t n = strlen(mark);
  if (strncmp(r->at, mark, n) != 0) return false;
  r->at += n;
  return true;
}

static sw_rc expect(rule_reader *r, const char *mark) {
  if (accept(r, mark)) return SW_OK;
  return RULE_FAIL(r, "found '%.12s'; expected '%s'", r->at, mark);
}

/* A letter, perhaps with _number. */
static sw_rc read_factor(rule_reader *r, int *out) {
  char name[8] = {0};
  int n = 0;
  skip(r);
  if (!isalpha((unsigned char)*r->at)) return RULE_FAIL(r, "found '%.12s'; expected a letter", r->at);
  name[n++] = *r->at++;
  if (*r->at == '_') {
    do {
      if (n < (int)sizeof name - 1) name[n++] = *r->at;
    } while (isdigit((unsigned char)*++r->at));
  }
  for (*out = 0; *out < r->n_factors; ++*out) {
    if (strcmp(r->factors[*out].name, name) == 0) return SW_OK;
  }
  if (r->n_factors == MOST_FACTORS) return RULE_FAIL(r, "there are more than %d letters", MOST_FACTORS);
  memcpy(r->factors[r->n_factors].name, name, sizeof name);
  r->factors[r->n_factors++].kind = SW_LOOP_PARALLEL;
  return SW_OK;
}

/* {i=4, j=8}, anywhere in the rule: sizes first, so that dims of several loops can be read. */
static sw_rc read_sizes(rule_reader *r) {
  const char *begin = r->at, *brace = strchr(begin, '{');
  if (!brace || (brace > begin && brace[-1] == '=')) return SW_OK;
  r->at = brace + 1;
  while (!accept(r, "}")) {
    int f;
    char *end;
    SW_TRY(read_factor(r, &f));
    SW_TRY(expect(r, "="));
    r->factors[f].size = strtoll(r->at, &end, 10);
    if (end == r->at || r->factors[f].size < 1) return RULE_FAIL(r, "found '%.12s'; expected a size", r->at);
    r->at = end;
    (void)accept(r, ",");
  }
  r->at = begin;
  return SW_OK;
}

/* A dim of no factor, *: a loop of its own, which is not cut. */
static sw_rc add_unmapped(rule_reader *r, int64_t size, sw_affine *out) {
  sw_term *term;
  if (r->n_factors == MOST_FACTORS) return RULE_FAIL(r, "there are more than %d letters", MOST_FACTORS);
  SW_ARENA_NEW(term, &r->m->scratch, 1, r->m->d);
  *term = (sw_term){r->n_factors, 1};
  *out = (sw_affine){.n_terms = size > 1, .terms = term};
  r->factors[r->n_factors++] = (factor){.name = "*", .size = size, .kind = SW_LOOP_WHOLE};
  return SW_OK;
}

/* The loops of one dim, major first. */
static sw_rc read_dim(rule_reader *r, int64_t size, sw_affine *out) {
  int factors[MOST_IN_DIM], n = 0;
  sw_term *terms;
  if (accept(r, "*")) return add_unmapped(r, size, out);
  skip(r);
  while (isalpha((unsigned char)*r->at)) {
    if (n == MOST_IN_DIM) return RULE_FAIL(r, "a dim has more than %d loops", MOST_IN_DIM);
    SW_TRY(read_factor(r, &factors[n++]));
    skip(r);
  }
  if (!n) return RULE_FAIL(r, "found '%.12s'; expected a letter for a dim of size %lld", r->at, (long long)size);
  factor *first = &r->factors[factors[0]];
  if (n == 1 && !first->size) first->size = size;
  SW_ARENA_NEW(terms, &r->m->scratch, n, r->m->d);
  int64_t step = 1;
  *out = (sw_affine){.terms = terms};
  for (int i = n - 1; i >= 0; i--) {
    int64_t extent = r->factors[factors[i]].size;
    if (extent < 1 || extent > size || step > size) break;
    if (extent > 1) {
      memmove(terms + 1, terms, sizeof *terms * (size_t)out->n_terms);
      terms[0] = (sw_term){factors[i], step};
      out->n_terms++;
    }
    step *= extent;
  }
  out->mixed_radix = out->n_terms > 1;
  if (step == size) return SW_OK;
  return RULE_FAIL(r, "the loops of a dim of size %lld, from '%s' on, have other sizes", (long long)size, first->name);
}

static sw_rc read_tensor(rule_reader *r, const sw_type *t, sw_map *out) {
  sw_affine *dims;
  SW_ARENA_NEW(dims, &r->m->scratch, t->rank, r->m->d);
  *out = (sw_map){t->rank, dims};
  SW_TRY(expect(r, "["));
  for (int k = 0; k < t->rank; k++) {
    if (k) SW_TRY(expect(r, ","));
    SW_TRY(read_dim(r, t->dims[k], &dims[k]));
  }
  return expect(r, "]");
}

static sw_rc read_side(rule_reader *r, const sw_type *types, int n, sw_map *maps) {
  SW_TRY(expect(r, "("));
  for (int i = 0; i < n; i++) {
    if (i) SW_TRY(expect(r, ","));
    SW_TRY(read_tensor(r, &types[i], &maps[i]));
  }
  return expect(r, ")");
}

static sw_rc read_kinds(rule_reader *r) {
  static const struct {
    const char *word;
    sw_loop_kind kind;
    bool counts;
  } kWords[] = {{"reduction=", SW_LOOP_REDUCTION, true},
                {"need_replication=", SW_LOOP_WHOLE, true},
                {"permutation=", SW_LOOP_WHOLE, true},
                {"blocked_propagation=", SW_LOOP_PARALLEL, false}};
  skip(r);
  if (*r->at == '{') { /* sizes */
    r->at = strchr(r->at, '}');
    if (!r->at) return SW_IM_FAIL(r->m, r->op, "in the rule of this op: expected '}'");
    r->at++;
  }
  for (size_t i = 0; i < sizeof kWords / sizeof *kWords; i++) {
    if (!accept(r, kWords[i].word)) continue;
    SW_TRY(expect(r, "{"));
    while (!accept(r, "}")) {
      int f;
      SW_TRY(read_factor(r, &f));
      if (kWords[i].counts) r->factors[f].kind = kWords[i].kind;
      (void)accept(r, ",");
    }
  }
  (void)accept(r, ", custom");
  skip(r);
  return *r->at && *r->at != '\r' ? RULE_FAIL(r, "found '%.12s'; expected the end", r->at) : SW_OK;
}

static bool map_has(const sw_map *map, int loop) {
  for (int k = 0; k < map->rank; k++) {
    for (int i = 0; i < map->dims[k].n_terms; i++) {
      if (map->dims[k].terms[i].loop == loop) return true;
    }
  }
  return false;
}

/* Can the op on its own work on a part of the loop? Not when an operand dim does not come out in every result, or a
 * result dim comes from nowhere: such letters only say that these dims have nothing to do with each other. */
static bool runs_through(const sw_map *maps, int n_operands, int n_results, int loop) {
  bool read = false;
  for (int i = 0; i < n_operands; i++) read = read || map_has(&maps[i], loop);
  for (int i = 0; i < n_results; i++) {
    if (!map_has(&maps[n_operands + i], loop)) return false;
  }
  return read;
}

sw_rc sw_im_read_rule(sw_importer *m, uint32_t op, const char *text, const sw_type *operands, int n_operands,
                      const sw_type *results, int n_results, const sw_loop_nest **out) {
  rule_reader r = {.m = m, .at = text, .op = op};
  sw_loop_nest *s;
  sw_map *maps;
  sw_loop *loops;
  SW_ARENA_NEW(s, &m->scratch, 1, m->d);
  SW_ARENA_NEW(maps, &m->scratch, n_operands + n_results, m->d);
  SW_TRY(read_sizes(&r));
  SW_TRY(read_side(&r, operands, n_operands, maps));
  SW_TRY(expect(&r, "->"));
  SW_TRY(read_side(&r, results, n_results, maps + n_operands));
  SW_TRY(read_kinds(&r));
  SW_ARENA_NEW(loops, &m->scratch, r.n_factors, m->d);
  for (int i = 0; i < r.n_factors; i++) {
    loops[i] = (sw_loop){.size = r.factors[i].size ? r.factors[i].size : 1, .kind = r.factors[i].kind};
    if (loops[i].kind == SW_LOOP_REDUCTION) loops[i].combiner = SW_REDUCE_SUM;
    if (loops[i].kind == SW_LOOP_PARALLEL && !runs_through(maps, n_operands, n_results, i))
      loops[i].kind = SW_LOOP_WHOLE;
  }
  *s = (sw_loop_nest){
      .n_loops = r.n_factors, .n_maps = n_operands + n_results, .loops = loops, .maps = maps, .flops_per_point = 1};
  *out = s;
  return SW_OK;
}

/* --- where rules come from --------------------------------------------------------------------------------------- */

sw_rc sw_im_open_rules(sw_importer *m) {
  size_t n;
  return m->o->rules ? sw_file_read_text(m->o->rules, &m->passes->shared->rules, &n, m->d) : SW_OK;
}

/* The rest of the line that begins with the name; NULL: none. */
static const char *line_of(sw_importer *m, const char *name) {
  size_t n = strlen(name);
  for (const char *line = m->passes->shared->rules; line && *line; line = strchr(line, '\n')) {
    line += strspn(line, "\n \t");
    if (strncmp(line, name, n) != 0 || (line[n] != ' ' && line[n] != '\t')) continue;
    const char *text = sw_arena_strndup(&m->scratch, line + n, strcspn(line + n, "\n"), m->d);
    return text;
  }
  return NULL;
}

/* "([a, b], [a, b])->([a, b])" when all operands and results are of one shape; NULL: they are not. */
static const char *elementwise_rule(sw_importer *m, uint32_t op) {
  const sw_ir_op *o = sw_im_op(m, op);
  uint32_t n_results = sw_ir_result_count(m->t, o);
  sw_type first, t;
  sw_text rule = {0};
  bool alike = o->n_uses > 0 && !sw_im_result_type(m, op, 0, &first) && first.rank <= 26;
  for (uint32_t i = 0; alike && i < o->n_uses; i++) {
    t = m->g->values[sw_im_operand(m, op, i)].type;
    alike = t.rank == first.rank && !memcmp(t.dims, first.dims, sizeof *t.dims * (size_t)t.rank);
  }
  for (uint32_t i = 1; alike && i < n_results; i++) {
    alike = !sw_im_result_type(m, op, (int)i, &t) && t.rank == first.rank &&
            !memcmp(t.dims, first.dims, sizeof *t.dims * (size_t)t.rank);
  }
  for (uint32_t i = 0; alike && i < o->n_uses + n_results; i++) {
    sw_text_puts(&rule, i == 0 ? "([" : i == o->n_uses ? "])->([" : "], [");
    for (int k = 0; k < first.rank; k++) sw_text_printf(&rule, "%s%c", k ? ", " : "", 'a' + k);
  }
  sw_text_puts(&rule, "])");
  const char *kept = alike ? sw_arena_strndup(&m->scratch, sw_text_str(&rule), rule.n, m->d) : NULL;
  sw_text_free(&rule);
  return kept;
}

const char *sw_im_elementwise_rule(sw_importer *m, uint32_t op) {
  static const char *const kElementwise[] = {"chlo.", "stablehlo.map", "mhlo.map"};
  sw_ir_span name = sw_im_op(m, op)->name;
  for (size_t i = 0; i < sizeof kElementwise / sizeof *kElementwise; i++) {
    if (sw_ir_starts(m->t, name, kElementwise[i])) return elementwise_rule(m, op);
  }
  return NULL;
}

const char *sw_im_rule_of(sw_importer *m, uint32_t op, const char *target) {
  const sw_ir_op *o = sw_im_op(m, op);
  sw_ir_span own = sw_ir_present(o->attrs) ? sw_ir_entry(m->t, o->attrs, "sdy.sharding_rule") : (sw_ir_span){0, 0};
  if (!sw_ir_present(own)) return line_of(m, target);
  return sw_im_string(m, sw_ir_inside(m->t, sw_ir_resolved(m->t, own)));
}
