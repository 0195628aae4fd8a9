/* Annotations: what people say about shardings. Kept in their order, checked for what contradicts itself:
 *
 *   - two annotations of one definition, of one use or of one op that differ;
 *   - an annotation of a definition that follows one of its uses.
 *
 * The message is at the later one and its note at the earlier one.
 */
#include <string.h>

#include "graph/attention.h"
#include "graph/builder.h"
#include "collective/scalar.h"

void sw_graph_set_mesh(sw_graph *g, const sw_mesh *mesh) {
  g->builder->request->has_mesh = true;
  g->builder->request->mesh = *mesh;
}

void sw_graph_set_compiler(sw_graph *g, const char *compiler) { g->builder->request->compiler = compiler; }

sw_rc sw_graph_add_annotation(sw_graph *g, const sw_annotation *a, sw_diag *d) {
  if (g->sealed) return SW_FAIL(d, SW_E_BUG, a->span, "internal: the graph is sealed");
  if ((a->value >= 0) == (a->op >= 0) || a->value >= g->n_values || a->op >= g->n_ops) {
    return SW_FAIL(d, SW_E_BUG, a->span, "internal: an annotation is of neither a value nor an op");
  }
  if (!g->written->has_mesh) {
    return SW_FAIL_INPUT(d, a->span, "an annotation names mesh axes and the model has no mesh; expected \"mesh\"");
  }
  const sw_annotation *said = sw_annotation_said(a); /* of another graph, whose values and ops have other numbers */
  sw_annotation copy = *said;
  copy.value = a->value;
  copy.op = a->op;
  copy.n_users = a->n_users;
  copy.loop_of = sw_arena_copy(&g->arena, said->loop_of, (size_t)said->n_loop_refs, sizeof *said->loop_of, d);
  copy.loop_refs = sw_arena_copy(&g->arena, said->loop_refs, (size_t)said->n_loop_refs, sizeof *said->loop_refs, d);
  copy.users = sw_arena_copy(&g->arena, a->users, (size_t)a->n_users, sizeof *a->users, d);
  copy.kept = sw_arena_copy(&g->arena, said->kept, (size_t)said->n_kept, sizeof *said->kept, d);
  if (!copy.loop_of || !copy.loop_refs || !copy.users || !copy.kept) return SW_E_RESOURCE;
  return sw_array_push(&g->builder->annotations, copy, d);
}

/* The refs that cut something, of loops where these are given. */
static sw_rc drop_ones(sw_arena *arena, int32_t *n, const int32_t **loops, const sw_axis_ref **refs, sw_diag *d) {
  const int32_t of = *n, *loop_of = loops ? *loops : NULL;
  int32_t *kept_loops;
  sw_axis_ref *kept;
  int32_t ones = 0;
  for (int32_t i = 0; i < of; i++) ones += (*refs)[i].size == 1;
  if (!ones) return SW_OK;
  SW_ARENA_NEW_EACH(arena, of, d, kept, kept_loops);
  *n = 0;
  for (int32_t i = 0; i < of; i++) {
    if ((*refs)[i].size == 1) continue;
    if (loops) kept_loops[*n] = loop_of[i];
    kept[(*n)++] = (*refs)[i];
  }
  if (loops) *loops = kept_loops;
  *refs = kept;
  return SW_OK;
}

sw_rc sw_annotation_settle(sw_graph *g, sw_annotation *a, sw_diag *d) {
  const sw_annotation was = *a;
  if (a->value >= 0) SW_TRY(sw_sharding_settle(&g->written->mesh, &a->sharding, &g->arena, d));
  SW_TRY(drop_ones(&g->arena, &a->n_loop_refs, &a->loop_of, &a->loop_refs, d));
  SW_TRY(drop_ones(&g->arena, &a->n_kept, NULL, &a->kept, d));
  const bool same = a->n_loop_refs == was.n_loop_refs && a->n_kept == was.n_kept;
  if (same && (a->value < 0 || sw_sharding_equal(&a->sharding, &was.sharding))) return SW_OK;
  a->said = sw_arena_copy(&g->arena, &was, 1, sizeof was, d);
  return a->said ? SW_OK : SW_E_RESOURCE;
}

sw_rc sw_graph_add_sharding_group(sw_graph *g, sw_id a, sw_id b, sw_span span, sw_diag *d) {
  if (g->sealed || a < 0 || b < 0 || a >= g->n_values || b >= g->n_values)
    return SW_FAIL(d, SW_E_BUG, span, "internal: a sharding group of no values");
  if (!sw_type_same_shape(&g->values[a].type, &g->values[b].type))
    return SW_FAIL_INPUT(d, span, "'%s' is in a sharding group with '%s', which has another shape", g->values[b].name,
                         g->values[a].name);
  return a == b ? SW_OK : sw_array_push(&g->builder->sharding_groups, ((sw_sharding_group){a, b, span}), d);
}

