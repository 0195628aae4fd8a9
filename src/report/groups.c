#include "report/groups.h"

#include <ctype.h>
#include <string.h>

#include "base/array.h"
#include "base/hash.h"

/* The name with every run of digits as '*'. */
static void pattern_of(const char *name, sw_text *out) {
  for (const char *p = name; *p;) {
    if (isdigit((unsigned char)*p)) {
      while (isdigit((unsigned char)*p)) p++;
      sw_text_puts(out, "*");
    } else {
      sw_text_append(out, p++, 1);
    }
  }
}

typedef struct grouping {
  const sw_plan *p;
  sw_arena *arena;
  sw_dict seen;
  sw_text key;
  SW_ARRAY(sw_arg_group) groups;
} grouping;

static sw_rc add_arg(grouping *s, int32_t i, sw_diag *d) {
  const sw_graph *g = s->p->graph;
  const sw_value *v = &g->values[g->args[i]];
  s->key.n = 0;
  pattern_of(v->name, &s->key);
  size_t name_bytes = s->key.n;
  sw_text_printf(&s->key, " %d ", (int)v->kind);
  sw_type_print(&v->type, &s->key);
  sw_sharding_print(sw_machine_mesh(s->p->machine), &s->p->args[i], &s->key);
  if (s->key.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  int64_t *slot;
  bool fresh;
  SW_TRY(sw_dict_put(&s->seen, s->key.at, s->key.n, (int64_t)s->groups.n, &slot, &fresh, d));
  if (fresh) return sw_array_push(&s->groups, ((sw_arg_group){v->name, i, 1}), d);
  sw_arg_group *group = &s->groups.at[*slot];
  if (group->count++ == 1) {
    group->name = sw_arena_strndup(s->arena, s->key.at, name_bytes, d);
    if (!group->name) return SW_E_RESOURCE;
  }
  return SW_OK;
}

sw_rc sw_group_args(const sw_plan *p, sw_arena *arena, int32_t *n, const sw_arg_group **out, sw_diag *d) {
  grouping s = {.p = p, .arena = arena};
  sw_rc rc = SW_OK;
  for (int32_t i = 0; !rc && i < p->graph->n_args; i++) rc = add_arg(&s, i, d);
  *n = (int32_t)s.groups.n;
  *out = rc ? NULL : sw_arena_copy(arena, s.groups.at, s.groups.n, sizeof *s.groups.at, d);
  if (!rc && !*out) rc = SW_E_RESOURCE;
  sw_dict_deinit(&s.seen);
  sw_text_free(&s.key);
  sw_array_free(&s.groups);
  return rc;
}
