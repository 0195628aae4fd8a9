/* Arguments for a validating run: what an argument is used for decides what it may hold.
 *
 * Indices stay inside the table they address; what a root or a logarithm is taken of is not negative; a single integer
 * is positive, since most count steps, and 1 - b^0 divides; everything else is distinct and of mixed sign. Random
 * weights are scaled by the number of terms that they are summed in, so that what an input says neither explodes nor
 * vanishes in a deep model.
 */
#include <math.h>
#include <string.h>

#include "shardwright/array.h"
#include "shardwright/validate.h"

/* What the walk over uses found out about an argument. */
typedef struct role {
  int64_t index_limit; /* > 0: used as an index below this */
  bool root;           /* a root or logarithm is taken of it */
  double terms;        /* > 0: it is a factor of sums of so many products */
} role;

typedef struct walker {
  const sw_graph *g;
  SW_ARRAY(sw_id) todo;
  bool *seen; /* by value */
  role found;
} walker;

/* Ops that hand values through more or less as they are, for the purposes of this walk. */
static bool hands_through(sw_opcode c) {
  return c == SW_OP_RESHAPE || c == SW_OP_BROADCAST || c == SW_OP_TRANSPOSE || c == SW_OP_CONVERT || c == SW_OP_SLICE ||
         c == SW_OP_CONCATENATE;
}
static bool scales(sw_opcode c) { return c == SW_OP_ADD || c == SW_OP_MULTIPLY || c == SW_OP_DIVIDE; }
static bool takes_root(sw_opcode c) {
  return c == SW_OP_SQRT || c == SW_OP_RSQRT || c == SW_OP_LOG || c == SW_OP_POWER;
}

static void note_index(walker *w, int64_t limit) {
  if (limit > 0 && (w->found.index_limit == 0 || limit < w->found.index_limit)) w->found.index_limit = limit;
}

static void note_terms(walker *w, const sw_space *s) {
  double terms = 1;
  for (int i = 0; i < s->n_loops; i++) {
    if (s->loops[i].kind == SW_LOOP_REDUCTION) terms *= (double)s->loops[i].size;
  }
  if (terms > w->found.terms) w->found.terms = terms;
}

static sw_rc visit_use(walker *w, sw_value_use u, bool integer, sw_diag *d) {
  if (u.op < 0) return SW_OK;
  const sw_op *op = &w->g->ops[u.op];
  int n;
  const int64_t *map = sw_op_ints(op, SW_ATTR_START_INDEX_MAP, &n);
  if ((op->code == SW_OP_GATHER || op->code == SW_OP_SCATTER) && u.index == 1 && n) {
    note_index(w, sw_operand_type(w->g, op, 0)->dims[map[0]]);
  }
  int first_start = op->code == SW_OP_DYNAMIC_SLICE ? 1 : op->code == SW_OP_DYNAMIC_UPDATE_SLICE ? 2 : 1000;
  if (u.index >= first_start) note_index(w, sw_operand_type(w->g, op, 0)->dims[u.index - first_start]);
  if (integer && op->code == SW_OP_COMPARE) { /* one_hot: compared with an iota along the last dimension */
    const sw_type *t = sw_operand_type(w->g, op, 0);
    if (t->rank > 0) note_index(w, t->dims[t->rank - 1]);
  }
  if ((op->code == SW_OP_DOT || op->code == SW_OP_CONVOLUTION) && op->space) note_terms(w, op->space);
  if (takes_root(op->code) && u.index == 0) w->found.root = true;
  bool follow =
      hands_through(op->code) || (!integer && scales(op->code) && !(op->code == SW_OP_DIVIDE && u.index == 1));
  if (!follow) return SW_OK;
  sw_id r = op->results[0];
  if (w->seen[r]) return SW_OK;
  w->seen[r] = true;
  return sw_array_push(&w->todo, r, d);
}

