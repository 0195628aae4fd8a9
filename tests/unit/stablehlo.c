/* StableHLO programs: what ops become, what is refused and where, and that writing shardings changes nothing else. */
#include "check.h"

#include <dirent.h>

#include "base/file.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "support/job.h"

/* --- ops --------------------------------------------------------------------------------------------------------- */

#define A "tensor<4x6xf32>"
#define S "tensor<f32>"
#define ARGS "%a: " A ", %b: " A ", %s: " S ", %i: tensor<3xi32>, %n: tensor<i32>, %p: tensor<4x6xi1>"

typedef struct row {
  const char *name;
  const char *text;    /* ops of a function of ARGS; the last one gives %r */
  const char *type;    /* of %r */
  const char *becomes; /* the end of the graph's listing before the return */
} row;

static const row kRows[] = {
    {"unary", "%r = stablehlo.tanh %a : " A, A, "%r = tanh(%a) : f32[4,6]\n"},
    {"chlo", "%r = chlo.erf_inv %a : " A " -> " A, A, "%r = erf_inv(%a) : f32[4,6]\n"},
    {"old spelling", "%r = \"mhlo.add\"(%a, %b) : (" A ", " A ") -> " A, A, "%r = add(%a, %b) : f32[4,6]\n"},
    {"square", "%r = chlo.square %a : " A " -> " A, A, "%r = multiply(%a, %a) : f32[4,6]\n"},
    {"compare", "%r = stablehlo.compare  GE, %a, %b,  FLOAT : (" A ", " A ") -> tensor<4x6xi1>", "tensor<4x6xi1>",
     "%r = compare(%a, %b) {direction=ge} : bool[4,6]\n"},
    {"compare, generic",
     "%r = \"stablehlo.compare\"(%a, %b) <{comparison_direction = #stablehlo<comparison_direction NE>}> : (" A ", " A
     ") -> tensor<4x6xi1>",
     "tensor<4x6xi1>", "%r = compare(%a, %b) {direction=ne} : bool[4,6]\n"},
    {"select", "%r = stablehlo.select %p, %a, %b : tensor<4x6xi1>, " A, A, "%r = select(%p, %a, %b) : f32[4,6]\n"},
    {"clamp", "%r = stablehlo.clamp %s, %a, %s : (" S ", " A ", " S ") -> " A, A,
     "%r = clamp(%s, %a, %s) : f32[4,6]\n"},
    {"convert", "%r = stablehlo.convert %a : (" A ") -> tensor<4x6xbf16>", "tensor<4x6xbf16>",
     "%r = convert(%a) {dtype=bf16} : bf16[4,6]\n"},
    {"reduce_precision", "%r = stablehlo.reduce_precision %a, format = e5m10 : " A, A,
     "%r = reduce_precision(%a) {exponent_bits=5, mantissa_bits=10} : f32[4,6]\n"},
    {"broadcast_in_dim", "%r = stablehlo.broadcast_in_dim %s, dims = [] : (" S ") -> " A, A,
     "%r = broadcast_in_dim(%s) {dims=[], shape=[4,6]} : f32[4,6]\n"},
    {"transpose", "%r = stablehlo.transpose %a, dims = [1, 0] : (" A ") -> tensor<6x4xf32>", "tensor<6x4xf32>",
     "%r = transpose(%a) {permutation=[1,0]} : f32[6,4]\n"},
    {"dynamic_iota", "%r = stablehlo.dynamic_iota %i, dim = 0 : (tensor<3xi32>) -> tensor<5xi64>", "tensor<5xi64>",
     "%r = iota() {dtype=i64, dim=0, shape=[5]} : i64[5]\n"},
    {"slice", "%r = stablehlo.slice %a [1:3, 0:6:2] : (" A ") -> tensor<2x3xf32>", "tensor<2x3xf32>",
     "%r = slice(%a) {start=[1,0], limit=[3,6], strides=[1,2]} : f32[2,3]\n"},
    {"dynamic_slice",
     "%r = stablehlo.dynamic_slice %a, %n, %n, sizes = [2, 6] : (" A ", tensor<i32>, tensor<i32>) -> tensor<2x6xf32>",
     "tensor<2x6xf32>", "%r = dynamic_slice(%a, %n, %n) {sizes=[2,6]} : f32[2,6]\n"},
    {"pad",
     "%r = stablehlo.pad %a, %s, low = [1, 0], high = [0, -1], interior = [0, 1] : (" A ", " S ") -> tensor<5x10xf32>",
     "tensor<5x10xf32>", "%r = pad(%a, %s) {low=[1,0], high=[0,-1], interior=[0,1]} : f32[5,10]\n"},
    {"concatenate", "%r = stablehlo.concatenate %a, %b, dim = 1 : (" A ", " A ") -> tensor<4x12xf32>",
     "tensor<4x12xf32>", "%r = concatenate(%a, %b) {dim=1} : f32[4,12]\n"},
    {"constant of bits", "%r = stablehlo.constant dense<0xFF800000> : " S, S,
     "%r = constant() {dtype=f32, shape=[], value=-inf} : f32[]\n"},
    {"dot_general",
     "%r = stablehlo.dot_general %a, %b, batching_dims = [0] x [0], contracting_dims = [1] x [1] : (" A ", " A
     ") -> tensor<4xf32>",
     "tensor<4xf32>",
     "%r = dot_general(%a, %b) {lhs_batch=[0], rhs_batch=[0], lhs_contract=[1], rhs_contract=[1]} : f32[4]\n"},
    {"reduce with a neutral start",
     "%z = stablehlo.constant dense<0.0> : " S
     "\n%r = stablehlo.reduce(%a init: %z) applies stablehlo.add across dimensions "
     "= [0] : (" A ", " S ") -> tensor<6xf32>",
     "tensor<6xf32>", "%r = reduce(%a) {dims=[0], kind=sum} : f32[6]\n"},
    {"reduce with a start of its own",
     "%r = stablehlo.reduce(%a init: %s) applies stablehlo.maximum across dimensions = [0] : (" A ", " S
     ") -> tensor<6xf32>",
     "tensor<6xf32>",
     "%r.reduced = reduce(%a) {dims=[0], kind=max} : f32[6]\n"
     "  %r.init = broadcast_in_dim(%s) {dims=[], shape=[6]} : f32[6]\n"
     "  %r = maximum(%r.reduced, %r.init) : f32[6]\n"},
    {"running sum",
     "%z = stablehlo.constant dense<0.0> : " S
     "\n%r = \"stablehlo.reduce_window\"(%a, %z) <{padding = dense<[[0, 0], [5, 0]]>"
     " : tensor<2x2xi64>, window_dimensions = array<i64: 1, 6>}> ({\n^bb0(%x: " S ", %y: " S
     "):\n%t = stablehlo.add %x, %y : " S "\nstablehlo.return %t : " S "\n}) : (" A ", " S ") -> " A,
     A, "%r = cumulative(%a) {dim=1, kind=sum} : f32[4,6]\n"},
    {"gather",
     "%r = \"stablehlo.gather\"(%a, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], "
     "collapsed_slice_dims = [0],"
     " start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (" A
     ", tensor<3xi32>) -> tensor<3x6xf32>",
     "tensor<3x6xf32>",
     "%r = gather(%a, %i) {sizes=[1,6], offset_dims=[1], collapsed_dims=[0], start_index_map=[0], index_vector_dim=1} "
     ": "
     "f32[3,6]\n"},
    {"top_k", "%r, %k = chlo.top_k(%a, k = 2) : " A " -> (tensor<4x2xf32>, tensor<4x2xi32>)", "tensor<4x2xf32>",
     "%r, %k = top_k(%a) {k=2} : f32[4,2], i32[4,2]\n"},
    {"seen through", "%t = stablehlo.optimization_barrier %a : " A "\n%r = stablehlo.negate %t : " A, A,
     "%r = negate(%a) : f32[4,6]\n"},
    {"named computation",
     "%c = sdy.named_computation<\"f\">(%a) (%x: " A ") {\n%t = stablehlo.negate %x : " A "\nsdy.return %t : " A
     "\n} : (" A ") -> " A "\n%r = stablehlo.abs %c : " A,
     A, "%t = negate(%a) : f32[4,6]\n  %r = abs(%t) : f32[4,6]\n"},
    {"fusion",
     "%c = \"mhlo.fusion\"(%a) ({\n^bb0(%x: " A "):\n%t = mhlo.negate %x : " A "\n\"mhlo.return\"(%t) : (" A ") -> ()\n"
     "}) {fusion_kind = #mhlo<fusion_kind kLoop>} : (" A ") -> " A "\n%r = mhlo.abs %c : " A,
     A, "%t = negate(%a) : f32[4,6]\n  %r = abs(%t) : f32[4,6]\n"},
    {"bitcast", "%r = \"mhlo.bitcast\"(%a) : (" A ") -> tensor<24xf32>", "tensor<24xf32>",
     "%r = reshape(%a) {shape=[24]} : f32[24]\n"},
    {"bitcast by layouts",
     "%r = \"mhlo.bitcast\"(%a) {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<[1, 0]> : "
     "tensor<2xindex>} : (" A ") -> tensor<6x4xf32>",
     "tensor<6x4xf32>",
     "%r.reshape = reshape(%a) {shape=[4,6]} : f32[4,6]\n  %r = transpose(%r.reshape) "
     "{permutation=[1,0]} : f32[6,4]\n"},
    {"bitcast of what lies in another order",
     "%r = \"mhlo.bitcast\"(%a) {result_layout = dense<0> : tensor<1xindex>, source_layout = dense<[0, 1]> : "
     "tensor<2xindex>} : (" A ") -> tensor<24xf32>",
     "tensor<24xf32>",
     "%r.transpose = transpose(%a) {permutation=[1,0]} : f32[6,4]\n  %r = reshape(%r.transpose) {shape=[24]} : "
     "f32[24]\n"},
    {"fft",
     "%c = stablehlo.complex %a, %b : tensor<4x6xcomplex<f32>>\n%r = stablehlo.fft %c, type = IFFT, length = [6] : "
     "(tensor<4x6xcomplex<f32>>) -> tensor<4x6xcomplex<f32>>",
     "tensor<4x6xcomplex<f32>>",
     "%c = complex(%a, %b) : c64[4,6]\n  %r = fft(%c) {fft_type=ifft, fft_length=[6]} : c64[4,6]\n"},
    {"broadcast", "%r = stablehlo.broadcast %a, sizes = [2] : (" A ") -> tensor<2x4x6xf32>", "tensor<2x4x6xf32>",
     "%r = broadcast_in_dim(%a) {dims=[1,2], shape=[2,4,6]} : f32[2,4,6]\n"},
    {"get_dimension_size", "%r = stablehlo.get_dimension_size %a, dim = 1 : (" A ") -> tensor<i32>", "tensor<i32>",
     "%r = constant() {dtype=i32, shape=[], value=6} : i32[]\n"},
    {"sizes by division that rounds down, as programs of any size are printed",
     "%c = stablehlo.constant dense<-1> : tensor<i32>\n%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%two = stablehlo.constant dense<-2> : tensor<i32>\n"
     "%size = stablehlo.get_dimension_size %a, dim = 1 : (" A
     ") -> tensor<i32>\n%less = stablehlo.add %size, %c : tensor<i32>\n"
     "%0 = stablehlo.divide %less, %two : tensor<i32>\n%1 = stablehlo.sign %less : tensor<i32>\n"
     "%2 = stablehlo.sign %two : tensor<i32>\n"
     "%3 = stablehlo.compare NE, %1, %2, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%4 = stablehlo.remainder %less, %two : tensor<i32>\n"
     "%5 = stablehlo.compare NE, %4, %z, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
     "%6 = stablehlo.and %3, %5 : tensor<i1>\n%7 = stablehlo.add %0, %c : tensor<i32>\n"
     "%8 = stablehlo.select %6, %7, %0 : tensor<i1>, tensor<i32>\n%9 = stablehlo.negate %8 : tensor<i32>\n"
     "%10 = stablehlo.reshape %9 : (tensor<i32>) -> tensor<1x1xi32>\n"
     "%11 = stablehlo.constant dense<4> : tensor<1x1xi32>\n"
     "%12 = stablehlo.concatenate %10, %11, dim = 0 : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<2x1xi32>\n"
     "%13 = stablehlo.reshape %12 : (tensor<2x1xi32>) -> tensor<2xi32>\n"
     "%14 = stablehlo.dynamic_broadcast_in_dim %s, %13, dims = [] : (" S ", tensor<2xi32>) -> tensor<?x4xf32>\n"
     "%r = stablehlo.negate %14 : tensor<?x4xf32>",
     "tensor<3x4xf32>", "%r = negate(%14) : f32[3,4]\n"},
    {"einsum",
     "%r = \"stablehlo.einsum\"(%a, %b) <{einsum_config = \"ij,kj->ik\"}> : (" A ", " A ") -> tensor<4x4xf32>",
     "tensor<4x4xf32>", "%r = dot_general(%a, %b) {lhs_contract=[1], rhs_contract=[1]} : f32[4,4]\n"},
    {"part of one device",
     "%t = stablehlo.custom_call @SPMDFullToShardShape(%a) : (" A ") -> tensor<1x6xf32>\n%u = stablehlo.sine %t : "
     "tensor<1x6xf32>\n%r = stablehlo.custom_call @SPMDShardToFullShape(%u) : (tensor<1x6xf32>) -> " A,
     A,
     "%t = opaque(%a) {target=SPMDFullToShardShape} : f32[1,6]\n"
     "  %u = opaque(%t) {target=the part of one device} : f32[1,6]\n"
     "  %r = opaque(%u) {target=SPMDShardToFullShape} : f32[4,6]\n"},
    {"unknown with a tuple",
     "%t = stablehlo.custom_call @f(%a) : (" A ") -> tuple<" S ", tuple<tensor<2xi32>, " A ">>\n"
     "%u = stablehlo.get_tuple_element %t[1] : (tuple<" S ", tuple<tensor<2xi32>, " A ">>) -> tuple<tensor<2xi32>, " A
     ">\n%v = stablehlo.get_tuple_element %u[0] : (tuple<tensor<2xi32>, " A ">) -> tensor<2xi32>\n"
     "%r = stablehlo.negate %v : tensor<2xi32>",
     "tensor<2xi32>",
     "%t.0, %t.1, %t.2 = opaque(%a) {target=f} : f32[], i32[2], f32[4,6]\n  %r = negate(%t.1) : i32[2]\n"},
    {"unknown", "%r = \"x.y\"(%a) : (" A ") -> tensor<2xf32>", "tensor<2xf32>",
     "%r = opaque(%a) {target=x.y} : f32[2]\n"},
};

