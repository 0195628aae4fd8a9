/* Outcome of a call, and the record that explains a failure.
 *
 * Every function that can fail returns sw_rc and takes a caller-owned sw_diag as its last argument. The record is
 * filled where the failure is found and gains notes on the way up; nothing is printed or allocated. A thread has its
 * own record. Example of a record as sw_diag_print shows it:
 *
 *   gpt2.json:14:40: error: axis 'modle' is not in the mesh; expected one of x, y
 *     note: while reading the sharding of value 'h0'
 *
 * What holds for all public headers, where a function does not say otherwise:
 * - Threads. Functions keep no state of their own between calls. Objects may be read from several threads at once, and
 *   are written by one. Exceptions are process-wide and say so: sw_log_to, sw_mem_fail_after.
 * - Ownership. `const` pointers in structs are borrowed. What takes an arena makes things that live until the arena is
 *   freed; what is made by _create or returned as `T **out` without an arena is the caller's, who passes it to
 *   _destroy.
 * - ABI. Structs are laid out in these headers and grow; so library and headers are of one minor version, which is what
 *   the shared libraries' names say. Option structs are zero-initialised first, so that new fields have their defaults.
 */
#ifndef SHARDWRIGHT_STATUS_H_
#define SHARDWRIGHT_STATUS_H_

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__cplusplus)
#define SW_LINKAGE extern "C"
#else
#define SW_LINKAGE
#endif
#define SW_CHECKED __attribute__((warn_unused_result))
#define SW_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
/* What other libraries may call: hidden is the rule, and in C++ it is C's. */
#define SW_API SW_LINKAGE __attribute__((visibility("default")))

/* The values are the exit codes of the command-line tool. */
typedef enum sw_rc {
  SW_OK = 0,
  SW_E_INPUT = 1,       /* a file or text from the user is wrong */
  SW_E_USAGE = 2,       /* the command line is wrong */
  SW_E_INFEASIBLE = 3,  /* proven: no plan fits, or pins that cannot be met */
  SW_E_MISMATCH = 4,    /* validation found a difference */
  SW_E_RESOURCE = 5,    /* I/O, memory, a device failure, or time up with nothing to show */
  SW_E_BUG = 70,        /* internal inconsistency: please report */
  SW_E_CANCELLED = 130, /* interrupted */
} sw_rc;

/* A place in a file of the user. Lines and columns count from 1; 0 means unknown. `file` is borrowed. */
typedef struct sw_span {
  const char *file;
  int32_t line;
  int32_t col;
} sw_span;

#define SW_NOWHERE ((sw_span){NULL, 0, 0})

enum { SW_DIAG_TEXT_BYTES = 640, SW_DIAG_FILE_BYTES = 256, SW_DIAG_NOTES = 6, SW_DIAG_NOTE_BYTES = 240 };

/* Zero-initialised = no failure recorded. */
typedef struct sw_diag {
  sw_rc rc;
  char file[SW_DIAG_FILE_BYTES];
  int32_t line, col;
  const char *raised_file; /* where in our own source; static storage */
  int raised_line;
  int n_notes; /* may exceed SW_DIAG_NOTES: the surplus was dropped */
  char text[SW_DIAG_TEXT_BYTES];
  char notes[SW_DIAG_NOTES][SW_DIAG_NOTE_BYTES];
} sw_diag;

/* Record a failure and return `rc`. A record that already holds one is overwritten. `d` may be NULL. */
SW_API sw_rc sw_diag_fail(sw_diag *d, sw_rc rc, sw_span at, const char *src_file, int src_line, const char *fmt, ...)
    SW_PRINTF(6, 7);
/* Add a note (outer context) to a recorded failure. */
SW_API void sw_diag_note(sw_diag *d, const char *fmt, ...) SW_PRINTF(2, 3);
/* Print as shown above; `with_origin` adds our own file and line. */
SW_API void sw_diag_print(const sw_diag *d, FILE *out, bool with_origin);
SW_API const char *sw_rc_text(sw_rc rc);

/* SW_FAIL(...) is `rc` itself: an inline function, so that compilers and analysers see which value a failing path
 * returns. */
static inline sw_rc sw_failed_(sw_rc rc, sw_rc recorded) {
  (void)recorded;
  return rc;
}
#define SW_FAIL(d, rc, at, ...) sw_failed_((rc), sw_diag_fail((d), (rc), (at), __FILE__, __LINE__, __VA_ARGS__))
#define SW_FAIL_INPUT(d, at, ...) SW_FAIL(d, SW_E_INPUT, at, __VA_ARGS__)
#define SW_BUG(d, ...) SW_FAIL(d, SW_E_BUG, SW_NOWHERE, "internal: " __VA_ARGS__)

#define SW_TRY(expr)                   \
  do {                                 \
    sw_rc sw_try_rc_ = (expr);         \
    if (sw_try_rc_) return sw_try_rc_; \
  } while (0)

#define SW_TRY_NOTE(d, expr, ...)     \
  do {                                \
    sw_rc sw_try_rc_ = (expr);        \
    if (sw_try_rc_) {                 \
      sw_diag_note((d), __VA_ARGS__); \
      return sw_try_rc_;              \
    }                                 \
  } while (0)

/* For functions that must undo something: needs a local `sw_rc rc` and a label. */
#define SW_TRY_TO(label, expr) \
  do {                         \
    rc = (expr);               \
    if (rc) goto label;        \
  } while (0)

#endif
