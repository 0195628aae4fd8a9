/* Model files: the shipped examples, errors with their places, annotations that are right and that contradict each
 * other, and random graphs written and read again. */
#include "check.h"

#include "graph/ops/op_rule.h"
#include "base/file.h"
#include "shardwright/model_json.h"
#include "shardwright/request.h"

static sw_rc parse(const char *text, sw_graph **out) {
  return sw_model_parse("m.json", text, strlen(text), out, &diag);
}

/* Write and read again: same hash, same listing, same text the second time. */
static void check_round_trip(const sw_graph *g) {
  sw_text first = {0}, second = {0}, a = {0}, b = {0};
  sw_graph *copy = NULL;
  assert_ok(sw_model_write(g, &first, &diag));
  assert_ok(sw_model_parse("copy.json", first.at, first.n, &copy, &diag));
  sw_graph_print(g, &a);
  sw_graph_print(copy, &b);
  assert_string_equal(sw_text_str(&a), sw_text_str(&b));
  assert_int_equal(sw_request_hash(g->written), sw_request_hash(copy->written));
  assert_ok(sw_model_write(copy, &second, &diag));
  assert_string_equal(sw_text_str(&first), sw_text_str(&second));
  sw_graph_destroy(copy);
  sw_text_free(&first);
  sw_text_free(&second);
  sw_text_free(&a);
  sw_text_free(&b);
}

static void examples_are_read(void **state) {
  (void)state;
  static const struct {
    const char *name;
    int n_args, n_ops, n_outputs, n_annotations;
  } kExamples[] = {{"mlp", 3, 4, 1, 4}, {"decoder", 10, 36, 3, 0}, {"smoothing", 1, 4, 2, 3}};
  for (size_t i = 0; i < sizeof kExamples / sizeof *kExamples; i++) {
    char path[512];
    sw_graph *g = NULL;
    snprintf(path, sizeof path, "%s/docs/examples/%s.json", SW_SOURCE_DIR, kExamples[i].name);
    assert_ok(sw_model_read(path, &g, &diag));
    assert_string_equal(g->name, kExamples[i].name);
    assert_int_equal(g->n_args, kExamples[i].n_args);
    assert_int_equal(g->n_ops, kExamples[i].n_ops);
    assert_int_equal(g->n_outputs, kExamples[i].n_outputs);
    assert_int_equal(g->written->n_annotations, kExamples[i].n_annotations);
    check_round_trip(g);
    sw_graph_destroy(g);
  }
}

static void spans_and_locations_are_kept(void **state) {
  (void)state;
  char path[512];
  sw_graph *g = NULL;
  snprintf(path, sizeof path, "%s/docs/examples/decoder.json", SW_SOURCE_DIR);
  assert_ok(sw_model_read(path, &g, &diag));
  const sw_op *op = &g->ops[sw_graph_op_named(g, "normed")];
  assert_int_equal(op->span.line, 20);
  assert_int_equal(op->span.col, 5);
  assert_string_equal(op->location.at.file, "decoder.py");
  assert_int_equal(op->location.at.line, 22);
  assert_int_equal(op->location.at.col, 9);
  assert_int_equal(g->values[sw_graph_value_named(g, "wq")].span.line, 10);
  sw_graph_destroy(g);
}

/* --- errors ------------------------------------------------------------------------------------------------------ */

#define HEAD "{\"format\":\"shardwright-model\",\"version\":1,\n"
#define X "{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4,8]}"

typedef struct error_row {
  const char *name, *text;
  int line, col;
  const char *message;
} error_row;

