/* Messages for people, on stderr. Process-wide level; safe from any thread. */
#ifndef SHARDWRIGHT_LOG_H_
#define SHARDWRIGHT_LOG_H_

#include "shardwright/status.h"

typedef enum sw_log_level { SW_LOG_QUIET, SW_LOG_WARN, SW_LOG_INFO, SW_LOG_DEBUG } sw_log_level;

SW_API void sw_log_set_level(sw_log_level level); /* at first SW_LOG_WARN */
SW_API sw_log_level sw_log_get_level(void);
SW_API void sw_log(sw_log_level level, const char *fmt, ...) SW_PRINTF(2, 3);

#endif
