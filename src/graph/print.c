/* A readable listing of a graph, and its hash.
 *
 *   func @main {
 *     %x = input : f32[2,4]
 *     %y = transpose(%x) {permutation=[1,0]} : f32[4,2]
 *     return %y
 *   }
 */
#include <string.h>

#include "graph/builder.h"

static void print_ints(const sw_attr *a, sw_text *out) {
  sw_text_puts(out, "[");
  for (int i = 0; i < a->u.ints.n; i++) sw_text_printf(out, i ? ",%lld" : "%lld", (long long)a->u.ints.at[i]);
  sw_text_puts(out, "]");
}

static void print_attr(const sw_attr *a, const sw_type *result, sw_text *out) {
  sw_text_printf(out, "%s=", sw_attr_text(a->key));
  switch (sw_attr_kind_of(a->key)) {
    case SW_ATTR_KIND_INT:
      sw_text_printf(out, "%lld", (long long)a->u.i);
      break;
    case SW_ATTR_KIND_BOOL:
      sw_text_puts(out, a->u.i ? "true" : "false");
      break;
    case SW_ATTR_KIND_DTYPE:
      sw_text_puts(out, sw_dtype_text((sw_dtype)a->u.i));
      break;
    case SW_ATTR_KIND_FLOAT:
      sw_text_printf(out, "%.17g", a->u.f);
      break;
    case SW_ATTR_KIND_TEXT:
      sw_text_puts(out, a->u.text);
      break;
    case SW_ATTR_KIND_INTS:
      print_ints(a, out);
      break;
    case SW_ATTR_KIND_DATA:
      if (a->u.data.splat) {
        sw_text_printf(out, "%.17g", sw_element_load(result->dtype, a->u.data.bytes));
      } else {
        sw_text_puts(out, "...");
      }
      break;
  }
}

static void print_attrs(const sw_graph *g, const sw_op *op, sw_text *out) {
  int shown = 0;
  for (int i = 0; i < op->n_attrs; i++) {
    if (sw_op_attr_is_default(g, op, &op->attrs[i])) continue;
    sw_text_puts(out, shown++ ? ", " : " {");
    print_attr(&op->attrs[i], sw_result_type(g, op, 0), out);
  }
  if (shown) sw_text_puts(out, "}");
}

static void print_loops(const sw_op *op, sw_text *out) {
  static const char *const kKinds[] = {"", " reduction", " masked", " scan", " pick", " whole"};
  const sw_loop_nest *s = op->nest;
  sw_text_puts(out, " loops(");
  for (int i = 0; i < s->n_loops; i++) {
    sw_text_printf(out, i ? ", %lld%s" : "%lld%s", (long long)s->loops[i].size, kKinds[s->loops[i].kind]);
    if (s->loops[i].kind == SW_LOOP_REDUCTION) sw_text_printf(out, " %s", sw_reduction_text(s->loops[i].combiner));
  }
  sw_text_puts(out, ")");
  for (int i = 0; i < s->n_maps; i++) {
    sw_text_puts(out, " ");
    sw_map_print(&s->maps[i], s->n_loops, out);
  }
}

static void print_op(const sw_graph *g, const sw_op *op, sw_text *out) {
  sw_text_puts(out, "  ");
  for (int i = 0; i < op->n_results; i++) {
    sw_text_printf(out, i ? ", %%%s" : "%%%s", g->values[op->results[i]].name);
  }
  sw_text_printf(out, "%s%s(", op->n_results ? " = " : "", sw_opcode_text(op->code));
  for (int i = 0; i < op->n_operands; i++) {
    sw_text_printf(out, i ? ", %%%s" : "%%%s", g->values[op->operands[i]].name);
  }
  sw_text_puts(out, ")");
  print_attrs(g, op, out);
  if (op->code == SW_OP_GENERIC) print_loops(op, out);
  for (int i = 0; i < op->n_results; i++) {
    sw_text_puts(out, i ? ", " : " : ");
    sw_type_print(sw_result_type(g, op, i), out);
  }
  sw_text_puts(out, "\n");
}

void sw_graph_print(const sw_graph *g, sw_text *out) {
  static const char *const kKinds[] = {"input", "parameter", "state", "constant", "intermediate"};
  sw_text_puts(out, "func @main {\n");
  for (int i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    sw_text_printf(out, "  %%%s = %s : ", v->name, kKinds[v->kind]);
    sw_type_print(&v->type, out);
    sw_text_puts(out, "\n");
  }
  for (int i = 0; i < g->n_ops; i++) print_op(g, &g->ops[i], out);
  sw_text_puts(out, "  return");
  for (int i = 0; i < g->n_outputs; i++) {
    const sw_value *v = &g->values[g->outputs[i]];
    sw_text_printf(out, i ? ", %%%s" : " %%%s", v->name);
    if (strcmp(g->output_names[i], v->name) != 0) sw_text_printf(out, " as %s", g->output_names[i]);
    if (g->alias[i] >= 0) sw_text_printf(out, " into %%%s", g->values[g->alias[i]].name);
  }
  sw_text_puts(out, "\n}\n");
}

/* --- hash -------------------------------------------------------------------------------------------------------- */

