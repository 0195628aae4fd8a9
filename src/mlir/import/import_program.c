/* Reading a program: text to tree, names resolved, tree to graph. */
#include "mlir/import/import_program.h"

#include <string.h>

#include "mlir/import/import_local.h"
#include "mlir/import/import_passes.h"
#include "mlir/import/import_verify.h"
#include "mlir/shardy/shardy.h"
#include "base/file.h"
#include "graph/fuse.h"

/* All errors but the last go to the caller's report; the last is the call's. */
static void report_errors(const sw_ir_tree *t, const sw_program_options *o, sw_diag *d) {
  size_t n = t->errors.n;
  if (n < 2 || !o || !o->report) return;
  for (size_t i = 0; i + 1 < n; i++) o->report(o->user, &t->errors.at[i]);
  if (d) *d = t->errors.at[n - 1];
}

static sw_rc import(sw_program *p, const sw_program_options *options, sw_diag *d) {
  sw_program_options o = *options;
  SW_TRY(sw_ir_resolve(&p->tree, &p->names, d));
  sw_rc rc = sw_ir_verify(&p->tree, &p->names, d);
  if (rc == SW_E_INPUT) report_errors(&p->tree, options, d);
  SW_TRY(rc);
  SW_TRY(sw_sdy_verify(&p->tree, &p->names, options->mesh ? SW_SDY_NONE_ALIKE : SW_SDY_ALIKE_IN_PROGRAM, d));
  SW_TRY(sw_graph_create(sw_path_base(p->file), &p->graph, d));
  sw_importer m = {.t = &p->tree, .names = &p->names, .o = &o, .g = p->graph, .d = d};
  rc = sw_im_init(&m, NULL);
  if (!rc) rc = sw_im_begin_local(&m, p, &o);
  if (!rc) rc = sw_im_import(&m);
  if (!rc) rc = sw_im_finish_local(&m);
  p->main = m.main;
  p->open_axes = m.open_axes;
  p->module = m.module;
  if (m.passes) p->trace = m.passes->trace;
  sw_im_free(&m);
  return rc;
}

/* Ops [*first, *end) as ops of the graph that attention was fused in. */
static void follow_ops(const sw_fused *what, sw_id *first, sw_id *end) {
  sw_id from = *first, to = *end;
  while (from < to && what->op[from] < 0) from++;
  while (to > from && what->op[to - 1] < 0) to--;
  *first = from < to ? what->op[from] : 0;
  *end = from < to ? what->op[to - 1] + 1 : *first;
}

/* Results of the text whose values went with an attention, or as nobody reads them, are not in the graph any more. */
static void follow_values(sw_program *p, const sw_graph *before, const sw_fused *what) {
  sw_ir_trace *t = &p->trace;
  size_t n = 0;
  for (size_t i = 0; i < t->made.n; i++) {
    sw_ir_made m = t->made.at[i];
    const sw_id def = before->values[m.value].def;
    m.replaced = def >= 0 && what->op[def] < 0;
    m.value = what->value[m.value];
    if (m.value >= 0) t->made.at[n++] = m;
  }
  t->made.n = n;
  for (size_t i = 0; i < t->carried.n; i++) {
    t->carried.at[i].enter = what->op[t->carried.at[i].enter];
    t->carried.at[i].yield = what->op[t->carried.at[i].yield];
  }
  for (size_t i = 0; i < t->captured.n; i++) t->captured.at[i].enter = what->op[t->captured.at[i].enter];
  for (size_t i = 0; i < t->calls.n; i++) follow_ops(what, &t->calls.at[i].first_op, &t->calls.at[i].end_op);
  for (size_t i = 0; i < t->passed.n; i++) {
    if (t->passed.at[i] >= 0) t->passed.at[i] = what->value[t->passed.at[i]]; /* else it is a tuple */
  }
}

static sw_rc fuse_attention(sw_program *p, sw_diag *d) {
  sw_arena arena = {0};
  sw_fused what;
  sw_rc rc = sw_graph_fuse_in_place(&p->graph, &p->as_written, &arena, &what, d);
  if (!rc) follow_values(p, p->as_written, &what);
  sw_arena_deinit(&arena);
  return rc;
}

