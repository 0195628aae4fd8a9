#include "report/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"
#include "base/lists.h"
#include "graph/attention.h"
#include "plan/value_class.h"
#include "report/dim_roles.h"

/* --- measures of an axis ------------------------------------------------------------------------------------------ */

/* What the axis cuts: parts of a whole, from 0 to 1. */
typedef enum measure {
  /* Of the arithmetic of products and attention, by what dims stand for: as sw_dim_role. */
  OF_FEATURES,
  OF_SAMPLES,
  OF_TOKENS,
  OF_EXPERTS,
  OF_HEADS,
  OF_VOCABULARY,
  OF_ALL,    /* any of these */
  OF_DATA,   /* samples and tokens, of what is not cut by experts or the vocabulary */
  POSITIONS, /* tokens, of these */
  /* Of weights by bytes, as the first product of each takes them. */
  ATTENTION, /* of those that become heads or come from them; all where there are none */
  EXPERTS,   /* of those of experts, by whole ones */
  WORDS,     /* of those that have a vocabulary, by that */
  COLUMNS,   /* of the others */
  ROWS,
  FFN,    /* both */
  TABLES, /* of all weights: of those that are looked up in */
  /* Of bytes at rest: of weights; what of that products do not take so; of the optimizer, or without one of what
   * becomes the next version of parameters, what weights are not. */
  REST,
  PARAMETERS,
  STATE,
  /* Of the bytes of ops between products in which the axis cuts no feature: cut by positions. */
  BETWEEN,
  HAS_HEADS, /* 1, or 0 */
  MEASURES
} measure;
_Static_assert((int)OF_VOCABULARY == (int)SW_DIM_VOCABULARY && (int)OF_ALL == (int)SW_DIM_ROLES,
               "measures begin with roles");

typedef struct measures {
  double of[MEASURES];
} measures;

/* --- words of an axis --------------------------------------------------------------------------------------------- */

typedef struct condition {
  measure of;
  double least, most;
} condition;

#define ALL_OF(m) \
  { m, 0.8, 2 }
#define MOST_OF(m) \
  { m, 0.5, 2 }
#define SOME_OF(m) \
  { m, 0.15, 2 }
#define LESS_OF(m) \
  { m, -1, 0.5 }
#define FEW_OF(m) \
  { m, -1, 0.2 }
#define NONE_OF(m) \
  { m, -1, 0.15 }

enum { MOST_CONDITIONS = 7 };

enum {
  NAME,   /* says what a whole plan is */
  PART,   /* says which parts of layers are cut */
  BESIDE, /* says nothing of what most of the arithmetic is cut by */
  PLAIN,  /* says no axes where it is true of all */
};

/* Words that are true of an axis where all conditions are; it may have several. */
typedef struct pattern {
  const char *text, *without_heads; /* the second where models have no heads */
  const char *behind;               /* behind the axes */
  int says;
  condition where[MOST_CONDITIONS]; /* up to the first that is zero */
} pattern;

