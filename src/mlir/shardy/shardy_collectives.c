/* Collectives of whole tensors: what the op says of axes takes the operand's sharding to the one of its result.
 *
 *   [{"x", "y"}, {}]   all_gather [{"y"}, {}]   [{"x"}, {}]     the last axes of a dimension go
 *   [{"x"}, {}]        all_slice [{"y"}, {}]    [{"x", "y"}, {}]
 */
#include <string.h>

#include "mlir/shardy/shardy_check.h"

/* Axes of one dimension. */
typedef sw_axes axes;

typedef struct collective {
  sw_sdy_checker *c;
  const sw_ir_op *o;
  const char *what;    /* its axes, for messages */
  sw_ir_span at;       /* where they stand */
  const sw_mesh *mesh; /* of the result */
  sw_open_sharding from, to;
  int n;                  /* lists of axes */
  axes list[SW_MAX_RANK]; /* one for each dimension, or for each move; list[0] of ops that have one */
  axes dim[SW_MAX_RANK];  /* of the operand, which the op changes */
} collective;

#define WRONG(r, span, ...) SW_SDY_WRONG((r)->c, (span).at, __VA_ARGS__)

/* Axes as a message names them. */
static const char *axes_text(const collective *r, const sw_axis_ref *a, int n) {
  sw_text t = {0};
  sw_sdy_axes_print(r->mesh, a, n, &t);
  const char *text = sw_text_keep(&t, r->c->x.arena, r->c->x.d);
  return text ? text : "";
}

/* --- what the op says --------------------------------------------------------------------------------------------- */

/* All lists of axes together; each alone is read by then. */
static sw_rc check_distinct(collective *r) {
  sw_axis_ref all[SW_MAX_REFS];
  int n = 0;
  for (int k = 0; k < r->n; k++) {
    if (n + r->list[k].n > SW_MAX_REFS) return WRONG(r, r->at, "more than %d axes", SW_MAX_REFS);
    memcpy(all + n, r->list[k].at, sizeof *all * (size_t)r->list[k].n);
    n += r->list[k].n;
  }
  return sw_sdy_axes_are_distinct(&r->c->x, r->mesh, r->at, all, n);
}

/* An attribute, or in the custom form the first bracket; the list without what stands before it. */
static sw_ir_span listed_axes_of(const collective *r, const char *key, char bracket) {
  sw_ir_span v = sw_ir_attr(r->c->t, r->o, key, NULL);
  if (!sw_ir_present(v) && !r->o->generic) v = r->o->body;
  while (v.at < v.end && r->c->t->s[v.at] != bracket && r->c->t->s[v.at] != '%') v.at++;
  if (v.at >= v.end || r->c->t->s[v.at] != bracket) return (sw_ir_span){0, 0};
  return (sw_ir_span){v.at, sw_ir_inside(r->c->t, v).end + 1};
}

/* [{"x"}, {}]: one list for each dimension. */
static sw_rc read_dim_axis_lists(collective *r, const char *key) {
  uint32_t cursor = 0;
  sw_ir_span item;
  r->at = listed_axes_of(r, key, '[');
  if (!sw_ir_present(r->at)) return WRONG(r, r->o->text, "expected lists of axes, [{\"x\"}, {}]");
  for (; sw_ir_next_item(r->c->t, r->at, &cursor, &item); r->n++) {
    if (r->n == SW_MAX_RANK) return WRONG(r, item, "more than %d dimensions", SW_MAX_RANK);
    if (r->c->t->s[item.at] != '{') return WRONG(r, item, "expected a list of axes, {\"x\"}");
    SW_TRY(sw_sdy_axes_read(&r->c->x, r->mesh, item, &r->list[r->n]));
  }
  if (r->n != r->to.cut.rank)
    return WRONG(r, r->at, "there are lists of axes for %d dimensions; expected %d, as the result's sharding has", r->n,
                 r->to.cut.rank);
  return check_distinct(r);
}

