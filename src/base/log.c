#include "shardwright/log.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_int g_level = SW_LOG_WARN;
static struct {
  pthread_mutex_t lock;
  sw_log_write write;
  void *user;
} g_log = {.lock = PTHREAD_MUTEX_INITIALIZER};

void sw_log_to(sw_log_write write, void *user) {
  pthread_mutex_lock(&g_log.lock);
  g_log.write = write;
  g_log.user = user;
  pthread_mutex_unlock(&g_log.lock);
}

void sw_log_set_level(sw_log_level level) { atomic_store(&g_level, (int)level); }
sw_log_level sw_log_get_level(void) { return (sw_log_level)atomic_load(&g_level); }

void sw_log(sw_log_level level, const char *fmt, ...) {
  if ((int)level > atomic_load(&g_level)) return;
  char text[1024];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(text, sizeof text, fmt, ap);
  va_end(ap);
  pthread_mutex_lock(&g_log.lock);
  if (g_log.write) g_log.write(g_log.user, level, text);
  pthread_mutex_unlock(&g_log.lock);
}
