/* A model on a machine: opens them as a job. */
#include "core.h"

#include <string.h>

/* What a call wants, as texts that live in the arena of the problem; NULL or 0 where it says nothing. */
typedef struct wanted {
  sw_open_options o;
  const char *mesh;
  const char *const *sizes, *const *trips; /* NAME, SIZE, NAME, SIZE, ... */
  const char *const *said_roles;           /* NAME, ROLE, OUTPUT or "", NAME, ... */
  int n_sizes, n_trips, n_said_roles;
} wanted;

/* --- without the interpreter's lock ------------------------------------------------------------------------------- */

static sw_rc take_roles(problem *p, wanted *w, sw_diag *d) {
  sw_said_role *roles;
  w->o.n_said_roles = w->n_said_roles / 3;
  SW_ARENA_NEW(roles, &p->arena, w->o.n_said_roles, d);
  for (int i = 0; i < w->o.n_said_roles; i++) {
    const char *const *said = &w->said_roles[3 * i];
    roles[i] = (sw_said_role){said[0], said[1], *said[2] ? said[2] : NULL};
  }
  w->o.said_roles = roles;
  return SW_OK;
}

static sw_rc take_trips(problem *p, wanted *w, sw_diag *d) {
  sw_said_trips *trips;
  w->o.n_trips = w->n_trips / 2;
  SW_ARENA_NEW(trips, &p->arena, w->o.n_trips, d);
  for (int i = 0; i < w->o.n_trips; i++) {
    trips[i].loop = w->trips[2 * i];
    SW_TRY_NOTE(d, sw_parse_i64(w->trips[2 * i + 1], 0, INT64_MAX, "trips", &trips[i].trips, d), "of the loop '%s'",
                trips[i].loop);
  }
  w->o.trips = trips;
  return SW_OK;
}

static sw_rc open_problem(problem *p, wanted *w, sw_diag *d) {
  sw_mesh mesh;
  sw_sizes sizes = {0};
  if (w->mesh) SW_TRY_NOTE(d, sw_mesh_parse(w->mesh, &p->arena, &mesh, d), "in the mesh '%s'", w->mesh);
  if (w->mesh) w->o.mesh = &mesh;
  for (int i = 0; i + 1 < w->n_sizes; i += 2) SW_TRY(sw_sizes_give(&sizes, w->sizes[i], w->sizes[i + 1], d));
  w->o.sizes = &sizes;
  SW_TRY(take_roles(p, w, d));
  SW_TRY(take_trips(p, w, d));
  return sw_open_job(&w->o, &p->arena, &p->opened, d);
}

/* --- with it ------------------------------------------------------------------------------------------------------ */

static bool keep_all(problem *p, wanted *w) {
  sw_open_options *o = &w->o;
  const char **texts[] = {&o->model, &o->hw,    &w->mesh,     &o->keep,   &o->attention,
                          &o->roles, &o->rules, &o->compiler, &o->overlap};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *given = *texts[i];
    *texts[i] = keep_text(&p->arena, given, NULL);
    if (given && !*texts[i]) return false;
  }
  return true;
}

static PyObject *problem_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"name",      "text",  "hw",    "changes",  "sizes",   "devices", "mesh",       "keep",
                          "attention", "roles", "rules", "compiler", "overlap", "trips",   "said_roles", NULL};
  wanted w = {
      .o = {.roles_option = "roles={...}", .trips_option = "trips", .trips_form = "={NAME: n}", .report = hear}};
  sw_open_options *o = &w.o;
  PyObject *changes, *sizes, *trips = NULL, *said_roles = NULL;
  Py_ssize_t text_bytes;
  long long devices;
  sw_diag d = {0};
  sw_rc rc;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "ss#sOOL|zzzzzzzOO", names, &o->model, &o->text, &text_bytes, &o->hw,
                                   &changes, &sizes, &devices, &w.mesh, &o->keep, &o->attention, &o->roles, &o->rules,
                                   &o->compiler, &o->overlap, &trips, &said_roles))
    return NULL;
  problem *p = (problem *)PyType_GenericNew(type, NULL, NULL);
  if (!p) return NULL;
  o->text_bytes = (size_t)text_bytes;
  o->devices = devices;
  o->user = &p->heard;
  if (!take_texts(changes, &p->arena, &o->changes, &o->n_changes) ||
      !take_texts(sizes, &p->arena, &w.sizes, &w.n_sizes) ||
      (trips && !take_texts(trips, &p->arena, &w.trips, &w.n_trips)) ||
      (said_roles && !take_texts(said_roles, &p->arena, &w.said_roles, &w.n_said_roles)) || !keep_all(p, &w)) {
    Py_DECREF(p);
    return PyErr_Occurred() ? NULL : PyErr_NoMemory();
  }
  Py_BEGIN_ALLOW_THREADS /* the text is the caller's, who waits */
      rc = open_problem(p, &w, &d);
  Py_END_ALLOW_THREADS if (!rc) return (PyObject *)p;
  raise_failure(&d, &p->heard.wrong);
  Py_DECREF(p);
  return NULL;
}

