/* Plans of a problem: found by search, made by rule, or read; and what can be asked of them. */
#include "core.h"

#include <string.h>

typedef struct plan {
  PyObject_HEAD problem *of; /* owned reference */
  sw_arena arena;
  PyObject *cancel;    /* owned reference: questions to the planner look at it, too */
  sw_planner *planner; /* NULL: it was not searched for */
  sw_plan plan;
  sw_breakdown breakdown;
  sw_report report;
  bool interrupted;
} plan;

static plan *new_plan(PyObject *of) {
  plan *p = (plan *)PyType_GenericNew(plan_type, NULL, NULL);
  if (p) p->of = (problem *)Py_NewRef(of);
  return p;
}

static void plan_dealloc(PyObject *self) {
  plan *p = (plan *)self;
  sw_planner_close(p->planner);
  sw_arena_deinit(&p->arena);
  Py_XDECREF((PyObject *)p->of);
  Py_XDECREF(p->cancel);
  free_instance(self);
}

static PyObject *plan_or_failure(plan *p, sw_rc rc, bool none_fits, const sw_diag *d) {
  if (!rc) return (PyObject *)p;
  raise_search_failure(d, none_fits);
  Py_DECREF(p);
  return NULL;
}

/* --- made, without the interpreter's lock ------------------------------------------------------------------------- */

typedef struct search {
  sw_plan_options o;
  const char *const *pins;
  int n_pins;
  const char *start, *batch_dim;
} search;

/* Everything that is told of a plan. */
static sw_rc judge(plan *p, const sw_comparison *baselines, const char *batch_dim, sw_diag *d) {
  sw_batch_dim of = {0};
  p->plan.job = p->of->opened.job; /* what is written of it is of the model as it was given */
  SW_TRY(sw_plan_breakdown(&p->plan, &p->arena, &p->breakdown, d));
  SW_TRY(sw_report_build(&p->plan, &p->breakdown, baselines, &p->arena, &p->report, d));
  if (!batch_dim) return SW_OK;
  SW_TRY_NOTE(d, sw_batch_dim_parse(p->plan.job.graph, batch_dim, &of, d), "in batch_dim '%s'", batch_dim);
  return sw_throughput_measure(&p->plan, &p->breakdown, &of, &p->arena, &p->report.throughput, d);
}

static sw_rc find(plan *p, search *s, sw_diag *d) {
  sw_job job;
  SW_TRY(sw_pins_take(&p->of->opened.job, s->n_pins, s->pins, "pins", s->o.selection.even == SW_EVEN_ALWAYS, &p->arena,
                      &job, d));
  if (s->start) {
    sw_plan *start;
    sw_plan_transfer taken;
    SW_ARENA_NEW(start, &p->arena, 1, d);
    SW_TRY(sw_plan_read_other(s->start, &job, &p->arena, start, &taken, d));
    s->o.start = start;
  }
  SW_TRY(sw_baselines_build(&job, &p->arena, &s->o.baselines, d));
  SW_TRY(sw_propagate_known(&job, &p->arena, &s->o, d));
  SW_TRY(sw_planner_open(&job, &s->o, &p->arena, &p->planner, &p->plan, d));
  p->plan.job = job;
  SW_TRY(sw_plan_verify(&p->plan, d));
  p->interrupted = sw_cancelled(s->o.solve.cancel);
  return judge(p, s->o.baselines, s->batch_dim, d);
}

static sw_rc make_by_rule(plan *p, sw_baseline rule, int64_t capacity, sw_diag *d) {
  SW_TRY(sw_baseline_build(&p->of->opened.job, rule, &p->arena, &p->plan, d));
  SW_TRY(sw_plan_verify(&p->plan, d));
  p->plan.capacity_bytes = capacity ? capacity : sw_profile_memory_bytes(p->of->opened.profile);
  return judge(p, NULL, NULL, d);
}

/* --- made, with it ------------------------------------------------------------------------------------------------ */

static bool parse_even(const char *text, sw_even *out) {
  static const char *const names[] = {"never", "arguments", "always"};
  for (int i = 0; i < 3; i++) {
    *out = (sw_even)i;
    if (strcmp(text, names[i]) == 0) return true;
  }
  PyErr_Format(PyExc_ValueError, "even is '%s'; expected 'always', 'arguments' or 'never'", text);
  return false;
}

