/* A walk from each argument over what its numbers become, as long as that is a linear function of them:
 *
 *   a = arg0 < 0 ? arg0 + 96 : arg0          both ways lead to the gather; the shorter one, arg0 itself, counts
 *   gather(table[96,32], concatenate(iota, a))  arg0 is part 1 of an index vector: 0 .. 95
 *   log(1 - arg1)                               1 - arg1 is at least EDGE: arg1 is at most 1 - EDGE
 *
 * What is compared with an iota, or with a table of constants, is an index into it.
 */
#include "exec/validate/domains.h"

#include <math.h>
#include <string.h>

#include "base/array.h"
#include "graph/attention.h"

/* How far from the end of a domain numbers stay: a root, a logarithm or a divisor near 0 makes chaotic ones. */
#define EDGE 0.25

/* A value that is scale * x + something within [low, high], x being the argument. */
typedef struct path {
  sw_id value;
  double scale, low, high;
  int part; /* of index vectors that it was concatenated into; -1: none */
} path;

typedef struct walk {
  const sw_graph *g;
  SW_ARRAY(path) todo; /* in the order of their lengths */
  bool *seen;          /* by value */
  const sw_value *arg;
  bool integer;
  sw_value_domain *found;
} walk;

/* --- ranges of what is no argument -------------------------------------------------------------------------------- */

typedef struct range {
  double low, high;
} range;

enum { DEEPEST = 12 };

static bool range_of(const sw_graph *g, sw_id value, int depth, range *out);

static bool range_of_constant(const sw_graph *g, const sw_op *op, range *out) {
  const sw_attr *a = sw_op_attr(op, SW_ATTR_VALUE);
  const sw_type *t = sw_result_type(g, op, 0);
  sw_dtype_class class = sw_dtype_class_of(t->dtype);
  if (!a || class == SW_CLASS_COMPLEX || t->dtype == SW_TOKEN) return false;
  int64_t n = a->u.data.splat ? 1 : sw_type_elements(t), bytes = sw_dtype_bytes(t->dtype);
  *out = (range){INFINITY, -INFINITY};
  for (int64_t i = 0; i < n; i++) {
    double v = sw_element_load(t->dtype, (const char *)a->u.data.bytes + i * bytes);
    out->low = fmin(out->low, v);
    out->high = fmax(out->high, v);
  }
  return isfinite(out->low) && isfinite(out->high);
}

static range combine_ranges(sw_opcode c, range a, range b) {
  if (c == SW_OP_ADD) return (range){a.low + b.low, a.high + b.high};
  if (c == SW_OP_SUBTRACT) return (range){a.low - b.high, a.high - b.low};
  double p[4] = {a.low * b.low, a.low * b.high, a.high * b.low, a.high * b.high};
  return (range){fmin(fmin(p[0], p[1]), fmin(p[2], p[3])), fmax(fmax(p[0], p[1]), fmax(p[2], p[3]))};
}

/* Of what follows from constants and iotas alone. */
static bool range_of(const sw_graph *g, sw_id value, int depth, range *out) {
  const sw_op *op = sw_value_maker(g, value);
  if (!op || depth > DEEPEST) return false;
  if (op->code == SW_OP_CONSTANT) return range_of_constant(g, op, out);
  if (op->code == SW_OP_IOTA) {
    const sw_type *t = sw_result_type(g, op, 0);
    *out = (range){0, (double)t->dims[sw_op_int(op, SW_ATTR_DIM, 0)] - 1};
    return out->high >= 0;
  }
  sw_content content = sw_op_content(op);
  if (content == SW_CONTENT_MOVED || content == SW_CONTENT_ROUNDED) return range_of(g, op->operands[0], depth + 1, out);
  if (op->code != SW_OP_ADD && op->code != SW_OP_SUBTRACT && op->code != SW_OP_MULTIPLY) return false;
  range a, b;
  if (!range_of(g, op->operands[0], depth + 1, &a) || !range_of(g, op->operands[1], depth + 1, &b)) return false;
  *out = combine_ranges(op->code, a, b);
  return true;
}

bool sw_value_range(const sw_graph *g, sw_id value, double *low, double *high) {
  range r;
  if (!range_of(g, value, 0, &r)) return false;
  *low = r.low;
  *high = r.high;
  return true;
}

/* --- what is found ------------------------------------------------------------------------------------------------ */

/* The path's value must lie within [low, high]: what that means for the argument. One that leaves nothing of what is
 * known already is another branch's, and does not count. */
