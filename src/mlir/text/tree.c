/* What one asks of a syntax tree, and the text that it stands for. */
#include "mlir/text/tree.h"

#include <string.h>

void sw_ir_free(sw_ir_tree *t) {
  sw_array_free(&t->ops);
  sw_array_free(&t->uses);
  sw_array_free(&t->results);
  sw_array_free(&t->args);
  sw_array_free(&t->blocks);
  sw_array_free(&t->regions);
  sw_array_free(&t->aliases);
  sw_array_free(&t->lines);
  sw_array_free(&t->resources);
  sw_array_free(&t->errors);
  sw_dict_deinit(&t->alias_of);
}

uint32_t sw_ir_region_at(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i) {
  uint32_t r = op->first_region;
  while (i-- && r != SW_IR_NONE) r = t->regions.at[r].next;
  return r;
}

uint32_t sw_ir_region_count(const sw_ir_tree *t, const sw_ir_op *op) {
  uint32_t n = 0;
  for (uint32_t r = op->first_region; r != SW_IR_NONE; r = t->regions.at[r].next) n++;
  return n;
}

uint32_t sw_ir_block_at(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i) {
  uint32_t r = sw_ir_region_at(t, op, i);
  return r == SW_IR_NONE ? SW_IR_NONE : t->regions.at[r].first_block;
}

uint32_t sw_ir_last_op(const sw_ir_tree *t, uint32_t block) {
  uint32_t last = SW_IR_NONE;
  for (uint32_t k = block == SW_IR_NONE ? block : t->blocks.at[block].first_op; k != SW_IR_NONE; k = t->ops.at[k].next)
    last = k;
  return last;
}

uint32_t sw_ir_op_from(const sw_ir_tree *t, uint32_t op, uint32_t at) {
  while (op < t->ops.n && t->ops.at[op].text.at < at) op++;
  return op;
}

int sw_ir_compare_ops(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

const sw_ir_result *sw_ir_result_at(const sw_ir_tree *t, const sw_ir_op *op, uint32_t i, uint32_t *number) {
  for (uint32_t k = op->first_result; k < op->first_result + op->n_results; k++) {
    *number = i;
    if (i < t->results.at[k].count) return &t->results.at[k];
    i -= t->results.at[k].count;
  }
  return NULL;
}

sw_span sw_ir_place(const sw_ir_tree *t, uint32_t at) {
  size_t low = 0, high = t->lines.n;
  while (high - low > 1) {
    size_t mid = low + (high - low) / 2;
    if (t->lines.at[mid] <= at)
      low = mid;
    else
      high = mid;
  }
  return (sw_span){t->file, (int32_t)low + 1, (int32_t)(at - t->lines.at[low]) + 1};
}

bool sw_ir_is(const sw_ir_tree *t, sw_ir_span s, const char *text) {
  size_t n = sw_ir_len(s);
  return strncmp(t->s + s.at, text, n) == 0 && strlen(text) == n; /* most differ at once */
}

bool sw_ir_is_among(const sw_ir_tree *t, sw_ir_span s, const char *names) {
  for (size_t n; *names; names += n + (names[n] == ' ')) {
    n = strcspn(names, " ");
    if (n == sw_ir_len(s) && memcmp(t->s + s.at, names, n) == 0) return true;
  }
  return false;
}

bool sw_ir_ends(const sw_ir_tree *t, sw_ir_span s, const char *text) {
  const size_t n = strlen(text);
  return sw_ir_len(s) >= n && memcmp(t->s + s.end - n, text, n) == 0;
}

bool sw_ir_starts(const sw_ir_tree *t, sw_ir_span s, const char *text) {
  size_t n = strlen(text);
  return sw_ir_len(s) >= n && memcmp(t->s + s.at, text, n) == 0;
}

sw_ir_span sw_ir_alias_value(const sw_ir_tree *t, sw_ir_span name) {
  const int64_t *i = sw_dict_get(&t->alias_of, t->s + name.at, sw_ir_len(name));
  return i ? t->aliases.at[*i].value : (sw_ir_span){0, 0};
}

sw_rc sw_ir_keep_text(sw_rc rc, sw_text *t, sw_arena *arena, const char **out, sw_diag *d) {
  *out = rc ? NULL : sw_text_keep(t, arena, d);
  sw_text_free(t);
  return rc ? rc : *out ? SW_OK : SW_E_RESOURCE;
}

void sw_ir_print(const sw_ir_tree *t, sw_text *out) {
  uint32_t at = 0;
  for (size_t i = 0; i < t->ops.n; i++) { /* an op, up to the first one inside it or behind it */
    uint32_t begin = t->ops.at[i].text.at;
    sw_text_append(out, t->s + at, begin - at);
    at = begin;
  }
  sw_text_append(out, t->s + at, t->n - at);
}
