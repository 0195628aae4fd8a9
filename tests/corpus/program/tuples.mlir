module @tup {
  func.func @main(%arg0: tuple<tensor<8x4xf32>, tuple<tensor<4x4xf32>, tensor<i32>>>, %arg1: tensor<8x4xf32>) -> (tuple<tensor<8x4xf32>, tensor<8x4xf32>>) {
    %0 = stablehlo.get_tuple_element %arg0[0] : (tuple<tensor<8x4xf32>, tuple<tensor<4x4xf32>, tensor<i32>>>) -> tensor<8x4xf32>
    %1 = stablehlo.get_tuple_element %arg0[1] : (tuple<tensor<8x4xf32>, tuple<tensor<4x4xf32>, tensor<i32>>>) -> tuple<tensor<4x4xf32>, tensor<i32>>
    %2 = call @f(%1, %0) : (tuple<tensor<4x4xf32>, tensor<i32>>, tensor<8x4xf32>) -> tuple<tensor<8x4xf32>, tensor<8x4xf32>>
    %3 = stablehlo.get_tuple_element %2[0] : (tuple<tensor<8x4xf32>, tensor<8x4xf32>>) -> tensor<8x4xf32>
    %4 = stablehlo.add %3, %arg1 : tensor<8x4xf32>
    %5 = stablehlo.tuple %4, %0 : tuple<tensor<8x4xf32>, tensor<8x4xf32>>
    return %5 : tuple<tensor<8x4xf32>, tensor<8x4xf32>>
  }
  func.func private @f(%p: tuple<tensor<4x4xf32>, tensor<i32>>, %x: tensor<8x4xf32>) -> tuple<tensor<8x4xf32>, tensor<8x4xf32>> {
    %w = stablehlo.get_tuple_element %p[0] : (tuple<tensor<4x4xf32>, tensor<i32>>) -> tensor<4x4xf32>
    %0 = stablehlo.dot %x, %w : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
    %1 = stablehlo.tuple %0, %x : tuple<tensor<8x4xf32>, tensor<8x4xf32>>
    return %1 : tuple<tensor<8x4xf32>, tensor<8x4xf32>>
  }
}
