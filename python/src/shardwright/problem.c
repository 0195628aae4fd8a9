/* A model on a machine: reads both, and binds the mesh. */
#include "core.h"

#include <string.h>

/* What a call wants, as texts that live in the arena of the problem; NULL or 0 where it says nothing. */
typedef struct wanted {
  const char *name, *hw, *mesh, *keep, *attention, *roles, *rules, *compiler;
  const char *text;
  Py_ssize_t text_bytes;
  const char *const *changes, *const *sizes, *const *trips; /* NAME, SIZE, NAME, SIZE, ... */
  const char *const *said_roles;                            /* NAME, ROLE, OUTPUT or "", NAME, ... */
  int n_changes, n_sizes, n_trips, n_said_roles;
  long long devices;
} wanted;

/* --- without the interpreter's lock ------------------------------------------------------------------------------- */

static sw_keep keep_of(const char *text) {
  if (text && strcmp(text, "none") == 0) return SW_KEEP_NONE;
  return text && strcmp(text, "io") == 0 ? SW_KEEP_IO : SW_KEEP_ALL;
}

static sw_rc read_program(problem *p, const wanted *w, const sw_mesh *mesh, sw_diag *d) {
  sw_said_role *roles;
  SW_ARENA_NEW(roles, &p->arena, w->n_said_roles / 3, d);
  for (int i = 0; i < w->n_said_roles / 3; i++) {
    const char *const *said = &w->said_roles[3 * i];
    roles[i] = (sw_said_role){said[0], said[1], *said[2] ? said[2] : NULL};
  }
  sw_program_options o = {.keep = keep_of(w->keep),
                          .mesh = mesh,
                          .roles = w->roles,
                          .said_roles = roles,
                          .n_said_roles = w->n_said_roles / 3,
                          .roles_option = "roles={...}",
                          .rules = w->rules,
                          .sizes = &p->sizes,
                          .fuse_attention = w->attention && strcmp(w->attention, "fused") == 0,
                          .report = hear,
                          .user = &p->heard};
  if (sw_profile_mesh_count(p->profile) > 0) o.fallback = sw_profile_mesh(p->profile, 0);
  SW_TRY(sw_program_parse(w->name, w->text, (size_t)w->text_bytes, &o, &p->program, d));
  p->read = sw_program_graph(p->program);
  return SW_OK;
}

static sw_rc read_model(problem *p, const wanted *w, const sw_mesh *mesh, sw_diag *d) {
  for (int i = 0; i + 1 < w->n_sizes; i += 2) SW_TRY(sw_sizes_give(&p->sizes, w->sizes[i], w->sizes[i + 1], d));
  sw_rc rc = sw_program_is(w->name, w->text)
                 ? read_program(p, w, mesh, d)
                 : sw_model_parse_on(w->name, w->text, (size_t)w->text_bytes, mesh, &p->sizes, &p->read, d);
  if (sw_sizes_open(&p->sizes)) return sw_sizes_check(&p->sizes, w->name, d); /* rather than what followed from them */
  return rc ? rc : sw_sizes_check(&p->sizes, w->name, d);
}

static sw_rc bind_mesh(problem *p, const sw_mesh *given, sw_machine **machine, sw_diag *d) {
  if (p->read->written->has_mesh)
    p->mesh = p->read->written->mesh; /* what is given has been taken in place of it already */
  else if (given)
    p->mesh = *given;
  else if (sw_profile_mesh_count(p->profile) > 0)
    p->mesh = *sw_profile_mesh(p->profile, 0);
  SW_TRY(sw_mesh_verify(&p->mesh, true, d));
  sw_rc rc = sw_machine_build(&p->arena, p->profile, &p->mesh, machine, d);
  if (rc == SW_E_INPUT) sw_profile_note_fitting(&p->mesh, d);
  return rc;
}

/* Of what nobody says, the caller hears. */
static sw_rc take_trips(problem *p, const wanted *w, sw_diag *d) {
  sw_text unknown = {0};
  sw_graph *g = p->read;
  for (int i = 0; i + 1 < w->n_trips; i += 2) {
    sw_said_trips one = {w->trips[i], 0};
    SW_TRY_NOTE(d, sw_parse_i64(w->trips[i + 1], 0, INT64_MAX, "trips", &one.trips, d), "of the loop '%s'", one.loop);
    SW_TRY(sw_graph_with_trips(g, &one, &p->arena, &g, d));
  }
  p->graph = g;
  sw_graph_put_unknown_loops(p->graph, &unknown);
  if (unknown.n)
    sw_text_printf(&p->heard.said,
                   "nobody says how many trips these loops make, and they are priced as one: %s; trips={NAME: n} says "
                   "it%c",
                   sw_text_str(&unknown), SAID_END);
  sw_text_free(&unknown);
  return SW_OK;
}