static sw_program *parse(const char *text, size_t n, sw_rc want, sw_diag *d) {
  sw_program *p = NULL;
  sw_rc rc = sw_program_parse("t.mlir", text, n, NULL, &p, d);
  if (rc != want) fail_msg("%d:%d: %s\n%s", d->line, d->col, d->text, text);
  return p;
}

static void check_row(void **state) {
  const row *r = *state;
  sw_text text = {0}, listing = {0}, want = {0};
  sw_text_puts(&text, "func.func @main(" ARGS ") -> ");
  sw_text_printf(&text, "%s {\n%s\nreturn %%r : %s\n}\n", r->type, r->text, r->type);
  sw_program *p = parse(text.at, text.n, SW_OK, &diag);
  sw_graph_print(sw_program_graph(p), &listing);
  sw_text_printf(&want, "  %s  return %%r as result0", r->becomes);
  if (!strstr(sw_text_str(&listing), sw_text_str(&want))) {
    fail_msg("wanted\n%s\nin\n%s", sw_text_str(&want), sw_text_str(&listing));
  }
  sw_program_destroy(p);
  sw_text_free(&text);
  sw_text_free(&listing);
  sw_text_free(&want);
}

/* --- what arguments are ------------------------------------------------------------------------------------------ */

#define B "tensor<6x6xf32>"
#define DONOR " {jax.buffer_donor = true}"
#define LAYERS                                                                                                      \
  "%z = stablehlo.constant dense<0> : tensor<i32>\n%o = stablehlo.constant dense<1> : tensor<i32>\n"                \
  "%n = stablehlo.constant dense<3> : tensor<i32>\n"                                                                \
  "%l:3 = stablehlo.while(%i = %z, %h = %x, %c = %w) : tensor<i32>, " A                                             \
  ", tensor<3x6x6xf32>\n cond {\n"                                                                                  \
  "%p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"                          \
  "stablehlo.return %p : tensor<i1>\n} do {\n"                                                                      \
  "%s = stablehlo.dynamic_slice %c, %i, %z, %z, sizes = [1, 6, 6] : (tensor<3x6x6xf32>, tensor<i32>, tensor<i32>, " \
  "tensor<i32>) -> tensor<1x6x6xf32>\n%m = stablehlo.reshape %s : (tensor<1x6x6xf32>) -> " B                        \
  "\n"                                                                                                              \
  "%y = func.call @layer(%h, %m) : (" A ", " B ") -> " A                                                            \
  "\n%j = stablehlo.add %i, %o : tensor<i32>\n"                                                                     \
  "stablehlo.return %j, %y, %c : tensor<i32>, " A ", tensor<3x6x6xf32>\n}\nreturn %l#1 : " A                        \
  "\n}\n"                                                                                                           \
  "func.func private @layer(%x: " A ", %w: " B ") -> " A                                                            \
  " {\n"                                                                                                            \
  "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\nreturn %0 : " A "\n}"