/* clang-format off */
static const pattern kPatterns[] = {
    {"FSDP (ZeRO-3)", "FSDP (ZeRO-3)", "", NAME, {ALL_OF(OF_DATA), MOST_OF(PARAMETERS)}},
    {"ZeRO-1", "ZeRO-1", "", NAME, {ALL_OF(OF_DATA), LESS_OF(PARAMETERS), MOST_OF(STATE)}},
    {"data-parallel", "data-parallel", "", NAME,
     {ALL_OF(OF_DATA), LESS_OF(POSITIONS), LESS_OF(PARAMETERS), LESS_OF(STATE)}},
    {"sequence", "sequence", "", NAME, {ALL_OF(OF_DATA), MOST_OF(POSITIONS)}},
    {"Megatron", "Megatron", "", NAME,
     {FEW_OF(OF_DATA), MOST_OF(ATTENTION), MOST_OF(FFN), SOME_OF(COLUMNS), SOME_OF(ROWS), LESS_OF(BETWEEN)}},
    {"heads and FFN columns", "columns and rows of weights", "", PART,
     {FEW_OF(OF_DATA), MOST_OF(ATTENTION), MOST_OF(FFN), SOME_OF(COLUMNS), SOME_OF(ROWS), MOST_OF(BETWEEN)}},
    {"heads", "heads", "", PART, {FEW_OF(OF_DATA), MOST_OF(HAS_HEADS), MOST_OF(ATTENTION), LESS_OF(FFN)}},
    {"FFN columns", "columns and rows of weights", "", PART,
     {FEW_OF(OF_DATA), LESS_OF(ATTENTION), MOST_OF(FFN), SOME_OF(COLUMNS), SOME_OF(ROWS)}},
    {"columns of weights", "columns of weights", "", PART, {FEW_OF(OF_DATA), MOST_OF(FFN), NONE_OF(ROWS)}},
    {"rows of weights", "rows of weights", "", PART, {FEW_OF(OF_DATA), MOST_OF(FFN), NONE_OF(COLUMNS)}},
    {"heads", "heads", "", PART, {ALL_OF(OF_HEADS), LESS_OF(HAS_HEADS)}},
    {"features", "features", "", PART, {ALL_OF(OF_FEATURES), LESS_OF(HAS_HEADS), FEW_OF(FFN)}},
    {"experts", "experts", "", PART, {ALL_OF(OF_DATA), MOST_OF(EXPERTS)}},
    {"experts", "experts", "", PART, {FEW_OF(OF_DATA), MOST_OF(EXPERTS)}},
    {"vocabulary", "vocabulary", "", PART, {ALL_OF(OF_DATA), MOST_OF(WORDS), {OF_VOCABULARY, 0.05, 2}}},
    {"tables", "tables", "", BESIDE, {MOST_OF(TABLES)}},
    {"sequence", "sequence", " between them", PART, {FEW_OF(OF_DATA), MOST_OF(OF_ALL), MOST_OF(BETWEEN)}},
    {"replicated", "replicated", "", PLAIN, {FEW_OF(OF_ALL), LESS_OF(PARAMETERS), LESS_OF(TABLES)}},
    {"parameters at rest", "parameters at rest", "", PART, {FEW_OF(OF_ALL), MOST_OF(PARAMETERS)}},
};
/* clang-format on */
enum { PATTERNS = sizeof kPatterns / sizeof *kPatterns };

static bool matches_pattern(const pattern *p, const measures *m) {
  for (int i = 0; i < MOST_CONDITIONS && p->where[i].most > 0; i++)
    if (m->of[p->where[i].of] < p->where[i].least || m->of[p->where[i].of] > p->where[i].most) return false;
  return true;
}

/* --- measuring ---------------------------------------------------------------------------------------------------- */

/* A weight, or a part of a stack of them, by its first product: what tells one from another, and how it is cut. */
typedef struct weight_use {
  uint64_t kind, cut;
  sw_id op;
} weight_use;

typedef struct meter {
  const sw_plan *p;
  const sw_graph *g;
  const sw_mesh *mesh;
  const uint8_t *class_of;
  sw_dim_roles roles;
  measures *by_axis; /* sums, then parts */
  measures whole;    /* what they are parts of */
  double *uncut;     /* by axis: bytes between products with positions that it does not cut */
  bool by_bytes;     /* there are no products: arithmetic is what ops move */
  bool *multiplied;  /* by argument: a weight that some product takes: its look-ups are not what it is for */
  bool *seen;        /* by argument: a weight that has been used */
  sw_dict noted;     /* parts of weights that have a use */
  SW_ARRAY(weight_use) uses;
} meter;

/* The part of an axis that the ref is. */
static double part_of_axis(const sw_mesh *m, sw_axis_ref ref) {
  return ref.size < 2 ? 0 : log((double)ref.size) / log((double)m->axis[ref.axis].size);
}

static double bytes_of_type(const sw_type *t) { return (double)sw_type_elements(t) * sw_dtype_bits(t->dtype) / 8; }

static void meter_sharding(meter *m, measure of, sw_id value, const sw_sharding *s) {
  const double bytes = bytes_of_type(&m->g->values[value].type);
  m->whole.of[of] += bytes;
  for (int i = 0; i < s->n_refs; i++) m->by_axis[s->refs[i].axis].of[of] += bytes * part_of_axis(m->mesh, s->refs[i]);
}

