#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include "shardwright/text.h"

bool sw_path_ends_in(const char *path, const char *ending) {
  const size_t n = strlen(path), m = strlen(ending);
  return n > m && strcmp(path + n - m, ending) == 0;
}

const char *sw_path_base(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

/* What is wrong with the path is the user's matter, the rest the machine's. */
static sw_rc io_error(sw_diag *d, const char *path, const char *verb) {
  static const int kPath[] = {ENOENT, EISDIR, EACCES, ENOTDIR, ENAMETOOLONG, ELOOP, EPERM, EROFS};
  sw_rc rc = SW_E_RESOURCE;
  for (size_t i = 0; i < sizeof kPath / sizeof kPath[0]; i++) rc = errno == kPath[i] ? SW_E_INPUT : rc;
  if (errno == EINTR) rc = SW_E_CANCELLED; /* waiting for who writes or reads a pipe */
  return SW_FAIL(d, rc, ((sw_span){path, 0, 0}), "cannot %s: %s", verb, strerror(errno));
}

static const char *shown(const char *path) { return strcmp(path, "-") == 0 ? "<stdin>" : path; }

/* --- reading ------------------------------------------------------------------------------------------------------ */

enum { PIECE_BYTES = 1 << 18 };

struct sw_file_stream {
  const char *path; /* for messages */
  int fd;
  int64_t read_bytes;
  bool began, ended;      /* ended: there is no more than `raw` has */
  bool packed, in_member; /* gzip: members, one behind the other */
  z_stream z;             /* next_in, avail_in: what is left in `raw` */
  unsigned char raw[PIECE_BYTES + 1];
  char piece[PIECE_BYTES + 1];
};

static sw_rc check_opened(const char *path, int fd, sw_diag *d) {
  struct stat st;
  if (fd < 0) return io_error(d, path, "open");
  if (fstat(fd, &st) != 0 || !S_ISDIR(st.st_mode)) return SW_OK;
  errno = EISDIR;
  return io_error(d, path, "read");
}

sw_rc sw_file_open(const char *path, sw_file_stream **out, sw_diag *d) {
  int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
  sw_rc rc = check_opened(path, fd, d);
  sw_file_stream *s = rc ? NULL : sw_mem_alloc(1, sizeof *s, d);
  *out = s;
  if (!s && fd >= 0) close(fd);
  if (!s) return rc ? rc : SW_E_RESOURCE;
  s->path = path;
  s->fd = fd;
  s->z.next_in = s->raw;
  return SW_OK;
}

void sw_file_close(sw_file_stream *s) {
  if (!s) return;
  if (s->packed) inflateEnd(&s->z);
  close(s->fd);
  sw_mem_free(s);
}

/* More behind what is left. */
static sw_rc fill(sw_file_stream *s, sw_diag *d) {
  memmove(s->raw, s->z.next_in, s->z.avail_in);
  s->z.next_in = s->raw;
  ssize_t n = read(s->fd, s->raw + s->z.avail_in, PIECE_BYTES - s->z.avail_in);
  if (n < 0) return io_error(d, s->path, "read");
  s->z.avail_in += (unsigned)n;
  s->read_bytes += n;
  s->ended = n == 0;
  return SW_OK;
}

static sw_rc packed_error(const sw_file_stream *s, const char *what, sw_diag *d) {
  return SW_FAIL_INPUT(d, ((sw_span){s->path, 0, 0}), "%s, at byte %lld of the gzip data", what,
                       (long long)(s->read_bytes - s->z.avail_in));
}

/* Does a gzip member begin here? */
static sw_rc look_for_gzip(sw_file_stream *s, bool *is_there, sw_diag *d) {
  while (s->z.avail_in < 2 && !s->ended) SW_TRY(fill(s, d));
  *is_there = s->z.avail_in >= 2 && s->z.next_in[0] == 0x1f && s->z.next_in[1] == 0x8b;
  return SW_OK;
}

/* Files that are packed otherwise are refused by the name of what packed them. */
static sw_rc check_packing(sw_file_stream *s, sw_diag *d) {
  static const struct {
    const char *mark;
    unsigned n;
    const char *name;
  } kPackings[] = {{"\x28\xb5\x2f\xfd", 4, "zstd"},
                   {"\xfd\x37\x7a\x58\x5a\0", 6, "xz"},
                   {"BZh", 3, "bzip2"},
                   {"\x04\x22\x4d\x18", 4, "lz4"},
                   {"PK\3\4", 4, "zip"}};
  while (s->z.avail_in < 6 && !s->ended) SW_TRY(fill(s, d));
  for (size_t i = 0; i < sizeof kPackings / sizeof *kPackings; i++) {
    if (s->z.avail_in < kPackings[i].n || memcmp(s->z.next_in, kPackings[i].mark, kPackings[i].n) != 0) continue;
    return SW_FAIL_INPUT(d, ((sw_span){shown(s->path), 0, 0}), "the file is compressed with %s; expected text or gzip",
                         kPackings[i].name);
  }
  return SW_OK;
}

static sw_rc begin(sw_file_stream *s, sw_diag *d) {
  s->began = true;
  SW_TRY(check_packing(s, d));
  SW_TRY(look_for_gzip(s, &s->in_member, d));
  if (!s->in_member) return SW_OK;
  s->packed = inflateInit2(&s->z, 16 + MAX_WBITS) == Z_OK;
  return s->packed ? SW_OK : SW_FAIL(d, SW_E_RESOURCE, ((sw_span){s->path, 0, 0}), "out of memory while opening");
}

/* Behind a member another one, or nothing. */
static sw_rc next_member(sw_file_stream *s, sw_diag *d) {
  SW_TRY(look_for_gzip(s, &s->in_member, d));
  if (s->in_member) return inflateReset(&s->z) == Z_OK ? SW_OK : packed_error(s, "cannot go on", d);
  return s->z.avail_in == 0 ? SW_OK : packed_error(s, "junk; expected the end or another member", d);
}

static sw_rc unpack(sw_file_stream *s, sw_diag *d) {
  s->z.next_out = (unsigned char *)s->piece;
  s->z.avail_out = PIECE_BYTES;
  while (s->z.avail_out == PIECE_BYTES) {
    if (!s->in_member) SW_TRY(next_member(s, d));
    if (!s->in_member) return SW_OK;
    if (s->z.avail_in == 0) SW_TRY(fill(s, d));
    if (s->z.avail_in == 0) return packed_error(s, "cut short: the end of the file in the middle of a member", d);
    int code = inflate(&s->z, Z_NO_FLUSH);
    if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
      return packed_error(s, s->z.msg ? s->z.msg : "not gzip", d);
    s->in_member = code != Z_STREAM_END;
  }
  return SW_OK;
}

sw_rc sw_file_next(sw_file_stream *s, const char **piece, size_t *n, sw_diag *d) {
  if (!s->began) SW_TRY(begin(s, d));
  if (s->packed) {
    SW_TRY(unpack(s, d));
    *n = PIECE_BYTES - s->z.avail_out;
    s->piece[*n] = 0;
    *piece = s->piece;
    return SW_OK;
  }
  if (s->z.avail_in == 0) SW_TRY(fill(s, d));
  *n = s->z.avail_in;
  *piece = (const char *)s->z.next_in;
  s->z.next_in[*n] = 0;
  s->z.next_in += *n;
  s->z.avail_in = 0;
  return SW_OK;
}

/* The first piece is looked at as it comes: what is refused may have no end. */
static sw_rc read_all(sw_file_stream *s, sw_file_check check, sw_text *t, sw_diag *d) {
  const char *piece;
  size_t n;
  do {
    SW_TRY(sw_file_next(s, &piece, &n, d));
    if (check && t->n == 0) SW_TRY(check(shown(s->path), piece, n, d));
    sw_text_append(t, piece, n);
    if (check && t->n > INT32_MAX)
      return SW_FAIL_INPUT(d, ((sw_span){s->path, 0, 0}), "a text of more than 2 GiB; expected a shorter one");
  } while (n > 0 && !t->rc);
  return t->rc ? SW_FAIL(d, SW_E_RESOURCE, ((sw_span){s->path, 0, 0}), "out of memory while reading") : SW_OK;
}

static sw_rc read_file(const char *path, sw_file_check check, char **bytes, size_t *n, sw_diag *d) {
  sw_file_stream *s;
  struct stat st;
  SW_TRY(sw_file_open(path, &s, d));
  /* As much as the file says, so that long ones are not copied again and again; what is packed gets more later. */
  sw_text t = {.cap = 2 + (fstat(s->fd, &st) == 0 && S_ISREG(st.st_mode) ? (size_t)st.st_size : 0)};
  t.at = sw_mem_alloc(t.cap, 1, d);
  sw_rc rc = t.at ? read_all(s, check, &t, d) : SW_E_RESOURCE;
  sw_file_close(s);
  if (rc) {
    sw_text_free(&t);
    return rc;
  }
  *bytes = t.at;
  *n = t.n;
  return SW_OK;
}

sw_rc sw_file_read(const char *path, char **bytes, size_t *n, sw_diag *d) { return read_file(path, NULL, bytes, n, d); }

/* Marks of encodings that are not ours, the longer ones first. */
static const struct {
  const char *mark;
  size_t n;
  const char *name;
} kMarks[] = {
    {"\xff\xfe\0\0", 4, "text in UTF-32"},
    {"\0\0\xfe\xff", 4, "text in UTF-32"},
    {"\xff\xfe", 2, "text in UTF-16"},
    {"\xfe\xff", 2, "text in UTF-16"},
    {"\xef\xbb\xbf", 3, "a byte order mark (EF BB BF)"},
};

sw_rc sw_check_text(const char *path, const char *bytes, size_t n, sw_diag *d) {
  for (size_t i = 0; i < sizeof kMarks / sizeof kMarks[0]; i++) {
    if (n >= kMarks[i].n && memcmp(bytes, kMarks[i].mark, kMarks[i].n) == 0)
      return SW_FAIL_INPUT(d, ((sw_span){path, 1, 1}), "the file begins with %s; expected plain UTF-8", kMarks[i].name);
  }
  const char *nul = n ? memchr(bytes, 0, n) : NULL;
  if (!nul) return SW_OK;
  if (n >= 2 && nul - bytes < 2 && (bytes[0] || bytes[1]))
    return SW_FAIL_INPUT(d, ((sw_span){path, 1, 1}), "the file looks like text in UTF-16; expected UTF-8");
  sw_span at = {path, 1, 1};
  for (const char *p = bytes; p < nul; p++) {
    at.line += *p == '\n';
    at.col = *p == '\n' ? 1 : at.col + 1;
  }
  return SW_FAIL_INPUT(d, at, "a byte 0; expected text");
}

sw_rc sw_file_read_checked(const char *path, sw_file_check check, char **bytes, size_t *n, sw_diag *d) {
  SW_TRY(read_file(path, check, bytes, n, d));
  sw_rc rc = check(shown(path), *bytes, *n, d);
  if (!rc) return SW_OK;
  sw_mem_free(*bytes);
  *bytes = NULL;
  return rc;
}

sw_rc sw_file_read_text(const char *path, char **bytes, size_t *n, sw_diag *d) {
  return sw_file_read_checked(path, sw_check_text, bytes, n, d);
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

/* Where writing to a path lands: behind all links, whether or not anything is there yet. */
static bool resolve(const char *path, char out[PATH_MAX]) {
  char at[PATH_MAX], other[PATH_MAX];
  if (strlen(path) >= PATH_MAX) return errno = ENAMETOOLONG, false;
  memcpy(at, path, strlen(path) + 1);
  for (int links = 0; links < 40; links++) {
    if (realpath(at, out)) return true;
    size_t n_folder = (size_t)(sw_path_base(at) - at);
    ssize_t n = readlink(at, other, sizeof other - 1);
    if (n < 0) { /* nothing there */
      memcpy(other, at, n_folder);
      other[n_folder] = 0;
      if (!realpath(n_folder ? other : ".", out)) return false;
      size_t end = strlen(out);
      return snprintf(out + end, PATH_MAX - end, "/%s", at + n_folder) < (int)(PATH_MAX - end);
    }
    if (other[0] == '/') n_folder = 0;
    if (n_folder + (size_t)n >= PATH_MAX) return errno = ENAMETOOLONG, false;
    memcpy(at + n_folder, other, (size_t)n);
    at[n_folder + (size_t)n] = 0;
  }
  return errno = ELOOP, false;
}

static bool is_standard(const char *path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0; }

bool sw_file_same(const sw_file_use *a, const sw_file_use *b) {
  struct stat of[2];
  char at[2][PATH_MAX];
  bool there[2];
  const sw_file_use *use[2] = {a, b};
  for (int i = 0; i < 2; i++) {
    bool standard = use[i]->written ? is_standard(use[i]->path) : strcmp(use[i]->path, "-") == 0;
    there[i] = (standard ? fstat(use[i]->written, &of[i]) : stat(use[i]->path, &of[i])) == 0;
    if (!standard && (!resolve(use[i]->path, at[i]) || (!there[i] && !use[i]->written))) return false;
    if (standard) at[i][0] = 0;
  }
  if (!*at[0] && !*at[1]) return a->written && b->written;
  if (there[0] && there[1])
    return S_ISREG(of[0].st_mode) && of[0].st_dev == of[1].st_dev && of[0].st_ino == of[1].st_ino;
  return *at[0] && strcmp(at[0], at[1]) == 0;
}

sw_rc sw_file_can_write(const char *path, sw_diag *d) {
  char at[PATH_MAX];
  struct stat st;
  if (is_standard(path)) return SW_OK;
  if (!resolve(path, at)) return io_error(d, path, "write");
  bool there = stat(at, &st) == 0;
  errno = EISDIR;
  if (there && S_ISDIR(st.st_mode)) return io_error(d, path, "write");
  if (there && access(at, W_OK) != 0 && !S_ISREG(st.st_mode)) return io_error(d, path, "write");
  if (there && !S_ISREG(st.st_mode)) return SW_OK;
  char *slash = strrchr(at, '/'); /* what is written lies beside it for a while */
  slash[slash == at] = 0;
  return access(at, W_OK | X_OK) == 0 ? SW_OK : io_error(d, path, "write");
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
  sigset_t all, before; /* a signal that ends the process waits until nothing lies beside the file */
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, &before);
  int fd = open(tmp.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  bool ok = fd >= 0 && write_fully(fd, bytes, n);
  if (fd >= 0) ok = close(fd) == 0 && ok;
  ok = ok && rename(tmp.at, path) == 0;
  sw_rc rc = ok ? SW_OK : io_error(d, path, "write");
  if (!ok && fd >= 0) unlink(tmp.at);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
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
  if (is_standard(path)) return write_fully(1, bytes, n) ? SW_OK : io_error(d, path, "write");
  struct stat st;
  if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) return write_into(path, bytes, n, d);
  char real[PATH_MAX]; /* a link stays one */
  return replace_file(resolve(path, real) ? real : path, bytes, n, d);
}
