/* Rules of ops that no single op of the graph stands for, by the name of the op or the target of a custom call. */
#include <string.h>

#include "mlir/flow/rule_steps.h"
#include "propagate/factors.h"

typedef struct builder {
  const sw_program_flow *p;
  const sw_ir_op *o;
  sw_factors f;
  int n, n_operands, n_results; /* tensors */
  const sw_type *x, *r;         /* of the first operand and result */
} builder;

static int64_t attr_number(const builder *b, const char *name) {
  int64_t n = -1;
  (void)sw_ir_read_int(b->p->t, sw_ir_attr(b->p->t, b->o, name, name), &n);
  return n;
}

/* Lists that cannot be read are empty. To be freed in any case. */
static sw_ir_ints attr_numbers(const builder *b, const char *name) {
  sw_ir_ints list = {0};
  if (sw_ir_read_ints(b->p->t, sw_ir_attr(b->p->t, b->o, name, name), &list, NULL)) list.n = 0;
  return list;
}

static int place_in(const sw_ir_ints *list, int64_t k) {
  for (size_t i = 0; i < list->n; i++) {
    if (list->at[i] == k) return (int)i;
  }
  return -1;
}

/* A factor is dimension k of all operands and results of the rank of the first operand; of results another one may be.
 */
static void share_dim(builder *b, int of_operands, int of_results, int k) {
  for (int i = 0; i < b->n; i++) {
    if (b->f.rule.rank[i] == b->x->rank) sw_factor_in(&b->f, i < b->n_operands ? of_operands : of_results, i, k);
  }
}

/* Every dimension is one factor of all tensors. */
static void alike_rule(builder *b) { sw_factors_alike(&b->f); }

/* What is picked from a dimension is not cut with it. */
static void picked_rule(builder *b) {
  for (int k = 0; k < b->x->rank && k < b->r->rank; k++) {
    const int whole = sw_factor(&b->f, b->x->dims[k], SW_FACTOR_PASS);
    const bool apart = b->r->dims[k] != b->x->dims[k];
    const int part = apart ? sw_factor(&b->f, b->r->dims[k], SW_FACTOR_REPLICATE) : whole;
    b->f.rule.blocked[part] = apart;
    share_dim(b, whole, part, k);
  }
}

/* Collectives: the dimensions that they work along are others behind them. */
static void collective_rule(builder *b) {
  static const char *const kAlong[] = {"all_gather_dim", "scatter_dimension", "split_dimension", "concat_dimension"};
  for (int k = 0; k < b->x->rank && k < b->r->rank; k++) {
    bool apart = false;
    for (size_t i = 0; i < sizeof kAlong / sizeof *kAlong; i++) apart |= attr_number(b, kAlong[i]) == k;
    const int before = sw_factor(&b->f, b->x->dims[k], apart ? SW_FACTOR_REPLICATE : SW_FACTOR_PASS);
    share_dim(b, before, apart ? sw_factor(&b->f, b->r->dims[k], SW_FACTOR_REPLICATE) : before, k);
  }
}

/* Rows and columns of a matrix are needed whole, and so is what comes with each matrix. */
static void matrix_rule(builder *b) {
  const int rank = b->x->rank;
  for (int k = 0; k < rank; k++) {
    const int f = sw_factor(&b->f, b->x->dims[k], k < rank - 2 ? SW_FACTOR_PASS : SW_FACTOR_REPLICATE);
    for (int i = 0; i < b->n; i++) {
      if (b->f.type[i] && (b->f.rule.rank[i] == rank || k < rank - 2)) sw_factor_in(&b->f, f, i, k);
    }
  }
  for (int i = 0, last = -1; i < b->n; i++) {
    if (!b->f.type[i] || b->f.rule.rank[i] != rank - 1) continue;
    if (last < 0) last = sw_factor(&b->f, b->f.type[i]->dims[rank - 2], SW_FACTOR_REPLICATE);
    sw_factor_in(&b->f, last, i, rank - 2);
  }
}

/* Eigenvalues go with the columns of the eigenvectors. */
static void eigh_rule(builder *b) {
  const int rank = b->x->rank;
  alike_rule(b);
  for (int i = 0; i < b->n; i++) {
    for (int k = 0; b->f.type[i] && b->f.rule.rank[i] == rank - 1 && k < rank - 1; k++)
      sw_factor_in(&b->f, k < rank - 2 ? k : rank - 1, i, k);
  }
}

