// a loop whose body takes another type
// ! 7:8: argument 0 of region 1 of 'stablehlo.while' is tensor<3xi32>; expected tensor<2xi32>, as operand 0 is
func.func @main(%a: tensor<2xi32>) -> tensor<2xi32> {
  %r = "stablehlo.while"(%a) ({
  ^bb0(%x: tensor<2xi32>):
    %c = stablehlo.constant dense<false> : tensor<i1>
    stablehlo.return %c : tensor<i1>
  }, {
  ^bb0(%x: tensor<3xi32>):
    stablehlo.return %x : tensor<3xi32>
  }) : (tensor<2xi32>) -> tensor<2xi32>
  return %r : tensor<2xi32>
}
// -----
// a comparator of other elements
// ! 3:8: argument 0 of region 0 of 'stablehlo.sort' is tensor<i32>; expected tensor<f32>, as operand 0 holds
func.func @main(%a: tensor<4xf32>) {
  %0 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<i32>, %y: tensor<i32>):
    %c = stablehlo.compare LT, %x, %y : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}
// -----
// a region that returns a tuple
// ! 5:31: returned value 0 of region 0 of 'stablehlo.reduce' is tuple<tensor<f32>>; expected tensor<f32>, as result 0 holds
func.func @main(%a: tensor<4xf32>, %z: tensor<f32>) {
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %t = "stablehlo.tuple"(%x) : (tensor<f32>) -> tuple<tensor<f32>>
    "stablehlo.return"(%t) : (tuple<tensor<f32>>) -> ()
  }) : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}
// -----
// a reduction to narrower numbers
// ! 5:40: result 0 of 'stablehlo.reduce' holds f32, operand 0 f64; expected the same, or wider numbers of its kind
func.func @main(%a: tensor<4xf64>, %z: tensor<f64>) {
  %0 = "stablehlo.reduce"(%a, %z) <{dimensions = array<i64: 0>}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) : (tensor<4xf64>, tensor<f64>) -> tensor<f32>
  return
}
// -----
// a map over some dims
// ! 2:3: 'dimensions' are not all dims of the operands in their order; expected 0 .. 1
func.func @main(%a: tensor<4x5xf32>) {
  %0 = "stablehlo.map"(%a) ({
  ^bb0(%x: tensor<f32>):
    stablehlo.return %x : tensor<f32>
  }) {dimensions = array<i64: 0, 1, 2>} : (tensor<4x5xf32>) -> tensor<4x5xf32>
  return
}
// -----
// a shape that a constant contradicts
// ! 3:3: dim 0 of the result has size 4 by its type; expected 1, as operand 0 says
func.func @main() -> tensor<4xf32> {
  %0 = stablehlo.constant dense<[1]> : tensor<1xi64>
  %1 = stablehlo.dynamic_iota %0, dim = 0 : (tensor<1xi64>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}
// -----
// random numbers in a shape that a constant contradicts
// ! 3:3: dim 0 of the result has size 12 by its type; expected 7, as operand 2 says
func.func @main(%a: tensor<f32>, %b: tensor<f32>) {
  %s = stablehlo.constant dense<7> : tensor<1xi64>
  %0 = "stablehlo.rng"(%a, %b, %s) {rng_distribution = #stablehlo<rng_distribution NORMAL>}: (tensor<f32>, tensor<f32>, tensor<1xi64>) -> tensor<12xf32>
  return
}
// -----
// start indices of two types
// ! 2:3: dynamic_slice '0': operand 2 is i64[] and operand 1 is i32[]; expected the same dtype
func.func @main(%a: tensor<3x4xi32>, %i: tensor<i32>, %j: tensor<i64>) {
  %0 = "stablehlo.dynamic_slice"(%a, %i, %j) {slice_sizes = array<i64: 1, 4>} : (tensor<3x4xi32>, tensor<i32>, tensor<i64>) -> tensor<1x4xi32>
  return
}
// -----
// a broadcast to other sizes
// ! 2:3: the first dims of the result are not of the sizes in 'broadcast_sizes'
func.func @main(%a: tensor<3xi32>) {
  %0 = "stablehlo.broadcast"(%a) {broadcast_sizes = array<i64: 2>} : (tensor<3xi32>) -> tensor<1x3xi32>
  return
}
// -----
// a composite of another type than its decomposition
// ! 5:3: result 0 is tensor<2xf32>; expected tensor<2xf64>, as the function declares
func.func @f(%a: tensor<2xf64>) -> tensor<2xf64> {
  return %a : tensor<2xf64>
}
func.func @main(%a: tensor<2xf64>) {
  %0 = stablehlo.composite "x.y" %a {decomposition = @f} : (tensor<2xf64>) -> tensor<2xf32>
  return
}
// -----
// padding that is no pairs
// ! 2:3: 'padding' has no two numbers for each dim; expected pairs of a low and a high one
func.func @main(%a: tensor<1x8x8x2xf32>, %k: tensor<3x3x2x4xf32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1, 1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x8x8x2xf32>, tensor<3x3x2x4xf32>) -> tensor<1x8x8x4xf32>
  return
}
// -----
// a convolution of two types
// ! 2:3: the operands hold i64 and i32; expected one type of elements
func.func @main(%a: tensor<1x4x4x1xi64>, %k: tensor<3x3x1x1xi32>) {
  %0 = stablehlo.convolution(%a, %k) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi32>) -> tensor<1x2x2x1xi64>
  return
}
