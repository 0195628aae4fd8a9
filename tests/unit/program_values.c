/* Programs of one op with their numbers: examples of StableHLO's specification, and regions that no reduction has.
 * Every program runs on one device, then under random plans on several meshes, and must give the same numbers each
 * time.
 */
#include <stdlib.h>
#include <math.h>
#include <string.h>

#include "check.h"

#include "support/random_plan.h"
#include "shardwright/hash.h"
#include "shardwright/profile_json.h"
#include "shardwright/program.h"
#include "shardwright/scalar.h"
#include "shardwright/validate.h"

/* The function's body up to `return %r` (or %r#0, %r#1, ... of several types), and all elements of all results. */
typedef struct row {
  const char *name, *types, *body, *want;
} row;

#define C(name, value, type) "%" name " = stablehlo.constant dense<" value "> : tensor<" type ">\n"
#define UNARY(op, x, type, want) \
  { op, "tensor<" type ">", C("x", x, type) "%r = stablehlo." op " %x : tensor<" type ">\n", want }
#define BINARY(op, x, y, type, want) \
  { op, "tensor<" type ">", C("x", x, type) C("y", y, type) "%r = stablehlo." op " %x, %y : tensor<" type ">\n", want }
#define BLOCK2(t, ops) "({\n^bb0(%a: tensor<" t ">, %b: tensor<" t ">):\n" ops "})"
#define FURTHER /* of two numbers the one further from 0, the second one when they are alike */ \
  "%m = stablehlo.abs %a : tensor<i32>\n%n = stablehlo.abs %b : tensor<i32>\n"                  \
  "%p = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"              \
  "%s = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>\nstablehlo.return %s : tensor<i32>\n"
#define LATER /* (value, place): the greater value, the second one when they are alike */                       \
  "({\n^bb0(%a: tensor<i32>, %i: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>):\n"                             \
  "%p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"                              \
  "%v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>\n%w = stablehlo.select %p, %i, %j : tensor<i1>, " \
  "tensor<i32>\nstablehlo.return %v, %w : tensor<i32>, tensor<i32>\n})"
#define SUM BLOCK2("f32", "%s = stablehlo.add %a, %b : tensor<f32>\nstablehlo.return %s : tensor<f32>\n")
#define NORM_X C("x", "[[[1.0,2.0],[3.0,4.0]],[[3.0,4.0],[1.0,2.0]]]", "2x2x2xf32")
#define ONES(name) C(name, "1.0", "2xf32")
#define TABLE \
  "%i = stablehlo.iota dim = 0 : tensor<48xi64>\n" C("one", "1", "48xi64")                                           \
  "%j = stablehlo.add %i, %one : tensor<48xi64>\n%x = stablehlo.reshape %j : (tensor<48xi64>) -> tensor<2x3x4x2xi64>\n" \
  C("s", "[[[[0,0],[1,0],[2,1]],[[0,1],[1,1],[0,9]]],[[[0,0],[2,1],[2,2]],[[1,2],[0,1],[1,0]]]]", "2x2x3x2xi64")

