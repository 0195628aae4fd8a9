/* Plans of a problem: found by search, made by rule, or read; and what can be asked of them. */
#include "core.h"

#include <string.h>

typedef struct plan {
  PyObject_HEAD problem *of; /* owned reference */
  sw_arena arena;
  PyObject *cancel;     /* owned reference: questions to the planner look at it, too */
  sw_planner *planner;  /* NULL: it was not searched for, or with what is made again: */
  sw_schedule schedule; /* of the plan, where it has one of its own */
  sw_job job;           /* of that, or the problem's */
  sw_job program;       /* for questions of what is made again: as it is, with pins */
  sw_plan_options asked;
  sw_recompute how;
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
  sw_schedule_deinit(&p->schedule);
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
  const char *start, *batch_dim, *schedule, *recompute;
  int notes; /* of what would fit, where nothing does */
} search;

/* Everything that is told of a plan. */
static sw_rc judge(plan *p, const sw_comparison *baselines, const char *batch_dim, sw_diag *d) {
  sw_batch_dim of = {0};
  p->plan.job = p->job; /* what is written of it is of the model as it was given */
  SW_TRY(sw_plan_breakdown(&p->plan, &p->arena, &p->breakdown, d));
  SW_TRY(sw_report_build(&p->plan, &p->breakdown, baselines, &p->arena, &p->report, d));
  if (!batch_dim) return SW_OK;
  SW_TRY_NOTE(d, sw_batch_dim_parse(p->plan.job.graph, batch_dim, &of, d), "in batch_dim '%s'", batch_dim);
  return sw_throughput_measure(&p->plan, &p->breakdown, &of, &p->arena, &p->report.throughput, d);
}

/* The plan's own schedule: that of a file (NULL, or one that has none: none), or what `how` makes again. */
static sw_rc take_schedule(plan *p, const char *path, sw_recompute how, int64_t memory, sw_diag *d) {
  const sw_job *of = &p->program;
  int32_t stage = 0;
  bool any = false;
  p->program = p->of->opened.job;
  p->program.memory = memory;
  p->job = *of;
  if (path) SW_TRY(sw_schedule_read(path, of->request, &p->arena, false, &p->schedule, &stage, &any, d));
  if (!any && how != SW_RECOMPUTE_AS_WRITTEN && how != SW_RECOMPUTE_SEARCH) {
    SW_TRY(sw_lever_choose(of, how, memory, &p->arena, &p->schedule, d));
    any = true;
  }
  return any ? sw_job_of_stage(of, &p->schedule, stage, &p->arena, &p->job, d) : SW_OK;
}

static sw_rc find_with_sources(plan *p, const sw_plan_options *o, sw_diag *d) {
  SW_TRY(sw_plan_search_sources(&p->program, p->job.request, o, &p->arena, &p->schedule, &p->plan, d));
  p->job = p->plan.job;
  return sw_plan_verify(&p->plan, d);
}

static sw_rc take_pins(plan *p, const search *s, const sw_job *of, sw_job *out, sw_diag *d) {
  return sw_pins_take(of, s->n_pins, s->pins, "pins", s->o.selection.even == SW_EVEN_ALWAYS, &p->arena, out, d);
}

