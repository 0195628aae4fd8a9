/* factor and tridiagonal_solve as custom calls: those of LAPACK, which XLA has on CPUs, or those of the libraries of
 * CUDA and ROCm, where the program came with these (`target`).
 *
 *   %w, %vl, %vr, %info = factor(%a) {eig}
 *   %t:5 = custom_call @lapack_sgeev_ffi(%a)       real and imaginary parts, vl, vr, info
 *   %w = stablehlo.complex(%t#0, %t#1)
 */
#include <math.h>
#include <string.h>

#include "mlir/emit/mlir.h"

/* The call for one way of factoring. Its results, in order: those of the op (0, 1, ...), its operand as it leaves it
 * (a), parts of the complex vector of eigenvalues (r, i), a number of the batch that nobody asked for (n). */
typedef struct call {
  const char *how;
  bool on_gpu;
  const char *name, *complex_name; /* on CPUs behind lapack_ and the letter of the type; else behind cu or hip */
  const char *results, *complex_results;
  int eigenvalues; /* the result that r and i are of */
  void (*config)(const sw_hlo *h, sw_text *out);
} call;

static bool is_lower(const sw_hlo *h) { return sw_op_int(h->op, SW_ATTR_LOWER, 1) != 0; }
static bool is_full(const sw_hlo *h) { return sw_op_text(h->op, SW_ATTR_HOW, "")[0] == 'f'; }
static int64_t matrix_rows_of(const sw_hlo *h) { return h->in[0].type.dims[h->in[0].type.rank - 2]; }
static int64_t columns_of(const sw_hlo *h) { return h->in[0].type.dims[h->in[0].type.rank - 1]; }
static bool is_wide(const sw_hlo *h) { return matrix_rows_of(h) < columns_of(h); }

static void triangle(const sw_hlo *h, sw_text *out) { sw_text_printf(out, "uplo = %d : ui8", is_lower(h) ? 'L' : 'U'); }
static void vectors_of_triangle(const sw_hlo *h, sw_text *out) {
  sw_text_printf(out, "mode = %d : ui8, ", 'V');
  triangle(h, out);
}
static void mode(const sw_hlo *h, sw_text *out) { sw_text_printf(out, "mode = %d : ui8", is_full(h) ? 'A' : 'S'); }
static void both_sides(const sw_hlo *h, sw_text *out) {
  (void)h;
  sw_text_printf(out, "compute_left = %d : ui8, compute_right = %d : ui8", 'V', 'V');
}
static void unsorted(const sw_hlo *h, sw_text *out) {
  (void)h;
  sw_text_printf(out, "mode = %d : ui8, sort = %d : ui8", 'V', 'N');
}
static void all_rows(const sw_hlo *h, sw_text *out) {
  sw_text_printf(out, "high = %lld : i32, low = 1 : i32", (long long)matrix_rows_of(h));
}
static void gpu_triangle(const sw_hlo *h, sw_text *out) {
  sw_text_printf(out, "lower = %s", is_lower(h) ? "true" : "false");
}
static void gpu_eigh(const sw_hlo *h, sw_text *out) {
  sw_text_puts(out, "algorithm = 0 : ui8, ");
  gpu_triangle(h, out);
}
static void gpu_svd(const sw_hlo *h, sw_text *out) {
  sw_text_printf(out, "compute_uv = true, full_matrices = %s, transposed = %s", is_full(h) ? "true" : "false",
                 is_wide(h) ? "true" : "false");
}
static void gpu_both_sides(const sw_hlo *h, sw_text *out) {
  (void)h;
  sw_text_puts(out, "left = true, magma = \"auto\", right = true");
}
static void gpu_hybrid(const sw_hlo *h, sw_text *out) {
  (void)h;
  sw_text_puts(out, "magma = \"auto\"");
}

