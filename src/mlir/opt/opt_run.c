/* Passes one after the other: the text is parsed, the pass says what changes, and the changed text goes on. */
#include <string.h>

#include "mlir/opt/opt_rewrite.h"
#include "shardwright/program.h"

typedef struct opt_pass {
  const char *name, *summary, *options;
  bool flow;
  sw_rc (*run)(sw_opt_work *w);
} opt_pass;

static const opt_pass kPasses[] = {
#define SW_PASS(x, name, summary, flow, options) {name, summary, options, flow, sw_pass_##x},
#include "mlir/opt/passes.def"
#undef SW_PASS
};
enum { PASSES = sizeof kPasses / sizeof *kPasses };

/* Lists of passes that have a name, as Shardy has them. */
typedef struct pipeline_name {
  const char *name, *passes;
} pipeline_name;

static const pipeline_name kPipelines[] = {
    {"import-func-calls", "inline-func-calls,add-data-flow-edges{named-computations=true}"},
    {"export-named-computations", "sink-data-flow-edges{named-computations=true},outline-named-computations"},
    {"import-pipeline",
     "symbol-dce,lift-inlined-meshes,remove-size-one-axes,propagate-sharding-from-func-to-call,"
     "constant-or-scalar-splitter,symbol-dce,manual-axes-cleanup,add-data-flow-edges"},
    {"propagation-pipeline",
     "import-pipeline,flatten-call-graph,symbol-dce,import-func-calls,symbol-dce,apply-sharding-constraints,"
     "sharding-group-import,pre-order-funcs,user-priority-propagate,export-named-computations,"
     "propagate-to-func-results,unflatten-call-graph,symbol-dce,insert-func-call-reshards,export-pipeline"},
    {"export-pipeline",
     "constant-or-scalar-merger,sink-data-flow-edges,remove-sharding-groups,sharding-constraint-to-reshard,"
     "update-non-divisible-input-output-shardings,remove-sub-axes-in-input-output-shardings,close-shardings,"
     "drop-sharding-rules"}};
enum { PIPELINES = sizeof kPipelines / sizeof *kPipelines };

/* Shardy's passes that insert communication or make the program of one device: `partition` does that. */
static const char *const kPartition[] = {"insert-explicit-reshards",       "reshard-to-collectives",
                                         "resolve-permutation-factors",    "pad-for-divisibility",
                                         "resolve-single-device-sharding", "convert-global-to-local"};

/* A pass of the list that was asked for. */
typedef struct step {
  const opt_pass *pass;
  const char *options;
} step;

typedef struct pipeline {
  SW_ARRAY(step) steps;
  sw_arena arena;
  sw_diag *d;
} pipeline;

int sw_program_pass_count(void) { return PASSES + PIPELINES; }

sw_pass_info sw_program_pass_at(int i) {
  if (i >= PASSES) return (sw_pass_info){.name = kPipelines[i - PASSES].name, .passes = kPipelines[i - PASSES].passes};
  return (sw_pass_info){.name = kPasses[i].name, .summary = kPasses[i].summary, .options = kPasses[i].options};
}

/* --- the list of passes ------------------------------------------------------------------------------------------- */

static bool is_name(const char *name, size_t n, const char *of) {
  if (n > 4 && strncmp(name, "sdy-", 4) == 0) name += 4, n -= 4;
  return strlen(of) == n && memcmp(of, name, n) == 0;
}

static const opt_pass *pass_named(const char *name, size_t n) {
  for (int i = 0; i < PASSES; i++) {
    if (is_name(name, n, kPasses[i].name)) return &kPasses[i];
  }
  return NULL;
}