static const char *const kDirections[] = {"none", "forward", "backward"};

bool sw_direction_parse(const char *text, sw_direction *out) {
  for (int i = 0; i < 3; i++) {
    if (strcmp(text, kDirections[i]) != 0) continue;
    *out = (sw_direction)i;
    return true;
  }
  return false;
}

const char *sw_direction_text(sw_direction d) { return d <= SW_DIRECTION_BACKWARD ? kDirections[d] : "both"; }

/* --- one annotation ---------------------------------------------------------------------------------------------- */

static sw_rc check_of_value(const sw_request *r, const sw_annotation *a, sw_diag *d) {
  const sw_graph *g = r->graph;
  const sw_value *v = &g->values[a->value];
  sw_rc rc = sw_sharding_verify(&r->mesh, &a->sharding, v->type.rank, v->type.dims, d);
  if (rc) {
    char text[SW_DIAG_TEXT_BYTES];
    snprintf(text, sizeof text, "%s", d ? d->text : "");
    return SW_FAIL(d, rc, a->span, "annotation of value '%s': %s", v->name, text);
  }
  const sw_reduction kind = (sw_reduction)a->sharding.partial_kind;
  const bool logical = kind == SW_REDUCE_AND || kind == SW_REDUCE_OR;
  if (a->sharding.n_partial && kind != SW_REDUCE_GENERIC &&
      (!sw_reduction_applies(kind, v->type.dtype) || (logical && v->type.dtype != SW_BOOL))) {
    return SW_FAIL_INPUT(d, a->span, "annotation of value '%s': a value of %s cannot be partial by '%s'", v->name,
                         sw_dtype_text(v->type.dtype), sw_reduction_text(kind));
  }
  for (int i = 0; i < a->n_users; i++) {
    sw_value_use u = a->users[i];
    bool reads = false;
    for (int k = 0; k < v->n_uses; k++) reads = reads || (v->uses[k].op == u.op && v->uses[k].index == u.index);
    if (reads) continue;
    return SW_FAIL_INPUT(d, a->span, "annotation of value '%s' for op '%s', which does not use it", v->name,
                         u.op >= 0 && u.op < g->n_ops ? g->ops[u.op].name : "?");
  }
  return SW_OK;
}

static sw_rc check_of_op(const sw_request *r, const sw_annotation *a, sw_diag *d) {
  const sw_graph *g = r->graph;
  const sw_op *op = &g->ops[a->op];
  int n = op->nest ? op->nest->n_loops : 0, n_linear = op->nest ? op->nest->n_linear : 0;
  const bool attends = sw_is_attention(op->code);
  for (int i = 0; i < a->n_loop_refs; i++) {
    int loop = a->loop_of[i];
    if (loop < 0 || loop >= n + n_linear) {
      return SW_FAIL_INPUT(d, a->span,
                           "annotation of op '%s' cuts loop %d; expected one of its %d loops or %d linearities",
                           op->name, loop, n, n_linear);
    }
    if (loop < n && op->nest->loops[loop].kind == SW_LOOP_WHOLE) {
      return SW_FAIL_INPUT(d, a->span, "annotation of op '%s' cuts loop %d, which cannot be cut", op->name, loop);
    }
    for (int k = 0; k < i; k++) {
      if (!sw_axis_ref_overlaps(a->loop_refs[i], a->loop_refs[k])) continue;
      if (attends && loop == SW_ATTENTION_KEY && a->loop_of[k] == SW_ATTENTION_QUERY) continue; /* a ring */
      return SW_FAIL_INPUT(d, a->span, "annotation of op '%s' uses axis '%s' twice; expected it once", op->name,
                           r->mesh.axis[a->loop_refs[i].axis].name);
    }
  }
  return SW_OK;
}

/* --- text -------------------------------------------------------------------------------------------------------- */

void sw_annotation_print(const sw_request *r, const sw_annotation *a, sw_text *out) {
  sw_text closed = {0};
  sw_sharding_print(&r->mesh, &sw_annotation_said(a)->sharding, &closed);
  int depth = 0, dim = 0;
  for (const char *p = sw_text_str(&closed); *p; p++) {
    if (*p == ']' && depth == 2 && a->open_dims >> dim & 1) sw_text_puts(out, p[-1] == '[' ? "?" : ",?");
    depth += (*p == '[') - (*p == ']');
    if (*p == ',' && depth == 1) dim++;
    sw_text_append(out, p, 1);
  }
  if (closed.rc) out->rc = closed.rc;
  sw_text_free(&closed);
}

