/* .npy files: what numpy writes is read, what is written is read back, and nothing malformed gets through. */
#include <unistd.h>

#include "check.h"

#include "base/file.h"
#include "io/npy.h"

/* A file as numpy writes it: prefix, dictionary, elements. */
static size_t make_file(char *out, int version, const char *dict, const void *elements, size_t n) {
  size_t length = strlen(dict), at = 0;
  memcpy(out, "\x93NUMPY", 6);
  at = 6;
  out[at++] = (char)version;
  out[at++] = 0;
  out[at++] = (char)(length & 0xff);
  out[at++] = (char)(length >> 8);
  if (version > 1) out[at++] = 0, out[at++] = 0;
  memcpy(out + at, dict, length);
  if (n) memcpy(out + at + length, elements, n);
  return at + length + n;
}

typedef struct read_row {
  const char *name;
  int version;
  const char *dict;
  const char *elements;
  size_t n;
  sw_dtype want, dtype;
  int rank;
  int64_t dims[3];
  double values[6];
  const char *error;
} read_row;

#define NONE SW_DTYPE_COUNT
static const read_row kRows[] = {
    {"f4",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
     "\0\0\x80\x3f\0\0\0\xc0",
     8,
     NONE,
     SW_F32,
     1,
     {2},
     {1, -2},
     NULL},
    {"version 2",
     2,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n",
     "\0\0\x80\x3f",
     4,
     NONE,
     SW_F32,
     1,
     {1},
     {1},
     NULL},
    {"version 3",
     3,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n",
     "\0\0\x80\x3f",
     4,
     SW_F32,
     SW_F32,
     1,
     {1},
     {1},
     NULL},
    {"big endian",
     1,
     "{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }\n",
     "\x3f\x80\0\0\xc0\0\0\0",
     8,
     NONE,
     SW_F32,
     1,
     {2},
     {1, -2},
     NULL},
    {"big endian i2",
     1,
     "{'descr': '>i2', 'fortran_order': False, 'shape': (1, 2), }\n",
     "\0\1\xff\xfe",
     4,
     NONE,
     SW_I16,
     2,
     {1, 2},
     {1, -2},
     NULL},
    {"fortran order",
     1,
     "{'descr': '|i1', 'fortran_order': True, 'shape': (2, 3), }\n",
     "\1\4\2\5\3\6",
     6,
     NONE,
     SW_I8,
     2,
     {2, 3},
     {1, 2, 3, 4, 5, 6},
     NULL},
    {"fortran order of three",
     1,
     "{'descr': '|u1', 'fortran_order': True, 'shape': (1, 2, 3), }\n",
     "\1\4\2\5\3\6",
     6,
     NONE,
     SW_U8,
     3,
     {1, 2, 3},
     {1, 2, 3, 4, 5, 6},
     NULL},
    {"scalar",
     1,
     "{'descr': '<i8', 'fortran_order': False, 'shape': (), }\n",
     "\5\0\0\0\0\0\0\0",
     8,
     NONE,
     SW_I64,
     0,
     {0},
     {5},
     NULL},
    {"empty",
     1,
     "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 0), }\n",
     "",
     0,
     NONE,
     SW_F64,
     2,
     {3, 0},
     {0},
     NULL},
    {"bool is 0 or 1",
     1,
     "{'descr': '|b1', 'fortran_order': False, 'shape': (3,), }\n",
     "\0\1\7",
     3,
     NONE,
     SW_BOOL,
     1,
     {3},
     {0, 1, 1},
     NULL},
    {"keys in any order",
     1,
     "{\"shape\": (1,), 'descr': \"<u2\", 'fortran_order':False}",
     "\7\0",
     2,
     NONE,
     SW_U16,
     1,
     {1},
     {7},
     NULL},
    {"bf16 from V2",
     1,
     "{'descr': '<V2', 'fortran_order': False, 'shape': (2,), }\n",
     "\x80\x3f\0\xc0",
     4,
     SW_BF16,
     SW_BF16,
     1,
     {2},
     {1, -2},
     NULL},
    {"bf16 from u2",
     1,
     "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }\n",
     "\x80\x3f",
     2,
     SW_BF16,
     SW_BF16,
     1,
     {1},
     {1},
     NULL},
    {"bf16 from f4",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n",
     "\0\0\x80\x3f",
     4,
     SW_BF16,
     SW_BF16,
     1,
     {1},
     {1},
     NULL},
    {"f16 from f2",
     1,
     "{'descr': '<f2', 'fortran_order': False, 'shape': (1,), }\n",
     "\0\x3c",
     2,
     SW_F16,
     SW_F16,
     1,
     {1},
     {1},
     NULL},
    {"wrong dtype",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n",
     "\0\0\0\0",
     4,
     SW_I32,
     NONE,
     0,
     {0},
     {0},
     "the array is f32; expected i32"},
    {"truncated elements",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }\n",
     "\0\0\0\0",
     4,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "truncated elements"},
    {"unknown version",
     4,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }\n",
     "\0\0\0\0",
     4,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "unknown version"},
    {"objects",
     1,
     "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "unsupported element type"},
    {"structured",
     1,
     "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "expected a quoted word"},
    {"no shape",
     1,
     "{'descr': '<f4', 'fortran_order': False, }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "expected descr, fortran_order and shape"},
    {"key twice", 1, "{'descr': '<f4', 'descr': '<f4', }\n", "", 0, NONE, NONE, 0, {0}, {0}, "unexpected key"},
    {"huge shape",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296), }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "too large"},
    {"huge number",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "too large"},
    {"huge empty shape",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (0, 4294967296, 4294967296), }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "too large"},
    {"negative size",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }\n",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "expected a size"},
    {"open tuple",
     1,
     "{'descr': '<f4', 'fortran_order': False, 'shape': (1",
     "",
     0,
     NONE,
     NONE,
     0,
     {0},
     {0},
     "expected ',' or ')'"},
    {"no dictionary", 1, "descr", "", 0, NONE, NONE, 0, {0}, {0}, "expected '{'"},
};

