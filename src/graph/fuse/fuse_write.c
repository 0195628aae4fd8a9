#include "graph/fuse/fuse_write.h"

#include <stdlib.h>
#include <string.h>

#include "graph/attention.h"

/* --- helpers ------------------------------------------------------------------------------------------------------ */

/* A name that neither graph has. */
static sw_rc fresh(sw_fuse_writer *w, const char *base, const char *part, const char **out) {
  for (int i = 0;; i++) {
    const char *name = i ? sw_arena_printf(w->arena, w->d, "%s.%s_%d", base, part, i)
                         : sw_arena_printf(w->arena, w->d, "%s.%s", base, part);
    if (!name) return SW_E_RESOURCE;
    const bool taken = sw_graph_value_named(w->from, name) >= 0 || sw_graph_op_named(w->from, name) >= 0 ||
                       sw_graph_value_named(w->to, name) >= 0 || sw_graph_op_named(w->to, name) >= 0;
    if (taken) continue;
    *out = name;
    return SW_OK;
  }
}

/* An op that stands where `at` stood; result NULL: a name of its own. */
static sw_rc helper(sw_fuse_writer *w, const sw_op *at, sw_opcode code, sw_id x, const sw_attr *attr,
                    const char *result, sw_id *out) {
  sw_id results[SW_MAX_RESULTS];
  sw_op_spec spec = {.code = code,
                     .n_operands = 1,
                     .operands = &x,
                     .n_attrs = attr != NULL,
                     .attrs = attr,
                     .span = at->span,
                     .location = at->location,
                     .n_result_names = result != NULL,
                     .result_names = &result};
  SW_TRY(fresh(w, at->name, sw_opcode_text(code), &spec.name));
  SW_TRY(sw_graph_add_op(w->to, &spec, results, w->d));
  *out = results[0];
  return SW_OK;
}

static sw_rc reshape(sw_fuse_writer *w, const sw_op *at, sw_id x, int rank, const int64_t *shape, const char *result,
                     sw_id *out) {
  return helper(w, at, SW_OP_RESHAPE, x, &(sw_attr){.key = SW_ATTR_SHAPE, .u.ints = {shape, rank}}, result, out);
}

static sw_rc transpose(sw_fuse_writer *w, const sw_op *at, sw_id x, int rank, const int64_t *order, const char *result,
                       sw_id *out) {
  return helper(w, at, SW_OP_TRANSPOSE, x, &(sw_attr){.key = SW_ATTR_PERMUTATION, .u.ints = {order, rank}}, result,
                out);
}

/* --- orders of dims ----------------------------------------------------------------------------------------------- */

/* Places of the four dims of an operand. */
enum { BATCH, HEADS, POSITIONS, WIDTH, PLACES };

static bool positions_first(const sw_fuse_region *r) {
  int query = -1, head = -1;
  for (int i = 0; i < r->q.dims.rank; i++) {
    const sw_fuse_dim at = r->q.dims.at[i];
    const bool is_head =
        (at.dim == r->kv_head && at.stride < r->heads) || at.dim == r->group || at.dim == SW_FUSE_JOINED;
    if (at.dim == r->query && query < 0) query = i;
    if (is_head && at.dim >= 0 && head < 0) head = i;
  }
  return query >= 0 && head >= 0 && query < head;
}

/* `scores`: of bias and mask, [batch, head, query, key]. */
static int place_of(const sw_fuse_region *r, sw_fuse_dim at, bool scores, bool swapped) {
  const int heads = swapped ? POSITIONS : HEADS, positions = swapped ? HEADS : POSITIONS, dim = at.dim;
  if (dim < 0) return BATCH;
  if (dim == SW_FUSE_WIDTH || dim == SW_FUSE_VALUE_WIDTH) return WIDTH;
  if (dim == r->kv_head) return at.stride < r->heads ? heads : BATCH;
  if (dim == r->group || dim == SW_FUSE_JOINED) return heads;
  if (dim == r->query) return positions;
  if (dim == r->key) return scores ? WIDTH : positions;
  return BATCH;
}

