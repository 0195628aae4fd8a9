// uniform_quantize rounds to even and clamps
// = -17 -20 -18 -128 127 -20
func.func @main() -> (tensor<6xi8>) {
  %x = stablehlo.constant dense<[1.3,0.25,0.75,-60.0,100.0,-0.25]> : tensor<6xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<6xf32>) -> tensor<6x!quant.uniform<i8:f32, 0.5:-20>>
  %r = stablehlo.bitcast_convert %q : (tensor<6x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<6xi8>
  return %r : tensor<6xi8>
}
// -----
// uniform_dequantize
// = -54 0 73.5
func.func @main() -> (tensor<3xf32>) {
  %q = stablehlo.constant() <{value = dense<[-128, -20, 127]> : tensor<3xi8>}> : () -> tensor<3x!quant.uniform<i8:f32, 0.5:-20>>
  %r = stablehlo.uniform_dequantize %q : (tensor<3x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
// -----
// quantized along a dim
// = 1.5 0.75 -2 0
func.func @main() -> (tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[[1.3,1.3],[-9.0,0.1]]> : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!quant.uniform<i8<-4:4>:f32:1, {0.5, 0.25:1}>>
  %r = stablehlo.uniform_dequantize %q : (tensor<2x2x!quant.uniform<i8<-4:4>:f32:1, {0.5, 0.25:1}>>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
// -----
// quantized anew, in fewer bits
// = 1 4 15
func.func @main() -> (tensor<3xi8>) {
  %x = stablehlo.constant dense<[1.4,7.2,90.0]> : tensor<3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5:-20>>
  %p = stablehlo.uniform_quantize %q : (tensor<3x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<3x!quant.uniform<u4:f64, 2.0>>
  %b = stablehlo.bitcast_convert %p : (tensor<3x!quant.uniform<u4:f64, 2.0>>) -> tensor<3xui4>
  %r = stablehlo.convert %b : (tensor<3xui4>) -> tensor<3xi8>
  return %r : tensor<3xi8>
}
// -----
// arithmetic of quantized numbers
// = 21 40
func.func @main() -> (tensor<2xf32>) {
  %a = stablehlo.constant() <{value = dense<[-18, 20]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %b = stablehlo.reverse %a, dims = [0] : tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %c = stablehlo.multiply %a, %b : tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %d = stablehlo.add %c, %a : tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %r = stablehlo.uniform_dequantize %d : (tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// -----
// a loop that carries quantized numbers
// = 8 0
func.func @main() -> (tensor<2xf32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %n = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %a = stablehlo.constant() <{value = dense<[-18, -20]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  %w:2 = stablehlo.while(%k = %i, %x = %a) : tensor<i32>, tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  cond {
    %p = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %k1 = stablehlo.add %k, %one : tensor<i32>
    %y = stablehlo.add %x, %x : tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
    stablehlo.return %k1, %y : tensor<i32>, tensor<2x!quant.uniform<i8:f32, 0.5:-20>>
  }
  %r = stablehlo.uniform_dequantize %w#1 : (tensor<2x!quant.uniform<i8:f32, 0.5:-20>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// -----
// tuples in tuples
// = 2 3
func.func @main() -> (tensor<2xi32>) {
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %y = stablehlo.constant dense<[3,5]> : tensor<2xi32>
  %t = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<2xi32>>
  %u = "stablehlo.tuple"(%t, %x) : (tuple<tensor<2xi32>, tensor<2xi32>>, tensor<2xi32>) -> tuple<tuple<tensor<2xi32>, tensor<2xi32>>, tensor<2xi32>>
  %v = stablehlo.get_tuple_element %u[0] : (tuple<tuple<tensor<2xi32>, tensor<2xi32>>, tensor<2xi32>>) -> tuple<tensor<2xi32>, tensor<2xi32>>
  %w = "stablehlo.get_tuple_element"(%v) <{index = 1 : i32}> : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
  %r = stablehlo.subtract %w, %x : tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// while over a tuple
// = 8 16
func.func @main() -> (tensor<2xi32>) {
  %i = stablehlo.constant dense<0> : tensor<i32>
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %three = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %k = stablehlo.tuple %three, %one : tuple<tensor<i32>, tensor<i32>>
  %t = stablehlo.tuple %i, %x : tuple<tensor<i32>, tensor<2xi32>>
  %w = "stablehlo.while"(%t) ({
  ^bb0(%a: tuple<tensor<i32>, tensor<2xi32>>):
    %i0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<i32>
    %n = stablehlo.get_tuple_element %k[0] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>
    %p = stablehlo.compare LT, %i0, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tuple<tensor<i32>, tensor<2xi32>>):
    %i0 = stablehlo.get_tuple_element %a[0] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<i32>
    %x0 = stablehlo.get_tuple_element %a[1] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<2xi32>
    %o = stablehlo.get_tuple_element %k[1] : (tuple<tensor<i32>, tensor<i32>>) -> tensor<i32>
    %i1 = stablehlo.add %i0, %o : tensor<i32>
    %x1 = stablehlo.add %x0, %x0 : tensor<2xi32>
    %b = stablehlo.tuple %i1, %x1 : tuple<tensor<i32>, tensor<2xi32>>
    stablehlo.return %b : tuple<tensor<i32>, tensor<2xi32>>
  }) : (tuple<tensor<i32>, tensor<2xi32>>) -> tuple<tensor<i32>, tensor<2xi32>>
  %r = stablehlo.get_tuple_element %w[1] : (tuple<tensor<i32>, tensor<2xi32>>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// a choice that gives a tuple
// = 5 7
func.func @main() -> (tensor<2xi32>) {
  %p = stablehlo.constant dense<false> : tensor<i1>
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %y = stablehlo.constant dense<[5,7]> : tensor<2xi32>
  %t = "stablehlo.if"(%p) ({
    %a = stablehlo.tuple %x, %y : tuple<tensor<2xi32>, tensor<2xi32>>
    stablehlo.return %a : tuple<tensor<2xi32>, tensor<2xi32>>
  }, {
    %a = stablehlo.tuple %y, %x : tuple<tensor<2xi32>, tensor<2xi32>>
    stablehlo.return %a : tuple<tensor<2xi32>, tensor<2xi32>>
  }) : (tensor<i1>) -> tuple<tensor<2xi32>, tensor<2xi32>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xi32>, tensor<2xi32>>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// top_k as a tuple
// = 9 4
func.func @main() -> (tensor<2xf32>) {
  %x = stablehlo.constant dense<[3.0,9.0,4.0]> : tensor<3xf32>
  %t = stablehlo.custom_call @mhlo.topk(%x) {mhlo.attributes = {k = 2 : i64, largest = true}} : (tensor<3xf32>) -> tuple<tensor<2xf32>, tensor<2xi32>>
  %r = stablehlo.get_tuple_element %t[0] : (tuple<tensor<2xf32>, tensor<2xi32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// -----
// zeta
// = 1.6449340668482264 -34.35689626463514 inf inf
func.func @main() -> (tensor<4xf64>) {
  %x = stablehlo.constant dense<[2.0,3.0,2.0,1.0]> : tensor<4xf64>
  %q = stablehlo.constant dense<[1.0,-2.3,-2.0,5.0]> : tensor<4xf64>
  %r = chlo.zeta %x, %q : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
  return %r : tensor<4xf64>
}
// -----
// polygamma
// = 768.9350646661427 -0.5772156649015329 nan
func.func @main() -> (tensor<3xf64>) {
  %n = stablehlo.constant dense<[3.0,0.0,1.5]> : tensor<3xf64>
  %x = stablehlo.constant dense<[-2.3,1.0,2.0]> : tensor<3xf64>
  %r = chlo.polygamma %n, %x : tensor<3xf64>, tensor<3xf64> -> tensor<3xf64>
  return %r : tensor<3xf64>
}
// -----
// bessel_i1e
// = 0.15642080318487173 -0.19682671329730084 0.06326260540048712 0.012610930256928629
func.func @main() -> (tensor<4xf64>) {
  %x = stablehlo.constant dense<[0.5,-3.0,39.0,1.0e3]> : tensor<4xf64>
  %r = chlo.bessel_i1e %x : tensor<4xf64> -> tensor<4xf64>
  return %r : tensor<4xf64>
}
// -----
// broadcast_add of two shapes
// = 11 21 31 12 22 32
func.func @main() -> (tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[[1],[2]]> : tensor<2x1xi32>
  %y = stablehlo.constant dense<[10,20,30]> : tensor<3xi32>
  %r = chlo.broadcast_add %x, %y : (tensor<2x1xi32>, tensor<3xi32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
// -----
// broadcast_subtract with dims
// = 0 -1 -2 -2 -3 -4
func.func @main() -> (tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %y = stablehlo.constant dense<[[1,2,3],[4,5,6]]> : tensor<2x3xi32>
  %r = chlo.broadcast_subtract %x, %y {broadcast_dimensions = array<i64: 0>} : (tensor<2xi32>, tensor<2x3xi32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
// -----
// broadcast_compare
// = 1 1 0 0
func.func @main() -> (tensor<2x2xi1>) {
  %x = stablehlo.constant dense<[[1],[4]]> : tensor<2x1xi32>
  %y = stablehlo.constant dense<[[2,3]]> : tensor<1x2xi32>
  %r = chlo.broadcast_compare %x, %y {comparison_direction = #chlo<comparison_direction LT>} : (tensor<2x1xi32>, tensor<1x2xi32>) -> tensor<2x2xi1>
  return %r : tensor<2x2xi1>
}
// -----
// broadcast_select
// = 1 2
func.func @main() -> (tensor<2xi32>) {
  %p = stablehlo.constant dense<true> : tensor<i1>
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %y = stablehlo.constant dense<7> : tensor<i32>
  %r = chlo.broadcast_select %p, %x, %y : (tensor<i1>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// is_neg_inf
// = 1 0 0 0
func.func @main() -> (tensor<4xi1>) {
  %x = stablehlo.constant dense<[0xFF800000,0x7F800000,0x7FC00000,1.0]> : tensor<4xf32>
  %r = chlo.is_neg_inf %x : tensor<4xf32> -> tensor<4xi1>
  return %r : tensor<4xi1>
}
// -----
// is_inf
// = 1 1 0 0
func.func @main() -> (tensor<4xi1>) {
  %x = stablehlo.constant dense<[0xFF800000,0x7F800000,0x7FC00000,1.0]> : tensor<4xf32>
  %r = chlo.is_inf %x : tensor<4xf32> -> tensor<4xi1>
  return %r : tensor<4xi1>
}
// -----
// constant_like
// = 2.5 2.5 2.5
func.func @main() -> (tensor<3xf32>) {
  %x = stablehlo.constant dense<1.0> : tensor<3xf32>
  %r = "chlo.constant_like"(%x) <{value = 2.5 : f32}> : (tensor<3xf32>) -> tensor<3xf32>
  return %r : tensor<3xf32>
}
// -----
// conj
// = -2 4
func.func @main() -> (tensor<2xf32>) {
  %x = stablehlo.constant dense<[(1.0,2.0),(3.0,-4.0)]> : tensor<2xcomplex<f32>>
  %c = chlo.conj %x : tensor<2xcomplex<f32>> -> tensor<2xcomplex<f32>>
  %r = stablehlo.imag %c : (tensor<2xcomplex<f32>>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// -----
// real_dynamic_slice of constants
// = 5 7
func.func @main() -> (tensor<1x2xi32>) {
  %x = stablehlo.constant dense<[[1,2,3,4],[5,6,7,8]]> : tensor<2x4xi32>
  %f = stablehlo.constant dense<[1,0]> : tensor<2xi64>
  %l = stablehlo.constant dense<[2,4]> : tensor<2xi64>
  %s = stablehlo.constant dense<[1,2]> : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %f, %l, %s : (tensor<2x4xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xi32>
  return %r : tensor<1x2xi32>
}
// -----
// real_dynamic_slice from a computed start
// = 2 4
func.func @main() -> (tensor<1x2xi32>) {
  %x = stablehlo.constant dense<[[1,2,3,4],[5,6,7,8]]> : tensor<2x4xi32>
  %h = stablehlo.constant dense<[0,1]> : tensor<2xi64>
  %l = stablehlo.constant dense<[1,4]> : tensor<2xi64>
  %s = stablehlo.constant dense<[1,2]> : tensor<2xi64>
  %f = stablehlo.add %h, %h : tensor<2xi64>
  %g = stablehlo.subtract %f, %h : tensor<2xi64>
  %r = stablehlo.real_dynamic_slice %x, %g, %l, %s : (tensor<2x4xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xi32>
  return %r : tensor<1x2xi32>
}
// -----
// dynamic_pad
// = 9 1 9 2 9 9
func.func @main() -> (tensor<6xi32>) {
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %v = stablehlo.constant dense<9> : tensor<i32>
  %l = stablehlo.constant dense<[1]> : tensor<1xi64>
  %h = stablehlo.constant dense<[2]> : tensor<1xi64>
  %i = stablehlo.constant dense<[1]> : tensor<1xi64>
  %r = stablehlo.dynamic_pad %x, %v, %l, %h, %i : (tensor<2xi32>, tensor<i32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}
// -----
// dynamic_gather
// = 7 8 9 1 2 3
func.func @main() -> (tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[[1,2,3],[4,5,6],[7,8,9]]> : tensor<3x3xi32>
  %i = stablehlo.constant dense<[2,0]> : tensor<2xi32>
  %z = stablehlo.constant dense<[1,3]> : tensor<2xi32>
  %r = "stablehlo.dynamic_gather"(%x, %i, %z) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>}> : (tensor<3x3xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
// -----
// torch_index_select
// = 5 6 1 2 3 4 3 4
func.func @main() -> (tensor<2x2x2xi32>) {
  %x = stablehlo.constant dense<[[1,2],[3,4],[5,6]]> : tensor<3x2xi32>
  %i = stablehlo.constant dense<[[2,0],[1,1]]> : tensor<2x2xi32>
  %r = "stablehlo.torch_index_select"(%x, %i) <{dim = 0 : i64, batch_dims = 0 : i64}> : (tensor<3x2xi32>, tensor<2x2xi32>) -> tensor<2x2x2xi32>
  return %r : tensor<2x2x2xi32>
}
// -----
// torch_index_select, shared dims
// = 3 1 5 5
func.func @main() -> (tensor<2x2xi32>) {
  %x = stablehlo.constant dense<[[1,2,3],[4,5,6]]> : tensor<2x3xi32>
  %i = stablehlo.constant dense<[[2,0],[1,1]]> : tensor<2x2xi32>
  %r = "stablehlo.torch_index_select"(%x, %i) <{dim = 1 : i64, batch_dims = 1 : i64}> : (tensor<2x3xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// -----
// set_dimension_size to what it is
// = 1 2
func.func @main() -> (tensor<2xi32>) {
  %x = stablehlo.constant dense<[1,2]> : tensor<2xi32>
  %n = stablehlo.constant dense<2> : tensor<i32>
  %r = stablehlo.set_dimension_size %x, %n, dim = 0 : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// abs
// = 2 0 2
func.func @main() -> (tensor<3xi32>) {
  %x = stablehlo.constant dense<[-2,0,2]> : tensor<3xi32>
  %r = stablehlo.abs %x : tensor<3xi32>
  return %r : tensor<3xi32>
}
// -----
// cbrt
// = 0 1 2 3
func.func @main() -> (tensor<4xf64>) {
  %x = stablehlo.constant dense<[0.0,1.0,8.0,27.0]> : tensor<4xf64>
  %r = stablehlo.cbrt %x : tensor<4xf64>
  return %r : tensor<4xf64>
}
// -----
// ceil
// = -0 -0 1 1 2
func.func @main() -> (tensor<5xf32>) {
  %x = stablehlo.constant dense<[-0.8166,-0.2530,0.2530,0.8166,2.0]> : tensor<5xf32>
  %r = stablehlo.ceil %x : tensor<5xf32>
  return %r : tensor<5xf32>
}
// -----
// count_leading_zeros
// = 64 63 56 0
func.func @main() -> (tensor<2x2xi64>) {
  %x = stablehlo.constant dense<[[0,1],[128,-1]]> : tensor<2x2xi64>
  %r = stablehlo.count_leading_zeros %x : tensor<2x2xi64>
  return %r : tensor<2x2xi64>
}
// -----
// exponential_minus_one
// = 0 1.71828182845904530
func.func @main() -> (tensor<2xf64>) {
  %x = stablehlo.constant dense<[0.0,1.0]> : tensor<2xf64>
  %r = stablehlo.exponential_minus_one %x : tensor<2xf64>
  return %r : tensor<2xf64>
}
// -----
// log_plus_one
// = 0 -6.907755278982137 2.079441541679836 2.0000000149 2.772588722239781
func.func @main() -> (tensor<5xf64>) {
  %x = stablehlo.constant dense<[0.0,-0.999,7.0,6.38905621,15.0]> : tensor<5xf64>
  %r = stablehlo.log_plus_one %x : tensor<5xf64>
  return %r : tensor<5xf64>
}
// -----
// logistic
// = 0.5 0.73105858 0.88079708 0.95257413
func.func @main() -> (tensor<2x2xf64>) {
  %x = stablehlo.constant dense<[[0.0,1.0],[2.0,3.0]]> : tensor<2x2xf64>
  %r = stablehlo.logistic %x : tensor<2x2xf64>
  return %r : tensor<2x2xf64>
}
// -----
// not
// = -2 -3 -4 -5
func.func @main() -> (tensor<2x2xi32>) {
  %x = stablehlo.constant dense<[[1,2],[3,4]]> : tensor<2x2xi32>
  %r = stablehlo.not %x : tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// -----
// popcnt
// = 0 1 1 7
func.func @main() -> (tensor<4xi64>) {
  %x = stablehlo.constant dense<[0,1,2,127]> : tensor<4xi64>
  %r = stablehlo.popcnt %x : tensor<4xi64>
  return %r : tensor<4xi64>
}
// -----
// round_nearest_afz
// = -3 0 1 1 3
func.func @main() -> (tensor<5xf64>) {
  %x = stablehlo.constant dense<[-2.5,0.4,0.5,0.6,2.5]> : tensor<5xf64>
  %r = stablehlo.round_nearest_afz %x : tensor<5xf64>
  return %r : tensor<5xf64>
}
// -----
// round_nearest_even
// = -2 0 0 1 2
func.func @main() -> (tensor<5xf64>) {
  %x = stablehlo.constant dense<[-2.5,0.4,0.5,0.6,2.5]> : tensor<5xf64>
  %r = stablehlo.round_nearest_even %x : tensor<5xf64>
  return %r : tensor<5xf64>
}
// -----
// rsqrt
// = 1 0.5 0.333333343 0.2
func.func @main() -> (tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[[1.0,4.0],[9.0,25.0]]> : tensor<2x2xf32>
  %r = stablehlo.rsqrt %x : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
// -----
// sign
// = nan -1 -0 0 1
func.func @main() -> (tensor<5xf64>) {
  %x = stablehlo.constant dense<[0x7FF0000000000001,-1.0,-0.0,0.0,1.0]> : tensor<5xf64>
  %r = stablehlo.sign %x : tensor<5xf64>
  return %r : tensor<5xf64>
}
// -----
// atan2
// = 0 1.57079637 -1.57079637
func.func @main() -> (tensor<3xf64>) {
  %x = stablehlo.constant dense<[0.0,1.0,-1.0]> : tensor<3xf64>
  %y = stablehlo.constant dense<[0.0,0.0,0.0]> : tensor<3xf64>
  %r = stablehlo.atan2 %x, %y : tensor<3xf64>
  return %r : tensor<3xf64>
}
// -----
// remainder
// = 2 -2 2 -2
func.func @main() -> (tensor<4xi64>) {
  %x = stablehlo.constant dense<[17,-17,17,-17]> : tensor<4xi64>
  %y = stablehlo.constant dense<[3,3,-3,-3]> : tensor<4xi64>
  %r = stablehlo.remainder %x, %y : tensor<4xi64>
  return %r : tensor<4xi64>
}
// -----
// divide
// = 5.7 -5.7 -5.7 5.7
func.func @main() -> (tensor<4xf32>) {
  %x = stablehlo.constant dense<[17.1,-17.1,17.1,-17.1]> : tensor<4xf32>
  %y = stablehlo.constant dense<[3.0,3.0,-3.0,-3.0]> : tensor<4xf32>
  %r = stablehlo.divide %x, %y : tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
// divide
// = 5 -5 -1 -128
func.func @main() -> (tensor<4xi8>) {
  %x = stablehlo.constant dense<[17,-17,7,-128]> : tensor<4xi8>
  %y = stablehlo.constant dense<[3,3,0,-1]> : tensor<4xi8>
  %r = stablehlo.divide %x, %y : tensor<4xi8>
  return %r : tensor<4xi8>
}
// -----
// power
// = 4 1 -1 0 81 10
func.func @main() -> (tensor<6xi64>) {
  %x = stablehlo.constant dense<[-2,0,-1,5,3,10]> : tensor<6xi64>
  %y = stablehlo.constant dense<[2,0,-3,-1,4,1]> : tensor<6xi64>
  %r = stablehlo.power %x, %y : tensor<6xi64>
  return %r : tensor<6xi64>
}
// -----
// shift_left
// = -2 0 8 0
func.func @main() -> (tensor<4xi64>) {
  %x = stablehlo.constant dense<[-1,0,1,1]> : tensor<4xi64>
  %y = stablehlo.constant dense<[1,2,3,64]> : tensor<4xi64>
  %r = stablehlo.shift_left %x, %y : tensor<4xi64>
  return %r : tensor<4xi64>
}
// -----
// shift_right_arithmetic
// = -1 0 1 -1
func.func @main() -> (tensor<4xi64>) {
  %x = stablehlo.constant dense<[-1,0,8,-8]> : tensor<4xi64>
  %y = stablehlo.constant dense<[1,2,3,99]> : tensor<4xi64>
  %r = stablehlo.shift_right_arithmetic %x, %y : tensor<4xi64>
  return %r : tensor<4xi64>
}
// -----
// shift_right_logical
// = 127 0 1 0
func.func @main() -> (tensor<4xi8>) {
  %x = stablehlo.constant dense<[-1,0,8,8]> : tensor<4xi8>
  %y = stablehlo.constant dense<[1,2,3,99]> : tensor<4xi8>
  %r = stablehlo.shift_right_logical %x, %y : tensor<4xi8>
  return %r : tensor<4xi8>
}
// -----
// xor
// = 4 4 4 12
func.func @main() -> (tensor<2x2xi32>) {
  %x = stablehlo.constant dense<[[1,2],[3,4]]> : tensor<2x2xi32>
  %y = stablehlo.constant dense<[[5,6],[7,8]]> : tensor<2x2xi32>
  %r = stablehlo.xor %x, %y : tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// -----
// float to integer saturates
// = 127 -128 0 1 -1
func.func @main() -> (tensor<5xi8>) {
  %x = stablehlo.constant dense<[300.0,-300.0,0x7FC00000,1.9,-1.9]> : tensor<5xf32>
  %r = stablehlo.convert %x : (tensor<5xf32>) -> tensor<5xi8>
  return %r : tensor<5xi8>
}
// -----
// bitcast_convert to a narrower type
// = -23.734375 -0.000172972679 5.40234375 1.7344951629638672e-05
func.func @main() -> (tensor<4xf16>) {
  %x = stablehlo.constant dense<0x0123456789ABCDEF> : tensor<f64>
  %r = stablehlo.bitcast_convert %x : (tensor<f64>) -> tensor<4xf16>
  return %r : tensor<4xf16>
}
// -----
// cholesky
// = 1 0 0 2 4 0 3 5 6
func.func @main() -> (tensor<3x3xf32>) {
  %x = stablehlo.constant dense<[[1.0,2.0,3.0],[2.0,20.0,26.0],[3.0,26.0,70.0]]> : tensor<3x3xf32>
  %r = stablehlo.cholesky %x, lower = true : tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}
// -----
// triangular_solve
// = 2 0 0 0 2 0 0 0 2
func.func @main() -> (tensor<3x3xf32>) {
  %a = stablehlo.constant dense<[[1.0,0.0,0.0],[2.0,4.0,0.0],[3.0,5.0,6.0]]> : tensor<3x3xf32>
  %b = stablehlo.constant dense<[[2.0,0.0,0.0],[4.0,8.0,0.0],[6.0,10.0,12.0]]> : tensor<3x3xf32>
  %r = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<3x3xf32>, tensor<3x3xf32>) -> tensor<3x3xf32>
  return %r : tensor<3x3xf32>
}
// -----
// convolution
// = 10 26 46 62
func.func @main() -> (tensor<1x2x2x1xf32>) {
  %x = stablehlo.constant dense<[[[[1.0],[2.0],[5.0],[6.0]],[[3.0],[4.0],[7.0],[8.0]],[[10.0],[11.0],[14.0],[15.0]],[[12.0],[13.0],[16.0],[17.0]]]]> : tensor<1x4x4x1xf32>
  %w = stablehlo.constant dense<1.0> : tensor<3x3x1x1xf32>
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], lhs_dilate = [2, 2], reverse = [false, false]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xf32>, tensor<3x3x1x1xf32>) -> tensor<1x2x2x1xf32>
  return %r : tensor<1x2x2x1xf32>
}
// -----
// convolution with a window turned around
// = 12 23 30
func.func @main() -> (tensor<1x3x1xf32>) {
  %x = stablehlo.constant dense<[[[1.0],[2.0],[3.0]]]> : tensor<1x3x1xf32>
  %w = stablehlo.constant dense<[[[1.0]],[[10.0]]]> : tensor<2x1x1xf32>
  %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[0, 1]], reverse = [true]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x1xf32>, tensor<2x1x1xf32>) -> tensor<1x3x1xf32>
  return %r : tensor<1x3x1xf32>
}
// -----
// dot_general of complex numbers
// = -3 7 9 3 -1 3 3 -1
func.func @main() -> (tensor<2x2xcomplex<f32>>) {
  %x = stablehlo.constant dense<[[(1.0,2.0),(3.0,0.0)],[(0.0,1.0),(2.0,-1.0)]]> : tensor<2x2xcomplex<f32>>
  %r = stablehlo.dot_general %x, %x, contracting_dims = [1] x [0] : (tensor<2x2xcomplex<f32>>, tensor<2x2xcomplex<f32>>) -> tensor<2x2xcomplex<f32>>
  return %r : tensor<2x2xcomplex<f32>>
}
// -----
// dynamic_slice
// = 1 1 1 1
func.func @main() -> (tensor<2x2xi32>) {
  %x = stablehlo.constant dense<[[0,0,1,1],[0,0,1,1],[0,0,0,0],[0,0,0,0]]> : tensor<4x4xi32>
  %i = stablehlo.constant dense<-1> : tensor<i64>
  %j = stablehlo.constant dense<3> : tensor<i64>
  %r = stablehlo.dynamic_slice %x, %i, %j, sizes = [2, 2] : (tensor<4x4xi32>, tensor<i64>, tensor<i64>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// -----
// fft
// = 1 0 1 0 1 0 1 0
func.func @main() -> (tensor<4xcomplex<f32>>) {
  %x = stablehlo.constant dense<[(1.0,0.0),(0.0,0.0),(0.0,0.0),(0.0,0.0)]> : tensor<4xcomplex<f32>>
  %r = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %r : tensor<4xcomplex<f32>>
}
// -----
// gather with batch dims
// = 1 2 3 4 3 4 5 6 13 14 15 16 33 34 35 36 35 36 37 38 41 42 43 44 1 2 3 4 13 14 15 16 21 22 23 24 43 44 45
// = 46 33 34 35 36 27 28 29 30
func.func @main() -> (tensor<2x2x3x2x2xi64>) {
  %i = stablehlo.iota dim = 0 : tensor<48xi64>
  %one = stablehlo.constant dense<1> : tensor<48xi64>
  %j = stablehlo.add %i, %one : tensor<48xi64>
  %x = stablehlo.reshape %j : (tensor<48xi64>) -> tensor<2x3x4x2xi64>
  %s = stablehlo.constant dense<[[[[0,0],[1,0],[2,1]],[[0,1],[1,1],[0,9]]],[[[0,0],[2,1],[2,2]],[[1,2],[0,1],[1,0]]]]> : tensor<2x2x3x2xi64>
  %r = "stablehlo.gather"(%x, %s) <{dimension_numbers = #stablehlo.gather<offset_dims = [3, 4], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [1], start_index_map = [2, 1], index_vector_dim = 3>, slice_sizes = array<i64: 1, 1, 2, 2>, indices_are_sorted = false}> : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>) -> tensor<2x2x3x2x2xi64>
  return %r : tensor<2x2x3x2x2xi64>
}
// -----
// scatter with batch dims
// = 3 4 6 7 6 7 7 8 9 10 11 12 15 16 17 18 17 18 19 20 22 23 24 25 25 26 28 29 30 31 31 32 35 36 38 39 38 39
// = 39 40 41 42 44 45 46 47 47 48
func.func @main() -> (tensor<2x3x4x2xi64>) {
  %i = stablehlo.iota dim = 0 : tensor<48xi64>
  %one = stablehlo.constant dense<1> : tensor<48xi64>
  %j = stablehlo.add %i, %one : tensor<48xi64>
  %x = stablehlo.reshape %j : (tensor<48xi64>) -> tensor<2x3x4x2xi64>
  %s = stablehlo.constant dense<[[[[0,0],[1,0],[2,1]],[[0,1],[1,1],[0,9]]],[[[0,0],[2,1],[2,2]],[[1,2],[0,1],[1,0]]]]> : tensor<2x2x3x2xi64>
  %u = stablehlo.constant dense<1> : tensor<2x2x3x2x2xi64>
  %r = "stablehlo.scatter"(%x, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3, 4], inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [1], scatter_dims_to_operand_dims = [2, 1], index_vector_dim = 3>, indices_are_sorted = false, unique_indices = false}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>):
    %t = stablehlo.add %a, %b : tensor<i64>
    stablehlo.return %t : tensor<i64>
  }) : (tensor<2x3x4x2xi64>, tensor<2x2x3x2xi64>, tensor<2x2x3x2x2xi64>) -> tensor<2x3x4x2xi64>
  return %r : tensor<2x3x4x2xi64>
}
// -----
// map
// = 0 5 12 21
func.func @main() -> (tensor<2x2xi32>) {
  %x = stablehlo.constant dense<[[0,1],[2,3]]> : tensor<2x2xi32>
  %y = stablehlo.constant dense<[[4,5],[6,7]]> : tensor<2x2xi32>
  %r = "stablehlo.map"(%x, %y) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %t = stablehlo.multiply %a, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<2x2xi32>
  return %r : tensor<2x2xi32>
}
// -----
// pad
// = 0 1 0 0 2 0 0 3 0 0 0 0 0 0 0 0 0 0 0 4 0 0 5 0 0 6 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
func.func @main() -> (tensor<5x9xi32>) {
  %x = stablehlo.constant dense<[[1,2,3],[4,5,6]]> : tensor<2x3xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.pad %x, %z, low = [0, 1], high = [2, 1], interior = [1, 2] : (tensor<2x3xi32>, tensor<i32>) -> tensor<5x9xi32>
  return %r : tensor<5x9xi32>
}
// -----
// reduce_window
// = 0 0 3 4
func.func @main() -> (tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[[1.0,2.0],[3.0,4.0],[5.0,6.0]]> : tensor<3x2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2, 1>, window_strides = array<i64: 4, 1>, base_dilations = array<i64: 2, 1>, window_dilations = array<i64: 3, 1>, padding = dense<[[2, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
// -----
// reduce_window from 1, which is padding, too
// = 12 31 51 32
func.func @main() -> (tensor<4xf32>) {
  %x = stablehlo.constant dense<[10.0,20.0,30.0]> : tensor<3xf32>
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>, padding = dense<[[1, 1]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) : (tensor<3xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
// reduce_window by a region
// = 4 4 4 9 9
func.func @main() -> (tensor<5xi32>) {
  %x = stablehlo.constant dense<[1,-4,4,2,-3,3,0,9]> : tensor<8xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 5>, window_strides = array<i64: 2>, padding = dense<[[2, 3]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.abs %a : tensor<i32>
    %n = stablehlo.abs %b : tensor<i32>
    %p = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<8xi32>, tensor<i32>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}
// -----
// reduce by a region
// = 4 -7
func.func @main() -> (tensor<2xi32>) {
  %x = stablehlo.constant dense<[[[1,-4],[4,2],[-3,3]],[[0,0],[0,-7],[5,6]]]> : tensor<2x3x2xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.abs %a : tensor<i32>
    %n = stablehlo.abs %b : tensor<i32>
    %p = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<2x3x2xi32>, tensor<i32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// reduce of two, the last of the greatest
// = 3 1 3 4
func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[3,1,3,3,2],[1,1,0,0,1]]> : tensor<2x5xi32>
  %k = stablehlo.iota dim = 1 : tensor<2x5xi32>
  %z = stablehlo.constant dense<-9> : tensor<i32>
  %r:2 = "stablehlo.reduce"(%x, %k, %z, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<i32>, %i: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>
    %w = stablehlo.select %p, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<i32>, tensor<i32>
  }) : (tensor<2x5xi32>, tensor<2x5xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}
// -----
// reduce_window of two
// = 3 3 3 3 0 2 3 3
func.func @main() -> (tensor<4xi32>, tensor<4xi32>) {
  %x = stablehlo.constant dense<[3,1,3,3,2]> : tensor<5xi32>
  %k = stablehlo.iota dim = 0 : tensor<5xi32>
  %z = stablehlo.constant dense<-9> : tensor<i32>
  %r:2 = "stablehlo.reduce_window"(%x, %k, %z, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%a: tensor<i32>, %i: tensor<i32>, %b: tensor<i32>, %j: tensor<i32>):
    %p = stablehlo.compare GT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %v = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>
    %w = stablehlo.select %p, %i, %j : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<i32>, tensor<i32>
  }) : (tensor<5xi32>, tensor<5xi32>, tensor<i32>, tensor<i32>) -> (tensor<4xi32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
// -----
// reduce of nothing
// = 7 7 7
func.func @main() -> (tensor<3xi32>) {
  %x = stablehlo.iota dim = 0 : tensor<0x3xi32>
  %z = stablehlo.constant dense<7> : tensor<i32>
  %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %m = stablehlo.abs %a : tensor<i32>
    %n = stablehlo.abs %b : tensor<i32>
    %p = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %s = stablehlo.select %p, %a, %b : tensor<i1>, tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<0x3xi32>, tensor<i32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}
// -----
// select_and_scatter
// = 0 0 0 0 5 14 7 0
func.func @main() -> (tensor<4x2xf32>) {
  %x = stablehlo.constant dense<[[1.0,5.0],[2.0,5.0],[3.0,6.0],[4.0,4.0]]> : tensor<4x2xf32>
  %s = stablehlo.constant dense<[[5.0,6.0],[7.0,8.0]]> : tensor<2x2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 2, 1>, padding = dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<2x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
// -----
// select_and_scatter that selects the nearest to 3, windows that meet and padding
// = 1 15 6 1 17 1 1 2
func.func @main() -> (tensor<4x2xf32>) {
  %x = stablehlo.constant dense<[[1.0,5.0],[2.0,5.0],[3.0,6.0],[4.0,4.0]]> : tensor<4x2xf32>
  %s = stablehlo.constant dense<[[5.0,6.0],[7.0,8.0],[9.0,1.0]]> : tensor<3x2xf32>
  %z = stablehlo.constant dense<1.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 3, 1>, window_strides = array<i64: 1, 1>, padding = dense<[[1, 0], [0, 0]]> : tensor<2x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %k = stablehlo.constant dense<3.0> : tensor<f32>
    %c = stablehlo.subtract %a, %k : tensor<f32>
    %d = stablehlo.subtract %b, %k : tensor<f32>
    %e = stablehlo.abs %c : tensor<f32>
    %f = stablehlo.abs %d : tensor<f32>
    %t = stablehlo.compare LE, %e, %f : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<4x2xf32>, tensor<3x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  return %r : tensor<4x2xf32>
}
// -----
// select_and_scatter that combines by a region of its own; one window lies in the padding
// = 0 55 0 0 0 0 0
func.func @main() -> (tensor<7xf32>) {
  %x = stablehlo.constant dense<[1.0,5.0,2.0,3.0,9.0,8.0,1.0]> : tensor<7xf32>
  %s = stablehlo.constant dense<[5.0,6.0,7.0]> : tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 3>, window_strides = array<i64: 2>, padding = dense<[[3, -3]]> : tensor<1x2xi64>}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %t = stablehlo.compare GE, %a, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }, {
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %d = stablehlo.add %a, %b : tensor<f32>
    %e = stablehlo.multiply %a, %b : tensor<f32>
    %t = stablehlo.add %d, %e : tensor<f32>
    stablehlo.return %t : tensor<f32>
  }) : (tensor<7xf32>, tensor<3xf32>, tensor<f32>) -> tensor<7xf32>
  return %r : tensor<7xf32>
}
// -----
// sort of two, descending
// = 3 2 3 1 2 1 1 2 1 3 2 3
func.func @main() -> (tensor<2x3xi64>, tensor<2x3xi64>) {
  %x = stablehlo.constant dense<[[1,2,3],[3,2,1]]> : tensor<2x3xi64>
  %y = stablehlo.constant dense<[[3,2,1],[1,2,3]]> : tensor<2x3xi64>
  %r:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i64>, %b: tensor<i64>, %c: tensor<i64>, %d: tensor<i64>):
    %t = stablehlo.compare GT, %a, %b : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) : (tensor<2x3xi64>, tensor<2x3xi64>) -> (tensor<2x3xi64>, tensor<2x3xi64>)
  return %r#0, %r#1 : tensor<2x3xi64>, tensor<2x3xi64>
}
// -----
// sort by a comparator of its own, stable
// = 0 -1 1 2 -2 3 -3 0 4 -4 5 -5 5 -5 5 1 4 2 6 0 3 6 2 3 0 1 4 5
func.func @main() -> (tensor<2x7xi32>, tensor<2x7xi32>) {
  %x = stablehlo.constant dense<[[3,-1,2,-3,1,0,-2],[5,-5,4,-4,5,-5,0]]> : tensor<2x7xi32>
  %k = stablehlo.iota dim = 1 : tensor<2x7xi32>
  %r:2 = "stablehlo.sort"(%x, %k) <{dimension = 1 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %m = stablehlo.abs %a : tensor<i32>
    %n = stablehlo.abs %b : tensor<i32>
    %t = stablehlo.compare LT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %t : tensor<i1>
  }) : (tensor<2x7xi32>, tensor<2x7xi32>) -> (tensor<2x7xi32>, tensor<2x7xi32>)
  return %r#0, %r#1 : tensor<2x7xi32>, tensor<2x7xi32>
}
// -----
// scatter by a region, places that meet
// = 1 1 -8 1 1 0
func.func @main() -> (tensor<6xi32>) {
  %x = stablehlo.constant dense<[1,1,1,1,1,1]> : tensor<6xi32>
  %s = stablehlo.constant dense<[[2],[5],[2],[6],[-1],[2]]> : tensor<6x1xi32>
  %u = stablehlo.constant dense<[1,2,3,4,5,6]> : tensor<6xi32>
  %r = "stablehlo.scatter"(%x, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %t = stablehlo.add %a, %a : tensor<i32>
    %v = stablehlo.subtract %t, %b : tensor<i32>
    stablehlo.return %v : tensor<i32>
  }) : (tensor<6xi32>, tensor<6x1xi32>, tensor<6xi32>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}
// -----
// scatter into two at once
// = 11 20 30 44 -4 2 3 -35
func.func @main() -> (tensor<4xi32>, tensor<4xi32>) {
  %x = stablehlo.constant dense<[10,20,30,40]> : tensor<4xi32>
  %y = stablehlo.constant dense<[1,2,3,4]> : tensor<4xi32>
  %s = stablehlo.constant dense<[[3],[0]]> : tensor<2x1xi32>
  %u = stablehlo.constant dense<[5,6]> : tensor<2xi32>
  %r:2 = "stablehlo.scatter"(%x, %y, %s, %u, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>, %c: tensor<i32>, %d: tensor<i32>):
    %v = stablehlo.add %a, %b : tensor<i32>
    %w = stablehlo.subtract %c, %a : tensor<i32>
    stablehlo.return %v, %w : tensor<i32>, tensor<i32>
  }) : (tensor<4xi32>, tensor<4xi32>, tensor<2x1xi32>, tensor<2xi32>, tensor<2xi32>) -> (tensor<4xi32>, tensor<4xi32>)
  return %r#0, %r#1 : tensor<4xi32>, tensor<4xi32>
}
// -----
// scatter by or, with batch dims, one by one
// = 0 3 0 4 5 0 2 0
func.func @main() -> (tensor<2x4xi32>) {
  %x = stablehlo.constant dense<0> : tensor<2x4xi32>
  %s = stablehlo.constant dense<[[[1],[1],[3]],[[0],[2],[0]]]> : tensor<2x3x1xi32>
  %u = stablehlo.constant dense<[[1,2,4],[1,2,4]]> : tensor<2x3xi32>
  %r = "stablehlo.scatter"(%x, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %t = stablehlo.or %a, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) : (tensor<2x4xi32>, tensor<2x3x1xi32>, tensor<2x3xi32>) -> tensor<2x4xi32>
  return %r : tensor<2x4xi32>
}
// -----
// scatter drops a window that does not fit
// = 7 8 0 1 2
func.func @main() -> (tensor<5xi32>) {
  %x = stablehlo.constant dense<0> : tensor<5xi32>
  %s = stablehlo.constant dense<[[3],[4],[-1],[0]]> : tensor<4x1xi32>
  %u = stablehlo.constant dense<[[1,2],[3,4],[5,6],[7,8]]> : tensor<4x2xi32>
  %r = "stablehlo.scatter"(%x, %s, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %t = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %t : tensor<i32>
  }) : (tensor<5xi32>, tensor<4x1xi32>, tensor<4x2xi32>) -> tensor<5xi32>
  return %r : tensor<5xi32>
}
// -----
// batch_norm_inference
// = 0 0 2 2 2 2 0 0
func.func @main() -> (tensor<2x2x2xf32>) {
  %x = stablehlo.constant dense<[[[1.0,2.0],[3.0,4.0]],[[3.0,4.0],[1.0,2.0]]]> : tensor<2x2x2xf32>
  %s = stablehlo.constant dense<1.0> : tensor<2xf32>
  %o = stablehlo.constant dense<1.0> : tensor<2xf32>
  %m = stablehlo.constant dense<[2.0,3.0]> : tensor<2xf32>
  %v = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r = "stablehlo.batch_norm_inference"(%x, %s, %o, %m, %v) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2x2x2xf32>
  return %r : tensor<2x2x2xf32>
}
// -----
// batch_norm_training
// = 0 0 2 2 2 2 0 0 2 3 1 1
func.func @main() -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = stablehlo.constant dense<[[[1.0,2.0],[3.0,4.0]],[[3.0,4.0],[1.0,2.0]]]> : tensor<2x2x2xf32>
  %s = stablehlo.constant dense<1.0> : tensor<2xf32>
  %o = stablehlo.constant dense<1.0> : tensor<2xf32>
  %r:3 = "stablehlo.batch_norm_training"(%x, %s, %o) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>
}
// -----
// batch_norm_grad
// = 0 0 0 0 0 0 0 0 0 0 0.4 0.4
func.func @main() -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %x = stablehlo.constant dense<[[[1.0,2.0],[3.0,4.0]],[[3.0,4.0],[1.0,2.0]]]> : tensor<2x2x2xf32>
  %s = stablehlo.constant dense<1.0> : tensor<2xf32>
  %m = stablehlo.constant dense<[2.0,3.0]> : tensor<2xf32>
  %v = stablehlo.constant dense<1.0> : tensor<2xf32>
  %g = stablehlo.constant dense<0.1> : tensor<2x2x2xf32>
  %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 0.0 : f32, feature_index = 2 : i64}> : (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2x2x2xf32>) -> (tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>)
  return %r#0, %r#1, %r#2 : tensor<2x2x2xf32>, tensor<2xf32>, tensor<2xf32>
}
// -----
// batch_norm_grad of another gradient
// = 0.75 -0.5 -0.75 0.5 2 3
func.func @main() -> (tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>) {
  %x = stablehlo.constant dense<[[1.0],[2.0],[3.0],[6.0]]> : tensor<4x1xf32>
  %s = stablehlo.constant dense<2.0> : tensor<1xf32>
  %m = stablehlo.constant dense<3.0> : tensor<1xf32>
  %v = stablehlo.constant dense<3.5> : tensor<1xf32>
  %g = stablehlo.constant dense<[[1.0],[0.0],[0.0],[2.0]]> : tensor<4x1xf32>
  %r:3 = "stablehlo.batch_norm_grad"(%x, %s, %m, %v, %g) <{epsilon = 0.5 : f32, feature_index = 1 : i64}> : (tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<4x1xf32>) -> (tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>)
  return %r#0, %r#1, %r#2 : tensor<4x1xf32>, tensor<1xf32>, tensor<1xf32>
}
// -----
// next_after
// = 1.00000011920928955 0.999999940395355225 -1.40129846e-45 -0.999999940395355225 2
func.func @main() -> (tensor<5xf32>) {
  %x = stablehlo.constant dense<[1.0,1.0,0.0,-1.0,2.0]> : tensor<5xf32>
  %y = stablehlo.constant dense<[2.0,0.0,-1.0,0.0,2.0]> : tensor<5xf32>
  %r = chlo.next_after %x, %y : tensor<5xf32>, tensor<5xf32> -> tensor<5xf32>
  return %r : tensor<5xf32>
}
// -----
// while
// = 10 10
func.func @main() -> (tensor<i64>, tensor<i64>) {
  %i = stablehlo.constant dense<0> : tensor<i64>
  %s = stablehlo.constant dense<0> : tensor<i64>
  %one = stablehlo.constant dense<1> : tensor<i64>
  %ten = stablehlo.constant dense<10> : tensor<i64>
  %r:2 = stablehlo.while(%a = %i, %b = %s) : tensor<i64>, tensor<i64>
  cond {
    %p = stablehlo.compare LT, %a, %ten : (tensor<i64>, tensor<i64>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %c = stablehlo.add %b, %one : tensor<i64>
    %d = stablehlo.add %a, %one : tensor<i64>
    stablehlo.return %d, %c : tensor<i64>, tensor<i64>
  }
  return %r#0, %r#1 : tensor<i64>, tensor<i64>
}
// -----
// case out of range
// = 1 1
func.func @main() -> (tensor<2xi64>) {
  %i = stablehlo.constant dense<-1> : tensor<i32>
  %x = stablehlo.constant dense<0> : tensor<2xi64>
  %y = stablehlo.constant dense<1> : tensor<2xi64>
  %r = "stablehlo.case"(%i) ({
    stablehlo.return %x : tensor<2xi64>
  }, {
    stablehlo.return %y : tensor<2xi64>
  }) : (tensor<i32>) -> tensor<2xi64>
  return %r : tensor<2xi64>
}
// -----
// lapack: l and u in one, rows exchanged
// = 2 4 0 1 2 2 0
func.func @main() -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>) {
  %x = stablehlo.constant dense<[[0.0,1.0],[2.0,4.0]]> : tensor<2x2xf32>
  %r:3 = stablehlo.custom_call @lapack_sgetrf_ffi(%x) {mhlo.backend_config = {}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)
  return %r#0, %r#1, %r#2 : tensor<2x2xf32>, tensor<2xi32>, tensor<i32>
}
// -----
// lapack: reflectors, and their product
// = -5 0.5 1.6 -0.6 -0.8
func.func @main() -> (tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>) {
  %x = stablehlo.constant dense<[[3.0],[4.0]]> : tensor<2x1xf32>
  %r:2 = stablehlo.custom_call @lapack_sgeqrf_ffi(%x) {mhlo.backend_config = {}} : (tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>)
  %q = stablehlo.custom_call @lapack_sorgqr_ffi(%r#0, %r#1) {mhlo.backend_config = {}} : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  return %r#0, %r#1, %q : tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>
}
// -----
// lapack: eigenvalues of the lower triangle, in batches
// = 1 3 2 5 0 0
func.func @main() -> (tensor<2x2xf64>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[[2.0,9.0],[-1.0,2.0]],[[5.0,9.0],[0.0,2.0]]]> : tensor<2x2x2xf64>
  %r:3 = stablehlo.custom_call @lapack_dsyevd_ffi(%x) {mhlo.backend_config = {mode = 86 : ui8, uplo = 76 : ui8}} : (tensor<2x2x2xf64>) -> (tensor<2x2x2xf64>, tensor<2x2xf64>, tensor<2xi32>)
  return %r#1, %r#2 : tensor<2x2xf64>, tensor<2xi32>
}
// -----
// lapack: singular values
// = 5 2
func.func @main() -> (tensor<2xf64>) {
  %x = stablehlo.constant dense<[[0.0,3.0,4.0],[2.0,0.0,0.0]]> : tensor<2x3xf64>
  %r:5 = stablehlo.custom_call @lapack_dgesdd_ffi(%x) {mhlo.backend_config = {mode = 83 : ui8}} : (tensor<2x3xf64>) -> (tensor<2x3xf64>, tensor<2xf64>, tensor<2x2xf64>, tensor<2x3xf64>, tensor<i32>)
  return %r#1 : tensor<2xf64>
}
// -----
// cusolver: l and u in one, rows exchanged; the upper triangle's eigenvalues; a factor
// = 2 4 0 1 2 2 0 1 3 0 2 0 1 2 0
func.func @main() -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<i32>) {
  %x = stablehlo.constant dense<[[0.0,1.0],[2.0,4.0]]> : tensor<2x2xf32>
  %r:3 = stablehlo.custom_call @cusolver_getrf_ffi(%x) {mhlo.backend_config = {}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xi32>, tensor<i32>)
  %y = stablehlo.constant dense<[[2.0,-1.0],[9.0,2.0]]> : tensor<2x2xf32>
  %e:3 = stablehlo.custom_call @hipsolver_syevd_ffi(%y) {mhlo.backend_config = {algorithm = 0 : ui8, lower = false}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>, tensor<i32>)
  %z = stablehlo.constant dense<[[4.0,2.0],[2.0,5.0]]> : tensor<2x2xf32>
  %c:2 = stablehlo.custom_call @cusolver_potrf_ffi(%z) {mhlo.backend_config = {lower = true}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %r#0, %r#1, %r#2, %e#1, %e#2, %c#0, %c#1 : tensor<2x2xf32>, tensor<2xi32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<i32>
}
// -----
// expanded by XLA: reflectors, their product, eigenvalues of the lower triangle
// = -5 0.5 1.6 -0.6 -0.8 1 3
func.func @main() -> (tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>, tensor<2xf32>) {
  %x = stablehlo.constant dense<[[3.0],[4.0]]> : tensor<2x1xf32>
  %r:2 = stablehlo.custom_call @Qr(%x) : (tensor<2x1xf32>) -> (tensor<2x1xf32>, tensor<1xf32>)
  %q = stablehlo.custom_call @ProductOfElementaryHouseholderReflectors(%r#0, %r#1) : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32>
  %y = stablehlo.constant dense<[[2.0,9.0],[-1.0,2.0]]> : tensor<2x2xf32>
  %e:2 = stablehlo.custom_call @Eigh(%y) {backend_config = "1,1,100,1e-6"} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2xf32>)
  return %r#0, %r#1, %q, %e#1 : tensor<2x1xf32>, tensor<1xf32>, tensor<2x1xf32>, tensor<2xf32>
}
// -----
// lapack: a factor, and that there is none
// = 2 0 1 2 0 1
func.func @main() -> (tensor<2x2xf32>, tensor<i32>, tensor<i32>) {
  %x = stablehlo.constant dense<[[4.0,2.0],[2.0,5.0]]> : tensor<2x2xf32>
  %z = stablehlo.constant dense<[[1.0,2.0],[2.0,1.0]]> : tensor<2x2xf32>
  %r:2 = stablehlo.custom_call @lapack_spotrf_ffi(%x) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  %s:2 = stablehlo.custom_call @lapack_spotrf_ffi(%z) {mhlo.backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<i32>)
  return %r#0, %r#1, %s#1 : tensor<2x2xf32>, tensor<i32>, tensor<i32>
}
// -----
// integers of four bits wrap
// = -8 7 -7 0 -1 15 1 0 4 -8
func.func @main() -> (tensor<4xi4>, tensor<1xi4>, tensor<1xui4>, tensor<2xui4>, tensor<1xi4>, tensor<1xi4>) {
  %a = stablehlo.constant dense<[7, -8, 5, -4]> : tensor<4xi4>
  %b = stablehlo.constant dense<[1, -1, 4, 4]> : tensor<4xi4>
  %s = stablehlo.add %a, %b : tensor<4xi4>
  %m = stablehlo.constant dense<-1> : tensor<1xi4>
  %u = stablehlo.bitcast_convert %m : (tensor<1xi4>) -> tensor<1xui4>
  %c = stablehlo.constant dense<[12, 15]> : tensor<2xui4>
  %d = stablehlo.constant dense<[3, 1]> : tensor<2xui4>
  %q = stablehlo.shift_right_logical %c, %d : tensor<2xui4>
  %z = stablehlo.constant dense<[1, 0]> : tensor<2xui4>
  %p = stablehlo.minimum %q, %z : tensor<2xui4>
  %n = stablehlo.constant dense<4> : tensor<1xi4>
  %i = stablehlo.constant dense<-8> : tensor<1xi4>
  %g = stablehlo.negate %i : tensor<1xi4>
  return %s, %m, %u, %p, %n, %g : tensor<4xi4>, tensor<1xi4>, tensor<1xui4>, tensor<2xui4>, tensor<1xi4>, tensor<1xi4>
}
// -----
// a literal of four bits in bytes, and its bits as bytes and as halves
// = -1 2 -8 7 47 120 3 3 2 0 0 2 3 1
func.func @main() -> (tensor<4xi4>, tensor<2xui8>, tensor<4x2xui2>) {
  %a = stablehlo.constant dense<"0x0F020807"> : tensor<4xi4>
  %r = stablehlo.reshape %a : (tensor<4xi4>) -> tensor<2x2xi4>
  %b = stablehlo.bitcast_convert %r : (tensor<2x2xi4>) -> tensor<2xui8>
  %h = stablehlo.bitcast_convert %a : (tensor<4xi4>) -> tensor<4x2xui2>
  return %a, %b, %h : tensor<4xi4>, tensor<2xui8>, tensor<4x2xui2>
}
// -----
// numbers of four bits with a scale for each block
// = 12 -3 0.5 0.75
func.func @main() -> (tensor<2x2xf32>) {
  %a = stablehlo.constant dense<[[6.0, -1.5], [1.0, 1.5]]> : tensor<2x2xf4E2M1FN>
  %s = stablehlo.constant dense<[2.0, 0.5]> : tensor<2xf8E8M0FNU>
  %f = stablehlo.convert %a : (tensor<2x2xf4E2M1FN>) -> tensor<2x2xf32>
  %g = stablehlo.convert %s : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
  %b = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<2xf32>) -> tensor<2x2xf32>
  %r = stablehlo.multiply %f, %b : tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
// -----
// weights of four bits, contracted and summed in more
// = 57 -64 15 1
func.func @main() -> (tensor<2xi32>, tensor<2xui4>) {
  %w = stablehlo.constant dense<[[-8, 7], [-8, 7]]> : tensor<2x2xi4>
  %x = stablehlo.constant dense<[[-1, 7]]> : tensor<1x2xi8>
  %t = stablehlo.constant dense<[-8, 7]> : tensor<2xi4>
  %y = stablehlo.dot_general %w, %t, contracting_dims = [1] x [0] : (tensor<2x2xi4>, tensor<2xi4>) -> tensor<2xi32>
  %k = stablehlo.constant dense<[56, 177]> : tensor<2xi32>
  %v = stablehlo.subtract %y, %k : tensor<2xi32>
  %u = stablehlo.constant dense<[[15, 3, 13], [1, 0, 0]]> : tensor<2x3xui4>
  %z = stablehlo.constant dense<0> : tensor<ui4>
  %s = stablehlo.reduce(%u init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x3xui4>, tensor<ui4>) -> tensor<2xui4>
  return %v, %s : tensor<2xi32>, tensor<2xui4>
}
// -----
// quantized to four bits
// = -8 7 3
func.func @main() -> (tensor<3xi4>) {
  %x = stablehlo.constant dense<[-90.0, 80.0, 1.4]> : tensor<3xf32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i4:f32, 0.5>>
  %r = stablehlo.bitcast_convert %q : (tensor<3x!quant.uniform<i4:f32, 0.5>>) -> tensor<3xi4>
  return %r : tensor<3xi4>
}
// -----
// a loop in the region of a map
// = 12 16 10 9 15 64
func.func @main() -> (tensor<6xi32>) {
  %x = stablehlo.constant dense<[3, 1, 5, 9, 15, -1]> : tensor<6xi32>
  %r = "stablehlo.map"(%x) <{dimensions = array<i64: 0>}> ({
  ^bb0(%a: tensor<i32>):
    %limit = stablehlo.constant dense<9> : tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<64> : tensor<i32>
    %neg = stablehlo.compare LT, %a, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %y = "stablehlo.if"(%neg) ({
      stablehlo.return %n : tensor<i32>
    }, {
      %w = stablehlo.while(%i = %a) : tensor<i32>
      cond {
        %c = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
        stablehlo.return %c : tensor<i1>
      } do {
        %d = stablehlo.multiply %i, %two : tensor<i32>
        stablehlo.return %d : tensor<i32>
      }
      stablehlo.return %w : tensor<i32>
    }) : (tensor<i1>) -> tensor<i32>
    stablehlo.return %y : tensor<i32>
  }) : (tensor<6xi32>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}
// -----
// a reduction by greatest common divisors, by Euclid's loop
// = 6 5 0
func.func @main() -> (tensor<3xi32>) {
  %x = stablehlo.constant dense<[[12, 18, 30, 6], [35, 15, 0, 25], [0, 0, 0, 0]]> : tensor<3x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%x init: %z) across dimensions = [1] : (tensor<3x4xi32>, tensor<i32>) -> tensor<3xi32>
  reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %g:2 = stablehlo.while(%p = %a, %q = %b) : tensor<i32>, tensor<i32>
    cond {
      %o = stablehlo.constant dense<0> : tensor<i32>
      %c = stablehlo.compare NE, %q, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.remainder %p, %q : tensor<i32>
      stablehlo.return %q, %m : tensor<i32>, tensor<i32>
    }
    stablehlo.return %g#0 : tensor<i32>
  }
  return %r : tensor<3xi32>
}
// -----
// a window of greatest common divisors
// = 6 6 6 5 15 25
func.func @main() -> (tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[[12, 18, 30, 6], [35, 15, 0, 25]]> : tensor<2x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %g = func.call @gcd(%a, %b) : (tensor<i32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %g : tensor<i32>
  }) : (tensor<2x4xi32>, tensor<i32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
func.func private @gcd(%a: tensor<i32>, %b: tensor<i32>) -> tensor<i32> {
  %g:2 = stablehlo.while(%p = %a, %q = %b) : tensor<i32>, tensor<i32>
  cond {
    %o = stablehlo.constant dense<0> : tensor<i32>
    %c = stablehlo.compare NE, %q, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %m = stablehlo.remainder %p, %q : tensor<i32>
    stablehlo.return %q, %m : tensor<i32>, tensor<i32>
  }
  return %g#0 : tensor<i32>
}
// -----
// sorted by digit sums, which a loop adds up; the base is from around
// = 100 21 12 40 33 99
func.func @main() -> (tensor<6xi32>) {
  %x = stablehlo.constant dense<[99, 21, 33, 100, 12, 40]> : tensor<6xi32>
  %base = stablehlo.constant dense<10> : tensor<i32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %o = stablehlo.constant dense<0> : tensor<i32>
    %s:2 = stablehlo.while(%p = %a, %t = %o) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare GT, %p, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.remainder %p, %base : tensor<i32>
      %d = stablehlo.divide %p, %base : tensor<i32>
      %u = stablehlo.add %t, %m : tensor<i32>
      stablehlo.return %d, %u : tensor<i32>, tensor<i32>
    }
    %v:2 = stablehlo.while(%p = %b, %t = %o) : tensor<i32>, tensor<i32>
    cond {
      %c = stablehlo.compare GT, %p, %o : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    } do {
      %m = stablehlo.remainder %p, %base : tensor<i32>
      %d = stablehlo.divide %p, %base : tensor<i32>
      %u = stablehlo.add %t, %m : tensor<i32>
      stablehlo.return %d, %u : tensor<i32>, tensor<i32>
    }
    %l = stablehlo.compare LT, %s#1, %v#1 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %l : tensor<i1>
  }) : (tensor<6xi32>) -> tensor<6xi32>
  return %r : tensor<6xi32>
}
// -----
// a scatter whose region chooses by what is there
// = 7 20 -3
func.func @main() -> (tensor<3xi32>) {
  %x = stablehlo.constant dense<[0, 1, 2]> : tensor<3xi32>
  %i = stablehlo.constant dense<[[0], [1], [1], [2]]> : tensor<4x1xi32>
  %u = stablehlo.constant dense<[7, 4, 5, 3]> : tensor<4xi32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %y = "stablehlo.case"(%a) ({
      stablehlo.return %b : tensor<i32>
    }, {
      %p = stablehlo.multiply %a, %b : tensor<i32>
      stablehlo.return %p : tensor<i32>
    }, {
      %n = stablehlo.negate %b : tensor<i32>
      stablehlo.return %n : tensor<i32>
    }, {
      %p = stablehlo.multiply %a, %b : tensor<i32>
      stablehlo.return %p : tensor<i32>
    }) : (tensor<i32>) -> tensor<i32>
    stablehlo.return %y : tensor<i32>
  }) : (tensor<3xi32>, tensor<4x1xi32>, tensor<4xi32>) -> tensor<3xi32>
  return %r : tensor<3xi32>
}
// -----
// a convolution whose padding is a value
// = 0 1 3 5 7 0 16 0
func.func @main() -> (tensor<5xf32>, tensor<3xf32>) {
  %x = stablehlo.constant dense<[[[1.0], [2.0], [3.0], [4.0]]]> : tensor<1x4x1xf32>
  %w = stablehlo.constant dense<[[[1.0]], [[1.0]]]> : tensor<2x1x1xf32>
  %p = stablehlo.constant dense<[[2, 0]]> : tensor<1x2xi32>
  %y = "stablehlo.dynamic_conv"(%x, %w, %p) <{dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<2x1x1xf32>, tensor<1x2xi32>) -> tensor<1x5x1xf32>
  %r = stablehlo.reshape %y : (tensor<1x5x1xf32>) -> tensor<5xf32>
  %v = stablehlo.constant dense<[[[1.0]], [[2.0]], [[3.0]]]> : tensor<3x1x1xf32>
  %q = stablehlo.constant dense<[[-1, 1]]> : tensor<1x2xi64>
  %z = "stablehlo.dynamic_conv"(%x, %v, %q) <{window_strides = array<i64: 1>, lhs_dilation = array<i64: 2>, rhs_dilation = array<i64: 2>, window_reversal = array<i1: true>, dimension_numbers = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>, feature_group_count = 1 : i64, batch_group_count = 1 : i64}> : (tensor<1x4x1xf32>, tensor<3x1x1xf32>, tensor<1x2xi64>) -> tensor<1x3x1xf32>
  %s = stablehlo.reshape %z : (tensor<1x3x1xf32>) -> tensor<3xf32>
  return %r, %s : tensor<5xf32>, tensor<3xf32>
}
// -----
// tokens, and work that is done meanwhile
// = 3 4 2
func.func @main() -> (tensor<2xi32>, tensor<i32>) {
  %x = stablehlo.constant dense<[-3, 4]> : tensor<2xi32>
  %t = stablehlo.create_token : !stablehlo.token
  %u = "stablehlo.outfeed"(%x, %t) <{outfeed_config = ""}> : (tensor<2xi32>, !stablehlo.token) -> !stablehlo.token
  %v = stablehlo.after_all %t, %u : !stablehlo.token
  %f = "stablehlo.async_start"(%x) ({
  ^bb0(%a: tensor<2xi32>):
    %y = stablehlo.abs %a : tensor<2xi32>
    stablehlo.return %y : tensor<2xi32>
  }) : (tensor<2xi32>) -> !stablehlo.future<tensor<2xi32>>
  %r = "stablehlo.async_done"(%f) : (!stablehlo.future<tensor<2xi32>>) -> tensor<2xi32>
  %s = "shape.shape_of"(%x) : (tensor<2xi32>) -> tensor<1xindex>
  %i = stablehlo.convert %s : (tensor<1xindex>) -> tensor<1xi32>
  %n = stablehlo.reshape %i : (tensor<1xi32>) -> tensor<i32>
  return %r, %n : tensor<2xi32>, tensor<i32>
}
// -----
// the only device there is
// = 5 6 0
module attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func @main() -> (tensor<2xi32>, tensor<i32>) {
    %x = stablehlo.constant dense<[5, 6]> : tensor<2xi32>
    %y = "stablehlo.all_reduce"(%x) <{replica_groups = dense<[[0]]> : tensor<1x1xi64>}> ({
    ^bb0(%a: tensor<i32>, %b: tensor<i32>):
      %c = stablehlo.add %a, %b : tensor<i32>
      stablehlo.return %c : tensor<i32>
    }) : (tensor<2xi32>) -> tensor<2xi32>
    %z = "stablehlo.all_gather"(%y) <{all_gather_dim = 0 : i64, replica_groups = dense<0> : tensor<1x1xi64>}> : (tensor<2xi32>) -> tensor<2xi32>
    %p = stablehlo.partition_id : tensor<ui32>
    %i = stablehlo.convert %p : (tensor<ui32>) -> tensor<i32>
    return %z, %i : tensor<2xi32>, tensor<i32>
  }
}
// -----
// mulhi of i32
// = -1 0 1073741824 -1
func.func @main() -> (tensor<4xi32>) {
  %x = stablehlo.constant dense<[-1, 65535, -2147483648, -2147483648]> : tensor<4xi32>
  %y = stablehlo.constant dense<[2, 65535, -2147483648, 1]> : tensor<4xi32>
  %r = chlo.mulhi %x, %y : tensor<4xi32>, tensor<4xi32> -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
// mulhi of ui32 and ui8
// = 4294967294 0 254 6
func.func @main() -> (tensor<4xui32>) {
  %x = stablehlo.constant dense<[4294967295, 65535]> : tensor<2xui32>
  %y = stablehlo.constant dense<[255, 40]> : tensor<2xui8>
  %a = chlo.mulhi %x, %x : tensor<2xui32>, tensor<2xui32> -> tensor<2xui32>
  %b = chlo.mulhi %y, %y : tensor<2xui8>, tensor<2xui8> -> tensor<2xui8>
  %c = stablehlo.convert %b : (tensor<2xui8>) -> tensor<2xui32>
  %r = stablehlo.concatenate %a, %c, dim = 0 : (tensor<2xui32>, tensor<2xui32>) -> tensor<4xui32>
  return %r : tensor<4xui32>
}
// -----
// broadcast_next_after of a row and a number: steps of the last bit
// = 1 -1 0
func.func @main() -> (tensor<3xi32>) {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %y = stablehlo.constant dense<[1.5]> : tensor<1xf32>
  %m = stablehlo.constant dense<[0, 0, -1]> : tensor<3xi32>
  %n = chlo.broadcast_next_after %x, %y : (tensor<3xf32>, tensor<1xf32>) -> tensor<3xf32>
  %a = stablehlo.bitcast_convert %n : (tensor<3xf32>) -> tensor<3xi32>
  %b = stablehlo.bitcast_convert %x : (tensor<3xf32>) -> tensor<3xi32>
  %c = stablehlo.subtract %a, %b : tensor<3xi32>
  %r = stablehlo.subtract %c, %m : tensor<3xi32>
  return %r : tensor<3xi32>
}
// -----
// product of complex numbers: i * i * 2 = -2
// = -2 0
func.func @main() -> (tensor<2xf32>) {
  %x = stablehlo.constant dense<[(0.0, 1.0), (0.0, 1.0), (2.0, 0.0)]> : tensor<3xcomplex<f32>>
  %o = stablehlo.constant dense<(1.0, 0.0)> : tensor<complex<f32>>
  %p = stablehlo.reduce(%x init: %o) applies stablehlo.multiply across dimensions = [0] : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %a = stablehlo.real %p : (tensor<complex<f32>>) -> tensor<f32>
  %b = stablehlo.imag %p : (tensor<complex<f32>>) -> tensor<f32>
  %c = stablehlo.reshape %a : (tensor<f32>) -> tensor<1xf32>
  %d = stablehlo.reshape %b : (tensor<f32>) -> tensor<1xf32>
  %r = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1xf32>, tensor<1xf32>) -> tensor<2xf32>
  return %r : tensor<2xf32>
}
// -----
// cholesky of [[4, -2i], [2i, 10]]: [[2, 0], [i, 3]]
// = 2 0 0 3 0 0 1 0
func.func @main() -> (tensor<2x2x2xf32>) {
  %x = stablehlo.constant dense<[[(4.0, 0.0), (0.0, -2.0)], [(0.0, 2.0), (10.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %l = stablehlo.cholesky %x, lower = true : tensor<2x2xcomplex<f32>>
  %a = stablehlo.real %l : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
  %b = stablehlo.imag %l : (tensor<2x2xcomplex<f32>>) -> tensor<2x2xf32>
  %c = stablehlo.reshape %a : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %d = stablehlo.reshape %b : (tensor<2x2xf32>) -> tensor<1x2x2xf32>
  %r = stablehlo.concatenate %c, %d, dim = 0 : (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
  return %r : tensor<2x2x2xf32>
}
// -----
// triangular_solve by the adjoint of [[i, 0], [1, 2]] = [[-i, 1], [0, 2]] of [2, 4]: x1 = 2, x0 = (2 - 2) / -i = 0
// = 0 2 0 0
func.func @main() -> (tensor<4xf32>) {
  %x = stablehlo.constant dense<[[(0.0, 1.0), (0.0, 0.0)], [(1.0, 0.0), (2.0, 0.0)]]> : tensor<2x2xcomplex<f32>>
  %b = stablehlo.constant dense<[[(2.0, 0.0)], [(4.0, 0.0)]]> : tensor<2x1xcomplex<f32>>
  %s = "stablehlo.triangular_solve"(%x, %b) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose ADJOINT>}> : (tensor<2x2xcomplex<f32>>, tensor<2x1xcomplex<f32>>) -> tensor<2x1xcomplex<f32>>
  %c = stablehlo.real %s : (tensor<2x1xcomplex<f32>>) -> tensor<2x1xf32>
  %d = stablehlo.imag %s : (tensor<2x1xcomplex<f32>>) -> tensor<2x1xf32>
  %e = stablehlo.concatenate %c, %d, dim = 0 : (tensor<2x1xf32>, tensor<2x1xf32>) -> tensor<4x1xf32>
  %r = stablehlo.reshape %e : (tensor<4x1xf32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
// -----
// pivots 2, 2, 2 (from 0) of four rows
// = 2 0 1 3
func.func @main() -> (tensor<4xi32>) {
  %p = stablehlo.constant dense<[2, 2, 2]> : tensor<3xi32>
  %r = stablehlo.custom_call @cu_lu_pivots_to_permutation(%p) {mhlo.backend_config = {}} : (tensor<3xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
// chlo.scan carries on what it gives
// = 3 8 19 19
func.func @main() -> (tensor<3xf32>, tensor<f32>) {
  %x = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = stablehlo.constant dense<1.0> : tensor<f32>
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %0:2 = chlo.scan(%x) inits (%c) dimension=0  {
    ^bb0(%input: tensor<f32>, %carry: tensor<f32>):
      %1 = stablehlo.multiply %carry, %two : tensor<f32>
      %2 = stablehlo.add %input, %1 : tensor<f32>
      stablehlo.return %2, %2 : tensor<f32>, tensor<f32>
  } : (tensor<3xf32>, tensor<f32>) -> (tensor<3xf32>, tensor<f32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<f32>
}
// -----
// chlo.scan from behind, along dim 1, gives what was carried before
// = -1 3 0 6 -2 0 2 -2
func.func @main() -> (tensor<2x3xf32>, tensor<2xf32>) {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 4.0, -2.0]]> : tensor<2x3xf32>
  %c = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0:2 = "chlo.scan"(%x, %c) <{dimension = 1 : i64, is_reverse = true, operandSegmentSizes = array<i32: 1, 1>, resultSegmentSizes = array<i32: 1, 1>}> ({
    ^bb0(%input: tensor<2xf32>, %carry: tensor<2xf32>):
      %1 = stablehlo.subtract %input, %carry : tensor<2xf32>
      stablehlo.return %carry, %1 : tensor<2xf32>, tensor<2xf32>
  }) : (tensor<2x3xf32>, tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2x3xf32>, tensor<2xf32>
}
// -----
// chlo.scan without inputs counts
// = 7
func.func @main() -> (tensor<i32>) {
  %c = stablehlo.constant dense<3> : tensor<i32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %0 = chlo.scan() inits (%c) dimension=0 attributes {scan_dim_size = 4 : i64} {
    ^bb0(%carry: tensor<i32>):
      %1 = stablehlo.add %carry, %one : tensor<i32>
      stablehlo.return %1 : tensor<i32>
  } : (tensor<i32>) -> (tensor<i32>)
  return %0 : tensor<i32>
}
// -----
// mhlo.stochastic_convert goes up when the random number is small enough
// = 3 2 -3 -2 127 4
func.func @main() -> (tensor<6xi8>) {
  %x = stablehlo.constant dense<[2.25, 2.25, -2.5, -2.5, 1000.0, 4.0]> : tensor<6xf32>
  %r = stablehlo.constant dense<[1073741823, 1073741824, 2147483647, 2147483648, 5, 0]> : tensor<6xui32>
  %0 = "mhlo.stochastic_convert"(%x, %r) : (tensor<6xf32>, tensor<6xui32>) -> tensor<6xi8>
  return %0 : tensor<6xi8>
}
// -----
// random bits of a state of ui32 are those of the same state in ui64
// = 1 1
func.func @main() -> (tensor<i1>, tensor<i1>) {
  %a = stablehlo.constant dense<[1, 2, 3, 4]> : tensor<4xui32>
  %b = stablehlo.constant dense<[8589934593, 17179869187]> : tensor<2xui64>
  %c = stablehlo.constant dense<[8589934593, 17179869187]> : tensor<2xi64>
  %0:2 = "mhlo.rng_bit_generator"(%a) <{rng_algorithm = #mhlo.rng_algorithm<THREE_FRY>}> : (tensor<4xui32>) -> (tensor<4xui32>, tensor<6xui32>)
  %1, %2 = stablehlo.rng_bit_generator %b, algorithm = THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<6xui32>)
  %3:2 = "mhlo.rng_bit_generator"(%c) <{rng_algorithm = #mhlo.rng_algorithm<THREE_FRY>}> : (tensor<2xi64>) -> (tensor<2xi64>, tensor<6xui32>)
  %4 = stablehlo.bitcast_convert %1 : (tensor<2xui64>) -> tensor<2x2xui32>
  %5 = stablehlo.reshape %4 : (tensor<2x2xui32>) -> tensor<4xui32>
  %6 = stablehlo.compare EQ, %5, %0#0 : (tensor<4xui32>, tensor<4xui32>) -> tensor<4xi1>
  %7 = stablehlo.compare EQ, %2, %0#1 : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
  %8 = stablehlo.compare EQ, %2, %3#1 : (tensor<6xui32>, tensor<6xui32>) -> tensor<6xi1>
  %9 = stablehlo.and %7, %8 : tensor<6xi1>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %10 = stablehlo.reduce(%6 init: %true) applies stablehlo.and across dimensions = [0] : (tensor<4xi1>, tensor<i1>) -> tensor<i1>
  %11 = stablehlo.reduce(%9 init: %true) applies stablehlo.and across dimensions = [0] : (tensor<6xi1>, tensor<i1>) -> tensor<i1>
  return %10, %11 : tensor<i1>, tensor<i1>
}
// -----
// sorted by bits, as integers of their order, NaN last
// = -inf -1 -0 0 2.5 nan
func.func @main() -> (tensor<6xf32>) {
  %x = stablehlo.constant dense<[2.5, 0x7FC00000, 0.0, 0xFF800000, -0.0, -1.0]> : tensor<6xf32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %z = stablehlo.constant dense<0> : tensor<i32>
    %m = stablehlo.constant dense<2147483647> : tensor<i32>
    %0 = stablehlo.bitcast_convert %a : (tensor<f32>) -> tensor<i32>
    %1 = stablehlo.compare LT, %0, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %2 = stablehlo.xor %m, %0 : tensor<i32>
    %3 = stablehlo.select %1, %2, %0 : tensor<i1>, tensor<i32>
    %4 = mhlo.bitcast %b {result_layout = dense<> : tensor<0xindex>, source_layout = dense<> : tensor<0xindex>} : (tensor<f32>) -> tensor<i32>
    %5 = stablehlo.compare LT, %4, %z : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %6 = stablehlo.xor %m, %4 : tensor<i32>
    %7 = stablehlo.select %5, %6, %4 : tensor<i1>, tensor<i32>
    %p = stablehlo.compare LT, %3, %7 : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<6xf32>) -> tensor<6xf32>
  return %r : tensor<6xf32>
}
// -----
// bitcast of a tensor that lies column by column
// = 1 4 2 5 3 6
func.func @main() -> (tensor<3x1x2xi32>) {
  %x = stablehlo.constant dense<[[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]> : tensor<2x3xf32>
  %i = stablehlo.convert %x : (tensor<2x3xf32>) -> tensor<2x3xui32>
  %r = mhlo.bitcast %i {result_layout = dense<[2, 1, 0]> : tensor<3xindex>, source_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xui32>) -> tensor<3x1x2xi32>
  return %r : tensor<3x1x2xi32>
}
// -----
// calls of LAPACK that give tuples, as converted modules have them
// = 2 0 1 2 0 4 2 0.5 4 1 2
func.func @main() -> (tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xi32>) {
  %a = stablehlo.constant dense<[[4.0, 2.0], [2.0, 5.0]]> : tensor<2x2xf32>
  %c = stablehlo.custom_call @lapack_spotrf_ffi(%a) {api_version = 4 : i32, backend_config = {uplo = 76 : ui8}} : (tensor<2x2xf32>) -> tuple<tensor<2x2xf32>, tensor<i32>>
  %l = stablehlo.get_tuple_element %c[0] : (tuple<tensor<2x2xf32>, tensor<i32>>) -> tensor<2x2xf32>
  %i = stablehlo.get_tuple_element %c[1] : (tuple<tensor<2x2xf32>, tensor<i32>>) -> tensor<i32>
  %f = stablehlo.custom_call @lapack_sgetrf_ffi(%a) {api_version = 4 : i32, backend_config = {}} : (tensor<2x2xf32>) -> tuple<tensor<2x2xf32>, tensor<2xi32>, tensor<i32>>
  %u = stablehlo.get_tuple_element %f[0] : (tuple<tensor<2x2xf32>, tensor<2xi32>, tensor<i32>>) -> tensor<2x2xf32>
  %p = stablehlo.get_tuple_element %f[1] : (tuple<tensor<2x2xf32>, tensor<2xi32>, tensor<i32>>) -> tensor<2xi32>
  return %l, %i, %u, %p : tensor<2x2xf32>, tensor<i32>, tensor<2x2xf32>, tensor<2xi32>
}
// -----
// a reduction whose region sums up a vector
// = 10 0 -3 25
func.func @main() -> (tensor<2x2xi32>) {
  %x = stablehlo.constant dense<[[[1, 2, 3, 4], [5, -5, 0, 0]], [[0, -1, -1, -1], [10, 10, 4, 1]]]> : tensor<2x2x4xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r = stablehlo.reduce(%x init: %z) across dimensions = [2] : (tensor<2x2x4xi32>, tensor<i32>) -> tensor<2x2xi32>
  reducer(%a: tensor<i32>, %b: tensor<i32>) {
    %p = stablehlo.reshape %a : (tensor<i32>) -> tensor<1xi32>
    %q = stablehlo.reshape %b : (tensor<i32>) -> tensor<1xi32>
    %v = stablehlo.concatenate %p, %q, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %s = stablehlo.reduce(%v init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
    stablehlo.return %s : tensor<i32>
  }
  return %r : tensor<2x2xi32>
}
// -----
// a map whose region takes medians, by a sort, of multiples from around it
// = 2 -4 0 6 8 -10
func.func @main() -> (tensor<2x3xi32>) {
  %x = stablehlo.constant dense<[[1, -2, 0], [3, 4, -5]]> : tensor<2x3xi32>
  %w = stablehlo.constant dense<[5, 2, 1]> : tensor<3xi32>
  %r = "stablehlo.map"(%x) <{dimensions = array<i64: 0, 1>}> ({
  ^bb0(%a: tensor<i32>):
    %b = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %m = stablehlo.multiply %b, %w : tensor<3xi32>
    %s = "stablehlo.sort"(%m) <{dimension = 0 : i64}> ({
    ^bb0(%e: tensor<i32>, %f: tensor<i32>):
      %c = stablehlo.compare LT, %e, %f : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %c : tensor<i1>
    }) : (tensor<3xi32>) -> tensor<3xi32>
    %l = stablehlo.slice %s [1:2] : (tensor<3xi32>) -> tensor<1xi32>
    %o = stablehlo.reshape %l : (tensor<1xi32>) -> tensor<i32>
    stablehlo.return %o : tensor<i32>
  }) : (tensor<2x3xi32>) -> tensor<2x3xi32>
  return %r : tensor<2x3xi32>
}
// -----
// sorted by what stands in a table, with a loop and a choice that are alike for all; ties stay as they were
// = 3 3 1 0 2 2 5 6 7 8 9
func.func @main() -> (tensor<6xi32>, tensor<5xi32>) {
  %x = stablehlo.constant dense<[0, 3, 2, 1, 3, 2]> : tensor<6xi32>
  %t = stablehlo.constant dense<[[7, 1], [2, 2], [9, 1], [2, 0]]> : tensor<4x2xi32>
  %y = stablehlo.constant dense<[8, 7, 9, 5, 6]> : tensor<5xi32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = func.call @sum(%t, %a, %one) : (tensor<4x2xi32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %q = func.call @sum(%t, %b, %one) : (tensor<4x2xi32>, tensor<i32>, tensor<i32>) -> tensor<i32>
    %c = stablehlo.compare LT, %p, %q : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<6xi32>) -> tensor<6xi32>
  %s = "stablehlo.sort"(%y) <{dimension = 0 : i64}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %q = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i32>) -> tensor<3xi32>
    %l = stablehlo.compare LT, %p, %q : (tensor<3xi32>, tensor<3xi32>) -> tensor<3xi1>
    %f = stablehlo.constant dense<false> : tensor<i1>
    %c = stablehlo.reduce(%l init: %f) applies stablehlo.or across dimensions = [0] : (tensor<3xi1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<5xi32>) -> tensor<5xi32>
  return %r, %s : tensor<6xi32>, tensor<5xi32>
}
func.func private @sum(%t: tensor<4x2xi32>, %i: tensor<i32>, %n: tensor<i32>) -> tensor<i32> {
  %z = stablehlo.constant dense<0> : tensor<i32>
  %s = stablehlo.dynamic_slice %t, %i, %z, sizes = [1, 2] : (tensor<4x2xi32>, tensor<i32>, tensor<i32>) -> tensor<1x2xi32>
  %v = stablehlo.reduce(%s init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<1x2xi32>, tensor<i32>) -> tensor<i32>
  %w:2 = stablehlo.while(%k = %z, %u = %v) : tensor<i32>, tensor<i32>
  cond {
    %c = stablehlo.compare LT, %k, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  } do {
    %l = stablehlo.add %k, %n : tensor<i32>
    %d = stablehlo.add %u, %u : tensor<i32>
    stablehlo.return %l, %d : tensor<i32>, tensor<i32>
  }
  return %w#1 : tensor<i32>
}
// -----
// a scatter whose region multiplies matrices
// = 0 6 0 10
func.func @main() -> (tensor<4xi32>) {
  %x = stablehlo.constant dense<[0, 1, 0, 2]> : tensor<4xi32>
  %i = stablehlo.constant dense<[[1], [3], [1]]> : tensor<3x1xi32>
  %u = stablehlo.constant dense<[2, 5, 3]> : tensor<3xi32>
  %r = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %p = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %q = stablehlo.broadcast_in_dim %b, dims = [] : (tensor<i32>) -> tensor<1x1xi32>
    %d = stablehlo.dot_general %p, %q, contracting_dims = [1] x [0] : (tensor<1x1xi32>, tensor<1x1xi32>) -> tensor<1x1xi32>
    %s = stablehlo.reshape %d : (tensor<1x1xi32>) -> tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<4xi32>, tensor<3x1xi32>, tensor<3xi32>) -> tensor<4xi32>
  return %r : tensor<4xi32>
}
// -----
// positions in a type that rounds them are rounded once, however they are cut
// = 0 0 0 0 1 0 2 0 3 0
func.func @main() -> (tensor<i32>, tensor<i32>, tensor<4xcomplex<f32>>) {
  %i = stablehlo.iota dim = 0 : tensor<1536xi32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %b = stablehlo.iota dim = 0 : tensor<1536xbf16>
  %c = stablehlo.convert %i : (tensor<1536xi32>) -> tensor<1536xbf16>
  %d = stablehlo.compare NE, %b, %c : (tensor<1536xbf16>, tensor<1536xbf16>) -> tensor<1536xi1>
  %e = stablehlo.convert %d : (tensor<1536xi1>) -> tensor<1536xi32>
  %r = stablehlo.reduce(%e init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1536xi32>, tensor<i32>) -> tensor<i32>
  %h = stablehlo.iota dim = 0 : tensor<1536xf8E5M2>
  %k = stablehlo.convert %i : (tensor<1536xi32>) -> tensor<1536xf8E5M2>
  %l = stablehlo.compare NE, %h, %k : (tensor<1536xf8E5M2>, tensor<1536xf8E5M2>) -> tensor<1536xi1>
  %m = stablehlo.convert %l : (tensor<1536xi1>) -> tensor<1536xi32>
  %s = stablehlo.reduce(%m init: %z) applies stablehlo.add across dimensions = [0] : (tensor<1536xi32>, tensor<i32>) -> tensor<i32>
  %t = stablehlo.iota dim = 0 : tensor<4xcomplex<f32>>
  return %r, %s, %t : tensor<i32>, tensor<i32>, tensor<4xcomplex<f32>>
}
// -----
// atan2 of complex numbers: of (1, 1), pi / 4; of (i, 2), i artanh(1 / 2)
// = 0.785398163 0 0 0.549306144
func.func @main() -> (tensor<2xcomplex<f64>>) {
  %y = stablehlo.constant dense<[(1.0, 0.0), (0.0, 1.0)]> : tensor<2xcomplex<f64>>
  %x = stablehlo.constant dense<[(1.0, 0.0), (2.0, 0.0)]> : tensor<2xcomplex<f64>>
  %r = stablehlo.atan2 %y, %x : tensor<2xcomplex<f64>>
  return %r : tensor<2xcomplex<f64>>
}
// -----
// parity: bools reduced by xor, along dims, windows and from true
// = 0 1 1 1 1 0 1 1 0
func.func @main() -> (tensor<2xi1>, tensor<2x3xi1>, tensor<i1>) {
  %x = stablehlo.constant dense<[[true, false, true, false], [true, true, false, true]]> : tensor<2x4xi1>
  %f = stablehlo.constant dense<false> : tensor<i1>
  %t = stablehlo.constant dense<true> : tensor<i1>
  %r = stablehlo.reduce(%x init: %f) applies stablehlo.xor across dimensions = [1] : (tensor<2x4xi1>, tensor<i1>) -> tensor<2xi1>
  %w = "stablehlo.reduce_window"(%x, %f) <{window_dimensions = array<i64: 1, 2>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %c = stablehlo.xor %a, %b : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<2x4xi1>, tensor<i1>) -> tensor<2x3xi1>
  %s = stablehlo.reduce(%x init: %t) applies stablehlo.xor across dimensions = [0, 1] : (tensor<2x4xi1>, tensor<i1>) -> tensor<i1>
  return %r, %w, %s : tensor<2xi1>, tensor<2x3xi1>, tensor<i1>
}
// -----
// the total order of floats, of the two infinities, of 0 with either sign and of NaN with either sign
// = 0 1 1 0 0 1 1 0 0 1 1 0
func.func @main() -> (tensor<6xi1>, tensor<6xi1>) {
  %x = stablehlo.constant dense<[0x7F800000, 0x80000000, 0xFFC00000, 0x00000000, 0x7FC00000, 0xBF800000]> : tensor<6xf32>
  %y = stablehlo.constant dense<[0xFF800000, 0x00000000, 0xFF800000, 0x80000000, 0x7F800000, 0xBF000000]> : tensor<6xf32>
  %l = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %e = "stablehlo.compare"(%x, %x) <{comparison_direction = #stablehlo<comparison_direction EQ>, compare_type = #stablehlo<comparison_type TOTALORDER>}> : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %m = stablehlo.compare LT, %y, %x, TOTALORDER : (tensor<6xf32>, tensor<6xf32>) -> tensor<6xi1>
  %o = stablehlo.and %e, %m : tensor<6xi1>
  return %l, %o : tensor<6xi1>, tensor<6xi1>
}
// -----
// the least, and of equal ones the last
// = 1 -2 3 2
func.func @main() -> (tensor<2xi32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[2, 1, 5, 1], [0, -2, -2, 7]]> : tensor<2x4xi32>
  %i = stablehlo.iota dim = 1 : tensor<2x4xi32>
  %top = stablehlo.constant dense<2147483647> : tensor<i32>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %r:2 = stablehlo.reduce(%x init: %top), (%i init: %z) across dimensions = [1] : (tensor<2x4xi32>, tensor<2x4xi32>, tensor<i32>, tensor<i32>) -> (tensor<2xi32>, tensor<2xi32>)
  reducer(%a: tensor<i32>, %b: tensor<i32>) (%k: tensor<i32>, %l: tensor<i32>) {
    %c = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %e = stablehlo.compare EQ, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %t = stablehlo.compare GT, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %et = stablehlo.and %e, %t : tensor<i1>
    %p = stablehlo.or %c, %et : tensor<i1>
    %v = stablehlo.select %c, %a, %b : tensor<i1>, tensor<i32>
    %w = stablehlo.select %p, %k, %l : tensor<i1>, tensor<i32>
    stablehlo.return %v, %w : tensor<i32>, tensor<i32>
  }
  return %r#0, %r#1 : tensor<2xi32>, tensor<2xi32>
}
// -----
// sorted with all that is positive first: a select that no order of numbers has
// = 2 4 -3 0 3 1 0 2
func.func @main() -> (tensor<4xf32>, tensor<4xi32>) {
  %x = stablehlo.constant dense<[0.0, 2.0, -3.0, 4.0]> : tensor<4xf32>
  %y = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi32>
  %r = "stablehlo.sort"(%x) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<0xFF800000> : tensor<f32>
    %pa = stablehlo.compare GT, %a, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pb = stablehlo.compare GT, %b, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %ka = stablehlo.select %pa, %n, %a : tensor<i1>, tensor<f32>
    %kb = stablehlo.select %pb, %n, %b : tensor<i1>, tensor<f32>
    %c = stablehlo.compare LT, %ka, %kb : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>) -> tensor<4xf32>
  %s:2 = "stablehlo.sort"(%x, %y) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %k: tensor<i32>, %l: tensor<i32>):
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %pa = stablehlo.compare GE, %a, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %pb = stablehlo.compare GE, %b, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %ka = stablehlo.select %pa, %z, %a : tensor<i1>, tensor<f32>
    %kb = stablehlo.select %pb, %z, %b : tensor<i1>, tensor<f32>
    %lt = stablehlo.compare GT, %ka, %kb : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %eq = stablehlo.compare EQ, %ka, %kb : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %t = stablehlo.compare GT, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %et = stablehlo.and %eq, %t : tensor<i1>
    %c = stablehlo.or %lt, %et : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<4xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %r, %s#1 : tensor<4xf32>, tensor<4xi32>
}
// -----
// sorted by two keys, NaN last and -0 as 0; descending by the second, then the first
// = 0 0 1 2 0 2 1 0 4 3 4 3 1 0 2
func.func @main() -> (tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) {
  %x = stablehlo.constant dense<[1.0, 0.0, -0.0, 0x7FC00000, 2.0]> : tensor<5xf32>
  %i = stablehlo.constant dense<[0, 1, 2, 3, 4]> : tensor<5xi32>
  %y = stablehlo.constant dense<[5, 7, 3, 9, 9]> : tensor<5xi32>
  %r:3 = "stablehlo.sort"(%x, %y, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %k: tensor<i32>, %l: tensor<i32>, %m: tensor<i32>, %n: tensor<i32>):
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %nan = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %az = stablehlo.compare EQ, %a, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %a1 = stablehlo.select %az, %z, %a : tensor<i1>, tensor<f32>
    %an = stablehlo.compare NE, %a, %a : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %a2 = stablehlo.select %an, %nan, %a1 : tensor<i1>, tensor<f32>
    %bz = stablehlo.compare EQ, %b, %z : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b1 = stablehlo.select %bz, %z, %b : tensor<i1>, tensor<f32>
    %bn = stablehlo.compare NE, %b, %b : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %b2 = stablehlo.select %bn, %nan, %b1 : tensor<i1>, tensor<f32>
    %lt = stablehlo.compare LT, %a2, %b2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %eq = stablehlo.compare EQ, %a2, %b2, TOTALORDER : (tensor<f32>, tensor<f32>) -> tensor<i1>
    %second = stablehlo.compare LT, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %c = stablehlo.select %eq, %second, %lt : tensor<i1>, tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>, tensor<5xi32>)
  %s:3 = "stablehlo.sort"(%x, %y, %i) <{dimension = 0 : i64, is_stable = true}> ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>, %k: tensor<i32>, %l: tensor<i32>, %m: tensor<i32>, %n: tensor<i32>):
    %f = stablehlo.compare GT, %m, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %gt = stablehlo.compare GT, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %eq = stablehlo.compare EQ, %k, %l : (tensor<i32>, tensor<i32>) -> tensor<i1>
    %et = stablehlo.and %eq, %f : tensor<i1>
    %c = stablehlo.or %gt, %et : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) : (tensor<5xf32>, tensor<5xi32>, tensor<5xi32>) -> (tensor<5xf32>, tensor<5xi32>, tensor<5xi32>)
  %z = stablehlo.constant dense<0.0> : tensor<5xf32>
  %isnan = stablehlo.compare NE, %r#0, %r#0 : (tensor<5xf32>, tensor<5xf32>) -> tensor<5xi1>
  %v = stablehlo.select %isnan, %z, %r#0 : tensor<5xi1>, tensor<5xf32>
  return %v, %r#2, %s#2 : tensor<5xf32>, tensor<5xi32>, tensor<5xi32>
}
// -----
// bools contracted: is there a way of two steps
// = 0 1 1 0 0 0 1 1 1
func.func @main() -> (tensor<3x3xi1>) {
  %x = stablehlo.constant dense<[[false, true, false], [false, false, false], [false, true, true]]> : tensor<3x3xi1>
  %y = stablehlo.constant dense<[[true, true, true], [false, true, true], [true, false, true]]> : tensor<3x3xi1>
  %r = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<3x3xi1>, tensor<3x3xi1>) -> tensor<3x3xi1>
  return %r : tensor<3x3xi1>
}
// -----
// reduced in the wider type of the initial value
// = 300 -300 202 202 402 -398
func.func @main() -> (tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) {
  %x = stablehlo.constant dense<[[100, 100, 100], [-100, -100, -100]]> : tensor<2x3xi8>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %r = "stablehlo.reduce"(%x, %z) <{dimensions = array<i64: 1>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    stablehlo.return %c : tensor<i32>
  }) : (tensor<2x3xi8>, tensor<i32>) -> tensor<2xi32>
  %w = "stablehlo.reduce_window"(%x, %two) <{window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 3>}> ({
  ^bb0(%a: tensor<i32>, %b: tensor<i32>):
    %c = stablehlo.add %a, %b : tensor<i32>
    %d = stablehlo.abs %c : tensor<i32>
    stablehlo.return %d : tensor<i32>
  }) : (tensor<2x3xi8>, tensor<i32>) -> tensor<2x1xi32>
  %v = stablehlo.reshape %w : (tensor<2x1xi32>) -> tensor<2xi32>
  %s = stablehlo.constant dense<[[100, -100], [100, -100], [100, -100], [100, -100]]> : tensor<4x2xi8>
  %q = stablehlo.reduce(%s init: %two) applies stablehlo.add across dimensions = [0] : (tensor<4x2xi8>, tensor<i32>) -> tensor<2xi32>
  return %r, %v, %q : tensor<2xi32>, tensor<2xi32>, tensor<2xi32>
}
// -----
// einsum with dims that the equation leaves out
// = 5 11 3 7 1 2 3 4
func.func @main() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[1.0, 1.0], [3.0, 2.0]]]> : tensor<2x2x2xf32>
  %y = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = "stablehlo.einsum"(%x, %y) <{einsum_config = "...ab,b->...a"}> : (tensor<2x2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %z = stablehlo.constant dense<[[1.0, 3.0], [2.0, 4.0]]> : tensor<2x2xf32>
  %s = "stablehlo.unary_einsum"(%z) <{einsum_config = "ab...->b...a"}> : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %r, %s : tensor<2x2xf32>, tensor<2x2xf32>
}
// -----
// sizes that types leave open, and that follow from sizes of operands
// = 0 1 2 3 4 5 0 3 6 9 12 15 0 3 6 9 12 15 18
func.func @main() -> (tensor<?xi32>, tensor<2x?xi32>, tensor<i32>) {
  %x = stablehlo.constant dense<[[0, 1, 2], [3, 4, 5]]> : tensor<2x3xi32>
  %rows = stablehlo.constant dense<2> : tensor<i32>
  %b = stablehlo.set_dimension_size %x, %rows, dim = 0 : (tensor<2x3xi32>, tensor<i32>) -> tensor<?x3xi32, #stablehlo.bounds<2, ?>>
  %z = stablehlo.constant dense<0> : tensor<i32>
  %o = stablehlo.constant dense<[2]> : tensor<1xi32>
  %n = stablehlo.get_dimension_size %b, dim = 1 : (tensor<?x3xi32, #stablehlo.bounds<2, ?>>) -> tensor<i32>
  %k = stablehlo.get_dimension_size %b, dim = 0 : (tensor<?x3xi32, #stablehlo.bounds<2, ?>>) -> tensor<i32>
  %m = stablehlo.multiply %n, %k : tensor<i32>
  %s = stablehlo.reshape %m : (tensor<i32>) -> tensor<1xi32>
  %flat = stablehlo.dynamic_reshape %b, %s : (tensor<?x3xi32, #stablehlo.bounds<2, ?>>, tensor<1xi32>) -> tensor<?xi32>
  %t = stablehlo.concatenate %o, %s, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %wide = stablehlo.dynamic_broadcast_in_dim %flat, %t, dims = [1] : (tensor<?xi32>, tensor<2xi32>) -> tensor<2x?xi32>
  %i = stablehlo.dynamic_iota %t, dim = 0 : (tensor<2xi32>) -> tensor<?x?xi32>
  %w = stablehlo.multiply %wide, %i : (tensor<2x?xi32>, tensor<?x?xi32>) -> tensor<2x?xi32>
  %l = stablehlo.slice %w [0:2, 4:6] : (tensor<2x?xi32>) -> tensor<2x2xi32>
  %h = stablehlo.add %l, %l : tensor<2x2xi32>
  %sum = stablehlo.reduce(%h init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2x2xi32>, tensor<i32>) -> tensor<2xi32>
  %both = func.call @triple(%wide) : (tensor<2x?xi32>) -> tensor<2x?xi32>
  %q = stablehlo.reduce(%sum init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xi32>, tensor<i32>) -> tensor<i32>
  return %flat, %both, %q : tensor<?xi32>, tensor<2x?xi32>, tensor<i32>
}
func.func private @triple(%x: tensor<2x?xi32>) -> tensor<2x?xi32> {
  %y = stablehlo.add %x, %x : tensor<2x?xi32>
  %z = stablehlo.add %y, %x : tensor<2x?xi32>
  return %z : tensor<2x?xi32>
}
// -----
// einsum in its custom form, a comma in the text
// = 1 3 2 4 0 0 0 0
func.func @main() -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %one = stablehlo.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xf32>
  %r = stablehlo.einsum %x, %one, config = "ij,jk->ki" : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %t = stablehlo.unary_einsum %x, config = "ij->ji" : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %d = stablehlo.subtract %r, %t : tensor<2x2xf32>
  return %r, %d : tensor<2x2xf32>, tensor<2x2xf32>
}
// -----
// batch norm of f64: epsilon is an f32, 0.001 is 0.0010000000474974513
// = 31.622775850708067 63.245551701416133
func.func @main() -> tensor<2xf64> {
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf64>
  %one = stablehlo.constant dense<1.0> : tensor<2xf64>
  %zero = stablehlo.constant dense<0.0> : tensor<2xf64>
  %r = "stablehlo.batch_norm_inference"(%x, %one, %zero, %zero, %zero) <{epsilon = 0.001 : f32, feature_index = 0 : i64}> : (tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>, tensor<2xf64>) -> tensor<2xf64>
  return %r : tensor<2xf64>
}
// -----
// contractions of ui8 into i32, of i8 into f32
// = 60000 -60000 60000 16129
func.func @main() -> (tensor<2xi32>, tensor<1x1x1xi32>, tensor<f32>) {
  %x = stablehlo.constant dense<[[200, 100], [0, 0]]> : tensor<2x2xui8>
  %y = stablehlo.constant dense<[250, 100]> : tensor<2xui8>
  %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<2x2xui8>, tensor<2xui8>) -> tensor<2xi32>
  %c = stablehlo.constant dense<[-60000, -60000]> : tensor<2xi32>
  %d = stablehlo.constant dense<[0, 1]> : tensor<2xi32>
  %e = stablehlo.multiply %c, %d : tensor<2xi32>
  %r = stablehlo.add %0, %e : tensor<2xi32>
  %k = stablehlo.reshape %x : (tensor<2x2xui8>) -> tensor<1x4x1xui8>
  %l = stablehlo.constant dense<[[[250]], [[100]], [[1]], [[2]]]> : tensor<4x1x1xui8>
  %s = stablehlo.convolution(%k, %l) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x1xui8>, tensor<4x1x1xui8>) -> tensor<1x1x1xi32>
  %m = stablehlo.constant dense<127> : tensor<1xi8>
  %t = stablehlo.dot_general %m, %m, contracting_dims = [0] x [0] : (tensor<1xi8>, tensor<1xi8>) -> tensor<f32>
  return %r, %s, %t : tensor<2xi32>, tensor<1x1x1xi32>, tensor<f32>
}
// -----
// total order of floats without a sign in their first bit
// = 1 0 1 1 1 0 1 1
func.func @main() -> (tensor<4xi1>, tensor<4xi1>) {
  %x = stablehlo.constant dense<[0.5, 4.0, 1.0, 0.5]> : tensor<4xf8E8M0FNU>
  %y = stablehlo.constant dense<[4.0, 0.5, 2.0, 2.0]> : tensor<4xf8E8M0FNU>
  %r = stablehlo.compare LT, %x, %y, TOTALORDER : (tensor<4xf8E8M0FNU>, tensor<4xf8E8M0FNU>) -> tensor<4xi1>
  %a = stablehlo.constant dense<[-0.0, 1.0, -2.0, -1.0]> : tensor<4xf4E2M1FN>
  %b = stablehlo.constant dense<[0.0, -1.0, -1.0, 3.0]> : tensor<4xf4E2M1FN>
  %s = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf4E2M1FN>, tensor<4xf4E2M1FN>) -> tensor<4xi1>
  return %r, %s : tensor<4xi1>, tensor<4xi1>
}
// -----
// one literal for all elements of a tensor that has none
// = 3 0
func.func @main() -> (tensor<1xf32>, tensor<i32>) {
  %x = stablehlo.constant dense<2.0> : tensor<0xf32>
  %y = stablehlo.constant dense<3.0> : tensor<1xf32>
  %r = stablehlo.concatenate %x, %y, dim = 0 : (tensor<0xf32>, tensor<1xf32>) -> tensor<1xf32>
  %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<0xf32>) -> tensor<i32>
  return %r, %n : tensor<1xf32>, tensor<i32>
}
// -----
// greater and smaller complex numbers, clamped bools
// = 1 1 1 1 0 -1 3 5 0 1 0 1
func.func @main() -> (tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<4xi1>) {
  %re = stablehlo.constant dense<[1.0, 1.0, -1.0]> : tensor<3xf32>
  %im = stablehlo.constant dense<[2.0, -1.0, 7.0]> : tensor<3xf32>
  %x = stablehlo.complex %re, %im : tensor<3xcomplex<f32>>
  %y = stablehlo.constant dense<[(1.0, 3.0), (0.0, 9.0), (1.0, 0.0)]> : tensor<3xcomplex<f32>>
  %m = stablehlo.maximum %x, %y : tensor<3xcomplex<f32>>
  %n = stablehlo.minimum %x, %y : tensor<3xcomplex<f32>>
  %0 = stablehlo.real %m : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %1 = stablehlo.imag %m : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %2 = stablehlo.real %n : (tensor<3xcomplex<f32>>) -> tensor<3xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%1 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  %c = stablehlo.constant dense<(5.0, -1.0)> : tensor<complex<f32>>
  %4 = "stablehlo.reduce"(%y, %c) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<complex<f32>>, %q: tensor<complex<f32>>):
    %s = stablehlo.maximum %p, %q : tensor<complex<f32>>
    stablehlo.return %s : tensor<complex<f32>>
  }) : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %k = stablehlo.reduce(%y init: %4) applies stablehlo.maximum across dimensions = [0] : (tensor<3xcomplex<f32>>, tensor<complex<f32>>) -> tensor<complex<f32>>
  %5 = stablehlo.real %k : (tensor<complex<f32>>) -> tensor<f32>
  %low = stablehlo.constant dense<[false, true, false, false]> : tensor<4xi1>
  %b = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
  %high = stablehlo.constant dense<[true, true, false, true]> : tensor<4xi1>
  %6 = stablehlo.clamp %low, %b, %high : tensor<4xi1>
  return %0, %2, %3, %5, %6 : tensor<3xf32>, tensor<3xf32>, tensor<f32>, tensor<f32>, tensor<4xi1>
}
// -----
// asin of complex numbers
// = 0 0 0.280629562 -0.405112337 -1.35683534 1.59191259 1.57079633 0 1.50419142 -4.09628765 -1e-12 1e-12 0.785398163 461.556739 1.57079633 -inf 0 inf -0.785398163 inf nan nan
func.func @main() -> (tensor<11xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (1e+200, 1e+200), (0x7FF0000000000000, -1.0), (0.5, 0x7FF0000000000000), (0xFFF0000000000000, 0x7FF0000000000000), (0.5, 0x7FF8000000000000)]> : tensor<11xcomplex<f64>>
  %r = chlo.asin %x : tensor<11xcomplex<f64>> -> tensor<11xcomplex<f64>>
  return %r : tensor<11xcomplex<f64>>
}
// -----
// acos of complex numbers
// = 1.57079633 -0 1.29016676 0.405112337 2.92763167 -1.59191259 0 -0 0.066604904 4.09628765 1.57079633 -1e-12 0.785398163 -461.556739 0 inf 1.57079633 -inf 2.35619449 -inf nan nan
func.func @main() -> (tensor<11xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (1e+200, 1e+200), (0x7FF0000000000000, -1.0), (0.5, 0x7FF0000000000000), (0xFFF0000000000000, 0x7FF0000000000000), (0.5, 0x7FF8000000000000)]> : tensor<11xcomplex<f64>>
  %r = chlo.acos %x : tensor<11xcomplex<f64>> -> tensor<11xcomplex<f64>>
  return %r : tensor<11xcomplex<f64>>
}
// -----
// atan of complex numbers
// = 0 0 0.337370471 -0.379086872 -1.2018888 0.0670659966 0.785398163 0 1.5376225 -0.00220995914 -1e-12 1e-12 1.57079633 5e-201 1.57079633 -0 1.57079633 0 -1.57079633 0 nan nan
func.func @main() -> (tensor<11xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (1e+200, 1e+200), (0x7FF0000000000000, -1.0), (0.5, 0x7FF0000000000000), (0xFFF0000000000000, 0x7FF0000000000000), (0.5, 0x7FF8000000000000)]> : tensor<11xcomplex<f64>>
  %r = chlo.atan %x : tensor<11xcomplex<f64>> -> tensor<11xcomplex<f64>>
  return %r : tensor<11xcomplex<f64>>
}
// -----
// sinh of complex numbers
// = 0 0 0.280481764 -0.407073991 -5.30955395 2.93997619 1.17520119 0 -2.2235713e+12 -4.85859192e+12 -1e-12 1e-12 inf -inf nan nan
func.func @main() -> (tensor<8xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (0x7FF0000000000000, -1.0), (0.5, 0x7FF8000000000000)]> : tensor<8xcomplex<f64>>
  %r = chlo.sinh %x : tensor<8xcomplex<f64>> -> tensor<8xcomplex<f64>>
  return %r : tensor<8xcomplex<f64>>
}
// -----
// cosh of complex numbers
// = 1 0 0.962820531 -0.118585788 5.38159031 -2.90062254 1.54308063 0 -2.2235713e+12 -4.85859192e+12 1 -1e-24 inf -inf nan nan
func.func @main() -> (tensor<8xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (0x7FF0000000000000, -1.0), (0.5, 0x7FF8000000000000)]> : tensor<8xcomplex<f64>>
  %r = chlo.cosh %x : tensor<8xcomplex<f64>> -> tensor<8xcomplex<f64>>
  return %r : tensor<8xcomplex<f64>>
}
// -----
// asinh of complex numbers
// = 0 0 0.318962433 -0.390316205 -1.66305974 0.184019926 0.881373587 0 4.09683585 -0.0665314839 -1e-12 1e-12 461.556739 0.785398163 inf -0 inf 1.57079633 -inf 0.785398163 nan nan
func.func @main() -> (tensor<11xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (1e+200, 1e+200), (0x7FF0000000000000, -1.0), (0.5, 0x7FF0000000000000), (0xFFF0000000000000, 0x7FF0000000000000), (0.5, 0x7FF8000000000000)]> : tensor<11xcomplex<f64>>
  %r = chlo.asinh %x : tensor<11xcomplex<f64>> -> tensor<11xcomplex<f64>>
  return %r : tensor<11xcomplex<f64>>
}
// -----
// acosh of complex numbers
// = 0 1.57079633 0.405112337 -1.29016676 1.59191259 2.92763167 0 0 4.09628765 -0.066604904 1e-12 1.57079633 461.556739 0.785398163 inf -0 inf 1.57079633 inf 2.35619449 nan nan
func.func @main() -> (tensor<11xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (1.0, 0.0), (30.0, -2.0), (-1e-12, 1e-12), (1e+200, 1e+200), (0x7FF0000000000000, -1.0), (0.5, 0x7FF0000000000000), (0xFFF0000000000000, 0x7FF0000000000000), (0.5, 0x7FF8000000000000)]> : tensor<11xcomplex<f64>>
  %r = chlo.acosh %x : tensor<11xcomplex<f64>> -> tensor<11xcomplex<f64>>
  return %r : tensor<11xcomplex<f64>>
}
// -----
// atanh of complex numbers
// = 0 0 0.261492139 -0.408822523 -0.402359478 1.48086958 0.0331978685 -1.5685815 -1e-12 1e-12 5e-201 1.57079633 0 -1.57079633 0 1.57079633 -0 1.57079633 nan nan
func.func @main() -> (tensor<10xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(0.0, 0.0), (0.3, -0.4), (-2.5, 0.5), (30.0, -2.0), (-1e-12, 1e-12), (1e+200, 1e+200), (0x7FF0000000000000, -1.0), (0.5, 0x7FF0000000000000), (0xFFF0000000000000, 0x7FF0000000000000), (0.5, 0x7FF8000000000000)]> : tensor<10xcomplex<f64>>
  %r = chlo.atanh %x : tensor<10xcomplex<f64>> -> tensor<10xcomplex<f64>>
  return %r : tensor<10xcomplex<f64>>
}
// -----
// expm1 and log_plus_one of complex numbers near their edges
// = inf 0 -46.0517019 -1.57079633 460.863592 0.785398163
func.func @main() -> (tensor<1xcomplex<f64>>, tensor<2xcomplex<f64>>) {
  %x = stablehlo.constant dense<[(1.0e3, 0.0)]> : tensor<1xcomplex<f64>>
  %y = stablehlo.constant dense<[(-1.0, -1.0e-20), (1.0e200, 1.0e200)]> : tensor<2xcomplex<f64>>
  %r = stablehlo.exponential_minus_one %x : tensor<1xcomplex<f64>>
  %s = stablehlo.log_plus_one %y : tensor<2xcomplex<f64>>
  return %r, %s : tensor<1xcomplex<f64>>, tensor<2xcomplex<f64>>
}
// -----
// convert of complex numbers to booleans: the imaginary part does not count
// = 1 0 1
func.func @main() -> (tensor<3xi1>) {
  %c = stablehlo.constant dense<[(-1.0, 0.0), (0.0, 1.0), (1.0, 0.0)]> : tensor<3xcomplex<f64>>
  %r = stablehlo.convert %c : (tensor<3xcomplex<f64>>) -> tensor<3xi1>
  return %r : tensor<3xi1>
}
// -----
// reduce_precision of NaN: infinite where no bit is left to say it
// = inf -inf nan
func.func @main() -> (tensor<2xf64>, tensor<1xf64>) {
  %x = stablehlo.constant dense<[0x7FFFFFFFFFFFFFFF, 0xFFF8000000000000]> : tensor<2xf64>
  %y = stablehlo.constant dense<[0x7FFFFFFFFFFFFFFF]> : tensor<1xf64>
  %r = stablehlo.reduce_precision %x, format = e5m0 : tensor<2xf64>
  %s = stablehlo.reduce_precision %y, format = e5m1 : tensor<1xf64>
  return %r, %s : tensor<2xf64>, tensor<1xf64>
}
// -----
// top_k of numbers and NaN by the total order, of halves
// = nan inf 3 -inf nan 1 0 4 3 2 1 0
func.func @main() -> (tensor<5xf32>, tensor<5xi32>, tensor<2xi32>) {
  %c = stablehlo.constant dense<[0x7F800000, 0x7FC00000, 0xFFC00000, 0xFF800000, 3.0]> : tensor<5xf32>
  %d = stablehlo.constant dense<[-0.0, 0.0]> : tensor<2xf16>
  %v, %i = chlo.top_k(%c, k = 5) : tensor<5xf32> -> (tensor<5xf32>, tensor<5xi32>)
  %w, %j = chlo.top_k(%d, k = 2) : tensor<2xf16> -> (tensor<2xf16>, tensor<2xi32>)
  return %v, %i, %j : tensor<5xf32>, tensor<5xi32>, tensor<2xi32>
}
// -----
// top_k of booleans
// = 1 1 0 1 3 0
func.func @main() -> (tensor<3xi1>, tensor<3xi32>) {
  %c = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
  %v, %i = chlo.top_k(%c, k = 3) : tensor<4xi1> -> (tensor<3xi1>, tensor<3xi32>)
  return %v, %i : tensor<3xi1>, tensor<3xi32>
}
// -----
// select_and_scatter of booleans
// = 0 1 1 0
func.func @main() -> (tensor<4xi1>) {
  %x = stablehlo.constant dense<[false, true, false, false]> : tensor<4xi1>
  %s = stablehlo.constant dense<[true, true]> : tensor<2xi1>
  %z = stablehlo.constant dense<false> : tensor<i1>
  %r = "stablehlo.select_and_scatter"(%x, %s, %z) <{window_dimensions = array<i64: 2>, window_strides = array<i64: 2>}> ({
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %p = stablehlo.compare GE, %a, %b : (tensor<i1>, tensor<i1>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }, {
  ^bb0(%a: tensor<i1>, %b: tensor<i1>):
    %p = stablehlo.or %a, %b : tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) : (tensor<4xi1>, tensor<2xi1>, tensor<i1>) -> tensor<4xi1>
  return %r : tensor<4xi1>
}
// -----
// mulhi of i64 and ui64
// = -1 0 4611686018427387904 -1 -4611686018427387904 4611686018427387903 1 0 6148914691236517205
func.func @main() -> (tensor<6xi64>, tensor<3xi64>) {
  %x = stablehlo.constant dense<[-1, -1, -9223372036854775808, 1, -9223372036854775808, 9223372036854775807]> : tensor<6xi64>
  %y = stablehlo.constant dense<[1, -1, -9223372036854775808, -1, 9223372036854775807, 9223372036854775807]> : tensor<6xi64>
  %a = chlo.mulhi %x, %y : tensor<6xi64>, tensor<6xi64> -> tensor<6xi64>
  %u = stablehlo.constant dense<[18446744073709551615, 4294967295, 9223372036854775808]> : tensor<3xui64>
  %v = stablehlo.constant dense<[2, 4294967297, 12297829382473034411]> : tensor<3xui64>
  %b = chlo.mulhi %u, %v : tensor<3xui64>, tensor<3xui64> -> tensor<3xui64>
  %c = stablehlo.convert %b : (tensor<3xui64>) -> tensor<3xi64>
  return %a, %c : tensor<6xi64>, tensor<3xi64>
}
// -----
// reducers that widen: reduce, with and without a known reduction
// = 200000 3e38 4e38 600000 -2
func.func @main() -> (tensor<f32>, tensor<2xf64>, tensor<i32>, tensor<i16>) {
  %x = stablehlo.constant dense<[1.0e5, 1.0e5]> : tensor<2xf32>
  %o = stablehlo.constant dense<[[1.0e38, 2.0e38], [2.0e38, 2.0e38]]> : tensor<2x2xf32>
  %k = stablehlo.constant dense<[100, 100, 60]> : tensor<3xi8>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i8>
  %n = stablehlo.constant dense<2> : tensor<i8>
  %a = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %b = "stablehlo.reduce"(%o, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<f64>, %q: tensor<f64>):
    %s = stablehlo.add %p, %q : tensor<f64>
    stablehlo.return %s : tensor<f64>
  }) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf64>
  %c = "stablehlo.reduce"(%k, %one) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.multiply %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<i32>
  %d = "stablehlo.reduce"(%k, %n) <{dimensions = array<i64: 0>}> ({
  ^bb0(%p: tensor<i16>, %q: tensor<i16>):
    %s = stablehlo.minimum %p, %q : tensor<i16>
    %m = stablehlo.negate %s : tensor<i16>
    %l = stablehlo.negate %m : tensor<i16>
    %j = stablehlo.minimum %l, %p : tensor<i16>
    stablehlo.return %j : tensor<i16>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<i16>
  %e = stablehlo.negate %d : tensor<i16>
  return %a, %b, %c, %e : tensor<f32>, tensor<2xf64>, tensor<i32>, tensor<i16>
}
// -----
// reducers that widen: reduce_window, scatter, select_and_scatter
// = 250 220 150 200 7 0 225 0 75
func.func @main() -> (tensor<2xi32>, tensor<3xi16>, tensor<4xi16>) {
  %x = stablehlo.constant dense<[120, 100, 90]> : tensor<3xi8>
  %z = stablehlo.constant dense<30> : tensor<i8>
  %w = "stablehlo.reduce_window"(%x, %z) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%p: tensor<i32>, %q: tensor<i32>):
    %s = stablehlo.add %p, %q : tensor<i32>
    stablehlo.return %s : tensor<i32>
  }) : (tensor<3xi8>, tensor<i8>) -> tensor<2xi32>
  %t = stablehlo.constant dense<[50, 100, 7]> : tensor<3xi8>
  %i = stablehlo.constant dense<[[0], [1]]> : tensor<2x1xi32>
  %u = stablehlo.constant dense<[100, 100]> : tensor<2xi8>
  %c = "stablehlo.scatter"(%t, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
  ^bb0(%p: tensor<i16>, %q: tensor<i16>):
    %s = stablehlo.add %p, %q : tensor<i16>
    stablehlo.return %s : tensor<i16>
  }) : (tensor<3xi8>, tensor<2x1xi32>, tensor<2xi8>) -> tensor<3xi16>
  %y = stablehlo.constant dense<[1, 3, 2, 5]> : tensor<4xi8>
  %v = stablehlo.constant dense<[100, 125, 75]> : tensor<3xi8>
  %d = stablehlo.constant dense<0> : tensor<i8>
  %g = "stablehlo.select_and_scatter"(%y, %v, %d) <{window_dimensions = array<i64: 2>}> ({
  ^bb0(%p: tensor<i8>, %q: tensor<i8>):
    %s = stablehlo.compare GE, %p, %q : (tensor<i8>, tensor<i8>) -> tensor<i1>
    stablehlo.return %s : tensor<i1>
  }, {
  ^bb0(%p: tensor<i16>, %q: tensor<i16>):
    %s = stablehlo.add %p, %q : tensor<i16>
    stablehlo.return %s : tensor<i16>
  }) : (tensor<4xi8>, tensor<3xi8>, tensor<i8>) -> tensor<4xi16>
  return %w, %c, %g : tensor<2xi32>, tensor<3xi16>, tensor<4xi16>
}
// -----
// convolution and reduce_window that no window fits
// = 0
func.func @main() -> (tensor<2x3x0x6xf32>, tensor<2x3x0x10xf32>, tensor<f32>) {
  %a = stablehlo.constant dense<1.0> : tensor<2x3x9x10xf32>
  %k = stablehlo.constant dense<1.0> : tensor<3x3x10x5xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.convolution(%a, %k) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x3x9x10xf32>, tensor<3x3x10x5xf32>) -> tensor<2x3x0x6xf32>
  %s = "stablehlo.reduce_window"(%a, %z) <{window_dimensions = array<i64: 1, 1, 10, 1>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    %m = stablehlo.maximum %p, %q : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) : (tensor<2x3x9x10xf32>, tensor<f32>) -> tensor<2x3x0x10xf32>
  %t = stablehlo.reduce(%r init: %z) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<2x3x0x6xf32>, tensor<f32>) -> tensor<f32>
  return %r, %s, %t : tensor<2x3x0x6xf32>, tensor<2x3x0x10xf32>, tensor<f32>
}
// -----
// chlo.ragged_dot: rows in groups, each with its own matrix
// = 3 6 10
func.func @main() -> (tensor<3x1xf32>) {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %w = stablehlo.constant dense<[[[1.0], [1.0]], [[2.0], [0.0]]]> : tensor<2x2x1xf32>
  %n = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %r = "chlo.ragged_dot"(%x, %w, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<3x2xf32>, tensor<2x2x1xf32>, tensor<2xi32>) -> tensor<3x1xf32>
  return %r : tensor<3x1xf32>
}
// -----
// chlo.ragged_dot: a matrix for each group of the rows that are contracted
// = 1 2 21 26
func.func @main() -> (tensor<2x2x1xf32>) {
  %x = stablehlo.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %y = stablehlo.constant dense<[[1.0], [2.0], [3.0]]> : tensor<3x1xf32>
  %n = stablehlo.constant dense<[1, 2]> : tensor<2xi32>
  %r = "chlo.ragged_dot"(%x, %y, %n) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [], lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [0], rhs_group_dimensions = []>}> : (tensor<3x2xf32>, tensor<3x1xf32>, tensor<2xi32>) -> tensor<2x2x1xf32>
  return %r : tensor<2x2x1xf32>
}