static sw_rc find_role(walker *w, sw_id arg, sw_diag *d) {
  bool integer = sw_dtype_class_of(w->g->values[arg].type.dtype) != SW_CLASS_FLOAT;
  memset(w->seen, 0, (size_t)w->g->n_values * sizeof *w->seen);
  w->found = (role){0};
  w->todo.n = 0;
  SW_TRY(sw_array_push(&w->todo, arg, d));
  while (w->todo.n) {
    const sw_value *v = &w->g->values[w->todo.at[--w->todo.n]];
    for (int32_t i = 0; i < v->n_uses; i++) SW_TRY(visit_use(w, v->uses[i], integer, d));
  }
  return SW_OK;
}

/* Absolute values, and `least` more. */
static void make_positive(sw_tensor *t, double least) {
  int bytes = sw_dtype_bytes(t->dtype);
  for (int64_t i = 0, n = sw_buffer_elements(t); i < n; i++) {
    char *at = (char *)t->data + i * bytes;
    sw_element_store(t->dtype, least + fabs(sw_element_load(t->dtype, at)), at);
  }
}

static bool is_integer(const sw_value *v) {
  sw_dtype_class c = sw_dtype_class_of(v->type.dtype);
  return c == SW_CLASS_SIGNED || c == SW_CLASS_UNSIGNED;
}

static sw_fill fill_for(const sw_value *v, const role *r, uint64_t seed, bool random_floats) {
  sw_fill f = {.kind = random_floats ? SW_FILL_RANDOM : SW_FILL_SMALL, .seed = seed, .limit = random_floats ? 1 : 4};
  if (is_integer(v) && r->index_limit > 0) {
    f.kind = SW_FILL_INDEX;
    f.limit = (double)r->index_limit;
  }
  bool weight = v->kind == SW_VALUE_PARAMETER || v->kind == SW_VALUE_STATE;
  if (random_floats && weight && v->type.rank >= 2 && r->terms > 1) {
    f.limit = sqrt(6.0 / r->terms); /* variance 2 / terms: a rectifier after it takes half */
  }
  return f;
}

static sw_rc make_all(walker *w, const sw_type *const *types, uint64_t seed, bool random_floats, sw_tensor *out,
                      sw_diag *d) {
  const sw_function *f = &w->g->functions[w->g->main];
  for (int32_t i = 0; i < f->n_args; i++) {
    const sw_value *v = &w->g->values[f->args[i]];
    SW_TRY(find_role(w, f->args[i], d));
    sw_fill fill = fill_for(v, &w->found, seed * 1000003u + (uint64_t)i, random_floats);
    const sw_type *t = types ? types[i] : &v->type;
    SW_TRY_NOTE(d, sw_tensor_init(&out[i], t->dtype, t->rank, t->dims, d), "for argument '%s'", v->name);
    SW_TRY_NOTE(d, sw_tensor_fill(&out[i], &fill, d), "for argument '%s'", v->name);
    if (w->found.root && sw_dtype_class_of(v->type.dtype) == SW_CLASS_FLOAT) make_positive(&out[i], 0);
    if (v->type.rank == 0 && is_integer(v) && fill.kind != SW_FILL_INDEX) make_positive(&out[i], 1);
  }
  return SW_OK;
}

sw_rc sw_make_arguments(const sw_graph *g, uint64_t seed, bool random_floats, sw_tensor *out, sw_diag *d) {
  return sw_make_arguments_as(g, NULL, seed, random_floats, out, d);
}

sw_rc sw_make_arguments_as(const sw_graph *g, const sw_type *const *types, uint64_t seed, bool random_floats,
                           sw_tensor *out, sw_diag *d) {
  walker w = {.g = g};
  const sw_function *f = &g->functions[g->main];
  memset(out, 0, (size_t)f->n_args * sizeof *out);
  w.seen = sw_mem_alloc((size_t)g->n_values, sizeof *w.seen, d);
  sw_rc rc = w.seen ? make_all(&w, types, seed, random_floats, out, d) : SW_E_RESOURCE;
  sw_mem_free(w.seen);
  sw_array_free(&w.todo);
  for (int32_t i = 0; rc && i < f->n_args; i++) sw_tensor_deinit(&out[i]);
  return rc;
}