/* The dims of a value, those that are batches and heads in one cut in two. */
typedef struct ordered {
  int rank;
  int64_t apart[SW_MAX_RANK + 1];
  int64_t order[SW_MAX_RANK + 1]; /* dims of that, place by place */
  int64_t size[PLACES];
  bool cuts;
  bool moves; /* another order than the value's own, of dims longer than 1 */
} ordered;

/* Of several dims at one place the kv head comes before the group, others in the order of the scores, major first. */
static bool comes_before(const sw_fuse_region *r, sw_fuse_dim a, int place_a, sw_fuse_dim b, int place_b) {
  if (place_a != place_b) return place_a < place_b;
  if (a.dim == b.dim) return a.stride > b.stride;
  if (a.dim == r->group || b.dim == r->group) return b.dim == r->group;
  return a.dim < b.dim;
}

static int cut_dims(const sw_fuse_region *r, const sw_type *t, const sw_fuse_dims *dims, sw_fuse_dim *at,
                    ordered *out) {
  int n = 0;
  for (int i = 0; i < t->rank; i++) {
    const sw_fuse_dim x = dims->at[i];
    out->apart[n] = t->dims[i];
    if (x.dim >= 0 && x.dim == r->kv_head && x.stride < r->heads && x.stride * t->dims[i] > r->heads) {
      out->cuts = true;
      out->apart[n] = t->dims[i] * x.stride / r->heads;
      at[n++] = (sw_fuse_dim){x.dim, r->heads};
      out->apart[n] = r->heads / x.stride;
    }
    at[n++] = x;
  }
  return n;
}

static void order_dims(const sw_fuse_region *r, const sw_type *t, const sw_fuse_dims *dims, bool scores, bool swapped,
                       ordered *out) {
  sw_fuse_dim at[SW_MAX_RANK + 1];
  *out = (ordered){.size = {1, 1, 1, 1}};
  out->rank = cut_dims(r, t, dims, at, out);
  for (int i = 0; i < out->rank; i++) {
    int k = i;
    const int place = place_of(r, at[i], scores, swapped);
    for (; k > 0; k--) {
      const int before = (int)out->order[k - 1];
      if (!comes_before(r, at[i], place, at[before], place_of(r, at[before], scores, swapped))) break;
      out->order[k] = before;
    }
    out->order[k] = i;
    out->size[place] *= out->apart[i];
  }
  int64_t last = -1;
  for (int i = 0; i < out->rank; i++) {
    if (out->apart[out->order[i]] == 1) continue;
    out->moves = out->moves || out->order[i] < last;
    last = out->order[i];
  }
}

/* --- operands and results ----------------------------------------------------------------------------------------- */

static bool has_shape(const sw_type *t, int rank, const int64_t *dims) {
  bool same = t->rank == rank;
  for (int i = 0; same && i < rank; i++) same = t->dims[i] == dims[i];
  return same;
}

static sw_rc bring_in(sw_fuse_writer *w, const sw_fuse_region *r, const sw_op *at, const sw_fuse_operand *x,
                      bool scores, sw_id *out) {
  ordered o;
  const sw_dtype dtype = w->from->values[r->q.id].type.dtype;
  order_dims(r, &w->from->values[x->id].type, &x->dims, scores, !scores && positions_first(r), &o);
  *out = w->now[x->id];
  if (*out < 0) return SW_BUG(w->d, "'%s' is read by an attention before it is made", w->from->values[x->id].name);
  if (!scores && w->to->values[*out].type.dtype != dtype)
    SW_TRY(helper(w, at, SW_OP_CONVERT, *out, &(sw_attr){.key = SW_ATTR_DTYPE, .u.i = dtype}, NULL, out));
  if (o.moves && o.cuts) SW_TRY(reshape(w, at, *out, o.rank, o.apart, NULL, out));
  if (o.moves) SW_TRY(transpose(w, at, *out, o.rank, o.order, NULL, out));
  if (has_shape(&w->to->values[*out].type, PLACES, o.size)) return SW_OK;
  return reshape(w, at, *out, PLACES, o.size, NULL, out);
}

