/* One strategy: its text, whether it is legal, and what it wants and gives. */
#include "shardwright/strategy.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "graph/attention.h"

#include "strategy/unequal.h"

/* Numbers in the list of offsets of all loops. A linearity has no blocks. */
static int64_t count_starts(const sw_strategy *s) {
  int64_t n = 0, shards = 1;
  for (int i = 0; i < s->n_refs; i++) {
    shards *= s->refs[i].size;
    if (i + 1 < s->n_refs && s->loop_of[i + 1] == s->loop_of[i]) continue;
    n += shards + 1;
    shards = 1;
  }
  return n;
}

bool sw_strategy_equal(const sw_strategy *a, const sw_strategy *b) {
  if (!sw_strategy_runs(a) || !sw_strategy_runs(b)) return a->takes == b->takes;
  if (a->n_refs != b->n_refs || a->takes != b->takes || !a->offsets != !b->offsets) return false;
  for (int i = 0; i < a->n_refs; i++) {
    if (a->loop_of[i] != b->loop_of[i] || !sw_axis_ref_equal(a->refs[i], b->refs[i])) return false;
  }
  return !a->offsets || a->offsets == b->offsets ||
         memcmp(a->offsets->loops, b->offsets->loops, (size_t)count_starts(a) * sizeof *a->offsets->loops) == 0;
}

bool sw_strategy_push(sw_strategy *s, int loop, sw_axis_ref ref) {
  if (s->n_refs >= SW_MAX_REFS) return false;
  int at = s->n_refs;
  while (at > 0 && s->loop_of[at - 1] > loop) at--;
  for (int i = s->n_refs; i > at; i--) {
    s->loop_of[i] = s->loop_of[i - 1];
    s->refs[i] = s->refs[i - 1];
  }
  s->loop_of[at] = (int8_t)loop;
  s->refs[at] = ref;
  s->n_refs++;
  return true;
}

const sw_axis_ref *sw_strategy_loop(const sw_strategy *s, int loop, int *n) {
  int first = 0;
  while (first < s->n_refs && s->loop_of[first] < loop) first++;
  int end = first;
  while (end < s->n_refs && s->loop_of[end] == loop) end++;
  *n = end - first;
  return s->refs + first;
}

static int64_t loop_shards(const sw_strategy *s, int loop) {
  int n;
  const sw_axis_ref *refs = sw_strategy_loop(s, loop, &n);
  return sw_axis_refs_size(refs, n);
}