/* Arguments at rest; where there is no optimizer, next versions of parameters as they are made. */
static void measure_rest(meter *m) {
  const sw_graph *g = m->g;
  for (int32_t i = 0; i < g->n_args; i++) {
    for (int of = REST; of <= PARAMETERS && m->roles.weight_of[g->args[i]] >= 0; of++)
      meter_sharding(m, (measure)of, g->args[i], &m->p->args[i]);
    if (m->class_of[g->args[i]] == SW_MEMORY_OPTIMIZER) meter_sharding(m, STATE, g->args[i], &m->p->args[i]);
  }
  const bool optimizer = m->whole.of[STATE] > 0;
  for (int32_t i = 0; i < g->n_outputs && !optimizer; i++) {
    sw_sharding made;
    if (g->alias[i] < 0 || m->class_of[g->alias[i]] != SW_MEMORY_PARAMETERS) continue;
    sw_plan_made_sharding(m->p, g->outputs[i], &made);
    meter_sharding(m, STATE, g->outputs[i], &made);
  }
}

static bool counts_as_work(const meter *m, const sw_op *op) {
  return m->by_bytes || sw_op_class_of(op->code) == SW_OPS_CONTRACTION || sw_is_attention(op->code);
}

/* How much of it there is: flops, or bytes, over all its runs. */
static double measure_op_work(const meter *m, const sw_op *op, bool of_bytes) {
  double flops, bytes;
  sw_op_work(m->g, op, NULL, &flops, &bytes);
  return (of_bytes ? bytes : flops) * (double)op->repeats;
}

static void measure_arithmetic(meter *m, const sw_op *op, const sw_strategy *s) {
  const uint8_t *roles = sw_loop_roles(&m->roles, op);
  const double work = measure_op_work(m, op, m->by_bytes);
  m->whole.of[OF_ALL] += work;
  for (int i = 0; i < s->n_refs; i++) {
    measures *axis = &m->by_axis[s->refs[i].axis];
    const double part = work * part_of_axis(m->mesh, s->refs[i]);
    if (s->loop_of[i] >= op->nest->n_loops) continue;
    axis->of[roles[s->loop_of[i]]] += part;
    axis->of[OF_ALL] += part;
  }
}

static void measure_between(meter *m, const sw_op *op, const sw_strategy *s) {
  const uint8_t *roles = sw_loop_roles(&m->roles, op);
  bool placed = false;
  uint32_t cut = 0;
  for (int k = 0; k < op->nest->n_loops; k++) placed = placed || roles[k] == SW_DIM_TOKEN;
  if (!placed) return;
  const double bytes = measure_op_work(m, op, true);
  for (int i = 0; i < s->n_refs; i++) {
    cut |= 1U << s->refs[i].axis;
    if (s->loop_of[i] >= op->nest->n_loops || roles[s->loop_of[i]] != SW_DIM_TOKEN) continue;
    m->by_axis[s->refs[i].axis].of[BETWEEN] += bytes * part_of_axis(m->mesh, s->refs[i]);
  }
  for (int a = 0; a < m->mesh->n_axes; a++)
    if (!(cut >> a & 1U)) m->uncut[a] += bytes;
}

/* Which part of the weight a loop of its product is. */
static measure measure_of_loop(const sw_op *op, int loop, sw_dim_role role) {
  if (role == SW_DIM_EXPERT || role == SW_DIM_VOCABULARY) return role == SW_DIM_EXPERT ? EXPERTS : WORDS;
  return sw_map_has_loop(&op->nest->maps[2], loop) ? COLUMNS : ROWS;
}

static uint64_t hash_of_strategy(const sw_strategy *s, uint64_t seed) {
  for (int i = 0; i < s->n_refs; i++) {
    seed = sw_hash_u64((uint64_t)s->loop_of[i], seed);
    seed = sw_hash_bytes(&s->refs[i], sizeof s->refs[i], seed);
  }
  return seed;
}