#define Q8 "!quant.uniform<i8:f32, 0.5:-20>"
#define QAXIS "!quant.uniform<i8<-4:4>:f32:1, {0.5, 0.25:1}>"
#define Q4 "!quant.uniform<u4:f64, 2.0>"
static const row kRows[] = {
    {"uniform_quantize rounds to even and clamps", "tensor<6xi8>",
     C("x", "[1.3,0.25,0.75,-60.0,100.0,-0.25]",
       "6xf32") "%q = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x" Q8 ">\n"
                "%r = stablehlo.bitcast_convert %q : (tensor<6x" Q8 ">) -> tensor<6xi8>\n",
     "-17 -20 -18 -128 127 -20"},
    {"uniform_dequantize", "tensor<3xf32>",
     "%q = stablehlo.constant() <{value = dense<[-128, -20, 127]> : tensor<3xi8>}> : () -> tensor<3x" Q8 ">\n"
     "%r = stablehlo.uniform_dequantize %q : (tensor<3x" Q8 ">) -> tensor<3xf32>\n",
     "-54 0 73.5"},
    {"quantized along a dim", "tensor<2x2xf32>",
     C("x", "[[1.3,1.3],[-9.0,0.1]]",
       "2x2xf32") "%q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x" QAXIS ">\n"
                  "%r = stablehlo.uniform_dequantize %q : (tensor<2x2x" QAXIS ">) -> tensor<2x2xf32>\n",
     "1.5 0.75 -2 0"},
    {"quantized anew, in fewer bits", "tensor<3xi8>",
     C("x", "[1.4,7.2,90.0]", "3xf32") "%q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x" Q8 ">\n"
                                       "%p = stablehlo.uniform_quantize %q : (tensor<3x" Q8 ">) -> tensor<3x" Q4 ">\n"
                                       "%b = stablehlo.bitcast_convert %p : (tensor<3x" Q4 ">) -> tensor<3xui8>\n"
                                       "%r = stablehlo.convert %b : (tensor<3xui8>) -> tensor<3xi8>\n",
     "1 4 15"},
    {"arithmetic of quantized numbers", "tensor<2xf32>",
     "%a = stablehlo.constant() <{value = dense<[-18, 20]> : tensor<2xi8>}> : () -> tensor<2x" Q8 ">\n"
     "%b = stablehlo.reverse %a, dims = [0] : tensor<2x" Q8 ">\n%c = stablehlo.multiply %a, %b : tensor<2x" Q8 ">\n"
     "%d = stablehlo.add %c, %a : tensor<2x" Q8 ">\n"
     "%r = stablehlo.uniform_dequantize %d : (tensor<2x" Q8 ">) -> tensor<2xf32>\n",
     "21 40"},
    {"a loop that carries quantized numbers", "tensor<2xf32>",
     C("i", "0", "i32") C("n", "3", "i32")
         C("one", "1",
           "i32") "%a = stablehlo.constant() <{value = dense<[-18, -20]> : tensor<2xi8>}> : () -> tensor<2x" Q8 ">\n"
                  "%w:2 = stablehlo.while(%k = %i, %x = %a) : tensor<i32>, tensor<2x" Q8 ">\n cond {\n"
                  "%p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\nstablehlo.return %p : "
                  "tensor<i1>\n"
                  "} do {\n%k1 = stablehlo.add %k, %one : tensor<i32>\n%y = stablehlo.add %x, %x : tensor<2x" Q8 ">\n"
                  "stablehlo.return %k1, %y : tensor<i32>, tensor<2x" Q8 ">\n}\n"
                  "%r = stablehlo.uniform_dequantize %w#1 : (tensor<2x" Q8 ">) -> tensor<2xf32>\n",
     "8 0"},
    {"tuples in tuples", "tensor<2xi32>",
     C("x", "[1,2]", "2xi32")
         C("y", "[3,5]",
           "2xi32") "%t = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<2xi32>>\n"
                    "%u = \"stablehlo.tuple\"(%t, %x) : (tuple<tensor<2xi32>, tensor<2xi32>>, tensor<2xi32>) -> "
                    "tuple<tuple<tensor<2xi32>, tensor<2xi32>>, tensor<2xi32>>\n"
                    "%v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<2xi32>, tensor<2xi32>>, "
                    "tensor<2xi32>>) -> "
                    "tuple<tensor<2xi32>, tensor<2xi32>>\n"
                    "%w = \"stablehlo.get_tuple_element\"(%v) <{index = 1 : i32}> : (tuple<tensor<2xi32>, "
                    "tensor<2xi32>>) -> "
                    "tensor<2xi32>\n%r = stablehlo.subtract %w, %x : tensor<2xi32>\n",
     "2 3"},
    {"while over a tuple", "tensor<2xi32>",
     C("i", "0", "i32") C("x", "[1,2]", "2xi32") C("three", "3", "i32") C(
         "one", "1",
         "i32") "%k = stablehlo.tuple %three, %one : tuple<tensor<i32>, tensor<i32>>\n"
                "%t = stablehlo.tuple %i, %x : tuple<tensor<i32>, tensor<2xi32>>\n"
                "%w = \"stablehlo.while\"(%t) ({\n^bb0(%a: tuple<tensor<i32>, tensor<2xi32>>):\n"
                "%i0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<i32>\n"
                "%n = stablehlo.get_tuple_element %k[0] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>\n"
                "%p = stablehlo.compare LT, %i0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                "stablehlo.return %p : tensor<i1>\n}, {\n^bb0(%a: tuple<tensor<i32>, tensor<2xi32>>):\n"
                "%i0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<i32>\n"
                "%x0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<2xi32>\n"
                "%o = stablehlo.get_tuple_element %k[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>\n"
                "%i1 = stablehlo.add %i0, %o : tensor<i32>\n%x1 = stablehlo.add %x0, %x0 : tensor<2xi32>\n"
                "%b = stablehlo.tuple %i1, %x1 : tuple<tensor<i32>, tensor<2xi32>>\n"
                "stablehlo.return %b : tuple<tensor<i32>, tensor<2xi32>>\n}) : (tuple<tensor<i32>, tensor<2xi32>>) -> "
                "tuple<tensor<i32>, tensor<2xi32>>\n"
                "%r = stablehlo.get_tuple_element %w[1] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<2xi32>\n",
     "8 16"},
    {"a choice that gives a tuple", "tensor<2xi32>",
     C("p", "false", "i1") C("x", "[1,2]", "2xi32")
         C("y", "[5,7]",
           "2xi32") "%t = \"stablehlo.if\"(%p) ({\n%a = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<2xi32>>\n"
                    "stablehlo.return %a : tuple<tensor<2xi32>, tensor<2xi32>>\n}, {\n"
                    "%a = stablehlo.tuple %y, %x : tuple<tensor<2xi32>, tensor<2xi32>>\n"
                    "stablehlo.return %a : tuple<tensor<2xi32>, tensor<2xi32>>\n}) : (tensor<i1>) -> "
                    "tuple<tensor<2xi32>, tensor<2xi32>>\n"
                    "%r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>\n",
     "5 7"},
    {"top_k as a tuple", "tensor<2xf32>",
     C("x", "[3.0,9.0,4.0]",
       "3xf32") "%t = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : "
                "(tensor<3xf32>) -> "
                "tuple<tensor<2xf32>, tensor<2xi32>>\n"
                "%r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xf32>\n",
     "9 4"},
    {"zeta", "tensor<4xf64>",
     C("x", "[2.0,3.0,2.0,1.0]", "4xf64") C(
         "q", "[1.0,-2.3,-2.0,5.0]", "4xf64") "%r = chlo.zeta %x, %q : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>\n",
     "1.6449340668482264 -34.35689626463514 inf inf"},
    {"polygamma", "tensor<3xf64>",
     C("n", "[3.0,0.0,1.5]", "3xf64") C(
         "x", "[-2.3,1.0,2.0]", "3xf64") "%r = chlo.polygamma %n, %x : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>\n",
     "768.9350646661427 -0.5772156649015329 nan"},
    {"bessel_i1e", "tensor<4xf64>",
     C("x", "[0.5,-3.0,39.0,1.0e3]", "4xf64") "%r = chlo.bessel_i1e %x : tensor<4xf64> -> tensor<4xf64>\n",
     "0.15642080318487173 -0.19682671329730084 0.06326260540048712 0.012610930256928629"},
    {"broadcast_add of two shapes", "tensor<2x3xi32>",
     C("x", "[[1],[2]]", "2x1xi32")
         C("y", "[10,20,30]",
           "3xi32") "%r = chlo.broadcast_add %x, %y : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>\n",
     "11 21 31 12 22 32"},
    {"broadcast_subtract with dims", "tensor<2x3xi32>",
     C("x", "[1,2]", "2xi32")
         C("y", "[[1,2,3],[4,5,6]]", "2x3xi32") "%r = chlo.broadcast_subtract %x, %y {broadcast_dimensions = "
                                                "array<i64: 0>} : (tensor<2xi32>, tensor<2x3xi32>) "
                                                "-> tensor<2x3xi32>\n",
     "0 -1 -2 -2 -3 -4"},
    {"broadcast_compare", "tensor<2x2xi1>",
     C("x", "[[1],[4]]", "2x1xi32")
         C("y", "[[2,3]]", "1x2xi32") "%r = chlo.broadcast_compare %x, %y {comparison_direction = "
                                      "#chlo<comparison_direction LT>} : (tensor<2x1xi32>, "
                                      "tensor<1x2xi32>) -> tensor<2x2xi1>\n",
     "1 1 0 0"},
    {"broadcast_select", "tensor<2xi32>",
     C("p", "true", "i1") C("x", "[1,2]", "2xi32")
         C("y", "7",
           "i32") "%r = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>\n",
     "1 2"},
    {"is_neg_inf", "tensor<4xi1>",
     C("x", "[0xFF800000,0x7F800000,0x7FC00000,1.0]",
       "4xf32") "%r = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>\n",
     "1 0 0 0"},
    {"is_inf", "tensor<4xi1>",
     C("x", "[0xFF800000,0x7F800000,0x7FC00000,1.0]", "4xf32") "%r = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>\n",
     "1 1 0 0"},
    {"constant_like", "tensor<3xf32>",
     C("x", "1.0",
       "3xf32") "%r = \"chlo.constant_like\"(%x) <{value = 2.5 : f32}> : (tensor<3xf32>) -> tensor<3xf32>\n",
     "2.5 2.5 2.5"},
    {"conj", "tensor<2xf32>",
     C("x", "[(1.0,2.0),(3.0,-4.0)]",
       "2xcomplex<f32>") "%c = chlo.conj %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>\n"
                         "%r = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>\n",
     "-2 4"},
    {"real_dynamic_slice of constants", "tensor<1x2xi32>",
     C("x", "[[1,2,3,4],[5,6,7,8]]", "2x4xi32") C("f", "[1,0]", "2xi64") C("l", "[2,4]", "2xi64")
         C("s", "[1,2]", "2xi64") "%r = stablehlo.real_dynamic_slice %x, %f, %l, %s : (tensor<2x4xi32>, tensor<2xi64>, "
                                  "tensor<2xi64>, tensor<2xi64>) "
                                  "-> tensor<1x2xi32>\n",
     "5 7"},
    {"real_dynamic_slice from a computed start", "tensor<1x2xi32>",
     C("x", "[[1,2,3,4],[5,6,7,8]]", "2x4xi32") C("h", "[0,1]", "2xi64") C("l", "[1,4]", "2xi64")
         C("s", "[1,2]",
           "2xi64") "%f = stablehlo.add %h, %h : tensor<2xi64>\n%g = stablehlo.subtract %f, %h : tensor<2xi64>\n"
                    "%r = stablehlo.real_dynamic_slice %x, %g, %l, %s : (tensor<2x4xi32>, tensor<2xi64>, "
                    "tensor<2xi64>, tensor<2xi64>) "
                    "-> tensor<1x2xi32>\n",
     "2 4"},
    {"dynamic_pad", "tensor<6xi32>",
     C("x", "[1,2]", "2xi32") C("v", "9", "i32") C("l", "[1]", "1xi64") C("h", "[2]", "1xi64")
         C("i", "[1]", "1xi64") "%r = stablehlo.dynamic_pad %x, %v, %l, %h, %i : (tensor<2xi32>, tensor<i32>, "
                                "tensor<1xi64>, tensor<1xi64>, "
                                "tensor<1xi64>) -> tensor<6xi32>\n",
     "9 1 9 2 9 9"},
    {"dynamic_gather", "tensor<2x3xi32>",
     C("x", "[[1,2,3],[4,5,6],[7,8,9]]", "3x3xi32") C("i", "[2,0]", "2xi32")
         C("z", "[1,3]", "2xi32") "%r = \"stablehlo.dynamic_gather\"(%x, %i, %z) <{dimension_numbers = "
                                  "#stablehlo.gather<offset_dims = [1], "
                                  "collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : "
                                  "(tensor<3x3xi32>, tensor<2xi32>, "
                                  "tensor<2xi32>) -> tensor<2x3xi32>\n",
     "7 8 9 1 2 3"},
    {"torch_index_select", "tensor<2x2x2xi32>",
     C("x", "[[1,2],[3,4],[5,6]]", "3x2xi32")
         C("i", "[[2,0],[1,1]]", "2x2xi32") "%r = \"stablehlo.torch_index_select\"(%x, %i) <{dim = 0 : i64, batch_dims "
                                            "= 0 : i64}> : (tensor<3x2xi32>, "
                                            "tensor<2x2xi32>) -> tensor<2x2x2xi32>\n",
     "5 6 1 2 3 4 3 4"},
    {"torch_index_select, shared dims", "tensor<2x2xi32>",
     C("x", "[[1,2,3],[4,5,6]]", "2x3xi32")
         C("i", "[[2,0],[1,1]]", "2x2xi32") "%r = \"stablehlo.torch_index_select\"(%x, %i) <{dim = 1 : i64, batch_dims "
                                            "= 1 : i64}> : (tensor<2x3xi32>, "
                                            "tensor<2x2xi32>) -> tensor<2x2xi32>\n",
     "3 1 5 5"},
    {"set_dimension_size to what it is", "tensor<2xi32>",
     C("x", "[1,2]", "2xi32")
         C("n", "2",
           "i32") "%r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>\n",
     "1 2"},
    UNARY("abs", "[-2,0,2]", "3xi32", "2 0 2"),
    UNARY("cbrt", "[0.0,1.0,8.0,27.0]", "4xf64", "0 1 2 3"),
    UNARY("ceil", "[-0.8166,-0.2530,0.2530,0.8166,2.0]", "5xf32", "-0 -0 1 1 2"),
    UNARY("count_leading_zeros", "[[0,1],[128,-1]]", "2x2xi64", "64 63 56 0"),
    UNARY("exponential_minus_one", "[0.0,1.0]", "2xf64", "0 1.71828182845904530"),
    UNARY("log_plus_one", "[0.0,-0.999,7.0,6.38905621,15.0]", "5xf64",
          "0 -6.907755278982137 2.079441541679836 2.0000000149 2.772588722239781"),
    UNARY("logistic", "[[0.0,1.0],[2.0,3.0]]", "2x2xf64", "0.5 0.73105858 0.88079708 0.95257413"),
    UNARY("not", "[[1,2],[3,4]]", "2x2xi32", "-2 -3 -4 -5"),
    UNARY("popcnt", "[0,1,2,127]", "4xi64", "0 1 1 7"),
    UNARY("round_nearest_afz", "[-2.5,0.4,0.5,0.6,2.5]", "5xf64", "-3 0 1 1 3"),
    UNARY("round_nearest_even", "[-2.5,0.4,0.5,0.6,2.5]", "5xf64", "-2 0 0 1 2"),
    UNARY("rsqrt", "[[1.0,4.0],[9.0,25.0]]", "2x2xf32", "1 0.5 0.333333343 0.2"),
    UNARY("sign", "[0x7FF0000000000001,-1.0,-0.0,0.0,1.0]", "5xf64", "nan -1 -0 0 1"),
    BINARY("atan2", "[0.0,1.0,-1.0]", "[0.0,0.0,0.0]", "3xf64", "0 1.57079637 -1.57079637"),
    BINARY("remainder", "[17,-17,17,-17]", "[3,3,-3,-3]", "4xi64", "2 -2 2 -2"),
    BINARY("divide", "[17.1,-17.1,17.1,-17.1]", "[3.0,3.0,-3.0,-3.0]", "4xf32", "5.7 -5.7 -5.7 5.7"),
    BINARY("divide", "[17,-17,7,-128]", "[3,3,0,-1]", "4xi8", "5 -5 -1 -128"),
    BINARY("power", "[-2,0,-1,5,3,10]", "[2,0,-3,-1,4,1]", "6xi64", "4 1 -1 0 81 10"),
    BINARY("shift_left", "[-1,0,1,1]", "[1,2,3,64]", "4xi64", "-2 0 8 0"),
    BINARY("shift_right_arithmetic", "[-1,0,8,-8]", "[1,2,3,99]", "4xi64", "-1 0 1 -1"),
    BINARY("shift_right_logical", "[-1,0,8,8]", "[1,2,3,99]", "4xi8", "127 0 1 0"),
    BINARY("xor", "[[1,2],[3,4]]", "[[5,6],[7,8]]", "2x2xi32", "4 4 4 12"),
    {"float to integer saturates", "tensor<5xi8>",
     C("x", "[300.0,-300.0,0x7FC00000,1.9,-1.9]",
       "5xf32") "%r = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi8>\n",
     "127 -128 0 1 -1"},
    {"bitcast_convert to a narrower type", "tensor<4xf16>",
     C("x", "0x0123456789ABCDEF", "f64") "%r = stablehlo.bitcast_convert %x : (tensor<f64>) -> tensor<4xf16>\n",
     "-23.734375 -0.000172972679 5.40234375 1.7344951629638672e-05"},
    {"cholesky", "tensor<3x3xf32>",
     C("x", "[[1.0,2.0,3.0],[2.0,20.0,26.0],[3.0,26.0,70.0]]",
       "3x3xf32") "%r = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>\n",
     "1 0 0 2 4 0 3 5 6"},
    {"triangular_solve", "tensor<3x3xf32>",
     C("a", "[[1.0,0.0,0.0],[2.0,4.0,0.0],[3.0,5.0,6.0]]", "3x3xf32")
         C("b", "[[2.0,0.0,0.0],[4.0,8.0,0.0],[6.0,10.0,12.0]]",
           "3x3xf32") "%r = \"stablehlo.triangular_solve\"(%a, %b) <{left_side = true, lower = true, unit_diagonal = "
                      "false, transpose_a = "
                      "#stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>\n",
     "2 0 0 0 2 0 0 0 2"},
    {"convolution", "tensor<1x2x2x1xf32>",
     C("x",
       "[[[[1.0],[2.0],[5.0],[6.0]],[[3.0],[4.0],[7.0],[8.0]],[[10.0],[11.0],[14.0],[15.0]],[[12.0],[13.0],[16.0],"
       "[17.0]]]]",
       "1x4x4x1xf32")
         C("w", "1.0", "3x3x1x1xf32") "%r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, "
                                      "0, 1, f], window = {stride = [4, 4], "
                                      "lhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, "
                                      "feature_group_count = 1 : i64} : "
                                      "(tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x2x2x1xf32>\n",
     "10 26 46 62"},
    {"convolution with a window turned around", "tensor<1x3x1xf32>",
     C("x", "[[[1.0],[2.0],[3.0]]]", "1x3x1xf32")
         C("w", "[[[1.0]],[[10.0]]]", "2x1x1xf32") "%r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, "
                                                   "o]->[b, 0, f], window = {pad = [[0, 1]], reverse = "
                                                   "[true]} {batch_group_count = 1 : i64, feature_group_count = 1 : "
                                                   "i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>) -> "
                                                   "tensor<1x3x1xf32>\n",
     "12 23 30"},
    {"dot_general of complex numbers", "tensor<2x2xcomplex<f32>>",
     C("x", "[[(1.0,2.0),(3.0,0.0)],[(0.0,1.0),(2.0,-1.0)]]",
       "2x2xcomplex<f32>") "%r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : "
                           "(tensor<2x2xcomplex<f32>>, "
                           "tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>\n",
     "-3 7 9 3 -1 3 3 -1"},
    {"dynamic_slice", "tensor<2x2xi32>",
     C("x", "[[0,0,1,1],[0,0,1,1],[0,0,0,0],[0,0,0,0]]", "4x4xi32") C("i", "-1", "i64")
         C("j", "3", "i64") "%r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<4x4xi32>, tensor<i64>, "
                            "tensor<i64>) -> "
                            "tensor<2x2xi32>\n",
     "1 1 1 1"},
    {"fft", "tensor<4xcomplex<f32>>",
     C("x", "[(1.0,0.0),(0.0,0.0),(0.0,0.0),(0.0,0.0)]",
       "4xcomplex<f32>") "%r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> "
                         "tensor<4xcomplex<f32>>\n",
     "1 0 1 0 1 0 1 0"},
    {"gather with batch dims", "tensor<2x2x3x2x2xi64>",
     TABLE
     "%r = \"stablehlo.gather\"(%x, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], "
     "collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = "
     "[2, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 2, 2>, indices_are_sorted = false}> : "
     "(tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi64>\n",
     "1 2 3 4 3 4 5 6 13 14 15 16 33 34 35 36 35 36 37 38 41 42 43 44 "
     "1 2 3 4 13 14 15 16 21 22 23 24 43 44 45 46 33 34 35 36 27 28 29 30"},
    {"scatter with batch dims", "tensor<2x3x4x2xi64>",
     TABLE C("u", "1", "2x2x3x2x2xi64") "%r = \"stablehlo.scatter\"(%x, %s, %u) <{scatter_dimension_numbers = "
                                        "#stablehlo.scatter<update_window_dims = [3, 4], "
                                        "inserted_window_dims = [1], input_batching_dims = [0], "
                                        "scatter_indices_batching_dims = [1], "
                                        "scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>, "
                                        "indices_are_sorted = false, unique_indices = false}> " BLOCK2(
                                            "i64",
                                            "%t = stablehlo.add %a, %b : tensor<i64>\nstablehlo.return %t : "
                                            "tensor<i64>\n") " : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, "
                                                             "tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>\n",
     "3 4 6 7 6 7 7 8 9 10 11 12 15 16 17 18 17 18 19 20 22 23 24 25 "
     "25 26 28 29 30 31 31 32 35 36 38 39 38 39 39 40 41 42 44 45 46 47 47 48"},
    {"map", "tensor<2x2xi32>",
     C("x", "[[0,1],[2,3]]", "2x2xi32")
         C("y", "[[4,5],[6,7]]", "2x2xi32") "%r = \"stablehlo.map\"(%x, %y) <{dimensions = array<i64: 0, 1>}> " BLOCK2(
             "i32",
             "%t = stablehlo.multiply %a, %b : tensor<i32>\nstablehlo.return %t : tensor<i32>\n") " : "
                                                                                                  "(tensor<2x2xi32>, "
                                                                                                  "tensor<2x2xi32>) -> "
                                                                                                  "tensor<2x2xi32>\n",
     "0 5 12 21"},
    {"pad", "tensor<5x9xi32>",
     C("x", "[[1,2,3],[4,5,6]]", "2x3xi32")
         C("z", "0", "i32") "%r = stablehlo.pad %x, %z, low = [0, 1], high = [2, 1], interior = [1, 2] : "
                            "(tensor<2x3xi32>, tensor<i32>) -> "
                            "tensor<5x9xi32>\n",
     "0 1 0 0 2 0 0 3 0 0 0 0 0 0 0 0 0 0 0 4 0 0 5 0 0 6 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"},
    {"reduce_window", "tensor<2x2xf32>",
     C("x", "[[1.0,2.0],[3.0,4.0],[5.0,6.0]]", "3x2xf32")
         C("z", "0.0", "f32") "%r = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 2, 1>, "
                              "window_strides = array<i64: 4, 1>, "
                              "base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = "
                              "dense<[[2, 1], [0, 0]]> : "
                              "tensor<2x2xi64>}> " SUM " : (tensor<3x2xf32>, tensor<f32>) -> tensor<2x2xf32>\n",
     "0 0 3 4"},
    {"reduce_window from 1, which is padding, too", "tensor<4xf32>",
     C("x", "[10.0,20.0,30.0]", "3xf32")
         C("z", "1.0", "f32") "%r = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 2>, padding = "
                              "dense<[[1, 1]]> : "
                              "tensor<1x2xi64>}> " SUM " : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>\n",
     "12 31 51 32"},
    {"reduce_window by a region", "tensor<5xi32>",
     C("x", "[1,-4,4,2,-3,3,0,9]", "8xi32")
         C("z", "0", "i32") "%r = \"stablehlo.reduce_window\"(%x, %z) <{window_dimensions = array<i64: 5>, "
                            "window_strides = array<i64: 2>, padding "
                            "= dense<[[2, 3]]> : tensor<1x2xi64>}> " BLOCK2(
                                "i32", FURTHER) " : (tensor<8xi32>, tensor<i32>) -> tensor<5xi32>\n",
     "4 4 4 9 9"},
    {"reduce by a region", "tensor<2xi32>",
     C("x", "[[[1,-4],[4,2],[-3,3]],[[0,0],[0,-7],[5,6]]]", "2x3x2xi32")
         C("z", "0", "i32") "%r = \"stablehlo.reduce\"(%x, %z) <{dimensions = array<i64: 1, 2>}> " BLOCK2(
             "i32", FURTHER) " : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<2xi32>\n",
     "4 -7"},
    {"reduce of two, the last of the greatest", "tensor<2xi32>, tensor<2xi32>",
     C("x", "[[3,1,3,3,2],[1,1,0,0,1]]", "2x5xi32") "%k = stablehlo.iota dim = 1 : tensor<2x5xi32>\n" C(
         "z", "-9",
         "i32") "%r:2 = \"stablehlo.reduce\"(%x, %k, %z, %z) <{dimensions = array<i64: 1>}> " LATER
                " : (tensor<2x5xi32>, tensor<2x5xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)\n",
     "3 1 3 4"},
    {"reduce_window of two", "tensor<4xi32>, tensor<4xi32>",
     C("x", "[3,1,3,3,2]", "5xi32") "%k = stablehlo.iota dim = 0 : tensor<5xi32>\n" C(
         "z", "-9",
         "i32") "%r:2 = \"stablehlo.reduce_window\"(%x, %k, %z, %z) <{window_dimensions = array<i64: 2>}> " LATER
                " : (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>) -> (tensor<4xi32>, tensor<4xi32>)\n",
     "3 3 3 3 0 2 3 3"},
    {"reduce of nothing", "tensor<3xi32>",
     "%x = stablehlo.iota dim = 0 : tensor<0x3xi32>\n" C("z", "7", "i32") "%r = \"stablehlo.reduce\"(%x, %z) "
                                                                          "<{dimensions = array<i64: 0>}> " BLOCK2(
                                                                              "i32", FURTHER) " : (tensor<0x3xi32>, "
                                                                                              "tensor<i32>) -> "
                                                                                              "tensor<3xi32>\n",
     "7 7 7"},
    {"select_and_scatter", "tensor<4x2xf32>",
     C("x", "[[1.0,5.0],[2.0,5.0],[3.0,6.0],[4.0,4.0]]", "4x2xf32") C("s", "[[5.0,6.0],[7.0,8.0]]", "2x2xf32")
         C("z", "0.0", "f32") "%r = \"stablehlo.select_and_scatter\"(%x, %s, %z) <{window_dimensions = array<i64: 3, "
                              "1>, window_strides = "
                              "array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({\n^bb0(%a: "
                              "tensor<f32>, %b: tensor<f32>):\n"
                              "%t = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> "
                              "tensor<i1>\nstablehlo.return %t : tensor<i1>\n}, {\n"
                              "^bb0(%a: tensor<f32>, %b: tensor<f32>):\n%t = stablehlo.add %a, %b : "
                              "tensor<f32>\nstablehlo.return %t : "
                              "tensor<f32>\n}) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>\n",
     "0 0 0 0 5 14 7 0"},
    {"sort of two, descending", "tensor<2x3xi64>, tensor<2x3xi64>",
     C("x", "[[1,2,3],[3,2,1]]", "2x3xi64")
         C("y", "[[3,2,1],[1,2,3]]", "2x3xi64") "%r:2 = \"stablehlo.sort\"(%x, %y) <{dimension = 0 : i64, is_stable = "
                                                "true}> ({\n^bb0(%a: tensor<i64>, %b: tensor<i64>, "
                                                "%c: tensor<i64>, %d: tensor<i64>):\n%t = stablehlo.compare GT, %a, %b "
                                                ": (tensor<i64>, tensor<i64>) -> tensor<i1>\n"
                                                "stablehlo.return %t : tensor<i1>\n}) : (tensor<2x3xi64>, "
                                                "tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi64>)\n",
     "3 2 3 1 2 1 1 2 1 3 2 3"},
    {"sort by a comparator of its own, stable", "tensor<2x7xi32>, tensor<2x7xi32>",
     C("x", "[[3,-1,2,-3,1,0,-2],[5,-5,4,-4,5,-5,0]]",
       "2x7xi32") "%k = stablehlo.iota dim = 1 : tensor<2x7xi32>\n"
                  "%r:2 = \"stablehlo.sort\"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({\n^bb0(%a: "
                  "tensor<i32>, %b: tensor<i32>, "
                  "%c: tensor<i32>, %d: tensor<i32>):\n%m = stablehlo.abs %a : tensor<i32>\n%n = stablehlo.abs %b : "
                  "tensor<i32>\n"
                  "%t = stablehlo.compare LT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
                  "stablehlo.return %t : tensor<i1>\n}) : (tensor<2x7xi32>, tensor<2x7xi32>) -> (tensor<2x7xi32>, "
                  "tensor<2x7xi32>)\n",
     "0 -1 1 2 -2 3 -3 0 4 -4 5 -5 5 -5 5 1 4 2 6 0 3 6 2 3 0 1 4 5"},
    {"scatter by a region, places that meet", "tensor<6xi32>",
     C("x", "[1,1,1,1,1,1]", "6xi32") C("s", "[[2],[5],[2],[6],[-1],[2]]", "6x1xi32")
         C("u", "[1,2,3,4,5,6]",
           "6xi32") "%r = \"stablehlo.scatter\"(%x, %s, %u) <{scatter_dimension_numbers = "
                    "#stablehlo.scatter<inserted_window_dims = [0], "
                    "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> " BLOCK2(
                        "i32",
                        "%t = stablehlo.add %a, %a : tensor<i32>\n%v = stablehlo.subtract %t, %b : tensor<i32>\n"
                        "stablehlo.return %v : tensor<i32>\n") " : (tensor<6xi32>, tensor<6x1xi32>, tensor<6xi32>) -> "
                                                               "tensor<6xi32>\n",
     "1 1 -8 1 1 0"},
    {"scatter into two at once", "tensor<4xi32>, tensor<4xi32>",
     C("x", "[10,20,30,40]", "4xi32") C("y", "[1,2,3,4]", "4xi32") C("s", "[[3],[0]]", "2x1xi32")
         C("u", "[5,6]",
           "2xi32") "%r:2 = \"stablehlo.scatter\"(%x, %y, %s, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<"
                    "inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, "
                    "unique_indices = true}> ({\n"
                    "^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):\n%v = stablehlo.add %a, "
                    "%b : tensor<i32>\n"
                    "%w = stablehlo.subtract %c, %a : tensor<i32>\nstablehlo.return %v, %w : tensor<i32>, "
                    "tensor<i32>\n}) : "
                    "(tensor<4xi32>, tensor<4xi32>, tensor<2x1xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, "
                    "tensor<4xi32>)\n",
     "11 20 30 44 -4 2 3 -35"},
    {"scatter by or, with batch dims, one by one", "tensor<2x4xi32>",
     C("x", "0", "2x4xi32") C("s", "[[[1],[1],[3]],[[0],[2],[0]]]", "2x3x1xi32")
         C("u", "[[1,2,4],[1,2,4]]", "2x3xi32") "%r = \"stablehlo.scatter\"(%x, %s, %u) <{scatter_dimension_numbers = "
                                                "#stablehlo.scatter<inserted_window_dims = [1], "
                                                "input_batching_dims = [0], scatter_indices_batching_dims = [0], "
                                                "scatter_dims_to_operand_dims = [1], index_vector_dim "
                                                "= 2>}> " BLOCK2(
                                                    "i32",
                                                    "%t = stablehlo.or %a, %b : tensor<i32>\nstablehlo.return %t : "
                                                    "tensor<i32>\n") " : (tensor<2x4xi32>, tensor<2x3x1xi32>, "
                                                                     "tensor<2x3xi32>) -> tensor<2x4xi32>\n",
     "0 3 0 4 5 0 2 0"},
    {"scatter drops a window that does not fit", "tensor<5xi32>",
     C("x", "0", "5xi32") C("s", "[[3],[4],[-1],[0]]", "4x1xi32")
         C("u", "[[1,2],[3,4],[5,6],[7,8]]",
           "4x2xi32") "%r = \"stablehlo.scatter\"(%x, %s, %u) <{scatter_dimension_numbers = "
                      "#stablehlo.scatter<update_window_dims = [1], "
                      "scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> " BLOCK2(
                          "i32",
                          "%t = stablehlo.add %a, %b : tensor<i32>\nstablehlo.return %t : "
                          "tensor<i32>\n") " : (tensor<5xi32>, tensor<4x1xi32>, "
                                           "tensor<4x2xi32>) -> tensor<5xi32>\n",
     "7 8 0 1 2"},
    {"batch_norm_inference", "tensor<2x2x2xf32>",
     NORM_X ONES("s") ONES("o") C("m", "[2.0,3.0]", "2xf32") ONES(
         "v") "%r = \"stablehlo.batch_norm_inference\"(%x, %s, %o, %m, %v) <{epsilon = 0.0 : f32, feature_index = 2 : "
              "i64}> : "
              "(tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>\n",
     "0 0 2 2 2 2 0 0"},
    {"batch_norm_training", "tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>",
     NORM_X ONES("s") ONES(
         "o") "%r:3 = \"stablehlo.batch_norm_training\"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : "
              "(tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2x2xf32>, tensor<2xf32>, "
              "tensor<2xf32>)\n",
     "0 0 2 2 2 2 0 0 2 3 1 1"},
    {"batch_norm_grad", "tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>",
     NORM_X ONES("s") C("m", "[2.0,3.0]", "2xf32") ONES("v")
         C("g", "0.1", "2x2x2xf32") "%r:3 = \"stablehlo.batch_norm_grad\"(%x, %s, %m, %v, %g) <{epsilon = 0.0 : f32, "
                                    "feature_index = 2 : i64}> : "
                                    "(tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, "
                                    "tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, "
                                    "tensor<2xf32>, tensor<2xf32>)\n",
     "0 0 0 0 0 0 0 0 0 0 0.4 0.4"},
    {"batch_norm_grad of another gradient", "tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>",
     C("x", "[[1.0],[2.0],[3.0],[6.0]]", "4x1xf32") C("s", "2.0", "1xf32") C("m", "3.0", "1xf32") C("v", "3.5", "1xf32")
         C("g", "[[1.0],[0.0],[0.0],[2.0]]", "4x1xf32") "%r:3 = \"stablehlo.batch_norm_grad\"(%x, %s, %m, %v, %g) "
                                                        "<{epsilon = 0.5 : f32, feature_index = 1 : i64}> : "
                                                        "(tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>, "
                                                        "tensor<1xf32>, tensor<4x1xf32>) -> (tensor<4x1xf32>, "
                                                        "tensor<1xf32>, tensor<1xf32>)\n",
     "0.75 -0.5 -0.75 0.5 2 3"},
    {"next_after", "tensor<5xf32>",
     C("x", "[1.0,1.0,0.0,-1.0,2.0]", "5xf32")
         C("y", "[2.0,0.0,-1.0,0.0,2.0]",
           "5xf32") "%r = chlo.next_after %x, %y : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>\n",
     "1.00000011920928955 0.999999940395355225 -1.40129846e-45 -0.999999940395355225 2"},
    {"while", "tensor<i64>, tensor<i64>",
     C("i", "0", "i64") C("s", "0", "i64") C("one", "1", "i64")
         C("ten", "10",
           "i64") "%r:2 = stablehlo.while(%a = %i, %b = %s) : tensor<i64>, tensor<i64>\n cond {\n"
                  "%p = stablehlo.compare LT, %a, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>\nstablehlo.return %p "
                  ": tensor<i1>\n"
                  "} do {\n%c = stablehlo.add %b, %one : tensor<i64>\n%d = stablehlo.add %a, %one : tensor<i64>\n"
                  "stablehlo.return %d, %c : tensor<i64>, tensor<i64>\n}\n",
     "10 10"},
    {"case out of range", "tensor<2xi64>",
     C("i", "-1", "i32") C("x", "0", "2xi64")
         C("y", "1", "2xi64") "%r = \"stablehlo.case\"(%i) ({\nstablehlo.return %x : tensor<2xi64>\n}, "
                              "{\nstablehlo.return %y : tensor<2xi64>\n}) : "
                              "(tensor<i32>) -> tensor<2xi64>\n",
     "1 1"},
};