bool sw_fuse_is_native(const sw_fuse_region *r, const sw_fuse_operand *x) {
  ordered o;
  const sw_type *t = &r->g->values[x->id].type;
  order_dims(r, t, &x->dims, false, positions_first(r), &o);
  return !o.moves && has_shape(t, PLACES, o.size);
}

/* Is a result of the op the old one as it is? */
static bool comes_out_as_is(const sw_fuse_writer *w, const sw_fuse_region *r, const sw_fuse_exit *e) {
  const sw_fuse_operand x = {w->from->ops[e->op].results[0], e->dims};
  return sw_fuse_is_native(r, &x) && w->from->values[x.id].type.dtype == w->from->values[r->q.id].type.dtype;
}

/* From the op's order of dims back to the value's. */
static sw_rc move_back(sw_fuse_writer *w, const sw_op *at, const ordered *o, const sw_type *t, const char *name,
                       sw_id *x) {
  int64_t sorted[SW_MAX_RANK + 1], back[SW_MAX_RANK + 1];
  for (int i = 0; i < o->rank; i++) {
    sorted[i] = o->apart[o->order[i]];
    back[o->order[i]] = i;
  }
  if (!has_shape(&w->to->values[*x].type, o->rank, sorted)) SW_TRY(reshape(w, at, *x, o->rank, sorted, NULL, x));
  SW_TRY(transpose(w, at, *x, o->rank, back, o->cuts ? NULL : name, x));
  return o->cuts ? reshape(w, at, *x, t->rank, t->dims, name, x) : SW_OK;
}

static sw_rc bring_out(sw_fuse_writer *w, const sw_fuse_region *r, const sw_fuse_exit *e, sw_id x) {
  const sw_op *at = &w->from->ops[e->op];
  const sw_id old = at->results[0];
  const sw_type *t = &w->from->values[old].type;
  ordered o;
  order_dims(r, t, &e->dims, false, positions_first(r), &o);
  w->now[old] = x;
  if (comes_out_as_is(w, r, e)) return SW_OK;
  const char *name = w->from->values[old].name;
  const bool moves = o.moves || !has_shape(t, PLACES, o.size);
  if (w->to->values[x].type.dtype != t->dtype) {
    const sw_attr to = {.key = SW_ATTR_DTYPE, .u.i = t->dtype};
    SW_TRY(helper(w, at, SW_OP_CONVERT, x, &to, moves ? NULL : name, &x));
    w->now[old] = x;
  }
  if (!moves) return SW_OK;
  if (!o.moves) return reshape(w, at, x, t->rank, t->dims, name, &w->now[old]);
  SW_TRY(move_back(w, at, &o, t, name, &x));
  w->now[old] = x;
  return SW_OK;
}

/* Heads of several dims have to be there all or none; batches as well. */
bool sw_fuse_fits_scores(const sw_fuse_region *r, const sw_fuse_operand *x) {
  int64_t full[PLACES];
  ordered o;
  const sw_type all = {.rank = r->n_dims, .dims = r->size};
  sw_fuse_dims scores = {.rank = r->n_dims};
  for (int i = 0; i < r->n_dims; i++) scores.at[i] = (sw_fuse_dim){i, 1};
  order_dims(r, &all, &scores, true, false, &o);
  memcpy(full, o.size, sizeof full);
  order_dims(r, &r->g->values[x->id].type, &x->dims, true, false, &o);
  for (int p = 0; p < PLACES; p++) {
    if (o.size[p] != 1 && o.size[p] != full[p]) return false;
  }
  return true;
}

