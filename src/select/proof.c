/* Lines of a certificate, and how they are put together.
 *
 * Example: "drop 7 2 beaten 0" says that choice 2 of node 7 costs and occupies at least what choice 0 does.
 */
#include "select/proof.h"

void sel_proof_deinit(sel_proof *p) {
  sw_text_free(&p->bare.text);
  sw_text_free(&p->bare.end);
  sw_text_free(&p->root.text);
  sw_text_free(&p->root.end);
  for (size_t k = 0; k < p->nodes.n; k++) {
    sw_text_free(&p->nodes.at[k].text);
    sw_text_free(&p->nodes.at[k].split);
  }
  sw_array_free(&p->nodes);
}

sel_proof_node *sel_proof_node_at(sel_proof *p, int64_t id) {
  while (p->nodes.n <= (size_t)id)
    if (sw_array_push(&p->nodes, ((sel_proof_node){.bound = INT64_MIN, .kid = {-1, -1}}), NULL)) return NULL;
  return &p->nodes.at[id];
}

static void append_proof(sw_text *out, const sw_text *part) {
  if (part->rc) out->rc = part->rc;
  sw_text_append(out, sw_text_str(part), part->n);
}

/* Children follow only where the node's own prices do not reach the bound. The depth is that of the search. */
static void print_node(const sel_proof *p, int64_t id, int64_t bound, sw_text *out) {
  if (id < 0 || (size_t)id >= p->nodes.n) return;
  const sel_proof_node *node = &p->nodes.at[id];
  append_proof(out, &node->text);
  if (node->bound >= bound || node->split.n == 0) return;
  append_proof(out, &node->split);
  for (int side = 0; side < 2; side++) {
    sw_text_puts(out, "node\n");
    print_node(p, node->kid[side], bound, out);
    sw_text_puts(out, "end\n");
  }
}

void sel_proof_print(const sel_proof *p, int64_t bound, sw_text *out) {
  sw_text_printf(out, "shardwright-certificate 1\nbound %lld\n", (long long)bound);
  if (bound <= 0) return;
  if (p->bare.bound >= bound) {
    sw_text_puts(out, "without-memory\n");
    append_proof(out, &p->bare.text);
    append_proof(out, &p->bare.end);
    return;
  }
  append_proof(out, &p->root.text);
  if (p->root.bound >= bound) {
    append_proof(out, &p->root.end);
  } else {
    sw_text_puts(out, "branch\n");
    print_node(p, 0, bound, out);
  }
}

int32_t sel_name_var(const sel_model *m, int32_t v) { return m->given.above ? m->given.above->alive.of[v] : v; }

int32_t sel_name_value(const sel_model *m, int32_t v, int32_t s) {
  int32_t id = m->vars[v].id[s];
  return m->given.above ? m->given.above->vars[m->given.above->alive.of[v]].id[id] : id;
}

int64_t sel_name_time(const sel_model *m, int32_t step) {
  int32_t t = m->steps.of[step];
  return m->given.above ? sel_name_time(m->given.above, t) : m->time[t];
}

void sel_log_lower(const sel_model *m, int32_t i, int32_t j) {
  if (m->given.log) sw_text_printf(m->given.log, "lower %d %d\n", sel_name_var(m, i), sel_name_var(m, j));
}

void sel_log_merge(const sel_model *m, int32_t gone, int32_t into) {
  if (m->given.log) sw_text_printf(m->given.log, "merge %d %d\n", sel_name_var(m, gone), sel_name_var(m, into));
}

void sel_log_fold(const sel_model *m, int32_t v) {
  if (m->given.log) sw_text_printf(m->given.log, "fold %d\n", sel_name_var(m, v));
}

void sel_log_drop(const sel_model *m, int32_t v, int32_t s, const char *why, int64_t by) {
  if (m->given.log)
    sw_text_printf(m->given.log, "drop %d %d %s %lld\n", sel_name_var(m, v), sel_name_value(m, v, s), why,
                   (long long)by);
}

void sel_log_forbidden(const sel_model *m, int32_t v, const bool *keep) {
  for (int32_t s = 0; m->given.log && s < m->vars[v].n; s++)
    if (!keep[s] && sel_bad(m->vars[v].cost[s])) sel_log_drop(m, v, s, "forbidden", 0);
}

void sel_log_overfull(const sel_model *m, int32_t step) {
  if (m->given.log) sw_text_printf(m->given.log, "overfull %lld\n", (long long)sel_name_time(m, step));
}