static sw_rc find(plan *p, search *s, sw_diag *d) {
  sw_job job;
  SW_TRY(sw_recompute_parse(s->recompute, (sw_span){"recompute", 1, 1}, &p->how, d));
  if (s->schedule && p->how != SW_RECOMPUTE_AS_WRITTEN)
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE, "a schedule says what is made again; expected no recompute beside it");
  SW_TRY(take_schedule(p, s->schedule, p->how, s->o.selection.capacity_bytes, d));
  SW_TRY(take_pins(p, s, &p->job, &job, d));
  SW_TRY(take_pins(p, s, &p->program, &p->program, d));
  if (s->start) {
    sw_plan *start;
    sw_plan_transfer taken;
    SW_ARENA_NEW(start, &p->arena, 1, d);
    SW_TRY(sw_plan_read_other(s->start, &job, &p->arena, start, &taken, d));
    s->o.start = start;
  }
  SW_TRY(sw_baselines_build(&job, &p->arena, &s->o.baselines, d));
  SW_TRY(sw_propagate_known(&job, &p->arena, &s->o, d));
  if (p->how == SW_RECOMPUTE_SEARCH) {
    SW_TRY(find_with_sources(p, &s->o, d));
  } else {
    SW_TRY(sw_planner_open(&job, &s->o, &p->arena, &p->planner, &p->plan, d));
    p->plan.job = job;
    SW_TRY(sw_plan_verify(&p->plan, d));
  }
  p->asked = s->o;
  p->interrupted = sw_cancelled(s->o.solve.cancel);
  return judge(p, s->o.baselines, s->batch_dim, d);
}

static sw_rc make_by_rule(plan *p, sw_baseline rule, int64_t capacity, sw_diag *d) {
  p->job = p->of->opened.job;
  p->job.memory = capacity;
  SW_TRY(sw_baseline_build(&p->job, rule, &p->arena, &p->plan, d));
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
  static char *names[] = {"cancel",     "pins",      "even",       "solver",  "start", "memory",     "time_limit",
                          "work_limit", "gap",       "simplicity", "threads", "seed",  "args_whole", "cut_heavy_ops",
                          "batch_dim",  "recompute", "schedule",   "notes",   NULL};
  PyObject *flag, *pins;
  const char *even, *solver, *start, *batch_dim, *recompute = "as-written", *schedule = NULL;
  long long memory, work, seed;
  int whole, heavy;
  s->notes = 1;
  sw_solve_options *o = &s->o.solve;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "O!OsszLdLddiLppz|szp", names, cancel_type, &flag, &pins, &even,
                                   &solver, &start, &memory, &o->time_limit_s, &work, &o->gap, &s->o.simplicity,
                                   &o->threads, &seed, &whole, &heavy, &batch_dim, &recompute, &schedule, &s->notes))
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
  s->o.selection.args_whole = whole;
  s->o.selection.cut_heavy_ops = heavy;
  s->start = keep_text(&p->arena, start, NULL);
  s->batch_dim = keep_text(&p->arena, batch_dim, NULL);
  s->recompute = keep_text(&p->arena, recompute, NULL);
  s->schedule = keep_text(&p->arena, schedule, NULL);
  if (!s->recompute) {
    PyErr_NoMemory();
    return false;
  }
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
  if (rc && none_fits && s.notes) sw_note_what_fits(s.schedule ? &p->job : &p->program, &s.o, &p->arena, &d);
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
  Py_BEGIN_ALLOW_THREADS rc = take_schedule(p, path, SW_RECOMPUTE_AS_WRITTEN, 0, &d);
  if (!rc) rc = sw_plan_read(path, &p->job, &p->arena, &p->plan, &d);
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
  if (!form->in_program || p->plan.job.schedule) return sw_emit_plan(&p->plan, kind, out, d);
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

static sw_rc ask(const plan *p, const char *text, bool json, sw_text *out, sw_diag *d) {
  const sw_questions q = {p->planner, &p->program, &p->asked, p->how, &p->plan, &p->breakdown, json};
  sw_question asked;
  sw_arena arena = {0};
  sw_rc rc =
      sw_question_read(sw_questions_graph(&q), q.program ? q.program->graph : sw_questions_graph(&q),
                       sw_machine_mesh(p->plan.job.machine), text, (sw_span){"what_if", 1, 1}, &arena, &asked, d);
  if (!rc) rc = sw_what_if(&q, &asked, &arena, out, d);
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
  if (!((plan *)self)->planner && ((plan *)self)->how != SW_RECOMPUTE_SEARCH)
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
  return PyBool_FromLong(((plan *)self)->planner != NULL || ((plan *)self)->how == SW_RECOMPUTE_SEARCH);
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