/* {"x"}, in the order of the mesh. */
static sw_rc read_axis_list(collective *r, const char *key) {
  r->at = listed_axes_of(r, key, '{');
  if (!sw_ir_present(r->at)) return WRONG(r, r->o->text, "expected a list of axes, {\"x\"}");
  r->n = 1;
  SW_TRY(sw_sdy_axes_read(&r->c->x, r->mesh, r->at, &r->list[0]));
  SW_TRY(check_distinct(r));
  return sw_sdy_axes_are_ordered(&r->c->x, r->at, r->what, r->list[0].at, r->list[0].n);
}

static sw_rc read_reduction_op(collective *r, sw_reduction *out) {
  static const char *const kKinds[] = {"sum", "max", "min"};
  const sw_ir_tree *t = r->c->t;
  sw_ir_span v = sw_ir_attr(t, r->o, "reduction_op", NULL);
  int64_t number = -1;
  *out = SW_REDUCE_SUM;
  if (!sw_ir_present(v)) v = r->o->generic ? v : sw_ir_trimmed(t, (sw_ir_span){r->o->body.at, r->at.at});
  if (!sw_ir_len(v)) return SW_OK;
  const sw_ir_span word = sw_ir_last_word(t, v);
  if (!sw_ir_read_int(t, v, &number)) number = -1;
  for (int i = 0; i < 3; i++) {
    if (number != i && !sw_ir_is(t, word, kKinds[i])) continue;
    (void)sw_reduction_parse(kKinds[i], out);
    return SW_OK;
  }
  return WRONG(r, v, "found '%.*s'; expected a reduction, sum, max or min", SW_IR_TEXT(t, v));
}

/* --- changes of a dimension --------------------------------------------------------------------------------------- */

/* The last axes go, the last of them first; of a part the minor one. */
static sw_rc remove_dim_axes(collective *r, int k, const axes *list) {
  axes *dim = &r->dim[k];
  for (int i = list->n; i-- > 0;) {
    const sw_axis_ref a = list->at[i];
    sw_axis_ref *last = dim->n ? &dim->at[dim->n - 1] : NULL;
    const bool same = last && last->axis == a.axis && last->pre * last->size == a.pre * a.size;
    if (!same || a.pre < last->pre || a.pre % last->pre)
      return WRONG(r, r->at, "%s axis %s is not among the last axes of dimension %d of the operand", r->what,
                   axes_text(r, &a, 1), k);
    last->size = a.pre / last->pre;
    if (last->size == 1) dim->n--;
  }
  return SW_OK;
}

static bool push_minor_ref(axes *dim, sw_axis_ref a) {
  sw_axis_ref *last = dim->n ? &dim->at[dim->n - 1] : NULL;
  if (last && last->axis == a.axis && last->pre * last->size == a.pre) {
    last->size *= a.size;
    return true;
  }
  if (dim->n == SW_MAX_REFS) return false;
  dim->at[dim->n++] = a;
  return true;
}

/* Further axes behind those of the dimension; parts that follow each other are one. */
static sw_rc append_dim_axes(collective *r, int k, const axes *list) {
  for (int i = 0; i < list->n; i++) {
    if (!push_minor_ref(&r->dim[k], list->at[i])) return WRONG(r, r->at, "more than %d axes", SW_MAX_REFS);
  }
  return SW_OK;
}

/* The result's sharding is what the operand's became. */
static sw_rc check_dims(collective *r) {
  for (int k = 0; k < r->to.cut.rank; k++) {
    int n;
    const sw_axis_ref *a = sw_sharding_dim(&r->to.cut, k, &n);
    if (sw_axis_refs_equal(a, n, r->dim[k].at, r->dim[k].n)) continue;
    return WRONG(r, r->o->text, "the result's sharding differs in dimension %d; expected {%s}", k,
                 axes_text(r, r->dim[k].at, r->dim[k].n));
  }
  return SW_OK;
}