static bool narrow_domain(walk *w, const path *p, double low, double high) {
  sw_value_domain *r = w->found;
  double from = (low - p->low) / p->scale, to = (high - p->high) / p->scale;
  double a = p->scale > 0 ? from : to, b = p->scale > 0 ? to : from;
  if (w->integer) a = ceil(a - 1e-9), b = floor(b + 1e-9);
  if (r->bounded) a = fmax(a, r->low), b = fmin(b, r->high);
  if (!(a <= b)) return false;
  r->bounded = true;
  r->low = a;
  r->high = b;
  return true;
}

static void note_index(walk *w, const path *p, double low, double places) {
  if (places > 0 && narrow_domain(w, p, low, low + places - 1)) w->found->index = true;
}

/* Index vectors that are the argument's own: every part up to its own end. */
static bool note_vectors(walk *w, const path *p, int dim, int n, const double *places) {
  const sw_type *t = &w->g->values[p->value].type;
  bool own = dim < t->rank && t->rank == w->arg->type.rank && p->part < 0 && p->scale > 0 && p->high == p->low;
  for (int k = 0; own && k < t->rank; k++) own = t->dims[k] == w->arg->type.dims[k];
  if (!own || n > SW_MAX_RANK || t->dims[dim] != n || w->found->bounded) return false;
  double most = 0;
  for (int i = 0; i < n; i++) most = fmax(most, places[i]);
  note_index(w, p, 0, most);
  w->found->vector_dim = dim;
  w->found->n_parts = n;
  for (int i = 0; i < n; i++) w->found->part_high[i] = floor((places[i] - 1 - p->low) / p->scale);
  return true;
}

/* How many places a window of each part of an index vector has. */
static void places_of(const sw_graph *g, const sw_op *op, const int64_t *map, int n, double *places) {
  const sw_type *t = sw_operand_type(g, op, 0);
  int n_sizes, n_inserted, n_batch, n_window;
  const int64_t *sizes = sw_op_ints(op, SW_ATTR_SIZES, &n_sizes);
  const int64_t *inserted = sw_op_ints(op, SW_ATTR_INSERTED_DIMS, &n_inserted);
  const int64_t *batch = sw_op_ints(op, SW_ATTR_OPERAND_BATCH, &n_batch);
  const int64_t *window = sw_op_ints(op, SW_ATTR_UPDATE_WINDOW_DIMS, &n_window);
  int64_t extent[SW_MAX_RANK];
  for (int k = 0, next = 0; k < t->rank; k++) {
    bool gone = false;
    for (int i = 0; i < n_inserted; i++) gone = gone || inserted[i] == k;
    for (int i = 0; i < n_batch; i++) gone = gone || batch[i] == k;
    extent[k] = k < n_sizes ? sizes[k] : 1;
    if (op->code == SW_OP_SCATTER && !gone && next < n_window) {
      extent[k] = sw_operand_type(g, op, 2)->dims[window[next++]];
    }
  }
  for (int i = 0; i < n; i++) places[i] = (double)(t->dims[map[i]] - extent[map[i]] + 1);
}

static void visit_indices(walk *w, const path *p, const sw_op *op) {
  int n;
  double places[SW_MAX_RANK];
  const int64_t *map = sw_op_ints(op, SW_ATTR_START_INDEX_MAP, &n);
  if (n < 1 || n > SW_MAX_RANK) return;
  places_of(w->g, op, map, n, places);
  if (n > 1 && p->part < 0) {
    if (note_vectors(w, p, (int)sw_op_int(op, SW_ATTR_INDEX_VECTOR_DIM, 0), n, places)) return;
    for (int i = 1; i < n; i++) places[0] = fmin(places[0], places[i]);
  }
  note_index(w, p, 0, places[p->part > 0 && p->part < n ? p->part : 0]);
}

/* Windows that start at it. */
static void visit_start(walk *w, const path *p, const sw_op *op, int dim) {
  const sw_type *t = sw_operand_type(w->g, op, 0), *window = sw_result_type(w->g, op, 0);
  if (op->code == SW_OP_DYNAMIC_UPDATE_SLICE) window = sw_operand_type(w->g, op, 1);
  note_index(w, p, 0, (double)(t->dims[dim] - window->dims[dim] + 1));
}

/* How many keys there are: none to all. */
static void visit_lengths(walk *w, const path *p, const sw_op *op, int32_t operand) {
  sw_attention a;
  sw_attention_of(w->g, op, &a);
  if (operand == a.lengths) note_index(w, p, 0, (double)op->nest->loops[SW_ATTENTION_KEY].size + 1);
}

