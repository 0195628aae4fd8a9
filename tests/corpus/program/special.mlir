module {
  func.func @main(%k: tensor<2xui64>, %a: tensor<4x4xf32>, %b: tensor<4x2xf32>, %x: tensor<1x8x8x2xf32>, %g: tensor<1x4x4x2xf32>) -> (tensor<2xui64>, tensor<3xui32>, tensor<4x2xf32>, tensor<1x8x8x2xf32>) {
    %s, %r = stablehlo.rng_bit_generator %k, algorithm =  THREE_FRY : (tensor<2xui64>) -> (tensor<2xui64>, tensor<3xui32>)
    %0 = stablehlo.cholesky %a, lower = true : tensor<4x4xf32>
    %1 = "stablehlo.triangular_solve"(%0, %b) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = "stablehlo.select_and_scatter"(%x, %g, %z) <{window_dimensions = array<i64: 1, 2, 2, 1>, window_strides = array<i64: 1, 2, 2, 1>}> ({
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %3 = stablehlo.compare  GE, %p, %q,  FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
      stablehlo.return %3 : tensor<i1>
    }, {
    ^bb0(%p: tensor<f32>, %q: tensor<f32>):
      %3 = stablehlo.add %p, %q : tensor<f32>
      stablehlo.return %3 : tensor<f32>
    }) : (tensor<1x8x8x2xf32>, tensor<1x4x4x2xf32>, tensor<f32>) -> tensor<1x8x8x2xf32>
    return %s, %r, %1, %2 : tensor<2xui64>, tensor<3xui32>, tensor<4x2xf32>, tensor<1x8x8x2xf32>
  }
}