/* Several operands reduced together, each with an initial value behind them all. */
static void reduce_rule(builder *b) {
  sw_ir_ints gone = attr_numbers(b, "dimensions");
  for (int k = 0, kept = 0; k < b->x->rank; k++) {
    const bool stays = place_in(&gone, k) < 0;
    const int f = sw_factor(&b->f, b->x->dims[k], stays ? SW_FACTOR_PASS : SW_FACTOR_REDUCTION);
    for (int i = 0; i < b->n_results; i++) {
      sw_factor_in(&b->f, f, i, k);
      if (stays) sw_factor_in(&b->f, f, b->n_operands + i, kept);
    }
    kept += stays;
  }
  sw_array_free(&gone);
}

/* The same in windows: where a window or a stride is longer than 1, or something is padded, elements move. */
static void window_rule(builder *b) {
  static const char *const kMoves[] = {"window_dimensions", "window_strides", "base_dilations", "window_dilations"};
  sw_ir_ints pad = attr_numbers(b, "padding");
  for (int k = 0; k < b->r->rank; k++) {
    bool moves = pad.n > 2 * (size_t)k + 1 && (pad.at[2 * (size_t)k] || pad.at[2 * (size_t)k + 1]);
    for (size_t i = 0; i < sizeof kMoves / sizeof *kMoves; i++) {
      sw_ir_ints list = attr_numbers(b, kMoves[i]);
      moves |= list.n > (size_t)k && list.at[k] != 1;
      sw_array_free(&list);
    }
    const int f = sw_factor(&b->f, b->r->dims[k], moves ? SW_FACTOR_PERMUTATION : SW_FACTOR_PASS);
    share_dim(b, f, f, k);
  }
  sw_array_free(&pad);
}

/* Scale, offset, mean and variance go with one dimension. */
static void norm_rule(builder *b) {
  const int64_t feature = attr_number(b, "feature_index");
  alike_rule(b);
  for (int i = 0; i < b->n && feature >= 0 && feature < b->x->rank && b->x->rank > 1; i++) {
    if (b->f.rule.rank[i] == 1) sw_factor_in(&b->f, (int)feature, i, 0);
  }
}

/* --- scatter ------------------------------------------------------------------------------------------------------ */

/* Does region 0 combine its arguments in pairs by one op, a reduction? */
static bool body_reduces(const builder *b, int n_pairs) {
  static const char *const kReductions[] = {"add", "multiply", "maximum", "minimum"};
  const sw_ir_tree *t = b->p->t;
  const uint32_t block = sw_ir_block_at(t, b->o, 0);
  const sw_ir_op *first = NULL;
  int n = 0;
  if (block == SW_IR_NONE) return false;
  const uint32_t args = b->p->names->block[block], end = args + t->blocks.at[block].n_args;
  for (uint32_t k = t->blocks.at[block].first_op; k != SW_IR_NONE; k = t->ops.at[k].next) {
    const sw_ir_op *o = &t->ops.at[k];
    if (sw_ir_is_return(t, o)) break;
    if (!first) first = o;
    const uint32_t *use = &b->p->names->use[o->first_use];
    if (o->n_uses != 2 || use[0] == use[1] || !sw_ir_same(t, o->name, first->name)) return false;
    for (int i = 0; i < 2; i++) {
      if (use[i] < args || use[i] >= end) return false;
    }
    n++;
  }
  for (size_t i = 0; i < sizeof kReductions / sizeof *kReductions && first && n == n_pairs; i++) {
    if (sw_ir_last_part_is(t, first->name, kReductions[i])) return true;
  }
  return false;
}

typedef struct scattering {
  int n; /* inputs; behind them are the indices, and updates for each */
  int64_t vector;
  const sw_type *indices, *updates;
  sw_ir_ints window, inserted, batch, index_batch;
} scattering;

static void in_tables(builder *b, const scattering *s, int f, int k) {
  for (int i = 0; i < s->n; i++) {
    sw_factor_in(&b->f, f, i, k);
    sw_factor_in(&b->f, f, b->n_operands + i, k);
  }
}

static void in_updates(builder *b, const scattering *s, int f, int k) {
  for (int i = 0; i < s->n; i++) sw_factor_in(&b->f, f, s->n + 1 + i, k);
}

