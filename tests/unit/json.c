/* The JSON tree and writer: places, types, refusals, and that what is written reads back to the same tree. */
#include "check.h"

#include <math.h>

#include "io/json_tree.h"
#include "io/json_write.h"

static const sw_json *parse(const char *text, sw_arena *a, sw_diag *d) {
  const sw_json *v = NULL;
  sw_rc rc = sw_json_parse("t.json", text, strlen(text), a, &v, d);
  return rc ? NULL : v;
}

static void every_node_knows_its_place(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_json *v =
      parse("\n {\"\xc3\xa9\" : [1,\n  -2.5e1 , \"x\\u0041\"],\n\"b\":{\"c\":null}, \"d\":true }", &a, &diag);
  assert_non_null(v);
  assert_int_equal(v->line, 2);
  assert_int_equal(v->col, 2);
  const sw_json *list = &v->at[0];
  assert_string_equal(list->key, "\xc3\xa9");
  assert_int_equal(list->key_col, 3);
  assert_int_equal(list->col, 9); /* characters, not bytes */
  assert_int_equal(list->at[0].col, 10);
  assert_int_equal(list->at[1].line, 3);
  assert_int_equal(list->at[1].col, 3);
  assert_int_equal(list->at[1].kind, SW_JSON_FLOAT);
  assert_true(list->at[1].f64 == -25.0);
  assert_int_equal(list->at[2].col, 12);
  assert_string_equal(list->at[2].text, "xA");
  const sw_json *c = sw_json_find(sw_json_find(v, "b"), "c");
  assert_int_equal(c->kind, SW_JSON_NULL);
  assert_int_equal(c->line, 4);
  assert_int_equal(c->col, 10);
  assert_int_equal(c->key_col, 6);
  assert_true(sw_json_find(v, "d")->truth);
  sw_arena_deinit(&a);
}

static void integers_are_exact(void **state) {
  (void)state;
  sw_arena a = {0};
  const sw_json *v = parse("[9223372036854775807,-9223372036854775808,18446744073709551615,7]", &a, &diag);
  assert_non_null(v);
  assert_true(v->at[0].kind == SW_JSON_INT && v->at[0].i64 == INT64_MAX);
  assert_true(v->at[1].kind == SW_JSON_INT && v->at[1].i64 == INT64_MIN);
  assert_true(v->at[2].kind == SW_JSON_FLOAT);
  assert_string_equal(v->at[2].text, "18446744073709551615");
  v = parse("42", &a, &diag); /* a number that the end of the text ends */
  assert_non_null(v);
  assert_int_equal(v->i64, 42);
  assert_int_equal(v->col, 1);
  sw_arena_deinit(&a);
}

typedef struct refused_row {
  const char *text;
  int line, col;
  const char *message; /* a part of it */
} refused_row;

static const refused_row kRefused[] = {
    {"{\"a\":1,\n \"a\":2}", 2, 2, "key 'a' appears twice; the first is at 1:2"},
    {"{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9,\"j\":1,\"k\":2,\"l\":3,\"m\":4,\n\"c\":"
     "5}",
     2, 1, "key 'c' appears twice; the first is at 1:14"},
    {"{\"a\":}", 1, 6, "unallowed token"},
    {"[1,]", 1, 4, "unallowed token"},
    {"[1 2]", 1, 4, "after array element"},
    {"[1,\n", 2, 1, "premature EOF"},
    {"", 1, 1, "premature EOF"},
    {"[1] x", 1, 5, ""},
    {"[1e999]", 1, 2, "beyond the range of a double"},
    {"[\"a\\u0000b\"]", 1, 2, "NUL"},
    {"[\"\xff\"]", 1, 3, "UTF8"},
    {"\n[nul]", 2, 5, "invalid"},
};

static void bad_text_is_refused_where_it_stands(void **state) {
  const refused_row *row = *state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  assert_null(parse(row->text, &a, &diag));
  if (!strstr(diag.text, row->message)) fail_msg("'%s' lacks '%s'", diag.text, row->message);
  assert_string_equal(diag.file, "t.json");
  assert_int_equal(diag.line, row->line);
  if (row->col) assert_in_range(diag.col, row->col - 1, row->col + 1);
  assert_int_equal(diag.rc, SW_E_INPUT);
  sw_arena_deinit(&a);
}