int64_t sw_strategy_block(const sw_loop_nest *nest, const sw_strategy *s, int loop) {
  const int64_t *at = sw_strategy_starts(nest, s, loop), shards = loop_shards(s, loop);
  int64_t longest = 0;
  if (!at) return sw_ceil_div(nest->loops[loop].size, shards);
  for (int64_t i = 0; i < shards; i++) longest = sw_max_i64(longest, at[i + 1] - at[i]);
  return longest;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

static void print_starts(const sw_loop_nest *nest, const sw_strategy *s, int loop, sw_text *out) {
  const int64_t *at = sw_strategy_starts(nest, s, loop), shards = loop_shards(s, loop);
  for (int64_t i = 0; at && i <= shards; i++) sw_text_printf(out, "%s%lld", i ? "," : " offsets=[", (long long)at[i]);
  if (at) sw_text_puts(out, "]");
}

void sw_strategy_print(const sw_mesh *m, const sw_loop_nest *nest, const sw_strategy *s, sw_text *out) {
  if (!s->n_refs) sw_text_puts(out, "-");
  for (int i = 0; i < s->n_refs; i++) {
    bool first = i == 0 || s->loop_of[i] != s->loop_of[i - 1];
    bool last = i + 1 == s->n_refs || s->loop_of[i + 1] != s->loop_of[i];
    int loop = s->loop_of[i];
    if (first && i) sw_text_puts(out, " ");
    if (first && loop < nest->n_loops) sw_text_printf(out, "d%d:[", loop);
    if (first && loop >= nest->n_loops) sw_text_printf(out, "partial%d:[", loop - nest->n_loops);
    if (!first) sw_text_puts(out, ",");
    sw_axis_ref_print(m, s->refs[i], out);
    if (last) sw_text_puts(out, "]");
    if (last && loop < nest->n_loops) print_starts(nest, s, loop, out);
  }
}

void sw_strategy_join(sw_strategy *s) {
  int n = 0;
  for (int i = 0; i < s->n_refs; i++) { /* unequal blocks are of all loops with axes */
    if (s->refs[i].size == 1 && !s->offsets) continue;
    s->refs[n] = s->refs[i];
    s->loop_of[n++] = s->loop_of[i];
  }
  s->n_refs = (uint8_t)n;
  for (int i = s->n_refs - 1; i > 0; i--) {
    sw_axis_ref *major = &s->refs[i - 1], minor = s->refs[i];
    if (s->loop_of[i] != s->loop_of[i - 1] || major->axis != minor.axis || major->pre * major->size != minor.pre)
      continue;
    major->size *= minor.size;
    s->n_refs--;
    memmove(s->refs + i, s->refs + i + 1, (size_t)(s->n_refs - i) * sizeof s->refs[0]);
    memmove(s->loop_of + i, s->loop_of + i + 1, (size_t)(s->n_refs - i));
  }
}

static void skip_spaces(const char **p) {
  while (**p == ' ') ++*p;
}

/* "d2:[" or "partial0:[" at *p; the loop index, or -1. */
static int parse_loop_head(const char **p, const sw_loop_nest *nest) {
  bool partial = strncmp(*p, "partial", 7) == 0;
  if (!partial && **p != 'd') return -1;
  const char *q = *p + (partial ? 7 : 1);
  int v = 0, digits = 0;
  for (; *q >= '0' && *q <= '9' && digits < 4; q++, digits++) v = v * 10 + (*q - '0');
  if (!digits || q[0] != ':' || q[1] != '[') return -1;
  *p = q + 2;
  if (v >= (partial ? nest->n_linear : nest->n_loops)) return -1;
  return partial ? nest->n_loops + v : v;
}

static sw_rc parse_axes(const sw_mesh *m, const char **p, const char *text, sw_span at, int loop, sw_strategy *out,
                        sw_diag *d) {
  for (;;) {
    sw_axis_ref ref;
    SW_TRY_NOTE(d, sw_axis_ref_parse(m, p, text + strlen(text), &ref, d), "in strategy '%s'", text);
    if (!sw_strategy_push(out, loop, ref)) return SW_FAIL_INPUT(d, at, "strategy '%s': too many axes", text);
    if (**p != ',') break;
    ++*p;
  }
  if (**p != ']') {
    return SW_FAIL_INPUT(d, at, "strategy '%s': expected ',' or ']' at column %td", text, *p - text + 1);
  }
  ++*p;
  return SW_OK;
}

/* "offsets=[0,3,8]" behind the axes of a loop: as many numbers as it has blocks, and one. */
static sw_rc parse_starts(const char **p, const char *text, sw_span at, int64_t shards, sw_arena *arena,
                          const int64_t **out, sw_diag *d) {
  static const char kHead[] = "offsets=[";
  int64_t *list;
  if (strncmp(*p, kHead, sizeof kHead - 1) != 0) return SW_OK;
  *p += sizeof kHead - 1;
  SW_ARENA_NEW(list, arena, shards + 1, d);
  for (int64_t i = 0; i <= shards; i++) {
    char *end;
    errno = 0;
    list[i] = strtoll(*p, &end, 10);
    if (end == *p || errno || *end != (i < shards ? ',' : ']')) {
      return SW_FAIL_INPUT(d, at, "strategy '%s': expected %lld offsets at column %td", text, (long long)shards + 1,
                           *p - text + 1);
    }
    *p = end + 1;
  }
  *out = list;
  skip_spaces(p);
  return SW_OK;
}

sw_rc sw_strategy_parse(const sw_graph *g, const sw_op *op, const sw_mesh *m, const char *text, sw_span at,
                        sw_arena *arena, sw_strategy *out, sw_diag *d) {
  const sw_loop_nest *nest = op->nest;
  const int64_t **starts;
  bool unequal = false;
  *out = (sw_strategy){0};
  const char *p = text;
  SW_ARENA_NEW(starts, arena, nest->n_loops, d);
  skip_spaces(&p);
  if (strcmp(p, "-") == 0) return SW_OK;
  while (*p) {
    int loop = parse_loop_head(&p, nest);
    if (loop < 0) {
      return SW_FAIL_INPUT(d, at, "strategy '%s': expected 'dN:[axes]' with N < %d or 'partialN:[axes]' with N < %d",
                           text, nest->n_loops, nest->n_linear);
    }
    SW_TRY(parse_axes(m, &p, text, at, loop, out, d));
    skip_spaces(&p);
    if (loop < nest->n_loops) SW_TRY(parse_starts(&p, text, at, loop_shards(out, loop), arena, &starts[loop], d));
    unequal = unequal || (loop < nest->n_loops && starts[loop]);
  }
  return unequal ? sw_strategy_set_starts(g, op, starts, arena, out, d) : SW_OK;
}

/* --- legality ---------------------------------------------------------------------------------------------------- */

static sw_rc check_axes(const sw_op *op, const sw_mesh *m, const sw_strategy *s, sw_diag *d) {
  const sw_loop_nest *nest = op->nest;
  const bool ring = sw_strategy_is_ring(op, s);
  for (int i = 0; i < s->n_refs; i++) {
    if (s->refs[i].axis < 0 || s->refs[i].axis >= m->n_axes) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "axis %d is not in the mesh of %d axes", s->refs[i].axis, m->n_axes);
    }
    for (int j = 0; j < i; j++) {
      const bool passes = ring && s->loop_of[i] == SW_ATTENTION_KEY && s->loop_of[j] == SW_ATTENTION_QUERY;
      if (!passes && sw_axis_ref_overlaps(s->refs[i], s->refs[j])) {
        return SW_FAIL_INPUT(d, SW_NOWHERE, "axis '%s' is used twice", m->axis[s->refs[i].axis].name);
      }
    }
    int loop = s->loop_of[i];
    if (loop >= nest->n_loops + nest->n_linear) return SW_FAIL_INPUT(d, SW_NOWHERE, "there is no loop d%d", loop);
    if (loop < nest->n_loops && nest->loops[loop].kind == SW_LOOP_WHOLE) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "loop d%d must stay whole", loop);
    }
    if (loop >= nest->n_loops && !nest->linear[loop - nest->n_loops].operands) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "partial%d: the other operand may be infinite, or a divisor zero",
                           loop - nest->n_loops);
    }
  }
  return SW_OK;
}