/* Dim k of the updates is for dim `at` of the indices: batches have tables of their own, else updates meet in one. */
static void update_position(builder *b, const scattering *s, int k, int at, sw_factor_kind met) {
  const int batch = place_in(&s->index_batch, at);
  const int f = sw_factor(&b->f, s->updates->dims[k], batch < 0 ? met : SW_FACTOR_PASS);
  in_updates(b, s, f, k);
  sw_factor_in(&b->f, f, s->n, at);
  if (batch >= 0 && (size_t)batch < s->batch.n) in_tables(b, s, f, (int)s->batch.at[batch]);
}

/* Dim k of the tables: of updates the dims `window` in order, whole or a part of it. */
static void table_dim(builder *b, const scattering *s, int k, int *window) {
  const int64_t size = b->x->dims[k];
  const bool inserted = place_in(&s->inserted, k) >= 0;
  if (place_in(&s->batch, k) >= 0) return;
  const int at = inserted || (size_t)*window >= s->window.n ? -1 : (int)s->window.at[(*window)++];
  const bool whole = at >= 0 && s->updates->dims[at] == size;
  const int f = sw_factor(&b->f, size, inserted || whole ? SW_FACTOR_PASS : SW_FACTOR_REPLICATE);
  in_tables(b, s, f, k);
  if (at >= 0) in_updates(b, s, whole ? f : sw_factor(&b->f, s->updates->dims[at], SW_FACTOR_REPLICATE), at);
}

static void scatter_dims(builder *b, const scattering *s) {
  const sw_factor_kind met = body_reduces(b, s->n) ? SW_FACTOR_REDUCTION : SW_FACTOR_REPLICATE;
  for (int k = 0, at = 0; k < s->updates->rank; k++) {
    if (place_in(&s->window, k) >= 0) continue;
    at += at == s->vector;
    if (at < s->indices->rank) update_position(b, s, k, at++, met);
  }
  for (int k = 0, window = 0; k < b->x->rank; k++) table_dim(b, s, k, &window);
  if (s->vector < 0 || s->vector >= s->indices->rank) return;
  sw_factor_in(&b->f, sw_factor(&b->f, s->indices->dims[s->vector], SW_FACTOR_REPLICATE), s->n, (int)s->vector);
}

static void scatter_rule(builder *b) {
  const sw_ir_tree *t = b->p->t;
  const sw_ir_span said = sw_ir_inside(t, sw_ir_attr(t, b->o, "scatter_dimension_numbers", NULL));
  scattering s = {.n = b->n_results};
  const struct {
    const char *name;
    sw_ir_ints *list;
  } lists[] = {{"update_window_dims", &s.window},
               {"inserted_window_dims", &s.inserted},
               {"input_batching_dims", &s.batch},
               {"scatter_indices_batching_dims", &s.index_batch}};
  bool known = b->n_operands == 2 * s.n + 1;
  if (known) s.indices = b->f.type[s.n], s.updates = b->f.type[s.n + 1];
  known &= s.indices && s.updates;
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
    sw_ir_span v = sw_ir_entry(t, said, lists[i].name);
    known &= !sw_ir_present(v) || !sw_ir_read_ints(t, v, lists[i].list, NULL);
  }
  if (!sw_ir_read_int(t, sw_ir_entry(t, said, "index_vector_dim"), &s.vector)) s.vector = -1;
  if (known) scatter_dims(b, &s);
  for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) sw_array_free(lists[i].list);
}

