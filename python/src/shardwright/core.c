/* The extension module shardwright._core: exceptions, and questions that need no model. */
#include "core.h"

#include <stdlib.h>
#include <string.h>

PyTypeObject *problem_type, *plan_type, *cancel_type;

static PyObject *base_error;

/* What each outcome is in Python; the first base is ours. */
static struct {
  sw_rc rc;
  const char *name, *doc;
  PyObject **other_base;
  PyObject *type;
} errors[] = {
    {SW_E_INPUT, "shardwright.InputError", "A model, profile or other text is wrong.", &PyExc_ValueError, NULL},
    {SW_E_USAGE, "shardwright.UsageError", "An argument of a call is wrong.", &PyExc_ValueError, NULL},
    {SW_E_INFEASIBLE, "shardwright.InfeasibleError", "Proven: no plan fits, or the pins cannot be met together.", NULL,
     NULL},
    {SW_E_RESOURCE, "shardwright.ResourceError", "Memory, files or time ran out with nothing to show.", NULL, NULL},
    {SW_E_BUG, "shardwright.InternalError", "A fault of the library: please report it.", NULL, NULL},
};
enum { N_ERRORS = sizeof errors / sizeof *errors };

/* --- failures ----------------------------------------------------------------------------------------------------- */

/* As sw_diag_print has it; NULL with an exception set. */
static PyObject *text_of(const sw_diag *d, const sw_text *before) {
  char *at = NULL;
  size_t n = 0;
  FILE *f = open_memstream(&at, &n);
  if (!f) return PyErr_NoMemory();
  if (before) fputs(sw_text_str(before), f);
  sw_diag_print(d, f, false);
  if (fclose(f)) {
    free(at);
    return PyErr_NoMemory();
  }
  while (n && at[n - 1] == '\n') n--;
  PyObject *text = PyUnicode_DecodeUTF8(at, (Py_ssize_t)n, "replace");
  free(at);
  return text;
}

/* Steals `value`, which may be NULL. */
static bool set_attribute(PyObject *of, const char *name, PyObject *value) {
  const bool done = value && PyObject_SetAttrString(of, name, value) == 0;
  Py_XDECREF(value);
  return done;
}

static PyObject *text_or_none(const char *text) {
  if (text && *text) return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
  return Py_NewRef(Py_None);
}

static PyObject *raise_with(const sw_diag *d, const sw_text *before, bool none_fits) {
  if (d->rc == SW_E_CANCELLED) {
    PyErr_SetNone(PyExc_KeyboardInterrupt);
    return NULL;
  }
  PyObject *type = base_error;
  for (int i = 0; i < N_ERRORS; i++) {
    if (errors[i].rc == d->rc) type = errors[i].type;
  }
  PyObject *text = text_of(d, before);
  PyObject *error = text ? PyObject_CallFunctionObjArgs(type, text, NULL) : NULL;
  Py_XDECREF(text);
  if (error && set_attribute(error, "reason", text_or_none(d->text)) &&
      set_attribute(error, "file", text_or_none(d->file)) && set_attribute(error, "line", PyLong_FromLong(d->line)) &&
      set_attribute(error, "column", PyLong_FromLong(d->col)) &&
      set_attribute(error, "none_fits", PyBool_FromLong(none_fits)))
    PyErr_SetObject(type, error);
  Py_XDECREF(error);
  return NULL;
}

PyObject *raise_failure(const sw_diag *d, const sw_text *before) { return raise_with(d, before, false); }

PyObject *raise_search_failure(const sw_diag *d, bool none_fits) { return raise_with(d, NULL, none_fits); }

PyObject *text_or_failure(sw_text *t, sw_rc rc, const sw_diag *d) {
  PyObject *out;
  if (rc)
    out = raise_failure(d, NULL);
  else if (t->rc)
    out = PyErr_NoMemory();
  else
    out = PyUnicode_DecodeUTF8(sw_text_str(t), (Py_ssize_t)t->n, "replace");
  sw_text_free(t);
  return out;
}

void hear(void *user, const sw_diag *d) {
  heard *h = user;
  char *at = NULL;
  size_t n = 0;
  if (!d->rc) {
    if (d->line) sw_text_printf(&h->said, "%s:%d:%d: ", d->file, d->line, d->col);
    sw_text_printf(&h->said, "%s%c", d->text, SAID_END);
    return;
  }
  FILE *f = open_memstream(&at, &n);
  if (!f) return;
  sw_diag_print(d, f, false);
  if (fclose(f) == 0) sw_text_append(&h->wrong, at, n);
  free(at);
}

void forget(heard *h) {
  sw_text_free(&h->said);
  sw_text_free(&h->wrong);
}

/* --- texts that come in ------------------------------------------------------------------------------------------- */

const char *keep_text(sw_arena *arena, const char *text, sw_diag *d) {
  return text ? sw_arena_strndup(arena, text, strlen(text), d) : NULL;
}

