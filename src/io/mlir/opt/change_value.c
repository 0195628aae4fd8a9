#include "io/mlir/opt/change_value.h"

#include <string.h>

#include "io/emit/mlir.h"

typedef struct changing {
  sw_opt_work *w;
  const sw_value_change *c;
  const char *name;
  sw_open_sharding now;
} changing;

/* --- axes --------------------------------------------------------------------------------------------------------- */

static int64_t end_of(sw_axis_ref a) { return (int64_t)a.pre * a.size; }

/* What is left of one ref before and behind another one of its axis. */
static int minus_one(sw_axis_ref a, sw_axis_ref b, sw_axis_ref *out) {
  int n = 0;
  if (!sw_axis_ref_overlaps(a, b)) {
    out[n++] = a;
    return n;
  }
  if (b.pre > a.pre) out[n++] = (sw_axis_ref){a.axis, a.pre, b.pre / a.pre};
  if (end_of(b) < end_of(a)) out[n++] = (sw_axis_ref){a.axis, (int32_t)end_of(b), (int32_t)(end_of(a) / end_of(b))};
  return n;
}

int sw_refs_minus(const sw_axis_ref *refs, int n, const sw_axis_ref *without, int m, sw_axis_ref *out) {
  sw_axis_ref left[SW_MAX_REFS], next[2 * SW_MAX_REFS];
  int n_left = n < SW_MAX_REFS ? n : SW_MAX_REFS;
  memcpy(left, refs, (size_t)n_left * sizeof *left);
  for (int k = 0; k < m; k++) {
    int n_next = 0;
    for (int i = 0; i < n_left; i++) n_next += minus_one(left[i], without[k], &next[n_next]);
    n_left = n_next < SW_MAX_REFS ? n_next : SW_MAX_REFS;
    memcpy(left, next, (size_t)n_left * sizeof *left);
  }
  memcpy(out, left, (size_t)n_left * sizeof *left);
  return n_left;
}

/* What `longer` has behind `shorter`; -1: it does not begin with it. */
static int behind_prefix(const sw_axis_ref *longer, int n, const sw_axis_ref *shorter, int m, sw_axis_ref *out) {
  int rest = 0;
  if (m > n) return -1;
  for (int i = 0; i < n; i++) {
    if (i >= m) {
      out[rest++] = longer[i];
    } else if (!sw_axis_ref_equal(longer[i], shorter[i])) {
      const sw_axis_ref a = longer[i], b = shorter[i];
      if (i + 1 < m || a.axis != b.axis || a.pre != b.pre || a.size % b.size) return -1;
      out[rest++] = (sw_axis_ref){a.axis, (int32_t)end_of(b), a.size / b.size};
    }
  }
  return rest;
}

static bool push_partial(sw_sharding *s, sw_reduction kind, const sw_axis_ref *refs, int n) {
  for (int i = 0; i < n; i++) {
    if (!sw_sharding_push_partial(s, kind, refs[i])) return false;
  }
  sw_sharding_join(s);
  return true;
}

/* --- lines -------------------------------------------------------------------------------------------------------- */

static sw_rc add_line(changing *x, sw_text *line) {
  sw_opt_work *w = x->w;
  const char *name = sw_opt_new_name(w);
  sw_text_puts(line, " : ");
  sw_mlir_type(x->c->type, line);
  const char *text = line->rc || !name ? NULL : sw_arena_printf(&w->arena, w->d, "%s = %s", name, sw_text_str(line));
  if (!text) return SW_E_RESOURCE;
  x->name = name;
  return x->c->behind ? sw_opt_put_behind(w, x->c->op, text) : sw_opt_put_before(w, x->c->op, text);
}

/* A collective on the value, which is as x->now says behind it. */
static sw_rc add_collective(changing *x, const char *op, const char *axes) {
  sw_text line = {0};
  sw_text_printf(&line, "%s %s %s out_sharding=", op, axes, x->name);
  sw_rc rc = sw_open_sharding_print(&x->w->flow->sdy, &x->now, &line);
  if (!rc) rc = add_line(x, &line);
  sw_text_free(&line);
  return rc;
}

static const sw_mesh *mesh_of(const changing *x) { return &x->w->flow->sdy.meshes.at[x->now.mesh].mesh; }

static void put_set(const changing *x, const sw_axis_ref *refs, int n, sw_text *out) {
  sw_sharding set = sw_sharding_replicated(0);
  (void)push_partial(&set, SW_REDUCE_SUM, refs, n);
  sw_text_puts(out, "{");
  sw_sdy_axes_print(mesh_of(x), sw_sharding_partial(&set), set.n_partial, out);
  sw_text_puts(out, "}");
}

static sw_rc add_set(changing *x, const char *op, const sw_axis_ref *refs, int n) {
  sw_text axes = {0};
  put_set(x, refs, n, &axes);
  sw_rc rc = add_collective(x, op, sw_text_str(&axes));
  sw_text_free(&axes);
  return rc;
}

static void close(sw_open_sharding *s) {
  s->open = s->has_priority = 0;
  s->n_replicated = 0;
  memset(s->priority, 0, sizeof s->priority);
}

/* --- steps -------------------------------------------------------------------------------------------------------- */

static sw_rc no_room(const changing *x) {
  return SW_FAIL_INPUT(x->w->d, sw_ir_place(x->w->t, x->w->t->ops.at[x->c->op].text.at), "more than %d axes",
                       SW_MAX_REFS);
}