/* Beside an iota it is a place there, beside a number some of it is to be on either side. */
static void visit_compare(walk *w, const path *p, const sw_op *op, int32_t operand) {
  range r;
  if (!w->integer || !range_of(w->g, op->operands[1 - operand], 0, &r)) return;
  const char *by = sw_op_text(op, SW_ATTR_DIRECTION, "eq");
  if (r.high > r.low) { /* where x > iota, or iota < x, the last place is one further on */
    bool later = strcmp(by, operand == 0 ? "gt" : "lt") == 0;
    note_index(w, p, r.low + later, r.high - r.low + 1);
    return;
  }
  double a = (r.low - p->low) / p->scale, b = (r.low - p->high) / p->scale;
  w->found->least_compared = w->found->mixed ? fmin(w->found->least_compared, fmin(a, b)) : fmin(a, b);
  w->found->most_compared = w->found->mixed ? fmax(w->found->most_compared, fmax(a, b)) : fmax(a, b);
  w->found->mixed = true;
}

static void note_terms(walk *w, const sw_loop_nest *s) {
  double terms = 1;
  for (int i = 0; i < s->n_loops; i++) {
    if (s->loops[i].kind == SW_LOOP_REDUCTION) terms *= (double)s->loops[i].size;
  }
  if (terms > w->found->terms) w->found->terms = terms;
}

/* --- domains of ops ----------------------------------------------------------------------------------------------- */

typedef struct domain {
  double low, high; /* low = high: all numbers */
} domain;

#define DOMAIN_none \
  {                 \
    { 0 }           \
  }
#define DOMAIN_FIRST(low, high) \
  {                             \
    { low, high }               \
  }
#define DOMAIN_SECOND(low, high) \
  {                              \
    {0}, { low, high }           \
  }
#define DOMAIN_BOTH(low, high, low_second, high_second) \
  {                                                     \
    {low, high}, { low_second, high_second }            \
  }
static const domain kDomains[SW_OP_COUNT][2] = {
#define SW_COLUMN_DOMAIN(id, domain) DOMAIN_##domain,
#include "shardwright/ops.def"
};

/* Integers have divisors and exponents alone. */
static void visit_domain(walk *w, const path *p, const sw_op *op, int32_t operand) {
  if (operand > 1 || kDomains[op->code][operand].low == kDomains[op->code][operand].high) return;
  const domain *k = &kDomains[op->code][operand];
  if (w->integer && sw_dtype_class_of(w->g->values[p->value].type.dtype) != SW_CLASS_FLOAT) {
    if (operand == 1) (void)narrow_domain(w, p, op->code == SW_OP_POWER ? 0 : 1, INFINITY);
  } else {
    (void)narrow_domain(w, p, k->low, k->high);
  }
}

/* --- the walk ----------------------------------------------------------------------------------------------------- */

static sw_rc push_path(walk *w, path p, sw_id to, sw_diag *d) {
  if (w->seen[to]) return SW_OK;
  w->seen[to] = true;
  p.value = to;
  return sw_array_push(&w->todo, p, d);
}

/* x with what is known of the other operand; of floats also where nothing is, as if it were about 0, or 1. */
static bool step_arithmetic(const walk *w, path *p, const sw_op *op, int32_t operand) {
  range r = {0, 0};
  bool known = range_of(w->g, op->operands[1 - operand], 0, &r);
  switch ((int)op->code) {
    case SW_OP_ADD:
      p->low += r.low, p->high += r.high;
      return true;
    case SW_OP_SUBTRACT:
      if (operand == 0) p->low -= r.high, p->high -= r.low;
      if (operand == 1) *p = (path){p->value, -p->scale, r.low - p->high, r.high - p->low, p->part};
      return known || (operand == 0 && w->integer);
    default:
      break;
  }
  if (!known) return !w->integer && !(op->code == SW_OP_DIVIDE && operand == 1);
  double by = r.low == r.high ? r.low : r.high;
  if (op->code == SW_OP_DIVIDE) by = operand == 0 && by != 0 ? 1 / by : 0;
  if (by == 0) return false;
  double a = p->low * by, b = p->high * by;
  *p = (path){p->value, p->scale * by, fmin(a, b), fmax(a, b), p->part};
  return true;
}