/* A mixed-radix dimension: only its major-most cut digits may be cut, every cut digit before the last cut one fully
 * (one iteration per shard), and the last evenly, so that blocks of the digits are blocks of the dimension. */
static sw_rc check_digits(const sw_loop_nest *nest, const sw_affine *e, const sw_strategy *s, sw_diag *d) {
  bool open = false; /* a digit before was not cut down to single iterations */
  for (int t = 0; t < e->n_terms; t++) {
    int loop = e->terms[t].loop;
    int64_t shards = loop_shards(s, loop), size = nest->loops[loop].size;
    if (shards > 1 && open) {
      return SW_FAIL_INPUT(d, SW_NOWHERE,
                           "loop d%d is a minor digit of a dimension whose major digits are not fully cut", loop);
    }
    if (shards > 1 && e->n_terms > 1 && size % shards) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "loop d%d of size %lld, a digit of a dimension, is not divisible by %lld",
                           loop, (long long)size, (long long)shards);
    }
    if (shards != size) open = true;
  }
  return SW_OK;
}

/* A window: one of its loops may be cut; a reduction loop (the kernel's) only evenly, since what a window holds next to
 * padding is real data that must not be multiplied by it. */
static sw_rc check_window(const sw_loop_nest *nest, const sw_affine *e, const sw_strategy *s, sw_diag *d) {
  int cut = 0;
  for (int t = 0; t < e->n_terms; t++) {
    const sw_loop *l = &nest->loops[e->terms[t].loop];
    int64_t shards = loop_shards(s, e->terms[t].loop);
    cut += shards > 1;
    if (e->n_terms > 1 && l->kind == SW_LOOP_REDUCTION && l->size % shards) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "loop d%d of a window is not divisible by %lld", e->terms[t].loop,
                           (long long)shards);
    }
  }
  if (cut > 1) return SW_FAIL_INPUT(d, SW_NOWHERE, "two loops of one window are cut");
  return SW_OK;
}

/* Does a body read the index of loop l ("d3")? */
static bool body_reads(const char *body, int l) {
  char name[16];
  int n = snprintf(name, sizeof name, "d%d", l);
  for (const char *p = strstr(body, name); p; p = strstr(p + 1, name)) {
    bool starts = p == body || !(isalnum((unsigned char)p[-1]) || p[-1] == '_');
    if (starts && !isalnum((unsigned char)p[n])) return true;
  }
  return false;
}