static void check_row(void **state) {
  const read_row *row = *state;
  diag = (sw_diag){0};
  char file[512];
  size_t n = make_file(file, row->version, row->dict, row->elements, row->n);
  sw_tensor t;
  sw_rc rc = sw_npy_parse(file, n, "x.npy", row->want, &t, &diag);
  if (row->error) {
    assert_int_equal(rc, SW_E_INPUT);
    assert_string_equal(diag.file, "x.npy");
    if (!strstr(diag.text, row->error)) fail_msg("'%s' does not say '%s'", diag.text, row->error);
    assert_null(t.data);
    return;
  }
  assert_ok(rc);
  assert_int_equal(t.dtype, row->dtype);
  assert_int_equal(t.rank, row->rank);
  for (int i = 0; i < t.rank; i++) assert_int_equal(t.dims[i], row->dims[i]);
  for (int64_t i = 0; i < sw_buffer_elements(&t); i++) {
    double got = sw_element_load(t.dtype, (const char *)t.data + i * sw_dtype_bytes(t.dtype));
    assert_true(got == row->values[i]);
  }
  sw_tensor_deinit(&t);
}

static void what_is_written_is_read_back(void **state) {
  (void)state;
  char path[] = "/tmp/npy_test_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  static const int64_t kDims[][3] = {{3, 4, 5}, {2, 0, 1}, {7, 1, 1}};
  for (int t = 0; t < SW_DTYPE_COUNT; t++) {
    if (sw_dtype_class_of((sw_dtype)t) == SW_CLASS_COMPLEX || t == SW_TOKEN) continue;
    for (int rank = 0; rank <= 3; rank++) {
      sw_tensor x, y;
      sw_difference difference;
      assert_ok(sw_tensor_init(&x, (sw_dtype)t, rank, kDims[t % 3], &diag));
      assert_ok(sw_tensor_fill(&x, &(sw_fill){.kind = SW_FILL_RANDOM, .seed = 5, .limit = 100}, &diag));
      assert_ok(sw_npy_write(path, &x, &diag));
      assert_ok(sw_npy_read(path, (sw_dtype)t, &y, &diag));
      assert_ok(sw_tensor_compare(&y, &x, (sw_tolerance){0}, &difference, &diag));
      assert_int_equal(difference.differing, 0);
      sw_tensor_deinit(&x);
      sw_tensor_deinit(&y);
    }
  }
  unlink(path);
}

static void the_header_is_padded_as_numpy_does(void **state) {
  (void)state;
  char path[] = "/tmp/npy_test_XXXXXX";
  int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  sw_tensor x;
  char *bytes;
  size_t n;
  assert_ok(sw_tensor_init(&x, SW_F32, 1, (int64_t[]){3}, &diag));
  assert_ok(sw_npy_write(path, &x, &diag));
  assert_ok(sw_file_read(path, &bytes, &n, &diag));
  assert_int_equal(n, 128 + 12);
  static const char kStart[] = "\x93NUMPY\1\0\x76\0{'descr': '<f4', 'fortran_order': False, 'shape': (3,), } ";
  assert_memory_equal(bytes, kStart, sizeof kStart - 1);
  assert_int_equal(bytes[127], '\n');
  sw_mem_free(bytes);
  sw_tensor_deinit(&x);
  unlink(path);
}

/* Damaged files: an error or an array, never a crash (run under a sanitizer), and no element beyond the file. */
static void damaged_files_do_no_harm(void **state) {
  (void)state;
  enum { N_ROWS = sizeof kRows / sizeof kRows[0] };
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(3));
  for (int i = 0; i < check_scale(20000); i++) {
    const read_row *row = &kRows[sw_rng_below(&rng, N_ROWS)];
    char file[512];
    size_t n = make_file(file, row->version, row->dict, row->elements, row->n);
    int changes = (int)sw_rng_below(&rng, 3);
    for (int k = 0; k < changes; k++) {
      static const char kLikely[] = "0123456789(),'{}: <>|fiuVTF\n";
      file[sw_rng_below(&rng, (int64_t)n)] = kLikely[sw_rng_below(&rng, sizeof kLikely - 1)];
    }
    if (sw_rng_below(&rng, 2)) n = (size_t)sw_rng_below(&rng, (int64_t)n + 1);
    char *exact = malloc(n ? n : 1); /* so that a sanitizer sees reads beyond the end */
    memcpy(exact, file, n);
    sw_tensor t;
    sw_rc rc = sw_npy_parse(exact, n, "x.npy", row->want, &t, &diag);
    assert_true(rc == SW_OK || rc == SW_E_INPUT);
    sw_tensor_deinit(&t);
    free(exact);
  }
}

int main(void) {
  enum { ROWS = sizeof kRows / sizeof kRows[0] };
  struct CMUnitTest rows[ROWS];
  for (int i = 0; i < ROWS; i++) {
    rows[i] = (struct CMUnitTest){
        .name = kRows[i].name, .test_func = check_row, .initial_state = (void *)(uintptr_t)&kRows[i]};
  }
  const struct CMUnitTest others[] = {cmocka_unit_test(what_is_written_is_read_back),
                                      cmocka_unit_test(the_header_is_padded_as_numpy_does),
                                      cmocka_unit_test(damaged_files_do_no_harm)};
  return cmocka_run_group_tests_name("npy rows", rows, NULL, NULL) +
         cmocka_run_group_tests_name("npy", others, NULL, NULL);
}
