/* Messages for people. The library prints none: they go to whoever asks for them, who is nobody at first.
 *
 * Process-wide; safe from any thread.
 */
#ifndef SHARDWRIGHT_LOG_H_
#define SHARDWRIGHT_LOG_H_

#include "shardwright/status.h"

typedef enum sw_log_level { SW_LOG_QUIET, SW_LOG_WARN, SW_LOG_INFO, SW_LOG_DEBUG } sw_log_level;

/* Takes one message, of one line or more, without a newline at its end; it is valid during the call. Called by one
 * thread at a time, on the thread that has the message to tell; logs nothing itself. */
typedef void (*sw_log_write)(void *user, sw_log_level level, const char *text);

SW_API void sw_log_to(sw_log_write write, void *user); /* NULL: nobody */
SW_API void sw_log_set_level(sw_log_level level);      /* at first SW_LOG_WARN */
SW_API sw_log_level sw_log_get_level(void);
/* Messages longer than 1023 bytes are cut. */
SW_API void sw_log(sw_log_level level, const char *fmt, ...) SW_PRINTF(2, 3);

#endif