/* What a written body makes of padding or of a local index is not known: it sees neither. */
static sw_rc check_body(const sw_op *op, const sw_strategy *s, sw_diag *d) {
  const char *body = sw_op_text(op, SW_ATTR_BODY, "");
  for (int l = 0; l < op->nest->n_loops; l++) {
    int64_t shards = loop_shards(s, l);
    if (shards > 1 && body_reads(body, l)) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "the body reads the index of loop d%d, which must stay whole", l);
    }
    if (op->nest->loops[l].kind == SW_LOOP_REDUCTION && op->nest->loops[l].size % shards) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "loop d%d of a written body is not divisible by %lld", l, (long long)shards);
    }
  }
  return SW_OK;
}

/* Partial kinds that the strategy makes: reductions cut, linearities used. All must agree. */
static sw_rc check_partials(const sw_loop_nest *nest, const sw_strategy *s, sw_diag *d) {
  int kind = -1;
  for (int i = 0; i < s->n_refs; i++) {
    int loop = s->loop_of[i], k = -1;
    if (loop >= nest->n_loops) k = (int)nest->linear[loop - nest->n_loops].kind;
    if (loop < nest->n_loops &&
        (nest->loops[loop].kind == SW_LOOP_REDUCTION || nest->loops[loop].kind == SW_LOOP_MASKED))
      k = (int)nest->loops[loop].combiner;
    if (k < 0) continue;
    if (kind >= 0 && k != kind) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "the result would be partial with %s and %s at once",
                           sw_reduction_text((sw_reduction)kind), sw_reduction_text((sw_reduction)k));
    }
    kind = k;
  }
  /* Two linearities at once (both factors of a product partial) are not linear together. */
  int form = -1;
  for (int i = 0; i < s->n_refs; i++) {
    if (s->loop_of[i] < nest->n_loops) continue;
    if (form >= 0 && form != s->loop_of[i] &&
        (nest->linear[form - nest->n_loops].operands & nest->linear[s->loop_of[i] - nest->n_loops].operands)) {
      return SW_FAIL_INPUT(d, SW_NOWHERE, "two linearities share an operand");
    }
    form = s->loop_of[i];
  }
  return SW_OK;
}

static void see_move(void *any, const sw_move *move) {
  (void)move;
  *(bool *)any = true;
}

sw_rc sw_strategy_check(const sw_graph *g, const sw_op *op, const sw_mesh *m, const sw_strategy *s, sw_diag *d) {
  const sw_loop_nest *nest = op->nest;
  if (s->n_refs == 0) return SW_OK;
  SW_TRY(check_axes(op, m, s, d));
  for (int i = 0; i < nest->n_maps; i++) {
    for (int k = 0; k < nest->maps[i].rank; k++) {
      const sw_affine *e = &nest->maps[i].dims[k];
      SW_TRY(e->mixed_radix ? check_digits(nest, e, s, d) : check_window(nest, e, s, d));
    }
  }
  SW_TRY(sw_strategy_check_offsets(g, op, s, d));
  if (op->code == SW_OP_GENERIC) SW_TRY(check_body(op, s, d));
  if (op->code == SW_OP_SHUFFLE && loop_shards(s, 0) > 1 && loop_shards(s, 0) != nest->loops[0].size) {
    return SW_FAIL_INPUT(d, SW_NOWHERE, "loop d0 of a shuffle is cut into %lld parts; expected %lld, one position each",
                         (long long)loop_shards(s, 0), (long long)nest->loops[0].size);
  }
  bool moves = false;
  if (sw_op_is_on_host(g, op)) sw_strategy_moves(g, op, s, see_move, &moves);
  if (moves)
    return SW_FAIL_INPUT(d, SW_NOWHERE, "devices would exchange parts of what '%s' reads in memory of the host",
                         op->name);
  return check_partials(nest, s, d);
}

bool sw_strategy_legal(const sw_graph *g, const sw_op *op, const sw_mesh *m, const sw_strategy *s) {
  return sw_strategy_check(g, op, m, s, NULL) == SW_OK;
}

/* --- rings ------------------------------------------------------------------------------------------------------- */