/* What is at rest along an axis as its first user takes it has not to be gathered. */
static void leave_at_rest(meter *m, int32_t arg, const double *taken) {
  const double bytes = bytes_of_type(&m->g->values[m->g->args[arg]].type);
  double rest[SW_MAX_AXES] = {0};
  for (int i = 0; i < m->p->args[arg].n_refs; i++)
    rest[m->p->args[arg].refs[i].axis] += part_of_axis(m->mesh, m->p->args[arg].refs[i]);
  for (int a = 0; a < m->mesh->n_axes; a++) m->by_axis[a].of[PARAMETERS] -= bytes * fmin(rest[a], taken[a]);
}

/* The operand that is a weight which nothing before has used; -1. */
static int first_used(const meter *m, const sw_op *op, int32_t *arg) {
  const bool table = op->code == SW_OP_GATHER;
  const int operand = table ? 0 : sw_weight_operand(&m->roles, op);
  *arg = operand < 0 ? -1 : m->roles.weight_of[op->operands[operand]];
  return *arg < 0 || m->seen[*arg] || (table && m->multiplied[*arg]) ? -1 : operand;
}

static void find_multiplied(meter *m) {
  for (sw_id i = 0; i < m->g->n_ops; i++) {
    const int operand = sw_weight_operand(&m->roles, &m->g->ops[i]);
    if (operand >= 0) m->multiplied[m->roles.weight_of[m->g->ops[i].operands[operand]]] = true;
  }
}

static measure weight_group_of(const meter *m, sw_id weight) {
  if (sw_value_has_role(&m->roles, weight, SW_DIM_HEAD)) return ATTENTION;
  return sw_value_has_role(&m->roles, weight, SW_DIM_VOCABULARY) ? WORDS : FFN;
}

/* The first product of a weight, or the first look-up in one that is in none. */
static void measure_weight(meter *m, const sw_op *op, const sw_strategy *s) {
  int32_t arg;
  double taken[SW_MAX_AXES] = {0};
  const int operand = first_used(m, op, &arg);
  if (operand < 0) return;
  const sw_id value = op->operands[operand];
  const uint8_t *roles = sw_loop_roles(&m->roles, op);
  const bool table = op->code == SW_OP_GATHER;
  const measure group = weight_group_of(m, value);
  const double bytes = bytes_of_type(&m->g->values[m->g->args[arg]].type);
  m->seen[arg] = true;
  if (!table) m->whole.of[group] += bytes;
  if (sw_value_has_role(&m->roles, value, SW_DIM_EXPERT)) m->whole.of[EXPERTS] += bytes;
  for (int i = 0; i < s->n_refs; i++) {
    const int loop = s->loop_of[i], a = s->refs[i].axis;
    if (loop >= op->nest->n_loops || !sw_map_has_loop(&op->nest->maps[operand], loop)) continue;
    const measure place = table ? TABLES : measure_of_loop(op, loop, roles[loop]);
    const bool inside = place == COLUMNS || place == ROWS;
    taken[a] += part_of_axis(m->mesh, s->refs[i]);
    if (inside && group == WORDS) continue;
    m->by_axis[a].of[inside && group == ATTENTION ? ATTENTION : place] += bytes * part_of_axis(m->mesh, s->refs[i]);
  }
  leave_at_rest(m, arg, taken);
}

static void measure_ops(meter *m) {
  double flops = 0;
  for (sw_id i = 0; i < m->g->n_ops; i++)
    if (counts_as_work(m, &m->g->ops[i])) flops += measure_op_work(m, &m->g->ops[i], false);
  m->by_bytes = flops <= 0;
  for (sw_id i = 0; i < m->g->n_ops; i++) {
    const sw_op *op = &m->g->ops[i];
    if (!op->nest) continue;
    if (counts_as_work(m, op))
      measure_arithmetic(m, op, &m->p->ops[i]);
    else
      measure_between(m, op, &m->p->ops[i]);
    measure_weight(m, op, &m->p->ops[i]);
  }
}

static double ratio_or(double of, double whole, double without) { return whole > 0 ? of / whole : without; }