/* Axes of the list and others share nothing. */
static sw_rc check_apart(collective *r, const sw_axis_ref *a, int n, const char *of) {
  for (int i = 0; i < r->list[0].n; i++) {
    for (int k = 0; k < n; k++) {
      if (!sw_axis_ref_overlaps(r->list[0].at[i], a[k])) continue;
      return WRONG(r, r->at, "%s axis %s overlaps with %s", r->what, axes_text(r, &r->list[0].at[i], 1), of);
    }
  }
  return SW_OK;
}

/* --- unreduced axes ----------------------------------------------------------------------------------------------- */

static int order(sw_axis_ref a, sw_axis_ref b) { return a.axis != b.axis ? a.axis - b.axis : a.pre - b.pre; }

/* In the order of the mesh, parts that follow each other joined. */
static void sort(axes *list) {
  for (int i = 1; i < list->n; i++) {
    for (int k = i; k > 0 && order(list->at[k - 1], list->at[k]) > 0; k--) {
      const sw_axis_ref swap = list->at[k];
      list->at[k] = list->at[k - 1];
      list->at[k - 1] = swap;
    }
  }
  axes joined = {0};
  for (int i = 0; i < list->n; i++) (void)push_minor_ref(&joined, list->at[i]);
  *list = joined;
}

/* The result's unreduced axes are the operand's and those of the lists. */
static sw_rc check_unreduced(collective *r) {
  axes want = {.n = r->from.cut.n_partial}, is = {.n = r->to.cut.n_partial};
  memcpy(want.at, sw_sharding_partial(&r->from.cut), sizeof *want.at * (size_t)want.n);
  memcpy(is.at, sw_sharding_partial(&r->to.cut), sizeof *is.at * (size_t)is.n);
  for (int k = 0; k < r->n; k++) {
    for (int i = 0; i < r->list[k].n; i++) {
      if (want.n == SW_MAX_REFS) return WRONG(r, r->at, "more than %d axes", SW_MAX_REFS);
      want.at[want.n++] = r->list[k].at[i];
    }
  }
  sort(&want);
  sort(&is);
  if (r->to.cut.n_partial && r->to.cut.partial_kind != SW_REDUCE_SUM)
    return WRONG(r, r->o->text, "the result is unreduced by %s; expected a sum",
                 sw_reduction_text((sw_reduction)r->to.cut.partial_kind));
  if (sw_axis_refs_equal(want.at, want.n, is.at, is.n)) return SW_OK;
  return WRONG(r, r->o->text, "the result's unreduced axes differ; expected those of the operand and of the op, {%s}",
               axes_text(r, want.at, want.n));
}

/* What is reduced is unreduced by the same operation. */
static sw_rc check_reduction_op(collective *r) {
  sw_reduction kind;
  SW_TRY(read_reduction_op(r, &kind));
  if (!r->from.cut.n_partial || r->from.cut.partial_kind == kind) return SW_OK;
  return WRONG(r, r->o->text, "'%s' reduces what is unreduced by '%s'; expected the same reduction",
               sw_reduction_text(kind), sw_reduction_text((sw_reduction)r->from.cut.partial_kind));
}

/* --- the ops ------------------------------------------------------------------------------------------------------ */

static sw_rc check_all_gather(collective *r) {
  SW_TRY(read_dim_axis_lists(r, "gathering_axes"));
  for (int k = 0; k < r->n; k++) SW_TRY(remove_dim_axes(r, k, &r->list[k]));
  return check_dims(r);
}

static sw_rc append_all_dim_axes(collective *r) {
  for (int k = 0; k < r->n; k++) SW_TRY(append_dim_axes(r, k, &r->list[k]));
  return check_dims(r);
}

static sw_rc all_slice(collective *r) {
  SW_TRY(read_dim_axis_lists(r, "slicing_axes"));
  return append_all_dim_axes(r);
}

static sw_rc check_reduce_scatter(collective *r) {
  SW_TRY(read_dim_axis_lists(r, "reduce_scatter_axes"));
  SW_TRY(check_reduction_op(r));
  return append_all_dim_axes(r);
}