/* Not spread over what shares it, where the op takes it so. */
static void narrow(const sw_fuse_region *r, sw_fuse_operand *x) {
  sw_fuse_operand small = *x;
  if (x->id < 0) return;
  sw_fuse_unspread(r, &small);
  if (sw_fuse_fits_scores(r, &small)) *x = small;
}

void sw_fuse_narrow(sw_fuse_region *r) {
  narrow(r, &r->bias);
  narrow(r, &r->mask);
}

/* --- the ops ------------------------------------------------------------------------------------------------------ */

enum { MOST_OPERANDS = 12, MOST_ATTRS = 8 };

/* Behind the n operands there are: what is kept, bias, mask, lengths and start. */
static sw_rc add_scores(sw_fuse_writer *w, const sw_fuse_region *r, const sw_op *at, sw_id *in, int *n) {
  if (r->keep.id >= 0) {
    SW_TRY(bring_in(w, r, at, &r->keep, true, &in[*n]));
    if (r->keep_drops) SW_TRY(helper(w, at, SW_OP_NOT, in[*n], NULL, NULL, &in[*n]));
    (*n)++;
  }
  if (r->bias.id >= 0) SW_TRY(bring_in(w, r, at, &r->bias, true, &in[(*n)++]));
  if (r->mask.id >= 0) {
    SW_TRY(bring_in(w, r, at, &r->mask, true, &in[*n]));
    if (r->mask_hides) SW_TRY(helper(w, at, SW_OP_NOT, in[*n], NULL, NULL, &in[*n]));
    (*n)++;
  }
  if (r->lengths >= 0) in[(*n)++] = w->now[r->lengths];
  if (r->start >= 0) in[(*n)++] = w->now[r->start];
  return SW_OK;
}

static int attributes(const sw_fuse_region *r, sw_attr *at) {
  int n = 0;
  at[n++] = (sw_attr){.key = SW_ATTR_SCALE, .u.f = r->scale};
  at[n++] = (sw_attr){.key = SW_ATTR_LAYOUT, .u.text = positions_first(r) ? "bshd" : "bhsd"};
  at[n++] = (sw_attr){.key = SW_ATTR_CAUSAL, .u.i = r->causal};
  if (r->softcap > 0) at[n++] = (sw_attr){.key = SW_ATTR_SOFTCAP, .u.f = r->softcap};
  if (r->keep.id >= 0) at[n++] = (sw_attr){.key = SW_ATTR_DROPOUT, .u.f = 1 - 1 / r->kept_by};
  at[n++] = (sw_attr){.key = SW_ATTR_BASE, .u.i = r->base};
  if (r->window[0] >= 0) at[n++] = (sw_attr){.key = SW_ATTR_WINDOW, .u.ints = {r->window, 2}};
  return n;
}

static sw_rc bring_heads(sw_fuse_writer *w, const sw_fuse_region *r, const sw_op *at, sw_id *in) {
  SW_TRY(bring_in(w, r, at, &r->q, false, &in[SW_ATTENTION_Q]));
  SW_TRY(bring_in(w, r, at, &r->k, false, &in[SW_ATTENTION_K]));
  return bring_in(w, r, at, &r->v, false, &in[SW_ATTENTION_V]);
}

/* What is said of the values inside, of the op made last. */
static sw_rc say(sw_fuse_writer *w, const sw_fuse_said *s) {
  int32_t loop_of[SW_MAX_REFS];
  sw_axis_ref refs[SW_MAX_REFS];
  if (!s->first) return SW_OK;
  sw_annotation a = *s->first;
  a.value = -1;
  a.op = w->to->n_ops - 1;
  a.sharding = (sw_sharding){0};
  a.open_dims = 0;
  for (int l = 0; l < SW_ATTENTION_LOOPS; l++) {
    for (int i = 0; i < s->n[l] && a.n_loop_refs < SW_MAX_REFS; i++) {
      loop_of[a.n_loop_refs] = l;
      refs[a.n_loop_refs++] = s->refs[l][i];
    }
  }
  a.loop_of = loop_of;
  a.loop_refs = refs;
  return sw_graph_add_annotation(w->to, &a, w->d);
}

