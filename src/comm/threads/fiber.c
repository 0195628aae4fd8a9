/* Switching stacks: the registers that a call keeps are pushed on the one stack and popped from the other. On other
 * machines than x86-64 ucontext does it, with a system call per switch.
 */
#include "comm/threads/fiber.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define FIBER_TSAN 1
#endif
#if __has_feature(address_sanitizer)
#define FIBER_ASAN 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define FIBER_TSAN 1
#endif
#if defined(__SANITIZE_ADDRESS__)
#define FIBER_ASAN 1
#endif

#if defined(FIBER_TSAN)
#include <sanitizer/tsan_interface.h>
#endif
#if defined(FIBER_ASAN)
#include <sanitizer/common_interface_defs.h>
#endif

/* The thread's own stack, and the fiber that runs on the thread now. */
static _Thread_local sw_fiber home;
static _Thread_local sw_fiber *current;

#if defined(__x86_64__)

void sw_stack_switch(void **save, void *load);
__asm__(
    ".text\n"
    ".globl sw_stack_switch\n"
    ".hidden sw_stack_switch\n"
    ".type sw_stack_switch,@function\n"
    "sw_stack_switch:\n"
    "  pushq %rbp\n  pushq %rbx\n  pushq %r12\n  pushq %r13\n  pushq %r14\n  pushq %r15\n"
    "  movq %rsp, (%rdi)\n"
    "  movq %rsi, %rsp\n"
    "  popq %r15\n  popq %r14\n  popq %r13\n  popq %r12\n  popq %rbx\n  popq %rbp\n"
    "  ret\n"
    ".size sw_stack_switch,.-sw_stack_switch\n");

/* As if `entry` had been about to be returned to, with six saved registers below. */
static void *first_frame(sw_fiber *f, void (*entry)(void)) {
  uintptr_t *top = (uintptr_t *)(void *)(f->stack + f->stack_bytes);
  top[-1] = 0; /* nobody to return to */
  top[-2] = (uintptr_t)entry;
  memset(top - 8, 0, 6 * sizeof *top);
  return top - 8;
}

static void switch_stack(sw_fiber *from, sw_fiber *to) { sw_stack_switch(&from->sp, to->sp); }
static void free_frame(sw_fiber *f) { (void)f; }

#else

#include <ucontext.h>

static void *first_frame(sw_fiber *f, void (*entry)(void)) {
  ucontext_t *c = sw_mem_alloc(1, sizeof *c, NULL);
  if (!c || getcontext(c)) return NULL;
  c->uc_stack.ss_sp = f->stack;
  c->uc_stack.ss_size = f->stack_bytes;
  makecontext(c, entry, 0);
  return c;
}

static void switch_stack(sw_fiber *from, sw_fiber *to) {
  ucontext_t own;
  if (from == &home) from->sp = &own;
  (void)swapcontext(from->sp, to->sp);
}
static void free_frame(sw_fiber *f) { sw_mem_free(f->sp); }

#endif

/* Tell the sanitizers, then switch. A fiber that `dies` gives its fake stack back. */
static void switch_to(sw_fiber *from, sw_fiber *to, bool dies) {
#if defined(FIBER_TSAN)
  __tsan_switch_to_fiber(to->sanitizer, 0);
#endif
#if defined(FIBER_ASAN)
  __sanitizer_start_switch_fiber(dies ? NULL : &from->fake_stack, to->stack, to->stack_bytes);
#endif
  (void)dies;
  switch_stack(from, to);
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(from->fake_stack, NULL, NULL);
#endif
}

static void fiber_entry(void) {
#if defined(FIBER_ASAN)
  __sanitizer_finish_switch_fiber(NULL, (const void **)&home.stack, &home.stack_bytes);
#endif
  sw_fiber *f = current;
  f->main(f->user);
  f->ended = true;
  current = NULL;
  switch_to(f, &home, true);
}

sw_rc sw_fiber_init(sw_fiber *f, size_t stack_bytes, void (*main)(void *user), void *user, sw_diag *d) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE);
  *f = (sw_fiber){.main = main, .user = user, .stack_bytes = (stack_bytes + page - 1) / page * page};
  f->mapped_bytes = f->stack_bytes + page;
  void *at = mmap(NULL, f->mapped_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED)
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "no memory for a stack of %zu bytes: %s", f->mapped_bytes,
                   strerror(errno));
  f->mapped = at;
  f->stack = f->mapped + page;
  (void)mprotect(f->mapped, page, PROT_NONE);
  f->sp = first_frame(f, fiber_entry);
  if (!f->sp) {
    sw_fiber_deinit(f);
    return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "no memory for a context");
  }
#if defined(FIBER_TSAN)
  f->sanitizer = __tsan_create_fiber(0);
#endif
  return SW_OK;
}

void sw_fiber_deinit(sw_fiber *f) {
  if (!f->mapped) return;
#if defined(FIBER_TSAN)
  if (f->sanitizer) __tsan_destroy_fiber(f->sanitizer);
#endif
  free_frame(f);
  (void)munmap(f->mapped, f->mapped_bytes);
  f->mapped = NULL;
}

void sw_fiber_resume(sw_fiber *f) {
#if defined(FIBER_TSAN)
  home.sanitizer = __tsan_get_current_fiber();
#endif
  current = f;
  switch_to(&home, f, false);
}

void sw_fiber_yield(void) {
  sw_fiber *f = current;
  current = NULL;
  switch_to(f, &home, false);
}
