/* Writer of the contest's problem and solution files. One line per list of the problem, so that files compare well. */
#include "shardwright/iopddl.h"

#include "base/hash.h"

static void print_i64_list(sw_text *out, const int64_t *v, int64_t n) {
  sw_text_puts(out, "[");
  for (int64_t k = 0; k < n; k++) sw_text_printf(out, "%s%lld", k ? "," : "", (long long)v[k]);
  sw_text_puts(out, "]");
}

/* NULL: it uses nothing. */
static const sw_usage *only_use(const sw_node *n) { return n->n_uses ? n->uses : NULL; }

static void print_nodes(const sw_problem *p, sw_text *out) {
  static const int64_t kNone[2] = {0, 0};
  sw_text_puts(out, "\"nodes\":{\"intervals\":[");
  for (int32_t i = 0; i < p->n_nodes; i++) {
    const sw_usage *u = only_use(&p->nodes[i]);
    int64_t t[2] = {u ? u->begin : kNone[0], u ? u->end : kNone[1]};
    sw_text_puts(out, i ? "," : "");
    print_i64_list(out, t, 2);
  }
  sw_text_puts(out, "],\n\"costs\":[");
  for (int32_t i = 0; i < p->n_nodes; i++) {
    sw_text_puts(out, i ? "," : "");
    print_i64_list(out, p->nodes[i].cost, p->nodes[i].n_choices);
  }
  sw_text_puts(out, "],\n\"usages\":[");
  for (int32_t i = 0; i < p->n_nodes; i++) {
    sw_text_puts(out, i ? ",[" : "[");
    const sw_usage *u = only_use(&p->nodes[i]);
    for (int32_t s = 0; s < p->nodes[i].n_choices; s++)
      sw_text_printf(out, "%s%lld", s ? "," : "", u ? (long long)u->amount[s] : 0LL);
    sw_text_puts(out, "]");
  }
  sw_text_puts(out, "]}");
}

static void print_edges(const sw_problem *p, sw_text *out) {
  sw_text_puts(out, "\"edges\":{\"nodes\":[");
  for (int32_t e = 0; e < p->n_edges; e++) sw_text_printf(out, "%s[%d,%d]", e ? "," : "", p->edges[e].i, p->edges[e].j);
  sw_text_puts(out, "],\n\"costs\":[");
  for (int32_t e = 0; e < p->n_edges; e++) {
    const sw_edge *g = &p->edges[e];
    sw_text_puts(out, e ? "," : "");
    print_i64_list(out, g->cost, (int64_t)p->nodes[g->i].n_choices * p->nodes[g->j].n_choices);
  }
  sw_text_puts(out, "]}");
}

static void print_i32_list(sw_text *out, const int32_t *v, int32_t n) {
  for (int32_t k = 0; k < n; k++) sw_text_printf(out, "%s%d", k ? "," : "", v[k]);
}

static void print_wants(const sw_wants *w, bool first, sw_text *out) {
  for (int32_t s = 0; s < w->n_choices; s++) {
    const int32_t c = w->class_of[s];
    sw_text_puts(out, first && s == 0 ? "[" : ",[");
    print_i32_list(out, w->layout + w->first[c], w->first[c + 1] - w->first[c]);
    sw_text_puts(out, "]");
  }
}

/* Tables in the order in which groups name them, each once. */
static sw_rc number_tables(const sw_problem *p, sw_dict *number, const sw_copy_table **tables, int32_t *n, sw_diag *d) {
  for (int32_t k = 0; k < p->n_copies; k++) {
    int64_t *at;
    bool fresh;
    SW_TRY(sw_dict_put(number, &p->copies[k].table, sizeof p->copies[k].table, *n, &at, &fresh, d));
    if (fresh) tables[(*n)++] = p->copies[k].table;
  }
  return SW_OK;
}