static uint64_t hash_text(const char *s, uint64_t h) { return sw_hash_bytes(s, strlen(s), h); }
static uint64_t hash_int(int64_t v, uint64_t h) { return sw_hash_u64((uint64_t)v, h); }
/* By name, not by id: ids depend on whether arguments were added before ops. */
static uint64_t hash_value(const sw_graph *g, sw_id v, uint64_t h) {
  return v < 0 ? hash_int(v, h) : hash_text(g->values[v].name, h);
}
static uint64_t hash_op_name(const sw_graph *g, sw_id op, uint64_t h) {
  return op < 0 ? hash_int(op, h) : hash_text(g->ops[op].name, h);
}

static uint64_t hash_type(const sw_type *t, uint64_t h) {
  h = hash_int(t->rank, hash_text(sw_dtype_text(t->dtype), h));
  for (int i = 0; i < t->rank; i++) h = hash_int(t->dims[i], h);
  return h;
}

/* The elements of a constant decide no plan. */
static uint64_t hash_attr(const sw_attr *a, uint64_t h) {
  h = hash_text(sw_attr_text(a->key), h);
  switch (sw_attr_kind_of(a->key)) {
    case SW_ATTR_KIND_INT:
    case SW_ATTR_KIND_BOOL:
      return hash_int(a->u.i, h);
    case SW_ATTR_KIND_DTYPE:
      return hash_text(sw_dtype_text((sw_dtype)a->u.i), h);
    case SW_ATTR_KIND_FLOAT:
      return sw_hash_bytes(&a->u.f, sizeof a->u.f, h);
    case SW_ATTR_KIND_TEXT:
      return hash_text(a->u.text, h);
    case SW_ATTR_KIND_INTS:
      h = hash_int(a->u.ints.n, h);
      for (int i = 0; i < a->u.ints.n; i++) h = hash_int(a->u.ints.at[i], h);
      return h;
    case SW_ATTR_KIND_DATA:
      break;
  }
  return h;
}

static uint64_t hash_nest(const sw_loop_nest *s, uint64_t h) {
  for (int i = 0; i < s->n_loops; i++) {
    h = hash_int(s->loops[i].size, hash_int(s->loops[i].kind * 64 + s->loops[i].combiner, h));
  }
  for (int i = 0; i < s->n_maps; i++) {
    for (int k = 0; k < s->maps[i].rank; k++) {
      const sw_affine *e = &s->maps[i].dims[k];
      h = hash_int(e->constant, hash_int(e->n_terms, h));
      for (int t = 0; t < e->n_terms; t++) h = hash_int(e->terms[t].loop, hash_int(e->terms[t].coef, h));
    }
  }
  return h;
}

static uint64_t hash_op(const sw_graph *g, const sw_op *op, uint64_t h) {
  h = hash_text(op->name, hash_text(sw_opcode_text(op->code), h));
  if (op->blocked) h = hash_int(op->blocked, h);
  for (int i = 0; i < op->n_operands; i++) h = hash_value(g, op->operands[i], h);
  for (int i = 0; i < op->n_attrs; i++) h = hash_attr(&op->attrs[i], h);
  for (int i = 0; i < op->n_results; i++) {
    h = hash_type(sw_result_type(g, op, i), hash_value(g, op->results[i], h));
  }
  return op->code == SW_OP_GENERIC ? hash_nest(op->nest, h) : h;
}

static uint64_t hash_annotation(const sw_graph *g, const sw_annotation *a, uint64_t h) {
  h = hash_value(g, a->value, hash_op_name(g, a->op, h));
  for (int i = 0; i < a->n_kept; i++)
    h = hash_int(a->kept[i].axis, hash_int(a->kept[i].pre, hash_int(a->kept[i].size, h)));
  if (a->priority) h = hash_int(a->priority, h);
  h = hash_int(a->open_dims * 4 + (a->required ? 2 : 0) + (a->for_users ? 1 : 0), h);
  if (a->value >= 0) h = hash_int((int64_t)sw_sharding_hash(&a->sharding), h);
  for (int i = 0; i < a->n_loop_refs; i++) {
    const sw_axis_ref *r = &a->loop_refs[i];
    h = hash_int(a->loop_of[i], hash_int(r->axis, hash_int(r->pre, hash_int(r->size, h))));
  }
  for (int i = 0; i < a->n_users; i++) h = hash_op_name(g, a->users[i].op, hash_int(a->users[i].index, h));
  return h;
}

uint64_t sw_request_hash(const sw_request *r) {
  const sw_graph *g = r->graph;
  uint64_t h = hash_text("main", hash_text("shardwright graph 1", 0));
  for (int i = 0; i < g->n_args; i++) {
    const sw_value *v = &g->values[g->args[i]];
    h = hash_type(&v->type, hash_int(v->kind, hash_text(v->name, h)));
  }
  for (int i = 0; i < g->n_ops; i++) h = hash_op(g, &g->ops[i], h);
  for (int i = 0; i < g->n_outputs; i++) {
    h = hash_text(g->output_names[i], hash_value(g, g->outputs[i], hash_value(g, g->alias[i], h)));
  }
  for (int i = 0; r->has_mesh && i < r->mesh.n_axes; i++) {
    h = hash_int(r->mesh.axis[i].size, hash_text(r->mesh.axis[i].name, h));
  }
  /* Annotations of different values may stand in any order. */
  uint64_t notes = 0;
  for (int i = 0; i < r->n_annotations; i++) notes += hash_annotation(g, &r->annotations[i], 1);
  for (int i = 0; i < r->n_sharding_groups; i++)
    notes += hash_value(g, r->sharding_groups[i].a, 2) * 3 + hash_value(g, r->sharding_groups[i].b, 2);
  return sw_hash_u64(notes, h);
}