/* --- checks ------------------------------------------------------------------------------------------------------ */

static int count_of(const char *types) {
  int n = 0;
  for (const char *at = types; (at = strstr(at, "tensor<")); at++) n++;
  return n;
}

static sw_program *program_of_row(const row *r) {
  sw_diag diag = {0};
  sw_text text = {0};
  sw_program *p = NULL;
  int n = count_of(r->types);
  sw_text_printf(&text, "func.func @main() -> (%s) {\n%sreturn ", r->types, r->body);
  for (int i = 0; i < n; i++) sw_text_printf(&text, n == 1 ? "%%r" : i ? ", %%r#%d" : "%%r#%d", i);
  sw_text_printf(&text, " : %s\n}\n", r->types);
  sw_rc rc = sw_program_parse("t.mlir", text.at, text.n, NULL, &p, &diag);
  if (rc) fail_msg("%s: %d:%d: %s\n%s", r->name, diag.line, diag.col, diag.text, sw_text_str(&text));
  sw_text_free(&text);
  return p;
}

static bool agrees(double got, double want, sw_dtype t) {
  if (isinf(want)) return got == want;
  if (got != got || want != want) return got != got && want != want;
  double tolerance = sw_dtype_class_of(t) == SW_CLASS_FLOAT || sw_dtype_class_of(t) == SW_CLASS_COMPLEX ? 1e-6 : 0;
  return fabs(got - want) <= tolerance * (fabs(want) > 1 || want == 0 ? fmax(fabs(want), 1) : fabs(want));
}

