/* A model as lines of text:
 *
 *   arguments   "a f32 4,6; i i32"                         name, dtype, sizes
 *   ops         "r = add(a, b); s, t = top_k(r) 'k':2"     ' stands for "
 *   outputs     "r, s"
 */
#ifndef TESTS_SUPPORT_PROGRAM_H_
#define TESTS_SUPPORT_PROGRAM_H_

#include <ctype.h>

#include "check.h"
#include "shardwright/model_json.h"

static inline void quote_list(sw_text *out, const char *key, const char *from, const char *to) {
  sw_text_printf(out, ", \"%s\": [", key);
  for (bool first = true; from < to; first = false) {
    while (from < to && (isspace((unsigned char)*from) || *from == ',')) from++;
    const char *end = from;
    while (end < to && *end != ',' && !isspace((unsigned char)*end)) end++;
    if (end == from) break;
    sw_text_printf(out, "%s\"%.*s\"", first ? "" : ", ", (int)(end - from), from);
    from = end;
  }
  sw_text_puts(out, "]");
}

/* "r = op(x, y) 'key':value" */
static inline void op_of(sw_text *out, const char *line, const char *end, int number) {
  const char *is = memchr(line, '=', (size_t)(end - line)), *open = memchr(line, '(', (size_t)(end - line));
  assert_non_null(open);
  if (is && is > open) is = NULL;
  const char *close = memchr(open, ')', (size_t)(end - open)), *name = is ? is + 1 : line;
  while (*name == ' ') name++;
  sw_text_printf(out, "%s{\"op\": \"%.*s\", \"name\": \"op%d\"", number ? ",\n" : "", (int)(open - name), name, number);
  quote_list(out, "inputs", open + 1, close);
  if (is) quote_list(out, "outputs", line, is);
  sw_text_puts(out, ", \"attrs\": {");
  for (const char *p = close + 1; p < end; p++) sw_text_printf(out, "%c", *p == '\'' ? '"' : *p);
  sw_text_puts(out, "}}");
}

/* `values`: more entries of the model's list of values, as JSON; NULL: none. */
static inline sw_rc program_of(const char *args, const char *values, const char *ops, const char *outputs, sw_graph **g,
                               sw_diag *d) {
  sw_text t = {0};
  sw_text_puts(&t, "{\"format\": \"shardwright-model\", \"version\": 1, \"values\": [\n");
  for (const char *p = args; *p;) {
    char name[32], dtype[16], dims[64] = "";
    int used = 0;
    if (sscanf(p, " %31s %15[^ ;]%n", name, dtype, &used) < 2) fail_msg("arguments '%s'", p);
    p += used;
    if (sscanf(p, " %63[0-9,]%n", dims, &used) == 1) p += used;
    sw_text_printf(&t, "{\"name\": \"%s\", \"kind\": \"input\", \"dtype\": \"%s\", \"shape\": [%s]}", name, dtype,
                   dims);
    while (*p == ' ' || *p == ';') p++;
    sw_text_puts(&t, *p || values ? ",\n" : "\n");
  }
  sw_text_printf(&t, "%s], \"ops\": [\n", values ? values : "");
  int number = 0;
  for (const char *line = ops; *line;) {
    const char *end = strchr(line, ';');
    if (!end) end = line + strlen(line);
    while (*line == ' ') line++;
    op_of(&t, line, end, number++);
    line = *end ? end + 1 : end;
  }
  sw_text_puts(&t, "]");
  quote_list(&t, "outputs", outputs, outputs + strlen(outputs));
  sw_text_puts(&t, "}");
  sw_rc rc = sw_model_parse("program", t.at, t.n, g, d);
  sw_text_free(&t);
  return rc;
}

#endif
