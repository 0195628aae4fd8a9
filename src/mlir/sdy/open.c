/* What a sharding leaves to the planner, and how much it counts:
 *
 *   [{"x", ?}p1, {?}], replicated={"y"}      dims 0 and 1 may be cut further, not by y; x weighs as p1
 *
 * The sharding itself is required of its value. In a program that says priorities it is also a hint to its
 * neighbours, per priority: axes of the lowest number are to cut them in place of others.
 *
 *   a: [{"x"}p1, {}]   b: [{"y"}, {}]      a + b is cut by y: b's have priority 0
 */
#include <ctype.h>
#include <string.h>

#include "mlir/sdy/sdy.h"

bool sw_sdy_says_priorities(const sw_ir_tree *t) {
  for (const char *p = t->s; (p = strchr(p, '}')) != NULL; p++) {
    if (p[1] == 'p' && isdigit((unsigned char)p[2])) return true;
  }
  return false;
}

/* The smallest priority above `last` of a dim that is cut; -1: there is none. */
static int32_t next_open_priority(const sw_sharding *s, const sw_open_sharding *o, int32_t last) {
  int32_t next = -1;
  for (int i = 0; i < s->n_refs; i++) {
    const int32_t p = o->priority[s->dim_of[i]];
    if (p > last && (next < 0 || p < next)) next = p;
  }
  return next;
}

sw_rc sw_sdy_hint_by_priority(sw_importer *m, const sw_im_target *of, const sw_sharding *s, const sw_sdy_sharding *said,
                              uint32_t at) {
  const sw_open_sharding *o = &said->own;
  if (!sw_sdy_state_of(m)->says_priorities || s->n_partial) return SW_OK;
  for (int32_t p = next_open_priority(s, o, -1); p >= 0; p = next_open_priority(s, o, p)) {
    sw_annotation a = {.value = of->value,
                       .op = -1,
                       .sharding = sw_sharding_replicated(s->rank),
                       .open_dims = (UINT32_C(1) << s->rank) - 1,
                       .n_kept = of->n_kept,
                       .kept = of->kept,
                       .priority = p,
                       .derived = true,
                       .for_users = of->use == NULL,
                       .span = sw_ir_place(m->t, at)};
    for (int i = 0; i < s->n_refs; i++) {
      if (o->priority[s->dim_of[i]] == p) (void)sw_sharding_push(&a.sharding, s->dim_of[i], s->refs[i]);
    }
    SW_TRY(sw_graph_add_annotation(m->g, &a, m->d));
  }
  return SW_OK;
}