static void depth_is_limited(void **state) {
  (void)state;
  for (int depth = SW_JSON_MAX_DEPTH; depth <= SW_JSON_MAX_DEPTH + 1; depth++) {
    diag = (sw_diag){0};
    sw_arena a = {0};
    char text[2 * SW_JSON_MAX_DEPTH + 8] = {0};
    memset(text, '[', (size_t)depth);
    memset(text + depth, ']', (size_t)depth);
    assert_int_equal(parse(text, &a, &diag) != NULL, depth <= SW_JSON_MAX_DEPTH);
    if (depth > SW_JSON_MAX_DEPTH) assert_int_equal(diag.col, depth);
    sw_arena_deinit(&a);
  }
}

static void typed_access_says_what_is_wrong(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_arena a = {0};
  const sw_json *v =
      parse("{\"seq\":\"9\",\"n\":3.5,\"m\":7,\"kind\":\"inpt\",\"list\":[1,null],\"shpe\":0}", &a, &diag);
  int64_t i = -1;
  double f = -1;
  const char *s = NULL;
  int word, n;
  int64_t list[4];
  assert_int_equal(sw_json_i64(v, "seq", 0, 9, &i, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "'seq' is a string; expected an integer");
  assert_int_equal(diag.col, 8);
  assert_int_equal(sw_json_i64(v, "n", 0, 9, &i, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "'n' is 3.5; expected an integer");
  assert_int_equal(sw_json_i64(v, "m", 0, 6, &i, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "'m' is 7; expected 0 to 6");
  assert_int_equal(sw_json_i64(v, "zzz", 0, 6, &i, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "missing key 'zzz'");
  assert_ok(sw_json_opt_i64(v, "zzz", 0, 6, &i, &diag));
  assert_int_equal(i, -1);
  assert_ok(sw_json_f64(v, "m", 0, 9, &f, &diag));
  assert_true(f == 7);
  assert_ok(sw_json_opt_string(v, "kind", &s, &diag));
  assert_string_equal(s, "inpt");
  const char *const words[] = {"input", "output"};
  assert_int_equal(sw_json_word(sw_json_find(v, "kind"), words, 2, &word, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "'kind' is 'inpt'; expected one of input, output");
  assert_int_equal(sw_json_i64_list(sw_json_find(v, "list"), 0, 9, list, 4, &n, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "element is null; expected an integer");
  const char *const keys[] = {"seq", "n", "m", "kind", "list", "shape"};
  assert_int_equal(sw_json_only(v, keys, 6, "a value", &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "unknown key 'shpe' in a value; did you mean 'shape'?");
  assert_int_equal(sw_json_only(v, keys, 4, "a value", &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "unknown key 'list' in a value; expected one of seq, n, m, kind");
  sw_arena_deinit(&a);
}

static void write_tree(sw_json_out *o, const sw_json *v) {
  switch (v->kind) {
    case SW_JSON_NULL:
      sw_jw_null(o, v->key);
      return;
    case SW_JSON_BOOL:
      sw_jw_bool(o, v->key, v->truth);
      return;
    case SW_JSON_INT:
      sw_jw_i64(o, v->key, v->i64);
      return;
    case SW_JSON_FLOAT:
      sw_jw_f64(o, v->key, v->f64);
      return;
    case SW_JSON_STRING:
      sw_jw_string(o, v->key, v->text);
      return;
    case SW_JSON_ARRAY:
      v->n % 2 ? sw_jw_row(o, v->key) : sw_jw_array(o, v->key);
      break;
    case SW_JSON_OBJECT:
      v->n % 2 ? sw_jw_object_row(o, v->key) : sw_jw_object(o, v->key);
      break;
  }
  for (int i = 0; i < v->n; i++) write_tree(o, &v->at[i]);
  sw_jw_end(o);
}

static void assert_same(const sw_json *a, const sw_json *b) {
  assert_int_equal(a->kind, b->kind);
  assert_int_equal(a->key != NULL, b->key != NULL);
  if (a->key) assert_string_equal(a->key, b->key);
  if (a->kind == SW_JSON_INT) assert_int_equal(a->i64, b->i64);
  if (a->kind == SW_JSON_FLOAT) assert_memory_equal(&a->f64, &b->f64, sizeof a->f64);
  if (a->kind == SW_JSON_STRING) assert_string_equal(a->text, b->text);
  if (a->kind < SW_JSON_ARRAY) return;
  assert_int_equal(a->n, b->n);
  for (int i = 0; i < a->n; i++) assert_same(&a->at[i], &b->at[i]);
}

/* Random JSON text, written by the test itself, so that the writer is not its own judge. */
static void random_value(sw_rng *rng, sw_text *t, int depth) {
  static const char *const kScalars[] = {"null",
                                         "true",
                                         "false",
                                         "0",
                                         "-1",
                                         "123456789012345",
                                         "0.1",
                                         "1e-7",
                                         "1.5e300",
                                         "-0.0",
                                         "2.2250738585072014e-308",
                                         "\"\"",
                                         "\"a\\\"b\\\\\\n\\u0001\\u00e9\\ud83d\\ude00\"",
                                         "\"plain\""};
  int64_t pick = sw_rng_below(rng, depth > 4 ? 14 : 20);
  if (pick < 14) {
    sw_text_puts(t, kScalars[pick]);
    return;
  }
  bool object = pick % 2;
  int64_t n = sw_rng_below(rng, 18);
  sw_text_puts(t, object ? " {" : "[\n");
  for (int64_t i = 0; i < n; i++) {
    if (i) sw_text_puts(t, " , ");
    if (object) sw_text_printf(t, "\"k%lld\" :", (long long)i);
    random_value(rng, t, depth + 2);
  }
  sw_text_puts(t, object ? "}" : "]");
}

static void what_is_written_reads_back(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(7));
  for (int round = 0; round < check_scale(300); round++) {
    sw_arena a = {0};
    sw_text in = {0}, out = {0}, again = {0};
    random_value(&rng, &in, 0);
    const sw_json *v = parse(sw_text_str(&in), &a, &diag);
    if (!v) fail_msg("%s: %s", diag.text, sw_text_str(&in));
    sw_json_out o;
    sw_json_out_init(&o, &out);
    write_tree(&o, v);
    assert_int_equal(out.rc, SW_OK);
    const sw_json *w = parse(sw_text_str(&out), &a, &diag);
    if (!w) fail_msg("%s: %s", diag.text, sw_text_str(&out));
    assert_same(v, w);
    sw_json_out_init(&o, &again);
    write_tree(&o, w);
    assert_string_equal(sw_text_str(&out), sw_text_str(&again));
    sw_text_free(&in);
    sw_text_free(&out);
    sw_text_free(&again);
    sw_arena_deinit(&a);
  }
}

static void layout_is_fixed(void **state) {
  (void)state;
  sw_text t = {0};
  sw_json_out o;
  sw_json_out_init(&o, &t);
  sw_jw_object(&o, NULL);
  sw_jw_string(&o, "name", "a\"\xff");
  sw_jw_i64_list(&o, "dims", (int64_t[]){4, 8}, 2);
  sw_jw_array(&o, "none");
  sw_jw_end(&o);
  sw_jw_array(&o, "xs");
  sw_jw_f64(&o, NULL, 0.1);
  sw_jw_f64(&o, NULL, INFINITY);
  sw_jw_end(&o);
  sw_jw_end(&o);
  assert_int_equal(t.rc, SW_OK);
  assert_string_equal(sw_text_str(&t),
                      "{\n  \"name\": \"a\\\"\xef\xbf\xbd\",\n  \"dims\": [4, 8],\n  \"none\": [],\n"
                      "  \"xs\": [\n    0.1,\n    null\n  ]\n}\n");
  sw_jw_end(&o);
  assert_int_equal(t.rc, SW_E_BUG);
  sw_text_free(&t);
}

static void memory_failures_come_back(void **state) {
  (void)state;
  for (long n = 1; n < 200; n++) {
    diag = (sw_diag){0};
    sw_arena a = {0};
    sw_mem_fail_after(n);
    const sw_json *v = parse("{\"a\":[1,2,{\"b\":\"c\"}],\"d\":[[[[]]]]}", &a, &diag);
    sw_mem_fail_after(0);
    sw_arena_deinit(&a);
    if (v) return;
    assert_int_equal(diag.rc, SW_E_RESOURCE);
  }
  fail_msg("never succeeded");
}

int main(void) {
  enum { ROWS = sizeof kRefused / sizeof kRefused[0] };
  struct CMUnitTest tests[ROWS + 7] = {
      cmocka_unit_test(every_node_knows_its_place), cmocka_unit_test(integers_are_exact),
      cmocka_unit_test(depth_is_limited),           cmocka_unit_test(typed_access_says_what_is_wrong),
      cmocka_unit_test(what_is_written_reads_back), cmocka_unit_test(layout_is_fixed),
      cmocka_unit_test(memory_failures_come_back),
  };
  for (int i = 0; i < ROWS; i++)
    tests[7 + i] = (struct CMUnitTest){kRefused[i].text, bad_text_is_refused_where_it_stands, NULL, NULL,
                                       (void *)(uintptr_t)&kRefused[i]};
  return cmocka_run_group_tests_name("json", tests, NULL, NULL);
}