static const error_row kErrors[] = {
    {"no JSON", "{\"format\" 1}", 1, 12, ""},
    {"another format", "{\"format\":\"onnx\"}", 1, 1, "the format is 'onnx'; expected 'shardwright-model'"},
    {"another version", "{\"format\":\"shardwright-model\",\"version\":2}", 1, 1, "is 2; this program reads version 1"},
    {"unknown key", HEAD "\"valeus\":[]}", 2, 1, "unknown key 'valeus' in a model; did you mean 'values'?"},
    {"no ops", HEAD "\"values\":[]}", 1, 1, "missing key 'ops'"},
    {"no outputs", HEAD "\"values\":[" X "],\n\"ops\":[]}", 1, 1, "the model returns nothing"},
    {"bad mesh", HEAD "\"mesh\":\"x=0\",\"ops\":[]}", 2, 8, ""},
    {"kind", HEAD "\"values\":[{\"name\":\"x\",\"kind\":\"inptu\"}],\"ops\":[]}", 2, 30,
     "'kind' is 'inptu'; expected one of"},
    {"dtype", HEAD "\"values\":[\n{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f31\",\"shape\":[]}],\"ops\":[]}", 3,
     36, "dtype 'f31' is not known"},
    {"shape missing", HEAD "\"values\":[\n{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\"}],\"ops\":[]}", 3, 1,
     "missing key 'shape'"},
    {"negative size",
     HEAD "\"values\":[\n{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[2,-3]}],\"ops\":[]}", 3, 53,
     "element is -3; expected at least 0"},
    {"huge",
     HEAD "\"values\":[\n{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4611686018427387904,2]}],"
          "\"ops\":[]}",
     3, 1, "value 'x' does not fit 2^63 bytes"},
    {"listed twice", HEAD "\"values\":[" X ",\n" X "],\"ops\":[]}", 3, 1,
     "value 'x' is listed twice; the first is at 2:11"},
    {"op", HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"ad\",\"inputs\":[\"x\",\"x\"]}]}", 3, 7,
     "did you mean 'add'?"},
    {"SPMD op", HEAD "\"ops\":[\n{\"op\":\"mask\"}]}", 3, 7, "op 'mask' belongs to the program of one device"},
    {"unknown input", HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"y\"]}]}", 3, 23,
     "value 'y' is not defined before this op"},
    {"name taken", HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"x\"]}]}", 3, 1,
     "name 'x' is taken by another value (line 2, column 11)"},
    {"inference",
     HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"transpose\",\"inputs\":[\"x\"],\"outputs\":[\"t\"],"
          "\"attrs\":{\"permutation\":[0]}}]}",
     3, 1, "transpose 't': 'permutation' has 1 numbers; expected 2, one per dim of operand 0"},
    {"unknown attribute",
     HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"reverse\",\"inputs\":[\"x\"],\n\"attrs\":{\"dimz\":[0]}}]}", 4, 10,
     "attribute 'dimz' is not known; did you mean 'dims'?"},
    {"attribute kind",
     HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"reverse\",\"inputs\":[\"x\"],\n\"attrs\":{\"dims\":0}}]}", 4, 17,
     "'dims' is an integer; expected an array"},
    {"outputs of an op",
     HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"top_k\",\"inputs\":[\"x\"],\"outputs\":[\"t\"],"
          "\"attrs\":{\"k\":2}}]}",
     3, 40, "top_k 't' has 2 results and 1 outputs are given"},
    {"listed shape",
     HEAD "\"values\":[" X ",\n{\"name\":\"y\",\"shape\":[8,4]}],\"ops\":["
          "{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"]}],\"outputs\":[\"y\"]}",
     3, 1, "value 'y' is listed as f32[8,4], but its op gives f32[4,8]"},
    {"listed kind",
     HEAD "\"values\":[" X ",\n{\"name\":\"y\",\"kind\":\"constant\"}],\"ops\":["
          "{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"]}],\"outputs\":[\"y\"]}",
     3, 1, "value 'y' is listed as constant, but is intermediate"},
    {"listed, no result", HEAD "\"values\":[" X ",\n{\"name\":\"y\"}],\"ops\":[],\"outputs\":[\"x\"]}", 3, 1,
     "value 'y' is the result of no op"},
    {"unknown output", HEAD "\"values\":[" X "],\"ops\":[],\n\"outputs\":[\"y\"]}", 3, 12, "there is no value 'y'"},
    {"alias", HEAD "\"values\":[" X "],\"ops\":[],\n\"outputs\":[{\"value\":\"x\",\"alias\":\"x\"}]}", 3, 12,
     "output 'x' becomes 'x'; expected a value of kind state"},
    {"constant too short",
     HEAD "\"ops\":[\n{\"op\":\"constant\",\"attrs\":{\"dtype\":\"f32\",\"shape\":[3],\"value\":[1,2]}}]}", 3, 61,
     "the shape has 1 more elements than are given"},
    {"constant too long",
     HEAD "\"ops\":[\n{\"op\":\"constant\",\"attrs\":{\"dtype\":\"f32\",\"shape\":[1],\"value\":[[1,2]]}}]}", 3, 65,
     "there are more elements than the shape has"},
    {"constant range",
     HEAD "\"ops\":[\n{\"op\":\"constant\",\"attrs\":{\"dtype\":\"u8\",\"shape\":[],\"value\":256}}]}", 3, 59,
     "256 is not a number of dtype u8"},
    {"constant range of four bits",
     HEAD "\"ops\":[\n{\"op\":\"constant\",\"attrs\":{\"dtype\":\"i4\",\"shape\":[],\"value\":8}}]}", 3, 59,
     "8 is not a number of dtype i4"},
    {"constant range of a float",
     HEAD "\"ops\":[\n{\"op\":\"constant\",\"attrs\":{\"dtype\":\"f32\",\"shape\":[],\"value\":1e40}}]}", 3, 60,
     "1e40 is not a number of dtype f32"},
    {"map",
     HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"generic\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],\"loops\":[4,8],"
          "\"maps\":[\"(d0,d1)->(d0,d2)\",\"(d0,d1)->(d0,d1)\"],\"body\":\"x0\"}]}",
     3, 70, "map '(d0,d1)->(d0,d2)' uses loop d2; the op has 2 loops"},
    {"map range",
     HEAD "\"values\":[" X "],\"ops\":[\n{\"op\":\"generic\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],\"loops\":[4,8],"
          "\"maps\":[\"(d0,d1)->(d0,d1+1)\",\"(d0,d1)->(d0,d1)\"],\"body\":\"x0\"}]}",
     3, 1, "the map of operand 0 leaves dim 1 of size 8; expected indices in 0 .. 7"},
    {"annotation without mesh",
     HEAD "\"values\":[{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4],\n"
          "\"annotations\":[{\"sharding\":\"[[x]]\"}]}],\"ops\":[],\"outputs\":[\"x\"]}",
     3, 28, "the model has no mesh"},
    {"annotation axis",
     HEAD "\"mesh\":\"x=2\",\"values\":[{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4],\n"
          "\"annotations\":[{\"sharding\":\"[[z]]\"}]}],\"ops\":[],\"outputs\":[\"x\"]}",
     3, 31, "z"},
    {"open dim",
     HEAD "\"mesh\":\"x=2\",\"values\":[{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4],\n"
          "\"annotations\":[{\"sharding\":\"[[?,x]]\"}]}],\"ops\":[],\"outputs\":[\"x\"]}",
     3, 31, "expected it as the last entry"},
    {"user",
     HEAD "\"mesh\":\"x=2\",\"values\":[{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4],\n"
          "\"annotations\":[{\"sharding\":\"[[x]]\",\"for_users\":[\"q\"]}]}],\"ops\":[],\"outputs\":[\"x\"]}",
     3, 49, "there is no op 'q'"},
    {"sharding of an op, axis twice",
     HEAD "\"mesh\":\"x=2\",\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],"
          "\"sharding\":\"[[x],[x]]\"}],\"outputs\":[\"y\"]}",
     3, 55, "annotation of op 'y' uses axis 'x' twice; expected it once"},
    {"sharding of an op, axis",
     HEAD "\"mesh\":\"x=2\",\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],"
          "\"sharding\":\"[[z]]\"}],\"outputs\":[\"y\"]}",
     3, 55, "axis 'z' is not in the mesh; expected one of x"},
    {"sharding of an op, lists",
     HEAD "\"mesh\":\"x=2\",\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],"
          "\"sharding\":\"[[],[],[x]]\"}],\"outputs\":[\"y\"]}",
     3, 55, "'[[],[],[x]]' has 3 lists; op 'y' has 2 loops and 0 linearities"},
    {"sharding of an op, text",
     HEAD "\"mesh\":\"x=2\",\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],"
          "\"sharding\":\"[x]\"}],\"outputs\":[\"y\"]}",
     3, 55, "'[x]' has 'x]' at character 2; expected '['"},
    {"sharding of an op, end",
     HEAD "\"mesh\":\"x=2\",\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],"
          "\"sharding\":\"[[x]] y\"}],\"outputs\":[\"y\"]}",
     3, 55, "goes on after the axes of the loops"},
    {"required alone",
     HEAD "\"mesh\":\"x=2\",\"values\":[" X "],\"ops\":[\n{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"y\"],"
          "\"required\":true}],\"outputs\":[\"y\"]}",
     3, 55, "is without a sharding"},
};