static sw_rc open_problem(problem *p, const wanted *w, sw_diag *d) {
  sw_mesh *mesh = NULL;
  sw_machine *machine;
  const sw_profile_reading reading = {w->changes, w->n_changes, hear, &p->heard};
  SW_TRY(sw_profile_read_with(w->hw, &reading, &p->arena, &p->profile, d));
  if (w->devices) SW_TRY(sw_profile_with_devices(p->profile, w->devices, &p->arena, &p->profile, d));
  if (w->mesh) {
    SW_ARENA_NEW(mesh, &p->arena, 1, d);
    SW_TRY_NOTE(d, sw_mesh_parse(w->mesh, &p->arena, mesh, d), "in the mesh '%s'", w->mesh);
  }
  SW_TRY(read_model(p, w, mesh, d));
  SW_TRY(bind_mesh(p, mesh, &machine, d));
  SW_TRY(take_trips(p, w, d));
  return sw_job_make(w->compiler, p->graph->written, machine, &p->arena, &p->job, d);
}

/* --- with it ------------------------------------------------------------------------------------------------------ */

static bool keep_all(problem *p, wanted *w) {
  const char **texts[] = {&w->name, &w->hw, &w->mesh, &w->keep, &w->attention, &w->roles, &w->rules, &w->compiler};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    const char *given = *texts[i];
    *texts[i] = keep_text(&p->arena, given, NULL);
    if (given && !*texts[i]) return false;
  }
  return true;
}

static PyObject *problem_new(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  static char *names[] = {"name",      "text",  "hw",    "changes",  "sizes", "devices",    "mesh", "keep",
                          "attention", "roles", "rules", "compiler", "trips", "said_roles", NULL};
  wanted w = {0};
  PyObject *changes, *sizes, *trips = NULL, *said_roles = NULL;
  sw_diag d = {0};
  sw_rc rc;
  if (!PyArg_ParseTupleAndKeywords(args, keywords, "ss#sOOL|zzzzzzOO", names, &w.name, &w.text, &w.text_bytes, &w.hw,
                                   &changes, &sizes, &w.devices, &w.mesh, &w.keep, &w.attention, &w.roles, &w.rules,
                                   &w.compiler, &trips, &said_roles))
    return NULL;
  problem *p = (problem *)PyType_GenericNew(type, NULL, NULL);
  if (!p) return NULL;
  if (!take_texts(changes, &p->arena, &w.changes, &w.n_changes) ||
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
  if (!p->program) sw_graph_destroy(p->read);
  sw_program_destroy(p->program);
  forget(&p->heard);
  sw_arena_deinit(&p->arena);
  free_instance(self);
}

static PyObject *problem_mesh(PyObject *self, void *unused) {
  (void)unused;
  sw_text t = {0};
  sw_mesh_print(&((problem *)self)->mesh, &t);
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
  const sw_graph *g = ((problem *)self)->graph;
  PyObject *list = PyList_New(0);
  for (sw_id i = 0; list && i < g->n_args; i++) append_value(&list, &g->values[g->args[i]]);
  return list;
}

/* find(name, pattern, or NAME@USE) -> values of the program that a pin of it is of */
static PyObject *problem_find(PyObject *self, PyObject *args) {
  const problem *p = (problem *)self;
  const char *name;
  const sw_pin *pins;
  int32_t n;
  sw_text text = {0};
  sw_arena arena = {0};
  sw_diag d = {0};
  if (!PyArg_ParseTuple(args, "s", &name)) return NULL;
  sw_text_printf(&text, "%s=[]", name);
  const sw_rc rc =
      text.rc ? text.rc
              : sw_pins_parse(p->graph, &p->mesh, sw_text_str(&text), (sw_span){"pins", 1, 1}, &arena, &n, &pins, &d);
  PyObject *list = rc ? raise_failure(&d, NULL) : PyList_New(0);
  for (int32_t i = 0; list && i < n; i++) append_value(&list, &p->graph->values[pins[i].value]);
  sw_text_free(&text);
  sw_arena_deinit(&arena);
  return list;
}

static PyObject *problem_is_program(PyObject *self, void *unused) {
  (void)unused;
  return PyBool_FromLong(((problem *)self)->program != NULL);
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