static const call kCalls[] = {
    {"lu", false, "getrf", "getrf", "012", "012", 0, NULL},
    {"qr", false, "geqrf", "geqrf", "01", "01", 0, NULL},
    {"pivoted_qr", false, "geqp3", "geqp3", "012", "012", 0, NULL},
    {"householder", false, "orgqr", "ungqr", "0", "0", 0, NULL},
    {"eigh", false, "syevd", "heevd", "012", "012", 0, vectors_of_triangle},
    {"svd", false, "gesdd", "gesdd", "a0123", "a0123", 0, mode},
    {"full_svd", false, "gesdd", "gesdd", "a0123", "a0123", 0, mode},
    {"eig", false, "geev", "geev", "ri123", "0123", 0, both_sides},
    {"schur", false, "gees", "gees", "01rin3", "012n3", 2, unsorted},
    {"hessenberg", false, "gehrd", "gehrd", "012", "012", 0, all_rows},
    {"tridiagonal", false, "sytrd", "hetrd", "01234", "01234", 0, triangle},
    {"lu", true, "solver_getrf_ffi", "solver_getrf_ffi", "012", "012", 0, NULL},
    {"qr", true, "solver_geqrf_ffi", "solver_geqrf_ffi", "01", "01", 0, NULL},
    {"pivoted_qr", true, "hybrid_geqp3", "hybrid_geqp3", "012", "012", 0, gpu_hybrid},
    {"householder", true, "solver_orgqr_ffi", "solver_orgqr_ffi", "0", "0", 0, NULL},
    {"eigh", true, "solver_syevd_ffi", "solver_syevd_ffi", "012", "012", 0, gpu_eigh},
    {"svd", true, "solver_gesvd_ffi", "solver_gesvd_ffi", "a0123", "a0123", 0, gpu_svd},
    {"full_svd", true, "solver_gesvd_ffi", "solver_gesvd_ffi", "a0123", "a0123", 0, gpu_svd},
    {"eig", true, "hybrid_eig_real", "hybrid_eig_comp", "ri123", "0123", 0, gpu_both_sides},
    {"tridiagonal", true, "solver_sytrd_ffi", "solver_sytrd_ffi", "01234", "01234", 0, gpu_triangle},
};

/* cu or hip; "": LAPACK's. */
static const char *library_of(const sw_hlo *h) {
  const char *target = sw_op_text(h->op, SW_ATTR_TARGET, "lapack");
  return strcmp(target, "cuda") == 0 ? "cu" : strcmp(target, "rocm") == 0 ? "hip" : "";
}

/* What GPUs have no call for is LAPACK's there, too. */
static const call *find_library_call(const sw_hlo *h) {
  const char *how = sw_op_text(h->op, SW_ATTR_HOW, "");
  const call *found = NULL;
  for (size_t i = 0; i < sizeof kCalls / sizeof *kCalls; i++) {
    if (strcmp(kCalls[i].how, how) == 0 && (!kCalls[i].on_gpu || *library_of(h))) found = &kCalls[i];
  }
  return found;
}

static bool is_complex(const sw_ssa *v) { return sw_dtype_class_of(v->type.dtype) == SW_CLASS_COMPLEX; }

/* --- one call ---------------------------------------------------------------------------------------------------- */

/* Matrices column by column, as LAPACK has them; `rows`: row by row. */
static void put_matrix_layout(const sw_ssa *v, bool matrix, sw_text *out) {
  int rank = v->type.rank;
  sw_text_puts(out, "dense<[");
  for (int i = 0; i < rank; i++) {
    int dim = matrix && i < 2 ? rank - 2 + i : rank - 1 - i;
    sw_text_printf(out, i ? ", %d" : "%d", dim);
  }
  sw_text_printf(out, "]> : tensor<%dxindex>", rank);
}

static void put_matrix_layouts(const sw_ssa *v, int n, int matrix_rank, sw_text *out) {
  sw_text_puts(out, "[");
  for (int i = 0; i < n; i++) {
    if (i) sw_text_puts(out, ", ");
    put_matrix_layout(&v[i], v[i].type.rank == matrix_rank, out);
  }
  sw_text_puts(out, "]");
}

/* A line of a call; matrices of this rank stand column by column (0: none do). */
static void put_library_call(const sw_hlo *h, const sw_line *line, const char *target, int matrix_rank,
                             const char *config) {
  sw_text props = {0}, in = {0}, out = {0};
  sw_line l = *line;
  put_matrix_layouts(l.in, l.n_in, matrix_rank, &in);
  put_matrix_layouts(l.out, l.n_out, matrix_rank, &out);
  sw_prop(&props, "api_version", "4 : i32");
  sw_prop(&props, "backend_config", "{%s}", config);
  sw_prop(&props, "call_target_name", "\"%s\"", target);
  sw_prop(&props, "operand_layouts", "%s", sw_text_str(&in));
  sw_prop(&props, "result_layouts", "%s", sw_text_str(&out));
  l.op = "stablehlo.custom_call";
  sw_mlir_line_with(h->w, l, &props, NULL);
  if (in.rc || out.rc) h->w->out->rc = SW_E_RESOURCE;
  sw_text_free(&in);
  sw_text_free(&out);
}

static char letter_of(sw_dtype t) { return t == SW_F64 ? 'd' : t == SW_C64 ? 'c' : t == SW_C128 ? 'z' : 's'; }

static sw_ssa real_part_of(const sw_hlo *h, const sw_ssa *v) {
  return sw_mlir_temp(h->w,
                      sw_mlir_shaped(h->w, v->type.dtype == SW_C128 ? SW_F64 : SW_F32, v->type.rank, v->type.dims));
}