static void make_parts(meter *m) {
  const double *whole = m->whole.of;
  for (int a = 0; a < m->mesh->n_axes; a++) {
    double *of = m->by_axis[a].of;
    of[OF_DATA] = ratio_or(of[OF_SAMPLES] + of[OF_TOKENS], whole[OF_ALL] - of[OF_EXPERTS] - of[OF_VOCABULARY], 0);
    of[POSITIONS] = ratio_or(of[OF_TOKENS], of[OF_SAMPLES] + of[OF_TOKENS], 0);
    for (int k = 0; k <= OF_ALL; k++) of[k] = ratio_or(of[k], whole[OF_ALL], 0);
    of[FFN] = ratio_or(of[COLUMNS] + of[ROWS], whole[FFN], 0);
    of[COLUMNS] = ratio_or(of[COLUMNS], whole[FFN], 0);
    of[ROWS] = ratio_or(of[ROWS], whole[FFN], 0);
    of[ATTENTION] = ratio_or(of[ATTENTION], whole[ATTENTION], 1);
    of[WORDS] = ratio_or(of[WORDS], whole[WORDS], 0);
    of[EXPERTS] = ratio_or(of[EXPERTS], whole[EXPERTS], 0);
    of[TABLES] = ratio_or(of[TABLES], whole[PARAMETERS], 0);
    of[PARAMETERS] = ratio_or(of[PARAMETERS], whole[PARAMETERS], 0);
    of[REST] = ratio_or(of[REST], whole[REST], 0);
    of[STATE] = fmax(0, ratio_or(of[STATE], whole[STATE], 0) - of[REST]);
    of[BETWEEN] = ratio_or(of[BETWEEN], of[BETWEEN] + m->uncut[a], 0);
    of[HAS_HEADS] = whole[ATTENTION] > 0;
  }
}

static sw_rc take_measures(meter *m, sw_arena *arena, sw_diag *d) {
  SW_TRY(sw_classify_values(m->g, arena, &m->class_of, d));
  SW_TRY(sw_dim_roles_find(m->g, m->class_of, arena, &m->roles, d));
  SW_ARENA_NEW_EACH(arena, m->mesh->n_axes, d, m->by_axis, m->uncut);
  SW_ARENA_NEW_EACH(arena, m->g->n_args, d, m->multiplied, m->seen);
  find_multiplied(m);
  measure_rest(m);
  measure_ops(m);
  make_parts(m);
  return SW_OK;
}

/* --- layers ------------------------------------------------------------------------------------------------------- */

/* Of uses in order, n kinds of them again and again. */
typedef struct layers {
  int32_t first, length, n, alike;
} layers;

static sw_rc note_use(meter *m, sw_id id, sw_diag *d) {
  const sw_op *op = &m->g->ops[id];
  const int operand = sw_weight_operand(&m->roles, op);
  const sw_id value = operand < 0 ? -1 : op->operands[operand];
  bool fresh = false;
  if (value < 0 || !op->nest) return SW_OK;
  SW_TRY(sw_dict_put(&m->noted, &m->roles.part_of[value], sizeof *m->roles.part_of, 0, NULL, &fresh, d));
  if (!fresh) return SW_OK;
  const sw_type *t = &m->g->values[value].type;
  const int32_t arg = m->roles.weight_of[value];
  const bool stacked = m->roles.part_of[value] != m->roles.part_of[m->g->args[arg]];
  uint64_t kind = sw_hash_bytes(t->dims, (size_t)t->rank * sizeof *t->dims, (uint64_t)weight_group_of(m, value));
  kind = sw_hash_u64((uint64_t)t->dtype, sw_hash_u64((uint64_t)op->code, kind));
  if (stacked) kind = sw_hash_u64((uint64_t)arg, kind); /* each layer has one part of it */
  const weight_use use = {kind, hash_of_strategy(&m->p->ops[id], sw_sharding_hash(&m->p->args[arg])), id};
  return sw_array_push(&m->uses, use, d);
}

/* The loop takes a slice of a weight in each trip. */
static bool walks_weights(const meter *m, const sw_frame *f) {
  for (sw_id i = f->begin + 1; f->kind == SW_OP_WHILE && i < f->end; i++) {
    const sw_op *op = &m->g->ops[i];
    if (&m->g->frames[op->frame] == f && sw_takes_apart(m->g, op) && m->roles.weight_of[op->operands[0]] >= 0)
      return true;
  }
  return false;
}