static void print_tables(const sw_copy_table *const *tables, int32_t n, sw_text *out) {
  sw_text_puts(out, "],\n\"makes\":[");
  for (int32_t k = 0; k < n; k++) {
    sw_text_puts(out, k ? ",[" : "[");
    print_i32_list(out, tables[k]->class_of, tables[k]->n_choices);
    sw_text_puts(out, "]");
  }
  sw_text_puts(out, "],\n\"costs\":[");
  for (int32_t k = 0; k < n; k++) {
    sw_text_puts(out, k ? "," : "");
    print_i64_list(out, tables[k]->cost, (int64_t)tables[k]->n_classes * tables[k]->n_layouts);
  }
  sw_text_puts(out, "],\n\"readers\":[");
  for (int32_t k = 0; k < n; k++) {
    sw_text_puts(out, k ? ",[" : "[");
    for (int32_t i = 0; i < tables[k]->n_readers; i++)
      sw_text_printf(out, "%s%d", i ? "," : "", tables[k]->wants[i].n_choices);
    sw_text_puts(out, "]");
  }
  sw_text_puts(out, "],\n\"wants\":[");
  bool first = true;
  for (int32_t k = 0; k < n; k++)
    for (int32_t i = 0; i < tables[k]->n_readers; i++, first = false) print_wants(&tables[k]->wants[i], first, out);
  sw_text_puts(out, "]}");
}

static sw_rc print_copies(const sw_problem *p, sw_text *out, sw_diag *d) {
  sw_dict number = {0};
  sw_arena mem = {0};
  int32_t n = 0;
  if (!p->n_copies) return SW_OK;
  const sw_copy_table **tables = sw_arena_alloc(&mem, (size_t)p->n_copies, sizeof *tables, d);
  sw_rc rc = tables ? number_tables(p, &number, tables, &n, d) : SW_E_RESOURCE;
  if (!rc) {
    sw_text_puts(out, ",\n\"copies\":{\"groups\":[");
    for (int32_t k = 0; k < p->n_copies; k++) {
      const sw_copies *c = &p->copies[k];
      const int64_t *at = sw_dict_get(&number, &c->table, sizeof c->table);
      sw_text_printf(out, "%s[%d,%lld,", k ? "," : "", c->maker, (long long)*at);
      print_i32_list(out, c->reader, c->table->n_readers);
      sw_text_puts(out, "]");
    }
    print_tables(tables, n, out);
  }
  sw_dict_deinit(&number);
  sw_arena_deinit(&mem);
  return rc;
}

/* The reader keeps escapes as they stand, so a name goes out as it came in; other names must need none. */
static bool plain_name(const char *s) {
  for (; *s; s++)
    if ((unsigned char)*s < 0x20 || *s == '"') return false;
  return true;
}

sw_rc sw_iopddl_print(const sw_problem *p, sw_text *out, sw_diag *d) {
  for (int32_t i = 0; i < p->n_nodes; i++)
    if (p->nodes[i].n_uses > 1)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "node %d has %d uses; the contest's format has at most one", i,
                           p->nodes[i].n_uses);
  for (int32_t k = 0; k < p->n_copies; k++)
    if (p->copies[k].lives)
      return SW_FAIL_INPUT(d, SW_NOWHERE, "copies %d have lives; a file says nothing of when copies are held", k);
  sw_text_printf(out, "{\"problem\":{\"name\":\"%s\",\n", p->name && plain_name(p->name) ? p->name : "");
  print_nodes(p, out);
  sw_text_puts(out, ",\n");
  print_edges(p, out);
  SW_TRY(print_copies(p, out, d));
  if (p->limit != INT64_MAX) sw_text_printf(out, ",\n\"usage_limit\":%lld", (long long)p->limit);
  sw_text_puts(out, "}}\n");
  return out->rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory while printing a problem") : SW_OK;
}

void sw_iopddl_print_solution(const int32_t *choice, int32_t n, sw_text *out) {
  sw_text_puts(out, "[");
  for (int32_t i = 0; i < n; i++) sw_text_printf(out, "%s%d", i ? ", " : "", choice[i]);
  sw_text_puts(out, "]\n");
}
