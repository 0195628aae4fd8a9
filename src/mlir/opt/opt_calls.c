#include "mlir/opt/calls.h"

sw_ir_span sw_opt_original_name(const sw_ir_tree *t, const sw_ir_op *f) {
  const sw_ir_span name = sw_ir_unquoted(t, sw_ir_entry(t, f->attrs, "sdy.original_func_name"));
  return sw_ir_len(name) ? name : sw_ir_function_name(t, f);
}

uint32_t sw_opt_last_of_module(const sw_opt_work *w) {
  uint32_t at = SW_IR_NONE, last = SW_IR_NONE;
  for (uint32_t i = 0; i < w->t->ops.n && at == SW_IR_NONE; i++) at = w->values.function_of[i];
  for (; at != SW_IR_NONE; at = w->t->ops.at[at].next) last = at;
  return last;
}

/* A function that is being gone through, and its next call. */
typedef struct frame {
  uint32_t function, call;
} frame;

typedef struct search {
  sw_opt_work *w;
  sw_opt_calls *calls;
  uint8_t *state; /* by op: 0 not seen, 1 being gone through, 2 done */
  frame *stack;
  size_t depth;
} search;

static void enter_callee(search *s, uint32_t function) {
  s->state[function] = 1;
  s->stack[s->depth++] = (frame){function, s->calls->first[function]};
}

static sw_rc go_through(search *s, uint32_t function) {
  if (s->state[function]) return SW_OK;
  enter_callee(s, function);
  while (s->depth) {
    frame *f = &s->stack[s->depth - 1];
    const uint32_t call = f->call, callee = call == SW_IR_NONE ? SW_IR_NONE : s->calls->callee[call];
    if (call == SW_IR_NONE) {
      s->calls->order[s->calls->n++] = f->function;
      s->state[f->function] = 2;
      s->depth--;
      continue;
    }
    f->call = s->calls->next[call];
    if (s->state[callee] == 1)
      return SW_FAIL_INPUT(s->w->d, sw_ir_place(s->w->t, s->w->t->ops.at[call].text.at),
                           "a function calls itself; expected calls without recursion");
    if (!s->state[callee]) enter_callee(s, callee);
  }
  return SW_OK;
}

static sw_rc find_calls(sw_opt_work *w, sw_opt_calls *out) {
  const size_t n = w->t->ops.n;
  SW_ARENA_NEW_EACH(&w->arena, n, w->d, out->callee, out->first, out->next, out->order);
  for (size_t i = 0; i < n; i++) out->callee[i] = out->first[i] = out->next[i] = SW_IR_NONE;
  for (size_t i = n; i-- > 0;) {
    const uint32_t function = w->values.function_of[i];
    out->callee[i] = sw_opt_callee(w->t, w->names, &w->t->ops.at[i]);
    if (out->callee[i] == SW_IR_NONE || function == SW_IR_NONE) continue;
    out->next[i] = out->first[function];
    out->first[function] = (uint32_t)i;
  }
  return SW_OK;
}

sw_rc sw_opt_calls_read(sw_opt_work *w, sw_opt_calls *out) {
  search s = {.w = w, .calls = out};
  *out = (sw_opt_calls){0};
  SW_TRY(find_calls(w, out));
  SW_ARENA_NEW_EACH(&w->arena, w->t->ops.n, w->d, s.state, s.stack);
  for (uint32_t i = 0; i < w->t->ops.n; i++) {
    if (w->values.function_of[i] == i) SW_TRY(go_through(&s, i));
  }
  return SW_OK;
}