void sw_hlo_factor(const sw_hlo *h) {
  const call *c = find_library_call(h);
  const char *results = is_complex(&h->in[0]) ? c->complex_results : c->results, *library = library_of(h);
  const sw_ssa *w = &h->out[c->eigenvalues], *info = &h->out[h->op->n_results - 1];
  bool by_rows = c->on_gpu && is_wide(h) && strstr(c->how, "svd"); /* of the transposed: v adjoint stands for u */
  sw_ssa out[SW_MAX_RESULTS], parts[2] = {*w, *w};
  int n = (int)strlen(results), n_parts = 0;
  for (int i = 0; i < n; i++) {
    if (results[i] == 'a')
      out[i] = sw_mlir_temp(h->w, h->in[0].type);
    else if (results[i] == 'n')
      out[i] = sw_mlir_temp(h->w, info->type);
    else if (results[i] == 'r' || results[i] == 'i')
      out[i] = parts[n_parts++] = real_part_of(h, w);
    else
      out[i] = h->out[results[i] - '0'];
  }
  if (by_rows) {
    sw_ssa u = out[2];
    out[2] = out[3];
    out[3] = u;
  }
  sw_text config = {0}, target = {0};
  if (c->config) c->config(h, &config);
  const char *name = is_complex(&h->in[0]) ? c->complex_name : c->name;
  if (c->on_gpu)
    sw_text_printf(&target, "%s%s", library, name);
  else
    sw_text_printf(&target, "lapack_%c%s_ffi", letter_of(h->in[0].type.dtype), name);
  put_library_call(h, &(sw_line){.n_in = h->op->n_operands, .n_out = n, .in = h->in, .out = out}, sw_text_str(&target),
                   by_rows ? 0 : h->in[0].type.rank, sw_text_str(&config));
  if (n_parts) {
    sw_mlir_line(h->w, &(sw_line){.op = "stablehlo.complex", .n_in = 2, .n_out = 1, .in = parts, .out = w});
  }
  if (config.rc || target.rc) h->w->out->rc = SW_E_RESOURCE;
  sw_text_free(&config);
  sw_text_free(&target);
}

/* --- tridiagonal_solve ------------------------------------------------------------------------------------------- */

/* x where info is 0, else NaN. */
static void put_valid(const sw_hlo *h, sw_ssa x, sw_ssa info) {
  static const double kNan[2] = {NAN, NAN};
  static const float kNarrow[2] = {NAN, NAN};
  const sw_type *t = &h->out[0].type;
  bool wide = t->dtype == SW_F64 || t->dtype == SW_C128;
  sw_ssa zero = sw_mlir_int(h->w, info.type, 0), fine = sw_mlir_compare(h->w, "EQ", info, zero);
  sw_ssa all = sw_mlir_temp(h->w, sw_mlir_shaped(h->w, SW_BOOL, t->rank, t->dims));
  sw_ssa choice[3] = {all, x, sw_mlir_constant(h->w, *t, wide ? (const void *)kNan : kNarrow)};
  int64_t batch[SW_MAX_RANK];
  for (int i = 0; i < info.type.rank; i++) batch[i] = i;
  sw_text props = {0};
  sw_prop_ints(&props, "broadcast_dimensions", batch, info.type.rank);
  sw_mlir_line_with(h->w, (sw_line){"stablehlo.broadcast_in_dim", 1, 1, &fine, &all, NULL, NULL}, &props, NULL);
  sw_mlir_line(h->w, &(sw_line){.op = "stablehlo.select", .n_in = 3, .n_out = 1, .in = choice, .out = h->out});
}

void sw_hlo_tridiagonal_solve(const sw_hlo *h) {
  const char *library = library_of(h);
  const sw_type *t = &h->in[3].type;
  char target[32];
  if (*library) {
    snprintf(target, sizeof target, "%ssparse_gtsv2_ffi", library);
    put_library_call(h, &(sw_line){.n_in = 4, .n_out = 1, .in = h->in, .out = h->out}, target, t->rank, "");
    return;
  }
  sw_ssa out[5];
  for (int i = 0; i < 4; i++) out[i] = sw_mlir_temp(h->w, h->in[i].type);
  out[4] = sw_mlir_temp(h->w, sw_mlir_shaped(h->w, SW_I32, t->rank - 2, t->dims));
  snprintf(target, sizeof target, "lapack_%cgtsv_ffi", letter_of(t->dtype));
  put_library_call(h, &(sw_line){.n_in = 4, .n_out = 5, .in = h->in, .out = out}, target, t->rank, "");
  put_valid(h, out[3], out[4]);
}