/* {"x"}: 0->1 */
static sw_rc read_move(collective *r, sw_ir_span item, int64_t *from, int64_t *to) {
  const sw_ir_tree *t = r->c->t;
  const sw_ir_span axes_in = {item.at, sw_ir_inside(t, item).end + 1};
  sw_ir_span rest = sw_ir_trimmed(t, (sw_ir_span){axes_in.end, item.end});
  const char *arrow = strstr(t->s + rest.at, "->");
  const uint32_t at = arrow ? (uint32_t)(arrow - t->s) : rest.end;
  bool is = t->s[item.at] == '{' && sw_ir_starts(t, rest, ":") && at < rest.end;
  is = is && sw_ir_read_int(t, (sw_ir_span){rest.at + 1, at}, from) &&
       sw_ir_read_int(t, (sw_ir_span){at + 2, rest.end}, to);
  if (!is) return WRONG(r, item, "found '%.*s'; expected axes and dimensions, {\"x\"}: 0->1", SW_IR_TEXT(t, item));
  SW_TRY(sw_sdy_axes_read(&r->c->x, r->mesh, axes_in, &r->list[r->n]));
  return r->list[r->n].n ? SW_OK : WRONG(r, item, "the list of axes is empty; expected an axis");
}

static sw_rc check_move(collective *r, sw_ir_span item, int64_t from, int64_t to, int64_t last, uint32_t *taken) {
  const int rank = r->from.cut.rank;
  if (from < 0 || from >= rank)
    return WRONG(r, item, "source dimension %lld; expected 0 to %d", (long long)from, rank - 1);
  if (to < 0 || to >= rank) return WRONG(r, item, "target dimension %lld; expected 0 to %d", (long long)to, rank - 1);
  const int64_t twice = *taken >> from & 1 ? from : from == to || *taken >> to & 1 ? to : -1;
  if (twice >= 0)
    return WRONG(r, item, "dimension %lld is source or target twice (overlapping); expected it once", (long long)twice);
  if (from < last)
    return WRONG(r, item, "source dimension %lld stands behind %lld; expected ascending order", (long long)from,
                 (long long)last);
  *taken |= 1u << from | 1u << to;
  return SW_OK;
}

static sw_rc check_all_to_all(collective *r) {
  int64_t from[SW_MAX_RANK], to[SW_MAX_RANK], last = -1;
  uint32_t cursor = 0, taken = 0;
  sw_ir_span item;
  r->at = listed_axes_of(r, "params", '[');
  if (!sw_ir_present(r->at)) return WRONG(r, r->o->text, "expected axes and dimensions, [{\"x\"}: 0->1]");
  for (; sw_ir_next_item(r->c->t, r->at, &cursor, &item); last = from[r->n++]) {
    if (r->n == SW_MAX_RANK) return WRONG(r, item, "more than %d dimensions", SW_MAX_RANK);
    SW_TRY(read_move(r, item, &from[r->n], &to[r->n]));
    SW_TRY(check_move(r, item, from[r->n], to[r->n], last, &taken));
  }
  if (!r->n) return WRONG(r, r->at, "the list of axes and dimensions is empty; expected [{\"x\"}: 0->1]");
  SW_TRY(check_distinct(r));
  for (int i = 0; i < r->n; i++) {
    SW_TRY(remove_dim_axes(r, (int)from[i], &r->list[i]));
    SW_TRY(append_dim_axes(r, (int)to[i], &r->list[i]));
  }
  return check_dims(r);
}

static sw_rc check_all_reduce(collective *r) {
  SW_TRY(read_axis_list(r, "reduction_axes"));
  SW_TRY(check_reduction_op(r));
  SW_TRY(check_dims(r));
  const char *of = "the operand's dimensions or replicated axes";
  SW_TRY(check_apart(r, r->from.cut.refs, r->from.cut.n_refs, of));
  SW_TRY(check_apart(r, r->from.replicated, r->from.n_replicated, of));
  const sw_axis_ref *unreduced = sw_sharding_partial(&r->to.cut);
  SW_TRY(check_apart(r, unreduced, r->to.cut.n_partial, "the result's unreduced axes"));
  for (int i = 0; i < r->to.cut.n_partial; i++) {
    bool had = false;
    for (int k = 0; k < r->from.cut.n_partial; k++)
      had |= sw_axis_ref_overlaps(sw_sharding_partial(&r->from.cut)[k], unreduced[i]);
    if (had) continue;
    return WRONG(r, r->o->text, "the result is unreduced over axis \"%s\", over which the operand is not",
                 r->mesh->axis[unreduced[i].axis].name);
  }
  return SW_OK;
}