static sw_rc unknown_pass(const char *name, size_t n, sw_diag *d) {
  for (size_t i = 0; i < sizeof kPartition / sizeof *kPartition; i++) {
    if (is_name(name, n, kPartition[i]))
      return SW_FAIL(
          d, SW_E_USAGE, SW_NOWHERE,
          "'%.*s' is no pass of opt; 'shardwright partition FILE --plan PLAN --dialect sdy|stablehlo' writes the "
          "program with its collectives, or that of one device",
          (int)n, name);
  }
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "unknown pass '%.*s'; expected one of --list-passes", (int)n, name);
}

static sw_rc read_pass_list(pipeline *p, const char *passes);

/* name or name{key=value key=value}, n bytes */
static sw_rc add_named_pass(pipeline *p, const char *text, size_t n) {
  for (int i = 0; i < PIPELINES; i++) {
    if (is_name(text, n, kPipelines[i].name)) return read_pass_list(p, kPipelines[i].passes);
  }
  const char *brace = memchr(text, '{', n);
  const size_t name = brace ? (size_t)(brace - text) : n;
  step s = {pass_named(text, name), ""};
  if (!s.pass) return unknown_pass(text, name, p->d);
  if (brace && text[n - 1] != '}')
    return SW_FAIL(p->d, SW_E_USAGE, SW_NOWHERE, "found '%.*s'; expected NAME{KEY=VALUE}", (int)n, text);
  if (brace && !(s.options = sw_arena_strndup(&p->arena, brace + 1, n - name - 2, p->d))) return SW_E_RESOURCE;
  return sw_array_push(&p->steps, s, p->d);
}

static sw_rc read_pass_list(pipeline *p, const char *passes) {
  while (*passes) {
    size_t n = 0;
    for (bool inside = false; passes[n] && (inside || passes[n] != ','); n++)
      inside = passes[n] == '{' || (inside && passes[n] != '}');
    SW_TRY(add_named_pass(p, passes, n));
    passes += n + (passes[n] == ',');
  }
  return SW_OK;
}

/* --- options ------------------------------------------------------------------------------------------------------ */

/* In the arena; NULL: it is not given, or out of memory. */
static const char *option_text(sw_opt_work *w, const char *key) {
  const size_t n = strlen(key);
  for (const char *at = w->options; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
    if (strncmp(at, key, n) == 0 && at[n] == '=')
      return sw_arena_strndup(&w->arena, at + n + 1, strcspn(at + n + 1, " "), w->d);
  }
  return NULL;
}

sw_rc sw_opt_flag(sw_opt_work *w, const char *key, bool otherwise, bool *out) {
  const char *word = option_text(w, key);
  *out = word ? strcmp(word, "true") == 0 : otherwise;
  if (!word || *out || strcmp(word, "false") == 0) return SW_OK;
  return SW_FAIL(w->d, SW_E_USAGE, SW_NOWHERE, "%s=%s: expected true or false", key, word);
}

/* Keys that the pass does not have. */
static sw_rc check_options(const step *s, sw_diag *d) {
  for (const char *at = s->options; *at; at += strcspn(at, " "), at += strspn(at, " ")) {
    const size_t n = strcspn(at, "= ");
    const char *known = s->pass->options;
    while (known && !(strncmp(known, at, n) == 0 && known[n] == '='))
      known = strchr(known, '\n'), known += known != NULL;
    if (!known)
      return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "pass %s has no option '%.*s'; expected one of --list-passes",
                     s->pass->name, (int)n, at);
  }
  return SW_OK;
}

/* --- what goes with the arena ------------------------------------------------------------------------------------- */

static void end_dict(void *dict) { sw_dict_deinit(dict); }
static void end_text(void *text) { sw_text_free(text); }

sw_rc sw_opt_dict(sw_opt_work *w, sw_dict **out) {
  SW_ARENA_NEW(*out, &w->arena, 1, w->d);
  return sw_arena_at_end(&w->arena, end_dict, *out, w->d);
}

sw_rc sw_opt_text(sw_opt_work *w, sw_text **out) {
  SW_ARENA_NEW(*out, &w->arena, 1, w->d);
  return sw_arena_at_end(&w->arena, end_text, *out, w->d);
}

