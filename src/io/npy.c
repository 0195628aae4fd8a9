/* .npy files: a magic, a version, the length of a header, the header as a Python dictionary, the elements.
 *
 *   \x93NUMPY \1 \0 <76> {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }      \n <24 bytes>
 */
#include "io/npy.h"

#include <string.h>

#include "base/checked.h"
#include "base/file.h"
#include "collective/scalar.h"
#include "shardwright/text.h"

/* How numpy names an element type, without the byte order; raw bits are given back as the dtype that is wanted. */
static const struct {
  const char *descr;
  sw_dtype dtype;
} kTypes[] = {{"f8", SW_F64}, {"f4", SW_F32},  {"f2", SW_F16}, {"i1", SW_I8},   {"i2", SW_I16},
              {"i4", SW_I32}, {"i8", SW_I64},  {"u1", SW_U8},  {"u2", SW_U16},  {"u4", SW_U32},
              {"u8", SW_U64}, {"b1", SW_BOOL}, {"c8", SW_C64}, {"c16", SW_C128}};
enum { N_TYPES = sizeof kTypes / sizeof kTypes[0], MAGIC_BYTES = 6, DESCR_BYTES = 8 };
static const char kMagic[MAGIC_BYTES + 1] = "\x93NUMPY";

typedef struct header {
  char descr[DESCR_BYTES];
  bool fortran;
  int rank;
  int64_t dims[SW_MAX_RANK];
  bool seen[3]; /* descr, fortran_order, shape */
} header;

typedef struct reader {
  const char *name, *start, *at, *end;
  sw_diag *d;
} reader;

static sw_rc bad(const reader *r, const char *what) {
  return SW_FAIL_INPUT(r->d, ((sw_span){r->name, 0, 0}), "not a readable .npy file: %s at byte %zu", what,
                       (size_t)(r->at - r->start));
}

static void skip_header_blanks(reader *r) {
  while (r->at < r->end && (*r->at == ' ' || *r->at == '\n' || *r->at == '\t')) r->at++;
}
static bool accept_character(reader *r, char c) {
  skip_header_blanks(r);
  if (r->at >= r->end || *r->at != c) return false;
  r->at++;
  return true;
}
static bool accept_word(reader *r, const char *word) {
  size_t n = strlen(word);
  skip_header_blanks(r);
  if ((size_t)(r->end - r->at) < n || memcmp(r->at, word, n) != 0) return false;
  r->at += n;
  return true;
}

static sw_rc read_text(reader *r, char *out, size_t room) {
  size_t n = 0;
  char quote = '\'';
  if (!accept_character(r, quote) && !accept_character(r, quote = '"')) return bad(r, "expected a quoted word");
  while (r->at < r->end && *r->at != quote) {
    if (n + 1 >= room) return bad(r, "unexpected word");
    out[n++] = *r->at++;
  }
  out[n] = 0;
  return accept_character(r, quote) ? SW_OK : bad(r, "word without an end");
}

static sw_rc read_npy_size(reader *r, int64_t *out) {
  const char *first = r->at;
  *out = 0;
  for (; r->at < r->end && *r->at >= '0' && *r->at <= '9'; r->at++) {
    if (!sw_mul_i64(*out, 10, out) || !sw_add_i64(*out, *r->at - '0', out)) return bad(r, "size that is too large");
  }
  return r->at > first ? SW_OK : bad(r, "expected a size");
}

static sw_rc read_shape(reader *r, header *h) {
  if (!accept_character(r, '(')) return bad(r, "expected '('");
  while (!accept_character(r, ')')) {
    if (h->rank == SW_MAX_RANK) return bad(r, "more dimensions than are supported");
    SW_TRY(read_npy_size(r, &h->dims[h->rank++]));
    if (!accept_character(r, ',') && (skip_header_blanks(r), r->at >= r->end || *r->at != ')'))
      return bad(r, "expected ',' or ')'");
  }
  return SW_OK;
}

static sw_rc read_entry(reader *r, header *h) {
  static const char *const kKeys[] = {"descr", "fortran_order", "shape"};
  char key[16];
  int k = 0;
  SW_TRY(read_text(r, key, sizeof key));
  while (k < 3 && strcmp(kKeys[k], key) != 0) k++;
  if (k == 3 || h->seen[k]) return bad(r, "unexpected key");
  h->seen[k] = true;
  if (!accept_character(r, ':')) return bad(r, "expected ':'");
  skip_header_blanks(r);
  if (k == 0) return read_text(r, h->descr, sizeof h->descr);
  if (k == 2) return read_shape(r, h);
  h->fortran = accept_word(r, "True");
  return h->fortran || accept_word(r, "False") ? SW_OK : bad(r, "expected True or False");
}

