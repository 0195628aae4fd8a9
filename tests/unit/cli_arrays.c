/* Arguments and outputs in folders of .npy files. */
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#include "cli/arrays.h"
#include "io/npy.h"
#include "support/building.h"

static sw_graph *two_arguments(void) {
  sw_graph *g = new_graph();
  sw_id x = arg(g, "x", SW_F32, 2, (int64_t[]){2, 3});
  sw_id y = arg(g, "layer/../%w", SW_BF16, 1, (int64_t[]){3});
  output(g, "x", x);
  output(g, ".hidden/y", y);
  return seal(g);
}

static void make_folder(char *dir) {
  strcpy(dir, "/tmp/arrays_test_XXXXXX");
  assert_non_null(mkdtemp(dir));
}

static void remove_all(const char *dir, int n, const char *const *names) {
  char path[200];
  for (int i = 0; i < n; i++) {
    snprintf(path, sizeof path, "%s/%s", dir, names[i]);
    assert_int_equal(unlink(path), 0);
  }
  assert_int_equal(rmdir(dir), 0); /* nothing else was written */
}

static const char *const kInputs[] = {"x.npy", "layer%2F..%2F%25w.npy"}, *const kOutputs[] = {"x.npy",
                                                                                              "%2Ehidden%2Fy.npy"};

static void arrays_go_out_and_come_in(void **state) {
  (void)state;
  sw_graph *g = two_arguments();
  char dir[64], out[80], path[200];
  make_folder(dir);
  snprintf(out, sizeof out, "%s/new", dir);
  sw_tensor x[2] = {tensor_of(SW_F32, 2, (int64_t[]){2, 3}, (double[]){1, -2, 3, -4, 5, -6}),
                    tensor_of(SW_BF16, 1, (int64_t[]){3}, (double[]){1, 2.5, -3})};
  sw_tensor y[2];
  assert_ok(sw_arrays_write(g, out, x, &diag)); /* makes the folder */
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof path, "%s/%s", out, kOutputs[i]);
    sw_tensor back;
    assert_ok(sw_npy_read(path, x[i].dtype, &back, &diag));
    assert_memory_equal(back.data, x[i].data, (size_t)(sw_buffer_elements(&back) * sw_dtype_bytes(back.dtype)));
    sw_tensor_deinit(&back);
    snprintf(path, sizeof path, "%s/%s", dir, kInputs[i]);
    assert_ok(sw_npy_write(path, &x[i], &diag));
  }
  assert_ok(sw_arrays_read(g, dir, y, &diag));
  for (int i = 0; i < 2; i++) {
    assert_int_equal(y[i].dtype, x[i].dtype);
    assert_memory_equal(y[i].data, x[i].data, (size_t)(sw_buffer_elements(&x[i]) * sw_dtype_bytes(x[i].dtype)));
  }
  sw_arrays_free(x, 2);
  sw_arrays_free(y, 2);
  remove_all(out, 2, kOutputs);
  remove_all(dir, 2, kInputs);
  sw_graph_destroy(g);
}

static void wrong_arrays_are_named(void **state) {
  (void)state;
  diag = (sw_diag){0};
  sw_graph *g = two_arguments();
  char dir[64], path[200];
  make_folder(dir);
  sw_tensor x = tensor_of(SW_F32, 1, (int64_t[]){6}, (double[]){1, 2, 3, 4, 5, 6}), y[2];
  assert_int_equal(sw_arrays_read(g, dir, y, &diag), SW_E_INPUT); /* no file */
  snprintf(path, sizeof path, "%s/x.npy", dir);
  assert_string_equal(diag.file, path);
  assert_ok(sw_npy_write(path, &x, &diag));
  assert_int_equal(sw_arrays_read(g, dir, y, &diag), SW_E_INPUT);
  assert_string_equal(diag.text, "argument 'x' is declared f32[2,3], found f32[6]");
  assert_null(y[0].data);
  assert_null(y[1].data);
  sw_tensor_deinit(&x);
  remove_all(dir, 1, kInputs);
  sw_graph_destroy(g);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(arrays_go_out_and_come_in),
                                     cmocka_unit_test(wrong_arrays_are_named)};
  return cmocka_run_group_tests_name("arrays", tests, NULL, NULL);
}