/* --- one pass ----------------------------------------------------------------------------------------------------- */

static sw_rc prepare_opt_work(sw_opt_work *w) {
  SW_TRY(sw_ir_values_find(w->t, w->names, &w->arena, &w->values, w->d));
  SW_ARENA_NEW_EACH(&w->arena, w->values.n, w->d, w->instead, w->forward);
  SW_ARENA_NEW(w->use_done, &w->arena, w->t->uses.n, w->d);
  SW_ARENA_NEW(w->erased, &w->arena, w->t->ops.n, w->d);
  for (uint32_t i = 0; i < w->values.n; i++) w->forward[i] = SW_IR_NONE;
  return SW_OK;
}

static sw_rc run_on_tree(const step *s, const sw_ir_tree *t, sw_text *out, sw_diag *d) {
  sw_ir_names names;
  sw_program_flow flow = {0};
  sw_opt_work w = {.t = t, .names = &names, .options = s->options, .d = d};
  w.edits = (sw_ir_edits){.t = t, .key = "sdy.sharding", .d = d};
  sw_rc rc = sw_ir_resolve(t, &names, d);
  if (!rc) rc = sw_sdy_verify(t, &names, SW_SDY_ALIKE_IN_FUNCTION, d);
  if (!rc && s->pass->flow) rc = sw_program_flow_read(t, &names, 0, &flow, d);
  if (!rc && s->pass->flow) w.flow = &flow;
  if (!rc) rc = prepare_opt_work(&w);
  if (!rc) rc = sw_opt_read_shardings(&w);
  if (!rc) rc = s->pass->run(&w);
  if (!rc) rc = sw_opt_settle(&w);
  if (!rc) rc = sw_opt_settle_shardings(&w);
  if (!rc && w.flow) rc = sw_program_flow_edit(&flow, w.erased, &w.edits);
  if (!rc) rc = sw_ir_edits_apply(&w.edits, out);
  sw_ir_edits_free(&w.edits);
  sw_opt_free_shardings(&w.shardings);
  sw_arena_deinit(&w.arena);
  sw_program_flow_free(&flow);
  sw_ir_names_free(&names);
  return rc;
}

static sw_rc run_pass_on_text(const step *s, const char *file, const sw_text *in, sw_text *out, sw_diag *d) {
  sw_ir_tree tree;
  sw_rc rc = sw_ir_parse(file, sw_text_str(in), in->n, &tree, d);
  if (!rc) rc = run_on_tree(s, &tree, out, d);
  sw_ir_free(&tree);
  return rc;
}

static sw_rc run_pipeline(const pipeline *p, const char *file, const sw_pass_watch *watch, sw_text *text, sw_diag *d) {
  for (size_t i = 0; i < p->steps.n; i++) {
    const step *s = &p->steps.at[i];
    sw_text next = {0};
    SW_TRY(check_options(s, d));
    SW_TRY_NOTE(d, run_pass_on_text(s, file, text, &next, d), "in pass %s", s->pass->name);
    sw_text_free(text);
    *text = next;
    if (watch && watch->after) watch->after(watch->user, s->pass->name, sw_text_str(text), text->n);
  }
  return SW_OK;
}

sw_rc sw_program_run_passes(const char *file, const char *bytes, size_t n, const char *passes,
                            const sw_pass_watch *watch, sw_text *out, sw_diag *d) {
  pipeline p = {.d = d};
  sw_text text = {0};
  sw_text_append(&text, bytes, n);
  sw_rc rc = read_pass_list(&p, passes);
  if (!rc) rc = run_pipeline(&p, file, watch, &text, d);
  if (!rc) sw_text_append(out, sw_text_str(&text), text.n);
  sw_text_free(&text);
  sw_array_free(&p.steps);
  sw_arena_deinit(&p.arena);
  return rc ? rc : out->rc;
}