static void error_names_its_place(void **state) {
  const error_row *row = *state;
  sw_graph *g = NULL;
  assert_int_equal(parse(row->text, &g), SW_E_INPUT);
  if (diag.line != row->line || diag.col != row->col || !strstr(diag.text, row->message)) {
    fail_msg("expected %d:%d: ...%s...; found %d:%d: %s", row->line, row->col, row->message, diag.line, diag.col,
             diag.text);
  }
  assert_string_equal(diag.file, "m.json");
}

/* --- annotations: the dialect's defined and undefined uses ------------------------------------------------------- */

#define ANNOTATED(list)                                                                                               \
  HEAD "\"mesh\":\"a=2,b=2,c=2\",\"values\":[\n{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4,8]," \
       "\"annotations\":[\n" list                                                                                     \
       "\n]},{\"name\":\"y\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4,8],"                                   \
       "\"annotations\":[{\"sharding\":\"[[a]]\",\"for_users\":true}]}],\n"                                           \
       "\"ops\":[{\"op\":\"abs\",\"inputs\":[\"x\"],\"outputs\":[\"op0\"]},"                                          \
       "{\"op\":\"add\",\"inputs\":[\"x\",\"y\"],\"outputs\":[\"op1\"]}],\"outputs\":[\"op0\",\"op1\"]}"

