/* OpenBLAS as a guest: it starts threads of its own while its library is loaded, and asks for work space again and
 * again until it gets some. Where address space is limited, neither would ever end. */
#include <cblas.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "exec/kernels/lapack_calls.h"

/* What a call maps at its first use and keeps (BUFFER_SIZE of OpenBLAS), one for all calls at the same time. */
enum { WORK_SPACE_MB = 128, SPARE_MB = 32 };

static struct {
  pthread_once_t once;
  bool limited; /* one call at a time, so that one work space is enough */
  pthread_mutex_t turn;
  bool has_space;
} g_blas = {.once = PTHREAD_ONCE_INIT, .turn = PTHREAD_MUTEX_INITIALIZER};

static bool is_limited(__rlimit_resource_t what) {
  struct rlimit r;
  return getrlimit(what, &r) == 0 && r.rlim_cur != RLIM_INFINITY;
}

static void blas_init(void) { g_blas.limited = is_limited(RLIMIT_AS) || is_limited(RLIMIT_DATA); }

/* Room for the work space is seen to be there, with some more for what others take meanwhile, then taken. */
static bool take_space(void) {
  const size_t bytes = (size_t)(WORK_SPACE_MB + SPARE_MB) << 20;
  const float one = 1;
  float product;
  void *room = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return false;
  munmap(room, bytes);
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, 1, 1, 1, 1, &one, 1, &one, 1, 0, &product, 1);
  return true;
}

sw_rc sw_blas_enter(sw_diag *d) {
  (void)pthread_once(&g_blas.once, blas_init);
  if (!g_blas.limited) return SW_OK;
  pthread_mutex_lock(&g_blas.turn);
  if (!g_blas.has_space) g_blas.has_space = take_space();
  if (g_blas.has_space) return SW_OK;
  pthread_mutex_unlock(&g_blas.turn);
  return SW_FAIL(
      d, SW_E_RESOURCE, SW_NOWHERE,
      "the limit on address space leaves no room for the work space of matrix products; expected %d MiB more",
      WORK_SPACE_MB + SPARE_MB);
}

void sw_blas_leave(void) {
  if (g_blas.limited) pthread_mutex_unlock(&g_blas.turn);
}
