#include "shardwright/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "shardwright/text.h"

const char *sw_path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

static sw_rc io_error(sw_diag *d, const char *path, const char *verb) {
  sw_rc rc = errno == ENOENT || errno == EISDIR || errno == EACCES ? SW_E_INPUT : SW_E_RESOURCE;
  return SW_FAIL(d, rc, ((sw_span){path, 0, 0}), "cannot %s: %s", verb, strerror(errno));
}

/* zlib's gzread passes bytes through unchanged when they are not gzip, so one loop serves both. */
static sw_rc read_all(gzFile in, const char *path, sw_text *t, sw_diag *d) {
  enum { CHUNK = 1 << 18 };
  char *chunk;
  SW_MEM_NEW(chunk, CHUNK, d);
  int n;
  while ((n = gzread(in, chunk, CHUNK)) > 0) sw_text_append(t, chunk, (size_t)n);
  sw_mem_free(chunk);
  int code;
  const char *why = gzerror(in, &code);
  if (n < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    if (code == Z_ERRNO) return io_error(d, path, "read");
    return SW_FAIL_INPUT(d, ((sw_span){path, 0, 0}), "cannot read: %s", why);
  }
  return t->rc ? SW_FAIL(d, SW_E_RESOURCE, ((sw_span){path, 0, 0}), "out of memory while reading") : SW_OK;
}

sw_rc sw_file_read(const char *path, char **bytes, size_t *n, sw_diag *d) {
  int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
  struct stat st;
  if (fd >= 0 && fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
    close(fd);
    errno = EISDIR;
    return io_error(d, path, "read");
  }
  if (fd < 0) return io_error(d, path, "open");
  gzFile in = gzdopen(fd, "rb");
  if (!in) {
    close(fd);
    return SW_FAIL(d, SW_E_RESOURCE, ((sw_span){path, 0, 0}), "out of memory while opening");
  }
  gzbuffer(in, 1 << 17);
  /* As much as the file says, so that long ones are not copied again and again; what is packed gets more later. */
  sw_text t = {.cap = 2 + (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0)};
  t.at = sw_mem_alloc(t.cap, 1, d);
  sw_rc rc = t.at ? read_all(in, path, &t, d) : SW_E_RESOURCE;
  gzclose(in);
  if (rc) {
    sw_text_free(&t);
    return rc;
  }
  *bytes = t.at;
  *n = t.n;
  return SW_OK;
}

static bool write_fully(int fd, const char *p, size_t n) {
  while (n) {
    ssize_t w = write(fd, p, n);
    if (w < 0 && errno == EINTR) continue;
    if (w < 0) return false;
    p += w;
    n -= (size_t)w;
  }
  return true;
}

/* Beside the file and over it. */
static sw_rc replace_file(const char *path, const void *bytes, size_t n, sw_diag *d) {
  sw_text tmp = {0};
  sw_text_printf(&tmp, "%s.%ld.tmp", path, (long)getpid());
  if (tmp.rc) return SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory");
  int fd = open(tmp.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool ok = fd >= 0 && write_fully(fd, bytes, n);
  if (fd >= 0) ok = close(fd) == 0 && ok;
  ok = ok && rename(tmp.at, path) == 0;
  sw_rc rc = ok ? SW_OK : io_error(d, path, "write");
  if (!ok && fd >= 0) unlink(tmp.at);
  sw_text_free(&tmp);
  return rc;
}

/* /dev/null, a pipe: nothing to rename over. */
static sw_rc write_into(const char *path, const void *bytes, size_t n, sw_diag *d) {
  int fd = open(path, O_WRONLY | O_CLOEXEC);
  bool ok = fd >= 0 && write_fully(fd, bytes, n);
  sw_rc rc = ok ? SW_OK : io_error(d, path, "write");
  if (fd >= 0) close(fd);
  return rc;
}

sw_rc sw_file_write(const char *path, const void *bytes, size_t n, sw_diag *d) {
  const bool standard = strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0;
  if (standard) return write_fully(1, bytes, n) ? SW_OK : io_error(d, path, "write");
  struct stat st;
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_into(path, bytes, n, d);
  char real[PATH_MAX]; /* a link stays one */
  return replace_file(realpath(path, real) ? real : path, bytes, n, d);
}