static const struct {
  const char *name; /* of an op without its dialect, or of a target */
  bool is_call;
  int least_rank, least_operands;
  sw_flow_op_class kind;
  void (*make)(builder *b);
} kRows[] = {
    {"all_gather", false, 1, 1, SW_STEP_OTHER, collective_rule},
    {"all_to_all", false, 1, 1, SW_STEP_OTHER, collective_rule},
    {"reduce_scatter", false, 1, 1, SW_STEP_OTHER, collective_rule},
    {"all_reduce", false, 1, 1, SW_STEP_OTHER, collective_rule},
    {"collective_permute", false, 1, 1, SW_STEP_OTHER, collective_rule},
    {"collective_broadcast", false, 1, 1, SW_STEP_OTHER, collective_rule},
    {"reduce", false, 1, 2, SW_STEP_OTHER, reduce_rule},
    {"reduce_window", false, 1, 2, SW_STEP_OTHER, window_rule},
    {"scatter", false, 1, 3, SW_STEP_OTHER, scatter_rule},
    {"batch_norm_inference", false, 1, 5, SW_STEP_OTHER, norm_rule},
    {"batch_norm_training", false, 1, 3, SW_STEP_OTHER, norm_rule},
    {"batch_norm_grad", false, 1, 5, SW_STEP_OTHER, norm_rule},
    {"MoveToHost", true, 1, 1, SW_STEP_ELEMENTWISE, alike_rule},
    {"MoveToDevice", true, 1, 1, SW_STEP_ELEMENTWISE, alike_rule},
    {"annotate_device_placement", true, 1, 1, SW_STEP_ELEMENTWISE, alike_rule},
    {"CompactWyHelper", true, 1, 1, SW_STEP_OTHER, alike_rule},
    {"InspectSharding", true, 1, 1, SW_STEP_OTHER, alike_rule},
    {"LayoutConstraint", true, 1, 1, SW_STEP_OTHER, alike_rule},
    {"X64Combine", true, 1, 2, SW_STEP_ELEMENTWISE, alike_rule},
    {"X64SplitHigh", true, 1, 1, SW_STEP_ELEMENTWISE, alike_rule},
    {"X64SplitLow", true, 1, 1, SW_STEP_ELEMENTWISE, alike_rule},
    {"xla.megascale.provide_metadata", true, 1, 1, SW_STEP_OTHER, alike_rule},
    {"Eigh", true, 2, 1, SW_STEP_OTHER, eigh_rule},
    {"Qr", true, 2, 1, SW_STEP_OTHER, matrix_rule},
    {"QrDecompositionBlock", true, 2, 1, SW_STEP_OTHER, matrix_rule},
    {"ProductOfElementaryHouseholderReflectors", true, 2, 1, SW_STEP_OTHER, matrix_rule},
    {"ApproxTopK", true, 1, 1, SW_STEP_OTHER, picked_rule},
    {"PartialReduce", true, 1, 1, SW_STEP_OTHER, picked_rule},
};

bool sw_ir_last_part_is(const sw_ir_tree *t, sw_ir_span name, const char *text) {
  while (name.at < name.end && t->s[name.at] != '.') name.at++;
  return sw_ir_is(t, (sw_ir_span){name.at + (name.at < name.end), name.end}, text);
}

bool sw_ir_calls(const sw_ir_tree *t, const sw_ir_op *o, const char *target) {
  return sw_ir_last_part_is(t, o->name, "custom_call") && sw_ir_is(t, sw_ir_call_target(t, o), target);
}

static bool is_row(const sw_program_flow *p, const sw_ir_op *o, size_t i) {
  return kRows[i].is_call ? sw_ir_calls(p->t, o, kRows[i].name) : sw_ir_last_part_is(p->t, o->name, kRows[i].name);
}

static sw_rc make_text_rule(sw_program_flow *p, const sw_ir_op *o, size_t row, sw_flow_op *s) {
  const sw_type *types[SW_MOST_TENSORS];
  builder b = {
      .p = p, .o = o, .n = s->n_operands + s->n_results, .n_operands = s->n_operands, .n_results = s->n_results};
  for (int i = 0; i < b.n; i++) types[i] = s->tensors[i] < 0 ? NULL : &p->type.at[s->tensors[i]];
  if (!s->n_results || !types[0] || !types[s->n_operands] || types[0]->rank < kRows[row].least_rank) return SW_OK;
  b.x = types[0];
  b.r = types[s->n_operands];
  (void)sw_factors_begin(&b.f, b.n_operands, b.n_results, types);
  kRows[row].make(&b);
  s->kind = kRows[row].kind;
  return b.f.full ? SW_OK : sw_factor_rule_keep(&b.f.rule, &p->arena, &s->rule, p->d);
}

sw_rc sw_text_rule(sw_program_flow *p, const sw_ir_op *o, sw_flow_op *s) {
  if (s->n_operands + s->n_results > SW_MOST_TENSORS) return SW_OK;
  for (size_t i = 0; i < sizeof kRows / sizeof *kRows; i++) {
    if (is_row(p, o, i)) return s->n_operands < kRows[i].least_operands ? SW_OK : make_text_rule(p, o, i, s);
  }
  return SW_OK;
}