/* Dims that @Sharding leaves to others. */
static void unspecified_dims_are_open(void **state) {
  (void)state;
  static const char kText[] = "func.func @main(%a: " A ") -> " A
                              " {\n%0 = stablehlo.custom_call @Sharding(%a) {backend_config = "
                              "\"unspecified_dims=[0]\", mhlo.sharding = \"{devices=[1,2,4]<=[8] "
                              "last_tile_dim_replicate}\"} : (" A ") -> " A "\nreturn %0 : " A "\n}";
  sw_mesh by;
  sw_arena a = {0};
  sw_program *p;
  assert_ok(sw_mesh_parse("x=2,y=4", &a, &by, &diag));
  assert_ok(sw_program_parse("t", kText, sizeof kText - 1, &(sw_program_options){.mesh = &by}, &p, &diag));
  const sw_graph *g = sw_program_graph(p);
  assert_int_equal(g->written->n_annotations, 1);
  assert_int_equal(g->written->annotations[0].open_dims, 1);
  sw_program_destroy(p);
  sw_arena_deinit(&a);
}

#define TAKE                                                                                                       \
  "<{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], " \
  "index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 6>}>"

static const struct {
  const char *name, *text;
  const char *kinds; /* a letter per argument: i(nput), p(arameter), s(tate) */
} kRoles[] = {
    {"contracted",
     "func.func @main(%x: " A ", %w: " B ", %b: tensor<6xf32>, %i: tensor<4xi32>) -> " A " {\n"
     "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\nreturn %0 : " A "\n}",
     "ippi"},
    {"layers in a loop, in a function", "func.func @main(%x: " A ", %w: tensor<3x6x6xf32>) -> " A " {\n" LAYERS, "ip"},
    {"weights and what an optimizer remembers come back",
     "func.func @main(%m: " B ", %w: " B ", %x: " A ", %lr: " S ") -> (" B ", " B ", " A ") {\n"
     "%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\n"
     "%1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (" A ", " A ") -> " B "\n"
     "%2 = stablehlo.add %1, %w : " B "\n%3 = stablehlo.add %m, %2 : " B "\n%4 = stablehlo.broadcast_in_dim %lr, dims "
     "= [] : (" S ") -> " B "\n%5 = stablehlo.multiply %4, %3 : " B "\n%6 = stablehlo.subtract %w, %5 : " B
     "\nreturn %6, %3, %0 : " B ", " B ", " A "\n}",
     "ssii"},
    {"what a layer adds to is not state",
     "func.func @main(%x: " A ", %w: " B ") -> " A " {\n%0 = stablehlo.tanh %x : " A "\n%1 = stablehlo.dot_general %0, "
     "%w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A "\n%2 = stablehlo.add %x, %1 : " A "\nreturn %2 : " A
     "\n}",
     "ip"},
    {"what is written into is",
     "func.func @main(%x: " A ", %c: tensor<4x8x6xf32>, %i: tensor<i32>) -> (" S ", tensor<4x8x6xf32>) {\n%z = "
     "stablehlo.constant dense<0> : tensor<i32>\n%s = stablehlo.constant dense<0.0> : " S "\n%0 = stablehlo.reshape %x "
     ": (" A ") -> tensor<4x1x6xf32>\n%1 = stablehlo.dynamic_update_slice %c, %0, %z, %i, %z : (tensor<4x8x6xf32>, "
     "tensor<4x1x6xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<4x8x6xf32>\nreturn %s, %1 : " S
     ", tensor<4x8x6xf32>\n}",
     "isi"},
    {"comes back cut in another way: no state",
     "func.func @main(%x: " A ", %w: " B " {mhlo.sharding = \"{replicated}\"}) -> " B
     " {\n%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A ", " B ") -> " A
     "\n%1 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (" A ", " A ") -> " B
     "\n%2 = stablehlo.subtract %w, %1 : " B "\nreturn %2 : " B "\n}",
     "ip"},
    {"gathered from: a table; as long as what is gathered by data: data",
     "func.func @main(%t: tensor<9x6xf32>, %i: tensor<4xi32>, %l: tensor<4xf32>) -> " A " {\n"
     "%0 = \"stablehlo.gather\"(%t, %i) " TAKE " : (tensor<9x6xf32>, tensor<4xi32>) -> " A "\n"
     "%1 = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> " A "\n%2 = stablehlo.multiply %0, %1 : " A
     "\nreturn %2 : " A "\n}",
     "pii"},
    {"multiplied before it is contracted, and a vector as long as the batch: data; a scale by layers: parameter",
     "func.func @main(%w: " B ", %g: tensor<2x6xf32>, %x: " A ", %t: tensor<4xf32>, %k: tensor<6x9xf32>) -> "
     "tensor<4x9xf32> {\n%0 = stablehlo.multiply %x, %x : " A "\n%1 = stablehlo.dot_general %0, %w, contracting_dims = "
     "[1] x [0] : (" A ", " B ") -> " A "\n%2 = stablehlo.slice %g [0:1, 0:6] : (tensor<2x6xf32>) -> tensor<1x6xf32>\n"
     "%3 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x6xf32>) -> " A
     "\n%4 = stablehlo.multiply %1, %3 : " A "\n%5 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xf32>) -> " A
     "\n%6 = stablehlo.add %4, %5 : " A "\n%7 = stablehlo.dot_general %6, %k, contracting_dims = [1] x [0] : (" A
     ", tensor<6x9xf32>) -> tensor<4x9xf32>\n"
     "return %7 : tensor<4x9xf32>\n}",
     "ppiip"},
    {"beside what is made of examples, in its shape: data",
     "func.func @main(%x: " A ", %w: " B ", %b: tensor<6xf32>, %y: tensor<6xf32>) -> (" S ") {\n%z = "
     "stablehlo.constant dense<0.0> : " S "\n%0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (" A
     ", " B ") -> " A "\n%1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> " A
     "\n%2 = stablehlo.add %0, %1 : " A
     "\n%3 = stablehlo.reduce(%2 init: %z) applies stablehlo.add across dimensions = [0] : (" A ", " S ") -> "
     "tensor<6xf32>\n%4 = stablehlo.subtract %3, %y : tensor<6xf32>\n%5 = stablehlo.reduce(%4 init: %z) applies "
     "stablehlo.add across dimensions = [0] : (tensor<6xf32>, " S ") -> " S "\nreturn %5 : " S "\n}",
     "ippi"},
    {"integers are data, but for weights that are packed in them",
     "func.func @main(%x: tensor<4x16xf32>, %t: tensor<4x2xi32>, %w: tensor<2x6xui32>, %s: tensor<8x1xui32>) -> " A
     " {\n"
     "%e = stablehlo.constant dense<[0, 4, 8, 12, 16, 20, 24, 28]> : tensor<8xui32>\n"
     "%b = stablehlo.broadcast_in_dim %e, dims = [1] : (tensor<8xui32>) -> tensor<2x8x6xui32>\n"
     "%0 = stablehlo.broadcast_in_dim %w, dims = [0, 2] : (tensor<2x6xui32>) -> tensor<2x8x6xui32>\n"
     "%1 = stablehlo.shift_right_logical %0, %b : tensor<2x8x6xui32>\n"
     "%f = stablehlo.constant dense<15> : tensor<2x8x6xui32>\n%2 = stablehlo.and %1, %f : tensor<2x8x6xui32>\n"
     "%3 = stablehlo.convert %2 : (tensor<2x8x6xui32>) -> tensor<2x8x6xf32>\n"
     "%4 = stablehlo.reshape %3 : (tensor<2x8x6xf32>) -> tensor<16x6xf32>\n"
     "%5 = stablehlo.dot_general %x, %4, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x6xf32>) -> " A
     "\nreturn %5 : " A "\n}",
     "iipi"},
    {"keys and values share their batch with queries",
     "func.func @main(%q: tensor<4x5x6xf32>, %k: tensor<4x7x6xf32>, %v: tensor<4x7x3xf32>) -> tensor<4x5x3xf32> {\n"
     "%0 = stablehlo.dot_general %q, %k, batching_dims = [0] x [0], contracting_dims = [2] x [2] : (tensor<4x5x6xf32>, "
     "tensor<4x7x6xf32>) -> tensor<4x5x7xf32>\n%1 = stablehlo.exponential %0 : tensor<4x5x7xf32>\n"
     "%2 = stablehlo.dot_general %1, %v, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x5x7xf32>, "
     "tensor<4x7x3xf32>) -> tensor<4x5x3xf32>\nreturn %2 : tensor<4x5x3xf32>\n}",
     "iii"},
    {"experts have only what their router makes",
     "func.func @main(%x: tensor<16x6xf32>, %r: tensor<6x4xf32>, %w: tensor<4x6x9xf32>) -> tensor<4x16x9xf32> {\n"
     "%0 = stablehlo.dot_general %x, %r, contracting_dims = [1] x [0] : (tensor<16x6xf32>, tensor<6x4xf32>) -> "
     "tensor<16x4xf32>\n%1 = stablehlo.broadcast_in_dim %0, dims = [1, 0] : (tensor<16x4xf32>) -> tensor<4x16x6xf32>\n"
     "%2 = stablehlo.broadcast_in_dim %x, dims = [1, 2] : (tensor<16x6xf32>) -> tensor<4x16x6xf32>\n"
     "%3 = stablehlo.multiply %1, %2 : tensor<4x16x6xf32>\n%4 = stablehlo.dot_general %3, %w, batching_dims = [0] x "
     "[0], contracting_dims = [2] x [1] : (tensor<4x16x6xf32>, tensor<4x6x9xf32>) -> tensor<4x16x9xf32>\n"
     "return %4 : tensor<4x16x9xf32>\n}",
     "ipp"},
    {"a cache is data, in which nothing is written; state, where it is",
     "func.func @main(%a: " A " {jax.arg_info = \"k_cache\"}, %b: " A
     " {jax.arg_info = \"v_cache\"}, %x: tensor<1x6xf32> {jax.arg_info = \"input\"}, "
     "%i: tensor<i32>) -> (" A ", " A ") {\n%z = stablehlo.constant dense<0> : tensor<i32>\n"
     "%0 = stablehlo.dynamic_update_slice %a, %x, %i, %z : (" A ", tensor<1x6xf32>, tensor<i32>, tensor<i32>) -> " A
     "\n%1 = stablehlo.negate %b : " A "\nreturn %1, %0 : " A ", " A "\n}",
     "siii"},
    {"donated: the first output of the type",
     "func.func @main(%a: " A DONOR ", %b: " A ", %c: " B DONOR ", %d: " A DONOR ", %e: " A DONOR ") -> (" S ", " A
     ", " A ") {\n%0 = stablehlo.constant dense<0.0> : " S "\nreturn %0, %a, %b : " S ", " A ", " A "\n}",
     "sppsp"},
};

