/* Which arguments hold examples: those with a dim that runs over the batch.
 *
 * Dims that one loop of an op goes through are one class, from op to op (of a merged dim its major part counts):
 *
 *   h = x @ w ; y = h + b        x[n,k] w[k,m] h[n,m] b[m] y[n,m]        {x0 h0 y0} {x1 w0} {w1 h1 b0 y1}
 *
 * The batch is in what is computed nearly everywhere, and in few of the floats that go in; widths of layers are in
 * their weights. So the class is taken that has the most values for each such argument, twice the number where
 * contractions and the text say that data has it and not that weights have, half where they say the opposite. Classes
 * that come near it count as well (pixels, tokens of a sequence).
 */
#include "mlir/roles/roles.h"

static const double kNear = 0.7;

typedef struct classes {
  const sw_role_guess *r;
  const sw_graph *g;
  const sw_evidence *evidence;
  int64_t *first;                   /* by value: number of its first dim */
  bool *is_guessed;                 /* by value: nothing says what the argument is */
  int64_t n;                        /* dims */
  int64_t *parent;                  /* by dim: one of its class, nearer to the one that stands for it */
  int32_t *n_values;                /* by class: values that ops make with such a dim */
  int32_t *n_floats;                /* by class: arguments that may be weights; twice, where a contraction says so */
  bool *is_of_data, *is_of_weights; /* by class: by what the text says, or a contraction */
} classes;

static int64_t find_dim_class(classes *c, int64_t dim) {
  while (c->parent[dim] != dim) {
    c->parent[dim] = c->parent[c->parent[dim]];
    dim = c->parent[dim];
  }
  return dim;
}

static sw_id value_of_map(const sw_op *op, int32_t map) { return sw_port_value(op, map); }

/* Dims of one op, by the loop that goes through them. */
static void see_dims_of_op(classes *c, const sw_op *op, int64_t *dim_of_loop) {
  if (!op->nest) return;
  for (int32_t l = 0; l < op->nest->n_loops; l++) dim_of_loop[l] = -1;
  for (int32_t i = 0; i < op->nest->n_maps; i++) {
    const sw_map *map = &op->nest->maps[i];
    for (int32_t d = 0; d < map->rank; d++) {
      if (!map->dims[d].n_terms) continue;
      int32_t loop = map->dims[d].terms[0].loop;
      int64_t dim = c->first[value_of_map(op, i)] + d;
      if (op->nest->loops[loop].kind == SW_LOOP_WHOLE || op->nest->loops[loop].size == 1) continue;
      if (dim_of_loop[loop] >= 0) c->parent[find_dim_class(c, dim)] = find_dim_class(c, dim_of_loop[loop]);
      dim_of_loop[loop] = dim;
    }
  }
}

/* The classes of a value's dims of more than 1, each once; how many. */
static int classes_of(classes *c, sw_id v, int64_t *out) {
  const sw_type *type = &c->g->values[v].type;
  int n = 0;
  for (int32_t d = 0; d < type->rank; d++) {
    int64_t class = find_dim_class(c, c->first[v] + d);
    int k = 0;
    while (k < n && out[k] != class) k++;
    if (k == n && type->dims[d] != 1) out[n++] = class;
  }
  return n;
}

static void count_value(classes *c, sw_id v) {
  const sw_value *value = &c->g->values[v];
  bool is_sure = c->evidence[v] == SW_EVIDENCE_DATA || (value->kind == SW_VALUE_INPUT && !c->is_guessed[v]);
  bool may_be_weights = !is_sure && sw_dtype_class_of(value->type.dtype) == SW_CLASS_FLOAT;
  int64_t class[SW_MAX_RANK];
  int n = classes_of(c, v, class);
  for (int i = 0; i < n; i++) {
    if (value->def >= 0) {
      c->n_values[class[i]]++;
    } else {
      c->is_of_data[class[i]] |= is_sure;
      c->is_of_weights[class[i]] |= c->evidence[v] == SW_EVIDENCE_SURELY_WEIGHTS;
      c->n_floats[class[i]] += may_be_weights + (c->evidence[v] >= SW_EVIDENCE_WEIGHTS);
    }
  }
}

/* 0: no argument has it. */
static double weight_of_class(const classes *c, int64_t class) {
  bool data = c->is_of_data[class], weights = c->is_of_weights[class];
  if (!c->n_floats[class] && !data) return 0;
  return c->n_values[class] * (data == weights ? 1.0 : data ? 2.0 : 0.5) / (1 + c->n_floats[class]);
}

/* Does the argument go into contractions beside what is computed, and share a dim with data that no weights have (as
 * keys and values share their batch with queries, but experts only have what their router makes)? */
static bool goes_with_data(const classes *c, sw_evidence said, const int64_t *class, int n) {
  for (int i = 0; said == SW_EVIDENCE_BATCHED && i < n; i++) {
    if (c->is_of_data[class[i]] && !c->is_of_weights[class[i]]) return true;
  }
  return false;
}

static sw_rc classes_init(classes *c) {
  sw_arena *scratch = c->r->scratch;
  sw_diag *d = c->r->d;
  int64_t n = 0;
  SW_ARENA_NEW_EACH(scratch, c->g->n_values, d, c->first, c->is_guessed);
  for (sw_id v = 0; v < c->g->n_values; v++) {
    c->first[v] = n;
    n += c->g->values[v].type.rank;
  }
  SW_ARENA_NEW_EACH(scratch, n, d, c->parent, c->n_values, c->n_floats, c->is_of_data, c->is_of_weights);
  for (int64_t i = 0; i < n; i++) c->parent[i] = i;
  for (uint32_t i = 0; i < c->r->roles->n; i++) {
    const sw_role *a = &c->r->roles->at[i];
    if (a->source == SW_ROLE_UNSAID) c->is_guessed[a->value] = true;
  }
  c->n = n;
  return SW_OK;
}

sw_rc sw_guess_examples(const sw_role_guess *r) {
  classes c = {.r = r, .g = r->g, .evidence = r->evidence};
  bool *has_examples = r->has_examples;
  int32_t most_loops = 0;
  int64_t *dim_of_loop;
  double most = 0;
  SW_TRY(classes_init(&c));
  for (sw_id i = 0; i < c.g->n_ops; i++) {
    const sw_loop_nest *nest = c.g->ops[i].nest;
    if (nest && nest->n_loops > most_loops) most_loops = nest->n_loops;
  }
  SW_ARENA_NEW(dim_of_loop, r->scratch, most_loops, r->d);
  for (sw_id i = 0; i < c.g->n_ops; i++) see_dims_of_op(&c, &c.g->ops[i], dim_of_loop);
  for (sw_id v = 0; v < c.g->n_values; v++) count_value(&c, v);
  for (int64_t d = 0; d < c.n; d++) {
    if (c.parent[d] == d && weight_of_class(&c, d) > most) most = weight_of_class(&c, d);
  }
  for (sw_id v = 0; v < c.g->n_values && c.g->values[v].def < 0; v++) {
    int64_t class[SW_MAX_RANK];
    int n = classes_of(&c, v, class);
    has_examples[v] = r->evidence[v] == SW_EVIDENCE_DATA || goes_with_data(&c, r->evidence[v], class, n);
    for (int i = 0; most > 0 && i < n; i++) has_examples[v] |= weight_of_class(&c, class[i]) >= kNear * most;
  }
  return SW_OK;
}