typedef struct annotation_row {
  const char *name, *text;
  const char *message; /* NULL: it is right */
} annotation_row;

static const annotation_row kAnnotations[] = {
    {"only a result", ANNOTATED("{\"sharding\":\"[[a]]\"}"), NULL},
    {"only an operand", ANNOTATED("{\"sharding\":\"[[a]]\",\"for_users\":true}"), NULL},
    {"two operands", ANNOTATED("{\"sharding\":\"[[a]]\",\"for_users\":[\"op1\"]}"), NULL},
    {"a result and several operands",
     ANNOTATED("{\"sharding\":\"[[a]]\"},\n{\"sharding\":\"[[],[b]]\",\"for_users\":[\"op0\"]},\n"
               "{\"sharding\":\"[[c]]\",\"for_users\":[\"op1\"]}"),
     NULL},
    {"one result twice alike", ANNOTATED("{\"sharding\":\"[[a]]\"},\n{\"sharding\":\"[[a],[]]\"}"), NULL},
    {"one result annotated differently", ANNOTATED("{\"sharding\":\"[[a]]\"},\n{\"sharding\":\"[[],[a]]\"}"),
     "value 'x' is annotated as [[],[a]]; expected one sharding"},
    {"one result, one of them open", ANNOTATED("{\"sharding\":\"[[a]]\"},\n{\"sharding\":\"[[a,?]]\"}"),
     "value 'x' is annotated as [[a,?],[]]; expected one sharding"},
    {"one operand annotated differently",
     ANNOTATED(
         "{\"sharding\":\"[[a]]\",\"for_users\":[\"op0\"]},\n{\"sharding\":\"[[b]]\",\"for_users\":[\"op1\",\"op0\"]}"),
     "value 'x' is annotated for its users as [[b],[]]; expected one sharding for one use"},
    {"all operands and one",
     ANNOTATED("{\"sharding\":\"[[a]]\",\"for_users\":true},\n{\"sharding\":\"[[b]]\",\"for_users\":[\"op1\"]}"),
     "value 'x' is annotated for its users as [[b],[]]; expected one sharding for one use"},
    {"a result after an operand", ANNOTATED("{\"sharding\":\"[[a]]\",\"for_users\":true},\n{\"sharding\":\"[[b]]\"}"),
     "value 'x' is annotated as [[b],[]]; expected the annotation of a definition before those of its uses"},
};

