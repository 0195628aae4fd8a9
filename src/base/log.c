#include "shardwright/log.h"

#include <stdatomic.h>

static atomic_int g_level = SW_LOG_WARN;

void sw_log_set_level(sw_log_level level) { atomic_store(&g_level, (int)level); }
sw_log_level sw_log_get_level(void) { return (sw_log_level)atomic_load(&g_level); }

void sw_log(sw_log_level level, const char *fmt, ...) {
  if ((int)level > atomic_load(&g_level)) return;
  char line[1024]; /* one write per message, so that threads do not mix */
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(line, sizeof line, fmt, ap);
  va_end(ap);
  fprintf(stderr, "%s%s\n", level == SW_LOG_WARN ? "warning: " : "", line);
}
