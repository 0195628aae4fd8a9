#include "io/foreign.h"

#include <ctype.h>
#include <string.h>

#include "base/file.h"

static const char kJax[] = "in JAX: print(jax.jit(f).lower(*args).as_text())";
static const char kTorch[] =
    "in PyTorch, with torch_xla.stablehlo: exported_program_to_stablehlo(torch.export.export(model, args))"
    ".get_stablehlo_text()";
static const char kBytecode[] = "stablehlo-translate --deserialize FILE, or stablehlo-opt FILE, prints it as text";

/* By what a file begins with; `how` are up to two ways to a model. */
static const struct {
  const char *begins;
  size_t n;
  const char *what;
  const char *how[2];
} kForms[] = {
    {"HloModule ", 10, "HLO, the text that XLA prints", {kJax, kTorch}},
    {"ML\xefR", 4, "MLIR bytecode, as jax.export and StableHLO's artifacts have it", {kBytecode, kJax}},
    {"BC\xc0\xde", 4, "LLVM bitcode", {kJax, kTorch}},
    {"PK\x03\x04", 4, "a zip archive, as torch.save and torch.export.save write", {kTorch, NULL}},
    {"\x80\x02", 2, "a Python pickle", {kJax, kTorch}},
    {"\x80\x04\x95", 3, "a Python pickle", {kJax, kTorch}},
    {"\x89HDF\r\n", 6, "HDF5, as Keras saves models", {kJax, kTorch}},
    {"\x93NUMPY", 6, "a NumPy array", {kJax, kTorch}},
    {"\x7f"
     "ELF",
     4,
     "a program for a processor",
     {kJax, kTorch}},
    {"{ lambda ", 9, "a jaxpr", {kJax, NULL}},
    {"ExportedProgram:", 16, "a program of torch.export in print", {kTorch, NULL}},
    {"graph(", 6, "a graph of TorchScript or torch.fx", {kTorch, NULL}},
    {"class GraphModule(", 18, "a module of torch.fx", {kTorch, NULL}},
    {"import ", 7, "Python", {kJax, kTorch}},
    {"from ", 5, "Python", {kJax, kTorch}},
    {"#!", 2, "a script", {kJax, kTorch}},
};

static sw_rc refuse_file(const char *file, const char *what, const char *const how[2], sw_diag *d) {
  const sw_span at = {file, 1, 1};
  sw_rc rc =
      SW_FAIL_INPUT(d, at, "the file is %s; expected a StableHLO program as MLIR text, or a model in JSON", what);
  for (int i = 0; i < 2 && how[i]; i++) sw_diag_note(d, "%s", how[i]);
  return rc;
}

/* Field 1 or 2 of a message, as the first, and bytes that no text has: an HloProto, a SavedModel, an ONNX model. */
static bool is_protobuf(const char *bytes, size_t n) {
  bool control = false;
  for (size_t i = 0; i < n && i < 64; i++)
    control = control || ((unsigned char)bytes[i] < 32 && !isspace((unsigned char)bytes[i]));
  return n > 2 && control && (bytes[0] == 0x08 || bytes[0] == 0x0a || bytes[0] == 0x12);
}

/* Eight bytes of length, then JSON. */
static bool is_safetensors(const char *bytes, size_t n) {
  return n > 10 && bytes[6] == 0 && bytes[7] == 0 && bytes[8] == '{' && bytes[9] == '"';
}

sw_rc sw_refuse_foreign(const char *file, const char *bytes, size_t n, sw_diag *d) {
  static const char *const kHow[2] = {kJax, kTorch};
  size_t blank = 0;
  while (blank < n && isspace((unsigned char)bytes[blank])) blank++;
  for (size_t i = 0; i < sizeof kForms / sizeof kForms[0]; i++) {
    if (n - blank < kForms[i].n || memcmp(bytes + blank, kForms[i].begins, kForms[i].n) != 0) continue;
    return refuse_file(file, kForms[i].what, kForms[i].how, d);
  }
  if (is_safetensors(bytes, n)) return refuse_file(file, "weights in safetensors, without a program", kHow, d);
  if (is_protobuf(bytes, n)) return refuse_file(file, "a protobuf, as XLA, TensorFlow and ONNX save programs", kHow, d);
  return SW_OK;
}

static sw_rc check_model(const char *file, const char *bytes, size_t n, sw_diag *d) {
  SW_TRY(sw_refuse_foreign(file, bytes, n, d));
  return sw_check_text(file, bytes, n, d);
}

sw_rc sw_read_model_text(const char *path, char **bytes, size_t *n, sw_diag *d) {
  return sw_file_read_checked(path, check_model, bytes, n, d);
}
