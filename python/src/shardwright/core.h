/* What the parts of the extension module share. They see the public headers of the library and CPython's limited API.
 *
 * Nothing here keeps the interpreter's lock while the library works: a call copies what it needs of Python's objects,
 * releases the lock, and looks at no Python object until it has it again. */
#ifndef SHARDWRIGHT_PYTHON_CORE_H_
#define SHARDWRIGHT_PYTHON_CORE_H_

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <shardwright/shardwright.h>

/* What a reader has to say besides the failure that it returns. */
typedef struct heard {
  sw_text said;  /* warnings, SAID_END behind each */
  sw_text wrong; /* errors but the last, as the tool prints them */
} heard;
#define SAID_END '\x1e'
void hear(void *user, const sw_diag *d); /* `user`: a heard */
void forget(heard *h);

/* A model on a machine. */
typedef struct problem {
  PyObject_HEAD sw_arena arena;
  sw_opened opened;
  heard heard;
} problem;

/* A cancellation that another thread can ask for. */
typedef struct cancel {
  PyObject_HEAD sw_cancel flag;
} cancel;

extern PyType_Spec problem_spec, plan_spec, cancel_spec;
extern PyTypeObject *problem_type, *plan_type, *cancel_type; /* made when the module is */

/* Sets the exception that a failure is: its text is what the tool prints, behind `before` (NULL: nothing). */
PyObject *raise_failure(const sw_diag *d, const sw_text *before);
PyObject *raise_search_failure(const sw_diag *d, bool none_fits);  /* of a search: is it that no plan fits? */
PyObject *text_or_failure(sw_text *t, sw_rc rc, const sw_diag *d); /* frees the text */

/* A tuple or list of str as texts that live in the arena; false with an exception set. */
bool take_texts(PyObject *sequence, sw_arena *arena, const char *const **out, int *n);
const char *keep_text(sw_arena *arena, const char *text, sw_diag *d); /* NULL stays NULL */

/* Plans of a problem: methods of it, and functions that make one. */
PyObject *problem_search(PyObject *self, PyObject *args, PyObject *keywords);
PyObject *problem_baseline(PyObject *self, PyObject *args);
PyObject *problem_read_plan(PyObject *self, PyObject *args);

/* To make types whose instances own library objects. */
void free_instance(PyObject *self);

#endif