static bool read_search(PyObject *args, PyObject *keywords, plan *p, search *s) {
  static char *names[] = {"cancel",     "pins",          "even",      "solver",     "start",   "memory",
                          "time_limit", "work_limit",    "gap",       "simplicity", "threads", "seed",
                          "args_whole", "cut_heavy_ops", "batch_dim", NULL};
  PyObject *flag, *pins;
  const char *even, *solver, *start, *batch_dim;
  long long memory, work, seed;
  int whole, heavy;
  sw_solve_options *o = &s->o.solve;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OsszLdLddiLppz", names, cancel_type, &flag, &pins, &even, &solver,
                                   &start, &memory, &o->time_limit_s, &work, &o->gap, &s->o.simplicity, &o->threads,
                                   &seed, &whole, &heavy, &batch_dim))
    return false;
  if (!sw_solver_parse(solver, &o->solver)) {
    PyErr_Format(PyExc_ValueError, "solver is '%s'; expected 'auto', 'native', 'glpk' or 'exhaustive'", solver);
    return false;
  }
  o->work_limit = work;
  o->seed = (uint64_t)seed;
  o->cancel = &((cancel *)flag)->flag;
  p->cancel = Py_NewRef(flag);
  if (work > 0) o->time_limit_s = 0;
  s->o.selection.capacity_bytes = memory;
  s->o.notes_mesh = true;
  s->o.selection.args_whole = whole;
  s->o.selection.cut_heavy_ops = heavy;
  s->start = keep_text(&p->arena, start, NULL);
  s->batch_dim = keep_text(&p->arena, batch_dim, NULL);
  return parse_even(even, &s->o.selection.even) && take_texts(pins, &p->arena, &s->pins, &s->n_pins);
}

PyObject *problem_search(PyObject *self, PyObject *args, PyObject *keywords) {
  search s = {0};
  sw_diag d = {0};
  sw_rc rc;
  bool none_fits = false;
  plan *p = new_plan(self);
  if (!p) return NULL;
  if (!read_search(args, keywords, p, &s)) {
    Py_DECREF(p);
    return NULL;
  }
  s.o.none_fits = &none_fits;
  Py_BEGIN_ALLOW_THREADS rc = find(p, &s, &d);
  Py_END_ALLOW_THREADS return plan_or_failure(p, rc, none_fits, &d);
}

PyObject *problem_baseline(PyObject *self, PyObject *args) {
  const char *rule;
  long long memory;
  sw_diag d = {0};
  sw_rc rc;
  sw_baseline b = 0;
  if (!PyArg_ParseTuple(args, "sL", &rule, &memory)) return NULL;
  while (b < SW_BASELINE_COUNT && strcmp(sw_baseline_text(b), rule) != 0) b++;
  if (b == SW_BASELINE_COUNT)
    return PyErr_Format(PyExc_ValueError,
                        "there is no rule '%s'; expected 'replicated', 'data-parallel', 'megatron' or 'fsdp'", rule);
  plan *p = new_plan(self);
  if (!p) return NULL;
  Py_BEGIN_ALLOW_THREADS rc = make_by_rule(p, b, memory, &d);
  Py_END_ALLOW_THREADS return plan_or_failure(p, rc, false, &d);
}

PyObject *problem_read_plan(PyObject *self, PyObject *args) {
  const char *path;
  sw_diag d = {0};
  sw_rc rc;
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  plan *p = new_plan(self);
  if (!p) return NULL;
  Py_BEGIN_ALLOW_THREADS rc = sw_plan_read(path, &p->of->opened.job, &p->arena, &p->plan, &d);
  if (!rc) rc = judge(p, NULL, NULL, &d);
  Py_END_ALLOW_THREADS return plan_or_failure(p, rc, false, &d);
}

/* --- asked -------------------------------------------------------------------------------------------------------- */

static PyObject *plan_table(PyObject *self, PyObject *args) {
  int full;
  sw_text t = {0};
  if (!PyArg_ParseTuple(args, "p", &full)) return NULL;
  sw_report report = ((plan *)self)->report;
  report.all_arguments = full;
  Py_BEGIN_ALLOW_THREADS sw_report_table(&report, false, &t);
  Py_END_ALLOW_THREADS return text_or_failure(&t, SW_OK, NULL);
}

static PyObject *written(PyObject *self, void (*write)(const sw_report *r, sw_text *out)) {
  sw_text t = {0};
  Py_BEGIN_ALLOW_THREADS write(&((plan *)self)->report, &t);
  Py_END_ALLOW_THREADS return text_or_failure(&t, SW_OK, NULL);
}

static PyObject *plan_report(PyObject *self, PyObject *unused) {
  (void)unused;
  return written(self, sw_report_json);
}

static PyObject *plan_page(PyObject *self, PyObject *unused) {
  (void)unused;
  return written(self, sw_report_html);
}

static PyObject *plan_json(PyObject *self, PyObject *unused) {
  (void)unused;
  const plan *p = (plan *)self;
  sw_text t = {0};
  sw_diag d = {0};
  sw_rc rc;
  Py_BEGIN_ALLOW_THREADS rc = sw_plan_write(&p->plan, &p->breakdown, &t, &d);
  Py_END_ALLOW_THREADS return text_or_failure(&t, rc, &d);
}