/* Outputs against the row's numbers; frees them. */
static void check_outputs(const row *r, const sw_graph *g, sw_tensor *outputs, const char *how) {
  const char *at = r->want;
  const sw_function *f = &g->functions[g->main];
  for (int i = 0; i < f->n_outputs; i++) {
    const sw_buffer *b = &outputs[i];
    bool complex = sw_dtype_class_of(b->dtype) == SW_CLASS_COMPLEX;
    for (int64_t k = 0; k < sw_buffer_elements(b) * (complex ? 2 : 1); k++) {
      int64_t element = complex ? k / 2 : k;
      const char *from = (const char *)b->data + element * sw_dtype_bytes(b->dtype);
      sw_scalar s = sw_scalar_load(b->dtype, from);
      double got = complex && k % 2 ? s.im : sw_scalar_convert(b->dtype, complex ? b->dtype : SW_F64, s).re;
      char *end;
      double want = strtod(at, &end);
      if (end == at) fail_msg("%s: the row has too few numbers", r->name);
      if (!agrees(got, want, b->dtype)) {
        fail_msg("%s, %s: output %d has %.9g at %lld; expected %.9g", r->name, how, i, got, (long long)k, want);
      }
      at = end;
    }
    sw_tensor_deinit(&outputs[i]);
  }
  if (*at) fail_msg("%s: the row has more numbers: %s", r->name, at);
}