/* Everything before the elements; r->at then stands on the first. */
static sw_rc read_header(reader *r, header *h) {
  if (r->end - r->at < 10 || memcmp(r->at, kMagic, MAGIC_BYTES) != 0) return bad(r, "no .npy magic");
  const unsigned char *u = (const unsigned char *)r->at;
  int version = u[6];
  if (version < 1 || version > 3) return bad(r, "unknown version");
  size_t length = (size_t)u[8] | (size_t)u[9] << 8, prefix = 10;
  if (version > 1) {
    if (r->end - r->at < 12) return bad(r, "truncated header");
    length |= (size_t)u[10] << 16 | (size_t)u[11] << 24;
    prefix = 12;
  }
  r->at += prefix;
  if ((size_t)(r->end - r->at) < length) return bad(r, "truncated header");
  reader in = *r;
  in.end = in.at + length;
  if (!accept_character(&in, '{')) return bad(&in, "expected '{'");
  while (!accept_character(&in, '}')) {
    SW_TRY(read_entry(&in, h));
    if (!accept_character(&in, ',') && (skip_header_blanks(&in), in.at >= in.end || *in.at != '}'))
      return bad(&in, "expected ',' or '}'");
  }
  if (!h->seen[0] || !h->seen[1] || !h->seen[2]) return bad(&in, "expected descr, fortran_order and shape");
  r->at += length;
  return SW_OK;
}

/* Raw bits of the wanted type: V2 or u2 for bf16, a byte for each i4. */
static bool is_raw(const char *type, sw_dtype want) {
  if (want == SW_DTYPE_COUNT) return false;
  bool small_int = sw_dtype_container(want) != want;
  bool wanted = small_int || (sw_dtype_class_of(want) == SW_CLASS_FLOAT && sw_dtype_bytes(want) <= 2 && want != SW_F16);
  return wanted && (type[0] == 'V' || type[0] == 'u' || (small_int && type[0] == 'i')) &&
         type[1] == (char)('0' + sw_dtype_bytes(want)) && type[2] == 0;
}

/* The dtype of the file's elements, seen with what is wanted. */
static sw_rc find_element_dtype(const reader *r, const header *h, sw_dtype want, sw_dtype *file) {
  if (!h->descr[0] || !strchr("<>|=", h->descr[0])) return bad(r, "unknown byte order");
  const char *type = h->descr + 1;
  *file = SW_DTYPE_COUNT;
  if (is_raw(type, want)) *file = want;
  for (int i = 0; i < N_TYPES && *file == SW_DTYPE_COUNT; i++) {
    if (strcmp(kTypes[i].descr, type) == 0) *file = kTypes[i].dtype;
  }
  if (*file == SW_DTYPE_COUNT) return bad(r, "unsupported element type");
  bool narrows =
      *file == SW_F32 && want != SW_DTYPE_COUNT && sw_dtype_class_of(want) == SW_CLASS_FLOAT && want != SW_F64;
  if (want == SW_DTYPE_COUNT || want == *file || narrows) return SW_OK;
  return SW_FAIL_INPUT(r->d, ((sw_span){r->name, 0, 0}), "the array is %s; expected %s", sw_dtype_text(*file),
                       sw_dtype_text(want));
}

/* Turn the bytes of every number around; a complex one has two. */
static void swap_bytes(sw_tensor *t) {
  size_t size = (size_t)sw_dtype_bytes(t->dtype) / (sw_dtype_class_of(t->dtype) == SW_CLASS_COMPLEX ? 2 : 1);
  char *at = t->data, *end = at + sw_buffer_elements(t) * sw_dtype_bytes(t->dtype);
  for (; at < end; at += size) {
    for (size_t i = 0; i < size / 2; i++) {
      char c = at[i];
      at[i] = at[size - 1 - i];
      at[size - 1 - i] = c;
    }
  }
}

/* First index fastest to last index fastest. */
static sw_rc from_fortran(sw_tensor *t, sw_diag *d) {
  sw_tensor y;
  int64_t index[SW_MAX_RANK] = {0}, n = sw_buffer_elements(t), bytes = sw_dtype_bytes(t->dtype);
  SW_TRY(sw_tensor_init(&y, t->dtype, t->rank, t->dims, d));
  for (int64_t e = 0; e < n; e++) {
    int64_t from = 0;
    for (int i = t->rank - 1; i >= 0; i--) from = from * t->dims[i] + index[i];
    memcpy((char *)y.data + e * bytes, (const char *)t->data + from * bytes, (size_t)bytes);
    for (int i = t->rank - 1; i >= 0 && ++index[i] == t->dims[i]; i--) index[i] = 0;
  }
  sw_tensor_deinit(t);
  *t = y;
  return SW_OK;
}

static sw_rc to_wanted(sw_tensor *t, sw_dtype want, sw_diag *d) {
  sw_tensor y;
  SW_TRY(sw_tensor_init(&y, want, t->rank, t->dims, d));
  sw_convert_elements(want, y.data, t->dtype, t->data, (size_t)sw_buffer_elements(t));
  sw_tensor_deinit(t);
  *t = y;
  return SW_OK;
}