static void annotations_agree_or_are_named(void **state) {
  const annotation_row *row = *state;
  sw_graph *g = NULL;
  sw_rc rc = parse(row->text, &g);
  if (!row->message) {
    assert_ok(rc);
    check_round_trip(g);
    sw_graph_destroy(g);
    return;
  }
  assert_int_equal(rc, SW_E_INPUT);
  assert_string_equal(diag.text, row->message);
  assert_int_equal(diag.line, 5);
  assert_int_equal(diag.col, 1);
  assert_true(diag.n_notes > 0);
  if (!strstr(diag.notes[0], "the other annotation of 'x'") || !strstr(diag.notes[0], "m.json:4:1")) {
    fail_msg("note is: %s", diag.notes[0]);
  }
}

static void annotations_of_a_step_reach_all_of_it(void **state) {
  (void)state;
  sw_graph *g = NULL;
  assert_ok(
      parse(HEAD
            "\"mesh\":\"a=2,b=2\",\"values\":[{\"name\":\"x\",\"kind\":\"input\",\"dtype\":\"f32\",\"shape\":[4,8],"
            "\"annotations\":[{\"sharding\":\"[[a,?],[?]] partial sum[b]\",\"for_users\":[\"p\"]}]}],"
            "\"ops\":[{\"op\":\"softmax\",\"inputs\":[\"x\"],\"outputs\":[\"p\"],\"sharding\":\"[[a]]\"}],"
            "\"outputs\":[\"p\"]}",
            &g));
  const sw_annotation *a = &g->written->annotations[0];
  assert_int_equal(a->n_users, 2); /* the maximum and the subtraction */
  assert_int_equal(a->open_dims, 3);
  assert_int_equal(a->sharding.n_partial, 1);
  assert_int_equal(g->written->annotations[1].op, sw_graph_op_named(g, "p"));
  assert_int_equal(g->ops[g->written->annotations[1].op].code, SW_OP_DIVIDE);
  check_round_trip(g);
  sw_graph_destroy(g);
}

/* --- constants --------------------------------------------------------------------------------------------------- */

static void constants_are_exact(void **state) {
  (void)state;
  sw_graph *g = NULL;
  assert_ok(parse(HEAD
                  "\"values\":[{\"name\":\"u\",\"kind\":\"constant\",\"dtype\":\"u64\",\"shape\":[2],"
                  "\"value\":[18446744073709551615,\"9223372036854775808\"]},"
                  "{\"name\":\"i\",\"kind\":\"constant\",\"dtype\":\"i64\",\"shape\":[2],"
                  "\"value\":[-9223372036854775808,9007199254740993]},"
                  "{\"name\":\"f\",\"kind\":\"constant\",\"dtype\":\"f32\",\"shape\":[2,2],"
                  "\"value\":[[\"nan\",\"-inf\"],[0.1,-0.0]]},"
                  "{\"name\":\"b\",\"kind\":\"constant\",\"dtype\":\"bool\",\"shape\":[3],\"value\":true},"
                  "{\"name\":\"c\",\"kind\":\"constant\",\"dtype\":\"c64\",\"shape\":[2],\"value\":[[1,2],[3,4]]}],"
                  "\"ops\":[],\"outputs\":[\"u\",\"i\",\"f\",\"b\",\"c\"]}",
                  &g));
  const uint64_t *u = sw_op_attr(&g->ops[0], SW_ATTR_VALUE)->u.data.bytes;
  const int64_t *i = sw_op_attr(&g->ops[1], SW_ATTR_VALUE)->u.data.bytes;
  const float *f = sw_op_attr(&g->ops[2], SW_ATTR_VALUE)->u.data.bytes;
  const sw_data *b = &sw_op_attr(&g->ops[3], SW_ATTR_VALUE)->u.data;
  const float *c = sw_op_attr(&g->ops[4], SW_ATTR_VALUE)->u.data.bytes;
  assert_true(u[0] == UINT64_MAX && u[1] == (UINT64_C(1) << 63));
  assert_true(i[0] == INT64_MIN && i[1] == INT64_C(9007199254740993));
  assert_true(f[0] != f[0] && f[1] < -1e38f && f[2] == 0.1f && f[3] == 0 && 1 / f[3] < 0);
  assert_true(b->splat && *(const unsigned char *)b->bytes == 1);
  assert_true(c[0] == 1 && c[1] == 2 && c[2] == 3 && c[3] == 4);
  check_round_trip(g);
  sw_graph_destroy(g);
}