static sw_rc emit(const plan *p, const char *kind, bool uneven, sw_text *out, sw_diag *d) {
  const sw_plan_form *form = sw_plan_form_find(kind);
  if (!form) return sw_emit_plan(&p->plan, kind, out, d); /* which says so */
  if (form->even_alone && !uneven)
    SW_TRY_NOTE(d, sw_plan_check_even(&p->plan, NULL, d), "in the form '%s', whose readers pad what is uneven", kind);
  if (!form->in_program) return sw_emit_plan(&p->plan, kind, out, d);
  if (p->of->opened.program) return sw_program_emit(p->of->opened.program, &p->plan, kind, out, d);
  return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                 "the form '%s' writes the shardings into the program that was read; expected a model in MLIR", kind);
}

static PyObject *plan_emit(PyObject *self, PyObject *args) {
  const char *kind;
  int uneven;
  sw_text t = {0};
  sw_diag d = {0};
  sw_rc rc;
  if (!PyArg_ParseTuple(args, "sp", &kind, &uneven)) return NULL;
  Py_BEGIN_ALLOW_THREADS rc = emit((plan *)self, kind, uneven, &t, &d);
  Py_END_ALLOW_THREADS return text_or_failure(&t, rc, &d);
}

static sw_rc ask(const plan *p, const char *pins, bool json, sw_text *out, sw_diag *d) {
  const sw_questions q = {.planner = p->planner, .plan = &p->plan, .breakdown = &p->breakdown, .json = json};
  const sw_span at = {"what_if", 1, 1};
  const sw_pin *read;
  int32_t n;
  sw_arena arena = {0};
  sw_rc rc = sw_pins_parse(p->plan.job.graph, sw_machine_mesh(p->plan.job.machine), pins, at, &arena, &n, &read, d);
  if (!rc) rc = sw_what_if(&q, pins, n, read, &arena, out, d);
  sw_arena_deinit(&arena);
  return rc;
}

/* One question at a time: the caller sees to that. */
static PyObject *plan_what_if(PyObject *self, PyObject *args) {
  const char *pins;
  int json;
  sw_text t = {0};
  sw_diag d = {0};
  sw_rc rc;
  if (!PyArg_ParseTuple(args, "sp", &pins, &json)) return NULL;
  if (!((plan *)self)->planner)
    return PyErr_Format(PyExc_ValueError, "the plan was not searched for; expected one that shardwright.plan has made");
  Py_BEGIN_ALLOW_THREADS rc = ask((plan *)self, pins, json, &t, &d);
  Py_END_ALLOW_THREADS return text_or_failure(&t, rc, &d);
}

/* Both texts of one explanation. */
typedef struct explained {
  sw_text table, json;
} explained;

static sw_rc explain(const plan *p, const sw_explain_options *o, explained *out, sw_diag *d) {
  sw_explanation e;
  sw_arena arena = {0};
  sw_rc rc = sw_explain_build(&p->plan, &p->breakdown, o, &arena, &e, d);
  if (!rc) sw_explanation_table(&e, &out->table);
  if (!rc) sw_explanation_json(&e, &out->json);
  sw_arena_deinit(&arena);
  return rc;
}

/* One at a time, as questions: NAME or None, how many kinds of traffic, whether memory, whether all else as it is. */
static PyObject *plan_explain(PyObject *self, PyObject *args) {
  sw_explain_options o = {0};
  const char *name;
  int top, peak, alone;
  explained e = {{0}, {0}};
  sw_diag d = {0};
  sw_rc rc;
  if (!PyArg_ParseTuple(args, "zipp", &name, &top, &peak, &alone)) return NULL;
  o.name = name;
  o.top = top > 0 ? top : 0;
  o.peak = peak;
  o.planner = alone ? NULL : ((plan *)self)->planner;
  Py_BEGIN_ALLOW_THREADS rc = explain((plan *)self, &o, &e, &d);
  Py_END_ALLOW_THREADS PyObject *table = text_or_failure(&e.table, rc, &d);
  if (!table) {
    sw_text_free(&e.json);
    return NULL;
  }
  PyObject *json = text_or_failure(&e.json, SW_OK, &d);
  PyObject *both = json ? PyTuple_Pack(2, table, json) : NULL;
  Py_DECREF(table);
  Py_XDECREF(json);
  return both;
}

static PyObject *plan_interrupted(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((plan *)self)->interrupted);
}

static PyObject *plan_searched(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((plan *)self)->planner != NULL);
}

static PyMethodDef methods[] = {
    {"table", plan_table, METH_VARARGS, NULL},     {"report", plan_report, METH_NOARGS, NULL},
    {"page", plan_page, METH_NOARGS, NULL},        {"json", plan_json, METH_NOARGS, NULL},
    {"emit", plan_emit, METH_VARARGS, NULL},       {"what_if", plan_what_if, METH_VARARGS, NULL},
    {"explain", plan_explain, METH_VARARGS, NULL}, {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {{"interrupted", plan_interrupted, NULL, NULL, NULL},
                                   {"searched", plan_searched, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {
    {Py_tp_methods, methods}, {Py_tp_getset, properties}, {Py_tp_dealloc, (void *)plan_dealloc}, {0, NULL}};
PyType_Spec plan_spec = {.name = "shardwright._core.Plan",
                         .basicsize = sizeof(plan),
                         .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                         .slots = slots};