static sw_rc read_elements(reader *r, const header *h, sw_dtype want, sw_tensor *out) {
  sw_dtype file;
  SW_TRY(find_element_dtype(r, h, want, &file));
  int64_t bytes = sw_dtype_bytes(file);
  for (int i = 0; i < h->rank; i++) {
    if (!sw_mul_i64(bytes, sw_max_i64(h->dims[i], 1), &bytes)) return bad(r, "shape that is too large");
  }
  for (int i = 0; i < h->rank; i++) bytes = h->dims[i] ? bytes : 0;
  if (bytes > r->end - r->at) return bad(r, "truncated elements");
  SW_TRY(sw_tensor_init(out, file, h->rank, h->dims, r->d));
  memcpy(out->data, r->at, (size_t)bytes);
  if (h->descr[0] == '>') swap_bytes(out);
  unsigned char *b = out->data;
  for (int64_t i = 0; file == SW_BOOL && i < bytes; i++) b[i] = b[i] != 0;
  for (int64_t i = 0; sw_dtype_container(file) != file && i < bytes; i++)
    b[i] = (unsigned char)sw_dtype_wrap(file, b[i]);
  if (h->fortran && h->rank > 1) SW_TRY(from_fortran(out, r->d));
  return want == SW_DTYPE_COUNT || want == file ? SW_OK : to_wanted(out, want, r->d);
}

sw_rc sw_npy_parse(const void *bytes, size_t n, const char *name, sw_dtype want, sw_tensor *out, sw_diag *d) {
  reader r = {name, bytes, bytes, (const char *)bytes + n, d};
  header h = {0};
  *out = (sw_tensor){0};
  sw_rc rc = read_header(&r, &h);
  if (!rc) rc = read_elements(&r, &h, want, out);
  if (rc) sw_tensor_deinit(out);
  return rc;
}

sw_rc sw_npy_read(const char *path, sw_dtype want, sw_tensor *out, sw_diag *d) {
  char *bytes;
  size_t n;
  *out = (sw_tensor){0};
  SW_TRY(sw_file_read(path, &bytes, &n, d));
  sw_rc rc = sw_npy_parse(bytes, n, path, want, out, d);
  sw_mem_free(bytes);
  return rc;
}

/* --- writing ------------------------------------------------------------------------------------------------------ */

static const char *descr_of(sw_dtype t) {
  for (int i = 0; i < N_TYPES; i++) {
    if (kTypes[i].dtype == sw_dtype_container(t)) return kTypes[i].descr;
  }
  return NULL;
}

static void print_header(const sw_buffer *b, const char *descr, sw_text *out) {
  enum { ALIGN = 64, PREFIX = 10 };
  sw_text dict = {0};
  sw_text_printf(&dict, "{'descr': '%c%s', 'fortran_order': False, 'shape': (",
                 descr[1] == '1' && !descr[2] ? '|' : '<', descr);
  for (int i = 0; i < b->rank; i++) sw_text_printf(&dict, "%lld%s", (long long)b->dims[i], i + 1 < b->rank ? ", " : "");
  sw_text_puts(&dict, b->rank == 1 ? ",), }" : "), }");
  size_t length = (dict.n + 1 + PREFIX + ALIGN - 1) / ALIGN * ALIGN - PREFIX;
  sw_text_pad(&dict, 0, length - 1);
  sw_text_puts(&dict, "\n");
  const char prefix[4] = {1, 0, (char)(length & 0xff), (char)(length >> 8)};
  sw_text_append(out, kMagic, MAGIC_BYTES);
  sw_text_append(out, prefix, sizeof prefix);
  sw_text_append(out, sw_text_str(&dict), dict.n);
  if (dict.rc) out->rc = dict.rc;
  sw_text_free(&dict);
}

static sw_rc write_native(const char *path, const sw_buffer *b, const char *descr, sw_diag *d) {
  sw_text out = {0};
  print_header(b, descr, &out);
  sw_text_append(&out, b->data, (size_t)(sw_buffer_elements(b) * sw_dtype_bytes(b->dtype)));
  sw_rc rc = out.rc ? SW_FAIL(d, SW_E_RESOURCE, ((sw_span){path, 0, 0}), "out of memory while writing")
                    : sw_file_write(path, out.at, out.n, d);
  sw_text_free(&out);
  return rc;
}

sw_rc sw_npy_write(const char *path, const sw_buffer *b, sw_diag *d) {
  const char *descr = descr_of(b->dtype);
  if (descr) return write_native(path, b, descr, d);
  if (sw_dtype_class_of(b->dtype) != SW_CLASS_FLOAT) {
    return SW_FAIL_INPUT(d, ((sw_span){path, 0, 0}), "%s has no .npy form", sw_dtype_text(b->dtype));
  }
  sw_tensor wide;
  SW_TRY(sw_tensor_init(&wide, SW_F32, b->rank, b->dims, d));
  sw_convert_elements(SW_F32, wide.data, b->dtype, b->data, (size_t)sw_buffer_elements(b));
  sw_rc rc = write_native(path, &wide, "f4", d);
  sw_tensor_deinit(&wide);
  return rc;
}