bool take_texts(PyObject *sequence, sw_arena *arena, const char *const **out, int *n) {
  const Py_ssize_t count = PySequence_Size(sequence);
  if (count < 0) return false;
  const char **texts = sw_arena_alloc(arena, (size_t)count, sizeof *texts, NULL);
  if (!texts) {
    PyErr_NoMemory();
    return false;
  }
  for (Py_ssize_t i = 0; i < count; i++) {
    PyObject *item = PySequence_GetItem(sequence, i);
    const char *text = item ? PyUnicode_AsUTF8AndSize(item, NULL) : NULL;
    texts[i] = text ? keep_text(arena, text, NULL) : NULL;
    Py_XDECREF(item);
    if (text && !texts[i]) PyErr_NoMemory();
    if (!texts[i]) return false;
  }
  *out = texts;
  *n = (int)count;
  return true;
}

void free_instance(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
  release(self);
  Py_DECREF(type);
}

/* --- cancellation ------------------------------------------------------------------------------------------------- */

static PyObject *cancel_set(PyObject *self, PyObject *unused) {
  (void)unused;
  sw_cancel_set(&((cancel *)self)->flag);
  return Py_NewRef(Py_None);
}

static PyMethodDef cancel_methods[] = {{"set", cancel_set, METH_NOARGS, "Ask the search to end with what it has."},
                                       {NULL, NULL, 0, NULL}};
static PyType_Slot cancel_slots[] = {{Py_tp_methods, cancel_methods},
                                     {Py_tp_new, (void *)PyType_GenericNew},
                                     {Py_tp_dealloc, (void *)free_instance},
                                     {0, NULL}};
PyType_Spec cancel_spec = {.name = "shardwright._core.Cancel",
                           .basicsize = sizeof(cancel),
                           .flags = Py_TPFLAGS_DEFAULT,
                           .slots = cancel_slots};

/* --- questions without a model ------------------------------------------------------------------------------------ */

static PyObject *sizes_of(const sw_mesh *m) {
  PyObject *axes = PyList_New(0);
  for (int a = 0; axes && a < m->n_axes; a++) {
    PyObject *axis = Py_BuildValue("(sL)", m->axis[a].name, (long long)m->axis[a].size);
    if (!axis || PyList_Append(axes, axis)) Py_CLEAR(axes);
    Py_XDECREF(axis);
  }
  return axes;
}

static PyObject *described(const sw_mesh *m) {
  sw_text t = {0};
  sw_mesh_print(m, &t);
  PyObject *text = text_or_failure(&t, SW_OK, NULL);
  PyObject *axes = text ? sizes_of(m) : NULL;
  if (!axes) Py_CLEAR(text);
  return axes ? Py_BuildValue("(NN)", text, axes) : NULL;
}

/* mesh(text) -> (text, [(axis, size), ...]) */
static PyObject *core_mesh(PyObject *module, PyObject *args) {
  (void)module;
  const char *text;
  sw_arena arena = {0};
  sw_mesh mesh;
  sw_diag d = {0};
  if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
  sw_rc rc = sw_mesh_parse(text, &arena, &mesh, &d);
  if (!rc) rc = sw_mesh_verify(&mesh, true, &d);
  PyObject *out = rc ? raise_failure(&d, NULL) : described(&mesh);
  sw_arena_deinit(&arena);
  return out;
}

static PyObject *meshes_of(const sw_profile *p) {
  PyObject *list = PyList_New(0);
  for (int i = 0; list && i < sw_profile_mesh_count(p); i++) {
    sw_text t = {0};
    sw_mesh_print(sw_profile_mesh(p, i), &t);
    PyObject *text = text_or_failure(&t, SW_OK, NULL);
    if (!text || PyList_Append(list, text)) Py_CLEAR(list);
    Py_XDECREF(text);
  }
  return list;
}

/* machine(hw, changes, devices) -> dict */
static PyObject *core_machine(PyObject *module, PyObject *args) {
  (void)module;
  const char *hw;
  PyObject *changes, *out = NULL;
  long long devices;
  const char *const *texts;
  int n;
  sw_arena arena = {0};
  const sw_profile *p;
  heard told = {0};
  sw_diag d = {0};
  if (!PyArg_ParseTuple(args, "sOL", &hw, &changes, &devices)) return NULL;
  if (take_texts(changes, &arena, &texts, &n)) {
    const sw_profile_reading reading = {texts, n, hear, &told};
    sw_rc rc = sw_profile_read_with(hw, &reading, &arena, &p, &d);
    if (!rc && devices) rc = sw_profile_with_devices(p, devices, &arena, &p, &d);
    if (rc)
      raise_failure(&d, &told.wrong);
    else
      out = Py_BuildValue("{s:s,s:z,s:L,s:L,s:N}", "name", sw_profile_name(p), "compiler", sw_profile_compiler(p),
                          "devices", (long long)sw_profile_devices(p), "memory_bytes",
                          (long long)sw_profile_memory_bytes(p), "meshes", meshes_of(p));
  }
  forget(&told);
  sw_arena_deinit(&arena);
  return out;
}