bool sw_strategy_is_ring(const sw_op *op, const sw_strategy *s) {
  int n_queries, n_keys;
  if (!sw_is_attention(op->code)) return false;
  const sw_axis_ref *queries = sw_strategy_loop(s, SW_ATTENTION_QUERY, &n_queries);
  const sw_axis_ref *keys = sw_strategy_loop(s, SW_ATTENTION_KEY, &n_keys);
  return n_keys > 0 && sw_axis_refs_equal(queries, n_queries, keys, n_keys);
}

/* k, v and their gradients. */
static bool goes_round(const sw_op *op, int port) {
  const int result = port - op->n_operands;
  return port == SW_ATTENTION_K || port == SW_ATTENTION_V ||
         (op->code == SW_OP_ATTENTION_GRAD && (result == SW_ATTENTION_K || result == SW_ATTENTION_V));
}

bool sw_strategy_is_whole_at(const sw_op *op, const sw_strategy *s, int port, int loop) {
  return loop == SW_ATTENTION_KEY && sw_strategy_is_ring(op, s) && !goes_round(op, port);
}

int64_t sw_strategy_ring_next(const sw_graph *g, const sw_op *op, const sw_strategy *s, int64_t after) {
  sw_attention a;
  sw_attention_of(g, op, &a);
  const int64_t n = loop_shards(s, SW_ATTENTION_KEY), queries = sw_strategy_block(op->nest, s, SW_ATTENTION_QUERY);
  const int64_t keys = sw_strategy_block(op->nest, s, SW_ATTENTION_KEY);
  int64_t step = after + 1;
  while (step < n && !sw_attention_ring_sees(&a, queries, keys, n, step)) step++;
  return step;
}

/* --- what it wants and gives ------------------------------------------------------------------------------------- */

static void push_loop(const sw_strategy *s, int loop, int dim, sw_sharding *out) {
  int n;
  const sw_axis_ref *refs = sw_strategy_loop(s, loop, &n);
  for (int i = 0; i < n; i++) (void)sw_sharding_push(out, dim, refs[i]); /* fits: both tables have SW_MAX_REFS */
}

static void push_partial(const sw_strategy *s, int loop, sw_reduction kind, sw_sharding *out) {
  int n;
  const sw_axis_ref *refs = sw_strategy_loop(s, loop, &n);
  for (int i = 0; i < n; i++) (void)sw_sharding_push_partial(out, kind, refs[i]);
}

/* Cut each dimension by the axes of the loops in its expression (digits: major first; windows: the one that is cut). */
static void cut_by_map(const sw_op *op, int map, const sw_strategy *s, sw_sharding *out) {
  const sw_map *mp = &op->nest->maps[map];
  *out = sw_sharding_replicated(mp->rank);
  for (int k = 0; k < mp->rank; k++) {
    for (int t = 0; t < mp->dims[k].n_terms; t++) {
      const int loop = mp->dims[k].terms[t].loop;
      if (!sw_strategy_is_whole_at(op, s, map, loop)) push_loop(s, loop, k, out);
    }
  }
}

/* A ring has each of its queries see all keys, and takes gradients of keys to all queries. */
static bool is_summed_in_ring(const sw_op *op, int port, int loop) {
  return loop == SW_ATTENTION_KEY || (loop == SW_ATTENTION_QUERY && goes_round(op, port));
}

void sw_strategy_port(const sw_op *op, const sw_strategy *s, int port, sw_sharding *out) {
  const sw_loop_nest *nest = op->nest;
  const bool operand = port < op->n_operands;
  const bool ring = sw_strategy_is_ring(op, s);
  cut_by_map(op, port, s, out);
  for (int l = 0; l < nest->n_loops; l++) {
    const sw_loop *loop = &nest->loops[l];
    const bool reduced = loop->kind == SW_LOOP_REDUCTION || loop->kind == SW_LOOP_MASKED;
    const bool partial =
        operand ? loop->partial_operands >> port & 1 : reduced && !(loop->whole_results >> (port - op->n_operands) & 1);
    if (partial && !(ring && is_summed_in_ring(op, port, l))) push_partial(s, l, loop->combiner, out);
  }
  for (int f = 0; f < nest->n_linear; f++) {
    if (!operand || nest->linear[f].operands >> port & 1) push_partial(s, nest->n_loops + f, nest->linear[f].kind, out);
  }
  sw_sharding_join(out);
  if (s->offsets) out->offsets = s->offsets->ports[port];
}