static sw_rc sharded_to_unreduced(collective *r) {
  SW_TRY(read_dim_axis_lists(r, "axes"));
  for (int k = 0; k < r->n; k++) SW_TRY(remove_dim_axes(r, k, &r->list[k]));
  SW_TRY(check_dims(r));
  return check_unreduced(r);
}

static sw_rc replicated_to_unreduced(collective *r) {
  SW_TRY(read_axis_list(r, "axes"));
  if (!r->list[0].n) return WRONG(r, r->at, "the list of axes is empty; expected an axis");
  SW_TRY(check_dims(r));
  SW_TRY(check_apart(r, r->from.cut.refs, r->from.cut.n_refs, "the operand's dimensions"));
  SW_TRY(check_apart(r, sw_sharding_partial(&r->from.cut), r->from.cut.n_partial, "the operand's unreduced axes"));
  return check_unreduced(r);
}

/* Every dimension is cut into as many parts as before. */
static sw_rc check_collective_permute(collective *r) {
  for (int k = 0; k < r->to.cut.rank; k++) {
    const int64_t from = sw_sharding_shards(&r->from.cut, k), to = sw_sharding_shards(&r->to.cut, k);
    if (from == to) continue;
    return WRONG(r, r->o->text, "dimension %d of the result is cut in %lld; expected %lld, as the operand's", k,
                 (long long)to, (long long)from);
  }
  return SW_OK;
}

static const struct {
  const char *name, *what;
  sw_rc (*check)(collective *r);
  bool of_any; /* an operand without a sharding is whole on all devices */
} kOps[] = {
    {"sdy.all_gather", "gathering", check_all_gather},
    {"sdy.all_slice", "slicing", all_slice, true},
    {"sdy.all_to_all", "all-to-all", check_all_to_all},
    {"sdy.all_reduce", "reduction", check_all_reduce, true},
    {"sdy.reduce_scatter", "reduce-scatter", check_reduce_scatter, true},
    {"sdy.collective_permute", "permuted", check_collective_permute},
    {"sdy.sharded_to_unreduced", "sharded-to-unreduced", sharded_to_unreduced},
    {"sdy.replicated_to_unreduced", "replicated-to-unreduced", replicated_to_unreduced},
};

/* --- both shardings ----------------------------------------------------------------------------------------------- */

/* Without the axes of a manual computation, in whose body nothing is cut by them. */
static void drop_manual(collective *r, uint32_t manual) {
  const sw_mesh *m = &r->c->x.meshes.at[r->from.mesh].mesh;
  const sw_ir_span names = sw_sdy_manual_axes(r->c->t, &r->c->t->ops.at[manual]);
  const sw_sharding all = r->from.cut;
  sw_sharding kept = sw_sharding_replicated(all.rank);
  for (int i = 0; i < all.n_refs + all.n_partial; i++) {
    if (sw_sdy_is_manual_axis(r->c->t, names, m->axis[all.refs[i].axis].name)) continue;
    if (i < all.n_refs)
      (void)sw_sharding_push(&kept, all.dim_of[i], all.refs[i]);
    else
      (void)sw_sharding_push_partial(&kept, (sw_reduction)all.partial_kind, all.refs[i]);
  }
  r->from.cut = kept;
  uint8_t n = 0;
  for (int i = 0; i < r->from.n_replicated; i++) {
    if (sw_sdy_is_manual_axis(r->c->t, names, m->axis[r->from.replicated[i].axis].name)) continue;
    r->from.replicated[n++] = r->from.replicated[i];
  }
  r->from.n_replicated = n;
}

