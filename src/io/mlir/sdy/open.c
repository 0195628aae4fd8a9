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
#include <stdlib.h>
#include <string.h>

#include "io/mlir/sdy/sdy.h"

bool sw_sdy_says_priorities(const sw_ir_tree *t) {
  for (const char *p = t->s; (p = strchr(p, '}')) != NULL; p++) {
    if (p[1] == 'p' && isdigit((unsigned char)p[2])) return true;
  }
  return false;
}

/* "x", "y":(1)2 */
static sw_rc read_kept(sw_importer *m, sw_ir_span list, sw_sdy_open *out) {
  sw_ir_span item;
  uint32_t cursor = 0;
  while (sw_ir_next_item(m->t, list, &cursor, &item)) {
    const char *s = m->t->s + item.at;
    if (out->n_kept == SW_MAX_REFS)
      return SW_IM_FAIL_AT(m, item.at, "a tensor is replicated over more than %d axes", SW_MAX_REFS);
    SW_TRY(sw_axis_ref_parse(&m->g->mesh, &s, m->t->s + item.end, &out->kept[out->n_kept++], m->d));
  }
  return SW_OK;
}

/* {"x", ?}p1 */
static void read_dim(const sw_ir_tree *t, sw_ir_span dim, int k, sw_sdy_open *out) {
  if (memchr(t->s + dim.at, '?', sw_ir_len(dim))) out->dims |= UINT32_C(1) << k;
  uint32_t end = dim.end;
  while (end > dim.at && t->s[end - 1] != '}') end--;
  while (end < dim.end && isspace((unsigned char)t->s[end])) end++;
  if (end < dim.end && t->s[end] == 'p') out->priority[k] = (int32_t)strtol(t->s + end + 1, NULL, 10);
}

sw_rc sw_sdy_read_open(sw_importer *m, sw_ir_span dims, sw_sdy_open *out) {
  sw_ir_span list = {dims.at, sw_ir_inside(m->t, dims).end + 1}, item;
  uint32_t cursor = 0;
  *out = (sw_sdy_open){0};
  for (int k = 0; k < SW_MAX_RANK && sw_ir_next_item(m->t, list, &cursor, &item); k++) read_dim(m->t, item, k, out);
  for (uint32_t at = list.end; at < dims.end; at++) {
    static const char kWord[] = "replicated";
    if (strncmp(m->t->s + at, kWord, sizeof kWord - 1) != 0) continue;
    while (at < dims.end && m->t->s[at] != '{') at++;
    return read_kept(m, (sw_ir_span){at, dims.end}, out);
  }
  return SW_OK;
}

/* The smallest priority above `last` of a dim that is cut; -1: there is none. */
static int32_t next_priority(const sw_sharding *s, const sw_sdy_open *o, int32_t last) {
  int32_t next = -1;
  for (int i = 0; i < s->n_refs; i++) {
    const int32_t p = o->priority[s->dim_of[i]];
    if (p > last && (next < 0 || p < next)) next = p;
  }
  return next;
}

sw_rc sw_sdy_hint_by_priority(sw_importer *m, const sw_im_target *of, const sw_sharding *s, const sw_sdy_open *o,
                              uint32_t at) {
  if (!sw_sdy_state_of(m)->says_priorities || s->n_partial) return SW_OK;
  for (int32_t p = next_priority(s, o, -1); p >= 0; p = next_priority(s, o, p)) {
    sw_annotation a = {.value = of->value,
                       .op = -1,
                       .sharding = sw_sharding_replicated(s->rank),
                       .open_dims = (UINT32_C(1) << s->rank) - 1,
                       .n_kept = o->n_kept,
                       .kept = o->kept,
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