/* profiles() -> names of those that come with the library */
static PyObject *core_profiles(PyObject *module, PyObject *unused) {
  (void)module, (void)unused;
  const char *const *names;
  int n;
  sw_arena arena = {0};
  sw_diag d = {0};
  PyObject *list = sw_profile_names(&arena, &names, &n, &d) ? raise_failure(&d, NULL) : PyList_New(0);
  for (int i = 0; list && i < n; i++) {
    PyObject *name = PyUnicode_FromString(names[i]);
    if (!name || PyList_Append(list, name)) Py_CLEAR(list);
    Py_XDECREF(name);
  }
  sw_arena_deinit(&arena);
  return list;
}

/* As a dict. */
static PyObject *trips_of(const sw_plan_head *head) {
  PyObject *all = PyDict_New();
  for (int32_t i = 0; all && i < head->n_trips; i++) {
    PyObject *n = PyLong_FromLongLong(head->trips[i].trips);
    if (!n || PyDict_SetItemString(all, head->trips[i].loop, n)) Py_CLEAR(all);
    Py_XDECREF(n);
  }
  return all;
}

/* plan_is_for(path) -> (mesh, name of the profile, compiler, overlap, {loop: trips}) */
static PyObject *core_plan_is_for(PyObject *module, PyObject *args) {
  (void)module;
  const char *path;
  sw_arena arena = {0};
  sw_plan_head head;
  sw_diag d = {0};
  sw_text t = {0};
  if (!PyArg_ParseTuple(args, "s", &path)) return NULL;
  sw_rc rc = sw_plan_read_head(path, &arena, &head, &d);
  if (!rc) sw_mesh_print(&head.mesh, &t);
  PyObject *text = text_or_failure(&t, rc, &d);
  PyObject *out =
      text ? Py_BuildValue("(NsssN)", text, head.profile, head.compiler, head.overlap, trips_of(&head)) : NULL;
  sw_arena_deinit(&arena);
  return out;
}

/* parse_bytes("80GB") -> int */
static PyObject *core_parse_bytes(PyObject *module, PyObject *args) {
  (void)module;
  const char *text;
  int64_t bytes;
  sw_diag d = {0};
  if (!PyArg_ParseTuple(args, "s", &text)) return NULL;
  if (sw_parse_bytes(text, "memory", &bytes, &d)) return raise_failure(&d, NULL);
  return PyLong_FromLongLong(bytes);
}

/* --- the module --------------------------------------------------------------------------------------------------- */

static PyMethodDef functions[] = {
    {"mesh", core_mesh, METH_VARARGS, NULL},
    {"machine", core_machine, METH_VARARGS, NULL},
    {"profiles", core_profiles, METH_NOARGS, "Names of the hardware profiles that come with the library."},
    {"plan_is_for", core_plan_is_for, METH_VARARGS, NULL},
    {"parse_bytes", core_parse_bytes, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL}};

static struct PyModuleDef definition = {PyModuleDef_HEAD_INIT, .m_name = "_core", .m_doc = "Calls of libshardwright.",
                                        .m_size = -1, .m_methods = functions};

static const char *own_name(const char *qualified) { return strrchr(qualified, '.') + 1; }

static bool add_errors(PyObject *module) {
  base_error = PyErr_NewExceptionWithDoc("shardwright.Error",
                                         "What the library refuses or cannot do; as the tool says it.", NULL, NULL);
  if (!base_error || PyModule_AddObjectRef(module, "Error", base_error)) return false;
  for (int i = 0; i < N_ERRORS; i++) {
    PyObject *bases = errors[i].other_base ? PyTuple_Pack(2, base_error, *errors[i].other_base) : Py_NewRef(base_error);
    if (!bases) return false;
    errors[i].type = PyErr_NewExceptionWithDoc(errors[i].name, errors[i].doc, bases, NULL);
    Py_DECREF(bases);
    if (!errors[i].type || PyModule_AddObjectRef(module, own_name(errors[i].name), errors[i].type)) return false;
  }
  return true;
}

static bool add_type(PyObject *module, PyType_Spec *spec, PyTypeObject **out) {
  *out = (PyTypeObject *)PyType_FromSpec(spec);
  return *out && PyModule_AddObjectRef(module, own_name(spec->name), (PyObject *)*out) == 0;
}

PyMODINIT_FUNC PyInit__core(void);
PyMODINIT_FUNC PyInit__core(void) {
  PyObject *module = PyModule_Create(&definition);
  if (module && add_errors(module) && add_type(module, &cancel_spec, &cancel_type) &&
      add_type(module, &problem_spec, &problem_type) && add_type(module, &plan_spec, &plan_type))
    return module;
  Py_XDECREF(module);
  return NULL;
}