/* --- pairs ------------------------------------------------------------------------------------------------------- */

static bool says_the_same(const sw_annotation *a, const sw_annotation *b) {
  if (a->value >= 0)
    return a->open_dims == b->open_dims && sw_axis_refs_equal(a->kept, a->n_kept, b->kept, b->n_kept) &&
           sw_sharding_equal(&a->sharding, &b->sharding);
  if (a->n_loop_refs != b->n_loop_refs) return false;
  for (int i = 0; i < a->n_loop_refs; i++) {
    if (a->loop_of[i] != b->loop_of[i] || !sw_axis_ref_equal(a->loop_refs[i], b->loop_refs[i])) return false;
  }
  return true;
}

/* Do the two speak about one use of their value? */
static bool share_a_use(const sw_annotation *a, const sw_annotation *b) {
  if (!a->n_users || !b->n_users) return true;
  for (int i = 0; i < a->n_users; i++) {
    for (int k = 0; k < b->n_users; k++) {
      if (a->users[i].op == b->users[k].op && a->users[i].index == b->users[k].index) return true;
    }
  }
  return false;
}

static void put_sharding(const sw_request *r, const sw_annotation *a, sw_text *out) {
  if (a->value >= 0) {
    sw_text_puts(out, " as ");
    sw_annotation_print(r, a, out);
  }
}

/* `a` comes first. */
static sw_rc contradiction(const sw_request *r, const sw_annotation *a, const sw_annotation *b, const char *why,
                           sw_diag *d) {
  const sw_graph *g = r->graph;
  sw_text first = {0}, second = {0};
  put_sharding(r, a, &first);
  put_sharding(r, b, &second);
  const char *what = a->value >= 0 ? "value" : "op";
  const char *name = a->value >= 0 ? g->values[a->value].name : g->ops[a->op].name;
  sw_rc rc = SW_FAIL_INPUT(d, b->span, "%s '%s' is annotated%s%s; %s", what, name, b->for_users ? " for its users" : "",
                           sw_text_str(&second), why);
  sw_diag_note(d, "the other annotation of '%s',%s%s, is at %s:%d:%d", name, a->for_users ? " for its users" : "",
               sw_text_str(&first), a->span.file ? a->span.file : "?", a->span.line, a->span.col);
  sw_text_free(&first);
  sw_text_free(&second);
  return rc;
}

static sw_rc check_annotation_pair(const sw_request *r, const sw_annotation *a, const sw_annotation *b, sw_diag *d) {
  if (a->derived || b->derived) return SW_OK;
  if (a->value >= 0 && a->for_users && !b->for_users) {
    return contradiction(r, a, b, "expected the annotation of a definition before those of its uses", d);
  }
  if (a->for_users != b->for_users || says_the_same(a, b) || (a->for_users && !share_a_use(a, b))) return SW_OK;
  if (!a->required && !b->required && a->priority != b->priority) return SW_OK; /* one outweighs the other */
  return contradiction(r, a, b, a->for_users ? "expected one sharding for one use" : "expected one sharding", d);
}

sw_rc sw_request_verify(const sw_request *r, sw_diag *d) {
  const sw_graph *g = r->graph;
  /* earlier[i]: the annotation before i of the same value or op. */
  int32_t *last = sw_mem_alloc((size_t)g->n_values + (size_t)g->n_ops, sizeof *last, d);
  int32_t *earlier = sw_mem_alloc((size_t)r->n_annotations, sizeof *earlier, d);
  sw_rc rc = last && earlier ? SW_OK : SW_E_RESOURCE;
  for (int32_t i = 0; !rc && i < r->n_annotations; i++) {
    const sw_annotation *a = &r->annotations[i];
    int32_t *slot = &last[a->value >= 0 ? a->value : g->n_values + a->op];
    earlier[i] = *slot - 1;
    *slot = i + 1;
    const sw_annotation *said = sw_annotation_said(a);
    rc = a->value >= 0 ? check_of_value(r, said, d) : check_of_op(r, said, d);
    for (int32_t k = earlier[i]; !rc && k >= 0; k = earlier[k]) rc = check_annotation_pair(r, &r->annotations[k], a, d);
  }
  sw_mem_free(last);
  sw_mem_free(earlier);
  return rc;
}