static void problem_dealloc(PyObject *self) {
  problem *p = (problem *)self;
  sw_close_job(&p->opened);
  forget(&p->heard);
  sw_arena_deinit(&p->arena);
  free_instance(self);
}

static PyObject *problem_mesh(PyObject *self, void *unused) {
  (void)unused;
  sw_text t = {0};
  sw_mesh_print(sw_machine_mesh(((problem *)self)->opened.job.machine), &t);
  return text_or_failure(&t, SW_OK, NULL);
}

static PyObject *problem_said(PyObject *self, void *unused) {
  (void)unused;
  const sw_text *said = &((problem *)self)->heard.said;
  return PyUnicode_DecodeUTF8(sw_text_str(said), (Py_ssize_t)said->n, "replace");
}

/* (name, sizes of dims) */
static PyObject *value_of(const sw_value *v) {
  PyObject *dims = PyTuple_New(v->type.rank);
  for (int k = 0; dims && k < v->type.rank; k++) {
    PyObject *size = PyLong_FromLongLong(v->type.dims[k]);
    if (!size || PyTuple_SetItem(dims, k, size)) Py_CLEAR(dims);
  }
  if (!dims) return NULL;
  PyObject *name = PyUnicode_DecodeUTF8(v->name, (Py_ssize_t)strlen(v->name), "replace");
  PyObject *both = name ? PyTuple_Pack(2, name, dims) : NULL;
  Py_XDECREF(name);
  Py_DECREF(dims);
  return both;
}

static bool append_value(PyObject **list, const sw_value *v) {
  PyObject *value = *list ? value_of(v) : NULL;
  if (!value || PyList_Append(*list, value)) Py_CLEAR(*list);
  Py_XDECREF(value);
  return *list != NULL;
}

static PyObject *problem_arguments(PyObject *self, void *unused) {
  (void)unused;
  const sw_graph *g = ((problem *)self)->opened.job.graph;
  PyObject *list = PyList_New(0);
  for (sw_id i = 0; list && i < g->n_args; i++) append_value(&list, &g->values[g->args[i]]);
  return list;
}

/* find(name, pattern, or NAME@USE) -> values of the program that a pin of it is of */
static PyObject *problem_find(PyObject *self, PyObject *args) {
  const sw_job *job = &((problem *)self)->opened.job;
  const char *name;
  const sw_pin *pins;
  int32_t n;
  sw_text text = {0};
  sw_arena arena = {0};
  sw_diag d = {0};
  if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
  sw_text_printf(&text, "%s=[]", name);
  const sw_rc rc = text.rc ? text.rc
                           : sw_pins_parse(job->graph, sw_machine_mesh(job->machine), sw_text_str(&text),
                                           (sw_span){"pins", 1, 1}, &arena, &n, &pins, &d);
  PyObject *list = rc ? raise_failure(&d, NULL) : PyList_New(0);
  for (int32_t i = 0; list && i < n; i++) append_value(&list, &job->graph->values[pins[i].value]);
  sw_text_free(&text);
  sw_arena_deinit(&arena);
  return list;
}

static PyObject *problem_is_program(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((problem *)self)->opened.program != NULL);
}

static PyMethodDef methods[] = {
    {"search", (PyCFunction)(void (*)(void))problem_search, METH_VARARGS | METH_KEYWORDS, NULL},
    {"find", problem_find, METH_VARARGS, NULL},
    {"baseline", problem_baseline, METH_VARARGS, NULL},
    {"read_plan", problem_read_plan, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};
static PyGetSetDef properties[] = {{"mesh", problem_mesh, NULL, NULL, NULL},
                                   {"said", problem_said, NULL, NULL, NULL},
                                   {"arguments", problem_arguments, NULL, NULL, NULL},
                                   {"is_program", problem_is_program, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};
static PyType_Slot slots[] = {{Py_tp_methods, methods},
                              {Py_tp_getset, properties},
                              {Py_tp_new, (void *)problem_new},
                              {Py_tp_dealloc, (void *)problem_dealloc},
                              {0, NULL}};
PyType_Spec problem_spec = {
    .name = "shardwright._core.Problem", .basicsize = sizeof(problem), .flags = Py_TPFLAGS_DEFAULT, .slots = slots};