/* x % n and x & (n - 1) take any number; several times the size shows that they do. */
static void visit_remainder(walk *w, const path *p, const sw_op *op) {
  range r;
  if (!w->integer || !range_of(w->g, op->operands[1], 0, &r) || r.low != r.high || r.low < 1) return;
  if (!w->found->bounded) (void)narrow_domain(w, p, 0, 4 * (r.low + (op->code == SW_OP_AND)) - 1);
}

static bool is_arithmetic(sw_opcode c) {
  return c == SW_OP_ADD || c == SW_OP_SUBTRACT || c == SW_OP_MULTIPLY || c == SW_OP_DIVIDE;
}

/* What a loop yields enters it again. */
static sw_rc follow_operand(walk *w, path p, const sw_op *op, int32_t operand, sw_diag *d) {
  if (op->code == SW_OP_CONCATENATE) {
    int64_t dim = sw_op_int(op, SW_ATTR_DIM, 0);
    p.part = 0;
    for (int32_t i = 0; i < operand; i++) p.part += (int)sw_operand_type(w->g, op, i)->dims[dim];
  }
  if (op->code == SW_OP_JOIN && operand == 1) SW_TRY(push_path(w, p, op->operands[0], d));
  if (op->code == SW_OP_NEGATE) p = (path){p.value, -p.scale, -p.high, -p.low, p.part};
  bool holds = sw_op_content(op) != SW_CONTENT_COMPUTED && sw_opcode_holds(op->code, operand);
  bool on = op->code == SW_OP_NEGATE || holds;
  if (is_arithmetic(op->code)) on = step_arithmetic(w, &p, op, operand);
  return on ? push_path(w, p, op->results[op->n_results > 1 ? operand : 0], d) : SW_OK;
}

static sw_rc visit_use(walk *w, const path *p, sw_value_use u, sw_diag *d) {
  if (u.op < 0) return SW_OK;
  const sw_op *op = &w->g->ops[u.op];
  int first_start = op->code == SW_OP_DYNAMIC_SLICE ? 1 : op->code == SW_OP_DYNAMIC_UPDATE_SLICE ? 2 : INT32_MAX;
  if ((op->code == SW_OP_GATHER || op->code == SW_OP_SCATTER) && u.index == 1) visit_indices(w, p, op);
  if (u.index >= first_start) visit_start(w, p, op, u.index - first_start);
  if (sw_is_attention(op->code)) visit_lengths(w, p, op, u.index);
  if (op->code == SW_OP_COMPARE) visit_compare(w, p, op, u.index);
  if ((op->code == SW_OP_REMAINDER || op->code == SW_OP_AND) && u.index == 0) visit_remainder(w, p, op);
  if (sw_op_class_of(op->code) == SW_OPS_CONTRACTION && op->nest) note_terms(w, op->nest);
  visit_domain(w, p, op, u.index);
  bool positive = op->code == SW_OP_CONVERT && sw_result_type(w->g, op, 0)->dtype == SW_F8E8M0FNU; /* it alone */
  if (positive) (void)narrow_domain(w, p, EDGE, INFINITY);
  if ((op->code == SW_OP_CHOLESKY || op->code == SW_OP_TRIANGULAR_SOLVE) && u.index == 0) w->found->dominant = true;
  return op->n_results ? follow_operand(w, *p, op, u.index, d) : SW_OK;
}

static sw_rc find_role(walk *w, sw_id arg, sw_value_domain *out, sw_diag *d) {
  w->arg = &w->g->values[arg];
  w->integer = sw_dtype_class_of(w->arg->type.dtype) != SW_CLASS_FLOAT;
  w->found = out;
  *out = (sw_value_domain){.vector_dim = -1};
  memset(w->seen, 0, (size_t)w->g->n_values * sizeof *w->seen);
  w->todo.n = 0;
  SW_TRY(sw_array_push(&w->todo, ((path){arg, 1, 0, 0, -1}), d));
  for (size_t at = 0; at < w->todo.n; at++) {
    const path p = w->todo.at[at];
    const sw_value *v = &w->g->values[p.value];
    for (int32_t i = 0; i < v->n_uses; i++) SW_TRY(visit_use(w, &p, v->uses[i], d));
  }
  return SW_OK;
}

sw_rc sw_value_domains_find(const sw_graph *g, sw_value_domain *domains, sw_diag *d) {
  walk w = {.g = g};
  w.seen = sw_mem_alloc((size_t)g->n_values + 1, sizeof *w.seen, d);
  sw_rc rc = w.seen ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; !rc && i < g->n_args; i++) rc = find_role(&w, g->args[i], &domains[i], d);
  sw_mem_free(w.seen);
  sw_array_free(&w.todo);
  return rc;
}