/* The operand's sharding; *known = false: nobody can tell what it is. */
static sw_rc read_operand_sharding(collective *r, bool of_any, bool *known) {
  uint32_t manual;
  const uint32_t value = sw_ir_operand_value(&r->c->values, r->o, 0);
  const sw_ir_span text = sw_sdy_said_of(r->c, value, &manual, known);
  r->from.mesh = -1;
  if (!*known || (of_any && !sw_ir_len(text))) return SW_OK;
  if (!sw_ir_present(text) || !sw_ir_len(text))
    return WRONG(r, r->o->text, "'%.*s' of a value without a sharding; expected one that has it",
                 SW_IR_TEXT(r->c->t, r->o->name));
  SW_TRY(sw_open_sharding_read(&r->c->x, text, &r->from));
  if (manual != SW_IR_NONE) drop_manual(r, manual);
  return SW_OK;
}

/* Over one mesh; a permutation may go to another order of the same axes. */
static sw_rc check_meshes(collective *r, bool permute) {
  const sw_mesh *from = &r->c->x.meshes.at[r->from.mesh].mesh, *to = r->mesh;
  sw_mesh a = *from, b = *to;
  a.device_ids = b.device_ids = NULL;
  const bool same = sw_sdy_same_mesh(from, to);
  if (!permute && !same)
    return WRONG(r, r->o->text, "the result's sharding is over another mesh than the operand's; expected one mesh");
  if (permute && !sw_sdy_same_mesh(&a, &b))
    return WRONG(r, r->o->text, "the result's mesh has other axes than the operand's; expected the same axes");
  if (permute && same && r->from.mesh != r->to.mesh)
    return WRONG(r, r->o->text,
                 "the result's mesh has another name, and devices in the same order as the operand's; "
                 "expected one mesh, or another order");
  if (r->from.cut.rank == r->to.cut.rank) return SW_OK;
  return WRONG(r, r->o->text, "the result's sharding has %d dimensions; expected %d, as the operand's", r->to.cut.rank,
               r->from.cut.rank);
}

static sw_rc check_sdy_collective(collective *r, sw_rc (*changes)(collective *r), bool of_any) {
  const sw_ir_tree *t = r->c->t;
  const sw_ir_span text = sw_ir_attr(t, r->o, "out_sharding", "out_sharding");
  bool known;
  if (r->o->n_uses != 1)
    return WRONG(r, r->o->text, "'%.*s' has %u operands; expected 1", SW_IR_TEXT(t, r->o->name), r->o->n_uses);
  SW_TRY(read_operand_sharding(r, of_any, &known));
  if (!sw_ir_present(text)) return WRONG(r, r->o->text, "expected out_sharding=<@mesh, [{\"x\"}, {}]>");
  SW_TRY(sw_sdy_check_sharding(r->c, text, sw_ir_result_type(t, r->o, 0), &r->to));
  r->mesh = &r->c->x.meshes.at[r->to.mesh].mesh;
  if (!known) return SW_OK;
  if (r->from.mesh < 0) r->from = (sw_open_sharding){.mesh = r->to.mesh, .cut = sw_sharding_replicated(r->to.cut.rank)};
  SW_TRY(check_meshes(r, changes == check_collective_permute));
  for (int k = 0; k < r->from.cut.rank; k++) {
    const sw_axis_ref *a = sw_sharding_dim(&r->from.cut, k, &r->dim[k].n);
    memcpy(r->dim[k].at, a, sizeof *a * (size_t)r->dim[k].n);
  }
  return changes(r);
}

sw_rc sw_sdy_check_collective(sw_sdy_checker *c, uint32_t op, bool *is) {
  collective r = {.c = c, .o = &c->t->ops.at[op]};
  for (size_t i = 0; i < sizeof kOps / sizeof *kOps; i++) {
    *is = sw_ir_is(c->t, r.o->name, kOps[i].name);
    if (!*is) continue;
    r.what = kOps[i].what;
    return check_sdy_collective(&r, kOps[i].check, kOps[i].of_any);
  }
  return SW_OK;
}