/* Reduces over all that shall not stay unreduced. */
static sw_rc reduce(changing *x, bool none_stays) {
  const sw_sharding *to = &x->c->to->cut, now = x->now.cut;
  const sw_reduction kind = (sw_reduction)now.partial_kind;
  sw_axis_ref reduced[SW_MAX_REFS], kept[SW_MAX_REFS];
  const int stays = none_stays || kind != (sw_reduction)to->partial_kind ? 0 : to->n_partial;
  const int n = sw_refs_minus(sw_sharding_partial(&now), now.n_partial, sw_sharding_partial(to), stays, reduced);
  const int m = sw_refs_minus(sw_sharding_partial(&now), now.n_partial, reduced, n, kept);
  char op[40];
  if (!n) return SW_OK;
  x->now.has_priority = 0;
  x->now.n_replicated = 0;
  x->now.cut.n_partial = 0;
  if (!push_partial(&x->now.cut, kind, kept, m)) return no_room(x);
  snprintf(op, sizeof op, "sdy.all_reduce%s%s", kind == SW_REDUCE_SUM ? "" : " ",
           kind == SW_REDUCE_SUM ? "" : sw_reduction_text(kind));
  return add_set(x, op, reduced, n);
}

static bool same_dims(const sw_sharding *a, const sw_sharding *b) {
  sw_sharding x = *a, y = *b;
  x.n_partial = y.n_partial = 0;
  return sw_sharding_equal(&x, &y);
}

static sw_rc reshard(changing *x, const sw_open_sharding *to) {
  sw_text line = {0};
  sw_text_printf(&line, "sdy.reshard %s ", x->name);
  sw_rc rc = sw_open_sharding_print(&x->w->flow->sdy, to, &line);
  if (!rc) rc = add_line(x, &line);
  sw_text_free(&line);
  x->now = *to;
  return rc;
}

/* What becomes unreduced: axes that cut the value, at the ends of dimensions that are right but for them, and others.
 */
typedef struct making {
  int n;
  sw_axis_ref made[SW_MAX_REFS], whole[SW_MAX_REFS];
  int n_whole;
  sw_sharding pieces; /* by dimension */
  sw_sharding before; /* dimensions until then */
} making;

static bool find_pieces(const changing *x, making *m) {
  const sw_sharding *now = &x->now.cut, *to = &x->c->to->cut;
  m->pieces = m->before = sw_sharding_replicated(to->rank);
  for (int d = 0; d < to->rank; d++) {
    sw_axis_ref rest[SW_MAX_REFS], other[SW_MAX_REFS];
    int n, n_to;
    const sw_axis_ref *a = sw_sharding_dim(now, d, &n), *b = sw_sharding_dim(to, d, &n_to);
    const int n_rest = behind_prefix(a, n, b, n_to, rest);
    const bool pieces = n_rest > 0 && !sw_refs_minus(rest, n_rest, m->made, m->n, other);
    for (int i = 0; i < n_to; i++) {
      if (!sw_sharding_push(&m->before, d, b[i])) return false;
    }
    for (int i = 0; pieces && i < n_rest; i++) {
      if (!sw_sharding_push(&m->before, d, rest[i]) || !sw_sharding_push(&m->pieces, d, rest[i])) return false;
    }
  }
  sw_sharding_join(&m->before);
  m->n_whole = sw_refs_minus(m->made, m->n, m->pieces.refs, m->pieces.n_refs, m->whole);
  return true;
}

static sw_rc make_unreduced(changing *x, const making *m) {
  const sw_reduction kind = (sw_reduction)x->c->to->cut.partial_kind;
  sw_text axes = {0};
  if (m->n_whole) {
    close(&x->now);
    if (!push_partial(&x->now.cut, kind, m->whole, m->n_whole)) return no_room(x);
    SW_TRY(add_set(x, "sdy.replicated_to_unreduced", m->whole, m->n_whole));
  }
  if (!m->pieces.n_refs) return SW_OK;
  for (int d = 0; d < m->pieces.rank; d++) {
    int n;
    const sw_axis_ref *refs = sw_sharding_dim(&m->pieces, d, &n);
    sw_text_puts(&axes, d ? ", {" : "[{");
    sw_sdy_axes_print(mesh_of(x), refs, n, &axes);
    sw_text_puts(&axes, "}");
  }
  sw_text_puts(&axes, "]");
  x->now = *x->c->to;
  close(&x->now);
  sw_rc rc = add_collective(x, "sdy.sharded_to_unreduced", sw_text_str(&axes));
  sw_text_free(&axes);
  return rc;
}

sw_rc sw_opt_change_value(sw_opt_work *w, const sw_value_change *c, const char **name) {
  changing x = {w, c, c->value, *c->from};
  const bool crosses = c->from->mesh != c->to->mesh;
  making m = {0};
  SW_TRY(reduce(&x, crosses));
  const sw_sharding *now = &x.now.cut, *to = &c->to->cut;
  m.n = sw_refs_minus(sw_sharding_partial(to), to->n_partial, sw_sharding_partial(now), now->n_partial, m.made);
  if (!m.n) {
    if (!c->reduces_only && (crosses ? now->n_refs || to->n_refs : !same_dims(now, to))) SW_TRY(reshard(&x, c->to));
  } else {
    if (!find_pieces(&x, &m)) return no_room(&x);
    sw_open_sharding before = {.mesh = c->to->mesh, .cut = m.before};
    if (!push_partial(&before.cut, (sw_reduction)now->partial_kind, sw_sharding_partial(now), now->n_partial))
      return no_room(&x);
    if (c->is_unsaid) { /* of that nothing can be made but by a reshard */
      SW_TRY(reshard(&x, c->to));
      *name = x.name;
      return SW_OK;
    }
    if (crosses || !same_dims(now, &m.before)) SW_TRY(reshard(&x, &before));
    SW_TRY(make_unreduced(&x, &m));
  }
  *name = x.name;
  return SW_OK;
}