static void finds_roles(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof kRoles / sizeof *kRoles; i++) {
    static const char kLetters[] = {[SW_VALUE_INPUT] = 'i', [SW_VALUE_PARAMETER] = 'p', [SW_VALUE_STATE] = 's'};
    sw_program *p = parse(kRoles[i].text, strlen(kRoles[i].text), SW_OK, &diag);
    const sw_graph *g = sw_program_graph(p);
    char found[16] = "";
    for (int k = 0; k < g->n_args; k++) found[k] = kLetters[g->values[g->args[k]].kind];
    if (strcmp(found, kRoles[i].kinds) != 0)
      fail_msg("%s: '%s', expected '%s'", kRoles[i].name, found, kRoles[i].kinds);
    sw_program_destroy(p);
  }
}

/* --- what is refused --------------------------------------------------------------------------------------------- */

typedef struct bad {
  const char *name, *text;
  int line, col;
  const char *message;
} bad;

#define MAIN "func.func @main(%a: " A ") -> " A " {\n"

static const bad kBad[] = {
    {"no function", "module {\n}", 1, 1, "the program has no function with a body; expected @main"},
    {"a portable artifact", "\"builtin.module\"() ({\n  \"vhlo.func_v1\"() ({\n  }) : () -> ()\n}) : () -> ()", 2, 4,
     "the program is in VHLO; expected StableHLO (stablehlo-translate --deserialize prints it)"},
    {"bytecode", "ML\xefR\rMLIR21.0.0", 1, 1,
     "found MLIR bytecode; expected text (stablehlo-translate --deserialize prints it)"},
    {"undefined value", MAIN "  return %b : " A "\n}", 2, 10,
     "value '%b' is not defined here; expected one from above"},
    {"defined twice", MAIN "  %a = stablehlo.abs %a : " A "\n  return %a : " A "\n}", 2, 4,
     "value '%a' is defined twice; expected a new name"},
    {"result out of range", MAIN "  return %a#1 : " A "\n}", 2, 10,
     "value '%a' has 1 results; expected #1 to be below"},
    {"another type",
     "func.func @main(%a: " A ") -> tensor<4x7xf32> {\n  %0 = stablehlo.abs %a : tensor<4x7xf32>\n  return %0 : "
     "tensor<4x7xf32>\n}",
     2, 3, "result 0 is f32[4,6] by the operands and attributes, but f32[4,7] by its type"},
    {"another result", "func.func @main(%a: " A ") -> " S " {\n  return %a : " A "\n}", 2, 3,
     "returned value 0 is " A "; expected " S ", as the function declares"},
    {"unknown function", MAIN "  %0 = call @f(%a) : (" A ") -> " A "\n  return %0 : " A "\n}", 2, 3,
     "there is no function '@f'"},
    {"recursion", MAIN "  %0 = call @main(%a) : (" A ") -> " A "\n  return %0 : " A "\n}", 2, 3,
     "a function calls itself; expected calls without recursion"},
    {"unknown size",
     "func.func @main(%a: tensor<1xi32>) -> tensor<?xf32> {\n  %0 = stablehlo.dynamic_iota %a, dim = 0 : "
     "(tensor<1xi32>) -> tensor<?xf32>\n  return %0 : tensor<?xf32>\n}",
     2, 3, "dim 0 of the result has a size that is not known ('?'); planning needs all sizes"},
    {"unknown element", "func.func @main(%a: tensor<2xi7>) {\n  return\n}", 1, 30,
     "element type 'i7' is not supported; expected a float, integer, boolean or complex type of StableHLO"},
    {"partitioned already",
     MAIN "  %0 = \"stablehlo.all_gather\"(%a) <{all_gather_dim = 0 : i64}> : (" A ") -> " A "\n  return %0 : " A "\n}",
     2, 3, "'stablehlo.all_gather' is of a program that is partitioned already; expected the whole program"},
    {"too few elements", MAIN "  %0 = stablehlo.constant dense<[1.0, 2.0]> : tensor<3xf32>\n  return %a : " A "\n}", 2,
     42, "there are 2 elements in a list of dim 0; expected 3"},
    {"unknown size of an argument",
     "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n  %0 = stablehlo.sine %a : tensor<?xf32>\n"
     "  return %0 : tensor<?xf32>\n}",
     1, 18, "the size of dim 0 of 'a' is not known (?); expected known sizes"},
    {"unknown size of an argument, of which others are made",
     "func.func @main(%a: tensor<?xf32>) -> tensor<?xf32> {\n  %n = stablehlo.get_dimension_size %a, dim = 0 : "
     "(tensor<?xf32>) -> tensor<i32>\n  %m = stablehlo.add %n, %n : tensor<i32>\n  %s = stablehlo.reshape %m : "
     "(tensor<i32>) -> tensor<1xi32>\n  %z = stablehlo.constant dense<0.0> : tensor<f32>\n  %0 = "
     "stablehlo.dynamic_broadcast_in_dim %z, %s, dims = [] : (tensor<f32>, tensor<1xi32>) -> tensor<?xf32>\n"
     "  return %0 : tensor<?xf32>\n}",
     1, 18, "the size of dim 0 of 'a' is not known (?); expected known sizes"},
    {"unknown size with a bound", "func.func @main(%a: tensor<?xf32, #stablehlo.bounds<8>>) {\n  return\n}", 1, 18,
     "the size of dim 0 of 'a' is not known (?); expected known sizes; write a bound in place of its '?' to plan the "
     "program of padded tensors"},
    {"unknown size with a bound, spelled out",
     "func.func @main(%a: tensor<?xf32, #stablehlo.type_extensions<bounds = [8]>>) {\n  return\n}", 1, 18,
     "the size of dim 0 of 'a' is not known (?); expected known sizes; write a bound in place of its '?' to plan the "
     "program of padded tensors"},
    {"scales of blocks", "func.func @main(%a: tensor<4x!quant.uniform<i8:f32:{0:2}, {1.0, 2.0}>>) {\n  return\n}", 1,
     52, "found '{0:2}, {1.0,'; expected a number"},
    {"layout of other dims",
     MAIN "  %0 = \"mhlo.bitcast\"(%a) {source_layout = dense<[0, 2]> : tensor<2xindex>} : (" A ") -> " A
          "\n  return %0 : " A "\n}",
     2, 3, "'source_layout' has no order of 2 dims; expected each of them once, minor to major"},
    {"another quantized type", "func.func @main(%a: tensor<4x!quant.any<i8:f32>>) {\n  return\n}", 1, 30,
     "element type '!quant.any<i8:f32>' is not supported; expected a float, integer, boolean or complex type of "
     "StableHLO"},
    {"too few scales",
     "func.func @main(%a: tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) {\n  %0 = stablehlo.uniform_dequantize %a : "
     "(tensor<4x!quant.uniform<i8:f32:0, {1.0, 2.0}>>) -> tensor<4xf32>\n  return\n}",
     2, 3, "a quantized type has 2 scales for dim 0; expected one for each index"},
    {"a tuple for a tensor",
     MAIN "  %t = stablehlo.tuple %a : tuple<" A ">\n  %0 = stablehlo.abs %t : tuple<" A ">\n  return %a : " A "\n}", 3,
     22, "value '%t' is a tuple and no tensor; expected the result of an op with one"},
    {"no such element",
     MAIN "  %t = stablehlo.tuple %a : tuple<" A ">\n  %0 = stablehlo.get_tuple_element %t[1] : (tuple<" A ">) -> " A
          "\n  return %0 : " A "\n}",
     3, 3, "expected the number of one of the 1 elements"},
    {"an operand of another type",
     MAIN "  %0 = stablehlo.convert %a : (tensor<4x7xf32>) -> tensor<4x7xf64>\n  return %a : " A "\n}", 2, 26,
     "value '%a' is " A "; expected tensor<4x7xf32>, as the op says"},
    {"an operand of another element type, in a region",
     MAIN "  %z = stablehlo.constant dense<0.0> : " S
          "\n  %0 = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 1>}> ({\n  ^bb0(%x: " S ", %y: " S
          "):\n    %c = stablehlo.add %x, %y : tensor<i32>\n    stablehlo.return %c : " S "\n  }) : (" A ", " S
          ") -> tensor<4xf32>\n  return %a : " A "\n}",
     6, 22, "value '%c' is tensor<i32>; expected " S ", as the op says"},
    {"types of fewer operands",
     MAIN "  %0 = stablehlo.compare LT, %a, %a : (" A ") -> tensor<4x6xi1>\n  return %a : " A "\n}", 2, 39,
     "there are types of 1 operands; expected 2, one for each"},
    {"fewer names than results",
     MAIN "  %k = stablehlo.constant dense<1> : tensor<2xui64>\n  %0 = stablehlo.rng_bit_generator %k, algorithm = "
          "PHILOX : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)\n  return %a : " A "\n}",
     3, 3, "'stablehlo.rng_bit_generator' gives 2 results, but 1 names are given; expected as many"},
    {"a scatter by region with updates of more dims than its indices have",
     MAIN
     "  %i = stablehlo.constant dense<0> : tensor<2x1xi32>\n  %u = stablehlo.constant dense<1.0> : "
     "tensor<2x1x1x1x1x1x1x1x1x1x1x1xf32>\n  %0 = \"stablehlo.scatter\"(%a, %i, %u) <{scatter_dimension_numbers = "
     "#stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> "
     "({\n  ^bb0(%x: " S ", %y: " S "):\n    %c = stablehlo.subtract %x, %y : " S "\n    stablehlo.return %c : " S
     "\n  }) : (" A ", tensor<2x1xi32>, tensor<2x1x1x1x1x1x1x1x1x1x1x1xf32>) -> " A "\n  return %0 : " A "\n}",
     4, 3, "the updates do not have the dims of the indices, but for dim 1, beside their windows"},
    {"no region",
     MAIN "  %z = stablehlo.constant dense<0.0> : " S
          "\n  %0 = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 1>}> : (" A ", " S
          ") -> tensor<4xf32>\n  return %a : " A "\n}",
     3, 3, "'stablehlo.reduce' has 0 regions; expected 1"},
    {"a region of three values",
     MAIN "  %z = stablehlo.constant dense<0.0> : " S
          "\n  %0 = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 1>}> ({\n  ^bb0(%x: " S ", %y: " S ", %q: " S
          "):\n    %c = stablehlo.add %x, %y : " S "\n    stablehlo.return %c : " S "\n  }) : (" A ", " S
          ") -> tensor<4xf32>\n  return %a : " A "\n}",
     3, 67, "region 0 of 'stablehlo.reduce' takes 3 values; expected 2"},
    {"a region that returns two",
     MAIN "  %z = stablehlo.constant dense<0.0> : " S
          "\n  %0 = \"stablehlo.reduce\"(%a, %z) <{dimensions = array<i64: 1>}> ({\n  ^bb0(%x: " S ", %y: " S
          "):\n    %c = stablehlo.add %x, %y : " S "\n    stablehlo.return %c, %c : " S ", " S "\n  }) : (" A ", " S
          ") -> tensor<4xf32>\n  return %a : " A "\n}",
     6, 5, "region 0 of 'stablehlo.reduce' returns 2 values; expected 1"},
    {"an empty branch",
     MAIN "  %i = stablehlo.constant dense<0> : tensor<i32>\n  %0 = "
          "\"stablehlo.case\"(%i) ({\n    stablehlo.return %a : " A "\n  }, {\n  }) : (tensor<i32>) -> " A
          "\n  return %a : " A "\n}",
     5, 6, "region 1 of 'stablehlo.case' is empty; expected ops and a return"},
    {"an op behind the return", MAIN "  return %a : " A "\n  %0 = stablehlo.abs %a : " A "\n}", 3, 3,
     "an op stands behind the return of its block; expected none"},
    {"a function twice",
     "func.func @main(%a: " A ") -> " A " {\n  return %a : " A "\n}\nfunc.func @main(%a: " A ") -> " A
     " {\n  return %a : " A "\n}",
     4, 1, "function '@main' is defined twice; expected a new name"},
    {"another argument of a function",
     MAIN "  %0 = call @f(%a) : (" A ") -> " S "\n  return %a : " A "\n}\nfunc.func private @f(%x: " S ") -> " S
          " {\n  return %x : " S "\n}",
     2, 23, "argument 0 is " A "; expected " S ", which the function takes"},
    {"another result of a function",
     MAIN "  %0 = call @f(%a) : (" A ") -> " S "\n  return %a : " A "\n}\nfunc.func private @f(%x: " A ") -> " A
          " {\n  return %x : " A "\n}",
     2, 3, "result 0 is " S "; expected " A ", as the function declares"},
    {"returned by a function that nobody calls",
     MAIN "  return %a : " A "\n}\nfunc.func private @f(%x: " A ") -> " S " {\n  return %x : " A "\n}", 5, 3,
     "returned value 0 is " A "; expected " S ", as the function declares"},
    {"a list of other dims",
     MAIN "  %0 = stablehlo.constant dense<[[1, 2], [3, 4], [5, 6]]> : tensor<2x3xi32>\n  return %a : " A "\n}", 2, 39,
     "there are 2 elements in a list of dim 1; expected 3"},
    {"a number where a list belongs",
     MAIN "  %0 = stablehlo.constant dense<[1, [2]]> : tensor<2x1xi32>\n  return %a : " A "\n}", 2, 34,
     "expected '[', a list for each of 2 dims"},
    {"a number out of range",
     MAIN "  %0 = stablehlo.constant dense<[127, -129]> : tensor<2xi8>\n  return %a : " A "\n}", 2, 39,
     "expected a number in range as an element of i8"},
    {"a float past the largest",
     MAIN "  %0 = stablehlo.constant dense<[4.48e2, 18446744073709551616.0]> : tensor<2xf8E4M3FN>\n  return %a : " A
          "\n}",
     2, 42, "expected a number in range as an element of f8E4M3FN"},
    {"a flag that is none",
     "func.func @main(%a: tensor<4x4xf32>) {\n  %0 = stablehlo.cholesky %a, lower = yes : tensor<4x4xf32>\n  return\n}",
     2, 39, "expected true or false as 'lower'"},
    {"an unknown way to transpose",
     "func.func @main(%a: tensor<4x4xf32>) {\n  %0 = \"stablehlo.triangular_solve\"(%a, %a) <{left_side = true, lower "
     "= true, "
     "transpose_a = #stablehlo<transpose TWICE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> "
     "tensor<4x4xf32>\n  return\n}",
     2, 93, "expected NO_TRANSPOSE, TRANSPOSE or ADJOINT as 'transpose_a'"},
    {"groups that are no number",
     "func.func @main(%a: tensor<4x6xf32>, %k: tensor<6x2xf32>) {\n  %0 = stablehlo.convolution(%a, %k) dim_numbers = "
     "[b, "
     "f]x[i, o]->[b, f], window = {} {batch_group_count = x : i64, feature_group_count = 1 : i64} : (tensor<4x6xf32>, "
     "tensor<6x2xf32>) -> tensor<4x2xf32>\n  return\n}",
     2, 108, "expected a whole number as 'batch_group_count'"},
    {"one name for two", MAIN "  %0 = my.op %a : " A " -> (" A ", " S ")\n  return %a : " A "\n}", 2, 3,
     "'my.op' gives 2 results, but 1 names are given; expected as many"},
    {"another carry of a scan",
     MAIN "  %k = stablehlo.constant dense<0.0> : tensor<8xf32>\n"
          "  %0:2 = chlo.scan(%a) inits (%k) dimension=0 {\n    ^bb0(%x: tensor<8xf32>, %c: tensor<8xf32>):\n"
          "      stablehlo.return %x, %c : tensor<8xf32>, tensor<8xf32>\n  } : (" A ", tensor<8xf32>) -> (" A ", " S
          ")\n  return %a : " A "\n}",
     3, 3, "result 1 is f32[8] by the operands and attributes, but f32[] by its type"},
    {"tiles of a vector",
     "module attributes {mhlo.num_partitions = 8 : i32} {\nfunc.func @main(%a: " A
     " {mhlo.sharding = \"{devices=[8]<=[8]}\"}) -> " A " {\n  return %a : " A "\n}\n}",
     2, 54, "the sharding has 1 dimensions; expected 2, the tensor's rank"},
    {"no return", MAIN "  %0 = stablehlo.abs %a : " A "\n}", 3, 1, "a region ends without a return"},
};

