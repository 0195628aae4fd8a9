/* Arguments and outputs as .npy files.
 *
 *   inputs/x.npy, inputs/layer0%2Fw.npy  ->  arguments x and layer0/w        outputs/logits.npy
 */
#include "cli/arrays.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/file.h"
#include "io/npy.h"

static void print_path(const char *dir, const char *name, sw_text *out) {
  sw_text_printf(out, "%s/", dir);
  for (; *name; name++) {
    bool plain = *name != '/' && *name != '%' && !(*name == '.' && out->at[out->n - 1] == '/');
    if (plain) sw_text_append(out, name, 1);
    if (!plain) sw_text_printf(out, "%%%02X", (unsigned)(unsigned char)*name);
  }
  sw_text_puts(out, ".npy");
}

static sw_rc check_array_shape(const sw_value *value, const sw_type *type, const char *path, const sw_tensor *t,
                               sw_diag *d) {
  bool same = t->rank == type->rank;
  for (int i = 0; same && i < t->rank; i++) same = t->dims[i] == type->dims[i];
  if (same) return SW_OK;
  sw_text want = {0};
  sw_type got = {t->dtype, t->rank, t->dims};
  sw_type_print(type, &want);
  sw_text_puts(&want, ", found ");
  sw_type_print(&got, &want);
  sw_rc rc = SW_FAIL_INPUT(d, ((sw_span){path, 0, 0}), "argument '%s' is declared %s", value->name, sw_text_str(&want));
  sw_text_free(&want);
  return rc;
}

static sw_rc read_array(const sw_value *value, const sw_type *type, const char *dir, sw_tensor *out, sw_diag *d) {
  sw_text path = {0};
  print_path(dir, value->name, &path);
  sw_rc rc =
      path.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : sw_npy_read(path.at, type->dtype, out, d);
  if (!rc) rc = check_array_shape(value, type, path.at, out, d);
  sw_text_free(&path);
  return rc;
}

sw_rc sw_arrays_read(const sw_graph *g, const char *dir, sw_tensor *args, sw_diag *d) {
  return sw_arrays_read_as(g, NULL, dir, args, d);
}

sw_rc sw_arrays_read_as(const sw_graph *g, const sw_type *const *types, const char *dir, sw_tensor *args, sw_diag *d) {
  sw_rc rc = SW_OK;
  memset(args, 0, (size_t)g->n_args * sizeof *args);
  for (int i = 0; !rc && i < g->n_args; i++) {
    const sw_value *value = &g->values[g->args[i]];
    rc = read_array(value, types ? types[i] : &value->type, dir, &args[i], d);
  }
  if (rc) sw_arrays_free(args, g->n_args);
  return rc;
}

static sw_rc write_one(const char *name, const char *dir, const sw_tensor *t, sw_diag *d) {
  sw_text path = {0};
  print_path(dir, name, &path);
  sw_rc rc = path.rc ? SW_FAIL(d, SW_E_RESOURCE, SW_NOWHERE, "out of memory") : sw_npy_write(path.at, t, d);
  sw_text_free(&path);
  return rc;
}

static sw_rc check_folder(const char *dir, sw_diag *d) {
  struct stat st;
  if (stat(dir, &st) != 0) return sw_file_can_write(dir, d);
  return S_ISDIR(st.st_mode) ? SW_OK : SW_FAIL_INPUT(d, ((sw_span){dir, 0, 0}), "not a folder");
}

static bool is_same_folder(const char *a, const char *b) {
  struct stat x, y;
  return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

sw_rc sw_arrays_check(const sw_graph *g, const char *inputs, const char *outputs, sw_diag *d) {
  if (!outputs) return SW_OK;
  SW_TRY(check_folder(outputs, d));
  if (!inputs || !is_same_folder(inputs, outputs)) return SW_OK;
  for (int i = 0; i < g->n_outputs; i++) {
    sw_id id = sw_graph_value_named(g, g->output_names[i]);
    if (id < 0 || g->values[id].def >= 0) continue;
    return SW_FAIL(d, SW_E_USAGE, SW_NOWHERE,
                   "output '%s' would be written over the argument of that name; expected another folder than '%s'",
                   g->output_names[i], inputs);
  }
  return SW_OK;
}

sw_rc sw_arrays_write(const sw_graph *g, const char *dir, const sw_tensor *outputs, sw_diag *d) {
  if (mkdir(dir, 0777) != 0 && errno != EEXIST)
    return SW_FAIL(d, SW_E_RESOURCE, ((sw_span){dir, 0, 0}), "cannot make the folder: %s", strerror(errno));
  for (int i = 0; i < g->n_outputs; i++) SW_TRY(write_one(g->output_names[i], dir, &outputs[i], d));
  return SW_OK;
}

void sw_arrays_free(sw_tensor *tensors, int n) {
  for (int i = 0; i < n; i++) sw_tensor_deinit(&tensors[i]);
}