static sw_rc drop_unread(sw_program *p, sw_diag *d) {
  sw_arena arena = {0};
  sw_fused what;
  sw_graph *rest;
  sw_rc rc = sw_graph_drop_unread(p->graph, &arena, &rest, &what, d);
  if (!rc && rest) {
    p->whole = p->graph;
    p->graph = rest;
    follow_values(p, p->whole, &what);
  }
  sw_arena_deinit(&arena);
  return rc;
}

/* Takes the text. */
static sw_rc build_program(const char *file, char *text, size_t n, const sw_program_options *options, sw_program **out,
                           sw_diag *d) {
  static const sw_program_options kDefaults = {0};
  const sw_program_options *o = options ? options : &kDefaults;
  sw_program *p = sw_mem_alloc(1, sizeof *p, d);
  sw_rc rc = p ? SW_OK : SW_E_RESOURCE;
  if (!rc) {
    p->text = text;
    p->file = sw_mem_alloc(strlen(file) + 1, 1, d);
    if (!p->file) rc = SW_E_RESOURCE;
  } else {
    sw_mem_free(text);
  }
  if (!rc) {
    memcpy(p->file, file, strlen(file));
    rc = sw_ir_parse(p->file, p->text, n, &p->tree, d);
    if (rc == SW_E_INPUT) report_errors(&p->tree, o, d);
  }
  if (!rc) rc = import(p, o, d);
  if (!rc && !p->is_local) rc = drop_unread(p, d);
  if (!rc && o->fuse_attention && !p->is_local) rc = fuse_attention(p, d);
  if (rc) {
    sw_program_destroy(p);
    return rc;
  }
  *out = p;
  return SW_OK;
}

sw_rc sw_program_read(const char *path, const sw_program_options *options, sw_program **out, sw_diag *d) {
  char *text;
  size_t n;
  SW_TRY(sw_file_read_text(path, &text, &n, d));
  return build_program(strcmp(path, "-") == 0 ? "<stdin>" : path, text, n, options, out, d);
}

sw_rc sw_program_parse(const char *file, const char *bytes, size_t n, const sw_program_options *options,
                       sw_program **out, sw_diag *d) {
  char *text;
  SW_MEM_NEW(text, n + 1, d);
  if (n) memcpy(text, bytes, n);
  return build_program(file, text, n, options, out, d);
}

sw_rc sw_program_print_parsed(const char *file, const char *bytes, size_t n, const sw_program_options *options,
                              sw_text *out, sw_diag *d) {
  sw_ir_tree tree;
  char *text; /* with a NUL behind it */
  SW_MEM_NEW(text, n + 1, d);
  if (n) memcpy(text, bytes, n);
  sw_rc rc = sw_ir_parse(file, text, n, &tree, d);
  if (rc == SW_E_INPUT) report_errors(&tree, options, d);
  if (!rc) sw_ir_print(&tree, out);
  sw_ir_free(&tree);
  sw_mem_free(text);
  return rc;
}

sw_rc sw_program_check_syntax(const char *file, const char *text, size_t n, const sw_program_options *options,
                              sw_diag *d) {
  sw_ir_tree tree;
  sw_rc rc = sw_ir_check(file, text, n, &tree, d);
  if (rc == SW_E_INPUT) report_errors(&tree, options, d);
  sw_ir_free(&tree);
  return rc;
}

void sw_program_destroy(sw_program *p) {
  if (!p) return;
  sw_graph_destroy(p->graph);
  sw_graph_destroy(p->as_written);
  sw_graph_destroy(p->whole);
  sw_ir_trace_free(&p->trace);
  sw_ir_names_free(&p->names);
  sw_ir_free(&p->tree);
  sw_arena_deinit(&p->arena);
  sw_mem_free(p->text);
  sw_mem_free(p->file);
  sw_mem_free(p);
}

sw_graph *sw_program_graph(const sw_program *p) { return p->graph; }

uint32_t sw_program_open_axes(const sw_program *p) { return p->open_axes; }

const sw_local_program *sw_program_local(const sw_program *p) { return p->is_local ? &p->local : NULL; }

bool sw_program_is_resharded(const sw_program *p) { return p->is_resharded; }
