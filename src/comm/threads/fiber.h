/* Fibers: stacks that take turns on one thread. The thread that made a fiber is the only one that ever runs it. */
#ifndef SRC_COMM_FIBER_H_
#define SRC_COMM_FIBER_H_

#include <stddef.h>

#include "shardwright/arena.h"

typedef struct sw_fiber {
  void *sp; /* where it stopped */
  char *mapped, *stack;
  size_t mapped_bytes, stack_bytes;
  void (*main)(void *user);
  void *user;
  bool ended;
  void *sanitizer, *fake_stack; /* the sanitizers' record of this stack */
} sw_fiber;

/* A stack of its own with a guard page below; `main` starts at the first sw_fiber_resume. */
SW_CHECKED sw_rc sw_fiber_init(sw_fiber *f, size_t stack_bytes, void (*main)(void *user), void *user, sw_diag *d);
void sw_fiber_deinit(sw_fiber *f);
/* Run it until it yields or ends; called on the thread's own stack. */
void sw_fiber_resume(sw_fiber *f);
/* Back to who resumed; called on a fiber. */
void sw_fiber_yield(void);

#endif