sw_rc sw_fuse_write_forward(sw_fuse_writer *w, const sw_fuse_region *r, sw_id o_lse[2]) {
  const sw_fuse_exit *e = &r->exit[SW_FUSE_O];
  const bool gives = e->op >= 0;
  const sw_op *at = &w->from->ops[gives ? e->op : sw_fuse_first_gradient(r)];
  sw_id in[MOST_OPERANDS], results[SW_MAX_RESULTS];
  sw_attr attrs[MOST_ATTRS];
  int n = 3;
  const char *names[2];
  sw_op_spec spec = {.code = SW_OP_ATTENTION, .name = at->name, .span = at->span, .location = at->location};
  SW_TRY(bring_heads(w, r, at, in));
  SW_TRY(add_scores(w, r, at, in, &n));
  spec.n_operands = n;
  spec.operands = in;
  spec.n_attrs = attributes(r, attrs);
  spec.attrs = attrs;
  const char *name = w->from->values[at->results[0]].name;
  if (!gives) SW_TRY(fresh(w, at->name, "attention", &spec.name));
  names[0] = name;
  if (!gives || !comes_out_as_is(w, r, e)) SW_TRY(fresh(w, name, "heads", &names[0]));
  SW_TRY(fresh(w, name, "lse", &names[1]));
  spec.n_result_names = 2;
  spec.result_names = names;
  SW_TRY(sw_graph_add_op(w->to, &spec, results, w->d));
  SW_TRY(say(w, &r->said[SW_FUSE_FORWARD]));
  o_lse[0] = results[0];
  o_lse[1] = results[1];
  return gives ? bring_out(w, r, e, results[0]) : SW_OK;
}

sw_rc sw_fuse_write_gradient(sw_fuse_writer *w, const sw_fuse_region *r, const sw_id o_lse[2]) {
  static const int kResult[3] = {SW_FUSE_DQ, SW_FUSE_DK, SW_FUSE_DV};
  const sw_op *at = &w->from->ops[sw_fuse_first_gradient(r)];
  sw_id in[MOST_OPERANDS], results[SW_MAX_RESULTS];
  sw_attr attrs[MOST_ATTRS];
  int n = SW_ATTENTION_DO + 1;
  const char *names[3];
  static const char *const kParts[3] = {"dq", "dk", "dv"};
  sw_op_spec spec = {.code = SW_OP_ATTENTION_GRAD, .name = at->name, .span = at->span, .location = at->location};
  SW_TRY(bring_heads(w, r, at, in));
  in[SW_ATTENTION_O] = o_lse[0];
  in[SW_ATTENTION_LSE] = o_lse[1];
  SW_TRY(bring_in(w, r, at, &r->d_o, false, &in[SW_ATTENTION_DO]));
  SW_TRY(add_scores(w, r, at, in, &n));
  spec.n_operands = n;
  spec.operands = in;
  spec.n_attrs = attributes(r, attrs);
  spec.attrs = attrs;
  for (int i = 0; i < 3; i++) {
    const sw_fuse_exit *e = &r->exit[kResult[i]];
    const bool as_is = e->op >= 0 && comes_out_as_is(w, r, e);
    if (as_is) names[i] = w->from->values[w->from->ops[e->op].results[0]].name;
    if (!as_is) SW_TRY(fresh(w, at->name, kParts[i], &names[i]));
  }
  spec.n_result_names = 3;
  spec.result_names = names;
  SW_TRY(sw_graph_add_op(w->to, &spec, results, w->d));
  SW_TRY(say(w, &r->said[SW_FUSE_GRADIENT]));
  for (int i = 0; i < 3; i++) {
    if (r->exit[kResult[i]].op >= 0) SW_TRY(bring_out(w, r, &r->exit[kResult[i]], results[i]));
  }
  return SW_OK;
}