static void check_single(void **state) {
  const row *r = *state;
  sw_diag diag = {0};
  sw_tensor outputs[SW_MAX_RESULTS];
  sw_program *p = program_of_row(r);
  sw_rc rc = sw_exec_run(sw_program_graph(p), NULL, NULL, outputs, &diag);
  if (rc) fail_msg("%s: %s", r->name, diag.text);
  check_outputs(r, sw_program_graph(p), outputs, "one device");
  sw_program_destroy(p);
}

static void check_plans(void **state) {
  static const char *const kMeshes[] = {"x=2", "x=2,y=2", "x=3"};
  const row *r = *state;
  sw_diag diag = {0};
  sw_rng rng;
  sw_rng_seed(&rng, check_seed(5));
  sw_program *p = program_of_row(r);
  for (int i = 0; i < 3 * (int)check_scale(2); i++) {
    sw_arena arena = {0};
    sw_tensor outputs[SW_MAX_RESULTS];
    const sw_profile *hw;
    sw_machine *machine;
    sw_mesh mesh;
    sw_plan plan;
    sw_validation v;
    assert_ok(sw_profile_read(SW_SOURCE_DIR "/hwprofiles/dgx-h100.json", &arena, &hw, &diag));
    assert_ok(sw_mesh_parse(kMeshes[i % 3], &arena, &mesh, &diag));
    assert_ok(sw_machine_build(&arena, hw, &mesh, &machine, &diag));
    assert_ok(random_plan(sw_program_graph(p), machine, &rng, &arena, &plan, &diag));
    sw_rc rc = sw_validate(&plan, &(sw_validate_options){.outputs = outputs, .intermediates = true}, &arena, &v, &diag);
    if (rc) fail_msg("%s on %s: %s", r->name, kMeshes[i % 3], diag.text);
    if (!v.matches) fail_msg("%s on %s: differs from one device in %s", r->name, kMeshes[i % 3], v.first_bad_op);
    check_outputs(r, sw_program_graph(p), outputs, kMeshes[i % 3]);
    sw_arena_deinit(&arena);
  }
  sw_program_destroy(p);
}

int main(void) {
  enum { N = sizeof kRows / sizeof *kRows };
  struct CMUnitTest tests[2 * N];
  for (int i = 0; i < N; i++) {
    tests[i] = (struct CMUnitTest){kRows[i].name, check_single, NULL, NULL, (void *)(uintptr_t)&kRows[i]};
    tests[N + i] = (struct CMUnitTest){kRows[i].name, check_plans, NULL, NULL, (void *)(uintptr_t)&kRows[i]};
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