/* The uses in the loop once for each trip; those of loops in it have been repeated before. */
static sw_rc repeat_uses(meter *m, const sw_frame *f, sw_diag *d) {
  const size_t kMost = 1U << 16, n = m->uses.n;
  size_t from = 0, to;
  while (from < n && m->uses.at[from].op <= f->begin) from++;
  for (to = from; to < n && m->uses.at[to].op < f->end;) to++;
  if (to == from || f->trips < 2 || n > kMost || (size_t)f->trips > (kMost - n) / (to - from)) return SW_OK;
  const size_t more = (size_t)(f->trips - 1) * (to - from);
  SW_TRY(sw_array_reserve(&m->uses, n + more, d));
  weight_use *at = m->uses.at;
  memmove(at + to + more, at + to, (n - to) * sizeof *at);
  for (size_t i = to; i < to + more; i++) at[i] = at[i - (to - from)];
  m->uses.n += more;
  return SW_OK;
}

static sw_rc note_uses(meter *m, sw_diag *d) {
  for (sw_id i = 0; i < m->g->n_ops; i++) SW_TRY(note_use(m, i, d));
  for (int32_t f = m->g->n_frames; f-- > 0;)
    if (walks_weights(m, &m->g->frames[f])) SW_TRY(repeat_uses(m, &m->g->frames[f], d));
  return SW_OK;
}

/* The longest run in which kinds come again after `length`. */
static layers longest_run(const meter *m, int32_t length) {
  layers best = {0};
  int32_t run = 0;
  for (int32_t i = 0; i + length < (int32_t)m->uses.n; i++) {
    run = m->uses.at[i].kind == m->uses.at[i + length].kind ? run + 1 : 0;
    if (run / length + 1 > best.n) best = (layers){i + 1 - run, length, run / length + 1, 0};
  }
  return best;
}

/* How many of the layers are cut as the most of them are. */
static sw_rc count_alike(const meter *m, sw_arena *arena, layers *of, sw_diag *d) {
  uint64_t *cuts;
  int32_t run = 0;
  SW_ARENA_NEW(cuts, arena, of->n, d);
  for (int32_t i = 0; i < of->n * of->length; i++)
    cuts[i / of->length] = sw_hash_u64(m->uses.at[of->first + i].cut, cuts[i / of->length]);
  qsort(cuts, (size_t)of->n, sizeof *cuts, sw_compare_u64);
  for (int32_t i = 0; i < of->n; i++) {
    run = i && cuts[i] == cuts[i - 1] ? run + 1 : 1;
    if (run > of->alike) of->alike = run;
  }
  return SW_OK;
}

/* Those that most weights are in, and more than half of all; of such those that are most alike, the shortest. */
static sw_rc find_weight_layers(const meter *m, sw_arena *arena, layers *out, sw_diag *d) {
  enum { LONGEST = 256 };
  *out = (layers){0};
  for (int32_t length = 1; length <= LONGEST && length <= (int32_t)m->uses.n / 2; length++) {
    layers run = longest_run(m, length);
    const int32_t has = run.n * run.length, best = out->n * out->length;
    if (run.n < 2 || has < best || has <= (int32_t)m->uses.n / 2) continue;
    SW_TRY(count_alike(m, arena, &run, d));
    const bool more = run.alike > 1 && (int64_t)run.alike * out->n > (int64_t)out->alike * run.n;
    if (has > best || more) *out = run;
  }
  return SW_OK;
}

/* --- in words ----------------------------------------------------------------------------------------------------- */

static void begin_clause(sw_text *t) {
  if (t->n) sw_text_puts(t, "; ");
}

/* "data-parallel over x,y"; returns the axes of which it is true. Of plans that cut nothing at all it says no axes. */
static uint32_t put_pattern(const meter *m, const pattern *p, uint32_t all, sw_text *t) {
  uint32_t axes = 0;
  for (int a = 0; a < m->mesh->n_axes; a++)
    if (all >> a & 1U && matches_pattern(p, &m->by_axis[a])) axes |= 1U << a;
  if (!axes) return 0;
  begin_clause(t);
  sw_text_puts(t, m->whole.of[ATTENTION] > 0 ? p->text : p->without_heads);
  if (p->says == PLAIN && axes == all) return axes;
  sw_text_puts(t, " over ");
  for (int a = 0; a < m->mesh->n_axes; a++)
    if (axes >> a & 1U) sw_text_printf(t, "%s%s", m->mesh->axis[a].name, axes >> (a + 1) ? "," : "");
  sw_text_puts(t, p->behind);
  return axes;
}

