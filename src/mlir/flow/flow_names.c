/* What the tensors of a flow are called in the text. */
#include "mlir/flow/program_flow.h"

typedef struct namer {
  const sw_program_flow *p;
  bool several; /* functions with bodies */
  sw_arena *arena;
  sw_tensor_names *out;
  sw_diag *d;
} namer;

/* "@f:" where it is needed. */
static const char *function_prefix(const namer *n, uint32_t function) {
  const sw_ir_span name = sw_ir_function_name(n->p->t, &n->p->t->ops.at[function]);
  return n->several ? sw_arena_printf(n->arena, n->d, "@%.*s:", SW_IR_TEXT(n->p->t, name)) : "";
}

/* The first name that a tensor gets is its own. */
static bool is_unnamed_tensor(const namer *n, int32_t tensor) { return tensor >= 0 && !n->out->name[tensor]; }

static sw_rc name_args(namer *n, uint32_t block, uint32_t function) {
  const sw_ir_block *b = &n->p->t->blocks.at[block];
  for (uint32_t i = 0; i < b->n_args; i++) {
    const sw_ir_arg *a = &n->p->t->args.at[b->first_arg + i];
    const int32_t tensor = n->p->tensors_in[function][n->p->names->block[block] + i];
    const char *prefix = is_unnamed_tensor(n, tensor) ? function_prefix(n, function) : "";
    if (!prefix) return SW_E_RESOURCE;
    if (!is_unnamed_tensor(n, tensor) || !sw_ir_len(a->name)) continue;
    n->out->name[tensor] = sw_arena_printf(n->arena, n->d, "%s%%%.*s", prefix, SW_IR_TEXT(n->p->t, a->name));
    n->out->at[tensor] = a->name.at - 1;
    if (!n->out->name[tensor]) return SW_E_RESOURCE;
  }
  return SW_OK;
}

static sw_rc name_results(namer *n, uint32_t op, uint32_t function) {
  const sw_ir_op *o = &n->p->t->ops.at[op];
  for (uint32_t k = 0; k < o->n_results; k++) {
    const sw_ir_result *r = &n->p->t->results.at[o->first_result + k];
    for (uint32_t i = 0; i < r->count; i++) {
      const int32_t tensor = n->p->tensors_in[function][n->p->names->result[o->first_result + k] + i];
      const char *prefix = is_unnamed_tensor(n, tensor) ? function_prefix(n, function) : "";
      if (!prefix) return SW_E_RESOURCE;
      if (!is_unnamed_tensor(n, tensor)) continue;
      n->out->name[tensor] =
          r->count > 1 ? sw_arena_printf(n->arena, n->d, "%s%%%.*s#%u", prefix, SW_IR_TEXT(n->p->t, r->name), i)
                       : sw_arena_printf(n->arena, n->d, "%s%%%.*s", prefix, SW_IR_TEXT(n->p->t, r->name));
      n->out->at[tensor] = r->name.at - 1;
      if (!n->out->name[tensor]) return SW_E_RESOURCE;
    }
  }
  return SW_OK;
}

/* Results of functions, and what computations are given and give as a whole. */
static sw_rc name_places(namer *n) {
  for (size_t k = 0; k < n->p->places.n; k++) {
    const sw_said *s = &n->p->places.at[k];
    const sw_ir_op *o = &n->p->t->ops.at[s->op];
    for (int32_t i = 0; i < s->n; i++) {
      const int32_t tensor = n->p->said_of.at[s->first + i];
      if (!is_unnamed_tensor(n, tensor)) continue;
      const char *name;
      if (s->kind == SW_SAID_RESULT) {
        name =
            sw_arena_printf(n->arena, n->d, "@%.*s#%u", SW_IR_TEXT(n->p->t, sw_ir_function_name(n->p->t, o)), s->index);
      } else {
        const char *prefix = function_prefix(n, n->p->function_of[s->op]);
        const sw_ir_result *r = o->n_results ? &n->p->t->results.at[o->first_result] : NULL;
        name = !prefix ? NULL
                       : sw_arena_printf(n->arena, n->d, "%s%s%.*s %s[%d]", prefix, r ? "%" : "",
                                         r ? (int)sw_ir_len(r->name) : 0, r ? n->p->t->s + r->name.at : "",
                                         s->kind == SW_SAID_IN ? "in_shardings" : "out_shardings", i);
      }
      if (!name) return SW_E_RESOURCE;
      n->out->name[tensor] = name;
      n->out->at[tensor] = o->text.at;
    }
  }
  return SW_OK;
}

sw_rc sw_tensor_names_find(const sw_program_flow *p, sw_arena *arena, sw_tensor_names *out, sw_diag *d) {
  const sw_ir_tree *t = p->t;
  int n_functions = 0;
  for (uint32_t i = 0; i < t->ops.n; i++)
    n_functions += p->tensors_in[i] && sw_ir_block_at(t, &t->ops.at[i], 0) != SW_IR_NONE;
  SW_ARENA_NEW_EACH(arena, p->type.n, d, out->name, out->at);
  for (size_t i = 0; i < p->type.n; i++) out->at[i] = SW_IR_NONE;
  namer n = {p, n_functions > 1, arena, out, d};
  for (int functions = 1; functions >= 0; functions--) {
    for (uint32_t b = 1; b < t->blocks.n; b++) {
      const uint32_t op = t->regions.at[t->blocks.at[b].region].op;
      const uint32_t function = p->tensors_in[op] ? op : p->function_of[op];
      if ((function == op) == functions && p->tensors_in[function]) SW_TRY(name_args(&n, b, function));
    }
    for (uint32_t i = 0; i < t->ops.n && functions; i++) {
      if (!p->tensors_in[i] && p->tensors_in[p->function_of[i]]) SW_TRY(name_results(&n, i, p->function_of[i]));
    }
  }
  SW_TRY(name_places(&n));
  for (size_t i = 0; i < p->type.n; i++) { /* of constants */
    for (int32_t k = p->next_copy.at[i]; k >= 0 && out->name[i]; k = p->next_copy.at[k]) {
      if (out->name[k]) break;
      out->name[k] = out->name[i];
      out->at[k] = out->at[i];
    }
  }
  return SW_OK;
}
