// Ops that nobody knows, with several results: each has its own type in a list without an arrow, or all have one.
!pair = tuple<tensor<2x2xf32>, tensor<i32>>
func.func @main(%p: !pair {a.holds = affine_set<(d0) : (d0 - 1 >= 0)>}, %w: tensor<4x4xf32> {tf.aliasing_output = 1 : i32}, %i: tensor<i32>, %x: tensor<8x4xf32>) -> (tensor<8x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.dot %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %1:2 = my.pair %i, %0 : tensor<i32>, tensor<8x4xf32>
  %2:2 = my.halves %1#1 {a.where = affine_set<(d0) : (d0 >= 0)>} : tensor<8x4xf32>
  %3:2 = my.apply %2#0, %1#0 : (tensor<8x4xf32>, tensor<i32>) -> (tensor<i32>, tensor<8x4xf32>)
  %4 = stablehlo.add %3#1, %2#1 : tensor<8x4xf32>
  return %4, %w : tensor<8x4xf32>, tensor<4x4xf32>
}