static void check_bad(void **state) {
  const bad *b = *state;
  diag = (sw_diag){0};
  assert_null(parse(b->text, strlen(b->text), SW_E_INPUT, &diag));
  assert_string_equal(diag.text, b->message);
  assert_int_equal(diag.line, b->line);
  assert_int_equal(diag.col, b->col);
}

/* --- annotations ------------------------------------------------------------------------------------------------- */

static void reads_shardings(void **state) {
  (void)state;
  static const char kText[] =
      "module {\n  sdy.mesh @m = <[\"x\"=2, \"y\"=4]>\n  func.func @main(%a: " A
      " {sdy.sharding = #sdy.sharding<@m, [{\"x\", ?}, {}]>}, %b: " A
      " {sdy.sharding = #sdy.sharding<@m, [{?}, {?}]>}) -> " A
      " {\n    %0 = sdy.sharding_constraint %b <@m, [{\"y\"}, {\"x\"}]> : " A "\n    return %0 : " A "\n  }\n}\n";
  static const struct {
    sw_keep keep;
    int annotations;
  } kKeep[] = {{SW_KEEP_ALL, 2}, {SW_KEEP_IO, 1}, {SW_KEEP_NONE, 0}};
  for (int i = 0; i < 3; i++) {
    sw_program *p;
    assert_ok(sw_program_parse("t", kText, sizeof kText - 1, &(sw_program_options){.keep = kKeep[i].keep}, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    assert_true(g->written->has_mesh);
    assert_int_equal(g->written->mesh.axis[1].size, 4);
    assert_int_equal(g->written->n_annotations, kKeep[i].annotations);
    if (i < 2) {
      assert_int_equal(g->written->annotations[0].open_dims, 1);
      assert_true(g->written->annotations[0].required);
    }
    sw_program_destroy(p);
  }
}

/* A sharding is of the mesh that it names: where that has other axes than the one at hand, it is left out, and the
 * shardings of other meshes are not. */
static void reads_two_meshes(void **state) {
  (void)state;
  static const char *const kNames[] = {"w", "b", "1", "0/p"}; /* the last is inside the computation */
  static const struct {
    const char *mesh, *said; /* NULL: the first; shardings of these values, - where there is none */
  } kCases[] = {{NULL, "- [[x]] [[y],[x]] - "},
                {"x=2,y=2", "- [[x]] [[y],[x]] - "},
                {"m=4", "[[m],[]] - - [[m],[],[]] "},
                {"m=4,x=2,y=2", "[[m],[]] [[x]] [[y],[x]] [[m],[],[]] "},
                {"a=4", "- - - - "}};
  for (size_t i = 0; i < sizeof kCases / sizeof *kCases; i++) {
    sw_arena a = {0};
    sw_mesh given;
    sw_program *p;
    sw_text said = {0};
    if (kCases[i].mesh) assert_ok(sw_mesh_parse(kCases[i].mesh, &a, &given, &diag));
    assert_ok(sw_program_read(SW_SOURCE_DIR "/tests/data/two_meshes.mlir",
                              &(sw_program_options){.mesh = kCases[i].mesh ? &given : NULL}, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    for (size_t n = 0; n < sizeof kNames / sizeof *kNames; n++) {
      const sw_annotation *found = NULL;
      for (int32_t k = 0; k < g->written->n_annotations && !found; k++) {
        if (strcmp(g->values[g->written->annotations[k].value].name, kNames[n]) == 0)
          found = &g->written->annotations[k];
      }
      if (found) sw_sharding_print(&g->written->mesh, &found->sharding, &said);
      sw_text_puts(&said, found ? " " : "- ");
    }
    assert_string_equal(sw_text_str(&said), kCases[i].said);
    sw_text_free(&said);
    sw_program_destroy(p);
    sw_arena_deinit(&a);
  }
}

/* GSPMD's tiles over x=2,y=4; NULL: no axes give them. */
static const struct {
  const char *tiles, *sharding;
} kTiles[] = {
    {"{replicated}", "[[],[]]"},
    {"{devices=[2,1,4]<=[8] last_tile_dim_replicate}", "[[x],[]]"},
    {"{devices=[1,8]<=[8]}", "[[],[x,y]]"},
    {"{devices=[4,2]<=[2,4]T(1,0)}", "[[y],[x]]"},
    {"{devices=[4,2]0,4,1,5,2,6,3,7}", "[[y],[x]]"},
    {"{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}", "[[y:(2)2],[]]"},
    {"{devices=[2,1,2,2]<=[8] last_tile_dims={manual, replicated}}", "[[x],[]]"},
    {"{devices=[2,1,4]<=[8] last_tile_dims={manual}}", "[[x],[]]"},
    {"{devices=[1,2,2,2]<=[2,4]T(1,0) last_tile_dims={replicated, manual}}", "[[],[y:(1)2]]"},
    {"{devices=[2,1,2,2]<=[8] last_tile_dims={unreduced, replicated}}", NULL},
    {"{devices=[3,2]<=[6]}", NULL},
    {"{devices=[8,1]7,6,5,4,3,2,1,0}", NULL},
    {"{devices=[2,4]0,0,1,2,3,4,5,6}", NULL},
    {"{maximal device=0}", NULL},
    {"{devices=[", NULL},
};

static void reads_tiles(void **state) {
  (void)state;
  sw_mesh by;
  sw_arena a = {0};
  assert_ok(sw_mesh_parse("x=2,y=4", &a, &by, &diag));
  for (size_t i = 0; i < sizeof kTiles / sizeof *kTiles; i++) {
    sw_text text = {0}, found = {0};
    sw_program *p;
    sw_text_printf(&text, "func.func @main(%%a: " A " {mhlo.sharding = \"%s\"}) -> " A " {\nreturn %%a : " A "\n}",
                   kTiles[i].tiles);
    assert_ok(sw_program_parse("t", text.at, text.n, &(sw_program_options){.mesh = &by}, &p, &diag));
    const sw_graph *g = sw_program_graph(p);
    assert_int_equal(g->written->n_annotations, kTiles[i].sharding != NULL);
    if (kTiles[i].sharding) {
      sw_sharding_print(&by, &g->written->annotations[0].sharding, &found);
      assert_string_equal(sw_text_str(&found), kTiles[i].sharding);
    }
    sw_program_destroy(p);
    sw_text_free(&text);
    sw_text_free(&found);
  }
  sw_arena_deinit(&a);
}

/* --- real programs ----------------------------------------------------------------------------------------------- */

static sw_arena arena;
static sw_mesh mesh;
static sw_machine *machine;

/* Annotated once is annotated for good; and where nothing was annotated before, characters were only added. */
static void check_emitted(const sw_program *p, const char *text, size_t n) {
  sw_plan plan;
  sw_text once = {0}, twice = {0};
  sw_program *again;
  assert_ok(sw_plan_build(JOB(sw_program_graph(p), machine), &arena, &plan, &diag));
  assert_ok(sw_program_emit(p, &plan, "sdy-ops", &once, &diag));
  assert_ok(sw_program_parse("again", once.at, once.n, &(sw_program_options){.mesh = &mesh}, &again, &diag));
  assert_ok(sw_plan_build(JOB(sw_program_graph(again), machine), &arena, &plan, &diag));
  assert_ok(sw_program_emit(again, &plan, "sdy-ops", &twice, &diag));
  assert_string_equal(sw_text_str(&once), sw_text_str(&twice));
  size_t at = 0;
  bool is_bare = !strstr(text, "sdy.sharding =") && !strstr(text, "mhlo.sharding =");
  for (size_t i = 0; is_bare && i < n; i++) {
    while (at < once.n && once.at[at] != text[i]) at++;
    assert_true(at < once.n);
    at++;
  }
  sw_text_free(&once);
  sw_text_free(&twice);
  sw_program_destroy(again);
}

/* With constraints it is a program, too, and can be constrained again. */
static void check_constrained(const sw_program *p) {
  sw_plan plan;
  sw_text once = {0}, twice = {0};
  sw_program *again;
  assert_ok(sw_plan_build(JOB(sw_program_graph(p), machine), &arena, &plan, &diag));
  assert_ok(sw_program_emit(p, &plan, "sdy", &once, &diag));
  assert_ok(sw_program_parse("again", once.at, once.n, &(sw_program_options){.mesh = &mesh}, &again, &diag));
  assert_ok(sw_plan_build(JOB(sw_program_graph(again), machine), &arena, &plan, &diag));
  assert_ok(sw_program_emit(again, &plan, "sdy", &twice, &diag));
  sw_text_free(&once);
  sw_text_free(&twice);
  sw_program_destroy(again);
}

static void check_program(const char *path) {
  char *text;
  size_t n;
  sw_program *p;
  sw_text printed = {0};
  assert_ok(sw_file_read(path, &text, &n, &diag));
  assert_true(sw_program_is("x", text));
  assert_ok(sw_program_print_parsed(path, text, n, NULL, &printed, &diag));
  assert_true(printed.n == n && memcmp(sw_text_str(&printed), text, n) == 0);
  sw_text_free(&printed);
  assert_ok(sw_program_parse(path, text, n, &(sw_program_options){.mesh = &mesh}, &p, &diag));
  check_emitted(p, text, n);
  check_constrained(p);
  sw_program_destroy(p);
  sw_mem_free(text);
}

static void open_machine(void) {
  const sw_profile *profile;
  assert_ok(sw_mesh_parse("x=2,y=2", &arena, &mesh, &diag));
  assert_ok(sw_profile_read("local", &arena, &profile, &diag));
  assert_ok(sw_machine_build(&arena, profile, &mesh, &machine, &diag));
}

static void check_folder(const char *folder, int least) {
  struct dirent **entries;
  int n = scandir(folder, &entries, NULL, alphasort), programs = 0;
  assert_true(n >= 0);
  for (int i = 0; i < n; i++) {
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    size_t length = strlen(path);
    if (length > 5 && strcmp(path + length - 5, ".mlir") == 0) {
      check_program(path);
      programs++;
    }
    free(entries[i]);
  }
  free(entries);
  assert_true(programs >= least);
}

static void own_programs_come_back(void **state) {
  (void)state;
  open_machine();
  check_folder(SW_SOURCE_DIR "/tests/data", 9);
}

static void real_programs_come_back(void **state) {
  (void)state;
  const char *folder = getenv("SHARDWRIGHT_PROGRAMS_DIR");
  if (!folder || !*folder) {
    print_message("skipped: SHARDWRIGHT_PROGRAMS_DIR is not set\n");
    skip();
  }
  check_folder(folder, 1);
}

static const struct CMUnitTest kMore[] = {
    cmocka_unit_test(finds_roles),
    cmocka_unit_test(reads_shardings),
    cmocka_unit_test(reads_two_meshes),
    cmocka_unit_test(reads_tiles),
    cmocka_unit_test(unspecified_dims_are_open),
    cmocka_unit_test(own_programs_come_back),
    cmocka_unit_test(real_programs_come_back),
};

enum {
  N_ROWS = sizeof kRows / sizeof *kRows,
  N_BAD = sizeof kBad / sizeof *kBad,
  N_MORE = sizeof kMore / sizeof *kMore
};

int main(void) {
  struct CMUnitTest tests[N_MORE + N_ROWS + N_BAD];
  memcpy(tests, kMore, sizeof kMore);
  for (size_t i = 0; i < N_ROWS; i++) {
    tests[N_MORE + i] =
        (struct CMUnitTest){.name = kRows[i].name, .test_func = check_row, .initial_state = (void *)&kRows[i]};
  }
  for (size_t i = 0; i < N_BAD; i++) {
    tests[N_MORE + N_ROWS + i] =
        (struct CMUnitTest){.name = kBad[i].name, .test_func = check_bad, .initial_state = (void *)&kBad[i]};
  }
  int failed = cmocka_run_group_tests_name("stablehlo", tests, NULL, NULL);
  sw_arena_deinit(&arena);
  return failed;
}
