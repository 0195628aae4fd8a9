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