/* --- documents --------------------------------------------------------------------------------------------------- */

static char *read_document(const char *name) {
  char path[512], *text;
  size_t n;
  snprintf(path, sizeof path, "%s/docs/%s", SW_SOURCE_DIR, name);
  assert_ok(sw_file_read(path, &text, &n, &diag));
  return text;
}

static void expect_mention(const char *document, const char *quote, const char *word) {
  char quoted[80];
  snprintf(quoted, sizeof quoted, "%s%s%s", quote, word, quote);
  if (!strstr(document, quoted)) fail_msg("the document does not mention %s", quoted);
}

/* The schema and the list of ops name every attribute that a model may have (check-ops sees to the ops themselves). */
static void documents_are_complete(void **state) {
  (void)state;
  static const char *const kInternal[] = {"step", "offset"};
  char *schema = read_document("model.schema.json"), *ops = read_document("ops.schema.json");
  for (int i = 0; i < SW_ATTR_COUNT; i++) {
    const char *word = sw_attr_text((sw_attr_key)i);
    bool internal = false;
    for (int k = 0; k < 2; k++) internal = internal || strcmp(word, kInternal[k]) == 0;
    if (internal) continue;
    expect_mention(schema, "\"", word);
    if (!strstr(ops, word)) fail_msg("ops.schema.json does not mention %s", word);
  }
  sw_mem_free(schema);
  sw_mem_free(ops);
}

/* Is the word said as an attribute: "dims" in "{kind, dims, keep_dims=false}", but not as "dims=..."? */
static bool names_attribute(const char *doc, const char *word, bool has_default) {
  size_t n = strlen(word);
  for (const char *at = strstr(doc, word); at; at = strstr(at + 1, word)) {
    bool whole = at > doc && strchr("{ ", at[-1]) && strchr(",} =", at[n]);
    if (whole && (at[n] == '=') == has_default) return true;
  }
  return false;
}

/* The line of text of an op names its attributes, and which of them may be absent. */
static void lines_of_ops_are_complete(void **state) {
  (void)state;
  for (int i = 0; i < SW_OP_COUNT; i++) {
    const sw_op_rule *rule = sw_op_rule_of((sw_opcode)i);
    const char *doc = sw_opcode_doc((sw_opcode)i);
    if (doc[0] != '(') fail_msg("%s: the line has no operands", sw_opcode_text((sw_opcode)i));
    for (int k = 0; k < rule->n_attrs; k++) {
      const char *word = sw_attr_text(rule->attrs[k].key);
      if (names_attribute(doc, word, rule->attrs[k].absent != SW_ABSENT_WRONG)) continue;
      fail_msg("%s: '%s' is not said in \"%s\"", sw_opcode_text((sw_opcode)i), word, doc);
    }
  }
}

enum { N_ERRORS = sizeof kErrors / sizeof *kErrors, N_ANNOTATIONS = sizeof kAnnotations / sizeof *kAnnotations };

int main(void) {
  static struct CMUnitTest tests[N_ERRORS + N_ANNOTATIONS + 6] = {
      cmocka_unit_test(examples_are_read),
      cmocka_unit_test(spans_and_locations_are_kept),
      cmocka_unit_test(annotations_of_a_step_reach_all_of_it),
      cmocka_unit_test(constants_are_exact),
      cmocka_unit_test(documents_are_complete),
      cmocka_unit_test(lines_of_ops_are_complete)};
  int n = 6;
  for (int i = 0; i < N_ERRORS; i++) {
    tests[n++] = (struct CMUnitTest){
        .name = kErrors[i].name, .test_func = error_names_its_place, .initial_state = (void *)(uintptr_t)&kErrors[i]};
  }
  for (int i = 0; i < N_ANNOTATIONS; i++) {
    tests[n++] = (struct CMUnitTest){.name = kAnnotations[i].name,
                                     .test_func = annotations_agree_or_are_named,
                                     .initial_state = (void *)(uintptr_t)&kAnnotations[i]};
  }
  return cmocka_run_group_tests_name("model files", tests, NULL, NULL);
}