/* What a part of the arithmetic is cut by; features are columns or rows of weights, or what products make of them. */
static const char *name_of_part(const measures *m, int of) {
  static const char *const kTexts[] = {
      [OF_FEATURES] = "features", [OF_SAMPLES] = "data-parallel", [OF_TOKENS] = "sequence", [OF_EXPERTS] = "experts",
      [OF_HEADS] = "heads",       [OF_VOCABULARY] = "vocabulary", [OF_ALL] = "replicated"};
  if (of == OF_SAMPLES && m->of[PARAMETERS] >= 0.5) return "FSDP (ZeRO-3)";
  return of == OF_SAMPLES && m->of[STATE] >= 0.5 ? "ZeRO-1" : kTexts[of];
}

/* "mixed: 73 % FSDP (ZeRO-3) and 27 % features over x": the two largest parts. */
static void put_mixed(const measures *of, const char *axis, sw_text *t) {
  double parts[OF_ALL + 1];
  const double kLeast = 0.01;
  for (int k = 0; k < OF_ALL; k++) parts[k] = of->of[k];
  parts[OF_ALL] = 1 - of->of[OF_ALL];
  begin_clause(t);
  sw_text_puts(t, "mixed: ");
  for (int n = 0; n < 2; n++) {
    int best = 0;
    for (int k = 1; k <= OF_ALL; k++)
      if (parts[k] > parts[best]) best = k;
    if (n && parts[best] < kLeast) break;
    sw_text_printf(t, "%s%.0f %% %s", n ? " and " : "", 100 * parts[best], name_of_part(of, best));
    parts[best] = 0;
  }
  sw_text_printf(t, " over %s", axis);
}

/* Where the words say parts of a layer, how many layers they are true of; else only where not of all. */
static void put_layers(const layers *of, bool parts, sw_text *t) {
  if (of->n < 2 || (of->alike == of->n && !parts)) return;
  begin_clause(t);
  if (of->alike == 1) sw_text_puts(t, "none of ");
  if (of->alike > 1 && of->alike < of->n) sw_text_printf(t, "%d of ", of->alike);
  sw_text_printf(t, "%d layers alike", of->n);
}

static sw_rc put_plan_words(meter *m, sw_arena *arena, sw_text *t, sw_diag *d) {
  uint32_t said = 0, large = 0;
  bool parts = false;
  layers of;
  SW_TRY(take_measures(m, arena, d));
  SW_TRY(note_uses(m, d));
  SW_TRY(find_weight_layers(m, arena, &of, d));
  for (int a = 0; a < m->mesh->n_axes; a++)
    if (m->mesh->axis[a].size > 1) large |= 1U << a;
  for (int i = 0; i < PATTERNS; i++) {
    const uint32_t axes = put_pattern(m, &kPatterns[i], large, t);
    parts = parts || (axes && kPatterns[i].says == PART);
    if (kPatterns[i].says != BESIDE) said |= axes;
  }
  for (int a = 0; a < m->mesh->n_axes; a++)
    if (large & ~said & 1U << a) put_mixed(&m->by_axis[a], m->mesh->axis[a].name, t);
  if (!large) sw_text_puts(t, "one device");
  if (large) put_layers(&of, parts || (large & ~said), t);
  return SW_OK;
}

sw_rc sw_plan_words(const sw_plan *p, sw_text *out, sw_diag *d) {
  meter m = {.p = p, .g = p->job.graph, .mesh = sw_machine_mesh(p->job.machine)};
  sw_arena arena = {0};
  sw_text t = {0};
  sw_rc rc = put_plan_words(&m, &arena, &t, d);
  if (!rc) sw_text_puts(out, sw_text_str(&t));
  if (!rc && t.rc) rc = SW_FAIL(d, t.rc, SW_NOWHERE, "out of memory");
  sw_text_free(&t);
  sw_array_free(&m.uses);
  sw_dict_deinit(&m.noted);
  sw_arena_deinit(&arena);
  return rc;
}
